//! Every method on every preset gives a plan that its checker accepts.

use crate::Moe;
use crate::files::handover;
use crate::methods::all;
use crate::scenario::{PlacementRoom, presets};
use lightbay_core::checked::downcast;
use lightbay_core::clock::Deadline;
use lightbay_core::kind::Kind as _;
use lightbay_core::param::ParamValue;
use lightbay_core::plan::{Plan, Status};
use lightbay_core::report::Report;
use lightbay_core::testing::Ask;
use std::sync::Arc;

mod failures;
mod property;

fn solve(preset: &str, method: &str, params: &[(&str, &str)]) -> Arc<lightbay_core::checked::Checked<Moe>> {
    let body = presets::scenario(preset).unwrap();
    let done = Ask::of(&all(), method, body).typed(params).run().sound().done;
    let plan =
        done.plan.unwrap_or_else(|| panic!("{preset} {method}: {:?} {}", done.violations, done.message));
    downcast::<Moe>(&plan).unwrap()
}

const PRESETS: [&str; 5] =
    ["moe-small", "moe-mixtral_8x7b", "moe-mixtral_8x22b", "moe-llama_moe", "moe-qwen_moe"];

#[test]
fn every_method_plans_every_preset() {
    for preset in PRESETS {
        for method in all() {
            let name = method.info().name;
            let is_slow = name == "mfabric-exact" && preset != "moe-small";
            // Experts stand in blocks in all of them.
            if is_slow || name == "mfabric-placed" {
                continue;
            }
            let plan = solve(preset, name, &[]);
            let objective = &plan.plan().objective;
            assert!(objective.bound.is_none_or(|bound| bound <= objective.value), "{preset} {name}");
        }
    }
}

/// Layers, columns of matrices and iterations of the trace may run on any thread.
#[test]
fn any_number_of_threads_finds_the_same_plan() {
    let mut placed = presets::scenario("moe-mixtral_8x7b").unwrap();
    placed.placement = Some(PlacementRoom { redundant_experts: 8, expert_groups: 1 });
    for body in [presets::scenario("moe-deepseek_v3").unwrap(), placed] {
        let found = |threads| {
            let done = Ask::of(&all(), "auto", body.clone()).threads(threads).run().sound().done;
            let plan = downcast::<Moe>(&done.plan.unwrap()).unwrap();
            (serde_json::to_string(&plan.plan().result).unwrap(), done.value, done.work)
        };
        let alone = found(1);
        for threads in [2, 3] {
            assert!(found(threads) == alone, "{threads} threads");
        }
    }
}

#[test]
fn every_policy_and_routing_plans() {
    for preset in ["moe-small", "moe-mixtral_8x7b"] {
        for policy in ["paper", "window", "reuse", "best", "exact"] {
            for routing in ["spill", "strict"] {
                for method in ["mfabric-swap", "mfabric-greedy"] {
                    solve(preset, method, &[("policy", policy), ("routing", routing)]);
                }
            }
        }
    }
}

#[test]
fn auto_is_not_beaten_by_its_parts() {
    for preset in PRESETS {
        let auto = solve(preset, "auto", &[]).plan().objective.value;
        for method in ["mfabric-swap", "mfabric-greedy", "mfabric-copilot", "static"] {
            let other = solve(preset, method, &[]).plan().objective.value;
            assert!(auto <= other * (1.0 + 1e-9), "{preset} {method} {auto} {other}");
        }
    }
}

#[test]
fn every_section_is_worked_out() {
    let checked = solve("moe-small", "auto", &[]);
    let plan: &Plan<Moe> = checked.plan();
    let report = crate::report::MoeReport::new(&plan.scenario, Some(plan));
    for info in crate::report::SECTIONS {
        let section = report.section(info.name, Deadline::NEVER);
        let section = section.unwrap_or_else(|why| panic!("{}: {why}", info.name));
        assert!(!section.blocks.is_empty(), "{}", info.name);
        let forms: Vec<&str> = section.blocks.iter().map(|block| block.name).collect();
        assert!(info.forms.iter().all(|form| forms.contains(form)), "{}: {forms:?}", info.name);
    }
    assert!(plan.status == Status::Feasible || plan.status == Status::Optimal);
    // Predictions are those of the plan.
    let checked = solve("moe-small", "mfabric-copilot", &[("predict_window", "7")]);
    let report = crate::report::MoeReport::new(&checked.plan().scenario, Some(checked.plan()));
    for name in ["loads", "predictor"] {
        let section = report.section(name, Deadline::NEVER).unwrap();
        assert!(format!("{section:?}").contains("the previous 7 iterations"), "{name}");
    }
}

/// Six experts on eight ranks fill eight slots with two replicas. In blocks, two ranks have no expert.
#[test]
fn experts_and_replicas_together_fill_the_slots() {
    let mut body = presets::scenario("moe-small").unwrap();
    let int = lightbay_core::param::ParamValue::Int;
    let mut shape = body.shape();
    (shape.experts, shape.ep) = (6, 8);
    body.model = crate::scenario::MoeModelChoice::of(shape);
    body.fit_region();
    body.set("expert_placement", None, &lightbay_core::param::ParamValue::Text("free".to_owned())).unwrap();
    body.set("redundant_experts", None, &int(1)).unwrap();
    let uneven = body.validate().unwrap_err().to_string();
    assert!(
        uneven.contains("6 experts and 1 replica do not divide evenly among 8 ranks; give 2"),
        "{uneven}"
    );
    body.set("redundant_experts", None, &int(2)).unwrap();
    body.validate().unwrap();
    for (method, places) in [("mfabric-placed", true), ("mfabric-swap", false), ("auto", true)] {
        let done = Ask::of(&all(), method, body.clone()).run().sound().done;
        let plan = downcast::<Moe>(&done.plan.unwrap()).unwrap();
        for layer in &plan.plan().result.layers {
            if let Some(placed) = layer.placement.as_ref().filter(|_| places) {
                let mut held = placed.physical_to_logical.clone();
                assert_eq!(held.len(), 8, "{method}");
                held.sort_unstable();
                held.dedup();
                assert_eq!(held, [0, 1, 2, 3, 4, 5], "{method}");
            }
        }
    }
}

/// Experts placed with the circuits, beside the answer of EPLB.
#[test]
fn experts_are_placed_beside_their_circuits() {
    let mut body = presets::scenario("moe-small").unwrap();
    let refused = Ask::of(&all(), "mfabric-placed", body.clone()).run().done;
    assert!(refused.plan.is_none() && refused.message.contains("set expert_placement=free"), "{refused:?}");
    let int = lightbay_core::param::ParamValue::Int;
    let early = body.set("redundant_experts", None, &int(8)).unwrap_err().to_string();
    assert!(early.contains("expert_placement=free"), "{early}");
    body.set("expert_placement", None, &lightbay_core::param::ParamValue::Text("free".to_owned())).unwrap();
    body.set("redundant_experts", None, &int(4)).unwrap();
    let uneven = body.validate().unwrap_err().to_string();
    assert!(
        uneven.contains("8 experts and 4 replicas do not divide evenly among 8 ranks; give 8"),
        "{uneven}"
    );
    body.set("redundant_experts", None, &int(8)).unwrap();
    body.validate().unwrap();
    body.cluster.reconfiguration_delay_ms = 0.025;
    let value = |method: &str, params: &[(&str, &str)]| {
        let done = Ask::of(&all(), method, body.clone()).typed(params).run().sound().done;
        let plan = downcast::<Moe>(&done.plan.unwrap()).unwrap();
        let placed = plan.plan().result.layers.iter().all(|layer| layer.placement.is_some());
        (plan.plan().objective.value, placed)
    };
    let (blocks, eplb) = (value("mfabric-swap", &[]), value("mfabric-placed", &[("placement", "eplb")]));
    let (joint, auto) = (value("mfabric-placed", &[]), value("auto", &[]));
    assert!(!blocks.1 && eplb.1 && joint.1);
    assert!(
        joint.0 < eplb.0 && auto.0 <= joint.0 && auto.0 <= blocks.0,
        "{blocks:?} {eplb:?} {joint:?} {auto:?}"
    );
}

#[test]
fn other_kinds_take_circuits_network_and_demand() {
    let checked = solve("moe-mixtral_8x22b", "mfabric-swap", &[]);
    let plan = checked.plan();
    for layer in 0..7 {
        let matrix = Moe::circuits_of_layer(plan, layer).unwrap();
        assert_eq!((matrix.pods.len(), matrix.ports_per_pod[0]), (8, 6));
        assert!(matrix.ports_used().iter().all(|used| *used <= 6));
        assert!(matrix.left_out[0].contains(&format!("layer {layer}")));
    }
    assert!(Moe::circuits_of_layer(plan, 7).is_none());
    let different =
        (1..7).any(|layer| Moe::circuits_of_layer(plan, layer) != Moe::circuits_of_layer(plan, 0));
    assert!(different);
    let graph = Moe::graph(plan).unwrap();
    assert_eq!((graph.nodes.len(), graph.nodes[8].as_str()), (9, "packet switches"));
    // Six circuits and two packet-switched NICs of 400 Gb/s, both ways.
    for server in 0..8 {
        let out = graph.links.iter().filter(|link| link.from == server);
        let into = graph.links.iter().filter(|link| link.to == server);
        assert_eq!(out.map(|link| link.capacity_gbps).sum::<f64>(), 3200.0, "{server}");
        assert_eq!(into.map(|link| link.capacity_gbps).sum::<f64>(), 3200.0, "{server}");
    }
    let traffic = Moe::traffic(plan).unwrap();
    assert_eq!(traffic.places, graph.nodes[..8]);
    assert_eq!(graph.switches, [8]);
    let longest = handover::longest(&plan.result).unwrap();
    for &(from, to, bytes) in &traffic.entries {
        assert_eq!(longest.demand_bytes[from as usize][to as usize], bytes);
    }
    assert_eq!(traffic.entries.len(), 8 * 7);
    let tree = solve("moe-small", "fat-tree", &[]);
    assert!(Moe::graph(tree.plan()).is_none() && Moe::circuits(tree.plan()).is_none());
}

/// Everything stays inside the server: nothing to switch, nothing to wait for.
#[test]
fn a_region_of_one_server_has_no_circuits() {
    let mut body = presets::scenario("moe-small").unwrap();
    for (name, value) in [("tp", 1), ("ep", 8)] {
        body.set(name, None, &lightbay_core::param::ParamValue::Int(value)).unwrap();
    }
    body.validate().unwrap();
    assert_eq!(body.region.servers, 1);
    for (method, params) in [("auto", &[][..]), ("mfabric-swap", &[("policy", "paper")]), ("topoopt", &[])] {
        let done = Ask::of(&all(), method, body.clone()).typed(params).run().sound().done;
        let plan = downcast::<Moe>(&done.plan.unwrap()).unwrap();
        let result = &plan.plan().result;
        assert_eq!(result.iteration.stall_ms, 0.0, "{method}");
        assert!(
            result.layers.iter().all(|layer| layer.circuits.is_empty() && layer.all_to_all.local_ms > 0.0)
        );
    }
}

/// Every NIC at the optical switch, or no rate at the packet switches: the gradients have no way.
#[test]
fn a_region_without_packet_switches_has_no_plan() {
    let cases = [
        ("optical_degree", ParamValue::Int(8), "optical_degree=8 leaves no NIC", "lower optical_degree"),
        (
            "eps_total_gbps",
            ParamValue::Float(0.0),
            "with eps_total_gbps=0, packet switches have no rate",
            "raise eps_total_gbps",
        ),
    ];
    for (name, value, why, remedy) in cases {
        for method in ["auto", "mfabric-exact"] {
            let mut body = presets::scenario("moe-small").unwrap();
            body.set(name, None, &value).unwrap();
            body.validate().unwrap();
            let done = Ask::of(&all(), method, body).run().sound().done;
            assert!(done.plan.is_none() && done.message.contains(why), "{}", done.message);
            assert!(done.message.ends_with(&format!("; {remedy}")), "{}", done.message);
        }
    }
}

/// A delay that is longer than everything: circuits that stay.
#[test]
fn a_delay_of_seconds_is_planned_as_circuits_that_stay() {
    let mut body = presets::scenario("moe-mixtral_8x7b").unwrap();
    body.cluster.reconfiguration_delay_ms = 5670.0;
    let done = Ask::of(&all(), "auto", body).run().sound().done;
    let plan = downcast::<Moe>(&done.plan.unwrap()).unwrap();
    let iteration = plan.plan().result.iteration;
    assert_eq!((iteration.stall_ms, iteration.free_changes), (0.0, 0));
    assert_eq!(plan.plan().metrics["reconfigurations"], 0.0);
}

/// Of two layers one has no tokens: the paper's delay of 25 ms precedes the dispatch of the other one alone.
#[test]
fn a_layer_without_tokens_waits_for_no_circuits() {
    use crate::scenario::{CountedMatrix, CountedTrace, GateTrace};
    let mut body = presets::scenario("moe-small").unwrap();
    let counts = [0.0, 1.0].map(|tokens| CountedMatrix {
        iteration: 0,
        layer: u32::from(tokens > 0.0),
        tokens: vec![vec![tokens; 8]; 8],
    });
    body.trace = GateTrace::Counts(CountedTrace { iteration: 0, counts: counts.to_vec() });
    body.validate().unwrap();
    for method in ["mfabric-swap", "mfabric-greedy", "mfabric-exact"] {
        let done = Ask::of(&all(), method, body.clone()).typed(&[("policy", "paper")]).run().sound().done;
        let plan = downcast::<Moe>(&done.plan.unwrap()).unwrap();
        let result = &plan.plan().result;
        assert!(result.layers[0].circuits.is_empty() && !result.layers[1].circuits.is_empty());
        assert_eq!((result.iteration.stall_ms, result.iteration.free_changes), (25.0, 1), "{method}");
    }
}
