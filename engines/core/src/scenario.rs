//! The scenario envelope: `{"schema": "lightbay.scenario/1", "kind": K, "name": "…", …fields of the kind}`.

mod hash;
mod origin;

pub use hash::sha256_of;
pub use origin::{Assumed, Origin, SourceFile};

use crate::json::{self, WriteError};
use crate::kind::Kind;
use crate::problem::{Problem, Problems, suggestion};
use crate::read::Fields;
use serde_json::{Map, Value};

/// The schema name that this version writes and reads.
pub const SCHEMA: &str = "lightbay.scenario/1";

/// Key of [`Origin`].
const PROVENANCE: &str = "provenance";

/// An input of kind `K`.
#[derive(Debug)]
pub struct Scenario<K: Kind> {
    /// Display name of the scenario.
    pub name: String,
    /// Fields of the kind.
    pub body: K::Scenario,
    /// Origin of an imported scenario.
    pub provenance: Option<Origin>,
}

impl<K: Kind> PartialEq for Scenario<K> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.body == other.body && self.provenance == other.provenance
    }
}

impl<K: Kind> Clone for Scenario<K> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), body: self.body.clone(), provenance: self.provenance.clone() }
    }
}

impl<K: Kind> Scenario<K> {
    /// Creates a scenario without provenance.
    pub const fn new(name: String, body: K::Scenario) -> Self {
        Self { name, body, provenance: None }
    }

    /// Returns the scenario as a JSON tree in file order.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    pub fn to_value(&self) -> Result<Value, WriteError> {
        let mut map = Map::new();
        map.insert("schema".into(), SCHEMA.into());
        map.insert("kind".into(), K::NAME.into());
        map.insert("name".into(), self.name.clone().into());
        if let Value::Object(body) = json::to_value(&self.body)? {
            map.extend(body);
        }
        if let Some(provenance) = &self.provenance {
            map.insert(PROVENANCE.into(), json::to_value(provenance)?);
        }
        Ok(Value::Object(map))
    }

    /// Returns the scenario as file content.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    pub fn to_json(&self) -> Result<Vec<u8>, WriteError> {
        json::to_pretty(&self.to_value()?)
    }

    /// Returns the SHA-256 over the compact JSON without `name` and `provenance`: equal for scenarios that are the same
    /// problem.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite.
    pub fn sha256(&self) -> Result<String, WriteError> {
        let mut value = self.to_value()?;
        if let Value::Object(map) = &mut value {
            map.shift_remove("name");
            map.shift_remove(PROVENANCE);
        }
        Ok(json::sha256_hex(&serde_json::to_vec(&value)?))
    }

    /// Reads and validates a scenario from a JSON tree. Unknown keys are problems.
    ///
    /// # Errors
    /// Every problem found.
    pub fn from_value(value: &Value) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let read = read_envelope::<K>(value, &mut problems);
        match read {
            Some(scenario) if problems.is_empty() => {
                K::validate(&scenario.body)?;
                Ok(scenario)
            }
            _ => Err(problems),
        }
    }
}

fn read_envelope<K: Kind>(value: &Value, problems: &mut Problems) -> Option<Scenario<K>> {
    check_schema(value, SCHEMA)?.map_or_else(
        |problem| {
            problems.push(problem);
            None
        },
        |()| Some(()),
    )?;
    let mut fields = Fields::of(value, "", problems)?;
    fields.skip("schema");
    let kind = fields.text("kind", problems);
    if let Some(kind) = kind.filter(|kind| *kind != K::NAME) {
        problems.add("kind", format!("is '{kind}'"), format!("give '{}'", K::NAME));
        return None;
    }
    let name = fields.optional_text("name", problems).unwrap_or_default().to_owned();
    let provenance = fields.optional_simple(PROVENANCE, problems);
    let body = K::read_scenario(&mut fields, problems);
    fields.finish(problems);
    Some(Scenario { name, body: body?, provenance })
}

/// Compares the `schema` of a file with the expected one: equal name and version.
///
/// Accepts a value that is not an object; the caller refuses such a value when it reads the fields. Returns `None` only
/// if `expected` has no version.
pub fn check_schema(value: &Value, expected: &str) -> Option<Result<(), Problem>> {
    let Value::Object(map) = value else {
        return Some(Ok(()));
    };
    let (name, _) = expected.split_once('/')?;
    Some(match map.get("schema") {
        None => Err(Problem::new("schema", "is missing", format!("set the schema to \"{expected}\""))),
        Some(Value::String(found)) if found == expected => Ok(()),
        Some(Value::String(found)) => match found.split_once('/') {
            Some((found_name, version)) if found_name == name => Err(Problem::new(
                "schema",
                format!("is version '{version}' of {name}"),
                format!("this program reads '{expected}'; use the version of lightbay that wrote the file"),
            )),
            _ => Err(Problem::new("schema", format!("is '{found}'"), suggestion(found, &[expected]))),
        },
        Some(other) => Err(Problem::new(
            "schema",
            format!("is {}", crate::read::brief(other)),
            format!("give \"{expected}\""),
        )),
    })
}

/// Returns the kind that a scenario or plan file states, without reading anything else.
pub fn kind_of(value: &Value) -> Option<&str> {
    value.get("kind").and_then(Value::as_str)
}
