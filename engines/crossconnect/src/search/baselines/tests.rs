use super::*;
use crate::scenario::Family;
use crate::scenario::presets;
use crate::search::start::halved;
use lightbay_core::watch::Unwatched;

#[test]
fn renaming_finds_the_state_again() {
    let task = Task::of(&presets::random(8, 6, Family { changed_percent: 0, instance_seed: 1 }));
    let mut turned = task.installed.clone();
    turned.ocs.rotate_left(2);
    assert!(task.removed(&turned) > 0);
    assert_eq!(relabel(&task, &turned, &mut Unwatched::default()).unwrap(), task.installed);
}

#[test]
fn switches_without_the_ports_are_no_names() {
    let mut task = Task::of(&presets::random(4, 2, Family { changed_percent: 0, instance_seed: 1 }));
    task.uniform = false;
    task.ports_a[1] = vec![2; 4];
    let turned = Assignment { ocs: vec![task.installed.ocs[1].clone(), task.installed.ocs[0].clone()] };
    assert_eq!(relabel(&task, &turned, &mut Unwatched::default()).unwrap(), task.installed);
    let doubled = |cells: &Vec<Cell>| cells.iter().map(|cell| Cell { count: 2, ..*cell }).collect();
    task.ports_b[1] = vec![2; 4];
    let wide = Assignment { ocs: vec![task.installed.ocs[1].clone(), doubled(&task.installed.ocs[0])] };
    assert_eq!(relabel(&task, &wide, &mut Unwatched::default()).unwrap(), wide);
}

#[test]
fn ignoring_the_state_costs_most_and_renaming_helps() {
    let (mut blind, mut renamed, mut aware) = (0, 0, 0);
    for seed in 1..=5 {
        let task = Task::of(&presets::random(8, 8, Family { changed_percent: 25, instance_seed: seed }));
        let mut watch = Unwatched::default();
        let found = scratch(&task, Tries::default(), Streams::new(1), &mut watch).unwrap();
        assert_eq!(task.misfit(&found), None);
        let again = relabel(&task, &found, &mut watch).unwrap();
        assert_eq!(task.misfit(&again), None);
        blind += task.removed(&found);
        renamed += task.removed(&again);
        let halved = halved(&task, Tries::default(), Streams::new(1), &mut watch, |_, _, _| Ok(())).unwrap();
        aware += task.removed(&halved);
    }
    assert!(aware < renamed && renamed < blind, "{aware} {renamed} {blind}");
}
