//! What a claimed bound is worth: recomputed by trying every circuit vector that could be best.
//!
//! For given circuits a transfer takes at least `V / (min(F, x) B)`. Where transfers contend for a link and nothing
//! follows them, their common end has a closed form (below), so that the value for the vector is exact; elsewhere
//! it is a lower bound. More circuits never hurt, so only vectors to which no circuit can be added matter.

use super::case::Case;
use super::nics::NicGroup;
use super::replay::replay;
use super::walk::walk;
use super::{CHECK_RELATIVE, CHECK_S, Claims, Findings, code};
use crate::plan::RateControl;
use lightbay_core::checked::BoundTrust;
use lightbay_core::kind::Depth;
use lightbay_core::problem::counted;

mod contention;
mod vectors;

use contention::Contention;
use vectors::Space;

/// Circuit vectors that a thorough check tries.
const MOST_VECTORS: usize = 20_000;
/// Graph nodes that a quick check visits for all vectors together.
const QUICK_VISITS: usize = 300_000;
/// Graph nodes that a thorough check visits for all vectors together.
const MOST_VISITS: usize = 2_000_000_000;
/// Contending transfers of one link whose subsets are all looked at.
const MOST_TOGETHER: usize = 14;

/// The best value over all circuit vectors.
struct Best {
    value_s: f64,
    circuits: Vec<u32>,
    /// Whether a plan reaches it.
    reached: bool,
    tried: usize,
}

/// Judges the claimed bound.
#[expect(clippy::too_many_arguments, reason = "the parts of one check, each used once")]
pub(super) fn bound(
    case: &Case<'_>,
    nics: &[NicGroup],
    rate_control: RateControl,
    claims: &Claims<'_>,
    end_s: Option<f64>,
    depth: Depth,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) -> BoundTrust {
    if let (Some(bound_s), Some(end_s)) = (claims.bound_s, end_s)
        && exceeds(bound_s, end_s)
    {
        found
            .add(code::BOUND, format!("bound {bound_s:.9} s is above the end of the schedule, {end_s:.9} s"));
    }
    if !found.is_empty() || (claims.bound_s.is_none() && depth == Depth::Usual) {
        return BoundTrust::None;
    }
    let best = best(case, nics, depth);
    if depth.is_exact() {
        remarks.push(search_remark(best.as_ref(), end_s));
    }
    let Some(bound_s) = claims.bound_s else { return BoundTrust::None };
    let floor_s = best.as_ref().map_or_else(|| full_speed_s(case), |best| best.value_s);
    if !exceeds(bound_s, floor_s) {
        return BoundTrust::Verified;
    }
    if let Some(best) = best.filter(|best| best.reached && rate_control == RateControl::Joint) {
        found.add(
            code::BOUND,
            format!(
                "bound {bound_s:.9} s is wrong: circuits {:?} allow {:.9} s",
                best.circuits, best.value_s
            ),
        );
        return BoundTrust::None;
    }
    if rate_control == RateControl::Fair
        && depth.is_exact()
        && let Some((fair_s, circuits)) = best_fair(case, nics)
    {
        if exceeds(bound_s, fair_s) {
            found.add(
                code::BOUND,
                format!(
                    "bound {bound_s:.9} s is wrong: circuits {circuits:?} give {fair_s:.9} s at fair rates"
                ),
            );
            return BoundTrust::None;
        }
        return BoundTrust::Verified;
    }
    remarks.push(format!(
        "bound {bound_s:.9} s is claimed by '{}'; the checker itself proves {floor_s:.9} s",
        claims.method
    ));
    BoundTrust::Claimed
}

/// What no plan of a scenario can beat, as far as a check of this depth can tell.
pub(super) fn floor_s(case: &Case<'_>, nics: &[NicGroup], rate_control: RateControl, depth: Depth) -> f64 {
    if rate_control == RateControl::Fair
        && depth.is_exact()
        && let Some((fair_s, _)) = best_fair(case, nics)
    {
        return fair_s;
    }
    best(case, nics, depth).map_or_else(|| full_speed_s(case), |best| best.value_s)
}

pub(super) fn exceeds(bound_s: f64, value_s: f64) -> bool {
    bound_s > value_s + CHECK_S.min(CHECK_RELATIVE * value_s.abs())
}

fn search_remark(best: Option<&Best>, end_s: Option<f64>) -> String {
    match best {
        None => format!("optimality was not examined: more than {MOST_VECTORS} circuit vectors"),
        Some(best) if best.reached => {
            let above = end_s.map_or(0.0, |end_s| (end_s - best.value_s).max(0.0));
            format!(
                "{} tried: {:.9} s is the least possible, this plan takes {above:.9} s more",
                tried(best),
                best.value_s
            )
        }
        Some(best) => format!(
            "{} tried: no plan takes less than {:.9} s; contention inside the graph keeps this from being exact",
            tried(best),
            best.value_s
        ),
    }
}

fn tried(best: &Best) -> String {
    counted(best.tried as u64, "circuit vector", "circuit vectors")
}

/// The end of the iteration if every transfer ran at full NIC rate.
fn full_speed_s(case: &Case<'_>) -> f64 {
    walk(&case.dag, |task, earliest| earliest.at_s + case.net.tasks[task].volume_bytes / case.full_rate(task))
}

/// Tries all circuit vectors worth trying; `None` if they are too many.
fn best(case: &Case<'_>, nics: &[NicGroup], depth: Depth) -> Option<Best> {
    let visits = if depth.is_exact() { MOST_VISITS } else { QUICK_VISITS };
    let most = (visits / case.dag.nodes().len().max(1)).min(MOST_VECTORS);
    let contention = Contention::of(case, nics, visits)?;
    let vectors = Space::of(case, &contention.useful).maximal(most)?;
    let mut best: Option<Best> = None;
    let tried = vectors.len();
    for circuits in vectors {
        let value_s = with_circuits_s(case, &contention, &circuits);
        if best.as_ref().is_none_or(|best| value_s < best.value_s) {
            best = Some(Best { value_s, circuits, reached: contention.exact, tried });
        }
    }
    best
}

/// The least makespan with given circuits, and whether a plan reaches it; `None` if the graph is too large to tell.
pub(super) fn least_s(case: &Case<'_>, nics: &[NicGroup], circuits: &[u32]) -> Option<(f64, bool)> {
    let contention = Contention::of(case, nics, MOST_VISITS)?;
    Some((with_circuits_s(case, &contention, circuits), contention.exact))
}

/// The least makespan with given circuits; exact if the contention is.
fn with_circuits_s(case: &Case<'_>, contention: &Contention, circuits: &[u32]) -> f64 {
    let nic_rate = case.nic_rate();
    let mut release_s = vec![0.0; case.net.tasks.len()];
    let mut end_s = walk(&case.dag, |task, earliest| {
        release_s[task] = earliest.at_s;
        let flows = case.net.tasks[task].flows.min(circuits[contention.directed[task] / 2]);
        earliest.at_s + case.net.tasks[task].volume_bytes / (f64::from(flows) * nic_rate)
    });
    for (directed, sinks) in contention.sinks.iter().enumerate().filter(|(_, sinks)| sinks.len() > 1) {
        let mut sinks: Vec<Sink> = sinks
            .iter()
            .map(|task| Sink {
                release_s: release_s[*task],
                volume: case.net.tasks[*task].volume_bytes,
                rate: case.full_rate(*task),
            })
            .collect();
        sinks.sort_by(|a, b| a.release_s.total_cmp(&b.release_s));
        end_s = end_s.max(common_end_s(&sinks, f64::from(circuits[directed / 2]) * nic_rate));
    }
    end_s
}

/// A transfer that nothing follows.
struct Sink {
    release_s: f64,
    volume: f64,
    rate: f64,
}

/// The least time by which all sinks (sorted by release) can be done on a link of capacity `capacity`.
///
/// What a piece of time can carry of any subset S is `min(sum of rates in S, capacity)` times its length: the rank
/// of a polymatroid. Polymatroids add up, so all volumes fit if and only if those of every subset fit.
fn common_end_s(sinks: &[Sink], capacity: f64) -> f64 {
    let Some(last) = sinks.last() else { return 0.0 };
    let subset_end_s = |within: &dyn Fn(usize) -> bool| {
        let (mut rate, mut volume) = (0.0, 0.0);
        for (index, sink) in sinks.iter().enumerate() {
            if within(index) {
                rate += sink.rate;
                volume += sink.volume;
            }
            if let Some(next) = sinks.get(index + 1) {
                volume -= f64::min(rate, capacity) * (next.release_s - sink.release_s);
            }
        }
        last.release_s + volume / f64::min(rate, capacity)
    };
    if sinks.len() <= MOST_TOGETHER {
        (1_usize..1 << sinks.len())
            .map(|set| subset_end_s(&|index| set >> index & 1 == 1))
            .fold(0.0, f64::max)
    } else {
        (0..sinks.len()).map(|first| subset_end_s(&|index| index >= first)).fold(0.0, f64::max)
    }
}

/// The best fair plan of all circuit vectors; `None` if they are too many.
fn best_fair(case: &Case<'_>, nics: &[NicGroup]) -> Option<(f64, Vec<u32>)> {
    let contention = Contention::of(case, nics, MOST_VISITS)?;
    // Beyond the useful number circuits change nothing only where contention is fully understood.
    let space = if contention.exact {
        Space::of(case, &contention.useful)
    } else {
        Space::of(case, &vec![u32::MAX; case.net.links.len()])
    };
    let most = (MOST_VISITS / 10 / case.dag.nodes().len().max(1)).min(MOST_VECTORS);
    let runs = space.all(most)?.into_iter().filter_map(|circuits| {
        let run = replay(case, nics, Some(&circuits))?;
        Some((run.makespan_s, circuits))
    });
    runs.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// The best value over all circuit vectors and whether a plan reaches it.
#[cfg(test)]
pub(super) fn optimum(case: &Case<'_>) -> Option<(f64, bool)> {
    let nics = super::nics::nic_groups(case);
    best(case, &nics, Depth::EXACT).map(|best| (best.value_s, best.reached))
}
