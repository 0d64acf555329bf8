//! Combines matrices of single layers into one record.

use super::{ExpertLoads, MOST_COUNTS};
use lightbay_core::problem::{Problem, Problems};
use std::collections::BTreeMap;

/// The counts of one layer in one iteration.
#[derive(Clone, Debug)]
pub(super) struct LoadGrid {
    /// Location of the counts in the file.
    pub(super) place: String,
    pub(super) iteration: u64,
    pub(super) layer: u32,
    /// Counts of all experts, for each rank.
    pub(super) rows: Vec<Vec<f64>>,
    /// `true` if each row belongs to a rank, `false` if the only row is the sum over all ranks.
    pub(super) ranked: bool,
}

/// Memory overhead of a matrix and of a row, in units of one count.
const MATRIX: usize = 16;
const ROW: usize = 4;

/// Matrices while they are read.
#[derive(Default)]
pub(super) struct Grids {
    pub(super) list: Vec<LoadGrid>,
    /// Number of counts, including the overhead of rows and matrices.
    held: usize,
}

impl Grids {
    /// Adds a matrix, unless the record would become too large.
    pub(super) fn push(&mut self, grid: LoadGrid) -> Result<(), Problem> {
        self.held += MATRIX + grid.rows.iter().map(|row| ROW + row.len()).sum::<usize>();
        if self.held > MOST_COUNTS {
            let message =
                format!("needs memory for more than {MOST_COUNTS} counts, including the overhead of rows");
            return Err(Problem::new("", message, "give fewer iterations"));
        }
        self.list.push(grid);
        Ok(())
    }
}

/// Combines the matrices of all layers into one record.
pub(super) fn assemble(grids: Vec<LoadGrid>) -> Result<ExpertLoads, Problems> {
    const REMEDY: &str = "use the same ranks and experts for every layer of every iteration";
    let mut problems = Problems::new();
    let Some(first) = grids.first() else {
        return Err(Problem::new("", "holds no counts", "give at least one layer").into());
    };
    let experts = first.rows.first().map_or(0, Vec::len);
    let (ranks, ranked) = (first.rows.len(), first.ranked);
    if experts == 0 {
        return Err(Problem::new(&*first.place, "has no experts", "give a count for each expert").into());
    }
    let mut known: BTreeMap<(u64, u32), &LoadGrid> = BTreeMap::new();
    for grid in &grids {
        if grid.ranked != ranked {
            let with = |ranked| if ranked { "has counts by rank" } else { "has no counts by rank" };
            let message = format!("{}, but {} {}", with(grid.ranked), first.place, with(ranked));
            problems.add(&*grid.place, message, REMEDY);
        } else if grid.rows.len() != ranks {
            let message = format!("has {} ranks, but {} has {ranks}", grid.rows.len(), first.place);
            problems.add(&*grid.place, message, REMEDY);
        }
        if let Some((rank, row)) = grid.rows.iter().enumerate().find(|(_, row)| row.len() != experts) {
            let message =
                format!("has {} experts in row {rank}, but {} has {experts}", row.len(), first.place);
            problems.add(&*grid.place, message, REMEDY);
        }
        if let Some(before) = known.insert((grid.iteration, grid.layer), grid) {
            let message = format!(
                "repeats layer {} of iteration {}, which {} already gives",
                grid.layer, grid.iteration, before.place
            );
            problems.add(&*grid.place, message, "leave one out");
        }
    }
    let mut iterations: Vec<u64> = known.keys().map(|(iteration, _)| *iteration).collect();
    iterations.dedup();
    let mut layers: Vec<u32> = known.keys().map(|(_, layer)| *layer).collect();
    layers.sort_unstable();
    layers.dedup();
    let all = iterations.len().saturating_mul(layers.len());
    if all > known.len() {
        let gaps = iterations.iter().flat_map(|i| layers.iter().map(move |l| (*i, *l)));
        for (iteration, layer) in gaps.filter(|key| !known.contains_key(key)).take(all - known.len()) {
            let message = format!("layer {layer} of iteration {iteration} is missing");
            problems.add("", message, "include every layer in every iteration");
            if problems.total() > Problems::CAP {
                break;
            }
        }
    }
    let total = all.saturating_mul(ranks).saturating_mul(experts);
    if total > MOST_COUNTS {
        problems.add(
            "",
            format!("has {total} counts; the maximum is {MOST_COUNTS}"),
            "give fewer iterations",
        );
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut counts = Vec::with_capacity(total);
    for grid in known.values() {
        counts.extend(grid.rows.iter().flatten());
    }
    let ranks = ranked.then_some(ranks as u32);
    Ok(ExpertLoads { iterations, layers, ranks, experts: experts as u32, counts })
}

/// Returns notes on a whole record: layers without tokens, layers whose sums differ from the sums of the other layers,
/// and missing ranks. In files that each count the experts of one rank, the sums of layers always differ, so only the
/// combined record is checked.
pub(super) fn remarks(loads: &ExpertLoads) -> Vec<String> {
    let mut notes = Vec::new();
    let sums: Vec<Vec<f64>> = (0..loads.iterations.len())
        .map(|i| (0..loads.layers.len()).map(|l| loads.of_layer(i, l).iter().sum()).collect())
        .collect();
    let dense: Vec<String> = (0..loads.layers.len())
        .filter(|l| sums.iter().all(|row| row[*l] == 0.0))
        .map(|l| loads.layers[l].to_string())
        .collect();
    if !dense.is_empty() {
        notes.push(format!("layers without tokens count as dense: {}", dense.join(", ")));
    }
    let mut uneven = Vec::new();
    for (iteration, row) in loads.iterations.iter().zip(&sums) {
        let Some(usual) = row.iter().find(|sum| **sum > 0.0) else { continue };
        for (layer, sum) in loads.layers.iter().zip(row) {
            if *sum > 0.0 && (sum - usual).abs() > 1e-9 * usual {
                uneven.push(format!(
                    "layer {layer} of iteration {iteration} has {sum} tokens instead of {usual}"
                ));
            }
        }
    }
    if !uneven.is_empty() {
        let more = uneven.len().saturating_sub(4);
        uneven.truncate(4);
        let tail = if more > 0 { format!(", and {more} more") } else { String::new() };
        notes.push(format!("tokens differ between layers: {}{tail}", uneven.join(", ")));
    }
    if loads.ranks.is_none() {
        notes.push("the file does not contain the ranks from which the tokens come".to_owned());
    }
    notes
}
