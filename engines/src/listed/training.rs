//! The kind `training` in the catalogue.

use super::Listed;
use crate::catalogue::PresetInfo;
use crate::files::AnyDraft;
use crate::formats::{Artifact, FormatInfo, SubjectOf, training};
use crate::subject::{AnyPlan, AnyScenario};
use lightbay_core::checked::Checked;
use lightbay_core::kind::Kind;
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use lightbay_core::plan::Draft;
use lightbay_core::problem::Problems;
use lightbay_core::scenario::Scenario;
use lightbay_highs::modelled::Modelled;
use lightbay_training::{Training, TrainingScenario, methods, presets};
use std::sync::Arc;

impl Listed for Training {
    const HELP: &'static str = "optical circuits between the pods of one LLM training job";

    const METRICS: &'static [&'static str] =
        &["nct", "total_ports", "port_ratio", "ideal_makespan_s", "comm_ideal_s"];

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        methods::models()
    }

    fn presets() -> Vec<PresetInfo> {
        let info = |preset: &presets::JobPreset| PresetInfo {
            kind: Self::NAME,
            name: preset.name,
            help: preset.description,
        };
        presets::JOBS.iter().map(info).collect()
    }

    fn preset(name: &str) -> Option<TrainingScenario> {
        presets::job(name).map(|preset| TrainingScenario::Job(preset.job()))
    }

    fn exporters() -> Vec<FormatInfo> {
        training::exporters()
    }

    fn export_scenario(
        scenario: &Arc<Scenario<Self>>,
        _against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        training::export_scenario(scenario, format, params)
    }

    fn export_plan(
        plan: &Arc<Checked<Self>>,
        _against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        training::export_plan(plan, format, params)
    }

    fn scenario(scenario: Arc<Scenario<Self>>) -> AnyScenario {
        AnyScenario::Training(scenario)
    }

    fn plan(plan: Arc<Checked<Self>>) -> AnyPlan {
        AnyPlan::Training(plan)
    }

    fn draft(draft: Box<Draft<Self>>) -> AnyDraft {
        AnyDraft::Training(draft)
    }
}
