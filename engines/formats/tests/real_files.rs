//! The readers on files of the generators, against figures that were counted by hand or by other tools.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation should fail the test")]

use lightbay_core::problem::Problems;
use lightbay_formats::Limits;
use lightbay_formats::aicb::{
    self, AicbCollective, AicbInput, CollectiveKind, ComputeSource, Content, Group, MergeOptions, Merged,
    ParameterGather, SimaiText, calls, merge, order, period, simai_text::Column,
};

macro_rules! resource {
    ($name:literal) => {
        (include_bytes!(concat!("../../../tests/resources/inputs/aicb/", $name)).as_slice(), $name)
    };
}

const ANALYTICAL: (&[u8], &str) = resource!("workload_analytical.txt.gz");
const MEGATRON: (&[u8], &str) = resource!("gen_megatron177B_tp8_pp6_dp8_ga48_seq4096.txt.gz");
const GPT22B: (&[u8], &str) = resource!("gen_gpt22B_tp8_pp2_dp4_ga16_seq2048_aiob.txt.gz");
const MICRO: (&[u8], &str) = resource!("microAllReduce.txt");
const G175B: (&[u8], &str) = resource!("G175B-M1-C03_GPT175B_megatron_tp8_pp1_mbs1_A100.txt");
const L7B: (&[u8], &str) = resource!("L7B-D1-C02_Llama7B_deepspeed_zero3_A100.txt");
const G13B: (&[u8], &str) = resource!("G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1.csv.gz");
const L65B: (&[u8], &str) = resource!("L65B-M1-C05_Llama65B_megatron_tp2_pp8_mbs1.csv.gz");
const KERNELS: (&[u8], &str) = resource!("aiob_Example.txt");
const BUSBW: (&[u8], &str) = resource!("busbw.yaml");
const SPECIFICATION: (&[u8], &str) = resource!("Workload_spec_v1.1.csv");

fn read(file: (&[u8], &str)) -> AicbInput {
    aicb::read(file.0, file.1, &Limits::default()).unwrap()
}

fn text(file: (&[u8], &str)) -> SimaiText {
    match read(file).content {
        Content::Text(text) => text,
        other => panic!("{:?}", other.format()),
    }
}

fn try_merged(files: &[(&[u8], &str)], options: MergeOptions) -> Result<Merged, Problems> {
    let inputs: Vec<AicbInput> = files.iter().map(|file| read(*file)).collect();
    merge(&inputs, &options)
}

fn merged(files: &[(&[u8], &str)], options: MergeOptions) -> Merged {
    try_merged(files, options).unwrap()
}

fn total(text: &SimaiText, column: &str, collective: &str) -> (u64, u64) {
    let totals = text.totals();
    let found = totals.iter().find(|t| t.column == column && t.collective == collective).unwrap();
    (found.calls, found.bytes)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn analytical_moe_workload() {
    let file = text(ANALYTICAL);
    assert_eq!(file.rows.len(), 1789);
    let header = &file.header;
    assert_eq!((header.tp, header.ep, header.pp), (Some(2), Some(16), Some(12)));
    assert_eq!(
        (header.micro_batches, header.gpus, header.pp_bytes),
        (Some(24), Some(9216), Some(50_331_648))
    );
    assert_eq!(total(&file, "fwd", "ALLTOALL_EP"), (384, 38_654_705_664));
    assert_eq!(total(&file, "fwd", "ALLTOALL").0, 384);
    assert_eq!(total(&file, "wg", "REDUCESCATTER"), (1, 5_615_517_696));
    assert_eq!(total(&file, "wg", "REDUCESCATTER_DP_EP"), (1, 38_654_705_664));
    assert_eq!(format!("{:.1}", file.compute_s(Column::Fwd) * 1e3), "2235.9");
    assert!(!file.is_placeholder());
    let found = period::find(&file);
    assert_eq!(
        (found.prologue.len(), found.rows(), found.micro_batches, found.epilogue.len()),
        (6, 74, 24, 7)
    );

    let workload = merged(&[ANALYTICAL], MergeOptions::default()).workload;
    assert_eq!((workload.dp, workload.gpus, workload.expert_tp, workload.stages.len()), (384, 9216, 2, 12));
    let stage = &workload.stages[3];
    // DP 384: 383/384 of gather and reduce-scatter; among equal experts 24: 23/24 of theirs.
    let dense = (2_807_758_848 + 5_615_517_696) / 384 * 383;
    let experts = (19_327_352_832_u64 + 38_654_705_664) / 24 * 23;
    assert_eq!(stage.dp_bytes_per_gpu, dense + experts);
    assert_eq!(stage.dp_collectives.len(), 4);
    // The whole forward time belongs to the micro-batches but for 13 rows of 1 ns or 0 outside of them.
    let forward = stage.forward_s.unwrap() * 24.0;
    assert!((file.compute_s(Column::Fwd) - forward - 6e-9).abs() < 1e-12, "{forward}");
    let expert_calls: Vec<&AicbCollective> =
        stage.forward_collectives.iter().filter(|call| call.group == Group::Ep).collect();
    assert_eq!(expert_calls.len(), 1);
    assert_eq!((expert_calls[0].kind, expert_calls[0].ranks), (CollectiveKind::AllToAll, 16));
    assert_eq!(expert_calls[0].calls * expert_calls[0].bytes, 38_654_705_664);
    assert!(workload.summary.assumed.is_empty());
    assert!(
        workload.summary.notes.iter().any(|note| note.contains("29.700") && note.contains("not modelled"))
    );
}

#[test]
fn generated_177b_has_placeholders_and_sizes_beside_none() {
    let file = text(MEGATRON);
    assert_eq!((file.rows.len(), file.none_with_bytes()), (3226, 1632));
    assert!(file.is_placeholder());
    let found = period::find(&file);
    assert_eq!(
        (found.prologue.len(), found.rows(), found.micro_batches, found.epilogue.len()),
        (3, 67, 48, 7)
    );

    let workload = merged(&[MEGATRON], MergeOptions::default()).workload;
    assert!(workload.needs_compute());
    assert_eq!((workload.tp, workload.pp, workload.dp, workload.micro_batches), (8, 6, 8, 48));
    assert_eq!(workload.pp_bytes_per_rank, 12_582_912);
    // 7/8 of the reduce-scatter of 16.27 GB and of the gather of 8.14 GB.
    assert_eq!(workload.stages[0].dp_bytes_per_gpu, 14_237_368_320 + 7_118_684_160);
    assert_eq!(workload.summary.assumed[0].set_with, "parameter_gather=");
    assert!(workload.summary.strict_problems().to_string().contains("parameter_gather: "));
    let skipped = workload.summary.skipped.iter().find(|s| s.what == "sizes beside NONE").unwrap();
    assert_eq!(skipped.count, 1632);
    assert!(workload.summary.notes.iter().any(|note| note.contains("ig-bytes = 0")));
    // 2 x 5 boundaries x 48 micro-batches.
    assert_eq!(workload.summary.bytes.pp, 12_582_912 * 480);

    let by_column =
        MergeOptions { parameter_gather: Some(ParameterGather::ByColumn), ..MergeOptions::default() };
    let workload = merged(&[MEGATRON], by_column).workload;
    assert_eq!(workload.stages[0].dp_bytes_per_gpu, 14_237_368_320);
    assert!(workload.summary.assumed.is_empty());

    let from_file = MergeOptions { compute: ComputeSource::File, ..MergeOptions::default() };
    let error = try_merged(&[MEGATRON], from_file).unwrap_err().to_string();
    assert!(error.starts_with("gen_megatron177B") && error.contains("placeholder of 1 ns"), "{error}");
    let zero = MergeOptions { compute: ComputeSource::Zero, ..MergeOptions::default() };
    assert_eq!(merged(&[MEGATRON], zero).workload.stages[5].forward_s, Some(0.0));
}

#[test]
fn kernel_times_give_what_the_generator_wrote_with_them() {
    let Content::Kernels(kernels) = read(KERNELS).content else { panic!("not kernel times") };
    assert_eq!((kernels.train_iterations, kernels.kernels.len()), (Some(10), 12));
    // Each half of a block: 910 and 1239 microseconds.
    assert!(close(kernels.attention_s() / 2.0, 910e-6));
    assert!(close(kernels.mlp_s() / 2.0, 1239e-6));

    let file = merged(&[GPT22B], MergeOptions::default()).workload;
    let kernels = merged(&[GPT22B, KERNELS], MergeOptions::default()).workload;
    assert_eq!(kernels.summary.compute.source, "aiob");
    let (written, assigned) = (&file.stages[0], &kernels.stages[0]);
    assert!(close(written.forward_s.unwrap(), assigned.forward_s.unwrap()));
    // The generator also wrote 17.374 ms of its optimizer into the first micro-batch and 910 us into each of the other
    // 15 as weight gradients of the embedding, and 1 ns as its input gradients.
    let difference = written.backward_s.unwrap() - assigned.backward_s.unwrap();
    let expected = (17.374e-3 + 15.0 * 910e-6) / 16.0 + 1e-9;
    assert!((difference - expected).abs() < 1e-12, "{difference}");
    assert!(file.summary.notes.iter().any(|note| note.contains("1.939 ms")));
    // 24 layers of both blocks, embedding and the last half block, at 16 micro-batches.
    let forward = 24.0 * 2.0 * (910e-6 + 1239e-6) + 799e-6 + 910e-6;
    assert!(close(written.forward_s.unwrap(), forward));
    // DP 4: 3/4 of 3.137 and 6.274 GB.
    assert_eq!(written.dp_bytes_per_gpu, (3_136_880_640 + 6_273_761_280) / 4 * 3);

    // The 177B sample gets usable times from the same kernels: 16 layers per stage.
    let large = merged(&[MEGATRON, KERNELS], MergeOptions::default()).workload;
    assert!(!large.needs_compute());
    let forward = 16.0 * 2.0 * (910e-6 + 1239e-6) + 799e-6 + 910e-6;
    assert!(close(large.stages[0].forward_s.unwrap(), forward));
    // Expert layers have no kernel in the sample.
    let experts = merged(&[ANALYTICAL, KERNELS], MergeOptions::default()).workload;
    assert!(experts.summary.assumed.iter().any(|a| a.what.contains("1344 rows 'mlp_moelayer'")));
}

#[test]
fn older_headers_need_the_number_of_gpus() {
    for file in [G175B, L7B] {
        let error = try_merged(&[file], MergeOptions::default()).unwrap_err();
        assert_eq!(error.list().len(), 1);
        assert!(
            error.to_string().contains("gpus: the number of GPUs of the job is not in the file; set 'gpus='")
        );
    }
    let options = MergeOptions { gpus: Some(64), ..MergeOptions::default() };
    let workload = merged(&[G175B], options).workload;
    assert_eq!((workload.tp, workload.pp, workload.dp, workload.micro_batches), (8, 1, 8, 1));
    assert_eq!(text(G175B).rows.len(), 33);
    // A gather of one byte is padded to eight parts.
    assert_eq!(workload.stages[0].dp_bytes_per_gpu, 11_175_321_600 / 8 * 7 + 7);
    // Twelve layers of two rows, and the embedding.
    let forward = 12.0 * (2.571e-3 + 1.584e-3) + 523_895e-9 + 1e-9;
    assert!(close(workload.stages[0].forward_s.unwrap(), forward));
    assert!(workload.summary.notes.iter().any(|note| note.contains("does not contain ep, pp, ga")));

    let zero3 = merged(&[L7B], options).workload;
    assert_eq!((text(L7B).rows.len(), zero3.dp), (12, 64));
    assert!(zero3.summary.notes.iter().any(|note| note.contains("no row 'embedding_layer'")));
    assert!(zero3.summary.skipped.iter().any(|s| s.what == "TP calls" && s.count == 12));
    // One reduce-scatter of 1 889 785 610 bytes in 64 padded parts.
    assert_eq!(zero3.stages[0].dp_bytes_per_gpu, 1_889_785_610_u64.div_ceil(64) * 63);
}

#[test]
fn a_benchmark_of_one_call() {
    let workload = merged(&[MICRO], MergeOptions::default()).workload;
    assert_eq!((workload.gpus, workload.dp, workload.pp), (8, 1, 1));
    assert_eq!(workload.summary.bytes.tp, 16_777_216 + 67_108_864);
    assert!(close(workload.stages[0].forward_s.unwrap(), 2.0 * 556e-6));
    assert!(format!("{:?}", workload.summary).contains("occurs 2 times"));
}

#[test]
fn calls_of_one_stage() {
    let workload = merged(&[G13B], MergeOptions::default()).workload;
    assert_eq!((workload.tp, workload.pp, workload.dp, workload.gpus), (8, 1, 16, 128));
    assert_eq!(workload.micro_batches, 1);
    let stage = &workload.stages[0];
    let names: Vec<String> = stage.order.as_ref().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["F1", "B1"]);
    assert_eq!(stage.dp_bytes_per_gpu, (6_422_958_080 + 3_211_479_040) / 16 * 15);
    assert_eq!(stage.forward_s, None);
    assert_eq!(workload.summary.compute.source, "none");
    // 40 layers: two row-parallel matrices each.
    let with_kernels = merged(&[G13B, KERNELS], MergeOptions::default()).workload;
    let blocks = 40.0 * 2.0 * (910e-6 + 1239e-6);
    let logits = 70e-6 + 12_824e-6;
    assert!(close(with_kernels.stages[0].forward_s.unwrap(), blocks + 799e-6 + logits));
    assert!(close(with_kernels.stages[0].backward_s.unwrap(), 2.0 * (blocks + logits)));
}

#[test]
fn calls_of_eight_stages_give_transfers_and_order() {
    let Content::Calls(file) = read(L65B).content else { panic!("not calls") };
    assert_eq!(file.sections.len(), 8);
    assert_eq!(file.sections[0].ranks, (0..16).collect::<Vec<u32>>());
    assert_eq!(file.sections[7].ranks, (112..128).collect::<Vec<u32>>());
    let count = |wanted: fn(&calls::CallKind) -> bool| {
        file.sections.iter().flat_map(|s| &s.calls).filter(|call| wanted(&call.kind)).count()
    };
    assert_eq!(count(|kind| matches!(kind, calls::CallKind::Send(_))), 112);
    assert_eq!(count(|kind| matches!(kind, calls::CallKind::Receive(_))), 112);
    let pipeline = order::derive(&file, 0).unwrap();
    assert_eq!((pipeline.transfers, pipeline.bytes), (112, Some(33_554_432)));

    let workload = merged(&[L65B], MergeOptions::default()).workload;
    assert_eq!((workload.tp, workload.pp, workload.dp, workload.gpus), (2, 8, 8, 128));
    assert_eq!((workload.micro_batches, workload.pp_bytes_per_rank), (8, 33_554_432));
    assert_eq!(workload.summary.matched_transfers, 112);
    assert_eq!(workload.summary.bytes.pp, 112 * 33_554_432);
    // The file runs all forward passes first on every stage; on the first this is 1F1B too.
    for stage in &workload.stages {
        let names: Vec<String> = stage.order.as_ref().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names.join(" "), "F1 F2 F3 F4 F5 F6 F7 F8 B1 B2 B3 B4 B5 B6 B7 B8");
        let [forward] = stage.forward_collectives.as_slice() else {
            // Embedding and 160 row-parallel calls, and two small broadcasts, per micro-batch.
            let calls: u64 = stage.forward_collectives.iter().map(|call| call.calls).sum();
            assert_eq!(calls, 8 * 163);
            continue;
        };
        panic!("only {forward:?}");
    }
    assert!(workload.summary.notes.iter().any(|note| note.contains("differs from 1F1B on 7 of 8 stages")));
    assert_eq!(workload.summary.assumed[0].set_with, "dp_bytes=");
    let options = MergeOptions { dp_bytes: Some(7), ..MergeOptions::default() };
    let given = merged(&[L65B], options).workload;
    assert_eq!((given.stages[0].dp_bytes_per_gpu, given.summary.assumed.len()), (7, 0));
}

#[test]
fn a_removed_receive_is_refused() {
    let Content::Calls(mut file) = read(L65B).content else { panic!("not calls") };
    let section = &mut file.sections[4];
    let at = section.calls.iter().position(|c| matches!(c.kind, calls::CallKind::Receive(_))).unwrap();
    section.calls.remove(at);
    section.iterations[0].end -= 1;
    let inputs = [AicbInput { name: "cut.csv".to_owned(), compressed: false, content: Content::Calls(file) }];
    let error = merge(&inputs, &MergeOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("cut.csv: stage 3 to stage 4: '8' rows with send_next, but '7' rows with recv_prev"),
        "{error}"
    );
}

#[test]
fn bus_bandwidths() {
    let table = merged(&[MICRO, BUSBW], MergeOptions::default()).bus_bandwidth.unwrap();
    assert_eq!((table.title.as_str(), table.len()), ("test", 10));
    assert_eq!(table.bytes_per_s(Group::Tp, CollectiveKind::AllReduce), Some(300e9));
    assert_eq!(table.bytes_per_s(Group::Dp, CollectiveKind::AllReduce), None);
    assert_eq!(table.bytes_per_s(Group::Ep, CollectiveKind::AllToAll), Some(80e9));
    assert_eq!(table.pp_bytes_per_s, Some(47.5e9));
}

#[test]
fn what_contradicts_or_lacks_is_refused() {
    let refused = |files: &[(&[u8], &str)], options: MergeOptions, part: &str| {
        let error = try_merged(files, options).unwrap_err().to_string();
        assert!(error.contains(part), "{part} is not in\n{error}");
    };
    let options = MergeOptions::default();
    refused(&[KERNELS], options, "none of the files is a workload");
    refused(&[GPT22B, MICRO], options, "are both workloads; use only one of them");
    refused(&[GPT22B, BUSBW, BUSBW], options, "are both bus-bandwidth tables");
    let kernels = MergeOptions { compute: ComputeSource::Kernels, ..options };
    refused(&[GPT22B], kernels, "no file with kernel times is given");
    refused(&[GPT22B], MergeOptions { gpus: Some(32), ..options }, "gpus: is '32', but the file says '64'");
    refused(
        &[G175B],
        MergeOptions { gpus: Some(12), ..options },
        "'12' is not a multiple of TP '8' x PP '1'",
    );
    let from_file = MergeOptions { compute: ComputeSource::File, ..options };
    refused(&[L65B], from_file, "has no measured times of computations");
}

#[test]
fn other_files_are_refused_by_their_name() {
    let refused =
        |bytes: &[u8], name: &str| aicb::read(bytes, name, &Limits::default()).unwrap_err().to_string();
    let error = refused(SPECIFICATION.0, SPECIFICATION.1);
    assert!(error.starts_with("Workload_spec_v1.1.csv: this is AICB's table of model parameters"), "{error}");
    assert!(error.contains("run AICB's workload generator"), "{error}");
    assert!(refused(b"<system version=\"1\">", "topo.xml").contains("topo.xml: this is an NCCL topology; "));
    assert!(refused(b"", "x").contains("this is an empty file"));
    let cut = &L65B.0[..L65B.0.len() / 2];
    assert!(refused(cut, "cut.gz").contains("copy it again"));
    let limits = Limits { content_bytes: 1000, ..Limits::default() };
    let error = aicb::read(ANALYTICAL.0, "big", &limits).unwrap_err().to_string();
    assert!(error.contains("more than '1000' bytes"), "{error}");
}

#[test]
fn the_summary_reads_well() {
    let summary = merged(&[MEGATRON], MergeOptions::default()).workload.summary;
    let text = summary.to_text();
    for part in [
        "gen_megatron177B_tp8_pp6_dp8_ga48_seq4096.txt.gz: SimAI text workload, gzip, 3226 rows\n",
        "384 GPUs: TP 8, EP 1, PP 6, DP 8; 48 micro-batches\n",
        "rows: 3 before the micro-batches, 67 per micro-batch, 7 after the micro-batches\n",
        "compute (none): not known\n",
        "  wg REDUCESCATTER: 1 call, 16271278080 bytes\n",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}
