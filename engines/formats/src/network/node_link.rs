//! Node-link JSON, as networkx writes it: `nodes` with `id`, `links` or `edges` with `source` and `target`.

use super::builder::Builder;
use super::facts::{LinkFacts, part_of};
use lightbay_core::problem::{Problems, printable};
use lightbay_core::read::parse_json;
use serde_json::{Map, Value};

pub(super) fn is_one(text: &str) -> bool {
    text.contains("\"nodes\"")
        && (text.contains("\"links\"") || text.contains("\"edges\""))
        && text.contains("\"source\"")
        && text.contains("\"target\"")
}

/// A name or number as text.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

pub(super) fn read(text: &str) -> Result<Builder, Problems> {
    let whole = parse_json(text.as_bytes())?;
    let mut builder = Builder::default();
    let list = |key: &str| whole.get(key).and_then(Value::as_array).map(Vec::as_slice);
    let (Some(nodes), Some(links)) = (list("nodes"), list("links").or_else(|| list("edges"))) else {
        let message = "has no list of nodes, or none of links (or edges)";
        builder.problems.add("", message, "write it with networkx.node_link_data");
        return Ok(builder);
    };
    for (at, node) in nodes.iter().enumerate() {
        let Some(id) = node.get("id").or_else(|| node.get("name")).and_then(word) else {
            builder.problems.add(
                format!("nodes[{at}].id"),
                "is missing or neither text nor number",
                "name the node",
            );
            continue;
        };
        if builder.known(&id).is_some() {
            let message = format!("'{}' is the id of another node", printable(&id));
            builder.problems.add(format!("nodes[{at}].id"), message, "give every node an id of its own");
            continue;
        }
        let id = builder.node(&id);
        for (name, value) in node.as_object().into_iter().flatten() {
            builder.plays(id, value.as_str().and_then(|value| part_of(name, value)));
        }
        if builder.is_full() {
            return Ok(builder);
        }
    }
    let both_ways = !whole.get("directed").and_then(Value::as_bool).unwrap_or(false);
    for (at, link) in links.iter().enumerate() {
        let place = format!("links[{at}]");
        let end = |key: &str| link.get(key).and_then(word).and_then(|name| builder.known(&name));
        let (Some(from), Some(to)) = (end("source"), end("target")) else {
            let message = "has a source or target that is none of the nodes";
            builder.problems.add(place, message, "name two nodes by their id");
            continue;
        };
        let facts = facts(link.as_object(), &place, &mut builder.problems);
        builder.link(from, to, facts, both_ways, &place);
        if builder.is_full() {
            break;
        }
    }
    Ok(builder)
}

fn facts(link: Option<&Map<String, Value>>, place: &str, problems: &mut Problems) -> LinkFacts {
    let mut facts = LinkFacts::default();
    for (name, value) in link.into_iter().flatten() {
        let Some(value) = word(value) else { continue };
        if let Err(wrong) = facts.take(name, &value) {
            problems.add(place, printable(&wrong), "correct the attribute");
        }
    }
    facts
}
