//! Several jobs on one set of pods: what is read, what is refused, and the knobs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::scenario::TrainingScenario;
use crate::scenario::job::PortsPerPod;
use crate::scenario::presets;
use crate::scenario::shared::{PodLayout, SharedPods};
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use serde_json::{Value, json};

fn pair(name: &str) -> SharedPods {
    match presets::scenario(name) {
        Some(TrainingScenario::Shared(shared)) => shared,
        other => panic!("{name} is {other:?}"),
    }
}

fn read(value: &Value) -> Result<TrainingScenario, Problems> {
    let mut problems = Problems::new();
    let mut fields = Fields::of(value, "", &mut problems).unwrap();
    let scenario = TrainingScenario::read(&mut fields, &mut problems);
    fields.finish(&mut problems);
    problems.into_result(())?;
    let scenario = scenario.unwrap();
    scenario.validate()?;
    Ok(scenario)
}

#[track_caller]
fn refused(value: &Value, expected: &[&str]) {
    let text = read(value).unwrap_err().to_string();
    for part in expected {
        assert!(text.contains(part), "{part} in {text}");
    }
}

fn tiny(name: &str) -> Value {
    let run = json!({"tp": 2, "pp": 4, "gpus": 16, "gpus_per_pod_per_replica": 4, "micro_batches": 4});
    json!({"name": name, "job": {"model": "gpt_7b", "run": run}})
}

#[test]
fn pairs_read_back_as_they_were_written() {
    for preset in presets::PAIRS {
        let shared = TrainingScenario::Shared(pair(preset.name));
        let value = serde_json::to_value(&shared).unwrap();
        assert!(value["jobs"].is_array() && value.get("ports_per_pod").is_none(), "{value}");
        assert_eq!(read(&value), Ok(shared), "{}", preset.name);
    }
    let mut shared = pair("tiny4_pair");
    shared.ports_per_pod = Some(PortsPerPod::ByPosition(vec![9, 8]));
    shared.jobs[1].weight = 3;
    let shared = TrainingScenario::Shared(shared);
    assert_eq!(read(&serde_json::to_value(&shared).unwrap()), Ok(shared));
}

#[test]
fn what_is_left_out_has_a_default() {
    let TrainingScenario::Shared(shared) = read(&json!({"jobs": [tiny("a"), tiny("b")]})).unwrap() else {
        panic!("jobs are several jobs")
    };
    assert_eq!((shared.jobs[0].weight, shared.jobs[1].first_pod), (1, 0));
    assert_eq!(shared.layout().unwrap().budget, [8, 8]);
}

#[test]
fn every_problem_of_a_file_is_named() {
    let mut second = tiny("a");
    second["weight"] = json!(0);
    second["job"]["run"]["tp"] = json!("two");
    second["place"] = json!(1);
    refused(
        &json!({"jobs": [tiny("a"), second], "ports_per_pod": [8, "nine"]}),
        &[
            "jobs[1].weight: is '0'; give a whole number from 1 to 1000000",
            "jobs[1].job.run.tp: is 'two'",
            "jobs[1].place: is not a known key",
            "ports_per_pod[1]: is 'nine'",
        ],
    );
    refused(&json!({"jobs": [tiny("a")]}), &["jobs: has 1 entry; give at least two jobs, or one as `job`"]);
    refused(
        &json!({"jobs": [tiny("a"), tiny("a")]}),
        &["jobs[1].name: is 'a', which is also the name of jobs[0]"],
    );
    refused(&json!({"jobs": [], "job": {}}), &["job: cannot be combined with 'jobs'; give one of the two"]);
    refused(&json!({"jobs": [], "instance": {}}), &["instance: cannot be combined with 'jobs'"]);
}

#[test]
fn jobs_that_do_not_go_together_are_refused() {
    let with = |change: fn(&mut Value)| {
        let mut second = tiny("b");
        change(&mut second);
        json!({"jobs": [tiny("a"), second]})
    };
    refused(
        &with(|job| job["job"]["run"]["gpus"] = json!(32)),
        &["jobs[1].job.run.gpus: gives 4 replicas, but 'a' has 2", "give this job 2 replicas too"],
    );
    refused(
        &with(|job| job["job"]["run"]["bandwidth_gbps"] = json!(800)),
        &["jobs[1].job.run.bandwidth_gbps: is '800', but 'a' has 400"],
    );
    refused(&with(|job| job["first_pod"] = json!(3)), &["jobs: leave shared pod 2 without a job"]);
    refused(
        &with(|job| job["job"]["run"]["tp"] = json!(3)),
        &["jobs[1].job.run.gpus: is '16', which is not a multiple"],
    );
    refused(
        &json!({"jobs": [tiny("a"), tiny("b")], "ports_per_pod": [8, 7]}),
        &["ports_per_pod[1]: is '7', but the jobs on this pod define 8 ports; give at least 8"],
    );
    refused(
        &json!({"jobs": [tiny("a"), tiny("b")], "ports_per_pod": [8, 8, 8]}),
        &["ports_per_pod: has 3 entries, but the jobs cover 2 pods"],
    );
}

#[test]
fn a_job_may_begin_further_on() {
    let mut shared = pair("tiny4_pair");
    shared.jobs[1].first_pod = 1;
    shared.ports_per_pod = Some(PortsPerPod::Same(9));
    let PodLayout { budget, first, .. } = shared.layout().unwrap();
    assert_eq!((budget, first), (vec![9, 9, 9], vec![0, 1]));
    assert_eq!(shared.layout().unwrap().spare(), [5, 1, 5]);
}

#[test]
fn knobs_change_all_jobs_or_one_entry() {
    let mut scenario = TrainingScenario::Shared(pair("tiny4_pair"));
    let mut set = |text: &str| scenario.apply(&text.parse().unwrap()).map_err(|problem| problem.to_string());
    set("bandwidth_gbps=800").unwrap();
    set("weights[1]=3").unwrap();
    set("first_pods=0,1").unwrap();
    set("ports_per_pod[2]=9").unwrap();
    assert!(set("weights=1,2,3").unwrap_err().contains("is not one number per job; give one number or 2"));
    assert!(set("weights[2]=1").unwrap_err().contains("weights[2]: does not exist; give a job from 0 to 1"));
    assert!(set("seq[0]=1").unwrap_err().contains("is not a list"));
    assert!(set("reverse=true").unwrap_err().contains("belongs to one job"));
    assert!(set("waights=1").unwrap_err().contains("did you mean 'weights'?"));
    let get = |name: &str| scenario.get(name).map(|value| value.to_string());
    assert_eq!(get("bandwidth_gbps").as_deref(), Some("800"));
    assert_eq!(get("weights").as_deref(), Some("1,3"));
    assert_eq!(get("first_pods").as_deref(), Some("0,1"));
    assert_eq!(get("ports_per_pod").as_deref(), Some("4,8,9"));
    let TrainingScenario::Shared(mut shared) = scenario else { panic!("still several jobs") };
    shared.jobs[0].job.run.seq = 2048;
    assert_eq!(TrainingScenario::Shared(shared).get("seq"), None, "the jobs differ");
}
