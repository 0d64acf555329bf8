//! Schedules as Chakra traces: sends and receives of every rank.

use super::OTHER_SIZES;
use super::transfers::transfers;
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use lightbay_core::format::{Artifact, FormatInfo, SubjectSort};
use lightbay_core::problem::Problems;
use lightbay_formats::chakra::{ChakraNode, ChakraSort, ChakraTrace, write};
use rustc_hash::FxHashMap;

/// Name of the format.
pub const NAME: &str = "chakra";
/// Version of the schema.
const VERSION: &str = "0.0.4";

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    let info = FormatInfo::new(
        NAME,
        "Chakra traces of the sends and receives, one file for each rank, for ASTRA-sim and other simulators.",
        SubjectSort::Plan,
        "et",
    )
    .leaving_out(&[
        "the epochs of the sends",
        "the switches between the ranks",
        "the order of sends that do not depend on each other",
        OTHER_SIZES,
    ]);
    FormatInfo { folder: true, ..info }
}

/// Returns the trace of every rank. A send depends on the receives of its data.
///
/// # Errors
/// As for [`transfers`].
pub fn files(
    stem: &str,
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
) -> Result<Vec<Artifact>, Problems> {
    let transfers = transfers(scenario, result)?;
    let ranks = scenario.demand.rank_nodes(&scenario.topology).len();
    let mut traces = vec![ChakraTrace { version: VERSION.to_owned(), ..ChakraTrace::default() }; ranks];
    let mut tags: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    // The receives of a rank on which its sends of a chunk depend. Data that is spread after a reduction depends on the
    // sums, which are separate pieces.
    let mut brought: FxHashMap<(u32, u32, bool), Vec<u64>> = FxHashMap::default();
    for one in &transfers {
        let piece = &result.pieces[one.piece as usize];
        let tag = tags.entry((one.from, one.to)).or_default();
        let bytes = one.bytes.round() as u64;
        let mut after = brought.get(&(one.from, one.piece, false)).cloned().unwrap_or_default();
        if !piece.adds_up && after.is_empty() {
            after = brought.get(&(one.from, piece.chunk, true)).cloned().unwrap_or_default();
        }
        let mut add = |rank: u32, sort: ChakraSort, after: Vec<u64>| {
            let nodes = &mut traces[rank as usize].nodes;
            let id = nodes.len() as u64;
            nodes.push(ChakraNode::message(id, sort, [one.from, one.to], *tag, bytes, after));
            id
        };
        add(one.from, ChakraSort::Send, after);
        let id = add(one.to, ChakraSort::Receive, Vec::new());
        *tag += 1;
        brought.entry((one.to, one.piece, false)).or_default().push(id);
        if piece.adds_up {
            brought.entry((one.to, piece.chunk, true)).or_default().push(id);
        }
    }
    let file =
        |(rank, trace): (usize, &ChakraTrace)| Artifact::new(format!("{stem}.{rank}.et"), write(trace));
    Ok(traces.iter().enumerate().map(file).collect())
}
