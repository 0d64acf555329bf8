//! Valid values of a field, and its default.

use super::field_type::{FieldType, NumberRange, Place};
use crate::param::{Effect, ParamInfo};
use crate::problem::Problems;
use crate::read::Fields;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

/// Reader of a field that its type cannot read by itself.
type Reader<T> = fn(&Value, &Place<'_>, &mut Problems) -> Option<T>;
/// Schema of what such a reader accepts.
type Described = fn(&mut SchemaGenerator) -> Schema;

/// When a field is written.
#[derive(Clone, Copy, PartialEq)]
enum Written {
    /// Unless nothing is there.
    IfThere,
    /// Unless it has the value that it has where it is left out.
    IfUnusual,
    /// Always, as `null` if nothing is there.
    Always,
}

/// Valid values of a field of type `T`, and its default.
pub struct Spec<T> {
    range: NumberRange,
    usual: Option<T>,
    written: Written,
    unit: &'static str,
    effect: Effect,
    by: Option<(Reader<T>, Described)>,
}

/// A field without limits but those of its type.
pub const fn any<T>() -> Spec<T> {
    Spec {
        range: NumberRange::Any,
        usual: None,
        written: Written::IfThere,
        unit: "",
        effect: Effect::Warm,
        by: None,
    }
}

/// A field whose whole numbers are written without a point, because they are places in lists.
pub fn index<T>() -> Spec<T> {
    Spec { range: NumberRange::Index, ..any() }
}

/// A field whose number, or whose numbers in a list, lie within a range.
pub fn within<T>(range: impl Into<NumberRange>) -> Spec<T> {
    Spec { range: range.into(), ..any() }
}

/// A list that is empty, and not written, where it is left out.
pub fn list<T>() -> Spec<Vec<T>> {
    Spec { usual: Some(Vec::new()), written: Written::IfUnusual, ..any() }
}

impl<T: FieldType + Clone + PartialEq> Spec<T> {
    /// The value where the field is left out.
    #[must_use]
    pub fn or(mut self, usual: T) -> Self {
        self.usual = Some(usual);
        self
    }

    /// The same field, not written while it has the value that it has where it is left out.
    #[must_use]
    pub const fn omitted(mut self) -> Self {
        self.written = Written::IfUnusual;
        self
    }

    /// The same field, written as `null` where nothing is there.
    #[must_use]
    pub const fn or_null(mut self) -> Self {
        self.written = Written::Always;
        self
    }

    /// The same field with a unit.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// The same field, a change of which starts a new run from nothing.
    #[must_use]
    pub const fn cold(mut self) -> Self {
        self.effect = Effect::Cold;
        self
    }

    /// The same field, read by `read`, which accepts what `schema` describes.
    #[must_use]
    pub fn by(mut self, read: Reader<T>, schema: Described) -> Self {
        self.by = Some((read, schema));
        self
    }

    /// Reads the field; `None` if it is missing or wrong, which is a problem.
    pub fn read(self, key: &'static str, fields: &mut Fields<'_>, problems: &mut Problems) -> Option<T> {
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

    /// The schema of the field. A field that may be left out may also be `null`.
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

    /// The parameter that sets the field, if one can.
    pub fn param(self, key: &'static str, help: &'static str) -> Option<ParamInfo> {
        Some(ParamInfo {
            name: key.into(),
            unit: self.unit.into(),
            domain: T::domain(self.range)?,
            default: self.usual.and_then(|usual| usual.shown()),
            help: help.trim().into(),
            effect: self.effect,
            hint: "".into(),
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
