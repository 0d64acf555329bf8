//! The kind `crossconnect` in the catalogue.

use super::Listed;
use crate::catalogue::PresetInfo;
use lightbay_core::kind::Kind;
use lightbay_core::method::Method;
use lightbay_crossconnect::{Crossconnect, CrossconnectScenario, methods, presets};
use lightbay_highs::modelled::Modelled;
use std::sync::Arc;

impl Listed for Crossconnect {
    const HELP: &'static str =
        "cross-connects of optical circuit switches with little rewiring, and all-to-all phases";

    const METRICS: &'static [&'static str] = &[
        "kept_circuits",
        "added_circuits",
        "lower_bound_removed_circuits",
        "forced_removed_circuits",
        "batches",
        "max_dark_circuits",
        "max_dark_per_pod",
        "least_pair_share",
        "dark_limit_kept",
        "pair_share_kept",
        "predicted_makespan_s",
        "phases",
        "max_flows_per_pod_pair",
        "contended_phases",
        "pod_pairs_short_of_circuits",
    ];

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

    under_its_name!(crossconnect, Crossconnect);
}
