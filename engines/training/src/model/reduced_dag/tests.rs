#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::model::collapse::{Laid, full_dag};
use crate::scenario::job::{Balance, Job, Model, ModelChoice};
use crate::scenario::presets;
use crate::scenario::workload::Workload;
use proptest::prelude::*;

fn reduced(job: &Job, dominance: Dominance) -> ReducedDag {
    Laid::of(job, 1, dominance).unwrap().reduced
}

fn preset(name: &str) -> Job {
    presets::job(name).unwrap().job()
}

#[test]
fn sizes_of_the_presets() {
    for (name, tasks, edges) in [
        ("tiny4", 12, 18),
        ("tiny8", 20, 34),
        ("tiny32", 68, 130),
        ("small", 104, 286),
        ("megatron_177b", 198, 564),
        ("mixtral_8x22b", 392, 1246),
        ("megatron_462b", 784, 2514),
        ("deepseek_671b", 784, 2514),
    ] {
        let reduced = reduced(&preset(name), Dominance::AtBandwidth);
        assert_eq!((reduced.tasks.len(), reduced.edges.len()), (tasks, edges), "{name}");
    }
}

#[test]
fn unequal_stages_keep_more_edges() {
    let mut job = preset("megatron_462b");
    job.run.balance = Balance::Exact;
    assert_eq!(reduced(&job, Dominance::AtBandwidth).edges.len(), 19_267);
}

#[test]
fn edges_of_tiny4() {
    const GOLDEN: [(u32, u32, f64); 18] = [
        (0, 1, 18.608630),
        (1, 2, 18.608630),
        (0, 3, 112.322867),
        (1, 3, 56.161434),
        (2, 4, 56.161434),
        (3, 4, 56.161434),
        (2, 5, 56.161434),
        (3, 5, 56.161434),
        (4, 6, 56.161434),
        (5, 6, 56.161434),
        (4, 7, 112.322867),
        (5, 7, 112.322867),
        (6, 7, 37.217260),
        (4, 8, 75.105608),
        (5, 8, 75.105608),
        (7, 9, 0.0),
        (7, 10, 37.552804),
        (7, 11, 74.770063),
    ];
    let reduced = reduced(&preset("tiny4"), Dominance::AtBandwidth);
    assert_eq!(reduced.edges.len(), GOLDEN.len());
    for (edge, (pred, succ, delay_ms)) in reduced.edges.iter().zip(GOLDEN) {
        assert_eq!((edge.pred.0, edge.succ.0), (pred, succ));
        assert!((edge.delay_s * 1e3 - delay_ms).abs() < 1e-6, "{edge:?}");
    }
    assert!((reduced.tasks[0].release_s * 1e3 - 37.552804).abs() < 1e-6);
    assert!(reduced.tasks[1..].iter().all(|task| task.release_s == 0.0));
    assert!(reduced.tasks.iter().all(|task| task.tail_s == 0.0));
    assert_eq!(reduced.compute_s, None);
}

#[test]
fn the_largest_job_is_reduced_without_a_square_of_memory() {
    let mut job = preset("megatron_462b");
    job.run.micro_batches = 512;
    let reduced = reduced(&job, Dominance::AtBandwidth);
    assert_eq!(reduced.tasks.len(), 3088);
    // Linear in the micro-batches: each one more than 128 adds the same 20 edges.
    assert_eq!(reduced.edges.len(), 2514 + 20 * (512 - 128));
}

/// Finish of every task and end of the iteration when each takes `slow` times its shortest time.
fn full_schedule(dag: &FullDag, slow: &dyn Fn(usize) -> f64) -> (Vec<f64>, f64) {
    let mut finish = vec![0.0_f64; dag.nodes().len()];
    let mut tasks = Vec::new();
    for (index, node) in dag.nodes().iter().enumerate() {
        let start = dag.preds(index).iter().map(|&pred| finish[pred as usize]).fold(0.0, f64::max);
        let factor = if node.inter_pod { slow(tasks.len()) } else { 1.0 };
        finish[index] = start + node.duration_s * factor;
        if node.inter_pod {
            tasks.push(finish[index]);
        }
    }
    (tasks, finish.into_iter().fold(0.0, f64::max))
}

fn reduced_schedule(dag: &FullDag, reduced: &ReducedDag, slow: &dyn Fn(usize) -> f64) -> (Vec<f64>, f64) {
    let mut finish: Vec<f64> = Vec::new();
    let mut edges = reduced.edges.iter().peekable();
    for (index, task) in reduced.tasks.iter().enumerate() {
        let mut start = task.release_s;
        while let Some(edge) = edges.next_if(|edge| edge.succ.index() == index) {
            start = start.max(finish[edge.pred.index()] + edge.delay_s);
        }
        finish.push(start + dag.nodes()[task.node as usize].duration_s * slow(index));
    }
    let end = finish.iter().zip(&reduced.tasks).map(|(finish, task)| finish + task.tail_s);
    let end = end.fold(reduced.compute_s.unwrap_or(0.0), f64::max);
    (finish, end)
}

fn any_job() -> impl Strategy<Value = Job> {
    let bools = (any::<bool>(), any::<bool>(), any::<bool>());
    (1..=8_u32, 1..=12_u32, 1..=3_u32, (1..=4_u32, 1..=3_u32), bools).prop_map(
        |(pp, n, replicas, (stages_per_pod, chunks), (blocking, exact, reverse))| {
            let mut job = preset("tiny4");
            if pp > 1 && chunks > 1 {
                let layers = pp * chunks;
                let model = crate::scenario::presets::model("gpt_7b").unwrap();
                job.model = Some(ModelChoice::Inline(Model { layers, ..model }));
                job.run.virtual_stages = chunks;
                job.run.dp_buckets = 1 + n % chunks;
            } else if pp < 5 {
                job.run.dp_buckets = chunks;
            }
            let n = if job.run.virtual_stages > 1 { n.next_multiple_of(pp) } else { n };
            job.run.pp = pp;
            job.run.micro_batches = n;
            job.run.gpus = 2 * pp * replicas;
            job.run.gpus_per_pod_per_replica = 2 * stages_per_pod.min(pp);
            job.run.blocking_p2p = blocking;
            job.run.balance = if exact { Balance::Exact } else { Balance::Uniform };
            job.reverse = reverse;
            job.ports_per_pod = Some(crate::scenario::job::PortsPerPod::Same(64));
            job
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// However slow the transfers are, the reduced graph gives the times of the full one.
    #[test]
    fn reduced_and_full_graph_agree(
        job in any_job(),
        factors in prop::collection::vec(prop_oneof![Just(1.0), 1.0..4.0, 1.0..300.0], 40),
        keep_all in any::<bool>(),
    ) {
        let shape = job.shape().unwrap();
        let workload = Workload::of(&job, &shape).unwrap();
        let full = full_dag(&job, &shape, &workload, 1).unwrap();
        let dominance = if keep_all { Dominance::KeepAll } else { Dominance::AtBandwidth };
        let reduced = reduce(&full, dominance).unwrap();
        let slow = |task: usize| factors[task % factors.len()];
        let (expected, expected_end) = full_schedule(&full, &slow);
        let (found, found_end) = reduced_schedule(&full, &reduced, &slow);
        prop_assert_eq!(expected.len(), found.len());
        for (expected, found) in expected.iter().zip(&found) {
            prop_assert!((expected - found).abs() < 1e-9, "{} instead of {}", found, expected);
        }
        prop_assert!((expected_end - found_end).abs() < 1e-9, "{} instead of {}", found_end, expected_end);
    }
}

#[test]
fn all_edges_hold_at_any_bandwidth() {
    let job = preset("tiny8");
    let mut fast = job.clone();
    fast.run.bandwidth_gbps = 1600.0;
    // Transfers inside a pod are part of the delays and must not change with the bandwidth here.
    fast.run.intra_pod_gbps = Some(job.run.bandwidth_gbps);
    let all = reduced(&job, Dominance::KeepAll);
    assert!(all.edges.len() > reduced(&job, Dominance::AtBandwidth).edges.len());
    let laid = Laid::of(&fast, 1, Dominance::AtBandwidth).unwrap();
    let (expected, _) = full_schedule(&laid.full, &|_| 1.0);
    let (found, _) = reduced_schedule(&laid.full, &all, &|_| 1.0);
    for (expected, found) in expected.iter().zip(found) {
        assert!((expected - found).abs() < 1e-12);
    }
}

#[test]
fn without_tasks_the_compute_is_the_iteration() {
    let mut job = preset("tiny4");
    job.run.gpus = 8;
    job.run.gpus_per_pod_per_replica = 8;
    let laid = Laid::of(&job, 1, Dominance::AtBandwidth).unwrap();
    assert!(laid.reduced.tasks.is_empty());
    let (_, end) = full_schedule(&laid.full, &|_| 1.0);
    assert_eq!(laid.reduced.compute_s, Some(end));
}
