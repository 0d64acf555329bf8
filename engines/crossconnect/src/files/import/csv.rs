//! Tables as the export writes them: `ocs_id,action,pod_a,port_a,pod_b,port_b`, pods and ports from 0. Further columns of
//! the export are optional; if a table has them, they must agree with the ports of the scenario.

use super::{Imported, Input, in_file, text_of};
use crate::files::exports::csv::{COLUMNS, MORE_COLUMNS};
use crate::plan::Action;
use crate::scenario::{Circuit, CrossconnectScenario, Installed, InstalledOcs, Side, Wiring};
use lightbay_core::cells::{csv, fields};
use lightbay_core::problem::{Problem, Problems, counted, suggestion};
use std::collections::HashMap;

/// Maximum size of a table, in bytes.
const MAX_TABLE_BYTES: u64 = 64 << 20;

/// Maximum number of switches that a message names.
const NAMED: usize = 8;

/// A port: switch, side, pod, index.
type End = (u32, Side, u32, u32);

/// Reads all files as one table. With `before`, returns the circuits before the changes of the table, otherwise the
/// circuits after these changes.
pub(super) fn read(
    files: &[Input<'_>],
    scenario: &CrossconnectScenario,
    before: bool,
) -> Result<Imported, Problems> {
    let mut problems = Problems::new();
    let (mut lines, mut assumed) = (Vec::new(), Vec::new());
    let mut switches = vec![Vec::new(); scenario.ocs_count as usize];
    let mut taken: HashMap<End, String> = HashMap::new();
    for file in files {
        let text = match text_of(file, MAX_TABLE_BYTES) {
            Ok(text) => text,
            Err(found) => {
                for problem in found.list() {
                    problems.push(in_file(file.name, problem.clone()));
                }
                continue;
            }
        };
        let mut counts = [0u64; 3];
        let mut rows =
            (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
        let header = rows.next().map_or_else(Vec::new, |(_, line)| fields(line));
        let header: Vec<&str> = header.iter().map(|name| name.trim()).collect();
        if !header.starts_with(&COLUMNS) {
            let message = format!("has the columns '{}'", header.join(","));
            problems.push(Problem::new(
                file.name,
                message,
                format!("the first line must begin with {}", COLUMNS.join(",")),
            ));
            continue;
        }
        for (number, line) in rows {
            let place = format!("line {number}");
            match row(scenario, &header, line) {
                Ok((_, action, _)) if action == (if before { Action::Add } else { Action::Remove }) => {
                    counts[action as usize] += 1;
                }
                Ok((ocs, action, circuit)) => {
                    counts[action as usize] += 1;
                    let at = format!("{}, {place}", file.name);
                    match occupy(scenario, &mut taken, ocs, circuit, at) {
                        Ok(()) => switches[ocs as usize].push(circuit),
                        Err(problem) => problems.push(in_file(file.name, Problem { path: place, ..problem })),
                    }
                }
                Err(problem) => problems.push(in_file(file.name, Problem { path: place, ..problem })),
            }
        }
        let [kept, removed, added] = counts;
        lines.push(format!(
            "{}: {} that stay, {removed} to remove, {added} to add",
            file.name,
            counted(kept, "circuit", "circuits")
        ));
        if kept == 0 && removed + added > 0 {
            assumed.push(format!(
                "{}: has no row with 'keep', so the import assumes that no circuit stays; if circuits stay, export with full=true",
                file.name
            ));
        }
    }
    assumed.extend(without_rows(&switches));
    lines.extend(assumed.iter().cloned());
    let ocs = (0u32..).zip(switches).map(|(ocs_id, mut cross_connects)| {
        cross_connects.sort_unstable();
        InstalledOcs { ocs_id, cross_connects }
    });
    let installed = Installed { ocs: ocs.collect() };
    problems.into_result(Imported { installed, strays: Vec::new(), half: 0, lines, assumed })
}

/// Parses a row into switch, action and circuit.
fn row(
    scenario: &CrossconnectScenario,
    header: &[&str],
    line: &str,
) -> Result<(u32, Action, Circuit), Problem> {
    let cells = fields(line);
    let cells: Vec<&str> = cells.iter().map(|cell| cell.trim()).collect();
    if cells.len() < COLUMNS.len() {
        return Err(Problem::new(
            "",
            format!("has {}", counted(cells.len() as u64, "cell", "cells")),
            format!("give {}", COLUMNS.join(",")),
        ));
    }
    let number = |column: usize| {
        cells[column].parse::<u32>().map_err(|_| {
            Problem::new(
                "",
                format!("{} is '{}'", COLUMNS[column], cells[column]),
                "give a whole number from 0",
            )
        })
    };
    let action = Action::ALL.iter().find(|(name, _)| *name == cells[1]).map(|(_, action)| *action);
    let action = action.ok_or_else(|| {
        let names = Action::ALL.map(|(name, _)| name);
        Problem::new("", format!("action is '{}'", cells[1]), suggestion(cells[1], &names))
    })?;
    let ocs = number(0)?;
    if ocs >= scenario.ocs_count {
        return Err(Problem::new(
            "",
            format!("ocs_id is {ocs}"),
            format!(
                "the scenario has switches 0 to {}; check that the state belongs to them",
                scenario.ocs_count - 1
            ),
        ));
    }
    let circuit =
        Circuit { pod_a: number(2)?, port_a_index: number(3)?, pod_b: number(4)?, port_b_index: number(5)? };
    match contradiction(scenario, header, &cells, (ocs, circuit)) {
        Some(problem) => Err(problem),
        None => Ok((ocs, action, circuit)),
    }
}

/// Returns the problem of a row whose further columns (side, panel port, name of pod or switch) name another port than
/// its numbers do, because the table then belongs to other wiring; `None` for columns that are absent or empty.
fn contradiction(
    scenario: &CrossconnectScenario,
    header: &[&str],
    cells: &[&str],
    (ocs, circuit): (u32, Circuit),
) -> Option<Problem> {
    let wrong = |column: &str, expected: &str, of: &str| -> Option<Problem> {
        let at = header.iter().position(|name| *name == column)?;
        let cell = *cells.get(at).filter(|cell| !cell.is_empty())?;
        // Names are compared as the export writes them.
        let written = csv(expected);
        let agrees = cell == expected || fields(&written).first().is_some_and(|field| field.trim() == cell);
        (!agrees).then(|| {
            Problem::new(
                "",
                format!("{column} is '{cell}', but {of} has '{expected}' in this scenario"),
                "give the table of this scenario; if the table is right, correct the wiring of the scenario first",
            )
        })
    };
    let [side_a, panel_a, name_a, side_b, panel_b, name_b, _, switch] = MORE_COLUMNS;
    let far = if scenario.wiring == Wiring::SingleSided { Side::A } else { Side::B };
    let of_switch = wrong(switch, &scenario.ocs_name(ocs), &format!("switch {ocs}"));
    let of_ends = [
        (Side::A, circuit.pod_a, circuit.port_a_index, [side_a, panel_a, name_a]),
        (far, circuit.pod_b, circuit.port_b_index, [side_b, panel_b, name_b]),
    ];
    let mut of_ends = of_ends.into_iter().filter_map(|(side, pod, port, [of_side, panel, name])| {
        // A pod or port that does not exist is reported later.
        if pod >= scenario.pods || port >= scenario.ports(side, pod as usize, ocs as usize) {
            return None;
        }
        let end = format!("port {port} of pod {pod} on switch {ocs}");
        wrong(of_side, side.word(), &end)
            .or_else(|| wrong(panel, &scenario.panel_number(side, ocs, (pod, port))?.to_string(), &end))
            .or_else(|| wrong(name, &scenario.pod_name(pod as usize), &format!("pod {pod}")))
    });
    of_switch.or_else(|| of_ends.next())
}

/// Marks the ports of a circuit as taken.
fn occupy(
    scenario: &CrossconnectScenario,
    taken: &mut HashMap<End, String>,
    ocs: u32,
    circuit: Circuit,
    place: String,
) -> Result<(), Problem> {
    if circuit.pod_a == circuit.pod_b && !scenario.is_placed() {
        return Err(Problem::new("", format!("joins pod {} to itself", circuit.pod_a), "give two pods"));
    }
    let far = if scenario.wiring == Wiring::SingleSided { Side::A } else { Side::B };
    let ends = [
        (ocs, Side::A, circuit.pod_a, circuit.port_a_index),
        (ocs, far, circuit.pod_b, circuit.port_b_index),
    ];
    for (_, side, pod, port) in ends {
        let ports = scenario.ports(side, pod as usize, ocs as usize);
        if pod >= scenario.pods {
            return Err(Problem::new(
                "",
                format!("names pod {pod}"),
                format!("pods are 0 to {}", scenario.pods - 1),
            ));
        }
        if port >= ports {
            return Err(Problem::new(
                "",
                format!("names port {port} of pod {pod}, which does not exist"),
                format!(
                    "this pod has {} on switch {ocs}, numbered from 0",
                    counted(ports.into(), "port", "ports")
                ),
            ));
        }
    }
    for end in ends {
        if let Some(first) = taken.get(&end) {
            let (_, _, pod, port) = end;
            return Err(Problem::new(
                "",
                format!("uses port {port} of pod {pod}, which {first} already uses"),
                "a port holds one circuit",
            ));
        }
    }
    for end in ends {
        taken.insert(end, place.clone());
    }
    Ok(())
}

/// Returns the remark on switches without circuits in the table (the table may list fewer switches than the scenario
/// has); `None` if all switches or none of them have circuits.
fn without_rows(switches: &[Vec<Circuit>]) -> Option<String> {
    let dark: Vec<usize> = (0..switches.len()).filter(|&ocs| switches[ocs].is_empty()).collect();
    if dark.is_empty() || dark.len() == switches.len() {
        return None;
    }
    let mut names: Vec<String> = dark.iter().take(NAMED).map(ToString::to_string).collect();
    if dark.len() > NAMED {
        names.push(format!("{} more", dark.len() - NAMED));
    }
    let word = if dark.len() == 1 { "switch" } else { "switches" };
    Some(format!(
        "the table lists no circuit on {word} {}, so the import assumes that no circuit is installed there",
        names.join(", ")
    ))
}
