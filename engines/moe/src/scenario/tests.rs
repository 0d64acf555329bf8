//! Scenarios are read as they are written, and every contradiction is named.

use super::*;
use lightbay_core::param::ParamValue;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::record::Record as _;

fn read(value: &serde_json::Value) -> Result<MoeScenario, Problems> {
    let mut problems = Problems::new();
    let read = Fields::of(value, "", &mut problems).and_then(|mut fields| {
        let read = MoeScenario::of_fields(&mut fields, &mut problems);
        fields.finish(&mut problems);
        read
    });
    problems.into_result(())?;
    let read = read.unwrap();
    read.validate()?;
    Ok(read)
}

#[test]
fn presets_are_read_as_they_are_written() {
    for preset in presets::PRESETS {
        let scenario = presets::scenario(preset.name).unwrap();
        let value = serde_json::to_value(&scenario).unwrap();
        assert_eq!(read(&value).unwrap(), scenario, "{}", preset.name);
    }
}

#[test]
fn regions_of_the_presets_are_as_large_as_the_paper_says() {
    let servers = |name: &str| presets::scenario(name).unwrap().region.servers;
    let names = ["mixtral_8x7b", "mixtral_8x22b", "llama_moe", "qwen_moe"];
    assert_eq!(names.map(|name| servers(&format!("moe-{name}"))), [4, 8, 2, 8]);
    let stages = names.map(|name| presets::scenario(&format!("moe-{name}")).unwrap().stage_layers());
    assert_eq!(stages, [8, 7, 8, 6]);
}

#[test]
fn packet_switched_nics_are_taken_from_the_end_of_each_numa_node() {
    let shares = |optical| MoeRegion::usual(4, 8, optical).eps_nics;
    assert_eq!(shares(6), [3, 7]);
    assert_eq!(shares(5), [2, 3, 7]);
    assert_eq!(shares(8), [0u32; 0]);
    assert_eq!(shares(0), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(MoeRegion::usual(4, 8, 7).ocs_nics, [0, 1, 2, 4, 5, 6, 7]);
}

fn wrong(change: impl FnOnce(&mut MoeScenario)) -> String {
    let mut scenario = presets::scenario("moe-mixtral_8x7b").unwrap();
    change(&mut scenario);
    scenario.validate().unwrap_err().to_string()
}

fn own(scenario: &mut MoeScenario, change: impl FnOnce(&mut MoeModel)) {
    let mut shape = scenario.shape();
    change(&mut shape);
    scenario.model = MoeModelChoice::of(shape);
    scenario.fit_region();
}

/// EPLB's rule: experts and replicas together divide evenly among the ranks.
#[test]
fn experts_and_replicas_share_the_slots_of_the_ranks() {
    for (ep, tp, replicas, slots, servers) in [
        (72, 1, 32, Some(4), 9),
        (96, 1, 32, Some(3), 12),
        (48, 1, 32, Some(6), 6),
        (144, 1, 32, Some(2), 18),
        (36, 2, 32, Some(8), 9),
        (72, 1, 104, Some(5), 9),
        (72, 1, 31, None, 9),
        (72, 1, 0, None, 9),
        (64, 1, 0, Some(4), 8),
        (32, 1, 32, Some(9), 4),
    ] {
        let mut body = presets::scenario("moe-deepseek_v3").unwrap();
        own(&mut body, |shape| (shape.ep, shape.tp, shape.pp) = (ep, tp, 1));
        body.placement = Some(PlacementRoom { redundant_experts: replicas, ..PlacementRoom::default() });
        body.cluster.servers = body.region.servers;
        assert_eq!(body.region.servers, servers);
        let problems = body.validate().err().map(|problems| problems.to_string()).unwrap_or_default();
        match slots {
            Some(slots) => {
                assert!(!problems.contains("divide"), "{ep} {replicas}: {problems}");
                assert_eq!(crate::placement::PlacementShape::of(&body).slots_per_rank(), slots);
            }
            None => assert!(problems.contains("give 32, so that every rank"), "{ep} {replicas}: {problems}"),
        }
    }
}

#[test]
fn contradictions_are_named_with_a_remedy() {
    let text = wrong(|scenario| own(scenario, |shape| shape.experts = 9));
    assert!(text.contains("model.experts: is 9, which does not divide evenly among 8 ranks"), "{text}");
    let text = wrong(|scenario| own(scenario, |shape| shape.ep = 7));
    assert!(text.contains("do not fill whole servers") && text.contains("divide evenly"), "{text}");
    let text = wrong(|scenario| own(scenario, |shape| shape.tp = 16));
    assert!(text.contains("model.tp: is 16"), "{text}");
    let text = wrong(|scenario| scenario.region.ocs_nics[0] = 3);
    assert!(text.contains("repeats NIC 3"), "{text}");
    let text = wrong(|scenario| scenario.region.eps_nics.truncate(1));
    assert!(text.contains("does not name NIC 7"), "{text}");
    let text = wrong(|scenario| scenario.region.servers = 5);
    assert!(text.contains("region.servers: is 5") && text.contains("give 4"), "{text}");
    let text = wrong(|scenario| scenario.cluster.servers = 100);
    assert!(text.contains("give a multiple of 16"), "{text}");
    let text = wrong(|scenario| scenario.region.link_gbps = 300.0);
    assert!(text.contains("no prices of parts for 300 Gb/s"), "{text}");
}

#[test]
fn counts_that_do_not_fit_are_named() {
    let counts = |tokens: Vec<Vec<f64>>| {
        wrong(|scenario| {
            own(scenario, |shape| (shape.layers, shape.pp) = (1, 1));
            let counts = vec![CountedMatrix { iteration: 0, layer: 0, tokens }];
            scenario.trace = GateTrace::Counts(CountedTrace { iteration: 0, counts });
        })
    };
    assert!(counts(vec![vec![1.0; 7]]).contains("has 7 entries; give one count for each of 8 experts"));
    assert!(counts(vec![vec![1.0; 8]; 3]).contains("has 3 rows; give one row for each of 8 ranks"));
    assert!(counts(vec![vec![-1.0; 8]]).contains("has a negative"));
    let missing = wrong(|scenario| {
        scenario.trace = GateTrace::Counts(CountedTrace { iteration: 4, counts: Vec::new() });
    });
    assert!(missing.contains("has no counts of layer 0, 1, 2"), "{missing}");
}

#[test]
fn entries_of_files_are_judged_one_by_one() {
    let mut value = serde_json::to_value(presets::scenario("moe-small").unwrap()).unwrap();
    value["model"] = "mixtral_8x7".into();
    value["region"]["link_gbps"] = "fast".into();
    value["trace"] =
        serde_json::json!({"iteration": 0, "counts": [{"iteration": 0, "layer": 0, "tokens": [[1, null]]}]});
    value["cluster"]["serverz"] = 4.into();
    let text = read(&value).unwrap_err().to_string();
    for part in [
        "did you mean 'mixtral_8x7b'?",
        "region.link_gbps: is 'fast'",
        "trace.counts[0].tokens[0][1]: is null",
        "cluster.serverz",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_region_follows_the_parallelism_that_is_set() {
    let mut scenario = presets::scenario("moe-mixtral_8x7b").unwrap();
    scenario.set("tp", None, &ParamValue::Int(8)).unwrap();
    assert_eq!(
        (scenario.region.servers, KNOBS.get(&scenario, "model")),
        (8, Some(ParamValue::Text("own".to_owned())))
    );
    scenario.set("tp", None, &ParamValue::Int(4)).unwrap();
    assert_eq!(scenario, presets::scenario("moe-mixtral_8x7b").unwrap());
    scenario.set("delay_profile", None, &ParamValue::Text("with_nic".to_owned())).unwrap();
    assert_eq!(scenario.cluster.reconfiguration_delay_ms, 5670.0);
    assert!(scenario.set("model", None, &ParamValue::Text("own".to_owned())).is_err());
}

#[test]
fn a_given_rate_of_packet_switches_outlives_the_degree() {
    let mut scenario = presets::scenario("moe-mixtral_8x7b").unwrap();
    let set = |scenario: &mut MoeScenario, name: &str, value: f64| {
        scenario.set(name, None, &ParamValue::Float(value)).unwrap();
    };
    set(&mut scenario, "optical_degree", 4.0);
    assert_eq!(scenario.region.eps_gbps(), 1600.0);
    set(&mut scenario, "eps_total_gbps", 800.0);
    set(&mut scenario, "optical_degree", 6.0);
    assert_eq!(scenario.region.eps_gbps(), 800.0);
    set(&mut scenario, "optical_degree", 7.0);
    assert_eq!(scenario.region.eps_gbps(), 800.0);
}
