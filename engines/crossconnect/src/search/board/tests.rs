use super::*;
use crate::scenario::presets;
use lightbay_core::random::Streams;
use proptest::prelude::*;

fn installed(name: &str) -> Task {
    Task::of(&presets::scenario(name).unwrap())
}

#[test]
fn a_board_of_what_is_installed_removes_nothing() {
    let task = installed("crossconnect-8-4-25");
    let board = Board::of(&task, &task.installed);
    assert_eq!(board.removed(), 0);
    assert_eq!(board.assignment(), task.installed);
    assert!((0..board.circuits() as u32).all(|circuit| !board.is_extra(circuit)));
    assert_eq!(Board::empty(&task).removed(), 32);
}

#[test]
fn a_chain_between_two_permutations_closes() {
    let task = installed("crossconnect-example");
    let mut board = Board::of(&task, &task.installed);
    // Switch 0 is one ring and switch 1 two pairs: the chain of any circuit goes through all of them.
    assert!(board.shift(0, 1, i64::MAX, None));
    assert_eq!(board.moves(), 8);
    assert_eq!(board.removed(), 8);
    board.undo();
    assert_eq!((board.removed(), board.assignment()), (0, task.installed.clone()));
    assert!(!board.shift(0, 1, 3, None), "dearer than allowed");
}

proptest! {
    /// Whatever chains are followed and taken back, ports and counts stay right.
    #[test]
    fn chains_keep_ports_and_counts(
        pods in 3usize..7, ocs in 2usize..5, ports in 1u32..4, seed in any::<u64>(),
    ) {
        let mut stream = Streams::new(seed).stream(0);
        let mut scenario = presets::random(
            pods,
            ocs,
            crate::scenario::Family { changed_percent: 50, instance_seed: seed },
        );
        for row in scenario.ports_a.iter_mut().chain(&mut scenario.ports_b) {
            row.fill(ports);
        }
        let task = Task::of(&scenario);
        let mut board = Board::of(&task, &task.installed);
        let total = crate::model::task::merged(task.installed.ocs.iter().flatten().copied());
        for _ in 0..50 {
            let circuit = stream.random_range(0..board.circuits() as u32);
            let to = stream.random_range(0..ocs as u32);
            if board.ocs_of(circuit) == Some(to) {
                continue;
            }
            let (before, removed) = (board.assignment(), board.removed());
            let fits = board.shift(circuit, to, i64::MAX, stream.random_bool(0.5).then_some(&mut stream));
            prop_assert!(fits);
            let now = board.assignment();
            prop_assert_eq!(task.removed(&now) as i64, board.removed());
            prop_assert_eq!(crate::model::task::merged(now.ocs.iter().flatten().copied()), total.clone());
            for ocs in 0..ocs as u32 {
                for pod in 0..pods as u32 {
                    prop_assert!(board.free(false, ocs, pod) >= 0 && board.free(true, ocs, pod) >= 0);
                }
            }
            if stream.random_bool(0.3) {
                board.undo();
                prop_assert_eq!((board.assignment(), board.removed()), (before, removed));
            } else {
                board.settle();
            }
        }
    }
}
