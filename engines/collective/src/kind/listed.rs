//! The kind `collective` in the catalogue: its methods, built-in scenarios and formats.

use crate::files::{self, handover, import};
use crate::scenario::{CollectiveScenario, presets};
use crate::{Collective, methods};
use lightbay_core::format::{Artifact, FormatInfo, ImportedPlan, ImportedScenario, Input, SubjectOf};
use lightbay_core::listed::{Conversion, ConvertedScenario, Listed, Preset, Sources};
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_highs::modelled::{Modelled, Models};
use std::sync::Arc;

impl Listed for Collective {
    const HELP: &'static str = "schedules of collective communication, with lower bounds";

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn presets() -> Vec<Preset> {
        presets::PRESETS.to_vec()
    }

    fn usual_name(scenario: &CollectiveScenario) -> String {
        super::named::usual(scenario)
    }

    fn preset(name: &str) -> Option<CollectiveScenario> {
        presets::scenario(name)
    }

    fn exporters() -> Vec<FormatInfo> {
        files::formats()
    }

    fn export(
        subject: SubjectOf<'_, Self>,
        _against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        files::export(subject, format, params)
    }

    fn export_remarks(subject: SubjectOf<'_, Self>, format: &str) -> Vec<String> {
        files::remarks(subject, format)
    }

    fn importers() -> Vec<FormatInfo> {
        import::formats()
    }

    fn import(
        format: &str,
        inputs: &[Input],
        params: &Params,
        strict: bool,
    ) -> Result<ImportedScenario<Self>, Problems> {
        import::import(format, inputs, params, strict)
    }

    fn import_plan(
        format: &str,
        inputs: &[Input],
        _params: &Params,
        strict: bool,
    ) -> Result<ImportedPlan<Self>, Problems> {
        import::import_plan(format, inputs, strict)
    }

    fn conversion() -> Option<Conversion> {
        Some(handover::conversion())
    }

    fn convert(sources: Sources<'_>) -> Result<ConvertedScenario<Self>, Problems> {
        handover::convert(sources)
    }
}

impl Models for Collective {
    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        methods::models()
    }
}
