//! Coordinate search around one circuit allocation: fill free ports, exchange single circuits, drop useless circuits
//! (docs/methods/training-search.md, section 6).

use crate::search::circuits::rank;
use crate::search::repair::PortLimits;

/// Evaluation of allocations by their makespan, seconds.
pub trait Worth {
    /// Evaluates an allocation, possibly from a cache. `None` means that the search must stop.
    fn makespan(&mut self, x: &[u32]) -> Option<f64>;
}

impl<F: FnMut(&[u32]) -> Option<f64>> Worth for F {
    fn makespan(&mut self, x: &[u32]) -> Option<f64> {
        self(x)
    }
}

/// Climbs from `x`, whose makespan is given, to a local optimum of (makespan, ports); returns the makespan of the
/// optimum.
///
/// Moves: fill all free ports at once; add a circuit to a link, remove one from another link at every pod that then has
/// too few ports, and fill free ports again; remove a circuit from a link.
pub fn polish(limits: PortLimits<'_>, x: &mut Vec<u32>, makespan: f64, worth: &mut impl Worth) -> f64 {
    let mut climb =
        Climb { limits, best: rank(makespan, limits.budget.total(x)), makespan, free: Vec::new() };
    // Hill climbing. Each accepted step lowers the rank, so the loop ends.
    loop {
        // More circuits rarely hurt, so free ports are tried first and all at once.
        let mut filled = x.clone();
        limits.fill(&mut filled, &mut climb.free);
        match climb.step(x, filled, worth) {
            None => return climb.makespan,
            Some(true) => continue,
            Some(false) => {}
        }
        match climb.exchange(x, worth) {
            Some(true) => {}
            Some(false) | None => return climb.makespan,
        }
    }
}

struct Climb<'a> {
    limits: PortLimits<'a>,
    best: (u64, u64),
    makespan: f64,
    free: Vec<i64>,
}

impl Climb<'_> {
    /// Moves to a candidate if it is better, and returns `true` in this case; `None` if the search must stop.
    fn step(&mut self, x: &mut Vec<u32>, candidate: Vec<u32>, worth: &mut impl Worth) -> Option<bool> {
        // An unchanged allocation needs no evaluation.
        if candidate == *x {
            return Some(false);
        }
        let makespan = worth.makespan(&candidate)?;
        let rank = rank(makespan, self.limits.budget.total(&candidate));
        // Strict descent in (makespan, ports), so that equal allocations never alternate.
        if rank >= self.best {
            return Some(false);
        }
        (self.best, self.makespan, *x) = (rank, makespan, candidate);
        Some(true)
    }

    /// Makes the first change that improves the allocation: removes a circuit from a link, or adds a circuit to a link
    /// and removes circuits of other links that then do not fit. Returns `true` if a change was made, and `None` if the
    /// search must stop.
    fn exchange(&mut self, x: &mut Vec<u32>, worth: &mut impl Worth) -> Option<bool> {
        let budget = self.limits.budget;
        // First improvement in the order of the links.
        for link in 0..x.len() {
            if x[link] > 1 {
                // Removing a circuit can only save its ports or, at fair rates, reduce competition.
                let mut fewer = x.clone();
                fewer[link] -= 1;
                if self.step(x, fewer, worth)? {
                    return Some(true);
                }
            }
            if x[link] >= self.limits.caps[link] {
                // Circuits above the cap are useless (DELTA Alg. 2).
                continue;
            }
            let mut more = x.clone();
            more[link] += 1;
            let free = budget.free(&more);
            // One circuit more overflows at most the two pods at its ends: each of these pods takes a circuit from
            // another link.
            let over: Vec<usize> = (0..free.len()).filter(|pod| free[*pod] < 0).collect();
            let givers = |pod: usize, taken: &[u32]| -> Vec<usize> {
                let links = budget.links_at(pod).iter().map(|(l, _)| *l as usize);
                links.filter(|&l| l != link && taken[l] > 1).collect()
            };
            let mut candidates = Vec::new();
            match over[..] {
                [] => candidates.push(more),
                [pod] => {
                    for giver in givers(pod, &more) {
                        let mut candidate = more.clone();
                        candidate[giver] -= 1;
                        candidates.push(candidate);
                    }
                }
                [first, second, ..] => {
                    // All pairs of donors of both pods; a link that joins both pods donates once.
                    for one in givers(first, &more) {
                        for other in givers(second, &more) {
                            let mut candidate = more.clone();
                            candidate[one] -= 1;
                            if one != other {
                                candidate[other] -= 1;
                            }
                            candidates.push(candidate);
                        }
                    }
                }
            }
            for candidate in candidates {
                // A circuit may need several ports at one end; then one circuit fewer is not enough.
                if !budget.fits(&candidate) {
                    continue;
                }
                let mut filled = candidate.clone();
                self.limits.fill(&mut filled, &mut self.free);
                if self.step(x, filled, worth)? || self.step(x, candidate, worth)? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }
}
