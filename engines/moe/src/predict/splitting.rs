//! Fits the transition matrix by the alternating direction method of multipliers (ADMM; Boyd and others;
//! docs/methods/moe.md, section 10): one step minimises the least-squares term, the other projects onto the simplex,
//! and the multipliers make both agree.
//!
//! The loads of neighbouring iterations are nearly equal, so A has one large eigenvalue and many small ones. The large
//! one limits the length of gradient steps, so the small ones would need hundreds of steps. This method instead inverts
//! `A + rho I` once for all steps, with rho in the range of the small eigenvalues.

use super::passage::PassageProblem;
use super::simplex::project_from;
use rayon::prelude::*;

/// Maximum change of an entry from step to step, and maximum difference between the two parts of the splitting, at
/// which the search ends: far below the errors of predictions.
const CLOSE: f64 = 1e-6;
/// Maximum number of steps; tens are typical.
const MOST_STEPS: usize = 2000;
/// Over-relaxation factor; Boyd and others recommend 1.5 to 1.8.
const RELAXED: f64 = 1.6;
/// Number of products of numbers in the smallest part of a step that another thread may take: about a tenth of a
/// millisecond.
const SMALLEST_PART: usize = 1 << 18;
/// Number of steps of the power method; few are enough, because the penalty needs only a rough eigenvalue.
const POWERS: usize = 12;

/// A column: its number, its shares, its multipliers, and the threshold of its last projection.
type NumberedColumn<'c> = (usize, ((&'c mut [f64], &'c mut [f64]), &'c mut f64));

/// Improves a transition matrix until it is optimal up to [`CLOSE`], in at most [`MOST_STEPS`] steps; returns the
/// number of steps. On a thread of a pool, other threads of the pool take a part of the columns; the result is the same.
pub(super) fn solve(problem: &PassageProblem, passage: &mut [f64]) -> usize {
    let n = problem.n;
    let rho = penalty(problem);
    let inverse = inverse(problem, rho);
    // Multipliers divided by rho: the part that the projection removes. At the optimum the multipliers are `B - P A`,
    // so a hot start initialises both.
    let mut pull = vec![0.0; n * n];
    for (j, pull) in pull.chunks_exact_mut(n).enumerate() {
        times_column(&problem.a, n, passage, j, pull);
        for (pull, b) in pull.iter_mut().zip(&problem.b[j * n..]) {
            *pull = (b - *pull) / rho;
        }
    }
    let mut target = vec![0.0; n * n];
    let mut column = vec![0.0; n];
    // Each projection starts from its last threshold, because thresholds hardly change from step to step.
    let mut thresholds = vec![0.0; n];
    // The loop may end before it converges, because every intermediate matrix is on the simplex and the caller accepts
    // an inexact one.
    for taken in 1..=MOST_STEPS {
        let parts = passage.iter().zip(&pull).zip(&problem.b);
        for (target, ((share, pull), b)) in target.iter_mut().zip(parts) {
            // First part: P (A + rho I) = B + rho (Z - U).
            *target = b + rho * (share - pull);
        }
        // Each column needs only its own part of the matrices.
        let step = |column: &mut Vec<f64>, (j, ((share, pull), threshold)): NumberedColumn<'_>| {
            times_column(&inverse, n, &target, j, column);
            // Primal residual: distance of the two parts.
            let apart = largest(column, share);
            for (pull, (free, share)) in pull.iter_mut().zip(column.iter().zip(&*share)) {
                // Over-relaxed point plus the multiplier.
                *pull += RELAXED * free + (1.0 - RELAXED) * share;
            }
            column.copy_from_slice(pull);
            // Second part: projection of the column, starting from its last threshold.
            *threshold = project_from(column, *threshold);
            // Dual residual: movement of the projection.
            let moved = largest(column, share);
            for (pull, (share, new)) in pull.iter_mut().zip(share.iter_mut().zip(&*column)) {
                // U += relaxed P - Z.
                *pull -= new;
                *share = *new;
            }
            apart.max(moved)
        };
        let apart = if rayon::current_thread_index().is_some() {
            let columns = passage.par_chunks_exact_mut(n).zip(pull.par_chunks_exact_mut(n));
            let columns = columns.zip(thresholds.par_iter_mut()).enumerate();
            let columns = columns.with_min_len((SMALLEST_PART / (n * n)).max(1));
            columns.map_init(|| vec![0.0; n], step).reduce(|| 0.0, f64::max)
        } else {
            let columns = passage.chunks_exact_mut(n).zip(pull.chunks_exact_mut(n)).zip(&mut thresholds);
            columns.enumerate().map(|each| step(&mut column, each)).fold(0.0, f64::max)
        };
        if apart < CLOSE {
            return taken;
        }
    }
    MOST_STEPS
}

/// Returns the penalty rho: the geometric mean of the ridge, which is a lower bound on the eigenvalues of A, and the
/// second largest eigenvalue of A.
fn penalty(problem: &PassageProblem) -> f64 {
    // The direction of the largest eigenvalue converges in a few steps for any rho, so rho is chosen for the other
    // directions.
    let (first, vector) = largest_eigenvalue(&problem.a, problem.n, None);
    let (second, _) = largest_eigenvalue(&problem.a, problem.n, Some((first, &vector)));
    // Geometric mean of the bounds on the other eigenvalues: the ridge and the second largest eigenvalue.
    (problem.ridge * second.max(problem.ridge)).sqrt()
}

/// Returns approximations of the largest eigenvalue of A and of its eigenvector; if an eigenvalue is known, it is first
/// removed from A.
fn largest_eigenvalue(a: &[f64], n: usize, without: Option<(f64, &[f64])>) -> (f64, Vec<f64>) {
    // Start vector unlike any vector of loads.
    let mut vector: Vec<f64> = (0..n).map(|at| if at % 2 == 0 { 1.0 } else { -0.5 }).collect();
    let mut value = 0.0;
    for _ in 0..POWERS {
        let mut next: Vec<f64> =
            a.chunks_exact(n).map(|row| row.iter().zip(&vector).map(|(a, v)| a * v).sum()).collect();
        // Deflation: removes the direction of the known eigenvalue.
        if let Some((known, direction)) = without {
            let part = known * direction.iter().zip(&vector).map(|(d, v)| d * v).sum::<f64>();
            next.iter_mut().zip(direction).for_each(|(next, d)| *next -= part * d);
        }
        value = next.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        // The deflated matrix is zero, so the eigenvalue is 0.
        if value == 0.0 {
            break;
        }
        for entry in &mut next {
            *entry /= value;
        }
        vector = next;
    }
    (value, vector)
}

/// Returns the inverse of `A + rho I`, by elimination in place. A has no eigenvalue below 0, so no pivot is small.
fn inverse(problem: &PassageProblem, rho: f64) -> Vec<f64> {
    let n = problem.n;
    let mut matrix = problem.a.clone();
    // A + rho I is positive definite, so elimination needs no pivoting.
    matrix.iter_mut().step_by(n + 1).for_each(|entry| *entry += rho);
    let mut pivot_row = vec![0.0; n];
    for at in 0..n {
        let pivot = 1.0 / matrix[at * n + at];
        // Gauss-Jordan in place: the pivot column becomes the column of the inverse.
        matrix[at * n + at] = 1.0;
        matrix[at * n..(at + 1) * n].iter_mut().for_each(|entry| *entry *= pivot);
        pivot_row.copy_from_slice(&matrix[at * n..(at + 1) * n]);
        for (other, row) in matrix.chunks_exact_mut(n).enumerate() {
            if other != at {
                let factor = std::mem::replace(&mut row[at], 0.0);
                row.iter_mut().zip(&pivot_row).for_each(|(entry, pivot)| *entry -= factor * pivot);
            }
        }
    }
    matrix
}

/// Computes column `j` of `P S` for a symmetric S.
pub(super) fn times_column(symmetric: &[f64], n: usize, passage: &[f64], j: usize, product: &mut [f64]) {
    product.fill(0.0);
    // Four columns at a time, so that sums are loaded and stored a quarter as often.
    let (fours, rest) = symmetric[j * n..(j + 1) * n].as_chunks::<4>();
    for (from, [w0, w1, w2, w3]) in passage.chunks_exact(4 * n).zip(fours) {
        let (one, others) = from.split_at(n);
        let (two, others) = others.split_at(n);
        let (three, four) = others.split_at(n);
        let parts = one.iter().zip(two).zip(three.iter().zip(four));
        for (sum, ((p0, p1), (p2, p3))) in product.iter_mut().zip(parts) {
            *sum += (w0 * p0 + w1 * p1) + (w2 * p2 + w3 * p3);
        }
    }
    // Remaining columns after the groups of four.
    let last = passage.len() - rest.len() * n;
    for (from, weight) in passage[last..].chunks_exact(n).zip(rest) {
        for (sum, share) in product.iter_mut().zip(from) {
            *sum += weight * share;
        }
    }
}

/// Returns the largest difference of corresponding entries.
fn largest(one: &[f64], other: &[f64]) -> f64 {
    let mut most = [0.0_f64; 4];
    // Four maxima in parallel, without a branch.
    let ((ones, rest), (others, last)) = (one.as_chunks::<4>(), other.as_chunks::<4>());
    for (one, other) in ones.iter().zip(others) {
        for (most, (one, other)) in most.iter_mut().zip(one.iter().zip(other)) {
            let apart = (one - other).abs();
            *most = if apart > *most { apart } else { *most };
        }
    }
    rest.iter().zip(last).map(|(one, other)| (one - other).abs()).chain(most).fold(0.0, f64::max)
}
