//! Proof of the best circuits of a tail-exact scenario, by enumeration or by an integer program.

use super::knobs::{Prover, prover_of};
use super::session::Session;
use super::start::Start;
use super::{evolve, select, topo};
use crate::search::allocations;
use lightbay_core::event::Severity;
use lightbay_core::method::MethodError;
use lightbay_core::param::Params;
use std::sync::Arc;

/// Proves the best circuits by the requested search, or by the fastest one: enumeration of circuit allocations if they
/// can be listed, else the integer program. Improves `start.best`; returns whether the proof is complete. `evolved` is
/// true if a genetic search has already run.
pub(super) fn prove(
    session: &mut Session<'_, '_>,
    params: &Params,
    start: &mut Start,
    evolved: bool,
) -> Result<bool, MethodError> {
    let evaluator = Arc::clone(&session.evaluator);
    let caps = start.caps.clone();
    let by_vectors = match prover_of(params) {
        Prover::Outer => true,
        Prover::Select => false,
        Prover::Fastest => {
            let few = allocations::can_list(topo::task(&evaluator, session.rates, params, &caps), session)?;
            let text = if few {
                "the proof lists all circuit allocations, because they are few and listing is the fastest proof".to_owned()
            } else {
                format!(
                    "{} links have too many circuit allocations to list, so an integer program computes the proof",
                    caps.len()
                )
            };
            session.cx.note(Severity::Info, text);
            few
        }
    };
    if by_vectors {
        let complete = topo::prove(session, params, start, evolved)?;
        say(session, complete, "the search over circuit allocations");
        return Ok(complete);
    }
    if !evolved {
        let found = evolve::evolve(session, params, start, session.cx.best_bound())?;
        if found.best.makespan < start.best.makespan {
            start.best = found.best;
        }
    }
    let proven = select::prove(session, params, &mut start.best, &caps)?;
    say(session, proven.complete, "the integer program over numbers of circuits");
    if proven.complete || prover_of(params) == Prover::Select {
        return Ok(proven.complete);
    }
    // If the DAG does not fix the order of the last transfers, the integer program is only a relaxation.
    let complete = topo::prove(session, params, start, true)?;
    say(session, complete, "the search over circuit allocations");
    Ok(complete)
}

fn say(session: &mut Session<'_, '_>, complete: bool, what: &str) {
    if complete {
        session.cx.note(Severity::Info, format!("{what} claims that no plan is better"));
    }
}
