//! Texts about tasks in the graph and other panes.

use super::explained::Explained;
use crate::view::present::section;
use lightbay_engines::training::analysis::Step;
use lightbay_engines::training::report::task;
use lightbay_engines::training::scenario::instance::{Task, TaskKind};
use lightbay_widgets::{Piece, Tone};

/// Returns the tone of a kind of task.
pub const fn tone(kind: TaskKind) -> Tone {
    match kind {
        TaskKind::PpFwd => Tone::Forward,
        TaskKind::PpBwd => Tone::Backward,
        TaskKind::Dp => Tone::Gradient,
        TaskKind::Other => Tone::Text,
    }
}

/// Returns the number of tasks on the critical path as text: `51 of 198 tasks critical`. A task is critical if it has
/// no slack when everything after it runs as planned, see
/// [`lightbay_engines::training::analysis::TaskFacts::critical`].
pub fn critical(facts: &Explained) -> String {
    let on_path = facts.analysis.tasks.iter().filter(|task| task.critical).count();
    format!("{on_path} of {} tasks critical", facts.analysis.tasks.len())
}

/// Returns duration of a task, its minimum duration, its slack, and the cause of the difference.
pub fn timing(facts: &Explained, task: u32) -> Vec<Piece> {
    section::pieces(&task::timing(&facts.analysis, task))
}

/// Returns `true` if stages have several chunks, so that the micro-batch alone does not identify a compute task.
pub fn has_chunks(facts: &Explained) -> bool {
    facts.steps.iter().any(|step| step.chunk > 0)
}

/// Returns the micro-batch of a compute task, and its chunk if stages have several: `3.2`.
pub fn step_number(step: &Step, chunks: bool) -> String {
    let micro_batch = step.micro_batch + 1;
    if chunks { format!("{micro_batch}.{}", step.chunk + 1) } else { micro_batch.to_string() }
}

/// Returns the micro-batch of a pipeline transfer, with the chunk if its name contains one: `3.2` of `F3.2 s1>s2`.
pub fn task_number(task: &Task) -> String {
    let micro_batch = task.micro_batch.to_string();
    let number = task.name.split(' ').next().and_then(|first| first.strip_prefix(['F', 'B']));
    let chunk = number.and_then(|number| number.strip_prefix(&micro_batch)?.strip_prefix('.'));
    match chunk {
        Some(chunk) if chunk.parse::<u32>().is_ok() => format!("{micro_batch}.{chunk}"),
        _ => micro_batch,
    }
}

/// Formats a number of circuits with its noun: `1 circuit`, `6 circuits`.
pub fn circuits(count: u32) -> String {
    format!("{count} circuit{}", if count == 1 { "" } else { "s" })
}
