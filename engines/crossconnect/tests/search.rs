//! The searching methods through the contract of the core: what they find, prove and say.
#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use lightbay_core::event::{Done, EndStatus, EventBody, RunId};
use lightbay_core::param::{ParamValue, Params};
use lightbay_core::run::TypedJob;
use lightbay_core::scenario::Scenario;
use lightbay_core::testing::{Ask, Ran, board, run};
use lightbay_crossconnect::scenario::presets;
use lightbay_crossconnect::scenario::{Family, Wiring};
use lightbay_crossconnect::{Crossconnect, CrossconnectScenario, methods};
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;
use std::time::Duration;

struct Asked<'a> {
    body: CrossconnectScenario,
    params: &'a [(&'a str, &'a str)],
    threads: usize,
    from: Option<&'a Done>,
}

impl<'a> Asked<'a> {
    fn of(body: &CrossconnectScenario) -> Self {
        Self { body: body.clone(), params: &[], threads: 1, from: None }
    }

    fn with(mut self, params: &'a [(&'a str, &'a str)]) -> Self {
        self.params = params;
        self
    }

    /// A job for the run board.
    fn job(&self, name: &str) -> Box<TypedJob<Crossconnect>> {
        let all = methods::all();
        // Values for several methods: each takes those that it has.
        let method = all.iter().map(|method| method.info()).find(|info| info.name == name).unwrap();
        let own = |(param, _): &&(&str, &str)| method.params.iter().any(|info| info.name == *param);
        let params: Vec<(&str, &str)> = self.params.iter().filter(own).copied().collect();
        Ask::of(&all, name, self.body.clone())
            .typed(&params)
            .from(self.from.and_then(|done| done.plan.clone()))
            .job()
    }

    /// Runs a method and checks what holds for all: bounds never exceed plans, plans only get better.
    fn solve(&self, name: &str) -> (Done, Vec<EventBody>) {
        let Ran { done, events } = run(self.job(name), self.threads);
        let said: Vec<EventBody> = events.into_iter().map(|event| event.body).collect();
        assert_ne!(done.status, EndStatus::Failed, "{name}: {} {:?}", done.message, done.violations);
        assert_ne!(done.status, EndStatus::Panicked, "{name}: {}", done.message);
        let mut last = f64::INFINITY;
        for body in &said {
            match (body, done.value) {
                (EventBody::Bound(bound), Some(value)) if bound.only.is_none() => {
                    assert!(bound.value <= value, "{name}: bound {} of {value}", bound.value);
                }
                (EventBody::Incumbent(found), _) => {
                    assert!(found.value <= last, "{name}");
                    last = found.value;
                }
                _ => {}
            }
        }
        (done, said)
    }
}

fn random(pods: usize, ocs_count: usize, percent: u32, seed: u64) -> CrossconnectScenario {
    presets::random(pods, ocs_count, Family { changed_percent: percent, instance_seed: seed })
}

/// Three pods, a circuit between every two of them, one port per pod and switch.
fn triangle(ocs_count: u32) -> CrossconnectScenario {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    scenario.pods = 3;
    scenario.ocs_count = ocs_count;
    scenario.wiring = Wiring::SingleSided;
    scenario.ports_a = vec![vec![1; ocs_count as usize]; 3];
    scenario.ports_b = vec![vec![0; ocs_count as usize]; 3];
    scenario.logical_circuits = vec![vec![0, 1, 1], vec![1, 0, 1], vec![1, 1, 0]];
    scenario.installed.ocs.clear();
    scenario.validate().unwrap();
    scenario
}

#[test]
fn every_search_solves_the_worked_example() {
    let example = presets::scenario("crossconnect-example").unwrap();
    for (method, params) in [
        ("auto", &[][..]),
        ("lumos-anneal", &[]),
        ("lumos-lns", &[]),
        ("lumos-lns", &[("lns_orientation", "joint")]),
        ("lumos-exact", &[("anneal_rounds", "0")]),
        ("lumos-exact", &[("orientation", "fixed")]),
    ] {
        let (done, _) = Asked::of(&example).with(params).solve(method);
        assert_eq!(done.value, Some(2.0), "{method}");
        assert_eq!(done.status, EndStatus::Optimal, "{method}");
    }
}

#[test]
fn a_triangle_without_sides_is_solved_or_refused_by_proof() {
    for method in ["lumos-exact", "auto"] {
        let (done, _) = Asked::of(&triangle(2)).solve(method);
        assert_eq!(done.status, EndStatus::Infeasible, "{method}");
        assert!(done.message.contains("the 2 switches can hold 2"), "{}", done.message);
        let (done, _) = Asked::of(&triangle(3)).solve(method);
        assert_eq!((done.status, done.value), (EndStatus::Optimal, Some(0.0)), "{method}");
    }
}

#[test]
fn nothing_wanted_is_a_plan_too() {
    let mut scenario = triangle(2);
    scenario.logical_circuits = vec![vec![0; 3]; 3];
    for (wiring, method) in
        [(Wiring::SingleSided, "auto"), (Wiring::TwoSided, "auto"), (Wiring::TwoSided, "lumos-lns")]
    {
        scenario.wiring = wiring;
        let (done, _) = Asked::of(&scenario).solve(method);
        assert_eq!((done.status, done.value), (EndStatus::Optimal, Some(0.0)), "{method}");
    }
}

#[test]
fn large_neighbourhoods_come_near_the_optimum() {
    for seed in 1..=3 {
        let scenario = random(8, 8, 25, seed);
        let (fixed, _) = Asked::of(&scenario).with(&[("orientation", "fixed")]).solve("lumos-exact");
        let (lns, _) = Asked::of(&scenario).solve("lumos-lns");
        let (joint, _) = Asked::of(&scenario).solve("auto");
        let value = |done: &Done| done.value.unwrap();
        assert!(value(&lns) <= 1.15 * value(&fixed) + 1e-9, "{seed}: {} of {}", value(&lns), value(&fixed));
        assert!(value(&joint) <= value(&fixed), "{seed}");
        assert_eq!(joint.status, EndStatus::Optimal, "{seed}");
    }
}

#[test]
fn auto_proves_its_plan_for_sixteen_pods_on_sixteen_switches() {
    let (done, said) = Asked::of(&random(16, 16, 25, 1)).solve("auto");
    assert_eq!(done.status, EndStatus::Optimal);
    let count = said.iter().find_map(|body| match body {
        EventBody::Bound(bound) => Some(bound.value),
        _ => None,
    });
    // Counting alone does not prove it.
    assert!(count.unwrap() < done.value.unwrap());
}

#[test]
fn plans_do_not_depend_on_threads() {
    let scenario = random(8, 6, 50, 2);
    let essence = |threads: usize, method: &str| {
        let asked = Asked { threads, ..Asked::of(&scenario) };
        let done = asked.with(&[("anneal_rounds", "2"), ("exact_circuits", "0")]).solve(method).0;
        let mut value = done.plan.unwrap().to_value().unwrap();
        let map = value.as_object_mut().unwrap();
        map.remove("threads");
        map.remove("provenance");
        value.to_string()
    };
    for method in ["auto", "lumos-anneal", "lumos-lns"] {
        assert_eq!(essence(1, method), essence(2, method), "{method}");
    }
}

#[test]
fn ports_on_different_switches_make_a_pair_impossible() {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    scenario.installed.ocs.clear();
    scenario.logical_circuits = vec![vec![0; 4]; 4];
    (scenario.logical_circuits[0][1], scenario.logical_circuits[1][0]) = (1, 1);
    scenario.ports_a[0] = vec![1, 0];
    scenario.ports_b[0] = vec![1, 0];
    scenario.ports_a[1] = vec![0, 1];
    scenario.ports_b[1] = vec![0, 1];
    scenario.validate().unwrap();
    for method in ["auto", "lumos-exact"] {
        let (done, _) = Asked::of(&scenario).solve(method);
        assert_eq!(done.status, EndStatus::Infeasible, "{method}");
        assert!(
            done.message.contains("between pods 0 and 1 cannot be placed, because the switches"),
            "{}",
            done.message
        );
    }
}

#[test]
fn the_written_model_leads_back_to_a_plan() {
    let scenario = Scenario::new("test".to_owned(), presets::scenario("crossconnect-example").unwrap());
    for written in methods::models() {
        for orientation in ["joint", "fixed"] {
            let value = ParamValue::Text(orientation.to_owned());
            let params = Params::resolve(&written.params(), [("orientation", &value)]).unwrap();
            let model = written.model(&scenario, &params).unwrap();
            let solution = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
            let point = solution.values.unwrap();
            assert_eq!(written.plan(&scenario, &params, &point).unwrap().value, 2.0);
            assert!(written.plan(&scenario, &params, &point[1..]).is_err());
            let nothing = vec![0.0; point.len()];
            let words = written.plan(&scenario, &params, &nothing).unwrap_err().to_string();
            assert!(words.contains("does not satisfy the model"), "{words}");
        }
    }
}

#[test]
fn a_plan_is_a_start_for_the_others() {
    let scenario = random(8, 4, 25, 3);
    let (first, _) = Asked::of(&scenario).with(&[("anneal_rounds", "1")]).solve("lumos-anneal");
    for method in ["auto", "lumos-anneal", "lumos-lns", "lumos-exact"] {
        let asked = Asked { from: Some(&first), ..Asked::of(&scenario) };
        let (done, said) = asked.solve(method);
        assert!(done.value <= first.value, "{method}");
        let fate = said.iter().find_map(|body| match body {
            EventBody::HotStart(report) => Some(report.fate.word()),
            _ => None,
        });
        assert_eq!(fate, Some("accepted"), "{method}");
    }
}

/// Settings with which a search continues for days.
const ENDLESS: &[(&str, &str)] =
    &[("anneal_rounds", "20"), ("anneal_steps", "1000000"), ("lns_patience", "1000000")];

#[test]
fn a_search_ends_when_the_bound_of_another_run_meets_its_plan() {
    let scenario = random(16, 16, 25, 1);
    let (runs, recorder) = board(1);
    let ended = |run: RunId| {
        assert!(runs.wait_idle(Duration::from_mins(5)), "it goes on");
        let own = recorder.events().into_iter().filter(|event| event.run == run).map(|event| event.body);
        let said: Vec<EventBody> = own.collect();
        let Some(EventBody::Done(done)) = said.last().cloned() else { panic!("the last event is not done") };
        (done, said)
    };
    let proof = runs.submit(Asked::of(&scenario).job("auto"));
    let (proof, said) = ended(proof.run);
    assert_eq!(proof.status, EndStatus::Optimal);
    let count = said.iter().find_map(|body| match body {
        EventBody::Bound(bound) => Some(bound.value),
        _ => None,
    });
    assert!(count < proof.value, "counting alone proves it, so that the searches would end anyway");
    for method in ["auto", "lumos-anneal", "lumos-lns", "lumos-exact"] {
        let asked = Asked { from: Some(&proof), ..Asked::of(&scenario) }.with(ENDLESS);
        let (done, said) = ended(runs.submit(asked.job(method)).run);
        assert_eq!(
            (done.status, done.value, done.bound),
            (EndStatus::Optimal, proof.value, proof.value),
            "{method}"
        );
        let why = format!("no better plan exists: auto proved the bound {}", proof.value.unwrap());
        let told = said.iter().any(|body| matches!(body, EventBody::Note(note) if note.text == why));
        assert!(told, "{method}: {said:?}");
        let header = done.plan.unwrap().header();
        let because = header.provenance.not_reproducible_because;
        assert_eq!(because.as_deref(), Some("the bound was proved by auto, which ran at the same time"));
    }
}

#[test]
fn a_hall_without_sides_gets_the_best_plan_that_failed_ports_allow() {
    let mut scenario = triangle(3);
    // Each of the three switches holds one of the three circuits.
    scenario.set("failed_ocs", None, &ParamValue::Text("1".to_owned())).unwrap();
    scenario.validate().unwrap();
    for method in ["auto", "lumos-exact"] {
        let (done, said) = Asked::of(&scenario).solve(method);
        assert_eq!((done.status, done.value), (EndStatus::Optimal, Some(0.0)), "{method}");
        let metrics = done.plan.unwrap().header().metrics;
        assert_eq!(metrics.get("unmet_circuits"), Some(&1.0), "{metrics:?}");
        assert_eq!(metrics.get("lower_bound_unmet_circuits"), Some(&1.0), "{metrics:?}");
        let told = |text: &str| {
            said.iter().any(|body| matches!(body, EventBody::Note(note) if note.text.starts_with(text)))
        };
        assert!(told("1 of 3 target circuits cannot be set because 3 ports failed"), "{said:?}");
    }
}
