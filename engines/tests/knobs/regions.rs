//! Knobs of regions and of their methods: every one changes the plan.

use super::methods::{Case, Shows, case, change, on};
use super::runs::{settings, solve};
use super::{assert_all_changed, assert_covered};
use lightbay_engines::{AnyPlan, Input, Subject, export, import, knobs, methods};

const SMALL: &str = "moe-small";

const fn of(
    methods: &'static [&'static str],
    param: &'static str,
    given: &'static str,
    to: &'static str,
    shows: Shows,
) -> Case {
    on(SMALL, case(methods, param, given, to, shows))
}

const REGIONAL: &[&str] = &["mfabric-swap", "mfabric-greedy"];
const COPILOT: &[&str] = &["mfabric-copilot"];
/// Switching costs something here, and not too much.
const QUICK: &str = "reconfiguration_delay_ms=1";
const PLACED: &[&str] = &["mfabric-placed"];
/// Experts may be placed, with room for copies.
const FREE: &str = "reconfiguration_delay_ms=1 expert_placement=free redundant_experts=8";
/// Predicted circuits of this region differ with the way loads are predicted, as long as setting them pays.
const MANY_EXPERTS: &str = "moe-qwen_moe";
const AT_ONCE: &str = "reconfiguration_delay_ms=0.01";

const CASES: &[Case] = &[
    of(REGIONAL, "routing", QUICK, "strict", Shows::Plan),
    of(REGIONAL, "policy", QUICK, "paper", Shows::Plan),
    of(&["mfabric-greedy"], "greedy_end", QUICK, "printed", Shows::Plan),
    of(&["mfabric-exact"], "routing", QUICK, "strict", Shows::Plan),
    of(&["mfabric-exact"], "policy", QUICK, "paper", Shows::Plan),
    of(&["mfabric-exact", "auto"], "exact_nodes", "exact_nodes=5", "0", Shows::Log),
    of(COPILOT, "routing", QUICK, "strict", Shows::Plan),
    on(MANY_EXPERTS, case(COPILOT, "predict_window", AT_ONCE, "2", Shows::Plan)),
    on(MANY_EXPERTS, case(COPILOT, "predict_gamma", AT_ONCE, "0.1", Shows::Plan)),
    on(MANY_EXPERTS, case(COPILOT, "predict_ridge", AT_ONCE, "1", Shows::Plan)),
    of(PLACED, "placement", FREE, "eplb", Shows::Plan),
    of(PLACED, "routing", FREE, "strict", Shows::Plan),
    of(PLACED, "policy", FREE, "paper", Shows::Plan),
    of(&["static"], "routing", "", "strict", Shows::Plan),
    on("moe-mixtral_8x22b", case(&["static"], "static_circuits", "", "circulant", Shows::Plan)),
];

#[test]
fn every_knob_of_every_method_of_regions_does_something() {
    let mut entries: Vec<(String, String)> = Vec::new();
    for method in methods("moe") {
        entries.extend(method.params.iter().map(|param| (method.name.to_owned(), param.name.to_string())));
    }
    let mut covered: Vec<(String, String)> = Vec::new();
    let mut idle = Vec::new();
    for case in CASES {
        for method in case.methods {
            covered.push(((*method).to_owned(), case.param.to_owned()));
            idle.extend(change(case, method).err());
        }
    }
    assert_covered("knobs of methods", &entries, &covered);
    assert_all_changed("knobs of methods", idle);
}

/// Knobs of regions: settings of both runs, value changed to.
const REGION: &[(&str, &str, &str)] = &[
    ("model", "", "mixtral_8x7b"),
    ("layers", "", "8"),
    ("hidden", "", "2048"),
    ("ffn", "", "1024"),
    ("shared_ffn", "", "1024"),
    ("experts", "", "16"),
    ("top_k", "", "1"),
    ("kv_width", "", "512"),
    ("seq", "", "1024"),
    ("micro_batch", "", "4"),
    ("ep", "experts=16", "16"),
    ("tp", "", "2"),
    ("pp", "", "1"),
    ("link_gbps", "", "100"),
    ("optical_degree", "", "4"),
    ("eps_total_gbps", "", "400"),
    ("failed_nics", "", "s1:0,s2:3"),
    ("nvlink_gbytes_per_s", "", "100"),
    ("pipeline_chunks", "", "1"),
    ("planned_iteration", "", "7"),
    ("trace_seed", "", "2"),
    ("kappa", "", "30"),
    ("expert_placement", "", "free"),
    ("redundant_experts", "expert_placement=free", "8"),
    ("expert_groups", "expert_placement=free redundant_experts=8", "4"),
    ("cluster_servers", "", "32"),
    ("delay_profile", "", "fast"),
    ("reconfiguration_delay_ms", "", "1"),
    ("sustained_tflops", "", "50"),
    ("micro_batches", "", "4"),
    ("attention_ms", "", "1"),
    ("gate_ms", "", "1"),
    ("expert_ms", "", "1"),
    ("copper_links", "", "true"),
];

#[test]
fn every_knob_of_regions_changes_the_plan() {
    let entries: Vec<String> = knobs("moe").iter().map(|knob| knob.name.to_string()).collect();
    let covered: Vec<String> = REGION.iter().map(|(knob, ..)| (*knob).to_owned()).collect();
    assert_covered("knobs of regions", &entries, &covered);
    let mut idle = Vec::new();
    for (knob, given, to) in REGION {
        // Only where experts may be placed there is a method that places them.
        let method = if given.contains("free") { "mfabric-placed" } else { "mfabric-swap" };
        let before = solve(SMALL, method, given);
        let after = solve(SMALL, method, &format!("{given} {knob}={to}"));
        if before.plan() == after.plan() {
            idle.push(format!("{knob}={to}"));
        }
    }
    assert_all_changed("knobs of regions", idle);
}

#[test]
fn every_knob_of_counts_changes_the_scenario() {
    let read = |rows: &str, text: &str| {
        let file = Input { name: "counts.csv".to_owned(), bytes: rows.as_bytes().to_vec() };
        let imported = import("routing_counts", &[file], &settings(text), false);
        imported.unwrap_or_else(|problems| panic!("{text}: {problems}")).product.scenario()
    };
    let rows = "5,4,3,2,1,1,1,1\n1,1,1,1,2,3,4,5\n";
    assert_ne!(read(rows, "axis=layers model=mixtral_8x22b"), read(rows, "axis=layers"));
    assert_ne!(read(rows, "axis=iterations"), read(rows, "axis=layers"));
    // All layers of a model of four stages.
    let all = (0..32).map(|layer| format!("{layer},1,1,1,1,1,1,1\n")).collect::<Vec<_>>().concat();
    assert_ne!(read(&all, "axis=layers stage=1"), read(&all, "axis=layers stage=2"));
    let log = "num_global_tokens_per_expert [5,4,3,2]\nnum_global_tokens_per_expert [1,2,3,4]\n";
    assert_ne!(read(log, "layers=1"), read(log, "layers=2"));
}

#[test]
fn every_knob_of_workloads_with_experts_changes_the_scenario() {
    let row = |name: &str, call: &str| format!("{name} -1 2000000 {call} 2000000 {call} 1 NONE 0 100\n");
    let exchange = row("mlp_moelayer", "ALLTOALL_EP 100663296");
    let text = format!(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 16 pp: 1 vpp: 1 ga: 1 checkpoints: 0 \
         checkpoint_initiates: 0\n5\n{}{}{exchange}{exchange}{}",
        row("embedding_layer", "NONE 0"),
        row("attention_column", "NONE 0"),
        row("final_column", "NONE 0")
    );
    let read = |settings_text: &str| {
        let file = Input { name: "moe.txt".to_owned(), bytes: text.clone().into_bytes() };
        import("aicb_moe", &[file], &settings(settings_text), false)
            .map(|imported| imported.product.scenario())
            .map_err(|problems| problems.to_string())
    };
    let usual = read("gpus=128").unwrap();
    assert_ne!(read("gpus=256").unwrap(), usual);
    assert_ne!(read("gpus=128 model=mixtral_8x22b").unwrap(), usual);
    assert!(read("").unwrap_err().contains("set 'gpus='"));
}

#[test]
fn the_listing_of_circuits_is_chosen() {
    let plan = AnyPlan::of(&solve(SMALL, "mfabric-swap", "").done.plan.unwrap()).unwrap();
    let written = |text: &str| export(Subject::Plan(&plan), "circuits", &settings(text)).unwrap();
    let circuits = String::from_utf8(written("")[0].bytes.clone()).unwrap();
    assert!(circuits.starts_with("layer,action,port_a") && circuits.lines().count() > 20, "{circuits}");
    assert_ne!(written("listing=packet_switched"), written(""));
}
