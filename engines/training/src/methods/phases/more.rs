//! Plans with two or more reconfigurations, without a proof.

use super::MovingSession;
use crate::methods::session::Session;
use crate::search::phases::{self, MoveProof, MoveTask, MovedCircuits as _, Stepped};
use lightbay_core::event::Severity;
use lightbay_core::method::MethodError;
use lightbay_core::problem::counted;

/// Searches for iterations shorter than `task.known`, the period of the plan `from`; returns a lower bound on the
/// period.
pub(super) fn shorter(
    session: &mut Session<'_, '_>,
    task: MoveTask<'_>,
    from: &Stepped,
    one: &MoveProof,
) -> Result<f64, MethodError> {
    let most = most_of(session);
    let watch = &mut MovingSession { session, states_bound: false, supersedes: false };
    let least_s = phases::least_period::<Stepped, _>(task, watch)?;
    session.cx.bound((least_s * (1.0 - 1e-12)).min(task.known));
    let found = searched(session, task, Some(from), most, one)?;
    let text = match &found {
        Some(found) => format!(
            "with {} of {} s, an iteration takes {:.6} s instead of {:.6} s",
            counted(found.switchings().into(), "reconfiguration", "reconfigurations"),
            task.delay_s,
            found.period_s,
            task.known
        ),
        None => format!(
            "found no schedule with up to {most} reconfigurations of {} s that is shorter than {:.6} s",
            task.delay_s, task.known
        ),
    };
    session.cx.note(
        Severity::Info,
        format!("{text}; with any number of reconfigurations, an iteration takes at least {least_s:.6} s"),
    );
    warn(session, most);
    Ok(least_s)
}

/// Searches for plans with fewer ports than `task.known`; `any` is a lower bound on the ports.
pub(super) fn fewer(
    session: &mut Session<'_, '_>,
    task: MoveTask<'_>,
    most: u32,
    any: Option<u64>,
    one: &MoveProof,
) -> Result<Option<u64>, MethodError> {
    let found = searched(session, task, None, most, one)?;
    let ports = found.as_ref().map(|found| found.ports(task.evaluator));
    let text = match &found {
        Some(found) => format!(
            "with {} of {} s, a plan needs {} ports",
            counted(found.switchings().into(), "reconfiguration", "reconfigurations"),
            task.delay_s,
            found.ports(task.evaluator)
        ),
        None => {
            format!(
                "found no schedule with fewer ports and up to {most} reconfigurations of {} s",
                task.delay_s
            )
        }
    };
    session.cx.note(Severity::Info, text);
    if any.is_none_or(|any| ports.map_or(task.known, |ports| ports as f64) > any as f64) {
        warn(session, most);
    }
    Ok(ports)
}

/// Returns the best plan of three searches: for two reconfigurations, for circuits on demand (a link has circuits only
/// while it sends), and for more reconfigurations by splitting the states of a plan.
fn searched(
    session: &mut Session<'_, '_>,
    mut task: MoveTask<'_>,
    from: Option<&Stepped>,
    most: u32,
    one: &MoveProof,
) -> Result<Option<Stepped>, MethodError> {
    let supersedes = from.is_none();
    let mut best: Option<Stepped> = None;
    let mut keep = |found: Option<Stepped>, task: &mut MoveTask<'_>| {
        if let Some(found) = found {
            task.known = if supersedes { found.ports(task.evaluator) as f64 } else { found.period_s };
            best = Some(found);
        }
    };
    if let Some(from) = from {
        session
            .cx
            .phase("more reconfigurations", "states are split, and their circuits and instants shifted");
        let watch = &mut MovingSession { session, states_bound: false, supersedes };
        keep(phases::search_more(task, from, most, watch)?, &mut task);
    }
    session.cx.phase("two reconfigurations", "circuits of every link change at one of two instants");
    let watch = &mut MovingSession { session, states_bound: false, supersedes };
    let two = phases::search_two(task, one.best.as_ref(), watch)?;
    let mut is_new = two.is_some();
    keep(two, &mut task);
    session.cx.phase("on demand", "circuits of a link for the time in which it sends");
    let watch = &mut MovingSession { session, states_bound: false, supersedes };
    let demand = phases::search_demand(task, most, watch)?;
    is_new |= demand.is_some();
    keep(demand, &mut task);
    // If the best plan now has another form, splitting it can give plans that the earlier split and shift did not
    // reach.
    if let Some(own) = best.clone().filter(|_| from.is_some() && is_new) {
        session.cx.phase("more reconfigurations", "the best of these plans, split and shifted again");
        let watch = &mut MovingSession { session, states_bound: false, supersedes };
        best = phases::search_more(task, &own, most, watch)?.or(best);
    }
    Ok(best)
}

/// Maximum number of reconfigurations that the scenario allows.
fn most_of(session: &Session<'_, '_>) -> u32 {
    session.instance.reconfiguration.map_or(0, |group| group.most_switchings)
}

/// Warns that plans with more than one reconfiguration are not proven optimal.
fn warn(session: &mut Session<'_, '_>, most: u32) {
    let text =
        format!("plans with 2 to {most} reconfigurations were searched, but none of them is proven optimal");
    session.cx.note(Severity::Warning, text);
}
