//! Pipeline order of a per-call CSV: matches sends with receives, and finds the order in which each stage runs its
//! forward and backward passes.
//!
//! The k-th `send_next` of a stage is the k-th `recv_prev` of the next stage, and the k-th `send_prev` is the k-th
//! `recv_next` of the previous stage. The column `additional` determines the direction, because in the steady phase a
//! `recv_next` is listed under `forward_step`.

use std::fmt;

use lightbay_core::problem::Problems;
use serde::{Serialize, Serializer};

use super::calls::{Call, CallKind, Calls, Peer, Phase};

/// Direction of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pass {
    /// Forward pass.
    Forward,
    /// Backward pass.
    Backward,
}

/// One pass of one micro-batch on a stage; written `F1`, `B12`, micro-batches from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// Direction of the pass.
    pub pass: Pass,
    /// Number of the micro-batch, from 1.
    pub micro_batch: u32,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = if self.pass == Pass::Forward { 'F' } else { 'B' };
        write!(f, "{letter}{}", self.micro_batch)
    }
}

impl Serialize for Slot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The pipeline of one iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// Number of micro-batches of the iteration.
    pub micro_batches: u32,
    /// Passes of each stage, in the order in which the stage runs them.
    pub orders: Vec<Vec<Slot>>,
    /// Number of matched transfers between all pairs of adjacent stages, in both directions.
    pub transfers: u64,
    /// The size of a transfer per rank; `None` if there are no transfers, or if their sizes differ.
    pub bytes: Option<u64>,
    /// Smallest and largest size of a transfer per rank.
    pub bytes_range: Option<(u64, u64)>,
    /// Number of stages whose order comes only from their transfers, because their rows do not show the work of every
    /// pass.
    pub without_work: usize,
}

/// Matches the transfers of one iteration (`iteration` counts from 0) and derives the order of each stage.
///
/// # Errors
/// Unmatched transfers with both counts, transfers of unequal size, stages that disagree on the number of
/// micro-batches, an order that cannot run.
pub fn derive(calls: &Calls, iteration: usize) -> Result<Pipeline, Problems> {
    let stages: Vec<&[Call]> = calls
        .sections
        .iter()
        .filter_map(|s| s.iterations.get(iteration).map(|range| &s.calls[range.clone()]))
        .collect();
    let mut problems = Problems::new();
    let (transfers, bytes_range) = match_transfers(&stages, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let last = stages.len().saturating_sub(1);
    let mut orders = Vec::with_capacity(stages.len());
    let mut without_work = 0;
    for (stage, rows) in stages.iter().enumerate() {
        let (order, from_work) = stage_order(rows, stage == 0, stage == last);
        without_work += usize::from(!from_work);
        orders.push(order);
    }
    let micro_batches = agree(&orders, &mut problems);
    if problems.is_empty() {
        runnable(&orders, &mut problems);
    }
    let bytes = bytes_range.and_then(|(low, high)| (low == high).then_some(low));
    problems.into_result(Pipeline { micro_batches, orders, transfers, bytes, bytes_range, without_work })
}

/// Returns sizes and lines of the transfers of one kind.
fn transfers_of(rows: &[Call], kind: CallKind) -> Vec<(u64, u32)> {
    rows.iter().filter(|call| call.kind == kind).map(|call| (call.bytes, call.line)).collect()
}

fn match_transfers(stages: &[&[Call]], problems: &mut Problems) -> (u64, Option<(u64, u64)>) {
    use CallKind::{Receive, Send};
    use Peer::{Next, Previous};
    let mut matched = 0;
    let mut range: Option<(u64, u64)> = None;
    for (stage, pair) in stages.windows(2).enumerate() {
        let directions = [
            (stage, Send(Next), "send_next", stage + 1, Receive(Previous), "recv_prev", pair[0], pair[1]),
            (stage + 1, Send(Previous), "send_prev", stage, Receive(Next), "recv_next", pair[1], pair[0]),
        ];
        for (from, send, send_name, to, receive, receive_name, from_rows, to_rows) in directions {
            let sent = transfers_of(from_rows, send);
            let received = transfers_of(to_rows, receive);
            if sent.len() != received.len() {
                problems.add(
                    format!("stage {from} to stage {to}"),
                    format!(
                        "'{}' rows with {send_name}, but '{}' rows with {receive_name}",
                        sent.len(),
                        received.len()
                    ),
                    "every send needs a receive; the file may be cut off or edited",
                );
                continue;
            }
            for ((bytes, line), (other, other_line)) in sent.iter().zip(&received) {
                if bytes != other {
                    problems.add(
                        format!("line {line}, msg_size"),
                        format!("'{bytes}' is sent, but '{other}' is received in line {other_line}"),
                        "both ends of a transfer must have the same size",
                    );
                }
                let (low, high) = range.unwrap_or((*bytes, *bytes));
                range = Some((low.min(*bytes), high.max(*bytes)));
            }
            matched += sent.len() as u64;
        }
    }
    let ends = [
        (0, Send(Previous), "send_prev"),
        (0, Receive(Previous), "recv_prev"),
        (stages.len().saturating_sub(1), Send(Next), "send_next"),
        (stages.len().saturating_sub(1), Receive(Next), "recv_next"),
    ];
    for (stage, kind, name) in ends {
        let stray = stages.get(stage).and_then(|rows| rows.iter().find(|call| call.kind == kind));
        if let Some(call) = stray {
            problems.add(
                format!("line {}, additional", call.line),
                format!("'{name}' is on stage {stage}, which has no neighbour in this direction"),
                "interleaved (virtual) pipelines are not supported; use a file without interleaving",
            );
        }
    }
    (matched, range)
}

/// Derives the order of one stage: from its work rows if these show as many passes as its transfers (or if the stage is
/// the only one), otherwise from its transfers. Also returns `true` in the first case.
fn stage_order(rows: &[Call], first: bool, last: bool) -> (Vec<Slot>, bool) {
    let by_work = order_by_work(rows);
    if first && last {
        return (by_work, true);
    }
    let by_transfers = order_by_transfers(rows, first, last);
    let count = |order: &[Slot], pass| order.iter().filter(|slot| slot.pass == pass).count();
    let agrees = [Pass::Forward, Pass::Backward]
        .into_iter()
        .all(|pass| count(&by_work, pass) == count(&by_transfers, pass));
    if agrees { (by_work, true) } else { (by_transfers, false) }
}

/// Collects passes in order, and numbers the micro-batches of each direction.
#[derive(Default)]
struct Numbered {
    slots: Vec<Slot>,
    forwards: u32,
    backwards: u32,
}

impl Numbered {
    fn push(&mut self, pass: Pass) {
        let counter = match pass {
            Pass::Forward => &mut self.forwards,
            Pass::Backward => &mut self.backwards,
        };
        *counter += 1;
        self.slots.push(Slot { pass, micro_batch: *counter });
    }
}

/// Derives the order of one stage from its work rows. A new micro-batch begins when the pass changes, or after a
/// transfer of the same pass.
fn order_by_work(rows: &[Call]) -> Vec<Slot> {
    let mut order = Numbered::default();
    let mut current: Option<Pass> = None;
    for call in rows {
        match call.kind {
            CallKind::Send(peer) | CallKind::Receive(peer) => {
                if current == Some(pass_of(call.kind, peer)) {
                    current = None;
                }
            }
            CallKind::Collective(_) | CallKind::Computation => {
                if let Phase::Pass(pass) = call.phase
                    && current != Some(pass)
                {
                    order.push(pass);
                    current = Some(pass);
                }
            }
            CallKind::Barrier => {}
        }
    }
    order.slots
}

/// Returns the pass to which a transfer belongs: activations go to the next stage, gradients to the previous stage.
const fn pass_of(kind: CallKind, peer: Peer) -> Pass {
    match (kind, peer) {
        (CallKind::Send(_), Peer::Next) | (CallKind::Receive(_), Peer::Previous) => Pass::Forward,
        _ => Pass::Backward,
    }
}

/// Derives the order of one stage from its transfers. One transfer represents each pass: the send that ends the pass,
/// or, if the pass ends without a send at an end of the pipeline, the receive that begins the pass.
fn order_by_transfers(rows: &[Call], first: bool, last: bool) -> Vec<Slot> {
    let mut transfers: Vec<(CallKind, Pass)> = Vec::new();
    for call in rows {
        if let CallKind::Send(peer) | CallKind::Receive(peer) = call.kind {
            transfers.push((call.kind, pass_of(call.kind, peer)));
        }
    }
    // An adjacent receive and send of different passes are issued together, as 1F1B does in its steady phase: the send
    // ends the previous pass, the receive begins the next one. Without work rows, this cannot be distinguished from a
    // receive, two passes and a send.
    let mut at = 0;
    while at + 1 < transfers.len() {
        let receive_then_send = matches!(transfers[at].0, CallKind::Receive(_))
            && matches!(transfers[at + 1].0, CallKind::Send(_))
            && transfers[at].1 != transfers[at + 1].1;
        if receive_then_send {
            transfers.swap(at, at + 1);
            at += 2;
        } else {
            at += 1;
        }
    }
    let mut order = Numbered::default();
    for (kind, pass) in transfers {
        let at_the_end = match pass {
            Pass::Forward => last,
            Pass::Backward => first,
        };
        let marks = match kind {
            CallKind::Receive(_) => at_the_end,
            _ => !at_the_end,
        };
        if marks {
            order.push(pass);
        }
    }
    order.slots
}

/// Checks that every stage runs every micro-batch once forward and once backward; returns the number of micro-batches.
fn agree(orders: &[Vec<Slot>], problems: &mut Problems) -> u32 {
    let count = |order: &[Slot], pass| order.iter().filter(|slot| slot.pass == pass).count();
    let expected = orders.first().map_or(0, |order| count(order, Pass::Forward));
    if expected == 0 {
        problems.add(
            "stage 0",
            "has no forward pass",
            "rows of an iteration have stages such as 'forward_step' and 'backward_step'",
        );
        return 0;
    }
    for (stage, order) in orders.iter().enumerate() {
        let (forwards, backwards) = (count(order, Pass::Forward), count(order, Pass::Backward));
        if forwards != expected || backwards != expected {
            problems.add(
                format!("stage {stage}"),
                format!(
                    "has '{forwards}' forward and '{backwards}' backward passes instead of '{expected}' of each"
                ),
                "every stage runs each micro-batch once forward and once backward",
            );
        }
    }
    expected as u32
}

/// Checks that the orders of all stages can run together; a pass waits for the same pass of the stage that sends its
/// input, and a backward pass also for the forward pass of its own stage.
fn runnable(orders: &[Vec<Slot>], problems: &mut Problems) {
    let stages = orders.len();
    let mut next = vec![0_usize; stages];
    let mut forwards = vec![0_u32; stages];
    let mut backwards = vec![0_u32; stages];
    loop {
        let mut moved = false;
        for stage in 0..stages {
            while let Some(slot) = orders[stage].get(next[stage]) {
                let ready = match slot.pass {
                    Pass::Forward => stage == 0 || forwards[stage - 1] >= slot.micro_batch,
                    Pass::Backward => {
                        forwards[stage] >= slot.micro_batch
                            && (stage + 1 == stages || backwards[stage + 1] >= slot.micro_batch)
                    }
                };
                if !ready {
                    break;
                }
                match slot.pass {
                    Pass::Forward => forwards[stage] = slot.micro_batch,
                    Pass::Backward => backwards[stage] = slot.micro_batch,
                }
                next[stage] += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    for (stage, order) in orders.iter().enumerate() {
        if let Some(slot) = order.get(next[stage]) {
            problems.add(
                format!("stage {stage}"),
                format!("'{slot}' waits forever"),
                "the order of passes contradicts the order of the neighbouring stages",
            );
            return;
        }
    }
}

#[cfg(test)]
mod tests;
