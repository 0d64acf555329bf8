//! Changes of each switch.

use super::{OVERVIEW, switch, words};
use crate::plan::Changes;
use crate::rollout::explained::{BY_NUMBER, ChangeFacts, Switch};
use crate::scenario::CrossconnectScenario;
use lightbay_core::report::{Cell, Column, Panel, Phrase, Section, Table, Tone};
use std::cmp::Reverse;

/// Maximum numbers of pods and of switches for which switches are drawn as small pictures.
const MOST_PODS: usize = 128;
const MOST_PANELS: usize = 64;

/// Returns the section on every switch; switches with most changes come first if not all fit an overview.
pub(super) fn section(scenario: &CrossconnectScenario, changes: &Changes, facts: &ChangeFacts) -> Section {
    let has_lost = facts.switches.iter().any(|switch| switch.forced > 0);
    let mut columns = vec![
        Column::counts("ocs_id", "OCS"),
        Column::counts("kept", "keep"),
        Column::counts("added", "add"),
        Column::counts("removed", "rem"),
    ];
    let has_names = !scenario.panels.is_empty();
    if has_names {
        columns.insert(1, Column::words("name", "switch"));
    }
    if has_lost {
        columns.push(Column::counts("lost", "lost").priority(1));
    }
    let mut rows: Vec<(u32, &Switch)> =
        changes.ocs.iter().map(|ocs| ocs.ocs_id).zip(&facts.switches).collect();
    if rows.len() > BY_NUMBER {
        let moved = |switch: &Switch| switch.add + switch.remove + switch.forced;
        rows.sort_by_key(|(id, switch)| (Reverse(moved(switch)), *id));
    }
    let mut table =
        Table::new(["switch", "switches"], columns).overview(OVERVIEW).bar(if has_names { 4 } else { 3 });
    // The scale ends at the largest number of installed circuits, so that it stays from plan to plan.
    let installed = |(_, switch): &(u32, &Switch)| switch.keep + switch.remove + switch.forced;
    table.full = rows.iter().map(installed).max().filter(|most| *most > 0).map(f64::from);
    for (id, switch) in rows {
        let mut cells = vec![
            Cell::new(id),
            Cell::new(switch.keep).tone(Tone::Muted),
            counted(switch.add, Tone::Good),
            counted(switch.remove, Tone::Bad),
        ];
        if has_names {
            cells.insert(1, Cell::new(scenario.ocs_name(id)));
        }
        if has_lost {
            cells.push(counted(switch.forced, Tone::Warn));
        }
        let row = table.row(cells);
        (row.item, row.sentence) = (Some(id), sentence(&scenario.ocs_name(id), switch));
    }
    let panels = panels(scenario, &table, changes, facts);
    let legend = if panels.is_empty() {
        Phrase::new()
    } else {
        Phrase::new()
            .muted("● keep  ")
            .good("+ add  ")
            .bad("− remove")
            .muted("   switches that change; rows: pods of side A, columns: pods of side B")
    };
    let answer = Phrase::new()
        .answer(facts.touched().to_string())
        .muted(format!(" of {} change", facts.switches.len()));
    let usual = changes.ocs.get(facts.usual_switch()).map(|ocs| ocs.ocs_id);
    Section::new("Switches", table)
        .context(sums(facts))
        .answer(answer)
        .legend(legend)
        .usual(usual)
        .panels(panels)
}

/// Returns a small picture for every switch that changes, in the order of the rows; none if there are too many cells.
fn panels(
    scenario: &CrossconnectScenario,
    table: &Table,
    changes: &Changes,
    facts: &ChangeFacts,
) -> Vec<Panel> {
    if facts.pods > MOST_PODS {
        return Vec::new();
    }
    let of = |id: u32| {
        let at = changes.ocs.iter().position(|ocs| ocs.ocs_id == id)?;
        let switch =
            facts.switches.get(at).filter(|switch| switch.add + switch.remove + switch.forced > 0)?;
        let title = Phrase::new()
            .text(scenario.ocs_name(id))
            .good(format!(" +{}", switch.add))
            .bad(format!(" −{}", switch.remove));
        let title = match switch.forced {
            0 => title,
            lost => title.with(format!(" !{lost}"), Tone::Warn),
        };
        Some(Panel { item: id, title, columns: facts.pods, signs: switch::signs(facts.pods, switch) })
    };
    table.rows.iter().filter_map(|row| of(row.item?)).take(MOST_PANELS).collect()
}

/// Returns a table cell with a count, in the colour `tone`; a 0 is muted.
fn counted(count: u32, tone: Tone) -> Cell {
    Cell::new(count).tone(if count > 0 { tone } else { Tone::Muted })
}

/// Returns a phrase with the sums, such as `all 197 +59 −59 !1 at failed ports`.
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

fn sentence(name: &str, switch: &Switch) -> Phrase {
    let phrase = Phrase::new().answer(format!("> {name}"));
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
