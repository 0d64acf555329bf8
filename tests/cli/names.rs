//! Tests of names in files that contain control sequences: every format and message shows them as plain text.

use crate::support::Place;
use lightbay_core::kind::Depth;
use lightbay_core::problem::is_deceptive;
use lightbay_engines::{AnyFile, AnyPlan, AnyScenario, Subject, SubjectSort, export, exporters, read_file};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Hostile text: an escape sequence with ESC and with its one-character form, right-to-left override, line ends, quotes
/// and markup.
const HOSTILE: &str = "=x\u{1b}[2J\u{9b}31m\u{202e}\u{2028}\u{200b}\n\"'`<&>,;|\\\u{7}\u{7f}";

#[track_caller]
fn harmless(text: &str, what: &str) {
    let text = &text.replace("\r\n", "\n");
    let found = text.chars().find(|sign| *sign != '\n' && is_deceptive(*sign));
    let near = found.and_then(|sign| text.find(sign)).map(|at| {
        text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect::<String>()
    });
    assert!(found.is_none(), "{what}: {found:?} after {near:?}");
    // The name breaks a line nowhere.
    assert!(!text.lines().any(|line| line.trim_start().starts_with("\"'`<&>")), "{what}: a line is broken");
}

/// Replaces every name in a scenario by the hostile text.
fn renamed(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "name" => text.insert_str(0, HOSTILE),
                    Value::Array(names) if key == "pod_names" => {
                        for (index, name) in names.iter_mut().enumerate() {
                            *name = format!("{HOSTILE}{index}").into();
                        }
                    }
                    inner => renamed(inner),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(renamed),
        _ => {}
    }
}

/// Returns a scenario with hostile names, and a plan for it.
fn subjects(place: &Place, number: usize, scenario: &str, method: &str) -> (AnyScenario, AnyPlan) {
    let mut tree: Value = serde_json::from_str(scenario).unwrap();
    if tree["kind"] == "crossconnect" {
        let pods = tree["pods"].as_u64().unwrap();
        tree["pod_names"] = (0..pods).map(|pod| pod.to_string()).collect();
    }
    renamed(&mut tree);
    let (file, plan) = (format!("s{number}.json"), format!("p{number}.json"));
    place.write(&file, tree.to_string());
    for form in ["plain", "json"] {
        let ran = place
            .run(&["solve", &file, "--method", method, "--progress", form, "-o", &plan, "--force"])
            .done();
        harmless(&ran.err, "solve");
    }
    let stdout = place.run(&["solve", &file, "--method", method]).done();
    harmless(&stdout.out, "solve to standard output");
    (scenario_of(&place.path(&file)), plan_of(&place.path(&plan)))
}

fn scenario_of(path: &Path) -> AnyScenario {
    match read_file(fs::File::open(path).unwrap(), "s").unwrap() {
        AnyFile::Scenario(scenario) => scenario,
        AnyFile::Plan(_) => panic!("a plan"),
    }
}

fn plan_of(path: &Path) -> AnyPlan {
    match read_file(fs::File::open(path).unwrap(), "p").unwrap() {
        AnyFile::Plan(plan) => plan.check(Depth::Usual).plan.unwrap(),
        AnyFile::Scenario(_) => panic!("a scenario"),
    }
}

#[test]
fn names_arrive_as_text_in_every_format_and_message() {
    let place = Place::new();
    let instance = fs::read_to_string("tests/resources/inputs/toy_b.json").unwrap();
    let job = place.run(&["new", "tiny4"]).done().out;
    let pod = place.run(&["new", "tpu"]).done().out;
    let switches = place.run(&["new", "crossconnect-example"]).done().out;
    let mut formats = 0;
    for (number, (scenario, method)) in
        [(instance, "prop-alloc"), (job, "prop-alloc"), (pod, "pt"), (switches, "lumos-repair")]
            .into_iter()
            .enumerate()
    {
        let (scenario, plan) = subjects(&place, number, &scenario, method);
        for info in exporters(scenario.kind()) {
            let subjects = [
                (SubjectSort::Scenario, Subject::Scenario(&scenario)),
                (SubjectSort::Plan, Subject::Plan(&plan)),
            ];
            for (sort, subject) in subjects {
                if info.of != SubjectSort::Either && info.of != sort {
                    continue;
                }
                let what = format!("{} of a {sort:?} of {}", info.name, scenario.kind());
                match export(subject, info.name, &[]) {
                    Ok(artifacts) => {
                        for artifact in artifacts {
                            // Chakra traces are protobuf, in which a name is bytes of a stated length.
                            if Path::new(&artifact.name).extension().is_none_or(|extension| extension != "et")
                            {
                                harmless(&String::from_utf8(artifact.bytes).unwrap(), &what);
                            }
                            harmless(&artifact.name, &what);
                            assert!(
                                !artifact.name.contains(['/', '\n', '"', '<']),
                                "{what}: {}",
                                artifact.name
                            );
                            formats += 1;
                        }
                    }
                    Err(problems) => harmless(&problems.to_string(), &what),
                }
            }
        }
        let (s, p) = (format!("s{number}.json"), format!("p{number}.json"));
        for arguments in [
            &["show", s.as_str()][..],
            &["show", &p],
            &["show", &s, "--json"],
            &["show", &p, "--json"],
            &["check", &p],
            &["compare", &p, &p],
            &["compare", &p, &p, "--json"],
            &["compare", &p, &p, "--md"],
            &["compare", &p, &p, "--csv"],
        ] {
            let ran = place.run(arguments).done();
            harmless(&ran.out, &arguments.join(" "));
            harmless(&ran.err, &arguments.join(" "));
        }
    }
    assert!(formats > 40, "{formats}");
}
