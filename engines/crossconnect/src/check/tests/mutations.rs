//! Every rule: a sound plan passes, a damaged one is found out.

use super::support::Case;
use crate::check::code;
use crate::plan::{Action, CrossconnectResult};
use crate::scenario::{Circuit, Placed, Port, Side, Wiring};
use crate::testing::{self, Sample};
use lightbay_core::checked::BoundTrust;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use proptest::prelude::*;
use serde_json::{Value, json};

fn wirings() -> impl Strategy<Value = Wiring> {
    prop_oneof![Just(Wiring::TwoSided), Just(Wiring::CrossWired), Just(Wiring::SingleSided)]
}

prop_compose! {
    pub(super) fn samples_of_all_sorts()(
        wiring in wirings(),
        pods in 2u32..7,
        ocs_count in 1u32..5,
        most_ports in 1u32..4,
        failed_ports in 0usize..4,
        batches in 1usize..5,
        seed in any::<u64>(),
    ) -> Sample {
        Sample { wiring, pods, ocs_count, most_ports, failed_ports, batches, seed }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sound_plans_pass_and_plans_without_one_entry_do_not(sample in samples_of_all_sorts(), pick in any::<prop::sample::Index>()) {
        let case = Case::of(testing::random(sample));
        case.assert_passes();
        let places: Vec<(usize, usize)> = {
            let mut case = case.clone();
            let ocs = case.changes().ocs.iter().enumerate();
            ocs.flat_map(|(ocs, switch)| (0..switch.cross_connects.len()).map(move |index| (ocs, index))).collect()
        };
        if !places.is_empty() {
            let (ocs, index) = places[pick.index(places.len())];
            let damaged = case.with(|case| {
                case.changes().ocs[ocs].cross_connects.remove(index);
            });
            prop_assert!(!damaged.codes().is_empty());
        }
    }
}

#[test]
fn the_worked_example_passes_with_its_bound() {
    let case = Case::example().with(|case| {
        case.bound = Some(2.0);
        for (name, value) in [
            ("kept_circuits", 6.0),
            ("added_circuits", 2.0),
            ("lower_bound_removed_circuits", 2.0),
            ("batches", 1.0),
            ("max_dark_circuits", 2.0),
            ("max_dark_per_pod", 1.0),
            ("least_pair_share", 1.0),
        ] {
            case.metric(name, value);
        }
    });
    case.assert_passes();
    assert_eq!(case.verdict().bound, BoundTrust::Verified);
    assert_eq!(Case::example().verdict().bound, BoundTrust::None);
}

#[test]
fn bounds_are_verified_up_to_the_count_of_pairs() {
    let bounded = |bound| Case::example().with(|case| case.bound = Some(bound)).verdict();
    assert_eq!(bounded(1.0).bound, BoundTrust::Verified);
    let above = bounded(2.5);
    assert_eq!(above.violations[0].code, code::BOUND);
    let verified = bounded(1.0).verified.unwrap();
    assert_eq!((verified.value, verified.gap, verified.covers), (2.0, 0.0, None));
}

#[test]
fn metrics_have_to_repeat_the_result() {
    for name in ["kept_circuits", "added_circuits", "batches", "max_dark_circuits", "max_dark_per_pod"] {
        Case::example().with(|case| case.metric(name, 77.0)).assert_codes(&[code::METRICS]);
    }
    // No port failed, so nothing was forced.
    Case::example().with(|case| case.metric("forced_removed_circuits", 0.0)).assert_codes(&[code::METRICS]);
    Case::example().with(|case| case.metric("other", f64::NAN)).assert_codes(&[code::SCHEMA]);
    Case::example().with(|case| case.value = f64::INFINITY).assert_codes(&[code::SCHEMA]);
    Case::example().with(|case| case.value = 1.0).assert_codes(&[code::REMOVED]);
}

#[test]
fn switches_are_listed_in_order() {
    let case = Case::example();
    case.with(|case| case.changes().ocs.swap(0, 1)).assert_codes(&[code::SWITCHES]);
    case.with(|case| case.changes().ocs.truncate(1)).assert_codes(&[code::SWITCHES]);
    case.with(|case| case.changes().ocs[1].ocs_id = 2).assert_codes(&[code::SWITCHES]);
    case.with(|case| case.changes().ocs[0].cross_connects.swap(0, 1)).assert_codes(&[code::SORTED]);
}

#[test]
fn ports_exist_and_hold_one_circuit() {
    let case = Case::example();
    case.with(|case| case.entry(0, 0).port_a_index = 1).assert_codes(&[code::PORT]);
    case.with(|case| case.entry(0, 0).pod_b = 4).assert_codes(&[code::PORT]);
    case.with(|case| case.entry(0, 0).pod_b = u32::MAX).assert_codes(&[code::PORT]);
    case.with(|case| case.entry(0, 0).switch_port_a = 2).assert_codes(&[code::PANEL]);
    case.with(|case| case.entry(0, 3).switch_port_b = 0).assert_codes(&[code::PANEL]);
    case.with(|case| {
        case.entry(0, 0).pod_b = 0;
        case.entry(0, 0).switch_port_b = 1;
    })
    .assert_codes(&[code::PORT, code::BUSY]);
    // 0->2 instead of 0->1: the B port of pod 2 is that of 1->2.
    let doubled = case.with(|case| {
        case.entry(0, 0).pod_b = 2;
        case.entry(0, 0).switch_port_b = 3;
    });
    doubled.assert_codes(&[code::BUSY, code::INSTALLED, code::DEMAND, code::TOTALS]);
}

#[test]
fn old_and_new_state_are_those_of_the_scenario() {
    let case = Case::example();
    case.with(|case| {
        case.changes().ocs[0].cross_connects.remove(0);
    })
    .assert_codes(&[code::INSTALLED, code::DEMAND, code::TOTALS]);
    // More is wanted than the plan brings.
    case.with(|case| {
        case.scenario.logical_circuits[0][3] = 3;
        case.scenario.logical_circuits[3][0] = 3;
    })
    .assert_codes(&[code::DEMAND]);
    // Another circuit was installed.
    case.with(|case| case.scenario.installed.ocs[0].cross_connects.swap_remove(0).pod_a = 9)
        .assert_codes(&[code::INSTALLED]);
    // What is to be kept is called an addition.
    let (ocs, index) = case.clone().first(Action::Keep);
    let mut renamed = case.with(|case| case.entry(ocs, index).action = Action::Add);
    assert!(renamed.codes().contains(code::INSTALLED));
    assert!(renamed.codes().contains(code::BATCHES));
    renamed.changes().batches.clear();
    assert!(renamed.codes().contains(code::BATCHES));
}

#[test]
fn sums_are_those_of_the_entries() {
    let case = Case::example();
    let sums: [fn(&mut crate::plan::Totals); 6] = [
        |totals| totals.kept_circuits += 1,
        |totals| totals.added_circuits = 0,
        |totals| totals.removed_circuits = 3,
        |totals| totals.lower_bound_removed_circuits = 1,
        |totals| totals.forced_removed_circuits = Some(0),
        |totals| totals.removed_circuits = u64::MAX,
    ];
    for change in sums {
        case.with(|case| change(&mut case.changes().totals)).assert_codes(&[code::TOTALS]);
    }
}

#[test]
fn failed_ports_force_removals_and_bear_nothing_else() {
    // 0->1 on switch 0 loses its port; a second circuit 0->1 is put nowhere, so one less is wanted.
    let mut case = Case::example();
    case.scenario.failed_ports.push(Port { ocs_id: 0, pod: 0, side: Side::A, port_index: 0 });
    case.assert_codes(&[code::FAILED, code::TOTALS]);
    let lost = case.with(|case| {
        case.scenario.logical_circuits[0][1] = 0;
        case.scenario.logical_circuits[1][0] = 0;
        case.entry(0, 0).action = Action::Remove;
        let batch = &mut case.changes().batches[0];
        batch.changes.insert(0, crate::plan::EntryRef { ocs_id: 0, entry: 0 });
        let totals = &mut case.changes().totals;
        totals.kept_circuits = 5;
        totals.forced_removed_circuits = Some(1);
    });
    lost.with(|case| case.metric("forced_removed_circuits", 1.0)).assert_passes();
    lost.with(|case| case.changes().totals.forced_removed_circuits = None).assert_codes(&[code::TOTALS]);
    lost.with(|case| case.changes().totals.forced_removed_circuits = Some(2)).assert_codes(&[code::TOTALS]);
    lost.with(|case| case.value = 3.0).assert_codes(&[code::REMOVED]);
    lost.with(|case| case.entry(0, 0).action = Action::Keep).assert_codes(&[
        code::FAILED,
        code::DEMAND,
        code::TOTALS,
        code::BATCHES,
    ]);
}

#[test]
fn pinned_circuits_stay() {
    let mut case = Case::example();
    let pin = |pod_a, pod_b| Placed {
        ocs_id: 1,
        circuit: Circuit { pod_a, port_a_index: 0, pod_b, port_b_index: 0 },
    };
    case.scenario.pinned.push(pin(0, 2));
    case.assert_passes();
    case.scenario.pinned.push(pin(2, 0));
    case.assert_codes(&[code::PINNED]);
}

#[test]
fn nothing_is_taken_down_to_be_set_up_again() {
    // Two ports for each pod on one switch: 0->1 moves from port 0 to port 1, which serves nobody.
    let mut scenario = Case::example().scenario;
    scenario.pods = 2;
    scenario.ocs_count = 1;
    scenario.ports_a = vec![vec![2]; 2];
    scenario.ports_b = vec![vec![2]; 2];
    scenario.logical_circuits = vec![vec![0, 1], vec![1, 0]];
    scenario.installed.ocs.truncate(1);
    scenario.installed.ocs[0].cross_connects.truncate(1);
    let moved = Circuit { pod_a: 0, port_a_index: 1, pod_b: 1, port_b_index: 1 };
    let stream = &mut lightbay_core::random::Streams::new(1).stream(0);
    let changes = testing::changes(&scenario, &[vec![moved]], 1, stream);
    let mut case = Case::of((scenario, changes));
    case.assert_codes(&[code::CHURN]);
    // A failed port is a reason.
    case.scenario.failed_ports.push(Port { ocs_id: 0, pod: 0, side: Side::A, port_index: 0 });
    let totals = testing::totals(&case.scenario.clone(), case.changes());
    case.changes().totals = totals;
    let scenario = case.scenario.clone();
    testing::recount_dark(&scenario, case.changes());
    case.value = 0.0;
    case.assert_passes();
}

#[test]
fn circuits_of_single_sided_switches_have_no_direction() {
    let sample = Sample {
        wiring: Wiring::SingleSided,
        pods: 5,
        ocs_count: 2,
        most_ports: 3,
        failed_ports: 0,
        batches: 1,
        seed: 4,
    };
    let mut case = Case::of(testing::random(sample));
    for circuit in case.scenario.installed.ocs.iter_mut().flat_map(|ocs| &mut ocs.cross_connects) {
        let Circuit { pod_a, port_a_index, pod_b, port_b_index } = *circuit;
        *circuit =
            Circuit { pod_a: pod_b, port_a_index: port_b_index, pod_b: pod_a, port_b_index: port_a_index };
    }
    case.assert_passes();
}

/// The result as a file has it, read back.
pub(super) fn read(value: &Value) -> Result<CrossconnectResult, Problems> {
    let mut problems = Problems::new();
    let mut fields = Fields::of(value, "result", &mut problems).unwrap();
    let result = CrossconnectResult::read(&mut fields, &mut problems);
    fields.finish(&mut problems);
    if problems.is_empty() { Ok(result.unwrap()) } else { Err(problems) }
}

#[test]
fn indices_are_written_as_integers_and_keys_are_known() {
    let value = serde_json::to_value(Case::example().result).unwrap();
    assert_eq!(read(&value).unwrap(), Case::example().result);
    let changed = |pointer: &str, new: Value| {
        let mut value = value.clone();
        *value.pointer_mut(pointer).unwrap() = new;
        read(&value).unwrap_err().to_string()
    };
    for bad in [json!(1.0), json!(true), json!("1"), json!(-1), json!(1_u64 << 40)] {
        for key in ["pod_a", "port_a_index", "switch_port_a", "pod_b", "port_b_index", "switch_port_b"] {
            let message = changed(&format!("/ocs/0/cross_connects/0/{key}"), bad.clone());
            assert!(message.contains(&format!("result.ocs[0].cross_connects[0].{key}")), "{message}");
        }
    }
    assert!(changed("/totals/removed_circuits", json!(2.0)).contains("totals.removed_circuits"));
    assert!(changed("/batches/0/dark_circuits", json!(false)).contains("dark_circuits"));
    for pointer in ["", "/ocs/0", "/ocs/0/cross_connects/0", "/totals", "/batches/0", "/batches/0/changes/0"]
    {
        let mut value = value.clone();
        value.pointer_mut(pointer).unwrap().as_object_mut().unwrap().insert("colour".into(), json!("red"));
        let message = read(&value).unwrap_err().to_string();
        assert!(message.contains("colour: is not a known key"), "{pointer}: {message}");
    }
}
