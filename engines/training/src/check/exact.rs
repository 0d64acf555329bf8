//! Verification of a claimed bound: it is recomputed by trying every circuit allocation that could be best, or, if these
//! are too many, by branch and bound over boxes of allocations.
//!
//! For given circuits a transfer takes at least `V / (min(F, x) B)`. Where transfers contend for a link and nothing
//! follows them, their common end has a closed form (below), so the value of the allocation is exact; elsewhere the
//! value is a lower bound. More circuits never lengthen an iteration, so only allocations to which no circuit can be
//! added matter.

use super::case::Case;
use super::nics::NicGroup;
use super::replay::replay;
use super::sanity::port_use;
use super::walk::walk;
use super::{CHECK_RELATIVE, Claims, Findings, code};
use crate::plan::RateControl;
use lightbay_core::checked::{BoundTrust, VerifiedBound};
use lightbay_core::kind::Depth;
use lightbay_core::plan::gap;
use lightbay_core::problem::{counted, printable};

mod boxes;
mod contention;
mod moving;
mod vectors;

use contention::Contention;
use vectors::Space;

/// Maximum number of circuit allocations that a thorough check tries.
const MOST_VECTORS: usize = 20_000;
/// Maximum number of graph nodes that a quick check visits for all allocations together.
const QUICK_VISITS: usize = 300_000;
/// Maximum number of graph nodes that a quick check visits in a search over boxes. This takes some tenths of a second.
const QUICK_BOX_VISITS: usize = 20_000_000;
/// Maximum number of operations on words with which a quick check finds the transfers that can overlap.
const QUICK_WORDS: usize = 4_000_000;
/// Maximum number of graph nodes that a thorough check visits for all allocations together.
const MOST_VISITS: usize = 2_000_000_000;
/// Maximum number of contending transfers of a link for which all subsets are enumerated.
const MOST_TOGETHER: usize = 14;

/// Circuit allocation with the best value.
struct Best {
    /// No allocation has a lower value, seconds.
    value_s: f64,
    circuits: Vec<u32>,
    /// `true` if a plan with `circuits` reaches the value.
    reached: bool,
    /// What was tried, in words.
    tried: String,
}

/// Input of a search over circuit allocations.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub case: &'a Case<'a>,
    pub nics: &'a [NicGroup],
    pub rates: RateControl,
    pub depth: Depth,
}

/// Lower bound on the makespan, with the plans for which the bound holds (`None`: all plans).
pub(super) struct Floor {
    pub value_s: f64,
    pub covers: Option<&'static str>,
}

/// Judges the claimed bound. Returns whether the bound is confirmed, and the bound that the checker itself proves.
pub(super) fn bound(
    ask: &Ask<'_>,
    claims: &Claims<'_>,
    end_s: Option<f64>,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) -> (BoundTrust, Option<VerifiedBound>) {
    const NONE: (BoundTrust, Option<VerifiedBound>) = (BoundTrust::None, None);
    if let (Some(bound_s), Some(end_s)) = (claims.bound_s, end_s)
        && exceeds(bound_s, end_s)
    {
        found
            .add(code::BOUND, format!("bound {bound_s:.9} s is above the end of the schedule, {end_s:.9} s"));
    }
    covers(ask.rates, claims, found);
    if !found.is_empty() || (claims.bound_s.is_none() && !ask.depth.is_exact()) {
        return NONE;
    }
    let best = best(ask, claims.makespan_s);
    if ask.case.net.reconfiguration.is_some() {
        return moving(ask, best.ok().filter(|best| best.reached), claims, found, remarks);
    }
    if ask.depth.is_exact() {
        remarks.push(search_remark(&best, ask.depth, end_s));
    }
    let best = best.ok();
    let mut floor = Floor {
        value_s: best.as_ref().map_or_else(|| full_speed_s(ask.case), |best| best.value_s),
        covers: None,
    };
    if let Some(bound_s) = claims.bound_s.filter(|bound_s| exceeds(*bound_s, floor.value_s))
        && let Some(best) = best.filter(|best| best.reached && claims.bound_covers.is_none())
    {
        found.add(
            code::BOUND,
            format!(
                "bound {bound_s:.9} s is wrong: circuits {:?} allow an iteration of {:.9} s",
                best.circuits, best.value_s
            ),
        );
        return NONE;
    }
    // Plans at max-min fair rates are never faster than plans at scheduled rates, so a bound on plans at fair rates can
    // be higher.
    let open =
        claims.bound_s.is_none_or(|bound_s| claims.bound_covers.is_some() && exceeds(bound_s, floor.value_s));
    if open && ask.rates == RateControl::Fair && ask.depth.is_exact() {
        match best_fair(ask) {
            Ok((fair_s, circuits)) => {
                if let Some(bound_s) = claims.bound_s.filter(|bound_s| exceeds(*bound_s, fair_s)) {
                    found.add(
                        code::BOUND,
                        format!(
                            "bound {bound_s:.9} s is wrong: circuits {circuits:?} allow an iteration of {fair_s:.9} s at max-min fair rates"
                        ),
                    );
                    return NONE;
                }
                floor = Floor { value_s: fair_s, covers: ask.rates.bound_covers() };
            }
            Err(why) => remarks.extend(why.remark("the best plan at max-min fair rates", ask.depth)),
        }
    }
    judge(&floor, claims, remarks)
}

/// Judges a bound on plans whose circuits may change. `best` is the best plan with static circuits: this plan refutes
/// every larger bound, but proves no bound.
fn moving(
    ask: &Ask<'_>,
    best: Option<Best>,
    claims: &Claims<'_>,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) -> (BoundTrust, Option<VerifiedBound>) {
    let stay = best.as_ref().map(|best| best.value_s);
    if let (Some(bound_s), Some(stay_s)) = (claims.bound_s, stay)
        && exceeds(bound_s, stay_s)
    {
        let text =
            format!("bound {bound_s:.9} s is wrong: static circuits allow an iteration of {stay_s:.9} s");
        found.add(code::BOUND, text);
        return (BoundTrust::None, None);
    }
    let delay_s = ask.case.net.reconfiguration.map_or(0.0, |group| group.delay_s);
    let most = ask.case.net.reconfiguration.map_or(0, |group| group.most_switchings);
    // A circuit that changes within an iteration shorter than its dark time never carries traffic.
    let stays = most == 0 || stay.is_some_and(|stay_s| delay_s >= stay_s);
    let mut value_s = stay.filter(|_| stays).unwrap_or_else(|| full_speed_s(ask.case));
    if ask.depth.is_exact() {
        if let Some(stay_s) = stay {
            remarks.push(format!("with static circuits, an iteration takes at least {stay_s:.9} s"));
        }
        if let Some(bound_s) = claims.bound_s.filter(|bound_s| most == 1 && exceeds(*bound_s, value_s)) {
            value_s = one_switching(ask, delay_s, bound_s, value_s, remarks);
        }
        if let Some(bound_s) = claims.bound_s.filter(|bound_s| most > 1 && exceeds(*bound_s, value_s)) {
            value_s = any_switchings(ask, delay_s, bound_s, value_s, remarks);
        }
        remarks.push(format!("no plan takes less than {value_s:.9} s"));
    }
    judge(&Floor { value_s, covers: None }, claims, remarks)
}

/// Fraction of the difference between bound and ideal makespan by which a second attempt lowers the bound, because a
/// proof of the full bound may need too many boxes.
const NEARLY: f64 = 1e-3;
/// Number of boxes after which the checker tries to prove a slightly lower bound instead.
const FIRST_BOXES: usize = 40_000;

/// Returns `bound_s`, or a slightly lower bound, if this function can prove that bound on plans with one
/// reconfiguration, otherwise `ideal_s`; adds remarks on what was tried.
fn one_switching(ask: &Ask<'_>, delay_s: f64, bound_s: f64, ideal_s: f64, remarks: &mut Vec<String>) -> f64 {
    const WHAT: &str = "the bound on plans with one reconfiguration";
    let Some(contention) = Contention::of(ask.case, ask.nics, MOST_VISITS) else {
        remarks.push(format!("{WHAT} is not verified, because the scenario has too many transfers"));
        return ideal_s;
    };
    let nearly_s = bound_s - NEARLY * (bound_s - ideal_s);
    for (value_s, most_boxes) in [(bound_s, FIRST_BOXES), (nearly_s, moving::MOST_BOXES)] {
        // Rounding of sums of times must not decide the result.
        let period_s = value_s * (1.0 - CHECK_RELATIVE);
        match moving::none_within(ask, &contention, delay_s, period_s, most_boxes) {
            moving::Outcome::Proven { boxes } => {
                let boxes = counted(boxes as u64, "box", "boxes");
                remarks.push(format!(
                    "no plan with one reconfiguration takes less than {value_s:.9} s (proved with {boxes} of states and instants)"
                ));
                return value_s;
            }
            moving::Outcome::Open => {}
            moving::Outcome::OutOfTime => {
                remarks.extend(ask.depth.not_within(WHAT));
                return ideal_s;
            }
        }
    }
    remarks.push(format!(
        "{WHAT} is not verified, because its proof needs more boxes of states and instants than the checker tries"
    ));
    ideal_s
}

/// Returns `bound_s` if this function can prove that bound on plans with any number of reconfigurations, otherwise
/// `ideal_s`; adds remarks on what was tried.
fn any_switchings(ask: &Ask<'_>, delay_s: f64, bound_s: f64, ideal_s: f64, remarks: &mut Vec<String>) -> f64 {
    const WHAT: &str = "the bound on plans with any number of reconfigurations";
    let Some(contention) = Contention::of(ask.case, ask.nics, MOST_VISITS) else {
        remarks.push(format!("{WHAT} is not verified, because the scenario has too many transfers"));
        return ideal_s;
    };
    // Rounding of sums of times must not decide the result.
    match moving::none_at_all_within(ask, &contention, delay_s, bound_s * (1.0 - CHECK_RELATIVE)) {
        moving::Outcome::Proven { boxes } => {
            let boxes = counted(boxes as u64, "box", "boxes");
            remarks.push(format!(
                "no plan with any number of reconfigurations takes less than {bound_s:.9} s (proved with {boxes} of circuits)"
            ));
            bound_s
        }
        moving::Outcome::Open => {
            remarks.push(format!(
                "{WHAT} is not verified: the checker finds no proof that every plan takes at least {bound_s:.9} s"
            ));
            ideal_s
        }
        moving::Outcome::OutOfTime => {
            remarks.extend(ask.depth.not_within(WHAT));
            ideal_s
        }
    }
}

/// Compares the claimed bound with what the checker proves.
pub(super) fn judge(
    floor: &Floor,
    claims: &Claims<'_>,
    remarks: &mut Vec<String>,
) -> (BoundTrust, Option<VerifiedBound>) {
    let floor_s = floor.value_s;
    // A bound that differs from the plan only by rounding counts as reached.
    let met = (floor_s - claims.makespan_s).abs() <= CHECK_RELATIVE * claims.makespan_s.abs();
    let value = if met { claims.makespan_s } else { floor_s };
    let covers = floor.covers.map(str::to_owned);
    let verified = Some(VerifiedBound { value, covers, gap: gap(claims.makespan_s, value) });
    match claims.bound_s {
        None => (BoundTrust::None, verified),
        Some(bound_s) if !exceeds(bound_s, floor_s) => (BoundTrust::Verified, verified),
        Some(bound_s) => {
            remarks.push(format!(
                "bound {bound_s:.9} s is claimed by '{}'; the checker itself proves a bound of {floor_s:.9} s",
                claims.method
            ));
            (BoundTrust::Claimed, verified)
        }
    }
}

/// Checks which plans the bound covers: all plans or, for a plan at max-min fair rates, only plans at max-min fair
/// rates.
pub(super) fn covers(rates: RateControl, claims: &Claims<'_>, found: &mut Findings) {
    let Some(given) = claims.bound_covers else { return };
    let valid = match rates.bound_covers() {
        Some(text) if text == given => return,
        Some(text) => format!("set it to '{text}', or omit it if the bound covers all plans"),
        None => "a plan with scheduled rates needs a bound on all plans".to_owned(),
    };
    found.add(code::BOUND, format!("'provenance.bound_covers' is '{}'; {valid}", printable(given)));
}

/// Returns the best lower bound on the makespan that a check of this depth can prove. For a plan at max-min fair rates,
/// a thorough check proves the bound for plans at these rates only.
pub(super) fn floor(ask: &Ask<'_>, remarks: &mut Vec<String>) -> Floor {
    if ask.rates == RateControl::Fair && ask.depth.is_exact() {
        match best_fair(ask) {
            Ok((value_s, _)) => return Floor { value_s, covers: ask.rates.bound_covers() },
            Err(why) => remarks.extend(why.remark("the best plan at max-min fair rates", ask.depth)),
        }
    }
    match best(ask, f64::INFINITY) {
        Ok(best) => Floor { value_s: best.value_s, covers: None },
        Err(why) => {
            remarks.extend(why.remark("the least possible makespan", ask.depth));
            Floor { value_s: full_speed_s(ask.case), covers: None }
        }
    }
}

pub(super) fn exceeds(bound_s: f64, value_s: f64) -> bool {
    bound_s > value_s + CHECK_RELATIVE * value_s.abs()
}

/// Reason that a search over circuit allocations ended without a result.
#[derive(Clone, Copy, Debug)]
enum GivenUp {
    /// Too many allocations.
    TooMany,
    /// Too many transfers that may overlap.
    TooManyTransfers,
    /// The time limit was reached.
    OutOfTime,
}

impl GivenUp {
    /// Returns the remark that `what` was not verified, or `None` if a check of this depth does not report this.
    fn remark(self, what: &str, depth: Depth) -> Option<String> {
        match self {
            Self::OutOfTime => depth.not_within(what),
            Self::TooMany if depth.is_exact() => Some(format!(
                "{what} is not verified, because there are more than {MOST_VECTORS} circuit allocations"
            )),
            Self::TooManyTransfers if depth.is_exact() => {
                Some(format!("{what} is not verified, because the scenario has too many transfers"))
            }
            Self::TooMany | Self::TooManyTransfers => None,
        }
    }
}

fn search_remark(best: &Result<Best, GivenUp>, depth: Depth, end_s: Option<f64>) -> String {
    match best {
        Err(why) => why.remark("the least possible makespan", depth).unwrap_or_default(),
        Ok(best) if best.reached => {
            let above_s = end_s.map_or(0.0, |end_s| (end_s - best.value_s).max(0.0));
            // Shorter times are rounding errors of the sums: the difference would print as 0.
            let this = if above_s < 5e-10 {
                "and this plan takes it".to_owned()
            } else {
                format!("but this plan takes {above_s:.9} s more")
            };
            format!("{}: {:.9} s is the minimum, {this}", best.tried, best.value_s)
        }
        Ok(best) => {
            let met = end_s.is_some_and(|end_s| !exceeds(end_s, best.value_s));
            let open = if met { "" } else { "; contention inside the graph may make every plan longer" };
            format!("{}: no plan takes less than {:.9} s{open}", best.tried, best.value_s)
        }
    }
}

/// The end of the iteration if every transfer ran at full NIC rate.
fn full_speed_s(case: &Case<'_>) -> f64 {
    walk(&case.dag, |task, earliest| earliest.at_s + case.net.tasks[task].volume_bytes / case.full_rate(task))
}

/// Smallest value of a circuit allocation; allocations that are not better than a plan of `within_s` are not
/// distinguished if there are too many to try each.
fn best(ask: &Ask<'_>, within_s: f64) -> Result<Best, GivenUp> {
    let case = ask.case;
    let nodes = case.dag.nodes().len().max(1);
    let exact = ask.depth.is_exact();
    let (visits, words) = if exact { (MOST_VISITS, MOST_VISITS) } else { (QUICK_VISITS, QUICK_WORDS) };
    let contention = Contention::of(case, ask.nics, words).ok_or(GivenUp::TooManyTransfers)?;
    let space = Space::of(case, &contention.useful);
    let Some(vectors) = space.maximal((visits / nodes).min(MOST_VECTORS)) else {
        return Ok(best_box(ask, &contention, &space, within_s));
    };
    let mut best: Option<Best> = None;
    let tried =
        format!("{} tried", counted(vectors.len() as u64, "circuit allocation", "circuit allocations"));
    for circuits in vectors {
        if exact && ask.depth.is_over() {
            return Err(GivenUp::OutOfTime);
        }
        let value_s = with_circuits_s(case, &contention, &circuits);
        if best.as_ref().is_none_or(|best| value_s < best.value_s) {
            best = Some(Best { value_s, circuits, reached: contention.exact, tried: tried.clone() });
        }
    }
    best.ok_or(GivenUp::TooMany)
}

/// As [`best`], by branch and bound. If a limit ends the search, the value is the smallest bound of an open box.
fn best_box(ask: &Ask<'_>, contention: &Contention, space: &Space, within_s: f64) -> Best {
    let exact = ask.depth.is_exact();
    let visits = if exact { MOST_VISITS } else { QUICK_BOX_VISITS };
    let limits = boxes::SearchEnd {
        // Rounding of sums of times must not decide the result.
        within_s: within_s * (1.0 - CHECK_RELATIVE / 2.0),
        evaluations: visits / ask.case.dag.nodes().len().max(1),
        is_over: &|| exact && ask.depth.is_over(),
    };
    let value_s = |circuits: &[u32]| with_circuits_s(ask.case, contention, circuits);
    let searched = boxes::least(space, &limits, &value_s);
    let tried = counted(searched.evaluated as u64, "circuit allocation", "circuit allocations");
    Best {
        value_s: searched.least_s,
        reached: contention.exact && searched.circuits.is_some(),
        circuits: searched.circuits.unwrap_or_default(),
        tried: format!("branch and bound over boxes, {tried} tried"),
    }
}

/// Minimum makespan on given circuits, seconds, and `true` if a plan reaches it; `None` if the graph is too large.
pub(super) fn least_s(case: &Case<'_>, nics: &[NicGroup], circuits: &[u32]) -> Option<(f64, bool)> {
    let contention = Contention::of(case, nics, MOST_VISITS)?;
    Some((with_circuits_s(case, &contention, circuits), contention.exact))
}

/// Lower bound on the makespan on given circuits; this bound is the minimum makespan if `contention.exact` is true.
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

/// The earliest time by which all sinks (sorted by release) can end on a link of capacity `capacity`.
///
/// In a piece of time, any subset S of the sinks can send at most `min(sum of rates in S, capacity)` times the length
/// of the piece, which is the rank of a polymatroid. Sums of polymatroids are polymatroids, so all volumes fit if and
/// only if the volumes of every subset fit.
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

/// A circuit allocation with bounds on its makespan.
pub(super) struct Valued {
    pub circuits: Vec<u32>,
    /// Ports that the allocation uses in every pod that is not a mirror.
    pub ports: Vec<u64>,
    /// Lower bound on the makespan of plans with this allocation, seconds.
    pub least_s: f64,
    /// Makespan of a plan with this allocation, seconds.
    pub reached_s: f64,
}

/// All circuit allocations of a thorough check; `None` if there are too many or the time limit is reached.
pub(super) fn allocations(ask: &Ask<'_>) -> Option<Vec<Valued>> {
    let (case, nics) = (ask.case, ask.nics);
    let contention = Contention::of(case, nics, MOST_VISITS)?;
    let fair = ask.rates == RateControl::Fair;
    // Circuits beyond the useful number change nothing if the contention is exact.
    let unlimited = vec![u32::MAX; case.net.links.len()];
    let useful = if contention.exact { &contention.useful } else { &unlimited };
    let most = (MOST_VISITS / 10 / case.dag.nodes().len().max(1)).min(MOST_VECTORS);
    // Mirrors come last.
    let real = case.net.pods.iter().take_while(|pod| !pod.mirror).count();
    let mut all = Vec::new();
    for circuits in Space::of(case, useful).all(most)? {
        if ask.depth.is_over() {
            return None;
        }
        let replayed_s =
            || replay(case, nics, Some(&circuits)).map_or(f64::INFINITY, |replay| replay.makespan_s);
        let (least_s, reached_s) = if fair {
            let replayed_s = replayed_s();
            (replayed_s, replayed_s)
        } else {
            let least_s = with_circuits_s(case, &contention, &circuits);
            (least_s, if contention.exact { least_s } else { replayed_s() })
        };
        let mut ports = port_use(&case.net, &circuits);
        ports.truncate(real);
        all.push(Valued { circuits, ports, least_s, reached_s });
    }
    Some(all)
}

/// Returns the minimum makespan at fair rates over all circuit allocations, and an allocation with this makespan.
fn best_fair(ask: &Ask<'_>) -> Result<(f64, Vec<u32>), GivenUp> {
    let (case, nics) = (ask.case, ask.nics);
    let contention = Contention::of(case, nics, MOST_VISITS).ok_or(GivenUp::TooManyTransfers)?;
    // Circuits beyond the useful number may be ignored only if the contention is exact.
    let space = if contention.exact {
        Space::of(case, &contention.useful)
    } else {
        Space::of(case, &vec![u32::MAX; case.net.links.len()])
    };
    let most = (MOST_VISITS / 10 / case.dag.nodes().len().max(1)).min(MOST_VECTORS);
    let mut best: Option<(f64, Vec<u32>)> = None;
    for circuits in space.all(most).ok_or(GivenUp::TooMany)? {
        if ask.depth.is_over() {
            return Err(GivenUp::OutOfTime);
        }
        let Some(run) = replay(case, nics, Some(&circuits)) else { continue };
        if best.as_ref().is_none_or(|(best_s, _)| run.makespan_s < *best_s) {
            best = Some((run.makespan_s, circuits));
        }
    }
    best.ok_or(GivenUp::TooMany)
}

/// Best value over all circuit allocations, seconds, and `true` if a plan reaches it.
#[cfg(test)]
pub(super) fn optimum(case: &Case<'_>) -> Option<(f64, bool)> {
    let nics = super::nics::nic_groups(case);
    let ask = Ask { case, nics: &nics, rates: RateControl::Joint, depth: Depth::EXACT };
    best(&ask, f64::INFINITY).ok().map(|best| (best.value_s, best.reached))
}
