//! Megatron-LM: its arguments in a shell script, or as keys of YAML, as in NeMo.

mod arguments;
mod run;

#[cfg(test)]
mod tests;

use self::arguments::Arguments;
use super::described::DescribedJob;
use super::{ExpertSizes, LatentSizes, MAX_BYTES, MAX_LAYERS, ModelSizes, WindowSizes};
use crate::gz::{self, Limits};
use crate::imported::Imported;
use lightbay_core::problem::{Problems, printable};
use std::io::BufRead;

/// Arguments that only Megatron-LM has; any of them identifies a file.
const MARKS: [&str; 3] =
    ["tensor-model-parallel-size", "tensor_model_parallel_size", "pipeline_model_parallel_size"];

/// Returns `true` if a text has arguments of Megatron-LM.
pub(crate) fn is_one(text: &str) -> bool {
    MARKS.iter().any(|mark| text.contains(mark))
}

/// Reads the arguments.
///
/// # Errors
/// Sizes that are missing, are not numbers, or are not multiples of other sizes as required; arguments with two values;
/// models in which layers have no attention.
pub fn read(content: impl BufRead, limits: &Limits) -> Result<Imported<DescribedJob>, Problems> {
    let text = gz::text(content, limits, MAX_BYTES)?;
    let mut arguments = Arguments::of(&text);
    arguments.refuse_hybrid();
    let sizes = arguments.sizes();
    let (Some((sizes, vocab)), true) = (sizes, arguments.problems.is_empty()) else {
        return Err(arguments.problems);
    };
    let layers = u64::from(sizes.layers);
    let mut made = Imported::new(DescribedJob::of(sizes));
    if !vocab {
        made.assume("vocab", VOCAB.to_string(), "vocab=");
    }
    arguments.run(layers, &mut made);
    made.notes.splice(0..0, arguments.notes);
    arguments.problems.into_result(made)
}

/// Vocabulary size if no argument sets it: the size of GPT-2 and GPT-3, padded.
const VOCAB: u32 = 51_200;

/// Arguments of models in which some layers have no attention over all tokens.
const HYBRID: [&str; 9] = [
    "is_hybrid_model",
    "hybrid_override_pattern",
    "hybrid_layer_pattern",
    "hybrid_attention_ratio",
    "hybrid_mlp_ratio",
    "linear_attention_freq",
    "linear_attention_type",
    "experimental_attention_variant",
    "heterogeneous_layers_config_path",
];

impl Arguments<'_> {
    /// Refuses arguments of models in which layers differ in a way that a job cannot represent.
    fn refuse_hybrid(&mut self) {
        for name in HYBRID {
            if !self.is_off(name) && self.flag(name) {
                let message = "belongs to models in which only some layers have attention, which a job cannot represent";
                let remedy = "give the sizes of a similar model whose layers all have attention";
                self.problems.add(name, message, remedy);
            }
        }
    }

    /// Returns `true` if the output table is the embedding table, which is the default of Megatron-LM and NeMo.
    fn tied(&mut self) -> bool {
        !self.flag("untie_embeddings_and_output_weights")
            && self.switch("share_embeddings_and_output_weights") != Some(false)
    }

    /// Reads the sizes of the model. The second value is `true` if an argument sets the vocabulary size.
    fn sizes(&mut self) -> Option<(ModelSizes, bool)> {
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
        let kv_heads = self.kv_heads(heads);
        let head_dim = self.small(&["kv_channels"]).or_else(|| {
            let (hidden, heads) = (hidden?, heads?);
            hidden.is_multiple_of(heads).then_some(hidden / heads)
        });
        if let (None, Some(hidden), Some(heads)) = (head_dim, hidden, heads) {
            let message = format!("is missing, and {heads} heads do not divide hidden_size {hidden}");
            self.problems.add("kv_channels", message, "add it");
        }
        let vocab = self.small(&["padded_vocab_size", "vocab_size"]);
        let experts = self.experts(layers?, ffn);
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
            tied: self.tied(),
            experts,
            latent,
            window: self.window(layers?),
        };
        Some((sizes, vocab.is_some()))
    }

    /// Returns the number of key and value heads. As an argument, the number of groups only counts together with
    /// `--group-query-attention`, whose default is one group; as a key of YAML, it counts by itself.
    fn kv_heads(&mut self, heads: Option<u32>) -> Option<u32> {
        const GROUPS: &str = "num_query_groups";
        let given = self.small(&[GROUPS]);
        let on = self.flag("group_query_attention");
        if !on && !self.is_key(GROUPS) {
            if given.is_some() {
                self.notes.push(
                    "num_query_groups is not taken over: without group_query_attention, Megatron-LM ignores it"
                        .to_owned(),
                );
            }
            return heads;
        }
        if on && given.is_none() {
            self.notes.push(
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

    fn experts(&mut self, layers: u32, ffn: Option<u32>) -> Option<ExpertSizes> {
        let experts = self.small(&["num_experts", "num_moe_experts"])?;
        let top_k = self.small(&["moe_router_topk"]).unwrap_or_else(|| {
            self.notes.push(
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
