//! Tests of the times at which things are written, and that nothing is lost when the disk refuses.

use super::inbox::{MOST_LINES, MOST_PROGRESS, MOST_UNCHECKED};
use super::pending::{BEAT, PendingWrites};
use super::*;
use crate::log::{LogReader, LogRecord};
use crate::replay::{Replay, ReplayLimits};
use crate::store::Store;
use crate::toy;
use lightbay_core::clock::ManualClock;
use lightbay_core::event::{EventBody, LogLine, ModelSize, Note, RunId, Severity};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

mod home;
mod kill;

const NONE: Duration = Duration::ZERO;

/// A disk in memory that can be full.
#[derive(Clone, Debug, Default)]
struct Fake(Arc<Mutex<FakeDisk>>);

#[derive(Debug, Default)]
struct FakeDisk {
    full: bool,
    log: Vec<u8>,
    syncs: usize,
    plans: Vec<(PlanId, f64)>,
    sessions: usize,
}

impl Fake {
    fn state(&self) -> MutexGuard<'_, FakeDisk> {
        lock(&self.0)
    }

    fn fill(&self, full: bool) {
        self.state().full = full;
    }

    fn replay(&self) -> Replay {
        Replay::collect(LogReader::new(self.state().log.as_slice()), ReplayLimits::ALL).unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut FakeDisk)) -> Result<(), SessionError> {
        let mut state = self.state();
        if state.full {
            let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(SessionError::writing(Path::new("/full/run.log"), full));
        }
        change(&mut state);
        Ok(())
    }
}

impl Disk for Fake {
    fn settle(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn place(&self) -> SessionPlace {
        SessionPlace::default()
    }
    fn move_to(&mut self, _: &Store, _: bool) -> Result<(), SessionError> {
        self.change(|_| ())
    }
    fn append(&mut self, lines: &[u8]) -> Result<(), SessionError> {
        self.change(|disk| disk.log.extend_from_slice(lines))
    }
    fn sync(&mut self) -> Result<(), SessionError> {
        self.change(|disk| disk.syncs += 1)
    }
    fn write_plan(&mut self, plan: PlanId, json: &[u8]) -> Result<(), SessionError> {
        let value: Value = serde_json::from_slice(json).unwrap();
        let value = value["objective"]["value"].as_f64().unwrap();
        self.change(|disk| disk.plans.push((plan, value)))
    }
    fn delete_plan(&mut self, plan: PlanId) -> Result<(), SessionError> {
        self.change(|disk| disk.plans.retain(|(known, _)| *known != plan))
    }
    fn write_session(&mut self, _: &[u8]) -> Result<(), SessionError> {
        self.change(|disk| disk.sessions += 1)
    }
    fn write_scenario(&mut self, _: &Arc<Value>) -> Result<(), SessionError> {
        self.change(|_| ())
    }
    fn remember(&mut self, _: &Path, _: RecentEntry) -> Result<(), SessionError> {
        self.change(|_| ())
    }
}

/// A writer without its thread, with time under control.
struct Bench {
    disk: Fake,
    pending: PendingWrites<Fake>,
    inbox: Inbox,
    book: Arc<PlanBook>,
    now: Duration,
}

impl Bench {
    fn new() -> Self {
        let (disk, book) = (Fake::default(), Arc::new(PlanBook::new()));
        let pending = PendingWrites::new(disk.clone(), Arc::clone(&book));
        Self { disk, pending, inbox: Inbox::default(), book, now: NONE }
    }

    fn say(&mut self, event: Event) {
        let ended = match &event.body {
            EventBody::Done(done) => done.plan.as_ref().map(|plan| self.book.conclude(event.run, plan)),
            _ => None,
        };
        self.inbox.push(event, ended, &self.book, self.now);
    }

    /// Works as the thread does, until nothing is due at this moment.
    fn settle(&mut self) {
        for _ in 0..100 {
            if self.pending.deadline(&self.inbox, self.now).is_none_or(|at| at > self.now) {
                return;
            }
            let batch = self.pending.take(&mut self.inbox, self.now);
            let written = self.pending.work(batch, self.now);
            self.pending.tidy(&mut self.inbox, &written);
        }
        panic!("the writer is never done: {:?}", self.pending);
    }

    fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.settle();
    }
}

#[test]
fn milestones_are_written_at_once_and_progress_within_a_second() {
    let mut bench = Bench::new();
    bench.say(toy::bound(1, 0, 0.5));
    bench.settle();
    assert!(bench.disk.state().log.is_empty());
    bench.pass(999);
    assert!(bench.disk.state().log.is_empty());
    bench.pass(1);
    assert_eq!(bench.disk.replay().records.len(), 1);
    bench.say(toy::bound(1, 1, 0.6));
    bench.say(toy::event(1, 2, EventBody::Note(Note { severity: Severity::Info, text: String::new() })));
    bench.settle();
    assert_eq!(bench.disk.replay().records.len(), 3, "in order, with the progress before it");
    bench.pass(1000);
    assert!(bench.disk.state().syncs > 0);
    assert_eq!(bench.pending.deadline(&bench.inbox, bench.now), None, "idle: nothing to wake up for");
}

#[test]
fn fast_progress_is_written_before_it_has_to_be_thinned() {
    let mut bench = Bench::new();
    for seq in 0..10 * MOST_PROGRESS as u64 {
        bench.say(toy::bound(1, seq, seq as f64));
        bench.settle();
    }
    assert_eq!(bench.inbox.thinned, 0);
    assert!(bench.disk.replay().records.len() > 9 * MOST_PROGRESS);
}

#[test]
fn a_run_writes_one_plan_a_second_the_newest_and_its_last_at_once() {
    let mut bench = Bench::new();
    for (number, value) in [(1, 0.9), (2, 0.8), (3, 0.7)] {
        bench.say(toy::incumbent(1, number, number, value));
        bench.settle();
        bench.pass(250);
    }
    assert_eq!(bench.disk.state().plans, [(PlanId(1), 0.9)]);
    bench.pass(250);
    assert_eq!(bench.disk.state().plans, [(PlanId(1), 0.9), (PlanId(3), 0.7)]);
    bench.say(toy::incumbent(2, 1, 1, 0.95));
    bench.settle();
    assert_eq!(bench.disk.state().plans.last(), Some(&(PlanId(4), 0.95)), "each run has its own second");
    bench.say(toy::incumbent(1, 4, 4, 0.6));
    bench.say(toy::done(1, 5, Some(0.6)));
    bench.settle();
    assert_eq!(bench.disk.state().plans.last(), Some(&(PlanId(5), 0.6)));
    assert_eq!(bench.disk.replay().runs[&RunId(1)].plan, Some(PlanId(5)), "log and file agree");
    assert!(bench.book.is_saved(PlanId(5)) && !bench.book.is_saved(PlanId(2)));
}

#[test]
fn a_plan_that_an_earlier_run_ended_with_is_stored_once() {
    let mut bench = Bench::new();
    bench.say(toy::incumbent(1, 0, 1, 0.9));
    bench.say(toy::done(1, 1, Some(0.5)));
    bench.pass(1000);
    assert_eq!(bench.disk.state().plans, [(PlanId(1), 0.5)]);
    // The same again: its own plans of the meantime are not needed any more.
    bench.say(toy::incumbent(2, 0, 1, 0.9));
    bench.pass(1000);
    assert_eq!(bench.disk.state().plans, [(PlanId(1), 0.5), (PlanId(2), 0.9)]);
    bench.say(toy::incumbent(2, 1, 2, 0.8));
    bench.pass(1000);
    assert_eq!(bench.disk.state().plans.len(), 3);
    bench.say(toy::done(2, 2, Some(0.5)));
    bench.pass(1000);
    assert_eq!(bench.disk.state().plans, [(PlanId(1), 0.5)]);
    let replay = bench.disk.replay();
    assert_eq!(replay.runs[&RunId(2)].plan, Some(PlanId(1)), "the run points to the stored plan");
    // Another one is stored, and one of a run without incumbents is known too.
    bench.say(toy::done(3, 0, Some(0.25)));
    bench.say(toy::done(4, 0, Some(0.5)));
    bench.pass(1000);
    assert_eq!(bench.disk.state().plans, [(PlanId(1), 0.5), (PlanId(4), 0.25)]);
    // What a person wants stays.
    bench.say(toy::incumbent(5, 0, 1, 0.9));
    bench.pass(1000);
    bench.book.mark_kept(PlanId(5));
    bench.say(toy::done(5, 1, Some(0.5)));
    bench.pass(1000);
    assert_eq!(bench.disk.state().plans, [(PlanId(1), 0.5), (PlanId(4), 0.25), (PlanId(5), 0.9)]);
    // A session that is opened again knows its plans, and does not trust their files.
    let finals: Vec<(String, PlanId)> = bench.disk.replay().finals().collect();
    bench.book = Arc::new(PlanBook::restored([], [PlanId(1)], finals));
    bench.pending = PendingWrites::new(bench.disk.clone(), Arc::clone(&bench.book));
    bench.disk.state().plans.clear();
    bench.say(toy::done(6, 0, Some(0.5)));
    bench.pass(1000);
    assert_eq!(bench.disk.state().plans, [(PlanId(1), 0.5)]);
}

#[test]
fn a_plan_asked_for_is_written_though_no_run_would() {
    let mut bench = Bench::new();
    let stamp = bench.inbox.stamp();
    let plan = PlanId(9);
    let waiting = WaitingPlan { plan, content: toy::plan(0.3), reported: NONE, at_once: true, stamp };
    bench.inbox.kept.insert(plan, waiting);
    bench.settle();
    assert_eq!(bench.disk.state().plans, [(plan, 0.3)]);
    assert!(bench.inbox.kept.is_empty());
}

#[test]
fn a_full_disk_is_told_retried_and_loses_no_milestone() {
    let mut bench = Bench::new();
    bench.say(toy::incumbent(1, 0, 1, 0.9));
    bench.settle();
    bench.disk.fill(true);
    for i in 1..10 {
        bench.say(toy::incumbent(1, i, i + 1, 0.9 - i as f64 / 20.0));
        bench.pass(300);
    }
    let trouble = bench.pending.trouble.clone().unwrap();
    assert!(trouble.message.starts_with("the session cannot be saved: no room to write '/full/run.log'"));
    assert!(trouble.since < bench.now);
    assert_eq!(bench.inbox.plans.len(), 1, "only the newest plan waits");
    bench.disk.fill(false);
    bench.pass(1000);
    assert_eq!(bench.pending.trouble, None);
    assert_eq!(bench.disk.replay().runs[&RunId(1)].plans, 10);
    assert_eq!(bench.disk.state().plans, [(PlanId(1), 0.9), (PlanId(10), 0.45)]);
    assert!(!bench.pending.behind(&bench.inbox));
}

#[test]
fn a_full_disk_loses_neither_models_nor_the_newest_lines_of_a_solver() {
    let mut bench = Bench::new();
    let line = |seq: u64| toy::event(1, seq, EventBody::Line(LogLine { text: format!("line {seq}") }));
    let model =
        |rows| EventBody::Model(ModelSize { after: "presolve".to_owned(), rows, ..ModelSize::default() });
    bench.say(line(0));
    bench.settle();
    assert!(bench.disk.state().log.is_empty(), "a line may wait for a second");
    bench.pass(1000);
    bench.disk.fill(true);
    bench.say(toy::event(1, 1, model(7)));
    bench.settle();
    assert!(bench.pending.trouble.is_some(), "told at once");
    let many = 3 * MOST_LINES as u64;
    for seq in 2..many {
        bench.say(line(seq));
    }
    bench.say(toy::bound(1, many, 0.5));
    assert!(bench.inbox.events.len() <= MOST_LINES + 2, "{}", bench.inbox.events.len());
    let before = bench.disk.replay();
    assert_eq!((before.records.len(), before.broken), (1, 0), "what is saved stays readable");
    bench.disk.fill(false);
    bench.pass(1000);
    assert_eq!(bench.pending.trouble, None);
    let replay = bench.disk.replay();
    let seqs: Vec<u64> = replay.records.iter().map(|line| line.record.seq).collect();
    assert_eq!(&seqs[..2], [0, 1], "the model is there");
    assert_eq!(&seqs[seqs.len() - 2..], [many - 1, many], "and the newest line and bound");
    assert_eq!(seqs.len() as u64 + bench.inbox.thinned, many + 1, "what is missing is counted");
    assert!(matches!(&replay.records[1].record.body, EventBody::Model(size) if size.rows == 7));
}

#[test]
fn a_disk_that_stays_full_costs_bounded_memory() {
    let mut bench = Bench::new();
    bench.disk.fill(true);
    let many = 5 * MOST_UNCHECKED as u64;
    for i in 0..many {
        bench.say(toy::generation(1, 3 * i, 0.5));
        bench.say(toy::series(2, 3 * i + 1, "temperature", 0.5));
        bench.say(toy::incumbent(1, 3 * i + 2, 0, 0.5));
    }
    bench.say(toy::incumbent(1, 3 * many, 1, 0.25));
    assert!(bench.inbox.events.len() <= MOST_PROGRESS + MOST_UNCHECKED + 1, "{}", bench.inbox.events.len());
    bench.disk.fill(false);
    bench.settle();
    bench.pass(1000);
    let replay = bench.disk.replay();
    let (thinned, merged) = (bench.inbox.thinned, bench.inbox.merged);
    assert_eq!(replay.records.len() as u64 + thinned + merged, 3 * many + 1, "what is missing is counted");
    let last = |sort: fn(&EventBody) -> bool| {
        let newest = replay.records.iter().rev().find(|line| sort(&line.record.body));
        newest.map(|line| line.record.seq)
    };
    assert_eq!(last(|body| matches!(body, EventBody::Generation(_))), Some(3 * many - 3));
    assert_eq!(last(|body| matches!(body, EventBody::Series(_))), Some(3 * many - 2));
    assert_eq!(last(|body| matches!(body, EventBody::Incumbent(_))), Some(3 * many));
}

#[test]
fn more_curves_than_room_still_leaves_room() {
    let mut bench = Bench::new();
    for i in 0..2 * MOST_PROGRESS as u64 {
        bench.say(toy::series(1, i, &format!("series {i}"), 0.5));
    }
    assert_eq!(bench.inbox.events.len(), MOST_PROGRESS);
    assert_eq!(bench.inbox.thinned, MOST_PROGRESS as u64);
}

#[test]
fn a_number_that_is_not_finite_leaves_a_gap_or_a_trace() {
    let mut bench = Bench::new();
    bench.say(toy::generation(1, 0, f64::INFINITY));
    bench.say(toy::incumbent(1, 1, 0, f64::NAN));
    bench.say(toy::bound(1, 2, 0.5));
    bench.pass(1000);
    let replay = bench.disk.replay();
    assert_eq!(replay.broken, 0);
    let seqs: Vec<u64> = replay.records.iter().map(|line| line.record.seq).collect();
    assert_eq!(seqs, [1, 2]);
    assert!(matches!(&replay.records[0].record.body,
        EventBody::Note(note) if note.text.contains("missing here") && note.text.contains("value")));
    assert_eq!(bench.pending.unwritable, 2);
}

proptest! {
    /// Whatever happens in whatever order, the log is what was sent, and every plan that was reported more
    /// than a second ago is on disk unless a newer one of its run has taken its place.
    #[test]
    fn nothing_reported_a_second_ago_is_missing(
        steps in prop::collection::vec((1_u64..4, 0_u8..6, 0_u64..600), 1..60),
        full in prop::option::of((0_usize..60, 1_usize..20)),
    ) {
        let mut bench = Bench::new();
        let mut numbers = [0_u64; 4];
        let mut sent = Vec::new();
        let mut reported: Vec<(RunId, PlanId, Duration)> = Vec::new();
        for (seq, (run, sort, millis)) in steps.iter().enumerate() {
            if let Some((start, length)) = full {
                bench.disk.fill((start..start + length).contains(&seq));
            }
            let (seq, slot) = (seq as u64, *run as usize);
            let event = match sort {
                0 | 1 => {
                    numbers[slot] += 1;
                    toy::incumbent(*run, seq, numbers[slot], 1.0 / (seq as f64 + 1.0))
                }
                2 => toy::incumbent(*run, seq, 0, 0.5),
                3 => toy::bound(*run, seq, 0.125),
                4 => toy::generation(*run, seq, 0.5),
                _ => toy::series(*run, seq, "temperature", 0.5),
            };
            sent.push((*run, seq));
            bench.say(event);
            if *sort < 2 {
                let plan = bench.book.find(RunId(*run), numbers[slot]).unwrap();
                reported.push((RunId(*run), plan, bench.now));
            }
            bench.settle();
            // The thread wakes up when something is due, not when the test looks.
            let until = bench.now + Duration::from_millis(*millis);
            while let Some(at) = bench.pending.deadline(&bench.inbox, bench.now).filter(|at| *at <= until) {
                bench.now = bench.now.max(at);
                bench.settle();
            }
            bench.now = until;
            if bench.pending.trouble.is_none() {
                for (run, plan, at) in reported.iter().filter(|(.., at)| bench.now > *at + BEAT) {
                    let saved = reported
                        .iter()
                        .any(|(of, known, _)| of == run && known >= plan && bench.book.is_saved(*known));
                    prop_assert!(saved, "plan {plan} of {run} reported at {at:?}, now {:?}", bench.now);
                }
            }
        }
        bench.disk.fill(false);
        bench.inbox.flushes += 1;
        bench.settle();
        let found: Vec<(u64, u64)> =
            bench.disk.replay().records.iter().map(|line| (line.record.run.0, line.record.seq)).collect();
        prop_assert_eq!(found, sent);
        for run in 1..4 {
            if let Some(last) = bench.book.last_of(RunId(run)) {
                prop_assert!(bench.book.is_saved(last));
            }
        }
    }
}

fn quiet() -> Notify {
    Box::new(|_| ())
}

#[test]
fn the_thread_writes_what_it_is_given_and_the_session_reopens_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("sessions"));
    let clock = Arc::new(ManualClock::default());
    let scenario = json!({"schema": "lightbay.scenario/1", "kind": "toy", "name": "box", "size": 1});
    let session = store.create("box", "toy", &scenario, &clock.date()).unwrap();
    let writer = SessionWriter::start(&session, Arc::default(), clock.clone(), quiet()).unwrap();
    let sink: Arc<dyn EventSink> = Arc::new(writer.sink());
    // Two runs at once, each in its own order.
    std::thread::scope(|scope| {
        for run in 1..3 {
            let sink = &sink;
            scope.spawn(move || {
                for seq in 0..200 {
                    sink.report(match seq % 4 {
                        0 => toy::incumbent(run, seq, seq / 4 + 1, 1.0 / (seq as f64 + 1.0)),
                        1 => toy::bound(run, seq, 0.1),
                        2 => toy::generation(run, seq, 0.2),
                        _ => toy::series(run, seq, "temperature", 0.3),
                    });
                }
                sink.report(toy::done(run, 200, Some(1.0 / 197.0)));
            });
        }
    });
    let file = SessionFile { next_run: 3, last_plan: Some(PlanId(100)), ..session.file().clone() };
    writer.save_session(&file);
    let larger = json!({"schema": "lightbay.scenario/1", "kind": "toy", "name": "box", "size": 2});
    writer.save_scenario(Arc::new(larger.clone()));
    let recent = folder.path().join("state/recent.json");
    let entry = RecentEntry {
        session: "box".to_owned(),
        kind: "toy".to_owned(),
        scenario: "box".to_owned(),
        at: clock.date(),
        plan: None,
    };
    writer.remember(&recent, entry.clone());
    writer.flush(Duration::from_mins(1)).unwrap();
    let status = writer.status();
    assert_eq!((status.state, status.lines, status.behind), (SaveState::Saving, 402, false));
    let book = Arc::clone(writer.book());
    writer.close().unwrap();
    drop(session);

    let session = store.open("box", &clock.date()).unwrap();
    assert_eq!(session.read_only(), None);
    assert_eq!(session.file().last_plan, Some(PlanId(100)));
    assert_eq!(session.file().updated_at, clock.date());
    assert_eq!(session.read_scenario().unwrap().0, larger);
    assert_eq!(crate::resume::recent(&recent), [entry]);
    let replay = session.replay(ReplayLimits::ALL).unwrap();
    for run in 1..3 {
        let mine: Vec<&LogRecord> =
            replay.records.iter().filter(|line| line.record.run == RunId(run)).collect();
        assert_eq!(
            mine.iter().map(|line| line.record.seq).collect::<Vec<_>>(),
            (0..=200).collect::<Vec<_>>()
        );
        for line in mine {
            if let EventBody::Incumbent(incumbent) = &line.record.body {
                assert_eq!(line.plan, book.find(RunId(run), incumbent.number));
                assert_eq!(incumbent.value, 1.0 / (line.record.seq as f64 + 1.0), "to the last digit");
            }
        }
        let last = replay.runs[&RunId(run)].plan.unwrap();
        assert_eq!(session.read_plan(last).unwrap()["objective"]["value"], 1.0 / 197.0);
    }
    assert_eq!(session.next_run(&replay), 3);
    let again = session.book(&replay);
    assert_eq!(again.assign(RunId(3), 1), PlanId(101), "numbers go on");
    assert_eq!(again.find(RunId(1), 7), book.find(RunId(1), 7));
}

#[test]
fn a_folder_that_refuses_is_told_and_mended_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let clock: Arc<dyn Clock> = Arc::new(lightbay_core::clock::SystemClock::start());
    let session = store.create("box", "toy", &json!({}), &clock.date()).unwrap();
    let plans = session.plans_folder();
    let (tell, told) = std::sync::mpsc::channel();
    let notify: Notify = Box::new(move |status| drop(tell.send(status.state.clone())));
    let writer = SessionWriter::start(&session, Arc::default(), clock, notify).unwrap();
    std::fs::remove_dir(&plans).unwrap();
    std::fs::write(&plans, b"in the way").unwrap();
    writer.sink().report(toy::incumbent(1, 0, 1, 0.5));
    let wait = Duration::from_mins(1);
    let SaveState::Failing { message, .. } = told.recv_timeout(wait).unwrap() else { panic!("it must fail") };
    assert!(message.contains("plans"), "{message}");
    assert_eq!(writer.flush(wait), Err(message), "asking does not hide it");
    assert_eq!(session.replay(ReplayLimits::ALL).unwrap().records.len(), 1, "the log goes on meanwhile");
    std::fs::remove_file(&plans).unwrap();
    std::fs::create_dir(&plans).unwrap();
    assert_eq!(told.recv_timeout(wait).unwrap(), SaveState::Saving);
    writer.flush(wait).unwrap();
    assert_eq!(session.read_plan(PlanId(1)).unwrap()["objective"]["value"], 0.5);
}

#[test]
fn a_writer_needs_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::default());
    let session = store.create("box", "toy", &json!({}), "").unwrap();
    let writer = SessionWriter::start(&session, Arc::default(), Arc::clone(&clock), quiet()).unwrap();
    drop(session);
    let second = store.open("box", "").unwrap();
    let error = SessionWriter::start(&second, Arc::default(), clock, quiet()).unwrap_err();
    assert!(matches!(error, SessionError::ReadOnly { .. }), "the writer holds the lock: {error}");
    drop(second);
    writer.close().unwrap();
    assert_eq!(store.open("box", "").unwrap().read_only(), None);
}

#[test]
fn a_disk_that_hangs_holds_nobody_up() {
    /// Blocks until it is let go.
    #[derive(Debug)]
    struct Hanging(std::sync::mpsc::Receiver<()>, Fake);
    impl Disk for Hanging {
        fn append(&mut self, lines: &[u8]) -> Result<(), SessionError> {
            let _ = self.0.recv();
            self.1.append(lines)
        }
        fn sync(&mut self) -> Result<(), SessionError> {
            Ok(())
        }
        fn write_plan(&mut self, _: PlanId, _: &[u8]) -> Result<(), SessionError> {
            Ok(())
        }
        fn delete_plan(&mut self, _: PlanId) -> Result<(), SessionError> {
            Ok(())
        }
        fn write_session(&mut self, _: &[u8]) -> Result<(), SessionError> {
            Ok(())
        }
        fn write_scenario(&mut self, _: &Arc<Value>) -> Result<(), SessionError> {
            Ok(())
        }
        fn settle(&mut self) -> Result<(), SessionError> {
            Ok(())
        }
        fn place(&self) -> SessionPlace {
            SessionPlace::default()
        }
        fn move_to(&mut self, _: &Store, _: bool) -> Result<(), SessionError> {
            Ok(())
        }
        fn remember(&mut self, _: &Path, _: RecentEntry) -> Result<(), SessionError> {
            Ok(())
        }
    }
    let (go, gate) = std::sync::mpsc::channel();
    let fake = Fake::default();
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::default());
    let disk = Hanging(gate, fake.clone());
    let book = Arc::default();
    let writer =
        SessionWriter::on(PendingWrites::new(disk, Arc::clone(&book)), book, clock, quiet()).unwrap();
    let sink = writer.sink();
    for seq in 0..20_000 {
        sink.report(toy::bound(1, seq, 0.5));
    }
    sink.report(toy::done(1, 20_000, None));
    let told = writer.flush(Duration::from_millis(1)).unwrap_err();
    assert_eq!(told, "the session cannot be saved yet: the disk does not answer");
    drop(go);
    writer.flush(Duration::from_mins(1)).unwrap();
    let status = writer.status();
    assert_eq!(status.lines + status.thinned, 20_001);
    assert!(fake.replay().runs[&RunId(1)].done.is_some());
}
