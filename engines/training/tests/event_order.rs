//! The search over event orders on random scenarios in which everything competes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "support/contended.rs"]
mod contended;

use contended::{CIRCUITS, contended, contended_of};
use lightbay_core::event::{Done, EndStatus, Event, EventBody};
use lightbay_core::kind::{Candidate, Depth};
use lightbay_core::param::ParamValue;
use lightbay_core::testing::{Ask, Ran};
use lightbay_core::watch::Unwatched;
use lightbay_training::TrainingScenario;
use lightbay_training::check::{Claims, check_instance};
use lightbay_training::methods::{self, planned};
use lightbay_training::plan::{RateControl, TrainingResult};
use lightbay_training::scenario::instance::Instance;
use lightbay_training::scenario::presets;
use lightbay_training::search::order::{Improved, OrderLimits, improve};
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_training::simulate::iteration::Trace;

/// Scenarios on which neither simulated schedule is the best.
const SEEDS: [u64; 10] = [11, 13, 14, 29, 42, 47, 56, 90, 93, 145];

fn starts(evaluator: &Evaluator) -> [Trace; 2] {
    [Rates::Level, Rates::Fair].map(|rates| evaluator.trace(&CIRCUITS, rates, &mut Scratch::default()))
}

fn improved(evaluator: &Evaluator, limits: OrderLimits) -> Improved {
    improve(evaluator, &CIRCUITS, &starts(evaluator), limits, &mut Unwatched::default()).unwrap()
}

/// Codes of what the checker finds wrong with a plan.
fn codes(instance: &Instance, plan: &Candidate<TrainingResult>) -> Vec<&'static str> {
    let claims = Claims {
        makespan_s: plan.value,
        bound_s: None,
        bound_covers: None,
        method: "delta-order",
        metrics: Some(&plan.metrics),
        robust: None,
    };
    let verdict = check_instance(instance, &plan.result, &claims, Depth::EXACT);
    verdict.violations.iter().map(|violation| violation.code).collect()
}

#[test]
fn results_are_never_worse_than_both_starts_and_pass_the_check() {
    let mut better = 0;
    for seed in SEEDS {
        let instance = contended(seed);
        let evaluator = Evaluator::new(&instance).unwrap();
        let best = starts(&evaluator).iter().map(|trace| trace.makespan).fold(f64::INFINITY, f64::min);
        let improved = improved(&evaluator, OrderLimits { lps: 100, ..OrderLimits::default() });
        assert!(improved.makespan <= best, "seed {seed}: {} after {best}", improved.makespan);
        assert!(improved.makespan >= evaluator.bound(&CIRCUITS, &mut Scratch::default()) * (1.0 - 1e-9));
        better += u32::from(improved.makespan < best * (1.0 - 1e-6));
        let plan = planned(&evaluator, &CIRCUITS, RateControl::Joint, &improved.trace);
        assert_eq!(codes(&instance, &plan), Vec::<&str>::new(), "seed {seed}");
    }
    assert!(better >= 9, "only {better} of the schedules became shorter");
}

/// Eight tasks each; what the search reached when it was written, with six digits.
#[test]
fn small_scenarios_on_which_level_first_is_beaten() {
    for (seed, known) in [(17, 0.007_959), (44, 0.014_256), (91, 0.008_881)] {
        let evaluator = Evaluator::new(&contended_of(seed, 8)).unwrap();
        let [level, fair] = starts(&evaluator);
        let makespan = improved(&evaluator, OrderLimits::default()).makespan;
        assert!(makespan < 0.95 * level.makespan.min(fair.makespan), "seed {seed}: {makespan}");
        assert!(makespan < known + 1e-6, "seed {seed}: {makespan}, reached {known} before");
    }
}

#[test]
fn the_same_seed_gives_the_same_schedule() {
    let evaluator = Evaluator::new(&contended(63)).unwrap();
    let [first, second] = [0, 1].map(|_| improved(&evaluator, OrderLimits::default()));
    assert_eq!((first.lps, first.iterations, first.pruned), (second.lps, second.iterations, second.pruned));
    assert_eq!(*first.trace, *second.trace);
}

#[test]
fn programs_are_counted_and_limited() {
    let evaluator = Evaluator::new(&contended(63)).unwrap();
    let short = improved(&evaluator, OrderLimits { lps: 5, ..OrderLimits::default() });
    assert!(short.lps >= 5 && short.lps <= 6 && short.cut_short, "{} programs", short.lps);
    let none = improved(&evaluator, OrderLimits { lps: 0, ..OrderLimits::default() });
    assert!(none.lps == 0 && none.cut_short);
    assert_eq!(none.makespan, starts(&evaluator)[0].makespan);
}

/// Volumes and times are exact, not only to the solver's tolerance.
#[test]
fn schedules_are_exact_to_rounding() {
    for seed in SEEDS {
        let evaluator = Evaluator::new(&contended(seed)).unwrap();
        let network = &evaluator.network;
        let trace = improved(&evaluator, OrderLimits { restarts: 0, ..OrderLimits::default() }).trace;
        for task in 0..network.tasks() {
            let pieces: Vec<_> = trace.pieces.iter().filter(|piece| piece.task as usize == task).collect();
            let sent: f64 = pieces.iter().map(|piece| piece.volume).sum();
            assert!((sent - network.volume[task]).abs() <= 1e-12 * network.volume[task]);
            assert_eq!(pieces[0].start, trace.start[task]);
            assert_eq!(pieces[pieces.len() - 1].end, trace.finish[task]);
            for pair in pieces.windows(2) {
                assert_eq!(pair[0].end, pair[1].start, "seed {seed}, task {task}");
            }
            for piece in &pieces {
                let most = network.flows[task].min(3.0) * network.rate * (piece.end - piece.start);
                assert!(
                    piece.volume >= 0.0 && piece.volume <= most * (1.0 + 1e-9),
                    "seed {seed}, task {task}"
                );
            }
            let ready =
                network.preds.of(task as u32).iter().map(|arc| trace.finish[arc.task as usize] + arc.delay);
            assert_eq!(trace.start[task], ready.fold(network.release[task], f64::max));
        }
    }
}

/// A plan from programs with one thing changed: rounding passes, anything larger is found.
#[test]
fn the_checker_forgives_rounding_and_nothing_else() {
    let instance = contended(145);
    let evaluator = Evaluator::new(&instance).unwrap();
    let trace = improved(&evaluator, OrderLimits::default()).trace;
    let plan = planned(&evaluator, &CIRCUITS, RateControl::Joint, &trace);
    let changed = |change: &dyn Fn(&mut Candidate<TrainingResult>)| {
        let mut other =
            Candidate { value: plan.value, metrics: plan.metrics.clone(), result: plan.result.clone() };
        change(&mut other);
        codes(&instance, &other)
    };
    let scaled = |by: f64| {
        changed(&|plan| {
            for (index, task) in plan.result.tasks.iter_mut().enumerate() {
                let by = if index % 2 == 0 { 1.0 + by } else { 1.0 - by };
                for segment in &mut task.segments {
                    segment.volume_bytes *= by;
                }
            }
        })
    };
    assert_eq!(scaled(1e-10), Vec::<&str>::new());
    assert!(scaled(1e-8).contains(&"conservation"));
    // The task with most segments, none of them idle at its end.
    let most =
        (0..plan.result.tasks.len()).max_by_key(|task| plan.result.tasks[*task].segments.len()).unwrap();
    assert!(plan.result.tasks[most].segments.len() > 1, "no rate ever changes");
    let rushed = changed(&|plan| {
        // All of it in the last segment, which is too short for that.
        let segments = &mut plan.result.tasks[most].segments;
        let volume: f64 = segments.iter().map(|segment| segment.volume_bytes).sum();
        for segment in segments.iter_mut() {
            segment.volume_bytes = 0.0;
        }
        segments.last_mut().unwrap().volume_bytes = volume;
    });
    assert!(rushed.contains(&"flow_cap") || rushed.contains(&"circuit"), "{rushed:?}");
    let gap = changed(&|plan| {
        plan.result.tasks[most].segments.remove(0);
    });
    assert!(gap.contains(&"contiguity"), "{gap:?}");
    for by_s in [1e-3, 1e-9] {
        let early = changed(&|plan| {
            let succ = instance.edges[0].succ.index();
            let task = &mut plan.result.tasks[succ];
            task.start_s -= by_s;
            task.segments[0].start_s -= by_s;
        });
        assert!(
            early.contains(&"precedence") || early.contains(&"order") || early.contains(&"release"),
            "{by_s}: {early:?}"
        );
    }
    assert!(changed(&|plan| plan.value *= 1.0 - 1e-8).contains(&"makespan"));
    let fewer = changed(&|plan| plan.result.topology[0].circuits = 2);
    assert!(fewer.contains(&"circuit"), "{fewer:?}");
}

/// Runs `delta-order`; returns how it ended and what it said.
fn solve(body: TrainingScenario, params: &[(&str, ParamValue)], from: Option<&Done>) -> (Done, Vec<Event>) {
    let ask = Ask::of(&methods::all(), "delta-order", body).with(params);
    let Ran { done, events } = ask.from(from.and_then(|done| done.plan.clone())).run();
    assert_eq!(done.status, EndStatus::Heuristic, "{} {:?}", done.message, done.violations);
    (done, events)
}

fn programs(events: &[Event]) -> u64 {
    let counted = events.iter().filter_map(|event| match &event.body {
        EventBody::Solver(stats) if stats.unit == "LPs" => Some(stats.done),
        _ => None,
    });
    counted.max().unwrap_or(0)
}

fn circuits(of: [i64; 2]) -> [(&'static str, ParamValue); 1] {
    [("circuits", ParamValue::List(of.map(ParamValue::Int).to_vec()))]
}

#[test]
fn the_method_stops_at_once_where_level_first_meets_the_bound() {
    let job = presets::job("one_stage_per_pod").unwrap().job();
    let (done, events) = solve(TrainingScenario::Job(job), &[], None);
    assert!((done.value.unwrap() - 0.356_200).abs() < 5e-7, "{:?}", done.value);
    assert_eq!(programs(&events), 0);
}

#[test]
fn the_method_solves_given_circuits_and_bounds_only_these() {
    let (done, events) = solve(TrainingScenario::Instance(contended(63)), &circuits([3, 3]), None);
    assert!((done.value.unwrap() - 0.012_052).abs() < 1e-6, "{:?}", done.value);
    assert!(programs(&events) > 0);
    assert_eq!(done.bound, None, "a bound of some circuits is none of the scenario");
    let bounds: Vec<f64> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Bound(bound) => {
                assert_eq!(bound.only.as_deref(), Some("these circuits only"));
                Some(bound.value)
            }
            _ => None,
        })
        .collect();
    assert!(bounds.last().unwrap() > &(done.value.unwrap() * (1.0 - 1e-6)), "{bounds:?}");
}

/// A run that may solve nothing keeps the schedule, not only the circuits, of the plan it began from.
#[test]
fn a_hot_start_keeps_its_schedule() {
    let body = || TrainingScenario::Instance(contended(63));
    let (first, _) = solve(body(), &circuits([3, 3]), None);
    let nothing = [("lps", ParamValue::Int(0)), ("orders", ParamValue::Int(0))];
    let (second, events) = solve(body(), &nothing, Some(&first));
    assert_eq!(programs(&events), 0);
    assert!((second.value.unwrap() - first.value.unwrap()).abs() <= 1e-12);
}

#[test]
fn exchanges_of_circuits_help_a_bad_beginning() {
    let mut params = circuits([1, 3]).to_vec();
    let (alone, _) = solve(TrainingScenario::Instance(contended(63)), &params, None);
    params.push(("exchange", ParamValue::Bool(true)));
    let (exchanged, _) = solve(TrainingScenario::Instance(contended(63)), &params, None);
    assert!(exchanged.value.unwrap() < 0.9 * alone.value.unwrap(), "{:?} {:?}", exchanged.value, alone.value);
}
