//! End of an iteration whose compute times differ from the planned compute times.
//!
//! If only the gradient exchanges at the end compete, each transfer before the exchanges takes as long as its circuits
//! require; one walk over the full graph of a replica gives all start times, and a closed formula gives the end of the
//! exchanges of each link. Otherwise the graph is reduced again and simulated. In an instance only the work between
//! transfers is known: it is assigned to the source pod of the later transfer. An instance omits work that never delays
//! a task at the planned compute times. This work is omitted here too, although it could delay a task at other compute
//! times, so the result is a lower bound.

use super::Ends;
use crate::analysis::Setting;
use crate::model::collapse::Laid;
use crate::model::full_dag::{FullDag, NodeKind};
use crate::model::network::Network;
use crate::model::reduced_dag::{Dominance, reduce};
use crate::scenario::TrainingScenario;
use crate::scenario::instance::{Edge, Instance, TaskKind};
use crate::search::circuits::Proposal;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::sinks::{self, Sink, SinkScratch};
use lightbay_core::method::MethodError;
use lightbay_core::watch::{StopOnly, Watch};

/// Function that returns the factor of the next compute at a place, which is a stage of a job or a pod of an instance.
pub(super) type Factor<'a> = &'a mut dyn FnMut(u32) -> f64;

/// A plan whose compute times can be changed.
pub(super) struct Shaker<'a> {
    setting: &'a Setting,
    x: &'a [u32],
    how: How,
}

/// Method by which the times of an iteration are derived from its compute times.
enum How {
    /// A walk over the full graph gives the start times, and a closed formula gives the end of the last transfers.
    Walk(Walk),
    /// The full graph is reduced and simulated.
    Reduce { full: FullDag, replicas: u32, stages: u32 },
    /// The delays of the instance are scaled, and the instance is simulated.
    Delays,
}

struct Walk {
    full: FullDag,
    task_of: Vec<Option<u32>>,
    replicas: u32,
    stages: u32,
}

impl<'a> Shaker<'a> {
    pub fn new(scenario: &TrainingScenario, setting: &'a Setting, x: &'a [u32]) -> Result<Self, MethodError> {
        let TrainingScenario::Job(job) = scenario else { return Ok(Self { setting, x, how: How::Delays }) };
        let Laid { shape, full, reduced, .. } = Laid::of(job, 1, Dominance::AtBandwidth)?;
        let network = &setting.evaluator.network;
        let exchanges_only = setting
            .instance
            .tasks
            .iter()
            .zip(0..)
            .all(|(task, id)| (task.kind == TaskKind::Dp) == network.is_sink(id));
        let exact = setting.evaluator.exact(Rates::Best) && setting.evaluator.exact(Rates::Fair);
        // If replicas differ, the graph contains all of them.
        let replicas = if shape.places.is_some() { 1 } else { shape.replicas };
        let stages = shape.stages;
        let how = if exact && exchanges_only && shape.places.is_none() {
            let mut task_of = vec![None; full.nodes().len()];
            for (task, reduced) in (0..).zip(&reduced.tasks) {
                task_of[reduced.node as usize] = Some(task);
            }
            How::Walk(Walk { full, task_of, replicas, stages })
        } else {
            How::Reduce { full, replicas, stages }
        };
        Ok(Self { setting, x, how })
    }

    /// Returns `true` if places are stages; otherwise they are pods.
    pub fn by_stage(&self) -> bool {
        !matches!(self.how, How::Delays)
    }

    /// Returns all places at which compute takes place: stages of a job or pods of an instance.
    pub fn places(&self) -> Vec<u32> {
        match &self.how {
            How::Walk(Walk { stages, .. }) | How::Reduce { stages, .. } => (0..*stages).collect(),
            How::Delays => {
                let pods = self.setting.instance.pods.iter().filter(|pod| !pod.mirror);
                pods.map(|pod| pod.id.0).collect()
            }
        }
    }

    /// Computes makespans with other compute times. If `apart` is true, every replica of a job gets its own factors;
    /// otherwise all replicas share the same factors. The pods of an instance always get one factor each.
    pub fn ends<W: Watch<Proposal>>(
        &mut self,
        apart: bool,
        factor: Factor<'_>,
        watch: &mut StopOnly<'_, W>,
    ) -> Result<Ends, MethodError> {
        match &self.how {
            How::Walk(walk) => {
                let replicas = if apart { walk.replicas } else { 1 };
                walk.ends(&self.setting.evaluator.network, self.x, replicas, factor, watch)
            }
            How::Reduce { full, replicas, .. } => {
                let replicas = if apart { *replicas } else { 1 };
                let mut laid = Vec::with_capacity(replicas as usize);
                for _ in 0..replicas {
                    watch.checkpoint()?;
                    laid.push(self.reduced(full, factor)?);
                }
                self.meet(&laid, watch)
            }
            How::Delays => {
                watch.checkpoint()?;
                let laid = vec![(delayed(&self.setting.instance, factor), 0.0)];
                self.meet(&laid, watch)
            }
        }
    }

    /// Returns the instance of a replica with other compute times, and the length in seconds of its longest chain of
    /// work without a transfer between pods, from the start to the end of the iteration.
    fn reduced(&self, full: &FullDag, factor: Factor<'_>) -> Result<(Instance, f64), MethodError> {
        let mut full = full.clone();
        full.scale(|node| factor(node.stage));
        let reduced = reduce(&full, Dominance::AtBandwidth)?;
        let mut instance = self.setting.instance.clone();
        for (task, reduced) in instance.tasks.iter_mut().zip(&reduced.tasks) {
            (task.release_s, task.tail_s) = (reduced.release_s, reduced.tail_s);
        }
        let edge = |edge: &crate::model::reduced_dag::ReducedEdge| Edge {
            pred: edge.pred,
            succ: edge.succ,
            delay_s: edge.delay_s,
        };
        instance.edges = reduced.edges.iter().map(edge).collect();
        Ok((instance, reduced.compute_s.unwrap_or(0.0)))
    }

    /// Simulates replicas that wait for each other before they exchange gradients.
    fn meet<W: Watch<Proposal>>(
        &self,
        laid: &[(Instance, f64)],
        watch: &mut StopOnly<'_, W>,
    ) -> Result<Ends, MethodError> {
        let mut ends = Ends::default();
        for rates in [Rates::Best, Rates::Fair] {
            let mut scratch = Scratch::default();
            let mut ready: Vec<f64> = Vec::new();
            let mut latest = 0.0_f64;
            let alone = laid.len() == 1;
            for meeting in if alone { [false].as_slice() } else { &[false, true] } {
                latest = 0.0;
                for (instance, compute_s) in laid {
                    watch.checkpoint()?;
                    watch.count(1);
                    let mut met;
                    let instance = if *meeting {
                        met = instance.clone();
                        for (task, ready) in met.tasks.iter_mut().zip(&ready) {
                            if task.kind == TaskKind::Dp {
                                task.release_s = task.release_s.max(*ready);
                            }
                        }
                        &met
                    } else {
                        instance
                    };
                    let evaluator =
                        Evaluator::new(instance).map_err(|error| MethodError::Failed(error.to_string()))?;
                    let trace = evaluator.trace(self.x, rates, &mut scratch);
                    latest = latest.max(trace.makespan).max(*compute_s);
                    if !meeting {
                        ready.resize(trace.start.len(), 0.0);
                        for (ready, start) in ready.iter_mut().zip(&trace.start) {
                            *ready = ready.max(*start);
                        }
                    }
                }
            }
            match rates {
                Rates::Fair => ends.fair_s = latest,
                Rates::Level | Rates::Best => ends.joint_s = latest,
            }
        }
        Ok(ends)
    }
}

/// Returns the instance with every delay multiplied by the factor of the pod in which the delay is spent.
fn delayed(instance: &Instance, factor: Factor<'_>) -> Instance {
    let mut instance = instance.clone();
    for edge in &mut instance.edges {
        edge.delay_s *= factor(instance.tasks[edge.succ.index()].src_pod.0);
    }
    for task in &mut instance.tasks {
        // Work after the last transfers is done in the pods that receive them.
        task.release_s *= factor(task.src_pod.0);
        task.tail_s *= factor(task.dst_pod.0);
    }
    instance
}

impl Walk {
    fn ends<W: Watch<Proposal>>(
        &self,
        network: &Network,
        x: &[u32],
        replicas: u32,
        factor: Factor<'_>,
        watch: &mut StopOnly<'_, W>,
    ) -> Result<Ends, MethodError> {
        let nodes = self.full.nodes();
        let mut finish = vec![0.0_f64; nodes.len()];
        let mut release = vec![0.0_f64; network.tasks()];
        let mut end = 0.0_f64;
        for _ in 0..replicas {
            watch.checkpoint()?;
            watch.count(1);
            for (index, node) in nodes.iter().enumerate() {
                let preds = self.full.preds(index).iter();
                let ready = preds.map(|pred| finish[*pred as usize]).fold(0.0, f64::max);
                finish[index] = match (self.task_of[index], node.kind) {
                    (Some(task), _) if network.is_sink(task) => {
                        release[task as usize] = release[task as usize].max(ready);
                        ready
                    }
                    (Some(task), _) => ready + network.duration_alone(task, x[network.link_of(task)]),
                    (None, NodeKind::Forward | NodeKind::Backward) => {
                        ready + node.duration_s * factor(node.stage)
                    }
                    (None, _) => ready + node.duration_s,
                };
            }
            end = self.full.ends().iter().map(|node| finish[*node as usize]).fold(end, f64::max);
        }
        let mut ends = Ends { joint_s: end, fair_s: end };
        let mut scratch = SinkScratch::default();
        for (via, tasks) in network.carried.iter().enumerate() {
            let of = |&task: &u32| Sink {
                task,
                release: release[task as usize],
                work: network.tau[task as usize],
                flows: network.flows[task as usize],
                tail: 0.0,
            };
            let mut sinks: Vec<Sink> = tasks.iter().filter(|task| network.is_sink(**task)).map(of).collect();
            if sinks.is_empty() {
                continue;
            }
            sinks::sort(&mut sinks);
            let circuits = f64::from(x[via / 2]);
            ends = ends.max(Ends {
                joint_s: sinks::level_first(&sinks, circuits, &mut scratch, None),
                fair_s: sinks::fair(&sinks, circuits, &mut scratch, None),
            });
        }
        Ok(ends)
    }
}
