//! What the catalogue needs from a kind in addition to scenario, result and checker: methods, built-in scenarios, files
//! of other tools, and scenarios made from plans of other kinds.

use crate::checked::{Checked, SharedPlan};
use crate::format::{Artifact, FileSource, FormatInfo, ImportedPlan, ImportedScenario, Input, SubjectOf};
use crate::kind::Kind;
use crate::method::Method;
use crate::param::{ParamInfo, ParamValue, Params};
use crate::problem::{Problem, Problems};
use crate::scenario::Scenario;
use std::sync::Arc;

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name after `preset:`.
    pub name: &'static str,
    /// Description, in one line.
    pub help: &'static str,
}

impl Preset {
    /// Creates a built-in scenario with this name and description.
    pub const fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, help }
    }
}

/// Inputs for a scenario made from plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// Parameters whose values name plans; the first of these parameters is required.
    pub plans: Vec<ParamInfo>,
    /// Other parameters.
    pub own: Vec<ParamInfo>,
    /// Parameters of the scenario that must be known before it is built.
    pub early: Vec<ParamInfo>,
}

/// Values for a [`Conversion`].
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The plans, by the names of [`Conversion::plans`].
    pub plans: &'a [(String, SharedPlan)],
    /// The given values of [`Conversion::own`] and [`Conversion::early`].
    pub values: &'a [(String, ParamValue)],
}

impl<'a> Sources<'a> {
    /// Returns the plan called `name`.
    pub fn plan(&self, name: &str) -> Option<&'a SharedPlan> {
        self.plans.iter().find(|(given, _)| given == name).map(|(_, plan)| plan)
    }

    /// Returns the value of the parameter `name`.
    pub fn value(&self, name: &str) -> Option<&'a ParamValue> {
        self.values.iter().find(|(given, _)| given == name).map(|(_, value)| value)
    }
}

/// A scenario made from plans.
#[derive(Debug)]
pub struct ConvertedScenario<K: Kind> {
    /// The scenario, valid.
    pub scenario: Scenario<K>,
    /// Remarks for a person on how the scenario was made, one sentence each.
    pub notes: Vec<String>,
}

/// For which sets of circuits the plans of a kind give the switch and ports of every circuit; switch commands can be
/// written for these sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lays {
    /// Plans of the kind give no switches and ports.
    Nothing,
    /// Plans give one set of circuits.
    Once,
    /// Plans give a set of circuits for every layer, with the change from the previous layer.
    ByLayer,
}

/// A kind that a catalogue can list.
pub trait Listed: Kind {
    /// Purpose, in one line.
    const HELP: &'static str;

    /// If true, the kind appears in lists of kinds and presets. `false` is only for kinds that tests use; their names
    /// are accepted nevertheless.
    const IS_LISTED: bool = true;

    /// Whether plans of the kind give the switch and ports of their circuits ([`crate::exchange::CircuitPlaces`]).
    const LAYS: Lays = Lays::Nothing;

    /// Returns the methods of the kind, in the order in which they are listed.
    fn methods() -> Vec<Arc<dyn Method<Self>>>;

    /// Returns the built-in scenarios of the kind.
    fn presets() -> Vec<Preset>;

    /// Returns the default name of a scenario, derived from its content, such as `pod-512`.
    fn usual_name(_scenario: &Self::Scenario) -> String {
        Self::NAME.to_owned()
    }

    /// Returns the body of the built-in scenario `name`. Also accepts names that [`Self::presets`] does not list,
    /// because their families of scenarios are too large for a list.
    fn preset(name: &str) -> Option<Self::Scenario>;

    /// Returns the formats that the kind writes.
    fn exporters() -> Vec<FormatInfo> {
        Vec::new()
    }

    /// Writes a scenario or plan in one of [`Self::exporters`]. `subject` is of a type that the format accepts;
    /// `against` is given only for formats whose description has a second subject; `params` contains all values,
    /// including defaults.
    ///
    /// # Errors
    /// A subject that the format cannot express.
    fn export(
        _subject: SubjectOf<'_, Self>,
        _against: Option<SubjectOf<'_, Self>>,
        format: &str,
        _params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        Err(Problem::new("to", format!("'{format}' cannot be exported"), "see the list of formats").into())
    }

    /// Returns those remarks on the file written by [`Self::export`] that depend on the exported scenario or plan, one
    /// sentence each.
    fn export_remarks(_subject: SubjectOf<'_, Self>, _format: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns the plans for which review reports are written: the plan itself and, if it covers several jobs, a plan
    /// for each job. A plan of one job is checked again, so that its proof does not rest on the claim of the method.
    ///
    /// # Errors
    /// A plan that cannot be split.
    fn reviewed(plan: &Arc<Checked<Self>>) -> Result<Vec<Arc<Checked<Self>>>, Problems> {
        Ok(vec![Arc::clone(plan)])
    }

    /// Returns sentences that rate a plan, for the head of a report: its objective value, its proven bound and further
    /// findings of the kind.
    ///
    /// # Errors
    /// A plan that cannot be explained.
    fn verdict(_plan: &Checked<Self>) -> Result<Vec<String>, Problems> {
        Ok(Vec::new())
    }

    /// Returns the formats of other tools that the kind reads. Plans that are imported have the name of the format as
    /// their method.
    fn importers() -> Vec<FormatInfo> {
        Vec::new()
    }

    /// Makes a scenario from files in a format of [`Self::importers`]. `params` contains all values, including
    /// defaults. With `strict`, every assumption is a problem. A format that needs no assumptions refuses `strict`.
    ///
    /// # Errors
    /// Every problem of the files.
    fn import(
        format: &str,
        _inputs: &[Input],
        _params: &Params,
        _strict: bool,
    ) -> Result<ImportedScenario<Self>, Problems> {
        Err(Problem::new("", format!("'{format}' cannot be imported"), "see the list of formats").into())
    }

    /// As [`Self::import`], for formats that stream ([`FormatInfo::streams`]): the files are opened when they are read.
    ///
    /// # Errors
    /// Every problem of the files.
    fn import_streamed(
        format: &str,
        _sources: &[FileSource],
        _params: &Params,
        _strict: bool,
    ) -> Result<ImportedScenario<Self>, Problems> {
        Err(Problem::new("", format!("'{format}' is not read"), "see the list of formats").into())
    }

    /// Makes a plan from files in a format of [`Self::importers`] that produces plans. `params` contains all values,
    /// including defaults. With `strict`, every assumption is a problem.
    ///
    /// # Errors
    /// Every problem of the files.
    fn import_plan(
        format: &str,
        _inputs: &[Input],
        _params: &Params,
        _strict: bool,
    ) -> Result<ImportedPlan<Self>, Problems> {
        Err(Problem::new("", format!("'{format}' cannot be imported"), "see the list of formats").into())
    }

    /// Returns the inputs for a scenario of this kind that is made from plans; `None` if scenarios of this kind cannot
    /// be made from plans.
    fn conversion() -> Option<Conversion> {
        None
    }

    /// Makes a scenario from plans, for kinds with a [`Self::conversion`].
    ///
    /// # Errors
    /// Every input that does not fit.
    fn convert(_sources: Sources<'_>) -> Result<ConvertedScenario<Self>, Problems> {
        let message = format!("a scenario of kind {} cannot be made from plans", Self::NAME);
        Err(Problem::new("", message, "give a preset").into())
    }
}
