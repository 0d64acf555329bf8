//! Running times of simulations and searches on the built-in jobs.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // criterion's macros; a failed unwrap ends the benchmark

#[path = "../tests/contended/family.rs"]
mod family;

use criterion::{Criterion, criterion_group, criterion_main};
use family::{Family, TWO_LINKS, gaps};
use lightbay_core::clock::SystemClock;
use lightbay_core::event::{Event, EventBody, EventSink, RunId};
use lightbay_core::method::MethodError;
use lightbay_core::param::Params;
use lightbay_core::random::Streams;
use lightbay_core::run::{Request, Runs, TypedJob};
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::Watch;
use lightbay_training::programs::circuit_bounds::circuit_bounds;
use lightbay_training::programs::selection::{self, Selection, Writing};
use lightbay_training::scenario::job::Job;
use lightbay_training::scenario::presets;
use lightbay_training::search::baselines::Baseline;
use lightbay_training::search::circuits::Proposal;
use lightbay_training::search::ga;
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_training::simulate::iteration::{Rule, Simulator};
use lightbay_training::simulate::windows::Windows;
use lightbay_training::{TrainingScenario, methods};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
        scenario: Arc::new(Scenario::new(name.to_owned(), TrainingScenario::Job(job.clone()))),
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

impl Watch<Proposal> for Pooled {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }
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
    for method in ["delta-joint", "delta-topo", "delta-fast", "delta-select", "auto"] {
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

/// Writing the integer program over circuits from the best baseline on.
fn selections(c: &mut Criterion) {
    for name in TABLE_I {
        let instance = TrainingScenario::Job(preset(name)).build().unwrap().instance;
        let evaluator = Evaluator::new(&instance).unwrap();
        let caps = caps(&evaluator);
        let mut scratch = Scratch::default();
        let limit_s = Baseline::ALL
            .map(|baseline| evaluator.bound(&baseline.allocate(&evaluator.network), &mut scratch))
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        for writing in [Writing::Full, Writing::Reduced] {
            let ask = selection::SelectionRequest {
                evaluator: &evaluator,
                instance: &instance,
                caps: &caps,
                limit_s: limit_s * (1.0 + 1e-6),
                goal: selection::Goal::Makespan,
                writing,
            };
            c.bench_function(&format!("write_selection/{name}/{writing:?}"), |b| {
                b.iter(|| Selection::new(black_box(ask)));
            });
        }
    }
}

fn threads(c: &mut Criterion) {
    let evaluator = evaluator(&preset("deepseek_671b"));
    let caps = caps(&evaluator);
    let task = ga::GaTask { evaluator: &evaluator, rates: Rates::Fair, caps: &caps, target: None };
    let mut group = c.benchmark_group("ga_deepseek_671b");
    group.sample_size(20);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut watch = Pooled(pool);
        group.bench_function(format!("{threads}_threads"), |b| {
            b.iter(|| {
                let streams = |island| Streams::new(1).stream(island);
                ga::evolve(task, &ga::GaSettings::default(), &[], streams, &mut watch).unwrap()
            });
        });
    }
    group.finish();
}

/// Contended DAGs: mean gap of the relaxation and of the search over orders, and how long the search takes.
fn contended(c: &mut Criterion) {
    let more = Family { links: 3, tasks: (30, 30), edges: 0.08, delay_s: 0.002, ..TWO_LINKS };
    let families = [
        ("8-16 tasks, 2 links", TWO_LINKS, 50),
        ("8-16 tasks, 2 links, both directions", Family { both_ways: true, ..TWO_LINKS }, 50),
        ("8-16 tasks, 2 links, no delays", Family { delay_s: 0.0, ..TWO_LINKS }, 50),
        ("8-16 tasks, 2 links, shared NICs", Family { cards: 0.4, ..TWO_LINKS }, 50),
        ("30 tasks, 3 links", more, 6),
        ("40 tasks, 2 links", Family { tasks: (40, 40), edges: 0.05, delay_s: 0.001, ..TWO_LINKS }, 6),
    ];
    for (name, family, count) in families {
        let begun = Instant::now();
        let gaps = gaps(family, count, 2_000);
        let each_ms = begun.elapsed().as_secs_f64() * 1e3 / count as f64;
        println!(
            "figure: contended DAGs, {name}: gap of the relaxation {:.4} %, of the search {:.4} %, closed {} of {count}, \
             {} nodes, {each_ms:.3} ms each",
            100.0 * gaps.plain,
            100.0 * gaps.ours,
            gaps.closed,
            gaps.nodes,
        );
    }
    c.bench_function("contended_dags/50_on_two_links", |b| b.iter(|| gaps(TWO_LINKS, 50, 2_000)));
}

criterion_group!(benches, simulations, searches, selections, threads, contended);
criterion_main!(benches);
