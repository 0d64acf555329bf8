//! Longest path and tails if the carrying circuits change over time.
//!
//! The result is exact if [`PathModel::makespan`] is exact at joint rates: a transfer with successors runs alone and as
//! early as possible, which never delays an end; the last transfers of a link share it as in
//! [`crate::simulate::sinks`].

use super::{Class, ModelScratch, PathModel};
use crate::model::network::Network;
use crate::simulate::iteration::{Piece, Trace};
use crate::simulate::sinks;

/// Circuits of every link that carry, in pieces of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lit {
    /// Moments at which circuits change, ascending from 0, seconds.
    pub times: Vec<f64>,
    /// Number of circuits that carry, at `[moment * links + link]`.
    pub circuits: Vec<u32>,
}

/// A moment that is at most this number of units in the last place after a change of circuits counts as the moment of
/// the change. Otherwise, rounding could delay the last bit of a transfer until the circuits of the transfer are set
/// again.
const ULPS: f64 = 8.0 * f64::EPSILON;

impl Lit {
    /// Circuits of `link` at the moment with this index, and the time of their next change.
    fn piece(&self, links: usize, index: usize, link: usize) -> (f64, f64) {
        let end = self.times.get(index + 1).copied().unwrap_or(f64::INFINITY);
        (f64::from(self.circuits[index * links + link]), end)
    }

    fn index_at(&self, time: f64) -> usize {
        self.times.partition_point(|moment| *moment <= time * (1.0 + ULPS)).saturating_sub(1)
    }
}

impl PathModel {
    /// End of a transfer that shares its link with no other, with its pieces (start, end, speed) if requested.
    fn run_alone(
        &self,
        class: Class,
        start: f64,
        lit: &Lit,
        mut record: Option<&mut Vec<(f64, f64, f64)>>,
    ) -> f64 {
        let links = self.sinks.len() / 2;
        let (mut left, mut now) = (class.work, start);
        for index in lit.index_at(start)..lit.times.len() {
            let (circuits, change) = lit.piece(links, index, class.link as usize);
            let speed = (circuits / class.flows).min(1.0);
            let end = if speed > 0.0 { now + left / speed } else { f64::INFINITY };
            let done = end <= change * (1.0 + ULPS);
            let until = if done { end } else { change };
            if let Some(list) = record.as_deref_mut()
                && until > now
            {
                list.push((now, until, speed));
            }
            if done {
                return end;
            }
            left -= speed * (change - now);
            now = change;
        }
        f64::INFINITY
    }

    /// Computes start times like [`PathModel::start`], if circuits change over time.
    pub fn start_over(&self, lit: &Lit, scratch: &mut ModelScratch) -> f64 {
        scratch.finish.clear();
        let mut from = 0;
        for (at, row) in self.rows.iter().enumerate() {
            let start = self.start_of(row, from, &scratch.finish);
            from = row.preds_end as usize;
            // Sinks: their entry holds the start, where other tasks have the finish.
            let end = if at < self.inner && start < f64::INFINITY {
                self.run_alone(self.classes[row.class as usize], start, lit, None)
            } else {
                start
            };
            scratch.finish.push(end);
        }
        let ends = scratch.finish[..self.inner].iter().copied().fold(0.0, f64::max);
        self.inner_tails.iter().map(|&(at, tail)| scratch.finish[at as usize] + tail).fold(ends, f64::max)
    }

    /// Ends of the transfers with successors; needs [`PathModel::start_over`].
    pub fn inner_ends<'s>(&self, scratch: &'s ModelScratch) -> &'s [f64] {
        &scratch.finish[..self.inner]
    }

    /// Starts of the last transfers; needs [`PathModel::start_over`].
    pub fn last_starts<'s>(&self, scratch: &'s ModelScratch) -> &'s [f64] {
        &scratch.finish[self.inner..]
    }

    /// Largest finish + tail of the sinks of one link, which has the circuits of `lit`; needs
    /// [`PathModel::start_over`].
    pub fn link_end_over(&self, link: usize, lit: &Lit, scratch: &mut ModelScratch) -> f64 {
        let links = self.sinks.len() / 2;
        let mut worst = 0.0f64;
        for via in [2 * link, 2 * link + 1] {
            let (from, to, shortest) = self.sinks[via];
            if from == to {
                continue;
            }
            self.gather(via, scratch);
            if scratch.sinks.iter().any(|sink| sink.release == f64::INFINITY) {
                return f64::INFINITY;
            }
            let over = |now: f64| lit.piece(links, lit.index_at(now), link);
            worst =
                worst.max(shortest + sinks::level_first_over(&scratch.sinks, over, &mut scratch.tail, None));
        }
        worst
    }

    /// Makespan if circuits change over time; infinite if a transfer never ends.
    pub fn makespan_over(&self, lit: &Lit, scratch: &mut ModelScratch) -> f64 {
        let mut end = self.start_over(lit, scratch);
        for link in 0..self.sinks.len() / 2 {
            if end == f64::INFINITY {
                break;
            }
            end = end.max(self.link_end_over(link, lit, scratch));
        }
        end
    }

    /// The schedule if circuits change over time; every transfer must end.
    pub fn trace_over(&self, network: &Network, lit: &Lit, scratch: &mut ModelScratch) -> Trace {
        self.start_over(lit, scratch);
        let n = network.tasks();
        let mut trace = Trace { start: vec![0.0; n], finish: vec![0.0; n], ..Trace::default() };
        let mut from = 0;
        let mut pieces = Vec::new();
        for (at, row) in self.rows[..self.inner].iter().enumerate() {
            let (task, end) = (row.task as usize, scratch.finish[at]);
            let start = self.start_of(row, from, &scratch.finish);
            from = row.preds_end as usize;
            (trace.start[task], trace.finish[task]) = (start, end);
            pieces.clear();
            self.run_alone(self.classes[row.class as usize], start, lit, Some(&mut pieces));
            let rate = network.flows[task] * network.rate;
            let mut left = network.volume[task];
            for (index, &(start, end, speed)) in pieces.iter().enumerate() {
                // The last piece takes the rounding error, so that volumes add up exactly.
                let volume = if index + 1 == pieces.len() { left } else { speed * (end - start) * rate };
                left -= volume;
                trace.pieces.push(Piece { task: row.task, start, end, volume });
            }
        }
        let links = self.sinks.len() / 2;
        for via in 0..self.sinks.len() {
            let (from, to, _) = self.sinks[via];
            if from == to {
                continue;
            }
            self.gather(via, scratch);
            let mut stretches = Vec::new();
            let over = |now: f64| lit.piece(links, lit.index_at(now), via / 2);
            sinks::level_first_over(&scratch.sinks, over, &mut scratch.tail, Some(&mut stretches));
            trace.add_stretches(network, &scratch.sinks, &stretches);
        }
        trace.makespan = (0..n).map(|task| trace.finish[task] + network.tail[task]).fold(0.0, f64::max);
        trace
    }
}
