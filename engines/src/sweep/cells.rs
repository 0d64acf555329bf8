//! Cells of a sweep, their order, and the reuse of their plans.

use super::{Axis, Sweep};
use std::collections::{BTreeMap, BTreeSet};

/// A cell: one scenario with one value of every axis, for one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Position in the sweep, from 1.
    pub number: usize,
    /// Index of the scenario.
    pub scenario: usize,
    /// Index of the value on each axis.
    pub at: Vec<usize>,
    /// Index of the method.
    pub method: usize,
}

/// One of several parts of a sweep, so that several machines can solve the sweep together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub part: usize,
    /// Number of parts.
    pub of: usize,
}

impl Shard {
    /// The whole sweep as a single part.
    pub const WHOLE: Self = Self { part: 1, of: 1 };
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("'{text}' is not a part; write 1/4 for the first of four");
        let (part, of) = text.split_once('/').ok_or_else(refuse)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| refuse());
        let shard = Self { part: number(part)?, of: number(of)? };
        if (1..=shard.of).contains(&shard.part) { Ok(shard) } else { Err(refuse()) }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl Sweep {
    /// Returns the number of cells; 0 as long as the sweep has no methods.
    pub fn len(&self) -> usize {
        self.values() * self.scenarios.len() * self.requests.len()
    }

    /// Returns `true` if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of combinations of values.
    fn values(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// Returns a cell by its number: the scenario changes least often, then the axes in their order, and the method
    /// changes with every cell.
    pub fn cell(&self, number: usize) -> Cell {
        let mut left = number.saturating_sub(1);
        let mut take = |size: usize| {
            let digit = left % size.max(1);
            left /= size.max(1);
            digit
        };
        let method = take(self.requests.len());
        let mut at: Vec<usize> = self.axes.iter().rev().map(|axis| take(axis.values.len())).collect();
        at.reverse();
        Cell { number, scenario: take(self.scenarios.len()), at, method }
    }

    /// Returns the index of the axis along which plans are reused: the last axis whose knob permits reuse.
    fn handing_axis(&self) -> Option<usize> {
        if self.cold { None } else { self.axes.iter().rposition(Axis::hands_on) }
    }

    /// Returns the distance in cells between neighbours on the axis along which plans are reused.
    fn stride(&self, axis: usize) -> usize {
        self.axes.iter().skip(axis + 1).map(|axis| axis.values.len()).product::<usize>() * self.requests.len()
    }

    /// Returns the line to which a cell belongs, identified by the number of its first cell: each further cell of a
    /// line starts from the plan of the cell before it. A cell whose method accepts no plan forms a line by itself.
    pub fn line(&self, cell: &Cell) -> usize {
        match self.handing_axis() {
            Some(axis) if self.takes_plans(cell.method) => {
                cell.number - cell.at.get(axis).copied().unwrap_or(0) * self.stride(axis)
            }
            _ => cell.number,
        }
    }

    /// Returns `true` if this is the last cell of its line.
    pub fn ends_line(&self, cell: &Cell) -> bool {
        match self.handing_axis() {
            Some(axis) if self.takes_plans(cell.method) => {
                let last = self.axes.get(axis).map_or(0, |axis| axis.values.len().saturating_sub(1));
                cell.at.get(axis).is_none_or(|at| *at == last)
            }
            _ => true,
        }
    }

    /// Returns the number of lines, which is the largest number of parts that all have a cell.
    pub fn lines(&self) -> usize {
        (1..=self.len()).map(|number| self.line(&self.cell(number))).collect::<BTreeSet<_>>().len()
    }

    /// Returns the numbers of the cells of a part, in order. The parts share the lines evenly and have no cell in
    /// common.
    pub fn shard(&self, shard: Shard) -> Vec<usize> {
        let mut ranks: BTreeMap<usize, usize> = BTreeMap::new();
        let mut numbers = Vec::new();
        for number in 1..=self.len() {
            let next = ranks.len();
            let rank = *ranks.entry(self.line(&self.cell(number))).or_insert(next);
            if rank % shard.of.max(1) + 1 == shard.part {
                numbers.push(number);
            }
        }
        numbers
    }
}
