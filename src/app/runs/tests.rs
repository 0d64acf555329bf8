//! Tests of what a run keeps from its events.

use super::*;
use lightbay_sessions::ReplayLimits;
use std::sync::Arc;

fn run() -> Run {
    Run::new(RunId(1), "delta-select", "a", RunState::Running)
}

fn say(run: &mut Run, elapsed_s: f64, body: EventBody) {
    run.hear(&Event { run: run.id, method: Arc::from("delta-select"), seq: 0, elapsed_s, body });
}

fn stage(stage: &str, silent_s: Option<f64>) -> EventBody {
    EventBody::Solver(SolverStats { stage: stage.to_owned(), silent_s, ..SolverStats::default() })
}

#[test]
fn a_stage_begins_when_it_is_first_told() {
    let mut run = run();
    assert_eq!(run.stage(), None);
    say(&mut run, 1.0, stage("presolve", None));
    say(&mut run, 2.0, stage("root LP", None));
    say(&mut run, 9.0, stage("root LP", Some(6.5)));
    assert_eq!((run.stage(), run.stage_since_s, run.silent_s), (Some("root LP"), 2.0, 6.5));
    say(&mut run, 10.0, EventBody::Line(LogLine { text: "Solving root".to_owned() }));
    assert_eq!(run.silent_s, 0.0, "a line is news");
    say(&mut run, 11.0, stage("root LP", Some(f64::NAN)));
    assert_eq!(run.silent_s, 0.0);
}

#[test]
fn of_several_models_the_newest_of_each_step_stays() {
    let mut run = run();
    for (after, rows) in [("written in full", 9), ("presolve", 5), ("written in full", 8), ("presolve", 4)] {
        say(
            &mut run,
            0.0,
            EventBody::Model(ModelSize { after: after.to_owned(), rows, ..ModelSize::default() }),
        );
    }
    let known: Vec<(&str, u64)> = run.models.iter().map(|model| (model.after.as_str(), model.rows)).collect();
    assert_eq!(known, [("written in full", 8), ("presolve", 4)]);
    assert!(run.searches());
}

#[test]
fn the_newest_lines_stay_and_keep_their_numbers() {
    let mut run = run();
    for line in 0..LINES + 7 {
        say(&mut run, line as f64, EventBody::Line(LogLine { text: format!("line {line}") }));
    }
    assert_eq!(run.lines.len(), LINES);
    let first = run.lines.front().unwrap();
    assert_eq!((first.number, first.text.as_str(), first.at_ms), (7, "line 7", 7000));
    assert_eq!(run.lines.back().unwrap().number as usize, LINES + 6);
}

#[test]
fn an_incumbent_of_another_run_is_named_after_it() {
    let mut run = run();
    for (value, source) in [(3.0, "heuristic H"), (2.0, "offer")] {
        let incumbent = Incumbent {
            number: 0,
            value,
            secondary: 0.0,
            source: source.to_owned(),
            checked: false,
            metrics: BTreeMap::new(),
            plan: None,
        };
        say(&mut run, 1.0, EventBody::Incumbent(incumbent));
    }
    let offer = Offer { from: "delta-level".to_owned(), value: 2.0, here: Some(2.0), taken: true };
    say(&mut run, 1.0, EventBody::Offer(offer));
    let sources: Vec<&str> = run.rows.iter().map(|row| row.source.as_str()).collect();
    assert_eq!(sources, ["heuristic H", "imported from delta-level"]);
}

#[test]
fn rows_keep_their_numbers_when_the_middle_gives_way() {
    let mut run = run();
    for step in 0..1000 {
        say(&mut run, f64::from(step), EventBody::Bound(Bound { value: f64::from(step), only: None }));
    }
    assert_eq!(run.rows.len(), SEARCH_ROWS);
    assert_eq!((run.rows[0].number, run.rows[SEARCH_ROWS - 1].number), (0, 999));
    assert!(run.rows.windows(2).all(|pair| pair[0].number < pair[1].number));
}

/// A long search as a solver and a genetic search tell it: figures all the time, a better plan or bound now and then.
fn long_search() -> Vec<Event> {
    let mut events = Vec::new();
    let mut say = |elapsed_s: f64, body: EventBody| {
        let seq = events.len() as u64;
        events.push(Event { run: RunId(1), method: Arc::from("delta-select"), seq, elapsed_s, body });
    };
    say(0.0, EventBody::Started(Started { scenario_sha256: "a".to_owned(), ..Started::default() }));
    say(0.0, EventBody::Model(ModelSize { after: "presolve".to_owned(), rows: 9, ..ModelSize::default() }));
    for step in 0..30_000_u32 {
        let at_s = f64::from(step) / 10.0;
        let stats = SolverStats {
            done: u64::from(step) * 3,
            stage: "tree search".to_owned(),
            ..SolverStats::default()
        };
        say(at_s, EventBody::Solver(stats));
        if step % 211 == 7 {
            let value = 13.0 - f64::from(step) / 1e5;
            let source = format!("tree {step}");
            let incumbent = Incumbent {
                number: 0,
                value,
                secondary: 1.0,
                source,
                checked: false,
                metrics: BTreeMap::new(),
                plan: None,
            };
            say(at_s, EventBody::Incumbent(incumbent));
        }
        if step % 3 == 1 {
            let value = 12.0 + f64::from(step) / 1e5;
            let only = (step % 2 == 1).then(|| "this event order only".to_owned());
            say(at_s, EventBody::Bound(Bound { value, only }));
        }
        if step % 5 == 2 {
            say(at_s, EventBody::Line(LogLine { text: format!("   {step}  12.0") }));
        }
    }
    say(
        3000.0,
        EventBody::HotStart(HotStartReport {
            fate: lightbay_core::event::HotStartFate::Accepted,
            why: String::new(),
            before: None,
            after: Some(13.0),
        }),
    );
    events
}

#[test]
fn a_run_read_back_from_its_log_has_the_same_curves_rows_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let store = lightbay_sessions::Store::at(folder.path());
    let session =
        store.create("s", "toy", &serde_json::json!({"name": "s"}), "2026-01-01T00:00:00Z").unwrap();
    let clock: Arc<dyn lightbay_core::clock::Clock> = Arc::new(lightbay_core::clock::SystemClock::start());
    let book = Arc::new(lightbay_sessions::PlanBook::new());
    let writer = lightbay_sessions::SessionWriter::start(&session, book, clock, Box::new(|_| {})).unwrap();
    let sink = writer.sink();
    let mut live = run();
    for (count, event) in long_search().into_iter().enumerate() {
        live.hear(&event);
        lightbay_core::event::EventSink::report(&sink, event);
        if count % 2000 == 0 {
            writer.flush(std::time::Duration::from_mins(1)).unwrap();
        }
    }
    let status = writer.status();
    assert_eq!((status.thinned, status.merged), (0, 0));
    writer.close().unwrap();
    // Read with far less room than there are figures, so that they have to be thinned.
    for limits in [ReplayLimits::default(), ReplayLimits { progress: 20_000, lines: LINES }] {
        let replay = session.replay(limits).unwrap();
        let mut again = run();
        for line in replay.records {
            again.hear(&line.record.event());
        }
        assert_eq!(again.incumbents, live.incumbents);
        assert_eq!(again.bounds, live.bounds, "bounds over time and nodes");
        assert_eq!(again.rows, live.rows);
        assert_eq!((&again.solver, &again.models), (&live.solver, &live.models));
        assert_eq!(again.partial_bounds, live.partial_bounds);
        let partial = |run: &Run| run.partial.as_ref().map(|bound| (bound.value, bound.only.clone()));
        assert_eq!((again.bound, partial(&again)), (live.bound, partial(&live)));
        let texts =
            |run: &Run| run.lines.iter().map(|line| (line.at_ms, line.text.clone())).collect::<Vec<_>>();
        assert_eq!(texts(&again), texts(&live));
        assert_eq!(again.elapsed_s, live.elapsed_s);
    }
}
