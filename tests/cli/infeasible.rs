//! Tests of scenarios without a plan: the exit code is 4, and a sentence names the constraints.

use super::support::Place;
use serde_json::json;

/// Pods 1 and 2 have one A port each, on switch 0. Pod 0 has one B port on switch 0 and one B port on switch 1.
const HALL: &str = r#"{
    "schema": "lightbay.scenario/1", "kind": "crossconnect", "name": "hall", "pods": 3, "ocs_count": 2,
    "wiring": "two_sided", "ports_a": [[1, 0], [1, 0], [1, 0]], "ports_b": [[1, 1], [0, 0], [0, 0]],
    "logical_circuits": [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
}"#;

#[test]
fn a_hall_without_a_plan_names_circuits_and_ports() {
    let place = Place::new();
    place.write("hall.json", HALL);
    for method in ["auto", "lumos-exact"] {
        place.run(&["solve", "hall.json", "--method", method, "-o", "plan.json"]).exit(4).says(&[
            "infeasible: the 2 target circuits cannot be placed on 2 switches",
            "the B ports of pod 0 on switch 0",
            "cannot all hold; add ports of these pods on the same switches, or remove circuits",
        ]);
    }
    assert!(!place.path("plan.json").exists());
}

#[test]
fn a_collective_whose_links_go_down_too_early_names_the_links() {
    let place = Place::new();
    place.run(&["new", "ndv2x2-allgather-1gb", "-o", "all.json"]).exit(0);
    let mut scenario = place.json("all.json");
    for link in scenario["topology"]["links"].as_array_mut().unwrap() {
        let chassis = |end: &str| link[end].as_u64().unwrap() / 8;
        if chassis("from") != chassis("to") {
            link["up_us"] = json!([[0.0, 0.1]]);
        }
    }
    place.write("early.json", scenario.to_string());
    for method in ["auto", "construct"] {
        place.run(&["solve", "early.json", "--method", method]).exit(4).says(&[
            "infeasible: the data of node",
            "because the 'up_us' times of these links do not fit together:",
            "(up until 0.1 us, needed from",
        ]);
    }
}

#[test]
fn epochs_without_a_schedule_are_explained() {
    let place = Place::new();
    // The data of the farthest GPU takes 7 epochs; in 2 epochs no chunk arrives anywhere.
    for epochs in ["epochs=6", "epochs=2"] {
        let run = ["solve", "preset:dgx1-allgather-200kb", "--method", "teccl-milp", "--set", epochs];
        let told = place.run(&[&run[..], &["--set", "fold=false", "--progress", "plain"]].concat()).exit(0);
        told.says(&["the delivery of chunk", "cannot hold", "no schedule of"]);
    }
}

#[test]
fn a_region_without_packet_switches_names_the_parameter() {
    let place = Place::new();
    for (setting, why, remedy) in [
        ("optical_degree=8", "optical_degree=8 leaves no NIC", "lower optical_degree"),
        ("eps_total_gbps=0", "with eps_total_gbps=0, packet switches have no rate", "raise eps_total_gbps"),
    ] {
        for method in ["auto", "mfabric-exact", "static"] {
            place.run(&["solve", "preset:moe-small", "--method", method, "--set", setting]).exit(4).says(&[
                &format!("infeasible: the replicas cannot exchange gradients: {why}"),
                &format!("; {remedy}"),
            ]);
        }
    }
}
