#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation should fail the test")]

use super::*;
use crate::model::collapse::{collapsed, expanded};
use crate::model::reduced_dag::Dominance;
use crate::scenario::instance::TaskKind;
use crate::scenario::job::ModelChoice;
use crate::simulate::evaluate::Evaluator;
use lightbay_core::param::{ParamInfo, ParamValue, Setting};

macro_rules! resource {
    ($name:literal) => {
        ImportFile {
            name: $name,
            bytes: include_bytes!(concat!("../../../../../tests/resources/inputs/aicb/", $name)),
        }
    };
}

const ANALYTICAL: ImportFile<'static> = resource!("workload_analytical.txt.gz");
const MEGATRON: ImportFile<'static> = resource!("gen_megatron177B_tp8_pp6_dp8_ga48_seq4096.txt.gz");
const GPT22B: ImportFile<'static> = resource!("gen_gpt22B_tp8_pp2_dp4_ga16_seq2048_aiob.txt.gz");
const G13B: ImportFile<'static> = resource!("G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1.csv.gz");
const L65B: ImportFile<'static> = resource!("L65B-M1-C05_Llama65B_megatron_tp2_pp8_mbs1.csv.gz");
const ZERO3: ImportFile<'static> = resource!("L7B-D1-C02_Llama7B_deepspeed_zero3_A100.txt");
const KERNELS: ImportFile<'static> = resource!("aiob_Example.txt");
const BUSBW: ImportFile<'static> = resource!("busbw.yaml");

fn params(settings: &[&str]) -> Params {
    resolved(&aicb_knobs(), settings)
}

/// Parameters of an importer as they are typed.
pub(in crate::files) fn resolved(infos: &[ParamInfo], settings: &[&str]) -> Params {
    let given: Vec<(String, _)> = settings
        .iter()
        .map(|text| {
            let setting: Setting = text.parse().unwrap();
            let info = infos.iter().find(|info| info.name == setting.name.as_str()).unwrap();
            (setting.name.clone(), info.parse(&setting.text).unwrap())
        })
        .collect();
    Params::resolve(infos, given.iter().map(|(name, value)| (name.as_str(), value))).unwrap()
}

fn import(files: &[ImportFile<'_>], settings: &[&str]) -> ImportedJob {
    import_aicb(files, &params(settings), false).unwrap()
}

fn refused(files: &[ImportFile<'_>], settings: &[&str]) -> String {
    import_aicb(files, &params(settings), false).unwrap_err().to_string()
}

fn measured(imported: &ImportedJob) -> &Measured {
    imported.job.measured.as_ref().unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn kernel_times_and_collectives_make_a_stage() {
    let imported = import(&[MEGATRON, KERNELS], &["gpus_per_pod_per_replica=16", "bandwidth_gbps=400"]);
    assert_eq!(imported.name, "gen_megatron177B_tp8_pp6_dp8_ga48_seq4096");
    let run = &imported.job.run;
    assert_eq!((run.tp, run.pp, run.ep, run.etp), (8, 6, 1, 1));
    assert_eq!((run.gpus, run.gpus_per_pod_per_replica, run.micro_batches), (384, 16, 48));
    let measured = measured(&imported);
    assert_eq!((measured.stages.len(), measured.pp_bytes_per_rank), (6, 12_582_912.0));
    assert_eq!(measured.order, Order::OneForwardOneBackward);
    // 7/8 of the reduce-scatter and of the parameter gather.
    assert_eq!(measured.stages[0].dp_bytes_per_gpu, 21_356_052_480.0);
    // 16 layers of four halves, embedding and last half; 33 + 32 collectives of 100 MB over 8 ranks at NVLink's rate.
    let compute = 16.0 * 2.0 * (910e-6 + 1239e-6) + 799e-6 + 910e-6;
    // The row of the last norm has an all-reduce of 1.26 GB.
    let step = 7.0 * 5e-6;
    let part = |bytes: f64| bytes * 7.0 / 8.0 / 450e9;
    let collectives = 65.0 * (step + part(100_663_296.0)) + 2.0 * (step + part(1_258_291_200.0));
    assert!(close(measured.stages[3].fwd_s, compute + collectives), "{}", measured.stages[3].fwd_s);
    let assumed: Vec<&str> = imported.summary.assumed.iter().map(|a| a.set_with.as_str()).collect();
    assert_eq!(
        assumed,
        ["parameter_gather=", "intra_pod_gbps=", "collective_gbps=", "collective_latency_us="]
    );
}

#[test]
fn strict_wants_every_assumption_set() {
    let error = import_aicb(&[MEGATRON, KERNELS], &params(&[]), true).unwrap_err().to_string();
    for name in [
        "parameter_gather",
        "gpus_per_pod_per_replica",
        "bandwidth_gbps",
        "intra_pod_gbps",
        "collective_gbps",
        "collective_latency_us",
    ] {
        assert!(error.contains(&format!("set '{name}='")), "{name} is not in\n{error}");
    }
    let all = params(&[
        "parameter_gather=dp",
        "gpus_per_pod_per_replica=16",
        "bandwidth_gbps=400",
        "intra_pod_gbps=3600",
        "collective_gbps=3600",
        "collective_latency_us=3",
    ]);
    let imported = import_aicb(&[MEGATRON, KERNELS], &all, true).unwrap();
    assert!(imported.summary.assumed.is_empty());
}

#[test]
fn placeholders_need_a_source() {
    let error = refused(&[MEGATRON], &[]);
    assert!(error.contains("compute: '") && error.contains("placeholder of 1 ns"), "{error}");
    assert!(
        error.contains("set 'tflops=' and 'model=', or set 'compute=zero' to ignore compute times"),
        "{error}"
    );
    let error = refused(&[L65B], &[]);
    assert!(error.contains("compute: the file has no measured times"), "{error}");
    let zero = import(&[MEGATRON], &["compute=zero", "collectives=zero"]);
    assert_eq!((measured(&zero).stages[0].fwd_s, measured(&zero).stages[5].bwd_s), (0.0, 0.0));
    assert!(collapsed(&zero.job, Dominance::AtBandwidth).is_ok());
}

#[test]
fn flops_give_what_the_closed_forms_give() {
    let imported = import(&[MEGATRON], &["tflops=989", "mfu=0.4", "model=megatron_177b"]);
    // 77.8219 ms for 4096 tokens, which follow from the pipeline bytes.
    assert_eq!(format!("{:.4}", measured(&imported).stages[2].fwd_s * 1e3), "77.8219");
    assert!(imported.summary.notes.iter().any(|note| note.contains("4096 tokens")));
    assert_eq!(imported.summary.compute.source, "tflops");
    let half = import(&[MEGATRON], &["tflops=989", "mfu=0.4", "model=megatron_177b", "seq=2048"]);
    assert!(measured(&half).stages[2].fwd_s < 0.6 * measured(&imported).stages[2].fwd_s);
    assert!(refused(&[MEGATRON], &["tflops=989"]).contains("model: is missing"));
    assert!(refused(&[MEGATRON, KERNELS], &["mfu=0.5"]).contains("mfu: has no effect without 'tflops='"));
    assert!(
        refused(&[MEGATRON], &["tflops=989", "compute=zero"]).contains("tflops: cannot be combined with")
    );
}

#[test]
fn gradients_of_an_imported_job_follow_its_replicas_and_its_layout_is_kept() {
    let settings = ["gpus_per_pod_per_replica=16", "bandwidth_gbps=400"];
    let imported = import(&[MEGATRON, KERNELS], &settings);
    assert_eq!(measured(&imported).replicas, Some(8));
    let change = |job: &Job, text: &str| {
        let mut scenario = TrainingScenario::Job(job.clone());
        scenario.apply(&text.parse().unwrap()).map_err(|problem| problem.to_string())?;
        scenario.validate().map_err(|problems| problems.to_string())?;
        Ok::<_, String>(scenario)
    };
    let ring = |scenario: &TrainingScenario| -> f64 {
        let TrainingScenario::Job(job) = scenario else { panic!("a job") };
        let instance = expanded(job).unwrap();
        // All GPUs of two stages send to the other replica, or half of them to each neighbour.
        let both = instance.tasks.iter().filter(|task| task.kind == TaskKind::Dp && task.src_pod.0 == 0);
        both.map(|task| task.volume_bytes).sum()
    };
    // 16 GPUs with 7/8 of 24.4069 GB each; with two replicas half of it.
    let eight = TrainingScenario::Job(imported.job.clone());
    assert_eq!(ring(&eight), 16.0 * 21_356_052_480.0);
    let two = change(&imported.job, "gpus=96").unwrap();
    assert!(close(ring(&two), 16.0 * 24_406_917_120.0 / 2.0), "{}", ring(&two));
    for text in ["tp=4", "pp=3", "ep=2"] {
        let said = change(&imported.job, text).unwrap_err();
        assert!(said.contains("cannot change: the times and volumes were measured with"), "{said}");
    }
    // All GPUs of a stage in one pod: one replica, whose gradients nobody has counted.
    let whole = import(&[GPT22B], &["gpus_per_pod=32"]);
    let said = change(&whole.job, "gpus=128").unwrap_err();
    assert!(said.contains("gives 2 replicas, but a single replica was measured"), "{said}");
}

#[test]
fn experts_stay_in_the_pod_and_their_gradients_cross_less() {
    let imported = import(&[ANALYTICAL], &[]);
    let run = &imported.job.run;
    // 16 expert ranks of two GPUs each are one stage; DP 384 becomes 24 replicas of it.
    assert_eq!((run.tp, run.ep, run.etp, run.pp, run.gpus), (2, 16, 2, 12, 9216));
    assert_eq!(run.replicas(), 24);
    assert_eq!(run.gpus_per_pod_per_replica, 64);
    // Dense gradients are shared by the 16 ranks of the pod, experts' are not.
    let dense = (2_807_758_848_u64 + 5_615_517_696) / 16 / 24 * 23;
    let experts = (19_327_352_832_u64 + 38_654_705_664) / 24 * 23;
    assert_eq!(measured(&imported).stages[0].dp_bytes_per_gpu, (dense + experts) as f64);
    let table = import(&[ANALYTICAL, BUSBW], &[]);
    let by_model = import(&[ANALYTICAL, BUSBW], &["collectives=alpha_beta"]);
    let none = import(&[ANALYTICAL], &["collectives=zero"]);
    let forward = |imported: &ImportedJob| measured(imported).stages[0].fwd_s;
    assert!(forward(&none) < forward(&by_model) && forward(&none) < forward(&table));
    assert!(!close(forward(&by_model), forward(&table)));
    // Every collective of the file has its bandwidth in the table.
    let strict_table = import(&[ANALYTICAL, BUSBW], &["collectives=busbw"]);
    assert!(close(forward(&strict_table), forward(&table)));
    assert!(table.summary.assumed.iter().all(|a| a.set_with != "collective_gbps="));
    assert!(
        refused(&[ANALYTICAL], &["collectives=busbw"])
            .contains("the files contain no bus bandwidth of ALLGATHER in TP")
    );
    assert!(refused(&[ANALYTICAL], &["collectives=measured"]).contains("the files contain no measured time"));
}

#[test]
fn literal_order_and_matched_transfers() {
    let settings = ["compute=zero", "gpus_per_pod_per_replica=4"];
    let imported = import(&[L65B], &settings);
    assert_eq!(imported.summary.matched_transfers, 112);
    let Order::Lists(lists) = &measured(&imported).order else { panic!("no literal order") };
    assert_eq!(lists.len(), 8);
    let text: Vec<String> = lists[7].iter().map(ToString::to_string).collect();
    assert_eq!(text.join(" "), "F1 F2 F3 F4 F5 F6 F7 F8 B1 B2 B3 B4 B5 B6 B7 B8");
    let usual = import(&[L65B], &["compute=zero", "gpus_per_pod_per_replica=4", "order=1f1b"]);
    assert_eq!(measured(&usual).order, Order::OneForwardOneBackward);
    assert!(usual.summary.skipped.iter().any(|skipped| skipped.what == "literal order"));
    assert!(!usual.summary.notes.iter().any(|note| note.starts_with("the order in the file is used")));
    let (instance, _) = collapsed(&imported.job, Dominance::AtBandwidth).unwrap();
    let literal = Evaluator::new(&instance).unwrap().ideal.makespan();
    // All forward passes first has the same bubble as 1F1B; only transfers wait differently.
    let (instance, _) = collapsed(&usual.job, Dominance::AtBandwidth).unwrap();
    let usual = Evaluator::new(&instance).unwrap().ideal.makespan();
    assert!(literal != usual && (literal / usual - 1.0).abs() < 0.01, "{literal} {usual}");
}

/// Traffic between pods is that of the files, to the byte.
#[test]
fn traffic_adds_up_to_the_byte() {
    let cases = [
        (&[GPT22B][..], &["gpus_per_pod_per_replica=8"][..]),
        (&[MEGATRON, KERNELS], &["gpus_per_pod_per_replica=16"]),
        (&[ANALYTICAL], &["gpus_per_pod_per_replica=64"]),
        (&[L65B], &["compute=zero", "dp_bytes=1000000007", "gpus_per_pod_per_replica=4"]),
    ];
    for (files, settings) in cases {
        let imported = import(files, settings);
        let instance = expanded(&imported.job).unwrap();
        let shape = imported.job.shape().unwrap();
        let (g, replicas) = (u128::from(shape.gpus_per_stage), u128::from(shape.replicas));
        let sum = |exchanges: bool| -> u128 {
            let wanted = instance.tasks.iter().filter(|task| (task.kind == TaskKind::Dp) == exchanges);
            wanted.map(|task| task.volume_bytes as u128).sum()
        };
        let measured = measured(&imported);
        let boundaries = replicas * u128::from(shape.pods_per_replica - 1);
        let per_boundary = 2 * u128::from(imported.job.run.micro_batches) * g;
        assert_eq!(sum(false), boundaries * per_boundary * measured.pp_bytes_per_rank as u128);
        let exchanged: u128 = measured.stages.iter().map(|stage| stage.dp_bytes_per_gpu as u128 * g).sum();
        assert_eq!(sum(true), replicas * exchanged, "{}", imported.name);
        assert!(instance.tasks.iter().all(|task| task.volume_bytes.fract() == 0.0));
    }
}

#[test]
fn pods_filled_rank_by_rank() {
    // A stage of the 22B job has 32 ranks: half of them in a pod leave two replicas of 16 GPUs.
    let half = import(&[GPT22B], &["gpus_per_pod=16"]);
    let run = &half.job.run;
    assert_eq!((run.tp, run.ep, run.etp, run.gpus_per_pod_per_replica), (8, 2, 8, 16));
    assert_eq!(run.replicas(), 2);
    // Two ranks share each gradient in the pod, and half of a share crosses.
    assert_eq!(measured(&half).stages[0].dp_bytes_per_gpu, ((3_136_880_640_u64 + 6_273_761_280) / 4) as f64);
    assert!(half.summary.notes.iter().any(|note| note.contains("reduce their gradients inside the pod")));

    let whole = import(&[GPT22B], &["gpus_per_pod=32"]);
    assert_eq!(whole.job.run.replicas(), 1);
    assert_eq!(measured(&whole).stages[0].dp_bytes_per_gpu, 0.0);
    let (instance, _) = collapsed(&whole.job, Dominance::AtBandwidth).unwrap();
    assert!(instance.tasks.iter().all(|task| task.kind != TaskKind::Dp));

    // One tensor-parallel group per pod is the placement by replica.
    let one = import(&[GPT22B], &["gpus_per_pod=8"]);
    let same = import(&[GPT22B], &["gpus_per_pod_per_replica=8"]);
    assert_eq!(one.job, same.job);

    assert!(
        refused(&[GPT22B], &["gpus_per_pod=24"]).contains("'24' does not divide the '32' GPUs of a stage")
    );
    let both = ["gpus_per_pod=8", "gpus_per_pod_per_replica=8"];
    assert!(refused(&[GPT22B], &both).contains("gpus_per_pod: cannot be combined with"));
    let uneven = refused(&[GPT22B], &["gpus_per_pod_per_replica=12"]);
    assert!(uneven.contains("not a multiple of the 8 GPUs of a stage"), "{uneven}");
}

#[test]
fn what_is_assumed_leaves_a_port_for_every_link() {
    // One GPU per replica has a single port: eight share a pod, as in a server.
    let imported = import(&[ZERO3], &["gpus=64"]);
    assert_eq!((imported.job.run.ep, imported.job.run.gpus_per_pod_per_replica), (8, 8));
    assert!(
        imported
            .summary
            .assumed
            .iter()
            .any(|a| (a.value.as_str(), a.set_with.as_str()) == ("8 GPUs", "gpus_per_pod="))
    );
    assert!(collapsed(&imported.job, Dominance::AtBandwidth).is_ok());
    let sizes = [1, 2, 3, 8].into_iter().flat_map(|stage| [1, 2, 3, 4, 7, 16].map(|pp| (stage, pp)));
    for (stage, pp, dp) in sizes.flat_map(|(stage, pp)| [1, 2, 3, 8].map(|dp| (stage, pp, dp))) {
        let (mut summary, mut problems) = (ImportSummary::default(), Problems::new());
        let placed = placement::assumed(stage, pp, stage * dp, &mut summary, &mut problems);
        let (in_stage, in_pod) = placed.unwrap_or_else(|| panic!("{stage} x {pp} x {dp}: {problems}"));
        let run = RunConfig::of(in_stage as u32, pp as u32, (stage * pp * dp) as u32, in_pod as u32, 4);
        let job = Job { run, ..imported.job.clone() };
        let shape =
            Job { measured: None, model: Some(ModelChoice::Preset("gpt_7b".to_owned())), ..job }.shape();
        assert!(shape.is_ok(), "{stage} x {pp} x {dp}: {in_stage}, {in_pod}: {}", shape.unwrap_err());
    }
}

/// ZeRO exchanges gradients with every micro-batch: 1889785610 bytes, of which a pod of 8 reduces to an eighth, and a
/// ring of 8 replicas sends 7 / 8: 7 x 29527901 = 206695307. Gradients of GPT are exchanged once.
#[test]
fn what_every_micro_batch_exchanges_follows_their_number() {
    let bytes = |imported: &ImportedJob, micro_batches: i64| -> Vec<f64> {
        let mut scenario = TrainingScenario::Job(imported.job.clone());
        scenario.set("micro_batches", None, &ParamValue::Int(micro_batches)).unwrap();
        scenario.validate().unwrap();
        let TrainingScenario::Job(job) = scenario else { panic!("a job") };
        job.measured.unwrap().stages.iter().map(|stage| stage.dp_bytes_per_gpu).collect()
    };
    let zero = import(&[ZERO3], &["gpus=64"]);
    assert_eq!(measured(&zero).stages[0].dp_bytes_per_micro_batch, 206_695_307.0);
    assert!(
        zero.summary.notes.iter().any(|note| note.contains("in every micro-batch, 206695307 bytes per GPU"))
    );
    assert_eq!((bytes(&zero, 1), bytes(&zero, 4)), (vec![206_695_307.0], vec![826_781_228.0]));
    let given = import(&[ZERO3], &["gpus=64", "dp_bytes=1000"]);
    assert_eq!(bytes(&given, 3), [3000.0]);
    let once = import(&[GPT22B], &["gpus_per_pod_per_replica=8"]);
    assert_eq!(bytes(&once, 16), bytes(&once, 32));
    assert!(once.summary.notes.iter().all(|note| !note.contains("every micro-batch")));
    // Nothing recurs that is more than all.
    let mut wrong = zero.job;
    wrong.measured.as_mut().unwrap().stages[0].dp_bytes_per_micro_batch *= 2.0;
    let said = TrainingScenario::Job(wrong).validate().unwrap_err().to_string();
    assert!(said.contains("job.measured.stages[0].dp_bytes_per_micro_batch"), "{said}");
}

#[test]
fn every_file_that_is_wrong_is_named() {
    let bad = [
        ImportFile { name: "a.txt", bytes: b"MICRO\n1\nx\n" },
        ImportFile { name: "b.xml", bytes: b"<system>" },
        KERNELS,
    ];
    let error = refused(&bad, &[]);
    assert!(error.contains("a.txt: line 3 (row 1): has '1' fields"), "{error}");
    assert!(error.contains("b.xml: this is an NCCL topology"), "{error}");
    assert!(refused(&bad[..1], &[]).starts_with("a.txt: line 3"));
    assert!(refused(&[], &[]).contains("no file is given"));
    assert!(refused(&[KERNELS], &[]).contains("none of the files is a workload"));
}

#[test]
fn measured_calls_of_one_stage() {
    let imported = import(&[G13B, KERNELS], &["bandwidth_gbps=200"]);
    assert_eq!((imported.job.run.pp, imported.job.run.gpus_per_pod_per_replica), (1, 8));
    assert_eq!(imported.job.run.bandwidth_gbps, 200.0);
    let fewer = import(&[G13B, KERNELS], &["layers=20"]);
    assert!(measured(&fewer).stages[0].fwd_s < measured(&imported).stages[0].fwd_s);
    assert!(refused(&[G13B], &["compute=aiob"]).contains("kernel times are requested"));
    assert!(refused(&[G13B, KERNELS], &["gpus=64"]).contains("gpus: is '64', but the file says '128'"));
}
