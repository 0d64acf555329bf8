//! Valid values of a field, and its default.

use super::field_type::{FieldType, NumberRange, Place};
use crate::param::{Effect, ParamInfo};
use crate::problem::Problems;
use crate::read::Fields;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

/// Reader of a field, which replaces the reader of the type of the field.
type Reader<T> = fn(&Value, &Place<'_>, &mut Problems) -> Option<T>;
/// Schema of the values that a [`Reader`] accepts.
type Described = fn(&mut SchemaGenerator) -> Schema;

/// Condition for writing a field to a file.
#[derive(Clone, Copy, PartialEq)]
enum Written {
    /// The field is written unless its value is that of an omitted field of its type, such as an absent optional value.
    IfThere,
    /// The field is written unless its value is the default.
    IfUnusual,
    /// The field is always written; an absent optional value is written as `null`.
    Always,
}

/// Valid values of a field of type `T`, and the default of the field.
pub struct Spec<T> {
    range: NumberRange,
    usual: Option<T>,
    written: Written,
    unit: &'static str,
    effect: Effect,
    former: Option<&'static str>,
    by: Option<(Reader<T>, Described)>,
}

/// Describes a field with only the limits of its type.
pub const fn any<T>() -> Spec<T> {
    Spec {
        range: NumberRange::Any,
        usual: None,
        written: Written::IfThere,
        unit: "",
        effect: Effect::Warm,
        former: None,
        by: None,
    }
}

/// Describes a field whose whole numbers must be written without a point, because they are indices.
pub fn index<T>() -> Spec<T> {
    Spec { range: NumberRange::Index, ..any() }
}

/// Describes a field whose number, or each number of its list, must be within a range.
pub fn within<T>(range: impl Into<NumberRange>) -> Spec<T> {
    Spec { range: range.into(), ..any() }
}

/// Describes a list whose default is empty; an empty list is not written.
pub fn list<T>() -> Spec<Vec<T>> {
    Spec { usual: Some(Vec::new()), written: Written::IfUnusual, ..any() }
}

impl<T: FieldType + Clone + PartialEq> Spec<T> {
    /// Sets the value of an omitted field.
    #[must_use]
    pub fn or(mut self, usual: T) -> Self {
        self.usual = Some(usual);
        self
    }

    /// Omits the field from written files if it has its default value.
    #[must_use]
    pub const fn omitted(mut self) -> Self {
        self.written = Written::IfUnusual;
        self
    }

    /// Writes an empty value as `null`.
    #[must_use]
    pub const fn or_null(mut self) -> Self {
        self.written = Written::Always;
        self
    }

    /// Sets the unit of the field.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Declares that a change of the field starts a new run without a known plan.
    #[must_use]
    pub const fn cold(mut self) -> Self {
        self.effect = Effect::Cold;
        self
    }

    /// Reads the field with `read`, which accepts the values that `schema` describes.
    #[must_use]
    pub fn by(mut self, read: Reader<T>, schema: Described) -> Self {
        self.by = Some((read, schema));
        self
    }

    /// Sets the name that the field has in older files.
    #[must_use]
    pub const fn formerly(mut self, former: &'static str) -> Self {
        self.former = Some(former);
        self
    }

    /// Returns the name of the field in older files.
    pub const fn former(&self) -> Option<&'static str> {
        self.former
    }

    /// Reads the field; if the value is missing or invalid, adds a problem and returns `None`.
    pub fn read(self, key: &'static str, fields: &mut Fields<'_>, problems: &mut Problems) -> Option<T> {
        // If a file has both names, the field is read from the new one, and the old one counts as an unknown key.
        let key = match self.former {
            Some(former) if !fields.has(key) && fields.has(former) => former,
            _ => key,
        };
        let Some(value) = fields.optional(key) else {
            let usual = self.usual.or_else(T::absent);
            if usual.is_none() {
                problems.add(fields.path_of(key), "is missing", "add it");
            }
            return usual;
        };
        let place = fields.place(key);
        match self.by {
            Some((read, _)) => read(value, &place, problems),
            None => T::read(value, &place, self.range, problems),
        }
    }

    /// Returns `true` if a file must have the field.
    pub fn is_required(&self) -> bool {
        self.usual.is_none() && T::absent().is_none()
    }

    /// Returns `true` if a value is not written.
    pub fn omits(self, value: &T) -> bool {
        match self.written {
            Written::IfThere => T::absent().as_ref() == Some(value),
            Written::IfUnusual => self.usual.or_else(T::absent).as_ref() == Some(value),
            Written::Always => false,
        }
    }

    /// Returns the schema of the field. An optional field may also be `null`.
    pub fn schema(self, generator: &mut SchemaGenerator, about: &str) -> Schema {
        let is_required = self.is_required();
        let mut schema = match self.by {
            Some((_, schema)) => schema(generator),
            None => T::schema(generator, self.range),
        };
        if !is_required {
            schema = nullable(schema);
        }
        schema.insert("description".to_owned(), about.trim().into());
        schema
    }

    /// Returns the parameter that sets the field, if a parameter can express its values.
    pub fn param(self, key: &'static str, help: &'static str) -> Option<ParamInfo> {
        Some(ParamInfo {
            name: key.into(),
            unit: self.unit.into(),
            domain: T::domain(self.range)?,
            default: self.usual.and_then(|usual| usual.shown()),
            help: help.trim().into(),
            effect: self.effect,
            hint: "".into(),
            sets_entries: false,
        })
    }
}

fn nullable(mut schema: Schema) -> Schema {
    match schema.get_mut("type") {
        Some(Value::String(one)) => {
            let both = json!([one, "null"]);
            schema.insert("type".to_owned(), both);
            schema
        }
        _ => schemars::json_schema!({ "anyOf": [schema, { "type": "null" }] }),
    }
}
