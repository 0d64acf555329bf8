//! Rings, meshes and tori.

use super::{Builder, permutation};
use crate::scenario::{NodeSort, SwitchHop, Topology};

/// Rate of a link, GB/s.
const RATE: f64 = 50.0;
/// Latency of a link, µs.
const ALPHA: f64 = 1.0;

/// Builds a ring in both directions.
pub(super) fn ring(nodes: u32) -> Topology {
    Topology { name: format!("ring_{nodes}"), ..grid(&[nodes], true) }
}

/// Builds a grid with or without wrap-around; the last coordinate runs fastest. A dimension of size two has one link in
/// each direction.
pub(super) fn grid(size: &[u32], wraps: bool) -> Topology {
    let count: u32 = size.iter().product();
    let mut builder = Builder::new();
    let stride = |dimension: usize| size[dimension + 1..].iter().product::<u32>();
    let coordinate = |node: u32, dimension: usize| node / stride(dimension) % size[dimension];
    for node in 0..count {
        let at: Vec<String> =
            (0..size.len()).map(|dimension| coordinate(node, dimension).to_string()).collect();
        builder.node(format!("g{}", at.join(".")), NodeSort::Gpu, None);
    }
    let moved = |node: u32, dimension: usize| {
        let at = coordinate(node, dimension);
        node - at * stride(dimension) + (at + 1) % size[dimension] * stride(dimension)
    };
    for node in 0..count {
        for (dimension, &length) in size.iter().enumerate() {
            let last = coordinate(node, dimension) + 1 == length;
            // A ring of two nodes has one link in each direction, not two.
            if !last || (wraps && length > 2) {
                builder.both_ways(node, moved(node, dimension), RATE, ALPHA, "link");
            }
        }
    }
    let generators = if wraps {
        (0..size.len()).map(|dimension| permutation(count, |node| moved(node, dimension))).collect()
    } else {
        let mirrored = |node: u32, dimension: usize| {
            let at = coordinate(node, dimension);
            node - at * stride(dimension) + (size[dimension] - 1 - at) * stride(dimension)
        };
        (0..size.len()).map(|dimension| permutation(count, |node| mirrored(node, dimension))).collect()
    };
    let shape = size.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
    let name = if wraps { "torus" } else { "mesh" };
    builder.finish(format!("{name}_{shape}"), SwitchHop::StoreAndForward, generators, "")
}
