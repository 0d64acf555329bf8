//! Expert loads: the tokens that a router sent to each expert, as training and serving frameworks record them.
//!
//! Supported forms: long tables (`layer,expert,topk_count`), dense tables (a row for each layer or iteration, a column
//! for each expert), weights of EPLB, recorders of SGLang and vLLM, JSON lines with a matrix of ranks and experts,
//! lines of Megatron with `num_global_tokens_per_expert`, and Megatron's files by rank, each with the counts of the
//! experts of this rank (`tpe`). All forms become the same record: counts by iteration, layer, rank and expert.

mod grids;
mod json;
mod long;
mod table;

#[cfg(test)]
mod tests;

pub use long::is_long_header;

use crate::gz::{self, Limits};
use crate::imported::Imported;
use grids::{LoadGrid, assemble};
use lightbay_core::problem::{Problem, Problems};
use long::SparseLoads;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::BufRead;

/// Maximum size of a file, bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Maximum number of counts of a file.
const MOST_COUNTS: usize = 1 << 24;
/// Maximum number of tokens of one count; whole numbers up to this value are exact in an `f64`.
const MOST_TOKENS: f64 = 1e12;

/// Meaning of the rows of a dense table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadAxis {
    /// Each row is a layer; the table has one iteration.
    Layers,
    /// Each row is an iteration; the table has one layer.
    Iterations,
}

/// Choices that are not in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Meaning of the rows of a dense table; must be `None` if the file states the meaning.
    pub axis: Option<LoadAxis>,
    /// Number of layers per iteration, for a log whose lines do not name their layers: consecutive lines belong to
    /// consecutive layers, and after the last layer the next iteration begins.
    pub layers: Option<u32>,
}

/// Counts by iteration, layer, rank and expert.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpertLoads {
    /// Numbers of the iterations (or steps), ascending.
    pub iterations: Vec<u64>,
    /// Numbers of the layers, ascending.
    pub layers: Vec<u32>,
    /// Number of ranks from which tokens come; `None` if the counts are sums over the ranks.
    pub ranks: Option<u32>,
    /// Number of experts of a layer.
    pub experts: u32,
    /// Number of tokens by iteration, layer, rank and expert; experts vary fastest, then ranks, layers and iterations.
    pub counts: Vec<f64>,
}

impl ExpertLoads {
    /// Returns the counts of all experts for one iteration, one layer and one rank. `iteration` and `layer` are
    /// positions in the lists of the record; `rank` is 0 if the ranks are unknown. Empty for positions outside of the
    /// record.
    pub fn row(&self, iteration: usize, layer: usize, rank: usize) -> &[f64] {
        let (ranks, experts) = (self.ranks.unwrap_or(1) as usize, self.experts as usize);
        if layer >= self.layers.len() || rank >= ranks {
            return &[];
        }
        let start = ((iteration * self.layers.len() + layer) * ranks + rank) * experts;
        self.counts.get(start..start + experts).unwrap_or_default()
    }

    /// Returns the counts of all experts for one iteration and one layer, given by their positions in the lists of the
    /// record, summed over the ranks.
    pub fn of_layer(&self, iteration: usize, layer: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.experts as usize];
        for rank in 0..self.ranks.unwrap_or(1) as usize {
            for (sum, count) in sums.iter_mut().zip(self.row(iteration, layer, rank)) {
                *sum += count;
            }
        }
        sums
    }

    /// Combines files that each count only the experts that one rank holds. `files` is in the order of the ranks.
    fn of_expert_groups(files: &[Self], model_experts: Option<u32>) -> Result<Self, Problem> {
        let Some(first) = files.first() else {
            return Err(Problem::new("", "no files", "pass one file for each rank"));
        };
        for (rank, file) in files.iter().enumerate() {
            if (&file.iterations, &file.layers) != (&first.iterations, &first.layers) {
                let message = "has other iterations or layers than the file of rank 0";
                return Err(Problem::new(
                    format!("file of rank {rank}"),
                    message,
                    "use files of one run and one stage",
                ));
            }
        }
        let experts = files.iter().map(|file| file.experts).sum();
        if let Some(all) = model_experts.filter(|all| *all != experts) {
            let message = format!("the files count {experts} experts, but the model has {all}");
            return Err(Problem::new("", message, "pass the files of all ranks of one expert group"));
        }
        let mut counts = Vec::new();
        for iteration in 0..first.iterations.len() {
            for layer in 0..first.layers.len() {
                for file in files {
                    counts.extend_from_slice(file.row(iteration, layer, 0));
                }
            }
        }
        Ok(Self { ranks: None, experts, counts, ..first.clone() })
    }

    /// Combines files that each count the tokens from one rank. `files` is in the order of the ranks.
    ///
    /// # Errors
    /// No files, a file that already contains the counts of several ranks, and files of different iterations, layers or
    /// experts.
    pub fn of_ranks(files: &[Self]) -> Result<Self, Problem> {
        let Some(first) = files.first() else {
            return Err(Problem::new("", "no files", "pass one file for each rank"));
        };
        for (rank, file) in files.iter().enumerate() {
            let place = format!("file of rank {rank}");
            if file.ranks.is_some() {
                return Err(Problem::new(place, "has the counts of several ranks", "give it alone"));
            }
            let shape = (&file.iterations, &file.layers, file.experts);
            if shape != (&first.iterations, &first.layers, first.experts) {
                let message = format!(
                    "has {} iterations, {} layers and {} experts, which differ from the file of rank 0",
                    file.iterations.len(),
                    file.layers.len(),
                    file.experts
                );
                return Err(Problem::new(place, message, "use files of one run"));
            }
        }
        let mut counts = Vec::with_capacity(first.counts.len() * files.len());
        for iteration in 0..first.iterations.len() {
            for layer in 0..first.layers.len() {
                for file in files {
                    counts.extend_from_slice(file.row(iteration, layer, 0));
                }
            }
        }
        Ok(Self { ranks: Some(files.len() as u32), counts, ..first.clone() })
    }
}

/// A file that has been read, but is not yet combined with other files. Experts that the file omits are not yet filled
/// in.
#[derive(Clone, Debug)]
pub struct LoadFile {
    content: LoadContent,
    used: UsedOptions,
    /// `Some` if the file counts only the experts that one rank holds; contains the remarks on omitted parts of the
    /// file.
    own_experts: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
enum LoadContent {
    Dense(Vec<LoadGrid>),
    Sparse(SparseLoads),
}

impl LoadFile {
    fn dense(grids: Vec<LoadGrid>, used: UsedOptions) -> Self {
        Self { content: LoadContent::Dense(grids), used, own_experts: None }
    }

    fn sparse(found: SparseLoads) -> Self {
        Self { content: LoadContent::Sparse(found), used: UsedOptions::default(), own_experts: None }
    }

    fn of_own_experts(grids: Vec<LoadGrid>, notes: Vec<String>) -> Self {
        let used = UsedOptions::default();
        Self { content: LoadContent::Dense(grids), used, own_experts: Some(notes) }
    }

    /// Returns the counts, if the file is a long table, which may omit experts without tokens (sparse loads).
    const fn as_sparse(&self) -> Option<&SparseLoads> {
        match &self.content {
            LoadContent::Sparse(found) => Some(found),
            LoadContent::Dense(_) => None,
        }
    }

    /// Returns `true` if experts without tokens may be missing.
    pub const fn is_sparse(&self) -> bool {
        self.as_sparse().is_some()
    }
}

/// Combines files: a single file stays as it is; several files must be one for each rank. If a model is named, files
/// that omit experts without tokens get zeros for all omitted experts of the model. `names` are the names of the files.
///
/// # Errors
/// Files that do not fit together, and experts that are neither in the files nor in the model.
pub fn together(
    files: &[LoadFile],
    names: &[&str],
    model_experts: Option<u32>,
) -> Result<Imported<ExpertLoads>, Problems> {
    let sparse: Vec<&SparseLoads> = files.iter().filter_map(LoadFile::as_sparse).collect();
    let experts = long::experts(&sparse, model_experts)?;
    let layers: BTreeSet<(u64, u32)> = sparse.iter().flat_map(|file| file.layers()).collect();
    let mut found = Vec::with_capacity(files.len());
    let mut notes = Vec::new();
    let mut problems = Problems::new();
    for (file, name) in files.iter().zip(names) {
        let is_single = files.len() == 1;
        let assembled = match &file.content {
            LoadContent::Dense(grids) => assemble(grids.clone()).map(|made| (made, None)),
            LoadContent::Sparse(file) => file
                .grids(experts, &layers)
                .map_err(Problems::from)
                .and_then(|(grids, filled)| Ok((assemble(grids)?, long::filled_note(filled)))),
        };
        match assembled {
            Ok((made, filled)) => {
                notes.extend(filled.map(|note| if is_single { note } else { format!("{name}: {note}") }));
                found.push(made);
            }
            // If there is a single file, the caller adds its name.
            Err(wrong) => {
                for problem in wrong.list().iter().cloned() {
                    problems.push(if is_single { problem } else { problem.under(name) });
                }
            }
        }
    }
    problems.into_result(())?;
    let noted = |loads: ExpertLoads, notes: Vec<String>| {
        let notes = grids::remarks(&loads).into_iter().chain(notes).collect();
        Imported { notes, ..Imported::new(loads) }
    };
    let own = files.iter().filter(|file| file.own_experts.is_some()).count();
    if own > 0 {
        if own < files.len() {
            let remedy = "do not mix the two types of files";
            return Err(Problem::new(
                "",
                "some files count the experts of one rank, other files count the experts of all ranks",
                remedy,
            )
            .into());
        }
        for (file, name) in files.iter().zip(names) {
            notes.extend(file.own_experts.iter().flatten().map(|note| format!("{name}: {note}")));
        }
        let loads = ExpertLoads::of_expert_groups(&found, model_experts)?;
        return Ok(noted(loads, notes));
    }
    let loads = match <[ExpertLoads; 1]>::try_from(found) {
        Ok([loads]) => loads,
        Err(found) => ExpertLoads::of_ranks(&found)?,
    };
    Ok(noted(loads, notes))
}

/// Reads expert loads of any of the forms, compressed or not, exactly as the file states them.
///
/// # Errors
/// Every problem of the file: counts that are negative or no numbers, rows of different lengths, missing or double
/// entries, and the actual format of a file of another kind.
pub fn read(
    reader: impl BufRead,
    limits: &Limits,
    options: &LoadOptions,
) -> Result<Imported<ExpertLoads>, Problems> {
    together(&[open(reader, limits, options)?], &[""], None)
}

/// Reads a file, to be combined by [`together`].
///
/// # Errors
/// Every problem of the file by itself.
pub fn open(reader: impl BufRead, limits: &Limits, options: &LoadOptions) -> Result<LoadFile, Problems> {
    let limits = &Limits { content_bytes: limits.content_bytes.min(MOST_BYTES), ..*limits };
    let mut content = gz::unpack(reader, limits)?;
    let head = content.reader.fill_buf().map_err(|error| gz::io_problem("", &error))?;
    if head.starts_with(b"PK") {
        let remedy = "convert it: python -c \"import json, sys, torch; \
                      json.dump({k: v.tolist() for k, v in torch.load(sys.argv[1]).items() if hasattr(v, 'tolist')}, \
                      sys.stdout)\" FILE.pt > FILE.json";
        return Err(Problem::new("", "this is a file of PyTorch tensors (.pt)", remedy).into());
    }
    let text = content.into_text()?;
    let found = text.text.trim_start();
    let file = if found.contains("num_global_tokens_per_expert") {
        json::megatron(&text, options)?
    } else if found.starts_with('{') || found.starts_with('[') {
        json::read(&text, options)?
    } else if found.is_empty() {
        return Err(Problem::new("", "this is an empty file", "give a file with content").into());
    } else {
        table::read(found, limits, options)?
    };
    unused(options, file.used)?;
    Ok(file)
}

/// Options that the form of a file uses.
#[derive(Clone, Copy, Debug, Default)]
struct UsedOptions {
    axis: bool,
    layers: bool,
}

/// Refuses options that have no effect on this file.
fn unused(options: &LoadOptions, used: UsedOptions) -> Result<(), Problems> {
    let mut problems = Problems::new();
    if options.axis.is_some() && !used.axis {
        problems.add("axis", "is set, but the file states the meaning of its rows", "leave it out");
    }
    if options.layers.is_some() && !used.layers {
        problems.add("layers", "is set, but the file states its layers", "leave it out");
    }
    problems.into_result(())
}

/// Writes a long table: `iteration,layer,rank,expert,count`, without `rank` if ranks are not known.
pub fn write(loads: &ExpertLoads) -> String {
    let mut text = String::from("iteration,layer,");
    text.push_str(if loads.ranks.is_some() { "rank,expert,count\n" } else { "expert,count\n" });
    for (i, iteration) in loads.iterations.iter().enumerate() {
        for (l, layer) in loads.layers.iter().enumerate() {
            for rank in 0..loads.ranks.unwrap_or(1) {
                for (expert, count) in loads.row(i, l, rank as usize).iter().enumerate() {
                    let _ = match loads.ranks {
                        Some(_) => writeln!(text, "{iteration},{layer},{rank},{expert},{count}"),
                        None => writeln!(text, "{iteration},{layer},{expert},{count}"),
                    };
                }
            }
        }
    }
    text
}
