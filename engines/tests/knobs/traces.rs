//! Parameters of the importer of traces: every one changes the scenario.

use super::assert_all_changed;
use super::runs::settings;
use lightbay_engines::{Input, import};
use lightbay_formats::chakra::{ChakraNode, ChakraSort, ChakraTrace, ChakraValue, write};

/// Each parameter with values from and to (an empty one leaves it out), and settings of both imports.
pub(super) const CASES: [(&str, [&str; 2], &str); 15] = [
    ("gpus_per_pod", ["2", "1"], "ports_per_pod=5"),
    ("ports_per_pod", ["", "5"], ""),
    ("bandwidth_gbps", ["", "800"], ""),
    ("intra_pod_gbps", ["", "1"], ""),
    ("latency_us", ["", "5000"], ""),
    ("elem_bytes", ["", "4"], ""),
    ("size", ["", "total"], ""),
    ("tflops", ["100", "200"], "memory_gbyte_per_s=1000"),
    ("memory_gbyte_per_s", ["", "1"], ""),
    ("compute", ["auto", "zero"], ""),
    ("serialise_compute", ["true", "false"], ""),
    ("promote_nccl", ["false", "true"], "unsized_bytes=1000000"),
    ("unsized_bytes", ["", "1000000"], ""),
    ("missing_ranks", ["refuse", "ready"], ""),
    ("rings", ["both", "one"], ""),
];

fn int(name: &str, value: i64) -> (String, ChakraValue) {
    (name.to_owned(), ChakraValue::Int(value))
}

fn group(name: &str) -> (String, ChakraValue) {
    ("pg_name".to_owned(), ChakraValue::Text(name.to_owned()))
}

/// Two computations, an all-gather inside a pod, one of all ranks, a collective without a size, and a computation with
/// the name of a collective. Ranks are in pairs of one pod and in groups across pods.
fn trace(rank: u32) -> Input {
    let mut nodes: Vec<ChakraNode> = Vec::new();
    let mut add = |name: &str, sort: ChakraSort, after: Vec<u64>, attributes: Vec<(String, ChakraValue)>| {
        nodes.push(ChakraNode {
            id: nodes.len() as u64,
            name: name.to_owned(),
            sort,
            control_deps: Vec::new(),
            data_deps: after,
            duration_us: 0,
            attributes,
        });
        nodes.len() as u64 - 1
    };
    let work = || vec![int("num_ops", 1_000_000_000), int("tensor_size", 1_000_000)];
    add("gemm", ChakraSort::Compute, vec![], work());
    // It runs second if the computations of a GPU follow each other.
    let second = add("gemm", ChakraSort::Compute, vec![], work());
    let gather = |name: &str| vec![int("comm_type", 2), int("comm_size", 1_000_000), group(name)];
    let inside =
        add("inside", ChakraSort::Collective, vec![second], gather(["p", "q", "r"][rank as usize / 2]));
    let across =
        add("across", ChakraSort::Collective, vec![inside], gather(["even", "odd"][rank as usize % 2]));
    let unsized_one = vec![int("comm_type", 0), group("all")];
    let unsized_one = add("lost", ChakraSort::Collective, vec![across], unsized_one);
    let named = add("nccl:all_reduce", ChakraSort::Compute, vec![unsized_one], vec![]);
    add("gemm", ChakraSort::Compute, vec![named], work());
    let trace = ChakraTrace { version: "0.0.4".to_owned(), nodes, skipped: 0 };
    Input { name: format!("run.{rank}.et"), bytes: write(&trace) }
}

#[test]
fn every_parameter_of_traces_changes_the_scenario() {
    let read = |knob: &str, value: &str, given: &str| {
        let mut all = std::collections::BTreeMap::from([("gpus_per_pod", "2"), ("tflops", "100")]);
        all.extend(given.split_whitespace().filter_map(|text| text.split_once('=')));
        if value == "zero" {
            // Without compute times, the rate of a GPU has no effect and is refused.
            all.remove("tflops");
        }
        if !value.is_empty() {
            all.insert(knob, value);
        }
        let text: Vec<String> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // Without the last rank, a file of groups still names it.
        let ranks = if knob == "missing_ranks" { 5 } else { 6 };
        let groups = Input {
            name: "groups.json".to_owned(),
            bytes: b"{\"p\": [0, 1], \"q\": [2, 3], \"r\": [4, 5], \"even\": [0, 2, 4], \"odd\": [1, 3, 5]}"
                .to_vec(),
        };
        let files: Vec<Input> = (0..ranks).map(trace).chain([groups]).collect();
        import("traces", &files, &settings(&text.join(" ")), false)
            .map(|made| made.product.scenario().to_json().unwrap())
            .map_err(|problems| problems.to_string())
    };
    let unchanged =
        CASES.iter().filter(|(knob, [from, to], given)| read(knob, from, given) == read(knob, to, given));
    assert_all_changed("parameters of traces", unchanged.map(|(knob, ..)| (*knob).to_owned()).collect());
    for (knob, [from, to], given) in CASES {
        for value in [from, to].into_iter().filter(|value| *value != "refuse") {
            assert!(read(knob, value, given).is_ok(), "{knob}={value}: {:?}", read(knob, value, given));
        }
    }
}
