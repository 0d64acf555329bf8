//! Failures of a command, and how they are reported.

use super::console::Console;
use super::exit::Exit;
use color_eyre::eyre::Report;
use lightbay_core::json::WriteError;
use lightbay_core::problem::{Problem, Problems};
use lightbay_sessions::SessionError;
use std::io;

/// Reason that a command failed.
#[derive(Debug)]
pub enum Failure {
    /// Wrong input; every problem of every input is listed.
    Input(Vec<Problems>),
    /// A problem outside the input that the user can fix, such as a full disk.
    Mendable(String),
    /// The reader of the program's output, such as `head`, closed the output before everything was written.
    ReaderLeft,
    /// An unexpected error.
    Unexpected(Report),
}

/// Message about truncated output.
const READER_LEFT: &str = "standard output: the reader closed the pipe before it had read the whole output; commands with -o can write a file";

impl Failure {
    /// Makes a failure of wrong input with one problem.
    pub fn input(path: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Problem::new(path, message, remedy).into()
    }

    /// Reports the failure on standard error, and returns the exit code.
    pub fn report(self, console: &mut Console) -> Exit {
        match self {
            Self::Input(inputs) => {
                for problems in inputs {
                    for line in problems.to_string().lines() {
                        console.error(line);
                    }
                }
                Exit::Input
            }
            Self::Mendable(message) => {
                console.error(&message);
                Exit::Failure
            }
            Self::ReaderLeft => {
                console.error(READER_LEFT);
                Exit::Failure
            }
            Self::Unexpected(report) => {
                console.error(&format!("{report:?}"));
                Exit::Failure
            }
        }
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Input(vec![problems])
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Input(vec![problem.into()])
    }
}

/// A bare I/O error comes only from writing to our own standard output; all other errors name their file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderLeft,
            _ => Self::Mendable(format!(
                "standard output cannot be written: {error}; redirect it or free some space; commands with -o can write a file"
            )),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        if error.is_io() { io::Error::from(error).into() } else { Self::Unexpected(error.into()) }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Unexpected(error.into())
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Self::Unexpected(report)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::NoSpace { .. } | SessionError::Io { .. } => Self::Mendable(error.to_string()),
            SessionError::Unwritable { .. } => Self::Unexpected(error.into()),
            // All other errors name a file, a folder or a session that the user chose.
            other => Self::Input(vec![Problem::new("", other.to_string(), "").into()]),
        }
    }
}
