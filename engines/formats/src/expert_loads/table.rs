//! Expert loads as tables: long ones with a header, dense ones without.

use super::json::{along, ambiguous};
use super::{Grid, LoadAxis, LoadOptions, MOST_COUNTS, MOST_TOKENS, UsedOptions};
use crate::gz::{self, Limits};
use lightbay_core::problem::{Problem, Problems, printable};
use std::collections::BTreeMap;
use std::io::BufRead;

/// Largest file of joint counts, bytes.
const MOST_BYTES: u64 = 64 << 20;
/// Most numbers of iterations, layers, ranks, experts.
const MOST_NUMBER: f64 = 1e9;

/// Tokens by their experts in two layers.
#[derive(Clone, Debug, PartialEq)]
pub struct JointCounts {
    /// The earlier layer.
    pub from_layer: u32,
    /// The later layer.
    pub to_layer: u32,
    /// Counts, a row for each expert of the earlier layer.
    pub counts: Vec<Vec<f64>>,
}

fn cells(line: &str) -> Vec<&str> {
    line.split([',', ';', '\t']).map(str::trim).collect()
}

fn count(cell: &str, most: f64) -> Option<f64> {
    cell.parse::<f64>().ok().filter(|count| (0.0..=most).contains(count))
}

/// A number of an iteration, layer, rank or expert.
fn index(cell: &str) -> Option<u64> {
    count(cell, MOST_NUMBER).filter(|number| number.fract() == 0.0).map(|number| number as u64)
}

/// Reads a long or a dense table.
pub(super) fn read(
    text: &str,
    limits: &Limits,
    options: &LoadOptions,
) -> Result<(Vec<Grid>, UsedOptions), Problems> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let first = lines.clone().next().map(|(_, line)| cells(line)).unwrap_or_default();
    if text.starts_with("layer_from,") {
        let message = "these are joint counts of two layers";
        return Err(Problem::new("", message, "read them as such, beside counts of single layers").into());
    }
    if first.contains(&"expert") {
        lines.next();
        return Ok((long(&first, lines, limits)?, UsedOptions::default()));
    }
    let mut problems = Problems::new();
    let mut grids = Vec::new();
    // A row of names above the counts.
    if first.iter().all(|cell| cell.parse::<f64>().is_err() && !cell.is_empty()) {
        lines.next();
    }
    for (layer, (at, line)) in lines.enumerate() {
        let place = format!("line {}", at + 1);
        let mut row = Vec::new();
        for (column, cell) in cells(line).into_iter().enumerate() {
            match count(cell, MOST_TOKENS) {
                Some(count) => row.push(count),
                None => problems.add(
                    format!("{place}, column {}", column + 1),
                    format!("is '{}'", printable(cell)),
                    "give a count of tokens, 0 or more",
                ),
            }
        }
        grids.push(Grid { place, iteration: 0, layer: layer as u32, rows: vec![row], ranked: false });
        if grids.len() > limits.rows {
            problems.add("", format!("has more than {} rows", limits.rows), "give fewer");
            break;
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let axis = options.axis.or((grids.len() == 1).then_some(LoadAxis::Layers));
    let Some(axis) = axis else { return Err(ambiguous(grids.len())) };
    along(axis, &mut grids);
    Ok((grids, UsedOptions { axis: true, ..UsedOptions::default() }))
}

/// Count and line by rank and expert.
type LayerRows = BTreeMap<(u64, u64), (f64, usize)>;

fn long<'a>(
    header: &[&str],
    lines: impl Iterator<Item = (usize, &'a str)> + 'a,
    limits: &Limits,
) -> Result<Vec<Grid>, Problems> {
    let column = |names: &[&str]| header.iter().position(|name| names.contains(name));
    let iteration = column(&["iteration", "step"]);
    let rank = column(&["rank", "source_rank"]);
    let (layer, expert) = (column(&["layer"]), column(&["expert"]));
    let tokens = column(&["count", "topk_count", "tokens", "load"]);
    let (Some(layer), Some(expert), Some(tokens)) = (layer, expert, tokens) else {
        let message = format!("has the columns {}", printable(&header.join(", ")));
        let remedy = "give layer, expert and count (or topk_count), and iteration and rank if there are any";
        return Err(Problem::new("line 1", message, remedy).into());
    };
    let mut problems = Problems::new();
    let mut rows: BTreeMap<(u64, u64), LayerRows> = BTreeMap::new();
    let mut total = 0;
    for (at, line) in lines {
        let place = format!("line {}", at + 1);
        total += 1;
        if total > limits.rows.min(MOST_COUNTS) {
            problems.add(place, "is one row too many", "give fewer iterations");
            break;
        }
        let cells = cells(line);
        if cells.len() != header.len() {
            let message = format!("has {} fields, the header has {}", cells.len(), header.len());
            problems.add(place, message, "give every row all fields");
            continue;
        }
        let mut number = |column: Option<usize>| {
            let Some(column) = column else { return Some(0) };
            let found = index(cells[column]);
            if found.is_none() {
                let path = format!("{place}, {}", printable(header[column]));
                problems.add(path, format!("is '{}'", printable(cells[column])), "give a number from 0");
            }
            found
        };
        let key = (number(iteration), number(Some(layer)), number(rank), number(Some(expert)));
        let Some(count) = count(cells[tokens], MOST_TOKENS) else {
            let path = format!("{place}, {}", printable(header[tokens]));
            let message = format!("is '{}'", printable(cells[tokens]));
            problems.add(path, message, "give a count of tokens, 0 or more");
            continue;
        };
        let (Some(iteration), Some(layer), Some(rank), Some(expert)) = key else { continue };
        let before = rows.entry((iteration, layer)).or_default().insert((rank, expert), (count, at + 1));
        if let Some((_, before)) = before {
            problems.add(place, format!("is about the same expert as line {before}"), "leave one out");
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut grids = Vec::with_capacity(rows.len());
    for ((iteration, layer), found) in rows {
        let place = format!("layer {layer} of iteration {iteration}");
        let sizes = found.keys().fold((0, 0), |most: (u64, u64), key| (most.0.max(key.0), most.1.max(key.1)));
        let (ranks, experts) = (sizes.0 + 1, sizes.1 + 1);
        if ranks.saturating_mul(experts) != found.len() as u64 {
            let message = format!("has {} counts for {ranks} ranks and {experts} experts", found.len());
            problems.add(place, message, "give a row for every expert, also for those without tokens");
            continue;
        }
        let counts: Vec<f64> = found.into_values().map(|(count, _)| count).collect();
        let rows = counts.chunks(experts as usize).map(<[f64]>::to_vec).collect();
        grids.push(Grid { place, iteration, layer: layer as u32, rows, ranked: rank.is_some() });
    }
    problems.into_result(grids)
}

/// Reads joint counts: `layer_from,expert_from,layer_to,expert_to,count`.
///
/// # Errors
/// Every row that is none, and pairs of experts without a row.
pub fn read_joint(reader: impl BufRead, limits: &Limits) -> Result<Vec<JointCounts>, Problems> {
    const HEADER: &str = "layer_from,expert_from,layer_to,expert_to,count";
    let text = gz::text(reader, limits, MOST_BYTES)?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().map_or("", |(_, line)| line.trim());
    if header != HEADER {
        let message = format!("begins with '{}'", printable(header));
        return Err(
            Problem::new("line 1", message, format!("give joint counts, which begin with {HEADER}")).into()
        );
    }
    let mut problems = Problems::new();
    let mut pairs: BTreeMap<(u64, u64), BTreeMap<(u64, u64), f64>> = BTreeMap::new();
    for (row, (at, line)) in lines.enumerate() {
        let place = format!("line {}", at + 1);
        if row >= limits.rows {
            problems.add(place, "is one row too many", "give fewer");
            break;
        }
        let cells = cells(line);
        let numbers: Option<Vec<u64>> = cells.iter().take(4).map(|cell| index(cell)).collect();
        let tokens = cells.get(4).and_then(|cell| count(cell, MOST_TOKENS));
        let (Some([from, expert, to, other]), Some(tokens), 5) = (numbers.as_deref(), tokens, cells.len())
        else {
            problems.add(
                place,
                format!("is '{}'", printable(line)),
                "give four numbers and a count, 0 or more",
            );
            continue;
        };
        if pairs.entry((*from, *to)).or_default().insert((*expert, *other), tokens).is_some() {
            problems.add(place, "is about the same experts as a line before", "leave one out");
        }
    }
    let mut found = Vec::new();
    for ((from, to), counts) in pairs {
        let most = counts.keys().fold((0, 0), |most: (u64, u64), key| (most.0.max(key.0), most.1.max(key.1)));
        if (most.0 + 1).saturating_mul(most.1 + 1) != counts.len() as u64 {
            let message = format!("has {} of {} x {} counts", counts.len(), most.0 + 1, most.1 + 1);
            problems.add(format!("layers {from} and {to}"), message, "give every pair of experts");
            continue;
        }
        let values: Vec<f64> = counts.into_values().collect();
        let counts = values.chunks(most.1 as usize + 1).map(<[f64]>::to_vec).collect();
        found.push(JointCounts { from_layer: from as u32, to_layer: to as u32, counts });
    }
    problems.into_result(found)
}
