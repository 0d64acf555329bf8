//! Parses JSON into a tree. Enforces limits before it allocates memory, and refuses duplicate keys.
//!
//! A small file can represent a large tree: `0,` takes two bytes in a file, gzip packs a thousand repetitions of `0,`
//! into four bytes, and each repetition is a value of 72 bytes in memory. So the parser counts the size of the tree
//! while it grows, against a limit that depends on the stored size of the file.

use crate::problem::Problem;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt::{self, Write as _};

/// Memory in bytes that the tree of any file may take.
const TREE_BYTES: u64 = 192 << 20;
/// Additional memory in bytes that the tree may take for each byte of the stored file.
const TREE_BYTES_PER_STORED_BYTE: u64 = 24;
/// Overhead in bytes of an entry of an object in addition to key and value: hash, slot in the table, and header of the
/// text.
const ENTRY_BYTES: u64 = 48;
/// Maximum depth of nesting, which is built into the parser.
const MAX_DEPTH: u32 = 128;
/// Maximum number of duplicate keys that a message names.
const NAMED: usize = 8;

/// Returns the memory in bytes that the tree of a file of `stored` bytes may take.
pub(super) const fn tree_limit(stored: u64) -> u64 {
    TREE_BYTES + TREE_BYTES_PER_STORED_BYTE * stored
}

/// Maximum memory in bytes per byte of text; a list of one-digit numbers takes this much.
pub(super) const MOST_PER_BYTE: u64 = size_of::<Value>() as u64 / 2 + 1;

/// Returns `true` if the tree of a valid text takes at most `limit` bytes. No tree is built.
pub(super) fn fits(bytes: &[u8], limit: u64) -> bool {
    let mut state = State { left: limit, twice: Vec::new() };
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    Weight { state: &mut state }.deserialize(&mut parser).is_ok()
}

/// A value that is parsed only to count the size of its tree.
struct Weight<'s> {
    state: &'s mut State,
}

impl<'de> DeserializeSeed<'de> for Weight<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<(), D::Error> {
        self.state.take(size_of::<Value>() as u64)?;
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Weight<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.state.take(value.len() as u64)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while entries.next_element_seed(Weight { state: &mut *self.state })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            self.state.take(ENTRY_BYTES + key.len() as u64)?;
            entries.next_value_seed(Weight { state: &mut *self.state })?;
        }
        Ok(())
    }
}

/// Parses `bytes` into a tree of at most `limit` bytes.
pub(super) fn parse(bytes: &[u8], limit: u64) -> Result<Value, Problem> {
    parse_without(bytes, limit, &[])
}

/// Parses `bytes` into a tree of at most `limit` bytes. Values of the keys `left_out` of the outermost object become
/// `null`; their content is only checked for valid JSON.
pub(super) fn parse_without(bytes: &[u8], limit: u64, left_out: &[&str]) -> Result<Value, Problem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut state = State { left: limit, twice: Vec::new() };
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let tree = Tree { state: &mut state, left_out };
    let parsed = tree.deserialize(&mut parser).and_then(|value| parser.end().map(|()| value));
    match parsed {
        Ok(value) if state.twice.is_empty() => Ok(value),
        Ok(_) => Err(given_twice(&state.twice)),
        Err(error) => Err(unreadable(bytes, &error, limit)),
    }
}

/// Counters of a growing tree.
struct State {
    /// Number of bytes by which the tree may still grow.
    left: u64,
    /// Duplicate keys found so far.
    twice: Vec<Twice>,
}

/// A duplicate key of an object.
struct Twice {
    /// Steps from the key up to the root.
    steps: Vec<Step>,
}

/// One step of a path.
enum Step {
    Key(String),
    Index(usize),
}

/// Message of the parser when the tree grows beyond its limit.
const TOO_LARGE: &str = "the tree is too large";

impl State {
    fn take<E: serde::de::Error>(&mut self, bytes: u64) -> Result<(), E> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(E::custom(TOO_LARGE)),
        }
    }

    /// Adds a step to the path of every duplicate key found so far, except the first `before` keys.
    fn step(&mut self, before: usize, step: impl Fn() -> Step) {
        for twice in &mut self.twice[before..] {
            twice.steps.push(step());
        }
    }
}

/// A value that is being read.
struct Tree<'s> {
    state: &'s mut State,
    /// Keys whose values are omitted, if the value is an object.
    left_out: &'s [&'s str],
}

impl<'s> Tree<'s> {
    /// Starts reading a value inside another value.
    fn inner(state: &'s mut State) -> Self {
        Self { state, left_out: &[] }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Value, D::Error> {
        self.state.take(size_of::<Value>() as u64)?;
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.state.take(value.len() as u64)?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let state = self.state;
        let mut list = Vec::new();
        loop {
            let before = state.twice.len();
            let Some(entry) = entries.next_element_seed(Tree::inner(state))? else {
                return Ok(Value::Array(list));
            };
            state.step(before, || Step::Index(list.len()));
            list.push(entry);
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let Self { state, left_out } = self;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            state.take(ENTRY_BYTES + key.len() as u64)?;
            let before = state.twice.len();
            let value = if left_out.contains(&key.as_str()) {
                entries.next_value::<IgnoredAny>()?;
                Value::Null
            } else {
                entries.next_value_seed(Tree::inner(state))?
            };
            if map.contains_key(&key) && state.twice.len() <= NAMED {
                state.twice.push(Twice { steps: Vec::new() });
            }
            state.step(before, || Step::Key(key.clone()));
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

impl fmt::Display for Twice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.steps.iter().rev().enumerate() {
            match step {
                Step::Key(key) if place == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

fn given_twice(twice: &[Twice]) -> Problem {
    let path = twice.first().map(Twice::to_string).unwrap_or_default();
    let mut message = "is given twice".to_owned();
    for (index, other) in twice.iter().enumerate().skip(1) {
        let _ = match index {
            NAMED => write!(message, ", and more"),
            1 => write!(message, "; so is {other}"),
            _ => write!(message, ", {other}"),
        };
    }
    Problem::new(
        path,
        message,
        "keep one of the entries, because readers of JSON differ in which one they use",
    )
}

fn unreadable(bytes: &[u8], error: &serde_json::Error, limit: u64) -> Problem {
    let path = format!("line {}, column {}", error.line(), error.column());
    // serde's message ends with the position, which the path already contains.
    let told = error.to_string();
    let told = told.split(" at line ").next().unwrap_or_default();
    if told == TOO_LARGE {
        return Problem::new(
            "",
            format!(
                "contains too many values: reading the file takes more than {} MiB of memory; the limit was reached at {path}",
                limit >> 20
            ),
            "check that this is the file you meant; if so, unpack the file first, because the limit grows with the size of \
             the file",
        );
    }
    if told.starts_with("recursion limit") {
        let message = format!("is nested deeper than {MAX_DEPTH} levels");
        return Problem::new(
            path,
            message,
            "no scenario or plan is nested that deep; check that this is the file you meant",
        );
    }
    let remedy = match error.classify() {
        serde_json::error::Category::Eof if bytes.iter().all(u8::is_ascii_whitespace) => {
            return Problem::new("", "is empty", "give a file with content");
        }
        serde_json::error::Category::Eof => "the file ends too early; check whether it was cut off",
        _ => "",
    };
    Problem::new(path, format!("is not valid JSON: {told}"), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::parse_json;
    use serde_json::json;

    #[test]
    fn trees_are_those_of_the_usual_parser() {
        let text = r#"{"b": [1, -2, 2.5, -0, 1e300, 18446744073709551615, 123456789012345678901234567890, "\u00e9\n", ""],
                       "a": {"x": null, "y": [true, false, [], {}]}, "": 1}"#;
        let usual: Value = serde_json::from_str(text).expect("valid");
        let ours = parse_json(text.as_bytes()).expect("valid");
        assert_eq!(ours, usual);
        assert_eq!(ours.to_string(), usual.to_string(), "the order of keys is kept");
    }

    #[test]
    fn keys_given_twice_are_named_with_their_path() {
        for (text, told) in [
            (r#"{"a": 1, "a": 1}"#, "a: is given twice; keep one"),
            (r#"{"a": {"b": [0, {"c": 1, "d": 2, "c": 3}]}}"#, "a.b[1].c: is given twice; keep one"),
            (r#"[[{"": 0, "": 1}]]"#, "[0][0].: is given twice; keep one"),
            (r#"{"a": 1, "\u0061": 2}"#, "a: is given twice; keep one"),
            (r#"{"a": [{"b": 0, "b": 0}], "c": 0, "a": {}}"#, "a[0].b: is given twice; so is a; keep one"),
        ] {
            let problem = parse_json(text.as_bytes()).expect_err("twice").to_string();
            assert!(problem.contains(told), "{text}: {problem}");
        }
        let many: String = (0..30).map(|number| format!("\"k{number}\": 0,").repeat(2)).collect();
        let problem = parse_json(format!("{{{many} \"z\": 0}}").as_bytes()).expect_err("twice").to_string();
        assert!(problem.contains("k0: is given twice; so is k1, k2,"), "{problem}");
        assert!(problem.contains(", and more"), "{problem}");
        assert!(!problem.contains("k20"), "{problem}");
        assert_eq!(parse_json(b"\xef\xbb\xbf{}"), Ok(json!({})), "a mark of the byte order says nothing");
        let same_key_elsewhere = json!([{"a": {"a": 1}}, {"a": 2}]);
        assert_eq!(parse_json(same_key_elsewhere.to_string().as_bytes()), Ok(same_key_elsewhere));
    }

    #[test]
    fn values_that_are_left_out_are_null_and_take_no_memory() {
        let large = format!("[{}0]", "0,".repeat(2000));
        let text = format!(r#"{{"big": {large}, "a": {{"big": [1]}}, "list": [{{"big": 2}}]}}"#);
        assert!(parse(text.as_bytes(), 1 << 14).is_err());
        let read = parse_without(text.as_bytes(), 1 << 14, &["big"]).expect("small without it");
        assert_eq!(read, json!({"big": null, "a": {"big": [1]}, "list": [{"big": 2}]}));
        for (text, told) in [
            (r#"{"big": 1, "big": 2}"#, "big: is given twice"),
            (r#"{"big": 1, "a": {"b": 1, "b": 2}}"#, "a.b: is given twice"),
            (r#"{"big": [1, }"#, "is not valid JSON"),
        ] {
            let problem = parse_without(text.as_bytes(), 1 << 14, &["big"]).expect_err("refused").to_string();
            assert!(problem.contains(told), "{text}: {problem}");
        }
    }

    #[test]
    fn trees_that_are_too_large_stop_while_they_grow() {
        let wide = |entry: &str| format!("[{}0]", format!("{entry},").repeat(2000));
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        let keys = (0..2000).map(|number| format!("\"{number}\":0,")).collect::<Vec<_>>().concat();
        for text in [
            wide("0"),
            wide("\"\""),
            wide("{}"),
            wide(&deep),
            format!("{{{keys}\"z\":0}}"),
            format!("\"{}\"", "x".repeat(70_000)),
            format!("{{\"{}\": 0}}", "x".repeat(70_000)),
        ] {
            let problem = parse(text.as_bytes(), 1 << 16).expect_err("too large").to_string();
            assert!(problem.contains("more than 0 MiB of memory"), "{problem}");
            assert!(parse(text.as_bytes(), 1 << 26).is_ok());
        }
    }

    #[test]
    fn the_limit_grows_with_the_file() {
        assert_eq!(tree_limit(0) >> 20, 192);
        assert_eq!(tree_limit(1 << 20) >> 20, 216);
    }
}
