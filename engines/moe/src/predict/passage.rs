//! Fit of the transition matrix from layer to layer: equation (1) of the mFabric paper, written as sums of products.
//!
//! Matrices are stored by column: entry `j * n + i` is the fraction of the tokens of expert j that go to expert i of
//! the next layer. With `A = sum w X X' + ridge I` and `B = sum w Y X' + ridge/N` the objective is `tr(P A P') - 2 tr(B
//! P')` and its gradient `2 (P A - B)`, sums of whole columns.

use super::splitting;

/// Minimum number of experts for which the default ridge is divided by 10: with many experts, shares are small, so the
/// same ridge would weigh more.
const MANY: usize = 32;

/// Settings of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitSettings {
    /// Number of past iterations to which the matrix is fitted.
    pub window: usize,
    /// Weight of an iteration relative to the next iteration.
    pub gamma: f64,
    /// Ridge weight towards an even transition matrix; `None`: the number of experts determines it.
    pub ridge: Option<f64>,
}

impl Default for FitSettings {
    fn default() -> Self {
        // The paper gives no values. For up to 16 experts, windows of 20 to 100 iterations and a tenth of the ridge
        // predict about equally well.
        Self { window: 50, gamma: 0.98, ridge: None }
    }
}

impl FitSettings {
    /// Returns the ridge weight for a number of experts.
    pub fn ridge_for(&self, experts: usize) -> f64 {
        self.ridge.unwrap_or(if experts < MANY { 1e-3 } else { 1e-4 })
    }

    /// Returns the weight of an iteration that is `age` iterations old.
    pub fn weight(&self, age: usize) -> f64 {
        // Age 0 is the newest iteration.
        self.gamma.powi(i32::try_from(age).unwrap_or(i32::MAX))
    }
}

/// Weighted sums over the observed iterations; only the ratio of a weight to the sum of weights matters.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageFit {
    n: usize,
    ridge: f64,
    /// Matrix `sum w X X'`, symmetric.
    xx: Vec<f64>,
    /// Matrix `sum w Y X'`, by column.
    yx: Vec<f64>,
    /// Number `sum w |Y|^2`.
    yy: f64,
    /// Sum of the weights, `sum w`.
    weight: f64,
}

/// A quadratic problem: the symmetric matrix `A`, the matrix `B` by column, and the number
/// `sum w |Y|^2 + ridge |P0|^2`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PassageProblem {
    pub(super) n: usize,
    pub(super) ridge: f64,
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
    pub(super) constant: f64,
}

impl PassageFit {
    /// Creates a fit without data, which gives an even transition matrix.
    pub fn new(n: usize, ridge: f64) -> Self {
        Self { n, ridge, xx: vec![0.0; n * n], yx: vec![0.0; n * n], yy: 0.0, weight: 0.0 }
    }

    /// Adds loads `x` of one layer and loads `y` of the next layer. A negative weight removes loads that were added.
    pub fn observe(&mut self, x: &[f64], y: &[f64], weight: f64) {
        let n = self.n;
        // Rank-one updates: x x' and y x', column by column.
        let rows = self.xx.chunks_exact_mut(n).zip(self.yx.chunks_exact_mut(n));
        for ((xx, yx), xj) in rows.zip(x) {
            let factor = weight * xj;
            for (sum, xi) in xx.iter_mut().zip(x) {
                *sum += factor * xi;
            }
            for (sum, yi) in yx.iter_mut().zip(y) {
                *sum += factor * yi;
            }
        }
        // The constant of the objective, so that values of fits can be compared.
        self.yy += weight * y.iter().map(|share| share * share).sum::<f64>();
        self.weight += weight;
    }

    /// Multiplies all weights by a factor.
    pub fn age(&mut self, factor: f64) {
        // One factor ages all iterations in the sums.
        self.xx.iter_mut().chain(&mut self.yx).for_each(|sum| *sum *= factor);
        self.yy *= factor;
        self.weight *= factor;
    }

    /// Removes all observed iterations.
    pub fn clear(&mut self) {
        self.xx.fill(0.0);
        self.yx.fill(0.0);
        self.yy = 0.0;
        self.weight = 0.0;
    }

    /// Returns the even transition matrix, from which a search can start.
    pub fn even(&self) -> Vec<f64> {
        vec![1.0 / self.n as f64; self.n * self.n]
    }

    /// Returns the problem with weights that sum to 1.
    pub(super) fn problem(&self) -> PassageProblem {
        let n = self.n;
        // Weights are relative to their sum; without data only the ridge remains.
        let scale = if self.weight > 0.0 { 1.0 / self.weight } else { 0.0 };
        let mut a: Vec<f64> = self.xx.iter().map(|sum| sum * scale).collect();
        // The ridge on the diagonal makes A positive definite, so the optimum is unique.
        a.iter_mut().step_by(n + 1).for_each(|entry| *entry += self.ridge);
        // ridge P0 with P0 = 1/N.
        let pull = self.ridge / n as f64;
        let b = self.yx.iter().map(|sum| sum * scale + pull).collect();
        // |P0|^2 = 1.
        PassageProblem { n, ridge: self.ridge, a, b, constant: self.yy * scale + self.ridge }
    }

    /// Returns the objective of a transition matrix.
    pub fn objective(&self, passage: &[f64]) -> f64 {
        let problem = self.problem();
        let mut product = vec![0.0; self.n];
        let mut sum = problem.constant;
        // tr(P A P') - 2 tr(B P') column by column, and the constant.
        for (column, (share, b)) in
            passage.chunks_exact(self.n).zip(problem.b.chunks_exact(self.n)).enumerate()
        {
            splitting::times_column(&problem.a, self.n, passage, column, &mut product);
            sum +=
                share.iter().zip(product.iter().zip(b)).map(|(p, (pa, b))| p * (pa - 2.0 * b)).sum::<f64>();
        }
        sum
    }

    /// Improves a transition matrix until it is optimal; returns the number of steps.
    pub fn solve(&self, passage: &mut [f64]) -> usize {
        splitting::solve(&self.problem(), passage)
    }
}

/// Returns the loads of the next layer for loads of this layer.
pub fn passed(passage: &[f64], load: &[f64]) -> Vec<f64> {
    let mut next = vec![0.0; load.len()];
    // P x, column by column, as the matrix is stored.
    for (column, share) in passage.chunks_exact(load.len().max(1)).zip(load) {
        for (sum, part) in next.iter_mut().zip(column) {
            *sum += share * part;
        }
    }
    next
}
