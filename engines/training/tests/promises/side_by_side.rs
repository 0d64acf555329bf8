//! Methods that run side by side: their events interleave, and each offers the others its best.

use super::support::{Asked, Board, Log, essence, preset, recheck};
use lightbay_core::event::{EndStatus, Event, EventBody, Offer};
use lightbay_training::TrainingScenario;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Doors that events open and at which other runs wait, so that an order of events is certain.
#[derive(Clone, Default)]
struct Doors(Arc<(Mutex<Vec<&'static str>>, Condvar)>);

impl Doors {
    fn open(&self, door: &'static str) {
        self.0.0.lock().unwrap().push(door);
        self.0.1.notify_all();
    }

    fn wait(&self, door: &'static str) {
        let open = self.0.0.lock().unwrap();
        let shut = |open: &mut Vec<&'static str>| !open.contains(&door);
        let waited = self.0.1.wait_timeout_while(open, Duration::from_mins(1), shut).unwrap();
        assert!(!waited.1.timed_out(), "nobody came to open '{door}'");
    }
}

fn offers<'a>(log: &'a Log, to: &'a str) -> Vec<&'a Offer> {
    let bodies = log.of_method(to).map(|(_, body)| body);
    bodies
        .filter_map(|body| match body {
            EventBody::Offer(offer) => Some(offer),
            _ => None,
        })
        .collect()
}

/// A poor genetic search at fair rates that waits at its first generation until the proof of another is complete.
fn fed(gbps: f64, proof: &'static str) -> Log {
    let mut job = preset("deepseek_671b");
    job.run.bandwidth_gbps = gbps;
    let body = TrainingScenario::Job(job);
    let doors = Doors::default();
    let board = Board::new(2, move |event: &Event, _| match &event.body {
        EventBody::Done(_) if &*event.method == proof => doors.open("proof"),
        EventBody::Generation(stats) if stats.generation == 0 => doors.wait("proof"),
        _ => {}
    });
    board.submit(
        &Asked::of(body.clone(), "delta-fast").set("generations=2 islands=1 population=2 mutation=0"),
    );
    board.submit(&Asked::of(body, proof));
    board.finish()
}

#[test]
fn the_proof_feeds_the_genetic_search() {
    let log = fed(200.0, "delta-topo");
    let optimum = log.done_of("delta-topo").value.unwrap();
    let offers = offers(&log, "delta-fast");
    let taken = offers.iter().find(|offer| offer.taken).unwrap();
    assert_eq!((taken.from.as_str(), taken.value, taken.here), ("delta-topo", optimum, Some(optimum)));
    let done = log.done_of("delta-fast");
    assert_eq!(done.value, Some(optimum));
    let plan = recheck(done.plan.as_ref().unwrap());
    assert!(!plan.plan().provenance.reproducible);
    let why = plan.plan().provenance.not_reproducible_because.clone().unwrap();
    assert!(why.contains("delta-topo"), "{why}");
    let sources: Vec<&str> = log
        .0
        .iter()
        .filter(|event| &*event.method == "delta-fast")
        .filter_map(|event| match &event.body {
            EventBody::Incumbent(incumbent) => Some(incumbent.source.as_str()),
            _ => None,
        })
        .collect();
    assert!(sources.contains(&"offer"), "{sources:?}");
}

#[test]
fn an_offer_is_judged_by_the_rates_of_whoever_gets_it() {
    let log = fed(400.0, "delta-joint");
    let (optimum, done) = (log.done_of("delta-joint").value.unwrap(), log.done_of("delta-fast"));
    let offers = offers(&log, "delta-fast");
    let offer = offers.iter().find(|offer| offer.from == "delta-joint").unwrap();
    assert_eq!(offer.value, optimum);
    assert!(offer.here.unwrap() > optimum, "fair rates take longer on this job: {offer:?}");
    assert!(done.value.unwrap() > optimum);
    if offer.taken {
        assert!(done.value <= offer.here);
    }
}

/// The proof waits before its end until the genetic search has found something.
#[test]
fn the_genetic_search_feeds_the_proof() {
    let doors = Doors::default();
    let board = Board::new(2, move |event: &Event, _| match (&*event.method, &event.body) {
        ("delta-level", EventBody::Done(_)) => doors.open("found"),
        // The baselines are known, the search has not begun.
        ("delta-joint", EventBody::Phase(phase)) if phase.name == "outer search" => doors.wait("found"),
        _ => {}
    });
    board.submit(&Asked::new("deepseek_671b", "delta-joint"));
    board.submit(&Asked::new("deepseek_671b", "delta-level").set("generations=60"));
    let log = board.finish();
    let done = log.done_of("delta-joint");
    assert_eq!(done.status, EndStatus::Optimal);
    let offers = offers(&log, "delta-joint");
    // Better than the baselines, so it is what the proof starts from.
    assert!(offers.iter().any(|offer| offer.from == "delta-level" && offer.taken), "{offers:?}");
    assert!(offers.iter().all(|offer| offer.here == Some(offer.value)), "both plan the rates: {offers:?}");
    let alone = Asked::new("deepseek_671b", "delta-joint").solve();
    assert!((done.value.unwrap() - alone.done().value.unwrap()).abs() <= 1e-12 * done.value.unwrap());
    recheck(done.plan.as_ref().unwrap());
}

#[test]
fn runs_make_progress_at_the_same_time() {
    // Each waits in the middle of its work for a sign of life from the other: one after the other would hang.
    let doors = Doors::default();
    let board = Board::new(2, move |event: &Event, _| match (&*event.method, &event.body) {
        ("delta-fast", EventBody::Generation(stats)) if stats.generation == 3 => {
            doors.open("fast works");
            doors.wait("topo works");
        }
        ("delta-topo", EventBody::Bound(_) | EventBody::Solver(_)) => {
            doors.open("topo works");
            doors.wait("fast works");
        }
        _ => {}
    });
    board.submit(&Asked::new("mixtral_8x22b", "delta-fast").set("generations=30"));
    board.submit(&Asked::new("mixtral_8x22b", "delta-topo"));
    let log = board.finish();
    let span = |method: &str| {
        let positions: Vec<usize> = log.of_method(method).map(|(position, _)| position).collect();
        (positions[0], *positions.last().unwrap())
    };
    let (fast, topo) = (span("delta-fast"), span("delta-topo"));
    let inside = |method: &'static str, other: (usize, usize)| {
        log.of_method(method).filter(|(position, _)| *position > other.0 && *position < other.1).count()
    };
    assert!(inside("delta-topo", fast) > 3 && inside("delta-fast", topo) > 3, "{fast:?} {topo:?}");
    // Numbers count within a run, whoever speaks in between.
    for method in ["delta-fast", "delta-topo"] {
        let numbers = log.0.iter().filter(|event| &*event.method == method).map(|event| event.seq);
        assert!(numbers.enumerate().all(|(index, seq)| seq == index as u64), "{method}");
    }
}

#[test]
fn runs_of_other_scenarios_offer_nothing() {
    let board = Board::new(2, |_, _| {});
    board.submit(&Asked::new("tiny32", "delta-joint"));
    board.submit(&Asked::new("small", "delta-level").set("generations=10"));
    board.submit(&Asked::new("tiny8", "delta-topo"));
    let log = board.finish();
    assert!(!log.0.iter().any(|event| matches!(event.body, EventBody::Offer(_))));
    for asked in
        [Asked::new("small", "delta-level").set("generations=10"), Asked::new("tiny32", "delta-joint")]
    {
        let alone = asked.solve();
        let plans =
            [log.done_of(&asked.method), alone.done()].map(|done| essence(done.plan.as_ref().unwrap()));
        assert!(plans[0] == plans[1], "{} is disturbed by others", asked.method);
    }
}
