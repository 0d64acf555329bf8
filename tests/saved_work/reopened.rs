//! Tests of a session that is opened again: it has the same plans, marks and curves. A second window that opens the
//! session cannot change it.

use super::pty::{Place, View, sessions_of, until};
use super::witness::{Witness, plan_of};
use super::{DATE, SESSION, endless};
use lightbay_core::event::EventBody;
use lightbay_sessions::{PlanId, Replay, ReplayLimits, Store};

/// Returns the rows of a pane that fills the screen, without the rows that show the time or the last message.
fn content(view: &View) -> Vec<String> {
    view.rows[2..view.rows.len() - 2].to_vec()
}

#[test]
fn it_comes_back_with_the_same_curves_plans_and_marks() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:mixtral_8x22b", "--solve"]);
    terminal.until("the first optimum", |view| view.rows[0].contains("OPTIMAL"));
    terminal.command("set bandwidth_gbps=300");
    terminal.keys("r");
    terminal.until("a second optimum", |view| {
        view.has("of other parameters") && view.rows[0].contains("OPTIMAL")
    });
    terminal.command("solve delta-fast");
    terminal.until("the genetic search", |view| {
        view.rows.iter().any(|row| row.contains("delta-fast") && row.contains("DONE 0"))
    });
    terminal.keys("mB");
    terminal.until_shown(&["is the baseline"]);
    let mut before = Vec::new();
    for pane in ["4", "5", "3", "2"] {
        terminal.keys(pane);
        terminal.keys("z");
        terminal.until_gone("Parameters");
        terminal.until_quiet(std::time::Duration::from_millis(300));
        before.push((pane, content(&terminal.view())));
        terminal.keys("z");
        terminal.until_shown(&["Parameters"]);
    }
    terminal.keys(" t");
    terminal.until_shown(&["═ Plans"]);
    terminal.until_quiet(std::time::Duration::from_millis(300));
    let whole = terminal.view();
    // The number of the baseline depends on how many plans the runs found before their optimum.
    let is_baseline = |row: &String| row.contains("B ") && row.contains(" auto");
    assert!(whole.rows.iter().any(is_baseline), "{}", whole.text());
    terminal.keys("2q");
    assert_eq!(terminal.end().tidy().code, 0);

    let mut again = place.open(&[]);
    again.until_shown(&["mixtral_8x22b is open with", "[2 Activity]"]);
    for (pane, rows) in before {
        again.keys(pane);
        again.keys("z");
        let same = |view: &View| !view.has("Parameters") && content(view) == rows;
        again.until(&format!("pane {pane} as it was:\n{}", rows.join("\n")), same);
        again.keys("z");
        again.until_shown(&["Parameters"]);
    }
    again.keys(" t");
    again.until_shown(&["═ Plans"]);
    // The side bar: parameters and plans with their marks and bounds, wherever the cursor is.
    let side = |view: &View| {
        view.rows[3..30]
            .iter()
            .map(|row| row.chars().take(27).collect::<String>().replace('═', "─").replace("  > ", "    "))
            .collect::<Vec<_>>()
    };
    again.until("the side bar as it was", |view| side(view) == side(&whole));
    assert_eq!(plan_of(&again.view().rows[0]), plan_of(&whole.rows[0]));
}

#[test]
fn nothing_is_opened_when_there_is_nothing_and_an_example_can_be() {
    let place = Place::new();
    let mut terminal = place.open(&[]);
    let view = terminal.until_shown(&["Bring your own", "megatron_177b", "tiny4"]);
    terminal.click(view.cell_of("tiny4"));
    terminal.keys("\r");
    terminal.until_shown(&["tiny4 is open"]);
    terminal.keys("q");
    assert_eq!(terminal.end().tidy().code, 0);
    // Looking is not work: there is still nothing to go on with.
    let terminal = place.open(&[]);
    terminal.until_shown(&["Bring your own"]);
    assert!(Store::at(sessions_of(&place)).names().unwrap().is_empty());
}

#[test]
fn a_lost_terminal_loses_nothing_at_all() {
    let place = Place::new();
    endless(&place);
    let witness = Witness::default();
    let looking = witness.clone();
    let mut terminal = place
        .opening(&[&format!("session:{SESSION}"), "--solve"])
        .watch(move |view, at| looking.look(view, at))
        .start();
    terminal.until_shown(&["plan 2 delta-fast"]);
    terminal.command("set bandwidth_gbps=600");
    terminal.keys("r");
    terminal.until("a plan of the changed scenario", |view| {
        plan_of(&view.rows[0]).is_some_and(|(number, _)| number > 2)
    });
    terminal.close();
    assert_eq!(terminal.end().code, 129);
    let session = Store::at(sessions_of(&place)).open(SESSION, DATE).unwrap();
    let replay = session.replay(ReplayLimits::ALL).unwrap();
    let seen = witness.seen();
    assert!(seen.len() >= 3, "{seen:?}");
    for seen in seen {
        let logged = replay.records.iter().find_map(|line| match &line.record.body {
            EventBody::Incumbent(incumbent) if line.plan == Some(PlanId(seen.number)) => {
                Some(incumbent.value)
            }
            _ => None,
        });
        assert!(logged.is_some_and(|value| (value - seen.value).abs() < 1e-6), "{seen:?} is not in the log");
    }
    assert!(replay.unfinished().next().is_none(), "every run was ended in order");
    let last = replay.runs.values().next_back().unwrap();
    assert!(session.plan_numbers().unwrap().contains(&last.plan.unwrap()), "the last plan is on disk");
    // The change that was made is there as well.
    let mut again = place.open(&[]);
    again.until_shown(&["bandwidth_gbps      600", &format!("plan {} ", last.plan.unwrap().0)]);
    again.keys("q");
    assert_eq!(again.end().tidy().code, 0);
}

#[test]
fn a_second_window_looks_and_does_not_write() {
    let place = Place::new();
    endless(&place);
    let name = format!("session:{SESSION}");
    let mut first = place.open(&[&name, "--solve"]);
    first.until_shown(&["plan 2 delta-fast", "RUNNING"]);
    let folder = sessions_of(&place).join(SESSION);
    until("the plan on disk", || folder.join("plans/0002.json").exists().then_some(()));
    let pid = first.pid().as_raw_nonzero();

    let mut second = place.open(&[&name]);
    let beside = format!("{SESSION}-2");
    let said = format!("plans found here are saved in session '{beside}'");
    second.until_shown(&["plan 2 delta-fast", "new runs and pl"]);
    assert!(!sessions_of(&place).join(&beside).exists(), "no session before a plan of its own");
    second.keys("L");
    second.until_shown(&[&format!("the session is open in process {pid} on ")]);
    second.escape();
    // The run of the first works on, and is no run of this window.
    second.until("the run of the first", |view| {
        view.rows.iter().any(|row| row.contains("delta-fast") && row.contains("ELSEWHERE"))
    });
    // What it tries by itself is saved beside.
    let runs = || Replay::read(&folder.join("run.log"), ReplayLimits::ALL).unwrap().runs.len();
    second.command("solve prop-alloc");
    second.until("a run of its own", |view| {
        view.rows.iter().any(|row| row.contains("prop-alloc") && row.contains("DONE"))
    });
    second.keys("L");
    second.until_shown(&[&said]);
    second.escape();
    second.keys("q");
    let ended = second.end().tidy();
    assert_eq!(ended.code, 0);
    assert_eq!(runs(), 1, "the second window wrote into the log");
    assert!(sessions_of(&place).join(&beside).join("plans").exists(), "what the second window found is lost");

    first.until("the first at work", |view| view.rows[0].contains("RUNNING"));
    first.keys("\x03\x03");
    assert_eq!(first.end().tidy().code, 130);
    // Free again.
    let third = place.open(&[&name]);
    let view = third.until_shown(&["is open with"]);
    assert!(!view.has(&said), "{}", view.text());
}

#[test]
fn a_second_window_tells_how_the_run_of_the_first_ends() {
    let place = Place::new();
    endless(&place);
    let name = format!("session:{SESSION}");
    for (killed, word) in [(false, "STOPPED"), (true, "CUT OFF")] {
        let mut first = place.open(&[&name, "--solve"]);
        first.until("a run with a plan", |view| {
            view.rows[0].contains("RUNNING") && view.rows[0].contains("plan ") && !view.rows[0].contains('*')
        });
        let folder = sessions_of(&place).join(SESSION);
        until("the run in the log", || {
            let replay = Replay::read(&folder.join("run.log"), ReplayLimits::ALL).unwrap();
            replay.unfinished().next().is_some().then_some(())
        });
        let mut second = place.open(&[&name]);
        second.until("the run of the first", |view| view.rows[0].contains("ELSEWHERE"));
        if killed {
            first.kill();
        } else {
            first.keys("\x03\x03");
            assert_eq!(first.end().tidy().code, 130);
        }
        second.until("how it ended", |view| view.rows[0].contains(word));
        second.keys("q");
        assert_eq!(second.end().tidy().code, 0);
    }
}
