//! The columns of the interval model.

use super::Writer;
use lightbay_core::method::MethodError;
use lightbay_highs::model::Column;

/// Columns of a model, by their meaning.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Columns of the circuits of every link.
    pub circuits: Vec<Column>,
    /// Parts, which add up to the number of circuits of a link: (circuits, column that is 1 if the part is chosen,
    /// otherwise 0). The parts are either powers of two, any of which may be chosen, or all counts, exactly one of
    /// which is chosen.
    pub parts: Vec<Vec<(u32, Column)>>,
    /// Columns of event times; there is one event more than intervals.
    pub events: Vec<Column>,
    /// First of the columns, one per part of a link, for the product of that part and the length of an interval
    /// (0-based). `None` where no task can use the link.
    pub lengths: Vec<Vec<Option<Column>>>,
    /// First of the three columns of a task in the first interval of its window: active, volume, begins. Three more
    /// columns follow for every further interval.
    pub cells: Vec<Option<Column>>,
    /// Columns of the start of every task.
    pub start: Vec<Column>,
    /// Columns of the finish of every task.
    pub finish: Vec<Column>,
    /// Column of the end of the iteration.
    pub end: Column,
    /// Column of the volume that each active flow on a directed link sends in an interval (0-based); `None` except in
    /// models with fair rates.
    pub per_flow: Vec<Vec<Option<Column>>>,
}

impl Columns {
    /// Creates an empty set of columns.
    pub(super) const fn new() -> Self {
        Self {
            circuits: Vec::new(),
            parts: Vec::new(),
            events: Vec::new(),
            lengths: Vec::new(),
            cells: Vec::new(),
            start: Vec::new(),
            finish: Vec::new(),
            end: Column(0),
            per_flow: Vec::new(),
        }
    }

    /// Returns the column that is 1 if a task is active in an interval (1-based) of its window that begins at `first`.
    pub fn active(&self, task: usize, first: u32, interval: u32) -> Column {
        self.cell(task, first, interval, 0)
    }

    /// Returns the column of the volume that a task sends in an interval (1-based) of its window that begins at
    /// `first`.
    pub fn volume(&self, task: usize, first: u32, interval: u32) -> Column {
        self.cell(task, first, interval, 1)
    }

    /// Returns the column that is 1 if a task begins in an interval (1-based) of its window that begins at `first`.
    pub fn begins(&self, task: usize, first: u32, interval: u32) -> Column {
        self.cell(task, first, interval, 2)
    }

    fn cell(&self, task: usize, first: u32, interval: u32, which: u32) -> Column {
        let base = self.cells[task].map_or(0, |column| column.0);
        Column(base + 3 * (interval - first) + which)
    }
}

impl Writer<'_> {
    /// Adds all columns of the model.
    pub(super) fn columns(&mut self) -> Result<(), MethodError> {
        self.circuit_columns();
        // Order of columns: circuits and parts, events, lengths, activities, start and finish, end, volumes per flow.
        let k = self.ask.windows.intervals as usize;
        for event in 0..=k {
            let (lower, upper) = ordered(self.earliest[event], self.latest[event]);
            let column = self.model.column(format!("time of event {event}"), lower, upper, 0.0);
            self.columns.events.push(column);
        }
        self.length_columns()?;
        self.task_columns()?;
        // A bound from another search helps only as a bound of the end column.
        let least = if self.ask.form.cuts { self.ask.scope.least_s / self.unit } else { 0.0 };
        let least = least.min(self.limit);
        self.columns.end = self.model.column("end of the iteration", least, self.limit, 1.0);
        if self.ask.form.fair {
            self.per_flow_columns()?;
        }
        Ok(())
    }

    fn circuit_columns(&mut self) {
        let names = self.ask.scope.names;
        for (link, &cap) in self.ask.scope.caps.iter().enumerate() {
            let (lower, upper) = self.ask.scope.fixed.map_or((1, cap), |fixed| (fixed[link], fixed[link]));
            let name = format!("circuits {}", names.links[link]);
            let column = self.model.integer(name, f64::from(lower), f64::from(upper), 0.0);
            self.columns.circuits.push(column);
        }
        for (link, &cap) in self.ask.scope.caps.iter().enumerate() {
            let cap = self.ask.scope.fixed.map_or(cap, |fixed| fixed[link]);
            // Unary counts give the convex hull of circuits times length; bits are DELTA Eq. 7.
            let counts: Vec<u32> = if self.ask.form.cuts {
                (1..=cap).collect()
            } else {
                (0..=cap.ilog2()).map(|bit| 1 << bit).collect()
            };
            let word = if self.ask.form.cuts { "circuits selected" } else { "circuits in bits" };
            let parts = counts.into_iter().map(|count| {
                let name = format!("{count} {word} {}", names.links[link]);
                (count, self.model.binary(name, 0.0))
            });
            let parts = parts.collect();
            self.columns.parts.push(parts);
        }
    }

    /// Returns `true` if any of the tasks may be active in an interval (1-based).
    pub(super) fn used(&self, tasks: &[u32], interval: u32) -> bool {
        let windows = self.ask.windows;
        tasks.iter().any(|task| {
            let task = *task as usize;
            windows.counts(task) && windows.first[task] <= interval && interval <= windows.last[task]
        })
    }

    fn length_columns(&mut self) -> Result<(), MethodError> {
        let network = &self.ask.scope.evaluator.network;
        for link in 0..network.links() {
            let mut columns = Vec::new();
            for interval in 1..=self.ask.windows.intervals {
                self.go_on()?;
                // Lengths per part exist only where a task can use the link.
                let used = network.carried[2 * link..2 * link + 2].iter().any(|t| self.used(t, interval));
                let longest = self.longest(interval);
                columns.push(used.then(|| {
                    let first = Column(self.model.columns() as u32);
                    for &(count, _) in &self.columns.parts[link] {
                        let name = format!(
                            "length of interval {interval} with {count} circuits {}",
                            self.ask.scope.names.links[link]
                        );
                        self.model.column(name, 0.0, longest, 0.0);
                    }
                    first
                }));
            }
            self.columns.lengths.push(columns);
        }
        Ok(())
    }

    fn task_columns(&mut self) -> Result<(), MethodError> {
        let windows = self.ask.windows;
        let tighten = self.ask.form.tighten;
        for task in 0..self.tau.len() {
            self.go_on()?;
            let name = &self.ask.scope.names.tasks[task];
            if !windows.counts(task) {
                self.columns.cells.push(None);
                continue;
            }
            self.columns.cells.push(Some(Column(self.model.columns() as u32)));
            for interval in windows.first[task]..=windows.last[task] {
                // Eq. 12 with the smallest constant: at most the volume, and at most full speed over the longest
                // interval.
                let most = self.most_volume(task, interval);
                self.model.binary(format!("{name} active in interval {interval}"), 0.0);
                self.model.column(format!("volume of {name} in interval {interval}"), 0.0, most, 0.0);
                self.model.column(format!("{name} begins in interval {interval}"), 0.0, 1.0, 0.0);
            }
        }
        for task in 0..self.tau.len() {
            let name = &self.ask.scope.names.tasks[task];
            let (est, lct, tau) = (self.est[task], self.lct[task], self.tau[task]);
            // Windows of Alg. 4 as bounds of the columns.
            let (from, to) = if tighten { ordered(est, lct - tau) } else { (0.0, self.limit) };
            self.columns.start.push(self.model.column(format!("start of {name}"), from, to, 0.0));
            let (from, to) = if tighten { ordered(est + tau, lct) } else { (0.0, self.limit) };
            self.columns.finish.push(self.model.column(format!("finish of {name}"), from, to, 0.0));
        }
        Ok(())
    }

    fn per_flow_columns(&mut self) -> Result<(), MethodError> {
        let network = &self.ask.scope.evaluator.network;
        for (via, tasks) in network.carried.iter().enumerate() {
            let mut columns = Vec::new();
            for interval in 1..=self.ask.windows.intervals {
                self.go_on()?;
                let most = self.most_per_flow(tasks, interval);
                columns.push(self.used(tasks, interval).then(|| {
                    let name =
                        format!("volume per flow in interval {interval} {}", self.ask.scope.names.via(via));
                    self.model.column(name, 0.0, most, 0.0)
                }));
            }
            self.columns.per_flow.push(columns);
        }
        Ok(())
    }

    /// Maximum volume that a task can send in an interval.
    pub(super) fn most_volume(&self, task: usize, interval: u32) -> f64 {
        let flows = self.ask.scope.evaluator.network.flows[task];
        let volume = flows * self.tau[task];
        if self.ask.form.tighten { volume.min(flows * self.longest(interval)) } else { volume }
    }

    /// Maximum volume that a flow of any of the tasks can send in an interval.
    pub(super) fn most_per_flow(&self, tasks: &[u32], interval: u32) -> f64 {
        let used = tasks.iter().filter(|task| self.used(&[**task], interval));
        let most = used.map(|task| self.tau[*task as usize]).fold(0.0, f64::max);
        if self.ask.form.tighten { most.min(self.longest(interval)) } else { most }
    }
}

/// Returns the bounds `(lower, upper)` unchanged, with one exception: if rounding has made the upper bound slightly
/// smaller than the lower bound, sets both bounds to the same value; windows of critical tasks have no slack, so this
/// occurs.
fn ordered(lower: f64, upper: f64) -> (f64, f64) {
    // Critical tasks have equal bounds; rounding may invert them by less than 1e-6 units.
    if upper < lower && lower - upper < 1e-6 { (lower, lower) } else { (lower, upper) }
}
