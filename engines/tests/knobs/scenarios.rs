//! Knobs of scenarios: every one changes the plan.

use super::runs::{settings, solve, solve_ask};
use super::{assert_all_changed, assert_covered};
use lightbay_engines::{AnyFile, AnyScenario, Request, Subject, apply, export, preset, read_file};

struct Case {
    method: &'static str,
    knob: &'static str,
    preset: &'static str,
    /// Settings of both runs.
    given: &'static str,
    to: &'static str,
}

const fn case(knob: &'static str, preset: &'static str, given: &'static str, to: &'static str) -> Case {
    Case { method: "delta-joint", knob, preset, given, to }
}

/// Knobs of circuits that move.
const fn moving(knob: &'static str, given: &'static str, to: &'static str) -> Case {
    Case { method: "delta-phases", ..case(knob, "tiny4", given, to) }
}

const CASES: &[Case] = &[
    case("model", "small", "", "megatron_177b"),
    case("tp", "tiny4", "", "1"),
    case("cp", "tiny4", "gpus=32 gpus_per_pod_per_replica=8", "2"),
    case("pp", "tiny4", "", "8"),
    case("ep", "mixtral_8x22b", "", "4"),
    case("etp", "mixtral_8x22b", "gpus=256 gpus_per_pod_per_replica=32", "2"),
    case("gpus", "tiny4", "", "32"),
    case("dp", "tiny4", "", "4"),
    case("gpus_per_pod_per_replica", "small", "", "16"),
    case("gpus_per_pod", "tiny4", "", "8"),
    case("micro_batches", "tiny4", "", "6"),
    case("micro_batch_size", "tiny4", "", "2"),
    case("seq", "tiny4", "", "2048"),
    case("bandwidth_gbps", "tiny4", "", "800"),
    case("peak_tflops", "tiny4", "", "500"),
    case("mfu", "tiny4", "", "0.5"),
    case("bwd_ratio", "tiny4", "", "1.5"),
    case("act_bytes", "tiny4", "", "1"),
    case("grad_bytes", "tiny4", "", "2"),
    case("gather_bytes", "tiny4", "", "4"),
    case("recompute", "tiny4", "", "full"),
    case("zero", "tiny4", "", "3"),
    case("blocking_p2p", "tiny4", "", "false"),
    case("intra_pod_gbps", "tiny4", "", "100"),
    case("balance", "tiny4", "", "exact"),
    case("virtual_stages", "tiny4", "", "2"),
    case("dp_buckets", "tiny4", "", "2"),
    case("ports_per_pod", "tiny4", "", "6"),
    case("failed_ports", "tiny4", "", "r0p0:1,r0p0:2"),
    case("reverse", "megatron_177b", "balance=exact", "true"),
    case("layers", "tiny4", "", "24"),
    case("hidden", "tiny4", "", "2048"),
    case("ffn", "tiny4", "", "8192"),
    case("gated", "tiny4", "", "true"),
    case("heads", "tiny4", "", "64"),
    case("kv_heads", "tiny4", "", "8"),
    case("head_dim", "tiny4", "", "64"),
    case("vocab", "tiny4", "", "32000"),
    case("tied", "tiny4", "pp=1 gpus=8 gpus_per_pod_per_replica=2", "true"),
    case("experts", "mixtral_8x22b", "", "16"),
    case("top_k", "mixtral_8x22b", "", "1"),
    case("expert_ffn", "mixtral_8x22b", "", "8192"),
    case("shared_experts", "mixtral_8x22b", "", "1"),
    case("dense_layers", "mixtral_8x22b", "", "8"),
    case("moe_layers", "mixtral_8x22b", "", "1,3,5,7"),
    moving("switch", "switch=mems", "mems_with_transceivers"),
    moving("switching_delay_s", "switching_delay_s=0.001", "0.4"),
    moving("most_switchings", "switch=mems", "0"),
];

#[test]
fn every_knob_of_a_job_changes_the_plan() {
    // The parameters of one job; those that only several jobs have are tested with the scenario.
    let job = preset("tiny4").unwrap();
    let entries: Vec<String> = job.every_knob().iter().map(|knob| knob.name.to_string()).collect();
    let covered: Vec<String> = CASES.iter().map(|case| case.knob.to_owned()).collect();
    assert_covered("knobs of jobs", &entries, &covered);
    let mut idle = Vec::new();
    for case in CASES {
        let before = solve(case.preset, case.method, case.given);
        // A value that is replaced is not set beside the new one.
        let own = format!("{}=", case.knob);
        let given: Vec<&str> =
            case.given.split_whitespace().filter(|setting| !setting.starts_with(&own)).collect();
        let after =
            solve(case.preset, case.method, &format!("{} {}={}", given.join(" "), case.knob, case.to));
        if before.plan() == after.plan() {
            idle.push(format!("{}={} on {}", case.knob, case.to, case.preset));
        }
    }
    assert_all_changed("knobs of jobs", idle);
}

#[test]
fn one_entry_of_a_list_can_be_changed() {
    let list = solve("megatron_177b", "delta-joint", "ports_per_pod=16,12,16");
    let entry = solve("megatron_177b", "delta-joint", "ports_per_pod[1]=12");
    let plain = solve("megatron_177b", "delta-joint", "");
    assert!(list.plan() == entry.plan() && entry.plan() != plain.plan());
}

fn instance() -> AnyScenario {
    let job = preset("small").unwrap();
    let written = export(Subject::Scenario(&job), "instance", &settings("all_edges=true")).unwrap();
    match read_file(written[0].bytes.as_slice(), "instance").unwrap() {
        AnyFile::Scenario(scenario) => scenario,
        AnyFile::Plan(_) => panic!("an instance is a scenario"),
    }
}

#[test]
fn every_knob_of_an_instance_changes_the_plan() {
    let instance = instance();
    let cases = ["bandwidth_gbps=800", "ports_per_pod=6", "ports_per_pod[2]=5"];
    let entries: Vec<String> = instance.knobs().iter().map(|knob| knob.name.to_string()).collect();
    let moving = ["switch=mems_with_transceivers", "switching_delay_s=0.001"];
    let covered: Vec<String> =
        cases[..2].iter().chain(&moving).map(|case| case.split_once('=').unwrap().0.to_owned()).collect();
    assert_covered("knobs of instances", &entries, &covered);
    let moved = moving.map(|case| {
        let (changed, _) = apply(&instance, "delta-phases", &settings(case)).unwrap();
        solve_ask(&changed, &Request::of("delta-phases"))
    });
    assert!(moved[0].plan() != moved[1].plan(), "a longer dark time changes nothing");
    let before = solve_ask(&instance, &Request::of("delta-joint"));
    let mut idle = Vec::new();
    for case in cases {
        let (changed, _) = apply(&instance, "delta-joint", &settings(case)).unwrap();
        if solve_ask(&changed, &Request::of("delta-joint")).plan() == before.plan() {
            idle.push(case.to_owned());
        }
    }
    assert_all_changed("knobs of instances", idle);
}

/// Those of a run change every job alike, so they are tested where they change a plan of one; here is what several have.
const SHARED_CASES: &[Case] = &[
    case("weights", "megatron_177b_pair", "trades=1", "1,3"),
    case("ports_per_pod", "megatron_177b_pair", "", "36"),
    case("first_pods", "megatron_177b_pair", "", "0,1"),
];

#[test]
fn every_knob_of_several_jobs_changes_the_plan() {
    let pair = preset("tiny4_pair").unwrap();
    let entries: Vec<String> = pair.knobs().iter().map(|knob| knob.name.to_string()).collect();
    // Dense jobs have no experts, so the pair offers neither `ep` nor `etp`.
    let other = ["model", "reverse", "ports_per_pod", "ep", "etp"];
    // Sizes of a model, and circuits that move, belong to one job.
    let known = |case: &&Case| entries.iter().any(|entry| entry == case.knob);
    let of_run = CASES.iter().filter(|case| !other.contains(&case.knob)).filter(known);
    let covered: Vec<String> = of_run.clone().chain(SHARED_CASES).map(|case| case.knob.to_owned()).collect();
    assert_covered("knobs of several jobs", &entries, &covered);
    let mut idle = Vec::new();
    for case in SHARED_CASES {
        let before = solve(case.preset, "reallocate", case.given);
        let after = solve(case.preset, "reallocate", &format!("{} {}={}", case.given, case.knob, case.to));
        if before.plan() == after.plan() {
            idle.push(format!("{}={} on {}", case.knob, case.to, case.preset));
        }
    }
    for case in of_run {
        let pair = format!("{}_pair", case.preset);
        // Not every job has a mirror image beside it.
        if preset(&pair).is_err() {
            continue;
        }
        let before = solve(&pair, "reallocate", &format!("{} trades=0", case.given));
        let changed = format!("{} {}={} trades=0", case.given, case.knob, case.to);
        if before.plan() == solve(&pair, "reallocate", &changed).plan() {
            idle.push(format!("{}={} on {pair}", case.knob, case.to));
        }
    }
    assert_all_changed("knobs of several jobs", idle);
}
