//! GraphML: nodes, edges, and the data of both under the names of its keys.

use super::builder::Builder;
use super::facts::part_of;
use crate::xml;
use lightbay_core::problem::Problems;
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
        builder.problems.add("graphml", message, "use a file with one graph");
        return Ok(builder);
    };
    if graph.descendants().any(|node| node != *graph && named(node, "graph")) {
        builder.problems.add("graph", "has graphs inside nodes", "use a flat graph");
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
        let Some(id) = builder.declare(node.attribute("id"), &xml::place(node)) else { continue };
        for (key, value) in data(node) {
            builder.plays(id, part_of(&key, &value));
        }
        if builder.is_full() {
            return Ok(builder);
        }
    }
    let usual = graph.attribute("edgedefault") == Some("directed");
    for edge in graph.children().filter(|node| named(*node, "edge")) {
        let directed = edge.attribute("directed").map_or(usual, |word| word == "true");
        let attributes = data(edge);
        let attributes = attributes.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let ends = ["source", "target"].map(|end| edge.attribute(end));
        builder.join(ends, attributes, !directed, &xml::place(edge));
        if builder.is_full() {
            break;
        }
    }
    Ok(builder)
}
