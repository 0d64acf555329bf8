#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::scenario::job::Job;
use crate::scenario::presets;

fn dag_of(job: &Job, replicas: u32) -> FullDag {
    let shape = job.shape().unwrap();
    let workload = Workload::of(job, &shape).unwrap();
    FullDag::build(&shape, &workload, &job.run, &Order::OneForwardOneBackward, replicas).unwrap()
}

fn ideal_makespan(dag: &FullDag) -> f64 {
    let mut finish = vec![0.0_f64; dag.nodes().len()];
    for (index, node) in dag.nodes().iter().enumerate() {
        let start = dag.preds(index).iter().map(|&pred| finish[pred as usize]).fold(0.0, f64::max);
        finish[index] = start + node.duration_s;
    }
    finish.into_iter().fold(0.0, f64::max)
}

#[test]
fn node_counts_follow_the_formula() {
    for (name, chunks, nodes) in [
        ("tiny4", 1, 60),
        ("tiny8", 1, 116),
        ("mixtral_8x22b", 1, 1928),
        ("megatron_462b", 1, 7952),
        // 2*8*8 computes, 2*7*8 transfers, 4 exchanges.
        ("tiny_interleaved", 2, 244),
        // Four exchanges and four cuts of a backward more than tiny4.
        ("tiny_buckets", 1, 68),
    ] {
        let job = presets::job(name).unwrap().job();
        assert_eq!(dag_of(&job, 1).nodes().len(), nodes, "{name}");
        assert_eq!(
            crate::scenario::workload::node_count(
                job.run.pp,
                chunks,
                job.run.micro_batches,
                job.run.pp * (2 * job.run.dp_buckets - 1)
            ),
            nodes as u64
        );
    }
}

#[test]
fn transfers_between_pods_follow_the_formula() {
    for preset in presets::JOBS {
        let job = preset.job();
        let shape = job.shape().unwrap();
        let count = dag_of(&job, 1).nodes().iter().filter(|node| node.inter_pod).count();
        assert_eq!(count as u64, job.transfer_count(&shape), "{}", preset.name);
    }
}

#[test]
fn lists_warm_up_alternate_and_drain() {
    let text = |list: &[Step]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let lists = one_forward_one_backward(4, 4);
    assert_eq!(text(&lists[0]), "F1 F2 F3 F4 B1 B2 B3 B4");
    assert_eq!(text(&lists[2]), "F1 F2 B1 F3 B2 F4 B3 B4");
    assert_eq!(text(&lists[3]), "F1 B1 F2 B2 F3 B3 F4 B4");
    // Fewer micro-batches than stages to warm up.
    assert_eq!(text(&one_forward_one_backward(8, 2)[0]), "F1 F2 B1 B2");
}

#[test]
fn predecessors_come_first() {
    for replicas in [1, 2] {
        let dag = dag_of(&presets::job("tiny8").unwrap().job(), replicas);
        for node in 0..dag.nodes().len() {
            assert!(dag.preds(node).iter().all(|pred| (*pred as usize) < node));
        }
    }
}

#[test]
fn an_iteration_without_contention_takes_the_known_time() {
    // Slots of a pipeline with free transfers: (pp - 1 + n) forwards and backwards.
    let mut job = presets::job("tiny4").unwrap().job();
    job.run.gpus = 8;
    job.run.bandwidth_gbps = 1e6;
    let shape = job.shape().unwrap();
    let fwd_s = Workload::of(&job, &shape).unwrap().stages[0].fwd_s;
    let free = f64::from(4 - 1 + 4) * 3.0 * fwd_s;
    assert!((ideal_makespan(&dag_of(&job, 1)) / free - 1.0).abs() < 1e-4);
    // With transfers and the exchange.
    let job = presets::job("tiny4").unwrap().job();
    assert!((ideal_makespan(&dag_of(&job, 1)) - 0.449082051).abs() < 1e-9);
}

#[test]
fn blocking_sends_never_shorten_the_iteration() {
    for preset in &presets::JOBS[..5] {
        let mut job = preset.job();
        let blocking = ideal_makespan(&dag_of(&job, 1));
        job.run.blocking_p2p = false;
        let free = ideal_makespan(&dag_of(&job, 1));
        assert!(free <= blocking + 1e-12, "{}: {free} > {blocking}", preset.name);
    }
}

#[test]
fn the_last_bucket_waits_for_the_last_send_of_its_stage() {
    for buckets in [1, 2] {
        for blocking in [true, false] {
            let mut job = presets::job("tiny4").unwrap().job();
            (job.run.blocking_p2p, job.run.dp_buckets) = (blocking, buckets);
            let dag = dag_of(&job, 1);
            let is = |node: &Node, kind, stage| (node.kind, node.stage) == (kind, stage);
            for stage in 1..job.run.pp {
                let sends = |node: &&Node| is(node, NodeKind::SendBackward, stage);
                let last = dag.nodes().iter().rposition(|node| sends(&node)).unwrap() as u32;
                let mut exchanges = (0..dag.nodes().len()).filter(|at| {
                    let node = &dag.nodes()[*at];
                    is(node, NodeKind::Clockwise, stage) && node.bucket + 1 == buckets
                });
                assert!(exchanges.all(|at| dag.preds(at).contains(&last)), "{blocking} {stage}");
            }
        }
    }
}

#[test]
fn a_literal_order_equal_to_the_standard_gives_the_same_graph() {
    let job = presets::job("small").unwrap().job();
    let shape = job.shape().unwrap();
    let workload = Workload::of(&job, &shape).unwrap();
    let literal = Order::Lists(one_forward_one_backward(job.run.pp, job.run.micro_batches));
    let built = FullDag::build(&shape, &workload, &job.run, &literal, 1).unwrap();
    assert_eq!(built, dag_of(&job, 1));
}

#[test]
fn orders_that_cannot_be_followed_are_refused() {
    let mut job = presets::job("tiny4").unwrap().job();
    job.run.micro_batches = 2;
    let shape = job.shape().unwrap();
    let workload = Workload::of(&job, &shape).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<Vec<Step>>)| {
        let mut lists = one_forward_one_backward(4, 2);
        change(&mut lists);
        let built = FullDag::build(&shape, &workload, &job.run, &Order::Lists(lists), 1);
        built.unwrap_err().to_string()
    };
    assert!(refused(&|lists| lists.truncate(3)).contains("has 3 lists for 4 stages"));
    let lacks = refused(&|lists| lists[1].truncate(3));
    assert_eq!(
        lacks,
        "job.measured.order[1]: lacks 'B2'; name every forward and backward pass of the stage once"
    );
    assert!(
        refused(&|lists| lists[0].swap(0, 2)).contains("'B1' before the forward pass of this micro-batch")
    );
    let twice = refused(&|lists| lists[3][2] = lists[3][0]);
    assert!(twice.contains("'F1' for the second time") && twice.contains("lacks 'F2'"), "{twice}");
    // Stage 1 wants its first gradient before it sends the second micro-batch that stage 2 waits for.
    let waits = refused(&|lists| {
        lists[0] = ["F1", "B1", "F2", "B2"].map(|step| step.parse().unwrap()).to_vec();
        lists[1] = ["F1", "F2", "B1", "B2"].map(|step| step.parse().unwrap()).to_vec();
        lists[2] = ["F1", "F2", "B1", "B2"].map(|step| step.parse().unwrap()).to_vec();
    });
    assert!(
        waits.contains("job.measured.order[0][1]: is 'B1', but stage 2 never reaches this step"),
        "{waits}"
    );
}

#[test]
fn interleaved_lists_take_groups_through_chunk_after_chunk() {
    let text = |list: &[Compute]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    // Warm-up of 2*(2 - 0 - 1) + (2 - 1)*2 = 4 forwards, which are all, and of 2.
    let lists = interleaved(2, 2, 2);
    assert_eq!(text(&lists[0]), "F1.1 F2.1 F1.2 F2.2 B1.2 B2.2 B1.1 B2.1");
    assert_eq!(text(&lists[1]), "F1.1 F2.1 F1.2 B1.2 F2.2 B2.2 B1.1 B2.1");
    // Two groups of micro-batches; the first stage runs 4 forwards of 8 ahead, the last one 2.
    let lists = interleaved(2, 2, 4);
    assert_eq!(
        text(&lists[0]),
        "F1.1 F2.1 F1.2 F2.2 F3.1 B1.2 F4.1 B2.2 F3.2 B1.1 F4.2 B2.1 B3.2 B4.2 B3.1 B4.1"
    );
    assert_eq!(
        text(&lists[1]),
        "F1.1 F2.1 F1.2 B1.2 F2.2 B2.2 F3.1 B1.1 F4.1 B2.1 F3.2 B3.2 F4.2 B4.2 B3.1 B4.1"
    );
    // One chunk is run in the same groups, with twice the warm-up of plain 1F1B.
    assert_eq!(text(&interleaved(3, 1, 3)[1]), "F1.1 F2.1 F3.1 B1.1 B2.1 B3.1");
}

/// One replica in one pod with transfers that take no time to speak of: compute and bubble alone.
fn compute_only(chunks: u32) -> (Job, f64) {
    let mut job = presets::job("tiny8").unwrap().job();
    job.run.gpus = 8;
    job.run.gpus_per_pod_per_replica = 8;
    job.run.bandwidth_gbps = 1e6;
    job.run.virtual_stages = chunks;
    let makespan = ideal_makespan(&dag_of(&job, 1));
    (job, makespan)
}

#[test]
fn interleaving_divides_the_bubble_by_the_chunks() {
    let (job, plain) = compute_only(1);
    let stage = Workload::of(&job, &job.shape().unwrap()).unwrap().stages[0];
    let (slot_s, pp, n) = (stage.fwd_s + stage.bwd_s, 4.0, 8.0);
    assert!((plain / ((n + pp - 1.0) * slot_s) - 1.0).abs() < 1e-3);
    for chunks in [2, 4, 8] {
        let (_, found) = compute_only(chunks);
        // The bubble is (pp - 1)/(n * v) of the compute.
        let expected = n * slot_s * (1.0 + (pp - 1.0) / n / f64::from(chunks));
        assert!((found / expected - 1.0).abs() < 1e-3, "{chunks} chunks: {found} instead of {expected}");
    }
}

#[test]
fn more_buckets_never_lengthen_the_ideal_iteration() {
    // Whole pipelines in a pod: nothing else wants the NICs.
    for (chunks, finer) in [(1, [1, 2, 3, 4, 5, 6, 7, 8].as_slice()), (2, &[1, 2, 4, 8]), (4, &[1, 2, 4, 8])]
    {
        for bandwidth_gbps in [50.0, 400.0] {
            let mut before = f64::INFINITY;
            for &buckets in finer {
                let mut job = presets::job("tiny8").unwrap().job();
                job.run.gpus_per_pod_per_replica = 8;
                job.run.bandwidth_gbps = bandwidth_gbps;
                (job.run.virtual_stages, job.run.dp_buckets) = (chunks, buckets);
                let makespan = ideal_makespan(&dag_of(&job, 1));
                assert!(
                    makespan <= before + 1e-12,
                    "{chunks} chunks, {buckets} buckets: {makespan} > {before}"
                );
                before = makespan;
            }
        }
    }
    // The first stage ends last: of what it exchanges after its last backward only the last bucket is left.
    let mut job = presets::job("tiny4").unwrap().job();
    let at = |buckets: u32, job: &mut Job| {
        job.run.dp_buckets = buckets;
        ideal_makespan(&dag_of(job, 1))
    };
    let (whole, halves) = (at(1, &mut job), at(2, &mut job));
    let exchange_s = Workload::of(&job, &job.shape().unwrap()).unwrap().stages[0].dp_bytes_per_gpu / 5e10;
    let bwd_s = 2.0 * 0.018_608_630;
    let hidden_s = f64::min(bwd_s, exchange_s) / 2.0;
    assert!((whole - halves - hidden_s).abs() < 1e-6, "{whole} {halves} {hidden_s}");
}
