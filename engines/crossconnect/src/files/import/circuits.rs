//! Builds the circuits of all switches from connections.
//!
//! A circuit exists if connections carry both of its directions and the circuit joins two pods. If target circuits are
//! given port by port, a circuit may also join a pod to itself. If circuits share a port, target circuits take
//! precedence, then the circuit listed first. All other connections make no circuit and become the strays of the
//! scenario.

use crate::files::devices::{Ends, Joint, Way};
use crate::scenario::{
    Circuit, CrossconnectScenario, Installed, InstalledOcs, Side, Stray, StrayEnd, Wiring,
};
use lightbay_core::problem::{Problem, counted};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum number of connections that a line for people names.
const NAMED: usize = 8;

/// A connection of a switch, with its location in the files.
#[derive(Clone, Debug)]
struct Listed {
    /// File, and line, row or path in the file.
    place: (String, String),
    /// Name of the connection, made of the names of its ports.
    name: String,
    joint: Joint,
    both_ways: bool,
}

/// Connections read so far.
pub(super) struct Connections<'a> {
    scenario: &'a CrossconnectScenario,
    /// `true` if a connection carries both directions; without sides, the circuit then keeps the order of its ends,
    /// because commands name the connection in this order.
    keeps_order: bool,
    /// Connections of every switch, in the order of the files.
    switches: Vec<Vec<Listed>>,
    /// For every switch, a map from two ports to the position in `switches` of the connection that joins them.
    seen: Vec<HashMap<[(Side, u32); 2], usize>>,
}

/// Circuits and strays of all switches.
#[derive(Debug, Default)]
pub(super) struct FoundCircuits {
    pub installed: Installed,
    pub strays: Vec<Stray>,
    /// Lines about the stray connections.
    pub lines: Vec<String>,
    /// Remarks on switches whose files may number the ports differently from the scenario.
    pub doubts: Vec<String>,
    /// Connections that lack the reverse direction of their circuit and share no port with a circuit.
    pub half: usize,
}

/// Possible circuits of one switch; for each circuit, the directions that are listed and the positions of the
/// connections that carry them.
type Candidates = BTreeMap<Ends, Vec<(Way, usize)>>;

impl<'a> Connections<'a> {
    pub(super) fn new(scenario: &'a CrossconnectScenario) -> Self {
        let switches = scenario.ocs_count as usize;
        let (listed, seen) = (vec![Vec::new(); switches], vec![HashMap::new(); switches]);
        Self { scenario, keeps_order: false, switches: listed, seen }
    }

    const fn far_side(&self) -> Side {
        match self.scenario.wiring {
            Wiring::SingleSided => Side::A,
            Wiring::TwoSided | Wiring::CrossWired => Side::B,
        }
    }

    /// Adds a connection; an error if the connection is listed twice, or if its ports do not exist.
    pub(super) fn add(
        &mut self,
        ocs: u32,
        (joint, both_ways): (Joint, bool),
        name: String,
        place: (&str, &str),
    ) -> Result<(), Problem> {
        if self.end(ocs, joint.from).is_none() || self.end(ocs, joint.to).is_none() {
            return Err(Problem::new(
                "",
                format!("'{name}' names a port that the switch does not have"),
                "check the numbering of the ports",
            ));
        }
        let (switch, seen) = (&mut self.switches[ocs as usize], &mut self.seen[ocs as usize]);
        let mut ends = [joint.from, joint.to];
        self.keeps_order |= both_ways;
        if both_ways {
            ends.sort_unstable();
        }
        if let Some(&first) = seen.get(&ends) {
            let (file, at) = &switch[first].place;
            let message = format!("is listed a second time, after {file}, {at}");
            return Err(Problem::new("", message, "list it once"));
        }
        seen.insert(ends, switch.len());
        switch.push(Listed { place: (place.0.to_owned(), place.1.to_owned()), name, joint, both_ways });
        Ok(())
    }

    /// Returns the circuits and stray connections of all switches.
    pub(super) fn found(&self) -> FoundCircuits {
        let mut found = FoundCircuits::default();
        let (mut surplus, mut half) = (Vec::new(), Vec::new());
        for (ocs, switch) in (0u32..).zip(&self.switches) {
            let mut candidates = Candidates::new();
            for (position, listed) in switch.iter().enumerate() {
                if let Some((ends, way)) = listed.joint.circuit.filter(|&(ends, _)| self.may_stand(ocs, ends))
                {
                    candidates.entry(ends).or_default().push((way, position));
                }
            }
            let mut taken: HashSet<(Side, u32)> = HashSet::new();
            let standing = self.free_of_each_other(ocs, &candidates, is_whole, &mut taken);
            let halves = self.free_of_each_other(ocs, &candidates, |ways| !is_whole(ways), &mut taken);
            let mut cross_connects: Vec<Circuit> =
                standing.iter().filter_map(|&ends| self.circuit(ocs, ends)).collect();
            cross_connects.sort_unstable();
            let before = half.len();
            for listed in switch {
                let ends = listed.joint.circuit.map(|(ends, _)| ends);
                if ends.is_some_and(|ends| standing.contains(&ends)) {
                    continue;
                }
                let is_half = ends.is_some_and(|ends| halves.contains(&ends));
                if is_half {
                    half.push(listed);
                } else {
                    surplus.push(listed);
                }
                found.strays.extend(self.stray(ocs, listed));
            }
            let halves_here = half.len() - before;
            if cross_connects.is_empty() && halves_here > 0 && halves_here == switch.len() {
                let remedy = if self.scenario.wiring == Wiring::CrossWired {
                    "check ingress_base and egress_base"
                } else {
                    "if each connection carries both directions, import with bidirectional=true"
                };
                found.doubts.push(format!(
                    "every connection of switch {ocs} lacks the connection for its reverse direction; {remedy}"
                ));
            }
            found.installed.ocs.push(InstalledOcs { ocs_id: ocs, cross_connects });
        }
        found.strays.sort_unstable();
        found.half = half.len();
        found.lines.extend(named(&surplus, "makes no circuit (surplus)", "make no circuit (surplus)"));
        found.lines.extend(named(
            &half,
            "lacks the reverse direction (half)",
            "lack the reverse direction (half)",
        ));
        found
    }

    /// Of the candidates that `which` selects, returns circuits that share no port with each other and use no taken
    /// port; target circuits are preferred, then circuits listed first. Marks their ports as taken.
    fn free_of_each_other(
        &self,
        ocs: u32,
        candidates: &Candidates,
        which: impl Fn(&[(Way, usize)]) -> bool,
        taken: &mut HashSet<(Side, u32)>,
    ) -> HashSet<Ends> {
        let first = |ways: &[(Way, usize)]| ways.iter().map(|&(_, position)| position).min();
        let mut order: Vec<(bool, Option<usize>, Ends)> = candidates
            .iter()
            .filter(|(_, ways)| which(ways))
            .map(|(&ends, ways)| (!self.is_wanted(ocs, ends), first(ways), ends))
            .collect();
        order.sort_unstable();
        let mut chosen = HashSet::new();
        for (_, _, ends) in order {
            let ports = [(Side::A, ends.a), (self.far_side(), ends.b)];
            if ports.iter().all(|port| !taken.contains(port)) {
                taken.extend(ports);
                chosen.insert(ends);
            }
        }
        chosen
    }

    /// Returns `true` if a circuit between two ports is possible: the ports belong to two pods, or target circuits are
    /// given port by port, so that a circuit may join a pod to itself.
    fn may_stand(&self, ocs: u32, ends: Ends) -> bool {
        let circuit = self.circuit(ocs, ends);
        circuit.is_some_and(|circuit| circuit.pod_a != circuit.pod_b || self.scenario.is_placed())
    }

    fn is_wanted(&self, ocs: u32, ends: Ends) -> bool {
        let Some(circuit) = self.circuit(ocs, ends) else { return false };
        if !self.scenario.is_placed() {
            let row = self.scenario.logical_circuits.get(circuit.pod_a as usize);
            return row.and_then(|row| row.get(circuit.pod_b as usize)).is_some_and(|&count| count > 0);
        }
        let key = |circuit: Circuit| self.scenario.sorted_ends(circuit);
        let mut placed = self.scenario.placed.iter().filter(|placed| placed.ocs_id == ocs);
        placed.any(|placed| key(placed.circuit) == key(circuit))
    }

    fn circuit(&self, ocs: u32, ends: Ends) -> Option<Circuit> {
        let (pod_a, port_a_index) = self.scenario.port_at(Side::A, ocs, ends.a)?;
        let (pod_b, port_b_index) = self.scenario.port_at(self.far_side(), ocs, ends.b)?;
        let circuit = Circuit { pod_a, port_a_index, pod_b, port_b_index };
        // Without sides the lower pod is named first, regardless of its port numbers.
        let may_turn = self.scenario.wiring == Wiring::SingleSided && !self.keeps_order;
        let turn = may_turn && (pod_b, port_b_index) < (pod_a, port_a_index);
        Some(if turn { circuit.turned() } else { circuit })
    }

    fn end(&self, ocs: u32, (side, number): (Side, u32)) -> Option<StrayEnd> {
        let (pod, port_index) = self.scenario.port_at(side, ocs, number)?;
        Some(StrayEnd { pod, side, port_index })
    }

    fn stray(&self, ocs_id: u32, listed: &Listed) -> Option<Stray> {
        let Joint { from, to, .. } = listed.joint;
        let (from, to) = (self.end(ocs_id, from)?, self.end(ocs_id, to)?);
        Some(Stray { ocs_id, from, to, both_ways: listed.both_ways })
    }
}

/// Returns `true` if both directions of a circuit are listed.
fn is_whole(ways: &[(Way, usize)]) -> bool {
    let has = |wanted| ways.iter().any(|&(way, _)| way == wanted);
    has(Way::Both) || (has(Way::Out) && has(Way::Back))
}

/// Returns a line on some connections, which names the first of them with their places; `None` if there are none.
fn named(connections: &[&Listed], one: &str, many: &str) -> Option<String> {
    let count = connections.len();
    let mut names: Vec<String> = connections
        .iter()
        .take(NAMED)
        .map(|Listed { name, place: (file, at), .. }| format!("{name} ({file}, {at})"))
        .collect();
    if count > NAMED {
        names.push(format!("{} more", count - NAMED));
    }
    let verb = if count == 1 { one } else { many };
    let counted = counted(count as u64, "connection", "connections");
    (count > 0).then(|| format!("{counted} {verb}: {}", names.join(", ")))
}
