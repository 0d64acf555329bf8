//! Built-in scenarios: the models of the paper, a later model, and a small region.

use super::shapes::{MoeModel, MoeModelChoice, MoeModelPreset};
use super::{GateTrace, MeasuredTimes, MoeCluster, MoeRegion, MoeScenario, PriceList, SyntheticTrace};
use lightbay_core::listed::Preset;

/// Prefix of the names of presets.
const PREFIX: &str = "moe-";
/// Name of the small region.
const SMALL: &str = "moe-small";

/// All built-in scenarios, smallest first.
pub const PRESETS: &[Preset] = &[
    Preset::new(SMALL, "4 servers, 8 experts of small width, 2 layers: solved in a moment"),
    Preset::new("moe-mixtral_8x7b", "Mixtral 8x7B: regions of 4 servers, 8 layers in a stage"),
    Preset::new("moe-mixtral_8x22b", "Mixtral 8x22B: regions of 8 servers, 7 layers in a stage"),
    Preset::new("moe-llama_moe", "LLaMA-MoE: regions of 2 servers, 8 layers in a stage"),
    Preset::new("moe-qwen_moe", "Qwen1.5-MoE: regions of 8 servers with 64 experts, 6 layers in a stage"),
    Preset::new("moe-deepseek_v3", "DeepSeek-V3: regions of 8 servers with 256 experts, 4 layers in a stage"),
];

/// Returns the scenario called `name`; `None` if the name is unknown.
pub fn scenario(name: &str) -> Option<MoeScenario> {
    if name == SMALL {
        return Some(of(MoeModelChoice::Own(small()), 16));
    }
    let preset = MoeModelPreset::of_word(name.strip_prefix(PREFIX)?)?;
    Some(of(MoeModelChoice::Preset(preset), 128))
}

/// Returns the default scenario of a model on a cluster.
pub fn of(model: MoeModelChoice, servers: u32) -> MoeScenario {
    let mut scenario = MoeScenario {
        region: MoeRegion::usual(1, 8, 6),
        model,
        trace: GateTrace::Synthetic(SyntheticTrace::default()),
        placement: None,
        cluster: MoeCluster {
            servers,
            reconfiguration_delay_ms: 25.0,
            sustained_tflops: 93.6,
            micro_batches: 8,
        },
        measured: MeasuredTimes::default(),
        prices: PriceList::default(),
    };
    scenario.fit_region();
    scenario
}

/// Returns a model whose exchanges take as long as its expert compute.
const fn small() -> MoeModel {
    MoeModel {
        layers: 4,
        hidden: 1024,
        ffn: 2048,
        shared_ffn: 0,
        experts: 8,
        top_k: 2,
        kv_width: 1024,
        seq: 2048,
        micro_batch: 8,
        ep: 8,
        tp: 4,
        pp: 2,
    }
}
