//! Arrivals along the trees of a plan in compact form, without a list of its sends.

use super::unfold::{part_of_one, unfoldings};
use crate::model::group::generated;
use crate::plan::CollectiveResult;
use crate::plan::compact::CompactDiscipline;
use crate::scenario::CollectiveScenario;

/// A tree of a plan in compact form, with the times of its hops.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedTree {
    /// Part of the collective, from 0.
    pub part: usize,
    /// GPU whose data the tree carries.
    pub root: u32,
    /// The only receiver of the data; `None` if every receiver gets it.
    pub dest: Option<u32>,
    /// Number of trees that the tree stands for: its images under the symmetries of the plan, itself included.
    pub images: usize,
    /// Number of pieces that follow the hops.
    pub pieces: u32,
    /// Size of the data of the tree, bytes.
    pub bytes: f64,
    /// `true` if the data is reduced on its way to the root.
    pub adds_up: bool,
    /// The hops from GPU to GPU, parents first; if the data is reduced, it moves from the end of a hop to its beginning.
    pub hops: Vec<TimedHop>,
}

/// A hop of a tree with the epochs of its pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedHop {
    /// GPU nearer to the root.
    pub from: u32,
    /// GPU farther from the root.
    pub to: u32,
    /// Number of hops between the root and the far end.
    pub depth: u32,
    /// Epoch at the beginning of which the first piece starts.
    pub starts: u32,
    /// Epoch at the beginning of which the first piece is usable at the other end.
    pub first: u32,
    /// Epoch at the beginning of which the last piece is usable at the other end.
    pub last: u32,
}

/// Returns the trees of a plan in compact form with the times of their hops.
///
/// # Errors
/// A sentence on why the plan cannot be followed.
pub fn timed_trees(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
) -> Result<Vec<TimedTree>, String> {
    let mut found = Vec::new();
    for (at, part) in unfoldings(scenario, result)?.iter().enumerate() {
        let images = generated(&part.network, &part.part.generators)?.len();
        let finish = part.part.finish_epochs as u32;
        for tree in &part.part.trees {
            // Pieces of periodic schedules follow each other, one per epoch.
            let (runs, follow, bytes) = match part.part.discipline {
                CompactDiscipline::WholeChunk => {
                    let runs = tree.starts.len();
                    (runs, 0, part.piece_bytes * runs as f64)
                }
                CompactDiscipline::Fluid => {
                    let pieces = part.part.pieces_per_tree;
                    (1, pieces.saturating_sub(1), part.part.shard_bytes * part_of_one(&tree.share)?)
                }
            };
            let ways = part.hops(tree, &|node| Ok(node))?;
            let mut depths: Vec<u32> = Vec::with_capacity(ways.len());
            let mut hops: Vec<TimedHop> = Vec::with_capacity(ways.len());
            for run in 0..runs {
                let mut ends: Vec<u32> = Vec::with_capacity(ways.len());
                for (hop, (links, before)) in ways.iter().enumerate() {
                    let start = part.start(tree, (run, hop), before.map(|before| ends[before]))?;
                    let takes = part.way(links).1;
                    ends.push(start + takes);
                    let (starts, first, last) = if part.adds {
                        let late = "a tree ends after the last representable epoch";
                        let from = finish.checked_sub(start + takes + follow).ok_or(late)?;
                        (from, from + takes, from + takes + follow)
                    } else {
                        (start, start + takes, start + takes + follow)
                    };
                    let [starts, first, last] = [starts, first, last].map(|epoch| part.begin + epoch);
                    if let Some(known) = hops.get_mut(hop) {
                        known.starts = known.starts.min(starts);
                        known.first = known.first.min(first);
                        known.last = known.last.max(last);
                        continue;
                    }
                    let edge = &tree.edges[hop];
                    let (Some(from), Some(to)) = (edge.first(), edge.last()) else { continue };
                    let depth = before.map_or(1, |before| depths[before] + 1);
                    depths.push(depth);
                    hops.push(TimedHop { from: *from, to: *to, depth, starts, first, last });
                }
            }
            found.push(TimedTree {
                part: at,
                root: tree.root,
                dest: tree.dests.first().copied(),
                images,
                pieces: runs as u32 + follow,
                bytes,
                adds_up: part.adds,
                hops,
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::send_times;
    use crate::compose::unfolded;
    use crate::testing::preset;
    use lightbay_core::checked::downcast;
    use lightbay_core::testing::Ask;

    #[test]
    fn trees_end_when_the_list_of_sends_ends() {
        for (name, schedule) in [
            ("torus3x3-allreduce-1mb", "matching"),
            ("dgx1-allgather-1mb", "list"),
            ("dgx1-allgather-1mb", "periodic"),
            ("ndv2x2-allgather-1mb", "list"),
        ] {
            let scenario = preset(name);
            let typed = [("schedule", schedule), ("most_sends", "0"), ("most_pieces", "4")];
            let ended = Ask::of(&crate::methods::all(), "trees", scenario.clone()).typed(&typed).run();
            let plan = downcast::<crate::Collective>(ended.done.plan.as_ref().unwrap()).unwrap();
            let short = &plan.plan().result;
            let trees = timed_trees(&scenario, short).unwrap();
            let last = trees.iter().flat_map(|tree| &tree.hops).map(|hop| hop.last).max();
            assert_eq!(last, Some(short.claims.finish_epochs), "{name} {schedule}");
            let listed = unfolded(&scenario, short, u64::MAX).unwrap();
            let times = send_times(&scenario, &listed).unwrap();
            let first = listed.sends.iter().map(|send| send.epoch).min();
            assert_eq!(trees.iter().flat_map(|tree| &tree.hops).map(|hop| hop.starts).min(), first, "{name}");
            assert_eq!(times.arrivals.into_iter().max(), last, "{name}");
            let carried: f64 = trees.iter().map(|tree| tree.images as f64 * tree.bytes).sum();
            let pieces: f64 = listed.pieces.iter().map(|piece| piece.size_bytes).sum();
            assert!((carried / pieces - 1.0).abs() < 1e-9, "{name}: {carried} {pieces}");
        }
    }
}
