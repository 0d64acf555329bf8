//! The order of the computations of a rank. The order is simulated: all transfers run at the full rates of the network,
//! and each computation starts as soon as it is ready and the GPU is free.
//!
//! Further dependencies fix this order: each computation also waits for the computation before it. The nodes are
//! returned in topological order.

use super::classes::Classes;
use super::graph::{GraphNode, JobGraph, NONE, Transfer};
use super::joined::JoinedSteps;
use super::knobs::TraceOptions;
use crate::model::reduced_dag::TimedGraph;
use lightbay_core::problem::{Problem, Problems, printable};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The graph with nodes in topological order.
#[derive(Debug, Default)]
pub(super) struct OrderedGraph {
    nodes: Vec<GraphNode>,
    pred_starts: Vec<u32>,
    preds: Vec<u32>,
    ends: Vec<u32>,
    pub transfers: Vec<Transfer>,
    /// Name of every transfer.
    pub names: Vec<String>,
}

impl OrderedGraph {
    /// Returns the transfer of a node.
    pub(super) fn transfer(&self, node: u32) -> usize {
        self.nodes[node as usize].transfer as usize
    }
}

impl TimedGraph for OrderedGraph {
    fn node_count(&self) -> usize {
        self.nodes.len()
    }

    fn preds(&self, node: usize) -> &[u32] {
        &self.preds[self.pred_starts[node] as usize..self.pred_starts[node + 1] as usize]
    }

    fn ends(&self) -> &[u32] {
        &self.ends
    }

    fn is_inter_pod(&self, node: usize) -> bool {
        self.nodes[node].transfer != NONE
    }

    fn duration_s(&self, node: usize) -> f64 {
        self.nodes[node].seconds
    }
}

/// A node that is ready.
#[derive(PartialEq)]
struct Ready {
    time_s: f64,
    node: u32,
}

impl Eq for Ready {}

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time_s.total_cmp(&other.time_s).then(self.node.cmp(&other.node))
    }
}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Orders the nodes.
///
/// # Errors
/// A cycle through several ranks.
pub(super) fn ordered(
    mut graph: JobGraph,
    classes: &Classes,
    joined: &JoinedSteps,
    options: &TraceOptions,
) -> Result<OrderedGraph, Problems> {
    let count = graph.nodes.len();
    let followers = followers(&graph);
    let mut open: Vec<u32> = graph.preds.iter().map(|preds| preds.len() as u32).collect();
    let mut ready_s = vec![0.0_f64; count];
    let mut free: Vec<(f64, u32)> = vec![(0.0, NONE); 2 * classes.list.len()];
    let mut queue: BinaryHeap<Reverse<Ready>> = (0..count as u32)
        .filter(|node| open[*node as usize] == 0)
        .map(|node| Reverse(Ready { time_s: 0.0, node }))
        .collect();
    let mut order: Vec<u32> = Vec::with_capacity(count);
    while let Some(Reverse(Ready { time_s, node })) = queue.pop() {
        order.push(node);
        let own = graph.nodes[node as usize];
        let mut start_s = time_s;
        if options.serialise
            && let Some((free_s, last)) = free.get_mut(own.lane as usize)
        {
            start_s = start_s.max(*free_s);
            if *last != NONE && !graph.preds[node as usize].contains(last) {
                graph.preds[node as usize].push(*last);
            }
            (*free_s, *last) = (start_s + own.seconds, node);
        }
        let end_s = start_s + own.seconds;
        for &follower in followers.of(node) {
            let at = follower as usize;
            ready_s[at] = ready_s[at].max(end_s);
            open[at] -= 1;
            if open[at] == 0 {
                queue.push(Reverse(Ready { time_s: ready_s[at], node: follower }));
            }
        }
    }
    if order.len() < count {
        return Err(cycle(&graph, &open, classes, joined).into());
    }
    Ok(relabelled(graph, &order, classes, joined))
}

/// Nodes that depend on each node.
struct Followers {
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl Followers {
    fn of(&self, node: u32) -> &[u32] {
        &self.list[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}

fn followers(graph: &JobGraph) -> Followers {
    let mut starts = vec![0_u32; graph.nodes.len() + 1];
    for pred in graph.preds.iter().flatten() {
        starts[*pred as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut fill = starts.clone();
    let mut list = vec![0_u32; starts.last().copied().unwrap_or(0) as usize];
    for (node, preds) in (0_u32..).zip(&graph.preds) {
        for pred in preds {
            let slot = &mut fill[*pred as usize];
            list[*slot as usize] = node;
            *slot += 1;
        }
    }
    Followers { starts, list }
}

fn relabelled(graph: JobGraph, order: &[u32], classes: &Classes, joined: &JoinedSteps) -> OrderedGraph {
    let mut place = vec![0_u32; order.len()];
    for (at, node) in (0_u32..).zip(order) {
        place[*node as usize] = at;
    }
    let mut made = OrderedGraph { transfers: graph.transfers, ..OrderedGraph::default() };
    let mut last = vec![true; order.len()];
    made.pred_starts.push(0);
    for node in order {
        made.nodes.push(graph.nodes[*node as usize]);
        for pred in &graph.preds[*node as usize] {
            let pred = place[*pred as usize];
            last[pred as usize] = false;
            made.preds.push(pred);
        }
        made.pred_starts.push(made.preds.len() as u32);
    }
    made.ends = (0..order.len() as u32).filter(|at| last[*at as usize]).collect();
    made.names = made.transfers.iter().map(|transfer| name(transfer.joint, classes, joined)).collect();
    made
}

/// Returns the name of a message or collective in the trace of its first rank.
fn name(joint: u32, classes: &Classes, joined: &JoinedSteps) -> String {
    let (class, number) = joined.joints[joint as usize].parts[0];
    let class = &classes.list[class as usize];
    match &*class.names[number as usize] {
        "" => format!("node {}", class.ids[number as usize]),
        name => printable(name),
    }
}

/// Describes a cycle through the messages and collectives on it.
fn cycle(graph: &JobGraph, open: &[u32], classes: &Classes, joined: &JoinedSteps) -> Problem {
    const SHOWN: usize = 6;
    let mut seen = vec![false; open.len()];
    let mut path: Vec<u32> = Vec::new();
    let mut at = open.iter().position(|left| *left > 0).map(|node| node as u32);
    while let Some(node) = at.filter(|node| !seen[*node as usize]) {
        seen[node as usize] = true;
        path.push(node);
        at = graph.preds[node as usize].iter().copied().find(|pred| open[*pred as usize] > 0);
    }
    let start = at.and_then(|node| path.iter().position(|known| *known == node)).unwrap_or(0);
    let on_path = |node: &u32| {
        let transfer = graph.transfers.get(graph.nodes[*node as usize].transfer as usize)?;
        let (class, number) = joined.joints[transfer.joint as usize].parts[0];
        let class = &classes.list[class as usize];
        Some(format!("node {} of rank {}", class.ids[number as usize], class.ranks[0]))
    };
    let mut names: Vec<String> = path[start..].iter().rev().filter_map(on_path).collect();
    names.dedup();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let through =
        if names.is_empty() { String::new() } else { format!(" through {}{more}", names.join(", ")) };
    let message = format!("wait for each other in a cycle{through}");
    Problem::new("ranks", message, "check that all traces are of one run")
}
