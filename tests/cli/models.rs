//! Tests of models for other solvers: export, a solution by another solver, and its import as a plan.

use super::support::Place;
use lightbay_highs::event::NoListener;
use lightbay_highs::file::{ModelFormat, read};
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;
use std::fmt::Write as _;

/// Exports the model of tiny4 as `tiny4.FORMAT`.
pub(super) fn export(place: &Place, format: &str) {
    let name = format!("tiny4.{format}");
    place
        .run(&["export", "preset:tiny4", "--to", format, "--set", "method=delta-select", "-o", &name])
        .done();
}

/// Solves a model file; returns the objective, and the name and value of each column, as in a solution file of Gurobi.
pub(super) fn solution(place: &Place, format: ModelFormat) -> (f64, Vec<(String, f64)>) {
    let text = place.read(&format!("tiny4.{}", format.extension()));
    let model = read(text.as_bytes(), format).unwrap();
    let solved = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
    let values = solved.values.unwrap();
    (solved.objective.unwrap(), model.column_names.iter().cloned().zip(values).collect())
}

fn gurobi(objective: f64, values: &[(String, f64)]) -> String {
    let mut text = format!("# Solution for model tiny4\n# Objective value = {objective}\n");
    for (name, value) in values {
        let _ = writeln!(text, "{name} {value}");
    }
    text
}

#[test]
fn a_model_goes_out_and_its_solution_comes_back_as_a_plan() {
    let place = Place::new();
    export(&place, "mps");
    export(&place, "lp");
    assert_eq!(place.files(), ["tiny4.lp", "tiny4.lp.names.json", "tiny4.mps", "tiny4.mps.names.json"]);
    let names = place.json("tiny4.mps.names.json");
    assert_eq!(
        (names["schema"].as_str(), names["method"].as_str()),
        (Some("lightbay.names/1"), Some("delta-select"))
    );
    assert_eq!(names["scenario"]["schema"], "lightbay.scenario/1");
    let (objective, values) = solution(&place, ModelFormat::Mps);
    let (in_lp, _) = solution(&place, ModelFormat::Lp);
    assert!((objective - in_lp).abs() <= 1e-6 * objective.abs().max(1.0), "{objective} {in_lp}");
    place.write("tiny4.sol", gurobi(objective, &values));

    let said = place.run(&["import", "sol", "tiny4.sol", "tiny4.mps.names.json", "-o", "plan.json"]).done();
    assert!(
        said.out.contains("solution of Gurobi") && said.out.contains("no bound is claimed"),
        "{}",
        said.out
    );
    place.run(&["check", "plan.json"]).done().prints(&["0 violations", "delta-select claims no bound"]);
    let plan = place.json("plan.json");
    assert_eq!(
        (plan["method"].as_str(), plan["provenance"]["solver"].as_str()),
        (Some("delta-select"), Some("Gurobi"))
    );
    assert!(plan["objective"]["bound"].is_null() && plan["status"] == "feasible");
    // The same from the scenario instead of the names, and from standard input.
    let again = ["import", "sol", "-", "preset:tiny4", "--set", "method=delta-select"];
    let other: serde_json::Value = place.feed(&again, place.read("tiny4.sol").as_bytes()).done().json();
    // They come from other files.
    let without_import = |mut plan: serde_json::Value| {
        plan["provenance"].as_object_mut().unwrap().remove("import");
        plan
    };
    assert_eq!(without_import(other), without_import(plan.clone()));
    // A plan can be asked about again: its own method and parameters.
    place.run(&["export", "plan.json", "--to", "mps", "-o", "again.mps"]).done();
    assert_eq!(place.read("again.mps"), place.read("tiny4.mps"));
    let document = place.run(&["import", "sol", "tiny4.sol", "plan.json", "--json"]).done().json();
    assert!(document["scenario"].is_null() && document["plan"]["schema"] == "lightbay.plan/1");
    assert_eq!(document["summary"]["columns_left_out"], 0);
}

/// Solutions of an LP file in the formats of CBC and GLPK: the constant of the objective is a column in them, and GLPK
/// identifies columns by number.
#[test]
fn a_solution_of_an_lp_file_comes_back_without_the_column_of_its_constant() {
    let place = Place::new();
    export(&place, "lp");
    let names = place.json("tiny4.lp.names.json");
    assert_eq!(names["columns"]["constant_term"], "constant of the objective, fixed at 1");
    let import = |text: &str| {
        place.write("tiny4.sol", text);
        place.run(&["import", "sol", "tiny4.sol", "tiny4.lp.names.json", "-o", "plan.json", "--force"])
    };
    let cbc =
        "Optimal - objective value 450.42422849\n      2 constant_term          1             450.42423\n";
    let said = import(cbc).done();
    assert!(
        said.out.contains("2 not in the file and taken as zero, as CBC leaves out zeros"),
        "{}",
        said.out
    );
    let value = place.json("plan.json")["objective"]["value"].as_f64().unwrap();
    assert!((value - 0.450_424_228_492_295).abs() < 1e-12, "{value}");
    let glpk = "c Problem: m\ns mip 1 3 o 450.424228492295\ni 1 1\nj 1 0\nj 2 0\nj 3 1\ne o f\n";
    import(glpk).done();
    assert_eq!(place.json("plan.json")["objective"]["value"].as_f64(), Some(value));
    import(&cbc.replace("  1  ", "  2  ")).exit(2).says(&["'constant_term' is 2, but 1 in the model"]);
    import(&glpk.replace("j 3 1", "j 3 0")).exit(2).says(&["column 3, but the model has 2"]);
}

/// A method that proves no bound gives a heuristic plan, which `check` accepts.
#[test]
fn the_plan_of_a_solution_passes_the_check_of_plan_files() {
    let place = Place::new();
    let export = ["export", "preset:tiny4", "--to", "mps", "--set", "method=delta-fixed-step"];
    place.run(&[&export[..], &["-o", "tiny4.mps"]].concat()).done();
    let (objective, values) = solution(&place, ModelFormat::Mps);
    place.write("tiny4.sol", gurobi(objective, &values));
    place.run(&["import", "sol", "tiny4.sol", "tiny4.mps.names.json", "-o", "plan.json"]).done();
    assert_eq!(place.json("plan.json")["status"], "heuristic");
    place.run(&["check", "plan.json"]).done().prints(&["0 violations"]);
}

#[test]
fn standard_output_gets_the_model_alone_and_a_folder_gets_both_files() {
    let place = Place::new();
    export(&place, "mps");
    let bare = ["export", "preset:tiny4", "--to", "mps", "--set", "method=delta-select"];
    let ran = place.run(&bare).done().says(&["tiny4.delta-select.mps.names.json", "-o"]);
    assert_eq!(ran.out, place.read("tiny4.mps"), "the same bytes every time");
    std::fs::create_dir(place.path("out")).unwrap();
    place
        .run(&[&bare[..], &["-o", "out"]].concat())
        .done()
        .prints(&["out/tiny4.delta-select.mps.names.json"]);
    // Nothing is written if one of the two is in the way.
    std::fs::remove_file(place.path("tiny4.mps")).unwrap();
    place
        .run(&[&bare[..], &["-o", "tiny4.mps"]].concat())
        .exit(2)
        .says(&["tiny4.mps.names.json: exists already"]);
    assert!(!place.path("tiny4.mps").exists());
}

#[test]
fn what_no_model_can_be_made_of_is_said_with_what_is_possible() {
    let place = Place::new();
    let export = |settings: &[&str]| {
        let mut arguments = vec!["export", "preset:tiny4", "--to", "lp", "--set", "method=delta-select"];
        for setting in settings {
            arguments.extend(["--set", setting]);
        }
        place.run(&arguments)
    };
    export(&["method=delta-selct"])
        .exit(2)
        .says(&["method 'delta-selct' does not exist for kind training", "delta-select"]);
    export(&["method=delta-fast"]).exit(2).says(&[
        "method 'delta-fast' has no model",
        "use one of ",
        "delta-select",
    ]);
    export(&["time_limit_s=3"]).exit(2).says(&["time_limit_s: does not change the model", "leave it out"]);
    export(&["micro_batchs=3"]).exit(2).says(&["did you mean 'micro_batches'?"]);
    export(&["ports_per_pod=1"]).exit(2).says(&["port"]);
    let wider = export(&["micro_batches=2"]).done().out;
    assert_ne!(wider, export(&[]).done().out, "knobs of the scenario change the model");
}

#[test]
fn solutions_that_do_not_fit_are_refused_with_file_line_and_value() {
    let place = Place::new();
    export(&place, "mps");
    let (objective, values) = solution(&place, ModelFormat::Mps);
    let import = |text: &str| {
        place.write("bad.sol", text);
        place.run(&["import", "sol", "bad.sol", "tiny4.mps.names.json", "-o", "plan.json"])
    };
    let good = gurobi(objective, &values);
    let first = &values[0].0;
    import(&gurobi(objective * 0.9, &values))
        .exit(2)
        .says(&["bad.sol: line 2: the file claims the objective"]);
    import(&format!("{good}nobody 1\n")).exit(2).says(&["bad.sol: line", "the model has no column 'nobody'"]);
    import(&format!("{good}{first} 1\n")).exit(2).says(&[&format!("gives '{first}' a second value")]);
    import(&gurobi(objective, &values[1..])).exit(2).says(&["has no value for 1 column", first]);
    import(&format!("{good}{first} nan\n")).exit(2).says(&["the value 'nan'", "is not a finite number"]);
    import("Infeasible - objective value 0.1\n")
        .exit(2)
        .says(&["CBC says 'Infeasible'", "no feasible point"]);
    import("hello")
        .exit(2)
        .says(&["bad.sol: this is none of the known formats", "HiGHS, Gurobi, CPLEX, SCIP, CBC or GLPK"]);
    import(&place.read("tiny4.mps")).exit(2).says(&["this is a model for a solver", "solve the model first"]);
    assert!(!place.path("plan.json").exists());

    place.write("good.sol", &good);
    place
        .run(&["import", "sol", "good.sol"])
        .exit(2)
        .says(&["none of the files says which model was solved", ".names.json"]);
    place.run(&["import", "sol", "tiny4.mps.names.json"]).exit(2).says(&["none of the files is a solution"]);
    let names = ["import", "sol", "good.sol", "tiny4.mps.names.json"];
    place
        .run(&[&names[..], &["--set", "tp=2"]].concat())
        .exit(2)
        .says(&["is already in tiny4.mps.names.json"]);
    place
        .run(&[&names[..], &["preset:tiny4"]].concat())
        .exit(2)
        .says(&["preset:tiny4: is given in addition to"]);
    place
        .run(&["import", "sol", "good.sol", "preset:tiny8", "--set", "method=delta-select"])
        .exit(2)
        .says(&["good.sol"]);
    let mut changed = place.json("tiny4.mps.names.json");
    changed["scenario"]["job"]["run"]["micro_batches"] = 2.into();
    place.write("changed.json", changed.to_string());
    place
        .run(&["import", "sol", "good.sol", "changed.json"])
        .exit(2)
        .says(&["scenario_sha256", "export the model again"]);
    let mut changed = place.json("tiny4.mps.names.json");
    let columns = changed["columns"].as_object_mut().unwrap();
    columns.insert(first.clone(), "something else".into());
    place.write("changed.json", changed.to_string());
    place
        .run(&["import", "sol", "good.sol", "changed.json"])
        .exit(2)
        .says(&["'something else' in the file and"]);
}

#[test]
fn formats_of_models_are_listed_and_the_solver_is_named() {
    let place = Place::new();
    place.run(&["methods", "--formats"]).done().prints(&[
        "mps (.mps, of a scenario or plan)",
        "lp (.lp",
        "sol (.sol",
    ]);
    place.run(&["info"]).done().prints(&["HiGHS 1.", "HiPO"]);
}

/// Files that highspy 1.16.0 wrote for these models: raw, sparse, stopped at a gap, and with every column at zero.
#[test]
fn solutions_of_highs_1_16_become_plans() {
    let place = Place::new();
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs/solutions/highs_1.16");
    for (preset, method, model) in [
        ("crossconnect-example", "lumos-exact", "example.mps"),
        ("tiny4", "delta-select", "tiny4.mps"),
        ("megatron_177b", "delta-select", "megatron.mps"),
    ] {
        let method = format!("method={method}");
        let subject = format!("preset:{preset}");
        place.run(&["export", &subject, "--to", "mps", "--set", &method, "-o", model]).done();
    }
    for (name, model, value, columns) in [
        ("example-raw", "example", 2.0, "24 columns of the model of lumos-exact, all in the file"),
        ("example-sparse", "example", 2.0, "16 not in the file and taken as zero"),
        ("megatron-gap", "megatron", 12.837_166_818_111, "8 not in the file and taken as zero"),
        ("tiny4-sparse", "tiny4", 0.450_424_228_492, "2 not in the file and taken as zero"),
    ] {
        let file = folder.join(format!("{name}-1.16.sol")).display().to_string();
        let names = format!("{model}.mps.names.json");
        place.run(&["import", "sol", &file, &names, "-o", "p.json", "--force"]).done().prints(&[columns]);
        let plan = place.json("p.json");
        let found = plan["objective"]["value"].as_f64().unwrap();
        assert!((found - value).abs() < 1e-9 && plan["objective"]["bound"].is_null(), "{name}: {found}");
    }
    let file = folder.join("tiny4-sparse-1.16.sol").display().to_string();
    place.run(&["import", "sol", &file, "example.mps.names.json", "-o", "q.json"]).exit(2);
}

/// Two pods have A ports only, so no circuit can connect them in any orientation, and the scenario has no model.
#[test]
fn circuits_that_fit_in_no_orientation_have_no_model() {
    let place = Place::new();
    place.write(
        "apart.json",
        r#"{"schema":"lightbay.scenario/1","kind":"crossconnect","name":"apart","pods":3,"ocs_count":1,"wiring":"two_sided",
            "ports_a":[[2],[2],[0]],"ports_b":[[0],[0],[2]],"logical_circuits":[[0,1,1],[1,0,1],[1,1,0]]}"#,
    );
    let exact = ["--set", "method=lumos-exact", "--set", "orientation=fixed"];
    let ran = place
        .run(&[&["export", "apart.json", "--to", "mps", "-o", "apart.mps"], &exact[..]].concat())
        .exit(2);
    let ran = ran.says(&[
        "logical_circuits: exceed the ports in every orientation, because the ports of pods 0, 1 on switches",
    ]);
    assert!(!ran.err.contains("orientation=joint"), "{}", ran.err);
    let fixed = ["--method", "lumos-exact", "--set", "orientation=fixed", "-o", "p.json"];
    place.run(&[&["solve", "apart.json"], &fixed[..]].concat()).exit(4).says(&["infeasible"]);
    place.run(&["solve", "apart.json", "-o", "p.json"]).exit(4).says(&["infeasible"]);
}
