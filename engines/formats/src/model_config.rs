//! Descriptions of models and jobs: `config.json` of Hugging Face, files of Calculon, arguments of Megatron-LM and
//! NeMo.
//!
//! Families use different keys for the same sizes; each size is searched under all of its names. Properties that the
//! record cannot represent become notes; a missing size is a problem.

pub mod calculon;
mod described;
pub mod megatron;

#[cfg(test)]
mod tests;

pub use described::DescribedJob;

use crate::gz::{self, Limits};
use crate::imported::Imported;
use lightbay_core::problem::{Problem, Problems};
use serde_json::{Map, Value};
use std::io::{BufRead, Read as _};

/// Sizes of a transformer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSizes {
    /// Number of layers.
    pub layers: u32,
    /// Hidden size: width of a token between layers.
    pub hidden: u32,
    /// Width of the dense feed-forward block.
    pub ffn: u32,
    /// `true` if feed-forward blocks have three matrices instead of two.
    pub gated: bool,
    /// Number of attention heads.
    pub heads: u32,
    /// Number of key and value heads.
    pub kv_heads: u32,
    /// Width of one head.
    pub head_dim: u32,
    /// Number of entries of the vocabulary.
    pub vocab: u32,
    /// The experts, if the model has any.
    pub experts: Option<ExpertSizes>,
    /// Sizes of multi-head latent attention, if the model uses it.
    pub latent: Option<LatentSizes>,
}

/// Sizes of the layers with experts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpertSizes {
    /// Number of routed experts of a layer.
    pub experts: u32,
    /// Number of experts to which a token is routed.
    pub top_k: u32,
    /// Width of one expert.
    pub width: u32,
    /// Number of shared experts, which every token visits.
    pub shared: u32,
    /// Indices of the layers with experts, from 0.
    pub layers: Vec<u32>,
}

/// Ranks and widths of multi-head latent attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatentSizes {
    /// Rank of the query compression.
    pub q_lora: u32,
    /// Rank of the key and value compression.
    pub kv_lora: u32,
    /// Width of the rotary part of a head.
    pub rope: u32,
    /// Width of the non-rotary part of a head.
    pub nope: u32,
    /// Width of a value head.
    pub v: u32,
}

/// Maximum size of a description, bytes: real descriptions have a few thousand bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum number of layers, so that lists of them stay small.
const MAX_LAYERS: u32 = 1 << 16;

/// Families whose experts have the width `intermediate_size`.
const EXPERTS_BY_INTERMEDIATE: [&str; 3] = ["mixtral", "gpt_oss", "llama4"];
/// Prefixes of the names of families whose feed-forward blocks are gated.
const GATED: [&str; 10] =
    ["llama", "mistral", "mixtral", "qwen", "deepseek", "gpt_oss", "gemma", "phi3", "glm", "kimi"];

/// Reads a `config.json`, compressed or not.
///
/// # Errors
/// The content is not a JSON object, or lacks sizes; every missing size is named.
pub fn read(content: impl BufRead, limits: &Limits) -> Result<Imported<ModelSizes>, Problems> {
    let mut keys = json_of(content, limits)?;
    let mut notes = Vec::new();
    if let Some(Value::Object(text)) = keys.remove("text_config") {
        notes.push(
            "the import uses the language model under text_config; it omits other parts of the model"
                .to_owned(),
        );
        keys = text;
    }
    let mut config = Config { keys: &keys, problems: Problems::new() };
    let sizes = config.sizes(&mut notes);
    let Config { problems, .. } = config;
    match sizes {
        Some(value) if problems.is_empty() => Ok(Imported { value, assumed: Vec::new(), notes }),
        _ => Err(problems),
    }
}

/// Reads the keys of a description in JSON.
fn json_of(content: impl BufRead, limits: &Limits) -> Result<Map<String, Value>, Problems> {
    let unpacked = gz::unpack(content, limits).map_err(Problems::one)?;
    let mut bytes = Vec::new();
    let read = unpacked.reader.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Problems::one(gz::io_problem("", &error)))?;
    let remedy = "use the description of a model";
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::new("", format!("is larger than {MAX_BYTES} bytes"), remedy).into());
    }
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| Problem::new("", format!("is not valid JSON: {error}"), remedy))?;
    match value {
        Value::Object(keys) => Ok(keys),
        _ => Err(Problem::new("", "is not a JSON object", remedy).into()),
    }
}

/// The keys of a description while they are read.
struct Config<'k> {
    keys: &'k Map<String, Value>,
    problems: Problems,
}

impl Config<'_> {
    /// Returns the first of the keys that has a value, with this value.
    fn find(&self, names: &[&'static str]) -> Option<(&'static str, &Value)> {
        names.iter().find_map(|name| Some((*name, self.keys.get(*name).filter(|value| !value.is_null())?)))
    }

    /// Reads a size of at least `least` that has one of these names; `None` if the description has no key of these
    /// names, or if the value is invalid, which adds a problem.
    fn given(&mut self, names: &[&'static str], least: u32) -> Option<u32> {
        let (name, value) = self.find(names)?;
        let size = value.as_u64().and_then(|size| u32::try_from(size).ok()).filter(|size| *size >= least);
        if size.is_none() {
            let message = format!("is {value}");
            self.problems.add(name, message, format!("use an integer from {least} to {}", u32::MAX));
        }
        size
    }

    /// Reads a required size that has one of these names; a missing size is a problem.
    fn size(&mut self, names: &[&'static str]) -> Option<u32> {
        if self.find(names).is_none() {
            let others = match names[1..].join(", ") {
                none if none.is_empty() => none,
                others => format!(", or {others} in other families"),
            };
            self.problems.add(names[0], "is missing", format!("add it{others}"));
        }
        self.given(names, 1)
    }

    fn family(&self) -> &str {
        self.keys.get("model_type").and_then(Value::as_str).unwrap_or_default()
    }

    fn sizes(&mut self, notes: &mut Vec<String>) -> Option<ModelSizes> {
        let layers = self.size(&["num_hidden_layers", "n_layer"]);
        let hidden = self.size(&["hidden_size", "n_embd"]);
        let heads = self.size(&["num_attention_heads", "n_head"]);
        let vocab = self.size(&["vocab_size"]);
        let kv_heads = self.given(&["num_key_value_heads"], 1).or(heads);
        let head_dim = self.given(&["head_dim"], 1).or_else(|| self.head_dim(hidden?, heads?));
        if layers.is_some_and(|layers| layers > MAX_LAYERS) {
            let remedy = format!("use at most {MAX_LAYERS}");
            self.problems.add("num_hidden_layers", "has too many layers", remedy);
            return None;
        }
        let gated = self.gated(notes);
        let experts = self.experts(layers, notes);
        let everywhere = experts
            .as_ref()
            .is_some_and(|experts| Some(experts.layers.len()) == layers.map(|all| all as usize));
        let ffn = match self.given(&["intermediate_size_mlp", "intermediate_size", "n_inner"], 1) {
            Some(ffn) => Some(ffn),
            None if everywhere => experts.as_ref().map(|experts| experts.width),
            None if self.family() == "gpt2" => hidden.and_then(|hidden| hidden.checked_mul(4)),
            None => self.size(&["intermediate_size"]),
        };
        let latent = self.latent();
        if self.keys.get("tie_word_embeddings") == Some(&Value::Bool(true)) {
            notes.push(
                "the token embedding is tied; the import counts it in the first and in the last stage, because \
                 the pipeline stores a copy in each"
                    .to_owned(),
            );
        }
        if self.given(&["num_nextn_predict_layers"], 0).is_some_and(|layers| layers > 0) {
            notes.push(
                "the layers for multi-token prediction (num_nextn_predict_layers) are omitted".to_owned(),
            );
        }
        Some(ModelSizes {
            layers: layers?,
            hidden: hidden?,
            ffn: ffn?,
            gated,
            heads: heads?,
            kv_heads: kv_heads?,
            head_dim: head_dim?,
            vocab: vocab?,
            experts,
            latent,
        })
    }

    fn head_dim(&mut self, hidden: u32, heads: u32) -> Option<u32> {
        if hidden.is_multiple_of(heads) {
            return Some(hidden / heads);
        }
        let message = format!("is missing, and {heads} heads do not divide hidden_size {hidden}");
        self.problems.add("head_dim", message, "add it");
        None
    }

    /// Returns `true` if feed-forward blocks are gated, according to the activation or the family. If the description
    /// names no activation and the family is unknown, they are assumed to be gated, with a note.
    fn gated(&self, notes: &mut Vec<String>) -> bool {
        let family = self.family();
        let by_family = GATED.iter().any(|gated| family.starts_with(gated));
        match self.find(&["hidden_act", "hidden_activation", "activation_function"]) {
            Some((_, Value::String(name))) if name.contains("silu") || name.contains("swiglu") => true,
            _ if by_family => true,
            Some(_) => false,
            None => {
                notes.push(format!(
                    "feed-forward blocks of the family '{family}' are assumed to be gated, with three \
                     matrices"
                ));
                true
            }
        }
    }

    fn experts(&mut self, layers: Option<u32>, notes: &mut Vec<String>) -> Option<ExpertSizes> {
        let count = ["num_experts", "num_local_experts", "n_routed_experts"];
        let experts = self.given(&count, 0).filter(|experts| *experts > 0)?;
        let top_k = self.size(&["num_experts_per_tok", "experts_per_token", "moe_topk"]);
        let width = if EXPERTS_BY_INTERMEDIATE.contains(&self.family()) || self.family().starts_with("llama4")
        {
            self.size(&["moe_intermediate_size", "intermediate_size"])
        } else {
            self.size(&["moe_intermediate_size"])
        };
        let shared = self.shared(width?);
        let layers = self.expert_layers(layers?)?;
        if layers.is_empty() {
            notes.push("no layer has experts according to the keys, so the model is dense".to_owned());
            return None;
        }
        Some(ExpertSizes { experts, top_k: top_k?, width: width?, shared: shared?, layers })
    }

    /// Returns the number of shared experts, which every token visits; a shared expert has the width of a routed
    /// expert.
    fn shared(&mut self, width: u32) -> Option<u32> {
        if let Some(shared) = self.given(&["n_shared_experts", "num_shared_experts"], 0) {
            return Some(shared);
        }
        if self.family().starts_with("llama4") {
            return Some(1);
        }
        let Some(all) = self.given(&["shared_expert_intermediate_size"], 0) else { return Some(0) };
        if all.is_multiple_of(width) {
            return Some(all / width);
        }
        let message = format!("is {all}, which is not a multiple of the width {width} of an expert");
        self.problems.add("shared_expert_intermediate_size", message, "describe the model by hand");
        None
    }

    /// Returns the indices of the layers with experts, from a list or a step; the first layer with experts differs
    /// between families.
    fn expert_layers(&mut self, layers: u32) -> Option<Vec<u32>> {
        let list = |value: &Value| -> Option<Vec<u32>> {
            value.as_array()?.iter().map(|layer| u32::try_from(layer.as_u64()?).ok()).collect()
        };
        if let Some((name, value)) = self.find(&["moe_layers"]) {
            let listed = list(value).filter(|listed| listed.iter().all(|layer| *layer < layers));
            if listed.is_none() {
                self.problems.add(
                    name,
                    "is not a list of layers",
                    format!("list layers from 0 to {}", layers - 1),
                );
            }
            return listed;
        }
        let dense = self.find(&["mlp_only_layers"]).and_then(|(_, value)| list(value)).unwrap_or_default();
        // Qwen and Llama 4 count layers from 1, DeepSeek from 0.
        let step = self.given(&["decoder_sparse_step", "interleave_moe_layer_step"], 1).unwrap_or(1);
        let first = self.given(&["first_k_dense_replace"], 0).unwrap_or(0);
        let every = self.given(&["moe_layer_freq"], 1).unwrap_or(1);
        let has = |layer: &u32| {
            !dense.contains(layer)
                && (layer + 1).is_multiple_of(step)
                && *layer >= first
                && layer.is_multiple_of(every)
        };
        Some((0..layers).filter(has).collect())
    }

    fn latent(&mut self) -> Option<LatentSizes> {
        let kv_lora = self.given(&["kv_lora_rank"], 1)?;
        if self.find(&["q_lora_rank"]).is_none() {
            self.problems.add(
                "q_lora_rank",
                "is missing: latent attention without query compression cannot be described",
                "describe the model by hand",
            );
        }
        Some(LatentSizes {
            q_lora: self.given(&["q_lora_rank"], 1)?,
            kv_lora,
            rope: self.size(&["qk_rope_head_dim"])?,
            nope: self.size(&["qk_nope_head_dim"])?,
            v: self.size(&["v_head_dim"])?,
        })
    }
}
