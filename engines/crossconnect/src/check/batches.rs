//! Walks through the batches one by one and tracks the live ports and the circuits that are dark during each batch.

use super::entries::{End, Judged};
use super::states::PairCounts;
use super::{EXACT, Findings, code, compare_figure};
use crate::plan::{Action, Changes, EntryRef};
use crate::scenario::{CrossconnectScenario, Rollout};
use lightbay_core::checked::Figure;
use lightbay_core::problem::counted;
use std::collections::{HashMap, HashSet};

/// Circuits that are dark during the batches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dark {
    /// Maximum number of circuits that are dark during one batch.
    pub max_circuits: u64,
    /// Maximum number of circuits that one pod lacks during one batch.
    pub max_per_pod: u64,
    /// Smallest fraction of its circuits that a pair of pods keeps during one batch.
    pub least_pair_share: f64,
}

/// Number of live circuits (`live`), and the smaller of the numbers of circuits before and after the change (`least`).
/// If fewer circuits are live than `least`, the difference is dark.
#[derive(Clone, Copy, Debug, Default)]
struct Service {
    live: u64,
    least: u64,
}

impl Service {
    fn of(old: u64, new: u64) -> Self {
        Self { live: old, least: old.min(new) }
    }

    const fn missing(self) -> u64 {
        self.least.saturating_sub(self.live)
    }

    fn share(self) -> f64 {
        if self.least == 0 { 1.0 } else { (self.live as f64 / self.least as f64).min(1.0) }
    }
}

/// Live circuits in total, by pair of pods and by pod.
struct Live {
    all: Service,
    pairs: HashMap<(u32, u32), Service>,
    pods: Vec<Service>,
}

impl Live {
    fn of(scenario: &CrossconnectScenario, pairs: &PairCounts) -> Self {
        let mut sums = vec![(0, 0); scenario.pods as usize];
        let all = pairs.values().fold((0, 0), |(old, new), pair| (old + pair.old, new + pair.new));
        for (&(i, j), pair) in pairs {
            for pod in ends_of((i, j)) {
                if let Some((old, new)) = sums.get_mut(pod as usize) {
                    *old += pair.old;
                    *new += pair.new;
                }
            }
        }
        Self {
            all: Service::of(all.0, all.1),
            pairs: pairs.iter().map(|(&key, pair)| (key, Service::of(pair.old, pair.new))).collect(),
            pods: sums.into_iter().map(|(old, new)| Service::of(old, new)).collect(),
        }
    }

    fn change(&mut self, judged: &Judged, step: impl Fn(u64) -> u64) {
        let pair = judged.pair();
        self.all.live = step(self.all.live);
        let service = self.pairs.entry(pair).or_default();
        service.live = step(service.live);
        for pod in ends_of(pair) {
            if let Some(service) = self.pods.get_mut(pod as usize) {
                service.live = step(service.live);
            }
        }
    }
}

/// Returns the pods of a pair; a circuit of a pod to itself is one circuit of that pod.
fn ends_of((i, j): (u32, u32)) -> impl Iterator<Item = u32> {
    std::iter::once(i).chain((i != j).then_some(j))
}

/// Walks through the batches and returns the dark circuits; `None` if the batches do not name every change once,
/// because dark circuits cannot be counted then.
pub(super) fn check(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    switches: &[Vec<Judged>],
    pairs: &PairCounts,
    found: &mut Findings,
) -> Option<Dark> {
    if !each_once(changes, switches, found) {
        return None;
    }
    let at = |reference: &EntryRef| -> Option<(u32, &Judged)> {
        let judged = switches.get(reference.ocs_id as usize)?.get(reference.entry as usize)?;
        Some((reference.ocs_id, judged))
    };
    let mut ports: HashSet<(u32, End)> = (0u32..)
        .zip(switches)
        .flat_map(|(ocs, switch)| {
            let old = switch.iter().filter(|judged| judged.was());
            old.flat_map(move |judged| judged.ends.map(|end| (ocs, end)))
        })
        .collect();
    let mut live = Live::of(scenario, pairs);
    let mut dark = Dark { max_circuits: 0, max_per_pod: 0, least_pair_share: 1.0 };
    for (number, batch) in changes.batches.iter().enumerate() {
        let is_removal = |(_, judged): &(u32, &Judged)| judged.entry.action == Action::Remove;
        let all: Vec<(u32, &Judged)> = batch.changes.iter().filter_map(at).collect();
        if all.windows(2).any(|two| !is_removal(&two[0]) && is_removal(&two[1])) {
            found.add(code::BATCH_ORDER, format!("batches[{number}] adds before it removes"));
        }
        let entry = |reference: &EntryRef| {
            let removal = at(reference).is_some_and(|change| is_removal(&change));
            (!removal, *reference)
        };
        if !batch.changes.is_sorted_by_key(entry) {
            found.add(
                code::BATCH_ORDER,
                format!(
                    "batches[{number}] is not sorted: removals, then additions, each by switch and entry"
                ),
            );
        }
        for (ocs, judged) in all.iter().filter(|change| is_removal(change)) {
            for end in judged.ends {
                ports.remove(&(*ocs, end));
            }
            if !judged.is_forced() {
                live.change(judged, |count| count.saturating_sub(1));
            }
        }
        compare_figure(
            found,
            code::DARK,
            &format!("batches[{number}].dark_circuits"),
            batch.dark_circuits,
            live.all.missing(),
        );
        dark.max_circuits = dark.max_circuits.max(live.all.missing());
        // Only pods and pairs that lose circuits in this batch can have more dark circuits than in earlier batches.
        for (_, judged) in all.iter().filter(|change| is_removal(change)) {
            let (i, j) = judged.pair();
            let missing =
                [i, j].into_iter().filter_map(|pod| live.pods.get(pod as usize)).map(|pod| pod.missing());
            dark.max_per_pod = missing.fold(dark.max_per_pod, u64::max);
            let share = live.pairs.get(&(i, j)).map_or(1.0, |service| service.share());
            dark.least_pair_share = dark.least_pair_share.min(share);
        }
        for (ocs, judged) in all.iter().filter(|change| !is_removal(change)) {
            for end in judged.ends {
                if !ports.insert((*ocs, end)) {
                    let (_, pod, port) = end;
                    found.add(
                        code::LIVE_PORT,
                        format!("batches[{number}] sets up a circuit at port {port} of pod {pod} on switch {ocs}, which is in use"),
                    );
                }
            }
            live.change(judged, |count| count + 1);
        }
    }
    Some(dark)
}

/// Returns `true` if the batches name every change once and nothing else.
fn each_once(changes: &Changes, switches: &[Vec<Judged>], found: &mut Findings) -> bool {
    let mut sound = true;
    let mut refuse = |message: String| {
        found.add(code::BATCHES, message);
        sound = false;
    };
    let mut named: HashMap<EntryRef, usize> = HashMap::new();
    for (number, batch) in changes.batches.iter().enumerate() {
        if batch.changes.is_empty() {
            refuse(format!("batches[{number}] changes nothing"));
        }
        for (place, reference) in batch.changes.iter().enumerate() {
            let EntryRef { ocs_id, entry } = *reference;
            let path = format!("batches[{number}].changes[{place}]");
            match switches.get(ocs_id as usize).and_then(|switch| switch.get(entry as usize)) {
                None => {
                    refuse(format!("{path} names entry {entry} of switch {ocs_id}, which does not exist"));
                }
                Some(judged) if judged.entry.action == Action::Keep => {
                    refuse(format!("{path} names entry {entry} of switch {ocs_id}, which keeps its circuit"));
                }
                Some(_) => {
                    if let Some(first) = named.insert(*reference, number) {
                        refuse(format!(
                            "{path} names entry {entry} of switch {ocs_id}, which batches[{first}] already names"
                        ));
                    }
                }
            }
        }
    }
    for (ocs_id, switch) in (0u32..).zip(switches) {
        for (entry, judged) in (0u32..).zip(switch) {
            if judged.entry.action != Action::Keep && !named.contains_key(&EntryRef { ocs_id, entry }) {
                refuse(format!("entry {entry} of switch {ocs_id} is in no batch"));
            }
        }
    }
    sound
}

/// Adds a remark for each limit of the rollout that the batches exceed.
pub(super) fn exceeded(scenario: &CrossconnectScenario, dark: &Dark, remarks: &mut Vec<String>) {
    let Rollout { max_dark_per_pod: most, min_pair_share: least } = scenario.rollout;
    if most > 0 && dark.max_per_pod > u64::from(most) {
        remarks.push(format!(
            "the batches exceed a limit of the rollout: a pod lacks {} during a batch, above max_dark_per_pod={most}",
            counted(dark.max_per_pod, "circuit", "circuits")
        ));
    }
    if least > 0.0 && dark.least_pair_share < least - EXACT {
        remarks.push(format!(
            "the batches exceed a limit of the rollout: a pair of pods keeps {:.0} % of its circuits during a batch, \
             below min_pair_share={least}",
            100.0 * dark.least_pair_share
        ));
    }
}

/// Returns metrics that state whether the limits of the rollout are kept; there is one metric for each limit that is
/// set.
pub(super) fn limits(scenario: &CrossconnectScenario, dark: &Dark) -> Vec<Figure> {
    let Rollout { max_dark_per_pod: most, min_pair_share: least } = scenario.rollout;
    let kept =
        |name: &'static str, kept: bool| Figure::exactly(name, code::ROLLOUT, f64::from(u8::from(kept)));
    let mut figures = Vec::new();
    if most > 0 {
        figures.push(kept("dark_limit_kept", dark.max_per_pod <= u64::from(most)));
    }
    if least > 0.0 {
        figures.push(kept("pair_share_kept", dark.least_pair_share >= least - EXACT));
    }
    figures
}
