//! The contract of a kind: what a scenario and a result are, and how they are read, judged and carried over.

use crate::checked::Verdict;
use crate::clock::Deadline;
use crate::exchange::{CircuitMatrix, Graph, Switching, TrafficMatrix};
use crate::metric::MetricInfo;
use crate::param::{ParamInfo, ParamValue};
use crate::plan::Plan;
use crate::problem::{Problem, Problems};
use crate::read::Fields;
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

    /// The word used in files.
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
    /// Name for people.
    pub label: &'static str,
    /// Unit of the number.
    pub unit: Unit,
    /// Direction in which it gets better.
    pub sense: Sense,
    /// Definition, in one sentence.
    pub definition: &'static str,
}

impl ObjectiveInfo {
    /// An objective of which less is better.
    pub const fn min(name: &'static str, label: &'static str, unit: Unit, definition: &'static str) -> Self {
        Self { name, label, unit, sense: Sense::Min, definition }
    }

    /// An objective of which more is better.
    pub const fn max(name: &'static str, label: &'static str, unit: Unit, definition: &'static str) -> Self {
        Self { name, label, unit, sense: Sense::Max, definition }
    }

    /// A value with its unit.
    pub fn with_unit(&self, value: f64) -> String {
        crate::quantity::with_unit(value, self.unit)
    }

    /// A bound on it with its unit, rounded to the safe side.
    pub fn bound_with_unit(&self, bound: f64) -> String {
        crate::quantity::bound_with_unit(bound, self.unit, self.sense)
    }

    /// Name and value in one phrase: `makespan 12.829852 s`.
    pub fn phrase(&self, value: f64) -> String {
        format!("{} {}", self.label, self.with_unit(value))
    }
}

/// Sweeps over one knob of a scenario that a screen offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepInfo {
    /// Knobs that people vary first.
    pub knobs: &'static [&'static str],
    /// Forms of the pane: a short name for each of the knobs, then one for any other knob.
    pub forms: &'static [&'static str],
    /// Methods that are compared; empty for the method that is chosen.
    pub methods: &'static [&'static str],
    /// Name of the figure that is charted; empty for the objective.
    pub figure: &'static str,
    /// The value that the figure cannot pass, with its name.
    pub best: Option<(&'static str, f64)>,
}

impl SweepInfo {
    /// The objective over any knob, by the method that is chosen.
    pub const ANY: Self = Self::over(&[], &[]);

    /// The objective over some knobs, by the method that is chosen.
    pub const fn over(knobs: &'static [&'static str], forms: &'static [&'static str]) -> Self {
        Self { knobs, forms, methods: &[], figure: "", best: None }
    }
}

/// Time for what may take long in a check, if none is given.
pub const EXACT_LIMIT: Duration = Duration::from_mins(1);

/// Thoroughness of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The quick checks that every plan passes before it is shown.
    Usual,
    /// Also what may take long, such as proving optimality again by other means, as long as there is time.
    Exact(Deadline),
}

impl Depth {
    /// Everything, however long it takes.
    pub const EXACT: Self = Self::Exact(Deadline::NEVER);

    /// Returns `true` if what may take long is to be done.
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::Exact(_))
    }

    /// Returns `true` if the time for what may take long is over; always without it.
    pub fn is_over(self) -> bool {
        match self {
            Self::Usual => true,
            Self::Exact(deadline) => deadline.is_over(),
        }
    }

    /// The remark on something that the time did not suffice for: `the bound is not verified within 60 s`.
    pub fn not_within(self, what: &str) -> Option<String> {
        match self {
            Self::Exact(deadline) if deadline.is_over() => {
                Some(format!("{what} is not verified within {} s", deadline.limit()?.as_secs_f64()))
            }
            _ => None,
        }
    }
}

/// A candidate that a method hands over: an objective with the result that reaches it.
#[derive(Clone, Debug)]
pub struct Candidate<R> {
    /// Objective value.
    pub value: f64,
    /// Figures for comparison, by name with unit.
    pub metrics: BTreeMap<String, f64>,
    /// The result.
    pub result: R,
}

/// A plan made to fit a changed scenario.
#[derive(Clone, Debug)]
pub struct Carried<R> {
    /// The plan on the new scenario.
    pub candidate: Candidate<R>,
    /// Changes that had to be made, one sentence each; empty if it fitted as it was.
    pub repairs: Vec<String>,
}

/// One system: its input, its result, and the knowledge shared by all its methods.
pub trait Kind: Sized + Debug + Send + Sync + 'static {
    /// Name in files and on the command line.
    const NAME: &'static str;
    /// Description of the objective.
    const OBJECTIVE: ObjectiveInfo;
    /// Method used when none is named.
    const DEFAULT_METHOD: &'static str;
    /// Every figure that plans may carry beside the objective, in the order in which tables show them.
    const METRICS: &'static [MetricInfo] = &[];
    /// Every section that explains a scenario or a plan, in the order in which an overview shows them.
    const SECTIONS: &'static [SectionInfo] = &[];
    /// Sweeps that a screen offers.
    const SWEEPS: SweepInfo = SweepInfo::ANY;
    /// Words of the kind beside its figures, for the glossary.
    const TERMS: &'static [Term] = &[];

    /// Fields of a scenario file beside the envelope.
    type Scenario: Serialize + JsonSchema + Clone + PartialEq + Debug + Send + Sync + 'static;
    /// Fields of a plan's `result`.
    type Result: Serialize + JsonSchema + Clone + PartialEq + Debug + Send + Sync + 'static;

    /// Reads the kind's own keys of a scenario. Unknown keys are reported by the caller.
    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self::Scenario>;

    /// Reads the keys of a result. Unknown keys are reported by the caller.
    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self::Result>;

    /// The method to use when none is named, for a scenario that asks a narrower question than most of its kind.
    fn suited_method(_scenario: &Self::Scenario) -> &'static str {
        Self::DEFAULT_METHOD
    }

    /// The question that a method answers if it is another one than that of the objective: its plans are listed and
    /// shown, but neither ranked among the others nor offered to other runs.
    fn other_question(_method: &str) -> Option<&'static str> {
        None
    }

    /// Checks a scenario for problems that a reader of single fields cannot see: contradictions, necessary conditions.
    ///
    /// # Errors
    /// Every problem found.
    fn validate(scenario: &Self::Scenario) -> Result<(), Problems>;

    /// The knobs of a scenario (those of any scenario of the kind if none is given), also those that cannot act on it.
    fn knobs(scenario: Option<&Self::Scenario>) -> Vec<ParamInfo>;

    /// Knobs of the kind that cannot act on a scenario: `path` is the name of the knob, the text says why and what to
    /// do. Nobody may set them, vary them or show them as if they were used.
    fn idle(_scenario: &Self::Scenario) -> Vec<Problem> {
        Vec::new()
    }

    /// Returns the part of a scenario that the methods see, as a text, if that is less than all of it: scenarios with
    /// equal texts are the same problem, regardless of their other content.
    fn question(_scenario: &Self::Scenario) -> Option<String> {
        None
    }

    /// The present value of a knob.
    fn knob(scenario: &Self::Scenario, name: &str) -> Option<ParamValue>;

    /// Changes a knob, or one entry of a list. The result still has to be validated.
    ///
    /// # Errors
    /// An unknown name or a value that is not valid.
    fn set_knob(
        scenario: &mut Self::Scenario,
        name: &str,
        index: Option<usize>,
        value: &ParamValue,
    ) -> Result<(), Problem>;

    /// The independent checker. May use scenario and result types and workload sizes, nothing else of its crate.
    fn check(plan: &Plan<Self>, depth: Depth) -> Verdict;

    /// Returns `true` if a bound on the plans that are named `covers` is one on every plan of a scenario.
    fn covers_all(_covers: &str) -> bool {
        false
    }

    /// Makes a result fit a changed scenario of the same kind.
    ///
    /// # Errors
    /// One sentence that says why it cannot.
    fn carry(
        result: &Self::Result,
        from: &Self::Scenario,
        to: &Self::Scenario,
    ) -> Result<Carried<Self::Result>, String>;

    /// Returns what has to be said of a valid plan beside its objective: a soft requirement of the scenario that it
    /// does not meet.
    fn caveat(_plan: &Plan<Self>) -> Option<String> {
        None
    }

    /// Figures of a plan, by the names of objective and metrics, that a check in the usual depth takes from its method:
    /// it knows ranges for them, but cannot work them out. They are shown as claimed.
    fn claimed(_plan: &Plan<Self>) -> Vec<&'static str> {
        Vec::new()
    }

    /// The sections of a scenario, or of a plan of it, to be worked out one by one.
    ///
    /// # Errors
    /// A scenario that cannot be built.
    fn report<'a>(
        _scenario: &'a Scenario<Self>,
        _plan: Option<&'a Plan<Self>>,
    ) -> Result<Box<dyn Report + 'a>, Problems> {
        Ok(Box::new(NoSections))
    }

    /// Differences of two plans beyond their figures.
    fn differences(_a: &Plan<Self>, _b: &Plan<Self>) -> Differences {
        Differences::default()
    }

    /// The circuits of a plan, for kinds that lay circuits.
    fn circuits(_plan: &Plan<Self>) -> Option<CircuitMatrix> {
        None
    }

    /// The circuits of one layer of a plan, for kinds whose plans lay circuits for each layer anew; `None` for others,
    /// and for a layer that is not there.
    fn circuits_of_layer(_plan: &Plan<Self>, _layer: u32) -> Option<CircuitMatrix> {
        None
    }

    /// The circuits that a plan sets at one of its changes within an iteration (from 1), with the moment, for kinds whose
    /// circuits move within one; `None` for others, and for a change that is not there.
    fn circuits_of_phase(_plan: &Plan<Self>, _phase: u32) -> Option<(CircuitMatrix, Switching)> {
        None
    }

    /// The network and the bytes of one layer of a plan, for kinds whose plans have them for each layer; `None` as for
    /// [`Self::circuits_of_layer`].
    fn network_of_layer(_plan: &Plan<Self>, _layer: u32) -> Option<(Graph, TrafficMatrix)> {
        None
    }

    /// The network of a plan, for kinds that have one.
    fn graph(_plan: &Plan<Self>) -> Option<Graph> {
        None
    }

    /// Bytes between the places of a plan's network, for kinds that know them.
    fn traffic(_plan: &Plan<Self>) -> Option<TrafficMatrix> {
        None
    }
}
