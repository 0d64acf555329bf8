//! `auto`: bound and construction in several lengths of epochs, of which the best in microseconds is kept; where that
//! is not proven to be the best, programs are asked (docs/methods/collective.md, sections 6, 10 and 11).

use super::asking::{Asking, ask_all, options, seed, state};
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
use crate::plan::{CollectiveResult, floor_covers};
use crate::programs::questions::QuestionLimits;
use crate::scenario::network::LinkNetwork;
use crate::scenario::{CollectiveScenario, CollectiveSort, EpochRule, TimeRule};
use crate::search::construct::ConstructLimits;
use crate::trees::library::TreeEffort;
use lightbay_core::checked::same;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::kind::Candidate;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// Bound and construction in several lengths of epochs.
pub(super) struct AutoMethod;

/// Default number of restarts per epoch length: fewer than in `construct`, because `auto` tries several epoch lengths.
const RESTARTS: i64 = 24;
/// Default time limit for LP and MILP models, s: `auto` is to answer within seconds; `teccl-milp` and `teccl-lp` take longer.
const PROGRAMS_S: f64 = 5.0;
/// Columns, with all chunks in all epochs, above which a program would not be solved in some seconds.
const MOST_COLUMNS: u64 = 400_000;
/// Maximum number of deliveries that are placed chunk by chunk if spanning trees are possible: more take minutes, and their
/// transmissions fill files that nobody reads back.
const MOST_WHOLE: usize = 100_000;
/// Divisors of the shortest default epoch if links are up at times only: a link that comes up within an epoch wastes the rest
/// of it, and each step divides that waste by 4.
const FINER: [f64; 3] = [4.0, 16.0, 64.0];
/// Relative difference below which two epochs are the same.
const SAME: f64 = 1e-9;

/// Lengths of epochs to try, µs: that of the scenario, and, unless the scenario chooses its epochs, those that the slowest
/// link, the fastest link and their geometric mean give.
pub(super) fn epochs(scenario: &CollectiveScenario, others: bool) -> Result<Vec<f64>, MethodError> {
    let network = LinkNetwork::in_order(scenario)?;
    let chunk_bytes = scenario.demand.chunk_size(&scenario.topology);
    let of = |time: &TimeRule| epoch_us(time, &network, chunk_bytes).0;
    let ruled = |epoch| of(&TimeRule { epoch, epoch_us: None, epoch_multiplier: 1.0, ..scenario.time });
    let mut epochs = vec![of(&scenario.time)];
    // Epochs that the scenario sets are binding. Otherwise each rule is best for another kind of network.
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
            help: "Constructs schedules for several epoch lengths, for chunks split into pieces and along spanning trees, \
                   and keeps the one that completes first. If it exceeds its bound, LP or MILP models search for a \
                   better one for at most programs_s seconds. If the scenario sets epoch, epoch_multiplier or \
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
        // Chunks in pieces take shorter epochs, by the same rule.
        let fixed = (scenario.time.epoch == EpochRule::Fixed).then_some("pieces");
        let names = scenario.time.is_chosen().then_some("other_epochs").into_iter().chain(fixed);
        let remedy = "leave it out, or leave epoch, epoch_multiplier and alpha_threshold at their defaults";
        without_effect(names, "in epochs that the scenario chooses", remedy).collect()
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
    let pieces = params.bool("pieces");
    if scenario.time.is_chosen() {
        let text =
            "the scenario chooses its epochs: other lengths, and trees in epochs of their own, are not tried";
        cx.note(Severity::Info, text.to_owned());
    } else if pieces && trees::suits(scenario).is_ok() {
        // Exact latencies: sizes are compared by them.
        let exact = CollectiveTasks::in_pieces(scenario, None, 1, 0.0)?;
        // Placing chunk by chunk takes minutes, and its transmissions make files too large to read back.
        if exact.deliveries() > MOST_WHOLE
            && let Some(kept) = along_trees(scenario, &exact, f64::INFINITY, cx)?
        {
            return kept.conclude(cx);
        }
    }
    let (session, schedules) = whole(scenario, limits, params, cx)?;
    let finish = session.epochs_of(&schedules);
    let known_us = f64::from(finish) * session.tasks.epoch_us;
    // Whole chunks first: they have a separate bound.
    let mut kept = KeptSchedule::Whole { session: session.clone(), finish, proven: session.bound_epochs() };
    if pieces && let Some(better) = more_pieces(scenario, known_us, cx)? {
        kept = better;
    }
    let best_us = kept.finish_us();
    let bound_us = f64::from(session.bound_epochs()) * session.tasks.epoch_us;
    let seconds = params.float("programs_s").unwrap_or(0.0);
    // Programs only where the bound leaves room below everything known.
    if finish > session.bound_epochs() && bound_us < best_us * (1.0 - SAME) && seconds > 0.0 {
        // Trees are handed over before the programs begin, so that a stop loses nothing.
        if let KeptSchedule::Trees { candidate, .. } = &kept {
            trees::offer(candidate.clone(), "trees", cx)?;
        }
        let found = improve(&session, schedules, best_us, seconds, params, cx);
        let is_better = cx.best().is_some_and(|(value, _)| value < best_us * (1.0 - SAME));
        match found {
            Ok(found)
                if is_better
                    || matches!(
                        // Either plan of whole chunks has the bound that the programs improved.
                        (&kept, &found),
                        (KeptSchedule::Whole { .. }, KeptSchedule::Whole { .. })
                    ) =>
            {
                kept = found;
            }
            Ok(_) => {}
            Err(error) => {
                // The plan that is kept has a bound also where the run ends here.
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

/// Tasks with a schedule of each.
type Constructed = (EpochSession, Vec<EpochSchedule>);

/// Constructs a schedule of each task in epochs of one length. The inner error says why there is none in these epochs;
/// others may have one.
fn constructed(
    scenario: &Arc<CollectiveScenario>,
    epoch_us: Option<f64>,
    pieces: u32,
    limits: ConstructLimits,
    cx: &mut Context<'_, Collective>,
) -> Result<Result<Constructed, MethodError>, MethodError> {
    let made = EpochSession::in_pieces(scenario, epoch_us, pieces, cx)
        .and_then(|session| session.bounded(cx))
        .and_then(|session| {
            let schedules = session.construct(limits, cx)?;
            Ok((session, schedules))
        });
    match made {
        Err(why @ (MethodError::Invalid(_) | MethodError::Failed(_))) => Ok(Err(why)),
        made => made.map(Ok),
    }
}

/// The best schedule of whole chunks in epochs of several lengths.
fn whole(
    scenario: &Arc<CollectiveScenario>,
    limits: ConstructLimits,
    params: &Params,
    cx: &mut Context<'_, Collective>,
) -> Result<Constructed, MethodError> {
    let mut best: Option<((f64, usize), Vec<EpochSchedule>, EpochSession)> = None;
    let mut refused = None;
    let others = params.bool("other_epochs");
    let usual = epochs(scenario, others)?;
    // Links may be up for times that no usual epoch begins and ends in: finer ones may.
    let timed = scenario.topology.links.iter().any(|link| !link.up_us.is_empty());
    let shortest_us = usual.iter().copied().fold(f64::INFINITY, f64::min);
    let finer = FINER.map(|parts| shortest_us / parts);
    let finer = finer.into_iter().filter(|_| others && timed && !scenario.time.is_chosen());
    let lengths = usual.iter().copied().map(|length_us| (length_us, false));
    for (length_us, is_finer) in lengths.chain(finer.map(|length_us| (length_us, true))) {
        if is_finer && best.is_some() {
            break;
        }
        let (session, schedules) = match constructed(scenario, Some(length_us), 1, limits, cx)? {
            Ok(made) => made,
            // The refusal of the scenario's own epochs is the one to report.
            Err(why) => {
                refused.get_or_insert(why);
                continue;
            }
        };
        // Epochs of other lengths are compared in microseconds.
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
    let found = best.map(|(_, schedules, session)| (session, schedules));
    found.ok_or_else(|| refused.unwrap_or_else(|| super::session::never(None)))
}

/// The end of a run whose schedule of whole chunks meets a floor, which is then stated.
fn at_floor(
    scenario: &CollectiveScenario,
    session: &EpochSession,
    finish: u32,
    cx: &mut Context<'_, Collective>,
) -> Option<Outcome> {
    let finish_us = f64::from(finish) * session.tasks.epoch_us;
    let threshold = scenario.time.alpha_threshold;
    let floors = floors_of(scenario, &session.tasks)?;
    // The floor that fits the finish: epochs may leave latencies out.
    let floor = if threshold == 0.0 { &floors.with_latency } else { &floors.without_latency };
    same(finish_us, floor.floor_us).then(|| {
        cx.bound_over(floor.floor_us.min(finish_us), floor_covers(threshold));
        Outcome::done(Status::Optimal)
    })
}

/// Numbers of pieces per chunk that are constructed: each doubling halves the time until a piece can be forwarded. Schedules
/// of more pieces come from spanning trees.
pub(super) const PIECES: [u32; 3] = [2, 4, 8];
/// Maximum number of deliveries of pieces that are constructed: each is placed by itself, for every order and number of pieces.
pub(super) const MOST_DELIVERIES: usize = 10_000;

/// The best schedule of more pieces than one for every chunk: constructed ones, and trees. `None` if none ends earlier
/// than the first of `known_us`.
fn more_pieces(
    scenario: &Arc<CollectiveScenario>,
    known_us: f64,
    cx: &mut Context<'_, Collective>,
) -> Result<Option<KeptSchedule>, MethodError> {
    if known_us <= 0.0 {
        return Ok(None);
    }
    let exact = CollectiveTasks::in_pieces(scenario, None, 1, 0.0)?;
    let Some(floors) = floors_of(scenario, &exact) else { return Ok(None) };
    // At the floor nothing is left to gain.
    if known_us <= floors.without_latency.floor_us * (1.0 + SAME) {
        return Ok(None);
    }
    let mut best: Option<(f64, EpochSession)> = None;
    let within = |pieces: &u32| exact.deliveries().saturating_mul(*pieces as usize) <= MOST_DELIVERIES;
    if scenario.time.epoch != EpochRule::Fixed {
        for pieces in PIECES.into_iter().filter(within) {
            // No restarts: the fixed orders show whether pieces help.
            let limits = ConstructLimits { restarts: 0, seed: 0 };
            let Ok((session, schedules)) = constructed(scenario, None, pieces, limits, cx)? else { continue };
            let finish = session.epochs_of(&schedules);
            let finish_us = f64::from(finish) * session.tasks.epoch_us;
            if finish_us < best.as_ref().map_or(known_us, |(best_us, _)| *best_us) * (1.0 - SAME) {
                best = Some((finish_us, session));
            }
        }
    }
    // Trees have to beat the pieces, too.
    let piece_us = best.as_ref().map_or(known_us, |(best_us, _)| *best_us);
    // Constructions respect buffer limits, trees do not.
    if !scenario.time.is_chosen()
        && trees::suits(scenario).is_ok()
        && (holds_nothing(scenario) || !buffers_bind(scenario, &exact))
        && piece_us > floors.without_latency.floor_us * (1.0 + SAME)
        && let Some(kept) = along_trees(scenario, &exact, piece_us, cx)?
    {
        return Ok(Some(kept));
    }
    Ok(best.map(|(finish_us, session)| KeptSchedule::Pieces { session, finish_us }))
}

/// Returns `true` if no GPU ever holds a chunk for others alone: every GPU wants all of them.
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

/// Returns `true` if the buffers have room for less than all chunks together.
fn buffers_bind(scenario: &CollectiveScenario, tasks: &CollectiveTasks) -> bool {
    let chunks = tasks.tasks.iter().map(|task| task.chunks.len()).max().unwrap_or(0);
    scenario.buffer_limit_chunks.is_some_and(|limit| (limit as usize) < chunks)
}

/// The best schedule along trees if it ends before `known_us`: with its sends where there are few, else in short form.
/// [`KeptSchedule::conclude`] hands it over, with its bound.
fn along_trees(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    known_us: f64,
    cx: &mut Context<'_, Collective>,
) -> Result<Option<KeptSchedule>, MethodError> {
    let trees = ScenarioTrees::of(scenario, tasks);
    cx.phase("trees", "shares of spanning trees, and numbers of pieces");
    let parts = trees.parts(cx);
    let floor_us = floors_of(scenario, tasks).map_or(0.0, |floors| floors.with_latency.floor_us);
    // Pieces have to make up whole chunks.
    let effort = TreeEffort { multiple: scenario.demand.chunks_per_rank, ..TreeEffort::default() };
    let Some(plan) = parts.plan(trees::shard_bytes(scenario), floor_us, &effort, cx)? else {
        return Ok(None);
    };
    if plan.finish_us >= known_us * (1.0 - SAME) {
        return Ok(None);
    }
    let made = trees::schedule(scenario, &parts, &plan, trees::MOST_SENDS.unsigned_abs())?;
    Ok(Some(KeptSchedule::Trees { candidate: made.candidate(scenario)?, floor_us }))
}

/// Asks programs for a schedule that ends before `best_us`: a linear one where nothing is copied, integer ones
/// elsewhere. A bound is stated only where the schedules of the session are the best that are known.
fn improve(
    session: &EpochSession,
    schedules: Vec<EpochSchedule>,
    best_us: f64,
    seconds: f64,
    params: &Params,
    cx: &mut Context<'_, Collective>,
) -> Result<KeptSchedule, MethodError> {
    // Half of the time for each question, so that one cannot take all.
    let limits = QuestionLimits {
        seconds: seconds / 2.0,
        until_s: cx.elapsed_s() + seconds,
        options: options(params, &[], seed(cx)),
        buffer_limit: session.scenario.buffer_limit_chunks,
    };
    let epoch_us = session.tasks.epoch_us;
    let finish = session.epochs_of(&schedules);
    // The first number of epochs that ends no earlier than what is known.
    let top = ((best_us / epoch_us * (1.0 - SAME)).ceil() as u32).min(finish);
    // Only then a proof is about the best plan.
    let states = best_us >= f64::from(finish) * epoch_us * (1.0 - SAME);
    let asking = Asking { limits, params, only: None, fold: true, most_columns: MOST_COLUMNS, states };
    // Without copies the linear program is smaller, and decides.
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
        // Both halves of AllReduce: each has its own finish to beat.
        [_] => vec![top],
        all => all.iter().map(|schedule| schedule.finish).collect(),
    };
    let all = ask_all(session, schedules, &tops, &asking, cx)?;
    let finish = session.epochs_of(&all.schedules);
    Ok(KeptSchedule::Whole { session: session.clone(), finish, proven: all.proven })
}

/// The best plan that is known, with what its bound is made of.
#[expect(clippy::large_enum_variant, reason = "a run keeps one")]
enum KeptSchedule {
    /// Whole chunks, and the epochs that all of them are proven to take.
    Whole { session: EpochSession, finish: u32, proven: u32 },
    /// Equal pieces of chunks.
    Pieces { session: EpochSession, finish_us: f64 },
    /// Parts of chunks.
    Parts(FluidBest),
    /// Trees, and the floor.
    Trees { candidate: Candidate<CollectiveResult>, floor_us: f64 },
}

impl KeptSchedule {
    fn finish_us(&self) -> f64 {
        match self {
            Self::Whole { session, finish, .. } => f64::from(*finish) * session.tasks.epoch_us,
            Self::Pieces { finish_us, .. } => *finish_us,
            Self::Trees { candidate, .. } => candidate.value,
            Self::Parts(best) => best.finish_us,
        }
    }

    /// States the bound, which is one of the epochs and chunks of the plan that is kept.
    fn conclude(self, cx: &mut Context<'_, Collective>) -> Result<Outcome, MethodError> {
        Ok(match self {
            Self::Whole { session, finish, proven } => {
                state(&session, proven, cx);
                end(finish, proven)
            }
            Self::Pieces { session, finish_us } => {
                session.state_bound(cx);
                let bound_us = f64::from(session.bound_epochs()) * session.tasks.epoch_us;
                // The bound of pieces is about these pieces.
                if same(finish_us, bound_us) { end(0, 0) } else { end(1, 0) }
            }
            Self::Parts(best) => {
                best.state_bound(cx);
                end(best.finish, best.proven)
            }
            Self::Trees { candidate, floor_us } => {
                let outcome = trees::stated(candidate.value, floor_us, cx);
                // Also where it was handed over before, without its bound.
                let sends = candidate.result.sends.len() as f64;
                cx.supersede(candidate.value, sends, "trees", move || candidate)?;
                outcome
            }
        })
    }
}
