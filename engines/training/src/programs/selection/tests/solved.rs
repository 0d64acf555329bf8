//! The models as HiGHS solves them.

use super::*;
use crate::search::allocations::{VectorTask, search};
use crate::search::circuits::Circuits;
use crate::search::ports;
use lightbay_core::watch::Unwatched;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};

fn solve(selection: &Selection, start: Start) -> Solution {
    let options = Options::new().relative_gap(1e-10).set("mip_abs_gap", 1e-9);
    solve_here(selection.model(), &options, &start, &mut NoListener).unwrap()
}

#[test]
fn toy_b_has_the_optimum_of_the_hand_calculation() {
    let case = Case::new(samples::toy_b());
    for writing in [Writing::Full, Writing::Reduced] {
        let selection = case.selection(0.05, Goal::Makespan, writing).unwrap();
        let solution = solve(&selection, Start::None);
        assert_eq!(solution.status, Status::Optimal);
        assert!((solution.objective.unwrap() - 40.0).abs() < 1e-6);
        assert_eq!(selection.circuits(&solution.values.unwrap()), [2, 1]);
    }
}

#[test]
fn optima_are_those_of_brute_force() {
    let mut proven = 0;
    for seed in 0..40 {
        let case = Case::new(samples::random_tail_exact(seed));
        let vectors = case.vectors();
        let best = vectors.iter().map(|x| case.bound(x)).fold(f64::INFINITY, f64::min);
        let limit = case.bound(&vectors[0]);
        for writing in [Writing::Full, Writing::Reduced] {
            let selection = case.selection(limit, Goal::Makespan, writing).unwrap();
            let start = selection.checked_point(&vectors[0]).map_or(Start::None, Start::Full);
            let solution = solve(&selection, start);
            assert_eq!(solution.status, Status::Optimal, "{seed} {writing:?}");
            let found = 1e-3 * solution.objective.unwrap();
            if selection.exact() {
                assert!((found - best).abs() <= 1e-9 * best, "{seed} {writing:?}: {found}, not {best}");
                let x = selection.circuits(&solution.values.unwrap());
                assert!((case.bound(&x) - best).abs() <= 1e-9 * best, "{seed} {writing:?} {x:?}");
                proven += 1;
            } else {
                assert!(found <= best * (1.0 + 1e-9), "{seed} {writing:?}: {found}, above {best}");
            }
        }
    }
    assert!(proven > 40, "{proven}");
}

#[test]
fn elsewhere_the_optimum_is_a_bound() {
    let mut scratch = Scratch::default();
    for seed in 0..25 {
        let case = Case::new(samples::random_dag(seed));
        let vectors = case.vectors();
        let best = vectors
            .iter()
            .map(|x| case.evaluator.makespan(x, Rates::Best, &mut scratch))
            .fold(f64::INFINITY, f64::min);
        // What the longest path says of the most circuits is the plainest bound.
        let plain = case.bound(&Range::new(&case.evaluator, &case.caps).unwrap().high);
        for writing in [Writing::Full, Writing::Reduced] {
            let selection = case.selection(best * (1.0 + 1e-6), Goal::Makespan, writing).unwrap();
            let solution = solve(&selection, Start::None);
            let bound = 1e-3 * solution.bound.unwrap();
            assert!(bound <= best * (1.0 + 1e-9), "{seed} {writing:?}: {bound} above {best}");
            assert!(bound >= plain * (1.0 - 1e-9), "{seed} {writing:?}: {bound} below {plain}");
        }
    }
}

#[test]
fn fewest_ports_are_those_of_the_search() {
    for seed in 0..30 {
        let case = Case::new(samples::random_tail_exact(seed));
        let task = VectorTask::new(&case.evaluator, Rates::Best, &case.caps);
        let best: Circuits = search(task, None, &mut Unwatched::default()).unwrap().best.unwrap();
        let fewest = ports::fewest(task, &best, &mut Unwatched::default()).unwrap();
        assert!(fewest.proven);
        let limit = best.makespan * (1.0 + ports::TOLERANCE);
        let selection = case.selection(limit, Goal::Ports, Writing::Reduced).unwrap();
        if !selection.exact() {
            continue;
        }
        let solution = solve(&selection, Start::None);
        assert!((solution.objective.unwrap() - fewest.found.ports as f64).abs() < 1e-6, "{seed}");
    }
}

#[test]
fn optima_of_the_built_in_jobs() {
    let golden = [
        ("tiny4", 0.450424),
        ("tiny8", 0.677754),
        ("tiny32", 2.041735),
        ("small", 0.354406),
        ("megatron_177b", 12.829852),
        ("mixtral_8x22b", 11.350826),
        ("megatron_462b", 32.957843),
        ("deepseek_671b", 12.055830),
    ];
    for (name, makespan) in golden {
        let job = presets::job(name).unwrap().job();
        let mut case = Case::new(TrainingScenario::Job(job).build().unwrap().instance);
        let budget = &case.evaluator.network.budget;
        case.caps = (0..budget.links()).map(|link| budget.limit(link)).collect();
        let baselines = crate::search::baselines::Baseline::ALL;
        let limit = baselines.map(|baseline| case.bound(&baseline.allocate(&case.evaluator.network)));
        let limit = limit.into_iter().fold(f64::INFINITY, f64::min) * (1.0 + 1e-6);
        let selection = case.selection(limit, Goal::Makespan, Writing::Reduced).unwrap();
        let solution = solve(&selection, Start::None);
        assert_eq!(solution.status, Status::Optimal, "{name}");
        let found = 1e-3 * solution.objective.unwrap();
        assert!((found - makespan).abs() <= 1e-6, "{name}: {found}");
        let task = VectorTask::new(&case.evaluator, Rates::Best, &case.caps);
        let proof = search(task, None, &mut Unwatched::default()).unwrap();
        assert!((found - proof.bound).abs() <= 1e-9 * found, "{name}: {found}, not {}", proof.bound);
    }
}
