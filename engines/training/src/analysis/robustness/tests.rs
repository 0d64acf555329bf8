#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use super::*;
use crate::model::collapse::expanded;
use crate::model::samples::{edge, link, pod, task};
use crate::scenario::instance::{Instance, LinkKind};
use crate::scenario::presets;
use lightbay_core::watch::Unwatched;

fn tried(scenario: &TrainingScenario, x: &[u32], trials: Trials) -> Robustness {
    let setting = Setting::new(scenario).unwrap();
    Robustness::new(scenario, &setting, x, trials, &mut Unwatched::default()).unwrap()
}

fn preset(name: &str) -> TrainingScenario {
    TrainingScenario::Job(presets::job(name).unwrap().job())
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs(), "{a}, not {b}");
}

/// 1 GB over link 0 in two flows, 5 ms of work in pod 1, 1 GB over link 1 in two flows.
fn relay() -> Instance {
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: vec![pod(0, 3, false), pod(1, 4, false), pod(2, 1, false)],
        links: vec![link(0, 0, 1, LinkKind::Pp, 1, 1), link(1, 1, 2, LinkKind::Pp, 1, 1)],
        tasks: vec![task(0, 0, 1, 2, 1e9, 0.0), task(1, 1, 2, 2, 1e9, 0.0)],
        edges: vec![edge(0, 1, 0.005)],
        provenance: None,
        reconfiguration: None,
    }
}

#[test]
fn a_relay_loses_what_its_circuits_and_computes_say() {
    let trials = Trials { draws: 50, slow_factor: 2.0, failures: 2, ..Trials::default() };
    let tried = tried(&TrainingScenario::Instance(relay()), &[2, 1], trials);
    // 10 ms on two circuits, 5 ms of work, 20 ms on one.
    near(tried.planned.joint_s, 0.035);
    assert!(!tried.by_stage);
    let slow: Vec<f64> = tried.slow.iter().map(|slow| slow.ends.joint_s).collect();
    assert_eq!(tried.slow.iter().map(|slow| slow.place).collect::<Vec<_>>(), [0, 1, 2]);
    for (slow, expected) in slow.iter().zip([0.035, 0.04, 0.035]) {
        near(*slow, expected);
    }
    let (joint, _) = tried.jitter.unwrap();
    assert!(joint.worst_s <= 0.0355 + 1e-12 && joint.worst_s > 0.0352, "{joint:?}");
    assert!(
        (joint.mean_s - 0.035).abs() < 2e-4 && joint.mean_s <= joint.p95_s && joint.p95_s <= joint.worst_s
    );

    near(tried.circuits[0].ends.unwrap().joint_s, 0.045);
    assert_eq!(tried.circuits[1].ends, None, "the only circuit");
    let [first, middle, last] = &tried.ports[..] else { panic!("three pods") };
    assert_eq!((first.free, first.best.link, first.worst.link), (1, None, Some(0)));
    near(first.worst.ends.unwrap().fair_s, 0.045);
    assert_eq!((middle.free, middle.best.link, middle.worst.ends), (1, None, None));
    assert_eq!((last.free, last.best.link, last.best.ends), (0, Some(1), None), "its one port carries all");
    let [one, two] = &tried.together[..] else { panic!("one and two failures") };
    assert_eq!((one.choices, one.cut_off), (2, 1));
    assert_eq!((two.choices, two.cut_off, &two.worst), (3, 3, &None));
}

#[test]
fn a_walk_over_the_full_graph_ends_as_the_plan_does() {
    for name in ["tiny4", "small", "mixtral_8x22b", "one_stage_per_pod"] {
        let scenario = preset(name);
        let setting = Setting::new(&scenario).unwrap();
        let x = crate::search::baselines::Baseline::ALL[1].allocate(&setting.evaluator.network);
        let trials = Trials { jitter: 0.0, draws: 1, slow_factor: 1.0, failures: 1, seed: 1 };
        let tried = Robustness::new(&scenario, &setting, &x, trials, &mut Unwatched::default()).unwrap();
        let (joint, fair) = tried.jitter.unwrap();
        near(joint.worst_s, tried.planned.joint_s);
        near(fair.worst_s, tried.planned.fair_s);
        for slow in &tried.slow {
            near(slow.ends.joint_s, tried.planned.joint_s);
        }
    }
}

#[test]
fn replicas_wait_for_the_slowest() {
    // Each replica draws for itself: laid out side by side and reduced again they end at the same time.
    let scenario = preset("tiny4");
    let TrainingScenario::Job(job) = &scenario else { panic!("a job") };
    let setting = Setting::new(&scenario).unwrap();
    let x = [1, 3, 3];
    let laid =
        crate::model::collapse::Laid::of(job, 2, crate::model::reduced_dag::Dominance::AtBandwidth).unwrap();
    let whole = expanded(job).unwrap();
    for draw in 0..5 {
        let mut shaker = Shaker::new(&scenario, &setting, &x).unwrap();
        let factors = || {
            let mut random = Streams::new(3).stream(draw);
            move |_place: u32| 1.0 + 0.3 * (2.0 * random.random::<f64>() - 1.0)
        };
        let ends = shaker.ends(true, &mut factors(), &mut StopOnly(&mut Unwatched::default())).unwrap();
        let mut full = laid.full.clone();
        let mut factor = factors();
        full.scale(|node| factor(node.stage));
        let reduced =
            crate::model::reduced_dag::reduce(&full, crate::model::reduced_dag::Dominance::AtBandwidth)
                .unwrap();
        let mut instance = whole.clone();
        for (task, reduced) in instance.tasks.iter_mut().zip(&reduced.tasks) {
            task.release_s = reduced.release_s;
        }
        instance.edges = reduced.edges.iter().map(|e| edge(e.pred.0, e.succ.0, e.delay_s)).collect();
        let evaluator = Evaluator::new(&instance).unwrap();
        let circuits: Vec<u32> =
            instance.links.iter().map(|link| if link.kind == LinkKind::Pp { x[0] } else { x[1] }).collect();
        let mut scratch = Scratch::default();
        near(ends.joint_s, evaluator.makespan(&circuits, Rates::Best, &mut scratch));
        near(ends.fair_s, evaluator.makespan(&circuits, Rates::Fair, &mut scratch));
    }
}

#[test]
fn failures_never_shorten_an_iteration_at_decided_rates_and_draws_repeat() {
    let scenario = preset("small");
    let setting = Setting::new(&scenario).unwrap();
    let x = crate::search::baselines::Baseline::ALL[2].allocate(&setting.evaluator.network);
    let trials = Trials { draws: 20, ..Trials::default() };
    let tried = Robustness::new(&scenario, &setting, &x, trials, &mut Unwatched::default()).unwrap();
    let ends = tried.circuits.iter().filter_map(|case| case.ends);
    assert!(ends.into_iter().all(|ends| ends.joint_s >= tried.planned.joint_s - 1e-12));
    let worst = |cases: &Together| cases.worst.as_ref().map(|worst| worst.1.joint_s);
    assert!(worst(&tried.together[1]) >= worst(&tried.together[0]));
    assert!(tried.slow.iter().all(|slow| slow.ends.joint_s > tried.planned.joint_s));
    let again = Robustness::new(&scenario, &setting, &x, trials, &mut Unwatched::default()).unwrap();
    assert_eq!(tried, again);
    let other = Trials { seed: 2, ..trials };
    let other = Robustness::new(&scenario, &setting, &x, other, &mut Unwatched::default()).unwrap();
    assert_ne!(tried.jitter, other.jitter);
}
