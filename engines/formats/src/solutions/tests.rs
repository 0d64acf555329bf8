use super::*;

fn read_text(text: &str) -> Result<SolutionFile, Problems> {
    read(text.as_bytes(), &Limits::default())
}

fn refused(text: &str) -> String {
    read_text(text).unwrap_err().to_string()
}

fn values(file: &SolutionFile) -> Vec<(&str, f64)> {
    let name = |entry: &SolutionEntry| match &entry.key {
        Key::Name(name) => name.clone(),
        Key::Place(place) => panic!("a place: {place}"),
    };
    file.entries.iter().map(|entry| (name(entry).leak() as &str, entry.value)).collect()
}

#[test]
fn comments_of_gurobi_may_be_missing() {
    let file = read_text("x 1\ny 2.5e-1\n").unwrap();
    assert_eq!((file.dialect, file.objective.clone(), file.status.clone()), (Dialect::Gurobi, None, None));
    assert_eq!(values(&file), [("x", 1.0), ("y", 0.25)]);
    let file = read_text("=obj= 12.5\nx 1\n").unwrap();
    assert_eq!(file.objective, Some(Stated { what: 12.5, line: 1 }));
}

#[test]
fn numbers_that_are_none_are_named_with_their_line() {
    let text = "# Objective value = nan\nx 1\ny inf\nz 1,5\n";
    let problems = refused(&format!("# Solution for model m\n{text}"));
    for words in [
        "line 2: the objective 'nan' is not a finite number",
        "line 4: the value 'inf' of 'y' is not a finite number",
        "line 5: the value '1,5' of 'z' is not a number",
    ] {
        assert!(problems.contains(words), "{problems}");
    }
}

#[test]
fn a_file_cut_short_says_so() {
    let highs = "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 1\n";
    assert!(refused(highs).contains("no section '# Columns'"));
    assert!(
        refused(&format!("{highs}# Columns 3\nx 1\n"))
            .contains("announces 3 columns, but the last 2 are missing")
    );
    assert!(refused("s mip 1 1 o 1\nj 1 1\n").contains("without 'e o f'"));
    let cplex = "<CPLEXSolution><variables><variable name=\"x\" value=\"1\"/>\n";
    assert!(refused(cplex).contains("ends without '</CPLEXSolution>'"));
}

#[test]
fn what_is_no_solution_is_called_by_its_name() {
    assert!(
        refused("NAME m\nROWS\n N cost\n").contains("this is a model for a solver; solve the model first")
    );
    assert!(refused("{\"schema\": \"lightbay.plan/1\"}").contains("this is a lightbay plan"));
    assert!(refused("hello").contains("none of the known formats"));
    assert!(refused("").contains("an empty file"));
}

#[test]
fn the_words_of_scip_without_a_solution() {
    let file = read_text("solution status: infeasible\nno solution available\n").unwrap();
    assert_eq!(file.no_point, Some(Stated { what: "infeasible".to_owned(), line: 2 }));
    let file = read_text("solution status: time limit reached\nobjective value: 7\nx 1 (obj:7)\n").unwrap();
    assert_eq!((file.no_point.clone(), values(&file)), (None, vec![("x", 1.0)]));
}

#[test]
fn attributes_of_cplex_may_hold_anything() {
    let text = "<?xml version=\"1.0\"?>\n<CPLEXSolution>\n<header\n objectiveValue=\"2\"\n \
                solutionStatusString='integer optimal, \"tolerance\" > 0'/>\n<variables><variable value='2' \
                name=\"a&lt;b &amp;amp; c>d\"/></variables></CPLEXSolution>";
    let file = read_text(text).unwrap();
    assert_eq!(file.status, Some(Stated { what: "integer optimal, \"tolerance\" > 0".to_owned(), line: 3 }));
    assert_eq!(values(&file), [("a<b &amp; c>d", 2.0)]);
}

#[test]
fn points_that_break_the_model_are_no_points() {
    let text = "Model status\nTime limit reached\n\n# Primal solution values\nInfeasible\nObjective 1\n# Columns 1\nx 1\n";
    let file = read_text(text).unwrap();
    assert_eq!(file.no_point.unwrap().what, "Time limit reached, primal solution: Infeasible");
    assert!(file.entries.is_empty());
}
