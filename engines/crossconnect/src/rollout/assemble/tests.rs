use super::*;
use crate::scenario::presets;
use lightbay_core::param::ParamValue;

fn example() -> (CrossconnectScenario, Assignment) {
    let scenario = presets::scenario("crossconnect-example").unwrap();
    let ring = [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 0)];
    let pairs = [(1, 0, 2), (1, 1, 3), (1, 2, 1), (1, 3, 0)];
    (scenario, Assignment::of(2, ring.into_iter().chain(pairs)))
}

#[test]
fn the_worked_example_has_the_known_totals() {
    let (scenario, assignment) = example();
    let candidate = candidate(&scenario, &assignment);
    let changes = candidate.result.changes().unwrap();
    let totals = Totals {
        kept_circuits: 6,
        added_circuits: 2,
        removed_circuits: 2,
        lower_bound_removed_circuits: 2,
        forced_removed_circuits: None,
        unmet_circuits: None,
        lower_bound_unmet_circuits: None,
    };
    assert_eq!((candidate.value, changes.totals), (2.0, totals));
    assert_eq!(changes.batches.len(), 1);
    assert_eq!(target(&scenario, changes), assignment);
    assert_eq!(limits_note(&candidate.metrics), None);
}

#[test]
fn forced_removals_are_counted_apart() {
    let (mut scenario, assignment) = example();
    scenario.ports_b = vec![vec![2; 2]; 4];
    scenario.set("failed_ports", None, &ParamValue::Text("0:1:b0".into())).unwrap();
    let totals = candidate(&scenario, &assignment).result.changes().unwrap().totals;
    assert_eq!((totals.forced_removed_circuits, totals.removed_circuits), (Some(1), 2));
    assert_eq!((totals.kept_circuits, totals.added_circuits), (5, 3));
}

#[test]
fn pairs_of_pods_with_too_few_circuits_for_an_order_are_counted() {
    let (mut scenario, _) = example();
    scenario.set("circuits", None, &ParamValue::Text("0-1:0".into())).unwrap();
    let phases = PhaseOrder {
        rule: crate::plan::PhaseRule::Corrected,
        gpus_per_pod: 4,
        phases: Vec::new(),
        max_flows_per_pod_pair: 1,
        contended_phases: 0,
    };
    assert_eq!(order(&scenario, phases).metrics["pod_pairs_short_of_circuits"], 1.0);
}

#[test]
fn limits_that_no_order_keeps_are_named() {
    let (mut scenario, assignment) = example();
    scenario.rollout = Rollout { max_dark_per_pod: 1, min_pair_share: 0.0 };
    let gentle = candidate(&scenario, &assignment);
    assert_eq!((gentle.metrics["dark_limit_kept"], limits_note(&gentle.metrics)), (1.0, None));
    // The ring of switch 0 turns round on busy ports: every pair of it goes dark.
    let ring = [(0, 1, 0), (0, 2, 1), (0, 3, 2), (0, 0, 3)];
    let pairs = [(1, 0, 2), (1, 1, 3), (1, 2, 0), (1, 3, 1)];
    let turned = Assignment::of(2, ring.into_iter().chain(pairs));
    scenario.rollout = Rollout { max_dark_per_pod: 0, min_pair_share: 1.0 };
    let rough = candidate(&scenario, &turned);
    assert_eq!((rough.metrics["pair_share_kept"], rough.metrics["least_pair_share"]), (0.0, 0.0));
    assert!(limits_note(&rough.metrics).unwrap().contains("keeps 0 %"));
}

/// The prediction is for all target circuits.
#[test]
fn the_predicted_time_goes_with_missing_circuits() {
    let (mut scenario, assignment) = example();
    scenario.predicted_makespan_s = Some(0.5);
    let metrics = |scenario: &CrossconnectScenario| candidate(scenario, &assignment).metrics;
    assert_eq!(metrics(&scenario).get("predicted_makespan_s"), Some(&0.5));
    scenario.set("failed_ocs", None, &ParamValue::Text("0".into())).unwrap();
    let short = metrics(&scenario);
    assert!(short["unmet_circuits"] > 0.0 && !short.contains_key("predicted_makespan_s"), "{short:?}");
}
