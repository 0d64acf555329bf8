//! DOT of Graphviz: nodes, edges and their attributes; reads ports, subgraphs and defaults as far as they name nodes.

use super::builder::Builder;
use super::facts::{LinkFacts, part_of};
use lightbay_core::problem::{Problem, Problems, printable};

/// A token of a DOT file: a sign, a word, or the text of a quoted word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Sign(&'static str),
    Word(String),
}

pub(super) fn is_one(text: &str) -> bool {
    let mut words = Vec::new();
    let mut lexer = Lexer { rest: text, line: 1 };
    for _ in 0..4 {
        match lexer.next() {
            Ok(Some(Token::Word(word))) => words.push(word.to_ascii_lowercase()),
            Ok(Some(Token::Sign("{"))) => {
                let first = words.iter().find(|word| *word != "strict");
                return first.is_some_and(|word| word == "graph" || word == "digraph");
            }
            _ => return false,
        }
    }
    false
}

struct Lexer<'t> {
    rest: &'t str,
    line: usize,
}

/// Signs of the language, longer signs first.
const SIGNS: [&str; 10] = ["->", "--", "{", "}", "[", "]", "=", ";", ",", ":"];

impl Lexer<'_> {
    fn skip(&mut self, bytes: usize) {
        self.line += self.rest[..bytes].matches('\n').count();
        self.rest = &self.rest[bytes..];
    }

    /// Returns the next token; `None` at the end.
    fn next(&mut self) -> Result<Option<Token>, Problem> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.skip(blank);
            let comment = if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.rest.find('\n').unwrap_or(self.rest.len())
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map_or(self.rest.len(), |end| end + 2)
            } else {
                break;
            };
            self.skip(comment);
        }
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        if let Some(sign) = SIGNS.iter().find(|sign| self.rest.starts_with(**sign)) {
            self.skip(sign.len());
            return Ok(Some(Token::Sign(sign)));
        }
        let unended = |line: usize, what: &str| {
            Problem::new(
                format!("line {line}"),
                format!("has {what} without an end"),
                "was the file cut off? copy it again",
            )
        };
        if first == '"' {
            let mut text = String::new();
            let mut signs = self.rest.char_indices().skip(1);
            while let Some((at, sign)) = signs.next() {
                match sign {
                    '"' => {
                        self.skip(at + 1);
                        return Ok(Some(Token::Word(text)));
                    }
                    // `\"` is an escaped quote; other escapes only affect drawing.
                    '\\' => text.extend(signs.next().map(|(_, escaped)| escaped)),
                    other => text.push(other),
                }
            }
            return Err(unended(self.line, "a quoted text"));
        }
        if first == '<' {
            let mut depth = 0_usize;
            for (at, sign) in self.rest.char_indices() {
                match sign {
                    '<' => depth += 1,
                    '>' => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    let text = self.rest[1..at].to_owned();
                    self.skip(at + 1);
                    return Ok(Some(Token::Word(text)));
                }
            }
            return Err(unended(self.line, "an HTML text"));
        }
        let end = self
            .rest
            .find(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '_' | '.' | '-')))
            .map_or(self.rest.len(), |end| end.max(first.len_utf8()));
        // `a--b` and `a->b` without blanks: the word ends before the edge operator.
        let word = &self.rest[..end];
        let end = word
            .find("--")
            .or_else(|| (self.rest[end..].starts_with('>') && word.ends_with('-')).then(|| end - 1))
            .unwrap_or(end);
        let word = self.rest[..end].to_owned();
        self.skip(end);
        Ok(Some(Token::Word(word)))
    }
}

/// Maximum number of words and signs, so that a large file does not need much more memory than its size.
const MOST_TOKENS: usize = 8_000_000;

/// Returns all tokens with their lines.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Problem> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut all = Vec::new();
    while let Some(token) = lexer.next()? {
        all.push((lexer.line, token));
        if all.len() > MOST_TOKENS {
            let message = format!("has more than {MOST_TOKENS} words and signs");
            return Err(Problem::new("", message, "use a smaller graph, or a list of edges"));
        }
    }
    Ok(all)
}

pub(super) fn read(text: &str) -> Result<Builder, Problems> {
    let tokens = tokens(text)?;
    let mut builder = Builder::default();
    let directed = tokens.iter().find_map(|(_, token)| match token {
        Token::Word(word) if word.eq_ignore_ascii_case("digraph") => Some(true),
        Token::Word(word) if word.eq_ignore_ascii_case("graph") => Some(false),
        _ => None,
    });
    let both_ways = directed != Some(true);
    let Some(start) = tokens.iter().position(|(_, token)| *token == Token::Sign("{")) else {
        builder.problems.add("", "has no opening brace", "check that this is the intended file");
        return Ok(builder);
    };
    let mut at = start + 1;
    let is =
        |at: usize, sign: &'static str| tokens.get(at).is_some_and(|(_, token)| *token == Token::Sign(sign));
    let word = |at: usize| match tokens.get(at) {
        Some((_, Token::Word(word))) => Some(word.as_str()),
        _ => None,
    };
    let mut open = 1_usize;
    while at < tokens.len() && open > 0 && !builder.is_full() {
        if is(at, "{") || is(at, "}") {
            open = if is(at, "{") { open + 1 } else { open - 1 };
            at += 1;
            // The edge ends at all nodes of a subgraph.
            if is(at, "->") || is(at, "--") {
                let place = format!("line {}", tokens[at].0);
                builder.problems.add(
                    place,
                    "connects a whole subgraph of nodes",
                    "write one edge for each node",
                );
                at += 1;
            }
            continue;
        }
        let Some(first) = word(at) else {
            at += 1;
            continue;
        };
        let line = format!("line {}", tokens[at].0);
        at += 1;
        if first.eq_ignore_ascii_case("subgraph") {
            // The name of the subgraph is not the name of a node.
            at += usize::from(word(at).is_some());
            continue;
        }
        if is(at, "=") {
            at += 2;
            continue;
        }
        let default =
            ["graph", "node", "edge"].iter().any(|word| first.eq_ignore_ascii_case(word)) && is(at, "[");
        let mut chain = if default { Vec::new() } else { vec![builder.node(first)] };
        loop {
            // A port, and the side of the node at which it is.
            while is(at, ":") {
                at += 2;
            }
            if default || !(is(at, "->") || is(at, "--")) {
                break;
            }
            at += 1;
            let Some(next) = word(at) else {
                builder.problems.add(
                    line.as_str(),
                    "has an edge whose second end is not a node",
                    "write one edge for each node",
                );
                break;
            };
            chain.push(builder.node(next));
            at += 1;
        }
        let mut attributes = Vec::new();
        while is(at, "[") {
            at += 1;
            while at < tokens.len() && !is(at, "]") {
                if let (Some(key), true, Some(value)) = (word(at), is(at + 1, "="), word(at + 2)) {
                    attributes.push((key, value));
                    at += 3;
                } else {
                    at += 1;
                }
            }
            at += 1;
        }
        if let [node] = chain.as_slice() {
            for (key, value) in attributes {
                builder.describe(*node, key, value);
            }
            continue;
        }
        if default && !first.eq_ignore_ascii_case("edge") {
            if attributes.iter().any(|(key, value)| part_of(key, value).is_some()) {
                let message = format!("sets the type of every '{}' after it", printable(first));
                builder.problems.add(line.as_str(), message, "set the attribute for each node");
            }
            continue;
        }
        let facts = builder.facts(attributes.into_iter(), &line);
        if default && facts != LinkFacts::default() {
            let message = format!("sets a rate or latency for every '{}' after it", printable(first));
            builder.problems.add(line.as_str(), message, "set the attribute for each edge");
        }
        for pair in chain.windows(2) {
            builder.link(pair[0], pair[1], facts, both_ways, &line);
        }
    }
    if open > 0 && builder.problems.is_empty() && !builder.is_full() {
        builder.problems.add("", "ends before the last closing brace", "was the file cut off? copy it again");
    }
    Ok(builder)
}
