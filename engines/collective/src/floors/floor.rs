//! Lower bounds (floors) of the collectives whose data may be copied, on a network (ForestColl;
//! docs/methods/collective.md, section 5).

use super::digraph::Digraph;
use super::scale::{Overflow, scale};
use super::spread::{SpreadData, SpreadFloor, spread_floor};
use crate::scenario::network::LinkNetwork;
use crate::scenario::rational::Rational;

/// Returns the network as a graph with integer capacities, and the GB/s that a capacity of one represents.
///
/// # Errors
/// If the capacities need more than 128 bits.
pub fn whole(network: &LinkNetwork) -> Result<(Digraph, Rational), Overflow> {
    let capacities: Vec<Rational> = network.links().iter().map(|link| link.capacity).collect();
    // Rational capacities are scaled to integers, so flows are exact.
    let scaled = scale(&capacities)?;
    let arcs =
        network.links().iter().zip(&scaled.numbers).map(|(link, number)| (link.from, link.to, *number));
    Ok((Digraph::with_arcs(network.node_count(), arcs), scaled.unit))
}

/// Returns the largest rate per unit of shard, GB/s, at which every rank can receive the shards of all nodes, and the
/// cut that limits it; `None` if no data has to move. Set `symmetric` only if the symmetries of the network map shards
/// to shards and ranks to ranks.
///
/// # Errors
/// If the numbers need more than 128 bits.
pub fn network_floor(
    network: &LinkNetwork,
    shards: &[i128],
    ranks: &[u32],
    symmetric: bool,
) -> Result<Option<SpreadFloor>, Overflow> {
    let (graph, unit) = whole(network)?;
    let orbits = network.node_orbits();
    let mut seen = vec![false; network.node_count()];
    // Destinations of one orbit have equal floors.
    let first = |rank: &u32| !std::mem::replace(&mut seen[orbits[*rank as usize] as usize], true);
    let destinations: Vec<u32> =
        if symmetric { ranks.iter().copied().filter(first).collect() } else { ranks.to_vec() };
    let floor = spread_floor(&SpreadData { graph: &graph, shards, destinations: &destinations })?;
    floor.map(|floor| Ok(SpreadFloor { rate: floor.rate.times(unit).ok_or(Overflow)?, ..floor })).transpose()
}

#[cfg(test)]
mod tests;
