//! The folder that a session is written to, wherever that is by now.
//!
//! A folder that could not be made is made as soon as the disk allows it, one that somebody removed is made again, and
//! all of it can move to another place while work continues.

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
pub struct Place {
    /// Its folder; `None` as long as none could be made.
    pub folder: Option<PathBuf>,
    /// Number of times that a folder was made again because somebody had removed it: plans written before are gone.
    pub made_again: u64,
}

impl Place {
    /// Folder of its plans.
    pub fn plans_folder(&self) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(PLANS_FOLDER))
    }

    /// The folder that `LIGHTBAY_DATA` has to name for this session to be found.
    pub fn data(&self) -> Option<&Path> {
        self.folder.as_deref()?.parent()?.parent()
    }

    /// Name of the session; empty as long as it has none.
    pub fn name(&self) -> String {
        let name = self.folder.as_deref().and_then(Path::file_name);
        name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }
}

/// A session that is to be made.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Store that it goes into.
    pub store: Store,
    /// Text that its name is made from.
    pub name: String,
    /// Kind of its scenario.
    pub kind: String,
    /// Its scenario.
    pub scenario: Arc<Value>,
}

/// The folder that is written to, if there is one.
#[derive(Debug)]
struct OpenFolder {
    folder: Folder,
    path: PathBuf,
    // Only held.
    #[allow(dead_code, reason = "held until the folder is left")]
    lock: Arc<Lock>,
}

/// A session's folder, or what one is to be made from.
#[derive(Debug)]
pub(crate) struct Home {
    there: Option<OpenFolder>,
    store: Store,
    name: String,
    kind: String,
    /// The newest scenario handed over.
    scenario: Option<Arc<Value>>,
    clock: Arc<dyn Clock>,
    made_again: u64,
}

impl Home {
    /// The folder of a session that is open for writing. Returns how many bytes of a record cut off were removed.
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

    /// A session that could not be made yet.
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

    /// The scenario for a new folder.
    fn known_scenario(&self) -> Arc<Value> {
        self.scenario.clone().unwrap_or_default()
    }

    /// Makes a session in `store`, with everything that can be read of the present one if it is to come along.
    fn make(&self, store: &Store, along: bool) -> Result<OpenFolder, SessionError> {
        let scenario = self.known_scenario();
        let session = store.create(&self.name, &self.kind, &scenario, &self.clock.date())?;
        let path = session.folder().to_owned();
        let made = (|| {
            if let Some(there) = self.there.as_ref().filter(|_| along) {
                copy_into(there, &path)?;
            }
            if scenario.is_null() {
                // Nothing is better than a wrong one: the plans have it too.
                let _ = fs::remove_file(path.join(SCENARIO_FILE));
            }
            let (folder, _) = Folder::open(&path)?;
            Ok(OpenFolder { folder, path: path.clone(), lock: session.writable()? })
        })();
        if made.is_err() {
            // Half a session would be taken for a whole one.
            let _ = fs::remove_dir_all(&path);
        }
        made
    }

    /// Makes the folder again that somebody removed. Of the log everything is still there, behind the open file.
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

/// The scenario of a session, kept for the day on which its folder cannot be read any more.
fn read_scenario(folder: &Path) -> Option<Arc<Value>> {
    let bytes = private::read(&folder.join(SCENARIO_FILE)).ok()?;
    Some(Arc::new(serde_json::from_slice(&bytes).ok()?))
}

/// Copies what can be read of a session. What cannot is left behind: the rest must not be lost with it.
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

    fn place(&self) -> Place {
        let folder = self.there.as_ref().map(|there| there.path.clone());
        Place { folder, made_again: self.made_again }
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
