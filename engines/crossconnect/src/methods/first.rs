//! First solutions of the searching methods.

use super::finish;
use super::session::{FirstPlan, TaskSession};
use crate::Crossconnect;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::MethodError;
use lightbay_core::problem::{Problem, Problems};
use std::sync::Arc;

/// The first solution of a search: the hot start, or the better of halving and repair. None if ports have no sides, or if they
/// differ between switches so much that neither found a solution, which is said.
pub(super) fn start(
    session: &Arc<TaskSession>,
    joint: bool,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Option<FirstPlan>, MethodError> {
    // A hot start replaces the searches for a first plan.
    if let Some(hot) = session.hot_start(cx)? {
        return Ok(Some(hot));
    }
    if session.task.single_sided {
        cx.note(
            Severity::Info,
            "ports have no sides, so only the exact model can assign the circuits to switches",
        );
        return Ok(None);
    }
    let Some(oriented) = session.oriented(cx)? else { return Ok(None) };
    let mut starts = session.starts(&oriented, cx)?;
    if starts.is_empty() && joint {
        cx.note(
            Severity::Warning,
            "the pods have different ports on different switches, so halving may fail",
        );
        // Random tries, where ports differ between switches.
        starts.extend(finish::otherwise(session, cx)?);
    }
    Ok(starts.into_iter().next())
}

/// The error of a method that needs a solution to begin with and has none.
pub(super) fn no_start(method: &str, session: &TaskSession) -> MethodError {
    let why = if session.task.single_sided {
        "cannot start with single_sided wiring: flows cannot find a first solution"
    } else {
        "found no first solution: the pods have different ports on different switches"
    };
    let remedy = "use lumos-exact or auto, or start from a plan";
    MethodError::Invalid(Problems::from(Problem::new(method, why, remedy)))
}
