//! Duration selection: an integer program that chooses the number of circuits of every link and proves the optimum
//! (docs/methods/training-exact.md, section 8).
//!
//! The only decisions are circuit counts: a 0-1 column per link and count is 1 if the link has at least that count.
//! Durations of tasks that share their link with no other are sums of these columns, start times are longest paths, and
//! the sharing among the last transfers of a link is modelled piece by piece. On tail-exact scenarios the optimum is
//! the joint optimum (DELTA's objective, Eq. 3, over all topologies, schedules and rates); elsewhere competition before
//! the last transfers and shared NICs are left out, and the optimum is a lower bound. Times are milliseconds, volumes
//! NIC-milliseconds.
//!
//! Rows are built from `Sum` instead of good_lp expressions, because starting points and bounds of columns are computed
//! from the same sums.

mod build;
mod paths;
mod range;
mod share;
mod sum;

use crate::scenario::instance::Instance;
use crate::simulate::evaluate::Evaluator;
use build::{Builder, Recipe};
use lightbay_highs::model::{Broken, Model};
pub use range::Range;
use share::{Served, Share};
use sum::Sum;

/// Objective of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The makespan, milliseconds.
    Makespan,
    /// Ports over real pods, with the makespan within the limit.
    Ports,
}

/// Form of the model: full or reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// A column for every start and every circuit count within the caps, as described in the documentation.
    Full,
    /// Without the circuit counts, paths and pieces that affect no plan within the limit.
    Reduced,
}

/// Request for a model.
#[derive(Clone, Copy, Debug)]
pub struct SelectionRequest<'a> {
    /// The scenario, prepared.
    pub evaluator: &'a Evaluator,
    /// The scenario, for names.
    pub instance: &'a Instance,
    /// Maximum number of circuits of every link worth trying.
    pub caps: &'a [u32],
    /// Upper limit on the makespan of the plans in the model, seconds.
    pub limit_s: f64,
    /// Objective of the model.
    pub goal: Goal,
    /// Form of the model.
    pub writing: Writing,
}

/// The model of a scenario and what its columns mean.
#[derive(Clone, Debug)]
pub struct Selection {
    model: Model,
    range: Range,
    reach: Vec<u32>,
    recipes: Vec<Recipe>,
    makespan: Sum,
    /// Minimum possible makespan of a plan, milliseconds.
    least: f64,
    ends: Vec<Sum>,
    shares: Vec<Share>,
    link_names: Vec<String>,
    exact: bool,
}

/// Feasibility tolerance for constructed points. HiGHS accepts 1e-7 as feasible by default.
const TOLERANCE: f64 = 1e-7;

impl Selection {
    /// Writes the model. `None` if one circuit per link does not fit the ports, or if the reduced form finds that no
    /// plan ends within the limit.
    pub fn new(ask: SelectionRequest<'_>) -> Option<Self> {
        let range = Range::new(ask.evaluator, ask.caps)?;
        let range = match ask.writing {
            Writing::Full => range,
            // Reduced form: first remove the counts that no plan within the limit has.
            Writing::Reduced => range.tighten(ask.evaluator, ask.limit_s)?,
        };
        let builder = Builder::new(ask, range);
        let link_names = (0..ask.caps.len()).map(|link| builder.link_name(link)).collect();
        let Builder { model, range, reach, recipes, makespan, least, ends, shares, .. } = builder;
        // Exact only if no transfers other than sinks compete, and the DAG fixes the order of releases of all pieces.
        let exact = ask.evaluator.contention.tail_exact() && shares.iter().all(Share::in_order);
        debug_assert_eq!(model.columns(), recipes.len(), "every column has a recipe");
        Some(Self { model, range, reach, recipes, makespan, least, ends, shares, link_names, exact })
    }

    /// The model.
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// Returns `true` if the optimum of the model is the joint optimum; otherwise the optimum is a lower bound.
    pub const fn exact(&self) -> bool {
        self.exact
    }

    /// Minimum and maximum number of circuits that the model chooses from.
    pub const fn range(&self) -> &Range {
        &self.range
    }

    /// Returns the circuits of every link at a point.
    pub fn circuits(&self, values: &[f64]) -> Vec<u32> {
        (0..self.range.low.len())
            .map(|link| {
                let (low, high) = (self.range.low[link], self.range.high[link]);
                let from = self.reach[link] as usize;
                let taken = values[from..from + (high - low) as usize].iter().filter(|value| **value > 0.5);
                low + taken.count() as u32
            })
            .collect()
    }

    /// The point that circuits within the range represent, with every start as early as it can be.
    fn point(&self, x: &[u32]) -> Vec<f64> {
        // Counts above the range are reduced to the maximum of the range.
        let x: Vec<u32> =
            x.iter().zip(&self.range.high).map(|(&circuits, &most)| circuits.min(most)).collect();
        let mut point = Vec::with_capacity(self.recipes.len());
        let mut served: Vec<Served> = Vec::new();
        let mut makespan = 0.0;
        // Columns are ordered so that every recipe needs only earlier columns.
        for recipe in &self.recipes {
            let value = match recipe {
                Recipe::Reach { link, circuits } => f64::from(u8::from(x[*link as usize] >= *circuits)),
                // Duration V/(min(F, x) B), minus `base`: the value to which the telescoping row of the model
                // (build.rs) adds up.
                Recipe::Duration { link, flows, work, base } => {
                    work / (f64::from(x[*link as usize]) / flows).min(1.0) - base
                }
                Recipe::Largest { sums, base } => {
                    sums.iter().map(|sum| sum.at(&point)).fold(f64::NEG_INFINITY, f64::max) - base
                }
                Recipe::Makespan => {
                    // Sinks are served level-first, which is optimal for them.
                    served = self.shares.iter().map(|share| share.serve(x[share.link], &point)).collect();
                    let ends = self.ends.iter().map(|end| end.at(&point));
                    makespan = ends.chain(served.iter().map(|served| served.end)).fold(self.least, f64::max);
                    makespan - self.makespan.constant
                }
                Recipe::Piece { share, piece, from, to } => {
                    // Convex hull of circuits times length: only the piece of the count that is chosen has a length.
                    let circuits = x[self.shares[*share].link];
                    let inside = (*from..=*to).contains(&circuits);
                    if inside { served[*share].length(*piece, makespan) } else { 0.0 }
                }
                Recipe::Sent { share, sink, piece } => served[*share].sent(*sink, *piece, makespan),
            };
            point.push(value);
        }
        point
    }

    /// The point that circuits represent, with every start as early as it can be. A number of circuits above the range
    /// counts as the maximum of the range, because further circuits are not used.
    ///
    /// # Errors
    /// The first number of circuits, row or bound that is not within the model.
    pub fn checked_point(&self, x: &[u32]) -> Result<Vec<f64>, Broken> {
        // Counts below the range give no plan within the limit.
        let Range { low, high } = &self.range;
        if let Some(link) = (0..low.len()).find(|link| x[*link] < low[*link]) {
            return Err(Broken {
                name: format!("circuits {}", self.link_names[link]),
                value: f64::from(x[link]),
                lower: f64::from(low[link]),
                upper: f64::from(high[link]),
                fractional: false,
            });
        }
        let x: Vec<u32> = x.iter().zip(high).map(|(&circuits, &most)| circuits.min(most)).collect();
        let point = self.point(&x);
        match self.model.first_broken(&point, TOLERANCE) {
            None => Ok(point),
            Some(broken) => Err(broken),
        }
    }

    /// The makespan of circuits, seconds; `None` if the circuits are not within the model.
    pub fn vector_s(&self, x: &[u32]) -> Option<f64> {
        self.checked_point(x).ok().map(|point| self.makespan_s(&point))
    }

    /// The makespan of a point, seconds.
    pub fn makespan_s(&self, values: &[f64]) -> f64 {
        1e-3 * self.makespan.at(values)
    }
}

#[cfg(test)]
mod tests;
