//! Node-link JSON, as networkx writes it: `nodes` with `id`, `links` or `edges` with `source` and `target`.

use super::builder::Builder;
use lightbay_core::problem::Problems;
use lightbay_core::read::parse_json;
use serde_json::Value;
use std::collections::HashSet;

pub(super) fn is_one(text: &str) -> bool {
    text.contains("\"nodes\"")
        && (text.contains("\"links\"") || text.contains("\"edges\""))
        && text.contains("\"source\"")
        && text.contains("\"target\"")
}

/// Returns a name or number as text.
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
        let message = "has no list 'nodes', or no list 'links' (or 'edges')";
        builder.problems.add("", message, "write it with networkx.node_link_data");
        return Ok(builder);
    };
    for (at, node) in nodes.iter().enumerate() {
        let name = node.get("id").or_else(|| node.get("name")).and_then(word);
        let Some(id) = builder.declare(name.as_deref(), &format!("nodes[{at}]")) else { continue };
        for (name, value) in node.as_object().into_iter().flatten() {
            builder.describe(id, name, &word(value).unwrap_or_default());
        }
        if builder.is_full() {
            return Ok(builder);
        }
    }
    let directed = whole.get("directed");
    let mut given = HashSet::new();
    let both_ways = !whole.get("directed").and_then(Value::as_bool).unwrap_or(false);
    for (at, link) in links.iter().enumerate() {
        let ends = ["source", "target"].map(|end| link.get(end).and_then(word));
        if directed.is_none() {
            let [from, to] = ends.clone();
            if from != to && given.contains(&[to.clone(), from.clone()]) {
                let message = "is missing, but the file has links between two nodes in both orders";
                builder.problems.add(
                    "directed",
                    message,
                    "add \"directed\": true or \"directed\": false to the file",
                );
                break;
            }
            given.insert([from, to]);
        }
        let attributes: Vec<(&str, String)> = link
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.as_str(), word(value)?)))
            .collect();
        let attributes = attributes.iter().map(|(name, value)| (*name, value.as_str()));
        builder.join(ends.each_ref().map(Option::as_deref), attributes, both_ways, &format!("links[{at}]"));
        if builder.is_full() {
            break;
        }
    }
    Ok(builder)
}
