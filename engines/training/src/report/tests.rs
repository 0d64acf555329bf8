#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{toy_a, toy_b};
use crate::scenario::presets;
use crate::simulate::evaluate::{Evaluator, Scratch};
use crate::simulate::schedule;
use lightbay_core::clock::Deadline;
use lightbay_core::report::{Body, Table, json};
use serde_json::json;

fn scenario(name: &str) -> Scenario<Training> {
    Scenario::new(name.to_owned(), presets::scenario(name).unwrap())
}

#[test]
fn a_job_has_its_sizes_and_its_links() {
    let scenario = scenario("megatron_177b");
    let report = report(&scenario, None);
    let job = json::section(&report.section("job", Deadline::NEVER).unwrap());
    assert_eq!(
        (&job["gpus"], &job["replicas"], &job["pods_per_replica"]),
        (&json!(384), &json!(8), &json!(3))
    );
    let pods = json::section(&report.section("pods", Deadline::NEVER).unwrap());
    assert_eq!(pods.as_array().unwrap().len(), 3, "mirrors are no pods of the job");
    assert!(pods[0].get("used").is_none(), "a scenario uses no ports");
    let links = json::section(&report.section("links", Deadline::NEVER).unwrap());
    let tasks: u64 = links.as_array().unwrap().iter().map(|link| link["tasks"].as_u64().unwrap()).sum();
    assert_eq!(json!(tasks), job["tasks"], "every task is on one link");
    assert_eq!(links[0]["circuits"], json!(null));
}

#[test]
fn a_link_has_its_tasks_and_a_pod_its_links() {
    let scenario = scenario("tiny8");
    let report = report(&scenario, None);
    let links = json::section(&report.section("links", Deadline::NEVER).unwrap());
    for (at, link) in links.as_array().unwrap().iter().enumerate() {
        let tasks = json::section(&report.detail("links", at as u32, Deadline::NEVER).unwrap());
        assert_eq!(json!(tasks.as_array().unwrap().len()), link["tasks"]);
    }
    let of_pod = json::section(&report.detail("pods", 0, Deadline::NEVER).unwrap());
    let ends = |row: &serde_json::Value| [row["pod_a"].clone(), row["pod_b"].clone()];
    assert!(of_pod.as_array().unwrap().iter().all(|row| ends(row).contains(&json!("p0"))));
    assert!(report.detail("links", 999, Deadline::NEVER).is_err());
}

#[test]
fn sections_say_of_what_they_are() {
    let scenario = scenario("tiny8");
    let report = report(&scenario, None);
    for name in ["schedule", "path", "slack", "contention", "sensitivity", "robustness", "reallocation"] {
        let why = report.section(name, Deadline::NEVER).unwrap_err().to_string();
        assert!(why.contains("this section needs a plan"), "{name}: {why}");
        assert!(!report.is_slow(name), "{name} is not there, so it takes no time");
    }
}

/// Circuits of an instance under max-min fair rates, explained.
fn explained(instance: Instance, x: &[u32]) -> (TrainingScenario, Analysis) {
    let evaluator = Evaluator::new(&instance).unwrap();
    let trace = evaluator.trace(x, Rates::Fair, &mut Scratch::default());
    let result = schedule::result(&evaluator, x, RateControl::Fair, &trace);
    let scenario = TrainingScenario::Instance(instance);
    let analysis = Analysis::new(&scenario, &result).unwrap();
    (scenario, analysis)
}

fn section_of(instance: Instance, x: &[u32], name: &str) -> Section {
    let (scenario, analysis) = explained(instance, x);
    of_job(&scenario, &analysis, name, Deadline::NEVER).unwrap()
}

fn table<'a>(section: &'a Section, name: &str) -> &'a Table {
    match &section.blocks.iter().find(|block| block.name == name).unwrap().body {
        Body::Table(table) => table,
        other => panic!("{other:?}"),
    }
}

fn number_of(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn the_path_says_where_it_leaves_the_ideal_one_and_what_comes_next() {
    // A 0-10 ms as on the ideal network, then C 10-40 on one circuit instead of 10-25; the ideal iteration ends at 30
    // ms with B, so that 10 of the 15 ms that C loses count.
    let section = section_of(toy_b(), &[2, 1], "path");
    assert_eq!(section.answer.to_string(), "loss 10.000 ms");
    let data = json::section(&section);
    let summary = &data["summary"];
    for (name, ms) in [
        ("ideal_makespan_s", 30.0),
        ("capacity_loss_s", 10.0),
        ("contention_delay_s", 0.0),
        ("makespan_s", 40.0),
    ] {
        assert!((number_of(&summary[name]) * 1e3 - ms).abs() < 1e-6, "{name}: {summary}");
    }
    assert_eq!(summary["leaves_ideal_at"], data["tasks"][0]["task"]);
    assert!((number_of(&summary["second_chain_behind_s"]) * 1e3 - 10.0).abs() < 1e-6, "{summary}");
    let tasks = table(&section, "tasks");
    assert_eq!(tasks.rows.iter().map(|row| row.item).collect::<Vec<_>>(), [Some(2), Some(0)]);
    assert_eq!(tasks.ordered(path::ORDERS[1]), [1, 0], "in the order of the path");
    assert_eq!([tasks.rows[0].mark, tasks.rows[1].mark], ["!", ""]);
    assert!(
        tasks.rows[0].sentence.to_string().contains("5.000 hidden by slack in the ideal schedule"),
        "{:?}",
        tasks.rows[0]
    );
    assert_eq!(table(&section, "second").rows[0].item, Some(1), "A is on both, B on the second alone");
}

#[test]
fn contention_has_the_demand_of_every_direction_over_time() {
    // Two flows each, both active from 10 to 23.33 ms: four flows on three circuits.
    let section = section_of(toy_a(), &[3], "contention");
    assert_eq!(section.answer.to_string(), "1 of 1 oversubscribed");
    let table = table(&section, "");
    let shares: Vec<f64> = table.rows[0].load.iter().map(|span| (span.share * 3.0).round()).collect();
    assert_eq!(shares, [2.0, 4.0, 2.0]);
    assert_eq!((table.rows[0].mark, table.rows[0].item), ("!", Some(0)));
    let windows: Vec<&str> =
        table.loads.iter().flat_map(|axis| &axis.windows).map(|window| window.0).collect();
    assert_eq!(windows, contention::WINDOWS);
    let first = &json::section(&section)[0];
    assert!((number_of(&first["oversubscribed_s"]) * 1e3 - 40.0 / 3.0).abs() < 1e-6, "{first}");
}

#[test]
fn slack_counts_every_task_once_and_can_be_listed_in_its_orders() {
    // Two circuits for C, which could do with one: B ends the iteration.
    let section = section_of(toy_b(), &[1, 2], "slack");
    let tasks = table(&section, "tasks");
    let counted: f64 =
        table(&section, "spread").rows.iter().filter_map(|row| row.cells[2].value.as_f64()).sum();
    assert_eq!(counted as usize, tasks.rows.len());
    let slack = |row: usize| tasks.rows[row].cells[2].value.as_f64().unwrap();
    let by_slack = tasks.ordered(slack::ORDERS[0]);
    assert!(by_slack.windows(2).all(|pair| slack(pair[0]) <= slack(pair[1])));
    for row in &tasks.rows {
        let spare_s = row.cells[3].value.as_f64().unwrap();
        assert!(
            row.mark.is_empty() || spare_s < 1e-6,
            "what is on the critical path has no slack as planned: {row:?}"
        );
    }
    let spare = table(&section, "spare");
    assert_eq!(
        spare.rows.iter().map(|row| row.item).collect::<Vec<_>>(),
        [Some(1)],
        "C could give a circuit"
    );
}

#[test]
fn one_job_says_which_ports_it_could_give() {
    let section = section_of(toy_b(), &[1, 2], "reallocation");
    let data = json::section(&section);
    let sum = &data["sum"];
    let of = |name: &str| sum[name].as_u64().unwrap();
    assert!(of("needed") <= of("used") && of("used") <= of("ports"), "{sum}");
    assert_eq!(of("spare"), of("ports") - of("needed"));
    let pods = data["pods"].as_array().unwrap();
    let spare: u64 = pods.iter().map(|pod| pod["spare"].as_u64().unwrap()).sum();
    assert_eq!(spare, of("spare"), "{pods:?}");
}
