//! Assigns ports to circuits per switch and pair of pods, without additional removals (docs/methods/crossconnect.md,
//! section 10).
//!
//! For every oriented pair of pods, the installed circuits with the lowest port indices stay, pinned ones first; the
//! others are removed. Missing circuits then get ports that a connection in one direction already joins, or the lowest
//! free index at both ends, pair by pair. Failed ports are never used, and circuits that are installed on them are
//! always removed.

use crate::model::assignment::{Assignment, Cell};
use crate::plan::{Action, Entry, EntryRef, OcsChanges};
use crate::scenario::{Circuit, CrossconnectScenario, End, Placed, Side, Wiring};
use rustc_hash::FxHashSet;
use std::collections::{BTreeSet, HashMap};

/// Circuits that every switch keeps, adds and removes, port by port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wired {
    /// The switches, in order of id; entries sorted as [`OcsChanges::cross_connects`] says.
    pub ocs: Vec<OcsChanges>,
    /// References to the removals of circuits that end at failed ports.
    pub forced: BTreeSet<EntryRef>,
}

/// Assigns ports to the circuits of a target; returns the entries of every switch. A circuit without a free port is
/// left out, which happens only if the target does not fit.
pub fn assign(scenario: &CrossconnectScenario, target: &Assignment) -> Wired {
    let mut failed = vec![FxHashSet::default(); scenario.ocs_count as usize];
    for port in &scenario.failed_ports {
        if let Some(ports) = failed.get_mut(port.ocs_id as usize) {
            ports.insert((port.side, port.pod, port.port_index));
        }
    }
    // Pinned circuits keep their ports, so switch and circuit identify a pin.
    let pinned: FxHashSet<(u32, [End; 2])> =
        scenario.pinned.iter().map(|pin| (pin.ocs_id, scenario.sorted_ends(pin.circuit))).collect();
    let entries = |(ocs, failed): (usize, &FxHashSet<End>)| {
        let cells = target.ocs.get(ocs).map_or(&[][..], Vec::as_slice);
        Switch { scenario, ocs, failed, pinned: &pinned }.entries(cells)
    };
    wired(failed.iter().enumerate().map(entries).collect())
}

/// Returns the changes for a scenario that gives its target circuits port by port: each target circuit is kept or
/// added, all other circuits are removed. Circuits at failed ports are left out.
pub fn given(scenario: &CrossconnectScenario) -> Wired {
    let failed: FxHashSet<(u32, End)> = scenario
        .failed_ports
        .iter()
        .map(|port| (port.ocs_id, (port.side, port.pod, port.port_index)))
        .collect();
    let dead = |ocs: u32, circuit: Circuit| {
        scenario.ends(circuit).into_iter().any(|end| failed.contains(&(ocs, end)))
    };
    let key = |ocs: u32, circuit: Circuit| (ocs, scenario.sorted_ends(circuit));
    // Target circuits at working ports.
    let wanted: FxHashSet<(u32, [End; 2])> = scenario
        .placed
        .iter()
        .filter(|placed| !dead(placed.ocs_id, placed.circuit))
        .map(|placed| key(placed.ocs_id, placed.circuit))
        .collect();
    let installed: FxHashSet<(u32, [End; 2])> =
        scenario.installed_circuits().map(|(ocs, circuit)| key(ocs, circuit)).collect();
    let mut switches: Vec<Vec<(Entry, bool)>> = vec![Vec::new(); scenario.ocs_count as usize];
    // Panel numbers depend on the ports of the preceding pods.
    let panels: Vec<PanelNumbers> = (0..switches.len()).map(|ocs| PanelNumbers::of(scenario, ocs)).collect();
    let mut list = |ocs: u32, action: Action, circuit: Circuit, forced: bool| {
        if let (Some(switch), Some(panel)) = (switches.get_mut(ocs as usize), panels.get(ocs as usize)) {
            switch.push((panel.entry(action, circuit), forced));
        }
    };
    for (ocs, circuit) in scenario.installed_circuits() {
        // A circuit stays if the target joins its two ports to each other.
        let stays = wanted.contains(&key(ocs, circuit));
        list(ocs, if stays { Action::Keep } else { Action::Remove }, circuit, dead(ocs, circuit));
    }
    for &Placed { ocs_id, circuit } in &scenario.placed {
        if !dead(ocs_id, circuit) && !installed.contains(&key(ocs_id, circuit)) {
            list(ocs_id, Action::Add, circuit, false);
        }
    }
    wired(switches)
}

/// Converts the entries of all switches in order, with references to the removals that failed ports force.
fn wired(switches: Vec<Vec<(Entry, bool)>>) -> Wired {
    let mut wired = Wired { ocs: Vec::with_capacity(switches.len()), forced: BTreeSet::new() };
    for (ocs_id, mut entries) in (0u32..).zip(switches) {
        // One order of entries, so that equal plans give equal files.
        entries.sort_unstable_by_key(|(entry, _)| {
            (entry.pod_a, entry.port_a_index, entry.pod_b, entry.port_b_index, entry.action)
        });
        let forced = (0u32..).zip(&entries).filter(|(_, (_, forced))| *forced);
        wired.forced.extend(forced.map(|(entry, _)| EntryRef { ocs_id, entry }));
        let cross_connects = entries.into_iter().map(|(entry, _)| entry).collect();
        wired.ocs.push(OcsChanges { ocs_id, cross_connects });
    }
    wired
}

/// One switch while its circuits get ports.
struct Switch<'a> {
    scenario: &'a CrossconnectScenario,
    ocs: usize,
    failed: &'a FxHashSet<End>,
    pinned: &'a FxHashSet<(u32, [End; 2])>,
}

impl Switch<'_> {
    /// Returns all entries, in no particular order, each with `true` if it is a removal that a failed port forces.
    fn entries(&self, cells: &[Cell]) -> Vec<(Entry, bool)> {
        let panel = PanelNumbers::of(self.scenario, self.ocs);
        let installed =
            self.scenario.installed.ocs.get(self.ocs).map_or(&[][..], |ocs| ocs.cross_connects.as_slice());
        let mut entries = Vec::with_capacity(installed.len() + cells.len());
        let mut healthy = Vec::with_capacity(installed.len());
        for &circuit in installed {
            // Circuits at failed ports are always removed.
            if self.scenario.ends(circuit).iter().any(|end| self.failed.contains(end)) {
                entries.push((panel.entry(Action::Remove, circuit), true));
            } else {
                healthy.push(circuit);
            }
        }
        // Sorted by pair; within a pair, pinned circuits come first, then circuits with lower port indices, so that the
        // result is reproducible.
        healthy.sort_unstable_by_key(|&circuit| {
            let (pair, indices) = self.ordered(circuit);
            let is_pinned = self.pinned.contains(&(self.ocs as u32, self.scenario.sorted_ends(circuit)));
            (pair, !is_pinned, indices)
        });
        let mut taken = self.failed.clone();
        let mut missing = Vec::new();
        // Merge of two sorted lists: installed circuits and target cells, both by pair.
        let mut old = healthy
            .chunk_by(|first, second| self.ordered(*first).0 == self.ordered(*second).0)
            .map(|circuits| (self.ordered(circuits[0]).0, circuits))
            .peekable();
        let removed = |entries: &mut Vec<_>, circuits: &[Circuit]| {
            entries.extend(circuits.iter().map(|&circuit| (panel.entry(Action::Remove, circuit), false)));
        };
        for cell in cells {
            // Pairs without a target cell lose all circuits.
            while let Some((_, circuits)) = old.next_if(|(pair, _)| *pair < (cell.a, cell.b)) {
                removed(&mut entries, circuits);
            }
            let mut kept = 0;
            if let Some((_, circuits)) = old.next_if(|(pair, _)| *pair == (cell.a, cell.b)) {
                // The first circuits of the pair stay: pinned circuits, then circuits with the lowest port indices.
                let (keep, rest) = circuits.split_at(circuits.len().min(cell.count as usize));
                kept = keep.len() as u32;
                for &circuit in keep {
                    taken.extend(self.scenario.ends(circuit));
                    entries.push((panel.entry(Action::Keep, circuit), false));
                }
                removed(&mut entries, rest);
            }
            missing.push(Cell { count: cell.count - kept, ..*cell });
        }
        // Removes the circuits of pairs after the last target cell.
        for (_, circuits) in old {
            removed(&mut entries, circuits);
        }
        // Added circuits get the lowest free indices, after all kept circuits are known.
        let mut free = Free { switch: self, taken, next: vec![[0; 2]; self.scenario.pods as usize] };
        // Ports that are already connected in one direction save a command, so they are used first.
        for cell in &mut missing {
            while cell.count > 0
                && let Some(circuit) = free.half_set(cell.a, cell.b)
            {
                entries.push((panel.entry(Action::Add, circuit), false));
                cell.count -= 1;
            }
        }
        // First fit: the lowest free index of both pods.
        for cell in missing {
            for _ in 0..cell.count {
                let Some(circuit) = free.circuit(cell.a, cell.b) else { break };
                entries.push((panel.entry(Action::Add, panel.lower_first(circuit)), false));
            }
        }
        entries
    }

    /// Returns the two pods of a circuit in the order in which cells name them, and the port indices in the same order.
    fn ordered(&self, circuit: Circuit) -> ((u32, u32), (u32, u32)) {
        let Circuit { pod_a, port_a_index, pod_b, port_b_index } = circuit;
        if self.scenario.wiring == Wiring::SingleSided && pod_a > pod_b {
            ((pod_b, pod_a), (port_b_index, port_a_index))
        } else {
            ((pod_a, pod_b), (port_a_index, port_b_index))
        }
    }

    const fn far(&self) -> Side {
        if matches!(self.scenario.wiring, Wiring::SingleSided) { Side::A } else { Side::B }
    }
}

/// Free ports of a switch.
struct Free<'a> {
    switch: &'a Switch<'a>,
    taken: FxHashSet<End>,
    /// For each pod and side, an index below which no port is free.
    next: Vec<[u32; 2]>,
}

impl Free<'_> {
    fn circuit(&mut self, pod_a: u32, pod_b: u32) -> Option<Circuit> {
        let far = self.switch.far();
        let port_a_index = self.lowest(Side::A, pod_a)?;
        let port_b_index = self.lowest(far, pod_b)?;
        self.taken.extend([(Side::A, pod_a, port_a_index), (far, pod_b, port_b_index)]);
        Some(Circuit { pod_a, port_a_index, pod_b, port_b_index })
    }

    /// Returns a circuit that is already connected in one direction, at ports that are free; `None` if none is
    /// found.
    fn half_set(&mut self, pod_a: u32, pod_b: u32) -> Option<Circuit> {
        let (ocs, far) = (self.switch.ocs, self.switch.far());
        let strays = self.switch.scenario.strays.iter().filter(|stray| stray.ocs_id as usize == ocs);
        let halves = strays.flat_map(|stray| [(stray.from, stray.to), (stray.to, stray.from)]);
        let circuit = halves.into_iter().find_map(|(a, b)| {
            let fits = (a.side, a.pod, b.side, b.pod) == (Side::A, pod_a, far, pod_b) && a != b;
            let ends = [a, b].map(|end| (end.side, end.pod, end.port_index));
            // Both ends must be free.
            let free = ends.iter().all(|end| !self.taken.contains(end));
            let circuit = Circuit { pod_a, port_a_index: a.port_index, pod_b, port_b_index: b.port_index };
            (fits && free).then_some(circuit)
        })?;
        self.taken.extend(self.switch.scenario.ends(circuit));
        Some(circuit)
    }

    fn lowest(&mut self, side: Side, pod: u32) -> Option<u32> {
        let ports = self.switch.scenario.ports(side, pod as usize, self.switch.ocs);
        let next = self.next.get_mut(pod as usize)?.get_mut(side as usize)?;
        // The pointer only moves up, because used ports are never freed here.
        while *next < ports && self.taken.contains(&(side, pod, *next)) {
            *next += 1;
        }
        (*next < ports).then_some(*next)
    }
}

/// Panel numbers of a switch: its own numbers, or each side from 1 with the pods in order.
struct PanelNumbers {
    own: Option<HashMap<End, u32>>,
    /// Number of ports of the preceding pods, for each pod and side.
    before: [Vec<u32>; 2],
    far: Side,
}

impl PanelNumbers {
    fn of(scenario: &CrossconnectScenario, ocs: usize) -> Self {
        let before = [Side::A, Side::B].map(|side| {
            let ports = (0..scenario.pods as usize).map(|pod| scenario.ports(side, pod, ocs));
            // Running sums: the first number of each pod.
            ports.scan(0, |sum, ports| Some(std::mem::replace(sum, *sum + ports))).collect()
        });
        let far = if scenario.wiring == Wiring::SingleSided { Side::A } else { Side::B };
        Self { own: scenario.own_numbers(ocs as u32), before, far }
    }

    fn number(&self, side: Side, pod: u32, index: u32) -> u32 {
        if let Some(own) = &self.own {
            return own.get(&(side, pod, index)).copied().unwrap_or_default();
        }
        1 + self.before[side as usize].get(pod as usize).copied().unwrap_or_default() + index
    }

    /// Returns a circuit of switches without sides from its end with the lower panel number, so that a port map, which
    /// does not state the order of the ends, determines the names of bidirectional connections.
    fn lower_first(&self, circuit: Circuit) -> Circuit {
        let Circuit { pod_a, port_a_index, pod_b, port_b_index } = circuit;
        let number = |pod, index| self.number(Side::A, pod, index);
        let turn = self.far == Side::A && number(pod_b, port_b_index) < number(pod_a, port_a_index);
        if turn { circuit.turned() } else { circuit }
    }

    fn entry(&self, action: Action, circuit: Circuit) -> Entry {
        let Circuit { pod_a, port_a_index, pod_b, port_b_index } = circuit;
        Entry {
            action,
            pod_a,
            port_a_index,
            switch_port_a: self.number(Side::A, pod_a, port_a_index),
            pod_b,
            port_b_index,
            switch_port_b: self.number(self.far, pod_b, port_b_index),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
