//! The kind `crossconnect` in the catalogue: its methods, built-in scenarios, formats, and scenarios from other plans.

use crate::files::{exports, handover, import};
use crate::scenario::{CrossconnectScenario, presets};
use crate::{Crossconnect, methods};
use lightbay_core::format::{Artifact, FormatInfo, ImportedScenario, Input, SubjectOf};
use lightbay_core::listed::{Conversion, ConvertedScenario, Listed, Preset, Sources};
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_highs::modelled::{Modelled, Models};
use std::sync::Arc;

impl Listed for Crossconnect {
    const HELP: &'static str =
        "cross-connects of optical circuit switches with few removed circuits, and all-to-all phases";

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn presets() -> Vec<Preset> {
        presets::PRESETS.to_vec()
    }

    fn usual_name(scenario: &CrossconnectScenario) -> String {
        super::named::usual(scenario)
    }

    fn preset(name: &str) -> Option<CrossconnectScenario> {
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

    fn export_remarks(subject: SubjectOf<'_, Self>, format: &str) -> Vec<String> {
        exports::remarks(subject, format)
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

    fn conversion() -> Option<Conversion> {
        Some(handover::conversion())
    }

    fn convert(sources: Sources<'_>) -> Result<ConvertedScenario<Self>, Problems> {
        handover::convert(sources)
    }
}

impl Models for Crossconnect {
    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        methods::models()
    }
}
