//! Minimum-cost flow with lower and upper bounds, by the network simplex method (docs/methods/crossconnect.md, section
//! 3).
//!
//! All flow problems of this crate use this method: the orientation of circuits, the split of switches in two, the
//! renaming of switches. Bounds, supplies and costs are integers, so every flow is integral.

mod simplex;

#[cfg(test)]
mod tests;

use lightbay_core::method::MethodError;

/// A connection from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// Node that the arc leaves.
    pub from: u32,
    /// Node that the arc enters.
    pub to: u32,
    /// Minimum flow.
    pub lower: i64,
    /// Maximum flow.
    pub upper: i64,
    /// Cost of one unit.
    pub cost: i64,
}

/// A network: minimise Σ cost · flow such that the outflow of every node minus its inflow is its supply.
#[derive(Clone, Debug, Default)]
pub struct FlowNetwork {
    supply: Vec<i64>,
    arcs: Vec<Arc>,
}

/// A minimum-cost flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheapestFlow {
    /// Flow of every arc.
    pub flow: Vec<i64>,
    /// Cost of the flow.
    pub cost: i64,
}

/// Reason that there is no flow.
#[derive(Debug)]
pub enum FlowError {
    /// The bounds contradict the supplies: more flow must enter these nodes than the cut around them allows.
    Infeasible(Vec<u32>),
    /// The search was stopped.
    Ended(MethodError),
}

impl FlowNetwork {
    /// Creates a network of nodes without supply and without arcs.
    pub fn new(nodes: usize) -> Self {
        Self { supply: vec![0; nodes], arcs: Vec::new() }
    }

    /// Returns the number of nodes.
    pub const fn nodes(&self) -> usize {
        self.supply.len()
    }

    /// Returns the arcs, in the order in which they were added.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// Adds to the supply of a node; a negative supply is a demand.
    pub fn add_supply(&mut self, node: u32, supply: i64) {
        if let Some(known) = self.supply.get_mut(node as usize) {
            *known += supply;
        }
    }

    /// Adds an arc and returns its number. Parallel arcs with increasing costs model a convex cost.
    pub fn add_arc(&mut self, arc: Arc) -> usize {
        self.arcs.push(arc);
        self.arcs.len() - 1
    }

    /// Returns a minimum-cost flow. Calls `go_on` at least every 5 ms of work.
    ///
    /// # Errors
    /// No flow exists, or `go_on` stops the search.
    pub fn minimize(
        &self,
        go_on: &mut dyn FnMut() -> Result<(), MethodError>,
    ) -> Result<CheapestFlow, FlowError> {
        // A lower bound above the upper bound is infeasible without solving a flow.
        let contradiction = self.arcs.iter().find(|arc| arc.lower > arc.upper);
        if let Some(arc) = contradiction {
            return Err(FlowError::Infeasible(vec![arc.to]));
        }
        simplex::Simplex::new(&self.supply, &self.arcs).run(go_on)
    }
}
