//! Hot start from a plan with circuits that change, such as a plan for another dark time.

use super::MovingSession;
use crate::methods::session::Session;
use crate::plan::{PhaseEvent, Phases};
use crate::scenario::instance::Instance;
use crate::search::carry;
use crate::search::phases::{self, MoveTask, Stepped};
use lightbay_core::event::HotStartFate;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch as _;

/// If the circuits of the hot-start plan change, reports that this plan cannot be used.
pub(super) fn refuse(session: &mut Session<'_, '_>, why: &str) {
    let Some(hot) = session.cx.hot_start() else { return };
    let plan = hot.plan.plan();
    if plan.result.phases.is_some() {
        session.cx.hot_start_fate(HotStartFate::Rejected, why.to_owned(), Some(plan.objective.value), None);
    }
}

/// Returns the hot-start plan if its circuits change and it is better than `task.known` on this scenario, and reports
/// this plan.
pub(super) fn take(
    session: &mut Session<'_, '_>,
    task: MoveTask<'_>,
    most: u32,
) -> Result<Option<Stepped>, MethodError> {
    let Some(hot) = session.cx.hot_start() else { return Ok(None) };
    let plan = hot.plan.plan();
    let Some(given) = &plan.result.phases else { return Ok(None) };
    session.cx.phase("hot start", format!("plan of {}", plan.method));
    let before = Some(plan.objective.value);
    let old = if hot.same_scenario {
        Ok(None)
    } else {
        plan.scenario.body.build().map(|built| Some(built.instance)).map_err(|problems| problems.to_string())
    };
    let carried = old.and_then(|old| carried(given, old.as_ref(), &session.instance));
    let (events, remarks) = match carried {
        Ok(carried) => carried,
        Err(why) => {
            session.cx.hot_start_fate(HotStartFate::Rejected, why, before, None);
            return Ok(None);
        }
    };
    let given = course(&events, plan.objective.value, task.delay_s);
    let Some(found) = phases::revalued(task, &given, most) else {
        let why = "the plan does not improve on static circuits, or has too many reconfigurations".to_owned();
        session.cx.hot_start_fate(HotStartFate::Rejected, why, before, None);
        return Ok(None);
    };
    let (fate, why) = if remarks.is_empty() {
        (HotStartFate::Accepted, "the reconfigurations of the plan fit without changes".to_owned())
    } else {
        (HotStartFate::Repaired, remarks.join("; "))
    };
    session.cx.hot_start_fate(fate, why, before, Some(found.period_s));
    let supersedes = task.aim != phases::Aim::Time;
    MovingSession { session, states_bound: false, supersedes }.found(found.clone(), "hot start")?;
    Ok(Some(found))
}

/// The events on the links of `to`, with remarks on missing links; `from` is the instance for which the plan was made,
/// or `None` if that instance is `to`.
fn carried(
    given: &Phases,
    from: Option<&Instance>,
    to: &Instance,
) -> Result<(Vec<PhaseEvent>, Vec<String>), String> {
    let Some(from) = from else { return Ok((given.events.clone(), Vec::new())) };
    let mut remarks = Vec::new();
    let mut events = Vec::new();
    for event in &given.events {
        if event.circuits.len() != from.links.len() {
            return Err(
                "the plan does not give a number of circuits for every link of its scenario".to_owned()
            );
        }
        let (circuits, own) = carry::translated(&event.circuits, from, to)?;
        remarks = own;
        events.push(PhaseEvent { time_s: event.time_s, circuits });
    }
    Ok((events, remarks))
}

/// Converts events to states. The first state begins at time 0, with one exception: if no event is at time 0, and the
/// last event is at most a dark time before the end of the iteration, the first state begins with this event of the
/// previous iteration, at a time of at most 0.
fn course(events: &[PhaseEvent], period_s: f64, delay_s: f64) -> Stepped {
    let mut from_s: Vec<f64> = events.iter().map(|event| event.time_s).collect();
    let mut states: Vec<Vec<u32>> = events.iter().map(|event| event.circuits.clone()).collect();
    if let Some(last_s) = from_s.last().copied().filter(|_| from_s[0] > 0.0) {
        let state = states[states.len() - 1].clone();
        if last_s - period_s >= -delay_s {
            from_s.pop();
            states.pop();
            from_s.insert(0, last_s - period_s);
        } else {
            from_s.insert(0, 0.0);
        }
        states.insert(0, state);
    }
    Stepped { states, from_s, period_s }
}
