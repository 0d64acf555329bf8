//! A file that grows by whole lines, for tables of sweeps: a sweep may take days, and users read the table of a sweep
//! meanwhile.
//!
//! [`crate::atomic`] writes the first content of the file. After that, each line is written in one piece and made
//! durable before the next. A kill therefore leaves at most one incomplete line, which the next opening removes.

use crate::atomic::{Overwrite, atomic_write};
use crate::error::SessionError;
use crate::lock::exclusively;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// A file of lines that is open for appending. While the file is open, a lock prevents other lightbay processes from
/// writing to it.
#[derive(Debug)]
pub struct LineFile {
    path: PathBuf,
    file: File,
}

impl LineFile {
    /// Creates a file with the content `head`, which ends with a line end unless it is empty.
    ///
    /// # Errors
    /// [`SessionError`] that names the path and the remedy; an existing file is then unchanged.
    pub fn create(path: &Path, head: &[u8], overwrite: Overwrite) -> Result<Self, SessionError> {
        if path.exists() {
            // `claim` fails if another process is writing to the file; the file then stays as it is.
            drop(Self::claim(path)?);
        }
        atomic_write(path, head, overwrite)?;
        Self::claim(path)
    }

    /// Opens a file for appending lines. Returns its lines and removes an incomplete last line.
    ///
    /// # Errors
    /// [`SessionError`] that names the path and the remedy.
    pub fn open(path: &Path) -> Result<(Self, Vec<u8>), SessionError> {
        let mut opened = Self::claim(path)?;
        let mut lines = Vec::new();
        opened.file.read_to_end(&mut lines).map_err(|error| SessionError::reading(path, error))?;
        let whole = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < lines.len() {
            lines.truncate(whole);
            opened.file.set_len(whole as u64).map_err(|error| SessionError::writing(path, error))?;
        }
        Ok((opened, lines))
    }

    fn claim(path: &Path) -> Result<Self, SessionError> {
        let failed = |error| SessionError::writing(path, error);
        let what = std::fs::metadata(path).map_err(failed)?;
        if what.is_dir() {
            return Err(SessionError::IsFolder { path: path.to_owned() });
        }
        if !what.is_file() {
            return Err(SessionError::NotAFile { path: path.to_owned(), what: "no regular file" });
        }
        let file = File::options().read(true).append(true).open(path).map_err(failed)?;
        match exclusively(&file) {
            Ok(()) => Ok(Self { path: path.to_owned(), file }),
            Err(TryLockError::WouldBlock) => Err(SessionError::Busy { path: path.to_owned() }),
            // Some file systems have no locks; then only the user can prevent conflicts.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Self { path: path.to_owned(), file })
            }
            Err(TryLockError::Error(source)) => {
                Err(SessionError::Io { path: path.to_owned(), doing: "lock", source })
            }
        }
    }

    /// Adds a line, which must end with a line end.
    ///
    /// # Errors
    /// [`SessionError`]; the file may then end with an incomplete line.
    pub fn append(&mut self, line: &[u8]) -> Result<(), SessionError> {
        let failed = |error| SessionError::writing(&self.path, error);
        self.file.write_all(line).map_err(failed)?;
        self.file.sync_data().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn lines_are_added_and_a_torn_one_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let mut table = LineFile::create(&path, b"a,b\n", Overwrite::Refuse).unwrap();
        table.append(b"1,2\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a,b\n1,2\n", "a reader sees it at once");
        table.append(b"3,").unwrap();
        drop(table);
        let (mut table, lines) = LineFile::open(&path).unwrap();
        assert_eq!(lines, b"a,b\n1,2\n");
        table.append(b"3,4\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a,b\n1,2\n3,4\n");
    }

    #[test]
    fn two_writers_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let table = LineFile::create(&path, b"a\n", Overwrite::Refuse).unwrap();
        assert!(matches!(LineFile::open(&path), Err(SessionError::Busy { .. })));
        assert!(matches!(LineFile::create(&path, b"b\n", Overwrite::Allow), Err(SessionError::Busy { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"a\n");
        drop(table);
        assert!(matches!(
            LineFile::create(&path, b"b\n", Overwrite::Refuse),
            Err(SessionError::Exists { .. })
        ));
        LineFile::create(&path, b"b\n", Overwrite::Allow).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"b\n");
    }

    #[test]
    fn only_files_grow() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(LineFile::open(folder.path()), Err(SessionError::IsFolder { .. })));
        let missing = folder.path().join("none.csv");
        assert!(LineFile::open(&missing).is_err());
        #[cfg(unix)]
        assert!(matches!(LineFile::open(Path::new("/dev/null")), Err(SessionError::NotAFile { .. })));
    }
}
