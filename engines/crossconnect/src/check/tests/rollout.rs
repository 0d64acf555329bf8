//! Batches and limits of a rollout.

use super::support::Case;
use crate::check::code;
use crate::plan::{Action, Batch, EntryRef};
use crate::scenario::{Rollout, Wiring};
use crate::testing::{self, Sample};

#[test]
fn every_change_is_in_one_batch() {
    let case = Case::example();
    let refs = case.clone().changes().batches[0].changes.clone();
    assert_eq!(refs.len(), 4);
    case.with(|case| {
        case.changes().batches[0].changes.pop();
    })
    .assert_codes(&[code::BATCHES]);
    case.with(|case| case.changes().batches.clear()).assert_codes(&[code::BATCHES]);
    case.with(|case| case.changes().batches.push(Batch { changes: vec![refs[0]], dark_circuits: 0 }))
        .assert_codes(&[code::BATCHES]);
    case.with(|case| case.changes().batches.push(Batch { changes: Vec::new(), dark_circuits: 0 }))
        .assert_codes(&[code::BATCHES]);
    for other in
        [EntryRef { ocs_id: 0, entry: 0 }, EntryRef { ocs_id: 0, entry: 9 }, EntryRef { ocs_id: 9, entry: 0 }]
    {
        case.with(|case| case.changes().batches[0].changes.push(other)).assert_codes(&[code::BATCHES]);
    }
}

#[test]
fn removals_come_first_and_ports_are_free_by_then() {
    let case = Case::example();
    case.with(|case| case.changes().batches[0].changes.reverse()).assert_codes(&[code::BATCH_ORDER]);
    // Additions before the batch that frees their ports, so that nothing would be dark if that could be done.
    let hasty = case.with(|case| {
        let changes = case.changes();
        let mut refs = changes.batches[0].changes.clone();
        let removals = refs.drain(..2).collect();
        changes.batches =
            vec![Batch { changes: refs, dark_circuits: 0 }, Batch { changes: removals, dark_circuits: 0 }];
    });
    hasty.assert_codes(&[code::LIVE_PORT]);
    let patient = hasty.with(|case| {
        case.changes().batches.reverse();
        for batch in &mut case.changes().batches {
            batch.dark_circuits = 2;
        }
    });
    patient.assert_passes();
}

#[test]
fn missing_circuits_are_counted_exactly() {
    let case = Case::example();
    case.with(|case| case.changes().batches[0].dark_circuits = 1).assert_codes(&[code::DARK]);
    // A circuit between two pods moves to another switch, so it is missed until it is up again.
    let sample = Sample {
        wiring: Wiring::TwoSided,
        pods: 5,
        ocs_count: 3,
        most_ports: 2,
        failed_ports: 0,
        batches: 3,
        seed: 11,
    };
    let mut case = Case::of(testing::random(sample));
    case.assert_passes();
    let dark: Vec<u64> = case.changes().batches.iter().map(|batch| batch.dark_circuits).collect();
    assert!(dark.len() == 3 && dark.iter().any(|&count| count > 0), "{dark:?}");
    for batch in 0..3 {
        case.with(|case| case.changes().batches[batch].dark_circuits += 1).assert_codes(&[code::DARK]);
    }
}

#[test]
fn limits_are_kept_or_the_plan_says_so() {
    const PODS: &str = "dark_limit_kept";
    const PAIRS: &str = "pair_share_kept";
    let mut case = Case::example();
    // Every pod loses and gains one circuit in the only batch.
    case.scenario.rollout.max_dark_per_pod = 1;
    case.assert_passes();
    case.with(|case| case.metric(PODS, 1.0)).assert_passes();
    case.with(|case| case.metric(PODS, 0.0)).assert_codes(&[code::ROLLOUT]);
    // Pods 0 and 2 keep one of two circuits, which is all that the new topology gives them.
    case.scenario.rollout.min_pair_share = 1.0;
    case.assert_passes();

    let mut strict = Case::of(two_pods_lose_all_for_a_while());
    strict.with(|case| case.metric("least_pair_share", 0.0)).assert_passes();
    strict.with(|case| case.metric("least_pair_share", 0.1)).assert_codes(&[code::METRICS]);
    for (most, share, name) in [(1, 0.0, PODS), (0, 0.5, PAIRS)] {
        strict.scenario.rollout = Rollout { max_dark_per_pod: most, min_pair_share: share };
        strict.with(|case| case.metric(name, 1.0)).assert_codes(&[code::ROLLOUT]);
        let said = strict.verdict().remarks;
        assert!(said.iter().any(|remark| remark.contains("exceed a limit of the rollout")), "{said:?}");
        strict.with(|case| case.metric(name, 0.0)).assert_passes();
    }
    strict.scenario.rollout = Rollout { max_dark_per_pod: 2, min_pair_share: 0.0 };
    strict.assert_passes();
    assert!(strict.verdict().remarks.iter().all(|remark| !remark.contains("rollout")));
}

#[test]
fn what_is_missing_stays_missing_until_it_is_set_up() {
    let (scenario, mut changes) = two_pods_lose_all_for_a_while();
    // Both removals first, then one addition after the other.
    let refs = std::mem::take(&mut changes.batches[0].changes);
    let parts = [&refs[..2], &refs[2..3], &refs[3..]];
    changes.batches =
        parts.map(|part| Batch { changes: part.to_vec(), dark_circuits: 0 }).into_iter().collect();
    testing::recount_dark(&scenario, &mut changes);
    let dark: Vec<u64> = changes.batches.iter().map(|batch| batch.dark_circuits).collect();
    assert_eq!(dark, [2, 2, 1]);
    let mut case = Case::of((scenario, changes));
    case.with(|case| case.metric("max_dark_circuits", 2.0)).assert_passes();
    case.changes().batches[2].dark_circuits = 0;
    case.assert_codes(&[code::DARK]);
}

/// Two pods, two switches: both circuits turn round in one batch.
fn two_pods_lose_all_for_a_while() -> (crate::scenario::CrossconnectScenario, crate::plan::Changes) {
    let mut scenario = Case::example().scenario;
    scenario.pods = 2;
    scenario.ports_a = vec![vec![1; 2]; 2];
    scenario.ports_b = vec![vec![1; 2]; 2];
    scenario.logical_circuits = vec![vec![0, 2], vec![2, 0]];
    for ocs in &mut scenario.installed.ocs {
        ocs.cross_connects.truncate(1);
        ocs.cross_connects[0].pod_b = 1;
    }
    let mut turned = scenario.installed.ocs[0].cross_connects.clone();
    (turned[0].pod_a, turned[0].pod_b) = (1, 0);
    let stream = &mut lightbay_core::random::Streams::new(1).stream(0);
    let changes = testing::changes(&scenario, &[turned.clone(), turned], 1, stream);
    assert_eq!(changes.batches[0].dark_circuits, 2);
    assert!(changes.ocs[0].cross_connects.iter().all(|entry| entry.action != Action::Keep));
    (scenario, changes)
}
