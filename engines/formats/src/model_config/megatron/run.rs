//! The run of a job of Megatron-LM: layout, batch, sharding, precision and recomputation.

use super::super::described::DescribedJob;
use super::Arguments;
use crate::imported::Imported;
use lightbay_core::param::ParamValue;
use lightbay_core::problem::printable;

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
/// Arguments of NeMo and Megatron-LM for an all-gather of weights in 8 bits.
const NARROW_GATHER: [&str; 3] = ["fp8_param_gather", "fp8_params", "fp8_param"];

/// Format of the numbers of a run.
#[derive(Clone, Copy, PartialEq)]
enum Precision {
    Single,
    Half,
    Brain,
}

impl Precision {
    const fn bytes(self) -> f64 {
        match self {
            Self::Single => 4.0,
            Self::Half | Self::Brain => 2.0,
        }
    }

    /// The format of a word of Lightning, such as `bf16-mixed`.
    fn of(word: &str) -> Option<Self> {
        match word.trim_end_matches("-mixed").trim_end_matches("-true") {
            "32" | "fp32" | "float32" | "torch.float32" => Some(Self::Single),
            "16" | "fp16" | "float16" | "torch.float16" => Some(Self::Half),
            "bf16" | "bfloat16" | "torch.bfloat16" => Some(Self::Brain),
            _ => None,
        }
    }
}

impl Arguments<'_> {
    /// Reads the layout, the batch and the number of GPUs, if the arguments set them.
    pub(super) fn run(&mut self, layers: u64, made: &mut Imported<DescribedJob>) {
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
        // Megatron-LM and NeMo then use the tensor-parallel size, whichever number of ranks shares the experts.
        job.etp_is_tp = etp.is_none() && job.sizes.experts.is_some();
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
        self.precision(made);
        self.recompute(layers / one(pp), made);
    }

    /// Refuses arguments that give stages different numbers of layers.
    fn refuse_uneven(&mut self, pp: u64) {
        for name in UNEVEN {
            let off = self.is_off(name);
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

    /// Reads how replicas share the states of the optimizer, gradients and weights.
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
        } else if self.flag("use_distributed_optimizer") || self.has_value("distributed_fused_adam") {
            1
        } else {
            made.note("use_distributed_optimizer is not set in the file, which means zero=0");
            0
        };
        made.value.run.push(("zero", ParamValue::Int(zero)));
    }

    /// Returns `true` if an argument is not given, or has a value that switches it off.
    pub(super) fn is_off(&mut self, name: &str) -> bool {
        self.text(&[name]).is_none_or(|(_, value)| matches!(value.as_str(), "0" | "0.0" | "none" | "None"))
    }

    /// Reads the sizes of activations, gradients and weights on the network.
    fn precision(&mut self, made: &mut Imported<DescribedJob>) {
        let Some((precision, weights)) = self.formats(made) else { return };
        let narrow = NARROW_GATHER.into_iter().find(|name| self.flag(name));
        let gather = if narrow.is_some() { 1.0 } else { weights.bytes() };
        if let Some(name) = narrow {
            made.note(format!(
                "{name} is set: the import counts 1 byte for every weight, although embeddings and norms have more"
            ));
        }
        let grads = self.gradients(weights, made);
        let sizes = [("act_bytes", precision.bytes()), ("grad_bytes", grads), ("gather_bytes", gather)];
        made.value.run.extend(sizes.map(|(name, bytes)| (name, ParamValue::Float(bytes))));
        made.value.whole_sends = !self.flag("sequence_parallel");
    }

    /// Returns the formats of activations and of weights; `None` for an invalid value, which adds a problem.
    fn formats(&mut self, made: &mut Imported<DescribedJob>) -> Option<(Precision, Precision)> {
        match (self.flag("bf16"), self.flag("fp16")) {
            (true, true) => {
                self.problems.add("bf16", "cannot be combined with fp16", "remove one of the two");
                return None;
            }
            (true, false) => return Some((Precision::Brain, Precision::Brain)),
            (false, true) => return Some((Precision::Half, Precision::Half)),
            (false, false) => {}
        }
        let Some((name, word)) = self.text(&["precision", "params_dtype"]) else {
            made.note(
                "the file sets no precision (bf16, fp16 or precision), which means float32: act_bytes=4, \
                 grad_bytes=4, gather_bytes=4",
            );
            return Some((Precision::Single, Precision::Single));
        };
        let Some(precision) = Precision::of(&word) else {
            let remedy = "use 32, 16, bf16, 16-mixed or bf16-mixed";
            self.problems.add(name, format!("is '{}'", printable(&word)), remedy);
            return None;
        };
        // Without megatron_amp_O2, NeMo has float32 weights and gradients, and converts them for each operation.
        let weights = name == "params_dtype" || word.ends_with("-true") || self.flag("megatron_amp_O2");
        if !weights && precision != Precision::Single {
            made.note("megatron_amp_O2 is not on, so weights and gradients are float32");
        }
        Some((precision, if weights { precision } else { Precision::Single }))
    }

    /// Returns the size of a gradient value between replicas.
    fn gradients(&mut self, weights: Precision, made: &mut Imported<DescribedJob>) -> f64 {
        const SYNC: &str = "grad_sync_dtype";
        if let Some((_, word)) = self.text(&[SYNC]) {
            let known = Precision::of(&word);
            if known.is_none() {
                let message = format!("is '{}'", printable(&word));
                self.problems.add(SYNC, message, "use fp32, bf16 or fp16");
            }
            return known.unwrap_or(weights).bytes();
        }
        if let Some(wide) = self.switch("grad_reduce_in_fp32") {
            return if wide { 4.0 } else { weights.bytes() };
        }
        let narrow = self.flag("grad_reduce_in_bf16")
            || self
                .text(&["main_grads_dtype"])
                .is_some_and(|(_, word)| Precision::of(&word) == Some(Precision::Brain));
        let wide = self.flag("accumulate_allreduce_grads_in_fp32");
        match weights {
            // Only bf16 reduces gradients in float32 by default.
            Precision::Brain if narrow => 2.0,
            Precision::Brain => 4.0,
            // The distributed optimizer of NeMo has float32 gradients.
            Precision::Half if wide || self.has_value("distributed_fused_adam") => 4.0,
            Precision::Half | Precision::Single => {
                if narrow {
                    made.note("not taken over: gradients in bf16, which Megatron-LM ignores without bf16");
                }
                weights.bytes()
            }
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
