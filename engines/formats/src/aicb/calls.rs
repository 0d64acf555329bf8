//! AICB per-call CSV: for each pipeline stage, every communication call of one rank in program order.
//!
//! A section starts with `[ pp_stageK: [rankA, rankB, ...] ]` (or `[rank0 ~ rank127]`, or nothing) and a header line.
//! Rows with stage `init.*` come before the first iteration; they are counted but not stored; `epoch_end` separates
//! iterations.

mod fields;
mod reading;

use std::io::BufRead;
use std::ops::Range;

use lightbay_core::problem::Problems;

use super::collective::CollectiveKind;
use super::order::Pass;
use crate::gz::Limits;
use crate::lines::Lines;
use reading::Reading;

/// Kind of work of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// A collective.
    Collective(CollectiveKind),
    /// Waits for all ranks; no data is sent.
    Barrier,
    /// Pipeline send.
    Send(Peer),
    /// Pipeline receive.
    Receive(Peer),
    /// One or several kernels.
    Computation,
}

/// The other end of a pipeline transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The stage after this one.
    Next,
    /// The stage before this one.
    Previous,
}

/// `comm_group` of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGroup {
    /// Tensor parallel.
    Tp,
    /// Data parallel.
    Dp,
    /// Pipeline.
    Pp,
    /// Expert parallel.
    Ep,
    /// Data parallel among ranks with the same experts.
    EpDp,
    /// Tensor parallel inside an expert.
    EpTp,
    /// First and last stage.
    Embedding,
    /// Every rank.
    All,
}

const GROUPS: [(&str, CallGroup); 8] = [
    ("tp_group", CallGroup::Tp),
    ("dp_group", CallGroup::Dp),
    ("pp_group", CallGroup::Pp),
    ("ep_group", CallGroup::Ep),
    ("ep_dp_group", CallGroup::EpDp),
    ("ep_tp_group", CallGroup::EpTp),
    ("embedding_group", CallGroup::Embedding),
    ("all", CallGroup::All),
];

impl CallGroup {
    /// The name in the file.
    pub fn name(self) -> &'static str {
        GROUPS.iter().find(|(_, group)| *group == self).map_or("", |(name, _)| name)
    }
}

/// Part of an iteration to which a row belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// In the forward or the backward pass of a micro-batch.
    Pass(Pass),
    /// Once per iteration, such as gradient reduction and optimizer.
    Step,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Kind of work.
    pub kind: CallKind,
    /// Group of ranks that take part; `None` for computations.
    pub group: Option<CallGroup>,
    /// Bytes per rank; 0 for computations and barriers.
    pub bytes: u64,
    /// Part of the iteration.
    pub phase: Phase,
    /// Index into [`Calls::stage_names`].
    pub stage_name: u32,
    /// Measured time, seconds.
    pub elapsed_s: Option<f64>,
    /// Number of consecutive calls.
    pub count: u32,
    /// Line in the file.
    pub line: u32,
}

/// One pipeline stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageCalls {
    /// Ranks of the stage; empty if the file does not state them.
    pub ranks: Vec<u32>,
    /// The rows of all iterations.
    pub calls: Vec<Call>,
    /// The iterations as ranges of `calls`; none is empty.
    pub iterations: Vec<Range<usize>>,
}

/// Ranks of one group, as stated in the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSizes {
    /// Tensor parallel.
    pub tp: Option<u64>,
    /// Data parallel.
    pub dp: Option<u64>,
    /// Expert parallel.
    pub ep: Option<u64>,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    /// The stages in order.
    pub sections: Vec<StageCalls>,
    /// Distinct values of the column `stage`.
    pub stage_names: Vec<String>,
    /// Group sizes, also from the rows before the first iteration.
    pub sizes: GroupSizes,
    /// Number of dropped rows before the first iteration.
    pub init_rows: u64,
}

/// Reads a plain (unpacked) per-call CSV.
///
/// # Errors
/// Every problem with line, column, value and remedy.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<Calls, Problems> {
    let mut problems = Problems::new();
    let mut reading = Reading::default();
    let mut lines = Lines::new(reader, limits);
    loop {
        match lines.next_line() {
            Ok(Some((number, text))) => {
                if !reading.line(number, text.trim(), limits, &mut problems) {
                    break;
                }
            }
            Ok(None) => {
                reading.finish(&mut problems);
                break;
            }
            Err(problem) => {
                problems.push(problem);
                break;
            }
        }
    }
    problems.into_result(reading.calls)
}

#[cfg(test)]
mod tests;
