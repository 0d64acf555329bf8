//! The kind `training` in the catalogue.

use super::Listed;
use crate::catalogue::PresetInfo;
use lightbay_core::kind::Kind;
use lightbay_core::method::Method;
use lightbay_highs::modelled::Modelled;
use lightbay_training::scenario::presets;
use lightbay_training::{Training, TrainingScenario, methods};
use std::sync::Arc;

impl Listed for Training {
    const HELP: &'static str = "optical circuits between the pods of one LLM training job";

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        methods::models()
    }

    fn presets() -> Vec<PresetInfo> {
        let info = |name, help| PresetInfo { kind: Self::NAME, name, help };
        let jobs = presets::JOBS.iter().map(|preset| info(preset.name, preset.description));
        let pairs = presets::PAIRS.iter().map(|preset| info(preset.name, preset.description));
        jobs.chain(pairs).collect()
    }

    fn preset(name: &str) -> Option<TrainingScenario> {
        presets::scenario(name)
    }

    under_its_name!(training);
}
