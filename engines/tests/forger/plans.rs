//! Plans to forge: every family of methods, with and without optional parts.

use lightbay_core::kind::Depth;
use lightbay_core::param::Setting;
use lightbay_core::plan::not_reproducible;
use lightbay_core::testing::run;
use lightbay_engines::files::{read_file, read_value};
use lightbay_engines::{AnyFile, AnyPlan, AnyScenario, Request, Subject, apply, export, job, preset};
use serde_json::{Value, json};

/// Hardly any search.
const SHORT: &str = "generations=5 islands=1 population=4 elites=1 tournament=2";

/// A pod with failed switches and short runs of the simulator.
const SIMULATED: &str = "cubes=1 steps=300 chains=2 rounds=0 with_faults=true fault_saturation=true \
                         warmup_cycles=50 measure_cycles=50 rate_step=0.5";

/// A pod without symmetry.
const GENERAL: &str = "routing=none symmetry=free steps=300 chains=2 rounds=0 certificate_rounds=5";

/// Kind, preset (or the instance that it represents), method and settings.
const CASES: &[(&str, &str, &str, &str)] = &[
    ("training", "tiny4", "prop-alloc", ""),
    ("training", "tiny4", "delta-fast", SHORT),
    ("training", "tiny4", "delta-topo", SHORT),
    ("training", "tiny4", "delta-joint", SHORT),
    ("training", "tiny4", "delta-joint", "robust=seq=2048,4096"),
    ("training", "tiny4/instance", "delta-topo", SHORT),
    ("training", "tiny4/instance", "auto", ""),
    ("training", "tiny4", "delta-select", ""),
    ("training", "tiny_interleaved", "delta-joint", SHORT),
    ("training", "one_stage_per_pod", "delta-level", SHORT),
    ("training", "tiny4_pair", "reallocate", ""),
    ("tpu", "tpu-128", "tons-fast", "cubes=1 steps=300 chains=2 rounds=0"),
    ("tpu", "tpu-128", "tons-fast", "cubes=1 steps=300 chains=2 rounds=0 with_routes=false"),
    ("tpu", "tpu-128", "tons-fast", SIMULATED),
    ("tpu", "pt-4x4x4", "pt", ""),
    ("tpu", "tpu-128", "tons-fast", GENERAL),
    ("crossconnect", "crossconnect-example", "auto", ""),
    ("crossconnect", "crossconnect-example", "lumos-exact", "anneal_rounds=0 orientation=fixed"),
    ("crossconnect", "crossconnect-8-8-25", "lumos-repair", ""),
    ("crossconnect", "crossconnect-8-8-25", "lumos-repair", "max_dark_per_pod=1 min_pair_share=0.5"),
    ("crossconnect", "crossconnect-8-8-25", "lumos-relabel", ""),
    ("crossconnect", "crossconnect-example", "all-to-all-order", ""),
    ("moe", "moe-small", "auto", ""),
    ("moe", "moe-small", "mfabric-swap", "policy=paper routing=strict"),
    ("moe", "moe-small", "mfabric-swap", "policy=reuse"),
    ("moe", "moe-small", "mfabric-copilot", "reconfiguration_delay_ms=0.5"),
    ("moe", "moe-small", "mfabric-exact", ""),
    ("moe", "moe-small", "mfabric-swap", "failed_nics=s0:0,s1:4,s2:3"),
    ("moe", "moe-small", "fat-tree", ""),
    ("collective", "dgx1-allgather-200kb", "construct", ""),
    ("collective", "dgx1-alltoall-200kb", "teccl-lp", ""),
    ("collective", "ndv2x1-allreduce-64mb", "construct", ""),
    ("collective", "ring3-reducescatter-1mb", "construct", ""),
    ("collective", "ring3-allgather-64kb", "trees", "most_pieces=2"),
    ("collective", "ring3-gather-1mb", "ring", ""),
    ("collective", "ring3-allgather-1mb", "auto", "copy=false"),
];

/// The plans of a kind, each with a name.
pub fn of(kind: &str) -> Vec<(String, AnyPlan)> {
    let cases = CASES.iter().filter(|(of, ..)| *of == kind);
    let mut plans: Vec<(String, AnyPlan)> = cases
        .map(|(_, name, method, text)| (format!("{name} {method} {text}"), solve(name, method, text)))
        .collect();
    let (name, first) = &plans[0];
    let cut_off = (format!("{name}, cut off by the clock"), cut_off(first));
    plans.push(cut_off);
    plans
}

/// The same plan as a run writes it that its time limit ended before anything was proven.
fn cut_off(plan: &AnyPlan) -> AnyPlan {
    let mut value: Value = serde_json::from_slice(&plan.to_json().unwrap()).unwrap();
    value["status"] = json!("stopped");
    value["limit"] = json!("time");
    value["provenance"]["reproducible"] = json!(false);
    value["provenance"]["not_reproducible_because"] = json!(not_reproducible::CLOCK);
    let AnyFile::Plan(file) = read_value(&value).unwrap() else { panic!("a plan") };
    let report = file.check(Depth::Usual);
    assert_eq!(report.violations, []);
    report.plan.unwrap()
}

fn scenario(name: &str) -> AnyScenario {
    let Some(of) = name.strip_suffix("/instance") else { return preset(name).unwrap() };
    let files = export(Subject::Scenario(&preset(of).unwrap()), "instance", &[]).unwrap();
    match read_file(files[0].bytes.as_slice(), name).unwrap() {
        AnyFile::Scenario(scenario) => scenario,
        AnyFile::Plan(_) => panic!("{name} is a plan"),
    }
}

fn solve(name: &str, method: &str, text: &str) -> AnyPlan {
    let settings: Vec<Setting> = text.split_whitespace().map(|setting| setting.parse().unwrap()).collect();
    let (scenario, given) = apply(&scenario(name), method, &settings)
        .unwrap_or_else(|problems| panic!("{name} {method}: {problems}"));
    let done = run(job(&scenario, &Request::of(method).with(given)).unwrap(), 2).done;
    let plan = done.plan.unwrap_or_else(|| panic!("{name} {method}: {} {:?}", done.message, done.violations));
    with_few_faults(AnyPlan::of(&plan).unwrap())
}

/// The plan with the first two of its cases of failed switches: one is like another, and 48 of them make a large file.
fn with_few_faults(plan: AnyPlan) -> AnyPlan {
    let mut value: Value = serde_json::from_slice(&plan.to_json().unwrap()).unwrap();
    let Some(cases) = value["result"].get_mut("faults").and_then(Value::as_array_mut) else { return plan };
    if cases.is_empty() {
        return plan;
    }
    cases.truncate(2);
    let worst = cases.iter().filter_map(|case| case["max_channel_load"].as_u64()).max().unwrap();
    value["metrics"]["worst_fault_load"] = serde_json::json!(worst as f64);
    let Ok(AnyFile::Plan(file)) = read_value(&value) else { panic!("fewer cases are a plan as well") };
    let report = file.check(Depth::Usual);
    report.plan.unwrap_or_else(|| panic!("{:?}", report.violations))
}
