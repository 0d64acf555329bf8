use super::*;
use crate::model::group::Group;
use crate::plan::TpuResult;
use lightbay_core::checked::downcast;
use lightbay_core::event::Done;
use lightbay_core::kind::{Depth, Kind as _};
use lightbay_core::param::ParamValue;
use lightbay_core::testing::Ask;

fn pod() -> Chosen {
    let topology = Topology::symmetric(Group::most_square(4), std::array::from_fn(|at| (at % 4) as u16));
    Chosen { lengths: Some(vec![1.0; 192]), ..Chosen::new(topology, "hot start") }
}

#[test]
fn voltages_change_the_switches_they_are_given_for() {
    let mut voltages: Vec<i64> = (0..48).map(|at| at % 4).collect();
    let same = edited(pod(), &voltages).unwrap();
    assert_eq!((same.source.as_str(), &same.topology), ("hot start", &pod().topology));
    voltages[9] = 3;
    let other = edited(pod(), &voltages).unwrap();
    assert_eq!(other.source, "edit");
    assert_eq!(other.lengths, pod().lengths, "a near pod begins with the lengths of this one");
    let differ = (0..48).filter(|&at| other.topology.state(at) != pod().topology.state(at));
    assert_eq!(differ.collect::<Vec<_>>(), [9]);
    assert_eq!(other.topology.to(9, 1), 2, "1 and 3 make 2 in Z2 x Z2");
}

#[test]
fn voltages_that_do_not_fit_are_refused_in_words() {
    let said = |chosen: Chosen, voltages: &[i64]| edited(chosen, voltages).unwrap_err().to_string();
    assert!(said(pod(), &[0; 47]).contains("47 entries"));
    let mut voltages = [0; 48];
    voltages[5] = 4;
    let words = said(pod(), &voltages);
    assert!(words.contains("switch 5") && words.contains("0 to 3"), "{words}");
    let states: Vec<Vec<u16>> = (0..48).map(|at| pod().topology.state(at).to_vec()).collect();
    let general = Chosen::new(Topology::general(&states).unwrap(), "given");
    assert!(said(general, &[0; 48]).contains("without symmetry"));
}

fn torus(cubes: u16, failed: &[u8]) -> TpuScenario {
    let failed_ocs = failed.to_vec();
    TpuScenario { topology: TopologyChoice::Pt, failed_ocs, ..TpuScenario::design(cubes) }
}

fn plan(method: &str, body: TpuScenario, set: &[(&str, ParamValue)]) -> (TpuResult, Done) {
    let done = Ask::of(&crate::methods::all(), method, body).with(set).run().done;
    let plan = downcast::<Tpu>(done.plan.as_ref().unwrap_or_else(|| panic!("{method}: {done:?}"))).unwrap();
    (plan.plan().result.clone(), done)
}

/// A torus of 4 x 4 x 4 chips has rings of 4, whose distances add up to 16 over ordered pairs: 3 * 16 * 256 hops in all.
/// Without the 16 switches along X these are lines, with 20; the cut in the middle has 16 links between 32 and 32 chips.
#[test]
fn hops_and_flow_are_those_of_the_links_that_are_left() {
    let whole = plan("evaluate", torus(1, &[]), &[]).0.claims;
    assert_eq!((whole.hop_sum, whole.diameter), (3 * 16 * 256, 6));
    assert!((whole.mcf_lower - 1.0 / 32.0).abs() < 1e-4, "{whole:?}");
    let lines: Vec<u8> = (0..16).collect();
    for method in ["evaluate", "pt"] {
        let (result, _) = plan(method, torus(1, &lines), &[]);
        let claims = result.claims;
        assert_eq!((claims.hop_sum, claims.diameter), ((20 + 16 + 16) * 256, 3 + 2 + 2), "{method}");
        assert!(claims.mcf_lower > 0.999 / 64.0 && claims.mcf_upper < 1.001 / 64.0, "{method}: {claims:?}");
        assert!(
            claims.mcf_lower <= 1.0 / 64.0 * (1.0 + 1e-9) && claims.mcf_upper >= 1.0 / 64.0 * (1.0 - 1e-9)
        );
        assert!(result.routing.is_some(), "{method}");
    }
    // One switch less: fewer links, more hops.
    let one = plan("evaluate", torus(1, &[3]), &[]).0.claims;
    assert!(one.hop_sum > whole.hop_sum && one.mcf_upper < whole.mcf_lower, "{one:?}");
}

/// Dimension order leads through the failed switch and nowhere else: the torus is routed by allowed turns then.
#[test]
fn a_torus_with_a_failed_switch_has_a_plan_with_routes() {
    for (method, topology, cubes) in
        [("pt", TopologyChoice::Pt, 2), ("pdtt", TopologyChoice::Pdtt, 2), ("pt", TopologyChoice::Pt, 4)]
    {
        let body = TpuScenario { topology, ..torus(cubes, &[3]) };
        let (result, done) = plan(method, body, &[]);
        assert!(done.violations.is_empty() && result.routing.is_some(), "{method}: {done:?}");
    }
}

#[test]
fn every_method_compares_pods_by_what_their_working_links_carry() {
    let few = |names: &[&'static str]| -> Vec<(&'static str, ParamValue)> {
        names.iter().map(|&name| (name, ParamValue::Int(if name == "steps" { 200 } else { 1 }))).collect()
    };
    let none = ("routing", ParamValue::Text("none".to_owned()));
    for (method, cubes, names) in
        [("tons-fast", 2, &["steps", "rounds"][..]), ("random", 2, &[]), ("tons-lp", 1, &["roundings"])]
    {
        let body = TpuScenario { failed_ocs: vec![3, 20, 40], ..TpuScenario::design(cubes) };
        let (result, done) = plan(method, body.clone(), &[few(names), vec![none.clone()]].concat());
        let pod = result.topology.topology().unwrap().failing(&body.failed_ocs);
        let hops = crate::throughput::metrics::hops(&pod).unwrap();
        assert_eq!(
            (result.claims.hop_sum, result.claims.diameter),
            (hops.hop_sum, hops.diameter),
            "{method}"
        );
        let plan = downcast::<Tpu>(done.plan.as_ref().unwrap()).unwrap();
        // The checker looks for the flow of a small pod by itself.
        let depth = if cubes == 1 { Depth::EXACT } else { Depth::Usual };
        let verdict = Tpu::check(plan.plan(), depth);
        assert!(verdict.violations.is_empty(), "{method}: {:?}", verdict.violations);
        if depth == Depth::EXACT {
            let confirmed = |remark: &String| remark.contains("is confirmed");
            assert!(verdict.remarks.iter().any(confirmed), "{method}: {:?}", verdict.remarks);
        }
    }
}

/// Cube 1 of the torus of 2 cubes is joined to cube 0 along Z alone; in the others its circuits lead back to itself.
#[test]
fn switches_that_leave_the_pod_in_parts_are_named() {
    let along_z: Vec<u8> = (32..48).collect();
    let done = Ask::of(&crate::methods::all(), "pt", torus(2, &along_z)).run().done;
    assert!(done.plan.is_none() && done.message.contains("failed_ocs: disconnect the pod"), "{done:?}");
    let all: Vec<u8> = (0..48).collect();
    let refused = torus(2, &all).validate().unwrap_err().to_string();
    assert!(refused.contains("contains all 48 switches, so that no switch joins the 2 cubes"), "{refused}");
}
