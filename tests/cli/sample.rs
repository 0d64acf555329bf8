//! Tests that a new kind needs only its own file and a line in the list of kinds: the commands solve, check, show,
//! compare, sweep and export then work with it.

use crate::support::Place;

fn solved(place: &Place, arguments: &[&str], to: &str) {
    let mut all = vec!["solve", "preset:sample-5", "-o", to];
    all.extend(arguments);
    place.run(&all).done();
}

#[test]
fn its_plans_are_solved_proven_and_checked() {
    let place = Place::new();
    solved(&place, &[], "best.json");
    let plan = place.json("best.json");
    assert_eq!(plan["kind"], "sample");
    assert_eq!(plan["status"], "optimal");
    // 8, 16, 24, 32 and 40 ms of sending, the shortest first.
    let value = plan["objective"]["value"].as_f64().unwrap();
    assert!((value - (8.0 + 24.0 + 48.0 + 80.0 + 120.0) / 5.0 * 1e-3).abs() < 1e-12, "{value}");
    let checked = place.run(&["check", "best.json"]).done();
    let checked = format!("{}{}", checked.out, checked.err);
    assert!(checked.contains("mean end"), "{checked}");
    let mut forged = plan.clone();
    forged["result"]["order"] = serde_json::json!([4, 3, 2, 1, 1]);
    place.write("forged.json", forged.to_string());
    let refused = place.run(&["check", "forged.json"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
}

#[test]
fn its_sections_are_shown_whole_one_by_one_and_as_data() {
    let place = Place::new();
    solved(&place, &[], "best.json");
    let shown = place.run(&["show", "best.json"]).done().out;
    for heading in ["Link", "Order, 3 of 5 transfers", "Timeline", "Waits", "Progress: Curve", "longest wait"]
    {
        assert!(shown.contains(heading), "{heading} is missing:\n{shown}");
    }
    let waits = place.run(&["show", "best.json", "--section", "waits"]).done().out;
    assert!(waits.contains("transfer 4") && waits.contains("32.0"), "{waits}");
    let data: serde_json::Value = serde_json::from_str(
        &place.run(&["show", "best.json", "--section", "timeline", "--json"]).done().out,
    )
    .unwrap();
    let text = data.to_string();
    assert!(text.contains("\"lane\":\"link\"") && text.contains("\"start_s\":0.008"), "{text}");
    let absent = place.run(&["show", "preset:sample-5", "--section", "order"]);
    assert!(absent.err.contains("this section needs a plan"), "{}", absent.err);
}

#[test]
fn its_plans_are_compared_and_swept_by_its_metrics() {
    let place = Place::new();
    solved(&place, &[], "best.json");
    solved(&place, &["--set", "passes=1"], "first.json");
    let compared = place.run(&["compare", "first.json", "best.json"]).done().out;
    assert!(compared.contains("mean end") && compared.contains("longest wait"), "{compared}");
    let swept = place.run(&["sweep", "preset:sample-5", "--over", "bandwidth_gbps=100,200"]).done().out;
    assert!(swept.contains("56") && swept.contains("28"), "half the time at twice the rate:\n{swept}");
}

#[test]
fn its_plans_are_exported_as_json_tables_a_report_and_its_own_format() {
    let place = Place::new();
    solved(&place, &[], "best.json");
    let export = |format: &str, name: &str, more: &[&str]| {
        let mut all = vec!["export", "best.json", "--to", format, "-o", name];
        all.extend(more);
        place.run(&all).done();
        place.read(name)
    };
    assert_eq!(export("order", "order.txt", &[]).lines().next(), Some("transfer 4"));
    let report = export("markdown", "report.md", &[]);
    assert!(report.contains("## Order") && report.contains("| transfer 0 |"), "{report}");
    let table = export("csv", "waits.csv", &["--set", "table=waits"]);
    assert!(table.starts_with(",transfer 4") || table.contains("transfer 4"), "{table}");
    assert!(export("json", "again.json", &[]).contains("\"kind\": \"sample\""));
}

#[test]
fn it_is_in_no_list() {
    let place = Place::new();
    for arguments in [&["presets"][..], &["methods"], &["new", "--help"], &["completions", "bash"]] {
        let listed = place.run(arguments);
        assert!(!listed.out.contains("sample-5") && !listed.out.contains("for tests"), "{}", listed.out);
    }
}
