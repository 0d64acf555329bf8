//! Expert loads as long and dense tables.

use super::grids::Grids;
use super::json::{along, ambiguous};
use super::{LoadAxis, LoadFile, LoadGrid, LoadOptions, MOST_TOKENS, UsedOptions, long};
use crate::gz::Limits;
use lightbay_core::problem::{Problem, Problems, printable};

/// Maximum value of the numbers of iterations, layers, ranks, experts.
const MOST_NUMBER: f64 = 1e9;

pub(super) fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ';', '\t']).map(str::trim)
}

pub(super) fn count(cell: &str, most: f64) -> Option<f64> {
    cell.parse::<f64>().ok().filter(|count| (0.0..=most).contains(count))
}

/// Reads the number of an iteration, layer, rank or expert.
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
            "check that this is the intended file",
        )
        .into());
    }
    let header: Vec<&str> = lines.peek().map(|(_, line)| cells(line).collect()).unwrap_or_default();
    let is_header = header.iter().all(|cell| cell.parse::<f64>().is_err() && !cell.is_empty());
    if is_header {
        if header.iter().any(|name| name.eq_ignore_ascii_case("layer_from")) {
            let message = "these are joint counts of two layers";
            return Err(Problem::new(
                "",
                message,
                "import the table as joint counts, together with counts of single layers",
            )
            .into());
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
                    "use a count of tokens, 0 or more",
                ),
            }
        }
        grids.push(LoadGrid { place, iteration: 0, layer: layer as u32, rows: vec![row], ranked: false })?;
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
