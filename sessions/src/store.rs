//! The sessions of a user: one folder per session, with `session.toml`, `scenario.json`, `plans/NNNN.json`, `run.log`
//! and `lock`. Damaged parts are reported and left out; the rest stays usable.

use crate::atomic::{private_write, remove_leftovers, sync_folder};
use crate::error::SessionError;
use crate::lock::{self, Locked, try_lock};
use crate::private;
use lightbay_core::json;
use lightbay_core::problem::{Problem, nearest};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

mod file;
mod moves;
mod plans;
mod session;
#[cfg(test)]
mod tests;

pub use file::{SCHEMA, SessionFile};
pub use moves::PackedSession;
pub use plans::{COMPRESS_ABOVE_BYTES, PlanEntry, PlanStamps, read_header, read_plan};
pub(crate) use plans::{delete_plan, write_plan};
pub use session::{Access, Session};

pub(crate) const SESSIONS_FOLDER: &str = "sessions";
pub(crate) const SESSION_FILE: &str = "session.toml";
pub(crate) const SCENARIO_FILE: &str = "scenario.json";
pub(crate) const PLANS_FOLDER: &str = "plans";
pub(crate) const LOG_FILE: &str = "run.log";
pub(crate) const LOCK_FILE: &str = "lock";

/// Maximum length of the name of a session, in characters.
const MAX_NAME: usize = 60;

/// All sessions below one folder.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Entry for a session in a list.
#[derive(Clone, Debug)]
pub struct SessionSummary {
    /// Name of the session's folder.
    pub name: String,
    /// Content of `session.toml`, as far as it could be read.
    pub file: SessionFile,
    /// Number of plans on disk.
    pub plans: usize,
    /// Size of all files of the session, bytes.
    pub bytes: u64,
    /// Process that has the session open for writing, in words.
    pub open_in: Option<String>,
    /// Problem with the session, in words.
    pub problem: Option<String>,
}

impl Store {
    /// Creates the store of the sessions in `folder`, which need not exist yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Creates the store of a user whose data is in `folder`: the sessions are in the same subfolder as in
    /// [`crate::Places::sessions`].
    pub fn of_data(folder: &Path) -> Self {
        Self::at(folder.join(SESSIONS_FOLDER))
    }

    /// Returns the folder that the sessions are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the names of all sessions, in order. Reads no file.
    ///
    /// # Errors
    /// [`SessionError`] if the folder is there and cannot be listed.
    pub fn names(&self) -> Result<Vec<String>, SessionError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(SessionError::reading(&self.folder, error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| SessionError::reading(&self.folder, error))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if is_name(&name) && entry.path().is_dir() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Returns all sessions, the most recently saved first.
    ///
    /// # Errors
    /// [`SessionError`] if the folder is there and cannot be listed.
    pub fn list(&self) -> Result<Vec<SessionSummary>, SessionError> {
        let mut list: Vec<_> = self.names()?.into_iter().map(|name| self.summary(name)).collect();
        // RFC 3339 in UTC sorts as text; sessions whose file is damaged come last.
        list.sort_by(|a, b| b.file.updated_at.cmp(&a.file.updated_at).then_with(|| a.name.cmp(&b.name)));
        Ok(list)
    }

    fn summary(&self, name: String) -> SessionSummary {
        let folder = self.folder.join(&name);
        let (file, problem) = match session::read_file(&folder) {
            Ok(file) => (file, None),
            Err(error) => (SessionFile::default(), Some(error.to_string())),
        };
        SessionSummary {
            plans: plans::numbers(&folder.join(PLANS_FOLDER)).map_or(0, |numbers| numbers.len()),
            bytes: size_of(&folder),
            open_in: lock::holder(&folder.join(LOCK_FILE)).map(|holder| holder.to_string()),
            name,
            file,
            problem,
        }
    }

    /// Returns `true` if a session of that name exists.
    pub fn has(&self, name: &str) -> bool {
        is_name(name) && self.folder.join(name).is_dir()
    }

    /// Starts a session on a scenario. The name of the session is made from `wanted`: `megatron_177b`,
    /// `megatron_177b-2`, …
    ///
    /// # Errors
    /// [`SessionError`] if the session cannot be written.
    pub fn create(
        &self,
        wanted: &str,
        kind: &str,
        scenario: &Value,
        date: &str,
    ) -> Result<Session, SessionError> {
        private::make_folders(&self.folder).map_err(|error| SessionError::writing(&self.folder, error))?;
        let name = self.claim(&sanitise(wanted))?;
        let folder = self.folder.join(&name);
        let display = scenario.get("name").and_then(Value::as_str).unwrap_or(wanted);
        let file = SessionFile::new(kind, display, date);
        let filled = self.fill(&folder, &file, scenario, date);
        if filled.is_err() {
            // A retry uses the same name; otherwise every attempt on a full disk would leave another folder.
            let _ = fs::remove_dir_all(&folder);
        }
        Ok(Session::new(name, folder, file, filled?, Vec::new()))
    }

    /// Writes all files of a new session and returns its lock.
    fn fill(
        &self,
        folder: &Path,
        file: &SessionFile,
        scenario: &Value,
        date: &str,
    ) -> Result<Locked, SessionError> {
        let plans = folder.join(PLANS_FOLDER);
        private::make_folder(&plans).map_err(|error| SessionError::writing(&plans, error))?;
        // The lock comes first, so that no process opens the session while it is being created.
        let locked = try_lock(&folder.join(LOCK_FILE), date)?;
        write_scenario(folder, scenario)?;
        private_write(&folder.join(SESSION_FILE), &file.to_bytes())?;
        sync_folder(&self.folder).map_err(|error| SessionError::writing(&self.folder, error))?;
        Ok(locked)
    }

    /// Makes the folder of a new session; creating the folder reserves the name.
    fn claim(&self, base: &str) -> Result<String, SessionError> {
        let mut number = 1_u64;
        loop {
            let name = if number == 1 { base.to_owned() } else { format!("{base}-{number}") };
            let folder = self.folder.join(&name);
            match private::make_folder(&folder) {
                Ok(()) => return Ok(name),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(SessionError::writing(&folder, error)),
            }
        }
    }

    /// Opens a session for writing; if another process has it open for writing, or if its folder is not writable, for
    /// reading only.
    ///
    /// # Errors
    /// [`SessionError::NoSession`] for an unknown name; [`SessionError::Broken`] if the session was written by another
    /// major version. Other damage becomes a remark of the session.
    pub fn open(&self, name: &str, date: &str) -> Result<Session, SessionError> {
        let folder = self.existing(name)?;
        let path = folder.join(SESSION_FILE);
        let mut remarks = Vec::new();
        let file = match session::read_file(&folder) {
            Ok(file) => file,
            Err(SessionError::Broken { path, problem }) if problem.path == "schema" => {
                return Err(SessionError::Broken { path, problem });
            }
            Err(error) => {
                remarks.push(error.to_string());
                SessionFile::default()
            }
        };
        let locked = match try_lock(&folder.join(LOCK_FILE), date) {
            Ok(locked) => locked,
            // A folder on a read-only disk can still be read.
            Err(error) => {
                remarks.push(error.to_string());
                Locked::Refused
            }
        };
        if matches!(locked, Locked::Here(_)) {
            remove_leftovers(&folder);
            remove_leftovers(&folder.join(PLANS_FOLDER));
            if !remarks.is_empty() && path.exists() {
                // The next save would replace a file that the user may still want to repair.
                let _ = fs::rename(&path, folder.join("session.toml.broken"));
            }
        }
        Ok(Session::new(name.to_owned(), folder, file, locked, remarks))
    }

    /// Deletes a session with everything in it.
    ///
    /// # Errors
    /// [`SessionError::InUse`] while the session is open for writing.
    pub fn remove(&self, name: &str) -> Result<(), SessionError> {
        let folder = self.existing(name)?;
        let _locked = Self::locked(name, &folder)?;
        fs::remove_dir_all(&folder).map_err(|source| SessionError::Io {
            path: folder.clone(),
            doing: "delete",
            source,
        })
    }

    fn existing(&self, name: &str) -> Result<PathBuf, SessionError> {
        if self.has(name) {
            return Ok(self.folder.join(name));
        }
        let names = self.names()?;
        let remedy = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean '{near}'?"),
            None if names.is_empty() => "no session is saved yet".to_owned(),
            None => "`lightbay sessions` lists them".to_owned(),
        };
        Err(SessionError::NoSession { name: name.to_owned(), remedy })
    }
}

pub(crate) fn write_scenario(folder: &Path, scenario: &Value) -> Result<(), SessionError> {
    let path = folder.join(SCENARIO_FILE);
    let bytes = json::to_pretty(scenario)
        .map_err(|source| SessionError::Unwritable { path: path.clone(), source })?;
    private_write(&path, &bytes)
}

/// Refuses a file whose schema version this program does not read; accepts a file whose version is unknown.
fn check_version(path: &Path, bytes: &[u8]) -> Result<(), SessionError> {
    match file::schema_of(bytes) {
        Some(found) if found != SCHEMA => Err(SessionError::broken(
            path,
            Problem::new(
                "schema",
                format!("is '{found}'"),
                format!("this program reads '{SCHEMA}'; use the version of lightbay that wrote the session"),
            ),
        )),
        _ => Ok(()),
    }
}

/// Makes a folder name from any text: keeps letters, digits, `_`, `-` and `.`, and replaces all else by `-`. Removes
/// dots and dashes at both ends, and repeated dashes. The name has at most 60 characters; it is `session` if no
/// character remains.
pub fn sanitise(wanted: &str) -> String {
    let mut name = String::new();
    for c in wanted.chars() {
        let c = if c.is_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' };
        // Removes leading dots (hidden folders), leading dashes (command-line flags) and repeated dashes.
        if (c == '-' && (name.is_empty() || name.ends_with('-'))) || (c == '.' && name.is_empty()) {
            continue;
        }
        name.push(c);
    }
    let short: String = name.chars().take(MAX_NAME).collect();
    let trimmed = short.trim_end_matches(['-', '.']);
    if trimmed.is_empty() { "session".to_owned() } else { trimmed.to_owned() }
}

/// Returns `true` if this is a valid name of a session: a single visible folder inside the store.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => size_of(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        })
        .sum()
}
