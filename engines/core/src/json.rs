//! Writing JSON: stable key order, shortest floats that read back the same, non-finite numbers refused.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Why a value cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A NaN or infinity, which JSON cannot hold.
    #[error("a number is not finite at '{path}'")]
    NotFinite {
        /// Where, as far as it is known.
        path: String,
    },
    /// The serialiser refused.
    #[error("cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// A value as JSON tree, refusing numbers that are not finite.
///
/// # Errors
/// [`WriteError`].
pub fn to_value(value: &impl Serialize) -> Result<Value, WriteError> {
    finite::check(value)?;
    Ok(serde_json::to_value(value)?)
}

/// A value as indented JSON with a final newline.
///
/// # Errors
/// [`WriteError`].
pub fn to_pretty(value: &impl Serialize) -> Result<Vec<u8>, WriteError> {
    finite::check(value)?;
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// SHA-256 of bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        use std::fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// serde_json writes NaN as `null` without a word; a serialiser that only looks finds them first.
mod finite;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_the_shortest_that_read_back() {
        let bytes = to_pretty(&vec![0.1, 12.829852, 1e300]).expect("finite");
        assert_eq!(String::from_utf8_lossy(&bytes), "[\n  0.1,\n  12.829852,\n  1e+300\n]\n");
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
    fn sha_of_nothing() {
        assert!(sha256_hex(b"").starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
    }
}
