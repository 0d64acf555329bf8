//! How far the gap in the header is confirmed: a method may claim a bound that its checker does not vouch for.

use crate::app::state::App;
use crate::view::figures::Headline;
use lightbay_core::checked::BoundTrust;
use lightbay_core::plan::{OPTIMAL_GAP, gap};

/// What the checker makes of a gap that is claimed.
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
        let claimed = headline.gap()?;
        let plan = app.shown_plan()?;
        let shared = plan.shared();
        match shared.verified_bound().filter(|bound| bound.covers.is_none()) {
            Some(bound) => {
                let is_wider = gap(headline.value, bound.value) > claimed.share + OPTIMAL_GAP;
                is_wider.then_some(Self::Wider(bound.value))
            }
            None => (plan.bound_trust() != BoundTrust::Verified).then_some(Self::Nothing),
        }
    }
}
