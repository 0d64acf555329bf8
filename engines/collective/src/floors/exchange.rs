//! Floor of AllToAll without latency: the rate of a concurrent flow, folded by the symmetries of the network. One
//! commodity for each source.

use crate::scenario::network::LinkNetwork;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::instance::Instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Column, Model};
use lightbay_highs::options::Options;
use lightbay_highs::solution::Status;
use rustc_hash::FxHashMap;

/// Returns the largest rate at which every ordered pair of ranks can exchange data at once, GB/s per pair; zero if
/// some pair is not connected, `None` without a pair.
///
/// Flows decompose into paths, so that the rate can be reached with enough chunks. Symmetries have to map ranks to
/// ranks; one source stands for its orbit and one link for its orbit, because a solution averaged over the group is
/// one with the same rate.
///
/// # Errors
/// The reason of the run to stop, or what the solver says.
pub fn exchange_rate<W: Watch>(
    network: &LinkNetwork,
    ranks: &[u32],
    watch: &mut W,
) -> Result<Option<f64>, MethodError> {
    if ranks.len() < 2 {
        return Ok(None);
    }
    // Capacities relate to the largest one.
    let scale = network.links().iter().map(|link| link.capacity_gbyte_per_s).fold(0.0, f64::max);
    if scale <= 0.0 {
        return Ok(Some(0.0));
    }
    let model = folded(network, ranks, scale);
    let failed = |error: lightbay_highs::error::Error| MethodError::Failed(error.to_string());
    let mut instance = Instance::new(&model).map_err(failed)?;
    instance.apply(&Options::new().set("random_seed", 0)).map_err(failed)?;
    let mut listener = RunListener::new(watch);
    let solution = instance.run(&mut listener).map_err(failed)?;
    listener.finish()?;
    match (solution.status, solution.objective) {
        (Status::Optimal, Some(rate)) => Ok(Some(rate * scale)),
        (status, _) => Err(MethodError::Failed(format!("the concurrent flow ended with {status:?}"))),
    }
}

/// The linear program: flows of one source per orbit on every link, in units of `scale`.
fn folded(network: &LinkNetwork, ranks: &[u32], scale: f64) -> Model {
    let mut model = Model::new("concurrent flow");
    model.maximise = true;
    let rate = model.column("rate", 0.0, f64::INFINITY, 1.0);
    let mut wanted = vec![false; network.node_count()];
    for rank in ranks {
        wanted[*rank as usize] = true;
    }
    // Orbits of sources and links.
    let (node_orbits, link_orbits) = (network.node_orbits(), network.link_orbits());
    let mut sources: FxHashMap<u32, u32> = FxHashMap::default();
    for rank in ranks {
        *sources.entry(node_orbits[*rank as usize]).or_default() += 1;
    }
    let mut sizes: FxHashMap<u32, u32> = FxHashMap::default();
    for orbit in &link_orbits {
        *sizes.entry(*orbit).or_default() += 1;
    }
    let mut loads: FxHashMap<u32, Vec<(Column, f64)>> = FxHashMap::default();
    let mut order: Vec<(u32, u32)> = sources.into_iter().collect();
    order.sort_unstable();
    // One source of each orbit, with the number of its members.
    for (source, members) in order {
        // Data that comes back to its source is of no use.
        let flows: Vec<Option<Column>> = network
            .links()
            .iter()
            .enumerate()
            .map(|(id, link)| {
                (link.to != source).then(|| {
                    let flow = model.column(format!("flow of {source} on {id}"), 0.0, f64::INFINITY, 0.0);
                    let orbit = link_orbits[id];
                    // Its members load the links of an orbit alike.
                    let size = sizes.get(&orbit).copied().unwrap_or(1);
                    loads.entry(orbit).or_default().push((flow, f64::from(members) / f64::from(size)));
                    flow
                })
            })
            .collect();
        for node in 0..network.node_count() as u32 {
            if node == source {
                continue;
            }
            // Arrivals, less departures, less what is kept.
            let flow = |link: &u32| flows[*link as usize];
            let mut terms: Vec<(Column, f64)> = Vec::new();
            terms.extend(network.in_links(node).iter().filter_map(flow).map(|column| (column, 1.0)));
            terms.extend(network.out_links(node).iter().filter_map(flow).map(|column| (column, -1.0)));
            if wanted[node as usize] {
                terms.push((rate, -1.0));
            }
            model.equal(format!("{node} keeps its share of {source}"), 0.0, terms);
        }
    }
    let mut loads: Vec<(u32, Vec<(Column, f64)>)> = loads.into_iter().collect();
    loads.sort_unstable_by_key(|(orbit, _)| *orbit);
    for (orbit, terms) in loads {
        // The first link of an orbit bears its number.
        let capacity = network.links()[orbit as usize].capacity_gbyte_per_s / scale;
        model.at_most(format!("capacity of {orbit}"), capacity, terms);
    }
    model
}
