//! Row of a sweep for one cell: a line of a CSV or JSON Lines table, with the same columns in the same order for every
//! cell of a sweep.

use super::{Cell, Sweep};
use crate::catalogue;
use lightbay_core::cells;
use lightbay_core::event::{Done, EndStatus, HotStartFate};
use lightbay_core::param::ParamValue;
use lightbay_core::plan::Limit;
use lightbay_core::problem::{Problem, printable};
use lightbay_core::read::{brief, parse_json};
use lightbay_core::standing::KnownBound;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Columns that every table has, in addition to the columns of axes and figures.
pub(super) const FIXED: [&str; 20] = [
    "sweep",
    "cell",
    "cells",
    "scenario",
    "scenario_sha256",
    "method",
    "status",
    "limit",
    "objective",
    "value",
    "bound",
    "gap",
    "bound_trust",
    "bound_covers",
    "started_from",
    "hot_start",
    "reproducible",
    "work",
    "elapsed_s",
    "reason",
];

/// Result of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Number of the cell.
    pub cell: usize,
    /// Name of the cell's scenario.
    pub scenario: String,
    /// SHA-256 of the cell's scenario; empty if the scenario is not valid.
    pub scenario_sha256: String,
    /// Values of the axes at the cell.
    pub values: Vec<ParamValue>,
    /// Method of the cell.
    pub method: String,
    /// Status with which the run of the cell ended.
    pub status: EndStatus,
    /// Limit that ended the run.
    pub limit: Option<Limit>,
    /// Objective of the checked plan; `None` if the cell has no plan.
    pub value: Option<f64>,
    /// Bound that no plan can beat.
    pub bound: Option<f64>,
    /// |value - bound| / |value|.
    pub gap: Option<f64>,
    /// `verified` or `claimed`, with `for some plans` if the bound does not cover every plan; empty without a bound.
    #[serde(default)]
    pub bound_trust: String,
    /// Plans that the bound covers, in words; empty if it covers every plan.
    #[serde(default)]
    pub bound_covers: String,
    /// Figures of the checked plan.
    pub metrics: BTreeMap<String, f64>,
    /// The cell from whose plan the run started.
    pub started_from: Option<usize>,
    /// Result of the hot start, if the method reported it.
    pub hot_start: Option<HotStartFate>,
    /// `true` if solving the cell again gives the same plan; `None` without a plan.
    pub reproducible: Option<bool>,
    /// Units of work done.
    pub work: u64,
    /// Seconds that the run took.
    pub elapsed_s: f64,
    /// Reason for a missing plan, or for the early end of the run; empty if neither applies.
    pub reason: String,
}

impl SweepRow {
    fn new(sweep: &Sweep, cell: &Cell, status: EndStatus) -> Self {
        Self {
            cell: cell.number,
            scenario: sweep.scenario_names().nth(cell.scenario).unwrap_or_default().to_owned(),
            scenario_sha256: String::new(),
            values: sweep.values_at(cell).cloned().collect(),
            method: sweep.method_names().nth(cell.method).unwrap_or_default().to_owned(),
            status,
            limit: None,
            value: None,
            bound: None,
            gap: None,
            bound_trust: String::new(),
            bound_covers: String::new(),
            metrics: BTreeMap::new(),
            started_from: None,
            hot_start: None,
            reproducible: None,
            work: 0,
            elapsed_s: 0.0,
            reason: String::new(),
        }
    }

    /// Makes the row of a cell whose run could not start.
    pub(super) fn refused(sweep: &Sweep, cell: &Cell, why: &impl std::fmt::Display) -> Self {
        Self { reason: one_line(&why.to_string()), ..Self::new(sweep, cell, EndStatus::Invalid) }
    }

    /// Makes the row of a cell whose run ended.
    pub(super) fn ended(sweep: &Sweep, cell: &Cell, done: &Done, elapsed_s: f64) -> Self {
        let header = done.plan.as_ref().map(|plan| plan.header());
        let value = header.as_ref().map(|header| header.objective.value);
        // The bound that other commands show too: verified before claimed, on all plans before a class of plans.
        let standing = done.plan.as_ref().map(|plan| plan.standing());
        let known = standing.as_ref().and_then(|standing| standing.leading());
        let bound = if standing.is_some() { known.map(|known| known.value) } else { done.bound };
        // Without a plan, no checker has seen the bound.
        let trust = known.map_or(if bound.is_some() { "claimed" } else { "" }, KnownBound::word);
        let covers = known.filter(|known| !known.is_on_all).and_then(|known| known.covers.clone());
        let mut reason = done.message.clone();
        for violation in &done.violations {
            reason.push_str("; ");
            reason.push_str(&violation.to_string());
        }
        Self {
            limit: done.limit,
            value,
            bound,
            gap: known.map(|known| known.gap).filter(|gap| gap.is_finite()),
            bound_trust: trust.to_owned(),
            bound_covers: covers.unwrap_or_default(),
            reproducible: header.as_ref().map(|header| header.provenance.reproducible),
            metrics: header.map(|header| header.metrics).unwrap_or_default(),
            work: done.work,
            elapsed_s,
            reason: one_line(&reason),
            ..Self::new(sweep, cell, done.status)
        }
    }

    /// Returns `true` if the cell has no plan, or if the status of its run means failure.
    pub const fn failed(&self) -> bool {
        self.value.is_none() || fails(self.status)
    }

    fn cells(&self, sweep: &Sweep) -> Vec<Value> {
        let mut cells = vec![
            json!(sweep.id()),
            json!(self.cell),
            json!(sweep.len()),
            json!(self.scenario),
            json!(self.scenario_sha256),
        ];
        cells.extend(self.values.iter().map(|value| json!(value)));
        cells.extend([
            json!(self.method),
            json!(self.status),
            json!(self.limit),
            json!(sweep.objective().name),
            json!(self.value),
            json!(self.bound),
            json!(self.gap),
            json!(self.bound_trust),
            json!(self.bound_covers),
        ]);
        let figures = catalogue::metrics(sweep.kind().name).iter().filter(|metric| metric.is_carried());
        cells.extend(figures.map(|metric| json!(self.metrics.get(metric.name))));
        cells.extend([
            json!(self.started_from),
            json!(self.hot_start),
            json!(self.reproducible),
            json!(self.work),
            json!(self.elapsed_s),
            json!(self.reason),
        ]);
        cells
    }

    /// Returns the row as a JSON object with the columns of the table as keys.
    pub fn to_value(&self, sweep: &Sweep) -> Value {
        Value::Object(sweep.columns().into_iter().zip(self.cells(sweep)).collect::<Map<_, _>>())
    }
}

/// Returns `true` if a run with this status did not do what was requested.
const fn fails(status: EndStatus) -> bool {
    matches!(
        status,
        EndStatus::NoPlan
            | EndStatus::Infeasible
            | EndStatus::Unbounded
            | EndStatus::Invalid
            | EndStatus::Failed
            | EndStatus::Panicked
    )
}

fn one_line(text: &str) -> String {
    printable(&text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; "))
}

impl Sweep {
    /// Returns the names of the columns of the table: the inputs, the axes, the result of the run, the figures, and
    /// data about the run such as its duration. A figure with the name of an axis is called `plan.NAME`.
    pub fn columns(&self) -> Vec<String> {
        let (asked, rest) = FIXED.split_at(5);
        let (ended, origin) = rest.split_at(9);
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let axes: Vec<String> = self.axes().iter().map(super::Axis::label).collect();
        // A parameter and a figure may have the same name, such as a limit and the value that a plan reaches.
        let column = |name: &str| {
            if axes.iter().any(|axis| axis == name) { format!("plan.{name}") } else { name.to_owned() }
        };
        let figures = catalogue::metrics(self.kind().name)
            .iter()
            .filter(|metric| metric.is_carried())
            .map(|metric| column(metric.name))
            .collect();
        [owned(asked), axes, owned(ended), figures, owned(origin)].concat()
    }
}

/// A row that was read from a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundRow {
    /// Number of the cell.
    pub cell: usize,
    /// Status with which the run of the cell ended.
    pub status: EndStatus,
    /// `true` if there is a plan.
    pub has_plan: bool,
}

impl FoundRow {
    /// Returns `true` if the cell has no plan, or if the status of its run means failure.
    pub const fn failed(&self) -> bool {
        !self.has_plan || fails(self.status)
    }
}

/// Format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// Comma-separated values with a header line.
    Csv,
    /// One JSON object per line.
    JsonLines,
}

impl TableForm {
    /// Returns the text before the first row, line end included.
    pub fn head(self, sweep: &Sweep) -> String {
        match self {
            Self::Csv => csv_line(sweep.columns().iter().map(|name| field(&json!(name)))),
            Self::JsonLines => String::new(),
        }
    }

    /// Returns a row as text, line end included.
    pub fn line(self, sweep: &Sweep, row: &SweepRow) -> String {
        match self {
            Self::Csv => csv_line(row.cells(sweep).iter().map(field)),
            Self::JsonLines => format!("{}\n", row.to_value(sweep)),
        }
    }

    /// Reads the rows of a table written earlier. An incomplete last line is ignored; repeated headers, as in
    /// concatenated tables, are allowed.
    ///
    /// # Errors
    /// The first line that is not a row of this sweep.
    pub fn read(self, sweep: &Sweep, text: &str) -> Result<Vec<FoundRow>, Problem> {
        let (id, head) = (sweep.id(), self.head(sweep));
        let columns = sweep.columns();
        let mut rows = Vec::new();
        for (at, line) in text.split_inclusive('\n').filter(|line| line.ends_with('\n')).enumerate() {
            let place = format!("line {}", at + 1);
            if self == Self::Csv && line == head {
                continue;
            }
            let remedy =
                "repeat the command that wrote the table, choose another name, or start over with --force";
            let other = |message: String| Problem::new(place.clone(), message, remedy);
            if self == Self::Csv && at == 0 {
                return Err(other("has the columns of another sweep".to_owned()));
            }
            let found = self.fields(&columns, line).map_err(other)?;
            let get = |name: &str| found.get(name).map_or("", String::as_str);
            if get("sweep") != id {
                return Err(other(format!(
                    "belongs to sweep '{}', but this sweep is '{id}'",
                    printable(get("sweep"))
                )));
            }
            let cell = get("cell").parse().ok().filter(|cell| (1..=sweep.len()).contains(cell));
            let Some(cell) = cell else {
                return Err(other(format!("has the unknown cell '{}'", printable(get("cell")))));
            };
            let Ok(status) = serde_json::from_value(json!(get("status"))) else {
                return Err(other(format!("has the unknown status '{}'", printable(get("status")))));
            };
            rows.push(FoundRow { cell, status, has_plan: !get("value").is_empty() });
        }
        Ok(rows)
    }
}

impl TableForm {
    /// Splits a row into its fields, by the names of their columns.
    ///
    /// # Errors
    /// The reason that the line is not a row.
    pub fn fields(self, columns: &[String], line: &str) -> Result<BTreeMap<String, String>, String> {
        match self {
            Self::Csv => {
                let fields = cells::fields(line.trim_end());
                if fields.len() != columns.len() {
                    return Err(format!("has {} fields, but must have {}", fields.len(), columns.len()));
                }
                Ok(columns.iter().cloned().zip(fields.into_iter().map(Cow::into_owned)).collect())
            }
            Self::JsonLines => match parse_json(line.as_bytes()) {
                Ok(Value::Object(object)) => {
                    Ok(object.iter().map(|(name, value)| (name.clone(), field(value))).collect())
                }
                Ok(other) => Err(format!("is not a row: {}", brief(&other))),
                Err(problem) => Err(format!("is not a row: {} {}", problem.path, problem.message)),
            },
        }
    }

    /// Returns the text of a table without the rows of some cells.
    ///
    /// # Errors
    /// The first line that is not a row of this sweep.
    pub fn without(self, sweep: &Sweep, text: &str, cells: &BTreeSet<usize>) -> Result<String, Problem> {
        let (head, rows) = (self.head(sweep), self.read(sweep, text)?);
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n') && *line != head);
        let kept = lines.zip(&rows).filter(|(_, row)| !cells.contains(&row.cell)).map(|(line, _)| line);
        Ok(std::iter::once(head.as_str()).chain(kept).collect())
    }
}

/// Converts a value to a field of a CSV line, not yet quoted: lists as the user types them, an empty field for a
/// missing value.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        // A spreadsheet must not interpret text from a file as a formula.
        Value::String(text) if text.starts_with(['=', '+', '-', '@']) => printable(&format!("'{text}")),
        Value::String(text) => printable(text),
        Value::Array(entries) => entries.iter().map(field).collect::<Vec<_>>().join(","),
        Value::Number(number) => {
            // 400, not 400.0.
            number
                .as_f64()
                .filter(|_| number.is_f64())
                .map_or_else(|| number.to_string(), |value| value.to_string())
        }
        other => other.to_string(),
    }
}

fn csv_line(fields: impl Iterator<Item = String>) -> String {
    let mut line = fields.map(|text| cells::quoted(&text).into_owned()).collect::<Vec<_>>().join(",");
    line.push('\n');
    line
}
