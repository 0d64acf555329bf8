use super::*;
use proptest::prelude::*;

macro_rules! resource {
    ($name:literal) => {
        include_bytes!(concat!("../../../../tests/resources/inputs/moe/", $name)).as_slice()
    };
}

fn loads(bytes: &[u8], options: LoadOptions) -> Imported<ExpertLoads> {
    read(bytes, &Limits::default(), &options).unwrap()
}

fn wrong(text: &str, options: LoadOptions) -> String {
    read(text.as_bytes(), &Limits::default(), &options).unwrap_err().to_string()
}

const PLAIN: LoadOptions = LoadOptions { axis: None, layers: None };
const LAYERS: LoadOptions = LoadOptions { axis: Some(LoadAxis::Layers), layers: None };
const ITERATIONS: LoadOptions = LoadOptions { axis: Some(LoadAxis::Iterations), layers: None };

#[test]
fn published_routing_counts_add_up() {
    for (bytes, experts, top_k) in [
        (resource!("mixtral8x7b_c4_expert_counts.csv"), 8, 2.0),
        (resource!("olmoe1b7b_c4_expert_counts.csv"), 64, 8.0),
    ] {
        let found = loads(bytes, PLAIN);
        let record = &found.value;
        assert_eq!(
            (record.iterations.len(), &record.layers[..], record.experts),
            (1, &[0, 7, 15][..], experts)
        );
        assert_eq!(record.ranks, None);
        for layer in 0..3 {
            assert_eq!(record.of_layer(0, layer).iter().sum::<f64>(), 208_896.0 * top_k);
        }
        assert_eq!(found.notes, ["the file does not contain the ranks from which the tokens come"]);
        assert_eq!(loads(write(record).as_bytes(), PLAIN).value, *record);
    }
}

#[test]
fn the_example_of_eplb_is_a_tensor_of_layers() {
    let found = loads(resource!("eplb_readme_example.json"), PLAIN);
    assert_eq!((found.value.layers.len(), found.value.experts), (2, 12));
    let sums: Vec<f64> = (0..2).map(|layer| found.value.of_layer(0, layer).iter().sum()).collect();
    assert_eq!(sums, [1033.0, 1156.0]);
    assert_eq!(
        found.notes[0],
        "tokens differ between layers: layer 1 of iteration 0 has 1156 tokens instead of 1033"
    );
}

#[test]
fn recorders_traces_and_logs() {
    let recorder = loads(b"{\"rank\": 0, \"logical_count\": [[[1, 2], [0, 0]], [[3, 0], [0, 0]]]}", PLAIN);
    assert_eq!((&recorder.value.iterations[..], recorder.value.layers.len()), (&[0, 1][..], 2));
    assert_eq!(recorder.value.row(1, 0, 0), [3.0, 0.0]);
    assert_eq!(recorder.notes[0], "layers without tokens count as dense: 1");
    let both = ExpertLoads::of_ranks(&[recorder.value.clone(), recorder.value.clone()]).unwrap();
    assert_eq!((both.ranks, both.of_layer(1, 0)), (Some(2), vec![6.0, 0.0]));
    assert!(
        ExpertLoads::of_ranks(std::slice::from_ref(&both)).is_err() && ExpertLoads::of_ranks(&[]).is_err()
    );
    let history =
        b"{\"load_history\": [{\"logical_expert_load\": [[1, 2]]}, {\"logical_expert_load\": [[2, 1]]}]}";
    assert_eq!(loads(history, PLAIN).value.counts, [1.0, 2.0, 2.0, 1.0]);
    let lines = b"{\"iteration\":4,\"layer\":1,\"tokens\":[[1,2],[3,4]]}\n{\"iteration\":4,\"layer\":0,\"tokens\":[[5,6],[7,8]]}\n";
    let lines = loads(lines, PLAIN).value;
    assert_eq!((&lines.iterations[..], lines.ranks), (&[4][..], Some(2)));
    assert_eq!((lines.row(0, 0, 1), lines.row(0, 1, 0)), (&[7.0, 8.0][..], &[1.0, 2.0][..]));
    let log = "noise\niteration: 7 layer=3 num_global_tokens_per_expert: tensor([[1, 2], [3, 4]], device='cuda:0')\n";
    let log = loads(log.as_bytes(), PLAIN).value;
    assert_eq!((log.iterations[0], log.layers[0], log.ranks), (7, 3, Some(2)));
    let bare = "num_global_tokens_per_expert [[[1, 2]], [[3, 4]]]\n".repeat(4);
    assert!(wrong(&bare, PLAIN).contains("line 1: does not name its layer"));
    let bare = loads(bare.as_bytes(), LoadOptions { axis: None, layers: Some(2) }).value;
    assert_eq!((bare.iterations.len(), bare.layers.len(), bare.ranks), (2, 2, Some(2)));
}

#[test]
fn rows_of_dense_tables_are_what_is_said() {
    let table = "e0,e1,e2\n1,2,3.5\n4,5,6\n";
    assert!(wrong(table, PLAIN).contains("has 2 rows, which may be layers or iterations"));
    assert_eq!(loads(table.as_bytes(), LAYERS).value.layers, [0, 1]);
    assert_eq!(loads(table.as_bytes(), ITERATIONS).value.iterations, [0, 1]);
    assert_eq!(loads(b"[[1, 2], [3, 4]]", ITERATIONS).value.iterations, [0, 1]);
    assert!(wrong("[[1, 2], [3, 4]]", PLAIN).contains("axis=layers or axis=iterations"));
    assert!(wrong("layer,expert,count\n0,0,1\n", LAYERS).contains("axis: is set"));
    let layers = LoadOptions { axis: None, layers: Some(2) };
    assert!(wrong("layer,expert,count\n0,0,1\n", layers).contains("layers: is set"));
}

#[test]
fn every_bad_count_is_named() {
    let table = "layer,expert,count\n0,0,NaN\n0,1,-3\n0,x,1\n0,2\n1,0,1\n1,0,2\n1,0.5,inf\n";
    let told = wrong(table, PLAIN);
    for part in [
        "line 2, count: is 'NaN'",
        "line 3, count: is '-3'",
        "line 4, expert: is 'x'",
        "line 5: has 2 fields, but the header has 3",
        "line 7: is for the same expert as line 6",
        "line 8, expert: is '0.5'",
        "line 8, count: is 'inf'",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    assert!(
        wrong("layer,expert,count\n0,0,1\n0,9,1\n", PLAIN)
            .contains("has counts for 2 of 10 experts: expert 1 has no row")
    );
    assert!(wrong("layer,expert,count\n0,4000000,1\n", PLAIN).contains("4000001 experts"));
    assert!(wrong("1,2\n3\n", LAYERS).contains("line 2: has 1 experts in row 0, but line 1 has 2"));
    assert!(wrong("1,-2\n3,nan\n", LAYERS).contains("line 2, column 2: is 'nan'"));
    let told = wrong("{\"logical_count\": [[[1, -2], [null, 1]], [[1, 2, 3], 7]]}", PLAIN);
    for part in ["logical_count[0][0][1]: is '-2'", "logical_count[0][1][0]", "logical_count[1][1]: is '7'"] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    assert!(
        wrong("{\"logical_count\": [[[1, 2], [1]]]}", PLAIN).contains("logical_count[0][1]: has 1 experts")
    );
    let gap =
        "{\"iteration\":0,\"layer\":0,\"tokens\":[[1]]}\n{\"iteration\":1,\"layer\":1,\"tokens\":[[1]]}";
    assert!(wrong(gap, PLAIN).contains("layer 1 of iteration 0 is missing"));
    let twice =
        "{\"iteration\":0,\"layer\":0,\"tokens\":[[1]]}\n{\"iteration\":0,\"layer\":0,\"tokens\":[1]}";
    assert!(wrong(twice, PLAIN).contains("repeats layer 0 of iteration 0"));
    assert!(wrong("{\"global_physical_count\": []}", PLAIN).contains("replicas of experts"));
    assert!(wrong("{\"a\": 1}", PLAIN).contains("none that contains expert loads"));
    assert!(wrong("PK\u{3}\u{4}", PLAIN).contains("torch.load"));
    assert!(wrong("", PLAIN).contains("empty file"));
    assert!(
        wrong(&"[".repeat(100_000), PLAIN).contains("recursion")
            || wrong(&"[".repeat(100_000), PLAIN).contains("nest")
    );
}

prop_compose! {
    fn any_loads()(iterations in 1..4_usize, layers in 1..4_usize, ranks in proptest::option::of(1..4_u32), experts in 1..5_u32)
        (counts in proptest::collection::vec((0..100_000_u32).prop_map(|count| f64::from(count) / 4.0),
            iterations * layers * ranks.unwrap_or(1) as usize * experts as usize),
         iterations in Just((0..iterations as u64).map(|i| 3 * i + 1).collect::<Vec<_>>()),
         layers in Just((0..layers as u32).map(|l| 2 * l).collect::<Vec<_>>()),
         ranks in Just(ranks), experts in Just(experts)) -> ExpertLoads {
        ExpertLoads { iterations, layers, ranks, experts, counts }
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(record in any_loads()) {
        prop_assert_eq!(&loads(write(&record).as_bytes(), PLAIN).value, &record);
    }

    #[test]
    fn nothing_panics(text in "[\\[\\]{}0-9,.eE\\-a-z\": \n]{0,80}", cut in 0..300_usize) {
        let log = "iteration: 7 layer=3 num_global_tokens_per_expert: tensor([[1, 2], [3, 4]])";
        for text in [text.clone(), format!("layer,expert,count\n{text}"), format!("{}{text}", &log[..cut.min(log.len())])] {
            let _ = read(text.as_bytes(), &Limits::default(), &LAYERS);
        }
    }
}

/// Two ranks of an expert group save the counts of their own experts; micro-batches are added, further predicted tokens left out.
#[test]
fn ranks_with_experts_of_their_own_stand_side_by_side() {
    const RANK_0: &str = "{\"iter\": 40, \"block\": \"decoder\", \"layer\": 1, \"tpe\": [[37, 38, 33, 33], [51, 46, 24, 19]]}\n\
        {\"iter\": 40, \"block\": \"mtp\", \"mtp_idx\": 0, \"layer\": 0, \"tpe\": [[55, 25, 46, 27], [42, 28, 38, 46]]}\n\
        {\"iter\": 80, \"block\": \"decoder\", \"layer\": 1, \"tpe\": [[55, 34, 13, 18], [49, 54, 24, 18]]}\n";
    const RANK_1: &str = "{\"iter\": 40, \"block\": \"decoder\", \"layer\": 1, \"tpe\": [[40, 41, 20, 15], [41, 32, 22, 20]]}\n\
        {\"iter\": 80, \"block\": \"decoder\", \"layer\": 1, \"tpe\": [[43, 26, 37, 21], [30, 30, 40, 20]]}\n";
    let open = |text: &str| open(text.as_bytes(), &Limits::default(), &LoadOptions::default()).unwrap();
    let files = [open(RANK_0), open(RANK_1)];
    let made = together(&files, &["rank0", "rank1"], Some(8)).unwrap();
    let loads = &made.value;
    assert_eq!(
        (&*loads.iterations, &*loads.layers, loads.experts, loads.ranks),
        (&[40, 80][..], &[1][..], 8, None)
    );
    assert_eq!(loads.row(0, 0, 0), [88.0, 84.0, 57.0, 52.0, 81.0, 73.0, 42.0, 35.0]);
    assert_eq!(loads.row(1, 0, 0), [104.0, 88.0, 37.0, 36.0, 73.0, 56.0, 77.0, 41.0]);
    assert!(made.notes.iter().any(|note| note == "rank0: 1 line of block mtp omitted"), "{:?}", made.notes);
    // Ranks are sent different numbers of tokens for each layer; all ranks together are sent as many in each.
    let second = |text: &str, counts: &str| {
        open(&format!("{text}{{\"iter\": 40, \"layer\": 2, \"tpe\": [{counts}]}}\n"))
    };
    let one = |text: &str| text.lines().next().unwrap().to_owned() + "\n";
    let layers = [second(&one(RANK_0), "[212, 0, 0, 0]"), second(&one(RANK_1), "[300, 0, 0, 0]")];
    let made = together(&layers, &["rank0", "rank1"], Some(8)).unwrap();
    assert_eq!(made.value.of_layer(0, 1).iter().sum::<f64>(), 512.0);
    assert!(!made.notes.iter().any(|note| note.contains("tokens differ")), "{:?}", made.notes);
    let error = together(&files[..1], &["rank0"], Some(8)).unwrap_err().to_string();
    assert!(error.contains("the files count 4 experts, but the model has 8"), "{error}");
    let other = open(&RANK_1.replace("\"layer\": 1", "\"layer\": 2"));
    let error = together(&[files[0].clone(), other], &["rank0", "rank1"], None).unwrap_err().to_string();
    assert!(error.contains("other iterations or layers"), "{error}");
    let ragged = RANK_0.replace("[51, 46, 24, 19]", "[51, 46]");
    let error =
        super::open(ragged.as_bytes(), &Limits::default(), &LoadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("line 1, tpe: has 2 experts in one micro-batch and 4 in another"), "{error}");
}

#[test]
fn layers_beyond_all_numbers_are_told() {
    for line in [
        "{\"iteration\": 0, \"layer\": 4294967296, \"tokens\": [[1]]}\n",
        "{\"iter\": 0, \"layer\": 4294967296, \"tpe\": [[1]]}\n",
    ] {
        let told =
            read(line.as_bytes(), &Limits::default(), &LoadOptions::default()).unwrap_err().to_string();
        assert!(told.contains("layer: is '4294967296'"), "{line}: {told}");
    }
}
