//! `lumos-repair`: keeps the installed circuits and inserts only the missing ones.

use super::finish;
use crate::Crossconnect;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::scenario::Scenario;

/// The method `lumos-repair`: inserts missing circuits by alternating chains.
pub(super) struct Repair;

const NAME: &str = "lumos-repair";

impl Method<Crossconnect> for Repair {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: NAME,
            help: "Keeps installed circuits, removes the surplus and inserts missing circuits by \
                 alternating chains.",
            proves: true,
            hot_start: true,
            params: Vec::new(),
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
        let first = finish::by_repair(&session, cx)?;
        finish::end(first, &session, params, cx)
    }
}
