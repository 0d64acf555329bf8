//! Links in epochs that fit a piece: the fastest link takes an integer number of epochs for a piece, and the times of
//! the other links are as close to integer numbers of epochs as possible (docs/methods/collective-trees.md, section
//! 11).

use crate::model::epochs::rounded_up;
use crate::model::passing::{Passage, passages};
use crate::scenario::network::LinkNetwork;

/// Times of links in epochs, for pieces of one size; every link carries one piece at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceTiming {
    /// Length of an epoch, µs.
    pub epoch_us: f64,
    /// For each link, the number of epochs for which a piece occupies it.
    pub occupies: Vec<u32>,
    /// Latency of each link, epochs.
    pub delays: Vec<u32>,
    /// `true` if switches cut through.
    pub cuts_through: bool,
}

/// Maximum number of epochs that the fastest link takes for a piece: more epochs would reduce the rounding waste by
/// less than half a percent.
const FINEST: u32 = 256;

impl PieceTiming {
    /// Computes the timing of pieces of `bytes`; `None` if a piece takes at least 2³¹ - 1 epochs on some link, latency
    /// included.
    pub fn new(network: &LinkNetwork, bytes: f64) -> Option<Self> {
        let capacities: Vec<f64> = network.links().iter().map(|link| link.capacity_gbyte_per_s).collect();
        let fastest = capacities.iter().copied().fold(0.0, f64::max);
        // Maximum fraction of a link's time that rounding up to epochs wastes.
        let waste = |parts: u32| {
            let rate = fastest * f64::from(parts);
            let over = |capacity: &f64| occupied(rate, *capacity) / (rate / capacity) - 1.0;
            capacities.iter().map(over).fold(0.0, f64::max)
        };
        let mut best = (f64::INFINITY, 1);
        // The first epoch length with the least waste is also the longest one.
        for parts in 1..=FINEST {
            let wasted = waste(parts);
            if wasted < best.0 - 1e-9 {
                best = (wasted, parts);
            }
            if wasted < 1e-9 {
                break;
            }
        }
        let rate = fastest * f64::from(best.1);
        let epoch_us = bytes / (1000.0 * rate);
        let mut occupies = Vec::with_capacity(capacities.len());
        let mut delays = Vec::with_capacity(capacities.len());
        for (link, capacity) in network.links().iter().zip(&capacities) {
            // Latencies are rounded up; none is omitted.
            let epochs = occupied(rate, *capacity);
            let latency = latency_epochs(link.alpha_us, epoch_us);
            if latency + epochs >= f64::from(u32::MAX / 2) {
                return None;
            }
            occupies.push(epochs as u32);
            delays.push(latency as u32);
        }
        Some(Self { epoch_us, occupies, delays, cuts_through: network.is_cut_through() })
    }

    /// Returns the transmissions of a piece over the links of a path from GPU to GPU.
    pub fn passages(&self, links: &[u32]) -> Vec<Passage> {
        let hop = |link: &u32| (self.delays[*link as usize], self.occupies[*link as usize]);
        passages(links.iter().map(hop), self.cuts_through)
    }
}

/// Returns the number of epochs for which a piece occupies a link, if a link of `rate` takes one epoch.
fn occupied(rate: f64, capacity: f64) -> f64 {
    rounded_up(rate / capacity).max(1.0)
}

/// Returns the latency in whole epochs; nothing is omitted.
pub fn latency_epochs(alpha_us: f64, epoch_us: f64) -> f64 {
    rounded_up(alpha_us / epoch_us).max(0.0)
}
