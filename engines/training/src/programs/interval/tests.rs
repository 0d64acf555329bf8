#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::programs::circuit_bounds::circuit_bounds;
use crate::scenario::instance::Instance;
use crate::simulate::evaluate::{Rates, Scratch};
use crate::simulate::iteration::Trace;
use lightbay_core::context::Stop;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};

/// A scenario with a run on given circuits.
struct Case {
    evaluator: Evaluator,
    names: Names,
    caps: Vec<u32>,
    trace: Trace,
    x: Vec<u32>,
}

impl Case {
    fn new(instance: &Instance, x: &[u32], rates: Rates) -> Self {
        let evaluator = Evaluator::new(instance).unwrap();
        let trace = evaluator.trace(x, rates, &mut Scratch::default());
        let windows = Windows::new(&evaluator.network, trace.makespan * (1.0 + 1e-4));
        let caps = circuit_bounds(&evaluator.network, &windows);
        let caps = caps.iter().zip(x).map(|(cap, x)| *cap.max(x)).collect();
        Self { names: Names::new(instance), caps, trace, x: x.to_vec(), evaluator }
    }

    fn model(&self, windows: &IndexWindows, form: Form) -> IntervalModel {
        IntervalModel::new(self.question(windows, form), &mut |_| Ok(())).unwrap()
    }

    fn question<'a>(&'a self, windows: &'a IndexWindows, form: Form) -> IntervalQuestion<'a> {
        IntervalQuestion {
            scope: self.scope(None),
            limit_s: self.trace.makespan * (1.0 + 1e-6),
            windows,
            form,
        }
    }

    fn scope<'a>(&'a self, fixed: Option<&'a [u32]>) -> Scope<'a> {
        Scope { evaluator: &self.evaluator, names: &self.names, caps: &self.caps, fixed, least_s: 0.0 }
    }
}

const PAPER: Form = Form { fair: false, tighten: false, cuts: false };
const TIGHT: Form = Form { fair: false, tighten: true, cuts: false };
const CUTS: Form = Form { fair: false, tighten: true, cuts: true };

#[test]
fn sizes_of_the_smallest_preset() {
    let case = Case::new(&crate::model::samples::tiny4(), &[2, 2, 2], Rates::Fair);
    let anchored = IndexWindows::anchored(&case.evaluator.network, &case.trace, 2);
    let open = IndexWindows::open(&[true; 12], 22);
    let size = |windows, form| {
        let size = case.model(windows, form).model.size();
        (size.columns, size.rows, size.integers)
    };
    assert_eq!(anchored.intervals, 22);
    assert_eq!(size(&open, PAPER), (1027, 2029, 275));
    assert_eq!(size(&anchored, PAPER), (388, 822, 87));
    assert_eq!(size(&anchored, TIGHT), (388, 834, 87));
    assert_eq!(size(&anchored, Form { fair: true, ..TIGHT }), (434, 986, 87));
}

fn preset(name: &str) -> Instance {
    let job = crate::scenario::presets::job(name).unwrap().job();
    crate::scenario::TrainingScenario::Job(job).build().unwrap().instance
}

/// Activities without windows, with windows of the DAG, with windows around a fair run.
fn cells(name: &str, x: &[u32]) -> [u64; 3] {
    let case = Case::new(&preset(name), x, Rates::Fair);
    let network = &case.evaluator.network;
    let anchored = IndexWindows::anchored(network, &case.trace, 2);
    let counted = vec![true; network.tasks()];
    let open = IndexWindows::open(&counted, anchored.intervals).cells();
    [open, IndexWindows::new(network, anchored.intervals).cells(), anchored.cells()]
}

#[test]
fn windows_leave_few_activities() {
    assert_eq!(cells("tiny4", &[2, 2, 2]), [264, 125, 76]);
    assert_eq!(cells("tiny8", &[2, 2, 2]), [600, 205, 116]);
    assert_eq!(cells("tiny32", &[2, 2, 2]), [5304, 685, 356]);
    assert_eq!(cells("megatron_177b", &[2, 6, 7, 4, 3]), [60786, 40206, 1049]);
}

/// The run of a case as a point of its model, and what it breaks there.
fn broken(case: &Case, counted: &[bool], form: Form) -> Option<String> {
    let network = &case.evaluator.network;
    let grid = match Grid::of_trace(network, &case.trace, &case.x, counted) {
        Ok(grid) => grid,
        Err(why) => return Some(why),
    };
    let windows = IndexWindows::around(network, &case.trace, counted, 2, grid.intervals + 2);
    let model = case.model(&windows, form);
    let point = match model.point(network, &grid) {
        Ok(point) => point,
        Err(why) => return Some(why),
    };
    assert!((model.claimed_s(&point) - case.trace.makespan).abs() <= 1e-9 + 1e-9 * case.trace.makespan);
    assert!((model.model.objective(&point) * model.unit_s - model.claimed_s(&point)).abs() < 1e-12);
    // Back again: the same schedule.
    let back = model.grid(network, &point).trace(network).unwrap();
    assert!((back.makespan - case.trace.makespan).abs() <= 1e-9 + 1e-9 * case.trace.makespan);
    model.model.first_broken(&point, 5e-7).map(|broken| broken.to_string())
}

const FORMS: [Form; 6] = [
    PAPER,
    TIGHT,
    Form { fair: false, tighten: true, cuts: true },
    Form { fair: true, tighten: false, cuts: false },
    Form { fair: true, tighten: true, cuts: false },
    Form { fair: true, tighten: true, cuts: true },
];

/// All forms, with intervals for all tasks and for those that compete.
fn every_form(instance: &Instance, x: &[u32]) {
    for form in FORMS {
        let rates = if form.fair { Rates::Fair } else { Rates::Best };
        let case = Case::new(instance, x, rates);
        let network = &case.evaluator.network;
        if form.fair && !network.nic_groups.is_empty() {
            continue;
        }
        assert_eq!(broken(&case, &vec![true; network.tasks()], form), None, "{form:?} {x:?}");
        if form.cuts {
            let contended = case.evaluator.contention.contended.clone();
            assert_eq!(broken(&case, &contended, form), None, "{form:?} {x:?}, competing tasks only");
        }
    }
}

#[test]
fn runs_of_presets_are_points_of_the_model() {
    every_form(&preset("tiny4"), &[1, 3, 3]);
    every_form(&preset("tiny8"), &[2, 2, 2]);
    every_form(&preset("tiny32"), &[1, 3, 3]);
    every_form(&preset("one_stage_per_pod"), &[1, 1, 1, 2, 2, 2, 2]);
    every_form(&preset("megatron_177b"), &[2, 6, 7, 4, 3]);
}

#[test]
fn runs_of_random_instances_are_points_of_the_model() {
    for seed in 0..60 {
        let instance = if seed % 2 == 0 {
            crate::model::samples::random_dag(seed)
        } else {
            crate::model::samples::random_tail_exact(seed)
        };
        let evaluator = Evaluator::new(&instance).unwrap();
        let x = crate::search::baselines::Baseline::ALL[seed as usize % 3].allocate(&evaluator.network);
        every_form(&instance, &x);
    }
}

/// The best makespan of an instance by every form, from a run on given circuits.
fn optimum(instance: &Instance, x: &[u32], rates: Rates, fixed: bool) -> f64 {
    let case = Case::new(instance, x, rates);
    let mut found: Vec<f64> = Vec::new();
    for (form, competing_only) in [(PAPER, false), (TIGHT, false), (CUTS, false), (CUTS, true)] {
        let form = Form { fair: rates == Rates::Fair, ..form };
        let shape = Shape { form, competing_only, pruning: Pruning::Anchored(2), intervals: 0 };
        let subject = ShapeSubject {
            scope: case.scope(fixed.then_some(x)),
            circuits: x,
            start: &case.trace,
            anchor: &case.trace,
        };
        let shaped = shape.write(subject, &mut |_| Ok(())).unwrap();
        let solution = solve(&shaped.model, Start::Full(shaped.point.unwrap()), 30.0);
        assert_eq!(solution.status, Status::Optimal, "{form:?}");
        let values = solution.values.unwrap();
        let grid = shaped.model.grid(&case.evaluator.network, &values);
        let trace = grid.trace(&case.evaluator.network).unwrap();
        let claimed = shaped.model.claimed_s(&values);
        // The schedule is never longer than claimed; at fair rates the network may not give what was claimed.
        assert!(trace.makespan <= claimed * (1.0 + 1e-7), "{form:?}: {} s, not {claimed} s", trace.makespan);
        found.push(claimed);
    }
    assert!(found.iter().all(|value| (value - found[0]).abs() < 1e-6 * found[0]), "{found:?}");
    found[0]
}

fn solve(model: &IntervalModel, start: Start, limit_s: f64) -> Solution {
    let options = Options::new().relative_gap(1e-7).time_limit_s(limit_s);
    solve_here(&model.model, &options, &start, &mut NoListener).unwrap()
}

#[test]
fn two_tasks_by_hand() {
    // Two transfers of 20 ms at full rate, released 10 ms apart, share 3, 2 or 1 circuits.
    let toy = crate::model::samples::toy_a();
    for (x, joint_ms, fair_ms) in [(3, 30.0, 100.0 / 3.0), (2, 40.0, 40.0), (1, 80.0, 80.0)] {
        assert!((optimum(&toy, &[x], Rates::Best, true) * 1e3 - joint_ms).abs() < 1e-5, "{x} circuits");
        let fair = optimum(&toy, &[x], Rates::Fair, true) * 1e3;
        // Who decides no rates may still wait: that can only help.
        assert!(fair <= fair_ms + 1e-5 && fair >= joint_ms - 1e-5, "{x} circuits: {fair} ms");
    }
    // The second circuit of pod 1 belongs on the critical path.
    assert!(
        (optimum(&crate::model::samples::toy_b(), &[1, 2], Rates::Best, false) * 1e3 - 40.0).abs() < 1e-5
    );
}

#[test]
fn contention_is_seen_by_the_relaxation() {
    // Proven at the root, from a run that is 11 % of the communication time longer.
    for (name, x, end_s) in [("tiny4", [2, 2, 2], 0.450_424_228), ("tiny8", [2, 2, 2], 0.677_754_318)] {
        let case = Case::new(&preset(name), &x, Rates::Best);
        let counted = case.evaluator.contention.contended.clone();
        let grid = Grid::of_trace(&case.evaluator.network, &case.trace, &case.x, &counted).unwrap();
        let windows =
            IndexWindows::around(&case.evaluator.network, &case.trace, &counted, 2, grid.intervals + 2);
        let model = case.model(&windows, CUTS);
        let point = model.point(&case.evaluator.network, &grid).unwrap();
        assert!(model.claimed_s(&point) > end_s * 1.001);
        let solution = solve(&model, Start::Full(point), 60.0);
        assert_eq!(solution.status, Status::Optimal);
        let trace = model.grid(&case.evaluator.network, &solution.values.unwrap());
        let end = trace.trace(&case.evaluator.network).unwrap().makespan;
        assert!((end - end_s).abs() < 1e-8, "{name}: {end} s");
    }
}

#[test]
fn runs_that_do_not_fit_are_refused_with_the_row() {
    let case = Case::new(&preset("tiny4"), &[1, 3, 3], Rates::Best);
    let shape = Shape { form: CUTS, competing_only: true, pruning: Pruning::Anchored(2), intervals: 0 };
    let subject = ShapeSubject {
        scope: case.scope(Some(&[2, 2, 2])),
        circuits: &case.x,
        start: &case.trace,
        anchor: &case.trace,
    };
    let broken = shape.write(subject, &mut |_| Ok(())).unwrap().point.unwrap_err();
    assert!(
        broken.starts_with(&format!("circuits {} is 1, below its lower bound 2", case.names.links[0])),
        "{broken}"
    );
    let ports = ShapeSubject { scope: case.scope(None), circuits: &[2, 3, 3], ..subject };
    let broken = shape.write(ports, &mut |_| Ok(())).unwrap().point.unwrap_err();
    assert!(broken.contains("ports of pod"), "{broken}");
    // Fair and joint runs end at different events, so windows at margin 0 have to grow.
    let fair = case.evaluator.trace(&[1, 3, 3], Rates::Fair, &mut Scratch::default());
    let all = Shape { form: TIGHT, competing_only: false, pruning: Pruning::Anchored(0), intervals: 3 };
    let joined = ShapeSubject { scope: case.scope(None), anchor: &fair, ..subject };
    let grown = all.write(joined, &mut |_| Ok(())).unwrap();
    assert!(grown.point.is_ok() && grown.windows.intervals >= 20, "{:?}", grown.point.err());
}

#[test]
fn fewest_ports_at_the_same_makespan() {
    let case = Case::new(&preset("tiny4"), &[1, 3, 3], Rates::Best);
    let counted = case.evaluator.contention.contended.clone();
    let network = &case.evaluator.network;
    let grid = Grid::of_trace(network, &case.trace, &case.x, &counted).unwrap();
    let windows = IndexWindows::around(network, &case.trace, &counted, 2, grid.intervals + 2);
    let mut model = case.model(&windows, CUTS);
    let point = model.point(network, &grid).unwrap();
    model.model = model.fewest_ports(&case.evaluator, case.trace.makespan * (1.0 + 1e-7));
    let solution = solve(&model, Start::Full(point), 30.0);
    assert_eq!((solution.status, solution.objective), (Status::Optimal, Some(7.0)));
}

#[test]
fn a_delay_of_a_nanosecond_between_two_tasks_is_kept() {
    let mut instance = crate::model::samples::toy_b();
    instance.edges[0].delay_s = 1e-9;
    let network = Evaluator::new(&instance).unwrap().network;
    // One circuit for tasks 0 and 1, two for task 2: 20 ms, then 20 ms and 15 ms beside each other.
    let grid = Grid {
        circuits: vec![1, 2],
        intervals: 3,
        first: vec![1, 2, 2],
        sent: vec![vec![0.02], vec![0.015, 0.005], vec![0.03]],
    };
    let trace = grid.trace(&network).unwrap();
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a:e}, not {b:e}");
    near(trace.finish[0], 0.02);
    near(trace.start[1], 0.020_000_001);
    near(trace.start[2], 0.02);
    near(trace.finish[2], 0.035_000_001);
    near(trace.makespan, 0.040_000_001);
    let first = trace.pieces.iter().find(|piece| piece.task == 1).unwrap();
    near(first.start, 0.020_000_001);
    near(first.volume, 0.75e9);
}

#[test]
fn a_stop_while_the_model_is_written_ends_it_at_once() {
    let case = Case::new(&crate::model::samples::tiny4(), &[2, 2, 2], Rates::Fair);
    let open = IndexWindows::open(&[true; 12], 22);
    for form in [PAPER, TIGHT, CUTS, Form { fair: true, ..PAPER }] {
        let mut heard = Vec::new();
        let ask = case.question(&open, form);
        let whole = IntervalModel::new(ask, &mut |rows| {
            heard.push(rows);
            Ok(())
        });
        let rows = whole.unwrap().model.size().rows;
        // Asked while there are only columns, too, and then at least every 64 rows.
        assert!(heard.iter().filter(|rows| **rows == 0).count() > 12, "{heard:?}");
        assert!(heard.windows(2).all(|two| two[0] <= two[1] && two[1] <= two[0] + 64), "{heard:?}");
        assert!(u64::from(rows) <= heard.last().unwrap() + 64);
        for stop in [1, heard.len() / 2, heard.len()] {
            let mut questions = 0;
            let stopped = IntervalModel::new(ask, &mut |_| {
                questions += 1;
                if questions == stop { Err(Stop::Requested.into()) } else { Ok(()) }
            });
            assert!(matches!(stopped, Err(MethodError::Stopped(Stop::Requested))));
            // Nothing is asked, so nothing is written, after the stop.
            assert_eq!(questions, stop);
        }
    }
}
