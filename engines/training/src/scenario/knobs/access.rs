//! Reading and changing the parameters of a scenario by name.

use super::table::FAILED;
use super::{DP, instance_knobs, job_knobs, shared, shared_knobs};
use crate::scenario::idle::is_replaced;
use crate::scenario::instance::Instance;
use crate::scenario::job::{FailedPort, Job, Model, ModelChoice, PodMap, PortsPerPod};
use crate::scenario::limits::MAX_GPUS;
use crate::scenario::{TrainingScenario, reconfiguration};
use lightbay_core::param::{ParamInfo, ParamValue, Setting};
use lightbay_core::problem::{Problem, suggestion};
use lightbay_core::record::Record as _;

const PORTS: &str = "ports_per_pod";
const PODS: &str = "gpus_per_pod";

impl TrainingScenario {
    /// The parameters of the scenario.
    pub fn knobs(&self) -> &'static [ParamInfo] {
        match self {
            Self::Job(_) => job_knobs(),
            Self::Instance(_) => instance_knobs(),
            Self::Shared(_) => shared_knobs(),
        }
    }

    /// The value of a parameter. `None` for unknown names, for values that are not set or that measured figures
    /// replace, and for values that no parameter can express (a model given by its sizes, pods given as ranges of
    /// ranks).
    pub fn get(&self, name: &str) -> Option<ParamValue> {
        match self {
            Self::Job(job) => get_job(job, name),
            Self::Instance(instance) => get_instance(instance, name),
            Self::Shared(jobs) => shared::get(jobs, name),
        }
    }

    /// Changes a parameter to a value typed by the user.
    ///
    /// # Errors
    /// As for [`TrainingScenario::set`].
    pub fn apply(&mut self, setting: &Setting) -> Result<(), Problem> {
        let value = self.knob(&setting.name)?.parse(&setting.text)?;
        self.set(&setting.name, setting.index, &value)
    }

    /// Changes a parameter, or one entry of a list. Checks only the parameter's own range, because several changes
    /// together may be valid even if one alone is not; validate the scenario afterwards.
    ///
    /// # Errors An unknown name, a value outside the range, a parameter that cannot be set in this scenario, an entry
    /// that does not exist, or a bandwidth above the maximum for which the edges of an instance are complete.
    pub fn set(&mut self, name: &str, index: Option<usize>, value: &ParamValue) -> Result<(), Problem> {
        let value = self.knob(name)?.accept(value)?;
        if let Some(problem) = self.never(name) {
            return Err(problem);
        }
        let lists: &[&str] = if matches!(self, Self::Shared(_)) { &shared::LISTS } else { &[PORTS] };
        if index.is_some() && !lists.contains(&name) {
            return Err(Problem::new(name, "is not a list", format!("write {name}={value}")));
        }
        match self {
            Self::Job(job) => set_job(job, name, index, &value),
            Self::Instance(instance) => set_instance(instance, name, index, &value),
            Self::Shared(jobs) => shared::set(jobs, name, index, &value),
        }
    }

    fn knob(&self, name: &str) -> Result<&'static ParamInfo, Problem> {
        self.knobs().iter().find(|info| info.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.knobs().iter().map(|info| info.name.as_ref()).collect();
            self.never(name).unwrap_or_else(|| {
                Problem::new(name, "is not a parameter of this scenario", suggestion(name, &names))
            })
        })
    }
}

/// A single number if all entries are equal, else the list.
pub(super) fn ports_value(ports: &[u32]) -> Option<ParamValue> {
    let first = *ports.first()?;
    let int = |ports: u32| ParamValue::Int(i64::from(ports));
    Some(if ports.iter().all(|p| *p == first) {
        int(first)
    } else {
        ParamValue::List(ports.iter().copied().map(int).collect())
    })
}

/// Converts a value that is within the range of its parameter.
pub(crate) fn ports_from(value: &ParamValue) -> Option<PortsPerPod> {
    let port = |value: &ParamValue| u32::try_from(value.as_i64()?).ok();
    match value {
        ParamValue::List(values) => {
            values.iter().map(port).collect::<Option<_>>().map(PortsPerPod::ByPosition)
        }
        value => port(value).map(PortsPerPod::Same),
    }
}

/// Sets the entry `index` of the list `ports`. In problems, `name` is the name of the list, and `what` is the word for
/// the index of an entry.
pub(super) fn set_entry(
    name: &str,
    what: &str,
    ports: &mut [u32],
    index: usize,
    value: &ParamValue,
) -> Result<(), Problem> {
    let last = ports.len().saturating_sub(1);
    let path = format!("{name}[{index}]");
    let Some(entry) = ports.get_mut(index) else {
        return Err(Problem::new(path, "does not exist", format!("give a {what} from 0 to {last}")));
    };
    let Some(PortsPerPod::Same(ports)) = ports_from(value) else {
        return Err(Problem::new(path, format!("'{value}' is not valid"), "give one whole number"));
    };
    *entry = ports;
    Ok(())
}

fn get_job(job: &Job, name: &str) -> Option<ParamValue> {
    match name {
        "model" => match job.model.as_ref()? {
            ModelChoice::Preset(name) => Some(ParamValue::Text(name.clone())),
            ModelChoice::Inline(_) => None,
        },
        "reverse" => Some(ParamValue::Bool(job.reverse)),
        FAILED => Some(ParamValue::Text(FailedPort::text(&job.failed_ports)))
            .filter(|_| !job.failed_ports.is_empty()),
        DP => Some(ParamValue::Int(i64::from(job.run.replicas()))),
        PORTS => match &job.ports_per_pod {
            Some(PortsPerPod::Same(ports)) => Some(ParamValue::Int(i64::from(*ports))),
            Some(PortsPerPod::ByPosition(ports)) => ports_value(ports),
            None => ports_value(&job.shape().ok()?.ports),
        },
        PODS if job.pods.is_some() => match &job.pods {
            Some(PodMap::Sizes(sizes)) => {
                Some(ParamValue::List(sizes.iter().map(|size| ParamValue::Int(i64::from(*size))).collect()))
            }
            _ => None,
        },
        "gpus_per_pod_per_replica" if job.pods.is_some() => None,
        reconfiguration::SWITCH | reconfiguration::DELAY | reconfiguration::MOST => {
            reconfiguration::get(job.reconfiguration.as_ref(), name)
        }
        // Measured figures replace this field, so the knob has no value.
        _ if job.measured.is_some() && is_replaced(name) => None,
        _ => job.run.field(name).or_else(|| job.resolved_model()?.field(name)),
    }
}

fn set_job(job: &mut Job, name: &str, index: Option<usize>, value: &ParamValue) -> Result<(), Problem> {
    if reconfiguration::set(&mut job.reconfiguration, name, value)? {
        return Ok(());
    }
    match (name, value) {
        ("model", ParamValue::Text(name)) => job.model = Some(ModelChoice::Preset(name.clone())),
        ("reverse", ParamValue::Bool(reverse)) => job.reverse = *reverse,
        (PORTS, value) => match index {
            None => job.ports_per_pod = ports_from(value),
            Some(index) => {
                let mut ports = match &job.ports_per_pod {
                    Some(PortsPerPod::ByPosition(ports)) => ports.clone(),
                    // One number for all pods, or the default: count the pods to expand the value to a list.
                    _ => {
                        job.shape()
                            .map_err(|problems| {
                                let first =
                                    problems.list().first().map(ToString::to_string).unwrap_or_default();
                                Problem::new(PORTS, "cannot be set for one pod until the job is valid", first)
                            })?
                            .ports
                    }
                };
                set_entry(PORTS, "pod", &mut ports, index, value)?;
                job.ports_per_pod = Some(PortsPerPod::ByPosition(ports));
            }
        },
        (FAILED, ParamValue::Text(text)) => job.failed_ports = FailedPort::list(text)?,
        (DP, value) => {
            let replica = i64::try_from(job.run.stage_gpus() * u64::from(job.run.pp)).unwrap_or(i64::MAX);
            let gpus = value.as_i64().unwrap_or(1).saturating_mul(replica);
            if gpus > i64::from(MAX_GPUS) {
                let message = format!("is '{value}', which gives {gpus} GPUs ({replica} in a replica)");
                let remedy = format!("give at most {}", i64::from(MAX_GPUS) / replica);
                return Err(Problem::new(DP, message, remedy));
            }
            put(job, "gpus", &ParamValue::Int(gpus));
        }
        (PODS, ParamValue::List(sizes)) => {
            let size = |value: &ParamValue| u32::try_from(value.as_i64()?).ok();
            job.pods = sizes.iter().map(size).collect::<Option<_>>().map(PodMap::Sizes);
            (job.run.gpus_per_pod, job.run.gpus_per_pod_per_replica) = (None, 0);
        }
        _ if Model::KEYS.contains(&name) => resize(job, name, value)?,
        _ => put(job, name, value),
    }
    Ok(())
}

/// Changes a size of the model; unless the size is unchanged, the model is then given by its sizes instead of its name.
fn resize(job: &mut Job, name: &str, value: &ParamValue) -> Result<(), Problem> {
    let Some(known) = job.resolved_model() else {
        return Err(Problem::new(
            name,
            "is a parameter of the model, but the job has no model",
            "set `model` first",
        ));
    };
    let mut model = known.clone();
    // The value has been checked against the range of the knob, so the field accepts it.
    let _ = model.set_field(name, value);
    if model != known {
        job.model = Some(ModelChoice::Inline(model));
    }
    Ok(())
}

/// Stores a value of `run`. A value for the GPUs of a pod also replaces a list of pods. Measured bytes apply to the
/// number of replicas with which they were measured, so the first change of the number of replicas stores this measured
/// number. Bytes that every micro-batch sends are adapted to the number of micro-batches.
pub(super) fn put(job: &mut Job, name: &str, value: &ParamValue) {
    let (replicas, micro_batches) = (job.run.replicas(), job.run.micro_batches);
    // The value has been checked against the range of the knob, so the field accepts it.
    let _ = job.run.set_field(name, value);
    // Both knobs set the placement in pods, so setting one removes the other.
    if name == PODS || name == "gpus_per_pod_per_replica" {
        job.pods = None;
    }
    match name {
        PODS => job.run.gpus_per_pod_per_replica = 0,
        "gpus_per_pod_per_replica" if job.run.gpus_per_pod_per_replica > 0 => job.run.gpus_per_pod = None,
        _ => {}
    }
    let Some(measured) = &mut job.measured else { return };
    if replicas != job.run.replicas() {
        measured.replicas.get_or_insert(replicas.max(1));
    }
    let more = f64::from(job.run.micro_batches) - f64::from(micro_batches);
    for stage in &mut measured.stages {
        stage.dp_bytes_per_gpu = (stage.dp_bytes_per_gpu + more * stage.dp_bytes_per_micro_batch).max(0.0);
    }
}

fn real_ports(instance: &Instance) -> Vec<u32> {
    instance.pods.iter().filter(|pod| !pod.mirror).map(|pod| pod.ports).collect()
}

fn get_instance(instance: &Instance, name: &str) -> Option<ParamValue> {
    match name {
        "bandwidth_gbps" => Some(ParamValue::Float(instance.nic_bandwidth_gbps)),
        PORTS => ports_value(&real_ports(instance)),
        _ => reconfiguration::get(instance.reconfiguration.as_ref(), name),
    }
}

fn set_instance(
    instance: &mut Instance,
    name: &str,
    index: Option<usize>,
    value: &ParamValue,
) -> Result<(), Problem> {
    if reconfiguration::set(&mut instance.reconfiguration, name, value)? {
        return Ok(());
    }
    if name == PORTS {
        let mut ports = real_ports(instance);
        match (index, ports_from(value)) {
            (Some(index), _) => set_entry(PORTS, "pod", &mut ports, index, value)?,
            (None, Some(PortsPerPod::Same(value))) => ports.fill(value),
            (None, Some(PortsPerPod::ByPosition(values))) if values.len() == ports.len() => ports = values,
            (None, _) => {
                let message = format!("'{value}' is not one number per pod");
                return Err(Problem::new(
                    PORTS,
                    message,
                    format!("give one number or {} numbers", ports.len()),
                ));
            }
        }
        for (pod, ports) in instance.pods.iter_mut().filter(|pod| !pod.mirror).zip(ports) {
            pod.ports = ports;
        }
    } else if let Some(bandwidth) = value.as_f64() {
        let valid = instance.provenance.as_ref().and_then(|provenance| provenance.edges_valid_up_to_gbps);
        if let Some(valid) = valid.filter(|valid| bandwidth > *valid) {
            return Err(beyond_valid_edges(name, bandwidth, valid));
        }
        instance.nic_bandwidth_gbps = bandwidth;
    }
    Ok(())
}

/// Problem of a bandwidth above `valid`: edges that cannot bind up to `valid` were left out, and above `valid` they
/// could bind.
pub(in crate::scenario) fn beyond_valid_edges(path: &str, bandwidth: f64, valid: f64) -> Problem {
    Problem::new(
        path,
        format!("is {bandwidth} Gb/s, but the instance contains all edges only for up to {valid} Gb/s"),
        "change the bandwidth of the job instead, or write the instance with all edges \
         (`export --to instance --set all_edges=true`)",
    )
}
