use super::*;
use crate::scenario::Family;
use crate::scenario::presets;
use crate::search::orient::{Preference, orient};
use lightbay_core::watch::Unwatched;

fn repaired(task: &Task, start: &Assignment) -> Assignment {
    let all: Vec<usize> = (0..task.ocs_count).collect();
    let mut watch = Unwatched::default();
    let demand = orient(task, &all, &task.wanted, Preference::none(), &mut watch).unwrap();
    repair(task, &demand, start, &mut watch).unwrap()
}

#[test]
fn the_worked_example_takes_two_removals() {
    let task = Task::of(&presets::scenario("crossconnect-example").unwrap());
    let found = repaired(&task, &task.installed);
    assert_eq!(task.misfit(&found), None);
    assert_eq!(task.removed(&found), 2);
}

#[test]
fn what_is_wanted_already_stays() {
    let task = Task::of(&presets::random(16, 8, Family { changed_percent: 0, instance_seed: 3 }));
    assert_eq!(repaired(&task, &task.installed), task.installed);
}

#[test]
fn it_starts_from_nothing_and_from_too_much() {
    let task = Task::of(&presets::random(8, 4, Family { changed_percent: 25, instance_seed: 1 }));
    let nothing = Assignment { ocs: vec![Vec::new(); 4] };
    assert_eq!(task.misfit(&repaired(&task, &nothing)), None);
    let twice = Assignment {
        ocs: task
            .installed
            .ocs
            .iter()
            .chain(&task.installed.ocs)
            .map(|cells| cells.iter().map(|cell| Cell { count: 2 * cell.count, ..*cell }).collect())
            .collect(),
    };
    let found = repaired(&task, &twice);
    assert_eq!(task.misfit(&found), None);
    assert_eq!(task.removed(&found), task.removed(&repaired(&task, &task.installed)));
}

#[test]
fn small_changes_move_few_circuits() {
    let task = Task::of(&presets::random(16, 16, Family { changed_percent: 5, instance_seed: 1 }));
    let removed = task.removed(&repaired(&task, &task.installed));
    assert!((task.count_bound()..60).contains(&removed), "{removed}");
}
