//! The schema of a scenario accepts exactly what the reader of its form accepts.

use lightbay_core::kind::Kind;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_engines::{SchemaOf, preset, schema};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

/// Keys of the envelope, which the core reads.
const ENVELOPE: [&str; 4] = ["schema", "kind", "name", "provenance"];

/// A change of one value of a file. Whole numbers with a point are left out: schemas do not know the point.
#[derive(Clone, Debug)]
enum Change {
    Remove,
    Replace(Value),
    AddKey,
    Duplicate,
}

fn change() -> impl Strategy<Value = Change> {
    let values = vec![
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(1.5),
        json!(1e12),
        json!(-1e19),
        json!(""),
        json!("x"),
        json!("ab".repeat(600)),
        json!([]),
        json!([1]),
        json!([[1]]),
        json!({}),
        json!(true),
    ];
    prop_oneof![
        Just(Change::Remove),
        Just(Change::AddKey),
        Just(Change::Duplicate),
        select(values).prop_map(Change::Replace),
    ]
}

/// Paths of all values, but of those of the envelope.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    let mut inner = |key: &str, value: &Value| {
        let path = format!("{path}/{key}");
        paths(value, &path, found);
        found.push(path);
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if !path.is_empty() || !ENVELOPE.contains(&key.as_str()) {
                    inner(key, value);
                }
            }
        }
        Value::Array(list) => list.iter().enumerate().for_each(|(at, value)| inner(&at.to_string(), value)),
        _ => {}
    }
}

fn changed(file: &Value, at: Index, change: &Change) -> Value {
    let mut all = Vec::new();
    paths(file, "", &mut all);
    let path = at.get(&all);
    let (parent, key) = path.rsplit_once('/').unwrap();
    let mut file = file.clone();
    match (change, file.pointer_mut(parent).unwrap()) {
        (Change::Remove, Value::Object(map)) => {
            map.remove(key);
        }
        (Change::Remove, Value::Array(list)) => {
            list.remove(key.parse().unwrap());
        }
        (Change::Replace(value), parent) => match parent {
            Value::Object(map) => map[key] = value.clone(),
            parent => parent[key.parse::<usize>().unwrap()] = value.clone(),
        },
        (Change::AddKey, Value::Object(map)) => {
            map.insert("surplus".to_owned(), json!(1));
        }
        (Change::Duplicate, Value::Array(list)) => list.push(list[0].clone()),
        _ => {}
    }
    file
}

/// What the reader of the form says; contradictions between fields are not its business.
fn read<K: Kind>(file: &Value) -> Result<(), String> {
    let body: Map<String, Value> = file.as_object().unwrap().clone();
    let body = body.into_iter().filter(|(key, _)| !ENVELOPE.contains(&key.as_str())).collect();
    let (body, mut problems) = (Value::Object(body), Problems::new());
    let mut fields = Fields::of(&body, "", &mut problems).unwrap();
    let scenario = K::read_scenario(&mut fields, &mut problems);
    fields.finish(&mut problems);
    match scenario {
        Some(_) if problems.is_empty() => Ok(()),
        _ => Err(problems.to_string()),
    }
}

fn file_of(name: &str) -> Value {
    serde_json::from_slice(&preset(name).unwrap().to_json().unwrap()).unwrap()
}

fn agree<K: Kind>(presets: &[&str]) {
    agree_on::<K>(presets.iter().map(|name| file_of(name)).collect());
}

fn agree_on<K: Kind>(files: Vec<Value>) {
    let validator = jsonschema::validator_for(&schema(SchemaOf::Scenario)).unwrap();
    for file in &files {
        assert_eq!((read::<K>(file), validator.is_valid(file)), (Ok(()), true), "{}", file["name"]);
    }
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(1500)
    });
    let cases = (select(files), any::<Index>(), change());
    runner
        .run(&cases, |(file, at, change)| {
            let file = changed(&file, at, &change);
            let read = read::<K>(&file);
            prop_assert_eq!(read.is_ok(), validator.is_valid(&file), "{:?}", read);
            Ok(())
        })
        .unwrap();
}

#[test]
fn pods() {
    agree::<lightbay_tpu::Tpu>(&["tpu-64", "pdtt-4x8x8", "tpu-random-256"]);
}

#[test]
fn crossconnects() {
    agree::<lightbay_crossconnect::Crossconnect>(&["crossconnect-example", "crossconnect-8-8-25"]);
}

#[test]
fn regions() {
    agree::<lightbay_moe::Moe>(&["moe-small", "moe-deepseek_v3"]);
}

#[test]
fn collectives() {
    agree::<lightbay_collective::Collective>(&[
        "dgx1-allgather-200kb",
        "ring8-allgather-1mb",
        "a100x2-allgather-1gb",
    ]);
}

#[test]
fn training_jobs() {
    let job = file_of("tiny4");
    let mut own = job.clone();
    own["job"]["model"] = json!({
        "layers": 4, "hidden": 64, "ffn": 256, "heads": 4, "kv_heads": 2, "head_dim": 16, "vocab": 100, "experts": 8,
        "topk": 2, "expert_ffn": 32, "mla": { "q_lora": 8, "kv_lora": 8, "rope": 4, "nope": 8, "v": 8 },
    });
    own["job"]["ports_per_pod"] = json!([4, 4]);
    own["job"]["reconfiguration"] = json!({ "delay_s": 0.025, "most_switchings": 1 });
    let mut measured = job.clone();
    measured["job"]["measured"] = json!({
        "stages": [{ "fwd_s": 0.1, "bwd_s": 0.2, "dp_bytes_per_gpu": 1e6, "dp_bytes_per_micro_batch": 10.0 }],
        "pp_bytes_per_rank": 1e6, "order": [["F1", "B1"]], "replicas": 2,
    });
    let mut shared = job.clone();
    let placed = json!({ "name": "a", "weight": 2, "first_pod": 0, "job": job["job"] });
    shared.as_object_mut().unwrap().remove("job");
    shared["jobs"] = json!([placed, placed]);
    agree_on::<lightbay_training::Training>(vec![job, own, measured, shared]);
}
