//! Minimum-cost flow with lower and upper bounds, by the network simplex method (docs/methods/crossconnect.md, section
//! 3).
//!
//! Everything in this crate that is a flow comes here: the orientation of circuits, the split of switches in two, the
//! labels of switches. Bounds, supplies and costs are whole numbers, and so is every flow that is found.

mod simplex;

#[cfg(test)]
mod tests;

use lightbay_core::method::MethodError;

/// A connection from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// Node that it leaves.
    pub from: u32,
    /// Node that it enters.
    pub to: u32,
    /// Minimum flow.
    pub lower: i64,
    /// Maximum flow.
    pub upper: i64,
    /// Cost of one unit.
    pub cost: i64,
}

/// A network: minimise Σ cost · flow so that every node sends out its supply more than it receives.
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
    /// Its cost.
    pub cost: i64,
}

/// Reason that there is no flow.
#[derive(Debug)]
pub enum FlowError {
    /// The bounds contradict the supplies: more has to enter these nodes than may (a cut that proves it).
    Infeasible(Vec<u32>),
    /// Asked to stop.
    Ended(MethodError),
}

impl FlowNetwork {
    /// A network of nodes without supply and without arcs.
    pub fn new(nodes: usize) -> Self {
        Self { supply: vec![0; nodes], arcs: Vec::new() }
    }

    /// Number of nodes.
    pub const fn nodes(&self) -> usize {
        self.supply.len()
    }

    /// The arcs, in the order in which they were added.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// Adds to what a node sends out; negative is what it takes.
    pub fn add_supply(&mut self, node: u32, supply: i64) {
        if let Some(known) = self.supply.get_mut(node as usize) {
            *known += supply;
        }
    }

    /// Adds an arc and returns its number. Arcs side by side with rising costs make a convex cost.
    pub fn add_arc(&mut self, arc: Arc) -> usize {
        self.arcs.push(arc);
        self.arcs.len() - 1
    }

    /// A minimum-cost flow. `go_on` is asked at least every 5 ms of work.
    ///
    /// # Errors
    /// There is no flow, or `go_on` said to stop.
    pub fn minimize(
        &self,
        go_on: &mut dyn FnMut() -> Result<(), MethodError>,
    ) -> Result<CheapestFlow, FlowError> {
        // Bounds that cross need no flow to be infeasible.
        let contradiction = self.arcs.iter().find(|arc| arc.lower > arc.upper);
        if let Some(arc) = contradiction {
            return Err(FlowError::Infeasible(vec![arc.to]));
        }
        simplex::Simplex::new(&self.supply, &self.arcs).run(go_on)
    }
}
