//! The kind `tpu` in the catalogue: its methods, built-in pods and formats.

use crate::files::exports;
use crate::scenario::{TpuScenario, presets};
use crate::{Tpu, methods};
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf};
use lightbay_core::listed::{Lays, Listed, Preset};
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_highs::modelled::{Modelled, Models};
use std::sync::Arc;

impl Listed for Tpu {
    const HELP: &'static str = "topology, deadlock-free routes and faults of one TPU pod";

    const LAYS: Lays = Lays::Once;

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn presets() -> Vec<Preset> {
        presets::PODS.to_vec()
    }

    fn usual_name(scenario: &TpuScenario) -> String {
        super::named::usual(scenario)
    }

    fn preset(name: &str) -> Option<TpuScenario> {
        presets::scenario(name)
    }

    fn exporters() -> Vec<FormatInfo> {
        exports::exporters()
    }

    fn export(
        subject: SubjectOf<'_, Self>,
        against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        exports::export(subject, against, format, params)
    }

    fn export_remarks(subject: SubjectOf<'_, Self>, format: &str) -> Vec<String> {
        exports::remarks(subject, format)
    }
}

impl Models for Tpu {
    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        methods::models()
    }
}
