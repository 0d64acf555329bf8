//! Expert loads as dense tables, and joint counts of two layers.

use super::grids::Grids;
use super::json::{along, ambiguous};
use super::{Grid, LoadAxis, LoadFile, LoadOptions, MOST_TOKENS, UsedOptions, long};
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

pub(super) fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ';', '\t']).map(str::trim)
}

pub(super) fn count(cell: &str, most: f64) -> Option<f64> {
    cell.parse::<f64>().ok().filter(|count| (0.0..=most).contains(count))
}

/// A number of an iteration, layer, rank or expert.
pub(super) fn index(cell: &str) -> Option<u64> {
    count(cell, MOST_NUMBER).filter(|number| number.fract() == 0.0).map(|number| number as u64)
}

/// Reads a long or a dense table.
pub(super) fn read(text: &str, limits: &Limits, options: &LoadOptions) -> Result<LoadFile, Problems> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    let mut problems = Problems::new();
    if let Some((at, _)) = lines.clone().find(|(_, line)| line.len() > limits.line_bytes) {
        let message = format!("is longer than {} bytes", limits.line_bytes);
        return Err(Problem::new(
            format!("line {}", at + 1),
            message,
            "check that this is the file you meant",
        )
        .into());
    }
    let header: Vec<&str> = lines.peek().map(|(_, line)| cells(line).collect()).unwrap_or_default();
    let is_header = header.iter().all(|cell| cell.parse::<f64>().is_err() && !cell.is_empty());
    if is_header {
        if header.iter().any(|name| name.eq_ignore_ascii_case("layer_from")) {
            let message = "these are joint counts of two layers";
            return Err(Problem::new("", message, "read them as such, beside counts of single layers").into());
        }
        lines.next();
        if !long::numbered(&header) {
            let columns = long::columns(&header)?;
            return long::read(&columns, &header, lines, limits);
        }
    }
    let mut grids = Grids::default();
    for (layer, (at, line)) in lines.enumerate() {
        let place = format!("line {}", at + 1);
        let mut row = Vec::new();
        for (column, cell) in cells(line).enumerate() {
            match count(cell, MOST_TOKENS) {
                Some(count) => row.push(count),
                None => problems.add(
                    format!("{place}, column {}", column + 1),
                    format!("is '{}'", printable(cell)),
                    "give a count of tokens, 0 or more",
                ),
            }
        }
        grids.push(Grid { place, iteration: 0, layer: layer as u32, rows: vec![row], ranked: false })?;
        if grids.list.len() > limits.rows {
            problems.add("", format!("has more than {} rows", limits.rows), "give fewer");
            break;
        }
    }
    let mut grids = problems.into_result(grids.list)?;
    let axis = options.axis.or((grids.len() == 1).then_some(LoadAxis::Layers));
    let Some(axis) = axis else { return Err(ambiguous(grids.len())) };
    along(axis, &mut grids);
    Ok(LoadFile::dense(grids, UsedOptions { axis: true, ..UsedOptions::default() }))
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
        let cells: Vec<&str> = cells(line).take(6).collect();
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
