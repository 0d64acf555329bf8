//! A run in words: its state, its present work, and its bounds.

use crate::app::runs::{Run, RunState};
use crate::app::state::App;
use crate::view::figures::{Goal, Room};
use lightbay_core::event::EndStatus;
use lightbay_core::kind::Sense;
use lightbay_widgets::{Piece, RunWord, Tone, number};

/// Returns the state as one word for the strip.
pub fn word(app: &App, run: &Run) -> RunWord {
    match run.state {
        RunState::Queued => RunWord::Waiting,
        RunState::Running => RunWord::Running,
        RunState::Paused => RunWord::Paused,
        RunState::Stopping => RunWord::Stopping,
        RunState::Elsewhere => RunWord::Elsewhere,
        RunState::CutOff => RunWord::CutOff,
        RunState::Ended => match run.done.as_ref().map(|done| done.status) {
            Some(EndStatus::Optimal) if app.is_best_of_all(run) => RunWord::Optimal,
            Some(EndStatus::Stopped) => RunWord::Stopped,
            Some(EndStatus::Invalid) => RunWord::Refused,
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

/// Returns the best value that a run has found, as text.
pub fn best(run: &Run, goal: &Goal, room: Room) -> String {
    run.best.as_ref().map_or_else(|| number::UNKNOWN.to_owned(), |best| goal.value(best.value, room).into())
}

/// Parts of a note: if room is short, the last parts are omitted and none is cut.
#[derive(Default)]
struct NoteParts(Vec<Vec<Piece>>);

impl NoteParts {
    fn pair(&mut self, label: &str, value: String) {
        self.0.push(vec![Piece::muted(format!("{label} ")), Piece::text(value)]);
    }

    fn within(self, room: usize) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut used = 0;
        for part in self.0 {
            let width: usize = part.iter().map(|piece| piece.text.chars().count()).sum();
            let gap = if pieces.is_empty() { 0 } else { 2 };
            if used + gap + width > room && !pieces.is_empty() {
                break;
            }
            used += gap + width;
            if gap > 0 {
                pieces.push(Piece::text("  "));
            }
            pieces.extend(part);
        }
        pieces
    }
}

/// Returns the reason that a run was refused, failed, ended without a plan or had numerical trouble, in the words of the run.
pub fn failure(run: &Run) -> Option<&str> {
    let done = run.done.as_ref()?;
    let failed = matches!(
        done.status,
        EndStatus::Invalid
            | EndStatus::Failed
            | EndStatus::Panicked
            | EndStatus::Infeasible
            | EndStatus::Unbounded
            | EndStatus::NoPlan
            | EndStatus::NumericalTrouble
    );
    (failed && !done.message.is_empty()).then_some(&done.message)
}

/// Time without output after which a solver is shown as silent, s.
const SILENT_S: f64 = 2.0;

/// Returns the stage of a run for which the user may have to wait: `root LP, silent for 12 s`, `stopping (root LP), 3
/// s`; `None` if the run is neither running nor stopping, or if a running method has not reported a stage.
pub fn standing(app: &App, run: &Run) -> Option<String> {
    let seconds = |value: f64| number::fixed(value.floor(), 0);
    if let Some(waited_s) = app.stopping_s(run) {
        let stage = run.stage().map_or_else(String::new, |stage| format!(" ({stage})"));
        let since = if waited_s < 1.0 { String::new() } else { format!(", {} s", seconds(waited_s)) };
        return Some(format!("stopping{stage}{since}"));
    }
    if run.state != RunState::Running {
        return None;
    }
    let silent_s = app.silence_s(run);
    let silent = (silent_s >= SILENT_S).then(|| format!("silent for {} s", seconds(silent_s)));
    let stage = run.stage()?;
    Some(silent.map_or_else(|| stage.to_owned(), |silent| format!("{stage}, {silent}")))
}

/// Returns a note on a run in `room` columns: its stage, counters and bound, or the reason that it ended.
pub fn note(app: &App, run: &Run, goal: &Goal, room: usize) -> Vec<Piece> {
    if run.state == RunState::Queued {
        return vec![Piece::muted("waits for the active run")];
    }
    if let Some(why) = failure(run) {
        return vec![Piece::new("! ", Tone::Bad).bold(), Piece::text(why.to_owned())];
    }
    let mut parts = NoteParts::default();
    // The row of a run has a note if the run has other parameters than the side bar.
    if run.scenario_sha256 != app.plans.scenario_sha256 {
        parts.0.push(vec![Piece::new("other parameters", Tone::Changed)]);
    }
    if let Some(elsewhere) = app.session.elsewhere.as_ref().filter(|_| run.state == RunState::Elsewhere) {
        parts.0.push(vec![Piece::text(format!("in {}", elsewhere.holder))]);
    }
    if let Some(reason) = run.reason() {
        // A proof that the checker has not confirmed is a claim; a run with a message says itself what it has proven.
        let is_claim = run
            .done
            .as_ref()
            .is_some_and(|done| done.status == EndStatus::Optimal && done.message.is_empty())
            && !app.is_best_of_all(run);
        // The word of the header for the bound that the plan meets.
        let standing = app.plans.newest_of(run.id).filter(|_| is_claim).map(|entry| app.standing_of(entry));
        let proof = standing.as_ref().and_then(|standing| standing.optimum());
        let reason = match proof {
            Some(bound) => {
                let word = format!("optimum {}", bound.word());
                if word.len() <= room { word } else { short_word(&word) }
            }
            None if is_claim => "claims an optimum".to_owned(),
            None => reason,
        };
        parts.0.push(vec![Piece::text(reason)]);
    }
    if let Some(standing) = standing(app, run) {
        parts.0.push(vec![Piece::text(standing)]);
    }
    if let Some(stats) = &run.solver {
        let done = number::short(stats.done);
        let count = match stats.total {
            Some(total) => format!("{done} of {}", number::short(total)),
            None => done.into(),
        };
        parts.pair(&stats.unit, count);
        for (name, count) in [("open", stats.open), ("LP it", stats.lp_iterations)] {
            if let Some(count) = count {
                parts.pair(name, number::short(count).into());
            }
        }
    }
    if let Some(stats) = &run.generation {
        parts.pair("gen", number::short(stats.generation).into());
        parts.pair("stall", format!("{} of {}", stats.stall, stats.stall_limit));
        parts.pair("evals", number::short(stats.evaluations).into());
    }
    if let Some((bound, only)) = run.proof() {
        // A better bound of another run is drawn above the rows.
        let drawn = app.plans.best().and_then(|best| app.standing_of(best).drawn().map(|drawn| drawn.value));
        let is_beaten = drawn.is_some_and(|drawn| match goal.sense {
            Sense::Min => drawn > bound,
            Sense::Max => drawn < bound,
        });
        let label = if is_beaten { "own bound" } else { "bound" };
        let value = goal.bound(bound, Room::Long);
        match only.map(|only| format!("{value}, {only}")) {
            None => parts.pair(label, value.into()),
            Some(whole) if label.len() + 1 + whole.chars().count() <= room => parts.pair(label, whole),
            // A bound is always shown with its condition.
            Some(_) => {
                let sign = if goal.sense == Sense::Min { "≥" } else { "≤" };
                parts.pair(sign, format!("{}, some plans", goal.bound(bound, Room::Short)));
            }
        }
    }
    if parts.0.is_empty()
        && (run.state.is_active() || run.state == RunState::Elsewhere)
        && let Some(phase) = &run.phase
    {
        parts.0.push(vec![Piece::muted(phase.name.clone())]);
        if !phase.detail.is_empty() {
            parts.0.push(vec![Piece::text(phase.detail.clone())]);
        }
    }
    parts.within(room)
}

/// Returns the words about a bound for a narrow place: `✓`, `claimed some plans`.
pub fn short_word(word: &str) -> String {
    word.replacen("verified", "✓", 1).replacen(" for some", " some", 1)
}

/// Returns one sentence about a run, for display and for copying.
pub fn sentence(app: &App, run: &Run, goal: &Goal) -> String {
    let mut text = format!("{} {} {}", run.method, app.run_word(run), number::duration(app.elapsed_s(run)));
    if let Some(found) = &run.best {
        text.push_str("  best ");
        text.push_str(&goal.with_unit(found.value, Room::Long));
    }
    let note: String =
        note(app, run, goal, usize::MAX >> 1).iter().map(|piece| piece.text.as_ref()).collect();
    if !note.is_empty() {
        text.push_str("  ");
        text.push_str(&note);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::failure;
    use crate::app::runs::{Run, RunState};
    use lightbay_core::event::{Done, EndStatus, RunId};

    #[test]
    fn a_refused_run_has_a_reason() {
        let mut run = Run::new(RunId(1), "delta-select", "", RunState::Ended);
        run.done = Some(Done {
            status: EndStatus::Invalid,
            limit: None,
            message: "objective: is not supported".to_owned(),
            violations: Vec::new(),
            value: None,
            bound: None,
            work: 0,
            plan: None,
        });
        assert_eq!(failure(&run), Some("objective: is not supported"));
        assert_eq!(run.word(), "REFUSED");
    }
}
