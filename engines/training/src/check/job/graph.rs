//! The graph of one replica, built by stepping through the computations of every stage in their order.

use super::listed::ListedPods;
use super::orders::Turn;
use super::place;
use crate::check::case::{Dag, Node, Work};
use crate::scenario::instance::{GpuSet, Task, TaskKind};
use crate::scenario::job::Job;
use crate::scenario::workload::{Shape, Workload};
use lightbay_core::units::{Gbps, PodId, TaskId};

/// Builder of the tasks and the graph, which steps through the computations of every stage.
pub(super) struct Builder<'a> {
    pub(super) shape: &'a Shape,
    pub(super) load: &'a Workload,
    listed: Option<&'a ListedPods>,
    /// Number of pipelines before the current one.
    group: usize,
    pub(super) blocking: bool,
    intra_pod_s: f64,
    pub tasks: Vec<Task>,
    pub dag: Dag,
    pub(super) ends: Vec<LinkEnds>,
}

/// Last nodes of each stage of one pipeline.
#[derive(Clone, Default)]
pub(super) struct LinkEnds {
    /// Node of the last compute of each stage; `last_send` has the node of its last send.
    pub last: Vec<Option<usize>>,
    pub last_send: Vec<Option<usize>>,
    /// If gradients are sent in buckets, the node after which the gradients of each layer are final, last layer first.
    pub final_gradients: Vec<Vec<usize>>,
}

impl<'a> Builder<'a> {
    pub fn new(job: &Job, shape: &'a Shape, load: &'a Workload, listed: Option<&'a ListedPods>) -> Self {
        let intra_pod_rate = Gbps(job.run.intra_pod_rate_gbps()).bytes_per_second();
        Self {
            shape,
            load,
            listed,
            group: 0,
            blocking: job.run.blocking_p2p,
            intra_pod_s: load.pp_volume_bytes / (f64::from(shape.gpus_per_stage) * intra_pod_rate),
            tasks: Vec::new(),
            dag: Dag::default(),
            ends: Vec::new(),
        }
    }

    fn position(&self, stage: usize) -> u32 {
        if let Some(listed) = self.listed {
            return listed.pod(self.group, stage);
        }
        place(stage as u32, self.shape.stages_per_pod, self.shape.pods_per_replica, self.shape.reverse)
    }

    pub(super) fn node(&mut self, work: Work, preds: impl IntoIterator<Item = usize>) -> usize {
        let node = Node { work, release_s: 0.0, tail_s: 0.0 };
        self.dag.push(node, preds.into_iter().map(|pred| (pred, 0.0)))
    }

    /// Adds all computes of a pipeline and the transfers between its stages.
    ///
    /// # Errors
    /// An order that deadlocks.
    pub fn pipeline(&mut self, orders: &[Vec<Turn>]) -> Result<(), String> {
        let stages = orders.len();
        self.group = self.ends.len();
        self.ends.push(LinkEnds {
            last: vec![None; stages],
            last_send: vec![None; stages],
            final_gradients: vec![Vec::new(); stages],
        });
        let own = self.group;
        let chunks = self.shape.virtual_stages as usize;
        let n = orders.first().map_or(0, Vec::len) / 2 / chunks;
        // The model is cut into parts that the stages hold in turn: part p is a chunk of stage p % stages.
        let parts = stages * chunks;
        // Inputs that a part has received: per micro-batch, the send nodes of activations and gradients.
        let mut activations: Vec<Vec<Option<usize>>> = vec![vec![None; n]; parts];
        let mut gradients = activations.clone();
        let mut forwards = activations.clone();
        let mut done = vec![0; stages];
        let mut backwards = vec![0; parts];
        loop {
            let mut advanced = false;
            for stage in 0..stages {
                while let Some(&turn) = orders[stage].get(done[stage]) {
                    let (step, part) = (turn.step, stages * turn.chunk as usize + stage);
                    let batch = step.micro_batch as usize;
                    let received = if step.backward {
                        let Some(forward) = forwards[part][batch] else { break };
                        let gradient = gradients[part][batch];
                        if part + 1 < parts && gradient.is_none() {
                            break;
                        }
                        [Some(forward), gradient]
                    } else {
                        let activation = activations[part][batch];
                        if part > 0 && activation.is_none() {
                            break;
                        }
                        [activation, None]
                    };
                    let times = &self.load.stages[stage];
                    // All chunks of a stage take the same time.
                    let duration_s = if step.backward { times.bwd_s } else { times.fwd_s };
                    let duration_s = duration_s / chunks as f64;
                    let sent = if self.blocking { self.ends[own].last_send[stage] } else { None };
                    let preds = received.into_iter().chain([self.ends[own].last[stage], sent]).flatten();
                    // The gradients of a chunk become final layer by layer during its last backward pass.
                    backwards[part] += usize::from(step.backward);
                    let bucketed = self.shape.dp_buckets > 1 && step.backward && backwards[part] == n;
                    let layers = if bucketed { self.layers(stage) / chunks } else { 1 };
                    let preds: Vec<usize> = preds.collect();
                    let mut compute = self.node(Work::Fixed(duration_s / layers as f64), preds);
                    for layer in 0..layers {
                        if layer > 0 {
                            compute = self.node(Work::Fixed(duration_s / layers as f64), [compute]);
                        }
                        if bucketed {
                            self.ends[own].final_gradients[stage].push(compute);
                        }
                    }
                    self.ends[own].last[stage] = Some(compute);
                    if step.backward {
                        if let Some(earlier) = part.checked_sub(1) {
                            gradients[earlier][batch] =
                                Some(self.send(stage, earlier % stages, turn, compute));
                        }
                    } else {
                        forwards[part][batch] = Some(compute);
                        let later = part + 1;
                        if later < parts {
                            activations[later][batch] = Some(self.send(stage, later % stages, turn, compute));
                        }
                    }
                    done[stage] += 1;
                    advanced = true;
                }
            }
            if !advanced {
                break;
            }
        }
        match (0..stages).find(|stage| done[*stage] < orders[*stage].len()) {
            None => Ok(()),
            Some(stage) => Err(format!(
                "the order of the stages cannot be executed: stage {} waits forever before step {}",
                stage + 1,
                orders[stage][done[stage]].label(self.shape.virtual_stages)
            )),
        }
    }

    /// Adds the transfer of a micro-batch from stage `from` to stage `to`, after the node `compute`; returns the node
    /// of the transfer.
    fn send(&mut self, from: usize, to: usize, turn: Turn, compute: usize) -> usize {
        let step = turn.step;
        let work = if self.position(from) == self.position(to) {
            Work::Fixed(self.intra_pod_s)
        } else {
            let (g, own) = (self.shape.gpus_per_stage, self.listed.map(|listed| &listed.groups[self.group]));
            let replicas = own.map_or(1, |replicas| replicas.len() as u32);
            let flows = g * replicas;
            let gpus = |stage: usize| match own {
                Some(replicas) => super::exchange::ranks(self.shape, stage, replicas),
                None => GpuSet::Range { first: stage as u32 * flows, count: flows },
            };
            let id = self.tasks.len();
            self.tasks.push(Task {
                id: TaskId::from_index(id),
                name: format!("{} s{}>s{}", turn.label(self.shape.virtual_stages), from + 1, to + 1),
                kind: if step.backward { TaskKind::PpBwd } else { TaskKind::PpFwd },
                micro_batch: step.micro_batch + 1,
                stage: from as u32 + 1,
                replica: own.map_or(0, |replicas| replicas[0]),
                src_pod: PodId(self.position(from)),
                dst_pod: PodId(self.position(to)),
                flows,
                volume_bytes: self.load.pp_volume_bytes * f64::from(replicas),
                src_gpus: gpus(from),
                dst_gpus: gpus(to),
                release_s: 0.0,
                tail_s: 0.0,
            });
            Work::Transfer(id)
        };
        let send = self.node(work, [compute]);
        self.ends[self.group].last_send[from] = Some(send);
        send
    }

    /// Number of layers of a stage; `buckets * chunks` equal parts if the number of layers is unknown or does not fit
    /// buckets and chunks.
    pub(super) fn layers(&self, stage: usize) -> usize {
        let (buckets, chunks) = (self.shape.dp_buckets, self.shape.virtual_stages);
        let known = self.load.stages[stage].layers;
        (if known == 0 || known < buckets || !known.is_multiple_of(chunks) {
            buckets * chunks
        } else {
            known
        }) as usize
    }

    /// Adds the exchange of every stage with the next replica, last stage first and last layers of each stage first.
    pub fn ring(&mut self) {
        let shape = self.shape;
        if shape.replicas < 2 {
            return;
        }
        // With more than two replicas half of the flows go clockwise; this is the larger half.
        let flows = if shape.replicas > 2 { shape.gpus_per_stage.div_ceil(2) } else { shape.gpus_per_stage };
        for stage in (0..shape.stages as usize).rev() {
            let per_gpu = self.load.stages[stage].dp_bytes_per_gpu;
            if per_gpu == 0.0 {
                continue;
            }
            let buckets = shape.dp_buckets as usize;
            let layers = if buckets > 1 { self.layers(stage) } else { 1 };
            let (mut taken, mut previous) = (0, None);
            for bucket in 0..buckets {
                // The remainder of the division goes to the first buckets.
                let own = layers / buckets + usize::from(bucket < layers % buckets);
                taken += own;
                let name = if buckets > 1 {
                    format!("DP.{} s{}", bucket + 1, stage + 1)
                } else {
                    format!("DP s{}", stage + 1)
                };
                let bytes = f64::from(flows) * per_gpu * own as f64 / layers as f64;
                let task = self.exchange(stage, name, flows, bytes);
                let ready = if bucket + 1 == buckets {
                    [self.ends[0].last[stage], self.ends[0].last_send[stage]]
                } else {
                    [self.ends[0].final_gradients[stage].get(taken - 1).copied(), None]
                };
                previous =
                    Some(self.node(Work::Transfer(task), ready.into_iter().chain([previous]).flatten()));
            }
        }
    }

    /// Adds an exchange that sends part of the gradients of a stage; returns the task of the exchange. With buckets,
    /// exchanges overlap with the pipeline: a stage receives the data of the previous replica at the NICs with which it
    /// sends, so the sending GPUs are also the receivers.
    fn exchange(&mut self, stage: usize, name: String, flows: u32, volume_bytes: f64) -> usize {
        let shape = self.shape;
        let (id, position) = (self.tasks.len(), self.position(stage));
        let gpus = |replica: u32| GpuSet::Range {
            first: (replica * shape.stages + stage as u32) * shape.gpus_per_stage,
            count: flows,
        };
        self.tasks.push(Task {
            id: TaskId::from_index(id),
            name,
            kind: TaskKind::Dp,
            micro_batch: 0,
            stage: stage as u32 + 1,
            replica: 0,
            src_pod: PodId(position),
            dst_pod: PodId(shape.pods_per_replica + position),
            flows,
            volume_bytes,
            src_gpus: gpus(0),
            dst_gpus: gpus(if shape.dp_buckets > 1 { 0 } else { shape.replicas }),
            release_s: 0.0,
            tail_s: 0.0,
        });
        id
    }
}
