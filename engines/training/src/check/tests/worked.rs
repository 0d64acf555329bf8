//! Worked examples: plans computed by hand.

use super::support::{
    NIC, Scenario, Whole, runs, tiny4, toy_a, toy_a_fair, toy_a_idle, toy_a_joint, toy_b_plan, whole,
};
use crate::check::case::Case;
use crate::check::nics::nic_groups;
use crate::check::replay::replay;
use crate::plan::{RateControl, TaskSchedule};

#[test]
fn plans_by_hand_pass() {
    for plan in [
        toy_a_fair(),
        toy_a_joint(),
        toy_a_idle(),
        toy_b_plan(RateControl::Fair),
        toy_b_plan(RateControl::Joint),
        tiny4_fair(),
        tiny4_level_first(),
    ] {
        plan.assert_passes();
    }
}

#[test]
fn fair_rates_of_the_toys_are_those_of_the_worked_example() {
    for (circuits, finishes_ms) in [(3, [70.0 / 3.0, 100.0 / 3.0]), (2, [30.0, 40.0]), (1, [70.0, 80.0])] {
        let instance = toy_a(3);
        let case = Case::from_instance(&instance).unwrap();
        let run = replay(&case, &nic_groups(&case), Some(&[circuits])).unwrap();
        for (finish_s, expected_ms) in run.finish_s.iter().zip(finishes_ms) {
            assert!((finish_s * 1e3 - expected_ms).abs() < 1e-9, "{circuits}: {finish_s}");
        }
    }
}

/// Milliseconds to seconds.
fn s(ms: f64) -> f64 {
    ms * 1e-3
}

/// The pipeline part of tiny4 with one circuit between the pods: every transfer at one NIC.
fn tiny4_pipeline() -> Vec<TaskSchedule> {
    let times = [
        (37.552804, 38.223893),
        (56.832522, 57.503611),
        (76.112241, 76.783329),
        (150.546760, 151.217849),
        (207.379282, 208.050371),
        (207.379282, 208.050371),
        (264.211805, 264.882893),
        (320.373238, 321.044327),
    ];
    let mut tasks: Vec<TaskSchedule> = times
        .iter()
        .enumerate()
        .map(|(task, (from, to))| runs(task as u32, s(*from), &[(1.0, s(*to))]))
        .collect();
    for task in &mut tasks {
        task.segments[0].volume_bytes = 33_554_432.0;
    }
    tasks
}

/// Makes the last piece carry what is left: the printed times have nine digits.
fn fill_up(mut task: TaskSchedule, volume: f64) -> TaskSchedule {
    let last = task.segments.len() - 1;
    let before: f64 = task.segments[..last].iter().map(|segment| segment.volume_bytes).sum();
    let left = volume - before;
    let planned = task.segments[last].volume_bytes;
    assert!((left - planned).abs() < 300.0, "{left} {planned}: more than printed digits explain");
    task.segments[last].volume_bytes = left;
    task
}

const DP_OUTER: f64 = 5_460_983_808.0;
const DP_INNER: f64 = 4_831_838_208.0;

fn tiny4_fair() -> Whole {
    let mut tasks = tiny4_pipeline();
    let (s4, s3) = ((283.155979, 343.339647), (321.044327, 374.936539));
    let (s2, s1) = ((358.597131, 410.615887), (395.814390, 454.124603));
    // Two exchanges meet on three circuits: 1.5 NICs each while both run.
    tasks.push(fill_up(runs(8, s(s4.0), &[(2.0, s(s3.0)), (1.5, s(s4.1))]), DP_OUTER));
    tasks.push(fill_up(runs(9, s(s3.0), &[(1.5, s(s4.1)), (2.0, s(s3.1))]), DP_INNER));
    tasks.push(fill_up(runs(10, s(s2.0), &[(2.0, s(s1.0)), (1.5, s(s2.1))]), DP_INNER));
    tasks.push(fill_up(runs(11, s(s1.0), &[(1.5, s(s2.1)), (2.0, s(s1.1))]), DP_OUTER));
    let figures = [s(454.124603), s(449.082051), 1.0 + (454.124603 - 449.082051) / 55.952015];
    whole(Scenario::Job(tiny4()), RateControl::Fair, &[1, 3, 3], 8, figures, tasks)
}

pub fn tiny4_level_first() -> Whole {
    let mut tasks = tiny4_pipeline();
    tasks.push(fill_up(runs(8, s(283.155979), &[(2.0, s(321.044327)), (1.0, s(354.487307))]), DP_OUTER));
    tasks.push(fill_up(runs(9, s(321.044327), &[(2.0, s(369.362709))]), DP_INNER));
    tasks.push(fill_up(runs(10, s(358.597131), &[(2.0, s(395.814390)), (1.0, s(418.016635))]), DP_INNER));
    tasks.push(fill_up(runs(11, s(395.814390), &[(2.0, s(450.424228))]), DP_OUTER));
    let figures = [s(450.424228), s(449.082051), 1.0 + (450.424228 - 449.082051) / 55.952015];
    whole(Scenario::Job(tiny4()), RateControl::Joint, &[1, 3, 3], 8, figures, tasks)
}

#[test]
fn one_port_of_tiny4_is_spare() {
    // The stage-1 exchange alone decides the end; its pod needs three circuits, the other pod only two.
    let mut plan = tiny4_level_first();
    plan.result.topology[2].circuits = 2;
    plan.result.ports_used = 7;
    plan.metrics.insert("total_ports".to_owned(), 7.0);
    let meet_s = s(321.044327);
    let first_sent = 2.0 * NIC * (meet_s - s(283.155979));
    // From then on both share two NICs; the order of their ends does not matter to the iteration.
    let both_s = meet_s + (DP_OUTER - first_sent) / NIC;
    let end_s = both_s + (DP_INNER - NIC * (both_s - meet_s)) / (2.0 * NIC);
    plan.result.tasks[8] = runs(8, s(283.155979), &[(2.0, meet_s), (1.0, both_s)]);
    plan.result.tasks[9] = runs(9, meet_s, &[(1.0, both_s), (2.0, end_s)]);
    assert!(end_s < plan.makespan_s);
    plan.assert_passes();
}
