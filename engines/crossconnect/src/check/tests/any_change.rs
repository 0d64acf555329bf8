//! Whatever single number or word of a sound result is changed: it is found out, and nothing panics.

use super::mutations::{read, samples_of_all_sorts};
use super::support::Case;
use crate::plan::{CrossconnectResult, PhaseRule};
use crate::rollout::phases;
use crate::testing;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Pointers to all numbers and words.
fn leaves(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                leaves(inner, &format!("{pointer}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                leaves(inner, &format!("{pointer}/{index}"), found);
            }
        }
        _ => found.push(pointer.to_owned()),
    }
}

/// Changes one leaf, and says whether that is found out.
fn found_out(case: &Case, pick: prop::sample::Index, by: i64) -> bool {
    let mut value = serde_json::to_value(&case.result).unwrap();
    let mut all = Vec::new();
    leaves(&value, "", &mut all);
    if all.is_empty() {
        return true;
    }
    let leaf = value.pointer_mut(&all[pick.index(all.len())]).unwrap();
    *leaf = if let Some(number) = leaf.as_i64() {
        json!(number.saturating_add(by))
    } else {
        let words = ["keep", "add", "remove", "printed", "corrected"];
        let others: Vec<&str> = words.into_iter().filter(|word| leaf.as_str() != Some(word)).collect();
        json!(others[by.unsigned_abs() as usize % others.len()])
    };
    match read(&value) {
        Err(_) => true,
        Ok(result) => !case.with(|case| case.result = result).codes().is_empty(),
    }
}

prop_compose! {
    fn changes()(by in prop_oneof![-3i64..4, any::<i64>()].prop_filter("no change", |by| *by != 0)) -> i64 { by }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_changes(sample in samples_of_all_sorts(), pick in any::<prop::sample::Index>(), by in changes()) {
        let case = Case::of(testing::random(sample));
        prop_assert!(found_out(&case, pick, by));
    }

    #[test]
    fn of_orders(
        pods in 1u32..5,
        gpus in 1u32..5,
        corrected in any::<bool>(),
        pick in any::<prop::sample::Index>(),
        by in changes(),
    ) {
        let rule = if corrected { PhaseRule::Corrected } else { PhaseRule::Printed };
        let mut order = phases::empty(rule, gpus);
        let mut counter = phases::Counter::new(pods, gpus);
        for t in 1..=pods * gpus {
            let phase = phases::phase(rule, pods, gpus, t);
            let (flows, contended) = counter.count(&phase);
            order.max_flows_per_pod_pair = order.max_flows_per_pod_pair.max(flows);
            order.contended_phases += u32::from(contended);
            order.phases.push(phase);
        }
        let mut case = Case::example();
        case.scenario.pods = pods;
        case.result = CrossconnectResult::Order(order);
        case.value = 0.0;
        case.assert_passes();
        // With one GPU both rules say the same.
        prop_assume!(pods * gpus > 1);
        prop_assert!(found_out(&case, pick, by));
    }
}
