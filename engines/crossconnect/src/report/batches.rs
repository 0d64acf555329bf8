//! Batches of a change in the order in which they are made, and the changes of each.

use super::{OVERVIEW, words};
use crate::plan::{Action, Changes};
use crate::rollout::caveat::{self, Warning};
use crate::rollout::explained::{BatchFacts, ChangeFacts, entry};
use crate::scenario::CrossconnectScenario;
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Tone, Unavailable};

/// Returns the section on all batches, in the order in which they are made.
pub(super) fn section(scenario: &CrossconnectScenario, changes: &Changes, facts: &ChangeFacts) -> Section {
    let cut = caveat::cut_pairs(scenario, changes);
    let pairs_of =
        |number| cut.iter().find(|(batch, _)| *batch == number).map_or(0, |(_, pairs)| pairs.len());
    let columns = vec![
        Column::counts("batch", "batch"),
        Column::words("switches", "switches"),
        Column::counts("removed", "rem"),
        Column::counts("added", "add"),
        Column::counts("dark_circuits", "dark").priority(1),
        Column::words("most_dark", "most dark").priority(2),
        Column::counts("pairs_cut_off", "cut off").priority(3),
    ];
    let mut table = Table::new(["batch", "batches"], columns).overview(OVERVIEW);
    for (number, batch) in facts.batches.iter().enumerate() {
        let worst = match batch.worst {
            Some((pod, missing, of)) => {
                Cell::new(format!("{}  {missing} of {of}", scenario.pod_name(pod as usize)))
            }
            None => Cell::new("none dark").tone(Tone::Muted),
        };
        let cut_off = pairs_of(number);
        let row = table.row(vec![
            Cell::new(number + 1),
            Cell::new(words::switches(&batch.switches)),
            Cell::new(batch.removals).tone(Tone::Bad),
            Cell::new(batch.additions).tone(Tone::Good),
            Cell::new(batch.dark),
            worst,
            Cell::new(cut_off).tone(if cut_off > 0 { Tone::Warn } else { Tone::Muted }),
        ]);
        row.item = Some(number as u32 + 1);
        row.sentence = sentence(scenario, number, batch);
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
        answer = answer.bad(format!(", {}", warning.short));
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

fn sentence(scenario: &CrossconnectScenario, number: usize, batch: &BatchFacts) -> Phrase {
    let phrase = Phrase::new()
        .answer(format!("> batch {}", number + 1))
        .muted("  takes down ")
        .bad(batch.removals.to_string())
        .muted(", then sets up ")
        .good(batch.additions.to_string())
        .muted(format!("; {} dark during it", words::circuits(batch.dark)));
    match batch.worst {
        Some((pod, missing, of)) => {
            phrase.muted(format!(", {} lacks {missing} of {of}", scenario.pod_name(pod as usize)))
        }
        None => phrase,
    }
}

/// Returns the section on the changes of the batch with this number, counted from 1: removals first.
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
    let mut columns = vec![
        Column::words("action", ""),
        Column::words("ocs_id", ""),
        Column::words("from", ""),
        Column::words("to", ""),
    ];
    if !lost.is_empty() {
        columns.push(Column::words("lost", ""));
    }
    let mut table = Table::new(["change", "changes"], columns);
    for (at, entry) in batch.changes.iter().filter_map(|at| Some((at, entry(changes, *at)?))) {
        let (sign, tone) =
            if entry.action == Action::Remove { ("−", Tone::Bad) } else { ("+", Tone::Good) };
        let end = |side, pod, index, on_switch| format!("{} ({on_switch})", words::port(side, pod, index));
        let is_lost = lost.contains(at);
        let mut cells = vec![
            Cell::new(if is_lost { "!" } else { sign }).tone(if is_lost { Tone::Warn } else { tone }),
            Cell::new(scenario.ocs_name(at.ocs_id)).tone(Tone::Muted),
            Cell::new(end(a, entry.pod_a, entry.port_a_index, entry.switch_port_a)),
            Cell::new(end(b, entry.pod_b, entry.port_b_index, entry.switch_port_b)),
        ];
        if !lost.is_empty() {
            let words = if is_lost { "lost: a port failed, nothing to send" } else { "" };
            cells.push(Cell::new(words).tone(Tone::Warn));
        }
        table.row(cells).sentence = words::entry(scenario, entry).into();
    }
    let first = batch.changes.first().map_or(0, |at| at.ocs_id);
    let section = Section::new(format!("batch {number}"), table)
        .context(Phrase::new().muted("removals first; (n): port on its OCS side; i: names by vendor"))
        .remark(format!("Names of ports, with {} as the example:", scenario.ocs_name(first)));
    Ok(words::port_legend(scenario, first).into_iter().fold(section, Section::remark))
}
