//! Shapes of models: layers, widths, experts and parallelism.

use super::{MAX_EXPERTS, MAX_WIDTH};
use lightbay_core::problem::Problems;
use lightbay_core::read::brief;
use lightbay_core::record::{FieldType, NumberRange, Place, within};
use lightbay_core::{record, words};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

/// A model: the name of a preset, or all its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MoeModelChoice {
    /// Name of a preset.
    Preset(MoeModelPreset),
    /// A model without a name, given by its fields.
    Own(MoeModel),
}

words! {
    /// Models by name.
    pub enum MoeModelPreset {
        /// Mixtral 8x7B.
        Mixtral8x7b = "mixtral_8x7b",
        /// Mixtral 8x22B.
        Mixtral8x22b = "mixtral_8x22b",
        /// LLaMA-MoE; its parallelism except EP is assumed.
        LlamaMoe = "llama_moe",
        /// Qwen1.5-MoE with its 60 routed experts padded to 64; its parallelism except EP is assumed.
        QwenMoe = "qwen_moe",
        /// DeepSeek-V3 with experts in every layer; micro-batch and sequence are assumed.
        DeepseekV3 = "deepseek_v3",
    }
}

record! {
    /// A mixture-of-experts model and its parallelism.
    #[derive(Copy, Eq, Hash)]
    pub struct MoeModel {
        /// Layers of the model, each with attention and experts.
        pub layers: u32 = within(1..=MAX_WIDTH).cold(),
        /// Width of a token between layers.
        pub hidden: u32 = within(1..=MAX_WIDTH).cold(),
        /// Inner width of an expert.
        pub ffn: u32 = within(1..=MAX_WIDTH).cold(),
        /// Inner width of the experts that process every token (shared experts).
        pub shared_ffn: u32 = within(0..=MAX_WIDTH).cold(),
        /// Experts of a layer.
        pub experts: u32 = within(1..=i64::from(MAX_EXPERTS)).cold(),
        /// Experts that a token is sent to.
        pub top_k: u32 = within(1..=i64::from(MAX_EXPERTS)).cold(),
        /// Width of the keys and values of attention.
        pub kv_width: u32 = within(1..=MAX_WIDTH).cold(),
        /// Tokens of a sequence.
        pub seq: u32 = within(1..=MAX_WIDTH).cold(),
        /// Sequences of a micro-batch.
        pub micro_batch: u32 = within(1..=MAX_WIDTH).cold(),
        /// Expert-parallel size; the region grows with it.
        pub ep: u32 = within(1..=4096).cold(),
        /// Tensor-parallel GPUs of a rank.
        pub tp: u32 = within(1..=64).cold(),
        /// Pipeline stages.
        pub pp: u32 = within(1..=MAX_WIDTH).cold(),
    }
}

impl MoeModelPreset {
    /// Returns the fields of the model.
    pub const fn shape(self) -> MoeModel {
        match self {
            Self::Mixtral8x7b => MoeModel {
                layers: 32,
                hidden: 4096,
                ffn: 14336,
                shared_ffn: 0,
                experts: 8,
                top_k: 2,
                kv_width: 1024,
                seq: 4096,
                micro_batch: 8,
                ep: 8,
                tp: 4,
                pp: 4,
            },
            Self::Mixtral8x22b => MoeModel {
                layers: 56,
                hidden: 6144,
                ffn: 16384,
                shared_ffn: 0,
                experts: 8,
                top_k: 2,
                kv_width: 1024,
                seq: 4096,
                micro_batch: 16,
                ep: 8,
                tp: 8,
                pp: 8,
            },
            Self::LlamaMoe => MoeModel {
                layers: 32,
                hidden: 4096,
                ffn: 688,
                shared_ffn: 0,
                experts: 16,
                top_k: 4,
                kv_width: 4096,
                seq: 4096,
                micro_batch: 8,
                ep: 16,
                tp: 1,
                pp: 4,
            },
            Self::QwenMoe => MoeModel {
                layers: 24,
                hidden: 2048,
                ffn: 1408,
                shared_ffn: 5632,
                experts: 64,
                top_k: 4,
                kv_width: 2048,
                seq: 4096,
                micro_batch: 8,
                ep: 64,
                tp: 1,
                pp: 4,
            },
            // The width of keys and values is chosen to represent the parameters of the model's latent attention.
            Self::DeepseekV3 => MoeModel {
                layers: 61,
                hidden: 7168,
                ffn: 2048,
                shared_ffn: 2048,
                experts: 256,
                top_k: 8,
                kv_width: 5884,
                seq: 4096,
                micro_batch: 1,
                ep: 64,
                tp: 1,
                pp: 16,
            },
        }
    }
}

impl FieldType for MoeModelChoice {
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::String(_) => FieldType::read(value, place, range, problems).map(Self::Preset),
            Value::Object(_) => FieldType::read(value, place, range, problems).map(Self::Own),
            other => {
                let remedy = "give the name of a preset or an object { … }";
                problems.add(place.to_string(), format!("is {}", brief(other)), remedy);
                None
            }
        }
    }

    fn schema(generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        generator.subschema_for::<Self>()
    }
}

impl MoeModelChoice {
    /// Returns the fields of the model.
    pub const fn shape(self) -> MoeModel {
        match self {
            Self::Preset(preset) => preset.shape(),
            Self::Own(shape) => shape,
        }
    }

    /// Returns the preset with these fields, if there is one; otherwise the fields.
    pub fn of(shape: MoeModel) -> Self {
        let same = MoeModelPreset::ALL.iter().find(|(_, preset)| preset.shape() == shape);
        same.map_or(Self::Own(shape), |(_, preset)| Self::Preset(*preset))
    }
}

impl MoeModel {
    /// Returns the number of tokens of a micro-batch.
    pub fn tokens(&self) -> f64 {
        f64::from(self.seq) * f64::from(self.micro_batch)
    }

    /// Returns the mean number of experts of a rank, without replicas.
    pub fn experts_per_rank(&self) -> f64 {
        f64::from(self.experts) / f64::from(self.ep.max(1))
    }

    /// Returns the number of token copies that a rank sends to experts in one all-to-all: one copy of a token for each
    /// of its experts.
    pub fn copies(&self) -> f64 {
        self.tokens() * f64::from(self.top_k)
    }

    /// Returns the number of bytes of a token.
    pub fn token_bytes(&self) -> f64 {
        2.0 * f64::from(self.hidden)
    }
}
