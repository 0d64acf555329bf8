//! Values of a job that have two forms in files.

use super::Model;
use crate::scenario::limits::MAX_PORTS;
use lightbay_core::problem::Problems;
use lightbay_core::read::brief;
use lightbay_core::record::{FieldType, NumberRange, Place};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

/// A model by name or by its sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ModelChoice {
    /// Name of a built-in model.
    Preset(String),
    /// The sizes of the model.
    Inline(Model),
}

impl FieldType for ModelChoice {
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
        match value {
            // The check of the job verifies that the model exists.
            Value::String(_) => String::read(value, place, range, problems).map(Self::Preset),
            _ => Model::read(value, place, range, problems).map(Self::Inline),
        }
    }

    fn schema(generator: &mut SchemaGenerator, range: NumberRange) -> Schema {
        json_schema!({ "anyOf": [String::schema(generator, range), generator.subschema_for::<Model>()] })
    }
}

/// Optical ports of the pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PortsPerPod {
    /// The same number for every pod.
    Same(u32),
    /// One number for each pod position within a replica.
    ByPosition(Vec<u32>),
}

/// Valid numbers of ports of a pod in a file.
const PORTS: NumberRange = NumberRange::Int(1, MAX_PORTS as i64);

impl FieldType for PortsPerPod {
    fn read(value: &Value, place: &Place<'_>, _range: NumberRange, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::Array(_) => Vec::read(value, place, PORTS, problems).map(Self::ByPosition),
            Value::Number(_) => u32::read(value, place, PORTS, problems).map(Self::Same),
            _ => {
                let remedy = format!(
                    "give a whole number from 1 to {MAX_PORTS}, or a list with one number for every pod position"
                );
                problems.add(place.to_string(), format!("is {}", brief(value)), remedy);
                None
            }
        }
    }

    fn schema(generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        json_schema!({ "anyOf": [u32::schema(generator, PORTS), Vec::<u32>::schema(generator, PORTS)] })
    }
}
