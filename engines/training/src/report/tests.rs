#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use super::*;
use crate::scenario::presets;
use lightbay_core::clock::Deadline;
use lightbay_core::report::json;
use serde_json::json;

fn scenario(name: &str) -> Scenario<Training> {
    Scenario { name: name.to_owned(), body: presets::scenario(name).unwrap() }
}

#[test]
fn a_job_has_its_sizes_and_its_links() {
    let scenario = scenario("megatron_177b");
    let report = report(&scenario, None).unwrap();
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
fn sections_say_of_what_they_are() {
    let scenario = scenario("tiny8");
    let report = report(&scenario, None).unwrap();
    for name in ["schedule", "path", "sensitivity", "robustness"] {
        let why = report.section(name, Deadline::NEVER).unwrap_err().to_string();
        assert!(why.contains("section of plans"), "{name}: {why}");
        assert!(!report.is_slow(name), "{name} is not there, so it takes no time");
    }
    for name in ["jobs", "ports"] {
        assert!(
            report.section(name, Deadline::NEVER).unwrap_err().to_string().contains("several jobs"),
            "{name}"
        );
    }
}
