//! Trees for networks with few symmetries: every unit of a root's data gets its own tree, and the prices of the links
//! rise with their loads (docs/methods/collective-trees.md, section 11).
//!
//! A linear program over the trees of hundreds of different roots takes minutes. Here a tree is grown for one unit after
//! the other, as in online routing with exponential prices (Aspnes et al., On-line routing of virtual circuits, 1997).
//! Further passes remove each tree and grow it again while all other trees stay, with prices that rise more and more
//! steeply near the load that the floor allows.

mod growth;

use super::columns::{Packing, TreeQuestion};
use super::tree::Tree;
use growth::PricedGrowth;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use rustc_hash::FxHashMap;

/// Limits of the search. The limits are counts, not times, so that results are the same on any machine.
#[derive(Clone, Copy, Debug)]
pub struct BalanceLimits {
    /// Rate per shard for which links are loaded, GB/s; the search ends when the trees reach it.
    pub rate: f64,
    /// Number of units into which the data of each root is divided.
    pub units: u32,
    /// Maximum number of passes over all units.
    pub passes: u32,
    /// Price of the slowest link's latency, relative to the mean price of a link that is loaded to the rate.
    pub latency: f64,
    /// Latency from the root, µs, above which a further microsecond costs `OVER_DEPTH` times as much.
    pub depth_us: f64,
    /// `true` if switches copy, so that hops of one GPU share the links into a switch.
    pub copies: bool,
}

/// Steepness of the prices in each pass: the price of a link grows by the factor e if its load, relative to the load at
/// the rate, grows by 1 / steepness. Later passes use the last value.
const STEEPNESS: [f64; 6] = [40.0, 80.0, 160.0, 320.0, 640.0, 1280.0];
/// Largest exponent of a price: larger ones would overflow in sums.
const MOST_EXPONENT: f64 = 200.0;
/// Factor of the price of latency beyond the depth limit.
const OVER_DEPTH: f64 = 1000.0;
/// Relative distance to the rate at which the search ends.
const NEAR: f64 = 2e-4;
/// The search ends after this number of passes without a better rate.
const PATIENCE: u32 = 3;

/// Loads and prices of the classes of links.
struct LoadPrices {
    /// Load relative to the capacity, at the rate.
    loads: Vec<f64>,
    /// Load that one unit adds to one link of the class.
    steps: Vec<f64>,
    /// Price of one more unit.
    prices: Vec<f64>,
    /// Price of one more unit, relative to the exponential of the load.
    factors: Vec<f64>,
    steepness: f64,
    /// Fraction of all units that have trees: links are compared with this fraction of the load at the rate.
    progress: f64,
}

impl LoadPrices {
    fn new(steps: Vec<f64>) -> Self {
        let classes = steps.len();
        Self {
            loads: vec![0.0; classes],
            prices: vec![0.0; classes],
            factors: vec![0.0; classes],
            steps,
            steepness: 0.0,
            progress: 0.0,
        }
    }

    fn set_steepness(&mut self, steepness: f64) {
        self.steepness = steepness;
        // The price is the integral of the exponential over the added load.
        let factor = |step: &f64| ((steepness * step).min(MOST_EXPONENT).exp() - 1.0) / steepness;
        self.factors = self.steps.iter().map(factor).collect();
        self.reprice();
    }

    fn reprice(&mut self) {
        (0..self.loads.len() as u32).for_each(|class| self.price(class));
    }

    fn price(&mut self, class: u32) {
        let at = class as usize;
        let exponent = self.steepness * (self.loads[at] - self.progress);
        self.prices[at] = exponent.clamp(-MOST_EXPONENT, MOST_EXPONENT).exp() * self.factors[at];
    }

    /// Adds a unit, or removes one if `sign` is -1.
    fn shift(&mut self, class: u32, sign: f64) {
        self.loads[class as usize] += sign * self.steps[class as usize];
        self.price(class);
    }

    fn most(&self) -> f64 {
        self.loads.iter().copied().fold(0.0, f64::max)
    }
}

/// Returns trees for all data whose loads are balanced; `None` if some rank cannot be reached.
///
/// # Errors
/// If the run must stop.
pub fn balanced<W: Watch>(
    question: &TreeQuestion<'_>,
    limits: &BalanceLimits,
    watch: &mut W,
) -> Result<Option<Packing>, MethodError> {
    let (network, fold) = (question.network, question.fold);
    let units = limits.units.max(1);
    let mut sizes = vec![0.0; fold.class_links().len()];
    for class in fold.classes() {
        sizes[*class as usize] += 1.0;
    }
    let capacity = |link: &u32| network.links()[*link as usize].capacity_gbyte_per_s;
    let steps: Vec<f64> = fold
        .class_links()
        .iter()
        .zip(&sizes)
        .map(|(link, size)| limits.rate * fold.order() as f64 / (f64::from(units) * size * capacity(link)))
        .collect();
    let mean = steps.iter().sum::<f64>() / steps.len().max(1) as f64;
    let slowest = question.latencies.iter().copied().fold(0.0, f64::max);
    let per_us = if slowest > 0.0 { limits.latency * mean / slowest } else { 0.0 };
    let mut prices = LoadPrices::new(steps);
    let mut growth = PricedGrowth::new(question, per_us, limits);
    let roots: Vec<usize> =
        (0..question.weights.len()).filter(|orbit| question.weights[*orbit] > 0.0).collect();
    let count = roots.len() * units as usize;
    let mut trees: Vec<Tree> = Vec::with_capacity(count);
    let mut best: Option<(f64, Vec<Tree>)> = None;
    let mut idle = 0;
    for pass in 0..limits.passes.max(1) {
        prices.progress = if pass == 0 { 0.0 } else { 1.0 };
        prices.set_steepness(STEEPNESS[(pass as usize).min(STEEPNESS.len() - 1)]);
        for at in 0..count {
            watch.checkpoint()?;
            if pass == 0 {
                if at % roots.len() == 0 {
                    // Loads are compared with the load that the units so far and those of this turn cause.
                    prices.progress = (at + roots.len()) as f64 / count as f64;
                    prices.reprice();
                }
            } else {
                for link in trees[at].transmissions(limits.copies) {
                    prices.shift(fold.classes()[link as usize], -1.0);
                }
            }
            let root = fold.representatives()[roots[at % roots.len()]];
            let Some(tree) = growth.tree(root, &mut prices) else { return Ok(None) };
            watch.count(1);
            if pass == 0 {
                trees.push(tree);
            } else {
                trees[at] = tree;
            }
        }
        let most = prices.most();
        if best.as_ref().is_none_or(|(known, _)| most < known * (1.0 - 1e-6)) {
            idle = 0;
            best = Some((most, trees.clone()));
        } else {
            idle += 1;
        }
        if most <= 1.0 + NEAR || idle == PATIENCE {
            break;
        }
    }
    Ok(best.map(|(most, trees)| {
        let mut shares: Vec<FxHashMap<Tree, u32>> = vec![FxHashMap::default(); question.weights.len()];
        let mut packed: Vec<Vec<Tree>> = vec![Vec::new(); question.weights.len()];
        for (at, tree) in trees.into_iter().enumerate() {
            // Equal trees of a root are one tree; the order is that of the units.
            let orbit = roots[at % roots.len()];
            let known = shares[orbit].entry(tree.clone()).or_insert(0);
            if *known == 0 {
                packed[orbit].push(tree);
            }
            *known += 1;
        }
        let with_shares = |(trees, counts): (Vec<Tree>, FxHashMap<Tree, u32>)| {
            let share = |tree: Tree| {
                let parts = counts.get(&tree).copied().unwrap_or(0);
                (tree, f64::from(parts) / f64::from(units))
            };
            trees.into_iter().map(share).collect()
        };
        let trees = packed.into_iter().zip(shares).map(with_shares).collect();
        Packing { rate: limits.rate / most, trees, rounds: 0 }
    }))
}

#[cfg(test)]
mod tests;
