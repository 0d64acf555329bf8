//! Knobs of importers and exporters: every one changes what is written.

use super::runs::{settings, solve};
use super::{assert_all_changed, assert_covered};
use lightbay_engines::{AnyPlan, FormatInfo, Input, Subject, export, exporters, import, importers, preset};
use std::path::Path;

const MEGATRON: &str = "gen_megatron177B_tp8_pp6_dp8_ga48_seq4096.txt.gz";
const ANALYTICAL: &str = "workload_analytical.txt.gz";
const GPT22B: &str = "gen_gpt22B_tp8_pp2_dp4_ga16_seq2048_aiob.txt.gz";
const G13B: &str = "G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1.csv.gz";
const L65B: &str = "L65B-M1-C05_Llama65B_megatron_tp2_pp8_mbs1.csv.gz";
const G175B: &str = "G175B-M1-C03_GPT175B_megatron_tp8_pp1_mbs1_A100.txt";
const KERNELS: &str = "aiob_Example.txt";
const BUSBW: &str = "busbw.yaml";

#[derive(Clone, Copy)]
struct Case {
    knob: &'static str,
    files: &'static [&'static str],
    /// Settings of both imports.
    given: &'static str,
    /// Values from and to; an empty one leaves the knob out.
    values: [&'static str; 2],
}

const fn case(
    knob: &'static str,
    files: &'static [&'static str],
    given: &'static str,
    values: [&'static str; 2],
) -> Case {
    Case { knob, files, given, values }
}

const FLOPS: &str = "tflops=989 model=megatron_177b";

const AICB: &[Case] = &[
    case("gpus", &[G175B], "", ["16", "32"]),
    case("gpus_per_pod_per_replica", &[MEGATRON, KERNELS], "", ["8", "16"]),
    case("gpus_per_pod", &[GPT22B], "", ["8", "16"]),
    case("bandwidth_gbps", &[MEGATRON, KERNELS], "", ["", "800"]),
    case("intra_pod_gbps", &[MEGATRON, KERNELS], "", ["", "3600"]),
    case("pp_bytes", &[L65B], "compute=zero", ["1000000", "2000000"]),
    case("dp_bytes", &[MEGATRON, KERNELS], "", ["", "1000000"]),
    case("compute", &[MEGATRON, KERNELS], "", ["auto", "zero"]),
    case("tflops", &[MEGATRON], "model=megatron_177b", ["989", "500"]),
    case("mfu", &[MEGATRON], FLOPS, ["", "0.5"]),
    case("model", &[MEGATRON], "tflops=989", ["megatron_177b", "megatron_462b"]),
    case("seq", &[MEGATRON], FLOPS, ["", "2048"]),
    case("layers", &[G13B, KERNELS], "", ["", "20"]),
    case("collectives", &[ANALYTICAL, BUSBW], "", ["auto", "alpha_beta"]),
    case("collective_gbps", &[ANALYTICAL], "", ["", "1800"]),
    case("collective_latency_us", &[ANALYTICAL], "", ["", "50"]),
    case("parameter_gather", &[MEGATRON, KERNELS], "", ["dp", "column"]),
    case("order", &[L65B], "compute=zero gpus_per_pod_per_replica=4", ["file", "1f1b"]),
];

const DENSE: &[&str] = &["../models/config-dense.json"];
const EXPERTS: &[&str] = &["../models/config-moe.json"];
const RUN: &str = "tp=2 pp=4 gpus=32 gpus_per_pod_per_replica=8 micro_batches=4";

/// Parameters of the run of a model, each with a value other than that of [`RUN`] and the usual one.
const CONFIG: &[Case] = &[
    case("tp", DENSE, "pp=4 gpus=32 gpus_per_pod_per_replica=8 micro_batches=4", ["2", "4"]),
    case("cp", DENSE, RUN, ["", "2"]),
    case("pp", DENSE, "tp=2 gpus=32 gpus_per_pod_per_replica=4 micro_batches=4", ["4", "2"]),
    case("ep", EXPERTS, RUN, ["", "2"]),
    case("etp", EXPERTS, RUN, ["", "2"]),
    case("gpus", DENSE, "tp=2 pp=4 gpus_per_pod_per_replica=8 micro_batches=4", ["32", "16"]),
    case("dp", DENSE, "tp=2 pp=4 gpus_per_pod_per_replica=8 micro_batches=4", ["4", "2"]),
    case("gpus_per_pod_per_replica", DENSE, "tp=2 pp=4 gpus=32 micro_batches=4", ["8", "4"]),
    case("gpus_per_pod", DENSE, "tp=2 pp=4 gpus=32 micro_batches=4", ["8", "16"]),
    case("micro_batches", DENSE, "tp=2 pp=4 gpus=32 gpus_per_pod_per_replica=8", ["4", "8"]),
    case("micro_batch_size", DENSE, RUN, ["", "2"]),
    case("seq", DENSE, RUN, ["", "2048"]),
    case("bandwidth_gbps", DENSE, RUN, ["", "800"]),
    case("peak_tflops", DENSE, RUN, ["", "500"]),
    case("mfu", DENSE, RUN, ["", "0.5"]),
    case("recompute", DENSE, RUN, ["", "selective"]),
    case("zero", DENSE, RUN, ["", "3"]),
    case("bwd_ratio", DENSE, RUN, ["", "1.5"]),
    case("act_bytes", DENSE, RUN, ["", "1"]),
    case("grad_bytes", DENSE, RUN, ["", "2"]),
    case("gather_bytes", DENSE, RUN, ["", "4"]),
    case("blocking_p2p", DENSE, RUN, ["", "false"]),
    case("intra_pod_gbps", DENSE, RUN, ["", "100"]),
    case("balance", DENSE, RUN, ["", "exact"]),
    case("virtual_stages", DENSE, RUN, ["", "7"]),
    case("dp_buckets", DENSE, RUN, ["", "2"]),
    case("vocab", DENSE, RUN, ["", "32000"]),
    case("gated", DENSE, RUN, ["true", "false"]),
    case("tied", DENSE, RUN, ["true", "false"]),
    case("ports_per_pod", DENSE, RUN, ["", "12"]),
];

/// Descriptions of models: the format, and the files of a dense one and of one with experts.
const MODELS: [(&str, [&[&str]; 2]); 3] = [
    ("hf_config", [DENSE, EXPERTS]),
    ("calculon", [&["../models/calculon-model.json"], &[]]),
    ("megatron", [&["../models/megatron-dense.sh"], &["../models/megatron-experts.yaml"]]),
];

/// The cases of [`CONFIG`] that a format has, with its files.
fn of_format(
    format: &'static str,
    [dense, experts]: &[&'static [&'static str]; 2],
) -> impl Iterator<Item = (&'static str, Case)> {
    let of = move |case: &Case| {
        let files = if case.files == DENSE { *dense } else { *experts };
        (!files.is_empty()).then_some((format, Case { files, ..*case }))
    };
    CONFIG.iter().filter_map(of)
}

fn read(names: &[&str]) -> Vec<Input> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/resources/inputs/aicb");
    let file =
        |name: &&str| Input { name: (*name).to_owned(), bytes: std::fs::read(folder.join(name)).unwrap() };
    names.iter().map(file).collect()
}

/// The scenario that an import gives, as a file.
fn imported(format: &str, case: &Case, value: &str) -> Vec<u8> {
    let knob = if value.is_empty() { String::new() } else { format!("{}={value}", case.knob) };
    let text = format!("{} {knob}", case.given);
    let imported = import(format, &read(case.files), &settings(&text), false)
        .unwrap_or_else(|problems| panic!("{:?} {text}: {problems}", case.files));
    imported.product.scenario().renamed("same").to_json().unwrap()
}

#[test]
fn every_knob_of_every_importer_changes_the_scenario() {
    let mut entries = Vec::new();
    // Answers of switches need switches: their knobs are tested where the answers are read.
    let answers = lightbay_engines::crossconnect::files::import::formats();
    for format in importers().iter().filter(|format| answers.iter().all(|known| known.name != format.name)) {
        entries.extend(format.params.iter().map(|param| (format.name.to_owned(), param.name.to_string())));
    }
    let mut covered: Vec<_> = AICB.iter().map(|case| ("aicb".to_owned(), case.knob.to_owned())).collect();
    covered.push(("sol".to_owned(), "method".to_owned()));
    // Tested beside the other knobs of collectives and of regions.
    covered.extend(super::collectives::NCCL.map(|(knob, _)| ("nccl".to_owned(), knob.to_owned())));
    covered.extend(super::collectives::NETWORKS.map(|(_, knob, _)| ("network".to_owned(), knob.to_owned())));
    covered.extend(super::collectives::TRACES.map(|(knob, _)| ("chakra".to_owned(), knob.to_owned())));
    covered.extend(super::traces::CASES.map(|(knob, ..)| ("traces".to_owned(), knob.to_owned())));
    let topologies = super::collectives::TOPOLOGIES;
    covered.extend(topologies.map(|(format, knob, _)| (format.to_owned(), knob.to_owned())));
    covered.extend(
        ["model", "axis", "layers", "stage"].map(|knob| ("routing_counts".to_owned(), knob.to_owned())),
    );
    covered.extend(["model", "gpus"].map(|knob| ("aicb_moe".to_owned(), knob.to_owned())));
    let models: Vec<(&str, Case)> =
        MODELS.iter().flat_map(|(format, files)| of_format(format, files)).collect();
    covered.extend(models.iter().map(|(format, case)| ((*format).to_owned(), case.knob.to_owned())));
    assert_covered("knobs of importers", &entries, &covered);
    let cases =
        AICB.iter().map(|case| ("aicb", case)).chain(models.iter().map(|(format, case)| (*format, case)));
    let unchanged = cases.filter(|(format, case)| {
        let [from, to] = case.values.map(|value| imported(format, case, value));
        from == to
    });
    assert_all_changed("knobs of importers", unchanged.map(|(_, case)| case.knob.to_owned()).collect());
}

/// The columns of a solution belong to the model of one method.
#[test]
fn the_method_says_whose_solution_is_imported() {
    let scenario = preset("tiny4").unwrap();
    let written = export(Subject::Scenario(&scenario), "mps", &settings("method=delta-select")).unwrap();
    let model =
        lightbay_highs::file::read(&written[0].bytes, lightbay_highs::file::ModelFormat::Mps).unwrap();
    let solved = lightbay_highs::instance::solve_here(
        &model,
        &lightbay_highs::options::Options::new(),
        &lightbay_highs::solution::Start::None,
        &mut lightbay_highs::event::NoListener,
    )
    .unwrap();
    let lines = model.column_names.iter().zip(solved.values.unwrap());
    let text = lines.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join("\n");
    let files = [
        Input { name: "tiny4.sol".to_owned(), bytes: text.into_bytes() },
        Input { name: "tiny4.json".to_owned(), bytes: scenario.to_json().unwrap() },
    ];
    let read = |method: &str| import("sol", &files, &settings(&format!("method={method}")), false);
    read("delta-select").unwrap_or_else(|problems| panic!("{problems}"));
    assert!(read("delta-fixed-step").is_err(), "the model of another method has other columns");
}

/// Every value of every choice leads somewhere, too.
#[test]
fn every_choice_of_the_importer_can_be_made() {
    for (files, given) in [
        (&[GPT22B][..], "compute=file"),
        (&[MEGATRON, KERNELS], "compute=aiob"),
        (&[ANALYTICAL, BUSBW], "collectives=busbw"),
        (&[ANALYTICAL], "collectives=zero"),
    ] {
        import("aicb", &read(files), &settings(given), false)
            .unwrap_or_else(|problems| panic!("{given}: {problems}"));
    }
    let measured = import("aicb", &read(&[ANALYTICAL]), &settings("collectives=measured"), false);
    assert!(measured.unwrap_err().to_string().contains("the files contain no measured time"));
}

/// A value other than the default for every knob of the exporters of training plans for people and other programs.
const REVIEWS: &[(&str, &str, &str)] = &[
    ("csv", "table", "circuits"),
    ("csv", "replicas", "all"),
    ("dot", "what", "dag"),
    ("dot", "replicas", "all"),
    ("graphml", "what", "dag"),
    ("graphml", "replicas", "all"),
    ("markdown", "picture", "beside"),
    ("html", "picture", "none"),
];

/// Knobs of formats whose value does not change what is written of a plan.
fn unchanged(cases: &[(&str, &str, &str)], plan: &AnyPlan) -> Vec<String> {
    let written = |format: &str, text: &str| {
        export(Subject::Plan(plan), format, &settings(text))
            .unwrap_or_else(|problems| panic!("{format} {text}: {problems}"))
    };
    let same = |(format, knob, value): &&(&str, &str, &str)| {
        written(format, "") == written(format, &format!("{knob}={value}"))
    };
    cases.iter().filter(same).map(|(format, knob, _)| format!("{format} {knob}")).collect()
}

#[test]
fn every_knob_of_every_exporter_changes_the_file() {
    let mut entries = Vec::new();
    for format in exporters("training") {
        entries.extend(format.params.iter().map(|param| (format.name.to_owned(), param.name.to_string())));
    }
    let mut covered = vec![("instance", "all_edges"), ("mps", "method"), ("lp", "method")];
    covered.extend(REVIEWS.iter().map(|(format, knob, _)| (*format, *knob)));
    let covered: Vec<_> =
        covered.into_iter().map(|(format, knob)| (format.to_owned(), knob.to_owned())).collect();
    assert_covered("knobs of exporters", &entries, &covered);
    let done = solve("tiny4", "prop-alloc", "").done;
    let plan = AnyPlan::of(&done.plan.unwrap()).unwrap();
    assert_all_changed("knobs of exporters", unchanged(REVIEWS, &plan));
    let scenario = preset("small").unwrap();
    let written = |text: &str| export(Subject::Scenario(&scenario), "instance", &settings(text)).unwrap();
    assert_ne!(written("")[0].bytes, written("all_edges=true")[0].bytes);
    let scenario = preset("tiny4").unwrap();
    let model = |format: &str, method: &str| {
        export(Subject::Scenario(&scenario), format, &settings(&format!("method={method}"))).unwrap()
    };
    for format in ["mps", "lp"] {
        assert_ne!(model(format, "delta-select")[0].bytes, model(format, "delta-fixed-step")[0].bytes);
    }
}

/// A value other than the default for every knob of a pod's exporters.
const PODS: &[(&str, &str, &str)] = &[
    ("routes", "expand", "false"),
    ("csv", "table", "pod"),
    ("markdown", "picture", "none"),
    ("html", "picture", "none"),
    ("anynet", "electrical_cycles", "9"),
    ("anynet", "optical_cycles", "9"),
    ("anynet", "with_routes", "false"),
    ("changes", "from", "dark"),
    ("changes", "switches_per_batch", "7"),
    ("graphml", "level", "cubes"),
    ("dot", "level", "cubes"),
    ("msccl", "collective", "reduce_scatter"),
    ("msccl", "protocol", "LL"),
    ("msccl", "min_bytes", "1024"),
    ("msccl", "max_bytes", "1024"),
    ("msccl", "seed", "2"),
];

#[test]
fn every_knob_of_every_exporter_of_pods_changes_the_file() {
    let mut entries = Vec::new();
    // Formats of switches have the knobs that kind crossconnect gives them, where they are tested.
    let switches = lightbay_engines::crossconnect::files::exports::laid::exporters();
    let own = |format: &FormatInfo| switches.iter().all(|known| known.name != format.name);
    for format in exporters("tpu").into_iter().filter(own) {
        entries.extend(format.params.iter().map(|param| (format.name.to_owned(), param.name.to_string())));
    }
    let mut covered: Vec<_> =
        PODS.iter().map(|(format, knob, _)| ((*format).to_owned(), (*knob).to_owned())).collect();
    covered.extend(["radix4_nodes", "radix4_seed"].map(|knob| ("radix4".to_owned(), knob.to_owned())));
    let models = ["mps", "lp"];
    covered.extend(models.map(|format| (format.to_owned(), "method".to_owned())));
    assert_covered("knobs of exporters of pods", &entries, &covered);
    // One method has a model; the others say so.
    let cube = preset("tpu-64").unwrap();
    for format in models {
        let model =
            |method: &str| export(Subject::Scenario(&cube), format, &settings(&format!("method={method}")));
        assert!(!model("tons-milp").unwrap_or_else(|problems| panic!("{problems}"))[0].bytes.is_empty());
        assert!(model("tons-fast").unwrap_err().to_string().contains("tons-fast"));
    }
    // Routes under translation, so that they can be written for one cube or all; changes are counted from a torus of
    // another shape.
    let done = solve("tpu-random-128", "evaluate", "certificate_gap=1%").done;
    let plan = AnyPlan::of(&done.plan.unwrap()).unwrap();
    assert_all_changed("knobs of exporters of pods", unchanged(PODS, &plan));
    // Graphs of few nodes, because drawing all usual sizes takes seconds.
    let radix4 = |text: &str| export(Subject::Plan(&plan), "radix4", &settings(text)).unwrap();
    let ten = radix4("radix4_nodes=10");
    assert_ne!(ten, radix4("radix4_nodes=12"));
    assert_ne!(ten, radix4("radix4_nodes=10 radix4_seed=2"));
}
