//! The parameters of the interval model.

use crate::methods::knobs;
use crate::programs::interval::{Form, Pruning, Shape};
use crate::search::ga::GaSettings;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::iteration::Trace;
use lightbay_core::param::{Effect, ParamInfo, Params};
use std::sync::Arc;

/// Returns the parameters that shape the model.
pub(super) fn shape_knobs() -> Vec<ParamInfo> {
    vec![
        ParamInfo::choice(
            "rates",
            &["joint", "fair"],
            "joint",
            "Rates of transfers: part of the plan, \
             or max-min fair.",
        ),
        ParamInfo::choice(
            "formulation",
            &["compact", "strong", "tight", "paper"],
            "compact",
            "Model: as in the paper (paper), with tight bounds (tight), with rows for contention (strong), \
             or with intervals for competing tasks only (compact).",
        ),
        ParamInfo::choice(
            "windows",
            &["none", "dag", "anchored"],
            "anchored",
            "Intervals in which a task may be active: all intervals (none), the intervals that the DAG allows (dag), or intervals near its place in a schedule (anchored).",
        ),
        ParamInfo::choice(
            "anchor",
            &["start", "fair"],
            "start",
            "Schedule around which anchored windows are centred: the starting schedule (start), or the schedule on the circuits of the starting schedule at max-min fair rates (fair).",
        ),
        ParamInfo::int(
            "margin",
            0,
            1_000_000,
            2,
            "Maximum number of intervals by which a task may move from its place in the anchor. 0: the model \
             keeps the event order of the anchor, and is solved again with each better schedule as the anchor.",
        ),
        ParamInfo::int(
            "intervals",
            0,
            1_000_000,
            0,
            "Number of intervals; 0 uses the number of intervals of the anchor plus a few more.",
        ),
        ParamInfo::int_list(
            "circuits",
            1,
            1_000_000,
            "Circuits of every link, in link order; the model then decides only the schedule. Default: \
             the model decides circuits too.",
        ),
        ParamInfo::int(
            "start_generations",
            0,
            1_000_000,
            50,
            "Number of generations of the genetic search for a start; 0 uses the best baseline.",
        ),
    ]
}

/// Returns the parameter for adding the bound of the relaxation to the model.
pub(super) fn relaxation_knob() -> ParamInfo {
    ParamInfo::bool(
        "relaxation",
        true,
        "If true, solves the relaxation first and uses its bound as a lower limit on the makespan.",
    )
}

/// The solver's parameters that affect the interval model, with a default gap for makespans. Starting points are always
/// complete, so parameters that complete a starting point are left out.
pub(super) fn solver_knobs(names: &[&str]) -> Vec<ParamInfo> {
    let gap = ParamInfo::float(
        "mip_gap",
        0.0,
        1.0,
        1e-4,
        "Relative gap between plan and bound at which the solver reports a plan as optimal.",
    );
    let mut knobs = knobs::solver(names);
    for knob in knobs.iter_mut().filter(|knob| knob.name == "mip_gap") {
        *knob = gap.clone().effect(Effect::Warm);
    }
    knobs
}

/// Returns the rates that the parameters choose.
pub(super) fn rates(params: &Params) -> Rates {
    if params.text("rates") == Some("fair") { Rates::Fair } else { Rates::Best }
}

/// The shape of the model that the parameters choose.
pub(super) fn shape(params: &Params) -> Shape {
    let fair = rates(params) == Rates::Fair;
    let (tighten, cuts, competing_only) = match params.text("formulation") {
        Some("paper") => (false, false, false),
        Some("tight") => (true, false, false),
        Some("strong") => (true, true, false),
        _ => (true, true, true),
    };
    let count = |name| params.int(name).and_then(|value| u32::try_from(value).ok());
    let pruning = match params.text("windows") {
        Some("none") => Pruning::None,
        Some("dag") => Pruning::Dag,
        _ => Pruning::Anchored(count("margin").unwrap_or(2)),
    };
    let intervals = count("intervals").unwrap_or(0);
    Shape { form: Form { fair, tighten, cuts }, competing_only, pruning, intervals }
}

/// Settings of a genetic search with this number of generations.
pub(super) fn genetic(generations: i64) -> GaSettings {
    let generations = u32::try_from(generations).unwrap_or(u32::MAX);
    GaSettings { generations, stall_generations: generations.max(1), ..GaSettings::default() }
}

/// The schedule around which windows are centred.
pub(super) fn anchor(params: &Params, evaluator: &Evaluator, x: &[u32], start: &Arc<Trace>) -> Arc<Trace> {
    if params.text("anchor") == Some("fair") {
        Arc::new(evaluator.trace(x, Rates::Fair, &mut Scratch::default()))
    } else {
        Arc::clone(start)
    }
}
