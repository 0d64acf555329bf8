//! Placement of experts: which ranks hold which experts, and copies of the busy ones (docs/methods/moe.md, section 11).
//!
//! | part | content |
//! |---|---|
//! | [`balance`] | loads of the ranks evened out by local search |
//! | [`eplb`] | the placement of EPLB: experts balanced over nodes and GPUs, busy ones copied |
//! | [`joint`] | a placement chosen together with the circuits of the region |

pub mod balance;
pub mod eplb;
pub mod joint;

#[cfg(test)]
mod tests;

use crate::model::demand::copies;
use crate::scenario::MoeScenario;

/// Sizes of a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementShape {
    /// Experts of a layer.
    pub experts: usize,
    /// Places for experts on all ranks together; at least as many as experts.
    pub slots: usize,
    /// Groups of experts that stand together on one server, as gates that choose servers first need them.
    pub groups: usize,
    /// Servers (nodes of EPLB).
    pub servers: usize,
    /// Ranks (GPUs of EPLB).
    pub ranks: usize,
}

impl PlacementShape {
    /// The sizes of a scenario; without room for copies, and with all experts in one group, where it keeps them in
    /// blocks.
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

    /// Slots of a rank.
    pub const fn slots_per_rank(&self) -> usize {
        self.slots / if self.ranks == 0 { 1 } else { self.ranks }
    }

    /// Slots of a server.
    pub const fn slots_per_server(&self) -> usize {
        self.slots / if self.servers == 0 { 1 } else { self.servers }
    }

    /// Returns `true` if groups stay on one server: every server holds as many of them. Else EPLB balances over all
    /// ranks at once.
    pub const fn keeps_groups(&self) -> bool {
        self.servers > 0 && self.groups.is_multiple_of(self.servers)
    }
}

/// Load of every rank, when copies of an expert share its load evenly.
pub fn rank_loads(shape: &PlacementShape, load: &[f64], slots: &[u32]) -> Vec<f64> {
    let copies = copies(shape.experts, slots);
    // Copies share evenly.
    let share = |expert: &u32| load[*expert as usize] / f64::from(copies[*expert as usize]);
    slots.chunks(shape.slots_per_rank().max(1)).map(|rank| rank.iter().map(share).sum()).collect()
}

/// Copies of experts beside another copy on the same rank, which even out nothing.
pub fn doubled(shape: &PlacementShape, slots: &[u32]) -> usize {
    // A copy counts if the rank has the expert in a slot before it.
    let ranks = slots.chunks(shape.slots_per_rank().max(1));
    ranks.map(|rank| (1..rank.len()).filter(|at| rank[..*at].contains(&rank[*at])).count()).sum()
}

/// Load of the busiest rank relative to the mean; 1 without load.
pub fn imbalance(shape: &PlacementShape, load: &[f64], slots: &[u32]) -> f64 {
    let loads = rank_loads(shape, load, slots);
    let sum: f64 = loads.iter().sum();
    if sum > 0.0 { loads.iter().copied().fold(0.0, f64::max) * loads.len() as f64 / sum } else { 1.0 }
}
