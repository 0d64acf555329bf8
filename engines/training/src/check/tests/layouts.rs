//! Layouts that cannot be: for every pair of knobs the reader accepts only what adds up, and the checker judges alike.

use crate::check::job::shape;
use crate::scenario::job::{Job, Measured, MeasuredStage, Order, RunConfig};
use crate::scenario::presets;
use lightbay_core::problem::Problems;

type Knob = (&'static str, fn(&mut RunConfig) -> &mut u32);

const KNOBS: [Knob; 10] = [
    ("tp", |run| &mut run.tp),
    ("cp", |run| &mut run.cp),
    ("pp", |run| &mut run.pp),
    ("ep", |run| &mut run.ep),
    ("etp", |run| &mut run.etp),
    ("gpus", |run| &mut run.gpus),
    ("gpus_per_pod_per_replica", |run| &mut run.gpus_per_pod_per_replica),
    ("micro_batches", |run| &mut run.micro_batches),
    ("virtual_stages", |run| &mut run.virtual_stages),
    ("dp_buckets", |run| &mut run.dp_buckets),
];

const VALUES: [u32; 13] = [1, 2, 3, 4, 6, 7, 8, 16, 32, 64, 128, 256, 4096];

fn measured() -> Job {
    let stage =
        MeasuredStage { fwd_s: 0.1, bwd_s: 0.2, dp_bytes_per_gpu: 1e9, dp_bytes_per_micro_batch: 0.0 };
    let stages = vec![stage; 4];
    let measured = Measured { stages, pp_bytes_per_rank: 1e6, order: Order::default(), replicas: None };
    Job { model: None, measured: Some(measured), ..presets::job("tiny4").unwrap().job() }
}

/// Checks the rules that the sizes of an accepted job have to satisfy.
fn adds_up(job: &Job) -> Result<(), String> {
    let shape = job.shape().map_err(|problems| problems.to_string())?;
    let run = &job.run;
    let (g, stages) = (shape.gpus_per_stage, shape.stages);
    let held: Vec<u32> = (0..shape.pods_per_replica).map(|position| shape.stages_at(position)).collect();
    let model = job.resolved_model().filter(|_| job.measured.is_none());
    let experts = job.resolved_model().and_then(|model| model.moe()).map(|moe| moe.experts);
    let rules = [
        ("stages in a pod are at most those of the pipeline", shape.stages_per_pod <= stages),
        (
            "GPUs of a replica in a pod are those of its stages there",
            g * shape.stages_per_pod == run.gpus_per_pod_per_replica,
        ),
        ("a pod has at most the GPUs of a replica", run.gpus_per_pod_per_replica <= g * stages),
        (
            "every stage is in one pod, and no pod is empty",
            held.iter().sum::<u32>() == stages && !held.contains(&0),
        ),
        ("every GPU runs one stage of one replica", shape.replicas * stages * g == run.gpus),
        ("tensor-parallel ranks tile a stage", shape.dp_in * run.tp * run.cp == g),
        ("expert-parallel ranks tile a stage", g.is_multiple_of(run.ep * run.etp)),
        ("expert ranks have experts", job.model.is_none() || experts.is_some() || run.ep * run.etp == 1),
        (
            "every expert rank has as many experts",
            experts.is_none_or(|experts| experts.is_multiple_of(run.ep)),
        ),
        ("every stage has a layer", model.as_ref().is_none_or(|model| model.layers >= stages)),
        ("every chunk has as many layers", {
            let parts = stages * shape.virtual_stages;
            shape.virtual_stages == 1 || model.as_ref().is_none_or(|model| model.layers.is_multiple_of(parts))
        }),
        ("micro-batches go round an interleaved pipeline", {
            shape.virtual_stages == 1 || stages > 1 && run.micro_batches.is_multiple_of(stages)
        }),
        (
            "every bucket has a layer",
            model.is_none_or(|model| run.dp_buckets == 1 || model.layers / stages >= run.dp_buckets),
        ),
        ("every pod has its ports", shape.ports.len() == shape.pods_per_replica as usize),
    ];
    match rules.iter().find(|(_, kept)| !kept) {
        Some((rule, _)) => Err(format!("accepted, but not so: {rule}")),
        None => Ok(()),
    }
}

/// Returns `true` if what is refused is a layout, not a size that is only beyond a limit.
fn of_layout(problems: &Problems) -> bool {
    let paths = ["gpus", "gpus_per_pod_per_replica", "ep", "etp", "pp", "virtual_stages", "dp_buckets"]
        .map(|key| format!("job.run.{key}"));
    problems
        .list()
        .iter()
        .any(|problem| paths.contains(&problem.path) && !problem.message.contains("but the maximum is"))
}

#[test]
fn for_every_pair_of_knobs_what_is_accepted_adds_up_and_the_checker_judges_alike() {
    let bases = ["tiny4", "mixtral_8x22b", "small_interleaved", "small_buckets"];
    let mut bases: Vec<Job> = bases.iter().map(|name| presets::job(name).unwrap().job()).collect();
    bases.push(measured());
    let (mut accepted, mut refused) = (0, 0);
    for base in &bases {
        for (index, (one, at_one)) in KNOBS.iter().enumerate() {
            for (other, at_other) in &KNOBS[index + 1..] {
                for (first, second) in VALUES.iter().flat_map(|first| VALUES.map(|second| (*first, second))) {
                    let mut job = base.clone();
                    *at_one(&mut job.run) = first;
                    *at_other(&mut job.run) = second;
                    let what = format!("{:?} with {one}={first} {other}={second}", base.model);
                    match job.shape() {
                        Ok(_) => {
                            accepted += 1;
                            adds_up(&job).unwrap_or_else(|why| panic!("{what}: {why}"));
                            shape(&job).unwrap_or_else(|why| panic!("{what}: the checker refuses it: {why}"));
                        }
                        Err(problems) if of_layout(&problems) => {
                            refused += 1;
                            assert!(shape(&job).is_err(), "{what}: the checker lets it pass: {problems}");
                        }
                        Err(_) => {}
                    }
                }
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

#[test]
fn a_pod_larger_than_a_replica_is_refused_with_the_numbers() {
    let mut job = presets::job("small").unwrap().job();
    for gpus in [64, 128, 4096] {
        job.run.gpus_per_pod_per_replica = gpus;
        let said = job.shape().unwrap_err().to_string();
        assert!(
            said.contains(&format!("is '{gpus}', but a replica has 32 GPUs (4 per stage x 8 stages)")),
            "{said}"
        );
        let said = shape(&job).unwrap_err();
        assert!(said.contains(&format!("is {gpus}, more than the 32 GPUs of one replica")), "{said}");
    }
}
