//! One switch: its kept, added and removed circuits, pod by pod and port by port.

use super::words;
use crate::plan::{Action, Changes, Entry};
use crate::rollout::explained::{ChangeFacts, Switch, SwitchCell};
use crate::scenario::{CrossconnectScenario, Wiring};
use lightbay_core::report::{
    About, Cell, CellSign, Column, Matrix, Phrase, Section, Table, Tone, Unavailable, Unit,
};

/// The forms of the section; a screen shows one form at a time.
pub const FORMS: &[&str] = &["pods", "ports", "changed_ports"];

/// The forms with a row for every port.
const PORTS: &[&str] = &["ports"];
const CHANGED: &[&str] = &["changed_ports"];

/// Maximum number of lines in the details of a pod; exported files list all circuits.
const LINES: usize = 500;

/// Maximum number of entries in the sentence on a pod.
const ENTRIES: usize = 12;

/// Returns the section on the circuits of a switch, pod by pod and port by port.
pub(super) fn section(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    facts: &ChangeFacts,
    id: u32,
) -> Result<Section, Unavailable> {
    let at = changes.ocs.iter().position(|ocs| ocs.ocs_id == id);
    let Some((switch, ocs)) = at.and_then(|at| Some((facts.switches.get(at)?, changes.ocs.get(at)?))) else {
        let count = changes.ocs.len();
        return Err(Unavailable::absent(
            format!("switch {id} does not exist; the fabric has {count} switches"),
            "name one of them",
        ));
    };
    let entries = ocs.cross_connects.as_slice();
    let axes = match scenario.wiring {
        Wiring::SingleSided => "any two ports",
        Wiring::TwoSided | Wiring::CrossWired => "rows A and columns B",
    };
    let context =
        Phrase::new().muted("● keep  ").good("+").muted(" add  ").bad("−").muted(format!(" remove   {axes}"));
    let context = if facts.green_field { context.muted("   green field") } else { context };
    let section = Section::empty(scenario.ocs_name(id))
        .context(context)
        .answer(answer(id, switch))
        .sentence(if entries.is_empty() {
            Phrase::new().muted("no circuit on this switch")
        } else {
            Phrase::new()
        })
        .usual(usual(switch, facts.pods))
        .block(FORMS[0], "Pods", pods(scenario, facts.pods, switch, entries, id))
        .block(FORMS[1], "Ports", ports(scenario, facts.pods, entries, false))
        .only_in(PORTS)
        .on_screens(FORMS[2], "Changed ports", ports(scenario, facts.pods, entries, true))
        .only_in(CHANGED);
    let entries = entries.iter().map(|entry| words::entry(scenario, entry));
    Ok(words::port_legend(scenario, id).into_iter().chain(entries).fold(section, Section::remark))
}

/// Returns a phrase such as `OCS 6  keep 6 +10 −10 !1`: kept, added and removed circuits, and removals that failed
/// ports force.
fn answer(id: u32, switch: &Switch) -> Phrase {
    let phrase = Phrase::new()
        .answer(format!("OCS {id}"))
        .muted("  keep ")
        .text(switch.keep.to_string())
        .good(format!(" +{}", switch.add))
        .bad(format!(" −{}", switch.remove));
    match switch.forced {
        0 => phrase,
        lost => phrase.with(format!(" !{lost}"), Tone::Warn),
    }
}

/// Returns the cell that a screen selects first: the first one that changes, otherwise the first one with a circuit;
/// `None` without circuits.
fn usual(switch: &Switch, pods: usize) -> Option<u32> {
    let item = |cell: &SwitchCell| cell.a * pods as u32 + cell.b;
    let changes = |cell: &&SwitchCell| cell.add + cell.remove > 0;
    switch.cells.iter().find(changes).or(switch.cells.first()).map(item)
}

/// Returns the circuits of a switch by pods of both sides, row by row.
pub(super) fn signs(pods: usize, switch: &Switch) -> Vec<CellSign> {
    let mut signs = vec![CellSign::None; pods * pods];
    for cell in &switch.cells {
        if let Some(place) = signs.get_mut(cell.a as usize * pods + cell.b as usize) {
            *place = sign(cell);
        }
    }
    signs
}

/// Returns the matrix of circuits by pods of both sides.
fn pods(scenario: &CrossconnectScenario, pods: usize, switch: &Switch, entries: &[Entry], id: u32) -> Matrix {
    let signs = signs(pods, switch);
    let mut about = vec![About::default(); pods * pods];
    for pod in 0..pods as u32 {
        let own = switch.of_pod(pod);
        if own.is_empty() {
            continue;
        }
        let sentence = of_pod(scenario, entries, pod);
        let details = details(scenario, entries, id, pod);
        for cell in own {
            let at = cell.a as usize * pods + cell.b as usize;
            if let Some(words) = about.get_mut(at) {
                let (sentence, details) = (sentence.clone(), details.clone());
                *words = About { item: Some(at as u32), sentence, details };
            }
        }
    }
    let names: Vec<String> = (0..pods).map(|pod| pod.to_string()).collect();
    Matrix {
        name: "circuits",
        unit: Unit::COUNT,
        rows: names.clone(),
        columns: names,
        cells: signs.iter().map(|sign| sign.cell()).collect(),
        signs,
        about,
        words: (0..pods as u32).map(|pod| row_words(switch.of_pod(pod))).collect(),
        ..Matrix::default()
    }
}

/// Returns a phrase such as `> pod 3  A 3.0 (4)  remove B 11.0 (12)  add B 1.0 (2)`.
fn of_pod(scenario: &CrossconnectScenario, entries: &[Entry], pod: u32) -> Phrase {
    let (a, b) = words::sides(scenario.wiring);
    let mut phrase = Phrase::new().answer(format!("> {}", scenario.pod_name(pod as usize)));
    let mut panel = None;
    for entry in entries.iter().filter(|entry| entry.pod_a == pod).take(ENTRIES) {
        if panel != Some(entry.switch_port_a) {
            panel = Some(entry.switch_port_a);
            let near = words::port(a, pod, entry.port_a_index);
            phrase = phrase.text(format!("  {near}")).muted(format!(" ({})", entry.switch_port_a));
        }
        let far = words::port(b, entry.pod_b, entry.port_b_index);
        phrase = phrase
            .with(format!("  {} {far}", entry.action.word()), tone(entry.action))
            .muted(format!(" ({})", entry.switch_port_b));
    }
    phrase
}

fn details(scenario: &CrossconnectScenario, entries: &[Entry], id: u32, pod: u32) -> Vec<String> {
    let all = entries.iter().filter(|entry| entry.pod_a == pod || entry.pod_b == pod);
    let mut lines = vec![scenario.ocs_name(id)];
    lines.extend(words::port_legend(scenario, id));
    lines.extend(all.clone().take(LINES).map(|entry| words::entry(scenario, entry)));
    let rest = all.count().saturating_sub(LINES);
    if rest > 0 {
        lines.push(format!("and {rest} more; export csv lists all"));
    }
    lines
}

/// Returns a table with a row for every A port in use, or only for the ports that change: the far end of the port after
/// and before the change.
fn ports(scenario: &CrossconnectScenario, pods: usize, entries: &[Entry], changed: bool) -> Table {
    let (a, b) = words::sides(scenario.wiring);
    let [end, number] = ["port", "no."].map(|of| move |side: char| format!("{side} {of}"));
    let columns = vec![
        Column::words("port_a", end(a)),
        Column::counts("switch_port_a", number(a)),
        Column::words("port_b", end(b)),
        Column::counts("switch_port_b", number(b)),
        Column::words("was_port_b", "was").priority(1),
        Column::counts("was_switch_port_b", number(b)).priority(2),
        Column::words("action", "").priority(3),
    ];
    let mut table = Table::new(["port", "ports"], columns);
    let same =
        |one: &Entry, other: &Entry| (one.pod_a, one.port_a_index) == (other.pod_a, other.port_a_index);
    for port in entries.chunk_by(same) {
        let find = |action: Action| port.iter().find(|entry| entry.action == action);
        let (keep, add, remove) = (find(Action::Keep), find(Action::Add), find(Action::Remove));
        if changed && add.is_none() && remove.is_none() {
            continue;
        }
        let Some(first) = port.first() else { continue };
        let now = keep.or(add);
        let (word, tone) = match (keep, add, remove) {
            (Some(_), _, _) => ("keep", Tone::Muted),
            (None, Some(_), Some(_)) => ("move", Tone::Good),
            (None, Some(_), None) => ("add", Tone::Good),
            (None, None, _) => ("remove", Tone::Bad),
        };
        let far = |entry: Option<&Entry>, tone: Tone| match entry {
            Some(entry) => [
                Cell::new(words::port(b, entry.pod_b, entry.port_b_index)).tone(tone),
                Cell::new(entry.switch_port_b).tone(Tone::Muted),
            ],
            None => [Cell::none(), Cell::none()],
        };
        let mut cells = vec![
            Cell::new(words::port(a, first.pod_a, first.port_a_index)),
            Cell::new(first.switch_port_a).tone(Tone::Muted),
        ];
        cells.extend(far(now, tone));
        cells.extend(far(remove, Tone::Bad));
        cells.push(Cell::new(word).tone(tone));
        // Items of ports differ from those of cells, so that no port is selected for a cell.
        let item = (pods * pods + table.rows.len()) as u32;
        let behind: Vec<&Entry> = [remove, now].into_iter().flatten().collect();
        let near = words::port(a, first.pod_a, first.port_a_index);
        let mut sentence =
            Phrase::new().answer(format!("> {near}")).muted(format!(" ({})", first.switch_port_a));
        for entry in &behind {
            let far = words::port(b, entry.pod_b, entry.port_b_index);
            sentence = sentence
                .with(format!("  {} {far}", entry.action.word()), self::tone(entry.action))
                .muted(format!(" ({})", entry.switch_port_b));
        }
        let row = table.row(cells);
        (row.item, row.sentence) = (Some(item), sentence);
        row.details = behind.iter().map(|entry| words::entry(scenario, entry)).collect();
    }
    if table.rows.is_empty() && changed {
        let mut cells = vec![Cell::new("nothing changes on this switch").tone(Tone::Muted)];
        cells.resize_with(table.columns.len(), || Cell::new(""));
        table.row(cells);
    }
    table
}

const fn tone(action: Action) -> Tone {
    match action {
        Action::Keep => Tone::Muted,
        Action::Add => Tone::Good,
        Action::Remove => Tone::Bad,
    }
}

fn sign(cell: &SwitchCell) -> CellSign {
    match (cell.add, cell.remove) {
        (0, 0) => CellSign::Stays(cell.keep),
        (0, remove) => CellSign::Goes(remove),
        (add, _) => CellSign::Comes(add),
    }
}

/// Returns a phrase on the circuits of a pod, such as `to 11 was  1` (now to pod 11, before to pod 1).
fn row_words(cells: &[SwitchCell]) -> Phrase {
    let count = |of: fn(&SwitchCell) -> u32| cells.iter().map(of).sum::<u32>();
    let (keep, add, remove) = (count(|cell| cell.keep), count(|cell| cell.add), count(|cell| cell.remove));
    // If a pod has several circuits, numbers are clearer than names.
    if keep + add.max(remove) > 1 {
        let phrase = Phrase::new().muted(format!("{keep:>3}"));
        let phrase = if add > 0 { phrase.good(format!(" +{add}")) } else { phrase };
        return if remove > 0 { phrase.bad(format!(" −{remove}")) } else { phrase };
    }
    let end = |of: fn(&SwitchCell) -> u32| cells.iter().find(|cell| of(cell) > 0).map(|cell| cell.b);
    match (end(|cell| cell.keep), end(|cell| cell.add), end(|cell| cell.remove)) {
        (Some(kept), _, _) => Phrase::new().muted(format!("to {kept:>2}")),
        (None, Some(added), Some(removed)) => {
            Phrase::new().muted("to ").answer(format!("{added:>2}")).muted(format!(" was {removed:>2}"))
        }
        (None, Some(added), None) => Phrase::new().muted("to ").answer(format!("{added:>2}")).muted(" new"),
        (None, None, Some(removed)) => Phrase::new().muted(format!("dark was {removed:>2}")),
        (None, None, None) => Phrase::new(),
    }
}
