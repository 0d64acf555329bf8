//! `lumos-halving`: the method of the LumosCore paper.

use super::finish;
use crate::Crossconnect;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::scenario::Scenario;

/// The method `lumos-halving`: orients the circuits, then splits the switches in two recursively until each group has
/// one switch.
pub(super) struct Halving;

const NAME: &str = "lumos-halving";

impl Method<Crossconnect> for Halving {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: NAME,
            help: "Chooses the side (A or B) of each end of a circuit; then halves the set of switches again and \
                 again, and distributes the circuits over the halves with a minimum-cost flow.",
            proves: true,
            hot_start: true,
            params: finish::halving(),
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        let session = finish::open(NAME, scenario, cx)?;
        session.hot_start(cx)?;
        let first = finish::by_halving(&session, finish::tries(params), cx)?;
        finish::end(first, &session, params, cx)
    }
}

#[cfg(test)]
mod tests;
