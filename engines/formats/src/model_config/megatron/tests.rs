use super::read;
use crate::gz::Limits;
use crate::imported::Imported;
use crate::model_config::DescribedJob;

fn of(text: &str) -> Result<Imported<DescribedJob>, String> {
    read(text.as_bytes(), &Limits::default()).map_err(|problems| problems.to_string())
}

const SIZES: &str = "--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --vocab-size 50304";

/// A job with further arguments.
fn with(more: &str) -> Result<Imported<DescribedJob>, String> {
    of(&format!("x.py {SIZES} --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 {more}"))
}

fn run_of(read: &Imported<DescribedJob>) -> Vec<String> {
    read.value.run.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

fn run(more: &str) -> Vec<String> {
    run_of(&with(more).unwrap())
}

#[test]
fn arguments_behind_an_assignment_are_read() {
    for text in [
        format!("MODEL_ARGS=(--swiglu {SIZES})\nB='--recompute-activations'\n"),
        format!("MODEL_ARGS+=(--swiglu {SIZES})\nexport B=\"--recompute-activations\"\n"),
        format!("A=\"{SIZES}\"; B=--swiglu\nC_1=\"--recompute-activations\"; fi\n"),
        format!("A=\"--swiglu\n {SIZES}\"\nB=(\"--recompute-activations\",)\n"),
    ] {
        let made = of(&text).unwrap();
        let sizes = &made.value.sizes;
        assert_eq!((sizes.layers, sizes.gated, sizes.ffn), (24, true, 5440), "{text}");
        assert!(run_of(&made).contains(&"recompute=selective".to_owned()), "{text}");
    }
    // A value with an equals sign is not an assignment.
    assert_eq!(of(&SIZES.replace("-layers ", "-layers=")).unwrap().value.sizes.layers, 24);
}

#[test]
fn an_argument_with_two_values_is_refused() {
    let twice = format!("OPTS=\"{SIZES}\"\nif [ \"$BIG\" = 1 ]; then OPTS=\"$OPTS --num-layers 96\"; fi\n");
    let told = of(&twice).unwrap_err();
    assert!(told.contains("num_layers: is 24 in line 1 and 96 in line 2; keep the value"), "{told}");
    assert!(of(&twice.replace("96", "24")).is_ok());
    let flag = with("--swiglu\nswiglu: false").unwrap_err();
    assert!(flag.contains("swiglu: is set in line 1 and false in line 2"), "{flag}");
}

const NEMO: &str = "trainer:\n  precision: bf16\nmodel:\n  precision: ${trainer.precision}\n  mm_cfg:\n    \
    vision_encoder:\n      num_layers: 8\n      hidden_size: 1024\n  num_layers: 24\n  hidden_size: 2048\n  \
    num_attention_heads: 16\n  tensor_model_parallel_size: 2\n  optim:\n    name: distributed_fused_adam\n    \
    sched:\n      name: CosineAnnealing\n";

#[test]
fn inner_sections_of_yaml_do_not_count() {
    let made = of(NEMO).unwrap();
    let sizes = &made.value.sizes;
    assert_eq!((sizes.layers, sizes.hidden), (24, 2048));
    let note =
        "num_layers is 24 in line 9; the import ignores 8 in line 7, which belongs to an inner section";
    assert!(made.notes.iter().any(|one| one == note), "{:?}", made.notes);
    assert!(run_of(&made).contains(&"zero=1".to_owned()), "{:?}", run_of(&made));
    let same = format!("{NEMO}decoder:\n  num_layers: 12\n");
    let told = of(&same).unwrap_err();
    assert!(told.contains("num_layers: is 24 in line 9 and 12 in line 18"), "{told}");
}

#[test]
fn models_with_other_layers_than_attention_are_refused() {
    for more in [
        "--is-hybrid-model",
        "--hybrid-override-pattern M-M-M*-",
        "--linear-attention-freq 4",
        "--hybrid-attention-ratio 0.08",
    ] {
        let told = with(more).unwrap_err();
        assert!(told.contains("only some layers have attention"), "{more}: {told}");
    }
    assert!(with("--hybrid-attention-ratio 0.0").is_ok());
}

#[test]
fn tables_are_tied_by_default() {
    let tied = |more: &str| with(more).unwrap().value.sizes.tied;
    assert!(tied("") && !tied("--untie-embeddings-and-output-weights"));
    assert!(!tied("\nshare_embeddings_and_output_weights: false"));
}

#[test]
fn experts_are_divided_like_the_other_layers_by_default() {
    let experts = "--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 4";
    assert!(with(experts).unwrap().value.etp_is_tp);
    let given = with(&format!("{experts} --expert-tensor-parallel-size 1")).unwrap();
    assert!(!given.value.etp_is_tp && run_of(&given).contains(&"etp=1".to_owned()));
    assert!(!with("").unwrap().value.etp_is_tp);
}

#[test]
fn precision_sets_the_bytes_on_the_network() {
    // Bytes of activations, gradients and gathered weights.
    for (more, bytes) in [
        ("", [4, 4, 4]),
        ("--bf16", [2, 4, 2]),
        ("--bf16 --grad-reduce-in-bf16", [2, 2, 2]),
        ("--bf16 --main-grads-dtype bf16", [2, 2, 2]),
        ("--fp16", [2, 2, 2]),
        ("--fp16 --accumulate-allreduce-grads-in-fp32", [2, 4, 2]),
        ("--grad-reduce-in-bf16", [4, 4, 4]),
        ("--bf16 --fp8-param-gather", [2, 4, 1]),
        ("\nbf16: true\ngrad_reduce_in_fp32: false", [2, 2, 2]),
        ("\nprecision: 32", [4, 4, 4]),
        ("\nprecision: bf16-mixed", [2, 4, 4]),
        ("\nprecision: bf16-mixed\nmegatron_amp_O2: true", [2, 4, 2]),
        ("\nprecision: bf16\nmegatron_amp_O2: true\ngrad_sync_dtype: bf16", [2, 2, 2]),
        ("\nprecision: 16\nmegatron_amp_O2: true", [2, 2, 2]),
        ("\nprecision: 16\nmegatron_amp_O2: true\nname: distributed_fused_adam", [2, 4, 2]),
    ] {
        let [act, grad, gather] = bytes;
        let run = run(more);
        for expected in
            [format!("act_bytes={act}"), format!("grad_bytes={grad}"), format!("gather_bytes={gather}")]
        {
            assert!(run.contains(&expected), "{more}: {run:?}");
        }
    }
    assert!(with("").unwrap().notes.iter().any(|note| note.contains("sets no precision")));
    let ignored = with("--fp16 --grad-reduce-in-bf16").unwrap();
    assert!(ignored.notes.iter().any(|note| note.contains("ignores without bf16")), "{:?}", ignored.notes);
    assert!(with("--bf16").unwrap().value.whole_sends);
    assert!(!with("--bf16 --sequence-parallel").unwrap().value.whole_sends);
    assert!(with("\nsequence_parallel: false").unwrap().value.whole_sends);
    for (more, said) in [
        ("--fp16 --bf16", "bf16: cannot be combined with fp16"),
        ("\nprecision: 64", "precision: is '64'; use 32"),
        ("--bf16\ngrad_sync_dtype: int8", "grad_sync_dtype: is 'int8'"),
    ] {
        let told = with(more).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
}
