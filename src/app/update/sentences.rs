//! The sentences of the log about the events of runs.

use lightbay_core::event::covered;
use lightbay_core::event::{Done, EndStatus, Event, EventBody, HotStartReport, Severity};
use lightbay_core::kind::ObjectiveInfo;
use lightbay_core::problem::counted;
use lightbay_core::quantity::grouped;
use lightbay_widgets::number;
use std::fmt::Write as _;

/// Returns the sentence about an event for the log; `None` for an event that the log omits, such as a bound that barely
/// changed.
pub(super) fn sentence(
    event: &Event,
    bound_before: Option<f64>,
    plan: Option<u64>,
    stopping: bool,
    objective: ObjectiveInfo,
) -> Option<(Severity, String)> {
    let said = |value: f64| number::grouped(&objective.with_unit(rounded(value, objective)));
    let number = plan.map_or_else(String::new, |number| format!("plan {number}: "));
    Some(match &event.body {
        EventBody::Started(started) => {
            let threads = counted(started.threads as u64, "thread", "threads");
            (Severity::Info, format!("starts with seed {} on {threads}", started.seed))
        }
        EventBody::Phase(phase) if phase.detail.is_empty() => (Severity::Info, phase.name.clone()),
        EventBody::Phase(phase) => (Severity::Info, format!("{}: {}", phase.name, phase.detail)),
        EventBody::Incumbent(incumbent) => {
            let checked = if incumbent.checked { "" } else { ", unchecked" };
            (Severity::Info, format!("{number}{} from {}{checked}", said(incumbent.value), incumbent.source))
        }
        EventBody::Bound(bound) => {
            let before = bound_before?;
            let moved = (bound.value - before).abs() > 1e-4 * before.abs();
            if !moved {
                return None;
            }
            let what = match &bound.only {
                Some(only) => format!("bound for {}", covered(only)),
                None => "bound".to_owned(),
            };
            (
                Severity::Info,
                format!(
                    "{what} {} → {}",
                    said(before),
                    number::grouped(&objective.bound_with_unit(bound.value))
                ),
            )
        }
        EventBody::HotStart(report) => {
            let figures = before_and_after(report, said);
            let severity = if report.fate == lightbay_core::event::HotStartFate::Rejected {
                Severity::Warning
            } else {
                Severity::Info
            };
            (severity, format!("hot start {}: {}{figures}", report.fate.word(), report.why))
        }
        EventBody::Offer(offer) if offer.taken => {
            (Severity::Info, format!("accepted the plan of {}, {}", offer.from, said(offer.value)))
        }
        EventBody::Edit(edit) => (Severity::Info, format!("{} is now {}", edit.name, edit.new)),
        EventBody::Paused(paused) => {
            (Severity::Info, if paused.paused { "paused" } else { "resumed" }.to_owned())
        }
        EventBody::Note(note) => (note.severity, note.text.clone()),
        EventBody::Done(done) => ending(done, stopping, said),
        EventBody::Model(size) => (
            Severity::Info,
            format!(
                "model after {}: {} rows, {} columns, {} integer",
                size.after,
                grouped(size.rows),
                grouped(size.columns),
                grouped(size.integers)
            ),
        ),
        EventBody::Solver(_)
        | EventBody::Line(_)
        | EventBody::Generation(_)
        | EventBody::Series(_)
        | EventBody::Offer(_) => {
            return None;
        }
    })
}

/// Significant digits of a value whose unit has no fixed decimals.
const DIGITS: i32 = 6;

/// Rounds a value of an objective for the log.
fn rounded(value: f64, objective: ObjectiveInfo) -> f64 {
    if objective.unit.decimals.is_some() || !value.is_normal() {
        return value;
    }
    let decimals = DIGITS - 1 - value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(decimals.clamp(0, 15));
    (value * scale).round() / scale
}

/// Returns the objective of the hot-start plan as text: under the rules of this run and, if it differs, also in the run
/// that found the plan.
pub(super) fn before_and_after(report: &HotStartReport, said: impl Fn(f64) -> String) -> String {
    match (report.before, report.after) {
        // The two values rate the same plan, so neither is an improvement.
        (Some(before), Some(after)) if before != after => {
            format!(" (the plan had {}; under the rules of this run it has {})", said(before), said(after))
        }
        (_, Some(value)) => format!(" (at {})", said(value)),
        _ => String::new(),
    }
}

fn ending(done: &Done, stopping: bool, said: impl Fn(f64) -> String) -> (Severity, String) {
    let severity = match done.status {
        EndStatus::Invalid
        | EndStatus::Failed
        | EndStatus::Panicked
        | EndStatus::Infeasible
        | EndStatus::Unbounded => Severity::Error,
        EndStatus::NoPlan if !stopping => Severity::Warning,
        EndStatus::NumericalTrouble => Severity::Warning,
        _ => Severity::Info,
    };
    let mut text = match (done.status, &done.plan) {
        (EndStatus::NoPlan, _) => "ended without a plan".to_owned(),
        (EndStatus::Optimal, Some(plan)) => plan.standing().status(),
        (status, _) => status.word().replace('_', " "),
    };
    if let Some(value) = done.value {
        let _ = write!(text, " at {}", said(value));
    }
    if !done.message.is_empty() {
        let _ = write!(text, ": {}", done.message);
    }
    for violation in done.violations.iter().take(3) {
        let _ = write!(text, "; {violation}");
    }
    (severity, text)
}
