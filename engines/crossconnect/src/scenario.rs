//! The input: pods and their ports on every switch, the target circuits and the installed circuits.

mod knobs;
mod named;
mod panels;
pub mod presets;
mod validate;

#[cfg(test)]
mod tests;

pub use knobs::KNOBS;
pub use panels::{End, Panel, PanelPort};
pub(crate) use panels::{NAME_REMEDY, wrong_name};

use lightbay_core::exchange::{DerivedFrom, Switching};
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::record::{FieldType, NumberRange, Place, Record, Spec, any, list, usual, within};
use lightbay_core::{record, words};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum number of pods of a scenario.
pub const MAX_PODS: usize = 1024;
/// Maximum number of switches of a scenario.
pub const MAX_OCS: usize = 512;
/// Completes the message "has no effect …" for search parameters if the target circuits are given port by port.
pub(crate) const GIVEN: &str = "where the target circuits are given port by port";
/// Maximum number of ports of a pod on one side of one switch.
pub const MAX_PORTS: u32 = 4096;
/// Maximum number of circuits of a pair of pods.
const MAX_CIRCUITS: i64 = 1 << 20;

fn ocs() -> Spec<u32> {
    within(0..=MAX_OCS as i64 - 1)
}

fn pod() -> Spec<u32> {
    within(0..=MAX_PODS as i64 - 1)
}

fn port() -> Spec<u32> {
    within(0..=i64::from(MAX_PORTS) - 1)
}

record! {
    /// Fields of a scenario of kind `crossconnect`.
    pub struct CrossconnectScenario {
        /// Number of pods, P.
        pub pods: u32 = within(1..=MAX_PODS as i64),
        /// Number of optical circuit switches, K; with `cross_wired` wiring each represents a pair of simplex switches.
        pub ocs_count: u32 = within(1..=MAX_OCS as i64),
        /// Ports that a switch may connect: A ports with B ports, A ports with B ports on pairs of simplex switches, or
        /// any two ports.
        pub wiring: Wiring = any().or(Wiring::TwoSided).cold(),
        /// `ports_a[i][k]`: duplex ports of pod i on the A side of switch k (P x K).
        pub ports_a: Vec<Vec<u32>> = within(0..=i64::from(MAX_PORTS)),
        /// `ports_b[i][k]`: duplex ports of pod i on the B side of switch k; all zero for `single_sided`.
        pub ports_b: Vec<Vec<u32>> = within(0..=i64::from(MAX_PORTS)).or(Vec::new()),
        /// `logical_circuits[i][j]`: duplex target circuits between pods i and j (P x P, symmetric, zero diagonal).
        pub logical_circuits: Vec<Vec<u32>> = within(0..=MAX_CIRCUITS),
        /// Circuits that are set on the switches now.
        pub installed: Installed = any().or(Installed::default()),
        /// Connections on the switches that make no circuit, as switches report them. The plan deletes these
        /// connections before it adds circuits, but keeps a connection that already is one direction of an added
        /// circuit.
        pub strays: Vec<Stray> = list(),
        /// The target circuits at their switch and ports, if they are given port by port; methods then choose only the
        /// order of the changes. They are the circuits of `logical_circuits` and circuits of a pod to itself, which
        /// only this list can contain.
        pub placed: Vec<Placed> = list(),
        /// Failed ports.
        pub failed_ports: Vec<Port> = list(),
        /// Those of the failed ports that had failed before their whole switch failed, so that they stay failed if the
        /// parameter `failed_ocs` no longer lists the switch.
        pub failed_before: Vec<Port> = list(),
        /// Installed circuits that must stay at their switch and ports.
        pub pinned: Vec<Placed> = list(),
        /// Limits on the change: circuits that must stay in service while a batch is under way.
        pub rollout: Rollout = any().or(Rollout::default()).omitted(),
        /// Panels of the switches, one for each, with their names and port numbers. Without panels, the ports of a side
        /// are numbered from 1 in order of the pods.
        pub panels: Vec<Panel> = list(),
        /// Names of the pods, for people; `pod 0`, `pod 1`, … if there are none.
        pub pod_names: Option<Vec<String>> = any(),
        /// Family of a random instance, from which other instances can be sampled.
        pub family: Option<Family> = any(),
        /// Iteration time of the job for which the target circuits were planned, s; it shows the benefit of the change.
        /// lightbay removes it if the target circuits change.
        pub predicted_makespan_s: Option<f64> = within(0.0..=1e12),
        /// Time within an iteration at which the target circuits are set, if circuits change within it; every iteration
        /// repeats the changes.
        pub switching: Option<Switching> = any(),
        /// The plan that the target circuits come from.
        pub derived_from: Option<DerivedFrom> = any(),
    }
}

words! {
    /// Pairs of ports that a switch may connect.
    pub enum Wiring {
        /// Each pod has A and B ports; a switch joins A to B.
        TwoSided = "two_sided",
        /// Each pod has A and B ports; each switch is a pair of simplex switches: switch 2k carries the forward
        /// direction of the circuits, switch 2k+1 the reverse direction.
        CrossWired = "cross_wired",
        /// A switch can join any two ports; `ports_a` counts all ports.
        SingleSided = "single_sided",
    }
}

record! {
    /// Circuits that are set on the switches now.
    #[derive(Default, Eq)]
    pub struct Installed {
        /// One entry per switch, in order of id; no entry if nothing is installed.
        pub ocs: Vec<InstalledOcs> = any(),
    }
}

record! {
    /// Cross-connects of one switch.
    #[derive(Eq)]
    pub struct InstalledOcs {
        /// The switch.
        pub ocs_id: u32 = ocs(),
        /// Circuits of the switch.
        pub cross_connects: Vec<Circuit> = any(),
    }
}

record! {
    /// A duplex circuit between an A port and a B port (between two A ports if the wiring is `single_sided`).
    #[derive(Copy, Eq, Hash, PartialOrd, Ord)]
    pub struct Circuit {
        /// Pod at the A port.
        pub pod_a: u32 = pod(),
        /// Index of the A port within its pod and switch, from 0.
        pub port_a_index: u32 = port(),
        /// Pod at the B port.
        pub pod_b: u32 = pod(),
        /// Index of the B port within its pod and switch, from 0.
        pub port_b_index: u32 = port(),
    }
}

impl Circuit {
    /// Returns the same circuit from its other end, for switches without sides.
    pub(crate) const fn turned(self) -> Self {
        let Self { pod_a, port_a_index, pod_b, port_b_index } = self;
        Self { pod_a: pod_b, port_a_index: port_b_index, pod_b: pod_a, port_b_index: port_a_index }
    }
}

words! {
    /// Side of a switch.
    pub enum Side {
        /// A ports; all ports if the wiring is `single_sided`.
        A = "a",
        /// B ports.
        B = "b",
    }
}

record! {
    /// A port of a pod on a switch.
    #[derive(Copy, Eq, Hash, PartialOrd, Ord)]
    pub struct Port {
        /// The switch.
        pub ocs_id: u32 = ocs(),
        /// The pod.
        pub pod: u32 = pod(),
        /// The side.
        pub side: Side = any(),
        /// Index within pod, switch and side, from 0.
        pub port_index: u32 = port(),
    }
}

record! {
    /// A connection on a switch that makes no circuit: one direction without the other, a second use of a port, or a
    /// connection between ports of one pod.
    #[derive(Copy, Eq, Hash, PartialOrd, Ord)]
    pub struct Stray {
        /// The switch.
        pub ocs_id: u32 = ocs(),
        /// Port at which light enters the switch.
        pub from: StrayEnd = any(),
        /// Port at which light leaves the switch.
        pub to: StrayEnd = any(),
        /// `true` if the connection carries both directions.
        pub both_ways: bool = any().or(false).omitted(),
    }
}

record! {
    /// A port at the end of a connection.
    #[derive(Copy, Eq, Hash, PartialOrd, Ord)]
    pub struct StrayEnd {
        /// The pod.
        pub pod: u32 = pod(),
        /// The side.
        pub side: Side = any(),
        /// Index within pod, switch and side, from 0.
        pub port_index: u32 = port(),
    }
}

/// A circuit at its switch and ports: a target circuit, or an installed circuit that must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Placed {
    /// The switch.
    pub ocs_id: u32,
    /// The circuit.
    #[serde(flatten)]
    pub circuit: Circuit,
}

impl FieldType for Placed {
    fn read(value: &Value, place: &Place<'_>, _range: NumberRange, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, &place.to_string(), problems)?;
        let ocs_id = ocs().read("ocs_id", &mut fields, problems);
        let circuit = Circuit::of_fields(&mut fields, problems);
        fields.finish(problems);
        Some(Self { ocs_id: ocs_id?, circuit: circuit? })
    }

    fn schema(generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        generator.subschema_for::<Self>()
    }
}

record! {
    /// Limits on the change: circuits that must stay in service while a batch is under way.
    ///
    /// A circuit is dark from the batch that removes it up to and including the batch that adds the circuit that
    /// replaces it. The circuits that a pod, or a pair of pods, lacks are counted from the smaller of its old and its
    /// new number of circuits, so circuits that the plan removes for good do not count as lacking. Without limits, a
    /// change is made in one batch. If that would cut off a pair of pods or remove more than half of a pod's circuits,
    /// the change is split, provided that this avoids the loss for at least one of these pods or pairs; a change of
    /// more than 4000 removals and additions, and a change within an iteration, is never split. To force a single
    /// batch, set a limit that is never reached.
    #[derive(Copy)]
    pub struct Rollout {
        /// Maximum number of circuits that a pod may lack during a batch; 0: no limit.
        pub max_dark_per_pod: u32 = within(0..=MAX_CIRCUITS).or(0),
        /// Minimum fraction of its circuits that every pair of pods keeps during a batch; 0: no limit.
        pub min_pair_share: f64 = within(0.0..=1.0).or(0.0),
    }
}

record! {
    /// A family of random instances: a random permutation of the pods is installed on every switch, and exchanges that
    /// keep the degrees change a fraction of the circuits.
    #[derive(Copy, Eq, Hash)]
    pub struct Family {
        /// Percentage of circuits that the new topology of a random instance changes; 100: an independent topology.
        pub changed_percent: u32 = within(0..=100).or(25).cold().unit("%"),
        /// Seed of a random instance.
        pub instance_seed: u64 = any().or(1).cold(),
    }
}

impl Default for Rollout {
    fn default() -> Self {
        usual()
    }
}

impl Default for Family {
    fn default() -> Self {
        usual()
    }
}

impl Rollout {
    /// Returns `true` if no limit is set.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl CrossconnectScenario {
    /// Reads the scenario's own keys; where ports have no sides, `ports_b` may be left out. The caller calls `finish`
    /// on `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let mut scenario: Self = Self::of_fields(fields, problems)?;
        if scenario.wiring == Wiring::SingleSided && scenario.ports_b.is_empty() {
            scenario.ports_b = scenario.ports_a.iter().map(|row| vec![0; row.len()]).collect();
        }
        Some(scenario)
    }

    /// Returns the number of ports of a pod on one side of a switch, failed ports included; 0 if the scenario has no
    /// such pod or switch.
    pub fn ports(&self, side: Side, pod: usize, ocs: usize) -> u32 {
        let of = match side {
            Side::A => &self.ports_a,
            Side::B => &self.ports_b,
        };
        of.get(pod).and_then(|row| row.get(ocs)).copied().unwrap_or(0)
    }

    /// Returns the number of target circuits of a pod, d\[i\].
    pub fn degree(&self, pod: usize) -> u64 {
        self.logical_circuits.get(pod).map_or(0, |row| row.iter().map(|&count| u64::from(count)).sum())
    }

    /// Returns the number of all target circuits, including circuits of a pod to itself.
    pub fn wanted_circuits(&self) -> u64 {
        if self.is_placed() {
            return self.placed.len() as u64;
        }
        (0..self.logical_circuits.len()).map(|pod| self.degree(pod)).sum::<u64>() / 2
    }

    /// Returns `true` if the target circuits are given port by port.
    pub fn is_placed(&self) -> bool {
        !self.placed.is_empty()
    }

    /// Returns the number of target circuits of every pair of pods that has any, smaller pod first; circuits of a pod
    /// to itself exist only if circuits are given port by port.
    pub fn wanted_pairs(&self) -> BTreeMap<(u32, u32), u32> {
        let mut pairs = BTreeMap::new();
        for (i, row) in self.logical_circuits.iter().enumerate() {
            for (j, &count) in row.iter().enumerate().skip(i + 1).filter(|&(_, &count)| count > 0) {
                pairs.insert((i as u32, j as u32), count);
            }
        }
        for Placed { circuit, .. } in
            self.placed.iter().filter(|placed| placed.circuit.pod_a == placed.circuit.pod_b)
        {
            *pairs.entry((circuit.pod_a, circuit.pod_b)).or_default() += 1;
        }
        pairs
    }

    /// Returns the installed circuits with their switch, in file order.
    pub fn installed_circuits(&self) -> impl Iterator<Item = (u32, Circuit)> + '_ {
        self.installed
            .ocs
            .iter()
            .flat_map(|ocs| ocs.cross_connects.iter().map(move |&circuit| (ocs.ocs_id, circuit)))
    }

    /// Returns `true` if no port has failed and every pod has the same numbers of A and of B ports on all switches: the
    /// condition under which halving cannot fail.
    pub fn is_uniform(&self) -> bool {
        let even = |row: &Vec<u32>| row.windows(2).all(|pair| pair[0] == pair[1]);
        self.failed_ports.is_empty() && self.ports_a.iter().all(even) && self.ports_b.iter().all(even)
    }

    /// Returns the name of a pod, for messages and reports.
    pub fn pod_name(&self, pod: usize) -> String {
        let named = self.pod_names.as_ref().and_then(|names| names.get(pod));
        named.cloned().unwrap_or_else(|| format!("pod {pod}"))
    }
}
