//! Megatron-LM: its arguments in a shell script, or as keys of YAML, as in NeMo.

use super::described::DescribedJob;
use super::{ExpertSizes, LatentSizes, MAX_BYTES, MAX_LAYERS, ModelSizes, WindowSizes};
use crate::gz::{self, Limits};
use crate::imported::Imported;
use lightbay_core::param::ParamValue;
use lightbay_core::problem::{Problems, printable};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

/// Arguments that only Megatron-LM has; any of them identifies a file.
const MARKS: [&str; 3] =
    ["tensor-model-parallel-size", "tensor_model_parallel_size", "pipeline_model_parallel_size"];

/// Returns `true` if a text has arguments of Megatron-LM.
pub(crate) fn is_one(text: &str) -> bool {
    MARKS.iter().any(|mark| text.contains(mark))
}

/// Arguments by their names, with `_` between words; flags have an empty value.
struct Arguments<'t> {
    values: BTreeMap<String, &'t str>,
    /// Names that were given as keys of YAML.
    keys: BTreeSet<String>,
    problems: Problems,
}

/// Reads the arguments.
///
/// # Errors
/// Sizes that are missing, are not numbers, or are not multiples of other sizes as required.
pub fn read(content: impl BufRead, limits: &Limits) -> Result<Imported<DescribedJob>, Problems> {
    let text = gz::text(content, limits, MAX_BYTES)?;
    let (values, keys) = values(&text);
    let mut arguments = Arguments { values, keys, problems: Problems::new() };
    let mut notes = Vec::new();
    let sizes = arguments.sizes(&mut notes);
    let (Some((sizes, vocab)), true) = (sizes, arguments.problems.is_empty()) else {
        return Err(arguments.problems);
    };
    let layers = u64::from(sizes.layers);
    let mut made = Imported { value: DescribedJob::of(sizes), assumed: Vec::new(), notes };
    if !vocab {
        made.assume("vocab", VOCAB.to_string(), "vocab= of the scenario");
    }
    arguments.run(layers, &mut made);
    arguments.problems.into_result(made)
}

/// Vocabulary size if no argument sets it: the size of GPT-2 and GPT-3, padded.
const VOCAB: u32 = 51_200;

/// Arguments that give stages different numbers of layers.
const UNEVEN: [&str; 7] = [
    "decoder_first_pipeline_num_layers",
    "decoder_last_pipeline_num_layers",
    "num_layers_in_first_pipeline_stage",
    "num_layers_in_last_pipeline_stage",
    "pipeline_model_parallel_layout",
    "account_for_embedding_in_pipeline_split",
    "account_for_loss_in_pipeline_split",
];
/// ZeRO stages of the values of `data_parallel_sharding_strategy`.
const STRATEGIES: [(&str, i64); 4] =
    [("no_shard", 0), ("optim", 1), ("optim_grads", 2), ("optim_grads_params", 3)];

/// Reads `--name value`, `--name=value`, and `name: value` of YAML; the second value has the names of YAML. If a name
/// occurs several times, the last one counts, as in Megatron-LM.
fn values(text: &str) -> (BTreeMap<String, &str>, BTreeSet<String>) {
    let mut values = BTreeMap::new();
    let mut keys = BTreeSet::new();
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or_default().trim();
        if line.starts_with('#') {
            continue;
        }
        let is_word = |name: &str| {
            !name.is_empty()
                && name.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-'))
        };
        let is_value = |value: &str| value.starts_with(' ') && !matches!(value.trim(), "" | "null" | "~");
        if let Some((name, value)) = line.split_once(':')
            && (!line.starts_with('-') || line.starts_with("- "))
            && is_word(name)
            && is_value(value)
        {
            keys.insert(name.replace('-', "_"));
            values.insert(name.replace('-', "_"), value.trim().trim_matches(['"', '\'']));
            continue;
        }
        let words: Vec<&str> =
            line.split_whitespace().map(|word| word.trim_matches(['"', '\'', '\\', '(', ')'])).collect();
        for (at, word) in words.iter().enumerate() {
            let Some(name) = word.strip_prefix("--").filter(|name| !name.is_empty()) else { continue };
            let (name, value) = name.split_once('=').unwrap_or_else(|| {
                let next =
                    words.get(at + 1).copied().filter(|next| !next.starts_with("--")).unwrap_or_default();
                (name, next)
            });
            values.insert(name.replace('-', "_"), value);
        }
    }
    (values, keys)
}

impl Arguments<'_> {
    fn text(&self, names: &[&str]) -> Option<(String, String)> {
        names.iter().find_map(|name| Some(((*name).to_owned(), (*self.values.get(*name)?).to_owned())))
    }

    /// Returns `true` if a flag is given, unless its value is `false`, `no` or `0`.
    fn flag(&self, name: &str) -> bool {
        self.values
            .get(name)
            .is_some_and(|value| !matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "0"))
    }

    /// Returns the size that has one of the names; `None` if there is none, or if its value is invalid, which adds a
    /// problem.
    fn given(&mut self, names: &[&str]) -> Option<u64> {
        let (name, value) = self.text(names)?;
        let size = value.replace('_', "").parse::<u64>().ok().filter(|size| u32::try_from(*size).is_ok());
        if size.is_none() {
            let remedy = if value.contains('$') {
                "replace the variable by a number"
            } else {
                "use an integer from 0 to 4294967295"
            };
            self.problems.add(name, format!("is '{}'", printable(&value)), remedy);
        }
        size
    }

    /// Reads a required size of at least 1.
    fn size(&mut self, names: &[&str]) -> Option<u32> {
        if self.text(names).is_none() {
            let argument = format!("--{}", names[0].replace('_', "-"));
            self.problems.add(names[0], "is missing", format!("add {argument}, or {} in YAML", names[0]));
            return None;
        }
        let size = self.given(names)?;
        if size == 0 {
            self.problems.add(names[0], "is 0", "use an integer, 1 or more");
            return None;
        }
        u32::try_from(size).ok()
    }

    fn small(&mut self, names: &[&str]) -> Option<u32> {
        self.given(names).and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0)
    }

    /// Reads the sizes of the model. The second value is `true` if an argument sets the vocabulary size.
    fn sizes(&mut self, notes: &mut Vec<String>) -> Option<(ModelSizes, bool)> {
        let layers = self.size(&["num_layers"]);
        let hidden = self.size(&["hidden_size"]);
        let heads = self.size(&["num_attention_heads"]);
        if layers.is_some_and(|layers| layers > MAX_LAYERS) {
            self.problems.add("num_layers", "has too many layers", format!("use at most {MAX_LAYERS}"));
            return None;
        }
        let gated = self.flag("swiglu")
            || self.flag("gated_linear_unit")
            || self
                .text(&["activation", "activation_func"])
                .is_some_and(|(_, name)| name.contains("swiglu") || name.contains("geglu"));
        // Without a feed-forward width, Megatron-LM uses four times the hidden size; for gated blocks, two thirds of
        // this product.
        let usual = |hidden: u32| {
            if gated {
                64 * (hidden.saturating_mul(4).saturating_mul(2) / 3 / 64)
            } else {
                hidden.saturating_mul(4)
            }
        };
        let ffn = self.small(&["ffn_hidden_size"]).or_else(|| hidden.map(usual));
        let kv_heads = self.kv_heads(heads, notes);
        let head_dim = self.small(&["kv_channels"]).or_else(|| {
            let (hidden, heads) = (hidden?, heads?);
            hidden.is_multiple_of(heads).then_some(hidden / heads)
        });
        if let (None, Some(hidden), Some(heads)) = (head_dim, hidden, heads) {
            let message = format!("is missing, and {heads} heads do not divide hidden_size {hidden}");
            self.problems.add("kv_channels", message, "add it");
        }
        let vocab = self.small(&["padded_vocab_size", "vocab_size"]);
        let experts = self.experts(layers?, ffn, notes);
        let latent = self.flag("multi_latent_attention").then(|| self.latent()).flatten();
        let sizes = ModelSizes {
            layers: layers?,
            hidden: hidden?,
            ffn: ffn?,
            gated,
            heads: heads?,
            kv_heads: kv_heads?,
            head_dim: head_dim?,
            vocab: vocab.unwrap_or(VOCAB),
            experts,
            latent,
            window: self.window(layers?),
        };
        Some((sizes, vocab.is_some()))
    }

    /// Returns the number of key and value heads. As an argument, the number of groups only counts together with
    /// `--group-query-attention`, whose default is one group; as a key of YAML, it counts by itself.
    fn kv_heads(&mut self, heads: Option<u32>, notes: &mut Vec<String>) -> Option<u32> {
        const GROUPS: &str = "num_query_groups";
        let given = self.small(&[GROUPS]);
        let on = self.flag("group_query_attention");
        if !on && !self.keys.contains(GROUPS) {
            if given.is_some() {
                notes.push(
                    "num_query_groups is not taken over: without group_query_attention, Megatron-LM ignores it"
                        .to_owned(),
                );
            }
            return heads;
        }
        if on && given.is_none() {
            notes.push(
                "num_query_groups is not set; the import assumes 1, the default of Megatron-LM".to_owned(),
            );
        }
        let groups = given.or(if on { Some(1) } else { heads });
        if let (Some(groups), Some(heads)) = (groups, heads)
            && !heads.is_multiple_of(groups)
        {
            let message = format!("is {groups}, but the {heads} attention heads are not a multiple of it");
            self.problems.add(GROUPS, message, "correct one of the two numbers");
        }
        groups
    }

    /// Reads the window of the attention, such as `128,0`; every `window_attn_skip_freq`-th layer attends to all
    /// tokens.
    fn window(&mut self, layers: u32) -> Option<WindowSizes> {
        let (name, text) = self.text(&["window_size"])?;
        let number = text.split(',').next().unwrap_or_default().trim_matches(['(', '[', ' ']);
        let Ok(tokens) = number.parse::<i64>() else {
            self.problems.add(name, format!("is '{}'", printable(&text)), "use two integers, such as 128,0");
            return None;
        };
        let skipped = self.small(&["window_attn_skip_freq"]).map_or(0, |every| layers / every);
        let tokens = u32::try_from(tokens).ok().filter(|tokens| *tokens > 0)?;
        Some(WindowSizes { tokens, layers: Some(layers - skipped) })
    }

    fn experts(&mut self, layers: u32, ffn: Option<u32>, notes: &mut Vec<String>) -> Option<ExpertSizes> {
        let experts = self.small(&["num_experts", "num_moe_experts"])?;
        let top_k = self.small(&["moe_router_topk"]).unwrap_or_else(|| {
            notes.push(
                "moe_router_topk is not set; the import assumes 2, the default of Megatron-LM".to_owned(),
            );
            2
        });
        let width = self.small(&["moe_ffn_hidden_size"]).or(ffn)?;
        let shared = self.given(&["moe_shared_expert_intermediate_size"]).unwrap_or(0);
        if !shared.is_multiple_of(u64::from(width)) {
            let message = format!("is {shared}, which is not a multiple of the width {width} of an expert");
            self.problems.add("moe_shared_expert_intermediate_size", message, "describe the model by hand");
        }
        let shared = u32::try_from(shared / u64::from(width)).unwrap_or(u32::MAX);
        let which = self.expert_layers(layers)?;
        Some(ExpertSizes { experts, top_k, width, shared, layers: which })
    }

    /// Reads the indices of the layers with experts from `moe_layer_freq`: every n-th layer, counted from 0, or a list
    /// such as `([0]*3+[1]*58)`. Without this argument, all layers have experts. `None` for an invalid value, which
    /// adds a problem.
    fn expert_layers(&mut self, layers: u32) -> Option<Vec<u32>> {
        let Some((name, text)) = self.text(&["moe_layer_freq"]) else { return Some((0..layers).collect()) };
        if let Ok(every) = text.parse::<u32>()
            && every > 0
        {
            return Some((0..layers).filter(|layer| layer.is_multiple_of(every)).collect());
        }
        let pattern = pattern(&text).filter(|pattern| pattern.len() == layers as usize);
        if pattern.is_none() {
            let message = format!("is '{}'", printable(&text));
            let remedy = format!(
                "use an integer, or a list with {layers} entries, such as [0]*1+[1]*{}",
                layers.saturating_sub(1)
            );
            self.problems.add(name, message, remedy);
        }
        pattern.map(|pattern| (0..).zip(pattern).filter_map(|(layer, has)| has.then_some(layer)).collect())
    }

    fn latent(&mut self) -> Option<LatentSizes> {
        Some(LatentSizes {
            q_lora: self.size(&["q_lora_rank"])?,
            kv_lora: self.size(&["kv_lora_rank"])?,
            rope: self.size(&["qk_pos_emb_head_dim"])?,
            nope: self.size(&["qk_head_dim"])?,
            v: self.size(&["v_head_dim"])?,
        })
    }

    /// Reads the layout, the batch and the number of GPUs, if the arguments set them.
    fn run(&mut self, layers: u64, made: &mut Imported<DescribedJob>) {
        let one = |size: Option<u64>| size.filter(|size| *size > 0).unwrap_or(1);
        let tp = self.given(&["tensor_model_parallel_size"]);
        let pp = self.given(&["pipeline_model_parallel_size"]);
        let cp = self.given(&["context_parallel_size"]).filter(|size| *size > 1);
        let ep = self.given(&["expert_model_parallel_size"]);
        let etp = self.given(&["expert_tensor_parallel_size"]);
        let nodes = self.given(&["nnodes", "num_nodes"]);
        let per_node = self.given(&["nproc_per_node", "devices"]);
        let gpus = self.given(&["world_size"]).or_else(|| nodes.unwrap_or(1).checked_mul(per_node?));
        let micro = self.given(&["micro_batch_size"]);
        let global = self.given(&["global_batch_size"]);
        let job = &mut made.value;
        job.set("tp", Some(one(tp)));
        job.set("pp", Some(one(pp)));
        job.set("cp", cp);
        job.set("ep", ep);
        job.set("etp", etp);
        job.set("gpus", gpus);
        job.set("micro_batch_size", micro);
        let seq = self.given(&["seq_length", "encoder_seq_length"]);
        made.value.set("seq", seq);
        let ranks = one(tp).saturating_mul(one(pp)).saturating_mul(one(cp));
        if let Some(gpus) = gpus.filter(|gpus| !gpus.is_multiple_of(ranks)) {
            let message = format!(
                "the number {gpus} is not a multiple of the {ranks} GPUs of a replica (TP x PP x CP)"
            );
            self.problems.add("GPUs", message, "correct the nodes or the layout");
        } else if let (Some(gpus), Some(global)) = (gpus, global) {
            let step = (gpus / ranks).saturating_mul(one(micro));
            if step > 0 && global.is_multiple_of(step) {
                made.value.set("micro_batches", Some(global / step));
            } else {
                let message = format!(
                    "is {global}, which is not a multiple of {step} (replicas times micro_batch_size)"
                );
                self.problems.add("global_batch_size", message, "correct one of the numbers");
            }
        }
        self.refuse_uneven(one(pp));
        let chunks = self.virtual_stages(layers, one(pp));
        made.value.set("virtual_stages", chunks.filter(|chunks| *chunks > 1));
        self.sharding(made);
        self.recompute(layers / one(pp), made);
    }

    /// Refuses arguments that give stages different numbers of layers.
    fn refuse_uneven(&mut self, pp: u64) {
        for name in UNEVEN {
            let off = self.values.get(name).is_none_or(|value| matches!(*value, "0" | "none" | "None"));
            if pp > 1 && !off && self.flag(name) {
                let message = "gives stages different numbers of layers, which a job cannot represent";
                self.problems.add(name, message, "remove it to plan with equal stages");
            }
        }
    }

    /// Returns the number of virtual stages for each stage.
    fn virtual_stages(&mut self, layers: u64, pp: u64) -> Option<u64> {
        const CHUNK: &str = "num_layers_per_virtual_pipeline_stage";
        let chunks =
            self.given(&["virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"]);
        if chunks.is_some() {
            return chunks;
        }
        let chunk = self.given(&[CHUNK]).filter(|chunk| *chunk > 0)?;
        let stage = layers / pp;
        if layers.is_multiple_of(pp) && stage.is_multiple_of(chunk) {
            return Some(stage / chunk);
        }
        let message = format!("is {chunk}, which does not divide the layers of a stage ({layers} / {pp})");
        self.problems.add(CHUNK, message, "correct one of the numbers");
        None
    }

    /// Reads how replicas share the states of the optimizer, gradients and weights, and the size of gradients.
    fn sharding(&mut self, made: &mut Imported<DescribedJob>) {
        const STRATEGY: &str = "data_parallel_sharding_strategy";
        let strategy = self.text(&[STRATEGY]);
        let zero = if self.flag("use_torch_fsdp2") {
            3
        } else if self.flag("use_megatron_fsdp") || self.flag("use_custom_fsdp") {
            let word = strategy.map_or_else(|| STRATEGIES[0].0.to_owned(), |(_, word)| word);
            let known = STRATEGIES.iter().find(|(name, _)| *name == word).map(|(_, zero)| *zero);
            if known.is_none() {
                let names: Vec<&str> = STRATEGIES.iter().map(|(name, _)| *name).collect();
                let message = format!("is '{}'", printable(&word));
                self.problems.add(STRATEGY, message, format!("use one of {}", names.join(", ")));
            }
            known.unwrap_or(0)
        } else if self.flag("use_distributed_optimizer")
            || self.values.values().any(|value| *value == "distributed_fused_adam")
        {
            1
        } else {
            made.note("use_distributed_optimizer is not set in the file, which means zero=0");
            0
        };
        made.value.run.push(("zero", ParamValue::Int(zero)));
        if self.flag("grad_reduce_in_bf16") {
            made.value.run.push(("grad_bytes", ParamValue::Float(2.0)));
        }
    }

    /// Reads which activations the backward pass computes again; a stage has `layers` layers.
    fn recompute(&mut self, layers: u64, made: &mut Imported<DescribedJob>) {
        let found = self.text(&["recompute_granularity", "activations_checkpoint_granularity"]);
        let (name, word) = match found {
            Some(found) => found,
            None if self.flag("recompute_activations") => {
                ("recompute_activations".to_owned(), "selective".to_owned())
            }
            None => return,
        };
        if !["full", "selective"].contains(&word.as_str()) {
            self.problems.add(name, format!("is '{}'", printable(&word)), "use full or selective");
            return;
        }
        let block = self
            .text(&["recompute_method", "activations_checkpoint_method"])
            .is_some_and(|(_, method)| method == "block");
        let again = self.given(&["recompute_num_layers", "activations_checkpoint_num_layers"]);
        if let Some(again) = again.filter(|again| word == "full" && block && *again < layers) {
            made.note(format!(
                "not taken over: only {again} of the {layers} layers of a stage compute activations again, but the \
                 import counts all of them"
            ));
        }
        if let Some((name, modules)) = self.text(&["recompute_modules"])
            && modules != "core_attn"
        {
            made.note(format!("not taken over: {name} {}", printable(&modules)));
        }
        made.value.run.push(("recompute", ParamValue::Text(word)));
    }
}

/// Parses a list of flags such as `[0]*3+[1]*58` or `[0, 1, 1]`, with or without brackets.
fn pattern(text: &str) -> Option<Vec<bool>> {
    let compact: String =
        text.chars().filter(|sign| !sign.is_whitespace() && !matches!(sign, '(' | ')')).collect();
    let mut all = Vec::new();
    for part in compact.split('+') {
        let (list, times) = part.split_once('*').unwrap_or((part, "1"));
        let list = list.strip_prefix('[')?.strip_suffix(']')?;
        let list: Vec<bool> = list
            .split(',')
            .map(|entry| match entry {
                "0" => Some(false),
                "1" => Some(true),
                _ => None,
            })
            .collect::<Option<_>>()?;
        let times = times.parse::<usize>().ok()?;
        if all.len() + list.len().checked_mul(times)? > MAX_LAYERS as usize {
            return None;
        }
        for _ in 0..times {
            all.extend(&list);
        }
    }
    Some(all)
}
