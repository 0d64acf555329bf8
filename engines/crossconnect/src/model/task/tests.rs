use super::*;
use crate::scenario::presets;
use lightbay_core::param::ParamValue;

fn example() -> CrossconnectScenario {
    presets::scenario("crossconnect-example").unwrap()
}

fn set(scenario: &mut CrossconnectScenario, name: &str, text: &str) {
    scenario.set(name, None, &ParamValue::Text(text.into())).unwrap();
}

#[test]
fn the_bound_counts_pairs_of_pods() {
    let task = Task::of(&example());
    assert!(task.uniform && !task.single_sided);
    assert_eq!(task.count_bound(), 2);
    assert_eq!(task.wanted.iter().map(|cell| cell.count).sum::<u32>(), 8);
}

#[test]
fn pinned_circuits_leave_the_task_and_come_back() {
    let mut scenario = example();
    set(&mut scenario, "pinned", "0:1.0-2.0");
    let task = Task::of(&scenario);
    assert!(!task.uniform);
    assert_eq!((task.ports_a[0][1], task.ports_b[0][2], task.ports_b[0][1]), (0, 0, 1));
    let pair = task.wanted.iter().find(|cell| (cell.a, cell.b) == (1, 2)).unwrap();
    assert_eq!(pair.count, 1);
    let whole = Assignment::installed(&scenario);
    assert_eq!(task.part(&whole), task.installed);
    assert_eq!(task.installed.circuits(), 7);
    assert_eq!(task.assignment(&task.installed), whole);
}

#[test]
fn failed_ports_leave_with_their_circuits() {
    let mut scenario = example();
    set(&mut scenario, "failed_ports", "1:0:a0, 1:0:b0");
    let task = Task::of(&scenario);
    assert_eq!((task.ports_a[1][0], task.ports_b[1][0]), (0, 0));
    assert_eq!(task.installed.ocs[1].len(), 2);
}

#[test]
fn misfits_are_told() {
    let mut scenario = example();
    let task = Task::of(&scenario);
    assert!(task.misfit(&task.installed).unwrap().contains("not the target circuits"));
    let swapped = Assignment::of(
        2,
        [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 0), (1, 0, 2), (1, 1, 3), (1, 2, 1), (1, 3, 0)],
    );
    assert_eq!(task.misfit(&swapped), None);
    assert_eq!(task.removed(&swapped), 2);
    assert_eq!(task.removed_by_ocs(&swapped), [0, 2]);
    scenario.ports_a[3] = vec![0; 2];
    assert!(Task::of(&scenario).misfit(&swapped).unwrap().contains("pod 3"));
}

#[test]
fn without_sides_pairs_are_unordered() {
    let mut scenario = example();
    set(&mut scenario, "wiring", "single_sided");
    let task = Task::of(&scenario);
    assert!(task.single_sided);
    assert!(task.installed.ocs.iter().flatten().all(|cell| cell.a < cell.b));
    let backwards = Assignment::of(2, [(0, 3, 1)]);
    assert_eq!(task.part(&backwards).ocs[0], [Cell { a: 1, b: 3, count: 1 }]);
}
