//! The optimum of tiny instances by going through every order of events, with a linear program of its own for
//! each: event times, the end, and what every transfer sends between two events.

use lightbay_training::model::network::Network;

/// Shortest makespan on circuits `x`, seconds. Sinks must have no tails.
pub fn optimum(network: &Network, x: &[u32]) -> f64 {
    let n = network.tasks();
    let mut search = Orders {
        network,
        x,
        order: Vec::new(),
        started: vec![false; n],
        ended: vec![false; n],
        best: f64::INFINITY,
    };
    search.extend();
    search.best
}

/// An event: the start (true) or end of a task.
type Event = (usize, bool);

struct Orders<'a> {
    network: &'a Network,
    x: &'a [u32],
    order: Vec<Event>,
    started: Vec<bool>,
    ended: Vec<bool>,
    best: f64,
}

impl Orders<'_> {
    /// Every order in which tasks start after their predecessors ended; last transfers end with the iteration.
    fn extend(&mut self) {
        let n = self.network.tasks();
        if self.started.iter().all(|started| *started)
            && (0..n).all(|task| self.ended[task] || self.network.is_sink(task as u32))
        {
            let order = Order { network: self.network, x: self.x, events: &self.order };
            if let Some(end) = order.shortest() {
                self.best = self.best.min(end);
            }
            return;
        }
        for task in 0..n {
            let preds = self.network.preds.of(task as u32);
            if !self.started[task] && preds.iter().all(|arc| self.ended[arc.task as usize]) {
                self.started[task] = true;
                self.order.push((task, true));
                self.extend();
                self.order.pop();
                self.started[task] = false;
            } else if self.started[task] && !self.ended[task] && !self.network.is_sink(task as u32) {
                self.ended[task] = true;
                self.order.push((task, false));
                self.extend();
                self.order.pop();
                self.ended[task] = false;
            }
        }
    }
}

struct Order<'a> {
    network: &'a Network,
    x: &'a [u32],
    events: &'a [Event],
}

impl Order<'_> {
    fn shortest(&self) -> Option<f64> {
        let (network, k) = (self.network, self.events.len());
        let n = network.tasks();
        // Columns: time of each event, the end, then what a task does in the piece after each event.
        let end = k;
        let sent = |task: usize, piece: usize| k + 1 + task * k + piece;
        let mut program = Program { columns: k + 1 + n * k, rows: Vec::new() };
        let place = |event: Event| self.events.iter().position(|other| *other == event);
        for at in 0..k {
            program.at_most(&[(at, 1.0), (at + 1, -1.0)], 0.0);
        }
        for task in 0..n {
            let start = place((task, true))?;
            let stop = place((task, false)).unwrap_or(k);
            program.at_most(&[(start, -1.0)], -network.release[task]);
            for arc in network.preds.of(task as u32) {
                let before = place((arc.task as usize, false))?;
                program.at_most(&[(before, 1.0), (start, -1.0)], -arc.delay);
            }
            let all: Vec<_> = (start..stop).map(|piece| (sent(task, piece), -1.0)).collect();
            program.at_most(&all, -network.tau[task]);
            for piece in start..stop {
                program.at_most(&[(sent(task, piece), 1.0), (piece, 1.0), (piece + 1, -1.0)], 0.0);
            }
        }
        let inside = |task: usize, piece: usize| {
            place((task, true)).is_some_and(|start| start <= piece)
                && place((task, false)).is_none_or(|stop| piece < stop)
        };
        for piece in 0..k {
            let mut share = |members: &[(u32, f64)], capacity: f64| {
                let mut row: Vec<_> = members
                    .iter()
                    .filter(|(task, _)| inside(*task as usize, piece))
                    .map(|&(task, weight)| (sent(task as usize, piece), weight))
                    .collect();
                row.extend([(piece, capacity), (piece + 1, -capacity)]);
                program.at_most(&row, 0.0);
            };
            for (via, tasks) in network.carried.iter().enumerate() {
                let members: Vec<_> =
                    tasks.iter().map(|&task| (task, network.flows[task as usize])).collect();
                share(&members, f64::from(self.x[via / 2]));
            }
            for group in &network.nic_groups {
                share(&group.members, 1.0);
            }
        }
        program.least(end)
    }
}

/// `min column, rows at most, columns not negative`: slack columns are a dual feasible beginning.
struct Program {
    columns: usize,
    rows: Vec<(Vec<f64>, f64)>,
}

impl Program {
    fn at_most(&mut self, terms: &[(usize, f64)], bound: f64) {
        let mut row = vec![0.0; self.columns];
        for &(column, value) in terms {
            row[column] += value;
        }
        self.rows.push((row, bound));
    }

    /// Dual simplex on a full tableau; `None` if there is no point.
    fn least(&self, goal: usize) -> Option<f64> {
        let (m, width) = (self.rows.len(), self.columns + self.rows.len() + 1);
        let mut table = vec![vec![0.0; width]; m];
        for (at, (row, bound)) in self.rows.iter().enumerate() {
            // Milliseconds keep the numbers near one.
            table[at][..self.columns].copy_from_slice(row);
            table[at][self.columns + at] = 1.0;
            table[at][width - 1] = bound * 1e3;
        }
        let mut cost = vec![0.0; width];
        cost[goal] = 1.0;
        for step in 0..5_000 {
            let negative = (0..m).filter(|row| table[*row][width - 1] < -1e-10);
            let leaving = if step < 500 {
                negative.min_by(|a, b| table[*a][width - 1].total_cmp(&table[*b][width - 1]))
            } else {
                negative.min_by_key(|row| *row)
            };
            let Some(leaving) = leaving else { return Some(-cost[width - 1] / 1e3) };
            let ratio = |column: usize| cost[column] / -table[leaving][column];
            let entering = (0..width - 1)
                .filter(|column| table[leaving][*column] < -1e-9)
                .min_by(|a, b| ratio(*a).total_cmp(&ratio(*b)))?;
            let pivot = table[leaving][entering];
            table[leaving].iter_mut().for_each(|value| *value /= pivot);
            let line = table[leaving].clone();
            for (row, values) in table.iter_mut().enumerate() {
                let factor = values[entering];
                if row != leaving && factor != 0.0 {
                    values.iter_mut().zip(&line).for_each(|(value, part)| *value -= factor * part);
                }
            }
            let factor = cost[entering];
            cost.iter_mut().zip(&line).for_each(|(value, part)| *value -= factor * part);
        }
        panic!("the reference goes round");
    }
}
