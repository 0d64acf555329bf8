//! Tests of what a long day needs: the result of a search, recorded keys, plans of sessions.

use super::opened;
use super::pty::Place;

#[test]
fn the_result_of_a_search_is_shown_without_another_key() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    terminal.until_shown(&["1 DAG"]);
    terminal.keys("1/");
    terminal.until_shown(&["a part of a name"]);
    terminal.keys("s3\r");
    terminal.until_shown(&["match 1 of"]);
    terminal.keys("n");
    terminal.until_shown(&["match 2 of"]);
}

#[test]
fn recorded_keys_outlive_the_end_of_the_program() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    terminal.command("record a.keys");
    terminal.until_shown(&["recording keys and mouse"]);
    terminal.keys("zzq");
    let ended = terminal.end().tidy();
    assert!(ended.view.has("the recorded keys are in"), "{}", ended.view.text());
    let keys = std::fs::read_to_string(place.path("a.keys")).unwrap();
    assert!(keys.ends_with("\nz\nz\n"), "{keys}");
}

#[test]
fn a_session_opens_at_one_of_its_plans() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:tiny4", "--solve", "prop-alloc"]);
    terminal.until_shown(&["DONE"]);
    terminal.command("name_plan alpha");
    terminal.until_shown(&["name of plan 1: alpha"]);
    terminal.command("new tiny8");
    terminal.until_shown(&["tiny8  no plan yet"]);
    terminal.command("open session:tiny4/9");
    terminal.until_shown(&["has no plan '9'", "Enter reads it"]);
    terminal.keys("\r");
    terminal.until_shown(&["its plans are 1 (alpha)"]);
    terminal.escape();
    terminal.command("open session:tiny4/alpha");
    terminal.until_shown(&["tiny4 is open with one plan"]);
}

#[test]
fn a_session_gets_another_name_and_a_note() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:tiny4", "--solve", "prop-alloc"]);
    terminal.until_shown(&["DONE"]);
    terminal.command("note_session for the review");
    terminal.until_shown(&["note on the session: for the review"]);
    terminal.command("rename_session beta");
    terminal.until_shown(&["session 'tiny4' is called 'beta' now"]);
    terminal.keys("q");
    let ended = terminal.end().tidy();
    assert!(ended.view.has("session 'beta'"), "{}", ended.view.text());
    let listed = place.command(&["sessions"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("beta") && !listed.lines().any(|line| line.starts_with("tiny4 ")), "{listed}");
    assert!(listed.contains("for the review"), "{listed}");
}

#[test]
fn the_first_steps_are_shown_once() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    terminal.until_shown(&["First steps", "solve this scenario"]);
    terminal.keys("z");
    terminal.until_gone("First steps");
    terminal.keys("q");
    terminal.end().tidy();
    let terminal = opened(&place, "tiny4");
    assert!(!terminal.view().has("First steps"), "{}", terminal.view().text());
}
