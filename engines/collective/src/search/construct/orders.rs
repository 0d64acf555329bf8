//! Orders in which chunks are placed (docs/methods/collective-search.md, section 6).

use crate::bounds::{BoundReason, EpochBound};
use crate::model::distances::FAR;
use crate::model::task::CollectiveTask;
use rustc_hash::FxHashSet;

/// Number of images of a cut at which no more images are computed: enough for every chassis of a large network.
const MOST_IMAGES: usize = 64;

/// Returns fixed orders of the chunks of a task; orders whose schedules reach the bound most often come first.
pub(super) fn fixed(task: &CollectiveTask, bound: &EpochBound) -> Vec<Vec<u32>> {
    let chunks = 0..task.chunks.len() as u32;
    let far: Vec<u32> = chunks.clone().map(|chunk| task.eccentricity(chunk as usize)).collect();
    let mut orders = Vec::new();
    // A binding cut fixes the order of the chunks that cross it.
    if let BoundReason::Cut { inside, .. } = &bound.reason {
        let crossing = crossing_order(task, inside);
        // All other chunks by decreasing distance, after the crossing chunks or before them.
        let crosses: FxHashSet<u32> = crossing.iter().copied().collect();
        let mut rest: Vec<u32> = chunks.clone().filter(|chunk| !crosses.contains(chunk)).collect();
        rest.sort_by_key(|chunk| (std::cmp::Reverse(far[*chunk as usize]), *chunk));
        let join = |a: &[u32], b: &[u32]| a.iter().chain(b).copied().collect::<Vec<_>>();
        orders.push(join(&crossing, &rest));
        if !rest.is_empty() {
            orders.push(join(&rest, &crossing));
        }
    }
    let mut by = |key: &dyn Fn(u32) -> (i64, i64)| {
        let mut order: Vec<u32> = chunks.clone().collect();
        order.sort_by_key(|chunk| (key(*chunk), *chunk));
        if !orders.contains(&order) {
            orders.push(order);
        }
    };
    // By distance, far first or near first; ties by local number, so that GPUs take turns.
    by(&|chunk| (i64::from(far[chunk as usize]), 0));
    by(&|chunk| (-i64::from(far[chunk as usize]), 0));
    by(&|chunk| (i64::from(task.chunks.local(chunk as usize)), i64::from(far[chunk as usize])));
    by(&|chunk| (i64::from(task.chunks.local(chunk as usize)), -i64::from(far[chunk as usize])));
    // Chunks with higher priority come first in every order.
    for order in &mut orders {
        urgent_first(task, order);
    }
    orders
}

/// Returns the chunks in the order of their scores, the largest score first; ties are broken at random.
pub(super) fn scored(task: &CollectiveTask, scores: &[f64], mut random: impl FnMut() -> f64) -> Vec<u32> {
    let mut keyed: Vec<(f64, f64, u32)> =
        (0u32..).zip(scores).map(|(chunk, score)| (*score, random(), chunk)).collect();
    // Decreasing scores; random keys decide ties.
    keyed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)));
    let mut order: Vec<u32> = keyed.into_iter().map(|(_, _, chunk)| chunk).collect();
    urgent_first(task, &mut order);
    order
}

/// Moves chunks of higher priority forward; chunks of equal priority keep their order.
fn urgent_first(task: &CollectiveTask, order: &mut [u32]) {
    // The sort is stable, so the order inside a priority stays.
    order.sort_by(|a, b| task.chunks.priority(*b as usize).total_cmp(&task.chunks.priority(*a as usize)));
}

/// Returns the chunks that cross a cut, or an image of it, in the order of the cut's one-machine problem: of the chunks
/// that can have arrived at the cut, the chunk with the longest path after the cut comes first. Interleaves the
/// sequences of the images.
fn crossing_order(task: &CollectiveTask, inside: &[u32]) -> Vec<u32> {
    let sequences: Vec<Vec<u32>> =
        images(task, inside).iter().map(|image| one_machine(task, image)).collect();
    let longest = sequences.iter().map(Vec::len).max().unwrap_or(0);
    let mut seen = FxHashSet::default();
    // Takes one chunk of every image in turn, so that symmetric cuts are loaded equally.
    (0..longest)
        .flat_map(|at| sequences.iter().filter_map(move |sequence| sequence.get(at).copied()))
        .filter(|chunk| seen.insert(*chunk))
        .collect()
}

/// Returns a set of nodes and its images under the declared symmetries; ends when about [`MOST_IMAGES`] images are
/// found.
fn images(task: &CollectiveTask, inside: &[u32]) -> Vec<Vec<u32>> {
    // Breadth first over the generators.
    let mut images = vec![inside.to_vec()];
    let mut at = 0;
    while at < images.len() && images.len() < MOST_IMAGES {
        for generator in task.network.generators() {
            let mut image: Vec<u32> = images[at].iter().map(|node| generator.nodes[*node as usize]).collect();
            image.sort_unstable();
            if !images.contains(&image) {
                images.push(image);
            }
        }
        at += 1;
    }
    images
}

fn one_machine(task: &CollectiveTask, inside: &[u32]) -> Vec<u32> {
    let network = &task.network;
    let is_in = task.membership(inside);
    let entries: Vec<u32> = (0u32..)
        .zip(network.links())
        .filter(|(_, link)| !is_in[link.from as usize] && is_in[link.to as usize])
        .map(|(id, _)| id)
        .collect();
    let (mut rate, mut head_of, mut tail_of) =
        (0.0, vec![FAR; network.node_count()], vec![FAR; network.node_count()]);
    for &link in &entries {
        let (ends, model) = (&network.links()[link as usize], &task.epochs.links[link as usize]);
        // Starts of all entry links per epoch.
        rate += if model.occupied > 1 { model.per_epoch.min(1.0) } else { f64::from(model.starts) };
        // Minimum head and tail over the entry links.
        let (before, after) = (task.distances.to(network, ends.from), task.distances.from(network, ends.to));
        for node in 0..network.node_count() {
            head_of[node] = head_of[node].min(before[node]);
            tail_of[node] = tail_of[node].min(after[node].saturating_add(model.latency));
        }
    }
    if rate <= 0.0 {
        return Vec::new();
    }
    // Chunks that must enter the set, with their heads and tails.
    let mut waiting: Vec<(u32, u32, u32)> = (0..task.chunks.len() as u32)
        .filter(|chunk| !is_in[task.chunks.source(*chunk as usize) as usize])
        .filter_map(|chunk| {
            let dests = task.chunks.dests(chunk as usize).filter(|dest| is_in[*dest as usize]);
            let tail = dests.map(|dest| tail_of[dest as usize]).max()?;
            Some((head_of[task.chunks.source(chunk as usize) as usize], tail, chunk))
        })
        .collect();
    waiting.sort_unstable_by_key(|&(head, _, chunk)| (head, chunk));
    // Jackson's rule: of the ready chunks, the chunk with the longest tail enters; time advances with the rate of the
    // cut.
    let mut ready = std::collections::BinaryHeap::new();
    let (mut time, mut next, mut order) = (0.0f64, 0, Vec::with_capacity(waiting.len()));
    while order.len() < waiting.len() {
        // Chunks whose head has passed are ready.
        while next < waiting.len() && f64::from(waiting[next].0) <= time + 1e-9 {
            let (_, tail, chunk) = waiting[next];
            ready.push((tail, std::cmp::Reverse(chunk)));
            next += 1;
        }
        match ready.pop() {
            Some((_, std::cmp::Reverse(chunk))) => {
                order.push(chunk);
                time += 1.0 / rate;
            }
            // Nothing is ready: time advances to the next head.
            None => time = f64::from(waiting[next].0),
        }
    }
    order
}
