//! Best times to change circuits, and the circuits to change to: the cheapest choice over all exchanges of a
//! micro-batch (docs/methods/moe.md, section 9).
//!
//! The state before an exchange is the candidate that is installed. A step costs the stall for a change, if there is
//! one, plus the exchange. Dynamic programming over candidates finds the cheapest path through all steps, once for each
//! candidate with which a micro-batch may begin and end. No schedule over these candidates is cheaper. Circuits are
//! never set before the demand for which they were chosen is known.

use super::policies::SwitchSchedule;
use super::stage::StageModel;
use crate::plan::LayerPhase;

/// Returns the cheapest schedule over all candidates; `None` without candidates.
pub fn optimum(stage: &StageModel) -> Option<SwitchSchedule> {
    let steps: Vec<(usize, LayerPhase)> = stage.steps().collect();
    let count = stage.candidates.len();
    // Stalls and times do not depend on the start of the cycle. Circuits that cannot be known yet cost infinity.
    let stall: Vec<f64> = steps
        .iter()
        .flat_map(|(layer, phase)| (0..count).map(move |to| (*layer, *phase, to)))
        .map(|(layer, phase, to)| {
            stage.window(phase, layer, to).map_or(f64::INFINITY, |window| stage.stall_ms(window))
        })
        .collect();
    let mut best: Option<(f64, Vec<usize>)> = None;
    // A micro-batch must end on the circuits with which it begins, because another micro-batch follows.
    for begin in 0..count {
        let mut cost = vec![f64::INFINITY; count];
        // Only the candidate of this round is installed at the beginning.
        cost[begin] = 0.0;
        let mut from: Vec<Vec<usize>> = Vec::with_capacity(steps.len());
        for (number, (layer, _)) in steps.iter().enumerate() {
            let cheapest = (0..count).min_by(|a, b| cost[*a].total_cmp(&cost[*b])).unwrap_or(0);
            let mut next = vec![f64::INFINITY; count];
            let mut origin = vec![0; count];
            for to in 0..count {
                // Stalls depend on the new circuits, not on the previous ones, so a change starts from the cheapest
                // state.
                let change = cost[cheapest] + stall[number * count + to];
                // Keeping the installed circuits wins ties.
                let (before, so_far) = if cost[to] <= change { (to, cost[to]) } else { (cheapest, change) };
                // The time of the exchange on a candidate does not depend on the previous circuits.
                next[to] = so_far + stage.exchange_ms(to, *layer);
                origin[to] = before;
            }
            cost = next;
            from.push(origin);
        }
        // A schedule is a cycle, so the path must end on the initial circuits.
        if best.as_ref().is_none_or(|(known, _)| cost[begin] < *known) && cost[begin].is_finite() {
            // Backtracks along the best predecessors.
            let mut way = vec![begin];
            for origin in from.iter().rev() {
                let at = way.last().copied().unwrap_or(begin);
                way.push(origin[at]);
            }
            // Reverses the path and drops the state before the first step.
            way.pop();
            way.reverse();
            best = Some((cost[begin], way));
        }
    }
    let (_, way) = best?;
    // Groups the steps by layer: four exchanges each.
    let mut used = vec![[0; 4]; stage.layers()];
    for ((layer, phase), candidate) in steps.iter().zip(way) {
        if let Some(at) = LayerPhase::EXCHANGES.iter().position(|known| known == phase) {
            used[*layer][at] = candidate;
        }
    }
    Some(SwitchSchedule { used, always: false, free: false })
}
