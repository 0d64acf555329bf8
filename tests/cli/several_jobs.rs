//! Tests of several jobs on one set of pods, on the command line: solve, check, show, compare, export, and invalid
//! input.

use super::support::Place;
use serde_json::{Value, json};

fn solve(place: &Place, arguments: &[&str], name: &str) -> Value {
    let all: Vec<&str> = ["solve"].iter().chain(arguments).chain(&["-o", name]).copied().collect();
    place.run(&all).done();
    place.json(name)
}

#[test]
fn a_pair_is_solved_checked_shown_compared_and_exported() {
    let place = Place::new();
    let plan = solve(&place, &["preset:megatron_177b_pair"], "pair.json");
    assert_eq!(plan["method"], "reallocate");
    let jobs = plan["result"]["jobs"].as_array().unwrap();
    let names: Vec<&str> = jobs.iter().map(|job| job["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["megatron_177b", "megatron_177b_reversed"]);
    place.run(&["check", "pair.json"]).done().prints(&["0 violations"]);
    place.run(&["show", "pair.json"]).done().prints(&[
        "Jobs on the same pods",
        "NCT alone",
        "megatron_177b_reversed",
        "p0 to p2",
        "used",
    ]);
    let shown = place.run(&["show", "pair.json", "--json"]).done().json();
    let figures = &shown["training"];
    assert_eq!(figures["reallocation"]["jobs"][1]["shared_nct"], jobs[1]["shared"]["result"]["nct"]);
    assert_eq!(figures["reallocation"]["ports"][0]["ports"], 32);
    let taken = |job: usize| -> u64 {
        (0..3)
            .map(|pod| figures["reallocation"]["ports"][pod][format!("job_{job}_in")].as_u64().unwrap())
            .sum()
    };
    assert_eq!(Some((taken(0) + taken(1)) as f64), plan["metrics"]["ports_taken"].as_f64());
    assert!(taken(1) > 0);

    let alone = solve(&place, &["preset:megatron_177b_pair", "--set", "trades=0"], "alone.json");
    assert!(alone["objective"]["value"].as_f64() > plan["objective"]["value"].as_f64());
    place.run(&["compare", "pair.json", "alone.json"]).done().prints(&["NCT alone", "ports in"]);

    // Every job goes to a file of its own, with its plan where there is one.
    for (subject, format) in [("preset:small_pair", "instance"), ("pair.json", "expanded")] {
        std::fs::create_dir(place.path(format)).unwrap();
        place.run(&["export", subject, "--to", format, "-o", format]).done().prints(&["reversed"]);
        let files: Vec<_> = std::fs::read_dir(place.path(format)).unwrap().map(Result::unwrap).collect();
        assert_eq!(files.len(), 2);
        for file in files.iter().filter(|_| format == "expanded") {
            place.run(&["check", file.path().to_str().unwrap()]).done();
        }
    }
    // All circuits together are what switches have to hold.
    place
        .run(&["new", "crossconnect", "--set", "from=pair.json", "-o", "switches.json"])
        .done()
        .says(&["assumed: ocs_count=", " wiring=two_sided"]);
    assert_eq!(place.json("switches.json")["derived_from"]["kind"], "training");
}

#[test]
fn a_tampered_plan_is_found_out() {
    let place = Place::new();
    let mut plan = solve(&place, &["preset:tiny4_pair"], "pair.json");
    plan["result"]["jobs"][1]["ports_per_pod"][0] = json!(9);
    place.write("tampered.json", plan.to_string());
    place.run(&["check", "tampered.json"]).exit(1).prints(&["traded: job 'tiny4_reversed' may use 9 ports"]);
}

#[test]
fn methods_for_one_job_say_who_plans_several() {
    let place = Place::new();
    place
        .run(&["solve", "preset:tiny4_pair", "--method", "delta-joint"])
        .exit(2)
        .says(&["plan them with the method `reallocate`"]);
    place
        .run(&["solve", "preset:tiny4", "--method", "reallocate"])
        .exit(2)
        .says(&["give at least two jobs as `jobs`"]);
    place
        .run(&["show", "preset:tiny4_pair", "--section", "frontier"])
        .exit(2)
        .says(&["the section is for one job, but the scenario has 2 jobs"]);
    place
        .run(&["export", "preset:tiny4_pair", "--to", "lp"])
        .exit(2)
        .says(&["plan them with the method `reallocate`"]);
}

#[test]
fn jobs_that_do_not_go_together_are_named() {
    let place = Place::new();
    place.scenario("tiny4_pair", "pair.json");
    let mut pair = place.json("pair.json");
    pair["jobs"][1]["job"]["run"]["gpus"] = json!(32);
    pair["jobs"][1]["weight"] = json!(0);
    place.write("wrong.json", pair.to_string());
    place.run(&["show", "wrong.json"]).exit(2).says(&["wrong.json: jobs[1].weight: is '0'"]);
    place
        .run(&["solve", "preset:tiny4_pair", "--set", "ports_per_pod=7"])
        .exit(2)
        .says(&["ports_per_pod[0]: is '7', but the jobs on this pod define 8 ports"]);
    let weighted = solve(&place, &["preset:tiny4_pair", "--set", "weights[1]=3"], "weighted.json");
    assert_eq!(weighted["scenario"]["jobs"][1]["weight"], 3);
}
