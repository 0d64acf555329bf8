//! Errors of saved work, grouped by remedy.

use crate::private::not_regular_of;
use lightbay_core::json::WriteError;
use lightbay_core::problem::{Problem, printable};
use std::io;
use std::path::{Path, PathBuf};

/// Reason that saved work could not be read, written or compared. Every message states the remedy; most also name the
/// file, the folder, the session or the plans.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The file exists and must not be replaced.
    #[error("'{}' exists already; choose another name or overwrite it with --force", show(.path))]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another session has this name.
    #[error("session '{name}' exists already; choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The path of the file is a folder.
    #[error("'{}' is a folder; give the name of a file in it", show(.path))]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The path is not what is needed, such as a device instead of a file, or a file instead of a folder.
    #[error("'{}' is {what}; give the name of a regular file", show(.path))]
    NotAFile {
        /// Path that was given.
        path: PathBuf,
        /// Description of what the path is, such as `no folder`.
        what: &'static str,
    },
    /// An entry of a session is not a regular file.
    #[error("'{}' is {what}, which is not followed in a session; put a regular file in its place", show(.path))]
    NotRegular {
        /// Path of the entry.
        path: PathBuf,
        /// Description of what the entry is, such as `a symbolic link`.
        what: &'static str,
    },
    /// The folder to write into is missing.
    #[error("the folder '{}' does not exist; create it or choose another place", show(.path))]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The file or its folder refuses writing.
    #[error("'{}' cannot be written: {source}; make it writable or choose another place", show(.path))]
    NotWritable {
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The disk is full.
    #[error("no room to write '{}': {source}; free some space or choose another place", show(.path))]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Any other error of the system.
    #[error("cannot {doing} '{}': {source}; check the disk and try again", show(.path))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Action that was tried, as a verb.
        doing: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// The content of a file is not valid.
    #[error("'{}': {problem}", show(.path))]
    Broken {
        /// The file.
        path: PathBuf,
        /// Problem of the content, with its remedy.
        problem: Problem,
    },
    /// The content cannot be written.
    #[error("'{}' {source}; this is a defect of the method that made it", show(.path))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Reason that the content cannot be written.
        source: WriteError,
    },
    /// No session has that name.
    #[error("session '{}' does not exist; {remedy}", printable(.name))]
    NoSession {
        /// Name that was requested.
        name: String,
        /// Remedy: the nearest name of a session, or another action.
        remedy: String,
    },
    /// Another process writes to the session.
    #[error("session '{}' is open in {holder}; close it there first", printable(.name))]
    InUse {
        /// The session.
        name: String,
        /// Process that has the session open.
        holder: String,
    },
    /// Another process appends to the file.
    #[error("'{}' is being written by another process; wait for it, or choose another name", show(.path))]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A change was requested in a session that is open for reading only.
    #[error("session '{}' is open for reading only; close it where it is open, then open it again", printable(.name))]
    ReadOnly {
        /// The session.
        name: String,
    },
    /// No folder for saved work is known.
    #[error("no place for {what} is known: neither {variables} is set; set one of them to a folder")]
    NoPlace {
        /// Content that needs a folder.
        what: &'static str,
        /// The environment variables that were read.
        variables: &'static str,
    },
    /// Plans of different kinds were to be compared.
    #[error(
        "'{}' is of kind {kind}, but '{}' is of kind {other_kind}; compare plans of one kind",
        printable(.label), printable(.other)
    )]
    Kinds {
        /// Name of the first plan.
        label: String,
        /// Kind of the first plan.
        kind: String,
        /// Name of the plan of another kind.
        other: String,
        /// Kind of that plan.
        other_kind: String,
    },
    /// Too few plans were to be compared.
    #[error("{count} plan was given; give at least two plans to compare")]
    TooFew {
        /// Number of plans given.
        count: usize,
    },
}

impl SessionError {
    /// Classifies an error that occurred while writing `path`.
    pub(crate) fn writing(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if let Some(what) = not_regular_of(&source) {
            return Self::NotRegular { path, what };
        }
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace { path, source }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotWritable { path, source }
            }
            io::ErrorKind::IsADirectory => Self::IsFolder { path },
            io::ErrorKind::NotFound => Self::NoFolder { path: folder_of(&path).to_owned() },
            _ => Self::Io { path, doing: "write", source },
        }
    }

    /// Classifies an error that occurred while reading `path`.
    pub(crate) fn reading(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match not_regular_of(&source) {
            Some(what) => Self::NotRegular { path, what },
            None => Self::Io { path, doing: "read", source },
        }
    }

    /// Makes an error about invalid content of `path`.
    pub(crate) fn broken(path: &Path, problem: Problem) -> Self {
        Self::Broken { path: path.to_owned(), problem }
    }
}

/// Returns the folder that contains a file; the working folder for a file name without a folder.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn show(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
