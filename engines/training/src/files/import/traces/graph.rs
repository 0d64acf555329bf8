//! The graph of the whole job: fixed work inside pods, and transfers between pods.
//!
//! A collective runs on a ring over its ranks, which are ordered by pod: every hop between pods is a transfer, and the
//! hops inside pods take a fixed time. In an all-to-all, each rank sends directly to each other rank ([`Exchange`]); in
//! a gather or a scatter, data goes directly between the first rank and each other rank.

use super::assumed;
use super::classes::Classes;
use super::exchange::Exchange;
use super::joined::{JoinedSteps, JointStep, JointWork};
use super::knobs::TraceOptions;
use super::placement::TracePods;
use super::program::ProgramStep;
use super::summary::TraceSummary;
use crate::scenario::limits::{MAX_TASKS, MIN_BYTES};
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::scenario::Assumed;
use lightbay_formats::traces::{Lane, TracedCollective};
use std::collections::BTreeMap;

/// Node without a lane or a transfer.
pub(super) const NONE: u32 = u32::MAX;
/// Maximum number of nodes.
const MOST_NODES: usize = 8_000_000;

/// A transfer between two pods: equal flows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Transfer {
    pub from: u32,
    pub to: u32,
    /// Sending and receiving rank of each flow.
    pub flows: Vec<(u32, u32)>,
    pub bytes_per_flow: f64,
    /// Index in `JoinedSteps::joints` of the message or collective of which the transfer is a part.
    pub joint: u32,
}

/// A node.
#[derive(Clone, Copy, Debug)]
pub(super) struct GraphNode {
    /// Fixed time, or the minimum time of a transfer.
    pub seconds: f64,
    /// Unit that computes one node at a time: class and lane.
    pub lane: u32,
    /// Index of the transfer.
    pub transfer: u32,
}

/// The graph. Nodes are in no particular order.
#[derive(Debug, Default)]
pub(super) struct JobGraph {
    pub nodes: Vec<GraphNode>,
    pub preds: Vec<Vec<u32>>,
    pub transfers: Vec<Transfer>,
}

impl JobGraph {
    fn add(&mut self, seconds: f64, lane: u32, preds: Vec<u32>) -> u32 {
        self.nodes.push(GraphNode { seconds, lane, transfer: NONE });
        self.preds.push(preds);
        self.nodes.len() as u32 - 1
    }
}

/// Parts of a message or collective: transfers between pods, and the time of the work inside pods.
#[derive(Debug, Default)]
struct Pieces {
    transfers: Vec<Transfer>,
    fixed_s: f64,
}

/// Rates and latency from which transfers and times inside pods are computed.
pub(super) struct Rates {
    /// Bytes per second of a NIC, and of a GPU inside a pod.
    pub between: f64,
    pub inside: f64,
    pub latency_s: f64,
    pub both_directions: bool,
}

/// Builds the graph.
///
/// # Errors More nodes or transfers than a scenario can have, or no transfer between pods.
pub(super) fn graph(
    classes: &Classes,
    joined: &JoinedSteps,
    pods: &TracePods,
    options: &TraceOptions,
    summary: &mut TraceSummary,
) -> Result<JobGraph, Problems> {
    let rates = Rates {
        // 1 Gb/s is 1.25e8 bytes/s.
        between: options.bandwidth() * 1.25e8,
        inside: options.inside_gbps() * 1.25e8,
        latency_s: options.latency() * 1e-6,
        both_directions: options.both_directions,
    };
    let exact = built(classes, joined, pods, &rates, true);
    let (graph, inside) = match exact {
        // Flows of all GPUs of an all-to-all can be too many; flows with the same sums of pods are fewer.
        Err(refused) if joined.joints.iter().any(JointStep::is_exchange) => {
            let coarse = built(classes, joined, pods, &rates, false).map_err(|_| refused)?;
            summary.notes.push(format!(
                "the GPUs of a pod share the bytes of all-to-alls evenly, because their own bytes would take more than {MAX_TASKS} transfers"
            ));
            coarse
        }
        other => other?,
    };
    if graph.transfers.is_empty() {
        return Err(no_transfers(classes, pods).into());
    }
    if options.bandwidth_gbps.is_none() {
        let value = format!("{} Gb/s", options.bandwidth());
        summary.assumed.push(assumed("rate of one NIC and circuit", value, "bandwidth_gbps"));
    }
    if inside && options.intra_pod_gbps.is_none() {
        let value = format!("{} Gb/s", options.inside_gbps());
        summary.assumed.push(assumed("rate of one GPU inside a pod", value, "intra_pod_gbps"));
    }
    if inside && options.latency_us.is_none() {
        let value = format!("{} us", options.latency());
        summary.assumed.push(assumed(
            "latency of one step of a collective inside a pod",
            value,
            "latency_us",
        ));
    }
    let unlisted = |joint: &&JointStep| {
        joint.sent.iter().any(|own| own.parts.is_none() && own.total.to_bits() != joint.bytes.to_bits())
    };
    let unlisted = joined.joints.iter().filter(unlisted).count() as u64;
    if unlisted > 0 {
        let what = counted(unlisted, "all-to-all", "all-to-alls");
        summary.assumed.push(Assumed {
            what: format!("parts of {what} whose ranks send different totals without a list of split sizes"),
            value: "equal parts for all ranks".to_owned(),
            set_with: String::new(),
        });
    }
    Ok(graph)
}

/// Builds the graph; `exact` as in [`Exchange`]. Also returns `true` if work inside pods takes time.
fn built(
    classes: &Classes,
    joined: &JoinedSteps,
    pods: &TracePods,
    rates: &Rates,
    exact: bool,
) -> Result<(JobGraph, bool), Problems> {
    let mut graph = JobGraph::default();
    let mut inside = false;
    // The node at which the joint work ends, and where it begins.
    let mut ends = Vec::with_capacity(joined.joints.len());
    let mut begins = Vec::with_capacity(joined.joints.len());
    for (number, joint) in (0_u32..).zip(&joined.joints) {
        let pieces = pieces(number, joint, classes, pods, rates, exact);
        inside |= pieces.fixed_s > 0.0;
        let count = pieces.transfers.len() + usize::from(pieces.fixed_s > 0.0);
        if count <= 1 {
            let node = graph.add(pieces.fixed_s, NONE, Vec::new());
            if let Some(transfer) = pieces.transfers.into_iter().next() {
                place(&mut graph, node, transfer, rates.between);
            }
            begins.push(node);
            ends.push(node);
        } else {
            let begin = graph.add(0.0, NONE, Vec::new());
            let mut parts = Vec::with_capacity(count);
            if pieces.fixed_s > 0.0 {
                parts.push(graph.add(pieces.fixed_s, NONE, vec![begin]));
            }
            for transfer in pieces.transfers {
                let node = graph.add(0.0, NONE, vec![begin]);
                place(&mut graph, node, transfer, rates.between);
                parts.push(node);
            }
            begins.push(begin);
            ends.push(graph.add(0.0, NONE, parts));
        }
        if graph.transfers.len() as u64 > MAX_TASKS {
            let message = format!("have more than {MAX_TASKS} transfers between pods");
            let remedy = "use larger pods (gpus_per_pod=), or traces of fewer micro-batches";
            return Err(Problem::new("traces", message, remedy).into());
        }
    }
    for (at, class) in classes.list.iter().enumerate() {
        if graph.nodes.len() + class.program.items.len() > MOST_NODES {
            let message = format!("have more than {MOST_NODES} steps");
            return Err(Problem::new("traces", message, "give shorter traces, or fewer ranks").into());
        }
        let mut step: Vec<u32> = Vec::with_capacity(class.program.items.len());
        let mut communications = joined.of[at].iter();
        for (number, item) in class.program.items.iter().enumerate() {
            let preds = class.program.preds(number).iter().map(|pred| step[*pred as usize]);
            let ProgramStep::Compute(lane) = item else {
                let joint = communications.next().copied().unwrap_or_default() as usize;
                graph.preds[begins[joint] as usize].extend(preds);
                step.push(ends[joint]);
                continue;
            };
            let lane = match lane {
                Lane::Gpu => 2 * at as u32,
                Lane::Host => 2 * at as u32 + 1,
                Lane::Free => NONE,
            };
            let preds = preds.collect();
            step.push(graph.add(class.program.seconds[number], lane, preds));
        }
    }
    for preds in &mut graph.preds {
        preds.sort_unstable();
        preds.dedup();
    }
    Ok((graph, inside))
}

fn no_transfers(classes: &Classes, pods: &TracePods) -> Problem {
    if pods.of.len() < 2 {
        let remedy = "give the traces of several ranks, named NAME.RANK.et, and their file of groups";
        return Problem::new("traces", "are of one rank and name no other", remedy);
    }
    if pods.names.len() < 2 {
        let remedy = "set gpus_per_pod= to less than the number of ranks, or give a table with several pods";
        return Problem::new("traces", "have all ranks in one pod, so nothing crosses pods", remedy);
    }
    match classes.facts.program.sizeless {
        0 => Problem::new(
            "traces",
            "have no transfer between pods",
            "change the pods (gpus_per_pod= or the table of pods), or give traces with communication",
        ),
        count => Problem::new(
            "unsized_bytes",
            format!(
                "is missing: the traces have no transfer between pods with a size, but {count} collectives without one"
            ),
            "set the bytes of each of them per rank, such as unsized_bytes=1e6",
        ),
    }
}

fn place(graph: &mut JobGraph, node: u32, transfer: Transfer, rate: f64) {
    let own = &mut graph.nodes[node as usize];
    own.transfer = graph.transfers.len() as u32;
    own.seconds = transfer.bytes_per_flow / rate;
    graph.transfers.push(transfer);
}

fn pieces(
    number: u32,
    joint: &JointStep,
    classes: &Classes,
    pods: &TracePods,
    rates: &Rates,
    exact: bool,
) -> Pieces {
    let mut flows = Flows::default();
    match &joint.work {
        JointWork::Messages(pairs) => {
            for &(from, to) in pairs {
                flows.add([from, to], joint.bytes, pods, rates, 0.0);
            }
        }
        JointWork::Collective(kind, groups) => {
            for (place, group) in groups.iter().enumerate() {
                let members = classes.members(*group);
                if *kind == TracedCollective::AllToAll {
                    all_to_all(members, joint, pods, rates, exact, &mut flows);
                    continue;
                }
                let backwards = rates.both_directions && place % 2 == 1;
                let root = classes.root(*group).unwrap_or(0);
                collective(*kind, (members, root), joint.bytes, backwards, pods, rates, &mut flows);
            }
        }
    }
    let transfers = flows.by_pods.into_iter().map(|((from, to, bits), flows)| Transfer {
        from,
        to,
        flows,
        bytes_per_flow: f64::from_bits(bits),
        joint: number,
    });
    Pieces { transfers: transfers.collect(), fixed_s: flows.fixed_s }
}

/// Flows between pods, and the maximum time of a flow inside a pod.
#[derive(Default)]
pub(super) struct Flows {
    /// Flows by pods and bytes.
    pub by_pods: BTreeMap<(u32, u32, u64), Vec<(u32, u32)>>,
    pub fixed_s: f64,
}

impl Flows {
    /// Adds a flow of `bytes` from rank to rank; if both ranks are in one pod, only raises the maximum time to the time
    /// of this flow plus `latency_s`. Flows between pods below the minimum volume are left out.
    pub(super) fn add(
        &mut self,
        [from, to]: [u32; 2],
        bytes: f64,
        pods: &TracePods,
        rates: &Rates,
        latency_s: f64,
    ) {
        let (a, b) = (pods.of[from as usize], pods.of[to as usize]);
        if a == b {
            self.fixed_s = self.fixed_s.max(latency_s + bytes / rates.inside);
        } else if bytes >= MIN_BYTES {
            self.by_pods.entry((a, b, bytes.to_bits())).or_default().push((from, to));
        }
    }
}

/// Adds the flows of a collective among `members`; `root` is the root of collectives that have one.
fn collective(
    kind: TracedCollective,
    (members, root): (&[u32], u32),
    bytes: f64,
    backwards: bool,
    pods: &TracePods,
    rates: &Rates,
    flows: &mut Flows,
) {
    let count = members.len();
    if count < 2 {
        return;
    }
    let (mut ring, alone) = ring(members, pods);
    let n = count as f64;
    let steps = (n - 1.0) * if kind == TracedCollective::AllReduce { 2.0 } else { 1.0 };
    let latency_s = if alone { steps * rates.latency_s } else { 0.0 };
    let on_ring = |per_hop: f64, hops: usize, ring: &[u32], flows: &mut Flows| {
        for at in 0..hops {
            let (a, b) = (ring[at], ring[(at + 1) % count]);
            let ends = if backwards { [b, a] } else { [a, b] };
            flows.add(ends, per_hop, pods, rates, latency_s);
        }
    };
    match kind {
        TracedCollective::AllReduce => on_ring(2.0 * (n - 1.0) / n * bytes, count, &ring, flows),
        TracedCollective::ReduceScatter => on_ring((n - 1.0) / n * bytes, count, &ring, flows),
        TracedCollective::AllGather => on_ring((n - 1.0) * bytes, count, &ring, flows),
        TracedCollective::Broadcast | TracedCollective::Reduce => {
            // A chain from the root, or to it.
            let from = ring.iter().position(|rank| *rank == root).unwrap_or(0);
            ring.rotate_left(from);
            for pair in ring.windows(2) {
                let ends =
                    if kind == TracedCollective::Broadcast { [pair[0], pair[1]] } else { [pair[1], pair[0]] };
                flows.add(ends, bytes, pods, rates, latency_s);
            }
        }
        TracedCollective::Gather | TracedCollective::Scatter => {
            let part = if kind == TracedCollective::Scatter { bytes / n } else { bytes };
            for &rank in ring.iter().filter(|rank| **rank != root) {
                let ends = if kind == TracedCollective::Gather { [rank, root] } else { [root, rank] };
                flows.add(ends, part, pods, rates, latency_s);
            }
        }
        TracedCollective::AllToAll | TracedCollective::Barrier => {
            flows.fixed_s = flows.fixed_s.max(latency_s);
        }
    }
}

/// Returns the ranks ordered by pod, and `true` if all of them are in one pod.
fn ring(members: &[u32], pods: &TracePods) -> (Vec<u32>, bool) {
    let mut ring: Vec<u32> = members.to_vec();
    let pod = |rank: u32| pods.of[rank as usize];
    ring.sort_by_key(|rank| (pod(*rank), *rank));
    let alone = ring.first().map(|rank| pod(*rank)) == ring.last().map(|rank| pod(*rank));
    (ring, alone)
}

/// Adds the flows of an all-to-all among `members`.
fn all_to_all(
    members: &[u32],
    joint: &JointStep,
    pods: &TracePods,
    rates: &Rates,
    exact: bool,
    flows: &mut Flows,
) {
    if members.len() < 2 {
        return;
    }
    let (ring, alone) = ring(members, pods);
    let steps = (members.len() - 1) as f64;
    let latency_s = if alone { steps * rates.latency_s } else { 0.0 };
    let exchange = Exchange { ring: &ring, pods, rates, latency_s, exact };
    if joint.sent.is_empty() {
        exchange.equal(joint.bytes / members.len() as f64, flows);
    } else {
        exchange.unequal(members, &joint.sent, joint.bytes, flows);
    }
}
