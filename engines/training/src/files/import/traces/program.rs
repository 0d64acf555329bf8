//! The trace of a rank as a program: messages and collectives, with the computations between them.
//!
//! A computation with one predecessor is merged into the predecessor if nothing else waits for the predecessor, so
//! chains become one step. Nodes without work disappear.

use super::knobs::TraceOptions;
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::traces::{Lane, RankTrace, TracedCollective, TracedWork};
use std::sync::Arc;

/// A step of a program, without its duration and peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ProgramStep {
    /// Computations.
    Compute(Lane),
    /// Send or receive.
    Message {
        /// `true` at the sender.
        sends: bool,
        /// Bytes, as the bits of a float.
        bytes: u64,
        /// Pod of the other end.
        pod: u32,
    },
    /// Part in a collective.
    Collective {
        /// Operation.
        kind: TracedCollective,
        /// Bytes of the input of this rank, as the bits of a float.
        bytes: u64,
        /// The group, numbered by first use in this program.
        group: u32,
    },
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RankProgram {
    /// Steps in topological order.
    pub items: Vec<ProgramStep>,
    /// For each step, the index in `preds` at which the predecessors of this step end.
    pub pred_ends: Vec<u32>,
    /// Predecessors.
    pub preds: Vec<u32>,
    /// Duration of each step, s; 0 for messages and collectives.
    pub seconds: Vec<f64>,
    /// Peer and tag of every message, in the order of the steps.
    pub messages: Vec<(u32, i64)>,
    /// Bytes that an all-to-all sends to each rank of its group, if the trace lists them: the number of the collective
    /// among the messages and collectives, and the bytes.
    pub parts: Vec<(u32, Arc<[f64]>)>,
    /// For each group of the program, its index among the groups of the trace.
    pub groups: Vec<u32>,
    /// Node of the trace of every message and collective, in the order of the steps.
    pub nodes: Vec<u32>,
    /// Counts of the trace.
    pub facts: ProgramFacts,
}

/// Counts of the content of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ProgramFacts {
    pub nodes: u64,
    pub computes: u64,
    /// Computations without a time although the trace gives their operations.
    pub untimed: u64,
    /// Computations without time and operations.
    pub empty: u64,
    /// Collectives without a size.
    pub sizeless: u64,
    /// All-gathers, whose size can be the input of a rank or the whole buffer.
    pub gathers: u64,
    pub seconds: f64,
}

impl RankProgram {
    /// Predecessors of a step.
    pub(super) fn preds(&self, item: usize) -> &[u32] {
        let start = item.checked_sub(1).map_or(0, |before| self.pred_ends[before]);
        &self.preds[start as usize..self.pred_ends[item] as usize]
    }

    fn push(&mut self, item: ProgramStep, seconds: f64, preds: &[u32]) -> u32 {
        self.items.push(item);
        self.seconds.push(seconds);
        self.preds.extend_from_slice(preds);
        self.pred_ends.push(self.preds.len() as u32);
        self.items.len() as u32 - 1
    }
}

/// Facts of the whole import that the reduction of a trace needs.
#[derive(Clone, Copy)]
pub(super) struct ReductionContext<'a> {
    /// Unit of the sizes of the trace, bytes.
    pub elem_bytes: f64,
    /// The pod of every rank.
    pub pods: &'a [u32],
    pub options: &'a TraceOptions,
}

/// Reduces a trace. `group_ranks` is the number of ranks of a group of the trace.
///
/// # Errors
/// A cycle, and messages to ranks that do not exist.
pub(super) fn program(
    trace: &RankTrace,
    context: ReductionContext<'_>,
    group_ranks: impl Fn(u32) -> usize,
) -> Result<RankProgram, Problems> {
    let nodes = trace.nodes();
    let options = context.options;
    let mut reduction = Reduction::new(trace);
    let mut problems = Problems::new();
    let mut local: Vec<u32> = vec![u32::MAX; trace.groups.len()];
    for at in topological(trace)? {
        let node = &nodes[at as usize];
        reduction.begin(trace, at);
        match node.work {
            TracedWork::Nothing => reduction.fixed(at, Lane::Free, 0.0),
            TracedWork::Compute(lane) => {
                let bytes = node.size * context.elem_bytes;
                let facts = &mut reduction.made.facts;
                facts.computes += 1;
                let seconds = seconds_of(node.micros, node.operations, bytes, options, facts);
                facts.seconds += seconds;
                reduction.fixed(at, lane, seconds);
            }
            TracedWork::Send { to: peer, tag } | TracedWork::Receive { from: peer, tag } => {
                let Some(&pod) = context.pods.get(peer as usize) else {
                    problems.add(
                        format!("node {}", node.id),
                        format!("names rank {peer}, but there are {} ranks", context.pods.len()),
                        "give the traces of all ranks",
                    );
                    reduction.fixed(at, Lane::Free, 0.0);
                    continue;
                };
                let sends = matches!(node.work, TracedWork::Send { .. });
                let bytes = (node.size.max(0.0) * context.elem_bytes).to_bits();
                reduction.made.messages.push((peer, tag));
                reduction.communication(at, ProgramStep::Message { sends, bytes, pod });
            }
            TracedWork::Collective { kind, group } => {
                let facts = &mut reduction.made.facts;
                facts.gathers += u64::from(kind == TracedCollective::AllGather);
                let is_sizeless = node.size < 0.0 && kind != TracedCollective::Barrier;
                facts.sizeless += u64::from(is_sizeless);
                let size = if is_sizeless {
                    options.unsized_bytes
                } else {
                    Some(node.size.max(0.0) * context.elem_bytes)
                };
                let Some(size) = size else {
                    // Only its time is known.
                    reduction.fixed(at, Lane::Free, node.micros / 1e6);
                    continue;
                };
                let own = &mut local[group as usize];
                if *own == u32::MAX {
                    *own = reduction.made.groups.len() as u32;
                    reduction.made.groups.push(group);
                }
                let is_whole =
                    kind == TracedCollective::AllGather && options.total == Some(true) && !is_sizeless;
                let bytes = if is_whole { size / group_ranks(group).max(1) as f64 } else { size };
                let group = *own;
                if let Some(parts) = trace.parts(at as usize).filter(|_| !is_sizeless) {
                    let number = reduction.made.nodes.len() as u32;
                    let bytes = parts.iter().map(|part| part * context.elem_bytes).collect();
                    reduction.made.parts.push((number, bytes));
                }
                reduction.communication(at, ProgramStep::Collective { kind, bytes: bytes.to_bits(), group });
            }
        }
    }
    problems.into_result(reduction.made)
}

/// A program that is being made.
struct Reduction {
    made: RankProgram,
    /// Number of nodes that depend on each node.
    followers: Vec<u32>,
    /// The step of every node.
    step: Vec<u32>,
    /// The last node of every step.
    tail: Vec<u32>,
    /// Steps on which the present node depends.
    preds: Vec<u32>,
}

impl Reduction {
    fn new(trace: &RankTrace) -> Self {
        let count = trace.nodes().len();
        let mut followers = vec![0_u32; count];
        for node in 0..count {
            for &dep in trace.deps(node) {
                followers[dep as usize] += 1;
            }
        }
        Self {
            made: RankProgram::default(),
            followers,
            step: vec![u32::MAX; count],
            tail: Vec::with_capacity(count),
            preds: Vec::new(),
        }
    }

    fn begin(&mut self, trace: &RankTrace, node: u32) {
        self.made.facts.nodes += 1;
        self.preds.clear();
        self.preds.extend(trace.deps(node as usize).iter().map(|dep| self.step[*dep as usize]));
        self.preds.sort_unstable();
        self.preds.dedup();
    }

    /// Adds fixed work. If exactly one step precedes the node, the work extends this step, provided that the step is a
    /// computation on the same lane that nothing else follows, or that the work takes no time. Otherwise the work
    /// becomes a new step.
    fn fixed(&mut self, node: u32, lane: Lane, seconds: f64) {
        if let [before] = self.preds[..] {
            let at = before as usize;
            let continues = self.made.items[at] == ProgramStep::Compute(lane)
                && self.followers[self.tail[at] as usize] == 1;
            if continues || seconds == 0.0 {
                self.made.seconds[at] += seconds;
                self.step[node as usize] = before;
                if continues {
                    self.tail[at] = node;
                }
                return;
            }
        }
        self.add(node, ProgramStep::Compute(lane), seconds);
    }

    fn communication(&mut self, node: u32, item: ProgramStep) {
        self.made.nodes.push(node);
        self.add(node, item, 0.0);
    }

    fn add(&mut self, node: u32, item: ProgramStep, seconds: f64) {
        self.step[node as usize] = self.made.push(item, seconds, &self.preds);
        self.tail.push(node);
    }
}

/// Returns the time of a computation: the measured time, or the time that follows from its number of operations and the
/// bytes of its tensors; 0 if neither is known, or if `options` ignores computations.
fn seconds_of(
    micros: f64,
    operations: f64,
    bytes: f64,
    options: &TraceOptions,
    facts: &mut ProgramFacts,
) -> f64 {
    if options.no_compute {
        return 0.0;
    }
    if micros > 0.0 {
        return micros / 1e6;
    }
    if operations <= 0.0 {
        facts.empty += 1;
        return 0.0;
    }
    facts.untimed += 1;
    let memory = options.memory_gbyte_per_s.map_or(0.0, |rate| bytes.max(0.0) / (rate * 1e9));
    options.tflops.map_or(0.0, |rate| (operations / (rate * 1e12)).max(memory))
}

/// Nodes in an order in which every node comes after the nodes on which it depends; this is the order of the file if
/// the file has this property.
fn topological(trace: &RankTrace) -> Result<Vec<u32>, Problems> {
    let count = trace.nodes().len();
    if (0..count).all(|node| trace.deps(node).iter().all(|dep| (*dep as usize) < node)) {
        return Ok((0..count as u32).collect());
    }
    let mut open: Vec<u32> = (0..count).map(|node| trace.deps(node).len() as u32).collect();
    let mut starts = vec![0_u32; count + 1];
    for node in 0..count {
        for &dep in trace.deps(node) {
            starts[dep as usize + 1] += 1;
        }
    }
    for at in 0..count {
        starts[at + 1] += starts[at];
    }
    let mut fill = starts.clone();
    let mut followers = vec![0_u32; starts[count] as usize];
    for node in 0..count {
        for &dep in trace.deps(node) {
            let slot = &mut fill[dep as usize];
            followers[*slot as usize] = node as u32;
            *slot += 1;
        }
    }
    let mut order: Vec<u32> = (0..count as u32).filter(|node| open[*node as usize] == 0).collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        let range = starts[node as usize] as usize..starts[node as usize + 1] as usize;
        for &follower in &followers[range] {
            let left = &mut open[follower as usize];
            *left -= 1;
            if *left == 0 {
                order.push(follower);
            }
        }
    }
    if order.len() == count { Ok(order) } else { Err(cycle(trace, &open)) }
}

/// Describes a cycle among the nodes that are left.
fn cycle(trace: &RankTrace, open: &[u32]) -> Problems {
    const SHOWN: usize = 8;
    let mut seen = vec![usize::MAX; open.len()];
    let mut path: Vec<usize> = Vec::new();
    let mut at = open.iter().position(|left| *left > 0);
    while let Some(node) = at.filter(|node| seen[*node] == usize::MAX) {
        seen[node] = path.len();
        path.push(node);
        at = trace.deps(node).iter().map(|dep| *dep as usize).find(|dep| open[*dep] > 0);
    }
    let start = at.map_or(0, |node| seen[node]);
    let ids: Vec<String> =
        path[start..].iter().rev().take(SHOWN).map(|node| trace.nodes()[*node].id.to_string()).collect();
    let more = path[start..].len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("depend on each other in a cycle: {}{more}", ids.join(", "));
    Problem::new("nodes", message, "remove one of the dependencies").into()
}
