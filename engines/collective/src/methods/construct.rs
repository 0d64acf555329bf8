//! `construct`: a bound, and schedules that are built chunk by chunk in the epochs of the scenario.

use super::session::{EpochSession, end, restarts};
use crate::Collective;
use crate::search::construct::ConstructLimits;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::scenario::Scenario;
use rand::Rng;
use std::sync::Arc;

/// The method `construct`.
pub(super) struct Construct;

/// Default number of restarts: the largest of all methods, because this method only constructs.
const RESTARTS: i64 = 60;

/// Returns the limits of the construction that the parameters set.
pub(super) fn limits(params: &Params, cx: &Context<'_, Collective>) -> ConstructLimits {
    ConstructLimits { restarts: params.count("restarts") as u32, seed: cx.stream(0).next_u64() }
}

impl Method<Collective> for Construct {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "construct",
            help: "Sends the chunks one after another along earliest-arrival trees, in an order derived \
                 from the binding cut; lower bounds come from paths, cuts and metric inequalities.",
            proves: true,
            hot_start: false,
            params: vec![restarts(RESTARTS)],
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Collective>,
        params: &Params,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Outcome, MethodError> {
        let scenario = Arc::new(scenario.body.clone());
        let session = EpochSession::open(&scenario, None, cx)?.bounded(&mut cx.here())?;
        session.state_bound(cx);
        let limits = limits(params, cx);
        let finish = session.epochs_of(&session.construct(limits, &mut cx.here())?);
        Ok(end(finish, session.bound_epochs()))
    }
}
