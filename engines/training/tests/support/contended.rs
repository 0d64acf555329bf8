//! Random scenarios in which more than last transfers compete, shared by tests and benchmarks.

mod parts;

use lightbay_core::random::Streams;
use lightbay_training::scenario::instance::{Instance, LinkKind};
use parts::{edge, instance, link, pod, transfer};
use rand::RngExt;

/// Circuits of both links.
pub const CIRCUITS: [u32; 2] = [3, 3];

/// 8 to 16 tasks of 1 to 4 flows on two links between three pods in a row, all in one direction, every pair of
/// tasks joined with probability 0.2; milliseconds each.
pub fn contended(seed: u64) -> Instance {
    let tasks = Streams::new(seed).stream(1).random_range(8..=16);
    contended_of(seed, tasks)
}

/// The same with a given number of tasks.
pub fn contended_of(seed: u64, tasks: u32) -> Instance {
    let mut random = Streams::new(seed).stream(0);
    let mut span = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
    let mut list = Vec::new();
    let mut edges = Vec::new();
    for id in 0..tasks {
        let src = u32::from(span(0.0, 1.0) < 0.5);
        let flows = span(1.0, 5.0) as u32;
        list.push(transfer(id, (src, src + 1), flows, span(5e7, 5e8), span(0.0, 1e-3)));
        for pred in 0..id {
            if span(0.0, 1.0) < 0.2 {
                edges.push(edge(pred, id, span(0.0, 1e-3)));
            }
        }
    }
    let links = vec![link(0, LinkKind::Mixed), link(1, LinkKind::Mixed)];
    instance((0..3).map(|id| pod(id, 6)).collect(), links, list, edges)
}
