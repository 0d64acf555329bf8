//! Every built-in job by every method: plans that pass the checker again after a trip through a file.

use super::support::{Asked, circuits, names, preset, recheck, topology_setting};
use lightbay_core::checked::BoundTrust;
use lightbay_core::event::{EndStatus, EventBody};
use lightbay_core::plan::Status;
use lightbay_training::TrainingScenario;
use lightbay_training::scenario::presets::JOBS;

/// Enough to go through every part of a genetic search without taking long on the largest job.
const SHORT: &str = "generations=12 islands=2";

fn solve_all(job: &str) {
    let joint = Asked::new(job, "delta-joint").set(SHORT).solve();
    let joint = joint.done();
    let x = circuits(joint.plan.as_ref().unwrap());
    for name in names() {
        if name == "delta-fixed-step" && job != "tiny4" {
            continue; // its model grows with the iteration
        }
        let asked = Asked::new(job, name).set(SHORT).set(&topology_setting(&x));
        let log = asked.solve();
        let done = log.done();
        let plan = recheck(done.plan.as_ref().unwrap());
        let proves =
            matches!(name, "delta-topo" | "delta-joint" | "delta-select" | "delta-interval" | "auto");
        let expected = if proves { EndStatus::Optimal } else { EndStatus::Heuristic };
        assert_eq!(done.status, expected, "{job} {name} {}", done.message);
        assert_eq!(plan.plan().objective.bound.is_some(), proves, "{job} {name}");
        assert_eq!(plan.bound_trust() != BoundTrust::None, proves, "{job} {name}");
        assert!(done.value >= joint.value, "{job}: {name} beats the proven optimum");
        assert_eq!(Some(plan.plan().objective.value), done.value);
        assert!(done.work > 0, "{job} {name}");
        assert!(plan.plan().provenance.reproducible, "{job} {name}");
        let best = log.incumbents().map(|incumbent| incumbent.value).fold(f64::INFINITY, f64::min);
        assert!(done.value.unwrap() <= best * (1.0 + 1e-12), "{job} {name}: a better plan was lost");
        for event in &log.0 {
            // A bound over some plans only says nothing about the others, but holds for those it names.
            if let EventBody::Bound(bound) = &event.body {
                let proves = proves || bound.only.is_some();
                let limit = if proves { done.value.unwrap() } else { f64::NEG_INFINITY };
                assert!(bound.value <= limit * (1.0 + 1e-12), "{job} {name}: {bound:?}");
            }
        }
    }
}

#[test]
fn small_jobs_by_every_method() {
    for job in ["tiny4", "tiny8", "tiny32", "one_stage_per_pod", "small"] {
        solve_all(job);
    }
}

#[test]
fn megatron_177b_by_every_method() {
    solve_all("megatron_177b");
}

#[test]
fn mixtral_8x22b_by_every_method() {
    solve_all("mixtral_8x22b");
}

#[test]
fn megatron_462b_by_every_method() {
    solve_all("megatron_462b");
}

#[test]
fn deepseek_671b_by_every_method() {
    solve_all("deepseek_671b");
}

/// Schedules other than plain 1F1B by the methods for any scenario: a checked plan, and a bound below it.
#[test]
fn other_schedules_by_the_general_methods() {
    for job in [
        "tiny_interleaved",
        "small_interleaved",
        "megatron_177b_interleaved",
        "tiny_buckets",
        "small_buckets",
    ] {
        let mut least = f64::INFINITY;
        let mut bounds = Vec::new();
        for name in ["prop-alloc", "delta-fast", "delta-level", "delta-joint", "delta-select", "auto"] {
            let log = Asked::new(job, name).set(SHORT).solve();
            let done = log.done();
            recheck(done.plan.as_ref().unwrap());
            least = least.min(done.value.unwrap());
            bounds.extend(done.bound.map(|bound| (name, bound)));
        }
        assert!(!bounds.is_empty(), "{job}");
        for (name, bound) in bounds {
            assert!(bound <= least * (1.0 + 1e-7), "{job} {name}: bound {bound}, but a plan of {least}");
        }
    }
}

#[test]
fn no_built_in_job_is_left_out() {
    let here = [
        "tiny4",
        "tiny8",
        "tiny32",
        "one_stage_per_pod",
        "small",
        "megatron_177b",
        "mixtral_8x22b",
        "megatron_462b",
        "deepseek_671b",
        // Not tail-exact, or too large for every program: by the methods for them in `schedules`.
        "tiny_interleaved",
        "small_interleaved",
        "megatron_177b_interleaved",
        "tiny_buckets",
        "small_buckets",
        "megatron_177b_buckets",
    ];
    assert!(JOBS.iter().all(|job| here.contains(&job.name)) && JOBS.len() == here.len());
}

#[test]
fn the_second_goal_never_costs_time_or_ports() {
    for (job, settings) in [
        ("tiny4", SHORT),
        ("small", SHORT),
        ("small", "generations=0 islands=1"),
        ("one_stage_per_pod", SHORT),
        ("megatron_177b", SHORT),
        ("mixtral_8x22b", SHORT),
        ("deepseek_671b", SHORT),
    ] {
        for name in ["delta-fast", "delta-level", "delta-topo", "delta-joint"] {
            let ports = |log: &super::support::Log| {
                let header = log.done().plan.as_ref().unwrap().header();
                (header.metrics["total_ports"], log.done().value.unwrap())
            };
            let plain = Asked::new(job, name).set(settings).solve();
            let fewer = Asked::new(job, name).set(settings).set("min_ports=true").solve();
            let ((had, before), (has, after)) = (ports(&plain), ports(&fewer));
            assert!(has <= had, "{job} {name}: {had} became {has} ports");
            assert!(after <= before * (1.0 + 1.1e-7), "{job} {name}: {before} became {after} s");
            let plan = recheck(fewer.done().plan.as_ref().unwrap());
            assert_eq!(plan.plan().status == Status::Optimal, fewer.done().status == EndStatus::Optimal);
            assert_eq!(fewer.done().status, plain.done().status, "{job} {name}");
        }
    }
}

#[test]
fn joint_rates_are_never_slower_on_the_same_circuits() {
    for job in ["tiny32", "one_stage_per_pod", "small", "mixtral_8x22b"] {
        for baseline in ["prop-alloc", "sqrt-alloc", "iter-halve"] {
            let fair = Asked::new(job, baseline).solve();
            let circuits = topology_setting(&circuits(fair.done().plan.as_ref().unwrap()));
            let value = |rates: &str| {
                let asked = Asked::new(job, "simulate").set(&circuits).set(&format!("rates={rates}"));
                asked.solve().done().value.unwrap()
            };
            assert_eq!(value("fair"), fair.done().value.unwrap(), "{job} {baseline}");
            assert!(value("level") <= value("fair") * (1.0 + 1e-12), "{job} {baseline}");
        }
    }
}

#[test]
fn reversed_stages_and_exact_balance_are_solved_too() {
    for name in ["tiny32", "small", "deepseek_671b"] {
        let value = |change: fn(&mut lightbay_training::scenario::job::Job)| {
            let mut job = preset(name);
            change(&mut job);
            let log = Asked::of(TrainingScenario::Job(job), "delta-joint").set(SHORT).solve();
            assert_eq!(log.done().status, EndStatus::Optimal, "{name}");
            recheck(log.done().plan.as_ref().unwrap());
            log.done().value.unwrap()
        };
        let (plain, reversed) = (value(|_| {}), value(|job| job.reverse = true));
        // Pods have equal ports, so which way the stages run through them does not matter.
        assert!((plain - reversed).abs() <= 1e-9 * plain, "{name}: {plain} and {reversed}");
        let exact = value(|job| job.run.balance = lightbay_training::scenario::job::Balance::Exact);
        assert!((exact - plain).abs() > 1e-3 * plain, "{name}");
    }
}
