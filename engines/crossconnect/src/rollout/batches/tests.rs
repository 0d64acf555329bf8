use super::*;
use crate::model::assignment::Assignment;
use crate::plan::EntryRef;
use crate::rollout::ports::{assign, tests::pair_of_states};
use crate::scenario::presets;
use crate::scenario::{Circuit, Rollout, Side};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Counts again by walking through the batches: (dark circuits of each batch, most that a pod misses, least share).
/// Fails if a busy port is used or a change is missing.
fn walked(scenario: &CrossconnectScenario, wired: &Wired, schedule: &Schedule) -> (Vec<u64>, i64, f64) {
    let entry = |at: &EntryRef| &wired.ocs[at.ocs_id as usize].cross_connects[at.entry as usize];
    let mut seen = BTreeSet::new();
    let mut busy = BTreeSet::new();
    let (mut old, mut new) = (BTreeMap::<_, i64>::new(), BTreeMap::<_, i64>::new());
    let ends = |ocs: u32, e: &Entry| [(ocs, Side::A, e.switch_port_a), (ocs, Side::B, e.switch_port_b)];
    for (at, e) in entries(wired) {
        if e.action != Action::Add {
            busy.extend(ends(at.ocs_id, e));
            *old.entry(pair(e)).or_default() += 1;
        }
        *new.entry(pair(e)).or_default() += i64::from(e.action != Action::Remove);
    }
    let mut live = old.clone();
    let pods = scenario.pods;
    let of_pod = |counts: &BTreeMap<(u32, u32), i64>, pod: u32| -> i64 {
        counts.iter().filter(|((a, b), _)| *a == pod || *b == pod).map(|(_, count)| count).sum()
    };
    let (mut dark, mut worst, mut share) = (Vec::new(), 0, 1.0f64);
    for batch in &schedule.batches {
        assert!(!batch.changes.is_empty());
        let removals = batch.changes.iter().filter(|at| entry(at).action == Action::Remove);
        for at in removals.clone() {
            assert!(seen.insert(*at));
            for end in ends(at.ocs_id, entry(at)) {
                assert!(busy.remove(&end));
            }
            *live.get_mut(&pair(entry(at))).unwrap() -= 1;
        }
        let total = |counts: &BTreeMap<(u32, u32), i64>| counts.values().sum::<i64>();
        dark.push((total(&old).min(total(&new)) - total(&live)).max(0) as u64);
        for (pods, &count) in &new {
            let due = count.min(old.get(pods).copied().unwrap_or_default());
            let now = live.get(pods).copied().unwrap_or_default();
            if due > 0 {
                share = share.min(now.min(due) as f64 / due as f64);
            }
        }
        for pod in 0..pods {
            worst = worst.max(of_pod(&old, pod).min(of_pod(&new, pod)) - of_pod(&live, pod));
        }
        for at in batch.changes.iter().filter(|at| entry(at).action == Action::Add) {
            assert!(seen.insert(*at));
            for end in ends(at.ocs_id, entry(at)) {
                assert!(busy.insert(end), "a busy port is used");
            }
            *live.entry(pair(entry(at))).or_default() += 1;
        }
    }
    assert_eq!(seen.len(), entries(wired).filter(|(_, e)| is_change(e)).count());
    (dark, worst, share)
}

fn check(scenario: &CrossconnectScenario, target: &Assignment) -> Schedule {
    let wired = assign(scenario, target);
    let schedule = schedule(scenario, &wired);
    let (dark, worst, share) = walked(scenario, &wired, &schedule);
    assert_eq!(schedule.batches.iter().map(|batch| batch.dark_circuits).collect::<Vec<_>>(), dark);
    assert_eq!(schedule.max_dark_circuits, dark.into_iter().max().unwrap_or_default());
    assert_eq!(schedule.max_dark_per_pod as i64, worst);
    assert_eq!(schedule.least_pair_share, share);
    schedule
}

#[test]
fn with_a_limit_that_is_never_reached_there_is_one_batch_and_without_changes_none() {
    let (mut scenario, target) = pair_of_states(6, 3, 2, 1);
    scenario.rollout.max_dark_per_pod = 4096;
    assert_eq!(check(&scenario, &target).batches.len(), 1);
    assert_eq!(check(&scenario, &Assignment::installed(&scenario)).batches, []);
}

/// Both circuits of two pairs turn round. At once, the pairs would have none; one by one, each keeps one.
#[test]
fn a_change_that_would_cut_pairs_off_is_split_without_limits() {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    let circuit = |(pod_a, pod_b)| Circuit { pod_a, port_a_index: 0, pod_b, port_b_index: 0 };
    for ocs in &mut scenario.installed.ocs {
        ocs.cross_connects = [(0, 1), (2, 3)].map(circuit).to_vec();
    }
    let target = Assignment::of(2, [(0, 1, 0), (0, 3, 2), (1, 1, 0), (1, 3, 2)]);
    let split = check(&scenario, &target);
    assert_eq!((split.batches.len(), split.least_pair_share, split.max_dark_per_pod), (2, 0.5, 1));
    scenario.rollout.max_dark_per_pod = 4096;
    let whole = check(&scenario, &target);
    assert_eq!((whole.batches.len(), whole.least_pair_share), (1, 0.0));
    // A single circuit that moves to free ports is set up first.
    scenario.rollout = Rollout::default();
    scenario.installed.ocs[1].cross_connects.clear();
    let single = check(&scenario, &Assignment::of(2, [(0, 1, 0), (0, 3, 2)]));
    assert_eq!((single.batches.len(), single.least_pair_share), (2, 1.0));
    // Two switches exchange what they carry: no order spares the pairs, but no pod has to lose more than half.
    for (ocs, circuits) in [[(0, 1), (2, 3)], [(0, 3), (2, 1)]].into_iter().enumerate() {
        scenario.installed.ocs[ocs].cross_connects = circuits.map(circuit).to_vec();
    }
    let exchanged = check(&scenario, &Assignment::of(2, [(1, 0, 1), (1, 2, 3), (0, 0, 3), (0, 2, 1)]));
    assert_eq!(
        (exchanged.batches.len(), exchanged.max_dark_per_pod, exchanged.least_pair_share),
        (2, 1, 0.0)
    );
}

#[test]
fn a_ring_of_changes_is_cut_when_a_pod_may_miss_little() {
    // All circuits of one switch turn round: a ring of four removals and four additions.
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    let ring = [(0, 0, 2), (0, 2, 1), (0, 1, 3), (0, 3, 0)];
    let pairs = [(1, 0, 2), (1, 1, 3), (1, 2, 0), (1, 3, 1)];
    let target = Assignment::of(2, ring.into_iter().chain(pairs));
    let free = check(&scenario, &target);
    assert_eq!((free.batches.len(), free.max_dark_per_pod), (1, 2));
    scenario.rollout = Rollout { max_dark_per_pod: 1, min_pair_share: 0.0 };
    let gentle = check(&scenario, &target);
    assert_eq!(gentle.broken == 0, gentle.max_dark_per_pod <= 1);
    assert!(gentle.batches.len() > 1, "{gentle:?}");
}

#[test]
fn a_circuit_that_turns_round_is_set_up_before_it_is_taken_down() {
    let mut scenario = presets::scenario("crossconnect-2-1-0").unwrap();
    scenario.installed.ocs[0].cross_connects.truncate(1);
    let back = scenario.installed.ocs[0].cross_connects[0];
    let target = Assignment::of(1, [(0, back.pod_b, back.pod_a)]);
    scenario.rollout = Rollout { max_dark_per_pod: 4096, min_pair_share: 0.0 };
    assert_eq!(check(&scenario, &target).max_dark_circuits, 1);
    // The other direction needs no port of the old one, so both can be up together.
    scenario.rollout = Rollout { max_dark_per_pod: 0, min_pair_share: 1.0 };
    let gentle = check(&scenario, &target);
    assert_eq!((gentle.broken, gentle.batches.len(), gentle.max_dark_circuits), (0, 2, 0));
}

#[test]
fn limits_that_cannot_be_kept_are_counted() {
    // Two switches exchange what they carry, and all ports are busy.
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    let circuit = |(pod_a, pod_b)| Circuit { pod_a, port_a_index: 0, pod_b, port_b_index: 0 };
    for (ocs, circuits) in [[(0, 1), (2, 3)], [(0, 3), (2, 1)]].into_iter().enumerate() {
        scenario.installed.ocs[ocs].cross_connects = circuits.map(circuit).to_vec();
    }
    scenario.rollout = Rollout { max_dark_per_pod: 0, min_pair_share: 1.0 };
    let schedule = check(&scenario, &Assignment::of(2, [(1, 0, 1), (1, 2, 3), (0, 0, 3), (0, 2, 1)]));
    assert!(schedule.broken > 0, "{schedule:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn batches_use_no_busy_port_and_count_what_is_dark(
        pods in 3usize..9, ocs in 1usize..5, ports in 1usize..4, seed in 0u64..1000,
        most in 0u32..4, share in 0usize..4,
    ) {
        let (mut scenario, target) = pair_of_states(pods, ocs, ports, seed);
        let share = [0.0, 0.3, 0.5, 1.0][share];
        scenario.rollout = Rollout { max_dark_per_pod: most, min_pair_share: share };
        let schedule = check(&scenario, &target);
        if schedule.broken == 0 {
            prop_assert!(most == 0 || schedule.max_dark_per_pod <= u64::from(most));
            prop_assert!(schedule.least_pair_share >= share - 1e-9);
        }
    }
}
