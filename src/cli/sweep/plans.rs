//! Plans of a sweep on disk: the plans of all cells if the user named a folder, else only the plans from which the next
//! cells start.

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::solve::rescued;
use crate::cli::source::Source;
use lightbay_core::checked::SharedPlan;
use lightbay_core::problem::{Problem, printable};
use lightbay_engines::sweep::{FoundRow, Starts, Sweep, SweepRow};
use lightbay_sessions::{Overwrite, atomic_write, remove_abandoned};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Start and end of the file name of a cell's plan.
const PREFIX: &str = "cell-";
const SUFFIX: &str = ".json";

fn cell_of(name: &str) -> Option<usize> {
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

/// Plans of the cells of a sweep.
#[derive(Debug)]
pub struct Plans {
    folder: Option<PathBuf>,
    /// `true` if the user named the folder, so that all plans are kept.
    all: bool,
    overwrite: Overwrite,
    /// For each line (a chain of cells, each of which starts from the plan of the cell before it): the last cell that
    /// has a plan. The key is the number of the first cell of the line.
    last: BTreeMap<usize, usize>,
    /// Numbers of cells whose plans [`Self::tidy`] deletes, because no further cell starts from these plans.
    outdated: Vec<usize>,
}

impl Plans {
    /// Uses the folder `asked`, else a folder next to the table; without a folder and a table file, no plans are
    /// stored.
    pub fn new(asked: Option<&Path>, table: Option<&Path>, overwrite: bool) -> Self {
        let beside = table.filter(|path| path.as_os_str() != "-").map(|path| {
            let mut name = OsString::from(path);
            name.push(".resume");
            PathBuf::from(name)
        });
        Self {
            folder: asked.map(Path::to_owned).or(beside),
            all: asked.is_some(),
            overwrite: if overwrite { Overwrite::Allow } else { Overwrite::Refuse },
            last: BTreeMap::new(),
            outdated: Vec::new(),
        }
    }

    fn path(&self, cell: usize) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(format!("{PREFIX}{cell}{SUFFIX}")))
    }

    /// Returns the path of the best plan of a cell that a signal interrupted.
    fn unfinished(&self, cell: usize) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(format!("unfinished-{cell}{SUFFIX}")))
    }

    /// Saves the best plan of a cell that a signal interrupted, and returns the path: in the folder of the plans, else in
    /// the state folder; `None` if neither can be written.
    pub fn rescue(&self, cell: usize, plan: &SharedPlan, state: Option<&Path>) -> Option<String> {
        let in_folder = || {
            let path = self.unfinished(cell)?;
            make(self.folder.as_ref()?).ok()?;
            atomic_write(&path, &plan.to_json().ok()?, Overwrite::Allow).ok()?;
            Some(printable(&path.to_string_lossy()))
        };
        in_folder().or_else(|| rescued(plan, state?))
    }

    /// Makes the requested folder, and checks whether plans would be overwritten.
    ///
    /// # Errors
    /// A plan that would be overwritten, or an error of the system.
    pub fn prepare(&self, todo: &[usize]) -> Result<(), Failure> {
        let Some(folder) = self.folder.as_ref().filter(|_| self.all) else { return Ok(()) };
        make(folder)?;
        if self.overwrite == Overwrite::Allow {
            return Ok(());
        }
        match todo.iter().filter_map(|cell| self.path(*cell)).find(|path| path.exists()) {
            None => Ok(()),
            Some(path) => {
                let name = printable(&path.to_string_lossy());
                let remedy = "name another folder, or overwrite the plan with --force";
                Err(Failure::input(name, "exists already", remedy))
            }
        }
    }

    /// Returns the plans of finished cells from which the remaining cells start. A missing or unsuitable plan is
    /// reported, and the next cell of its line is then solved without a plan to start from.
    pub fn starts(
        &mut self,
        sweep: &Sweep,
        found: &[FoundRow],
        todo: &[usize],
        console: &mut Console,
    ) -> Starts {
        let open: BTreeSet<usize> = todo.iter().map(|cell| sweep.line(&sweep.cell(*cell))).collect();
        for row in found.iter().filter(|row| row.has_plan) {
            let line = sweep.line(&sweep.cell(row.cell));
            if open.contains(&line) {
                let last = self.last.entry(line).or_insert(row.cell);
                *last = row.cell.max(*last);
            }
        }
        let mut starts = Starts::new();
        for (line, cell) in self.last.clone() {
            let Some(path) = self.path(cell) else { continue };
            match read(sweep, cell, &path, console) {
                Ok(plan) => {
                    starts.insert(line, (cell, plan));
                }
                Err(why) => console.warn(&format!(
                    "the plan of cell {cell} cannot be used, so its neighbour starts without it: {}",
                    printable(&why)
                )),
            }
        }
        starts
    }

    /// Removes leftovers of a killed sweep: unfinished files and, unless the user named the folder, plans from which no
    /// cell starts. Call this function only while this process has the table open, because another sweep may be using
    /// the files.
    pub fn clear_litter(&self) {
        let Some(folder) = &self.folder else { return };
        remove_abandoned(folder);
        if self.all {
            return;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let cell = entry.file_name().to_str().and_then(cell_of);
            if cell.is_some_and(|cell| !self.last.values().any(|wanted| *wanted == cell)) {
                let _ = fs::remove_file(entry.path());
            }
        }
        if self.last.is_empty() {
            self.finish();
        }
    }

    /// Saves the plan of a cell before its row is written, if the plan is needed.
    ///
    /// # Errors
    /// Returns the error of the system if the plan cannot be written.
    pub fn keep(&mut self, sweep: &Sweep, row: &SweepRow, plan: Option<&SharedPlan>) -> Result<(), Failure> {
        if let Some(path) = self.unfinished(row.cell) {
            let _ = fs::remove_file(path);
        }
        let cell = sweep.cell(row.cell);
        let (line, ends) = (sweep.line(&cell), sweep.ends_line(&cell));
        if let Some(plan) = plan
            && let Some(path) = self.path(row.cell)
            && (self.all || !ends)
        {
            if !self.all
                && let Some(folder) = &self.folder
            {
                make(folder)?;
            }
            // Files in the folder next to the table belong to the sweep.
            let overwrite = if self.all { self.overwrite } else { Overwrite::Allow };
            atomic_write(&path, &plan.to_json()?, overwrite)?;
            self.outdated.extend(self.last.insert(line, row.cell));
        }
        if ends {
            self.outdated.extend(self.last.remove(&line));
        }
        Ok(())
    }

    /// Removes plans from which no further cell starts, after the row was written.
    pub fn tidy(&mut self) {
        for cell in std::mem::take(&mut self.outdated) {
            self.discard(cell);
        }
    }

    /// Removes a plan from the folder next to the table. A plan that cannot be removed is later overwritten or ignored.
    fn discard(&self, cell: usize) {
        if let Some(path) = self.path(cell).filter(|_| !self.all) {
            let _ = fs::remove_file(path);
        }
    }

    /// Removes the folder next to the table, after the table is complete.
    pub fn finish(&self) {
        if let Some(folder) = self.folder.as_ref().filter(|_| !self.all) {
            // The folder is missing if no plan was reused, and it stays if it contains other files.
            let _ = fs::remove_dir(folder);
        }
    }
}

fn make(folder: &Path) -> Result<(), Problem> {
    fs::create_dir_all(folder).map_err(|error| {
        let name = printable(&folder.to_string_lossy());
        Problem::new(name, format!("cannot be created: {error}"), "choose another folder")
    })
}

fn read(sweep: &Sweep, number: usize, path: &Path, console: &Console) -> Result<SharedPlan, String> {
    let plan = Source::File(path.to_owned()).plan(console).map_err(|problems| problems.to_string())?;
    let cell = sweep.cell(number);
    let expected = sweep.scenario(&cell).ok().and_then(|scenario| scenario.sha256().ok());
    let same = expected.is_some_and(|sha256| plan.scenario().sha256().is_ok_and(|found| found == sha256));
    let method = sweep.method_names().nth(cell.method).unwrap_or_default();
    if same && plan.header().method == method {
        Ok(plan.shared())
    } else {
        Err(format!("{} is a plan of another scenario or method", path.to_string_lossy()))
    }
}
