//! A training instance as compact arrays, the input of every algorithm of this crate.
//!
//! Compiled once per instance and bandwidth. Directed link `2 * link` runs from `pod_a` to `pod_b`,
//! `2 * link + 1` the other way. Tasks keep their ids; [`Network::order`] is a topological order.

mod nic;
mod precedence;

use crate::model::budget::Budget;
use crate::scenario::instance::Instance;
use lightbay_core::units::{Gbps, TaskId};
pub use nic::NicGroup;
pub use precedence::{Arc, Arcs, Precedence};
use thiserror::Error;

/// An instance that cannot be compiled. Loaders report the same faults with file and field; this error is for instances
/// built in memory.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkError {
    /// The edges contain a cycle.
    #[error("the edges form a cycle through task {0}; remove one edge of the cycle")]
    Cycle(TaskId),
    /// An edge names a task that does not exist.
    #[error("edge {0} names a task that does not exist")]
    UnknownTask(usize),
    /// A link names a pod that does not exist.
    #[error("link {0} names a pod that does not exist")]
    UnknownPod(usize),
    /// There is a task whose two pods are not joined by a link.
    #[error("task {0} sends between two pods that no link joins")]
    NoLink(TaskId),
    /// A task without flows or volume, or a number that is not finite.
    #[error("task {0} has no flows, no volume or a number that is not finite")]
    EmptyTask(TaskId),
    /// The task closure would not fit in memory.
    #[error("{0} tasks are more than the {max} that fit in memory", max = Network::MAX_TASKS)]
    TooLarge(usize),
}

/// An instance compiled for one bandwidth.
#[derive(Clone, Debug)]
pub struct Network {
    /// B, bytes per second of one NIC and of one circuit per direction.
    pub rate: f64,
    /// F, the number of flows of every task.
    pub flows: Vec<f64>,
    /// V, the volume of every task, bytes.
    pub volume: Vec<f64>,
    /// Shortest possible duration of every task, V/(F*B), seconds.
    pub tau: Vec<f64>,
    /// Earliest start of every task, seconds.
    pub release: Vec<f64>,
    /// Work after every task that ends the iteration, seconds.
    pub tail: Vec<f64>,
    /// Directed link of every task.
    pub via: Vec<u32>,
    /// Tasks of every directed link, in topological order.
    pub carried: Vec<Vec<u32>>,
    /// Predecessors of every task, with delays.
    pub preds: Arcs,
    /// Successors of every task, with delays.
    pub succs: Arcs,
    /// A topological order; smallest id first among tasks that are free at the same time.
    pub order: Vec<u32>,
    /// For every two tasks, whether the DAG orders them (the transitive closure of the DAG).
    pub precedence: Precedence,
    /// NIC directions that several tasks can use at the same time, or that carry several flows of one task.
    pub nic_groups: Vec<NicGroup>,
    /// NIC groups of every task, each with the number of flows of the task at one NIC of the group.
    pub nics_of: Vec<Vec<(u32, f64)>>,
    /// Ports and the port cost of circuits.
    pub budget: Budget,
}

impl Network {
    /// Maximum number of tasks, because the closure takes one bit per pair.
    pub const MAX_TASKS: usize = crate::scenario::limits::MAX_TASKS as usize;

    /// Compiles `instance`.
    pub fn new(instance: &Instance) -> Result<Self, NetworkError> {
        let n = instance.tasks.len();
        if n > Self::MAX_TASKS {
            return Err(NetworkError::TooLarge(n));
        }
        let mut pairs = rustc_hash::FxHashMap::default();
        for (index, link) in instance.links.iter().enumerate() {
            if link.pod_a.index() >= instance.pods.len() || link.pod_b.index() >= instance.pods.len() {
                return Err(NetworkError::UnknownPod(index));
            }
            pairs.insert((link.pod_a, link.pod_b), 2 * index as u32);
            pairs.insert((link.pod_b, link.pod_a), 2 * index as u32 + 1);
        }
        let mut via = Vec::with_capacity(n);
        for (index, task) in instance.tasks.iter().enumerate() {
            let id = TaskId::from_index(index);
            let sound = task.flows > 0
                && task.volume_bytes > 0.0
                && [task.volume_bytes, task.release_s, task.tail_s]
                    .iter()
                    .all(|v| v.is_finite() && *v >= 0.0);
            if !sound {
                return Err(NetworkError::EmptyTask(id));
            }
            via.push(*pairs.get(&(task.src_pod, task.dst_pod)).ok_or(NetworkError::NoLink(id))?);
        }
        for (index, edge) in instance.edges.iter().enumerate() {
            if edge.pred.index() >= n || edge.succ.index() >= n {
                return Err(NetworkError::UnknownTask(index));
            }
        }
        let preds = Arcs::new(n, instance.edges.iter().map(|e| (e.succ.0, e.pred.0, e.delay_s)));
        let succs = Arcs::new(n, instance.edges.iter().map(|e| (e.pred.0, e.succ.0, e.delay_s)));
        let order = precedence::topological_order(&preds, &succs)
            .map_err(|task| NetworkError::Cycle(TaskId(task)))?;
        let precedence = Precedence::new(&order, &succs);
        let mut carried = vec![Vec::new(); 2 * instance.links.len()];
        for &task in &order {
            carried[via[task as usize] as usize].push(task);
        }
        let nic_groups = nic::groups(instance, &precedence);
        let nics_of = nics_of(&nic_groups, n);
        let flows_over: Vec<u64> = carried
            .chunks(2)
            .map(|pair| {
                let flows = |tasks: &Vec<u32>| {
                    tasks.iter().map(|t| u64::from(instance.tasks[*t as usize].flows)).sum::<u64>()
                };
                pair.iter().map(flows).max().unwrap_or(0)
            })
            .collect();
        let rate = Gbps(instance.nic_bandwidth_gbps).bytes_per_second();
        let flows: Vec<f64> = instance.tasks.iter().map(|t| f64::from(t.flows)).collect();
        let volume: Vec<f64> = instance.tasks.iter().map(|t| t.volume_bytes).collect();
        Ok(Self {
            rate,
            tau: flows.iter().zip(&volume).map(|(f, v)| v / (f * rate)).collect(),
            flows,
            volume,
            release: instance.tasks.iter().map(|t| t.release_s).collect(),
            tail: instance.tasks.iter().map(|t| t.tail_s).collect(),
            budget: Budget::new(instance, &flows_over),
            via,
            carried,
            preds,
            succs,
            order,
            precedence,
            nic_groups,
            nics_of,
        })
    }

    /// The same network without NIC groups whose limits follow from the ports of a pod: scheduled rates on circuits
    /// within the ports never exceed these limits, but rates on unlimited circuits may.
    #[must_use]
    pub fn without_implied_nics(&self) -> Self {
        let mut changed = self.clone();
        changed.nic_groups.retain(|group| !self.is_implied(group));
        changed.nics_of = nics_of(&changed.nic_groups, self.tasks());
        changed
    }

    /// Returns `true` if ports limit a group at least as much as its NICs do.
    ///
    /// A task with w of its F flows at a NIC sends w/F of its rate there. Each circuit of its link needs c ports at a
    /// pod with P ports, and all links of the pod share these P ports. So the NIC sends at most the largest w/(F c) of
    /// its tasks times P.
    fn is_implied(&self, group: &NicGroup) -> bool {
        let share_at = |pod: usize, &(task, weight): &(u32, f64)| {
            let end = self.budget.ends(self.link_of(task)).iter().find(|end| end.pod as usize == pod)?;
            Some(weight / (self.flows[task as usize] * f64::from(end.cost)))
        };
        (0..self.budget.pods()).any(|pod| {
            let Some(ports) = self.budget.ports(pod) else { return false };
            let shares: Option<Vec<f64>> = group.members.iter().map(|member| share_at(pod, member)).collect();
            let most = shares.map(|shares| shares.into_iter().fold(0.0, f64::max));
            most.is_some_and(|share| share * f64::from(ports) <= 1.0 + f64::EPSILON)
        })
    }

    /// The earliest start of any transfer, seconds.
    pub fn ready_s(&self) -> f64 {
        let first = self.order.iter().filter(|task| self.preds.of(**task).is_empty());
        first.map(|task| self.release[*task as usize]).fold(f64::INFINITY, f64::min)
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.tau.len()
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.carried.len() / 2
    }

    /// Returns `true` if no task waits for the task.
    pub fn is_sink(&self, task: u32) -> bool {
        self.succs.of(task).is_empty()
    }

    /// The link of a task.
    pub fn link_of(&self, task: u32) -> usize {
        (self.via[task as usize] / 2) as usize
    }

    /// Duration of a task that shares its link with no other, V/(min(F,x)*B) seconds.
    pub fn duration_alone(&self, task: u32, circuits: u32) -> f64 {
        let task = task as usize;
        self.volume[task] / (self.flows[task].min(f64::from(circuits)) * self.rate)
    }
}

/// NIC groups of every task, each with the number of flows of the task at one NIC of the group.
fn nics_of(groups: &[NicGroup], tasks: usize) -> Vec<Vec<(u32, f64)>> {
    let mut nics_of = vec![Vec::new(); tasks];
    for (index, group) in groups.iter().enumerate() {
        for &(task, weight) in &group.members {
            nics_of[task as usize].push((index as u32, weight));
        }
    }
    nics_of
}
