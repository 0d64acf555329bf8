//! Parameters of several jobs on one set of pods: a parameter of a run changes every job, and a list has an entry for
//! each job.

use super::access::{ports_from, ports_value, put, set_entry};
use super::job_knobs;
use crate::scenario::job::{PortsPerPod, RunConfig};
use crate::scenario::limits::MAX_PORTS;
use crate::scenario::shared::{MAX_PODS, MAX_WEIGHT, SharedPods};
use lightbay_core::param::{Effect, ParamInfo, ParamValue};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::record::Record as _;
use std::sync::LazyLock;

const PORTS: &str = "ports_per_pod";
const WEIGHTS: &str = "weights";
const FIRST_PODS: &str = "first_pods";

/// Names of lists with an entry for every pod or job.
pub(super) const LISTS: [&str; 3] = [PORTS, WEIGHTS, FIRST_PODS];

static SHARED_KNOBS: LazyLock<Vec<ParamInfo>> = LazyLock::new(|| {
    let of_run = |knob: &&ParamInfo| RunConfig::KEYS.contains(&knob.name.as_ref());
    let mut knobs = vec![
        ParamInfo::int_or_list(
            WEIGHTS,
            1,
            i64::from(MAX_WEIGHT),
            "Weight of a job's iteration time in the objective, in a scenario of several jobs: one number, or one per job.",
        ),
        ParamInfo::int_or_list(
            PORTS,
            1,
            i64::from(MAX_PORTS),
            "Number of optical ports of a shared pod: one number, or one for each shared pod in order. \
             Default: the sum of the ports of its jobs.",
        ),
        ParamInfo::int_or_list(
            FIRST_PODS,
            0,
            i64::from(MAX_PODS - 1),
            "Shared pod in which the first pod of a job lies, in a scenario of several jobs: one number, or one per job.",
        )
        .effect(Effect::Cold),
    ];
    // Jobs may differ, so these knobs have no common default.
    knobs.extend(job_knobs().iter().filter(of_run).map(|knob| knob.clone().derived()));
    knobs
});

/// The parameters of several jobs.
pub fn shared_knobs() -> &'static [ParamInfo] {
    &SHARED_KNOBS
}

/// Returns the parameters of jobs, then those that only several jobs have.
pub fn every_knob() -> Vec<ParamInfo> {
    let of_several = |info: &&ParamInfo| job_knobs().iter().all(|known| known.name != info.name);
    job_knobs().iter().chain(shared_knobs().iter().filter(of_several)).cloned().collect()
}

/// The value of a parameter; `None` if the jobs have different values (or no value) and the parameter cannot be a list.
pub(super) fn get(shared: &SharedPods, name: &str) -> Option<ParamValue> {
    match name {
        WEIGHTS => ports_value(&weights(shared)),
        FIRST_PODS => ports_value(&first_pods(shared)),
        PORTS => ports_value(&budget(shared).ok()?),
        _ => {
            let mut values = shared.jobs.iter().map(|placed| placed.job.run.field(name));
            let first = values.next()??;
            values.all(|value| value.as_ref() == Some(&first)).then_some(first)
        }
    }
}

/// Changes a parameter to a value that is within its range.
pub(super) fn set(
    shared: &mut SharedPods,
    name: &str,
    index: Option<usize>,
    value: &ParamValue,
) -> Result<(), Problem> {
    match name {
        WEIGHTS => {
            let weights = changed(name, weights(shared), index, value, "job")?;
            for (placed, weight) in shared.jobs.iter_mut().zip(weights) {
                placed.weight = weight;
            }
        }
        FIRST_PODS => {
            let pods = changed(name, first_pods(shared), index, value, "job")?;
            for (placed, pod) in shared.jobs.iter_mut().zip(pods) {
                placed.first_pod = pod;
            }
        }
        PORTS if index.is_none() => shared.ports_per_pod = ports_from(value),
        PORTS => {
            let known = budget(shared).map_err(|problems| {
                let first = problems.list().first().map(ToString::to_string).unwrap_or_default();
                Problem::new(PORTS, "cannot be set for one pod until the jobs are valid", first)
            })?;
            let ports = changed(name, known, index, value, "pod")?;
            shared.ports_per_pod = Some(PortsPerPod::ByPosition(ports));
        }
        _ => {
            for placed in &mut shared.jobs {
                put(&mut placed.job, name, value);
            }
        }
    }
    Ok(())
}

fn weights(shared: &SharedPods) -> Vec<u32> {
    shared.jobs.iter().map(|placed| placed.weight).collect()
}

fn first_pods(shared: &SharedPods) -> Vec<u32> {
    shared.jobs.iter().map(|placed| placed.first_pod).collect()
}

/// Returns the given list of the ports of the shared pods, which may be invalid, so that it can be corrected; without
/// such a list, the ports that each shared pod has.
fn budget(shared: &SharedPods) -> Result<Vec<u32>, Problems> {
    match &shared.ports_per_pod {
        Some(PortsPerPod::ByPosition(ports)) => Ok(ports.clone()),
        _ => Ok(shared.layout()?.budget),
    }
}

/// Returns a list with one entry or all entries changed.
fn changed(
    name: &str,
    mut list: Vec<u32>,
    index: Option<usize>,
    value: &ParamValue,
    what: &str,
) -> Result<Vec<u32>, Problem> {
    match (index, ports_from(value)) {
        (Some(index), _) => set_entry(name, what, &mut list, index, value)?,
        (None, Some(PortsPerPod::Same(value))) => list.fill(value),
        (None, Some(PortsPerPod::ByPosition(values))) if values.len() == list.len() => list = values,
        (None, _) => {
            let message = format!("'{value}' is not one number per {what}");
            return Err(Problem::new(name, message, format!("give one number or {} numbers", list.len())));
        }
    }
    Ok(list)
}
