//! Tests of the pane of a solver's search: a tree search with a hot start, stages without output, and the log.

use super::at_sizes;
use super::fixture::{Bench, Style};
use super::searching::RUN;
use lightbay::app::pane::PaneId;
use lightbay_core::event::RunId;
use std::time::Duration;

const THREE: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

#[test]
fn a_tree_search() {
    at_sizes("milp", &mut Bench::in_the_tree(Style::Colour), &THREE);
    at_sizes("milp-ascii", &mut Bench::in_the_tree(Style::Ascii), &THREE);
}

#[test]
fn a_tree_search_beside_other_panes() {
    let mut bench = Bench::in_the_tree(Style::Colour);
    bench.keys("1");
    at_sizes("milp-small", &mut bench, &[(100, 30), (120, 40)]);
}

#[test]
fn the_log_of_the_solver() {
    let mut bench = Bench::in_the_tree(Style::Colour);
    bench.keys("v v k");
    at_sizes("milp-log", &mut bench, &[(80, 24), (120, 40)]);
    assert_eq!(bench.app.pane(PaneId::Kind(5)).mode, 2);
}

#[test]
fn a_search_over_nodes_with_a_row_selected() {
    let mut bench = Bench::in_the_tree(Style::Colour);
    bench.keys("v");
    bench.draw(120, 40);
    bench.keys("k k k");
    at_sizes("milp-nodes", &mut bench, &[(120, 40)]);
}

#[test]
fn a_silent_root_says_how_long_and_so_does_stopping() {
    let mut bench = Bench::at_the_root(Style::Colour);
    bench.keys("5");
    bench.wait(Duration::from_secs(12));
    at_sizes("milp-root", &mut bench, &[(80, 24), (120, 40)]);
    bench.keys("x");
    let screen = bench.screen("milp-stopping-at-once", 80, 24);
    assert!(screen.contains("stopping (root LP)"), "{screen}");
    bench.wait(Duration::from_secs(3));
    at_sizes("milp-stopping", &mut bench, &[(80, 24)]);
    let run = bench.app.runs.get(RunId(RUN)).unwrap();
    assert!(run.stops_late, "a person is told that it takes long");
}
