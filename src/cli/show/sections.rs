//! The sections of a scenario or plan of any kind as text and as JSON.

use crate::cli::failure::Failure;
use crate::cli::table::TextTable;
use lightbay_core::clock::Deadline;
use lightbay_core::problem::{Problems, nearest, printable};
use lightbay_core::report::section::SectionOf;
use lightbay_core::report::text::{Extent, Grid, grid, heading};
use lightbay_core::report::{Body, Report, Section, SectionInfo, Unavailable, json};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Minimum number of columns of the labels of figures.
const LABEL: usize = 16;

/// The sections of one scenario or plan.
pub struct Sections<'a> {
    kind: &'static str,
    infos: &'static [SectionInfo],
    report: Box<dyn Report + 'a>,
    is_plan: bool,
    thorough: bool,
}

impl<'a> Sections<'a> {
    /// Prepares the sections of a report.
    pub fn new(
        kind: &'static str,
        report: Result<Box<dyn Report + 'a>, Problems>,
        is_plan: bool,
        thorough: bool,
    ) -> Result<Self, Problems> {
        Ok(Self { kind, infos: lightbay_engines::sections(kind), report: report?, is_plan, thorough })
    }

    /// Returns the names of those sections of the scenario or plan that take longer than a second.
    pub fn slow(&self) -> Vec<&'static str> {
        self.of_subject().map(|info| info.name).filter(|name| self.report.is_slow(name)).collect()
    }

    fn of_subject(&self) -> impl Iterator<Item = &'static SectionInfo> {
        self.infos.iter().filter(|info| self.is_plan || info.of == SectionOf::Scenario)
    }

    /// Computes every section that an overview shows; `failed` receives a sentence on each section that could not be
    /// computed.
    fn overview(&self, failed: &mut Vec<String>) -> Vec<(&'static SectionInfo, Section)> {
        let quick = |info: &&SectionInfo| self.thorough || !self.report.is_slow(info.name);
        let mut all = Vec::new();
        for info in self.of_subject().filter(quick) {
            match self.report.section(info.name, Deadline::NEVER) {
                Ok(section) => all.push((info, section)),
                Err(Unavailable::Absent { .. }) => {}
                Err(why) => failed.push(format!("section {}: {why}", info.name)),
            }
        }
        all
    }

    /// Returns all sections as text, and sentences on the sections that could not be computed.
    pub fn text(&self) -> (String, Vec<String>) {
        let mut failed = Vec::new();
        let mut out = String::new();
        for (_, section) in self.overview(&mut failed) {
            write(&mut out, &section, Extent::Overview);
        }
        let slow = self.slow();
        if !slow.is_empty() && !self.thorough {
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "\nNot computed, because these sections take longer: {}. Use `--thorough`.",
                slow.join(", ")
            );
        }
        (out, failed)
    }

    /// Returns all sections by name, and sentences on the sections that could not be computed.
    pub fn json(&self) -> (Value, Vec<String>) {
        let mut failed = Vec::new();
        let object: Map<String, Value> = self
            .overview(&mut failed)
            .into_iter()
            .map(|(info, section)| (info.name.to_owned(), json::section(&section)))
            .collect();
        (Value::Object(object), failed)
    }

    /// Computes one section by name, or the details of one of its items.
    ///
    /// # Errors
    /// A name that the kind does not have, or a section that the scenario or plan does not have.
    pub fn one(&self, name: &str, item: Option<u32>) -> Result<Section, Failure> {
        let Some(info) = self.infos.iter().find(|info| info.name == name) else {
            let names: Vec<&str> = self.infos.iter().map(|info| info.name).collect();
            let what = format!("'{name}' is not a section of kind {}", self.kind);
            let near = nearest(name, names.iter().copied()).map(|near| format!("did you mean '{near}'? "));
            let remedy = format!("{}use one of {}", near.unwrap_or_default(), names.join(", "));
            return Err(Failure::input("--section", what, remedy));
        };
        if info.of == SectionOf::Plan && !self.is_plan {
            let what = format!("'{name}': this section needs a plan, and the file is a scenario");
            return Err(Failure::input("--section", what, "solve it and show the plan"));
        }
        let section = match item {
            Some(_) if info.item.is_empty() => {
                let what = format!("section '{name}' has no details for single rows");
                return Err(Failure::input("--item", what, "leave it out"));
            }
            Some(item) => self.report.detail(name, item, Deadline::NEVER),
            None => self.report.section(name, Deadline::NEVER),
        };
        section.map_err(|error| match error {
            Unavailable::Absent { because, remedy } if item.is_some() => {
                Failure::input("--item", because, remedy)
            }
            Unavailable::Absent { because, remedy } => {
                Failure::input("--section", format!("'{name}' is not available: {because}"), remedy)
            }
            why => Failure::input(
                "--section",
                format!("'{name}' could not be computed: {why}"),
                "run `lightbay check` on the plan",
            ),
        })
    }
}

/// Formats a whole section as text.
pub fn whole(section: &Section) -> String {
    let mut out = String::new();
    write(&mut out, section, Extent::All);
    out.trim_start_matches('\n').to_owned()
}

fn write(out: &mut String, section: &Section, extent: Extent) {
    let section = &section.clone().written();
    for (index, block) in section.blocks.iter().enumerate() {
        let grid = grid(&block.body, extent);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "\n{}", heading(section, block, &grid));
        if index == 0 {
            let sentence = section.sentence.to_string();
            for remark in Some(&sentence).filter(|said| !said.is_empty()).into_iter().chain(&section.remarks)
            {
                let _ = writeln!(out, "  {}", printable(remark));
            }
        }
        let is_facts = matches!(block.body, Body::Facts(_));
        let _ = write!(out, "{}", table(grid, is_facts));
    }
    if section.blocks.is_empty() {
        let _ = writeln!(out, "\n{}", printable(&section.title));
        for remark in &section.remarks {
            let _ = writeln!(out, "  {}", printable(remark));
        }
    }
}

/// Converts a grid to a table indented by two columns.
fn table(grid: Grid, is_facts: bool) -> TextTable {
    let indent = |text: String, right: bool| if right { format!(">  {text}") } else { format!("  {text}") };
    let heads: Vec<String> = grid
        .heads
        .into_iter()
        .zip(&grid.right)
        .enumerate()
        .map(|(column, (head, &right))| match (column, right) {
            (0, _) if head.is_empty() => head,
            (0, right) => indent(head, right),
            (_, true) => format!(">{head}"),
            (_, false) => head,
        })
        .collect();
    let mut table = TextTable::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    for mut row in grid.rows {
        if let Some(first) = row.first_mut() {
            *first = if is_facts { format!("  {first:<LABEL$}") } else { format!("  {first}") };
        }
        table.row(row);
    }
    table
}
