//! One iteration of a training job as the planner needs it, from any of the file formats.

use lightbay_core::problem::Problems;
use serde::Serialize;

use super::aiob::KernelTimes;
use super::busbw::BusBandwidth;
use super::collective::AicbCollective;
use super::order::Slot;
use super::summary::{ImportSummary, InputSummary};
use super::{AicbInput, Content, from_calls, from_text};

/// Source of compute times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComputeSource {
    /// Kernel times if they are given, else the workload file.
    #[default]
    Auto,
    /// The workload file, without the generator's placeholders.
    File,
    /// The file of kernel times.
    Kernels,
    /// Compute times are intentionally zero.
    Zero,
}

/// Group over which a `grad_norm` row gathers parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterGather {
    /// The row gathers updated parameters over the data-parallel group, as the generator of the file means it.
    DataParallel,
    /// The row gathers over the tensor-parallel group, as its column states. The gathered data never leaves the pod.
    ByColumn,
}

/// Values that the user gives in addition to the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Number of GPUs of the job, if the file does not contain it.
    pub gpus: Option<u64>,
    /// Bytes that one stage sends to the next per micro-batch and rank, if the file does not contain this size or the
    /// sizes in the file differ.
    pub pp_bytes: Option<u64>,
    /// Bytes of gradients and parameters that one GPU sends over the ring, if the file has no data-parallel calls.
    pub dp_bytes: Option<u64>,
    /// Number of layers per stage, which replaces the number derived from the calls of a per-call CSV. Used only
    /// together with kernel times.
    pub layers_per_stage: Option<u64>,
    /// Source of compute times.
    pub compute: ComputeSource,
    /// Meaning of the gather in the forward column of a gradient row that occurs once per iteration; `None` assumes
    /// data parallel.
    pub parameter_gather: Option<ParameterGather>,
}

/// Compute and communication of one stage in one iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StageWorkload {
    /// Forward compute time of one micro-batch, seconds; `None` until a source is given.
    pub forward_s: Option<f64>,
    /// Backward compute time of one micro-batch, seconds; `None` until a source is given.
    pub backward_s: Option<f64>,
    /// TP and EP collectives of all forward passes.
    pub forward_collectives: Vec<AicbCollective>,
    /// TP and EP collectives of all backward passes.
    pub backward_collectives: Vec<AicbCollective>,
    /// Measured time of the in-pod collectives of one forward pass, seconds, if all of them were measured.
    pub forward_collectives_s: Option<f64>,
    /// Measured time of the in-pod collectives of one backward pass, seconds, if all of them were measured.
    pub backward_collectives_s: Option<f64>,
    /// Data-parallel collectives of the iteration.
    pub dp_collectives: Vec<AicbCollective>,
    /// The data-parallel collectives that every micro-batch makes, each with the number of calls in one micro-batch.
    pub dp_recurring: Vec<AicbCollective>,
    /// Bytes that one GPU sends for the data-parallel collectives on flat rings over their groups: 2(n-1)/n of the size
    /// of an all-reduce, (n-1)/n of a reduce-scatter or an all-gather, and the size itself of a broadcast or a reduce.
    pub dp_bytes_per_gpu: u64,
    /// The order of the passes as the file lists them; `None` if the file does not contain it.
    pub order: Option<Vec<Slot>>,
}

/// A training iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AicbWorkload {
    /// Number of tensor-parallel ranks.
    pub tp: u64,
    /// Number of expert-parallel ranks.
    pub ep: u64,
    /// Number of ranks over which one expert is split; 1 without experts.
    pub expert_tp: u64,
    /// Number of pipeline stages.
    pub pp: u64,
    /// Number of data-parallel ranks.
    pub dp: u64,
    /// Number of GPUs of the job: TP x PP x DP.
    pub gpus: u64,
    /// Number of micro-batches per iteration.
    pub micro_batches: u64,
    /// Bytes that one stage sends to the next per micro-batch and rank; 0 with one stage.
    pub pp_bytes_per_rank: u64,
    /// Compute and communication of each stage.
    pub stages: Vec<StageWorkload>,
    /// Summary of the import: parts found, parts skipped, values assumed.
    #[serde(skip)]
    pub summary: ImportSummary,
}

impl AicbWorkload {
    /// Returns `true` if compute times are still missing.
    pub fn needs_compute(&self) -> bool {
        self.stages.iter().any(|stage| stage.forward_s.is_none() || stage.backward_s.is_none())
    }
}

/// A workload and the tables that accompany it.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The training iteration.
    pub workload: AicbWorkload,
    /// Bus bandwidths for the in-pod collectives.
    pub bus_bandwidth: Option<BusBandwidth>,
}

/// Combines one workload with at most one file of kernel times and one bus-bandwidth table.
///
/// # Errors
/// No workload or more than one, two tables of the same kind, and everything that keeps the workload from being
/// complete: missing world size or pipeline bytes, sizes that are not multiples of other sizes as required, transfers
/// that do not match.
pub fn merge(inputs: &[AicbInput], options: &MergeOptions) -> Result<Merged, Problems> {
    let mut problems = Problems::new();
    let mut workload: Option<&AicbInput> = None;
    let mut kernels: Option<(&str, &KernelTimes)> = None;
    let mut table: Option<(&str, &BusBandwidth)> = None;
    let mut summary = ImportSummary::default();
    for input in inputs {
        let name = input.name.as_str();
        let (what, earlier, rows) = match &input.content {
            Content::Text(text) => {
                ("workloads", workload.replace(input).map(|i| i.name.as_str()), text.rows.len())
            }
            Content::Calls(calls) => (
                "workloads",
                workload.replace(input).map(|i| i.name.as_str()),
                calls.sections.iter().map(|s| s.calls.len()).sum(),
            ),
            Content::Kernels(times) => {
                ("files of kernel times", kernels.replace((name, times)).map(|k| k.0), times.kernels.len())
            }
            Content::BusBandwidth(values) => {
                ("bus-bandwidth tables", table.replace((name, values)).map(|t| t.0), values.len())
            }
        };
        if let Some(earlier) = earlier {
            problems.add("", format!("'{earlier}' and '{name}' are both {what}"), "use only one of them");
        }
        summary.inputs.push(InputSummary {
            name: name.to_owned(),
            format: input
                .content
                .format()
                .describe()
                .trim_start_matches("a ")
                .trim_start_matches("an ")
                .to_owned(),
            compressed: input.compressed,
            rows: rows as u64,
        });
    }
    if options.compute == ComputeSource::Kernels && kernels.is_none() {
        problems.add(
            "compute",
            "kernel times are requested, but no file with kernel times is given",
            "add a file of AICB's kernel times, or set compute=file or compute=zero",
        );
    }
    let Some(input) = workload else {
        problems.add(
            "",
            "none of the files is a workload",
            "add a SimAI text workload or an AICB per-call CSV",
        );
        return Err(problems);
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    let kernels = match options.compute {
        ComputeSource::Auto | ComputeSource::Kernels => kernels.map(|(_, times)| times),
        ComputeSource::File | ComputeSource::Zero => None,
    };
    let workload = match &input.content {
        Content::Text(text) => from_text::workload(text, kernels, options, summary),
        Content::Calls(calls) => from_calls::workload(calls, kernels, options, summary),
        Content::Kernels(_) | Content::BusBandwidth(_) => Err(Problems::new()),
    }
    .map_err(|problems| problems.named(input.name.clone()))?;
    Ok(Merged { workload, bus_bandwidth: table.map(|(_, values)| values.clone()) })
}

/// Sizes of the groups, checked for consistency.
pub(super) struct Groups {
    pub tp: u64,
    pub ep: u64,
    pub pp: u64,
    pub dp: u64,
    pub gpus: u64,
    pub expert_tp: u64,
}

impl Groups {
    /// Derives the sizes of all groups. World sizes from the file and from the user must agree, and must be a multiple
    /// of TP x PP.
    pub(super) fn new(
        [tp, ep, pp]: [u64; 3],
        in_file: Option<u64>,
        given: Option<u64>,
        problems: &mut Problems,
    ) -> Self {
        let gpus = match (in_file, given) {
            (Some(file), Some(given)) if file != given => {
                problems.add(
                    "gpus",
                    format!("is '{given}', but the file says '{file}'"),
                    "omit it, or use the file of a job with that number of GPUs",
                );
                file
            }
            (Some(gpus), _) | (None, Some(gpus)) => gpus,
            (None, None) => {
                problems.add("gpus", "the number of GPUs of the job is not in the file", "set 'gpus='");
                return Self { tp, ep: 1, pp, dp: 1, gpus: tp * pp, expert_tp: tp };
            }
        };
        let replica = tp.saturating_mul(pp);
        if !gpus.is_multiple_of(replica) {
            problems.add(
                "gpus",
                format!("'{gpus}' is not a multiple of TP '{tp}' x PP '{pp}'"),
                format!("a replica of the model has '{replica}' GPUs; correct the header or 'gpus='"),
            );
        }
        let dp = (gpus / replica.max(1)).max(1);
        // There are two layouts: an expert is split over the tensor-parallel ranks like the rest of the layer, or an
        // expert group takes whole GPUs, including tensor-parallel neighbours.
        let expert_tp = if dp.is_multiple_of(ep) { tp } else { 1 };
        if !(dp * tp).is_multiple_of(ep * expert_tp) {
            problems.add(
                "ep",
                format!("'{ep}' divides neither DP '{dp}' nor TP x DP '{}'", dp * tp),
                "the ranks of an expert group must belong to one stage; correct ep or all_gpus",
            );
            return Self { tp, ep: 1, pp, dp, gpus, expert_tp: tp };
        }
        Self { tp, ep, pp, dp, gpus, expert_tp }
    }
}

/// Returns the bytes that one GPU sends for the data-parallel calls on flat rings; skips calls that do not run on a
/// ring.
pub(super) fn ring_bytes(
    collectives: &[AicbCollective],
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> u64 {
    let mut sum: u64 = 0;
    for collective in collectives {
        let AicbCollective { kind, ranks, bytes, calls, .. } = *collective;
        match kind.ring_bytes(bytes, ranks) {
            Some(one) => {
                let Some(total) = one.checked_mul(calls).and_then(|all| sum.checked_add(all)) else {
                    problems.add("", "the data-parallel bytes exceed 64 bits", "check the sizes in the file");
                    return sum;
                };
                sum = total;
            }
            None => summary.skip(
                format!("data-parallel {} calls", kind.name()),
                calls,
                bytes.saturating_mul(calls),
                "these calls do not run on a ring",
            ),
        }
    }
    sum
}
