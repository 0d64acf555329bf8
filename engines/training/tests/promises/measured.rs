//! Changes of a job with measured figures against the same changes of the job that is described by its model.

use super::support::preset;
use lightbay_core::param::{Domain, ParamInfo, Setting};
use lightbay_core::record::Record as _;
use lightbay_training::TrainingScenario;
use lightbay_training::scenario::instance::Instance;
use lightbay_training::scenario::job::{Job, Measured, MeasuredStage, Model, Order};
use lightbay_training::scenario::knobs::job_knobs;
use lightbay_training::scenario::workload::Workload;
use lightbay_training::simulate::evaluate::Evaluator;

/// A job with the figures of a model as if they were measured.
fn measured(job: &Job) -> Job {
    let load = Workload::of(job, &job.shape().unwrap()).unwrap();
    let stages = load.stages.iter().map(|stage| MeasuredStage {
        fwd_s: stage.fwd_s,
        bwd_s: stage.bwd_s,
        dp_bytes_per_gpu: stage.dp_bytes_per_gpu,
        dp_bytes_per_micro_batch: 0.0,
    });
    let pp_bytes_per_rank = load.pp_volume_bytes / f64::from(job.shape().unwrap().gpus_per_stage);
    let order = Order::OneForwardOneBackward;
    let measured = Measured { stages: stages.collect(), pp_bytes_per_rank, order, replicas: None };
    Job { measured: Some(measured), ..job.clone() }
}

fn changed(job: &Job, name: &str, text: &str) -> Result<TrainingScenario, String> {
    let mut scenario = TrainingScenario::Job(job.clone());
    let setting = Setting { name: name.to_owned(), index: None, text: text.to_owned() };
    scenario.apply(&setting).map_err(|problem| problem.to_string())?;
    scenario.validate().map_err(|problems| problems.to_string())?;
    Ok(scenario)
}

fn values(info: &ParamInfo, now: &TrainingScenario) -> Vec<String> {
    let present = now.get(&info.name);
    match &info.domain {
        Domain::Bool => vec!["true".to_owned(), "false".to_owned()],
        Domain::Choice { names } => names.iter().map(ToString::to_string).collect(),
        Domain::Float { .. } => {
            let value = present.and_then(|value| value.as_f64()).unwrap_or(400.0);
            [0.1, 0.5, 2.0, 10.0].map(|factor| (value * factor).to_string()).to_vec()
        }
        _ => {
            let value = present.and_then(|value| value.as_i64()).unwrap_or(4);
            [1, 2, 3, 4, 8, value / 2, value + 1, 2 * value, 4 * value]
                .map(|value| value.max(1).to_string())
                .to_vec()
        }
    }
}

fn instance(scenario: &TrainingScenario) -> Instance {
    scenario.build().unwrap().instance
}

fn same(one: &Instance, other: &Instance) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    one.pods == other.pods
        && one.links == other.links
        && one.tasks.len() == other.tasks.len()
        && one.edges.len() == other.edges.len()
        && one
            .tasks
            .iter()
            .zip(&other.tasks)
            .all(|(a, b)| a.name == b.name && close(a.volume_bytes, b.volume_bytes))
        && one.edges.iter().zip(&other.edges).all(|(a, b)| close(a.delay_s, b.delay_s))
}

/// Iteration without any limit by circuits.
fn ideal_s(scenario: &TrainingScenario) -> f64 {
    let built = scenario.build().unwrap();
    if built.instance.tasks.is_empty() {
        return built.compute_s().unwrap();
    }
    Evaluator::new(&built.instance).unwrap().ideal.makespan()
}

/// What a change does to the iteration: longer, shorter or neither.
fn direction(before: f64, after: f64) -> i8 {
    match (after - before) / before {
        change if change > 1e-9 => 1,
        change if change < -1e-9 => -1,
        _ => 0,
    }
}

#[test]
fn every_parameter_changes_a_measured_job_as_it_changes_the_model_or_is_refused() {
    let (mut alike, mut refused) = (0, Vec::new());
    for name in ["tiny4", "mixtral_8x22b", "megatron_177b"] {
        let by_model = preset(name);
        let twin = measured(&by_model);
        // Imported jobs name no model, so that buckets are equal parts of a stage.
        let nameless = Job { model: None, ..twin.clone() };
        let before = TrainingScenario::Job(by_model.clone());
        assert!(same(&instance(&before), &instance(&TrainingScenario::Job(twin.clone()))), "{name}");
        for info in job_knobs() {
            for text in values(info, &before) {
                let case = format!("{name}: {}={text}", info.name);
                let Ok(expected) = changed(&by_model, &info.name, &text) else { continue };
                match changed(&twin, &info.name, &text) {
                    Ok(scenario) => {
                        assert!(same(&instance(&expected), &instance(&scenario)), "{case}");
                        alike += 1;
                    }
                    Err(_) => refused.push(info.name.as_ref()),
                }
                if let Ok(scenario) = changed(&nameless, &info.name, &text) {
                    let turn = |scenario| direction(ideal_s(&before), ideal_s(scenario));
                    assert_eq!(turn(&expected), turn(&scenario), "{case}");
                }
            }
        }
    }
    refused.sort_unstable();
    refused.dedup();
    let replaced = [
        "act_bytes",
        "balance",
        "bwd_ratio",
        "ep",
        "etp",
        "gather_bytes",
        "grad_bytes",
        "mfu",
        "recompute",
        "zero",
    ];
    let others = ["micro_batch_size", "model", "peak_tflops", "pp", "seq", "tp", "cp"];
    let mut expected = [&replaced[..], &others].concat();
    expected.sort_unstable();
    // Every size of a model that can be changed at all is one of those that figures replace.
    let (sizes, refused): (Vec<&str>, Vec<&str>) =
        refused.iter().partition(|name| Model::KEYS.contains(name));
    assert_eq!(refused, expected);
    assert!(sizes.len() > 10, "{sizes:?}");
    assert!(alike > 60, "{alike}");
}

#[test]
fn gradients_follow_the_replicas_there_and_back() {
    // Two replicas: half of the gradients of a GPU cross; of four, three quarters.
    let by_model = preset("tiny4");
    let twin = measured(&by_model);
    let bytes = |scenario: &TrainingScenario| {
        let TrainingScenario::Job(job) = scenario else { panic!("a job") };
        Workload::of(job, &job.shape().unwrap()).unwrap().stages[0].dp_bytes_per_gpu
    };
    let two = bytes(&TrainingScenario::Job(twin.clone()));
    let gpus = by_model.run.gpus;
    assert_eq!(by_model.run.replicas(), 2);
    let four = changed(&twin, "gpus", &(2 * gpus).to_string()).unwrap();
    assert!((bytes(&four) - 1.5 * two).abs() < 1e-9 * two, "{} {two}", bytes(&four));
    let TrainingScenario::Job(four) = four else { panic!("a job") };
    let one = changed(&four, "gpus", &(gpus / 2).to_string()).unwrap();
    assert_eq!(bytes(&one), 0.0);
    let TrainingScenario::Job(one) = one else { panic!("a job") };
    assert_eq!(bytes(&changed(&one, "gpus", &gpus.to_string()).unwrap()), two);
}

#[test]
fn a_layout_that_was_measured_is_refused_with_the_reason() {
    let twin = measured(&preset("mixtral_8x22b"));
    let (tp, ep, pp) = (twin.run.tp, twin.run.ep, twin.run.pp);
    for (name, value) in [("tp", tp), ("ep", ep), ("pp", pp), ("etp", twin.run.etp)] {
        let said = changed(&twin, name, &(2 * value).to_string()).unwrap_err();
        let reason = format!(
            "{name}: cannot change: the times and volumes were measured with {name} {value}; import a workload of that \
             layout, or leave out `measured` to plan for a model"
        );
        assert_eq!(said, reason);
    }
    let one = Job {
        run: lightbay_training::scenario::job::RunConfig {
            gpus: twin.run.gpus / twin.run.replicas(),
            ..twin.run
        },
        ..twin
    };
    let said = changed(&one, "gpus", &(2 * one.run.gpus).to_string()).unwrap_err();
    assert!(said.starts_with("job.run.gpus: gives 2 replicas, but a single replica was measured"), "{said}");
}
