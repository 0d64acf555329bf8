use super::*;
use crate::model::task::CollectiveTasks;
use crate::scenario::CollectiveScenario;
use crate::testing::{follow, in_epochs as with_epochs, own};

fn task(scenario: &CollectiveScenario) -> CollectiveTask {
    CollectiveTasks::of(scenario, None).unwrap().tasks.remove(0)
}

fn sends(from: u32, to: u32, chunks: &[u32]) -> GivenStep {
    GivenStep { send: Some(GivenSend { from, to, chunks: chunks.to_vec() }), ..GivenStep::default() }
}

fn starts(schedule: &GivenSchedule) -> Vec<(u32, u32, u32)> {
    schedule.schedule.starts.iter().map(|start| (start.epoch, start.link, start.chunk)).collect()
}

/// Three GPUs in a row: links 0->1, 1->2 and back, 1 MB in 1 us each.
fn row() -> CollectiveScenario {
    let links = [(0, 1, 1000.0, 0.0), (1, 2, 1000.0, 0.0), (1, 0, 1000.0, 0.0), (2, 1, 1000.0, 0.0)];
    with_epochs(own(3, &[], &links, &[(0, &[1, 2]), (0, &[2])]), 1.0)
}

#[test]
fn steps_begin_when_those_before_them_are_done() {
    let task = task(&row());
    let steps = [
        GivenStep { after: vec![2], ..sends(1, 2, &[0, 1]) },
        sends(0, 1, &[1, 0]),
        GivenStep { receives: vec![1], ..GivenStep::default() },
    ];
    let found = in_epochs(&task, &steps).unwrap();
    // Chunk 1 goes first, as the step says, and nothing is sent on before both are there.
    assert_eq!(starts(&found), [(0, 0, 1), (1, 0, 0), (2, 1, 0), (3, 1, 1)]);
    assert_eq!((found.schedule.finish, found.detours, found.repeated), (4, 0, 0));
    follow(&task, &found.schedule);
}

#[test]
fn sends_without_a_link_go_by_way_of_others_and_repeated_ones_are_left_out() {
    let task = task(&row());
    let steps = [sends(0, 2, &[0, 1]), GivenStep { after: vec![0], ..sends(0, 1, &[0]) }];
    let found = in_epochs(&task, &steps).unwrap();
    assert_eq!(starts(&found), [(0, 0, 0), (1, 0, 1), (1, 1, 0), (2, 1, 1)]);
    assert_eq!((found.schedule.finish, found.detours, found.repeated), (3, 2, 1));
    follow(&task, &found.schedule);
}

#[test]
fn one_chunk_twice_through_one_switch_is_two_starts() {
    // The switch takes two chunks in every epoch.
    let links = [(0, 3, 2000.0, 0.0), (3, 1, 1000.0, 0.0), (3, 2, 1000.0, 0.0)];
    let scenario = with_epochs(own(4, &[3], &links, &[(0, &[1, 2])]), 1.0);
    let task = task(&scenario);
    let found = in_epochs(&task, &[sends(0, 1, &[0]), sends(0, 2, &[0])]).unwrap();
    assert_eq!(starts(&found), [(0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 2, 0)]);
    follow(&task, &found.schedule);
}

#[test]
fn steps_that_cannot_be_are_told() {
    let task = task(&row());
    let told = |steps: &[GivenStep]| in_epochs(&task, steps).unwrap_err();
    let circle = [
        GivenStep { after: vec![1], ..sends(0, 1, &[0]) },
        GivenStep { receives: vec![0], ..GivenStep::default() },
    ];
    assert_eq!(told(&circle), "2 steps never run, because steps wait for each other in a cycle");
    assert_eq!(told(&[sends(1, 2, &[0])]), "1 sends a chunk that it does not have yet");
    let links = [(0, 1, 1.0, 0.0), (1, 0, 1.0, 0.0), (1, 2, 1.0, 0.0)];
    let lame = self::task(&own(3, &[], &links, &[(0, &[1, 2])]));
    let steps = [sends(0, 2, &[0]), GivenStep { receives: vec![0], ..sends(2, 0, &[0]) }];
    assert_eq!(in_epochs(&lame, &steps).unwrap().repeated, 1);
}
