//! Inbox of a session writer: events in order, and the newest of everything else.
//!
//! Events wait without their plans. Of the plans, only the newest of each run waits, so that the inbox needs little
//! memory however long the disk is full.

use super::home::SessionPlace;
use crate::book::{FinalPlan, PlanBook, PlanId};
use crate::resume::RecentEntry;
use crate::store::Store;
use crate::thin::{self, Curve};
use lightbay_core::checked::SharedPlan;
use lightbay_core::event::{Event, EventBody, RunId};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Maximum number of waiting progress events before they are thinned.
pub(super) const MOST_PROGRESS: usize = 4096;
/// Maximum number of waiting incumbents without a plan, and maximum number of waiting bounds, before they are thinned.
pub(super) const MOST_UNCHECKED: usize = 16_384;
/// Maximum number of waiting lines of solvers' logs; beyond it the oldest are dropped.
pub(super) const MOST_LINES: usize = 4096;

/// An event that waits to be written.
#[derive(Debug)]
pub(super) struct WaitingEvent {
    pub(super) event: Event,
    pub(super) plan: Option<PlanId>,
    /// SHA-256 of the content of a final plan.
    pub(super) content: Option<String>,
}

/// A plan that waits to be written.
#[derive(Clone, Debug)]
pub(super) struct WaitingPlan {
    pub(super) plan: PlanId,
    pub(super) content: SharedPlan,
    pub(super) reported: Duration,
    /// `true` if the run has ended or the user requested the plan, so that the write need not wait for a better plan.
    pub(super) at_once: bool,
    /// Number that distinguishes this value from a newer value that replaced it.
    pub(super) stamp: u64,
}

/// A value of which only the newest is written.
#[derive(Clone, Debug)]
pub(super) struct Newest<T> {
    pub(super) content: T,
    pub(super) since: Duration,
    pub(super) stamp: u64,
}

/// A request to continue saving in another place.
#[derive(Debug)]
pub(super) struct Removal {
    pub(super) store: Store,
    /// `true` if the files that were written so far are copied.
    pub(super) along: bool,
    /// Channel for the answer: the new place, or the reason for a failure.
    pub(super) reply: Sender<Result<SessionPlace, String>>,
}

/// All data that waits to be written.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    pub(super) events: VecDeque<WaitingEvent>,
    /// Time at which the oldest waiting event arrived.
    pub(super) since: Duration,
    /// `true` if the events include a milestone, or will soon reach the limit for thinning.
    pub(super) urgent: bool,
    progress: usize,
    bounds: usize,
    lines: usize,
    unchecked: usize,
    pub(super) plans: BTreeMap<RunId, WaitingPlan>,
    pub(super) kept: BTreeMap<PlanId, WaitingPlan>,
    /// Plans whose files are not needed: their runs ended with plans that are stored already.
    pub(super) unneeded: Vec<PlanId>,
    pub(super) session: Option<Newest<Arc<[u8]>>>,
    pub(super) scenario: Option<Newest<Arc<Value>>>,
    pub(super) recent: Option<Newest<(PathBuf, RecentEntry)>>,
    pub(super) flushes: u64,
    pub(super) removal: Option<Removal>,
    pub(super) closing: bool,
    /// `true` as long as the session must not be created: everything waits until the first plan arrives.
    pub(super) deferred: bool,
    /// `true` if the waiting data must be discarded.
    pub(super) discarded: bool,
    stamps: u64,
    pub(super) thinned: u64,
    pub(super) merged: u64,
}

impl Inbox {
    /// Creates the inbox of a session that is created when the first plan arrives.
    pub(super) fn deferred() -> Self {
        Self { deferred: true, ..Self::default() }
    }

    pub(super) const fn stamp(&mut self) -> u64 {
        self.stamps += 1;
        self.stamps
    }

    /// Adds an event. Returns whether the writer must be woken, and a superseded plan: freeing a large plan takes time,
    /// so the caller frees it after releasing the lock. `ended` is the final plan of a run, if the run has a final
    /// plan.
    pub(super) fn push(
        &mut self,
        mut event: Event,
        ended: Option<FinalPlan>,
        book: &PlanBook,
        now: Duration,
    ) -> (bool, Option<WaitingPlan>) {
        let run = event.run;
        let mut superseded = None;
        let (content, plan, at_once) = match &mut event.body {
            EventBody::Incumbent(incumbent) => {
                let plan = (incumbent.number > 0).then(|| book.assign(run, incumbent.number));
                (incumbent.plan.take(), plan, false)
            }
            EventBody::Done(done) => {
                let content = done.plan.take();
                if let Some(ended) = ended.as_ref().filter(|ended| ended.again) {
                    superseded = self.plans.remove(&run);
                    self.unneeded.extend(&ended.others);
                }
                let is_stored =
                    ended.as_ref().is_some_and(|ended| ended.again && book.is_written(ended.plan));
                (content.filter(|_| !is_stored), ended.as_ref().map(|ended| ended.plan), true)
            }
            _ => (None, None, false),
        };
        if let (Some(content), Some(plan)) = (content, plan) {
            self.deferred = false;
            let stamp = self.stamp();
            // A waiting plan keeps its time of arrival when a better plan replaces it, so that the write is not delayed
            // again.
            let reported = self.plans.get(&run).map_or(now, |waiting| waiting.reported);
            let before = self.plans.insert(run, WaitingPlan { plan, content, reported, at_once, stamp });
            superseded = before.or(superseded);
        }
        let content = ended.and_then(|ended| ended.content);
        let wake = self.add(WaitingEvent { event, plan, content }, now);
        (wake, superseded)
    }

    fn add(&mut self, waiting: WaitingEvent, now: Duration) -> bool {
        let first = self.events.is_empty();
        if first {
            self.since = now;
        }
        let body = &waiting.event.body;
        let many = match body {
            EventBody::Bound(_) => Some((&mut self.bounds, MOST_UNCHECKED)),
            EventBody::Line(_) => Some((&mut self.lines, MOST_LINES)),
            body if body.is_progress() => Some((&mut self.progress, MOST_PROGRESS)),
            _ => None,
        };
        let milestone = many.is_none();
        let mut half_full = false;
        if let Some((count, most)) = many {
            *count += 1;
            half_full = *count == most / 2;
        } else {
            self.unchecked += usize::from(thin::is_unchecked(body));
        }
        self.urgent |= milestone || half_full;
        let wake = first || milestone || half_full;
        self.events.push_back(waiting);
        self.thin();
        wake
    }

    /// Drops about half of the waiting events of a type, if there are too many of them.
    fn thin(&mut self) {
        let is_bound = |waiting: &WaitingEvent| matches!(waiting.event.body, EventBody::Bound(_));
        if self.progress > MOST_PROGRESS {
            let curve = |waiting: &WaitingEvent| {
                Curve::of_progress(waiting.event.run, &waiting.event.body).filter(|_| !is_bound(waiting))
            };
            let mut went = thin::halve(&mut self.events, curve);
            if went == 0 {
                // If no curve has two points, the oldest point is dropped.
                let oldest = self.events.iter().position(|waiting| curve(waiting).is_some());
                went = u64::from(oldest.and_then(|at| self.events.remove(at)).is_some());
            }
            self.progress -= went as usize;
            self.thinned += went;
        }
        if self.bounds > MOST_UNCHECKED {
            let curve = |waiting: &WaitingEvent| {
                Curve::of_progress(waiting.event.run, &waiting.event.body).filter(|_| is_bound(waiting))
            };
            let went = thin::halve(&mut self.events, curve);
            self.bounds -= went as usize;
            self.thinned += went;
        }
        if self.lines > MOST_LINES {
            let mut go = MOST_LINES / 2;
            let before = self.events.len();
            self.events.retain(|waiting| {
                let goes = go > 0 && matches!(waiting.event.body, EventBody::Line(_));
                go -= usize::from(goes);
                !goes
            });
            let went = before - self.events.len();
            self.lines -= went;
            self.thinned += went as u64;
        }
        if self.unchecked > MOST_UNCHECKED {
            let curve = |waiting: &WaitingEvent| Curve::of_unchecked(waiting.event.run, &waiting.event.body);
            let went = thin::halve(&mut self.events, curve);
            self.unchecked -= went as usize;
            self.merged += went;
        }
    }

    /// Removes and returns all waiting events.
    pub(super) fn take_events(&mut self) -> VecDeque<WaitingEvent> {
        self.urgent = false;
        self.progress = 0;
        self.bounds = 0;
        self.lines = 0;
        self.unchecked = 0;
        std::mem::take(&mut self.events)
    }
}
