//! Files of saved sessions: the scenario, and the plan that a command uses.

use super::from_file;
use crate::cli::console::Console;
use lightbay_core::kind::Sense;
use lightbay_core::problem::{Problem, printable};
use lightbay_engines::{AnyFile, kind, other_question};
use lightbay_sessions::{PlanEntry, Store};
use std::path::{Path, PathBuf};

fn store(console: &Console) -> Result<Store, Problem> {
    let places = console.places().map_err(|_| {
        Problem::new(
            "",
            "the folder of the sessions is unknown",
            "set HOME, or name the folder with --data-dir",
        )
    })?;
    Ok(Store::at(places.sessions()))
}

fn refused(error: &lightbay_sessions::SessionError) -> Problem {
    let text = error.to_string();
    let (message, remedy) = text.split_once("; ").unwrap_or((&text, "`lightbay sessions` lists them"));
    Problem::new("", message, remedy)
}

/// Returns the path of the scenario of a session.
///
/// # Errors
/// An unknown session.
pub fn scenario(session: &str, console: &Console) -> Result<PathBuf, Problem> {
    store(console)?.scenario_path(session).map_err(|error| refused(&error))
}

/// Returns the path of a plan of a session. `NAME/NUMBER` names the plan; `NAME` stands for the best plan for the
/// scenario of the session, or `None` if the session has no plan for its scenario.
///
/// # Errors
/// An unknown session or plan.
pub fn plan(session: &str, console: &Console) -> Result<Option<PathBuf>, Problem> {
    let (name, number) =
        session.split_once('/').map_or((session, None), |(name, number)| (name, Some(number)));
    let store = store(console)?;
    let plans = store.plans(name).map_err(|error| refused(&error))?;
    let Some(number) = number else {
        let path = store.scenario_path(name).map_err(|error| refused(&error))?;
        return Ok(best(plans, &path).map(|entry| entry.path));
    };
    let known = number.parse().ok().and_then(|number: u64| plans.iter().find(|entry| entry.plan.0 == number));
    if let Some(entry) = known {
        return Ok(Some(entry.path.clone()));
    }
    let numbers: Vec<String> = plans.iter().map(|entry| entry.plan.0.to_string()).collect();
    let remedy = match numbers.as_slice() {
        [] => "solve first: the session has no plan".to_owned(),
        numbers => format!("use one of {}", numbers.join(", ")),
    };
    Err(Problem::new("", format!("plan '{}' does not exist", printable(number)), remedy))
}

/// Returns the best plan for the scenario of a session; `None` if the session has no plan for its scenario.
pub fn best_of(store: &Store, session: &str) -> Option<PlanEntry> {
    best(store.plans(session).ok()?, &store.scenario_path(session).ok()?)
}

/// Returns the best plan for the scenario at `path`; of equal plans the first.
fn best(plans: Vec<PlanEntry>, path: &Path) -> Option<PlanEntry> {
    let AnyFile::Scenario(scenario) = from_file(path, "").ok()? else { return None };
    let sense = kind(scenario.kind())?.objective.sense;
    let hash = scenario.sha256().ok()?;
    let value = |entry: &PlanEntry| {
        let header = entry.header.as_ref().ok()?;
        // As in the workbench, a plan of a method that solves another problem does not compete.
        let is_of = header.provenance.scenario_sha256 == hash
            && other_question(&header.kind, &header.method).is_none();
        is_of.then_some(match sense {
            Sense::Min => header.objective.value,
            Sense::Max => -header.objective.value,
        })
    };
    let valued = plans.into_iter().filter_map(|entry| Some((value(&entry)?, entry)));
    valued.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, entry)| entry)
}
