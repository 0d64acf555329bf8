//! The kind `tpu` in the catalogue.

use super::Listed;
use crate::catalogue::PresetInfo;
use lightbay_core::kind::Kind;
use lightbay_core::method::Method;
use lightbay_highs::modelled::Modelled;
use lightbay_tpu::scenario::presets;
use lightbay_tpu::{Tpu, TpuScenario, methods};
use std::sync::Arc;

impl Listed for Tpu {
    const HELP: &'static str = "topology, deadlock-free routes and faults of one TPU pod";

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        methods::models()
    }

    fn presets() -> Vec<PresetInfo> {
        let info = |preset: &presets::PodPreset| PresetInfo {
            kind: Self::NAME,
            name: preset.name,
            help: preset.description,
        };
        presets::PODS.iter().map(info).collect()
    }

    fn preset(name: &str) -> Option<TpuScenario> {
        presets::scenario(name)
    }

    under_its_name!(tpu);
}
