//! Counts of every shape are read, planned, and refused with a place and a remedy.

use super::import::import;
use crate::Moe;
use crate::methods::all;
use crate::scenario::{GateTrace, MoeScenario};
use lightbay_core::format::{ImportedScenario, Input};
use lightbay_core::param::Params;
use lightbay_core::testing::Ask;
use std::collections::BTreeSet;

fn read(files: &[&str], settings: &[&str], strict: bool) -> Result<ImportedScenario<Moe>, String> {
    let inputs: Vec<Input> = files
        .iter()
        .enumerate()
        .map(|(at, text)| Input { name: format!("counts{at}.csv"), bytes: text.as_bytes().to_vec() })
        .collect();
    let settings: Vec<_> = settings.iter().map(|text| text.parse().unwrap()).collect();
    let params: Params = super::import::formats()[0].values(&settings).unwrap();
    import(&inputs, &params, strict).map_err(|problems| problems.to_string())
}

fn body(files: &[&str], settings: &[&str]) -> MoeScenario {
    read(files, settings, false).unwrap().scenario.body
}

fn matrix(scenario: &MoeScenario, iteration: u32, layer: u32) -> Vec<Vec<f64>> {
    let GateTrace::Counts(trace) = &scenario.trace else { panic!("counts") };
    let found = trace.counts.iter().find(|count| (count.iteration, count.layer) == (iteration, layer));
    found.unwrap().tokens.clone()
}

/// Layers 0 and 7 of Mixtral 8x7B on c4, as published with OLMoE.
const LONG: &str = "layer,expert,topk_count,top1_count\n0,0,56947,26410\n0,1,49733,33135\n0,2,50426,32689\n\
    0,3,49453,34946\n0,4,52127,27547\n0,5,57956,14343\n0,6,42632,20793\n0,7,58518,19033\n7,0,50706,26334\n\
    7,1,54716,30596\n7,2,51313,24472\n7,3,50515,24667\n7,4,56215,26910\n7,5,49525,20243\n7,6,53315,30375\n\
    7,7,51487,25299\n";

#[test]
fn counts_of_a_real_model_are_read_and_planned() {
    let imported = read(&[LONG], &[], false).unwrap();
    let lines = imported.lines.join("\n");
    assert!(lines.contains("8 experts") && lines.contains("assumed: every rank sends the same"), "{lines}");
    assert!(lines.contains("layer 0: the busiest expert has 1.121 times the mean"), "{lines}");
    assert!(lines.contains("layer 7: the busiest expert has 1.076 times the mean"), "{lines}");
    assert_eq!(imported.scenario.name, "counts0");
    let scenario = imported.scenario.body;
    assert_eq!((scenario.shape().ep, scenario.stage_layers()), (8, 2));
    assert_eq!(matrix(&scenario, 0, 1)[0][4], 56215.0);
    for method in ["auto", "mfabric-copilot", "fat-tree"] {
        let done = Ask::of(&all(), method, scenario.clone()).run().sound().done;
        assert!(done.plan.is_some(), "{method}: {}", done.message);
    }
    let strict = read(&[LONG], &[], true).unwrap_err();
    assert!(strict.contains("is not in the file: every rank sends the same"), "{strict}");
}

#[test]
fn counts_of_another_number_of_experts_per_token_are_named() {
    let rows = |counts: [u32; 8]| -> String {
        let row = |(expert, count): (usize, &u32)| format!("0,{expert},{count}\n");
        format!("layer,expert,count\n{}", counts.iter().enumerate().map(row).collect::<String>())
    };
    let model = &["model=mixtral_8x7b"];
    let lines = read(&[&rows([900, 50, 25, 25, 0, 0, 0, 0])], model, false).unwrap().lines.join("\n");
    assert!(lines.contains("layer 0: expert 0 has 7.200 times the mean load, but at most 4.000"), "{lines}");
    assert!(lines.contains("(model=)") && lines.contains("top_k"), "{lines}");
    let lines = read(&[&rows([500, 300, 100, 100, 0, 0, 0, 0])], model, false).unwrap().lines.join("\n");
    assert!(!lines.contains("is possible"), "{lines}");
}

#[test]
fn every_shape_holds_the_same_counts() {
    let wanted = vec![vec![4.0, 3.0, 2.0, 1.0, 4.0, 3.0, 2.0, 1.0]];
    let row = "4,3,2,1,4,3,2,1";
    for (text, settings) in [
        (format!("{row}\n{row}\n"), &["axis=layers"][..]),
        (format!("e0,e1,e2,e3,e4,e5,e6,e7\n{row}\n{row}\n"), &["axis=layers"]),
        (format!("{{\"weight\": [[{row}], [{row}]]}}"), &[]),
        (format!("[[{row}], [{row}]]"), &["axis=layers"]),
        (format!("{{\"logical_count\": [[[{row}], [{row}]]]}}"), &[]),
        (format!("{{\"load_history\": [{{\"logical_expert_load\": [[{row}], [{row}]]}}]}}"), &[]),
        (
            format!(
                "x num_global_tokens_per_expert: tensor([{row}])\ny\nnum_global_tokens_per_expert [{row}]\n"
            ),
            &["layers=2"],
        ),
        (
            format!(
                "{{\"iteration\": 0, \"layer\": 0, \"tokens\": [[{row}]]}}\n{{\"iteration\": 0, \"layer\": 1, \"tokens\": [[{row}]]}}\n"
            ),
            &[],
        ),
    ] {
        let scenario = body(&[&text], settings);
        assert_eq!(matrix(&scenario, 0, 1), wanted, "{text}");
        assert_eq!(scenario.stage_layers(), 2, "{text}");
    }
    let scenario = body(&[&format!("{row}\n{row}\n")], &["axis=iterations"]);
    assert_eq!((scenario.trace.iteration(), scenario.stage_layers()), (1, 1));
}

#[test]
fn files_of_ranks_are_put_side_by_side() {
    let texts: Vec<String> = (0..8).map(|rank| format!("{rank},1,1,1,1,1,1,1\n")).collect();
    let files: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scenario = body(&files, &[]);
    let tokens = matrix(&scenario, 0, 0);
    assert_eq!(tokens.len(), 8);
    assert_eq!(tokens[5][0], 5.0);
    let few = read(&files[..3], &[], false).unwrap_err();
    assert!(few.contains("counts of 3 ranks"), "{few}");
}

#[test]
fn layers_without_tokens_are_dense() {
    let imported = read(&["0,0,0,0,0,0,0,0\n1,2,1,2,1,2,1,2\n"], &["axis=layers"], false).unwrap();
    assert_eq!(imported.scenario.body.stage_layers(), 1);
    assert!(imported.lines.join("\n").contains("layers without tokens count as dense: 0"));
}

#[test]
fn sums_that_differ_are_named() {
    let lines =
        read(&["1,1,1,1,1,1,1,1\n2,2,2,2,2,2,2,2\n"], &["axis=layers"], false).unwrap().lines.join("\n");
    assert!(lines.contains("layer 1 of iteration 0 has 16 tokens instead of 8"), "{lines}");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (text, said) in [
        ("1,2,-3\n", "line 1, column 3: is '-3'"),
        ("1,2,3\n1,2,nan\n", "line 2, column 3: is 'nan'"),
        ("1,2,3\n1,2,3\n", "may be layers or iterations; set the meaning of the rows: axis=layers"),
        ("layer,expert,share\n0,0,1\n", "has the columns layer, expert, share"),
        ("layer,expert,count\n0,0,1\n0,0,2\n", "line 3: is for the same expert as line 2"),
        ("layer,expert,count\n0,0\n", "line 2: has 2 fields, but the header has 3"),
        ("{\"global_physical_count\": [[1]]}", "counts the replicas of experts"),
        ("{\"weights\": [[1]]}", "none that contains expert loads"),
        ("{\"weight\": [[1, -1]]}", "weight[0][1]: is"),
        ("{\"weight\": [[1, 2], [1]]}", "weight[1]: has 1 experts"),
        ("0,0,0\n", "counts no tokens"),
        ("", "this is an empty file"),
    ] {
        let found = read(&[text], &[], false).unwrap_err();
        assert!(found.contains(said), "{text:?}: {found}");
    }
}

fn workload(settings: &[&str], strict: bool) -> Result<ImportedScenario<Moe>, String> {
    let bytes = include_bytes!("../../../../tests/resources/inputs/aicb/workload_analytical.txt.gz");
    let input = Input { name: "workload_analytical.txt.gz".to_owned(), bytes: bytes.to_vec() };
    let settings: Vec<_> = settings.iter().map(|text| text.parse().unwrap()).collect();
    let params = super::aicb::formats()[0].values(&settings).unwrap();
    super::aicb::import(&[input], &params, strict).map_err(|problems| problems.to_string())
}

/// TP 2, EP 16, PP 12, 24 micro-batches of 8 layers, 9216 GPUs; 100 663 296 bytes of a GPU in every all-to-all.
#[test]
fn all_to_alls_of_a_workload_are_the_demand() {
    let imported = workload(&[], false).unwrap();
    let scenario = imported.scenario.body;
    let shape = scenario.shape();
    assert_eq!((shape.ep, shape.tp, shape.pp, scenario.stage_layers()), (16, 2, 12, 8));
    assert_eq!(
        (scenario.region.servers, scenario.cluster.servers, scenario.cluster.micro_batches),
        (4, 1152, 24)
    );
    assert_eq!(shape.copies() * shape.token_bytes(), 2.0 * 100_663_296.0);
    let times = scenario.measured;
    assert!((times.attention_ms.unwrap() - 3.50168).abs() < 1e-9, "{times:?}");
    assert!((times.expert_ms.unwrap() - 7.956367).abs() < 1e-9, "{times:?}");
    // Bytes of a rank are those of the file, whatever their shares.
    let demand = crate::model::demand::LayerDemand::of(&scenario, &scenario.history(0), 0);
    assert!((demand.bytes.iter().sum::<f64>() / (16.0 * 2.0 * 100_663_296.0) - 1.0).abs() < 1e-12);
    let done = Ask::of(&all(), "auto", scenario).run().sound().done;
    assert!(done.plan.is_some(), "{}", done.message);
    let lines = imported.lines.join("\n");
    assert!(lines.contains("assumed: the shares of the experts"), "{lines}");
    assert!(workload(&[], true).unwrap_err().contains("is not in the file"));
    let other = workload(&["model=deepseek_v3"], false).unwrap_err();
    assert!(other.contains("name the model that the workload was made for"), "{other}");
}

#[test]
fn a_row_out_of_place_is_no_other_model() {
    let bytes = include_bytes!("../../../../tests/resources/inputs/aicb/workload_analytical.txt.gz");
    let text = String::from_utf8(lightbay_core::read::read_all(&bytes[..]).unwrap()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let middle = lines.len() / 2;
    let at = (middle..lines.len() - 1)
        .find(|at| lines[*at].split('\t').next() != lines[at + 1].split('\t').next())
        .unwrap();
    lines.swap(at, at + 1);
    let input = Input { name: "exchanged.txt".to_owned(), bytes: lines.join("\n").into_bytes() };
    let params = super::aicb::formats()[0].values(&[]).unwrap();
    // All rows as one micro-batch would be a model of 24 x 8 layers.
    let told = super::aicb::import(&[input], &params, false).unwrap_err().to_string();
    assert!(told.contains("cannot be divided into micro-batches: row"), "{told}");
    assert!(told.contains("differs from the first micro-batch"), "{told}");
}

fn exported(scenario: MoeScenario, method: &str, format: &str) -> serde_json::Value {
    let plan = Ask::of(&all(), method, scenario).run().sound().done.plan.unwrap();
    let plan = lightbay_core::checked::downcast::<Moe>(&plan).unwrap();
    let subject = lightbay_core::format::SubjectOf::Plan(&plan);
    let files = <Moe as lightbay_core::listed::Listed>::export(subject, None, format, &Params::default());
    serde_json::from_slice(&files.unwrap()[0].bytes).unwrap()
}

#[test]
fn maps_of_experts_lead_there_and_back() {
    let mut scenario = crate::scenario::presets::scenario("moe-small").unwrap();
    let blocks = exported(scenario.clone(), "auto", "expert_map");
    assert_eq!(blocks["logical_to_physical_map"][1][7], serde_json::json!([7]));
    scenario.placement = Some(crate::scenario::PlacementRoom { redundant_experts: 8, expert_groups: 1 });
    let map = exported(scenario, "mfabric-placed", "expert_map");
    assert_eq!((&map["ranks"], &map["slots_per_rank"]), (&8.into(), &2.into()));
    let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
    for layer in 0..2 {
        let slots = list(&map["physical_to_logical_map"][layer]);
        assert_eq!(slots.len(), 16);
        for (expert, places) in list(&map["logical_to_physical_map"][layer]).iter().enumerate() {
            let places: Vec<i64> = list(places).iter().filter_map(serde_json::Value::as_i64).collect();
            let held: Vec<i64> = places.iter().copied().filter(|slot| *slot >= 0).collect();
            assert!(held.iter().all(|slot| slots[*slot as usize] == expert));
            assert_eq!(map["logical_replica_count"][layer][expert], held.len());
            assert!(places[held.len()..].iter().all(|filler| *filler == -1));
        }
    }
}

/// A plan that changes circuits within a layer: its tables contain the circuits and bytes of every exchange, and files
/// with one set of circuits for each layer are written with a remark.
#[test]
fn circuits_of_every_exchange_are_listed_or_named_as_left_out() {
    use lightbay_core::listed::Listed as _;
    let mut scenario = crate::scenario::presets::scenario("moe-small").unwrap();
    scenario.cluster.reconfiguration_delay_ms = 0.025;
    let plan = Ask::of(&all(), "mfabric-copilot", scenario).run().sound().done.plan.unwrap();
    let plan = lightbay_core::checked::downcast::<Moe>(&plan).unwrap();
    let result = &plan.plan().result;
    let layer = result.layers.iter().find(|layer| !layer.other_exchanges.is_empty()).unwrap();
    let other = &layer.other_exchanges[0];
    let subject = lightbay_core::format::SubjectOf::Plan(&plan);
    let rows = |listing: &str| -> Vec<Vec<String>> {
        let settings = [format!("listing={listing}").parse().unwrap()];
        let params = super::tables::formats()[0].values(&settings).unwrap();
        let files = Moe::export(subject, None, "circuits", &params).unwrap();
        let text = String::from_utf8(files[0].bytes.clone()).unwrap();
        text.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect()
    };
    let of_other = |row: &&Vec<String>| row[0] == layer.layer.to_string() && row[8] == other.phase.word();
    let listed = rows("circuits");
    let is_removed = |row: &&&Vec<String>| row[1] == "remove";
    let of_other: Vec<&Vec<String>> = listed.iter().filter(of_other).collect();
    let removed = of_other.iter().filter(is_removed).count();
    assert_eq!(of_other.len() - removed, other.circuits.len());
    // After the changes of the other exchange, every port has one circuit.
    let own_name =
        super::handover::own_phases(layer).iter().map(|phase| phase.word()).collect::<Vec<_>>().join(" ");
    let is_own = |row: &&Vec<String>| row[0] == layer.layer.to_string() && row[8] == own_name;
    let own = listed.iter().filter(is_own).filter(|row| row[1] != "remove");
    let mut set: BTreeSet<[&str; 2]> = own.map(|row| [&*row[2], &*row[3]]).collect();
    for row in &of_other {
        let circuit = [&*row[2], &*row[3]];
        match &*row[1] {
            "remove" => assert!(set.remove(&circuit), "{circuit:?}"),
            "add" => assert!(set.insert(circuit), "{circuit:?}"),
            _ => assert!(set.contains(&circuit), "{circuit:?}"),
        }
    }
    let ports: BTreeSet<&str> = set.iter().flatten().copied().collect();
    assert_eq!(ports.len(), 2 * set.len());
    let carried = |row: &Vec<String>| row[3].parse::<f64>().unwrap() * row[4].split(' ').count() as f64;
    let sum: f64 = rows("packet_switched").iter().map(carried).sum();
    assert!((sum / result.iteration.eps_bytes - 1.0).abs() < 1e-12, "{sum} {}", result.iteration.eps_bytes);
    let named = format!("layer {} ({}", layer.layer, other.phase.word());
    let remarks = Moe::export_remarks(subject, "polatis_tl1");
    assert!(remarks.len() == 1 && remarks[0].contains(&named), "{remarks:?}");
    for whole in ["circuits", "trace", "json", "markdown"] {
        assert!(Moe::export_remarks(subject, whole).is_empty(), "{whole}");
    }
    let absent =
        <Moe as lightbay_core::kind::Kind>::circuits_of_layer(plan.plan(), layer.layer).unwrap().left_out;
    assert!(absent.iter().any(|part| part.contains(other.phase.word())), "{absent:?}");
}

#[test]
fn the_timeline_of_an_iteration_is_as_long_as_the_plan_says() {
    for policy_delay in [0.025, 2.0, 25.0] {
        let mut scenario = crate::scenario::presets::scenario("moe-small").unwrap();
        scenario.cluster.reconfiguration_delay_ms = policy_delay;
        let trace = exported(scenario, "mfabric-swap", "trace");
        let wanted = trace["otherData"]["iteration_ms"].as_f64().unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let of = |category: &str| -> Vec<(f64, f64)> {
            let found = events.iter().filter(|event| event["cat"] == category);
            found.map(|event| (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap())).collect()
        };
        let end = events.iter().filter(|event| event["ph"] == "X");
        let end = end.map(|event| event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap());
        assert!((end.fold(0.0, f64::max) / 1e3 - wanted).abs() < 1e-5 * wanted, "{policy_delay}");
        // Two layers with four exchanges each, and a stall ends where a change does.
        assert_eq!(of("all_to_all").len(), 8);
        let changes = of("reconfiguration");
        for (start, length) in of("stall") {
            let ends = changes.iter().any(|(from, long)| (from + long - start - length).abs() < 0.01);
            assert!(ends, "{policy_delay} {start} {changes:?}");
        }
    }
}

/// The example of the EPLB project: two layers, 12 experts.
#[test]
fn weights_of_eplb_are_read() {
    let weights = "{\"weight\": [[90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86], \
                   [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27]]}";
    let imported = read(&[weights], &["model=llama_moe"], false).unwrap();
    let lines = imported.lines.join("\n");
    assert!(lines.contains("layer 1 of iteration 0 has 1156 tokens instead of 1033"), "{lines}");
    let shape = imported.scenario.body.shape();
    assert_eq!((shape.experts, shape.ep), (12, 6));
}

const IDS: &str = include_str!("../../../../tests/resources/inputs/moe/tables/ids.csv");
const TAIL: &str = include_str!("../../../../tests/resources/inputs/moe/tables/tail.csv");
const GAP: &str = include_str!("../../../../tests/resources/inputs/moe/tables/gap.csv");
const RANKS: [&str; 2] = [
    include_str!("../../../../tests/resources/inputs/moe/tables/rank0.csv"),
    include_str!("../../../../tests/resources/inputs/moe/tables/rank1.csv"),
];

/// A table that is read with the experts of a model, and lines that are said of it.
#[track_caller]
fn told(files: &[&str], model: &str, wanted: &[&str]) -> MoeScenario {
    let imported = read(files, &[&format!("model={model}")], false).unwrap();
    let lines = imported.lines.join("\n");
    for line in wanted {
        assert!(lines.contains(line), "{line} is missing in:\n{lines}");
    }
    imported.scenario.body
}

/// By sums and maxima over the rows: every layer has 1600 choices.
#[test]
fn long_tables_are_known_by_what_their_headings_begin_with() {
    let wanted = [
        "found: 1 iteration, 2 layers (1, 2), 8 experts",
        "layer 1: the busiest expert has 1.300 times the mean",
        "layer 2: the busiest expert has 1.550 times the mean",
    ];
    let plain = IDS.replace("_id", "");
    for text in [
        IDS.to_owned(),
        IDS.replace("_id", "_idx"),
        IDS.replacen("layer_id,expert_id,count", "Layer, Expert, Count", 1),
        IDS.replacen("layer_id,expert_id,count", "\"layer\";\"expert\";\"load\"", 1).replace(',', ";"),
        plain.clone(),
    ] {
        let body = told(&[&text], "mixtral_8x7b", &wanted);
        assert_eq!(matrix(&body, 0, 0)[0].len(), 8);
        let refused = read(&[&text], &["model=mixtral_8x7b", "axis=layers"], false).unwrap_err();
        assert!(refused.contains("axis: is set, but the file states the meaning of its rows"), "{refused}");
    }
    // The same without a model: as many experts as are named.
    let imported = read(&[&plain], &[], false).unwrap();
    assert!(imported.lines.iter().any(|line| {
        line.contains("8 experts, because the highest number in the file is 7; set model= if there are more")
    }));
    for (header, word) in
        [("layer_id,expert_id,weight_sum", "weight_sum"), ("depth,expert_id,count", "depth")]
    {
        for settings in [&["axis=layers"][..], &[]] {
            let refused =
                read(&[&IDS.replacen("layer_id,expert_id,count", header, 1)], settings, false).unwrap_err();
            assert!(refused.contains(word) && refused.contains("topk_count"), "{refused}");
            assert!(!refused.contains("axis"), "{refused}");
        }
    }
}

#[test]
fn experts_that_were_never_hit_are_those_of_the_model() {
    let body = told(
        &[TAIL],
        "mixtral_8x7b",
        &[
            "2 layers (1, 2), 8 experts",
            "layer 1: the busiest expert has 1.600 times the mean",
            "layer 2: the busiest expert has 1.750 times the mean",
            "4 pairs of layer and expert have no row; the import assumes 0 tokens",
        ],
    );
    assert_eq!((body.shape().experts, matrix(&body, 0, 0)[0][7]), (8, 0.0));
    told(
        &[GAP],
        "mixtral_8x7b",
        &[
            "8 experts",
            "layer 1: the busiest expert has 1.300 times the mean",
            "layer 2: the busiest expert has 1.650 times the mean",
            "1 pair of layer and expert has no row; the import assumes 0 tokens",
        ],
    );
    told(
        &[TAIL],
        "deepseek_v3",
        &[
            "256 experts",
            "500 pairs of layer and expert have no row; the import assumes 0 tokens",
            "layer 1: the busiest expert has 51.200 times the mean",
            "layer 2: the busiest expert has 56.000 times the mean",
        ],
    );
    // Without a model the number of experts is a guess, and said to be one.
    let imported = read(&[TAIL], &[], false).unwrap();
    assert_eq!(imported.scenario.body.shape().experts, 6);
    let guess =
        "assumed: 6 experts, because the highest number in the file is 5; set model= if there are more";
    assert!(imported.lines.iter().any(|line| line == guess), "{:?}", imported.lines);
    // A number that no model has is a mistake.
    let far = format!("{}0,600,4\n", IDS.replace("_id", ""));
    let refused = read(&[&far], &["model=mixtral_8x7b"], false).unwrap_err();
    assert!(refused.contains("expert 8 has no row, but the model has 8"), "{refused}");
    assert!(read(&[&far], &[], false).unwrap_err().contains("expert 8 has no row"));
    // Layers without any token are dense, a row twice and a count below 0 are refused with the line.
    let dense = format!("{}3,0,0\n", IDS.replace("_id", ""));
    assert_eq!(told(&[&dense], "mixtral_8x7b", &["count as dense: 3"]).stage_layers(), 2);
    let twice = read(&["layer,expert,count\n0,0,1\n0,0,2\n"], &[], false).unwrap_err();
    assert!(twice.contains("line 3: is for the same expert as line 2"), "{twice}");
    assert!(
        read(&["layer,expert,count\n0,0,-1\n"], &[], false).unwrap_err().contains("line 2, count: is '-1'")
    );
}

#[test]
fn sparse_files_of_ranks_are_put_side_by_side() {
    let body = told(
        &RANKS,
        "mixtral_8x7b",
        &[
            "2 layers (1, 2), 8 experts",
            "layer 1: the busiest expert has 1.600 times the mean",
            "layer 2: the busiest expert has 2.000 times the mean",
        ],
    );
    assert_eq!(body.shape().ep, 2);
    let sums = |layer| -> Vec<f64> {
        let rows = matrix(&body, 0, layer);
        (0..8).map(|expert| rows.iter().map(|row| row[expert]).sum()).collect()
    };
    assert_eq!(sums(0), [300.0, 180.0, 260.0, 240.0, 320.0, 300.0, 0.0, 0.0]);
    assert_eq!(sums(1), [350.0, 210.0, 330.0, 0.0, 400.0, 310.0, 0.0, 0.0]);
    assert_eq!(matrix(&body, 0, 0)[1][0], 0.0, "rank 1 never chose expert 0 in layer 1");
}

/// 56 layers of Mixtral 8x22B are its eight stages of seven; in the fifth one expert gets more than elsewhere.
#[test]
fn counts_of_all_layers_of_a_model_are_one_model() {
    let row =
        |layer: usize| if (28..35).contains(&layer) { "9,1,1,1,1,1,1,1\n" } else { "2,1,1,1,1,1,1,1\n" };
    let text: String = (0..56).map(row).collect();
    let settings = ["axis=layers", "model=mixtral_8x22b"];
    let imported = read(&[&text], &settings, false).unwrap();
    let body = imported.scenario.body;
    assert_eq!((body.shape().layers, body.shape().pp, body.stage_layers()), (56, 8, 7));
    assert_eq!(matrix(&body, 0, 0)[0][0], 9.0);
    let told = "assumed: stage 5 of 8 (layers 28 to 34), because its expert loads are the most uneven of these stages; the model has 56 layers (stage=)";
    assert!(imported.lines.iter().any(|line| line == told), "{:?}", imported.lines);
    let first = body_of(&text, "stage=1");
    assert_eq!(matrix(&first, 0, 6)[0][0], 2.0);
    let refused =
        |text: &str, stage: &str| read(&[text], &[&settings[..], &[stage]].concat(), false).unwrap_err();
    assert!(refused(&text, "stage=9").contains("stage: is 9, but the model has 8 stages of 7 layers"));
    let seven: String = (0..7).map(row).collect();
    assert!(refused(&seven, "stage=1").contains("stage: has no effect: the file counts 7 layers"));
}

fn body_of(text: &str, stage: &str) -> MoeScenario {
    body(&[text], &["axis=layers", "model=mixtral_8x22b", stage])
}
