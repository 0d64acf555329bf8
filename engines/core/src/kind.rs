//! The trait of a kind: the types of its scenario and result, and how they are read, checked and adapted to a changed
//! scenario.

use crate::checked::Verdict;
use crate::clock::Deadline;
use crate::exchange::{CircuitMatrix, Graph, Switching, TrafficMatrix};
use crate::metric::MetricInfo;
use crate::param::{ParamInfo, ParamValue};
use crate::plan::Plan;
use crate::problem::{Problem, Problems};
use crate::read::Fields;
use crate::record::Knobs;
use crate::report::differences::Differences;
use crate::report::{NoSections, Report, SectionInfo, Unit};
use crate::scenario::Scenario;
use crate::term::Term;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

/// Direction in which an objective gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sense {
    /// Smaller is better.
    Min,
    /// Larger is better.
    Max,
}

impl Sense {
    /// Returns `true` if `a` is better than `b`.
    pub fn better(self, a: f64, b: f64) -> bool {
        match self {
            Self::Min => a < b,
            Self::Max => a > b,
        }
    }

    /// Returns the word used in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// The objective of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectiveInfo {
    /// Name with unit, such as `makespan_s`.
    pub name: &'static str,
    /// Name of the objective for people.
    pub label: &'static str,
    /// Unit of the objective value.
    pub unit: Unit,
    /// Direction in which the objective gets better.
    pub sense: Sense,
    /// Definition of the objective, in one sentence.
    pub definition: &'static str,
}

impl ObjectiveInfo {
    /// Creates an objective for which less is better.
    pub const fn min(name: &'static str, label: &'static str, unit: Unit, definition: &'static str) -> Self {
        Self { name, label, unit, sense: Sense::Min, definition }
    }

    /// Creates an objective for which more is better.
    pub const fn max(name: &'static str, label: &'static str, unit: Unit, definition: &'static str) -> Self {
        Self { name, label, unit, sense: Sense::Max, definition }
    }

    /// Formats a value with its unit.
    pub fn with_unit(&self, value: f64) -> String {
        crate::quantity::with_unit(value, self.unit)
    }

    /// Formats a bound on the objective with its unit, rounded to the safe side.
    pub fn bound_with_unit(&self, bound: f64) -> String {
        crate::quantity::bound_with_unit(bound, self.unit, self.sense)
    }

    /// Formats name and value as one phrase: `makespan 12.829852 s`.
    pub fn phrase(&self, value: f64) -> String {
        format!("{} {}", self.label, self.with_unit(value))
    }
}

/// The sweeps over one parameter of a scenario, as a screen offers them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepInfo {
    /// Parameters that are offered first.
    pub knobs: &'static [&'static str],
    /// Names of the forms of the sweep's pane (views, of which one is shown at a time): one for each parameter of
    /// `knobs`, then one for any other parameter.
    pub forms: &'static [&'static str],
    /// Methods that are compared; if empty, only the chosen method is used.
    pub methods: &'static [&'static str],
    /// Name of the figure that is charted; if empty, the objective is charted.
    pub figure: &'static str,
    /// Name and value of a limit of the charted figure, which the chart also shows.
    pub best: Option<(&'static str, f64)>,
}

impl SweepInfo {
    /// A sweep of the objective over any parameter, solved by the chosen method.
    pub const ANY: Self = Self::over(&[], &[]);

    /// Creates a sweep of the objective over some parameters, solved by the chosen method.
    pub const fn over(knobs: &'static [&'static str], forms: &'static [&'static str]) -> Self {
        Self { knobs, forms, methods: &[], figure: "", best: None }
    }
}

/// Default time limit for the slow parts of a check.
pub const EXACT_LIMIT: Duration = Duration::from_mins(1);

/// Thoroughness of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Only the quick checks that every plan passes before it is shown.
    Usual,
    /// Also slow checks, such as proving optimality again by other means; they end at the deadline.
    Exact(Deadline),
}

impl Depth {
    /// All checks, without a deadline.
    pub const EXACT: Self = Self::Exact(Deadline::NEVER);

    /// Returns `true` if slow checks are to run.
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::Exact(_))
    }

    /// Returns `true` if the time for slow checks is over; always `true` if slow checks are not to run.
    pub fn is_over(self) -> bool {
        match self {
            Self::Usual => true,
            Self::Exact(deadline) => deadline.is_over(),
        }
    }

    /// Returns the remark that `what` is not verified, if the deadline of the slow checks has passed: `the bound is not
    /// verified within 60 s`.
    pub fn not_within(self, what: &str) -> Option<String> {
        match self {
            Self::Exact(deadline) if deadline.is_over() => {
                Some(format!("{what} is not verified within {} s", deadline.limit()?.as_secs_f64()))
            }
            _ => None,
        }
    }
}

/// A candidate that a method reports: a result with its objective value.
#[derive(Clone, Debug)]
pub struct Candidate<R> {
    /// Objective value.
    pub value: f64,
    /// Figures for the comparison of plans, by name with unit.
    pub metrics: BTreeMap<String, f64>,
    /// The result, as plan files contain it.
    pub result: R,
}

/// A plan adapted to a changed scenario.
#[derive(Clone, Debug)]
pub struct Carried<R> {
    /// The plan on the new scenario.
    pub candidate: Candidate<R>,
    /// Changes that were necessary, one sentence each; empty if the plan fitted unchanged.
    pub repairs: Vec<String>,
}

/// A kind of planning problem: its scenario, its result, and what all its methods share.
pub trait Kind: Sized + Debug + Send + Sync + 'static {
    /// Name in files and on the command line.
    const NAME: &'static str;
    /// Description of the objective.
    const OBJECTIVE: ObjectiveInfo;
    /// Method that is used if no method is named.
    const DEFAULT_METHOD: &'static str;
    /// Method that finds some plan in an instant: screens show this plan before the first solve. Empty for none.
    const PREVIEW_METHOD: &'static str = "";
    /// Every figure that plans may contain in addition to the objective, in the order in which tables show them.
    const METRICS: &'static [MetricInfo] = &[];
    /// Every section that explains a scenario or a plan, in the order in which an overview shows them.
    const SECTIONS: &'static [SectionInfo] = &[];
    /// Sweeps that a screen offers.
    const SWEEPS: SweepInfo = SweepInfo::ANY;
    /// Pairs of parameters `(a, b)` that set the same value, so only one of the two may be given. The meaning of `a`
    /// depends on other parameters, so `a` is set after all others.
    const SYNONYMS: &'static [(&'static str, &'static str)] = &[];
    /// Terms of the kind for the glossary, in addition to its figures.
    const TERMS: &'static [Term] = &[];

    /// Fields of a scenario file in addition to the envelope.
    type Scenario: Serialize + JsonSchema + Clone + PartialEq + Debug + Send + Sync + 'static;
    /// Fields of a plan's `result`.
    type Result: Serialize + JsonSchema + Clone + PartialEq + Debug + Send + Sync + 'static;

    /// Reads the keys of a scenario that belong to the kind. Unknown keys are reported by the caller.
    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self::Scenario>;

    /// Reads the keys of a result. Unknown keys are reported by the caller.
    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self::Result>;

    /// Returns the default method for a scenario, which may differ from [`Self::DEFAULT_METHOD`] if the scenario poses
    /// a narrower problem than other scenarios of its kind.
    fn suited_method(_scenario: &Self::Scenario) -> &'static str {
        Self::DEFAULT_METHOD
    }

    /// Returns the problem that a method solves, if the goal of the method differs from the objective of the kind.
    /// Plans of a method with another goal are listed and shown, but excluded from the ranking and from offers to other
    /// runs.
    fn other_question(_method: &str) -> Option<&'static str> {
        None
    }

    /// Checks a scenario for problems that a reader of single fields cannot see: contradictions, necessary conditions.
    ///
    /// # Errors
    /// Every problem found.
    fn validate(scenario: &Self::Scenario) -> Result<(), Problems>;

    /// Returns the parameters of the kind with the functions that read and change them; `None` for a kind without
    /// parameters, and for a kind that implements [`Self::knobs`], [`Self::idle`], [`Self::knob`] and
    /// [`Self::set_knob`] itself.
    fn table() -> Option<&'static Knobs<Self::Scenario>> {
        None
    }

    /// Returns the parameters of a scenario, including parameters that have no effect on it; without a scenario, the
    /// parameters of the kind.
    fn knobs(scenario: Option<&Self::Scenario>) -> Vec<ParamInfo> {
        Self::table().map_or_else(Vec::new, |table| table.infos(scenario))
    }

    /// Returns a problem for each parameter of the kind that has no effect on a scenario: its path is the name of the
    /// parameter, its message gives the reason. Callers must not set or vary these parameters, nor show them as used.
    fn idle(scenario: &Self::Scenario) -> Vec<Problem> {
        Self::table().map_or_else(Vec::new, |table| table.idle(scenario))
    }

    /// Returns the part of a scenario that the methods see, as a text; `None` if the methods see the whole scenario.
    /// Scenarios with equal texts are the same problem, regardless of their other content.
    fn question(_scenario: &Self::Scenario) -> Option<String> {
        None
    }

    /// Returns the current value of a parameter.
    fn knob(scenario: &Self::Scenario, name: &str) -> Option<ParamValue> {
        Self::table()?.get(scenario, name)
    }

    /// Changes a parameter, or one entry of a list. The caller must validate the result.
    ///
    /// # Errors
    /// An unknown name or a value that is not valid.
    fn set_knob(
        scenario: &mut Self::Scenario,
        name: &str,
        index: Option<usize>,
        value: &ParamValue,
    ) -> Result<(), Problem> {
        match Self::table() {
            Some(table) => table.set(scenario, name, index, value),
            None => {
                Err(Problem::new(name, "is not a parameter", "leave it out: this kind has no parameters"))
            }
        }
    }

    /// Runs the independent checker on a plan, and returns its verdict. The checker may use scenario and result types
    /// and workload sizes, and no other code of its crate.
    fn check(plan: &Plan<Self>, depth: Depth) -> Verdict;

    /// Returns `true` if a bound on the plans named by `covers` holds for every plan of a scenario.
    fn covers_all(_covers: &str) -> bool {
        false
    }

    /// Adapts a result to a changed scenario of the same kind.
    ///
    /// # Errors
    /// One sentence that gives the reason that the result cannot be adapted.
    fn carry(
        result: &Self::Result,
        from: &Self::Scenario,
        to: &Self::Scenario,
    ) -> Result<Carried<Self::Result>, String>;

    /// Returns a remark on a valid plan that does not meet a soft requirement of its scenario; `None` if the plan meets
    /// all of them.
    fn caveat(_plan: &Plan<Self>) -> Option<String> {
        None
    }

    /// Returns the names of figures (objective and metrics) that the quick checks cannot recompute: these checks verify
    /// only ranges, and the figures are shown as claimed.
    fn claimed(_plan: &Plan<Self>) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the sections of a scenario, or of a plan for it, each computed on request.
    ///
    /// # Errors
    /// A scenario that cannot be built.
    fn report<'a>(
        _scenario: &'a Scenario<Self>,
        _plan: Option<&'a Plan<Self>>,
    ) -> Result<Box<dyn Report + 'a>, Problems> {
        Ok(Box::new(NoSections))
    }

    /// Returns the differences of two plans in addition to their figures.
    fn differences(_a: &Plan<Self>, _b: &Plan<Self>) -> Differences {
        Differences::default()
    }

    /// Returns the circuits of a plan, for kinds that set circuits.
    fn circuits(_plan: &Plan<Self>) -> Option<CircuitMatrix> {
        None
    }

    /// Returns the circuits of one layer of a plan, for kinds whose plans set different circuits for each layer; `None`
    /// for other kinds and for a missing layer.
    fn circuits_of_layer(_plan: &Plan<Self>, _layer: u32) -> Option<CircuitMatrix> {
        None
    }

    /// Returns the circuits that a plan sets at a reconfiguration (counted from 1), with its time, for kinds that
    /// change circuits within an iteration; `None` for other kinds and for a missing reconfiguration.
    fn circuits_of_phase(_plan: &Plan<Self>, _phase: u32) -> Option<(CircuitMatrix, Switching)> {
        None
    }

    /// Returns the network of one layer of a plan and the bytes that this layer sends between the places (such as
    /// servers), for kinds whose plans have a network for each layer; `None` as for [`Self::circuits_of_layer`].
    fn network_of_layer(_plan: &Plan<Self>, _layer: u32) -> Option<(Graph, TrafficMatrix)> {
        None
    }

    /// Returns the network of a plan, for kinds whose plans have a network.
    fn graph(_plan: &Plan<Self>) -> Option<Graph> {
        None
    }

    /// Returns the bytes sent between the places of a plan, such as pods or servers, for kinds that know them.
    fn traffic(_plan: &Plan<Self>) -> Option<TrafficMatrix> {
        None
    }
}
