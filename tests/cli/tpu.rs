//! Tests of kind `tpu` on the command line: solve, check, show, compare, export, and invalid input.

use super::support::Place;
use serde_json::{Value, json};

/// Settings with which a pod is designed quickly.
const QUICK: &[&str] = &["--set", "certificate_gap=1%"];

fn solve(place: &Place, arguments: &[&str], name: &str) -> Value {
    let all: Vec<&str> =
        ["solve"].iter().chain(arguments).chain(QUICK).chain(&["-o", name]).copied().collect();
    place.run(&all).done();
    place.json(name)
}

#[test]
fn tori_are_solved_by_the_method_that_suits_them() {
    let place = Place::new();
    for (preset, method, mcf, load) in
        [("pt-4x4x8", "pt", 0.0078125, 129), ("pdtt-4x4x8", "pdtt", 0.013_636_363, 75)]
    {
        let plan = solve(&place, &[&format!("preset:{preset}")], "plan.json");
        assert_eq!(plan["method"], method);
        assert_eq!(plan["status"], "heuristic");
        let value = plan["objective"]["value"].as_f64().unwrap();
        assert!((value / mcf - 1.0).abs() < 0.01, "{preset}: {value}");
        let bound = plan["objective"]["bound"].as_f64().unwrap();
        assert!((bound - 0.0142772).abs() < 1e-6, "{bound}");
        // Dimension order with datelines; a few re-route passes may do better than published.
        let found = plan["metrics"]["max_channel_load"]
            .as_u64()
            .or(plan["metrics"]["max_channel_load"].as_f64().map(|load| load as u64));
        assert!(found.unwrap() <= load, "{preset}: {found:?}");
        assert_eq!(plan["result"]["routing"]["routes"].as_array().unwrap().len(), 128 * 127);
        let checked = place.run(&["check", "plan.json"]).done();
        checked.prints(&["0 violations", "verified", "mcf_lower is not verified"]);
        place.run(&["check", "plan.json", "--exact"]).done().prints(&["is confirmed"]);
        std::fs::remove_file(place.path("plan.json")).unwrap();
    }
}

#[test]
fn an_exact_route_selection_that_is_cut_short_leaves_routes() {
    let place = Place::new();
    let asked = "solve preset:pt-4x4x4 --method evaluate --set routing=at --set route_selection=ilp \
                 --time-limit 2s --progress plain -o plan.json";
    let ran = place.run(&asked.split_whitespace().collect::<Vec<_>>()).done();
    let plan = place.json("plan.json");
    if ran.err.contains("exact route selection") {
        assert_eq!((&plan["status"], &plan["limit"]), (&json!("stopped"), &json!("time")), "{}", ran.err);
    }
    assert_eq!(plan["result"]["routing"]["routes"].as_array().unwrap().len(), 64 * 63);
    place.run(&["check", "plan.json"]).done().prints(&["0 violations"]);
}

#[test]
fn a_plan_is_shown_beside_its_yardsticks_and_compared() {
    let place = Place::new();
    solve(&place, &["preset:tpu-128", "--method", "random", "--set", "samples=3"], "random.json");
    solve(&place, &["preset:tpu-128", "--method", "pdtt"], "pdtt.json");
    place.run(&["show", "random.json"]).done().prints(&[
        "Pod of 128 chips",
        "Z2",
        "pod (claimed)",
        "PT 4x4x8",
        "PDTT 4x4x8",
        "cover bound",
        "before balancing",
        "Fullest of 384 classes of directed links",
    ]);
    let shown = place.run(&["show", "random.json", "--json"]).done().json();
    let tpu = &shown["tpu"];
    assert_eq!(tpu["pod"]["chips"], 128);
    let network = |name: &str| {
        let rows = tpu["throughput"].as_array().unwrap();
        rows.iter().find(|row| row["network"].as_str().unwrap().starts_with(name)).unwrap()
    };
    assert!((network("PT")["mcf"].as_f64().unwrap() - 0.0078125).abs() < 1e-12);
    assert_eq!(network("PDTT")["diameter"], 6);
    let claimed = shown["plan"]["metrics"]["max_channel_load"].as_f64();
    assert_eq!(tpu["hottest"][0]["routes"].as_f64(), claimed);
    place.run(&["show", "preset:tpu-384"]).done().prints(&[
        "Pod of 384 chips",
        "to be designed",
        "PT 4x8x12",
    ]);
    let compared = place.run(&["compare", "random.json", "pdtt.json", "--csv"]).done();
    compared.prints(&["mcf_lower", "max_channel_load", "avg_hops"]);
}

#[test]
fn a_plan_is_evaluated_again_from_its_topology() {
    let place = Place::new();
    let first = solve(&place, &["preset:tpu-128", "--method", "random"], "plan.json");
    place.run(&["export", "plan.json", "--to", "instance", "-o", "given.json"]).done();
    let given = place.json("given.json");
    assert_eq!(given["topology"], first["result"]["topology"]);
    let again = solve(&place, &["given.json"], "again.json");
    assert_eq!(again["method"], "evaluate");
    assert_eq!(again["result"]["claims"], first["result"]["claims"]);
    let hot = ["preset:tpu-128", "--method", "evaluate", "--hot-start", "plan.json"];
    let hot = solve(&place, &hot, "hot.json");
    assert_eq!(hot["result"]["topology"], first["result"]["topology"]);
    assert!(hot["provenance"]["hot_start"].as_str().unwrap().contains("accepted"), "{}", hot["provenance"]);
}

#[test]
fn failed_switches_are_avoided_and_swept() {
    let place = Place::new();
    let arguments =
        ["preset:tpu-128", "--method", "random", "--set", "tolerated_ocs_faults=1", "--set", "failed_ocs=9"];
    let plan = solve(&place, &arguments, "plan.json");
    let cases = plan["result"]["faults"].as_array().unwrap();
    assert_eq!(cases.len(), 48);
    place.run(&["check", "plan.json"]).done().prints(&["the plan does not contain the routes"]);
    place
        .run(&["show", "plan.json"])
        .done()
        .prints(&["failed switches", "Failed switches, 6 of 47 switches"]);
    let mut moved = plan;
    moved["scenario"]["failed_ocs"] = json!([9, 10]);
    moved["provenance"]["scenario_sha256"] = json!("");
    place.write("moved.json", moved.to_string());
    place.run(&["check", "moved.json"]).exit(1).prints(&["failed_switch: ", "crosses switch 10"]);
}

#[test]
fn the_simulator_runs_on_the_routes() {
    let place = Place::new();
    let settings = ["simulate=true", "warmup_cycles=1500", "measure_cycles=1500", "rate_step=0.1"];
    let mut arguments = vec!["preset:pdtt-4x4x8"];
    arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    let plan = solve(&place, &arguments, "plan.json");
    let saturation = plan["result"]["simulation"]["saturation_flits_per_cycle_per_node"].as_f64().unwrap();
    assert!((0.8..=1.9).contains(&saturation), "{saturation}");
    place
        .run(&["show", "plan.json"])
        .done()
        .prints(&["Simulation: Load and latency", "These figures are claimed;"]);
    place.run(&["check", "plan.json"]).done().prints(&["figures of the simulator are claimed"]);
    let exact = place.run(&["check", "plan.json", "--exact"]).done();
    exact.prints(&["0 violations", "the simulator was run again and found the same figures"]);
    // One run that delivered a little more: it takes the simulator to tell.
    let mut forged = plan;
    let delivered = &mut forged["result"]["simulation"]["curve"][1][1];
    *delivered = json!(delivered.as_f64().unwrap() + 1e-4);
    place.write("forged.json", forged.to_string());
    place.run(&["check", "forged.json"]).done();
    place.run(&["check", "forged.json", "--exact"]).exit(1).prints(&["simulation: curve[1] is "]);
}

#[test]
fn routes_that_were_left_out_are_spoken_of() {
    let place = Place::new();
    let plan =
        solve(&place, &["preset:tpu-128", "--method", "random", "--set", "with_routes=false"], "plan.json");
    assert_eq!(plan["result"]["routing"]["routes"], json!([]));
    place
        .run(&["check", "plan.json"])
        .done()
        .prints(&["0 violations", "the plan does not contain the routes"]);
    let shown = place.run(&["show", "plan.json"]).done();
    shown.prints(&["Claimed, not checked: the routes are not in the plan."]);
    let claimed = place.run(&["show", "plan.json", "--json"]).done().json()["claimed"].clone();
    assert_eq!(claimed, json!(["mcf_lower", "n_mcf", "max_channel_load", "vc_ratio"]));
    // They cannot be taken out of a plan that was told to list them.
    let mut forged = plan;
    forged["parameters"]["with_routes"] = json!(true);
    place.write("forged.json", forged.to_string());
    place.run(&["check", "forged.json"]).exit(1).prints(&["pair: no route is listed"]);
}

#[test]
fn damaged_plans_are_told_from_sound_ones() {
    let place = Place::new();
    let plan = solve(&place, &["preset:tpu-128", "--method", "random"], "plan.json");
    let damaged = |name: &str, change: &dyn Fn(&mut Value), code: &str| {
        let mut damaged = plan.clone();
        change(&mut damaged);
        place.write(name, damaged.to_string());
        place.run(&["check", name]).exit(1).prints(&[code]);
    };
    damaged(
        "load.json",
        &|plan| {
            let load = &mut plan["result"]["routing"]["claims"]["max_channel_load"];
            *load = json!(load.as_u64().unwrap() + 1);
        },
        "load: ",
    );
    damaged(
        "entry.json",
        &|plan| {
            let entry = plan["result"]["topology"]["ocs"][4]["to"][0].clone();
            plan["result"]["topology"]["ocs"][4]["to"][1] = entry;
        },
        "permutation: ocs 4",
    );
    damaged(
        "form.json",
        &|plan| plan["result"]["routing"]["routes"][3] = json!([0, 4, "x", "0"]),
        "schema: ",
    );
    damaged("extra.json", &|plan| plan["result"]["beauty"] = json!(1), "is not a known key");
    damaged("value.json", &|plan| plan["result"]["claims"]["mcf_lower"] = json!(0.02), "mcf: ");
}

#[test]
fn scenarios_that_are_wrong_are_refused_with_a_remedy() {
    let place = Place::new();
    let wrong = |fields: Value, parts: &[&str]| {
        let mut scenario = json!({"schema": "lightbay.scenario/1", "kind": "tpu", "name": "wrong"});
        scenario.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        place.write("wrong.json", scenario.to_string());
        place.run(&["solve", "wrong.json"]).exit(2).says(parts);
    };
    wrong(json!({"cubes": 200}), &["wrong.json: cubes: is '200'; give a whole number from 1 to 144"]);
    wrong(json!({"cubes": 4, "job_shape": [4, 8, 9]}), &["multiples of 4, such as 4x8x12"]);
    wrong(json!({"cubes": 4, "job_shape": [8, 8, 8]}), &["8 cubes, but 'cubes' is 4", "set cubes=8"]);
    wrong(json!({"cubes": 8, "topology": "pdtt"}), &["not defined for 8 cubes", "use 'pt'"]);
    wrong(
        json!({"cubes": 4, "failed_ocs": [48]}),
        &["failed_ocs[0]: is '48'; give a whole number from 0 to 47"],
    );
    wrong(json!({"cubes": 4, "group": [2, 3]}), &["Z2 x Z3", "such as 'Z2 x Z2'"]);
    wrong(json!({"cubes": 4, "slack_hops": 1}), &["bipartite"]);
    let given = place.run(&["export", "preset:pdtt-4x8x8", "--to", "instance", "--set"]);
    given.exit(2);
    place.run(&["export", "preset:pdtt-4x8x8", "--to", "instance", "-o", "given.json"]).done();
    let topology = |change: &dyn Fn(&mut Value), parts: &[&str]| {
        let mut given = place.json("given.json");
        change(&mut given["topology"]);
        place.write("changed.json", given.to_string());
        place.run(&["solve", "changed.json"]).exit(2).says(parts);
    };
    topology(&|given| given["ocs"][3]["to"][0] = json!(0), &["topology.ocs[3].to", "permutation"]);
    topology(&|given| given["symmetry"]["table"][1][2] = json!(0), &["topology.symmetry.table"]);
    topology(&|given| given["ocs"].as_array_mut().unwrap().truncate(40), &["describes 40 switches"]);
}

#[test]
fn methods_refuse_what_they_do_not_make() {
    let place = Place::new();
    let refused = |arguments: &[&str], parts: &[&str]| {
        let all: Vec<&str> = ["solve"].iter().chain(arguments).copied().collect();
        place.run(&all).exit(2).says(parts);
    };
    refused(&["preset:pdtt-4x4x8", "--method", "pt"], &["is 'pdtt', which 'pt' does not make", "use 'pdtt'"]);
    refused(&["preset:pt-4x4x8", "--method", "random"], &["use 'pt' or 'evaluate'"]);
    refused(&["preset:tpu-random-128", "--method", "random"], &["is given", "use 'evaluate'"]);
    refused(&["preset:tpu-128", "--method", "evaluate"], &["there is no plan to start from"]);
    refused(&["preset:tpu-128", "--method", "random", "--set", "routing=dor"], &["defined on tori only"]);
    refused(
        &["preset:tpu-128", "--method", "random", "--set", "routing=none", "--set", "with_faults=true"],
        &["failed switches need routes"],
    );
    refused(&["preset:tpu-128", "--method", "random", "--set", "failed_ocs=0,0"], &["repeats switch 0"]);
    // Without all switches the cubes fall apart.
    let all: Vec<String> = (0..48).map(|id| id.to_string()).collect();
    let failed = format!("failed_ocs={}", all.join(","));
    refused(
        &["preset:tpu-128", "--method", "random", "--set", &failed],
        &["failed_ocs: contains all 48 switches, so that no switch joins the 2 cubes"],
    );
}

#[test]
fn changes_are_written_between_any_two_pods() {
    let place = Place::new();
    let bare = ["--set", "routing=none"];
    let plan = |name: &str, seed: &str| {
        let mut arguments = vec!["preset:tpu-128", "--method", "random", "--seed", seed];
        arguments.extend(bare);
        solve(&place, &arguments, name)
    };
    let (old, new) = (plan("old.json", "1"), plan("new.json", "2"));
    let states = |plan: &Value| plan["result"]["topology"]["ocs"].as_array().unwrap().clone();
    // Two cubes are straight or crossed, so a switch that differs has two circuits to remove and two to add.
    let differ = states(&old).iter().zip(&states(&new)).filter(|(old, new)| old["to"] != new["to"]).count();
    assert!(differ > 0);
    let written = place.run(&["export", "new.json", "--to", "changes", "--against", "old.json"]).done().out;
    assert_eq!(written.lines().count(), 1 + 4 * differ, "{written}");
    let to_torus = ["export", "preset:pdtt-4x4x8", "--to", "changes", "--against", "new.json"];
    let back = ["export", "new.json", "--to", "changes", "--against", "preset:pdtt-4x4x8"];
    let (there, back) = (place.run(&to_torus).done().out, place.run(&back).done().out);
    let circuits = |text: &str, action: &str| {
        let mut all: Vec<String> = text
            .lines()
            .filter_map(|line| {
                let (before, ends) = line.split_once(action)?;
                let (_, circuit) = before.split_once(',')?;
                Some(format!("{circuit},{ends}"))
            })
            .collect();
        all.sort_unstable();
        all
    };
    assert!(!circuits(&there, ",add,").is_empty());
    assert_eq!(circuits(&there, ",add,"), circuits(&back, ",remove,"), "the way back undoes it");
    let refused = |arguments: &[&str], parts: &[&str]| {
        let all: Vec<&str> = ["export", "new.json"].iter().chain(arguments).copied().collect();
        place.run(&all).exit(2).says(parts);
    };
    refused(&["--to", "changes", "--against", "preset:tiny4"], &["against: is of kind training"]);
    refused(&["--to", "routes", "--against", "old.json"], &["leave it out, or export to changes"]);
    refused(&["--to", "changes", "--against", "old.json", "--set", "from=pt"], &["from: ", "one of the two"]);
    refused(&["--to", "changes", "--against", "none.json"], &["none.json", "does not exist"]);
    let twice = ["export", "-", "--to", "changes", "--against", "-"];
    place.run(&twice).exit(2).says(&["once only"]);
    place
        .run(&["methods", "tpu", "--formats"])
        .done()
        .prints(&["--against a scenario or plan: ", "in place of from"]);
    let all = place.run(&["methods", "tpu", "--json"]).done().json();
    let formats = all["kinds"][0]["exporters"].as_array().unwrap();
    let changes = formats.iter().find(|format| format["name"] == "changes").unwrap();
    assert_eq!(changes["against"]["replaces"], "from");
    assert!(formats.iter().any(|format| format["against"].is_null()));
}
