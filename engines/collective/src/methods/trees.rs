//! `trees`: splits data into pieces that follow spanning trees.

use super::session::end;
use crate::Collective;
use crate::compose::{is_readable, pieces_along_trees, trees_in_short, whole_chunks};
use crate::floors::proof::floors_of;
use crate::model::schedule::EpochSchedule;
use crate::model::task::{CollectiveTask, CollectiveTasks};
use crate::plan::compact::CompactPlan;
use crate::plan::{AT_FLOOR, CollectiveResult, ScenarioFloors, floor_covers};
use crate::scenario::network::LinkNetwork;
use crate::scenario::{CollectiveScenario, CollectiveSort};
use crate::trees::library::{TreeEffort, TreeLibrary, TreeSorts};
use crate::trees::parts::{PartsPlan, TreeParts};
use crate::trees::sends::ListSends;
use lightbay_core::context::{Apart, Context};
use lightbay_core::event::Severity;
use lightbay_core::kind::Candidate;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;

/// The method `trees`.
pub(super) struct TreesMethod;

pub(super) use crate::plan::MIN_PIECE_BYTES;
/// Default maximum number of sends that a plan lists.
pub(super) const MOST_SENDS: i64 = 200_000;
/// Minimum number of pieces per rank for which a list of sends is made.
const LEAST_PIECES: u64 = 16;
/// Default maximum number of pieces per rank.
const MOST_PIECES: i64 = 65_536;

impl Method<Collective> for TreesMethod {
    fn info(&self) -> MethodInfo {
        let smallest = "Minimum size of a piece.";
        let pieces = "Maximum number of pieces per rank (per tree in periodic schedules).";
        let sorts = TreeSorts::ALL.map(|(name, _)| name);
        let schedule = "Order of the pieces: along few trees, each piece as soon as its link is free \
             (list); one piece of every tree per epoch (periodic); each piece along its own tree over free \
             links (matching; networks without switches); or whichever completes first (auto).";
        let sends = "Maximum number of transmissions that a plan lists; larger plans store their trees \
             in compact form.";
        MethodInfo {
            name: "trees",
            help: "Splits data into pieces that follow spanning trees; together, the trees reach the rate \
                 of the binding cut. Chooses the number of pieces and the epoch length.",
            proves: true,
            hot_start: false,
            params: vec![
                ParamInfo::float("min_piece_bytes", 1e-3, 1e18, MIN_PIECE_BYTES, smallest)
                    .unit("bytes")
                    .effect(Effect::Warm),
                ParamInfo::int("most_pieces", 1, 1 << 24, MOST_PIECES, pieces).effect(Effect::Warm),
                ParamInfo::choice("schedule", &sorts, "auto", schedule).effect(Effect::Warm),
                ParamInfo::int("most_sends", 0, 10_000_000, MOST_SENDS, sends).effect(Effect::Warm),
            ],
        }
    }

    fn idle(&self, _scenario: &CollectiveScenario, _params: &Params) -> Vec<Problem> {
        let names = ["epoch", "epoch_us", "epoch_multiplier", "alpha_threshold"];
        without_effect(
            names,
            "with the method trees, which chooses the epoch length for its pieces",
            "leave it out",
        )
        .collect()
    }

    fn solve(
        &self,
        scenario: &Scenario<Collective>,
        params: &Params,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Outcome, MethodError> {
        let scenario = &scenario.body;
        suits(scenario)?;
        let sorts = TreeSorts::ALL.into_iter().find(|(name, _)| Some(*name) == params.text("schedule"));
        let sorts = sorts.map_or(TreeSorts::All, |(_, sorts)| sorts);
        let ranks = scenario.demand.rank_nodes(&scenario.topology).len();
        if sorts == TreeSorts::Matching && ranks < scenario.topology.nodes.len() {
            let message = "is matching, but some nodes are switches or GPUs that are not ranks, which matching does \
                 not support";
            return Err(MethodError::Invalid(Problem::new("schedule", message, "use list or auto").into()));
        }
        let tasks = CollectiveTasks::in_pieces(scenario, None, 1, 0.0)?;
        let floors = floors_of(scenario, &tasks);
        let floor = floors.map_or(0.0, |floors| floors.with_latency.floor_us);
        cx.note(Severity::Info, format!("no schedule, for any chunking, ends before {floor:.3} us"));
        let effort = TreeEffort {
            min_piece_bytes: params.float("min_piece_bytes").unwrap_or(MIN_PIECE_BYTES),
            most_pieces: params.count("most_pieces") as u32,
            multiple: scenario.demand.chunks_per_rank,
            sorts,
            ..TreeEffort::default()
        };
        let trees = ScenarioTrees::of(scenario, &tasks);
        cx.phase("trees", "shares of spanning trees, and numbers of pieces");
        let parts = trees.parts(&mut cx.here());
        let most_sends = params.count("most_sends") as u64;
        let first = offer_first((scenario, floors), &parts, f64::INFINITY, &effort, most_sends, cx)?;
        let Some(plan) = parts.plan(shard_bytes(scenario), floor, &effort, cx)? else {
            let why = "no schedule along trees was found; set schedule=auto, or solve with construct";
            return Err(MethodError::Failed(why.to_owned()));
        };
        for library in parts.libraries().iter().filter(|library| !library.variants().is_empty()) {
            cx.note(
                Severity::Info,
                format!("the trees carry {:.6} GB/s of the data of every rank", library.rate()),
            );
        }
        let made = schedule(scenario, &parts, &plan, most_sends)?;
        let candidate = better(first, made.candidate(scenario, floors)?);
        let outcome = stated(candidate.value, floor, cx);
        offer(candidate, "trees", cx)?;
        Ok(outcome)
    }
}

/// Reports plans that exist before the best schedule is found, if the search for it takes long: periodic schedules of
/// trees that are made in one pass, and of the final trees. So a run that ends early has a plan. Returns the best of
/// these plans; `None` if no such plan ends before `known_us`.
pub(super) fn offer_first(
    (scenario, floors): (&CollectiveScenario, Option<&ScenarioFloors>),
    parts: &TreeParts<'_>,
    known_us: f64,
    effort: &TreeEffort,
    most_sends: u64,
    cx: &mut Context<'_, Collective>,
) -> Result<Option<Candidate<CollectiveResult>>, MethodError> {
    let is_periodic = matches!(effort.sorts, TreeSorts::All | TreeSorts::Periodic);
    let Some(quick) = parts.quick().filter(|_| is_periodic) else { return Ok(None) };
    let effort = TreeEffort { sorts: TreeSorts::Periodic, ..*effort };
    let floor_us = floors.map_or(0.0, |floors| floors.with_latency.floor_us);
    let mut best: Option<Candidate<CollectiveResult>> = None;
    // Matching may make the final trees unnecessary.
    let is_matched = parts.libraries().iter().all(TreeLibrary::is_matched);
    let last = (!is_matched).then_some((parts, "periodic trees"));
    for (parts, source) in [(&quick, "first trees")].into_iter().chain(last) {
        let Some(plan) = parts.plan(shard_bytes(scenario), floor_us, &effort, cx)? else { continue };
        let best_us = best.as_ref().map_or(known_us, |best| best.value);
        if plan.finish_us < best_us * (1.0 - AT_FLOOR) {
            let candidate = schedule(scenario, parts, &plan, most_sends)?.candidate(scenario, floors)?;
            stated(candidate.value, floor_us, cx);
            offer(candidate.clone(), source, cx)?;
            best = Some(candidate);
        }
    }
    Ok(best)
}

/// Returns the candidate that completes first.
pub(super) fn better(
    first: Option<Candidate<CollectiveResult>>,
    last: Candidate<CollectiveResult>,
) -> Candidate<CollectiveResult> {
    match first {
        Some(first) if first.value < last.value => first,
        _ => last,
    }
}

/// Reports a plan; `source` names the step of the method that found it.
pub(super) fn offer(
    candidate: Candidate<CollectiveResult>,
    source: &str,
    cx: &mut Context<'_, Collective>,
) -> Result<(), MethodError> {
    let sends = candidate.result.sends.len() as f64;
    cx.incumbent(candidate.value, sends, source, move || candidate)?;
    Ok(())
}

/// Reports the floor as a bound, unless the finish is below the floor, and returns the outcome of the run: the plan is
/// optimal if its finish equals the floor.
pub(super) fn stated(finish_us: f64, floor_us: f64, cx: &mut Context<'_, Collective>) -> Outcome {
    if finish_us < floor_us * (1.0 - AT_FLOOR) {
        let why = "hops out of cut-through switches add no transmission time, so the finish can be below \
             the floor";
        cx.note(Severity::Info, why);
        return end(1, 0);
    }
    cx.bound_over(floor_us.min(finish_us), floor_covers(0.0));
    if finish_us <= floor_us * (1.0 + AT_FLOOR) { end(0, 0) } else { end(1, 0) }
}

/// The networks and the data of a scenario from which its trees are made.
pub(super) struct ScenarioTrees {
    /// The network of each part, in its direction of planning.
    networks: Vec<LinkNetwork>,
    roots: Vec<u32>,
    ranks: Vec<u32>,
}

impl ScenarioTrees {
    /// Returns the networks and data of a scenario that the method supports.
    pub(super) fn of(scenario: &CollectiveScenario, tasks: &CollectiveTasks) -> Self {
        let demand = &scenario.demand;
        let ranks = demand.rank_nodes(&scenario.topology);
        let roots = match demand.collective {
            CollectiveSort::Broadcast => {
                ranks.get(demand.root.unwrap_or(0) as usize).copied().into_iter().collect()
            }
            _ => ranks.clone(),
        };
        let networks = tasks.tasks.iter().map(CollectiveTask::for_trees).collect();
        Self { networks, roots, ranks }
    }

    /// Returns the trees of each part, and reports a remark on the symmetries that they use.
    pub(super) fn parts(&self, apart: &mut Apart<'_, '_, Collective>) -> TreeParts<'_> {
        let parts = TreeParts::new(&self.networks, &self.roots, &self.ranks);
        if let Some(library) = parts.libraries().first() {
            let text = match library.fold().order() {
                1 => {
                    "no symmetries that move every GPU are declared or found, so each GPU has separate trees"
                        .to_owned()
                }
                order => format!("trees of one GPU serve {order} GPUs by symmetry"),
            };
            apart.note(Severity::Info, text);
        }
        parts
    }
}

/// A schedule with every send, or in compact form.
pub(super) enum ScheduleForm {
    /// Every send.
    Listed(Box<CollectiveTasks>, Vec<EpochSchedule>),
    /// Trees in compact form.
    Short(Vec<CompactPlan>),
}

impl ScheduleForm {
    /// Returns the plan with this schedule; computes the floors unless they are given.
    pub(super) fn candidate(
        self,
        scenario: &CollectiveScenario,
        floors: Option<&ScenarioFloors>,
    ) -> Result<Candidate<CollectiveResult>, MethodError> {
        match self {
            Self::Listed(tasks, schedules) => {
                Ok(whole_chunks(scenario, &tasks.with_floors(floors.cloned()), &schedules, None))
            }
            Self::Short(parts) => Ok(trees_in_short(scenario, parts, floors.cloned())?),
        }
    }
}

/// Returns the schedule of a plan for a buffer size: as sends if whole pieces are sent, `most_sends` sends suffice and
/// the file can be read again; else in compact form.
pub(super) fn schedule(
    sized: &CollectiveScenario,
    parts: &TreeParts<'_>,
    plan: &PartsPlan,
    most_sends: u64,
) -> Result<ScheduleForm, MethodError> {
    let shard_bytes = shard_bytes(sized);
    let is_readable = |(_, _, all): &(f64, u32, Vec<ListSends>)| {
        let sends = all.iter().map(|part| part.sends.len()).sum();
        is_readable(sized, sends, all.iter().map(|part| part.roots.len()).sum())
    };
    if let Some((epoch_us, pieces, sends)) = parts.sends(plan, shard_bytes, most_sends).filter(is_readable) {
        let per_chunk = pieces / sized.demand.chunks_per_rank.max(1);
        let (tasks, schedules) = pieces_along_trees(sized, epoch_us, per_chunk, &sends)?;
        return Ok(ScheduleForm::Listed(Box::new(tasks), schedules));
    }
    parts.in_short(plan, shard_bytes).map(ScheduleForm::Short).ok_or_else(|| {
        MethodError::Failed(
            "the schedule has more epochs than a plan can hold: raise min_piece_bytes".to_owned(),
        )
    })
}

/// Returns the amount of data that every root has for each receiver, bytes.
pub(super) fn shard_bytes(scenario: &CollectiveScenario) -> f64 {
    scenario.demand.chunk_size(&scenario.topology) * f64::from(scenario.demand.chunks_per_rank)
}

/// Returns the effort of a search for trees whose schedules have at most `most_sends` sends. If this number suffices
/// for at least [`LEAST_PIECES`] pieces of each rank, the search makes only list schedules.
pub(super) fn effort(scenario: &CollectiveScenario, tasks: &CollectiveTasks, most_sends: u64) -> TreeEffort {
    let ranks = scenario.demand.rank_nodes(&scenario.topology).len() as u64;
    // Assumes two links for each hop.
    let each = (ranks * ranks.saturating_sub(1) * 2 * tasks.tasks.len() as u64).max(1);
    let listed = most_sends / each;
    let mut effort = TreeEffort {
        multiple: scenario.demand.chunks_per_rank,
        run_hops: 30_000,
        all_hops: 300_000,
        ..TreeEffort::default()
    };
    if listed >= LEAST_PIECES {
        (effort.most_pieces, effort.sorts) = (listed as u32, TreeSorts::List);
    }
    effort
}

/// Refuses scenarios that the method does not support.
pub(super) fn suits(scenario: &CollectiveScenario) -> Result<(), Problems> {
    let demand = &scenario.demand;
    let copied = matches!(
        demand.collective,
        CollectiveSort::AllGather
            | CollectiveSort::Broadcast
            | CollectiveSort::ReduceScatter
            | CollectiveSort::AllReduce
    );
    let mut problems = Problems::new();
    if !copied {
        let message = format!(
            "is {}, whose chunks have one destination each or are listed explicitly",
            demand.collective.word()
        );
        problems.add(
            "demand.collective",
            message,
            "solve it with auto, teccl-lp or construct: trees spread equal data to all ranks",
        );
    }
    if !demand.copy {
        problems.add(
            "demand.copy",
            "is false, but trees copy data on the way",
            "set copy=true, or solve with auto",
        );
    }
    if let Some(at) = scenario.topology.links.iter().position(|link| !link.up_us.is_empty()) {
        let path = format!("topology.links[{at}].up_us");
        problems.add(path, "makes a link time-varying", "omit it, or solve with construct");
    }
    if demand.rank_nodes(&scenario.topology).len() < 2 && copied {
        problems.add("demand.ranks", "has fewer than 2 entries, so no data has to move", "name more ranks");
    }
    problems.into_result(())
}

#[cfg(test)]
mod tests;
