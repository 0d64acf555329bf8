//! Tests of the end of the program: by key, by signal, and by the loss of the terminal. Afterwards the terminal is as
//! before, and the best plan is on disk.

use super::pty::{Place, sessions_of};
#[cfg(target_os = "linux")]
use super::pty::{process, until};
use super::{opened, search, searching};
use lightbay_core::event::EndStatus;
use lightbay_sessions::{Replay, ReplayLimits, Session, Store};
use rustix::process::Signal;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Reads the saved session, and asserts that its lock is free.
fn saved(place: &Place) -> (Session, Replay) {
    let session = Store::at(sessions_of(place)).open("deepseek_671b", "2026-01-01T00:00:00Z").unwrap();
    assert_eq!(session.read_only(), None, "nobody holds it");
    let replay = session.replay(ReplayLimits::ALL).unwrap();
    (session, replay)
}

/// Asserts that the session of a search was saved completely: its last run has ended, and its plan is on disk.
#[track_caller]
fn saved_to_the_end(place: &Place) {
    let (session, replay) = saved(place);
    assert!(!replay.cut_off && replay.broken == 0);
    let run = replay.runs.values().next_back().unwrap();
    assert_eq!(run.done.as_ref().map(|done| done.status), Some(EndStatus::Stopped));
    let plan = session.read_plan(run.plan.unwrap()).unwrap();
    assert_eq!(plan["objective"]["value"].as_f64(), run.value);
}

#[test]
fn q_asks_while_a_search_works() {
    let place = Place::new();
    let mut terminal = searching(&place);
    for no in ["\r", "\x1b", "n"] {
        terminal.keys("q");
        terminal.until_shown(&["delta-fast is still running. Leave?", "[stay]"]);
        terminal.keys(no);
        terminal.until_gone("still running");
    }
    terminal.until("still at work", |view| view.rows[0].contains("RUNNING"));
    terminal.keys("q");
    terminal.until_shown(&["[stay]"]);
    terminal.keys("y");
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 0);
    assert!(ended.view.has("the best plan is saved in session 'deepseek_671b'"), "{}", ended.view.text());
    saved_to_the_end(&place);
}

#[test]
fn control_c_stops_first_and_leaves_at_the_second_time() {
    let place = Place::new();
    let mut terminal = searching(&place);
    terminal.keys("\x03");
    terminal.until("stopped, not left", |view| view.rows[0].contains("STOPPED"));
    search(&mut terminal);
    terminal.keys("\x03\x03");
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 130);
    assert!(ended.view.has("the best plan is saved"), "{}", ended.view.text());
    saved_to_the_end(&place);
}

#[test]
fn control_c_leaves_when_nothing_works() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    terminal.keys("\x03");
    assert_eq!(terminal.end().tidy().code, 0);
}

#[test]
fn signals_save_restore_and_tell_by_the_exit_code() {
    for (signal, code) in [(Signal::HUP, 129), (Signal::TERM, 143), (Signal::QUIT, 143)] {
        let place = Place::new();
        let terminal = searching(&place);
        terminal.signal(signal);
        let ended = terminal.end().tidy();
        assert_eq!(ended.code, code);
        assert!(ended.view.has("the best plan is saved"), "{}", ended.view.text());
        saved_to_the_end(&place);
    }
}

#[test]
fn an_interrupt_from_outside_is_like_control_c() {
    let place = Place::new();
    let terminal = searching(&place);
    terminal.signal(Signal::INT);
    terminal.until("stopped, not left", |view| view.rows[0].contains("STOPPED"));
}

#[test]
fn a_terminal_that_goes_away_ends_the_program_in_order() {
    let place = Place::new();
    let mut terminal = searching(&place);
    terminal.close();
    assert_eq!(terminal.end().code, 129);
    saved_to_the_end(&place);
}

#[test]
fn a_terminal_that_goes_away_while_nothing_works_leaves_no_process_behind() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    terminal.close();
    assert_eq!(terminal.end().code, 129);
}

/// A program that builds a large model does not react to a signal at once, but must end nevertheless.
#[test]
fn a_termination_while_a_large_model_is_built_ends_the_program_with_its_best_plan() {
    for by_signal in [true, false] {
        let place = Place::new();
        let mut terminal = opened(&place, "deepseek_671b");
        terminal.command("choose_method delta-interval");
        terminal.command("set formulation=paper");
        terminal.command("set windows=none");
        terminal.keys("r");
        terminal.until("a plan to start from", |view| view.rows[0].contains("plan ") && view.has("RUNNING"));
        terminal.pass(Duration::from_secs(1));
        let began = Instant::now();
        if by_signal {
            terminal.signal(Signal::TERM);
            let ended = terminal.end().tidy();
            assert_eq!(ended.code, 143);
            assert!(ended.view.has("the best plan is saved"), "{}", ended.view.text());
        } else {
            terminal.close();
            assert_eq!(terminal.end().code, 129);
        }
        // It takes well below a second; a busy machine may need more.
        assert!(began.elapsed() < Duration::from_secs(10), "it took {:?}", began.elapsed());
        let (session, replay) = saved(&place);
        let run = replay.runs.values().next_back().unwrap();
        let plan = session.read_plan(run.plan.unwrap()).unwrap();
        assert_eq!(plan["objective"]["value"].as_f64(), run.value, "its best plan is on disk");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn stopping_the_process_gives_the_terminal_back_and_going_on_takes_it() {
    let place = Place::new();
    for by_key in [true, false] {
        let mut terminal = place.open(&["preset:megatron_177b", "--solve"]);
        terminal.until_shown(&["OPTIMAL", "DP s2*"]);
        terminal.until_quiet(std::time::Duration::from_millis(300));
        let before = terminal.view();
        if by_key {
            terminal.keys("\x1a");
        } else {
            terminal.signal(Signal::TSTP);
        }
        until("the process to stand still", || (process::state(terminal.pid()) == 'T').then_some(()));
        let stopped = terminal.until("the screen given back", |view| !view.alternate);
        assert!(!stopped.cursor_hidden && !stopped.brackets_paste && !stopped.reports_mouse);
        assert!(terminal.is_restored(), "the terminal is not in the mode in which it was");
        // The shell writes meanwhile, and what is typed belongs to it.
        terminal.scribble("\x1b[?1049h\x1b[2Jsomething else\x1b[?1049l");
        terminal.signal(Signal::CONT);
        let after =
            terminal.until("a full frame", |view| view.alternate && view.rows[1..20] == before.rows[1..20]);
        assert!(after.cursor_hidden && !after.has("something else"));
        assert!(!terminal.is_restored());
        terminal.keys("q");
        assert_eq!(terminal.end().tidy().code, 0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_search_stands_still_with_the_process_and_goes_on_with_it() {
    let place = Place::new();
    let mut terminal = searching(&place);
    terminal.signal(Signal::TSTP);
    until("the process to stand still", || (process::state(terminal.pid()) == 'T').then_some(()));
    terminal.signal(Signal::CONT);
    terminal.until("the screen again", |view| view.alternate);
    terminal.keys("L");
    terminal.until_shown(&["runs were paused while the program was stopped"]);
    terminal.escape();
    terminal.until_gone("═ Log");
    let work = || terminal.view().row_of("gen ").1.to_owned();
    let before = work();
    terminal.until("more generations", |view| view.row_of("gen ").1 != before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_was_stopped_hard_repaints_when_it_goes_on() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    terminal.until_quiet(std::time::Duration::from_millis(300));
    let before = terminal.view();
    terminal.signal(Signal::STOP);
    until("the process to stand still", || (process::state(terminal.pid()) == 'T').then_some(()));
    terminal.scribble("\x1b[2Jsomething else");
    terminal.signal(Signal::CONT);
    terminal.until("a full frame", |view| view.rows[..20] == before.rows[..20]);
    terminal.keys("q");
    assert_eq!(terminal.end().tidy().code, 0);
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let place = Place::new();
    let output = place.command(&["preset:tiny4"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("needs a terminal") && said.contains("lightbay solve preset:tiny4"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_wrong_scenario_is_refused_before_the_screen_is_taken() {
    let place = Place::new();
    let terminal = place.open(&["preset:tiny5"]);
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 2);
    assert!(ended.view.has("tiny5") && ended.view.has("did you mean"), "{}", ended.view.text());
}
