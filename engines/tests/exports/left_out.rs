//! Nothing is dropped without a word: every format says what it leaves out, and what it says reaches a person.

use super::support::{settings, solve};
use lightbay_engines::{
    AnyPlan, AnyScenario, Artifact, Input, Subject, convert, export, exporters, import, importers, kinds,
    preset, remarks,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Formats that hold all of a scenario or plan.
const WHOLE: &[&str] = &["json"];

/// A small plan of every kind.
fn plan(kind: &str) -> AnyPlan {
    match kind {
        "training" => solve(&preset("tiny4").unwrap(), "delta-fast", ""),
        "tpu" => solve(&preset("pt-4x4x8").unwrap(), "pt", ""),
        "collective" => solve(&preset("dgx1-allgather-200kb").unwrap(), "construct", ""),
        "moe" => solve(&preset("moe-small").unwrap(), "mfabric-swap", ""),
        _ => solve(&preset("crossconnect-example").unwrap(), "lumos-halving", ""),
    }
}

#[test]
fn every_format_says_what_it_leaves_out() {
    for kind in kinds() {
        for format in exporters(kind.name) {
            let whole = WHOLE.contains(&format.name);
            assert_eq!(format.leaves_out.is_empty(), whole, "{} {}", kind.name, format.name);
        }
    }
    for format in importers() {
        // Maps of ports and pods are taken over whole.
        let whole = ["port_map", "pod_map"].contains(&format.name);
        assert_eq!(format.leaves_out.is_empty(), whole, "{}", format.name);
    }
}

/// A figure of a plan that is in none of the files of a format belongs to what the format says it leaves out.
#[test]
fn figures_that_are_not_in_the_files_are_among_what_is_left_out() {
    for kind in kinds() {
        let plan = plan(kind.name);
        let value: Value = serde_json::from_slice(&plan.to_json().unwrap()).unwrap();
        for format in exporters(kind.name) {
            let Ok(files) = export(Subject::Plan(&plan), format.name, &[]) else { continue };
            let text: String =
                files.iter().map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).collect();
            // Figures with many digits stand for nothing else by chance.
            let metrics = value["metrics"].as_object().unwrap().iter();
            let objective = ("objective".to_owned(), value["objective"]["value"].to_string());
            let figures: Vec<(String, String)> = metrics
                .map(|(name, value)| (name.clone(), value.to_string()))
                .chain([objective])
                .filter(|(_, value)| value.len() > 8)
                .collect();
            let absent: Vec<&String> =
                figures.iter().filter(|(_, value)| !text.contains(value)).map(|(name, _)| name).collect();
            let said = remarks(Subject::Plan(&plan), &format);
            assert!(
                absent.is_empty() || said.iter().any(|line| line.starts_with("left out of this format: ")),
                "{} {} drops {absent:?} without a word",
                kind.name,
                format.name
            );
        }
    }
}

/// `(switch, A pod, B pod)` of every circuit that a table of cross-connects lists.
fn rows(file: &Artifact) -> BTreeSet<(u32, u32, u32)> {
    let text = String::from_utf8(file.bytes.clone()).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].parse().unwrap(), cells[2].parse().unwrap(), cells[4].parse().unwrap())
    };
    text.lines().skip(1).filter(|line| !line.starts_with('#')).map(row).collect()
}

/// A design of a pod goes to switches and comes back with every circuit where it was.
#[test]
fn a_pod_keeps_switch_and_port_of_every_circuit_through_all_formats() {
    for name in ["pt-4x4x8", "pdtt-4x4x8", "tpu-random-256"] {
        let scenario = preset(name).unwrap();
        let method = scenario.suited_method();
        let pod = solve(&scenario, method, "routing=none");
        let table = export(Subject::Plan(&pod), "circuits", &[]).unwrap();
        let text = String::from_utf8(table[0].bytes.clone()).unwrap();
        let designed: BTreeSet<(u32, u32, u32)> = text
            .lines()
            .skip(1)
            .map(|line| {
                let cells: Vec<u32> = line.split(',').take(5).map(|cell| cell.parse().unwrap()).collect();
                (cells[0], cells[3], cells[4])
            })
            .collect();
        let converted = convert("crossconnect", &[("from".to_owned(), pod.clone())], &[]).unwrap();
        let said = converted.notes.join("\n");
        assert!(said.contains("on 48 switches keep their switches and ports"), "{said}");
        assert!(said.contains("dropped from the plan: the routes and their virtual channels"), "{said}");
        let AnyScenario::Crossconnect(hall) = &converted.scenario else { panic!("another kind") };
        assert_eq!((hall.body.ocs_count as usize, hall.body.placed.len()), (48, designed.len()), "{name}");
        let laid = solve(&converted.scenario, "auto", "");
        let header = laid.header();
        assert_eq!((header.objective.value, header.objective.bound), (0.0, Some(0.0)), "{name}");
        let csv = export(Subject::Plan(&laid), "csv", &settings("full=true")).unwrap();
        assert_eq!(rows(&csv[0]), designed, "{name}");
        // Read back as what is installed, nothing is left to do.
        let files = [
            Input { name: "plan.json".to_owned(), bytes: laid.to_json().unwrap() },
            Input { name: "plan.csv".to_owned(), bytes: csv[0].bytes.clone() },
        ];
        let read = import("csv", &files, &[], false).unwrap();
        assert!(read.lines.iter().any(|line| line.starts_with("not taken over: ")), "{:?}", read.lines);
        let again = solve(&read.product.scenario(), "lumos-halving", "");
        assert!(
            export(Subject::Plan(&again), "csv", &[]).unwrap_err().to_string().contains("changes nothing")
        );
        for format in exporters("crossconnect") {
            let Ok(files) = export(Subject::Plan(&laid), format.name, &[]) else { continue };
            let own = files.iter().filter(|file| file.name.contains(".ocs-")).count();
            assert!(own == 0 || own == 96, "{name} {}: {own} files", format.name);
        }
    }
}

/// Refuses what does not fit a design of a pod, and says what is given up.
#[test]
fn a_pod_is_not_laid_elsewhere_without_a_word() {
    let pod = solve(&preset("pt-4x4x8").unwrap(), "pt", "routing=none");
    let plans = [("from".to_owned(), pod)];
    let refused = |text: &str| convert("crossconnect", &plans, &settings(text)).unwrap_err().to_string();
    assert!(
        refused("ocs_count=16")
            .contains("ocs_count: is 16, but the plan names the switch of every circuit and has 48")
    );
    assert!(refused("wiring=single_sided").contains("the circuits join the + ports"));
    let anew = convert("crossconnect", &plans, &settings("keep_ports=false ocs_count=16")).unwrap();
    let said = anew.notes.join("\n");
    assert!(said.contains("switches and ports of the 96 circuits in the plan are not kept"), "{said}");
    assert!(said.contains("from a pod to itself)"), "{said}");
    let trained = [("from".to_owned(), plan("training"))];
    let refused = convert("crossconnect", &trained, &settings("keep_ports=true")).unwrap_err().to_string();
    assert!(refused.contains("not its switch and ports"), "{refused}");
    let said = convert("crossconnect", &trained, &[]).unwrap().notes.join("\n");
    assert!(said.contains("dropped from the plan: the times and rates of the flows"), "{said}");
}
