use super::*;
use crate::model::assignment::Cell;
use crate::model::task::merged;
use crate::scenario::Family;
use crate::scenario::presets;
use lightbay_core::random::Stream;
use lightbay_core::watch::Unwatched;
use rand::RngExt;

fn family(pods: usize, ocs: usize, changed_percent: u32, instance_seed: u64) -> Task {
    Task::of(&presets::random(pods, ocs, Family { changed_percent, instance_seed }))
}

fn removed_by(task: &Task, tries: Tries) -> u64 {
    let mut told = Vec::new();
    let best = halved(task, tries, Streams::new(1), &mut Unwatched::default(), |_, removed, found| {
        assert_eq!((task.misfit(found), task.removed(found)), (None, removed));
        told.push(removed);
        Ok(())
    })
    .unwrap();
    assert!(told.windows(2).all(|pair| pair[1] < pair[0]));
    assert_eq!(told.last(), Some(&task.removed(&best)));
    task.removed(&best)
}

#[test]
fn more_tries_are_never_worse_and_mostly_better() {
    let (mut one, mut five) = (0, 0);
    for seed in 1..=4 {
        let task = family(16, 8, 25, seed);
        one += removed_by(&task, Tries::default());
        five += removed_by(&task, Tries { best_of: 5, ..Tries::default() });
    }
    assert!(five < one, "{five} of five tries, {one} of one");
}

#[test]
fn a_random_order_is_another_order() {
    let task = family(16, 8, 100, 1);
    let find = |random_order| {
        let tries = Tries { random_order, ..Tries::default() };
        halved(&task, tries, Streams::new(1), &mut Unwatched::default(), |_, _, _| Ok(())).unwrap()
    };
    assert_ne!(find(false), find(true));
    assert_eq!(find(true), find(true));
}

/// Random ports on every switch and a demand that they can carry by construction.
fn uneven(pods: usize, ocs_count: usize, stream: &mut Stream) -> Task {
    let mut ports = || -> Vec<Vec<u32>> {
        let mut row = |_| (0..pods).map(|_| stream.random_range(0..3)).collect();
        (0..ocs_count).map(&mut row).collect()
    };
    let (ports_a, ports_b) = (ports(), ports());
    let mut wanted = Vec::new();
    for (a, b) in ports_a.iter().zip(&ports_b) {
        let (mut a, mut b) = (a.clone(), b.clone());
        for _ in 0..30 {
            let (i, j) = (stream.random_range(0..pods), stream.random_range(0..pods));
            if i != j && a[i] > 0 && b[j] > 0 {
                a[i] -= 1;
                b[j] -= 1;
                wanted.push(Cell { a: i.min(j) as u32, b: i.max(j) as u32, count: 1 });
            }
        }
    }
    let nothing = Assignment { ocs: vec![Vec::new(); ocs_count] };
    Task {
        pods,
        ocs_count,
        ports_a,
        ports_b,
        lost: Vec::new(),
        wanted: merged(wanted),
        installed: nothing.clone(),
        pinned: nothing,
        single_sided: false,
        uniform: false,
    }
}

#[test]
fn where_halving_is_stuck_other_ways_mostly_get_through() {
    let (mut stuck, mut through) = (0, 0);
    for seed in 0..200 {
        let task = uneven(6, 4, &mut Streams::new(seed).stream(0));
        let mut watch = Unwatched::default();
        match halved(&task, Tries::default(), Streams::new(1), &mut watch, |_, _, _| Ok(())) {
            Ok(found) => assert_eq!(task.misfit(&found), None),
            Err(NoStart::Stuck(_)) => {
                stuck += 1;
                if let Some(found) = anyhow(&task, Streams::new(2), &mut watch).unwrap() {
                    assert_eq!(task.misfit(&found), None);
                    through += 1;
                }
            }
            Err(other) => panic!("a solution exists by construction: {other:?}"),
        }
    }
    assert!(stuck > 20 && through * 2 > stuck, "{through} of {stuck}");
}

#[test]
fn a_plan_of_another_demand_is_made_to_fit() {
    let task = family(16, 8, 25, 1);
    let mut watch = Unwatched::default();
    let plan = halved(&task, Tries::default(), Streams::new(1), &mut watch, |_, _, _| Ok(())).unwrap();
    assert_eq!(fitted(&task, &plan, &mut watch).unwrap(), Some(plan.clone()));
    let mut other = task.clone();
    let moved = other.wanted.pop().unwrap();
    other.wanted[0].count += 1;
    let full = |cell: &Cell| [cell.a, cell.b].contains(&moved.a) || [cell.a, cell.b].contains(&moved.b);
    if full(&other.wanted[0]) {
        return;
    }
    other.wanted[0].count -= 1;
    let found = fitted(&other, &plan, &mut watch).unwrap().unwrap();
    assert_eq!(other.misfit(&found), None);
    assert!(found.lacks(&plan) <= 8, "{} circuits moved for {}", found.lacks(&plan), moved.count);
}

#[test]
fn impossible_demands_are_told_from_hard_ones() {
    let mut task = family(4, 2, 0, 1);
    task.wanted[0].count += 9;
    let found = halved(&task, Tries::default(), Streams::new(1), &mut Unwatched::default(), |_, _, _| Ok(()));
    assert!(matches!(found, Err(NoStart::Impossible(_))));
}
