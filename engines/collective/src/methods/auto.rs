//! `auto`: bound and construction in several lengths of epochs, of which the best in microseconds is kept; where that
//! is not proven to be the best, programs are asked.

use super::asking::{Asking, ask_all, options, seed};
use super::construct::limits;
use super::lp::{self, FluidBest, ask_fluid_below};
use super::ranges;
use super::session::{EpochSession, end, restarts};
use super::trees::{self, ScenarioTrees};
use crate::Collective;
use crate::floors::proof::floors_of;
use crate::model::epochs::epoch_us;
use crate::model::schedule::EpochSchedule;
use crate::model::task::CollectiveTasks;
use crate::plan::floor_covers;
use crate::programs::questions::QuestionLimits;
use crate::scenario::network::LinkNetwork;
use crate::scenario::{CollectiveScenario, EpochRule, TimeRule};
use crate::search::construct::ConstructLimits;
use lightbay_core::checked::same;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// Bound and construction in several lengths of epochs.
pub(super) struct AutoMethod;

/// Usual number of restarts for each length.
const RESTARTS: i64 = 24;
/// Usual seconds for programs.
const PROGRAMS_S: f64 = 5.0;
/// Columns, with all chunks in all epochs, above which a program would not be solved in some seconds.
const MOST_COLUMNS: u64 = 400_000;
/// Relative difference below which two epochs are the same.
const SAME: f64 = 1e-9;

/// Lengths of epochs to try, µs: that of the scenario, and those that the slowest link, the fastest link and their
/// geometric mean give.
pub(super) fn epochs(scenario: &CollectiveScenario, others: bool) -> Result<Vec<f64>, MethodError> {
    let network = LinkNetwork::in_order(scenario)?;
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

impl Method<Collective> for AutoMethod {
    fn info(&self) -> MethodInfo {
        let other = "If true, also tries the epoch lengths of the slowest link, the fastest link and their geometric mean.";
        let pieces = "Tries of chunks in several pieces, and of trees: what ends first is kept.";
        let programs =
            "Time limit for the LP and MILP models that improve the constructed schedule; 0 skips them.";
        MethodInfo {
            name: "auto",
            help: "Constructs schedules for several epoch lengths, for chunks split into pieces and along spanning trees, \
                   and keeps the one that completes first. If it exceeds its bound, LP or MILP models search for a \
                   better one for at most programs_s seconds.",
            proves: true,
            hot_start: false,
            params: vec![
                restarts(RESTARTS),
                ParamInfo::bool("other_epochs", true, other),
                ParamInfo::bool("pieces", true, pieces),
                ParamInfo::float("programs_s", 0.0, 1e6, PROGRAMS_S, programs).unit("s").effect(Effect::Warm),
            ],
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
        let outcome = one_size(&scenario, limits, params, cx)?;
        if !scenario.demand.sizes_bytes.is_empty() {
            ranges::plan_ranges(&scenario, limits, cx)?;
        }
        Ok(outcome)
    }
}

/// Plans the size of the buffer that the scenario is about.
fn one_size(
    scenario: &Arc<CollectiveScenario>,
    limits: ConstructLimits,
    params: &Params,
    cx: &mut Context<'_, Collective>,
) -> Result<Outcome, MethodError> {
    let mut best: Option<((f64, usize), Vec<EpochSchedule>, EpochSession)> = None;
    for length_us in epochs(scenario, params.bool("other_epochs"))? {
        let session = EpochSession::open(scenario, Some(length_us), cx)?.bounded(cx)?;
        let schedules = session.construct(limits, cx)?;
        let finish_us = f64::from(session.epochs_of(&schedules)) * length_us;
        // Of schedules that end at once the one with fewer sends is kept as the plan.
        let sends = schedules.iter().map(|schedule| schedule.starts.len()).sum();
        let earlier = |&((known_us, known), ..): &((f64, usize), _, _)| {
            finish_us < known_us * (1.0 - SAME) || (finish_us <= known_us * (1.0 + SAME) && sends < known)
        };
        if best.as_ref().is_none_or(earlier) {
            best = Some(((finish_us, sends), schedules, session));
        }
    }
    let Some((_, schedules, session)) = best else { return Err(super::session::never()) };
    let seconds = params.float("programs_s").unwrap_or(0.0);
    let finish = session.epochs_of(&schedules);
    if params.bool("pieces") {
        let known_us = f64::from(finish) * session.tasks.epoch_us;
        if let Some(outcome) = more_pieces(scenario, known_us, cx)? {
            return Ok(outcome);
        }
    }
    if finish > session.bound_epochs() && seconds > 0.0 {
        return improve(&session, schedules, seconds, params, cx);
    }
    let finish_us = f64::from(finish) * session.tasks.epoch_us;
    let threshold = scenario.time.alpha_threshold;
    let floor_us = floors_of(scenario, &session.tasks).map(|floors| match threshold {
        0.0 => floors.with_latency.floor_us,
        _ => floors.without_latency.floor_us,
    });
    if let Some(floor_us) = floor_us.filter(|floor_us| same(finish_us, *floor_us)) {
        cx.bound_over(floor_us.min(finish_us), floor_covers(threshold));
        return Ok(Outcome::done(Status::Optimal));
    }
    // A bound is one of epochs of a length, so it is stated for those of the plan that is kept.
    session.state_bound(cx);
    Ok(end(finish, session.bound_epochs()))
}

/// Numbers of pieces of a chunk that are constructed.
pub(super) const PIECES: [u32; 3] = [2, 4, 8];
/// Most deliveries of pieces that are constructed.
pub(super) const MOST_DELIVERIES: usize = 10_000;

/// Schedules of more pieces than one for every chunk: constructed ones, and trees. `None` if none ends earlier than the
/// first of `known_us`; else the bound of the best is stated.
fn more_pieces(
    scenario: &Arc<CollectiveScenario>,
    known_us: f64,
    cx: &mut Context<'_, Collective>,
) -> Result<Option<Outcome>, MethodError> {
    // Buffers are counted in chunks, and none of these schedules keeps to them.
    if scenario.buffer_limit_chunks.is_some() || known_us <= 0.0 {
        return Ok(None);
    }
    let exact = CollectiveTasks::in_pieces(scenario, None, 1, 0.0)?;
    let Some(floors) = floors_of(scenario, &exact) else { return Ok(None) };
    if known_us <= floors.without_latency.floor_us * (1.0 + SAME) {
        return Ok(None);
    }
    let mut best: Option<(f64, EpochSession)> = None;
    let deliveries: usize = exact.tasks.iter().map(|task| task.chunks.deliveries()).sum();
    let within = |pieces: &u32| deliveries.saturating_mul(*pieces as usize) <= MOST_DELIVERIES;
    if scenario.time.epoch != EpochRule::Fixed {
        for pieces in PIECES.into_iter().filter(within) {
            let session = EpochSession::in_pieces(scenario, None, pieces, cx)?.bounded(cx)?;
            let finish = session.epochs_of(&session.construct(ConstructLimits { restarts: 0, seed: 0 }, cx)?);
            let finish_us = f64::from(finish) * session.tasks.epoch_us;
            if finish_us < best.as_ref().map_or(known_us, |(best_us, _)| *best_us) * (1.0 - SAME) {
                best = Some((finish_us, session));
            }
        }
    }
    let piece_us = best.as_ref().map_or(known_us, |(best_us, _)| *best_us);
    if trees::suits(scenario).is_ok()
        && piece_us > floors.without_latency.floor_us * (1.0 + SAME)
        && let Some(outcome) = along_trees(scenario, &exact, piece_us, cx)?
    {
        return Ok(Some(outcome));
    }
    Ok(best.map(|(finish_us, session)| {
        session.state_bound(cx);
        let bound_us = f64::from(session.bound_epochs()) * session.tasks.epoch_us;
        if same(finish_us, bound_us) { end(0, 0) } else { end(1, 0) }
    }))
}

/// Hands over the best schedule along trees, with the floor as its bound, if it ends before `known_us`. Schedules whose
/// sends can be listed are preferred.
fn along_trees(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    known_us: f64,
    cx: &mut Context<'_, Collective>,
) -> Result<Option<Outcome>, MethodError> {
    let trees = ScenarioTrees::of(scenario, tasks);
    cx.phase("trees", "shares of spanning trees, and numbers of pieces");
    let Some(parts) = trees.parts(cx)? else { return Ok(None) };
    let floor_us = floors_of(scenario, tasks).map_or(0.0, |floors| floors.with_latency.floor_us);
    let most_sends = trees::MOST_SENDS.unsigned_abs();
    let effort = trees::effort(scenario, tasks, most_sends);
    let Some(plan) = parts.plan(trees::shard_bytes(scenario), floor_us, &effort, cx)? else {
        return Ok(None);
    };
    if plan.finish_us >= known_us * (1.0 - SAME) {
        return Ok(None);
    }
    let candidate = trees::schedule(scenario, &parts, &plan, most_sends)?.candidate(scenario)?;
    let outcome = trees::stated(candidate.value, floor_us, cx);
    trees::offer(candidate, "trees", cx)?;
    Ok(Some(outcome))
}

/// Asks programs for a schedule that ends earlier: a linear one where nothing is copied, integer ones elsewhere.
fn improve(
    session: &EpochSession,
    schedules: Vec<EpochSchedule>,
    seconds: f64,
    params: &Params,
    cx: &mut Context<'_, Collective>,
) -> Result<Outcome, MethodError> {
    let limits = QuestionLimits {
        seconds: seconds / 2.0,
        until_s: cx.elapsed_s() + seconds,
        options: options(params, &[], seed(cx)),
        buffer_limit: session.scenario.buffer_limit_chunks,
    };
    let asking = Asking { limits, params, only: None, fold: true, most_columns: MOST_COLUMNS };
    let finish = session.epochs_of(&schedules);
    if lp::suits(&session.scenario, session).is_ok() {
        let epoch_us = session.tasks.epoch_us;
        let finish_us = f64::from(finish) * epoch_us;
        let mut kept = FluidBest { finish_us, finish, proven: 0, epoch_us };
        ask_fluid_below(session, &asking, &mut kept, cx)?;
        if kept.finish < finish {
            kept.state_bound(cx);
            return Ok(end(kept.finish, kept.proven));
        }
        session.state_bound(cx);
        return Ok(end(finish, session.bound_epochs()));
    }
    session.state_bound(cx);
    let tops: Vec<u32> = schedules.iter().map(|schedule| schedule.finish).collect();
    let all = ask_all(session, schedules, &tops, &asking, cx)?;
    Ok(end(session.epochs_of(&all.schedules), all.proven))
}
