//! Tests of sweeps: suggested values, start, stop, setting the knob to a point, and removal.

use super::support::Bench;
use crate::app::action::{Action, Command, Fact};
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::effect::{Effect, SweepRequest};
use crate::app::layer::Layer;
use crate::app::pane::{PaneId, PaneInfo};
use crate::app::sweeps::{PaneSweeps, SweepFile, SweepRun, SweepState};
use lightbay_core::clock::SystemClock;
use lightbay_core::param::ParamValue;
use lightbay_engines::sweep::{Axis, Shard, Starts, SweepRow, TableForm, Walked, Walker};
use ratatui::layout::Rect;
use std::ops::ControlFlow;
use std::sync::Arc;

const WHAT_IF: PaneId = PaneId::Kind(2);

const PANES: &[PaneInfo] = &[
    PaneInfo::new(1, "DAG", "Where does time go?"),
    PaneInfo {
        modes: &["bandwidth", "length", "share", "other"],
        sweeps: Some(&PaneSweeps {
            knobs: &["bandwidth_gbps", "seq", "mfu"],
            methods: &["prop-alloc", "delta-joint"],
        }),
        ..PaneInfo::new(2, "What-if", "What if the parameter were another?")
    },
];

fn open() -> Bench {
    let mut bench = Bench::open_with(|_| PANES);
    bench.keys("2");
    bench
}

fn request(bench: &Bench) -> SweepRequest {
    let found = bench.effects.iter().find_map(|effect| match effect {
        Effect::StartSweep(request) => Some(request.clone()),
        _ => None,
    });
    found.expect("a sweep was started")
}

/// Solves a sweep as the runtime does.
fn rows(request: &SweepRequest) -> Vec<SweepRow> {
    let walker = Walker::new(1, None, Arc::new(SystemClock::start()), None).unwrap();
    let mut rows = Vec::new();
    walker.walk(&request.sweep, &request.sweep.shard(Shard::WHOLE), Starts::new(), |row, _| {
        rows.push(row);
        ControlFlow::Continue(())
    });
    rows
}

fn sweep(bench: &mut Bench, text: &str) -> SweepRequest {
    bench.act(Action::Do(Command::Sweep(text.to_owned())));
    request(bench)
}

/// Returns a workbench that has drawn a sweep with all points, and the request of the sweep.
fn swept(text: &str) -> (Bench, SweepRequest) {
    let mut bench = open();
    let request = sweep(&mut bench, text);
    for row in rows(&request) {
        bench.fact(Fact::SweepRow { key: request.key, row: Box::new(row) });
    }
    bench.fact(Fact::SweepEnded { key: request.key, outcome: Ok(Walked::Through) });
    let mut pane = PaneDrawn::new(WHAT_IF, Rect::new(0, 0, 80, 20));
    // Methods below each other, values side by side, sorted as drawing does.
    let cells =
        |method: u32| (0..request.sweep.len() as u32 / 2).map(move |at| (2 * at + method + 1, method, at));
    pane.items = (0..2).flat_map(cells).map(|(id, row, at)| Item { id, row, place: at as f32 }).collect();
    bench.act(Action::Drawn(Drawn { panes: vec![pane], ..Drawn::default() }));
    (bench, request)
}

fn stops(bench: &Bench) -> bool {
    bench.effects.contains(&Effect::StopSweep)
}

fn bandwidth(bench: &Bench) -> Option<ParamValue> {
    bench.app.work.as_ref().unwrap().now.scenario.knob("bandwidth_gbps")
}

#[test]
fn enter_suggests_values_around_the_present_one_and_enter_starts() {
    let mut bench = open();
    bench.keys("Enter");
    let Some(Layer::Palette(palette)) = bench.app.layers.last() else { panic!("no palette") };
    assert_eq!(palette.field.text(), "sweep bandwidth_gbps=100,200,400,800,1600");
    bench.keys("Enter");
    let request = request(&bench);
    assert_eq!(request.sweep.len(), 10);
    assert_eq!(request.sweep.method_names().collect::<Vec<_>>(), ["prop-alloc", "delta-joint"]);
    assert!(bench.app.layers.is_empty());
    // Another knob, a share, by another key.
    let mut bench = open();
    bench.keys("v v e");
    let Some(Layer::Palette(palette)) = bench.app.layers.last() else { panic!("no palette") };
    assert!(palette.field.text().starts_with("sweep mfu=0."), "{}", palette.field.text());
}

#[test]
fn a_sweep_takes_methods_and_what_was_set_in_the_form() {
    let mut bench = open();
    bench.act(Action::Do(Command::Set("method=delta-fast".to_owned())));
    bench.act(Action::Do(Command::Set("generations=7".to_owned())));
    bench.act(Action::Do(Command::Set("time_limit_s=5".to_owned())));
    let request = sweep(&mut bench, "seq=1024,2048 delta-fast,prop-alloc");
    assert_eq!(request.sweep.len(), 4);
    assert_eq!(bench.app.pane(WHAT_IF).mode, 1, "the pane goes to the knob");
    let plain = open().app.work.unwrap().now.scenario;
    let other = lightbay_engines::sweep::Sweep::of(vec![plain]).unwrap();
    let other = other.methods(&["delta-fast".to_owned(), "prop-alloc".to_owned()]).unwrap();
    let other = other.set(&["generations=7".parse().unwrap()]).unwrap().limited(Some(5.0), None, None);
    let other = other.over(&["seq=1024,2048".parse().unwrap()]).unwrap();
    assert_eq!(request.sweep.id(), other.id());
}

#[test]
fn what_cannot_be_swept_is_said() {
    let mut bench = open();
    for (text, says) in [
        ("seq=x", "'x' is not valid"),
        ("sequ=1,2", "did you mean 'seq'?"),
        ("seq=1,2 mfu=0.4", "give one parameter"),
        ("seq=1,2 delta-jont", "did you mean 'delta-joint'?"),
    ] {
        bench.act(Action::Do(Command::Sweep(text.to_owned())));
        assert!(bench.effects.is_empty(), "{text}");
        assert!(bench.last_message().contains(says), "{text}: {}", bench.last_message());
    }
    let mut bare = Bench::open();
    bare.act(Action::Do(Command::Sweep("seq=1,2".to_owned())));
    assert!(bare.effects.is_empty() && bare.last_message().contains("no pane"), "{}", bare.last_message());
}

#[test]
fn points_come_one_by_one_and_late_ones_of_others_are_dropped() {
    let mut bench = open();
    let request = sweep(&mut bench, "bandwidth_gbps=400,800");
    let rows = rows(&request);
    bench.fact(Fact::SweepRow { key: request.key, row: Box::new(rows[0].clone()) });
    bench.fact(Fact::SweepRow { key: request.key + 1, row: Box::new(rows[1].clone()) });
    assert_eq!(bench.app.shown_sweep().unwrap().rows, rows[..1]);
    bench.act(Action::Resize(80, 24));
    assert_eq!(bench.app.shown_sweep().unwrap().rows.len(), 1, "a new size loses nothing");
    bench.act(Action::Do(Command::Sweep("seq=1,2".to_owned())));
    assert!(bench.effects.is_empty() && bench.last_message().contains("x stops it"));
    bench.keys("x");
    assert!(stops(&bench));
    bench.fact(Fact::SweepEnded { key: request.key, outcome: Ok(Walked::Stopped) });
    assert_eq!(bench.app.shown_sweep().unwrap().state, SweepState::Ended(Walked::Stopped));
    bench.keys("x");
    assert!(!stops(&bench), "nothing works any more");
}

#[test]
fn stopping_means_the_sweep_in_its_pane_and_the_runs_elsewhere() {
    let mut bench = open();
    sweep(&mut bench, "bandwidth_gbps=400,800");
    bench.act(Action::Do(Command::Solve { method: Some("delta-fast".to_owned()), warm: true }));
    let run = bench.accept(false);
    bench.keys("1 x");
    assert!(bench.effects.contains(&Effect::StopRun(run)) && !stops(&bench));
    bench.keys("2 x");
    assert!(!bench.effects.contains(&Effect::StopRun(run)) && stops(&bench));
    let mut bench = open();
    sweep(&mut bench, "bandwidth_gbps=400,800");
    bench.keys("q");
    assert!(matches!(bench.app.layers.last(), Some(Layer::Confirm(_))), "leaving asks first");
    bench.keys("Esc C-c");
    assert!(stops(&bench));
}

#[test]
fn enter_on_a_point_sets_the_knob_and_keeps_the_sweep() {
    let (mut bench, _) = swept("bandwidth_gbps=400,800,1600");
    bench.keys("Right");
    bench.keys("Enter");
    let first = bench.app.pane(WHAT_IF).selected;
    bench.keys("l l");
    assert_ne!(bench.app.pane(WHAT_IF).selected, first);
    bench.keys("Enter");
    assert_eq!(bandwidth(&bench), Some(ParamValue::Float(1600.0)));
    assert!(bench.last_message().contains("r solves"), "{}", bench.last_message());
    assert_eq!(bench.app.shown_sweep().unwrap().rows.len(), 6);
}

#[test]
fn another_scenario_hides_the_sweeps_of_the_one_before_until_it_returns() {
    let (mut bench, first) = swept("bandwidth_gbps=400,800");
    bench.act(Action::Do(Command::Set("seq=1024".to_owned())));
    assert!(bench.app.shown_sweep().is_none());
    assert_eq!(bench.app.sweeps.saved().len(), 1, "the session still keeps the sweep");
    bench.keys("u");
    assert_eq!(bench.app.shown_sweep().unwrap().key, first.key);
    bench.act(Action::Do(Command::Set("seq=1024".to_owned())));
    let request = sweep(&mut bench, "bandwidth_gbps=400,800");
    bench.act(Action::Do(Command::Set("bandwidth_gbps=500".to_owned())));
    assert!(!stops(&bench) && bench.app.shown_sweep().is_some(), "its own knob may be anything");
    // An edit does not stop the sweep, which still receives its points.
    bench.act(Action::Do(Command::Set("seq=512".to_owned())));
    assert!(!stops(&bench) && bench.app.sweeps.is_busy());
    assert!(bench.app.shown_sweep().is_none());
    let late = rows(&request).remove(0);
    bench.fact(Fact::SweepRow { key: request.key, row: Box::new(late) });
    bench.keys("u");
    assert_eq!(bench.app.shown_sweep().unwrap().rows.len(), 1);
}

#[test]
fn a_second_sweep_over_a_knob_keeps_the_points_of_the_first() {
    let (mut bench, first) = swept("bandwidth_gbps=400,800");
    let second = sweep(&mut bench, "bandwidth_gbps=400,1600");
    assert_eq!(bench.app.shown_sweep().unwrap().key, second.key);
    for row in rows(&second) {
        bench.fact(Fact::SweepRow { key: second.key, row: Box::new(row) });
    }
    bench.fact(Fact::SweepEnded { key: second.key, outcome: Ok(Walked::Through) });
    assert_eq!(bench.app.sweeps.saved().len(), 2);
    // The first sweep again shows its points without a new run.
    bench.act(Action::Do(Command::Sweep("bandwidth_gbps=400,800".to_owned())));
    assert!(!bench.effects.iter().any(|effect| matches!(effect, Effect::StartSweep(_))));
    assert_eq!(bench.app.shown_sweep().unwrap().key, first.key);
    assert!(bench.last_message().contains("solved already"), "{}", bench.last_message());
}

#[test]
fn a_reopened_session_keeps_sweeps_of_other_parameters() {
    let (mut bench, _) = swept("bandwidth_gbps=400,800");
    bench.act(Action::Do(Command::Set("seq=1024".to_owned())));
    let saved = bench.app.sweeps.saved();
    let mut again = open();
    again.act(Action::Do(Command::Set("seq=1024".to_owned())));
    again.app.restore_sweeps(saved.clone());
    assert!(again.app.shown_sweep().is_none());
    assert_eq!(again.app.sweeps.saved(), saved);
    // Their values bring the points back; the swept parameter itself and the name may have other values.
    again.act(Action::Do(Command::Set("bandwidth_gbps=800".to_owned())));
    again.act(Action::Do(Command::Set("name=other".to_owned())));
    again.act(Action::Do(Command::Set("seq=4096".to_owned())));
    assert_eq!(again.app.sweeps.over("bandwidth_gbps").unwrap().rows, saved[0].rows);
    assert_eq!(again.app.sweeps.saved(), saved);
}

#[test]
fn a_session_keeps_the_points_of_its_sweeps() {
    let mut bench = Bench::open_with(|_| PANES);
    let request = sweep(&mut bench, "bandwidth_gbps=200,400 prop-alloc,iter-halve");
    let all = rows(&request);
    for row in &all[..3] {
        bench.fact(Fact::SweepRow { key: request.key, row: Box::new(row.clone()) });
    }
    let saved = bench.app.sweeps.saved();
    let text = serde_json::to_string(&saved).unwrap();
    let read: Vec<crate::app::sweeps::SavedSweep> = serde_json::from_str(&text).unwrap();
    assert_eq!(read, saved);

    let mut again = Bench::open_with(|_| PANES);
    again.app.restore_sweeps(read.clone());
    let run = again.app.sweeps.over("bandwidth_gbps").unwrap();
    assert_eq!((run.rows.as_slice(), &run.state), (&all[..3], &SweepState::Ended(Walked::Stopped)));

    // With another seed the points would be others.
    let mut other = Bench::open_with(|_| PANES);
    other.keys(":").text("set seed=7").keys("Enter");
    other.app.restore_sweeps(read);
    assert!(other.app.sweeps.over("bandwidth_gbps").is_none());
}

#[test]
fn a_reopened_session_shows_its_newest_sweep() {
    let mut bench = Bench::open_with(|_| PANES);
    for command in ["bandwidth_gbps=200,400 prop-alloc", "mfu=0.4,0.5 prop-alloc"] {
        let request = sweep(&mut bench, command);
        for row in rows(&request) {
            bench.fact(Fact::SweepRow { key: request.key, row: Box::new(row) });
        }
        bench.fact(Fact::SweepEnded { key: request.key, outcome: Ok(Walked::Through) });
    }
    let mut again = Bench::open_with(|_| PANES);
    again.app.restore_sweeps(bench.app.sweeps.saved());
    assert_eq!(again.app.shown_sweep().map(SweepRun::knob).as_deref(), Some("mfu"));
}

/// Returns the table of a sweep as it is read from a file.
fn table(request: &SweepRequest) -> SweepFile {
    let sweep = &request.sweep;
    let columns = sweep.columns();
    let fields = |row: &SweepRow| {
        let line = TableForm::Csv.line(sweep, row);
        TableForm::Csv.fields(&columns, &line).unwrap()
    };
    SweepFile {
        id: sweep.id(),
        axes: sweep.axes().iter().map(Axis::label).collect(),
        rows: rows(request).iter().map(fields).collect(),
    }
}

#[test]
fn the_table_of_a_sweep_is_charted_if_it_fits_the_scenario() {
    let mut bench = open();
    let request = sweep(&mut bench, "seq=2048,4096 prop-alloc");
    let (solved, read) = (rows(&request), table(&request));
    let say = |bench: &mut Bench, table: &SweepFile| {
        bench.fact(Fact::SweepTable { source: "t.csv".to_owned(), table: Ok(table.clone()) });
        bench.last_message().to_owned()
    };
    let mut other = open();
    let told = say(&mut other, &read);
    assert!(told.starts_with("2 of 2 cells over seq from t.csv"), "{told}");
    let charted = other.app.shown_sweep().expect("the pane shows the sweep");
    let value = |row: &SweepRow| (row.cell, row.value, row.metrics.clone(), row.status);
    assert_eq!(
        charted.rows.iter().map(value).collect::<Vec<_>>(),
        solved.iter().map(value).collect::<Vec<_>>()
    );
    assert_eq!(other.app.focus.pane, WHAT_IF);
    // Another scenario, several parameters, and no scenario: says what to do.
    let mut changed = open();
    changed.act(Action::Do(Command::Set("model=llama_3_1_8b".to_owned())));
    let told = say(&mut changed, &read);
    assert!(told.contains("of another scenario; open the scenario 'tiny4' first"), "{told}");
    let two = SweepFile { axes: vec!["seq".to_owned(), "mfu".to_owned()], ..read.clone() };
    let told = say(&mut changed, &two);
    assert!(told.contains("over one parameter; `lightbay sweep status t.csv`"), "{told}");
    let told = say(&mut Bench::start(), &read);
    assert!(told.contains("open the scenario 'tiny4' first"), "{told}");
}
