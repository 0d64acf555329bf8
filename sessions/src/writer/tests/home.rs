//! A session whose folder cannot be made, is removed, is full, or moves.

use super::*;
use crate::store::Session;
use std::fs;

const DATE: &str = "2026-01-01T00:00:00Z";

/// A folder of sessions with one in it, and its writer.
struct Saved {
    folder: tempfile::TempDir,
    session: Session,
    writer: SessionWriter,
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(ManualClock::default())
}

impl Saved {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::of_data(&folder.path().join("data"));
        let session = store.create("box", "toy", &json!({"name": "box"}), DATE).unwrap();
        let writer = SessionWriter::start(&session, Arc::default(), clock(), quiet()).unwrap();
        Self { folder, session, writer }
    }

    fn plan(&self, number: u64, value: f64) {
        self.writer.sink().report(toy::incumbent(1, number, number, value));
    }

    fn flush(&self) -> Result<(), String> {
        self.writer.flush(Duration::from_mins(1))
    }

    /// Nothing more can be written to the session: where its folder was there is a file, as on a disk that went bad.
    /// Works for root too, who may write everywhere.
    fn break_disk(&self) {
        fs::rename(self.session.folder(), self.folder.path().join("aside")).unwrap();
        fs::write(self.session.folder(), b"in the way").unwrap();
    }
}

/// Values of the plans of a session, and whether its log is whole.
#[track_caller]
fn values(store: &Store, name: &str) -> Vec<f64> {
    let session = store.open(name, DATE).unwrap();
    let replay = session.replay(ReplayLimits::ALL).unwrap();
    assert_eq!((replay.broken, replay.cut_off), (0, false));
    let plans = session.plans().unwrap();
    plans.iter().map(|plan| plan.header.as_ref().unwrap().objective.value).collect()
}

#[test]
fn a_folder_that_was_removed_is_made_again_and_said() {
    let saved = Saved::new();
    saved.plan(1, 0.5);
    saved.flush().unwrap();
    fs::remove_dir_all(saved.session.folder()).unwrap();
    saved.plan(2, 0.4);
    saved.writer.save_session(saved.session.file());
    saved.flush().unwrap();
    assert_eq!(saved.writer.status().place.made_again, 1);
    // Whoever was told gives what it still knows.
    saved.writer.keep(PlanId(1), toy::plan(0.5));
    saved.writer.save_scenario(Arc::new(json!({"name": "box"})));
    let Saved { folder, session, writer } = saved;
    let store = Store::of_data(&folder.path().join("data"));
    assert!(store.remove("box").is_err(), "it is locked again");
    drop(session);
    assert!(matches!(writer.save_or_rescue(Vec::new), Ending::Saved(_)));
    drop(writer);
    assert_eq!(values(&store, "box"), [0.5, 0.4]);
    let session = store.open("box", DATE).unwrap();
    let replay = session.replay(ReplayLimits::ALL).unwrap();
    assert_eq!(replay.runs[&RunId(1)].plans, 2, "the log has what was written before too");
    assert_eq!(session.read_scenario().unwrap().1, None);
}

#[test]
fn only_a_part_removed_is_made_again_too() {
    for part in ["plans", "run.log"] {
        let saved = Saved::new();
        saved.plan(1, 0.5);
        saved.flush().unwrap();
        let path = saved.session.folder().join(part);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        saved.plan(2, 0.4);
        saved.flush().unwrap();
        assert_eq!(saved.writer.status().place.made_again, 1, "{part}");
        saved.plan(3, 0.3);
        saved.writer.close().unwrap();
        let replay = saved.session.replay(ReplayLimits::ALL).unwrap();
        assert_eq!(replay.runs[&RunId(1)].plans, 3, "{part}");
        assert_eq!(saved.session.read_plan(PlanId(3)).unwrap()["objective"]["value"], 0.3);
    }
}

#[test]
fn what_cannot_be_written_moves_with_all_that_was() {
    let saved = Saved::new();
    saved.plan(1, 0.5);
    saved.flush().unwrap();
    let elsewhere = saved.folder.path().join("elsewhere");
    let place = saved.writer.move_to(Store::of_data(&elsewhere), Duration::from_mins(1)).unwrap();
    assert_eq!(place.folder.as_deref(), Some(elsewhere.join("sessions/box").as_path()));
    assert_eq!(saved.writer.status().place, place);
    saved.plan(2, 0.4);
    saved.writer.close().unwrap();
    assert_eq!(values(&Store::of_data(&elsewhere), "box"), [0.5, 0.4]);
    drop(saved.session);
    assert_eq!(
        values(&Store::of_data(&saved.folder.path().join("data")), "box"),
        [0.5],
        "and stays as it was"
    );
}

#[test]
fn a_disk_that_refuses_at_the_end_loses_nothing_that_fits_elsewhere() {
    let saved = Saved::new();
    saved.plan(1, 0.5);
    saved.flush().unwrap();
    saved.break_disk();
    saved.plan(2, 0.4);
    assert!(saved.flush().unwrap_err().starts_with("the session cannot be saved: "));
    saved.plan(3, 0.3);
    let no_folder = saved.folder.path().join("aside/run.log");
    let good = saved.folder.path().join("good");
    let Saved { writer, folder: _held, session: _session } = saved;
    let ending = writer.save_or_rescue(|| vec![no_folder, good.clone()]);
    let Ending::Rescued { why, place } = ending else { panic!("{ending:?}") };
    assert!(why.starts_with("the session cannot be saved: "), "{why}");
    assert_eq!(place.folder, Some(good.join("sessions/box")));
    drop(writer);
    let store = Store::of_data(&good);
    assert!(values(&store, "box").ends_with(&[0.3]));
    let session = store.open("box", DATE).unwrap();
    let replay = session.replay(ReplayLimits::ALL).unwrap();
    assert_eq!(replay.runs[&RunId(1)].plans, 3, "no milestone is missing");
}

#[test]
fn what_goes_nowhere_is_said_to_be_lost() {
    let saved = Saved::new();
    saved.break_disk();
    saved.plan(1, 0.5);
    let no_folder = saved.folder.path().join("aside/run.log");
    assert!(matches!(saved.writer.save_or_rescue(|| vec![no_folder]), Ending::Lost { .. }));
}

#[test]
fn a_session_that_could_not_be_made_is_made_when_the_disk_allows_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::write(&data, b"in the way").unwrap();
    let store = Store::of_data(&data);
    let scenario = json!({"name": "box"});
    let error = store.create("box", "toy", &scenario, DATE).unwrap_err();
    let new_session = NewSession {
        store: store.clone(),
        name: "box".into(),
        kind: "toy".into(),
        scenario: Arc::new(scenario),
    };
    let writer =
        SessionWriter::start_without_folder(new_session, &error, Arc::default(), clock(), quiet()).unwrap();
    assert!(matches!(writer.status().state, SaveState::Failing { .. }));
    assert_eq!(writer.status().place.name(), "");
    writer.sink().report(toy::incumbent(1, 1, 1, 0.5));
    writer.flush(Duration::from_mins(1)).unwrap_err();
    fs::remove_file(&data).unwrap();
    writer.flush(Duration::from_mins(1)).unwrap();
    assert_eq!(writer.status().state, SaveState::Saving);
    assert_eq!(writer.status().place.name(), "box");
    writer.close().unwrap();
    assert_eq!(values(&store, "box"), [0.5]);
    assert_eq!(store.open("box", DATE).unwrap().read_scenario().unwrap().0, json!({"name": "box"}));
}

#[test]
fn a_list_of_recent_sessions_that_cannot_be_written_is_no_lost_session() {
    let saved = Saved::new();
    let list = saved.folder.path().join("data/sessions/box/scenario.json/recent.json");
    let entry = RecentEntry {
        session: "box".into(),
        kind: "toy".into(),
        scenario: "box".into(),
        at: DATE.into(),
        plan: None,
    };
    saved.writer.remember(list, entry);
    saved.flush().unwrap();
    assert_eq!(saved.writer.status().state, SaveState::Saving);
    assert!(saved.writer.status().list_problem.is_some());
    assert!(matches!(saved.writer.save_or_rescue(Vec::new), Ending::Saved(_)));
}

#[test]
fn a_session_that_nobody_needs_writes_nothing_more() {
    let saved = Saved::new();
    saved.break_disk();
    saved.plan(1, 0.5);
    assert_eq!(saved.writer.discard().name(), "box");
    assert_eq!(saved.writer.status().state, SaveState::Closed);
    drop(saved.writer);
    assert!(saved.session.folder().is_file(), "nothing was made in its place");
}
