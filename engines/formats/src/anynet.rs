//! BookSim's `anynet` network files: one line for each router, `router R node N… router R2 [latency]…`.
//!
//! The latency of a link between routers applies to one direction only and defaults to 1; the reverse direction exists
//! even if it is not listed, with latency 1. The writer lists both directions with their latencies. The latency of a
//! node, `node N latency`, applies to both of its channels.

use lightbay_core::problem::{Problems, printable};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A network of routers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anynet {
    /// The router of every node (a source and sink of traffic), and the latency in cycles of the channels between them,
    /// by node number.
    pub nodes: BTreeMap<u32, (u32, u32)>,
    /// Latency in cycles of every direction of a link, by its source and destination routers.
    pub links: BTreeMap<(u32, u32), u32>,
}

/// Writes a network.
pub fn write(net: &Anynet) -> String {
    let mut lines: BTreeMap<u32, String> = BTreeMap::new();
    for (node, (router, latency)) in &net.nodes {
        let line = lines.entry(*router).or_default();
        let _ = write!(line, " node {node}");
        if *latency != 1 {
            let _ = write!(line, " {latency}");
        }
    }
    for ((from, to), latency) in &net.links {
        let line = lines.entry(*from).or_default();
        let _ = write!(line, " router {to} {latency}");
    }
    let mut text = String::new();
    for (router, line) in lines {
        let _ = writeln!(text, "router {router}{line}");
    }
    text
}

/// Reads a network, as BookSim does.
///
/// # Errors
/// Every line that is not `router R` followed by nodes and routers.
pub fn read(text: &str) -> Result<Anynet, Problems> {
    let mut net = Anynet::default();
    let mut problems = Problems::new();
    for (index, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Err(what) = read_line(&words, &mut net) {
            problems.add(
                format!("line {}", index + 1),
                what,
                "write 'router R' followed by 'node N' or 'router R2' entries, each with a latency if it \
                 is not 1",
            );
        }
    }
    // The reverse direction exists even if it is not listed.
    let reverse: Vec<(u32, u32)> = net.links.keys().map(|&(from, to)| (to, from)).collect();
    for link in reverse {
        net.links.entry(link).or_insert(1);
    }
    problems.into_result(net)
}

fn read_line(words: &[&str], net: &mut Anynet) -> Result<(), String> {
    let number = |at: usize| -> Result<u32, String> {
        let word = words.get(at).ok_or("ends where a number is expected")?;
        word.parse().map_err(|_| format!("has '{}' where a number is expected", printable(word)))
    };
    let Some(first) = words.first() else { return Ok(()) };
    if *first != "router" {
        return Err(format!("begins with '{}'", printable(first)));
    }
    let router = number(1)?;
    let mut at = 2;
    while let Some(word) = words.get(at) {
        let other = number(at + 1)?;
        let latency = words.get(at + 2).and_then(|word| word.parse().ok());
        match *word {
            "node" => {
                let channel = (router, latency.unwrap_or(1));
                if net.nodes.insert(other, channel).is_some_and(|(before, _)| before != router) {
                    return Err(format!("is the second router of node {other}"));
                }
            }
            "router" => {
                net.links.insert((router, other), latency.unwrap_or(1));
            }
            _ => return Err(format!("has '{}' where 'node' or 'router' is expected", printable(word))),
        }
        at += if latency.is_some() { 3 } else { 2 };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booksims_own_example_is_read() {
        let text = "router 0 node 0 node 1 node 2 router 1\nrouter 1 node 3 node 4 node 5\nrouter 2 node 6 node 7 node 8 router 1 router 0\n";
        let net = read(text).unwrap();
        assert_eq!(net.nodes.len(), 9);
        assert_eq!(net.nodes[&7], (2, 1));
        let links: Vec<(u32, u32)> = net.links.keys().copied().collect();
        assert_eq!(links, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]);
        assert_eq!(read(&write(&net)).unwrap(), net);
    }

    #[test]
    fn latencies_are_those_of_one_direction() {
        let net = read("router 0 router 1 15 node 0\nrouter 1 node 1 2\n").unwrap();
        assert_eq!(net.links, BTreeMap::from([((0, 1), 15), ((1, 0), 1)]));
        assert_eq!(net.nodes, BTreeMap::from([(0, (0, 1)), (1, (1, 2))]));
        assert_eq!(write(&net), "router 0 node 0 router 1 15\nrouter 1 node 1 2 router 0 1\n");
        assert_eq!(read(&write(&net)).unwrap(), net);
    }

    #[test]
    fn every_bad_line_is_named() {
        let problems = read(
            "router x\nnode 1 router 2\nrouter 1 node\nrouter 1 switch 2\nrouter 1 node 1\nrouter 2 node 1\n",
        );
        let paths: Vec<String> =
            problems.unwrap_err().list().iter().map(|problem| problem.path.clone()).collect();
        assert_eq!(paths, ["line 1", "line 2", "line 3", "line 4", "line 6"]);
    }
}
