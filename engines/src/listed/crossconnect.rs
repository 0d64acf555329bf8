//! The kind `crossconnect` in the catalogue.

use super::Listed;
use crate::catalogue::PresetInfo;
use crate::files::AnyDraft;
use crate::formats::{Artifact, FormatInfo, SubjectOf, crossconnect};
use crate::subject::{AnyPlan, AnyScenario};
use lightbay_core::checked::Checked;
use lightbay_core::kind::Kind;
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use lightbay_core::plan::Draft;
use lightbay_core::problem::Problems;
use lightbay_core::scenario::Scenario;
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

    fn exporters() -> Vec<FormatInfo> {
        crossconnect::exporters()
    }

    fn export_scenario(
        scenario: &Arc<Scenario<Self>>,
        against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        crossconnect::export_scenario(scenario, against, format, params)
    }

    fn export_plan(
        plan: &Arc<Checked<Self>>,
        against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        crossconnect::export_plan(plan, against, format, params)
    }

    fn scenario(scenario: Arc<Scenario<Self>>) -> AnyScenario {
        AnyScenario::Crossconnect(scenario)
    }

    fn plan(plan: Arc<Checked<Self>>) -> AnyPlan {
        AnyPlan::Crossconnect(plan)
    }

    fn draft(draft: Box<Draft<Self>>) -> AnyDraft {
        AnyDraft::Crossconnect(draft)
    }
}
