//! How long simulations and searches take on the built-in jobs.
#![allow(missing_docs, clippy::unwrap_used)] // criterion's macros; a failed unwrap ends the benchmark

use criterion::{Criterion, criterion_group, criterion_main};
use lightbay_core::clock::SystemClock;
use lightbay_core::event::{Event, EventBody, EventSink, RunId};
use lightbay_core::method::MethodError;
use lightbay_core::param::Params;
use lightbay_core::random::Streams;
use lightbay_core::run::{Request, Runs, TypedJob};
use lightbay_core::scenario::Scenario;
use lightbay_training::baselines::Baseline;
use lightbay_training::circuit_bounds::circuit_bounds;
use lightbay_training::evaluate::{Evaluator, Rates, Scratch};
use lightbay_training::ga;
use lightbay_training::scenario::job::Job;
use lightbay_training::search::{Found, Watch};
use lightbay_training::sim::{Rule, Simulator};
use lightbay_training::windows::Windows;
use lightbay_training::{TrainingScenario, methods, presets};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const TABLE_I: [&str; 4] = ["megatron_177b", "mixtral_8x22b", "megatron_462b", "deepseek_671b"];

fn preset(name: &str) -> Job {
    presets::job(name).unwrap().job()
}

fn evaluator(job: &Job) -> Evaluator {
    Evaluator::new(&TrainingScenario::Job(job.clone()).build().unwrap().instance).unwrap()
}

/// Useful circuits, as the methods find them.
fn caps(evaluator: &Evaluator) -> Vec<u32> {
    let mut scratch = Scratch::default();
    let limit = Baseline::ALL
        .map(|baseline| evaluator.makespan(&baseline.allocate(&evaluator.network), Rates::Fair, &mut scratch))
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    circuit_bounds(&evaluator.network, &Windows::new(&evaluator.network, limit * (1.0 + 1e-4)))
}

struct Silent;

impl EventSink for Silent {
    fn report(&self, _event: Event) {}
}

/// From the scenario to the checked plan.
fn solve(job: &Job, name: &str, threads: usize) {
    let method = methods::all().into_iter().find(|method| method.info().name == name).unwrap();
    let request = Request {
        scenario: Arc::new(Scenario { name: name.to_owned(), body: TrainingScenario::Job(job.clone()) }),
        params: Params::resolve(&method.info().params, []).unwrap(),
        seed: 1,
        time_limit_s: None,
        gap: None,
        hot_start: None,
        proves: method.info().proves,
    };
    let clock = Arc::new(SystemClock::start());
    let runs = Runs::new(threads, RunId(1), Arc::new(Silent), clock, None).unwrap();
    runs.submit(Box::new(TypedJob::new(method, request).unwrap()));
    assert!(runs.wait_idle(Duration::from_mins(10)));
}

/// A genetic search on a pool, told to nobody.
struct Pooled(rayon::ThreadPool);

impl Watch for Pooled {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }
    fn found(&mut self, _found: &Found, _source: &str) -> Result<(), MethodError> {
        Ok(())
    }
    fn bound(&mut self, _makespan: f64) {}
    fn report(&mut self, _body: EventBody) {}
    fn count(&mut self, _evaluations: u64) {}
    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }
    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.0.install(work)
    }
}

fn simulations(c: &mut Criterion) {
    let evaluator = evaluator(&preset("megatron_462b"));
    let x = Baseline::IterativeHalving.allocate(&evaluator.network);
    let (network, contention) = (&evaluator.network, &evaluator.contention);
    let mut simulator = Simulator::new();
    for (name, rule) in [("fair_sim_462b", Rule::Fair), ("level_sim_462b", Rule::Level)] {
        c.bench_function(name, |b| {
            b.iter(|| simulator.run(network, contention, black_box(&x), rule, None));
        });
    }
    let mut scratch = Scratch::default();
    for (name, rates) in [("fair_makespan_462b", Rates::Fair), ("joint_makespan_462b", Rates::Level)] {
        c.bench_function(name, |b| b.iter(|| evaluator.makespan(black_box(&x), rates, &mut scratch)));
    }
}

fn searches(c: &mut Criterion) {
    let mut group = c.benchmark_group("solve");
    group.sample_size(10);
    for method in ["delta-joint", "delta-topo", "delta-fast"] {
        for name in TABLE_I {
            let job = preset(name);
            group.bench_function(format!("{method}/{name}"), |b| b.iter(|| solve(&job, method, 2)));
        }
    }
    let mut long = preset("megatron_462b");
    long.run.micro_batches = 512;
    group.bench_function("delta-joint/megatron_462b_512_micro_batches", |b| {
        b.iter(|| solve(&long, "delta-joint", 2));
    });
    group.finish();
}

fn threads(c: &mut Criterion) {
    let evaluator = evaluator(&preset("deepseek_671b"));
    let caps = caps(&evaluator);
    let task = ga::Task { evaluator: &evaluator, rates: Rates::Fair, caps: &caps, target: None };
    let mut group = c.benchmark_group("ga_deepseek_671b");
    group.sample_size(20);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut watch = Pooled(pool);
        group.bench_function(format!("{threads}_threads"), |b| {
            b.iter(|| {
                let streams = |island| Streams::new(1).stream(island);
                ga::evolve(task, &ga::Settings::default(), &[], streams, &mut watch).unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, simulations, searches, threads);
criterion_main!(benches);
