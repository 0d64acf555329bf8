//! XML of other tools, parsed within limits: no document type, no custom entities, and limits on the length of tags and
//! the size of the tree.

use lightbay_core::problem::{Problem, Problems, printable};
use roxmltree::{Document, Error, Node, ParsingOptions};
use std::fmt::Display;
use std::str::FromStr;

/// Maximum length of a tag, bytes. The parser compares every attribute of a tag with all attributes before it.
const MAX_TAG_BYTES: usize = 8192;
/// Maximum number of namespace declarations. An element with a declaration copies all declarations around it.
const MAX_NAMESPACES: usize = 100;
/// Maximum number of elements and texts of a document.
const MAX_NODES: u32 = 4_000_000;
/// Maximum nesting depth of elements.
const MAX_DEPTH: usize = 64;

/// Parses a document.
///
/// # Errors
/// Anything that is not XML, a document type, and documents beyond the limits.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, Problem> {
    const REMEDY: &str = "check that this is the intended file";
    let line_of = |at: usize| format!("line {}", 1 + text[..at].matches('\n').count());
    let long = text.match_indices('<').map(|(at, _)| at).find(|&at| {
        let rest = &text.as_bytes()[at + 1..];
        let is_tag = rest.first().is_some_and(u8::is_ascii_alphabetic);
        is_tag && rest.len() > MAX_TAG_BYTES && !rest[..MAX_TAG_BYTES].contains(&b'>')
    });
    if let Some(at) = long {
        return Err(Problem::new(
            line_of(at),
            format!("has a tag of more than {MAX_TAG_BYTES} bytes"),
            REMEDY,
        ));
    }
    if let Some((at, _)) = text.match_indices("xmlns").nth(MAX_NAMESPACES) {
        let message = format!("declares more than {MAX_NAMESPACES} namespaces");
        return Err(Problem::new(line_of(at), message, REMEDY));
    }
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| match error {
        Error::NodesLimitReached => {
            Problem::new("", format!("has more than {MAX_NODES} elements and text nodes"), REMEDY)
        }
        Error::DtdDetected => Problem::new(
            "",
            "has a document type (<!DOCTYPE …>), which files of this format do not have",
            REMEDY,
        ),
        error => Problem::new(
            format!("line {}", error.pos().row),
            format!("is not valid XML: {error}"),
            "was the file cut off? copy it again",
        ),
    })?;
    let mut at = Some(document.root_element());
    let mut depth = 1;
    // Down, then right, then up: elements of any depth without recursion.
    while let Some(node) = at {
        if depth > MAX_DEPTH {
            let message = format!("is nested more than {MAX_DEPTH} elements deep");
            return Err(Problem::new(place(node), message, REMEDY));
        }
        if let Some(child) = node.first_element_child() {
            depth += 1;
            at = Some(child);
            continue;
        }
        let mut here = node;
        at = loop {
            if let Some(next) = here.next_sibling_element() {
                break Some(next);
            }
            match here.parent_element() {
                Some(parent) => {
                    depth -= 1;
                    here = parent;
                }
                None => break None,
            }
        };
    }
    Ok(document)
}

/// Returns the line on which an element begins, as the place of a problem.
pub(crate) fn place(node: Node<'_, '_>) -> String {
    format!("line {}", node.document().text_pos_at(node.range().start).row)
}

/// The attributes of one element while they are read.
pub(crate) struct Attributes<'a, 'd> {
    node: Node<'a, 'd>,
}

impl<'a, 'd> Attributes<'a, 'd> {
    /// Starts reading the attributes of `node`.
    pub(crate) const fn of(node: Node<'a, 'd>) -> Self {
        Self { node }
    }

    /// Adds a problem of the attribute `name`.
    pub(crate) fn problem(&self, name: &str, message: impl Display, remedy: &str, problems: &mut Problems) {
        let tag = self.node.tag_name().name();
        problems.add(place(self.node), format!("{name} of <{}> {message}", printable(tag)), remedy);
    }

    /// Returns the text of an optional attribute.
    pub(crate) fn optional(&self, name: &str) -> Option<&'a str> {
        self.node.attribute(name)
    }

    /// Returns the text of a required attribute; adds a problem if it is missing.
    pub(crate) fn text(&self, name: &str, problems: &mut Problems) -> Option<&'a str> {
        let found = self.optional(name);
        if found.is_none() {
            self.problem(name, "is missing", "add it", problems);
        }
        found
    }

    /// Reads a number from `low` to `high`.
    pub(crate) fn number<T>(&self, name: &str, low: T, high: T, problems: &mut Problems) -> Option<T>
    where
        T: FromStr + PartialOrd + Display + Copy,
    {
        let text = self.text(name, problems)?;
        self.parse(name, text, low, high, problems)
    }

    /// Reads a number from `low` to `high`; returns `default` if the attribute is absent.
    pub(crate) fn number_or<T>(
        &self,
        name: &str,
        default: T,
        low: T,
        high: T,
        problems: &mut Problems,
    ) -> Option<T>
    where
        T: FromStr + PartialOrd + Display + Copy,
    {
        match self.optional(name) {
            None => Some(default),
            Some(text) => self.parse(name, text, low, high, problems),
        }
    }

    fn parse<T>(&self, name: &str, text: &str, low: T, high: T, problems: &mut Problems) -> Option<T>
    where
        T: FromStr + PartialOrd + Display + Copy,
    {
        let found = text.trim().parse::<T>().ok().filter(|value| *value >= low && *value <= high);
        if found.is_none() {
            let remedy = format!("give a number from {low} to {high}");
            self.problem(name, format!("is '{}'", printable(text)), &remedy, problems);
        }
        found
    }

    /// Reads a flag, written as 0 or 1; returns `default` if the attribute is absent.
    pub(crate) fn flag(&self, name: &str, default: Option<bool>, problems: &mut Problems) -> Option<bool> {
        match (self.optional(name), default) {
            (None, Some(default)) => Some(default),
            _ => self.number(name, 0_u8, 1, problems).map(|flag| flag == 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        parse(text).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn trees_without_end_and_entities_are_refused() {
        let deep = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
        assert!(wrong(&deep).contains("nested more than 64"), "{}", wrong(&deep));
        let bomb = "<!DOCTYPE a [<!ENTITY b \"cccc\"><!ENTITY d \"&b;&b;\">]>\n<a>&d;</a>";
        assert!(wrong(bomb).contains("document type"), "{}", wrong(bomb));
        assert!(wrong("<a>&unknown;</a>").contains("line 1"));
        assert!(wrong("<a>\n<b></a>").starts_with("line 2: is not valid XML"));
        assert!(
            wrong(&format!("<a>\n<b {}/></a>", "c=\"1\" ".repeat(3000))).starts_with("line 2: has a tag")
        );
        assert!(wrong(&format!("<a>{}</a>", "<b xmlns:b=\"c\"/>".repeat(101))).contains("namespaces"));
        assert!(wrong("").contains("is not valid XML"));
        assert!(parse("<!-- comment --><a><b/><c><d/></c></a>").is_ok());
    }
}
