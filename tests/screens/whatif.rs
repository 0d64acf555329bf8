//! Tests of the pane of sweeps: before a sweep, during a sweep, with a selected point, and over other knobs.

use super::at_sizes;
use super::fixture::{Bench, Style};
use lightbay::app::action::Fact;
use lightbay::app::pane::PaneId;
use lightbay::app::{App, Command};
use lightbay_core::clock::ManualClock;
use lightbay_engines::sweep::{Shard, Starts, Sweep, SweepRow, Walked, Walker};
use std::ops::ControlFlow;
use std::sync::Arc;

const THREE: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn pane(app: &App) -> PaneId {
    app.kind_panes().iter().find(|info| info.sweeps.is_some()).unwrap().id()
}

/// Solves all cells of a sweep with a stopped clock and returns the rows.
fn rows(sweep: &Sweep) -> Vec<SweepRow> {
    let walker = Walker::new(1, None, Arc::new(ManualClock::default()), None).unwrap();
    let mut rows = Vec::new();
    walker.walk(sweep, &sweep.shard(Shard::WHOLE), Starts::new(), |row, _| {
        rows.push(row);
        ControlFlow::Continue(())
    });
    rows
}

/// Returns a workbench with a sweep whose first `points` points are solved (all points if the sweep has fewer).
fn swept(style: Style, asked: &str, points: usize) -> Bench {
    let mut bench = Bench::open("tiny8", style);
    bench.run(Command::Sweep(asked.to_owned()));
    let run = bench.app.sweeps.active().unwrap();
    let (key, sweep) = (run.key, Arc::clone(&run.sweep));
    for row in rows(&sweep).into_iter().take(points) {
        bench.fact(Fact::SweepRow { key, row: Box::new(row) });
    }
    if points >= sweep.len() {
        bench.fact(Fact::SweepEnded { key, outcome: Ok(Walked::Through) });
    }
    bench
}

#[test]
fn before_a_sweep() {
    let mut bench = Bench::open("tiny8", Style::Colour);
    let pane = pane(&bench.app);
    bench.run(Command::Focus(pane));
    at_sizes("whatif-empty", &mut bench, &[(80, 24), (120, 40)]);
}

#[test]
fn before_a_sweep_the_chosen_parameter_is_the_one_that_enter_sweeps() {
    let mut bench = Bench::open("tiny8", Style::NoColour);
    let pane = pane(&bench.app);
    bench.run(Command::Focus(pane));
    let screen = bench.screen("whatif-before", 120, 40);
    assert!(screen.contains("values of a sweep") && screen.contains("100, 200, 400, 800, 1600"), "{screen}");
    assert!(screen.contains(">  bandwidth_gbps"), "the first parameter has the cursor\n{screen}");
    bench.keys("j");
    bench.draw(120, 40);
    bench.keys("Enter");
    let screen = bench.screen("whatif-before-palette", 120, 40);
    assert!(screen.contains(": sweep seq="), "{screen}");
}

#[test]
fn without_a_choice_the_cursor_is_at_the_present_value() {
    let mut bench = swept(Style::NoColour, "bandwidth_gbps=100,200,400,800,1600", 99);
    let screen = bench.screen("whatif-cursor", 120, 40);
    assert!(screen.contains("> 400 Gb/s  delta-joint"), "{screen}");
    bench.keys("]");
    let screen = bench.screen("whatif-cursor-next", 120, 40);
    assert!(screen.contains("> 800 Gb/s  delta-joint"), "{screen}");
}

#[test]
fn while_points_come() {
    let mut bench = swept(Style::Colour, "bandwidth_gbps=100,200,400,800,1600", 12);
    at_sizes("whatif-partly", &mut bench, &THREE);
}

#[test]
fn with_a_point_selected() {
    let mut bench = swept(Style::Colour, "bandwidth_gbps=100,200,400,800,1600", 99);
    bench.draw(120, 40);
    bench.keys("G");
    at_sizes("whatif-selected", &mut bench, &THREE);
    let mut bench = swept(Style::Ascii, "bandwidth_gbps=100,200,400,800,1600", 99);
    bench.draw(120, 40);
    bench.keys("G");
    at_sizes("whatif-ascii", &mut bench, &[(80, 24), (120, 40)]);
}

#[test]
fn with_cells_that_cannot_be_and_the_makespan() {
    let mut bench = swept(Style::Colour, "ports_per_pod=1,2,4,8", 99);
    bench.keys("o");
    at_sizes("whatif-ports", &mut bench, &[(80, 24), (120, 40)]);
}

#[test]
fn over_a_knob_that_has_no_form_of_its_own() {
    let mut bench = swept(Style::NoColour, "reverse=no,yes delta-fast", 99);
    at_sizes("whatif-other", &mut bench, &[(80, 24)]);
}

#[test]
fn the_pane_shows_the_figures_of_the_rows() {
    for style in [Style::Colour, Style::NoColour, Style::Ascii] {
        let mut bench = swept(style, "bandwidth_gbps=200,800", 99);
        let expected: Vec<String> = bench
            .app
            .shown_sweep()
            .unwrap()
            .rows
            .iter()
            .map(|row| format!("{:.4}", row.metrics["nct"]))
            .collect();
        assert_eq!(expected.len(), 10);
        let screen = bench.screen("whatif-figures", 120, 40);
        for figure in expected {
            assert!(screen.contains(&figure), "{figure} in\n{screen}");
        }
    }
}

#[test]
fn any_size_is_drawn_with_what_can_be_clicked_inside() {
    let mut bench = swept(Style::Ascii, "bandwidth_gbps=100,200,400,800,1600", 99);
    let pane = pane(&bench.app);
    for zoomed in [false, true] {
        bench.app.focus.zoomed = zoomed;
        for selected in [None, Some(1), Some(25)] {
            bench.app.pane_mut(pane).selected = selected;
            for (width, height) in
                [(0, 0), (60, 16), (61, 17), (79, 23), (100, 30), (133, 41), (160, 45), (320, 90)]
            {
                let (buf, drawn) = bench.draw(width, height);
                for hit in &drawn.hits {
                    assert_eq!(hit.rect.intersection(buf.area), hit.rect, "{hit:?}");
                }
            }
        }
    }
}
