//! The best circuits for given ports, starting from a known plan.

use super::circuits::{Circuits, Proposal};
use crate::programs::circuit_bounds::circuit_bounds;
use crate::search::allocations;
use crate::search::polish::polish;
use crate::search::repair::PortLimits;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::windows::Windows;
use lightbay_core::method::MethodError;
use lightbay_core::watch::{StopOnly, Watch};

/// Maximum number of circuit allocations that a search may list. This is a fifth of the default, because the prices of
/// ports and links need one search for every port or link.
const LISTED: u64 = 20_000;

/// Maximum number of boxes of allocations that a search may evaluate; small for the same reason.
const BOXES: u64 = 5_000;

/// The maximum useful circuits of each link are computed for the best known makespan plus this relative margin. As in
/// `circuit_bounds`, the margin ensures that rounding does not exclude the circuits of the known plan.
const ROOM: f64 = 1e-4;

/// Relative difference that counts as zero: some thousand roundings of a double.
const NONE: f64 = 1e-12;

/// The best plan found.
#[derive(Clone, Debug)]
pub(crate) struct BestKnown {
    pub found: Circuits,
    /// `true` if this plan is proven optimal.
    pub proven: bool,
}

/// Searches for the best circuits; `most` can limit the circuits of one link. `known` must satisfy this limit.
pub(crate) fn best<W: Watch<Proposal>>(
    evaluator: &Evaluator,
    rates: Rates,
    most: Option<(usize, u32)>,
    known: Circuits,
    watch: &mut StopOnly<'_, W>,
) -> Result<BestKnown, MethodError> {
    let network = &evaluator.network;
    // A plan that meets the ideal makespan needs no search, unless transfers that share NICs may end even earlier.
    let enough = |known: &Circuits, bound: f64| known.makespan <= bound * (1.0 + NONE);
    if network.nic_groups.is_empty() && enough(&known, evaluator.ideal.makespan()) {
        return Ok(BestKnown { found: known, proven: true });
    }
    // DELTA Alg. 2 at the known makespan: no plan that ends as early needs more circuits than these bounds.
    let mut caps = circuit_bounds(network, &Windows::new(network, known.makespan * (1.0 + ROOM)));
    if let Some((link, circuits)) = most {
        caps[link] = caps[link].min(circuits);
    }
    // Every link with the maximum that its pods allow if all other links have one circuit.
    let ones = vec![1; caps.len()];
    let free = network.budget.free(&ones);
    let widest: Vec<u32> = caps
        .iter()
        .enumerate()
        .map(|(link, &cap)| {
            let room = network.budget.room(link, &free).max(0);
            cap.min(1_u32.saturating_add(u32::try_from(room).unwrap_or(u32::MAX - 1)))
        })
        .collect();
    // If even these (infeasible) counts end no earlier, the known plan is optimal by monotonicity.
    let mut scratch = Scratch::default();
    if enough(&known, evaluator.bound(&widest, &mut scratch)) {
        return Ok(BestKnown { found: known, proven: true });
    }
    let mut best = known;
    let mut task = allocations::VectorTask::new(evaluator, rates, &caps);
    // Small limits, because every price of a port or link needs such a search.
    (task.listed, task.boxes) = (LISTED, BOXES);
    // If the path model is not exact for the rates, only local search remains, and its plan is proven optimal only if
    // it meets the bound.
    if !evaluator.exact(rates) {
        exchange(evaluator, rates, &caps, &mut best, &mut scratch, watch)?;
        return Ok(BestKnown { proven: enough(&best, evaluator.bound(&widest, &mut scratch)), found: best });
    }
    // Boxes are slow to find a good plan, so local search comes first if allocations cannot be listed.
    let few = allocations::can_list(task, watch)?;
    if !few {
        exchange(evaluator, rates, &caps, &mut best, &mut scratch, watch)?;
    }
    let proof = allocations::search(task, Some(&best), watch)?;
    Ok(BestKnown { found: proof.best.unwrap_or(best), proven: !proof.cut_short })
}

/// Searches for the best circuits; also returns `true` if they are proven optimal.
pub(crate) fn best_known<W: Watch<Proposal>>(
    evaluator: &Evaluator,
    rates: Rates,
    known: Circuits,
    watch: &mut StopOnly<'_, W>,
) -> Result<(Circuits, bool), MethodError> {
    let best = best(evaluator, rates, None, known, watch)?;
    Ok((best.found, best.proven))
}

/// Exchanges single circuits as long as this improves the best plan.
fn exchange<W: Watch<Proposal>>(
    evaluator: &Evaluator,
    rates: Rates,
    caps: &[u32],
    best: &mut Circuits,
    scratch: &mut Scratch,
    watch: &mut StopOnly<'_, W>,
) -> Result<(), MethodError> {
    // `None` stops the search; the reason is stored and returned afterwards.
    let budget = &evaluator.network.budget;
    let mut x = best.x.clone();
    let mut stopped = Ok(());
    let makespan = polish(PortLimits { budget, caps }, &mut x, best.makespan, &mut |x: &[u32]| {
        stopped = watch.checkpoint();
        watch.count(1);
        stopped.is_ok().then(|| evaluator.makespan(x, rates, scratch))
    });
    stopped?;
    // `polish` rounds makespans, so it may have preferred fewer ports to a slightly shorter iteration.
    if makespan < best.makespan {
        *best = Circuits { ports: budget.total(&x), makespan, x };
    }
    Ok(())
}
