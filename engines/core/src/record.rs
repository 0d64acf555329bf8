//! One declaration for each field of a file: record, reader, range, default, parameter and JSON Schema follow from it.
//!
//! [`record!`](crate::record!) declares a struct whose fields have a [`Spec`], [`words!`](crate::words!) an enum whose
//! variants have a name in files. [`Knobs`] collects fields and other settings as the parameters of a scenario.

mod field_type;
mod knobs;
mod macros;
mod spec;

pub use field_type::{FieldType, NumberRange, Place};
pub use knobs::{Idle, Knob, Knobs};
pub use spec::{Spec, any, index, list, within};

use crate::param::{ParamInfo, ParamValue};
use crate::problem::Problems;
use crate::read::Fields;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// An object in a file whose fields are declared by [`record!`](crate::record!).
pub trait Record: Sized {
    /// The keys of the fields, in the order of files.
    const KEYS: &'static [&'static str];

    /// Reads the keys of the object. The caller must call [`Fields::finish`] afterwards.
    fn of_fields(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self>;

    /// Adds the schema of every key to `properties` and the names of the required keys to `required`.
    fn describe(
        generator: &mut SchemaGenerator,
        properties: &mut Map<String, Value>,
        required: &mut Vec<Value>,
    );

    /// Describes a field as a parameter; `None` for other names and for fields that no parameter can express.
    fn param(key: &str) -> Option<ParamInfo>;

    /// Returns the value of a field as a parameter; `None` in the cases of [`Self::param`] and for an omitted value.
    fn field(&self, key: &str) -> Option<ParamValue>;

    /// Stores a value that the field's description has accepted; `None` if no parameter can set the field.
    fn set_field(&mut self, key: &str, value: &ParamValue) -> Option<()>;
}

/// Returns a record in which every field has its default value.
///
/// # Panics
/// If a field has no default. That is a mistake in the declaration, which every test of the record detects.
#[expect(clippy::panic, reason = "a record without a default is wrong in every run")]
pub fn usual<R: Record>() -> R {
    let (none, mut problems) = (Value::Object(Map::new()), Problems::new());
    let usual =
        Fields::of(&none, "", &mut problems).and_then(|mut fields| R::of_fields(&mut fields, &mut problems));
    usual.unwrap_or_else(|| panic!("no defaults: {problems}"))
}

/// Returns the descriptions of the fields that parameters can express.
pub fn params_of<R: Record>() -> impl Iterator<Item = ParamInfo> {
    R::KEYS.iter().filter_map(|key| R::param(key))
}

/// Checks that the values of a record are in their ranges, even if the record was not read from a file. `path` is the
/// place of the record.
pub fn check_ranges<R: Record>(record: &R, path: &str, problems: &mut Problems) {
    for info in params_of::<R>() {
        if let Some(value) = record.field(&info.name).filter(|value| info.accept(value).is_err()) {
            let remedy = format!("give {}", info.valid());
            problems.add(format!("{path}.{}", info.name), format!("is '{value}'"), remedy);
        }
    }
}

/// Returns the JSON Schema of the objects that the reader of a record accepts.
pub fn schema_of<R: Record>(generator: &mut SchemaGenerator, about: &str) -> Schema {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    R::describe(generator, &mut properties, &mut required);
    json_schema!({
        "type": "object",
        "description": about.trim(),
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests;
