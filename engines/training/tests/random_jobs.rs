//! Random tail-exact jobs: the search with proof against brute force, and replicas against their collapse.
//!
//! The brute force shares nothing with the search: it walks the edges of the instance for the longest path
//! and finds the end of the last transfers of a link from the cut condition of the flow that serves them.
#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use lightbay_core::event::{EndStatus, EventBody};
use lightbay_core::random::{Stream, Streams};
use lightbay_core::testing::Ask;
use lightbay_training::model::collapse::expanded;
use lightbay_training::scenario::instance::Instance;
use lightbay_training::scenario::job::{Job, ModelChoice, PortsPerPod, RunConfig};
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_training::simulate::replicas::expand_plan;
use lightbay_training::{TrainingScenario, methods};
use rand::RngExt;

fn random_job(random: &mut Stream) -> Job {
    let (tp, pp) = (random.random_range(1..=4), random.random_range(4..=8));
    let stages_per_pod = random.random_range(2..=3);
    let replicas = random.random_range(2..=4);
    let micro_batches = random.random_range(2..=8);
    let mut run = RunConfig::of(tp, pp, tp * pp * replicas, tp * stages_per_pod, micro_batches);
    run.bandwidth_gbps = f64::from(random.random_range(50..=1600));
    run.seq = [1024, 4096, 16384][random.random_range(0..3)];
    Job {
        model: Some(ModelChoice::Preset("gpt_7b".to_owned())),
        run,
        pods: None,
        failed_ports: Vec::new(),
        ports_per_pod: Some(PortsPerPod::Same(random.random_range(2..=6))),
        reverse: random.random(),
        measured: None,
        reconfiguration: None,
    }
}

/// The valid ones among random jobs.
fn jobs(seed: u64, count: usize) -> Vec<(Job, Instance)> {
    let mut random = Streams::new(seed).stream(0);
    std::iter::from_fn(|| Some(random_job(&mut random)))
        .filter_map(|job| {
            let instance = TrainingScenario::Job(job.clone()).build().ok()?.instance;
            Some((job, instance))
        })
        .take(count)
        .collect()
}

/// Joint optimum for fixed circuits, from first principles.
fn joint_makespan(instance: &Instance, x: &[u32]) -> f64 {
    let n = instance.tasks.len();
    let rate = instance.nic_bandwidth_gbps * 1.25e8;
    let link_of = |task: usize| {
        let (a, b) = (instance.tasks[task].src_pod, instance.tasks[task].dst_pod);
        instance
            .links
            .iter()
            .position(|l| (l.pod_a, l.pod_b) == (a, b) || (l.pod_a, l.pod_b) == (b, a))
            .unwrap()
    };
    let alone: Vec<f64> = (0..n)
        .map(|t| {
            let task = &instance.tasks[t];
            task.volume_bytes / (f64::from(task.flows.min(x[link_of(t)])) * rate)
        })
        .collect();
    // Longest path by repeated relaxation.
    let mut start: Vec<f64> = instance.tasks.iter().map(|task| task.release_s).collect();
    loop {
        let mut changed = false;
        for edge in &instance.edges {
            let (u, v) = (edge.pred.index(), edge.succ.index());
            let ready = start[u] + alone[u] + edge.delay_s;
            if ready > start[v] {
                start[v] = ready;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let has_successor = |t: usize| instance.edges.iter().any(|edge| edge.pred.index() == t);
    let mut end: f64 = (0..n).map(|t| start[t] + alone[t] + instance.tasks[t].tail_s).fold(0.0, f64::max);
    for (link, circuits) in x.iter().enumerate() {
        for source in [instance.links[link].pod_a, instance.links[link].pod_b] {
            let sinks: Vec<usize> = (0..n)
                .filter(|&t| link_of(t) == link && instance.tasks[t].src_pod == source && !has_successor(t))
                .collect();
            // Any set of sinks must fit between its releases and the end: max-flow = min-cut.
            for set in 1u32..1 << sinks.len() {
                let members: Vec<usize> =
                    (0..sinks.len()).filter(|i| set >> i & 1 == 1).map(|i| sinks[i]).collect();
                end = end.max(earliest_end(instance, &members, &start, f64::from(*circuits), rate));
            }
        }
    }
    end
}

/// Returns the earliest end of a set of tasks if nobody else is there and rates within the set are free.
fn earliest_end(instance: &Instance, members: &[usize], start: &[f64], circuits: f64, rate: f64) -> f64 {
    let mut volume: f64 = members.iter().map(|&t| instance.tasks[t].volume_bytes / rate).sum();
    let mut order = members.to_vec();
    order.sort_by(|&a, &b| start[a].total_cmp(&start[b]));
    let mut flows = 0.0;
    for (index, &task) in order.iter().enumerate() {
        flows += f64::from(instance.tasks[task].flows);
        let speed = f64::min(flows, circuits);
        let next = order.get(index + 1).map_or(f64::INFINITY, |&t| start[t]);
        let span = next - start[task];
        if volume <= speed * span {
            return start[task] + volume / speed;
        }
        volume -= speed * span;
    }
    unreachable!("the last span has no end")
}

fn feasible_vectors(instance: &Instance) -> Vec<Vec<u32>> {
    let most = instance.pods.iter().filter(|pod| !pod.mirror).map(|pod| pod.ports).max().unwrap();
    let mut vectors: Vec<Vec<u32>> = vec![vec![]];
    for _ in &instance.links {
        vectors = vectors
            .iter()
            .flat_map(|head| (1..=most).map(move |circuits| [head.as_slice(), &[circuits]].concat()))
            .filter(|x| {
                instance.pods.iter().filter(|pod| !pod.mirror).all(|pod| {
                    let used: u32 = instance
                        .links
                        .iter()
                        .zip(x)
                        .map(|(link, circuits)| {
                            let a = if link.pod_a == pod.id { link.ports_a } else { 0 };
                            let b = if link.pod_b == pod.id { link.ports_b } else { 0 };
                            (a + b) * circuits
                        })
                        .sum();
                    used <= pod.ports
                })
            })
            .collect();
    }
    vectors
}

#[test]
fn the_proven_optimum_is_that_of_brute_force() {
    let mut several = 0;
    for (index, (job, instance)) in jobs(7, 200).into_iter().enumerate() {
        let vectors = feasible_vectors(&instance);
        several += usize::from(vectors.len() > 1);
        let optimum = vectors.iter().map(|x| joint_makespan(&instance, x)).fold(f64::INFINITY, f64::min);
        let ask = Ask::of(&methods::all(), "delta-joint", TrainingScenario::Job(job.clone()));
        let near = 1e-9 * optimum;
        let (mut bound, mut incumbent, mut ended) = (0.0, f64::INFINITY, false);
        for event in ask.run().events {
            match event.body {
                EventBody::Bound(stated) => bound = stated.value,
                EventBody::Incumbent(found) => incumbent = found.value,
                EventBody::Done(done) => {
                    assert_eq!(done.status, EndStatus::Optimal, "job {index}: {} {job:?}", done.message);
                    assert!((done.value.unwrap() - optimum).abs() <= near, "job {index} {job:?}");
                    ended = true;
                }
                _ => {}
            }
            assert!(bound <= optimum + near, "job {index}: bound {bound} above {optimum}");
            assert!(incumbent >= optimum - near, "job {index}: incumbent {incumbent} below {optimum}");
        }
        assert!(ended, "job {index}");
    }
    assert!(several > 150, "only {several} jobs have a choice");
}

#[test]
fn evaluation_agrees_with_first_principles_for_every_vector() {
    let mut scratch = Scratch::default();
    for (job, instance) in jobs(8, 60) {
        let evaluator = Evaluator::new(&instance).unwrap();
        assert!(evaluator.exact(Rates::Level));
        for x in feasible_vectors(&instance) {
            let expected = joint_makespan(&instance, &x);
            let joint = evaluator.makespan(&x, Rates::Level, &mut scratch);
            assert!((joint - expected).abs() <= 1e-9 * expected, "{x:?}: {joint}, not {expected}; {job:?}");
            assert!(joint <= evaluator.makespan(&x, Rates::Fair, &mut scratch) + 1e-12);
        }
    }
}

#[test]
fn all_replicas_together_take_as_long_as_one() {
    let mut scratch = Scratch::default();
    let mut random = Streams::new(5).stream(1);
    for (job, instance) in jobs(9, 60) {
        // An odd stage on a ring of more than two sends a flow more one way than the other.
        let evaluator = Evaluator::new(&instance).unwrap();
        let vectors = feasible_vectors(&instance);
        let x = &vectors[random.random_range(0..vectors.len())];
        for rates in [Rates::Fair, Rates::Level] {
            let plan = methods::candidate(&evaluator, x, rates);
            let (all, result) = expand_plan(&job, &plan.result).unwrap();
            assert_eq!(all, expanded(&job).unwrap());
            let whole = Evaluator::new(&all).unwrap();
            assert!(whole.exact(rates), "{:?}", whole.contention.loose);
            let makespan = whole.makespan(&result.circuits(), rates, &mut scratch);
            assert!((makespan - plan.value).abs() <= 1e-12 * plan.value, "{rates:?} {job:?}");
        }
    }
}

#[test]
fn the_search_over_all_replicas_proves_the_same_optimum() {
    use lightbay_core::watch::Unwatched;
    use lightbay_training::programs::circuit_bounds::circuit_bounds;
    use lightbay_training::search::allocations::{VectorTask, search};
    use lightbay_training::simulate::windows::Windows;
    for (job, instance) in jobs(10, 25) {
        let best = |instance: &Instance| {
            let evaluator = Evaluator::new(instance).unwrap();
            let x = vec![1; evaluator.network.links()];
            let limit = evaluator.makespan(&x, Rates::Fair, &mut Scratch::default()) * (1.0 + 1e-4);
            let caps = circuit_bounds(&evaluator.network, &Windows::new(&evaluator.network, limit));
            let proof =
                search(VectorTask::new(&evaluator, Rates::Level, &caps), None, &mut Unwatched::default());
            let proof = proof.unwrap();
            assert!(!proof.cut_short, "{} links", x.len());
            proof.best.unwrap().makespan
        };
        let (one, all) = (best(&instance), best(&expanded(&job).unwrap()));
        assert!((one - all).abs() <= 1e-12 * one, "{one} and {all}: {job:?}");
    }
}
