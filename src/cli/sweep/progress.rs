//! Messages on standard error during a sweep: a line per cell for people, or every event and row as JSON.

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::inbox::Inbox;
use crate::cli::limits::Progress;
use crate::cli::printer::{AfterPrint, BACKLOG, EventIdentity, FigurePace, Printed, Printer, json_line};
use crate::cli::quantity;
use lightbay_core::event::{Event, EventSink};
use lightbay_core::problem::printable;
use lightbay_engines::metrics;
use lightbay_engines::sweep::{Sweep, SweepRow};
use serde_json::Value;
use std::sync::Arc;

/// The schema name of a row in the stream of events.
const ROW_SCHEMA: &str = "lightbay.sweep-row/1";

/// Message to the printer.
#[derive(Debug)]
pub enum ProgressMessage {
    /// Event of the run of a cell.
    Event(Box<Event>),
    /// A cell is done.
    Row(Box<SweepRow>),
    /// The sweep has ended.
    End,
}

/// Starts printing in the given form; `None` if nothing is to be printed. `done` of `all` cells are already finished.
///
/// # Errors
/// If no thread can be started.
pub fn start(
    form: Progress,
    sweep: Arc<Sweep>,
    all: usize,
    done: usize,
    console: &Console,
) -> Result<Option<Printer<ProgressMessage>>, Failure> {
    if form == Progress::None {
        return Ok(None);
    }
    let mut done = done;
    let mut pace = FigurePace::default();
    let printer = Printer::start(console, move |message| {
        let ended = matches!(message, Some(ProgressMessage::End));
        let lines = match message {
            None => pace.all_held().iter().filter_map(json_line).collect(),
            Some(ProgressMessage::End) => Vec::new(),
            Some(ProgressMessage::Event(event)) => pace.pass(*event).iter().filter_map(json_line).collect(),
            Some(ProgressMessage::Row(row)) if form == Progress::Json => vec![record(&sweep, &row)],
            Some(ProgressMessage::Row(row)) => {
                done += 1;
                vec![words(&sweep, &row, done, all)]
            }
        };
        let then = if ended {
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

fn record(sweep: &Sweep, row: &SweepRow) -> String {
    let mut object = serde_json::Map::from_iter([("schema".to_owned(), Value::from(ROW_SCHEMA))]);
    if let Value::Object(own) = row.to_value(sweep) {
        object.extend(own);
    }
    Value::Object(object).to_string()
}

/// Formats the line about a finished cell, such as
/// `  3/12  bandwidth_gbps 400  delta-joint  optimal  makespan 12.829852 s  NCT 1.0691  0.03 s`.
fn words(sweep: &Sweep, row: &SweepRow, done: usize, all: usize) -> String {
    let width = all.to_string().len();
    let mut parts = vec![format!("{done:>width$}/{all}")];
    if sweep.scenario_names().nth(1).is_some() {
        parts.push(row.scenario.clone());
    }
    parts.extend(
        sweep.axes().iter().zip(&row.values).map(|(axis, value)| format!("{} {value}", axis.label())),
    );
    parts.push(row.method.clone());
    parts.push(row.status.word().to_owned());
    parts.extend(row.value.map(|value| sweep.objective().phrase(value)));
    // Of the other figures, only those that a table of plans always shows, such as NCT.
    let spoken =
        metrics(sweep.kind().name).iter().filter(|info| info.table.is_some_and(|table| table.priority == 0));
    parts.extend(spoken.filter_map(|info| Some(info.phrase(*row.metrics.get(info.name)?))));
    if row.failed() && !row.reason.is_empty() {
        parts.push(row.reason.clone());
    }
    parts.push(quantity::elapsed(row.elapsed_s));
    printable(&parts.join("  "))
}

/// Returns a sink that passes the events of runs on to the printer.
pub fn sink(said: Arc<Inbox<ProgressMessage>>) -> Arc<dyn EventSink> {
    Arc::new(Wire(said))
}

struct Wire(Arc<Inbox<ProgressMessage>>);

impl EventSink for Wire {
    fn report(&self, event: Event) {
        match EventIdentity::of(&event) {
            Some(figures) => {
                let alike = |older: &ProgressMessage| matches!(older, ProgressMessage::Event(older) if figures.are_of(older));
                self.0.put_latest(ProgressMessage::Event(Box::new(event)), BACKLOG, alike);
            }
            None => self.0.put(ProgressMessage::Event(Box::new(event))),
        }
    }
}
