//! Weights of growing cuts, from an LP model whose columns are cuts.
//!
//! The model minimises the capacity in the windows of the cuts, for cuts whose weights add up to one shard: a price for
//! every orbit of links and every slot is at least the load that the cuts of any source put on the link. The duals of
//! these rows are a fractional spread of the data: an amount for every source, class of links and slot.

use super::question::SpreadQuestion;
use crate::plan::{GrowingCut, GrowingCuts};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::error::Error;
use lightbay_highs::instance::Instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Column, Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::Status;

/// Weight below which a cut is left out of a proof.
const LEAST_WEIGHT: f64 = 1e-9;
/// Fraction of a slot below which a part of a slot counts as rounding.
const ROUNDING: f64 = 1e-9;

fn failed(error: Error) -> MethodError {
    MethodError::Failed(error.to_string())
}

/// Slots before the end of a schedule, and the latencies of links in whole slots.
#[derive(Clone, Debug)]
pub struct SlotTimes {
    /// Length of a slot, µs.
    pub slot_us: f64,
    /// End of the schedule, µs.
    pub end_us: f64,
    /// Number of slots; slot 1 is the last one, and the first one may be shorter.
    pub count: u32,
    /// Latency of each link in whole slots, rounded down.
    pub delays: Vec<u32>,
}

impl SlotTimes {
    /// Divides the time until `end_us` into slots of `slot_us`.
    pub fn new(question: &SpreadQuestion<'_>, end_us: f64, slot_us: f64) -> Self {
        let whole = |us: f64| (us / slot_us * (1.0 + ROUNDING)).floor() as u32;
        let delays = question.network.links().iter().map(|link| whole(link.alpha_us)).collect();
        let count = (end_us / slot_us * (1.0 - ROUNDING)).ceil().max(1.0) as u32;
        Self { slot_us, end_us, count, delays }
    }

    /// Returns the length of a slot, µs.
    fn length_us(&self, slot: u32) -> f64 {
        let begin = (self.end_us - f64::from(slot) * self.slot_us).max(0.0);
        self.end_us - f64::from(slot - 1) * self.slot_us - begin
    }

    /// Returns the slots, counted from the end, in which data of a source can use a link.
    fn usable(&self, question: &SpreadQuestion<'_>, at: usize, link: usize) -> std::ops::Range<u32> {
        let (source, ends) = (&question.sources[at], &question.network.links()[link]);
        if source.nodes[..] == [ends.to] {
            return 0..0;
        }
        // The slots that end after the first data reaches the link.
        let left = (self.end_us - source.distances[ends.from as usize]) / self.slot_us;
        let last = if left <= 0.0 { 0 } else { (left * (1.0 - ROUNDING)).floor() as u32 + 1 };
        self.delays[link] + 1..last.min(self.count) + 1
    }

    /// Returns the number of rows of the model of these slots.
    pub fn rows(&self, question: &SpreadQuestion<'_>) -> usize {
        let links = 0..question.network.links().len();
        let of_source = |at: usize| -> usize {
            let represents =
                links.clone().filter(|link| question.sources[at].classes[*link] as usize == *link);
            represents.map(|link| self.usable(question, at, link).count()).sum()
        };
        (0..question.sources.len()).map(of_source).sum()
    }
}

/// Amount that one link carries for each source, link and slot, in shards.
#[derive(Clone, Debug)]
pub struct SpreadAmounts {
    slots: usize,
    /// By source, then by class of links and slot.
    amounts: Vec<Vec<f64>>,
}

impl SpreadAmounts {
    /// Returns the amount that a link carries for the source at a place in a slot.
    pub fn of(&self, question: &SpreadQuestion<'_>, at: usize, link: u32, slot: u32) -> f64 {
        let class = question.sources[at].classes[link as usize] as usize;
        self.amounts[at][class * self.slots + slot as usize - 1]
    }

    /// Returns the mean of two spreads, `share` of which is `other`.
    #[must_use]
    pub fn towards(&self, other: &Self, share: f64) -> Self {
        let mix = |(one, other): (&f64, &f64)| one * (1.0 - share) + other * share;
        let rows = self.amounts.iter().zip(&other.amounts);
        let amounts = rows.map(|(one, other)| one.iter().zip(other).map(mix).collect()).collect();
        Self { slots: self.slots, amounts }
    }
}

/// An LP model for one end of the schedule.
pub struct CutProgram<'q, 'n> {
    question: &'q SpreadQuestion<'n>,
    instance: Instance,
    times: SlotTimes,
    /// Row of each source, class of links and slot.
    rows: Vec<Vec<Option<Row>>>,
    data_row: Row,
    /// Cuts in order of their columns.
    cuts: Vec<GrowingCut>,
    first: Option<Column>,
    equal: SpreadAmounts,
}

impl<'q, 'n> CutProgram<'q, 'n> {
    /// Builds the model, without cuts, for data of `bytes` per source.
    ///
    /// # Errors
    /// Errors of the solver.
    pub fn new(question: &'q SpreadQuestion<'n>, bytes: f64, times: SlotTimes) -> Result<Self, MethodError> {
        let links = question.network.links();
        let slots = times.count as usize;
        let mut model = Model::new("growing cuts");
        let mut prices = vec![None; links.len() * slots];
        let shards = |link: usize, slot: u32| {
            links[link].capacity_gbyte_per_s * 1000.0 * times.length_us(slot) / bytes
        };
        for id in (0..links.len()).filter(|id| question.link_orbits[*id] as usize == *id) {
            for slot in 1..=times.count {
                let cost = shards(id, slot) * f64::from(question.orbit_sizes[id]);
                let name = format!("price of {id} in {slot}");
                prices[id * slots + slot as usize - 1] = Some(model.column(name, 0.0, f64::INFINITY, cost));
            }
        }
        let (mut rows, mut equal) = (Vec::new(), Vec::new());
        for (at, source) in question.sources.iter().enumerate() {
            let mut own = vec![None; links.len() * slots];
            let mut amounts = vec![0.0; links.len() * slots];
            for id in (0..links.len()).filter(|id| source.classes[*id] as usize == *id) {
                for slot in times.usable(question, at, id) {
                    let place = |link: usize| link * slots + slot as usize - 1;
                    let price = prices[place(question.link_orbits[id] as usize)];
                    let name = format!("load of {at} on {id} in {slot}");
                    own[place(id)] = Some(model.at_least(name, 0.0, price.map(|price| (price, 1.0))));
                    // All sources share the capacity.
                    amounts[place(id)] = shards(id, slot) / question.source_count as f64;
                }
            }
            rows.push(own);
            equal.push(amounts);
        }
        let data_row = model.equal("data", 1.0, []);
        let mut instance = Instance::new(&model).map_err(failed)?;
        instance.apply(&Options::new().set("presolve", "off").set("solver", "simplex")).map_err(failed)?;
        let equal = SpreadAmounts { slots, amounts: equal };
        Ok(Self { question, instance, times, rows, data_row, cuts: Vec::new(), first: None, equal })
    }

    /// Returns the spread in which all sources share all capacity equally.
    pub const fn equal(&self) -> &SpreadAmounts {
        &self.equal
    }

    /// Returns the slots.
    pub const fn times(&self) -> &SlotTimes {
        &self.times
    }

    /// Calls `each` with the source, link and slot of every part of the windows of a cut.
    fn windows(&self, cut: &GrowingCut, mut each: impl FnMut(usize, usize, u32)) {
        let Some(at) = self.question.place(cut.source) else { return };
        let (times, to_target) = (&self.times, self.question.latencies_to(cut.target));
        let join = |node: u32| {
            if node != cut.target && self.question.sources[at].nodes.contains(&node) {
                return times.count;
            }
            // Data that leaves a node later than this does not reach the target.
            let last = (to_target[node as usize] / times.slot_us * (1.0 + ROUNDING)).floor() as u32;
            if node == cut.target { 0 } else { cut.slots[node as usize].max(last).min(times.count) }
        };
        for (id, link) in self.question.network.links().iter().enumerate() {
            let usable = times.usable(self.question, at, id);
            let from = (join(link.to) + times.delays[id] + 1).max(usable.start);
            for slot in from..usable.end.min(join(link.from) + 1) {
                each(at, id, slot);
            }
        }
    }

    /// Returns the amount, in shards, that crosses a cut in a spread.
    pub fn crossing(&self, cut: &GrowingCut, spread: &SpreadAmounts) -> f64 {
        let mut sum = 0.0;
        self.windows(cut, |at, link, slot| sum += spread.of(self.question, at, link as u32, slot));
        sum
    }

    /// Adds cuts.
    ///
    /// # Errors
    /// Errors of the solver.
    pub fn add(&mut self, cuts: &[GrowingCut]) -> Result<(), MethodError> {
        let slots = self.times.count as usize;
        let column = |cut: &GrowingCut| {
            let mut loads: Vec<(Row, f64)> = Vec::new();
            self.windows(cut, |at, link, slot| {
                let source = &self.question.sources[at];
                let row = self.rows[at][source.classes[link] as usize * slots + slot as usize - 1];
                let size = source.class_sizes[link] * source.count;
                loads.extend(row.map(|row| (row, -1.0 / f64::from(size))));
            });
            loads.sort_by_key(|(row, _)| row.index());
            let mut entries = vec![(self.data_row, self.question.share(cut))];
            for (row, load) in loads {
                match entries.last_mut() {
                    Some((last, sum)) if *last == row => *sum += load,
                    _ => entries.push((row, load)),
                }
            }
            (0.0, entries)
        };
        let columns: Vec<(f64, Vec<(Row, f64)>)> = cuts.iter().map(column).collect();
        let first = self.instance.add_columns("cut ", 0.0, f64::INFINITY, &columns).map_err(failed)?;
        self.first.get_or_insert(first);
        self.cuts.extend_from_slice(cuts);
        Ok(())
    }

    /// Solves the model. Returns the fraction of the data that the cuts allow to arrive, the cuts with their weights,
    /// and the spread of the data; `None` if the solver finds no solution.
    ///
    /// # Errors
    /// If the run must stop, or if the solver fails.
    pub fn solve<W: Watch>(
        &mut self,
        watch: &mut W,
    ) -> Result<Option<(f64, GrowingCuts, SpreadAmounts)>, MethodError> {
        let mut listener = RunListener::new(&mut *watch);
        let solution = self.instance.run(&mut listener);
        listener.finish()?;
        let solution = solution.map_err(failed)?;
        let (Status::Optimal, Some(values), Some(objective), Some(first)) =
            (solution.status, &solution.values, solution.objective, self.first)
        else {
            return Ok(None);
        };
        let weights = self.cuts.iter().zip(&values[first.index()..]);
        let weighty = weights.filter(|(_, weight)| **weight > LEAST_WEIGHT);
        let cuts = weighty.map(|(cut, weight)| GrowingCut { weight: *weight, ..cut.clone() }).collect();
        let slots = self.times.count as usize;
        let amount = |at: usize, place: usize, row: Option<Row>| {
            let (Some(row), source) = (row, &self.question.sources[at]) else { return 0.0 };
            let size = source.class_sizes[place / slots] * source.count;
            solution.row_duals.get(row.index()).map_or(0.0, |dual| dual.max(0.0)) / f64::from(size)
        };
        let amounts = self
            .rows
            .iter()
            .enumerate()
            .map(|(at, rows)| rows.iter().enumerate().map(|(place, row)| amount(at, place, *row)).collect())
            .collect();
        let symmetries = self.question.symmetries.clone();
        let proof = GrowingCuts { slot_us: self.times.slot_us, symmetries, cuts };
        Ok(Some((objective, proof, SpreadAmounts { slots, amounts })))
    }
}
