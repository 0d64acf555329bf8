//! Tokens that the gates of all ranks send to the experts: a synthetic trace, or counts from a real run.
//!
//! | module | content |
//! |---|---|
//! | [`draw`] | synthetic traces: popularity of experts over iterations and layers, and the tokens of the ranks |
//! | [`sample`] | samples of normal, gamma and Dirichlet distributions |

mod draw;
pub mod sample;
#[cfg(test)]
mod tests;

use super::{MAX_ITERATION, MAX_WIDTH, MoeScenario};
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::record;
use lightbay_core::record::{FieldType, NumberRange, Place, Record as _, any, usual, within};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Tokens that the gates send to the experts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum GateTrace {
    /// Tokens sampled at random.
    Synthetic(SyntheticTrace),
    /// Tokens counted in a real run.
    Counts(CountedTrace),
}

record! {
    /// A synthetic trace; equal fields give equal tokens.
    #[derive(Copy)]
    pub struct SyntheticTrace {
        /// Iteration that is planned; predictions use the iterations before it.
        pub iteration: u32 = within(0..=MAX_ITERATION).or(200),
        /// Seed of the synthetic trace.
        pub seed: u64 = any().or(1),
        /// Dirichlet concentration of the per-rank expert shares: the larger, the closer to the mean shares.
        pub kappa: f64 = within(1e-3..=1e9).or(3.0),
        /// Unevenness of the experts of the first layer.
        pub popularity_scale: f64 = within(0.0..=20.0).or(0.9),
        /// Share of its popularity that an expert of the first layer keeps from iteration to iteration.
        pub popularity_memory: f64 = within(0.0..=1.0).or(0.95),
        /// Unevenness of the transition matrices from layer to layer.
        pub passage_std: f64 = within(0.0..=20.0).or(2.5),
        /// Limit of the weight of uniform loads, which the load-balancing loss raises from iteration to iteration.
        pub balance: f64 = within(0.0..=1.0).or(0.75),
        /// Number of iterations after which the weight of uniform loads reaches 63 % of its limit.
        pub balance_iterations: f64 = within(1e-3..=1e9).or(300.0),
    }
}

record! {
    /// Tokens counted in a real run.
    pub struct CountedTrace {
        /// Iteration that is planned.
        pub iteration: u32 = within(0..=MAX_ITERATION),
        /// The counts, by iteration and then layer.
        pub counts: Vec<CountedMatrix> = any(),
    }
}

record! {
    /// Counts of one layer in one iteration.
    pub struct CountedMatrix {
        /// The iteration.
        pub iteration: u32 = any(),
        /// The layer within the stage.
        pub layer: u32 = within(0..=MAX_WIDTH),
        /// Tokens by rank and expert. A single row is the sum over all ranks: every rank then sends the same.
        pub tokens: Vec<Vec<f64>> = within(0.0..=1e15),
    }
}

impl Default for SyntheticTrace {
    fn default() -> Self {
        usual()
    }
}

/// Maximum number of entries of a counted trace.
const MAX_COUNTS: usize = 1 << 24;

impl FieldType for GateTrace {
    fn read(value: &Value, place: &Place<'_>, _range: NumberRange, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, &place.to_string(), problems)?;
        let trace = if fields.has("counts") {
            CountedTrace::of_fields(&mut fields, problems).map(Self::Counts)
        } else {
            SyntheticTrace::of_fields(&mut fields, problems).map(Self::Synthetic)
        };
        let counts = match &trace {
            Some(Self::Counts(trace)) => trace.counts.as_slice(),
            _ => &[],
        };
        let size: usize = counts.iter().flat_map(|count| &count.tokens).map(Vec::len).sum();
        if size > MAX_COUNTS {
            let path = fields.path_of("counts");
            problems.add(path, format!("has {size} numbers"), format!("give at most {MAX_COUNTS}"));
        }
        fields.finish(problems);
        trace
    }

    fn schema(generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        generator.subschema_for::<Self>()
    }
}

impl GateTrace {
    /// Returns the iteration that is planned.
    pub const fn iteration(&self) -> u32 {
        match self {
            Self::Synthetic(trace) => trace.iteration,
            Self::Counts(trace) => trace.iteration,
        }
    }
}

/// Loads of experts over iterations, and the tokens of the last iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct GateHistory {
    /// Number of the first iteration.
    pub first: u32,
    /// Number of iterations.
    pub iterations: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of experts of a layer.
    pub experts: usize,
    /// Number of ranks.
    pub ranks: usize,
    /// Shares of the experts, by iteration, layer, expert; each layer sums to 1.
    pub loads: Vec<f64>,
    /// Copies of tokens in the last iteration, by layer, rank, expert.
    pub tokens: Vec<f64>,
}

impl GateHistory {
    /// Returns the shares of the experts of a layer in an iteration, counted from [`Self::first`].
    pub fn load(&self, iteration: usize, layer: usize) -> &[f64] {
        let start = (iteration * self.layers + layer) * self.experts;
        self.loads.get(start..start + self.experts).unwrap_or_default()
    }

    /// Returns the copies of tokens that all ranks send to the experts of a layer in the last iteration, by expert.
    pub fn expert_loads(&self, layer: usize) -> Vec<f64> {
        let mut loads = vec![0.0; self.experts];
        for row in self.tokens(layer).chunks(self.experts.max(1)) {
            loads.iter_mut().zip(row).for_each(|(sum, tokens)| *sum += tokens);
        }
        loads
    }

    /// Returns the copies of tokens that the ranks send to the experts of a layer in the last iteration, by rank and
    /// expert.
    pub fn tokens(&self, layer: usize) -> &[f64] {
        let size = self.ranks * self.experts;
        self.tokens.get(layer * size..(layer + 1) * size).unwrap_or_default()
    }
}

impl MoeScenario {
    /// Returns the loads of the planned iteration and of up to `before` iterations before it, with the tokens of the
    /// planned one.
    pub fn history(&self, before: u32) -> GateHistory {
        self.history_at(self.trace.iteration(), before)
    }

    /// Returns a history as [`Self::history`] does, with another iteration as the last one.
    pub fn history_at(&self, iteration: u32, before: u32) -> GateHistory {
        match &self.trace {
            GateTrace::Synthetic(trace) => draw::history(self, trace, iteration, before),
            GateTrace::Counts(trace) => self.counted(trace, iteration, before),
        }
    }

    /// Returns the first layer whose counts contradict the number of experts per token, with the reason: a token goes to
    /// `top_k` different experts, so the share of an expert is at most `1 / top_k`. `None` for possible counts, and for
    /// synthetic traces, whose shares are limited when they are sampled.
    pub fn impossible_load(&self) -> Option<(usize, String)> {
        if matches!(self.trace, GateTrace::Synthetic(_)) {
            return None;
        }
        let (shape, history) = (self.shape(), self.history(0));
        let most = f64::from(shape.experts) / f64::from(shape.top_k.max(1));
        (0..history.layers).find_map(|layer| {
            let times = history.load(0, layer).iter().map(|share| share * f64::from(shape.experts));
            let (expert, times) = times.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
            let reason = format!(
                "expert {expert} has {times:.3} times the mean load, but at most {most:.3} times is possible, because \
                 each token goes to {} of the {} experts (top_k={})",
                shape.top_k, shape.experts, shape.top_k
            );
            // Counts are whole numbers, so only rounding errors are tolerated.
            (times > most * (1.0 + 1e-9)).then_some((layer, reason))
        })
    }

    /// Converts counts to a history. All rows are scaled by one factor, so that the ranks send as many token copies as
    /// the fields of the model imply.
    fn counted(&self, trace: &CountedTrace, iteration: u32, before: u32) -> GateHistory {
        let shape = self.shape();
        let (experts, ranks) = (shape.experts as usize, shape.ep as usize);
        let layers = self.stage_layers() as usize;
        let first = iteration.saturating_sub(before);
        // Iterations may be missing in the trace; the present ones count as consecutive.
        let mut there: Vec<u32> = trace.counts.iter().map(|count| count.iteration).collect();
        there.sort_unstable();
        there.dedup();
        there.retain(|at| (first..=iteration).contains(at));
        let mut history = GateHistory {
            first: there.first().copied().unwrap_or(iteration),
            iterations: there.len(),
            layers,
            experts,
            ranks,
            loads: Vec::with_capacity(there.len() * layers * experts),
            tokens: vec![0.0; layers * ranks * experts],
        };
        let by_place: BTreeMap<(u32, u32), &CountedMatrix> =
            trace.counts.iter().map(|count| ((count.iteration, count.layer), count)).collect();
        for at in there {
            for layer in 0..layers {
                let found = by_place.get(&(at, layer as u32));
                let rows: &[Vec<f64>] = found.map_or(&[], |count| count.tokens.as_slice());
                let total: f64 = rows.iter().flatten().sum();
                let share = |expert: usize| {
                    let column: f64 = rows.iter().filter_map(|row| row.get(expert)).sum();
                    if total > 0.0 { column / total } else { 1.0 / experts as f64 }
                };
                history.loads.extend((0..experts).map(share));
                if at == iteration && total > 0.0 {
                    let all = shape.copies() * ranks as f64;
                    let start = layer * ranks * experts;
                    for rank in 0..ranks {
                        let (row, factor) = match rows {
                            [one] => (one, all / total / ranks as f64),
                            rows => match rows.get(rank) {
                                Some(row) => (row, all / total),
                                None => continue,
                            },
                        };
                        let place = start + rank * experts;
                        for (token, count) in history.tokens.iter_mut().skip(place).zip(row) {
                            *token = count * factor;
                        }
                    }
                }
            }
        }
        history
    }
}
