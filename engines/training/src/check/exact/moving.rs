//! Proof, by branch and bound over boxes, that no plan with one reconfiguration has a shorter period than a given
//! period. The period is the time after which the iteration and its circuits repeat.
//!
//! If a plan has a period, a plan with any longer period exists: everything after the return to the first circuits
//! moves later, and the circuits of the second state stay longer. So it is enough to show that no plan has exactly the
//! given period. A box holds ranges of circuits for both states, and ranges for the two instants at which circuits
//! change. A box is fathomed if the iteration does not end in time even if every link carries, at every moment, the
//! maximum that [`CircuitTimeline`] allows. Neglected contention only makes the end earlier, so the proof holds for
//! every scenario.

use super::contention::Contention;
use super::{Ask, MOST_TOGETHER};
use crate::check::case::Case;
use crate::check::walk::{walk, work_after};

mod any;
mod timeline;

pub(super) use any::none_at_all_within;
use timeline::{CircuitTimeline, TimeRange};

/// Number of boxes after which the proof is given up.
pub(super) const MOST_BOXES: usize = 400_000;
/// Maximum number of graph nodes that the proof visits before it is given up, which takes some minutes.
const MOST_NODES: usize = 4_000_000_000;
/// The range of an instant is not split if its width, divided by the period, is below this number.
const NARROWEST: f64 = 1e-12;

/// Constant that is added to the gain of each half of a box. The gain is the rise of the bound, divided by the distance
/// of the bound of the whole box from the period. Without the constant, a split that raises the bound of only one half
/// would have score 0.
const LEAST_GAIN: f64 = 0.1;

/// Result of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No plan has a period this short; plans have at most the number of reconfigurations that the proof allows.
    Proven {
        /// Number of evaluated boxes.
        boxes: usize,
    },
    /// There are too many boxes, or a box cannot be split.
    Open,
    /// The time limit was reached.
    OutOfTime,
}

/// Ranges of the circuits of each link that is branched on, in both states, and ranges of both instants in seconds.
#[derive(Clone, Debug)]
struct Ranges {
    low: [Vec<u32>; 2],
    high: [Vec<u32>; 2],
    instants: [TimeRange; 2],
}

impl Ranges {
    /// Splits the box at the range with this number into two halves; `None` if that range holds a single value.
    fn halves(&self, range: usize, period_s: f64) -> Option<[Self; 2]> {
        let mut halves = [self.clone(), self.clone()];
        if range < 2 {
            let [early, late] = self.instants[range];
            if late - early <= NARROWEST * period_s {
                return None;
            }
            let middle = f64::midpoint(early, late);
            halves[0].instants[range] = [early, middle];
            halves[1].instants[range] = [middle, late];
        } else {
            let links = self.low[0].len();
            let (state, link) = ((range - 2) / links, (range - 2) % links);
            let (low, high) = (self.low[state][link], self.high[state][link]);
            if low == high {
                return None;
            }
            let middle = u32::midpoint(low, high);
            halves[0].high[state][link] = middle;
            halves[1].low[state][link] = middle + 1;
        }
        Some(halves)
    }

    /// Width of the range with this number, as a fraction of its maximum width.
    fn width(&self, range: usize, most: &[u32], period_s: f64) -> f64 {
        if range < 2 {
            let [early, late] = self.instants[range];
            return (late - early) / period_s;
        }
        let (state, link) = ((range - 2) / most.len(), (range - 2) % most.len());
        f64::from(self.high[state][link] - self.low[state][link]) / f64::from(most[link].max(1))
    }
}

/// Tries to prove that no plan with at most one reconfiguration has this period. The dark time must be at most the
/// period.
pub(super) fn none_within(
    ask: &Ask<'_>,
    contention: &Contention,
    delay_s: f64,
    period_s: f64,
    most_boxes: usize,
) -> Outcome {
    let ground = Ground::new(ask.case, contention, delay_s, period_s);
    let most: Vec<u32> = ground.decided.iter().map(|link| contention.useful[*link]).collect();
    let none = vec![0; most.len()];
    let root = |go: TimeRange, back: TimeRange| Ranges {
        low: [none.clone(), none.clone()],
        high: [most.clone(), most.clone()],
        instants: [go, back],
    };
    // Nothing is sent before `ready_s`. If the dark time of the reconfiguration ends by then, exchanging the two states
    // gives an equal plan that returns at the start of the iteration. A return whose dark time extends past the next
    // start is best made at that start, because nothing is sent during its dark time there.
    let ready_s = first_transfer_s(ask.case);
    let mut open = if delay_s <= ready_s {
        let go = [ready_s - delay_s, period_s];
        vec![root(go, [0.0, (period_s - delay_s).max(0.0)]), root(go, [period_s; 2])]
    } else {
        vec![root([0.0, period_s], [0.0, period_s])]
    };
    let (mut boxes, nodes) = (0, ask.case.dag.nodes().len().max(1));
    while let Some(ranges) = open.pop() {
        boxes += 1;
        if ask.depth.is_over() {
            return Outcome::OutOfTime;
        }
        let cuts = 2 + 2 * ground.decided.len();
        if boxes > most_boxes || boxes * cuts * nodes > MOST_NODES {
            return Outcome::Open;
        }
        // Choose the cut with the largest product of the gains of both halves and the width of the cut range; the gain
        // of a half is the rise of its end towards the period. Without the width, the ranges of instants would be cut
        // down to nothing before any range of circuits is cut.
        let own_s = ground.end_s(&ranges);
        let left_s = (period_s - own_s).max(f64::MIN_POSITIVE);
        let gain = |end_s: f64| ((end_s - own_s) / left_s).clamp(0.0, 1.0) + LEAST_GAIN;
        let mut chosen: Option<(f64, Vec<Ranges>)> = None;
        for range in 0..cuts {
            let Some(halves) = ranges.halves(range, period_s) else { continue };
            let ends = halves.each_ref().map(|half| ground.end_s(half));
            let merit = gain(ends[0]) * gain(ends[1]) * ranges.width(range, &most, period_s);
            if chosen.as_ref().is_none_or(|(known, _)| merit > *known) {
                let open = halves.into_iter().zip(ends).filter(|(_, end_s)| *end_s <= period_s);
                chosen = Some((merit, open.map(|(half, _)| half).collect()));
            }
        }
        match chosen {
            Some((_, left)) => open.extend(left),
            None => return Outcome::Open,
        }
    }
    Outcome::Proven { boxes }
}

/// The earliest start of any transfer, seconds.
fn first_transfer_s(case: &Case<'_>) -> f64 {
    let mut first_s = f64::INFINITY;
    walk(&case.dag, |_, earliest| {
        first_s = first_s.min(earliest.at_s);
        earliest.at_s
    });
    first_s
}

/// A transfer of a link that no other transfer follows.
struct Last {
    release_s: f64,
    volume: f64,
    rate: f64,
    deadline_s: f64,
}

/// A scenario, with the period for which the proof shows that no plan exists.
struct Ground<'a> {
    case: &'a Case<'a>,
    contention: &'a Contention,
    delay_s: f64,
    period_s: f64,
    /// Links whose circuits are branched on.
    decided: Vec<usize>,
    /// Links that get the remaining ports of a pod: link, pod and ports per circuit.
    rest: Vec<(usize, usize, u64)>,
    /// Per link, the real pods at its ends with the ports that one circuit needs.
    ends: Vec<Vec<(usize, u64)>>,
    /// Per task, the time of the work that follows it, seconds.
    after_s: Vec<f64>,
    /// Per task, `true` if no transfer follows it.
    last: Vec<bool>,
}

impl<'a> Ground<'a> {
    fn new(case: &'a Case<'a>, contention: &'a Contention, delay_s: f64, period_s: f64) -> Self {
        let pods = &case.net.pods;
        let ends: Vec<Vec<(usize, u64)>> = case
            .net
            .links
            .iter()
            .map(|link| {
                [(link.pod_a.index(), link.ports_a), (link.pod_b.index(), link.ports_b)]
                    .into_iter()
                    .filter(|(pod, cost)| !pods[*pod].mirror && *cost > 0)
                    .map(|(pod, cost)| (pod, u64::from(cost)))
                    .collect()
            })
            .collect();
        let mut last = vec![false; case.net.tasks.len()];
        for task in contention.sinks.iter().flatten() {
            last[*task] = true;
        }
        let (mut used, mut inner) = (vec![false; ends.len()], vec![false; ends.len()]);
        for (task, directed) in contention.directed.iter().enumerate() {
            used[directed / 2] = true;
            inner[directed / 2] |= !last[task];
        }
        let only_last = |link: &usize| used[*link] && !inner[*link];
        let mut rest = Vec::new();
        for link in (0..ends.len()).filter(only_last) {
            let [(pod, cost)] = ends[link][..] else { continue };
            let here = |other: &usize| ends[*other].iter().any(|(other, _)| *other == pod);
            if (0..ends.len()).filter(only_last).filter(here).count() == 1 {
                rest.push((link, pod, cost));
            }
        }
        let decided =
            (0..ends.len()).filter(|link| used[*link] && rest.iter().all(|rest| rest.0 != *link)).collect();
        let node_of = case.dag.transfers(last.len());
        let rest_s = work_after(&case.dag);
        let after_s = node_of.iter().map(|node| rest_s[*node]).collect();
        Self { case, contention, delay_s, period_s, decided, rest, ends, after_s, last }
    }

    /// Maximum number of circuits of every link in a state; `None` if some pod has too few ports for the minimum.
    fn most(&self, low: &[u32], high: &[u32]) -> Option<Vec<f64>> {
        let mut free: Vec<u64> = self.case.net.pods.iter().map(|pod| u64::from(pod.ports)).collect();
        for (link, low) in self.decided.iter().zip(low) {
            for (pod, cost) in &self.ends[*link] {
                free[*pod] = free[*pod].checked_sub(cost * u64::from(*low))?;
            }
        }
        let mut most = vec![0.0; self.ends.len()];
        for ((link, low), high) in self.decided.iter().zip(low).zip(high) {
            let room = self.ends[*link].iter().map(|(pod, cost)| free[*pod] / cost).min();
            let room = room.map_or(u64::MAX, |room| room.saturating_add(u64::from(*low)));
            most[*link] = room.min(u64::from(*high)) as f64;
        }
        for (link, pod, cost) in &self.rest {
            most[*link] = (free[*pod] / cost) as f64;
        }
        Some(most)
    }

    /// Returns `true` if a state can get another circuit without taking one from a link. A plan with the additional
    /// circuit takes at most as long, so the state need not be examined.
    fn has_room(&self, counts: &[u32]) -> bool {
        let mut free: Vec<u64> = self.case.net.pods.iter().map(|pod| u64::from(pod.ports)).collect();
        for (link, count) in self.decided.iter().zip(counts) {
            for (pod, cost) in &self.ends[*link] {
                free[*pod] = free[*pod].saturating_sub(cost * u64::from(*count));
            }
        }
        let rest = |pod: usize, free: u64| {
            let found = self.rest.iter().find(|rest| rest.1 == pod);
            found.map_or(0, |(link, _, cost)| (free / cost).min(u64::from(self.contention.useful[*link])))
        };
        self.decided.iter().zip(counts).any(|(link, count)| {
            *count < self.contention.useful[*link]
                && self.ends[*link].iter().all(|(pod, cost)| {
                    free[*pod] >= *cost && rest(*pod, free[*pod]) == rest(*pod, free[*pod] - cost)
                })
        })
    }

    /// Lower bound on the end of every plan of the box; infinite if the box holds no plan, or if other boxes hold plans
    /// that take at most as long.
    fn end_s(&self, ranges: &Ranges) -> f64 {
        let [go, back] = ranges.instants;
        if back[1] < go[0] {
            return f64::INFINITY;
        }
        let (Some(first), Some(second)) =
            (self.most(&ranges.low[0], &ranges.high[0]), self.most(&ranges.low[1], &ranges.high[1]))
        else {
            return f64::INFINITY;
        };
        if (0..2).any(|state| ranges.low[state] == ranges.high[state] && self.has_room(&ranges.low[state])) {
            return f64::INFINITY;
        }
        self.end_on(&CircuitTimeline::new(go, back, self.delay_s, self.period_s, [&first, &second]))
    }

    /// Lower bound on the end of every plan in which each link carries at most the circuits of `line`.
    fn end_on(&self, line: &CircuitTimeline) -> f64 {
        let rate = self.case.nic_rate();
        let mut release_s = vec![0.0; self.last.len()];
        let mut end_s = walk(&self.case.dag, |task, earliest| {
            release_s[task] = earliest.at_s;
            let whole = &self.case.net.tasks[task];
            let flows = f64::from(whole.flows);
            line.end_s(self.contention.directed[task] / 2, earliest.at_s, whole.volume_bytes / rate, flows)
        });
        for (directed, tasks) in self.contention.sinks.iter().enumerate() {
            if tasks.len() < 2 || end_s > self.period_s {
                continue;
            }
            let mut last: Vec<Last> = tasks
                .iter()
                .map(|task| Last {
                    release_s: release_s[*task],
                    volume: self.case.net.tasks[*task].volume_bytes / rate,
                    rate: f64::from(self.case.net.tasks[*task].flows),
                    deadline_s: self.after_s[*task],
                })
                .collect();
            last.sort_by(|a, b| a.release_s.total_cmp(&b.release_s));
            end_s = end_s.max(together_s(line, directed / 2, &last));
        }
        end_s
    }
}

/// The earliest end of the iteration by which, for every set of last transfers on `link`, the circuits of the link can
/// carry the volumes of the set. This is a necessary condition; with equal work after the transfers it is also
/// sufficient.
fn together_s(line: &CircuitTimeline, link: usize, last: &[Last]) -> f64 {
    let set_s = |within: &dyn Fn(usize) -> bool| {
        let chosen: Vec<&Last> = (0..last.len()).filter(|at| within(*at)).map(|at| &last[at]).collect();
        let (mut left, mut rate, mut now) = (0.0, 0.0, 0.0);
        let after_s = chosen.iter().map(|last| last.deadline_s).fold(f64::INFINITY, f64::min);
        let total: f64 = chosen.iter().map(|last| last.volume).sum();
        for (at, one) in chosen.iter().enumerate() {
            if at == 0 {
                left = total;
            } else {
                left -= line.carried(link, now, one.release_s, rate);
            }
            now = one.release_s;
            rate += one.rate;
        }
        line.end_s(link, now, left.max(0.0), rate) + after_s
    };
    if last.len() <= MOST_TOGETHER {
        (1_usize..1 << last.len()).map(|set| set_s(&|at| set >> at & 1 == 1)).fold(0.0, f64::max)
    } else {
        (0..last.len()).map(|first| set_s(&|at| at >= first)).fold(0.0, f64::max)
    }
}
