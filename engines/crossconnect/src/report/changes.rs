//! Changes of a plan in total, and by pair of pods.

use super::OVERVIEW;
use crate::plan::{Action, Changes, OcsChanges};
use crate::rollout::caveat;
use crate::scenario::CrossconnectScenario;
use lightbay_core::report::{Cell, Column, Facts, Section, Table, Tone};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn totals(scenario: &CrossconnectScenario, changes: &Changes) -> Section {
    let of = |action| count(changes.ocs.iter(), action);
    let mut facts = Facts::new();
    facts.add("kept_circuits", "circuits kept", of(Action::Keep));
    facts.add("added_circuits", "circuits added", of(Action::Add));
    facts.add("removed_circuits", "circuits removed", Cell::new(of(Action::Remove)).tone(Tone::Answer));
    let touched =
        changes.ocs.iter().filter(|ocs| ocs.cross_connects.iter().any(|entry| entry.action != Action::Keep));
    facts.add("changed_switches", "switches that change", touched.count());
    facts.add("batches", "batches", changes.batches.len());
    let warnings =
        [caveat::unmet(scenario, changes), caveat::cut_off(scenario, changes), caveat::strays(scenario)];
    warnings.into_iter().flatten().fold(Section::new("Changes", facts), Section::remark)
}

fn count<'a>(switches: impl Iterator<Item = &'a OcsChanges>, action: Action) -> usize {
    switches.flat_map(|ocs| &ocs.cross_connects).filter(|entry| entry.action == action).count()
}

/// Returns the section on every pair of pods that has circuits before or after the change; pairs with most changes come
/// first.
pub(super) fn pairs(scenario: &CrossconnectScenario, changes: &Changes) -> Section {
    let mut counts: BTreeMap<(u32, u32), [u32; 3]> = BTreeMap::new();
    for entry in changes.ocs.iter().flat_map(|ocs| &ocs.cross_connects) {
        let pair = (entry.pod_a.min(entry.pod_b), entry.pod_a.max(entry.pod_b));
        let place = match entry.action {
            Action::Keep => 0,
            Action::Add => 1,
            Action::Remove => 2,
        };
        counts.entry(pair).or_default()[place] += 1;
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|&(pair, [_, added, removed])| (Reverse(added + removed), pair));
    let columns = vec![
        Column::words("pod_a", "pod"),
        Column::words("pod_b", "pod"),
        Column::counts("before", "before"),
        Column::counts("kept", "kept"),
        Column::counts("added", "added"),
        Column::counts("removed", "removed"),
        Column::counts("after", "after"),
    ];
    let mut table = Table::new(["pair", "pairs"], columns).overview(OVERVIEW);
    for ((a, b), [kept, added, removed]) in rows {
        table.row(vec![
            Cell::new(scenario.pod_name(a as usize)),
            Cell::new(scenario.pod_name(b as usize)),
            Cell::new(kept + removed),
            Cell::new(kept),
            Cell::new(added).tone(Tone::Good),
            Cell::new(removed).tone(Tone::Bad),
            Cell::new(kept + added),
        ]);
    }
    Section::new("Pairs of pods", table)
}
