#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use super::program::{OrderProgram, Part};
use super::*;
use crate::model::samples::{edge, link, pod, random_dag, random_tail_exact, task, toy_a};
use crate::scenario::instance::{Instance, LinkKind};
use crate::simulate::evaluate::Rates;
use lightbay_core::watch::StopTest;
use lightbay_core::watch::Unwatched;
use lightbay_highs::model::Row;

fn starts(evaluator: &Evaluator, x: &[u32]) -> [Trace; 2] {
    [Rates::Level, Rates::Fair].map(|rates| evaluator.trace(x, rates, &mut Scratch::default()))
}

/// Two tasks of one link, then one on the other for each; the work after the second is longer.
fn forks() -> Instance {
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: vec![pod(0, 2, false), pod(1, 4, false), pod(2, 4, false)],
        links: vec![link(0, 0, 1, LinkKind::Mixed, 1, 1), link(1, 1, 2, LinkKind::Mixed, 1, 1)],
        tasks: vec![
            task(0, 0, 1, 2, 1e9, 0.0),
            task(1, 0, 1, 2, 1e9, 0.0),
            task(2, 1, 2, 1, 1e8, 0.0),
            task(3, 1, 2, 1, 1e8, 0.0),
        ],
        edges: vec![edge(0, 2, 0.001), edge(1, 3, 0.013)],
        provenance: None,
        reconfiguration: None,
    }
}

/// Two tasks on three circuits and the order of their events at fair rates. 30 ms are 900 units if the fair
/// schedule's 33.3 ms are 1000.
fn two_tasks() -> (Evaluator, Competition, EventOrder) {
    let evaluator = Evaluator::new(&toy_a()).unwrap();
    let fair = evaluator.trace(&[3], Rates::Fair, &mut Scratch::default());
    let competition = Competition::new(&evaluator, &[3], fair.makespan);
    let order = EventOrder::of(&fair, &competition);
    (evaluator, competition, order)
}

/// 10 ms with two tasks on three circuits, then both together: by hand, all columns and rows.
#[test]
fn the_program_of_two_tasks_on_one_link_is_as_written_by_hand() {
    let (_, competition, order) = two_tasks();
    let program = OrderProgram::new(&competition, &order);
    assert_eq!(program.model.columns(), 2 + 1 + 3, "two starts, the makespan, three volumes");
    let parts = [
        Part::Sent(0),
        Part::Sent(1),
        Part::Rate(0, 0),
        Part::Share(0, 1),
        Part::Rate(0, 1),
        Part::Rate(1, 1),
    ];
    assert_eq!(program.rows, parts);
    let share: Vec<f64> = program.model.terms(Row(3)).map(|(_, value)| value).collect();
    assert_eq!(share, [3.0, -3.0, -1.0, -1.0], "three circuits times the length less both volumes");
    // 0 to 300 units at 2 NICs, then 1 and 2 NICs to 900 units.
    let point = [0.0, 300.0, 900.0, 600.0, 600.0, 1200.0];
    assert_eq!(program.model.first_broken(&point, 1e-9), None);
    assert!((program.model.objective(&point) - 900.0).abs() < 1e-9);
    let shorter = [0.0, 300.0, 890.0, 600.0, 600.0, 1200.0];
    assert_eq!(
        program.model.first_broken(&shorter, 1e-9).unwrap().name,
        "makespan",
        "the second task alone needs 20 ms"
    );
    let uneven = [0.0, 300.0, 910.0, 590.0, 610.0, 1221.0];
    assert_eq!(program.model.first_broken(&uneven, 1e-9).unwrap().name, "volume of task 1");
    let fast = [0.0, 300.0, 900.0, 500.0, 700.0, 1200.0];
    assert_eq!(
        program.model.first_broken(&fast, 1e-9).unwrap().name,
        "circuits of link 0, forward in interval 1"
    );
}

#[test]
fn the_solution_of_two_tasks_on_one_link_is_exact() {
    let (evaluator, competition, order) = two_tasks();
    let point = Solver::new(StopTest::new(|| false)).solve(&competition, order, None).unwrap().unwrap();
    let trace = realise::trace(&evaluator, &[3], &competition, &point);
    assert!((trace.makespan - 0.03).abs() < 1e-12, "{}", trace.makespan);
    let sent = |task: u32| trace.pieces.iter().filter(|p| p.task == task).map(|p| p.volume).sum::<f64>();
    assert_eq!((sent(0), sent(1)), (2e9, 2e9));
}

/// By hand: task 1 first (10 ms), its successor from 23 to 25 ms; task 0 then ends at 20 ms, and its successor at
/// 23 ms. The other way round it is 35 ms.
#[test]
fn the_task_with_the_longer_rest_goes_first_whatever_the_order_at_the_beginning() {
    let evaluator = Evaluator::new(&forks()).unwrap();
    let x = [2, 2];
    let fair = evaluator.trace(&x, Rates::Fair, &mut Scratch::default());
    assert!((fair.makespan - 0.035).abs() < 1e-12, "{}", fair.makespan);
    let improved = improve(
        &evaluator,
        &x,
        std::slice::from_ref(&fair),
        OrderLimits::default(),
        &mut Unwatched::default(),
    )
    .unwrap();
    assert!((improved.makespan - 0.025).abs() < 1e-11, "{}", improved.makespan);
    assert!(improved.lps <= 3, "{} programs", improved.lps);
}

#[test]
fn orders_begin_with_what_the_dag_demands_even_where_times_are_turned_around() {
    let evaluator = Evaluator::new(&random_dag(3)).unwrap();
    let x = vec![2; evaluator.network.links()];
    let mut trace = evaluator.trace(&x, Rates::Fair, &mut Scratch::default());
    for start in &mut trace.start {
        *start = 1.0 - *start;
    }
    let competition = Competition::new(&evaluator, &x, trace.makespan);
    let order = EventOrder::of(&trace, &competition);
    for (at, event) in order.events.iter().enumerate() {
        for later in &order.events[at + 1..] {
            assert!(!later.precedes(*event, &competition, &evaluator));
        }
    }
}

/// The tails of links have an exact solution of their own, found by another way.
#[test]
fn tail_exact_scenarios_have_the_known_optimum_from_either_start() {
    for seed in 0..12 {
        let evaluator = Evaluator::new(&random_tail_exact(seed)).unwrap();
        let x = vec![1; evaluator.network.links()];
        if evaluator.contention.count() == 0 {
            continue;
        }
        let known = evaluator.makespan(&x, Rates::Level, &mut Scratch::default());
        let [level, fair] = starts(&evaluator, &x);
        for start in [level, fair] {
            let competition = Competition::new(&evaluator, &x, start.makespan);
            let order = EventOrder::of(&start, &competition);
            let point =
                Solver::new(StopTest::new(|| false)).solve(&competition, order, None).unwrap().unwrap();
            let makespan = realise::trace(&evaluator, &x, &competition, &point).makespan;
            assert!((makespan - known).abs() <= 1e-9 * known, "seed {seed}: {makespan} {known}");
        }
    }
}

#[test]
fn schedules_at_the_bound_need_no_program() {
    let evaluator = Evaluator::new(&random_tail_exact(1)).unwrap();
    let x = vec![1; evaluator.network.links()];
    let improved =
        improve(&evaluator, &x, &starts(&evaluator, &x), OrderLimits::default(), &mut Unwatched::default())
            .unwrap();
    assert_eq!(improved.lps, 0);
}

/// A start from the basis of a neighbour may end in another corner, but not with another makespan.
#[test]
fn neighbours_solved_warm_and_cold_agree() {
    for seed in 0..6 {
        let evaluator = Evaluator::new(&random_dag(seed)).unwrap();
        let x = vec![2; evaluator.network.links()];
        let [level, _] = starts(&evaluator, &x);
        let competition = Competition::new(&evaluator, &x, level.makespan);
        let mut solver = Solver::new(StopTest::new(|| false));
        let point = solver.solve(&competition, EventOrder::of(&level, &competition), None).unwrap().unwrap();
        for at in 1..point.order.events.len() {
            let Some(order) = point.order.moved(at - 1, at, &competition, &evaluator) else { continue };
            let warm = solver.solve(&competition, order.clone(), Some(&point.standing)).unwrap().unwrap();
            let cold = solver.solve(&competition, order, None).unwrap().unwrap();
            assert!((warm.makespan - cold.makespan).abs() < 1e-6, "seed {seed}, event {at}");
        }
    }
}

/// Moves that prices discard are no better: every move among coinciding events is solved here.
#[test]
fn discarded_moves_would_not_have_helped() {
    let mut discarded = 0;
    for seed in 0..8 {
        let evaluator = Evaluator::new(&random_dag(seed)).unwrap();
        let x = vec![2; evaluator.network.links()];
        let [level, _] = starts(&evaluator, &x);
        let competition = Competition::new(&evaluator, &x, level.makespan);
        let mut solver = Solver::new(StopTest::new(|| false));
        let point = solver.solve(&competition, EventOrder::of(&level, &competition), None).unwrap().unwrap();
        let mut pricing = Pricing::default();
        let kept: Vec<u64> = pricing
            .moves(&competition, &evaluator, &point)
            .iter()
            .map(|step| step.order.fingerprint())
            .collect();
        for at in 1..point.order.events.len() {
            if point.times[at] - point.times[at - 1] > 1e-7 {
                continue;
            }
            let Some(order) = point.order.moved(at - 1, at, &competition, &evaluator) else { continue };
            if kept.contains(&order.fingerprint()) {
                continue;
            }
            discarded += 1;
            let other = solver.solve(&competition, order, None).unwrap().unwrap();
            assert!(other.makespan >= point.makespan - 1e-5, "seed {seed}, event {at}");
        }
    }
    assert!(discarded > 20, "{discarded} moves were discarded");
}
