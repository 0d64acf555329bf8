use super::*;
use crate::aicb::period;

const HEAD: &str =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 2 ga: 2 all_gpus: 8 pp_comm 64";

fn row(name: &str) -> String {
    format!("{name} -1 1000 ALLREDUCE 100 2000 NONE 0 3000 NONE 7 100")
}

fn file(head: &str, rows: &[String]) -> String {
    format!("{head}\n{}\n{}\n", rows.len(), rows.join("\n"))
}

fn parse(text: &str) -> SimaiText {
    read(text.as_bytes(), &Limits::default()).unwrap()
}

fn problems(text: &str) -> String {
    read(text.as_bytes(), &Limits::default()).unwrap_err().to_string()
}

#[test]
fn groups_follow_column_and_ending() {
    let text = file(
        HEAD,
        &[
            "a -1 1 ALLGATHER 1 1 ALLTOALL_EP 2 1 REDUCESCATTER 3 1".into(),
            "b 4 1 NONE_EP 9 1 \
        BROADCAST_DP_EP 2 1 ALLREDUCEALLTOALL_DP_EP 3 1"
                .into(),
        ],
    );
    let parsed = parse(&text);
    let groups: Vec<Option<Group>> = parsed
        .rows
        .iter()
        .flat_map(|row| Column::ALL.map(|column| row.cells[column as usize].group(column)))
        .collect();
    let expected =
        [Some(Group::Tp), Some(Group::Ep), Some(Group::Dp), None, Some(Group::DpEp), Some(Group::DpEp)];
    assert_eq!(groups, expected);
    assert_eq!(parsed.none_with_bytes(), 1);
    assert_eq!(parsed.rows[1].cells[0].bytes(), 0);
}

#[test]
fn any_white_space_and_no_last_newline() {
    let text = "MICRO\r\n1\r\n\r\n a\t-1 \t 5.0   NONE\t0  6\tNONE 0\t7   ALLGATHER \t4096.0\t 100 ";
    let parsed = parse(text);
    assert_eq!(parsed.rows[0].cells.map(|cell| cell.ns), [5, 6, 7]);
    assert_eq!(parsed.rows[0].cells[2].bytes(), 4096);
}

#[test]
fn every_rejection_names_line_row_field_value_and_remedy() {
    let rows = [
        "a -1 1 NONE 0 1 NONE 0 1 NONE 0",
        "a -1 1 NONE 0 1 NONE 0 1 NONE 0 100 200",
        "a x 1 NONE 0 1 NONE 0 1 NONE 0 100",
        "a -1 -5 NONE 0 1 NONE 0 1 NONE 0 100",
        "a -1 1 NONE 0 nan NONE 0 1 NONE 0 100",
        "a -1 1 NONE 0 1 ALREDUCE 0 1 NONE 0 100",
        "a -1 1 NONE 0 1 NONE 0 1 NONE 1.5 100",
        "a -1 1 NONE 99999999999999999999 1 NONE 0 1 NONE 0 100",
        "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1e30",
    ]
    .map(str::to_owned);
    let all = problems(&file(HEAD, &rows));
    for part in [
        "line 3 (row 1): has '11' fields instead of '12'; a row is name dep fwd_ns",
        "line 4 (row 2): has '13' fields instead of '12'",
        "line 5 (row 3), dep: 'x' is not a row number; write a row number, or -1 for no dependency",
        "line 6 (row 4), fwd_ns: '-5' is negative; write a time in ns",
        "line 7 (row 5), ig_ns: 'nan' is not a finite number",
        "line 8 (row 6), ig_comm: 'ALREDUCE' is not a collective; did you mean 'ALLREDUCE'?",
        "line 9 (row 7), wg_bytes: '1.5' is not a whole number",
        "line 10 (row 8), fwd_bytes: '99999999999999999999' is too large",
        "line 11 (row 9), update_ns: '1e30' is too large",
    ] {
        assert!(all.contains(part), "{part} is not in\n{all}");
    }
}

#[test]
fn the_row_count_must_be_right() {
    let two = [row("a"), row("b")];
    assert!(
        problems(&format!("{HEAD}\n3\n{}\n", two.join("\n")))
            .contains("line 2: announces '3' rows, but '2' follow")
    );
    assert!(problems(&format!("{HEAD}\n{}\n", two.join("\n"))).contains("is not a row count"));
    assert!(problems(&format!("{HEAD}\n")).contains("line 2: the row count is missing"));
    assert!(problems(&format!("{HEAD}\n0\n")).contains("at least one row"));
    assert!(problems(&format!("{HEAD}\n99999999999999\n{}\n", row("a"))).contains("'1' follow"));
    assert!(problems("").contains("empty"));
}

#[test]
fn rows_are_capped_and_problems_too() {
    let rows = vec![row("a"); 6];
    let limits = Limits { rows: 5, ..Limits::default() };
    let error = read(file(HEAD, &rows).as_bytes(), &limits).unwrap_err().to_string();
    assert!(error.contains("line 8: has more than '5' rows"), "{error}");
    let bad = vec!["a b c".to_owned(); 50];
    let found = read(file(HEAD, &bad).as_bytes(), &Limits::default()).unwrap_err();
    assert_eq!((found.list().len(), found.total()), (20, 50));
}

#[test]
fn customized_rows_carry_a_policy() {
    let head = "HYBRID_CUSTOMIZED";
    let good = [format!("{} MODEL", row("a"))];
    assert_eq!(parse(&file(head, &good)).rows.len(), 1);
    let bad = [format!("{} MODLE", row("a")), row("b")];
    let all = problems(&file(head, &bad));
    assert!(
        all.contains("line 3 (row 1), policy: 'MODLE' is not a parallelism policy; did you mean 'MODEL'?"),
        "{all}"
    );
    assert!(all.contains("line 4 (row 2): has '12' fields instead of '13'"), "{all}");
}

fn periodic(names: &[&str]) -> period::Period {
    let rows: Vec<String> = names.iter().map(|name| row(name)).collect();
    period::find(&parse(&file(HEAD, &rows)))
}

#[test]
fn micro_batches_are_found_by_their_first_layer() {
    let found = periodic(&[
        "grad_norm",
        "embedding_layer",
        "mlp",
        "final_column",
        "embedding_norm",
        "embedding_layer",
        "mlp",
        "final_column",
        "embedding_norm",
        "cross_entropy1",
        "optimizer1",
    ]);
    assert_eq!((found.prologue.clone(), found.middle.clone(), found.epilogue.clone()), (0..1, 1..9, 9..11));
    assert_eq!((found.micro_batches, found.rows(), found.note.as_str()), (2, 4, ""));
}

#[test]
fn a_file_without_clear_periods_is_one_micro_batch_and_says_so() {
    // ga is 2 in the header.
    let once = periodic(&["grad", "embedding_layer", "mlp", "cross_entropy1"]);
    assert_eq!((once.middle.clone(), once.micro_batches), (1..3, 1));
    assert!(once.note.contains("occurs 1 time, but the header says ga 2"), "{}", once.note);
    let none = periodic(&["a", "b"]);
    assert_eq!((none.middle.clone(), none.micro_batches), (0..2, 1));
    assert!(none.note.contains("no row 'embedding_layer'"));
    let uneven = periodic(&["embedding_layer", "mlp", "embedding_layer", "norm"]);
    assert!(uneven.note.contains("row 2 of micro-batch 2 differs"), "{}", uneven.note);
    let short = periodic(&["embedding_layer", "mlp", "embedding_layer", "cross_entropy1"]);
    assert!(short.note.contains("fewer rows than the first"), "{}", short.note);
    let long = periodic(&["embedding_layer", "mlp", "embedding_layer", "mlp", "mlp"]);
    assert!(long.note.contains("rows of layers follow after"), "{}", long.note);
}
