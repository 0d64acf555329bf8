//! The circuits of a plan: one count per link, within the ports of every pod.

use super::case::Case;
use super::sanity::port_use;
use super::{Findings, code};
use crate::plan::TrainingResult;
use lightbay_core::checked::Figure;

/// Circuits per link in link order, if every link has exactly one entry and at least one circuit.
pub(super) fn topology(case: &Case<'_>, result: &TrainingResult, found: &mut Findings) -> Option<Vec<u32>> {
    let expected = case.net.links.len();
    let before = found.count();
    let mut circuits: Vec<Option<u32>> = vec![None; expected];
    for (position, entry) in result.topology.iter().enumerate() {
        let link = entry.link.index();
        match circuits.get_mut(link) {
            None => found.add(
                code::TOPOLOGY,
                format!("topology[{position}] is link {link}, but the scenario has {expected} links"),
            ),
            Some(Some(_)) => found.add(code::TOPOLOGY, format!("{} is listed twice", case.link_label(link))),
            Some(free) => *free = Some(entry.circuits),
        }
    }
    for (link, circuits) in circuits.iter().enumerate() {
        match circuits {
            None => found.add(code::TOPOLOGY, format!("{} is missing", case.link_label(link))),
            Some(0) => found.add(
                code::INTEGRALITY,
                format!("{} has 0 circuits, but needs at least 1", case.link_label(link)),
            ),
            Some(_) => {}
        }
    }
    if before == found.count() {
        let misplaced =
            result.topology.iter().enumerate().find(|(position, entry)| entry.link.index() != *position);
        if let Some((position, entry)) = misplaced {
            found.add(
                code::TOPOLOGY,
                format!(
                    "topology[{position}] is {}, but the list must be in link order",
                    case.link_label(entry.link.index())
                ),
            );
        }
    }
    if before == found.count() { circuits.into_iter().collect() } else { None }
}

/// Checks the port budgets and the claimed number of ports.
pub(super) fn ports(
    case: &Case<'_>,
    circuits: &[u32],
    result: &TrainingResult,
    figures: &mut Vec<Figure>,
    found: &mut Findings,
) {
    let used = port_use(&case.net, circuits);
    let mut total = 0_u64;
    let mut available = 0_u64;
    for (pod, used) in case.net.pods.iter().zip(&used).filter(|(pod, _)| !pod.mirror) {
        total = total.saturating_add(*used);
        available += u64::from(pod.ports);
        if *used > u64::from(pod.ports) {
            found.add(
                code::PORTS,
                format!("{} uses {used} ports, but has {}", case.pod_label(pod.id.index()), pod.ports),
            );
        }
    }
    if result.ports_used != total {
        found.add(
            code::PORTS_CLAIM,
            format!("'ports_used' is {}, but the circuits use {total} ports", result.ports_used),
        );
    }
    figures.push(Figure::exactly("total_ports", code::PORTS_CLAIM, total as f64));
    if available > 0 {
        figures.push(Figure::exactly("port_ratio", code::PORTS_CLAIM, total as f64 / available as f64));
    }
}
