//! Where a session writer's bytes go. A trait, so that tests can fill the disk.

use crate::atomic::{Overwrite, atomic_write};
use crate::book::PlanId;
use crate::error::SessionError;
use crate::log;
use crate::resume::{self, RecentEntry};
use crate::store::{self, LOG_FILE, PLANS_FOLDER, SESSION_FILE};
use serde_json::Value;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The things a session writer does to a disk. Each either happens wholly or not at all.
pub(crate) trait Disk: Debug + Send {
    /// Appends whole lines to the log.
    fn append(&mut self, lines: &[u8]) -> Result<(), SessionError>;
    /// Makes the log durable.
    fn sync(&mut self) -> Result<(), SessionError>;
    /// Writes a plan durably.
    fn write_plan(&mut self, plan: PlanId, json: &[u8]) -> Result<(), SessionError>;
    /// Writes `session.toml` durably.
    fn write_session(&mut self, bytes: &[u8]) -> Result<(), SessionError>;
    /// Writes `scenario.json` durably.
    fn write_scenario(&mut self, scenario: &Value) -> Result<(), SessionError>;
    /// Updates a list of recent sessions.
    fn remember(&mut self, list: &Path, entry: RecentEntry) -> Result<(), SessionError>;
}

/// The folder of a session.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    log_path: PathBuf,
    log: File,
    /// Length of the whole lines; what stands behind it is the rest of a failed write.
    length: u64,
}

impl Folder {
    /// Opens the log for appending; a record that a kill cut off is removed. Only with the session's lock.
    pub(crate) fn open(folder: &Path) -> Result<(Self, u64), SessionError> {
        let log_path = folder.join(LOG_FILE);
        let failed = |error| SessionError::writing(&log_path, error);
        let plans = folder.join(PLANS_FOLDER);
        fs::create_dir_all(&plans).map_err(|error| SessionError::writing(&plans, error))?;
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(&log_path);
        let mut log = opened.map_err(failed)?;
        let (length, removed) = log::mend(&mut log).map_err(failed)?;
        Ok((Self { path: folder.to_owned(), log_path, log, length }, removed))
    }
}

impl Disk for Folder {
    fn append(&mut self, lines: &[u8]) -> Result<(), SessionError> {
        let written = self
            .log
            .seek(SeekFrom::Start(self.length))
            .and_then(|_| self.log.write_all(lines))
            .map_err(|error| SessionError::writing(&self.log_path, error));
        match written {
            Ok(()) => self.length += lines.len() as u64,
            // If this fails too, the next append writes over the same place.
            Err(_) => drop(self.log.set_len(self.length)),
        }
        written
    }

    fn sync(&mut self) -> Result<(), SessionError> {
        self.log.sync_data().map_err(|error| SessionError::writing(&self.log_path, error))
    }

    fn write_plan(&mut self, plan: PlanId, json: &[u8]) -> Result<(), SessionError> {
        store::write_plan(&self.path.join(PLANS_FOLDER), plan, json).map(drop)
    }

    fn write_session(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        atomic_write(&self.path.join(SESSION_FILE), bytes, Overwrite::Allow)
    }

    fn write_scenario(&mut self, scenario: &Value) -> Result<(), SessionError> {
        store::write_scenario(&self.path, scenario)
    }

    fn remember(&mut self, list: &Path, entry: RecentEntry) -> Result<(), SessionError> {
        resume::remember(list, entry)
    }
}
