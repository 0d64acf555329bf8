//! Chakra traces in JSON: the protobuf messages converted to JSON, or one small object with the list `workload_graph`.

use crate::gz::{self, Limits};
use crate::traces::{NodeFacts, RankTrace, TraceBuilder};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::brief;
use serde_json::{Map, Value};
use std::io::BufRead;

/// Maximum size of the text of a trace, bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Types of nodes by their names in protobuf.
const SORTS: [(&str, u64); 8] = [
    ("INVALID_NODE", 0),
    ("METADATA_NODE", 1),
    ("MEM_LOAD_NODE", 2),
    ("MEM_STORE_NODE", 3),
    ("COMP_NODE", 4),
    ("COMM_SEND_NODE", 5),
    ("COMM_RECV_NODE", 6),
    ("COMM_COLL_NODE", 7),
];

/// Reads the trace of a rank.
///
/// # Errors
/// Text that is not JSON, a PyTorch execution trace, and every problem of its nodes.
pub fn read(reader: impl BufRead, limits: &Limits, promote: bool) -> Result<RankTrace, Problems> {
    let stored = gz::stored_text(reader, limits, MOST_BYTES)?;
    let mut builder = TraceBuilder::new(promote);
    let mut problems = Problems::new();
    let mut found = false;
    for part in documents(&stored.text) {
        let document = stored.json(part)?;
        let Some(object) = document.as_object() else {
            return Err(
                Problem::new("", format!("is {}", brief(&document)), "give the nodes as objects").into()
            );
        };
        let list = ["workload_graph", "nodes", "node"].iter().find_map(|key| object.get(*key));
        match list.map(Value::as_array) {
            Some(Some(nodes)) => {
                found = true;
                for value in nodes {
                    add(value, &mut builder, &mut problems)?;
                }
            }
            Some(None) => {
                return Err(Problem::new("nodes", "is not a list", "give a list of nodes").into());
            }
            None if object.contains_key("id") || object.contains_key("Id") => {
                found = true;
                add(&document, &mut builder, &mut problems)?;
            }
            // The metadata.
            None => {}
        }
    }
    if !found && problems.is_empty() {
        problems.add("", "has no nodes", "check that this is a Chakra trace");
    }
    match builder.finish() {
        Ok(trace) => problems.into_result(trace),
        Err(more) => {
            problems.extend(more);
            Err(problems)
        }
    }
}

/// Returns the JSON documents of a text, one after the other.
fn documents(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = end_of_document(rest.as_bytes()).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after.trim_start_matches(|sign: char| sign.is_whitespace() || sign == ',');
        Some(part)
    })
}

/// Returns the end of the first object or list; `None` if the object or list is not closed.
fn end_of_document(text: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, sign) in text.iter().enumerate() {
        match sign {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the value as a whole number; `None` if it is not a whole number. Also reads numbers in quotes, because
/// protobuf writes 64-bit integers in quotes.
fn int(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
            .or_else(|| number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 1e19).map(|f| f as i128)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(value) => Some(i128::from(*value)),
        _ => None,
    }
}

fn float(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
}

fn key<'v>(object: &'v Map<String, Value>, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| object.get(*name)).filter(|value| !value.is_null())
}

fn add(value: &Value, builder: &mut TraceBuilder, problems: &mut Problems) -> Result<(), Problem> {
    let Some(object) = value.as_object() else {
        problems.add("nodes", format!("has {}", brief(value)), "give every node as an object");
        return Ok(());
    };
    let id = key(object, &["id", "Id"]).and_then(int).and_then(|id| u64::try_from(id).ok());
    // Protobuf leaves out fields that are zero.
    let id = id.or_else(|| key(object, &["id", "Id"]).is_none().then_some(0));
    let Some(id) = id else {
        problems.add("nodes", "has a node whose id is not a whole number", "give whole numbers from 0");
        return Ok(());
    };
    let place = |name: &str| format!("node {id} {name}");
    let sort = match key(object, &["type", "NodeType"]) {
        None => Some(0),
        Some(Value::String(name)) => {
            SORTS.iter().find(|(known, _)| known == name).map(|(_, sort)| *sort).or_else(|| name.parse().ok())
        }
        Some(number) => int(number).and_then(|sort| u64::try_from(sort).ok()),
    };
    let Some(sort) = sort else {
        problems.add(place("type"), "is not a type of Chakra", "give COMP_NODE, COMM_COLL_NODE or similar");
        return Ok(());
    };
    let mut deps = Vec::new();
    for names in [["ctrlDeps", "ctrl_deps"], ["dataDeps", "data_deps"]] {
        match key(object, &names) {
            None => {}
            Some(Value::Array(list)) => {
                for dep in list {
                    match int(dep).and_then(|dep| u64::try_from(dep).ok()) {
                        Some(dep) => deps.push(dep),
                        None => problems.add(place(names[0]), "is not a list of ids", "give whole numbers"),
                    }
                }
            }
            Some(_) => {
                return Err(Problem::new(
                    place(names[1]),
                    "is a single number, as in PyTorch execution traces",
                    "give lists of ids; execution traces have a key `schema`",
                ));
            }
        }
    }
    let mut facts = NodeFacts::new(id, sort);
    facts.name = key(object, &["name", "Name"]).and_then(Value::as_str).unwrap_or_default();
    let micros = key(object, &["durationMicros", "duration_micros", "runtime"]);
    match micros.map(float) {
        None => {}
        Some(Some(micros)) => facts.micros = micros,
        Some(None) => problems.add(place("duration"), "is not a number", "give microseconds"),
    }
    let list = key(object, &["attr", "attrs"]).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for attribute in list.iter().filter_map(Value::as_object) {
        let name = attribute.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_value = |own: &str| own.ends_with("Val") || own.ends_with("_val") || own == "value";
        let found = attribute.iter().find(|(own, _)| is_value(own)).map(|(_, value)| value);
        if let Some(found) = found {
            set(&mut facts, name, found);
        }
    }
    for name in [
        "comm_size",
        "comm_type",
        "comm_src",
        "comm_dst",
        "comm_tag",
        "is_cpu_op",
        "num_ops",
        "tensor_size",
        "pg_name",
    ] {
        if let Some(found) = object.get(name) {
            set(&mut facts, name, found);
        }
    }
    if facts.micros.is_nan() {
        problems.add(place("duration"), "is not a number", "give microseconds");
        return Ok(());
    }
    builder.add(&facts, &deps)
}

fn set<'a>(facts: &mut NodeFacts<'a>, name: &str, value: &'a Value) {
    let number = int(value);
    match name {
        "num_ops" => facts.operations = number,
        "tensor_size" => facts.tensor_size = number,
        "duration_nanos" => facts.micros = number.map_or(facts.micros, |nanos| nanos as f64 / 1e3),
        "comm_size" => facts.comm_size = number,
        "comm_type" => facts.comm_type = number,
        "comm_src" => facts.from = number,
        "comm_dst" => facts.to = number,
        "comm_tag" => facts.tag = number,
        "is_cpu_op" => facts.host = number.map(|value| value != 0),
        "pg_name" => facts.group = value.as_str(),
        _ => {}
    }
}
