//! Types of fields: how each is read from JSON, described, and set as a parameter.

use crate::param::{Domain, ParamValue};
use crate::problem::Problems;
use crate::read::{bool_at, brief, float_at, int_at, list_at, text_at};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use std::fmt;
use std::ops::RangeInclusive;

/// Limits of the numbers of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberRange {
    /// Every number of the type is valid.
    Any,
    /// Every number of the type is valid; whole numbers must be written without a point, because they are indices.
    Index,
    /// Smallest and largest valid whole number.
    Int(i64, i64),
    /// Smallest and largest valid number.
    Float(f64, f64),
}

impl From<RangeInclusive<i64>> for NumberRange {
    fn from(range: RangeInclusive<i64>) -> Self {
        Self::Int(*range.start(), *range.end())
    }
}

impl From<RangeInclusive<f64>> for NumberRange {
    fn from(range: RangeInclusive<f64>) -> Self {
        Self::Float(*range.start(), *range.end())
    }
}

/// The place of a value in a file; formatted only if there is a problem.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// A key of the object at a path.
    Key {
        /// Path of the object.
        path: &'a str,
        /// Key of the value in that object.
        key: &'a str,
    },
    /// An entry of the list at a parent place.
    Entry(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key { path: "", key } => f.write_str(key),
            Self::Key { path, key } => write!(f, "{path}.{key}"),
            Self::Entry(list, at) => write!(f, "{list}[{at}]"),
        }
    }
}

/// A type that fields of files can have.
pub trait FieldType: Sized {
    /// Reads a value; if the value is invalid, adds a problem and returns `None`.
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self>;

    /// Returns the JSON Schema of the values that [`FieldType::read`] accepts.
    fn schema(generator: &mut SchemaGenerator, range: NumberRange) -> Schema;

    /// Returns the value of an omitted field, for types that have a default.
    fn absent() -> Option<Self> {
        None
    }

    /// Returns the valid values as the domain of a parameter; `None` if no parameter can express them.
    fn domain(_range: NumberRange) -> Option<Domain> {
        None
    }

    /// Converts the value of the field to the value of a parameter.
    fn shown(&self) -> Option<ParamValue> {
        None
    }

    /// Converts the value of a parameter, which its domain has accepted, to the value of the field.
    fn taken(_value: &ParamValue) -> Option<Self> {
        None
    }
}

macro_rules! whole {
    ($($type:ty),+) => {$(
        impl FieldType for $type {
            fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
                let (min, max) = limits::<Self>(range);
                if range == NumberRange::Index && value.is_f64() {
                    let remedy = "give a whole number without a decimal point";
                    problems.add(place.to_string(), format!("is {}", brief(value)), remedy);
                    return None;
                }
                int_at(value, place, min..=max, problems).and_then(|number| Self::try_from(number).ok())
            }

            fn schema(_generator: &mut SchemaGenerator, range: NumberRange) -> Schema {
                let (min, max) = limits::<Self>(range);
                json_schema!({ "type": "integer", "minimum": min, "maximum": max })
            }

            fn domain(range: NumberRange) -> Option<Domain> {
                let (min, max) = limits::<Self>(range);
                Some(Domain::Int { min, max })
            }

            fn shown(&self) -> Option<ParamValue> {
                i64::try_from(*self).ok().map(ParamValue::Int)
            }

            fn taken(value: &ParamValue) -> Option<Self> {
                value.as_i64().and_then(|number| Self::try_from(number).ok())
            }
        }
    )+};
}

whole!(u8, u16, u32, u64, usize, i64);

/// Returns the smallest and the largest whole number of a range; without a range, 0 and the largest number of the type.
fn limits<T>(range: NumberRange) -> (i64, i64) {
    match range {
        NumberRange::Int(min, max) => (min, max),
        NumberRange::Float(min, max) => (min as i64, max as i64),
        NumberRange::Any | NumberRange::Index => {
            (0, i64::MAX >> (64_usize.saturating_sub(8 * size_of::<T>() + 1).min(63)))
        }
    }
}

impl FieldType for f64 {
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
        let (min, max) = bounds(range);
        float_at(value, place, min..=max, problems)
    }

    fn schema(_generator: &mut SchemaGenerator, range: NumberRange) -> Schema {
        let (min, max) = bounds(range);
        let mut schema = Map::from_iter([("type".to_owned(), Value::from("number"))]);
        if min > Self::MIN {
            schema.insert("minimum".to_owned(), min.into());
        }
        if max < Self::MAX {
            schema.insert("maximum".to_owned(), max.into());
        }
        schema.into()
    }

    fn domain(range: NumberRange) -> Option<Domain> {
        let (min, max) = bounds(range);
        Some(Domain::Float { min, max })
    }

    fn shown(&self) -> Option<ParamValue> {
        Some(ParamValue::Float(*self))
    }

    fn taken(value: &ParamValue) -> Option<Self> {
        value.as_f64()
    }
}

fn bounds(range: NumberRange) -> (f64, f64) {
    match range {
        NumberRange::Any | NumberRange::Index => (f64::MIN, f64::MAX),
        NumberRange::Int(min, max) => (min as f64, max as f64),
        NumberRange::Float(min, max) => (min, max),
    }
}

impl FieldType for bool {
    fn read(value: &Value, place: &Place<'_>, _range: NumberRange, problems: &mut Problems) -> Option<Self> {
        bool_at(value, place, problems)
    }

    fn schema(_generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        json_schema!({ "type": "boolean" })
    }

    fn domain(_range: NumberRange) -> Option<Domain> {
        Some(Domain::Bool)
    }

    fn shown(&self) -> Option<ParamValue> {
        Some(ParamValue::Bool(*self))
    }

    fn taken(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Bool(truth) => Some(*truth),
            _ => None,
        }
    }
}

impl FieldType for String {
    fn read(value: &Value, place: &Place<'_>, _range: NumberRange, problems: &mut Problems) -> Option<Self> {
        text_at(value, place, problems).map(str::to_owned)
    }

    fn schema(_generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        json_schema!({ "type": "string", "maxLength": crate::read::MAX_TEXT })
    }

    fn domain(_range: NumberRange) -> Option<Domain> {
        Some(Domain::Text)
    }

    fn shown(&self) -> Option<ParamValue> {
        Some(ParamValue::Text(self.clone()))
    }

    fn taken(value: &ParamValue) -> Option<Self> {
        Some(value.to_string())
    }
}

/// An optional value: the file may omit it.
impl<T: FieldType> FieldType for Option<T> {
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
        T::read(value, place, range, problems).map(Some)
    }

    fn schema(generator: &mut SchemaGenerator, range: NumberRange) -> Schema {
        T::schema(generator, range)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn domain(range: NumberRange) -> Option<Domain> {
        T::domain(range)
    }

    fn shown(&self) -> Option<ParamValue> {
        self.as_ref().and_then(T::shown)
    }

    fn taken(value: &ParamValue) -> Option<Self> {
        T::taken(value).map(Some)
    }
}

/// A list; every invalid entry is a problem.
impl<T: FieldType> FieldType for Vec<T> {
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
        let list = list_at(value, place, problems)?;
        let mut read = Self::with_capacity(list.len());
        for (at, entry) in list.iter().enumerate() {
            read.extend(T::read(entry, &Place::Entry(place, at), range, problems));
        }
        (read.len() == list.len()).then_some(read)
    }

    fn schema(generator: &mut SchemaGenerator, range: NumberRange) -> Schema {
        let entry = T::schema(generator, range);
        json_schema!({ "type": "array", "items": entry })
    }

    fn domain(range: NumberRange) -> Option<Domain> {
        match T::domain(range)? {
            Domain::Int { min, max } => Some(Domain::IntList { min, max }),
            _ => None,
        }
    }

    fn shown(&self) -> Option<ParamValue> {
        self.iter().map(T::shown).collect::<Option<_>>().map(ParamValue::List)
    }

    fn taken(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::List(entries) => entries.iter().map(T::taken).collect(),
            _ => None,
        }
    }
}

/// A list of a fixed length.
impl<T: FieldType, const N: usize> FieldType for [T; N] {
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
        let entries = Vec::<T>::read(value, place, range, problems)?;
        let given = entries.len();
        entries.try_into().ok().or_else(|| {
            problems.add(place.to_string(), format!("has {given} entries"), format!("give {N} entries"));
            None
        })
    }

    fn schema(generator: &mut SchemaGenerator, range: NumberRange) -> Schema {
        let entry = T::schema(generator, range);
        json_schema!({ "type": "array", "items": entry, "minItems": N, "maxItems": N })
    }

    fn domain(range: NumberRange) -> Option<Domain> {
        Vec::<T>::domain(range)
    }

    fn shown(&self) -> Option<ParamValue> {
        self.iter().map(T::shown).collect::<Option<_>>().map(ParamValue::List)
    }

    fn taken(value: &ParamValue) -> Option<Self> {
        Vec::<T>::taken(value)?.try_into().ok()
    }
}

macro_rules! tuple {
    ($count:literal: $($type:ident $at:tt),+) => {
        /// A list of a fixed length, each entry of its own type.
        impl<$($type: FieldType),+> FieldType for ($($type,)+) {
            fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
                let list = list_at(value, place, problems)?;
                if list.len() != $count {
                    problems.add(place.to_string(), format!("has {} entries", list.len()), concat!("give ", $count, " entries"));
                    return None;
                }
                Some(($($type::read(&list[$at], &Place::Entry(place, $at), range, problems)?,)+))
            }

            fn schema(generator: &mut SchemaGenerator, range: NumberRange) -> Schema {
                let entries = [$($type::schema(generator, range)),+];
                json_schema!({ "type": "array", "prefixItems": entries, "minItems": $count, "maxItems": $count })
            }
        }
    };
}

tuple!(2: A 0, B 1);
tuple!(3: A 0, B 1, C 2);
