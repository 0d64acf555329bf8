//! Plans to write.

use lightbay_core::clock::SystemClock;
use lightbay_core::event::{EventBody, Recorder, RunId};
use lightbay_core::param::Setting;
use lightbay_core::run::Runs;
use lightbay_engines::{AnyPlan, AnyScenario, Artifact, Input, Request, apply, import, job};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub fn settings(text: &str) -> Vec<Setting> {
    text.split_whitespace().map(|setting| setting.parse().unwrap()).collect()
}

pub fn solve(scenario: &AnyScenario, method: &str, text: &str) -> AnyPlan {
    let (scenario, given) = apply(scenario, method, &settings(text)).unwrap();
    let recorder = Arc::new(Recorder::default());
    let runs = Runs::new(2, RunId(1), recorder.clone(), Arc::new(SystemClock::start()), None).unwrap();
    runs.submit(job(&scenario, &Request::of(method).with(given)).unwrap());
    assert!(runs.wait_idle(Duration::from_mins(2)));
    let Some(EventBody::Done(done)) = recorder.events().last().map(|event| event.body.clone()) else {
        panic!("the last event is not done")
    };
    AnyPlan::of(&done.plan.unwrap_or_else(|| panic!("{method}: {}", done.message))).unwrap()
}

pub fn one(artifacts: Vec<Artifact>) -> Artifact {
    let [artifact] = artifacts.try_into().unwrap();
    artifact
}

/// A job of another tool's file, with measured times.
pub fn measured_job() -> AnyScenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/resources/inputs/aicb");
    let name = "gen_gpt22B_tp8_pp2_dp4_ga16_seq2048_aiob.txt.gz";
    let input = Input { name: name.to_owned(), bytes: std::fs::read(folder.join(name)).unwrap() };
    import("aicb", &[input], &settings("gpus_per_pod_per_replica=8"), false).unwrap().product.scenario()
}
