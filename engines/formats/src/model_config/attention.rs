//! Attention of a `config.json`: key and value heads, windows, and layers with another kind of mixing.

use super::{Config, LatentSizes, WindowSizes};
use serde_json::Value;

/// Families in which a window applies to every layer if no key selects layers.
const ALL_WINDOWED: [&str; 4] = ["mistral", "mixtral", "phi3", "starcoder2"];
/// Keys of models in which only some layers have attention over all tokens.
const HYBRID: [&str; 8] = [
    "full_attention_interval",
    "attn_layer_period",
    "attn_layer_indices",
    "attn_type_list",
    "linear_attn_config",
    "layers_block_type",
    "hybrid_override_pattern",
    "block_types",
];
/// Beginnings of the names of families, and of keys, of state-space and recurrent models.
const RECURRENT: [&str; 4] = ["mamba", "ssm_", "rwkv", "recurrent"];
/// Names of the number of key and value heads, each with the number of heads itself.
const KV_HEADS: [&str; 5] =
    ["num_key_value_heads", "num_kv_heads", "n_head_kv", "num_query_groups", "multi_query_group_num"];

impl Config<'_> {
    /// Returns the number of key and value heads, which divides the number of attention heads.
    pub(super) fn kv_heads(&mut self, heads: Option<u32>) -> Option<u32> {
        let grouped = self.flag("new_decoder_architecture") == Some(true);
        let single = self.flag("multi_query").unwrap_or(self.family() == "gpt_bigcode") && !grouped;
        let by_group = self.flag("multi_query_attention");
        let found = self.find(&KV_HEADS).map(|(name, _)| name);
        let given = if by_group == Some(true) { self.size(&KV_HEADS[4..]) } else { self.given(&KV_HEADS, 1) };
        if single {
            if let Some(given) = given.filter(|given| found == Some(KV_HEADS[0]) && *given > 1) {
                let message = format!("is {given}, but multi_query is true, which means 1");
                self.problems.add(KV_HEADS[0], message, "correct one of the two");
            }
            return Some(1);
        }
        if by_group == Some(false) {
            return heads;
        }
        let (Some(name), Some(given)) = (found, given) else { return heads };
        // Latent attention has no key and value heads.
        if let Some(heads) = heads.filter(|heads| !heads.is_multiple_of(given))
            && !self.keys.contains_key("kv_lora_rank")
        {
            let message = format!("is {given}, but the {heads} attention heads are not a multiple of it");
            self.problems.add(name, message, "correct one of the two numbers");
        }
        Some(given)
    }

    /// Returns the window of the layers that attend only to the latest tokens. A model with layers of another kind than
    /// attention is a problem.
    pub(super) fn window(&mut self, layers: Option<u32>) -> Option<WindowSizes> {
        self.refuse_hybrid();
        let types = self.layer_types(layers);
        let used = self.flag("use_sliding_window");
        let first = self.given(&["max_window_layers"], 0);
        let pattern = self.given(&["sliding_window_pattern", "_sliding_window_pattern"], 1);
        let names = ["sliding_window", "attention_window", "window_size", "attention_chunk_size"];
        let (_, value) = self.find(&names)?;
        // 0, -1 and `false` switch windows off.
        if used == Some(false)
            || value.as_i64().is_some_and(|tokens| tokens <= 0)
            || value == &Value::Bool(false)
        {
            return None;
        }
        let tokens = self.given(&names, 1)?;
        let count = match (types, used, first, pattern) {
            (Some(windowed), ..) => Some(windowed),
            (None, Some(true), Some(first), _) => layers.map(|layers| layers.saturating_sub(first)),
            (None, .., Some(pattern)) => layers.map(|layers| layers - layers / pattern),
            _ if self.family().starts_with("gemma2") => layers.map(|layers| layers - layers / 2),
            _ if ALL_WINDOWED.contains(&self.family()) => layers,
            _ => None,
        };
        (count != Some(0)).then_some(WindowSizes { tokens, layers: count })
    }

    /// Returns the number of layers with a window according to the list of the types of layers.
    fn layer_types(&mut self, layers: Option<u32>) -> Option<u32> {
        let (name, value) = self.find(&["layer_types"])?;
        let words: Option<Vec<&str>> =
            value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        let Some(words) = words.filter(|words| layers.is_none_or(|layers| words.len() == layers as usize))
        else {
            let message = "is not a list with one type for each layer";
            self.problems.add(
                name,
                message,
                "correct the list, or remove it if all layers have full attention",
            );
            return None;
        };
        let mut windowed = 0;
        for word in words {
            match word {
                "full_attention" | "attention" => {}
                "sliding_attention" | "chunked_attention" => windowed += 1,
                other => {
                    let message = format!("contains '{other}', which is not attention over tokens");
                    self.refuse_mixing(name, message);
                    break;
                }
            }
        }
        Some(windowed)
    }

    fn refuse_hybrid(&mut self) {
        for name in HYBRID {
            let Some((_, value)) = self.find(&[name]) else { continue };
            let everywhere = value.as_u64() == Some(1)
                || value.as_array().is_some_and(|list| {
                    list.iter().all(|entry| entry.as_u64() == Some(1) || entry.as_str() == Some("attention"))
                });
            if !everywhere {
                let message =
                    "states that only some layers have attention, which a job cannot represent".to_owned();
                self.refuse_mixing(name, message);
            }
        }
        let family = self.family().to_owned();
        let recurrent = |name: &str| RECURRENT.iter().any(|start| name.starts_with(start));
        let keys = self.keys;
        if let Some(name) = keys.keys().find(|name| recurrent(name)) {
            self.refuse_mixing(name, "belongs to layers that have no attention".to_owned());
        } else if recurrent(&family) {
            self.refuse_mixing("model_type", format!("is {family}, a model without attention"));
        }
    }

    fn refuse_mixing(&mut self, name: &str, message: String) {
        let remedy =
            "give the sizes of a similar model whose layers all have attention, as the model of a scenario";
        self.problems.add(name, message, remedy);
    }

    pub(super) fn latent(&mut self) -> Option<LatentSizes> {
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
