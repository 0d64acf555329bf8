//! Tests of a disk that refuses writes: the screen shows the problem, the program offers another folder, and no plan is
//! lost at the end.

use super::pty::{Ended, PROGRAM, Place, Terminal, sessions_of};
use super::{opened, searching};
use lightbay_sessions::Store;
use rustix::process::Signal;
use std::fs;
use std::path::Path;

const DATE: &str = "2026-01-01T00:00:00Z";

/// Makes every write to a session fail, also for root: replaces the folder of the session by a file.
fn break_disk(place: &Place, name: &str) {
    let folder = sessions_of(place).join(name);
    fs::rename(&folder, place.path("aside")).unwrap();
    fs::write(&folder, b"in the way").unwrap();
}

/// Opens an example, makes writes to its session fail, and solves the example.
fn solved_unsaved(place: &Place) -> Terminal {
    let mut terminal = opened(place, "tiny4");
    break_disk(place, "tiny4");
    terminal.keys("r");
    terminal.until_shown(&["OPTIMAL", "! not saved"]);
    terminal
}

/// Returns the best value among the plans of a session; asserts that all plans can be read.
#[track_caller]
fn best(store: &Store, name: &str) -> f64 {
    let session = store.open(name, DATE).unwrap();
    let plans = session.plans().unwrap();
    let values = plans.iter().map(|plan| plan.header.as_ref().unwrap().objective.value);
    values.fold(f64::INFINITY, f64::min)
}

/// Returns the text after the end of the program, with its rows joined.
fn said(ended: &Ended) -> String {
    ended.view.rows.iter().map(String::as_str).collect()
}

/// Returns the folder in which the program saved all work at its end.
#[track_caller]
fn rescued_in(ended: &Ended) -> Store {
    let text = said(ended);
    let (_, rest) = text.split_once("everything was saved in ").unwrap_or_else(|| panic!("{text}"));
    let (folder, _) = rest.split_once(" instead").unwrap_or_else(|| panic!("{text}"));
    Store::at(Path::new(folder).parent().unwrap())
}

#[test]
fn a_sign_stays_at_every_size_while_saving_fails_and_goes_with_the_trouble() {
    let place = Place::new();
    let terminal = solved_unsaved(&place);
    for (width, height) in [(200, 60), (80, 24), (60, 16), (30, 8), (120, 40)] {
        terminal.resize(width, height);
        terminal.until("the sign", |view| view.rows.len() == usize::from(height) && view.has("! not saved"));
    }
    fs::remove_file(sessions_of(&place).join("tiny4")).unwrap();
    fs::rename(place.path("aside"), sessions_of(&place).join("tiny4")).unwrap();
    terminal.until_gone("! not saved");
    terminal.until_shown(&["the session is saved again"]);
}

#[test]
fn leaving_without_a_place_asks_with_the_truth_and_rescues_the_plans() {
    let place = Place::new();
    let mut terminal = solved_unsaved(&place);
    terminal.keys("q");
    terminal.until_shown(&["Plans are not saved. Leave?", "the session cannot be saved", "[stay]"]);
    terminal.keys("y");
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 1, "{}", ended.view.text());
    assert!(!said(&ended).contains("the best plan is saved"));
    assert!(best(&rescued_in(&ended), "tiny4").is_finite());
}

#[test]
fn another_folder_takes_the_session_and_all_is_well() {
    let place = Place::new();
    let mut terminal = solved_unsaved(&place);
    terminal.keys("q");
    terminal.until_shown(&["[stay]", "another folder"]);
    terminal.keys("\x1b[C\r");
    terminal.until_shown(&["save_to"]);
    terminal.keys(&format!("{}\r", place.path("usb").display()));
    terminal.until_gone("! not saved");
    terminal.until_shown(&["from now on"]);
    terminal.keys("q");
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 0, "{}", ended.view.text());
    assert!(said(&ended).contains("the best plan is saved in"), "{}", ended.view.text());
    assert!(best(&Store::of_data(&place.path("usb")), "tiny4").is_finite());
}

#[test]
fn signals_rescue_too_and_keep_their_codes() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let place = Place::new();
        let terminal = searching(&place);
        break_disk(&place, "deepseek_671b");
        terminal.until_shown(&["! not saved"]);
        terminal.signal(signal);
        let ended = terminal.end().tidy();
        assert_eq!(ended.code, code, "{}", ended.view.text());
        assert!(best(&rescued_in(&ended), "deepseek_671b").is_finite());
    }
}

/// Starts a workbench that has saved its plan in a folder, and removes the folder.
fn saved_and_removed(place: &Place) -> Terminal {
    let mut terminal = place.open(&["preset:tiny4", "--solve"]);
    terminal.until_shown(&["OPTIMAL"]);
    terminal.keys("s");
    terminal.until_shown(&["everything is saved in session 'tiny4'"]);
    fs::remove_dir_all(sessions_of(place).join("tiny4")).unwrap();
    terminal
}

#[test]
fn a_session_folder_that_somebody_removes_is_made_again() {
    let place = Place::new();
    let mut terminal = saved_and_removed(&place);
    // Anything that is to be written finds it out.
    terminal.keys("m");
    terminal.until_shown(&["was removed; it is created again"]);
    terminal.keys("q");
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 0);
    assert!(best(&Store::at(sessions_of(&place)), "tiny4").is_finite());
    place.open(&["session:tiny4"]).until("the plan again", |view| view.rows[0].contains("plan "));
}

#[test]
fn a_folder_removed_just_before_leaving_is_made_again_too() {
    let place = Place::new();
    let mut terminal = saved_and_removed(&place);
    terminal.keys("q");
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 0, "{}", ended.view.text());
    assert!(best(&Store::at(sessions_of(&place)), "tiny4").is_finite());
}

#[test]
fn a_second_workbench_saves_what_it_finds_beside_the_first() {
    let place = Place::new();
    let mut first = place.open(&["preset:tiny4", "--solve"]);
    first.until_shown(&["OPTIMAL"]);
    first.keys("s");
    first.until_shown(&["everything is saved"]);
    let mut second = place.open(&["session:tiny4"]);
    second.until_shown(&["open in process"]);
    second.command("solve delta-fast");
    second.until_shown(&["heuristic at"]);
    second.keys("q");
    let ended = second.end().tidy();
    assert_eq!(ended.code, 0);
    assert!(said(&ended).contains("the best plan is saved in session 'tiny4-2'"), "{}", ended.view.text());
    let store = Store::at(sessions_of(&place));
    assert!(best(&store, "tiny4-2").is_finite());
    first.keys("q");
    assert_eq!(first.end().tidy().code, 0);
}

#[test]
fn a_limit_on_the_size_of_files_neither_kills_nor_lies() {
    let place = Place::new();
    let arguments = ["-c", "ulimit -f 0; exec \"$0\" \"$@\"", PROGRAM, "preset:tiny4", "--solve"];
    let mut terminal = place.opening(&arguments).program("/bin/sh").start();
    terminal.until_shown(&["OPTIMAL", "! not saved"]);
    terminal.keys("q");
    terminal.until_shown(&["Plans are not saved. Leave?"]);
    terminal.keys("y");
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 1, "{}", ended.view.text());
    assert!(said(&ended).contains("is lost"), "{}", ended.view.text());
}
