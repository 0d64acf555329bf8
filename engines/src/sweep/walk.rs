//! Solves the cells of a sweep one after the other, each with all available threads.

use super::{Sweep, SweepRow};
use lightbay_core::checked::SharedPlan;
use lightbay_core::clock::Clock;
use lightbay_core::context::Stop;
use lightbay_core::event::{Done, EndStatus, Event, EventBody, EventSink, HotStartFate, RunId};
use lightbay_core::problem::Problems;
use lightbay_core::run::Runs;
use lightbay_core::worker::Launcher;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// For each line (a chain of cells, each of which starts from the plan of the cell before it): the last cell that has a
/// plan, and this plan. The key is the number of the first cell of the line.
pub type Starts = BTreeMap<usize, (usize, SharedPlan)>;

/// Reason that a walk through the cells ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    /// Every cell has a row.
    Through,
    /// The walk was told to stop. The cell that was being solved has no row.
    Stopped,
}

/// Solves the cells of a sweep. A walk through the cells blocks its thread; other threads may stop it.
#[derive(Debug)]
pub struct Walker {
    runs: Runs,
    sink: Arc<CellSink>,
    /// Number and best plan of the cell that a stop interrupted.
    interrupted: Mutex<Option<(usize, SharedPlan)>>,
}

/// Event sink of the present cell: stores the end of its run, and forwards events.
struct CellSink {
    heard: Mutex<CellReport>,
    news: Condvar,
    also: Option<Arc<dyn EventSink>>,
}

#[derive(Default)]
struct CellReport {
    cell: usize,
    hot_start: Option<HotStartFate>,
    done: Option<(Done, f64)>,
    stop: Option<Stop>,
}

impl CellSink {
    fn lock(&self) -> MutexGuard<'_, CellReport> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares the sink for a cell: removes the data of the previous cell, but keeps a stop request, which applies to
    /// all remaining cells.
    fn begin(&self, cell: usize) {
        let mut heard = self.lock();
        *heard = CellReport { cell, stop: heard.stop, ..CellReport::default() };
    }

    /// Waits until the present run has ended, and returns its result.
    fn wait(&self) -> (Done, f64) {
        let mut heard = self.lock();
        loop {
            if let Some(done) = heard.done.take() {
                return done;
            }
            heard = self.news.wait(heard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl EventSink for CellSink {
    fn report(&self, mut event: Event) {
        let mut heard = self.lock();
        // Listeners get the number of the cell instead of the run number that the board assigned.
        event.run = RunId(heard.cell as u64);
        match &event.body {
            EventBody::HotStart(report) => heard.hot_start = Some(report.fate),
            EventBody::Done(done) => heard.done = Some((done.clone(), event.elapsed_s)),
            _ => {}
        }
        drop(heard);
        let done = matches!(event.body, EventBody::Done(_));
        if let Some(also) = &self.also {
            also.report(event);
        }
        if done {
            self.news.notify_all();
        }
    }
}

impl std::fmt::Debug for CellSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CellSink").field("cell", &self.lock().cell).finish_non_exhaustive()
    }
}

impl Walker {
    /// Creates a walker with a budget of threads. Forwards events to `also`, with the number of the cell as the run
    /// number.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(
        threads: usize,
        also: Option<Arc<dyn EventSink>>,
        clock: Arc<dyn Clock>,
        launcher: Option<Arc<dyn Launcher>>,
    ) -> std::io::Result<Self> {
        let cell_sink = Arc::new(CellSink { heard: Mutex::default(), news: Condvar::new(), also });
        let sink: Arc<dyn EventSink> = Arc::clone(&cell_sink) as _;
        let runs = Runs::new(threads, RunId(1), sink, clock, launcher)?;
        Ok(Self { runs, sink: cell_sink, interrupted: Mutex::default() })
    }

    /// Ends the walk and abandons the cell that is being solved; [`Self::interrupted`] returns its best plan.
    pub fn stop(&self, why: Stop) {
        self.sink.lock().stop.get_or_insert(why);
        self.runs.stop_all(why);
    }

    /// Returns number and best plan of the cell that a stop interrupted; `None` if it had no plan.
    pub fn interrupted(&self) -> Option<(usize, SharedPlan)> {
        self.interrupted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn stopping(&self) -> Option<Stop> {
        self.sink.lock().stop
    }

    /// Solves the cells of these numbers in order. Passes every row to `each` with its checked plan, if there is one;
    /// if `each` returns `Break`, the walk ends after this row. `starts` contains plans of cells that were solved
    /// earlier, for the cells of `numbers` that start from such a plan.
    pub fn walk(
        &self,
        sweep: &Sweep,
        numbers: &[usize],
        mut starts: Starts,
        mut each: impl FnMut(SweepRow, Option<SharedPlan>) -> ControlFlow<()>,
    ) -> Walked {
        for &number in numbers {
            if self.stopping().is_some() {
                return Walked::Stopped;
            }
            let cell = sweep.cell(number);
            let line = sweep.line(&cell);
            let start = starts.get(&line).cloned();
            let (row, plan) = match sweep.job(&cell, start.as_ref().map(|(_, plan)| Arc::clone(plan))) {
                Err(problems) => (SweepRow::refused(sweep, &cell, &unnamed(problems)), None),
                Ok(job) => {
                    let scenario_sha256 = job.scenario_sha256().to_owned();
                    self.sink.begin(number);
                    self.runs.submit(job);
                    // A stop that arrived before the run was registered would be lost.
                    if let Some(why) = self.stopping() {
                        self.runs.stop_all(why);
                    }
                    let (done, elapsed_s) = self.sink.wait();
                    let given_up = matches!(done.status, EndStatus::Stopped | EndStatus::NoPlan);
                    if given_up && self.stopping().is_some() {
                        let plan = done.plan.map(|plan| (number, plan));
                        *self.interrupted.lock().unwrap_or_else(PoisonError::into_inner) = plan;
                        return Walked::Stopped;
                    }
                    let row = SweepRow {
                        scenario_sha256,
                        started_from: start.map(|(from, _)| from),
                        hot_start: self.sink.lock().hot_start,
                        ..SweepRow::ended(sweep, &cell, &done, elapsed_s)
                    };
                    (row, done.plan)
                }
            };
            if sweep.ends_line(&cell) {
                starts.remove(&line);
            } else if let Some(plan) = &plan {
                starts.insert(line, (number, Arc::clone(plan)));
            }
            if each(row, plan).is_break() {
                return Walked::Stopped;
            }
        }
        Walked::Through
    }
}

/// Removes the name of the scenario from problems, because a row has a separate column for the name.
fn unnamed(problems: Problems) -> Problems {
    problems.named("")
}
