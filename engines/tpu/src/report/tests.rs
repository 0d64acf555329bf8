use super::*;
use crate::scenario::presets;
use lightbay_core::clock::Deadline;
use lightbay_core::report::json;
use serde_json::json;

fn scenario() -> Scenario<Tpu> {
    Scenario::new("pod".to_owned(), presets::scenario("tpu-128").unwrap())
}

#[test]
fn a_scenario_has_its_size_and_what_tori_of_it_reach() {
    let scenario = scenario();
    let report = TpuReport::new(&scenario, None).unwrap();
    let pod = json::section(&report.section("pod", Deadline::NEVER).unwrap());
    assert_eq!((&pod["chips"], &pod["cubes"]), (&json!(128), &json!(2)));
    let rows = json::section(&report.section("throughput", Deadline::NEVER).unwrap());
    let row = |name: &str| {
        let rows = rows.as_array().unwrap();
        rows.iter().find(|row| row["network"].as_str().unwrap().starts_with(name)).unwrap().clone()
    };
    // A 4 x 4 x 8 torus halves into 2 x 16 links that all pairs of its halves cross: 32 / 64^2.
    assert_eq!(row("PT")["mcf"], json!(0.0078125));
    assert_eq!(row("PT")["diameter"], json!(8));
    assert_eq!(row("cover bound")["of_bound"], json!(1.0));
    assert!(row("PDTT")["mcf"].as_f64() < row("cover bound")["mcf"].as_f64());
}

#[test]
fn the_baseline_is_a_row_of_the_networks() {
    let scenario = scenario();
    let report = TpuReport::new(&scenario, None).unwrap();
    let baseline = PlanBeside {
        number: 3,
        method: "pt".to_owned(),
        value: 0.007,
        metrics: [("diameter".to_owned(), 8.0), ("avg_hops".to_owned(), 4.03)].into(),
        is_shown: false,
        is_baseline: true,
        ..plan_beside()
    };
    let rows = |baseline: PlanBeside| {
        let beside = Surroundings { plans: vec![baseline], run: None };
        json::section(&report.in_session("throughput", &beside, Deadline::NEVER).unwrap())
    };
    let found = rows(baseline.clone());
    let row = found.as_array().unwrap().iter().find(|row| row["network"] == json!("B 3 pt")).unwrap();
    assert_eq!((&row["diameter"], &row["mcf"]), (&json!(8), &json!(0.007)));
    let other = rows(PlanBeside { is_rival: false, ..baseline });
    assert!(!other.to_string().contains("B 3"), "a plan of another scenario has no row");
}

#[test]
fn throughput_and_sizes_name_the_same_share_of_the_same_bound() {
    let scenario = scenario();
    let report = TpuReport::new(&scenario, None).unwrap();
    let plan = PlanBeside {
        method: "tons-fast".to_owned(),
        value: 0.0137,
        bound: Some(0.0140),
        metrics: [("n_mcf".to_owned(), 0.0137 * 128.0)].into(),
        ..plan_beside()
    };
    let beside = Surroundings { plans: vec![plan], run: None };
    let section = |name: &str| report.in_session(name, &beside, Deadline::NEVER).unwrap();
    assert_eq!(section("sizes").answer.to_string(), "97.9 % of the bound");
    let networks = json::section(&section("throughput"));
    let bound = networks.as_array().unwrap().iter().find(|row| row["network"] == json!("any pod at most"));
    assert_eq!(bound.unwrap()["of_bound"], json!(1.0), "the bound of the header, not that of the cover");
}

/// A plan of the session without figures.
fn plan_beside() -> PlanBeside {
    PlanBeside { number: 1, is_shown: true, is_rival: true, is_of_run: true, ..PlanBeside::default() }
}

#[test]
fn sections_of_plans_are_not_there_without_one() {
    let scenario = scenario();
    let report = TpuReport::new(&scenario, None).unwrap();
    for name in ["channels", "hottest", "simulation"] {
        assert!(
            report
                .section(name, Deadline::NEVER)
                .unwrap_err()
                .to_string()
                .contains("this section needs a plan"),
            "{name}"
        );
    }
    assert!(report.section("nope", Deadline::NEVER).is_err());
}
