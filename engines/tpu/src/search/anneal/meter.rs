//! Distance sums of the designs of several chains, with the fastest wavefront implementation.

use super::ties::Ties;
use crate::model::group::Group;
use crate::throughput::metrics::Lengths;
use crate::throughput::metrics::blocks::{self, Blocks};
use crate::throughput::metrics::wavefront::Wavefront;

/// Minimum number of cubes for which blocks of cubes are faster than single cubes.
const FEWEST: usize = 16;

/// Wavefronts with one pod for each of the chains that are measured together (a crew).
pub(super) enum Meter {
    /// Single cubes, for any group.
    Lanes(Wavefront),
    /// Blocks of 8 cubes, for a group whose order is a multiple of 8.
    Blocks(Box<Blocks>),
}

impl Meter {
    /// Returns the number of pods of `cubes` cubes that are measured together.
    pub(super) fn pods(cubes: usize) -> usize {
        if in_blocks(cubes) { blocks::PODS } else { Wavefront::best_pods(cubes) }
    }

    /// Allocates buffers for several pods of a group, with the given ties.
    pub(super) fn new(group: &Group, pods: usize, ties: &Ties) -> Self {
        // Blocks need a subgroup of 8 elements.
        if in_blocks(group.order())
            && let Some(blocks) = Blocks::new(group, pods, ties.sources())
        {
            return Self::Blocks(Box::new(blocks));
        }
        Self::Lanes(Wavefront::new(group.order(), pods))
    }

    /// Sets one switch of one pod to a group element.
    pub(super) fn set(&mut self, pod: usize, switch: usize, group: &Group, voltage: usize) {
        match self {
            Self::Lanes(wavefront) => wavefront.set(pod, switch, group, voltage),
            Self::Blocks(blocks) => blocks.set(pod, switch, group, voltage),
        }
    }

    /// Sum of the distances from the chips of cube 0 for each pod; `None` for pods that are not connected.
    pub(super) fn run(&mut self, lengths: &Lengths) -> Vec<Option<u64>> {
        match self {
            Self::Lanes(wavefront) => {
                wavefront.run(lengths, 0).iter().map(|found| found.map(|found| found.sum)).collect()
            }
            Self::Blocks(blocks) => blocks.run(lengths).to_vec(),
        }
    }
}

const fn in_blocks(cubes: usize) -> bool {
    cubes >= FEWEST && cubes.is_multiple_of(8)
}

#[cfg(test)]
mod tests;
