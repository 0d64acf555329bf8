//! The order in which turns are tried: the first turns are most likely to be allowed.

use super::frame::Frame;
use super::select::{self, SelectionEffort, Ways};
use super::steps::Steps;
use super::turns::{self, Turns};
use crate::model::pod::PORTS;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use rand::RngExt;
use rand::seq::SliceRandom;

/// A value for each turn, at index `6 * class + port`.
pub type Worths = Vec<f64>;

/// All-paths load of each turn: number of shortest paths of all pairs that use the turn (TONS, APL). A turn leads over
/// two arcs. For each source, its load is the number of shortest paths to the node where the turn begins, times the
/// number of their continuations after the turn (to end there counts as one).
///
/// # Errors
/// The watch requests a stop.
pub fn all_paths(frame: &Frame, watch: &mut impl Watch) -> Result<Worths, MethodError> {
    let mut worths = vec![0.0; PORTS * frame.classes()];
    let nodes = frame.nodes();
    let (mut hops, mut queue) = (vec![u32::MAX; nodes], Vec::with_capacity(nodes));
    let (mut reaching, mut onward) = (vec![0.0; nodes], vec![0.0; nodes]);
    for source in 0..frame.sources() as u32 {
        watch.checkpoint()?;
        hops.fill(u32::MAX);
        reaching.fill(0.0);
        onward.fill(1.0);
        queue.clear();
        queue.push(source);
        hops[source as usize] = 0;
        reaching[source as usize] = 1.0;
        let open = |node: u32| {
            (0..PORTS as u8).map(move |port| Frame::arc(node, port)).filter(|arc| frame.is_open(*arc))
        };
        // Breadth-first search with path counts.
        let mut at = 0;
        while at < queue.len() {
            let node = queue[at];
            at += 1;
            for arc in open(node) {
                let next = frame.head(arc) as usize;
                if hops[next] == u32::MAX {
                    hops[next] = hops[node as usize] + 1;
                    queue.push(next as u32);
                }
                if hops[next] == hops[node as usize] + 1 {
                    reaching[next] += reaching[node as usize];
                }
            }
        }
        // Counts, from the farthest nodes back, the shortest paths that end at a node or continue from it.
        for &node in queue.iter().rev() {
            for arc in open(node) {
                let middle = frame.head(arc);
                // Only arcs of shortest paths count.
                if hops[middle as usize] != hops[node as usize] + 1 {
                    continue;
                }
                onward[node as usize] += onward[middle as usize];
                for next in open(middle) {
                    let end = frame.head(next) as usize;
                    if hops[end] == hops[middle as usize] + 1 {
                        let turn = PORTS * frame.class(arc) + usize::from(Frame::port(next));
                        // A turn is counted for every shortest path through both of its arcs.
                        worths[turn] += reaching[node as usize] * onward[end];
                    }
                }
            }
        }
    }
    Ok(worths)
}

/// A random value for each turn.
pub fn random(frame: &Frame, stream: &mut impl rand::Rng) -> Worths {
    (0..PORTS * frame.classes()).map(|_| stream.random()).collect()
}

/// All turns in descending order of value; turns of equal value are in random order, drawn from `stream`.
pub fn ordered(frame: &Frame, worths: &Worths, stream: &mut impl rand::Rng) -> Vec<(usize, u8)> {
    let mut order: Vec<(usize, u8)> = turns::all(frame).collect();
    // A stable sort after a shuffle, so that equal values are in random order.
    order.shuffle(stream);
    let worth = |turn: &(usize, u8)| worths[PORTS * turn.0 + usize::from(turn.1)];
    order.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
    order
}

/// Chosen-path load: number of routes that use each turn if routes are selected without regard to deadlock.
///
/// # Errors
/// The watch requests a stop.
pub fn chosen_paths(
    frame: &Frame,
    effort: &SelectionEffort,
    watch: &mut impl Watch,
) -> Result<Worths, MethodError> {
    // Allows all turns on one channel, so routes may deadlock.
    let steps = Steps::new(frame, &Turns::free(frame));
    let reaches = select::reaches(frame, &steps, watch)?;
    // The routes that are selected under all turns show which turns are useful.
    let ways = Ways { frame, steps: &steps, reaches: &reaches };
    let free = select::select(ways, SelectionEffort { speak: false, ..*effort }, None, watch)?;
    let mut worths = vec![0.0; PORTS * frame.classes()];
    for (source, _, ports) in free.routes() {
        let mut arc = Frame::arc(source, ports[0]);
        for &port in &ports[1..] {
            worths[PORTS * frame.class(arc) + usize::from(port)] += 1.0;
            arc = Frame::arc(frame.head(arc), port);
        }
    }
    Ok(worths)
}
