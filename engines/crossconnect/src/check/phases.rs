//! Checks an order of all-to-all phases: its rule, receivers, pairs and figures.

use super::{EXACT, Envelope, Findings, code, compare_figure};
use crate::plan::{PhaseOrder, PhaseRule};
use crate::scenario::CrossconnectScenario;
use lightbay_core::checked::Figure;

/// Checks an order and returns the metrics that its plan must have; `None` if the order is too damaged to compute them.
/// An order removes nothing, so its objective is 0.
pub(super) fn check(
    scenario: &CrossconnectScenario,
    order: &PhaseOrder,
    envelope: &Envelope<'_>,
    found: &mut Findings,
) -> Option<[Figure; 4]> {
    let pods = scenario.pods;
    if envelope.value.abs() > EXACT {
        found.add(
            code::REMOVED,
            format!(
                "the objective is {}, but must be 0: an order of phases removes no circuits",
                envelope.value
            ),
        );
    }
    let (p, n) = (u64::from(pods), u64::from(order.gpus_per_pod));
    let gpus = p * n;
    if n == 0 {
        found.add(code::PHASES, "'gpus_per_pod' is 0, but a pod has at least one GPU");
        return None;
    }
    if order.phases.len() as u64 != gpus {
        found.add(
            code::PHASES,
            format!("there are {} phases, but {pods} pods of {n} GPUs need {gpus}", order.phases.len()),
        );
        return None;
    }
    let mut sound = true;
    for (phase, row) in order.phases.iter().enumerate() {
        if row.len() as u64 != gpus {
            found.add(code::PHASES, format!("phases[{phase}] has {} GPUs, but there are {gpus}", row.len()));
            sound = false;
        } else if let Some(to) = row.iter().find(|&&to| u64::from(to) >= gpus) {
            found.add(
                code::PHASES,
                format!("phases[{phase}] sends to GPU {to}, but GPUs are 0 to {}", gpus - 1),
            );
            sound = false;
        }
    }
    if !sound {
        return None;
    }
    follows_rule(p, n, order, found);
    each_pair_once(order, found);
    let contended = receivers(order, found);
    let flows = most_flows(n as usize, p as usize, order);
    compare_figure(found, code::FLOWS, "contended_phases", u64::from(order.contended_phases), contended);
    compare_figure(
        found,
        code::FLOWS,
        "max_flows_per_pod_pair",
        u64::from(order.max_flows_per_pod_pair),
        flows,
    );
    let figures = [
        ("phases", gpus),
        ("contended_phases", contended),
        ("max_flows_per_pod_pair", flows),
        ("pod_pairs_short_of_circuits", short(scenario, flows)),
    ];
    Some(figures.map(|(name, exact)| Figure::exactly(name, code::METRICS, exact as f64)))
}

/// Returns the GPU that receives from `gpu` in a phase according to the rule.
fn receiver(rule: PhaseRule, (pods, n): (u64, u64), gpu: u64, phase: u64) -> u64 {
    let (pod, own) = (gpu / n, gpu % n);
    match rule {
        PhaseRule::Printed => (pod * (n + 1) + n * own + phase) % (n * pods),
        PhaseRule::Corrected => n * ((pod + own + phase / n) % pods) + (own + phase % n) % n,
    }
}

fn follows_rule(pods: u64, n: u64, order: &PhaseOrder, found: &mut Findings) {
    for (phase, row) in order.phases.iter().enumerate() {
        for (gpu, &to) in row.iter().enumerate() {
            let expected = receiver(order.rule, (pods, n), gpu as u64, phase as u64);
            if u64::from(to) != expected {
                found.add(
                    code::PHASES,
                    format!("phases[{phase}][{gpu}] is {to}, but the rule gives {expected}"),
                );
            }
        }
    }
}

/// Checks that over all phases every GPU sends to every GPU once.
fn each_pair_once(order: &PhaseOrder, found: &mut Findings) {
    let gpus = order.phases.len();
    let mut met = vec![false; gpus];
    for gpu in 0..gpus {
        met.fill(false);
        for (phase, row) in order.phases.iter().enumerate() {
            let to = row[gpu] as usize;
            if std::mem::replace(&mut met[to], true) {
                found.add(
                    code::PAIR,
                    format!("phases[{phase}]: GPU {gpu} sends to GPU {to} for the second time"),
                );
            }
        }
    }
}

/// Returns the number of phases in which some GPU receives from more than one other GPU. With the corrected rule, every
/// GPU must receive from exactly one GPU in each phase.
fn receivers(order: &PhaseOrder, found: &mut Findings) -> u64 {
    let mut contended = 0;
    let mut senders = vec![0u32; order.phases.len()];
    let mut others = senders.clone();
    for (phase, row) in order.phases.iter().enumerate() {
        senders.fill(0);
        others.fill(0);
        for (gpu, &to) in row.iter().enumerate() {
            senders[to as usize] += 1;
            others[to as usize] += u32::from(to as usize != gpu);
        }
        contended += u64::from(others.iter().any(|&count| count > 1));
        if order.rule == PhaseRule::Corrected {
            for (gpu, &count) in senders.iter().enumerate().filter(|&(_, &count)| count != 1) {
                found.add(
                    code::RECEIVER,
                    format!("phases[{phase}]: GPU {gpu} receives from {count} GPUs, but must receive from 1"),
                );
            }
        }
    }
    contended
}

/// Returns the maximum number of flows from one pod to another, or within a pod, in any phase.
fn most_flows(n: usize, pods: usize, order: &PhaseOrder) -> u64 {
    let mut flows = vec![0u64; pods];
    let mut most = 0;
    for row in &order.phases {
        for senders in row.chunks(n) {
            for &to in senders {
                flows[to as usize / n] += 1;
            }
            for &to in senders {
                most = most.max(std::mem::take(&mut flows[to as usize / n]));
            }
        }
    }
    most
}

/// Returns the number of pairs of pods that have fewer than `flows` target circuits.
fn short(scenario: &CrossconnectScenario, flows: u64) -> u64 {
    let rows = scenario.logical_circuits.iter().enumerate();
    rows.map(|(i, row)| row.iter().skip(i + 1).filter(|&&count| u64::from(count) < flows).count() as u64)
        .sum()
}
