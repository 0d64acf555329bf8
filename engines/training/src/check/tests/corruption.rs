//! Random corruption: never a panic, never a change that matters and goes unseen.

use super::support::{Whole, toy_a_fair, toy_a_idle, toy_a_joint, toy_b_plan};
use super::worked::tiny4_level_first;
use crate::plan::RateControl;
use proptest::prelude::*;

fn plans() -> Vec<Whole> {
    vec![
        toy_a_fair(),
        toy_a_joint(),
        toy_a_idle(),
        toy_b_plan(RateControl::Fair),
        toy_b_plan(RateControl::Joint),
        tiny4_level_first(),
    ]
}

/// Returns the corrupted number.
fn changed(value: f64, how: u32, amount: f64) -> f64 {
    match how {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => -value - amount,
        4 => value * (1.0 + amount),
        5 => value * (1.0 - amount),
        6 => value + amount,
        7 => f64::MAX,
        8 => 0.0,
        _ => value * 1e-300,
    }
}

/// Changes one number; says whether the change is large enough to matter.
fn corrupt_number(plan: &mut Whole, place: usize, how: u32, amount: f64) -> bool {
    let metric = "nct".to_owned();
    let mut numbers: Vec<(&mut f64, f64)> =
        vec![(&mut plan.makespan_s, 1e-8), (&mut plan.result.ideal_makespan_s, 1e-8)];
    numbers.extend(plan.result.nct.as_mut().map(|nct| (nct, 1e-6)));
    numbers.extend(plan.metrics.get_mut(&metric).map(|nct| (nct, 1e-6)));
    for task in &mut plan.result.tasks {
        numbers.push((&mut task.start_s, 1e-8));
        numbers.push((&mut task.finish_s, 1e-8));
        for segment in &mut task.segments {
            numbers.push((&mut segment.start_s, 1e-8));
            numbers.push((&mut segment.end_s, 1e-8));
            numbers.push((&mut segment.volume_bytes, 1e2));
        }
    }
    let count = numbers.len();
    let (number, matters) = &mut numbers[place % count];
    let before = **number;
    **number = changed(before, how, amount);
    let moved = (**number - before).abs();
    moved.is_nan() || moved > *matters
}

/// Changes the shape of the plan; every such change matters unless it says so.
fn corrupt_shape(plan: &mut Whole, what: u32, a: usize, b: usize) -> bool {
    let result = &mut plan.result;
    let tasks = result.tasks.len();
    match what {
        0 => {
            result.tasks.remove(a % tasks);
        }
        1 => {
            let copy = result.tasks[a % tasks].clone();
            result.tasks.insert(b % (tasks + 1), copy);
        }
        2 => {
            result.tasks.swap(a % tasks, b % tasks);
            return a % tasks != b % tasks;
        }
        3 => result.tasks[a % tasks].task.0 = b as u32,
        4 => {
            let links = result.topology.len();
            result.topology.remove(a % links);
        }
        5 => {
            let copy = result.topology[a % result.topology.len()];
            result.topology.push(copy);
        }
        6 => {
            let links = result.topology.len();
            let entry = &mut result.topology[a % links];
            let before = entry.circuits;
            entry.circuits = b as u32;
            return entry.circuits != before;
        }
        7 => result.ports_used = result.ports_used.wrapping_add(1 + a as u64),
        8 => {
            let segments = &mut result.tasks[a % tasks].segments;
            let count = segments.len();
            segments.swap(0, b % count);
            return !b.is_multiple_of(count);
        }
        9 => {
            let segments = &mut result.tasks[a % tasks].segments;
            segments.remove(b % segments.len());
        }
        10 => {
            let segments = &mut result.tasks[a % tasks].segments;
            let copy = segments[b % segments.len()];
            segments.push(copy);
        }
        11 => result.tasks.clear(),
        12 => result.tasks[a % tasks].segments.clear(),
        _ => result.topology.clear(),
    }
    if what == 3 { plan.result.tasks[a % tasks].task.index() != a % tasks } else { true }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_changed_number_is_seen(which in 0..6_usize, place in 0..500_usize, how in 0..10_u32, amount in 1e-4..2.0_f64) {
        let mut plan = plans().swap_remove(which);
        let matters = corrupt_number(&mut plan, place, how, amount);
        let codes = plan.codes();
        prop_assert!(!matters || !codes.is_empty());
    }

    #[test]
    fn a_changed_shape_is_seen(which in 0..6_usize, what in 0..14_u32, a in 0..20_usize, b in 0..20_usize) {
        let mut plan = plans().swap_remove(which);
        let matters = corrupt_shape(&mut plan, what, a, b);
        let codes = plan.codes();
        prop_assert!(!matters || !codes.is_empty());
    }

    #[test]
    fn many_changes_at_once_never_panic(which in 0..6_usize, changes in prop::collection::vec((0..24_u32, 0..500_usize, 0..20_usize, 1e-4..2.0_f64), 1..6)) {
        let mut plan = plans().swap_remove(which);
        for (what, a, b, amount) in changes {
            let intact = !plan.result.tasks.is_empty()
                && !plan.result.topology.is_empty()
                && plan.result.tasks.iter().all(|task| !task.segments.is_empty());
            if what < 14 && intact {
                corrupt_shape(&mut plan, what, a, b);
            } else if what >= 14 {
                corrupt_number(&mut plan, a, what - 14, amount);
            }
        }
        plan.bound_s = Some(plan.makespan_s);
        let _ = plan.codes();
    }
}
