//! The table that the example tuner plug-in of NCCL reads (`NCCL_TUNER_CONFIG_FILE`): an algorithm for every range of
//! sizes.
//!
//! A row is `collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]`; the
//! first matching row counts. The plug-in misreads unknown words as other words, and a line of 256 characters as two
//! lines, so the writer emits only what the plug-in reads correctly.

use lightbay_core::problem::{Problems, printable};
use std::fmt::Write as _;

/// Collectives that the plug-in supports. All-to-all is not supported.
pub const COLLECTIVES: [&str; 5] = ["broadcast", "reduce", "allgather", "reducescatter", "allreduce"];
/// Algorithms that the plug-in supports.
pub const ALGORITHMS: [&str; 7] =
    ["tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"];
/// Protocols that the plug-in supports.
pub const PROTOCOLS: [&str; 3] = ["ll", "ll128", "simple"];
/// Size that the last range must include, bytes.
pub const LAST_BYTES: u64 = u32::MAX as u64;
/// Maximum number of rows that are read.
const MOST_ROWS: usize = 100_000;

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunerRow {
    /// Collective, one of [`COLLECTIVES`].
    pub collective: String,
    /// Minimum size, bytes.
    pub min_bytes: u64,
    /// Maximum size, bytes, inclusive.
    pub max_bytes: u64,
    /// Algorithm, one of [`ALGORITHMS`].
    pub algorithm: String,
    /// Protocol, one of [`PROTOCOLS`].
    pub protocol: String,
    /// Maximum number of channels; 0 leaves the number to NCCL.
    pub channels: u32,
    /// Number of nodes to which the row applies; any number if missing.
    pub nodes: Option<u32>,
    /// Number of ranks to which the row applies; any number if missing.
    pub ranks: Option<u32>,
}

/// Writes a table.
///
/// # Errors
/// Words that the plug-in does not know, ranges that are empty, overlap or leave sizes out, a last range that does not
/// reach [`LAST_BYTES`].
pub fn write(rows: &[TunerRow]) -> Result<String, Problems> {
    let mut problems = Problems::new();
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let place = format!("rows[{at}]");
        for (field, word, known) in [
            ("collective", &row.collective, &COLLECTIVES[..]),
            ("algorithm", &row.algorithm, &ALGORITHMS[..]),
            ("protocol", &row.protocol, &PROTOCOLS[..]),
        ] {
            if !known.contains(&word.as_str()) {
                problems.add(
                    format!("{place}.{field}"),
                    format!("is '{}', which the plug-in would read as a different value", printable(word)),
                    format!("use one of {}", known.join(", ")),
                );
            }
        }
        if row.min_bytes > row.max_bytes {
            let message = format!("is {}, above max_bytes {}", row.min_bytes, row.max_bytes);
            problems.add(format!("{place}.min_bytes"), message, "use at most max_bytes");
        }
        let same = |other: &&TunerRow| {
            (&other.collective, other.nodes, other.ranks) == (&row.collective, row.nodes, row.ranks)
        };
        match rows[at + 1..].iter().find(same) {
            Some(next) if row.max_bytes.checked_add(1) != Some(next.min_bytes) => {
                let message = format!(
                    "is {}, but the next range of {} begins at {}",
                    row.max_bytes,
                    printable(&row.collective),
                    next.min_bytes
                );
                problems.add(
                    format!("{place}.max_bytes"),
                    message,
                    "let the next range begin 1 byte after max_bytes",
                );
            }
            None if row.max_bytes < LAST_BYTES => {
                let message =
                    format!("is {} in the last range of {}", row.max_bytes, printable(&row.collective));
                problems.add(format!("{place}.max_bytes"), message, format!("use at least {LAST_BYTES}"));
            }
            _ => {}
        }
        let any = |number: Option<u32>| number.map_or_else(|| "-1".to_owned(), |number| number.to_string());
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{}",
            row.collective,
            row.min_bytes,
            row.max_bytes,
            row.algorithm,
            row.protocol,
            row.channels,
            any(row.nodes),
            any(row.ranks)
        );
    }
    problems.into_result(text)
}

/// Reads a table like the plug-in, but refuses what the plug-in would misinterpret.
///
/// # Errors
/// Every line that is not a row of 8 to 10 fields with known words and with numbers in their ranges.
pub fn read(text: &str) -> Result<Vec<TunerRow>, Problems> {
    let mut problems = Problems::new();
    let mut rows = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if rows.len() >= MOST_ROWS {
            problems.add(
                format!("line {}", at + 1),
                format!("exceeds the maximum of {MOST_ROWS} rows"),
                "use fewer",
            );
            break;
        }
        match row(line) {
            Ok(row) => rows.push(row),
            Err(message) => problems.add(
                format!("line {}", at + 1),
                message,
                "write collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks",
            ),
        }
    }
    problems.into_result(rows)
}

fn row(line: &str) -> Result<TunerRow, String> {
    if line.len() > 255 {
        return Err("is longer than 255 characters, the maximum of the plug-in".to_owned());
    }
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    if !(8..=10).contains(&fields.len()) {
        return Err(format!("has {} fields, but a row has 8 to 10", fields.len()));
    }
    let word = |at: usize, known: &[&str]| {
        let word = fields.get(at).copied().unwrap_or_default();
        known
            .contains(&word)
            .then(|| word.to_owned())
            .ok_or_else(|| format!("has '{}' as field {}", printable(word), at + 1))
    };
    fn number<T: std::str::FromStr>(fields: &[&str], at: usize) -> Result<T, String> {
        let text = fields.get(at).copied().unwrap_or_default();
        text.parse().map_err(|_| format!("has '{}' as field {}", printable(text), at + 1))
    }
    let any = |at: usize| -> Result<Option<u32>, String> {
        if fields.get(at) == Some(&"-1") { Ok(None) } else { number(&fields, at).map(Some) }
    };
    for at in 8..fields.len() {
        any(at)?;
    }
    Ok(TunerRow {
        collective: word(0, &COLLECTIVES)?,
        min_bytes: number(&fields, 1)?,
        max_bytes: number(&fields, 2)?,
        algorithm: word(3, &ALGORITHMS)?,
        protocol: word(4, &PROTOCOLS)?,
        channels: number(&fields, 5)?,
        nodes: any(6)?,
        ranks: any(7)?,
    })
}
