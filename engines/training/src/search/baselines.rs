//! The three allocations that depend only on the traffic matrix: proportional, square root, iterative halving
//! (docs/methods/training-search.md, section 6).

use crate::model::budget::Budget;
use crate::model::network::Network;

/// An allocation that follows from the traffic matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Baseline {
    /// Circuits in proportion to volume.
    Proportional,
    /// Circuits in proportion to the square root of volume.
    SquareRoot,
    /// One circuit at a time to the link with the most volume, whose volume is then halved.
    IterativeHalving,
}

impl Baseline {
    /// All baselines, in the order in which they are reported.
    pub const ALL: [Self; 3] = [Self::Proportional, Self::SquareRoot, Self::IterativeHalving];

    /// Name of the method that uses this allocation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proportional => "prop-alloc",
            Self::SquareRoot => "sqrt-alloc",
            Self::IterativeHalving => "iter-halve",
        }
    }

    /// Circuits per link; every pod needs ports for one circuit on each of its links.
    pub fn allocate(self, network: &Network) -> Vec<u32> {
        let weights = weights(network);
        match self {
            Self::Proportional => proportional(&network.budget, &weights),
            Self::SquareRoot => {
                let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
                proportional(&network.budget, &roots)
            }
            Self::IterativeHalving => halving(&network.budget, weights),
        }
    }
}

/// Traffic of every link: the larger of the two directions over the whole iteration, bytes.
pub fn weights(network: &Network) -> Vec<f64> {
    // The larger direction decides: a circuit carries both directions at the full rate (DELTA Eq. 6).
    let volume = |tasks: &Vec<u32>| tasks.iter().map(|task| network.volume[*task as usize]).sum::<f64>();
    network.carried.chunks(2).map(|pair| volume(&pair[0]).max(volume(&pair[1]))).collect()
}

fn proportional(budget: &Budget, weights: &[f64]) -> Vec<u32> {
    let mut x: Vec<u32> = weights
        .iter()
        .enumerate()
        .map(|(link, weight)| {
            // Rounding of shares: the pod with fewer ports per byte determines the share of a link.
            let share = budget
                .ends(link)
                .iter()
                .map(|end| {
                    let pod = end.pod as usize;
                    let wanted: f64 = budget
                        .links_at(pod)
                        .iter()
                        .map(|(l, cost)| f64::from(*cost) * weights[*l as usize])
                        .sum();
                    f64::from(budget.ports(pod).unwrap_or(0)) * weight / wanted.max(f64::MIN_POSITIVE)
                })
                .fold(f64::from(budget.limit(link)), f64::min);
            // A share that is an integer up to rounding counts as an integer.
            ((share + 1e-9).floor() as u32).max(1)
        })
        .collect();
    // Raising shares to one circuit can overfill a pod; then the link with the most circuits per byte loses circuits.
    for pod in 0..budget.pods() {
        while budget.free(&x)[pod] < 0 {
            let mut most: Option<usize> = None;
            for &(link, _) in budget.links_at(pod) {
                let link = link as usize;
                let share = |l: usize| f64::from(x[l]) / weights[l];
                if x[link] > 1 && most.is_none_or(|best| share(link) > share(best)) {
                    most = Some(link);
                }
            }
            match most {
                Some(link) => x[link] -= 1,
                None => break,
            }
        }
    }
    // Greedy completion: the next circuit goes to the link with the most bytes per circuit (ties: smallest id).
    let mut free = budget.free(&x);
    loop {
        let mut neediest: Option<usize> = None;
        for link in 0..x.len() {
            let need = |l: usize| weights[l] / f64::from(x[l]);
            let fits = x[link] < budget.limit(link) && weights[link] > 0.0 && budget.room(link, &free) >= 1;
            if fits && neediest.is_none_or(|best| need(link) > need(best)) {
                neediest = Some(link);
            }
        }
        let Some(link) = neediest else { return x };
        x[link] += 1;
        budget.take(link, 1, &mut free);
    }
}

fn halving(budget: &Budget, mut weights: Vec<f64>) -> Vec<u32> {
    // Every link gets one circuit first; each circuit halves the weight of its link.
    let mut x = vec![1; weights.len()];
    let mut free = budget.free(&x);
    for weight in &mut weights {
        *weight /= 2.0;
    }
    // Each round gives a circuit to the heaviest link that still fits (ties: smallest id); it ends when none fits.
    loop {
        let mut heaviest: Option<usize> = None;
        for link in 0..x.len() {
            let fits = x[link] < budget.limit(link) && weights[link] > 0.0 && budget.room(link, &free) >= 1;
            if fits && heaviest.is_none_or(|best| weights[link] > weights[best]) {
                heaviest = Some(link);
            }
        }
        let Some(link) = heaviest else { return x };
        x[link] += 1;
        weights[link] /= 2.0;
        budget.take(link, 1, &mut free);
    }
}

#[cfg(test)]
mod tests;
