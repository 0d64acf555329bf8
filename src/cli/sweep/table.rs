//! Targets of rows: a file that grows by complete lines, standard output, or none.

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::target::{FileTarget, folder_of};
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_engines::sweep::{FoundRow, Sweep, SweepRow, TableForm};
use lightbay_sessions::{LineFile, Overwrite, remove_abandoned};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Target of rows.
#[derive(Debug)]
pub enum RowTarget {
    /// No target: rows are not written, because they are part of another output.
    Nowhere,
    /// Standard output, as CSV.
    Stdout,
    /// A file that is created after all other checks have passed.
    New(PathBuf, TableForm, Overwrite),
    /// A file that already has rows, to which further rows are added.
    Open(LineFile, TableForm),
}

impl RowTarget {
    /// Checks whether `path` can be written, and reads its rows if the sweep is to continue.
    ///
    /// # Errors
    /// Returns the reason that `path` cannot be written, or that the file is not a table of this sweep.
    pub fn prepare(
        path: Option<&Path>,
        sweep: &Sweep,
        resume: bool,
        retry_failed: bool,
        force: bool,
    ) -> Result<(Self, Vec<FoundRow>), Failure> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            if resume {
                let remedy = "name the table with -o";
                return Err(Failure::input("--resume", "cannot be used with standard output", remedy));
            }
            return Ok((Self::Stdout, Vec::new()));
        };
        let name = printable(&path.to_string_lossy());
        let form = form_of(path, &name)?;
        if resume && path.exists() {
            let (file, lines) = LineFile::open(path)?;
            remove_abandoned(folder_of(path));
            let text = String::from_utf8_lossy(&lines);
            let named = |problem| Problems::from(problem).named(&name);
            let found = form.read(sweep, &text).map_err(named)?;
            let failed: BTreeSet<usize> =
                found.iter().filter(|row| retry_failed && row.failed()).map(|row| row.cell).collect();
            if !failed.is_empty() {
                // The rows of failed cells leave the table before the cells get new rows.
                drop(file);
                let kept = form.without(sweep, &text, &failed).map_err(named)?;
                let file = LineFile::create(path, kept.as_bytes(), Overwrite::Allow)?;
                let found = found.into_iter().filter(|row| !failed.contains(&row.cell)).collect();
                return Ok((Self::Open(file, form), found));
            }
            return Ok((Self::Open(file, form), found));
        }
        if path.is_file() && !force {
            let remedy = "continue with --resume, choose another name, or overwrite it with --force";
            return Err(Failure::input(name, "exists already", remedy));
        }
        FileTarget::prepare(path, force)?;
        let overwrite = if force { Overwrite::Allow } else { Overwrite::Refuse };
        Ok((Self::New(path.to_owned(), form, overwrite), Vec::new()))
    }

    /// Writes the header of the table.
    ///
    /// # Errors
    /// Returns the error of the system if the header cannot be written.
    pub fn begin(&mut self, sweep: &Sweep, console: &mut Console) -> Result<(), Failure> {
        match self {
            Self::Nowhere | Self::Open(..) => {}
            Self::Stdout => {
                console.out().write_all(TableForm::Csv.head(sweep).as_bytes())?;
                console.flush()?;
            }
            Self::New(path, form, overwrite) => {
                let file = LineFile::create(path, form.head(sweep).as_bytes(), *overwrite)?;
                *self = Self::Open(file, *form);
            }
        }
        Ok(())
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Returns the error of the system if the row cannot be written.
    pub fn add(&mut self, sweep: &Sweep, row: &SweepRow, console: &mut Console) -> Result<(), Failure> {
        match self {
            Self::Nowhere | Self::New(..) => Ok(()),
            Self::Stdout => {
                console.out().write_all(TableForm::Csv.line(sweep, row).as_bytes())?;
                Ok(console.flush()?)
            }
            Self::Open(file, form) => Ok(file.append(form.line(sweep, row).as_bytes())?),
        }
    }
}

/// Returns the format of a table, which follows from its name.
///
/// # Errors
/// A name with another ending.
pub fn form_of(path: &Path, name: &str) -> Result<TableForm, Problem> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("csv") => Ok(TableForm::Csv),
        Some("jsonl" | "ndjson") => Ok(TableForm::JsonLines),
        _ => Err(Problem::new(name, "does not end with .csv or .jsonl", "choose a name that does")),
    }
}
