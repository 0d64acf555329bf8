//! `ring`, `shortest-path` and `single-tree`: completion times of schedules with fixed paths.

use super::session::EpochSession;
use crate::Collective;
use crate::scenario::CollectiveScenario;
use crate::search::baselines::{FixedWays, by_fixed_ways};
use lightbay_core::checked::Violation;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// A method that schedules chunks along fixed paths.
pub(super) struct FixedWaysMethod {
    /// Rule that fixes the paths.
    pub(super) ways: FixedWays,
}

impl Method<Collective> for FixedWaysMethod {
    fn info(&self) -> MethodInfo {
        let (name, help) = match self.ways {
            FixedWays::Ring => (
                "ring",
                "Baseline: every chunk travels around one ring of nearest \
                 neighbours.",
            ),
            FixedWays::ShortestPaths => (
                "shortest-path",
                "Baseline: the source sends to every destination on the shortest path, without copies on the way.",
            ),
            FixedWays::SingleTree => (
                "single-tree",
                "Baseline: every chunk spreads along the shortest-path tree of the first GPU.",
            ),
        };
        MethodInfo { name, help, proves: false, hot_start: false, params: Vec::new() }
    }

    fn idle(&self, _scenario: &CollectiveScenario, _params: &Params) -> Vec<Problem> {
        let why = "for a baseline, which makes a single plan";
        without_effect(["gap"], why, "omit it, or use a method that proves bounds, such as auto").collect()
    }

    fn solve(
        &self,
        scenario: &Scenario<Collective>,
        _params: &Params,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Outcome, MethodError> {
        let scenario = Arc::new(scenario.body.clone());
        let mut session = EpochSession::open(&scenario, None, cx)?;
        if self.ways == FixedWays::ShortestPaths {
            let tasks = Arc::unwrap_or_clone(session.tasks);
            session.tasks = Arc::new(tasks.one_by_one());
        }
        cx.phase(self.info().name, "paths that are fixed before anything is sent");
        let mut schedules = Vec::new();
        for task in &session.tasks.tasks {
            schedules.push(by_fixed_ways::<_, ()>(task, self.ways, cx)?.ok_or_else(late)?);
        }
        match session.offer(schedules, self.info().name, &mut cx.here()) {
            // Paths are fixed without regard to times, so chunks may meet at a switch in a way that no schedule allows.
            Err(MethodError::Rejected(found)) => Err(unsuited(self.info().name, &found)),
            offered => offered.map(|()| Outcome::done(Status::Heuristic)),
        }
    }
}

/// Returns the error for fixed paths whose schedule the checker rejects.
fn unsuited(name: &str, found: &[Violation]) -> MethodError {
    let why = found.first().map_or_else(String::new, |violation| format!(": {}", violation.message));
    let message = format!("has paths on which {name} cannot send{why}");
    MethodError::Invalid(
        Problem::new("topology", message, "solve with auto, which chooses other paths").into(),
    )
}

/// Returns the error for fixed paths over links that are down when chunks need these links.
fn late() -> MethodError {
    let message = "makes a link unavailable when the fixed paths need it";
    let remedy = "lengthen it, or solve with auto, which chooses other paths";
    MethodError::Invalid(Problem::new("topology.links.up_us", message, remedy).into())
}
