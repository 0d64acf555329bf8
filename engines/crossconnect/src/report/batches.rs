//! Batches of a change in the order in which they are made, and the ports that each changes.

use super::{OVERVIEW, words};
use crate::plan::{Action, Changes, Entry, EntryRef};
use crate::rollout::caveat::{self, Warning};
use crate::rollout::explained::{BatchFacts, ChangeFacts, entry};
use crate::scenario::CrossconnectScenario;
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Tone, Unavailable};
use std::collections::BTreeMap;

/// An entry of the plan with its place, if there is one.
type PlacedEntry<'e> = Option<(EntryRef, &'e Entry)>;

/// Returns the section on all batches, in the order in which they are made.
pub(super) fn section(scenario: &CrossconnectScenario, changes: &Changes, facts: &ChangeFacts) -> Section {
    let cut = caveat::cut_pairs(scenario, changes);
    let dead = caveat::dead_removals(scenario, changes);
    let columns = vec![
        Column::counts("batch", "batch"),
        Column::counts("removed", "rem"),
        Column::counts("added", "add"),
        Column::counts("dark_circuits", "dark").priority(1),
        Column::words("most_dark", "most dark").priority(2),
        Column::counts("pairs_cut_off", "cut off").priority(3),
        // At the right, a longer list moves no number.
        Column::words("switches", "switches"),
    ];
    let mut table = Table::new(["batch", "batches"], columns).overview(OVERVIEW);
    for (number, batch) in facts.batches.iter().enumerate() {
        let worst = match batch.worst {
            Some((pod, missing, of)) => {
                Cell::new(format!("{}  {missing} of {of}", scenario.pod_name(pod as usize)))
            }
            None => Cell::new("none dark").tone(Tone::Muted),
        };
        // No command removes circuits that failed ports have taken down.
        let changed = changes.batches.get(number).map_or(&[][..], |batch| &batch.changes);
        let lost = changed.iter().filter(|at| dead.contains(at)).count() as u32;
        let pairs = cut.iter().find(|(batch, _)| *batch == number).map_or(&[][..], |(_, pairs)| pairs);
        let row = table.row(vec![
            Cell::new(number + 1),
            Cell::new(batch.removals - lost).tone(Tone::Bad),
            Cell::new(batch.additions).tone(Tone::Good),
            Cell::new(batch.dark),
            worst,
            Cell::new(pairs.len()).tone(if pairs.is_empty() { Tone::Muted } else { Tone::Warn }),
            Cell::new(words::switches(&batch.switches)),
        ]);
        row.item = Some(number as u32 + 1);
        row.sentence = sentence(scenario, number, batch, lost, pairs);
    }
    let warnings = Warning::all(scenario, changes);
    let forced: u32 = facts.switches.iter().map(|switch| switch.forced).sum();
    let context = match forced {
        0 => String::new(),
        _ => format!("{forced} of {} lost at failed ports, not counted", {
            facts.removed() + u64::from(forced)
        }),
    };
    let section = Section::new("Batches", table).answer(answer(scenario, facts, &warnings)).context(context);
    warnings.into_iter().fold(section, |section, warning| section.remark(warning.text))
}

/// Returns a phrase on the number of batches, their warnings, and the maximum number of circuits that a pod lacks.
fn answer(scenario: &CrossconnectScenario, facts: &ChangeFacts, warnings: &[Warning]) -> Phrase {
    let mut answer = Phrase::new().answer(counted(facts.batches.len() as u64, "batch", "batches"));
    for warning in warnings {
        answer = answer.with(format!(", {}", warning.short), Tone::Warn);
    }
    let most = facts.batches.iter().filter_map(|batch| batch.worst).map(|(_, missing, _)| missing).max();
    answer = match most {
        Some(most) => answer.muted(", a pod lacks at most ").answer(most.to_string()).muted(if most == 1 {
            " circuit"
        } else {
            " circuits"
        }),
        None => answer.muted(", no pod lacks a circuit"),
    };
    match u64::from(scenario.rollout.max_dark_per_pod) {
        0 => answer,
        limit if most.is_some_and(|most| most > limit) => answer.bad(format!(" above the limit of {limit}")),
        limit => answer.muted(format!(", limit {limit}")),
    }
}

fn sentence(
    scenario: &CrossconnectScenario,
    number: usize,
    batch: &BatchFacts,
    lost: u32,
    cut_off: &[caveat::Pair],
) -> Phrase {
    // What the row does not contain comes first.
    let name = |pod: u32| scenario.pod_name(pod as usize);
    let phrase = Phrase::new().answer(format!("> batch {} ", number + 1));
    let phrase = match batch.worst {
        Some((pod, missing, of)) => phrase.muted(format!(" {} lacks {missing} of {of};", name(pod))),
        None => phrase,
    };
    let phrase = match cut_off.len() as u64 {
        0 => phrase,
        count => phrase
            .with(format!(" ! {} cut off", counted(count, "pair", "pairs")), Tone::Warn)
            .muted(" (set min_pair_share);"),
    };
    let phrase = phrase.muted(" takes down ").bad((batch.removals - lost).to_string());
    let phrase = if lost > 0 { phrase.with(format!(" ({lost} lost already)"), Tone::Warn) } else { phrase };
    let phrase = phrase.muted(", then sets up ").good(batch.additions.to_string());
    let phrase = phrase.muted(format!("; {} dark", batch.dark));
    // The names may be many.
    match caveat::few(cut_off.iter().map(|(i, j)| format!("{} and {}", name(*i), name(*j)))).as_str() {
        "" => phrase,
        pairs => phrase.muted(format!("; cut off: {pairs}")),
    }
}

/// Returns the section on the ports that the batch with this number, counted from 1, changes.
pub(super) fn detail(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    number: u32,
) -> Result<Section, Unavailable> {
    let batch = (number as usize).checked_sub(1).and_then(|at| changes.batches.get(at)).ok_or_else(|| {
        let count = counted(changes.batches.len() as u64, "batch", "batches");
        Unavailable::absent(
            format!("batch {number} does not exist; the plan has {count}"),
            "name one of them",
        )
    })?;
    let (a, b) = words::sides(scenario.wiring);
    let lost = caveat::dead_removals(scenario, changes);
    let columns = vec![
        Column::words("ocs_id", "switch"),
        Column::words("port_a", format!("{a} port")),
        Column::words("removed_port_b", "removed"),
        Column::words("added_port_b", "added"),
    ];
    // Removal and addition of every A port.
    let mut ports: BTreeMap<(u32, u32, u32), [PlacedEntry<'_>; 2]> = BTreeMap::new();
    for (at, entry) in batch.changes.iter().filter_map(|at| Some((at, entry(changes, *at)?))) {
        let port = ports.entry((at.ocs_id, entry.pod_a, entry.port_a_index)).or_default();
        port[usize::from(entry.action == Action::Add)] = Some((*at, entry));
    }
    let mut table = Table::new(["port", "ports"], columns);
    for ((ocs_id, pod, index), [removed, added]) in ports {
        let end = |side, pod, index, number| format!("{} ({number})", words::port(side, pod, index));
        let far = |entry: PlacedEntry<'_>, sign: &str, tone| {
            entry.map_or_else(Cell::none, |(_, entry)| {
                let end = end(b, entry.pod_b, entry.port_b_index, entry.switch_port_b);
                Cell::new(format!("{sign} {end}")).tone(tone)
            })
        };
        let Some((_, first)) = removed.or(added) else { continue };
        let is_lost = removed.is_some_and(|(at, _)| lost.contains(&at));
        let cells = vec![
            Cell::new(scenario.ocs_name(ocs_id)).tone(Tone::Muted),
            Cell::new(end(a, pod, index, first.switch_port_a)),
            far(removed, if is_lost { "!" } else { "−" }, if is_lost { Tone::Warn } else { Tone::Bad }),
            if is_lost && added.is_none() {
                Cell::new("lost: port failed").tone(Tone::Warn)
            } else {
                far(added, "+", Tone::Good)
            },
        ];
        let both = [removed, added].into_iter().flatten();
        let mut both: Vec<String> = both.map(|(_, entry)| words::entry(scenario, entry)).collect();
        both.extend(is_lost.then(|| "lost at a failed port, no command removes it".to_owned()));
        table.row(cells).sentence = both.join(", ").into();
    }
    let first = batch.changes.first().map_or(0, |at| at.ocs_id);
    let section = Section::new(format!("batch {number}"), table)
        .context(Phrase::new().muted("removals first; (n): port on its OCS side; i: names by vendor"))
        .remark(format!("Names of ports, with {} as the example:", scenario.ocs_name(first)));
    Ok(words::port_legend(scenario, first).into_iter().fold(section, Section::remark))
}
