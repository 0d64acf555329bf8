//! The plan envelope: a result together with everything needed to reproduce and judge it.

use crate::exchange::DerivedFrom;
use crate::json::{self, WriteError};
use crate::kind::{Kind, Sense};
use crate::param::Params;
use crate::scenario::{Origin, Scenario};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

mod read;

pub use read::{Draft, read_draft};

/// The schema name that this version writes and reads.
pub const SCHEMA: &str = "lightbay.plan/1";

/// Maximum gap of an `optimal` plan: solvers run with a requested gap of 1e-7; proofs of lightbay itself reach 1e-9.
pub const OPTIMAL_GAP: f64 = 1e-7;

/// Status of a plan: its proven quality, and the reason that the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The plan is proven optimal.
    Optimal,
    /// The gap of the plan is at most the requested gap.
    GapReached,
    /// A plan of a method that can prove bounds, not proven optimal so far.
    Feasible,
    /// A plan of a method that proves no bounds.
    Heuristic,
    /// A person, a signal or a limit ended the run before the method was done.
    Stopped,
    /// The solver had numerical trouble; the plan itself is checked.
    NumericalTrouble,
}

impl Status {
    /// Returns the word used in files and on screen.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::GapReached => "gap_reached",
            Self::Feasible => "feasible",
            Self::Heuristic => "heuristic",
            Self::Stopped => "stopped",
            Self::NumericalTrouble => "numerical_trouble",
        }
    }
}

/// Limit that ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The time limit.
    Time,
    /// A count of evaluations, generations or nodes.
    Work,
    /// A number of generations or evaluations without improvement.
    Stall,
}

impl Limit {
    /// Returns the limit as the subject of a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Time => "the time limit",
            Self::Work => "a work limit",
            Self::Stall => "a lack of progress",
        }
    }
}

/// Value, bound and gap of a plan; no other field of the plan stores them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    /// Name with unit, such as `makespan_s`.
    pub name: String,
    /// Direction in which the objective gets better.
    pub sense: Sense,
    /// Value that the plan reaches.
    pub value: f64,
    /// Bound that no plan of the scenario can beat; `None` if no bound is proven.
    pub bound: Option<f64>,
    /// |value - bound| / |value|.
    pub gap: Option<f64>,
}

impl Objective {
    /// Returns the objective of kind `K` with a value and an optional bound.
    pub fn of<K: Kind>(value: f64, bound: Option<f64>) -> Self {
        Self {
            name: K::OBJECTIVE.name.to_owned(),
            sense: K::OBJECTIVE.sense,
            value,
            bound,
            gap: bound.map(|bound| gap(value, bound)),
        }
    }
}

/// Computes the relative gap |value - bound| / |value|; 0 if both are equal.
pub fn gap(value: f64, bound: f64) -> f64 {
    if value == bound { 0.0 } else { (value - bound).abs() / value.abs() }
}

/// Compares a bound with the value of a plan that it covers. Returns the bound if the value does not beat it, and the
/// value if it beats the bound by at most the tolerance. `None` if the value beats the bound by more: the bound is
/// wrong.
pub(crate) fn standing_bound(sense: Sense, value: f64, bound: f64) -> Option<f64> {
    let passes = sense.better(value, bound);
    if passes && gap(value, bound) > OPTIMAL_GAP { None } else { Some(if passes { value } else { bound }) }
}

/// Reasons that a plan is not reproducible; code compares these texts to tell how a run ended.
pub mod not_reproducible {
    /// The run was ended by a time limit.
    pub const CLOCK: &str = "stopped by the time limit";
    /// A person changed a parameter while the method was running.
    pub const CHANGED: &str = "a parameter was changed during the run";
    /// The run was ended by a person.
    pub const PERSON: &str = "a person stopped the run";
    /// The run was ended by a signal.
    pub const SIGNAL: &str = "a signal ended the run";
    /// The run was ended because its solver process ended.
    pub const CUT_SHORT: &str = "the solver process ended during the run";
    /// The run failed.
    pub const FAILURE: &str = "the run failed";
    /// The run was still active when the plan was written.
    pub const UNFINISHED: &str = "the run was still active";

    /// Returns `true` if a sentence states that the run ended before its method finished.
    pub fn is_cut_off(because: &str) -> bool {
        [CLOCK, PERSON, SIGNAL, CUT_SHORT, FAILURE].contains(&because)
    }
}

/// Origin of a plan. Additional keys are allowed; the keys below must be consistent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Version of this program.
    #[serde(default)]
    pub lightbay_version: String,
    /// Solver and its version, if the method used a solver.
    #[serde(default)]
    pub solver: Option<String>,
    /// SHA-256 of the scenario without its name.
    #[serde(default)]
    pub scenario_sha256: String,
    /// Date and time at which the run started, RFC 3339.
    #[serde(default)]
    pub started_at: String,
    /// Seconds of the run's clock until this plan was found.
    #[serde(default)]
    pub elapsed_s: f64,
    /// The plan that the run was started from, in words.
    #[serde(default)]
    pub hot_start: Option<String>,
    /// `true` if the same scenario, parameters and seed give the same plan again.
    #[serde(default)]
    pub reproducible: bool,
    /// Reason that the plan is not reproducible; missing if the plan is reproducible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_reproducible_because: Option<String>,
    /// All other keys of the object.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Provenance {
    /// Key in [`Self::other`] of the words for the plans that the claimed bound covers; absent if the bound covers all
    /// plans of the scenario.
    pub const BOUND_COVERS: &str = "bound_covers";

    /// Returns the plans that the claimed bound covers, in words; `None` if the bound covers all plans of the scenario.
    pub fn bound_covers(&self) -> Option<&str> {
        self.other.get(Self::BOUND_COVERS).and_then(Value::as_str)
    }

    /// Key of the origin of a plan that was read from files of another tool.
    pub const IMPORT: &str = "import";

    /// Returns the origin of a plan that was read from files of another tool.
    pub fn import(&self) -> Option<Origin> {
        Origin::deserialize(self.other.get(Self::IMPORT)?).ok()
    }

    /// Stores the files that the plan was read from.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    pub fn set_import(&mut self, origin: &Origin) -> Result<(), WriteError> {
        self.other.insert(Self::IMPORT.to_owned(), json::to_value(origin)?);
        Ok(())
    }

    /// Stores which plans the claimed bound covers.
    pub fn set_bound_covers(&mut self, covers: Option<&str>) {
        match covers {
            Some(covers) => self.other.insert(Self::BOUND_COVERS.to_owned(), covers.into()),
            None => self.other.remove(Self::BOUND_COVERS),
        };
    }
}

/// A result of kind `K` in its envelope. Not verified: see [`crate::checked::Checked`].
#[derive(Debug)]
pub struct Plan<K: Kind> {
    /// The whole scenario, so that a plan is self-contained.
    pub scenario: Arc<Scenario<K>>,
    /// Display name of the plan.
    pub name: String,
    /// Method that found the plan.
    pub method: String,
    /// Parameters of the method.
    pub parameters: Params,
    /// Seed of the run.
    pub seed: u64,
    /// Number of threads that the run was given.
    pub threads: usize,
    /// Status of the plan.
    pub status: Status,
    /// Limit that ended the search.
    pub limit: Option<Limit>,
    /// Value, bound and gap.
    pub objective: Objective,
    /// Figures of the result for comparison, by name with unit.
    pub metrics: BTreeMap<String, f64>,
    /// Origin of the plan.
    pub provenance: Provenance,
    /// The plan that the scenario was derived from.
    pub derived_from: Option<DerivedFrom>,
    /// Remarks that are stored with the plan.
    pub notes: Option<Value>,
    /// The result: the fields of a plan that belong to the kind.
    pub result: K::Result,
}

impl<K: Kind> Clone for Plan<K> {
    fn clone(&self) -> Self {
        Self {
            scenario: Arc::clone(&self.scenario),
            name: self.name.clone(),
            method: self.method.clone(),
            parameters: self.parameters.clone(),
            seed: self.seed,
            threads: self.threads,
            status: self.status,
            limit: self.limit,
            objective: self.objective.clone(),
            metrics: self.metrics.clone(),
            provenance: self.provenance.clone(),
            derived_from: self.derived_from.clone(),
            notes: self.notes.clone(),
            result: self.result.clone(),
        }
    }
}

/// The envelope of a plan, without scenario and result, for tables and headers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Kind of scenario and result.
    pub kind: String,
    /// Display name of the plan.
    pub name: String,
    /// Method that found the plan.
    pub method: String,
    /// Parameters of the method.
    pub parameters: Params,
    /// Seed of the run.
    pub seed: u64,
    /// Number of threads that the run was given.
    pub threads: usize,
    /// Status of the plan.
    pub status: Status,
    /// Limit that ended the search.
    pub limit: Option<Limit>,
    /// Value, bound and gap.
    pub objective: Objective,
    /// Figures of the result for comparison, by name with unit.
    pub metrics: BTreeMap<String, f64>,
    /// Origin of the plan.
    pub provenance: Provenance,
}

impl<K: Kind> Plan<K> {
    /// Returns the part of the plan that tables show.
    pub fn header(&self) -> Header {
        Header {
            kind: K::NAME.to_owned(),
            name: self.name.clone(),
            method: self.method.clone(),
            parameters: self.parameters.clone(),
            seed: self.seed,
            threads: self.threads,
            status: self.status,
            limit: self.limit,
            objective: self.objective.clone(),
            metrics: self.metrics.clone(),
            provenance: self.provenance.clone(),
        }
    }

    /// Sets another objective value and removes the bound.
    pub fn set_unproven(&mut self, value: f64) {
        self.objective = Objective::of::<K>(value, None);
        self.provenance.set_bound_covers(None);
        if matches!(self.status, Status::Optimal | Status::GapReached) {
            let cut_off =
                self.provenance.not_reproducible_because.as_deref().is_some_and(not_reproducible::is_cut_off);
            self.status = if cut_off { Status::Stopped } else { Status::Feasible };
        }
    }

    /// Returns the SHA-256 of the plan without the data of its run: seed, threads, times, reproducibility and the plan
    /// that it was started from.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    pub fn content_sha256(&self) -> Result<String, WriteError> {
        // The envelope contains the hash of the scenario, so the scenario itself is left out.
        let of_plan = Provenance {
            started_at: String::new(),
            elapsed_s: 0.0,
            hot_start: None,
            reproducible: false,
            not_reproducible_because: None,
            ..self.provenance.clone()
        };
        let header = Header { seed: 0, threads: 0, provenance: of_plan, ..self.header() };
        json::sha256_of(&(header, &self.derived_from, &self.notes, &self.result))
    }

    /// Returns the plan as a JSON tree in file order.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    pub fn to_value(&self) -> Result<Value, WriteError> {
        let mut map = Map::new();
        map.insert("schema".into(), SCHEMA.into());
        map.insert("kind".into(), K::NAME.into());
        map.insert("name".into(), self.name.clone().into());
        map.insert("scenario".into(), self.scenario.to_value()?);
        map.insert("method".into(), self.method.clone().into());
        map.insert("parameters".into(), json::to_value(&self.parameters)?);
        map.insert("seed".into(), self.seed.into());
        map.insert("threads".into(), self.threads.into());
        map.insert("status".into(), json::to_value(&self.status)?);
        map.insert("limit".into(), json::to_value(&self.limit)?);
        map.insert("objective".into(), json::to_value(&self.objective)?);
        map.insert("metrics".into(), json::to_value(&self.metrics)?);
        map.insert("provenance".into(), json::to_value(&self.provenance)?);
        if let Some(derived) = &self.derived_from {
            map.insert("derived_from".into(), json::to_value(derived)?);
        }
        if let Some(notes) = &self.notes {
            map.insert("notes".into(), notes.clone());
        }
        map.insert("result".into(), json::to_value(&self.result)?);
        Ok(Value::Object(map))
    }
}
