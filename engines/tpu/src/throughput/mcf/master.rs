//! The linear program of column generation: for each group of sources, it chooses the fractions of the group's columns
//! (flows) so that the combined flow is as large as possible.

use super::network::Network;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::error::Error;
use lightbay_highs::instance::Instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Column, Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{BasisStatus, Status};

/// A fractional flow of one group: its load on every class.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Group of sources of the flow.
    pub group: u32,
    /// The round whose lengths gave the paths of the flow.
    pub round: u32,
    /// Load of the flow on each class.
    pub loads: Vec<f64>,
    /// Fraction of the flow in the last solution.
    pub weight: f64,
    /// Number of consecutive solutions that did not use the flow.
    pub(super) idle: u32,
}

impl Piece {
    /// Creates a column, which no solution has used yet.
    pub(super) fn new(group: usize, round: u32, loads: &[f64]) -> Self {
        Self { group: group as u32, round, loads: loads.to_vec(), weight: 0.0, idle: 0 }
    }
}

/// Prices of the program after a run.
#[derive(Clone, Debug)]
pub struct Prices {
    /// Price of each class, not negative; the sum of prices times capacities is 1.
    pub classes: Vec<f64>,
    /// For each group, a limit: a new column can improve the flow only if its cost at these prices is below this limit.
    pub groups: Vec<f64>,
}

/// The linear program in the solver. Rows: one for each class (loads at most capacity times `t`), one for each group
/// (fractions sum to 1). Column 0 is `t`, in units of `unit`.
pub struct Master {
    instance: Instance,
    pieces: Vec<Piece>,
    classes: usize,
    /// Scale of the loads, chosen from the first columns so that the entries of the program are near 1.
    unit: f64,
}

/// Reason that solving the program failed.
#[derive(Debug)]
pub enum Trouble {
    /// The run was stopped, or a checkpoint failed.
    Run(MethodError),
    /// The solver failed.
    Solver(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Solver(error.to_string())
    }
}

impl Master {
    /// Creates the program without columns. `unit` is about the load of the most loaded class per unit of capacity.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn new(network: &Network, unit: f64) -> Result<Self, Trouble> {
        let mut model = Model::new("concurrent flow");
        // Minimises the relative load `t` of the most loaded class; the flow is its reciprocal.
        let t = model.column("t", 0.0, f64::INFINITY, 1.0);
        for class in 0..network.class_count() {
            model.at_most(format!("class{class}"), 0.0, [(t, -network.capacity())]);
        }
        // Convexity: the fractions of the columns of a group sum to one flow.
        for group in 0..network.groups() {
            model.equal(format!("group{group}"), 1.0, []);
        }
        let mut instance = Instance::new(&model)?;
        // Primal simplex (strategy 4): new columns keep the basis primal feasible.
        let options = Options::new()
            .set("output_flag", false)
            .set("solver", "simplex")
            .set("presolve", "off")
            .set("simplex_strategy", 4);
        instance.apply(&options)?;
        Ok(Self { instance, pieces: Vec::new(), classes: network.class_count(), unit })
    }

    /// Adds columns, each given by its group of sources and its loads.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn add(&mut self, round: u32, columns: &[(usize, &[f64])]) -> Result<(), Trouble> {
        let mut added = Vec::with_capacity(columns.len());
        for (group, loads) in columns {
            // Loads in units near 1.
            let entry = |(class, load): (usize, &f64)| (Row(class as u32), load / self.unit);
            let mut entries: Vec<(Row, f64)> =
                loads.iter().enumerate().filter(|(_, load)| **load != 0.0).map(entry).collect();
            entries.push((Row((self.classes + group) as u32), 1.0));
            added.push((0.0, entries));
            self.pieces.push(Piece::new(*group, round, loads));
        }
        self.instance.add_columns("flow", 0.0, f64::INFINITY, &added)?;
        Ok(())
    }

    /// Solves the program from the last basis and returns the prices.
    ///
    /// # Errors
    /// A stop, or a failure of the solver.
    pub fn solve<W: Watch>(&mut self, watch: &mut W) -> Result<Prices, Trouble> {
        let mut listener = RunListener::new(watch);
        let solution = self.instance.run(&mut listener)?;
        listener.finish().map_err(Trouble::Run)?;
        let Some(values) = solution.values.filter(|_| solution.status == Status::Optimal) else {
            return Err(Trouble::Solver(format!("the flow program ended with status {:?}", solution.status)));
        };
        // Values below 0 come from the tolerance of the solver.
        for (piece, value) in self.pieces.iter_mut().zip(&values[1..]) {
            piece.weight = value.max(0.0);
        }
        if let Some(basis) = &solution.basis {
            for (piece, status) in self.pieces.iter_mut().zip(&basis.columns[1..]) {
                // A basic column counts as used even at value 0.
                piece.idle = if *status == BasisStatus::Basic { 0 } else { piece.idle + 1 };
            }
        }
        // Duals of rows `load <= capacity t` are not positive; as prices they are the lengths of the next sweep.
        let classes = solution.row_duals[..self.classes].iter().map(|dual| (-dual).max(0.0)).collect();
        let groups = solution.row_duals[self.classes..].iter().map(|dual| dual * self.unit).collect();
        Ok(Prices { classes, groups })
    }

    /// Drops the columns that more than `patience` consecutive solutions did not use, if there are at least 64 such
    /// columns.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn prune(&mut self, patience: u32) -> Result<(), Trouble> {
        let idle: Vec<Column> = (0..self.pieces.len())
            .filter(|at| self.pieces[*at].idle > patience)
            .map(|at| Column(at as u32 + 1))
            .collect();
        // Deleting columns costs a refactorisation, so several dozen are deleted at once.
        if idle.len() < 64 {
            return Ok(());
        }
        self.instance.delete_columns(&idle)?;
        self.pieces.retain(|piece| piece.idle <= patience);
        Ok(())
    }

    /// Returns the columns with their fractions.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}
