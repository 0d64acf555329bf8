//! Parameters that several methods share.

use crate::programs::selection::Writing;
use crate::search::allocations;
use crate::search::event_orders;
use crate::search::ga::GaSettings;
use crate::search::order;
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::random::Stream;

/// Returns the parameter that switches on port minimisation after the search for the shortest makespan.
pub(super) fn min_ports() -> ParamInfo {
    ParamInfo::bool(
        "min_ports",
        false,
        "If true, also minimises ports, without lengthening the makespan by more than 1e-7 (relative).",
    )
}

/// Returns the parameters of the methods that plan circuits and rates together.
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

/// Returns the parameters of the genetic search.
pub(super) fn genetic() -> Vec<ParamInfo> {
    let defaults = GaSettings::default();
    let count = |name, min, max, default: u32, help| ParamInfo::int(name, min, max, i64::from(default), help);
    vec![
        count(
            "islands",
            1,
            64,
            defaults.islands,
            "Number of islands: populations that evolve separately, in parallel threads.",
        ),
        count("population", 2, 10_000, defaults.population, "Number of individuals per island."),
        count(
            "elites",
            0,
            1_000,
            defaults.elites,
            "Number of individuals that survive a generation unchanged; must be smaller than the \
             population.",
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
        count("generations", 0, 1_000_000, defaults.generations, "Maximum number of generations.")
            .effect(Effect::Live),
        count(
            "stall_generations",
            1,
            1_000_000,
            defaults.stall_generations,
            "Number of generations without improvement that ends the search; half as many after a hot \
             start.",
        )
        .effect(Effect::Live),
        count(
            "migration",
            1,
            10_000,
            defaults.migration,
            "Number of generations between migrations of the best individual of every island to the next \
             one.",
        ),
        ParamInfo::float("wall_limit_s", 0.0, 1e8, 600.0, "Time limit for the genetic search; 0: no limit.")
            .unit("s")
            .effect(Effect::Live),
    ]
}

/// Returns the parameters of the search with proof.
pub(super) fn proving() -> Vec<ParamInfo> {
    vec![
        ParamInfo::int(
            "listed_vectors",
            1,
            10_000_000,
            allocations::LISTED as i64,
            "Maximum number of circuit allocations that are listed and sorted by bound; above it, branch \
             and bound searches boxes of allocations.",
        ),
        ParamInfo::int(
            "boxes",
            1,
            1_000_000_000,
            allocations::BOXES as i64,
            "Maximum number of boxes of circuit allocations that the proof may search.",
        ),
    ]
}

/// Returns the parameters of the search over orders.
pub(super) fn ordering() -> Vec<ParamInfo> {
    let defaults = event_orders::ProofLimits::default();
    vec![
        ParamInfo::int(
            "orders",
            0,
            1_000_000_000,
            defaults.nodes as i64,
            "Maximum number of orders of competing transfers that the proof may search.",
        )
        .effect(Effect::Live),
        ParamInfo::float(
            "orders_limit_s",
            0.0,
            1e8,
            60.0,
            "Time limit for the search over orders; 0: no limit.",
        )
        .unit("s")
        .effect(Effect::Live),
    ]
}

/// Returns the parameters of the search over event orders.
pub(super) fn event_orders() -> Vec<ParamInfo> {
    let defaults = order::OrderLimits::default();
    let count = |name, default: u64, help| ParamInfo::int(name, 0, 1_000_000_000, default as i64, help);
    vec![
        count("lps", defaults.lps, "Maximum number of linear programs, one per event order.")
            .effect(Effect::Live),
        count(
            "swaps",
            defaults.swaps,
            "Number of consecutive event moves without improvement after which the search restarts.",
        ),
        count("restarts", defaults.restarts, "Number of restarts, each from a perturbed event order.")
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

/// Returns the parameter for the form of the integer program over circuits.
pub(super) fn writing() -> ParamInfo {
    ParamInfo::choice(
        "writing",
        &["reduced", "full"],
        "reduced",
        "Form of the integer program: without columns that cannot affect the optimum (reduced), or with \
         every start and number of circuits (full).",
    )
}

/// Reads the form of the integer program.
pub(super) fn writing_of(params: &Params) -> Writing {
    if params.text("writing") == Some("full") { Writing::Full } else { Writing::Reduced }
}

/// The solver's parameters that affect a method whose models get complete starting points and hardly ever branch.
pub(super) fn solver(names: &[&str]) -> Vec<ParamInfo> {
    let mut knobs = lightbay_highs::solve::knobs();
    knobs.retain(|knob| names.contains(&knob.name.as_ref()));
    knobs
}

/// Search that proves the best circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prover {
    /// The search over circuit allocations if they can be listed, else the integer program.
    Fastest,
    /// The search over circuit allocations.
    Outer,
    /// The integer program.
    Select,
}

/// Returns the parameter for the search that proves the best circuits.
pub(super) fn prover() -> ParamInfo {
    ParamInfo::choice(
        "proof",
        &["fastest", "outer", "select"],
        "fastest",
        "How the best circuits are proven: enumeration of circuit allocations (outer), an integer \
         program (select), or the faster of both (fastest).",
    )
}

/// Reads the requested search for the proof.
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
