//! The present folder of a session.
//!
//! A folder that could not be created is created as soon as the disk allows it. A folder that was removed is created
//! again. A session can move to another folder during a run.

use super::disk::{Disk, Folder};
use crate::atomic::{private_write, private_write_with};
use crate::book::PlanId;
use crate::error::SessionError;
use crate::lock::{Lock, Locked, try_lock};
use crate::private;
use crate::resume::{self, RecentEntry};
use crate::store::{LOCK_FILE, PLANS_FOLDER, SCENARIO_FILE, SESSION_FILE, Session, Store};
use lightbay_core::clock::Clock;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Place of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPlace {
    /// Folder of the session; `None` as long as none could be created.
    pub folder: Option<PathBuf>,
    /// Number of times that the folder was created again after it had been removed; plans written before are lost.
    pub made_again: u64,
}

impl SessionPlace {
    /// Returns the folder of the session's plans.
    pub fn plans_folder(&self) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(PLANS_FOLDER))
    }

    /// Returns the value of `LIGHTBAY_DATA` with which this session is found.
    pub fn data(&self) -> Option<&Path> {
        self.folder.as_deref()?.parent()?.parent()
    }

    /// Returns the name of the session; empty as long as it has none.
    pub fn name(&self) -> String {
        let name = self.folder.as_deref().and_then(Path::file_name);
        name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }
}

/// A session that is not created yet.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Store for the session.
    pub store: Store,
    /// Text from which the name of the session is made.
    pub name: String,
    /// Kind of the scenario.
    pub kind: String,
    /// Scenario of the session.
    pub scenario: Arc<Value>,
}

/// The folder in which a session is stored now, and the lock of the folder.
#[derive(Debug)]
struct OpenFolder {
    folder: Folder,
    path: PathBuf,
    // Only held.
    #[allow(dead_code, reason = "the lock is held while the session uses the folder")]
    lock: Arc<Lock>,
}

/// A session's folder, or the data from which it will be created.
#[derive(Debug)]
pub(crate) struct Home {
    there: Option<OpenFolder>,
    store: Store,
    name: String,
    kind: String,
    /// The newest scenario received.
    scenario: Option<Arc<Value>>,
    clock: Arc<dyn Clock>,
    made_again: u64,
}

impl Home {
    /// Takes over the folder of a session that is open for writing. Also returns the number of bytes of an incomplete
    /// record that were removed.
    pub(crate) fn of(session: &Session, clock: Arc<dyn Clock>) -> Result<(Self, u64), SessionError> {
        let lock = session.writable()?;
        let (folder, removed) = Folder::open(session.folder())?;
        let path = session.folder().to_owned();
        let home = Self {
            store: Store::at(path.parent().unwrap_or(Path::new("."))),
            name: session.name().to_owned(),
            kind: session.file().kind.clone(),
            scenario: read_scenario(&path),
            there: Some(OpenFolder { folder, path, lock }),
            clock,
            made_again: 0,
        };
        Ok((home, removed))
    }

    /// Makes the state for a session that could not be created yet.
    pub(crate) fn of_new(new_session: NewSession, clock: Arc<dyn Clock>) -> Self {
        let NewSession { store, name, kind, scenario } = new_session;
        Self { there: None, store, name, kind, scenario: Some(scenario), clock, made_again: 0 }
    }

    fn folder(&mut self) -> Result<&mut Folder, SessionError> {
        let missing = || SessionError::NoFolder { path: self.store.folder().join(&self.name) };
        match &mut self.there {
            Some(there) => Ok(&mut there.folder),
            None => Err(missing()),
        }
    }

    /// Returns the scenario for a new folder.
    fn known_scenario(&self) -> Arc<Value> {
        self.scenario.clone().unwrap_or_default()
    }

    /// Creates a session in `store`; optionally copies everything that can be read of the present session.
    fn make(&self, store: &Store, along: bool) -> Result<OpenFolder, SessionError> {
        let scenario = self.known_scenario();
        let session = store.create(&self.name, &self.kind, &scenario, &self.clock.date())?;
        let path = session.folder().to_owned();
        let made = (|| {
            if let Some(there) = self.there.as_ref().filter(|_| along) {
                copy_into(there, &path)?;
            }
            if scenario.is_null() {
                // A missing scenario is better than a wrong one, because the plans contain the scenario too.
                let _ = fs::remove_file(path.join(SCENARIO_FILE));
            }
            let (folder, _) = Folder::open(&path)?;
            Ok(OpenFolder { folder, path: path.clone(), lock: session.writable()? })
        })();
        if made.is_err() {
            // An incomplete session would be mistaken for a complete one.
            let _ = fs::remove_dir_all(&path);
        }
        made
    }

    /// Creates a removed folder again. The log is still complete, because its file is open.
    fn make_again(&mut self) -> Result<(), SessionError> {
        let date = self.clock.date();
        let Some(there) = &mut self.there else { return Ok(()) };
        let plans = there.path.join(PLANS_FOLDER);
        private::make_folders(&plans).map_err(|error| SessionError::writing(&plans, error))?;
        let lock_path = there.path.join(LOCK_FILE);
        if !lock_path.exists() {
            there.lock = match try_lock(&lock_path, &date)? {
                Locked::Here(lock) | Locked::Unsupported(lock) => Arc::new(lock),
                Locked::Elsewhere(holder) => {
                    let (name, holder) = (self.name.clone(), holder.to_string());
                    return Err(SessionError::InUse { name, holder });
                }
                Locked::Refused => return Err(SessionError::ReadOnly { name: self.name.clone() }),
            };
        }
        if !there.folder.has_its_log() {
            let log = there.folder.log_path();
            private_write_with(&log, |to| there.folder.copy_log(to))?;
            there.folder = Folder::open(&there.path)?.0;
        }
        self.made_again += 1;
        Ok(())
    }
}

/// Reads the scenario of a session; the writer keeps the scenario in case the folder becomes unreadable.
fn read_scenario(folder: &Path) -> Option<Arc<Value>> {
    let bytes = private::read(&folder.join(SCENARIO_FILE)).ok()?;
    Some(Arc::new(serde_json::from_slice(&bytes).ok()?))
}

/// Copies the readable files of a session. Skips unreadable files, so that they do not prevent copying the rest.
fn copy_into(there: &OpenFolder, to: &Path) -> Result<(), SessionError> {
    if let Ok(bytes) = private::read(&there.path.join(SESSION_FILE)) {
        private_write(&to.join(SESSION_FILE), &bytes)?;
    }
    let plans = there.path.join(PLANS_FOLDER);
    for entry in fs::read_dir(&plans).into_iter().flatten().flatten() {
        let Ok(mut from) = private::open(&entry.path()) else { continue };
        private_write_with(&to.join(PLANS_FOLDER).join(entry.file_name()), |file| {
            io::copy(&mut from, file).map(drop)
        })?;
    }
    private_write_with(&Folder::log_in(to), |file| there.folder.copy_log(file))
}

impl Disk for Home {
    fn settle(&mut self) -> Result<(), SessionError> {
        match &self.there {
            None => {
                let there = self.make(&self.store, false)?;
                self.there = Some(there);
                Ok(())
            }
            Some(there) if !there.folder.is_whole() => self.make_again(),
            Some(_) => Ok(()),
        }
    }

    fn place(&self) -> SessionPlace {
        let folder = self.there.as_ref().map(|there| there.path.clone());
        SessionPlace { folder, made_again: self.made_again }
    }

    fn move_to(&mut self, store: &Store, along: bool) -> Result<(), SessionError> {
        let there = self.make(store, along)?;
        self.there = Some(there);
        self.store = store.clone();
        Ok(())
    }

    fn append(&mut self, lines: &[u8]) -> Result<(), SessionError> {
        self.folder()?.append(lines)
    }

    fn sync(&mut self) -> Result<(), SessionError> {
        self.folder()?.sync()
    }

    fn write_plan(&mut self, plan: PlanId, json: &[u8]) -> Result<(), SessionError> {
        self.folder()?.write_plan(plan, json)
    }

    fn delete_plan(&mut self, plan: PlanId) -> Result<(), SessionError> {
        self.folder()?.delete_plan(plan)
    }

    fn write_session(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        self.folder()?.write_session(bytes)
    }

    fn write_scenario(&mut self, scenario: &Arc<Value>) -> Result<(), SessionError> {
        self.scenario = Some(Arc::clone(scenario));
        self.folder()?.write_scenario(scenario)
    }

    fn remember(&mut self, list: &Path, entry: RecentEntry) -> Result<(), SessionError> {
        resume::remember(list, entry)
    }
}
