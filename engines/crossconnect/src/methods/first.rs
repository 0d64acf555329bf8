//! First solutions of the searching methods.

use super::finish;
use super::session::{FirstPlan, TaskSession};
use crate::Crossconnect;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::MethodError;
use lightbay_core::problem::{Problem, Problems};
use std::sync::Arc;

/// Returns the first solution of a search: the hot start, or the better solution of halving and repair. Returns `None`,
/// with a note, if ports have no sides, if the ports allow no orientation, or if both methods found no solution because
/// ports differ between switches.
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
            "halving and repair can fail, because a pod does not have the same number of ports on every switch; \
             other orders and orientations are tried",
        );
        // Tries random variants, because halving and repair can fail if ports differ between switches.
        starts.extend(finish::otherwise(session, cx)?);
    }
    Ok(starts.into_iter().next())
}

/// Returns the error of a method that needs a first solution and has none.
pub(super) fn no_start(method: &str, session: &TaskSession) -> MethodError {
    let why = if session.task.single_sided {
        "cannot start with single_sided wiring: flows cannot find a first solution"
    } else {
        "found no first solution: a pod does not have the same number of ports on every switch"
    };
    let remedy = "use lumos-exact or auto, or start from a plan";
    MethodError::Invalid(Problems::from(Problem::new(method, why, remedy)))
}
