//! Knobs of methods, and those that all methods have.

use super::runs::{CONTENDED, Ran, is_refused, solve};
use super::{assert_all_changed, assert_covered};
use lightbay_core::plan::Limit;
use lightbay_core::run::common_params;
use lightbay_engines::methods;

/// Place in which a change shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shows {
    /// The plan is another one.
    Plan,
    /// More or less is evaluated.
    Work,
    /// Something else is said.
    Log,
    /// Another limit ends the run.
    Limit(Limit),
    /// The request is refused.
    Refused,
}

pub(super) struct Case {
    pub(super) methods: &'static [&'static str],
    pub(super) param: &'static str,
    preset: &'static str,
    /// Settings of both runs.
    given: &'static str,
    /// The value changed to.
    to: &'static str,
    shows: Shows,
}

const GENETIC: &[&str] = &["delta-fast", "delta-level"];
/// Methods whose genetic search only runs where vectors are too many to be listed.
const TOPO: &[&str] = &["delta-topo"];
/// Methods that prove by the search over vectors or by an integer program.
const PROVING_JOINT: &[&str] = &["delta-joint", "auto"];
/// Two jobs on one set of pods.
const PAIR: &str = "megatron_177b_pair";
/// Hardly any genetic search before the integer program.
const SELECTING: &str = "proof=select generations=0 islands=1 population=2";
const LONG: &str = "generations=100000 stall_generations=100000 wall_limit_s=0 population=10";
const LONG_UNLISTED: &str =
    "listed_vectors=1 generations=100000 stall_generations=100000 wall_limit_s=0 population=10";

/// Circuits that move within an iteration.
const MOVING: &str = "switching_delay_s=0.001";

const LONG_OUTER: &str =
    "proof=outer listed_vectors=1 generations=100000 stall_generations=100000 wall_limit_s=0 population=10";

pub(super) const fn case(
    methods: &'static [&'static str],
    param: &'static str,
    given: &'static str,
    to: &'static str,
    shows: Shows,
) -> Case {
    Case { methods, param, preset: "small", given, to, shows }
}

pub(super) const fn on(preset: &'static str, case: Case) -> Case {
    Case { preset, ..case }
}

const fn contended(param: &'static str, given: &'static str, to: &'static str, shows: Shows) -> Case {
    on(CONTENDED, case(&["delta-order"], param, given, to, shows))
}

const CASES: &[Case] = &[
    case(GENETIC, "min_ports", "generations=0 islands=1 population=2", "true", Shows::Log),
    case(TOPO, "min_ports", "", "true", Shows::Plan),
    case(&["delta-joint"], "min_ports", "", "true", Shows::Plan),
    case(&["delta-phases"], "move_boxes", MOVING, "1", Shows::Limit(Limit::Work)),
    case(&["delta-phases"], "fewest_ports", MOVING, "true", Shows::Plan),
    case(&["delta-phases"], "target_over", "switching_delay_s=0.001 fewest_ports=true", "20", Shows::Plan),
    case(&["delta-phases"], "target_s", "switching_delay_s=0.001 fewest_ports=true", "0.42", Shows::Plan),
    // On the small job the genetic search ends with the fewest ports already.
    on("tiny8", case(&["auto"], "min_ports", "", "true", Shows::Plan)),
    case(&["delta-select"], "min_ports", "", "true", Shows::Log),
    case(&["delta-select"], "writing", "", "full", Shows::Log),
    case(&["delta-select"], "solver_process", "", "own", Shows::Log),
    case(&["delta-select"], "presolve", "writing=full", "off", Shows::Log),
    case(&["delta-select"], "lp_method", "writing=full", "ipx", Shows::Log),
    case(&["delta-select"], "mip_gap", "writing=full", "0.5", Shows::Log),
    case(PROVING_JOINT, "proof", "", "select", Shows::Log),
    on("megatron_177b", case(PROVING_JOINT, "robust", "", "seq=2048,16384", Shows::Plan)),
    case(PROVING_JOINT, "solver_process", SELECTING, "own", Shows::Log),
    on("mixtral_8x22b", case(PROVING_JOINT, "mip_gap", SELECTING, "0.5", Shows::Log)),
    case(GENETIC, "islands", "generations=20", "1", Shows::Work),
    case(GENETIC, "population", "generations=20", "12", Shows::Work),
    case(GENETIC, "elites", "generations=20", "0", Shows::Work),
    case(GENETIC, "tournament", "generations=20", "1", Shows::Work),
    case(GENETIC, "crossover", "generations=20", "0", Shows::Work),
    case(GENETIC, "mutation", "generations=20", "0.9", Shows::Work),
    case(GENETIC, "generations", "", "3", Shows::Work),
    case(GENETIC, "stall_generations", "", "3", Shows::Work),
    on("mixtral_8x22b", case(GENETIC, "migration", "generations=40", "2", Shows::Log)),
    case(GENETIC, "wall_limit_s", LONG, "0.02", Shows::Limit(Limit::Time)),
    case(TOPO, "listed_vectors", "generations=5", "1", Shows::Log),
    case(TOPO, "boxes", "listed_vectors=1 generations=5", "1", Shows::Limit(Limit::Work)),
    case(TOPO, "islands", "listed_vectors=1 generations=20", "1", Shows::Work),
    case(TOPO, "population", "listed_vectors=1 generations=20", "12", Shows::Work),
    case(TOPO, "elites", "listed_vectors=1 generations=20", "0", Shows::Work),
    case(TOPO, "tournament", "listed_vectors=1 generations=20", "1", Shows::Work),
    case(TOPO, "crossover", "listed_vectors=1 generations=20", "0", Shows::Work),
    case(TOPO, "mutation", "listed_vectors=1 generations=20", "0.9", Shows::Work),
    case(TOPO, "generations", "listed_vectors=1", "3", Shows::Work),
    case(TOPO, "stall_generations", "listed_vectors=1", "3", Shows::Work),
    on("mixtral_8x22b", case(TOPO, "migration", "listed_vectors=1 generations=40", "2", Shows::Log)),
    case(TOPO, "wall_limit_s", LONG_UNLISTED, "0.02", Shows::Limit(Limit::Time)),
    case(PROVING_JOINT, "listed_vectors", "generations=5", "1", Shows::Log),
    case(
        PROVING_JOINT,
        "boxes",
        "proof=outer listed_vectors=1 generations=5",
        "1",
        Shows::Limit(Limit::Work),
    ),
    case(PROVING_JOINT, "islands", "proof=outer listed_vectors=1 generations=20", "1", Shows::Work),
    case(PROVING_JOINT, "population", "proof=outer listed_vectors=1 generations=20", "12", Shows::Work),
    case(PROVING_JOINT, "elites", "proof=outer listed_vectors=1 generations=20", "0", Shows::Work),
    case(PROVING_JOINT, "tournament", "proof=outer listed_vectors=1 generations=20", "1", Shows::Work),
    case(PROVING_JOINT, "crossover", "proof=outer listed_vectors=1 generations=20", "0", Shows::Work),
    case(PROVING_JOINT, "mutation", "proof=outer listed_vectors=1 generations=20", "0.9", Shows::Work),
    case(PROVING_JOINT, "generations", "proof=outer listed_vectors=1", "3", Shows::Work),
    case(PROVING_JOINT, "stall_generations", "proof=outer listed_vectors=1", "3", Shows::Work),
    on(
        "mixtral_8x22b",
        case(PROVING_JOINT, "migration", "proof=outer listed_vectors=1 generations=40", "2", Shows::Log),
    ),
    case(PROVING_JOINT, "wall_limit_s", LONG_OUTER, "0.02", Shows::Limit(Limit::Time)),
    on(CONTENDED, case(PROVING_JOINT, "orders", "", "0", Shows::Work)),
    on(CONTENDED, case(PROVING_JOINT, "orders_limit_s", "", "1e-9", Shows::Work)),
    contended("circuits", "circuits=3,3", "2,3", Shows::Plan),
    contended("lps", "circuits=3,3", "2", Shows::Work),
    contended("swaps", "circuits=3,3", "0", Shows::Work),
    contended("restarts", "circuits=3,3", "0", Shows::Work),
    contended("exchange", "circuits=1,3", "true", Shows::Plan),
    contended("orders", "circuits=3,3", "0", Shows::Work),
    contended("orders_limit_s", "circuits=3,3", "1e-9", Shows::Work),
    on(CONTENDED, case(PROVING_JOINT, "lps", "orders=0 generations=1", "2", Shows::Work)),
    on(CONTENDED, case(PROVING_JOINT, "swaps", "orders=0 generations=1", "0", Shows::Work)),
    on(CONTENDED, case(PROVING_JOINT, "restarts", "orders=0 generations=1", "0", Shows::Work)),
    case(&["simulate"], "topology", "topology=1,1,1,3,3,3,3", "2,2,2,1,1,1,1", Shows::Plan),
    case(&["simulate"], "rates", "topology=1,1,1,3,3,3,3", "level", Shows::Plan),
    on(PAIR, case(&["reallocate"], "rates", "", "fair", Shows::Plan)),
    on(PAIR, case(&["reallocate"], "trades", "", "0", Shows::Plan)),
    on(PAIR, case(&["reallocate"], "listed_vectors", "", "1", Shows::Work)),
    on(PAIR, case(&["reallocate"], "boxes", "listed_vectors=1 rates=fair", "1", Shows::Work)),
];

/// The common knobs, each with a method on which they bear.
const COMMON: &[Case] = &[
    case(&["delta-fast"], "time_limit_s", LONG, "0.02", Shows::Limit(Limit::Time)),
    on("deepseek_671b", case(&["delta-joint"], "gap", "", "0.5", Shows::Work)),
    case(&["delta-fast"], "seed", "generations=20", "7", Shows::Work),
];

/// Says what is wrong if nothing changes.
pub(super) fn change(case: &Case, method: &str) -> Result<(), String> {
    let endless = matches!(case.shows, Shows::Limit(Limit::Time));
    let given =
        case.given.split_whitespace().filter(|setting| !setting.starts_with(&format!("{}=", case.param)));
    let given: Vec<&str> = given.collect();
    let changed = format!("{} {}={}", given.join(" "), case.param, case.to);
    let told = |text: String| {
        Err(format!("{method} {}={} on {} ({}): {text}", case.param, case.to, case.preset, case.given))
    };
    if matches!(case.shows, Shows::Refused) {
        solve(case.preset, method, case.given);
        let refused = is_refused(case.preset, method, &changed);
        return if refused { Ok(()) } else { told("was not refused".to_owned()) };
    }
    let after = solve(case.preset, method, &changed);
    if endless {
        // Without the change it would not end for minutes; that it ended early is the change.
        return match after.done.limit {
            Some(Limit::Time) => Ok(()),
            other => told(format!("ended by {other:?}")),
        };
    }
    let before = solve(case.preset, method, case.given);
    let same = match case.shows {
        Shows::Plan => before.plan() == after.plan(),
        Shows::Work => before.done.work == after.done.work,
        Shows::Log => before.log() == after.log(),
        Shows::Refused => true,
        Shows::Limit(limit) => before.done.limit == after.done.limit || after.done.limit != Some(limit),
    };
    if same { told(format!("no change of {:?}", case.shows)) } else { Ok(()) }
}

#[test]
fn every_knob_of_every_method_does_something() {
    let mut entries: Vec<(String, String)> = Vec::new();
    for method in methods("training") {
        entries.extend(method.params.iter().map(|param| (method.name.to_owned(), param.name.to_string())));
    }
    let mut covered = Vec::new();
    let mut idle = Vec::new();
    for case in super::programs::CASES {
        covered.extend(case.methods.iter().map(|method| ((*method).to_owned(), case.param.to_owned())));
    }
    for case in CASES {
        for method in case.methods {
            covered.push(((*method).to_owned(), case.param.to_owned()));
            idle.extend(change(case, method).err());
        }
    }
    assert_covered("knobs of methods", &entries, &covered);
    assert_all_changed("knobs of methods", idle);
}

#[test]
fn every_common_knob_does_something() {
    let entries: Vec<String> = common_params().iter().map(|param| param.name.to_string()).collect();
    let covered: Vec<String> = COMMON.iter().map(|case| case.param.to_owned()).collect();
    assert_covered("common knobs", &entries, &covered);
    let idle = COMMON.iter().filter_map(|case| change(case, case.methods[0]).err()).collect();
    assert_all_changed("common knobs", idle);
}

/// The comparison itself: a run that is asked twice gives the same, so a difference has a cause.
#[test]
fn without_a_change_nothing_changes() {
    for (method, given) in [
        ("delta-fast", "generations=20"),
        ("delta-level", "generations=20"),
        ("delta-topo", "listed_vectors=1 generations=20"),
        ("delta-joint", "proof=outer listed_vectors=1 generations=20"),
        ("delta-select", ""),
        ("auto", SELECTING),
        ("simulate", "topology=1,1,1,3,3,3,3"),
    ] {
        let [one, two]: [Ran; 2] = [solve("small", method, given), solve("small", method, given)];
        assert!(one.plan() == two.plan(), "{method}");
        assert_eq!(one.done.work, two.done.work, "{method}");
        assert_eq!(one.log(), two.log(), "{method}");
    }
}
