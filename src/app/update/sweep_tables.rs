//! Tables of sweeps that were opened: charted in the pane of sweeps if they fit the open scenario.

use crate::app::state::App;
use crate::app::sweeps::{SweepFile, SweepRun, SweepState};
use lightbay_core::event::Severity;
use lightbay_core::problem::counted;
use lightbay_engines::sweep::{Sweep, SweepRow, Walked};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl App {
    /// Charts a table of a sweep, or says what to do with it.
    pub(super) fn sweep_table(&mut self, source: &str, table: Result<SweepFile, String>) {
        self.start.end_opening();
        self.touch();
        match table.and_then(|table| self.charted(source, &table)) {
            Ok(text) => self.say(Severity::Info, text),
            Err(problem) => self.say(Severity::Error, problem),
        }
    }

    fn charted(&mut self, source: &str, table: &SweepFile) -> Result<String, String> {
        let scenario = table.rows.first().map_or("", |row| get(row, "scenario"));
        let what = format!("{source} is the table of a sweep over {}", table.axes.join(", "));
        let status = format!("`lightbay sweep status {source}` counts its cells");
        let first = format!("open the scenario '{scenario}' first, then the table; {status}");
        let Some((info, offered)) = self.sweep_pane() else { return Err(format!("{what}; {first}")) };
        let [axis] = table.axes.as_slice() else {
            return Err(format!("{what}; {} charts sweeps over one parameter; {status}", info.name));
        };
        let command =
            format!("{axis}={} {}", distinct(table, axis).join(","), distinct(table, "method").join(","));
        let sweep = self
            .asked_sweep(&command, offered)
            .map_err(|problem| format!("{what}, which does not fit the open scenario: {problem}; {first}"))?;
        let rows = rows_of(table, axis, &sweep);
        if rows.is_empty() {
            return Err(format!("{what} of another scenario; {first}"));
        }
        let (cells, count) = (sweep.len(), rows.len());
        self.next_key += 1;
        let Some(work) = &self.work else { return Err(first) };
        let mut run = SweepRun::new(self.next_key, command, Arc::new(sweep), &work.now.scenario);
        let walked = if count < cells { Walked::Stopped } else { Walked::Through };
        (run.rows, run.state) = (rows, SweepState::Ended(walked));
        self.sweeps.insert(run);
        self.show_newest_sweep();
        self.focus(info.id());
        self.to_remember = true;
        let cells = counted(cells as u64, "cell", "cells");
        Ok(format!("{count} of {cells} over {axis} from {source}; {{inspect}} on a point sets its value"))
    }
}

fn get<'t>(row: &'t BTreeMap<String, String>, name: &str) -> &'t str {
    row.get(name).map_or("", String::as_str)
}

/// Returns the distinct texts of a column in the order of the cells.
fn distinct<'t>(table: &'t SweepFile, column: &str) -> Vec<&'t str> {
    let mut rows: Vec<&BTreeMap<String, String>> = table.rows.iter().collect();
    rows.sort_by_key(|row| get(row, "cell").parse::<usize>().unwrap_or(usize::MAX));
    let mut texts: Vec<&str> = Vec::new();
    for text in rows.into_iter().map(|row| get(row, column)) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// Returns the rows of a table whose scenarios are those of the sweep, one for each cell, with the numbers of the
/// sweep's cells.
fn rows_of(table: &SweepFile, axis: &str, sweep: &Sweep) -> Vec<SweepRow> {
    let (values, methods) = (distinct(table, axis), distinct(table, "method"));
    let mut found: BTreeMap<usize, SweepRow> = BTreeMap::new();
    for row in &table.rows {
        let value = values.iter().position(|value| *value == get(row, axis));
        let method = methods.iter().position(|method| *method == get(row, "method"));
        let Some((value, method)) = value.zip(method) else { continue };
        let number = value * methods.len() + method + 1;
        if number > sweep.len() || found.get(&number).is_some_and(|known| known.value.is_some()) {
            continue;
        }
        let cell = sweep.cell(number);
        let hash = sweep.scenario(&cell).ok().and_then(|scenario| scenario.sha256().ok()).unwrap_or_default();
        if hash != get(row, "scenario_sha256") {
            continue;
        }
        let Some(status) = word(get(row, "status")) else { continue };
        let figure = |name: &str| get(row, name).parse::<f64>().ok();
        let metrics = lightbay_engines::metrics(sweep.kind().name).iter();
        found.insert(
            number,
            SweepRow {
                cell: number,
                scenario: get(row, "scenario").to_owned(),
                scenario_sha256: hash,
                values: sweep.values_at(&cell).cloned().collect(),
                method: get(row, "method").to_owned(),
                status,
                limit: word(get(row, "limit")),
                value: figure("value"),
                bound: figure("bound"),
                gap: figure("gap"),
                bound_trust: get(row, "bound_trust").to_owned(),
                bound_covers: get(row, "bound_covers").to_owned(),
                metrics: metrics
                    .filter_map(|info| Some((info.name.to_owned(), figure(info.name)?)))
                    .collect(),
                started_from: None,
                hot_start: word(get(row, "hot_start")),
                reproducible: get(row, "reproducible").parse().ok(),
                work: get(row, "work").parse().unwrap_or(0),
                elapsed_s: figure("elapsed_s").unwrap_or(0.0),
                reason: get(row, "reason").to_owned(),
            },
        );
    }
    found.into_values().collect()
}

/// Reads one of the words of a column; `None` for an unknown word and for an empty field.
fn word<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(Value::String(text.to_owned())).ok()
}
