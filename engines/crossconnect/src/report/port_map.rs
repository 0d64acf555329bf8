//! The port map: every port of every switch by its number, with pod, name and state.

use super::OVERVIEW;
use crate::files::exports::port_map::lines;
use crate::plan::Changes;
use crate::scenario::CrossconnectScenario;
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Tone};

/// Returns the section on every port, in its state after the plan or as installed.
pub(super) fn section(scenario: &CrossconnectScenario, changes: Option<&Changes>) -> Section {
    let columns = vec![
        Column::words("switch", "switch"),
        Column::counts("port", "no."),
        Column::words("state", "state"),
        Column::words("pod", "pod"),
        Column::words("pod_port", "port").priority(1),
        Column::words("side", "side").priority(3),
        Column::words("label", "label").priority(2),
    ];
    let mut table = Table::new(["port", "ports"], columns).overview(OVERVIEW);
    let (mut spare, mut failed, mut count) = (0u64, 0u64, 0u64);
    for [switch, port, side, pod, pod_port, label, state] in lines(scenario, changes) {
        count += 1;
        spare += u64::from(pod.is_empty());
        failed += u64::from(state.starts_with("failed"));
        let tone = match state.as_str() {
            failed if failed.starts_with("failed") => Tone::Bad,
            "free" | "" => Tone::Muted,
            _ => Tone::Text,
        };
        let state = if pod.is_empty() && state.is_empty() { "spare".to_owned() } else { state };
        // A switch without a name of its own is called as in the other sections.
        let switch = switch.strip_prefix("ocs-").map_or_else(|| switch.clone(), |id| format!("OCS {id}"));
        let side = side.to_uppercase();
        let sentence = Phrase::new()
            .answer(format!("> {switch} port {port}"))
            .text(format!("  {state}"))
            .muted(format!("  {pod} {side} port {pod_port}  {label}"));
        let row = table.row(vec![
            Cell::new(switch),
            Cell::new(port.parse::<u32>().unwrap_or_default()),
            Cell::new(state).tone(tone),
            Cell::new(pod.as_str()),
            Cell::new(pod_port),
            Cell::new(side),
            Cell::new(label),
        ]);
        // A spare port has no end at a pod.
        row.sentence = if pod.is_empty() { Phrase::new() } else { sentence };
    }
    let answer = Phrase::new()
        .answer(counted(count, "port", "ports"))
        .muted(format!(", {spare} without a pod, {failed} failed"));
    let when = if changes.is_some() { "after the plan" } else { "as installed" };
    Section::new("Port map", table).answer(answer).remark(format!(
        "State {when}: `to N` is a circuit to port N of the same switch; `spare` is a port without a pod. `--to port_map` writes this table, `import port_map` reads it."
    ))
}
