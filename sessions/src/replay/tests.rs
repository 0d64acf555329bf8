//! Tests of reading a log back.

use super::*;
use crate::toy;
use lightbay_core::event::{Event, LogLine, SolverStats, Started};

fn log(events: &[(Event, Option<u64>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (event, plan) in events {
        LogRecord { record: event.record(), plan: plan.map(PlanId), content: None }
            .write_line(&mut bytes)
            .unwrap();
    }
    bytes
}

fn collect(bytes: &[u8], limits: ReplayLimits) -> Replay {
    Replay::collect(LogReader::new(bytes), limits).unwrap()
}

fn started(run: u64, scenario: &str) -> Event {
    let body = EventBody::Started(Started { scenario_sha256: scenario.to_owned(), ..Started::default() });
    toy::event(run, 0, body)
}

#[test]
fn runs_side_by_side_come_back_interleaved_with_their_histories() {
    let bytes = log(&[
        (started(1, "a"), None),
        (started(2, "a"), None),
        (toy::incumbent(2, 1, 1, 0.75), Some(1)),
        (toy::incumbent(1, 1, 1, 0.5), Some(2)),
        (toy::incumbent(1, 2, 0, 0.4), None),
        (toy::incumbent(1, 3, 2, 0.4), Some(3)),
        (toy::bound(1, 4, 0.3), None),
        (toy::done(2, 2, Some(0.75)), Some(1)),
        (started(3, "b"), None),
        (toy::incumbent(3, 1, 1, 0.1), Some(4)),
    ]);
    let replay = collect(&bytes, ReplayLimits::ALL);
    let order: Vec<(u64, u64)> =
        replay.records.iter().map(|line| (line.record.run.0, line.record.seq)).collect();
    assert_eq!(order, [(1, 0), (2, 0), (2, 1), (1, 1), (1, 2), (1, 3), (1, 4), (2, 2), (3, 0), (3, 1)]);
    assert_eq!(replay.end, bytes.len() as u64);
    let first = &replay.runs[&RunId(1)];
    assert_eq!((first.value, first.plan, first.plans), (Some(0.4), Some(PlanId(3)), 2));
    assert_eq!(first.bound, Some(0.3));
    assert!((first.elapsed_s - 0.4).abs() < 1e-12);
    assert!(replay.runs[&RunId(2)].done.is_some());
    assert_eq!(replay.unfinished().map(|run| run.run.0).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(replay.runs.keys().next_back(), Some(&RunId(3)));
}

#[test]
fn a_process_is_at_work_on_the_unfinished_runs_that_it_began() {
    let began = |run: u64, date: &str| {
        let body = EventBody::Started(Started { date: date.to_owned(), ..Started::default() });
        (toy::event(run, 0, body), None)
    };
    let bytes = log(&[
        began(1, "2026-01-01T09:59:59Z"),
        began(2, "2026-01-01T10:00:00Z"),
        began(3, "2026-01-01T11:00:00Z"),
        (toy::done(3, 1, None), None),
        began(4, "2026-01-02T00:00:00Z"),
    ]);
    let replay = collect(&bytes, ReplayLimits::ALL);
    let holder = LockHolder::here("2026-01-01T10:00:00Z");
    assert_eq!(replay.at_work(&holder).collect::<Vec<_>>(), [RunId(2), RunId(4)]);
    let unknown = LockHolder::default();
    assert_eq!(replay.at_work(&unknown).collect::<Vec<_>>(), [RunId(1), RunId(2), RunId(4)]);
}

#[test]
fn a_log_cut_at_any_byte_replays_what_was_whole() {
    let bytes = log(&[
        (started(1, "a"), None),
        (toy::incumbent(1, 1, 1, 0.5), Some(1)),
        (toy::incumbent(1, 2, 2, 0.25), Some(2)),
    ]);
    for cut in 0..bytes.len() {
        let replay = collect(&bytes[..cut], ReplayLimits::ALL);
        let ends = bytes[..cut].split(|byte| *byte == b'\n').count() - 1;
        assert_eq!(replay.broken, 0, "cut at {cut}");
        assert!(replay.records.len() >= ends && replay.records.len() <= ends + 1, "cut at {cut}");
        let whole_plans = replay.records.iter().filter(|line| line.plan.is_some()).count();
        assert_eq!(replay.plans().count(), whole_plans, "cut at {cut}");
    }
}

#[test]
fn memory_is_bounded_and_curves_keep_their_shape() {
    let mut events = vec![(started(1, "a"), None)];
    for i in 0..10_000 {
        events.push((toy::generation(1, i, 1.0 / (i as f64 + 1.0)), None));
        if i % 1000 == 0 {
            events.push((toy::incumbent(1, i, i / 1000 + 1, 1.0), Some(i / 1000 + 1)));
        }
    }
    let replay = collect(&log(&events), ReplayLimits { progress: 100, ..ReplayLimits::ALL });
    let points: Vec<u64> = replay
        .records
        .iter()
        .filter(|line| line.record.body.is_progress())
        .map(|line| line.record.seq)
        .collect();
    assert!((50..=101).contains(&points.len()), "{}", points.len());
    assert_eq!((points.first(), points.last()), (Some(&0), Some(&9999)));
    let widest = points.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(widest <= 10_000 / 50, "evenly, not only at one end: {widest}");
    assert_eq!(replay.records.len() - points.len(), 11, "milestones stay");
    assert_eq!(replay.thinned + points.len() as u64, 10_000);
}

#[test]
fn no_log_is_an_empty_replay() {
    let folder = tempfile::tempdir().unwrap();
    let replay = Replay::read(&folder.path().join("run.log"), ReplayLimits::default()).unwrap();
    assert!(replay.records.is_empty() && replay.runs.is_empty());
}

#[test]
fn new_bounds_and_the_nodes_of_incumbents_survive_thinning_and_so_do_the_newest_lines() {
    let nodes =
        |seq, done| toy::event(1, seq, EventBody::Solver(SolverStats { done, ..SolverStats::default() }));
    let mut events = vec![(started(1, "a"), None)];
    let mut seq = 0;
    let mut say = |make: &dyn Fn(u64) -> Event| {
        seq += 1;
        events.push((make(seq), None));
    };
    for step in 0..2000_u64 {
        say(&|seq| nodes(seq, step));
        match step % 100 {
            42 => say(&|seq| toy::bound(1, seq, step as f64)),
            77 => say(&|seq| toy::incumbent(1, seq, 0, -(step as f64))),
            99 => say(&|seq| toy::event(1, seq, EventBody::Line(LogLine { text: format!("at {step}") }))),
            _ => {}
        }
    }
    let bytes = log(&events);
    let replay = collect(&bytes, ReplayLimits { progress: 60, lines: 3 });
    let mut known = 0;
    let mut found = Vec::new();
    let mut lines = Vec::new();
    for line in &replay.records {
        match &line.record.body {
            EventBody::Solver(stats) => known = stats.done,
            EventBody::Bound(_) | EventBody::Incumbent(_) => found.push(known),
            EventBody::Line(line) => lines.push(line.text.clone()),
            _ => {}
        }
    }
    let expected: Vec<u64> = (0..2000).filter(|step| matches!(step % 100, 42 | 77)).collect();
    assert_eq!(found, expected);
    assert_eq!(lines, ["at 1799", "at 1899", "at 1999"]);
    assert!(replay.records.is_sorted_by_key(|line| line.record.seq), "everything in its order");
    assert_eq!(replay.records.len() as u64 + replay.thinned, events.len() as u64);
}
