//! `lumos-scratch` and `lumos-relabel`: baselines that ignore the installed state.

use super::finish;
use crate::Crossconnect;
use crate::scenario::CrossconnectScenario;
use crate::search::baselines::{relabel, scratch};
use crate::search::start::NoStart;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// A baseline method: halving that ignores the installed circuits.
pub(super) struct BaselineMethod {
    /// `true` if switches are renamed afterwards so that fewer circuits are removed.
    pub(super) renamed: bool,
}

impl Method<Crossconnect> for BaselineMethod {
    fn info(&self) -> MethodInfo {
        let (name, help) = if self.renamed {
            (
                "lumos-relabel",
                "Baseline: assigns circuits as if nothing were installed, then renames the switches.",
            )
        } else {
            ("lumos-scratch", "Baseline: assigns circuits as if nothing were installed.")
        };
        // Without installed circuits, another bipartition only renumbers the switches.
        let params = if self.renamed { Vec::new() } else { vec![finish::bipartition()] };
        MethodInfo { name, help, proves: false, hot_start: false, params }
    }

    fn idle(&self, _scenario: &CrossconnectScenario, _params: &Params) -> Vec<Problem> {
        // Renaming starts from a plan, so it is skipped if that plan meets the requested gap.
        let names = (!self.renamed).then_some("gap");
        let why = "with lumos-scratch, which makes one plan";
        without_effect(names, why, "leave it out, or use a method that proves a bound, such as auto")
            .collect()
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        let session = finish::open(self.info().name, scenario, cx)?;
        cx.phase("halving", "assign circuits as if nothing were installed");
        let streams = finish::streams(cx);
        let found = match scratch(&session.task, finish::tries(params), streams, cx) {
            Ok(found) => found,
            Err(NoStart::Ended(error)) => return Err(error),
            Err(NoStart::Impossible(stuck)) => return Ok(finish::impossible(&stuck)),
            Err(NoStart::Stuck(stuck)) => {
                let why = "uses halving alone, which is certain to succeed only if every pod has the same \
                           number of ports on all switches";
                let message = format!("'{}' {why}; in this scenario {}", self.info().name, stuck.words());
                return Err(MethodError::Invalid(Problem::new("method", message, "use 'auto'").into()));
            }
        };
        session.offer(cx, session.task.removed(&found), &found, "scratch")?;
        if self.renamed {
            cx.phase("rename", "renumber the switches for the fewest removals");
            let renamed = relabel(&session.task, &found, cx)?;
            session.offer(cx, session.task.removed(&renamed), &renamed, "relabel")?;
        }
        Ok(Outcome::done(Status::Heuristic))
    }
}
