//! A dual simplex method for the small linear programs of the search: minimise one variable subject to rows that
//! are added one after the other.
//!
//! The program is kept as a dictionary (every basic variable is written in terms of the nonbasic variables, which are
//! 0). At the beginning all variables are nonbasic, so the dictionary is dual feasible and stays so. Added rows are
//! expressed in the dictionary and repaired by dual pivots. [`Dictionary::safe_bound`] recomputes the bound from the
//! multipliers and the original rows, so rounding in pivots cannot make it invalid.

/// A row `constant + sum of coefficient * variable >= 0`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Variables with their coefficients, each variable once.
    pub terms: Vec<(u32, f64)>,
    /// Constant term of the row.
    pub constant: f64,
}

/// Maximum amount by which a basic variable may fall short of its bound. Times are about 1 (section 10 of
/// docs/methods/training-exact.md scales them); the tolerance is a hundred times the rounding of a row.
const FEASIBLE: f64 = 1e-11;

/// Coefficients below this are not pivoted on. Pivots on smaller coefficients would multiply rounding by more than 1e9.
const PIVOT: f64 = 1e-9;

/// Reason that an optimisation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PivotEnd {
    /// The optimum was reached.
    Optimal,
    /// The rows contradict each other.
    Infeasible,
    /// The pivot limit was reached; the bound is still valid.
    Unfinished,
}

/// A program `min x[goal], rows, x >= lower` in the shifted variables `x - lower`.
#[derive(Clone, Debug)]
pub struct Dictionary {
    variables: usize,
    goal: usize,
    lower: Vec<f64>,
    rows: Vec<Row>,
    /// Row `i` of the dictionary: constant, then coefficients of the nonbasic columns.
    table: Vec<f64>,
    /// Reduced costs of the nonbasic columns.
    reduced: Vec<f64>,
    /// Basic variable of each dictionary row and nonbasic variable of each column; variables come first, then slacks.
    basic: Vec<u32>,
    nonbasic: Vec<u32>,
    /// Position of each variable: a column, or `variables` + a dictionary row.
    place: Vec<u32>,
}

impl Dictionary {
    /// Creates a program without rows.
    pub fn new(lower: Vec<f64>, goal: u32) -> Self {
        let variables = lower.len();
        let mut reduced = vec![0.0; variables];
        reduced[goal as usize] = 1.0;
        Self {
            variables,
            goal: goal as usize,
            lower,
            rows: Vec::new(),
            table: Vec::new(),
            reduced,
            basic: Vec::new(),
            nonbasic: (0..variables as u32).collect(),
            place: (0..variables as u32).collect(),
        }
    }

    /// Number of rows added so far.
    pub const fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Adds a row in the unshifted variables.
    pub fn add(&mut self, row: Row) {
        let width = self.variables + 1;
        // Row in terms of the current nonbasic variables: basic variables are substituted.
        let mut fresh = vec![0.0; width];
        fresh[0] = row.constant;
        for &(variable, coefficient) in &row.terms {
            fresh[0] += coefficient * self.lower[variable as usize];
            let place = self.place[variable as usize] as usize;
            if place < self.variables {
                fresh[1 + place] += coefficient;
            } else {
                let from = (place - self.variables) * width;
                for (value, part) in fresh.iter_mut().zip(&self.table[from..from + width]) {
                    *value += coefficient * part;
                }
            }
        }
        self.basic.push((self.variables + self.rows.len()) as u32);
        self.table.extend_from_slice(&fresh);
        self.rows.push(row);
    }

    /// Makes dual pivots until all rows hold, the rows contradict each other, or the limit is reached.
    pub fn optimise(&mut self, most_pivots: usize) -> PivotEnd {
        // Invariant: reduced costs are not negative (dual feasible), so the first primal feasible dictionary is
        // optimal.
        let width = self.variables + 1;
        for pivot in 0..most_pivots {
            // In the second half of the pivots the smallest names decide (Bland), so that degenerate pivots cannot
            // cycle.
            let careful = 2 * pivot >= most_pivots;
            // Leaving row: the most violated one (Dantzig), or the one with the smallest name (Bland).
            let mut leaving: Option<usize> = None;
            for (row, line) in self.table.chunks_exact(width).enumerate() {
                if line[0] < -FEASIBLE {
                    let better = leaving.is_none_or(|best| {
                        if careful {
                            self.basic[row] < self.basic[best]
                        } else {
                            line[0] < self.table[best * width]
                        }
                    });
                    if better {
                        leaving = Some(row);
                    }
                }
            }
            let Some(leaving) = leaving else { return PivotEnd::Optimal };
            let line = &self.table[leaving * width..(leaving + 1) * width];
            // Dual ratio test: the smallest ratio keeps all reduced costs at 0 or above.
            let mut entering: Option<(f64, usize)> = None;
            for column in 0..self.variables {
                let coefficient = line[1 + column];
                if coefficient <= PIVOT {
                    continue;
                }
                let ratio = self.reduced[column] / coefficient;
                let better = entering.is_none_or(|(least, best)| {
                    ratio < least - 1e-13
                        || (ratio <= least + 1e-13
                            && if careful {
                                self.nonbasic[column] < self.nonbasic[best]
                            } else {
                                coefficient > line[1 + best]
                            })
                });
                if better {
                    entering = Some((ratio, column));
                }
            }
            // No positive coefficient: the row cannot become feasible, so the rows contradict each other.
            let Some((_, entering)) = entering else { return PivotEnd::Infeasible };
            self.pivot(leaving, entering);
        }
        PivotEnd::Unfinished
    }

    fn pivot(&mut self, leaving: usize, entering: usize) {
        let width = self.variables + 1;
        let from = leaving * width;
        let inverse = 1.0 / self.table[from + 1 + entering];
        // Solves the leaving row for the entering variable.
        for value in &mut self.table[from..from + width] {
            *value *= -inverse;
        }
        self.table[from + 1 + entering] = inverse;
        let line = self.table[from..from + width].to_vec();
        // Gaussian elimination of the entering column from all other rows.
        for (row, values) in self.table.chunks_exact_mut(width).enumerate() {
            let factor = values[1 + entering];
            if row == leaving || factor == 0.0 {
                continue;
            }
            values[1 + entering] = 0.0;
            for (value, part) in values.iter_mut().zip(&line) {
                *value += factor * part;
            }
        }
        // The column is eliminated from the reduced costs too; values below 0 by rounding are set to 0, which weak
        // duality allows.
        let factor = self.reduced[entering];
        self.reduced[entering] = 0.0;
        if factor != 0.0 {
            for (value, part) in self.reduced.iter_mut().zip(&line[1..]) {
                *value = (*value + factor * part).max(0.0);
            }
        }
        std::mem::swap(&mut self.basic[leaving], &mut self.nonbasic[entering]);
        let (now_basic, now_nonbasic) = (self.basic[leaving] as usize, self.nonbasic[entering] as usize);
        if now_basic < self.variables {
            self.place[now_basic] = (self.variables + leaving) as u32;
        }
        if now_nonbasic < self.variables {
            self.place[now_nonbasic] = entering as u32;
        }
    }

    /// Writes the current values of the variables, unshifted, to `values`.
    pub fn values_into(&self, values: &mut Vec<f64>) {
        let width = self.variables + 1;
        values.clone_from(&self.lower);
        for (row, &variable) in self.basic.iter().enumerate() {
            if (variable as usize) < self.variables {
                values[variable as usize] += self.table[row * width];
            }
        }
    }

    /// Positions of the rows whose slack is nonbasic and therefore 0, so that they hold with equality.
    pub fn tight(&self) -> impl Iterator<Item = usize> + '_ {
        self.nonbasic.iter().filter_map(|name| (*name as usize).checked_sub(self.variables))
    }

    /// Multiplier of every row, not negative.
    pub fn multipliers(&self) -> Vec<f64> {
        let mut multipliers = vec![0.0; self.rows.len()];
        for (column, &name) in self.nonbasic.iter().enumerate() {
            if let Some(row) = (name as usize).checked_sub(self.variables) {
                multipliers[row] = self.reduced[column].max(0.0);
            }
        }
        multipliers
    }

    /// Returns a row as it was added.
    pub fn row(&self, at: usize) -> &Row {
        &self.rows[at]
    }

    /// Returns a lower bound on `x[goal]` if every variable is between `lower` and `upper`: weak duality with the
    /// multipliers of the dictionary, valid for any rounding of the multipliers.
    pub fn safe_bound(&self, upper: &[f64]) -> f64 {
        // Weak duality: goal - sum of multiplier * row is a constant plus a linear function of bounded variables, whose
        // minimum is at a bound of each variable.
        let mut rest = vec![0.0; self.variables];
        rest[self.goal] = 1.0;
        let mut bound = 0.0;
        for (column, &name) in self.nonbasic.iter().enumerate() {
            let Some(row) = (name as usize).checked_sub(self.variables) else { continue };
            let multiplier = self.reduced[column].max(0.0);
            if multiplier == 0.0 {
                continue;
            }
            bound -= multiplier * self.rows[row].constant;
            for &(variable, coefficient) in &self.rows[row].terms {
                rest[variable as usize] -= multiplier * coefficient;
            }
        }
        // Any nonnegative multipliers give a valid bound; inaccurate pivots only weaken it.
        for variable in 0..self.variables {
            let at = if rest[variable] >= 0.0 { self.lower[variable] } else { upper[variable] };
            if rest[variable] != 0.0 {
                bound += rest[variable] * at;
            }
        }
        bound
    }
}
