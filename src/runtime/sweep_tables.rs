//! Tables that `lightbay sweep` wrote, and folders of such tables: read for the pane of sweeps.

use crate::app::sweeps::SweepFile;
use lightbay_core::cells;
use lightbay_core::problem::printable;
use lightbay_core::read::parse_json;
use lightbay_engines::sweep::TableForm;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Columns before and after the columns of the axes.
const BEFORE: [&str; 5] = ["sweep", "cell", "cells", "scenario", "scenario_sha256"];
const AFTER: &str = "method";

/// Largest table that is read, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Number of bytes at the beginning of a file that show whether it is a table.
const HEAD: u64 = 4096;

/// Reads a table, or the tables of a folder; `None` if the path is neither.
pub fn read(path: &Path) -> Option<Result<SweepFile, String>> {
    if !path.is_dir() {
        return form_of(path).map(|form| table(path, form));
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(path)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    let tables: Vec<(PathBuf, TableForm)> =
        files.into_iter().filter_map(|path| form_of(&path).map(|form| (path, form))).collect();
    if tables.is_empty() {
        return None;
    }
    let mut merged: Option<SweepFile> = None;
    for (path, form) in tables {
        let next = match table(&path, form) {
            Ok(next) => next,
            Err(problem) => return Some(Err(problem)),
        };
        match &mut merged {
            None => merged = Some(next),
            Some(all) if all.id == next.id => all.rows.extend(next.rows),
            Some(_) => {
                return Some(Err("the folder has tables of several sweeps; open one of them".to_owned()));
            }
        }
    }
    merged.map(Ok)
}

/// Returns the form of a file that is a table.
fn form_of(path: &Path) -> Option<TableForm> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let first = head.lines().next()?;
    if first.starts_with(&format!("{},", BEFORE.join(","))) {
        return Some(TableForm::Csv);
    }
    let keys = ["\"sweep\":", "\"cell\":", "\"scenario_sha256\":"];
    (first.starts_with('{') && keys.iter().all(|key| first.contains(key))).then_some(TableForm::JsonLines)
}

fn table(path: &Path, form: TableForm) -> Result<SweepFile, String> {
    let name = printable(&path.to_string_lossy());
    let size = std::fs::metadata(path).map_or(0, |found| found.len());
    if size > MOST_BYTES {
        return Err(format!("{name}: the table is too large to chart"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    parse(&text, form).map_err(|problem| format!("{name}: {problem}"))
}

fn parse(text: &str, form: TableForm) -> Result<SweepFile, String> {
    // A running command may be writing the last line.
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let first = lines.clone().next().ok_or("the table has no rows yet")?;
    let columns: Vec<String> = match form {
        TableForm::Csv => {
            lines.next();
            cells::fields(first.trim_end()).into_iter().map(std::borrow::Cow::into_owned).collect()
        }
        TableForm::JsonLines => match parse_json(first.as_bytes()) {
            Ok(Value::Object(row)) => row.keys().cloned().collect(),
            _ => return Err("line 1 is not a row".to_owned()),
        },
    };
    let place = |name: &str| columns.iter().position(|column| column == name);
    let axes = match (place(BEFORE[4]), place(AFTER)) {
        (Some(before), Some(after)) if before < after => columns[before + 1..after].to_vec(),
        _ => return Err("the columns are not those of `lightbay sweep`".to_owned()),
    };
    let mut rows: Vec<BTreeMap<String, String>> = Vec::new();
    for (at, line) in lines.enumerate() {
        if form == TableForm::Csv && line == first {
            continue;
        }
        rows.push(form.fields(&columns, line).map_err(|problem| format!("row {}: {problem}", at + 1))?);
    }
    let id = rows.first().and_then(|row| row.get("sweep")).cloned().ok_or("the table has no rows yet")?;
    Ok(SweepFile { id, axes, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD_LINE: &str = "sweep,cell,cells,scenario,scenario_sha256,seq,method,status,value\n";

    #[test]
    fn axes_are_the_columns_between_scenario_and_method() {
        let text = format!(
            "{HEAD_LINE}s1,1,2,job,ab,2048,auto,optimal,1.5\ns1,2,2,job,cd,4096,auto,optimal,2.5\ns1,"
        );
        let table = parse(&text, TableForm::Csv).unwrap();
        assert_eq!(
            (table.id.as_str(), table.axes.as_slice(), table.rows.len()),
            ("s1", &["seq".to_owned()][..], 2)
        );
        assert_eq!(table.rows[1]["value"], "2.5");
        assert!(parse(HEAD_LINE, TableForm::Csv).unwrap_err().contains("no rows yet"));
    }

    #[test]
    fn the_parts_in_a_folder_are_one_table_and_other_folders_are_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_none());
        std::fs::write(folder.path().join("notes.csv"), "a,b\n1,2\n").unwrap();
        assert!(read(folder.path()).is_none());
        for (part, cell) in [("p1.csv", 1), ("p2.csv", 2)] {
            let row = format!("s1,{cell},2,job,ab,2048,auto,optimal,1.5\n");
            std::fs::write(folder.path().join(part), format!("{HEAD_LINE}{row}")).unwrap();
        }
        assert_eq!(read(folder.path()).unwrap().unwrap().rows.len(), 2);
        let other = format!("{HEAD_LINE}s2,1,2,job,ab,2048,auto,optimal,1.5\n");
        std::fs::write(folder.path().join("p3.csv"), other).unwrap();
        assert!(read(folder.path()).unwrap().unwrap_err().contains("several sweeps"));
    }
}
