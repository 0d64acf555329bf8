//! `auto`: bound and construction in several lengths of epochs, of which the best in microseconds is kept.

use super::construct::limits;
use super::session::{EpochSession, end, restarts};
use crate::Collective;
use crate::model::epochs::epoch_us;
use crate::model::network::Network;
use crate::scenario::{CollectiveScenario, EpochRule, TimeRule};
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// Bound and construction in several lengths of epochs.
pub(super) struct Auto;

/// Usual number of restarts for each length.
const RESTARTS: i64 = 24;
/// Relative difference below which two epochs are the same.
const SAME: f64 = 1e-9;

/// Lengths of epochs to try, µs: that of the scenario, and those that the slowest link, the fastest link and their
/// geometric mean give.
fn epochs(scenario: &CollectiveScenario, others: bool) -> Result<Vec<f64>, MethodError> {
    let network = Network::in_order(scenario)?;
    let chunk_bytes = scenario.demand.chunk_size(&scenario.topology);
    let of = |time: &TimeRule| epoch_us(time, &network, chunk_bytes).0;
    let ruled = |epoch| of(&TimeRule { epoch, epoch_us: None, epoch_multiplier: 1.0, ..scenario.time });
    let mut epochs = vec![of(&scenario.time)];
    if others && scenario.time.epoch != EpochRule::Fixed {
        let (slow, fast) = (ruled(EpochRule::SlowestLink), ruled(EpochRule::FastestLink));
        for epoch in [slow, fast, (slow * fast).sqrt()] {
            if epochs.iter().all(|known| (known - epoch).abs() > SAME * epoch) {
                epochs.push(epoch);
            }
        }
    }
    Ok(epochs)
}

impl Method<Collective> for Auto {
    fn info(&self) -> MethodInfo {
        let other =
            "Tries of other epochs than the scenario's: of the slowest link, the fastest, and between.";
        MethodInfo {
            name: "auto",
            help: "Bound and construction in epochs of several lengths; keeps the schedule that ends first.",
            proves: true,
            hot_start: false,
            params: vec![restarts(RESTARTS), ParamInfo::bool("other_epochs", true, other)],
        }
    }

    fn idle(&self, scenario: &CollectiveScenario, _params: &Params) -> Vec<Problem> {
        let fixed = scenario.time.epoch == EpochRule::Fixed;
        let names = fixed.then_some("other_epochs");
        without_effect(names, "on a fixed epoch", "leave it out, or set epoch=fastest_link").collect()
    }

    fn solve(
        &self,
        scenario: &Scenario<Collective>,
        params: &Params,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Outcome, MethodError> {
        let scenario = Arc::new(scenario.body.clone());
        let limits = limits(params, cx);
        let mut best: Option<(f64, u32, EpochSession)> = None;
        for length_us in epochs(&scenario, params.bool("other_epochs"))? {
            let session = EpochSession::open(&scenario, Some(length_us), cx)?.bounded(cx)?;
            let finish = session.construct(limits, cx)?;
            let finish_us = f64::from(finish) * length_us;
            if best.as_ref().is_none_or(|(known, ..)| finish_us < *known) {
                best = Some((finish_us, finish, session));
            }
        }
        // A bound is one of epochs of a length, so it is stated for those of the plan that is kept.
        let Some((_, finish, session)) = best else { return Err(super::session::never()) };
        session.state_bound(cx);
        Ok(end(finish, session.bound_epochs()))
    }
}
