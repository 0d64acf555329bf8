//! Hints for NCCL: for each size, the built-in algorithm that is faster on the network of a scenario.
//!
//! For each algorithm, the paths are fixed once; the schedule along these paths is replayed without epochs for every
//! size.

use crate::model::schedule::EpochSchedule;
use crate::model::task::{CollectiveTask, CollectiveTasks};
use crate::scenario::{CollectiveScenario, CollectiveSort};
use crate::search::baselines::{FixedWays, by_fixed_ways};
use lightbay_core::format::{FormatInfo, SubjectSort};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::watch::Unwatched;
use lightbay_formats::nccl::tuner::{COLLECTIVES, PROTOCOLS, TunerRow, write};
use std::collections::BTreeSet;

/// Name of the format.
pub const NAME: &str = "nccl_tuner";

/// Sizes that are compared: powers of two, as exponents.
const SIZES: std::ops::RangeInclusive<u32> = 10..=34;
/// Maximum size in the last range, bytes.
const LAST: u64 = 1 << 40;
/// Maximum number of ranks for which paths are fixed.
const MOST_RANKS: usize = 256;
/// Maximum number of channels that NCCL supports.
const MOST_CHANNELS: u32 = 32;

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "Hints in the format of NCCL's example tuner plug-in: for each size, ring or tree, whichever is \
         faster on this network.",
        SubjectSort::Either,
        "csv",
    )
    .leaving_out(&[
        "the schedule itself: the plug-in chooses among the algorithms of the library",
        "the cost of protocols: the given protocol is written for every size",
    ])
    .with(vec![
        ParamInfo::choice("protocol", &PROTOCOLS, "simple", "Protocol of every row."),
        ParamInfo::int(
            "channels",
            0,
            i64::from(MOST_CHANNELS),
            0,
            "Maximum number of channels in every row; 0: NCCL chooses the number (-1 would mean one \
             channel).",
        )
        .hint("the plug-in reads -1 as one channel; with 0, NCCL chooses the number"),
    ])
}

/// Returns the name of a collective in the table; `None` if the plug-in does not support it.
const fn word_of(sort: CollectiveSort) -> Option<&'static str> {
    Some(match sort {
        CollectiveSort::AllReduce => "allreduce",
        CollectiveSort::AllGather => "allgather",
        CollectiveSort::ReduceScatter => "reducescatter",
        CollectiveSort::Broadcast => "broadcast",
        _ => return None,
    })
}

/// Returns a remark on the choice that the plug-in makes for collectives that have no row in the table. No row can
/// leave the choice to NCCL: a matching row forces its algorithm and protocol.
pub(super) fn remark(scenario: &CollectiveScenario) -> String {
    let own = word_of(scenario.demand.collective);
    let others: Vec<&str> = COLLECTIVES.iter().copied().filter(|word| Some(*word) != own).collect();
    format!(
        "while the plug-in is loaded, NCCL uses one channel for each collective that has no row: {}; unload \
         the plug-in for jobs that depend on these collectives",
        others.join(", ")
    )
}

/// Returns the table for the tuner plug-in as text.
///
/// # Errors
/// A collective that the plug-in does not support, more ranks than are compared, and a network in which the paths do
/// not exist.
pub fn table(scenario: &CollectiveScenario, params: &Params) -> Result<String, Problems> {
    let sort = scenario.demand.collective;
    let Some(collective) = word_of(sort) else {
        let message = format!("is {}, which the plug-in does not support", sort.word());
        let remedy = "use all_reduce, all_gather, reduce_scatter or broadcast";
        return Err(Problem::new("demand.collective", message, remedy).into());
    };
    let ranks = scenario.demand.rank_nodes(&scenario.topology);
    if ranks.len() > MOST_RANKS {
        let message = format!("has {} ranks", ranks.len());
        return Err(
            Problem::new("to", message, format!("export a scenario of at most {MOST_RANKS} ranks")).into()
        );
    }
    let tasks = CollectiveTasks::of(scenario, None)?;
    // The library has trees only for AllReduce.
    let ways: &[(&str, FixedWays)] = if sort == CollectiveSort::AllReduce {
        &[("ring", FixedWays::Ring), ("tree", FixedWays::SingleTree)]
    } else {
        &[("ring", FixedWays::Ring)]
    };
    let mut replays = Vec::with_capacity(ways.len());
    for (name, ways) in ways {
        replays.push((*name, Replays::of(&tasks, *ways)?));
    }
    let rank_count = ranks.len() as u64;
    let chunks = sort.buffer_chunks(rank_count, u64::from(scenario.demand.chunks_per_rank)).max(1) as f64;
    let channels = params.count("channels") as u32;
    let groups: BTreeSet<Option<u32>> =
        ranks.iter().map(|rank| scenario.topology.nodes[*rank as usize].group).collect();
    let mut rows: Vec<TunerRow> = Vec::new();
    for exponent in SIZES {
        let bytes = 1u64 << exponent;
        let timed = replays.iter().map(|(name, replays)| (replays.time_us(bytes as f64 / chunks), *name));
        let Some((_, algorithm)) = timed.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        match rows.last_mut() {
            Some(row) if row.algorithm == algorithm => row.max_bytes = bytes,
            last => {
                let min_bytes = last.map_or(0, |row| row.max_bytes + 1);
                rows.push(TunerRow {
                    collective: collective.to_owned(),
                    min_bytes,
                    max_bytes: bytes,
                    algorithm: algorithm.to_owned(),
                    protocol: params.text("protocol").unwrap_or("simple").to_owned(),
                    channels,
                    nodes: Some(groups.len() as u32),
                    ranks: Some(ranks.len() as u32),
                });
            }
        }
    }
    if let Some(row) = rows.last_mut() {
        row.max_bytes = LAST;
    }
    write(&rows)
}

/// Schedules along fixed paths, to be replayed with chunks of any size.
struct Replays {
    parts: Vec<(CollectiveTask, EpochSchedule)>,
}

impl Replays {
    fn of(tasks: &CollectiveTasks, ways: FixedWays) -> Result<Self, Problems> {
        let mut parts = Vec::with_capacity(tasks.tasks.len());
        for task in &tasks.tasks {
            let found = by_fixed_ways::<_, ()>(task, ways, &mut Unwatched::default());
            let schedule = found.ok().flatten().ok_or_else(|| {
                Problem::new("to", "the paths of ring and tree do not reach every rank", "check the links")
            })?;
            parts.push((task.clone(), schedule));
        }
        Ok(Self { parts })
    }

    /// Returns the time until the last delivery for a given chunk size, µs.
    fn time_us(&self, chunk_bytes: f64) -> f64 {
        self.parts.iter().map(|(task, schedule)| schedule.replay_with(task, chunk_bytes)).sum()
    }
}
