//! Sessions to reopen: the list of recent sessions, newest first.
//!
//! The list is a convenience: if it is lost or damaged, the dates in the sessions show which session was saved last.

use crate::atomic::own_write;
use crate::book::PlanId;
use crate::error::{SessionError, folder_of};
use crate::places::Places;
use crate::private;
use crate::store::Store;
use lightbay_core::json;
use lightbay_core::plan::{Header, Objective, Status};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The schema name that this version writes and reads.
pub const SCHEMA: &str = "lightbay.recent/1";

/// Maximum number of sessions that the list keeps.
pub const MOST: usize = 50;

/// A recently used session, with the data for the start screen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecentEntry {
    /// Name of the session.
    pub session: String,
    /// Kind of the session's scenario.
    pub kind: String,
    /// Display name of the session's scenario.
    pub scenario: String,
    /// Time of the last use of the session, RFC 3339.
    pub at: String,
    /// Newest or best plan of the session.
    #[serde(default)]
    pub plan: Option<RecentPlan>,
}

/// The plan of a recent session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecentPlan {
    /// Number of the plan.
    pub plan: PlanId,
    /// Method that found the plan.
    pub method: String,
    /// Value, bound and gap of the plan.
    pub objective: Objective,
    /// Figures of the plan for comparison, by name with unit.
    pub metrics: BTreeMap<String, f64>,
    /// Status of the plan, such as optimal or feasible.
    pub status: Status,
}

impl RecentPlan {
    /// Returns the part of a plan that the list contains.
    pub fn of(plan: PlanId, header: &Header) -> Self {
        Self {
            plan,
            method: header.method.clone(),
            objective: header.objective.clone(),
            metrics: header.metrics.clone(),
            status: header.status,
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
struct RecentFile {
    schema: String,
    sessions: Vec<RecentEntry>,
}

/// Reads the list. A damaged list, or one of another version, counts as empty.
pub fn recent(path: &Path) -> Vec<RecentEntry> {
    fs::read(path)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<RecentFile>(&bytes).ok())
        .filter(|file| file.schema == SCHEMA)
        .map(|file| file.sessions)
        .unwrap_or_default()
}

/// Puts a session at the top of the list. An entry without a plan keeps the plan of the previous entry.
///
/// # Errors
/// [`SessionError`] if the list cannot be written.
pub fn remember(path: &Path, mut entry: RecentEntry) -> Result<(), SessionError> {
    change(path, |sessions| {
        let known = sessions.iter().position(|known| known.session == entry.session);
        if let Some(known) = known.map(|at| sessions.remove(at))
            && entry.plan.is_none()
        {
            entry.plan = known.plan;
        }
        sessions.insert(0, entry);
        sessions.truncate(MOST);
    })
}

/// Removes a session from the list.
///
/// # Errors
/// [`SessionError`] if the list cannot be written.
pub fn forget(path: &Path, session: &str) -> Result<(), SessionError> {
    if !path.exists() {
        return Ok(());
    }
    change(path, |sessions| sessions.retain(|known| known.session != session))
}

fn change(path: &Path, edit: impl FnOnce(&mut Vec<RecentEntry>)) -> Result<(), SessionError> {
    let folder = folder_of(path);
    private::make_folders(folder).map_err(|error| SessionError::writing(folder, error))?;
    // Two workbenches may close at the same time, and each must keep the entry of the other. Without locks on this file
    // system, at most one entry of a convenience list is lost.
    let mut options = private::options();
    let guard = private::open_with(options.write(true).create(true), &path.with_extension("lock")).ok();
    if let Some(guard) = &guard {
        let _ = guard.lock();
    }
    let mut sessions = recent(path);
    edit(&mut sessions);
    let file = RecentFile { schema: SCHEMA.to_owned(), sessions };
    let bytes = json::to_pretty(&file)
        .map_err(|source| SessionError::Unwritable { path: path.to_owned(), source })?;
    own_write(path, &bytes)
}

/// Returns the session to reopen if the user names none: the first existing session of the list, else the session that
/// was saved last; `None` if there are no sessions that can be read.
pub fn last_session(places: &Places) -> Option<String> {
    let store = Store::at(places.sessions());
    recent(&places.recent()).into_iter().map(|entry| entry.session).find(|name| store.has(name)).or_else(
        || store.list().ok()?.into_iter().find(|found| found.problem.is_none()).map(|found| found.name),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Overrides;
    use lightbay_core::kind::Sense;
    use serde_json::json;

    fn entry(session: &str, at: &str, value: Option<f64>) -> RecentEntry {
        RecentEntry {
            session: session.to_owned(),
            kind: "training".to_owned(),
            scenario: "megatron".to_owned(),
            at: at.to_owned(),
            plan: value.map(|value| RecentPlan {
                plan: PlanId(3),
                method: "delta-joint".to_owned(),
                objective: Objective {
                    name: "makespan_s".to_owned(),
                    sense: Sense::Min,
                    value,
                    bound: Some(0.25),
                    gap: None,
                },
                metrics: BTreeMap::from([("total_ports".to_owned(), 96.0)]),
                status: Status::Feasible,
            }),
        }
    }

    fn places(folder: &Path) -> Places {
        let given = Overrides {
            data: Some(folder.join("data")),
            state: Some(folder.join("state")),
            config: Some(folder.join("config.toml")),
        };
        Places::resolve(&given, |_| None).unwrap()
    }

    #[test]
    fn the_newest_comes_first_and_keeps_its_plan() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/state/recent.json");
        assert_eq!(recent(&path), []);
        remember(&path, entry("a", "1", Some(0.5))).unwrap();
        remember(&path, entry("b", "2", None)).unwrap();
        remember(&path, entry("a", "3", None)).unwrap();
        let list = recent(&path);
        assert_eq!(list, [entry("a", "3", Some(0.5)), entry("b", "2", None)]);
        forget(&path, "a").unwrap();
        assert_eq!(recent(&path), [entry("b", "2", None)]);
        for i in 0..2 * MOST {
            remember(&path, entry(&format!("s{i}"), "4", None)).unwrap();
        }
        assert_eq!(recent(&path).len(), MOST);
    }

    #[test]
    fn a_lost_or_damaged_list_falls_back_to_the_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        assert_eq!(last_session(&places), None);
        let store = Store::at(places.sessions());
        let scenario = json!({"name": "x"});
        for (name, date) in [("old", "2026-01-01T00:00:00Z"), ("new", "2026-01-02T00:00:00Z")] {
            store.create(name, "training", &scenario, date).unwrap();
        }
        assert_eq!(last_session(&places).as_deref(), Some("new"));
        remember(&places.recent(), entry("old", "3", None)).unwrap();
        assert_eq!(last_session(&places).as_deref(), Some("old"));
        remember(&places.recent(), entry("removed", "4", None)).unwrap();
        assert_eq!(last_session(&places).as_deref(), Some("old"));
        fs::write(places.recent(), b"{\"schema\": \"lightbay.rec").unwrap();
        assert_eq!(last_session(&places).as_deref(), Some("new"));
        remember(&places.recent(), entry("old", "5", None)).unwrap();
        assert_eq!(recent(&places.recent()).len(), 1, "a damaged list is started anew");
    }
}
