use super::*;
use crate::search::anneal::tests::{Patience, shuffled};
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use proptest::prelude::*;

/// A task in which something else is installed than the solution.
fn other(pods: usize, ocs_count: usize, seed: u64) -> (Task, Assignment) {
    let (mut task, start) = shuffled(pods, ocs_count, seed);
    task.installed = shuffled(pods, ocs_count, seed ^ 1).0.installed;
    (task, start)
}

#[test]
fn the_part_of_some_switches_is_solved_by_what_they_carry() {
    let (task, start) = shuffled(7, 5, 3);
    let sub = part(&task, &start, &[1, 4]);
    let theirs = Assignment { ocs: vec![start.ocs[1].clone(), start.ocs[4].clone()] };
    assert_eq!(sub.misfit(&theirs), None);
    let removals = task.removed_by_ocs(&start);
    assert_eq!(sub.removed(&theirs), removals[1] + removals[4]);
}

#[test]
fn a_switch_without_removals_is_never_drawn_first() {
    let mut stream = Streams::new(1).stream(0);
    for _ in 0..200 {
        let drawn = draw(&[0, 3, 0, 0, 2, 0], 2, &mut stream);
        assert_eq!(drawn.len(), 2);
        assert!(drawn[0] < drawn[1]);
        assert!(drawn.contains(&1) || drawn.contains(&4));
    }
    assert_eq!(draw(&[1, 0, 0], 9, &mut stream), [0, 1, 2]);
}

#[test]
fn all_switches_together_are_solved_exactly() {
    let (task, start) = other(6, 3, 4);
    let joint = LnsSettings { ocs: 3, joint: true, patience: 1, nodes: 10_000 };
    let mut stream = Streams::new(1).stream(0);
    let mut values = Vec::new();
    let best = lns(&task, &start, 0, joint, &mut stream, &mut Unwatched::default(), &mut |_, value, _| {
        values.push(value);
        Ok(())
    })
    .unwrap();
    let program = ExactProgram::new(&task, Orientation::Joint);
    let options = Options::new().set("mip_rel_gap", 0.0);
    let mut nobody = lightbay_highs::event::NoListener;
    let exact = solve_here(program.model(), &options, &Start::None, &mut nobody).unwrap();
    assert_eq!(task.removed(&best) as f64, exact.objective.unwrap().round());
    assert_eq!(values.last(), Some(&task.removed(&best)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_stop_at_any_moment_leaves_plans_that_only_got_better(
        pods in 4usize..7, ocs_count in 2usize..5, seed in 0u64..1000, checkpoints in 0u64..80, joint: bool,
    ) {
        let (task, start) = other(pods, ocs_count, seed);
        let settings = LnsSettings { ocs: 2, joint, patience: 10, nodes: 50 };
        let mut last = task.removed(&start);
        let mut stream = Streams::new(seed).stream(0);
        let outcome = lns(
            &task, &start, task.count_bound(), settings, &mut stream, &mut Patience(checkpoints),
            &mut |_, value, plan| {
                assert_eq!(task.misfit(plan), None);
                assert!(value < last);
                last = value;
                Ok(())
            },
        );
        match outcome {
            Ok(best) => {
                prop_assert_eq!(task.removed(&best), last);
                prop_assert_eq!(task.misfit(&best), None);
                if !joint {
                    let oriented = |plan: &Assignment| merged(plan.ocs.iter().flatten().copied());
                    prop_assert_eq!(oriented(&best), oriented(&start));
                }
            }
            Err(MethodError::Stopped(_)) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

#[test]
fn what_is_fixed_and_a_solution_of_the_rest_solve_the_task() {
    let (mut task, start) = other(7, 4, 9);
    task.installed.ocs[0] = start.ocs[0].clone();
    let stay = Assignment {
        ocs: vec![start.ocs[0][..3].to_vec(), start.ocs[1][2..].to_vec(), Vec::new(), Vec::new()],
    };
    let rest = circuits::without(&task, &stay);
    let free = Assignment {
        ocs: vec![
            start.ocs[0][3..].to_vec(),
            start.ocs[1][..2].to_vec(),
            start.ocs[2].clone(),
            start.ocs[3].clone(),
        ],
    };
    assert_eq!(rest.misfit(&free), None);
    assert_eq!(rest.removed(&free) + task.removed(&stay), task.removed(&start) + rest.installed.circuits());
}

#[test]
fn freeing_everything_finds_the_optimum() {
    let (task, start) = other(6, 3, 4);
    let program = ExactProgram::new(&task, Orientation::Joint);
    let options = Options::new().set("mip_rel_gap", 0.0);
    let mut nobody = lightbay_highs::event::NoListener;
    let exact = solve_here(program.model(), &options, &Start::None, &mut nobody).unwrap();
    for share in [1.0, 0.5] {
        let settings = circuits::CircuitLnsSettings { share, patience: 40, nodes: 10_000 };
        let mut stream = Streams::new(1).stream(0);
        let best = circuits::search(
            &task,
            &start,
            0,
            settings,
            &mut stream,
            &mut Unwatched::default(),
            &mut |_, _, _| Ok(()),
        );
        assert_eq!(task.removed(&best.unwrap()) as f64, exact.objective.unwrap().round());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn freed_circuits_only_improve_a_plan_until_a_stop(
        pods in 4usize..8, ocs_count in 2usize..6, seed in 0u64..1000, checkpoints in 0u64..80,
    ) {
        let (task, start) = other(pods, ocs_count, seed);
        let settings = circuits::CircuitLnsSettings { patience: 6, ..circuits::CircuitLnsSettings::default() };
        let mut last = task.removed(&start);
        let mut stream = Streams::new(seed).stream(0);
        let outcome = circuits::search(
            &task, &start, task.count_bound(), settings, &mut stream, &mut Patience(checkpoints),
            &mut |_, value, plan| {
                assert_eq!(task.misfit(plan), None);
                assert!(value < last);
                last = value;
                Ok(())
            },
        );
        match outcome {
            Ok(best) => prop_assert_eq!(task.removed(&best), last),
            Err(MethodError::Stopped(_)) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
