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
    /// Send to a neighbouring pipeline stage.
    Send(Peer),
    /// Receive from a neighbouring pipeline stage.
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

/// Group of ranks in a row (column `comm_group`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGroup {
    /// Tensor-parallel group.
    Tp,
    /// Data-parallel group.
    Dp,
    /// Pipeline group.
    Pp,
    /// Expert-parallel group.
    Ep,
    /// Data-parallel group of ranks with the same experts.
    EpDp,
    /// Tensor-parallel group inside an expert.
    EpTp,
    /// Ranks of the first and last stage, which share the embedding.
    Embedding,
    /// All ranks.
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
    /// Returns the name in the file.
    pub fn name(self) -> &'static str {
        GROUPS.iter().find(|(_, group)| *group == self).map_or("", |(name, _)| name)
    }
}

/// Part of an iteration to which a row belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The row belongs to the forward or backward pass of a micro-batch.
    Pass(Pass),
    /// The row occurs once per iteration, such as a row of the gradient reduction or of the optimizer.
    Step,
}

/// One row of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Kind of work of the row.
    pub kind: CallKind,
    /// Group of ranks that take part in a call; `None` for computations.
    pub group: Option<CallGroup>,
    /// Bytes per rank; 0 for computations and barriers.
    pub bytes: u64,
    /// Part of the iteration to which the row belongs.
    pub phase: Phase,
    /// Index, in [`Calls::stage_names`], of the value that the row has in the column `stage`.
    pub stage_name: u32,
    /// Measured time, seconds.
    pub elapsed_s: Option<f64>,
    /// Number of consecutive calls that the row represents.
    pub count: u32,
    /// Line of the row in the file.
    pub line: u32,
}

/// The rows of one pipeline stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageCalls {
    /// Ranks of the stage; empty if the file does not state them.
    pub ranks: Vec<u32>,
    /// The rows of all iterations.
    pub calls: Vec<Call>,
    /// The iterations as ranges of `calls`; none is empty.
    pub iterations: Vec<Range<usize>>,
}

/// Number of ranks in groups of each type, as stated in the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSizes {
    /// Number of ranks in a tensor-parallel group.
    pub tp: Option<u64>,
    /// Number of ranks in a data-parallel group.
    pub dp: Option<u64>,
    /// Number of ranks in an expert-parallel group.
    pub ep: Option<u64>,
}

/// Content of a per-call CSV.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    /// The pipeline stages in order.
    pub sections: Vec<StageCalls>,
    /// Distinct values of the column `stage`.
    pub stage_names: Vec<String>,
    /// Group sizes that the rows state, including the rows before the first iteration.
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
