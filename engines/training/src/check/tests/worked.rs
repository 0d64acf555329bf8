//! Worked examples: plans computed by hand.

use super::support::{
    NIC, Scenario, Whole, job_case, runs, tiny4, toy_a, toy_a_fair, toy_a_idle, toy_a_joint, toy_b_plan,
    whole,
};
use crate::check::case::Case;
use crate::check::nics::nic_groups;
use crate::check::replay::replay;
use crate::check::walk::{critical_communication_s, walk};
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

/// The exact time for one that was printed with nine digits.
fn near(exact_s: f64, printed_ms: f64) -> f64 {
    assert!((exact_s - s(printed_ms)).abs() < 1e-9, "{exact_s} s is not {printed_ms} ms");
    exact_s
}

/// The moments at which the transfers of tiny4 may start, with every transfer of the pipeline at one NIC.
fn tiny4_starts() -> Vec<f64> {
    let printed = [
        37.552804, 56.832522, 76.112241, 150.546760, 207.379282, 207.379282, 264.211805, 320.373238,
        283.155979, 321.044327, 358.597131, 395.814390,
    ];
    let case = job_case(&tiny4());
    let mut starts = vec![0.0; case.net.tasks.len()];
    walk(&case.dag, |task, earliest| {
        starts[task] = earliest.at_s;
        earliest.at_s + case.net.tasks[task].volume_bytes / NIC
    });
    starts.iter().zip(printed).map(|(exact_s, printed_ms)| near(*exact_s, printed_ms)).collect()
}

/// The pipeline part of tiny4 with one circuit between the pods.
fn tiny4_pipeline(starts: &[f64]) -> Vec<TaskSchedule> {
    let transfer = |task: usize| runs(task as u32, starts[task], &[(1.0, starts[task] + 33_554_432.0 / NIC)]);
    (0..8).map(transfer).collect()
}

const DP_OUTER: f64 = 5_460_983_808.0;
const DP_INNER: f64 = 4_831_838_208.0;

/// The end of a transfer that sends at two NICs from `start_s` and at `nics` from `from_s` on.
fn end_s(volume: f64, start_s: f64, from_s: f64, nics: f64) -> f64 {
    from_s + (volume - 2.0 * NIC * (from_s - start_s)) / (nics * NIC)
}

/// Makespan, ideal makespan and NCT of tiny4 for an end of the iteration.
fn tiny4_figures(makespan_s: f64) -> [f64; 3] {
    let case = job_case(&tiny4());
    let ideal = replay(&case, &nic_groups(&case), None).unwrap();
    let communication_s = near(critical_communication_s(&case, &ideal).unwrap(), 55.952015);
    let ideal_s = near(ideal.makespan_s, 449.082051);
    [makespan_s, ideal_s, 1.0 + (makespan_s - ideal_s) / communication_s]
}

fn tiny4_fair() -> Whole {
    let starts = tiny4_starts();
    let mut tasks = tiny4_pipeline(&starts);
    let (s4, s3, s2, s1) = (starts[8], starts[9], starts[10], starts[11]);
    // Two exchanges meet on three circuits: 1.5 NICs each while both run.
    let pair = |first: u32, volumes: [f64; 2], [a, b]: [f64; 2], printed: [f64; 2]| {
        let a_end = near(end_s(volumes[0], a, b, 1.5), printed[0]);
        let b_end = near(a_end + (volumes[1] - 1.5 * NIC * (a_end - b)) / (2.0 * NIC), printed[1]);
        [runs(first, a, &[(2.0, b), (1.5, a_end)]), runs(first + 1, b, &[(1.5, a_end), (2.0, b_end)])]
    };
    tasks.extend(pair(8, [DP_OUTER, DP_INNER], [s4, s3], [343.339647, 374.936539]));
    tasks.extend(pair(10, [DP_INNER, DP_OUTER], [s2, s1], [410.615887, 454.124603]));
    let makespan_s = tasks[11].finish_s;
    whole(Scenario::Job(tiny4()), RateControl::Fair, &[1, 3, 3], 8, tiny4_figures(makespan_s), tasks)
}

pub fn tiny4_level_first() -> Whole {
    let starts = tiny4_starts();
    let mut tasks = tiny4_pipeline(&starts);
    // The second of two exchanges decides the end and keeps its two NICs; the first has what is left.
    let pair = |first: u32, volumes: [f64; 2], [a, b]: [f64; 2], printed: [f64; 2]| {
        let a_end = near(end_s(volumes[0], a, b, 1.0), printed[0]);
        let b_end = near(b + volumes[1] / (2.0 * NIC), printed[1]);
        [runs(first, a, &[(2.0, b), (1.0, a_end)]), runs(first + 1, b, &[(2.0, b_end)])]
    };
    tasks.extend(pair(8, [DP_OUTER, DP_INNER], [starts[8], starts[9]], [354.487307, 369.362709]));
    tasks.extend(pair(10, [DP_INNER, DP_OUTER], [starts[10], starts[11]], [418.016635, 450.424228]));
    let makespan_s = tasks[11].finish_s;
    whole(Scenario::Job(tiny4()), RateControl::Joint, &[1, 3, 3], 8, tiny4_figures(makespan_s), tasks)
}

#[test]
fn one_port_of_tiny4_is_spare() {
    // The stage-1 exchange alone decides the end; its pod needs three circuits, the other pod only two.
    let mut plan = tiny4_level_first();
    plan.result.topology[2].circuits = 2;
    plan.result.ports_used = 7;
    let (start_s, meet_s) = (plan.result.tasks[8].start_s, plan.result.tasks[9].start_s);
    let first_sent = 2.0 * NIC * (meet_s - start_s);
    // From then on both share two NICs; the order of their ends does not matter to the iteration.
    let both_s = meet_s + (DP_OUTER - first_sent) / NIC;
    let end_s = both_s + (DP_INNER - NIC * (both_s - meet_s)) / (2.0 * NIC);
    plan.result.tasks[8] = runs(8, start_s, &[(2.0, meet_s), (1.0, both_s)]);
    plan.result.tasks[9] = runs(9, meet_s, &[(1.0, both_s), (2.0, end_s)]);
    assert!(end_s < plan.makespan_s);
    plan.assert_passes();
}
