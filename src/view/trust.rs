//! Trust in the gap of the header: a method may claim a bound that its checker does not vouch for.

use crate::app::plans::PlanEntry;
use crate::app::state::App;
use crate::view::figures::{Headline, bound_for};
use lightbay_core::checked::BoundTrust;
use lightbay_core::plan::{OPTIMAL_GAP, gap};
use lightbay_engines::AnyPlan;

/// Verdict of the checker on a gap that is claimed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trust {
    /// The checker vouches for this bound only, which leaves a wider gap.
    Wider(f64),
    /// The checker vouches for no bound at all.
    Nothing,
}

impl Trust {
    /// The trust in the gap of the plan that panes show; `None` if the claim is confirmed, if nothing is claimed, or as
    /// long as a run works on the scenario, whose own bound then stands.
    pub fn of(app: &App, headline: &Headline) -> Option<Self> {
        let entry = app.plans.shown()?;
        if app.runs.active().any(|run| run.scenario_sha256 == entry.scenario_sha256) {
            return None;
        }
        Self::in_plan(app.shown_plan()?, headline.value, headline.gap()?.share)
    }

    /// The trust in the gap of one plan of the table, by the same rules.
    pub fn of_entry(app: &App, entry: &PlanEntry) -> Option<Self> {
        if app.runs.active().any(|run| run.scenario_sha256 == entry.scenario_sha256) {
            return None;
        }
        let claimed = gap(entry.value, bound_for(app, entry)?);
        Self::in_plan(&entry.plan.as_ref()?.0, entry.value, claimed)
    }

    /// Compares a claimed gap with the one that the bound of the checker leaves.
    fn in_plan(plan: &AnyPlan, value: f64, claimed: f64) -> Option<Self> {
        let shared = plan.shared();
        match shared.verified_bound().filter(|bound| bound.covers.is_none()) {
            Some(bound) => {
                let is_wider = gap(value, bound.value) > claimed + OPTIMAL_GAP;
                is_wider.then_some(Self::Wider(bound.value))
            }
            None => (plan.bound_trust() != BoundTrust::Verified).then_some(Self::Nothing),
        }
    }
}
