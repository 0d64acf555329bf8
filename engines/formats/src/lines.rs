//! Lines of a text file with their numbers; limits the length and the number of lines, and stores only one line.

use std::io::{BufRead, Read};

use lightbay_core::problem::Problem;

use crate::gz::{Limits, io_problem};

/// A reader that returns one line at a time from a reused buffer.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: usize,
    cap: usize,
    /// Maximum number of rows of the table in the file.
    rows: usize,
}

/// A file may have two lines for each row of its table, and this number of further lines: headings, comments, blank
/// lines.
const OTHER_LINES: usize = 100_000;

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R, limits: &Limits) -> Self {
        Self { reader, buffer: Vec::new(), number: 0, cap: limits.line_bytes, rows: limits.rows }
    }

    /// Returns the maximum number of rows of the table in the file.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the next line without its line end, and the number of the line, counted from 1.
    pub(crate) fn next_line(&mut self) -> Result<Option<(usize, &str)>, Problem> {
        self.buffer.clear();
        self.number += 1;
        let place = || format!("line {}", self.number);
        let mut limited = (&mut self.reader).take(self.cap as u64 + 1);
        let read =
            limited.read_until(b'\n', &mut self.buffer).map_err(|error| io_problem(&place(), &error))?;
        if read == 0 {
            return Ok(None);
        }
        let most = self.rows.saturating_mul(2).saturating_add(OTHER_LINES);
        if self.number > most {
            let message = format!("the file has more than {most} lines");
            return Err(Problem::new(
                place(),
                message,
                "no file of this format is so long; check that this is the intended file",
            ));
        }
        if read > self.cap {
            return Err(Problem::new(
                place(),
                format!("is longer than '{}' bytes", self.cap),
                "this is not a text table; check the file",
            ));
        }
        let mut bytes = self.buffer.as_slice();
        if self.number == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some((self.number, text))),
            Err(error) => Err(Problem::new(
                format!("line {}, byte {}", self.number, error.valid_up_to() + 1),
                "is not UTF-8 text",
                "save the file as UTF-8, or check that it is the intended file",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_blank_lines_ends() {
        let flood = std::io::BufReader::new(std::io::repeat(b'\n'));
        let mut lines = Lines::new(flood, &Limits { rows: 10, ..Limits::default() });
        let problem = loop {
            match lines.next_line() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it has no end"),
                Err(problem) => break problem,
            }
        };
        assert_eq!(problem.message, "the file has more than 100020 lines");
    }

    #[test]
    fn endings_marks_and_caps() {
        let limits = Limits { line_bytes: 8, ..Limits::default() };
        let mut lines = Lines::new(&b"\xef\xbb\xbfone\r\n\ntwo"[..], &limits);
        assert_eq!(lines.next_line().unwrap(), Some((1, "one")));
        assert_eq!(lines.next_line().unwrap(), Some((2, "")));
        assert_eq!(lines.next_line().unwrap(), Some((3, "two")));
        assert_eq!(lines.next_line().unwrap(), None);

        let mut lines = Lines::new(&b"short\nmuch too long"[..], &limits);
        lines.next_line().unwrap();
        assert_eq!(lines.next_line().unwrap_err().path, "line 2");
        let mut lines = Lines::new(&b"ab\xffcd"[..], &limits);
        assert_eq!(lines.next_line().unwrap_err().path, "line 1, byte 3");
    }
}
