//! Changes of a plan in total, and by pair of pods.

use super::OVERVIEW;
use crate::plan::{Action, Changes, OcsChanges};
use crate::rollout::caveat;
use crate::scenario::CrossconnectScenario;
use lightbay_core::report::{Cell, Column, Facts, Phrase, Section, Table, Tone};
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
        Column::words("pod_b", "and pod"),
        Column::counts("before", "before"),
        Column::counts("kept", "kept"),
        Column::counts("added", "added"),
        Column::counts("removed", "removed"),
        Column::counts("after", "after"),
    ];
    let mut table = Table::new(["pair", "pairs"], columns).overview(OVERVIEW);
    let changing = rows.iter().filter(|(_, [_, added, removed])| added + removed > 0).count();
    let answer = Phrase::new().answer(changing.to_string()).muted(format!(" of {} pairs change", rows.len()));
    for ((a, b), [kept, added, removed]) in rows {
        let [a, b] = [a, b].map(|pod| scenario.pod_name(pod as usize));
        let count = |count: u32, tone| Cell::new(count).tone(if count > 0 { tone } else { Tone::Muted });
        let row = table.row(vec![
            Cell::new(a.as_str()),
            Cell::new(b.as_str()),
            Cell::new(kept + removed),
            Cell::new(kept),
            count(added, Tone::Good),
            count(removed, Tone::Bad),
            Cell::new(kept + added),
        ]);
        row.sentence = Phrase::new()
            .answer(format!("> {a} and {b}"))
            .muted("  circuits before ")
            .text((kept + removed).to_string())
            .muted(", after ")
            .answer((kept + added).to_string())
            .muted(format!("; {kept} kept, {added} added, {removed} removed"));
    }
    Section::new("Pairs of pods", table).answer(answer)
}
