//! Expert loads: the tokens that a router sent to each expert, as training and serving frameworks record them.
//!
//! Read are long tables (`layer,expert,topk_count`), dense ones (a row for each layer or iteration), weights of EPLB,
//! recorders of SGLang and vLLM, JSON lines with a matrix of ranks and experts, and lines of Megatron with
//! `num_global_tokens_per_expert`. All become one record: counts by iteration, layer, rank and expert.

mod grids;
mod json;
mod table;

#[cfg(test)]
mod tests;

pub use table::{JointCounts, read_joint};

use crate::gz::{self, Limits};
use crate::imported::Imported;
use grids::{Grid, assemble};
use lightbay_core::problem::{Problem, Problems};
use std::fmt::Write as _;
use std::io::BufRead;

/// Largest file, bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Most counts of a file.
const MOST_COUNTS: usize = 1 << 24;
/// Largest count. Sums of all counts of a file stay exact.
const MOST_TOKENS: f64 = 1e12;

/// Meaning of the rows of a dense table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadAxis {
    /// A row for each layer, of one iteration.
    Layers,
    /// A row for each iteration, of one layer.
    Iterations,
}

/// Choices beside the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Meaning of the rows of a dense table; a file that says it must not be given any.
    pub axis: Option<LoadAxis>,
    /// Layers that follow each other in lines that do not name theirs.
    pub layers: Option<u32>,
}

/// Counts by iteration, layer, rank and expert.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpertLoads {
    /// Numbers of the iterations (or steps), ascending.
    pub iterations: Vec<u64>,
    /// Numbers of the layers, ascending.
    pub layers: Vec<u32>,
    /// Ranks that tokens come from; missing if the file gives their sum only.
    pub ranks: Option<u32>,
    /// Experts of a layer.
    pub experts: u32,
    /// Counts, experts fastest, then ranks, layers and iterations.
    pub counts: Vec<f64>,
}

impl ExpertLoads {
    /// Returns the counts of all experts by place of iteration and layer and by rank (0 if ranks are not known); empty
    /// outside of the record.
    pub fn row(&self, iteration: usize, layer: usize, rank: usize) -> &[f64] {
        let (ranks, experts) = (self.ranks.unwrap_or(1) as usize, self.experts as usize);
        if layer >= self.layers.len() || rank >= ranks {
            return &[];
        }
        let start = ((iteration * self.layers.len() + layer) * ranks + rank) * experts;
        self.counts.get(start..start + experts).unwrap_or_default()
    }

    /// Returns the counts of all experts by place of iteration and layer, added over the ranks.
    pub fn of_layer(&self, iteration: usize, layer: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.experts as usize];
        for rank in 0..self.ranks.unwrap_or(1) as usize {
            for (sum, count) in sums.iter_mut().zip(self.row(iteration, layer, rank)) {
                *sum += count;
            }
        }
        sums
    }

    /// Puts files of single ranks together, in the order of the ranks.
    ///
    /// # Errors
    /// No files, files that have ranks already, and files of different iterations, layers or experts.
    pub fn of_ranks(files: &[Self]) -> Result<Self, Problem> {
        let Some(first) = files.first() else {
            return Err(Problem::new("", "no files", "give one of each rank"));
        };
        for (rank, file) in files.iter().enumerate() {
            let place = format!("file of rank {rank}");
            if file.ranks.is_some() {
                return Err(Problem::new(place, "has the counts of several ranks", "give it alone"));
            }
            let shape = (&file.iterations, &file.layers, file.experts);
            if shape != (&first.iterations, &first.layers, first.experts) {
                let message = format!(
                    "has {} iterations, {} layers and {} experts, or other numbers of them, than that of rank 0",
                    file.iterations.len(),
                    file.layers.len(),
                    file.experts
                );
                return Err(Problem::new(place, message, "give files of one run"));
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

/// Reads expert loads of any of the forms, compressed or not.
///
/// # Errors
/// Every problem of the file: counts that are negative or no numbers, rows of different lengths, missing or double
/// entries, and what else the file is.
pub fn read(
    reader: impl BufRead,
    limits: &Limits,
    options: &LoadOptions,
) -> Result<Imported<ExpertLoads>, Problems> {
    let mut content = gz::unpack(reader, limits)?;
    let head = content.reader.fill_buf().map_err(|error| gz::io_problem("", &error))?;
    if head.starts_with(b"PK") {
        let remedy = "convert it: python -c \"import json, sys, torch; \
                      json.dump({k: v.tolist() for k, v in torch.load(sys.argv[1]).items() if hasattr(v, 'tolist')}, \
                      sys.stdout)\" FILE.pt > FILE.json";
        return Err(Problem::new("", "this is a file of PyTorch tensors (.pt)", remedy).into());
    }
    let text = gz::text(content.reader, limits, MOST_BYTES)?;
    let found = text.trim_start();
    let (grids, used) = if found.contains("num_global_tokens_per_expert") {
        json::megatron(found, options)?
    } else if found.starts_with('{') || found.starts_with('[') {
        json::read(found, options)?
    } else if found.is_empty() {
        return Err(Problem::new("", "this is an empty file", "give a file with content").into());
    } else {
        table::read(found, limits, options)?
    };
    unused(options, used)?;
    assemble(grids)
}

/// Options that a form has use for.
#[derive(Clone, Copy, Default)]
struct UsedOptions {
    axis: bool,
    layers: bool,
}

/// Refuses options that do nothing with this file.
fn unused(options: &LoadOptions, used: UsedOptions) -> Result<(), Problems> {
    let mut problems = Problems::new();
    if options.axis.is_some() && !used.axis {
        problems.add("axis", "is given, and the file says what its rows are", "leave it out");
    }
    if options.layers.is_some() && !used.layers {
        problems.add("layers", "is given, and the file says which layers it has", "leave it out");
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

/// Writes JSON lines: `{"iteration":…,"layer":…,"tokens":[[…]]}`, a list of counts for each rank.
pub fn write_lines(loads: &ExpertLoads) -> String {
    let mut text = String::new();
    for (i, iteration) in loads.iterations.iter().enumerate() {
        for (l, layer) in loads.layers.iter().enumerate() {
            let rows: Vec<&[f64]> =
                (0..loads.ranks.unwrap_or(1)).map(|rank| loads.row(i, l, rank as usize)).collect();
            let tokens = match (loads.ranks, rows.first()) {
                (None, Some(row)) => serde_json::json!(row),
                _ => serde_json::json!(rows),
            };
            let _ = writeln!(text, "{{\"iteration\":{iteration},\"layer\":{layer},\"tokens\":{tokens}}}");
        }
    }
    text
}
