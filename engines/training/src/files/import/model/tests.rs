#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::files::import::tests::resolved;
use crate::scenario::job::Recompute;
use crate::scenario::workload::Workload;

macro_rules! config {
    ($name:literal) => {
        Input {
            name: $name.to_owned(),
            bytes: include_bytes!(concat!("../../../../../../tests/resources/inputs/models/", $name))
                .to_vec(),
        }
    };
}

fn params(settings: &str) -> Params {
    resolved(&formats()[0].params, &settings.split_whitespace().collect::<Vec<_>>())
}

fn job(input: Input, settings: &str) -> (Job, Vec<String>) {
    let imported = scenario(HF_CONFIG, &[input], &params(settings), false).unwrap();
    match imported.scenario.body {
        TrainingScenario::Job(job) => (job, imported.notes),
        _ => panic!("a job"),
    }
}

/// Bytes between replicas by stage, and the forward time.
fn loads(job: &Job) -> (Vec<f64>, f64) {
    let workload = Workload::of(job, &job.shape().unwrap()).unwrap();
    let bytes = workload.stages.iter().map(|stage| stage.dp_bytes_per_gpu).collect();
    (bytes, workload.stages[0].fwd_s)
}

fn assert_loads(job: &Job, parameters: f64, bytes: [f64; 4], fwd_ms: f64) {
    let model = job.resolved_model().unwrap();
    assert_eq!(parameter_total(&model), parameters);
    let (found, fwd_s) = loads(job);
    for (found, bytes) in found.iter().zip(bytes) {
        assert!((found - bytes).abs() < 1.0, "{found} {bytes}");
    }
    assert!((1e3 * fwd_s - fwd_ms).abs() < 5e-7, "{fwd_s}");
}

/// Values by hand from the closed forms of times and volumes.
#[test]
fn a_dense_model_with_grouped_queries() {
    let run = "tp=2 pp=4 gpus=16 gpus_per_pod_per_replica=4 micro_batches=4";
    let (job, notes) = job(config!("config-dense.json"), run);
    let bytes = [1_499_332_608.0, 1_056_964_608.0, 1_056_964_608.0, 1_499_332_608.0];
    assert_loads(&job, 3_408_396_288.0 - 96_000.0 * 3072.0, bytes, 8.971_146);
    assert!(notes.iter().any(|note| note.contains("is tied")), "{notes:?}");
}

#[test]
fn experts_in_every_second_layer() {
    let run = "tp=2 pp=4 ep=2 gpus=16 gpus_per_pod_per_replica=4 micro_batches=4";
    let (mut job, _) = job(config!("config-moe.json"), run);
    let bytes = [970_555_392.0, 1_227_128_832.0, 1_227_128_832.0, 1_423_736_832.0];
    assert_loads(&job, 3_232_366_592.0, bytes, 3.988_872);
    let Some(ModelChoice::Inline(model)) = &mut job.model else { panic!("spelled out") };
    assert_eq!(model.moe_layers.as_deref(), Some(&[5, 7, 9, 11, 13, 15, 17, 19, 21, 23][..]));
    model.moe_layers = Some((0..24).filter(|layer| layer % 4 == 3).collect());
    let bytes = [970_555_392.0, 1_000_538_112.0, 773_947_392.0, 1_197_146_112.0];
    assert_loads(&job, 2_628_124_672.0, bytes, 4.248_758);
    let Some(ModelChoice::Inline(model)) = &mut job.model else { panic!("spelled out") };
    model.moe_layers = None;
    let bytes = [2_103_508_992.0, 1_906_900_992.0, 1_906_900_992.0, 2_103_508_992.0];
    assert_loads(&job, 5_347_213_312.0, bytes, 3.079_272);
}

#[test]
fn latent_attention_and_dense_first_layers() {
    let run = "tp=2 pp=4 ep=4 gpus=32 gpus_per_pod_per_replica=8 micro_batches=4";
    let (job, notes) = job(config!("config-mla.json"), run);
    let (bytes, _) = loads(&job);
    let model = job.resolved_model().unwrap();
    assert_eq!(parameter_total(&model), 7_963_148_288.0);
    assert_eq!(bytes, [1_136_787_456.0, 1_570_897_920.0, 1_570_897_920.0, 1_693_777_920.0]);
    assert_eq!((model.head_dim, model.dense_layers, model.moe_layers), (128, Some(2), None));
    assert!(notes.iter().any(|note| note.contains("multi-token prediction")), "{notes:?}");
}

#[test]
fn a_run_that_is_not_given_is_asked_for() {
    let said =
        scenario(HF_CONFIG, &[config!("config-dense.json")], &params("tp=2"), false).unwrap_err().to_string();
    for name in ["pp: is missing", "gpus: is missing", "micro_batches: is missing"] {
        assert!(said.contains(name), "{said}");
    }
    let run = params("tp=4 pp=4 gpus=32 micro_batches=4");
    let imported = scenario(HF_CONFIG, &[config!("config-dense.json")], &run, false).unwrap();
    let assumed: Vec<&str> = imported.assumed.iter().map(|one| one.what.as_str()).collect();
    assert!(assumed.contains(&"gpus_per_pod_per_replica") && assumed.contains(&"mfu"), "{assumed:?}");
    let strict = scenario(HF_CONFIG, &[config!("config-dense.json")], &run, true).unwrap_err().to_string();
    assert!(strict.contains("mfu: is not in the file; 0.4 would be assumed; set 'mfu='"), "{strict}");
}

/// The model and run that the files of a format give.
fn from(format: &str, files: &[Input], settings: &str) -> (Job, Vec<String>) {
    let imported =
        scenario(format, files, &params(settings), false).unwrap_or_else(|problems| panic!("{problems}"));
    let assumed = imported.assumed.into_iter().map(|assumed| assumed.what).collect();
    match imported.scenario.body {
        TrainingScenario::Job(job) => (job, assumed),
        _ => panic!("a job"),
    }
}

#[test]
fn arguments_of_megatron_describe_the_models_of_hugging_face() {
    let run = "tp=2 pp=4 gpus=32 gpus_per_pod_per_replica=8 micro_batches=4";
    let (dense, _) = job(config!("config-dense.json"), run);
    // Without use_distributed_optimizer, replicas share no states.
    let sharded = |run: &str| format!("{run} zero=1");
    assert_eq!(from(MEGATRON, &[config!("megatron-dense.sh")], &sharded(run)).0, dense);
    let (experts, _) = job(config!("config-moe.json"), &format!("{run} ep=4"));
    // 32 GPUs in replicas of 8 are four; 16 sequences are four micro-batches each.
    let (described, assumed) =
        from(MEGATRON, &[config!("megatron-experts.yaml")], &sharded("gpus_per_pod_per_replica=8"));
    assert_eq!(described, experts);
    assert_eq!(assumed, ["bandwidth_gbps", "peak_tflops", "mfu"]);
    // Parameters win over the file.
    let (other, _) =
        from(MEGATRON, &[config!("megatron-experts.yaml")], "gpus_per_pod_per_replica=8 micro_batches=8");
    assert_eq!(other.run.micro_batches, 8);
    let wrong =
        scenario(MEGATRON, &[config!("megatron-dense.sh")], &params(""), false).unwrap_err().to_string();
    assert!(wrong.contains("gpus: is missing"), "{wrong}");
}

#[test]
fn files_of_calculon_make_a_job() {
    let files =
        [config!("calculon-run.json"), config!("calculon-model.json"), config!("calculon-system.json")];
    let (job, assumed) = from(CALCULON, &files, "");
    let run = &job.run;
    assert_eq!(
        (run.gpus, run.tp, run.pp, run.micro_batch_size, run.micro_batches, run.seq),
        (64, 2, 4, 2, 8, 4096)
    );
    assert_eq!((run.peak_tflops, run.bandwidth_gbps), (500.0, 400.0));
    assert_eq!(assumed, ["vocab", "mfu", "gpus_per_pod_per_replica"]);
    // Blocks: four attention matrices of 3,072 x 3,072 and two of 3,072 x 8,192 in each of 28; two tables of 51,200.
    let model = job.resolved_model().unwrap();
    let blocks = 28.0 * (4.0 * 3072.0 * 3072.0 + 2.0 * 3072.0 * 8192.0);
    assert_eq!(parameter_total(&model), blocks + 2.0 * 51_200.0 * 3072.0);
}

/// A description of Hugging Face with further keys.
fn described_with(more: serde_json::Value) -> Input {
    let mut keys = serde_json::json!({
        "model_type": "llama", "hidden_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64,
        "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "vocab_size": 201_088, "hidden_act": "silu",
    });
    keys.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Input { name: "config.json".to_owned(), bytes: keys.to_string().into_bytes() }
}

#[test]
fn a_window_shorter_than_the_sequence_is_an_assumption() {
    let run = "tp=8 pp=4 gpus=64 gpus_per_pod=16 micro_batches=4 bandwidth_gbps=400 peak_tflops=989 micro_batch_size=1";
    let types: Vec<&str> =
        (0..36).map(|layer| if layer % 2 == 0 { "sliding_attention" } else { "full_attention" }).collect();
    let config = described_with(serde_json::json!({"layer_types": types, "sliding_window": 128}));
    let read = |more: &str, strict| {
        scenario(HF_CONFIG, std::slice::from_ref(&config), &params(&format!("{run} {more}")), strict)
    };
    let made = read("seq=131072", false).unwrap();
    let window = made
        .assumed
        .iter()
        .find(|one| one.what == "attention of 18 layers with a window of 128 tokens")
        .unwrap();
    // The scores of a layer take 64 x 2 x 64 FLOPs for each token of half of the sequence, or of the window.
    let TrainingScenario::Job(job) = &made.scenario.body else { panic!("a job") };
    let total = flops_per_token(&job.resolved_model().unwrap(), 131_072);
    let scores = 64.0 * 2.0 * 64.0 * 18.0;
    let right = total - scores * (131_072.0 - 2.0 * (128.0 - 128.0 * 128.0 / 262_144.0));
    assert_eq!(
        window.value,
        format!("all 131072 tokens, which makes compute times {:.2} times too long", total / right)
    );
    let strict = read("seq=131072", true).unwrap_err().to_string();
    assert!(strict.contains("with a window of 128 tokens: is not in the file"), "{strict}");
    // A window as long as the sequence changes nothing; a given `mfu` may allow for the window, which stays a note.
    assert!(read("seq=128", false).unwrap().assumed.iter().all(|one| !one.what.contains("window")));
    let made = read("seq=131072 mfu=0.6", true).unwrap();
    assert!(
        made.notes.iter().any(|note| note.contains("window of 128 tokens: the import counts all 131072"))
    );
}

#[test]
fn a_file_sets_how_replicas_share_states_and_recompute() {
    let arguments = |more: &str| {
        Input {
        name: "run.sh".to_owned(),
        bytes: format!(
            "torchrun --nproc_per_node 8 --nnodes 4 x.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 \
             --num-layers 32 --hidden-size 2048 --num-attention-heads 16 --vocab-size 51200 --micro-batch-size 1 \
             --global-batch-size 32 {more}"
        )
        .into_bytes(),
    }
    };
    let run = |more: &str, settings: &str| {
        let (job, _) = from(MEGATRON, &[arguments(more)], &format!("gpus_per_pod_per_replica=4 {settings}"));
        (job.run.zero, job.run.recompute, job.run.grad_bytes)
    };
    assert_eq!(run("", ""), (0, Recompute::None, 4.0));
    assert_eq!(run("", "zero=1 recompute=selective"), (1, Recompute::Selective, 4.0));
    let given = "--use-distributed-optimizer --recompute-granularity full --bf16 --grad-reduce-in-bf16";
    assert_eq!(run(given, ""), (1, Recompute::Full, 2.0));
    let execution = |sharded: bool| {
        let text = String::from_utf8(config!("calculon-run.json").bytes).unwrap();
        let mut keys: serde_json::Value = serde_json::from_str(&text).unwrap();
        keys["optimizer_sharding"] = sharded.into();
        let run = Input { name: "run.json".to_owned(), bytes: keys.to_string().into_bytes() };
        from(CALCULON, &[run, config!("calculon-model.json"), config!("calculon-system.json")], "").0.run.zero
    };
    assert_eq!((execution(false), execution(true)), (0, 1));
}

/// A script of Megatron-LM with further arguments.
fn script(more: &str) -> Input {
    Input {
        name: "x.sh".to_owned(),
        bytes: format!(
            "MODEL_ARGS=(--swiglu --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 \
             --vocab-size 50304)\nRUN_ARGS=(--micro-batch-size 2 --global-batch-size 64 \
             --pipeline-model-parallel-size 4 {more})\n\
             torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py ${{MODEL_ARGS[@]}} ${{RUN_ARGS[@]}}\n"
        )
        .into_bytes(),
    }
}

#[test]
fn values_that_follow_from_the_tensor_parallel_size_are_set() {
    let experts = "--bf16 --num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 4 --tensor-model-parallel-size 2";
    let read = |more: &str, settings: &str| {
        scenario(MEGATRON, &[script(more)], &params(settings), false).unwrap_or_else(|told| panic!("{told}"))
    };
    let run = |more: &str, settings: &str| {
        let TrainingScenario::Job(job) = read(more, settings).scenario.body else { panic!("a job") };
        job.run
    };
    let of_experts = run(experts, "");
    assert_eq!((of_experts.etp, of_experts.stage_gpus()), (2, 8));
    // A parameter changes the size inside an expert, too.
    assert_eq!(run(experts, "tp=4 etp=1").etp, 1);
    let dense = "--bf16 --tensor-model-parallel-size";
    assert_eq!(
        (run(&format!("{dense} 2"), "").act_bytes, run(&format!("{dense} 2"), "tp=4").act_bytes),
        (4.0, 8.0)
    );
    assert_eq!(run(&format!("{dense} 2 --sequence-parallel"), "").act_bytes, 2.0);
    assert_eq!(run(&format!("{dense} 2"), "act_bytes=1").act_bytes, 1.0);
    let note = "sends all activations to the next stage: 2 B x 2 = 4 B for each value, so act_bytes=4";
    let notes = read(&format!("{dense} 2"), "").notes;
    assert!(notes.iter().any(|one| one.contains(note)), "{notes:?}");
    // 4 B x 8 are more than the maximum.
    let wide = read("--tensor-model-parallel-size 8", "gpus=64");
    let assumed = wide.assumed.iter().find(|one| one.what == "act_bytes").unwrap();
    assert!(assumed.value.starts_with("16 B, the maximum, but without"), "{}", assumed.value);
}

#[test]
fn a_tied_table_of_one_stage_counts_once() {
    let config = described_with(serde_json::json!({
        "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
        "vocab_size": 128_256, "tie_word_embeddings": true,
    }));
    let run = "gpus=16 micro_batches=4 tp=2 ports_per_pod=4";
    let read = |more: &str| {
        let (job, notes) = job(config.clone(), &format!("{run} {more}"));
        let (bytes, _) = loads(&job);
        (parameter_total(&job.resolved_model().unwrap()), bytes, notes)
    };
    let (parameters, one, notes) = read("pp=1 gpus_per_pod_per_replica=2");
    assert!((parameters / 1e9 - 1.236).abs() < 5e-4, "{parameters}");
    // Half of the parameters is on a GPU; a ring of 8 replicas moves 7/8 of 4 + 2 bytes for each.
    assert_eq!(one, [parameters / 2.0 * 7.0 / 8.0 * 6.0]);
    assert!(notes.iter().any(|note| note.contains("the only stage holds one table")), "{notes:?}");
    let (_, untied, _) = read("pp=1 gpus_per_pod_per_replica=2 tied=false");
    assert_eq!(untied[0] - one[0], 128_256.0 * 2048.0 / 2.0 * 7.0 / 8.0 * 6.0);
    let (same, several, notes) = read("pp=2 gpus_per_pod_per_replica=2");
    assert_eq!((same, several[0]), (parameters, several[1]));
    assert!(notes.iter().any(|note| note.contains("each hold a copy")), "{notes:?}");
}

#[test]
fn the_first_qwen_has_its_number_of_parameters() {
    let config = described_with(serde_json::json!({
        "model_type": "qwen", "hidden_size": 4096, "intermediate_size": 22_016, "num_attention_heads": 32,
        "num_key_value_heads": 32, "num_hidden_layers": 32, "vocab_size": 151_936, "head_dim": 128,
    }));
    let (job, _) = job(config, "tp=2 pp=4 gpus=16 micro_batches=4");
    assert!((parameter_total(&job.resolved_model().unwrap()) / 1e9 - 7.72).abs() < 5e-3);
}

#[test]
fn parameters_that_messages_name_exist() {
    let run = "tp=2 pp=4 gpus=16 micro_batches=4 mfu=0.4 peak_tflops=989 bandwidth_gbps=400 seq=4096 micro_batch_size=1";
    let config = described_with(serde_json::json!({}));
    let ports = |more: &str| {
        scenario(HF_CONFIG, std::slice::from_ref(&config), &params(&format!("{run} {more}")), false)
    };
    let few = ports("gpus_per_pod_per_replica=2").unwrap_err().to_string();
    assert!(few.contains("in `ports_per_pod`"), "{few}");
    let TrainingScenario::Job(job) =
        ports("gpus_per_pod_per_replica=2 ports_per_pod=4").unwrap().scenario.body
    else {
        panic!("a job")
    };
    assert_eq!(job.ports_per_pod, Some(crate::scenario::job::PortsPerPod::Same(4)));
    let other = described_with(serde_json::json!({"model_type": "new", "hidden_act": "gelu"}));
    let strict = |more: &str| {
        let run = params(&format!("{run} gpus_per_pod_per_replica=2 ports_per_pod=4 {more}"));
        scenario(HF_CONFIG, std::slice::from_ref(&other), &run, true).map_err(|told| told.to_string())
    };
    let told = strict("").unwrap_err();
    assert!(told.contains("set 'gated='"), "{told}");
    assert!(strict("gated=true").is_ok());
    let calculon = |more: &str| {
        let run = params(&format!("{run} gpus_per_pod_per_replica=2 ports_per_pod=4 {more}"));
        scenario(CALCULON, &[config!("calculon-model.json")], &run, true).map_err(|told| told.to_string())
    };
    assert!(calculon("").unwrap_err().contains("set 'vocab='"));
    let TrainingScenario::Job(job) = calculon("vocab=32000").unwrap().scenario.body else { panic!("a job") };
    assert_eq!(job.resolved_model().unwrap().vocab, 32_000);
}
