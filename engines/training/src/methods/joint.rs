//! `delta-joint`: circuits and rates together. Exact with proof on tail-exact scenarios; elsewhere the best of
//! fair and level-first schedules over a genetic search, with a bound that holds for all of them.

use super::session::{Opened, Relaxed, Session};
use super::{evolve, knobs, start, topo};
use crate::evaluate::Rates;
use crate::kind::Training;
use crate::outer;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::{Status, gap};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// The search with proof at joint rates.
pub(super) struct Joint;

/// Gap up to which a proof of ours is complete.
const PROVEN: f64 = 1e-9;

impl Method<Training> for Joint {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::min_ports()];
        params.extend(knobs::proving());
        params.extend(knobs::genetic());
        MethodInfo {
            name: "delta-joint",
            help: "Best circuits and rates together; proves it where only last transfers share links.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Training>,
        params: &Params,
        cx: &mut Context<'_, Training>,
    ) -> Result<Outcome, MethodError> {
        let mut session = match Session::open(&scenario.body, Rates::Best, true, cx)? {
            Opened::Session(session) => session,
            Opened::Done(outcome) => return Ok(outcome),
        };
        if session.evaluator.exact(Rates::Best) {
            let mut start = start::start(&mut session)?;
            let complete = topo::prove(&mut session, params, &mut start)?;
            let mut best = start.best;
            session.fewest_ports(&mut best, &start.caps)?;
            return Ok(topo::ending(complete));
        }
        if let Some(reason) = session.evaluator.contention.loose.first() {
            session
                .cx
                .note(Severity::Warning, format!("not tail-exact, so the bound is a relaxation: {reason}"));
        }
        let start = start::start(&mut session)?;
        let bound = relax(&mut session, params, &start)?;
        let evolved = evolve::evolve(&mut session, params, &start, Some(bound * (1.0 + PROVEN / 2.0)))?;
        let mut best = if evolved.best.better_than(&start.best) { evolved.best } else { start.best };
        session.fewest_ports(&mut best, &start.caps)?;
        let proven = gap(best.makespan, bound) <= PROVEN;
        let status = if proven { Status::Optimal } else { Status::Heuristic };
        Ok(Outcome::Done { status, limit: evolved.limit })
    }
}

/// The bound that holds whatever competes: start times at full speed and the sharing among last transfers.
fn relax(session: &mut Session<'_, '_>, params: &Params, start: &start::Start) -> Result<f64, MethodError> {
    session.cx.phase("bound", "competition before the last transfers left out");
    let evaluator = Arc::clone(&session.evaluator);
    let mut task = outer::Task::relaxed(&evaluator, &start.caps);
    task.listed = params.int("listed_vectors").map_or(task.listed, |value| value.max(1) as u64);
    task.boxes = params.int("boxes").map_or(task.boxes, |value| value.max(1) as u64);
    let proof = outer::search(task, None, &mut Relaxed(session))?;
    let bound = proof.bound.min(start.best.makespan) * (1.0 - 1e-12);
    session.cx.bound(bound);
    Ok(bound)
}
