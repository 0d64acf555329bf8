//! Messages on standard error during a run: lines for people or one JSON object per event.

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::limits::Progress;
use crate::cli::printer::{AfterPrint, FigurePace, Printed, Printer, json_line};
use crate::cli::quantity;
use lightbay_core::event::{Done, EndStatus, Event, EventBody, Incumbent, Severity};
use lightbay_core::kind::ObjectiveInfo;
use lightbay_core::metric::MetricInfo;
use lightbay_core::param::{ParamInfo, ParamValue};
use lightbay_core::plan::{Limit, gap};
use lightbay_core::problem::{printable, shortened};
use lightbay_engines::{KindInfo, metrics};
use std::collections::BTreeMap;

/// Seconds of the run's clock between two lines about the same figures.
const BOUND_EVERY_S: f64 = 1.0;
const FIGURES_EVERY_S: f64 = 10.0;

/// Maximum number of characters of a line.
const LONGEST_LINE: usize = 1000;

/// Starts printing events in the given form; `None` if nothing is to be printed.
///
/// # Errors
/// If no thread can be started.
pub fn start(
    form: Progress,
    kind: KindInfo,
    defaults: Vec<ParamInfo>,
    console: &Console,
) -> Result<Option<Printer<Event>>, Failure> {
    if form == Progress::None {
        return Ok(None);
    }
    let mut plain = Plain::new(kind.objective, metrics(kind.name), defaults);
    let mut pace = FigurePace::default();
    let printer = Printer::start(console, move |event: Option<Event>| {
        let done = event.as_ref().is_some_and(|event| matches!(event.body, EventBody::Done(_)));
        let lines = match form {
            Progress::Json => {
                let due = match event {
                    Some(event) => pace.pass(event),
                    None => pace.all_held(),
                };
                due.iter().filter_map(json_line).collect()
            }
            Progress::Plain => event.and_then(|event| plain.line(&event)).into_iter().collect(),
            Progress::None => Vec::new(),
        };
        let then = if done {
            AfterPrint::End
        } else if pace.holds() {
            AfterPrint::AskSoon
        } else {
            AfterPrint::Wait
        };
        Printed { lines, then }
    })?;
    Ok(Some(printer))
}

/// Writes events as short lines.
#[derive(Debug)]
struct Plain {
    objective: ObjectiveInfo,
    /// Descriptions of the figures that plans of the kind have.
    known: &'static [MetricInfo],
    defaults: Vec<ParamInfo>,
    metrics: BTreeMap<String, f64>,
    best: Option<f64>,
    last_bound_s: Option<f64>,
    last_figures_s: f64,
}

impl Plain {
    fn new(objective: ObjectiveInfo, known: &'static [MetricInfo], defaults: Vec<ParamInfo>) -> Self {
        let metrics = BTreeMap::new();
        Self { objective, known, defaults, metrics, best: None, last_bound_s: None, last_figures_s: 0.0 }
    }

    /// Returns the line for an event, if the event is a milestone.
    fn line(&mut self, event: &Event) -> Option<String> {
        let (what, text) = self.words(event)?;
        Some(format!("{:>9.3} s  {what:<9}  {}", event.elapsed_s, printable(&shortened(&text, LONGEST_LINE))))
    }

    fn words(&mut self, event: &Event) -> Option<(&'static str, String)> {
        Some(match &event.body {
            EventBody::Started(started) => {
                let threads = if started.threads == 1 { "thread" } else { "threads" };
                let changed = started.parameters.iter().filter(|(name, value)| !self.is_default(name, value));
                let mut words = vec![
                    event.method.to_string(),
                    format!("seed {}", started.seed),
                    format!("{} {threads}", started.threads),
                ];
                words.extend(changed.map(|(name, value)| format!("{name} {value}")));
                ("start", words.join(", "))
            }
            EventBody::Phase(phase) if phase.detail.is_empty() => ("phase", phase.name.clone()),
            EventBody::Phase(phase) => ("phase", format!("{}: {}", phase.name, phase.detail)),
            EventBody::Incumbent(incumbent) => {
                self.best = Some(incumbent.value);
                // Unchecked plans are not reported here: they are checked first, and then reported at most four times a
                // second.
                if !incumbent.checked {
                    return None;
                }
                ("plan", self.plan_words(incumbent))
            }
            EventBody::Bound(bound) => {
                let due = self.last_bound_s.is_none_or(|last| event.elapsed_s >= last + BOUND_EVERY_S);
                if !due {
                    return None;
                }
                self.last_bound_s = Some(event.elapsed_s);
                let only = bound.only.as_ref().map_or_else(String::new, |only| format!(" ({only})"));
                let gap = match (self.best, &bound.only) {
                    (Some(best), None) => {
                        format!(", gap {}", lightbay_core::quantity::gap(gap(best, bound.value)))
                    }
                    _ => String::new(),
                };
                ("bound", format!("{}{gap}{only}", self.objective.phrase(bound.value)))
            }
            EventBody::Solver(stats) => {
                self.figures_due(event)?;
                let of = stats.total.map_or_else(String::new, |total| format!(" of {total}"));
                let open = stats.open.map_or_else(String::new, |open| format!(", {open} open"));
                ("search", format!("{} {}{of}{open}", stats.done, stats.unit))
            }
            EventBody::Generation(stats) => {
                self.figures_due(event)?;
                let best = self.objective.phrase(stats.best);
                (
                    "search",
                    format!(
                        "generation {} of {}, best {best}, {} evaluations",
                        stats.generation, stats.of, stats.evaluations
                    ),
                )
            }
            EventBody::Model(size) => (
                "model",
                format!(
                    "after {}: {} rows, {} columns, {} integer, {} entries",
                    size.after, size.rows, size.columns, size.integers, size.nonzeros
                ),
            ),
            EventBody::Series(_) | EventBody::Line(_) => return None,
            EventBody::HotStart(report) => {
                let value = |value: Option<f64>| {
                    value.map_or_else(|| "?".to_owned(), |value| self.objective.with_unit(value))
                };
                let change = match (report.before, report.after) {
                    (None, None) => String::new(),
                    (before, after) => format!(", {} before, {} now", value(before), value(after)),
                };
                let why = if report.why.is_empty() { String::new() } else { format!(": {}", report.why) };
                ("hot start", format!("{}{why}{change}", report.fate.word()))
            }
            EventBody::Offer(offer) => {
                let fate = if offer.taken { "taken" } else { "not taken" };
                ("offer", format!("{} from {}: {fate}", self.objective.phrase(offer.value), offer.from))
            }
            EventBody::Edit(edit) => ("edit", format!("{} is now {}", edit.name, edit.new)),
            EventBody::Paused(paused) => ("run", if paused.paused { "paused" } else { "resumed" }.to_owned()),
            EventBody::Note(note) => {
                let what = if note.severity == Severity::Info { "note" } else { "warning" };
                (what, note.text.clone())
            }
            EventBody::Done(done) => ("done", done_words(&self.objective, done)),
        })
    }

    fn is_default(&self, name: &str, value: &ParamValue) -> bool {
        self.defaults.iter().any(|info| info.name == name && info.default.as_ref() == Some(value))
    }

    /// Returns the value of a plan, the figures that changed since the last plan, and the origin of the plan, as text.
    fn plan_words(&mut self, incumbent: &Incumbent) -> String {
        let mut text = self.objective.phrase(incumbent.value);
        for (metric, value) in &incumbent.metrics {
            if self.metrics.insert(metric.clone(), *value) != Some(*value) {
                text.push_str(", ");
                let words = match self.known.iter().find(|info| info.name == metric) {
                    Some(info) => info.phrase(*value),
                    None => format!("{metric} {}", quantity::number(*value)),
                };
                text.push_str(&words);
            }
        }
        if !incumbent.source.is_empty() {
            text.push_str(" from ");
            text.push_str(&incumbent.source);
        }
        text
    }

    /// Returns `Some` if a line about figures is due, because enough time has passed since the last line about figures.
    fn figures_due(&mut self, event: &Event) -> Option<()> {
        if event.elapsed_s < self.last_figures_s + FIGURES_EVERY_S {
            return None;
        }
        self.last_figures_s = event.elapsed_s;
        Some(())
    }
}

fn done_words(objective: &ObjectiveInfo, done: &Done) -> String {
    let standing = done.plan.as_ref().map(|plan| plan.standing());
    let status = match (done.status, &standing) {
        (EndStatus::Optimal, Some(standing)) => standing.status(),
        (EndStatus::GapReached, _) => "gap reached".to_owned(),
        (EndStatus::NumericalTrouble, _) => "numerical trouble".to_owned(),
        (EndStatus::NoPlan, _) => "no plan".to_owned(),
        (other, _) => other.word().to_owned(),
    };
    let limit = match done.limit {
        None => "",
        Some(Limit::Time) => " (time limit)",
        Some(Limit::Work) => " (work limit)",
        Some(Limit::Stall) => " (no improvement)",
    };
    let result = done.value.map_or_else(String::new, |value| {
        let proof = match (&standing, done.bound) {
            (Some(standing), _) => standing.words(false),
            (None, Some(bound)) => {
                let gap = lightbay_core::quantity::gap(gap(value, bound));
                format!("bound {}, gap {gap}", objective.bound_with_unit(bound))
            }
            (None, None) => "nothing proven".to_owned(),
        };
        format!(": {}, {proof}", objective.phrase(value))
    });
    // The limit was already named.
    let why = match done.limit {
        None if !done.message.is_empty() => format!("; {}", done.message.replace('\n', "; ")),
        _ => String::new(),
    };
    format!("{status}{limit}{result}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::event::{Bound, RunId, Started};
    use lightbay_core::kind::Sense;
    use lightbay_core::report::Unit;

    fn event(elapsed_s: f64, body: EventBody) -> Event {
        Event { run: RunId(1), method: "toy".into(), seq: 0, elapsed_s, body }
    }

    fn plain() -> Plain {
        let defaults = vec![ParamInfo::int("boxes", 1, 9, 5, "Boxes.")];
        const NCT: &[MetricInfo] = &[MetricInfo::restated("nct", "NCT", Unit::RATIO, Sense::Min, "")];
        Plain::new(ObjectiveInfo::min("makespan_s", "makespan", Unit::SECONDS, ""), NCT, defaults)
    }

    fn incumbent(value: f64, source: &str) -> EventBody {
        EventBody::Incumbent(Incumbent {
            number: 1,
            value,
            secondary: 0.0,
            source: source.to_owned(),
            checked: true,
            metrics: [("nct".to_owned(), 1.25)].into(),
            plan: None,
        })
    }

    #[test]
    fn plans_and_bounds_are_lines_with_units() {
        let mut plain = plain();
        let line = plain.line(&event(0.5, incumbent(2.0, "vector 17"))).unwrap();
        assert_eq!(line, "    0.500 s  plan       makespan 2.000000 s, NCT 1.2500 from vector 17");
        let line = plain.line(&event(0.5, incumbent(2.0, "vector 18"))).unwrap();
        assert_eq!(line, "    0.500 s  plan       makespan 2.000000 s from vector 18", "NCT is what it was");
        let bound = |value| EventBody::Bound(Bound { value, only: None });
        let line = plain.line(&event(0.6, bound(1.5))).unwrap();
        assert_eq!(line, "    0.600 s  bound      makespan 1.500000 s, gap 25.0 %");
        assert_eq!(plain.line(&event(0.7, bound(1.6))), None, "too soon after the last");
        assert!(plain.line(&event(1.7, bound(1.7))).is_some());
    }

    #[test]
    fn the_start_names_what_differs_from_the_defaults() {
        let mut started = Started { seed: 7, threads: 1, ..Started::default() };
        started.parameters.set("boxes", ParamValue::Int(5));
        let line =
            |started: &Started| plain().line(&event(0.0, EventBody::Started(started.clone()))).unwrap();
        assert_eq!(line(&started), "    0.000 s  start      toy, seed 7, 1 thread");
        started.parameters.set("boxes", ParamValue::Int(6));
        assert_eq!(line(&started), "    0.000 s  start      toy, seed 7, 1 thread, boxes 6");
    }

    #[test]
    fn escapes_in_names_are_shown_not_sent() {
        let line = plain().line(&event(0.0, incumbent(2.0, "\u{1b}[2J"))).unwrap();
        assert!(!line.contains('\u{1b}'), "{line}");
    }

    #[test]
    fn the_end_says_status_value_and_bound() {
        let done = Done {
            status: EndStatus::Stopped,
            limit: Some(Limit::Time),
            message: "time limit reached".to_owned(),
            violations: Vec::new(),
            value: Some(2.0),
            bound: None,
            work: 3,
            plan: None,
        };
        let line = plain().line(&event(60.0, EventBody::Done(done))).unwrap();
        assert_eq!(line, "   60.000 s  done       stopped (time limit): makespan 2.000000 s, nothing proven");
    }
}
