#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::super::beside::tests::plan;
use super::*;
use lightbay_core::event::{Bound, HotStartFate, HotStartReport, ModelSize, SolverStats};
use lightbay_core::report::session::RunPoint;
use lightbay_core::report::{Body, RunSearch, SearchRow, json};
use lightbay_core::standing::Prover;
use serde_json::json;
use std::collections::BTreeMap;

fn stats(done: u64) -> SolverStats {
    SolverStats { unit: "nodes".to_owned(), done, open: Some(3), ..SolverStats::default() }
}

/// A search that has proven something about the plans of one event order.
fn beside() -> Surroundings {
    let point = |at_s: f64, value: f64| RunPoint { at_s, count: at_s * 10.0, value };
    let mut run = RunBeside {
        method: "delta-interval".to_owned(),
        is_active: true,
        elapsed_s: 9.0,
        best: Some(12.0),
        incumbents: vec![point(1.0, 12.5), point(4.0, 12.0)],
        markers: vec![(2.0, "took a plan".to_owned())],
        ..RunBeside::default()
    };
    let row = |number, at_s, best, bound, what, source: &str| SearchRow {
        number,
        at_s,
        stats: stats(number.into()),
        bound,
        best,
        what,
        source: source.to_owned(),
    };
    run.search = RunSearch {
        stats: Some(stats(4657)),
        standing: Some("tree search".to_owned()),
        partial: Some(Bound { value: 11.4, only: Some("this event order only".to_owned()) }),
        partial_bounds: vec![point(0.5, 0.0), point(3.0, 11.4)],
        rows: vec![
            row(0, 1.0, Some(12.5), None, "best", "hot start"),
            row(1, 3.0, Some(12.5), Some(11.4), "bound", ""),
            row(2, 4.0, Some(12.0), Some(11.4), "best", "tree"),
        ],
        lines: vec![(0.4, "Presolving  model".to_owned()), (0.5, "  4102 rows".to_owned())],
        first_line: 7,
        ..RunSearch::default()
    };
    let metrics = BTreeMap::from([("ideal_makespan_s".to_owned(), 10.0), ("comm_ideal_s".to_owned(), 2.0)]);
    Surroundings { plans: vec![plan(1, "prop-alloc", 12.2, metrics)], run: Some(run) }
}

fn curves(section: &Section, name: &str) -> lightbay_core::report::Curves {
    let block = section.blocks.iter().find(|block| block.name == name).unwrap();
    let Body::Curves(curves) = &block.body else { unreachable!("{name} is no curves") };
    curves.clone()
}

#[test]
fn a_bound_on_some_plans_is_a_partial_gap_and_says_of_which() {
    let section = in_session(&beside()).unwrap();
    assert_eq!(section.subject, "delta-interval");
    assert_eq!(section.answer.to_string(), "partial gap 5.00 %");
    assert_eq!(section.context.to_string(), "30.0 % of ideal comm.");
    assert_eq!(
        section.sentence.to_string(),
        "bound: this event order only  tree search  nodes 4 657  open 3"
    );
    let names: Vec<String> =
        curves(&section, "over_time").curves.into_iter().map(|curve| curve.name).collect();
    assert_eq!(names, ["best_s", "bound_s", "partial_bound_s"]);
}

#[test]
fn a_proof_of_all_plans_is_said_unless_parameters_changed() {
    let mut beside = beside();
    let run = beside.run.as_mut().unwrap();
    (run.bound, run.search.standing) = (Some(12.0), None);
    let claim = "claimed: no plan is better";
    let said = |beside: &Surroundings| in_session(beside).unwrap().sentence.to_string();
    assert!(said(&beside).starts_with(claim), "{}", said(&beside));
    let mut standing =
        Standing::unproven(<crate::Training as lightbay_core::kind::Kind>::OBJECTIVE, 12.0, "delta-joint");
    standing.learn(12.0, None, true, Prover::Checker);
    beside.plans.first_mut().unwrap().standing = Some(standing);
    assert!(said(&beside).starts_with("proven: no plan is better"));
    beside.run.as_mut().unwrap().is_stale = true;
    assert!(in_session(&beside).unwrap().sentence.to_string().starts_with("* stale"));
    assert_eq!(in_session(&beside).unwrap().answer.to_string(), "gap 0.00 %");
}

#[test]
fn curves_go_on_until_now_and_far_bounds_run_along_the_edge() {
    let section = in_session(&beside()).unwrap();
    let (time, nodes) = (curves(&section, "over_time"), curves(&section, "over_nodes"));
    assert_eq!((time.axis_range, nodes.axis_range), (Some((0.0, 9.0)), Some((0.0, 4657.0))));
    assert!(time.curves.iter().filter_map(|curve| curve.points.last()).all(|last| last.at == 9.0));
    assert_eq!(time.curves[2].points[0].value, 0.0, "data is as the run said it");
    let (low, high) = time.range.unwrap();
    assert!(low > 11.0 && high > 12.5 && high < 13.0, "{low} {high}");
    assert_eq!((time.marks.len(), nodes.marks.len()), (1, 0), "marks have times and no nodes");
    assert_eq!(time.lines[0].name, "prop-alloc");
    assert_eq!((time.axis_label, nodes.axis_label), ("time", "nodes"));
}

#[test]
fn steps_come_newest_first_with_their_gaps() {
    let written = json::section(&in_session(&beside()).unwrap());
    let steps = written["steps"].as_array().unwrap();
    let sources: Vec<&str> = steps.iter().map(|step| step["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["tree", "bound", "hot start"]);
    assert!((steps[0]["gap_of_comm"].as_f64().unwrap() - 0.3).abs() < 1e-12);
    assert_eq!((&steps[2]["gap"], &steps[2]["open"]), (&json!(null), &json!(3)));
    assert!(steps[0].get("cuts").is_none(), "nobody counted cuts");
    // Of two bounds in a row, the newer one is a step.
    let mut beside = beside();
    let rows = &mut beside.run.as_mut().unwrap().search.rows;
    let last = rows[2].clone();
    let bound = |number, bound| SearchRow {
        number,
        bound: Some(bound),
        what: "bound",
        source: String::new(),
        ..last.clone()
    };
    rows.extend([bound(3, 11.6), bound(4, 11.8)]);
    let section = in_session(&beside).unwrap();
    let Some(Body::Table(steps)) =
        section.blocks.iter().find(|block| block.name == "steps").map(|block| &block.body)
    else {
        unreachable!("steps are a table")
    };
    let items: Vec<Option<u32>> = steps.rows.iter().map(|row| row.item).collect();
    assert_eq!(items, [Some(3), Some(2), Some(1), Some(0)]);
    assert!(steps.rows[0].sentence.to_string().starts_with("> bound 11.8"));
}

#[test]
fn the_log_keeps_its_numbers_and_is_read_without_the_blanks_that_align_it() {
    let section = in_session(&beside()).unwrap();
    let Body::Table(log) = &section.blocks.last().unwrap().body else { unreachable!("the log is a table") };
    assert!(log.newest_last);
    let read: Vec<(Option<u32>, String)> =
        log.rows.iter().map(|row| (row.item, row.sentence.to_string())).collect();
    assert_eq!(read, [(Some(7), "> Presolving model".to_owned()), (Some(8), "> 4102 rows".to_owned())]);
    let mut beside = beside();
    beside.run.as_mut().unwrap().search.lines.clear();
    let without = json::section(&in_session(&beside).unwrap());
    assert!(without.get("log").is_none() && without.get("solver_log").is_none(), "{without}");
}

#[test]
fn models_and_hot_start_are_told_with_what_they_were_before() {
    let mut beside = beside();
    let run = beside.run.as_mut().unwrap();
    let model =
        |after: &str, rows| ModelSize { after: after.to_owned(), rows, columns: 12, ..ModelSize::default() };
    run.search.models = vec![model("written in full", 57_310), model("presolve", 1880)];
    run.hot_start = Some(HotStartReport {
        fate: HotStartFate::Rejected,
        why: "another job".to_owned(),
        before: Some(12.0),
        after: None,
    });
    let section = in_session(&beside).unwrap();
    let written = json::section(&section);
    assert_eq!(written["model"]["model"], "presolve 1 880×12, 0 integer");
    assert_eq!(written["model"]["hot_start"], "! rejected");
    assert!(section.remarks.iter().any(|line| line.starts_with("model written in full: 57310 rows")));
}

#[test]
fn a_search_that_knows_nothing_yet_says_so() {
    let mut beside = beside();
    beside.run = Some(RunBeside { is_active: true, ..RunBeside::default() });
    assert!(in_session(&beside).unwrap_err().to_string().contains("the run has no bound yet"));
    beside.run = Some(RunBeside::default());
    assert!(in_session(&beside).unwrap_err().to_string().contains("without a plan and without a bound"));
    beside.run = None;
    assert!(in_session(&beside).unwrap_err().to_string().contains("delta-joint"));
}
