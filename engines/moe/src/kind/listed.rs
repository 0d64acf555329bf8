//! The kind `moe` in the catalogue: its methods, built-in scenarios and formats.

use crate::files::{aicb, handover, import, maps, tables, timeline};
use crate::placement::{PlacementShape, doubled_note};
use crate::report::picture;
use crate::scenario::{MoeScenario, presets};
use crate::{Moe, methods};
use lightbay_core::format::{Artifact, FormatInfo, ImportedScenario, Input, SubjectOf};
use lightbay_core::listed::{Lays, Listed, Preset};
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_highs::modelled::Models;
use std::sync::Arc;

/// Formats that the catalogue adds to every kind: files of lightbay and reports. All others that the kind does not
/// write itself are formats of switches.
const OF_EVERY_KIND: [&str; 4] = ["json", "markdown", "html", "csv"];

impl Listed for Moe {
    const HELP: &'static str =
        "regional circuits for the expert-parallel all-to-alls of mixture-of-experts training";

    const LAYS: Lays = Lays::ByLayer;

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn presets() -> Vec<Preset> {
        presets::PRESETS.to_vec()
    }

    fn usual_name(scenario: &MoeScenario) -> String {
        super::named::usual(scenario)
    }

    fn preset(name: &str) -> Option<MoeScenario> {
        presets::scenario(name)
    }

    fn exporters() -> Vec<FormatInfo> {
        let tables = tables::formats().into_iter().chain(maps::formats());
        tables.chain(timeline::formats()).chain([picture::format()]).collect()
    }

    fn export(
        subject: SubjectOf<'_, Self>,
        _against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        match format {
            maps::NAME => maps::export(subject, format),
            timeline::NAME => timeline::export(subject, format),
            picture::NAME => picture::export(subject, format),
            _ => tables::export(subject, format, params),
        }
    }

    fn export_remarks(subject: SubjectOf<'_, Self>, format: &str) -> Vec<String> {
        let is_own = || Self::exporters().iter().any(|own| own.name == format);
        let of_switches = !OF_EVERY_KIND.contains(&format) && !is_own();
        match subject {
            SubjectOf::Plan(plan) if format == maps::NAME => {
                let placements =
                    plan.plan().result.layers.iter().filter_map(|layer| layer.placement.as_ref());
                let slots = placements.map(|placement| placement.physical_to_logical.as_slice());
                doubled_note(&PlacementShape::of(&plan.plan().scenario.body), slots).into_iter().collect()
            }
            SubjectOf::Plan(plan) if of_switches => {
                handover::other_exchanges(&plan.plan().result).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn importers() -> Vec<FormatInfo> {
        import::formats().into_iter().chain(aicb::formats()).collect()
    }

    fn import(
        format: &str,
        inputs: &[Input],
        params: &Params,
        strict: bool,
    ) -> Result<ImportedScenario<Self>, Problems> {
        if format == aicb::NAME {
            return aicb::import(inputs, params, strict);
        }
        import::import(inputs, params, strict)
    }
}

impl Models for Moe {}
