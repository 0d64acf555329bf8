//! Tests of the features that scripts need: JSON objects with schemas, flat rows, quiet output, and flags in any
//! position.

use super::support::Place;
use serde_json::Value;

/// Checks an object against the schema that the program prints for it: the schema's name, all required keys, no other
/// keys unless the schema allows them.
fn fits(place: &Place, name: &str, document: &Value) {
    let schema = place.run(&["schema", name]).done().json();
    assert_eq!(document["schema"], schema["properties"]["schema"]["const"], "{name}");
    let keys = document.as_object().unwrap();
    for required in schema["required"].as_array().unwrap() {
        assert!(keys.contains_key(required.as_str().unwrap()), "{name}: {required} is missing");
    }
    let known = schema["properties"].as_object().unwrap();
    let open = schema["additionalProperties"].as_bool().unwrap_or(false);
    assert!(open || keys.keys().all(|key| known.contains_key(key)), "{name}: unknown keys in {keys:?}");
}

#[test]
fn every_command_that_says_something_says_it_as_json() {
    let place = Place::new();
    let solved = place.run(&["solve", "preset:tiny4", "-o", "plan.json", "--json"]).done().json();
    assert_eq!((solved["status"].as_str(), solved["exit_code"].as_u64()), (Some("optimal"), Some(0)));
    assert_eq!(solved["plan"]["objective"]["value"], solved["bounds"][0]["value"]);
    fits(&place, "solve", &solved);
    let checked = place.run(&["check", "plan.json", "--json"]).done().json();
    assert_eq!(checked["violations"], Value::Array(Vec::new()));
    fits(&place, "check", &checked);
    fits(&place, "info", &place.run(&["info", "--json"]).done().json());
    fits(&place, "presets", &place.run(&["presets", "--json"]).done().json());
    fits(&place, "config", &place.run(&["config", "--json"]).done().json());
    fits(&place, "sessions", &place.run(&["sessions", "--json"]).done().json());
    fits(&place, "new", &place.run(&["new", "tiny4", "-o", "job.json", "--json"]).done().json());
    let exported = place.run(&["export", "plan.json", "--to", "dot", "-o", "g.dot", "--json"]).done().json();
    assert_eq!(exported["files"], serde_json::json!(["g.dot"]));
    fits(&place, "export", &exported);
    fits(&place, "methods", &place.run(&["methods", "tpu", "--json"]).done().json());
    fits(&place, "keys", &place.run(&["keys", "--json"]).done().json());
    fits(&place, "glossary", &place.run(&["explain", "makespan", "--json"]).done().json());
    let shown = place.run(&["show", "plan.json", "--json"]).done().json();
    assert!(shown["training"].is_object());
    fits(&place, "show", &shown);
    fits(&place, "show", &place.run(&["show", "preset:tiny4", "--json"]).done().json());
    fits(&place, "compare", &place.run(&["compare", "plan.json", "plan.json", "--json"]).done().json());
    let swept = place.run(&["sweep", "preset:tiny4", "--over", "mfu=0.4,0.5", "--json"]).done().json();
    assert_eq!((&swept["axes"][0]["name"], &swept["rows"][1]["mfu"]), (&"mfu".into(), &0.5.into()));
    fits(&place, "sweep", &swept);
    let keys = place.run(&["schema", "config.toml"]).done().json();
    assert!(keys["properties"]["ui"].is_object() && keys["properties"]["keys"].is_object());
}

#[test]
fn a_broken_plan_is_reported_as_json_with_the_code_of_a_check() {
    let place = Place::new();
    place.plan("tiny4", "auto", "plan.json");
    let broken = place.read("plan.json").replace("\"status\": \"optimal\"", "\"status\": \"feasible\"");
    let mut plan: Value = serde_json::from_str(&broken).unwrap();
    plan["objective"]["value"] = 0.1.into();
    place.write("broken.json", plan.to_string());
    let found = place.run(&["check", "broken.json", "--json"]).exit(1).json();
    assert!(!found["violations"].as_array().unwrap().is_empty());
    assert!(found["violations"][0]["code"].is_string() && found["violations"][0]["message"].is_string());
}

#[test]
fn a_row_is_one_flat_line() {
    let place = Place::new();
    place.plan("tiny4", "auto", "plan.json");
    let out = place.run(&["show", "plan.json", "--row"]).done().out;
    assert_eq!(out.matches('\n').count(), 1);
    let row: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(row["schema"], "lightbay.row/1");
    assert!(row.as_object().unwrap().values().all(|value| !value.is_object() && !value.is_array()), "{row}");
    assert_eq!((row["scenario.bandwidth_gbps"].as_f64(), row["violations"].as_u64()), (Some(400.0), Some(0)));
    assert_eq!(row["value"], row["bound"]);
    let scenario = place.run(&["show", "preset:tiny4", "--row"]).done().json();
    assert!(scenario.get("value").is_none() && scenario["scenario.pp"].is_number());
}

#[test]
fn a_quiet_run_prints_errors_only() {
    let place = Place::new();
    place.plan("tiny4", "auto", "plan.json");
    place.run(&["solve", "plan.json", "-o", "loud.json"]).done().says(&["its scenario is solved"]);
    let quiet = place.run(&["solve", "plan.json", "-o", "again.json", "--quiet"]).done();
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
    place.run(&["--quiet", "solve", "preset:tiny5"]).exit(2).says(&["tiny5"]);
}

#[test]
fn a_written_plan_is_summed_up_in_one_line() {
    let place = Place::new();
    let ran = place.run(&["solve", "preset:tiny8", "-o", "plan.json"]).done();
    assert_eq!((ran.out.as_str(), ran.err.matches('\n').count()), ("", 1));
    assert!(
        ran.err.starts_with("lightbay: plan.json: makespan ") && ran.err.contains("optimal"),
        "{}",
        ran.err
    );
}

#[test]
fn misplaced_options_get_advice_that_helps() {
    let place = Place::new();
    let ran = place.run(&["solve", "preset:tiny8", "--color", "never"]).exit(2);
    assert!(ran.err.contains("--color belongs to the workbench; leave it out"), "{}", ran.err);
    let ran = place.run(&["new", "training", "--preset", "tiny8"]).exit(2);
    assert!(ran.err.contains("--preset") && !ran.err.contains("as a value"), "{}", ran.err);
    place
        .run(&["new", "session:week"])
        .exit(2)
        .says(&["neither a preset nor a kind", "lightbay solve session:week"]);
    place.run(&["presets", "--config", "none.toml"]).exit(2).says(&["'none.toml' does not exist"]);
    for command in ["show", "export", "keys"] {
        place.run(&[command, "--help"]).done().prints(&["Exit codes: 0 done"]);
    }
}

#[test]
fn common_flags_stand_before_or_after_the_command() {
    let place = Place::new();
    place.run(&["--data-dir", "d", "sessions"]).done().says(&["no sessions in d/sessions"]);
    place.run(&["sessions", "--data-dir", "d"]).done().says(&["no sessions in d/sessions"]);
    let plan = place.run(&["--threads", "1", "solve", "preset:tiny4"]).done().json();
    assert_eq!(plan["threads"], 1);
    let refused = place.run(&["--threads", "2", "check", "plan.json"]).exit(2);
    refused.says(&["--threads before the command `check` belongs to the workbench"]);
    place.run(&["job.json", "solve", "preset:tiny4"]).exit(2).says(&["before the command `solve`"]);
}

#[test]
fn json_about_a_file_needs_a_file() {
    let place = Place::new();
    for command in
        [&["solve", "preset:tiny4"][..], &["new", "tiny4"], &["export", "preset:tiny4", "--to", "instance"]]
    {
        place
            .run(&[command, &["-o", "-", "--json"]].concat())
            .exit(2)
            .says(&["--json", "name a file with -o"]);
    }
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/resources/inputs/milp/two.lp");
    place.run(&["solve", model, "-o", "two.sol", "--json"]).exit(2).says(&["--json", "has no effect"]);
}

#[test]
fn counts_take_multiples_and_tokens_only_clear_ones() {
    let place = Place::new();
    let job = place.run(&["new", "tiny4", "--set", "seq=4Ki"]).done().out;
    assert!(job.contains("4096"));
    place.run(&["new", "tiny4", "--set", "seq=4k"]).exit(2).says(&["'4k' is not valid", "4Ki for 4096"]);
    place.run(&["new", "tiny4", "--set", "bandwidth_gbps=400us"]).exit(2).says(&["in Gb/s"]);
}
