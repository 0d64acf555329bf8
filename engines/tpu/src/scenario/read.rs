//! Fields of a scenario that have several forms.

use super::{GroupChoice, TopologyChoice};
use crate::model::pod::MAX_CUBES;
use lightbay_core::problem::{Problems, suggestion};
use lightbay_core::read::brief;
use lightbay_core::record::{FieldType, NumberRange, Place};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// The name of a wiring, or the topology of a plan.
impl FieldType for TopologyChoice {
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
        let (message, remedy) = match value {
            Value::Object(_) => return FieldType::read(value, place, range, problems).map(Self::Given),
            Value::String(word) => match Self::NAMED.into_iter().find(|named| named.word() == word) {
                Some(named) => return Some(named),
                None => (format!("is '{word}'"), suggestion(word, &Self::WORDS)),
            },
            other => {
                let remedy = "give 'design', 'pt', 'pdtt' or the topology of a plan";
                (format!("is {}", brief(other)), remedy.to_owned())
            }
        };
        problems.add(place.to_string(), message, remedy);
        None
    }

    fn schema(generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        generator.subschema_for::<Self>()
    }
}

/// The name of a group, or its cyclic factors.
impl FieldType for GroupChoice {
    fn read(value: &Value, place: &Place<'_>, _range: NumberRange, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::String(_) => FieldType::read(value, place, NumberRange::Any, problems).map(Self::Named),
            _ => FieldType::read(value, place, NumberRange::Int(1, MAX_CUBES as i64), problems)
                .map(Self::Factors),
        }
    }

    fn schema(generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        generator.subschema_for::<Self>()
    }
}
