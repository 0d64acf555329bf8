//! The run log of a session: one event per line, in the order in which runs reported them, with plan numbers.
//!
//! A line is a core event record (`lightbay.event/1`). If it has a plan, the line also has the session's number of the
//! plan as `"plan"`, and the SHA-256 of a final plan's content as `"content"`. A line is complete once its line end is
//! written; text after the last line end is a record that a kill cut off.

use crate::book::PlanId;
use crate::error::SessionError;
use crate::private;
use lightbay_core::event::{EventRecord, SCHEMA};
use lightbay_core::json::{self, WriteError};
use lightbay_core::problem::{Problem, printable};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// Maximum length of a line, bytes; a longer line is treated as damaged, and is skipped without being kept in memory.
const MAX_LINE_BYTES: u64 = 8 << 20;

/// An event of a session's log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogRecord {
    /// The event as it is written.
    #[serde(flatten)]
    pub record: EventRecord,
    /// The session's number of the plan in the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// SHA-256 of the content of a run's final plan; equal plans have the same SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

impl LogRecord {
    /// Appends the record as one line.
    ///
    /// # Errors
    /// [`WriteError`] for numbers that are not finite; nothing is appended then.
    pub fn write_line(&self, to: &mut Vec<u8>) -> Result<(), WriteError> {
        let value = json::to_value(self)?;
        let start = to.len();
        if let Err(error) = serde_json::to_writer(&mut *to, &value) {
            to.truncate(start);
            return Err(error.into());
        }
        to.push(b'\n');
        Ok(())
    }
}

/// A line of a log.
#[derive(Debug)]
pub enum LogLine {
    /// A valid record.
    Record(Box<LogRecord>),
    /// A complete line that is not a valid record.
    Broken(Problem),
    /// The file ends with an incomplete record; this is always the last line.
    CutOff,
}

/// Reads a log line by line, in bounded memory.
#[derive(Debug)]
pub struct LogReader<R> {
    input: R,
    buffer: Vec<u8>,
    line: u64,
    end: u64,
}

impl<R: BufRead> LogReader<R> {
    /// Creates a reader that starts at the beginning of a log.
    pub const fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), line: 0, end: 0 }
    }

    /// Returns the number of bytes of the whole lines read so far.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Returns the next line; `None` at the end.
    ///
    /// # Errors
    /// Returns the error of the system if the log cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<LogLine>> {
        self.buffer.clear();
        let read = (&mut self.input).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.buffer)? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        let mut length = read;
        if self.buffer.last() != Some(&b'\n') {
            if read < MAX_LINE_BYTES {
                return Ok(Some(match parse(&self.buffer, self.line) {
                    // Only the line end is missing: the record itself is complete.
                    LogLine::Record(record) => LogLine::Record(record),
                    _ => LogLine::CutOff,
                }));
            }
            length += self.skip_line()?;
        }
        self.end += length;
        if length > MAX_LINE_BYTES {
            return Ok(Some(LogLine::Broken(Problem::new(
                format!("line {}", self.line),
                format!("is {length} bytes long, but the maximum is {MAX_LINE_BYTES}"),
                "the line is skipped",
            ))));
        }
        Ok(Some(parse(&self.buffer, self.line)))
    }

    fn skip_line(&mut self) -> io::Result<u64> {
        let mut skipped = 0;
        loop {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                return Ok(skipped);
            }
            let (length, ended) = match piece.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (piece.len(), false),
            };
            self.input.consume(length);
            skipped += length as u64;
            if ended {
                return Ok(skipped);
            }
        }
    }
}

fn parse(line: &[u8], number: u64) -> LogLine {
    let broken = |message: String, remedy: &str| {
        LogLine::Broken(Problem::new(format!("line {number}"), message, remedy))
    };
    match serde_json::from_slice::<LogRecord>(line) {
        Ok(mut record) if record.record.schema == SCHEMA => {
            // A plan number outside the valid range is dropped; the rest of the record is used.
            record.plan = record.plan.filter(|plan| plan.is_valid());
            LogLine::Record(Box::new(record))
        }
        Ok(record) => broken(
            format!("has schema '{}', but must have '{SCHEMA}'", printable(&record.record.schema)),
            "the line is skipped; open the session with the version of lightbay that wrote it",
        ),
        Err(error) => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            broken(format!("is not an event record: {message}"), "the line is skipped")
        }
    }
}

/// Opens the log of a session; `None` if nothing was logged yet.
///
/// # Errors
/// [`SessionError`] if the log exists and cannot be read.
pub fn open_log(path: &Path) -> Result<Option<LogReader<BufReader<File>>>, SessionError> {
    match private::open(path) {
        Ok(file) => Ok(Some(LogReader::new(BufReader::with_capacity(1 << 16, file)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SessionError::reading(path, error)),
    }
}

/// A reader that follows a log that another process is writing.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    end: u64,
}

impl Follower {
    /// Follows the log from byte `end`, which [`crate::replay::Replay`] reports as the end of the part that it has
    /// read.
    pub fn from(path: impl Into<PathBuf>, end: u64) -> Self {
        Self { path: path.into(), end }
    }

    /// Returns the whole lines written since the last call, at most `most` of them.
    ///
    /// # Errors
    /// [`SessionError`] if the log cannot be read.
    pub fn poll(&mut self, most: usize) -> Result<Vec<LogLine>, SessionError> {
        let failed = |error| SessionError::reading(&self.path, error);
        let mut file = match private::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        file.seek(SeekFrom::Start(self.end)).map_err(failed)?;
        let mut reader = LogReader::new(BufReader::new(file));
        let mut lines = Vec::new();
        let mut end = 0;
        while lines.len() < most {
            let line = reader.next_line().map_err(failed)?;
            // A line without its end is still being written; it is read when it is complete.
            if reader.end() == end {
                break;
            }
            end = reader.end();
            lines.extend(line);
        }
        self.end += end;
        Ok(lines)
    }
}

/// Prepares a log for appending: removes an incomplete record, or adds a missing line end.
/// Returns the length of the log, and the number of bytes that were removed.
pub(crate) fn mend(file: &mut File) -> io::Result<(u64, u64)> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut tail = Vec::new();
    let mut start = length;
    while start > 0 && !tail.contains(&b'\n') {
        // Searches backwards in blocks, because the log may have gigabytes before the incomplete record.
        let block = start.min(1 << 16);
        start -= block;
        file.seek(SeekFrom::Start(start))?;
        let mut piece = vec![0; block as usize];
        file.read_exact(&mut piece)?;
        piece.append(&mut tail);
        tail = piece;
    }
    let keep = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let cut = &tail[keep..];
    if cut.is_empty() {
        return Ok((length, 0));
    }
    if matches!(parse(cut, 0), LogLine::Record(_)) {
        file.seek(SeekFrom::Start(length))?;
        file.write_all(b"\n")?;
        return Ok((length + 1, 0));
    }
    let removed = cut.len() as u64;
    file.set_len(length - removed)?;
    Ok((length - removed, removed))
}
