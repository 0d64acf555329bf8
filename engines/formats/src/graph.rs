//! Graphs for other programs: GraphML (networkx, Gephi, yEd) and DOT (Graphviz).

pub use crate::value::Value;
use lightbay_core::problem::printable;
use std::fmt::Write as _;

/// A node or edge attribute of the whole graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name, with unit.
    pub name: &'static str,
    /// Type of the values: integers, numbers or text.
    pub sort: Sort,
}

/// Type of the values of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Whole numbers.
    Int,
    /// Numbers.
    Float,
    /// Text.
    Text,
}

/// A graph whose nodes are numbered from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Name of the graph.
    pub name: String,
    /// `true` if edges are directed from the first end to the second.
    pub directed: bool,
    /// Attributes of nodes.
    pub node_attributes: Vec<Attribute>,
    /// Attributes of edges.
    pub edge_attributes: Vec<Attribute>,
    /// Values of each node, in the order of the attributes; an empty text if the node has no value.
    pub nodes: Vec<Vec<Value>>,
    /// Both end nodes and the values of each edge.
    pub edges: Vec<(u32, u32, Vec<Value>)>,
    /// Attributes of the whole graph for Graphviz, such as `rankdir` with `LR`.
    pub drawing: Vec<(&'static str, &'static str)>,
}

/// Escapes text for XML, including attributes. Control characters, which XML does not allow even as escapes, become
/// `\u{..}`.
pub(crate) fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in printable(text).chars() {
        match sign {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            sign => safe.push(sign),
        }
    }
    safe
}

/// Writes a graph as GraphML.
pub fn graphml(graph: &Graph) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    let keys = [("node", 'n', &graph.node_attributes), ("edge", 'e', &graph.edge_attributes)];
    for (of, letter, attributes) in keys {
        for (index, attribute) in attributes.iter().enumerate() {
            let sort = match attribute.sort {
                Sort::Int => "long",
                Sort::Float => "double",
                Sort::Text => "string",
            };
            let name = xml(attribute.name);
            let _ = writeln!(
                text,
                "  <key id=\"{letter}{index}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{sort}\"/>"
            );
        }
    }
    let default = if graph.directed { "directed" } else { "undirected" };
    let _ = writeln!(text, "  <graph id=\"{}\" edgedefault=\"{default}\">", xml(&graph.name));
    let data = |text: &mut String, letter: char, values: &[Value]| {
        for (index, value) in values.iter().enumerate().filter(|(_, value)| !value.is_blank()) {
            let _ = write!(text, "<data key=\"{letter}{index}\">{}</data>", xml(&value.to_string()));
        }
    };
    for (node, values) in graph.nodes.iter().enumerate() {
        let _ = write!(text, "    <node id=\"{node}\">");
        data(&mut text, 'n', values);
        text.push_str("</node>\n");
    }
    for (from, to, values) in &graph.edges {
        let _ = write!(text, "    <edge source=\"{from}\" target=\"{to}\">");
        data(&mut text, 'e', values);
        text.push_str("</edge>\n");
    }
    text.push_str("  </graph>\n</graphml>\n");
    text
}

/// Writes a graph as DOT. Attributes that Graphviz knows, such as `label`, control the drawing.
pub fn dot(graph: &Graph) -> String {
    // Labels may have several lines.
    let line = |line: &str| printable(line).replace('\\', "\\\\").replace('"', "\\\"");
    let quoted = |text: &str| format!("\"{}\"", text.split('\n').map(line).collect::<Vec<_>>().join("\\n"));
    let list = |attributes: &[Attribute], values: &[Value]| {
        let pairs: Vec<String> = attributes
            .iter()
            .zip(values)
            .filter(|(_, value)| !value.is_blank())
            .map(|(attribute, value)| format!("{}={}", attribute.name, quoted(&value.to_string())))
            .collect();
        if pairs.is_empty() { String::new() } else { format!(" [{}]", pairs.join(", ")) }
    };
    let (word, arrow) = if graph.directed { ("digraph", "->") } else { ("graph", "--") };
    let mut text = format!("{word} {} {{\n", quoted(&graph.name));
    for (name, value) in &graph.drawing {
        let _ = writeln!(text, "  {name}={};", quoted(value));
    }
    for (node, values) in graph.nodes.iter().enumerate() {
        let _ = writeln!(text, "  {node}{};", list(&graph.node_attributes, values));
    }
    for (from, to, values) in &graph.edges {
        let _ = writeln!(text, "  {from} {arrow} {to}{};", list(&graph.edge_attributes, values));
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Graph {
        Graph {
            name: "a \"b\" <c>".to_owned(),
            directed: false,
            node_attributes: vec![Attribute { name: "cube", sort: Sort::Int }],
            edge_attributes: vec![
                Attribute { name: "kind", sort: Sort::Text },
                Attribute { name: "capacity_gbyte_per_s", sort: Sort::Float },
            ],
            nodes: vec![vec![Value::Int(0)], vec![Value::Int(1)]],
            edges: vec![(0, 1, vec![Value::Text("x & y".to_owned()), Value::Float(128.5)])],
            drawing: Vec::new(),
        }
    }

    #[test]
    fn graphml_says_what_the_graph_is() {
        let text = graphml(&pair());
        assert!(
            text.contains("<graph id=\"a &quot;b&quot; &lt;c&gt;\" edgedefault=\"undirected\">"),
            "{text}"
        );
        assert!(text.contains(
            "<key id=\"e1\" for=\"edge\" attr.name=\"capacity_gbyte_per_s\" attr.type=\"double\"/>"
        ));
        assert!(text.contains("<node id=\"1\"><data key=\"n0\">1</data></node>"));
        assert!(text.contains(
            "<edge source=\"0\" target=\"1\"><data key=\"e0\">x &amp; y</data><data key=\"e1\">128.5</data></edge>"
        ));
        // Every element that is opened is closed.
        for name in ["graphml", "graph", "node", "edge", "data"] {
            let (open, close) = (format!("<{name}"), format!("</{name}>"));
            let opened = text
                .match_indices(&open)
                .filter(|(at, _)| matches!(text.as_bytes()[at + open.len()], b' ' | b'>'));
            assert_eq!(opened.count(), text.matches(&close).count(), "{name}");
        }
    }

    #[test]
    fn dot_says_the_same() {
        let text = dot(&pair());
        assert_eq!(
            text,
            "graph \"a \\\"b\\\" <c>\" {\n  0 [cube=\"0\"];\n  1 [cube=\"1\"];\n  \
             0 -- 1 [kind=\"x & y\", capacity_gbyte_per_s=\"128.5\"];\n}\n"
        );
    }

    #[test]
    fn directed_graphs_say_so() {
        let graph = Graph { directed: true, drawing: vec![("rankdir", "LR")], ..pair() };
        assert!(graphml(&graph).contains("edgedefault=\"directed\""));
        let text = dot(&graph);
        assert!(text.starts_with("digraph ") && text.contains("{\n  rankdir=\"LR\";\n  0 ["), "{text}");
        assert!(text.contains("  0 -> 1 ["), "{text}");
    }
}
