//! Replies over NETCONF, alone or as the record of a session whose messages end with `]]>]]>`.

use super::{Connection, Listing};
use lightbay_core::problem::{Problem, Problems};
use roxmltree::{Document, Error, Node, ParsingOptions};

const END: &str = "]]>]]>";

/// Maximum number of elements and texts of a reply: about a dozen per connection, which suffices for more connections
/// than any switch has ports.
const MAX_NODES: u32 = 1_000_000;
/// Maximum length of a tag, in bytes. The limit bounds the parse time, because the parser compares every attribute of a
/// tag with all previous ones.
const MAX_TAG_BYTES: usize = 4096;
/// Maximum number of namespace declarations. The limit bounds memory, because an element with a declaration copies all
/// declarations of the enclosing elements.
const MAX_NAMESPACES: usize = 10_000;

/// Reads the pairs of the last reply that has any cross-connects. Namespaces are ignored, because they differ between
/// firmware versions.
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
        Problem::new(
            "",
            "contains no usable reply: a reply has 'cross-connects', or an empty 'data' if there are no connections",
            "check that this is the file you meant",
        )
        .into()
    })
}

/// Returns the position of the first tag that is too long, if there is one. Comments may have any length.
fn long_tag(message: &str) -> Option<usize> {
    message.match_indices('<').map(|(at, _)| at).find(|&at| {
        let rest = &message.as_bytes()[at + 1..];
        let is_tag = rest.first().is_some_and(u8::is_ascii_alphabetic);
        is_tag && rest.len() > MAX_TAG_BYTES && !rest[..MAX_TAG_BYTES].contains(&b'>')
    })
}

fn message_pairs(message: &str, lines_before: usize) -> Result<Option<Listing>, Problems> {
    if let Some(at) = long_tag(message) {
        let line = lines_before + 1 + message[..at].matches('\n').count();
        let message = format!("has a tag of more than {MAX_TAG_BYTES} bytes");
        return Err(
            Problem::new(format!("line {line}"), message, "check that this is the file you meant").into()
        );
    }
    if message.matches("xmlns").count() > MAX_NAMESPACES {
        let message = format!("declares namespaces more than {MAX_NAMESPACES} times");
        return Err(Problem::new(
            "",
            message,
            "replies of switches declare fewer; check that this is the file you meant",
        )
        .into());
    }
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(message, options).map_err(|error| {
        if matches!(error, Error::NodesLimitReached) {
            let message = format!("has more than {MAX_NODES} XML elements and texts");
            return Problem::new(
                "",
                message,
                "replies of switches have fewer; check that this is the file you meant",
            );
        }
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
    // Requests in the record are not replies, even if they contain cross-connects.
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
            Some((ingress, egress)) => {
                listing.found.push(Connection { place, ingress, egress, both_ways: None });
            }
            None => problems.add(place, "is a pair without an ingress or egress port", "give both"),
        }
    }
    problems.into_result(Some(listing))
}
