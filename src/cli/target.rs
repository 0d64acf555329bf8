//! Targets of results: standard output, or a file that is checked before the work starts.

use super::console::Console;
use super::failure::Failure;
use flate2::Compression;
use flate2::write::GzEncoder;
use lightbay_core::problem::{Problem, printable};
use lightbay_sessions::{Overwrite, SessionError, atomic_write, remove_abandoned};
use rustix::fs::{Access, access};
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A place for a result.
#[derive(Clone, Debug)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file, or a pipe or device.
    File(FileTarget),
}

/// A file for a result.
#[derive(Clone, Debug)]
pub struct FileTarget {
    path: PathBuf,
    overwrite: Overwrite,
    /// `true` if the path is a pipe or device, which cannot be replaced.
    stream: bool,
}

impl Target {
    /// Before any other work, checks whether `path` can be written; `None` and `-` are standard output.
    ///
    /// # Errors
    /// Returns the reason that the target cannot be written: the file exists and `force` is not set, the path is a
    /// folder, its folder is missing or write-protected, or standard output is closed.
    pub fn prepare(path: Option<&Path>, force: bool, console: &Console) -> Result<Self, Problem> {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => FileTarget::prepare(path, force).map(Self::File),
            None if console.out_is_closed() => Err(Problem::new(
                "standard output",
                "is closed, and the result would be lost",
                "name a file with -o, or redirect standard output",
            )),
            None => Ok(Self::Stdout),
        }
    }

    /// Writes the result.
    ///
    /// # Errors
    /// Returns the error of the system if the bytes cannot be written.
    pub fn write(&mut self, bytes: &[u8], console: &mut Console) -> Result<(), Failure> {
        match self {
            Self::Stdout => Ok(console.out().write_all(bytes)?),
            Self::File(file) => Ok(file.write(bytes)?),
        }
    }
}

/// Refuses JSON about a written file if the result itself goes to standard output.
///
/// # Errors
/// `--json` together with `-o -`.
pub fn file_for_json(json: bool, output: Option<&Path>) -> Result<(), Problem> {
    if json && output.is_some_and(|path| path.as_os_str() == "-") {
        let message = "describes the written file, but `-o -` writes the result to standard output";
        return Err(Problem::new("--json", message, "name a file with -o, or leave --json out"));
    }
    Ok(())
}

impl FileTarget {
    /// Checks the path of a file like [`Target::prepare`].
    ///
    /// # Errors
    /// Returns the reason that the file cannot be written.
    pub fn prepare(path: &Path, force: bool) -> Result<Self, Problem> {
        let name = printable(&path.to_string_lossy());
        let refuse = |message: &str, remedy: &str| Err(Problem::new(name.clone(), message, remedy));
        let mut stream = false;
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => return refuse("is a folder", "give the name of a file in it"),
            // Pipes and devices have no content that could be overwritten.
            Ok(found) if !found.is_file() => stream = true,
            Ok(_) if !force => {
                return refuse("exists already", "choose another name or overwrite it with --force");
            }
            Ok(found) if found.permissions().readonly() => {
                return refuse("is write-protected", "make it writable or choose another name");
            }
            Ok(_) => check_folder(path, &name)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => check_folder(path, &name)?,
            Err(error) => {
                return refuse(&format!("cannot be written: {error}"), "choose another name");
            }
        }
        // A killed process may have left an unfinished file in the same folder.
        remove_abandoned(folder_of(path));
        let overwrite = if force { Overwrite::Allow } else { Overwrite::Refuse };
        Ok(Self { path: path.to_owned(), overwrite, stream })
    }

    /// Returns `true` if the target is a pipe or device, which cannot be replaced.
    pub const fn is_stream(&self) -> bool {
        self.stream
    }

    /// Returns the size of the file with the content `bytes`, compressed if its name ends with `.gz`.
    pub fn stored_size(&self, bytes: &[u8]) -> u64 {
        if self.is_compressed() { gzip(bytes).len() as u64 } else { bytes.len() as u64 }
    }

    fn is_compressed(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
    }

    /// Replaces the file by `bytes`, compressed if its name ends with `.gz`. Later writes may overwrite what this
    /// target wrote before.
    ///
    /// # Errors
    /// Returns the error of the system if the bytes cannot be written; the old content is then still there.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        if self.is_compressed() {
            atomic_write(&self.path, &gzip(bytes), self.overwrite)?;
        } else {
            atomic_write(&self.path, bytes, self.overwrite)?;
        }
        self.overwrite = Overwrite::Allow;
        Ok(())
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Returns the folder that contains a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn check_folder(path: &Path, name: &str) -> Result<(), Problem> {
    let refuse = |message: String, remedy: &str| Err(Problem::new(name, message, remedy));
    if path.file_name().is_none() || name.ends_with('/') {
        return refuse("is a folder".to_owned(), "give the name of a file in it");
    }
    let folder = folder_of(path);
    let shown = printable(&folder.to_string_lossy());
    match fs::metadata(folder) {
        Ok(found) if !found.is_dir() => refuse(format!("'{shown}' is not a folder"), "choose another place"),
        Ok(_) => match access(folder, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => Ok(()),
            Err(error) => refuse(
                format!("the folder '{shown}' cannot be written: {}", io::Error::from(error)),
                "make it writable or choose another place",
            ),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let remedy = format!("create it with `mkdir -p {shown}`, or choose another place");
            refuse(format!("the folder '{shown}' does not exist"), &remedy)
        }
        Err(error) => refuse(format!("the folder '{shown}' cannot be used: {error}"), "choose another place"),
    }
}

impl fmt::Display for FileTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.path.to_string_lossy()))
    }
}
