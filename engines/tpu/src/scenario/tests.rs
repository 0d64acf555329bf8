use super::*;
use crate::plan::TopologyRecord;
use lightbay_core::param::{ParamValue, Setting};
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::record::Record as _;
use serde_json::{Value, json};

fn read(value: &Value) -> Result<TpuScenario, Problems> {
    let mut problems = Problems::new();
    let mut fields = Fields::of(value, "", &mut problems).unwrap();
    let scenario = TpuScenario::of_fields(&mut fields, &mut problems);
    fields.finish(&mut problems);
    problems.into_result(())?;
    let scenario = scenario.unwrap();
    scenario.validate()?;
    Ok(scenario)
}

fn refused(value: &Value) -> String {
    read(value).unwrap_err().to_string()
}

fn set(scenario: &mut TpuScenario, text: &str) -> Result<(), Problem> {
    let setting: Setting = text.parse().unwrap();
    let info = KNOBS.infos(None).into_iter().find(|info| info.name == setting.name).unwrap();
    let value = match setting.index {
        None => info.parse(&setting.text)?,
        Some(_) => ParamValue::Int(setting.text.parse().unwrap()),
    };
    KNOBS.set(scenario, &setting.name, setting.index, &value)
}

#[test]
fn a_scenario_reads_back_as_it_was_written() {
    let mut full = TpuScenario::design(4);
    full.group = Some(GroupChoice::Factors(vec![2, 2]));
    full.job_shape = Some([4, 8, 8]);
    full.slack_hops = Some(2);
    full.tolerated_ocs_faults = 1;
    full.failed_ocs = vec![3, 47];
    full.turn_priority = TurnPriority::Best;
    full.simulate = Some(SimulationSettings { packet_flits: 4, ..SimulationSettings::default() });
    let mut given = TpuScenario::design(4);
    let pod = baselines::pdtt([4, 8, 8]).unwrap();
    given.topology = TopologyChoice::Given(TopologyRecord::of(&pod));
    let mut named = TpuScenario::design(6);
    named.group = Some(GroupChoice::Named("S3".to_owned()));
    for scenario in [TpuScenario::design(1), full, given, named] {
        let value = serde_json::to_value(&scenario).unwrap();
        assert_eq!(read(&value).unwrap_or_else(|problems| panic!("{problems}")), scenario);
    }
}

#[test]
fn what_is_left_out_is_as_usual() {
    let scenario = read(&json!({"cubes": 8})).unwrap();
    assert_eq!(scenario, TpuScenario::design(8));
    assert_eq!((scenario.slack(), TpuScenario::design(4).slack()), (2, 0));
    assert_eq!(scenario.pt_shape(), [8, 8, 8]);
    assert_eq!(scenario.group().unwrap().name(), "Z2 x Z2 x Z2");
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let said = refused(&json!({
        "cubes": 0, "job_shape": [4, 8], "topology": "torus", "group": [0], "vc_count": 9,
        "turn_priority": "api", "slack_hops": 5, "tolerated_ocs_faults": 2, "failed_ocs": [48, -1],
        "simulate": {"vc_count": 0, "speed": 1}, "cube": 4
    }));
    for start in [
        "cubes: is '0'; give a whole number from 1 to 144",
        "job_shape: has 2 entries; give 3 entries",
        "topology: is 'torus'",
        "group[0]: is '0'",
        "vc_count: ",
        "turn_priority: is 'api'; did you mean 'apl'?",
        "slack_hops: ",
        "tolerated_ocs_faults: ",
        "failed_ocs[0]: is '48'; give a whole number from 0 to 47",
        "failed_ocs[1]: is '-1'",
        "simulate.vc_count: ",
        "simulate.speed: is not a known key",
        "cube: is not a known key; did you mean 'cubes'?",
    ] {
        assert!(said.lines().any(|line| line.starts_with(start)), "{start} in\n{said}");
    }
}

#[test]
fn contradictions_are_refused_with_a_way_out() {
    let said = |value: Value| refused(&value);
    assert!(said(json!({"cubes": 145})).contains("1 to 144"));
    assert!(said(json!({"cubes": 4, "job_shape": [4, 8, 10]})).contains("multiples of 4, such as 4x8x12"));
    assert!(said(json!({"cubes": 4, "job_shape": [4, 4, 8]})).contains("set cubes=2"));
    let pdtt = said(json!({"cubes": 8, "topology": "pdtt", "job_shape": [8, 8, 8]}));
    assert!(pdtt.contains("use 'pt'"), "{pdtt}");
    let pdtt = said(json!({"cubes": 8, "topology": "pdtt"}));
    assert!(pdtt.contains("use 'pt'"), "{pdtt}");
    assert!(said(json!({"cubes": 4, "group": [2, 3]})).contains("such as 'Z2 x Z2'"));
    assert!(said(json!({"cubes": 4, "group": [60000, 60000, 60000]})).contains("group"));
    assert!(said(json!({"cubes": 4, "group": "E8"})).contains("'E8' is not a group"));
    assert!(said(json!({"cubes": 4, "group": [4], "topology": "pt"})).contains("leave it out"));
    assert!(said(json!({"cubes": 8, "slack_hops": 1})).contains("bipartite"));
    assert!(said(json!({"cubes": 8, "failed_ocs": [3, 3]})).contains("repeats switch 3"));
    assert!(said(json!({"cubes": 8, "simulate": {"vc_count": 1}})).contains("there are 1 virtual channels"));
    assert!(said(json!({"cubes": 8, "simulate": {"escape_vc_count": 1}})).contains("at least 2"));
    // Settings without effect are refused in files, and as parameters.
    let idle = said(json!({"cubes": 8, "simulate": {"speedup": 2}}));
    assert!(idle.starts_with("simulate.speedup: is 2, but has no effect with allocator 'ideal'"), "{idle}");
    let idle = said(json!({"cubes": 8, "simulate": {"islip_iterations": 2, "allocator": "wavefront"}}));
    assert!(idle.contains("islip_iterations: is 2, but has no effect with an allocator other"), "{idle}");
    let mut scenario = TpuScenario::design(8);
    set(&mut scenario, "chip_ports=2").unwrap();
    let named = |scenario: &TpuScenario| KNOBS.idle(scenario).iter().map(|idle| idle.path.clone()).collect();
    let idle: Vec<String> = named(&scenario);
    assert_eq!(idle, ["speedup", "islip_iterations", "chip_ports"]);
    set(&mut scenario, "allocator=islip").unwrap();
    let idle: Vec<String> = named(&scenario);
    assert!(idle.is_empty() && scenario.validate().is_ok(), "{idle:?}");
}

#[test]
fn damaged_topologies_are_refused_by_place() {
    let good = serde_json::to_value(TopologyRecord::of(&baselines::pdtt([4, 8, 8]).unwrap())).unwrap();
    let said = |change: &dyn Fn(&mut Value)| {
        let mut topology = good.clone();
        change(&mut topology);
        refused(&json!({"cubes": 4, "topology": topology}))
    };
    assert!(said(&|t| t["ocs"][5]["to"][0] = json!(1)).starts_with("topology.ocs[5].to: patches cubes"));
    assert!(said(&|t| t["ocs"][5]["to"][0] = json!(-1)).starts_with("topology.ocs[5].to[0]: is '-1'"));
    assert!(said(&|t| t["ocs"][5]["dim"] = json!("w")).starts_with("topology.ocs[5].dim: is 'w'"));
    assert!(said(&|t| t["symmetry"]["table"][1][1] = json!(1)).starts_with("topology.symmetry.table: "));
    assert!(said(&|t| t["symmetry"]["voltage"][0] = json!(0)).starts_with("topology.ocs[0].to: "));
    assert!(said(&|t| t["extra"] = json!(0)).contains("topology.extra: is not a known key"));
    let other = refused(&json!({"cubes": 2, "topology": good}));
    assert!(other.contains("a pod of 4 cubes, but 'cubes' is 2; set cubes=4"), "{other}");
}

#[test]
fn every_knob_changes_what_it_says() {
    let changes = [
        ("cubes=8", "8"),
        ("job_shape=4,4,16", "4,4,16"),
        ("topology=pt", "pt"),
        ("group=2,2", "2,2"),
        ("group=D2", "D2"),
        ("vc_count=3", "3"),
        ("turn_priority=cpl", "cpl"),
        ("slack_hops=2", "2"),
        ("tolerated_ocs_faults=1", "1"),
        ("failed_ocs=1,40", "1,40"),
        ("simulate=true", "true"),
        ("clock_ghz=2", "2"),
        ("link_gbyte_per_s=64", "64"),
        ("flit_bytes=256", "256"),
        ("link_latency_electrical_cycles=10", "10"),
        ("link_latency_optical_cycles=11", "11"),
        ("router_latency_cycles=12", "12"),
        ("injection_latency_cycles=13", "13"),
        ("router_vc_count=6", "6"),
        ("escape_vc_count=3", "3"),
        ("buffer_flits_per_vc=14", "14"),
        ("packet_flits=15", "15"),
        ("allocator=islip", "islip"),
        ("speedup=2", "2"),
        ("islip_iterations=4", "4"),
        ("chip_ports=3", "3"),
        ("warmup_cycles=16", "16"),
        ("measure_cycles=17", "17"),
        ("rate_step=0.5", "0.5"),
    ];
    let mut named: Vec<&str> = changes.iter().filter_map(|(text, _)| text.split('=').next()).collect();
    named.dedup();
    let infos = KNOBS.infos(None);
    let known: Vec<&str> = infos.iter().map(|info| info.name.as_ref()).collect();
    assert_eq!(named, known);
    let before = TpuScenario::design(4);
    for (text, shown) in changes {
        let mut scenario = before.clone();
        set(&mut scenario, text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert_ne!(scenario, before, "{text}");
        let name = text.split('=').next().unwrap();
        assert_eq!(
            KNOBS.get(&scenario, name).map(|value| value.to_string()).as_deref(),
            Some(shown),
            "{text}"
        );
    }
}

#[test]
fn knobs_can_be_taken_back_and_set_by_entry() {
    let mut scenario = TpuScenario::design(4);
    for text in ["failed_ocs=3", "failed_ocs=none", "group=D2", "group=auto", "packet_flits=2", "simulate=no"]
    {
        set(&mut scenario, text).unwrap();
    }
    assert_eq!(scenario, TpuScenario::design(4));
    set(&mut scenario, "job_shape[2]=16").unwrap();
    assert_eq!(scenario.job_shape, Some([4, 8, 16]));
    assert!(set(&mut scenario, "job_shape[3]=16").is_err());
    assert!(set(&mut scenario, "failed_ocs=48").is_err());
    assert!(set(&mut scenario, "group=Z2x").is_err());
    assert!(KNOBS.set(&mut scenario, "pods", None, &ParamValue::Int(3)).is_err());
    // A shape and a group of the old size go with it.
    let mut scenario = TpuScenario::design(4);
    set(&mut scenario, "job_shape=4,8,8").unwrap();
    set(&mut scenario, "group=4").unwrap();
    set(&mut scenario, "cubes=8").unwrap();
    assert_eq!(scenario, TpuScenario::design(8));
}
