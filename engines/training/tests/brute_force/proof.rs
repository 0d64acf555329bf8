//! `optimal` is said only when every vector that was not evaluated is known to be no better.

use super::ask::solve;
use super::reference::Reference;
use lightbay_core::event::{EndStatus, EventBody, SolverStats};
use lightbay_core::random::Streams;
use lightbay_training::TrainingScenario;
use lightbay_training::scenario::job::{Job, PortsPerPod};
use lightbay_training::scenario::presets;
use rand::RngExt;

/// Vectors of through links that need an evaluation: with all that is left given to the others, their bound (by our
/// own count) is below the optimum.
fn undecided(body: &TrainingScenario, optimum: f64) -> (u64, u64) {
    let instance = body.build().unwrap().instance;
    let reference = Reference::new(&instance);
    let through = reference.through();
    let mut caps = vec![1; instance.links.len()];
    for &link in &through {
        caps[link] = reference.widest()[link];
    }
    let vectors = reference.vectors(&caps);
    let open = vectors.iter().filter(|x| {
        let mut full = (*x).clone();
        for link in (0..full.len()).filter(|link| !through.contains(link)) {
            while reference.fits(&full) {
                full[link] += 1;
            }
            full[link] -= 1;
        }
        reference.quick_bound(&full) < optimum * (1.0 - 1e-12)
    });
    (open.count() as u64, vectors.len() as u64)
}

fn assert_proven(body: &TrainingScenario, what: &str) -> (u64, u64) {
    let (done, said) = solve(body.clone(), "delta-joint", &[]);
    assert_eq!(done.status, EndStatus::Optimal, "{what}");
    let optimum = done.value.unwrap();
    let stats: Vec<&SolverStats> = said
        .iter()
        .filter_map(|body| match body {
            EventBody::Solver(stats) => Some(stats),
            _ => None,
        })
        .collect();
    let last = *stats.last().unwrap();
    assert_eq!((last.unit.as_str(), last.open), ("allocs", Some(0)), "{what}");
    if let Some(next) = last.next_bound {
        assert!(next >= optimum, "{what}: a vector with bound {next} was not looked at, plan {optimum}");
    }
    let (open, all) = undecided(body, optimum);
    assert_eq!(last.total, Some(all), "{what}");
    // The best plan known needs no second evaluation.
    assert!(last.done + 1 >= open, "{what}: {} evaluated, {open} of {all} undecided", last.done);
    // Bounds only ever rise, and never above what is still open.
    let bounds = said.iter().filter_map(|body| match body {
        EventBody::Bound(bound) => Some(bound.value),
        _ => None,
    });
    let bounds: Vec<f64> = bounds.collect();
    let near = optimum * (1.0 + 1e-12);
    assert!(bounds.is_sorted() && bounds.iter().all(|bound| *bound <= near), "{what}: {bounds:?}, {optimum}");
    assert!(done.bound.unwrap() == optimum, "{what}: the plan meets its bound, but for rounding");
    (last.done, all)
}

#[test]
fn of_the_built_in_jobs() {
    // Evaluations until the proof closes are few, but not fewer than needed.
    let mut seen = Vec::new();
    for name in ["tiny4", "small", "megatron_177b", "mixtral_8x22b", "megatron_462b", "deepseek_671b"] {
        let body = TrainingScenario::Job(presets::job(name).unwrap().job());
        seen.push(assert_proven(&body, name));
    }
    let totals: Vec<u64> = seen.iter().map(|(_, all)| *all).collect();
    assert_eq!(totals, [2, 45, 61, 497, 512, 512]);
    assert!(seen.iter().all(|(done, _)| *done <= 5), "{seen:?}");
}

#[test]
fn of_jobs_with_few_ports_and_any_bandwidth() {
    let mut random = Streams::new(21).stream(0);
    let mut several = 0;
    for index in 0..60 {
        let name = ["small", "megatron_177b", "deepseek_671b"][index % 3];
        let mut job: Job = presets::job(name).unwrap().job();
        job.run.bandwidth_gbps = random.random_range(50.0..800.0);
        job.run.seq = [1024, 4096, 16_384][random.random_range(0..3)];
        job.ports_per_pod = Some(PortsPerPod::Same(random.random_range(6..=24)));
        let what = format!("{name} {:?} {:?}", job.run, job.ports_per_pod);
        let (done, _) = assert_proven(&TrainingScenario::Job(job), &what);
        several += usize::from(done > 1);
    }
    assert!(several > 10, "only {several} needed more than one evaluation");
}
