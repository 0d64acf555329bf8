//! Knobs of the integer programs over intervals and slots.

use super::assert_all_changed;
use super::methods::{Case, Shows, case, change, on};

const INTERVAL: &[&str] = &["delta-interval"];
const SLOTS: &[&str] = &["delta-fixed-step"];
const BOTH: &[&str] = &["delta-interval", "delta-fixed-step"];

/// Every task has intervals, so that windows and anchors show in the size of the model.
const STRONG: &str = "formulation=strong";

const fn tiny(
    methods: &'static [&'static str],
    param: &'static str,
    given: &'static str,
    to: &'static str,
    shows: Shows,
) -> Case {
    on("tiny4", case(methods, param, given, to, shows))
}

pub(super) const CASES: &[Case] = &[
    tiny(INTERVAL, "min_ports", "", "true", Shows::Log),
    tiny(INTERVAL, "rates", "mip_gap=0.01", "fair", Shows::Plan),
    tiny(INTERVAL, "formulation", "", "tight", Shows::Log),
    tiny(INTERVAL, "windows", STRONG, "dag", Shows::Log),
    case(INTERVAL, "anchor", STRONG, "fair", Shows::Log),
    tiny(INTERVAL, "margin", STRONG, "0", Shows::Log),
    tiny(INTERVAL, "intervals", "", "40", Shows::Log),
    tiny(INTERVAL, "circuits", "", "2,2,2", Shows::Plan),
    tiny(INTERVAL, "start_generations", "", "0", Shows::Work),
    tiny(INTERVAL, "relaxation", "", "false", Shows::Log),
    case(INTERVAL, "mip_gap", "start_generations=0 relaxation=false", "0.5", Shows::Plan),
    tiny(INTERVAL, "lp_method", "formulation=strong relaxation=false", "ipx", Shows::Log),
    tiny(SLOTS, "dt_ms", "", "40", Shows::Log),
    tiny(SLOTS, "max_columns", "", "100", Shows::Refused),
    tiny(BOTH, "solver_process", "", "own", Shows::Log),
    tiny(INTERVAL, "presolve", "formulation=strong relaxation=false", "off", Shows::Log),
    tiny(SLOTS, "presolve", "", "off", Shows::Log),
];

#[test]
fn every_knob_of_the_integer_programs_does_something() {
    let idle: Vec<String> = CASES
        .iter()
        .flat_map(|case| case.methods.iter().filter_map(|method| change(case, method).err()))
        .collect();
    assert_all_changed("knobs of integer programs", idle);
}
