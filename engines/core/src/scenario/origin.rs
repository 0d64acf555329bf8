//! Origin of an imported scenario: importer, files, and assumed values that the files do not contain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Origin of a scenario: the key `provenance` of its file. Additional keys are allowed. The origin does not influence
/// the problem, so neither [`Scenario::sha256`](super::Scenario::sha256) nor a method uses it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// Format that was imported.
    #[serde(default)]
    pub importer: String,
    /// The files that were read, in the order in which they were given.
    #[serde(default)]
    pub sources: Vec<SourceFile>,
    /// Values that no file contains.
    #[serde(default)]
    pub assumed: Vec<Assumed>,
    /// Further remarks on the import, one sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Origin of the scenario that the files were merged into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<Origin>>,
    /// All other keys.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A file that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceFile {
    /// File name as the user wrote it, without folders.
    pub name: String,
    /// SHA-256 of the file as given, compressed or not.
    pub sha256: String,
}

/// A value that no file contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assumed {
    /// Name of the value, in words.
    pub what: String,
    /// The assumed value, with its unit; empty if `what` is sufficient.
    #[serde(default)]
    pub value: String,
    /// The parameter that sets the value, as typed (`gpus_per_pod=`), or another remedy in words; may be empty.
    #[serde(default)]
    pub set_with: String,
}

impl Assumed {
    /// Makes an assumption that `what` describes completely, so that it has no value.
    pub fn fact(what: impl Into<String>) -> Self {
        Self { what: what.into(), value: String::new(), set_with: String::new() }
    }

    /// Returns the assumption as one phrase: `rate of one NIC and circuit is 400 Gb/s`.
    pub fn phrase(&self) -> String {
        if self.value.is_empty() { self.what.clone() } else { format!("{} is {}", self.what, self.value) }
    }

    /// Returns `true` if the parameter `param` sets the value: `set_with` then contains the name of the parameter
    /// followed by `=`.
    pub fn is_set_with(&self, param: &str) -> bool {
        let mut words =
            self.set_with.split(|sign: char| !(sign.is_ascii_alphanumeric() || "_=".contains(sign)));
        words.any(|word| word.strip_suffix('=') == Some(param))
    }
}

impl Origin {
    /// Returns the origins of all imports, the latest first.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |origin| origin.before.as_deref())
    }

    /// Returns the assumption on a parameter, from the latest import that assumed its value.
    pub fn assumed_of(&self, param: &str) -> Option<&Assumed> {
        self.all().find_map(|origin| origin.assumed.iter().find(|assumed| assumed.is_set_with(param)))
    }

    /// Removes the assumption on a parameter, because its value is now given.
    pub fn give(&mut self, param: &str) {
        self.assumed.retain(|assumed| !assumed.is_set_with(param));
        if let Some(before) = &mut self.before {
            before.give(param);
        }
    }

    /// Returns the origin as lines for a person, the latest import first: importer and files with the beginning of
    /// their SHA-256, then every assumption and note.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for origin in self.all() {
            let file = |file: &SourceFile| {
                let short = file.sha256.get(..SHORT_SHA).unwrap_or(&file.sha256);
                format!("{} (SHA-256 {short}…)", file.name)
            };
            let files: Vec<String> = origin.sources.iter().map(file).collect();
            lines.push(format!("imported: {} from {}", origin.importer, files.join(", ")));
            let assumed = origin.assumed.iter().map(|assumed| format!("assumed: {}", assumed.phrase()));
            lines.extend(assumed.chain(origin.notes.iter().map(|note| format!("note: {note}"))));
        }
        lines
    }
}

/// Number of digits of a hash that are shown to distinguish files.
const SHORT_SHA: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn assumed(what: &str, set_with: &str) -> Assumed {
        Assumed { what: what.to_owned(), value: "400 Gb/s".to_owned(), set_with: set_with.to_owned() }
    }

    #[test]
    fn an_assumption_names_its_parameters() {
        let one = assumed("rate", "switch_reduce= of the scenario, or link_gbyte_per_s=");
        assert!(one.is_set_with("switch_reduce") && one.is_set_with("link_gbyte_per_s"));
        assert!(!one.is_set_with("reduce") && !one.is_set_with("scenario") && !one.is_set_with(""));
        assert_eq!(one.phrase(), "rate is 400 Gb/s");
        assert_eq!(Assumed::fact("all stages alike").phrase(), "all stages alike");
    }

    #[test]
    fn a_value_that_is_given_is_no_longer_assumed() {
        let before = Origin { assumed: vec![assumed("rate", "rate=")], ..Origin::default() };
        let mut origin = Origin {
            importer: "polatis_tl1".to_owned(),
            sources: vec![SourceFile { name: "a.txt".to_owned(), sha256: "0123456789abcdef".to_owned() }],
            assumed: vec![assumed("size", "size=")],
            notes: vec!["odd".to_owned()],
            before: Some(Box::new(before)),
            ..Origin::default()
        };
        assert_eq!(
            origin.lines(),
            [
                "imported: polatis_tl1 from a.txt (SHA-256 0123456789ab…)",
                "assumed: size is 400 Gb/s",
                "note: odd",
                "imported:  from ",
                "assumed: rate is 400 Gb/s"
            ]
        );
        assert!(origin.assumed_of("rate").is_some());
        origin.give("rate");
        assert!(origin.assumed_of("rate").is_none() && origin.assumed_of("size").is_some());
    }
}
