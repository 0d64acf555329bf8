//! Graph Modelling Language, as the Internet Topology Zoo and networkx write it: keys with values or lists in brackets.

use super::builder::Builder;
use lightbay_core::problem::{Problem, Problems, printable};

/// Maximum nesting depth of lists.
const MAX_DEPTH: usize = 16;

/// A value of a GML file.
#[derive(Debug, PartialEq)]
enum GmlValue<'t> {
    Word(&'t str),
    List(Vec<(&'t str, GmlValue<'t>)>),
}

pub(super) fn is_one(text: &str) -> bool {
    let mut tokens = Tokens { rest: text };
    let mut before = "";
    for _ in 0..64 {
        match tokens.next() {
            Some("[") => return before == "graph",
            Some(token) => before = token,
            None => return false,
        }
    }
    false
}

/// Iterator over words, quoted texts without their quotes, and brackets; comments are skipped.
struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                break;
            }
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
        if let Some(quoted) = self.rest.strip_prefix('"') {
            let (text, rest) = quoted.split_once('"').unwrap_or((quoted, ""));
            self.rest = rest;
            return Some(text);
        }
        let end = match self.rest.chars().next()? {
            '[' | ']' => 1,
            _ => self
                .rest
                .find(|sign: char| sign.is_whitespace() || matches!(sign, '[' | ']'))
                .unwrap_or(self.rest.len()),
        };
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(token)
    }
}

/// Reads the pairs of key and value up to the closing bracket, or to the end of the file at top level.
fn pairs<'t>(tokens: &mut Tokens<'t>, depth: usize) -> Result<Vec<(&'t str, GmlValue<'t>)>, Problem> {
    const REMEDY: &str = "was the file cut off? copy it again";
    if depth > MAX_DEPTH {
        return Err(Problem::new("", format!("is nested more than {MAX_DEPTH} lists deep"), REMEDY));
    }
    let mut all = Vec::new();
    loop {
        let key = match tokens.next() {
            None if depth == 0 => return Ok(all),
            Some("]") if depth > 0 => return Ok(all),
            None => return Err(Problem::new("", "ends inside a list", REMEDY)),
            Some(sign @ ("[" | "]")) => {
                return Err(Problem::new(
                    "",
                    format!("has a bracket '{sign}' where a key is expected"),
                    "correct the brackets",
                ));
            }
            Some(key) => key,
        };
        let value = match tokens.next() {
            Some("[") => GmlValue::List(pairs(tokens, depth + 1)?),
            None | Some("]") => {
                return Err(Problem::new("", format!("has no value for '{}'", printable(key)), REMEDY));
            }
            Some(word) => GmlValue::Word(word),
        };
        all.push((key, value));
    }
}

pub(super) fn read(text: &str) -> Result<Builder, Problems> {
    let whole = pairs(&mut Tokens { rest: text }, 0)?;
    let mut builder = Builder::default();
    let graphs: Vec<_> = whole
        .iter()
        .filter_map(|(key, value)| match value {
            GmlValue::List(list) if key.eq_ignore_ascii_case("graph") => Some(list),
            _ => None,
        })
        .collect();
    let [graph] = graphs.as_slice() else {
        builder.problems.add(
            "graph",
            format!("occurs {} times in the file", graphs.len()),
            "use a file with one graph",
        );
        return Ok(builder);
    };
    let word = |list: &[(&str, GmlValue<'_>)], key: &str| {
        list.iter().find_map(|(own, value)| match value {
            GmlValue::Word(word) if own.eq_ignore_ascii_case(key) => Some((*word).to_owned()),
            _ => None,
        })
    };
    let lists = |key: &'static str| {
        graph.iter().filter_map(move |(own, value)| match value {
            GmlValue::List(list) if *own == key => Some(list),
            _ => None,
        })
    };
    for (at, node) in lists("node").enumerate() {
        let place = format!("node {}", at + 1);
        let Some(id) = builder.declare(word(node, "id").as_deref(), &place) else { continue };
        for (key, value) in node {
            if let GmlValue::Word(value) = value {
                builder.describe(id, key, value);
            }
        }
        if builder.is_full() {
            return Ok(builder);
        }
    }
    let both_ways = word(graph, "directed").as_deref() != Some("1");
    for (at, edge) in lists("edge").enumerate() {
        let place = format!("edge {}", at + 1);
        let ends = ["source", "target"].map(|end| word(edge, end));
        let attributes = edge.iter().filter_map(|(key, value)| match value {
            GmlValue::Word(value) => Some((*key, *value)),
            GmlValue::List(_) => None,
        });
        builder.join(ends.each_ref().map(Option::as_deref), attributes, both_ways, &place);
        if builder.is_full() {
            break;
        }
    }
    Ok(builder)
}
