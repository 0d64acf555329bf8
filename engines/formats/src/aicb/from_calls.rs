//! Converts the rows of a per-call CSV to a training iteration. Uses the last iteration, because the earlier iterations
//! are a warm-up.

use lightbay_core::problem::Problems;

use super::aiob::KernelTimes;
use super::calls::{Call, CallGroup, CallKind, Calls, Phase};
use super::collective::Group;
use super::in_pod::{Sorted, Tally, bytes_of};
use super::order::{self, Pass, Pipeline, Slot};
use super::summary::{ColumnTotal, ImportSummary};
use super::workload::{AicbWorkload, ComputeSource, Groups, MergeOptions, StageWorkload, ring_bytes};

pub(super) fn workload(
    calls: &Calls,
    kernels: Option<&KernelTimes>,
    options: &MergeOptions,
    mut summary: ImportSummary,
) -> Result<AicbWorkload, Problems> {
    let mut problems = Problems::new();
    let pp = calls.sections.len() as u64;
    let groups = group_sizes(calls, pp, options, &mut summary, &mut problems);
    let last = calls.sections.first().map_or(0, |s| s.iterations.len().saturating_sub(1));
    if last > 0 {
        summary.skip(
            "iterations",
            last as u64,
            0,
            "only the last iteration is imported, because earlier iterations are warm-up",
        );
    }
    if calls.init_rows > 0 {
        summary.skip("rows 'init.*'", calls.init_rows, 0, "they come before the first iteration");
    }
    let pipeline = match order::derive(calls, last) {
        Ok(pipeline) => pipeline,
        Err(found) => {
            problems.extend(found);
            return Err(problems);
        }
    };
    let pp_bytes = pipeline_bytes(&pipeline, pp, options, &mut problems);
    summary.matched_transfers = pipeline.transfers;
    let micro_batches = u64::from(pipeline.micro_batches);

    let mut stages = Vec::with_capacity(calls.sections.len());
    for (number, (section, order)) in calls.sections.iter().zip(&pipeline.orders).enumerate() {
        let rows = &section.calls[section.iterations[last].clone()];
        if number == 0 {
            summary.totals = totals(rows, &mut problems);
            summary.rows.per_micro_batch =
                rows.iter().filter(|c| c.phase != Phase::Step).count() as u64 / micro_batches.max(1);
            summary.rows.after = rows.iter().filter(|c| c.phase == Phase::Step).count() as u64;
        }
        let place = CallPlace { stage: number, stages: calls.sections.len(), micro_batches };
        stages.push(stage(calls, rows, &groups, place, kernels, options, order, &mut summary, &mut problems));
    }
    let nothing_crosses = stages.iter().all(|stage| stage.dp_collectives.is_empty());
    if nothing_crosses && groups.dp > 1 && options.dp_bytes.is_none() {
        summary.assume(
            "data-parallel bytes per GPU (the file has no data-parallel call)",
            "0 bytes",
            "dp_bytes=",
        );
    }
    if !problems.is_empty() {
        return Err(problems);
    }

    remark_on_order(&pipeline, &mut summary);
    summary.groups.tp = groups.tp;
    summary.groups.ep = groups.ep;
    summary.groups.pp = groups.pp;
    summary.groups.dp = groups.dp;
    summary.groups.gpus = groups.gpus;
    summary.groups.micro_batches = micro_batches;
    let first = &stages[0];
    let in_pod = [&first.forward_collectives, &first.backward_collectives];
    summary.bytes.tp = bytes_of(in_pod, |group| group == Group::Tp);
    summary.bytes.ep = bytes_of(in_pod, |group| group == Group::Ep);
    summary.bytes.dp = bytes_of([&first.dp_collectives], |_| true);
    summary.bytes.pp = pp_bytes.saturating_mul(pipeline.transfers);
    summary.compute.forward_s = first.forward_s;
    summary.compute.backward_s = first.backward_s;
    let known = stages.iter().all(|stage| stage.forward_s.is_some() && stage.backward_s.is_some());
    summary.compute.source = match options.compute {
        ComputeSource::Zero => "zero",
        _ if kernels.is_some() && known => "aiob",
        _ if known => "file",
        _ => "none",
    }
    .to_owned();
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

/// Position of a stage in the pipeline.
#[derive(Clone, Copy)]
struct CallPlace {
    stage: usize,
    stages: usize,
    micro_batches: u64,
}

/// Derives the sizes of the groups from the rows, and the world size from the rank lists.
fn group_sizes(
    calls: &Calls,
    pp: u64,
    options: &MergeOptions,
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> Groups {
    let per_stage = calls.sections.first().map_or(0, |s| s.ranks.len() as u64);
    let sizes = &calls.sizes;
    let ep = sizes.ep.unwrap_or(1);
    let tp = sizes.tp.unwrap_or_else(|| match sizes.dp {
        Some(dp) if per_stage > 0 && per_stage.is_multiple_of(dp) => per_stage / dp,
        _ => 1,
    });
    let from_ranks = (per_stage > 0).then_some(per_stage.saturating_mul(pp));
    let from_groups = sizes.dp.map(|dp| dp.saturating_mul(tp).saturating_mul(pp));
    if let (Some(ranks), Some(product)) = (from_ranks, from_groups)
        && ranks != product
    {
        problems.add(
            "comm_group_size",
            format!(
                "TP '{tp}' x DP '{}' x PP '{pp}' is '{product}', but the stages list '{ranks}' ranks",
                sizes.dp.unwrap_or(1)
            ),
            "correct the rank lists or the group sizes",
        );
    }
    let contiguous = calls.sections.iter().enumerate().all(|(stage, section)| {
        let start = stage as u64 * per_stage;
        section.ranks.iter().zip(start..).all(|(&rank, expected)| u64::from(rank) == expected)
    });
    if !contiguous {
        summary.notes.push(
            "the ranks of the stages are not numbered one stage after the other; the import places the \
             ranks as if they were numbered stage by stage"
                .to_owned(),
        );
    }
    Groups::new([tp, ep, pp], from_ranks.or(from_groups), options.gpus, problems)
}

fn pipeline_bytes(pipeline: &Pipeline, pp: u64, options: &MergeOptions, problems: &mut Problems) -> u64 {
    if pp == 1 {
        return 0;
    }
    match (options.pp_bytes, pipeline.bytes, pipeline.bytes_range) {
        (Some(given), _, _) => given,
        (None, Some(bytes), _) => bytes,
        (None, None, range) => {
            let message = range.map_or_else(
                || format!("the file has no transfer, although it has '{pp}' stages"),
                |(low, high)| {
                    format!(
                        "transfers have '{low}' to '{high}' bytes, but all transfers of a \
                     job must have the same size"
                    )
                },
            );
            problems.add("msg_size", message, "set 'pp_bytes=', the bytes of one micro-batch per rank");
            0
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one call; every argument has a different type")]
fn stage(
    calls: &Calls,
    rows: &[Call],
    groups: &Groups,
    place: CallPlace,
    kernels: Option<&KernelTimes>,
    options: &MergeOptions,
    order: &[Slot],
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> StageWorkload {
    let mut sorted = Sorted::default();
    let mut in_pod_times = [Time::default(), Time::default()];
    let mut compute = [Time::default(), Time::default()];
    for call in rows {
        let repeats = u64::from(call.count);
        let pass = match call.phase {
            Phase::Pass(Pass::Forward) => Some(0),
            Phase::Pass(Pass::Backward) => Some(1),
            Phase::Step => None,
        };
        match call.kind {
            CallKind::Computation => {
                if let Some(pass) = pass {
                    compute[pass].add(call);
                }
            }
            CallKind::Collective(kind) => match (group_of(call.group), pass) {
                (Some(Group::Dp | Group::DpEp), Some(0)) => summary.skip(
                    "data-parallel calls in forward passes",
                    repeats,
                    call.bytes.saturating_mul(repeats),
                    "the plan contains only the exchange of gradients and parameters",
                ),
                (Some(group @ (Group::Dp | Group::DpEp)), pass) => {
                    if let Some(found) = groups.call(kind, group, call.bytes, repeats, summary) {
                        if pass.is_some() { sorted.add_in_pass(found, 1) } else { sorted.add(found, 0) }
                    }
                }
                (Some(group), Some(pass)) => {
                    if let Some(found) = groups.call(kind, group, call.bytes, repeats, summary) {
                        sorted.add(found, pass);
                        in_pod_times[pass].add(call);
                    }
                }
                (Some(group), None) if call.bytes > 0 => summary.skip(
                    format!("{} calls once per iteration", group.name()),
                    repeats,
                    call.bytes.saturating_mul(repeats),
                    "these calls stay in the pod and do not belong to a micro-batch",
                ),
                (Some(_), None) => {}
                (None, _) => summary.skip(
                    format!("{} calls in '{}'", kind.name(), call.group.map_or("no group", CallGroup::name)),
                    repeats,
                    call.bytes.saturating_mul(repeats),
                    "the model does not have this group",
                ),
            },
            CallKind::Barrier => summary.skip("barriers", repeats, 0, "they send nothing"),
            CallKind::Send(_) | CallKind::Receive(_) => {}
        }
    }
    let n = place.micro_batches;
    let measured = [compute[0].per_micro_batch(n), compute[1].per_micro_batch(n)];
    let [forward_s, backward_s] = match (options.compute, kernels) {
        (ComputeSource::Zero, _) => [Some(0.0), Some(0.0)],
        (_, Some(kernels)) => {
            let layers = layers_per_stage(calls, rows, place, options, problems);
            from_kernels(kernels, layers, place).map(Some)
        }
        (ComputeSource::File, None) if measured.contains(&None) => {
            if place.stage == 0 {
                problems.add(
                    "compute",
                    "the file has no measured times of computations",
                    "also give AICB's kernel times, or set 'tflops=' or 'compute=zero'",
                );
            }
            measured
        }
        (_, None) => measured,
    };
    let dp_recurring = sorted.recurring(n);
    let dp_collectives = sorted.crossing.into_list();
    let dp_bytes_per_gpu = match options.dp_bytes {
        Some(given) => given,
        None => ring_bytes(&dp_collectives, summary, problems),
    };
    let [forward_collectives, backward_collectives] = sorted.in_pod.map(Tally::into_list);
    StageWorkload {
        forward_s,
        backward_s,
        forward_collectives,
        backward_collectives,
        forward_collectives_s: in_pod_times[0].per_micro_batch(n),
        backward_collectives_s: in_pod_times[1].per_micro_batch(n),
        dp_collectives,
        dp_recurring,
        dp_bytes_per_gpu,
        order: Some(order.to_vec()),
    }
}

/// Sum of the measured times of several rows; `None` unless every row has a measured time.
#[derive(Default)]
struct Time {
    sum_s: f64,
    measured: u64,
    missing: u64,
}

impl Time {
    fn add(&mut self, call: &Call) {
        match call.elapsed_s {
            Some(time) => {
                self.sum_s += time * f64::from(call.count);
                self.measured += 1;
            }
            None => self.missing += 1,
        }
    }

    fn per_micro_batch(&self, micro_batches: u64) -> Option<f64> {
        (self.measured > 0 && self.missing == 0).then(|| self.sum_s / micro_batches.max(1) as f64)
    }
}

/// Converts the group that a row states to a [`Group`]; `None` if no [`Group`] corresponds to it.
const fn group_of(group: Option<CallGroup>) -> Option<Group> {
    match group {
        Some(CallGroup::Tp | CallGroup::EpTp) => Some(Group::Tp),
        Some(CallGroup::Ep) => Some(Group::Ep),
        Some(CallGroup::Dp) => Some(Group::Dp),
        Some(CallGroup::EpDp) => Some(Group::DpEp),
        Some(CallGroup::Pp | CallGroup::Embedding | CallGroup::All) | None => None,
    }
}

/// Derives the number of layers per stage from the calls: in every forward pass of a layer, two row-parallel matrices
/// (attention and MLP) end with one call each.
fn layers_per_stage(
    calls: &Calls,
    rows: &[Call],
    place: CallPlace,
    options: &MergeOptions,
    problems: &mut Problems,
) -> u64 {
    if let Some(layers) = options.layers_per_stage {
        return layers;
    }
    let is_row_linear = |call: &&Call| {
        call.phase == Phase::Pass(Pass::Forward)
            && calls.stage_names.get(call.stage_name as usize).is_some_and(|name| name.contains("RowLinear"))
    };
    let found: u64 = rows.iter().filter(is_row_linear).map(|call| u64::from(call.count)).sum();
    let layers = found / (2 * place.micro_batches.max(1));
    if layers == 0 && place.stage == 0 {
        problems.add(
            "layers",
            "the number of layers of a stage is not in the file, but kernel times need it",
            "set 'layers=', the number of layers of one stage",
        );
    }
    layers
}

/// Returns forward and backward time of a stage, from kernel times. A block's backward pass takes twice as long as its
/// forward pass; the first stage has the embedding lookup (only forward), the last stage the logits.
fn from_kernels(kernels: &KernelTimes, layers: u64, place: CallPlace) -> [f64; 2] {
    let mut forward = layers as f64 * (kernels.attention_s() + kernels.mlp_s());
    let mut backward = 2.0 * forward;
    if place.stage == 0 {
        forward += kernels.embedding_s();
    }
    if place.stage + 1 == place.stages {
        forward += kernels.logits_s();
        backward += 2.0 * kernels.logits_s();
    }
    [forward, backward]
}

/// Sums calls and bytes of stage 0 by phase, kind and group.
fn totals(rows: &[Call], problems: &mut Problems) -> Vec<ColumnTotal> {
    let mut totals: Vec<ColumnTotal> = Vec::new();
    for call in rows {
        let name = match call.kind {
            CallKind::Collective(kind) => kind.name(),
            CallKind::Send(_) => "SEND",
            CallKind::Receive(_) => "RECEIVE",
            CallKind::Barrier | CallKind::Computation => continue,
        };
        let column = match call.phase {
            Phase::Pass(Pass::Forward) => "forward",
            Phase::Pass(Pass::Backward) => "backward",
            Phase::Step => "step",
        };
        let collective = format!("{name} {}", call.group.map_or("", CallGroup::name));
        let bytes = call.bytes.saturating_mul(u64::from(call.count));
        let at = totals.iter().position(|t| t.column == column && t.collective == collective);
        let at = at.unwrap_or_else(|| {
            totals.push(ColumnTotal { column: column.to_owned(), collective, calls: 0, bytes: 0 });
            totals.len() - 1
        });
        totals[at].calls += u64::from(call.count);
        let Some(sum) = totals[at].bytes.checked_add(bytes) else {
            let place = format!("line {}, msg_size", call.line);
            problems.add(place, "the bytes of the file exceed 64 bits", "check the sizes and counts");
            return totals;
        };
        totals[at].bytes = sum;
    }
    totals
}

/// Adds remarks on stages that show no work, and on stages whose order in the file differs from the 1F1B order.
fn remark_on_order(pipeline: &Pipeline, summary: &mut ImportSummary) {
    let stages = pipeline.orders.len();
    let n = pipeline.micro_batches as usize;
    if stages == 1 {
        return;
    }
    if pipeline.without_work > 0 {
        summary.notes.push(format!(
            "{} stages show no work between their transfers; adjacent receives and sends count as issued \
             together",
            pipeline.without_work
        ));
    }
    let differs = pipeline.orders.iter().enumerate().filter(|(stage, order)| {
        let warm_up = (stages - 1 - stage).min(n);
        let forwards_first = order.iter().take_while(|slot| slot.pass == Pass::Forward).count();
        forwards_first != (warm_up + 1).min(n)
    });
    let differs: Vec<usize> = differs.map(|(stage, _)| stage).collect();
    if let Some(&stage) = differs.first() {
        let before = pipeline.orders[stage].iter().take_while(|slot| slot.pass == Pass::Forward).count();
        summary.notes.push(format!(
            "the order in the file is used; it differs from 1F1B on {} of {stages} stages (stage {stage} \
             runs {before} forward passes before its first backward pass)",
            differs.len()
        ));
    } else {
        summary.notes.push("the order in the file is used; it begins like 1F1B".to_owned());
    }
}
