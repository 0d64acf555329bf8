//! Parameter and FLOP counts per layer, and the split of layers over stages.

use crate::scenario::job::Model;

/// Parameter counts of the parts of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerParams {
    attention: f64,
    dense: f64,
    one_expert: f64,
    routed: f64,
    shared: f64,
    router: f64,
    top_k: f64,
    /// For every layer of the model, `true` if the layer is dense.
    dense_layers: Vec<bool>,
    /// Width of the attention: heads * (width of a score + width of a value).
    attention_width: f64,
}

impl LayerParams {
    /// Counts the parameters of `model`; biases and norms are ignored.
    pub fn of(model: &Model) -> Self {
        let h = f64::from(model.hidden);
        let heads = f64::from(model.heads);
        let head_dim = f64::from(model.head_dim);
        let (attention, score, value) = match model.mla {
            None => {
                let kv = f64::from(model.kv_heads);
                (2.0 * h * heads * head_dim + 2.0 * h * kv * head_dim, head_dim, head_dim)
            }
            Some(mla) => {
                let (q_lora, kv_lora) = (f64::from(mla.q_lora), f64::from(mla.kv_lora));
                let (rope, nope, v) = (f64::from(mla.rope), f64::from(mla.nope), f64::from(mla.v));
                let params = h * q_lora
                    + q_lora * heads * (nope + rope)
                    + h * (kv_lora + rope)
                    + kv_lora * heads * (nope + v)
                    + heads * v * h;
                (params, nope + rope, v)
            }
        };
        let matrices = if model.gated { 3.0 } else { 2.0 };
        let (one_expert, routed, shared, router, top_k) = match model.moe() {
            None => (0.0, 0.0, 0.0, 0.0, 0.0),
            Some(moe) => {
                let one = matrices * h * f64::from(moe.expert_ffn);
                let experts = f64::from(moe.experts);
                let shared = f64::from(moe.shared_experts) * one;
                (one, experts * one, shared, h * experts, f64::from(moe.top_k))
            }
        };
        Self {
            attention,
            dense: matrices * h * f64::from(model.ffn),
            one_expert,
            routed,
            shared,
            router,
            top_k,
            dense_layers: (0..model.layers).map(|layer| !model.has_experts(layer)).collect(),
            attention_width: heads * (score + value),
        }
    }

    /// Number of parameters of a dense layer.
    pub fn dense_layer(&self) -> f64 {
        self.attention + self.dense
    }

    /// Number of parameters of an expert layer without its routed experts.
    pub fn moe_layer_without_experts(&self) -> f64 {
        self.attention + self.shared + self.router
    }

    /// Number of parameters of all routed experts of an expert layer.
    pub fn experts(&self) -> f64 {
        self.routed
    }

    /// Forward FLOPs per token of a dense layer: two per parameter, plus causal attention, in which a token attends to
    /// half of the sequence on average.
    pub fn dense_flops(&self, seq: u32) -> f64 {
        2.0 * self.dense_layer() + self.attention_core_flops(seq)
    }

    /// Forward FLOPs per token of the scores and weighted sums of a layer.
    pub fn attention_core_flops(&self, seq: u32) -> f64 {
        self.attention_width * f64::from(seq)
    }

    /// Forward FLOPs per token of an expert layer: only the visited experts count.
    pub fn moe_flops(&self, seq: u32) -> f64 {
        let active = self.moe_layer_without_experts() + self.top_k * self.one_expert;
        2.0 * active + self.attention_core_flops(seq)
    }

    /// Returns the number of dense layers among `count` layers from layer `first`.
    pub fn dense_layers_in(&self, first: u32, count: u32) -> u32 {
        self.dense_layers.iter().skip(first as usize).take(count as usize).filter(|dense| **dense).count()
            as u32
    }
}

/// Number of parameters of the whole model with its input and output tables; tied tables count once.
pub fn parameter_total(model: &Model) -> f64 {
    let params = LayerParams::of(model);
    let dense = params.dense_layers_in(0, model.layers);
    let table = f64::from(model.vocab) * f64::from(model.hidden);
    f64::from(dense) * params.dense_layer()
        + f64::from(model.layers - dense) * (params.moe_layer_without_experts() + params.experts())
        + if model.tied { table } else { 2.0 * table }
}

/// Forward FLOPs of a token through the whole model, including its output table.
pub fn flops_per_token(model: &Model, seq: u32) -> f64 {
    let params = LayerParams::of(model);
    let dense = params.dense_layers_in(0, model.layers);
    f64::from(dense) * params.dense_flops(seq)
        + f64::from(model.layers - dense) * params.moe_flops(seq)
        + 2.0 * f64::from(model.vocab) * f64::from(model.hidden)
}

/// Layers per stage, as even as possible. The stages with one layer less are the last stage, the first stage, the last
/// but one, and so on, because the first and the last stage also hold the tables.
pub fn layer_split(layers: u32, stages: u32) -> Vec<u32> {
    if stages == 0 {
        return Vec::new();
    }
    let base = layers / stages;
    let extra = layers % stages;
    if extra == 0 {
        return vec![base; stages as usize];
    }
    let mut split = vec![base + 1; stages as usize];
    let (mut first, mut last) = (0, stages as usize - 1);
    for turn in 0..stages - extra {
        if turn % 2 == 0 {
            split[last] = base;
            last -= 1;
        } else {
            split[first] = base;
            first += 1;
        }
    }
    split
}
