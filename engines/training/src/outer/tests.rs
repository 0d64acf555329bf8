#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::samples::{random_tail_exact, tiny4, toy_b};
use crate::search::Unwatched;

fn evaluator(seed: u64) -> Evaluator {
    Evaluator::new(&random_tail_exact(seed)).unwrap()
}

fn caps(evaluator: &Evaluator) -> Vec<u32> {
    (0..evaluator.network.links()).map(|link| evaluator.network.budget.limit(link).min(5)).collect()
}

/// Every feasible vector over all links, the plain way.
fn all(evaluator: &Evaluator, caps: &[u32]) -> Vec<Vec<u32>> {
    let mut vectors = vec![vec![]];
    for &cap in caps {
        vectors = vectors
            .into_iter()
            .flat_map(|head: Vec<u32>| (1..=cap).map(move |v| [head.clone(), vec![v]].concat()))
            .collect();
    }
    vectors.retain(|x| evaluator.network.budget.fits(x));
    vectors
}

fn assert_optimal(seed: u64, rates: Rates, listed: u64) {
    let evaluator = evaluator(seed);
    let caps = caps(&evaluator);
    let mut scratch = Scratch::default();
    let vectors = all(&evaluator, &caps);
    let best =
        vectors.iter().map(|x| evaluator.makespan(x, rates, &mut scratch)).fold(f64::INFINITY, f64::min);
    let task = Task { evaluator: &evaluator, rates, caps: &caps, relaxed: false, listed };
    let proof = search(task, None, &mut Unwatched::default()).unwrap();
    let found = proof.best.unwrap();
    assert!(evaluator.network.budget.fits(&found.x));
    assert!((found.makespan - best).abs() < 1e-12, "seed {seed} {rates:?}: {} not {best}", found.makespan);
    assert_eq!(found.makespan, evaluator.makespan(&found.x, rates, &mut scratch));
    assert_eq!(proof.bound, found.makespan);
    // Fewest ports, against the plain way.
    let limit = best * (1.0 + crate::ports::TOLERANCE);
    let ports = vectors
        .iter()
        .filter(|x| evaluator.makespan(x, rates, &mut scratch) <= limit)
        .map(|x| evaluator.network.budget.total(x))
        .min();
    let fewest =
        crate::ports::fewest(Task { listed: LISTED, ..task }, &found, &mut Unwatched::default()).unwrap();
    assert!(fewest.proven);
    assert_eq!(Some(fewest.found.ports), ports, "seed {seed} {rates:?}");
    assert!(fewest.found.makespan <= limit);
    assert_eq!(fewest.found.makespan, evaluator.makespan(&fewest.found.x, rates, &mut scratch));
}

#[test]
fn listed_vectors_reach_the_optimum_of_all_vectors() {
    for seed in 0..60 {
        assert_optimal(seed, Rates::Level, LISTED);
        assert_optimal(seed, Rates::Fair, LISTED);
    }
}

#[test]
fn boxes_reach_the_optimum_of_all_vectors() {
    for seed in 0..60 {
        assert_optimal(seed, Rates::Level, 1);
        assert_optimal(seed, Rates::Fair, 1);
    }
}

#[test]
fn circuits_go_where_the_critical_path_is() {
    let evaluator = Evaluator::new(&toy_b()).unwrap();
    let task =
        Task { evaluator: &evaluator, rates: Rates::Level, caps: &[2, 2], relaxed: false, listed: LISTED };
    let proof = search(task, None, &mut Unwatched::default()).unwrap();
    let found = proof.best.unwrap();
    assert_eq!(found.x, [2, 1]);
    assert!((found.makespan - 0.04).abs() < 1e-12);
    assert_eq!(found.ports, 5);
}

#[test]
fn a_known_optimum_is_only_proven() {
    let evaluator = Evaluator::new(&tiny4()).unwrap();
    let task =
        Task { evaluator: &evaluator, rates: Rates::Level, caps: &[2, 4, 4], relaxed: false, listed: LISTED };
    let cold = search(task, None, &mut Unwatched::default()).unwrap();
    let known = cold.best.unwrap();
    assert_eq!((known.x.as_slice(), cold.evaluated, cold.total), (&[1, 3, 3][..], 1, Some(2)));
    let again = search(task, Some(&known), &mut Unwatched::default()).unwrap();
    assert_eq!((again.best, again.evaluated, again.bound), (None, 0, known.makespan));
    let fewest = crate::ports::fewest(task, &known, &mut Unwatched::default()).unwrap();
    assert_eq!((fewest.found.ports, fewest.proven), (7, true));
}

/// Repeats what it hears about bounds and incumbents.
#[derive(Default)]
struct Witness {
    bounds: Vec<f64>,
    found: Vec<f64>,
}

impl Watch for Witness {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }
    fn found(&mut self, found: &Found, _source: &str) -> Result<(), MethodError> {
        self.found.push(found.makespan);
        Ok(())
    }
    fn bound(&mut self, makespan: f64) {
        self.bounds.push(makespan);
    }
    fn report(&mut self, _body: EventBody) {}
    fn count(&mut self, _evaluations: u64) {}
}

#[test]
fn every_bound_on_the_way_is_below_the_optimum() {
    for seed in 0..60 {
        let evaluator = evaluator(seed);
        let caps = caps(&evaluator);
        for listed in [1, LISTED] {
            for rates in [Rates::Fair, Rates::Level] {
                let task = Task { evaluator: &evaluator, rates, caps: &caps, relaxed: false, listed };
                let mut witness = Witness::default();
                let proof = search(task, None, &mut witness).unwrap();
                let optimum = proof.best.unwrap().makespan;
                assert!(witness.bounds.iter().all(|bound| *bound <= optimum));
                assert!(witness.found.iter().all(|found| *found >= optimum));
                assert!(!witness.bounds.is_empty() && !witness.found.is_empty());
            }
        }
    }
}
