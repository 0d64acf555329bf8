//! Sessions that get another name or note, or travel as one file.

use super::session::Session;
use super::{
    LOCK_FILE, LOG_FILE, PLANS_FOLDER, PlanEntry, SCENARIO_FILE, SESSION_FILE, SessionFile, Store,
    check_version, plans, private, sanitise,
};
use crate::atomic::{private_write, sync_folder};
use crate::book::PlanId;
use crate::error::SessionError;
use crate::lock::{Locked, try_lock};
use lightbay_core::problem::Problem;
use lightbay_core::read::read_json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The schema name of a session in one file.
pub const PACKED_SCHEMA: &str = "lightbay.packed-session/1";

/// Content of a session in one file.
#[derive(Debug, Serialize, Deserialize)]
pub struct PackedSession {
    /// Schema name, [`PACKED_SCHEMA`].
    pub schema: String,
    /// Name of the session.
    pub name: String,
    /// Content of `session.toml`.
    pub session: String,
    /// The scenario.
    pub scenario: Value,
    /// The plans by number.
    pub plans: BTreeMap<u64, Value>,
    /// Content of the run log.
    pub log: String,
}

impl Store {
    /// Gives a session another name; returns the name, in which characters that folders cannot have are replaced.
    ///
    /// # Errors
    /// [`SessionError::InUse`] while the session is open for writing; [`SessionError::NameTaken`] if the new name
    /// is taken.
    pub fn rename(&self, name: &str, wanted: &str) -> Result<String, SessionError> {
        let folder = self.existing(name)?;
        let new = sanitise(wanted);
        let target = self.folder().join(&new);
        let locked = Self::locked(name, &folder)?;
        if new != name {
            // Reserves the name: creating a folder fails if another process has just taken it.
            private::make_folder(&target).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => SessionError::NameTaken { name: new.clone() },
                _ => SessionError::writing(&target, error),
            })?;
            if let Err(error) = fs::rename(&folder, &target) {
                let _ = fs::remove_dir(&target);
                return Err(SessionError::writing(&target, error));
            }
            sync_folder(self.folder()).map_err(|error| SessionError::writing(self.folder(), error))?;
        }
        drop(locked);
        Ok(new)
    }

    /// Stores a note on a session; an empty note removes it.
    ///
    /// # Errors
    /// [`SessionError`] if the session is open elsewhere or cannot be written.
    pub fn annotate(&self, name: &str, note: &str, date: &str) -> Result<(), SessionError> {
        let mut session = self.open(name, date)?;
        let mut file = session.file().clone();
        file.note = Some(note.trim().to_owned()).filter(|note| !note.is_empty());
        session.save(file)
    }

    /// Returns the path of the scenario of a session. Takes no lock.
    ///
    /// # Errors
    /// [`SessionError::NoSession`] for an unknown name.
    pub fn scenario_path(&self, name: &str) -> Result<PathBuf, SessionError> {
        Ok(self.existing(name)?.join(SCENARIO_FILE))
    }

    /// Returns the plans of a session with their headers, ascending by number. Takes no lock.
    ///
    /// # Errors
    /// [`SessionError::NoSession`] for an unknown name; another [`SessionError`] if the folder cannot be listed.
    pub fn plans(&self, name: &str) -> Result<Vec<PlanEntry>, SessionError> {
        plans::entries(&self.existing(name)?.join(PLANS_FOLDER))
    }

    /// Returns the number of plans of a session. Reads no file.
    ///
    /// # Errors
    /// [`SessionError::NoSession`] for an unknown name, or if the folder cannot be listed.
    pub fn count_plans(&self, name: &str) -> Result<usize, SessionError> {
        Ok(plans::numbers(&self.existing(name)?.join(PLANS_FOLDER))?.len())
    }

    /// Reads everything of a session for one file.
    ///
    /// # Errors
    /// [`SessionError`] if a file of the session cannot be read.
    pub fn pack(&self, name: &str) -> Result<PackedSession, SessionError> {
        let folder = self.existing(name)?;
        let text = |path: &Path| match private::read(path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Err(SessionError::reading(path, error)),
        };
        let log = folder.join(LOG_FILE);
        let scenario = folder.join(SCENARIO_FILE);
        let file = private::open(&scenario).map_err(|error| SessionError::reading(&scenario, error))?;
        let mut packed = PackedSession {
            schema: PACKED_SCHEMA.to_owned(),
            name: name.to_owned(),
            session: text(&folder.join(SESSION_FILE))?,
            scenario: read_json(file).map_err(|problem| SessionError::broken(&scenario, problem))?,
            plans: BTreeMap::new(),
            log: if log.exists() { text(&log)? } else { String::new() },
        };
        let in_folder = folder.join(PLANS_FOLDER);
        for plan in plans::numbers(&in_folder)? {
            packed.plans.insert(plan.0, plans::read_plan(&in_folder, plan)?);
        }
        Ok(packed)
    }

    /// Makes a session from a packed one; returns its name: `wanted`, or the name of the packed session if `wanted` is
    /// missing; with a number if the name is taken.
    ///
    /// # Errors
    /// [`SessionError`] if the content is of another version, mixes kinds or cannot be written.
    pub fn unpack(
        &self,
        packed: &PackedSession,
        wanted: Option<&str>,
        date: &str,
    ) -> Result<String, SessionError> {
        let path = PathBuf::from(&packed.name);
        if packed.schema != PACKED_SCHEMA {
            let message = format!("is '{}'", packed.schema);
            let remedy = format!("give a file that `lightbay sessions pack` wrote ({PACKED_SCHEMA})");
            return Err(SessionError::broken(&path, Problem::new("schema", message, remedy)));
        }
        check_version(&path, packed.session.as_bytes())?;
        let file = SessionFile::parse(&path, packed.session.as_bytes())?;
        if let Some(number) = packed.plans.keys().find(|number| !PlanId(**number).is_valid()) {
            let message = format!("has a plan with the number {number}");
            let remedy = "give a file that `lightbay sessions pack` wrote";
            return Err(SessionError::broken(&path, Problem::new("plans", message, remedy)));
        }
        let plans = packed.plans.iter().map(|(number, plan)| (format!("plans.{number}.kind"), plan));
        for (field, content) in [("scenario.kind".to_owned(), &packed.scenario)].into_iter().chain(plans) {
            let kind = content.get("kind").and_then(serde_json::Value::as_str);
            if kind != Some(file.kind.as_str()) {
                let message =
                    format!("is '{}', but the session is of kind {}", kind.unwrap_or("-"), file.kind);
                let remedy = "give a file that `lightbay sessions pack` wrote";
                return Err(SessionError::broken(&path, Problem::new(field, message, remedy)));
            }
        }
        let mut made = self.create(wanted.unwrap_or(&packed.name), &file.kind, &packed.scenario, date)?;
        let filled = fill(&mut made, packed, file);
        if filled.is_err() {
            let _ = fs::remove_dir_all(made.folder());
        }
        filled.map(|()| made.name().to_owned())
    }

    /// Locks a session for a change; an error if another process has it open for writing.
    pub(super) fn locked(name: &str, folder: &Path) -> Result<Locked, SessionError> {
        match try_lock(&folder.join(LOCK_FILE), "")? {
            Locked::Elsewhere(holder) => {
                Err(SessionError::InUse { name: name.to_owned(), holder: holder.to_string() })
            }
            free => Ok(free),
        }
    }
}

/// Writes plans, log and state of a packed session into a new one.
fn fill(made: &mut Session, packed: &PackedSession, file: SessionFile) -> Result<(), SessionError> {
    for (number, plan) in &packed.plans {
        let number = PlanId(*number);
        let folder = made.plans_folder();
        let json = lightbay_core::json::to_pretty(plan)
            .map_err(|source| SessionError::Unwritable { path: folder.clone(), source })?;
        plans::write_plan(&folder, number, &json)?;
    }
    if !packed.log.is_empty() {
        private_write(&made.log_path(), packed.log.as_bytes())?;
    }
    made.save(file)
}
