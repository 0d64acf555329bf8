//! One session that is open.

use super::{
    LOCK_FILE, LOG_FILE, PLANS_FOLDER, PlanEntry, PlanStamps, SCENARIO_FILE, SESSION_FILE, SessionFile,
    check_version, plans, write_scenario,
};
use crate::atomic::private_write;
use crate::book::{MOST_NUMBER, PlanBook, PlanId};
use crate::error::SessionError;
use crate::lock::{self, Lock, LockHolder, Locked};
use crate::log::Follower;
use crate::private;
use crate::replay::{Replay, ReplayLimits};
use lightbay_core::problem::printable;
use lightbay_core::read;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Access to a session: for reading only, or also for changes.
#[derive(Clone, Debug)]
pub enum Access {
    /// The session can be changed: this process holds the lock.
    Write(Arc<Lock>),
    /// The session can only be read: another process has it open for writing, or the folder of the session is not
    /// writable. The value is a note for the screen.
    ReadOnly {
        /// Sentence about the process that holds the lock, or the folder that is not writable.
        note: String,
    },
}

/// One session, opened for writing or for reading only.
#[derive(Debug)]
pub struct Session {
    name: String,
    folder: PathBuf,
    file: SessionFile,
    access: Access,
    remarks: Vec<String>,
}

impl Session {
    pub(super) fn new(
        name: String,
        folder: PathBuf,
        file: SessionFile,
        locked: Locked,
        mut remarks: Vec<String>,
    ) -> Self {
        let access = match locked {
            Locked::Here(lock) => Access::Write(Arc::new(lock)),
            Locked::Unsupported(lock) => {
                remarks.push(
                    "this file system has no locks; do not open the session twice at the same time"
                        .to_owned(),
                );
                Access::Write(Arc::new(lock))
            }
            Locked::Refused => {
                Access::ReadOnly { note: "read only: the folder of the session is not writable".to_owned() }
            }
            Locked::Elsewhere(holder) => {
                Access::ReadOnly { note: format!("read only: the session is open in {holder}") }
            }
        };
        for name in plans::too_large(&folder.join(PLANS_FOLDER)) {
            let name = printable(&name);
            remarks.push(format!(
                "'plans/{name}' is left out: plan numbers end at {MOST_NUMBER}; rename it to a free number to see it"
            ));
        }
        Self { name, folder, file, access, remarks }
    }

    /// Returns the name of the session, which is also the name of its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the folder of the session.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the content of `session.toml` at the time at which the session was opened.
    pub const fn file(&self) -> &SessionFile {
        &self.file
    }

    /// Returns the access to the session: for reading only, or also for changes.
    pub const fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the note for the screen if the session is open for reading only.
    pub fn read_only(&self) -> Option<&str> {
        match &self.access {
            Access::Write(_) => None,
            Access::ReadOnly { note } => Some(note),
        }
    }

    /// Returns the other process that has the session open for writing now, if any.
    pub fn holder(&self) -> Option<LockHolder> {
        match &self.access {
            Access::Write(_) => None,
            Access::ReadOnly { .. } => lock::holder(&self.folder.join(LOCK_FILE)),
        }
    }

    /// Returns remarks on damage that was found when the session was opened, one sentence each.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Returns the path of the session's run log.
    pub fn log_path(&self) -> PathBuf {
        self.folder.join(LOG_FILE)
    }

    /// Returns the folder of the session's plans.
    pub fn plans_folder(&self) -> PathBuf {
        self.folder.join(PLANS_FOLDER)
    }

    /// Reads the scenario; if its file is damaged, returns the scenario of the plan with the largest number that can be
    /// read, with a remark. The caller must still validate it.
    ///
    /// # Errors
    /// [`SessionError`] if neither file nor plans can be read.
    pub fn read_scenario(&self) -> Result<(Value, Option<String>), SessionError> {
        let error = match read_json(&self.folder.join(SCENARIO_FILE)) {
            Ok(scenario) => return Ok((scenario, None)),
            Err(error) => error,
        };
        for plan in plans::numbers(&self.plans_folder()).unwrap_or_default().into_iter().rev() {
            let Ok(Value::Object(mut found)) = self.read_plan(plan) else { continue };
            if let Some(scenario) = found.shift_remove("scenario") {
                return Ok((scenario, Some(format!("{error}; the scenario of plan {plan} is used instead"))));
            }
        }
        Err(error)
    }

    /// Returns all plans on disk with their headers, ascending by number; damaged plans have their problem instead.
    /// Reads every plan file.
    ///
    /// # Errors
    /// [`SessionError`] if the folder cannot be listed.
    pub fn plans(&self) -> Result<Vec<PlanEntry>, SessionError> {
        plans::entries(&self.plans_folder())
    }

    /// Returns the numbers of the plans on disk, ascending. Reads no file.
    ///
    /// # Errors
    /// [`SessionError`] if the folder cannot be listed.
    pub fn plan_numbers(&self) -> Result<Vec<PlanId>, SessionError> {
        plans::numbers(&self.plans_folder())
    }

    /// Returns the time of the last change and the size of every plan file, for finding new and changed plans. Reads no
    /// file.
    ///
    /// # Errors
    /// [`SessionError`] if the folder cannot be listed.
    pub fn plan_stamps(&self) -> Result<PlanStamps, SessionError> {
        plans::stamps(&self.plans_folder())
    }

    /// Reads a plan as a JSON tree. The caller still has to validate and check it.
    ///
    /// # Errors
    /// [`SessionError`] if the plan does not exist or is damaged.
    pub fn read_plan(&self, plan: PlanId) -> Result<Value, SessionError> {
        plans::read_plan(&self.plans_folder(), plan)
    }

    /// Deletes a plan from disk.
    ///
    /// # Errors
    /// [`SessionError`] if the session is read-only or the file cannot be deleted.
    pub fn delete_plan(&self, plan: PlanId) -> Result<(), SessionError> {
        self.writable()?;
        plans::delete_plan(&self.plans_folder(), plan)
    }

    /// Reads the run log back.
    ///
    /// # Errors
    /// [`SessionError`] if the log exists and cannot be read; damaged lines are part of the replay.
    pub fn replay(&self, limits: ReplayLimits) -> Result<Replay, SessionError> {
        Replay::read(&self.log_path(), limits)
    }

    /// Returns a reader that follows the log that another process writes, from where a replay ended.
    pub fn follow(&self, replay: &Replay) -> Follower {
        Follower::from(self.log_path(), replay.end)
    }

    /// Returns the plan numbers assigned so far, according to the log and the files.
    pub fn book(&self, replay: &Replay) -> PlanBook {
        PlanBook::restored(replay.plans(), self.plan_numbers().unwrap_or_default(), replay.finals())
    }

    /// Returns the number of the next run.
    pub fn next_run(&self, replay: &Replay) -> u64 {
        // The file may be older than the log if the program was killed, and either may be damaged.
        let logged = replay.runs.keys().rev().map(|run| run.0).find(|run| *run < MOST_NUMBER);
        let named = Some(self.file.next_run).filter(|next| *next <= MOST_NUMBER);
        named.unwrap_or(1).max(logged.map_or(1, |run| run + 1))
    }

    /// Saves `session.toml` at once. While a writer is active, use the writer instead.
    ///
    /// # Errors
    /// [`SessionError`] if the session is read-only or cannot be written.
    pub fn save(&mut self, file: SessionFile) -> Result<(), SessionError> {
        self.writable()?;
        private_write(&self.folder.join(SESSION_FILE), &file.to_bytes())?;
        self.file = file;
        Ok(())
    }

    /// Saves `scenario.json` at once. While a writer is active, use the writer instead.
    ///
    /// # Errors
    /// [`SessionError`] if the session is read-only or cannot be written.
    pub fn save_scenario(&self, scenario: &Value) -> Result<(), SessionError> {
        self.writable()?;
        write_scenario(&self.folder, scenario)
    }

    pub(crate) fn writable(&self) -> Result<Arc<Lock>, SessionError> {
        match &self.access {
            Access::Write(lock) => Ok(Arc::clone(lock)),
            Access::ReadOnly { .. } => Err(SessionError::ReadOnly { name: self.name.clone() }),
        }
    }
}

pub(super) fn read_file(folder: &Path) -> Result<SessionFile, SessionError> {
    let path = folder.join(SESSION_FILE);
    let bytes = private::read(&path).map_err(|error| SessionError::reading(&path, error))?;
    check_version(&path, &bytes)?;
    SessionFile::parse(&path, &bytes)
}

fn read_json(path: &Path) -> Result<Value, SessionError> {
    let file = private::open(path).map_err(|error| SessionError::reading(path, error))?;
    read::read_json(file).map_err(|problem| SessionError::broken(path, problem))
}
