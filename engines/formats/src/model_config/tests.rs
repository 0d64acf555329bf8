use super::*;
use serde_json::json;

fn of(value: &Value) -> Result<Imported<ModelSizes>, String> {
    read(value.to_string().as_bytes(), &Limits::default()).map_err(|problems| problems.to_string())
}

fn experts_of(more: Value) -> Vec<u32> {
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
    assert_eq!(experts_of(json!({})), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(experts_of(json!({"decoder_sparse_step": 2, "mlp_only_layers": [1, 3]})), [5, 7]);
    assert_eq!(experts_of(json!({"interleave_moe_layer_step": 2})), [1, 3, 5, 7]);
    assert_eq!(experts_of(json!({"first_k_dense_replace": 3, "moe_layer_freq": 2})), [4, 6]);
    assert_eq!(experts_of(json!({"moe_layers": [2, 5]})), [2, 5]);
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
    let sizes = of(&config).unwrap().value;
    assert_eq!((sizes.head_dim, sizes.kv_heads, sizes.gated, sizes.tied), (128, 8, true, true));
    assert_eq!(sizes.experts.unwrap().width, 14_336);
}

/// A dense model with further keys; keys with the value `null` count as missing.
fn with(more: Value) -> Value {
    let mut config = json!({
        "model_type": "llama", "num_hidden_layers": 8, "hidden_size": 96, "num_attention_heads": 24,
        "intermediate_size": 256, "vocab_size": 100, "hidden_act": "silu",
    });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    config
}

#[test]
fn every_family_says_how_many_key_and_value_heads_it_has() {
    for (more, heads) in [
        (json!({}), 24),
        (json!({"num_key_value_heads": 8}), 8),
        (json!({"model_type": "gpt_bigcode", "multi_query": true}), 1),
        (json!({"model_type": "gpt_bigcode", "multi_query": false}), 24),
        (json!({"model_type": "falcon", "multi_query": true, "num_kv_heads": 24}), 1),
        (
            json!({"model_type": "falcon", "multi_query": true, "new_decoder_architecture": true, "num_kv_heads": 8}),
            8,
        ),
        (json!({"model_type": "chatglm", "multi_query_attention": true, "multi_query_group_num": 2}), 2),
        (json!({"model_type": "chatglm", "multi_query_attention": false, "multi_query_group_num": 2}), 24),
    ] {
        assert_eq!(of(&with(more.clone())).unwrap().value.kv_heads, heads, "{more}");
    }
    assert_eq!(of(&with(json!({"kv_channels": 64}))).unwrap().value.head_dim, 64);
    for wrong in [48, 5] {
        let said = of(&with(json!({"num_key_value_heads": wrong}))).unwrap_err();
        assert!(
            said.contains(&format!("num_key_value_heads: is {wrong}, but the 24 attention heads")),
            "{said}"
        );
    }
}

#[test]
fn the_first_qwen_gives_the_width_of_two_matrices() {
    let width = |family: &str, ffn: u32| {
        of(&with(json!({"model_type": family, "intermediate_size": ffn}))).map(|read| read.value.ffn)
    };
    assert_eq!((width("qwen", 22_016), width("qwen2", 22_016)), (Ok(11_008), Ok(22_016)));
    assert!(width("qwen", 7).unwrap_err().contains("intermediate_size: is 7, which is odd"));
}

#[test]
fn tied_tables_follow_the_key_or_the_family() {
    let tied = |more: Value| of(&with(more)).unwrap().value.tied;
    assert!(!tied(json!({})) && tied(json!({"tie_word_embeddings": true})));
    assert!(tied(json!({"model_type": "gemma2"})) && tied(json!({"model_type": "gpt2"})));
    assert!(!tied(json!({"model_type": "gpt2", "tie_word_embeddings": false})));
    assert!(!tied(json!({"model_type": "gpt_neox"})));
    let outer = json!({"tie_word_embeddings": true, "text_config": with(json!({}))});
    assert!(of(&outer).unwrap().value.tied);
}

#[test]
fn experts_of_ernie_are_read() {
    let config = json!({
        "model_type": "ernie4_5_moe", "hidden_size": 2560, "num_hidden_layers": 28, "num_attention_heads": 20,
        "num_key_value_heads": 4, "intermediate_size": 12_288, "moe_intermediate_size": 1536, "vocab_size": 103_424,
        "hidden_act": "silu", "moe_num_experts": 64, "moe_k": 6, "moe_num_shared_experts": 2,
        "moe_layer_start_index": 1, "moe_layer_interval": 1, "moe_layer_end_index": -1, "moe_gate": "topk",
    });
    let read = of(&config).unwrap();
    let experts = read.value.experts.unwrap();
    assert_eq!((experts.experts, experts.top_k, experts.width, experts.shared), (64, 6, 1536, 2));
    assert_eq!(experts.layers, (1..28).collect::<Vec<_>>());
    assert!(read.assumed.is_empty(), "{:?}", read.assumed);
    assert_eq!(experts_of(json!({"moe_layer_end_index": 3, "moe_layer_interval": 2})), [1, 3]);
    assert_eq!(experts_of(json!({"expert_layer_period": 3, "expert_layer_offset": 1})), [1, 4, 7]);
    assert_eq!(experts_of(json!({"num_shared_expert": [1, 1]})).len(), 8);
}

#[test]
fn unknown_keys_about_sizes_are_refused_or_named() {
    for (more, said) in [
        (
            json!({"moe_count": 8, "moe_intermediate_size": 16}),
            "num_experts: is missing, but the file has moe_count, moe_int",
        ),
        (
            json!({"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "moe_every_n_layers": 2}),
            "moe_every_n_layers: is unknown, and may select the layers with experts",
        ),
        (json!({"attn_layer_period": 8}), "attn_layer_period: states that only some layers have attention"),
        (json!({"full_attention_interval": 4}), "full_attention_interval: states that only some"),
        (
            json!({"layer_types": ["linear_attention", "full_attention"]}),
            "layer_types: is not a list with one type",
        ),
        (json!({"layer_types": vec!["linear_attention"; 8]}), "layer_types: contains 'linear_attention'"),
        (json!({"model_type": "mamba2"}), "model_type: is mamba2, a model without attention"),
        (
            json!({"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "mlp_only_layers": [99]}),
            "mlp_only_layers: is not a list",
        ),
    ] {
        let told = of(&with(more)).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
    let read = of(&with(
        json!({"kv_mixing_rank": 3, "global_period": 0, "qkv_bias": true, "num_experts": 0, "moe_intermediate_size": 9}),
    ));
    let assumed = read.unwrap().assumed;
    assert_eq!(assumed.len(), 1, "{assumed:?}");
    assert_eq!(assumed[0].what, "effect of kv_mixing_rank on the sizes");
    let gated = |more: Value| of(&with(more)).unwrap();
    assert!(gated(json!({"model_type": "new", "hidden_act": null})).assumed[0].value.contains("gated"));
    assert_eq!(gated(json!({"model_type": "new", "hidden_act": "gelu"})).assumed[0].value, "2 (not gated)");
    let plain = gated(json!({"model_type": "opt", "hidden_act": "relu"}));
    assert_eq!((plain.value.gated, plain.assumed.len()), (false, 0));
}

#[test]
fn windows_of_the_attention_are_read() {
    let window = |more: Value| {
        let window = of(&with(more)).unwrap().value.window;
        window.map(|window| (window.tokens, window.layers))
    };
    let mut types = vec!["sliding_attention"; 6];
    types.extend(["full_attention"; 2]);
    assert_eq!(window(json!({"sliding_window": 128, "layer_types": types})), Some((128, Some(6))));
    assert_eq!(window(json!({"sliding_window": 128, "layer_types": vec!["full_attention"; 8]})), None);
    assert_eq!(window(json!({"model_type": "mistral", "sliding_window": 64})), Some((64, Some(8))));
    assert_eq!(window(json!({"model_type": "gemma2", "sliding_window": 64})), Some((64, Some(4))));
    assert_eq!(window(json!({"sliding_window": 64, "sliding_window_pattern": 4})), Some((64, Some(6))));
    assert_eq!(window(json!({"sliding_window": 64})), Some((64, None)));
    let qwen = json!({"sliding_window": 64, "use_sliding_window": true, "max_window_layers": 5});
    assert_eq!(window(qwen), Some((64, Some(3))));
    assert_eq!(
        window(json!({"sliding_window": 64, "use_sliding_window": false, "max_window_layers": 5})),
        None
    );
    assert_eq!(window(json!({"sliding_window": null})), None);
}

#[test]
fn json_may_have_a_byte_order_mark_but_no_key_twice() {
    let text = with(json!({})).to_string();
    let marked = format!("\u{feff}{text}");
    assert_eq!(read(marked.as_bytes(), &Limits::default()).unwrap().value.layers, 8);
    let twice = text.replacen('{', "{\"hidden_size\": 7, ", 1);
    let said = read(twice.as_bytes(), &Limits::default()).unwrap_err().to_string();
    assert!(said.contains("hidden_size") && said.contains("twice"), "{said}");
    let model = format!("\u{feff}{GPT3}");
    assert!(calculon::read(&[("m.json", model.as_bytes())], &Limits::default()).is_ok());
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
            "recompute=full",
            "peak_tflops=312",
            "bandwidth_gbps=200"
        ]
    );
    assert_eq!((made.assumed[0].what.as_str(), made.value.whole_sends), ("vocab", false));
    assert!(made.notes.iter().any(|note| note.contains("datatype is missing")), "{:?}", made.notes);
    for (datatype, bytes) in [("float8", 1), ("float16", 2), ("bfloat16", 2), ("float32", 4)] {
        let run = RUN.replace(
            "\"training\"",
            &format!("\"datatype\": \"{datatype}\", \"tensor_par_comm_type\": \"ar\", \"training\""),
        );
        let both = SYSTEM
            .replace("\"float16\"", &format!("\"float64\": {{\"tflops\": 9}}, \"{datatype}\""))
            .replace("312", "600");
        let made = read(&[GPT3, &run, &both]).unwrap();
        let values = run_of(&made.value);
        for name in ["act_bytes", "grad_bytes", "gather_bytes"] {
            assert!(values.contains(&format!("{name}={bytes}")), "{datatype}: {values:?}");
        }
        assert!(values.contains(&"peak_tflops=600".to_owned()) && made.value.whole_sends, "{values:?}");
        let other = both.replace(&format!("\"{datatype}\""), "\"int8\"");
        let told = read(&[GPT3, &run, &other]).unwrap_err();
        assert!(told.contains(&format!("matrix.{datatype}.tflops: is missing")), "{told}");
    }
    assert_eq!(run_of(&read(&[GPT3]).unwrap().value), ["seq=2048"]);
    for (sharding, zero) in [("true", "zero=1"), ("false", "zero=0")] {
        let run = RUN.replace("\"training\"", &format!("\"optimizer_sharding\": {sharding}, \"training\""));
        assert!(run_of(&read(&[GPT3, &run]).unwrap().value).contains(&zero.to_owned()), "{sharding}");
    }
    let single = RUN.replace("\"training\"", "\"attention_type\": \"multiquery\", \"training\"");
    assert_eq!(read(&[GPT3, &single]).unwrap().value.sizes.kv_heads, 1);
    for (files, said) in [
        (&[RUN][..], "none of the files is a model"),
        (&[GPT3, GPT3], "describes the same part of the job as f.json"),
        (&[GPT3, &RUN.replace("3072, \"tensor", "3000, \"tensor")], "num_procs: is 3000"),
        (&[GPT3, &RUN.replace("\"batch_size\": 3072", "\"batch_size\": 100")], "batch_size: is 100"),
        (&[GPT3, &RUN.replace("true", "false")], "training: is false"),
        (&[GPT3, &RUN.replace("true", "\"no\"")], "training: is \"no\"; use true or false"),
        (
            &[GPT3, &RUN.replace("interleaving\": 1", "interleaving\": \"2\"")],
            "pipeline_interleaving: is \"2\"",
        ),
        (&[GPT3, &RUN.replace("\"full\"", "\"some\"")], "activation_recompute: is \"some\"; use none, full"),
        (
            &[GPT3, &RUN.replace("\"full\"", "\"full\", \"datatype\": \"int8\"")],
            "datatype: is \"int8\"; use float8",
        ),
        (&[GPT3, &RUN.replace("net\": 1", "net\": \"1\"")], "data_par_net: is \"1\""),
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
    --num-layers-per-virtual-pipeline-stage 4 --bf16
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
            "virtual_stages=2",
            "zero=0",
            "act_bytes=2",
            "grad_bytes=4",
            "gather_bytes=2"
        ]
    );
    let nemo = "trainer:\n  devices: 8\n  num_nodes: 2\nmodel:\n  tensor_model_parallel_size: 8 # inside a node\n  \
        num_layers: 4\n  hidden_size: 64\n  num_attention_heads: 4\n  activation: fast-swiglu\n  encoder_seq_length: 512\n  \
        num_moe_experts: 4\n  moe_layer_freq: ([0]*1+[1]*3)\n  moe_router_topk: 1\n  ffn_hidden_size: 96\n  precision: bf16\n  megatron_amp_O2: true\n";
    let made = read(nemo).unwrap();
    assert_eq!(made.value.sizes.experts.as_ref().unwrap().layers, [1, 2, 3]);
    assert_eq!((made.value.sizes.gated, made.assumed[0].what.as_str()), (true, "vocab"));
    assert_eq!(
        run_of(&made.value),
        ["tp=8", "pp=1", "gpus=16", "seq=512", "zero=0", "act_bytes=2", "grad_bytes=4", "gather_bytes=2"]
    );
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

/// A job of Megatron-LM with further arguments.
fn megatron_of(more: &str) -> Result<Imported<DescribedJob>, String> {
    let text = format!(
        "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --tensor-model-parallel-size 2 \
         --pipeline-model-parallel-size 4 --num-layers 32 --hidden-size 2048 --num-attention-heads 16 \
         --vocab-size 51200 {more}"
    );
    megatron::read(text.as_bytes(), &Limits::default()).map_err(|problems| problems.to_string())
}

#[test]
fn arguments_of_megatron_that_change_the_job_are_taken_over() {
    for (more, expected) in [
        ("", "zero=0"),
        ("--use-distributed-optimizer", "zero=1"),
        ("--use-torch-fsdp2", "zero=3"),
        ("--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads", "zero=2"),
        ("--bf16 --grad-reduce-in-bf16", "grad_bytes=2"),
        ("--recompute-granularity full --recompute-method uniform", "recompute=full"),
        ("--recompute-activations", "recompute=selective"),
        ("--num-layers-per-virtual-pipeline-stage 2", "virtual_stages=4"),
    ] {
        let run = run_of(&megatron_of(more).unwrap().value);
        assert!(run.iter().any(|value| value == expected), "{more}: {run:?}");
    }
    assert!(megatron_of("").unwrap().notes[0].contains("which means zero=0"));
    let block = megatron_of("--recompute-granularity full --recompute-method block --recompute-num-layers 3");
    assert!(block.unwrap().notes.iter().any(|note| note.contains("only 3 of the 8 layers")));
    for (more, said) in [
        (
            "--num-layers-per-virtual-pipeline-stage 3",
            "is 3, which does not divide the layers of a stage (32 / 4)",
        ),
        ("--num-layers-per-virtual-pipeline-stage 16", "is 16, which does not divide"),
        (
            "--decoder-first-pipeline-num-layers 5",
            "decoder_first_pipeline_num_layers: gives stages different numbers",
        ),
        ("--pipeline-model-parallel-layout Et*3|(tt|)*29L", "pipeline_model_parallel_layout: gives stages"),
        (
            "--account-for-embedding-in-pipeline-split",
            "account_for_embedding_in_pipeline_split: gives stages",
        ),
        ("--recompute-granularity some", "recompute_granularity: is 'some'; use full or selective"),
        (
            "--use-megatron-fsdp --data-parallel-sharding-strategy x",
            "data_parallel_sharding_strategy: is 'x'",
        ),
    ] {
        let told = megatron_of(more).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
}

#[test]
fn groups_of_megatron_need_their_flag() {
    for (more, heads) in [
        ("", 16),
        ("--num-query-groups 2", 16),
        ("--group-query-attention", 1),
        ("--group-query-attention --num-query-groups 2", 2),
        ("\nnum_query_groups: 4", 4),
    ] {
        assert_eq!(megatron_of(more).unwrap().value.sizes.kv_heads, heads, "{more}");
    }
    assert!(megatron_of("--num-query-groups 2").unwrap().notes[0].contains("Megatron-LM ignores it"));
    let window =
        megatron_of("--window-size 128,0 --window-attn-skip-freq 4").unwrap().value.sizes.window.unwrap();
    assert_eq!((window.tokens, window.layers), (128, Some(24)));
}
