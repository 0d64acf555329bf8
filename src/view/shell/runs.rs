//! A run in words: its state, what it does now, what it has proven.

use crate::app::runs::{Run, RunState};
use crate::view::figures::{Goal, Room};
use lightbay_core::event::EndStatus;
use lightbay_widgets::{Piece, RunWord, Tone, number};

/// The state as a word of the strip.
pub fn word(run: &Run) -> RunWord {
    match run.state {
        RunState::Queued => RunWord::Waiting,
        RunState::Running => RunWord::Running,
        RunState::Paused => RunWord::Paused,
        RunState::Stopping => RunWord::Stopping,
        RunState::CutOff => RunWord::CutOff,
        RunState::Ended => match run.done.as_ref().map(|done| done.status) {
            Some(EndStatus::Optimal) => RunWord::Optimal,
            Some(EndStatus::Stopped) => RunWord::Stopped,
            Some(EndStatus::Failed) => RunWord::Failed,
            Some(EndStatus::Panicked) => RunWord::Crashed,
            Some(EndStatus::Infeasible) => RunWord::Infeasible,
            Some(EndStatus::Unbounded) => RunWord::Unbounded,
            Some(EndStatus::NoPlan) => RunWord::NoPlan,
            Some(EndStatus::NumericalTrouble) => RunWord::NumericalTrouble,
            _ => RunWord::Done,
        },
    }
}

/// The best a run has found.
pub fn best(run: &Run, goal: &Goal, room: Room) -> String {
    run.best.as_ref().map_or_else(|| number::UNKNOWN.to_owned(), |best| goal.value(best.value, room).into())
}

fn pair(pieces: &mut Vec<Piece>, label: &str, value: String) {
    let gap = if pieces.is_empty() { "" } else { "  " };
    pieces.push(Piece::muted(format!("{gap}{label} ")));
    pieces.push(Piece::text(value));
}

/// What a run does now, or how it ended: counters, bound, reason.
pub fn note(run: &Run, goal: &Goal) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if run.state == RunState::Queued {
        pieces.push(Piece::muted("waits for the running one"));
        return pieces;
    }
    if let Some(done) = &run.done
        && matches!(
            done.status,
            EndStatus::Failed
                | EndStatus::Panicked
                | EndStatus::Infeasible
                | EndStatus::Unbounded
                | EndStatus::NoPlan
                | EndStatus::NumericalTrouble
        )
        && !done.message.is_empty()
    {
        pieces.push(Piece::new("! ", Tone::Bad).bold());
        pieces.push(Piece::text(done.message.clone()));
        return pieces;
    }
    if let Some(stats) = &run.solver {
        match stats.total {
            Some(total) => {
                let done = format!("{} of {}", number::short(stats.done), number::short(total));
                pair(&mut pieces, &stats.unit, done);
            }
            None => pair(&mut pieces, &stats.unit, number::short(stats.done).into()),
        }
        for (name, count) in [("open", stats.open), ("LP it", stats.lp_iterations)] {
            if let Some(count) = count {
                pair(&mut pieces, name, number::short(count).into());
            }
        }
    }
    if let Some(stats) = &run.generation {
        pair(&mut pieces, "gen", number::short(stats.generation).into());
        pair(&mut pieces, "stall", format!("{} of {}", stats.stall, stats.stall_limit));
        pair(&mut pieces, "evals", number::short(stats.evaluations).into());
    }
    if let Some(bound) = &run.bound {
        pair(&mut pieces, "bound", goal.value(bound.value, Room::Long).into());
        if let Some(only) = &bound.only {
            pieces.push(Piece::muted(format!(", {only}")));
        }
    }
    if pieces.is_empty()
        && run.state.is_active()
        && let Some(phase) = &run.phase
    {
        pieces.push(Piece::muted(phase.name.clone()));
        if !phase.detail.is_empty() {
            pieces.push(Piece::text(format!("  {}", phase.detail)));
        }
    }
    pieces
}

/// One sentence about a run, to read and to copy.
pub fn sentence(run: &Run, goal: &Goal, elapsed_s: f64) -> String {
    let mut text = format!("{} {} {}", run.method, run.word(), number::duration(elapsed_s));
    if let Some(found) = &run.best {
        text.push_str("  best ");
        text.push_str(&goal.with_unit(found.value, Room::Long));
    }
    let note: String = note(run, goal).iter().map(|piece| piece.text.as_ref()).collect();
    if !note.is_empty() {
        text.push_str("  ");
        text.push_str(&note);
    }
    text
}
