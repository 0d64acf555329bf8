//! Plans to write.

use lightbay_core::param::Setting;
use lightbay_core::testing::run;
use lightbay_engines::{AnyPlan, AnyScenario, Artifact, Input, Request, apply, import, job};
use std::path::Path;

pub fn settings(text: &str) -> Vec<Setting> {
    text.split_whitespace().map(|setting| setting.parse().unwrap()).collect()
}

pub fn solve(scenario: &AnyScenario, method: &str, text: &str) -> AnyPlan {
    let (scenario, given) = apply(scenario, method, &settings(text)).unwrap();
    let done = run(job(&scenario, &Request::of(method).with(given)).unwrap(), 2).done;
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
