//! Pieces of work on the threads of a run: the same reports for any number of threads, stops, pauses and failures.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests fail by panicking")]

mod toy;

use lightbay_core::clock::SystemClock;
use lightbay_core::context::{Apart, Context, Stop};
use lightbay_core::event::{EndStatus, EventBody, Recorder, RunId, Severity};
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::run::{Runs, TypedJob};
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::Watch;
use std::sync::Arc;
use std::time::Duration;
use toy::{Toy, candidate, done, request, scenario, wait_for};

/// A number for which the piece never ends by itself.
const ENDLESS: i64 = 1000;
/// A number for which the piece fails.
const FAILING: i64 = 2000;
/// A number for which the piece panics.
const PANICKING: i64 = 3000;
/// A number whose plan is wrong.
const LYING: i64 = 4000;

/// Looks at every number in a piece of its own; the first pieces take longest.
struct Pieces;

fn piece(at: usize, number: i64, count: usize, apart: &mut Apart<'_, '_, Toy>) -> Result<i64, MethodError> {
    apart.phase("piece", number.to_string());
    std::thread::sleep(Duration::from_millis(2 * (count - at) as u64));
    let position = at as i64;
    apart.tell(move |cx| {
        let claimed = if number == LYING { -1 } else { number };
        cx.incumbent(claimed as f64, 0.0, "piece", move || candidate(claimed, position)).map(drop)
    })?;
    loop {
        Watch::<()>::count(apart, 1);
        Watch::<()>::checkpoint(apart)?;
        match number {
            ENDLESS => std::thread::sleep(Duration::from_millis(1)),
            FAILING => return Err(MethodError::Failed(format!("piece {at} fails"))),
            PANICKING => panic!("deliberate"),
            _ => break,
        }
    }
    apart.note(Severity::Info, format!("{number} has ended"));
    Ok(number)
}

impl Method<Toy> for Pieces {
    fn info(&self) -> MethodInfo {
        MethodInfo { name: "pieces", help: "", proves: true, hot_start: false, params: Vec::new() }
    }

    fn solve(
        &self,
        scenario: &Scenario<Toy>,
        _: &Params,
        cx: &mut Context<'_, Toy>,
    ) -> Result<Outcome, MethodError> {
        let numbers: Vec<(usize, i64)> = scenario.body.numbers.iter().copied().enumerate().collect();
        let count = numbers.len();
        let found = cx.spread(numbers, |(at, number), apart| piece(at, number, count, apart))?;
        assert_eq!(found, scenario.body.numbers);
        Ok(Outcome::done(Status::Feasible))
    }
}

fn started(numbers: &[i64], threads: usize) -> (Runs, Arc<Recorder>, RunId) {
    let recorder = Arc::new(Recorder::default());
    let clock = Arc::new(SystemClock::start());
    let runs = Runs::new(threads, RunId(1), recorder.clone(), clock, None).unwrap();
    let job = TypedJob::new(Arc::new(Pieces), request(&scenario(numbers))).unwrap();
    let run = runs.submit(Box::new(job)).run;
    (runs, recorder, run)
}

/// What a run says, without what depends on the clock, and its end.
fn told(numbers: &[i64], threads: usize) -> (Vec<String>, (EndStatus, String, Option<f64>, u64)) {
    let (_runs, recorder, run) = started(numbers, threads);
    let done = done(&recorder, run);
    let words = |body: EventBody| match body {
        EventBody::Phase(phase) => Some(format!("{} {}", phase.name, phase.detail)),
        EventBody::Note(note) => Some(note.text),
        _ => None,
    };
    let said = recorder.events().into_iter().filter_map(|event| words(event.body)).collect();
    (said, (done.status, done.message, done.value, done.work))
}

#[test]
fn any_number_of_threads_says_and_finds_the_same() {
    let numbers = [9, 8, 3, 7, 5, 3, 6];
    let alone = told(&numbers, 1);
    assert_eq!((alone.0.len(), alone.1.2, alone.1.3), (14, Some(3.0), 7));
    for threads in [2, 3, 16] {
        assert_eq!(told(&numbers, threads), alone, "{threads} threads");
    }
}

/// The first piece that fails decides; what later pieces found does not count.
#[test]
fn the_first_failure_ends_the_run() {
    for threads in [1, 2, 4] {
        let (said, (status, message, value, _)) = told(&[9, FAILING, 3, FAILING], threads);
        assert_eq!((status, value), (EndStatus::Failed, Some(9.0)), "{threads} threads");
        assert!(message.contains("piece 1 fails"), "{message}");
        assert!(said.iter().all(|said| !said.contains('3')), "{said:?}");
    }
    let (_, (status, ..)) = told(&[9, LYING, 3], 2);
    assert_eq!(status, EndStatus::Failed);
    let (_, (status, message, ..)) = told(&[9, PANICKING, 3], 2);
    assert_eq!(status, EndStatus::Panicked);
    assert!(message.contains("deliberate"), "{message}");
}

#[test]
fn a_stop_ends_all_pieces_and_keeps_what_they_found() {
    for threads in [2, 3] {
        let (runs, recorder, run) = started(&[ENDLESS, 3, 2, 7], threads);
        // The first piece never ends, so that the others have not reported yet.
        wait_for(&recorder, |event| matches!(event.body, EventBody::Phase(_)));
        std::thread::sleep(Duration::from_millis(50));
        runs.stop(run, Stop::Requested);
        let done = done(&recorder, run);
        assert_eq!((done.status, done.value), (EndStatus::Stopped, Some(2.0)), "{threads} threads");
    }
}

#[test]
fn pieces_stand_still_while_the_run_is_paused() {
    let (runs, recorder, run) = started(&[ENDLESS, ENDLESS], 2);
    wait_for(&recorder, |event| matches!(event.body, EventBody::Phase(_)));
    runs.pause(run, true);
    wait_for(&recorder, |event| matches!(&event.body, EventBody::Paused(paused) if paused.paused));
    std::thread::sleep(Duration::from_millis(20));
    runs.pause(run, false);
    wait_for(&recorder, |event| matches!(&event.body, EventBody::Paused(paused) if !paused.paused));
    runs.stop(run, Stop::Requested);
    assert_eq!(done(&recorder, run).status, EndStatus::Stopped);
}
