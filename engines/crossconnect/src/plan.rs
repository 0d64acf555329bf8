//! The result: what every switch keeps, adds and removes, in safe batches; or an order of all-to-all phases.

mod read;

use schemars::JsonSchema;
use serde::Serialize;

/// Fields of `result` in a plan of kind `crossconnect`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CrossconnectResult {
    /// Changes of the switches.
    Changes(Changes),
    /// An order of all-to-all phases, which touches no switch.
    Order(PhaseOrder),
}

/// Circuits that every switch keeps, adds and removes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Changes {
    /// The switches, in order of id.
    pub ocs: Vec<OcsChanges>,
    /// Sums over all switches.
    pub totals: Totals,
    /// The changes in execution order; empty if nothing changes.
    pub batches: Vec<Batch>,
}

/// Cross-connects of one switch, old and new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OcsChanges {
    /// The switch.
    pub ocs_id: u32,
    /// Its entries: keep and remove are the old state, keep and add the new one. Sorted by `pod_a`, `port_a_index`,
    /// `pod_b`, `port_b_index`, then action.
    pub cross_connects: Vec<Entry>,
}

/// Change of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It stays.
    Keep,
    /// It is taken down.
    Remove,
    /// It is set up.
    Add,
}

/// One circuit of a switch and what happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Entry {
    /// Its change.
    pub action: Action,
    /// Pod at the A port.
    pub pod_a: u32,
    /// Index of the A port within its pod and switch, from 0.
    pub port_a_index: u32,
    /// Number of the A port on the panel of the switch, from 1: pods in order.
    pub switch_port_a: u32,
    /// Pod at the B port.
    pub pod_b: u32,
    /// Index of the B port within its pod and switch, from 0 (of the A ports if the wiring is `single_sided`).
    pub port_b_index: u32,
    /// Number of the B port on its side of the panel, from 1: pods in order.
    pub switch_port_b: u32,
}

/// Sums over all switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    /// Circuits that stay.
    pub kept_circuits: u64,
    /// Circuits that are set up.
    pub added_circuits: u64,
    /// Circuits that are taken down, without those that failed ports force.
    pub removed_circuits: u64,
    /// Lower bound of the removed circuits by counting pairs of pods: Σ max(0, old − wanted).
    pub lower_bound_removed_circuits: u64,
    /// Circuits that end at failed ports and have to go whatever is planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_removed_circuits: Option<u64>,
    /// Wanted circuits that are not set because ports are out of order; missing if all are set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet_circuits: Option<u64>,
    /// Lower bound of the unmet circuits by counting the ports in order of every pod and switch; there with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound_unmet_circuits: Option<u64>,
}

/// Changes that are made together: first all removals, then all additions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Batch {
    /// The entries, removals first.
    pub changes: Vec<EntryRef>,
    /// Circuits that are missing while the batch is under way: what is live then on all switches against the smaller
    /// of the old and the new number of circuits. A circuit that moves is dark meanwhile, one that goes for good is not.
    pub dark_circuits: u64,
}

/// An entry of [`Changes::ocs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct EntryRef {
    /// The switch.
    pub ocs_id: u32,
    /// Index into its `cross_connects`.
    pub entry: u32,
}

/// Rule that orders the phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseRule {
    /// As the paper prints it; no permutation unless pods and GPUs per pod are equal in number.
    Printed,
    /// Valid for any number of pods and GPUs.
    Corrected,
}

/// Phases of an inter-pod all-to-all, with the destination of every GPU in each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PhaseOrder {
    /// The rule.
    pub rule: PhaseRule,
    /// GPUs of a pod, N; GPU n of pod p is number p·N + n.
    pub gpus_per_pod: u32,
    /// `phases[t][g]`: the GPU that GPU g sends to in phase t + 1 (itself in one phase: idle).
    pub phases: Vec<Vec<u32>>,
    /// Largest number of flows from one pod to one pod in any phase, what stays in a pod included.
    pub max_flows_per_pod_pair: u32,
    /// Phases in which some GPU receives from two others.
    pub contended_phases: u32,
}

impl CrossconnectResult {
    /// The changes, if it is about switches.
    pub const fn changes(&self) -> Option<&Changes> {
        match self {
            Self::Changes(changes) => Some(changes),
            Self::Order(_) => None,
        }
    }

    /// The order, if it is one.
    pub const fn order(&self) -> Option<&PhaseOrder> {
        match self {
            Self::Order(order) => Some(order),
            Self::Changes(_) => None,
        }
    }
}

impl Action {
    /// All, with their names in files.
    pub const ALL: [(&'static str, Self); 3] =
        [("keep", Self::Keep), ("remove", Self::Remove), ("add", Self::Add)];

    /// The name in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Remove => "remove",
            Self::Add => "add",
        }
    }
}

impl PhaseRule {
    /// Both, with their names in files.
    pub const ALL: [(&'static str, Self); 2] = [("printed", Self::Printed), ("corrected", Self::Corrected)];
}
