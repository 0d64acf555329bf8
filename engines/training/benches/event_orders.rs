//! Gains of the search over event orders on random scenarios in which everything competes, and its costs. Prints one
//! table of gains, then measures times.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // criterion's macros; a table is the point

#[path = "../tests/support/contended.rs"]
#[allow(dead_code)]
mod contended;

use contended::{CIRCUITS, contended};
use criterion::{Criterion, criterion_group, criterion_main};
use lightbay_core::watch::Unwatched;
use lightbay_training::search::circuits::Circuits;
use lightbay_training::search::event_orders::{ProofLimits, TreeSearch};
use lightbay_training::search::order::{Improved, OrderLimits, improve};
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_training::simulate::iteration::Trace;
use std::hint::black_box;
use std::time::Instant;

/// Scenarios of the table.
const SEEDS: u64 = 150;

/// Relative difference that counts.
const COUNTS: f64 = 1e-6;

fn starts(evaluator: &Evaluator) -> [Trace; 2] {
    [Rates::Level, Rates::Fair].map(|rates| evaluator.trace(&CIRCUITS, rates, &mut Scratch::default()))
}

fn search(evaluator: &Evaluator, limits: OrderLimits) -> Improved {
    improve(evaluator, &CIRCUITS, &starts(evaluator), limits, &mut Unwatched::default()).unwrap()
}

/// The best makespan on the same circuits, where the search with proof ends within its nodes.
fn optimum(evaluator: &Evaluator, known: f64) -> Option<f64> {
    let best = Circuits { x: CIRCUITS.to_vec(), makespan: known, ports: 0 };
    let floor = evaluator.bound(&CIRCUITS, &mut Scratch::default());
    let settings = ProofLimits { nodes: 2000, ..ProofLimits::default() };
    let mut watch = Unwatched::default();
    let closed = TreeSearch::new(evaluator, &CIRCUITS, best, floor, settings, &mut watch).run().unwrap();
    closed.complete.then(|| closed.best.map_or(known, |found| found.makespan))
}

/// One line for each number of restarts.
fn gains() {
    println!("restarts  shorter  mean gain  largest  optimal  LPs each  iterations each  wall ms each");
    for restarts in [0, 8, 24] {
        let (mut shorter, mut optimal, mut lps, mut iterations, mut wall_s) = (0, 0, 0, 0, 0.0);
        let (mut sum, mut largest) = (0.0, 0.0f64);
        for seed in 0..SEEDS {
            let evaluator = Evaluator::new(&contended(seed)).unwrap();
            let best = starts(&evaluator).iter().map(|trace| trace.makespan).fold(f64::INFINITY, f64::min);
            let began = Instant::now();
            let found = search(&evaluator, OrderLimits { restarts, ..OrderLimits::default() });
            wall_s += began.elapsed().as_secs_f64();
            let gain = 1.0 - found.makespan / best;
            shorter += u32::from(gain > COUNTS);
            sum += gain;
            largest = largest.max(gain);
            lps += found.lps;
            iterations += found.iterations;
            let known = optimum(&evaluator, found.makespan);
            optimal += u32::from(known.is_some_and(|known| found.makespan <= known * (1.0 + COUNTS)));
        }
        let each = |total: f64| total / SEEDS as f64;
        println!(
            "{restarts:>8}  {shorter:>3}/{SEEDS}  {:>8.3} %  {:>5.2} %  {optimal:>3}/{SEEDS}  {:>8.1}  {:>15.0}  {:>12.2}",
            100.0 * each(sum),
            100.0 * largest,
            each(lps as f64),
            each(iterations as f64),
            1e3 * each(wall_s),
        );
    }
}

fn times(c: &mut Criterion) {
    gains();
    let evaluator = Evaluator::new(&contended(145)).unwrap();
    let mut group = c.benchmark_group("event_orders");
    group.sample_size(10);
    for restarts in [0, 24] {
        group.bench_function(format!("13_tasks_{restarts}_restarts"), |b| {
            b.iter(|| search(black_box(&evaluator), OrderLimits { restarts, ..OrderLimits::default() }));
        });
    }
    group.finish();
}

criterion_group!(benches, times);
criterion_main!(benches);
