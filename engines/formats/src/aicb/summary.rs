//! The summary of an import: what was found, what was omitted and why, and what was assumed.

use lightbay_core::problem::{Problems, counted, printable};
use lightbay_core::scenario::Assumed;
use serde::Serialize;

/// All remarks of an import. The summary as JSON has the same fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportSummary {
    /// The files that were read.
    pub inputs: Vec<InputSummary>,
    /// Sizes of the parallel groups.
    pub groups: GroupSummary,
    /// Numbers of rows of one micro-batch, and of rows before and after the layers.
    pub rows: RowSummary,
    /// Calls and bytes by column and collective, as written in the workload file.
    pub totals: Vec<ColumnTotal>,
    /// Bytes by parallel dimension.
    pub bytes: DimensionBytes,
    /// Source and values of the compute times.
    pub compute: ComputeSummary,
    /// Number of pipeline sends that were matched with their receives; 0 if the file has none.
    pub matched_transfers: u64,
    /// Parts of the files that were omitted.
    pub skipped: Vec<Skipped>,
    /// Assumed values, with the parameters that set them.
    pub assumed: Vec<Assumed>,
    /// All other remarks.
    pub notes: Vec<String>,
}

/// Summary of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InputSummary {
    /// The name as the user wrote it.
    pub name: String,
    /// Format of the file's content, as text.
    pub format: String,
    /// `true` if the file was gzip-compressed.
    pub compressed: bool,
    /// Number of rows, kernels or values.
    pub rows: u64,
}

/// Sizes of the parallel groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupSummary {
    /// Number of tensor-parallel ranks.
    pub tp: u64,
    /// Number of expert-parallel ranks.
    pub ep: u64,
    /// Number of pipeline stages.
    pub pp: u64,
    /// Number of data-parallel ranks.
    pub dp: u64,
    /// Number of GPUs of the job.
    pub gpus: u64,
    /// Number of micro-batches per iteration.
    pub micro_batches: u64,
}

/// Numbers of rows of a workload: before the layers, of one micro-batch, and after the layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowSummary {
    /// Rows that occur once per iteration, before the layers.
    pub before: u64,
    /// Rows of one micro-batch (of stage 0, if the file has several stages).
    pub per_micro_batch: u64,
    /// Rows that occur once per iteration, after the layers.
    pub after: u64,
}

/// Calls and bytes of one column and collective.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ColumnTotal {
    /// `fwd`, `ig`, `wg`; for a per-call CSV `forward`, `backward`, `step`.
    pub column: String,
    /// `ALLTOALL_EP`, ...; for a per-call CSV with its group: `ALLREDUCE tp_group`.
    pub collective: String,
    /// Number of rows.
    pub calls: u64,
    /// Sum of the bytes of these calls.
    pub bytes: u64,
}

/// Bytes of one rank in one iteration, as stated in the calls (not the bytes on a ring).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DimensionBytes {
    /// Tensor-parallel collectives of stage 0.
    pub tp: u64,
    /// Expert-parallel collectives of stage 0.
    pub ep: u64,
    /// Data-parallel collectives of stage 0.
    pub dp: u64,
    /// Sends of all stages of one pipeline to their neighbours, in both directions.
    pub pp: u64,
}

/// Source and values of the compute times.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ComputeSummary {
    /// `file`, `aiob`, `zero`, or `none` if a source is still missing.
    pub source: String,
    /// Fraction of the file's times that are the generator's placeholder; `null` for files other than a SimAI text.
    pub placeholder_share: Option<f64>,
    /// Forward time of one micro-batch on stage 0, without communication, seconds.
    pub forward_s: Option<f64>,
    /// Backward time of one micro-batch on stage 0, without communication, seconds.
    pub backward_s: Option<f64>,
    /// Forward time of all rows of a SimAI text together, seconds.
    pub forward_all_rows_s: Option<f64>,
}

/// Parts of a file that were left out, of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Description of the omitted parts.
    pub what: String,
    /// Number of omitted parts.
    pub count: u64,
    /// Bytes of the omitted parts.
    pub bytes: u64,
    /// Reason for the omission.
    pub why: String,
}

impl ImportSummary {
    /// Records an omission, adding to an earlier record of the same kind.
    pub fn skip(&mut self, what: impl Into<String>, count: u64, bytes: u64, why: impl Into<String>) {
        let (what, why) = (what.into(), why.into());
        match self.skipped.iter_mut().find(|old| old.what == what && old.why == why) {
            Some(old) => {
                old.count += count;
                old.bytes = old.bytes.saturating_add(bytes);
            }
            None => self.skipped.push(Skipped { what, count, bytes, why }),
        }
    }

    /// Records an assumption.
    pub fn assume(&mut self, what: impl Into<String>, value: impl Into<String>, set_with: impl Into<String>) {
        self.assumed.push(Assumed { what: what.into(), value: value.into(), set_with: set_with.into() });
    }

    /// Returns every assumption as a problem, for strict imports.
    pub fn strict_problems(&self) -> Problems {
        let mut problems = Problems::new();
        for assumed in &self.assumed {
            // `set_with` is a parameter with its '=', or, if no parameter applies, a sentence about the file.
            let (place, remedy) = match assumed.set_with.strip_suffix('=') {
                Some(parameter) => (parameter, format!("set '{}'", assumed.set_with)),
                None => ("", assumed.set_with.clone()),
            };
            let message =
                format!("{} is not in the file; it would be assumed to be '{}'", assumed.what, assumed.value);
            problems.add(place, message, remedy);
        }
        problems
    }

    /// Returns sentences on everything that was omitted or is unusual.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let skipped = self.skipped.iter().map(|skipped| {
            let bytes = if skipped.bytes > 0 { format!(", {} bytes", skipped.bytes) } else { String::new() };
            format!("skipped: {} {}{bytes}: {}", skipped.count, skipped.what, skipped.why)
        });
        skipped.chain(self.notes.iter().cloned())
    }

    /// Formats the summary as lines of text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |s: String| {
            text.push_str(&printable(&s));
            text.push('\n');
        };
        for input in &self.inputs {
            let packed = if input.compressed { ", gzip" } else { "" };
            line(format!("{}: {}{packed}, {} rows", input.name, input.format, input.rows));
        }
        let g = &self.groups;
        line(format!(
            "{}: TP {}, EP {}, PP {}, DP {}; {}",
            counted(g.gpus, "GPU", "GPUs"),
            g.tp,
            g.ep,
            g.pp,
            g.dp,
            counted(g.micro_batches, "micro-batch", "micro-batches")
        ));
        let r = &self.rows;
        line(format!(
            "rows: {} before the micro-batches, {} per micro-batch, {} after the micro-batches",
            r.before, r.per_micro_batch, r.after
        ));
        let b = &self.bytes;
        line(format!("bytes per rank and iteration: TP {}, EP {}, DP {}, PP {}", b.tp, b.ep, b.dp, b.pp));
        let times = match (self.compute.forward_s, self.compute.backward_s) {
            (Some(forward), Some(backward)) => {
                format!("{:.3} ms forward, {:.3} ms backward per micro-batch", forward * 1e3, backward * 1e3)
            }
            _ => "not known".to_owned(),
        };
        line(format!("compute ({}): {times}", self.compute.source));
        if self.matched_transfers > 0 {
            line(format!("pipeline transfers: {} sends matched with receives", self.matched_transfers));
        }
        for total in &self.totals {
            line(format!(
                "  {} {}: {}, {} bytes",
                total.column,
                total.collective,
                counted(total.calls, "call", "calls"),
                total.bytes
            ));
        }
        for skipped in &self.skipped {
            let bytes = if skipped.bytes > 0 { format!(", {} bytes", skipped.bytes) } else { String::new() };
            line(format!("skipped: {} {}{bytes}: {}", skipped.count, skipped.what, skipped.why));
        }
        for assumed in &self.assumed {
            line(format!("assumed: {} = {} (set with '{}')", assumed.what, assumed.value, assumed.set_with));
        }
        for note in &self.notes {
            line(format!("note: {note}"));
        }
        text
    }
}
