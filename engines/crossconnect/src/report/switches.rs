//! Changes of each switch, and its circuits by pod.

use super::{OVERVIEW, words};
use crate::plan::Changes;
use crate::rollout::explained::{ChangeFacts, Switch, SwitchCell};
use crate::scenario::{CrossconnectScenario, Wiring};
use lightbay_core::report::{Cell, Column, Matrix, Phrase, Section, Table, Tone, Unavailable, Unit};
use std::cmp::Reverse;

/// Every switch; those with most changes first if not all fit an overview.
pub(super) fn section(changes: &Changes, facts: &ChangeFacts) -> Section {
    let has_lost = facts.switches.iter().any(|switch| switch.forced > 0);
    let mut columns = vec![
        Column::counts("ocs_id", "OCS"),
        Column::counts("kept", "keep"),
        Column::counts("added", "add"),
        Column::counts("removed", "rem"),
    ];
    if has_lost {
        columns.push(Column::counts("lost", "lost").priority(1));
    }
    let mut rows: Vec<(u32, &Switch)> =
        changes.ocs.iter().map(|ocs| ocs.ocs_id).zip(&facts.switches).collect();
    if rows.len() > OVERVIEW {
        let moved = |switch: &Switch| switch.add + switch.remove + switch.forced;
        rows.sort_by_key(|(id, switch)| (Reverse(moved(switch)), *id));
    }
    let mut table = Table::new(["switch", "switches"], columns).overview(OVERVIEW).bar(3);
    for (id, switch) in rows {
        let mut cells = vec![
            Cell::new(id),
            Cell::new(switch.keep).tone(Tone::Muted),
            counted(switch.add, Tone::Good),
            counted(switch.remove, Tone::Bad),
        ];
        if has_lost {
            cells.push(counted(switch.forced, Tone::Warn));
        }
        let row = table.row(cells);
        (row.item, row.sentence) = (Some(id), sentence(id, switch));
    }
    let answer = Phrase::new()
        .answer(facts.touched().to_string())
        .muted(format!(" of {} change", facts.switches.len()));
    let usual = changes.ocs.get(facts.usual_switch()).map(|ocs| ocs.ocs_id);
    Section::new("Switches", table).context(sums(facts)).answer(answer).usual(usual)
}

/// A count in the colour of its meaning; nothing is of little interest.
fn counted(count: u32, tone: Tone) -> Cell {
    Cell::new(count).tone(if count > 0 { tone } else { Tone::Muted })
}

/// `all 197 +59 −59 !1 at failed ports`.
fn sums(facts: &ChangeFacts) -> Phrase {
    let sum = |of: fn(&Switch) -> u32| facts.switches.iter().map(|switch| u64::from(of(switch))).sum::<u64>();
    let phrase = if facts.green_field { Phrase::new().muted("green field  ") } else { Phrase::new() };
    let phrase = phrase
        .muted("all ")
        .text(sum(|switch| switch.keep).to_string())
        .good(format!(" +{}", sum(|switch| switch.add)))
        .bad(format!(" −{}", sum(|switch| switch.remove)));
    match sum(|switch| switch.forced) {
        0 => phrase,
        lost => phrase.with(format!(" !{lost} at failed ports"), Tone::Warn),
    }
}

fn sentence(id: u32, switch: &Switch) -> Phrase {
    let phrase = Phrase::new().answer(format!("> OCS {id}"));
    if switch.add + switch.remove + switch.forced == 0 {
        return phrase.muted(format!("  nothing changes, {} stay", words::circuits(switch.keep.into())));
    }
    let phrase = phrase
        .muted("  keeps ")
        .text(switch.keep.to_string())
        .muted("  adds ")
        .good(switch.add.to_string())
        .muted("  removes ")
        .bad(switch.remove.to_string());
    match switch.forced {
        0 => phrase,
        lost => phrase.with(format!("  {lost} lost at failed ports"), Tone::Warn),
    }
}

/// Circuits of a switch, pod by pod.
pub(super) fn detail(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    facts: &ChangeFacts,
    id: u32,
) -> Result<Section, Unavailable> {
    let at = changes.ocs.iter().position(|ocs| ocs.ocs_id == id);
    let Some((switch, ocs)) = at.and_then(|at| Some((facts.switches.get(at)?, changes.ocs.get(at)?))) else {
        let count = changes.ocs.len();
        return Err(Unavailable::absent(
            format!("the hall has {count} switches, not number {id}"),
            "name one of them",
        ));
    };
    let pods = facts.pods;
    let mut cells = vec![Cell::new("·").tone(Tone::Muted); pods * pods];
    for cell in &switch.cells {
        if let Some(place) = cells.get_mut(cell.a as usize * pods + cell.b as usize) {
            *place = sign(cell);
        }
    }
    let names: Vec<String> = (0..pods).map(|pod| pod.to_string()).collect();
    let matrix = Matrix {
        name: "circuits",
        unit: Unit::COUNT,
        rows: names.clone(),
        columns: names,
        cells,
        words: (0..pods as u32).map(|pod| row_words(switch.of_pod(pod))).collect(),
        ..Matrix::default()
    };
    let axes = match scenario.wiring {
        Wiring::SingleSided => "any two ports",
        Wiring::TwoSided | Wiring::CrossWired => "A pod down, B across",
    };
    let legend =
        Phrase::new().muted("● keep  ").good("+").muted(" add  ").bad("−").muted(format!(" remove   {axes}"));
    let section = Section::new(format!("OCS {id}"), matrix).context(legend);
    let entries = ocs.cross_connects.iter().map(|entry| words::entry(scenario, entry));
    Ok(words::port_legend(scenario, id).into_iter().chain(entries).fold(section, Section::remark))
}

fn sign(cell: &SwitchCell) -> Cell {
    let many = |sign: &str, count: u32| if count > 1 { format!("{sign}{count}") } else { sign.to_owned() };
    match (cell.add, cell.remove) {
        (0, 0) => Cell::new(many("●", cell.keep)),
        (0, remove) => Cell::new(many("−", remove)).tone(Tone::Bad),
        (add, _) => Cell::new(many("+", add)).tone(Tone::Good),
    }
}

/// `→ 11 was  1`: the circuits of a pod.
fn row_words(cells: &[SwitchCell]) -> Phrase {
    let count = |of: fn(&SwitchCell) -> u32| cells.iter().map(of).sum::<u32>();
    let (keep, add, remove) = (count(|cell| cell.keep), count(|cell| cell.add), count(|cell| cell.remove));
    // With several circuits of a pod numbers say more than names.
    if keep + add.max(remove) > 1 {
        let phrase = Phrase::new().muted(format!("{keep:>3}"));
        let phrase = if add > 0 { phrase.good(format!(" +{add}")) } else { phrase };
        return if remove > 0 { phrase.bad(format!(" −{remove}")) } else { phrase };
    }
    let end = |of: fn(&SwitchCell) -> u32| cells.iter().find(|cell| of(cell) > 0).map(|cell| cell.b);
    match (end(|cell| cell.keep), end(|cell| cell.add), end(|cell| cell.remove)) {
        (Some(kept), _, _) => Phrase::new().muted(format!("→ {kept:>2}")),
        (None, Some(added), Some(removed)) => {
            Phrase::new().muted("→ ").answer(format!("{added:>2}")).muted(format!(" was {removed:>2}"))
        }
        (None, Some(added), None) => Phrase::new().muted("→ ").answer(format!("{added:>2}")).muted(" new"),
        (None, None, Some(removed)) => Phrase::new().muted(format!("dark was {removed:>2}")),
        (None, None, None) => Phrase::new(),
    }
}
