//! Plan numbers of a session. Each run numbers its own plans from 1; the session numbers the plans of all runs.
//!
//! Screen, log and disk use the same book, so that "plan 7" means the same plan everywhere, regardless of the order in
//! which they request numbers.

use lightbay_core::checked::SharedPlan;
use lightbay_core::event::RunId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of a plan within its session, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanId(pub u64);

/// Largest valid number of a plan or run. A larger number was not written by lightbay, and would leave no room for
/// further numbers.
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

/// The plan with which a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalPlan {
    /// Number of the plan.
    pub plan: PlanId,
    /// SHA-256 of the plan's content, without the data of the run.
    pub content: Option<String>,
    /// `true` if an earlier run ended with an equal plan; the plans of both runs then have the earlier number.
    pub again: bool,
    /// The other plans that the run reported, ascending.
    pub others: Vec<PlanId>,
}

/// Assigns plan numbers. All methods are fast and can be called from any thread.
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
    /// Saved plans that this process wrote, whose files are therefore known to be complete.
    written: BTreeSet<PlanId>,
    /// Plans whose saving was requested apart from their runs; their files stay even if the run ends with a plan that
    /// is stored already.
    kept: BTreeSet<PlanId>,
    /// Numbers of final plans, by the SHA-256 of their content, see `content_sha256`.
    finals: HashMap<String, PlanId>,
    concluded: HashMap<RunId, FinalPlan>,
    /// Free numbers that were assigned when no larger number was left.
    loose: BTreeSet<PlanId>,
}

impl PlanBook {
    /// Creates the book of a session without plans.
    pub fn new() -> Self {
        Self::default()
    }

    /// Restores the book of a session with existing plans: the plans in its log, the plans on disk, and the content of
    /// final plans.
    pub fn restored(
        logged: impl IntoIterator<Item = (RunId, u64, PlanId)>,
        on_disk: impl IntoIterator<Item = PlanId>,
        finals: impl IntoIterator<Item = (String, PlanId)>,
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
        for (content, plan) in finals.into_iter().filter(|(_, plan)| pages.saved.contains(plan)) {
            pages.finals.entry(content).or_insert(plan);
        }
        Self { pages: Mutex::new(pages) }
    }

    /// Returns the session's number of the plan that `run` calls `number`; every caller gets the same number.
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

    /// Returns the number of a run's final plan. The final plan is the last plan that the run reported, now with the
    /// final status, so it keeps the number of that plan. If an earlier run ended with an equal plan, returns the
    /// number of the earlier plan.
    pub fn conclude(&self, run: RunId, content: &SharedPlan) -> FinalPlan {
        if let Some(known) = self.pages().concluded.get(&run) {
            return known.clone();
        }
        // Computed outside the lock, because a large plan takes milliseconds.
        let content = content.content_sha256().ok();
        let mut pages = self.pages();
        if let Some(known) = pages.concluded.get(&run) {
            return known.clone();
        }
        let reported = pages.last.get(&run).copied();
        let equal = content.as_ref().and_then(|content| pages.finals.get(content)).copied();
        let plan = equal.or(reported).unwrap_or_else(|| pages.next());
        if let Some(content) = &content {
            pages.finals.insert(content.clone(), plan);
        }
        pages.last.insert(run, plan);
        let of_run = pages.of.iter().filter(|((of, _), other)| *of == run && **other != plan);
        let mut others: Vec<PlanId> = of_run.map(|(_, other)| *other).collect();
        others.sort_unstable();
        let ended = FinalPlan { plan, content, again: equal.is_some(), others };
        pages.concluded.insert(run, ended.clone());
        ended
    }

    /// Assigns a number to a plan that no run reported, such as a plan edited by hand or read from a file.
    pub fn assign_loose(&self) -> PlanId {
        self.pages().next()
    }

    /// Assigns a number to a plan that another process has found and calls `wanted`: the same number if it is above all
    /// assigned numbers, else the next free number.
    pub fn reserve(&self, wanted: PlanId) -> PlanId {
        let mut pages = self.pages();
        if wanted.0 > pages.given && wanted.is_valid() {
            pages.given = wanted.0;
            return wanted;
        }
        pages.next()
    }

    /// Returns the largest assigned number; 0 if there is none.
    pub fn last_assigned(&self) -> PlanId {
        PlanId(self.pages().given)
    }

    /// Returns the session's number of a run's plan, if the plan has a number.
    pub fn find(&self, run: RunId, number: u64) -> Option<PlanId> {
        self.pages().of.get(&(run, number)).copied()
    }

    /// Returns the session's number of a run's newest plan.
    pub fn last_of(&self, run: RunId) -> Option<PlanId> {
        self.pages().last.get(&run).copied()
    }

    /// Returns `true` if the plan is on disk. Some are not: of the plans that a run reports within one second, only the
    /// last is written.
    pub fn is_saved(&self, plan: PlanId) -> bool {
        self.pages().saved.contains(&plan)
    }

    pub(crate) fn mark_saved(&self, plan: PlanId) {
        let mut pages = self.pages();
        pages.saved.insert(plan);
        pages.written.insert(plan);
    }

    pub(crate) fn mark_deleted(&self, plan: PlanId) {
        let mut pages = self.pages();
        pages.saved.remove(&plan);
        pages.written.remove(&plan);
    }

    /// Returns `true` if this process has written the plan's file to the present folder.
    pub(crate) fn is_written(&self, plan: PlanId) -> bool {
        self.pages().written.contains(&plan)
    }

    /// Records that the session continues in a folder without the plans written so far.
    pub(crate) fn leave_behind(&self) {
        self.pages().written.clear();
    }

    pub(crate) fn mark_kept(&self, plan: PlanId) {
        self.pages().kept.insert(plan);
    }

    /// Returns `true` if the plan must be saved by request, separately from its run.
    pub(crate) fn is_kept(&self, plan: PlanId) -> bool {
        self.pages().kept.contains(&plan)
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
        // In a damaged session the largest number may be in use: then free numbers below it are assigned.
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
    use crate::toy;
    use lightbay_core::param::ParamValue;
    use lightbay_core::plan::{Plan, Status};

    #[test]
    fn the_same_plan_has_one_number_whoever_asks() {
        let book = PlanBook::new();
        assert_eq!(book.assign(RunId(1), 1), PlanId(1));
        assert_eq!(book.assign(RunId(2), 1), PlanId(2));
        assert_eq!(book.assign(RunId(1), 1), PlanId(1));
        assert_eq!(book.assign(RunId(1), 2), PlanId(3));
        let conclude = |run, value| book.conclude(RunId(run), &toy::plan(value));
        assert_eq!(conclude(1, 0.5).plan, PlanId(3), "a run ends with its last plan");
        assert_eq!(conclude(9, 0.25).plan, PlanId(4), "a run without incumbents");
        assert_eq!(book.assign_loose(), PlanId(5));
        assert_eq!(book.find(RunId(2), 1), Some(PlanId(2)));
        assert_eq!(book.find(RunId(2), 2), None);
        let again = conclude(2, 0.5);
        assert_eq!((again.plan, again.again, &again.others[..]), (PlanId(3), true, &[PlanId(2)][..]));
        assert_eq!(conclude(2, 0.5), again, "whoever asks");
        assert!(!conclude(1, 0.5).again, "a run does not repeat itself");
    }

    #[test]
    fn the_content_of_a_plan_is_all_but_its_run() {
        let content = |change: fn(&mut Plan<toy::Toy>)| {
            let mut plan = toy::draft(1, 0.5, "x".to_owned());
            change(&mut plan);
            plan.content_sha256().unwrap()
        };
        let same = content(|_| ());
        let run = content(|plan| {
            (plan.seed, plan.threads) = (8, 5);
            plan.provenance.started_at = "2026-01-01T00:00:00Z".to_owned();
            plan.provenance.elapsed_s = 3.0;
            plan.provenance.hot_start = Some("plan 1".to_owned());
        });
        assert_eq!(run, same);
        for other in [
            content(|plan| plan.result.filler = "y".to_owned()),
            content(|plan| plan.status = Status::Stopped),
            content(|plan| plan.objective.bound = Some(0.25)),
            content(|plan| plan.method = "other".to_owned()),
            content(|plan| plan.parameters.set("tries", ParamValue::Int(2))),
            content(|plan| plan.provenance.scenario_sha256 = "f".repeat(64)),
            content(|plan| plan.provenance.set_bound_covers(Some("this order only"))),
        ] {
            assert_ne!(other, same);
        }
    }

    #[test]
    fn a_restored_book_goes_on_after_log_and_disk() {
        let content = |value| toy::plan(value).content_sha256().unwrap();
        let finals = [(content(0.5), PlanId(6)), (content(0.25), PlanId(4))];
        let logged = [(RunId(1), 1, PlanId(1)), (RunId(1), 2, PlanId(4))];
        let book = PlanBook::restored(logged, [PlanId(6)], finals);
        assert_eq!(book.find(RunId(1), 2), Some(PlanId(4)));
        assert_eq!(book.last_of(RunId(1)), Some(PlanId(4)));
        assert!(book.is_saved(PlanId(6)) && !book.is_saved(PlanId(4)));
        assert_eq!(book.assign(RunId(2), 1), PlanId(7));
        assert_eq!(book.conclude(RunId(2), &toy::plan(0.5)).plan, PlanId(6));
        assert_eq!(book.conclude(RunId(3), &toy::plan(0.25)).plan, PlanId(8), "plan 4 is not on disk");
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
