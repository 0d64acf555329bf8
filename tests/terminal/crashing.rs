//! Panics in the event loop, in the thread of a run and in a job of a pane: the terminal is as before, plans are on
//! disk, and a report says where.

use super::pty::{Place, Terminal, sessions_of};
use lightbay_core::event::EndStatus;
use lightbay_sessions::{Replay, ReplayLimits, Store};

/// Opens a tiny scenario in a program that panics in this place, and starts a run.
fn solving(place: &Place, panics_in: &str) -> Terminal {
    let mut terminal = place.opening(&["preset:tiny4"]).env("LIGHTBAY_PANIC", panics_in).start();
    terminal.until_shown(&["tiny4 is open"]);
    terminal.keys("r");
    terminal
}

/// Reads the saved session; its newest plan must be on disk.
fn saved(place: &Place) -> Replay {
    let session = Store::at(sessions_of(place)).open("tiny4", "2026-01-01T00:00:00Z").unwrap();
    assert_eq!(session.read_only(), None, "nobody holds it");
    let replay = session.replay(ReplayLimits::ALL).unwrap();
    let plan = replay.runs.values().next_back().and_then(|run| run.plan).unwrap();
    session.read_plan(plan).unwrap();
    replay
}

/// Returns the number of crash reports below the home folder.
fn reports(place: &Place) -> usize {
    fn count(folder: &std::path::Path) -> usize {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| match entry.path() {
                path if path.is_dir() => count(&path),
                _ => usize::from(entry.file_name().to_string_lossy().starts_with("crash-")),
            })
            .sum()
    }
    count(&place.home())
}

#[test]
fn after_a_panic_in_the_loop_plans_are_saved_and_the_report_is_named() {
    let place = Place::new();
    let ended = solving(&place, "loop").end().tidy();
    assert_eq!(ended.code, 101);
    let text = ended.view.text();
    assert!(text.contains("everything found so far is saved") && text.contains("report: "), "{text}");
    assert_eq!(reports(&place), 1);
    saved(&place);
}

#[test]
fn a_panic_of_a_run_ends_only_the_run() {
    let place = Place::new();
    let mut terminal = solving(&place, "engine");
    terminal.until("a crashed run", |view| view.has("CRASHED"));
    terminal.keys("q");
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 0);
    let replay = saved(&place);
    let run = replay.runs.values().next_back().unwrap();
    assert_eq!(run.done.as_ref().map(|done| done.status), Some(EndStatus::Panicked));
    assert_eq!(reports(&place), 1);
}

#[test]
fn a_panic_of_a_pane_is_a_message() {
    let place = Place::new();
    let mut terminal = solving(&place, "view");
    terminal.until("a run that ended", |view| view.rows[0].contains("OPTIMAL"));
    terminal.keys("L");
    terminal.until_shown(&["an internal task crashed"]);
    terminal.escape();
    terminal.keys("q");
    assert_eq!(terminal.end().tidy().code, 0);
    saved(&place);
    assert_eq!(reports(&place), 1);
}
