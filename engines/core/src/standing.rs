//! The known bounds on a plan; for each bound, the plans that it covers, its gap, and who confirms it. Every output of
//! a bound (command line, screen, report, picture) uses the values and words of this module.

use crate::checked::{BoundTrust, VerifiedBound};
use crate::kind::{Kind, ObjectiveInfo};
use crate::plan::{Header, Limit, OPTIMAL_GAP, Status, gap};
use crate::problem::printable;
use crate::quantity;
use schemars::JsonSchema;
use serde::Serialize;

mod findings;

pub use findings::{Findings, FoundBound};

/// Relative rounding error by which a value may beat its bound and still count as meeting it.
const ROUNDING: f64 = 1e-9;

/// Source of a bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prover {
    /// The independent checker derived the bound.
    Checker,
    /// The method of this name claims the bound; the checker has not repeated the proof.
    Method(String),
}

/// A bound on the objective.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KnownBound {
    /// Value that no covered plan can beat.
    pub value: f64,
    /// The covered plans, in words; `None` if the bound covers all plans of the scenario.
    pub covers: Option<String>,
    /// `true` if the bound holds for every plan of the scenario; `covers` may describe the covered plans even in this
    /// case.
    pub is_on_all: bool,
    /// |value - bound| / |value| of the plan.
    pub gap: f64,
    /// Source of the bound.
    pub by: Prover,
}

impl KnownBound {
    /// Returns `true` if the checker proved the bound.
    pub fn is_verified(&self) -> bool {
        self.by == Prover::Checker
    }

    /// Returns `verified` or `claimed`, with `for some plans` if the bound does not hold for every plan of the scenario.
    pub const fn word(&self) -> &'static str {
        match (&self.by, self.is_on_all) {
            (Prover::Checker, true) => "verified",
            (Prover::Checker, false) => "verified for some plans",
            (Prover::Method(_), true) => "claimed",
            (Prover::Method(_), false) => "claimed for some plans",
        }
    }

    /// Returns the covered plans as words after the bound, such as ` for schedules of whole chunks`; empty if `covers`
    /// is `None`.
    fn over(&self) -> String {
        self.covers.as_ref().map_or_else(String::new, |covers| format!(" for {}", printable(covers)))
    }
}

/// The value of a plan and the known bounds on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    objective: ObjectiveInfo,
    value: f64,
    method: String,
    /// The problem that the method of the plan solves, if the goal of the method differs from the objective.
    other_question: Option<&'static str>,
    status: Option<Status>,
    limit: Option<Limit>,
    /// `true` if the plan contains a bound of its method.
    has_claim: bool,
    /// `true` if the checker also ran its slow checks.
    is_exact: bool,
    /// The known bounds: verified before claimed bounds, and within each group bounds on all plans first. No bound of
    /// the list follows from another bound of the list.
    bounds: Vec<KnownBound>,
    /// False claims: bounds that methods claim for all plans of the scenario, and that the value of this plan beats.
    refuted: Vec<KnownBound>,
}

impl Standing {
    /// Describes a plan of which only the value is known, without bounds.
    pub fn unproven(objective: ObjectiveInfo, value: f64, method: &str) -> Self {
        Self {
            objective,
            value,
            method: method.to_owned(),
            other_question: None,
            status: None,
            limit: None,
            has_claim: false,
            is_exact: false,
            bounds: Vec::new(),
            refuted: Vec::new(),
        }
    }

    /// Derives the known bounds on a plan from its envelope and the findings of its checker; `is_exact`: the checker
    /// also ran its slow checks.
    pub fn of<'v, K: Kind>(
        header: &Header,
        trust: BoundTrust,
        verified: impl IntoIterator<Item = &'v VerifiedBound>,
        is_exact: bool,
    ) -> Self {
        let mut standing = Self::unproven(K::OBJECTIVE, header.objective.value, &header.method);
        standing.other_question = K::other_question(&header.method);
        (standing.status, standing.limit) = (Some(header.status), header.limit);
        (standing.has_claim, standing.is_exact) = (header.objective.bound.is_some(), is_exact);
        let is_on_all = |covers: Option<&str>| covers.is_none_or(K::covers_all);
        for bound in verified {
            let covers = bound.covers.as_deref();
            standing.learn(bound.value, covers, is_on_all(covers), Prover::Checker);
        }
        if let Some(claimed) = header.objective.bound {
            let covers = header.provenance.bound_covers();
            let by = match trust {
                // The checker's own value replaces the claimed value that it confirmed.
                BoundTrust::Verified if !standing.bounds.is_empty() => return standing,
                BoundTrust::Verified => Prover::Checker,
                BoundTrust::Claimed | BoundTrust::None => Prover::Method(header.method.clone()),
            };
            standing.learn(claimed, covers, is_on_all(covers), by);
        }
        standing
    }

    /// Removes the status and the claimed bounds, for a plan whose run is still active: both are final only at the end
    /// of the run.
    #[must_use]
    pub fn unfinished(mut self) -> Self {
        (self.status, self.limit) = (None, None);
        self.bounds.retain(KnownBound::is_verified);
        self
    }

    /// Adds a bound, unless it follows from a known bound. A claimed bound on all plans that the value beats is
    /// recorded as false instead. `covers` names the covered plans; `None` if the bound covers all plans of the
    /// scenario.
    pub fn learn(&mut self, value: f64, covers: Option<&str>, is_on_all: bool, by: Prover) {
        if !value.is_finite() {
            return;
        }
        let sense = self.objective.sense;
        let covers = covers.map(str::to_owned);
        let bound = KnownBound { value, covers, is_on_all, gap: gap(self.value, value), by };
        if sense.better(self.value, value) && bound.gap > ROUNDING && !bound.is_verified() && is_on_all {
            if !self.refuted.contains(&bound) {
                self.refuted.push(bound);
            }
            return;
        }
        // The bound closer to the value of the plan is stronger, so bounds are compared in the opposite direction to
        // values.
        let says_as_much = |one: &KnownBound, other: &KnownBound| {
            (one.is_on_all || (!other.is_on_all && one.covers == other.covers))
                && (one.is_verified() || !other.is_verified())
                && !sense.better(one.value, other.value)
        };
        if self.bounds.iter().any(|known| says_as_much(known, &bound)) {
            return;
        }
        self.bounds.retain(|known| !says_as_much(&bound, known));
        self.bounds.push(bound);
        self.bounds.sort_by_key(|bound| (!bound.is_verified(), !bound.is_on_all));
    }

    /// Returns the problem that the method of the plan solves, if its goal differs from the objective. If there is such
    /// a problem, bounds of other methods do not apply to the plan, and the plan's own bounds do not prove the plan
    /// optimal.
    pub const fn other_question(&self) -> Option<&'static str> {
        self.other_question
    }

    /// Returns `true` if the checker also ran its slow checks.
    pub const fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Returns every known bound, the leading bound first.
    pub fn bounds(&self) -> &[KnownBound] {
        &self.bounds
    }

    /// Returns the objective of the kind.
    pub const fn objective(&self) -> &ObjectiveInfo {
        &self.objective
    }

    /// Returns the bound to show first: verified bounds before claimed ones, and bounds on all plans before bounds on
    /// some plans.
    pub fn leading(&self) -> Option<&KnownBound> {
        self.bounds.first()
    }

    /// Returns the bound with the smallest gap, if that gap is smaller than the gap of [`Self::leading`]: a claimed
    /// bound, or a bound on some plans.
    pub fn closer(&self) -> Option<&KnownBound> {
        let leading = self.leading()?;
        let closer = self.bounds.iter().filter(|bound| bound.gap + OPTIMAL_GAP < leading.gap);
        closer.min_by(|a, b| a.gap.total_cmp(&b.gap))
    }

    /// Returns the bound on all plans of the scenario with the smallest gap, verified or claimed.
    pub fn on_all(&self) -> Option<&KnownBound> {
        self.bounds.iter().filter(|bound| bound.is_on_all).min_by(|a, b| a.gap.total_cmp(&b.gap))
    }

    /// Returns the bound that bars and lines show: the first verified bound on all plans of the scenario, otherwise the
    /// first claimed bound on all plans.
    pub fn drawn(&self) -> Option<&KnownBound> {
        self.bounds.iter().find(|bound| bound.is_on_all)
    }

    /// Returns a bound that the value of the plan meets, so that the plan is optimal if the bound holds; `None` if the
    /// method of the plan solves another problem. A bound on all plans takes precedence over a bound on some plans, and
    /// then a verified bound over a claimed one.
    pub fn optimum(&self) -> Option<&KnownBound> {
        let closed =
            || self.bounds.iter().filter(|bound| bound.gap <= OPTIMAL_GAP && self.other_question.is_none());
        closed().find(|bound| bound.is_on_all).or_else(|| closed().next())
    }

    /// Returns the status, with the proof that it depends on: `optimal`, `optimal, claimed and not yet verified`,
    /// `optimal for plans at fair rates`, `feasible, work limit`.
    pub fn status(&self) -> String {
        let Some(status) = self.status else { return "found by a run that is still running".to_owned() };
        let mut text = status.word().replace('_', " ");
        if let Some(limit) = self.limit {
            text.push_str(&format!(", {limit:?} limit").to_lowercase());
        }
        let proof = match status {
            Status::Optimal => self.optimum(),
            Status::GapReached => self.leading(),
            _ => return text,
        };
        match proof {
            Some(bound) => {
                if !bound.is_on_all {
                    text.push_str(&bound.over());
                }
                if !bound.is_verified() {
                    text += &[", claimed and ", self.unverified()].concat();
                }
            }
            None => text += &[", claimed and ", self.unverified()].concat(),
        }
        text
    }

    /// Returns the words for a claim that the checker did not confirm.
    const fn unverified(&self) -> &'static str {
        if self.is_exact { "not verified" } else { "not yet verified" }
    }

    /// Returns a sentence for the head of reports and pictures: the verdict, then [`Self::words`].
    pub fn sentence(&self) -> String {
        let proof = self.optimum().filter(|_| self.status.is_some());
        let head = match proof {
            Some(bound) if bound.is_on_all && bound.is_verified() => "Proven optimal".to_owned(),
            _ => format!("Status {}", self.status()),
        };
        let by = if self.is_exact { " (exact check)" } else { "" };
        let apart = self.other_question.map_or_else(String::new, |why| {
            format!("{} solves a different problem ({why}); ", printable(&self.method))
        });
        format!("{head}: {apart}{}{by}.", self.words(true))
    }

    /// Returns the gap in a few words: `0.29 % verified`, `28.6 % verified (0.00 % claimed)`, `0.00 % claimed for some plans`,
    /// `no bound`.
    pub fn brief(&self) -> String {
        let Some(leading) = self.leading() else { return NO_BOUND.to_owned() };
        let said = |bound: &KnownBound| format!("{} {}", quantity::gap(bound.gap), bound.word());
        self.closer().map_or_else(|| said(leading), |closer| format!("{} ({})", said(leading), said(closer)))
    }

    /// Returns all known bounds in one phrase: first the bounds that the checker verified, then the claimed bounds that
    /// do not follow from them, then the false claims. If `named` is true, the phrase contains the name of the
    /// objective.
    pub fn words(&self, named: bool) -> String {
        let label = if named { format!("{} ", self.objective.label) } else { String::new() };
        let on = if named { " on" } else { "" };
        // A bound that the value meets is printed with the same digits as the value.
        let text = |bound: &KnownBound| {
            let is_met = bound.gap <= ROUNDING;
            if is_met {
                self.objective.with_unit(bound.value)
            } else {
                self.objective.bound_with_unit(bound.value)
            }
        };
        let left = |bound: &KnownBound| format!("{}, gap {}", bound.over(), quantity::gap(bound.gap));
        let mut parts: Vec<String> = Vec::new();
        for bound in &self.bounds {
            let (value, left) = (text(bound), left(bound));
            parts.push(match (&bound.by, parts.len()) {
                (Prover::Checker, 0) => format!("verified bound{on} {label}{value}{left}"),
                (Prover::Checker, _) => format!("verified {value}{left}"),
                (Prover::Method(name), 0) => {
                    format!(
                        "no bound is verified; bound claimed by {}: {label}{value}{left}",
                        printable(name)
                    )
                }
                (Prover::Method(name), _) => {
                    format!("claimed by {}, {}: {value}{left}", printable(name), self.unverified())
                }
            });
        }
        if !self.has_claim {
            parts.push(format!("{} claims no bound", printable(&self.method)));
        }
        parts.extend(self.refuted.iter().map(|bound| {
            let Prover::Method(name) = &bound.by else { return String::new() };
            format!("the bound {} claimed by {} is false: this plan beats it", text(bound), printable(name))
        }));
        parts.join("; ")
    }
}

/// The words for a plan without a known bound.
pub const NO_BOUND: &str = "no bound";

#[cfg(test)]
mod tests;
