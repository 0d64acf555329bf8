#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_dag, random_tail_exact, stream, tiny4, toy_a, toy_b};
use crate::scenario::instance::Instance;
use crate::simulate::critical_path::{critical_path, second_chain, slack};
use crate::simulate::evaluate::{Rates, Scratch};
use rand::RngExt;

/// The critical path and the second chain of a run.
fn chains(instance: &Instance, x: &[u32], rates: Rates) -> (Chain, Option<Chain>) {
    let evaluator = Evaluator::new(instance).unwrap();
    let trace = evaluator.trace(x, rates, &mut Scratch::default());
    let ideal_slack = slack(&evaluator.network, &evaluator.ideal.trace);
    let split = |path: &CriticalPath| Chain::new(&evaluator, x, &trace, path, &ideal_slack);
    let path = critical_path(&evaluator.network, &trace);
    let second = second_chain(&evaluator.network, &trace, &path);
    (split(&path), second.map(|second| split(&second)))
}

fn assert_ms(what: &str, actual_s: f64, expected_ms: f64) {
    assert!((actual_s * 1e3 - expected_ms).abs() < 1e-6, "{what}: {} not {expected_ms} ms", actual_s * 1e3);
}

#[test]
fn what_the_ideal_network_leaves_room_for_costs_nothing() {
    // A 0-10 ms as on the ideal network, then C 10-40 on one circuit instead of 10-25. The ideal iteration ends at
    // 30 ms with B, so that 5 of the 15 ms that C loses are free.
    let (chain, second) = chains(&toy_b(), &[2, 1], Rates::Fair);
    let tasks: Vec<u32> = chain.tasks.iter().map(|task| task.task).collect();
    assert_eq!((tasks.as_slice(), chain.leaves_ideal), ([0, 2].as_slice(), Some(1)));
    assert_ms("loss", chain.loss_s, 10.0);
    let last = &chain.tasks[1];
    assert_ms("duration", last.takes_s, 30.0);
    assert_ms("ideal duration", last.ideal_s, 15.0);
    assert_ms("own loss", last.loses.too_few_s, 15.0);
    assert_ms("contention", last.loses.contention_s, 0.0);
    assert_ms("late", last.late_s, 0.0);
    assert_ms("room", last.room_s, 5.0);
    assert_ms("cost", last.costs.too_few_s, 10.0);
    assert_ms("before", last.before_s, 0.0);
    // B ends at 30 ms as on the ideal network: 10 ms behind.
    let second = second.unwrap();
    assert_eq!(second.tasks.iter().map(|task| task.task).collect::<Vec<_>>(), [0, 1]);
    assert_ms("behind", chain.end_s - second.end_s, 10.0);
    assert_ms("second loss", second.loss_s, 0.0);
    assert_eq!(second.leaves_ideal, None);
}

#[test]
fn lateness_is_handed_on_to_the_next_task() {
    // A 0-20, B 30-50 on one circuit each instead of two; C 20-35 is 15 ms behind.
    let (chain, second) = chains(&toy_b(), &[1, 2], Rates::Fair);
    assert_ms("loss", chain.loss_s, 20.0);
    let [first, last] = chain.tasks.as_slice() else { panic!("{chain:?}") };
    for (task, late_ms) in [(first, 0.0), (last, 10.0)] {
        assert_ms("own loss", task.loses.too_few_s, 10.0);
        assert_ms("late", task.late_s, late_ms);
        assert_ms("cost", task.costs.too_few_s, 10.0);
    }
    assert_ms("before", last.before_s, 10.0);
    assert_eq!(chain.leaves_ideal, None);
    assert_ms("behind", chain.end_s - second.unwrap().end_s, 15.0);
}

#[test]
fn sharing_is_not_blamed_on_the_number_of_circuits() {
    // Three circuits carry either task alone at full speed; fair sharing makes task 1 end 10/3 ms later.
    let (chain, second) = chains(&toy_a(), &[3], Rates::Fair);
    assert_ms("contention", chain.costs.contention_s, 10.0 / 3.0);
    assert_ms("too few", chain.costs.too_few_s, 0.0);
    assert_ms("behind", chain.end_s - second.unwrap().end_s, 10.0);
    // One circuit: 40 ms alone instead of 20, and 30 ms more because task 0 has half of it until 70 ms.
    let (chain, _) = chains(&toy_a(), &[1], Rates::Fair);
    assert_ms("too few", chain.costs.too_few_s, 20.0);
    assert_ms("contention", chain.costs.contention_s, 30.0);
}

#[test]
fn tiny4_loses_four_times_in_the_pipeline_and_once_at_the_end() {
    // One circuit for two flows doubles F1, B1, B2 and B4: 0.33554432 ms each. At the end both gradients of pod 0
    // share three circuits: 10 starts 37.217260 ms before 11 and has 11.10112208 of its 48.31838208 ms left, for which
    // both run at three quarters: a third of that later.
    let (chain, second) = chains(&tiny4(), &[1, 3, 3], Rates::Fair);
    assert_eq!(chain.tasks.iter().map(|task| task.task).collect::<Vec<_>>(), [0, 3, 4, 7, 11]);
    assert_ms("too few", chain.costs.too_few_s, 4.0 * 0.335_544_32);
    assert_ms("contention", chain.costs.contention_s, 11.101_122_08 / 3.0);
    assert_eq!(chain.leaves_ideal, None);
    assert_ms("inherited at the end", chain.tasks[4].late_s, 4.0 * 0.335_544_32);
    // The gradients of pod 1: 8 starts 37.552804 ms after B2 at the latest, 9 right after B4; both chains tie with
    // nothing, and the later one ends with 10, whose end the sharing delays as much.
    let second = second.unwrap();
    assert_eq!(second.tasks.last().unwrap().task, 10);
    assert_ms("behind", chain.end_s - second.end_s, 54.609_838_08 - 11.101_122_08);
}

#[test]
fn without_a_second_end_there_is_no_second_chain() {
    let mut instance = toy_b();
    instance.tasks.truncate(2);
    instance.edges.truncate(1);
    instance.links.truncate(1);
    assert_eq!(chains(&instance, &[1], Rates::Fair).1, None);
}

#[test]
fn a_late_start_that_nobody_asked_for_is_held_back() {
    let evaluator = Evaluator::new(&toy_b()).unwrap();
    let mut trace = evaluator.trace(&[2, 1], Rates::Fair, &mut Scratch::default());
    // C waits 2 ms longer than A makes it wait.
    trace.start[2] += 2e-3;
    trace.finish[2] += 2e-3;
    trace.makespan += 2e-3;
    let ideal_slack = slack(&evaluator.network, &evaluator.ideal.trace);
    let path = critical_path(&evaluator.network, &trace);
    assert_eq!(path.tasks, [2]);
    let chain = Chain::new(&evaluator, &[2, 1], &trace, &path, &ideal_slack);
    assert_ms("held", chain.costs.held_s, 2.0);
    assert_ms("too few", chain.costs.too_few_s, 10.0);
    assert_ms("loss", chain.loss_s, 12.0);
}

#[test]
fn losses_add_up_on_every_instance() {
    let mut shared = 0;
    for seed in 0..300 {
        let instance = if seed % 3 == 0 { random_dag(seed) } else { random_tail_exact(seed) };
        let mut random = stream(seed);
        let x: Vec<u32> = instance.links.iter().map(|_| random.random_range(1..=4)).collect();
        let ideal_s = Evaluator::new(&instance).unwrap().ideal.makespan();
        for rates in [Rates::Fair, Rates::Level] {
            let (chain, second) = chains(&instance, &x, rates);
            for chain in [Some(&chain), second.as_ref()].into_iter().flatten() {
                let sum = chain.costs.sum_s() - chain.spare_s;
                assert!((sum - (chain.end_s - ideal_s)).abs() < 1e-9, "seed {seed} {rates:?}: {chain:?}");
                assert!((chain.comm_s + chain.rigid_s - chain.end_s).abs() < 1e-12);
                let (mut costs, mut later, mut at) = (0.0, 0.0, 0.0);
                for task in &chain.tasks {
                    costs += task.costs.sum_s();
                    assert!(task.loses.too_few_s > -1e-12 && task.costs.sum_s() > -1e-12, "{task:?}");
                    // What a task inherits is what the one before it had, less the room between them.
                    let inherited: f64 = later;
                    assert!((task.late_s - inherited).abs() < 1e-9, "seed {seed} {rates:?}: {chain:?}");
                    later = task.late_s + task.loses.sum_s() - task.room_s;
                    at += task.before_s;
                    assert!((at - task.start_s).abs() < 1e-9);
                    at += task.takes_s;
                }
                assert!((costs - chain.costs.sum_s()).abs() < 1e-9);
                assert!((later - chain.loss_s).abs() < 1e-9, "seed {seed} {rates:?}: {chain:?}");
            }
            if let Some(second) = &second {
                assert!(second.end_s <= chain.end_s + 1e-9);
                assert_ne!(second.tasks.last().unwrap().task, chain.tasks.last().unwrap().task);
            }
            shared += usize::from(chain.costs.contention_s > 1e-6);
        }
    }
    assert!(shared > 50, "{shared} of the instances lose by sharing");
}
