use super::*;
use crate::scenario::presets;
use lightbay_core::clock::Deadline;
use lightbay_core::report::{Body, CellSign, json};
use serde_json::json;

fn scenario() -> Scenario<Crossconnect> {
    let body = presets::scenario("crossconnect-16-16-25").unwrap();
    Scenario::new("hall".to_owned(), body)
}

#[test]
fn a_hall_counts_its_ports_and_circuits() {
    let scenario = scenario();
    let report = CrossconnectReport::new(&scenario, None);
    let hall = json::section(&report.section("hall", Deadline::NEVER).unwrap());
    for (name, value) in [("pods", 16), ("ocs_count", 16), ("ports_a", 256), ("ports_b", 256)] {
        assert_eq!(hall[name], json!(value), "{name}");
    }
    assert_eq!(hall["wanted_circuits"], json!(scenario.body.wanted_circuits()));
}

#[test]
fn sections_of_plans_are_not_there_without_one() {
    let scenario = scenario();
    let report = CrossconnectReport::new(&scenario, None);
    for info in SECTIONS.iter().filter(|info| !["hall", "port_map"].contains(&info.name)) {
        let why = report.section(info.name, Deadline::NEVER).unwrap_err().to_string();
        let wanted = if info.off_objective { "no order of phases" } else { "only plans have this section" };
        assert!(why.contains(wanted), "{}: {why}", info.name);
    }
}

#[test]
fn what_is_changed_adds_up_over_switches_and_pairs() {
    let scenario = scenario();
    let target = crate::model::assignment::Assignment::default();
    let changes = crate::rollout::assemble::candidate(&scenario.body, &target).result;
    let report = CrossconnectReport::of(&scenario.body, Some(&changes));
    let sum = |section: &str, column: &str| -> u64 {
        let rows = json::section(&report.section(section, Deadline::NEVER).unwrap());
        rows.as_array().unwrap().iter().map(|row| row[column].as_u64().unwrap()).sum()
    };
    let totals = json::section(&report.section("totals", Deadline::NEVER).unwrap());
    for (column, total) in
        [("kept", "kept_circuits"), ("added", "added_circuits"), ("removed", "removed_circuits")]
    {
        assert_eq!(json!(sum("switches", column)), totals[total], "{column}");
        assert_eq!(json!(sum("pairs", column)), totals[total], "{column}");
    }
    assert_eq!(sum("batches", "removed"), sum("switches", "removed"));
    assert!(sum("switches", "removed") > 0);
    // What the items are made of adds up, too.
    let CrossconnectResult::Changes(found) = &changes else { panic!("no changes") };
    for (number, batch) in (1..).zip(&found.batches) {
        let rows = json::section(&report.detail("batches", number, Deadline::NEVER).unwrap());
        let ends = |row: &serde_json::Value| {
            ["removed_port_b", "added_port_b"].iter().filter(|end| row[**end].is_string()).count()
        };
        assert_eq!(rows.as_array().unwrap().iter().map(ends).sum::<usize>(), batch.changes.len());
    }
    assert!(report.detail("batches", 0, Deadline::NEVER).is_err());
    assert!(report.detail("switches", 16, Deadline::NEVER).is_err());
}

#[test]
fn a_switch_is_told_by_pods_and_by_ports() {
    let scenario = scenario();
    let target = crate::model::assignment::Assignment::default();
    let changes = crate::rollout::assemble::candidate(&scenario.body, &target).result;
    let report = CrossconnectReport::of(&scenario.body, Some(&changes));
    let CrossconnectResult::Changes(found) = &changes else { panic!("no changes") };
    let facts = ChangeFacts::of(&scenario.body, found);
    for (id, (ocs, switch)) in (0..).zip(found.ocs.iter().zip(&facts.switches)) {
        let section = report.detail("switches", id, Deadline::NEVER).unwrap();
        let written = json::section(&section);
        assert!(written.get("changed_ports").is_none(), "the ports that change are written once");
        let action = |port: &serde_json::Value, word: &str| port["action"] == word;
        let ports = written["ports"].as_array().unwrap();
        let count = |words: &[&str]| {
            ports.iter().filter(|port| words.iter().any(|word| action(port, word))).count() as u32
        };
        let told = (count(&["keep"]), count(&["add", "move"]), count(&["remove", "move"]));
        assert_eq!(told, (switch.keep, switch.add, switch.remove + switch.forced), "switch {id}");
        assert_eq!(
            section.remarks.len(),
            ocs.cross_connects.len() + words::port_legend(&scenario.body, id).len()
        );
        let Body::Matrix(matrix) = &section.blocks[0].body else { unreachable!("pods are a matrix") };
        let signs = matrix.signs.iter().filter(|sign| **sign != CellSign::None).count();
        let items = matrix.about.iter().filter(|about| about.item.is_some()).count();
        assert_eq!((signs, items), (switch.cells.len(), switch.cells.len()), "circuits can be chosen");
        if let Some(usual) = section.usual {
            let sign = matrix.signs[usual as usize];
            let changes = switch.cells.iter().any(|cell| cell.add + cell.remove > 0);
            assert_eq!(changes, matches!(sign, CellSign::Comes(_) | CellSign::Goes(_)), "switch {id}");
        }
    }
}
