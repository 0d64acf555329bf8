//! Links in epochs: how long a chunk occupies a link, and when the chunk arrives at the other end.

use crate::scenario::network::LinkNetwork;
use crate::scenario::{EpochRule, TimeRule};

/// Tolerance for rounding of a ratio in floating point, relative: 0.7/0.1 gives 7 epochs. A chunk whose ratio exceeds a
/// whole number by more than this does not fit into that number of epochs.
const ROUNDING: f64 = 1e-12;
/// Maximum ratio of a latency to an epoch.
const MOST_EPOCHS_OF_ALPHA: f64 = 200.0;
/// Fraction of a link's rate below which a loss from rounding gets no remark.
const WASTE: f64 = 0.05;
/// Maximum latency in epochs for which sums of latencies do not overflow.
const LONGEST: f64 = (1u32 << 24) as f64;

/// A link; all times are in epochs.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkEpochs {
    /// Number of chunks that fit into an epoch, u.
    pub per_epoch: f64,
    /// Latency alone, d.
    pub delay: u32,
    /// Number of epochs for which a chunk occupies the link, kappa.
    pub occupied: u32,
    /// Number of chunks that may start in any `occupied` consecutive epochs, w; 1 if `occupied` is above 1.
    pub starts: u32,
    /// Epochs from the start until the chunk is usable at the other end, L: `d + max(0, kappa - pace)`.
    pub latency: u32,
    /// Slowest transmission before the link on the path of a chunk through switches, epochs; 0 for links that do not
    /// leave a cut-through switch: see [`super::lanes`].
    pub pace: u32,
    /// Epochs from the first epoch in which the link transmits a chunk to the start of the chunk, which is when the
    /// last byte of the chunk has arrived at the link.
    pub early: u32,
    /// `early` minus the minimum of `early` over all lanes of the link.
    pub shift: u32,
    /// Link of the real network.
    pub carrier: u32,
    /// Intervals in which the transmission of a chunk may begin, each with its first and its last epoch, ascending;
    /// empty if the link is not time-varying, because then the transmission may begin in every epoch.
    pub up: Vec<[u32; 2]>,
    /// `true` if the link is time-varying.
    pub timed: bool,
    /// `true` if the link leaves a cut-through switch.
    pub through: bool,
}

/// All links in epochs of one length, for whole chunks of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct EpochModel {
    /// Length of an epoch, µs.
    pub epoch_us: f64,
    /// Size of a chunk, bytes.
    pub chunk_bytes: f64,
    /// Fraction of an epoch up to which a latency is ignored.
    pub alpha_threshold: f64,
    /// The links, by id.
    pub links: Vec<LinkEpochs>,
}

/// Returns the epoch length that a rule gives for chunks of a size, µs, with a remark if this length had to be
/// increased.
pub fn epoch_us(time: &TimeRule, network: &LinkNetwork, chunk_bytes: f64) -> (f64, Option<String>) {
    let rates = network.links().iter().map(|link| link.capacity_gbyte_per_s);
    let rate = match (time.epoch, time.epoch_us) {
        (EpochRule::Fixed, Some(given)) => return (given, None),
        (EpochRule::SlowestLink, _) => rates.fold(f64::INFINITY, f64::min),
        _ => rates.fold(0.0, f64::max),
    };
    if !(rate > 0.0 && rate.is_finite()) {
        return (1.0, None);
    }
    let wanted = chunk_bytes / (1000.0 * rate) * time.epoch_multiplier;
    let alphas = network.links().iter().map(|link| link.alpha_us).filter(|alpha| *alpha > 0.0);
    let least = alphas.fold(f64::INFINITY, f64::min) / MOST_EPOCHS_OF_ALPHA;
    if least.is_finite() && least > wanted {
        let why = format!(
            "epochs of {wanted} us would divide latencies into more than {MOST_EPOCHS_OF_ALPHA} epochs; \
             epochs of {least} us are used"
        );
        return (least, Some(why));
    }
    (wanted, None)
}

/// Rounds a ratio up to whole epochs.
pub fn rounded_up(ratio: f64) -> f64 {
    (ratio * (1.0 - ROUNDING)).ceil()
}

/// Rounds a ratio down to whole epochs.
pub fn rounded_down(ratio: f64) -> f64 {
    (ratio * (1.0 + ROUNDING)).floor()
}

impl EpochModel {
    /// Describes the links of a network in epochs, each considered separately, as if the link left a GPU.
    pub fn new(network: &LinkNetwork, epoch_us: f64, chunk_bytes: f64, alpha_threshold: f64) -> Self {
        let links = (0u32..)
            .zip(network.links())
            .map(|(carrier, link)| {
                let per_epoch = 1000.0 * link.capacity_gbyte_per_s * epoch_us / chunk_bytes;
                let ratio = link.alpha_us / epoch_us;
                let delay = if ratio <= alpha_threshold { 0.0 } else { rounded_up(ratio) };
                let occupied = rounded_up(1.0 / per_epoch).max(1.0);
                let starts = rounded_down(occupied * per_epoch).clamp(1.0, f64::from(u32::MAX / 4));
                let (delay, occupied) = (delay.min(LONGEST) as u32, occupied.min(LONGEST) as u32);
                let through = network.is_cut_through() && network.is_switch(link.from);
                let up = |&[begin, end]: &[f64; 2]| {
                    let first = rounded_up(begin / epoch_us).max(0.0);
                    let last = rounded_down((end - link.alpha_us) / epoch_us) - f64::from(occupied);
                    (last >= first && first < f64::from(u32::MAX / 4))
                        .then(|| [first as u32, last.min(f64::from(u32::MAX / 4)) as u32])
                };
                LinkEpochs {
                    per_epoch,
                    delay,
                    occupied,
                    starts: starts as u32,
                    latency: delay + occupied,
                    pace: 0,
                    early: 0,
                    shift: 0,
                    carrier,
                    up: link.up_us.iter().filter_map(up).collect(),
                    timed: !link.up_us.is_empty(),
                    through,
                }
            })
            .collect();
        Self { epoch_us, chunk_bytes, alpha_threshold, links }
    }

    /// Returns the number of epochs from the start of a send until its data is usable.
    pub fn latency(&self, link: u32) -> u32 {
        self.links[link as usize].latency
    }

    /// Returns a link that a chunk occupies for more epochs than sums can represent; `None` if no link is so slow.
    pub fn too_long(&self) -> Option<u32> {
        let is_long = |link: &LinkEpochs| f64::from(link.occupied.max(link.delay)) >= LONGEST;
        self.links.iter().position(is_long).map(|link| link as u32)
    }

    /// Returns the link that loses the largest fraction of its rate because chunks are whole, with this fraction;
    /// `None` if no link loses more than `WASTE`.
    pub fn waste(&self) -> Option<(u32, f64)> {
        let lost = |link: &LinkEpochs| {
            let room = f64::from(link.occupied) * link.per_epoch;
            (room - f64::from(link.starts)) / room
        };
        let worst = (0u32..).zip(&self.links).map(|(id, link)| (id, lost(link)));
        worst.filter(|(_, lost)| *lost > WASTE).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl LinkEpochs {
    /// Returns `true` if a chunk may start at an epoch, which counts from the start of the collective.
    pub fn is_up(&self, epoch: u32) -> bool {
        let transmits = epoch.saturating_sub(self.early);
        !self.timed || self.up.iter().any(|[first, last]| (*first..=*last).contains(&transmits))
    }

    /// Returns the maximum number of starts in a number of consecutive epochs.
    pub fn starts_in(&self, epochs: i64) -> u64 {
        if epochs <= 0 {
            return 0;
        }
        (epochs as u64).div_ceil(u64::from(self.occupied)).saturating_mul(u64::from(self.starts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;

    #[test]
    fn links_of_two_chassis_are_cut_as_published() {
        let scenario = presets::scenario("ndv2x2-allgather-64kb").unwrap();
        let network = LinkNetwork::of(&scenario.topology).unwrap();
        let (tau, note) = epoch_us(&scenario.time, &network, 4000.0);
        assert_eq!((tau, note), (0.08, None));
        let epochs = EpochModel::new(&network, tau, 4000.0, 0.1);
        let of = |from, to| {
            let link = &epochs.links[network.link_between(from, to).unwrap() as usize];
            (link.delay, link.occupied, link.starts, link.latency)
        };
        assert_eq!(of(0, 1), (9, 1, 1, 10));
        assert_eq!(of(0, 2), (9, 2, 1, 11));
        assert_eq!(of(0, 9), (17, 4, 1, 21));
    }

    #[test]
    fn tiny_epochs_are_held_back() {
        let scenario = presets::scenario("ndv2x2-allgather-1kb").unwrap();
        let network = LinkNetwork::of(&scenario.topology).unwrap();
        let (tau, note) = epoch_us(&scenario.time, &network, 62.5);
        assert!((tau - 0.7 / 200.0).abs() < 1e-12 && note.is_some(), "{tau}");
    }

    #[test]
    fn starts_are_limited_in_windows() {
        let scenario = presets::scenario("dgx1-allgather-200kb").unwrap();
        let network = LinkNetwork::of(&scenario.topology).unwrap();
        let epochs = EpochModel::new(&network, 0.25, 25_000.0, 0.1);
        let slow = &epochs.links[network.link_between(0, 2).unwrap() as usize];
        assert_eq!((slow.occupied, slow.starts, slow.starts_in(5), slow.starts_in(0)), (4, 1, 2, 0));
        let link = |up: &[[f64; 2]]| {
            let mut timed = scenario.topology.clone();
            timed.links[0].up_us = up.to_vec();
            timed.symmetry_generators.clear();
            let network = LinkNetwork::of(&timed).unwrap();
            EpochModel::new(&network, 1.0, 25_000.0, 0.1).links[0].clone()
        };
        // 0.5 us of transmission take an epoch, and 0.7 us of latency have to be over as well.
        assert_eq!(link(&[[0.5, 4.7], [6.0, 7.0]]).up, [[1, 3]]);
        assert!(link(&[[6.0, 7.0]]).timed);
    }
}
