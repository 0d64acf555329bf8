//! Opens files: scenarios, plans, and files of other tools.

use crate::runtime::helpers::import;
use crate::runtime::open::{Bundle, Opener, Refused, lines};
use lightbay_core::kind::Depth;
use lightbay_engines::{AnyFile, FileSource, recognised};
use std::fs::File;
use std::path::Path;

impl Opener {
    /// Opens a scenario or plan file, or imports a file of another tool.
    pub(super) fn file(&self, path: &Path) -> Result<Bundle, Refused> {
        let name = path.display().to_string();
        let file =
            File::open(path).map_err(|error| vec![format!("{name}: {error}; check the name of the file")])?;
        let read = match lightbay_engines::read_file(file, &name) {
            Ok(read) => read,
            Err(problems) => return self.foreign(path, &name).unwrap_or_else(|| Err(lines(&problems))),
        };
        match read {
            AnyFile::Scenario(scenario) => Ok(self.scenario(scenario, &name, Vec::new())),
            AnyFile::Plan(file) => {
                let report = file.check(Depth::Usual);
                match report.plan {
                    Some(plan) => Ok(self.plan(plan, &name, Vec::new())),
                    None => Err(report.violations.iter().map(ToString::to_string).collect()),
                }
            }
        }
    }

    /// Imports a file of another tool; `None` if its content does not show its format.
    pub(super) fn foreign(&self, path: &Path, name: &str) -> Option<Result<Bundle, Refused>> {
        let file = path.to_owned();
        let source = FileSource::new(name.to_owned(), move || Ok(Box::new(File::open(&file)?)));
        let format = recognised(&[source]).ok()?;
        let imported = import(Some(format), &[path.to_owned()], &[]);
        let source = format!("import {format} {name}");
        Some(imported.map(|(_, product, notes)| self.product(product, &source, notes)))
    }
}
