//! Start of every search: the best known plan and the range of circuits.

use super::session::Session;
use crate::programs::circuit_bounds::useful_within;
use crate::search::baselines::Baseline;
use crate::search::carry;
use crate::search::circuits::Circuits;
use crate::simulate::evaluate::{Rates, Scratch};
use lightbay_core::event::{EventBody, HotStartFate, SeriesPoint};
use lightbay_core::method::MethodError;

/// Plans and limits from which a search starts.
pub(super) struct Start {
    /// The best known plan.
    pub best: Circuits,
    /// Maximum number of circuits of every link that a plan at least as good as `best` can use.
    pub caps: Vec<u32>,
    /// Circuit allocations to start from, within `caps`.
    pub seeds: Vec<Vec<u32>>,
    /// `true` if a hot start was used.
    pub hot: bool,
}

/// Evaluates the hot start, or the baselines if there is none.
pub(super) fn start(session: &mut Session<'_, '_>) -> Result<Start, MethodError> {
    let (found, limit, hot) = if let Some(found) = hot_start(session)? {
        let limit = found.makespan;
        (vec![found], limit, true)
    } else {
        let (found, limit) = baselines(session)?;
        (found, limit, false)
    };
    let network = &session.evaluator.network;
    let caps = useful_within(network, limit);
    let mut seeds: Vec<Vec<u32>> = found.iter().map(|found| within(&found.x, &caps)).collect();
    seeds.dedup();
    let mut best = found[0].clone();
    for other in &found[1..] {
        if other.better_than(&best) {
            best = other.clone();
        }
    }
    Ok(Start { best, caps, seeds, hot })
}

/// Returns `x` with the circuits of every link limited to the cap of the link.
pub(super) fn within(x: &[u32], caps: &[u32]) -> Vec<u32> {
    x.iter().zip(caps).map(|(&circuits, &cap)| circuits.min(cap)).collect()
}

/// Raises caps until they allow the circuits `x`.
pub(super) fn admit(caps: &mut [u32], x: &[u32]) {
    for (cap, circuits) in caps.iter_mut().zip(x) {
        *cap = (*cap).max(*circuits);
    }
}

/// The hot-start plan, transferred to this scenario.
fn hot_start(session: &mut Session<'_, '_>) -> Result<Option<Circuits>, MethodError> {
    let Some(hot) = session.cx.hot_start() else { return Ok(None) };
    let plan = hot.plan.plan();
    // `delta-phases` itself reads hot starts whose circuits change within an iteration.
    if plan.result.phases.is_some() && session.instance.reconfiguration.is_some() {
        return Ok(None);
    }
    session.cx.phase("hot start", format!("plan of {}", plan.method));
    let before = Some(plan.objective.value);
    let links = session.evaluator.network.links();
    let listed =
        |links| carry::listed(&plan.result, links).ok_or_else(|| carry::unlisted(&plan.result).to_owned());
    let translated = if hot.same_scenario {
        listed(links).map(|x| (x, Vec::new()))
    } else {
        plan.scenario.body.build().map_err(|problems| problems.to_string()).and_then(|old| {
            let x = listed(old.instance.links.len())?;
            carry::translated(&x, &old.instance, &session.instance)
        })
    };
    let (mut x, mut remarks) = match translated {
        Ok(translated) => translated,
        Err(why) => {
            session.cx.hot_start_fate(HotStartFate::Rejected, why, before, None);
            return Ok(None);
        }
    };
    let had = session.evaluator.network.budget.total(&x);
    if session.repair(&mut x) {
        let has = session.evaluator.network.budget.total(&x);
        remarks.push(format!("circuits on {has} of {had} ports were kept to fit the pods"));
    }
    let makespan = session.evaluator.makespan(&x, session.rates, &mut Scratch::default());
    let (fate, why) = if remarks.is_empty() {
        (HotStartFate::Accepted, "the circuits of the plan fit without changes".to_owned())
    } else {
        (HotStartFate::Repaired, remarks.join("; "))
    };
    session.cx.hot_start_fate(fate, why, before, Some(makespan));
    session.evaluate(x, "hot start").map(Some)
}

/// The three baselines under the rates of the method, and the best makespan among them under fair rates.
fn baselines(session: &mut Session<'_, '_>) -> Result<(Vec<Circuits>, f64), MethodError> {
    session.cx.phase("baselines", "proportional, square root, iterative halving");
    let mut scratch = Scratch::default();
    let mut limit = f64::INFINITY;
    let mut found = Vec::new();
    for (index, baseline) in Baseline::ALL.into_iter().enumerate() {
        session.cx.checkpoint()?;
        let x = baseline.allocate(&session.evaluator.network);
        let fair = session.evaluator.makespan(&x, Rates::Fair, &mut scratch);
        limit = limit.min(fair);
        let name = format!("{} (s)", baseline.name());
        session.cx.report(EventBody::Series(SeriesPoint { name, x: index as f64, y: fair }));
        found.push(session.evaluate(x, baseline.name())?);
    }
    Ok((found, limit))
}
