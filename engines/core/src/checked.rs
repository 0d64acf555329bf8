//! The seal: a [`Checked`] plan has passed the independent checker of its kind. Only this module makes one.

use crate::json::{self, WriteError};
use crate::kind::{Depth, Kind};
use crate::plan::{Header, Limit, OPTIMAL_GAP, Objective, Plan, Status, gap};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::any::Any;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Something a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Violation {
    /// Which rule.
    pub code: &'static str,
    /// Where and by how much.
    pub message: String,
}

impl Violation {
    /// A violation of the rule `code`.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, crate::problem::printable(&self.message))
    }
}

/// What is known about a claimed bound after checking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundTrust {
    /// There is none.
    None,
    /// The checker reached it by its own means.
    Verified,
    /// The method claims it; the checker cannot repeat the proof.
    Claimed,
}

/// What a checker found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Rules that are broken.
    pub violations: Vec<Violation>,
    /// How far the bound is confirmed.
    pub bound: BoundTrust,
    /// What else is worth saying.
    pub remarks: Vec<String>,
}

impl Verdict {
    /// Nothing is wrong; the bound, if any, is the method's claim.
    pub const fn clean() -> Self {
        Self { violations: Vec::new(), bound: BoundTrust::Claimed, remarks: Vec::new() }
    }
}

/// A plan that its checker refused.
#[derive(Debug)]
pub struct Rejected<K: Kind> {
    /// The plan.
    pub plan: Box<Plan<K>>,
    /// What it breaks.
    pub violations: Vec<Violation>,
}

/// A plan that passed its checker.
#[derive(Debug)]
pub struct Checked<K: Kind> {
    plan: Plan<K>,
    bound: BoundTrust,
    remarks: Vec<String>,
}

impl<K: Kind> Checked<K> {
    /// Runs the checker of the kind and the common checks of the envelope.
    ///
    /// # Errors
    /// [`Rejected`] with every violation.
    pub fn verify(plan: Plan<K>, depth: Depth) -> Result<Self, Rejected<K>> {
        let mut verdict = K::check(&plan, depth);
        check_envelope(&plan, &mut verdict.violations);
        if verdict.violations.is_empty() {
            let bound = if plan.objective.bound.is_none() { BoundTrust::None } else { verdict.bound };
            Ok(Self { plan, bound, remarks: verdict.remarks })
        } else {
            Err(Rejected { plan: Box::new(plan), violations: verdict.violations })
        }
    }

    /// The plan.
    pub const fn plan(&self) -> &Plan<K> {
        &self.plan
    }

    /// How far the bound is confirmed.
    pub const fn bound_trust(&self) -> BoundTrust {
        self.bound
    }

    /// What the checker had to say besides.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The same result with what is known at the end of its run. The result is untouched, so the seal holds;
    /// the bound counts as claimed unless the checker had confirmed that very value.
    pub(crate) fn concluded(&self, end: Conclusion) -> Self {
        let mut plan = self.plan.clone();
        let kept = end.bound == plan.objective.bound;
        plan.status = end.status;
        plan.limit = end.limit;
        plan.objective = Objective::of::<K>(plan.objective.value, end.bound);
        plan.provenance.elapsed_s = end.elapsed_s;
        plan.provenance.reproducible = end.not_reproducible_because.is_none();
        plan.provenance.not_reproducible_because = end.not_reproducible_because;
        if let Some(covers) = end.bound_covers {
            plan.provenance.other.insert(BOUND_COVERS.to_owned(), covers.into());
        }
        let trust = match end.bound {
            None => BoundTrust::None,
            Some(_) if kept => self.bound,
            Some(_) => BoundTrust::Claimed,
        };
        Self { plan, bound: trust, remarks: self.remarks.clone() }
    }
}

/// Key in the provenance that says which plans a bound covers, if not all of the scenario.
pub const BOUND_COVERS: &str = "bound_covers";

/// What is known about a plan when its run has ended.
pub(crate) struct Conclusion {
    pub(crate) status: Status,
    pub(crate) limit: Option<Limit>,
    pub(crate) bound: Option<f64>,
    pub(crate) bound_covers: Option<String>,
    pub(crate) elapsed_s: f64,
    pub(crate) not_reproducible_because: Option<String>,
}

fn check_envelope<K: Kind>(plan: &Plan<K>, violations: &mut Vec<Violation>) {
    let objective = &plan.objective;
    let mut objective_violation = |message: String| violations.push(Violation::new("objective", message));
    if objective.name != K::OBJECTIVE.name || objective.sense != K::OBJECTIVE.sense {
        objective_violation(format!(
            "'{}' ({}) is not the objective of kind {}, which is '{}' ({})",
            objective.name,
            objective.sense.word(),
            K::NAME,
            K::OBJECTIVE.name,
            K::OBJECTIVE.sense.word()
        ));
    }
    if !objective.value.is_finite() {
        objective_violation("the value is not finite".to_owned());
    }
    match (objective.bound, objective.gap) {
        (None, None) => {}
        (Some(bound), Some(claimed)) => {
            let expected = gap(objective.value, bound);
            if (claimed - expected).abs() > 1e-9 + 1e-6 * expected.abs() {
                objective_violation(format!("gap is {claimed}, value and bound give {expected}"));
            }
            let slack = OPTIMAL_GAP * objective.value.abs().max(1e-12);
            let passed = match objective.sense {
                crate::kind::Sense::Min => bound > objective.value + slack,
                crate::kind::Sense::Max => bound < objective.value - slack,
            };
            if passed {
                objective_violation(format!("bound {bound} is passed by the value {}", objective.value));
            }
        }
        _ => objective_violation("bound and gap must be given together".to_owned()),
    }
    let proven = objective.gap.is_some_and(|gap| gap <= OPTIMAL_GAP);
    if plan.status == Status::Optimal && !proven {
        violations.push(Violation::new("status", "'optimal' needs a bound within 1e-7 of the value"));
    }
    match plan.scenario.sha256() {
        Ok(sha) if plan.provenance.scenario_sha256.is_empty() || plan.provenance.scenario_sha256 == sha => {}
        Ok(sha) => violations.push(Violation::new(
            "scenario",
            format!(
                "scenario_sha256 is {}, the embedded scenario has {sha}",
                plan.provenance.scenario_sha256
            ),
        )),
        Err(error) => violations.push(Violation::new("scenario", error.to_string())),
    }
}

mod sealed {
    pub trait Sealed {}
    impl<K: crate::kind::Kind> Sealed for super::Checked<K> {}
}

/// A checked plan whose kind is known only to the catalogue.
pub trait AnyChecked: sealed::Sealed + Debug + Send + Sync {
    /// Everything but scenario and result.
    fn header(&self) -> Header;
    /// SHA-256 of the scenario it is for.
    fn scenario_sha256(&self) -> &str;
    /// The whole plan as a JSON tree in file order.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    fn to_value(&self) -> Result<Value, WriteError>;
    /// The plan as file content.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    fn to_json(&self) -> Result<Vec<u8>, WriteError> {
        json::to_pretty(&self.to_value()?)
    }
    /// How far the bound is confirmed.
    fn bound_trust(&self) -> BoundTrust;
    /// For the catalogue, which knows the kinds.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// A checked plan as events, sessions and exporters pass it on.
pub type SharedPlan = Arc<dyn AnyChecked>;

impl<K: Kind> AnyChecked for Checked<K> {
    fn header(&self) -> Header {
        self.plan.header()
    }
    fn scenario_sha256(&self) -> &str {
        &self.plan.provenance.scenario_sha256
    }
    fn to_value(&self) -> Result<Value, WriteError> {
        self.plan.to_value()
    }
    fn bound_trust(&self) -> BoundTrust {
        self.bound
    }
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// The plan as kind `K`, if it is of that kind.
pub fn downcast<K: Kind>(plan: &SharedPlan) -> Option<Arc<Checked<K>>> {
    Arc::clone(plan).into_any().downcast::<Checked<K>>().ok()
}
