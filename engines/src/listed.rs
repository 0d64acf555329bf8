//! What a kind brings to the catalogue beyond the contract of the core. A new kind is listed by implementing [`Listed`]
//! and by its line in the list of kinds.

/// The part of [`Listed`] that is the same for every kind but for its name: the formats of its module.
macro_rules! under_its_name {
    ($formats:ident) => {
        fn exporters() -> Vec<$crate::formats::FormatInfo> {
            $crate::formats::$formats::exporters()
        }

        fn export_scenario(
            scenario: &Arc<lightbay_core::scenario::Scenario<Self>>,
            against: Option<$crate::formats::SubjectOf<'_, Self>>,
            format: &str,
            params: &lightbay_core::param::Params,
        ) -> Result<Vec<$crate::formats::Artifact>, lightbay_core::problem::Problems> {
            $crate::formats::$formats::export_scenario(scenario, against, format, params)
        }

        fn export_plan(
            plan: &Arc<lightbay_core::checked::Checked<Self>>,
            against: Option<$crate::formats::SubjectOf<'_, Self>>,
            format: &str,
            params: &lightbay_core::param::Params,
        ) -> Result<Vec<$crate::formats::Artifact>, lightbay_core::problem::Problems> {
            $crate::formats::$formats::export_plan(plan, against, format, params)
        }
    };
}

mod crossconnect;
mod tpu;
mod training;

use crate::catalogue::PresetInfo;
use crate::formats::{Artifact, FormatInfo, SubjectOf};
use crate::subject::{AnyScenario, Variants};
use lightbay_core::checked::Checked;
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_core::scenario::Scenario;
use lightbay_highs::modelled::Modelled;
use std::sync::Arc;

/// A kind that the catalogue lists.
pub(crate) trait Listed: Variants {
    /// What it is for, in one line.
    const HELP: &'static str;

    /// Its methods, in the order in which they are listed.
    fn methods() -> Vec<Arc<dyn Method<Self>>>;

    /// Its methods whose question is one model, for other solvers.
    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        Vec::new()
    }

    /// Its built-in scenarios.
    fn presets() -> Vec<PresetInfo>;

    /// One of its built-in scenarios; also of a family that is too large to be listed.
    fn preset(name: &str) -> Option<Self::Scenario>;

    /// Its own exporters.
    fn exporters() -> Vec<FormatInfo>;

    /// Writes a scenario in one of its own formats; `against` is there for formats alone whose description says so.
    ///
    /// # Errors
    /// A scenario that the format cannot express.
    fn export_scenario(
        scenario: &Arc<Scenario<Self>>,
        against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems>;

    /// Writes a plan in one of its own formats; `against` is there for formats alone whose description says so.
    ///
    /// # Errors
    /// A plan that the format cannot express.
    fn export_plan(
        plan: &Arc<Checked<Self>>,
        against: Option<SubjectOf<'_, Self>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems>;
}

/// A scenario of any kind.
pub(crate) fn any_scenario<K: Listed>(scenario: Scenario<K>) -> AnyScenario {
    K::scenario(Arc::new(scenario))
}
