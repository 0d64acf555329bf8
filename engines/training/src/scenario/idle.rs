//! Parameters without effect on a scenario, with reason and remedy; and the part of a job on which methods depend.

use super::TrainingScenario;
use super::job::{Job, Model};
use super::knobs::{job_knobs, shared_knobs};
use super::reconfiguration::{self, Reconfiguration};
use super::shared::SharedPods;
use crate::scenario::workload::{Shape, StageLoad, Workload};
use lightbay_core::param::ParamInfo;
use lightbay_core::problem::Problem;
use lightbay_core::record::params_of;
use std::collections::BTreeSet;

/// Values of `run` that measured figures replace: name of the value, the measured figures (times or volumes) that this
/// value does not affect, and the remedy.
const REPLACED: [(&str, &str, &str); 11] = [
    ("seq", "times", "import again with another sequence length"),
    ("micro_batch_size", "times", "import again with micro-batches of another size"),
    (
        "peak_tflops",
        "times",
        "edit `fwd_s` and `bwd_s` of the stages in the file, or import again with `tflops`",
    ),
    (
        "mfu",
        "times",
        "edit `fwd_s` and `bwd_s` of the stages in the file, or import again with `tflops` and `mfu`",
    ),
    ("bwd_ratio", "times", "edit `bwd_s` of the stages in the file"),
    ("recompute", "times", "edit `bwd_s` of the stages in the file"),
    ("zero", "volumes", "edit `dp_bytes_per_gpu` of the stages in the file"),
    ("balance", "times", "edit `fwd_s` and `bwd_s` of the stages in the file"),
    ("act_bytes", "volumes", "edit `pp_bytes_per_rank` in the file"),
    ("grad_bytes", "volumes", "edit `dp_bytes_per_gpu` of the stages in the file"),
    ("gather_bytes", "volumes", "edit `dp_bytes_per_gpu` of the stages in the file"),
];

/// Values of `run` that make up the layout for which figures were measured; times and volumes of another layout cannot
/// be derived from these figures.
const LAYOUT: [&str; 5] = ["tp", "cp", "pp", "ep", "etp"];

/// Returns `true` if measured figures replace this value of `run`, so that files with measured figures omit it.
pub(in crate::scenario) fn is_replaced(key: &str) -> bool {
    REPLACED.iter().any(|(name, _, _)| *name == key)
}

/// Returns the remedy for a value of `run` that measured figures replace.
pub(super) fn replaced_remedy(key: &str) -> &'static str {
    REPLACED.iter().find(|(name, _, _)| *name == key).map_or("leave it out", |(_, _, remedy)| remedy)
}

impl TrainingScenario {
    /// Parameters of the kind without effect on the scenario: name, reason, remedy.
    pub fn idle(&self) -> Vec<Problem> {
        let mut idle = self.of_other_forms();
        match self {
            Self::Job(job) => idle.extend(of_job(job)),
            Self::Instance(instance) => idle.extend(of_moves(instance.reconfiguration.as_ref())),
            Self::Shared(shared) => {
                // A knob is idle only if it is idle for all jobs.
                let mut all = shared.jobs.iter().map(|placed| of_job(&placed.job));
                let first = all.next().unwrap_or_default();
                let others: Vec<Vec<Problem>> = all.collect();
                let everywhere = |problem: &Problem| {
                    others.iter().all(|idle| idle.iter().any(|other| other.path == problem.path))
                };
                let has = |problem: &Problem| shared_knobs().iter().any(|info| info.name == problem.path);
                // On shared pods, `ports_per_pod` is a knob of the shared scenario, not of a job.
                let of_run = first.into_iter().filter(|problem| problem.path != "ports_per_pod");
                idle.extend(of_run.filter(has).filter(everywhere));
                // A knob of the layout affects the other jobs, but a measured job has a fixed layout, so the knob
                // counts as idle.
                for problem in layouts_in(shared) {
                    if idle.iter().all(|known| known.path != problem.path) {
                        idle.push(problem);
                    }
                }
            }
        }
        idle
    }

    /// Returns a problem if the parameter cannot be set at all in this scenario: if only scenarios of another form have
    /// it, or if measured figures replace it or fix its value.
    pub(super) fn never(&self, name: &str) -> Option<Problem> {
        let replaced = match self {
            Self::Job(job) => replaced_in(job),
            Self::Instance(_) => Vec::new(),
            Self::Shared(shared) => layouts_in(shared),
        };
        self.of_other_forms().into_iter().chain(replaced).find(|problem| problem.path == name)
    }

    /// Parameters that only scenarios of another form have.
    fn of_other_forms(&self) -> Vec<Problem> {
        let own = self.knobs();
        let lacks = |info: &&ParamInfo| own.iter().all(|known| known.name != info.name);
        let refuse = |info: &ParamInfo, message: &str, remedy: String| {
            Problem::new(info.name.clone(), message, remedy)
        };
        match self {
            Self::Job(_) => shared_knobs()
                .iter()
                .filter(lacks)
                .map(|info| {
                    let remedy = "give several jobs under `jobs` to use it".to_owned();
                    refuse(
                        info,
                        "belongs to several jobs on one set of pods, but the scenario has one job",
                        remedy,
                    )
                })
                .collect(),
            Self::Instance(_) => {
                let names: Vec<&str> = own.iter().map(|info| info.name.as_ref()).collect();
                let remedy = format!(
                    "change the job from which the instance was made; in the instance, you can set {}",
                    names.join(" and ")
                );
                let of_jobs = job_knobs().iter().filter(lacks).map(|info| {
                    refuse(info, "belongs to jobs, but the scenario is an explicit instance", remedy.clone())
                });
                let of_several = shared_knobs().iter().filter(lacks);
                let beside =
                    of_several.filter(|info| job_knobs().iter().all(|known| known.name != info.name));
                of_jobs
                    .chain(beside.map(|info| {
                        refuse(
                            info,
                            "belongs to several jobs, but the scenario is an explicit instance",
                            remedy.clone(),
                        )
                    }))
                    .collect()
            }
            Self::Shared(_) => job_knobs()
                .iter()
                .filter(lacks)
                .map(|info| {
                    let remedy = "change it in the file, under `jobs`".to_owned();
                    refuse(info, "belongs to one job, but the scenario has several jobs", remedy)
                })
                .collect(),
        }
    }

    /// Returns a text with the part of a job on which methods depend: two jobs have equal texts if every method makes
    /// the same plan for both jobs. `None` for an invalid job, and for other forms of scenario, because methods depend
    /// on every part of these scenarios.
    pub fn question(&self) -> Option<String> {
        let Self::Job(job) = self else { return None };
        let shape = job.shape().ok()?;
        let workload = Workload::of(job, &shape)?;
        let run = &job.run;
        let idle: BTreeSet<String> = of_job(job).into_iter().map(|problem| problem.path).collect();
        let acts = |name: &str| !idle.contains(name);
        let exchanges = shape.exchanging.contains(&true);
        let stages: Vec<StageLoad> = workload
            .stages
            .iter()
            .map(|stage| StageLoad {
                // Layers only determine where buckets end.
                layers: if exchanges && run.dp_buckets > 1 { stage.layers } else { 0 },
                dp_bytes_per_gpu: if exchanges { stage.dp_bytes_per_gpu } else { 0.0 },
                ..*stage
            })
            .collect();
        let several_stages = shape.stages > 1;
        let seen = Shape {
            // The load of a stage already includes the ranks inside it.
            dp_in: 1,
            dp_buckets: if acts("dp_buckets") { shape.dp_buckets } else { 1 },
            reverse: shape.reverse && acts("reverse"),
            ports: if acts("ports_per_pod") { shape.ports.clone() } else { Vec::new() },
            ..shape
        };
        let order = job.measured.as_ref().map(|measured| &measured.order);
        let question = format!(
            "{seen:?} {stages:?} {:?} {} {:?} {:?} {} {order:?}",
            several_stages.then_some(workload.pp_volume_bytes),
            run.micro_batches,
            acts("bandwidth_gbps").then_some(run.bandwidth_gbps),
            acts("intra_pod_gbps").then_some(run.intra_pod_rate_gbps()),
            several_stages && run.blocking_p2p,
        );
        Some(job.reconfiguration.map_or(question.clone(), |moves| format!("{question} {moves:?}")))
    }
}

/// Problems of the parameters that a job with measured figures refuses: parameters that the figures replace, and the
/// layout for which the figures were measured.
fn replaced_in(job: &Job) -> Vec<Problem> {
    if job.measured.is_none() {
        return Vec::new();
    }
    let refuse = |(name, what, remedy): &(&str, &str, &str)| {
        Problem::new(*name, format!("has no effect on measured {what}"), *remedy)
    };
    let of_model =
        ["model".into()].into_iter().chain(params_of::<Model>().map(|info| info.name)).map(|name| {
            Problem::new(
                name,
                "has no effect on measured times and volumes",
                "import again with the workload of that model, or leave out `measured` to plan for a model",
            )
        });
    REPLACED.iter().map(refuse).chain(of_model).chain(layout_of(job)).collect()
}

/// Returns a problem for the maximum number of reconfigurations if circuits are static, because this number then has no
/// effect.
fn of_moves(group: Option<&Reconfiguration>) -> Option<Problem> {
    group.is_none().then(reconfiguration::without_switch)
}

/// Returns a problem for each parameter of the layout for which a job was measured, because none of them can be
/// changed; nothing for other jobs.
fn layout_of(job: &Job) -> impl Iterator<Item = Problem> {
    let run = job.run;
    let held = LAYOUT.iter().zip([run.tp, run.cp, run.pp, run.ep, run.etp]).map(|(name, value)| {
        Problem::new(
            *name,
            format!("cannot change: the times and volumes were measured with {name} {value}"),
            "import a workload of that layout, or leave out `measured` to plan for a model",
        )
    });
    held.filter(|_| job.measured.is_some())
}

/// Layout parameters of several jobs that cannot be changed, because one of the jobs was measured.
fn layouts_in(shared: &SharedPods) -> Vec<Problem> {
    let first = shared.jobs.iter().find(|placed| placed.job.measured.is_some());
    first.map_or_else(Vec::new, |placed| {
        let of_job = |problem: Problem| Problem {
            message: format!("{} in job '{}'", problem.message, placed.name),
            ..problem
        };
        layout_of(&placed.job).map(of_job).collect()
    })
}

/// Parameters without effect on a job in its present form. For an invalid job, parameters whose effect depends on a
/// valid job are omitted.
fn of_job(job: &Job) -> Vec<Problem> {
    let mut idle = replaced_in(job);
    let mut add = |name: &str, message: &str, remedy: String| {
        if idle.iter().all(|problem| problem.path != name) {
            idle.push(Problem::new(name, message, remedy));
        }
    };
    if let Some(model) = job.resolved_model() {
        if model.moe().is_none() {
            for name in ["ep", "etp"] {
                let remedy = "leave it at 1, or train a model with experts".to_owned();
                add(name, "has no effect on a model without experts", remedy);
            }
        }
        if (0..model.layers).all(|layer| model.has_experts(layer)) {
            let remedy = "set `expert_ffn`, or raise `dense_layers`".to_owned();
            add("ffn", "has no effect where every layer has experts", remedy);
        }
        if model.moe_layers.is_some() {
            let remedy = "change `moe_layers`".to_owned();
            add("dense_layers", "has no effect, because `moe_layers` lists the layers with experts", remedy);
        }
        if model.mla.is_some() {
            for name in ["kv_heads", "head_dim"] {
                let remedy = "change the widths under `mla` in the file".to_owned();
                add(name, "has no effect on a model with latent attention", remedy);
            }
        }
    }
    idle.extend(of_moves(job.reconfiguration.as_ref()));
    let mut add = |name: &str, message: &str, remedy: String| {
        if idle.iter().all(|problem| problem.path != name) {
            idle.push(Problem::new(name, message, remedy));
        }
    };
    let Ok(shape) = job.shape() else { return idle };
    let measured = job.measured.as_ref();
    let exchanges = shape.exchanging.contains(&true);
    if shape.replicas == 1 {
        let two = 2 * u64::from(shape.gpus_per_stage) * u64::from(shape.stages);
        let remedy = match measured {
            Some(measured) if measured.replicas.unwrap_or(1) == 1 => {
                format!("import the workload with at least {two} GPUs, which are two replicas")
            }
            _ => format!("use smaller pods, or at least {two} GPUs with these pods"),
        };
        for name in ["grad_bytes", "gather_bytes", "zero", "dp_buckets"] {
            let message =
                "has no effect: each pod has all replicas of its stages, so no pods exchange gradients";
            add(name, message, remedy.clone());
        }
        let message = "has no effect: each pod has all replicas of its stages, so no pods exchange tables";
        add("tied", message, remedy);
    } else if !exchanges {
        let remedy = "give `dp_bytes_per_gpu` of the stages in the file".to_owned();
        add(
            "dp_buckets",
            "has no effect: according to the measured volumes, no stage exchanges gradients",
            remedy,
        );
    }
    if job.run.zero == 0 {
        let remedy = "raise `zero`".to_owned();
        add("gather_bytes", "has no effect without ZeRO, because replicas gather no parameters", remedy);
    }
    if shape.stages > 1 {
        let message = "has no effect where the first and the last stage each hold a table";
        add("tied", message, "set `pp` to 1".to_owned());
    }
    if shape.stages == 1 {
        for name in ["act_bytes", "blocking_p2p", "intra_pod_gbps", "balance"] {
            add(name, "has no effect on a pipeline of one stage", "raise `pp`".to_owned());
        }
    } else if !shape.stages_share_pods() {
        let message = "has no effect where every stage has a pod of its own";
        add(
            "intra_pod_gbps",
            message,
            "raise `gpus_per_pod_per_replica`, so that stages share a pod".to_owned(),
        );
    } else if measured.is_some_and(|measured| measured.pp_bytes_per_rank <= 0.0) {
        let remedy = "give `pp_bytes_per_rank` in the file".to_owned();
        add(
            "intra_pod_gbps",
            "has no effect: according to the measured volumes, stages send nothing",
            remedy,
        );
    }
    if job.pods.is_some() {
        let remedy = "list the pods of the stages in another order".to_owned();
        add("reverse", "cannot be combined with a list of pods", remedy);
    } else if shape.pods_per_replica == 1 {
        let message = "has no effect where a pod holds all stages of a replica";
        add(
            "reverse",
            message,
            "lower `gpus_per_pod_per_replica`, so that stages lie in several pods".to_owned(),
        );
    }
    if !shape.crosses() {
        let remedy = "raise `gpus`, or lower `gpus_per_pod_per_replica`, so that something crosses pods";
        for name in ["ports_per_pod", "failed_ports"] {
            add(name, "has no effect: nothing crosses pods", remedy.to_owned());
        }
        if shape.stages == 1 || job.run.intra_pod_gbps.is_some() {
            add("bandwidth_gbps", "has no effect: nothing crosses pods", remedy.to_owned());
        }
    }
    idle
}
