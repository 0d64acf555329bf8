//! Explains in terms of the scenario why no solution exists, after a proof that none does.

use super::{Orientation, asked};
use crate::model::task::Task;
use lightbay_core::problem::{counted, few};
use lightbay_highs::conflict::{Conflict, Party, Sides, sentence};
use std::collections::BTreeMap;

/// Returns a sentence that names constraints which no solution can satisfy together. `conflict` is the conflict that
/// the solver found in the model. Two simpler reasons are found without a conflict: a pair of pods whose circuits do
/// not fit the switches that both pods are connected to, and too few ports in total.
pub fn infeasible(task: &Task, orientation: Orientation<'_>, conflict: Option<&Conflict>) -> String {
    let circuits: u64 = task.wanted.iter().map(|cell| u64::from(cell.count)).sum();
    let switches = task.ocs_count;
    if task.single_sided {
        // Each switch joins ports in pairs.
        let most: u64 =
            task.ports_a.iter().map(|row| row.iter().map(|&p| u64::from(p)).sum::<u64>() / 2).sum();
        if most < circuits {
            return format!(
                "the target has {circuits} circuits, but the {switches} switches can hold {most}: every circuit uses \
                 two ports of one switch; add switches or ports"
            );
        }
    }
    let which = match orientation {
        _ if task.single_sided => "",
        Orientation::Joint => ", however they are oriented",
        Orientation::Fixed(_) => ", in the orientation that was chosen first (try orientation=joint)",
    };
    let why = apart(task, orientation)
        .or_else(|| {
            let conflict = conflict?;
            let words = words(task, orientation, conflict);
            (!words.is_empty()).then(|| sentence(words, conflict))
        })
        .unwrap_or_else(|| "the solver proved this without naming the constraints".to_owned());
    let remedy = if task.single_sided {
        "add a switch, or use two_sided wiring"
    } else {
        "add ports of these pods on the same switches, or remove circuits"
    };
    format!(
        "the {circuits} target circuits cannot be placed on {switches} switches{which}: {why}; \
         {remedy}"
    )
}

/// Returns a sentence if the switches on which both pods of a pair have ports cannot carry the circuits of the pair;
/// otherwise `None`.
fn apart(task: &Task, orientation: Orientation<'_>) -> Option<String> {
    let far = if task.single_sided { &task.ports_a } else { &task.ports_b };
    asked(task, orientation).into_iter().find_map(|(cell, both)| {
        let (a, b) = (cell.a as usize, cell.b as usize);
        let carried = |ocs: usize| {
            let there = u64::from(task.ports_a[ocs][a].min(far[ocs][b]));
            there + if both { u64::from(task.ports_a[ocs][b].min(far[ocs][a])) } else { 0 }
        };
        let most: u64 = (0..task.ocs_count).map(carried).sum();
        (most < u64::from(cell.count)).then(|| {
            let circuits = circuits_of(cell.count, a, b);
            format!(
                "{circuits} cannot be placed, because the switches on which both pods have ports can carry \
                 only {most}"
            )
        })
    })
}

fn circuits_of(count: u32, a: usize, b: usize) -> String {
    format!("the {} between pods {a} and {b}", counted(u64::from(count), "circuit", "circuits"))
}

/// Returns the constraints of a conflict in words: circuits of pairs of pods, and ports of pods with their switches.
fn words(task: &Task, orientation: Orientation<'_>, conflict: &Conflict) -> Vec<String> {
    let wanted: BTreeMap<(usize, usize), u32> = asked(task, orientation)
        .into_iter()
        .map(|(cell, _)| ((cell.a as usize, cell.b as usize), cell.count))
        .collect();
    let far = if task.single_sided { &task.ports_a } else { &task.ports_b };
    let (mut circuits, mut odd) = (Vec::new(), Vec::new());
    let mut ports: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    let mut take_ports = |side: &str, pod: usize, ocs: usize| {
        let of = match side {
            _ if task.single_sided => "ports",
            "a" => "A ports",
            _ => "B ports",
        };
        let switches = ports.entry((pod, of)).or_default();
        if !switches.contains(&ocs) {
            switches.push(ocs);
        }
    };
    for Party { name, .. } in &conflict.rows {
        match numbers(name).as_slice() {
            [] => {}
            &[ocs] if name.starts_with("odd_") => {
                odd.push(format!("the odd number of ports of switch {ocs}"));
            }
            &[a, b] if name.starts_with("circuits_") => {
                circuits.extend(wanted.get(&(a, b)).map(|count| circuits_of(*count, a, b)));
            }
            &[pod, ocs] if name.starts_with("ports_a_") => take_ports("a", pod, ocs),
            &[pod, ocs] if name.starts_with("ports_b_") => take_ports("b", pod, ocs),
            _ => {}
        }
    }
    for Party { name, .. } in conflict.columns.iter().filter(|party| party.sides != Sides::Lower) {
        // The bound of a column comes from the circuits of its pair, which have a row, or from the ports of one of its
        // pods.
        if let (&[ocs, a, b], true) = (numbers(name).as_slice(), name.starts_with("x_")) {
            let (here, there) = (task.ports_a[ocs][a], far[ocs][b]);
            if here <= there {
                take_ports("a", a, ocs);
            } else {
                take_ports("b", b, ocs);
            }
        }
    }
    let ports = ports.into_iter().map(|((pod, of), mut switches)| {
        switches.sort_unstable();
        let switch = if switches.len() == 1 { "switch" } else { "switches" };
        format!(
            "the {of} of pod {pod} on {switch} {}",
            few(&switches.iter().map(usize::to_string).collect::<Vec<_>>())
        )
    });
    circuits.into_iter().chain(ports).chain(odd).collect()
}

/// Returns the numbers in the name of a row or column.
fn numbers(name: &str) -> Vec<usize> {
    name.split('_').filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
