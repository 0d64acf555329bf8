//! Circuits on demand: any number of reconfigurations within an iteration, without a proof.
//!
//! Every decided link has a fixed number of circuits while it sends, and no circuits otherwise. Transfers are scheduled
//! by list scheduling in order of their ready times. Two links that a pod cannot serve at once exclude each other.
//! Circuits are set up before a transfer starts, because the start of every transfer is planned. The carrying circuits
//! and the period of such a schedule are then computed from its states as for any other schedule, so the order of the
//! list affects the quality of a plan, but not its validity. If links release their circuits only after gaps of some
//! length, there are fewer reconfigurations.

use super::least::ports_with;
use super::steps::{Stepped, Steps};
use super::{Aim, MoveTask};
use crate::simulate::evaluate::{Lit, Scratch};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Up to this number of allocations of the decided links, all of them are tried; if there are more, only those with the
/// same count on every link.
const MOST_VECTORS: usize = 20_000;
/// If links exclude each other in pods that have enough ports, fewer ports may be needed. Up to this number of such
/// pods, exclusion is tried in every subset of them; if there are more, only in all or none of them.
const MOST_PODS: usize = 5;
/// Relative margin for rounding at the end of a transfer: without the margin, the last bit of a transfer could wait
/// until its circuits are set again.
const ROUNDING: f64 = 1e-12;
/// Maximum number of bisection steps over the list of gaps after which links release their circuits.
const GAPS: usize = 12;

/// Rule that determines when decided links have circuits, and how many.
struct Rule<'r> {
    /// Number of circuits of every decided link while it sends.
    counts: &'r [u32],
    /// `true` for pods whose links exclude each other.
    apart: &'r [bool],
    /// Maximum gap over which a link keeps its circuits, seconds.
    hold_s: f64,
    /// If true, the first circuits are set up before the previous iteration ends, rather than at the start.
    early: bool,
}

/// A stretch of time in which a link has its circuits, seconds.
type Held = (f64, f64);

/// Searches for plans of circuits on demand with at most `most` reconfigurations that are better than `task.known`.
///
/// # Errors
/// The reason to stop; plans found until then have been reported to `watch`.
pub fn search_demand<W: Watch<Stepped>>(
    task: MoveTask<'_>,
    most: u32,
    watch: &mut W,
) -> Result<Option<Stepped>, MethodError> {
    let mut steps = Steps::new(task, most);
    if steps.movable.decided.is_empty() {
        return Ok(None);
    }
    let ready_s = task.evaluator.network.ready_s();
    for (estimate, counts) in estimated(&steps, watch)? {
        if estimate >= steps.best_value || !steps.goes_on() {
            break;
        }
        for apart in steps.exclusions(&counts) {
            for early in [false, true] {
                if early && task.delay_s <= ready_s {
                    continue;
                }
                let rule = Rule { counts: &counts, apart: &apart, hold_s: 0.0, early };
                if let Some((states, from_s)) = steps.within_most(&rule) {
                    steps.offer((&states, &from_s), "circuits on demand", watch)?;
                }
            }
        }
    }
    Ok(steps.best)
}

/// Circuit counts of the decided links to try, each with a lower bound on the value of schedules with these counts, the
/// lowest bound first.
fn estimated<W: Watch<Stepped>>(
    steps: &Steps<'_>,
    watch: &mut W,
) -> Result<Vec<(f64, Vec<u32>)>, MethodError> {
    let (task, movable) = (steps.task, &steps.movable);
    let most = movable.most();
    let vectors = movable.vectors(MOST_VECTORS).unwrap_or_else(|| {
        let all = 1..=most.iter().copied().max().unwrap_or(0);
        all.map(|count| most.iter().map(|most| count.min(*most)).collect()).collect()
    });
    let mut scratch = Scratch::default();
    let mut known = Vec::new();
    for counts in vectors {
        watch.checkpoint()?;
        watch.count(1);
        let estimate = match task.aim {
            Aim::Ports { limit_s } => {
                ports_with(task, movable, &counts, limit_s, &mut scratch).map(|ports| ports as f64)
            }
            Aim::Time => {
                let mut circuits = task.caps.to_vec();
                for (link, count) in movable.decided.iter().zip(&counts) {
                    circuits[*link] = *count;
                }
                let lit = Lit { times: vec![0.0], circuits };
                Some(task.evaluator.model.makespan_over(&lit, &mut scratch.model))
            }
        };
        known.extend(estimate.filter(|value| *value < steps.best_value).map(|value| (value, counts)));
    }
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(known)
}

impl Steps<'_> {
    /// Sets of pods whose links exclude each other: pods with too few ports and, when ports are minimised, combinations
    /// of other pods too.
    fn exclusions(&self, counts: &[u32]) -> Vec<Vec<bool>> {
        let network = &self.task.evaluator.network;
        let mut used = Vec::new();
        self.movable.used(network, counts, &mut used);
        let (mut must, mut may) = (vec![false; used.len()], Vec::new());
        for (pod, used) in used.iter().enumerate() {
            let here = self.decided_at(pod).count();
            must[pod] = self.movable.ports(pod).is_some_and(|ports| *used > ports);
            if here > 1 && !must[pod] && self.movable.ports(pod).is_some() {
                may.push(pod);
            }
        }
        if self.task.aim == Aim::Time {
            return vec![must];
        }
        let sets = 1_usize << may.len().min(MOST_PODS);
        let chosen = |set: usize, at: usize| {
            if may.len() <= MOST_PODS { set >> at & 1 == 1 } else { set == 1 }
        };
        let sets = if may.len() <= MOST_PODS { sets } else { 2 };
        (0..sets)
            .map(|set| {
                let mut apart = must.clone();
                for (at, pod) in may.iter().enumerate() {
                    apart[*pod] |= chosen(set, at);
                }
                apart
            })
            .collect()
    }

    /// Returns the indices of the decided links of a pod.
    fn decided_at(&self, pod: usize) -> impl Iterator<Item = usize> {
        let budget = &self.task.evaluator.network.budget;
        let here = move |link: &usize| budget.ends(*link).iter().any(|end| end.pod as usize == pod);
        self.movable.decided.iter().enumerate().filter(move |(_, link)| here(link)).map(|(at, _)| at)
    }

    /// States of a rule and their start times, with the gap chosen so that the number of reconfigurations is within the
    /// limit; `None` if no gap achieves this.
    fn within_most(&self, rule: &Rule<'_>) -> Option<(Vec<Vec<u32>>, Vec<f64>)> {
        let (sends, wanted_s) = self.listed(rule)?;
        let made = |hold_s: f64| {
            let rule = Rule { hold_s, ..*rule };
            self.states(&rule, &self.held(&rule, &sends, &wanted_s))
        };
        let fits = |(counts, from_s): &(Vec<Vec<u32>>, Vec<f64>)| {
            let states = self.filled(counts)?;
            let plan = Stepped { states, from_s: from_s.clone(), period_s: self.end_s() };
            Some(plan.switchings() <= self.most)
        };
        let own = made(0.0);
        if fits(&own)? {
            return Some(own);
        }
        let mut gaps: Vec<f64> = sends
            .iter()
            .flat_map(|sends| sends.windows(2).map(|pair| pair[1].0 - pair[0].1))
            .filter(|gap| *gap > 0.0)
            .collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let (mut low, mut high) = (0, gaps.len());
        let mut best = None;
        for _ in 0..GAPS {
            if low >= high {
                break;
            }
            let middle = usize::midpoint(low, high);
            let plan = made(gaps[middle]);
            if fits(&plan)? {
                best = Some(plan);
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        best
    }

    /// Returns the list schedule: for every decided link, the transfers in ascending order, and for every pod, the time
    /// from which links that get the remaining ports of the pod need these ports. `None` if a transfer never starts.
    fn listed(&self, rule: &Rule<'_>) -> Option<(Vec<Vec<Held>>, Vec<f64>)> {
        let network = &self.task.evaluator.network;
        let delay_s = self.task.delay_s;
        let links = self.movable.decided.len();
        let rivals = self.rivals(rule.apart);
        let mut place = vec![None; network.links()];
        for (at, link) in self.movable.decided.iter().enumerate() {
            place[*link] = Some(at);
        }
        let mut sends: Vec<Vec<Held>> = vec![Vec::new(); links];
        let mut free_s = vec![f64::NEG_INFINITY; links];
        let mut wanted_s = vec![f64::INFINITY; network.budget.pods()];
        let mut ready_s = network.release.clone();
        let mut waits: Vec<usize> =
            (0..network.tasks()).map(|task| network.preds.of(task as u32).len()).collect();
        // Times are not negative, so their bits order like the times.
        let key = |ready_s: f64, task: u32| Reverse((ready_s.max(0.0).to_bits(), task));
        let mut open: BinaryHeap<Reverse<(u64, u32)>> = (0..network.tasks() as u32)
            .filter(|task| waits[*task as usize] == 0)
            .map(|task| key(ready_s[task as usize], task))
            .collect();
        while let Some(Reverse((_, task))) = open.pop() {
            let (index, link) = (task as usize, network.link_of(task));
            let Some(at) = place[link] else {
                for end in network.budget.ends(link) {
                    let wanted_s = &mut wanted_s[end.pod as usize];
                    *wanted_s = wanted_s.min(ready_s[index]);
                }
                continue;
            };
            let start_s = rivals[at]
                .iter()
                .fold(ready_s[index], |start_s, rival| start_s.max(free_s[*rival] + delay_s));
            let start_s = if rule.early { start_s } else { start_s.max(delay_s) };
            if start_s == f64::INFINITY {
                return None;
            }
            if network.is_sink(task) {
                sends[at].push((start_s, f64::INFINITY));
                free_s[at] = f64::INFINITY;
                continue;
            }
            let speed = (f64::from(rule.counts[at]) / network.flows[index]).min(1.0);
            let end_s = start_s + network.tau[index] / speed;
            sends[at].push((start_s, end_s * (1.0 + ROUNDING)));
            free_s[at] = free_s[at].max(end_s * (1.0 + ROUNDING));
            for arc in network.succs.of(task) {
                let next = arc.task as usize;
                ready_s[next] = ready_s[next].max(end_s + arc.delay);
                waits[next] -= 1;
                if waits[next] == 0 {
                    open.push(key(ready_s[next], arc.task));
                }
            }
        }
        for sends in &mut sends {
            sends.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        Some((sends, wanted_s))
    }

    /// For every decided link, the other links that have no circuits while this link has circuits.
    fn rivals(&self, apart: &[bool]) -> Vec<Vec<usize>> {
        let mut rivals = vec![Vec::new(); self.movable.decided.len()];
        for pod in (0..apart.len()).filter(|pod| apart[*pod]) {
            let here: Vec<usize> = self.decided_at(pod).collect();
            for at in &here {
                rivals[*at].extend(here.iter().filter(|other| *other != at));
            }
        }
        rivals
    }

    /// The spans in which every decided link has its circuits, given the spans in which the link sends: a link keeps
    /// circuits over short gaps, and while no other link needs their ports.
    fn held(&self, rule: &Rule<'_>, sends: &[Vec<Held>], wanted_s: &[f64]) -> Vec<Vec<Held>> {
        let budget = &self.task.evaluator.network.budget;
        let delay_s = self.task.delay_s;
        // Circuits are kept if no other link could use their ports before the end of the iteration.
        let last_s = match self.task.aim {
            Aim::Time => self.task.evaluator.ideal.makespan(),
            Aim::Ports { limit_s } => limit_s,
        } - delay_s;
        let rivals = self.rivals(rule.apart);
        let sent_within = |at: usize, (from_s, to_s): Held| {
            rivals[at].iter().any(|rival| {
                let next = sends[*rival].partition_point(|sent| sent.1 <= from_s);
                sends[*rival].get(next).is_some_and(|sent| sent.0 < to_s)
            })
        };
        let mut all = Vec::new();
        for (at, sends) in sends.iter().enumerate() {
            let ends = budget.ends(self.movable.decided[at]);
            let wanted_s = ends.iter().map(|end| wanted_s[end.pod as usize]).fold(f64::INFINITY, f64::min);
            let mut held: Vec<Held> = Vec::new();
            for (order, &(start_s, end_s)) in sends.iter().enumerate() {
                // No link needs the ports earlier: setting the circuits up with the return saves a reconfiguration.
                let alone = order == 0 && start_s - delay_s <= wanted_s;
                let start_s =
                    if alone && !sent_within(at, (0.0, start_s)) { start_s.min(delay_s) } else { start_s };
                match held.last_mut() {
                    Some(last)
                        if !sent_within(at, (last.1, start_s))
                            && (start_s - last.1 <= delay_s.max(rule.hold_s)
                                || start_s - delay_s <= wanted_s) =>
                    {
                        last.1 = last.1.max(end_s);
                    }
                    _ => held.push((start_s, end_s)),
                }
            }
            if let Some(last) = held.last_mut().filter(|last| last.1 > last_s)
                && !sent_within(at, (last.1, f64::INFINITY))
            {
                last.1 = f64::INFINITY;
            }
            all.push(held);
        }
        all
    }

    /// Circuit counts of the decided links in every state, and the start times of the states. A state that sets
    /// circuits starts one dark time before the circuits send; if `early` is false, the state starts at time 0 or
    /// later.
    fn states(&self, rule: &Rule<'_>, held: &[Vec<Held>]) -> (Vec<Vec<u32>>, Vec<f64>) {
        let delay_s = self.task.delay_s;
        let up_s = |held: &Held| if rule.early { held.0 - delay_s } else { (held.0 - delay_s).max(0.0) };
        let ups = held.iter().flatten().map(up_s);
        let first_s = ups.clone().fold(0.0, f64::min);
        // Only one return is made before the end, so circuits that would be set up there are set up with the return.
        let up_s = |held: &Held| if up_s(held) <= 0.0 { first_s } else { up_s(held) };
        let downs = held.iter().flatten().map(|held| held.1).filter(|end_s| end_s.is_finite());
        let mut from_s: Vec<f64> = ups.filter(|up_s| *up_s > 0.0).chain(downs).collect();
        from_s.push(first_s);
        from_s.sort_unstable_by(f64::total_cmp);
        from_s.dedup();
        let states = from_s
            .iter()
            .map(|from_s| {
                let has = |held: &[Held]| held.iter().any(|held| up_s(held) <= *from_s && held.1 > *from_s);
                rule.counts.iter().zip(held).map(|(count, held)| if has(held) { *count } else { 0 }).collect()
            })
            .collect();
        (states, from_s)
    }
}
