//! The case against which a plan is checked: the network with its transfers, and the precedence of all work.
//!
//! Both forms of a scenario, job and instance, are converted to a case. An instance contributes its edges and one node
//! per task; a job contributes its full graph with every compute node. Nodes are stored in an order in which
//! predecessors come first.

use crate::scenario::instance::{Instance, Task};
use lightbay_core::problem::printable;
use lightbay_core::units::Gbps;
use std::borrow::Cow;

/// A scenario as the checker sees it.
pub(super) struct Case<'a> {
    /// Pods, links and inter-pod transfers. Its edges are complete only if the scenario is an instance; the checker
    /// uses `dag`.
    pub net: Cow<'a, Instance>,
    /// Precedence between all work.
    pub dag: Dag,
}

/// Work of one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    /// Fixed work, which takes this number of seconds on any network.
    Fixed(f64),
    /// The inter-pod transfer with this task index.
    Transfer(usize),
}

/// One node of the precedence graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Work of the node.
    pub work: Work,
    /// Earliest start, seconds.
    pub release_s: f64,
    /// Work between the end of the node and the end of the iteration, seconds.
    pub tail_s: f64,
}

/// Precedence graph with predecessor lists; every predecessor has a smaller index.
#[derive(Debug, Default)]
pub(super) struct Dag {
    nodes: Vec<Node>,
    offsets: Vec<usize>,
    preds: Vec<(usize, f64)>,
}

impl Dag {
    /// Adds a node that follows `preds` (node, delay in seconds) and returns its index.
    pub fn push(&mut self, node: Node, preds: impl IntoIterator<Item = (usize, f64)>) -> usize {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        let index = self.nodes.len();
        self.nodes.push(node);
        self.preds.extend(preds);
        debug_assert!(self.preds.iter().skip(self.offsets[index]).all(|(pred, _)| *pred < index));
        self.offsets.push(self.preds.len());
        index
    }

    /// All nodes, predecessors first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Predecessors of a node with the delay after each.
    pub fn preds(&self, node: usize) -> &[(usize, f64)] {
        &self.preds[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Node of every task.
    pub fn transfers(&self, tasks: usize) -> Vec<usize> {
        let mut node_of = vec![usize::MAX; tasks];
        for (index, node) in self.nodes.iter().enumerate() {
            if let Work::Transfer(task) = node.work {
                node_of[task] = index;
            }
        }
        node_of
    }
}

impl<'a> Case<'a> {
    /// Creates the case of an instance that passed [`super::sanity::instance`].
    ///
    /// # Errors
    /// The tasks of a cycle.
    pub fn from_instance(instance: &'a Instance) -> Result<Self, Vec<usize>> {
        let order = topological_order(instance)?;
        let mut preds: Vec<Vec<(usize, f64)>> = vec![Vec::new(); instance.tasks.len()];
        for edge in &instance.edges {
            preds[edge.succ.index()].push((edge.pred.index(), edge.delay_s));
        }
        let mut node_of = vec![usize::MAX; instance.tasks.len()];
        let mut dag = Dag::default();
        for task in order {
            let node = Node {
                work: Work::Transfer(task),
                release_s: instance.tasks[task].release_s,
                tail_s: instance.tasks[task].tail_s,
            };
            node_of[task] = dag.push(node, preds[task].iter().map(|(pred, delay)| (node_of[*pred], *delay)));
        }
        let compute_s = instance.provenance.as_ref().and_then(|origin| origin.compute_s);
        if let (true, Some(compute_s)) = (instance.tasks.is_empty(), compute_s) {
            dag.push(Node { work: Work::Fixed(compute_s), release_s: 0.0, tail_s: 0.0 }, []);
        }
        Ok(Self { net: Cow::Borrowed(instance), dag })
    }

    /// Rate of one NIC and of one circuit and direction, bytes per second.
    pub fn nic_rate(&self) -> f64 {
        Gbps(self.net.nic_bandwidth_gbps).bytes_per_second()
    }

    /// Maximum rate of a task, at which each of its flows fills a NIC, bytes per second.
    pub fn full_rate(&self, task: usize) -> f64 {
        f64::from(self.net.tasks[task].flows) * self.nic_rate()
    }

    /// Index `2 * link + direction` of the directed link that each task uses.
    pub fn directed_links(&self) -> Vec<usize> {
        let directed = |task: &Task| {
            self.net.links.iter().enumerate().find_map(|(index, link)| {
                if (link.pod_a, link.pod_b) == (task.src_pod, task.dst_pod) {
                    Some(2 * index)
                } else if (link.pod_b, link.pod_a) == (task.src_pod, task.dst_pod) {
                    Some(2 * index + 1)
                } else {
                    None
                }
            })
        };
        // A task without a link makes the scenario invalid and was refused before.
        self.net.tasks.iter().map(|task| directed(task).unwrap_or(0)).collect()
    }

    /// Name of a task in messages: `task 7 'B4 s3>s2'`.
    pub fn task_label(&self, task: usize) -> String {
        match self.net.tasks.get(task) {
            Some(known) => format!("task {task} '{}'", printable(&known.name)),
            None => format!("task {task}"),
        }
    }

    /// Name of a pod in messages: `pod 1 'p1'`.
    pub fn pod_label(&self, pod: usize) -> String {
        match self.net.pods.get(pod) {
            Some(known) => format!("pod {pod} '{}'", printable(&known.name)),
            None => format!("pod {pod}"),
        }
    }

    /// Name of a link in messages: `link 0 (pod 0 'p0' - pod 1 'p1')`.
    pub fn link_label(&self, link: usize) -> String {
        match self.net.links.get(link) {
            Some(known) => format!(
                "link {link} ({} - {})",
                self.pod_label(known.pod_a.index()),
                self.pod_label(known.pod_b.index())
            ),
            None => format!("link {link}"),
        }
    }
}

/// Tasks with predecessors first; `Err` with the tasks of a cycle.
fn topological_order(instance: &Instance) -> Result<Vec<usize>, Vec<usize>> {
    let count = instance.tasks.len();
    let mut missing = vec![0_usize; count];
    let mut succs = vec![Vec::new(); count];
    for edge in &instance.edges {
        missing[edge.succ.index()] += 1;
        succs[edge.pred.index()].push(edge.succ.index());
    }
    let mut order: Vec<usize> = (0..count).filter(|task| missing[*task] == 0).collect();
    let mut next = 0;
    while next < order.len() {
        for succ in &succs[order[next]] {
            missing[*succ] -= 1;
            if missing[*succ] == 0 {
                order.push(*succ);
            }
        }
        next += 1;
    }
    if order.len() == count { Ok(order) } else { Err(one_cycle(instance, &missing)) }
}

/// One cycle among the tasks that remain after a topological sort.
fn one_cycle(instance: &Instance, missing: &[usize]) -> Vec<usize> {
    let blocked_by = |task: usize| {
        instance
            .edges
            .iter()
            .find(|edge| edge.succ.index() == task && missing[edge.pred.index()] > 0)
            .map(|edge| edge.pred.index())
    };
    let mut path: Vec<usize> = Vec::new();
    let mut current = missing.iter().position(|count| *count > 0);
    while let Some(task) = current {
        if let Some(first) = path.iter().position(|seen| *seen == task) {
            let mut cycle = path.split_off(first);
            cycle.reverse();
            return cycle;
        }
        path.push(task);
        current = blocked_by(task);
    }
    path
}
