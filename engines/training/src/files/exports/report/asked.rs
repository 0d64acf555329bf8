//! What was asked: the knobs of the scenario, its size, and the settings of the method.

use super::super::facts::Facts;
use crate::scenario::job::ModelChoice;
use crate::{Training, TrainingScenario};
use lightbay_core::plan::Plan;
use lightbay_core::problem::counted;
use lightbay_formats::markdown::{Document, text as safe};

pub(super) fn write(document: &mut Document, plan: &Plan<Training>, facts: &Facts) {
    let mut points = Vec::new();
    if let TrainingScenario::Job(job) = &plan.scenario.body {
        let model = match (&job.model, &job.measured) {
            (_, Some(_)) => "with measured times".to_owned(),
            (Some(ModelChoice::Preset(name)), None) => format!("of model {}", safe(name)),
            (Some(ModelChoice::Inline(_)) | None, None) => "of a model of its own".to_owned(),
        };
        let run = &job.run;
        points.push(format!(
            "A job {model} on {}: tensor parallel {}, {}, {}{}.",
            counted(run.gpus.into(), "GPU", "GPUs"),
            run.tp,
            counted(run.pp.into(), "pipeline stage", "pipeline stages"),
            counted(run.micro_batches.into(), "micro-batch", "micro-batches"),
            match &job.measured {
                Some(_) => String::new(),
                None => format!(" of {} × {} tokens", run.micro_batch_size, run.seq),
            }
        ));
        if let Ok(shape) = job.shape() {
            points.push(format!(
                "{} of {}, {} in each pod.",
                counted(shape.replicas.into(), "replica", "replicas"),
                counted(shape.pods_per_replica.into(), "pod", "pods"),
                counted(shape.stages_per_pod.into(), "stage", "stages")
            ));
        }
    }
    let instance = facts.instance();
    points.push(format!(
        "{} between pods and {} between them; compute and everything inside a pod are delays of these.",
        counted(instance.tasks.len() as u64, "transfer", "transfers"),
        counted(instance.edges.len() as u64, "dependency", "dependencies")
    ));
    points.push(format!(
        "A NIC and a circuit carry {} Gb/s in each direction.",
        lightbay_core::quantity::number(instance.nic_bandwidth_gbps)
    ));
    document.list(&points);
    let body = &plan.scenario.body;
    let idle = body.idle();
    let rows: Vec<Vec<String>> = body
        .knobs()
        .iter()
        .filter(|info| idle.iter().all(|problem| problem.path != info.name))
        .filter_map(|info| {
            let value = plan.scenario.body.get(&info.name)?;
            let unit = if info.unit.is_empty() { String::new() } else { format!(" {}", info.unit) };
            Some(vec![format!("`{}`", info.name), safe(&format!("{value}{unit}")), safe(&info.help)])
        })
        .collect();
    if !rows.is_empty() {
        document.table(&["parameter", ">value", "what it is"], &rows);
    }
}
