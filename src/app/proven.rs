//! The bounds on a plan, from everything that the session knows about its scenario.

use crate::app::layer::CellEdit;
use crate::app::plans::PlanEntry;
use crate::app::runs::{Run, RunState};
use crate::app::state::App;
use lightbay_core::event::{Bound, EndStatus, RunId};
use lightbay_core::standing::{Prover, Standing};
use lightbay_engines::covers_all;

impl App {
    /// Returns the bounds on a plan, from everything that the session knows about its scenario; header, strip, panes
    /// and comparison use them.
    pub fn standing_of(&self, entry: &PlanEntry) -> Standing {
        let standing = entry.standing.clone();
        let mut standing = if entry.status.is_none() { standing.unfinished() } else { standing };
        self.inform(&mut standing, &entry.scenario_sha256, entry.origin.map(|(run, _)| run));
        standing
    }

    /// Returns the bounds on the displayed plan, which may be the preview of an edit.
    pub fn standing_of_shown(&self) -> Option<Standing> {
        let entry = self.plans.shown()?;
        let preview = self.cell_edit().filter(|edit| edit.is_changed()).and_then(CellEdit::plan);
        let Some(preview) = preview else { return Some(self.standing_of(entry)) };
        let mut standing = preview.0.standing();
        self.inform(&mut standing, &preview.0.header().provenance.scenario_sha256, None);
        Some(standing)
    }

    /// Adds the bounds of runs and plans of a scenario to `standing`. A bound that covers only some plans is added from
    /// the run `own` while that run is active, and from a plan if `standing` already has a bound on the same plans.
    fn inform(&self, standing: &mut Standing, scenario_sha256: &str, own: Option<RunId>) {
        if standing.other_question().is_some() {
            return;
        }
        for run in self.runs.iter().filter(|run| run.scenario_sha256 == scenario_sha256) {
            let by = || Prover::Method(run.method.clone());
            if let Some(bound) = run.bound {
                standing.learn(bound, None, true, by());
            }
            if let Some(Bound { value, only: Some(only) }) = &run.partial
                && own == Some(run.id)
                && run.state.is_active()
            {
                let is_on_all = covers_all(self.work.as_ref().map_or("", |work| work.kind), only);
                standing.learn(*value, Some(only), is_on_all, by());
            }
        }
        let of_scenario = |other: &&PlanEntry| other.scenario_sha256 == scenario_sha256 && other.competes();
        for other in self.plans.iter().filter(of_scenario) {
            for bound in other.standing.bounds().iter().filter(|bound| bound.is_on_all) {
                let fits = bound.covers.is_none()
                    || standing.bounds().iter().any(|known| known.covers == bound.covers);
                // While the run of a plan is active, its unverified bounds come from the run, not from the plan.
                if fits && (bound.is_verified() || other.status.is_some()) {
                    standing.learn(bound.value, bound.covers.as_deref(), true, bound.by.clone());
                }
            }
        }
    }

    /// Returns the state of a run as one word: `OPTIMAL` if the run has proven its plan optimal and the bound that the header
    /// shows confirms it, else the word of the run.
    pub fn run_word(&self, run: &Run) -> &'static str {
        let is_optimal = run.done.as_ref().is_some_and(|done| done.status == EndStatus::Optimal);
        let has_plan = self.plans.newest_of(run.id).is_some();
        let has_ended = run.state == RunState::Ended;
        if is_optimal && has_ended && has_plan && self.is_best_of_all(run) { "OPTIMAL" } else { run.word() }
    }

    /// Returns `false` if another plan of the scenario is better than the plan of the run, or if the bound that the header
    /// shows leaves a gap or covers only some plans.
    pub fn is_best_of_all(&self, run: &Run) -> bool {
        let Some(entry) = self.plans.newest_of(run.id) else { return true };
        let best = self.plans.best_of(&entry.scenario_sha256);
        let is_beaten = best.is_some_and(|best| self.plans.better((best.value, 0.0), (entry.value, 0.0)));
        let standing = self.standing_of(entry);
        !is_beaten
            && standing.leading().is_some_and(|bound| bound.is_on_all && standing.optimum() == Some(bound))
    }
}
