//! The walk over the stages that lays the nodes down.

use super::{Compute, FullDag, Node, NodeKind};
use crate::workload::{Shape, Workload};
use lightbay_core::problem::Problems;

const NONE: u32 = u32::MAX;

pub(super) struct Walk<'a> {
    pub shape: &'a Shape,
    pub workload: &'a Workload,
    pub lists: &'a [Vec<Compute>],
    pub micro_batches: u32,
    pub blocking: bool,
    pub send_between_s: f64,
    pub send_inside_s: f64,
    pub nic_bytes_per_s: f64,
    /// Whether both directions of the ring are laid out.
    pub expanded: bool,
}

impl Walk<'_> {
    pub(super) fn run(&self, replicas: u32) -> Result<FullDag, Problems> {
        let mut dag = FullDag::default();
        let stages = self.shape.stages as usize;
        // Last nodes of every stage, of all replicas: what a gradient exchange waits for.
        let mut last = vec![Vec::with_capacity(replicas as usize); stages];
        for replica in 0..replicas {
            let ends = self.replica(&mut dag, replica)?;
            for (stage, end) in ends.into_iter().enumerate() {
                last[stage].push(end);
            }
        }
        for stage in (0..stages).rev() {
            let dp_bytes = self.workload.stages[stage].dp_bytes_per_gpu;
            if self.shape.replicas < 2 || dp_bytes <= 0.0 {
                dag.ends.extend(&last[stage]);
                continue;
            }
            for replica in 0..replicas {
                let mut exchange = |kind| {
                    let node = Node {
                        kind,
                        replica,
                        stage: stage as u32,
                        micro_batch: 0,
                        chunk: 0,
                        inter_pod: true,
                        duration_s: dp_bytes / self.nic_bytes_per_s,
                    };
                    dag.push(node, last[stage].iter().copied());
                };
                exchange(NodeKind::Clockwise);
                if self.expanded && self.shape.counter_clockwise_flows() > 0 {
                    exchange(NodeKind::CounterClockwise);
                }
            }
        }
        Ok(dag)
    }

    /// Lays one replica down; returns the node per stage that its gradient exchange waits for.
    fn replica(&self, dag: &mut FullDag, replica: u32) -> Result<Vec<u32>, Problems> {
        let stages = self.shape.stages as usize;
        let n = self.micro_batches as usize;
        // The parts of the model in order: each chunk of the stages in turn.
        let parts = stages * self.shape.virtual_stages as usize;
        // arrived[backward][part * n + micro_batch]: the node that brings the input of a compute.
        let mut arrived = [vec![NONE; parts * n], vec![NONE; parts * n]];
        let mut next = vec![0_usize; stages];
        let mut free = vec![NONE; stages];
        loop {
            let mut moved = false;
            for stage in 0..stages {
                while let Some(&work) = self.lists[stage].get(next[stage]) {
                    let (step, part) = (work.step, work.chunk as usize * stages + stage);
                    let (receives, neighbour) = if step.backward {
                        (part + 1 < parts, part.checked_sub(1))
                    } else {
                        (part > 0, Some(part + 1).filter(|next| *next < parts))
                    };
                    let direction = usize::from(step.backward);
                    let input = arrived[direction][part * n + step.micro_batch as usize];
                    if receives && input == NONE {
                        break;
                    }
                    let compute = self.compute(dag, replica, stage, work, [free[stage], input]);
                    free[stage] = compute;
                    if let Some(neighbour) = neighbour {
                        let send = self.send(dag, replica, stage, neighbour % stages, work, compute);
                        arrived[direction][neighbour * n + step.micro_batch as usize] = send;
                        // A blocking send holds the stage. It starts after the compute, so waiting for it
                        // includes waiting for the compute.
                        if self.blocking {
                            free[stage] = send;
                        }
                    }
                    next[stage] += 1;
                    moved = true;
                }
            }
            if (0..stages).all(|stage| next[stage] == self.lists[stage].len()) {
                return Ok(free);
            }
            if !moved {
                return Err(self.deadlock(&next));
            }
        }
    }

    fn compute(&self, dag: &mut FullDag, replica: u32, stage: usize, work: Compute, preds: [u32; 2]) -> u32 {
        let (load, step) = (&self.workload.stages[stage], work.step);
        let (kind, duration_s) =
            if step.backward { (NodeKind::Backward, load.bwd_s) } else { (NodeKind::Forward, load.fwd_s) };
        let node = Node {
            kind,
            replica,
            stage: stage as u32,
            micro_batch: step.micro_batch,
            chunk: work.chunk,
            inter_pod: false,
            duration_s: duration_s / f64::from(self.shape.virtual_stages),
        };
        dag.push(node, preds.into_iter().filter(|pred| *pred != NONE))
    }

    fn send(
        &self,
        dag: &mut FullDag,
        replica: u32,
        stage: usize,
        neighbour: usize,
        work: Compute,
        compute: u32,
    ) -> u32 {
        let inter_pod = self.shape.crosses_pods(stage as u32, neighbour as u32);
        let node = Node {
            kind: if work.step.backward { NodeKind::SendBackward } else { NodeKind::SendForward },
            replica,
            stage: stage as u32,
            micro_batch: work.step.micro_batch,
            chunk: work.chunk,
            inter_pod,
            duration_s: if inter_pod { self.send_between_s } else { self.send_inside_s },
        };
        dag.push(node, [compute])
    }

    fn deadlock(&self, next: &[usize]) -> Problems {
        let mut problems = Problems::new();
        for (stage, place) in next.iter().enumerate() {
            if let Some(Compute { step, .. }) = self.lists[stage].get(*place) {
                let from = if step.backward { stage + 2 } else { stage };
                problems.add(
                    format!("job.measured.order[{stage}][{place}]"),
                    format!("is '{step}', which stage {from} never gets to"),
                    "the stages wait for each other; put the step later or the other stage's earlier",
                );
            }
        }
        problems
    }
}
