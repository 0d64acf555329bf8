//! Replies over NETCONF, alone or as the record of a session whose messages end with `]]>]]>`.

use super::{Found, Listing};
use lightbay_core::problem::{Problem, Problems};
use roxmltree::{Document, Node};

const END: &str = "]]>]]>";

/// The pairs of the last reply that has any cross-connects. Name spaces are not insisted on: firmware differs in them.
pub(super) fn pairs(text: &str) -> Result<Listing, Problems> {
    let mut last = None;
    let mut lines_before = 0;
    for message in text.split(END) {
        if !message.trim().is_empty() {
            // An XML declaration has to be the first thing of a document.
            let blank = message.len() - message.trim_start().len();
            let before = lines_before + message[..blank].matches('\n').count();
            if let Some(listing) = message_pairs(&message[blank..], before)? {
                last = Some(listing);
            }
        }
        lines_before += message.matches('\n').count();
    }
    last.ok_or_else(|| {
        Problem::new("", "holds no reply with 'cross-connects' or an empty 'data'", "is it the right file?")
            .into()
    })
}

fn message_pairs(message: &str, lines_before: usize) -> Result<Option<Listing>, Problems> {
    let document = Document::parse(message).map_err(|error| {
        let line = lines_before + error.pos().row as usize;
        Problem::new(format!("line {line}"), format!("is not valid XML: {error}"), "was the reply cut off?")
    })?;
    let named = |node: &Node<'_, '_>, name: &str| node.is_element() && node.tag_name().name() == name;
    let place = |node: Node<'_, '_>| {
        format!("line {}", lines_before + document.text_pos_at(node.range().start).row as usize)
    };
    let root = document.root_element();
    if let Some(error) = root.descendants().find(|node| named(node, "rpc-error")) {
        let told = error.descendants().find(|node| named(node, "error-message")).and_then(|node| node.text());
        return Err(Problem::new(
            place(error),
            format!("the switch answers with an error: {}", told.unwrap_or("no message").trim()),
            "send the command again",
        )
        .into());
    }
    // What was sent is no reply, even where it has cross-connects in it.
    if ["rpc", "hello"].iter().any(|name| named(&root, name)) {
        return Ok(None);
    }
    let Some(list) = root.descendants().find(|node| named(node, "cross-connects")) else {
        let empty = root.descendants().any(|node| named(&node, "data"));
        return Ok(empty.then(Listing::default));
    };
    let mut problems = Problems::new();
    let mut listing = Listing::default();
    for pair in list.children().filter(|node| named(node, "pair") || named(node, "pairs")) {
        let place = place(pair);
        let port = |name: &str| {
            let node = pair.children().find(|node| named(node, name));
            node.and_then(|node| node.text()).map(|text| text.trim().to_owned())
        };
        match port("ingress").zip(port("egress")) {
            Some((ingress, egress)) => listing.found.push(Found { place, ingress, egress, both_ways: None }),
            None => problems.add(place, "is a pair without ingress or egress", "give both"),
        }
    }
    problems.into_result(Some(listing))
}
