//! Values and sections as plain text for a terminal or a log.

use super::curves::Curves;
use super::section::{Block, Body, Facts, Matrix, Section};
use super::spans::Spans;
use super::table::{Row, Table};
use super::value::{Cell, Unit, Value};
use crate::problem::printable;
use crate::quantity;
use std::fmt::Write as _;

/// Extent to which a section is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Only the rows that an overview shows.
    Overview,
    /// Every row.
    All,
}

/// Formats a number without its unit.
pub fn number(value: f64, unit: Unit) -> String {
    let text = plain(value * unit.scale, unit);
    let is_zero = text.chars().all(|sign| matches!(sign, '0' | '.'));
    if unit.signed && value > 0.0 && !is_zero { format!("+{text}") } else { text }
}

fn plain(scaled: f64, unit: Unit) -> String {
    let decimals = || unit.decimals.map_or_else(|| quantity::eight_digits(scaled), usize::from);
    let scaled = unit.bounds.map_or(scaled, |sense| quantity::safe_bound(scaled, decimals(), sense));
    match unit.decimals {
        None => quantity::number(scaled),
        Some(decimals) => {
            let text = format!("{scaled:.*}", usize::from(decimals));
            // A number that rounds to zero gets no sign.
            match text.strip_prefix('-') {
                Some(digits) if digits.chars().all(|digit| matches!(digit, '0' | '.')) => digits.to_owned(),
                _ => text,
            }
        }
    }
}

/// Shortens runs of blanks between words to at most `most` blanks, and removes the blanks before the first word.
pub fn squeezed(words: &str, most: usize) -> String {
    let mut squeezed = String::with_capacity(words.len());
    let mut blanks = 0;
    for sign in words.trim_start().chars() {
        blanks = if sign == ' ' { blanks + 1 } else { 0 };
        if blanks <= most {
            squeezed.push(sign);
        }
    }
    squeezed
}

/// Formats a value without its unit.
pub fn bare(value: &Value, unit: Unit) -> String {
    match value {
        Value::None => "-".to_owned(),
        Value::Text(text) => printable(text),
        Value::Int(value) if unit.scale == 1.0 && unit.signed && *value > 0 => format!("+{value}"),
        Value::Int(value) if unit.scale == 1.0 => value.to_string(),
        Value::Int(value) => number(*value as f64, unit),
        Value::Float(value) => number(*value, unit),
        Value::Flag(true) => "yes".to_owned(),
        Value::Flag(false) => "no".to_owned(),
    }
}

/// Formats a cell: value, unit and note.
pub fn cell(cell: &Cell, unit: Unit) -> String {
    let mut text = bare(&cell.value, unit);
    if matches!(cell.value, Value::Int(_) | Value::Float(_)) && !unit.symbol.is_empty() {
        let _ = write!(text, " {}", unit.symbol);
    }
    with_note(text, cell)
}

/// Formats a value, with its note, for a column whose heading has the unit.
pub fn in_column(cell: &Cell, unit: Unit) -> String {
    with_note(bare(&cell.value, unit), cell)
}

fn with_note(mut text: String, cell: &Cell) -> String {
    if !cell.note.is_empty() {
        let _ = write!(text, ", {}", printable(&cell.note));
    }
    text
}

/// A table for any output: headings, which columns contain numbers, rows, and the total number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Headings of the columns, with units.
    pub heads: Vec<String>,
    /// `true` for each column of numbers.
    pub right: Vec<bool>,
    /// Cells of the written rows, as text.
    pub rows: Vec<Vec<String>>,
    /// Total number of rows, written or not.
    pub total: usize,
    /// Noun for one row, and noun for several rows.
    pub of: [&'static str; 2],
}

/// Converts a block to one table.
pub fn grid(body: &Body, extent: Extent) -> Grid {
    match body {
        Body::Facts(facts) => of_facts(facts),
        Body::Table(table) => of_table(table, extent),
        Body::Matrix(matrix) => of_matrix(matrix),
        Body::Curves(curves) => of_curves(curves, extent),
        Body::Spans(spans) => of_spans(spans, extent),
    }
}

fn of_facts(facts: &Facts) -> Grid {
    let row = |fact: &super::section::Fact| {
        let text = cell(&fact.cell, fact.unit);
        let text =
            if fact.sentence.is_empty() { text } else { format!("{text}; {}", printable(&fact.sentence)) };
        vec![fact.label.to_owned(), text]
    };
    let rows: Vec<_> = facts.facts.iter().map(row).collect();
    Grid {
        heads: vec![String::new(); 2],
        right: vec![false; 2],
        total: rows.len(),
        rows,
        of: ["figure", "figures"],
    }
}

fn of_table(table: &Table, extent: Extent) -> Grid {
    let row = |row: &Row| {
        let cells = row.cells.iter().zip(&table.columns);
        let mut cells: Vec<String> = cells.map(|(cell, column)| in_column(cell, column.unit)).collect();
        if let Some(first) = cells.first_mut().filter(|_| !row.mark.is_empty()) {
            let _ = write!(first, " {}", row.mark);
        }
        cells
    };
    let rows = match extent {
        Extent::Overview => table.overview_rows().into_iter().map(row).collect(),
        Extent::All => table.rows.iter().map(row).collect(),
    };
    Grid {
        heads: table.columns.iter().map(|column| printable(&column.heading())).collect(),
        right: table.columns.iter().map(|column| column.right).collect(),
        rows,
        total: table.rows.len(),
        of: table.of,
    }
}

fn of_matrix(matrix: &Matrix) -> Grid {
    let mut heads = vec![String::new()];
    heads.extend(matrix.columns.iter().map(|name| printable(name)));
    let width = matrix.columns.len().max(1);
    let rows: Vec<Vec<String>> = matrix
        .rows
        .iter()
        .zip(matrix.cells.chunks(width))
        .map(|(name, cells)| {
            let mut row = vec![printable(name)];
            row.extend(cells.iter().map(|cell| in_column(cell, matrix.unit)));
            row
        })
        .collect();
    let right = (0..heads.len()).map(|column| column > 0).collect();
    Grid { heads, right, total: rows.len(), rows, of: ["row", "rows"] }
}

/// Maximum number of points of curves, or spans, that an overview shows.
const MOST_ROWS: usize = 50;

/// Returns the indices of the rows that an overview shows: all rows, or, of more than [`MOST_ROWS`], evenly spaced rows
/// including the first and the last.
fn spread(rows: usize, extent: Extent) -> Vec<usize> {
    if extent == Extent::All || rows <= MOST_ROWS {
        return (0..rows).collect();
    }
    (0..MOST_ROWS).map(|row| row * (rows - 1) / (MOST_ROWS - 1)).collect()
}

fn of_curves(curves: &Curves, extent: Extent) -> Grid {
    let title = |label: &str, unit: Unit| {
        if unit.symbol.is_empty() {
            printable(label)
        } else {
            format!("{} {}", printable(label), unit.symbol)
        }
    };
    let mut heads = vec![title(curves.axis_label, curves.axis_unit)];
    heads.extend(curves.curves.iter().map(|curve| title(&curve.label, curve.unit)));
    let places = places(curves);
    let rows: Vec<Vec<String>> = spread(places.len(), extent)
        .into_iter()
        .map(|row| {
            let at = places[row];
            let mut row = vec![number(at, curves.axis_unit)];
            row.extend(curves.curves.iter().map(|curve| {
                let first = curve.points.partition_point(|point| point.at < at);
                let point = curve.points.get(first).filter(|point| point.at == at);
                point.map_or_else(String::new, |point| number(point.value, curve.unit))
            }));
            row
        })
        .collect();
    Grid { right: vec![true; heads.len()], heads, total: places.len(), rows, of: ["point", "points"] }
}

/// Returns every position on the axis at which a curve has a point, in ascending order.
pub fn places(curves: &Curves) -> Vec<f64> {
    let mut places: Vec<f64> =
        curves.curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.at)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

fn of_spans(spans: &Spans, extent: Extent) -> Grid {
    let heads = ["lane", "what", "start s", "end s"].map(str::to_owned).to_vec();
    let row = |lane: &super::spans::Lane, span: &super::spans::Span| {
        vec![
            printable(&lane.name),
            printable(&span.name),
            number(span.start_s, Unit::SECONDS),
            number(span.end_s, Unit::SECONDS),
        ]
    };
    let all: Vec<_> =
        spans.lanes.iter().flat_map(|lane| lane.spans.iter().map(move |span| (lane, span))).collect();
    let rows = spread(all.len(), extent).into_iter().map(|at| row(all[at].0, all[at].1)).collect();
    Grid { heads, right: vec![false, false, true, true], total: all.len(), rows, of: ["span", "spans"] }
}

/// Returns the heading of a block: the title of the block, after the title of the section if the section has several
/// blocks; only the title of the section if the block has none. If rows are omitted, the number of shown rows follows.
pub fn heading(section: &Section, block: &Block, grid: &Grid) -> String {
    let title = match (block.title.as_str(), section.blocks.len()) {
        ("", _) => section.title.clone(),
        (own, 0 | 1) => own.to_owned(),
        (own, _) if own.starts_with(&section.title) => own.to_owned(),
        (own, _) => format!("{}: {own}", section.title),
    };
    let title = printable(&title);
    if grid.rows.len() < grid.total {
        format!("{title}, {} of {} {}", grid.rows.len(), grid.total, grid.of[1])
    } else {
        title
    }
}

/// Formats a section as lines of plain text, for lists of details: the remarks, then for each block its title, if it
/// has one, and its rows in columns.
pub fn lines(section: &Section) -> Vec<String> {
    let mut lines: Vec<String> = section.remarks.iter().map(|remark| printable(remark)).collect();
    for block in &section.blocks {
        let grid = grid(&block.body, Extent::All);
        if !lines.is_empty() {
            lines.push(String::new());
        }
        if !block.title.is_empty() {
            lines.push(printable(&block.title));
        }
        let letters = |text: &String| text.chars().count();
        let width = |column: usize| {
            let rows = grid.rows.iter().filter_map(|row| row.get(column)).map(letters);
            rows.chain(grid.heads.get(column).map(letters)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..grid.heads.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).zip(&grid.right).map(|((cell, &width), &right)| {
                if right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
        };
        if grid.heads.iter().any(|head| !head.is_empty()) {
            lines.push(line(&grid.heads));
        }
        lines.extend(grid.rows.iter().map(line));
    }
    lines
}
