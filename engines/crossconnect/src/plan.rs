//! The result: the circuits that every switch keeps, adds and removes, in safe batches; or an order of all-to-all
//! phases.

use crate::scenario::Circuit;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::record::{Record as _, any, index, within};
use lightbay_core::{record, words};
use schemars::JsonSchema;
use serde::Serialize;

/// Fields of `result` in a plan of kind `crossconnect`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CrossconnectResult {
    /// Changes of the circuits on the switches.
    Changes(Changes),
    /// An order of all-to-all phases, which changes no circuits.
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
        /// Prices that prove a lower bound on the removed circuits of all plans.
        pub prices: Option<BoundPrices> = any(),
    }
}

/// Units of a price per circuit.
pub const PRICE_UNITS: i64 = 1_000_000;
/// Largest absolute price: a thousand circuits.
const LARGEST_PRICE: i64 = 1000 * PRICE_UNITS;

record! {
    /// Prices that prove a lower bound on the removed circuits of all plans, in millionths of a circuit: dual values of
    /// the relaxation (docs/methods/crossconnect.md, section 8).
    #[derive(Eq)]
    pub struct BoundPrices {
        /// Price of a circuit of each pair of pods `i < j` that has target circuits (pinned circuits aside), in order of
        /// `i`, then `j`.
        pub pairs: Vec<i64> = within(-LARGEST_PRICE..=LARGEST_PRICE),
        /// `ports_a[i][k]`: price of an A port of pod i on switch k; positive only if the target circuits of pod i need
        /// all of its ports.
        pub ports_a: Vec<Vec<i64>> = within(-LARGEST_PRICE..=LARGEST_PRICE),
        /// `ports_b[i][k]`: price of a B port, in the same form.
        pub ports_b: Vec<Vec<i64>> = within(-LARGEST_PRICE..=LARGEST_PRICE),
    }
}

record! {
    /// Cross-connects of one switch, old and new.
    #[derive(Eq)]
    pub struct OcsChanges {
        /// The switch.
        pub ocs_id: u32 = index(),
        /// Circuits of the switch: kept and removed circuits make the old state, kept and added circuits the new one.
        /// Sorted by `pod_a`, `port_a_index`, `pod_b`, `port_b_index`, then action.
        pub cross_connects: Vec<Entry> = any(),
    }
}

words! {
    /// Change of one circuit.
    pub enum Action {
        /// The circuit stays.
        Keep = "keep",
        /// The circuit is removed.
        Remove = "remove",
        /// The circuit is added.
        Add = "add",
    }
}

record! {
    /// One circuit of a switch and its change.
    #[derive(Copy, Eq, Hash)]
    pub struct Entry {
        /// Change of the circuit.
        pub action: Action = any(),
        /// Pod at the A port.
        pub pod_a: u32 = index(),
        /// Index of the A port within its pod and switch, from 0.
        pub port_a_index: u32 = index(),
        /// Number of the A port on the panel of the switch; without panels, A ports are numbered from 1 in order of the
        /// pods.
        pub switch_port_a: u32 = index(),
        /// Pod at the B port.
        pub pod_b: u32 = index(),
        /// Index of the B port within its pod and switch, from 0; an index of A ports if the wiring is `single_sided`.
        pub port_b_index: u32 = index(),
        /// Number of the B port on the panel of the switch; without panels, B ports are numbered from 1 in order of the
        /// pods.
        pub switch_port_b: u32 = index(),
    }
}

record! {
    /// Sums over all switches.
    #[derive(Copy, Default, Eq)]
    pub struct Totals {
        /// Circuits that stay.
        pub kept_circuits: u64 = index(),
        /// Circuits that the plan adds.
        pub added_circuits: u64 = index(),
        /// Circuits that the plan removes, without removals that failed ports force.
        pub removed_circuits: u64 = index(),
        /// Lower bound of the removed circuits by counting pairs of pods: Σ max(0, old − wanted).
        pub lower_bound_removed_circuits: u64 = index(),
        /// Circuits that end at failed ports, which every plan removes.
        pub forced_removed_circuits: Option<u64> = index(),
        /// Target circuits that are not set because ports failed; absent if all are set.
        pub unmet_circuits: Option<u64> = index(),
        /// Lower bound on the unmet circuits, from counting the working ports of every pod and switch; present if
        /// circuits are unmet.
        pub lower_bound_unmet_circuits: Option<u64> = index(),
    }
}

record! {
    /// Changes that are made together: first all removals, then all additions.
    #[derive(Eq)]
    pub struct Batch {
        /// The entries that the batch changes, removals first.
        pub changes: Vec<EntryRef> = any(),
        /// Number of circuits that are dark during the batch, over all switches: the smaller of the numbers of circuits
        /// before and after the whole change, minus the number of live circuits; at least 0. So removals that the
        /// change does not replace do not count.
        pub dark_circuits: u64 = index(),
    }
}

record! {
    /// An entry of [`Changes::ocs`].
    #[derive(Copy, Eq, Hash, PartialOrd, Ord)]
    pub struct EntryRef {
        /// The switch.
        pub ocs_id: u32 = index(),
        /// Index of the entry in the `cross_connects` of the switch.
        pub entry: u32 = index(),
    }
}

words! {
    /// Rule that orders the phases.
    pub enum PhaseRule {
        /// As printed in the paper; a permutation only if the numbers of pods and of GPUs per pod are equal, or with
        /// one GPU per pod and an odd number of pods.
        Printed = "printed",
        /// Valid for any number of pods and GPUs.
        Corrected = "corrected",
    }
}

record! {
    /// Phases of an inter-pod all-to-all, with the destination of every GPU in each phase.
    #[derive(Eq)]
    pub struct PhaseOrder {
        /// Rule that orders the phases.
        pub rule: PhaseRule = any(),
        /// GPUs of a pod, N; GPU n of pod p is number p·N + n.
        pub gpus_per_pod: u32 = index(),
        /// `phases[t][g]`: the GPU that GPU g sends to in phase t + 1 (in one phase to itself: the GPU is then idle).
        pub phases: Vec<Vec<u32>> = index(),
        /// Maximum number of flows from one pod to another, or within a pod, in any phase.
        pub max_flows_per_pod_pair: u32 = index(),
        /// Number of phases in which some GPU receives from more than one other GPU.
        pub contended_phases: u32 = index(),
    }
}

impl Entry {
    /// Returns the circuit without its change.
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
    /// Reads the keys of a `result`. Reads only the form; the checker verifies the content. The caller calls `finish`
    /// on `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        if fields.has("phases") {
            return PhaseOrder::of_fields(fields, problems).map(Self::Order);
        }
        Changes::of_fields(fields, problems).map(Self::Changes)
    }

    /// Returns the changes, if the result changes switches.
    pub const fn changes(&self) -> Option<&Changes> {
        match self {
            Self::Changes(changes) => Some(changes),
            Self::Order(_) => None,
        }
    }

    /// Returns the order, if the result is an order of phases.
    pub const fn order(&self) -> Option<&PhaseOrder> {
        match self {
            Self::Order(order) => Some(order),
            Self::Changes(_) => None,
        }
    }
}
