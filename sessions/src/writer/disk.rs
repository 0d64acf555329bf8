//! Disk of a session writer. A trait, so that tests can simulate a full disk.

use super::home::SessionPlace;
use crate::atomic::private_write;
use crate::book::PlanId;
use crate::error::SessionError;
use crate::log;
use crate::private;
use crate::resume::RecentEntry;
use crate::store::{self, LOG_FILE, PLANS_FOLDER, SESSION_FILE, Store};
use serde_json::Value;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Disk operations of a session writer. Each operation either happens wholly or not at all.
pub(crate) trait Disk: Debug + Send {
    /// Creates the folder if needed; called before each of the other operations.
    fn settle(&mut self) -> Result<(), SessionError>;
    /// Returns the place of the session.
    fn place(&self) -> SessionPlace;
    /// Continues in another place; optionally copies everything that was written so far.
    fn move_to(&mut self, store: &Store, along: bool) -> Result<(), SessionError>;
    /// Appends whole lines to the log.
    fn append(&mut self, lines: &[u8]) -> Result<(), SessionError>;
    /// Makes the log durable.
    fn sync(&mut self) -> Result<(), SessionError>;
    /// Writes a plan durably.
    fn write_plan(&mut self, plan: PlanId, json: &[u8]) -> Result<(), SessionError>;
    /// Deletes a plan.
    fn delete_plan(&mut self, plan: PlanId) -> Result<(), SessionError>;
    /// Writes `session.toml` durably.
    fn write_session(&mut self, bytes: &[u8]) -> Result<(), SessionError>;
    /// Writes `scenario.json` durably.
    fn write_scenario(&mut self, scenario: &Arc<Value>) -> Result<(), SessionError>;
    /// Updates a list of recent sessions.
    fn remember(&mut self, list: &Path, entry: RecentEntry) -> Result<(), SessionError>;
}

/// The folder of a session.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    log_path: PathBuf,
    log: File,
    /// Length in bytes of the complete lines; bytes after it are the rest of a failed write.
    length: u64,
}

impl Folder {
    /// Opens the log for appending and removes an incomplete record. The caller must hold the session's lock.
    pub(crate) fn open(folder: &Path) -> Result<(Self, u64), SessionError> {
        let log_path = folder.join(LOG_FILE);
        let failed = |error| SessionError::writing(&log_path, error);
        let plans = folder.join(PLANS_FOLDER);
        let made = private::refuse_link(&plans).and_then(|()| private::make_folders(&plans));
        made.map_err(|error| SessionError::writing(&plans, error))?;
        let mut options = private::options();
        let opened =
            private::open_with(options.read(true).write(true).create(true).truncate(false), &log_path);
        let mut log = opened.map_err(failed)?;
        let (length, removed) = log::mend(&mut log).map_err(failed)?;
        Ok((Self { path: folder.to_owned(), log_path, log, length }, removed))
    }

    /// Returns the path of the log of a session in `folder`.
    pub(crate) fn log_in(folder: &Path) -> PathBuf {
        folder.join(LOG_FILE)
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.log_path.clone()
    }

    /// Returns `true` if the open log is still the file at the log's path.
    pub(crate) fn has_its_log(&self) -> bool {
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        match (self.log.metadata().map(identity), fs::symlink_metadata(&self.log_path).map(identity)) {
            (Ok(ours), Ok(found)) => ours == found,
            // All other errors do not concern the log; the next write shows whether writing is possible.
            (_, Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), Ok(_)) => true,
        }
    }

    /// Returns `true` if nothing that is needed for writing was removed.
    pub(crate) fn is_whole(&self) -> bool {
        let missing = |path: &Path| {
            fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        self.has_its_log() && !missing(&self.path.join(PLANS_FOLDER))
    }

    /// Copies the complete lines of the log, even if the file was removed from its folder.
    pub(crate) fn copy_log(&self, to: &mut File) -> io::Result<()> {
        let mut at = 0;
        let mut piece = vec![0; 1 << 16];
        while at < self.length {
            let room = piece.len().min(usize::try_from(self.length - at).unwrap_or(usize::MAX));
            match self.log.read_at(&mut piece[..room], at)? {
                0 => break,
                read => {
                    to.write_all(&piece[..read])?;
                    at += read as u64;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), SessionError> {
        let written = self
            .log
            .seek(SeekFrom::Start(self.length))
            .and_then(|_| self.log.write_all(lines))
            .map_err(|error| SessionError::writing(&self.log_path, error));
        match written {
            Ok(()) => self.length += lines.len() as u64,
            // If the file cannot be shortened either, the next append overwrites the same bytes.
            Err(_) => drop(self.log.set_len(self.length)),
        }
        written
    }

    pub(crate) fn sync(&self) -> Result<(), SessionError> {
        self.log.sync_data().map_err(|error| SessionError::writing(&self.log_path, error))
    }

    pub(crate) fn write_plan(&self, plan: PlanId, json: &[u8]) -> Result<(), SessionError> {
        store::write_plan(&self.path.join(PLANS_FOLDER), plan, json).map(drop)
    }

    pub(crate) fn delete_plan(&self, plan: PlanId) -> Result<(), SessionError> {
        store::delete_plan(&self.path.join(PLANS_FOLDER), plan)
    }

    pub(crate) fn write_session(&self, bytes: &[u8]) -> Result<(), SessionError> {
        private_write(&self.path.join(SESSION_FILE), bytes)
    }

    pub(crate) fn write_scenario(&self, scenario: &Value) -> Result<(), SessionError> {
        store::write_scenario(&self.path, scenario)
    }
}
