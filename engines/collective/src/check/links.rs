//! Links in epochs, recomputed, and the transmissions that start on them.

use super::hops::{SendTimes, times};
use super::{Findings, ROUNDING, TOLERANCE, code, rounded_down, rounded_up};
use crate::plan::{CollectiveResult, Discipline};
use crate::scenario::{CollectiveScenario, NodeSort, SwitchHop};
use std::collections::HashMap;

/// A link, as the checker recomputes it; `window` and `delay` are in epochs.
#[derive(Clone, Debug)]
pub(super) struct CheckedLink {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes_per_us: f64,
    pub(super) alpha_us: f64,
    /// Number of epochs for which one transmission occupies the link.
    pub(super) window: u32,
    /// Maximum number of pieces that may start in `window` consecutive epochs.
    pub(super) limit: f64,
    /// Epochs of the latency alone, without the transmission.
    pub(super) delay: u32,
    /// `true` if the link leaves a cut-through switch.
    pub(super) is_through: bool,
    pub(super) up_us: Vec<[f64; 2]>,
}

/// All links, and the link of every send.
#[derive(Debug)]
pub(super) struct CheckedLinks {
    pub(super) links: Vec<CheckedLink>,
    pub(super) of_send: Vec<u32>,
    pub(super) is_switch: Vec<bool>,
    /// Times of the sends.
    pub(super) times: SendTimes,
    pub(super) chunk_bytes: f64,
    /// Size of the unit that links carry undivided, bytes.
    piece_bytes: f64,
}

/// Maximum time of a hop in epochs; longer times would not be represented exactly.
const MOST_EPOCHS: f64 = (1u32 << 24) as f64;

/// Rounds a number of epochs up to an integer.
fn up(number: f64) -> u32 {
    rounded_up(number).min(MOST_EPOCHS) as u32
}

impl CheckedLinks {
    pub(super) fn of(
        scenario: &CollectiveScenario,
        result: &CollectiveResult,
        found: &mut Findings,
    ) -> Option<Self> {
        let (topology, time) = (&scenario.topology, &result.time);
        let chunk_bytes = scenario.demand.chunk_size(topology);
        let piece_bytes = time.piece_bytes(chunk_bytes);
        let is_switch: Vec<bool> = topology.nodes.iter().map(|node| node.kind == NodeSort::Switch).collect();
        let cut_link = |record: &crate::scenario::LinkRecord| {
            let rate = 1000.0 * record.capacity_gbyte_per_s / record.beta_scale;
            let alpha = record.alpha_us * record.alpha_scale;
            let per_epoch = rate * time.epoch_us / piece_bytes;
            let fluid = time.discipline == Discipline::Fluid;
            let window = if fluid { 1 } else { up(1.0 / per_epoch).max(1) };
            let whole = rounded_down(f64::from(window) * per_epoch).max(1.0);
            let delay =
                if alpha / time.epoch_us <= time.alpha_threshold { 0 } else { up(alpha / time.epoch_us) };
            CheckedLink {
                from: record.from,
                to: record.to,
                bytes_per_us: rate,
                alpha_us: alpha,
                window,
                limit: if fluid { per_epoch } else { whole },
                delay,
                is_through: time.switch_hop == SwitchHop::CutThrough && is_switch[record.from as usize],
                up_us: record.up_us.clone(),
            }
        };
        let links: Vec<CheckedLink> = topology.links.iter().map(cut_link).collect();
        let is_long = |epochs: u32| f64::from(epochs) >= MOST_EPOCHS;
        if let Some(link) = links.iter().find(|link| is_long(link.window) || is_long(link.delay)) {
            found.add_with(code::TIME, || {
                format!(
                    "a piece needs link {}->{} for more than {MOST_EPOCHS} epochs of {} us; use longer \
                     epochs",
                    link.from, link.to, time.epoch_us
                )
            });
        }
        let ids: HashMap<(u32, u32), u32> =
            (0u32..).zip(&links).map(|(id, link)| ((link.from, link.to), id)).collect();
        let mut of_send = Vec::with_capacity(result.sends.len());
        let mut before = None;
        for (index, send) in result.sends.iter().enumerate() {
            let Some(&link) = ids.get(&(send.from, send.to)) else {
                found.add_with(code::LINK, || {
                    format!("sends[{index}] goes {}->{}, where no link exists", send.from, send.to)
                });
                continue;
            };
            if scenario.failed_links.contains(&[send.from, send.to]) {
                found.add_with(code::LINK, || {
                    format!("sends[{index}] goes {}->{}, which is a failed link", send.from, send.to)
                });
            }
            if send.piece as usize >= result.pieces.len() {
                found.add_with(code::PIECE, || {
                    format!("sends[{index}] carries piece {}, which does not exist", send.piece)
                });
            }
            let key = (send.epoch, send.from, send.to, send.piece);
            // Equal sends are allowed: a piece may be sent to a switch that cannot copy as often as it leaves the
            // switch. Following the piece shows which sends are needed.
            if before.is_some_and(|before| before > key) {
                found.add_with(code::LINK, || {
                    format!("sends[{index}] must come before the send in front of it: sends are sorted by epoch, from, to and piece")
                });
            }
            before = Some(key);
            of_send.push(link);
        }
        if !found.is_empty() {
            return None;
        }
        let mut all =
            Self { links, of_send, is_switch, times: SendTimes::default(), chunk_bytes, piece_bytes };
        all.times = times(result, &all, topology.switch_model.reduce, found);
        found.is_empty().then_some(all)
    }

    /// Checks the transmissions in every window against the capacity of the link, and that no link transmits while it
    /// is down.
    pub(super) fn check_capacity(&self, result: &CollectiveResult, found: &mut Findings) {
        let mut starts: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.links.len()];
        for ((send, &link), &begin) in result.sends.iter().zip(&self.of_send).zip(&self.times.begins) {
            let share = result.pieces[send.piece as usize].size_bytes / self.piece_bytes;
            starts[link as usize].push((begin, share));
        }
        for (link, starts) in self.links.iter().zip(&mut starts) {
            starts.sort_unstable_by_key(|(begin, _)| *begin);
            if result.time.discipline == Discipline::Fluid {
                check_drift(link, starts, found);
            }
            // A window slides over the epochs.
            let (mut first, mut sum) = (0, 0.0);
            for (at, &(epoch, share)) in starts.iter().enumerate() {
                sum += share;
                while starts[first].0 + link.window <= epoch {
                    sum -= starts[first].1;
                    first += 1;
                }
                let is_last_of_epoch = starts.get(at + 1).is_none_or(|next| next.0 > epoch);
                if is_last_of_epoch && sum > link.limit * (1.0 + TOLERANCE) + TOLERANCE {
                    found.add_with(code::CAPACITY, || {
                        let begin = (epoch + 1).saturating_sub(link.window);
                        format!(
                            "link {}->{} starts {sum} pieces in epochs {begin} to {epoch}, but has \
                             capacity for {}",
                            link.from, link.to, link.limit
                        )
                    });
                }
                check_up(link, epoch, result, found);
            }
        }
    }
}

/// Checks that small excesses, each within the rounding tolerance, do not add up over consecutive epochs.
fn check_drift(link: &CheckedLink, starts: &[(u32, f64)], found: &mut Findings) {
    let (mut excess, mut carried, mut before) = (0.0f64, 0.0, 0);
    for of_epoch in starts.chunk_by(|a, b| a.0 == b.0) {
        let (epoch, sum) = (of_epoch[0].0, of_epoch.iter().map(|(_, share)| share).sum::<f64>());
        let idle = f64::from(epoch.saturating_sub(before + 1)) * link.limit;
        excess = (excess - idle).max(0.0) + sum - link.limit;
        (carried, before) = (carried + sum, epoch);
        if excess > TOLERANCE * (1.0 + carried) {
            found.add_with(code::CAPACITY, || {
                format!(
                    "link {}->{} carries {excess} chunks more than its capacity up to epoch {epoch}",
                    link.from, link.to
                )
            });
            return;
        }
    }
}

fn check_up(link: &CheckedLink, epoch: u32, result: &CollectiveResult, found: &mut Findings) {
    if link.up_us.is_empty() {
        return;
    }
    let tau = result.time.epoch_us;
    let latency = if result.time.discipline == Discipline::Fluid { 0.0 } else { link.alpha_us };
    let (begin, end) = (f64::from(epoch) * tau, f64::from(epoch + link.window) * tau + latency);
    // Twice the tolerance with which the ends of the intervals in which a link is up are rounded to epochs.
    let slack = 2.0 * ROUNDING * end;
    if !link.up_us.iter().any(|[from, to]| *from <= begin + slack && end <= to + slack) {
        found.add_with(code::DOWN, || {
            format!(
                "link {}->{} carries data from {begin} to {end} us, but the link is not up during that whole time",
                link.from, link.to
            )
        });
    }
}
