//! The descriptions of the parameters.

use crate::scenario::job::{Job, Model, RunConfig};
use crate::scenario::limits::{MAX_GPUS, MAX_PORTS};
use crate::scenario::{presets, reconfiguration};
use lightbay_core::param::{Effect, ParamInfo};
use lightbay_core::record::{Record as _, params_of};
use std::sync::LazyLock;

/// Name of the parameter for the number of replicas, which sets `gpus`.
pub const DP: &str = "dp";

/// Name of the parameter for failed ports.
pub(super) const FAILED: &str = "failed_ports";

/// Parameters for all keys of `run`, in the order of files.
static RUN_KNOBS: LazyLock<Vec<ParamInfo>> = LazyLock::new(|| params_of::<RunConfig>().collect());

/// Parameters that users change most often, in order; all other parameters come after them.
const TURNED_FIRST: [&str; 9] =
    ["gpus", DP, "tp", "pp", "micro_batches", "seq", "bandwidth_gbps", "mfu", "ports_per_pod"];

static JOB_KNOBS: LazyLock<Vec<ParamInfo>> = LazyLock::new(|| {
    let models = presets::model_names();
    let model = ParamInfo::choice("model", &models, models[0], "Model to train.").derived();
    let model = model.hint(presets::OWN_MODEL);
    let ports = ParamInfo::int_or_list(
        "ports_per_pod",
        1,
        i64::from(MAX_PORTS),
        "Optical ports of a pod: one number, or one per pod of a replica. Default: the number of the \
         job's GPUs in the pod.",
    );
    let mut knobs = vec![model];
    knobs.extend(run_knobs().iter().map(|info| match info.name.as_ref() {
        "gpus_per_pod" => pods(),
        _ => info.clone(),
    }));
    knobs.push(replicas());
    knobs.push(ports);
    knobs.push(ParamInfo::text(
        FAILED,
        "Ports and transceivers that have failed, such as 'p2:1, p3:4': pod and number of the port from 1. Pods of \
         replicas on separate pods are named r0p0, r0p1 and so on. Circuits use the other ports; 'none' repairs all.",
    ));
    knobs.extend(Job::param("reverse"));
    // Every model has its own sizes, so they have no default.
    knobs.extend(params_of::<Model>().map(|info| info.derived().effect(Effect::Cold)));
    knobs.extend(reconfiguration::knobs());
    // The sort is stable, so knobs that are not in TURNED_FIRST keep the order in which files list them.
    knobs.sort_by_key(|knob| {
        TURNED_FIRST.iter().position(|name| *name == knob.name).unwrap_or(TURNED_FIRST.len())
    });
    knobs
});

/// Returns the parameter for the number of replicas, which sets the number of GPUs.
pub(crate) fn replicas() -> ParamInfo {
    let help = "Number of data-parallel replicas of the job; sets `gpus`, the total number of GPUs.";
    ParamInfo::int(DP, 1, i64::from(MAX_GPUS), 1, help).derived().effect(Effect::Cold)
}

/// Returns the parameter for the GPUs of each pod if replicas share pods: one number, or one number per pod.
fn pods() -> ParamInfo {
    ParamInfo::int_or_list(
        "gpus_per_pod",
        1,
        i64::from(MAX_GPUS),
        "Number of GPUs of the job in each pod, if replicas share pods: one number, or one per pod in rank order. A pod \
         holds consecutive ranks, and so does a stage. Default: replicas have separate pods.",
    )
    .effect(Effect::Cold)
}

static INSTANCE_KNOBS: LazyLock<Vec<ParamInfo>> = LazyLock::new(|| {
    let bandwidth = RunConfig::param("bandwidth_gbps");
    let mut knobs: Vec<ParamInfo> = bandwidth.map(ParamInfo::derived).into_iter().collect();
    knobs.push(ParamInfo::int_or_list(
        "ports_per_pod",
        0,
        i64::from(MAX_PORTS),
        "Optical ports of a pod: one number, or one per pod that is not a mirror.",
    ));
    knobs.extend(reconfiguration::knobs());
    knobs
});

/// The parameters of the run of a job.
pub(crate) fn run_knobs() -> &'static [ParamInfo] {
    &RUN_KNOBS
}

/// The parameters of a job.
pub fn job_knobs() -> &'static [ParamInfo] {
    &JOB_KNOBS
}

/// The parameters of an explicit instance.
pub fn instance_knobs() -> &'static [ParamInfo] {
    &INSTANCE_KNOBS
}
