//! Placement of experts on ranks, with replicas of busy experts (docs/methods/moe.md, section 11).
//!
//! | module | content |
//! |---|---|
//! | [`balance`] | balances the loads of the ranks by local search |
//! | [`eplb`] | the placement of EPLB: experts balanced over nodes and GPUs, with replicas of busy experts |
//! | [`joint`] | a placement that is chosen together with the circuits of the region |

pub mod balance;
pub mod eplb;
pub mod joint;

#[cfg(test)]
mod tests;

use crate::model::demand::copies;
use crate::scenario::MoeScenario;
use lightbay_core::problem::counted;

/// Sizes of a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementShape {
    /// Number of experts of a layer.
    pub experts: usize,
    /// Number of slots for experts on all ranks together, at least one per expert.
    pub slots: usize,
    /// Number of groups of experts that stay together on one server, for gates that choose servers first.
    pub groups: usize,
    /// Number of servers (nodes of EPLB).
    pub servers: usize,
    /// Number of ranks (GPUs of EPLB).
    pub ranks: usize,
}

impl PlacementShape {
    /// Returns the sizes of a scenario; if the scenario keeps experts in blocks, the sizes leave no room for replicas
    /// and put all experts in one group.
    pub fn of(scenario: &MoeScenario) -> Self {
        let shape = scenario.shape();
        let room = scenario.placement.unwrap_or_default();
        Self {
            experts: shape.experts as usize,
            slots: (shape.experts + room.redundant_experts) as usize,
            groups: room.expert_groups as usize,
            servers: scenario.region.servers as usize,
            ranks: shape.ep as usize,
        }
    }

    /// Returns the number of slots of a rank.
    pub const fn slots_per_rank(&self) -> usize {
        self.slots / if self.ranks == 0 { 1 } else { self.ranks }
    }

    /// Returns the number of slots of a server.
    pub const fn slots_per_server(&self) -> usize {
        self.slots / if self.servers == 0 { 1 } else { self.servers }
    }

    /// Returns `true` if every group stays on one server, which requires that all servers hold the same number of
    /// groups. Otherwise EPLB balances over all ranks at once.
    pub const fn keeps_groups(&self) -> bool {
        self.servers > 0 && self.groups.is_multiple_of(self.servers)
    }
}

/// Returns the load of every rank; replicas of an expert share its load evenly.
pub fn rank_loads(shape: &PlacementShape, load: &[f64], slots: &[u32]) -> Vec<f64> {
    let copies = copies(shape.experts, slots);
    // Replicas share the load evenly.
    let share = |expert: &u32| load[*expert as usize] / f64::from(copies[*expert as usize]);
    slots.chunks(shape.slots_per_rank().max(1)).map(|rank| rank.iter().map(share).sum()).collect()
}

/// Returns the number of replicas on ranks that already hold the expert; these replicas do not balance the loads.
pub fn doubled(shape: &PlacementShape, slots: &[u32]) -> usize {
    // A replica counts if an earlier slot of the rank has the same expert.
    let ranks = slots.chunks(shape.slots_per_rank().max(1));
    ranks.map(|rank| (1..rank.len()).filter(|at| rank[..*at].contains(&rank[*at])).count()).sum()
}

/// Returns the note on the replicas that [`doubled`] counts in the placements of all layers; `None` if there are none.
pub fn doubled_note<'a>(shape: &PlacementShape, layers: impl Iterator<Item = &'a [u32]>) -> Option<String> {
    let replicas: usize = layers.map(|slots| doubled(shape, slots)).sum();
    let replicas =
        (replicas > 0).then(|| counted(replicas as u64, "expert replica is", "expert replicas are"))?;
    Some(format!("{replicas} on a rank that already has the expert, which does not balance the loads"))
}

/// Returns the load of the busiest rank relative to the mean; 1 without load.
pub fn imbalance(shape: &PlacementShape, load: &[f64], slots: &[u32]) -> f64 {
    let loads = rank_loads(shape, load, slots);
    let sum: f64 = loads.iter().sum();
    if sum > 0.0 { loads.iter().copied().fold(0.0, f64::max) * loads.len() as f64 / sum } else { 1.0 }
}
