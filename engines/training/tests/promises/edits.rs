//! Knobs changed while a method runs, and pauses.

use super::family::TWO_LINKS;
use super::support::{Asked, Board, Log, essence, recheck};
use lightbay_core::event::{EndStatus, Event, EventBody};
use lightbay_core::param::{Effect, ParamValue};
use lightbay_core::plan::Limit;
use lightbay_training::TrainingScenario;

const FOR_EVER: &str = "generations=1000000 stall_generations=1000000 wall_limit_s=0";

/// A search that would continue for ever, edited when generation 20 was reported.
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

/// A search over orders that would need more than one, edited as it begins.
fn edited_order(name: &'static str, value: ParamValue) -> Log {
    let body = || TrainingScenario::Instance(TWO_LINKS.instance(4));
    let whole = Asked::of(body(), "delta-joint").solve();
    assert_eq!(whole.done().status, EndStatus::Optimal);
    let board = Board::new(1, move |event: &Event, runs| {
        if matches!(&event.body, EventBody::Phase(phase) if phase.name == "orders") {
            runs.edit(event.run, name, &value);
        }
    });
    board.submit(&Asked::of(body(), "delta-joint").set("generations=0 islands=1 population=2 elites=1"));
    let log = board.finish();
    assert!(log.done().bound < whole.done().bound, "{name}");
    recheck(log.done().plan.as_ref().unwrap());
    log
}

#[test]
fn orders() {
    let log = edited_order("orders", ParamValue::Int(1));
    assert_eq!((log.done().status, log.done().limit), (EndStatus::Heuristic, Some(Limit::Work)));
}

#[test]
fn orders_limit() {
    let log = edited_order("orders_limit_s", ParamValue::Float(1e-9));
    assert_eq!((log.done().status, log.done().limit), (EndStatus::Heuristic, Some(Limit::Work)));
}

/// A search over event orders that would continue for ever, edited when it has solved some programs.
fn edited_event_orders(name: &'static str) {
    let body = TrainingScenario::Instance(TWO_LINKS.instance(4));
    let board = Board::new(1, move |event: &Event, runs| {
        if matches!(&event.body, EventBody::Solver(stats) if stats.unit == "LPs") {
            runs.edit(event.run, name, &ParamValue::Int(1));
        }
    });
    board.submit(&Asked::of(body, "delta-order").set("lps=1000000000 restarts=1000000000"));
    let log = board.finish();
    let edit =
        log.0.iter().position(|event| matches!(&event.body, EventBody::Edit(edit) if edit.name == name));
    assert!(edit.is_some(), "{name}");
    recheck(log.done().plan.as_ref().unwrap());
    assert!(log.done().work < 1_000_000, "{name}: {}", log.done().work);
}

#[test]
fn event_orders() {
    edited_event_orders("lps");
    edited_event_orders("restarts");
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
    let tested = [
        "gap",
        "generations",
        "lps",
        "orders",
        "orders_limit_s",
        "restarts",
        "stall_generations",
        "time_limit_s",
        "wall_limit_s",
    ];
    assert_eq!(live, tested);
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
