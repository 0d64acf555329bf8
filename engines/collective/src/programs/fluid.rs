//! Parts of chunks without copies: a linear program on amounts (TE-CCL, section 4.1; docs/methods/collective-search.md,
//! section 8).
//!
//! Variable f\[s, e, k\] is the number of chunks of source s that start on link e in epoch k, and b\[s, n, k\] the
//! number of chunks of source s that wait at GPU n from epoch k to epoch k + 1. Data of one source is distinguished
//! only by its final destination, so each source is one commodity. The average of a solution over a group of symmetries
//! is a solution too, so the symmetry-reduced model is feasible exactly if the full model is.
//!
//! | module | content |
//! |---|---|
//! | [`columns`] | columns for amounts that can arrive in time, and their constraints |
//! | [`pieces`] | conversion of amounts to parts of chunks, each with a path |
//! | [`questions`] | the minimum number of epochs |

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

/// A source, with the data that the destinations need from it.
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
    /// Number of columns and rows of the model before pruning and symmetry reduction: all sources in all epochs.
    pub whole: ProgramExtent,
    /// Number of columns and rows of the model before symmetry reduction: all sources, but only the amounts that can
    /// arrive in time.
    pub pruned: ProgramExtent,
    sources: Vec<FluidSource>,
    /// Columns of the amounts on every link, by source.
    flows: Vec<Vec<ColumnSpan>>,
    /// Columns of the amounts that wait at every GPU, by source.
    waiting: Vec<Vec<ColumnSpan>>,
}

impl<'t> FluidProgram<'t> {
    /// Builds the model of a task.
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

    /// Returns the size of the model, which is reported before the model is solved.
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

/// Returns one source of every orbit, ascending, with its chunks.
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
