//! Parameters that several methods share.

use crate::ga::Settings;
use crate::outer;
use lightbay_core::param::{Effect, ParamInfo, Params};

/// Whether to look for the fewest ports afterwards.
pub(super) fn min_ports() -> ParamInfo {
    ParamInfo::bool("min_ports", false, "Second goal: the fewest ports that keep the makespan to 1e-7 of it.")
}

/// Settings of the genetic search.
pub(super) fn genetic() -> Vec<ParamInfo> {
    let defaults = Settings::default();
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
        count("tournament", 1, 100, defaults.tournament, "Individuals of which a parent is the best."),
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
            "Seconds of genetic search after which the run ends; 0 is no limit.",
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
            outer::LISTED as i64,
            "Circuit vectors that are at most listed and sorted by bound; beyond, boxes of vectors are searched.",
        ),
        ParamInfo::int(
            "boxes",
            1,
            1_000_000_000,
            outer::BOXES as i64,
            "Boxes of circuit vectors that are at most looked at before the proof is given up.",
        ),
    ]
}

/// Reads the settings of the genetic search.
pub(super) fn settings(params: &Params, hot: bool) -> Settings {
    let defaults = Settings::default();
    let count = |name: &str, default: u32| {
        params.int(name).and_then(|value| u32::try_from(value).ok()).unwrap_or(default)
    };
    let population = count("population", defaults.population);
    let mut settings = Settings {
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
    revise(&mut settings, params);
    settings
}

/// Takes over the limits, which may change while the search runs.
pub(super) fn revise(settings: &mut Settings, params: &Params) {
    let limit = |name: &str| params.int(name).and_then(|value| u32::try_from(value).ok());
    if let Some(generations) = limit("generations") {
        settings.generations = generations;
    }
    if let Some(stall) = limit("stall_generations") {
        settings.stall_generations = if settings.hot { stall.div_ceil(2) } else { stall };
    }
}
