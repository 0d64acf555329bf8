//! Parts of chunks without copies: a linear program on amounts (TE-CCL, section 4.1; docs/methods/collective.md,
//! section 8).
//!
//! f\[s, e, k\] chunks of source s start on link e in epoch k, b\[s, n, k\] of them wait at GPU n from epoch k to the
//! next. Data of one source is told apart only by where it is in the end, so there are as many commodities as
//! sources. The average of a solution over a group of symmetries is a solution, so the folded program answers for the
//! whole one in both directions.
//!
//! | module | what |
//! |---|---|
//! | [`columns`] | amounts that can be in time, and what they obey |
//! | [`pieces`] | from amounts to parts of chunks with a path each |
//! | [`questions`] | the fewest epochs |

mod columns;
mod pieces;
mod questions;

#[cfg(test)]
mod tests;

pub use pieces::{FluidPiece, FluidSchedule};
pub use questions::{FewestFluidEpochs, ask_fluid, fewest_fluid_epochs};

use super::solver::{BuiltProgram, ProgramExtent};
use super::spans::ColumnSpan;
use crate::model::fluid::FluidLinks;
use crate::model::group::Folding;
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::model::Model;
use std::collections::BTreeMap;

/// A source with the data that all destinations need from it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FluidSource {
    node: u32,
    /// Chunks by destination, ascending.
    wanted: BTreeMap<u32, Vec<u32>>,
}

/// The model of schedules of parts of chunks that end within a given number of epochs.
#[derive(Debug)]
pub struct FluidProgram<'t> {
    task: &'t CollectiveTask,
    links: &'t FluidLinks,
    folding: &'t Folding,
    epochs: u32,
    /// The model, without an objective.
    pub model: Model,
    /// Columns and rows with all epochs and sources.
    pub whole: ProgramExtent,
    /// Columns and rows for all sources, with only the amounts that can arrive in time.
    pub pruned: ProgramExtent,
    sources: Vec<FluidSource>,
    /// Amounts on every link, by source.
    flows: Vec<Vec<ColumnSpan>>,
    /// Amounts that wait at every GPU, by source.
    waiting: Vec<Vec<ColumnSpan>>,
}

impl<'t> FluidProgram<'t> {
    /// The model of a task.
    ///
    /// # Errors
    /// If the run must stop.
    pub fn new<W: Watch>(
        task: &'t CollectiveTask,
        links: &'t FluidLinks,
        folding: &'t Folding,
        epochs: u32,
        watch: &mut W,
    ) -> Result<Self, MethodError> {
        let mut program = Self {
            task,
            links,
            folding,
            epochs,
            model: Model::new(format!("schedules of {epochs} epochs")),
            whole: ProgramExtent::default(),
            pruned: ProgramExtent::default(),
            sources: sources(task, folding),
            flows: Vec::new(),
            waiting: Vec::new(),
        };
        program.add_columns(watch)?;
        program.add_rows(watch)?;
        let size = program.model.size();
        let order = folding.order() as u64;
        // Size without symmetries and without pruning, for comparison.
        let (count, steps) = (order * program.sources.len() as u64, u64::from(epochs) + 1);
        let (edges, gpus) = (task.network.links().len() as u64, task.network.gpus().len() as u64);
        program.whole = ProgramExtent {
            columns: count * (edges + gpus) * steps,
            rows: (count * task.network.node_count() as u64 + edges) * steps,
        };
        program.pruned =
            ProgramExtent { columns: order * u64::from(size.columns), rows: order * u64::from(size.rows) };
        Ok(program)
    }

    /// Size of the model, reported before it is solved.
    pub fn built(&self) -> BuiltProgram {
        BuiltProgram {
            epochs: self.epochs,
            folded_by: self.folding.order(),
            whole: self.whole,
            pruned: self.pruned,
            size: self.model.size(),
        }
    }
}

/// One source of every orbit, ascending, with its chunks.
fn sources(task: &CollectiveTask, folding: &Folding) -> Vec<FluidSource> {
    let mut wanted: BTreeMap<u32, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    for chunk in 0..task.chunks.len() {
        let source = task.chunks.source(chunk);
        // One source of each orbit has columns.
        if folding.nodes[source as usize].0 != source {
            continue;
        }
        for dest in task.chunks.dests(chunk) {
            wanted.entry(source).or_default().entry(dest).or_default().push(chunk as u32);
        }
    }
    wanted.into_iter().map(|(node, wanted)| FluidSource { node, wanted }).collect()
}
