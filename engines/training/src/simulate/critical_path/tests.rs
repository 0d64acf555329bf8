#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_tail_exact, tiny4, toy_b};
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};

#[test]
fn the_path_explains_the_whole_makespan() {
    let mut scratch = Scratch::default();
    for seed in 0..100 {
        let evaluator = Evaluator::new(&random_tail_exact(seed)).unwrap();
        let x = vec![2; evaluator.network.links()];
        for rates in [Rates::Fair, Rates::Level] {
            let trace = evaluator.trace(&x, rates, &mut scratch);
            let path = critical_path(&evaluator.network, &trace);
            assert!((path.comm + path.rigid - trace.makespan).abs() < 1e-12);
            let last = *path.tasks.last().unwrap() as usize;
            assert!((trace.finish[last] + evaluator.network.tail[last] - trace.makespan).abs() < 1e-9);
            for pair in path.tasks.windows(2) {
                let arcs = evaluator.network.preds.of(pair[1]);
                let arc = arcs.iter().find(|arc| arc.task == pair[0]).unwrap();
                let gap = trace.start[pair[1] as usize] - trace.finish[pair[0] as usize] - arc.delay;
                assert!(gap.abs() < 1e-7);
            }
        }
    }
}

#[test]
fn slack_is_what_a_task_can_lose() {
    let evaluator = Evaluator::new(&toy_b()).unwrap();
    let trace = evaluator.trace(&[2, 1], Rates::Fair, &mut Scratch::default());
    // The transfer to the mirror dictates 40 ms; the one back could end 10 ms later.
    let slack = slack(&evaluator.network, &trace);
    for (slack, expected) in slack.iter().zip([10.0, 10.0, 0.0]) {
        assert!((slack * 1e3 - expected).abs() < 1e-9, "{slack}");
    }
    let tiny = Evaluator::new(&tiny4()).unwrap();
    let path = critical_path(&tiny.network, &tiny.trace(&[1, 3, 3], Rates::Fair, &mut Scratch::default()));
    assert_eq!(path.tasks.last(), Some(&11));
}

#[test]
fn nothing_on_the_path_is_spared() {
    // A 0-20, B 30-50, C 20-35 ms: A could end 10 ms later if B took 10 instead of 20 ms, but it does not.
    let evaluator = Evaluator::new(&toy_b()).unwrap();
    let trace = evaluator.trace(&[1, 2], Rates::Fair, &mut Scratch::default());
    for (spare, expected) in spare(&evaluator.network, &trace).iter().zip([0.0, 0.0, 15.0]) {
        assert!((spare * 1e3 - expected).abs() < 1e-9, "{spare}");
    }
    for seed in 0..100 {
        let evaluator = Evaluator::new(&random_tail_exact(seed)).unwrap();
        let x = vec![2; evaluator.network.links()];
        let trace = evaluator.trace(&x, Rates::Fair, &mut Scratch::default());
        let (spare, slack) = (spare(&evaluator.network, &trace), slack(&evaluator.network, &trace));
        assert!(spare.iter().zip(&slack).all(|(spare, slack)| *spare > -1e-9 && *spare <= slack + 1e-9));
        for task in critical_path(&evaluator.network, &trace).tasks {
            assert!(spare[task as usize] < 1e-6, "seed {seed}");
        }
    }
}

#[test]
fn sums_in_another_order_do_not_break_a_tie() {
    let mut evaluator = Evaluator::new(&toy_b()).unwrap();
    let mut trace = evaluator.trace(&[2, 1], Rates::Fair, &mut Scratch::default());
    // All end together up to the last digits: the smallest id is the end of the path, whichever digit is larger.
    for (task, digit) in [(0usize, 0.0), (1, 4e-16), (2, 2e-16)] {
        evaluator.network.tail[task] = 0.0;
        trace.finish[task] = 0.04 + digit;
    }
    assert_eq!(critical_path(&evaluator.network, &trace).tasks.last(), Some(&0));
}

#[test]
fn of_tasks_that_end_alike_the_last_one_ends_the_path() {
    let mut evaluator = Evaluator::new(&toy_b()).unwrap();
    let mut trace = evaluator.trace(&[2, 1], Rates::Fair, &mut Scratch::default());
    for (task, finish, tail) in [(0usize, 0.01, 0.03), (1, 0.03, 0.01), (2, 0.02, 0.02)] {
        evaluator.network.tail[task] = tail;
        trace.finish[task] = finish;
    }
    assert_eq!(critical_path(&evaluator.network, &trace).tasks.last(), Some(&1));
}
