//! Circuits of all switches, put together from connections.

use super::in_file;
use crate::files::devices::{Ends, Way, port_at};
use crate::scenario::{Circuit, CrossconnectScenario, Installed, InstalledOcs, Side, Wiring};
use lightbay_core::problem::{Problem, Problems};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Place where a connection was listed: file and line, row or path.
type Place = (String, String);

/// Circuits read so far.
pub(super) struct Circuits<'a> {
    scenario: &'a CrossconnectScenario,
    /// Both ways of every circuit of every switch, with where they were listed.
    ways: Vec<BTreeMap<Ends, BTreeMap<Way, Place>>>,
    /// Circuit that uses each port, by side and number on the panel.
    ports: Vec<BTreeMap<(Side, u32), (Ends, Place)>>,
}

impl<'a> Circuits<'a> {
    pub(super) fn new(scenario: &'a CrossconnectScenario) -> Self {
        let switches = scenario.ocs_count as usize;
        Self { scenario, ways: vec![BTreeMap::new(); switches], ports: vec![BTreeMap::new(); switches] }
    }

    const fn far_side(&self) -> Side {
        match self.scenario.wiring {
            Wiring::SingleSided => Side::A,
            Wiring::TwoSided | Wiring::CrossWired => Side::B,
        }
    }

    /// Adds one way of a circuit.
    pub(super) fn add(&mut self, ocs: u32, ends: Ends, way: Way, place: (&str, &str)) -> Result<(), Problem> {
        let place = (place.0.to_owned(), place.1.to_owned());
        let circuit = self.circuit(ocs, ends).ok_or_else(|| {
            Problem::new("", format!("names ports {} and {}", ends.a, ends.b), "the switch has fewer")
        })?;
        if circuit.pod_a == circuit.pod_b && !self.scenario.is_placed() {
            return Err(Problem::new(
                "",
                format!("joins pod {} to itself", circuit.pod_a),
                "circuits join two pods; are the ports numbered in another way?",
            ));
        }
        let far = self.far_side();
        for end in [(Side::A, ends.a), (far, ends.b)] {
            match self.ports[ocs as usize].entry(end) {
                Entry::Vacant(free) => {
                    free.insert((ends, place.clone()));
                }
                Entry::Occupied(taken) if taken.get().0 == ends => {}
                Entry::Occupied(taken) => {
                    let (_, (file, at)) = taken.get();
                    return Err(Problem::new(
                        "",
                        format!(
                            "uses port {} of side {} again, which {file}, {at} has",
                            end.1,
                            letter(end.0)
                        ),
                        "a port holds one circuit",
                    ));
                }
            }
        }
        match self.ways[ocs as usize].entry(ends).or_default().entry(way) {
            Entry::Vacant(free) => {
                free.insert(place);
                Ok(())
            }
            Entry::Occupied(first) => {
                let (file, at) = first.get();
                Err(Problem::new("", format!("is listed a second time, after {file}, {at}"), "list it once"))
            }
        }
    }

    /// Every circuit needs both directions.
    pub(super) fn finish(&self, problems: &mut Problems) {
        for (ends, ways) in self.ways.iter().flatten() {
            let missing = match (ways.get(&Way::Out), ways.get(&Way::Back)) {
                (Some(place), None) => Some(("back", place)),
                (None, Some(place)) => Some(("out", place)),
                _ => None,
            };
            if let Some((way, (file, at))) = missing {
                problems.push(in_file(
                    file,
                    Problem::new(
                        at.clone(),
                        format!("joins ports {} and {}, but the way {way} is missing", ends.a, ends.b),
                        "a circuit takes two connections; set bidirectional=true if one carries both directions",
                    ),
                ));
            }
        }
    }

    fn circuit(&self, ocs: u32, ends: Ends) -> Option<Circuit> {
        let (pod_a, port_a_index) = port_at(self.scenario, Side::A, ocs, ends.a)?;
        let (pod_b, port_b_index) = port_at(self.scenario, self.far_side(), ocs, ends.b)?;
        Some(Circuit { pod_a, port_a_index, pod_b, port_b_index })
    }

    /// Returns the circuits that are set on all switches.
    pub(super) fn installed(&self) -> Installed {
        let listed = (0u32..).zip(&self.ways).map(|(ocs_id, ways)| {
            let mut cross_connects: Vec<Circuit> =
                ways.keys().filter_map(|&ends| self.circuit(ocs_id, ends)).collect();
            cross_connects.sort_unstable();
            InstalledOcs { ocs_id, cross_connects }
        });
        Installed { ocs: listed.collect() }
    }
}

const fn letter(side: Side) -> char {
    match side {
        Side::A => 'A',
        Side::B => 'B',
    }
}
