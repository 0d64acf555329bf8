#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_dag, random_tail_exact, tiny4, toy_b};
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};

#[test]
fn worked_examples() {
    let network = Network::new(&toy_b()).unwrap();
    assert_eq!(circuit_bounds(&network, &Windows::new(&network, 0.05)), [2, 2]);
    let network = Network::new(&tiny4()).unwrap();
    assert_eq!(circuit_bounds(&network, &Windows::new(&network, 0.454_124_603)), [2, 4, 4]);
}

#[test]
fn the_antichain_is_the_heaviest_of_all_sets() {
    let mut ordered = 0;
    for seed in 0..150 {
        let network = Network::new(&random_dag(seed)).unwrap();
        let tasks: Vec<u32> = network.order.iter().copied().filter(|task| task % 4 != 3).collect();
        ordered += usize::from(!tasks.windows(2).all(|p| !network.precedence.ordered(p[0], p[1])));
        let mut heaviest = 0.0f64;
        for set in 0u32..1 << tasks.len() {
            let members: Vec<u32> =
                tasks.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, task)| *task).collect();
            let free = |u: &u32| members.iter().all(|v| u == v || !network.precedence.ordered(*u, *v));
            if members.iter().all(free) {
                heaviest = heaviest.max(members.iter().map(|task| network.flows[*task as usize]).sum());
            }
        }
        assert_eq!(antichain_weight(&network, &tasks), heaviest, "seed {seed}");
    }
    assert!(ordered > 100);
}

#[test]
fn circuits_beyond_the_bound_change_no_plan_within_the_limit() {
    let mut scratch = Scratch::default();
    let mut clamped = 0;
    for seed in 0..300 {
        let instance = if seed % 2 == 0 { random_tail_exact(seed) } else { random_dag(seed) };
        let mut evaluator = Evaluator::new(&instance).unwrap();
        let x: Vec<u32> =
            (0..evaluator.network.links()).map(|link| 1 + (seed as u32 + link as u32) % 9).collect();
        for rates in [Rates::Fair, Rates::Level] {
            let makespan = evaluator.makespan(&x, rates, &mut scratch);
            // Ports are not the subject here.
            let windows = Windows::new(&evaluator.network, makespan * (1.0 + 1e-9));
            evaluator.network.budget.lift_limits(99);
            let caps = circuit_bounds(&evaluator.network, &windows);
            let less: Vec<u32> = x.iter().zip(&caps).map(|(&circuits, &cap)| circuits.min(cap)).collect();
            clamped += usize::from(less != x);
            let again = evaluator.makespan(&less, rates, &mut scratch);
            assert!((again - makespan).abs() < 1e-9, "seed {seed} {rates:?}: {x:?} {less:?}");
        }
    }
    assert!(clamped > 200);
}
