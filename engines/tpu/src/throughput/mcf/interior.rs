//! The program of column generation, solved by a custom interior point method: for the few hundred classes and groups
//! of a symmetric pod, a dense Newton step costs less than the hundreds of degenerate pivots between two rounds, and
//! prices from the middle of the set of optimal solutions generate better columns than the prices of a vertex.
//!
//! Primal: fractions `w` of the columns, slacks `s` of the classes and the flow `t`, with `A w + s = c t` for the loads
//! `A` of the columns and the capacity `c` of a class; the fractions of the columns of a group of sources sum to 1.
//! Dual: prices `p` of classes (`c sum p = 1`), values `z` of groups, reduced costs `r = A'p - z`. The primal and the
//! dual point start feasible and stay feasible; the method ends when `t - sum z` is small enough for the next round of
//! columns.

use super::master::{Piece, Prices, Trouble};
use super::network::Network;
use lightbay_core::watch::Watch;

/// Step length as a fraction of the distance to the nearest bound (fraction to the boundary, Mehrotra), so that
/// iterates stay in the interior.
const BOUNDARY: f64 = 0.95;

/// Maximum number of Newton steps: interior point methods need some tens, regardless of the size.
const STEPS: u32 = 60;

/// Number of columns that are added to the normal equations between two checkpoints; each column takes much less than a
/// millisecond.
const BLOCK: usize = 32;

/// Fractions below this value count as unused, because the fractions of an interior point are never zero.
const UNUSED: f64 = 1e-4;

/// Columns with their fractions, and the state of the method between rounds.
pub struct Interior {
    pieces: Vec<Piece>,
    classes: usize,
    groups: usize,
    capacity: f64,
    /// Divisor of the loads, so that `t` is near 1.
    unit: f64,
    prices: Vec<f64>,
}

/// A primal and dual interior point.
struct Point {
    w: Vec<f64>,
    s: Vec<f64>,
    t: f64,
    p: Vec<f64>,
    z: Vec<f64>,
    r: Vec<f64>,
}

/// A search direction: the change of every component of a [`Point`].
struct Step {
    w: Vec<f64>,
    s: Vec<f64>,
    t: f64,
    p: Vec<f64>,
    z: Vec<f64>,
    r: Vec<f64>,
}

impl Interior {
    /// Creates the program without columns.
    pub fn new(network: &Network, unit: f64) -> Self {
        let classes = network.class_count();
        Self {
            pieces: Vec::new(),
            classes,
            groups: network.groups(),
            capacity: network.capacity(),
            unit,
            prices: vec![1.0 / (network.capacity() * classes as f64); classes],
        }
    }

    /// Adds the columns of a round, each given by its group of sources and its loads.
    pub fn add(&mut self, round: u32, columns: &[(usize, &[f64])]) {
        self.pieces.extend(columns.iter().map(|(group, loads)| Piece::new(*group, round, loads)));
    }

    /// Solves the program to a relative gap, in at most [`STEPS`] steps, and returns the prices.
    ///
    /// # Errors
    /// A stop, or numerical failure.
    pub fn solve<W: Watch>(&mut self, gap: f64, watch: &mut W) -> Result<Prices, Trouble> {
        let a: Vec<f64> =
            self.pieces.iter().flat_map(|piece| piece.loads.iter()).map(|load| load / self.unit).collect();
        let group: Vec<usize> = self.pieces.iter().map(|piece| piece.group as usize).collect();
        let task =
            InteriorProgram { a, group, classes: self.classes, groups: self.groups, capacity: self.capacity };
        // Starts at the prices of the last solution: the program has changed only by a few columns.
        let mut point = task.start(&self.prices);
        let mut newton = Newton::new(&task);
        // Mehrotra's predictor-corrector: an affine step shows how much centring is needed.
        for _ in 0..STEPS {
            let value: f64 = point.z.iter().sum();
            if point.t - value <= gap * value {
                break;
            }
            watch.checkpoint().map_err(Trouble::Run)?;
            let mu = task.mu(&point);
            newton.factor(&task, &point, watch)?;
            // Predictor: barrier 0.
            let predictor = newton.direction(&task, &point, 0.0, None);
            let (primal, dual) = point.reach(&predictor, 1.0);
            let after = task.mu_after(&point, &predictor, primal, dual);
            // Centring parameter: the cube of the ratio by which the predictor reduces `mu` (Mehrotra's rule).
            let sigma = (after / mu).powi(3).clamp(1e-6, 0.5);
            // Corrector: second-order terms of the predictor.
            let step = newton.direction(&task, &point, sigma * mu, Some(&predictor));
            let (primal, dual) = point.reach(&step, BOUNDARY);
            point.advance(&step, primal, dual);
            // Vanishing steps mean that rounding errors dominate.
            if !(point.t.is_finite() && primal + dual > 1e-9) {
                return Err(Trouble::Solver(
                    "the steps of the interior point method vanish or are not finite".to_owned(),
                ));
            }
        }
        // Fractions of the last point; columns below UNUSED count as unused.
        for (piece, share) in self.pieces.iter_mut().zip(&point.w) {
            piece.weight = *share;
            piece.idle = if *share < UNUSED { piece.idle + 1 } else { 0 };
        }
        let groups = point.z.iter().map(|value| value * self.unit).collect();
        self.prices.clone_from(&point.p);
        Ok(Prices { classes: point.p, groups })
    }

    /// Drops the columns that more than `patience` consecutive solutions did not use.
    pub fn prune(&mut self, patience: u32) {
        self.pieces.retain(|piece| piece.idle <= patience);
    }

    /// Returns the columns with their fractions.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}

/// The data of one solve.
struct InteriorProgram {
    /// Matrix of the loads, column by column.
    a: Vec<f64>,
    /// Group of each column.
    group: Vec<usize>,
    classes: usize,
    groups: usize,
    capacity: f64,
}

impl InteriorProgram {
    fn column(&self, at: usize) -> &[f64] {
        &self.a[at * self.classes..(at + 1) * self.classes]
    }

    fn columns(&self) -> usize {
        self.group.len()
    }

    /// Returns `A'p`: the cost of each column at the prices `p`.
    fn costs(&self, p: &[f64]) -> Vec<f64> {
        (0..self.columns()).map(|at| dot(self.column(at), p)).collect()
    }

    /// Returns `A w`: the load of each class if columns have the fractions `w`.
    fn loads(&self, w: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.classes];
        for (at, share) in w.iter().enumerate() {
            add(&mut loads, *share, self.column(at));
        }
        loads
    }

    /// Returns a point near the central path at the prices of the previous round. The prices and a barrier determine
    /// the values of groups and all fractions, and the loads determine the slacks.
    fn start(&self, prices: &[f64]) -> Point {
        // Prices are kept away from 0, because a point on the boundary would stay there.
        let floor = 1e-3 / (self.capacity * self.classes as f64);
        let sum: f64 = prices.iter().map(|price| self.capacity * price.max(floor)).sum();
        let p: Vec<f64> = prices.iter().map(|price| price.max(floor) / sum).collect();
        let costs = self.costs(&p);
        let mut least = vec![f64::INFINITY; self.groups];
        let mut count = vec![0.0; self.groups];
        let mut mean = 0.0;
        for (cost, group) in costs.iter().zip(&self.group) {
            least[*group] = least[*group].min(*cost);
            count[*group] += 1.0;
            mean += cost / self.columns() as f64;
        }
        // The barrier is a few per cent of the cost of a column.
        let mu = 0.02 * mean / (self.columns() as f64 / self.groups as f64);
        let mut z = least.clone();
        for (group, z) in z.iter_mut().enumerate() {
            // The root z of sum mu / (cost - z) = 1 lies at least mu and at most count * mu below the smallest cost.
            let (mut low, mut high) = (least[group] - count[group] * mu, least[group] - mu);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                let of_group = costs.iter().zip(&self.group).filter(|(_, of)| **of == group);
                let total: f64 = of_group.map(|(cost, _)| mu / (cost - middle)).sum();
                if total > 1.0 { high = middle } else { low = middle }
            }
            *z = low;
        }
        let r: Vec<f64> = costs.iter().zip(&self.group).map(|(cost, group)| cost - z[*group]).collect();
        let mut sums = vec![0.0; self.groups];
        for (r, group) in r.iter().zip(&self.group) {
            sums[*group] += 1.0 / r;
        }
        // Fractions are proportional to 1/r, because w r = mu on the central path.
        let w: Vec<f64> = r.iter().zip(&self.group).map(|(r, group)| 1.0 / r / sums[*group]).collect();
        let loads = self.loads(&w);
        let fullest = loads.iter().copied().fold(0.0, f64::max);
        // t is 2 % above the relative load of the most loaded class, so that every slack is positive.
        let t = 1.02 * fullest / self.capacity;
        let s = loads.iter().map(|load| self.capacity * t - load).collect();
        Point { w, s, t, p, z, r }
    }

    fn mu(&self, point: &Point) -> f64 {
        // Mean complementarity product.
        (dot(&point.w, &point.r) + dot(&point.s, &point.p)) / (self.columns() + self.classes) as f64
    }

    fn mu_after(&self, point: &Point, step: &Step, primal: f64, dual: f64) -> f64 {
        let product = |x: &[f64], dx: &[f64], y: &[f64], dy: &[f64]| -> f64 {
            (0..x.len()).map(|at| (x[at] + primal * dx[at]) * (y[at] + dual * dy[at])).sum()
        };
        let sum =
            product(&point.w, &step.w, &point.r, &step.r) + product(&point.s, &step.s, &point.p, &step.p);
        sum / (self.columns() + self.classes) as f64
    }
}

impl Point {
    /// Returns the primal and the dual step length along a direction, each at most 1.
    fn reach(&self, step: &Step, share: f64) -> (f64, f64) {
        let limit = |x: &[f64], dx: &[f64]| {
            // Ratio test.
            x.iter().zip(dx).filter(|(_, dx)| **dx < 0.0).map(|(x, dx)| -x / dx).fold(f64::INFINITY, f64::min)
        };
        let primal = limit(&self.w, &step.w).min(limit(&self.s, &step.s));
        let dual = limit(&self.p, &step.p).min(limit(&self.r, &step.r));
        ((share * primal).min(1.0), (share * dual).min(1.0))
    }

    fn advance(&mut self, step: &Step, primal: f64, dual: f64) {
        add(&mut self.w, primal, &step.w);
        add(&mut self.s, primal, &step.s);
        self.t += primal * step.t;
        add(&mut self.p, dual, &step.p);
        add(&mut self.z, dual, &step.z);
        add(&mut self.r, dual, &step.r);
    }
}

/// The normal equations of a point: `M dp + c dt = b`, with `M = sum D (A - mean)(A - mean)' + S/P`, where the diagonal
/// matrices D and S/P have the entries `w/r` and `s/p`.
struct Newton {
    /// Lower triangle, row by row, then its Cholesky factor.
    matrix: Vec<f64>,
    /// Mean column of each group, weighted by D.
    mean: Vec<f64>,
    /// Sum of D for each group.
    weight: Vec<f64>,
    d: Vec<f64>,
    /// `M^-1` of the vector of ones.
    ones: Vec<f64>,
}

impl Newton {
    fn new(task: &InteriorProgram) -> Self {
        Self {
            matrix: vec![0.0; task.classes * task.classes],
            mean: vec![0.0; task.groups * task.classes],
            weight: vec![0.0; task.groups],
            d: vec![0.0; task.columns()],
            ones: Vec::new(),
        }
    }

    fn factor<W: Watch>(
        &mut self,
        task: &InteriorProgram,
        point: &Point,
        watch: &mut W,
    ) -> Result<(), Trouble> {
        let n = task.classes;
        self.mean.fill(0.0);
        self.weight.fill(0.0);
        for at in 0..task.columns() {
            // D = w/r; eliminating w and s leaves one equation per class.
            self.d[at] = point.w[at] / point.r[at];
            self.weight[task.group[at]] += self.d[at];
        }
        for (at, group) in task.group.iter().enumerate() {
            let share = self.d[at] / self.weight[*group];
            add(&mut self.mean[group * n..(group + 1) * n], share, task.column(at));
        }
        // Diagonal of the slacks.
        self.matrix.fill(0.0);
        for class in 0..n {
            self.matrix[class * n + class] = point.s[class] / point.p[class];
        }
        let mut block = vec![0.0; BLOCK * n];
        let mut filled = 0;
        for (at, group) in task.group.iter().enumerate() {
            // Columns are centred within their group, which eliminates the group values.
            let root = self.d[at].sqrt();
            let mean = &self.mean[group * n..(group + 1) * n];
            let row = &mut block[filled * n..(filled + 1) * n];
            for ((place, load), mean) in row.iter_mut().zip(task.column(at)).zip(mean) {
                *place = root * (load - mean);
            }
            filled += 1;
            if filled == BLOCK || at + 1 == task.columns() {
                block[filled * n..].fill(0.0);
                self.gather(n, &block, filled.next_multiple_of(4));
                filled = 0;
                watch.checkpoint().map_err(Trouble::Run)?;
            }
        }
        // Positive definite by construction; a failure means a loss of precision.
        if !cholesky(&mut self.matrix, n) {
            return Err(Trouble::Solver(
                "the matrix of the interior point method is not positive definite".to_owned(),
            ));
        }
        self.ones = vec![1.0; n];
        solve(&self.matrix, n, &mut self.ones);
        Ok(())
    }

    /// Adds the products of some columns to the lower triangle, four columns at a time.
    fn gather(&mut self, n: usize, block: &[f64], columns: usize) {
        for four in block[..columns * n].chunks_exact(4 * n) {
            let (v0, rest) = four.split_at(n);
            let (v1, rest) = rest.split_at(n);
            let (v2, v3) = rest.split_at(n);
            for (row, target) in self.matrix.chunks_exact_mut(n).enumerate() {
                let (a0, a1, a2, a3) = (v0[row], v1[row], v2[row], v3[row]);
                let end = row + 1;
                let sources = v0[..end].iter().zip(&v1[..end]).zip(v2[..end].iter().zip(&v3[..end]));
                for (place, ((b0, b1), (b2, b3))) in target[..end].iter_mut().zip(sources) {
                    *place += a0 * b0 + a1 * b1 + (a2 * b2 + a3 * b3);
                }
            }
        }
    }

    /// Returns the direction to the point of the central path with barrier `mu`, corrected by the second-order terms of
    /// a first direction.
    fn direction(&self, task: &InteriorProgram, point: &Point, mu: f64, first: Option<&Step>) -> Step {
        let n = task.classes;
        let product = |at: usize, x: fn(&Step) -> (&[f64], &[f64])| {
            first.map_or(0.0, |step| {
                let (one, other) = x(step);
                one[at] * other[at]
            })
        };
        // Right-hand sides of the complementarity equations.
        let c: Vec<f64> = (0..task.columns())
            .map(|at| (mu - product(at, |step| (&step.w, &step.r))) / point.r[at] - point.w[at])
            .collect();
        let slack: Vec<f64> = (0..n)
            .map(|class| (mu - product(class, |step| (&step.s, &step.p))) / point.p[class] - point.s[class])
            .collect();
        let mut b = task.loads(&c);
        add(&mut b, 1.0, &slack);
        // Eliminates the values of the groups.
        let mut sums = vec![0.0; task.groups];
        for (c, group) in c.iter().zip(&task.group) {
            sums[*group] += c;
        }
        for (group, sum) in sums.iter().enumerate() {
            add(&mut b, -sum, &self.mean[group * n..(group + 1) * n]);
        }
        solve(&self.matrix, n, &mut b);
        // The normalisation of the prices (c sum p = 1) is one more equation, solved by the Sherman-Morrison pattern.
        let along: f64 = self.ones.iter().sum();
        let t = b.iter().sum::<f64>() / (task.capacity * along);
        let mut p = b;
        add(&mut p, -task.capacity * t, &self.ones);
        let z: Vec<f64> = (0..task.groups)
            .map(|group| dot(&self.mean[group * n..(group + 1) * n], &p) - sums[group] / self.weight[group])
            .collect();
        let costs = task.costs(&p);
        let r: Vec<f64> = costs.iter().zip(&task.group).map(|(cost, group)| cost - z[*group]).collect();
        let w: Vec<f64> = (0..task.columns()).map(|at| c[at] - self.d[at] * r[at]).collect();
        let s = slack
            .iter()
            .enumerate()
            .map(|(class, slack)| slack - point.s[class] / point.p[class] * p[class])
            .collect();
        Step { w, s, t, p, z, r }
    }
}

/// Computes the Cholesky factor of the lower triangle in place; returns `false` if the matrix is not positive definite.
fn cholesky(matrix: &mut [f64], n: usize) -> bool {
    for row in 0..n {
        // Row by row, in place.
        let (above, rest) = matrix.split_at_mut(row * n);
        let current = &mut rest[..n];
        for column in 0..row {
            let other = &above[column * n..][..=column];
            let sum = current[column] - dot(&current[..column], &other[..column]);
            current[column] = sum / other[column];
        }
        let left = current[row] - dot(&current[..row], &current[..row]);
        if !(left > 0.0 && left.is_finite()) {
            return false;
        }
        current[row] = left.sqrt();
    }
    true
}

/// Solves a linear system with its Cholesky factor; `x` contains the right-hand side and is replaced by the solution.
fn solve(factor: &[f64], n: usize, x: &mut [f64]) {
    for row in 0..n {
        x[row] = (x[row] - dot(&factor[row * n..row * n + row], &x[..row])) / factor[row * n + row];
    }
    for row in (0..n).rev() {
        x[row] /= factor[row * n + row];
        let (before, at) = x.split_at_mut(row);
        add(before, -at[0], &factor[row * n..row * n + row]);
    }
}

/// Dot product of two vectors, with four partial sums, so that additions do not wait for each other.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (xs, ys) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in xs.zip(ys) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums[0] + sums[1] + (sums[2] + sums[3]) + rest
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}
