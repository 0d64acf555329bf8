//! A job as Chakra traces: computations, messages and gradient exchanges of every GPU, one file for each.
//!
//! Replicas exchange gradients as messages to their neighbours on the ring, after a barrier, because an exchange waits
//! for its gradients in all replicas. Two more files give the ranks of the barriers and of the pods, so that
//! simulators, and the importer of traces, can reconstruct the job.

use crate::model::collapse::full_dag;
use crate::model::full_dag::{FullDag, Node, NodeKind};
use crate::scenario::job::Job;
use crate::scenario::workload::{Shape, Workload};
use lightbay_core::format::Artifact;
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::chakra::{ChakraNode, ChakraSort, ChakraTrace, ChakraValue, write};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Name of the format.
pub(super) const CHAKRA: &str = "chakra";
/// Version of the schema.
const VERSION: &str = "0.0.4";
/// Maximum number of nodes of all traces.
const MOST_NODES: u64 = 4_000_000;
/// Code of the barrier in Chakra's list of collectives.
const BARRIER: i64 = 9;

/// Returns the traces of a job.
///
/// # Errors
/// Replicas that are not alike, and more than `MOST_NODES` nodes.
pub(crate) fn files(stem: &str, job: &Job) -> Result<Vec<Artifact>, Problems> {
    let shape = job.shape()?;
    if shape.places.is_some() {
        let message =
            "is written only for jobs whose replicas are copies on separate pods with the same ports";
        return Err(Problem::new("to", message, "give `gpus_per_pod` instead of a list of pods").into());
    }
    let Some(workload) = Workload::of(job, &shape) else {
        return Err(Problem::new("job.model", "is missing", "name a model or give `measured`").into());
    };
    let ranks = u64::from(shape.replicas) * u64::from(shape.stages) * u64::from(shape.gpus_per_stage);
    let per_stage = 4 * u64::from(job.run.micro_batches) * u64::from(shape.virtual_stages) + 4;
    if ranks.saturating_mul(per_stage) > MOST_NODES {
        let message = format!("needs more than {MOST_NODES} nodes for {ranks} GPUs");
        return Err(Problem::new("to", message, "lower `micro_batches` or `gpus`").into());
    }
    let dag = full_dag(job, &shape, &workload, shape.replicas)?;
    let mut writer = TraceWriter {
        shape: &shape,
        workload: &workload,
        traces: vec![ChakraTrace { version: VERSION.to_owned(), ..ChakraTrace::default() }; ranks as usize],
        sent: vec![NONE; dag.nodes().len()],
        received: vec![NONE; dag.nodes().len()],
        tags: FxHashMap::default(),
        barriers: FxHashMap::default(),
        groups: BTreeMap::new(),
    };
    for node in 0..dag.nodes().len() {
        writer.node(&dag, node);
    }
    let file =
        |(rank, trace): (usize, &ChakraTrace)| Artifact::new(format!("{stem}.{rank}.et"), write(trace));
    let mut files: Vec<Artifact> = writer.traces.iter().enumerate().map(file).collect();
    // Without barriers, there are no groups.
    if !writer.groups.is_empty() {
        let groups = serde_json::to_vec(&writer.groups)
            .map_err(|error| Problem::new("to", error.to_string(), "please report this"))?;
        files.push(Artifact::new(format!("{stem}.groups.json"), groups));
    }
    files.push(Artifact::new(format!("{stem}.pods.csv"), pods(&shape)));
    Ok(files)
}

/// Returns the ranks of every pod, as the importer of traces reads them.
fn pods(shape: &Shape) -> String {
    let mut text = "rank_first,rank_last,pod\n".to_owned();
    for replica in 0..shape.replicas {
        for stage in 0..shape.stages {
            let first = shape.first_gpu(replica, stage);
            let position = shape.position(stage);
            let name = match &shape.names {
                Some(names) => names[replica as usize][position as usize].clone(),
                None => format!("r{replica}p{position}"),
            };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{first},{},{name}", first + shape.gpus_per_stage - 1);
        }
    }
    text
}

/// Mark of a node without a trace node.
const NONE: u64 = u64::MAX;

/// Traces that are being written. All GPUs of a stage have the same nodes with the same numbers.
struct TraceWriter<'a> {
    shape: &'a Shape,
    workload: &'a Workload,
    traces: Vec<ChakraTrace>,
    /// For each node of the graph, the number of its trace node: in `sent` at the GPUs that compute or send, in
    /// `received` at the GPUs that receive.
    sent: Vec<u64>,
    received: Vec<u64>,
    /// Number of messages so far between two sets of GPUs; the key is the first sending and the first receiving GPU.
    tags: FxHashMap<(u32, u32), u32>,
    /// Number of the barrier before a bucket of a stage, by replica, stage and bucket.
    barriers: FxHashMap<(u32, u32, u32), u64>,
    groups: BTreeMap<String, Vec<u32>>,
}

impl TraceWriter<'_> {
    fn node(&mut self, dag: &FullDag, at: usize) {
        let node = dag.nodes()[at];
        match node.kind {
            NodeKind::Forward | NodeKind::Backward => {
                let after = self.after(dag, dag.preds(at), (node.replica, node.stage));
                let letter = if node.kind == NodeKind::Forward { 'F' } else { 'B' };
                let name = format!("{letter}{} s{}", node.micro_batch + 1, node.stage + 1);
                let nanos = (node.duration_s * 1e9).round() as i64;
                let made = ChakraNode {
                    id: 0,
                    name,
                    sort: ChakraSort::Compute,
                    control_deps: Vec::new(),
                    data_deps: after,
                    duration_us: (node.duration_s * 1e6).round() as u64,
                    attributes: vec![
                        ("is_cpu_op".to_owned(), ChakraValue::Bool(false)),
                        ("duration_nanos".to_owned(), ChakraValue::Int(nanos)),
                    ],
                };
                self.sent[at] = self.push(self.all(node.replica, node.stage), |_| made.clone());
            }
            NodeKind::SendForward | NodeKind::SendBackward => {
                let ahead = if node.kind == NodeKind::SendForward { 1 } else { self.shape.stages - 1 };
                let to = (node.replica, (node.stage + ahead) % self.shape.stages);
                let bytes = self.workload.pp_volume_bytes / f64::from(self.shape.gpus_per_stage);
                let after = self.after(dag, dag.preds(at), (node.replica, node.stage));
                self.message(at, &node, to, (0, self.shape.gpus_per_stage), bytes, after);
            }
            NodeKind::Clockwise | NodeKind::CounterClockwise => self.exchange(dag, at, &node),
        }
    }

    /// Returns the GPUs of a stage of a replica.
    fn all(&self, replica: u32, stage: u32) -> std::ops::Range<u32> {
        let first = self.shape.first_gpu(replica, stage);
        first..first + self.shape.gpus_per_stage
    }

    /// Adds a node to the trace of each of the GPUs; returns the number of the node, which is the same in all these
    /// traces.
    fn push(&mut self, gpus: std::ops::Range<u32>, made: impl Fn(u32) -> ChakraNode) -> u64 {
        let id = self.traces[gpus.start as usize].nodes.len() as u64;
        for (offset, gpu) in (0..).zip(gpus) {
            self.traces[gpu as usize].nodes.push(ChakraNode { id, ..made(offset) });
        }
        id
    }

    /// Returns the node numbers of the graph nodes `preds` in the traces of a stage; all GPUs of the stage use the same
    /// numbers.
    fn after(&self, dag: &FullDag, preds: &[u32], (replica, stage): (u32, u32)) -> Vec<u64> {
        let mut after: Vec<u64> = Vec::with_capacity(preds.len());
        for &pred in preds {
            let node = dag.nodes()[pred as usize];
            let own = (node.replica, node.stage) == (replica, stage);
            let id = if own { self.sent[pred as usize] } else { self.received[pred as usize] };
            if id != NONE {
                after.push(id);
            }
        }
        after.sort_unstable();
        after.dedup();
        after
    }

    /// Adds a message from some GPUs of a stage to the GPUs at the same places of another stage.
    fn message(
        &mut self,
        at: usize,
        node: &Node,
        to: (u32, u32),
        (first, count): (u32, u32),
        bytes: f64,
        after: Vec<u64>,
    ) {
        let from = self.shape.first_gpu(node.replica, node.stage) + first;
        let other = self.shape.first_gpu(to.0, to.1) + first;
        let tag = self.tags.entry((from, other)).or_default();
        let number = *tag;
        *tag += 1;
        let bytes = bytes.round() as u64;
        self.sent[at] = self.push(from..from + count, |offset| {
            let ends = [from + offset, other + offset];
            ChakraNode::message(0, ChakraSort::Send, ends, number, bytes, after.clone())
        });
        self.received[at] = self.push(other..other + count, |offset| {
            let ends = [from + offset, other + offset];
            ChakraNode::message(0, ChakraSort::Receive, ends, number, bytes, Vec::new())
        });
    }

    fn exchange(&mut self, dag: &FullDag, at: usize, node: &Node) {
        let (replicas, stage) = (self.shape.replicas, node.stage);
        // The work of all replicas, and the bucket of this replica before.
        let is_exchange = |pred: &u32| {
            matches!(dag.nodes()[*pred as usize].kind, NodeKind::Clockwise | NodeKind::CounterClockwise)
        };
        let (before, ready): (Vec<u32>, Vec<u32>) = dag.preds(at).iter().partition(|pred| is_exchange(pred));
        if !self.barriers.contains_key(&(node.replica, stage, node.bucket)) {
            for replica in 0..replicas {
                let of: Vec<u32> = ready
                    .iter()
                    .copied()
                    .filter(|pred| dag.nodes()[*pred as usize].replica == replica)
                    .collect();
                let after = self.after(dag, &of, (replica, stage));
                let gpus = self.all(replica, stage);
                for offset in 0..self.shape.gpus_per_stage {
                    let members = (0..replicas).map(|r| self.shape.first_gpu(r, stage) + offset).collect();
                    self.groups.insert(group(self.shape, stage, offset), members);
                }
                let shape = self.shape;
                let id = self.push(gpus, |offset| ChakraNode {
                    id: 0,
                    name: format!("DP s{} ready", stage + 1),
                    sort: ChakraSort::Collective,
                    control_deps: Vec::new(),
                    data_deps: after.clone(),
                    duration_us: 0,
                    attributes: vec![
                        ("is_cpu_op".to_owned(), ChakraValue::Bool(false)),
                        ("comm_type".to_owned(), ChakraValue::Int(BARRIER)),
                        ("comm_size".to_owned(), ChakraValue::Int(0)),
                        ("pg_name".to_owned(), ChakraValue::Text(group(shape, stage, offset))),
                    ],
                });
                self.barriers.insert((replica, stage, node.bucket), id);
            }
        }
        // The GPUs of each direction send their buckets one after the other.
        let before: Vec<u32> =
            before.into_iter().filter(|pred| dag.nodes()[*pred as usize].kind == node.kind).collect();
        let mut after = self.after(dag, &before, (node.replica, stage));
        after.extend(self.barriers.get(&(node.replica, stage, node.bucket)));
        let clockwise = self.shape.clockwise_flows();
        let (to, part) = match node.kind {
            NodeKind::Clockwise => ((node.replica + 1) % replicas, (0, clockwise)),
            _ => {
                ((node.replica + replicas - 1) % replicas, (clockwise, self.shape.counter_clockwise_flows()))
            }
        };
        let share =
            self.workload.buckets(self.shape, stage).get(node.bucket as usize).map_or(1.0, |b| b.share);
        let bytes = self.workload.stages[stage as usize].dp_bytes_per_gpu * share;
        self.message(at, node, (to, stage), part, bytes, after);
    }
}

/// Returns the name of the group of the GPUs that have the place `offset` in the stage, one GPU of every replica.
fn group(shape: &Shape, stage: u32, offset: u32) -> String {
    (stage * shape.gpus_per_stage + offset).to_string()
}
