//! Solves a model for a method, in a solver process if the program can start one, and converts all events of the solver
//! into events of the run.

use crate::conflict::{Conflict, conflict_of};
use crate::error::Error;
use crate::instance::solve_here;
use crate::listener::RunListener;
use crate::model::Model;
use crate::options::{OptionValue, Options};
use crate::solution::{Solution, Start, Status};
use crate::worker::{self, HelperError};
use bridge::Bridge;
use lightbay_core::context::{Context, Stop};
use lightbay_core::event::Severity;
use lightbay_core::kind::Kind;
use lightbay_core::method::MethodError;

mod bridge;
mod sift;

pub use crate::knobs::{isolated, knobs, options_of};

/// Time limit of each of the two steps of [`crate::conflict::conflict_of`], seconds.
const EXPLAIN_S: f64 = 10.0;

/// Model to solve, with options and a start.
#[derive(Clone, Debug)]
pub struct SolveRequest<'m> {
    /// The model.
    pub model: &'m Model,
    /// Options of the solver, see [`crate::knobs::options_of`].
    pub options: Options,
    /// The point to start from.
    pub start: Start,
    /// `true` to solve in a solver process, which can be stopped in every stage. If the program cannot start a solver
    /// process, the model is solved inside lightbay, under the run's time limit.
    pub isolated: bool,
}

/// Interpreter of the solver's points and bounds for a method.
pub trait Reader<K: Kind> {
    /// Handles a better point: one value per column of the model. Implementations pass the objective of the point to
    /// [`Context::incumbent`], with a candidate that is built on demand. `source` names the step that found the point.
    ///
    /// # Errors
    /// Passes on the error of the context.
    fn incumbent(
        &mut self,
        cx: &mut Context<'_, K>,
        objective: f64,
        values: &[f64],
        source: &str,
    ) -> Result<(), MethodError>;

    /// Handles a better bound of the whole model.
    ///
    /// # Errors
    /// Passes on the error of the context.
    fn bound(&mut self, cx: &mut Context<'_, K>, bound: f64) -> Result<(), MethodError>;

    /// Converts an objective of the model to the objective of the kind, for figures on the screen; `None` if the model
    /// minimises something else, such as ports.
    fn meaning(&self, objective: f64) -> Option<f64> {
        Some(objective)
    }

    /// Returns a better point from another source for the running tree search, such as a plan from
    /// [`Context::offered`]: one value per column. Called about ten times a second.
    fn better(&mut self, _cx: &mut Context<'_, K>) -> Option<Vec<f64>> {
        None
    }
}

/// Returns the name and version of the solver, as recorded in plans.
pub fn solver_name() -> String {
    format!("HiGHS {}", crate::instance::version())
}

/// Solves a model for a method: events of the solver become events of the run, better points and bounds go to the
/// reader, and the context stops, pauses and limits the run. Every better point of an integer model goes to the reader,
/// including the point of the solution.
///
/// In a solver process, a stop takes effect within about 100 ms in every stage: the solver is requested to stop, and
/// its process is killed if it has not ended after 100 ms, or at once if it has been silent for 250 ms. Its results so
/// far are kept. Inside lightbay, a stop waits for the solver, which does not react during the first relaxation of an
/// integer model.
///
/// # Errors
/// [`MethodError::Stopped`] if the run must stop; errors of the reader; [`MethodError::CutShort`] if the solver process
/// was ended from outside; [`MethodError::Failed`] if the solver refuses the model or fails. An infeasible model is not
/// an error, see [`Solution::status`].
pub fn run<K: Kind>(
    ask: SolveRequest<'_>,
    reader: &mut dyn Reader<K>,
    cx: &mut Context<'_, K>,
) -> Result<Solution, MethodError> {
    cx.checkpoint()?;
    let name = solver_name();
    cx.solver(name.clone());
    let helper = ask.isolated.then(|| cx.launcher().cloned()).flatten();
    let mut bridge = Bridge::new(reader, cx, ask.model.maximise, helper.is_some());
    if let Some(launcher) = helper {
        bridge.cx.note(Severity::Info, format!("{name} runs in a solver process"));
        match worker::solve(launcher.as_ref(), ask.model, &ask.options, &ask.start, &mut bridge) {
            Ok(ending) => {
                let accident = ending.accident.map(|how| bridge.cut_short(&how));
                let closed = close(ask.model, ending.solution, bridge);
                return match (closed, accident) {
                    // If the solver process ended early, the method fails with this error, even if the solve found a
                    // point.
                    (Ok(_), Some(accident)) => Err(accident),
                    (closed, _) => closed,
                };
            }
            Err(HelperError::Launch(error)) => {
                let text = format!(
                    "no solver process could be started ({error}); the solver runs inside lightbay, where \
                     it may take long to stop"
                );
                bridge.cx.note(Severity::Warning, text);
                bridge.own_process();
            }
            Err(HelperError::Died(how)) => {
                let accident = bridge.cut_short(&how);
                return Err(bridge.failed_by(accident));
            }
            Err(error) => return Err(bridge.failed(error.to_string())),
        }
    } else {
        bridge.cx.note(Severity::Info, format!("{name} runs inside lightbay"));
    }
    let (options, limited) =
        within(ask.options, bridge.cx.control().time_left().map(|left| left.as_secs_f64()));
    let solution = solve_here(ask.model, &options, &ask.start, &mut bridge)
        .map_err(|error: Error| bridge.failed(error.to_string()))?;
    if limited && solution.status == Status::TimeLimit {
        // The clocks of solver and run differ slightly and by the length of all pauses, so the run may not have reached
        // its own limit yet.
        bridge.cx.control().stop(Stop::Time);
    }
    close(ask.model, solution, bridge)
}

/// Returns the conflicting rows and bounds of an infeasible model, for the text of [`Outcome::Infeasible`]; `None` if
/// the search finds no conflict. The search takes at most about ten seconds in the linear relaxation and ten more in
/// the integer model, and uses a solver process like [`run`]. [`crate::conflict::sentence`] describes the conflict in a
/// sentence.
///
/// # Errors
/// [`MethodError::Stopped`] when the run is to stop; [`MethodError::Failed`] if the solver fails.
///
/// [`Outcome::Infeasible`]: lightbay_core::method::Outcome::Infeasible
pub fn why_infeasible<K: Kind>(
    model: &Model,
    isolated: bool,
    cx: &mut Context<'_, K>,
) -> Result<Option<Conflict>, MethodError> {
    cx.phase("conflict", "search for constraints that conflict");
    let left_s = cx.control().time_left().map_or(EXPLAIN_S, |left| left.as_secs_f64());
    let seconds = EXPLAIN_S.min(left_s);
    let helper = isolated.then(|| cx.launcher().cloned()).flatten();
    let mut listener = RunListener::new(&mut *cx);
    let mut broken = None;
    let found = match helper {
        Some(launcher) => match worker::explain(launcher.as_ref(), model, seconds, &mut listener) {
            // Infeasibility is proven; only its explanation is missing.
            Err(HelperError::Died(how)) => {
                broken = Some(how);
                Ok(None)
            }
            found => found.map_err(|error| error.to_string()),
        },
        None => conflict_of(model, seconds).map_err(|error| error.to_string()),
    };
    let ended = listener.finish();
    if let Some(how) = broken {
        let text = format!("the search for conflicting constraints failed: the solver process {how}");
        cx.note(Severity::Warning, text);
    }
    ended?;
    cx.checkpoint()?;
    found.map_err(MethodError::Failed)
}

/// Returns options that limit a solve to the remaining time of the run, the only limit that works in every stage inside
/// lightbay. Also returns `true` if the remaining time is shorter than the time limit in `options`.
fn within(options: Options, left_s: Option<f64>) -> (Options, bool) {
    let asked = match options.get("time_limit") {
        Some(OptionValue::Float(seconds)) => *seconds,
        Some(OptionValue::Int(seconds)) => f64::from(*seconds),
        _ => f64::INFINITY,
    };
    match left_s {
        Some(left) if left < asked => (options.time_limit_s(left), true),
        _ => (options, false),
    }
}

/// Reports the last point, bound and figures after the solver has ended; returns the solution.
fn close<K: Kind>(
    model: &Model,
    solution: Solution,
    mut bridge: Bridge<'_, '_, K>,
) -> Result<Solution, MethodError> {
    if model.is_mip() {
        bridge.last(&solution);
    }
    // A stop because no better point exists is the regular end of the search.
    let complete = bridge.is_closed() && solution.status == Status::Interrupted;
    bridge.end()?;
    Ok(if complete { Solution { status: Status::Optimal, ..solution } } else { solution })
}
