use super::*;
use crate::model::assignment::Cell;
use crate::scenario::Family;
use crate::scenario::presets;
use lightbay_core::context::Stop;
use lightbay_core::watch::Unwatched;
use proptest::prelude::*;

/// A random instance and a solution of it: the exchanges are undone, so that what is installed solves it, and another
/// permutation of the switches is installed.
pub(crate) fn shuffled(pods: usize, ocs_count: usize, seed: u64) -> (Task, Assignment) {
    let scenario = presets::random(pods, ocs_count, Family { changed_percent: 0, instance_seed: seed });
    let mut task = Task::of(&scenario);
    let start = task.installed.clone();
    // What is installed moves on by one switch, and every second switch is reversed.
    let turned = |(ocs, cells): (usize, &Vec<Cell>)| -> Vec<(usize, u32, u32)> {
        let to = (ocs + 1) % ocs_count;
        let ends = |cell: &Cell| if ocs % 2 == 0 { (cell.a, cell.b) } else { (cell.b, cell.a) };
        cells.iter().map(|cell| (to, ends(cell).0, ends(cell).1)).collect()
    };
    let turned: Vec<_> = start.ocs.iter().enumerate().flat_map(turned).collect();
    task.installed = Assignment::of(ocs_count, turned);
    (task, start)
}

fn run(
    task: &Task,
    start: &Assignment,
    settings: &AnnealSettings,
    watch: &mut Unwatched,
) -> (Assignment, Vec<u64>) {
    let mut values = Vec::new();
    let best = anneal(task, start, 0, settings, Streams::new(1), watch, &mut |_, value, plan| {
        assert_eq!(task.misfit(plan), None);
        assert_eq!(task.removed(plan), value);
        values.push(value);
        Ok(())
    });
    (best.unwrap(), values)
}

#[test]
fn switches_that_were_renamed_and_reversed_are_found_again() {
    let (task, start) = shuffled(6, 4, 5);
    assert!(task.removed(&start) > 10);
    let settings = AnnealSettings { rounds: 4, ..AnnealSettings::default() };
    let (best, values) = run(&task, &start, &settings, &mut Unwatched::default());
    assert_eq!(task.removed(&best), 0);
    assert_eq!(values.last(), Some(&0));
    assert!(values.windows(2).all(|pair| pair[1] < pair[0]));
}

#[test]
fn orientations_stay_if_they_are_to_stay() {
    let (task, start) = shuffled(6, 4, 5);
    let settings = AnnealSettings { rounds: 3, joint: false, ..AnnealSettings::default() };
    let (best, _) = run(&task, &start, &settings, &mut Unwatched::default());
    let oriented = |plan: &Assignment| crate::model::task::merged(plan.ocs.iter().flatten().copied());
    assert_eq!(oriented(&best), oriented(&start));
    assert!(task.removed(&best) > 0);
}

#[test]
fn nothing_is_done_once_the_bound_is_reached() {
    let (task, start) = shuffled(4, 3, 2);
    let removed = task.removed(&start);
    let mut watch = Unwatched::default();
    let settings = AnnealSettings::default();
    anneal(&task, &start, removed, &settings, Streams::new(1), &mut watch, &mut |_, _, _| Ok(())).unwrap();
    assert_eq!(watch.units, 0);
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let (mut task, start) = shuffled(8, 6, 1);
    // Installed is something else altogether, so that there are many ways to keep as much as possible.
    task.installed = shuffled(8, 6, 2).0.installed;
    let settings = AnnealSettings { rounds: 1, steps_per_circuit: 300, ..AnnealSettings::default() };
    let of = |seed| {
        let streams = Streams::new(seed);
        let mut values = Vec::new();
        let watch = &mut Unwatched::default();
        let best = anneal(&task, &start, 0, &settings, streams, watch, &mut |_, value, _| {
            values.push(value);
            Ok(())
        });
        (best.unwrap(), values)
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

/// Stops after some checkpoints.
pub(crate) struct Patience(pub u64);

impl Watch for Patience {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.0 = self.0.checked_sub(1).ok_or(MethodError::Stopped(Stop::Requested))?;
        Ok(())
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, _units: u64) {}

    fn elapsed_s(&self) -> f64 {
        0.0
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Box::new(|| false)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn a_stop_at_any_moment_leaves_plans_that_only_got_better(
        pods in 3usize..9, ocs_count in 2usize..6, seed: u64, checkpoints in 0u64..60,
    ) {
        let (task, start) = shuffled(pods, ocs_count, seed);
        let settings = AnnealSettings { rounds: 2, steps_per_circuit: 400, ..AnnealSettings::default() };
        let mut last = task.removed(&start);
        let outcome = anneal(
            &task, &start, 0, &settings, Streams::new(seed), &mut Patience(checkpoints),
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
