//! GraphML: nodes, edges, and their data by the names of the keys.

use super::builder::Builder;
use super::facts::{LinkFacts, part_of};
use crate::xml;
use lightbay_core::problem::{Problems, printable};
use roxmltree::Node;
use std::collections::HashMap;

pub(super) fn read(text: &str) -> Result<Builder, Problems> {
    let document = xml::parse(text)?;
    let mut builder = Builder::default();
    let root = document.root_element();
    let named = |node: Node<'_, '_>, name: &str| node.is_element() && node.tag_name().name() == name;
    let graphs: Vec<_> = root.children().filter(|node| named(*node, "graph")).collect();
    let [graph] = graphs.as_slice() else {
        let message = format!("holds {} graphs", graphs.len());
        builder.problems.add("graphml", message, "give a file with one graph");
        return Ok(builder);
    };
    if graph.descendants().any(|node| node != *graph && named(node, "graph")) {
        builder.problems.add("graph", "has graphs inside of nodes", "give a flat graph");
        return Ok(builder);
    }
    let keys: HashMap<&str, &str> = root
        .children()
        .filter(|node| named(*node, "key"))
        .filter_map(|key| {
            Some((key.attribute("id")?, key.attribute("attr.name").or_else(|| key.attribute("id"))?))
        })
        .collect();
    let data = |node: Node<'_, '_>| {
        let data = node.children().filter(move |child| named(*child, "data"));
        let pair = |child: Node<'_, '_>| {
            let key = child.attribute("key")?;
            Some((
                keys.get(key).copied().unwrap_or(key).to_owned(),
                child.text().unwrap_or_default().trim().to_owned(),
            ))
        };
        data.filter_map(pair).collect::<Vec<_>>()
    };
    for node in graph.children().filter(|node| named(*node, "node")) {
        let place = xml::place(node);
        let Some(name) = node.attribute("id") else {
            builder.problems.add(place, "has no id", "give the node an id");
            continue;
        };
        if builder.known(name).is_some() {
            let message = format!("'{}' is the id of another node", printable(name));
            builder.problems.add(place, message, "give every node an id of its own");
            continue;
        }
        let id = builder.node(name);
        for (key, value) in data(node) {
            builder.plays(id, part_of(&key, &value));
        }
        if builder.is_full() {
            return Ok(builder);
        }
    }
    let usual = graph.attribute("edgedefault") == Some("directed");
    for edge in graph.children().filter(|node| named(*node, "edge")) {
        let place = xml::place(edge);
        let end = |key: &str| edge.attribute(key).and_then(|name| builder.known(name));
        let (Some(from), Some(to)) = (end("source"), end("target")) else {
            builder.problems.add(
                place,
                "has a source or target that is none of the nodes",
                "name two nodes by their id",
            );
            continue;
        };
        let mut facts = LinkFacts::default();
        for (key, value) in data(edge) {
            if let Err(wrong) = facts.take(&key, &value) {
                builder.problems.add(place.as_str(), printable(&wrong), "correct the data of the edge");
            }
        }
        let directed = edge.attribute("directed").map_or(usual, |word| word == "true");
        builder.link(from, to, facts, !directed, &place);
        if builder.is_full() {
            break;
        }
    }
    Ok(builder)
}
