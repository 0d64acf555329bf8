//! Maximum number of circuits of a link that can be useful (DELTA Alg. 2; docs/methods/training-search.md, section 5).
//!
//! In any schedule that ends by the limit, every task runs inside its window, and tasks that run at the same time are
//! pairwise unordered. So the flows that a directed link carries at once are at most the largest total over pairwise
//! unordered tasks whose windows overlap: a maximum-weight antichain. A schedule that ends by the limit never uses
//! circuits beyond that number.

use crate::model::network::Network;
use crate::simulate::windows::Windows;

/// Relative margin above the best known makespan within which circuits count as useful. DELTA limits windows by the
/// makespan of a known plan; the margin keeps that plan feasible in spite of rounding.
const ROOM: f64 = 1e-4;

/// Maximum number of circuits of every link that a plan of at most about `fair_s` seconds can use.
pub fn useful_within(network: &Network, fair_s: f64) -> Vec<u32> {
    circuit_bounds(network, &Windows::new(network, fair_s * (1.0 + ROOM)))
}

/// Number X of useful circuits of every link: the larger total flow count of the maximum-weight antichains of its two
/// directions, but at least 1 and at most the number of circuits that the ports allow.
pub fn circuit_bounds(network: &Network, windows: &Windows) -> Vec<u32> {
    (0..network.links())
        .map(|link| {
            let limit = network.budget.limit(link);
            let mut most = 1;
            // DELTA Alg. 2: the larger antichain of the two directions, as a circuit carries both.
            for tasks in &network.carried[2 * link..2 * link + 2] {
                most = most.max(useful(network, windows, tasks, most, limit));
            }
            most.min(limit)
        })
        .collect()
}

/// Useful circuits of one directed link, but at least `known`; stops early when `limit` is reached.
fn useful(network: &Network, windows: &Windows, tasks: &[u32], known: u32, limit: u32) -> u32 {
    let flows = |task: &u32| network.flows[*task as usize];
    let mut most = f64::from(known);
    // Transfers of a chain never overlap: the largest one counts.
    if network.precedence.is_chain(tasks) {
        return tasks.iter().map(flows).fold(most, f64::max) as u32;
    }
    // Between two consecutive window ends the set of possible transfers does not change.
    let mut cuts: Vec<f64> =
        tasks.iter().flat_map(|task| [windows.est[*task as usize], windows.lct[*task as usize]]).collect();
    cuts.sort_unstable_by(f64::total_cmp);
    cuts.dedup();
    let mut before: Vec<u32> = Vec::new();
    let mut active: Vec<u32> = Vec::new();
    for piece in cuts.windows(2) {
        if most >= f64::from(limit) {
            break;
        }
        // The midpoint of the piece represents the whole piece.
        let middle = f64::midpoint(piece[0], piece[1]);
        active.clear();
        active.extend(
            tasks.iter().filter(|task| {
                windows.est[**task as usize] <= middle && middle < windows.lct[**task as usize]
            }),
        );
        // The sum of all flows bounds the antichain, so pieces that cannot raise the result are skipped.
        if active == before || active.iter().map(flows).sum::<f64>() <= most {
            continue;
        }
        most = most.max(antichain_weight(network, &active));
        before.clone_from(&active);
    }
    most.min(f64::from(u32::MAX)) as u32
}

/// Largest total flow count of pairwise unordered tasks among `tasks` (in topological order).
///
/// By Dilworth's theorem for weights: the sum of all weights minus a maximum flow in which every task may pass its
/// weight to tasks after it.
pub fn antichain_weight(network: &Network, tasks: &[u32]) -> f64 {
    let n = tasks.len();
    // Weighted Dilworth: maximum-weight antichain = total weight - maximum flow through the split comparability graph.
    let weights: Vec<i64> = tasks.iter().map(|task| network.flows[*task as usize] as i64).collect();
    let total: i64 = weights.iter().sum();
    // The precedence is transitive, so arcs join each task with all later tasks, not only with direct successors.
    let after: Vec<Vec<usize>> = (0..n)
        .map(|u| (u + 1..n).filter(|v| network.precedence.before(tasks[u], tasks[*v])).collect())
        .collect();
    if after.iter().all(Vec::is_empty) {
        return total as f64;
    }
    let mut supply = weights.clone();
    let mut demand = weights;
    // sent[u] lists (v, amount) with a positive amount.
    let mut received: Vec<Vec<(usize, i64)>> = vec![Vec::new(); n];
    let mut matched = 0;
    // Shortest augmenting paths from a left vertex with supply to a right vertex with demand. Flow values are whole
    // numbers, so the loop runs at most as often as the total weight.
    while let Some(amount) = augment(&after, &mut supply, &mut demand, &mut received) {
        matched += amount;
    }
    (total - matched) as f64
}

fn augment(
    after: &[Vec<usize>],
    supply: &mut [i64],
    demand: &mut [i64],
    received: &mut [Vec<(usize, i64)>],
) -> Option<i64> {
    let n = after.len();
    let mut left_from: Vec<Option<usize>> = vec![None; n]; // right vertex through which a left vertex was reached
    let mut right_from: Vec<Option<usize>> = vec![None; n]; // left vertex through which a right vertex was reached
    // Breadth-first search in the residual graph: forward arcs are unlimited, backward arcs carry at most the amount
    // sent.
    let mut seen_left: Vec<bool> = supply.iter().map(|s| *s > 0).collect();
    let mut queue: Vec<usize> = (0..n).filter(|u| seen_left[*u]).collect();
    let mut next = 0;
    let mut goal = None;
    'search: while next < queue.len() {
        let u = queue[next];
        next += 1;
        for &v in &after[u] {
            if right_from[v].is_some() {
                continue;
            }
            right_from[v] = Some(u);
            if demand[v] > 0 {
                goal = Some(v);
                break 'search;
            }
            for &(w, _) in &received[v] {
                if !seen_left[w] {
                    seen_left[w] = true;
                    left_from[w] = Some(v);
                    queue.push(w);
                }
            }
        }
    }
    let goal = goal?;
    // First finds the bottleneck of the path, then changes the flow along the path.
    let mut amount = demand[goal];
    let mut path = Vec::new();
    let mut v = goal;
    loop {
        let u = right_from[v]?;
        path.push((u, v));
        let Some(back) = left_from[u] else {
            amount = amount.min(supply[u]);
            supply[u] -= amount;
            break;
        };
        let flow = received[back].iter().find(|(w, _)| *w == u).map_or(0, |(_, f)| *f);
        amount = amount.min(flow);
        v = back;
    }
    demand[goal] -= amount;
    for &(u, v) in &path {
        // Forward arcs gain, backward arcs lose the amount; empty arcs leave the list.
        match received[v].iter_mut().find(|(w, _)| *w == u) {
            Some((_, flow)) => *flow += amount,
            None => received[v].push((u, amount)),
        }
        if let Some(back) = left_from[u] {
            if let Some((_, flow)) = received[back].iter_mut().find(|(w, _)| *w == u) {
                *flow -= amount;
            }
            received[back].retain(|(_, flow)| *flow > 0);
        }
    }
    Some(amount)
}

#[cfg(test)]
mod tests;
