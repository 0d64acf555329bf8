//! The log on screen: a limited number of the newest events and messages. The full log is in the session.

use lightbay_core::event::{RunId, Severity};
use std::collections::VecDeque;

/// Maximum number of entries that are kept.
pub const CAPACITY: usize = 2000;

/// One line of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Number of the entry; counting continues when old entries are dropped.
    pub number: u64,
    /// Seconds since the program began; NaN for an entry about an event before that time.
    pub at_s: f64,
    /// Importance of the message.
    pub severity: Severity,
    /// Method of the run, or `app`.
    pub source: String,
    /// Number of the run; `None` for a message of the program.
    pub run: Option<RunId>,
    /// Text of the entry, one sentence.
    pub text: String,
}

/// Writes the unit `us` as on the rest of a screen: `µs`.
fn in_micro(text: &str) -> String {
    let word = |word: &str| match word.strip_prefix("us") {
        Some(rest) if !rest.starts_with(char::is_alphanumeric) => format!("µs{rest}"),
        _ => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The log, oldest entry first.
#[derive(Clone, Debug, Default)]
pub struct Log {
    entries: VecDeque<LogEntry>,
    total: u64,
}

impl Log {
    /// Adds a line.
    pub fn add(
        &mut self,
        at_s: f64,
        severity: Severity,
        source: &str,
        run: Option<RunId>,
        text: impl Into<String>,
    ) {
        if self.entries.len() == CAPACITY {
            self.entries.pop_front();
        }
        self.total += 1;
        let text = in_micro(&lightbay_core::problem::printable(&text.into()));
        self.entries.push_back(LogEntry {
            number: self.total,
            at_s,
            severity,
            source: source.to_owned(),
            run,
            text,
        });
    }

    /// Iterates over all stored lines, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &LogEntry> + ExactSizeIterator {
        self.entries.iter()
    }

    /// Returns the newest line.
    pub fn last(&self) -> Option<&LogEntry> {
        self.entries.back()
    }

    /// Returns the number of stored lines.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if the log is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of lines ever added.
    pub const fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn microseconds_have_their_sign() {
        assert_eq!(super::in_micro("epochs of 1.25 us, used at 3 us"), "epochs of 1.25 µs, used at 3 µs");
    }
}
