//! Genetic search over circuit allocations (DELTA Alg. 3, 5, 6; docs/methods/training-search.md, section 6) on islands.
//!
//! Each island is a population with a random stream, elites, tournament selection, uniform crossover, mutation and
//! repair. Islands are independent until the best individual of each moves to the next one, so they run on all
//! available threads and the result does not depend on the number of threads. A coordinate search immediately tries to
//! improve every new best individual of an island. Makespans are cached by circuit allocation.

mod island;

use crate::search::circuits::{Circuits, Proposal};
use crate::search::repair::PortLimits;
use crate::simulate::evaluate::{Evaluator, Rates};
use island::{Cache, Island, IslandRecord};
use lightbay_core::event::{EventBody, GenerationStats};
use lightbay_core::method::MethodError;
use lightbay_core::plan::Limit;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

/// Settings of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaSettings {
    /// Number of islands.
    pub islands: u32,
    /// Number of individuals of an island.
    pub population: u32,
    /// Number of best individuals that survive unchanged.
    pub elites: u32,
    /// Tournament size: each parent is the best of this many random individuals.
    pub tournament: u32,
    /// Probability that a child has two parents.
    pub crossover: f64,
    /// Probability that a gene changes by one or two circuits.
    pub mutation: f64,
    /// Maximum number of generations.
    pub generations: u32,
    /// Number of generations without improvement after which the search ends.
    pub stall_generations: u32,
    /// Number of generations between migrations: the best individual of every island is copied to the next island.
    pub migration: u32,
    /// `true` if the search started from a good plan, so that half the stall length is enough.
    pub hot: bool,
}

impl Default for GaSettings {
    fn default() -> Self {
        Self {
            // With these values of population, elites, tournament, crossover and mutation the search found the proven
            // optimum on every preset of one job; the stall length of 200 is the value of the DELTA paper.
            islands: 4,
            population: 40,
            elites: 4,
            tournament: 3,
            crossover: 0.9,
            mutation: 0.2,
            generations: 400,
            stall_generations: 200,
            migration: 10,
            hot: false,
        }
    }
}

/// Relative difference up to which a makespan meets the target: reported bounds are rounded down.
const REACHED: f64 = 5e-10;

/// Input of the search.
#[derive(Clone, Copy, Debug)]
pub struct GaTask<'a> {
    /// The scenario, prepared for evaluation.
    pub evaluator: &'a Evaluator,
    /// Rate rule with which circuits are evaluated.
    pub rates: Rates,
    /// Maximum number of circuits that the search tries on each link.
    pub caps: &'a [u32],
    /// Lower bound on the makespan, seconds; the search ends when it is reached.
    pub target: Option<f64>,
}

impl<'a> GaTask<'a> {
    fn limits(&self) -> PortLimits<'a> {
        PortLimits { budget: &self.evaluator.network.budget, caps: self.caps }
    }

    /// Approximate time of one evaluation, nanoseconds; this time only determines how often the search checks whether
    /// to stop.
    fn cost_ns(&self) -> u64 {
        let (tasks, edges) =
            (self.evaluator.network.tasks() as u64, self.evaluator.network.preds.len() as u64);
        // The longest path touches every task and edge once, the event simulator many times; only the order of
        // magnitude matters.
        if self.evaluator.exact(self.rates) { 500 + 3 * tasks + edges } else { 400 * tasks + 20 * edges }
    }
}

/// Result of a search that was not stopped.
#[derive(Clone, Debug)]
pub struct Evolved {
    /// The best individual.
    pub best: Circuits,
    /// Number of generations bred.
    pub generations: u64,
    /// Number of allocations evaluated.
    pub evaluations: u64,
    /// Limit that ended the search: the number of generations, or of generations without improvement; `None` if the
    /// target was reached.
    pub limit: Option<Limit>,
}

/// Work between two stop checks, nanoseconds. This is much less than the 5 ms between two checkpoints that a run
/// guarantees.
const CHUNK_NS: u64 = 3_000_000;

/// Searches from `seeds` (feasible allocations within the caps); `streams` gives every island its random numbers.
///
/// # Errors
/// The reason to stop; the best individual until then has been reported to `watch`.
pub fn evolve<W: Watch<Proposal>>(
    task: GaTask<'_>,
    settings: &GaSettings,
    seeds: &[Vec<u32>],
    streams: impl Fn(u64) -> Stream,
    watch: &mut W,
) -> Result<Evolved, MethodError> {
    // Island model: each island is a separate population; only migration and the cache connect them.
    let mut state = Evolution {
        task,
        settings: *settings,
        islands: (0..settings.islands.max(1))
            .map(|number| Island::new(task, settings, streams(u64::from(number))))
            .collect(),
        cache: Cache::default(),
        best: None,
        generation: 0,
        stall: 0,
        evaluations: 0,
    };
    // Islands share nothing while they breed, and each has a separate random stream, so any number of threads gives the
    // same plan.
    let stop = watch.stop_test();
    let seeds: Vec<Vec<u32>> = seeds.to_vec();
    state.each(watch, |index, island, cache| {
        let own: &[Vec<u32>] = if index == 0 { &seeds } else { &[] };
        island.settle(own, cache, &stop);
    });
    state.conclude(1, watch)?;
    loop {
        // Stops, offers and changed limits are processed only between chunks, so islands need no locks.
        watch.checkpoint()?;
        state.take_offer(watch)?;
        state.settings.revise(|name| watch.live(name));
        let reached =
            |target: f64| state.best.as_ref().is_some_and(|best| best.makespan <= target * (1.0 + REACHED));
        if task.target.is_some_and(reached) {
            return Ok(state.end(None));
        }
        if state.stall >= u64::from(state.settings.stall_generations) {
            return Ok(state.end(Some(Limit::Stall)));
        }
        if state.generation >= u64::from(state.settings.generations) {
            return Ok(state.end(Some(Limit::Work)));
        }
        // The maximum number of generations between two checkpoints.
        let chunk = state.chunk();
        state.each(watch, |_, island, cache| island.advance(chunk, cache, &stop));
        state.conclude(chunk, watch)?;
        // If the generation was abandoned, this checkpoint returns the reason before the individuals are used.
        watch.checkpoint()?;
        if state.generation.is_multiple_of(u64::from(state.settings.migration.max(1))) {
            state.migrate();
        }
    }
}

impl GaSettings {
    /// Reads the limits that may change while the search runs, by the names of their parameters.
    pub(crate) fn revise(&mut self, live: impl Fn(&str) -> Option<i64>) {
        let limit = |name: &str| live(name).and_then(|value| u32::try_from(value).ok());
        if let Some(generations) = limit("generations") {
            self.generations = generations;
        }
        if let Some(stall) = limit("stall_generations") {
            self.stall_generations = if self.hot { stall.div_ceil(2) } else { stall };
        }
    }
}

struct Evolution<'a> {
    task: GaTask<'a>,
    settings: GaSettings,
    islands: Vec<Island<'a>>,
    cache: Cache,
    best: Option<Circuits>,
    /// Number of generations bred so far; the first population is generation 0.
    generation: u64,
    stall: u64,
    evaluations: u64,
}

impl<'a> Evolution<'a> {
    /// Number of generations until the next checkpoint, which comes at the latest at the next migration and at the end
    /// of the search.
    fn chunk(&self) -> u64 {
        let individuals = u64::from(self.settings.population) * self.islands.len() as u64;
        // After some generations most individuals are in the cache.
        let new = if self.generation < 5 { self.task.cost_ns() } else { self.task.cost_ns() / 4 };
        // A repeat counts as 500 ns: a hash of the allocation and a look-up.
        let affordable = CHUNK_NS / (individuals * (500 + new)).max(1);
        // A chunk never passes a migration, a limit or the end of a stall, because these are decided between chunks.
        let migration = u64::from(self.settings.migration.max(1));
        affordable
            .clamp(1, migration - self.generation % migration)
            .min(u64::from(self.settings.generations) - self.generation)
            .min(u64::from(self.settings.stall_generations) - self.stall)
            .max(1)
    }

    fn each<W: Watch<Proposal>>(&mut self, watch: &W, work: impl Fn(usize, &mut Island<'a>, &Cache) + Sync) {
        let cache = &self.cache;
        let mut numbered: Vec<(usize, &mut Island<'a>)> = self.islands.iter_mut().enumerate().collect();
        if watch.threads() > 1 && numbered.len() > 1 {
            watch
                .parallel(|| numbered.par_iter_mut().for_each(|(index, island)| work(*index, island, cache)));
        } else {
            // One thread visits the islands in order; the result is the same because they share nothing while they
            // breed.
            for (index, island) in &mut numbered {
                work(*index, island, cache);
            }
        }
    }

    /// Collects the results of the islands from the last `count` generations.
    fn conclude<W: Watch<Proposal>>(&mut self, count: u64, watch: &mut W) -> Result<(), MethodError> {
        // The cache is updated only now, because all islands read it during a generation.
        for island in &mut self.islands {
            self.cache.extend(island.learned.drain());
        }
        let first = self.evaluations == 0;
        for index in 0..count as usize {
            // One record per island and generation: a generation counts only if all islands have finished it.
            let records: Vec<&IslandRecord> =
                self.islands.iter().filter_map(|island| island.records.get(index)).collect();
            if records.len() < self.islands.len() {
                break; // abandoned in the middle; the next checkpoint says why
            }
            if !first {
                self.generation += 1;
            }
            // Strict improvement in island order, so that ties go to the lowest island on any number of threads.
            let better = records
                .iter()
                .map(|record| &record.best)
                .fold(self.best.as_ref(), |best, found| match best {
                    Some(known) if !found.better_than(known) => best,
                    _ => Some(found),
                })
                .cloned();
            let improved = better != self.best;
            let source = records.iter().find(|record| Some(&record.best) == better.as_ref());
            let source = source.map_or("population", |record| record.source);
            // The stall counts generations in which no island improved the common best.
            self.stall = if improved || first { 0 } else { self.stall + 1 };
            let evaluated: u64 = records.iter().map(|record| record.evaluations).sum();
            self.evaluations += evaluated;
            let stats = self.stats(&records, better.as_ref());
            watch.count(evaluated);
            self.best = better;
            if improved && let Some(best) = &self.best {
                watch.found(best.clone().into(), source)?;
            }
            watch.report(EventBody::Generation(stats));
        }
        // Improvements of an abandoned generation still count.
        for island in &mut self.islands {
            if let Some(best) = island.best()
                && self.best.as_ref().is_none_or(|known| best.better_than(known))
            {
                watch.found(best.clone().into(), "population")?;
                self.best = Some(best.clone());
            }
            island.records.clear();
        }
        Ok(())
    }

    fn stats(&self, records: &[&IslandRecord], best: Option<&Circuits>) -> GenerationStats {
        let population: u64 = records.iter().map(|record| record.size).sum();
        let sum = |value: fn(&IslandRecord) -> f64| records.iter().map(|record| value(record)).sum::<f64>();
        let mean = sum(|record| record.sum) / population as f64;
        let looked_up: u64 = records.iter().map(|record| record.looked_up).sum();
        let evaluations: u64 = records.iter().map(|record| record.evaluations).sum();
        let bred = sum(|record| record.bred).max(1.0);
        GenerationStats {
            generation: self.generation,
            of: u64::from(self.settings.generations),
            best: best.map_or(f64::NAN, |best| best.makespan),
            mean,
            worst: records.iter().map(|record| record.worst).fold(0.0, f64::max),
            // Variance as mean of squares minus square of the mean: one pass over the records.
            spread: (sum(|record| record.squares) / population as f64 - mean * mean).max(0.0).sqrt(),
            diversity: sum(|record| record.distinct) / population as f64,
            feasible: 1.0 - sum(|record| record.failed) / bred,
            cache_hits: 1.0 - evaluations as f64 / looked_up.max(1) as f64,
            stall: self.stall,
            stall_limit: u64::from(self.settings.stall_generations),
            evaluations: self.evaluations,
            secondary: best.map_or(f64::NAN, |best| best.ports as f64),
            population,
        }
    }

    /// Replaces the worst individual of every island by the best individual of the previous island; a single island
    /// stays unchanged.
    fn migrate(&mut self) {
        let bests: Vec<Option<Circuits>> = self.islands.iter().map(|island| island.best().cloned()).collect();
        let islands = self.islands.len();
        if islands < 2 {
            return;
        }
        // Ring migration: all best individuals are read first, so the order of the islands does not matter.
        for (index, best) in bests.iter().enumerate() {
            if let Some(best) = best {
                self.islands[(index + 1) % islands].welcome(best);
            }
        }
    }

    fn take_offer<W: Watch<Proposal>>(&mut self, watch: &mut W) -> Result<(), MethodError> {
        let Some(offer) = watch.offered() else { return Ok(()) };
        let mut x = offer.circuits.x;
        // A plan of another run may exceed the caps; reduced to them, it still fits the ports.
        for (circuits, &cap) in x.iter_mut().zip(self.task.caps) {
            *circuits = (*circuits).clamp(1, cap.max(1));
        }
        let found = self.islands[0].judge(x);
        let taken = self.best.as_ref().is_none_or(|best| found.better_than(best));
        watch.count(1);
        watch.judged(found.makespan, taken);
        self.islands[0].welcome(&found);
        if taken {
            watch.found(found.clone().into(), "offer")?;
            self.stall = 0;
            self.best = Some(found);
        }
        Ok(())
    }

    fn end(self, limit: Option<Limit>) -> Evolved {
        let best = self.best.unwrap_or(Circuits { x: Vec::new(), makespan: f64::INFINITY, ports: 0 });
        Evolved { best, generations: self.generation, evaluations: self.evaluations, limit }
    }
}

#[cfg(test)]
mod tests;
