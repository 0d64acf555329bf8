//! Reading JSON from untrusted files: every problem of a file at once, each with path, value and remedy.
//!
//! `serde` stops at the first mistake, but users who write a scenario by hand need all of them. Kinds read their bodies
//! with [`Fields`], one call per key; [`Fields::finish`] reports the keys that were not read.

use crate::problem::{Problem, Problems, suggestion};
use crate::record::Place;
use flate2::bufread::MultiGzDecoder;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt::Display;
use std::io::Read;
use std::ops::RangeInclusive;

mod json;

/// Maximum size of a file on disk, in bytes.
pub const MAX_FILE_BYTES: u64 = 64 << 20;
/// Maximum size of the content of a gzip-compressed file, in bytes.
pub const MAX_UNPACKED_BYTES: u64 = 256 << 20;
/// Maximum number of characters of a name or another text of one line.
pub const MAX_TEXT: usize = 1000;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads all bytes of a stream within the size limits; unpacks gzip, which it recognises by its magic bytes.
///
/// # Errors
/// A [`Problem`] for read errors, damaged archives, and files beyond the limits.
pub fn read_all(stream: impl Read) -> Result<Vec<u8>, Problem> {
    read_within(stream, MAX_UNPACKED_BYTES)
}

/// Reads a stream like [`read_all`]; the content may have at most `limit` bytes.
///
/// # Errors
/// Like [`read_all`].
pub fn read_within(stream: impl Read, limit: u64) -> Result<Vec<u8>, Problem> {
    unpacked(stored(stream)?, limit)
}

/// Reads a stream like [`read_all`] and parses it like [`Content::json`].
///
/// # Errors
/// Like [`read_all`] and [`parse_json`].
pub fn read_json(stream: impl Read) -> Result<Value, Problem> {
    Content::take(stream)?.json()
}

/// The content of a file, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    bytes: Vec<u8>,
    /// Size of the stored file, in bytes.
    stored: u64,
}

impl Content {
    /// Reads a stream like [`read_all`].
    ///
    /// # Errors
    /// Like [`read_all`].
    pub fn take(stream: impl Read) -> Result<Self, Problem> {
        let file = stored(stream)?;
        let stored = file.len() as u64;
        Ok(Self { bytes: unpacked(file, MAX_UNPACKED_BYTES)?, stored })
    }

    /// Returns the unpacked bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Parses the content like [`Self::json`], with `null` for the values of the keys `left_out` of the outermost
    /// object. The content of these keys takes no memory, and duplicate keys inside it are not found.
    ///
    /// # Errors
    /// Like [`parse_json`].
    pub fn json_without(&self, left_out: &[&str]) -> Result<Value, Problem> {
        json::parse_without(&self.bytes, json::tree_limit(self.stored), left_out)
    }

    /// Parses the content like [`parse_json`]. The memory limit of the tree depends on the stored size of the file, so
    /// that a small compressed file cannot produce a huge tree.
    ///
    /// # Errors
    /// Like [`parse_json`].
    pub fn json(&self) -> Result<Value, Problem> {
        json::parse(&self.bytes, json::tree_limit(self.stored))
    }
}

fn stored(stream: impl Read) -> Result<Vec<u8>, Problem> {
    take(stream, MAX_FILE_BYTES, Vec::new(), "file")
}

fn unpacked(stored: Vec<u8>, limit: u64) -> Result<Vec<u8>, Problem> {
    if !stored.starts_with(&GZIP) {
        return if stored.len() as u64 > limit { Err(larger("file", limit)) } else { Ok(stored) };
    }
    // A gzip file ends with the size of its content, so a buffer of that size never has to grow.
    let claimed = stored.last_chunk().map_or(0, |size| u64::from(u32::from_le_bytes(*size)));
    let buffer = Vec::with_capacity(usize::try_from(claimed.min(limit) + 1).unwrap_or_default());
    take(MultiGzDecoder::new(stored.as_slice()), limit, buffer, "unpacked content")
}

fn take(stream: impl Read, limit: u64, mut bytes: Vec<u8>, what: &str) -> Result<Vec<u8>, Problem> {
    stream.take(limit + 1).read_to_end(&mut bytes).map_err(|error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::UnexpectedEof => "the compressed file is cut short; copy it again",
            std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData => {
                "the compressed file is damaged; copy it again"
            }
            _ => "check the file and its permissions",
        };
        Problem::new("", format!("cannot be read: {error}"), remedy)
    })?;
    if bytes.len() as u64 > limit { Err(larger(what, limit)) } else { Ok(bytes) }
}

fn larger(what: &str, limit: u64) -> Problem {
    Problem::new(
        "",
        format!("the {what} is larger than {} MiB", limit >> 20),
        "check that this is the file you meant",
    )
}

/// Parses JSON. Refuses nesting beyond 128 levels, duplicate keys, and trees that take more memory than 192 MiB plus 24
/// times the size of the text.
///
/// # Errors
/// A [`Problem`] with line and column, or with the paths of the keys.
pub fn parse_json(bytes: &[u8]) -> Result<Value, Problem> {
    json::parse(bytes, json::tree_limit(bytes.len() as u64))
}

/// Parses JSON like [`parse_json`], for content that takes `stored` bytes in its file (fewer than in memory if
/// compressed). The memory limit depends on `stored`, as in [`Content::json`].
///
/// # Errors
/// Like [`parse_json`].
pub fn parse_stored_json(bytes: &[u8], stored: u64) -> Result<Value, Problem> {
    json::parse(bytes, json::tree_limit(stored))
}

/// Checks before a file is saved that [`read_json`] will accept it. `text` is the JSON text; `stored` is the size of
/// the file, which may be compressed.
///
/// # Errors
/// A [`Problem`] with the size and the limit.
pub fn check_readable(text: &[u8], stored: u64) -> Result<(), Problem> {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let too_large = |bytes: u64, most: u64| {
        let message = format!("takes {} MiB, but lightbay opens at most {} MiB", mib(bytes), mib(most));
        Problem::new("", message, "use a scenario with fewer nodes, or a method with smaller plans")
    };
    if stored > MAX_FILE_BYTES {
        return Err(too_large(stored, MAX_FILE_BYTES));
    }
    let size = text.len() as u64;
    if size > MAX_UNPACKED_BYTES {
        return Err(too_large(size, MAX_UNPACKED_BYTES));
    }
    let limit = json::tree_limit(stored);
    if size.saturating_mul(json::MOST_PER_BYTE) <= limit || json::fits(text, limit) {
        return Ok(());
    }
    let message =
        format!("contains too many values: reading the file takes more than {} MiB of memory", limit >> 20);
    let remedy = if stored < size {
        "write the file uncompressed, because the limit grows with the size of the file"
    } else {
        "use a scenario with fewer nodes, or a method with smaller plans"
    };
    Err(Problem::new("", message, remedy))
}

/// Formats a value briefly for messages.
pub fn brief(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Object(map) => format!("an object with {} keys", map.len()),
        Value::Array(list) => format!("a list of length {}", list.len()),
        Value::String(text) if text.chars().count() > 40 => {
            format!("'{}…'", text.chars().take(40).collect::<String>())
        }
        Value::String(text) => format!("'{text}'"),
        other => format!("'{other}'"),
    }
}

/// Reads a list from the value at `place`.
pub fn list_at<'v>(value: &'v Value, place: impl Display, problems: &mut Problems) -> Option<&'v [Value]> {
    match value {
        Value::Array(list) => Some(list),
        _ => refuse(value, place, "a list [ … ]", problems),
    }
}

/// Adds the problem that the value at `place` is not `what`; always returns `None`.
fn refuse<T>(value: &Value, place: impl Display, what: impl Display, problems: &mut Problems) -> Option<T> {
    problems.add(place.to_string(), format!("is {}", brief(value)), format!("give {what}"));
    None
}

/// Reads a whole number within `range` from the value at `place`.
pub fn int_at(
    value: &Value,
    place: impl Display,
    range: RangeInclusive<i64>,
    problems: &mut Problems,
) -> Option<i64> {
    // Accepts 8.0, because some generators write every number with a point.
    let whole = |float: &f64| float.fract() == 0.0 && float.abs() < 9e15;
    let number = value.as_i64().or_else(|| value.as_f64().filter(whole).map(|float| float as i64));
    number.filter(|number| range.contains(number)).or_else(|| {
        let (min, max) = (range.start(), range.end());
        if *max >= i64::from(u32::MAX) {
            refuse(value, place, format_args!("a whole number of at least {min}"), problems)
        } else {
            refuse(value, place, format_args!("a whole number from {min} to {max}"), problems)
        }
    })
}

/// Reads a finite number within `range` from the value at `place`.
pub fn float_at(
    value: &Value,
    place: impl Display,
    range: RangeInclusive<f64>,
    problems: &mut Problems,
) -> Option<f64> {
    value.as_f64().filter(|number| range.contains(number)).or_else(|| {
        let (min, max) = (range.start(), range.end());
        if *max >= f64::MAX {
            refuse(value, place, format_args!("a number of at least {min}"), problems)
        } else {
            refuse(value, place, format_args!("a number from {min} to {max}"), problems)
        }
    })
}

/// Reads `true` or `false` from the value at `place`.
pub fn bool_at(value: &Value, place: impl Display, problems: &mut Problems) -> Option<bool> {
    value.as_bool().or_else(|| refuse(value, place, "true or false", problems))
}

/// Reads text of at most [`MAX_TEXT`] characters from the value at `place`.
pub fn text_at<'v>(value: &'v Value, place: impl Display, problems: &mut Problems) -> Option<&'v str> {
    let Value::String(text) = value else { return refuse(value, place, "text in quotes", problems) };
    if text.len() > MAX_TEXT && text.chars().count() > MAX_TEXT {
        let message = format!("has {} characters", text.chars().count());
        problems.add(place.to_string(), message, format!("give at most {MAX_TEXT} characters"));
        return None;
    }
    Some(text)
}

/// Reads one of several names, each given with the value that it represents, from the value at `place`.
pub fn choice_at<T: Clone>(
    value: &Value,
    place: impl Display,
    names: &[(&str, T)],
    problems: &mut Problems,
) -> Option<T> {
    let text = text_at(value, &place, problems)?;
    let found = names.iter().find(|(name, _)| *name == text).map(|(_, value)| value.clone());
    if found.is_none() {
        let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        problems.add(place.to_string(), format!("is {}", brief(value)), suggestion(text, &names));
    }
    found
}

/// Reads a list of whole numbers in the range of their type from the value at `path`; other entries are problems.
pub fn whole_numbers<T: TryFrom<u64>>(value: &Value, path: &str, problems: &mut Problems) -> Option<Vec<T>> {
    let list = list_at(value, path, problems)?;
    let largest = u64::MAX >> (64 - 8 * size_of::<T>().clamp(1, 8));
    let mut numbers = Vec::with_capacity(list.len());
    for (index, entry) in list.iter().enumerate() {
        match entry.as_u64().and_then(|number| T::try_from(number).ok()) {
            Some(number) => numbers.push(number),
            None => problems.add(
                format!("{path}[{index}]"),
                format!("is {}", brief(entry)),
                format!("give a whole number from 0 to {largest}"),
            ),
        }
    }
    (numbers.len() == list.len()).then_some(numbers)
}

/// A JSON object whose keys are being read.
#[derive(Debug)]
pub struct Fields<'v> {
    path: String,
    map: &'v Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'v> Fields<'v> {
    /// Starts reading the object at `path`; a value of another type is a problem.
    pub fn of(value: &'v Value, path: &str, problems: &mut Problems) -> Option<Self> {
        if let Value::Object(map) = value {
            Some(Self { path: path.to_owned(), map, known: Vec::new() })
        } else {
            problems.add(path, format!("is {}", brief(value)), "give an object { … }");
            None
        }
    }

    /// Returns the path of the object.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the path of the key `key`.
    pub fn path_of(&self, key: &str) -> String {
        self.place(key).to_string()
    }

    /// Returns the place of the value of the key `key`.
    pub fn place<'p>(&'p self, key: &'p str) -> Place<'p> {
        Place::Key { path: &self.path, key }
    }

    /// Returns `true` if the object has the key, even if its value is `null`.
    pub fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// Returns the value of a key that may be absent; `null` counts as absent.
    pub fn optional(&mut self, key: &'static str) -> Option<&'v Value> {
        self.known.push(key);
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Returns the value of a required key.
    pub fn required(&mut self, key: &'static str, problems: &mut Problems) -> Option<&'v Value> {
        let value = self.optional(key);
        if value.is_none() {
            problems.add(self.path_of(key), "is missing", "add it");
        }
        value
    }

    /// Reads a whole number within `range`.
    pub fn int(
        &mut self,
        key: &'static str,
        range: RangeInclusive<i64>,
        problems: &mut Problems,
    ) -> Option<i64> {
        let value = self.required(key, problems)?;
        int_at(value, self.place(key), range, problems)
    }

    /// Reads a whole number within `range`; returns `default` if the key is absent.
    pub fn int_or(
        &mut self,
        key: &'static str,
        range: RangeInclusive<i64>,
        default: i64,
        problems: &mut Problems,
    ) -> Option<i64> {
        match self.optional(key) {
            None => Some(default),
            Some(value) => int_at(value, self.place(key), range, problems),
        }
    }

    /// Reads a finite number within `range`.
    pub fn float(
        &mut self,
        key: &'static str,
        range: RangeInclusive<f64>,
        problems: &mut Problems,
    ) -> Option<f64> {
        let value = self.required(key, problems)?;
        float_at(value, self.place(key), range, problems)
    }

    /// Reads a finite number within `range`; returns `default` if the key is absent.
    pub fn float_or(
        &mut self,
        key: &'static str,
        range: RangeInclusive<f64>,
        default: f64,
        problems: &mut Problems,
    ) -> Option<f64> {
        match self.optional(key) {
            None => Some(default),
            Some(value) => float_at(value, self.place(key), range, problems),
        }
    }

    /// Reads `true` or `false`; returns `default` if the key is absent.
    pub fn bool_or(&mut self, key: &'static str, default: bool, problems: &mut Problems) -> Option<bool> {
        match self.optional(key) {
            None => Some(default),
            Some(value) => bool_at(value, self.place(key), problems),
        }
    }

    /// Reads text of at most [`MAX_TEXT`] characters.
    pub fn text(&mut self, key: &'static str, problems: &mut Problems) -> Option<&'v str> {
        let value = self.required(key, problems)?;
        text_at(value, self.place(key), problems)
    }

    /// Reads optional text of at most [`MAX_TEXT`] characters.
    pub fn optional_text(&mut self, key: &'static str, problems: &mut Problems) -> Option<&'v str> {
        let value = self.optional(key)?;
        text_at(value, self.place(key), problems)
    }

    /// Reads one of several names, each given with the value that it represents.
    pub fn choice<T: Clone>(
        &mut self,
        key: &'static str,
        names: &[(&str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        let value = self.required(key, problems)?;
        choice_at(value, self.place(key), names, problems)
    }

    /// Reads a list.
    pub fn list(&mut self, key: &'static str, problems: &mut Problems) -> Option<&'v [Value]> {
        let value = self.required(key, problems)?;
        list_at(value, self.place(key), problems)
    }

    /// Reads a list of objects, each read by `read`; unread keys are problems. `None` if any object is wrong.
    pub fn each<T>(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
        read: impl Fn(&mut Fields<'_>, &mut Problems) -> Option<T>,
    ) -> Option<Vec<T>> {
        let path = self.path_of(key);
        let list = self.list(key, problems)?;
        let mut entries = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            if let Some(mut fields) = Fields::of(value, &format!("{path}[{index}]"), problems) {
                entries.extend(read(&mut fields, problems));
                fields.finish(problems);
            }
        }
        (entries.len() == list.len()).then_some(entries)
    }

    /// Reads an object.
    pub fn object(&mut self, key: &'static str, problems: &mut Problems) -> Option<Fields<'v>> {
        let value = self.required(key, problems)?;
        Fields::of(value, &self.path_of(key), problems)
    }

    /// Reads an object that may be absent.
    pub fn optional_object(&mut self, key: &'static str, problems: &mut Problems) -> Option<Fields<'v>> {
        let value = self.optional(key)?;
        Fields::of(value, &self.path_of(key), problems)
    }

    /// Reads an optional value of a type that implements `Deserialize`.
    pub fn optional_simple<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Option<T> {
        let value = self.optional(key)?;
        match T::deserialize(value) {
            Ok(read) => Some(read),
            Err(error) => {
                let message = format!("is {}: {error}", brief(value));
                problems.add(self.path_of(key), message, "give a value of the expected type");
                None
            }
        }
    }

    /// Marks a key as known, because other code reads it.
    pub fn skip(&mut self, key: &'static str) {
        self.known.push(key);
    }

    /// Returns a problem for each key that was not read, with the nearest valid name.
    pub fn unknown(&self) -> Vec<Problem> {
        // A key may be read twice: its length first, then its entries.
        let mut known: Vec<&str> = Vec::with_capacity(self.known.len());
        for key in &self.known {
            if !known.contains(key) {
                known.push(key);
            }
        }
        self.map
            .keys()
            .filter(|key| !known.contains(&key.as_str()))
            .map(|key| Problem::new(self.path_of(key), "is not a known key", suggestion(key, &known)))
            .collect()
    }

    /// Ends reading: every key that was not read is a problem.
    pub fn finish(self, problems: &mut Problems) {
        for problem in self.unknown() {
            problems.push(problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_called_readable_is_read_and_nothing_else() {
        let list = |numbers: usize| format!("[{}0]", "0,".repeat(numbers));
        // Each number takes 72 bytes of memory: 3 million are 206 MiB, more than the 192 MiB of any file.
        let (small, many) = (list(1000), list(3_000_000));
        let pack = |text: &str| {
            use std::io::Write as _;
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text.as_bytes()).expect("memory");
            encoder.finish().expect("memory")
        };
        for text in [&small, &many] {
            for stored in [text.clone().into_bytes(), pack(text)] {
                let told = check_readable(text.as_bytes(), stored.len() as u64);
                let read = read_json(stored.as_slice());
                assert_eq!(told.is_ok(), read.is_ok(), "{told:?}");
            }
        }
        let told =
            check_readable(many.as_bytes(), pack(&many).len() as u64).expect_err("compressed").to_string();
        assert!(told.contains("more than 192 MiB of memory; write the file uncompressed"), "{told}");
        let told = check_readable(b"{}", MAX_FILE_BYTES + 1).expect_err("large").to_string();
        assert!(told.contains("takes 65 MiB, but lightbay opens at most 64 MiB"), "{told}");
    }

    #[test]
    fn all_problems_of_an_object_are_reported_at_once() {
        let value = json!({"tp": "eight", "pp": 0, "gpuss": 4, "mfu": 0.4});
        let mut problems = Problems::of("job.json");
        let mut fields = Fields::of(&value, "run", &mut problems).expect("an object");
        assert_eq!(fields.int("tp", 1..=64, &mut problems), None);
        assert_eq!(fields.int("pp", 1..=64, &mut problems), None);
        assert_eq!(fields.int("gpus", 1..=64, &mut problems), None);
        assert_eq!(fields.float("mfu", 0.01..=1.0, &mut problems), Some(0.4));
        fields.finish(&mut problems);
        let text = problems.to_string();
        assert_eq!(problems.total(), 4, "{text}");
        assert!(text.contains("job.json: run.tp: is 'eight'; give a whole number from 1 to 64"), "{text}");
        assert!(text.contains("run.gpuss: is not a known key; did you mean 'gpus'?"), "{text}");
    }

    #[test]
    fn a_key_that_is_read_twice_is_listed_once() {
        let value = json!({"pods": [], "surplus": 1});
        let mut problems = Problems::new();
        let mut fields = Fields::of(&value, "", &mut problems).expect("an object");
        fields.list("pods", &mut problems);
        fields.each("pods", &mut problems, |_, _| Some(()));
        fields.finish(&mut problems);
        assert_eq!(problems.to_string(), "surplus: is not a known key; use pods");
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash() {
        let text = "[".repeat(100_000);
        let problem = parse_json(text.as_bytes()).expect_err("too deep");
        assert!(problem.to_string().contains("deeper than 128 levels"), "{problem}");
    }

    #[test]
    fn cut_off_files_are_named_as_such() {
        let problem = parse_json(br#"{"schema": "lightbay"#).expect_err("cut off");
        assert!(problem.to_string().contains("cut off"), "{problem}");
    }

    #[test]
    fn oversized_streams_are_refused() {
        let endless = std::io::repeat(b' ');
        assert!(read_all(endless).expect_err("endless").message.contains("larger than 64 MiB"));
    }

    #[test]
    fn long_texts_are_refused_with_their_length() {
        let value = json!({"name": "é".repeat(MAX_TEXT), "title": "é".repeat(MAX_TEXT + 1), "note": 5});
        let mut problems = Problems::new();
        let mut fields = Fields::of(&value, "", &mut problems).expect("an object");
        assert!(fields.text("name", &mut problems).is_some());
        assert!(fields.optional_text("title", &mut problems).is_none());
        assert!(fields.optional_text("note", &mut problems).is_none());
        assert!(fields.optional_text("other", &mut problems).is_none());
        let title = "title: has 1001 characters; give at most 1000 characters";
        assert_eq!(problems.to_string(), format!("{title}\nnote: is '5'; give text in quotes"));
    }
}
