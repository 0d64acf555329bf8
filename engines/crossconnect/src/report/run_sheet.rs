//! The run sheet: for each step, the changes, the links that are down during the step, how to verify the step and how
//! to roll the step back.

use super::{OVERVIEW, words};
use crate::plan::{Action, Changes};
use crate::rollout::steps::{LiveAround, Step, steps};
use crate::scenario::CrossconnectScenario;
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Tone, Unavailable, Unit};

/// Returns the section on every step, with the pod that keeps the smallest fraction of its circuits.
pub(super) fn section(scenario: &CrossconnectScenario, changes: &Changes) -> Section {
    let all = steps(scenario, changes);
    let columns = vec![
        Column::counts("step", "step"),
        Column::words("switches", "switches"),
        Column::counts("down", "down"),
        Column::counts("up", "up"),
        Column::words("fewest_left", "fewest left").priority(1),
        Column::counts("pairs_cut_off", "cut off").priority(2),
        Column::words("back_to", "back to").priority(3),
    ];
    let mut table = Table::new(["step", "steps"], columns).overview(OVERVIEW);
    for (number, step) in (1u32..).zip(&all) {
        let [down, up] = step.counts();
        let worst = step.worst_pod().map_or_else(
            || Cell::new("none").tone(Tone::Muted),
            |(pod, live)| Cell::new(format!("{}  {}", scenario.pod_name(pod as usize), left(live))),
        );
        let cut = step.cut().count();
        let ids: Vec<u32> = step.switches.keys().copied().collect();
        let back = if number == 1 { "start".to_owned() } else { format!("step {}", number - 1) };
        let row = table.row(vec![
            Cell::new(number),
            Cell::new(switches(scenario, &ids)),
            Cell::new(down).tone(Tone::Bad),
            Cell::new(up).tone(Tone::Good),
            worst,
            Cell::new(cut).tone(if cut > 0 { Tone::Warn } else { Tone::Muted }),
            Cell::new(back).tone(Tone::Muted),
        ]);
        row.item = Some(number);
        row.sentence = Phrase::new()
            .answer(format!("> step {number}"))
            .muted(format!("  circuits in service during the step: {}", left(step.all)));
    }
    let least = all.iter().filter_map(Step::worst_pod).map(|(_, live)| live.share()).fold(1.0, f64::min);
    let answer = Phrase::new()
        .answer(counted(all.len() as u64, "step", "steps"))
        .muted(", a pod keeps at least ")
        .answer(format!("{:.0} %", 100.0 * least));
    Section::new("Run sheet", table)
        .answer(answer)
        .remark("To verify a step, save the state of every switch in a file named after the switch and run `lightbay import FORMAT PLAN FILES… -o now.json`; it prints which step is done and which ports differ.")
        .remark("To go back, undo the steps one by one, the last one first, with the rollback files; `--to run_sheet` writes the sheet with commands.")
}

/// Formats the circuits that are live during a step, such as `6 of 8 (75 %)`.
fn left(live: LiveAround) -> String {
    format!("{} of {} ({:.0} %)", live.during, live.before, 100.0 * live.share())
}

/// Lists switches, by name if they have one.
fn switches(scenario: &CrossconnectScenario, ids: &[u32]) -> String {
    if scenario.panels.is_empty() {
        return words::switches(ids);
    }
    let names: Vec<String> = ids.iter().map(|ocs| scenario.ocs_name(*ocs)).collect();
    names.join(" ")
}

/// Returns the section on the ports of the step with this number, from 1, and on the pods and pairs of pods that lose
/// circuits during it.
pub(super) fn detail(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    number: u32,
) -> Result<Section, Unavailable> {
    let all = steps(scenario, changes);
    let step = (number as usize).checked_sub(1).and_then(|at| all.get(at)).ok_or_else(|| {
        let count = counted(all.len() as u64, "step", "steps");
        Unavailable::absent(
            format!("step {number} does not exist; the change has {count}"),
            "name one of them",
        )
    })?;
    let (a, b) = words::sides(scenario.wiring);
    let columns = vec![
        Column::words("ocs_name", "switch"),
        Column::words("action", ""),
        Column::counts("port_a", "no."),
        Column::words("end_a", format!("{a} port")),
        Column::counts("port_b", "no."),
        Column::words("end_b", format!("{b} port")),
    ];
    let mut ports = Table::new(["change", "changes"], columns);
    for (ocs, entries) in &step.switches {
        for entry in entries {
            let (word, tone) =
                if entry.action == Action::Remove { ("down", Tone::Bad) } else { ("up", Tone::Good) };
            let end = |side, pod: u32, index, number: u32| {
                let name = scenario.pod_name(pod as usize);
                match named_port(scenario, *ocs, number) {
                    Some(port) => format!("{name} {port}"),
                    None => format!("{} {name}", words::port(side, pod, index)),
                }
            };
            let (number_a, number_b) = (entry.switch_port_a, entry.switch_port_b);
            ports.row(vec![
                Cell::new(scenario.ocs_name(*ocs)),
                Cell::new(word).tone(tone),
                Cell::new(number_a),
                Cell::new(end(a, entry.pod_a, entry.port_a_index, number_a)),
                Cell::new(number_b),
                Cell::new(end(b, entry.pod_b, entry.port_b_index, number_b)),
            ]);
        }
    }
    let pods = step.pods.iter().map(|(pod, live)| (scenario.pod_name(*pod as usize), *live));
    let pairs = step.pairs.iter().map(|((a, b), live)| {
        (format!("{} and {}", scenario.pod_name(*a as usize), scenario.pod_name(*b as usize)), *live)
    });
    let (pods, pairs) = (down(["pod", "pods"], pods), down(["pair", "pairs"], pairs));
    let mut section = Section::empty(format!("step {number}"))
        .context("no.: number of a port on its switch")
        .remark(format!("Circuits in service during the step: {}.", left(step.all)))
        .block("ports", "Ports", ports);
    if pods.rows.is_empty() {
        section = section.remark("No pod loses a circuit during this step.");
    } else {
        section = section.block("pods", "Pods during the step", pods).block(
            "pairs",
            "Pairs of pods during the step",
            pairs,
        );
    }
    let first = step.switches.keys().next().copied().unwrap_or(0);
    Ok(words::port_legend(scenario, first).into_iter().fold(section, Section::remark))
}

/// Returns the pod's name for the port with this number on the panel of a switch; `None` if the port has no such name.
fn named_port(scenario: &CrossconnectScenario, ocs: u32, number: u32) -> Option<&str> {
    let ports = &scenario.panel(ocs)?.ports;
    ports.iter().find(|port| port.number == number)?.pod_port.as_deref()
}

/// Returns the table of pods, or of pairs of pods, that lose circuits; the smallest remaining fraction comes first.
fn down(of: [&'static str; 2], rows: impl Iterator<Item = (String, LiveAround)>) -> Table {
    let columns = vec![
        Column::words("name", of[0]),
        Column::counts("down", "down"),
        Column::counts("left", "left"),
        Column::numbers("capacity_left", "left", Unit::PERCENT),
        Column::counts("afterwards", "after"),
    ];
    let mut table = Table::new(of, columns);
    let mut rows: Vec<(String, LiveAround)> = rows.filter(|(_, live)| live.during < live.before).collect();
    rows.sort_by(|a, b| a.1.share().total_cmp(&b.1.share()).then_with(|| a.0.cmp(&b.0)));
    for (name, live) in rows {
        table.row(vec![
            Cell::new(name),
            Cell::new(live.before - live.during).tone(Tone::Bad),
            Cell::new(live.during),
            Cell::new(live.share()),
            Cell::new(live.after),
        ]);
    }
    table
}
