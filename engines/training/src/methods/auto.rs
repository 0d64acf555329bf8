//! `auto`: several methods one after the other, in the order of their benefit per time
//! (docs/methods/training-search.md, section 12). Quick searches come first, then proofs; as soon as a bound meets the
//! best plan, all remaining phases are skipped.

use super::approach::SessionMethod;
use super::session::{Session, state_bound};
use super::{evolve, idle, joint, knobs, prove, robust, start};
use crate::programs::selection::Range;
use crate::scenario::TrainingScenario;
use crate::search::ga::GaSettings;
use crate::simulate::evaluate::{Rates, Scratch};
use lightbay_core::event::Severity;
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, ParamValue, Params};
use lightbay_core::plan::{Limit, Status, gap};
use lightbay_core::problem::Problem;
use std::sync::Arc;

/// The method `auto`: quick searches, then a proof.
pub(super) struct Auto;

/// What the first bound does, in words.
const WIDEST: &str = "gives every link the maximum number of circuits that its pods allow";

/// What the bound of the relaxation does, in words.
const RELAXED: &str = "ignores competition before the last transfers";

/// Maximum number of tasks that the relaxation before the genetic search visits in all its evaluations together: about
/// a second.
const EARLY_VISITS: u64 = 4_000_000;

/// Gap up to which a bound and a plan count as equal.
const CLOSED: f64 = 1e-9;

/// Number of generations without improvement after which the genetic search ends and the next phase begins.
const STALL: i64 = 25;

impl SessionMethod for Auto {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "auto",
            help: "Runs quick searches, then the fastest proof, then minimises ports if min_ports is \
                 set.",
            proves: true,
            hot_start: true,
            params: knobs::joint().into_iter().map(short).collect(),
        }
    }

    fn idle(&self, _scenario: &TrainingScenario, params: &Params) -> Vec<Problem> {
        idle::joint(params, &self.info())
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        // Several configurations have a separate search.
        if let Some(outcome) = robust::run(session, params)? {
            return Ok(outcome);
        }
        let mut start = start::start(session)?;
        let (status, limit) = search(session, params, &mut start)?;
        // Ports are minimised last, because fewer ports must not lengthen the iteration.
        session.fewest_ports(&mut start.best, &start.caps)?;
        session.note_spare_ports(&start.best, &start.caps);
        Ok(Outcome::Done { status, limit })
    }
}

/// Lowers the default of `stall_generations`, because the genetic search is only one of the phases of `auto`; returns
/// every other parameter unchanged.
fn short(mut knob: ParamInfo) -> ParamInfo {
    if knob.name == "stall_generations" {
        knob.default = Some(ParamValue::Int(STALL.min(i64::from(GaSettings::default().stall_generations))));
    }
    knob
}

/// Runs all phases that look for a shorter makespan.
fn search(
    session: &mut Session<'_, '_>,
    params: &Params,
    start: &mut start::Start,
) -> Result<(Status, Option<Limit>), MethodError> {
    // A first bound costs one evaluation, and may already prove the best plan optimal.
    let mut bound = widest(session, start);
    if closed(session, start, WIDEST) {
        return Ok((Status::Optimal, None));
    }
    // If transfers compete before the end, a short search over a relaxation often gives the bound that later meets the
    // best plan, so the genetic search can end there.
    let relaxed = if session.evaluator.exact(Rates::Best) {
        None
    } else {
        let most = EARLY_VISITS / (session.instance.tasks.len() as u64).max(1);
        let relaxed = joint::relax(session, params, start, most.max(1))?;
        bound = Some(bound.map_or(relaxed.bound, |bound| bound.max(relaxed.bound)));
        Some(relaxed)
    };
    let source = if relaxed.is_some() { RELAXED } else { WIDEST };
    if closed(session, start, source) {
        return Ok((Status::Optimal, None));
    }
    // First at fair rates: the best circuits there are good seeds for scheduled rates.
    for rates in [Rates::Fair, Rates::Best] {
        session.rates = rates;
        let evolved = evolve::evolve(session, params, start, bound);
        session.rates = Rates::Best;
        let best = evolved?.best;
        // The plan may schedule rates, so the circuits are evaluated again.
        let best = if rates == Rates::Fair { session.evaluate(best.x, "genetic search")? } else { best };
        if best.better_than(&start.best) {
            start.best = best;
        }
        // Seeds of the searches that follow.
        if !start.seeds.contains(&start.best.x) {
            start.seeds.push(start.best.x.clone());
        }
        if closed(session, start, source) {
            return Ok((Status::Optimal, None));
        }
    }
    // On a tail-exact scenario, circuits determine the shortest makespan, so a search over circuits suffices.
    if session.evaluator.exact(Rates::Best) {
        let complete = prove::prove(session, params, start, true)?;
        return Ok(if complete { (Status::Optimal, None) } else { (Status::Feasible, Some(Limit::Work)) });
    }
    // On other scenarios, the orders of competing transfers have to be searched as well.
    let (status, limit) = joint::contended(session, params, start, relaxed)?;
    if status == Status::Optimal {
        session.cx.note(
            Severity::Info,
            "the search over orders of competing transfers claims that no plan is better",
        );
    }
    Ok((status, limit))
}

/// Computes a first bound for circuits that need not fit the ports: every link has the maximum number of circuits that
/// its pods allow if all other links have their minimum.
pub(super) fn widest(session: &mut Session<'_, '_>, start: &start::Start) -> Option<f64> {
    session.cx.phase("bound", "every link with the maximum number of circuits that its pods allow");
    let evaluator = Arc::clone(&session.evaluator);
    // Counts that cannot improve on the best makespan are removed from the range.
    let range = Range::new(&evaluator, &start.caps)?.tighten(&evaluator, start.best.makespan)?;
    // Rounding must not make the bound exceed a makespan.
    let bound = evaluator.bound(&range.high, &mut Scratch::default()) * (1.0 - 1e-12);
    state_bound(session.cx, session.rates, bound.min(start.best.makespan));
    Some(bound)
}

/// Returns `true`, with a note, if the bound meets the best plan; `source` is the computation of the bound.
fn closed(session: &mut Session<'_, '_>, start: &start::Start, source: &str) -> bool {
    let closed = session.cx.best_bound().is_some_and(|bound| gap(start.best.makespan, bound) <= CLOSED);
    if closed {
        session
            .cx
            .note(Severity::Info, format!("the plan meets the bound that {source}, so no plan is better"));
    }
    closed
}
