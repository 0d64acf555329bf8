use super::*;
use crate::halving::{self, Bipartition};
use crate::orient::{Taste, orient};
use crate::presets;
use crate::scenario::Family;
use crate::watch::Unwatched;
use lightbay_core::random::Streams;

const SHORT: Settings = Settings { steps: 50_000, hot: 1.0, cold: 0.3 };

fn halved(task: &Task) -> Assignment {
    let all: Vec<usize> = (0..task.ocs_count).collect();
    let mut watch = Unwatched::default();
    let demand = orient(task, &all, &task.wanted, Taste::none(), &mut watch).unwrap();
    let settings = halving::Settings { bipartition: Bipartition::EvenOdd, taste: None };
    halving::halve(task, demand, all, settings, &mut watch).unwrap()
}

fn annealed(task: &Task, start: &Assignment, seed: u64) -> Assignment {
    let mut stream = Streams::new(seed).stream(0);
    let mut best = task.removed(start);
    let found = anneal(task, start, SHORT, &mut stream, &mut Unwatched::default(), |_, removed, found| {
        assert_eq!((task.misfit(found), task.removed(found)), (None, removed));
        assert!(removed < best);
        best = removed;
        Ok(())
    });
    let found = found.unwrap();
    assert_eq!(task.removed(&found), best);
    found
}

#[test]
fn a_quarter_less_is_removed_than_by_halving() {
    let (mut before, mut after) = (0, 0);
    for seed in 1..=3 {
        let task = Task::of(&presets::random(16, 16, Family { changed_percent: 25, instance_seed: seed }));
        let start = halved(&task);
        let found = annealed(&task, &start, seed);
        before += task.removed(&start);
        after += task.removed(&found);
    }
    assert!(after * 4 < before * 3, "{after} after {before}");
}

#[test]
fn the_same_seed_finds_the_same() {
    let task = Task::of(&presets::random(8, 8, Family { changed_percent: 100, instance_seed: 1 }));
    let start = halved(&task);
    assert_eq!(annealed(&task, &start, 7), annealed(&task, &start, 7));
}

#[test]
fn without_a_choice_nothing_happens() {
    let task = Task::of(&presets::random(4, 1, Family { changed_percent: 0, instance_seed: 1 }));
    assert_eq!(annealed(&task, &task.installed, 1), task.installed);
}
