use super::*;
use crate::scenario::{Family, presets};
use crate::search::start::halved;
use lightbay_core::watch::Unwatched;

fn run(task: &Task, start: &Assignment, settings: DecimationSettings, seed: u64) -> Assignment {
    let mut last = task.removed(start);
    let mut watch = Unwatched::default();
    let best = search(task, start, 0, settings, Streams::new(seed), &mut watch, &mut |_, value, plan| {
        assert_eq!(task.misfit(plan), None);
        assert_eq!(task.removed(plan), value);
        assert!(value < last);
        last = value;
        Ok(())
    });
    let best = best.unwrap();
    assert_eq!(task.removed(&best), last);
    best
}

fn started(scenario: &crate::scenario::CrossconnectScenario) -> (Task, Assignment) {
    let task = Task::of(scenario);
    let tries = crate::search::start::Tries::default();
    let start = halved(&task, tries, Streams::new(1), &mut Unwatched::default(), |_, _, _| Ok(())).unwrap();
    (task, start)
}

#[test]
fn a_third_of_the_removals_of_halving_is_saved() {
    let family = Family { changed_percent: 25, instance_seed: 3 };
    let (task, start) = started(&presets::random(16, 16, family));
    let settings = DecimationSettings { patience: 30, ..DecimationSettings::default() };
    let best = run(&task, &start, settings, 1);
    assert!(3 * task.removed(&best) < 2 * task.removed(&start));
    assert_eq!(best, run(&task, &start, settings, 1), "equal seeds find equal plans");
}

#[test]
fn spare_ports_and_several_ports_of_a_pod_are_used_once() {
    for seed in 1..6 {
        let mut scenario = presets::random(6, 4, Family { changed_percent: 50, instance_seed: seed });
        for row in scenario.ports_a.iter_mut().chain(&mut scenario.ports_b) {
            row.fill(2);
        }
        let (task, start) = started(&scenario);
        let settings = DecimationSettings { patience: 2, ..DecimationSettings::default() };
        run(&task, &start, settings, seed);
    }
}
