//! The walk over the stages that creates the nodes.

use super::{Compute, FullDag, Node, NodeKind};
use crate::scenario::workload::{Bucket, Hop, Ring, Shape, Workload};
use lightbay_core::problem::Problems;

/// Mark of an input that has not arrived.
const NONE: u32 = u32::MAX;

/// Nodes that the buckets of a stage wait for, and the last send of the stage unless sends block the stage.
type StageEnds = (Vec<u32>, Option<u32>);

pub(super) struct StageWalk<'a> {
    pub shape: &'a Shape,
    pub workload: &'a Workload,
    pub lists: &'a [Vec<Compute>],
    pub micro_batches: u32,
    pub blocking: bool,
    pub send_between_s: f64,
    pub send_inside_s: f64,
    pub nic_bytes_per_s: f64,
    /// `true` if the graph contains both directions of the ring.
    pub expanded: bool,
}

impl StageWalk<'_> {
    pub(super) fn run(&self, replicas: u32) -> Result<FullDag, Problems> {
        let mut dag = FullDag::default();
        let stages = self.shape.stages as usize;
        let buckets: Vec<Vec<Bucket>> = (0..stages).map(|stage| self.buckets(stage)).collect();
        // Per stage and bucket, the nodes of all replicas that a gradient exchange waits for.
        let mut last: Vec<Vec<Vec<u32>>> = buckets
            .iter()
            .map(|buckets| vec![Vec::with_capacity(replicas as usize); buckets.len()])
            .collect();
        for replica in 0..replicas {
            let ends = self.replica(&mut dag, replica, &buckets)?;
            for (stage, (ends, sent)) in ends.into_iter().enumerate() {
                for (of_bucket, end) in last[stage].iter_mut().zip(ends) {
                    of_bucket.push(end);
                }
                if self.exchanges(stage)
                    && let Some(last_bucket) = last[stage].last_mut()
                {
                    last_bucket.extend(sent);
                }
            }
        }
        for stage in (0..stages).rev() {
            if !self.exchanges(stage) {
                dag.ends.extend(last[stage].iter().flatten());
                continue;
            }
            let ring = self.shape.places.as_ref().map(|_| self.shape.ring(stage as u32));
            let members = ring.as_ref().map_or(replicas, |ring| ring.pods.len() as u32);
            // Buckets of a stage are exchanged one after the other, as collectives of one group are.
            let mut before = vec![Vec::new(); members as usize];
            for bucket in buckets[stage].iter().zip(&last[stage]).enumerate() {
                for member in 0..members {
                    let waits = &mut before[member as usize];
                    *waits = self.exchange(&mut dag, (member, ring.as_ref()), stage, bucket, waits);
                }
            }
        }
        Ok(dag)
    }

    /// Returns `true` if a stage has gradients that go to other replicas.
    fn exchanges(&self, stage: usize) -> bool {
        let several = match &self.shape.places {
            Some(places) => places.exchanging[stage],
            None => self.shape.replicas > 1,
        };
        several && self.workload.stages[stage].dp_bytes_per_gpu > 0.0
    }

    /// The buckets of a stage; a single bucket if nothing is exchanged, so that no backward is split.
    fn buckets(&self, stage: usize) -> Vec<Bucket> {
        if self.exchanges(stage) {
            self.workload.buckets(self.shape, stage as u32)
        } else {
            vec![Bucket { share: 1.0, chunk: 0, done: 1.0 }]
        }
    }

    /// Adds the exchange of one bucket by one replica, or by one pod of a ring, in the directions of the graph; returns
    /// the nodes of the exchange.
    fn exchange(
        &self,
        dag: &mut FullDag,
        (replica, ring): (u32, Option<&Ring>),
        stage: usize,
        (number, (bucket, ready)): (usize, (&Bucket, &Vec<u32>)),
        before: &[u32],
    ) -> Vec<u32> {
        let per_gpu = self.workload.stages[stage].dp_bytes_per_gpu;
        let mut push = |kind, bytes: f64| {
            let node = Node {
                kind,
                replica,
                stage: stage as u32,
                micro_batch: 0,
                chunk: 0,
                bucket: number as u32,
                inter_pod: true,
                duration_s: bytes * bucket.share / self.nic_bytes_per_s,
            };
            dag.push(node, ready.iter().chain(before).copied())
        };
        if let Some(ring) = ring {
            // The flows of a hop share its bytes.
            let whole = ring.bytes(per_gpu, self.shape.replicas);
            let per_flow = |hop: Hop| whole * hop.share / f64::from(hop.flows);
            let mut sent = vec![push(NodeKind::Clockwise, per_flow(ring.clockwise(replica as usize)))];
            if let Some(hop) = ring.counter_clockwise(replica as usize) {
                sent.push(push(NodeKind::CounterClockwise, per_flow(hop)));
            }
            return sent;
        }
        let mut sent = vec![push(NodeKind::Clockwise, per_gpu)];
        if self.expanded && self.shape.counter_clockwise_flows() > 0 {
            sent.push(push(NodeKind::CounterClockwise, per_gpu));
        }
        sent
    }

    /// Adds one replica; returns, for each stage, the node that each bucket of its gradient exchange waits for, and the
    /// last send of the stage if the node of the last bucket does not wait for this send.
    fn replica(
        &self,
        dag: &mut FullDag,
        replica: u32,
        buckets: &[Vec<Bucket>],
    ) -> Result<Vec<StageEnds>, Problems> {
        let stages = self.shape.stages as usize;
        let n = self.micro_batches as usize;
        // The parts of the model in order: each chunk of the stages in turn.
        let parts = stages * self.shape.virtual_stages as usize;
        // arrived[backward][part * n + micro_batch]: the node that provides the input of a compute phase.
        let mut arrived = [vec![NONE; parts * n], vec![NONE; parts * n]];
        let mut next = vec![0_usize; stages];
        let mut free = vec![NONE; stages];
        let mut sent: Vec<Option<u32>> = vec![None; stages];
        // Remaining backwards of every part; the last one completes its gradients.
        let mut open = vec![n; parts];
        let mut ready = vec![Vec::new(); stages];
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
                    let preds = [free[stage], input];
                    open[part] -= usize::from(step.backward);
                    let compute = if step.backward && open[part] == 0 {
                        let place = (replica, stage, work);
                        self.last_backward(dag, place, preds, &buckets[stage], &mut ready[stage])
                    } else {
                        self.compute(dag, (replica, stage, work), preds, 1.0)
                    };
                    free[stage] = compute;
                    if let Some(neighbour) = neighbour {
                        let send = self.send(dag, replica, stage, neighbour % stages, work, compute);
                        arrived[direction][neighbour * n + step.micro_batch as usize] = send;
                        // A blocking send holds the stage. It starts after the compute phase, so waiting for it
                        // includes waiting for the compute phase.
                        if self.blocking {
                            free[stage] = send;
                        } else {
                            sent[stage] = Some(send);
                        }
                    }
                    next[stage] += 1;
                    moved = true;
                }
            }
            if (0..stages).all(|stage| next[stage] == self.lists[stage].len()) {
                // The last bucket belongs to the first layers, and waits for the last send of the stage.
                for (ready, free) in ready.iter_mut().zip(free) {
                    ready.push(free);
                }
                return Ok(ready.into_iter().zip(sent).collect());
            }
            if !moved {
                return Err(self.deadlock(&next));
            }
        }
    }

    /// Adds the last backward of a chunk, split where buckets become ready; `ready` gets the node that completes each
    /// bucket. The caller must add the node that completes the stage's last bucket.
    fn last_backward(
        &self,
        dag: &mut FullDag,
        place: (u32, usize, Compute),
        mut preds: [u32; 2],
        buckets: &[Bucket],
        ready: &mut Vec<u32>,
    ) -> u32 {
        let inner = buckets.len().saturating_sub(1);
        let own = || buckets[..inner].iter().filter(|bucket| bucket.chunk == place.2.chunk);
        let mut done = 0.0;
        for bucket in own().filter(|bucket| bucket.done < 1.0) {
            let node = self.compute(dag, place, preds, bucket.done - done);
            ready.push(node);
            (done, preds) = (bucket.done, [node, NONE]);
        }
        let node = self.compute(dag, place, preds, 1.0 - done);
        ready.extend(own().filter(|bucket| bucket.done >= 1.0).map(|_| node));
        node
    }

    /// Adds a compute, or the part of the compute that takes the fraction `share` of its time; returns the node.
    fn compute(
        &self,
        dag: &mut FullDag,
        (replica, stage, work): (u32, usize, Compute),
        preds: [u32; 2],
        share: f64,
    ) -> u32 {
        let (load, step) = (&self.workload.stages[stage], work.step);
        let (kind, duration_s) =
            if step.backward { (NodeKind::Backward, load.bwd_s) } else { (NodeKind::Forward, load.fwd_s) };
        let node = Node {
            kind,
            replica,
            stage: stage as u32,
            micro_batch: step.micro_batch,
            chunk: work.chunk,
            bucket: 0,
            inter_pod: false,
            duration_s: share * duration_s / f64::from(self.shape.virtual_stages),
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
        let inter_pod = self.shape.crosses_pods(replica, stage as u32, neighbour as u32);
        let node = Node {
            kind: if work.step.backward { NodeKind::SendBackward } else { NodeKind::SendForward },
            replica,
            stage: stage as u32,
            micro_batch: work.step.micro_batch,
            chunk: work.chunk,
            bucket: 0,
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
                    format!("is '{step}', but stage {from} never reaches this step"),
                    "the stages wait for each other; move this step to a later place, or the step of the other \
                     stage to an earlier place",
                );
            }
        }
        problems
    }
}
