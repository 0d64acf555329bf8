//! Plans that are changed in one place are refused by the rule that the change breaks.

use super::{RegionEnvelope, check, code};
use crate::Moe;
use crate::methods::all;
use crate::plan::{CircuitAction, LayerPhase, MoeResult, RoutePath};
use crate::scenario::trace::{CountedMatrix, CountedTrace, GateTrace};
use crate::scenario::{FailedNic, MoeScenario, PlacementRoom, presets};
use lightbay_core::checked::{BoundTrust, downcast};
use lightbay_core::kind::Depth;
use lightbay_core::param::Params;
use lightbay_core::testing::Ask;
use std::collections::BTreeMap;

/// A plan as its parts.
struct Parts {
    method: String,
    params: Params,
    bound_covers: Option<String>,
    scenario: MoeScenario,
    result: MoeResult,
    value: f64,
    bound: Option<f64>,
    metrics: BTreeMap<String, f64>,
}

fn plan(method: &str, params: &[(&str, &str)]) -> Parts {
    let mut scenario = presets::scenario("moe-small").unwrap();
    scenario.cluster.reconfiguration_delay_ms = 2.0;
    planned(scenario, method, params)
}

fn planned(scenario: MoeScenario, method: &str, params: &[(&str, &str)]) -> Parts {
    let done = Ask::of(&all(), method, scenario.clone()).typed(params).run().sound().done;
    let checked = downcast::<Moe>(&done.plan.unwrap()).unwrap();
    let plan = checked.plan();
    Parts {
        method: plan.method.clone(),
        params: plan.parameters.clone(),
        bound_covers: plan.provenance.bound_covers().map(str::to_owned),
        scenario,
        result: plan.result.clone(),
        value: plan.objective.value,
        bound: plan.objective.bound,
        metrics: plan.metrics.clone(),
    }
}

impl Parts {
    fn codes(&self) -> Vec<&'static str> {
        let envelope = RegionEnvelope {
            method: &self.method,
            params: &self.params,
            value: self.value,
            bound: self.bound,
            bound_covers: self.bound_covers.as_deref(),
            metrics: &self.metrics,
        };
        let verdict = check(&self.scenario, &self.result, &envelope, Depth::Usual);
        verdict.violations.iter().map(|violation| violation.code).collect()
    }
}

/// Changes a plan and says which rules it breaks then.
#[track_caller]
fn broken(rule: &str, change: impl FnOnce(&mut Parts)) {
    let mut parts = plan("mfabric-swap", &[("policy", "window")]);
    assert_eq!(parts.codes(), Vec::<&str>::new());
    change(&mut parts);
    let codes = parts.codes();
    assert!(codes.contains(&rule), "{rule}: {codes:?}");
}

#[test]
fn a_nic_holds_one_circuit() {
    broken(code::NIC, |parts| {
        let circuits = &mut parts.result.layers[0].circuits;
        circuits[1].nic_a = circuits[0].nic_a;
    });
}

#[test]
fn circuits_end_at_optical_nics() {
    broken(code::NIC, |parts| parts.result.layers[0].circuits[0].nic_a = 3);
}

#[test]
fn parallel_circuits_are_spread_over_numa_nodes() {
    // All parallel circuits of the first pair that has several change to one node, with those of another pair.
    broken(code::NUMA, |parts| {
        let circuits = &mut parts.result.layers[0].circuits;
        let (a, b) = (circuits[0].server_a, circuits[0].server_b);
        for circuit in circuits.iter_mut().filter(|c| (c.server_a, c.server_b) == (a, b)) {
            circuit.nic_a %= 3;
        }
    });
}

#[test]
fn circuits_join_servers_in_order() {
    broken(code::CIRCUIT, |parts| {
        let circuit = &mut parts.result.layers[0].circuits[0];
        (circuit.server_a, circuit.server_b) = (circuit.server_b, circuit.server_a);
    });
}

#[test]
fn what_happens_to_a_circuit_follows_from_the_layer_before() {
    broken(code::ACTION, |parts| parts.result.layers[0].circuits[0].action = CircuitAction::Keep);
    broken(code::ACTION, |parts| {
        parts.result.layers[1].circuits.retain(|circuit| circuit.action != CircuitAction::Remove);
    });
}

#[test]
fn a_missing_circuit_leaves_its_routes_without_a_way() {
    broken(code::ROUTE, |parts| {
        parts.result.layers[0].circuits.remove(0);
    });
}

#[test]
fn routes_carry_the_demand() {
    broken(code::BYTES, |parts| parts.result.layers[0].routes[0].bytes *= 1.01);
    broken(code::TIMES, |parts| {
        for route in &mut parts.result.layers[0].routes {
            route.bytes *= 1.0 + 1e-7;
        }
    });
}

#[test]
fn packet_switched_routes_use_their_nics() {
    broken(code::ROUTE, |parts| {
        let routes = &mut parts.result.layers[0].routes;
        let route = routes.iter_mut().find(|route| route.path == RoutePath::Ocs).unwrap();
        route.path = RoutePath::Eps;
    });
}

#[test]
fn the_demand_is_that_of_the_trace() {
    broken(code::DEMAND, |parts| parts.result.layers[0].demand_bytes[0][1] *= 1.01);
    broken(code::LAYERS, |parts| {
        parts.result.layers.pop();
    });
}

#[test]
fn times_of_the_steps_follow_from_the_routes() {
    broken(code::TIMES, |parts| parts.result.layers[1].all_to_all.step3_ocs_ms *= 0.99);
    broken(code::TIMES, |parts| parts.result.layers[1].all_to_all.gather_ms = 0.0);
    broken(code::TIMES, |parts| parts.result.layers[1].all_to_all.all_to_all_ms *= 0.99);
}

#[test]
fn stalls_are_what_the_window_does_not_hide() {
    broken(code::CHANGE, |parts| {
        parts.result.layers[0].timeline.reconfigurations[0].stall_ms = 0.5;
    });
    broken(code::CHANGE, |parts| {
        parts.result.layers[0].timeline.reconfigurations[0].window = "expert_fwd".to_owned();
    });
    broken(code::CHANGE, |parts| {
        parts.result.layers[0].timeline.reconfigurations[0].delay_ms = 1.0;
    });
    broken(code::TIMELINE, |parts| parts.result.layers[0].timeline.reconfigurations.clear());
}

#[test]
fn changes_that_are_not_charged_are_counted() {
    let mut paper = plan("mfabric-swap", &[("policy", "paper")]);
    assert!(paper.result.iteration.free_changes > 0);
    paper.result.iteration.free_changes = 0;
    assert!(paper.codes().contains(&code::CHANGE));
    // Circuits that the backward pass needs are set by nobody.
    broken(code::CHANGE, |parts| {
        for layer in &mut parts.result.layers {
            layer.timeline.reconfigurations.retain(|change| change.before == LayerPhase::A2a1);
        }
    });
}

#[test]
fn events_follow_each_other_without_gaps() {
    broken(code::TIMELINE, |parts| {
        for event in &mut parts.result.layers[0].timeline.events[3..] {
            event.start_ms += 1.0;
            event.end_ms += 1.0;
        }
    });
    broken(code::TIMELINE, |parts| {
        parts.result.layers[0].timeline.events.remove(1);
    });
    broken(code::TIMELINE, |parts| parts.result.layers[0].timeline.events[0].phase = "rest".to_owned());
}

#[test]
fn sums_of_the_iteration_and_the_objective_are_right() {
    broken(code::ITERATION, |parts| parts.result.iteration.iteration_ms *= 0.99);
    broken(code::ITERATION, |parts| parts.result.iteration.data_parallel_ms = 0.0);
    broken(code::ITERATION, |parts| parts.value *= 0.99);
    broken(code::COST, |parts| parts.result.cost.server_usd = 1.0);
    broken(code::COST, |parts| parts.result.cost.performance_per_dollar *= 1.01);
    broken(code::METRICS, |parts| {
        parts.metrics.insert("stall_ms".to_owned(), 0.0);
    });
    broken(code::METRICS, |parts| {
        parts.metrics.insert("beauty".to_owned(), 1.0);
    });
}

#[test]
fn the_bound_is_that_of_all_nics_as_one() {
    broken(code::BOUND, |parts| parts.bound = Some(parts.bound.unwrap() * 1.001));
    broken(code::BOUND, |parts| parts.bound = Some(parts.value * 1.001));
}

/// A plan whose experts are placed with copies, changed in one place.
#[track_caller]
fn misplaced(rule: &str, change: impl FnOnce(&mut Parts)) {
    let mut scenario = presets::scenario("moe-small").unwrap();
    scenario.placement = Some(PlacementRoom { redundant_experts: 8, expert_groups: 4 });
    let mut parts = planned(scenario, "mfabric-placed", &[]);
    assert_eq!(parts.codes(), Vec::<&str>::new());
    change(&mut parts);
    assert!(parts.codes().contains(&rule), "{rule}: {:?}", parts.codes());
}

#[test]
fn experts_are_placed_as_the_scenario_allows() {
    type Slots<'a> = &'a mut crate::plan::ExpertPlacement;
    let change = |change: fn(Slots<'_>)| {
        misplaced(code::PLACEMENT, |parts| change(parts.result.layers[0].placement.as_mut().unwrap()));
    };
    // A slot less, an expert that is not there, one without a slot, wrong copies, wrong load.
    change(|placed| placed.physical_to_logical.truncate(15));
    change(|placed| placed.physical_to_logical[0] = 8);
    change(|placed| {
        let gone = placed.physical_to_logical[0];
        placed
            .physical_to_logical
            .iter_mut()
            .filter(|slot| **slot == gone)
            .for_each(|slot| *slot = (gone + 1) % 8);
    });
    change(|placed| placed.replicas[0] += 1);
    change(|placed| placed.busiest_rank *= 0.99);
    // Groups of two experts stay on one server; copies are at its ranks only.
    change(|placed| {
        let last = placed.physical_to_logical.len() - 1;
        placed.physical_to_logical.swap(0, last);
    });
    misplaced(code::PLACEMENT, |parts| parts.result.layers[0].placement = None);
    misplaced(code::PLACEMENT, |parts| parts.scenario.placement = None);
    misplaced(code::PLACEMENT, |parts| parts.scenario.placement = Some(PlacementRoom::default()));
    misplaced(code::BOUND, |parts| parts.bound = Some(parts.value * 0.9999));
}

/// A replica on a rank that already holds the expert is valid, but wasted, and the check says where.
#[test]
fn replicas_on_one_rank_are_remarked() {
    let mut scenario = presets::scenario("moe-small").unwrap();
    scenario.placement = Some(PlacementRoom { redundant_experts: 8, expert_groups: 1 });
    let parts = planned(scenario, "mfabric-placed", &[]);
    let sizes = super::Sizes::of(&parts.scenario);
    let mut result = parts.result.clone();
    for layer in [0, 1] {
        let slots = &mut result.layers[layer].placement.as_mut().unwrap().physical_to_logical;
        *slots = (0..16).map(|slot| slot % 8).collect();
    }
    assert!(super::placement::doubled(&sizes, &result).is_empty());
    let slots = &mut result.layers[1].placement.as_mut().unwrap().physical_to_logical;
    (slots[10], slots[11]) = (1, 1);
    let said = super::placement::doubled(&sizes, &result);
    assert!(said.len() == 1 && said[0].ends_with("layer 1, rank 5: expert 1 2 times"), "{said:?}");
}

/// A token goes to several different experts, so no expert can have all of the load.
#[test]
fn counts_that_contradict_the_experts_per_token_are_remarked() {
    let counts = |tokens: [f64; 8]| {
        let mut scenario = presets::scenario("moe-small").unwrap();
        let matrix = |layer| CountedMatrix { iteration: 0, layer, tokens: vec![tokens.to_vec()] };
        scenario.trace = GateTrace::Counts(CountedTrace { iteration: 0, counts: vec![matrix(0), matrix(1)] });
        scenario
    };
    let possible = counts([4.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(possible.shape().top_k, 2);
    assert_eq!(possible.impossible_load(), None);
    let scenario = counts([900.0, 50.0, 25.0, 25.0, 0.0, 0.0, 0.0, 0.0]);
    let done = Ask::of(&all(), "pooled", scenario).run().sound().done;
    let plan = downcast::<Moe>(&done.plan.unwrap()).unwrap();
    let remarks = <Moe as lightbay_core::kind::Kind>::check(plan.plan(), Depth::Usual).remarks;
    let wanted = "in layer 0, expert 0 has 7.200 times the mean load, but at most 4.000 times is possible";
    assert!(remarks.iter().any(|remark| remark.contains(wanted)), "{remarks:?}");
}

/// Experts that change places within their group and server give another demand.
#[test]
fn the_demand_follows_the_placement() {
    misplaced(code::DEMAND, |parts| {
        let layer = &mut parts.result.layers[0];
        layer.demand_bytes.swap(0, 1);
    });
}

/// The bound of the integer program is proven again, one above it is not.
#[test]
fn bounds_over_circuits_are_proven_again_in_the_exact_depth() {
    // Hardly any packets, so that whole circuits matter.
    let mut scenario = presets::scenario("moe-small").unwrap();
    scenario.region.eps_total_gbps = Some(50.0);
    let parts = planned(scenario, "mfabric-exact", &[]);
    let verdict = |bound: f64, depth: Depth| {
        let envelope = RegionEnvelope {
            method: &parts.method,
            params: &parts.params,
            value: parts.value,
            bound: Some(bound),
            bound_covers: Some("plans with circuits of the region"),
            metrics: &parts.metrics,
        };
        let verdict = check(&parts.scenario, &parts.result, &envelope, depth);
        assert!(verdict.violations.is_empty(), "{:?}", verdict.violations);
        (verdict.bound, verdict.verified.unwrap())
    };
    let bound = parts.bound.unwrap();
    let (trust, usual) = verdict(bound, Depth::Usual);
    assert_eq!(
        (trust, usual.covers),
        (BoundTrust::Claimed, Some("plans with circuits of the region".to_owned()))
    );
    let (trust, exact) = verdict(bound, Depth::EXACT);
    assert_eq!(trust, BoundTrust::Verified);
    assert!(exact.value > usual.value && exact.value <= parts.value);
    let (trust, _) = verdict(bound + 0.5 * (parts.value - bound), Depth::EXACT);
    assert_eq!(trust, BoundTrust::Claimed);
}

#[test]
fn numbers_have_to_be_numbers() {
    broken(code::SCHEMA, |parts| parts.value = f64::NAN);
    broken(code::SCHEMA, |parts| parts.result.layers[0].routes[0].bytes = f64::INFINITY);
}

/// The checker forwards bytes of TopoOpt by destination, the planner pair by pair.
#[test]
fn networks_without_circuits_are_worked_out_alike() {
    for method in ["fat-tree", "rail", "topoopt", "pooled"] {
        for preset in ["moe-small", "moe-mixtral_8x22b", "moe-llama_moe", "moe-qwen_moe"] {
            let scenario = presets::scenario(preset).unwrap();
            Ask::of(&all(), method, scenario).run().sound().done.plan.unwrap();
        }
    }
    let mut wide = presets::scenario("moe-qwen_moe").unwrap();
    for (name, value) in [("ep", 128), ("experts", 128), ("layers", 4), ("cluster_servers", 64)] {
        wide.set(name, None, &lightbay_core::param::ParamValue::Int(value)).unwrap();
    }
    wide.validate().unwrap();
    let done = Ask::of(&all(), "topoopt", wide).run().sound().done;
    assert!(done.plan.is_some(), "{} {:?}", done.message, done.violations);
}

#[test]
fn a_network_without_circuits_lays_none() {
    let mut tree = plan("fat-tree", &[]);
    assert_eq!(tree.codes(), Vec::<&str>::new());
    tree.result.layers[0].circuits = plan("static", &[]).result.layers[0].circuits.clone();
    assert!(tree.codes().contains(&code::CIRCUIT));
}

/// A plan whose method or parameters are called other ones.
#[track_caller]
fn renamed(method: &str, params: &[(&str, &str)], change: impl FnOnce(&mut Parts)) {
    let mut parts = plan(method, params);
    assert_eq!(parts.codes(), Vec::<&str>::new());
    change(&mut parts);
    assert!(parts.codes().contains(&code::METHOD), "{method}: {:?}", parts.codes());
}

fn set(parts: &mut Parts, name: &str, word: &str) {
    parts.params.set(name, lightbay_core::param::ParamValue::Text(word.to_owned()));
}

#[test]
fn the_network_is_that_of_the_method() {
    // The bound as a plan of the integer program, a plan with circuits as a fat-tree, one tree as another.
    renamed("pooled", &[], |parts| parts.method = "mfabric-exact".to_owned());
    renamed("auto", &[], |parts| parts.method = "fat-tree".to_owned());
    renamed("fat-tree", &[], |parts| parts.method = "rail".to_owned());
    renamed("auto", &[], |parts| parts.method = "mfabric-placed".to_owned());
    let mut scenario = presets::scenario("moe-small").unwrap();
    scenario.placement = Some(PlacementRoom { redundant_experts: 8, expert_groups: 4 });
    let mut placed = planned(scenario, "mfabric-placed", &[]);
    placed.method = "mfabric-swap".to_owned();
    assert!(placed.codes().contains(&code::METHOD));
}

#[test]
fn routes_and_changes_are_those_of_routing_and_policy() {
    renamed("mfabric-swap", &[("routing", "spill")], |parts| set(parts, "routing", "strict"));
    // Free changes are those of the paper alone.
    renamed("mfabric-swap", &[("policy", "paper")], |parts| set(parts, "policy", "window"));
    renamed("mfabric-swap", &[("policy", "window")], |parts| set(parts, "policy", "paper"));
    renamed("mfabric-swap", &[("policy", "window")], |parts| set(parts, "policy", "reuse"));
    renamed("mfabric-swap", &[("policy", "reuse")], |parts| set(parts, "policy", "window"));
    renamed("mfabric-swap", &[("policy", "reuse")], |parts| parts.method = "static".to_owned());
    renamed("mfabric-exact", &[("policy", "paper")], |parts| set(parts, "policy", "exact"));
}

#[test]
fn only_methods_with_a_program_claim_more_than_all_nics_as_one() {
    let mut parts = plan("mfabric-exact", &[]);
    let least = plan("mfabric-swap", &[]).bound.unwrap();
    assert!(parts.bound.unwrap() >= least);
    parts.bound = Some(parts.value);
    assert_eq!(parts.codes(), Vec::<&str>::new(), "claimed, not verified");
    parts.method = "auto".to_owned();
    assert!(parts.codes().contains(&code::BOUND));
    // A fat-tree is no plan with circuits of the region.
    let mut tree = plan("fat-tree", &[]);
    tree.bound = Some(least);
    tree.bound_covers = Some("plans with circuits of the region".to_owned());
    assert!(tree.codes().contains(&code::BOUND));
}

/// With strict routing pairs with circuits use nothing else, so that its bound is above that of all plans.
#[test]
fn bounds_of_strict_routing_cover_strict_routing_alone() {
    let mut parts = plan("mfabric-exact", &[("routing", "strict")]);
    assert_eq!(parts.bound_covers.as_deref(), Some("plans with circuits of the region and strict routing"));
    let envelope = |parts: &Parts, covers: &'static str| {
        let envelope = RegionEnvelope {
            method: &parts.method,
            params: &parts.params,
            value: parts.value,
            bound: parts.bound,
            bound_covers: Some(covers),
            metrics: &parts.metrics,
        };
        check(&parts.scenario, &parts.result, &envelope, Depth::EXACT)
    };
    let verdict = envelope(&parts, "plans with circuits of the region and strict routing");
    assert_eq!((verdict.violations, verdict.bound), (Vec::new(), BoundTrust::Verified));
    let spilling = plan("mfabric-exact", &[]).bound.unwrap();
    assert!(parts.bound.unwrap() > spilling * 1.01, "{:?} {spilling}", parts.bound);
    let verdict = envelope(&parts, "plans with circuits of the region");
    assert_eq!(verdict.bound, BoundTrust::Claimed);
    set(&mut parts, "routing", "spill");
    assert!(parts.codes().contains(&code::BOUND));
}

fn fail(parts: &mut Parts, server: u32, nic: u32) {
    parts.scenario.region.failed_nics.push(FailedNic { server, nic });
}

/// Plans that use a NIC which has failed since.
#[test]
fn failed_nics_hold_no_circuits_and_carry_no_packets() {
    broken(code::NIC, |parts| {
        let circuit = parts.result.layers[0].circuits[0];
        fail(parts, circuit.server_a, circuit.nic_a);
    });
    broken(code::NIC, |parts| {
        let circuit = parts.result.layers[1].circuits[0];
        fail(parts, circuit.server_b, circuit.nic_b);
    });
    broken(code::ROUTE, |parts| {
        let mut routes = parts.result.layers.iter().flat_map(|layer| &layer.routes);
        let route = *routes.find(|route| route.path == RoutePath::Eps).unwrap();
        fail(parts, route.dst_server, route.delegate_nic_dst);
    });
    // The gradients go over the packet-switched NICs of the slowest server, and the fat-tree has the same NICs.
    for (rule, nic) in [(code::ITERATION, 3), (code::COST, 0)] {
        let mut tree = plan("fat-tree", &[]);
        fail(&mut tree, 1, nic);
        assert!(tree.codes().contains(&rule), "{:?}", tree.codes());
    }
    for method in ["rail", "topoopt", "pooled"] {
        let mut network = plan(method, &[]);
        fail(&mut network, 1, 0);
        assert!(!network.codes().is_empty(), "{method}");
    }
}

/// A plan with failed NICs that is changed in one place.
#[track_caller]
fn broken_with_failures(rule: &str, change: impl FnOnce(&mut Parts)) {
    let mut scenario = presets::scenario("moe-small").unwrap();
    scenario.region.failed_nics = FailedNic::list("s0:0, s1:4, s1:3").unwrap();
    let mut parts = planned(scenario, "mfabric-swap", &[("policy", "window")]);
    assert_eq!(parts.codes(), Vec::<&str>::new());
    change(&mut parts);
    assert!(parts.codes().contains(&rule), "{rule}: {:?}", parts.codes());
}

#[test]
fn plans_around_failed_nics_are_checked_as_strictly() {
    broken_with_failures(code::NIC, |parts| {
        let circuits = &mut parts.result.layers[0].circuits;
        circuits.iter_mut().find(|circuit| circuit.server_a == 0).unwrap().nic_a = 0;
    });
    // Bytes of server 1 leave over NIC 7 alone; routes over NIC 3 or uneven ones are refused.
    for change in [
        (|routes: &mut [crate::plan::RegionRoute]| routes[0].delegate_nic_src = 3) as fn(&mut [_]),
        |routes| {
            routes[0].bytes *= 0.5;
            routes[1].bytes += routes[0].bytes;
        },
    ] {
        broken_with_failures(code::ROUTE, |parts| {
            let layer = parts.result.layers.iter_mut().find(|layer| {
                layer.routes.iter().any(|route| route.path == RoutePath::Eps && route.src_server == 1)
            });
            let routes = &mut layer.unwrap().routes;
            let at = routes.iter().position(|route| route.path == RoutePath::Eps && route.src_server == 1);
            change(&mut routes[at.unwrap()..]);
        });
    }
    broken_with_failures(code::ITERATION, |parts| parts.result.iteration.data_parallel_ms *= 0.5);
    broken_with_failures(code::BOUND, |parts| parts.bound = Some(parts.bound.unwrap() * 1.001));
    // The failure is taken back: gradients are faster, and bytes could use the other NIC.
    broken_with_failures(code::ITERATION, |parts| parts.scenario.region.failed_nics.clear());
}
