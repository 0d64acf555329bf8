//! Search for the best family of designs. The first round anneals all families for a short time; later rounds anneal
//! only the best families of the round before, for longer; the last round anneals one family with full effort.

use super::families::Family;
use super::{AnnealSettings, Design, Objective, Progress, anneal};
use crate::throughput::metrics::Lengths;
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;

/// The best design of a family.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The family.
    pub family: Family,
    /// Best design of the family so far.
    pub design: Design,
}

/// One round of the tournament: the maximum number of families, and the fractions of steps and chains that each gets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Round {
    families: usize,
    steps: f64,
    chains: f64,
}

/// Rounds of the tournament (successive halving). Each round restarts its chains at a high temperature, because a new
/// annealing finds better designs than a continued one. The rounds cost about the same: `15 * 0.1 * 0.5`, `3 * 0.35`
/// and `1 * 1`.
const ROUNDS: [Round; 3] = [
    Round { families: usize::MAX, steps: 0.1, chains: 0.5 },
    Round { families: 3, steps: 0.35, chains: 1.0 },
    Round { families: 1, steps: 1.0, chains: 1.0 },
];

/// Rounds for many families. After a short annealing, random variation is as large as the difference in quality between
/// families, so there is one more round. From the second round, the rounds cost about the same: `8 * 0.12`, `3 * 0.4`
/// and `1 * 1`.
const MANY_ROUNDS: [Round; 4] = [
    Round { families: usize::MAX, steps: 0.04, chains: 0.5 },
    Round { families: 8, steps: 0.12, chains: 1.0 },
    Round { families: 3, steps: 0.4, chains: 1.0 },
    Round { families: 1, steps: 1.0, chains: 1.0 },
];

/// Minimum number of families for [`MANY_ROUNDS`]: at 20 families, the first of three rounds would cost as much as the
/// last one.
const MANY: usize = 16;

/// Number of random streams reserved for one annealing.
const STREAMS: u64 = 1 << 16;

/// The metrics for a size. For up to 1024 chips: hops, and optical links of twice the length of electrical links. For
/// larger pods, whose bottleneck is the optical links: optical links of three times and of twice this length.
pub fn metrics(cubes: usize) -> Vec<Lengths> {
    // On large pods, optical links saturate first, so longer optical lengths give tighter bounds.
    if cubes <= 16 {
        vec![Lengths::hops(), Lengths::two(1, 2)]
    } else {
        vec![Lengths::two(1, 3), Lengths::two(1, 2)]
    }
}

/// Runs the tournament; returns the best design of every family, best first. Calls `each` after every round with the
/// best design so far.
///
/// # Errors
/// The error of the watch or of `each`.
pub fn tournament<W: Watch>(
    families: Vec<Family>,
    settings: &AnnealSettings,
    mean_share: f64,
    stream: impl Fn(u64) -> Stream,
    watch: &mut W,
    mut progress: impl FnMut(&mut W, &Family, &Progress),
    mut each: impl FnMut(&mut W, &Entry) -> Result<(), MethodError>,
) -> Result<Vec<Entry>, MethodError> {
    let mut entries: Vec<(Family, Option<Design>)> =
        families.into_iter().map(|family| (family, None)).collect();
    let mut number = 0;
    // With one family, no selection is necessary.
    let rounds = match entries.len() {
        1 => &ROUNDS[2..],
        2..MANY => &ROUNDS[..],
        _ => &MANY_ROUNDS[..],
    };
    // Successive halving: short runs of all families, longer runs of the leading families.
    for round in rounds {
        // Each round restarts at a high temperature; only the best design of a family is kept.
        for (family, best) in entries.iter_mut().take(round.families) {
            let objective = Objective {
                group: family.group.clone(),
                ties: family.ties.clone(),
                metrics: metrics(family.group.order()),
                cuts: Vec::new(),
                mean_share,
            };
            let settings = AnnealSettings {
                steps: ((settings.steps as f64 * round.steps) as u64).max(1),
                chains: ((f64::from(settings.chains) * round.chains) as u32).max(1),
                ..*settings
            };
            let first = number * STREAMS;
            number += 1;
            let found = anneal(
                &objective,
                &settings,
                &[],
                |n| stream(first + n),
                watch,
                |watch, at| {
                    progress(watch, family, at);
                },
            )?;
            if let Some(design) = found.first()
                && best.is_none_or(|best| design.score < best.score)
            {
                *best = Some(*design);
            }
        }
        let score = |best: &Option<Design>| best.map_or(f64::INFINITY, |best| best.score);
        entries.sort_by(|a, b| score(&a.1).total_cmp(&score(&b.1)));
        if let Some((family, Some(design))) = entries.first() {
            each(watch, &Entry { family: family.clone(), design: *design })?;
        }
    }
    Ok(entries.into_iter().filter_map(|(family, design)| Some(Entry { family, design: design? })).collect())
}

#[cfg(test)]
mod tests;
