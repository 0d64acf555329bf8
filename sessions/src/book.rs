//! Plan numbers of a session. Runs count their own plans from 1; a session counts them all.
//!
//! Screen, log and disk ask the same book, so that "plan 7" is one plan everywhere, whoever asks first.

use lightbay_core::event::RunId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of a plan within its session, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanId(pub u64);

/// Largest number of a plan or run that is given or read. Whatever is larger was not written by us, and would leave no
/// room for those that follow.
pub const MOST_NUMBER: u64 = 999_999_999;

impl PlanId {
    /// Returns `true` if a session can have a plan of this number.
    pub fn is_valid(self) -> bool {
        (1..=MOST_NUMBER).contains(&self.0)
    }
}

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Gives out plan numbers. Cheap and safe to ask from any thread.
#[derive(Debug, Default)]
pub struct PlanBook {
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    given: u64,
    of: HashMap<(RunId, u64), PlanId>,
    last: HashMap<RunId, PlanId>,
    saved: BTreeSet<PlanId>,
    /// Numbers given below the largest one.
    loose: BTreeSet<PlanId>,
}

impl PlanBook {
    /// The book of a session without plans.
    pub fn new() -> Self {
        Self::default()
    }

    /// The book of a session that has plans already: those named in its log and those found on disk.
    pub fn restored(
        logged: impl IntoIterator<Item = (RunId, u64, PlanId)>,
        on_disk: impl IntoIterator<Item = PlanId>,
    ) -> Self {
        let mut pages = Pages::default();
        for (run, number, plan) in logged.into_iter().filter(|(.., plan)| plan.is_valid()) {
            pages.given = pages.given.max(plan.0);
            pages.of.insert((run, number), plan);
            pages.last.insert(run, plan);
        }
        for plan in on_disk.into_iter().filter(|plan| plan.is_valid()) {
            pages.given = pages.given.max(plan.0);
            pages.saved.insert(plan);
        }
        Self { pages: Mutex::new(pages) }
    }

    /// The session's number of the plan that `run` calls `number`: the same for everyone who asks.
    pub fn assign(&self, run: RunId, number: u64) -> PlanId {
        let mut pages = self.pages();
        if let Some(known) = pages.of.get(&(run, number)) {
            return *known;
        }
        let plan = pages.next();
        pages.of.insert((run, number), plan);
        pages.last.insert(run, plan);
        plan
    }

    /// The number of a run's final plan. A run ends with the best plan it has reported, now with its final
    /// status, so that is the number of its last plan.
    pub fn conclude(&self, run: RunId) -> PlanId {
        let mut pages = self.pages();
        if let Some(known) = pages.last.get(&run) {
            return *known;
        }
        let plan = pages.next();
        pages.last.insert(run, plan);
        plan
    }

    /// A number for a plan that no run reported, such as one edited by hand or read from a file.
    pub fn assign_loose(&self) -> PlanId {
        self.pages().next()
    }

    /// The session's number of a run's plan, if it was given one.
    pub fn find(&self, run: RunId, number: u64) -> Option<PlanId> {
        self.pages().of.get(&(run, number)).copied()
    }

    /// The session's number of a run's newest plan.
    pub fn last_of(&self, run: RunId) -> Option<PlanId> {
        self.pages().last.get(&run).copied()
    }

    /// Returns `true` if the plan is on disk. Of plans that follow each other within a second only the last is.
    pub fn is_saved(&self, plan: PlanId) -> bool {
        self.pages().saved.contains(&plan)
    }

    pub(crate) fn mark_saved(&self, plan: PlanId) {
        self.pages().saved.insert(plan);
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn next(&mut self) -> PlanId {
        if self.given < MOST_NUMBER {
            self.given += 1;
            return PlanId(self.given);
        }
        // A damaged session has the largest number: the free ones below it are left.
        let taken: BTreeSet<PlanId> =
            self.of.values().chain(self.last.values()).chain(&self.saved).copied().collect();
        let free =
            (1..MOST_NUMBER).map(PlanId).find(|plan| !taken.contains(plan) && !self.loose.contains(plan));
        let plan = free.unwrap_or(PlanId(MOST_NUMBER));
        self.loose.insert(plan);
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_plan_has_one_number_whoever_asks() {
        let book = PlanBook::new();
        assert_eq!(book.assign(RunId(1), 1), PlanId(1));
        assert_eq!(book.assign(RunId(2), 1), PlanId(2));
        assert_eq!(book.assign(RunId(1), 1), PlanId(1));
        assert_eq!(book.assign(RunId(1), 2), PlanId(3));
        assert_eq!(book.conclude(RunId(1)), PlanId(3), "a run ends with its last plan");
        assert_eq!(book.conclude(RunId(9)), PlanId(4), "a run without incumbents");
        assert_eq!(book.assign_loose(), PlanId(5));
        assert_eq!(book.find(RunId(2), 1), Some(PlanId(2)));
        assert_eq!(book.find(RunId(2), 2), None);
    }

    #[test]
    fn a_restored_book_goes_on_after_log_and_disk() {
        let book = PlanBook::restored([(RunId(1), 1, PlanId(1)), (RunId(1), 2, PlanId(4))], [PlanId(6)]);
        assert_eq!(book.find(RunId(1), 2), Some(PlanId(4)));
        assert_eq!(book.last_of(RunId(1)), Some(PlanId(4)));
        assert!(book.is_saved(PlanId(6)) && !book.is_saved(PlanId(4)));
        assert_eq!(book.assign(RunId(2), 1), PlanId(7));
    }

    #[test]
    fn threads_never_share_a_number() {
        let book = PlanBook::new();
        let mut all: Vec<PlanId> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|run| {
                    let book = &book;
                    scope.spawn(move || (1..=50).map(|n| book.assign(RunId(run), n)).collect::<Vec<_>>())
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert_eq!(all, (1..=200).map(PlanId).collect::<Vec<_>>());
    }
}
