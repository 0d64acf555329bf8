//! Minimum distances between time points: a closed matrix of difference constraints (a simple temporal network).

/// Differences below this count as rounding, in the unit of time of the problem.
pub(super) const ROUNDING: f64 = 1e-12;

/// Lower bounds of `t[b] - t[a]` for all pairs of time points, closed under addition along paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Distances {
    moments: usize,
    least: Vec<f64>,
}

impl Distances {
    /// Creates a matrix without distances, except 0 from each time point to itself.
    pub fn new(moments: usize) -> Self {
        let mut least = vec![f64::NEG_INFINITY; moments * moments];
        for at in 0..moments {
            least[at * moments + at] = 0.0;
        }
        Self { moments, least }
    }

    /// Number of time points.
    pub const fn moments(&self) -> usize {
        self.moments
    }

    /// Returns the lower bound on `t[to] - t[from]`.
    pub fn least(&self, from: u32, to: u32) -> f64 {
        self.least[from as usize * self.moments + to as usize]
    }

    /// Sum, over all time points, of the amount by which the range of the time point is narrower in another matrix.
    pub fn narrowed(&self, other: &Self) -> f64 {
        (0..self.moments as u32)
            // Sum over time points of the rise of both distances to the origin: how much the ranges of all time points
            // shrink.
            .map(|at| {
                let rise = |from, to| other.least(from, to) - self.least(from, to);
                rise(0, at) + rise(at, 0)
            })
            .sum()
    }

    /// Adds `t[to] - t[from] >= apart` and closes the matrix again. Returns `false` if no times satisfy all distances.
    #[must_use]
    pub fn demand(&mut self, from: u32, to: u32, apart: f64) -> bool {
        let n = self.moments;
        let (from, to) = (from as usize, to as usize);
        // Invariant: the matrix is closed, so a new difference is only combined once on each side (incremental
        // closure).
        if apart <= self.least[from * n + to] + ROUNDING {
            // The distance is already known up to rounding, so only a contradiction matters.
            return apart + self.least[to * n + from] <= 10.0 * ROUNDING;
        }
        if apart + self.least[to * n + from] > 10.0 * ROUNDING {
            return false;
        }
        // Every pair through the new difference: before -> from -> to -> after, O(n^2).
        for before in 0..n {
            let reach = self.least[before * n + from] + apart;
            if reach == f64::NEG_INFINITY {
                continue;
            }
            for after in 0..n {
                let through = reach + self.least[to * n + after];
                let known = &mut self.least[before * n + after];
                if through > *known {
                    *known = through;
                }
            }
        }
        // Rounding can lift the diagonal a little above 0.
        for at in 0..n {
            self.least[at * n + at] = 0.0;
        }
        true
    }
}
