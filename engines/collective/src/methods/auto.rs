//! `auto`: computes bounds and constructs schedules for several epoch lengths and keeps the schedule that completes
//! first; if that schedule is not proven optimal, `auto` solves LP and MILP models (docs/methods/collective-search.md,
//! sections 6 and 10; docs/methods/collective-trees.md, section 11).

use super::asking::{Asking, ask_all, options, seed};
use super::construct::limits;
use super::lp::{self, FluidBest, ask_fluid_below};
use super::ranges;
use super::session::{EpochSession, restarts};
use super::trees::{self, ScenarioTrees};
use crate::Collective;
use crate::compose::figure;
use crate::floors::growing::search::GrowingSearch;
use crate::floors::proof::floors_of;
use crate::model::epochs::epoch_us;
use crate::model::schedule::EpochSchedule;
use crate::model::task::CollectiveTasks;
use crate::plan::{FloorClaim, floor_covers};
use crate::programs::questions::QuestionLimits;
use crate::scenario::network::LinkNetwork;
use crate::scenario::{CollectiveScenario, CollectiveSort, EpochRule, TimeRule};
use crate::search::construct::ConstructLimits;
use crate::trees::library::TreeEffort;
use kept_schedule::KeptSchedule;
use lightbay_core::checked::same;
use lightbay_core::context::{Apart, Context};
use lightbay_core::event::Severity;
use lightbay_core::kind::Candidate;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

mod kept_schedule;

/// The method `auto`.
pub(super) struct AutoMethod;

/// Default number of restarts per epoch length: fewer than in `construct`, because `auto` tries several epoch lengths.
const RESTARTS: i64 = 24;
/// Default time limit for LP and MILP models, s: `auto` should answer within seconds; `teccl-milp` and `teccl-lp` may
/// take longer.
const PROGRAMS_S: f64 = 5.0;
/// Number of columns, with all chunks in all epochs, above which a model would not be solved within seconds.
const MOST_COLUMNS: u64 = 400_000;
/// Maximum number of deliveries that are placed chunk by chunk if spanning trees are possible. Placing more deliveries
/// takes minutes, and files with their transmissions would be too large to be read again.
const MOST_WHOLE: usize = 100_000;
/// Divisors of the shortest default epoch length, for networks with time-varying links: a link that comes up within an
/// epoch wastes the rest of the epoch, and each step divides that waste by 4.
const FINER: [f64; 3] = [4.0, 16.0, 64.0];
/// Multiple of the floor above which the bounds of whole chunks must lie so that trees are asked first: whole chunks then
/// leave room for trees, and near the floor they are quicker to find.
const EARLY: f64 = 1.02;
/// Relative difference below which two epoch lengths count as equal.
const SAME: f64 = 1e-9;

/// Returns the epoch lengths to try, µs: the epoch length of the scenario and, with `others` and unless the scenario
/// sets its epochs, the times for which one chunk occupies the slowest link and the fastest link, and the geometric
/// mean of both times.
pub(super) fn epochs(scenario: &CollectiveScenario, others: bool) -> Result<Vec<f64>, MethodError> {
    let network = LinkNetwork::in_order(scenario)?;
    let chunk_bytes = scenario.demand.chunk_size(&scenario.topology);
    let of = |time: &TimeRule| epoch_us(time, &network, chunk_bytes).0;
    let ruled = |epoch| of(&TimeRule { epoch, epoch_us: None, epoch_multiplier: 1.0, ..scenario.time });
    let mut epochs = vec![of(&scenario.time)];
    // Epochs that the scenario sets are binding. Otherwise several epoch lengths are tried, because each is the best
    // for some networks.
    if others && !scenario.time.is_chosen() {
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
        let pieces = "If true, also tries chunks in several pieces and spanning trees, and keeps the \
             schedule that completes first.";
        let programs =
            "Time limit for the LP and MILP models that improve the constructed schedule; 0 skips them.";
        MethodInfo {
            name: "auto",
            help: "Constructs schedules for several epoch lengths, with whole chunks and with chunks split into pieces, and \
                   schedules along spanning trees, and keeps the one that completes first. If the schedule of whole chunks \
                   exceeds its bound, LP or MILP models search for a better one for at most programs_s seconds. If the \
                   scenario sets epoch, epoch_multiplier or \
                   alpha_threshold (other than 0), only schedules in these epochs are constructed.",
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
        // If chunks are split into pieces, the epoch rule gives shorter epochs; fixed epochs cannot become shorter.
        let fixed = (scenario.time.epoch == EpochRule::Fixed).then_some("pieces");
        let names = scenario.time.is_chosen().then_some("other_epochs").into_iter().chain(fixed);
        let remedy = "omit it, or leave epoch, epoch_multiplier and alpha_threshold at their defaults";
        without_effect(names, "with epochs that the scenario sets", remedy).collect()
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
        raise_floor(&scenario, cx)?;
        if !scenario.demand.sizes_bytes.is_empty() {
            ranges::plan_ranges(&scenario, limits, cx)?;
        }
        Ok(outcome)
    }
}

/// A larger floor is sought if the time without epochs exceeds the floor by more than this fraction.
const FAR: f64 = 0.05;

/// Seeks a larger floor with latencies for the best plan, and adds it to the plan.
fn raise_floor(scenario: &CollectiveScenario, cx: &mut Context<'_, Collective>) -> Result<(), MethodError> {
    let (Some(best), Some((_, secondary))) = (cx.best_plan()?, cx.best()) else { return Ok(()) };
    let plan = best.plan();
    let claims = &plan.result.claims;
    let Some(floor) = &claims.floor else { return Ok(()) };
    // Trees in compact form have no replay; their finish omits no latency.
    let reached_us = claims.replay_us.unwrap_or(claims.finish_us);
    let from = &floor.with_latency;
    if from.floor_us <= 0.0 || reached_us <= from.floor_us * (1.0 + FAR) {
        return Ok(());
    }
    let tasks = CollectiveTasks::in_pieces(scenario, None, 1, 0.0)?;
    let Some(mut search) = GrowingSearch::of(scenario, &tasks, from.floor_us) else { return Ok(()) };
    cx.phase("floor", "growing cuts");
    let Some(found) = search.raise(from, trees::shard_bytes(scenario), reached_us, cx)? else {
        return Ok(());
    };
    let threshold = plan.result.time.alpha_threshold;
    let raised = FloorClaim::of(floor.without_latency.clone(), found, claims.finish_us, threshold);
    let mut candidate =
        Candidate { value: plan.objective.value, metrics: plan.metrics.clone(), result: plan.result.clone() };
    let figures = [
        (figure::FLOOR, raised.under_finish(threshold).floor_us),
        (figure::LATENCY_FLOOR, raised.with_latency.floor_us),
        (figure::FLOOR_GAP, raised.gap_to_floor),
    ];
    for (name, value) in figures {
        if let Some(known) = candidate.metrics.get_mut(name) {
            *known = value;
        }
    }
    candidate.result.claims.floor = Some(raised);
    cx.supersede(candidate.value, secondary, "growing cuts", move || candidate)?;
    Ok(())
}

/// Plans the collective for the buffer size that the scenario sets, and returns the outcome of the run.
fn one_size(
    scenario: &Arc<CollectiveScenario>,
    limits: ConstructLimits,
    params: &Params,
    cx: &mut Context<'_, Collective>,
) -> Result<Outcome, MethodError> {
    let pieces = params.bool("pieces");
    // Uses exact latencies, because the comparison of buffer sizes depends on them.
    let exact = CollectiveTasks::in_pieces(scenario, None, 1, 0.0)?;
    if scenario.time.is_chosen() {
        let text = "the scenario sets its epochs, so other epoch lengths and trees with separate epochs are not \
             tried";
        cx.note(Severity::Info, text.to_owned());
    } else if pieces && trees::suits(scenario).is_ok() {
        // With more than MOST_WHOLE deliveries, placing chunk by chunk would take minutes, and a file with all
        // transmissions would be too large to be read again.
        if exact.deliveries() > MOST_WHOLE
            && let Some(kept) = along_trees(scenario, &exact, f64::INFINITY, cx)?
        {
            return kept.conclude(cx);
        }
    }
    let bounded = in_usual_epochs(scenario, params.bool("other_epochs"), cx)?;
    let early = if pieces { early_trees(scenario, &exact, &bounded, cx)? } else { None };
    let known_us = early.as_ref().map_or(f64::INFINITY, KeptSchedule::finish_us);
    let made = match whole(scenario, bounded, known_us, limits, params, cx) {
        // Pieces may fit into intervals of links that are too short for a whole chunk.
        Err(MethodError::Failed(why)) if pieces => {
            let kept = more_pieces(scenario, &exact, early, f64::INFINITY, cx)?;
            return kept.map_or(Err(MethodError::Failed(why)), |kept| kept.conclude(cx));
        }
        made => made?,
    };
    let Some((session, schedules)) = made else {
        // No schedule of whole chunks can end before the trees.
        let kept = more_pieces(scenario, &exact, early, f64::INFINITY, cx)?;
        return kept.map_or(Err(super::session::never(None)), |kept| kept.conclude(cx));
    };
    let finish = session.epochs_of(&schedules);
    let whole_us = f64::from(finish) * session.tasks.epoch_us;
    // The search starts from whole chunks; their plan is kept with its own bound, which does not hold for plans in
    // pieces.
    let mut kept = KeptSchedule::Whole { session: session.clone(), finish, proven: session.bound_epochs() };
    if pieces && let Some(better) = more_pieces(scenario, &exact, early, whole_us, cx)? {
        kept = better;
    }
    let best_us = kept.finish_us();
    let bound_us = session.bound_us();
    let seconds = params.float("programs_s").unwrap_or(0.0);
    // Solves models only if the bound is below the completion times of all known schedules.
    if finish > session.bound_epochs() && bound_us < best_us * (1.0 - SAME) && seconds > 0.0 {
        // Trees are reported before the models are solved, so that a stop loses nothing.
        if let KeptSchedule::Trees { candidate, .. } = &kept {
            trees::offer(candidate.clone(), "trees", cx)?;
        }
        let found = improve(&session, schedules, best_us, seconds, params, cx);
        let is_better = cx.best().is_some_and(|(value, _)| value < best_us * (1.0 - SAME));
        match found {
            Ok(found)
                if is_better
                    || matches!(
                        // Each plan of whole chunks gets the bound that the models improved.
                        (&kept, &found),
                        (KeptSchedule::Whole { .. }, KeptSchedule::Whole { .. })
                    ) =>
            {
                kept = found;
            }
            Ok(_) => {}
            Err(error) => {
                // Reports the bound now, so that the plan has a bound even if the run ends here.
                if is_better {
                    session.state_bound(cx);
                } else {
                    kept.conclude(cx)?;
                }
                return Err(error);
            }
        }
    }
    if let KeptSchedule::Whole { finish, .. } = &kept
        && let Some(outcome) = at_floor(scenario, &session, *finish, cx)
    {
        return Ok(outcome);
    }
    kept.conclude(cx)
}

/// Tasks of a scenario with a schedule for each task.
type Constructed = (EpochSession, Vec<EpochSchedule>);

/// Returns the tasks in epochs of one length, with their bounds. The inner error says why no schedule exists in these
/// epochs; a schedule may exist for another epoch length.
fn bounded(
    scenario: &Arc<CollectiveScenario>,
    epoch_us: Option<f64>,
    pieces: u32,
    apart: &mut Apart<'_, '_, Collective>,
) -> Result<Result<EpochSession, MethodError>, MethodError> {
    let session =
        EpochSession::in_pieces(scenario, epoch_us, pieces, apart).and_then(|session| session.bounded(apart));
    with_refusal(session)
}

/// Constructs a schedule for each task, unless the bound shows that none ends before `known_us`. The inner error says
/// why no schedule exists in these epochs.
fn constructed(
    session: EpochSession,
    known_us: f64,
    limits: ConstructLimits,
    apart: &mut Apart<'_, '_, Collective>,
) -> Result<Result<Option<Constructed>, MethodError>, MethodError> {
    if session.bound_us() >= known_us * (1.0 - SAME) {
        return Ok(Ok(None));
    }
    with_refusal(session.construct(limits, apart).map(|schedules| Some((session, schedules))))
}

/// Separates the refusal of one epoch length from errors that end the run.
fn with_refusal<T>(made: Result<T, MethodError>) -> Result<Result<T, MethodError>, MethodError> {
    match made {
        Err(why @ (MethodError::Invalid(_) | MethodError::Failed(_))) => Ok(Err(why)),
        made => made.map(Ok),
    }
}

/// Returns the tasks of whole chunks for every epoch length to try, or the refusals.
fn in_usual_epochs(
    scenario: &Arc<CollectiveScenario>,
    others: bool,
    cx: &mut Context<'_, Collective>,
) -> Result<Vec<Result<EpochSession, MethodError>>, MethodError> {
    cx.spread(epochs(scenario, others)?, |length_us, apart| bounded(scenario, Some(length_us), 1, apart))
}

/// Returns trees before schedules of whole chunks are sought, if no schedule of whole chunks can meet the floor. The
/// trees then show which epoch lengths are worth a search. A first schedule of whole chunks is reported before.
fn early_trees(
    scenario: &CollectiveScenario,
    exact: &CollectiveTasks,
    sessions: &[Result<EpochSession, MethodError>],
    cx: &mut Context<'_, Collective>,
) -> Result<Option<KeptSchedule>, MethodError> {
    let Some(floors) = floors_of(scenario, exact) else { return Ok(None) };
    let floor_us = floors.with_latency.floor_us;
    let bounds = || sessions.iter().flatten().map(EpochSession::bound_us);
    if bounds().next().is_none() || bounds().any(|bound_us| bound_us <= floor_us * EARLY) {
        return Ok(None);
    }
    if !may_use_trees(scenario, exact) {
        return Ok(None);
    }
    if let Some(first) = sessions.iter().flatten().next() {
        let limits = ConstructLimits { restarts: 0, seed: 0 };
        constructed(first.clone(), f64::INFINITY, limits, &mut cx.here())?.ok();
    }
    let found = along_trees(scenario, exact, f64::INFINITY, cx)?;
    // Reported now, so that a stop loses nothing.
    if let Some(KeptSchedule::Trees { candidate, .. }) = &found {
        trees::offer(candidate.clone(), "trees", cx)?;
    }
    Ok(found)
}

/// Returns `true` if the methods may schedule along trees, which have epochs of their own and ignore buffer limits.
fn may_use_trees(scenario: &CollectiveScenario, exact: &CollectiveTasks) -> bool {
    !scenario.time.is_chosen()
        && trees::suits(scenario).is_ok()
        && (holds_nothing(scenario) || !buffers_bind(scenario, exact))
}

/// Returns the best schedule of whole chunks over several epoch lengths; `None` if none can end before `known_us`.
fn whole(
    scenario: &Arc<CollectiveScenario>,
    sessions: Vec<Result<EpochSession, MethodError>>,
    known_us: f64,
    limits: ConstructLimits,
    params: &Params,
    cx: &mut Context<'_, Collective>,
) -> Result<Option<Constructed>, MethodError> {
    let mut best: Option<((f64, usize), Constructed)> = None;
    let mut refused = None;
    let mut take = |made: Result<Option<Constructed>, MethodError>| {
        let (session, schedules) = match made {
            Ok(Some(made)) => made,
            Ok(None) => return true,
            // Reports the refusal for the scenario's own epochs.
            Err(why) => {
                refused.get_or_insert(why);
                return false;
            }
        };
        // Schedules with different epoch lengths are compared in microseconds.
        let finish_us = f64::from(session.epochs_of(&schedules)) * session.tasks.epoch_us;
        // Of schedules that end at the same time, the plan is the schedule with fewer sends.
        let sends = schedules.iter().map(|schedule| schedule.starts.len()).sum();
        let earlier = |&((known_us, known), _): &((f64, usize), _)| {
            finish_us < known_us * (1.0 - SAME) || (finish_us <= known_us * (1.0 + SAME) && sends < known)
        };
        if best.as_ref().is_none_or(earlier) {
            best = Some(((finish_us, sends), (session, schedules)));
        }
        true
    };
    let all = cx.spread(sessions, |session, apart| match session {
        Ok(session) => constructed(session, known_us, limits, apart),
        Err(why) => Ok(Err(why)),
    })?;
    let mut is_made = false;
    for made in all {
        is_made |= take(made);
    }
    // The times at which links are up may not fit the default epochs, but may fit shorter epochs.
    let timed = scenario.topology.links.iter().any(|link| !link.up_us.is_empty());
    if params.bool("other_epochs") && timed && !scenario.time.is_chosen() {
        let shortest_us = epochs(scenario, true)?.into_iter().fold(f64::INFINITY, f64::min);
        for length_us in FINER.map(|parts| shortest_us / parts) {
            if is_made {
                break;
            }
            let made = match bounded(scenario, Some(length_us), 1, &mut cx.here())? {
                Ok(session) => constructed(session, known_us, limits, &mut cx.here())?,
                Err(why) => Err(why),
            };
            is_made = take(made);
        }
    }
    match best {
        None if !is_made => Err(refused.unwrap_or_else(|| super::session::never(None))),
        best => Ok(best.map(|(_, made)| made)),
    }
}

/// Reports the floor as bound and returns the outcome of the run, if the schedule of whole chunks meets its floor;
/// otherwise returns `None`.
fn at_floor(
    scenario: &CollectiveScenario,
    session: &EpochSession,
    finish: u32,
    cx: &mut Context<'_, Collective>,
) -> Option<Outcome> {
    let finish_us = f64::from(finish) * session.tasks.epoch_us;
    let threshold = scenario.time.alpha_threshold;
    let floors = floors_of(scenario, &session.tasks)?;
    // The floor that applies to the finish: epochs may omit latencies.
    let floor = if threshold == 0.0 { &floors.with_latency } else { &floors.without_latency };
    same(finish_us, floor.floor_us).then(|| {
        cx.bound_over(floor.floor_us.min(finish_us), floor_covers(threshold));
        Outcome::done(Status::Optimal)
    })
}

/// Numbers of pieces per chunk for which schedules are constructed: each doubling halves the time until a piece can be
/// forwarded. Schedules with more pieces come from spanning trees.
pub(super) const PIECES: [u32; 3] = [2, 4, 8];
/// Maximum number of deliveries of pieces for which schedules are constructed: a construction places each delivery
/// separately, for every order and number of pieces.
pub(super) const MOST_DELIVERIES: usize = 10_000;

/// Returns the best schedule with more than one piece per chunk: constructed schedules, and trees, which may be known
/// already. `None` if no such schedule ends before `known_us`, the completion time of another schedule.
fn more_pieces(
    scenario: &Arc<CollectiveScenario>,
    exact: &CollectiveTasks,
    early: Option<KeptSchedule>,
    known_us: f64,
    cx: &mut Context<'_, Collective>,
) -> Result<Option<KeptSchedule>, MethodError> {
    if known_us <= 0.0 {
        return Ok(None);
    }
    let Some(floors) = floors_of(scenario, exact) else { return Ok(early) };
    // A schedule that meets the floor cannot be improved.
    if early.is_none() && known_us <= floors.without_latency.floor_us * (1.0 + SAME) {
        return Ok(None);
    }
    let has_trees = early.is_some();
    let mut best = early.filter(|early| early.finish_us() < known_us * (1.0 - SAME));
    let mut best_us = best.as_ref().map_or(known_us, KeptSchedule::finish_us);
    let within = |pieces: &u32| exact.deliveries().saturating_mul(*pieces as usize) <= MOST_DELIVERIES;
    if scenario.time.epoch != EpochRule::Fixed {
        // No restarts: the fixed orders show whether pieces help.
        let limits = ConstructLimits { restarts: 0, seed: 0 };
        let all = cx.spread(PIECES.into_iter().filter(within).collect(), |pieces, apart| {
            match bounded(scenario, None, pieces, apart)? {
                Ok(session) => constructed(session, best_us, limits, apart),
                Err(why) => Ok(Err(why)),
            }
        })?;
        for (session, schedules) in all.into_iter().flatten().flatten() {
            let finish_us = f64::from(session.epochs_of(&schedules)) * session.tasks.epoch_us;
            if finish_us < best_us * (1.0 - SAME) {
                (best, best_us) = (Some(KeptSchedule::Pieces { session, finish_us }), finish_us);
            }
        }
    }
    if !has_trees
        && may_use_trees(scenario, exact)
        && best_us > floors.without_latency.floor_us * (1.0 + SAME)
        && let Some(kept) = along_trees(scenario, exact, best_us, cx)?
    {
        return Ok(Some(kept));
    }
    Ok(best)
}

/// Returns `true` if no GPU ever holds a chunk only for other GPUs, because every GPU needs all chunks.
fn holds_nothing(scenario: &CollectiveScenario) -> bool {
    let demand = &scenario.demand;
    let spreads = matches!(
        demand.collective,
        CollectiveSort::AllGather
            | CollectiveSort::Broadcast
            | CollectiveSort::ReduceScatter
            | CollectiveSort::AllReduce
    );
    spreads && demand.rank_nodes(&scenario.topology).len() == scenario.topology.gpus().count()
}

/// Returns `true` if the buffers cannot hold all chunks together.
fn buffers_bind(scenario: &CollectiveScenario, tasks: &CollectiveTasks) -> bool {
    let chunks = tasks.tasks.iter().map(|task| task.chunks.len()).max().unwrap_or(0);
    scenario.buffer_limit_chunks.is_some_and(|limit| (limit as usize) < chunks)
}

/// Returns the best schedule along trees if it ends before `known_us`: with a list of sends if it has few sends, else
/// in compact form. [`KeptSchedule::conclude`] reports the schedule and its bound.
fn along_trees(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    known_us: f64,
    cx: &mut Context<'_, Collective>,
) -> Result<Option<KeptSchedule>, MethodError> {
    let trees = ScenarioTrees::of(scenario, tasks);
    cx.phase("trees", "shares of spanning trees, and numbers of pieces");
    let parts = trees.parts(&mut cx.here());
    let floors = floors_of(scenario, tasks);
    let floor_us = floors.map_or(0.0, |floors| floors.with_latency.floor_us);
    // The pieces must form whole chunks.
    let effort = TreeEffort { multiple: scenario.demand.chunks_per_rank, ..TreeEffort::default() };
    let most_sends = trees::MOST_SENDS.unsigned_abs();
    let first = trees::offer_first((scenario, floors), &parts, known_us, &effort, most_sends, cx)?;
    let Some(plan) = parts.plan(trees::shard_bytes(scenario), floor_us, &effort, cx)? else {
        return Ok(None);
    };
    if first.is_none() && plan.finish_us >= known_us * (1.0 - SAME) {
        return Ok(None);
    }
    let made = trees::schedule(scenario, &parts, &plan, most_sends)?;
    let candidate = trees::better(first, made.candidate(scenario, floors)?);
    Ok(Some(KeptSchedule::Trees { candidate, floor_us }))
}

/// Solves models for a schedule that ends before `best_us`: LP models if nothing is copied, otherwise MILP models.
/// Returns the best schedule with its proven bound. Reports a bound only if no known schedule ends before the given
/// `schedules`, because the bound holds only for the epoch length of the session.
fn improve(
    session: &EpochSession,
    schedules: Vec<EpochSchedule>,
    best_us: f64,
    seconds: f64,
    params: &Params,
    cx: &mut Context<'_, Collective>,
) -> Result<KeptSchedule, MethodError> {
    // A feasibility problem gets at most half of the time, so that one problem cannot use all of it.
    let limits = QuestionLimits {
        seconds: seconds / 2.0,
        until_s: cx.elapsed_s() + seconds,
        options: options(params, &[], seed(cx)),
        buffer_limit: session.scenario.buffer_limit_chunks,
    };
    let epoch_us = session.tasks.epoch_us;
    let finish = session.epochs_of(&schedules);
    // The smallest number of epochs that is not shorter than the best known schedule.
    let top = ((best_us / epoch_us * (1.0 - SAME)).ceil() as u32).min(finish);
    // A proof for this epoch length may be reported only if the best known plan does not end before the schedule in
    // these epochs.
    let states = best_us >= f64::from(finish) * epoch_us * (1.0 - SAME);
    let asking = Asking { limits, params, only: None, fold: true, most_columns: MOST_COLUMNS, states };
    // Without copies, the LP model is smaller and decides the problem.
    if lp::suits(&session.scenario, session).is_ok() {
        let mut kept = FluidBest { finish_us: f64::from(top) * epoch_us, finish: top, proven: 0, epoch_us };
        ask_fluid_below(session, &asking, &mut kept, cx)?;
        return Ok(if kept.finish < top {
            KeptSchedule::Parts(kept)
        } else {
            KeptSchedule::Whole { session: session.clone(), finish, proven: session.bound_epochs() }
        });
    }
    if states {
        session.state_bound(cx);
    }
    let tops: Vec<u32> = match schedules.as_slice() {
        // Both halves of an AllReduce: each must complete before its own known finish.
        [_] => vec![top],
        all => all.iter().map(|schedule| schedule.finish).collect(),
    };
    let all = ask_all(session, schedules, &tops, &asking, cx)?;
    let finish = session.epochs_of(&all.schedules);
    Ok(KeptSchedule::Whole { session: session.clone(), finish, proven: all.proven })
}
