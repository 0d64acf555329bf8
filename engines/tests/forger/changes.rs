//! Every single change of a plan file that could profit whoever hands it over.

use serde_json::{Number, Value, json};
use std::fmt::Write as _;

/// One field changed.
pub struct Change {
    /// The field without positions: `result.tasks[].start_s`.
    pub place: String,
    /// The field: `result.tasks[3].start_s`.
    pub at: String,
    /// Change that was made.
    pub what: String,
}

/// Entries of a list that are changed: those of a long list are alike.
const ENTRIES: usize = 2;

/// Words that fields take one of.
const WORDS: &[(&str, &[&str])] = &[
    ("status", &["optimal", "gap_reached", "feasible", "heuristic", "stopped", "numerical_trouble"]),
    ("limit", &["time", "work", "stall"]),
    ("sense", &["min", "max"]),
    ("name", &["makespan_s", "mcf_lower", "removed_circuits"]),
    ("rate_control", &["fair", "joint"]),
    ("bound_covers", &["plans at fair rates", "plans with the orientation that was chosen first"]),
    (
        "method",
        &["prop-alloc", "delta-joint", "delta-topo", "tons-fast", "pt", "lumos-exact", "lumos-relabel"],
    ),
    ("kind", &["training", "tpu", "crossconnect"]),
    ("schema", &["lightbay.plan/2", "lightbay.scenario/1"]),
    ("robust", &["", "seq=2048", "bandwidth_gbps=400", "seq=1024,2048", "seq=2048,1024", "seq=2048,3072"]),
];

/// Makes all changes of a file, one at a time.
pub fn each(file: &Value, mut visit: impl FnMut(&Change, &Value)) {
    let mut paths = Vec::new();
    collect(file, &mut Vec::new(), &mut paths);
    // Changed in place and mended again: a file may be large, and the changes are many.
    let mut forged = file.clone();
    for path in paths {
        let here = follow(&mut forged, &path).clone();
        let (place, at) = names(&path);
        for (inside, what, new) in variants(&path, &here) {
            *follow(&mut forged, &path) = new;
            visit(&Change { place: join(&place, inside), at: at.clone(), what }, &forged);
        }
        *follow(&mut forged, &path) = here;
    }
}

/// Makes one change of a file; `choose` picks one of so many.
pub fn any(file: &Value, mut choose: impl FnMut(usize) -> usize) -> Option<(Change, Value)> {
    let mut paths = Vec::new();
    collect(file, &mut Vec::new(), &mut paths);
    let path = &paths[choose(paths.len())];
    let mut forged = file.clone();
    let here = follow(&mut forged, path).clone();
    let mut found = variants(path, &here);
    if found.is_empty() {
        return None;
    }
    let (inside, what, new) = found.swap_remove(choose(found.len()));
    let (place, at) = names(path);
    let change = Change { place: join(&place, inside), at, what };
    *follow(&mut forged, path) = new;
    Some((change, forged))
}

/// A step from a value to one inside it.
#[derive(Clone)]
enum Step {
    Key(String),
    Entry(usize),
}

fn follow<'v>(root: &'v mut Value, path: &[Step]) -> &'v mut Value {
    path.iter().fold(root, |place, step| match step {
        Step::Key(key) => &mut place[key.as_str()],
        Step::Entry(index) => &mut place[*index],
    })
}

/// The place without and with positions.
fn names(path: &[Step]) -> (String, String) {
    let (mut rule, mut at) = (String::new(), String::new());
    for step in path {
        match step {
            Step::Key(key) => {
                rule = join(&rule, key);
                at = join(&at, key);
            }
            Step::Entry(index) => {
                rule.push_str("[]");
                let _ = write!(at, "[{index}]");
            }
        }
    }
    (rule, at)
}

fn join(path: &str, key: &str) -> String {
    match (path, key) {
        (_, "") => path.to_owned(),
        ("", _) => key.to_owned(),
        _ => format!("{path}.{key}"),
    }
}

fn collect(here: &Value, path: &mut Vec<Step>, paths: &mut Vec<Vec<Step>>) {
    paths.push(path.clone());
    let mut go = |step: Step, inner: &Value| {
        path.push(step);
        collect(inner, path, paths);
        path.pop();
    };
    match here {
        Value::Object(map) => map.iter().for_each(|(key, inner)| go(Step::Key(key.clone()), inner)),
        Value::Array(list) => {
            // The first and the last.
            let few = (0..list.len()).filter(|index| *index < ENTRIES - 1 || index + 1 == list.len());
            few.for_each(|index| go(Step::Entry(index), &list[index]));
        }
        _ => {}
    }
}

/// Returns other values for this place: the key inside that it is about, what was done, the new value.
fn variants<'v>(path: &[Step], here: &'v Value) -> Vec<(&'v str, String, Value)> {
    let mut found: Vec<(&str, String, Value)> = Vec::new();
    found.extend(others(path, here).into_iter().map(|(what, new)| ("", what, new)));
    match here {
        Value::Object(map) => {
            for key in map.keys() {
                let mut fewer = map.clone();
                fewer.remove(key);
                found.push((key, "removed".to_owned(), Value::Object(fewer)));
            }
            let mut more = map.clone();
            more.insert("forged".to_owned(), json!(1));
            found.push(("forged", "added".to_owned(), Value::Object(more)));
        }
        Value::Array(list) if !list.is_empty() => {
            found.extend(lists(list).into_iter().map(|(what, new)| ("", what.to_owned(), Value::Array(new))));
        }
        _ => {}
    }
    found
}

fn lists(list: &[Value]) -> Vec<(&'static str, Vec<Value>)> {
    let last = list.len() - 1;
    let mut found = Vec::new();
    let mut forged = |what: &'static str, edit: &dyn Fn(&mut Vec<Value>)| {
        let mut new = list.to_vec();
        edit(&mut new);
        if new != list {
            found.push((what, new));
        }
    };
    forged("emptied", &Vec::clear);
    forged("without its first entry", &|list| drop(list.remove(0)));
    forged("without its last entry", &|list| drop(list.pop()));
    forged("with its first entry twice", &|list| list.insert(0, list[0].clone()));
    forged("with its last entry twice", &|list| list.push(list[last].clone()));
    forged("with its ends swapped", &|list| list.swap(0, last));
    if last > 0 {
        forged("with its first two entries swapped", &|list| list.swap(0, 1));
    }
    found
}

/// Other values for a field.
fn others(path: &[Step], here: &Value) -> Vec<(String, Value)> {
    let key = path.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Entry(_) => None,
    });
    let words = WORDS.iter().find(|(name, _)| Some(*name) == key).map_or(&[][..], |(_, words)| words);
    let mut values: Vec<Value> = words.iter().map(|word| json!(word)).collect();
    match here {
        Value::Null => values.extend([json!(0), json!(0.5), json!(1)]),
        Value::Bool(yes) => values.push(json!(!yes)),
        Value::Number(number) => values.extend(numbers(number)),
        Value::String(text) => values.extend([json!(format!("{text}x")), json!("")]),
        Value::Array(_) | Value::Object(_) => {}
    }
    if !path.is_empty() {
        values.push(Value::Null);
    }
    values.retain(|value| value != here);
    values.into_iter().map(|value| (format!("to {value}"), value)).collect()
}

fn numbers(number: &Number) -> Vec<Value> {
    if let Some(whole) = number.as_i64() {
        let others = [whole.saturating_add(1), whole - 1, whole.saturating_mul(2), whole / 2, 0, -whole];
        return others.iter().map(|other| json!(other)).collect();
    }
    let value = number.as_f64().unwrap();
    let others = [value * (1.0 - 1e-6), value * (1.0 + 1e-6), value / 2.0, value * 2.0, 0.0, -value];
    // What rounding explains is no forgery: it helps nothing by more than 1e-9.
    let differs = |other: &&f64| other.is_finite() && (**other - value).abs() > 1e-9 * value.abs();
    others.iter().filter(differs).map(|other| json!(other)).collect()
}
