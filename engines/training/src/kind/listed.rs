//! The kind `training` in the catalogue: its methods, built-in jobs and formats.

use crate::files::{exports, import};
use crate::scenario::{TrainingScenario, presets};
use crate::{Training, methods};
use lightbay_core::checked::Checked;
use lightbay_core::format::{Artifact, FileSource, FormatInfo, ImportedScenario, Input, SubjectOf};
use lightbay_core::listed::{Listed, Preset};
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_highs::modelled::{Modelled, Models};
use std::sync::Arc;

impl Listed for Training {
    const HELP: &'static str = "optical circuits between the pods of one LLM training job";

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn presets() -> Vec<Preset> {
        let jobs = presets::JOBS.iter().map(|preset| Preset::new(preset.name, preset.description));
        let pairs = presets::PAIRS.iter().map(|preset| Preset::new(preset.name, preset.description));
        jobs.chain(pairs).collect()
    }

    fn usual_name(scenario: &TrainingScenario) -> String {
        super::named::usual(scenario)
    }

    fn preset(name: &str) -> Option<TrainingScenario> {
        presets::scenario(name)
    }

    fn exporters() -> Vec<FormatInfo> {
        exports::exporters()
    }

    fn export(
        subject: SubjectOf<'_, Self>,
        _against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        exports::export(subject, format, params)
    }

    fn reviewed(plan: &Arc<Checked<Self>>) -> Result<Vec<Arc<Checked<Self>>>, Problems> {
        exports::reviewed(plan)
    }

    fn verdict(plan: &Checked<Self>) -> Result<Vec<String>, Problems> {
        exports::verdict(plan)
    }

    fn importers() -> Vec<FormatInfo> {
        [import::aicb_format(), import::pod_map::format(), import::traces::format()]
            .into_iter()
            .chain(import::model::formats())
            .collect()
    }

    fn import(
        format: &str,
        inputs: &[Input],
        params: &Params,
        strict: bool,
    ) -> Result<ImportedScenario<Self>, Problems> {
        match format {
            import::model::HF_CONFIG | import::model::CALCULON | import::model::MEGATRON => {
                import::model::scenario(format, inputs, params, strict)
            }
            import::pod_map::POD_MAP => import::pod_map::scenario(inputs, strict),
            import::traces::TRACES => import::traces::scenario_in_memory(inputs, params, strict),
            _ => import::scenario(inputs, params, strict),
        }
    }

    fn import_streamed(
        _format: &str,
        sources: &[FileSource],
        params: &Params,
        strict: bool,
    ) -> Result<ImportedScenario<Self>, Problems> {
        import::traces::scenario(sources, params, strict)
    }
}

impl Models for Training {
    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        methods::models()
    }
}
