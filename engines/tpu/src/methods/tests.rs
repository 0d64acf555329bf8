//! Promises of every method, on small random pods: a plan that passes the checker or a refusal before anything is tried, no
//! value above a verified bound, and the best plan that was reported.
//!
//! `LIGHTBAY_PROMISES` is the number of scenarios, a few of which the suite tries, `LIGHTBAY_PROMISES_FIRST` the first one.
#![allow(clippy::print_stdout, reason = "a long run tells its counts")]

use super::all;
use crate::Tpu;
use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use crate::plan::TopologyRecord;
use crate::scenario::{TopologyChoice, TpuScenario, TurnPriority};
use lightbay_core::checked::downcast;
use lightbay_core::event::{EndStatus, EventBody};
use lightbay_core::kind::{Depth, Kind as _};
use lightbay_core::param::ParamValue;
use lightbay_core::random::{Stream, Streams};
use lightbay_core::testing::Ask;
use rand::RngExt;
use rand::seq::SliceRandom;

/// Scenarios of the suite.
const USUAL_CASES: u64 = 10;
/// Scenarios that went wrong once: the best design of an early round of the tournament was dropped.
const ONCE_WRONG: [u64; 1] = [81];

/// Methods that solve programs: on pods of two cubes they take too long for many runs.
const ON_PROGRAMS: [&str; 3] = ["tons-lp-greedy", "tons-lp", "tons-milp"];

/// A pod of one or two cubes, to be designed, a torus, or wired at random, often with failed switches.
fn random(seed: u64) -> TpuScenario {
    let stream = &mut Streams::new(seed).stream(1);
    let cubes = stream.random_range(1..=2);
    let mut switches: Vec<u8> = (0..SWITCHES as u8).collect();
    switches.shuffle(stream);
    switches.truncate(if stream.random_bool(0.6) { stream.random_range(1..=4) } else { 0 });
    switches.sort_unstable();
    let topology = match stream.random_range(0..4) {
        0 => TopologyChoice::Pt,
        1 if cubes == 2 => TopologyChoice::Pdtt,
        2 => TopologyChoice::Given(TopologyRecord::of(&wired(usize::from(cubes), stream))),
        _ => TopologyChoice::Design,
    };
    TpuScenario {
        topology,
        vc_count: stream.random_range(1..=4),
        turn_priority: [TurnPriority::Apl, TurnPriority::Cpl, TurnPriority::Random]
            [stream.random_range(0..3)],
        slack_hops: [None, Some(0), Some(2)][stream.random_range(0..3)],
        failed_ocs: switches,
        ..TpuScenario::design(cubes)
    }
}

fn wired(cubes: usize, stream: &mut Stream) -> Topology {
    let state = |stream: &mut Stream| {
        let mut state: Vec<u16> = (0..cubes as u16).collect();
        state.shuffle(stream);
        state
    };
    Topology::general(&(0..SWITCHES).map(|_| state(stream)).collect::<Vec<_>>()).unwrap()
}

/// Little work.
fn little(name: &str, seed: u64) -> Vec<(&'static str, ParamValue)> {
    let mut set = match name {
        "tons-fast" => vec![("steps", 100), ("chains", 1), ("rounds", 1)],
        "tons-lp" => vec![("roundings", 10), ("certified", 1)],
        _ => Vec::new(),
    }
    .into_iter()
    .map(|(name, value)| (name, ParamValue::Int(value)))
    .collect::<Vec<_>>();
    if name == "tons-milp" {
        set.push(("mip_gap", ParamValue::Float(0.9)));
    }
    if seed.is_multiple_of(3) {
        set.push(("routing", ParamValue::Text("none".to_owned())));
    }
    set.push(("certificate_gap", ParamValue::Float(0.01)));
    set
}

/// What the methods did.
#[derive(Default)]
struct Counts {
    plans: u64,
    refused: u64,
    without_routes: u64,
}

fn promise(seed: u64, counts: &mut Counts) {
    let scenario = random(seed);
    scenario.validate().unwrap_or_else(|problems| panic!("{seed}: {problems}"));
    let (mut best, mut bounds) = (Vec::new(), Vec::new());
    for method in all() {
        let name = method.info().name;
        if scenario.cubes > 1 && ON_PROGRAMS.contains(&name) {
            continue;
        }
        let ask = Ask::of(&all(), name, scenario.clone()).with(&little(name, seed)).seed(seed + 1);
        let (done, said) = ask.run().told();
        let place = format!("{seed} {name}: {:?} {} {:?}", done.status, done.message, done.violations);
        let known = said.iter().filter_map(|event| match event {
            EventBody::Incumbent(incumbent) => Some(incumbent.value),
            _ => None,
        });
        let known = known.reduce(f64::max);
        let Some(plan) = &done.plan else {
            assert!(known.is_none() && done.status == EndStatus::Invalid, "{place}: {known:?}");
            counts.refused += 1;
            continue;
        };
        let broken = [EndStatus::Failed, EndStatus::Panicked, EndStatus::Invalid];
        assert!(!broken.contains(&done.status), "{place}");
        counts.plans += 1;
        let plan = downcast::<Tpu>(plan).unwrap();
        let verdict = Tpu::check(plan.plan(), Depth::Usual);
        assert!(verdict.violations.is_empty(), "{place}: {:?}", verdict.violations);
        let value = plan.plan().objective.value;
        assert!(known.is_none_or(|known| value >= known), "{place}: {value} is written, {known:?} was known");
        if !seed.is_multiple_of(3) && plan.plan().result.routing.is_none() {
            counts.without_routes += 1;
            let told =
                |event: &EventBody| matches!(event, EventBody::Note(note) if note.text.contains("no routes"));
            assert!(said.iter().any(told), "{place}: no routes, and no word of it");
        }
        best.push((name, value));
        bounds
            .extend(verdict.verified.filter(|bound| bound.covers.is_none()).map(|bound| (name, bound.value)));
    }
    for (name, value) in &best {
        for (by, bound) in &bounds {
            assert!(*value <= bound * (1.0 + 1e-9), "{seed}: {name} carries {value}, {by} proves {bound}");
        }
    }
}

#[test]
fn every_method_keeps_its_promises_on_random_pods() {
    let count =
        std::env::var("LIGHTBAY_PROMISES").ok().and_then(|text| text.parse().ok()).unwrap_or(USUAL_CASES);
    let mut counts = Counts::default();
    let first = std::env::var("LIGHTBAY_PROMISES_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    for seed in (first..first + count).chain(ONCE_WRONG) {
        promise(seed, &mut counts);
    }
    let Counts { plans, refused, without_routes } = counts;
    assert!(plans >= 2 * count, "{plans} plans, {refused} refusals");
    println!("{count} scenarios: {plans} plans ({without_routes} without routes), {refused} refusals");
}
