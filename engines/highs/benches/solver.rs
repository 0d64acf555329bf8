//! Costs of listening to the solver, savings of a warm start, and the time that a stop takes in the simplex method, the
//! interior point method and the tree search.
//!
//! Costs are CPU seconds of the thread, so that a busy machine spoils them little; times of stops are wall
//! time. Prints middles and slow ends of many trials, and the fastest ones where ways are compared. A word after
//! `--` picks one of `cost`, `warm` and `stop`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a measurement, not part of the program"
)]

#[path = "../tests/solver/models.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod models;

use lightbay_highs::event::{Flow, NoListener, SolverEvent, SolverListener, Stage};
use lightbay_highs::instance::Instance;
use lightbay_highs::model::{Column, Domain, Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::Status;
use models::{Recorder, flows, knapsack};
use std::time::{Duration, Instant};

fn main() {
    let picked = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let wanted = |part: &str| picked.as_ref().is_none_or(|picked| picked == part);
    let lp = flows(24, 60);
    println!("LP: {:?}", lp.size());
    if wanted("cost") {
        cost("simplex method", &lp, Options::new());
        cost("interior point", &lp, Options::new().set("solver", "ipx"));
        cost("tree search", &knapsack(30), Options::new().relative_gap(0.0));
    }
    if wanted("warm") {
        warm(&lp);
    }
    if wanted("stop") {
        let large = flows(30, 240);
        let off = Options::new().set("presolve", "off");
        stop("simplex method", &large, &off, |event| matches!(event, SolverEvent::Simplex(_)));
        let ipx = off.set("solver", "ipx");
        stop("interior point", &large, &ipx, |event| matches!(event, SolverEvent::Ipm(_)));
        let exact = Options::new().relative_gap(0.0);
        stop("tree search", &knapsack(100), &exact, |event| matches!(event, SolverEvent::Stage(Stage::Tree)));
    }
}

/// CPU seconds of this thread.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The trial that was disturbed least, for differences of a few per cent.
fn fastest(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The same model without any callback, by the plain front of the solver.
fn plain(model: &Model) -> highs::Model {
    let mut problem = highs::RowProblem::default();
    let columns: Vec<highs::Col> = (0..model.columns())
        .map(|column| {
            let whole = model.domains[column] == Domain::Integer;
            let bounds = model.lower[column]..=model.upper[column];
            problem.add_column_with_integrality(model.costs[column], bounds, whole)
        })
        .collect();
    for row in 0..model.rows() {
        let bounds = model.row_lower[row]..=model.row_upper[row];
        let terms: Vec<(highs::Col, f64)> =
            model.terms(Row(row as u32)).map(|(column, value)| (columns[column.index()], value)).collect();
        problem.add_row(bounds, terms);
    }
    let sense = if model.maximise { highs::Sense::Maximise } else { highs::Sense::Minimise };
    problem.optimise(sense)
}

fn cost(what: &str, model: &Model, options: Options) {
    let mut times: [Vec<f64>; 4] = Default::default();
    let mut events = 0;
    for _ in 0..15 {
        for (way, times) in times.iter_mut().enumerate() {
            let mut instance = Instance::new(model).unwrap();
            instance.apply(&options).unwrap();
            let mut without = plain(model);
            without.make_quiet();
            without.set_option("threads", 1);
            for (name, value) in &options.0 {
                match value {
                    lightbay_highs::options::OptionValue::Float(value) => {
                        without.set_option(name.as_str(), *value);
                    }
                    lightbay_highs::options::OptionValue::Text(value) => {
                        without.set_option(name.as_str(), value.as_str());
                    }
                    _ => {}
                }
            }
            let before = cpu();
            match way {
                0 => drop(without.solve()),
                1 => {
                    instance.apply(&Options::new().set("output_flag", false)).unwrap();
                    drop(instance.run(&mut NoListener).unwrap());
                }
                2 => drop(instance.run(&mut NoListener).unwrap()),
                _ => {
                    let mut watch = Recorder::default();
                    drop(instance.run(&mut watch).unwrap());
                    events = watch.0.len();
                }
            }
            times.push(cpu() - before);
        }
    }
    let [plain, silent, unwatched, watched] = times.each_ref().map(|times| fastest(times));
    let more = |time: f64| 100.0 * (time / plain - 1.0);
    println!(
        "{what}: {plain:.4} s without callbacks; {:+.1} % without log, {:+.1} % with log, {:+.1} % with a watch \
         that keeps all {events} events",
        more(silent),
        more(unwatched),
        more(watched),
    );
}

fn warm(model: &Model) {
    let (mut cold, mut again, mut changed, mut set) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut iterations = [0; 4];
    let mut timed = |instance: &mut Instance, times: &mut Vec<f64>, place: usize| {
        let before = cpu();
        let solution = instance.run(&mut NoListener).unwrap();
        times.push(cpu() - before);
        iterations[place] = solution.simplex_iterations;
    };
    for trial in 0..9_usize {
        let mut instance = Instance::new(model).unwrap();
        timed(&mut instance, &mut cold, 0);
        let basis = instance.basis().unwrap();
        timed(&mut instance, &mut again, 1);
        let columns: Vec<usize> = (trial * 7..model.columns()).step_by(100).collect();
        for column in &columns {
            instance.set_cost(Column(*column as u32), model.costs[*column] * 1.3).unwrap();
        }
        timed(&mut instance, &mut changed, 2);
        let mut instance = Instance::new(model).unwrap();
        instance.set_basis(&basis).unwrap();
        timed(&mut instance, &mut set, 3);
    }
    let lists = [
        ("cold", &mut cold),
        ("again", &mut again),
        ("1 % of costs changed", &mut changed),
        ("saved basis", &mut set),
    ];
    for ((what, times), iterations) in lists.into_iter().zip(iterations) {
        println!("LP {what}: {iterations} iterations, {:.4} s", middle(times));
    }
}

/// Sets the flag of the run from another thread, a moment after the wanted event.
struct Moment<F> {
    when: F,
    go: Option<std::sync::mpsc::Sender<()>>,
}

impl<F: Fn(&SolverEvent) -> bool> SolverListener for Moment<F> {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        if (self.when)(event)
            && let Some(go) = self.go.take()
        {
            let _ = go.send(());
        }
        Flow::Continue
    }
}

fn stop(what: &str, model: &Model, options: &Options, when: impl Fn(&SolverEvent) -> bool + Copy) {
    let mut times = Vec::new();
    let mut finished = 0;
    for trial in 0..25 {
        let mut instance = Instance::new(model).unwrap();
        instance.apply(options).unwrap();
        let flag = instance.interrupt();
        let (go, wait) = std::sync::mpsc::channel();
        let stopper = std::thread::spawn(move || {
            let _ = wait.recv();
            std::thread::sleep(Duration::from_millis(trial * 7));
            flag.stop();
            Instant::now()
        });
        let solution = instance.run(&mut Moment { when, go: Some(go) }).unwrap();
        let returned = Instant::now();
        let asked = stopper.join().unwrap();
        if solution.status == Status::Interrupted {
            times.push(returned.duration_since(asked).as_secs_f64() * 1e3);
        } else {
            finished += 1;
        }
    }
    times.sort_by(f64::total_cmp);
    let Some(last) = times.last() else { return println!("stop in {what}: every run had ended before") };
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    println!(
        "stop in {what}: p50 {:.2} ms, p95 {:.2} ms, max {last:.2} ms ({} trials, {finished} had ended before)",
        at(0.5),
        at(0.95),
        times.len(),
    );
}
