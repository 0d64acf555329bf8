//! Files that the solvers themselves wrote for one small model: minimise c1 + 2 c2 + 5 c3 + 0.3 t4.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation should fail the test")]

use lightbay_formats::Limits;
use lightbay_formats::solutions::{Dialect, Key, SolutionFile, read};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const COSTS: [f64; 4] = [1.0, 2.0, 5.0, 0.3];
const NAMES: [&str; 4] = ["c1", "c2", "c3", "t4"];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/resources/inputs/solutions").join(name)
}

fn file(name: &str) -> SolutionFile {
    let bytes = std::fs::read(folder(name)).unwrap();
    read(bytes.as_slice(), &Limits::default()).unwrap_or_else(|problems| panic!("{name}: {problems}"))
}

/// The point with zeros where the file says nothing, and how many those are.
fn point(file: &SolutionFile) -> ([f64; 4], usize) {
    let mut point = [None; 4];
    for entry in &file.entries {
        let column = match &entry.key {
            Key::Place(place) => *place,
            Key::Name(name) => match NAMES.iter().position(|known| known == name) {
                Some(column) => column,
                None if file.dialect.mixes_rows() => continue,
                None => panic!("{name}"),
            },
        };
        assert_eq!(point[column].replace(entry.value), None, "{}", NAMES[column]);
    }
    (point.map(Option::unwrap_or_default), point.iter().filter(|value| value.is_none()).count())
}

#[test]
fn every_solver_says_the_same() {
    use Dialect::{Cbc, Cplex, Glpk, Gurobi, HighsPretty, HighsRaw, HighsSparse, Scip};
    for (name, dialect, omitted, status) in [
        ("highs_raw.sol", HighsRaw, 0, Some("Optimal")),
        ("highs_sparse.sol", HighsSparse, 1, Some("Optimal")),
        ("highs_pretty.sol", HighsPretty, 0, Some("Optimal")),
        ("highs_pretty_lp.sol", HighsPretty, 0, Some("Optimal")),
        ("highs_glpk.sol", Glpk, 0, Some("optimal")),
        ("gurobi.sol", Gurobi, 0, None),
        ("cplex.sol", Cplex, 0, Some("integer optimal solution")),
        ("cplex_pool.sol", Cplex, 0, Some("integer optimal solution")),
        ("scip.sol", Scip, 1, None),
        ("cbc.sol", Cbc, 0, Some("Optimal")),
        ("cbc_with_rows.sol", Cbc, 0, Some("Optimal")),
        ("glpk.sol", Glpk, 0, Some("optimal")),
        ("glpk_lp.sol", Glpk, 0, Some("feasible")),
    ] {
        let file = file(name);
        assert_eq!((file.dialect, file.no_point.as_ref()), (dialect, None), "{name}");
        assert_eq!(file.status.as_ref().map(|status| status.what.as_str()), status, "{name}");
        assert_eq!(file.further_points, usize::from(name == "cplex_pool.sol"), "{name}");
        let (point, left_out) = point(&file);
        assert_eq!(left_out, omitted, "{name}");
        let value: f64 = COSTS.iter().zip(point).map(|(cost, value)| cost * value).sum();
        let claimed = file.objective.unwrap().what;
        assert!((value - claimed).abs() < 1e-9, "{name}: {value} against {claimed}");
        let optimum = if name.ends_with("_lp.sol") { 5.1 } else { 5.18 };
        assert!((value - optimum).abs() < 1e-9, "{name}: {value}");
    }
}

/// Files that highspy 1.16.0 wrote for exported models: a bound and a gap behind the objective, and a word behind the
/// number of columns of the sparse style.
#[test]
fn files_of_highs_1_16_have_a_bound_and_say_that_they_are_sparse() {
    use Dialect::{HighsRaw, HighsSparse};
    for (name, dialect, objective, bound, entries) in [
        ("example-raw", HighsRaw, 2.0, 2.0, 24),
        ("example-sparse", HighsSparse, 2.0, 2.0, 8),
        ("megatron-gap", HighsSparse, 12_837.166_818_111_11, 12_829.180_863_295_11, 140),
        ("tiny4-sparse", HighsSparse, 450.424_228_492_295, 450.424_228_492_295, 0),
    ] {
        let found = file(&format!("highs_1.16/{name}-1.16.sol"));
        let claims = (found.objective.unwrap().what, found.bound.unwrap().what);
        assert_eq!((found.dialect, claims), (dialect, (objective, bound)), "{name}");
        assert_eq!((found.entries.len(), found.passed_over), (entries, 0), "{name}");
    }
}

#[test]
fn lines_of_later_versions_of_highs_are_passed_over_and_others_refused() {
    let text = std::fs::read_to_string(folder("highs_1.16/example-raw-1.16.sol")).unwrap();
    let read_text = |text: &str| read(text.as_bytes(), &Limits::default());
    // As 1.15 writes it.
    let old: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("Objective_bound") && !line.starts_with("MIP"))
        .collect();
    let old = read_text(&(old.join("\n") + "\n")).unwrap();
    assert_eq!((old.entries.len(), old.bound), (24, None));
    let more = |line: &str| text.replace("MIP_rel_gap 0\n", &format!("MIP_rel_gap 0\n{line}\n"));
    for (line, count) in [("Nodes 12", 1), ("# Times\nSeconds 1.5", 2), ("Objective_bound inf", 0)] {
        let found = read_text(&more(line)).unwrap();
        assert_eq!((found.entries.len(), found.passed_over), (24, count), "{line}");
    }
    for line in ["what is this", "12 Nodes", "Nodes twelve", "Nodes"] {
        let said = read_text(&more(line)).unwrap_err().to_string();
        assert!(said.contains(&format!("line 9: '{line}' cannot be read")), "{said}");
    }
    let said = read_text(&text.replace("# Columns 24", "# Columns 24 spare")).unwrap_err().to_string();
    assert!(said.contains("'# Columns 24 spare' cannot be read"), "{said}");
    let cut: Vec<&str> = text.lines().take(15).collect();
    let said = read_text(&(cut.join("\n") + "\n")).unwrap_err().to_string();
    assert!(said.contains("announces 24 columns, but the last 18 are missing"), "{said}");
}

#[test]
fn the_printable_report_of_glpsol_is_refused_with_what_to_write_instead() {
    let report = "Problem:    m\nRows:       3\nColumns:    4 (2 integer, 1 binary)\nNon-zeros:  10\nStatus:     INTEGER OPTIMAL\n";
    for text in [report.to_owned(), report.replace("m\n", "\n")] {
        let said = read(text.as_bytes(), &Limits::default()).unwrap_err().to_string();
        assert!(said.contains("the printable report of glpsol (style 3 of HiGHS)"), "{said}");
        assert!(said.contains("`glpsol -w FILE`, or style 0 of HiGHS"), "{said}");
    }
}

#[test]
fn files_without_a_point_say_why() {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder("no_point")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let file = read(bytes.as_slice(), &Limits::default()).unwrap();
        assert!(file.no_point.is_some() && file.entries.is_empty(), "{}: {file:?}", path.display());
        seen += 1;
    }
    assert!(seen >= 7, "{seen} files");
}

#[test]
fn compressed_files_read_the_same() {
    use std::io::Write as _;
    let plain = std::fs::read(folder("gurobi.sol")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&plain).unwrap();
    let packed = encoder.finish().unwrap();
    assert_eq!(read(packed.as_slice(), &Limits::default()).unwrap(), file("gurobi.sol"));
}

const STARTS: [&str; 9] = [
    "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 1\n# Columns 2\n",
    "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 1\n# Columns -2\n",
    "Columns\n Index Status Lower Upper Primal Dual Type Name\n",
    "# Solution for model m\n",
    "<?xml version=\"1.0\"?>\n<CPLEXSolution version=\"1.2\">\n<variables>\n",
    "solution status: optimal\n",
    "Optimal - objective value 1\n",
    "c Problem: m\ns mip 1 1 o 1\n",
    "s bas 1 1 f f 1\n",
];

fn swallow(bytes: &[u8]) {
    let limits = Limits { content_bytes: 1 << 16, line_bytes: 1 << 12, rows: 50 };
    match read(bytes, &limits) {
        Ok(file) => assert!(file.entries.iter().all(|entry| entry.value.is_finite())),
        Err(problems) => assert!(!problems.is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_make_a_reader_panic(start in 0..STARTS.len(), rest in proptest::collection::vec(any::<u8>(), 0..300)) {
        swallow(&rest);
        swallow(&[STARTS[start].as_bytes(), &rest].concat());
    }

    #[test]
    fn no_words_make_a_reader_panic(
        start in 0..STARTS.len(),
        words in proptest::collection::vec(
            prop_oneof![
                Just("x"), Just("1"), Just("-1"), Just("\n"), Just("\n"), Just(" "), Just("\t"), Just("1e999"), Just("nan"),
                Just("#"), Just("**"), Just("<variable name='"), Just("'"), Just("\""), Just(" value="), Just("/>"), Just("<"),
                Just("j"), Just("s mip"), Just("# Columns "), Just("Continuous"), Just("Integer"), Just("(obj:"), Just("="),
                Just("\u{e9}"), Just("# Rows"), Just("e o f"),
            ],
            0..60,
        ),
    ) {
        let text: String = words.iter().flat_map(|word| [*word, " "]).collect();
        swallow(format!("{}{text}", STARTS[start]).as_bytes());
        swallow(format!("{}{}", STARTS[start], words.concat()).as_bytes());
    }

    #[test]
    fn a_damaged_file_is_a_message_or_a_file(name in 0_usize..11, at in 0.0_f64..1.0, byte in any::<u8>()) {
        let names = ["highs_raw", "highs_sparse", "highs_pretty", "highs_glpk", "gurobi", "cplex", "cplex_pool", "scip", "cbc",
            "cbc_with_rows", "glpk"];
        let mut bytes = std::fs::read(folder(&format!("{}.sol", names[name]))).unwrap();
        let at = (at * bytes.len() as f64) as usize;
        swallow(&bytes[..at]);
        bytes[at] = byte;
        swallow(&bytes);
    }
}
