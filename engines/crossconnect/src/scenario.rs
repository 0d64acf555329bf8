//! The input: pods and their ports on every switch, the circuits that are wanted and those that are installed.

mod knobs;
pub mod presets;
mod read;
mod validate;

#[cfg(test)]
mod tests;

pub use knobs::knobs;

use lightbay_core::exchange::DerivedFrom;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Most pods of a scenario.
pub const MAX_PODS: usize = 1024;
/// Most switches of a scenario.
pub const MAX_OCS: usize = 512;
/// Reason that nothing chooses circuits where they are placed, behind "has no effect".
pub(crate) const GIVEN: &str = "where the wanted circuits are given port by port";
/// Most ports of a pod on one side of one switch.
pub const MAX_PORTS: u32 = 4096;

/// Fields of a scenario of kind `crossconnect`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CrossconnectScenario {
    /// Number of pods, P.
    pub pods: u32,
    /// Number of optical circuit switches, K; with `cross_wired` wiring each stands for a pair of simplex switches.
    pub ocs_count: u32,
    /// Pairs of ports that a switch may connect.
    pub wiring: Wiring,
    /// `ports_a[i][k]`: duplex ports of pod i on the A side of switch k (P x K).
    pub ports_a: Vec<Vec<u32>>,
    /// `ports_b[i][k]`: the same on the B side; all zero for `single_sided`.
    pub ports_b: Vec<Vec<u32>>,
    /// `logical_circuits[i][j]`: duplex circuits wanted between pods i and j (P x P, symmetric, zero diagonal).
    pub logical_circuits: Vec<Vec<u32>>,
    /// Circuits that are set on the switches now.
    pub installed: Installed,
    /// Connections on the switches that make no circuit, as switches report them. They are deleted before anything is set
    /// up; one way of a circuit that the plan sets up stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<Stray>,
    /// The wanted circuits at their switch and ports, if they are given port by port: nothing is left to choose but the
    /// order of the changes. They are those of `logical_circuits`, and circuits of a pod to itself, which only they can
    /// have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placed: Vec<Placed>,
    /// Ports that are out of order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_ports: Vec<Port>,
    /// Installed circuits that must stay where they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<Pinned>,
    /// Limits on the change: circuits that must stay in service while a batch is under way.
    #[serde(skip_serializing_if = "Rollout::is_usual")]
    pub rollout: Rollout,
    /// Names of the pods, for people; `pod 0`, `pod 1`, … if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_names: Option<Vec<String>>,
    /// Family of a random instance, so that another of it can be drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Time of one iteration of the job that the wanted circuits were planned for, seconds: what the change gains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_makespan_s: Option<f64>,
    /// The plan that the wanted circuits come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derived_from: Option<DerivedFrom>,
}

/// Pairs of ports that a switch may connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wiring {
    /// Each pod has A and B ports; a switch joins A to B.
    TwoSided,
    /// The same on simplex switches in pairs: switch 2k is set to the circuits, switch 2k+1 to their reverse.
    CrossWired,
    /// Any port may meet any other; `ports_a` counts all ports.
    SingleSided,
}

/// Circuits that are set on the switches now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Installed {
    /// One entry per switch, in order of id; none at all for a green field.
    pub ocs: Vec<InstalledOcs>,
}

/// Cross-connects of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InstalledOcs {
    /// The switch.
    pub ocs_id: u32,
    /// Its circuits.
    pub cross_connects: Vec<Circuit>,
}

/// A duplex circuit between an A port and a B port (between two A ports if the wiring is `single_sided`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Circuit {
    /// Pod at the A port.
    pub pod_a: u32,
    /// Index of the A port within its pod and switch, from 0.
    pub port_a_index: u32,
    /// Pod at the B port.
    pub pod_b: u32,
    /// Index of the B port within its pod and switch, from 0.
    pub port_b_index: u32,
}

/// Side of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// A ports; all ports if the wiring is `single_sided`.
    A,
    /// B ports.
    B,
}

/// A port of a pod on a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Port {
    /// The switch.
    pub ocs_id: u32,
    /// The pod.
    pub pod: u32,
    /// The side.
    pub side: Side,
    /// Index within pod, switch and side, from 0.
    pub port_index: u32,
}

/// A connection on a switch that makes no circuit: one way without the other, a second use of a port, or one between
/// ports of one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Stray {
    /// The switch.
    pub ocs_id: u32,
    /// Port whose light comes in.
    pub from: StrayEnd,
    /// Port where it goes out.
    pub to: StrayEnd,
    /// `true` if the connection carries both directions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub both_ways: bool,
}

/// A port at the end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct StrayEnd {
    /// The pod.
    pub pod: u32,
    /// The side.
    pub side: Side,
    /// Index within pod, switch and side, from 0.
    pub port_index: u32,
}

/// An installed circuit that must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Pinned {
    /// The switch.
    pub ocs_id: u32,
    /// The circuit; it has to be installed.
    #[serde(flatten)]
    pub circuit: Circuit,
}

/// A wanted circuit at its switch and ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Placed {
    /// The switch.
    pub ocs_id: u32,
    /// The circuit.
    #[serde(flatten)]
    pub circuit: Circuit,
}

/// Limits on the change: circuits that must stay in service while a batch is under way.
///
/// A circuit is dark from the batch that removes it until the batch after the one that adds its successor. The circuits
/// that a pod, or a pair of pods, misses are counted against the smaller of its old and its new number of circuits:
/// those that the plan takes away for good are not missed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Rollout {
    /// Circuits that a pod may miss at the same time; 0 for no limit.
    pub max_dark_per_pod: u32,
    /// Share of its circuits that every pair of pods keeps at any time, 0 to 1; 0 for no limit.
    pub min_pair_share: f64,
}

/// The family of random instances: a random decomposition is installed, and degree-preserving exchanges touch a share
/// of the circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Family {
    /// Circuits that the exchanges touch, per cent; 100 draws an independent new topology.
    pub changed_percent: u32,
    /// Seed of the instance.
    pub instance_seed: u64,
}

impl Default for Rollout {
    fn default() -> Self {
        Self { max_dark_per_pod: 0, min_pair_share: 0.0 }
    }
}

impl Rollout {
    /// Returns `true` if nothing is limited.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Wiring {
    /// All, with their names in files.
    pub const ALL: [(&'static str, Self); 3] = [
        ("two_sided", Self::TwoSided),
        ("cross_wired", Self::CrossWired),
        ("single_sided", Self::SingleSided),
    ];

    /// The name in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TwoSided => "two_sided",
            Self::CrossWired => "cross_wired",
            Self::SingleSided => "single_sided",
        }
    }
}

impl Side {
    /// Both, with their names in files.
    pub const ALL: [(&'static str, Self); 2] = [("a", Self::A), ("b", Self::B)];
}

impl CrossconnectScenario {
    /// Ports of a pod on one side of a switch, failed ones included; 0 beyond the scenario.
    pub fn ports(&self, side: Side, pod: usize, ocs: usize) -> u32 {
        let of = match side {
            Side::A => &self.ports_a,
            Side::B => &self.ports_b,
        };
        of.get(pod).and_then(|row| row.get(ocs)).copied().unwrap_or(0)
    }

    /// Wanted circuits of a pod, d\[i\].
    pub fn degree(&self, pod: usize) -> u64 {
        self.logical_circuits.get(pod).map_or(0, |row| row.iter().map(|&count| u64::from(count)).sum())
    }

    /// All wanted circuits, those of a pod to itself included.
    pub fn wanted_circuits(&self) -> u64 {
        if self.is_placed() {
            return self.placed.len() as u64;
        }
        (0..self.logical_circuits.len()).map(|pod| self.degree(pod)).sum::<u64>() / 2
    }

    /// Returns `true` if the wanted circuits are given port by port.
    pub fn is_placed(&self) -> bool {
        !self.placed.is_empty()
    }

    /// Wanted circuits of every pair of pods that has any, smaller pod first; a pod to itself only if circuits are
    /// given port by port.
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

    /// Installed circuits with their switch, in file order.
    pub fn installed_circuits(&self) -> impl Iterator<Item = (u32, Circuit)> + '_ {
        self.installed
            .ocs
            .iter()
            .flat_map(|ocs| ocs.cross_connects.iter().map(move |&circuit| (ocs.ocs_id, circuit)))
    }

    /// Returns `true` if every pod has the same ports on all switches: the condition under which halving cannot fail.
    pub fn is_uniform(&self) -> bool {
        let even = |row: &Vec<u32>| row.windows(2).all(|pair| pair[0] == pair[1]);
        self.failed_ports.is_empty() && self.ports_a.iter().all(even) && self.ports_b.iter().all(even)
    }

    /// The name of a pod, for people.
    pub fn pod_name(&self, pod: usize) -> String {
        let named = self.pod_names.as_ref().and_then(|names| names.get(pod));
        named.cloned().unwrap_or_else(|| format!("pod {pod}"))
    }
}
