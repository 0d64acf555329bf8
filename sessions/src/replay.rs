//! Reads a run log back, so that a reopened workbench shows the same curves as before.

use crate::book::PlanId;
use crate::error::SessionError;
use crate::lock::LockHolder;
use crate::log::{LogLine, LogReader, LogRecord, open_log};
use crate::thin::{Curve, NewBounds, Thinner};
use lightbay_core::event::{Done, EventBody, RunId, Started};
use lightbay_core::problem::Problem;
use std::collections::{BTreeMap, VecDeque};
use std::io::BufRead;
use std::path::Path;

#[cfg(test)]
mod tests;

/// Limits on the part of a log that is kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayLimits {
    /// Maximum number of progress records (points of curves); longer logs are thinned evenly over the length of each
    /// curve. Bounds that differ from the previous bound are counted separately, up to the same number.
    pub progress: usize,
    /// Maximum number of lines of the solver's log that are kept for each run; the newest lines are kept.
    pub lines: usize,
}

impl ReplayLimits {
    /// No limits: the whole log is kept.
    pub const ALL: Self = Self { progress: usize::MAX, lines: usize::MAX };
}

impl Default for ReplayLimits {
    fn default() -> Self {
        Self { progress: 200_000, lines: 1000 }
    }
}

/// History of one run.
#[derive(Clone, Debug)]
pub struct RunHistory {
    /// Number of the run.
    pub run: RunId,
    /// Method of the run.
    pub method: String,
    /// First event of the run, with seed and threads.
    pub started: Option<Started>,
    /// Objective of the run's last checked plan.
    pub value: Option<f64>,
    /// Last plan of the run.
    pub plan: Option<PlanId>,
    /// Last bound that the run proved for all plans; bounds that cover only some plans are ignored.
    pub bound: Option<f64>,
    /// Seconds on the run's clock at its last event.
    pub elapsed_s: f64,
    /// Number of plans that the run reported.
    pub plans: u64,
    /// Last event of the run; `None` if the program was killed before the run ended.
    pub done: Option<Done>,
}

/// A run log, read back.
#[derive(Debug, Default)]
pub struct Replay {
    /// The events in the order in which they were written; events of simultaneous runs are interleaved.
    pub records: Vec<LogRecord>,
    /// History of each run, by number.
    pub runs: BTreeMap<RunId, RunHistory>,
    /// The first [`Replay::MAX_PROBLEMS`] lines that could not be read.
    pub problems: Vec<Problem>,
    /// Number of lines that could not be read.
    pub broken: u64,
    /// `true` if the log ends in the middle of a record, as after a kill.
    pub cut_off: bool,
    /// Number of points of curves that were left out because of the limits.
    pub thinned: u64,
    /// Number of bytes of complete lines that were read: the position from which to follow the log.
    pub end: u64,
    plans: Vec<(RunId, u64, PlanId)>,
    finals: Vec<(String, PlanId)>,
}

impl Replay {
    /// Maximum number of damaged lines that are reported with their problem.
    pub const MAX_PROBLEMS: usize = 20;

    /// Reads a log file; a missing file is an empty log.
    ///
    /// # Errors
    /// [`SessionError`] if the file exists and cannot be read.
    pub fn read(path: &Path, limits: ReplayLimits) -> Result<Self, SessionError> {
        match open_log(path)? {
            None => Ok(Self::default()),
            Some(reader) => Self::collect(reader, limits).map_err(|error| SessionError::reading(path, error)),
        }
    }

    /// Reads a log from any stream.
    ///
    /// # Errors
    /// Returns the error of the system if the stream cannot be read.
    pub fn collect<R: BufRead>(mut reader: LogReader<R>, limits: ReplayLimits) -> std::io::Result<Self> {
        let mut replay = Self::default();
        let mut kept = Thinner::new(limits.progress);
        let mut bounds = NewBounds::default();
        let mut new_bounds = 0;
        let mut lines = BTreeMap::<RunId, VecDeque<(u64, LogRecord)>>::new();
        let mut before = 0;
        while let Some(line) = reader.next_line()? {
            match line {
                LogLine::Record(record) => {
                    replay.note(&record);
                    let (run, body) = (record.record.run, &record.record.body);
                    if let EventBody::Line(_) = body {
                        let lines = lines.entry(run).or_default();
                        if lines.len() >= limits.lines {
                            lines.pop_front();
                            replay.thinned += 1;
                        }
                        lines.push_back((before, *record));
                        continue;
                    }
                    let new = bounds.is_new(run, body) && new_bounds < limits.progress;
                    new_bounds += usize::from(new);
                    let curve = if new { None } else { Curve::of_progress(run, body) };
                    if new || matches!(body, EventBody::Incumbent(_)) {
                        for curve in Curve::standing(run) {
                            kept.pin(&curve);
                        }
                    }
                    kept.push(curve, *record);
                    before += 1;
                }
                LogLine::Broken(problem) => {
                    replay.broken += 1;
                    if replay.problems.len() < Self::MAX_PROBLEMS {
                        replay.problems.push(problem);
                    }
                }
                LogLine::CutOff => replay.cut_off = true,
            }
        }
        replay.end = reader.end();
        let (records, thinned) = kept.finish();
        replay.thinned += thinned;
        replay.records = merge(records, lines);
        Ok(replay)
    }

    fn note(&mut self, line: &LogRecord) {
        let record = &line.record;
        let history = self.runs.entry(record.run).or_insert_with(|| RunHistory {
            run: record.run,
            method: record.method.clone(),
            started: None,
            value: None,
            plan: None,
            bound: None,
            elapsed_s: 0.0,
            plans: 0,
            done: None,
        });
        history.elapsed_s = history.elapsed_s.max(record.elapsed_s);
        match &record.body {
            EventBody::Started(started) => history.started = Some(started.clone()),
            EventBody::Bound(bound) if bound.only.is_none() => history.bound = Some(bound.value),
            EventBody::Incumbent(incumbent) if incumbent.number > 0 => {
                history.value = Some(incumbent.value);
                history.plans += 1;
                if let Some(plan) = line.plan {
                    history.plan = Some(plan);
                    self.plans.push((record.run, incumbent.number, plan));
                }
            }
            EventBody::Done(done) => {
                history.value = done.value.or(history.value);
                history.bound = done.bound.or(history.bound);
                history.plan = line.plan.or(history.plan);
                self.finals.extend(line.content.clone().zip(line.plan));
                history.done = Some(done.clone());
            }
            _ => {}
        }
    }

    /// Iterates over the plans in the order of the log: the run, the number of the plan in the run, and the number of
    /// the plan in the session.
    pub fn plans(&self) -> impl Iterator<Item = (RunId, u64, PlanId)> + '_ {
        self.plans.iter().copied()
    }

    /// Iterates over the final plans of runs: SHA-256 of the content, and the number of the plan in the session.
    pub fn finals(&self) -> impl Iterator<Item = (String, PlanId)> + '_ {
        self.finals.iter().cloned()
    }

    /// Iterates over the runs whose end is not in the log: the program ended during the run, or the run is still
    /// active.
    pub fn unfinished(&self) -> impl Iterator<Item = &RunHistory> {
        self.runs.values().filter(|run| run.done.is_none())
    }

    /// Iterates over the unfinished runs that `holder` started: they are active as long as `holder` has the session
    /// open.
    pub fn at_work<'r>(&'r self, holder: &'r LockHolder) -> impl Iterator<Item = RunId> + 'r {
        // Both dates were written by this program, in whole seconds of the same time zone.
        let began = |run: &&RunHistory| run.started.as_ref().is_some_and(|run| run.date >= holder.since);
        self.unfinished().filter(began).map(|run| run.run)
    }
}

/// Inserts the lines of the solvers' logs between the other records. Each line comes with the position of the record
/// that followed it in the log.
fn merge(
    records: Vec<(u64, LogRecord)>,
    lines: BTreeMap<RunId, VecDeque<(u64, LogRecord)>>,
) -> Vec<LogRecord> {
    if lines.is_empty() {
        return records.into_iter().map(|(_, record)| record).collect();
    }
    let lines = lines.into_values().flatten().map(|(before, record)| (before, false, record));
    let records = records.into_iter().map(|(order, record)| (order, true, record));
    let mut all: Vec<(u64, bool, LogRecord)> = lines.chain(records).collect();
    all.sort_by_key(|(order, is_record, _)| (*order, *is_record));
    all.into_iter().map(|(_, _, record)| record).collect()
}
