//! Writing JSON: stable key order, shortest floats that read back the same, non-finite numbers refused.

use crate::problem::{Problem, Problems};
use indented::Indented;
use printable::Printable;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter};
use sha2::{Digest, Sha256};
use std::io;

/// Reason that a value cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A NaN or infinity, which JSON cannot hold.
    #[error("a number is not finite at '{path}'")]
    NotFinite {
        /// Path of the number, as far as it is known.
        path: String,
    },
    /// The serialiser refused.
    #[error("cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl From<WriteError> for Problem {
    fn from(error: WriteError) -> Self {
        Self::new("", error.to_string(), "correct the input")
    }
}

impl From<WriteError> for Problems {
    fn from(error: WriteError) -> Self {
        Problem::from(error).into()
    }
}

/// Converts a value to a JSON tree; refuses numbers that are not finite.
///
/// # Errors
/// [`WriteError`].
pub fn to_value(value: &impl Serialize) -> Result<Value, WriteError> {
    finite::check(value)?;
    Ok(serde_json::to_value(value)?)
}

/// Writes a value as indented JSON with a final newline; the numbers of an array are on one line. Characters that could
/// make a name misleading are written as escapes.
///
/// # Errors
/// [`WriteError`].
pub fn to_pretty(value: &impl Serialize) -> Result<Vec<u8>, WriteError> {
    let mut bytes = formatted(value, Indented::default())?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a value as one line of JSON without a final newline, with the escapes of [`to_pretty`].
///
/// # Errors
/// [`WriteError`].
pub fn to_line(value: &impl Serialize) -> Result<String, WriteError> {
    // The serialiser writes UTF-8 only.
    Ok(String::from_utf8_lossy(&formatted(value, CompactFormatter)?).into_owned())
}

fn formatted(value: &impl Serialize, formatter: impl Formatter) -> Result<Vec<u8>, WriteError> {
    finite::check(value)?;
    let mut bytes = Vec::with_capacity(128);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Printable(formatter)))?;
    Ok(bytes)
}

/// Returns the SHA-256 of the compact JSON of a value, in lower-case hexadecimal. The JSON is not stored in memory.
///
/// # Errors
/// [`WriteError`].
pub fn sha256_of(value: &impl Serialize) -> Result<String, WriteError> {
    finite::check(value)?;
    let mut hash = Hashed(Sha256::new());
    serde_json::to_writer(&mut hash, value)?;
    Ok(hex(&hash.0.finalize()))
}

/// A writer that only hashes the written bytes.
struct Hashed(Sha256);

impl io::Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the SHA-256 of bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of bytes that arrive in parts.
#[derive(Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        use std::fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Calls a macro with the names and types of the methods of a JSON formatter that write a number, a boolean or null.
macro_rules! scalar_methods {
    ($make:ident) => {
        $make!(
            write_null(),
            write_bool(value: bool),
            write_i8(value: i8),
            write_i16(value: i16),
            write_i32(value: i32),
            write_i64(value: i64),
            write_i128(value: i128),
            write_u8(value: u8),
            write_u16(value: u16),
            write_u32(value: u32),
            write_u64(value: u64),
            write_u128(value: u128),
            write_f32(value: f32),
            write_f64(value: f64),
            write_number_str(value: &str),
        );
    };
}

mod finite;
mod indented;
mod printable;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::is_deceptive;

    #[test]
    fn floats_are_the_shortest_that_read_back() {
        let bytes = to_pretty(&vec![0.1, 12.829852, 1e300]).expect("finite");
        assert_eq!(String::from_utf8_lossy(&bytes), "[0.1, 12.829852, 1e+300]\n");
    }

    #[test]
    fn non_finite_numbers_are_refused() {
        #[derive(Serialize)]
        struct Deep {
            list: Vec<Option<f64>>,
        }
        assert!(matches!(
            to_pretty(&Deep { list: vec![Some(1.0), Some(f64::NAN)] }),
            Err(WriteError::NotFinite { path }) if path == "list[1]"
        ));
        assert!(to_pretty(&f64::INFINITY).is_err());
    }

    #[test]
    fn deceptive_characters_are_escaped_and_read_back() {
        let name = "a\u{1b}[2J\u{9b}31m\u{202e}\u{7f}b\n\"é\\";
        let value = serde_json::json!({ name: [name, 1.5, {}, []] });
        for text in [
            to_line(&value).expect("finite"),
            String::from_utf8(to_pretty(&value).expect("finite")).expect("UTF-8"),
        ] {
            assert!(!text.trim_end().chars().any(|sign| sign != '\n' && is_deceptive(sign)), "{text}");
            assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
        }
        assert_eq!(to_line(&"\u{9b}").expect("finite"), "\"\\u009b\"");
        let plain = serde_json::json!({"a": [1, "é"], "b": {}});
        assert_eq!(to_line(&plain).expect("finite"), plain.to_string());
        assert_eq!(
            String::from_utf8_lossy(&to_pretty(&plain).expect("finite")),
            "{\n  \"a\": [1,\n    \"é\"\n  ],\n  \"b\": {}\n}\n"
        );
    }

    #[test]
    fn sha_of_nothing() {
        assert!(sha256_hex(b"").starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
    }
}
