//! All-to-all: every chip has a shard for every other chip.

use super::{Collective, Schedule, Send, Utilisation};
use crate::model::pod::{ARC_CLASSES, CHIPS, PORTS, opposite};
use crate::model::topology::Topology;
use crate::plan::{Expansion, Routing};
use crate::throughput::mcf::network::Network;
use crate::throughput::mcf::{Flow, sweep};
use lightbay_core::method::MethodError;
use lightbay_core::problem::Problem;
use lightbay_core::watch::Watch;
use std::collections::BinaryHeap;

/// Maximum number of sends of a schedule.
const MOST_SENDS: u64 = 200_000_000;

/// An all-to-all along the routes of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipExchange {
    /// The sends; shards wait while links are busy.
    pub schedule: Schedule,
    /// Number of routes over the most loaded arc: a lower bound on the epochs of every schedule on these routes.
    pub max_load: u64,
}

/// A shard in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WaitingShard {
    /// Remaining hops, the first criterion: the shard with the most remaining hops is sent first.
    left: u32,
    /// Number of the route; ties are broken by the smaller number, so that the schedule is deterministic.
    route: std::cmp::Reverse<u32>,
    /// Number, in the numbering of the pod, of the arc over which the shard is sent next.
    arc: u32,
}

/// The schedule in which every arc sends the waiting shard with the most remaining hops.
///
/// # Errors
/// Routes that do not fit the pod, too many routes, or the reason to stop.
pub fn single_path(
    pod: &Topology,
    routing: &Routing,
    watch: &mut impl Watch,
) -> Result<ChipExchange, MethodError> {
    let nodes = pod.nodes();
    let refuse =
        |what: String, remedy: &str| Err(MethodError::Invalid(Problem::new("routing", what, remedy).into()));
    let symmetric = routing.expand == Expansion::Translation;
    if symmetric && pod.symmetry().is_none() {
        return refuse("has expand=translation, but the pod has no symmetry".to_owned(), "list all routes");
    }
    let total: u64 = routing.routes.iter().map(|route| route.ports.len() as u64).sum();
    if total > MOST_SENDS {
        return refuse(
            format!(
                "has routes with {total} hops in total: their schedule would take {:.0} GB",
                12e-9 * total as f64
            ),
            "use a smaller or a symmetric pod",
        );
    }
    let sources = if symmetric { CHIPS } else { nodes };
    let neighbours = pod.neighbours();
    let classes = if symmetric { ARC_CLASSES } else { nodes * PORTS };
    let mut queues: Vec<BinaryHeap<WaitingShard>> = vec![BinaryHeap::new(); classes];
    let mut loads = vec![0u64; classes];
    let mut shards = Vec::with_capacity(routing.routes.len());
    for (index, route) in routing.routes.iter().enumerate() {
        let walk = |node: u32, port: &u8| {
            neighbours.get(node as usize).and_then(|far| far.get(usize::from(*port))).copied()
        };
        let end = route.ports.iter().try_fold(route.source, walk);
        let fits = end == Some(route.target) && (route.source as usize) < sources && !route.ports.is_empty();
        if !fits {
            return refuse(
                format!(
                    "has a route from chip {} to chip {} that does not start at a listed chip or does not lead there",
                    route.source, route.target
                ),
                "route the pod again",
            );
        }
        let mut at = route.source;
        for &port in &route.ports {
            loads[(at as usize * PORTS + usize::from(port)) % classes] += 1;
            at = neighbours[at as usize][usize::from(port)];
        }
        let arc = route.source * PORTS as u32 + u32::from(route.ports[0]);
        queues[arc as usize % classes].push(WaitingShard {
            left: route.ports.len() as u32,
            route: std::cmp::Reverse(index as u32),
            arc,
        });
        shards.push(route.source * nodes as u32 + route.target);
    }
    let mut sends = Vec::with_capacity(total as usize);
    let mut epoch = 0;
    let mut arrived = Vec::new();
    while (sends.len() as u64) < total {
        watch.checkpoint()?;
        for queue in &mut queues {
            let Some(waiting) = queue.pop() else { continue };
            let route = waiting.route.0 as usize;
            sends.push(Send { epoch, arc: waiting.arc, shard: shards[route] });
            if waiting.left > 1 {
                let ports = &routing.routes[route].ports;
                let (node, port) = (waiting.arc as usize / PORTS, waiting.arc as usize % PORTS);
                let next = ports[ports.len() + 1 - waiting.left as usize];
                let arc = neighbours[node][port] * PORTS as u32 + u32::from(next);
                arrived.push(WaitingShard { left: waiting.left - 1, arc, ..waiting });
            }
        }
        // A shard that arrives in this epoch can continue in the next one.
        for waiting in arrived.drain(..) {
            queues[waiting.arc as usize % classes].push(waiting);
        }
        epoch += 1;
    }
    let expand = routing.expand;
    let schedule = Schedule { collective: Collective::AllToAll, epochs: epoch, expand, sends };
    Ok(ChipExchange { schedule, max_load: loads.into_iter().max().unwrap_or(0) })
}

/// A path, and the fraction of the demand of its pair that the path carries.
#[derive(Clone, Debug, PartialEq)]
pub struct PathShare {
    /// Last node of the path.
    pub target: u32,
    /// Out port at each node of the path.
    pub ports: Vec<u8>,
    /// Fraction of the demand of the pair that the path carries.
    pub share: f64,
}

/// Returns the number of epochs per shard of every pair, and its lower bound, if every pair splits its shards over
/// paths as in the flow of a certificate, instead of using a single path.
pub fn fractional(flow: &Flow, mcf_upper: f64) -> Utilisation {
    Utilisation { bound_epochs: 1.0 / mcf_upper, epochs: 1.0 / flow.value }
}

/// Decomposes the flow of a certificate from one source into paths; the fractions of the paths to a target add up to 1.
/// If each pair (a, b) sends half of its demand along its own paths and the other half along the reversed paths of the
/// pair (b, a), both directions of every link carry equal loads. This function returns only the paths of the pairs that
/// start at `source`, and no paths for a source outside cube 0 of a symmetric pod.
pub fn paths(pod: &Topology, flow: &Flow, source: u32) -> Vec<PathShare> {
    let nodes = pod.nodes();
    let sources = if pod.symmetry().is_some() { CHIPS } else { nodes };
    let mut found = Vec::new();
    if source as usize >= sources {
        return found;
    }
    let groups = flow.trees.first().map_or(1, |tree| tree.shares.len().max(1));
    let group = source as usize / sources.div_ceil(groups);
    let network = Network::pod(pod, sources.div_ceil(groups));
    let mut scratch = sweep::Scratch::default();
    let mut amount = vec![0.0; network.arcs()];
    for tree in flow.trees.iter().filter(|tree| tree.shares[group] > 0.0) {
        sweep::distances(&network, &tree.lengths, source as usize, &mut scratch);
        for target in (0..nodes).filter(|&target| target != source as usize) {
            amount.fill(0.0);
            let want = |node: usize| if node == target { 1.0 } else { 0.0 };
            sweep::split(&network, &tree.lengths, &mut scratch, want, |arc, share| amount[arc] += share);
            let mut left = 1.0;
            // Every path removes all flow from an arc, so the loop ends.
            while left > 1e-12 {
                let (ports, least) = widest(&network, &amount, source, target as u32);
                if ports.is_empty() || least <= 0.0 {
                    break;
                }
                let mut at = source as usize;
                for &port in &ports {
                    let arc = at * PORTS + usize::from(port);
                    amount[arc] = if amount[arc] <= least { 0.0 } else { amount[arc] - least };
                    at = network.head(arc);
                }
                left -= least;
                found.push(PathShare { target: target as u32, ports, share: least * tree.shares[group] });
            }
        }
    }
    found
}

/// Returns a path along arcs with flow, and the smallest flow of its arcs. The path is found backwards from the target:
/// at every node, it uses the incoming arc with the most flow.
fn widest(network: &Network, amount: &[f64], source: u32, target: u32) -> (Vec<u8>, f64) {
    let (mut at, mut ports, mut least) = (target as usize, Vec::new(), f64::INFINITY);
    while at != source as usize {
        let Some(&arc) = network
            .into(at)
            .iter()
            .max_by(|&&a, &&b| amount[a as usize].total_cmp(&amount[b as usize]).then(b.cmp(&a)))
        else {
            return (Vec::new(), 0.0);
        };
        let arc = arc as usize;
        if amount[arc] <= 0.0 {
            return (Vec::new(), 0.0);
        }
        least = least.min(amount[arc]);
        ports.push((arc % PORTS) as u8);
        at = network.tail(arc);
    }
    ports.reverse();
    (ports, least)
}

/// Returns the ports of the reversed path.
pub fn reversed(ports: &[u8]) -> Vec<u8> {
    ports.iter().rev().map(|&port| opposite(port)).collect()
}
