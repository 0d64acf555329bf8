use super::*;
use crate::bounds::fluid_bound;
use crate::model::task::CollectiveTasks;
use crate::programs::questions::{QuestionLimits, QuestionOutcome};
use crate::programs::solver::OwnProcess;
use crate::scenario::{CollectiveScenario, EpochRule, presets};
use lightbay_core::watch::Unwatched;
use lightbay_highs::options::Options;
use rustc_hash::FxHashMap;

fn limits() -> QuestionLimits {
    QuestionLimits {
        seconds: 60.0,
        until_s: f64::INFINITY,
        options: Options::new().set("random_seed", 1),
        buffer_limit: None,
    }
}

fn without_latency(name: &str, epoch_us: f64) -> CollectiveScenario {
    let mut scenario = presets::scenario(name).unwrap();
    scenario.topology.links.iter_mut().for_each(|link| link.alpha_us = 0.0);
    scenario.time.epoch = EpochRule::Fixed;
    scenario.time.epoch_us = Some(epoch_us);
    scenario
}

fn task(scenario: &CollectiveScenario) -> CollectiveTask {
    scenario.validate().unwrap();
    CollectiveTasks::of(scenario, None).unwrap().tasks.remove(0)
}

/// Epochs that every schedule takes.
fn bound(task: &CollectiveTask) -> u32 {
    fluid_bound::<_, ()>(task, &FluidLinks::of(task), &mut Unwatched::default()).unwrap().epochs
}

/// Answer to the question for that many epochs; the schedule is followed.
fn answer(task: &CollectiveTask, folds: bool, epochs: u32) -> QuestionOutcome {
    let links = FluidLinks::of(task);
    let folding = if folds {
        Folding::largest(&task.network, &task.chunks)
    } else {
        Folding::none(&task.network, &task.chunks)
    };
    let mut watch = Unwatched::default();
    let mut solver = OwnProcess::new(&mut watch);
    let (asked, schedule) = ask_fluid(task, &links, &folding, epochs, &limits(), &mut solver).unwrap();
    if let Some(schedule) = schedule {
        assert!(schedule.finish <= epochs);
        follow(task, &links, &schedule);
    }
    asked.outcome
}

/// Follows all parts: paths from source to destination in time, links, and that parts make up the chunks.
fn follow(task: &CollectiveTask, links: &FluidLinks, schedule: &FluidSchedule) {
    let mut loads: FxHashMap<(u32, u32), f64> = FxHashMap::default();
    let mut sizes: FxHashMap<(u32, u32), f64> = FxHashMap::default();
    for piece in &schedule.pieces {
        let (mut node, mut time) = (task.chunks.source(piece.chunk as usize), 0);
        let mut passed = vec![node];
        for &(link, epoch) in &piece.hops {
            let ends = &task.network.links()[link as usize];
            assert_eq!(ends.from, node);
            if task.network.is_switch(node) {
                assert_eq!(epoch, time);
            } else {
                assert!(epoch >= time);
            }
            (node, time) = (ends.to, epoch + links.links[link as usize].latency);
            assert!(task.network.is_switch(node) || !passed.contains(&node));
            passed.push(node);
            *loads.entry((link, epoch)).or_default() += piece.size;
        }
        assert_eq!(node, piece.dest);
        assert!(time <= schedule.finish);
        let size = sizes.entry((piece.chunk, piece.dest)).or_default();
        assert!((*size - piece.offset).abs() < 1e-9);
        *size += piece.size;
    }
    for ((link, epoch), load) in loads {
        let room = links.links[link as usize].per_epoch;
        assert!(load <= room * (1.0 + 1e-6) + 1e-6, "link {link} epoch {epoch}: {load} of {room}");
    }
    for chunk in 0..task.chunks.len() {
        for dest in task.chunks.dests(chunk) {
            assert!((sizes[&(chunk as u32, dest)] - 1.0).abs() < 1e-9);
        }
    }
}

use QuestionOutcome::{Feasible, Infeasible};

#[test]
fn all_to_all_of_one_dgx1_meets_the_cut_through_its_middle() {
    for (chunks, epoch_us) in [(1u32, 1.0 / 3.0), (3, 0.5)] {
        let mut scenario = without_latency("dgx1-alltoall-200kb", epoch_us);
        scenario.demand.chunks_per_rank = chunks;
        scenario.demand.output_buffer_bytes = Some(200_000.0 * f64::from(chunks));
        let task = task(&scenario);
        let fewest = bound(&task);
        assert_eq!(answer(&task, true, fewest), Feasible, "{chunks} chunks");
        assert_eq!(answer(&task, false, fewest), Feasible, "{chunks} chunks");
        assert_eq!(answer(&task, true, fewest - 1), Infeasible, "{chunks} chunks");
    }
}

#[test]
fn all_to_all_of_a_torus_takes_what_its_hops_say() {
    let task = task(&without_latency("torus4x4-alltoall-1.6mb", 2.0));
    for epochs in 5..8 {
        assert_eq!(answer(&task, true, epochs), Infeasible, "{epochs}");
    }
    assert_eq!(answer(&task, true, 8), Feasible);
}

#[test]
fn coarse_epochs_do_for_two_ndv2_chassis() {
    let mut scenario = presets::scenario("ndv2x2-alltoall-1gb").unwrap();
    scenario.time.epoch = EpochRule::Fixed;
    scenario.time.epoch_us = Some(20_000.0);
    let task = task(&scenario);
    assert_eq!(answer(&task, true, 15), Infeasible);
    assert_eq!(answer(&task, true, 16), Feasible);
}

#[test]
fn questions_end_at_the_fewest_epochs() {
    let task = task(&without_latency("ring8-alltoall-1mb", 1.25));
    let links = FluidLinks::of(&task);
    let folding = Folding::largest(&task.network, &task.chunks);
    let fewest = bound(&task);
    let mut watch = Unwatched::default();
    let mut solver = OwnProcess::new(&mut watch);
    let mut heard = 0;
    let found =
        fewest_fluid_epochs(&task, &links, &folding, fewest, 40, &limits(), &mut solver, |_, _, _| {
            heard += 1;
            Ok(())
        })
        .unwrap();
    let schedule = found.schedule.unwrap();
    assert_eq!((schedule.finish, found.asked.len()), (found.proven, heard));
    follow(&task, &links, &schedule);
}
