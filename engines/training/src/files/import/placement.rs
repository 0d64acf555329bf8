//! Placement of the ranks of a workload: GPUs per stage and pod, number of replicas, and bytes that cross between
//! replicas.
//!
//! Ranks are numbered `(stage x DP + dp) x TP + tp`. A stage of the workload has `TP x DP` ranks. The ranks of a stage
//! that share a pod become one stage of the job with g GPUs, so a stage of the job never spans pods. Ranks share a pod
//! because of tensor and expert parallelism, or because the pod has room for several data-parallel ranks. Ranks that
//! share a pod first reduce their gradients inside the pod, so only the sum of their gradients crosses pods.

use super::{base_run, narrow};
use crate::scenario::job::RunConfig;
use lightbay_core::param::Params;
use lightbay_core::problem::{Problems, counted};
use lightbay_formats::aicb::{AicbCollective, AicbWorkload, ImportSummary};

const PER_REPLICA: &str = "gpus_per_pod_per_replica";
const PER_POD: &str = "gpus_per_pod";

/// The run of the workload with its placement and rates.
pub(super) fn run(
    workload: &AicbWorkload,
    params: &Params,
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> Option<RunConfig> {
    let &AicbWorkload { tp, ep, expert_tp, pp, dp, gpus, micro_batches, .. } = workload;
    let stage = tp.max(ep * expert_tp);
    if !stage.is_multiple_of(tp) || !stage.is_multiple_of(ep * expert_tp) || !(tp * dp).is_multiple_of(stage)
    {
        problems.add(
            "ep",
            format!("the groups of TP '{tp}' and of EP '{ep}' x expert TP '{expert_tp}' do not fit into each other and into a stage of '{}' GPUs", tp * dp),
            "correct the sizes in the file; the larger group must be a multiple of the smaller one and must divide the GPUs of a stage",
        );
        return None;
    }
    let given = |name: &str| params.int(name).and_then(|value| u64::try_from(value).ok());
    let (in_stage, in_pod) = match (given(PER_REPLICA), given(PER_POD)) {
        (Some(_), Some(_)) => {
            problems.add(PER_POD, format!("cannot be combined with '{PER_REPLICA}'"), "give one of the two");
            return None;
        }
        (Some(per_replica), None) => (stage, per_replica),
        (None, Some(per_pod)) => linear(stage, tp * dp, per_pod, summary, problems)?,
        (None, None) => assumed(stage, pp, tp * dp, summary, problems)?,
    };
    // A pod with more GPUs than the job holds the whole job and nothing else.
    let in_pod = if given(PER_POD).is_some_and(|per_pod| in_pod == per_pod && per_pod > in_stage * pp) {
        summary.notes.push(format!(
            "a pod of {} holds the whole replica of {}",
            counted(in_pod, "GPU", "GPUs"),
            counted(in_stage * pp, "GPU", "GPUs")
        ));
        in_stage * pp
    } else {
        in_pod
    };
    let before = problems.total();
    // Without experts, EP and ETP are 1 for a stage of one tensor-parallel group; for several groups, EP is their
    // number and ETP is TP.
    let split = match (ep, in_stage == tp) {
        (1, true) => 1,
        (1, false) => tp,
        _ => expert_tp,
    };
    let expert_ranks = if ep == 1 && in_stage == tp { 1 } else { in_stage / split };
    if expert_ranks != ep {
        summary.notes.push(format!(
            "`ep` of the job is {expert_ranks}: {in_stage} GPUs of a stage share a pod and reduce their gradients inside the pod"
        ));
    }
    let mut narrow = |name, value| narrow(name, value, problems);
    let sizes = [narrow("tp", tp), narrow("pp", pp), narrow("ep", expert_ranks)];
    let mut run = base_run(
        sizes,
        narrow("gpus", gpus),
        narrow(PER_REPLICA, in_pod),
        narrow("micro_batches", micro_batches),
    );
    run.etp = narrow("etp", split);
    rates(&mut run, in_pod > in_stage, params, summary);
    (problems.total() == before).then_some(run)
}

/// Default GPUs of a stage and of a replica in a pod: one stage per pod, two if there are more than two stages, and
/// more if pods would otherwise have fewer ports than links. If even all stages of a replica in one pod give too few
/// ports, several replicas share a pod.
pub(super) fn assumed(
    stage: u64,
    pp: u64,
    all_ranks: u64,
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> Option<(u64, u64)> {
    let ring = (all_ranks / stage).saturating_sub(1).min(2);
    let enough = |stages: &u64| {
        let pods = pp.div_ceil(*stages);
        let last = pp - (pods - 1) * stages;
        stages * stage >= ring + (pods - 1).min(2) && last * stage >= ring + (pods - 1).min(1)
    };
    let usual = if pp > 2 { 2 } else { 1 };
    if let Some(stages) = (usual..=pp).find(enough) {
        let value = format!("{}, {}", gpus(stages * stage), counted(stages, "stage", "stages"));
        summary.assume("GPUs of one replica in one pod", value, format!("{PER_REPLICA}="));
        return Some((stage, stages * stage));
    }
    // Small replicas: several of them share a server.
    let shared = [8, 4, 2].into_iter().find(|&pod| pod % stage == 0 && all_ranks.is_multiple_of(pod));
    let per_pod = shared.unwrap_or(all_ranks);
    summary.assume("GPUs of the job in one pod", gpus(per_pod), format!("{PER_POD}="));
    linear(stage, all_ranks, per_pod, summary, problems)
}

fn gpus(count: u64) -> String {
    counted(count, "GPU", "GPUs")
}

/// Consecutive placement of ranks: a pod holds whole stages, or an equal part of one stage.
fn linear(
    stage: u64,
    all_ranks: u64,
    per_pod: u64,
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> Option<(u64, u64)> {
    if per_pod.is_multiple_of(all_ranks) {
        if all_ranks > stage {
            summary.notes.push(
                "all data-parallel ranks of a stage share a pod, so no gradients cross pods".to_owned(),
            );
        }
        return Some((all_ranks, per_pod));
    }
    if per_pod.is_multiple_of(stage) && all_ranks.is_multiple_of(per_pod) {
        return Some((per_pod, per_pod));
    }
    problems.add(
        PER_POD,
        format!("'{per_pod}' does not divide the '{all_ranks}' GPUs of a stage into pods of whole groups of '{stage}' GPUs (a stage of one replica)"),
        format!("give a multiple of {stage} that divides {all_ranks}, or give a multiple of {all_ranks}, or set '{PER_REPLICA}=' instead"),
    );
    None
}

/// Sets the rates, which workload files do not state.
fn rates(run: &mut RunConfig, stages_share_a_pod: bool, params: &Params, summary: &mut ImportSummary) {
    match params.float("bandwidth_gbps") {
        Some(given) => run.bandwidth_gbps = given,
        None => summary.assume(
            "rate of one NIC and circuit",
            format!("{} Gb/s", run.bandwidth_gbps),
            "bandwidth_gbps=",
        ),
    }
    run.intra_pod_gbps = params.float("intra_pod_gbps");
    if run.intra_pod_gbps.is_none() && stages_share_a_pod && run.pp > 1 {
        summary.assume(
            "rate of pipeline transfers inside a pod",
            format!("{} Gb/s, as between pods", run.bandwidth_gbps),
            "intra_pod_gbps=",
        );
    }
}

/// Bytes that one GPU of a stage sends to its ring neighbour in the next replica. The ranks of a group that share a pod
/// have already reduced their gradients, so each of these ranks holds an equal share of the sum.
pub(super) fn crossing_bytes(calls: &[AicbCollective], replicas: u64, problems: &mut Problems) -> u64 {
    let mut sum: u64 = 0;
    for call in calls {
        let in_pod = (call.ranks / replicas.max(1)).max(1);
        // All-to-alls among data-parallel ranks do not form a ring; the summary lists them as skipped.
        let Some(one) = call.kind.ring_bytes(call.bytes.div_ceil(in_pod), replicas) else { continue };
        let Some(total) = one.checked_mul(call.calls).and_then(|all| sum.checked_add(all)) else {
            problems.add("", "the data-parallel bytes exceed 64 bits", "check the sizes in the file");
            return sum;
        };
        sum = total;
    }
    sum
}
