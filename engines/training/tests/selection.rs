//! `delta-select`, `auto` and the choice of a proof, through the contract of the core.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use lightbay_core::event::{Done, EndStatus, EventBody, HotStartFate};
use lightbay_core::param::{ParamValue, Params};
use lightbay_core::scenario::Scenario;
use lightbay_core::testing::Ask;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;
use lightbay_training::scenario::job::{Job, PortsPerPod};
use lightbay_training::scenario::presets;
use lightbay_training::{TrainingScenario, methods};

/// Makespans of the built-in jobs at joint rates, and the fewest ports that keep them where they are known.
const JOBS: [(&str, f64, Option<u64>); 9] = [
    ("tiny4", 0.450424, Some(7)),
    ("tiny8", 0.677754, Some(7)),
    ("tiny32", 2.041735, None),
    ("one_stage_per_pod", 0.356200, None),
    ("small", 0.354406, Some(28)),
    ("megatron_177b", 12.829852, Some(42)),
    ("mixtral_8x22b", 11.350826, Some(58)),
    ("megatron_462b", 32.957843, Some(86)),
    ("deepseek_671b", 12.055830, Some(105)),
];

fn job(name: &str) -> Job {
    presets::job(name).unwrap().job()
}

fn text(value: &str) -> ParamValue {
    ParamValue::Text(value.to_owned())
}

fn solve(
    job: &Job,
    name: &str,
    settings: &[(&str, ParamValue)],
    from: Option<&Done>,
) -> (Done, Vec<EventBody>) {
    let body = TrainingScenario::Job(job.clone());
    let ask = Ask::of(&methods::all(), name, body).with(settings);
    let ran = ask.from(from.and_then(|done| done.plan.clone())).run();
    let said: Vec<EventBody> = ran.events.into_iter().map(|event| event.body).collect();
    let Some(EventBody::Done(done)) = said.last().cloned() else { panic!("the last event is not done") };
    assert_ne!(done.status, EndStatus::Failed, "{name}: {} {:?}", done.message, done.violations);
    assert_ne!(done.status, EndStatus::Panicked, "{name}: {}", done.message);
    // Nothing ever contradicts the end.
    let value = done.value.unwrap();
    for body in &said {
        match body {
            EventBody::Bound(bound) if bound.only.is_none() => {
                assert!(bound.value <= value * (1.0 + 1e-12), "{name}: bound {} of {value}", bound.value);
            }
            EventBody::Incumbent(found) => assert!(found.value >= value * (1.0 - 2e-7), "{name}"),
            _ => {}
        }
    }
    (done, said)
}

fn notes(said: &[EventBody]) -> String {
    let notes = said.iter().filter_map(|body| match body {
        EventBody::Note(note) => Some(note.text.as_str()),
        _ => None,
    });
    notes.collect::<Vec<_>>().join("\n")
}

fn phases(said: &[EventBody]) -> Vec<&str> {
    let phases = said.iter().filter_map(|body| match body {
        EventBody::Phase(phase) => Some(phase.name.as_str()),
        _ => None,
    });
    phases.collect()
}

#[test]
fn auto_proves_every_built_in_job() {
    for (name, makespan, _) in JOBS {
        let (done, said) = solve(&job(name), "auto", &[], None);
        assert_eq!(done.status, EndStatus::Optimal, "{name}");
        assert!((done.value.unwrap() - makespan).abs() <= 1e-6, "{name}: {:?}", done.value);
        assert!(notes(&said).contains("no plan is better"), "{name}: {}", notes(&said));
    }
}

#[test]
fn the_integer_program_proves_every_built_in_job() {
    for (name, makespan, _) in JOBS {
        let (done, said) = solve(&job(name), "delta-select", &[], None);
        assert_eq!(done.status, EndStatus::Optimal, "{name}");
        assert!((done.value.unwrap() - makespan).abs() <= 1e-6, "{name}: {:?}", done.value);
        assert!(done.bound.unwrap() >= done.value.unwrap() * (1.0 - 1e-7), "{name}");
        let sizes = said.iter().filter(|body| matches!(body, EventBody::Model(_))).count();
        assert!(sizes >= 2, "{name}: {sizes} sizes of models");
    }
}

#[test]
fn each_way_to_a_proof_is_taken_when_asked_for() {
    let job = job("mixtral_8x22b");
    for method in ["delta-joint", "auto"] {
        for (proof, phase) in
            [("outer", "outer search"), ("select", "selection"), ("fastest", "outer search")]
        {
            let (done, said) = solve(&job, method, &[("proof", text(proof))], None);
            assert_eq!(done.status, EndStatus::Optimal);
            assert!(phases(&said).contains(&phase), "{method} {proof}: {:?}", phases(&said));
            assert!((done.value.unwrap() - 11.350826).abs() <= 1e-6);
        }
        // Where vectors are too many to be listed, the integer program is the fastest proof.
        let (done, said) = solve(&job, method, &[("listed_vectors", ParamValue::Int(10))], None);
        assert_eq!(done.status, EndStatus::Optimal);
        assert!(phases(&said).contains(&"selection") && !phases(&said).contains(&"outer search"), "{method}");
        assert!(notes(&said).contains("too many circuit allocations"), "{method}");
    }
}

#[test]
fn the_full_form_has_the_same_optimum() {
    for name in ["tiny4", "small", "megatron_177b"] {
        let reduced = solve(&job(name), "delta-select", &[], None).0;
        let full = solve(&job(name), "delta-select", &[("writing", text("full"))], None).0;
        assert_eq!(full.status, EndStatus::Optimal);
        let (a, b) = (reduced.value.unwrap(), full.value.unwrap());
        assert!((a - b).abs() <= 1e-9 * a, "{name}: {a} and {b}");
    }
}

#[test]
fn the_fewest_ports_by_the_integer_program() {
    for (name, makespan, ports) in JOBS {
        let Some(ports) = ports else { continue };
        // Nothing can be listed, so the search over vectors gives up.
        let settings = [
            ("min_ports", ParamValue::Bool(true)),
            ("listed_vectors", ParamValue::Int(1)),
            ("proof", text("select")),
        ];
        let (done, said) = solve(&job(name), "delta-joint", &settings, None);
        let (listed, _) = solve(&job(name), "delta-joint", &settings[..1], None);
        for done in [&done, &listed] {
            assert_eq!(done.status, EndStatus::Optimal, "{name}");
            assert!((done.value.unwrap() - makespan).abs() <= 1e-6 + 1e-7 * makespan, "{name}");
            let header = done.plan.as_ref().unwrap().header();
            assert!(
                (header.metrics["total_ports"] - ports as f64).abs() < 0.5,
                "{name}: {:?}",
                header.metrics
            );
        }
        assert!(!notes(&said).contains("fewer ports may be possible"), "{name}: {}", notes(&said));
    }
}

#[test]
fn a_plan_to_start_from_is_the_first_to_beat() {
    let mut small = job("small");
    let (before, _) = solve(&small, "delta-fast", &[], None);
    let (done, said) = solve(&small, "delta-select", &[], Some(&before));
    assert_eq!(done.status, EndStatus::Optimal);
    let fates: Vec<HotStartFate> = said
        .iter()
        .filter_map(|body| match body {
            EventBody::HotStart(report) => Some(report.fate),
            _ => None,
        })
        .collect();
    assert_eq!(fates.first(), Some(&HotStartFate::Accepted), "{fates:?}");
    // Fewer ports: the plan is repaired, and the new optimum is not better than before.
    small.ports_per_pod = Some(PortsPerPod::Same(6));
    let (less, _) = solve(&small, "auto", &[], Some(&done));
    assert_eq!(less.status, EndStatus::Optimal);
    assert!(less.value >= done.value);
}

#[test]
fn a_point_of_the_exported_model_is_a_plan() {
    let model = methods::models().into_iter().find(|model| model.name() == "delta-select").unwrap();
    let body = TrainingScenario::Job(job("tiny4"));
    let scenario = Scenario::new("tiny4".to_owned(), body);
    for writing in ["full", "reduced"] {
        let params = Params::resolve(&model.params(), [("writing", &text(writing))]).unwrap();
        let written = model.model(&scenario, &params).unwrap();
        let options = Options::new().relative_gap(1e-9);
        let solution = solve_here(&written, &options, &Start::None, &mut NoListener).unwrap();
        let mut values = solution.values.unwrap();
        let plan = model.plan(&scenario, &params, &values).unwrap();
        assert!((plan.value - 0.450424).abs() <= 1e-6, "{writing}: {}", plan.value);
        // A point of something else is refused by the name of what it breaks, one of another length too.
        values[0] = 7.0;
        let error = model.plan(&scenario, &params, &values).unwrap_err().to_string();
        assert!(error.contains("at least") && error.contains("above its upper bound 1"), "{error}");
        values.pop();
        assert!(model.plan(&scenario, &params, &values).unwrap_err().to_string().contains("columns"));
    }
}
