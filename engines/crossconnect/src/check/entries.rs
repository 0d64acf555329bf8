//! Checks of the single entries of every switch: pods, ports, panel numbers, order.

use super::{Findings, code};
use crate::plan::{Action, Changes, Entry};
use crate::scenario::{CrossconnectScenario, PanelPort, Port, Side, Wiring};
use std::collections::{HashMap, HashSet};

/// A port of the switch being checked: side, pod, index.
pub(super) type End = (Side, u32, u32);

/// An entry whose pods and ports exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub entry: Entry,
    /// Ports of the circuit.
    pub ends: [End; 2],
    /// `true` if the circuit ends at a failed port.
    pub at_failed_port: bool,
}

impl Judged {
    /// Returns `true` if the circuit is part of the old state, even at a failed port.
    pub const fn was(&self) -> bool {
        matches!(self.entry.action, Action::Keep | Action::Remove)
    }

    /// Returns `true` if the circuit is part of the new state.
    pub const fn will_be(&self) -> bool {
        matches!(self.entry.action, Action::Keep | Action::Add)
    }

    /// Returns `true` if a failed port, not the plan, causes the removal.
    pub const fn is_forced(&self) -> bool {
        matches!(self.entry.action, Action::Remove) && self.at_failed_port
    }

    /// Returns the unordered pair of pods.
    pub fn pair(&self) -> (u32, u32) {
        (self.entry.pod_a.min(self.entry.pod_b), self.entry.pod_a.max(self.entry.pod_b))
    }
}

/// Returns the name of an entry in messages.
pub(super) fn named(ocs: usize, index: usize) -> String {
    format!("ocs[{ocs}].cross_connects[{index}]")
}

/// Returns the side of the ports at `pod_b`.
const fn far_side(wiring: Wiring) -> Side {
    match wiring {
        Wiring::SingleSided => Side::A,
        Wiring::TwoSided | Wiring::CrossWired => Side::B,
    }
}

/// Data from which the panel numbers of ports follow.
struct Panel<'a> {
    before: [Vec<u64>; 2],
    /// Ports of the panel, if the panel has its own port numbers.
    own: Option<&'a [PanelPort]>,
}

const fn slot(side: Side) -> usize {
    match side {
        Side::A => 0,
        Side::B => 1,
    }
}

impl<'a> Panel<'a> {
    fn of(scenario: &'a CrossconnectScenario, ocs: usize) -> Self {
        let before = [&scenario.ports_a, &scenario.ports_b].map(|table| {
            let mut sum = 0;
            let mut before = vec![0];
            for row in table {
                sum += u64::from(row.get(ocs).copied().unwrap_or(0));
                before.push(sum);
            }
            before
        });
        Self { before, own: scenario.panels.get(ocs).map(|panel| panel.ports.as_slice()) }
    }

    /// Returns the number of a port on the panel, from 1; `None` if the port does not exist.
    fn number(&self, (side, pod, index): End) -> Option<u64> {
        let before = &self.before[slot(side)];
        let (first, end) = (before.get(pod as usize)?, before.get(pod as usize + 1)?);
        let number = first + u64::from(index);
        if number >= *end {
            return None;
        }
        let Some(own) = self.own else { return Some(number + 1) };
        let is_it = |port: &&PanelPort| {
            let place = (port.side.unwrap_or(Side::A), port.pod, port.port_index);
            place == (side, Some(pod), Some(index))
        };
        own.iter().find(is_it).map(|port| u64::from(port.number))
    }
}

/// Returns the checked entries of all switches; `None` if the switches differ from the switches of the scenario, or if
/// an entry names a pod or port that does not exist, because nothing can be counted then.
pub(super) fn of(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    found: &mut Findings,
) -> Option<Vec<Vec<Judged>>> {
    let ids: Vec<u32> = changes.ocs.iter().map(|ocs| ocs.ocs_id).collect();
    if ids.len() != scenario.ocs_count as usize || (0u32..).zip(&ids).any(|(expected, &id)| expected != id) {
        found.add(
            code::SWITCHES,
            format!(
                "the switches must be listed in order from 0 to {}, each once",
                scenario.ocs_count.saturating_sub(1)
            ),
        );
        return None;
    }
    let failed: HashSet<Port> = scenario.failed_ports.iter().copied().collect();
    let mut sound = true;
    let mut switches = Vec::with_capacity(changes.ocs.len());
    for (ocs, listed) in changes.ocs.iter().enumerate() {
        let panel = Panel::of(scenario, ocs);
        let mut switch = Vec::with_capacity(listed.cross_connects.len());
        for (index, &entry) in listed.cross_connects.iter().enumerate() {
            let ends = [
                (Side::A, entry.pod_a, entry.port_a_index),
                (far_side(scenario.wiring), entry.pod_b, entry.port_b_index),
            ];
            let place = named(ocs, index);
            if entry.pod_a == entry.pod_b && (!scenario.is_placed() || ends[0] == ends[1]) {
                found.add(code::PORT, format!("{place} joins pod {} to itself", entry.pod_a));
                sound = false;
            }
            for ((end, claimed), name) in ends
                .into_iter()
                .zip([entry.switch_port_a, entry.switch_port_b])
                .zip(["switch_port_a", "switch_port_b"])
            {
                match panel.number(end) {
                    None => {
                        let (_, pod, port) = end;
                        found.add(
                            code::PORT,
                            format!("{place} names port {port} of pod {pod}, which does not exist"),
                        );
                        sound = false;
                    }
                    Some(number) if number != u64::from(claimed) => {
                        found.add(
                            code::PANEL,
                            format!("{place}.{name} is {claimed}, but the port has number {number}"),
                        );
                    }
                    Some(_) => {}
                }
            }
            let at_failed_port = ends.into_iter().any(|(side, pod, port_index)| {
                failed.contains(&Port { ocs_id: ocs as u32, pod, side, port_index })
            });
            if at_failed_port && entry.action != Action::Remove {
                found.add(code::FAILED, format!("{place} is '{}' at a failed port", entry.action.word()));
            }
            switch.push(Judged { entry, ends, at_failed_port });
        }
        sorted(ocs, &switch, found);
        once(ocs, &switch, found);
        switches.push(switch);
    }
    sound.then_some(switches)
}

/// Checks that entries are sorted by ports, then action.
fn sorted(ocs: usize, switch: &[Judged], found: &mut Findings) {
    let key = |judged: &Judged| {
        let Entry { action, pod_a, port_a_index, pod_b, port_b_index, .. } = judged.entry;
        (pod_a, port_a_index, pod_b, port_b_index, action)
    };
    for (index, pair) in switch.windows(2).enumerate() {
        if key(&pair[0]) >= key(&pair[1]) {
            found.add(
                code::SORTED,
                format!("{} is listed after an entry that should follow it", named(ocs, index + 1)),
            );
        }
    }
}

/// Checks that a port holds at most one circuit, before and after the change.
fn once(ocs: usize, switch: &[Judged], found: &mut Findings) {
    for (when, there) in [("before", Judged::was as fn(&Judged) -> bool), ("after", Judged::will_be)] {
        let mut taken: HashMap<End, usize> = HashMap::with_capacity(2 * switch.len());
        for (index, judged) in switch.iter().enumerate().filter(|(_, judged)| there(judged)) {
            for end in judged.ends {
                if let Some(first) = taken.insert(end, index) {
                    let (_, pod, port) = end;
                    found.add(
                        code::BUSY,
                        format!(
                            "{} uses port {port} of pod {pod}, which {} also uses {when} the change",
                            named(ocs, index),
                            named(ocs, first)
                        ),
                    );
                }
            }
        }
    }
}
