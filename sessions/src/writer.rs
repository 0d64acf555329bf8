//! The thread that saves a session while it is in use.
//!
//! Engines and the shell pass on their data and continue; they do not wait for the disk. Milestones are written at once
//! and never lost. Progress is written within a second, and is thinned if it arrives faster than the disk can write or
//! if the run lasts very long. Of the plans of a run, at most one per second (the newest) is written, and the last plan
//! is written at once. If the disk refuses a write, everything waits in bounded memory and is tried again every second.

use crate::book::{PlanBook, PlanId};
use crate::error::SessionError;
use crate::resume::RecentEntry;
use crate::store::{Session, SessionFile, Store};
use disk::Disk;
use home::Home;
use inbox::{Inbox, Newest, Removal, WaitingPlan};
use lightbay_core::checked::SharedPlan;
use lightbay_core::clock::Clock;
use lightbay_core::event::{Event, EventBody, EventSink};
use pending::PendingWrites;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

mod disk;
mod home;
mod inbox;
mod log_limit;
mod pending;
#[cfg(test)]
mod tests;

pub use home::{NewSession, SessionPlace};

/// Maximum time that the end of the program waits for a disk that does not respond.
const CLOSE_WITHIN: Duration = Duration::from_secs(10);

/// State of saving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SaveState {
    /// Everything received is on disk, or will be within a second.
    #[default]
    Saving,
    /// The disk refuses writes; everything is kept and tried again every second.
    Failing {
        /// Message to show: `the session cannot be saved: …`.
        message: String,
        /// Start of the failure, by the session's clock.
        since: Duration,
    },
    /// The writer has ended.
    Closed,
}

/// State of saving, with counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaveStatus {
    /// State of saving.
    pub state: SaveState,
    /// Number of lines written to the log.
    pub lines: u64,
    /// Number of plan files written.
    pub plans: u64,
    /// Number of progress events left out because the disk could not keep up.
    pub thinned: u64,
    /// Number of progress events left out because of the length of their run.
    pub left_out: u64,
    /// Number of incumbents without a plan that were left out because the disk could not keep up.
    pub merged: u64,
    /// Number of events and plans that cannot be written because a number in them is not finite.
    pub unwritable: u64,
    /// `true` if something is not on disk yet.
    pub behind: bool,
    /// Place of the session.
    pub place: SessionPlace,
    /// Reason that the list of recent sessions was not updated; `None` if the list was updated.
    pub list_problem: Option<String>,
}

/// Outcome of the last save of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything was saved in the folder of the session.
    Saved(SessionPlace),
    /// The data that could not be saved in the folder of the session was saved in another folder.
    Rescued {
        /// Reason that the data could not be saved in the folder of the session.
        why: String,
        /// Place of the saved files.
        place: SessionPlace,
    },
    /// Some data could not be written and is lost.
    Lost {
        /// Reason for the loss.
        why: String,
    },
}

/// Function that the writer's thread calls whenever [`SaveStatus::state`], the place or the problem of the list
/// changes. Must return at once.
pub type Notify = Box<dyn Fn(&SaveStatus) + Send>;

struct Shared {
    inbox: Mutex<Inbox>,
    /// Notified when something arrived that the writer must process.
    wake: Condvar,
    status: Mutex<(SaveStatus, u64)>,
    /// Notified when the status has changed.
    told: Condvar,
    /// `true` if the disk did not respond to the last request.
    stuck: AtomicBool,
    book: Arc<PlanBook>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Event receiver that saves the events of runs. Cheap to clone; receiving an event takes microseconds.
#[derive(Clone, Debug)]
pub struct SessionSink {
    shared: Arc<Shared>,
}

impl EventSink for SessionSink {
    fn report(&self, event: Event) {
        let now = self.shared.clock.now();
        let book = &self.shared.book;
        // Computed before the inbox is locked, because hashing a large plan takes milliseconds.
        let ended = match &event.body {
            EventBody::Done(done) => done.plan.as_ref().map(|plan| book.conclude(event.run, plan)),
            _ => None,
        };
        let (wake, superseded) = lock(&self.shared.inbox).push(event, ended, book, now);
        if wake {
            self.shared.wake.notify_one();
        }
        // Freed here, after the lock was released.
        drop(superseded);
    }
}

/// Saves a session. Dropping it writes the remaining data.
#[derive(Debug)]
pub struct SessionWriter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    remarks: Vec<String>,
}

impl SessionWriter {
    /// Starts the writer of a session. Removes an incomplete record at the end of the log.
    ///
    /// # Errors
    /// [`SessionError::ReadOnly`] if another process has the session open for writing, [`SessionError`] if its log
    /// cannot be opened.
    pub fn start(
        session: &Session,
        book: Arc<PlanBook>,
        clock: Arc<dyn Clock>,
        notify: Notify,
    ) -> Result<Self, SessionError> {
        let (home, removed) = Home::of(session, Arc::clone(&clock))?;
        let pending = PendingWrites::new(home, Arc::clone(&book));
        let mut writer = Self::on(pending, book, clock, notify)
            .map_err(|error| SessionError::writing(session.folder(), error))?;
        if removed > 0 {
            writer.remarks.push(format!(
                "the last {removed} bytes of the log were an incomplete record and were removed"
            ));
        }
        Ok(writer)
    }

    /// Starts the writer of a session whose folder could not be created because of `error`: everything waits, and the
    /// folder is created as soon as the disk allows it.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start_without_folder(
        new_session: NewSession,
        error: &SessionError,
        book: Arc<PlanBook>,
        clock: Arc<dyn Clock>,
        notify: Notify,
    ) -> std::io::Result<Self> {
        let home = Home::of_new(new_session, Arc::clone(&clock));
        let pending = PendingWrites::without_folder(home, Arc::clone(&book), error, clock.now());
        Self::on(pending, book, clock, notify)
    }

    /// Starts the writer of a session that is created when the first plan arrives, or when it is requested: by
    /// [`Self::create`], [`Self::flush`] or [`Self::move_to`]. Everything else waits until then.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start_deferred(
        new_session: NewSession,
        book: Arc<PlanBook>,
        clock: Arc<dyn Clock>,
        notify: Notify,
    ) -> std::io::Result<Self> {
        let home = Home::of_new(new_session, Arc::clone(&clock));
        Self::with_inbox(Inbox::deferred(), PendingWrites::new(home, Arc::clone(&book)), book, clock, notify)
    }

    /// Creates the session now, if its creation was deferred.
    pub fn create(&self) {
        lock(&self.shared.inbox).deferred = false;
        self.shared.wake.notify_one();
    }

    /// Returns `true` as long as the session is not created because no plan has arrived.
    pub fn is_deferred(&self) -> bool {
        lock(&self.shared.inbox).deferred
    }

    fn on<D: Disk + 'static>(
        pending: PendingWrites<D>,
        book: Arc<PlanBook>,
        clock: Arc<dyn Clock>,
        notify: Notify,
    ) -> std::io::Result<Self> {
        Self::with_inbox(Inbox::default(), pending, book, clock, notify)
    }

    fn with_inbox<D: Disk + 'static>(
        inbox: Inbox,
        pending: PendingWrites<D>,
        book: Arc<PlanBook>,
        clock: Arc<dyn Clock>,
        notify: Notify,
    ) -> std::io::Result<Self> {
        let status =
            SaveStatus { state: state_of(&pending), place: pending.place(), ..SaveStatus::default() };
        let shared = Arc::new(Shared {
            inbox: Mutex::new(inbox),
            wake: Condvar::new(),
            status: Mutex::new((status, 0)),
            told: Condvar::new(),
            stuck: AtomicBool::new(false),
            book,
            clock,
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("lb-session".to_owned())
            .spawn(move || serve(&of_thread, pending, &notify))?;
        Ok(Self { shared, thread: Some(thread), remarks: Vec::new() })
    }

    /// Returns a sink for the events of runs.
    pub fn sink(&self) -> SessionSink {
        SessionSink { shared: Arc::clone(&self.shared) }
    }

    /// Returns the plan numbers of the session.
    pub fn book(&self) -> &Arc<PlanBook> {
        &self.shared.book
    }

    /// Returns the repairs that were made when the writer started, one sentence each.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Returns the state of saving.
    pub fn status(&self) -> SaveStatus {
        let mut status = lock(&self.shared.status).0.clone();
        let inbox = lock(&self.shared.inbox);
        status.thinned = inbox.thinned;
        status.merged = inbox.merged;
        status
    }

    /// Saves a plan that would not be saved as the plan of a run: a plan edited by hand or read from a file, or a
    /// marked plan that a better plan replaces within a second.
    pub fn keep(&self, plan: PlanId, content: SharedPlan) {
        let reported = self.shared.clock.now();
        let mut inbox = lock(&self.shared.inbox);
        inbox.deferred = false;
        let stamp = inbox.stamp();
        self.shared.book.mark_kept(plan);
        inbox.kept.insert(plan, WaitingPlan { plan, content, reported, at_once: true, stamp });
        drop(inbox);
        self.shared.wake.notify_one();
    }

    /// Saves `session.toml` within a second; of several requests, only the newest content is written. Sets the time of
    /// the last save in the file to now.
    pub fn save_session(&self, file: &SessionFile) {
        let file = SessionFile { updated_at: self.shared.clock.date(), ..file.clone() };
        self.put(file.to_bytes().into(), |inbox| &mut inbox.session);
    }

    /// Saves `scenario.json` within a second; of several requests, only the newest content is written.
    pub fn save_scenario(&self, scenario: Arc<Value>) {
        self.put(scenario, |inbox| &mut inbox.scenario);
    }

    /// Puts the session at the head of the list of recent sessions within a second; of several requests, only the
    /// newest entry is written.
    pub fn remember(&self, list: impl Into<PathBuf>, entry: RecentEntry) {
        self.put((list.into(), entry), |inbox| &mut inbox.recent);
    }

    fn put<T>(&self, content: T, slot: impl FnOnce(&mut Inbox) -> &mut Option<Newest<T>>) {
        let since = self.shared.clock.now();
        let mut inbox = lock(&self.shared.inbox);
        let stamp = inbox.stamp();
        let old = slot(&mut inbox).replace(Newest { content, since, stamp });
        drop(inbox);
        self.shared.wake.notify_one();
        drop(old);
    }

    /// Writes all pending data without the usual delays, and waits until it is written.
    ///
    /// # Errors
    /// Returns a message if the disk refuses or does not respond `within` that time; everything is then kept and tried
    /// again.
    pub fn flush(&self, within: Duration) -> Result<(), String> {
        let asked = {
            let mut inbox = lock(&self.shared.inbox);
            inbox.deferred = false;
            inbox.flushes += 1;
            inbox.flushes
        };
        self.shared.wake.notify_one();
        let status = lock(&self.shared.status);
        let open =
            |(status, flushed): &mut (SaveStatus, u64)| *flushed < asked && status.state != SaveState::Closed;
        let waited = self.shared.told.wait_timeout_while(status, within, open);
        let (status, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return Err("the session cannot be saved yet: the disk does not answer".to_owned());
        }
        match &status.0.state {
            SaveState::Failing { message, .. } => Err(message.clone()),
            SaveState::Closed if status.1 < asked => Err("the session's writer has ended".to_owned()),
            _ => Ok(()),
        }
    }

    /// Continues saving below another folder, with everything that was written so far and all pending data. Returns
    /// the new place.
    ///
    /// # Errors
    /// Returns a message if the session cannot be moved; it then stays in its old folder.
    pub fn move_to(&self, store: Store, within: Duration) -> Result<SessionPlace, String> {
        self.ask_to_move(store, true, within)
    }

    fn ask_to_move(&self, store: Store, along: bool, within: Duration) -> Result<SessionPlace, String> {
        let (reply, answer) = mpsc::channel();
        let mut inbox = lock(&self.shared.inbox);
        inbox.deferred = false;
        inbox.removal = Some(Removal { store, along, reply });
        drop(inbox);
        self.shared.wake.notify_one();
        answer.recv_timeout(within).unwrap_or_else(|_| Err("the disk does not answer".to_owned()))
    }

    /// Writes all pending data and ends the writer. The session stays locked for other processes until its [`Session`]
    /// is dropped too.
    ///
    /// # Errors
    /// Returns a message if something could not be written and is lost.
    pub fn close(self) -> Result<(), String> {
        match self.save_or_rescue(Vec::new) {
            Ending::Lost { why } => Err(why),
            Ending::Saved(_) | Ending::Rescued { .. } => Ok(()),
        }
    }

    /// Writes all pending data for the last time. If the disk refuses a write, saves the whole session below the first
    /// of `folders` in which this succeeds; if it succeeds in none, saves only the data that is not on disk yet. If the
    /// disk does not respond, this data is lost.
    pub fn save_or_rescue(&self, folders: impl FnOnce() -> Vec<PathBuf>) -> Ending {
        let why = match self.flush(CLOSE_WITHIN) {
            Ok(()) => return Ending::Saved(self.status().place),
            Err(why) => why,
        };
        if !matches!(self.status().state, SaveState::Failing { .. }) {
            // The disk does not respond: the thread may block forever.
            self.shared.stuck.store(true, Ordering::Relaxed);
            return Ending::Lost { why };
        }
        let folders = folders();
        for along in [true, false] {
            for folder in &folders {
                if let Ok(place) = self.ask_to_move(Store::of_data(folder), along, CLOSE_WITHIN) {
                    return Ending::Rescued { why, place };
                }
            }
        }
        Ending::Lost { why }
    }

    /// Discards all pending data, for a session that is not needed. Returns the place of the session.
    pub fn discard(&self) -> SessionPlace {
        lock(&self.shared.inbox).discarded = true;
        self.shared.wake.notify_one();
        let status = lock(&self.shared.status);
        let open = |(status, _): &mut (SaveStatus, u64)| status.state != SaveState::Closed;
        let waited = self.shared.told.wait_timeout_while(status, CLOSE_WITHIN, open);
        let (status, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            self.shared.stuck.store(true, Ordering::Relaxed);
        }
        status.0.place.clone()
    }

    fn end(&mut self) {
        lock(&self.shared.inbox).closing = true;
        self.shared.wake.notify_one();
        let stuck = self.shared.stuck.load(Ordering::Relaxed);
        if let Some(thread) = self.thread.take().filter(|_| !stuck) {
            // The writer has already reported its state; the panic hook reports a panic of the writer.
            let _ = thread.join();
        }
    }
}

impl Drop for SessionWriter {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs the thread of the writer until the writer is closed.
fn serve<D: Disk>(shared: &Shared, mut pending: PendingWrites<D>, notify: &Notify) {
    let ended = EndedWriter { shared };
    loop {
        let mut inbox = lock(&shared.inbox);
        loop {
            let now = shared.clock.now();
            inbox = match pending.deadline(&inbox, now) {
                Some(at) if at <= now => break,
                Some(at) => match shared.wake.wait_timeout(inbox, at.saturating_sub(now)) {
                    Ok((inbox, _)) => inbox,
                    Err(poisoned) => poisoned.into_inner().0,
                },
                None => shared.wake.wait(inbox).unwrap_or_else(PoisonError::into_inner),
            };
        }
        if inbox.discarded || inbox.closing && inbox.deferred {
            drop(inbox);
            drop(ended);
            return;
        }
        let closing = inbox.closing;
        let batch = pending.take(&mut inbox, shared.clock.now());
        drop(inbox);
        let written = pending.work(batch, shared.clock.now());
        let mut inbox = lock(&shared.inbox);
        pending.tidy(&mut inbox, &written);
        let behind = pending.behind(&inbox);
        drop(inbox);
        tell(shared, &pending, behind, notify);
        written.answer(&pending);
        if closing {
            drop(ended);
            return;
        }
    }
}

fn state_of<D: Disk>(pending: &PendingWrites<D>) -> SaveState {
    pending.trouble.as_ref().map_or(SaveState::Saving, |trouble| SaveState::Failing {
        message: trouble.message.clone(),
        since: trouble.since,
    })
}

fn tell<D: Disk>(shared: &Shared, pending: &PendingWrites<D>, behind: bool, notify: &Notify) {
    let mut status = lock(&shared.status);
    let (state, place) = (state_of(pending), pending.place());
    let changed =
        status.0.state != state || status.0.place != place || status.0.list_problem != pending.list_problem;
    status.0 = SaveStatus {
        state,
        lines: pending.lines_written,
        plans: pending.plans_written,
        left_out: pending.left_out(),
        unwritable: pending.unwritable,
        behind,
        place,
        list_problem: pending.list_problem.clone(),
        ..status.0.clone()
    };
    status.1 = pending.flushed;
    let now = changed.then(|| status.0.clone());
    drop(status);
    shared.told.notify_all();
    if let Some(status) = now {
        notify(&status);
    }
}

/// Guard of the writer's thread: when dropped, it reports that the writer has ended, even after a panic, so that no
/// thread waits for it.
struct EndedWriter<'a> {
    shared: &'a Shared,
}

impl Drop for EndedWriter<'_> {
    fn drop(&mut self) {
        lock(&self.shared.status).0.state = SaveState::Closed;
        self.shared.told.notify_all();
    }
}
