//! Converts the rows of a SimAI text to a training iteration.

use lightbay_core::problem::Problems;

use super::aiob::KernelTimes;
use super::collective::Group;
use super::in_pod::{Sorted, Tally, bytes_of};
use super::period::{self, Period};
use super::simai_text::{Column, SimaiRow, SimaiText};
use super::summary::{ImportSummary, RowSummary};
use super::workload::{
    AicbWorkload, ComputeSource, Groups, MergeOptions, ParameterGather, StageWorkload, ring_bytes,
};

/// Name of the assumption that a file is one micro-batch although its header or rows state several micro-batches.
pub const MICRO_BATCHES: &str = "micro-batches of the file";

pub(super) fn workload(
    text: &SimaiText,
    kernels: Option<&KernelTimes>,
    options: &MergeOptions,
    mut summary: ImportSummary,
) -> Result<AicbWorkload, Problems> {
    let mut problems = Problems::new();
    let header = &text.header;
    let [tp, ep, pp] = [header.tp, header.ep, header.pp].map(|size| size.unwrap_or(1));
    let groups = Groups::new([tp, ep, pp], header.gpus, options.gpus, &mut problems);
    let period = period::find(text);
    describe(text, &period, &mut summary);

    let mut sorted = Sorted::default();
    sort_middle(text, &period, &groups, &mut sorted, &mut summary);
    sort_once(text, &period, &groups, options, &mut sorted, &mut summary);
    let dp_recurring = sorted.recurring(period.micro_batches);
    let crossing = sorted.crossing.into_list();
    let dp_bytes = match options.dp_bytes {
        Some(given) => given,
        None => ring_bytes(&crossing, &mut summary, &mut problems),
    };
    if crossing.is_empty() && options.dp_bytes.is_none() && groups.dp > 1 {
        summary.assume("data-parallel bytes per GPU", "0 bytes", "dp_bytes=");
    }
    let pp_bytes = pipeline_bytes(text, &period, pp, options, &mut summary, &mut problems);
    let (forward_s, backward_s) = compute(text, &period, kernels, options, &mut summary, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }

    let [forward_collectives, backward_collectives] = sorted.in_pod.map(Tally::into_list);
    let micro_batches = period.micro_batches;
    summary.groups.tp = groups.tp;
    summary.groups.ep = groups.ep;
    summary.groups.pp = groups.pp;
    summary.groups.dp = groups.dp;
    summary.groups.gpus = groups.gpus;
    summary.groups.micro_batches = micro_batches;
    let in_pod = [&forward_collectives, &backward_collectives];
    summary.bytes.tp = bytes_of(in_pod, |group| group == Group::Tp);
    summary.bytes.ep = bytes_of(in_pod, |group| group == Group::Ep);
    summary.bytes.dp = bytes_of([&crossing], |_| true);
    summary.bytes.pp = pp_bytes.saturating_mul(2 * (pp - 1)).saturating_mul(micro_batches);
    if pp > 1 {
        summary
            .notes
            .push(format!("the file describes one stage; all {pp} stages are assumed to equal this stage"));
    }
    let stage = StageWorkload {
        forward_s,
        backward_s,
        forward_collectives,
        backward_collectives,
        forward_collectives_s: None,
        backward_collectives_s: None,
        dp_collectives: crossing,
        dp_recurring,
        dp_bytes_per_gpu: dp_bytes,
        order: None,
    };
    let stages = vec![stage; usize::try_from(pp).unwrap_or(1)];
    Ok(AicbWorkload {
        tp: groups.tp,
        ep: groups.ep,
        expert_tp: if groups.ep == 1 { 1 } else { groups.expert_tp },
        pp: groups.pp,
        dp: groups.dp,
        gpus: groups.gpus,
        micro_batches,
        pp_bytes_per_rank: pp_bytes,
        stages,
        summary,
    })
}

/// Adds counts of the rows, and remarks on the file itself, to the summary.
fn describe(text: &SimaiText, period: &Period, summary: &mut ImportSummary) {
    summary.totals = text.totals();
    summary.rows = RowSummary {
        before: period.prologue.len() as u64,
        per_micro_batch: period.rows() as u64,
        after: period.epilogue.len() as u64,
    };
    summary.compute.placeholder_share = Some(text.placeholder_share());
    summary.compute.forward_all_rows_s = Some(text.compute_s(Column::Fwd));
    if period.doubtful {
        let remedy = "make the rows of the file the same in all micro-batches";
        summary.assume(MICRO_BATCHES, format!("1: {}", period.note), remedy);
    } else if !period.note.is_empty() {
        summary.notes.push(period.note.clone());
    }
    let header = &text.header;
    let missing: Vec<&str> = [("ep", header.ep), ("pp", header.pp), ("ga", header.micro_batches)]
        .into_iter()
        .filter_map(|(key, value)| value.is_none().then_some(key))
        .collect();
    if !missing.is_empty() {
        summary.notes.push(format!(
            "the header does not contain {}; the import assumes 1 for each",
            missing.join(", ")
        ));
    }
    if !header.unknown.is_empty() {
        let keys = format!("header keys '{}'", header.unknown.join("', '"));
        summary.skip(keys, header.unknown.len() as u64, 0, "they are unknown");
    }
    let none = text.none_with_bytes();
    if none > 0 {
        summary.skip("sizes beside NONE", none as u64, 0, "a row without a collective sends nothing");
    }
    let silent = text.rows[period.middle.clone()]
        .iter()
        .filter(|row| row.cells[0].bytes() > 0 && row.cells[1].bytes() == 0)
        .count();
    if silent > 0 {
        summary.notes.push(format!(
            "{silent} rows send bytes forward but none in their input gradients (ig-bytes = 0); some \
             modes of the generator omit these bytes, and the import does not add them"
        ));
    }
}

fn sort_middle(
    text: &SimaiText,
    period: &Period,
    groups: &Groups,
    sorted: &mut Sorted,
    summary: &mut ImportSummary,
) {
    for row in &text.rows[period.middle.clone()] {
        for (index, column) in Column::ALL.into_iter().enumerate() {
            let cell = &row.cells[index];
            let (Some((kind, _)), Some(group)) = (cell.collective, cell.group(column)) else { continue };
            if let Some(call) = groups.call(kind, group, cell.bytes(), 1, summary) {
                sorted.add_in_pass(call, usize::from(column != Column::Fwd));
            }
        }
    }
}

/// Sorts the calls of rows that occur once per iteration: data-parallel calls are imported; all others are omitted with
/// a note, because they belong to no micro-batch.
fn sort_once(
    text: &SimaiText,
    period: &Period,
    groups: &Groups,
    options: &MergeOptions,
    sorted: &mut Sorted,
    summary: &mut ImportSummary,
) {
    let once = [period.prologue.clone(), period.epilogue.clone()];
    let mut gathered = false;
    let mut compute_ns: u128 = 0;
    for row in once.into_iter().flat_map(|range| &text.rows[range]) {
        for (index, column) in Column::ALL.into_iter().enumerate() {
            let cell = &row.cells[index];
            // The generator writes one nanosecond for an empty value.
            if cell.ns > 1 {
                compute_ns += u128::from(cell.ns);
            }
            let (Some((kind, _)), Some(mut group)) = (cell.collective, cell.group(column)) else { continue };
            if group == Group::Tp
                && is_parameter_gather(row)
                && options.parameter_gather != Some(ParameterGather::ByColumn)
            {
                group = Group::Dp;
                gathered = true;
            }
            let Some(call) = groups.call(kind, group, cell.bytes(), 1, summary) else { continue };
            if matches!(group, Group::Dp | Group::DpEp) {
                sorted.add(call, 0);
            } else {
                summary.skip(
                    format!("{} calls once per iteration", group.name()),
                    1,
                    call.bytes,
                    "these calls stay in the pod and do not belong to a micro-batch",
                );
            }
        }
    }
    if gathered && options.parameter_gather.is_none() {
        summary.assume(
            "group of the parameter gather in the fwd column of 'grad_norm'",
            "data parallel",
            "parameter_gather=",
        );
    }
    if compute_ns > 0 {
        summary.notes.push(format!(
            "{:.3} ms of compute once per iteration (gradients, loss, optimizer) are not modelled",
            compute_ns as f64 * 1e-6
        ));
    }
}

/// Returns `true` for the gather of updated parameters. Without measured kernels, the generator puts it into the
/// forward column of the row with the reduce-scatter of the gradients, where a name without suffix would mean TP.
fn is_parameter_gather(row: &SimaiRow) -> bool {
    use super::collective::CollectiveKind::{AllGather, ReduceScatter};
    let kind = |column: Column| row.cells[column as usize].collective.map(|(kind, _)| kind);
    kind(Column::Fwd) == Some(AllGather)
        && kind(Column::Wg) == Some(ReduceScatter)
        && row.cells[Column::Ig as usize].collective.is_none()
}

fn pipeline_bytes(
    text: &SimaiText,
    period: &Period,
    pp: u64,
    options: &MergeOptions,
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> u64 {
    if pp == 1 {
        return 0;
    }
    let from_file = text.header.pp_bytes.filter(|&bytes| bytes > 0);
    let Some(mut bytes) = options.pp_bytes.or(from_file) else {
        problems.add(
            "line 1, pp_comm",
            format!("is missing, although pp is '{pp}'"),
            "add 'pp_comm: BYTES' to line 1 or set 'pp_bytes=', the bytes of one micro-batch per rank",
        );
        return 0;
    };
    let announced = text.header.micro_batches.unwrap_or(1);
    if period.micro_batches == 1 && announced > 1 {
        match bytes.checked_mul(announced) {
            Some(all) => {
                bytes = all;
                summary.notes.push(format!(
                    "the single micro-batch sends the pipeline bytes of all {announced} micro-batches that \
                     the header announces"
                ));
            }
            None => problems.add(
                "line 1, pp_comm",
                format!("'{bytes}' bytes times ga '{announced}' exceed 64 bits"),
                "correct pp_comm or ga",
            ),
        }
    }
    bytes
}

/// Returns the compute times of one micro-batch, forward and backward, seconds.
fn compute(
    text: &SimaiText,
    period: &Period,
    kernels: Option<&KernelTimes>,
    options: &MergeOptions,
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> (Option<f64>, Option<f64>) {
    let rows = &text.rows[period.middle.clone()];
    let micro_batches = period.micro_batches as f64;
    let (source, times) = if options.compute == ComputeSource::Zero {
        ("zero", Some((0.0, 0.0)))
    } else if let Some(kernels) = kernels {
        ("aiob", Some(from_kernels(text, rows, kernels, micro_batches, summary)))
    } else if text.is_placeholder() {
        if options.compute == ComputeSource::File {
            problems.add(
                "compute",
                format!(
                    "'{:.1}' % of the times in the file are the placeholder of 1 ns",
                    text.placeholder_share() * 100.0
                ),
                "also give AICB's kernel times, or set 'tflops=' or 'compute=zero'",
            );
        }
        ("none", None)
    } else {
        let sum = |column: Column| -> f64 {
            let ns: u128 = rows.iter().map(|row| u128::from(row.cells[column as usize].ns)).sum();
            ns as f64 * 1e-9 / micro_batches
        };
        let start: u128 = rows
            .iter()
            .filter(|row| text.name(row) == "embedding_layer")
            .map(|row| u128::from(row.cells[2].ns))
            .sum();
        let start_s = start as f64 * 1e-9 / micro_batches;
        let backward = sum(Column::Ig) + sum(Column::Wg);
        if start_s > 1e-6 {
            summary.notes.push(format!(
                "{:.3} ms of the mean backward time of a micro-batch are weight-gradient times of 'embedding_layer', \
                 where the generator writes the time of its optimizer or of another layer",
                start_s * 1e3
            ));
        }
        ("file", Some((sum(Column::Fwd), backward)))
    };
    summary.compute.source = source.to_owned();
    summary.compute.forward_s = times.map(|(forward, _)| forward);
    summary.compute.backward_s = times.map(|(_, backward)| backward);
    (summary.compute.forward_s, summary.compute.backward_s)
}

/// Returns the forward and the backward time of one micro-batch from kernel times. The name of a layer determines its
/// kernels, as in the generator. A block with a column-parallel and a row-parallel layer spends half of its time in
/// each of the two. The input gradients and the weight gradients of a layer each take as long as its forward pass. The
/// optimizer time is omitted.
fn from_kernels(
    text: &SimaiText,
    rows: &[SimaiRow],
    kernels: &KernelTimes,
    micro_batches: f64,
    summary: &mut ImportSummary,
) -> (f64, f64) {
    let mut by_name: Vec<Option<f64>> = Vec::with_capacity(text.names.len());
    for name in &text.names {
        let is_half = name.ends_with("_column") || name.ends_with("_row");
        let share = if is_half { 0.5 } else { 1.0 };
        by_name.push(if name.starts_with("attention") || name == "final_column" {
            Some(kernels.attention_s() * share)
        } else if name.starts_with("mlp") && !name.contains("moelayer") {
            Some(kernels.mlp_s() * share)
        } else {
            None
        });
    }
    let (mut forward, mut backward) = (0.0, 0.0);
    let mut unknown = vec![0_u64; text.names.len()];
    for row in rows {
        if text.name(row) == "embedding_layer" {
            forward += kernels.embedding_s();
        } else if let Some(time) = by_name[row.name as usize] {
            forward += time;
            backward += 2.0 * time;
        } else {
            unknown[row.name as usize] += 1;
        }
    }
    // Norms of the embedding consist only of communication.
    let (norms, layers): (Vec<usize>, Vec<usize>) =
        (0..unknown.len()).filter(|&i| unknown[i] > 0).partition(|&i| text.names[i].contains("norm"));
    let count = |indices: &[usize]| indices.iter().map(|&i| unknown[i]).sum::<u64>();
    let names = |indices: &[usize]| {
        let shown: Vec<&str> = indices.iter().take(5).map(|&i| text.names[i].as_str()).collect();
        let more = if indices.len() > 5 { ", ..." } else { "" };
        format!("rows '{}'{more}", shown.join("', '"))
    };
    if !norms.is_empty() {
        summary.skip(names(&norms), count(&norms), 0, "the kernel times do not contain these rows");
    }
    if !layers.is_empty() {
        let what = format!("compute time of {} {}", count(&layers), names(&layers));
        summary.assume(what, "0 s", "compute=");
    }
    (forward / micro_batches, backward / micro_batches)
}
