//! Formats of the files that kinds write and read: descriptions of the formats, their inputs and their outputs.

use crate::checked::Checked;
use crate::json::WriteError;
use crate::kind::{Candidate, Kind};
use crate::param::{ParamInfo, ParamValue, Params, Setting};
use crate::problem::{Problem, Problems, suggestion};
use crate::scenario::{Assumed, Scenario};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;

mod source;

pub use source::FileSource;

/// Name of the format that writes a scenario, or the scenario of a plan, in full: instead of the parameters of a
/// generator (such as a random family and its seed), it lists the generated parts (such as every circuit).
pub const INSTANCE: &str = "instance";

/// Inputs that an exporter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubjectSort {
    /// The exporter accepts only scenarios.
    Scenario,
    /// The exporter accepts only plans.
    Plan,
    /// The exporter accepts scenarios and plans.
    Either,
}

/// The second subject that a format accepts: another scenario or plan of the same kind, such as the installed plan from
/// which the exported commands start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SecondSubject {
    /// Whether the second subject may be a scenario, a plan or either.
    pub of: SubjectSort,
    /// Relation to the exported scenario or plan, in a few words.
    pub help: &'static str,
    /// Parameter that the second subject replaces; only one of the two can be given.
    pub replaces: Option<&'static str>,
}

/// A format that can be written or read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FormatInfo {
    /// Name of the format, as written after `--to` or `import`.
    pub name: &'static str,
    /// Content of the file and the programs that read it, in one sentence.
    pub help: &'static str,
    /// Subjects that an exporter writes, or that an importer produces: scenarios, plans or both.
    pub of: SubjectSort,
    /// Omitted parts: for exporters, the parts of the scenario or plan that the file does not contain; for importers,
    /// the parts of the file that the scenario or plan does not contain; empty if everything is preserved.
    pub leaves_out: &'static [&'static str],
    /// The second subject that the format accepts (exporters); `null` for most.
    pub against: Option<SecondSubject>,
    /// Default ending of file names, without the dot.
    pub extension: &'static str,
    /// If true, the exporter writes several files into a folder, unless a parameter selects one of them.
    pub folder: bool,
    /// The importer reads its files as [`FileSource`]s, so their content need not fit in memory.
    #[serde(skip)]
    pub streams: bool,
    /// Its parameters.
    pub params: Vec<ParamInfo>,
}

impl FormatInfo {
    /// Describes a format without parameters that omits nothing, has no second subject and writes one file.
    pub const fn new(
        name: &'static str,
        help: &'static str,
        of: SubjectSort,
        extension: &'static str,
    ) -> Self {
        Self {
            name,
            help,
            of,
            leaves_out: &[],
            against: None,
            extension,
            folder: false,
            streams: false,
            params: Vec::new(),
        }
    }

    /// Sets the parts that the format leaves out.
    #[must_use]
    pub const fn leaving_out(mut self, parts: &'static [&'static str]) -> Self {
        self.leaves_out = parts;
        self
    }

    /// Sets the parameters of the format.
    #[must_use]
    pub fn with(mut self, params: Vec<ParamInfo>) -> Self {
        self.params = params;
        self
    }

    /// Returns the values of the parameters of the format, including defaults.
    ///
    /// # Errors
    /// Every setting that the format does not have, or whose value is not valid.
    pub fn values(&self, settings: &[Setting]) -> Result<Params, Problems> {
        let mut problems = Problems::new();
        let mut given: Vec<(String, ParamValue)> = Vec::new();
        for setting in settings {
            match self.params.iter().find(|info| info.name == setting.name) {
                None => {
                    let names: Vec<&str> = self.params.iter().map(|info| info.name.as_ref()).collect();
                    problems.add(
                        setting.name.clone(),
                        format!("is not a parameter of format {}", self.name),
                        suggestion(&setting.name, &names),
                    );
                }
                Some(_) if setting.index.is_some() => {
                    problems.add(setting.to_string(), "has no entries", "write it without [ ]");
                }
                Some(info) => match info.parse(&setting.text) {
                    Ok(value) => given.push((setting.name.clone(), value)),
                    Err(problem) => problems.push(problem),
                },
            }
        }
        problems.into_result(())?;
        Params::resolve(&self.params, given.iter().map(|(name, value)| (name.as_str(), value)))
    }
}

/// A scenario or plan of one kind.
#[derive(Debug)]
pub enum SubjectOf<'a, K: Kind> {
    /// A scenario.
    Scenario(&'a Arc<Scenario<K>>),
    /// A plan.
    Plan(&'a Arc<Checked<K>>),
}

// Implemented by hand, because the derived ones would require the kind itself to implement the traits.
impl<K: Kind> Clone for SubjectOf<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kind> Copy for SubjectOf<'_, K> {}

impl<'a, K: Kind> SubjectOf<'a, K> {
    /// Returns the display name of the scenario or plan.
    pub fn name(self) -> &'a str {
        match self {
            Self::Scenario(scenario) => &scenario.name,
            Self::Plan(plan) => &plan.plan().name,
        }
    }

    /// Returns the scenario, or the scenario that the plan is for.
    pub fn scenario(self) -> &'a Arc<Scenario<K>> {
        match self {
            Self::Scenario(scenario) => scenario,
            Self::Plan(plan) => &plan.plan().scenario,
        }
    }
}

/// A written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Suggested file name.
    pub name: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// `Some` for an accompanying file: the ending that is added to the name of the first file.
    pub beside: Option<&'static str>,
    /// Name of an accompanying file to which the content refers, if there is one; [`Self::content_as`] replaces this
    /// name.
    pub speaks_of: Option<String>,
    /// If true, this file undoes the changes of the other files (a rollback).
    pub undoes: bool,
}

impl Artifact {
    /// Creates a file without accompanying files.
    pub fn new(name: String, content: impl Into<Vec<u8>>) -> Self {
        Self { name, bytes: content.into(), beside: None, speaks_of: None, undoes: false }
    }

    /// Creates an accompanying file; its name is the name of the first file followed by `ending`.
    pub fn beside(name: String, content: impl Into<Vec<u8>>, ending: &'static str) -> Self {
        Self { beside: Some(ending), ..Self::new(name, content) }
    }

    /// Returns the content of the file for the case that the file is called `name`; references to the accompanying file
    /// are adapted.
    pub fn content_as(&self, name: &str) -> Cow<'_, [u8]> {
        let renamed = self.speaks_of.as_ref().and_then(|companion| {
            let ending = companion.strip_prefix(self.name.as_str())?;
            let text = std::str::from_utf8(&self.bytes).ok()?;
            Some(text.replace(companion, &format!("{name}{ending}")).into_bytes())
        });
        renamed.map_or(Cow::Borrowed(&self.bytes), Cow::Owned)
    }

    /// Writes a scenario as the only file of a format that writes scenarios.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn of_scenario<K: Kind>(scenario: &Scenario<K>, format: &str) -> Result<Self, WriteError> {
        Ok(Self::new(format!("{}.{format}.json", file_stem(&scenario.name)), scenario.to_json()?))
    }
}

/// A file to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Name of the file, for messages.
    pub name: String,
    /// Content of the file, possibly gzip-compressed.
    pub bytes: Vec<u8>,
}

/// Name by which messages and records call standard input.
pub const STDIN: &str = "standard input";

/// Returns the name of a scenario imported from a file: the file name without folders and known endings; `otherwise`
/// for standard input or if nothing remains.
pub fn scenario_name(file: &str, otherwise: &str) -> String {
    let mut stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
    for ending in [".gz", ".txt", ".csv", ".json", ".jsonl", ".xml", ".log"] {
        stem = stem.strip_suffix(ending).unwrap_or(stem);
    }
    if ["", "-", STDIN].contains(&stem) { otherwise.to_owned() } else { stem.to_owned() }
}

/// A scenario made from files of another tool.
#[derive(Debug)]
pub struct ImportedScenario<K: Kind> {
    /// The scenario, valid.
    pub scenario: Scenario<K>,
    /// Findings, omissions and assumptions, as lines for a person.
    pub lines: Vec<String>,
    /// The content of `lines` as JSON.
    pub summary: serde_json::Value,
    /// Values that the files do not contain and the importer assumed.
    pub assumed: Vec<Assumed>,
    /// The lines on omissions and remarks, which a reader of the scenario must know.
    pub notes: Vec<String>,
}

/// A plan made from files of another tool, not yet checked. Its method has the name of the format.
#[derive(Debug)]
pub struct ImportedPlan<K: Kind> {
    /// The scenario, valid.
    pub scenario: Arc<Scenario<K>>,
    /// The result with its figures.
    pub candidate: Candidate<K::Result>,
    /// Findings, omissions and assumptions, as lines for a person.
    pub lines: Vec<String>,
    /// The content of `lines` as JSON.
    pub summary: serde_json::Value,
}

/// Converts a name to a part of a file name: at most 80 ASCII letters, digits, `-`, `_` and `.`. Every other character
/// becomes `_`; dots at the ends are removed. `lightbay` if nothing remains.
pub fn file_stem(name: &str) -> String {
    let stem: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .take(80)
        .collect();
    let stem = stem.trim_matches('.').to_owned();
    if stem.is_empty() { "lightbay".to_owned() } else { stem }
}

/// Returns the problem of a format that needs a plan but got a scenario.
pub fn needs_plan(format: &str) -> Problem {
    Problem::new(
        "to",
        format!("'{format}' can be written only from a plan"),
        "solve the scenario first and export the plan",
    )
}

/// Lists parts in words after `what`, as in `what: one, another and a third`; `None` for an empty list.
pub fn enumerated(what: &str, parts: &[impl AsRef<str>]) -> Option<String> {
    let (last, others) = parts.split_last()?;
    let others: Vec<&str> = others.iter().map(AsRef::as_ref).collect();
    let last = last.as_ref();
    Some(if others.is_empty() {
        format!("{what}: {last}")
    } else {
        format!("{what}: {} and {last}", others.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_named_after_their_files() {
        for (file, name) in [
            ("/a/b/counts.csv", "counts"),
            ("run.v2.json.gz", "run.v2"),
            ("c:\\x\\job.txt", "job"),
            ("-", "aicb"),
            (STDIN, "aicb"),
            (".csv", "aicb"),
        ] {
            assert_eq!(scenario_name(file, "aicb"), name, "{file}");
        }
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(file_stem("pod 4/8: a"), "pod_4_8__a");
        assert_eq!(file_stem("..hidden."), "hidden");
        assert_eq!(file_stem("…"), "_");
        assert_eq!(file_stem(".."), "lightbay");
    }

    #[test]
    fn a_file_speaks_of_the_one_beside_it_by_its_name() {
        let mut file = Artifact::new("plan.md".to_owned(), "![picture](<plan.md.svg>)\n");
        assert_eq!(*file.content_as("review.md"), file.bytes);
        file.speaks_of = Some("plan.md.svg".to_owned());
        assert_eq!(*file.content_as("review.md"), *b"![picture](<review.md.svg>)\n");
        assert_eq!(*file.content_as("plan.md"), file.bytes);
    }

    #[test]
    fn parts_are_enumerated() {
        assert_eq!(enumerated("left out", &[] as &[&str]), None);
        assert_eq!(enumerated("left out", &["a"]).as_deref(), Some("left out: a"));
        assert_eq!(enumerated("left out", &["a", "b", "c"]).as_deref(), Some("left out: a, b and c"));
    }

    #[test]
    fn settings_of_a_format_are_read_all_at_once() {
        let info = FormatInfo::new("table", "A table.", SubjectSort::Either, "csv")
            .with(vec![ParamInfo::bool("full", false, "All rows.")]);
        let set = |text: &str| text.parse::<Setting>().unwrap();
        assert!(info.values(&[set("full=true")]).unwrap().bool("full"));
        assert!(!info.values(&[]).unwrap().bool("full"));
        let wrong = info.values(&[set("ful=true"), set("full=perhaps")]).unwrap_err().to_string();
        assert!(wrong.contains("is not a parameter of format table"), "{wrong}");
        assert!(wrong.contains("perhaps"), "{wrong}");
    }
}
