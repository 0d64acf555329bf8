//! Numbers for the runs and plans of a followed process, so that they differ from the numbers that are assigned here.

use crate::app::action::{Heard, RemoteEvents};
use lightbay_core::event::{Event, RunId};
use lightbay_core::run::Runs;
use lightbay_sessions::{PlanBook, PlanId, Session};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A session that another process has open, with the numbers of its runs and plans here. Numbers from before the
/// session was opened here are the same in both processes.
#[derive(Debug)]
pub struct Adopted {
    session: Arc<Session>,
    first_run: RunId,
    last_plan: PlanId,
    runs: BTreeMap<RunId, RunId>,
    plans: BTreeMap<u64, u64>,
}

impl Adopted {
    /// Makes the numbers of a session: runs below `first_run` and the plans in `book` are already shown here.
    pub fn new(session: Arc<Session>, first_run: RunId, book: &PlanBook) -> Self {
        let last_plan = book.last_assigned();
        Self { session, first_run, last_plan, runs: BTreeMap::new(), plans: BTreeMap::new() }
    }

    /// Replaces the numbers of the other process by numbers that are free here; equal numbers stay equal.
    pub fn renumber(&mut self, news: &mut RemoteEvents, runs: &Runs, book: &PlanBook) {
        for entry in &mut news.plans {
            entry.number = self.plan(entry.number, book);
            entry.origin = entry.origin.map(|(run, number)| (self.run(run, runs), number));
        }
        for heard in &mut news.events {
            let run = self.run(heard.event.run, runs);
            let plan = heard.plan.map(|plan| self.plan(plan, book));
            if (run, plan) != (heard.event.run, heard.plan) {
                *heard = Heard::new(Event { run, ..Event::clone(&heard.event) }, plan);
            }
        }
    }

    fn run(&mut self, theirs: RunId, runs: &Runs) -> RunId {
        if theirs < self.first_run {
            return theirs;
        }
        *self.runs.entry(theirs).or_insert_with(|| runs.reserve(theirs))
    }

    fn plan(&mut self, theirs: u64, book: &PlanBook) -> u64 {
        if theirs <= self.last_plan.0 {
            return theirs;
        }
        *self.plans.entry(theirs).or_insert_with(|| book.reserve(PlanId(theirs)).0)
    }

    /// Returns the folder and the number of a plan in the session of the other process; `None` for a plan found here.
    pub fn place_of(&self, number: u64) -> Option<(PathBuf, PlanId)> {
        let theirs = if number <= self.last_plan.0 {
            number
        } else {
            *self.plans.iter().find(|(_, here)| **here == number)?.0
        };
        Some((self.session.plans_folder(), PlanId(theirs)))
    }
}
