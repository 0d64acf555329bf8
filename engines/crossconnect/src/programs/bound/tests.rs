use super::*;
use crate::search::anneal::tests::shuffled;
use lightbay_core::watch::Unwatched;
use lightbay_highs::instance::solve_here;
use lightbay_highs::solution::Start;

#[test]
fn bounds_are_rounded_up_unless_they_are_whole() {
    assert_eq!(whole(2.0), 2);
    assert_eq!(whole(2.000_000_1), 2);
    assert_eq!(whole(2.01), 3);
    assert_eq!(whole(-0.5), 0);
}

#[test]
fn column_generation_ends_at_the_value_of_the_whole_relaxation() {
    for seed in 1..6 {
        let (mut task, start) = shuffled(8, 4, seed);
        task.installed = shuffled(8, 4, seed + 50).0.installed;
        let relaxed = ExactProgram::new(&task, Orientation::Joint).relaxed();
        let whole_model =
            solve_here(&relaxed, &Options::new(), &Start::None, &mut lightbay_highs::event::NoListener);
        let expected = whole(whole_model.unwrap().objective.unwrap());
        let mut said = Vec::new();
        let bound = relaxation(&task, &start, &mut Unwatched::default(), &mut |_, bound| {
            said.push(bound);
            Ok(())
        });
        let bound = bound.unwrap();
        assert_eq!(bound, expected.max(task.count_bound()), "seed {seed}");
        assert!(said.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(said.last().is_none_or(|last| *last == bound));
    }
}

#[test]
fn a_plan_that_is_none_is_refused() {
    let (task, start) = shuffled(6, 3, 1);
    let none = Assignment { ocs: vec![Vec::new(); start.ocs.len()] };
    let refused = relaxation(&task, &none, &mut Unwatched::default(), &mut |_, _| Ok(()));
    assert!(matches!(refused, Err(MethodError::Failed(_))));
}
