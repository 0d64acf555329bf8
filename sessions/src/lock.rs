//! One writer per session, enforced by a lock that the system releases when its process ends for any reason.
//!
//! The lock is on the file `lock`; the content of the file (process and host) is only shown to a user who opens the
//! session in a second process. A file left by a dead process is therefore not a lock: the next process to open the
//! session locks it and rewrites it.

use crate::error::SessionError;
use crate::private;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The process that has a session open for writing; the default is an unknown process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// Process id, 0 if unknown.
    pub pid: u32,
    /// Name of the machine.
    pub host: String,
    /// Time at which the process opened the session, RFC 3339.
    pub since: String,
}

impl LockHolder {
    /// Describes this process as the holder of a lock.
    pub fn here(since: &str) -> Self {
        Self { pid: std::process::id(), host: host(), since: since.to_owned() }
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pid == 0 {
            return f.write_str("another process");
        }
        let host = lightbay_core::problem::printable(&self.host);
        write!(f, "process {} on {host}", self.pid)
    }
}

/// The right to write to a session; released when dropped.
#[derive(Debug)]
pub struct Lock {
    // Not read or written: closing the file releases the lock.
    _file: Option<File>,
}

/// Answer to a request for the lock.
#[derive(Debug)]
pub enum Locked {
    /// This process holds the lock.
    Here(Lock),
    /// This file system has no locks, so the session is opened without one.
    Unsupported(Lock),
    /// Another process holds the lock.
    Elsewhere(LockHolder),
    /// The folder is not writable, so no process on this machine can hold the lock.
    Refused,
}

/// Tries to get the lock without waiting; returns the lock, or the other process that holds the lock.
///
/// # Errors
/// [`SessionError`] if the lock file cannot be made.
pub fn try_lock(path: &Path, since: &str) -> Result<Locked, SessionError> {
    let opened =
        private::open_with(private::options().read(true).write(true).create(true).truncate(false), path);
    let mut file = opened.map_err(|error| SessionError::writing(path, error))?;
    match exclusively(&file) {
        Ok(()) => {
            // Only the lock matters, not the note in its file: a full disk must not prevent reading saved work.
            let _ = write_holder(&mut file, &LockHolder::here(since));
            Ok(Locked::Here(Lock { _file: Some(file) }))
        }
        Err(TryLockError::WouldBlock) => Ok(Locked::Elsewhere(read_holder(&mut file))),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
            Ok(Locked::Unsupported(Lock { _file: None }))
        }
        Err(TryLockError::Error(source)) => {
            Err(SessionError::Io { path: path.to_owned(), doing: "lock", source })
        }
    }
}

/// Takes the lock, or fails if another process holds it. [`holder`] in another process has a shared lock for a moment,
/// so the attempt is repeated while the lock is only shared.
pub(crate) fn exclusively(file: &File) -> Result<(), TryLockError> {
    for _ in 0..100 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if file.try_lock_shared().is_ok() => {
                file.unlock().map_err(TryLockError::Error)?;
                std::thread::yield_now();
            }
            other => return other,
        }
    }
    Err(TryLockError::WouldBlock)
}

/// Returns the process that holds the exclusive lock on the file at `path` now; `None` if the lock is free. Takes a
/// shared lock, which is released before this function returns.
pub(crate) fn holder(path: &Path) -> Option<LockHolder> {
    let mut file = private::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read_holder(&mut file)),
        _ => None,
    }
}

fn write_holder(file: &mut File, holder: &LockHolder) -> io::Result<()> {
    let text = serde_json::to_string(holder)?;
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())
}

fn read_holder(file: &mut File) -> LockHolder {
    let mut text = String::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(4096).read_to_string(&mut text));
    read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_has_it_and_gets_it_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let Locked::Here(lock) = try_lock(&path, "2026-01-01T00:00:00Z").unwrap() else {
            panic!("nobody else has it")
        };
        let Locked::Elsewhere(found) = try_lock(&path, "later").unwrap() else { panic!("it is taken") };
        assert_eq!(found, LockHolder::here("2026-01-01T00:00:00Z"));
        assert_eq!(holder(&path), Some(found.clone()));
        assert_eq!(found.to_string(), format!("process {} on {}", std::process::id(), found.host));
        std::fs::write(&path, "damaged").unwrap();
        assert_eq!(holder(&path).unwrap().to_string(), "another process");
        drop(lock);
        assert_eq!(holder(&path), None);
        assert!(matches!(try_lock(&path, "later").unwrap(), Locked::Here(_)));
    }

    #[test]
    fn a_file_left_behind_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        for left in [r#"{"pid": 1, "host": "elsewhere", "since": "2020"}"#, "", "\u{0}\u{1}garbage"] {
            std::fs::write(&path, left).unwrap();
            let Locked::Here(_lock) = try_lock(&path, "now").unwrap() else { panic!("stale: {left}") };
            let said: LockHolder = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(said.pid, std::process::id());
        }
    }
}
