//! The result: what every switch keeps, adds and removes, in safe batches; or an order of all-to-all phases.

use crate::scenario::Circuit;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::record::{Record as _, any, index};
use lightbay_core::{record, words};
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

record! {
    /// Circuits that every switch keeps, adds and removes.
    pub struct Changes {
        /// The switches, in order of id.
        pub ocs: Vec<OcsChanges> = any(),
        /// Sums over all switches.
        pub totals: Totals = any(),
        /// The changes in execution order; empty if nothing changes.
        pub batches: Vec<Batch> = any().or(Vec::new()),
    }
}

record! {
    /// Cross-connects of one switch, old and new.
    #[derive(Eq)]
    pub struct OcsChanges {
        /// The switch.
        pub ocs_id: u32 = index(),
        /// Its entries: keep and remove are the old state, keep and add the new one. Sorted by `pod_a`, `port_a_index`,
        /// `pod_b`, `port_b_index`, then action.
        pub cross_connects: Vec<Entry> = any(),
    }
}

words! {
    /// Change of a circuit.
    pub enum Action {
        /// It stays.
        Keep = "keep",
        /// It is taken down.
        Remove = "remove",
        /// It is set up.
        Add = "add",
    }
}

record! {
    /// One circuit of a switch and what happens to it.
    #[derive(Copy, Eq, Hash)]
    pub struct Entry {
        /// Its change.
        pub action: Action = any(),
        /// Pod at the A port.
        pub pod_a: u32 = index(),
        /// Index of the A port within its pod and switch, from 0.
        pub port_a_index: u32 = index(),
        /// Number of the A port on the panel of the switch, from 1: pods in order.
        pub switch_port_a: u32 = index(),
        /// Pod at the B port.
        pub pod_b: u32 = index(),
        /// Index of the B port within its pod and switch, from 0 (of the A ports if the wiring is `single_sided`).
        pub port_b_index: u32 = index(),
        /// Number of the B port on its side of the panel, from 1: pods in order.
        pub switch_port_b: u32 = index(),
    }
}

record! {
    /// Sums over all switches.
    #[derive(Copy, Default, Eq)]
    pub struct Totals {
        /// Circuits that stay.
        pub kept_circuits: u64 = index(),
        /// Circuits that are set up.
        pub added_circuits: u64 = index(),
        /// Circuits that are taken down, without those that failed ports force.
        pub removed_circuits: u64 = index(),
        /// Lower bound of the removed circuits by counting pairs of pods: Σ max(0, old − wanted).
        pub lower_bound_removed_circuits: u64 = index(),
        /// Circuits that end at failed ports and have to go whatever is planned.
        pub forced_removed_circuits: Option<u64> = index(),
        /// Wanted circuits that are not set because ports failed; missing if all are set.
        pub unmet_circuits: Option<u64> = index(),
        /// Lower bound of the unmet circuits by counting the ports in order of every pod and switch; there with them.
        pub lower_bound_unmet_circuits: Option<u64> = index(),
    }
}

record! {
    /// Changes that are made together: first all removals, then all additions.
    #[derive(Eq)]
    pub struct Batch {
        /// The entries, removals first.
        pub changes: Vec<EntryRef> = any(),
        /// Circuits that are missing while the batch is under way: what is live then on all switches against the smaller
        /// of the old and the new number of circuits. A circuit that moves is dark meanwhile, one that goes for good is not.
        pub dark_circuits: u64 = index(),
    }
}

record! {
    /// An entry of [`Changes::ocs`].
    #[derive(Copy, Eq, Hash, PartialOrd, Ord)]
    pub struct EntryRef {
        /// The switch.
        pub ocs_id: u32 = index(),
        /// Index into its `cross_connects`.
        pub entry: u32 = index(),
    }
}

words! {
    /// Rule that orders the phases.
    pub enum PhaseRule {
        /// As the paper prints it; no permutation unless pods and GPUs per pod are equal in number.
        Printed = "printed",
        /// Valid for any number of pods and GPUs.
        Corrected = "corrected",
    }
}

record! {
    /// Phases of an inter-pod all-to-all, with the destination of every GPU in each.
    #[derive(Eq)]
    pub struct PhaseOrder {
        /// The rule.
        pub rule: PhaseRule = any(),
        /// GPUs of a pod, N; GPU n of pod p is number p·N + n.
        pub gpus_per_pod: u32 = index(),
        /// `phases[t][g]`: the GPU that GPU g sends to in phase t + 1 (itself in one phase: idle).
        pub phases: Vec<Vec<u32>> = index(),
        /// Largest number of flows from one pod to one pod in any phase, what stays in a pod included.
        pub max_flows_per_pod_pair: u32 = index(),
        /// Phases in which some GPU receives from two others.
        pub contended_phases: u32 = index(),
    }
}

impl Entry {
    /// The circuit, without what happens to it.
    pub const fn circuit(&self) -> Circuit {
        Circuit {
            pod_a: self.pod_a,
            port_a_index: self.port_a_index,
            pod_b: self.pod_b,
            port_b_index: self.port_b_index,
        }
    }
}

impl CrossconnectResult {
    /// Reads the keys of a `result`. Only form is read: whether the plan is right is the checker's business. The caller
    /// finishes `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        if fields.has("phases") {
            return PhaseOrder::of_fields(fields, problems).map(Self::Order);
        }
        Changes::of_fields(fields, problems).map(Self::Changes)
    }

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
