use super::*;
use crate::scenario::presets;
use lightbay_core::param::ParamValue;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use serde_json::{Value, json};

fn example() -> CrossconnectScenario {
    presets::scenario("crossconnect-example").unwrap()
}

fn read(value: &Value) -> Result<CrossconnectScenario, Problems> {
    let mut problems = Problems::new();
    let mut fields = Fields::of(value, "", &mut problems).unwrap();
    let scenario = CrossconnectScenario::read(&mut fields, &mut problems);
    fields.finish(&mut problems);
    match scenario {
        Some(scenario) if problems.is_empty() => scenario.validate().map(|()| scenario),
        _ => Err(problems),
    }
}

fn refused(change: impl FnOnce(&mut Value)) -> String {
    let mut value = serde_json::to_value(example()).unwrap();
    change(&mut value);
    read(&value).unwrap_err().to_string()
}

#[test]
fn what_is_written_is_read_back() {
    let mut scenario = presets::scenario("crossconnect-8-4-25").unwrap();
    scenario.set("max_dark_per_pod", None, &ParamValue::Int(3)).unwrap();
    scenario.set("failed_ports", None, &ParamValue::Text("3:0:a0, 2:7:b0".into())).unwrap();
    scenario.set("ports_a", None, &ParamValue::Int(2)).unwrap();
    let value = serde_json::to_value(&scenario).unwrap();
    assert_eq!(read(&value).unwrap(), scenario);
}

#[test]
fn contradictions_are_named() {
    for (change, expected) in [
        (
            json!({"logical_circuits": [[0, 1, 1, 2], [2, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]]}),
            "is 1, but [1][0] is 2",
        ),
        (
            json!({"logical_circuits": [[1, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]]}),
            "no circuit to itself",
        ),
        (
            json!({"logical_circuits": [[0, 3, 1, 2], [3, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]]}),
            "pod 0 needs 6",
        ),
        (json!({"ports_a": [[1, 1], [1, 1], [1], [1, 1]]}), "ports_a[2]: has 1 entries"),
        (json!({"wiring": "single_sided"}), "ports_b: is not all zero"),
        (
            json!({"installed": {"ocs": [{"ocs_id": 0, "cross_connects": []}]}}),
            "check that the state belongs to these switches",
        ),
        (
            json!({"failed_ports": [{"ocs_id": 2, "pod": 0, "side": "a", "port_index": 0}]}),
            "switches are 0 to 1",
        ),
        (
            json!({"pinned": [{"ocs_id": 0, "pod_a": 0, "port_a_index": 0, "pod_b": 2, "port_b_index": 0}]}),
            "is not installed",
        ),
    ] {
        let message = refused(|value| {
            let map = value.as_object_mut().unwrap();
            map.extend(change.as_object().unwrap().clone());
        });
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn installed_circuits_have_to_fit_the_ports() {
    let circuit = |pod_a: u32, port: u32, pod_b: u32| json!({"pod_a": pod_a, "port_a_index": port, "pod_b": pod_b, "port_b_index": 0});
    for (bad, expected) in [
        (circuit(0, 1, 1), "names A port 1 of switch 0; pod 0 has ports 0 to 0 on this switch"),
        (circuit(7, 0, 1), "names pod 7"),
        (circuit(2, 0, 2), "joins pod 2 to itself"),
        (circuit(0, 0, 3), "uses A port 0 of pod 0, which cross_connects[0] already uses"),
    ] {
        let message = refused(|value| {
            let list = value["installed"]["ocs"][0]["cross_connects"].as_array_mut().unwrap();
            list.push(bad.clone());
        });
        assert!(
            message.contains("installed.ocs[0].cross_connects[4]") && message.contains(expected),
            "{message}"
        );
    }
}

#[test]
fn knobs_change_what_they_name() {
    let mut scenario = example();
    let mut set = |name: &str, text: &str| {
        scenario.set(name, None, &ParamValue::Text(text.into())).unwrap();
        scenario.clone()
    };
    assert_eq!(set("circuits", "0-1:0, 2-3:0").logical_circuits[1][0], 0);
    assert_eq!(set("pinned", "0:0.0-1.0").pinned.len(), 1);
    assert_eq!(set("failed_ocs", "1").failed_ports.len(), 8);
    assert_eq!(set("failed_ports", "0:3:b0").failed_ports.len(), 9);
    assert_eq!(set("failed_ocs", "none").failed_ports.len(), 1);
    let single = set("wiring", "single_sided");
    assert_eq!(single.ports_a, vec![vec![2; 2]; 4]);
    // What is installed at B ports goes with them.
    assert!(single.installed_circuits().all(|(_, circuit)| circuit.port_b_index == 1));
    assert_eq!(single.failed_ports, [Port { ocs_id: 0, pod: 3, side: Side::A, port_index: 1 }]);
    assert!(scenario.set("instance_seed", None, &ParamValue::Int(2)).is_err());
    scenario.set("ports_a", Some(2), &ParamValue::Int(7)).unwrap();
    assert_eq!(scenario.ports_a[2], [7, 7]);
}

/// If names are numbers, only names select switches and pods, and the text of every parameter reads back as itself.
#[test]
fn names_that_are_numbers_are_not_mistaken_for_indices() {
    let mut value = serde_json::to_value(example()).unwrap();
    let port = |at: u32| json!({"number": at + 1, "pod": at % 4, "side": if at < 4 { "a" } else { "b" }, "port_index": 0});
    let panel = |name: &str| json!({"name": name, "ports": (0..8).map(port).collect::<Vec<_>>()});
    value["panels"] = json!([panel("1"), panel("2")]);
    value["pod_names"] = json!(["1", "2", "3", "4"]);
    let hall = read(&value).unwrap();
    let set = |name: &str, text: &str| {
        let mut hall = hall.clone();
        hall.set(name, None, &ParamValue::Text(text.into()))
            .map(|()| hall)
            .map_err(|problem| problem.to_string())
    };
    let of_second = set("failed_ocs", "2").unwrap();
    assert!(of_second.failed_ports.iter().all(|port| port.ocs_id == 1));
    assert_ne!(set("failed_ocs", "1").unwrap(), of_second);
    assert!(set("failed_ocs", "0").unwrap_err().contains("give names: 1, 2"));
    let fewer = set("circuits", "1-2:0").unwrap();
    assert_eq!(fewer.logical_circuits[0][1], 0);
    assert!(set("circuits", "0-1:0").unwrap_err().contains("by name"));
    let pinned = set("pinned", "1:2.0-1.0").unwrap();
    assert_eq!((pinned.pinned[0].ocs_id, pinned.pinned[0].circuit.pod_a), (0, 1));
    let failed = set("failed_ports", "2:1:a0").unwrap();
    assert_eq!((failed.failed_ports[0].ocs_id, failed.failed_ports[0].pod), (1, 0));
    for (changed, name) in
        [(of_second, "failed_ocs"), (fewer, "circuits"), (pinned, "pinned"), (failed, "failed_ports")]
    {
        let text = KNOBS.get(&changed, name).unwrap();
        let mut again = hall.clone();
        if name == "circuits" {
            again.set(name, None, &ParamValue::Text("1-2:0".into())).unwrap();
        }
        again.set(name, None, &text).unwrap();
        assert_eq!(again, changed, "{name}={text}");
    }
    // Without panels, names of pods still select the pod.
    let bare = CrossconnectScenario { panels: Vec::new(), ..hall.clone() };
    let mut pin = bare.clone();
    pin.set("pinned", None, &ParamValue::Text("0:2.0-1.0".into())).unwrap();
    assert_eq!(KNOBS.get(&pin, "pinned"), Some(ParamValue::Text("0:2.0-1.0".into())));
    assert_eq!(pin.pinned[0].circuit.pod_a, 1);
}

#[test]
fn another_instance_is_drawn_by_its_seed() {
    let mut scenario = presets::scenario("crossconnect-8-4-25").unwrap();
    let before = scenario.clone();
    scenario.set("instance_seed", None, &ParamValue::Int(2)).unwrap();
    assert_ne!(scenario.installed, before.installed);
    scenario.set("instance_seed", None, &ParamValue::Int(1)).unwrap();
    assert_eq!(scenario, before);
    let more = format!("0-1:{}", scenario.logical_circuits[0][1] + 1);
    scenario.set("circuits", None, &ParamValue::Text(more)).unwrap();
    let by_hand = scenario.clone();
    assert!(
        scenario.set("instance_seed", None, &ParamValue::Int(2)).unwrap_err().to_string().contains("by hand")
    );
    assert_eq!(scenario, by_hand);
}

/// The predicted time and the plan belong to the target circuits that they were made for.
#[test]
fn other_target_circuits_lose_the_prediction_and_the_origin() {
    let mut scenario = example();
    scenario.predicted_makespan_s = Some(0.5);
    let from =
        DerivedFrom { kind: "training".into(), scenario_sha256: String::new(), plan_sha256: String::new() };
    scenario.derived_from = Some(from);
    let same = format!("0-2:{}", scenario.logical_circuits[0][2]);
    scenario.set("circuits", None, &ParamValue::Text(same)).unwrap();
    assert_eq!(scenario.predicted_makespan_s, Some(0.5));
    scenario.set("circuits", None, &ParamValue::Text("0-2:0".into())).unwrap();
    assert_eq!((scenario.predicted_makespan_s, scenario.derived_from), (None, None));
}

/// Pins hold for circuits without sides, whichever end is named first.
#[test]
fn pins_match_circuits_from_either_end() {
    let mut scenario = example();
    scenario.set("wiring", None, &ParamValue::Text("single_sided".into())).unwrap();
    let (ocs_id, circuit) = scenario.installed_circuits().next().unwrap();
    scenario.pinned = vec![Placed { ocs_id, circuit: circuit.turned() }];
    scenario.validate().unwrap();
}

#[test]
fn ports_that_failed_before_their_switch_stay_failed() {
    let mut scenario = example();
    let mut set = |name: &str, text: &str| {
        scenario.set(name, None, &ParamValue::Text(text.into())).unwrap();
        scenario.validate().unwrap();
        scenario.clone()
    };
    let single = set("failed_ports", "0:2:b0").failed_ports;
    assert_eq!(set("failed_ocs", "0").failed_ports.len(), 8);
    assert_eq!(set("failed_ocs", "0,1").failed_ports.len(), 16);
    let back = set("failed_ocs", "none");
    assert_eq!((&back.failed_ports, back.failed_before.len()), (&single, 0));
    set("failed_ocs", "0");
    let value = serde_json::to_value(set("failed_ocs", "0")).unwrap();
    assert_eq!(value["failed_before"].as_array().unwrap().len(), 1);
    let mut again = read(&value).unwrap();
    again.set("failed_ocs", None, &ParamValue::Text("none".into())).unwrap();
    assert_eq!(again.failed_ports, single);
    assert_eq!(set("failed_ports", "none").failed_before.len(), 1, "the switch is still failed");
}
