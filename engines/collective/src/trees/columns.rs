//! Shares of trees from an LP model whose columns, the trees, are generated on demand (column generation;
//! docs/methods/collective-trees.md, section 11).
//!
//! First maximises the rate x at which every rank's data flows along trees that together respect all capacities. Then,
//! at that rate or at a fraction of that rate, minimises the sum of the latencies with which the data reaches the
//! ranks. One root represents its orbit, and one link its orbit.

mod price;

use super::fold::Fold;
use super::tree::Tree;
use crate::scenario::network::LinkNetwork;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::error::Error;
use lightbay_highs::instance::Instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Column, Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Status};
use price::Pricing;
use rustc_hash::FxHashSet;

/// Data to spread along trees.
#[derive(Clone, Copy, Debug)]
pub struct TreeQuestion<'n> {
    /// The network.
    pub network: &'n LinkNetwork,
    /// Reduction of the network by symmetries.
    pub fold: &'n Fold,
    /// `true` for nodes that are ranks: they receive all data.
    pub ranks: &'n [bool],
    /// Data of each orbit of the fold, in shards; zero for orbits without data.
    pub weights: &'n [f64],
    /// Latency of each link, µs.
    pub latencies: &'n [f64],
}

/// Limits of the column generation. The limits are counts, not times, so that results are the same on any machine.
#[derive(Clone, Copy, Debug)]
pub struct ColumnLimits {
    /// Maximum number of rounds of pricing for each objective.
    pub rounds: u32,
    /// Upper bound on the rate, GB/s per shard.
    pub enough: f64,
    /// Maximum number of hops between GPUs for which cheapest arborescences are computed.
    pub hops: usize,
}

impl ColumnLimits {
    /// Returns limits for any network whose largest rate is `rate`.
    pub const fn new(rate: f64) -> Self {
        Self { rounds: 200, enough: rate, hops: 40_000 }
    }
}

/// Trees with their shares.
#[derive(Clone, Debug, Default)]
pub struct Packing {
    /// Rate per shard that all trees together reach, GB/s.
    pub rate: f64,
    /// Trees of each orbit's representative with their shares of its data; the shares add up to 1.
    pub trees: Vec<Vec<(Tree, f64)>>,
    /// Rounds of pricing so far.
    pub rounds: u32,
}

/// Trees as columns of an LP model.
pub struct TreeProgram<'q, 'n> {
    question: &'q TreeQuestion<'n>,
    limits: ColumnLimits,
    instance: Instance,
    trees: Vec<(usize, Tree)>,
    known: FxHashSet<Tree>,
    rate: Column,
    /// Row for the data of each orbit; `None` for orbits without data.
    orbit_rows: Vec<Option<Row>>,
    class_rows: Vec<Row>,
    class_sizes: Vec<u32>,
    /// Largest capacity; the model states all capacities relative to it.
    scale: f64,
    /// Price, in the objective, of a microsecond of latency of one GPU.
    per_us: f64,
    /// Price of a microsecond of a tree's depth.
    per_depth_us: f64,
    rounds: u32,
}

/// A tree enters the model if its price is below this fraction of the dual of its data row. The distance from 1 exceeds
/// the tolerance of the duals, so that no tree enters twice because of rounding.
const ENTERS: f64 = 1.0 - 1e-7;

fn failed(error: Error) -> MethodError {
    MethodError::Failed(error.to_string())
}

impl<'q, 'n> TreeProgram<'q, 'n> {
    /// Builds the model with a first tree for every root; `None` if some rank cannot be reached.
    ///
    /// # Errors
    /// Errors of the solver.
    pub fn new(question: &'q TreeQuestion<'n>, limits: ColumnLimits) -> Result<Option<Self>, MethodError> {
        let (network, fold) = (question.network, question.fold);
        // All capacities are relative to the largest one.
        let scale = network.links().iter().map(|link| link.capacity_gbyte_per_s).fold(0.0, f64::max);
        let mut model = Model::new("trees");
        model.maximise = true;
        let rate = model.column("rate", 0.0, f64::INFINITY, 1.0);
        let mut orbit_rows = Vec::new();
        // Data of a root: its trees together carry the weight of the root times the rate.
        for (orbit, weight) in question.weights.iter().enumerate() {
            let name = format!("data of orbit {orbit}");
            orbit_rows.push((*weight > 0.0).then(|| model.equal(name, 0.0, [(rate, -*weight)])));
        }
        let capacity = |link: &u32| network.links()[*link as usize].capacity_gbyte_per_s / scale;
        let class_rows = fold
            // Capacity of one link of each orbit.
            .class_links()
            .iter()
            .map(|link| model.at_most(format!("capacity of {link}"), capacity(link), []))
            .collect();
        let mut instance = Instance::new(&model).map_err(failed)?;
        // Each solve continues from the last basis, which presolve would lose.
        instance.apply(&Options::new().set("random_seed", 0).set("presolve", "off")).map_err(failed)?;
        let mut class_sizes = vec![0; fold.class_links().len()];
        for class in fold.classes() {
            class_sizes[*class as usize] += 1;
        }
        let mut program = Self {
            question,
            limits,
            instance,
            trees: Vec::new(),
            known: FxHashSet::default(),
            rate,
            orbit_rows,
            class_rows,
            class_sizes,
            scale,
            per_us: 0.0,
            per_depth_us: 0.0,
            rounds: 0,
        };
        // First trees: the price of a link is inversely proportional to its capacity.
        let first: Vec<f64> = network.links().iter().map(|link| scale / link.capacity_gbyte_per_s).collect();
        for orbit in 0..question.weights.len() {
            if question.weights[orbit] > 0.0 {
                let grown = program.pricing(&first).trees(orbit, f64::INFINITY, &program.known);
                // Some rank cannot be reached at all.
                if grown.is_empty() {
                    return Ok(None);
                }
                program.add(orbit, grown)?;
            }
        }
        Ok(Some(program))
    }

    /// Adds the trees of a packing as columns.
    ///
    /// # Errors
    /// Errors of the solver.
    pub fn take(&mut self, packing: &Packing) -> Result<(), MethodError> {
        for (orbit, trees) in packing.trees.iter().enumerate() {
            let new = |tree: &&Tree| !self.known.contains(*tree);
            let trees = trees.iter().map(|(tree, _)| tree).filter(new).cloned().collect();
            self.add(orbit, trees)?;
        }
        Ok(())
    }

    /// Maximises the rate, and returns the trees with their shares.
    ///
    /// # Errors
    /// If the run must stop, or if the solver fails.
    pub fn maximise<W: Watch>(&mut self, watch: &mut W) -> Result<Packing, MethodError> {
        (self.per_us, self.per_depth_us) = (0.0, 0.0);
        self.instance.set_bounds(self.rate, 0.0, f64::INFINITY).map_err(failed)?;
        self.instance.set_cost(self.rate, 1.0).map_err(failed)?;
        for place in 0..self.trees.len() {
            // The columns of trees follow the column of the rate.
            self.instance.set_cost(Column(place as u32 + 1), 0.0).map_err(failed)?;
        }
        // No rate exceeds the bound, so pricing may stop there.
        let enough = self.limits.enough / self.scale * (1.0 - 1e-12);
        self.generate(enough, watch)
    }

    /// Minimises the latency at a feasible rate, GB/s per shard, and returns the trees with their shares. `depth` is
    /// the weight of the last GPU that a tree reaches, relative to the mean over all GPUs.
    ///
    /// # Errors
    /// If the run must stop, or if the solver fails.
    pub fn shorten<W: Watch>(
        &mut self,
        rate: f64,
        depth: f64,
        watch: &mut W,
    ) -> Result<Packing, MethodError> {
        let slowest = self.question.latencies.iter().copied().fold(0.0, f64::max);
        let gpus = self.question.network.gpus().len().max(1) as f64;
        // Scales the cost of a tree to about its mean latency divided by the latency of the slowest link.
        self.per_us = if slowest > 0.0 { 1.0 / (slowest * gpus) } else { 0.0 };
        self.per_depth_us = if slowest > 0.0 { depth / slowest } else { 0.0 };
        // Slightly less than the rate, so that rounding leaves the model feasible.
        let rate = rate / self.scale * (1.0 - 1e-9);
        self.instance.set_bounds(self.rate, rate, rate).map_err(failed)?;
        self.instance.set_cost(self.rate, 0.0).map_err(failed)?;
        // Existing trees get their latency as cost.
        for place in 0..self.trees.len() {
            let cost = self.latency_cost(&self.trees[place].1);
            self.instance.set_cost(Column(place as u32 + 1), -cost).map_err(failed)?;
        }
        self.generate(f64::INFINITY, watch)
    }

    /// Returns the weighted sum of the latencies of a tree, as in the objective.
    fn latency_cost(&self, tree: &Tree) -> f64 {
        self.pricing(&[]).latency_cost(tree)
    }

    /// Solves the model and adds columns, alternately, until the rate reaches `enough`, the limit of rounds is reached,
    /// or no tree has a negative reduced cost. Returns the trees with their shares.
    fn generate<W: Watch>(&mut self, enough: f64, watch: &mut W) -> Result<Packing, MethodError> {
        // The limit is a number of rounds, not a time.
        let mut left = self.limits.rounds;
        loop {
            let mut listener = RunListener::new(&mut *watch);
            let solution = self.instance.run(&mut listener).map_err(failed)?;
            listener.finish()?;
            if solution.status != Status::Optimal {
                let status = solution.status;
                return Err(MethodError::Failed(format!(
                    "the LP model for the shares of the trees ended with {status:?}"
                )));
            }
            watch.count(1);
            if left == 0
                // Stops at the limit, at the bound, or if no tree has a negative reduced cost; in the last case the
                // model is solved for all trees.
                || solution.objective.is_some_and(|rate| rate >= enough)
                || !self.price(&solution, watch)?
            {
                return Ok(self.packing(&solution));
            }
            left -= 1;
            self.rounds += 1;
        }
    }

    fn pricing<'p>(&'p self, prices: &'p [f64]) -> Pricing<'p> {
        Pricing {
            question: self.question,
            prices,
            per_us: self.per_us,
            per_depth_us: self.per_depth_us,
            hops: self.limits.hops,
        }
    }

    /// Adds trees whose price is below the dual of their data row in the last solution; returns whether trees were
    /// added.
    fn price<W: Watch>(&mut self, solution: &Solution, watch: &mut W) -> Result<bool, MethodError> {
        let dual = |row: Row| solution.row_duals.get(row.index()).copied().unwrap_or(0.0);
        let order = self.question.fold.order() as f64;
        // A row represents an orbit of links, so its dual is divided among the links of the orbit.
        let classes: Vec<f64> = self
            .class_rows
            .iter()
            .zip(&self.class_sizes)
            .map(|(row, size)| dual(*row).max(0.0) * order / f64::from(*size))
            .collect();
        let prices: Vec<f64> =
            self.question.fold.classes().iter().map(|class| classes[*class as usize]).collect();
        let mut any = false;
        for orbit in 0..self.question.weights.len() {
            let Some(row) = self.orbit_rows[orbit] else { continue };
            watch.checkpoint()?;
            // A tree enters if its latency and prices together are below the dual of its data. The dual of the data row
            // is the price of one more unit of data.
            let pays = -dual(row);
            // Reduced cost below 0 by more than the rounding tolerance.
            let below = pays - (1.0 - ENTERS) * pays.abs().max(1e-9);
            let grown = self.pricing(&prices).trees(orbit, below, &self.known);
            any |= !grown.is_empty();
            self.add(orbit, grown)?;
        }
        Ok(any)
    }

    fn add(&mut self, orbit: usize, trees: Vec<Tree>) -> Result<(), MethodError> {
        let fold = self.question.fold;
        let Some(row) = self.orbit_rows[orbit] else { return Ok(()) };
        let mut columns = Vec::new();
        for tree in &trees {
            // A tree may use several links of an orbit; its images use the other links.
            let mut uses = vec![0_u32; self.class_rows.len()];
            for link in tree.links() {
                uses[fold.classes()[*link as usize] as usize] += 1;
            }
            let mut terms = vec![(row, 1.0)];
            for (class, uses) in uses.iter().enumerate().filter(|(_, uses)| **uses > 0) {
                let share = fold.order() as f64 / f64::from(self.class_sizes[class]);
                terms.push((self.class_rows[class], f64::from(*uses) * share));
            }
            columns.push((-self.latency_cost(tree), terms));
        }
        self.instance.add_columns("tree ", 0.0, f64::INFINITY, &columns).map_err(failed)?;
        for tree in trees {
            self.known.insert(tree.clone());
            self.trees.push((orbit, tree));
        }
        Ok(())
    }

    fn packing(&self, solution: &Solution) -> Packing {
        let values = solution.values.as_deref().unwrap_or_default();
        let value = |column: Column| values.get(column.index()).copied().unwrap_or(0.0);
        let rate = value(self.rate);
        let mut trees: Vec<Vec<(Tree, f64)>> = vec![Vec::new(); self.question.weights.len()];
        for (place, (orbit, tree)) in self.trees.iter().enumerate() {
            let value = value(Column(place as u32 + 1));
            // Omits shares that consist only of rounding errors.
            if value > rate * 1e-9 {
                trees[*orbit].push((tree.clone(), value));
            }
        }
        for trees in &mut trees {
            // Shares of a root add up to one.
            let sum: f64 = trees.iter().map(|(_, value)| value).sum();
            for (_, value) in trees {
                *value /= sum;
            }
        }
        Packing { rate: rate * self.scale, trees, rounds: self.rounds }
    }
}
