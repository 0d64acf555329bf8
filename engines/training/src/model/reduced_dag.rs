//! The graph of inter-pod tasks only, with the fixed work between them as delays.
//!
//! An edge (u, v, d) represents the longest path from u to v that contains no other inter-pod task. The edge is dropped
//! if a chain of other tasks takes at least d even if every task of the chain runs as fast as its NICs allow, because
//! such an edge binds on no topology. Without this reduction the number of edges grows with the square of the
//! micro-batches.
//!
//! The nodes of the full graph are visited once. Each node carries its nearest task ancestors with the fixed time since
//! they finished. Lower bounds between tasks are kept only for tasks that some unfinished node still carries, so memory
//! depends on the number of transfers in flight, not on their total number.

mod bounds;

use crate::model::full_dag::FullDag;
use crate::scenario::limits::MAX_EDGES;
use bounds::Bounds;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::units::TaskId;

/// Tolerance of the dominance test, seconds.
const EPSILON_S: f64 = 1e-12;

/// Which edges the reduction omits because they can never bind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dominance {
    /// Edges that never bind at the job's bandwidth or below it are omitted.
    #[default]
    AtBandwidth,
    /// No edge is omitted, so that the edges hold at any bandwidth.
    KeepAll,
}

/// A graph that can be reduced: nodes in topological order, with fixed durations except for transfers between pods.
pub trait TimedGraph {
    /// Number of nodes.
    fn node_count(&self) -> usize;
    /// Nodes that must have finished before node `node` starts; all of them come before it.
    fn preds(&self, node: usize) -> &[u32];
    /// Nodes that must end before the iteration ends although no transfer follows them.
    fn ends(&self) -> &[u32];
    /// Returns `true` for a transfer between pods.
    fn is_inter_pod(&self, node: usize) -> bool;
    /// Duration, s; of a transfer between pods the minimum.
    fn duration_s(&self, node: usize) -> f64;
}

impl TimedGraph for FullDag {
    fn node_count(&self) -> usize {
        self.nodes().len()
    }

    fn preds(&self, node: usize) -> &[u32] {
        self.preds(node)
    }

    fn ends(&self) -> &[u32] {
        self.ends()
    }

    fn is_inter_pod(&self, node: usize) -> bool {
        self.nodes()[node].inter_pod
    }

    fn duration_s(&self, node: usize) -> f64 {
        self.nodes()[node].duration_s
    }
}

/// An inter-pod task of the reduced graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReducedTask {
    /// Node of the task in the full graph.
    pub node: u32,
    /// Earliest start; 0 unless compute at the start of the iteration can delay the task.
    pub release_s: f64,
    /// Work after the task up to the end of the iteration; 0 unless it can bind.
    pub tail_s: f64,
}

/// Precedence between tasks, given by their index in the list of tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReducedEdge {
    /// The earlier task.
    pub pred: TaskId,
    /// The later task.
    pub succ: TaskId,
    /// Fixed work between the two tasks.
    pub delay_s: f64,
}

/// The reduced graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReducedDag {
    /// Inter-pod tasks in the order of the full graph.
    pub tasks: Vec<ReducedTask>,
    /// Edges ordered by successor, then predecessor.
    pub edges: Vec<ReducedEdge>,
    /// Fixed time of the longest chain of work without a task, from the start to the end of the iteration, if it can
    /// bind. Without tasks, this time is the duration of the iteration.
    pub compute_s: Option<f64>,
}

/// A nearest ancestor of a node: `task` is `None` for the start of the iteration.
#[derive(Clone, Copy, Debug)]
struct Ancestor {
    slot: u32,
    task: Option<TaskId>,
    /// Fixed time from the finish of `task` to the node.
    delay_s: f64,
}

/// Reduces the full graph to its inter-pod tasks.
///
/// # Errors
/// More than [`MAX_EDGES`] edges, or an order of work that keeps too many transfers in flight at once.
pub fn reduce(dag: &impl TimedGraph, dominance: Dominance) -> Result<ReducedDag, Problems> {
    let nodes = dag.node_count();
    // Uses are counted so that the ancestors of a node are freed after its last successor: memory grows with the width
    // of the graph, not with its length.
    let mut uses = vec![0_u32; nodes];
    for node in 0..nodes {
        for &pred in dag.preds(node) {
            uses[pred as usize] += 1;
        }
    }
    for &end in dag.ends() {
        uses[end as usize] += 1;
    }

    let mut reduced = ReducedDag::default();
    let mut bounds = Bounds::new(dominance == Dominance::AtBandwidth);
    let mut ancestors: Vec<Vec<Ancestor>> = vec![Vec::new(); nodes];
    let mut nearest = Vec::new();
    for index in 0..nodes {
        bounds.merge(dag.preds(index).iter().map(|&pred| ancestors[pred as usize].as_slice()), &mut nearest);
        // Nearest ancestors of a task become its edges; for its successors, the task is the only nearest ancestor.
        // Fixed work only adds to the delays.
        if dag.is_inter_pod(index) {
            let task = TaskId::from_index(reduced.tasks.len());
            let mut release_s = 0.0;
            let first_edge = reduced.edges.len();
            for ancestor in &nearest {
                match ancestor.task {
                    None => release_s = ancestor.delay_s,
                    Some(pred) => {
                        reduced.edges.push(ReducedEdge { pred, succ: task, delay_s: ancestor.delay_s });
                    }
                }
            }
            if reduced.edges.len() > MAX_EDGES {
                return Err(too_many_edges(dominance));
            }
            reduced.edges[first_edge..].sort_unstable_by_key(|edge| edge.pred);
            reduced.tasks.push(ReducedTask { node: index as u32, release_s, tail_s: 0.0 });
            let slot = bounds.enter(dag.duration_s(index), &nearest).ok_or_else(too_many_under_way)?;
            ancestors[index] = vec![Ancestor { slot, task: Some(task), delay_s: 0.0 }];
        } else {
            for ancestor in &mut nearest {
                ancestor.delay_s += dag.duration_s(index);
            }
            for ancestor in &nearest {
                bounds.hold(ancestor.slot);
            }
            ancestors[index].clone_from(&nearest);
        }
        // Release the predecessors only now, because the slots of their ancestors were needed until here.
        for &pred in dag.preds(index) {
            release(pred, &mut uses, &mut ancestors, &mut bounds);
        }
        if uses[index] == 0 {
            // A task without successors.
            uses[index] = 1;
            release(index as u32, &mut uses, &mut ancestors, &mut bounds);
        }
    }

    if !dag.ends().is_empty() {
        bounds.merge(dag.ends().iter().map(|&end| ancestors[end as usize].as_slice()), &mut nearest);
        for ancestor in &nearest {
            match ancestor.task {
                Some(task) => reduced.tasks[task.index()].tail_s = ancestor.delay_s,
                None => reduced.compute_s = Some(ancestor.delay_s),
            }
        }
    }
    Ok(reduced)
}

/// Decrements the number of later nodes that still need the ancestors of `node`; frees these ancestors if no such node
/// is left.
fn release(node: u32, uses: &mut [u32], ancestors: &mut [Vec<Ancestor>], bounds: &mut Bounds) {
    let node = node as usize;
    uses[node] -= 1;
    if uses[node] == 0 {
        for ancestor in std::mem::take(&mut ancestors[node]) {
            bounds.let_go(ancestor.slot);
        }
    }
}

fn too_many_edges(dominance: Dominance) -> Problems {
    let remedy = match dominance {
        Dominance::KeepAll => {
            "lower `micro_batches`, or leave out edges that cannot bind (`all_edges=false`)"
        }
        Dominance::AtBandwidth => "lower `micro_batches` or `pp`, or balance the stages",
    };
    Problem::new("job", format!("has more than {MAX_EDGES} edges between its transfers"), remedy).into()
}

fn too_many_under_way() -> Problems {
    Problem::new(
        "job",
        format!(
            "has more than {} transfers that later steps wait for at the same time",
            Bounds::MAX_SLOTS - 1
        ),
        "lower `micro_batches`, or use the order '1f1b'",
    )
    .into()
}

#[cfg(test)]
mod tests;
