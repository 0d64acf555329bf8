//! What a training scenario or plan amounts to: sizes, contention, useful circuits, and of a plan its circuits,
//! ports and schedule.

use crate::cli::quantity;
use crate::cli::table::Table;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_core::scenario::Scenario;
use lightbay_engines::training::analysis::{AnalysisError, Setting};
use lightbay_engines::training::instance::{Instance, LinkKind};
use lightbay_engines::training::scenario::Built;
use lightbay_engines::training::scenario::job::Job;
use lightbay_engines::training::{Training, TrainingScenario};
use serde_json::{Value, json};
use std::fmt::Write as _;

mod loss;
pub mod shared;
mod worth;

use loss::Loss;
use worth::Worth;

/// Rows of the schedule that are shown.
const FIRST_TASKS: usize = 12;

/// Reasons why a scenario is not tail-exact that are spelled out.
const REASONS: usize = 3;

/// Everything that is shown, computed once for both forms.
pub struct Figures<'a> {
    job: Option<&'a Job>,
    built: Built,
    plan: Option<&'a Plan<Training>>,
    /// What only scenarios with inter-pod tasks have.
    known: Option<Setting>,
    /// Why the plan is not ideal.
    loss: Option<Loss>,
    /// Of a plan, if it was not left out.
    worth: Option<Worth>,
}

impl<'a> Figures<'a> {
    /// Computes the figures.
    pub fn of(
        scenario: &'a Scenario<Training>,
        plan: Option<&'a Plan<Training>>,
        thorough: bool,
    ) -> Result<Self, Problems> {
        let job = match &scenario.body {
            TrainingScenario::Job(job) => Some(job),
            TrainingScenario::Instance(_) | TrainingScenario::Shared(_) => None,
        };
        let built = scenario.body.build()?;
        let known = if built.instance.tasks.is_empty() { None } else { Some(setting(&scenario.body)?) };
        let loss = match (&known, plan) {
            (Some(known), Some(plan)) => Some(Loss::of(known, plan)?),
            _ => None,
        };
        let worth = match (&known, plan) {
            (Some(known), Some(plan)) => Worth::of(&scenario.body, known, plan, thorough)?,
            _ => None,
        };
        Ok(Self { job, built, plan, known, loss, worth })
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = write!(out, "{}", self.sizes());
        if let Some(known) = &self.known {
            let _ = write!(out, "\nPods\n{}\nLinks\n{}", self.pods(known), self.links(known));
            if let Some(plan) = self.plan {
                let _ = write!(
                    out,
                    "\nSchedule, {} of {} tasks\n{}",
                    FIRST_TASKS.min(plan.result.tasks.len()),
                    plan.result.tasks.len(),
                    self.schedule(known, plan)
                );
                out.extend(self.loss.as_ref().map(Loss::text));
                let worth = match &self.worth {
                    Some(worth) => worth.text(&self.built.instance),
                    None => "\nPrices and robustness take longer: `show --thorough`\n".to_owned(),
                };
                out.push_str(&worth);
            }
        }
        out
    }

    fn sizes(&self) -> Table {
        let mut table = Table::new(&["", ""]);
        let mut row = |name: &str, value: String| table.row([format!("  {name:<14}"), value]);
        if let Some(job) = self.job {
            let run = &job.run;
            row(
                "job",
                format!(
                    "tp {}, pp {}, ep {}, {}, {}{}, {} Gb/s",
                    run.tp,
                    run.pp,
                    run.ep,
                    counted(run.gpus.into(), "GPU", "GPUs"),
                    counted(run.micro_batches.into(), "micro-batch", "micro-batches"),
                    match &job.measured {
                        Some(_) => " with measured times and volumes".to_owned(),
                        None => format!(" of {} x {} tokens", run.micro_batch_size, run.seq),
                    },
                    run.bandwidth_gbps
                ),
            );
        }
        if let Some(job) = &self.built.job {
            let shape = &job.shape;
            row(
                "placement",
                format!(
                    "{} of {}, {} in a pod, {} in a stage",
                    counted(shape.replicas.into(), "replica", "replicas"),
                    counted(shape.pods_per_replica.into(), "pod", "pods"),
                    counted(shape.stages_per_pod.into(), "stage", "stages"),
                    counted(shape.gpus_per_stage.into(), "GPU", "GPUs")
                ),
            );
            if shape.virtual_stages > 1 {
                let each = format!("1F1B interleaved over {} chunks of each stage", shape.virtual_stages);
                row("schedule", each);
            }
            if shape.dp_buckets > 1 {
                let each = format!("{} buckets of each stage, last layers first", shape.dp_buckets);
                row("gradients", each);
            }
            row("full DAG", format!("{} nodes in a replica", job.full_dag_nodes));
        }
        let instance = &self.built.instance;
        let Some(known) = &self.known else {
            row("tasks", "none crosses pods: circuits do not matter".to_owned());
            if let Some(compute_s) = self.built.compute_s() {
                row("iteration", format!("{} s of compute", quantity::number(compute_s)));
            }
            row("NCT", "- (nothing is communicated)".to_owned());
            return table;
        };
        row("tasks", format!("{} between pods, {} edges", instance.tasks.len(), instance.edges.len()));
        let ideal = &known.evaluator.ideal;
        row(
            "ideal",
            format!(
                "{} s, of which {} s are communication on the critical path",
                quantity::number(ideal.makespan()),
                quantity::number(ideal.path.comm)
            ),
        );
        row("ports", format!("{} in all real pods", known.evaluator.network.budget.capacity()));
        let contention = &known.evaluator.contention;
        if contention.tail_exact() {
            let how = match contention.count() {
                0 => "yes: no tasks compete".to_owned(),
                count => format!("yes: {count} tasks compete, all of them at the end"),
            };
            row("tail-exact", how);
        } else {
            row("tail-exact", format!("no: {} tasks compete", contention.count()));
            for reason in contention.loose.iter().take(REASONS) {
                row("", reason.to_string());
            }
            if contention.loose.len() > REASONS {
                row("", format!("and {} reasons more", contention.loose.len() - REASONS));
            }
        }
        row(
            "useful",
            format!(
                "circuits that help a plan of at most {} s are counted below",
                quantity::number(known.limit_s)
            ),
        );
        if let Some(plan) = self.plan {
            let control = match plan.result.rate_control {
                lightbay_engines::training::plan::RateControl::Fair => "fair: max-min, without rate control",
                lightbay_engines::training::plan::RateControl::Joint => "joint: rates are part of the plan",
            };
            row("rates", control.to_owned());
        }
        table
    }

    fn pods(&self, known: &Setting) -> String {
        let instance = &self.built.instance;
        let free = self.plan.map(|plan| known.evaluator.network.budget.free(&plan.result.circuits()));
        let mut table = match free {
            None => Table::new(&["  pod", ">ports"]),
            Some(_) => Table::new(&["  pod", ">ports", ">used", ">free"]),
        };
        for (index, pod) in instance.pods.iter().enumerate().filter(|(_, pod)| !pod.mirror) {
            let mut cells = vec![format!("  {}", printable(&pod.name)), pod.ports.to_string()];
            if let Some(free) = free.as_ref().and_then(|free| free.get(index)) {
                cells.push((i64::from(pod.ports) - free).to_string());
                cells.push(free.to_string());
            }
            table.row(cells);
        }
        let mirrors = instance.pods.iter().filter(|pod| pod.mirror).count();
        let mirrors =
            if mirrors > 0 { format!("  and {mirrors} mirrors of ring neighbours\n") } else { String::new() };
        format!("{table}{mirrors}")
    }

    fn links(&self, known: &Setting) -> Table {
        let instance = &self.built.instance;
        let network = &known.evaluator.network;
        let mut table =
            Table::new(&["  link", "pods", "kind", ">tasks", ">volume", ">fit", ">useful", ">circuits"]);
        for (index, link) in instance.links.iter().enumerate() {
            let tasks: Vec<u32> = network.carried[2 * index..2 * index + 2].concat();
            let volume = tasks.iter().fold(0.0, |sum, task| sum + network.volume[*task as usize]);
            let circuits = self.plan.and_then(|plan| plan.result.circuits().get(index).copied());
            table.row([
                format!("  {index}"),
                format!(
                    "{} - {}",
                    pod_name(instance, link.pod_a.index()),
                    pod_name(instance, link.pod_b.index())
                ),
                kind_word(link.kind).to_owned(),
                tasks.len().to_string(),
                format!("{:.2} GB", volume / 1e9),
                network.budget.limit(index).to_string(),
                known.circuit_bounds[index].to_string(),
                circuits.map_or_else(|| "-".to_owned(), |circuits| circuits.to_string()),
            ]);
        }
        table
    }

    fn schedule(&self, known: &Setting, plan: &Plan<Training>) -> Table {
        let instance = &self.built.instance;
        let network = &known.evaluator.network;
        let mut order: Vec<usize> = (0..plan.result.tasks.len()).collect();
        let start = |index: &usize| plan.result.tasks[*index].start_s;
        order.sort_by(|a, b| start(a).total_cmp(&start(b)).then(a.cmp(b)));
        let mut table = Table::new(&["  task", "pods", ">start", ">finish", ">rate"]);
        for index in order.into_iter().take(FIRST_TASKS) {
            let schedule = &plan.result.tasks[index];
            let task = &instance.tasks[index];
            // Mean rate in NICs: 1 is one flow at full speed.
            let seconds = schedule.finish_s - schedule.start_s;
            let rate = if seconds > 0.0 { task.volume_bytes / seconds / network.rate } else { 0.0 };
            table.row([
                format!("  {}", printable(&task.name)),
                format!(
                    "{} > {}",
                    pod_name(instance, task.src_pod.index()),
                    pod_name(instance, task.dst_pod.index())
                ),
                format!("{:.6} s", schedule.start_s),
                format!("{:.6} s", schedule.finish_s),
                format!("{rate:.2} of {}", task.flows),
            ]);
        }
        table
    }

    /// As data.
    pub fn json(&self) -> Value {
        let instance = &self.built.instance;
        let shape = self.built.job.as_ref().map(|job| {
            json!({
                "replicas": job.shape.replicas,
                "pods_per_replica": job.shape.pods_per_replica,
                "stages_per_pod": job.shape.stages_per_pod,
                "gpus_per_stage": job.shape.gpus_per_stage,
                "virtual_stages": job.shape.virtual_stages,
                "dp_buckets": job.shape.dp_buckets,
                "full_dag_nodes": job.full_dag_nodes,
            })
        });
        let mut value = json!({
            "shape": shape,
            "tasks": instance.tasks.len(),
            "edges": instance.edges.len(),
            "compute_s": self.built.compute_s(),
        });
        let Some(known) = &self.known else { return value };
        let evaluator = &known.evaluator;
        let circuits = self.plan.map(|plan| plan.result.circuits());
        let free = circuits.as_ref().map(|circuits| evaluator.network.budget.free(circuits));
        let reasons: Vec<String> = evaluator.contention.loose.iter().map(ToString::to_string).collect();
        value["ideal_makespan_s"] = json!(evaluator.ideal.makespan());
        value["ideal_communication_s"] = json!(evaluator.ideal.path.comm);
        value["total_ports"] = json!(evaluator.network.budget.capacity());
        value["tail_exact"] = json!(evaluator.contention.tail_exact());
        value["not_tail_exact_because"] = json!(reasons);
        value["contended_tasks"] = json!(evaluator.contention.count());
        value["makespan_limit_s"] = json!(known.limit_s);
        if let Some(loss) = &self.loss {
            value["loss"] = loss.json();
        }
        if let Some(worth) = &self.worth {
            (value["prices"], value["robustness"]) = worth.json();
        }
        value["pods"] = instance
            .pods
            .iter()
            .enumerate()
            .map(|(index, pod)| {
                let used = free.as_ref().filter(|_| !pod.mirror).map(|free| i64::from(pod.ports) - free[index]);
                json!({ "id": index, "name": pod.name, "ports": pod.ports, "mirror": pod.mirror, "used": used })
            })
            .collect();
        value["links"] = instance
            .links
            .iter()
            .enumerate()
            .map(|(index, link)| {
                json!({
                    "id": index,
                    "pod_a": link.pod_a.index(),
                    "pod_b": link.pod_b.index(),
                    "kind": kind_word(link.kind),
                    "fit": evaluator.network.budget.limit(index),
                    "useful": known.circuit_bounds[index],
                    "circuits": circuits.as_ref().and_then(|circuits| circuits.get(index)),
                })
            })
            .collect();
        value
    }
}

fn setting(scenario: &TrainingScenario) -> Result<Setting, Problems> {
    Setting::new(scenario).map_err(|error| match error {
        AnalysisError::Scenario(problems) => problems,
        other => Problem::new("", other.to_string(), "correct the scenario").into(),
    })
}

fn pod_name(instance: &Instance, index: usize) -> String {
    instance.pods.get(index).map_or_else(|| index.to_string(), |pod| printable(&pod.name))
}

const fn kind_word(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Pp => "pp",
        LinkKind::Dp => "dp",
        LinkKind::Mixed => "mixed",
    }
}
