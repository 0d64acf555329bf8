//! `session.toml`: the kind and name of a session's scenario, and the state of the session when it was last used.

use crate::book::PlanId;
use crate::error::SessionError;
use lightbay_core::param::{ParamValue, Params};
use lightbay_core::problem::Problem;
use lightbay_core::standing::Findings;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The schema name that this version writes and reads.
pub const SCHEMA: &str = "lightbay.session/1";

/// The content of `session.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionFile {
    /// Schema name, [`SCHEMA`].
    pub schema: String,
    /// Kind of the scenario.
    pub kind: String,
    /// Display name of the scenario.
    pub scenario: String,
    /// Note of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Time at which the session was created, RFC 3339.
    pub created_at: String,
    /// Time of the last save, RFC 3339.
    pub updated_at: String,
    /// The method chosen last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Number of the next run.
    pub next_run: u64,
    /// The plan shown last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_plan: Option<PlanId>,
    /// The baseline plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<PlanId>,
    /// Plans marked for comparison.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub marks: BTreeSet<PlanId>,
    /// Knobs changed since the last run, with their new values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub changed: BTreeMap<String, ParamValue>,
    /// Parameters that were set, by method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Params>,
    /// Results of the checker by plan number, used until the plans are read and checked again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub findings: BTreeMap<String, Findings>,
    /// Layout and other state that the shell restores; opaque to this crate.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    pub shell: toml::Table,
}

impl Default for SessionFile {
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            kind: String::new(),
            scenario: String::new(),
            note: None,
            created_at: String::new(),
            updated_at: String::new(),
            method: None,
            next_run: 1,
            last_plan: None,
            baseline: None,
            marks: BTreeSet::new(),
            changed: BTreeMap::new(),
            parameters: BTreeMap::new(),
            findings: BTreeMap::new(),
            shell: toml::Table::new(),
        }
    }
}

impl SessionFile {
    /// Makes the content for a new session on a scenario.
    pub fn new(kind: &str, scenario: &str, date: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            scenario: scenario.to_owned(),
            created_at: date.to_owned(),
            updated_at: date.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Serialisation cannot fail: all keys are text, and all numbers fit into 63 bits.
        let text = toml::to_string(self).unwrap_or_default();
        text.into_bytes()
    }

    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SessionError> {
        let broken = |what: String, remedy: &str| SessionError::broken(path, Problem::new("", what, remedy));
        let text = std::str::from_utf8(bytes).map_err(|error| {
            broken(format!("is not valid UTF-8 text: {error}"), "plans and log are still readable")
        })?;
        let file: Self = toml::from_str(text).map_err(|error| {
            let message = error.message().to_owned();
            broken(format!("is damaged: {message}"), "plans and log are still readable")
        })?;
        Ok(file)
    }
}

/// Returns the schema name of a session file, which may be of another version; `None` if the name cannot be read.
pub(crate) fn schema_of(bytes: &[u8]) -> Option<String> {
    let table: toml::Table = std::str::from_utf8(bytes).ok()?.parse().ok()?;
    table.get("schema")?.as_str().map(str::to_owned)
}
