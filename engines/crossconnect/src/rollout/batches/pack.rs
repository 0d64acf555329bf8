//! Packs components into batches within limits.

use super::components::ChangeComponents;
use super::traffic::Traffic;

/// Rule for components that are too large for one batch: how many of them may be in progress at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// As many components as the limits on dark circuits allow.
    Eager,
    /// Only one component; circuits that other components have removed but not yet replaced then cannot block it.
    OneAtATime,
}

/// Progress of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No removal has been made.
    Waiting,
    /// Some removals have been made.
    Open,
    /// All changes have been made.
    Done,
}

/// Returns, for each batch, the indices of its changes in `work`. The batches respect the limits if this heuristic
/// finds such batches.
pub(super) fn pack(work: &ChangeComponents, traffic: Traffic, care: Care) -> Vec<Vec<u32>> {
    let mut packer = Packer {
        work,
        traffic,
        stages: vec![Stage::Waiting; work.components.len()],
        made: vec![false; work.changes.len()],
        batch: Vec::new(),
    };
    // Each component is tested once, with all other circuits live.
    let too_large = packer.too_large();
    let mut batches = Vec::new();
    // Each iteration makes one batch. Invariant: no removal is made twice, and every batch changes something.
    while packer.stages.iter().any(|&stage| stage != Stage::Done) {
        packer.removals(&too_large, care);
        packer.additions();
        // No move fits within the limits, so the move with the smallest violation is made and counted.
        if packer.batch.is_empty() {
            packer.least_evil();
            packer.additions();
        }
        batches.push(std::mem::take(&mut packer.batch));
    }
    batches
}

struct Packer<'a> {
    work: &'a ChangeComponents,
    traffic: Traffic,
    /// Progress of each component.
    stages: Vec<Stage>,
    /// For each change, `true` if the change has been made.
    made: Vec<bool>,
    /// Changes of the batch that is being built.
    batch: Vec<u32>,
}

impl Packer<'_> {
    /// Returns, for every component, `true` if making all its removals together violates a limit while all other
    /// circuits are live.
    fn too_large(&mut self) -> Vec<bool> {
        let work = self.work;
        work.components.iter().map(|component| self.missed_by(&component.removals) > 0).collect()
    }

    /// Chooses the removals of a batch: first removals of components in progress, then all removals of components that
    /// fit the limits, then the first moves of components that must be cut.
    fn removals(&mut self, too_large: &[bool], care: Care) {
        let work = self.work;
        // Components in progress come first, because their circuits are dark.
        for number in 0..work.components.len() {
            if self.stages[number] == Stage::Open {
                self.steps(number);
            }
        }
        // Whole components leave no circuit dark after their batch.
        for (number, component) in work.components.iter().enumerate() {
            if self.stages[number] == Stage::Waiting && !too_large[number] {
                self.make(&component.removals);
            }
        }
        // Components that exceed the limits alone are cut.
        for (number, _) in too_large.iter().enumerate().filter(|(_, too_large)| **too_large) {
            if care == Care::OneAtATime && self.stages.contains(&Stage::Open) {
                break;
            }
            if self.stages[number] == Stage::Waiting && self.steps(number) {
                self.stages[number] = Stage::Open;
            }
        }
    }

    /// Makes moves of a component until the limits allow no further move; returns `true` if at least one move was made.
    /// Moves that complete an addition come before moves that begin an addition.
    fn steps(&mut self, component: usize) -> bool {
        let work = self.work;
        let mut any = false;
        loop {
            let mut progress = false;
            // Moves that complete an addition come first, because they free ports without beginning another addition.
            for begins in [false, true] {
                for removals in &work.components[component].moves {
                    let open = self.open(removals);
                    // A move that needs one more removal completes an addition.
                    if !open.is_empty() && (begins || open.len() < 2) && self.make(&open) {
                        progress = true;
                        if begins {
                            // After a move that begins an addition, moves that complete additions are tried again.
                            break;
                        }
                    }
                }
                if progress {
                    break;
                }
            }
            any |= progress;
            if !progress {
                return any;
            }
        }
    }

    /// Returns the removals of a move that are not made yet.
    fn open(&self, removals: &[u32]) -> Vec<u32> {
        removals.iter().copied().filter(|&change| !self.made[change as usize]).collect()
    }

    /// Makes removals together if the limits allow all of them at the same time; returns `true` if the removals were
    /// made.
    fn make(&mut self, removals: &[u32]) -> bool {
        // `missed_by` makes the removals on trial and restores the counters.
        if self.missed_by(removals) > 0 {
            return false;
        }
        self.take(removals);
        true
    }

    fn take(&mut self, removals: &[u32]) {
        for &change in removals {
            self.traffic.take(&self.work.changes[change as usize]);
            self.made[change as usize] = true;
        }
        self.batch.extend(removals);
    }

    /// Returns the number of circuits by which the limits would be violated if these removals were made together.
    fn missed_by(&mut self, removals: &[u32]) -> u32 {
        let changes = &self.work.changes;
        // Changes the counters of the pods and pairs and restores them, which is cheaper than a copy.
        let missed = removals.iter().map(|&change| self.traffic.take(&changes[change as usize])).sum();
        for &change in removals {
            self.traffic.give(&changes[change as usize]);
        }
        missed
    }

    /// Makes every addition whose ports are free.
    fn additions(&mut self) {
        let work = self.work;
        // All additions whose removals are made, in one pass: additions do not free ports.
        for (number, change) in (0u32..).zip(&work.changes) {
            let ready = !change.removal
                && !self.made[number as usize]
                && change.waits_for.iter().all(|&removal| self.made[removal as usize]);
            if ready {
                self.made[number as usize] = true;
                self.traffic.give(change);
                self.batch.push(number);
            }
        }
        for (stage, component) in self.stages.iter_mut().zip(&work.components) {
            let made = |list: &[u32]| list.iter().filter(|&&change| self.made[change as usize]).count();
            let removals = made(&component.removals);
            // A component is complete when all of its changes are made.
            *stage = if removals == component.removals.len()
                && made(&component.additions) == component.additions.len()
            {
                Stage::Done
            } else if removals > 0 {
                Stage::Open
            } else {
                Stage::Waiting
            };
        }
    }

    /// Makes the move with the smallest violation of the limits, from a component in progress if there is one.
    fn least_evil(&mut self) {
        let work = self.work;
        // Components in progress first, since their ends are dark already.
        let from = if self.stages.contains(&Stage::Open) { Stage::Open } else { Stage::Waiting };
        let mut best: Option<(u32, usize, Vec<u32>)> = None;
        for (number, component) in work.components.iter().enumerate() {
            if self.stages[number] != from {
                continue;
            }
            for removals in &component.moves {
                let open = self.open(removals);
                if open.is_empty() {
                    continue;
                }
                let missed = self.missed_by(&open);
                // The best move has the smallest violation, and the fewest removals among moves with equal violations.
                if best.as_ref().is_none_or(|(least, size, _)| (missed, open.len()) < (*least, *size)) {
                    best = Some((missed, open.len(), open));
                }
            }
        }
        if let Some((_, _, removals)) = best {
            self.take(&removals);
        }
    }
}
