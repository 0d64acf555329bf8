//! `auto` (docs/methods/crossconnect.md, section 9): quick starts, annealing, bounds by the relaxation and by the
//! root node of the exact model, large neighbourhoods and the exact model, ordered by gain per time. Once a bound
//! equals the objective of the best plan, `auto` skips the remaining steps.

use super::anneal::{anneal, relax};
use super::first::start;
use super::proof::prove;
use super::session::{FirstPlan, TaskSession, best_bound, outcome};
use super::{idle, knobs, lns};
use crate::Crossconnect;
use crate::scenario::CrossconnectScenario;
use crate::search::decimate::{self, DecimationSettings};
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Limit;
use lightbay_core::problem::Problem;
use lightbay_core::random::Streams;
use lightbay_core::scenario::Scenario;
use rand::Rng;
use std::sync::Arc;

/// The method `auto`.
pub(super) struct Auto;

/// Number of annealing rounds before bounds are computed, for a scenario whose exact model can be solved. If a bound
/// proves that the plan of these rounds is optimal, the remaining rounds are skipped.
const FIRST_ROUNDS: u32 = 3;

/// Maximum number of target circuits for which the relaxation takes less time than the rounds that it may save.
const SMALL: u64 = 300;

/// Number of nodes of the first proof: the root node alone.
const ROOT: usize = 1;

/// Number of the random stream of large neighbourhoods.
const STREAM: u64 = 41;
/// Number of the random stream of decimation.
const DECIMATION_STREAM: u64 = 51;

/// Decimates and replaces the solution with the best solution found; proves a bound by prices after the first round,
/// whose plan is far better than the start.
fn decimate(
    session: &Arc<TaskSession>,
    best: &mut FirstPlan,
    settings: DecimationSettings,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<(), MethodError> {
    let streams = Streams::new(cx.stream(DECIMATION_STREAM).next_u64());
    for (first, rounds) in [(0, 1), (1, u64::MAX)] {
        let bound = best_bound(cx);
        if best.removed > bound && settings.patience > 0 {
            cx.phase("decimate", format!("weights of all circuits; removals at the start: {}", best.removed));
            let settings = DecimationSettings { first, rounds, ..settings };
            best.plan = decimate::search(
                &session.task,
                &best.plan,
                bound,
                settings,
                streams,
                cx,
                &mut |cx, removed, plan| session.offer(cx, removed, plan, "decimation"),
            )?;
            best.removed = session.task.removed(&best.plan);
        }
        if first == 0 {
            session.prove_by_prices(best, cx)?;
        }
    }
    Ok(())
}

impl Method<Crossconnect> for Auto {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::decimation()];
        params.extend(knobs::anneal(6));
        params.extend(knobs::free());
        params.extend(knobs::proof());
        params.extend(lightbay_highs::solve::knobs());
        MethodInfo {
            name: "auto",
            help: "Runs halving and repair, then decimation, annealing and large-neighbourhood search; proves bounds in between, and \
                 solves the exact model last if there are at most exact_circuits target circuits (its root node first).",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn idle(&self, scenario: &CrossconnectScenario, params: &Params) -> Vec<Problem> {
        let mut idle = idle::annealing(scenario, params);
        idle.extend(idle::decimation(scenario));
        idle.extend(idle::freeing(params));
        idle
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        let session = TaskSession::open(scenario, cx);
        let Some(mut best) = start(&session, true, cx)? else {
            cx.note(Severity::Info, "the searches have no first plan; the exact model is solved instead");
            return prove(&session, None, None, params, None, cx);
        };
        let settled = |best: &FirstPlan, cx: &Context<'_, Crossconnect>| best.removed <= best_bound(cx);
        let exactly = session.circuits() <= params.count("exact_circuits") as u64;
        if !session.task.single_sided {
            decimate(&session, &mut best, knobs::decimation_settings(params), cx)?;
        }
        if !session.task.single_sided && !settled(&best, cx) {
            let all = knobs::anneal_settings(params, true);
            let is_small = session.circuits() <= SMALL;
            let first = if is_small || exactly { all.rounds.min(FIRST_ROUNDS) } else { all.rounds };
            anneal(&session, &mut best, &crate::search::anneal::AnnealSettings { rounds: first, ..all }, cx)?;
            relax(&session, &best, cx)?;
            // The cuts of the root node raise the bound within seconds; the searches may take the whole time limit.
            if exactly && !is_small && !settled(&best, cx) {
                prove(&session, Some(&best), None, params, Some(ROOT), cx)?;
            }
            if !settled(&best, cx) {
                anneal(&session, &mut best, &crate::search::anneal::AnnealSettings { first, ..all }, cx)?;
            }
        }
        if !settled(&best, cx) {
            lns::free(&session, &mut best, knobs::free_settings(params), STREAM, cx)?;
        }
        if exactly && !settled(&best, cx) {
            return prove(&session, Some(&best), None, params, Some(params.count("exact_nodes")), cx);
        }
        Ok(outcome(cx, Limit::Work))
    }
}
