//! The session of a searching method: its task, its first solutions, and the conversion of solutions to plans.

use crate::Crossconnect;
use crate::model::assignment::{Assignment, Cell};
use crate::model::task::Task;
use crate::plan::{BoundPrices, CrossconnectResult};
use crate::programs::bound::whole;
use crate::rollout::assemble;
use crate::scenario::CrossconnectScenario;
use crate::search::halving::{self, Bipartition};
use crate::search::orient::{Failure, Preference, orient};
use crate::search::repair::repair;
use crate::search::scaling::Scaling;
use lightbay_core::checked::Checked;
use lightbay_core::context::Context;
use lightbay_core::event::{HotStartFate, Severity};
use lightbay_core::kind::{Candidate, Kind};
use lightbay_core::method::{MethodError, Outcome};
use lightbay_core::plan::{Limit, Status};
use lightbay_core::problem::counted;
use lightbay_core::scenario::Scenario;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A scenario and the task that its searches work on.
#[derive(Debug)]
pub(super) struct TaskSession {
    pub(super) scenario: CrossconnectScenario,
    pub(super) task: Task,
    /// `true` if the run keeps a hot start that sets other target circuits than the task, because failed ports allow
    /// several choices. Bounds on the circuits of the task then do not cover the best plan.
    keeps_other: AtomicBool,
    /// Prices that prove a bound; plans that are offered later state them.
    prices: OnceLock<BoundPrices>,
}

/// A solution and its origin.
#[derive(Clone, Debug)]
pub(super) struct FirstPlan {
    pub(super) plan: Assignment,
    pub(super) removed: u64,
    pub(super) source: &'static str,
}

/// Plans that the bound of a fixed orientation covers.
const ORIENTED: &str = "plans with the orientation that was chosen first";
/// Plans that a bound on a reduced target covers.
const SAME_CIRCUITS: &str = "plans that set the same target circuits";

impl TaskSession {
    /// Creates the session of a scenario.
    pub(super) fn of(scenario: &Scenario<Crossconnect>) -> Arc<Self> {
        let keeps_other = AtomicBool::new(false);
        let (task, prices) = (Task::of(&scenario.body), OnceLock::new());
        Arc::new(Self { task, scenario: scenario.body.clone(), keeps_other, prices })
    }

    /// Opens the session of a run and reports the counting bound.
    pub(super) fn open(scenario: &Scenario<Crossconnect>, cx: &mut Context<'_, Crossconnect>) -> Arc<Self> {
        let session = Self::of(scenario);
        let lost: u64 = session.task.lost.iter().map(|cell| u64::from(cell.count)).sum();
        if lost > 0 {
            cx.note(
                Severity::Warning,
                format!(
                    "{lost} of {} target circuits cannot be set because {} failed; the plan sets the other \
                     target circuits",
                    session.scenario.wanted_circuits(),
                    counted(session.scenario.failed_ports.len() as u64, "port", "ports")
                ),
            );
        }
        // The counting bound takes no time.
        cx.bound(session.task.bound_of_plans(session.task.count_bound()) as f64);
        // A search may end once the bound is met, because plans with equal removals are equivalent.
        cx.end_when_proven(true);
        session
    }

    /// Reports a lower bound on the removals of the solutions of the task; `fixed` if it covers only one orientation. If
    /// failed ports reduce the target, plans that set other target circuits may remove fewer circuits.
    pub(super) fn bound(&self, cx: &mut Context<'_, Crossconnect>, bound: u64, fixed: bool) {
        let bound = self.task.bound_of_plans(bound) as f64;
        if fixed {
            cx.bound_over(bound, ORIENTED);
        } else if self.task.lost.is_empty() {
            cx.bound(bound);
        } else if !self.keeps_other.load(Ordering::Relaxed) {
            cx.bound_over(bound, SAME_CIRCUITS);
        }
    }

    /// Returns the number of target circuits that are not pinned.
    pub(super) fn circuits(&self) -> u64 {
        self.task.wanted.iter().map(|cell| u64::from(cell.count)).sum()
    }

    /// Reports a solution of the task if it is better than the incumbent.
    pub(super) fn offer(
        self: &Arc<Self>,
        cx: &mut Context<'_, Crossconnect>,
        removed: u64,
        plan: &Assignment,
        source: &str,
    ) -> Result<(), MethodError> {
        // A plan with as many removals as the incumbent is not reported.
        if cx.best().is_some_and(|(best, _)| best <= removed as f64) {
            return Ok(());
        }
        let (session, plan) = (Arc::clone(self), self.task.completed(plan));
        let removed = self.task.removed(&plan);
        cx.incumbent(removed as f64, 0.0, source, move || session.candidate(&plan))?;
        Ok(())
    }

    fn candidate(&self, plan: &Assignment) -> Candidate<CrossconnectResult> {
        let mut candidate = assemble::candidate(&self.scenario, &self.task.assignment(plan));
        if let CrossconnectResult::Changes(changes) = &mut candidate.result {
            changes.prices = self.prices.get().cloned();
        }
        candidate
    }

    /// Computes prices that prove a lower bound, reports the bound if it is the best, and lets the best plan and all
    /// later plans state the prices. Prices are not valid for a reduced target, nor for ports without sides.
    pub(super) fn prove_by_prices(
        self: &Arc<Self>,
        best: &FirstPlan,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<(), MethodError> {
        let is_plain = self.scenario.failed_ports.is_empty() && !self.task.single_sided;
        if !is_plain || best.removed <= best_bound(cx) {
            return Ok(());
        }
        cx.phase("bound", "prices of pairs and ports by scaling");
        let (prices, bound) = Scaling::new(&self.task, cx)?.proof(cx)?;
        if whole(bound) <= best_bound(cx) || self.prices.set(prices).is_err() {
            return Ok(());
        }
        self.bound(cx, whole(bound), false);
        let (session, plan) = (Arc::clone(self), best.plan.clone());
        if cx.best().is_some_and(|(value, _)| value >= best.removed as f64) {
            cx.supersede(best.removed as f64, 0.0, best.source, move || session.candidate(&plan))?;
        }
        Ok(())
    }

    /// Returns the circuits of a plan of any `crossconnect` scenario, if they solve the scenario of this session.
    fn fitting(&self, plan: &Checked<Crossconnect>) -> Result<Assignment, String> {
        let from = plan.plan();
        let body = &from.scenario.body;
        let carried;
        let (changes, body) = match &from.result {
            // A plan of the same scenario needs no change.
            CrossconnectResult::Changes(changes) if *body == self.scenario => (changes, body),
            result => {
                carried = Crossconnect::carry(result, body, &self.scenario)?;
                let changes = carried.candidate.result.changes();
                (changes.ok_or("the plan is an order of phases, not a change of circuits")?, &self.scenario)
            }
        };
        let found = self.task.trimmed(self.task.part(&assemble::target(body, changes)));
        // The solution must set all target circuits on ports that exist.
        match self.task.misfit(&found) {
            None => Ok(found),
            Some(why) => Err(why),
        }
    }

    /// Reports the plan that the run starts from and returns it; `None` if the run has no such plan, or if that plan
    /// does not solve the scenario.
    pub(super) fn hot_start(
        self: &Arc<Self>,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Option<FirstPlan>, MethodError> {
        let Some(hot) = cx.hot_start() else { return Ok(None) };
        let before = Some(hot.plan.plan().objective.value);
        match self.fitting(&hot.plan) {
            Ok(plan) => {
                let removed = self.task.removed(&plan);
                let fate = if hot.same_scenario { HotStartFate::Accepted } else { HotStartFate::Repaired };
                cx.hot_start_fate(
                    fate,
                    "the search starts from the circuits of the plan",
                    before,
                    Some(removed as f64),
                );
                self.offer(cx, removed, &plan, "hot start")?;
                Ok(Some(FirstPlan { plan, removed, source: "hot start" }))
            }
            Err(why) => {
                match self.with_other_circuits(&hot.plan) {
                    Some(candidate) => {
                        self.keeps_other.store(true, Ordering::Relaxed);
                        let text = "the run keeps the plan unless it finds a better one; the plan leaves other target \
                                    circuits unset than the searches do, so they cannot start from it";
                        cx.hot_start_fate(HotStartFate::Accepted, text, before, Some(candidate.value));
                        cx.incumbent(candidate.value, 0.0, "hot start", move || candidate)?;
                    }
                    None => cx.hot_start_fate(HotStartFate::Rejected, why, before, None),
                }
                Ok(None)
            }
        }
    }

    /// Returns a plan of the scenario of this session as it is, if failed ports reduce the target and the plan leaves
    /// as many target circuits unset as the task does, but other ones.
    fn with_other_circuits(&self, plan: &Checked<Crossconnect>) -> Option<Candidate<CrossconnectResult>> {
        let plan = plan.plan();
        let lost: u64 = self.task.lost.iter().map(|cell| u64::from(cell.count)).sum();
        let unmet = plan.result.changes()?.totals.unmet_circuits;
        let is_alike = plan.scenario.body == self.scenario && lost > 0 && unmet == Some(lost);
        is_alike.then(|| Candidate {
            value: plan.objective.value,
            metrics: plan.metrics.clone(),
            result: plan.result.clone(),
        })
    }

    /// Returns a better plan of another run, if one arrived.
    pub(super) fn offered(&self, cx: &mut Context<'_, Crossconnect>) -> Option<Assignment> {
        let plan = cx.offered()?;
        let found = self.fitting(&plan).ok();
        let here = found.as_ref().map(|found| self.task.removed(found) as f64);
        cx.offer_fate(&plan, here, found.is_some());
        found
    }

    /// Returns the orientation of the target circuits that step O computes (docs/methods/crossconnect.md, section 3);
    /// `None`, with a note, if the ports allow no orientation.
    pub(super) fn oriented(
        &self,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Option<Vec<Cell>>, MethodError> {
        let switches: Vec<usize> = (0..self.task.ocs_count).collect();
        let oriented = orient(&self.task, &switches, &self.task.wanted, Preference::none(), cx);
        said(oriented, "step O", cx)
    }

    /// Returns the solutions that halving and repair find with the orientation of step O, best first. If port counts
    /// differ between switches, a method may find no solution, which a note states; the list is empty if neither method
    /// finds one.
    pub(super) fn starts(
        self: &Arc<Self>,
        oriented: &[Cell],
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Vec<FirstPlan>, MethodError> {
        cx.phase("start", format!("halving and repair of {} circuits", self.circuits()));
        let switches: Vec<usize> = (0..self.task.ocs_count).collect();
        // No random preferences, so the start is the same for every seed.
        let settings = halving::HalvingSettings { bipartition: Bipartition::Best, preference: None };
        let mut starts = Vec::new();
        for source in ["halving", "repair"] {
            let plan = if source == "halving" {
                halving::halve(&self.task, oriented.to_vec(), switches.clone(), settings, cx)
            } else {
                repair(&self.task, oriented, &self.task.installed, cx)
            };
            if let Some(plan) = said(plan, source, cx)? {
                let removed = self.task.removed(&plan);
                self.offer(cx, removed, &plan, source)?;
                starts.push(FirstPlan { plan, removed, source });
            }
        }
        // The sort is stable, so halving wins ties.
        starts.sort_by_key(|start| start.removed);
        Ok(starts)
    }
}

/// Returns the outcome of a search: optimal if the best plan meets the bound, otherwise ended by `limit`.
pub(super) fn outcome(cx: &Context<'_, Crossconnect>, limit: Limit) -> Outcome {
    let proven = cx.best().is_some_and(|(value, _)| value <= best_bound(cx) as f64);
    if proven {
        Outcome::done(Status::Optimal)
    } else {
        Outcome::Done { status: Status::Feasible, limit: Some(limit) }
    }
}

/// Returns the best bound reported so far, as an integer.
pub(super) fn best_bound(cx: &Context<'_, Crossconnect>) -> u64 {
    cx.best_bound().map_or(0, whole)
}

/// Returns the result of a search; `None`, with a note, if the search got stuck.
fn said<T>(
    found: Result<T, Failure>,
    by: &str,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Option<T>, MethodError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Failure::Ended(error)) => Err(error),
        Err(Failure::Stuck(stuck)) => {
            cx.note(Severity::Warning, format!("{by} found no solution: {}", stuck.words()));
            Ok(None)
        }
    }
}
