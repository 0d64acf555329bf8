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
        own(&mut body, |shape| (shape.ep, shape.tp) = (ep, tp));
        body.placement = Some(PlacementRoom { redundant_experts: replicas, ..PlacementRoom::default() });
        assert_eq!(body.region.servers, servers);
        // The cluster of the preset has 128 servers; a replica has 16 stages.
        assert!(body.cluster.servers >= 128 && body.cluster.servers.is_multiple_of(16 * servers));
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

#[test]
fn failed_nics_are_read_and_written_by_name() {
    let read_all = |text: &str| FailedNic::list(text).map_err(|problem| problem.to_string());
    let nics = [FailedNic { server: 3, nic: 1 }, FailedNic { server: 0, nic: 7 }];
    for text in ["s3:1, s0:7", "s3:1,s0:7,", "3:1, 0:7", "server 3:1, server 0:7"] {
        assert_eq!(read_all(text).unwrap(), nics, "{text}");
    }
    assert_eq!(FailedNic::text(&nics), "s3:1, s0:7");
    assert_eq!((read_all("none"), read_all("")), (Ok(Vec::new()), Ok(Vec::new())));
    assert_eq!(FailedNic::text(&[]), "none");
    for text in ["s3", "s3:", "3:x", "s64:0", "s0:64", "s-1:0", "s0:1.5", "all"] {
        let why = read_all(&format!("s0:0, {text}")).unwrap_err();
        assert!(why.contains(&format!("'{text}' names no NIC")) && why.contains("such as s3:1"), "{why}");
    }
    assert!(read_all("s3:gpu2").unwrap_err().contains("replace its server"));
    let mut scenario = presets::scenario("moe-small").unwrap();
    let written = serde_json::to_value(&scenario).unwrap();
    assert!(written["region"].get("failed_nics").is_none(), "files without failures stay as they are");
    scenario.set("failed_nics", None, &ParamValue::Text("s1:0".to_owned())).unwrap();
    let written = serde_json::to_value(&scenario).unwrap();
    assert_eq!(written["region"]["failed_nics"], serde_json::json!([{"server": 1, "nic": 0}]));
    assert_eq!(read(&written).unwrap(), scenario);
}

#[test]
fn failed_nics_that_do_not_exist_or_carry_nothing_are_refused() {
    let failed = |text: &str| wrong(|scenario| scenario.region.failed_nics = FailedNic::list(text).unwrap());
    let text = failed("s0:1, s4:0");
    assert!(
        text.contains(
            "region.failed_nics[1]: names server 4, which does not exist; servers of the region are 0 to 3"
        ),
        "{text}"
    );
    let text = failed("s0:8");
    assert!(text.contains("names NIC 8 of server 0, which does not exist; NICs are 0 to 7"), "{text}");
    let text = failed("s1:2, s1:2");
    assert!(text.contains("region.failed_nics[1]: repeats region.failed_nics[0]; name it once"), "{text}");
    // One server: no circuits, but gradients between the replicas.
    let one = |change: fn(&mut MoeScenario)| {
        let mut scenario = presets::scenario("moe-small").unwrap();
        scenario.set("tp", None, &ParamValue::Int(1)).unwrap();
        change(&mut scenario);
        scenario.validate().map_err(|problems| problems.to_string())
    };
    let text = one(|scenario| scenario.region.failed_nics = FailedNic::list("s0:0").unwrap()).unwrap_err();
    let why = "names NIC 0 of server 0, which carries neither circuits nor packets: a region of one server has no circuits; leave it out";
    assert!(text.contains(why), "{text}");
    assert_eq!(one(|scenario| scenario.region.failed_nics = FailedNic::list("s0:3").unwrap()), Ok(()));
    let text = one(|scenario| {
        scenario.region.eps_total_gbps = Some(0.0);
        scenario.region.failed_nics = FailedNic::list("s0:7").unwrap();
    });
    assert!(text.unwrap_err().contains("packet-switched NICs have no rate"));
}

#[test]
fn servers_have_the_nics_that_work() {
    let mut region = MoeRegion::usual(4, 8, 6);
    region.failed_nics = FailedNic::list("s1:0, s1:3, s2:7, s2:3").unwrap();
    assert_eq!((region.optical_of(0), region.packet_of(0)), (vec![0, 1, 2, 4, 5, 6], vec![3, 7]));
    assert_eq!((region.optical_of(1), region.packet_of(1)), (vec![1, 2, 4, 5, 6], vec![7]));
    assert_eq!([0, 1, 2].map(|server| region.eps_gbps_of(server)), [800.0, 400.0, 0.0]);
    region.eps_total_gbps = Some(300.0);
    assert_eq!([0, 1, 2].map(|server| region.eps_gbps_of(server)), [300.0, 150.0, 0.0]);
    assert_eq!(region.first_without_packets(), Some(NoPackets::Failed { server: 2, all: false }));
    assert_eq!((region.no_packets_at(1), region.first_cut_off()), (None, None));
    region.failed_nics.extend((0..7).filter(|nic| *nic != 3).map(|nic| FailedNic { server: 2, nic }));
    assert_eq!(region.first_cut_off(), Some(NoPackets::Failed { server: 2, all: true }));
    assert_eq!(
        region.without_failures(),
        MoeRegion { eps_total_gbps: Some(300.0), ..MoeRegion::usual(4, 8, 6) }
    );
}
