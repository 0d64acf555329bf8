//! The saved plans of a session: read as rows of the table of plans, and checked again before they are shown.

use crate::app::plans::{PlanEntry, PlanRef, PlanTable};
use crate::runtime::open::{Refused, lines};
use lightbay_core::checked::Violation;
use lightbay_core::event::{EventBody, RunId, Severity};
use lightbay_core::kind::{Depth, Sense};
use lightbay_engines::{AnyFile, files, other_question, saved_standing};
use lightbay_sessions::{PlanId, Replay, Session, SessionFile};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Returns all plans on disk as rows. Only plans that are shown at once are read completely: the best plans of the
/// scenarios with the hashes `present`, baseline, marked plans and the last plan. Other plans are read when they are
/// displayed.
pub fn saved_plans(
    session: &Session,
    replay: &Replay,
    file: &SessionFile,
    sense: Sense,
    present: &[&str],
    notes: &mut Vec<(Severity, String)>,
) -> Result<Vec<PlanEntry>, Refused> {
    let origins: BTreeMap<PlanId, (RunId, u64)> =
        replay.plans().map(|(run, number, plan)| (plan, (run, number))).collect();
    let mut seen: BTreeMap<PlanId, (f64, String, f64)> = BTreeMap::new();
    for record in &replay.records {
        if let (EventBody::Incumbent(incumbent), Some(plan)) = (&record.record.body, record.plan) {
            // The time of a plan is the time at which a run found it first, not the end of that run.
            let found = (incumbent.secondary, incumbent.source.clone(), record.record.elapsed_s);
            seen.entry(plan).or_insert(found);
        }
    }
    let found = session.plans().map_err(|error| vec![error.to_string()])?;
    let mut rows: Vec<PlanEntry> = Vec::new();
    for entry in found {
        match entry.header {
            Ok(header) => {
                let findings = file.findings.get(&entry.plan.0.to_string());
                let Some(standing) = saved_standing(&header, findings) else { continue };
                let unseen = || (f64::INFINITY, "an earlier session".to_owned(), header.provenance.elapsed_s);
                let (secondary, source, at_s) = seen.get(&entry.plan).cloned().unwrap_or_else(unseen);
                rows.push(PlanEntry {
                    number: entry.plan.0,
                    origin: origins.get(&entry.plan).copied(),
                    other_question: other_question(&header.kind, &header.method),
                    method: header.method,
                    source,
                    value: header.objective.value,
                    secondary,
                    metrics: header.metrics,
                    status: Some(header.status),
                    standing,
                    scenario_sha256: header.provenance.scenario_sha256,
                    at_s,
                    marked: file.marks.contains(&entry.plan),
                    superseded: false,
                    found_again: found_again(replay, entry.plan, origins.get(&entry.plan)),
                    refused: None,
                    plan: None,
                });
            }
            Err(problem) => {
                notes.push((Severity::Warning, format!("plan {} is damaged: {problem}", entry.plan)));
            }
        }
    }
    let kept = file.baseline.iter().chain(&file.last_plan).chain(&file.marks);
    let mut wanted: BTreeSet<u64> = kept.map(|plan| plan.0).collect();
    let mut table = PlanTable::new(sense, "");
    for row in &rows {
        table.add(row.clone());
    }
    wanted.extend(present.iter().filter_map(|sha256| table.best_of(sha256)).map(|row| row.number));
    // If the scenarios of `present` have no plan, the table shows the best plan for the scenario of the newest plan.
    wanted.extend(table.shown().map(|row| row.number));
    for row in rows.iter_mut().filter(|row| wanted.contains(&row.number)) {
        match read_plan(&[(session.plans_folder(), PlanId(row.number))]) {
            Ok(plan) => row.read(plan),
            Err(problem) => {
                notes.push((Severity::Warning, format!("plan {} cannot be used: {problem}", row.number)));
                row.refuse(problem);
            }
        }
    }
    Ok(rows)
}

/// Returns the runs that ended with a plan that another run had found before.
fn found_again(replay: &Replay, plan: PlanId, origin: Option<&(RunId, u64)>) -> Vec<RunId> {
    let ended = || replay.runs.values().filter(|run| run.plan == Some(plan)).map(|run| run.run);
    // For a run without incumbents, only its end names the origin of the plan.
    let first = origin.map(|(run, _)| *run).or_else(|| ended().next());
    ended().filter(|run| Some(*run) != first).collect()
}

/// Reads a plan from the first of these places (folder, and number in that folder) that has it, and checks it again,
/// because files on disk are not trusted.
///
/// # Errors
/// Returns the reason that the plan cannot be used.
pub fn read_plan(places: &[(PathBuf, PlanId)]) -> Result<PlanRef, String> {
    let mut problem = None;
    for (folder, number) in places {
        match lightbay_sessions::store::read_plan(folder, *number) {
            Ok(value) => return check_value(&value),
            Err(error) => problem = problem.or(Some(error.to_string())),
        }
    }
    Err(problem.unwrap_or_else(|| "no folder with this plan is known".to_owned()))
}

/// Makes a checked plan from its JSON.
///
/// # Errors
/// Returns its problems, joined by semicolons.
pub fn check_value(value: &serde_json::Value) -> Result<PlanRef, String> {
    match files::read_value(value).map_err(|problems| lines(&problems).join("; "))? {
        AnyFile::Scenario(_) => Err("the file holds a scenario, not a plan".to_owned()),
        AnyFile::Plan(file) => {
            let report = file.check(Depth::Usual);
            let broken: Vec<String> = report.violations.iter().map(Violation::to_string).collect();
            report.plan.map(PlanRef).ok_or_else(|| broken.join("; "))
        }
    }
}
