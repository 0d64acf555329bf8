//! One broken plan for every rule: exactly the expected codes are reported.

use super::support::{
    Scenario, Whole, link, pod, runs, task, toy_a, toy_a_fair, toy_a_idle, toy_a_joint, toy_b_plan, whole,
};
use super::worked::tiny4_level_first;
use crate::check::code;
use crate::plan::{LinkCircuits, RateControl};
use crate::scenario::instance::{Instance, LinkKind};
use lightbay_core::units::{LinkId, TaskId};

fn message(plan: &Whole, code: &str) -> String {
    let found = plan.check().violations;
    found
        .into_iter()
        .find(|violation| violation.code == code)
        .map(|violation| violation.message)
        .unwrap_or_default()
}

#[test]
fn numbers_that_are_none() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut plans = vec![toy_a_fair(); 7];
        plans[0].task(1).start_s = value;
        plans[1].task(0).finish_s = value;
        plans[2].task(0).segments[1].volume_bytes = value;
        plans[3].result.ideal_makespan_s = value;
        plans[4].result.nct = Some(value);
        plans[5].makespan_s = value;
        plans[6].metrics.insert("nct".to_owned(), value);
        for plan in &plans {
            plan.assert_codes(&[code::SCHEMA]);
        }
    }
}

#[test]
fn links_missing_twice_unknown_or_out_of_order() {
    let entry = |link, circuits| LinkCircuits { link: LinkId(link), circuits };
    for topology in [
        vec![],
        vec![entry(0, 2)],
        vec![entry(0, 2), entry(1, 1), entry(0, 2)],
        vec![entry(0, 2), entry(1, 1), entry(7, 1)],
        vec![entry(0, 2), entry(u32::MAX, 1)],
        vec![entry(1, 1), entry(0, 2)],
    ] {
        let mut plan = toy_b_plan(RateControl::Joint);
        plan.result.topology = topology;
        plan.assert_codes(&[code::TOPOLOGY]);
    }
}

#[test]
fn no_circuits_on_a_link() {
    let mut plan = toy_b_plan(RateControl::Joint);
    plan.result.topology[1].circuits = 0;
    plan.assert_codes(&[code::INTEGRALITY]);
}

#[test]
fn more_circuits_than_ports() {
    let mut plan = toy_b_plan(RateControl::Joint);
    plan.result.topology[1].circuits = 2;
    plan.result.ports_used = 6;
    plan.assert_codes(&[code::PORTS]);
    assert_eq!(message(&plan, code::PORTS), "pod 1 'p1' uses 4 ports, but has 3");
    // The largest count does not overflow.
    plan.result.topology[1].circuits = u32::MAX;
    assert!(plan.codes().contains(code::PORTS));
}

#[test]
fn claimed_ports_are_counted() {
    let mut plan = toy_b_plan(RateControl::Joint);
    plan.result.ports_used = 6;
    plan.assert_codes(&[code::PORTS_CLAIM]);
    let plan = toy_b_plan(RateControl::Joint).with_metrics();
    plan.assert_passes();
    assert_eq!(plan.metrics["port_ratio"], 5.0 / 6.0);
    for (name, wrong) in [("total_ports", 4.0), ("port_ratio", 1.0)] {
        let mut plan = plan.clone();
        plan.metrics.insert(name.to_owned(), wrong);
        plan.assert_codes(&[code::PORTS_CLAIM]);
    }
}

#[test]
fn tasks_missing_twice_unknown_or_out_of_order() {
    let whole = toy_b_plan(RateControl::Fair);
    let entry = |task: usize| whole.result.tasks[task].clone();
    let mut stranger = entry(0);
    stranger.task = TaskId(u32::MAX);
    for tasks in [
        vec![],
        vec![entry(0), entry(2)],
        vec![entry(0), entry(1), entry(2), entry(1)],
        vec![entry(0), entry(1), entry(2), stranger.clone()],
        vec![entry(1), entry(0), entry(2)],
    ] {
        let mut plan = whole.clone();
        plan.result.tasks = tasks;
        plan.assert_codes(&[code::TASK]);
    }
}

#[test]
fn time_runs_backwards() {
    let mut plan = toy_a_joint();
    let task = plan.task(1);
    std::mem::swap(&mut task.start_s, &mut task.finish_s);
    plan.makespan_s = 0.03;
    plan.assert_codes(&[code::ORDER, code::CONTIGUITY]);
    let mut plan = toy_a_joint();
    *plan.task(0) = runs(0, -0.005, &[(2.0, 0.015)]);
    plan.assert_codes(&[code::ORDER, code::RELEASE, code::CIRCUIT]);
}

#[test]
fn before_the_release() {
    let mut plan = toy_a_joint();
    *plan.task(0) = runs(0, 0.0, &[(1.0, 0.02), (2.0, 0.03)]);
    *plan.task(1) = runs(1, 0.0, &[(2.0, 0.02)]);
    plan.assert_codes(&[code::RELEASE]);
}

#[test]
fn before_the_predecessor_allows() {
    let mut plan = toy_b_plan(RateControl::Joint);
    *plan.task(2) = runs(2, 0.0, &[(1.0, 0.03)]);
    plan.makespan_s = 0.03;
    plan.result.nct = Some(1.0);
    plan.assert_codes(&[code::PRECEDENCE]);
    assert_eq!(
        message(&plan, code::PRECEDENCE),
        "task 2 'D' starts at 0.000000000 s, but its predecessors allow a start at 0.010000000 s \
         (task 0 'A' finishes at 0.010000000 s, and 0.000000000 s of work lie between)"
    );
}

#[test]
fn a_start_ten_milliseconds_before_the_predecessor_ends() {
    let mut plan = tiny4_level_first();
    plan.task(9).start_s -= 0.01;
    plan.assert_codes(&[code::PRECEDENCE, code::CONTIGUITY]);
    // Moved as a whole, only the order of things is wrong.
    let mut plan = tiny4_level_first();
    let task = plan.task(7);
    task.start_s -= 0.01;
    task.finish_s -= 0.01;
    task.segments[0].start_s -= 0.01;
    task.segments[0].end_s -= 0.01;
    plan.assert_codes(&[code::PRECEDENCE]);
    assert!(message(&plan, code::PRECEDENCE).starts_with("task 7 'B4 s3>s2' starts at 0.310373238 s"));
    // The first transfer waits for compute alone.
    let mut plan = tiny4_level_first();
    let task = plan.task(0);
    task.start_s -= 0.01;
    task.segments[0].start_s -= 0.01;
    plan.assert_codes(&[code::RELEASE]);
}

#[test]
fn a_doubled_segment() {
    let mut plan = toy_a_joint();
    plan.task(0).segments[1].volume_bytes *= 2.0;
    plan.assert_codes(&[code::CONSERVATION, code::CIRCUIT]);
    let mut plan = toy_a_joint();
    plan.task(1).segments[0].volume_bytes *= 2.0;
    plan.assert_codes(&[code::CONSERVATION, code::FLOW_CAP, code::CIRCUIT]);
}

#[test]
fn bytes_that_never_arrive() {
    let mut plan = toy_a_joint();
    plan.task(0).segments[1].volume_bytes *= 0.5;
    plan.assert_codes(&[code::CONSERVATION]);
    assert_eq!(
        message(&plan, code::CONSERVATION),
        "task 0 'a' sends 1500000000 bytes, but its volume is 2000000000"
    );
}

#[test]
fn a_dropped_segment() {
    let mut plan = toy_a_joint();
    plan.task(0).segments.pop();
    plan.assert_codes(&[code::CONTIGUITY, code::CONSERVATION]);
    let mut plan = toy_a_idle();
    plan.task(0).segments.remove(1);
    plan.assert_codes(&[code::CONTIGUITY]);
    let mut plan = toy_a_joint();
    plan.task(0).segments.clear();
    plan.assert_codes(&[code::SEGMENTS, code::CONSERVATION]);
}

#[test]
fn swapped_segments() {
    let mut plan = toy_a_joint();
    plan.task(0).segments.swap(0, 1);
    plan.assert_codes(&[code::SEGMENTS, code::CONTIGUITY]);
}

#[test]
fn overlapping_negative_and_empty_segments() {
    let mut plan = toy_a_idle();
    plan.task(0).segments[1].end_s = 0.022;
    plan.assert_codes(&[code::SEGMENTS]);
    let mut plan = toy_a_idle();
    plan.task(0).segments[1].volume_bytes = -1.0;
    plan.assert_codes(&[code::SEGMENTS]);
    // A jump: all bytes in no time.
    let mut plan = toy_a_joint();
    let segment = &mut plan.task(0).segments[1];
    segment.start_s = segment.end_s;
    let codes = plan.codes();
    assert!(codes.contains(code::SEGMENTS) && codes.contains(code::FLOW_CAP), "{codes:?}");
}

#[test]
fn many_moments_do_not_add_up_to_speed() {
    // What is forgiven to one piece for rounding would let 100 000 pieces of a nanosecond carry twice the rate.
    let mut plan = toy_a_joint();
    let pieces: Vec<(f64, f64)> = (1..=100_000).map(|i| (4.0, 0.01 + f64::from(i) * 1e-9)).collect();
    *plan.task(1) = runs(1, 0.01, &pieces);
    plan.task(1).segments.iter_mut().for_each(|segment| segment.volume_bytes = 200.0);
    plan.instance().tasks[1].volume_bytes = 2e7;
    assert!(plan.codes().contains(code::FLOW_CAP));
}

#[test]
fn faster_than_all_flows() {
    let mut plan = toy_a_joint();
    *plan.instance() = toy_a(8);
    plan.result.topology[0].circuits = 8;
    plan.result.ports_used = 16;
    plan.assert_passes();
    *plan.task(0) = runs(0, 0.0, &[(8.0 / 3.0, 0.015)]);
    plan.assert_codes(&[code::FLOW_CAP]);
}

#[test]
fn more_than_the_circuits_carry() {
    let mut plan = toy_a_joint();
    *plan.task(0) = runs(0, 0.0, &[(2.0, 0.02)]);
    plan.assert_codes(&[code::CIRCUIT]);
    assert_eq!(
        message(&plan, code::CIRCUIT),
        "link 0 from pod 0 'p0' to pod 1 'p1' carries 1600.000 Gb/s from 0.010000000 s to 0.020000000 s, but its 3 circuits can carry 1200.000 Gb/s (task 0 'a', task 1 'b')"
    );
    // The other direction has a capacity of its own.
    let instance = plan.instance();
    instance.tasks[0].src_pod.0 = 1;
    instance.tasks[0].dst_pod.0 = 0;
    plan.assert_passes();
}

/// Two tasks between different pods at full rate; they share the sending or the receiving GPUs.
fn shared_nic(sending: bool) -> Whole {
    let mut tasks = vec![task(0, "a", [0, 1], [0, 10], 1e9, 0.0), task(1, "b", [2, 3], [2, 12], 1e9, 0.0)];
    if sending {
        (tasks[1].src_pod, tasks[1].src_gpus) = (tasks[0].src_pod, tasks[0].src_gpus.clone());
    } else {
        (tasks[1].dst_pod, tasks[1].dst_gpus) = (tasks[0].dst_pod, tasks[0].dst_gpus.clone());
    }
    let ends = if sending { [0, 3] } else { [2, 1] };
    let instance = Instance {
        nic_bandwidth_gbps: 400.0,
        pods: (0..4).map(|id| pod(id, 4, false)).collect(),
        links: vec![link(0, 0, 1, LinkKind::Pp, 1), link(1, ends[0], ends[1], LinkKind::Pp, 1)],
        tasks,
        edges: vec![],
        provenance: None,
        reconfiguration: None,
    };
    let half = vec![runs(0, 0.0, &[(1.0, 0.02)]), runs(1, 0.0, &[(1.0, 0.02)])];
    whole(Scenario::Instance(instance), RateControl::Fair, &[2, 2], 8, [0.02, 0.02, 1.0], half)
}

#[test]
fn a_network_card_shared_at_full_rate() {
    for (sending, expected) in [(true, code::NIC_OUT), (false, code::NIC_IN)] {
        let mut plan = shared_nic(sending);
        plan.assert_passes();
        plan.result.rate_control = RateControl::Joint;
        *plan.task(0) = runs(0, 0.0, &[(2.0, 0.01), (0.0, 0.02)]);
        plan.assert_codes(&[expected]);
        *plan.task(1) = runs(1, 0.0, &[(0.0, 0.01), (2.0, 0.02)]);
        plan.assert_passes();
    }
}

#[test]
fn a_makespan_too_good_or_too_bad() {
    for factor in [0.99, 1.01] {
        let mut plan = tiny4_level_first();
        plan.makespan_s *= factor;
        plan.assert_codes(&[code::MAKESPAN]);
        let mut fair = toy_a_fair();
        fair.makespan_s *= factor;
        fair.assert_codes(&[code::MAKESPAN, code::RESIM]);
    }
}

#[test]
fn a_planned_schedule_called_fair() {
    let mut plan = toy_a_joint();
    plan.result.rate_control = RateControl::Fair;
    plan.assert_codes(&[code::RESIM]);
    // Waiting without need is not fair either, even if the end does not move.
    let mut plan = toy_b_plan(RateControl::Fair);
    *plan.task(1) = runs(1, 0.025, &[(2.0, 0.035)]);
    plan.assert_codes(&[code::RESIM]);
    plan.result.rate_control = RateControl::Joint;
    plan.assert_passes();
}

#[test]
fn normalised_times_that_do_not_fit() {
    let mut plan = toy_a_fair();
    plan.result.nct = Some(1.0);
    plan.assert_codes(&[code::NCT]);
    let mut plan = toy_a_fair();
    plan.result.nct = None;
    plan.assert_codes(&[code::NCT]);
    let mut plan = toy_a_fair();
    plan.result.ideal_makespan_s = 0.029;
    plan.assert_codes(&[code::NCT]);
    let plan = toy_a_fair().with_metrics();
    plan.assert_passes();
    for name in ["nct", "comm_ideal_s", "ideal_makespan_s"] {
        for factor in [1.0 - 1e-6, 1.0 + 1e-6, 2.0] {
            let mut plan = plan.clone();
            *plan.metrics.get_mut(name).unwrap() *= factor;
            plan.assert_codes(&[code::NCT]);
        }
        let mut plan = plan.clone();
        plan.metrics.remove(name);
        plan.assert_codes(&[code::NCT]);
    }
    let mut plan = plan.clone();
    plan.metrics.insert("makespan_s".to_owned(), plan.makespan_s);
    plan.assert_codes(&["metrics"]);
}

#[test]
fn a_bound_above_the_schedule() {
    let mut plan = toy_a_joint();
    plan.bound_s = Some(0.031);
    plan.assert_codes(&[code::BOUND]);
}

#[test]
fn nothing_at_all_does_not_panic() {
    let mut plan = toy_a_fair();
    plan.result.tasks.clear();
    plan.result.topology.clear();
    plan.assert_codes(&[code::TASK, code::TOPOLOGY]);
    let mut plan = toy_a_fair();
    plan.instance().tasks.clear();
    plan.result.tasks.clear();
    plan.assert_codes(&[code::MAKESPAN, code::RESIM, code::NCT]);
}
