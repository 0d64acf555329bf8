//! `lightbay sweep merge` and `lightbay sweep status`: the tables of the parts of a sweep as one table, and how far they are.

use super::table::form_of;
use crate::cli::console::Console;
use crate::cli::documents::SweepStatusDocument;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::target::Target;
use lightbay_core::cells;
use lightbay_core::problem::{Problem, counted, printable};
use lightbay_engines::sweep::TableForm;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A row of a table, as far as merging needs it.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    cell: usize,
    status: String,
    has_plan: bool,
    gap: f64,
    elapsed_s: f64,
    line: String,
}

impl Row {
    /// Order in which rows of one cell are preferred: with a plan, smaller gap, shorter run, then the text, so that the
    /// order of the tables has no effect.
    fn rank(&self) -> (bool, f64, f64, &str) {
        (!self.has_plan, self.gap, self.elapsed_s, &self.line)
    }

    fn is_preferred_to(&self, other: &Self) -> bool {
        let (a, b) = (self.rank(), other.rank());
        let order = a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2)).then(a.3.cmp(b.3));
        order.is_lt()
    }
}

/// Rows of all tables of one sweep.
struct Merged {
    form: TableForm,
    head: String,
    sweep: String,
    cells: usize,
    rows: BTreeMap<usize, Row>,
    /// Cells that several tables have.
    repeated: Vec<usize>,
}

/// Writes one table with the rows of all tables in the order of the cells.
pub fn merge(
    tables: &[PathBuf],
    output: Option<&Path>,
    force: bool,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let merged = read(tables)?;
    if let Some(path) = output.filter(|path| path.as_os_str() != "-") {
        let name = printable(&path.to_string_lossy());
        if form_of(path, &name)? != merged.form {
            return Err(Failure::input(
                name,
                "has another format than the tables",
                "use the ending of the tables",
            ));
        }
    }
    let mut target = Target::prepare(output, force, console)?;
    let mut text = merged.head.clone();
    text.extend(merged.rows.values().map(|row| row.line.as_str()));
    target.write(text.as_bytes(), console)?;
    if !merged.repeated.is_empty() {
        console.warn(&format!(
            "{} in several tables; for each cell, a row with a plan is kept, among these the row with the smallest gap, and at \
             equal gaps the row with the shortest run",
            listed("cell", "cells", &merged.repeated)
        ));
    }
    let missing = merged.missing();
    if !missing.is_empty() {
        console.warn(&format!(
            "{} missing; `lightbay sweep ... --resume` solves the rest",
            listed("cell", "cells", &missing)
        ));
    }
    Ok(Exit::Done)
}

/// Prints how many cells of a sweep are done, failed and missing.
pub fn status(tables: &[PathBuf], json: bool, console: &mut Console) -> Result<Exit, Failure> {
    use std::io::Write as _;
    let merged = read(tables)?;
    let mut by_status: BTreeMap<String, usize> = BTreeMap::new();
    for row in merged.rows.values() {
        *by_status.entry(row.status.clone()).or_default() += 1;
    }
    let failed: Vec<usize> = merged.rows.values().filter(|row| !row.has_plan).map(|row| row.cell).collect();
    let missing = merged.missing();
    let elapsed_s = merged.rows.values().map(|row| row.elapsed_s).sum();
    let out = console.out();
    if json {
        console.write_document(&SweepStatusDocument {
            sweep: merged.sweep,
            cells: merged.cells,
            done: merged.rows.len(),
            by_status,
            without_plan: failed,
            missing,
            elapsed_s,
        })?;
        return Ok(Exit::Done);
    }
    writeln!(out, "{} of {}", merged.rows.len(), counted(merged.cells as u64, "cell", "cells"))?;
    for (status, count) in &by_status {
        writeln!(out, "  {:<14}{count}", printable(&status.replace('_', " ")))?;
    }
    if !failed.is_empty() {
        writeln!(
            out,
            "{} without a plan; to solve again, repeat the sweep with --resume --retry-failed",
            listed("cell", "cells", &failed)
        )?;
    }
    if !missing.is_empty() {
        writeln!(
            out,
            "{} missing; to solve, repeat the sweep with --resume",
            listed("cell", "cells", &missing)
        )?;
    }
    writeln!(out, "{} of solving", lightbay_core::quantity::elapsed(elapsed_s))?;
    Ok(Exit::Done)
}

impl Merged {
    fn missing(&self) -> Vec<usize> {
        (1..=self.cells).filter(|cell| !self.rows.contains_key(cell)).collect()
    }
}

/// Lists numbers as ranges: `cells 1 to 3, 7 are`.
fn listed(one: &str, several: &str, numbers: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let words: Vec<String> = ranges
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") })
        .collect();
    match numbers {
        [_] => format!("{one} {} is", words.join(", ")),
        _ => format!("{several} {} are", words.join(", ")),
    }
}

fn read(tables: &[PathBuf]) -> Result<Merged, Failure> {
    let mut merged: Option<Merged> = None;
    for path in tables {
        let name = printable(&path.to_string_lossy());
        let form = form_of(path, &name)?;
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::input(name.clone(), format!("cannot be read: {error}"), "check the name")
        })?;
        add(&mut merged, form, &text).map_err(|problem| {
            Failure::from(Problem { path: format!("{name}: {}", problem.path), ..problem })
        })?;
    }
    merged.ok_or_else(|| Failure::input("", "the tables have no rows", "wait for the first cells"))
}

/// Adds the rows of a table.
fn add(merged: &mut Option<Merged>, form: TableForm, text: &str) -> Result<(), Problem> {
    let mut columns: Vec<String> = Vec::new();
    let mut head = String::new();
    // A running command may be writing the last line.
    for (at, line) in text.split_inclusive('\n').filter(|line| line.ends_with('\n')).enumerate() {
        let refuse = |message: &str| {
            Problem::new(format!("line {}", at + 1), message, "give tables that `lightbay sweep` wrote")
        };
        if form == TableForm::Csv && (at == 0 || line == head) {
            columns = cells::fields(line.trim_end()).into_iter().map(std::borrow::Cow::into_owned).collect();
            head = line.to_owned();
            if !["cell", "cells", "sweep"].iter().all(|name| columns.iter().any(|column| column == name)) {
                return Err(refuse("has no columns 'sweep', 'cell' and 'cells'"));
            }
            continue;
        }
        let fields = form.fields(&columns, line).map_err(|why| refuse(&why))?;
        let get = |name: &str| fields.get(name).map_or("", String::as_str);
        let number = |name: &str| get(name).parse::<usize>().ok();
        let (Some(cell), Some(cells)) = (number("cell"), number("cells")) else {
            return Err(refuse("has no whole numbers in the columns 'cell' and 'cells'"));
        };
        let row = Row {
            cell,
            status: get("status").to_owned(),
            has_plan: !get("value").is_empty(),
            gap: get("gap").parse().unwrap_or(f64::INFINITY),
            elapsed_s: get("elapsed_s").parse().unwrap_or(0.0),
            line: line.to_owned(),
        };
        let all = merged.get_or_insert_with(|| Merged {
            form,
            head: head.clone(),
            sweep: get("sweep").to_owned(),
            cells,
            rows: BTreeMap::new(),
            repeated: Vec::new(),
        });
        if all.form != form {
            return Err(refuse("is of another format than the first table"));
        }
        if (all.sweep.as_str(), all.cells, all.head.as_str()) != (get("sweep"), cells, head.as_str()) {
            return Err(refuse("belongs to another sweep than the first table"));
        }
        match all.rows.get(&cell) {
            Some(before) if *before != row => {
                all.repeated.push(cell);
                if row.is_preferred_to(before) {
                    all.rows.insert(cell, row);
                }
            }
            Some(_) => {}
            None => {
                all.rows.insert(cell, row);
            }
        }
    }
    if let Some(merged) = merged {
        merged.repeated.sort_unstable();
        merged.repeated.dedup();
    }
    Ok(())
}
