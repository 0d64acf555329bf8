//! Makes plans from schedules: the parts of a collective run one after the other, each planned forwards or backwards;
//! also computes the figures of the plans (docs/methods/collective.md, section 3).

mod arrivals;
mod begins;
mod exchange;
mod fluid;
mod trees;
mod unfold;
mod uses;

pub use arrivals::{TimedHop, TimedTree, timed_trees};
pub use begins::{begins, epochs_of};
pub use exchange::{MOST_LISTED_SENDS, exchange_in_short};
pub use fluid::parts_of_chunks;
pub use trees::{pieces_along_trees, trees_in_short};
pub use unfold::unfolded;
pub use uses::{LinkUse, LinkUses};

use crate::bounds::{BoundReason, EpochBound};
use crate::floors::proof::floors_of;
use crate::model::mirror::mirrored;
use crate::model::schedule::EpochSchedule;
use crate::model::task::{CollectiveTask, CollectiveTasks};
use crate::plan::{
    BoundClaim, ChunkPiece, CollectiveResult, Discipline, FloorClaim, PieceSend, PlanTime, ScheduleClaims,
};
use crate::scenario::CollectiveScenario;
use lightbay_core::kind::{Candidate, Carried};
use lightbay_core::read::MAX_FILE_BYTES;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Names of the figures of a plan.
pub mod figure {
    /// Epochs until the last delivery.
    pub const EPOCHS: &str = "finish_epochs";
    /// Length of an epoch.
    pub const EPOCH_US: &str = "epoch_length_us";
    /// Bytes of the buffer divided by the finish.
    pub const ALGBW: &str = "algbw_gbyte_per_s";
    /// Finish without epochs.
    pub const REPLAY: &str = "replay_us";
    /// Lower bound on the finish of schedules of whole chunks in the epochs of the plan.
    pub const LOWER_BOUND: &str = "lower_bound_us";
    /// Lower bound on the finish, for any chunking and any epoch length.
    pub const FLOOR: &str = "floor_us";
    /// Lower bound on the replay, for any chunking and any epoch length.
    pub const LATENCY_FLOOR: &str = "latency_floor_us";
    /// Finish divided by its lower bound (floor), minus 1.
    pub const FLOOR_GAP: &str = "gap_to_floor";
    /// Number of sends; each sends one piece over one link.
    pub const SENDS: &str = "sends";
    /// Fraction of the time in which the busiest link is occupied.
    pub const BUSIEST: &str = "busiest_link_share";
}

/// Returns a plan of whole chunks, made from one schedule for each task. The plan claims the bounds of the tasks if
/// `bounds` gives them.
pub fn whole_chunks(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    schedules: &[EpochSchedule],
    bounds: Option<&[EpochBound]>,
) -> Candidate<CollectiveResult> {
    // Each part begins when the one before has ended.
    let time = time(scenario, tasks, Discipline::WholeChunk);
    let (mut pieces, mut sends) = (Vec::new(), Vec::new());
    let begins = begins(tasks, schedules);
    let mut replay_us = 0.0;
    for ((task, schedule), begin) in tasks.tasks.iter().zip(schedules).zip(&begins) {
        let first = pieces.len() as u32;
        for chunk in 0..task.chunks.len() {
            // Chunks of a unicast demand represent copies of one chunk.
            let copy = tasks.copies.as_ref().map(|copies| copies[chunk]);
            let whole = copy.map_or(chunk as u32, |(chunk, _)| chunk);
            pieces.push(ChunkPiece {
                id: pieces.len() as u32,
                chunk: whole / tasks.pieces,
                offset_bytes: f64::from(whole % tasks.pieces) * tasks.chunk_bytes,
                size_bytes: tasks.chunk_bytes,
                adds_up: task.adds,
                dests: copy.map(|(_, dest)| vec![dest]),
            });
        }
        let (starts, finish) = (&schedule.starts, schedule.finish);
        // A reversed schedule runs backwards: a start at k becomes a start at finish - (k + latency), on the reversed
        // link.
        if task.backwards {
            sends.extend(mirrored(task, starts, finish).iter().zip(starts).map(|(mirrored, start)| {
                let link = &task.real.links()[mirrored.link as usize];
                let (piece, epoch) = (first + start.chunk, begin + mirrored.epoch);
                PieceSend { piece, from: link.to, to: link.from, epoch }
            }));
        } else {
            sends.extend(starts.iter().map(|start| {
                let link = &task.real.links()[task.epochs.links[start.link as usize].carrier as usize];
                let (piece, epoch) = (first + start.chunk, begin + start.epoch);
                PieceSend { piece, from: link.from, to: link.to, epoch }
            }));
        }
        replay_us += schedule.replay_us(task);
    }
    // All plans use the same order, so that equal schedules give equal files.
    sends.sort_unstable_by_key(|send| (send.epoch, send.from, send.to, send.piece));
    let replay_us = existing(replay_us);
    let claims = claims(scenario, tasks, &time, begins.last().copied().unwrap_or(0), replay_us, bounds);
    let result = CollectiveResult { time, pieces, sends, trees: Vec::new(), ranges: Vec::new(), claims };
    Candidate { value: result.claims.finish_us, metrics: figures_of(&result, scenario), result }
}

/// Returns the completion time of a replay; `None` if links that are up for some time only make it infinite.
fn existing(replay_us: f64) -> Option<f64> {
    Some(replay_us).filter(|us| us.is_finite())
}

/// Returns `true` if a plan with `sends` sends and `pieces` pieces can surely be read again: the upper limit on the
/// size of its text is at most the maximum size of a file.
pub fn is_readable(scenario: &CollectiveScenario, sends: usize, pieces: usize) -> bool {
    listed_bytes(scenario, sends, pieces) <= MAX_FILE_BYTES
}

/// Returns an upper limit on the size, in bytes, of the text of a plan with `sends` sends and `pieces` pieces.
fn listed_bytes(scenario: &CollectiveScenario, sends: usize, pieces: usize) -> u64 {
    // Bytes of written entries with ids of seven digits: upper limits, so that no plan is too large to be read again.
    const SEND: u64 = 112;
    const PIECE: u64 = 160;
    const RECORD: u64 = 320;
    const ENVELOPE: u64 = 1 << 16;
    let topology = &scenario.topology;
    let records = topology.nodes.len() + topology.links.len();
    ENVELOPE + SEND * sends as u64 + PIECE * pieces as u64 + RECORD * records as u64
}

/// Returns the epochs of a plan, and the capabilities of its switches.
fn time(scenario: &CollectiveScenario, tasks: &CollectiveTasks, discipline: Discipline) -> PlanTime {
    let model = &scenario.topology.switch_model;
    let alpha_threshold = tasks.tasks.first().map_or(0.0, |task| task.epochs.alpha_threshold);
    PlanTime {
        epoch_us: tasks.epoch_us,
        alpha_threshold,
        discipline,
        pieces_per_chunk: tasks.pieces,
        switch_copy: model.copy,
        switch_hop: model.hop,
    }
}

fn claims(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    time: &PlanTime,
    finish: u32,
    replay_us: Option<f64>,
    bounds: Option<&[EpochBound]>,
) -> ScheduleClaims {
    let finish_us = f64::from(finish) * tasks.epoch_us;
    let named = |(task, bound): (&CollectiveTask, &EpochBound)| BoundClaim {
        epochs: bound.epochs,
        because: bound.words(task),
        inside: match &bound.reason {
            BoundReason::Cut { inside, .. } => inside.clone(),
            _ => Vec::new(),
        },
    };
    // The bounds of the parts are added, because the parts follow each other.
    let lower = bounds.map(|bounds| bounds.iter().map(|bound| bound.epochs).sum::<u32>());
    let buffer = buffer_bytes(scenario, tasks);
    ScheduleClaims {
        finish_epochs: finish,
        finish_us,
        algbw_gbyte_per_s: if finish == 0 { 0.0 } else { buffer / finish_us / 1000.0 },
        replay_us,
        lower_bound_epochs: lower,
        bounds: bounds.map_or_else(Vec::new, |bounds| tasks.tasks.iter().zip(bounds).map(named).collect()),
        // A finish is optimal only if it equals its bound.
        optimal: lower == Some(finish),
        floor: floor_claim(scenario, tasks, finish_us, time.alpha_threshold),
    }
}

/// Returns the lower bounds (floors) of a scenario, and the gap between a finish and its floor; `None` if the floors
/// are unknown. The finish was computed in epochs that omit each latency up to the fraction `alpha_threshold` of an
/// epoch.
fn floor_claim(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    finish_us: f64,
    alpha_threshold: f64,
) -> Option<FloorClaim> {
    let floors = floors_of(scenario, tasks)?;
    let (without, with) = (floors.without_latency.clone(), floors.with_latency.clone());
    Some(FloorClaim::of(without, with, finish_us, alpha_threshold))
}

/// Returns the number of bytes from which the algorithm bandwidth is computed: the buffer of a named collective, or,
/// for other demands, the maximum number of bytes that a GPU receives.
pub fn buffer_bytes(scenario: &CollectiveScenario, tasks: &CollectiveTasks) -> f64 {
    let demand = &scenario.demand;
    if demand.collective.is_named() {
        let ranks = demand.rank_nodes(&scenario.topology).len() as u64;
        let chunks = demand.collective.buffer_chunks(ranks, u64::from(demand.chunks_per_rank));
        return chunks as f64 * f64::from(tasks.pieces) * tasks.chunk_bytes;
    }
    let mut received: FxHashMap<u32, u64> = FxHashMap::default();
    for task in &tasks.tasks {
        // Bytes that arrive at every GPU.
        for chunk in 0..task.chunks.len() {
            task.chunks.dests(chunk).for_each(|dest| *received.entry(dest).or_default() += 1);
        }
    }
    received.values().max().copied().unwrap_or(0) as f64 * tasks.chunk_bytes
}

/// Returns the figures of a plan for comparison, by name.
pub fn figures_of(result: &CollectiveResult, scenario: &CollectiveScenario) -> BTreeMap<String, f64> {
    let CollectiveResult { time, pieces, sends, trees, claims, .. } = result;
    let mut load: FxHashMap<(u32, u32), f64> = FxHashMap::default();
    for send in sends {
        *load.entry((send.from, send.to)).or_default() += pieces[send.piece as usize].size_bytes;
    }
    // Time for which each link transmits.
    let busy = scenario.topology.links.iter().map(|link| {
        let bytes = load.get(&(link.from, link.to)).copied().unwrap_or(0.0);
        bytes * link.beta_scale / (1000.0 * link.capacity_gbyte_per_s)
    });
    let busiest = busy.fold(0.0, f64::max);
    let mut metrics = BTreeMap::from([
        (figure::EPOCHS.to_owned(), f64::from(claims.finish_epochs)),
        (figure::EPOCH_US.to_owned(), time.epoch_us),
        (figure::ALGBW.to_owned(), claims.algbw_gbyte_per_s),
    ]);
    metrics.extend(claims.replay_us.map(|replay_us| (figure::REPLAY.to_owned(), replay_us)));
    // Trees in compact form are not counted: their transmissions are not listed.
    if trees.is_empty() {
        metrics.insert(figure::SENDS.to_owned(), sends.len() as f64);
        let share = if claims.finish_us > 0.0 { busiest / claims.finish_us } else { 0.0 };
        metrics.insert(figure::BUSIEST.to_owned(), share);
    }
    if let Some(lower) = claims.lower_bound_epochs {
        metrics.insert(figure::LOWER_BOUND.to_owned(), f64::from(lower) * time.epoch_us);
    }
    if let Some(floor) = &claims.floor {
        let under_finish = floor.under_finish(time.alpha_threshold);
        metrics.insert(figure::FLOOR.to_owned(), under_finish.floor_us);
        metrics.insert(figure::LATENCY_FLOOR.to_owned(), floor.with_latency.floor_us);
        metrics.insert(figure::FLOOR_GAP.to_owned(), floor.gap_to_floor);
    }
    metrics
}

/// Converts a plan to another scenario: returns the plan unchanged if both scenarios agree in everything on which the
/// plan depends.
///
/// # Errors
/// A sentence on what has changed.
pub fn carry(
    result: &CollectiveResult,
    from: &CollectiveScenario,
    to: &CollectiveScenario,
) -> Result<Carried<CollectiveResult>, String> {
    let (before, after) = (&from.topology, &to.topology);
    // The message names the first difference.
    let what = if before.nodes.len() != after.nodes.len() || before.links != after.links {
        "links"
    } else if before.switch_model != after.switch_model {
        "switches"
    } else if from.failed_links != to.failed_links {
        "failed links"
    } else if from.demand != to.demand {
        "demand"
    } else if from.buffer_limit_chunks != to.buffer_limit_chunks {
        "buffers"
    } else if from.time.alpha_threshold != to.time.alpha_threshold {
        "times"
    } else {
        // The plan keeps its own epochs, even if the scenario has another rule for the epochs of new plans.
        let metrics = figures_of(result, to);
        let candidate = Candidate { value: result.claims.finish_us, metrics, result: result.clone() };
        return Ok(Carried { candidate, repairs: Vec::new() });
    };
    Err(format!(
        "the scenario differs from the scenario of the plan in its {what}, so the schedule does not fit"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods;
    use crate::testing::preset;
    use lightbay_core::testing::Ask;

    #[test]
    fn plans_are_no_longer_than_their_estimate() {
        for (name, method) in [("ndv2x4-allgather-1mb", "construct"), ("dgx1-allgather-1mb", "trees")] {
            let scenario = preset(name);
            let plan = Ask::of(&methods::all(), method, scenario.clone()).run().done.plan.unwrap();
            let checked = lightbay_core::checked::downcast::<crate::Collective>(&plan).unwrap();
            let result = &checked.plan().result;
            let (sends, pieces) = (result.sends.len(), result.pieces.len());
            assert!(sends > 100, "{name}");
            let (text, most) = (plan.to_json().unwrap().len() as u64, listed_bytes(&scenario, sends, pieces));
            assert!(text <= most, "{name}: {text} bytes, estimated {most}");
        }
        let scenario = preset("dgx1-allgather-1mb");
        assert!(is_readable(&scenario, 500_000, 1_000) && !is_readable(&scenario, 700_000, 1_000));
    }
}
