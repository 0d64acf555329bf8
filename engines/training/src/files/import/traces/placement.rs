//! The pod of every rank: consecutive ranks, or a table.

use super::assumed;
use super::knobs::TraceOptions;
use super::reading::{TraceFiles, unreadable};
use super::summary::TraceSummary;
use crate::files::import::pod_map;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use std::collections::BTreeMap;

/// Ranks of a server with eight GPUs.
const USUAL: u32 = 8;

/// Pods with their ranks.
#[derive(Debug, Default)]
pub(super) struct TracePods {
    /// Names in order.
    pub names: Vec<String>,
    /// Number of ranks of every pod.
    pub ranks: Vec<u32>,
    /// The pod of every rank.
    pub of: Vec<u32>,
}

/// Assigns ranks to pods.
///
/// # Errors
/// A table with gaps or overlaps, and a table together with `gpus_per_pod`.
pub(super) fn pods(
    files: &TraceFiles<'_>,
    options: &TraceOptions,
    summary: &mut TraceSummary,
) -> Result<TracePods, Problems> {
    let world = files.world;
    if let Some(table) = files.pods {
        if options.gpus_per_pod.is_some() {
            let message = format!("cannot be combined with {}", printable(&table.name));
            return Err(Problem::new("gpus_per_pod", message, "give one of the two").into());
        }
        let input = table.load(pod_map::MAX_BYTES as u64).map_err(|error| unreadable(&error))?;
        return of_table(&input.bytes, world).map_err(|problems| problems.named(&table.name));
    }
    let per_pod = options.gpus_per_pod.unwrap_or_else(|| {
        let per_pod = if world > USUAL && world.is_multiple_of(USUAL) { USUAL } else { world.div_ceil(2) };
        let value = counted(per_pod.into(), "rank", "ranks");
        summary.assumed.push(assumed("ranks in one pod", value, "gpus_per_pod"));
        per_pod
    });
    let of: Vec<u32> = (0..world).map(|rank| rank / per_pod).collect();
    let count = world.div_ceil(per_pod);
    let mut pods = TracePods { names: Vec::new(), ranks: vec![0; count as usize], of };
    pods.names = (0..count).map(|pod| format!("p{pod}")).collect();
    for pod in &pods.of {
        pods.ranks[*pod as usize] += 1;
    }
    Ok(pods)
}

fn of_table(bytes: &[u8], world: u32) -> Result<TracePods, Problems> {
    let rows = pod_map::rows(bytes)?;
    let mut problems = Problems::new();
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut pods = TracePods { of: vec![u32::MAX; world as usize], ..TracePods::default() };
    for row in &rows {
        if row.rank_first > row.rank_last {
            let message = format!("has the ranks {} to {}", row.rank_first, row.rank_last);
            problems.add(format!("pod '{}'", printable(&row.pod)), message, "give the lower rank first");
            continue;
        }
        let pod = *numbers.entry(row.pod.as_str()).or_insert_with(|| {
            pods.names.push(row.pod.clone());
            pods.ranks.push(0);
            pods.names.len() as u32 - 1
        });
        for rank in row.rank_first..=row.rank_last.min(world.saturating_sub(1)) {
            let own = &mut pods.of[rank as usize];
            if *own != u32::MAX {
                let name = printable(&row.pod);
                let message = if *own == pod {
                    format!("is in two rows of pod '{name}'")
                } else {
                    format!("is in pod '{}' and in pod '{name}'", printable(&pods.names[*own as usize]))
                };
                problems.add(format!("rank {rank}"), message, "list every rank once");
                continue;
            }
            *own = pod;
            pods.ranks[pod as usize] += 1;
        }
    }
    if let Some(rank) = pods.of.iter().position(|pod| *pod == u32::MAX) {
        problems.add(
            format!("rank {rank}"),
            "has no pod",
            format!("give pods for the ranks 0 to {}", world - 1),
        );
    }
    problems.into_result(pods)
}
