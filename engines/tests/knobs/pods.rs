//! Knobs of pods and of their methods.

use super::methods::Shows;
use super::runs::{Ran, is_refused, solve};
use super::{assert_all_changed, assert_covered};
use lightbay_core::event::EventBody;
use lightbay_core::param::{ParamValue, Params};
use lightbay_engines::{knobs, methods};
use lightbay_highs::solve::options_of;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A preset that a method takes, small enough to be solved in a moment.
fn preset(method: &str) -> &'static str {
    match method {
        "pt" => "pt-4x4x8",
        "pdtt" => "pdtt-4x4x8",
        "evaluate" => "tpu-random-128",
        _ => "tpu-128",
    }
}

/// Settings for the smallest pod that a method takes.
fn smallest(method: &str) -> &'static str {
    match method {
        "pdtt" => "",
        "evaluate" => "topology=pt cubes=1",
        _ => "cubes=1",
    }
}

/// Settings with which a method is over in a moment.
fn quick(method: &str) -> &'static str {
    match method {
        "tons-fast" => "steps=300 chains=2 rounds=0",
        "tons-lp" => "relaxation_gap=0.1 roundings=2 certified=1",
        "tons-lp-greedy" => "relaxation_gap=0.1 fix_per_round=48",
        // The pod that the search would begin with is good enough.
        "tons-milp" => "mip_gap=1 solver_process=own",
        _ => "",
    }
}

/// Settings one after the other, the last of a name wins; in order of names.
fn settled(parts: &[&str]) -> String {
    let settings: BTreeMap<&str, &str> =
        parts.iter().flat_map(|part| part.split_whitespace()).filter_map(|one| one.split_once('=')).collect();
    settings.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Messages of a run, without their times.
fn said(ran: &Ran) -> Vec<String> {
    let told = ran.events.iter().filter_map(|event| match &event.body {
        EventBody::Phase(phase) => Some(format!("{}: {}", phase.name, phase.detail)),
        // Every round of a certificate has a point; curves of a search are drawn as time allows.
        EventBody::Series(point) if point.name.starts_with("mcf_") => {
            Some(format!("{} {}", point.name, point.y))
        }
        EventBody::Note(note) => Some(note.text.clone()),
        _ => None,
    });
    told.collect()
}

#[derive(Clone, Copy)]
struct Case {
    method: &'static str,
    param: &'static str,
    /// Settings of both runs.
    given: &'static str,
    to: &'static str,
    shows: Shows,
}

const fn case(
    method: &'static str,
    param: &'static str,
    given: &'static str,
    to: &'static str,
    shows: Shows,
) -> Case {
    Case { method, param, given, to, shows }
}

/// A simulation that is over in a moment.
const SHORT: &str = "warmup_cycles=200 measure_cycles=200 rate_step=0.1";

/// The same with the routers whose settings all have an effect.
const CROSSBAR: &str = "warmup_cycles=200 measure_cycles=200 rate_step=0.1 allocator=islip";

/// The same on the smallest pod.
const SMALL: &str = "SMALLEST routing=at route_passes=1 warmup_cycles=200 measure_cycles=200 rate_step=0.1";

/// The same for 48 pods without a switch.
const SWEPT: &str = "SMALLEST routing=at route_passes=1 tolerated_ocs_faults=1 warmup_cycles=50 measure_cycles=50 rate_step=0.5";

const ALL: &[&str] =
    &["tons-fast", "tons-lp-greedy", "tons-lp", "tons-milp", "random", "pt", "pdtt", "evaluate"];
/// Methods whose pods are not tori.
const DRAWN: &[&str] = &["tons-fast", "tons-lp-greedy", "tons-lp", "tons-milp", "random", "evaluate"];
const TORI: &[&str] = &["pt", "pdtt"];

/// Methods whose relaxation of two cubes takes a second.
const RELAXING: &[&str] = &["tons-lp-greedy", "tons-lp"];
/// Methods whose certificates of two cubes have more than one round.
const CERTIFYING: &[&str] = &["tons-fast", "tons-milp", "random", "pt", "pdtt", "evaluate"];

/// Voltages for two cubes.
const VOLTAGES: &str =
    "1,0,1,1,0,1,0,0,1,0,1,1,0,1,0,0,1,1,1,0,0,1,0,1,0,1,0,1,1,0,1,0,0,1,1,0,1,0,1,0,1,1,0,0,1,0,1,0";

/// Parameters that all methods share.
const SHARED: &[(&[&str], &str, &str, &str, Shows)] = &[
    (CERTIFYING, "certificate_gap", "routing=none certificate_gap=0.01", "0.0001", Shows::Log),
    (CERTIFYING, "certificate_rounds", "routing=none certificate_gap=0.01", "2", Shows::Log),
    (RELAXING, "certificate_gap", "SMALLEST routing=none", "0.005", Shows::Log),
    (RELAXING, "certificate_rounds", "SMALLEST routing=none", "2", Shows::Log),
    (DRAWN, "routing", "SMALLEST", "none", Shows::Plan),
    (TORI, "routing", "SMALLEST", "at", Shows::Plan),
    (ALL, "route_passes", "SMALLEST routing=at", "1", Shows::Plan),
    // Routes with a detour are too many for the exact program, which says so.
    (ALL, "route_selection", "SMALLEST routing=at route_passes=1 slack_hops=2", "ilp", Shows::Refused),
    (ALL, "balance", "SMALLEST routing=at", "false", Shows::Plan),
    (ALL, "with_routes", "SMALLEST", "false", Shows::Plan),
    (DRAWN, "with_faults", "SMALLEST route_passes=1", "true", Shows::Plan),
    (TORI, "with_faults", "SMALLEST", "true", Shows::Plan),
    (
        ALL,
        "fault_turns",
        "SMALLEST routing=at route_passes=1 tolerated_ocs_faults=1",
        "per_fault",
        Shows::Plan,
    ),
    (ALL, "fault_saturation", SWEPT, "true", Shows::Plan),
    (ALL, "saturation_search", SMALL, "steps", Shows::Plan),
];

const CASES: &[Case] = &[
    case("tons-fast", "steps", "routing=none", "600", Shows::Work),
    case("tons-fast", "chains", "routing=none", "3", Shows::Work),
    case("tons-fast", "rounds", "routing=none", "1", Shows::Work),
    case("tons-fast", "symmetry", "routing=none", "free", Shows::Log),
    case("tons-fast", "hot", "routing=none", "0.5", Shows::Log),
    case("tons-fast", "cold", "routing=none", "0.01", Shows::Log),
    case("tons-fast", "swaps", "routing=none", "0.9", Shows::Log),
    case("tons-fast", "mean_share", "routing=none cubes=8", "0.9", Shows::Log),
    case(
        "tons-fast",
        "general_steps",
        "routing=none cubes=3 group=3 steps=1 certificate_rounds=3",
        "5",
        Shows::Work,
    ),
    case("tons-lp", "relaxation_gap", "routing=none certificate_gap=0.01", "0.02", Shows::Log),
    case("tons-lp", "roundings", "SMALLEST routing=none", "5", Shows::Work),
    case("tons-lp", "certified", "cubes=2 routing=none", "2", Shows::Log),
    case("tons-lp-greedy", "relaxation_gap", "routing=none certificate_gap=0.01", "0.02", Shows::Log),
    case("tons-lp-greedy", "fix_per_round", "SMALLEST routing=none", "24", Shows::Log),
    case("tons-milp", "mip_gap", "SMALLEST routing=none", "0.0000001", Shows::Log),
    case("tons-milp", "solver_process", "SMALLEST routing=none mip_gap=0.0000001", "worker", Shows::Log),
    case("evaluate", "voltages", "routing=none", VOLTAGES, Shows::Refused),
    case("random", "samples", "routing=none", "3", Shows::Log),
    case("random", "symmetric", "routing=none cubes=3", "false", Shows::Plan),
];

/// Knobs of the tree search that `tons-milp` hands to the solver as they are. The tree of the smallest pod has one
/// node, on which they have no bearing: what shows is that another option reaches the solver.
const HANDED_ON: &[(&str, &str)] = &[
    ("presolve", "off"),
    ("lp_method", "simplex"),
    ("max_start_nodes", "7"),
    ("heuristic_effort", "0.5"),
    ("restarts", "false"),
    ("node_cuts", "false"),
];

/// Runs of one method that were requested before.
#[derive(Default)]
struct Runs(HashMap<(&'static str, String), Rc<Ran>>);

impl Runs {
    fn get(&mut self, method: &'static str, text: &str) -> Rc<Ran> {
        let run = || Rc::new(solve(preset(method), method, text));
        Rc::clone(self.0.entry((method, text.to_owned())).or_insert_with(run))
    }

    /// Says what is wrong if nothing changes.
    fn change(&mut self, case: &Case) -> Result<(), String> {
        let Case { method, param, to, .. } = *case;
        let given = case.given.replace("SMALLEST", smallest(method));
        let changed = settled(&[quick(method), &given, &format!("{param}={to}")]);
        let given = settled(&[quick(method), &given]);
        let told = |text: String| Err(format!("{method} {param}={to} ({given}): {text}"));
        let before = self.get(method, &given);
        if matches!(case.shows, Shows::Refused) {
            let refused = is_refused(preset(method), method, &changed);
            return if refused { Ok(()) } else { told("was not refused".to_owned()) };
        }
        let after = self.get(method, &changed);
        let same = match case.shows {
            Shows::Plan => before.plan() == after.plan(),
            Shows::Work => before.done.work == after.done.work,
            _ => said(&before) == said(&after),
        };
        if same { told(format!("no change of {:?}", case.shows)) } else { Ok(()) }
    }
}

/// Every case of a method, of its own knobs and of those that it shares.
fn cases(method: &str) -> Vec<Case> {
    let own = CASES.iter().filter(|case| case.method == method).copied();
    let shared = SHARED.iter().flat_map(|(methods, param, given, to, shows)| {
        methods.iter().filter(|known| **known == method).map(|known| case(known, param, given, to, *shows))
    });
    own.chain(shared).collect()
}

fn assert_does_something(method: &str) {
    let mut runs = Runs::default();
    let idle = cases(method).iter().filter_map(|case| runs.change(case).err()).collect();
    assert_all_changed(&format!("knobs of {method}"), idle);
}

#[test]
fn every_knob_of_every_method_of_pods_has_a_case() {
    let mut entries: Vec<(String, String)> = Vec::new();
    for method in methods("tpu") {
        entries.extend(method.params.iter().map(|param| (method.name.to_owned(), param.name.to_string())));
    }
    let mut covered: Vec<(String, String)> = ALL
        .iter()
        .flat_map(|method| cases(method))
        .map(|case| (case.method.to_owned(), case.param.to_owned()))
        .collect();
    covered.extend(HANDED_ON.iter().map(|(knob, _)| ("tons-milp".to_owned(), (*knob).to_owned())));
    assert_covered("knobs of methods of pods", &entries, &covered);
}

#[test]
fn every_knob_of_tons_fast_does_something() {
    assert_does_something("tons-fast");
}

#[test]
fn every_knob_of_tons_lp_does_something() {
    assert_does_something("tons-lp");
}

#[test]
fn every_knob_of_tons_lp_greedy_does_something() {
    assert_does_something("tons-lp-greedy");
}

#[test]
fn every_knob_of_tons_milp_does_something() {
    assert_does_something("tons-milp");
    let infos = methods("tpu").into_iter().find(|method| method.name == "tons-milp").unwrap().params;
    let options =
        |given: Option<(&str, &ParamValue)>| options_of(&Params::resolve(&infos, given).unwrap(), 1);
    let idle = HANDED_ON.iter().filter(|(knob, to)| {
        let value = infos.iter().find(|info| info.name == *knob).unwrap().parse(to).unwrap();
        options(Some((knob, &value))) == options(None)
    });
    assert_all_changed("knobs of the solver", idle.map(|(knob, _)| (*knob).to_owned()).collect());
}

#[test]
fn every_knob_of_random_pods_does_something() {
    assert_does_something("random");
}

#[test]
fn every_knob_of_tori_does_something() {
    for method in TORI {
        assert_does_something(method);
    }
}

#[test]
fn every_knob_of_given_pods_does_something() {
    assert_does_something("evaluate");
}

/// Knobs of scenarios: method, preset, settings of both runs, value changed to.
const POD: &[(&str, &str, &str, &str)] = &[
    ("cubes", "random", "routing=none", "3"),
    ("job_shape", "pt", "routing=none cubes=4 job_shape=4,8,8", "4,4,16"),
    ("topology", "evaluate", "routing=none topology=pt", "pdtt"),
    ("group", "random", "routing=none cubes=4", "4"),
    ("vc_count", "random", "", "3"),
    ("turn_priority", "random", "", "random"),
    ("slack_hops", "random", "", "2"),
    ("tolerated_ocs_faults", "random", "", "1"),
    ("failed_ocs", "random", "", "3"),
    ("simulate", "random", "", "true"),
    ("clock_ghz", "random", SHORT, "2.1"),
    ("link_gbyte_per_s", "random", SHORT, "64"),
    ("flit_bytes", "random", SHORT, "256"),
    ("link_latency_electrical_cycles", "random", SHORT, "10"),
    ("link_latency_optical_cycles", "random", SHORT, "60"),
    ("router_latency_cycles", "random", SHORT, "5"),
    ("injection_latency_cycles", "random", SHORT, "5"),
    ("router_vc_count", "random", SHORT, "2"),
    ("escape_vc_count", "random", SHORT, "3"),
    ("buffer_flits_per_vc", "random", SHORT, "4"),
    ("packet_flits", "random", SHORT, "4"),
    ("allocator", "random", SHORT, "islip"),
    ("speedup", "random", CROSSBAR, "2"),
    ("islip_iterations", "random", CROSSBAR, "3"),
    ("chip_ports", "random", CROSSBAR, "2"),
    ("warmup_cycles", "random", SHORT, "100"),
    ("measure_cycles", "random", SHORT, "100"),
    ("rate_step", "random", SHORT, "0.2"),
];

#[test]
fn every_knob_of_a_pod_changes_the_plan() {
    let entries: Vec<String> = knobs("tpu").iter().map(|knob| knob.name.to_string()).collect();
    let covered: Vec<String> = POD.iter().map(|(knob, ..)| (*knob).to_owned()).collect();
    assert_covered("knobs of pods", &entries, &covered);
    let mut runs = Runs::default();
    let cases = POD.iter().map(|(knob, method, given, to)| case(method, knob, given, to, Shows::Plan));
    assert_all_changed("knobs of pods", cases.filter_map(|case| runs.change(&case).err()).collect());
}

/// The comparison itself: a run that is asked twice gives the same, so a difference has a cause.
#[test]
fn without_a_change_nothing_changes() {
    for method in ALL {
        let asked = settled(&[quick(method), smallest(method)]);
        let [one, two]: [Ran; 2] = [0, 1].map(|_| solve(preset(method), method, &asked));
        assert!(one.plan() == two.plan(), "{method}");
        assert_eq!(said(&one), said(&two), "{method}");
    }
}
