//! MSCCL XML: its thread blocks as steps of a schedule.

use super::schedule::{OutsideMessage, OutsideSchedule, OutsideStep, wanted};
use crate::files::msccl::NAME;
use crate::scenario::CollectiveScenario;
use lightbay_core::format::{FormatInfo, Input, SubjectSort};
use lightbay_core::problem::{Problems, counted};
use lightbay_formats::msccl::{Algorithm, ExecuteOptions, Execution, execute, read};
use lightbay_formats::{Imported, Limits};
use rustc_hash::FxHashMap;

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "A schedule as MSCCL XML, mapped onto the network of a scenario that you also pass; lightbay \
         first executes it as a test.",
        SubjectSort::Plan,
        "xml",
    )
    .leaving_out(&["thread blocks, channels and places in buffers", "the protocol"])
}

/// Reads a schedule and executes it for the collective of a scenario.
///
/// # Errors
/// Every problem of the file, and a program that does not implement its collective.
pub(super) fn schedule(
    input: &Input,
    scenario: &CollectiveScenario,
) -> Result<Imported<OutsideSchedule>, Problems> {
    let file = read(input.bytes.as_slice(), &Limits::default())?;
    let algorithm = &file.value;
    let sizes = algorithm.buffer_sizes();
    let wanted = wanted(algorithm.collective, scenario, &sizes);
    let options = ExecuteOptions { root: scenario.demand.root, wanted, ..ExecuteOptions::default() };
    let done = execute(algorithm, &options)?;
    let blocks: usize = algorithm.gpus.iter().map(|gpu| gpu.blocks.len()).sum();
    let mut lines = vec![
        format!(
            "found: {} ranks, {}, {} on {}",
            algorithm.gpus.len(),
            counted(blocks as u64, "thread block", "thread blocks"),
            counted(done.passages.len() as u64, "message", "messages"),
            counted(u64::from(algorithm.channels()), "channel", "channels"),
        ),
        format!(
            "executed: {} output chunks contain the data that {} requires",
            done.compared,
            algorithm.collective.name()
        ),
    ];
    lines.extend(range(algorithm));
    lines.extend(done.notes.iter().map(|note| format!("note: {note}")));
    let outside = OutsideSchedule { op: algorithm.collective, sizes, steps: steps(algorithm, &done), lines };
    Ok(file.map(|_| outside))
}

/// Returns a text with the buffer sizes for which the file uses the schedule; `None` if the file does not limit the
/// sizes.
fn range(algorithm: &Algorithm) -> Option<String> {
    match (algorithm.min_bytes, algorithm.max_bytes) {
        (0, u64::MAX) => None,
        (least, u64::MAX) => Some(format!("used from {least} bytes on, without an upper limit")),
        (least, most) => Some(format!("used from {least} to {most} bytes")),
    }
}

/// Returns the steps of all thread blocks. A step that receives a chunk and sends it on is a single step.
fn steps(algorithm: &Algorithm, done: &Execution) -> Vec<OutsideStep> {
    let mut first: Vec<Vec<u32>> = Vec::with_capacity(algorithm.gpus.len());
    let mut count = 0u32;
    for gpu in &algorithm.gpus {
        first.push(
            gpu.blocks
                .iter()
                .map(|block| {
                    count += block.steps.len() as u32;
                    count - block.steps.len() as u32
                })
                .collect(),
        );
    }
    let number = |rank: u32, (block, step): (u32, u32)| first[rank as usize][block as usize] + step;
    let mut sent: FxHashMap<u32, OutsideMessage> = FxHashMap::default();
    let mut receives: FxHashMap<u32, u32> = FxHashMap::default();
    for passage in &done.passages {
        let send = number(passage.from, passage.send);
        let chunks = passage.sums.iter().map(|sum| done.memory.terms(*sum)).collect();
        sent.insert(send, OutsideMessage { from: passage.from, to: passage.to, chunks });
        receives.insert(number(passage.to, passage.receive), send);
    }
    let mut steps = Vec::with_capacity(count as usize);
    for (rank, gpu) in (0u32..).zip(&algorithm.gpus) {
        for (block, steps_of_block) in (0u32..).zip(gpu.blocks.iter().map(|block| &block.steps)) {
            for (index, step) in (0u32..).zip(steps_of_block) {
                let here = number(rank, (block, index));
                let mut after: Vec<u32> = index.checked_sub(1).map(|_| here - 1).into_iter().collect();
                after.extend(step.after.map(|before| number(rank, before)));
                steps.push(OutsideStep {
                    after,
                    receives: receives.get(&here).copied().into_iter().collect(),
                    message: sent.remove(&here),
                });
            }
        }
    }
    steps
}
