//! Whole chunks that GPUs keep and copy: an integer program on starts of chunks on links in epochs (TE-CCL, section 3.1
//! and appendices A, B and F; docs/methods/collective-search.md, section 7).
//!
//! Variable F\[c, e, k\] is the number of times that chunk c starts on link e in epoch k, and B\[c, n, k\] is 1 if
//! chunk c is at GPU n at the beginning of epoch k. The model has columns only for starts that can be in time: no chunk
//! is at a node earlier than its shortest path allows, and no chunk starts so late that it cannot arrive before the
//! end. If symmetries map chunks to each other, one of these chunks represents all of them; see [`Folding`].
//!
//! | module | content |
//! |---|---|
//! | [`columns`] | columns for starts that can arrive in time, and for the possible places of chunks |
//! | [`order`] | rows for links without latency between switches |
//! | [`rows`] | rows for presence, forwarding, switches, windows of links, and buffers |

mod columns;
mod order;
mod rows;

pub use columns::{CopyBeginning, CopyEnd};

use crate::model::group::Folding;
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTask;
use crate::programs::solver::{BuiltProgram, ProgramExtent};
use crate::programs::spans::ColumnSpan;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::model::{Column, Model};

/// A model of the schedules within a given number of epochs.
#[derive(Debug)]
pub struct CopyProgram<'t> {
    task: &'t CollectiveTask,
    folding: &'t Folding,
    epochs: u32,
    /// The program.
    pub model: Model,
    /// Number of columns and rows of the model before pruning and symmetry reduction: all chunks in all epochs.
    pub whole: ProgramExtent,
    /// Number of columns and rows of the model before symmetry reduction: all chunks, but only the starts that can
    /// arrive in time.
    pub pruned: ProgramExtent,
    /// Columns of the starts on every link, by position of the chunk among the representatives.
    starts: Vec<Vec<ColumnSpan>>,
    /// Columns of the presence at every node, by position of the chunk among the representatives.
    presence: Vec<Vec<ColumnSpan>>,
}

/// A feasibility problem on the schedules of a task.
#[derive(Clone, Copy, Debug)]
pub struct CopyQuestion<'t> {
    /// The task.
    pub task: &'t CollectiveTask,
    /// Symmetries that the schedules must have.
    pub folding: &'t Folding,
    /// Epochs of the schedules.
    pub epochs: u32,
    /// Maximum number of chunks that a GPU may hold for other GPUs at a time.
    pub buffer_limit: Option<u32>,
}

impl<'t> CopyProgram<'t> {
    /// Builds the model of the schedules that end within the given epochs; it has no objective.
    ///
    /// # Errors
    /// If the run must stop.
    pub fn new<W: Watch>(question: CopyQuestion<'t>, watch: &mut W) -> Result<Self, MethodError> {
        // Starts at the sources and ends with all deliveries made.
        let beginning = CopyBeginning::sources(question.task, question.folding);
        Self::from(question, &beginning, CopyEnd::Delivered, watch)
    }

    /// Builds the model of the epochs after a given initial state.
    ///
    /// # Errors
    /// If the run must stop.
    pub fn from<W: Watch>(
        question: CopyQuestion<'t>,
        beginning: &CopyBeginning,
        end: CopyEnd,
        watch: &mut W,
    ) -> Result<Self, MethodError> {
        let CopyQuestion { task, folding, epochs, .. } = question;
        let mut program = Self {
            task,
            folding,
            epochs,
            model: Model::new(format!("schedules of {epochs} epochs")),
            whole: ProgramExtent::default(),
            pruned: ProgramExtent::default(),
            starts: Vec::with_capacity(folding.chunks.len()),
            presence: Vec::with_capacity(folding.chunks.len()),
        };
        program.add_columns(beginning, end, watch)?;
        program.add_rows(beginning, end, question.buffer_limit, watch)?;
        program.measure();
        Ok(program)
    }

    /// Makes early deliveries the objective, weighted by the priority of their chunks: the sum of B\[c, d, k\] / k,
    /// which is the paper's objective (TE-CCL, section 3.1). This objective does not necessarily make the finish early.
    pub fn reward_early(&mut self) {
        self.model.maximise = true;
        for (at, &chunk) in self.folding.chunks.iter().enumerate() {
            let priority = self.task.chunks.priority(chunk as usize);
            for dest in self.task.chunks.dests(chunk as usize) {
                let span = self.presence[at][dest as usize];
                for epoch in 1..=self.epochs {
                    if let Some(column) = span.at(epoch) {
                        // Presence lasts to the end, so a chunk that arrives one epoch earlier, in epoch k, adds 1/k to
                        // the objective.
                        self.model.costs[column.index()] = priority / f64::from(epoch);
                    }
                }
            }
        }
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

    /// Returns the column for the presence of a chunk, given by its position among the representatives, at a node;
    /// `None` if the chunk cannot be at this node in that epoch.
    pub(crate) fn present(&self, at: usize, node: u32, epoch: u32) -> Option<Column> {
        self.presence[at][node as usize].at(epoch)
    }

    /// Returns the columns of the starts of a chunk on a link, with their epochs.
    pub(crate) fn starts_on(&self, at: usize, link: u32) -> impl Iterator<Item = (u32, Column)> + '_ {
        self.starts[at][link as usize].iter()
    }

    /// Returns the starts of all chunks in a solution of the model.
    pub fn starts(&self, point: &[f64]) -> Vec<ChunkStart> {
        let mut starts = Vec::new();
        for (at, &chunk) in self.folding.chunks.iter().enumerate() {
            for (link, span) in (0u32..).zip(&self.starts[at]) {
                let counted = span.iter().flat_map(|(epoch, column)| {
                    // Binaries are integers up to the tolerance of the solver.
                    let count = point[column.index()].round().max(0.0) as usize;
                    std::iter::repeat_n(epoch, count)
                });
                for epoch in counted {
                    // A start of a representative also represents its images.
                    let elements = self.folding.elements.iter().enumerate();
                    starts.extend(elements.map(|(place, element)| ChunkStart {
                        epoch,
                        link: element.links[link as usize],
                        chunk: self.folding.image(place, chunk),
                    }));
                }
            }
        }
        starts
    }

    /// Returns the schedule of a solution of the model, without starts that no delivery needs.
    pub fn schedule(&self, point: &[f64]) -> EpochSchedule {
        EpochSchedule::pruned(self.task, self.starts(point))
    }

    /// Converts a schedule to a start point of the solver; `None` if a start has no column, the schedule is not
    /// symmetric, or the point breaks a row.
    pub fn point(&self, schedule: &EpochSchedule) -> Option<Vec<f64>> {
        let mut point = vec![0.0; self.model.columns()];
        // Only representatives have columns.
        let mut places = vec![None; self.task.chunks.len()];
        for (at, &chunk) in self.folding.chunks.iter().enumerate() {
            places[chunk as usize] = Some(at);
        }
        let mut kept = 0;
        for start in &schedule.starts {
            let Some(at) = places[start.chunk as usize] else { continue };
            let column = self.starts[at][start.link as usize].at(start.epoch)?;
            point[column.index()] += 1.0;
            kept += 1;
            // The chunk is present at the far end from its arrival on.
            let head = self.task.network.links()[start.link as usize].to;
            for (_, column) in self.presence[at][head as usize]
                .iter()
                .filter(|(epoch, _)| *epoch >= start.epoch + self.task.epochs.latency(start.link))
            {
                point[column.index()] = 1.0;
            }
        }
        // Counts every orbit of starts once if the schedule has the symmetry.
        let symmetric = kept * self.folding.order() == schedule.starts.len();
        // The columns of drops and of ranks are 0 here, so the point is tested against all rows.
        (symmetric && self.model.first_broken(&point, 1e-6).is_none()).then_some(point)
    }

    fn measure(&mut self) {
        let task = self.task;
        let (chunks, links) = (task.chunks.len() as u64, task.network.links().len() as u64);
        let (gpus, steps) = (task.network.gpus().len() as u64, u64::from(self.epochs) + 1);
        // Upper limit: a start on every link and presence at every GPU, for every chunk in every epoch; a row for each
        // of these columns, and for every link in every epoch.
        let columns = chunks * (links + gpus) * steps;
        self.whole = ProgramExtent { columns, rows: columns + links * steps };
        let (order, size) = (self.folding.order() as u64, self.model.size());
        self.pruned =
            ProgramExtent { columns: order * u64::from(size.columns), rows: order * u64::from(size.rows) };
    }
}
