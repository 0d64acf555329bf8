//! One population of the genetic search.

use super::{GaSettings, GaTask};
use crate::search::circuits::{Circuits, rank};
use crate::search::polish::polish;
use crate::search::repair::RepairScratch;
use crate::simulate::evaluate::Scratch;
use lightbay_core::random::Stream;
use rand::RngExt;
use rustc_hash::{FxHashMap, FxHashSet};

/// Known makespans by circuit allocation.
pub(super) type Cache = FxHashMap<Box<[u32]>, f64>;

/// Figures of one generation of an island.
#[derive(Clone, Debug)]
pub(super) struct IslandRecord {
    /// Best individual since the start of the search.
    pub best: Circuits,
    /// Operation that produced the best individual, in words.
    pub source: &'static str,
    pub size: u64,
    pub sum: f64,
    pub squares: f64,
    pub worst: f64,
    /// Number of different individuals.
    pub distinct: f64,
    /// Number of children.
    pub bred: f64,
    /// Number of children that were replaced by random individuals.
    pub failed: f64,
    pub looked_up: u64,
    pub evaluations: u64,
}

#[derive(Clone, Copy, Debug)]
struct Worth {
    rank: (u64, u64),
    makespan: f64,
}

/// A population with its complete state.
pub(super) struct Island<'a> {
    task: GaTask<'a>,
    settings: GaSettings,
    random: Stream,
    width: usize,
    genes: Vec<u32>,
    worth: Vec<Worth>,
    spare: Vec<u32>,
    best: Option<Circuits>,
    source: &'static str,
    /// `true` if the best individual must still be polished, or polished further.
    rough: bool,
    /// Makespans that are not in the common cache.
    pub learned: Cache,
    /// One entry for every generation since the last collection.
    pub records: Vec<IslandRecord>,
    evaluator: Judge<'a>,
    repair: RepairScratch,
}

/// Evaluates an allocation through the caches, and counts evaluations.
struct Judge<'a> {
    task: GaTask<'a>,
    scratch: Scratch,
    looked_up: u64,
    evaluations: u64,
}

impl Judge<'_> {
    fn makespan(
        &mut self,
        x: &[u32],
        cache: &Cache,
        learned: &mut Cache,
        stop: &dyn Fn() -> bool,
    ) -> Option<f64> {
        self.looked_up += 1;
        // Cached fitness: the common cache first, then the later evaluations of this island. In late generations most
        // individuals are repeats.
        if let Some(&makespan) = cache.get(x).or_else(|| learned.get(x)) {
            return Some(makespan);
        }
        // `None` abandons the generation; the caller learns at its next checkpoint that the run must stop.
        if stop() {
            return None;
        }
        self.evaluations += 1;
        let makespan = self.task.evaluator.makespan(x, self.task.rates, &mut self.scratch);
        learned.insert(x.into(), makespan);
        Some(makespan)
    }
}

impl<'a> Island<'a> {
    pub fn new(task: GaTask<'a>, settings: &GaSettings, random: Stream) -> Self {
        let (width, size) = (task.caps.len(), settings.population.max(2) as usize);
        Self {
            task,
            settings: GaSettings { population: size as u32, ..*settings },
            random,
            width,
            genes: vec![1; width * size],
            worth: Vec::with_capacity(size),
            spare: vec![1; width * size],
            best: None,
            source: "seeding",
            rough: false,
            learned: Cache::default(),
            records: Vec::new(),
            evaluator: Judge { task, scratch: Scratch::default(), looked_up: 0, evaluations: 0 },
            repair: RepairScratch::default(),
        }
    }

    /// The best individual so far.
    pub fn best(&self) -> Option<&Circuits> {
        self.best.as_ref()
    }

    /// Creates the first population: the seeds, as many as the population can hold, then random individuals.
    pub fn settle(&mut self, seeds: &[Vec<u32>], cache: &Cache, stop: &dyn Fn() -> bool) {
        let limits = self.task.limits();
        let size = self.settings.population as usize;
        for index in 0..size {
            let individual = &mut self.genes[index * self.width..(index + 1) * self.width];
            match seeds.get(index) {
                // Seeds first, so the result is never worse than the seeds.
                Some(seed) => individual.copy_from_slice(seed),
                None => limits.random(individual, &mut self.random, &mut self.repair),
            }
        }
        let _ = self
            .evaluate_from(0, cache, stop)
            .and_then(|()| self.close("seeding", size as f64, 0.0, cache, stop));
    }

    /// Breeds `count` generations, fewer if the run must stop.
    pub fn advance(&mut self, count: u64, cache: &Cache, stop: &dyn Fn() -> bool) {
        for _ in 0..count {
            if self.breed(cache, stop).is_none() {
                return;
            }
        }
    }

    fn breed(&mut self, cache: &Cache, stop: &dyn Fn() -> bool) -> Option<()> {
        let limits = self.task.limits();
        let (size, width) = (self.settings.population as usize, self.width);
        // Elites never fill the whole population: at least one child is bred.
        let elites = (self.settings.elites as usize).min(size - 1);
        let mut failed = 0.0;
        // DELTA Alg. 3: elites survive, all other individuals are bred by tournament, uniform crossover and mutation.
        // The population is sorted, so the elites are its first rows.
        self.spare[..elites * width].copy_from_slice(&self.genes[..elites * width]);
        for index in elites..size {
            let (one, other) = (self.select(), self.select());
            // Without crossover the child copies its first parent; mutation alone changes it.
            let crossed = self.random.random_bool(self.settings.crossover);
            let child = &mut self.spare[index * width..(index + 1) * width];
            for (gene, circuits) in child.iter_mut().enumerate() {
                let parent = if crossed && self.random.random::<bool>() { other } else { one };
                *circuits = self.genes[parent * width + gene];
                if self.random.random_bool(self.settings.mutation) {
                    // Steps of one or two circuits: larger changes take several generations, and repair corrects values
                    // outside the range.
                    let step = [-2, -1, 1, 2][self.random.random_range(0..4)];
                    *circuits = circuits.saturating_add_signed(step);
                }
            }
            // Alg. 6; if a pod cannot be repaired, a new individual by Alg. 5 replaces the child.
            if !limits.repair(child, &mut self.random, &mut self.repair) {
                failed += 1.0;
                limits.random(child, &mut self.random, &mut self.repair);
            }
        }
        std::mem::swap(&mut self.genes, &mut self.spare);
        self.evaluate_from(elites, cache, stop)?;
        self.close("crossover", (size - elites) as f64, failed, cache, stop)
    }

    /// Returns the index of the best of a few random individuals, which is the smallest index because individuals are
    /// sorted.
    fn select(&mut self) -> usize {
        // Tournament selection: the smallest of random positions in the sorted population.
        let size = self.settings.population as usize;
        (0..self.settings.tournament.max(1)).map(|_| self.random.random_range(0..size)).min().unwrap_or(0)
    }

    fn evaluate_from(&mut self, from: usize, cache: &Cache, stop: &dyn Fn() -> bool) -> Option<()> {
        // Elites keep their fitness.
        self.worth.truncate(from);
        let budget = &self.task.evaluator.network.budget;
        for index in from..self.settings.population as usize {
            let individual = &self.genes[index * self.width..(index + 1) * self.width];
            let makespan = self.evaluator.makespan(individual, cache, &mut self.learned, stop)?;
            self.worth.push(Worth { rank: rank(makespan, budget.total(individual)), makespan });
        }
        Some(())
    }

    /// Sorts the population, polishes an improvement, and records the generation.
    fn close(
        &mut self,
        source: &'static str,
        bred: f64,
        failed: f64,
        cache: &Cache,
        stop: &dyn Fn() -> bool,
    ) -> Option<()> {
        // Sorting first: selection, elites and migration rely on the order.
        self.sort();
        // Crossover finds promising regions, single exchanges find their local optimum: every improvement starts a
        // climb.
        self.rough |= self.adopt(self.first(), source);
        if self.rough {
            self.polish(cache, stop);
        }
        let spans = || self.worth.iter().map(|worth| worth.makespan);
        let distinct: FxHashSet<&[u32]> = self.genes.chunks(self.width.max(1)).collect();
        let record = IslandRecord {
            best: self.best.clone()?,
            source: self.source,
            size: self.worth.len() as u64,
            sum: spans().sum(),
            squares: spans().map(|span| span * span).sum(),
            worst: spans().fold(0.0, f64::max),
            distinct: distinct.len() as f64,
            bred,
            failed,
            looked_up: std::mem::take(&mut self.evaluator.looked_up),
            evaluations: std::mem::take(&mut self.evaluator.evaluations),
        };
        self.records.push(record);
        Some(())
    }

    /// Climbs from the best individual, with at most as many evaluations as the island has individuals; if they are
    /// used up, the next generation continues the climb.
    fn polish(&mut self, cache: &Cache, stop: &dyn Fn() -> bool) {
        let Some(mut polished) = self.best.clone() else { return };
        let (evaluator, learned) = (&mut self.evaluator, &mut self.learned);
        // Memetic step with a budget of one generation, so that a climb never delays the other islands much.
        let most = evaluator.evaluations + u64::from(self.settings.population);
        let mut complete = true;
        let start = polished.makespan;
        polished.makespan = polish(self.task.limits(), &mut polished.x, start, &mut |x: &[u32]| {
            let makespan =
                (evaluator.evaluations < most).then(|| evaluator.makespan(x, cache, learned, stop)).flatten();
            complete &= makespan.is_some();
            makespan
        });
        self.rough = !complete;
        polished.ports = self.task.evaluator.network.budget.total(&polished.x);
        if self.adopt(polished.clone(), "local search") {
            self.welcome(&polished);
        }
    }

    fn adopt(&mut self, found: Circuits, source: &'static str) -> bool {
        let better = self.best.as_ref().is_none_or(|best| found.better_than(best));
        if better {
            (self.best, self.source) = (Some(found), source);
        }
        better
    }

    fn first(&self) -> Circuits {
        let x = self.genes[..self.width].to_vec();
        Circuits { ports: self.worth[0].rank.1, makespan: self.worth[0].makespan, x }
    }

    fn sort(&mut self) {
        let width = self.width;
        let mut order: Vec<usize> = (0..self.worth.len()).collect();
        let genes = &self.genes;
        let individual = |index: usize| &genes[index * width..(index + 1) * width];
        // Ties are broken by genes, then by position, so that the order does not depend on the sort.
        order.sort_unstable_by(|&a, &b| {
            self.worth[a]
                .rank
                .cmp(&self.worth[b].rank)
                .then_with(|| individual(a).cmp(individual(b)))
                .then(a.cmp(&b))
        });
        let worth: Vec<Worth> = order.iter().map(|&index| self.worth[index]).collect();
        for (place, &index) in order.iter().enumerate() {
            self.spare[place * width..(place + 1) * width].copy_from_slice(individual(index));
        }
        std::mem::swap(&mut self.genes, &mut self.spare);
        self.worth = worth;
    }

    /// Adds an individual and removes the worst one.
    pub fn welcome(&mut self, found: &Circuits) {
        // Migration replaces the worst individual, so the size of the population does not change.
        let last = self.worth.len().saturating_sub(1);
        if let Some(worst) = self.worth.get_mut(last) {
            *worst = Worth { rank: rank(found.makespan, found.ports), makespan: found.makespan };
            self.genes[last * self.width..(last + 1) * self.width].copy_from_slice(&found.x);
            self.sort();
            self.adopt(found.clone(), "migration");
        }
    }

    /// Evaluates an allocation from outside the island.
    pub fn judge(&mut self, x: Vec<u32>) -> Circuits {
        let makespan = self.task.evaluator.makespan(&x, self.task.rates, &mut self.evaluator.scratch);
        Circuits { makespan, ports: self.task.evaluator.network.budget.total(&x), x }
    }
}
