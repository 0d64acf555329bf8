//! Knobs changed while a method runs, and pauses.

use super::support::{Asked, Board, Log, essence, recheck};
use lightbay_core::event::{EndStatus, Event, EventBody};
use lightbay_core::param::{Effect, ParamValue};
use lightbay_core::plan::Limit;

const FOR_EVER: &str = "generations=1000000 stall_generations=1000000 wall_limit_s=0";

/// A search that would go on for ever, edited when generation 20 was reported.
fn edited(name: &'static str, value: ParamValue) -> Log {
    let change = value.clone();
    let board = Board::new(2, move |event: &Event, runs| {
        if matches!(&event.body, EventBody::Generation(stats) if stats.generation == 20) {
            runs.edit(event.run, name, &change);
        }
    });
    board.submit(&Asked::new("small", "delta-fast").set(FOR_EVER));
    let log = board.finish();
    let edit = log.0.iter().find_map(|event| match &event.body {
        EventBody::Edit(edit) => Some(edit.clone()),
        _ => None,
    });
    let edit = edit.unwrap();
    assert_eq!((edit.name.as_str(), &edit.new, edit.effect), (name, &value, Effect::Live));
    let plan = recheck(log.done().plan.as_ref().unwrap());
    assert!(!plan.plan().provenance.reproducible, "{name}");
    // A million generations would end it, too.
    assert!(last_generation(&log) < 100_000, "{name}");
    log
}

fn last_generation(log: &Log) -> u64 {
    let generations = log.0.iter().filter_map(|event| match &event.body {
        EventBody::Generation(stats) => Some(stats.generation),
        _ => None,
    });
    generations.max().unwrap()
}

#[test]
fn generations() {
    let log = edited("generations", ParamValue::Int(60));
    assert_eq!((log.done().status, log.done().limit), (EndStatus::Heuristic, Some(Limit::Work)));
    let last = last_generation(&log);
    assert!((60..100).contains(&last), "{last}");
    let edit = log.0.iter().find_map(|event| match &event.body {
        EventBody::Edit(edit) => edit.old.clone(),
        _ => None,
    });
    assert_eq!(edit, Some(ParamValue::Int(1_000_000)));
}

#[test]
fn stall_generations() {
    let log = edited("stall_generations", ParamValue::Int(30));
    assert_eq!((log.done().status, log.done().limit), (EndStatus::Heuristic, Some(Limit::Stall)));
}

#[test]
fn wall_limit() {
    let log = edited("wall_limit_s", ParamValue::Float(1e-6));
    assert_eq!(log.done().limit, Some(Limit::Time));
}

#[test]
fn time_limit() {
    let log = edited("time_limit_s", ParamValue::Float(1e-6));
    assert_eq!((log.done().status, log.done().limit), (EndStatus::Stopped, Some(Limit::Time)));
}

#[test]
fn gap() {
    let board = Board::new(1, |event: &Event, runs| {
        if matches!(event.body, EventBody::Started(_)) {
            runs.edit(event.run, "gap", &ParamValue::Float(0.5));
        }
    });
    board.submit(&Asked::new("deepseek_671b", "delta-joint"));
    let log = board.finish();
    assert_eq!(log.done().status, EndStatus::GapReached);
    recheck(log.done().plan.as_ref().unwrap());
}

/// Every knob that says it is live is one of those tested above.
#[test]
fn nothing_else_claims_to_be_live() {
    let mut live: Vec<String> = lightbay_training::methods::all()
        .iter()
        .flat_map(|method| method.info().params)
        .chain(lightbay_core::run::common_params())
        .filter(|param| param.effect == Effect::Live)
        .map(|param| param.name.to_string())
        .collect();
    live.sort();
    live.dedup();
    assert_eq!(live, ["gap", "generations", "stall_generations", "time_limit_s", "wall_limit_s"]);
}

#[test]
fn a_pause_changes_nothing_but_the_time() {
    let alone = Asked::new("small", "delta-level").set("generations=30").solve();
    let board = Board::new(2, |event: &Event, runs| match &event.body {
        EventBody::Generation(stats) if stats.generation == 10 => runs.pause(event.run, true),
        EventBody::Paused(paused) if paused.paused => runs.pause(event.run, false),
        _ => {}
    });
    board.submit(&Asked::new("small", "delta-level").set("generations=30"));
    board.wait_for(|event| matches!(&event.body, EventBody::Paused(paused) if !paused.paused));
    let log = board.finish();
    assert_eq!((log.done().value, log.done().work), (alone.done().value, alone.done().work));
    let plans = [&log, &alone].map(|log| essence(log.done().plan.as_ref().unwrap()));
    assert!(plans[0] == plans[1]);
}
