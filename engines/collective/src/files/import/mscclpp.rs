//! Execution plans of MSCCL++: their operations as steps of a schedule.

use super::schedule::{OutsideMessage, OutsideSchedule, OutsideStep, wanted};
use crate::files::mscclpp::NAME;
use crate::scenario::CollectiveScenario;
use lightbay_core::format::{FormatInfo, Input, SubjectSort};
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_formats::mscclpp::{ExecutionPlan, PlanAction, PlanExecution, execute, read};
use lightbay_formats::{Imported, Limits};
use rustc_hash::FxHashMap;

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "An execution plan of MSCCL++ with puts, signals and waits, mapped onto the network of a \
         scenario that you also pass; lightbay first executes it as a test.",
        SubjectSort::Plan,
        "json",
    )
    .leaving_out(&["thread blocks, channels and places in buffers"])
}

/// Reads a plan and executes it for the collective of a scenario.
///
/// # Errors
/// Every problem of the file, operations that read the buffers of other ranks, and a plan that does not implement its
/// collective.
pub(super) fn schedule(
    input: &Input,
    scenario: &CollectiveScenario,
) -> Result<Imported<OutsideSchedule>, Problems> {
    let file = read(input.bytes.as_slice(), &Limits::default())?;
    let plan = &file.value;
    let operations = || plan.gpus.iter().flat_map(|gpu| &gpu.blocks).flatten();
    let reading = operations().filter(|one| one.sources.iter().any(|span| span.rank.is_some()));
    let mut names: Vec<&str> = reading.map(|one| one.action.name()).collect();
    if !names.is_empty() {
        let count = counted(names.len() as u64, "operation reads", "operations read");
        names.sort_unstable();
        names.dedup();
        let message = format!("{count} buffers of other ranks ({})", names.join(", "));
        let remedy = "use a plan in which ranks put their data to other ranks and signal";
        return Err(Problem::new("gpus", message, remedy).into());
    }
    let sizes = plan.buffer_sizes();
    let wanted = wanted(plan.collective, scenario, &sizes);
    let done = execute(plan, scenario.demand.root, &wanted)?;
    if !done.findings.is_empty() {
        return Err(done.findings);
    }
    let blocks: usize = plan.gpus.iter().map(|gpu| gpu.blocks.len()).sum();
    let lines = vec![
        format!(
            "found: {} ranks, {}, {}, {}",
            plan.gpus.len(),
            counted(blocks as u64, "thread block", "thread blocks"),
            counted(done.passages.len() as u64, "put", "puts"),
            counted(done.signals.len() as u64, "signal", "signals"),
        ),
        format!(
            "executed: {} output chunks contain the data that {} requires",
            done.compared,
            plan.collective.name()
        ),
    ];
    let outside = OutsideSchedule { op: plan.collective, sizes, steps: steps(plan, &done), lines };
    Ok(file.map(|_| outside))
}

/// Returns the operations of all thread blocks as steps. After a signal, the waiting block sees everything that the
/// sender has put into its buffers before.
fn steps(plan: &ExecutionPlan, done: &PlanExecution) -> Vec<OutsideStep> {
    let mut first: Vec<Vec<u32>> = Vec::with_capacity(plan.gpus.len());
    let mut steps: Vec<OutsideStep> = Vec::new();
    for gpu in &plan.gpus {
        let mut of_gpu = Vec::with_capacity(gpu.blocks.len());
        for operations in &gpu.blocks {
            of_gpu.push(steps.len() as u32);
            for index in 0..operations.len() {
                let after = if index == 0 { Vec::new() } else { vec![steps.len() as u32 - 1] };
                steps.push(OutsideStep { after, ..OutsideStep::default() });
            }
        }
        first.push(of_gpu);
    }
    let number = |(rank, block, index): (u32, u32, u32)| first[rank as usize][block as usize] + index;
    // Puts of every thread block, by destination rank.
    let mut puts: FxHashMap<(u32, u32, u32), Vec<u32>> = FxHashMap::default();
    let mut more: Vec<OutsideStep> = Vec::new();
    for passage in &done.passages {
        let chunks = passage.sums.iter().map(|sum| done.memory.terms(*sum)).collect();
        let message = OutsideMessage { from: passage.from, to: passage.to, chunks };
        let (rank, block, _) = passage.operation;
        let mut at = number(passage.operation);
        if steps[at as usize].message.is_some() {
            // Each further message of the same operation becomes a parallel step.
            let after = steps[at as usize].after.clone();
            at = (steps.len() + more.len()) as u32;
            more.push(OutsideStep { after, receives: Vec::new(), message: Some(message) });
        } else {
            steps[at as usize].message = Some(message);
        }
        puts.entry((rank, block, passage.to)).or_default().push(at);
    }
    for [signal, wait] in &done.signals {
        let (before, at) = (number(*signal), number(*wait));
        let action = plan.gpus[wait.0 as usize].blocks[wait.1 as usize][wait.2 as usize].action;
        steps[at as usize].after.push(before);
        if action == PlanAction::Wait {
            let of_block = puts.get(&(signal.0, signal.1, wait.0)).map_or(&[][..], Vec::as_slice);
            let is_before = |put: &&u32| {
                let place = if **put as usize >= steps.len() {
                    more[**put as usize - steps.len()].after.first().map_or(0, |one| one + 1)
                } else {
                    **put
                };
                place <= before
            };
            let there: Vec<u32> = of_block.iter().filter(is_before).copied().collect();
            steps[at as usize].receives.extend(there);
        }
    }
    for met in &done.meetings {
        let places: Vec<u32> = met.iter().map(|place| number(*place)).collect();
        let before: Vec<u32> = places.iter().flat_map(|at| steps[*at as usize].after.clone()).collect();
        for at in places {
            steps[at as usize].after.clone_from(&before);
        }
    }
    steps.append(&mut more);
    steps
}
