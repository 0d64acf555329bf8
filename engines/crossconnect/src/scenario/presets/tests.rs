use super::*;
use crate::plan::CrossconnectResult;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use serde_json::json;

#[test]
fn all_presets_are_valid() {
    for preset in PRESETS {
        let scenario = scenario(preset.name).unwrap();
        scenario.validate().unwrap_or_else(|problems| panic!("{}: {problems}", preset.name));
    }
}

#[test]
fn a_random_instance_keeps_all_degrees_and_fills_all_ports() {
    let instance = scenario("crossconnect-16-16-25").unwrap();
    assert!((0..16).all(|pod| instance.degree(pod) == 32));
    assert_eq!(instance.wanted_circuits(), 256);
    assert_eq!(instance.installed_circuits().count(), 256);
}

#[test]
fn another_seed_is_another_instance_and_the_same_seed_the_same() {
    let of = |seed| random(8, 4, Family { changed_percent: 25, instance_seed: seed });
    assert_eq!(of(3), of(3));
    assert_ne!(of(3).logical_circuits, of(4).logical_circuits);
}

#[test]
fn names_outside_the_family_are_no_presets() {
    for name in [
        "crossconnect-1-4-25",
        "crossconnect-4-4",
        "crossconnect-4-4-101",
        "crossconnect-4-4-5-5",
        "crossconnect-x",
    ] {
        assert_eq!(scenario(name), None, "{name}");
    }
}

#[test]
fn a_result_with_a_float_index_is_refused() {
    let value = json!({
        "ocs": [{"ocs_id": 0.0, "cross_connects": []}],
        "totals": {"kept_circuits": 0, "added_circuits": 0, "removed_circuits": true, "lower_bound_removed_circuits": 0}
    });
    let mut problems = Problems::new();
    let mut fields = Fields::of(&value, "result", &mut problems).unwrap();
    assert_eq!(CrossconnectResult::read(&mut fields, &mut problems), None);
    assert_eq!(problems.total(), 2, "{problems}");
}
