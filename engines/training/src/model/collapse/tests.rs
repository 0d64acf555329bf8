#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::model::network::Network;
use crate::scenario::check_instance;
use crate::scenario::job::{Measured, MeasuredStage, Order, PortsPerPod};
use crate::scenario::presets;
use crate::simulate::contention::Contention;
use crate::simulate::iteration::{Rule, Simulator};
use crate::simulate::replicas::expand_plan;

fn preset(name: &str) -> Job {
    presets::job(name).unwrap().job()
}

fn instance(job: &Job) -> Instance {
    let (instance, _) = collapsed(job, Dominance::AtBandwidth).unwrap();
    assert_eq!(check_instance(&instance, "").to_string(), "");
    instance
}

fn links(instance: &Instance) -> Vec<(u32, u32, LinkKind, u32, u32)> {
    instance.links.iter().map(|l| (l.pod_a.0, l.pod_b.0, l.kind, l.ports_a, l.ports_b)).collect()
}

#[test]
fn tiny4_is_one_replica_and_its_neighbours() {
    let instance = instance(&preset("tiny4"));
    let pods: Vec<_> = instance.pods.iter().map(|p| (p.name.as_str(), p.ports, p.mirror)).collect();
    assert_eq!(pods, [("p0", 4, false), ("p1", 4, false), ("ring-p0", 0, true), ("ring-p1", 0, true)]);
    assert_eq!(
        links(&instance),
        [(0, 1, LinkKind::Pp, 1, 1), (0, 2, LinkKind::Dp, 1, 0), (1, 3, LinkKind::Dp, 1, 0)]
    );
    let rows: Vec<_> = instance
        .tasks
        .iter()
        .map(|t| (t.name.as_str(), t.src_pod.0, t.dst_pod.0, t.flows, t.volume_bytes))
        .collect();
    let pp = 33_554_432.0;
    assert_eq!(
        rows,
        [
            ("F1 s2>s3", 0, 1, 2, pp),
            ("F2 s2>s3", 0, 1, 2, pp),
            ("F3 s2>s3", 0, 1, 2, pp),
            ("B1 s3>s2", 1, 0, 2, pp),
            ("B2 s3>s2", 1, 0, 2, pp),
            ("F4 s2>s3", 0, 1, 2, pp),
            ("B3 s3>s2", 1, 0, 2, pp),
            ("B4 s3>s2", 1, 0, 2, pp),
            ("DP s4", 1, 3, 2, 5_460_983_808.0),
            ("DP s3", 1, 3, 2, 4_831_838_208.0),
            ("DP s2", 0, 2, 2, 4_831_838_208.0),
            ("DP s1", 0, 2, 2, 5_460_983_808.0),
        ]
    );
    // GPU i of stage s of replica r is (r*pp + s)*g + i; neighbours follow behind all replicas.
    let gpus = |set: &GpuSet| set.iter().collect::<Vec<_>>();
    assert_eq!(
        (gpus(&instance.tasks[0].src_gpus), gpus(&instance.tasks[0].dst_gpus)),
        (vec![2, 3], vec![4, 5])
    );
    assert_eq!(
        (gpus(&instance.tasks[8].src_gpus), gpus(&instance.tasks[8].dst_gpus)),
        (vec![6, 7], vec![22, 23])
    );
    assert_eq!(instance.provenance.unwrap().edges_valid_up_to_gbps, Some(400.0));
}

#[test]
fn more_than_two_replicas_pay_two_ports_on_the_ring() {
    let instance = instance(&preset("small"));
    let ring: Vec<_> = links(&instance).into_iter().filter(|l| l.2 == LinkKind::Dp).collect();
    assert_eq!(ring.len(), 4);
    assert!(ring.iter().all(|l| (l.3, l.4) == (2, 0)));
    let exchange = instance.tasks.iter().find(|t| t.kind == TaskKind::Dp).unwrap();
    assert_eq!((exchange.flows, exchange.name.as_str()), (2, "DP s8"));
}

#[test]
fn one_replica_has_no_ring_and_a_tail() {
    let mut job = preset("tiny4");
    job.run.gpus = 8;
    let instance = instance(&job);
    assert_eq!(instance.pods.len(), 2);
    assert!(instance.tasks.iter().all(|t| t.kind != TaskKind::Dp));
    // After the last gradient, stages 2 and 1 still run one backward each, with a transfer inside the pod between.
    let last = instance.tasks.last().unwrap();
    assert_eq!(last.name, "B4 s3>s2");
    assert!((last.tail_s * 1e3 - 74.770063).abs() < 1e-6, "{}", last.tail_s);
}

#[test]
fn one_pod_per_replica_has_only_the_ring() {
    let mut job = preset("tiny4");
    job.run.gpus_per_pod_per_replica = 8;
    let instance = instance(&job);
    assert_eq!(links(&instance), [(0, 1, LinkKind::Dp, 1, 0)]);
    assert_eq!(instance.tasks.len(), 4);
    assert!(instance.tasks.iter().all(|t| t.release_s > 0.0));
}

#[test]
fn one_stage_exchanges_once() {
    let mut job = preset("tiny4");
    job.run.pp = 1;
    job.run.gpus = 4;
    job.run.gpus_per_pod_per_replica = 2;
    let instance = instance(&job);
    assert_eq!((instance.tasks.len(), instance.edges.len()), (1, 0));
    assert_eq!(instance.tasks[0].name, "DP s1");
}

#[test]
fn no_transfer_at_all_is_compute_only() {
    let mut job = preset("tiny4");
    job.run.gpus = 8;
    job.run.gpus_per_pod_per_replica = 8;
    let (instance, summary) = collapsed(&job, Dominance::AtBandwidth).unwrap();
    assert!(instance.tasks.is_empty() && instance.links.is_empty());
    assert!(summary.compute_s.unwrap() > 0.0);
    assert_eq!(instance.provenance.unwrap().compute_s, summary.compute_s);
}

#[test]
fn ports_follow_the_position_and_reversal_turns_the_stages() {
    let mut job = preset("tiny4");
    job.ports_per_pod = Some(PortsPerPod::ByPosition(vec![3, 7]));
    job.reverse = true;
    let instance = instance(&job);
    assert_eq!((instance.pods[0].ports, instance.pods[1].ports), (3, 7));
    assert_eq!((instance.tasks[0].src_pod.0, instance.tasks[0].dst_pod.0), (1, 0));
    assert_eq!((instance.tasks[11].src_pod.0, instance.tasks[11].dst_pod.0), (1, 3));
}

#[test]
fn too_few_ports_name_the_pod() {
    let mut job = preset("small");
    job.ports_per_pod = Some(PortsPerPod::ByPosition(vec![8, 3, 8, 2]));
    let text = collapsed(&job, Dominance::AtBandwidth).unwrap_err().to_string();
    assert_eq!(
        text,
        "job.ports_per_pod[1]: pod 'p1' has 3 ports, but one circuit on each of its links needs 4; give the pod at least 4 ports\n\
         job.ports_per_pod[3]: pod 'p3' has 2 ports, but one circuit on each of its links needs 3; give the pod at least 3 ports"
    );
}

#[test]
fn a_stage_that_outlasts_every_transfer_is_refused() {
    let mut job = preset("tiny4");
    job.run.gpus = 8;
    let stage = |fwd_s: f64| MeasuredStage {
        fwd_s,
        bwd_s: 2.0 * fwd_s,
        dp_bytes_per_gpu: 0.0,
        dp_bytes_per_micro_batch: 0.0,
    };
    job.measured = Some(Measured {
        stages: vec![stage(10.0), stage(0.001), stage(0.001), stage(0.001)],
        pp_bytes_per_rank: 1e6,
        order: Order::OneForwardOneBackward,
        replicas: None,
    });
    job.model = None;
    let text = collapsed(&job, Dominance::AtBandwidth).unwrap_err().to_string();
    assert!(text.contains("balance the stages"), "{text}");
    // With a second replica the exchange waits for the stage, and all is well.
    job.run.gpus = 16;
    if let Some(measured) = &mut job.measured {
        measured.stages.iter_mut().for_each(|stage| stage.dp_bytes_per_gpu = 1e9);
    }
    assert!(instance(&job).tasks.iter().any(|task| task.kind == TaskKind::Dp && task.release_s > 100.0));
}

#[test]
fn no_circuit_is_spent_on_a_ring_that_nobody_uses() {
    let mut job = preset("small");
    let stage = |dp_bytes_per_gpu: f64| MeasuredStage {
        fwd_s: 0.01,
        bwd_s: 0.02,
        dp_bytes_per_gpu,
        dp_bytes_per_micro_batch: 0.0,
    };
    let measured = |dp_bytes: [f64; 8]| Measured {
        stages: dp_bytes.map(stage).into(),
        pp_bytes_per_rank: 1e7,
        order: Order::OneForwardOneBackward,
        replicas: None,
    };
    // Two stages in each of four pods: only those of the second pod exchange gradients, and of these only one.
    job.measured = Some(measured([0.0, 0.0, 0.0, 1e9, 0.0, 0.0, 0.0, 0.0]));
    job.model = None;
    // Too few for a ring, enough for the neighbours.
    job.ports_per_pod = Some(PortsPerPod::ByPosition(vec![1, 4, 2, 1]));
    let one = instance(&job);
    assert_eq!(
        links(&one),
        [
            (0, 1, LinkKind::Pp, 1, 1),
            (1, 2, LinkKind::Pp, 1, 1),
            (2, 3, LinkKind::Pp, 1, 1),
            (1, 5, LinkKind::Dp, 2, 0)
        ]
    );
    assert_eq!(one.tasks.iter().filter(|task| task.kind == TaskKind::Dp).count(), 1);
    let all = expanded(&job).unwrap();
    assert_eq!(check_instance(&all, "").to_string(), "");
    assert_eq!(all.links.iter().filter(|link| link.kind == LinkKind::Dp).count(), 4);
    for rule in [Rule::Ideal, Rule::Fair, Rule::Level] {
        let (one, all) = both_makespans(&job, &[1, 1, 1, 1], rule);
        assert!((all / one - 1.0).abs() < 1e-12, "{rule:?}: {all} instead of {one}");
    }
    job.measured = Some(measured([0.0; 8]));
    let none = instance(&job);
    assert_eq!((none.links.len(), none.pods.len()), (3, 4));
    job.ports_per_pod = Some(PortsPerPod::Same(1));
    let text = collapsed(&job, Dominance::AtBandwidth).unwrap_err().to_string();
    assert!(text.contains("pod 'p1' has 1 port, but one circuit on each of its links needs 2"), "{text}");
}

#[test]
fn expansion_has_all_replicas_and_real_neighbours() {
    for (name, tasks, pods, links) in [("tiny4", 24, 4, 4), ("small", 448, 16, 4 * 3 + 4 * 4)] {
        let instance = expanded(&preset(name)).unwrap();
        assert_eq!(check_instance(&instance, "").to_string(), "", "{name}");
        assert_eq!(
            (instance.tasks.len(), instance.pods.len(), instance.links.len()),
            (tasks, pods, links),
            "{name}"
        );
        assert!(instance.pods.iter().all(|pod| !pod.mirror));
    }
    let instance = expanded(&preset("small")).unwrap();
    let exchanges: Vec<_> = instance.tasks.iter().filter(|t| t.kind == TaskKind::Dp).collect();
    let gpus = |set: &GpuSet| set.iter().collect::<Vec<_>>();
    // Last stage, replica 0: half of the GPUs clockwise to replica 1, the others to replica 3.
    let to = |task: &Task| (task.src_pod.0, task.dst_pod.0, gpus(&task.src_gpus), gpus(&task.dst_gpus));
    assert_eq!(to(exchanges[0]), (3, 7, vec![28, 29], vec![60, 61]));
    assert_eq!(to(exchanges[1]), (3, 15, vec![30, 31], vec![126, 127]));
}

#[test]
fn an_expanded_plan_copies_circuits_and_schedules() {
    use crate::plan::{LinkCircuits, RateControl, Segment, TaskSchedule, TrainingResult};
    let job = preset("small");
    let collapsed = instance(&job);
    let schedule = |task: &Task| TaskSchedule {
        task: task.id,
        start_s: f64::from(task.id.0),
        finish_s: f64::from(task.id.0) + 1.0,
        segments: vec![Segment { start_s: 0.0, end_s: 1.0, volume_bytes: task.volume_bytes }],
    };
    let result = TrainingResult {
        rate_control: RateControl::Fair,
        topology: collapsed
            .links
            .iter()
            .map(|l| LinkCircuits { link: l.id, circuits: 1 + l.id.0 % 2 })
            .collect(),
        ports_used: 0,
        ideal_makespan_s: 1.0,
        nct: Some(1.5),
        tasks: collapsed.tasks.iter().map(schedule).collect(),
        jobs: Vec::new(),
        phases: None,
    };
    let (all, copied) = expand_plan(&job, &result).unwrap();
    assert_eq!(copied.topology.len(), all.links.len());
    assert_eq!(copied.tasks.len(), all.tasks.len());
    for (schedule, task) in copied.tasks.iter().zip(&all.tasks) {
        assert_eq!(schedule.task, task.id);
        assert_eq!(schedule.segments[0].volume_bytes, task.volume_bytes);
        let source = &collapsed.tasks[schedule.start_s as usize];
        assert_eq!(task.name, format!("{} r{}", source.name, task.replica));
    }
    for (entry, link) in copied.topology.iter().zip(&all.links) {
        let position = |pod: PodId| pod.0 % 4;
        let source = match link.kind {
            LinkKind::Pp => position(link.pod_a),
            _ => 3 + position(link.pod_a),
        };
        assert_eq!(entry.circuits, 1 + source % 2, "{link:?}");
    }
    assert_eq!(
        copied.ports_used,
        copied.topology.iter().map(|entry| 2 * u64::from(entry.circuits)).sum::<u64>()
    );
    let mut short = result.clone();
    short.tasks.pop();
    assert!(expand_plan(&job, &short).is_err());
}

/// Makespan of the collapsed instance on `circuits`, and of the expanded one on their copies.
fn both_makespans(job: &Job, circuits: &[u32], rule: Rule) -> (f64, f64) {
    let run = |instance: &Instance, circuits: &[u32]| {
        let network = Network::new(instance).unwrap();
        let contention = Contention::new(&network);
        Simulator::new().run(&network, &contention, circuits, rule, None)
    };
    let expansion = expand::expand(job).unwrap();
    let copied: Vec<u32> = expansion.link_of.iter().map(|link| circuits[link.index()]).collect();
    (run(&instance(job), circuits), run(&expansion.instance, &copied))
}

#[test]
fn all_replicas_take_as_long_as_one() {
    let mut odd = preset("small");
    odd.run.tp = 3;
    odd.run.gpus = 3 * 8 * 3;
    odd.run.gpus_per_pod_per_replica = 6;
    let mut unequal = preset("small");
    unequal.run.balance = crate::scenario::job::Balance::Exact;
    unequal.run.gpus_per_pod_per_replica = 12;
    unequal.reverse = true;
    let mut both = preset("tiny_interleaved");
    both.run.dp_buckets = 4;
    let mut alone = preset("tiny8");
    alone.run.gpus = 8;
    for (job, topologies) in [
        (preset("tiny4"), vec![vec![1, 3, 3], vec![2, 2, 2], vec![1, 1, 1]]),
        (preset("small"), vec![vec![1; 7], vec![4, 2, 4, 2, 1, 1, 2], vec![2, 3, 2, 3, 2, 2, 3]]),
        (preset("one_stage_per_pod"), vec![vec![1; 7], vec![1, 2, 1, 3, 1, 1, 3]]),
        (odd, vec![vec![1; 7], vec![3, 2, 3, 1, 1, 2, 1]]),
        (unequal, vec![vec![1; 5], vec![3, 4, 2, 3, 4]]),
        (alone, vec![vec![1], vec![2]]),
        (preset("tiny_interleaved"), vec![vec![1, 3, 3], vec![2, 2, 2]]),
        (preset("tiny_buckets"), vec![vec![1, 3, 3], vec![2, 2, 2]]),
        (preset("small_buckets"), vec![vec![2, 2, 2, 3, 2, 2, 3]]),
        (both, vec![vec![1, 3, 3], vec![2, 2, 2]]),
        (preset("small_interleaved"), vec![vec![1; 8], vec![2, 2, 2, 3, 1, 2, 2, 1]]),
    ] {
        for circuits in &topologies {
            for rule in [Rule::Ideal, Rule::Fair, Rule::Level] {
                let (one, all) = both_makespans(&job, circuits, rule);
                assert!((all / one - 1.0).abs() < 1e-12, "{circuits:?} {rule:?}: {all} instead of {one}");
            }
        }
    }
}

#[test]
fn interleaved_stages_close_the_pipeline() {
    // Eight stages in four pods, two chunks each: the last pod sends on to the first.
    let closed = instance(&preset("small_interleaved"));
    let pipeline: Vec<_> = links(&closed)
        .into_iter()
        .filter(|link| link.2 == LinkKind::Pp)
        .map(|link| (link.0, link.1))
        .collect();
    assert_eq!(pipeline, [(0, 1), (1, 2), (2, 3), (0, 3)]);
    let task = |name: &str| closed.tasks.iter().find(|task| task.name == name).unwrap();
    let route = |name: &str| (task(name).src_pod.0, task(name).dst_pod.0, task(name).kind);
    assert_eq!(route("F3.1 s8>s1"), (3, 0, TaskKind::PpFwd));
    assert_eq!(route("B3.2 s1>s8"), (0, 3, TaskKind::PpBwd));
    assert_eq!(route("F16.2 s4>s5"), (1, 2, TaskKind::PpFwd));
    // 2 chunks over 3 borders and 1 way back, both directions, 16 micro-batches, 8 exchanges.
    assert_eq!(closed.tasks.len(), 2 * (2 * 3 + 1) * 16 + 8);
    // The last pod receives the first chunk and sends it on; nobody receives from it what it did not compute.
    assert!(closed.tasks.iter().all(|task| task.name != "F1.2 s8>s1"));

    // Two pods are neighbours already.
    let pair = instance(&preset("tiny_interleaved"));
    assert_eq!(links(&pair).len(), 3);
    let from_first: Vec<&str> = pair
        .tasks
        .iter()
        .filter(|task| task.src_pod.0 == 0 && task.dst_pod.0 == 1)
        .map(|t| t.name.as_str())
        .collect();
    assert!(from_first.contains(&"F1.1 s2>s3") && from_first.contains(&"B1.2 s1>s4"), "{from_first:?}");

    // A pod at the end needs a port more than one in a plain pipeline.
    let mut scarce = preset("small_interleaved");
    scarce.ports_per_pod = Some(PortsPerPod::Same(3));
    let text = collapsed(&scarce, Dominance::AtBandwidth).unwrap_err().to_string();
    assert!(text.contains("pod 'p0' has 3 ports, but one circuit on each of its links needs 4"), "{text}");
}

#[test]
fn chunks_compete_where_two_pods_hold_the_pipeline() {
    let loose = |name: &str| {
        let network = Network::new(&instance(&preset(name))).unwrap();
        Contention::new(&network)
    };
    let pair = loose("tiny_interleaved");
    assert!(!pair.tail_exact() && !pair.sinks_only());
    // With pods between them every direction of a link has one sender, who sends one after the other.
    assert!(loose("small_interleaved").tail_exact());
}

#[test]
fn buckets_of_a_stage_follow_each_other() {
    let instance = instance(&preset("tiny_buckets"));
    let exchanges: Vec<_> = instance
        .tasks
        .iter()
        .filter(|task| task.kind == TaskKind::Dp)
        .map(|task| task.name.as_str())
        .collect();
    assert_eq!(
        exchanges,
        ["DP.1 s4", "DP.2 s4", "DP.1 s3", "DP.2 s3", "DP.1 s2", "DP.2 s2", "DP.1 s1", "DP.2 s1"]
    );
    let of_first: f64 =
        instance.tasks.iter().filter(|task| task.name.ends_with(" s1")).map(|task| task.volume_bytes).sum();
    assert_eq!(of_first, 5_460_983_808.0);
    // The first bucket is out half a backward before the second, which waits for it.
    let network = Network::new(&instance).unwrap();
    assert!(network.precedence.before(8, 9));
    let loose = Contention::new(&network).loose;
    assert!(!loose.is_empty(), "the first bucket competes and is waited for");
}
