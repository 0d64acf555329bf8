use super::*;
use crate::scenario::Family;
use crate::scenario::presets;
use crate::search::orient::Preference;
use lightbay_core::watch::Unwatched;

fn halved(task: &Task) -> Assignment {
    let all: Vec<usize> = (0..task.ocs_count).collect();
    let mut watch = Unwatched::default();
    let demand = orient(task, &all, &task.wanted, Preference::none(), &mut watch).unwrap();
    let settings = halving::HalvingSettings { bipartition: Bipartition::EvenOdd, preference: None };
    halving::halve(task, demand, all, settings, &mut watch).unwrap()
}

#[test]
fn no_pair_gains_anything_afterwards() {
    let mut gains = [0, 0];
    for seed in 1..=5 {
        let task = Task::of(&presets::random(16, 8, Family { changed_percent: 100, instance_seed: seed }));
        let start = halved(&task);
        for (reorient, gain) in [false, true].into_iter().zip(&mut gains) {
            let mut told = Vec::new();
            let polished = polish(&task, &start, reorient, &mut Unwatched::default(), |_, removed, found| {
                assert_eq!((task.misfit(found), task.removed(found)), (None, removed));
                told.push(removed);
                Ok(())
            })
            .unwrap();
            assert!(told.windows(2).all(|pair| pair[1] < pair[0]));
            *gain += task.removed(&start) - task.removed(&polished);
            let again = polish(&task, &polished, reorient, &mut Unwatched::default(), |_, _, _| {
                Err(MethodError::Failed("there was more to gain".to_owned()))
            });
            assert_eq!(again.unwrap(), polished);
        }
    }
    assert!(gains[0] > 0 && gains[1] > gains[0], "{gains:?}");
}

#[test]
fn polishing_to_the_bound_ends() {
    let task = Task::of(&presets::random(8, 4, Family { changed_percent: 0, instance_seed: 1 }));
    // What is wanted is installed, but two pairs of switches hold each other's circuits.
    let mut start = task.installed.clone();
    start.ocs.swap(0, 1);
    start.ocs.swap(2, 3);
    assert_eq!(task.misfit(&start), None);
    assert!(task.removed(&start) > 20, "{}", task.removed(&start));
    for reorient in [false, true] {
        let mut told = Vec::new();
        let polished = polish(&task, &start, reorient, &mut Unwatched::default(), |_, removed, _| {
            told.push(removed);
            Ok(())
        })
        .unwrap();
        assert_eq!(task.removed(&polished), 0);
        assert_eq!(told.last(), Some(&0));
    }
}
