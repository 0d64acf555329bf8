//! GraphML: nodes, edges, and the data of both under the names of its keys.

use super::builder::Builder;
use crate::xml;
use lightbay_core::problem::Problems;
use roxmltree::Node;

/// A key of the file: the name of an attribute, and its value where a node or edge has none.
struct GraphKey<'f> {
    id: &'f str,
    name: &'f str,
    /// Type of the elements that have the attribute: `node`, `edge` or `all`.
    of: &'f str,
    default: Option<&'f str>,
}

impl<'f> GraphKey<'f> {
    fn of(key: Node<'f, '_>) -> Option<Self> {
        let id = key.attribute("id")?;
        let default = key.children().find(|child| child.is_element() && child.tag_name().name() == "default");
        Some(Self {
            id,
            name: key.attribute("attr.name").unwrap_or(id),
            of: key.attribute("for").unwrap_or("all"),
            default: default.map(|default| default.text().unwrap_or_default().trim()),
        })
    }
}

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
    let keys: Vec<GraphKey<'_>> =
        root.children().filter(|node| named(*node, "key")).filter_map(GraphKey::of).collect();
    // The data of a node or edge, and the defaults of the keys for which it has no data.
    let data = |node: Node<'_, '_>, of: &str| {
        let given: Vec<(&str, &str)> = node
            .children()
            .filter(|child| named(*child, "data"))
            .filter_map(|child| Some((child.attribute("key")?, child.text().unwrap_or_default().trim())))
            .collect();
        let defaults = keys.iter().filter_map(|key| {
            let own = key.of == of || key.of == "all";
            let missing = !given.iter().any(|(id, _)| *id == key.id);
            key.default.filter(|_| own && missing).map(|default| (key.id, default))
        });
        let name = |id: &str| keys.iter().find(|key| key.id == id).map_or(id, |key| key.name).to_owned();
        let all = given.iter().copied().chain(defaults);
        all.map(|(id, value)| (name(id), value.to_owned())).collect::<Vec<_>>()
    };
    for node in graph.children().filter(|node| named(*node, "node")) {
        let Some(id) = builder.declare(node.attribute("id"), &xml::place(node)) else { continue };
        for (key, value) in data(node, "node") {
            builder.describe(id, &key, &value);
        }
        if builder.is_full() {
            return Ok(builder);
        }
    }
    let usual = graph.attribute("edgedefault") == Some("directed");
    for edge in graph.children().filter(|node| named(*node, "edge")) {
        let directed = edge.attribute("directed").map_or(usual, |word| word == "true");
        let attributes = data(edge, "edge");
        let attributes = attributes.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let ends = ["source", "target"].map(|end| edge.attribute(end));
        builder.join(ends, attributes, !directed, &xml::place(edge));
        if builder.is_full() {
            break;
        }
    }
    Ok(builder)
}
