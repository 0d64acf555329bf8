#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_tail_exact, tiny4, toy_b};
use lightbay_core::watch::Unwatched;

fn evaluator(seed: u64) -> Evaluator {
    Evaluator::new(&random_tail_exact(seed)).unwrap()
}

fn caps(evaluator: &Evaluator) -> Vec<u32> {
    (0..evaluator.network.links()).map(|link| evaluator.network.budget.limit(link).min(5)).collect()
}

/// Every feasible allocation over all links, the plain way.
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
    let task = VectorTask { listed, ..VectorTask::new(&evaluator, rates, &caps) };
    let proof = search(task, None, &mut Unwatched::default()).unwrap();
    let found = proof.best.unwrap();
    assert!(evaluator.network.budget.fits(&found.x));
    assert!((found.makespan - best).abs() < 1e-12, "seed {seed} {rates:?}: {} not {best}", found.makespan);
    assert_eq!(found.makespan, evaluator.makespan(&found.x, rates, &mut scratch));
    assert_eq!(proof.bound, found.makespan);
    // Minimum number of ports, against the plain way.
    let limit = best * (1.0 + crate::search::ports::TOLERANCE);
    let ports = vectors
        .iter()
        .filter(|x| evaluator.makespan(x, rates, &mut scratch) <= limit)
        .map(|x| evaluator.network.budget.total(x))
        .min();
    // Under fair rates only a list is exact; under joint rates the list and the boxes are.
    let listed = if rates == Rates::Fair { LISTED } else { listed };
    let fewest =
        crate::search::ports::fewest(VectorTask { listed, ..task }, &found, &mut Unwatched::default())
            .unwrap();
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
    let task = VectorTask::new(&evaluator, Rates::Level, &[2, 2]);
    let proof = search(task, None, &mut Unwatched::default()).unwrap();
    let found = proof.best.unwrap();
    assert_eq!(found.x, [2, 1]);
    assert!((found.makespan - 0.04).abs() < 1e-12);
    assert_eq!(found.ports, 5);
}

#[test]
fn a_known_optimum_is_only_proven() {
    let evaluator = Evaluator::new(&tiny4()).unwrap();
    let task = VectorTask::new(&evaluator, Rates::Level, &[2, 4, 4]);
    let cold = search(task, None, &mut Unwatched::default()).unwrap();
    let known = cold.best.unwrap();
    assert_eq!((known.x.as_slice(), cold.evaluated, cold.total), (&[1, 3, 3][..], 1, Some(2)));
    let again = search(task, Some(&known), &mut Unwatched::default()).unwrap();
    assert_eq!((again.best, again.evaluated, again.bound), (None, 0, known.makespan));
    let fewest = crate::search::ports::fewest(task, &known, &mut Unwatched::default()).unwrap();
    assert_eq!((fewest.found.ports, fewest.proven), (7, true));
}

/// Repeats what it hears about bounds and incumbents.
#[derive(Default)]
struct Witness {
    bounds: Vec<f64>,
    found: Vec<f64>,
}

impl Watch<Proposal> for Witness {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }
    fn found(&mut self, found: Proposal, _source: &str) -> Result<(), MethodError> {
        self.found.push(found.circuits.makespan);
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
                let task = VectorTask { listed, ..VectorTask::new(&evaluator, rates, &caps) };
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

#[test]
fn a_search_that_is_cut_short_claims_no_more_than_it_knows() {
    let mut open = 0;
    for seed in 0..60 {
        let evaluator = evaluator(seed);
        let caps = caps(&evaluator);
        let task = VectorTask { listed: 1, boxes: 1, ..VectorTask::new(&evaluator, Rates::Level, &caps) };
        let known = Circuits { x: vec![0; caps.len()], makespan: 1e9, ports: 0 };
        let cut = search(task, Some(&known), &mut Unwatched::default()).unwrap();
        let full = search(VectorTask::new(&evaluator, Rates::Level, &caps), None, &mut Unwatched::default())
            .unwrap();
        let optimum = full.best.unwrap().makespan;
        assert!(cut.bound <= optimum * (1.0 + 1e-12), "seed {seed}: {} above {optimum}, {cut:?}", cut.bound);
        open += usize::from(cut.cut_short);
    }
    assert!(open > 5, "{open}");
}

#[test]
fn the_relaxation_bounds_every_schedule() {
    let mut scratch = Scratch::default();
    for seed in 0..40 {
        let evaluator = Evaluator::new(&crate::model::samples::random_dag(seed)).unwrap();
        let caps = caps(&evaluator);
        let proof = search(VectorTask::relaxed(&evaluator, &caps), None, &mut Unwatched::default()).unwrap();
        for x in all(&evaluator, &caps) {
            assert!(proof.bound <= evaluator.makespan(&x, Rates::Best, &mut scratch) + 1e-9);
        }
        // Under fair rates every allocation is simulated, and the best one is found whatever competes.
        let fair =
            search(VectorTask::new(&evaluator, Rates::Fair, &caps), None, &mut Unwatched::default()).unwrap();
        let best = all(&evaluator, &caps)
            .iter()
            .map(|x| evaluator.makespan(x, Rates::Fair, &mut scratch))
            .fold(f64::INFINITY, f64::min);
        assert_eq!(fair.best.unwrap().makespan, best);
    }
}
