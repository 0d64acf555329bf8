#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::scenario::job::{Job, ModelChoice, RunConfig};
use crate::scenario::presets;

fn workload(preset: &str) -> (Shape, Workload) {
    let job = presets::job(preset).unwrap().job();
    let shape = job.shape().unwrap();
    let workload = Workload::of(&job, &shape).unwrap();
    (shape, workload)
}

fn close(actual: f64, expected: f64) {
    assert!((actual / expected - 1.0).abs() < 1e-6, "{actual} instead of {expected}");
}

/// Stage times in ms are given with fewer digits than bytes.
fn same_digits(actual: f64, printed: &str) {
    let digits = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
    assert_eq!(format!("{actual:.digits$}"), printed);
}

#[test]
fn parameter_totals_equal_the_names() {
    let billions = |name| parameter_total(&presets::model(name).unwrap()) / 1e9;
    same_digits(billions("gpt_7b"), "6.9");
    same_digits(billions("megatron_177b"), "177.2");
    same_digits(billions("megatron_462b"), "461.4");
    same_digits(billions("mixtral_8x22b"), "140.6");
    same_digits(billions("deepseek_671b"), "671.0");
    same_digits(billions("llama_3_1_8b"), "8.0");
    same_digits(billions("llama_3_1_70b"), "70.6");
    same_digits(billions("llama_3_1_405b"), "405.8");
    same_digits(billions("mixtral_8x7b"), "46.7");
    same_digits(billions("qwen3_235b_a22b"), "235.1");
    same_digits(billions("gpt_oss_120b"), "116.8");
}

#[test]
fn layers_leave_room_at_both_ends() {
    assert_eq!(layer_split(61, 16), [3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3]);
    assert_eq!(layer_split(32, 4), [8; 4]);
    assert_eq!(layer_split(5, 3), [2, 2, 1]);
    assert_eq!(layer_split(4, 3), [1, 2, 1]);
    assert_eq!(layer_split(1, 1), [1]);
    for (layers, stages) in [(96, 7), (61, 61), (61, 60), (112, 16)] {
        let split = layer_split(layers, stages);
        assert_eq!((split.len(), split.iter().sum::<u32>()), (stages as usize, layers));
        assert!(split.iter().max().unwrap() - split.iter().min().unwrap() <= 1);
    }
}

#[test]
fn groups_of_the_presets() {
    // g, R, G, stages per pod, pods, ports per pod, micro-batches
    for (name, expected) in [
        ("megatron_177b", [8, 8, 3, 2, 24, 16, 48]),
        ("mixtral_8x22b", [8, 2, 4, 2, 8, 16, 64]),
        ("megatron_462b", [8, 8, 4, 4, 32, 32, 128]),
        ("deepseek_671b", [8, 2, 4, 4, 8, 32, 128]),
        ("tiny4", [2, 2, 2, 2, 4, 4, 4]),
        ("tiny8", [2, 2, 2, 2, 4, 4, 8]),
        ("tiny32", [2, 2, 2, 2, 4, 4, 32]),
        ("small", [4, 4, 4, 2, 16, 8, 16]),
        ("one_stage_per_pod", [4, 2, 4, 1, 8, 4, 8]),
    ] {
        let shape = workload(name).0;
        let n = presets::job(name).unwrap().run.micro_batches;
        let pods = shape.replicas * shape.pods_per_replica;
        let ports = shape.ports[0];
        assert!(shape.ports.iter().all(|p| *p == ports), "{name}");
        let found = [
            shape.gpus_per_stage,
            shape.replicas,
            shape.pods_per_replica,
            shape.stages_per_pod,
            pods,
            ports,
            n,
        ];
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(workload("mixtral_8x22b").0.dp_in, 4);
}

#[test]
fn times_and_volumes_of_the_presets() {
    type Row = (&'static str, &'static str, f64, [(usize, f64); 3]);
    let rows: [Row; 7] = [
        ("tiny4", "18.608630", 33_554_432.0, [(0, 2.730491904), (1, 2.415919104), (3, 2.730491904)]),
        ("tiny8", "18.608630", 33_554_432.0, [(0, 2.730491904), (2, 2.415919104), (3, 2.730491904)]),
        ("tiny32", "18.608630", 33_554_432.0, [(0, 2.730491904), (2, 2.415919104), (3, 2.730491904)]),
        (
            "megatron_177b",
            "77.8219",
            100_663_296.0,
            [(0, 20.082327552), (2, 19.025362944), (5, 20.082327552)],
        ),
        ("mixtral_8x22b", "52.2467", 201_326_592.0, [(0, 6.648625152), (3, 6.573127680), (7, 6.648625152)]),
        (
            "megatron_462b",
            "75.6288",
            150_994_944.0,
            [(0, 20.313538560), (8, 18.728091648), (15, 20.313538560)],
        ),
        (
            "deepseek_671b",
            "27.0118",
            234_881_024.0,
            [(0, 1.003905024), (8, 17.260904448), (15, 13.293182976)],
        ),
    ];
    for (name, fwd_ms, pp_bytes, dp_gigabytes) in rows {
        let (_, workload) = workload(name);
        for stage in &workload.stages {
            same_digits(stage.fwd_s * 1e3, fwd_ms);
            close(stage.bwd_s, 2.0 * stage.fwd_s);
        }
        assert_eq!(workload.pp_volume_bytes, pp_bytes, "{name}");
        for (stage, gigabytes) in dp_gigabytes {
            close(workload.stages[stage].dp_bytes_per_gpu, gigabytes * 1e9);
        }
    }
    // Three layers and no table; the stage after it has the output table.
    close(workload("deepseek_671b").1.stages[14].dp_bytes_per_gpu, 12.945678336e9);
}

#[test]
fn exact_balance_keeps_the_sum_of_the_stages() {
    let mut job = presets::job("megatron_462b").unwrap().job();
    let shape = job.shape().unwrap();
    let uniform = Workload::of(&job, &shape).unwrap();
    job.run.balance = Balance::Exact;
    let exact = Workload::of(&job, &shape).unwrap();
    let sum = |workload: &Workload| workload.stages.iter().map(|stage| stage.fwd_s).sum::<f64>();
    close(sum(&exact), sum(&uniform));
    assert!(exact.stages[15].fwd_s > exact.stages[0].fwd_s, "the output table burdens the last stage");
    assert_eq!(exact.stages[0].dp_bytes_per_gpu, uniform.stages[0].dp_bytes_per_gpu);
}

#[test]
fn the_last_pod_may_hold_fewer_stages() {
    let mut job = presets::job("small").unwrap().job();
    job.run.gpus_per_pod_per_replica = 12;
    let shape = job.shape().unwrap();
    assert_eq!((shape.pods_per_replica, shape.ports.as_slice()), (3, [12, 12, 8].as_slice()));
    assert_eq!((shape.position(0), shape.position(7)), (0, 2));
    job.reverse = true;
    let shape = job.shape().unwrap();
    assert_eq!(shape.ports, [8, 12, 12]);
    assert_eq!((shape.position(0), shape.position(7)), (2, 0));
}

#[test]
fn ring_flows_are_split_over_two_neighbours() {
    let mut job = presets::job("small").unwrap().job();
    job.run.tp = 3;
    job.run.gpus = 3 * 8 * 4;
    job.run.gpus_per_pod_per_replica = 6;
    let shape = job.shape().unwrap();
    assert_eq!((shape.clockwise_flows(), shape.counter_clockwise_flows(), shape.ring_ports()), (2, 1, 2));
    job.run.gpus = 3 * 8 * 2;
    let shape = job.shape().unwrap();
    assert_eq!((shape.clockwise_flows(), shape.counter_clockwise_flows(), shape.ring_ports()), (3, 0, 1));
}

#[test]
fn buckets_take_the_last_layers_first_and_what_does_not_divide_goes_ahead() {
    let (mut shape, workload) = workload("tiny4");
    // Eight layers in three buckets.
    shape.dp_buckets = 3;
    let found = workload.buckets(&shape, 1);
    let shares: Vec<f64> = found.iter().map(|bucket| bucket.share).collect();
    let done: Vec<f64> = found.iter().map(|bucket| bucket.done).collect();
    assert_eq!((shares, done), (vec![0.375, 0.375, 0.25], vec![0.375, 0.75, 1.0]));
    // Two chunks of four layers: the second bucket ends halfway through the first chunk.
    shape.virtual_stages = 2;
    let found: Vec<_> = workload.buckets(&shape, 1).iter().map(|b| (b.share, b.chunk, b.done)).collect();
    assert_eq!(found, [(0.375, 1, 0.75), (0.375, 0, 0.5), (0.25, 0, 1.0)]);
    // Where nobody knows the layers the buckets are equal.
    let mut unknown = workload.clone();
    unknown.stages[1].layers = 0;
    let found: Vec<_> = unknown.buckets(&shape, 1).iter().map(|b| (b.share, b.chunk)).collect();
    assert_eq!(found, [(1.0 / 3.0, 1), (1.0 / 3.0, 0), (1.0 / 3.0, 0)]);
    shape.dp_buckets = 1;
    assert_eq!(workload.buckets(&shape, 0), [Bucket { share: 1.0, chunk: 0, done: 1.0 }]);
}

/// Ranks that share a sequence: times, volumes and bytes by hand.
#[test]
fn ranks_share_sequences() {
    for (cp, gpus, per_pod, fwd_ms, first, middle) in [
        (1, 16, 4, 18.608_630, 2_730_491_904.0, 2_415_919_104.0),
        (2, 32, 8, 9.304_315, 1_365_245_952.0, 1_207_959_552.0),
        (4, 64, 16, 4.652_157, 682_622_976.0, 603_979_776.0),
    ] {
        let mut job = presets::job("tiny4").unwrap().job();
        (job.run.cp, job.run.gpus, job.run.gpus_per_pod_per_replica) = (cp, gpus, per_pod);
        let shape = job.shape().unwrap();
        assert_eq!((shape.gpus_per_stage, shape.replicas, shape.dp_in), (2 * cp, 2, 1));
        let workload = Workload::of(&job, &shape).unwrap();
        let [stage, next, ..] = &workload.stages[..] else { panic!("four stages") };
        assert!((1e3 * stage.fwd_s - fwd_ms).abs() < 1e-6, "{}", stage.fwd_s);
        assert_eq!((stage.dp_bytes_per_gpu, next.dp_bytes_per_gpu), (first, middle));
        assert_eq!(workload.pp_volume_bytes, 33_554_432.0);
    }
    let mut job = presets::job("tiny4").unwrap().job();
    (job.run.cp, job.run.gpus, job.run.gpus_per_pod_per_replica) = (3, 48, 12);
    let said = job.shape().unwrap_err().to_string();
    assert!(said.contains("job.run.cp: is '3', which needs 6 equal parts of a sequence of 4096"), "{said}");
}

/// Llama 3.1 405B on 16,384 GPUs, with whole layers on every stage.
#[test]
fn the_largest_llama_on_16384_gpus() {
    let mut run = RunConfig::of(8, 16, 16_384, 128, 16);
    (run.cp, run.seq) = (16, 131_072);
    let model = Some(ModelChoice::Preset("llama_3_1_405b".to_owned()));
    let job = Job { model, run, ..presets::job("tiny4").unwrap().job() };
    let shape = job.shape().unwrap();
    let workload = Workload::of(&job, &shape).unwrap();
    assert_eq!((shape.gpus_per_stage, shape.replicas), (128, 8));
    let layers: Vec<u32> = workload.stages.iter().map(|stage| stage.layers).collect();
    assert_eq!(layers, [7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7]);
    assert!((1e3 * workload.stages[0].fwd_s - 218.185_913).abs() < 1e-5, "{}", workload.stages[0].fwd_s);
    assert_eq!(workload.pp_volume_bytes, 4_294_967_296.0);
    let bytes = |stage: usize| workload.stages[stage].dp_bytes_per_gpu.round();
    assert_eq!((bytes(0), bytes(1)), (1_001_398_272.0, 1_045_954_560.0));
}

/// 8 layers of 436,207,616 FLOPs a token, of which 33,554,432 are scores and weighted sums of the attention, for 4096
/// tokens on two GPUs at 395.6 TFLOP/s.
#[test]
fn recomputed_activations_lengthen_the_backward_pass() {
    let mut job = presets::job("tiny4").unwrap().job();
    let mut backward = |recompute| {
        job.run.recompute = recompute;
        let load = Workload::of(&job, &job.shape().unwrap()).unwrap().stages[0];
        close(load.fwd_s, 0.018_608_630);
        load.bwd_s - 2.0 * load.fwd_s
    };
    let second = |flops: f64| flops * 4096.0 / (2.0 * 395.6e12);
    assert!(backward(Recompute::None).abs() < 1e-12);
    close(backward(Recompute::Selective), second(8.0 * 33_554_432.0));
    close(backward(Recompute::Full), second(8.0 * 436_207_616.0));
}

/// 2,730,491,904 bytes hold 6 bytes a parameter, halved by the ring of two replicas; four micro-batches.
#[test]
fn zero_stages_change_what_replicas_exchange() {
    let mut job = presets::job("tiny4").unwrap().job();
    for (zero, bytes_per_parameter) in [(0, 8.0), (1, 6.0), (2, 18.0), (3, 32.0)] {
        job.run.zero = zero;
        let load = Workload::of(&job, &job.shape().unwrap()).unwrap().stages[0];
        close(load.dp_bytes_per_gpu, 2_730_491_904.0 / 6.0 * bytes_per_parameter);
    }
}
