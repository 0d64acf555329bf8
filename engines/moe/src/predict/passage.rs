//! The fit of the passage from layer to layer.
//!
//! Matrices are kept by column: entry `j * n + i` is the share of what leaves expert j that reaches expert i. With `A
//! = sum w X X' + ridge I` and `B = sum w Y X' + ridge/N` the objective is `tr(P A P') - 2 tr(B P')` and its gradient
//! `2 (P A - B)`, sums of whole columns.

use super::simplex::project;
use lightbay_highs::error::Error;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;

/// Largest change of an entry at which the search ends.
const CLOSE: f64 = 1e-6;
/// Steps of the search at most.
const MOST_STEPS: usize = 2000;
/// Experts from which the ridge is a tenth.
const MANY: usize = 32;

/// Settings of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitSettings {
    /// Iterations.
    pub window: usize,
    /// Weight of an iteration relative to the one after it.
    pub gamma: f64,
    /// Pull towards an even passage; by the number of experts if there is none.
    pub ridge: Option<f64>,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self { window: 50, gamma: 0.98, ridge: None }
    }
}

impl FitSettings {
    /// The ridge for a number of experts.
    pub fn ridge_for(&self, experts: usize) -> f64 {
        self.ridge.unwrap_or(if experts < MANY { 1e-3 } else { 1e-4 })
    }

    /// Weight of an iteration of an age.
    pub fn weight(&self, age: usize) -> f64 {
        self.gamma.powi(i32::try_from(age).unwrap_or(i32::MAX))
    }
}

/// Sums over the observed iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageFit {
    n: usize,
    /// A, symmetric.
    a: Vec<f64>,
    /// B, by column.
    b: Vec<f64>,
    /// `sum w |Y|^2 + ridge |P0|^2`.
    constant: f64,
}

impl PassageFit {
    /// A fit to nothing: an even passage.
    pub fn new(n: usize, ridge: f64) -> Self {
        let mut a = vec![0.0; n * n];
        for at in 0..n {
            a[at * n + at] = ridge;
        }
        Self { n, a, b: vec![ridge / n as f64; n * n], constant: ridge }
    }

    /// Adds loads `x` of one layer with those `y` of the next.
    pub fn observe(&mut self, x: &[f64], y: &[f64], weight: f64) {
        let n = self.n;
        for (j, xj) in x.iter().enumerate().take(n) {
            let factor = weight * xj;
            for (sum, xi) in self.a[j * n..(j + 1) * n].iter_mut().zip(x) {
                *sum += factor * xi;
            }
            for (sum, yi) in self.b[j * n..(j + 1) * n].iter_mut().zip(y) {
                *sum += factor * yi;
            }
        }
        self.constant += weight * y.iter().map(|share| share * share).sum::<f64>();
    }

    /// The even passage, from which a search can start.
    pub fn even(&self) -> Vec<f64> {
        vec![1.0 / self.n as f64; self.n * self.n]
    }

    /// The objective of a passage.
    pub fn objective(&self, passage: &[f64]) -> f64 {
        let mut product = vec![0.0; self.n * self.n];
        self.times_a(passage, &mut product);
        let parts = passage.iter().zip(product.iter().zip(&self.b));
        parts.map(|(share, (pa, b))| share * (pa - 2.0 * b)).sum::<f64>() + self.constant
    }

    /// `P A`, by column.
    fn times_a(&self, passage: &[f64], product: &mut [f64]) {
        let n = self.n;
        for (column, weights) in product.chunks_exact_mut(n).zip(self.a.chunks_exact(n)) {
            column.fill(0.0);
            // Four columns at a time, so that sums are loaded and stored a fourth as often.
            let (fours, rest) = weights.as_chunks::<4>();
            for (from, [w0, w1, w2, w3]) in passage.chunks_exact(4 * n).zip(fours) {
                let (one, others) = from.split_at(n);
                let (two, others) = others.split_at(n);
                let (three, four) = others.split_at(n);
                let parts = one.iter().zip(two).zip(three.iter().zip(four));
                for (sum, ((p0, p1), (p2, p3))) in column.iter_mut().zip(parts) {
                    *sum += (w0 * p0 + w1 * p1) + (w2 * p2 + w3 * p3);
                }
            }
            let last = passage.len() - rest.len() * n;
            for (from, weight) in passage[last..].chunks_exact(n).zip(rest) {
                for (sum, share) in column.iter_mut().zip(from) {
                    *sum += weight * share;
                }
            }
        }
    }

    /// A number not below the largest eigenvalue of A, close to it: for a positive vector v, `max (A v)_i / v_i`
    /// (Collatz and Wielandt), after some steps of the power method. A has no entry below 0.
    fn largest_eigenvalue(&self) -> f64 {
        let n = self.n;
        let mut vector = vec![1.0; n];
        let mut bound = f64::INFINITY;
        for _ in 0..8 {
            let next: Vec<f64> = self
                .a
                .chunks_exact(n)
                .map(|row| row.iter().zip(&vector).map(|(a, v)| a * v).sum::<f64>())
                .collect();
            let most = next.iter().zip(&vector).map(|(new, old)| new / old).fold(0.0, f64::max);
            bound = bound.min(most);
            let scale = next.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            // Kept away from 0, so that every quotient is one.
            vector = next.iter().map(|value| (value / scale).max(1e-6)).collect();
        }
        bound
    }

    /// Improves a passage until it is the best one; returns the steps. Accelerated projected gradients with restart
    /// whenever the step leads back.
    pub fn solve(&self, passage: &mut Vec<f64>) -> usize {
        let n = self.n;
        let step = 1.0 / self.largest_eigenvalue();
        let mut ahead = passage.clone();
        let mut product = vec![0.0; n * n];
        let mut momentum = 1.0_f64;
        for taken in 1..=MOST_STEPS {
            self.times_a(&ahead, &mut product);
            // A step of 1/(2 lambda) along the gradient 2 (P A - B).
            for (next, (from, b)) in product.iter_mut().zip(ahead.iter().zip(&self.b)) {
                *next = from - step * (*next - b);
            }
            product.chunks_exact_mut(n).for_each(project);
            let (mut change, mut back) = (0.0_f64, 0.0);
            for (new, (old, from)) in product.iter().zip(passage.iter().zip(&ahead)) {
                change = change.max((new - old).abs());
                back += (from - new) * (new - old);
            }
            if back > 0.0 {
                momentum = 1.0;
            }
            let following = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let factor = (momentum - 1.0) / following;
            momentum = following;
            for (from, (new, old)) in ahead.iter_mut().zip(product.iter().zip(passage.iter())) {
                *from = new + factor * (new - old);
            }
            std::mem::swap(passage, &mut product);
            if change < CLOSE {
                return taken;
            }
        }
        MOST_STEPS
    }

    /// The best passage as a quadratic program, to check [`Self::solve`] with: n² columns, n rows.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn by_program(&self) -> Result<Vec<f64>, Error> {
        let n = self.n;
        let mut model = Model::new("passage");
        model.offset = self.constant;
        let columns: Vec<_> = (0..n * n)
            .map(|at| model.column(format!("p_{}_{}", at % n, at / n), 0.0, 1.0, -2.0 * self.b[at]))
            .collect();
        for column in 0..n {
            let terms = (0..n).map(|row| (columns[column * n + row], 1.0));
            model.equal(format!("column_{column}"), 1.0, terms);
        }
        let rows = |i: usize| (0..n).flat_map(move |j| (0..=j).map(move |k| (i, j, k)));
        let entries = (0..n)
            .flat_map(rows)
            .map(|(i, j, k)| ((j * n + i) as u32, (k * n + i) as u32, 2.0 * self.a[j * n + k]));
        model.set_quadratic(entries);
        let solution = solve_here(&model, &Options::new(), &Start::None, &mut NoListener)?;
        Ok(solution.values.unwrap_or_default())
    }
}

/// Loads of the next layer for those of this one.
pub fn passed(passage: &[f64], load: &[f64]) -> Vec<f64> {
    let mut next = vec![0.0; load.len()];
    for (column, share) in passage.chunks_exact(load.len().max(1)).zip(load) {
        for (sum, part) in next.iter_mut().zip(column) {
            *sum += share * part;
        }
    }
    next
}
