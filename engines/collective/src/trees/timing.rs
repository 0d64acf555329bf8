//! Links in epochs that suit a piece: the fastest link takes a whole number of epochs for one, and so do the others as
//! nearly as possible.

use crate::scenario::network::LinkNetwork;

/// Epochs per microsecond and link, for pieces of one size; every link carries one piece at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceTiming {
    /// Length of an epoch, µs.
    pub epoch_us: f64,
    /// Epochs that a piece occupies each link.
    pub occupies: Vec<u32>,
    /// Epochs from the start of a piece on a link until it can go on from its end.
    pub takes: Vec<u32>,
}

/// Most epochs that the fastest link takes for a piece.
const FINEST: u32 = 256;

impl PieceTiming {
    /// The timing of pieces of `bytes`; `None` if epochs are too short for numbers of 32 bits.
    pub fn new(network: &LinkNetwork, bytes: f64) -> Option<Self> {
        let capacities: Vec<f64> = network.links().iter().map(|link| link.capacity_gbyte_per_s).collect();
        let fastest = capacities.iter().copied().fold(0.0, f64::max);
        let waste = |parts: u32| {
            let rate = fastest * f64::from(parts);
            let over = |capacity: &f64| occupied(rate, *capacity) / (rate / capacity) - 1.0;
            capacities.iter().map(over).fold(0.0, f64::max)
        };
        let mut best = (f64::INFINITY, 1);
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
        let mut takes = Vec::with_capacity(capacities.len());
        for (link, capacity) in network.links().iter().zip(&capacities) {
            let epochs = occupied(rate, *capacity);
            let latency = latency_epochs(link.alpha_us, epoch_us);
            let passes = network.is_through(link);
            let all = if passes { latency } else { latency + epochs };
            if all >= f64::from(u32::MAX / 2) {
                return None;
            }
            occupies.push(epochs as u32);
            takes.push(all as u32);
        }
        Some(Self { epoch_us, occupies, takes })
    }
}

/// Epochs that a piece occupies a link, if a link of `rate` takes one.
fn occupied(rate: f64, capacity: f64) -> f64 {
    (rate / capacity - 1e-6).ceil().max(1.0)
}

/// Latency in whole epochs, none of it left out.
pub fn latency_epochs(alpha_us: f64, epoch_us: f64) -> f64 {
    if alpha_us <= 0.0 { 0.0 } else { (alpha_us / epoch_us - 1e-6).ceil().max(0.0) }
}
