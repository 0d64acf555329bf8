//! Conversion of a grid to a point of the model and back.

use super::{Grid, IntervalModel};
use crate::model::network::Network;
use lightbay_highs::model::Column;

/// Minimum value at which a binary column of a solution counts as 1. Binary columns differ from 0 or 1 by at most 1e-6,
/// so any threshold between 1e-6 and 1 - 1e-6 gives the same result.
const HALF: f64 = 0.5;

impl IntervalModel {
    /// Returns the point of a schedule, one value per column.
    ///
    /// # Errors
    /// A sentence that says why the schedule has no point in this model: a task outside its window, too few intervals,
    /// circuits beyond the caps, or an order that contradicts the DAG.
    pub fn point(&self, network: &Network, grid: &Grid) -> Result<Vec<f64>, String> {
        // A point exists only if there are times that fit the order of events in the grid.
        let timed = grid.timed(network).ok_or("the order of its events contradicts the DAG")?;
        let (windows, columns) = (&self.windows, &self.columns);
        let k = windows.intervals as usize;
        if grid.intervals as usize > k {
            return Err(format!("it has {} intervals, but the model has {k}", grid.intervals));
        }
        let mut point = vec![0.0; self.model.columns()];
        let mut put = |column: Column, value: f64| point[column.index()] = value;
        for (link, &circuits) in grid.circuits.iter().enumerate() {
            put(columns.circuits[link], f64::from(circuits));
            for &(count, part) in &columns.parts[link] {
                // Binary parts: the bits of the count; unary parts: the part that equals the count.
                put(part, f64::from(u8::from(self.has(count, circuits))));
            }
        }
        let last = timed.events.last().copied().unwrap_or(0.0);
        let event = |event: usize| timed.events.get(event).copied().unwrap_or(last) / self.unit_s;
        for (index, &column) in columns.events.iter().enumerate() {
            put(column, event(index));
        }
        for (link, lengths) in columns.lengths.iter().enumerate() {
            // Product columns have the length of the interval where their part is chosen, else 0.
            for (index, first) in lengths.iter().enumerate() {
                let Some(first) = first else { continue };
                for (place, &(count, _)) in columns.parts[link].iter().enumerate() {
                    if self.has(count, grid.circuits[link]) {
                        put(Column(first.0 + place as u32), event(index + 1) - event(index));
                    }
                }
            }
        }
        for task in 0..network.tasks() {
            put(columns.start[task], timed.start[task] / self.unit_s);
            put(columns.finish[task], timed.finish[task] / self.unit_s);
            if grid.first[task] == 0 {
                continue;
            }
            let (from, to) = (grid.first[task], grid.last(task));
            let (first, last) = (windows.first[task], windows.last[task]);
            if from < first || to > last {
                return Err(format!(
                    "task {task} is active in intervals {from} to {to}, outside its window {first} to {last}"
                ));
            }
            put(columns.begins(task, first, from), 1.0);
            // Activity, volume and, in the first interval, the begin flag.
            for interval in from..=to {
                put(columns.active(task, first, interval), 1.0);
                let sent = grid.sent_in(task, interval) / self.unit_s;
                put(columns.volume(task, first, interval), sent);
                let via = network.via[task] as usize;
                if let Some(column) = columns.per_flow.get(via).and_then(|list| list[interval as usize - 1]) {
                    put(column, sent / network.flows[task]);
                }
            }
        }
        let end = (timed.makespan / self.unit_s).max(self.model.lower[columns.end.index()]);
        put(columns.end, end);
        Ok(point)
    }

    /// Returns `true` if the part `count` is chosen for a link with `circuits` circuits: if the binary form of
    /// `circuits` has this bit or, for unary parts, if the two numbers are equal.
    fn has(&self, count: u32, circuits: u32) -> bool {
        if self.form.cuts { count == circuits } else { circuits & count != 0 }
    }

    /// Returns the schedule that a point represents: its circuits, order of events and volumes.
    pub fn grid(&self, network: &Network, point: &[f64]) -> Grid {
        let (windows, columns) = (&self.windows, &self.columns);
        let n = network.tasks();
        let mut grid = Grid {
            circuits: columns
                .circuits
                .iter()
                .map(|column| point[column.index()].round().max(1.0) as u32)
                .collect(),
            intervals: windows.intervals,
            first: vec![0; n],
            sent: vec![Vec::new(); n],
        };
        for task in (0..n).filter(|task| windows.counts(*task)) {
            let (first, last) = (windows.first[task], windows.last[task]);
            grid.first[task] = first;
            // Volumes of inactive intervals are rounding of the solver.
            grid.sent[task] = (first..=last)
                .map(|interval| {
                    let active = point[columns.active(task, first, interval).index()] > HALF;
                    let sent = point[columns.volume(task, first, interval).index()] * self.unit_s;
                    if active { sent.max(0.0) } else { 0.0 }
                })
                .collect();
            grid.settle(network, task);
        }
        grid
    }

    /// End of the iteration that a point claims, seconds.
    pub fn claimed_s(&self, point: &[f64]) -> f64 {
        point[self.columns.end.index()] * self.unit_s
    }
}
