//! Follows the session that another process has open: reads its log and its plans as they grow, and tests its lock.

use crate::app::action::{AtWork, Fact, Heard, RemoteEvents};
use crate::app::entry_of;
use crate::app::plans::{PlanEntry, PlanRef};
use crate::runtime::helpers::Finished;
use crate::runtime::saved_plans::read_plan;
use lightbay_core::event::{EventBody, RunId};
use lightbay_sessions::{Follower, LockHolder, LogLine, LogRecord, PlanId, PlanStamps, Replay, Session};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tokio::sync::mpsc;

/// Time between two reads of the log: the interval at which a writer saves.
const EVERY: Duration = Duration::from_secs(1);

/// Maximum number of lines of a log that are read at once.
const LINES_AT_ONCE: usize = 10_000;

/// Number of reads for which the end of a run waits for the file of its final plan: the writer logs the end first.
const WAIT_FOR_PLAN: u32 = 5;

/// Origin of a plan, as the log of the other process describes it.
#[derive(Clone, Debug)]
struct Origin {
    run: RunId,
    number: u64,
    secondary: f64,
    source: String,
    at_s: f64,
}

/// Follower of a session that another process has open.
#[derive(Debug)]
pub struct Following {
    session: Arc<Session>,
    follower: Follower,
    holder: Option<LockHolder>,
    /// Runs of the other process that have not ended.
    runs: BTreeSet<RunId>,
    key: u64,
    /// Plan files that were read.
    seen: PlanStamps,
    origins: BTreeMap<PlanId, Origin>,
    /// Newest plan read of every run.
    newest: BTreeMap<RunId, (PlanId, PlanRef)>,
    /// Lines that wait for the final plan of a run.
    queue: VecDeque<LogRecord>,
    waited: u32,
}

impl Following {
    /// Makes the follower of a session that is shown in the open scenario of number `key`; `None` if no other process
    /// has the session open. `seen` are the plan files before they were read.
    pub fn of(session: &Arc<Session>, replay: &Replay, seen: PlanStamps, key: u64) -> Option<Self> {
        let holder = session.holder()?;
        let runs: BTreeSet<RunId> = replay.at_work(&holder).collect();
        let mut following = Self {
            session: Arc::clone(session),
            follower: session.follow(replay),
            holder: Some(holder),
            runs,
            key,
            seen,
            origins: BTreeMap::new(),
            newest: BTreeMap::new(),
            queue: VecDeque::new(),
            waited: 0,
        };
        for record in &replay.records {
            following.note_origin(record);
        }
        Some(following)
    }

    /// Returns the process and its runs, for the state.
    pub fn at_work(&self) -> AtWork {
        let holder = self.holder.as_ref().map_or_else(String::new, LockHolder::to_string);
        AtWork { holder, runs: self.runs.clone() }
    }

    /// Follows on a separate thread until the returned sender is dropped. Another process may open the session when the
    /// present one has closed it.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(mut self, results: mpsc::Sender<Finished>) -> io::Result<Sender<()>> {
        let (dropped, until) = channel::<()>();
        let work = move || {
            while until.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let before = self.holder.clone();
                let news = self.news();
                let says = self.holder != before || !news.events.is_empty() || !news.plans.is_empty();
                if says && results.blocking_send(Finished::Fact(Fact::RemoteEvents(news))).is_err() {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("lb-follow".to_owned()).spawn(work)?;
        Ok(dropped)
    }

    /// Returns the events and plans since the last call.
    pub fn news(&mut self) -> RemoteEvents {
        // Tests the lock before reading, so that everything written before its release is read.
        let holder = self.session.holder();
        loop {
            // If the log cannot be read, the lock still shows when the process ended.
            let lines = self.follower.poll(LINES_AT_ONCE).unwrap_or_default();
            let whole = lines.len() < LINES_AT_ONCE;
            for line in lines {
                let LogLine::Record(line) = line else { continue };
                self.note_origin(&line);
                if let EventBody::Started(_) = &line.record.body {
                    self.runs.insert(line.record.run);
                }
                self.queue.push_back(*line);
            }
            if whole {
                break;
            }
        }
        // A plan is written after the line that reports it, so the origin of every plan file is known here.
        let mut plans = self.new_plans();
        let events = self.release();
        for entry in plans.iter_mut().filter(|entry| entry.status.is_some()) {
            if entry.origin.is_some_and(|(run, _)| self.runs.contains(&run)) {
                entry.status = None;
            }
        }
        // The end of a process is reported after the ends of its runs.
        if holder.is_some() || self.queue.is_empty() {
            self.holder = holder;
        }
        let holder = self.holder.as_ref().map(LockHolder::to_string);
        RemoteEvents { key: self.key, events, plans, holder }
    }

    fn note_origin(&mut self, line: &LogRecord) {
        let (EventBody::Incumbent(incumbent), Some(plan)) = (&line.record.body, line.plan) else { return };
        let origin = Origin {
            run: line.record.run,
            number: incumbent.number,
            secondary: incumbent.secondary,
            source: incumbent.source.clone(),
            at_s: line.record.elapsed_s,
        };
        self.origins.insert(plan, origin);
    }

    /// Reads the plans whose files are new or have changed; of several plans of a run, only the newest.
    fn new_plans(&mut self) -> Vec<PlanEntry> {
        let Ok(stamps) = self.session.plan_stamps() else { return Vec::new() };
        let mut changed: Vec<PlanId> = Vec::new();
        let mut runs = BTreeSet::new();
        for (plan, stamp) in stamps.into_iter().rev() {
            if self.seen.insert(plan, stamp) == Some(stamp) {
                continue;
            }
            let run = self.origins.get(&plan).map(|origin| origin.run);
            if run.is_none_or(|run| runs.insert(run)) {
                changed.push(plan);
            }
        }
        changed.into_iter().rev().filter_map(|plan| self.read(plan)).collect()
    }

    fn read(&mut self, plan: PlanId) -> Option<PlanEntry> {
        let read = read_plan(&[(self.session.plans_folder(), plan)]);
        let Ok(found) = read else {
            // The file may have been replaced while it was read.
            self.seen.remove(&plan);
            return None;
        };
        let Some(origin) = self.origins.get(&plan) else {
            return Some(entry_of(plan.0, &found, None, "the other process"));
        };
        self.newest.insert(origin.run, (plan, found.clone()));
        let mut entry = entry_of(plan.0, &found, Some((origin.run, origin.number)), &origin.source);
        entry.secondary = origin.secondary;
        entry.at_s = origin.at_s;
        Some(entry)
    }

    /// Returns the waiting events. The end of a run waits until its final plan is read, so that its figures are never
    /// shown with an older plan.
    fn release(&mut self) -> Vec<Heard> {
        let mut events = Vec::new();
        while let Some(mut line) = self.queue.pop_front() {
            if let EventBody::Done(done) = &mut line.record.body {
                let found = line
                    .plan
                    .and_then(|plan| self.final_plan(line.record.run, plan, line.content.as_deref()));
                if let (None, Some(_), true) = (&found, line.plan, self.waited < WAIT_FOR_PLAN) {
                    self.waited += 1;
                    self.queue.push_front(line);
                    break;
                }
                self.waited = 0;
                self.runs.remove(&line.record.run);
                self.newest.remove(&line.record.run);
                done.plan = found.map(|plan| plan.0.shared());
            }
            events.push(Heard::new(line.record.event(), line.plan.map(|plan| plan.0)));
        }
        events
    }

    /// Returns the final plan of a run, if its file is complete: its content is the logged one.
    fn final_plan(&mut self, run: RunId, plan: PlanId, content: Option<&str>) -> Option<PlanRef> {
        let known = self.newest.get(&run).filter(|(known, _)| *known == plan).map(|(_, found)| found.clone());
        let found = match known {
            Some(found) => found,
            // The run found the plan of an earlier run again, or its file has not changed since it was opened here.
            None => read_plan(&[(self.session.plans_folder(), plan)]).ok()?,
        };
        let is_final = |found: &PlanRef| {
            content.is_none_or(|content| found.0.shared().content_sha256().is_ok_and(|own| own == content))
        };
        Some(found).filter(is_final)
    }
}
