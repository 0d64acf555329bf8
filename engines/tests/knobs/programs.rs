//! Knobs of the integer programs over intervals and slots.

use super::assert_all_changed;
use super::methods::{Case, Shows, case, change, on};

const INTERVAL: &[&str] = &["delta-interval"];
const SLOTS: &[&str] = &["delta-fixed-step"];
const BOTH: &[&str] = &["delta-interval", "delta-fixed-step"];

/// Every task has intervals, so that windows and anchors show in the size of the model.
const STRONG: &str = "formulation=strong";

const fn tiny(case: Case) -> Case {
    on("tiny4", case)
}

pub(super) const CASES: &[Case] = &[
    tiny(case(INTERVAL, "min_ports", "", "true", Shows::Log)),
    tiny(case(INTERVAL, "rates", "mip_gap=0.01", "fair", Shows::Plan)),
    tiny(case(INTERVAL, "formulation", "", "tight", Shows::Log)),
    tiny(case(INTERVAL, "windows", STRONG, "dag", Shows::Log)),
    case(INTERVAL, "anchor", STRONG, "fair", Shows::Log),
    tiny(case(INTERVAL, "margin", STRONG, "0", Shows::Log)),
    tiny(case(INTERVAL, "intervals", "", "40", Shows::Log)),
    tiny(case(INTERVAL, "circuits", "", "2,2,2", Shows::Plan)),
    tiny(case(INTERVAL, "start_generations", "", "0", Shows::Work)),
    tiny(case(INTERVAL, "relaxation", "", "false", Shows::Log)),
    case(INTERVAL, "mip_gap", "start_generations=0 relaxation=false", "0.5", Shows::Plan),
    tiny(case(INTERVAL, "lp_method", "formulation=strong relaxation=false", "ipx", Shows::Log)),
    tiny(case(SLOTS, "dt_ms", "", "40", Shows::Log)),
    tiny(case(SLOTS, "max_columns", "", "100", Shows::Refused)),
    tiny(case(BOTH, "solver_process", "", "own", Shows::Log)),
    tiny(case(BOTH, "presolve", "", "off", Shows::Log)),
];

#[test]
fn every_knob_of_the_integer_programs_does_something() {
    let idle: Vec<String> = CASES
        .iter()
        .flat_map(|case| case.methods.iter().filter_map(|method| change(case, method).err()))
        .collect();
    assert_all_changed("knobs of integer programs", idle);
}
