//! Follows the runs of another process that has a session open: reads the log of the session as the log grows, and
//! tests whether the process still holds the lock.

use crate::app::action::{AtWork, Fact, Heard, RemoteEvents};
use crate::runtime::helpers::Finished;
use lightbay_core::event::{EventBody, RunId};
use lightbay_sessions::{Follower, LockHolder, LogLine, Replay, Session};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tokio::sync::mpsc;

/// Time between two reads of the log: the interval at which a writer saves.
const EVERY: Duration = Duration::from_secs(1);

/// Maximum number of lines of a log that are read at once.
const LINES_AT_ONCE: usize = 10_000;

/// Runs of another process that were active when its session was opened here. Runs that the other process starts later
/// are left out, because this process may use the same run numbers.
#[derive(Debug)]
pub struct Following {
    session: Arc<Session>,
    follower: Follower,
    holder: LockHolder,
    runs: BTreeSet<RunId>,
    key: u64,
}

impl Following {
    /// Prepares to follow the runs in a session, which is shown in the open scenario with number `key`; `None` if no
    /// other process has the session open, or if that process has no active runs.
    pub fn of(session: &Arc<Session>, replay: &Replay, key: u64) -> Option<Self> {
        let holder = session.holder()?;
        let runs: BTreeSet<RunId> = replay.at_work(&holder).collect();
        let follower = session.follow(replay);
        (!runs.is_empty()).then(|| Self { session: Arc::clone(session), follower, holder, runs, key })
    }

    /// Returns the other process and its active runs, for the state.
    pub fn at_work(&self) -> AtWork {
        AtWork { holder: self.holder.to_string(), runs: self.runs.clone() }
    }

    /// Follows on a separate thread until all runs or their process have ended, or the returned sender is dropped.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(mut self, results: mpsc::Sender<Finished>) -> io::Result<Sender<()>> {
        let (dropped, until) = channel::<()>();
        let work = move || {
            while until.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let news = self.news();
                let over = !news.held || self.runs.is_empty();
                let says = over || !news.events.is_empty();
                if says && results.blocking_send(Finished::Fact(Fact::RemoteEvents(news))).is_err() || over {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("lb-follow".to_owned()).spawn(work)?;
        Ok(dropped)
    }

    /// Returns the events since the last call.
    pub fn news(&mut self) -> RemoteEvents {
        // Tests the lock before reading, so that everything written before its release is read.
        let held = self.session.holder().as_ref() == Some(&self.holder);
        let mut events = Vec::new();
        loop {
            // If the log cannot be read, the lock still shows when the process ended.
            let lines = self.follower.poll(LINES_AT_ONCE).unwrap_or_default();
            let whole = lines.len() < LINES_AT_ONCE;
            for line in lines {
                let LogLine::Record(line) = line else { continue };
                if !self.runs.contains(&line.record.run) {
                    continue;
                }
                if let EventBody::Done(_) = &line.record.body {
                    self.runs.remove(&line.record.run);
                }
                events.push(Heard::new(line.record.event(), None));
            }
            if whole {
                return RemoteEvents { key: self.key, events, held };
            }
        }
    }
}
