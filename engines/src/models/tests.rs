//! Points of a small model. The solution files of all solvers under `tests/resources` belong to this model.

use super::point::{Point, PointNames, point};
use lightbay_formats::Limits;
use lightbay_formats::solutions::{SolutionFile, read};
use lightbay_highs::model::Model;
use std::path::Path;

/// Model that minimises the weighted number of circuits plus 0.3 times the waiting. The optimum is 5.18, and 5.1 in the
/// LP relaxation.
fn model() -> Model {
    let mut model = Model::new("tiny");
    let short = model.integer("short circuits", 0.0, 3.0, 1.0);
    let long = model.integer("long circuits", 0.0, 2.0, 2.0);
    let spare = model.integer("spare circuits", 0.0, 2.0, 5.0);
    let wait = model.column("waiting", 0.0, 1.0, 0.3);
    model.at_most("ports of pod 1", 4.0, [(short, 1.0), (long, 1.0), (spare, 1.0)]);
    model.at_least("need of pod 2", 5.3, [(short, 1.0), (long, 2.0), (wait, 0.5)]);
    model
}

fn names() -> PointNames<'static> {
    PointNames { columns: vec!["c1", "c2", "c3", "t4"], rows: ["ports_1", "need_2"].into() }
}

fn parsed(text: &str) -> SolutionFile {
    read(text.as_bytes(), &Limits::default()).unwrap()
}

fn taken(text: &str) -> Result<Point, String> {
    point(&parsed(text), &model(), &names(), false).map_err(|problems| problems.to_string())
}

fn refused(text: &str) -> String {
    taken(text).unwrap_err()
}

#[test]
fn files_of_all_solvers_are_points_of_the_model() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/resources/inputs/solutions");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The linear programs have fractional circuits.
        if path.is_dir() || path.to_string_lossy().ends_with("_lp.sol") {
            continue;
        }
        let file = read(std::fs::read(&path).unwrap().as_slice(), &Limits::default()).unwrap();
        if path.ends_with("highs_glpk.sol") {
            // HiGHS counts the objective among the rows there; columns are numbered alike.
            assert_eq!(file.entries.len(), 4);
        }
        let found = point(&file, &model(), &names(), false)
            .unwrap_or_else(|problems| panic!("{}: {problems}", path.display()));
        assert!((found.objective - 5.18).abs() < 1e-9, "{}: {found:?}", path.display());
        assert_eq!(found.left_out, usize::from(file.dialect.omits_zeros() && file.entries.len() == 3));
        seen += 1;
    }
    assert!(seen >= 11, "{seen} files");
}

#[test]
fn what_does_not_belong_together_is_said_with_line_and_value() {
    let all = "c1 1\nc2 2\nc3 0\nt4 0.6\n";
    assert_eq!(taken(&format!("# Solution\n{all}")).unwrap().values, [1.0, 2.0, 0.0, 0.6]);
    for (text, words) in [
        (format!("{all}c9 1\n"), "line 5: the model has no column 'c9'; did you mean 'c1'?"),
        (format!("{all}c2 1\n"), "line 5: gives 'c2' a second value, 1; line 2 gives the first"),
        (
            format!("# Objective value = 4.9\n{all}"),
            "line 1: the file claims the objective 4.9, but its values give 5.18",
        ),
        (
            "c1 1\nc2 2\nt4 0.6\n".to_owned(),
            "has no value for 1 column, the first of them 'c3' (spare circuits)",
        ),
        ("c1 1\nc2 2.2\nc3 0\nt4 0.6\n".to_owned(), "long circuits is 2.2, not a whole number"),
        ("c1 1\nc2 2\nc3 0\nt4 0.5\n".to_owned(), "need of pod 2 is 5.25, below its lower bound 5.3"),
        ("c1 4\nc2 2\nc3 0\nt4 0.6\n".to_owned(), "short circuits is 4, above its upper bound 3"),
    ] {
        let problems = refused(&text);
        assert!(problems.contains(words), "{text}\n{problems}");
    }
    let numbered = "c Problem: m\ns mip 1 5 o 5.18\nj 5 1\ne o f\n";
    assert!(refused(numbered).contains("gives a value to column 5, but the model has 4 columns"));
}

#[test]
fn a_file_without_a_point_says_what_the_solver_said() {
    let problems = refused("solution status: infeasible\nno solution available\n");
    assert!(
        problems.contains("line 2: SCIP says 'infeasible', so the file has no feasible point"),
        "{problems}"
    );
}

#[test]
fn whole_numbers_may_be_off_by_the_tolerance_of_a_solver() {
    let found = taken("c1 1.000004\nc2 1.9999995\nc3 -1e-9\nt4 0.6\n").unwrap();
    assert_eq!(found.values, [1.0, 2.0, 0.0, 0.6]);
    assert!((found.rounded_by - 4e-6).abs() < 1e-12);
}

#[test]
fn zeros_are_assumed_only_where_the_solver_leaves_them_out_and_may_be() {
    let scip = "objective value: 5.18\nc1 1 (obj:1)\nc2 2 (obj:2)\nt4 0.6 (obj:0.3)\n";
    assert_eq!(taken(scip).unwrap().left_out, 1);
    let strict = point(&parsed(scip), &model(), &names(), true).unwrap_err().to_string();
    assert!(
        strict.contains("SCIP leaves out zeros; without --strict, missing values are taken as zero"),
        "{strict}"
    );
}
