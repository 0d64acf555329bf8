//! Times that cannot be, whatever a plan leaves out of its claims.

use super::*;
use crate::plan::{ChunkPiece, Discipline, FloorClaim, PieceSend};
use crate::scenario::{CollectiveSort, Demand, EpochRule, SwitchHop};
use crate::testing::{in_epochs, own};
use lightbay_core::checked::downcast;
use lightbay_core::testing::Ask;

#[test]
fn windows_that_are_not_counted_exactly_are_refused() {
    // A chunk of 25 kB takes a link 1 us or more: 1e12 epochs.
    refused("dgx1-allgather-200kb", code::TIME, |_, plan| plan.result.time.epoch_us = 1e-12);
    let mut scenario = presets::scenario("dgx1-allgather-200kb").unwrap();
    (scenario.time.epoch, scenario.time.epoch_us) = (EpochRule::Fixed, Some(1e-12));
    let told = CollectiveTasks::of(&scenario, None).unwrap_err().to_string();
    assert!(told.contains("use longer epochs"), "{told}");
    // 16 777 216 epochs of 59.6 fs make 1 us, and so many are too many; half of them are counted.
    scenario.time.epoch_us = Some(2e-7);
    assert!(CollectiveTasks::of(&scenario, None).is_ok());
}

/// One chunk of 1 MB over a link of 10 bytes per epoch, a part of `bytes` in every epoch.
fn in_parts(bytes: f64) -> (CollectiveScenario, Candidate<CollectiveResult>) {
    let scenario = in_epochs(own(2, &[], &[(0, 1, 0.01, 0.0)], &[(0, &[1])]), 1.0);
    let mut plan = made(&scenario);
    let result = &mut plan.result;
    result.time.discipline = Discipline::Fluid;
    let count = (1e6 / bytes).ceil() as u32;
    let piece = |id: u32| {
        let offset_bytes = f64::from(id) * bytes;
        let size_bytes = bytes.min(1e6 - offset_bytes);
        ChunkPiece { id, chunk: 0, offset_bytes, size_bytes, adds_up: false, dests: None }
    };
    result.pieces = (0..count).map(piece).collect();
    result.sends = (0..count).map(|epoch| PieceSend { piece: epoch, from: 0, to: 1, epoch }).collect();
    let claims = &mut result.claims;
    (claims.floor, claims.lower_bound_epochs, claims.optimal) = (None, None, false);
    claims.bounds.clear();
    (claims.finish_epochs, claims.finish_us) = (count, f64::from(count));
    claims.algbw_gbyte_per_s = 1e6 / f64::from(count) / 1000.0;
    claims.replay_us = Some(1e5);
    plan.value = f64::from(count);
    plan.metrics = crate::compose::figures_of(&plan.result, &scenario);
    (scenario, plan)
}

#[test]
fn a_little_too_much_in_every_epoch_adds_up() {
    let (scenario, plan) = in_parts(10.0);
    assert!(!broken(&scenario, &plan).iter().any(|told| told.starts_with("capacity")), "it fits");
    // A millionth of the chunk more in each of 90 910 epochs: 9 % in all.
    let (scenario, plan) = in_parts(11.0);
    let told = broken(&scenario, &plan);
    assert!(told.iter().any(|told| told.starts_with("capacity")), "{told:?}");
}

/// A link that is up from 100 us on, for a chunk that takes 10 us and a latency of 1 us.
#[test]
fn replays_wait_until_links_are_up() {
    let timed = |up_us: &[[f64; 2]]| {
        let mut scenario = in_epochs(own(2, &[], &[(0, 1, 100.0, 1.0)], &[(0, &[1])]), 10.0);
        scenario.time.alpha_threshold = 0.0;
        scenario.topology.links[0].up_us = up_us.to_vec();
        scenario
    };
    for up_us in [&[[100.0, 1000.0]][..], &[[0.0, 10.5], [100.0, 111.0]]] {
        let scenario = timed(up_us);
        let mut plan = made(&scenario);
        assert_eq!(plan.result.claims.replay_us, Some(111.0));
        plan.result.claims.replay_us = Some(11.0);
        let told = broken(&scenario, &plan);
        assert!(told.iter().any(|told| told.contains("'replay_us' is 11, but")), "{told:?}");
    }
    // The plan ignores a latency of 3 us, so the chunk leaves node 1 at 10 us; without epochs, it arrives too late.
    let links = [(0, 1, 100.0, 3.0), (1, 2, 100.0, 0.0)];
    let mut scenario = in_epochs(own(3, &[], &links, &[(0, &[2])]), 10.0);
    scenario.time.alpha_threshold = 0.5;
    scenario.topology.links[1].up_us = vec![[10.0, 20.0]];
    let mut plan = made(&scenario);
    assert_eq!((plan.result.claims.finish_epochs, plan.result.claims.replay_us), (2, None));
    assert_eq!(broken(&scenario, &plan), [] as [&str; 0]);
    plan.result.claims.replay_us = Some(23.0);
    let told = broken(&scenario, &plan);
    assert!(told.iter().any(|told| told.contains("a link is not up when a send needs it")), "{told:?}");
}

/// The rule of transmission after a switch, without the searches: 1 epoch in, 10 out.
#[test]
fn links_after_a_switch_are_held_while_they_transmit() {
    let links = [(0, 2, 100.0, 0.0), (1, 2, 100.0, 0.0), (2, 3, 10.0, 0.0)];
    let mut scenario = own(4, &[2], &links, &[(0, &[3]), (1, &[3])]);
    scenario.topology.switch_model.hop = SwitchHop::CutThrough;
    let plan = made(&in_epochs(scenario.clone(), 10.0));
    let scenario = in_epochs(scenario, 10.0);
    let claims = &plan.result.claims;
    assert_eq!((claims.finish_epochs, claims.lower_bound_epochs), (20, Some(20)));
    assert_eq!(broken(&scenario, &plan), [] as [&str; 0]);
    let times = send_times(&scenario, &plan.result).unwrap();
    let last = plan.result.sends.len() - 1;
    // The second chunk is at the switch at 11, and its link transmits it from 10 to 20.
    assert_eq!((plan.result.sends[last].epoch, times.begins[last], times.arrivals[last]), (11, 10, 20));
    // An epoch earlier, both transmit at once.
    let mut early = plan.clone();
    for send in early.result.sends.iter_mut().filter(|send| send.epoch >= 10) {
        send.epoch -= 1;
    }
    let told = broken(&scenario, &early);
    assert!(told.iter().any(|told| told.starts_with("capacity")), "{told:?}");
}

/// A finish below what the links into a GPU take is refused though the plan names no floor.
#[test]
fn floors_that_are_left_out_are_worked_out() {
    let mut scenario = own(2, &[], &[(0, 1, 1.0, 0.0), (1, 0, 1.0, 0.0)], &[]);
    scenario.demand = Demand::named(CollectiveSort::AllGather, 2e6);
    let plan = made(&scenario);
    let mut found = Findings::default();
    let links = links::CheckedLinks::of(&scenario, &plan.result, &mut found).unwrap();
    let chunks = scenario.demand.expand(&scenario.topology);
    let mut said = plan.result.clone();
    least::check(&scenario, &chunks, &said, &links, &mut found);
    assert!(found.is_empty(), "1 MB over 1 GB/s takes 1000 us: {found:?}");
    said.claims.floor = None;
    (said.claims.finish_us, said.claims.replay_us) = (999.0, Some(998.0));
    least::check(&scenario, &chunks, &said, &links, &mut found);
    let told: Vec<String> = found.finish().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("finish_us is 999, but the links into 0 need 1000 us"), "{told:?}");
}

/// A plan with epochs of other lengths, and every figure that follows from them.
fn stretched(scenario: &CollectiveScenario, plan: &mut Candidate<CollectiveResult>, factor: f64) {
    let result = &mut plan.result;
    result.time.epoch_us *= factor;
    for part in &mut result.trees {
        part.epoch_us *= factor;
    }
    let claims = &mut result.claims;
    claims.finish_us = f64::from(claims.finish_epochs) * result.time.epoch_us;
    claims.algbw_gbyte_per_s /= factor;
    if let Some(floor) = claims.floor.take() {
        let threshold = result.time.alpha_threshold;
        let (without, with) = (floor.without_latency, floor.with_latency);
        claims.floor = Some(FloorClaim::of(without, with, claims.finish_us, threshold));
    }
    plan.value = claims.finish_us;
    plan.metrics = crate::compose::figures_of(&plan.result, scenario);
}

/// Epochs that are shorter than a chunk takes, by however little, leave no room for it: also where the plan ends later
/// than every floor.
#[test]
fn epochs_that_are_a_little_too_short_are_refused() {
    let solved = |method, scenario: &CollectiveScenario, typed: &[(&str, &str)]| {
        let plan = Ask::of(&crate::methods::all(), method, scenario.clone()).typed(typed).run().done.plan;
        let plan = downcast::<crate::Collective>(&plan.unwrap()).unwrap();
        let plan = plan.plan();
        Candidate { value: plan.objective.value, metrics: plan.metrics.clone(), result: plan.result.clone() }
    };
    let few: &[(&str, &str)] = &[("restarts", "1")];
    for (name, method, typed, least) in [
        ("dgx1-allgather-200kb", "construct", few, 1e-11),
        ("ndv2x4-allgather-1mb", "construct", few, 1e-11),
        ("dgx1-allreduce-200kb", "construct", few, 1e-11),
        ("dgx1-alltoall-200kb", "teccl-lp", &[("restarts", "1"), ("coarsest", "1")], 1e-8),
        ("torus3x3-allreduce-1mb", "trees", &[("schedule", "list"), ("most_sends", "0")], 1e-11),
        ("torus3x3-allgather-1mb", "trees", &[("schedule", "periodic"), ("most_sends", "0")], 1e-8),
    ] {
        let scenario = presets::scenario(name).unwrap();
        let plan = solved(method, &scenario, typed);
        let told = |factor: f64| {
            let mut plan = plan.clone();
            stretched(&scenario, &mut plan, factor);
            let told = broken(&scenario, &plan);
            told.into_iter()
                .filter(|told| !told.starts_with("bound: 'bound' and 'bound_covers'"))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(1.0), [] as [&str; 0], "{name}");
        for shorter in [9e-7, 1e-7, least] {
            let told = told(1.0 - shorter);
            let holds =
                told.iter().any(|told| ["capacity", "causality"].iter().any(|rule| told.starts_with(rule)));
            assert!(holds, "{name} {method} shorter by {shorter}: {told:?}");
        }
        // Longer epochs end later, as the plan then says.
        assert_eq!(told(1.0 + 9e-7), [] as [&str; 0], "{name}");
    }
}
