//! The full graph of one iteration: every compute, every transfer inside and between pods, every gradient exchange.
//!
//! Nodes are in topological order: predecessors come first. A walk over the stages produces the order: the walk runs
//! the compute list of each stage as far as the inputs of the computes are available. The order also numbers the tasks
//! of the reduced graph. Several replicas can be combined in one graph. Only the gradient exchange joins the replicas:
//! an exchange waits until its gradients are ready in all replicas.

mod order;
mod walk;

pub use order::{Compute, interleaved, one_forward_one_backward};

use crate::scenario::job::{Order, RunConfig, Step};
use crate::scenario::workload::{Shape, Workload};
use lightbay_core::problem::Problems;
use lightbay_core::units::Gbps;

/// Kind of a node of the full graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// Forward compute of a stage.
    Forward,
    /// Backward compute of a stage.
    Backward,
    /// Activations to the next stage, or from the last stage to the next chunk of the first stage.
    SendForward,
    /// Gradients to the previous stage, or from the first stage to the previous chunk of the last stage.
    SendBackward,
    /// Gradient and weight exchange with the next replica of the ring.
    Clockwise,
    /// Gradient and weight exchange with the previous replica of the ring, by the other half of the GPUs.
    CounterClockwise,
}

/// A node of the full graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Kind of the node.
    pub kind: NodeKind,
    /// Replica, from 0; with listed pods the group of replicas, and for a gradient exchange the place on the ring.
    pub replica: u32,
    /// Stage, from 0; for a transfer, the sending stage.
    pub stage: u32,
    /// Micro-batch, from 0; 0 for a gradient exchange.
    pub micro_batch: u32,
    /// Chunk of the stage, from 0; for a transfer, the sending chunk; 0 for a gradient exchange.
    pub chunk: u32,
    /// Bucket of a gradient exchange, from 0; 0 for other nodes.
    pub bucket: u32,
    /// `true` for a transfer between pods, whose duration depends on the circuits.
    pub inter_pod: bool,
    /// Duration, seconds; for a transfer between pods the minimum: volume / (flows * NIC rate).
    pub duration_s: f64,
}

/// The full graph, nodes in an order of execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FullDag {
    nodes: Vec<Node>,
    /// `pred_start[i]..pred_start[i + 1]` are the predecessors of node i in `preds`.
    pred_start: Vec<u32>,
    preds: Vec<u32>,
    /// Nodes that must end before the iteration ends although no gradient exchange follows them.
    ends: Vec<u32>,
}

impl FullDag {
    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Nodes that must have finished before node `node` starts.
    pub fn preds(&self, node: usize) -> &[u32] {
        &self.preds[self.pred_start[node] as usize..self.pred_start[node + 1] as usize]
    }

    /// Last compute nodes of the stages that exchange no gradients.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Builds the graph of `replicas` replicas: one replica for a collapsed instance, all replicas for an expanded
    /// instance. If replicas are not alike, the graph always contains all replicas, as one copy for each group of
    /// replicas with the same pods.
    ///
    /// # Errors
    /// A literal order that names a micro-batch twice or not at all, or that deadlocks.
    pub fn build(
        shape: &Shape,
        workload: &Workload,
        run: &RunConfig,
        order: &Order,
        replicas: u32,
    ) -> Result<Self, Problems> {
        let (stages, chunks, n) = (shape.stages, shape.virtual_stages, run.micro_batches);
        let replicas = shape.places.as_ref().map_or(replicas, |places| places.groups.len() as u32);
        let lists = match order {
            Order::OneForwardOneBackward if chunks > 1 => interleaved(stages, chunks, n),
            Order::OneForwardOneBackward => whole(&one_forward_one_backward(stages, n)),
            Order::Lists(lists) => {
                check_lists(lists, stages, n)?;
                whole(lists)
            }
        };
        let g = f64::from(shape.gpus_per_stage);
        let between = Gbps(run.bandwidth_gbps).bytes_per_second();
        let inside = Gbps(run.intra_pod_rate_gbps()).bytes_per_second();
        let walk = walk::StageWalk {
            shape,
            workload,
            lists: &lists,
            micro_batches: n,
            blocking: run.blocking_p2p,
            send_between_s: workload.pp_volume_bytes / (g * between),
            send_inside_s: workload.pp_volume_bytes / (g * inside),
            nic_bytes_per_s: between,
            expanded: replicas > 1,
        };
        walk.run(replicas)
    }

    /// Multiplies the duration of every compute by a factor; the factors are requested in the order of the nodes.
    pub(crate) fn scale(&mut self, mut factor: impl FnMut(&Node) -> f64) {
        for node in &mut self.nodes {
            if matches!(node.kind, NodeKind::Forward | NodeKind::Backward) {
                node.duration_s *= factor(node);
            }
        }
    }

    fn push(&mut self, node: Node, preds: impl IntoIterator<Item = u32>) -> u32 {
        if self.pred_start.is_empty() {
            self.pred_start.push(0);
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(node);
        self.preds.extend(preds);
        self.pred_start.push(self.preds.len() as u32);
        id
    }
}

/// Converts the steps of every stage to compute lists for stages with one chunk.
fn whole(lists: &[Vec<Step>]) -> Vec<Vec<Compute>> {
    let of = |list: &Vec<Step>| list.iter().map(|&step| Compute { step, chunk: 0 }).collect();
    lists.iter().map(of).collect()
}

/// Checks that every stage runs every forward and every backward exactly once, the forward first.
fn check_lists(lists: &[Vec<Step>], stages: u32, micro_batches: u32) -> Result<(), Problems> {
    let mut problems = Problems::new();
    if lists.len() != stages as usize {
        problems.add(
            "job.measured.order",
            format!("has {} lists for {stages} stages", lists.len()),
            "give one list per stage",
        );
        return problems.into_result(());
    }
    for (stage, list) in lists.iter().enumerate() {
        let n = micro_batches as usize;
        let mut seen = [vec![false; n], vec![false; n]];
        for (place, step) in list.iter().enumerate() {
            let path = format!("job.measured.order[{stage}][{place}]");
            let micro_batch = step.micro_batch as usize;
            if micro_batch >= n {
                problems.add(
                    path,
                    format!("is '{step}', but the job has {n} micro-batches"),
                    format!("name micro-batches 1 to {n}"),
                );
                continue;
            }
            if step.backward && !seen[0][micro_batch] {
                problems.add(
                    path,
                    format!("is '{step}' before the forward pass of this micro-batch"),
                    "move this step after the forward pass",
                );
            } else if seen[usize::from(step.backward)][micro_batch] {
                problems.add(path, format!("is '{step}' for the second time"), "name every step once");
                continue;
            }
            seen[usize::from(step.backward)][micro_batch] = true;
        }
        for (backward, seen) in [(false, &seen[0]), (true, &seen[1])] {
            if let Some(missing) = seen.iter().position(|seen| !seen) {
                let step = Step { backward, micro_batch: missing as u32 };
                let count = seen.iter().filter(|seen| !**seen).count();
                let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
                problems.add(
                    format!("job.measured.order[{stage}]"),
                    format!("lacks '{step}'{more}"),
                    "name every forward and backward pass of the stage once",
                );
            }
        }
    }
    problems.into_result(())
}

#[cfg(test)]
mod tests;
