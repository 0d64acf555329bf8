//! Sound plans to be damaged.

use crate::check::{self, Envelope, code};
use crate::plan::{Action, Changes, CrossconnectResult, Entry};
use crate::scenario::CrossconnectScenario;
use crate::testing;
use lightbay_core::checked::Verdict;
use lightbay_core::kind::Depth;
use std::collections::{BTreeMap, BTreeSet};

/// A plan with its scenario and envelope.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub scenario: CrossconnectScenario,
    pub result: CrossconnectResult,
    pub value: f64,
    pub bound: Option<f64>,
    pub bound_covers: Option<&'static str>,
    /// All metrics of the plan, or those that are not what they have to be.
    pub metrics: BTreeMap<String, f64>,
    /// True if the other metrics are what they have to be.
    pub filled: bool,
}

impl Case {
    /// The worked example, solved.
    pub fn example() -> Self {
        Self::of(testing::example())
    }

    pub fn of((scenario, changes): (CrossconnectScenario, Changes)) -> Self {
        let value = changes.totals.removed_circuits as f64;
        Self {
            scenario,
            result: testing::result(changes),
            value,
            bound: None,
            bound_covers: None,
            metrics: BTreeMap::new(),
            filled: true,
        }
    }

    pub fn changes(&mut self) -> &mut Changes {
        match &mut self.result {
            CrossconnectResult::Changes(changes) => changes,
            CrossconnectResult::Order(_) => panic!("an order has no changes"),
        }
    }

    /// An entry of the plan by its place.
    pub fn entry(&mut self, ocs: usize, index: usize) -> &mut Entry {
        &mut self.changes().ocs[ocs].cross_connects[index]
    }

    /// Place of the first entry with an action.
    pub fn first(&mut self, action: Action) -> (usize, usize) {
        let places = self.changes().ocs.iter().enumerate().find_map(|(ocs, switch)| {
            Some((ocs, switch.cross_connects.iter().position(|entry| entry.action == action)?))
        });
        places.unwrap()
    }

    pub fn metric(&mut self, name: &str, value: f64) {
        self.metrics.insert(name.to_owned(), value);
    }

    pub fn verdict(&self) -> Verdict {
        self.verdict_at(Depth::Usual)
    }

    pub fn verdict_at(&self, depth: Depth) -> Verdict {
        let mut metrics =
            if self.filled { check::expected(&self.scenario, &self.result) } else { BTreeMap::new() };
        metrics.extend(self.metrics.clone());
        let envelope = Envelope {
            value: self.value,
            bound: self.bound,
            bound_covers: self.bound_covers,
            method: "test",
            metrics: &metrics,
        };
        check::check(&self.scenario, &self.result, &envelope, depth)
    }

    pub fn codes(&self) -> BTreeSet<&'static str> {
        self.verdict().violations.iter().map(|violation| violation.code).collect()
    }

    pub fn assert_passes(&self) {
        let violations = self.verdict().violations;
        assert!(violations.is_empty(), "{violations:#?}");
    }

    /// The damaged plan breaks exactly these rules.
    pub fn assert_codes(&self, expected: &[&'static str]) {
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        assert_eq!(self.codes(), expected, "{:#?}", self.verdict().violations);
    }

    /// The plan with a damage.
    pub fn with(&self, damage: impl FnOnce(&mut Self)) -> Self {
        let mut damaged = self.clone();
        damage(&mut damaged);
        damaged
    }
}

#[test]
fn rules_have_names_of_their_own() {
    let names: BTreeSet<&str> = code::ALL.into_iter().collect();
    assert_eq!(names.len(), code::ALL.len());
}
