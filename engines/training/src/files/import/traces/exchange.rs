//! All-to-alls as flows between pods. Every rank sends directly to every other rank.
//!
//! The flows from one pod to another keep the bytes that every GPU sends and receives, although not the pairs of GPUs,
//! because rates depend only on the sums of GPUs and pods.

use super::graph::{Flows, Rates};
use super::joined::SentBytes;
use super::placement::TracePods;

/// Maximum number of equal flows from one pod to another.
const MOST_LANES: usize = 1024;

/// The ranks of an all-to-all, and the rates of the network.
#[derive(Clone, Copy)]
pub(super) struct Exchange<'a> {
    /// The ranks, ordered by pod.
    pub ring: &'a [u32],
    pub pods: &'a TracePods,
    pub rates: &'a Rates,
    /// Latency of the work inside pods.
    pub latency_s: f64,
    /// `true` if every GPU keeps its bytes; `false` if the GPUs of a pod share the bytes of the pod evenly, which takes
    /// fewer transfers.
    pub exact: bool,
}

impl Exchange<'_> {
    /// Adds the flows by which every rank sends `part` bytes to every other rank.
    pub(super) fn equal(self, part: f64, flows: &mut Flows) {
        let sides = self.sides();
        for (a, from) in sides.iter().enumerate() {
            self.inside(from, part * (from.len() - 1) as f64, flows);
            for to in sides.iter().enumerate().filter(|(b, _)| *b != a).map(|(_, to)| to) {
                let pairs = (from.len() * to.len()) as f64;
                let lanes = self.lanes(from.len(), to.len());
                if lanes <= MOST_LANES || !self.exact {
                    self.even([from, to], lanes, part * pairs, flows);
                } else {
                    let sent = vec![to.len() as f64; from.len()];
                    let received = vec![from.len() as f64; to.len()];
                    spread(&sent, &received, |a, b, parts| self.add([from[a], to[b]], parts * part, flows));
                }
            }
        }
    }

    /// Adds the flows by which every rank sends its own parts; ranks that are not in `sent` send `usual` bytes in all.
    /// The parts of a rank are in the order of `members`.
    pub(super) fn unequal(self, members: &[u32], sent: &[SentBytes], usual: f64, flows: &mut Flows) {
        let count = members.len() as f64;
        let sides = self.sides();
        let mut side_of = vec![0; members.len()];
        let mut place_of = vec![0; members.len()];
        for (at, member) in members.iter().enumerate() {
            for (side, ranks) in sides.iter().enumerate() {
                if let Some(place) = ranks.iter().position(|rank| rank == member) {
                    (side_of[at], place_of[at]) = (side, place);
                }
            }
        }
        for (a, from) in sides.iter().enumerate() {
            // Bytes that each rank of this pod sends to each pod, and that it brings to each member.
            let mut out = vec![vec![0.0; from.len()]; sides.len()];
            let mut into: Vec<Vec<f64>> = sides.iter().map(|side| vec![0.0; side.len()]).collect();
            for (place, rank) in from.iter().enumerate() {
                let own = sent.binary_search_by_key(rank, |own| own.rank).ok().map(|at| &sent[at]);
                let even = own.map_or(usual, |own| own.total) / count;
                let listed = own.and_then(|own| own.parts.as_deref());
                for at in (0..members.len()).filter(|at| members[*at] != *rank) {
                    let bytes = listed.map_or(even, |parts| parts.get(at).copied().unwrap_or(0.0));
                    out[side_of[at]][place] += bytes;
                    into[side_of[at]][place_of[at]] += bytes;
                }
            }
            let most = out[a].iter().chain(&into[a]).copied().fold(0.0, f64::max);
            self.inside(from, most, flows);
            for (b, to) in sides.iter().enumerate().filter(|(b, _)| *b != a) {
                if self.exact {
                    spread(&out[b], &into[b], |a, b, bytes| self.add([from[a], to[b]], bytes, flows));
                } else {
                    let all = out[b].iter().sum();
                    self.even([from, to], self.lanes(from.len(), to.len()), all, flows);
                }
            }
        }
    }

    fn sides(&self) -> Vec<&[u32]> {
        let pod = |rank: &u32| self.pods.of[*rank as usize];
        self.ring.chunk_by(|a, b| pod(a) == pod(b)).collect()
    }

    /// Returns the number of equal flows from a pod to another. The least common multiple of the numbers of ranks gives
    /// every rank the same number of flows.
    fn lanes(&self, from: usize, to: usize) -> usize {
        let lanes = from / common_divisor(from, to) * to;
        if self.exact || lanes <= MOST_LANES { lanes } else { from.max(to) }
    }

    /// Adds the time in which a rank sends or receives `bytes` inside its pod.
    fn inside(&self, ranks: &[u32], bytes: f64, flows: &mut Flows) {
        if ranks.len() > 1 {
            flows.fixed_s = flows.fixed_s.max(self.latency_s + bytes / self.rates.inside);
        }
    }

    /// Shares `bytes` among equal flows.
    fn even(&self, [from, to]: [&[u32]; 2], lanes: usize, bytes: f64, flows: &mut Flows) {
        for lane in 0..lanes {
            self.add([from[lane % from.len()], to[lane % to.len()]], bytes / lanes as f64, flows);
        }
    }

    fn add(&self, ends: [u32; 2], bytes: f64, flows: &mut Flows) {
        flows.add(ends, bytes, self.pods, self.rates, 0.0);
    }
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Calls `add` with flows that send `sent` and receive `received` (north-west corner rule): sender, receiver and amount
/// of each flow. At most one flow fewer than senders and receivers together.
fn spread(sent: &[f64], received: &[f64], mut add: impl FnMut(usize, usize, f64)) {
    let (mut from, mut to) = (0, 0);
    let (mut left, mut open) =
        (sent.first().copied().unwrap_or(0.0), received.first().copied().unwrap_or(0.0));
    while from < sent.len() && to < received.len() {
        let amount = left.min(open);
        if amount > 0.0 {
            add(from, to, amount);
        }
        (left, open) = (left - amount, open - amount);
        if left <= open {
            from += 1;
            left = sent.get(from).copied().unwrap_or(0.0);
        } else {
            to += 1;
            open = received.get(to).copied().unwrap_or(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flows of an exchange between pods of the given numbers of ranks, and the bytes that each rank sends and
    /// receives.
    fn flows_of(sizes: &[u32], exchange: impl Fn(Exchange<'_>, &mut Flows)) -> (Flows, Vec<[f64; 2]>) {
        let of: Vec<u32> =
            (0_u32..).zip(sizes).flat_map(|(pod, size)| std::iter::repeat_n(pod, *size as usize)).collect();
        let ring: Vec<u32> = (0..of.len() as u32).collect();
        let names = sizes.iter().map(ToString::to_string).collect();
        let pods = TracePods { of, names, ranks: sizes.to_vec() };
        let rates = Rates { between: 1.0, inside: 1.0, latency_s: 0.0, both_directions: true };
        let mut flows = Flows::default();
        let made = Exchange { ring: &ring, pods: &pods, rates: &rates, latency_s: 0.0, exact: true };
        exchange(made, &mut flows);
        let mut sums = vec![[0.0; 2]; ring.len()];
        for ((.., bits), ends) in &flows.by_pods {
            for (from, to) in ends {
                sums[*from as usize][0] += f64::from_bits(*bits);
                sums[*to as usize][1] += f64::from_bits(*bits);
            }
        }
        (flows, sums)
    }

    #[test]
    fn every_rank_sends_and_receives_its_share_between_pods_of_unequal_size() {
        for sizes in [&[8, 8, 4][..], &[2, 1, 1], &[8, 3], &[7, 8], &[40, 41]] {
            let all: u32 = sizes.iter().sum();
            let (flows, sums) = flows_of(sizes, |exchange, flows| exchange.equal(10.0, flows));
            let own = sizes.iter().flat_map(|size| std::iter::repeat_n(*size, *size as usize));
            for (own, [sent, received]) in own.zip(sums) {
                let share = 10.0 * f64::from(all - own);
                assert!((sent - share).abs() < 1e-6 && (received - share).abs() < 1e-6, "{sizes:?}: {sent}");
            }
            let pairs = sizes.len() * (sizes.len() - 1);
            assert!(flows.by_pods.len() == pairs || sizes.contains(&41), "{sizes:?}");
        }
        // 12 parts, not 16.
        let (_, sums) = flows_of(&[8, 8, 4], |exchange, flows| exchange.equal(1.0, flows));
        assert!(sums[..16].iter().all(|sums| *sums == [12.0, 12.0]));
    }

    #[test]
    fn unequal_parts_go_to_their_ranks() {
        // Ranks 0 and 1 form a pod. Rank 2 has no list and sends 3 bytes to every rank.
        let sent = |rank: u32, parts: &[f64]| SentBytes {
            rank,
            total: parts.iter().sum(),
            parts: Some(parts.into()),
        };
        let sent = [sent(0, &[9.0, 5.0, 2.0, 4.0]), sent(1, &[7.0, 1.0, 0.0, 6.0]), sent(3, &[1.0; 4])];
        let (flows, sums) =
            flows_of(&[2, 1, 1], |exchange, flows| exchange.unequal(&[0, 1, 2, 3], &sent, 12.0, flows));
        assert_eq!(sums, [[6.0, 4.0], [6.0, 4.0], [9.0, 3.0], [3.0, 13.0]]);
        // Rank 1 sends 7 bytes inside the pod.
        assert_eq!(flows.fixed_s, 7.0);
        let coarse = |exchange: Exchange<'_>, flows: &mut Flows| {
            Exchange { exact: false, ..exchange }.unequal(&[0, 1, 2, 3], &sent, 12.0, flows);
        };
        let (flows, sums) = flows_of(&[2, 1, 1], coarse);
        assert_eq!((flows.by_pods.len(), sums[0], sums[3]), (6, [6.0, 4.0], [3.0, 13.0]));
    }
}
