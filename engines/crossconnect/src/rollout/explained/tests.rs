use super::*;
use crate::model::assignment::Assignment;
use crate::plan::CrossconnectResult;
use crate::rollout::assemble::candidate;
use crate::scenario::Port;
use crate::scenario::presets;

/// The worked example with a solution of two removals.
fn example() -> (CrossconnectScenario, Changes) {
    let scenario = presets::scenario("crossconnect-example").unwrap();
    let ring = (0..4).map(|pod| (0, pod, (pod + 1) % 4));
    let second = [(1, 0, 2), (1, 1, 3), (1, 2, 1), (1, 3, 0)];
    let target = Assignment::of(2, ring.chain(second));
    changes_to(scenario, &target)
}

fn changes_to(scenario: CrossconnectScenario, target: &Assignment) -> (CrossconnectScenario, Changes) {
    let CrossconnectResult::Changes(changes) = candidate(&scenario, target).result else {
        panic!("a target leads to changes")
    };
    (scenario, changes)
}

#[test]
fn the_worked_example_is_counted_by_switch_pair_and_pod() {
    let (scenario, changes) = example();
    let facts = ChangeFacts::of(&scenario, &changes);
    assert_eq!((facts.removed(), facts.touched(), facts.usual_switch()), (2, 1, 1));
    let of = |at: usize| (facts.switches[at].keep, facts.switches[at].add, facts.switches[at].remove);
    assert_eq!((of(0), of(1)), ((4, 0, 0), (2, 2, 2)));
    assert_eq!(facts.per_switch(), [0, 2]);
    let row: Vec<(u32, u32, u32, u32)> =
        facts.switches[1].of_pod(2).iter().map(|cell| (cell.b, cell.keep, cell.add, cell.remove)).collect();
    assert_eq!(row, [(0, 0, 0, 1), (1, 0, 1, 0)]);
    assert_eq!(facts.before, [0, 1, 2, 1, 1, 0, 1, 2, 2, 1, 0, 1, 1, 2, 1, 0]);
    assert_eq!(facts.after[2], 1);
    assert!(facts.degrees_after.iter().all(|degree| *degree == Degree { out: 2, into: 2 }));
    assert_eq!(facts.counting_bound(|a, b| i64::from(facts.after[a * 4 + b])), 2);
    // Wanting what is there costs nothing.
    assert_eq!(facts.counting_bound(|a, b| i64::from(facts.before[a * 4 + b])), 0);
}

#[test]
fn a_batch_knows_the_pod_that_misses_most() {
    let (scenario, changes) = example();
    let facts = ChangeFacts::of(&scenario, &changes);
    let [batch] = &facts.batches[..] else { panic!("{:?}", facts.batches) };
    assert_eq!((batch.switches.as_slice(), batch.removals, batch.additions), (&[1][..], 2, 2));
    // 2 to 0 and 3 to 1 are down: each of the four pods misses one of its four circuits.
    assert_eq!(batch.worst, Some((0, 1, 4)));
    assert_eq!(batch.dark, changes.batches[0].dark_circuits);
}

#[test]
fn circuits_at_failed_ports_are_counted_apart() {
    let (mut scenario, _) = example();
    scenario.failed_ports.push(Port { ocs_id: 0, pod: 0, side: Side::A, port_index: 0 });
    let target = Assignment::of(2, [(0, 1, 2), (0, 2, 3), (0, 3, 0), (1, 0, 2), (1, 1, 3)]);
    let (scenario, changes) = changes_to(scenario, &target);
    let facts = ChangeFacts::of(&scenario, &changes);
    assert_eq!((facts.switches[0].forced, facts.switches[0].remove), (1, 0));
    assert_eq!(facts.removed(), changes.totals.removed_circuits);
    assert_eq!(facts.ports[0], Degree { out: 1, into: 2 });
    assert_eq!(facts.before[1], 0, "the circuit from 0 to 1 is lost already");
}

#[test]
fn nothing_installed_is_a_green_field() {
    let (mut scenario, _) = example();
    scenario.installed.ocs.clear();
    let target = Assignment::of(2, [(0, 0, 1), (1, 1, 0)]);
    let (scenario, changes) = changes_to(scenario, &target);
    let facts = ChangeFacts::of(&scenario, &changes);
    assert!(facts.green_field);
    assert_eq!((facts.removed(), facts.touched()), (0, 2));
    assert!(facts.batches.iter().all(|batch| batch.worst.is_none()), "what was never there is not missed");
}
