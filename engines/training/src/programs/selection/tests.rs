#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::TrainingScenario;
use crate::model::samples;
use crate::scenario::presets;
use crate::simulate::evaluate::{Rates, Scratch};

/// A scenario with all that fits as caps, and its vectors.
struct Case {
    instance: Instance,
    evaluator: Evaluator,
    caps: Vec<u32>,
}

impl Case {
    fn new(instance: Instance) -> Self {
        let evaluator = Evaluator::new(&instance).unwrap();
        let budget = &evaluator.network.budget;
        let caps = (0..budget.links()).map(|link| budget.limit(link).min(6)).collect();
        Self { instance, evaluator, caps }
    }

    fn selection(&self, limit_s: f64, goal: Goal, writing: Writing) -> Option<Selection> {
        let Self { instance, evaluator, caps } = self;
        Selection::new(SelectionRequest { evaluator, instance, caps, limit_s, goal, writing })
    }

    fn vectors(&self) -> Vec<Vec<u32>> {
        let mut vectors: Vec<Vec<u32>> = vec![vec![]];
        for &cap in &self.caps {
            vectors = vectors
                .iter()
                .flat_map(|head| (1..=cap).map(move |circuits| [head.as_slice(), &[circuits]].concat()))
                .collect();
        }
        vectors.retain(|x| self.evaluator.network.budget.fits(x));
        vectors
    }

    fn bound(&self, x: &[u32]) -> f64 {
        self.evaluator.bound(x, &mut Scratch::default())
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

#[test]
fn toy_b_by_hand() {
    let case = Case::new(samples::toy_b());
    // 3 ports in the middle pod: [2,1] ends at 40 ms, [1,2] and [1,1] at 50 ms.
    let full = case.selection(0.05, Goal::Makespan, Writing::Full).unwrap();
    for (x, end) in [([2, 1], 0.04), ([1, 2], 0.05), ([1, 1], 0.05)] {
        let point = full.checked_point(&x).unwrap();
        assert!(near(full.makespan_s(&point), end) && near(1e-3 * full.model().objective(&point), end));
        assert_eq!(full.circuits(&point), x);
    }
    let broken = full.checked_point(&[2, 2]).unwrap_err();
    assert_eq!(broken.name, "ports of p1");
    // Within 45 ms nothing is left to choose.
    let reduced = case.selection(0.045, Goal::Makespan, Writing::Reduced).unwrap();
    assert_eq!(reduced.range(), &Range { low: vec![2, 1], high: vec![2, 1] });
    assert!(case.selection(0.039, Goal::Makespan, Writing::Reduced).is_none());
}

#[test]
fn sizes_of_the_built_in_jobs() {
    // As described, tiny4 has 50 columns and 74 rows, 10 of them whole; counting circuits up saves some.
    let sizes = [("tiny4", 50, 74, 10), ("small", 186, 478, 28), ("megatron_177b", 303, 852, 40)];
    for (name, columns, rows, integers) in sizes {
        let job = presets::job(name).unwrap().job();
        let case = Case::new(TrainingScenario::Job(job).build().unwrap().instance);
        let limit = case.bound(&vec![1; case.caps.len()]);
        let full = case.selection(limit, Goal::Makespan, Writing::Full).unwrap().model().size();
        assert!(full.columns <= columns && full.rows <= rows && full.integers <= integers, "{name} {full:?}");
        let reduced = case.selection(limit, Goal::Makespan, Writing::Reduced).unwrap().model().size();
        assert!(reduced.columns < full.columns, "{name}: {reduced:?} of {full:?}");
    }
}

#[test]
fn points_are_feasible_and_worth_what_the_evaluation_says() {
    let (mut kept, mut exact) = (0, 0);
    for seed in 0..150 {
        let case = Case::new(samples::random_tail_exact(seed));
        let vectors = case.vectors();
        let best = vectors.iter().map(|x| case.bound(x)).fold(f64::INFINITY, f64::min);
        for limit in [best * (1.0 + 1e-9), best * 1.05, case.bound(&vectors[0])] {
            for writing in [Writing::Full, Writing::Reduced] {
                let Some(selection) = case.selection(limit, Goal::Makespan, writing) else {
                    assert!(best > limit, "{seed} {writing:?}: {best} is within {limit}");
                    continue;
                };
                for x in &vectors {
                    let end = case.bound(x);
                    let point = selection.checked_point(x);
                    if end > limit * (1.0 + 1e-9) {
                        let exact = selection.exact() && point.is_ok();
                        assert!(!exact, "{seed} {writing:?} {x:?}: {end} is beyond {limit}");
                        continue;
                    }
                    let point = point.unwrap_or_else(|broken| panic!("{seed} {writing:?} {x:?}: {broken}"));
                    let stated = selection.makespan_s(&point);
                    assert!(stated <= end * (1.0 + 1e-9), "{seed} {writing:?} {x:?}");
                    assert!(near(stated, end) || !selection.exact(), "{seed} {writing:?} {x:?}");
                    exact += usize::from(selection.exact());
                    assert!(selection.circuits(&point).iter().zip(x).all(|(here, there)| here <= there));
                    kept += 1;
                }
            }
        }
    }
    assert!(kept > 5_000 && exact > kept / 2, "{exact} of {kept}");
}

#[test]
fn elsewhere_points_are_worth_no_more_than_any_schedule() {
    let mut scratch = Scratch::default();
    for seed in 0..150 {
        let case = Case::new(samples::random_dag(seed));
        let vectors = case.vectors();
        let value = |x: &[u32], scratch: &mut Scratch| case.evaluator.makespan(x, Rates::Best, scratch);
        let limit = vectors.iter().map(|x| value(x, &mut scratch)).fold(0.0, f64::max);
        for writing in [Writing::Full, Writing::Reduced] {
            let selection = case.selection(limit, Goal::Makespan, writing).unwrap();
            for x in &vectors {
                let point = selection.checked_point(x).unwrap_or_else(|b| panic!("{seed} {x:?}: {b}"));
                let bound = selection.makespan_s(&point);
                assert!(bound <= value(x, &mut scratch) * (1.0 + 1e-9), "{seed} {writing:?} {x:?}");
                assert!(bound <= case.bound(x) * (1.0 + 1e-9), "{seed} {writing:?} {x:?}");
            }
        }
    }
}

#[test]
fn a_shorter_makespan_breaks_a_row() {
    let case = Case::new(samples::tiny4());
    for writing in [Writing::Full, Writing::Reduced] {
        let selection = case.selection(0.46, Goal::Makespan, writing).unwrap();
        for x in [[1, 3, 3], [1, 3, 2], [1, 2, 3]] {
            let Ok(mut point) = selection.checked_point(&x) else { continue };
            let makespan = selection.recipes.iter().position(|r| matches!(r, Recipe::Makespan)).unwrap();
            point[makespan] -= 1e-3;
            assert!(selection.model().first_broken(&point, 1e-7).is_some(), "{writing:?} {x:?}");
        }
    }
}

#[test]
fn ports_are_counted_by_the_other_objective() {
    let case = Case::new(samples::tiny4());
    let limit = 0.450424228492296 * (1.0 + 1e-7);
    let selection = case.selection(limit, Goal::Ports, Writing::Reduced).unwrap();
    for (x, ports) in [([1, 3, 3], 8.0), ([1, 3, 2], 7.0)] {
        let point = selection.checked_point(&x).unwrap();
        assert!((selection.model().objective(&point) - ports).abs() < 1e-9);
    }
    // Two circuits between the stages leave too little for the gradients.
    assert!(selection.range().high[0] == 1 && selection.range().low[2] == 2);
}

mod solved;
