//! A [`Checked`] plan has passed the independent checker of its kind. Only this module can construct a value of this
//! type.

use crate::exchange::{CircuitMatrix, Graph, Switching, TrafficMatrix};
use crate::json::{self, WriteError};
use crate::kind::{Depth, Kind, Sense};
use crate::plan::{Header, Limit, Objective, Plan, Status, gap, standing_bound};
use crate::scenario::Scenario;
use crate::standing::Standing;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::sync::Arc;

mod envelope;
mod metrics;

pub use metrics::{Figure, SAME, compare_metrics, same};

/// A rule that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Violation {
    /// Name of the rule that is broken, such as `schema`.
    pub code: &'static str,
    /// Location and extent of the violation, in words.
    pub message: String,
}

impl Violation {
    /// Creates a violation of the rule `code`.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, crate::problem::printable(&self.message))
    }
}

/// A list of findings contains at most this number of violations of each rule.
const MOST_OF_A_RULE: usize = 20;

/// Findings of a checker, in order. Lists the first twenty violations of each rule and counts the others.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Violation>,
    of_rule: BTreeMap<&'static str, usize>,
}

impl Findings {
    /// Adds a violation of the rule `code`.
    pub fn add(&mut self, code: &'static str, message: impl Into<String>) {
        self.add_with(code, || message.into());
    }

    /// Adds a violation of the rule `code` whose text is built only if the violation is listed.
    pub fn add_with(&mut self, code: &'static str, message: impl FnOnce() -> String) {
        let seen = self.of_rule.entry(code).or_default();
        *seen += 1;
        if *seen <= MOST_OF_A_RULE {
            self.list.push(Violation::new(code, message()));
        }
    }

    /// Adds the findings of a part of the plan; their texts begin with the path of the part.
    pub fn include(&mut self, path: &str, part: Self) {
        for violation in part.finish() {
            self.add_with(violation.code, || format!("{path}: {}", violation.message));
        }
    }

    /// Returns `true` if there are no findings.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of violations, including those that are only counted.
    pub fn count(&self) -> usize {
        self.of_rule.values().sum()
    }

    /// Returns all violations; for each rule with unlisted violations, an entry gives their number.
    pub fn finish(mut self) -> Vec<Violation> {
        for (code, count) in self.of_rule {
            if count > MOST_OF_A_RULE {
                let message = format!("and {} more violations of this rule", count - MOST_OF_A_RULE);
                self.list.push(Violation::new(code, message));
            }
        }
        self.list
    }
}

/// Trust in a claimed bound after checking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundTrust {
    /// The plan claims no bound, and the checker derived none.
    None,
    /// The checker derived the bound itself.
    Verified,
    /// The method claims the bound; the checker cannot repeat the proof.
    Claimed,
}

/// A bound that a checker derived itself, independently of what the plan claims.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VerifiedBound {
    /// Value that no covered plan can beat.
    pub value: f64,
    /// The plans that the bound covers (`plans at fair rates`); `None` if the bound covers all plans of the scenario.
    pub covers: Option<String>,
    /// |value - bound| / |value| of the plan that was checked.
    pub gap: f64,
}

impl VerifiedBound {
    /// Creates a verified bound on all plans of the scenario, or on the plans that `covers` names. If the objective
    /// beats the bound by no more than a rounding error, the bound is set to the objective. If the objective beats the
    /// bound by more, the bound stays unchanged, and the plan is refused.
    pub fn of(sense: Sense, objective: f64, bound: f64, covers: Option<&str>) -> Self {
        let value = standing_bound(sense, objective, bound).unwrap_or(bound);
        Self { value, covers: covers.map(str::to_owned), gap: gap(objective, value) }
    }

    /// Returns a violation if the objective of a covered plan beats the bound: the checker or the plan is wrong.
    fn beaten_by(&self, sense: Sense, objective: f64) -> Option<Violation> {
        let is_beaten = standing_bound(sense, objective, self.value).is_none();
        let of = self.covers.as_deref().map_or_else(String::new, |covers| format!(" for {covers}"));
        is_beaten.then(|| {
            let text = format!(
                "the checker proves{of} that no plan beats {}, but the objective is {objective}: \
                 one of the two values is wrong",
                self.value
            );
            Violation::new("bound", text)
        })
    }
}

/// Findings of a checker.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Rules that are broken.
    pub violations: Vec<Violation>,
    /// Trust in the claimed bound.
    pub bound: BoundTrust,
    /// The bound that the checker proved, even if the plan claims another bound or no bound.
    pub verified: Option<VerifiedBound>,
    /// A bound that the checker proved for more plans than `verified` covers.
    pub wider: Option<VerifiedBound>,
    /// Remarks of the checker, one sentence each: what it states in addition to violations and bounds.
    pub remarks: Vec<String>,
}

impl Verdict {
    /// Creates a verdict without violations; the bound, if any, is only claimed by the method.
    pub const fn clean() -> Self {
        Self {
            violations: Vec::new(),
            bound: BoundTrust::Claimed,
            verified: None,
            wider: None,
            remarks: Vec::new(),
        }
    }

    /// Creates the verdict on a plan that breaks rules. The verdict does not judge the bound of such a plan.
    pub const fn refused(violations: Vec<Violation>) -> Self {
        Self { violations, bound: BoundTrust::None, verified: None, wider: None, remarks: Vec::new() }
    }
}

/// A plan that its checker refused.
#[derive(Debug)]
pub struct Rejected<K: Kind> {
    /// The refused plan.
    pub plan: Box<Plan<K>>,
    /// Rules that the plan breaks.
    pub violations: Vec<Violation>,
}

/// A plan that passed its checker.
#[derive(Debug)]
pub struct Checked<K: Kind> {
    plan: Plan<K>,
    bound: BoundTrust,
    verified: Option<VerifiedBound>,
    wider: Option<VerifiedBound>,
    is_exact: bool,
    remarks: Vec<String>,
}

impl<K: Kind> Checked<K> {
    /// Runs the checker of the kind and the common checks of the envelope.
    ///
    /// # Errors
    /// [`Rejected`] with every violation.
    pub fn verify(plan: Plan<K>, depth: Depth) -> Result<Self, Rejected<K>> {
        let mut verdict = K::check(&plan, depth);
        let beaten = verdict.verified.as_ref().filter(|_| verdict.violations.is_empty());
        let beaten = beaten.and_then(|bound| bound.beaten_by(K::OBJECTIVE.sense, plan.objective.value));
        verdict.violations.extend(beaten);
        verdict.violations.extend(envelope::violations(&plan));
        if verdict.violations.is_empty() {
            let bound = if plan.objective.bound.is_none() { BoundTrust::None } else { verdict.bound };
            let Verdict { verified, wider, remarks, .. } = verdict;
            Ok(Self { plan, bound, verified, wider, is_exact: depth.is_exact(), remarks })
        } else {
            Err(Rejected { plan: Box::new(plan), violations: verdict.violations })
        }
    }

    /// Returns the plan.
    pub const fn plan(&self) -> &Plan<K> {
        &self.plan
    }

    /// Returns the trust in the claimed bound.
    pub const fn bound_trust(&self) -> BoundTrust {
        self.bound
    }

    /// Returns the bound that the checker proved.
    pub const fn verified_bound(&self) -> Option<&VerifiedBound> {
        self.verified.as_ref()
    }

    /// Returns the bounds on the plan, and whether the checker proved each of them or a method claims it.
    pub fn standing(&self) -> Standing {
        Standing::of::<K>(
            &self.plan.header(),
            self.bound,
            self.verified.iter().chain(&self.wider),
            self.is_exact,
        )
    }

    /// Returns the remarks of the checker, one sentence each: what it states in addition to violations and bounds.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Returns the same checked plan and its scenario under another name. No rule depends on the name, so the plan
    /// stays checked.
    #[must_use]
    pub fn renamed(&self, name: &str) -> Self {
        let mut plan = self.plan.clone();
        name.clone_into(&mut plan.name);
        plan.scenario = Arc::new(Scenario { name: name.to_owned(), ..Scenario::clone(&plan.scenario) });
        Self {
            plan,
            bound: self.bound,
            is_exact: self.is_exact,
            wider: self.wider.clone(),
            verified: self.verified.clone(),
            remarks: self.remarks.clone(),
        }
    }

    /// Returns the same checked plan with the facts that are known at the end of its run. The result does not change,
    /// so the plan stays checked; a bound that has changed is checked again.
    pub(crate) fn concluded(&self, end: Conclusion) -> Self {
        let mut plan = self.plan.clone();
        let kept = end.bound == plan.objective.bound
            && end.bound_covers.as_deref() == plan.provenance.bound_covers();
        plan.status = end.status;
        plan.limit = end.limit;
        plan.objective = Objective::of::<K>(plan.objective.value, end.bound);
        plan.provenance.elapsed_s = end.elapsed_s;
        plan.provenance.reproducible = end.not_reproducible_because.is_none();
        plan.provenance.not_reproducible_because = end.not_reproducible_because;
        plan.provenance.set_bound_covers(end.bound_covers.as_deref());
        // The checker judges the new bound of the plan, as it does whenever the plan is read.
        let again =
            (!kept).then(|| K::check(&plan, Depth::Usual)).filter(|found| found.violations.is_empty());
        let (found, verified, wider, remarks) = match again {
            Some(found) => (found.bound, found.verified, found.wider, found.remarks),
            None if kept => (self.bound, self.verified.clone(), self.wider.clone(), self.remarks.clone()),
            None => (BoundTrust::Claimed, self.verified.clone(), self.wider.clone(), self.remarks.clone()),
        };
        let trust = if end.bound.is_none() { BoundTrust::None } else { found };
        debug_assert_eq!(envelope::violations(&plan), [], "a run ends with a consistent envelope");
        Self { plan, bound: trust, verified, wider, is_exact: self.is_exact, remarks }
    }
}

/// Facts about a plan that are known when its run has ended.
pub(crate) struct Conclusion {
    pub(crate) status: Status,
    pub(crate) limit: Option<Limit>,
    pub(crate) bound: Option<f64>,
    pub(crate) bound_covers: Option<String>,
    pub(crate) elapsed_s: f64,
    pub(crate) not_reproducible_because: Option<String>,
}

mod sealed {
    pub trait Sealed {}
    impl<K: crate::kind::Kind> Sealed for super::Checked<K> {}
}

/// A checked plan, for code that does not know the kind of the plan. Only the catalogue of kinds converts the plan back
/// to a plan of its kind.
pub trait AnyChecked: sealed::Sealed + Debug + Send + Sync {
    /// Returns the envelope of the plan, without scenario and result.
    fn header(&self) -> Header;
    /// Returns the SHA-256 of the scenario of the plan.
    fn scenario_sha256(&self) -> &str;
    /// Returns the whole plan as a JSON tree in file order.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    fn to_value(&self) -> Result<Value, WriteError>;
    /// Returns the SHA-256 of the plan without the data of its run: seed, threads, times, reproducibility and the plan
    /// that it was started from. The hash is equal for two runs that end with the same plan and the same proof.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    fn content_sha256(&self) -> Result<String, WriteError>;
    /// Returns the plan as file content.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    fn to_json(&self) -> Result<Vec<u8>, WriteError> {
        json::to_pretty(&self.to_value()?)
    }
    /// Returns the trust in the claimed bound.
    fn bound_trust(&self) -> BoundTrust;
    /// Returns the bound that the checker proved.
    fn verified_bound(&self) -> Option<&VerifiedBound>;
    /// Returns the bounds on the plan, and whether the checker proved each of them or a method claims it.
    fn standing(&self) -> Standing;
    /// Returns the circuits of the plan, for kinds that set circuits.
    fn circuits(&self) -> Option<CircuitMatrix>;
    /// Returns the circuits of one layer of the plan, for kinds with different circuits in each layer.
    fn circuits_of_layer(&self, layer: u32) -> Option<CircuitMatrix>;
    /// Returns the circuits that the plan sets at a reconfiguration, for kinds that change circuits within an
    /// iteration.
    fn circuits_of_phase(&self, phase: u32) -> Option<(CircuitMatrix, Switching)>;
    /// Returns the network of one layer of the plan and the bytes that this layer sends between the places (such as
    /// servers), for kinds whose plans have a network for each layer.
    fn network_of_layer(&self, layer: u32) -> Option<(Graph, TrafficMatrix)>;
    /// Returns the network of the plan, for kinds whose plans have a network.
    fn graph(&self) -> Option<Graph>;
    /// Returns the bytes sent between the places of the plan, such as pods or servers, for kinds that know them.
    fn traffic(&self) -> Option<TrafficMatrix>;
    /// Returns the plan as [`Any`], which the catalogue casts to a plan of its kind.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// A checked plan of any kind, in the shared form in which events, sessions and exporters pass it on.
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
    fn content_sha256(&self) -> Result<String, WriteError> {
        self.plan.content_sha256()
    }
    fn bound_trust(&self) -> BoundTrust {
        self.bound
    }
    fn verified_bound(&self) -> Option<&VerifiedBound> {
        self.verified.as_ref()
    }
    fn standing(&self) -> Standing {
        self.standing()
    }
    fn circuits(&self) -> Option<CircuitMatrix> {
        K::circuits(&self.plan)
    }
    fn circuits_of_layer(&self, layer: u32) -> Option<CircuitMatrix> {
        K::circuits_of_layer(&self.plan, layer)
    }
    fn circuits_of_phase(&self, phase: u32) -> Option<(CircuitMatrix, Switching)> {
        K::circuits_of_phase(&self.plan, phase)
    }
    fn network_of_layer(&self, layer: u32) -> Option<(Graph, TrafficMatrix)> {
        K::network_of_layer(&self.plan, layer)
    }
    fn graph(&self) -> Option<Graph> {
        K::graph(&self.plan)
    }
    fn traffic(&self) -> Option<TrafficMatrix> {
        K::traffic(&self.plan)
    }
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// Returns the plan as a plan of kind `K`; `None` if the plan is of another kind.
pub fn downcast<K: Kind>(plan: &SharedPlan) -> Option<Arc<Checked<K>>> {
    Arc::clone(plan).into_any().downcast::<Checked<K>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_spell_out_twenty_of_a_rule_and_count_the_others() {
        let mut found = Findings::default();
        assert!(found.is_empty());
        for at in 0..23 {
            found.add("ports", format!("pod {at}"));
        }
        found.add("bound", "is too high");
        assert_eq!(found.count(), 24);
        let list = found.finish();
        assert_eq!(list.len(), 22);
        assert_eq!(list[19], Violation::new("ports", "pod 19"));
        assert_eq!(list[20], Violation::new("bound", "is too high"));
        assert_eq!(list[21], Violation::new("ports", "and 3 more violations of this rule"));
    }

    #[test]
    fn findings_of_a_part_keep_their_rule_and_name_the_part() {
        let mut part = Findings::default();
        part.add("ports", "pod 1 uses 9 of 8");
        let mut found = Findings::default();
        found.include("jobs[2]", part);
        assert_eq!(found.finish(), [Violation::new("ports", "jobs[2]: pod 1 uses 9 of 8")]);
    }
}
