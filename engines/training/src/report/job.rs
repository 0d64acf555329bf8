//! Sizes and placement of a job, contention, and the ideal network.

use crate::analysis::Setting;
use crate::model::build::Built;
use crate::plan::{RateControl, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::scenario::instance::{Instance, Link};
use crate::scenario::job::{FailedPort, Job, Model, ModelChoice, RunConfig};
use crate::scenario::workload::Shape;
use crate::scenario::workload::params::{flops_per_token, layer_split, parameter_total};
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Facts, Section, Tone, Unit};

/// Unit of numbers of parameters.
const BILLIONS: Unit = Unit::new("billion", 1e-9, Some(3));
/// Unit of numbers of floating-point operations.
const GFLOPS: Unit = Unit::new("GFLOP", 1e-9, Some(1));

/// Maximum number of listed reasons that a scenario is not tail-exact.
const REASONS: usize = 3;

pub(super) fn section(
    scenario: &TrainingScenario,
    built: &Built,
    setting: Option<&Setting>,
    result: Option<&TrainingResult>,
) -> Section {
    let mut facts = Facts::new();
    if let TrainingScenario::Job(job) = scenario {
        let run = &job.run;
        let batches = counted(run.micro_batches.into(), "micro-batch", "micro-batches");
        let of = match &job.measured {
            Some(_) => "with measured times and volumes".to_owned(),
            None => format!("of {} × {} tokens", run.micro_batch_size, run.seq),
        };
        if let Some(model) = &job.model {
            let name = match model {
                ModelChoice::Preset(name) => name.as_str(),
                ModelChoice::Inline(_) => "given in figures",
            };
            facts.add("model", "model", name);
        }
        if let Some(model) = job.resolved_model() {
            sizes(&mut facts, &model, run);
        }
        facts.add("gpus", "GPUs", run.gpus);
        if let Some(measured) = &job.measured
            && let Some(of) = measured.replicas.filter(|of| *of != run.replicas() && run.replicas() > 1)
        {
            let note = format!("of the volume measured with {}", counted(of.into(), "replica", "replicas"));
            let percent = 100.0 * measured.ring_factor(run.replicas(), run.replicas());
            facts.add("gradients", "gradient volume", Cell::new(format!("{percent:.1} % {note}")));
        }
        let cp = if run.cp > 1 { format!(", cp {}", run.cp) } else { String::new() };
        facts.add("parallelism", "parallelism", format!("tp {}{cp}, pp {}, ep {}", run.tp, run.pp, run.ep));
        facts.add("micro_batches", "micro-batches", Cell::new(format!("{batches} {of}")));
        facts.number("bandwidth_gbps", "bandwidth of a GPU", Unit::GBPS, run.bandwidth_gbps);
    }
    if let Some(job) = &built.job {
        placement(&mut facts, &job.shape);
        facts.add("full_dag_nodes", "full DAG", Cell::new(job.full_dag_nodes).note("nodes in a replica"));
    }
    let instance = &built.instance;
    let Some(known) = setting else {
        facts.add("tasks", "tasks between pods", 0);
        facts.sentence("circuits do not matter");
        if let Some(compute_s) = built.compute_s() {
            facts.number("compute_s", "iteration", Unit::SECONDS, Cell::new(compute_s).note("compute only"));
        }
        facts.add("nct", "NCT", Cell::none().note("nothing is communicated"));
        return Section::new("Job", facts);
    };
    facts.add("tasks", "tasks between pods", instance.tasks.len());
    facts.add("edges", "edges", instance.edges.len());
    if let Some(compute_s) = built.compute_s() {
        facts.number("compute_s", "compute", Unit::SECONDS, compute_s);
    }
    let ideal = &known.evaluator.ideal;
    facts.number("ideal_makespan_s", "ideal network", Unit::SECONDS, ideal.makespan());
    facts.number("ideal_communication_s", "its communication", Unit::SECONDS, ideal.path.comm);
    facts.sentence("on the critical path");
    facts.add(
        "total_ports",
        "ports",
        Cell::new(known.evaluator.network.budget.capacity()).note("in the planned pods"),
    );
    contention(&mut facts, known);
    if let (TrainingScenario::Job(job), Some(summary)) = (scenario, &built.job) {
        failures(&mut facts, job, &summary.shape, instance, known);
    }
    facts.number("makespan_limit_s", "useful circuits for", Unit::SECONDS, known.limit_s);
    facts.sentence("circuits that help a plan of at most this makespan are counted as useful");
    if let Some(result) = result {
        let rates = match result.rate_control {
            RateControl::Fair => "max-min fair, without rate control",
            RateControl::Joint => "scheduled: rates are part of the plan",
        };
        facts.add("rates", "rates", rates);
        if result.rate_control == RateControl::Joint {
            facts.sentence(
                "senders must follow the segments of the schedule; otherwise the network shares links fairly",
            );
        }
    }
    Section::new("Job", facts)
}

/// Adds sizes of the model and the layers of its stages.
fn sizes(facts: &mut Facts, model: &Model, run: &RunConfig) {
    facts.number("parameters", "parameters", BILLIONS, parameter_total(model));
    facts.number("flops_per_token", "FLOPs of a token", GFLOPS, flops_per_token(model, run.seq));
    let split = layer_split(model.layers, run.pp);
    facts.add("layers", "layers", model.layers);
    let (least, most) = (split.iter().min().unwrap_or(&0), split.iter().max().unwrap_or(&0));
    let each =
        if least == most { format!("{most} in each stage") } else { format!("{least} or {most} in a stage") };
    let with_experts = (0..model.layers).filter(|layer| model.has_experts(*layer)).count();
    facts.sentence(match model.moe() {
        Some(moe) => {
            format!("{each}; {with_experts} with {} experts, {} for a token", moe.experts, moe.top_k)
        }
        None => each,
    });
}

fn placement(facts: &mut Facts, shape: &Shape) {
    facts.add("replicas", "replicas", shape.replicas * shape.replicas_per_pod);
    if let Some(places) = &shape.places {
        let groups = places.groups.len();
        facts.sentence(if groups == 1 {
            "all of them in the same pods".to_owned()
        } else {
            format!("in {groups} groups that have different pods or ports; each group is planned")
        });
        facts.add("pods", "pods", shape.pods_per_replica);
        facts.sentence(
            "given as ranges of ranks; replicas that share a pod add up their gradients inside the pod",
        );
        facts.add("gpus_per_stage", "GPUs in a stage", shape.gpus_per_stage);
        schedule(facts, shape);
        return;
    }
    if shape.replicas_per_pod > 1 {
        facts.sentence(format!(
            "{} replicas share each pod and add up their gradients inside it",
            shape.replicas_per_pod
        ));
    }
    if let Some(copies) = shape.names.as_ref().map(Vec::len).filter(|copies| *copies > 1) {
        facts.sentence(format!("one of {copies} copies is planned; the others have the same pods and ports"));
    }
    facts.add("pods_per_replica", "pods in a replica", shape.pods_per_replica);
    facts.add("stages_per_pod", "stages in a pod", shape.stages_per_pod);
    facts.add("gpus_per_stage", "GPUs in a stage", shape.gpus_per_stage);
    schedule(facts, shape);
}

fn schedule(facts: &mut Facts, shape: &Shape) {
    if shape.virtual_stages > 1 {
        facts.add("virtual_stages", "chunks of a stage", shape.virtual_stages);
        facts.sentence("1F1B interleaved");
    }
    if shape.dp_buckets > 1 {
        facts.add("dp_buckets", "gradient buckets", shape.dp_buckets);
        facts.sentence("of each stage, last layers first");
    }
}

/// Adds the failed ports, and for each affected pod its working ports compared with the ports that its useful circuits
/// need.
fn failures(facts: &mut Facts, job: &Job, shape: &Shape, instance: &Instance, known: &Setting) {
    if job.failed_ports.is_empty() {
        return;
    }
    facts.add("failed_ports", "failed ports", FailedPort::text(&job.failed_ports));
    let useful = |pod: u32| -> u64 {
        let of = |(link, bound): (&Link, &u32)| {
            let ends = [(link.pod_a.0, link.ports_a), (link.pod_b.0, link.ports_b)];
            let cost: u32 = ends.iter().filter(|(end, _)| *end == pod).map(|(_, cost)| cost).sum();
            u64::from(cost) * u64::from(*bound)
        };
        instance.links.iter().zip(&known.circuit_bounds).map(of).sum()
    };
    let mut kept = Vec::new();
    for (pod, ports) in (0..).zip(&shape.ports) {
        let name = shape.pod_name(pod);
        let failed = job.failed_ports.iter().filter(|failed| failed.pod == name).count() as u64;
        if failed > 0 {
            let (left, useful) = (u64::from(*ports), useful(pod));
            kept.push(if useful > left {
                format!("{name} keeps {left} of {} ports; its useful circuits need {useful}", left + failed)
            } else {
                format!(
                    "{name} keeps {left} of {} ports; its useful circuits need only {useful}",
                    left + failed
                )
            });
        }
    }
    facts.sentence(kept.join("; "));
}

fn contention(facts: &mut Facts, known: &Setting) {
    let contention = &known.evaluator.contention;
    facts.add("tail_exact", "tail-exact", contention.tail_exact());
    let competing = contention.count();
    facts.add("contended_tasks", "tasks that compete", competing);
    if contention.tail_exact() {
        if competing > 0 {
            facts.sentence("all of them at the end of the iteration");
        }
        return;
    }
    let mut reasons: Vec<String> = contention.loose.iter().take(REASONS).map(ToString::to_string).collect();
    if contention.loose.len() > REASONS {
        reasons.push(format!("and {} more reasons", contention.loose.len() - REASONS));
    }
    facts.add("not_tail_exact_because", "because", Cell::new(reasons.join("; ")).tone(Tone::Muted));
}
