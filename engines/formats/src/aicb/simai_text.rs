//! SimAI text workloads: a header, a row count, and one row per layer with three computations and three collectives.
//!
//! A row is `name dep fwd_ns fwd_comm fwd_bytes ig_ns ig_comm ig_bytes wg_ns wg_comm wg_bytes update_ns`, split at any
//! white space; `ig` is the input-gradient half of the backward pass, `wg` the weight-gradient half. The file
//! represents one rank of one stage and already repeats its layers once per micro-batch.

use std::io::BufRead;

use lightbay_core::problem::{Problems, suggestion};
use serde::Serialize;

use super::collective::{CollectiveKind, Group};
use super::header::{self, SimaiHeader};
use super::summary::ColumnTotal;
use crate::gz::Limits;
use crate::lines::Lines;
use crate::number;

/// Maximum time of one row and column: a day.
const MAX_NS: f64 = 86_400e9;

/// Maximum length of the name of a layer.
const MAX_NAME_BYTES: usize = 200;

/// The three columns of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Column {
    /// Forward pass.
    Fwd,
    /// Input gradients.
    Ig,
    /// Weight gradients.
    Wg,
}

impl Column {
    /// All columns in file order.
    pub const ALL: [Self; 3] = [Self::Fwd, Self::Ig, Self::Wg];

    /// Returns the prefix that the names of the column's fields have, as in `fwd_ns`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fwd => "fwd",
            Self::Ig => "ig",
            Self::Wg => "wg",
        }
    }
}

/// The suffix of a collective's name; the suffix determines the group of the collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Suffix {
    /// No suffix: TP in the columns fwd and ig, DP in wg.
    Plain,
    /// `_EP`: the expert group.
    Ep,
    /// `_DP_EP`: DP divided by EP.
    DpEp,
}

/// Time and collective of one row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Compute time, ns.
    pub ns: u64,
    /// The collective, `None` for `NONE`.
    pub collective: Option<(CollectiveKind, Suffix)>,
    /// Bytes as stated in the file, even without a collective; see [`Cell::bytes`].
    pub written_bytes: u64,
}

impl Cell {
    /// Returns the bytes that are sent: a size with `NONE` is ignored.
    pub const fn bytes(&self) -> u64 {
        if self.collective.is_some() { self.written_bytes } else { 0 }
    }

    /// Returns the group of the collective, by column and suffix.
    pub fn group(&self, column: Column) -> Option<Group> {
        self.collective.map(|(_, suffix)| match (suffix, column) {
            (Suffix::Plain, Column::Fwd | Column::Ig) => Group::Tp,
            (Suffix::Plain, Column::Wg) => Group::Dp,
            (Suffix::Ep, _) => Group::Ep,
            (Suffix::DpEp, _) => Group::DpEp,
        })
    }

    /// Returns the collective as the file names it, such as `ALLTOALL_EP` or `NONE`.
    pub fn label(&self) -> String {
        match self.collective {
            None => "NONE".to_owned(),
            Some((kind, suffix)) => {
                let ending = match suffix {
                    Suffix::Plain => "",
                    Suffix::Ep => "_EP",
                    Suffix::DpEp => "_DP_EP",
                };
                format!("{}{ending}", kind.name())
            }
        }
    }
}

/// A row of the file: one layer of one micro-batch, or an operation that occurs once per iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimaiRow {
    /// Index of the layer's name in [`SimaiText::names`].
    pub name: u32,
    /// Cells of the columns fwd, ig and wg.
    pub cells: [Cell; 3],
}

/// Content of a SimAI text workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimaiText {
    /// Fields of line 1.
    pub header: SimaiHeader,
    /// The distinct layer names in order of appearance.
    pub names: Vec<String>,
    /// The rows in file order.
    pub rows: Vec<SimaiRow>,
}

impl SimaiText {
    /// Returns the layer name of a row.
    pub fn name(&self, row: &SimaiRow) -> &str {
        &self.names[row.name as usize]
    }

    /// Returns count and bytes of every (column, collective) that occurs, in column order.
    pub fn totals(&self) -> Vec<ColumnTotal> {
        let mut totals: Vec<ColumnTotal> = Vec::new();
        for (index, column) in Column::ALL.into_iter().enumerate() {
            let first = totals.len();
            for row in &self.rows {
                let cell = &row.cells[index];
                if cell.collective.is_none() {
                    continue;
                }
                let label = cell.label();
                let here = totals[first..].iter().position(|total| total.collective == label);
                let at = here.map_or_else(
                    || {
                        totals.push(ColumnTotal {
                            column: column.name().to_owned(),
                            collective: label,
                            calls: 0,
                            bytes: 0,
                        });
                        totals.len() - 1
                    },
                    |offset| first + offset,
                );
                totals[at].calls += 1;
                totals[at].bytes += cell.bytes();
            }
            totals[first..].sort_by(|a, b| a.collective.cmp(&b.collective));
        }
        totals
    }

    /// Returns the sum of one column's times over all rows, seconds.
    pub fn compute_s(&self, column: Column) -> f64 {
        let ns: u128 = self.rows.iter().map(|row| u128::from(row.cells[column as usize].ns)).sum();
        ns as f64 * 1e-9
    }

    /// Returns the number of fields with `NONE` and a size.
    pub fn none_with_bytes(&self) -> usize {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.filter(|cell| cell.collective.is_none() && cell.written_bytes > 0).count()
    }

    /// Returns the fraction of compute times that are the generator's placeholder (at most 1 ns).
    pub fn placeholder_share(&self) -> f64 {
        let times = self.rows.len() * 3;
        let small = self.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.ns <= 1).count();
        if times == 0 { 1.0 } else { small as f64 / times as f64 }
    }

    /// Returns `true` if the file was generated without measured kernels: more than 90 % of its times are placeholders.
    pub fn is_placeholder(&self) -> bool {
        self.placeholder_share() > 0.9
    }
}

/// Reads a plain (unpacked) SimAI text workload.
///
/// # Errors
/// Every problem with line, row, field, value and remedy.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<SimaiText, Problems> {
    let mut problems = Problems::new();
    let mut reading = SimaiReading::default();
    let mut lines = Lines::new(reader, limits);
    loop {
        match lines.next_line() {
            Ok(Some((number, text))) => {
                if !reading.line(number, text, limits, &mut problems) {
                    break;
                }
            }
            Ok(None) => {
                reading.finish(&mut problems);
                break;
            }
            Err(problem) => {
                problems.push(problem);
                break;
            }
        }
    }
    let SimaiReading { header, names, rows, .. } = reading;
    problems.into_result(SimaiText { header: header.unwrap_or_default(), names: names.list, rows })
}

/// Distinct names, each with its index.
#[derive(Default)]
struct NameIndex {
    list: Vec<String>,
    index: std::collections::HashMap<String, u32>,
}

impl NameIndex {
    fn index(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.index.get(name) {
            return index;
        }
        let index = self.list.len() as u32;
        self.list.push(name.to_owned());
        self.index.insert(name.to_owned(), index);
        index
    }
}

#[derive(Default)]
struct SimaiReading {
    header: Option<SimaiHeader>,
    declared: Option<u64>,
    counted: bool,
    rows_seen: u64,
    names: NameIndex,
    rows: Vec<SimaiRow>,
}

impl SimaiReading {
    /// Reads one line; returns `false` if the rest of the file should not be read.
    fn line(&mut self, number: usize, text: &str, limits: &Limits, problems: &mut Problems) -> bool {
        let text = text.trim();
        if text.is_empty() {
            return true;
        }
        if self.header.is_none() {
            self.header = Some(header::parse(text, problems));
        } else if !self.counted {
            self.counted = true;
            self.declared = number::whole(text, 0, u64::MAX).ok();
            if self.declared.is_none() {
                let shown: String = text.chars().take(40).collect();
                problems.add(
                    format!("line {number}"),
                    format!("'{shown}' is not a row count"),
                    "the second line must contain the number of rows that follow",
                );
                // A file without a count continues with its first row.
                if text.split_whitespace().count() >= 12 {
                    self.row(number, text, problems);
                }
            }
        } else {
            if self.rows_seen >= limits.rows as u64 {
                problems.add(
                    format!("line {number}"),
                    format!("has more than '{}' rows", limits.rows),
                    "keep fewer micro-batches of the same iteration",
                );
                return false;
            }
            self.row(number, text, problems);
        }
        true
    }

    fn finish(&self, problems: &mut Problems) {
        if self.header.is_none() {
            problems.add("", "the file is empty", "give a SimAI text workload");
        } else if !self.counted {
            problems.add("line 2", "the row count is missing", "write the number of rows into line 2");
        } else if let Some(declared) = self.declared.filter(|&declared| declared != self.rows_seen) {
            problems.add(
                "line 2",
                format!("announces '{declared}' rows, but '{}' follow", self.rows_seen),
                "the file is cut off or was edited; correct line 2 or generate it again",
            );
        } else if self.rows_seen == 0 {
            problems.add("line 2", "announces '0' rows", "an iteration needs at least one row");
        }
    }

    fn row(&mut self, number: usize, text: &str, problems: &mut Problems) {
        self.rows_seen += 1;
        let row_number = self.rows_seen;
        let place = |field: &str| {
            let row = format!("line {number} (row {row_number})");
            if field.is_empty() { row } else { format!("{row}, {field}") }
        };
        let mut fields = [""; 13];
        let mut count = 0;
        for token in text.split_whitespace() {
            if let Some(field) = fields.get_mut(count) {
                *field = token;
            }
            count += 1;
        }
        let customized = self.header.as_ref().is_some_and(|header| header.policy == "HYBRID_CUSTOMIZED");
        let expected = if customized { 13 } else { 12 };
        if count != expected {
            problems.add(
                place(""),
                format!("has '{count}' fields instead of '{expected}'"),
                "a row is name dep fwd_ns fwd_comm fwd_bytes ig_ns ig_comm ig_bytes wg_ns wg_comm wg_bytes \
                 update_ns",
            );
            return;
        }
        let mut cells = [Cell { ns: 0, collective: None, written_bytes: 0 }; 3];
        let before = problems.total();
        if fields[1].parse::<i64>().is_err() {
            problems.add(
                place("dep"),
                format!("'{}' is not a row number", fields[1]),
                "write a row number, or -1 for no dependency",
            );
        }
        for (cell, (column, field)) in
            cells.iter_mut().zip(Column::ALL.into_iter().zip(fields[2..].chunks(3)))
        {
            let name = |what: &str| place(&format!("{}_{what}", column.name()));
            match number::duration(field[0], MAX_NS) {
                Ok(ns) => cell.ns = ns.round() as u64,
                Err(wrong) => problems.add(
                    name("ns"),
                    format!("'{}' {wrong}", field[0]),
                    "write a time in ns, at most one day",
                ),
            }
            match parse_collective(field[1]) {
                Ok(collective) => cell.collective = collective,
                Err(remedy) => {
                    problems.add(name("comm"), format!("'{}' is not a collective", field[1]), remedy);
                }
            }
            match number::bytes(field[2]) {
                Ok(bytes) => cell.written_bytes = bytes,
                Err(wrong) => problems.add(
                    name("bytes"),
                    format!("'{}' {wrong}", field[2]),
                    "write a whole number of bytes, at most 1e13",
                ),
            }
        }
        if let Err(wrong) = number::duration(fields[11], MAX_NS) {
            problems.add(
                place("update_ns"),
                format!("'{}' {wrong}", fields[11]),
                "write a time in ns, at most one day",
            );
        }
        if customized && !crate::detect::SIMAI_POLICIES.contains(&fields[12]) {
            problems.add(
                place("policy"),
                format!("'{}' is not a parallelism policy", fields[12]),
                suggestion(fields[12], &crate::detect::SIMAI_POLICIES),
            );
        }
        if fields[0].len() > MAX_NAME_BYTES {
            let message = format!("the name of the layer has {} bytes", fields[0].len());
            problems.add(place("name"), message, format!("use at most {MAX_NAME_BYTES}"));
        }
        if problems.total() == before {
            let name = self.names.index(fields[0]);
            self.rows.push(SimaiRow { name, cells });
        }
    }
}

/// Reads the name of a collective; the error is the remedy.
fn parse_collective(token: &str) -> Result<Option<(CollectiveKind, Suffix)>, String> {
    let (stem, suffix) = if let Some(stem) = token.strip_suffix("_DP_EP") {
        (stem, Suffix::DpEp)
    } else if let Some(stem) = token.strip_suffix("_EP") {
        (stem, Suffix::Ep)
    } else {
        (token, Suffix::Plain)
    };
    if stem == "NONE" {
        return Ok(None);
    }
    if let Some((_, kind)) = CollectiveKind::SIMAI.iter().find(|(name, _)| *name == stem) {
        return Ok(Some((*kind, suffix)));
    }
    let names: Vec<&str> =
        std::iter::once("NONE").chain(CollectiveKind::SIMAI.map(|(name, _)| name)).collect();
    Err(format!("{} (the suffix _EP or _DP_EP may follow)", suggestion(stem, &names)))
}

#[cfg(test)]
mod tests;
