//! Experts of a `config.json`: their number and width, and the layers that have them.

use super::{Config, ExpertSizes, is_set};
use serde_json::Value;

/// Families whose experts have the width `intermediate_size`.
const EXPERTS_BY_INTERMEDIATE: [&str; 3] = ["mixtral", "gpt_oss", "llama4"];
/// Names of the number of routed experts.
const COUNT: [&str; 5] =
    ["num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "num_moe_experts"];
/// Keys about experts that affect neither sizes nor compute: routing, losses and dropout.
const NO_SIZES: [&str; 7] = [
    "moe_capacity",
    "moe_gate",
    "moe_use_aux_free",
    "moe_dropout_prob",
    "moe_aux_loss_coeff",
    "moe_aux_loss_coef",
    "moe_router_dtype",
];
/// Words in the names of keys that may select the layers with experts.
const SELECTS: [&str; 6] = ["layer", "freq", "interval", "period", "every", "step"];

/// Returns `true` for the name of a key that is known to affect no size.
pub(super) fn affects_no_size(name: &str) -> bool {
    NO_SIZES.contains(&name)
}

/// Returns `true` for the name of a key about experts.
fn is_about_experts(name: &str) -> bool {
    (name.contains("moe") || name.contains("expert")) && !affects_no_size(name)
}

impl Config<'_> {
    pub(super) fn experts(&mut self, layers: Option<u32>) -> Option<ExpertSizes> {
        let keys = self.keys;
        let about = || keys.iter().filter(|(name, _)| is_about_experts(name));
        let experts = self.given(&COUNT, 0);
        if experts.is_none_or(|experts| experts == 0) {
            if COUNT.iter().any(|name| keys.contains_key(*name)) {
                // The file states that the model is dense.
                self.used.extend(about().map(|(name, _)| name.clone()));
            } else {
                let set: Vec<&str> =
                    about().filter(|(_, value)| is_set(value)).map(|(name, _)| name.as_str()).collect();
                if !set.is_empty() {
                    let message = format!("is missing, but the file has {}", set.join(", "));
                    let remedy = "add the number of experts, or 0 if the model has none";
                    self.problems.add(COUNT[0], message, remedy);
                    self.used.extend(set.into_iter().map(str::to_owned));
                }
            }
            return None;
        }
        let top_k = self.size(&[
            "num_experts_per_tok",
            "experts_per_token",
            "num_experts_per_token",
            "moe_topk",
            "moe_top_k",
            "moe_k",
        ]);
        let width = if EXPERTS_BY_INTERMEDIATE.contains(&self.family()) || self.family().starts_with("llama4")
        {
            self.size(&["moe_intermediate_size", "intermediate_size"])
        } else {
            self.size(&["moe_intermediate_size"])
        };
        let shared = self.shared(width?);
        let layers = self.expert_layers(layers?)?;
        for (name, _) in about().filter(|(_, value)| is_set(value)) {
            if !self.used.contains(name) && SELECTS.iter().any(|word| name.contains(word)) {
                let message = "is unknown, and may select the layers with experts";
                let remedy = "list the layers with experts as moe_layers instead";
                self.problems.add(name.as_str(), message, remedy);
            }
        }
        if layers.is_empty() {
            self.notes.push("no layer has experts according to the keys, so the model is dense".to_owned());
            return None;
        }
        Some(ExpertSizes { experts: experts?, top_k: top_k?, width: width?, shared: shared?, layers })
    }

    /// Returns the number of shared experts, which every token visits; a shared expert has the width of a routed
    /// expert.
    fn shared(&mut self, width: u32) -> Option<u32> {
        let names = ["n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"];
        if let Some(shared) = self.given(&names, 0) {
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

    /// Returns the indices of the layers with experts, from a list, a step or a period; the first layer with experts
    /// differs between families.
    fn expert_layers(&mut self, layers: u32) -> Option<Vec<u32>> {
        let listed = self.layer_list("moe_layers", layers);
        let dense = self.layer_list("mlp_only_layers", layers).unwrap_or_default();
        // Qwen, Llama 4 and ERNIE count layers from 1, DeepSeek and Jamba from 0.
        let steps = ["decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"];
        let step = self.given(&steps, 1).unwrap_or(1);
        let first = self.given(&["first_k_dense_replace", "moe_layer_start_index"], 0).unwrap_or(0);
        let last = match self.find(&["moe_layer_end_index"]) {
            Some((_, value)) if value.as_i64() == Some(-1) => u32::MAX,
            Some((name, _)) => self.given(&[name], 0)?,
            None => u32::MAX,
        };
        let every = self.given(&["moe_layer_freq"], 1).unwrap_or(1);
        let period = self.given(&["expert_layer_period"], 1).unwrap_or(1);
        let offset = self.given(&["expert_layer_offset"], 0).unwrap_or(0);
        if self.keys.get("moe_layers").is_some_and(|list| !list.is_null()) {
            return listed;
        }
        let has = |layer: &u32| {
            !dense.contains(layer)
                && (layer + 1).is_multiple_of(step)
                && (first..=last).contains(layer)
                && layer.is_multiple_of(every)
                && layer % period == offset % period
        };
        Some((0..layers).filter(has).collect())
    }

    /// Reads a list of layers below `most`; another value is a problem.
    fn layer_list(&mut self, name: &'static str, most: u32) -> Option<Vec<u32>> {
        let (_, value) = self.find(&[name])?;
        let layer = |layer: &Value| u32::try_from(layer.as_u64()?).ok().filter(|layer| *layer < most);
        let list: Option<Vec<u32>> = value.as_array().and_then(|list| list.iter().map(layer).collect());
        if list.is_none() {
            let remedy = format!("list layers from 0 to {}", most - 1);
            self.problems.add(name, "is not a list of layers", remedy);
        }
        list
    }
}
