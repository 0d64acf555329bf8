//! Tests of the main workflow: open, solve, change a knob, solve again, compare, and write a file.

#[cfg(target_os = "linux")]
use super::pty::process;
use super::pty::{Place, View, sessions_of};
use super::{opened, search, search_by, searching};
use lightbay_core::event::{EventBody, HotStartFate, RunId};
use lightbay_sessions::{Replay, ReplayLimits};
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

/// Returns the events in the log of the session so far.
fn log(place: &Place, session: &str) -> Replay {
    Replay::read(&sessions_of(place).join(session).join("run.log"), ReplayLimits::ALL).unwrap()
}

/// Returns the number of the plan in the header.
fn shown_plan(view: &View) -> Option<u64> {
    let rest = view.rows[0].split("plan ").nth(1)?;
    rest.split_whitespace().next()?.parse().ok()
}

#[test]
fn it_starts_solves_and_proves() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:megatron_177b", "--solve"]);
    let view = terminal.until_shown(&["megatron_177b", "OPTIMAL", "12.829852 s", "DP s2*"]);
    assert!(view.alternate && view.cursor_hidden && view.brackets_paste && view.reports_mouse);
    for part in ["gap 0.00 %", "Parameters", "bandwidth_gbps      400", "Plans", "Solve", "q quit"] {
        assert!(view.has(part), "'{part}' is missing:\n{}", view.text());
    }
    terminal.keys("q");
    let ended = terminal.end().tidy();
    assert_eq!(ended.code, 0);
    assert!(ended.view.has("saved in session 'megatron_177b'"), "{}", ended.view.text());
}

#[test]
fn digits_go_to_panes_and_z_zooms() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:megatron_177b", "--solve", "delta-joint"]);
    terminal.until_shown(&["OPTIMAL", "DP s2*"]);
    for (key, tab, content) in [
        ("2", "[2 Activity]", "lasts ms"),
        ("3", "[3 Ports]", "used"),
        ("4", "[4 GA]", "no genetic search yet"),
        ("5", "[5 Search]", "allocs 5 of 61"),
        ("1", "[1 DAG]", "p1→p0"),
    ] {
        terminal.keys(key);
        terminal.until_shown(&[tab, content]);
    }
    terminal.keys("3z");
    let zoomed = terminal.until_gone("Parameters");
    assert!(zoomed.has("3 Ports") && !zoomed.has("═ 1 DAG"), "{}", zoomed.text());
    terminal.keys("z");
    terminal.until_shown(&["Parameters", "1 DAG"]);
}

#[test]
fn a_changed_knob_is_marked_and_solved_warm() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:megatron_177b", "--solve"]);
    terminal.until_shown(&["OPTIMAL", "plan 2 auto"]);
    terminal.command("set bandwidth_gbps=800");
    let changed = terminal.until_shown(&["bandwidth_gbps      800*", "run uses 400"]);
    assert!(changed.rows[0].contains("megatron_177b *") && changed.rows[0].contains("stale"));
    assert!(changed.has("1 changed") && changed.has("12.829852"), "{}", changed.text());
    terminal.keys("r");
    let solved = terminal.until("the new optimum", |view| {
        view.rows[0].contains("12.591233 s") && view.has("OPTIMAL") && !view.has("stale")
    });
    assert!(!solved.has("800 *"), "{}", solved.text());
    assert!(solved.has("of other parameters"), "older plans stay:\n{}", solved.text());
    terminal.keys("L");
    let log_view = terminal.until_shown(&["Log, newest first", "hot start"]);
    assert!(log_view.has("carried over to the changed scenario"), "{}", log_view.text());
    terminal.escape();
    terminal.keys("q");
    assert_eq!(terminal.end().tidy().code, 0);
    let replay = log(&place, "megatron_177b");
    let hot = replay.records.iter().find_map(|line| match &line.record.body {
        EventBody::HotStart(report) if line.record.run == RunId(2) => Some(report.clone()),
        _ => None,
    });
    assert!(hot.is_some_and(|report| report.fate != HotStartFate::Rejected));
}

#[test]
fn a_knob_is_edited_in_the_form_and_the_change_undone() {
    let place = Place::new();
    let mut terminal = opened(&place, "megatron_177b");
    terminal.keys(" f");
    terminal.until_shown(&["═ Parameters"]);
    terminal.keys("ggjj");
    terminal.until_shown(&["> bandwidth_gbps      400"]);
    terminal.keys("e");
    terminal.until_shown(&["a number from"]);
    terminal.keys("\x15much\r");
    terminal.until("a refusal", |view| view.has("'much'"));
    terminal.keys("\x15800\r");
    terminal.until_shown(&["bandwidth_gbps      800"]);
    terminal.keys("u");
    terminal.until_shown(&["bandwidth_gbps      400"]);
    terminal.keys("U");
    terminal.until_shown(&["bandwidth_gbps      800"]);
}

#[test]
fn two_methods_work_side_by_side() {
    let place = Place::new();
    let mut terminal = searching(&place);
    search_by(&mut terminal, "delta-level");
    terminal.until("both at work", |view| {
        ["delta-fast", "delta-level"]
            .iter()
            .all(|method| view.rows.iter().any(|row| row.contains(method) && row.contains("RUNNING")))
    });
    // Both go on saying things, in turns, and one is offered what the other found.
    super::pty::until("both runs in turns and an offer in the log", || {
        let replay = log(&place, "deepseek_671b");
        let runs: Vec<RunId> = replay.records.iter().map(|line| line.record.run).collect();
        let turns = runs.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let offered = replay.records.iter().any(|line| matches!(line.record.body, EventBody::Offer(_)));
        (offered && turns >= 6 && runs.contains(&RunId(1)) && runs.contains(&RunId(2))).then_some(())
    });
    terminal.keys("\x03\x03");
    assert_eq!(terminal.end().tidy().code, 130);
    let replay = log(&place, "deepseek_671b");
    assert!(replay.runs.values().all(|run| run.done.is_some()), "both ended in order");
}

#[test]
fn stopping_shows_at_once_and_keeps_the_best() {
    let place = Place::new();
    let mut terminal = searching(&place);
    let before = shown_plan(&terminal.view()).unwrap();
    terminal.keys("x");
    let view = terminal.until("stopped", |view| view.rows[0].contains("STOPPED"));
    assert!(shown_plan(&view).unwrap() >= before, "{}", view.text());
    terminal.keys("q");
    assert_eq!(terminal.end().tidy().code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn pausing_takes_no_processor() {
    let place = Place::new();
    let mut terminal = searching(&place);
    terminal.keys("p");
    terminal.until("paused", |view| view.rows[0].contains("PAUSED"));
    terminal.until_quiet(Duration::from_millis(1500));
    let (before, began) = (process::cpu_ms(terminal.pid()), Instant::now());
    terminal.pass(Duration::from_secs(2));
    let used = process::cpu_ms(terminal.pid()) - before;
    assert!(used <= 50, "a paused search uses {used} ms of processor time in {:?}", began.elapsed());
    terminal.keys("p");
    terminal.until("working again", |view| view.rows[0].contains("RUNNING"));
}

#[test]
fn a_live_change_and_its_undoing_reach_the_run() {
    let place = Place::new();
    let mut terminal = searching(&place);
    // The search, zoomed: its figures have room next to the chart.
    terminal.keys("4z");
    terminal.until("the limit of the run", |view| view.has(" of 1000000"));
    terminal.command("set stall_generations=500000");
    terminal.until("the limit after the change", |view| view.has(" of 500000"));
    terminal.keys("u");
    terminal.until("the limit after undoing", |view| view.has(" of 1000000"));
    terminal.keys("U");
    terminal.until("the limit after redoing", |view| view.has(" of 500000"));
    assert!(!terminal.view().rows[0].contains('*'), "the run has it: {}", terminal.view().rows[0]);
    terminal.keys("\x03\x03");
    assert_eq!(terminal.end().tidy().code, 130);
}

#[test]
fn marked_plans_are_compared() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:megatron_177b", "--solve"]);
    terminal.until_shown(&["OPTIMAL", "plan 2 auto"]);
    terminal.keys("m");
    terminal.until_shown(&["plan 2 marked"]);
    terminal.command("solve sqrt-alloc");
    let view =
        terminal.until("a plan of the other method", |view| view.has(" sqrt-alloc  ") && view.has("DONE"));
    let (_, row) = view.row_of("sqrt-alloc  ");
    let number = row.split_whitespace().find_map(|word| word.parse::<u64>().ok()).unwrap();
    terminal.command(&format!("show_plan {number}"));
    terminal.until("the other plan", |view| shown_plan(view) == Some(number));
    terminal.keys("m");
    terminal.until_shown(&[&format!("plan {number} marked")]);
    terminal.keys("c");
    let compare = terminal.until_shown(&["═ Compare", "2 auto", "sqrt-alloc", "makespan s", "NCT"]);
    let (_, row) = compare.row_of("makespan s");
    assert!(row.contains("12.829852"), "{row}");
    terminal.escape();
    terminal.until_gone("═ Compare");
}

#[test]
fn a_plan_is_written_and_passes_the_check() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:megatron_177b", "--solve"]);
    terminal.until_shown(&["OPTIMAL", "plan 2 auto"]);
    terminal.keys("w");
    terminal.until_shown(&["Write plan 2", "megatron_177b-plan2.json"]);
    terminal.keys("\r");
    terminal.until_shown(&["written: "]);
    let path = place.path("megatron_177b-plan2.json");
    let plan: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(plan["status"], "optimal");
    assert_eq!(format!("{:.6}", plan["objective"]["value"].as_f64().unwrap()), "12.829852");
    let checked = place.command(&["check", path.to_str().unwrap()]).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
    // A second time it asks, and keeps what is there.
    let before = fs::read(&path).unwrap();
    terminal.keys("w\r");
    terminal.until_shown(&["already exists", "[keep it]"]);
    terminal.keys("\r");
    terminal.until_gone("already exists");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_scenario_on_standard_input_leaves_the_keyboard_free() {
    let place = Place::new();
    let made = place.command(&["new", "tiny4", "-o", "job.json"]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let script = format!("exec {} - --solve < job.json", super::pty::PROGRAM);
    let mut terminal = place.opening(&["-c", &script]).program("/bin/sh").start();
    terminal.until_shown(&["tiny4", "OPTIMAL"]);
    terminal.keys("q");
    assert_eq!(terminal.end().tidy().code, 0);
}

#[test]
fn a_new_request_takes_the_place_of_the_run() {
    let place = Place::new();
    let mut terminal = searching(&place);
    terminal.command("set bandwidth_gbps=500");
    terminal.until_shown(&["bandwidth_gbps      500*"]);
    terminal.keys("r");
    let view = terminal.until("a second run", |view| {
        view.has("plan ") && !view.has("stale") && view.rows[0].contains("RUNNING")
    });
    assert!(shown_plan(&view).unwrap() > 1, "{}", view.text());
    super::pty::until("the first run's end", || {
        log(&place, "deepseek_671b").runs.get(&RunId(1)).is_some_and(|run| run.done.is_some()).then_some(())
    });
    terminal.keys("\x03\x03");
    assert_eq!(terminal.end().code, 130);
}

#[test]
fn another_file_is_opened_only_after_a_question_while_a_search_works() {
    let place = Place::new();
    let mut terminal = searching(&place);
    terminal.command("new tiny4");
    terminal.until_shown(&["[stay here]"]);
    terminal.keys("\r");
    terminal.until_gone("[stay here]");
    terminal.command("new tiny4");
    terminal.until_shown(&["[stay here]"]);
    terminal.keys("y");
    terminal.until_shown(&["tiny4  no plan yet"]);
    // What was open is saved to the end, and the new one works.
    super::pty::until("the run before to end in its log", || {
        log(&place, "deepseek_671b").unfinished().next().is_none().then_some(())
    });
    terminal.keys("r");
    terminal.until_shown(&["OPTIMAL"]);
    terminal.command("new deepseek_671b");
    terminal.until_shown(&["deepseek_671b  no plan yet"]);
    search(&mut terminal);
}

#[test]
fn solving_without_a_file_shows_a_summary_and_says_where_the_plan_is() {
    let place = Place::new();
    let terminal = place.open(&["solve", "preset:tiny4"]);
    terminal.until_shown(&["training plan 'tiny4'", "makespan", "give -o FILE to keep a plan"]);
}
