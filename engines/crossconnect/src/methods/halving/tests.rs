//! Whole runs of all methods of flows.

use super::super::all;
use super::*;
use crate::plan::CrossconnectResult;
use crate::scenario::presets;
use crate::scenario::{CrossconnectScenario, Family};
use lightbay_core::checked::SharedPlan;
use lightbay_core::event::{Done, EndStatus, EventBody};
use lightbay_core::param::ParamValue;
use lightbay_core::random::Streams;
use lightbay_core::testing::Ask;
use rand::RngExt;

/// A whole run: its end and everything it said before.
fn run(
    body: &CrossconnectScenario,
    method: &str,
    set: &[(&str, ParamValue)],
    threads: usize,
    hot_start: Option<SharedPlan>,
) -> (Done, Vec<EventBody>) {
    body.validate().unwrap();
    Ask::of(&all(), method, body.clone()).with(set).threads(threads).from(hot_start).run().told()
}

fn text(value: &str) -> ParamValue {
    ParamValue::Text(value.to_owned())
}

fn result(done: &Done) -> CrossconnectResult {
    let plan = lightbay_core::checked::downcast::<Crossconnect>(done.plan.as_ref().unwrap()).unwrap();
    plan.plan().result.clone()
}

const FLOWS: [&str; 3] = ["lumos-halving", "lumos-polish", "lumos-repair"];
const BASELINES: [&str; 2] = ["lumos-scratch", "lumos-relabel"];

#[test]
fn the_worked_example_is_solved_to_its_bound() {
    let example = presets::scenario("crossconnect-example").unwrap();
    for method in FLOWS {
        let (done, _) = run(&example, method, &[], 1, None);
        assert_eq!(
            (done.status, done.value, done.bound),
            (EndStatus::Optimal, Some(2.0), Some(2.0)),
            "{method}"
        );
    }
    for method in BASELINES {
        let (done, _) = run(&example, method, &[], 1, None);
        assert_eq!(done.status, EndStatus::Heuristic, "{method}");
        assert!(done.value.unwrap() >= 2.0);
    }
}

#[test]
fn every_knob_changes_something() {
    let scenario = presets::random(16, 8, Family { changed_percent: 25, instance_seed: 2 });
    let usual: Vec<_> =
        FLOWS[..2].iter().map(|method| result(&run(&scenario, method, &[], 1, None).0)).collect();
    for word in ["even_odd", "contiguous", "random"] {
        let set = [("bipartition", text(word))];
        assert!(result(&run(&scenario, "lumos-halving", &set, 1, None).0) != usual[0], "{word}");
    }
    let blind = result(&run(&scenario, "lumos-scratch", &[], 1, None).0);
    for word in ["contiguous", "random"] {
        let set = [("bipartition", text(word))];
        assert!(result(&run(&scenario, "lumos-scratch", &set, 1, None).0) != blind, "{word}");
    }
    let best_of = [("best_of", ParamValue::Int(8))];
    let (one, eight) = (
        run(&scenario, "lumos-halving", &[], 1, None).0,
        run(&scenario, "lumos-halving", &best_of, 1, None).0,
    );
    assert!(eight.value < one.value);
    for (name, value) in [
        ("polish_start", text("repair")),
        ("polish_start", text("both")),
        ("reorient", ParamValue::Bool(false)),
    ] {
        let (done, _) = run(&scenario, "lumos-polish", &[(name, value.clone())], 1, None);
        if name != "polish_start" || value == text("repair") {
            assert!(result(&done) != usual[1], "{name} {value:?}");
        }
    }
}

#[test]
fn similar_switches_stay_together_where_ports_differ() {
    let scenario = uneven();
    let set = [("bipartition", text("similar"))];
    let (done, events) = run(&scenario, "lumos-halving", &set, 1, None);
    assert!(done.plan.is_some());
    assert!(!events.iter().any(|event| matches!(event, EventBody::Note(_))), "{events:?}");
}

/// Four switches, two of which have the ports of one half of the pods only.
fn uneven() -> CrossconnectScenario {
    let mut scenario = presets::random(6, 4, Family { changed_percent: 0, instance_seed: 1 });
    scenario.installed.ocs.clear();
    for pod in 0..6 {
        for ocs in 0..4 {
            let here = (pod < 3) == (ocs == 0 || ocs == 3);
            scenario.ports_a[pod][ocs] = u32::from(here);
            scenario.ports_b[pod][ocs] = u32::from(here);
        }
    }
    let mut wanted = vec![vec![0; 6]; 6];
    for (a, b) in [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)] {
        wanted[a][b] = 2;
        wanted[b][a] = 2;
    }
    scenario.logical_circuits = wanted;
    scenario
}

#[test]
fn threads_change_nothing() {
    let scenario = presets::random(128, 32, Family { changed_percent: 25, instance_seed: 1 });
    let (one, _) = run(&scenario, "lumos-halving", &[("best_of", ParamValue::Int(2))], 1, None);
    let (three, _) = run(&scenario, "lumos-halving", &[("best_of", ParamValue::Int(2))], 3, None);
    assert_eq!(result(&one), result(&three));
}

#[test]
fn ports_without_sides_are_refused_with_a_remedy() {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    scenario.set("wiring", None, &text("single_sided")).unwrap();
    scenario.installed.ocs.clear();
    for method in FLOWS.into_iter().chain(BASELINES) {
        let (done, _) = run(&scenario, method, &[], 1, None);
        assert_eq!(done.status, EndStatus::Invalid, "{method}");
        assert!(done.message.contains("lumos-exact"), "{}", done.message);
    }
}

#[test]
fn what_no_orientation_fits_is_impossible() {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    scenario.installed.ocs.clear();
    // Three pods with A ports only want circuits among each other.
    for pod in 0..3 {
        scenario.ports_a[pod] = vec![2; 2];
        scenario.ports_b[pod] = vec![0; 2];
    }
    for method in FLOWS.into_iter().chain(BASELINES) {
        let (done, _) = run(&scenario, method, &[], 1, None);
        assert_eq!(done.status, EndStatus::Infeasible, "{method}");
        assert!(done.message.contains("pod_degree_exceeds_ports"), "{}", done.message);
    }
}

/// Random ports on every switch, and a demand that they can carry by construction.
fn scattered(seed: u64) -> CrossconnectScenario {
    let mut stream = Streams::new(seed).stream(0);
    let mut scenario = presets::random(6, 4, Family { changed_percent: 0, instance_seed: 1 });
    scenario.installed.ocs.clear();
    for ports in scenario.ports_a.iter_mut().chain(&mut scenario.ports_b).flatten() {
        *ports = stream.random_range(0..3);
    }
    let mut wanted = vec![vec![0; 6]; 6];
    for ocs in 0..4 {
        let mut free: Vec<[u32; 2]> =
            (0..6).map(|pod| [scenario.ports_a[pod][ocs], scenario.ports_b[pod][ocs]]).collect();
        for _ in 0..30 {
            let (a, b) = (stream.random_range(0..6), stream.random_range(0..6));
            if a != b && free[a][0] > 0 && free[b][1] > 0 {
                free[a][0] -= 1;
                free[b][1] -= 1;
                wanted[a][b] += 1;
                wanted[b][a] += 1;
            }
        }
    }
    scenario.logical_circuits = wanted;
    scenario
}

#[test]
fn where_halving_is_stuck_the_exact_model_decides() {
    let notes = |events: &[EventBody], text: &str| {
        events.iter().any(|event| matches!(event, EventBody::Note(note) if note.text.contains(text)))
    };
    let (mut elsewhere, mut exactly) = (0, 0);
    for seed in 0..24 {
        let (done, events) = run(&scattered(seed), "lumos-halving", &[], 1, None);
        assert!(done.plan.is_some(), "{seed}: {}", done.message);
        elsewhere += u32::from(notes(&events, "another order"));
        exactly += u32::from(notes(&events, "the exact model is solved instead"));
    }
    assert!(elsewhere > 0 && exactly > 0, "{elsewhere} {exactly}");
    let (done, _) = run(&scattered(0), "auto", &[("anneal_rounds", ParamValue::Int(1))], 1, None);
    assert!(done.plan.is_some());
}

#[test]
fn a_plan_of_another_demand_is_repaired() {
    let before = presets::random(8, 4, Family { changed_percent: 25, instance_seed: 1 });
    let (done, _) = run(&before, "lumos-repair", &[], 1, None);
    let mut after = before.clone();
    after.logical_circuits =
        presets::random(8, 4, Family { changed_percent: 5, instance_seed: 1 }).logical_circuits;
    let (hot, events) = run(&after, "lumos-halving", &[], 1, done.plan.clone());
    let fate = events.iter().find_map(|event| match event {
        EventBody::HotStart(report) => Some(report.fate),
        _ => None,
    });
    assert_eq!(fate, Some(lightbay_core::event::HotStartFate::Repaired));
    let (cold, _) = run(&after, "lumos-halving", &[], 1, None);
    assert!(hot.value <= cold.value);
    let (_, events) = run(&before, "lumos-polish", &[], 1, done.plan);
    assert!(events.iter().any(|event| matches!(event, EventBody::HotStart(report) if report.fate == lightbay_core::event::HotStartFate::Accepted)));
}

#[test]
fn pinned_circuits_and_failed_ports_are_heeded() {
    let mut scenario = presets::random(8, 4, Family { changed_percent: 25, instance_seed: 3 });
    for pod in 0..8 {
        scenario.ports_a[pod] = vec![2; 4];
        scenario.ports_b[pod] = vec![2; 4];
    }
    let pin = scenario
        .installed_circuits()
        .find(|(_, circuit)| scenario.logical_circuits[circuit.pod_a as usize][circuit.pod_b as usize] > 0)
        .unwrap();
    let (ocs, circuit) = pin;
    scenario.set("pinned", None, &text(&format!("{ocs}:{}.0-{}.0", circuit.pod_a, circuit.pod_b))).unwrap();
    scenario.set("failed_ports", None, &text("3:0:a1, 3:1:b0")).unwrap();
    for method in FLOWS.into_iter().chain(BASELINES) {
        let (done, _) = run(&scenario, method, &[], 1, None);
        assert!(done.plan.is_some(), "{method}: {}", done.message);
    }
}
