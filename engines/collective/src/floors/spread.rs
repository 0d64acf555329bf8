//! Floor of collectives whose data may be copied: AllGather, Broadcast, and, on the reversed graph, ReduceScatter and
//! Reduce (docs/methods/collective.md, section 5; Zhao et al., ForestColl, arXiv 2402.06787).

use super::digraph::Digraph;
use super::maxflow::FlowNetwork;
use super::quotient::{Quotient, quotient};
use super::scale::Overflow;
use crate::scenario::rational::Rational;

/// Number of nodes above which flows are computed on a quotient of the graph; for smaller graphs a quotient would not
/// save time.
const PLAIN_NODES: usize = 150;

/// Data that every destination must receive.
#[derive(Clone, Debug)]
pub struct SpreadData<'g> {
    /// The network.
    pub graph: &'g Digraph,
    /// Amount of data whose source is the node, in any unit; one entry per node.
    pub shards: &'g [i128],
    /// Nodes that receive all data. If symmetries of graph and shards map several of these nodes to each other, the
    /// list needs only one of them.
    pub destinations: &'g [u32],
}

/// Largest rate at which all destinations can receive all data, and the cut that limits this rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadFloor {
    /// Capacity per unit of shard: the time in which a link of this capacity carries one unit is a lower bound on the
    /// time for all data. Zero if some data cannot reach a destination.
    pub rate: Rational,
    /// The node set `S` of the cut: some data of its nodes must leave the set. `true` for nodes inside.
    pub cut: Vec<bool>,
}

/// Returns the floor of the data `spread`; `None` if no data has to move.
///
/// # Errors
/// If the numbers need more than 128 bits.
pub fn spread_floor(spread: &SpreadData<'_>) -> Result<Option<SpreadFloor>, Overflow> {
    let total: i128 = spread.shards.iter().sum();
    let mut best: Option<SpreadFloor> = None;
    for &destination in spread.destinations {
        let needs = total - spread.shards[destination as usize];
        if needs == 0 {
            continue;
        }
        // Initial rate: the smallest over the cuts that separate one destination; its entry links give the capacity
        // without a max-flow computation.
        let rate = Rational::new(spread.graph.in_capacity(destination), needs).ok_or(Overflow)?;
        if best.as_ref().is_none_or(|best| rate < best.rate) {
            let mut cut = vec![true; spread.graph.nodes()];
            cut[destination as usize] = false;
            best = Some(SpreadFloor { rate, cut });
        }
    }
    let Some(mut best) = best else { return Ok(None) };
    // Each destination starts from the best rate so far: a single max-flow shows whether the destination has a cut with
    // a lower rate.
    for &destination in spread.destinations {
        if total == spread.shards[destination as usize] {
            continue;
        }
        if spread.graph.nodes() <= PLAIN_NODES {
            let problem = Destination { graph: spread.graph, shards: spread.shards, node: destination };
            if let Some(lower) = problem.lower(best.rate)? {
                best = lower;
            }
        } else {
            // Cuts of the quotient are cuts of the graph with the same rate.
            let Quotient { cells, graph, shards, alone } = quotient(spread.graph, spread.shards, destination);
            let problem = Destination { graph: &graph, shards: &shards, node: alone };
            if let Some(lower) = problem.lower(best.rate)? {
                best = SpreadFloor {
                    rate: lower.rate,
                    cut: cells.iter().map(|cell| lower.cut[*cell as usize]).collect(),
                };
            }
        }
    }
    Ok(Some(best))
}

/// One destination of the data.
struct Destination<'g> {
    graph: &'g Digraph,
    shards: &'g [i128],
    node: u32,
}

impl Destination<'_> {
    /// Returns the lowest rate below `rate` that limits the destination, and the cut with this rate, by Dinkelbach's
    /// method: as long as a flow at the current rate shows a cut with a lower rate, the search continues with the rate
    /// of that cut. Each rate is the rate of an actual cut, and the rates decrease strictly, so the search ends. `None`
    /// if the destination can receive everything at `rate`.
    fn lower(&self, mut rate: Rational) -> Result<Option<SpreadFloor>, Overflow> {
        let mut found = None;
        while !rate.is_zero() {
            let Some(cut) = self.violated(rate)? else { break };
            // Data and capacity of the violated cut.
            let data: i128 =
                self.shards.iter().zip(&cut).filter(|(_, inside)| **inside).map(|(shard, _)| shard).sum();
            rate = Rational::new(self.graph.leaving(&cut), data).ok_or(Overflow)?;
            found = Some(SpreadFloor { rate, cut });
        }
        Ok(found)
    }

    /// Returns the source side of a minimum cut if the destination cannot receive everything at a rate; otherwise
    /// `None`.
    fn violated(&self, rate: Rational) -> Result<Option<Vec<bool>>, Overflow> {
        // Both sides are multiplied by the denominator, so that all numbers are integers.
        let (numerator, denominator) = (rate.numerator(), rate.denominator());
        let source = self.graph.nodes() as u32;
        let total: i128 = self.shards.iter().sum();
        let wanted = total.checked_mul(numerator).ok_or(Overflow)?;
        let all: i128 = self.graph.arcs().iter().map(|arc| arc.capacity).sum();
        // No sum of flows below exceeds `most` plus `wanted`, so none overflows.
        let most = all.checked_mul(denominator).ok_or(Overflow)?;
        most.checked_add(wanted).ok_or(Overflow)?;
        let mut network = FlowNetwork::new(self.graph.nodes() + 1);
        for arc in self.graph.arcs() {
            network.add(arc.from, arc.to, arc.capacity * denominator);
        }
        // One arc from the source per shard, with the capacity that the rate requires.
        for (node, &shard) in self.shards.iter().enumerate() {
            if shard > 0 {
                network.add(source, node as u32, shard * numerator);
            }
        }
        if network.max_flow(source, self.node, wanted) == wanted {
            return Ok(None);
        }
        // Removes the artificial source.
        let mut side = network.source_side(source);
        side.truncate(self.graph.nodes());
        Ok(Some(side))
    }
}

#[cfg(test)]
mod tests;
