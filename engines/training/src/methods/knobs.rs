//! Parameters that several methods share.

use crate::programs::selection::Writing;
use crate::search::allocations;
use crate::search::event_orders;
use crate::search::ga::GaSettings;
use crate::search::order;
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::random::Stream;

/// Returns the knob for a search for the fewest ports afterwards.
pub(super) fn min_ports() -> ParamInfo {
    ParamInfo::bool(
        "min_ports",
        false,
        "If true, then minimises ports without lengthening the makespan by more than 1e-7 (relative).",
    )
}

/// Settings of the methods that plan circuits and rates together by whatever helps.
pub(super) fn joint() -> Vec<ParamInfo> {
    let mut params = vec![min_ports(), prover()];
    params.extend(solver(&["mip_gap", "solver_process"]));
    params.extend(proving());
    params.extend(ordering());
    params.extend(event_orders());
    params.extend(genetic());
    params.push(super::robust::knob());
    params
}

/// Settings of the genetic search.
pub(super) fn genetic() -> Vec<ParamInfo> {
    let defaults = GaSettings::default();
    let count = |name, min, max, default: u32, help| ParamInfo::int(name, min, max, i64::from(default), help);
    vec![
        count(
            "islands",
            1,
            64,
            defaults.islands,
            "Islands: populations that evolve apart, on as many threads as there are.",
        ),
        count("population", 2, 10_000, defaults.population, "Individuals on every island."),
        count(
            "elites",
            0,
            1_000,
            defaults.elites,
            "Individuals that survive a generation unchanged; less than the population.",
        ),
        count(
            "tournament",
            1,
            100,
            defaults.tournament,
            "Tournament size: each parent is the best of this many individuals.",
        ),
        ParamInfo::float(
            "crossover",
            0.0,
            1.0,
            defaults.crossover,
            "Probability that a child has two parents.",
        ),
        ParamInfo::float(
            "mutation",
            0.0,
            1.0,
            defaults.mutation,
            "Probability that a link of a child changes by one or two circuits.",
        ),
        count("generations", 0, 1_000_000, defaults.generations, "Generations after which the search ends.")
            .effect(Effect::Live),
        count(
            "stall_generations",
            1,
            1_000_000,
            defaults.stall_generations,
            "Generations without improvement after which the search ends; half of it after a hot start.",
        )
        .effect(Effect::Live),
        count(
            "migration",
            1,
            10_000,
            defaults.migration,
            "Generations after which the best of every island moves to the next.",
        ),
        ParamInfo::float(
            "wall_limit_s",
            0.0,
            1e8,
            600.0,
            "Seconds of genetic search after which the run ends; 0 means no limit.",
        )
        .unit("s")
        .effect(Effect::Live),
    ]
}

/// Settings of the search with proof.
pub(super) fn proving() -> Vec<ParamInfo> {
    vec![
        ParamInfo::int(
            "listed_vectors",
            1,
            10_000_000,
            allocations::LISTED as i64,
            "Most circuit allocations that are listed and sorted by bound; beyond, boxes of allocations are searched.",
        ),
        ParamInfo::int(
            "boxes",
            1,
            1_000_000_000,
            allocations::BOXES as i64,
            "Most boxes of circuit allocations that are searched before the proof is given up.",
        ),
    ]
}

/// Settings of the search over orders.
pub(super) fn ordering() -> Vec<ParamInfo> {
    let defaults = event_orders::ProofLimits::default();
    vec![
        ParamInfo::int(
            "orders",
            0,
            1_000_000_000,
            defaults.nodes as i64,
            "Most orders of competing transfers that are searched before the proof is given up.",
        )
        .effect(Effect::Live),
        ParamInfo::float(
            "orders_limit_s",
            0.0,
            1e8,
            60.0,
            "Seconds after which the search over orders ends; 0 means no limit.",
        )
        .unit("s")
        .effect(Effect::Live),
    ]
}

/// Settings of the search over event orders.
pub(super) fn event_orders() -> Vec<ParamInfo> {
    let defaults = order::OrderLimits::default();
    let count = |name, default: u64, help| ParamInfo::int(name, 0, 1_000_000_000, default as i64, help);
    vec![
        count("lps", defaults.lps, "Linear programs, one for each event order, after which the search ends.")
            .effect(Effect::Live),
        count(
            "swaps",
            defaults.swaps,
            "Moves of events tried in vain one after another before the search starts over.",
        ),
        count(
            "restarts",
            defaults.restarts,
            "How often the search starts over, from a disturbed event order.",
        )
        .effect(Effect::Live),
    ]
}

/// Reads the limits of the search over event orders.
pub(super) fn order_limits(params: &Params, stream: Stream) -> order::OrderLimits {
    let mut limits = order::OrderLimits { stream, ..order::OrderLimits::default() };
    limits.swaps = params.int("swaps").and_then(|value| u64::try_from(value).ok()).unwrap_or(limits.swaps);
    limits.revise(|name| params.int(name));
    limits
}

/// Returns the knob for the form of the integer program over circuits.
pub(super) fn writing() -> ParamInfo {
    ParamInfo::choice(
        "writing",
        &["reduced", "full"],
        "reduced",
        "Form of the integer program: reduced leaves out what cannot matter, full has every start and number.",
    )
}

/// Reads how the integer program is written.
pub(super) fn writing_of(params: &Params) -> Writing {
    if params.text("writing") == Some("full") { Writing::Full } else { Writing::Reduced }
}

/// The solver's knobs that bear on a method: what it solves starts from full points and hardly ever branches.
pub(super) fn solver(names: &[&str]) -> Vec<ParamInfo> {
    let mut knobs = lightbay_highs::solve::knobs();
    knobs.retain(|knob| names.contains(&knob.name.as_ref()));
    knobs
}

/// Search that proves the best circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prover {
    /// The search over circuit vectors while they can be listed, else the integer program.
    Fastest,
    /// The search over circuit vectors.
    Outer,
    /// The integer program.
    Select,
}

/// Returns the knob for the search that proves the best circuits.
pub(super) fn prover() -> ParamInfo {
    ParamInfo::choice(
        "proof",
        &["fastest", "outer", "select"],
        "fastest",
        "What proves the best circuits: outer lists circuit allocations, select solves an integer program, fastest chooses.",
    )
}

/// Reads which search proves.
pub(super) fn prover_of(params: &Params) -> Prover {
    match params.text("proof") {
        Some("outer") => Prover::Outer,
        Some("select") => Prover::Select,
        _ => Prover::Fastest,
    }
}

/// Reads the settings of the genetic search.
pub(super) fn settings(params: &Params, hot: bool) -> GaSettings {
    let defaults = GaSettings::default();
    let count = |name: &str, default: u32| {
        params.int(name).and_then(|value| u32::try_from(value).ok()).unwrap_or(default)
    };
    let population = count("population", defaults.population);
    let mut settings = GaSettings {
        islands: count("islands", defaults.islands),
        population,
        elites: count("elites", defaults.elites).min(population.saturating_sub(1)),
        tournament: count("tournament", defaults.tournament),
        crossover: params.float("crossover").unwrap_or(defaults.crossover),
        mutation: params.float("mutation").unwrap_or(defaults.mutation),
        migration: count("migration", defaults.migration),
        hot,
        ..defaults
    };
    settings.revise(|name| params.int(name));
    settings
}
