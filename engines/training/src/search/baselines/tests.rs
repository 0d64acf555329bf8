#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_dag, random_tail_exact, tiny4, toy_b};

#[test]
fn the_traffic_matrix_misleads_in_the_second_worked_example() {
    let network = Network::new(&toy_b()).unwrap();
    assert_eq!(weights(&network), [1e9, 1.5e9]);
    for baseline in Baseline::ALL {
        assert_eq!(baseline.allocate(&network), [1, 2], "{}", baseline.name());
    }
    let tiny = Network::new(&tiny4()).unwrap();
    assert!(Baseline::ALL.iter().all(|baseline| baseline.allocate(&tiny) == [1, 3, 3]));
}

#[test]
fn allocations_fit_and_leave_no_port_that_a_busy_link_could_use() {
    for seed in 0..200 {
        let instance = if seed % 2 == 0 { random_tail_exact(seed) } else { random_dag(seed) };
        let network = Network::new(&instance).unwrap();
        let weights = weights(&network);
        for baseline in Baseline::ALL {
            let x = baseline.allocate(&network);
            assert!(network.budget.fits(&x), "seed {seed}");
            let free = network.budget.free(&x);
            for link in 0..x.len() {
                let idle = weights[link] == 0.0 || x[link] >= network.budget.limit(link);
                assert!(idle || network.budget.room(link, &free) < 1, "seed {seed} {x:?}");
            }
        }
    }
}
