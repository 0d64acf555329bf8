//! Costs of a helper process: its start with the hand-over of a model, and the time from asking to stop in a stage that
//! HiGHS cannot leave to having the answer.
//!
//! Prints the middle and the slow end of many trials. It starts itself as helper process.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a measurement, not part of the program"
)]

#[path = "../tests/worker/models.rs"]
mod models;

use lightbay_highs::event::{Flow, NoListener, SolverEvent, SolverListener, Stage};
use lightbay_highs::instance::solve_here;
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Start, Status};
use lightbay_highs::worker::{self, Launcher};
use models::{covering, endless};
use std::time::{Duration, Instant};

/// Trials of each measurement.
const TRIALS: usize = 21;

fn main() {
    if std::env::args().nth(1).is_some_and(|word| word == "--serve") {
        worker::serve().unwrap();
        return;
    }
    let launcher = Launcher::new(std::env::current_exe().unwrap(), ["--serve"]);
    hand_over(&launcher);
    stop(&launcher);
}

/// 1,500 rows and 4,000 columns, with a limit that ends the solver at once: what is left is the way there and back.
fn hand_over(launcher: &Launcher) {
    let model = covering(1_500, 4_000, 10);
    let options = Options::new().set("simplex_iteration_limit", 0).set("solve_relaxation", true);
    let mut here = Vec::new();
    let mut there = Vec::new();
    for _ in 0..TRIALS {
        let began = Instant::now();
        solve_here(&model, &options, &Start::None, &mut NoListener).unwrap();
        here.push(began.elapsed());
        let began = Instant::now();
        worker::solve(launcher, &model, &options, &Start::None, &mut NoListener).unwrap();
        there.push(began.elapsed());
    }
    say("1500x4000, no iteration, own process", here);
    say("1500x4000, no iteration, helper process", there);
}

struct Stopping {
    root: Option<Instant>,
    after: Duration,
    asked: Option<Instant>,
}

impl SolverListener for Stopping {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        if matches!(event, SolverEvent::Stage(Stage::RootLp)) {
            self.root = Some(Instant::now());
        }
        Flow::Continue
    }

    fn tick(&mut self) -> Flow {
        if self.root.is_some_and(|root| root.elapsed() >= self.after) {
            self.asked.get_or_insert_with(Instant::now);
            return Flow::Stop;
        }
        Flow::Continue
    }
}

/// Asks to stop in the middle of the first relaxation.
fn stop(launcher: &Launcher) {
    let model: Model = endless();
    let options = Options::new().set("presolve", "off");
    let start = Start::Full(vec![1.0; model.columns()]);
    let mut times = Vec::new();
    for trial in 0..TRIALS {
        let mut watch =
            Stopping { root: None, after: Duration::from_millis(200 + 10 * trial as u64), asked: None };
        let ending = worker::solve(launcher, &model, &options, &start, &mut watch).unwrap();
        assert!(ending.solution.status == Status::Interrupted && ending.solution.values.is_some());
        times.push(watch.asked.unwrap().elapsed());
    }
    say("stop in the first relaxation, answer in hand, process gone", times);
}

fn say(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let ms = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!("{what}: p50 {:.1} ms, p95 {:.1} ms", ms(0.5), ms(0.95));
}
