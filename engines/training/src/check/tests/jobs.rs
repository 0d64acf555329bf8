//! Jobs whose iteration can be worked out by hand: the checker's own graph against paper and pencil.

use super::support::{NIC, Scenario, Whole, job_case, measured, preset, runs, simulated, tiny4, whole};
use crate::check::code;
use crate::plan::RateControl;
use crate::scenario::job::{Job, Order, PortsPerPod, Step};

#[test]
fn the_full_graph_has_every_compute_transfer_and_exchange() {
    for (name, nodes, tasks) in [
        ("tiny4", 60, 12),
        ("tiny8", 116, 20),
        ("tiny32", 452, 68),
        ("small", 488, 104),
        ("mixtral_8x22b", 1928, 392),
        ("megatron_177b", 1062, 198),
        ("megatron_462b", 7952, 784),
        ("deepseek_671b", 7952, 784),
        ("one_stage_per_pod", 116, 52),
        ("tiny_interleaved", 244, 52),
        ("small_interleaved", 1000, 232),
        // A backward cut into the eight layers of each of four stages.
        ("tiny_buckets", 60 + 4 + 4 * 7, 16),
    ] {
        let case = job_case(&preset(name));
        assert_eq!((case.dag.nodes().len(), case.net.tasks.len()), (nodes, tasks), "{name}");
    }
}

#[test]
fn tasks_are_numbered_as_the_stages_run() {
    let case = job_case(&tiny4());
    let names: Vec<&str> = case.net.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "F1 s2>s3", "F2 s2>s3", "F3 s2>s3", "B1 s3>s2", "B2 s3>s2", "F4 s2>s3", "B3 s3>s2", "B4 s3>s2",
            "DP s4", "DP s3", "DP s2", "DP s1",
        ]
    );
}

/// One transfer takes half a second.
const HALF: f64 = NIC / 2.0;

#[test]
fn one_replica_ends_with_compute() {
    // F 0-1, send 1-1.5, F 1.5-2.5, B 2.5-4.5, send 4.5-5, B 5-7.
    let tasks = vec![runs(0, 1.0, &[(1.0, 1.5)]), runs(1, 4.5, &[(1.0, 5.0)])];
    let job = measured(2, 1, 1, HALF, 0.0);
    let plan = whole(Scenario::Job(job), RateControl::Fair, &[1], 2, [7.0, 7.0, 1.0], tasks);
    plan.assert_passes();
    let mut early = plan.clone();
    early.makespan_s = 5.0;
    early.assert_codes(&[code::MAKESPAN, code::RESIM]);
    // Half a second more before the last compute moves the end by as much.
    let mut late = plan;
    late.result.tasks[1] = runs(1, 5.0, &[(1.0, 5.5)]);
    late.result.rate_control = RateControl::Joint;
    late.assert_codes(&[code::MAKESPAN, code::NCT]);
}

/// Two stages, two micro-batches, stage 1 first: F1 F2 B1 B2; the second: F1 B1 F2 B2.
fn two_by_two(blocking: bool) -> Whole {
    let mut job = measured(2, 1, 2, HALF, 0.0);
    job.run.blocking_p2p = blocking;
    // Blocking: F1 0-1, send -1.5, F2 1.5-2.5, send -3. Else F2 1-2, send 2-2.5.
    let second_s = if blocking { 2.5 } else { 2.0 };
    // Stage 2: F1 1.5-2.5, B1 2.5-4.5, send 4.5-5; F2 from 5 (blocking) or 4.5, B2, send.
    let resume_s = if blocking { 5.0 } else { 4.5 };
    let last_s = resume_s + 3.0;
    // Stage 1: B1 5-7, B2 from the last send + 0.5.
    let end_s = f64::max(last_s + 0.5, 7.0) + 2.0;
    let tasks = vec![
        runs(0, 1.0, &[(1.0, 1.5)]),
        runs(1, second_s, &[(1.0, second_s + 0.5)]),
        runs(2, 4.5, &[(1.0, 5.0)]),
        runs(3, last_s, &[(1.0, last_s + 0.5)]),
    ];
    whole(Scenario::Job(job), RateControl::Fair, &[1], 2, [end_s, end_s, 1.0], tasks)
}

#[test]
fn a_stage_waits_for_its_send_or_not() {
    for blocking in [true, false] {
        two_by_two(blocking).assert_passes();
    }
    // The schedule of one is wrong for the other.
    let mut hasty = two_by_two(false);
    hasty.scenario = two_by_two(true).scenario;
    assert!(hasty.codes().contains(code::PRECEDENCE));
    let mut idle = two_by_two(true);
    idle.scenario = two_by_two(false).scenario;
    idle.assert_codes(&[code::RESIM, code::NCT]);
}

#[test]
fn the_exchange_waits_for_the_last_send() {
    for blocking in [true, false] {
        exchange_after_send(blocking);
    }
}

fn exchange_after_send(blocking: bool) {
    // F 0-1, send -1.5, F 1.5-2.5, B 2.5-4.5, send 4.5-5, B 5-7; exchanges: stage 2 from 5, stage 1 from 7.
    let mut job = measured(2, 2, 1, HALF, HALF);
    job.run.blocking_p2p = blocking;
    let tasks = vec![
        runs(0, 1.0, &[(1.0, 1.5)]),
        runs(1, 4.5, &[(1.0, 5.0)]),
        runs(2, 5.0, &[(1.0, 5.5)]),
        runs(3, 7.0, &[(1.0, 7.5)]),
    ];
    let plan = whole(Scenario::Job(job), RateControl::Fair, &[1, 1, 1], 4, [7.5, 7.5, 1.0], tasks);
    plan.assert_passes();
    let mut hasty = plan;
    hasty.result.tasks[2] = runs(2, 4.5, &[(1.0, 5.0)]);
    // One card would send both at once.
    hasty.assert_codes(&[code::PRECEDENCE, code::RESIM, code::NIC_OUT]);
}

#[test]
fn nothing_between_pods() {
    let mut job = measured(2, 1, 1, HALF, 0.0);
    job.run.gpus_per_pod_per_replica = 2;
    let plan = simulated(&Scenario::Job(job), &[]);
    assert_eq!((plan.makespan_s, plan.result.nct), (7.0, None));
    plan.assert_passes();
    let mut claims = plan.clone();
    claims.result.nct = Some(1.0);
    claims.assert_codes(&[code::NCT]);
    let mut short = plan;
    short.makespan_s = 6.0;
    short.assert_codes(&[code::MAKESPAN, code::RESIM]);
}

#[test]
fn one_pod_per_replica_has_only_exchanges() {
    let mut job = measured(2, 3, 1, HALF, HALF);
    job.run.gpus_per_pod_per_replica = 2;
    let case = job_case(&job);
    assert_eq!(case.net.links.len(), 1);
    // Three replicas: a circuit towards each neighbour.
    assert_eq!((case.net.links[0].ports_a, case.net.links[0].ports_b), (2, 0));
    let plan = simulated(&Scenario::Job(job), &[3]);
    assert_eq!((plan.makespan_s, plan.result.ports_used), (7.5, 6));
    plan.assert_passes();
}

#[test]
fn a_single_stage() {
    let job = measured(1, 2, 3, HALF, HALF);
    let plan = simulated(&Scenario::Job(job), &[1]);
    assert_eq!(plan.makespan_s, 9.5);
    plan.assert_passes();
}

#[test]
fn fewer_micro_batches_than_warm_up() {
    let job = measured(4, 1, 1, HALF, 0.0);
    let plan = simulated(&Scenario::Job(job), &[1, 1, 1]);
    // Four forwards, four backwards, six transfers in a row.
    assert_eq!(plan.makespan_s, 4.0 + 8.0 + 3.0);
    plan.assert_passes();
}

#[test]
fn stages_without_an_exchange_still_count() {
    let mut job = measured(2, 2, 1, HALF, HALF);
    if let Some(measured) = &mut job.measured {
        measured.stages[0].dp_bytes_per_gpu = 0.0;
    }
    let plan = simulated(&Scenario::Job(job), &[1, 1]);
    assert_eq!(plan.result.tasks.len(), 3);
    // Stage 1 ends with its backward at 7.
    assert_eq!(plan.makespan_s, 7.0);
    plan.assert_passes();
}

#[test]
fn odd_stages_send_the_larger_half() {
    let mut job = measured(1, 3, 1, HALF, 1e9);
    (job.run.tp, job.run.gpus, job.run.gpus_per_pod_per_replica) = (5, 15, 5);
    let case = job_case(&job);
    assert_eq!((case.net.tasks[0].flows, case.net.tasks[0].volume_bytes), (3, 3e9));
}

#[test]
fn the_last_pod_may_be_smaller() {
    let mut job = measured(3, 2, 1, HALF, HALF);
    job.run.gpus_per_pod_per_replica = 2;
    job.ports_per_pod = None;
    let ports = |job: &Job| {
        let mut found = crate::check::Findings::default();
        let case = crate::check::job::case(job, &mut found).unwrap();
        case.net.pods.iter().filter(|pod| !pod.mirror).map(|pod| pod.ports).collect::<Vec<u32>>()
    };
    assert_eq!(ports(&job), [2, 1]);
    job.reverse = true;
    assert_eq!(ports(&job), [1, 2]);
    job.ports_per_pod = Some(PortsPerPod::ByPosition(vec![7, 8]));
    assert_eq!(ports(&job), [7, 8]);
}

#[test]
fn reversed_stages_take_as_long_the_other_way_round() {
    let forward = job_case(&tiny4());
    let mut job = tiny4();
    job.reverse = true;
    let reverse = job_case(&job);
    assert_eq!(forward.net.tasks[0].src_pod.0, 0);
    assert_eq!(reverse.net.tasks[0].src_pod.0, 1);
    let eight = |job: Job| Scenario::Job(Job { ports_per_pod: Some(PortsPerPod::Same(8)), ..job });
    let (straight, turned) = (eight(tiny4()), eight(job));
    // With four circuits no exchange meets another.
    simulated(&turned, &[1, 4, 4]).assert_passes();
    let scarce = simulated(&straight, &[1, 2, 4]).makespan_s;
    assert_eq!(scarce, simulated(&turned, &[1, 4, 2]).makespan_s);
    assert!(scarce > simulated(&turned, &[1, 2, 4]).makespan_s + 1e-3);
}

fn order(texts: &[&str]) -> Vec<Step> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn a_literal_order_is_followed() {
    let mut job = measured(2, 1, 2, HALF, 0.0);
    let standard = simulated(&Scenario::Job(job.clone()), &[1]);
    let set = |job: &mut Job, lists: Vec<Vec<Step>>| {
        if let Some(measured) = &mut job.measured {
            measured.order = Order::Lists(lists);
        }
    };
    set(&mut job, vec![order(&["F1", "F2", "B1", "B2"]), order(&["F1", "B1", "F2", "B2"])]);
    let spelled = Whole { scenario: Scenario::Job(job.clone()), ..standard.clone() };
    spelled.assert_passes();
    // All forwards first: the first gradients leave 1.5 s later, and the tasks have other numbers.
    set(&mut job, vec![order(&["F1", "F2", "B1", "B2"]), order(&["F1", "F2", "B1", "B2"])]);
    let changed = Whole { scenario: Scenario::Job(job.clone()), ..standard };
    assert!(changed.codes().contains(code::RELEASE) || changed.codes().contains(code::PRECEDENCE));
    // F1 0-1, send, F1' 1.5-2.5; F2 1.5-2.5, send, F2' 3-4; B1' 4-6, send, B2' 6.5-8.5, send, B2 9-11.
    let own = simulated(&Scenario::Job(job), &[1]);
    assert_eq!(own.makespan_s, 11.0);
    own.assert_passes();
}

/// Two stages of two chunks, two micro-batches. Blocking sends of 0.5 s, a chunk forward 0.5 s, backward 1 s.
///
/// Stage 1 runs F1.1 F2.1 F1.2 F2.2 B1.2 B2.2 B1.1 B2.1, stage 2 runs F1.1 F2.1 F1.2 B1.2 F2.2 B2.2 B1.1 B2.1.
#[test]
fn interleaved_stages_by_hand() {
    let mut job = measured(2, 1, 2, HALF, 0.0);
    job.run.virtual_stages = 2;
    let case = job_case(&job);
    let names: Vec<&str> = case.net.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "F1.1 s1>s2",
            "F2.1 s1>s2",
            "F1.1 s2>s1",
            "F2.1 s2>s1",
            "F1.2 s1>s2",
            "F2.2 s1>s2",
            "B1.2 s2>s1",
            "B2.2 s2>s1",
            "B1.2 s1>s2",
            "B2.2 s1>s2",
            "B1.1 s2>s1",
            "B2.1 s2>s1",
        ]
    );
    // Stage 1: F1.1 0-0.5, send -1, F2.1 1-1.5, send -2. Stage 2: F1.1 1-1.5, send -2, F2.1 2-2.5, send -3.
    // Stage 1: F1.2 2-2.5, send -3, F2.2 3-3.5, send -4. Stage 2: F1.2 3-3.5, B1.2 3.5-4.5, send -5, F2.2 5-5.5,
    // B2.2 5.5-6.5, send -7. Stage 1: B1.2 5-6, send -6.5, B2.2 7-8, send -8.5. Stage 2: B1.1 7-8, send -8.5, B2.1
    // 8.5-9.5, send -10. Stage 1: B1.1 8.5-9.5, B2.1 10-11.
    let starts = [0.5, 1.5, 1.5, 2.5, 2.5, 3.5, 4.5, 6.5, 6.0, 8.0, 8.0, 9.5];
    let tasks: Vec<_> = (0..).zip(starts).map(|(id, at)| runs(id, at, &[(1.0, at + 0.5)])).collect();
    let plan = whole(Scenario::Job(job), RateControl::Fair, &[1], 2, [11.0, 11.0, 1.0], tasks);
    plan.assert_passes();
    assert_eq!(simulated(&plan.scenario, &[1]).result.tasks, plan.result.tasks);
    // The first stage may not take up its second chunk before the second stage has passed the first on.
    let mut hasty = plan.clone();
    hasty.result.tasks[4] = runs(4, 2.0, &[(1.0, 2.5)]);
    assert!(hasty.codes().contains(code::PRECEDENCE) || hasty.codes().contains(code::RELEASE));
    // One chunk per stage is another job.
    let mut plain = plan;
    if let Scenario::Job(job) = &mut plain.scenario {
        job.run.virtual_stages = 1;
    }
    assert!(!plain.codes().is_empty());
}

#[test]
fn jobs_that_cannot_be_interleaved_have_no_case() {
    let refused = |change: &dyn Fn(&mut Job)| {
        let mut job = measured(2, 1, 2, HALF, 0.0);
        job.run.virtual_stages = 2;
        change(&mut job);
        let mut found = crate::check::Findings::default();
        assert!(crate::check::job::case(&job, &mut found).is_none());
        found.finish()[0].message.clone()
    };
    assert!(refused(&|job| job.run.micro_batches = 3).contains("not a multiple of the 2 stages"));
    assert!(refused(&|job| job.run.virtual_stages = 0).contains("'virtual_stages' is 0"));
    let literal = refused(&|job| {
        if let Some(measured) = &mut job.measured {
            measured.order = Order::Lists(vec![order(&["F1", "F2", "B1", "B2"]); 2]);
        }
    });
    assert!(literal.contains("has several chunks"), "{literal}");
    let mut uneven = tiny4();
    uneven.run.virtual_stages = 3;
    let mut found = crate::check::Findings::default();
    assert!(crate::check::job::case(&uneven, &mut found).is_none());
    assert!(found.finish()[0].message.contains("32 layers cannot be divided into 12 equal parts"));
}

/// Two stages, one micro-batch, gradients in two halves of half a second each.
#[test]
fn buckets_leave_inside_the_last_backward() {
    // F 0-1, send -1.5, F 1.5-2.5, B 2.5-4.5, send 4.5-5, B 5-7. Stage 2: half of the gradients is ready at 3.5, the
    // rest after the send; stage 1: at 6 and at 7.
    let mut job = measured(2, 2, 1, HALF, 2.0 * HALF);
    job.run.dp_buckets = 2;
    let tasks = vec![
        runs(0, 1.0, &[(1.0, 1.5)]),
        runs(1, 4.5, &[(1.0, 5.0)]),
        runs(2, 3.5, &[(1.0, 4.0)]),
        runs(3, 5.0, &[(1.0, 5.5)]),
        runs(4, 6.0, &[(1.0, 6.5)]),
        runs(5, 7.0, &[(1.0, 7.5)]),
    ];
    let plan = whole(Scenario::Job(job), RateControl::Fair, &[1, 1, 1], 4, [7.5, 7.5, 1.0], tasks);
    plan.assert_passes();
    let names: Vec<String> = match &plan.scenario {
        Scenario::Job(job) => job_case(job).net.tasks.iter().map(|task| task.name.clone()).collect(),
        Scenario::Instance(_) => Vec::new(),
    };
    assert_eq!(names[2..], ["DP.1 s2", "DP.2 s2", "DP.1 s1", "DP.2 s1"]);
    let mut hasty = plan;
    hasty.result.tasks[4] = runs(4, 5.5, &[(1.0, 6.0)]);
    assert!(hasty.codes().contains(code::PRECEDENCE));
}

#[test]
fn buckets_of_a_stage_go_one_after_the_other() {
    // One stage: B 1-3; each bucket takes 2 s, so that the second waits for the first, which is ready at 2.
    let mut job = measured(1, 2, 1, HALF, 8.0 * HALF);
    job.run.dp_buckets = 2;
    let plan = simulated(&Scenario::Job(job), &[1]);
    assert_eq!(
        (plan.result.tasks[0].start_s, plan.result.tasks[1].start_s, plan.makespan_s),
        (2.0, 4.0, 6.0)
    );
    plan.assert_passes();
}
