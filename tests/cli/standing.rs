//! Tests that all commands describe the bounds on a plan in the same words, that plans are compared with the scenario
//! that the user gave, and that plans are ranked only if they solve the same problem.

use super::support::Place;
use serde_json::{Value, json};

fn solve(place: &Place, scenario: &str, method: &str, name: &str) -> Value {
    place.run(&["solve", scenario, "--method", method, "-o", name, "--force"]).done();
    place.json(name)
}

/// All outputs describe the bound in the same words: for a verified bound, a claimed bound, a partly verified bound,
/// and a plan without a bound.
#[test]
fn every_printer_says_the_same_of_a_bound() {
    let place = Place::new();
    let gap = |value: f64, bound: f64| {
        let percent = 100.0 * (value - bound).abs() / value;
        if percent < 9.95 { format!("{percent:.2} %") } else { format!("{percent:.1} %") }
    };
    let claimed = solve(&place, "preset:crossconnect-16-8-25", "lumos-exact", "claimed.json");
    let value = claimed["objective"]["value"].as_f64().unwrap();
    let counted = claimed["metrics"]["lower_bound_removed_circuits"].as_f64().unwrap();
    assert!(claimed["objective"]["bound"] == claimed["objective"]["value"] && counted < value, "{claimed}");
    let wide = gap(value, counted);
    solve(&place, "preset:tiny4", "auto", "verified.json");
    solve(&place, "preset:ring8-allgather-1mb", "teccl-milp", "part.json");
    solve(&place, "preset:tiny4", "prop-alloc", "unproven.json");
    for (name, status, words, brief) in [
        (
            "verified",
            "optimal",
            "verified bound 0.450424 s, gap 0.00 %".to_owned(),
            "0.00 % verified".to_owned(),
        ),
        (
            "claimed",
            "optimal, claimed and not yet verified",
            format!(
                "verified bound {counted}, gap {wide}; claimed by lumos-exact, not yet verified: {value}, gap 0.00 %"
            ),
            format!("{wide} verified (0.00 % claimed)"),
        ),
        (
            "part",
            "optimal for schedules of whole chunks of this size in epochs of 2.5 us",
            "; verified 20.000 µs for schedules of whole chunks of this size in epochs of 2.5 us, gap 0.00 %"
                .to_owned(),
            " verified (0.00 % verified for some plans)".to_owned(),
        ),
        ("unproven", "heuristic", "prop-alloc claims no bound".to_owned(), String::new()),
    ] {
        let file = format!("{name}.json");
        let shown = place.run(&["show", &file]).done().out;
        let row = |label: &str| shown.lines().find(|line| line.starts_with(label)).unwrap().trim().to_owned();
        assert!(row("  bound ").ends_with(&words), "{name}: {shown}");
        assert!(row("  status ").ends_with(status), "{name}: {shown}");
        let checked = place.run(&["check", &file]).done().out;
        let after = words.split_once(' ').unwrap().1;
        assert!(
            checked.contains(after.split_once("bound ").map_or(after, |(_, value)| value)),
            "{name}: {checked}"
        );
        for args in [&["compare", &file, &file][..], &["compare", &file, &file, "--md"]] {
            let compared = place.run(args).done().out;
            assert!(compared.contains(&brief), "{name}: {compared}");
        }
        let csv = place.run(&["compare", &file, &file, "--csv"]).done().out;
        assert!(csv.contains(&words), "{name}: {csv}");
        for format in ["markdown", "html"] {
            let report = place.run(&["export", &file, "--to", format, "-o", "-"]).done().out;
            assert!(report.contains(&format!("Status: {status}.")), "{name} {format}");
            // Training repeats the proof for reviews, which then says so.
            if name != "unproven" {
                assert!(report.contains(&words), "{name} {format}");
            }
            assert_eq!(report.contains("Proven optimal"), status == "optimal", "{name} {format}");
        }
        let document = place.run(&["show", &file, "--json"]).done().json();
        let bounds = document["bounds"].as_array().unwrap();
        assert_eq!(bounds.is_empty(), words.starts_with("prop-alloc"), "{name}: {bounds:?}");
    }
    // An order of phases removes no circuit, which is no proof that none has to go.
    let order = solve(&place, "preset:crossconnect-16-8-25", "all-to-all-order", "order.json");
    assert_eq!((&order["objective"]["value"], &order["objective"]["bound"]), (&json!(0.0), &Value::Null));
    for args in
        [&["show", "order.json"][..], &["check", "order.json"], &["compare", "order.json", "claimed.json"]]
    {
        let told = place.run(args).done().out;
        assert!(
            !told.contains("verified bound 0") && !told.contains("verified bound on removed 0"),
            "{told}"
        );
    }
    for (name, method) in [("order.json", "all-to-all-order"), ("pooled.json", "pooled")] {
        if name == "pooled.json" {
            solve(&place, "preset:moe-small", method, name);
        }
        let report = place.run(&["export", name, "--to", "markdown", "-o", "-"]).done().out;
        let head = format!("Status heuristic: {method} solves a different problem (it ");
        assert!(report.contains(&head) && !report.contains("Proven optimal"), "{report}");
    }
    let picture = place.run(&["export", "verified.json", "--to", "svg", "-o", "-"]).done().out;
    assert!(
        picture.contains("Proven optimal: verified bound on makespan 0.450424 s, gap 0.00 %"),
        "{picture}"
    );
    let rewiring = place.run(&["show", "claimed.json", "--section", "rewiring"]).done().out;
    let told = format!("{value} removed, claimed optimal, gap {wide} verified (0.00 % claimed)");
    assert!(rewiring.contains(&told), "{rewiring}");
}

#[test]
fn a_plan_is_held_against_the_scenario_that_was_asked_for() {
    let place = Place::new();
    solve(&place, "preset:tiny4", "auto", "plan.json");
    place
        .run(&["check", "plan.json", "--scenario", "preset:tiny4"])
        .done()
        .prints(&["0 violations", "the plan is for the scenario of preset:tiny4"]);
    // A plan stands for its scenario, and a name is no part of the question.
    place.run(&["check", "plan.json", "--scenario", "plan.json"]).done();
    place.run(&["new", "preset:tiny4", "--set", "bandwidth_gbps=800", "-o", "fast.json"]).done();
    let ran = place.run(&["check", "plan.json", "--scenario", "fast.json"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.out,
        "scenario: bandwidth_gbps is 400 Gb/s in the plan, but 800 Gb/s in fast.json\n1 violation\n"
    );
    let ran = place.run(&["check", "plan.json", "--scenario", "preset:moe-small"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out.contains("scenario: the plan is of kind training, but preset:moe-small is of kind moe"),
        "{}",
        ran.out
    );
    assert_eq!(place.run(&["check", "plan.json", "--scenario", "no.json"]).code, Some(2));
    assert_eq!(place.run(&["check", "-", "--scenario", "-"]).code, Some(2));
    // Every kind names what no parameter explains.
    for (preset, method, field, value, told) in [
        (
            "crossconnect-example",
            "auto",
            "/logical_circuits",
            json!([[0, 1, 0, 3], [1, 0, 3, 0], [0, 3, 0, 1], [3, 0, 1, 0]]),
            "logical_circuits is 16 values, sum 16 in the plan, but 16 values, 8 differ, sum 16 in \
             other.json",
        ),
        (
            "ring8-allgather-1mb",
            "construct",
            "/topology/symmetry_generators",
            json!([]),
            "topology.symmetry_generators is",
        ),
        ("moe-small", "auto", "/prices/copper_cable_usd", json!(151.0), "copper_cable_usd is 150"),
    ] {
        solve(&place, &format!("preset:{preset}"), method, "plan.json");
        place.run(&["new", &format!("preset:{preset}"), "-o", "other.json", "--force"]).done();
        let mut other = place.json("other.json");
        *other.pointer_mut(field).unwrap() = value;
        place.write("other.json", other.to_string());
        let ran = place.run(&["check", "plan.json", "--scenario", "other.json"]);
        assert_eq!(ran.code, Some(1), "{preset}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(told), "{preset}: {}", ran.out);
    }
}

#[test]
fn plans_of_different_questions_are_not_ranked() {
    let place = Place::new();
    solve(&place, "preset:crossconnect-example", "auto", "a.json");
    let mut other = place.json("a.json")["scenario"].clone();
    other["logical_circuits"] = json!([[0, 1, 0, 3], [1, 0, 3, 0], [0, 3, 0, 1], [3, 0, 1, 0]]);
    place.write("other.json", other.to_string());
    solve(&place, "other.json", "auto", "b.json");
    let out = place.run(&["compare", "a.json", "b.json"]).done().out;
    let told = "b.json is not ranked: its scenario defines a different problem \
         (circuits: 0-1:1,0-2:1,0-3:2,1-2:2,1-3:1,2-3:1 -> 0-1:1,0-3:3,1-2:3,2-3:1; logical_circuits: 16 values, sum 16 -> 16 values, 8 differ, sum 16).";
    assert!(out.contains(told) && !out.contains("better") && !out.contains("worse"), "{out}");
    // What was varied is said, and ranked.
    place.run(&["new", "preset:tiny4", "--set", "bandwidth_gbps=800", "-o", "fast.json"]).done();
    solve(&place, "preset:tiny4", "auto", "slow-plan.json");
    solve(&place, "fast.json", "auto", "fast-plan.json");
    let out = place.run(&["compare", "slow-plan.json", "fast-plan.json"]).done().out;
    let told = "The scenarios differ in the parameter bandwidth_gbps; figures are ranked nevertheless.";
    assert!(out.contains(told) && out.contains("better"), "{out}");
    // Another model is another job.
    place.run(&["new", "preset:tiny4", "--set", "model=llama_3_1_8b", "-o", "llama.json"]).done();
    solve(&place, "llama.json", "auto", "llama-plan.json");
    let out = place.run(&["compare", "slow-plan.json", "llama-plan.json"]).done().out;
    assert!(out.contains("llama-plan.json is not ranked") && !out.contains("worse"), "{out}");
    let tex =
        place.run(&["compare", "slow-plan.json", "llama-plan.json", "--tex", "--differences"]).done().out;
    assert!(tex.starts_with("\\begin{tabular}") && tex.contains("model & scenario & "), "{tex}");
    let html = place.run(&["compare", "slow-plan.json", "fast-plan.json", "--html"]).done().out;
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("fast-plan.json"), "{html}");
}
