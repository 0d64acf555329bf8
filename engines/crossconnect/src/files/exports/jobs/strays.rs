//! Stray connections, which make no circuit. The first batch deletes them before their ports are used. A stray
//! connection may be one direction of a circuit that the plan sets up. If no other connection shares a port with the
//! stray connection, it stays, and only the missing direction is set up.

use super::{BoxJob, ends};
use crate::files::devices::{Device, Lane, panel_number};
use crate::files::exports::port_list::port_on_panel;
use crate::plan::{Action, Changes, Entry};
use crate::scenario::{CrossconnectScenario, Side, StrayEnd};
use lightbay_core::problem::printable;
use std::collections::HashSet;

/// Changes of the stray connections of a device.
#[derive(Clone, Debug, Default)]
pub(super) struct Strays {
    /// Stray connections that stay, because each is one direction of a circuit that is set up.
    pub stay: HashSet<Lane>,
    /// Stray connections that are deleted, in order.
    pub go: Vec<Lane>,
    /// Connections of circuits that must be set again: if commands name a connection by its ingress port, deleting a
    /// stray also deletes these connections.
    pub again: Vec<Lane>,
}

impl Strays {
    pub(super) fn of(
        scenario: &CrossconnectScenario,
        changes: &Changes,
        device: &Device,
        by_ingress: bool,
    ) -> Self {
        let strays = scenario.strays.iter().filter(|stray| stray.ocs_id == device.ocs);
        let lanes: Vec<Lane> = strays.flat_map(|stray| device.stray_lanes(scenario, stray)).collect();
        if lanes.is_empty() {
            return Self::default();
        }
        let listed =
            changes.ocs.iter().filter(|ocs| ocs.ocs_id == device.ocs).flat_map(|ocs| &ocs.cross_connects);
        let of = |which: fn(&Entry) -> bool| -> HashSet<Lane> {
            listed.clone().filter(|entry| which(entry)).flat_map(|entry| device.lanes(ends(entry))).collect()
        };
        let installed = of(|entry| entry.action != Action::Add);
        let added = of(|entry| entry.action == Action::Add);
        let alone = |lane: &Lane| {
            let mut others = installed.iter().chain(&lanes).filter(|other| *other != lane);
            !others.any(|other| other.ingress == lane.ingress || other.egress == lane.egress)
        };
        let mut found = Self::default();
        for &lane in &lanes {
            if added.contains(&lane) && alone(&lane) {
                found.stay.insert(lane);
            } else if !by_ingress || found.go.iter().all(|gone| gone.ingress != lane.ingress) {
                found.go.push(lane);
            }
        }
        if by_ingress {
            let gone: HashSet<u64> = found.go.iter().map(|lane| lane.ingress).collect();
            found.again = installed.into_iter().filter(|lane| gone.contains(&lane.ingress)).collect();
            found.again.sort_unstable();
        }
        found
    }
}

/// Returns a job that first deletes stray connections, and sets again the connections that are deleted with them.
pub(super) fn cleared(job: BoxJob, go: &[Lane], again: &[Lane]) -> BoxJob {
    let is_gone = |lane: &Lane| again.contains(lane);
    // Connections that the job removes anyway are already deleted with the stray, so they are not set again.
    let kept = again.iter().filter(|lane| !job.removes.contains(lane)).copied();
    BoxJob {
        removes: go.iter().chain(job.removes.iter().filter(|lane| !is_gone(lane))).copied().collect(),
        adds: kept.chain(job.adds.iter().copied()).collect(),
        ..job
    }
}

/// Returns the labels of the stray connections of a device, for comments.
pub(super) fn labels<'a>(
    scenario: &'a CrossconnectScenario,
    device: &'a Device,
) -> impl Iterator<Item = (Lane, String)> + 'a {
    let strays = scenario.strays.iter().filter(|stray| stray.ocs_id == device.ocs);
    strays.flat_map(move |stray| {
        let end = |end: StrayEnd| {
            if let Some(panel) = scenario.panel(device.ocs) {
                let number = panel_number(scenario, device.ocs, end);
                return port_on_panel(scenario, panel, end.pod, number);
            }
            let name: String = printable(&scenario.pod_name(end.pod as usize))
                .replace("--", "- -")
                .chars()
                .take(40)
                .collect();
            let side = if end.side == Side::A { 'A' } else { 'B' };
            let panel = panel_number(scenario, device.ocs, end);
            format!("{side} {}.{} ({name}, port {panel} of side {side})", end.pod, end.port_index)
        };
        let label = format!("makes no circuit: {} to {}", end(stray.from), end(stray.to));
        device.stray_lanes(scenario, stray).into_iter().map(move |lane| (lane, label.clone()))
    })
}
