//! Entropic scaling of the relaxation (docs/methods/crossconnect.md, section 8): prices of pairs and ports that prove a
//! lower bound.
//!
//! Each cell of the exact model has a column for circuits that can stay and one for new circuits. With prices `p` of the
//! three lines of a column (its pair, its A ports, its B ports), the weight of the column is `exp((p - cost)/T)`, at
//! most its upper bound. A sweep changes the price of one line after the other such that the weights on the line sum
//! to the right side of its row; this is iterative proportional fitting (Sinkhorn scaling). It converges to the
//! relaxation with an entropy term of weight T, without any matrix factorisation.

use crate::model::assignment::Assignment;
use crate::model::task::Task;
use crate::plan::{BoundPrices, PRICE_UNITS};
use crate::search::orient::count;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

mod beliefs;

#[cfg(test)]
mod tests;

/// Largest absolute price, in circuits. A price of one circuit outweighs every cost; in a task that cannot be completed,
/// prices would grow without limit.
const LARGEST: f64 = 5.0;

/// Number of columns that are processed between two stop checks, less than 1 ms of work.
const ASKED: usize = 1 << 15;

/// Sum of weights below which a line counts as empty, because all of its weights are rounded to 0.
const EMPTY: f64 = 1e-30;

/// Largest logarithm of a weight.
const HIGHEST: f64 = 80.0;

/// Temperatures of the bound, in circuits: from so high that the first sweeps spread over all columns, to so low that
/// the entropy term is worth less than half a circuit for a thousand circuits.
const BOUND_HOT: f64 = 0.3;
const BOUND_COLD: f64 = 0.003;
/// Factor between two temperatures.
const BOUND_COOLING: f64 = 0.6;
/// Number of columns times sweeps at each temperature, and the limits of the number of sweeps.
const BOUND_WORK: usize = 6_000_000;
const BOUND_SWEEPS: (usize, usize) = (10, 200);

/// Place of a circuit: switch, pod at the A port, pod at the B port.
pub(crate) type CircuitSpot = (u32, u32, u32);

/// A line: circuits of a pair, or ports of a pod on one side of a switch.
#[derive(Clone, Copy, Debug)]
struct ScaledLine {
    /// Right side of the row: target circuits, or ports.
    sum: f64,
    /// `true` if the row is an equation; otherwise its price is at most 0.
    exact: bool,
    price: f64,
}

impl ScaledLine {
    /// Returns the largest price.
    const fn top(&self) -> f64 {
        if self.exact { LARGEST } else { 0.0 }
    }
}

/// The relaxation of a task with prices. The arrays of columns are separate, because a sweep reads only some of them.
#[derive(Clone, Debug)]
pub(crate) struct Scaling {
    pods: usize,
    ocs_count: usize,
    pairs: usize,
    installed: f64,
    spots: Vec<CircuitSpot>,
    /// `true` for circuits that stay: each saves one removal.
    stays: Vec<bool>,
    /// Lines of the pair, of the A ports and of the B ports of every column.
    places: Vec<[u32; 3]>,
    /// Upper bounds.
    most: Vec<f32>,
    /// Weights, before they are limited to the upper bounds.
    weights: Vec<f32>,
    lines: Vec<ScaledLine>,
    /// Sums of the weights on every line; -1 for a line without columns.
    sums: Vec<f64>,
    /// Factors of the weights on every line; for beliefs, the right sides.
    factors: Vec<f32>,
    /// Messages of the three lines to every column, for beliefs.
    messages: Vec<[f32; 3]>,
}

impl Scaling {
    /// Creates the relaxation of a task whose ports have sides, with all prices 0.
    pub(crate) fn new(task: &Task, watch: &mut impl Watch) -> Result<Self, MethodError> {
        let (pods, ocs_count) = (task.pods, task.ocs_count);
        let pairs = task.wanted.len();
        let mut needed = vec![0u64; pods];
        for cell in &task.wanted {
            needed[cell.a as usize] += u64::from(cell.count);
            needed[cell.b as usize] += u64::from(cell.count);
        }
        // A pod that needs all of its ports uses each of them, so its rows are equations.
        let ports = |pod: usize| -> u64 {
            let both = task.ports_a.iter().chain(&task.ports_b);
            both.map(|row| u64::from(row[pod])).sum()
        };
        let full: Vec<bool> = (0..pods).map(|pod| needed[pod] == ports(pod)).collect();
        let line = |sum: u32, exact: bool| ScaledLine { sum: f64::from(sum), exact, price: 0.0 };
        let mut lines: Vec<ScaledLine> = task.wanted.iter().map(|cell| line(cell.count, true)).collect();
        for table in [&task.ports_a, &task.ports_b] {
            for row in table {
                lines.extend(row.iter().zip(&full).map(|(&ports, &full)| line(ports, full)));
            }
        }
        let mut scaling = Self {
            pods,
            ocs_count,
            pairs,
            installed: task.installed.circuits() as f64,
            spots: Vec::new(),
            stays: Vec::new(),
            places: Vec::new(),
            most: Vec::new(),
            weights: Vec::new(),
            sums: vec![-1.0; lines.len()],
            factors: vec![1.0; lines.len()],
            messages: Vec::new(),
            lines,
        };
        for (pair, cell) in task.wanted.iter().enumerate() {
            watch.checkpoint()?;
            for ocs in 0..ocs_count {
                for (a, b) in [(cell.a, cell.b), (cell.b, cell.a)] {
                    let most =
                        cell.count.min(task.ports_a[ocs][a as usize]).min(task.ports_b[ocs][b as usize]);
                    let old = count(&task.installed.ocs[ocs], a, b).min(most);
                    if old > 0 {
                        scaling.add(pair, (ocs as u32, a, b), true, old);
                    }
                    if old < most {
                        scaling.add(pair, (ocs as u32, a, b), false, most);
                    }
                }
            }
        }
        Ok(scaling)
    }

    fn add(&mut self, pair: usize, spot: CircuitSpot, stays: bool, most: u32) {
        let (ocs, a, b) = (spot.0 as usize, spot.1 as usize, spot.2 as usize);
        let port_a = self.pairs + ocs * self.pods + a;
        let port_b = self.pairs + (self.ocs_count + ocs) * self.pods + b;
        self.spots.push(spot);
        self.stays.push(stays);
        self.places.push([pair as u32, port_a as u32, port_b as u32]);
        self.most.push(most as f32);
        self.weights.push(0.0);
        self.messages.push([1.0; 3]);
    }

    /// Returns the number of columns.
    pub(super) const fn columns(&self) -> usize {
        self.spots.len()
    }

    /// Returns the negative reduced cost of a column.
    fn value(&self, column: usize) -> f64 {
        let price: f64 = self.places[column].iter().map(|&line| self.lines[line as usize].price).sum();
        price + f64::from(self.stays[column])
    }

    /// Computes the weights from the prices.
    fn weigh(&mut self, temperature: f64, watch: &mut impl Watch) -> Result<(), MethodError> {
        for column in 0..self.columns() {
            if column.is_multiple_of(ASKED) {
                watch.checkpoint()?;
            }
            // Limited, because infinite weights could not become smaller again.
            self.weights[column] = (self.value(column) / temperature).min(HIGHEST).exp() as f32;
        }
        Ok(())
    }

    /// Raises the prices of lines whose weights are all rounded to 0, such that the best column of each has weight 1.
    fn lift(&mut self, kind: usize, temperature: f64, watch: &mut impl Watch) -> Result<(), MethodError> {
        let mut best = vec![f64::NEG_INFINITY; self.lines.len()];
        for column in 0..self.columns() {
            let line = self.places[column][kind] as usize;
            best[line] = best[line].max(self.value(column));
        }
        for line in self.range(kind) {
            if !(0.0..EMPTY).contains(&self.sums[line]) {
                continue;
            }
            let price = self.lines[line].price - best[line];
            self.lines[line].price = price.clamp(-LARGEST, self.lines[line].top());
        }
        self.weigh(temperature, watch)?;
        self.add_up(kind, watch)
    }

    /// Adds up the weights of every line of a kind.
    fn add_up(&mut self, kind: usize, watch: &mut impl Watch) -> Result<(), MethodError> {
        let range = self.range(kind);
        self.sums[range].fill(-1.0);
        for column in 0..self.columns() {
            if column.is_multiple_of(ASKED) {
                watch.checkpoint()?;
            }
            let sum = &mut self.sums[self.places[column][kind] as usize];
            *sum = sum.max(0.0) + f64::from(self.weights[column].min(self.most[column]));
        }
        Ok(())
    }

    /// Sweeps over all lines.
    fn sweep(&mut self, temperature: f64, sweeps: usize, watch: &mut impl Watch) -> Result<(), MethodError> {
        self.weigh(temperature, watch)?;
        self.add_up(0, watch)?;
        for at in 0..3 * sweeps {
            watch.count(1);
            let (kind, next) = (at % 3, (at + 1) % 3);
            if self.sums[self.range(kind)].iter().any(|sum| (0.0..EMPTY).contains(sum)) {
                self.lift(kind, temperature, watch)?;
            }
            for at in self.range(kind) {
                let (line, sum) = (&mut self.lines[at], self.sums[at]);
                self.factors[at] = 1.0;
                if sum >= EMPTY {
                    let price = temperature.mul_add((line.sum / sum).ln(), line.price);
                    let price = price.clamp(-LARGEST, line.top());
                    self.factors[at] = ((price - line.price) / temperature).exp() as f32;
                    line.price = price;
                }
            }
            // Changes the weights and adds up those of the next kind in one pass, because memory limits the speed.
            let range = self.range(next);
            self.sums[range].fill(-1.0);
            let columns = self.places.chunks(ASKED).zip(self.weights.chunks_mut(ASKED));
            for ((places, weights), most) in columns.zip(self.most.chunks(ASKED)) {
                watch.checkpoint()?;
                for ((places, weight), most) in places.iter().zip(weights).zip(most) {
                    *weight *= self.factors[places[kind] as usize];
                    let sum = &mut self.sums[places[next] as usize];
                    *sum = sum.max(0.0) + f64::from(weight.min(*most));
                }
            }
        }
        Ok(())
    }

    /// Returns the number of target circuits that are not fixed.
    pub(super) fn left(&self) -> f64 {
        self.lines[..self.pairs].iter().map(|line| line.sum).sum()
    }

    /// Fixes one circuit of a column and returns its place; `None` if no line or column has room for it.
    pub(super) fn fix(&mut self, column: usize) -> Option<CircuitSpot> {
        let places = self.places[column];
        let has_room = |&line: &u32| self.lines[line as usize].sum >= 1.0;
        if self.most[column] < 1.0 || !places.iter().all(has_room) {
            return None;
        }
        self.most[column] -= 1.0;
        for line in places {
            self.lines[line as usize].sum -= 1.0;
        }
        Some(self.spots[column])
    }

    /// Drops the columns that can hold no further circuit.
    pub(super) fn prune(&mut self) {
        let mut end = 0;
        for column in 0..self.columns() {
            let places = self.places[column];
            let has_room = places.iter().all(|&line| self.lines[line as usize].sum >= 1.0);
            if has_room && self.most[column] >= 1.0 {
                self.spots[end] = self.spots[column];
                self.stays[end] = self.stays[column];
                self.places[end] = places;
                self.most[end] = self.most[column];
                self.weights[end] = self.weights[column];
                self.messages[end] = self.messages[column];
                end += 1;
            }
        }
        self.spots.truncate(end);
        self.stays.truncate(end);
        self.places.truncate(end);
        self.most.truncate(end);
        self.weights.truncate(end);
        self.messages.truncate(end);
    }

    /// Returns the lines of a kind: pairs, A ports or B ports.
    fn range(&self, kind: usize) -> std::ops::Range<usize> {
        let ports = self.ocs_count * self.pods;
        match kind {
            0 => 0..self.pairs,
            1 => self.pairs..self.pairs + ports,
            _ => self.pairs + ports..self.lines.len(),
        }
    }

    /// Returns the bound that the prices prove, by weak duality.
    fn bound(&self) -> f64 {
        let lines: f64 = self.lines.iter().map(|line| line.sum * line.price).sum();
        let columns =
            (0..self.columns()).map(|column| self.value(column).max(0.0) * f64::from(self.most[column]));
        self.installed + lines - columns.sum::<f64>()
    }

    /// Computes prices that prove a lower bound on the removals of all solutions of the task; returns the prices and the
    /// bound.
    pub(crate) fn proof(mut self, watch: &mut impl Watch) -> Result<(BoundPrices, f64), MethodError> {
        let (least, most) = BOUND_SWEEPS;
        let sweeps = (BOUND_WORK / self.columns().max(1)).clamp(least, most);
        let mut temperature = BOUND_HOT;
        while temperature > BOUND_COLD {
            self.sweep(temperature, sweeps, watch)?;
            temperature *= BOUND_COOLING;
        }
        // Rounded down, so that rounding makes no reduced cost negative.
        let rounded: Vec<i64> =
            self.lines.iter().map(|line| (line.price * PRICE_UNITS as f64).floor() as i64).collect();
        for (line, &price) in self.lines.iter_mut().zip(&rounded) {
            line.price = price as f64 / PRICE_UNITS as f64;
        }
        let bound = self.bound();
        let ports = |kind: usize| -> Vec<Vec<i64>> {
            let first = self.range(kind).start;
            let price = |pod: usize, ocs: usize| rounded[first + ocs * self.pods + pod];
            (0..self.pods).map(|pod| (0..self.ocs_count).map(|ocs| price(pod, ocs)).collect()).collect()
        };
        let (ports_a, ports_b) = (ports(1), ports(2));
        Ok((BoundPrices { pairs: rounded[..self.pairs].to_vec(), ports_a, ports_b }, bound))
    }
}

/// Returns the circuits of some places, as an assignment.
pub(super) fn placed(ocs_count: usize, spots: &[CircuitSpot]) -> Assignment {
    Assignment::of(ocs_count, spots.iter().map(|&(ocs, a, b)| (ocs as usize, a, b)))
}
