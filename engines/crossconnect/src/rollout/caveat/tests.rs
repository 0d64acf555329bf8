use super::*;
use crate::model::assignment::Assignment;
use crate::rollout::assemble::{candidate, target};
use crate::scenario::presets;
use lightbay_core::param::ParamValue;

fn changes(scenario: &CrossconnectScenario, target: &Assignment) -> (Changes, BTreeMap<String, f64>) {
    let candidate = candidate(scenario, target);
    (candidate.result.changes().unwrap().clone(), candidate.metrics)
}

/// Two pods whose two circuits change places: they are cut off in one batch, and not in two.
#[test]
fn a_pair_that_a_batch_cuts_off_is_named_with_what_a_gentler_order_costs() {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    // Both circuits of pods 0 and 3 lie the other way round than what is wanted.
    let turned = Assignment::of(
        2,
        [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 0), (1, 0, 3), (1, 1, 2), (1, 2, 0), (1, 3, 1)],
    );
    let (plain, metrics) = changes(&scenario, &turned);
    assert_eq!(target(&scenario, &plain), turned);
    let pairs: BTreeSet<Pair> =
        cut_pairs(&scenario, &plain).into_iter().flat_map(|(_, pairs)| pairs).collect();
    let least = metrics["least_pair_share"];
    assert_eq!(pairs.is_empty(), least > 0.0, "{pairs:?} {least}");
    if let Some(said) = of(&scenario, &plain, &metrics) {
        assert!(said.contains("no circuit while batch 1 of 1"), "{said}");
    }
    scenario.set("min_pair_share", None, &ParamValue::Float(0.5)).unwrap();
    assert_eq!(gentler(&scenario, &plain), None);
}

#[test]
fn circuits_that_are_not_set_are_named() {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    scenario.set("failed_ocs", None, &ParamValue::Text("1".into())).unwrap();
    let ring = Assignment::of(2, [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 0)]);
    let (changes, metrics) = changes(&scenario, &ring);
    assert_eq!((metrics["unmet_circuits"], metrics["lower_bound_unmet_circuits"]), (4.0, 4.0));
    let said = of(&scenario, &changes, &metrics).unwrap();
    assert!(said.starts_with("4 of 8 target circuits cannot be set because 8 ports failed"), "{said}");
    assert!(said.contains("pod 0-pod 2 0 of 1"), "{said}");
}
