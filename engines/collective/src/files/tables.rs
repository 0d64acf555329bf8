//! Every send as a table.

use super::OTHER_SIZES;
use super::transfers::times;
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use lightbay_core::cells;
use lightbay_core::format::{FormatInfo, SubjectSort};
use lightbay_core::problem::Problems;
use std::fmt::Write as _;

/// Name of the format.
pub const NAME: &str = "sends";

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "Every transmission as CSV: link, epoch, time, arrival, chunk, and its bytes.",
        SubjectSort::Plan,
        "csv",
    )
    .leaving_out(&["the bound and what proves it", OTHER_SIZES])
}

/// Returns the sends as CSV, one row for each send, in the order of the plan: by epoch, sending node, receiving node
/// and piece.
///
/// # Errors
/// Sends without a link, or that start before their data has arrived.
pub fn sends(scenario: &CollectiveScenario, result: &CollectiveResult) -> Result<String, Problems> {
    let times = times(scenario, result)?;
    let epoch_us = result.time.epoch_us;
    let name = |node: u32| {
        cells::csv(scenario.topology.nodes.get(node as usize).map_or("", |node| node.name.as_str()))
    };
    let mut table =
        "epoch,start_us,arrival_epoch,arrival_us,from,from_name,to,to_name,piece,chunk,offset_bytes,bytes,adds_up\n"
            .to_owned();
    for (send, arrival) in result.sends.iter().zip(times.arrivals) {
        let piece = &result.pieces[send.piece as usize];
        let _ = writeln!(
            table,
            "{},{},{arrival},{},{},{},{},{},{},{},{},{},{}",
            send.epoch,
            f64::from(send.epoch) * epoch_us,
            f64::from(arrival) * epoch_us,
            send.from,
            name(send.from),
            send.to,
            name(send.to),
            send.piece,
            piece.chunk,
            piece.offset_bytes,
            piece.size_bytes,
            piece.adds_up
        );
    }
    Ok(table)
}
