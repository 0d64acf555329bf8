//! JSON Schemas of the files: generated here, stored under `engines/schemas`, and compared by a test.

use crate::catalogue::listed;
use lightbay_core::event::{EventRecord, SCHEMA as EVENT};
use lightbay_core::exchange::DerivedFrom;
use lightbay_core::kind::Kind;
use lightbay_core::param::Params;
use lightbay_core::plan::{Limit, Objective, Provenance, SCHEMA as PLAN, Status};
use lightbay_core::scenario::{Origin, SCHEMA as SCENARIO};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::Value;
use std::collections::BTreeMap;

/// Files that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaOf {
    /// Scenario files, `lightbay.scenario/1`.
    Scenario,
    /// Plan files, `lightbay.plan/1`.
    Plan,
    /// Written events, `lightbay.event/1`.
    Event,
}

impl SchemaOf {
    /// All files that have a schema.
    pub const ALL: [Self; 3] = [Self::Scenario, Self::Plan, Self::Event];

    /// Returns the name of the schema's file under `engines/schemas`.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario.json",
            Self::Plan => "plan.json",
            Self::Event => "event.json",
        }
    }
}

/// Returns the schema of one type of file.
pub fn schema(which: SchemaOf) -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut root = match which {
        SchemaOf::Scenario => {
            let kinds = all_kinds!(K => listed::<K, _>(|| scenario::<K>(&mut generator)));
            let kinds: Vec<schemars::Schema> = kinds.into_iter().flatten().collect();
            json_schema!({ "title": SCENARIO, "oneOf": kinds })
        }
        SchemaOf::Plan => {
            let kinds = all_kinds!(K => listed::<K, _>(|| plan::<K>(&mut generator)));
            let kinds: Vec<schemars::Schema> = kinds.into_iter().flatten().collect();
            json_schema!({ "title": PLAN, "oneOf": kinds })
        }
        SchemaOf::Event => {
            let record = generator.subschema_for::<EventRecord>();
            json_schema!({ "title": EVENT, "allOf": [record] })
        }
    };
    root.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    root.insert("$defs".to_owned(), Value::Object(generator.take_definitions(true)));
    root.to_value()
}

/// Allows further keys in addition to those of a scenario, because the envelope adds its own keys.
fn open_beside(generator: &mut SchemaGenerator, name: &str) {
    let Some(definition) = generator.definitions_mut().get_mut(name).and_then(Value::as_object_mut) else {
        return;
    };
    definition.remove("additionalProperties");
    let mut records = Vec::new();
    for forms in ["oneOf", "anyOf"] {
        let Some(Value::Array(forms)) = definition.get_mut(forms) else { continue };
        for form in forms.iter_mut().filter_map(Value::as_object_mut) {
            form.remove("additionalProperties");
            let record = form.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            records.extend(record.map(str::to_owned));
        }
    }
    for record in records {
        open_beside(generator, &record);
    }
}

fn scenario<K: Kind>(generator: &mut SchemaGenerator) -> schemars::Schema {
    let body = generator.subschema_for::<K::Scenario>();
    let provenance = generator.subschema_for::<Origin>();
    open_beside(generator, &K::Scenario::schema_name());
    json_schema!({
        "type": "object",
        "properties": {
            "schema": { "const": SCENARIO },
            "kind": { "const": K::NAME },
            "name": { "type": "string" },
            "provenance": provenance,
        },
        "required": ["schema", "kind"],
        "allOf": [body],
        "unevaluatedProperties": false,
    })
}

fn plan<K: Kind>(generator: &mut SchemaGenerator) -> schemars::Schema {
    let scenario = scenario::<K>(generator);
    let result = generator.subschema_for::<K::Result>();
    let parameters = generator.subschema_for::<Params>();
    let status = generator.subschema_for::<Status>();
    let limit = generator.subschema_for::<Option<Limit>>();
    let objective = generator.subschema_for::<Objective>();
    let metrics = generator.subschema_for::<BTreeMap<String, f64>>();
    let provenance = generator.subschema_for::<Provenance>();
    let derived = generator.subschema_for::<DerivedFrom>();
    json_schema!({
        "type": "object",
        "properties": {
            "schema": { "const": PLAN },
            "kind": { "const": K::NAME },
            "name": { "type": "string" },
            "scenario": scenario,
            "method": { "type": "string" },
            "parameters": parameters,
            "seed": { "type": "integer", "minimum": 0 },
            "threads": { "type": "integer", "minimum": 1 },
            "status": status,
            "limit": limit,
            "objective": objective,
            "metrics": metrics,
            "provenance": provenance,
            "derived_from": derived,
            "notes": {},
            "result": result,
        },
        "required": ["schema", "kind", "scenario", "method", "parameters", "status", "objective", "result"],
    })
}
