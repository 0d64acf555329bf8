//! Columns, seconds and answers of programs on published cases, and finishes of schedules round by round.
//!
//! Without arguments a list of cases of some seconds each. With arguments `PRESET EPOCH_US EPOCHS SECONDS` that
//! question, whole and folded: `cargo bench -p lightbay-collective --bench programs -- ndv2x2-allgather-1gb 5000 10
//! 60`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // a table is the point

use lightbay_collective::bounds::{bound, fluid_bound};
use lightbay_collective::model::fluid::FluidLinks;
use lightbay_collective::model::group::Folding;
use lightbay_collective::model::task::{CollectiveTask, CollectiveTasks};
use lightbay_collective::programs::fluid::ask_fluid;
use lightbay_collective::programs::questions::{AskedQuestion, QuestionLimits, ask};
use lightbay_collective::programs::solver::OwnProcess;
use lightbay_collective::scenario::{CollectiveScenario, EpochRule, presets};
use lightbay_collective::search::rounds::{RoundLimits, in_rounds};
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::watch::{Unwatched, Watch};
use lightbay_highs::options::Options;
use std::time::Instant;

/// A watch with a clock.
struct Clocked {
    began: Instant,
}

impl Watch for Clocked {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, _units: u64) {}

    fn elapsed_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}

fn options() -> Options {
    Options::new().set("random_seed", 1)
}

fn scenario(name: &str, epoch_us: f64, alpha_us: Option<f64>, chunks: u32) -> CollectiveScenario {
    let mut scenario = presets::scenario(name).unwrap();
    scenario.time.epoch = EpochRule::Fixed;
    scenario.time.epoch_us = Some(epoch_us);
    let buffer = scenario.demand.output_buffer_bytes.unwrap();
    scenario.demand.chunks_per_rank = chunks;
    scenario.demand.output_buffer_bytes = Some(buffer * f64::from(chunks));
    if let Some(alpha_us) = alpha_us {
        scenario.topology.links.iter_mut().for_each(|link| link.alpha_us = alpha_us);
    }
    scenario.validate().unwrap();
    scenario
}

fn task(scenario: &CollectiveScenario) -> CollectiveTask {
    CollectiveTasks::of(scenario, None).unwrap().tasks.remove(0)
}

/// Asks for schedules of that many epochs, of their bound if none are given: whole chunks, or parts of them.
fn question(name: &str, scenario: &CollectiveScenario, epochs: Option<u32>, parts: bool, seconds: f64) {
    let task = task(scenario);
    let links = FluidLinks::of(&task);
    let least = if parts {
        fluid_bound::<_, ()>(&task, &links, &mut Unwatched::default()).unwrap()
    } else {
        bound::<_, ()>(&task, &mut Unwatched::default()).unwrap()
    };
    let epochs = epochs.unwrap_or(least.epochs);
    let limits = QuestionLimits { seconds, until_s: f64::INFINITY, options: options(), buffer_limit: None };
    let whole = Folding::none(&task.network, &task.chunks);
    for folding in [Folding::largest(&task.network, &task.chunks), whole] {
        let mut watch = Clocked { began: Instant::now() };
        let mut solver = OwnProcess::new(&mut watch);
        let asked: AskedQuestion = if parts {
            let (asked, found) = ask_fluid(&task, &links, &folding, epochs, &limits, &mut solver).unwrap();
            let pieces = found.map_or(0, |found| found.pieces.len());
            println!("  {pieces} pieces");
            asked
        } else {
            ask(&task, &folding, epochs, &limits, &mut solver).unwrap().0
        };
        let program = asked.program;
        println!(
            "{name:28} {epochs:4} epochs (bound {:4}), folded by {:3}: {:9} columns, {:8} in time, {:7} folded, \
             {:8.2} s, {:?}",
            least.epochs,
            program.folded_by,
            program.whole.columns,
            program.pruned.columns,
            program.size.columns,
            asked.seconds,
            asked.outcome
        );
    }
}

fn rounds(name: &str, scenario: &CollectiveScenario, epochs: u32, seconds: f64) {
    let task = task(scenario);
    let least = bound::<_, ()>(&task, &mut Unwatched::default()).unwrap().epochs;
    let folding = Folding::none(&task.network, &task.chunks);
    let limits = RoundLimits { epochs, may_grow: true, seconds, options: options() };
    let mut watch = Clocked { began: Instant::now() };
    let found =
        in_rounds(&task, &folding, least, &limits, &mut OwnProcess::new(&mut watch), |_, _| Ok(())).unwrap();
    println!(
        "{name:28} rounds of {epochs} epochs: finish {}, bound {least}, {:.1} s",
        found.finish,
        watch.began.elapsed().as_secs_f64()
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|text| text != "--bench").collect();
    if let [name, epoch_us, epochs, seconds] = &arguments[..] {
        let scenario = scenario(name, epoch_us.parse().unwrap(), None, 1);
        let parts = task(&scenario).chunks.is_unicast();
        question(name, &scenario, Some(epochs.parse().unwrap()), parts, seconds.parse().unwrap());
        return;
    }
    for chunks in 1..=6 {
        let case = scenario("dgx1-allgather-200kb", 1.0, Some(0.0), chunks);
        question(&format!("DGX1 AllGather {chunks}"), &case, None, false, 60.0);
    }
    for (chunks, epoch_us) in [(1, 1.0 / 3.0), (3, 0.5), (8, 1.0 / 3.0)] {
        let case = scenario("dgx1-alltoall-200kb", epoch_us, Some(0.0), chunks);
        question(&format!("DGX1 AllToAll {chunks}"), &case, None, true, 60.0);
    }
    question(
        "torus 4x4x4 AllGather",
        &scenario("torus4x4x4-allgather-6.4mb", 2.0, None, 1),
        None,
        false,
        60.0,
    );
    question("AMD x1", &scenario("amdx1-allgather-1mb", 0.3125, None, 1), Some(26), false, 60.0);
    question("AMD x2", &scenario("amdx2-allgather-1gb", 1250.0, None, 1), Some(5), false, 60.0);
    question("NDv2 x2 AllGather", &scenario("ndv2x2-allgather-1gb", 5000.0, None, 1), None, false, 60.0);
    for epoch_us in [20_000.0, 5000.0] {
        question("NDv2 x2 AllToAll", &scenario("ndv2x2-alltoall-1gb", epoch_us, None, 1), None, true, 60.0);
    }
    rounds("DGX1 AllGather 2, no latency", &scenario("dgx1-allgather-200kb", 1.0, Some(0.0), 2), 2, 15.0);
    rounds("DGX1 AllGather 2", &scenario("dgx1-allgather-200kb", 1.0, None, 2), 3, 15.0);
    rounds("NDv2 x2 AllGather 1 MB", &scenario("ndv2x2-allgather-1mb", 1.25, None, 1), 8, 15.0);
    rounds("NDv2 x2 AllGather 1 GB", &scenario("ndv2x2-allgather-1gb", 1250.0, None, 1), 9, 15.0);
}
