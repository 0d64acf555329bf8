//! The work of a session writer, without its thread: decides what is due, and writes it.

use super::disk::Disk;
use super::home::SessionPlace;
use super::inbox::{Inbox, Newest, Removal, WaitingEvent, WaitingPlan};
use super::log_limit::LogLimit;
use crate::book::{PlanBook, PlanId};
use crate::error::SessionError;
use crate::log::LogRecord;
use crate::resume::RecentEntry;
use lightbay_core::event::{EventBody, EventRecord, Note, RunId, Severity};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Maximum delay of a write; also the minimum time between two writes of a run's plans, and the time until a failed
/// write is tried again.
pub(super) const BEAT: Duration = Duration::from_secs(1);

/// Reason that nothing can be saved at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) message: String,
    pub(super) since: Duration,
    pub(super) retry_at: Duration,
}

impl Trouble {
    fn new(error: &SessionError, since: Duration, now: Duration) -> Self {
        let message = format!("the session cannot be saved: {error}");
        Self { message, since, retry_at: now + BEAT }
    }
}

/// All data taken from the inbox for one round of writing.
#[derive(Debug, Default)]
pub(super) struct Batch {
    events: VecDeque<WaitingEvent>,
    plans: Vec<(Option<RunId>, WaitingPlan)>,
    unneeded: Vec<PlanId>,
    session: Option<Newest<Arc<[u8]>>>,
    scenario: Option<Newest<Arc<Value>>>,
    recent: Option<Newest<(PathBuf, RecentEntry)>>,
    flushes: u64,
    removal: Option<Removal>,
    sync: bool,
    /// `true` for the last batch, in which points that were held back are written too.
    closing: bool,
}

/// Part of a batch that is on disk.
#[derive(Debug, Default)]
pub(super) struct Written {
    stamps: Vec<u64>,
    flushes: u64,
    /// Channel to the thread that requested the move to the present place.
    moved: Option<Sender<Result<SessionPlace, String>>>,
}

impl Written {
    /// Answers the request for another place, once the new state is visible to all threads.
    pub(super) fn answer<D: Disk>(self, pending: &PendingWrites<D>) {
        if let Some(reply) = self.moved {
            let outcome = pending.trouble.as_ref().map_or(Ok(()), |trouble| Err(trouble.message.clone()));
            let _ = reply.send(outcome.map(|()| pending.place()));
        }
    }
}

/// A session writer without its thread.
#[derive(Debug)]
pub(super) struct PendingWrites<D> {
    disk: D,
    book: Arc<PlanBook>,
    /// Encoded lines that are not on disk yet.
    lines: Vec<u8>,
    line_count: u64,
    log_limit: LogLimit,
    last_plan: BTreeMap<RunId, Duration>,
    unsynced: Option<Duration>,
    saved_session: Option<Duration>,
    pub(super) trouble: Option<Trouble>,
    pub(super) flushed: u64,
    pub(super) lines_written: u64,
    pub(super) plans_written: u64,
    pub(super) unwritable: u64,
    /// Reason that the list of recent sessions was not updated; `None` if the list was updated.
    pub(super) list_problem: Option<String>,
}

impl<D: Disk> PendingWrites<D> {
    /// Returns the number of points of curves that were left out because of the length of their run.
    pub(super) const fn left_out(&self) -> u64 {
        self.log_limit.left_out()
    }

    pub(super) fn new(disk: D, book: Arc<PlanBook>) -> Self {
        Self {
            disk,
            book,
            lines: Vec::new(),
            line_count: 0,
            log_limit: LogLimit::default(),
            last_plan: BTreeMap::new(),
            unsynced: None,
            saved_session: None,
            trouble: None,
            flushed: 0,
            lines_written: 0,
            plans_written: 0,
            unwritable: 0,
            list_problem: None,
        }
    }

    /// Creates the writer of a session whose folder could not be created, with the reason.
    pub(super) fn without_folder(disk: D, book: Arc<PlanBook>, error: &SessionError, now: Duration) -> Self {
        let trouble = Trouble::new(error, now, now);
        Self { trouble: Some(trouble), ..Self::new(disk, book) }
    }

    /// Returns the present place of the session.
    pub(super) fn place(&self) -> SessionPlace {
        self.disk.place()
    }

    /// Returns the time at which the next data is due, by the session's clock; `None` if nothing waits.
    pub(super) fn deadline(&self, inbox: &Inbox, now: Duration) -> Option<Duration> {
        let asked = inbox.closing || inbox.discarded || inbox.removal.is_some();
        if asked || inbox.flushes > self.flushed {
            return Some(now);
        }
        if inbox.deferred {
            return None;
        }
        if let Some(trouble) = &self.trouble {
            return Some(trouble.retry_at);
        }
        let events = match inbox.events.is_empty() {
            true => None,
            false if inbox.urgent => Some(now),
            false => Some(inbox.since + BEAT),
        };
        let plans = inbox.plans.iter().map(|(run, waiting)| self.due(Some(*run), waiting));
        let kept = inbox.kept.values().map(|waiting| self.due(None, waiting));
        let slot = |since: Duration| since.max(self.saved_session.map_or(since, |saved| saved + BEAT));
        [
            events,
            plans.min(),
            kept.min(),
            inbox.session.as_ref().map(|waiting| slot(waiting.since)),
            inbox.scenario.as_ref().map(|waiting| slot(waiting.since)),
            inbox.recent.as_ref().map(|waiting| slot(waiting.since)),
            self.unsynced.map(|since| since + BEAT),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn due(&self, run: Option<RunId>, waiting: &WaitingPlan) -> Duration {
        let last = run.and_then(|run| self.last_plan.get(&run));
        match last {
            Some(last) if !waiting.at_once => waiting.reported.max(*last + BEAT),
            _ => waiting.reported,
        }
    }

    /// Returns the data that is due, as a batch to write; removes events from the inbox. Plans and other values stay in
    /// the inbox until they are on disk, so that a newer value can replace an older one while the disk refuses writes.
    pub(super) fn take(&self, inbox: &mut Inbox, now: Duration) -> Batch {
        let removal = inbox.removal.take();
        let all = inbox.closing || inbox.flushes > self.flushed || removal.is_some();
        // While the disk refuses writes, events stay in the inbox, where they can still be thinned.
        let events = all || (self.lines.is_empty() && (inbox.urgent || inbox.since + BEAT <= now));
        let plans = inbox.plans.iter().map(|(run, waiting)| (Some(*run), waiting));
        let kept = inbox.kept.values().map(|waiting| (None, waiting));
        let due = |(run, waiting): &(Option<RunId>, &WaitingPlan)| all || self.due(*run, waiting) <= now;
        let plans = plans.chain(kept).filter(due).map(|(run, waiting)| (run, waiting.clone())).collect();
        Batch {
            plans,
            unneeded: std::mem::take(&mut inbox.unneeded),
            events: if events { inbox.take_events() } else { VecDeque::new() },
            session: inbox.session.clone(),
            scenario: inbox.scenario.clone(),
            recent: inbox.recent.clone(),
            flushes: inbox.flushes,
            removal,
            closing: inbox.closing,
            sync: all || self.unsynced.is_some_and(|since| since + BEAT <= now),
        }
    }

    /// Writes as much of a batch as the disk accepts; returns the part that was written.
    pub(super) fn work(&mut self, mut batch: Batch, now: Duration) -> Written {
        let mut written = Written { flushes: batch.flushes, ..Written::default() };
        let mut moved = None;
        if let Some(removal) = batch.removal.take() {
            match self.disk.move_to(&removal.store, removal.along) {
                Ok(()) => {
                    if !removal.along {
                        self.book.leave_behind();
                    }
                    moved = Some(removal.reply);
                }
                // If the requester has ended, the files stay in their place.
                Err(error) => drop(removal.reply.send(Err(error.to_string()))),
            }
        }
        match self.write(batch, now, &mut written) {
            Ok(()) => self.trouble = None,
            Err(error) => {
                let since = self.trouble.as_ref().map_or(now, |trouble| trouble.since);
                self.trouble = Some(Trouble::new(&error, since, now));
            }
        }
        written.moved = moved;
        written
    }

    fn write(&mut self, batch: Batch, now: Duration, written: &mut Written) -> Result<(), SessionError> {
        // Each part is tried even if another one failed, because a broken plans folder must not stop the log.
        let mut result = Ok(());
        let mut try_next = |outcome: Result<(), SessionError>| {
            if result.is_ok() {
                result = outcome;
            }
        };
        let settled = self.disk.settle();
        let has_place = settled.is_ok();
        try_next(settled);
        // Encoded here and not in `take`, so that reporting threads do not wait for it.
        let mut log_limit = std::mem::take(&mut self.log_limit);
        let mut encode = |waiting: WaitingEvent| {
            self.encode(LogRecord {
                record: waiting.event.record(),
                plan: waiting.plan,
                content: waiting.content,
            });
        };
        for waiting in batch.events {
            log_limit.pass(waiting, &mut encode);
        }
        if batch.closing {
            log_limit.release_all(&mut encode);
        }
        self.log_limit = log_limit;
        if !has_place {
            return result;
        }
        if !self.lines.is_empty() {
            try_next(self.disk.append(&self.lines).map(|()| {
                self.lines = Vec::new();
                self.lines_written += std::mem::take(&mut self.line_count);
                self.unsynced.get_or_insert(now);
            }));
        }
        let mut ended = false;
        for (run, waiting) in batch.plans {
            ended |= waiting.at_once;
            let Ok(json) = waiting.content.to_json() else {
                // A plan that cannot be encoded is skipped, because a second attempt would fail too; checked plans can
                // be encoded.
                self.unwritable += 1;
                written.stamps.push(waiting.stamp);
                continue;
            };
            try_next(self.disk.write_plan(waiting.plan, &json).map(|()| {
                self.book.mark_saved(waiting.plan);
                self.plans_written += 1;
                written.stamps.push(waiting.stamp);
                if let Some(run) = run {
                    self.last_plan.insert(run, now);
                }
            }));
        }
        for plan in batch.unneeded {
            // A plan that the user requested stays, and a superfluous file does not need a retry.
            if self.book.is_saved(plan) && !self.book.is_kept(plan) && self.disk.delete_plan(plan).is_ok() {
                self.book.mark_deleted(plan);
            }
        }
        if let Some(slot) = batch.session {
            try_next(self.disk.write_session(&slot.content).map(|()| {
                self.saved_session = Some(now);
                written.stamps.push(slot.stamp);
            }));
        }
        if let Some(slot) = batch.scenario {
            try_next(self.disk.write_scenario(&slot.content).map(|()| written.stamps.push(slot.stamp)));
        }
        if let Some(slot) = batch.recent {
            let (list, entry) = slot.content;
            // The list of recent sessions is a convenience, so a failed write is only reported: the session is complete
            // without the list, and the next entry replaces this one.
            self.list_problem = self.disk.remember(&list, entry).err().map(|error| error.to_string());
            written.stamps.push(slot.stamp);
        }
        if self.unsynced.is_some() && (batch.sync || ended) {
            try_next(self.disk.sync().map(|()| self.unsynced = None));
        }
        result
    }

    /// Removes from the inbox the values that are on disk, unless a newer value has replaced them.
    pub(super) fn tidy(&mut self, inbox: &mut Inbox, written: &Written) {
        let done = |stamp: u64| written.stamps.contains(&stamp);
        inbox.plans.retain(|_, waiting| !done(waiting.stamp));
        inbox.kept.retain(|_, waiting| !done(waiting.stamp));
        inbox.session.take_if(|slot| done(slot.stamp));
        inbox.scenario.take_if(|slot| done(slot.stamp));
        inbox.recent.take_if(|slot| done(slot.stamp));
        self.flushed = written.flushes;
    }

    /// Returns `true` if anything is not on disk yet.
    pub(super) fn behind(&self, inbox: &Inbox) -> bool {
        !self.lines.is_empty()
            || !inbox.events.is_empty()
            || !inbox.plans.is_empty()
            || !inbox.kept.is_empty()
            || inbox.session.is_some()
            || inbox.scenario.is_some()
            || inbox.recent.is_some()
    }

    fn encode(&mut self, record: LogRecord) {
        let Err(error) = record.write_line(&mut self.lines) else {
            self.line_count += 1;
            return;
        };
        self.unwritable += 1;
        let progress = record.record.body.is_progress();
        if progress {
            // A point that is not a number is omitted, and is a gap in its curve on screen too.
            return;
        }
        // A milestone must leave a record, even if its figures cannot be written.
        let text = format!("an event of this run is missing here: {error}");
        let body = EventBody::Note(Note { severity: Severity::Warning, text });
        let record_of = EventRecord { body, ..record.record };
        let trace = LogRecord { record: record_of, plan: record.plan, content: record.content };
        self.line_count += u64::from(trace.write_line(&mut self.lines).is_ok());
    }
}
