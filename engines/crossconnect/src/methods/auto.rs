//! `auto`: quick starts, annealing, a bound, large neighbourhoods and the exact model, in the order in which they pay. As
//! soon as a bound meets the best plan, the rest is left out.

use super::anneal::{anneal, relax};
use super::ground::{Ground, Start, best_bound, outcome};
use super::{exact, finish, idle, knobs, lns};
use crate::Crossconnect;
use crate::scenario::CrossconnectScenario;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Limit;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// All methods one after the other.
pub(super) struct Auto;

/// Rounds of annealing before the relaxation of a small scenario.
const FIRST_ROUNDS: u32 = 3;

/// Wanted circuits up to which the relaxation takes less time than the rounds that it may save.
const SMALL: u64 = 300;

/// Number of the random stream of large neighbourhoods.
const STREAM: u64 = 41;

impl Method<Crossconnect> for Auto {
    fn info(&self) -> MethodInfo {
        let mut params = knobs::anneal(6);
        params.extend(knobs::free());
        params.extend(knobs::proof());
        params.extend(lightbay_highs::solve::knobs());
        MethodInfo {
            name: "auto",
            help: "Halving and repair, then annealing and large neighbourhoods, then a proof while time remains.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn idle(&self, scenario: &CrossconnectScenario, params: &Params) -> Vec<Problem> {
        let mut idle = idle::annealing(scenario, params);
        idle.extend(idle::freeing(params));
        idle
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        let ground = Ground::open(scenario, cx);
        let Some(mut best) = start(&ground, true, cx)? else {
            cx.note(Severity::Info, "the exact model decides, with all orientations open");
            return exact::prove(&ground, None, None, params, None, cx);
        };
        let settled = |best: &Start, cx: &Context<'_, Crossconnect>| best.removed <= best_bound(cx);
        let exactly = ground.circuits() <= params.count("exact_circuits") as u64;
        if !ground.task.single_sided {
            let all = knobs::anneal_settings(params, true);
            let first = if ground.circuits() <= SMALL { all.rounds.min(FIRST_ROUNDS) } else { all.rounds };
            anneal(&ground, &mut best, &crate::search::anneal::Settings { rounds: first, ..all }, cx)?;
            relax(&ground, &best, cx)?;
            if !settled(&best, cx) {
                anneal(&ground, &mut best, &crate::search::anneal::Settings { first, ..all }, cx)?;
            }
        }
        if !settled(&best, cx) {
            lns::free(&ground, &mut best, knobs::free_settings(params), STREAM, cx)?;
        }
        if exactly && !settled(&best, cx) {
            return exact::prove(&ground, Some(&best), None, params, Some(params.count("exact_nodes")), cx);
        }
        Ok(outcome(cx, Limit::Work))
    }
}

/// Where a search begins: with the hot start, or the better of halving and repair. None if ports have no sides, or if they
/// differ between switches so much that neither found a solution, which is said.
pub(super) fn start(
    ground: &Arc<Ground>,
    joint: bool,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Option<Start>, MethodError> {
    if let Some(hot) = ground.hot_start(cx)? {
        return Ok(Some(hot));
    }
    if ground.task.single_sided {
        cx.note(Severity::Info, "ports have no sides, so that only the exact model can spread the circuits");
        return Ok(None);
    }
    let Some(oriented) = ground.oriented(cx)? else { return Ok(None) };
    let mut starts = ground.starts(&oriented, cx)?;
    if starts.is_empty() && joint {
        cx.note(
            Severity::Warning,
            "the pods have different ports on different switches, where halving may fail",
        );
        starts.extend(finish::otherwise(ground, cx)?);
    }
    Ok(starts.into_iter().next())
}

/// Why a method that needs a solution to begin with cannot go on.
pub(super) fn no_start(method: &str, ground: &Ground) -> MethodError {
    let why = if ground.task.single_sided {
        "cannot begin with single_sided wiring: no flow finds a first solution"
    } else {
        "found no first solution: the pods have different ports on different switches"
    };
    let remedy = "use lumos-exact or auto, or start from a plan";
    MethodError::Invalid(Problems::from(Problem::new(method, why, remedy)))
}
