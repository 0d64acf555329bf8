//! Descriptions of models and jobs: `config.json` of Hugging Face, files of Calculon, arguments of Megatron-LM and
//! NeMo.
//!
//! Families use different keys for the same sizes; each size is searched under all of its names. Properties that the
//! record cannot represent become notes; a missing size is a problem.

mod attention;
pub mod calculon;
mod described;
mod experts;
pub mod megatron;

#[cfg(test)]
mod tests;

pub use described::DescribedJob;

use crate::gz::{self, Limits};
use crate::imported::{Assumed, Imported};
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::read::parse_json;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
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
    /// `true` if the output table is the embedding table.
    pub tied: bool,
    /// The experts, if the model has any.
    pub experts: Option<ExpertSizes>,
    /// Sizes of multi-head latent attention, if the model uses it.
    pub latent: Option<LatentSizes>,
    /// The window of layers that attend only to the latest tokens, if the model has such layers.
    pub window: Option<WindowSizes>,
}

/// Attention of layers to only the latest tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSizes {
    /// Number of tokens to which a token attends.
    pub tokens: u32,
    /// Number of layers with the window, if the description states it.
    pub layers: Option<u32>,
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

/// Key that is `true` if the output table is the embedding table.
const TIE: &str = "tie_word_embeddings";
/// Maximum size of a description, bytes: real descriptions have a few thousand bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum number of layers, so that lists of them stay small.
const MAX_LAYERS: u32 = 1 << 16;

/// Prefixes of the names of families whose feed-forward blocks are gated.
const GATED: [&str; 11] =
    ["llama", "mistral", "mixtral", "qwen", "deepseek", "gpt_oss", "gemma", "phi3", "glm", "chatglm", "kimi"];
/// Prefixes of the names of families whose feed-forward blocks have two matrices.
const PLAIN: [&str; 13] = [
    "gpt2",
    "gpt_neo",
    "gptj",
    "gpt_bigcode",
    "starcoder2",
    "opt",
    "bloom",
    "falcon",
    "mpt",
    "bert",
    "roberta",
    "nemotron",
    "phi",
];
/// Families whose output table is the embedding table if `tie_word_embeddings` is missing.
const TIED: [&str; 10] =
    ["gpt2", "gpt_bigcode", "opt", "bloom", "falcon", "mpt", "bert", "roberta", "starcoder2", "gpt_neo"];
/// Words in the names of keys that may change sizes, so that an unknown key is named.
const TELLING: [&str; 6] = ["moe", "expert", "kv", "multi_query", "period", "window"];

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
        let outer = keys.remove(TIE);
        keys = text;
        if let Some(outer) = outer.filter(|_| !keys.contains_key(TIE)) {
            keys.insert(TIE.to_owned(), outer);
        }
    }
    let mut config =
        Config { keys: &keys, problems: Problems::new(), used: BTreeSet::new(), notes, assumed: Vec::new() };
    let sizes = config.sizes();
    config.name_unknown();
    let Config { problems, notes, assumed, .. } = config;
    match sizes {
        Some(value) if problems.is_empty() => Ok(Imported { value, assumed, notes }),
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
    match parse_json(&bytes)? {
        Value::Object(keys) => Ok(keys),
        _ => Err(Problem::new("", "is not a JSON object", remedy).into()),
    }
}

/// Returns `true` for a value that switches something on or gives a size.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(on) => *on,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

/// The keys of a description while they are read.
struct Config<'k> {
    keys: &'k Map<String, Value>,
    problems: Problems,
    /// Keys that were read.
    used: BTreeSet<String>,
    notes: Vec<String>,
    assumed: Vec<Assumed>,
}

impl<'k> Config<'k> {
    /// Returns the first of the keys that has a value, with this value. Counts all of the keys as read.
    fn find(&mut self, names: &[&'static str]) -> Option<(&'static str, &'k Value)> {
        self.used.extend(names.iter().map(|name| (*name).to_owned()));
        names.iter().find_map(|name| Some((*name, self.keys.get(*name).filter(|value| !value.is_null())?)))
    }

    /// Reads a flag; a value that is not a flag is a problem.
    fn flag(&mut self, name: &'static str) -> Option<bool> {
        let (_, value) = self.find(&[name])?;
        if !value.is_boolean() {
            self.problems.add(name, format!("is {value}"), "use true or false");
        }
        value.as_bool()
    }

    /// Reads a size of at least `least` that has one of these names, or a list with this size for every layer; `None`
    /// if the description has no key of these names, or if the value is invalid, which adds a problem.
    fn given(&mut self, names: &[&'static str], least: u32) -> Option<u32> {
        let (name, value) = self.find(names)?;
        let one = match value.as_array().map(Vec::as_slice) {
            Some([first, others @ ..]) if others.iter().all(|other| other == first) => first,
            _ => value,
        };
        let size = one.as_u64().and_then(|size| u32::try_from(size).ok()).filter(|size| *size >= least);
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

    fn family(&self) -> &'k str {
        self.keys.get("model_type").and_then(Value::as_str).unwrap_or_default()
    }

    /// Assumes for unknown keys with a telling name that they do not affect the sizes.
    fn name_unknown(&mut self) {
        let telling = |name: &str| {
            TELLING.iter().any(|word| name.contains(word))
                && !name.contains("qkv")
                && !experts::affects_no_size(name)
        };
        let unknown: Vec<String> = self
            .keys
            .iter()
            .filter(|(name, value)| is_set(value) && telling(name) && !self.used.contains(*name))
            .map(|(name, _)| printable(name))
            .collect();
        if !unknown.is_empty() {
            self.assumed.push(Assumed {
                what: format!("effect of {} on the sizes", unknown.join(", ")),
                value: "none".to_owned(),
                set_with: "the sizes in the model of the scenario".to_owned(),
            });
        }
    }

    fn sizes(&mut self) -> Option<ModelSizes> {
        let layers = self.size(&["num_hidden_layers", "n_layer", "num_layers"]);
        let hidden = self.size(&["hidden_size", "n_embd"]);
        let heads = self.size(&["num_attention_heads", "n_head"]);
        let vocab = self.size(&["vocab_size", "padded_vocab_size"]);
        let kv_heads = self.kv_heads(heads);
        let head_dim = self.given(&["head_dim", "kv_channels"], 1).or_else(|| self.head_dim(hidden?, heads?));
        if layers.is_some_and(|layers| layers > MAX_LAYERS) {
            let remedy = format!("use at most {MAX_LAYERS}");
            self.problems.add("num_hidden_layers", "has too many layers", remedy);
            return None;
        }
        let gated = self.gated();
        let experts = self.experts(layers);
        let everywhere = experts
            .as_ref()
            .is_some_and(|experts| Some(experts.layers.len()) == layers.map(|all| all as usize));
        let ffn = ["intermediate_size_mlp", "intermediate_size", "n_inner", "ffn_hidden_size"];
        let ffn = match self.given(&ffn, 1) {
            // The first generation of Qwen gives the width of two matrices together.
            Some(ffn) if self.family() == "qwen" => self.halved(ffn),
            Some(ffn) => Some(ffn),
            None if everywhere => experts.as_ref().map(|experts| experts.width),
            None if self.family() == "gpt2" => hidden.and_then(|hidden| hidden.checked_mul(4)),
            None => self.size(&["intermediate_size"]),
        };
        let latent = self.latent();
        let window = self.window(layers);
        let tied = self.tied();
        if self.given(&["num_nextn_predict_layers"], 0).is_some_and(|layers| layers > 0) {
            self.notes.push(
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
            tied,
            experts,
            latent,
            window,
        })
    }

    /// Returns half of a feed-forward width, which must be even.
    fn halved(&mut self, ffn: u32) -> Option<u32> {
        if !ffn.is_multiple_of(2) {
            let message =
                format!("is {ffn}, which is odd, but a matrix of a model of type qwen has half of it");
            self.problems.add("intermediate_size", message, "correct it");
        }
        Some(ffn / 2).filter(|half| *half > 0)
    }

    /// Returns `true` if the output table is the embedding table, according to its key or else the family.
    fn tied(&mut self) -> bool {
        let family = self.family();
        let usual =
            TIED.contains(&family) || ["gemma", "cohere"].iter().any(|start| family.starts_with(start));
        self.flag(TIE).unwrap_or(usual)
    }

    fn head_dim(&mut self, hidden: u32, heads: u32) -> Option<u32> {
        if hidden.is_multiple_of(heads) {
            return Some(hidden / heads);
        }
        let message = format!("is missing, and {heads} heads do not divide hidden_size {hidden}");
        self.problems.add("head_dim", message, "add it");
        None
    }

    /// Returns `true` if feed-forward blocks are gated, according to the activation or the family; an assumption for
    /// unknown families.
    fn gated(&mut self) -> bool {
        let activation = self.find(&["hidden_act", "hidden_activation", "activation_function"]);
        let family = self.family();
        let of = |families: &[&str]| families.iter().any(|known| family.starts_with(known));
        let (gated, known) = match activation {
            Some((_, Value::String(name))) if name.contains("silu") || name.contains("swiglu") => {
                (true, true)
            }
            _ if of(&GATED) => (true, true),
            Some(_) => (false, of(&PLAIN)),
            None => (!of(&PLAIN), of(&PLAIN)),
        };
        if !known {
            let value = if gated { "3 (gated)" } else { "2 (not gated)" };
            self.assumed.push(Assumed {
                what: format!("matrices of a feed-forward block (family '{}')", printable(family)),
                value: value.to_owned(),
                set_with: "gated=".to_owned(),
            });
        }
        gated
    }
}
