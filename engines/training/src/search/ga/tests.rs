#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_dag, random_tail_exact};
use crate::search::allocations;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;

/// Runs on a pool of its own.
struct Pooled {
    pool: rayon::ThreadPool,
    generations: Vec<GenerationStats>,
    best: Vec<f64>,
}

impl Pooled {
    fn new(threads: usize) -> Self {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        Self { pool, generations: Vec::new(), best: Vec::new() }
    }
}

impl Watch<Proposal> for Pooled {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }
    fn found(&mut self, found: Proposal, _source: &str) -> Result<(), MethodError> {
        self.best.push(found.circuits.makespan);
        Ok(())
    }
    fn report(&mut self, body: EventBody) {
        if let EventBody::Generation(stats) = body {
            self.generations.push(stats);
        }
    }
    fn count(&mut self, _evaluations: u64) {}
    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}

fn caps(evaluator: &Evaluator) -> Vec<u32> {
    (0..evaluator.network.links()).map(|link| evaluator.network.budget.limit(link)).collect()
}

#[test]
fn finds_what_the_proof_finds() {
    let mut missed = 0;
    for seed in 0..40 {
        let evaluator = Evaluator::new(&random_tail_exact(seed)).unwrap();
        let caps = caps(&evaluator);
        for rates in [Rates::Fair, Rates::Level] {
            let task = GaTask { evaluator: &evaluator, rates, caps: &caps, target: None };
            let settings = GaSettings { stall_generations: 60, ..GaSettings::default() };
            let evolved = evolve(
                task,
                &settings,
                &[],
                |number| Streams::new(seed).stream(number),
                &mut Unwatched::default(),
            )
            .unwrap();
            let task = allocations::VectorTask::new(&evaluator, rates, &caps);
            let proof = allocations::search(task, None, &mut Unwatched::default()).unwrap();
            let optimum = proof.best.unwrap().makespan;
            assert!(evolved.best.makespan >= optimum - 1e-12);
            missed += usize::from(evolved.best.makespan > optimum + 1e-9);
        }
    }
    assert_eq!(missed, 0, "of 80");
}

#[test]
fn the_result_does_not_depend_on_threads() {
    for seed in 0..4 {
        let evaluator = Evaluator::new(&random_dag(seed)).unwrap();
        let caps = caps(&evaluator);
        let task = GaTask { evaluator: &evaluator, rates: Rates::Best, caps: &caps, target: None };
        let settings = GaSettings { generations: 25, population: 10, ..GaSettings::default() };
        let runs: Vec<(Evolved, Pooled)> = [1, 2, 3]
            .into_iter()
            .map(|threads| {
                let mut watch = Pooled::new(threads);
                let streams = |number| Streams::new(seed).stream(number);
                (evolve(task, &settings, &[], streams, &mut watch).unwrap(), watch)
            })
            .collect();
        for (evolved, watch) in &runs[1..] {
            assert_eq!(evolved.best, runs[0].0.best);
            assert_eq!(evolved.evaluations, runs[0].0.evaluations);
            assert_eq!(watch.generations, runs[0].1.generations);
        }
    }
}

#[test]
fn generations_report_what_happened() {
    let evaluator = Evaluator::new(&random_tail_exact(3)).unwrap();
    let caps = caps(&evaluator);
    let task = GaTask { evaluator: &evaluator, rates: Rates::Fair, caps: &caps, target: None };
    let settings = GaSettings { stall_generations: 30, population: 12, ..GaSettings::default() };
    let mut watch = Pooled::new(1);
    let seed = vec![1; caps.len()];
    let evolved =
        evolve(task, &settings, &[seed], |number| Streams::new(1).stream(number), &mut watch).unwrap();
    assert_eq!(evolved.limit, Some(Limit::Stall));
    assert_eq!(watch.generations.len() as u64, evolved.generations + 1);
    let last = watch.generations.last().unwrap();
    assert_eq!((last.stall, last.population, last.evaluations), (30, 48, evolved.evaluations));
    for (number, stats) in watch.generations.iter().enumerate() {
        assert_eq!(stats.generation, number as u64);
        assert!(stats.best <= stats.mean && stats.mean <= stats.worst);
        assert!((0.0..=1.0).contains(&stats.diversity) && (0.0..=1.0).contains(&stats.cache_hits));
    }
    assert!(watch.best.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9));
    assert_eq!(watch.best.last(), Some(&evolved.best.makespan));
}
