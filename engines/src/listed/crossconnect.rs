//! The kind `crossconnect` in the catalogue.

use super::Listed;
use crate::catalogue::PresetInfo;
use lightbay_core::kind::Kind;
use lightbay_core::method::Method;
use lightbay_crossconnect::scenario::presets;
use lightbay_crossconnect::{Crossconnect, CrossconnectScenario, methods};
use lightbay_highs::modelled::Modelled;
use std::sync::Arc;

impl Listed for Crossconnect {
    const HELP: &'static str =
        "cross-connects of optical circuit switches with little rewiring, and all-to-all phases";

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        methods::models()
    }

    fn presets() -> Vec<PresetInfo> {
        let info = |preset: &presets::Preset| PresetInfo {
            kind: Self::NAME,
            name: preset.name,
            help: preset.description,
        };
        presets::PRESETS.iter().map(info).collect()
    }

    fn preset(name: &str) -> Option<CrossconnectScenario> {
        presets::scenario(name)
    }

    under_its_name!(crossconnect);
}
