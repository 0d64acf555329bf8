//! Lower bound on the ports for any number of reconfigurations and any dark time.
//!
//! If every decided link has its peak number of circuits all the time, every start and end is at least as early. Then
//! the ports of a pod are at least the largest of three numbers: the ports of one decided link at its peak, for any
//! such link; the ports with which the last transfers of the pod alone end in time; and, for any moment, the ports that
//! are needed to carry all transfers that start at or after this moment between this moment and the end. The sum over
//! the pods is a bound for these peaks, and its minimum over all peaks with which the iteration ends in time is a bound
//! for all plans.

use super::{Movable, MoveTask};
use crate::simulate::evaluate::{Lit, Scratch};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Maximum number of peak allocations; above it the bound is given up.
const MOST_PEAKS: usize = 20_000;
/// Relative margin for rounding in sums of work; ports are integers, so even a much larger margin would not matter.
const ROUNDING: f64 = 1e-9;

/// Lower bound on the ports of plans that end by `limit_s`, for any number of reconfigurations; `None` if there are too
/// many peaks to try, or if no peaks let the iteration end by `limit_s`.
///
/// # Errors
/// The reason to stop.
pub fn least_ports<S, W: Watch<S>>(
    task: MoveTask<'_>,
    limit_s: f64,
    watch: &mut W,
) -> Result<Option<u64>, MethodError> {
    let movable = Movable::new(task);
    let Some(vectors) = movable.vectors(MOST_PEAKS).filter(|_| !movable.decided.is_empty()) else {
        return Ok(None);
    };
    let mut scratch = Scratch::default();
    let mut best: Option<u64> = None;
    for peaks in vectors {
        watch.checkpoint()?;
        watch.count(1);
        if let Some(ports) = ports_with(task, &movable, &peaks, limit_s, &mut scratch) {
            best = Some(best.map_or(ports, |best| best.min(ports)));
        }
    }
    Ok(best)
}

/// Computes the bound for given peaks; `None` if an iteration with these peaks ends too late.
pub(super) fn ports_with(
    task: MoveTask<'_>,
    movable: &Movable,
    peaks: &[u32],
    limit_s: f64,
    scratch: &mut Scratch,
) -> Option<u64> {
    let (network, model) = (&task.evaluator.network, &task.evaluator.model);
    let mut state = task.caps.to_vec();
    for (link, peak) in movable.decided.iter().zip(peaks) {
        state[*link] = *peak;
    }
    let mut lit = Lit { times: vec![0.0], circuits: state };
    if model.makespan_over(&lit, &mut scratch.model) > limit_s {
        return None;
    }
    // Earliest start of each transfer: after its release and its predecessors. Other transfers on its link do not delay
    // a last transfer here.
    let finish_s = model.trace_over(network, &lit, &mut scratch.model).finish;
    let ready = |task: u32| {
        let preds = network.preds.of(task).iter().map(|arc| finish_s[arc.task as usize] + arc.delay);
        preds.fold(network.release[task as usize], f64::max)
    };
    let start_s: Vec<f64> = (0..network.tasks() as u32).map(ready).collect();
    let mut total = 0;
    for pod in 0..network.budget.pods() {
        let Some(ports) = movable.ports(pod) else { continue };
        let mut least = 0.0_f64;
        // Links of the pod, with the ports that one circuit needs there.
        let mut here: Vec<(usize, u32)> = Vec::new();
        for (link, peak) in movable.decided.iter().zip(peaks) {
            for end in network.budget.ends(*link).iter().filter(|end| end.pod as usize == pod) {
                least = least.max(f64::from(end.cost * peak));
                here.push((*link, end.cost));
            }
        }
        if let Some(rest) = movable.rest_at(pod) {
            here.push(rest);
            let whole = lit.circuits[rest.0];
            model.start_over(&lit, &mut scratch.model);
            let mut ends_with = |ports: u32| {
                lit.circuits[rest.0] = movable.rest_circuits(rest, ports);
                model.link_end_over(rest.0, &lit, &mut scratch.model) <= limit_s
            };
            let (mut fails, mut serves) = (0, ports);
            if !ends_with(ports) {
                return None;
            }
            while serves > fails + 1 {
                let middle = u32::midpoint(fails, serves);
                if ends_with(middle) { serves = middle } else { fails = middle }
            }
            lit.circuits[rest.0] = whole;
            least = least.max(f64::from(serves));
        }
        least = least.max(work_after(task, &here, &start_s, limit_s));
        total += (least * (1.0 - ROUNDING)).ceil() as u64;
    }
    Some(total)
}

/// Maximum, over all moments, of the number of ports that are needed to carry, between the moment and `limit_s`, all
/// transfers that start at or after the moment.
fn work_after(task: MoveTask<'_>, here: &[(usize, u32)], start_s: &[f64], limit_s: f64) -> f64 {
    let network = &task.evaluator.network;
    // Transfers of the pod, latest first: start, link with its direction, circuits times seconds.
    let mut transfers: Vec<(f64, usize, usize, f64)> = Vec::new();
    for (index, &(link, _)) in here.iter().enumerate() {
        for side in 0..2 {
            let tasks = network.carried[2 * link + side].iter().map(|task| *task as usize);
            transfers.extend(
                tasks.map(|task| (start_s[task], index, side, network.tau[task] * network.flows[task])),
            );
        }
    }
    transfers.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut work = vec![[0.0_f64; 2]; here.len()];
    let mut least = 0.0_f64;
    for (at, &(start_s, link, side, seconds)) in transfers.iter().enumerate() {
        work[link][side] += seconds;
        // Transfers that start at the same moment are added up.
        if transfers.get(at + 1).is_some_and(|next| next.0 == start_s) || start_s >= limit_s {
            continue;
        }
        let sum: f64 =
            work.iter().zip(here).map(|(sides, (_, cost))| f64::from(*cost) * sides[0].max(sides[1])).sum();
        least = least.max(sum / (limit_s - start_s));
    }
    least
}
