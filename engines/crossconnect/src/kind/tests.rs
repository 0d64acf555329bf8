use super::*;
use crate::model::assignment::Assignment;
use crate::scenario::presets;
use lightbay_core::metric::Figures;
use lightbay_core::param::ParamValue;

fn example() -> (CrossconnectScenario, CrossconnectResult) {
    let scenario = presets::scenario("crossconnect-example").unwrap();
    let ring = [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 0)];
    let pairs = [(1, 0, 2), (1, 1, 3), (1, 2, 1), (1, 3, 0)];
    let target = Assignment::of(2, ring.into_iter().chain(pairs));
    let result = assemble::candidate(&scenario, &target).result;
    (scenario, result)
}

#[test]
fn the_circuits_of_a_plan_are_those_that_are_wanted() {
    let (scenario, result) = example();
    let matrix = circuits(&scenario, result.changes().unwrap());
    assert_eq!(matrix.circuits, [(0, 1, 1), (0, 2, 1), (0, 3, 2), (1, 2, 2), (1, 3, 1), (2, 3, 1)]);
    assert_eq!((matrix.ports_per_pod, matrix.pods[3].as_str()), (vec![4; 4], "pod 3"));
}

#[test]
fn where_nothing_is_installed_the_header_counts_the_circuits_that_are_set_up() {
    let shown = |kept: f64| {
        let metrics = [("kept_circuits", kept), ("added_circuits", 4.0)];
        let metrics = metrics.map(|(name, value)| (name.to_owned(), value)).into();
        let figures = Figures { value: 0.0, bound: Some(0.0), metrics: &metrics };
        ["set_up_circuits", "installed_circuits"].map(|name| {
            metrics::METRICS.iter().find(|info| info.name == name).and_then(|info| info.of(&figures))
        })
    };
    assert_eq!(shown(0.0), [Some(4.0), None]);
    assert_eq!(shown(12.0), [None, Some(12.0)]);
}

#[test]
fn a_plan_fits_a_scenario_that_only_asks_for_a_gentler_change() {
    let (scenario, result) = example();
    let mut gentle = scenario.clone();
    gentle.rollout.max_dark_per_pod = 1;
    let carried = carry(&result, &scenario, &gentle).unwrap();
    assert_eq!((carried.candidate.value, carried.repairs.len()), (2.0, 0));
    assert_eq!(carried.candidate.metrics["dark_limit_kept"], 1.0);
}

#[test]
fn a_plan_for_other_pods_does_not_fit() {
    let (scenario, result) = example();
    let other = presets::scenario("crossconnect-8-8-25").unwrap();
    assert!(carry(&result, &scenario, &other).unwrap_err().contains("for 4 pods, but the scenario has 8"));
}

#[test]
fn a_plan_is_repaired_for_other_circuits_and_failed_ports() {
    let (scenario, result) = example();
    let set = |knob: &str, text: &str| {
        let mut changed = scenario.clone();
        changed.set(knob, None, &ParamValue::Text(text.into())).unwrap();
        changed
    };
    // One circuit fewer between pods 1 and 2, which may have been on either switch.
    let fewer = set("circuits", "1-2:1");
    let carried = carry(&result, &scenario, &fewer).unwrap();
    assert_eq!(carried.repairs.len(), 1, "{:?}", carried.repairs);
    let target = assemble::target(&fewer, carried.candidate.result.changes().unwrap());
    assert_eq!(target.circuits(), 7);
    assert_eq!(Task::of(&fewer).misfit(&target), None);
    // Without a port of pod 0 it cannot have all its circuits.
    let mut failed = fewer;
    failed.set("circuits", None, &ParamValue::Text("0-3:1".into())).unwrap();
    failed.set("failed_ports", None, &ParamValue::Text("1:0:a0".into())).unwrap();
    let carried = carry(&result, &scenario, &failed).unwrap();
    assert_eq!(carried.candidate.metrics["forced_removed_circuits"], 1.0);
    let single = set("wiring", "single_sided");
    assert!(carry(&result, &scenario, &single).is_ok(), "two sides are a special case of none");
}
