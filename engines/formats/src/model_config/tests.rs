use super::*;
use serde_json::json;

fn of(value: &Value) -> Result<Imported<ModelSizes>, String> {
    read(value.to_string().as_bytes(), &Limits::default()).map_err(|problems| problems.to_string())
}

fn experts(more: Value) -> Vec<u32> {
    let mut config = json!({
        "model_type": "qwen3_moe", "num_hidden_layers": 8, "hidden_size": 64, "num_attention_heads": 4,
        "vocab_size": 100, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
        "intermediate_size": 128,
    });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    of(&config).unwrap().value.experts.unwrap().layers
}

#[test]
fn every_family_says_which_layers_have_experts() {
    assert_eq!(experts(json!({})), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(experts(json!({"decoder_sparse_step": 2, "mlp_only_layers": [1, 3]})), [5, 7]);
    assert_eq!(experts(json!({"interleave_moe_layer_step": 2})), [1, 3, 5, 7]);
    assert_eq!(experts(json!({"first_k_dense_replace": 3, "moe_layer_freq": 2})), [4, 6]);
    assert_eq!(experts(json!({"moe_layers": [2, 5]})), [2, 5]);
}

#[test]
fn what_is_missing_is_named_at_once() {
    let said = of(&json!({"model_type": "new", "hidden_size": 0, "n_routed_experts": 8})).unwrap_err();
    for key in ["num_hidden_layers: is missing", "num_attention_heads: is missing", "vocab_size: is missing"]
    {
        assert!(said.contains(key), "{said}");
    }
    assert!(said.contains("hidden_size: is 0") && said.contains("num_experts_per_tok: is missing"), "{said}");
}

#[test]
fn experts_of_mixtral_have_the_width_of_the_dense_block() {
    let config = json!({
        "model_type": "mixtral", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 32_000, "num_local_experts": 8, "num_experts_per_tok": 2,
        "intermediate_size": 14_336, "tie_word_embeddings": true,
    });
    let read = of(&config).unwrap();
    let sizes = read.value;
    assert_eq!((sizes.head_dim, sizes.kv_heads, sizes.gated), (128, 8, true));
    assert_eq!(sizes.experts.unwrap().width, 14_336);
    assert!(read.notes[0].contains("is tied"), "{:?}", read.notes);
}

fn run_of(job: &DescribedJob) -> Vec<String> {
    job.run.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

const GPT3: &str = r#"{"hidden": 12288, "feedforward": 49152, "seq_size": 2048, "attn_heads": 96, "attn_size": 128, "num_blocks": 96}"#;
const RUN: &str = r#"{"num_procs": 3072, "tensor_par": 4, "pipeline_par": 64, "data_par": 12, "data_par_net": 1,
    "batch_size": 3072, "microbatch_size": 4, "activation_recompute": "full", "pipeline_interleaving": 1, "training": true}"#;
const SYSTEM: &str =
    r#"{"matrix": {"float16": {"tflops": 312}}, "networks": [{"bandwidth": 300}, {"bandwidth": 25}]}"#;

#[test]
fn files_of_calculon_are_one_job() {
    let read = |files: &[&str]| {
        let files: Vec<(&str, &[u8])> = files.iter().map(|text| ("f.json", text.as_bytes())).collect();
        calculon::read(&files, &Limits::default()).map_err(|problems| problems.to_string())
    };
    let made = read(&[RUN, GPT3, SYSTEM]).unwrap();
    let sizes = &made.value.sizes;
    assert_eq!(
        (sizes.layers, sizes.hidden, sizes.ffn, sizes.heads, sizes.gated),
        (96, 12_288, 49_152, 96, false)
    );
    // 3,072 sequences over 12 replicas of 4 at a time are 64 micro-batches; 25 GB/s are 200 Gb/s.
    assert_eq!(
        run_of(&made.value),
        [
            "seq=2048",
            "gpus=3072",
            "tp=4",
            "pp=64",
            "micro_batch_size=4",
            "micro_batches=64",
            "peak_tflops=312",
            "bandwidth_gbps=200"
        ]
    );
    assert_eq!(made.assumed[0].what, "vocab");
    assert_eq!(run_of(&read(&[GPT3]).unwrap().value), ["seq=2048"]);
    for (files, said) in [
        (&[RUN][..], "none of the files is a model"),
        (&[GPT3, GPT3], "describes the same part of the job as f.json"),
        (&[GPT3, &RUN.replace("3072, \"tensor", "3000, \"tensor")], "num_procs: is 3000"),
        (&[GPT3, &RUN.replace("\"batch_size\": 3072", "\"batch_size\": 100")], "batch_size: is 100"),
        (&[GPT3, &RUN.replace("true", "false")], "training: is false"),
        (&[&GPT3.replace("96,", "0,")], "attn_heads: is 0"),
        (&[GPT3, "{}"], "is not a model"),
    ] {
        let told = read(files).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
}

const ARGUMENTS: &str = r"
#!/bin/bash
torchrun --nnodes 16 --nproc_per_node=8 pretrain_gpt.py \
    --tensor-model-parallel-size 8 --pipeline-model-parallel-size=4 \
    --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --group-query-attention --num-query-groups 8 \
    --ffn-hidden-size 14336 --swiglu --vocab-size 32000 --seq-length 4096 \
    --micro-batch-size 1 --global-batch-size 128 --num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 4 \
    --num-layers-per-virtual-pipeline-stage 4
";

#[test]
fn arguments_of_megatron_are_one_job() {
    let read = |text: &str| {
        megatron::read(text.as_bytes(), &Limits::default()).map_err(|problems| problems.to_string())
    };
    let made = read(ARGUMENTS).unwrap();
    let sizes = &made.value.sizes;
    assert_eq!(
        (sizes.layers, sizes.kv_heads, sizes.head_dim, sizes.gated, sizes.vocab),
        (32, 8, 128, true, 32_000)
    );
    let experts = sizes.experts.as_ref().unwrap();
    assert_eq!((experts.experts, experts.top_k, experts.width, experts.layers.len()), (8, 2, 14_336, 32));
    // 128 GPUs in replicas of 32 are four; 128 sequences are 32 micro-batches each; 32 / 4 / 4 chunks of layers.
    assert_eq!(
        run_of(&made.value),
        [
            "tp=8",
            "pp=4",
            "ep=4",
            "gpus=128",
            "micro_batch_size=1",
            "seq=4096",
            "micro_batches=32",
            "virtual_stages=2"
        ]
    );
    let nemo = "trainer:\n  devices: 8\n  num_nodes: 2\nmodel:\n  tensor_model_parallel_size: 8 # inside a node\n  \
        num_layers: 4\n  hidden_size: 64\n  num_attention_heads: 4\n  activation: fast-swiglu\n  encoder_seq_length: 512\n  \
        num_moe_experts: 4\n  moe_layer_freq: ([0]*1+[1]*3)\n  moe_router_topk: 1\n  ffn_hidden_size: 96\n";
    let made = read(nemo).unwrap();
    assert_eq!(made.value.sizes.experts.as_ref().unwrap().layers, [1, 2, 3]);
    assert_eq!((made.value.sizes.gated, made.assumed[0].what.as_str()), (true, "vocab"));
    assert_eq!(run_of(&made.value), ["tp=8", "pp=1", "gpus=16", "seq=512"]);
    for (old, new, said) in [
        ("--num-layers 32", "--num-layers $L", "num_layers: is '$L'; replace the variable by a number"),
        ("--hidden-size 4096", "", "hidden_size: is missing"),
        ("--global-batch-size 128", "--global-batch-size 130", "global_batch_size: is 130"),
        ("--nnodes 16", "--nnodes 15", "not a multiple of the 32 GPUs of a replica"),
    ] {
        let told = read(&ARGUMENTS.replace(old, new)).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
}
