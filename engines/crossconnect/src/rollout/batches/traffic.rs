//! Counts live circuits, and compares them with the number of circuits that must be live.

use super::components::{Change, ChangeComponents};
use super::entries;
use crate::plan::Action;
use crate::rollout::ports::Wired;
use crate::scenario::CrossconnectScenario;
use rustc_hash::FxHashMap;

/// Tolerance for fractions of circuits.
const SHARE_TOLERANCE: f64 = 1e-9;

/// Circuits of a pod or of a pair of pods.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Old and new number of circuits; the old number excludes circuits at failed ports.
    old: u32,
    new: u32,
    /// Number of circuits that are live now.
    live: u32,
    /// Minimum number of live circuits that the limits allow.
    floor: u32,
    /// Number of circuits that do not change or can be added before any removal.
    kept: u32,
}

impl Count {
    /// Returns the number of circuits that should be live: the smaller of the old and the new number. If fewer are
    /// live, the pod or pair lacks the difference. For a pod or pair that gets fewer circuits, this is the new number.
    const fn due(self) -> u32 {
        if self.old < self.new { self.old } else { self.new }
    }

    const fn missing(self) -> u32 {
        self.due().saturating_sub(self.live)
    }

    const fn below_floor(self) -> u32 {
        self.floor.saturating_sub(self.live)
    }
}

/// Circuits that are dark at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dark {
    /// Dark circuits on all switches together.
    pub circuits: u64,
    /// Maximum number of circuits that one pod lacks.
    pub of_a_pod: u64,
    /// Smallest fraction of its circuits that a pair of pods keeps.
    pub least_pair_share: f64,
    /// `true` if a limit is violated.
    pub broken: bool,
}

/// Live circuits in total, of all pods, and of all pairs of pods that change.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    all: Count,
    pods: Vec<Count>,
    pairs: Vec<Count>,
    at: FxHashMap<(u32, u32), u32>,
}

impl Traffic {
    pub(super) fn of(scenario: &CrossconnectScenario, wired: &Wired) -> Self {
        let mut traffic = Self {
            all: Count::default(),
            pods: vec![Count::default(); scenario.pods as usize],
            pairs: Vec::new(),
            at: FxHashMap::default(),
        };
        for (at, entry) in entries(wired) {
            let (a, b) = super::pair(entry);
            let pairs = &mut traffic.pairs;
            let number = *traffic.at.entry((a, b)).or_insert_with(|| {
                pairs.push(Count::default());
                pairs.len() as u32 - 1
            });
            let is_old = entry.action != Action::Add && !wired.forced.contains(&at);
            let is_new = entry.action != Action::Remove;
            let add = |count: &mut Count| {
                count.old += u32::from(is_old);
                count.new += u32::from(is_new);
                count.kept += u32::from(is_old && is_new);
            };
            add(&mut traffic.all);
            add(&mut pairs[number as usize]);
            add(&mut traffic.pods[a as usize]);
            // A circuit of a pod to itself is one circuit of that pod.
            if a != b {
                add(&mut traffic.pods[b as usize]);
            }
        }
        traffic.all.live = traffic.all.old;
        let most = scenario.rollout.max_dark_per_pod;
        for pod in &mut traffic.pods {
            pod.live = pod.old;
            // Minimum number of live circuits of a pod: the circuits that should be live minus those that may be dark.
            pod.floor = if most == 0 { 0 } else { pod.due().saturating_sub(most) };
        }
        for pair in &mut traffic.pairs {
            pair.live = pair.old;
            // Rounded up, because circuits are whole.
            let least = scenario.rollout.min_pair_share * f64::from(pair.due()) - SHARE_TOLERANCE;
            pair.floor = least.ceil().max(0.0) as u32;
        }
        traffic
    }

    /// Returns the counts with default limits: every pod keeps half of its circuits, rounded up, and every pair of pods
    /// keeps one circuit; a pod or pair may lose a single circuit that moves to ports in use.
    pub(super) fn spared(mut self, work: &ChangeComponents) -> Self {
        // Circuits that can be added before any removal count as kept.
        for change in work.changes.iter().filter(|change| !change.removal && change.waits_for.is_empty()) {
            for count in self.counts(change).into_iter().flatten() {
                count.kept += 1;
            }
        }
        for pod in &mut self.pods {
            pod.floor = if pod.due() > 1 { pod.due() - pod.due() / 2 } else { pod.due().min(pod.kept) };
        }
        for pair in &mut self.pairs {
            pair.floor = pair.due().min(u32::from(pair.kept > 0 || pair.due() > 1));
        }
        self
    }

    /// Returns the positions of the pods and pairs of pods that are below their limits.
    pub(super) fn short(&self) -> impl Iterator<Item = usize> + '_ {
        let all = self.pods.iter().chain(&self.pairs).enumerate();
        all.filter(|(_, count)| count.below_floor() > 0).map(|(at, _)| at)
    }

    fn counts(&mut self, change: &Change) -> [Option<&mut Count>; 4] {
        let (a, b) = change.pods;
        let pair = self.at.get(&change.pods).and_then(|&at| self.pairs.get_mut(at as usize));
        let [a, b] = if a == b {
            [self.pods.get_mut(a as usize), None]
        } else {
            self.pods
                .get_disjoint_mut([a as usize, b as usize])
                .map_or([None, None], |[a, b]| [Some(a), Some(b)])
        };
        [a, b, pair, Some(&mut self.all)]
    }

    /// Subtracts a removed circuit from the live circuits. Returns the number of live circuits that are missing for the
    /// limits, summed over both pods, their pair and the total; 0 if all limits hold.
    pub(super) fn take(&mut self, change: &Change) -> u32 {
        if change.forced {
            return 0;
        }
        let mut missed = 0;
        // Updates every counter of the circuit: both pods, the pair, the total.
        for count in self.counts(change).into_iter().flatten() {
            count.live -= 1;
            missed += count.below_floor();
        }
        missed
    }

    /// Counts a circuit as live again, after its addition or when its removal is undone.
    pub(super) fn give(&mut self, change: &Change) {
        if change.forced {
            return;
        }
        for count in self.counts(change).into_iter().flatten() {
            count.live += 1;
        }
    }

    /// Returns the circuits that are dark now.
    pub(super) fn dark(&self) -> Dark {
        let share = |pair: &Count| {
            let due = pair.due();
            if due == 0 { 1.0 } else { f64::from(pair.live.min(due)) / f64::from(due) }
        };
        Dark {
            circuits: u64::from(self.all.missing()),
            of_a_pod: self.pods.iter().map(|pod| u64::from(pod.missing())).max().unwrap_or_default(),
            least_pair_share: self.pairs.iter().map(share).fold(1.0, f64::min),
            broken: self.pods.iter().chain(&self.pairs).any(|count| count.below_floor() > 0),
        }
    }
}
