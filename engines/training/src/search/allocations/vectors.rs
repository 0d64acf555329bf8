//! All feasible circuit allocations of the decided links, each with its lower bound.

use super::{Split, VectorTask};
use crate::search::circuits::Proposal;
use crate::simulate::evaluate::Scratch;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Counts through the feasible allocations in lexicographic order; every other link has one circuit.
#[derive(Clone, Debug)]
pub(crate) struct Odometer<'a> {
    split: &'a Split<'a>,
    /// The current allocation over all links.
    pub x: Vec<u32>,
    free: Vec<i64>,
}

impl<'a> Odometer<'a> {
    /// Starts at one circuit on every link; `None` if these circuits do not fit.
    pub fn new(split: &'a Split<'a>) -> Option<Self> {
        let x = vec![1; split.task.caps.len()];
        let free = split.task.evaluator.network.budget.free(&x);
        free.iter().all(|free| *free >= 0).then_some(Self { split, x, free })
    }

    /// Moves to the next allocation; returns `false` after the last.
    pub fn advance(&mut self) -> bool {
        let budget = &self.split.task.evaluator.network.budget;
        // Lexicographic successor: adds a circuit to the last link that can get one, and resets the links after it.
        for &link in self.split.decided.iter().rev() {
            let link = link as usize;
            if self.x[link] < self.split.task.caps[link] && budget.room(link, &self.free) >= 1 {
                self.x[link] += 1;
                budget.take(link, 1, &mut self.free);
                return true;
            }
            // Resets the link to one circuit, which frees the ports of its other circuits.
            budget.take(link, 1 - i64::from(self.x[link]), &mut self.free);
            self.x[link] = 1;
        }
        false
    }
}

/// All feasible allocations of the decided links, with their bounds.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    width: usize,
    circuits: Vec<u32>,
    by_bound: Vec<(f64, u32)>,
}

impl Vectors {
    /// Lists all allocations with their bounds, or `None` if there are more than the task allows.
    pub fn list<W: Watch<Proposal>>(
        split: &Split<'_>,
        task: VectorTask<'_>,
        watch: &mut W,
    ) -> Result<Option<Self>, MethodError> {
        let width = split.decided.len();
        let mut vectors = Self { width, circuits: Vec::new(), by_bound: Vec::new() };
        // Count first, so that listing is refused before memory is allocated.
        let Some(mut odometer) = Self::odometer(split, task.listed, watch)? else { return Ok(None) };
        let mut count = 0u32;
        loop {
            count += 1;
            vectors.circuits.extend(split.decided.iter().map(|&link| odometer.x[link as usize]));
            if !odometer.advance() {
                break;
            }
        }
        let mut scratch = Scratch::default();
        let mut free = Vec::new();
        let mut x = vec![1; task.caps.len()];
        // Bounds of all allocations; the list is sorted once.
        for index in 0..count {
            if index.is_multiple_of(8) {
                watch.checkpoint()?;
            }
            vectors.load(index, split, &mut x);
            vectors.by_bound.push((split.bound(&x, &mut free, &mut scratch), index));
        }
        // In ascending order of bounds: as soon as a bound reaches the best makespan, all later allocations are pruned
        // too.
        vectors.by_bound.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Ok(Some(vectors))
    }

    /// Returns an [`Odometer`], which lists all allocations, or `None` if there are more than `most` (or none that
    /// fits).
    pub fn odometer<'s, W: Watch<Proposal>>(
        split: &'s Split<'s>,
        most: u64,
        watch: &mut W,
    ) -> Result<Option<Odometer<'s>>, MethodError> {
        let Some(mut odometer) = Odometer::new(split) else { return Ok(None) };
        // Counts the allocations on a copy.
        let start = odometer.clone();
        let mut count = 1u64;
        while odometer.advance() {
            count += 1;
            if count > most {
                return Ok(None);
            }
            if count.is_multiple_of(4096) {
                watch.checkpoint()?;
            }
        }
        Ok(Some(start))
    }

    /// Number of allocations.
    pub fn len(&self) -> usize {
        self.by_bound.len()
    }

    /// Bounds in ascending order, each with the number of its allocation.
    pub fn by_bound(&self) -> &[(f64, u32)] {
        &self.by_bound
    }

    /// Writes an allocation over all links, with one circuit on links that are not decided.
    pub fn load(&self, index: u32, split: &Split<'_>, x: &mut [u32]) {
        x.fill(1);
        let from = index as usize * self.width;
        for (&link, &circuits) in split.decided.iter().zip(&self.circuits[from..from + self.width]) {
            x[link as usize] = circuits;
        }
    }
}
