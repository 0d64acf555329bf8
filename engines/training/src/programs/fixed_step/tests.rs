#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_dag, tiny4, toy_b};
use crate::scenario::instance::Instance;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};

/// The model with the end of a level-first schedule on given circuits as its horizon, and that schedule.
fn written(instance: &Instance, x: &[u32], slot_s: f64) -> (FixedStep, Vec<f64>) {
    let network = Network::new(instance).unwrap();
    let schedule = Slots::level_first(&network, x, slot_s, 100_000).unwrap();
    let caps: Vec<u32> = (0..network.links()).map(|link| network.budget.limit(link)).collect();
    let names = Names::new(instance);
    let ask =
        FixedStepQuestion { network: &network, names: &names, caps: &caps, slot_s, horizon: schedule.end };
    let model = FixedStep::new(ask);
    let point = model.point(&schedule).unwrap();
    (model, point)
}

fn solved(model: &FixedStep, point: &[f64]) -> Solution {
    let options = Options::new().relative_gap(1e-6).time_limit_s(60.0);
    solve_here(&model.model, &options, &Start::Full(point.to_vec()), &mut NoListener).unwrap()
}

#[test]
fn the_second_worked_example_takes_eight_slots() {
    let (model, point) = written(&toy_b(), &[1, 2], 0.005);
    assert!((model.claimed_s(&point) - 0.05).abs() < 1e-12);
    assert_eq!(model.model.first_broken(&point, 1e-6), None);
    let solution = solved(&model, &point);
    assert_eq!(solution.status, Status::Optimal);
    let best = solution.values.unwrap();
    assert!((model.claimed_s(&best) - 0.04).abs() < 1e-9);
    assert_eq!(model.circuits(&best), [2, 1]);
}

/// Returns the makespan that the model finds for tiny4, which takes 0.450424 s without slots.
fn tiny4_s(slot_s: f64) -> f64 {
    let (model, point) = written(&tiny4(), &[1, 3, 3], slot_s);
    assert_eq!(model.model.first_broken(&point, 1e-6), None);
    let solution = solved(&model, &point);
    assert_eq!(solution.status, Status::Optimal);
    model.claimed_s(&solution.values.unwrap())
}

#[test]
fn slots_make_the_smallest_preset_longer() {
    for (slot_s, end_s) in [(0.02, 0.54), (0.01, 0.51), (0.005, 0.475)] {
        assert!((tiny4_s(slot_s) - end_s).abs() < 1e-9, "slots of {slot_s} s");
    }
}

#[test]
fn schedules_in_slots_are_points_of_the_model() {
    for seed in 0..30 {
        let instance = random_dag(seed);
        let network = Network::new(&instance).unwrap();
        let x = crate::search::baselines::Baseline::ALL[seed as usize % 3].allocate(&network);
        let longest = network.tau.iter().fold(0.0f64, |a, b| a.max(*b));
        let (model, point) = written(&instance, &x, longest / 3.0);
        assert_eq!(model.model.first_broken(&point, 1e-6), None);
        assert_eq!(model.circuits(&point), x);
        assert!(
            model.model.columns() as u64
                <= model.windows.columns() + 1 + x.len() as u64 + 2 * network.tasks() as u64
        );
    }
}
