#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_dag, random_tail_exact, stream, tiny4, toy_a};
use rand::RngExt;

fn random_circuits(evaluator: &Evaluator, seed: u64) -> Vec<u32> {
    let mut random = stream(seed + 77);
    (0..evaluator.network.links()).map(|_| random.random_range(1..=4)).collect()
}

fn simulated(evaluator: &Evaluator, x: &[u32], rates: Rates) -> f64 {
    Simulator::new().run(
        &evaluator.network,
        &evaluator.contention,
        x,
        if rates == Rates::Fair { Rule::Fair } else { Rule::Level },
        None,
    )
}

#[test]
fn the_model_agrees_with_the_simulator_on_tail_exact_instances() {
    let mut scratch = Scratch::default();
    let mut contended = 0;
    for seed in 0..400 {
        let evaluator = Evaluator::new(&random_tail_exact(seed)).unwrap();
        assert!(evaluator.exact(Rates::Level), "seed {seed}: {:?}", evaluator.contention.loose);
        contended += evaluator.contention.count();
        let x = random_circuits(&evaluator, seed);
        for rates in [Rates::Fair, Rates::Level] {
            let model = evaluator.makespan(&x, rates, &mut scratch);
            let events = simulated(&evaluator, &x, rates);
            assert!((model - events).abs() < 2e-7, "seed {seed} {rates:?}: {model} and {events}");
            let trace = evaluator.trace(&x, rates, &mut scratch);
            assert!((trace.makespan - model).abs() < 1e-12, "seed {seed} {rates:?}");
        }
        let fair = evaluator.makespan(&x, Rates::Fair, &mut scratch);
        assert!(evaluator.makespan(&x, Rates::Level, &mut scratch) <= fair + 1e-12);
    }
    assert!(contended > 400, "the family must contain competition, found {contended} tasks");
}

#[test]
fn the_bound_holds_for_every_rule_on_any_instance() {
    let mut scratch = Scratch::default();
    for seed in 0..200 {
        let evaluator = Evaluator::new(&random_dag(seed)).unwrap();
        let x = random_circuits(&evaluator, seed);
        let bound = evaluator.bound(&x, &mut scratch);
        for rates in [Rates::Fair, Rates::Level] {
            let makespan = evaluator.makespan(&x, rates, &mut scratch);
            assert!(bound <= makespan + 1e-9, "seed {seed} {rates:?}: {bound} above {makespan}");
        }
        assert!(bound >= evaluator.network.tau.iter().fold(0.0, |a: f64, b| a.max(*b)));
    }
}

#[test]
fn more_circuits_never_hurt_joint_rates_or_fair_sinks() {
    let mut scratch = Scratch::default();
    for seed in 0..200 {
        let evaluator = Evaluator::new(&random_tail_exact(seed)).unwrap();
        let mut x = random_circuits(&evaluator, seed);
        let before = evaluator.makespan(&x, Rates::Level, &mut scratch);
        let link = seed as usize % x.len();
        evaluator.model.start(&x, &mut scratch.model);
        let ends: Vec<f64> = (1..6)
            .map(|circuits| evaluator.model.link_end(link as u32, circuits, Rates::Fair, &mut scratch.model))
            .collect();
        assert!(ends.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "seed {seed}: {ends:?}");
        x[link] += 1;
        assert!(evaluator.makespan(&x, Rates::Level, &mut scratch) <= before + 1e-12);
    }
}

#[test]
fn worked_examples() {
    let mut scratch = Scratch::default();
    let tiny = Evaluator::new(&tiny4()).unwrap();
    for (x, rates, expected) in [
        ([1, 3, 3], Rates::Fair, 0.454124603),
        ([1, 3, 3], Rates::Level, 0.450424228),
        ([1, 3, 2], Rates::Level, 0.450424228),
    ] {
        let makespan = tiny.makespan(&x, rates, &mut scratch);
        assert!((makespan - expected).abs() < 2e-9, "{x:?} {rates:?}: {makespan}");
    }
    let toy = Evaluator::new(&toy_a()).unwrap();
    assert!((toy.makespan(&[3], Rates::Level, &mut scratch) - 0.03).abs() < 1e-12);
    assert_eq!(toy.trace(&[2], Rates::Level, &mut scratch).pieces.len(), 5);
}
