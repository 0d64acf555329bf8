//! The kind `tpu` in the catalogue.

use super::Listed;
use crate::catalogue::PresetInfo;
use crate::files::AnyDraft;
use crate::formats::{Artifact, FormatInfo, SubjectOf, tpu};
use crate::subject::{AnyPlan, AnyScenario};
use lightbay_core::checked::Checked;
use lightbay_core::kind::Kind;
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use lightbay_core::plan::Draft;
use lightbay_core::problem::Problems;
use lightbay_core::scenario::Scenario;
use lightbay_highs::modelled::Modelled;
use lightbay_tpu::{Tpu, TpuScenario, methods, presets};
use std::sync::Arc;

impl Listed for Tpu {
    const HELP: &'static str = "topology, deadlock-free routes and faults of one TPU pod";

    const METRICS: &'static [&'static str] = &[
        "mcf_upper",
        "n_mcf",
        "avg_hops",
        "diameter",
        "max_channel_load",
        "vc_ratio",
        "worst_fault_load",
        "saturation_flits_per_cycle_per_node",
    ];

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

    fn exporters() -> Vec<FormatInfo> {
        tpu::exporters()
    }

    fn export_scenario(
        scenario: &Arc<Scenario<Self>>,
        against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        tpu::export_scenario(scenario, against, format, params)
    }

    fn export_plan(
        plan: &Arc<Checked<Self>>,
        against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        tpu::export_plan(plan, against, format, params)
    }

    fn scenario(scenario: Arc<Scenario<Self>>) -> AnyScenario {
        AnyScenario::Tpu(scenario)
    }

    fn plan(plan: Arc<Checked<Self>>) -> AnyPlan {
        AnyPlan::Tpu(plan)
    }

    fn draft(draft: Box<Draft<Self>>) -> AnyDraft {
        AnyDraft::Tpu(draft)
    }
}
