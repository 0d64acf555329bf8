//! The independent checker of training plans.
//!
//! It shares with the rest of the crate the types of scenarios and plans and the sizes of a workload, and nothing
//! else: it places the stages itself, walks the full 1F1B graph of a job (an instance by its edges), replays fair
//! plans with a simulator of its own, and recomputes every figure that a plan claims.

mod capacity;
mod case;
mod circuits;
mod exact;
mod figures;
mod job;
mod nics;
mod replay;
mod robust;
mod sanity;
mod schedule;
mod shared;
mod timing;
mod walk;

#[cfg(test)]
mod tests;

use crate::instance::Instance;
use crate::plan::{RateControl, TrainingResult};
use crate::scenario::job::Job;
use case::Case;
use lightbay_core::checked::{Verdict, Violation};
use lightbay_core::kind::Depth;
pub use robust::check_robust;
pub use shared::check_shared;
use std::collections::BTreeMap;

/// Rules that a plan can break.
pub mod code {
    /// A number of the plan is not finite.
    pub const SCHEMA: &str = "schema";
    /// The scenario contradicts itself or cannot have a plan.
    pub const SCENARIO: &str = "scenario";
    /// A link is missing, unknown, listed twice or out of order.
    pub const TOPOLOGY: &str = "topology";
    /// A number of circuits is not a whole number from 1.
    pub const INTEGRALITY: &str = "integrality";
    /// A pod uses more ports than it has.
    pub const PORTS: &str = "ports";
    /// The claimed number of ports is not the number used.
    pub const PORTS_CLAIM: &str = "ports_claim";
    /// One of several jobs is missing, unknown or out of order.
    pub const JOBS: &str = "jobs";
    /// Ports given and taken do not add up.
    pub const TRADED: &str = "traded";
    /// A job takes longer than on the ports that it brought.
    pub const WORSE: &str = "worse";
    /// A task is missing, unknown, listed twice or out of order.
    pub const TASK: &str = "task";
    /// A task ends before it starts, or starts before the iteration.
    pub const ORDER: &str = "order";
    /// A task starts before the work ahead of it can be done, whatever the network does.
    pub const RELEASE: &str = "release";
    /// Segments of a task are empty, overlap or are out of order.
    pub const SEGMENTS: &str = "segments";
    /// Segments of a task leave gaps or do not cover it.
    pub const CONTIGUITY: &str = "contiguity";
    /// A task is faster than all its flows at NIC rate.
    pub const FLOW_CAP: &str = "flow_cap";
    /// A task does not send its volume.
    pub const CONSERVATION: &str = "conservation";
    /// A task starts before its predecessors allow.
    pub const PRECEDENCE: &str = "precedence";
    /// A directed link carries more than its circuits can.
    pub const CIRCUIT: &str = "circuit";
    /// A GPU sends more than its NIC can.
    pub const NIC_OUT: &str = "nic_out";
    /// A GPU receives more than its NIC can.
    pub const NIC_IN: &str = "nic_in";
    /// The claimed makespan is not that of the schedule.
    pub const MAKESPAN: &str = "makespan";
    /// A fair plan is not what max-min fairness gives.
    pub const RESIM: &str = "resim";
    /// The claimed NCT or ideal makespan is wrong.
    pub const NCT: &str = "nct";
    /// The claimed bound is beaten by a plan that exists.
    pub const BOUND: &str = "bound";
}

/// Tolerance of times, seconds.
const CHECK_S: f64 = 1e-6;
/// Relative tolerance of times, volumes and rates.
const CHECK_RELATIVE: f64 = 1e-6;

/// What a plan claims outside its result.
#[derive(Clone, Copy, Debug)]
pub struct Claims<'a> {
    /// Objective value.
    pub makespan_s: f64,
    /// Claimed lower bound of the makespan.
    pub bound_s: Option<f64>,
    /// Who claims it.
    pub method: &'a str,
    /// Figures of the envelope; those that can be recomputed are compared, all others ignored.
    pub metrics: &'a BTreeMap<String, f64>,
}

impl Claims<'_> {
    fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied()
    }
}

/// Violations in the order in which they are found.
#[derive(Debug, Default)]
struct Findings {
    list: Vec<Violation>,
}

impl Findings {
    fn add(&mut self, code: &'static str, message: impl Into<String>) {
        self.list.push(Violation::new(code, message));
    }
    fn count(&self) -> usize {
        self.list.len()
    }
    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// Checks a plan for a job: derives pods, links, tasks and the full 1F1B graph and compares the plan with them.
pub fn check_job(job: &Job, result: &TrainingResult, claims: &Claims<'_>, depth: Depth) -> Verdict {
    let mut found = Findings::default();
    match job::case(job, &mut found) {
        Some(case) => check(&case, result, claims, depth, found),
        None => refused(found),
    }
}

/// Checks a plan for an explicit instance.
pub fn check_instance(
    instance: &Instance,
    result: &TrainingResult,
    claims: &Claims<'_>,
    depth: Depth,
) -> Verdict {
    let mut found = Findings::default();
    sanity::instance(instance, &mut found);
    if !found.is_empty() {
        return refused(found);
    }
    match Case::from_instance(instance) {
        Ok(case) => check(&case, result, claims, depth, found),
        Err(cycle) => {
            let ids: Vec<String> = cycle.iter().map(ToString::to_string).collect();
            found.add(code::SCENARIO, format!("tasks {} wait for each other in a circle", ids.join(", ")));
            refused(found)
        }
    }
}

fn refused(found: Findings) -> Verdict {
    Verdict::refused(found.list)
}

fn check(
    case: &Case<'_>,
    result: &TrainingResult,
    claims: &Claims<'_>,
    depth: Depth,
    mut found: Findings,
) -> Verdict {
    sanity::instance(&case.net, &mut found);
    if !result.jobs.is_empty() {
        found.add(code::JOBS, format!("{} jobs are listed, the scenario is one", result.jobs.len()));
    }
    if found.is_empty() {
        finite(result, claims, &mut found);
    }
    if !found.is_empty() {
        return refused(found);
    }
    let circuits = circuits::topology(case, result, &mut found);
    if let Some(circuits) = &circuits {
        circuits::ports(case, circuits, result, claims, &mut found);
    }
    let nics = nics::nic_groups(case);
    let schedules = schedule::tasks(case, result, &mut found);
    let mut end_s = None;
    if let Some(schedules) = &schedules {
        for (task, schedule) in schedules.iter().enumerate() {
            schedule::task(case, task, schedule, &mut found);
        }
        end_s = Some(timing::precedence(case, schedules, claims, &mut found));
        if let Some(circuits) = &circuits {
            capacity::links(case, circuits, schedules, &mut found);
            if result.rate_control == RateControl::Fair {
                timing::fair(case, &nics, circuits, schedules, claims, &mut found);
            }
        }
        capacity::nics(case, &nics, schedules, &mut found);
    }
    figures::ideal(case, &nics, result, claims, end_s, &mut found);
    let mut remarks = Vec::new();
    let bound =
        exact::bound(case, &nics, result.rate_control, claims, end_s, depth, &mut found, &mut remarks);
    Verdict { violations: found.list, bound, verified: None, remarks }
}

/// Every number of the plan must be one.
fn finite(result: &TrainingResult, claims: &Claims<'_>, found: &mut Findings) {
    let mut number = |name: &str, value: f64| {
        if !value.is_finite() {
            found.add(code::SCHEMA, format!("'{name}' is {value}, must be a finite number"));
        }
    };
    number("objective.value", claims.makespan_s);
    number("objective.bound", claims.bound_s.unwrap_or(0.0));
    number("ideal_makespan_s", result.ideal_makespan_s);
    number("nct", result.nct.unwrap_or(0.0));
    for (name, value) in claims.metrics {
        number(&format!("metrics.{name}"), *value);
    }
    for (index, task) in result.tasks.iter().enumerate() {
        number(&format!("tasks[{index}].start_s"), task.start_s);
        number(&format!("tasks[{index}].finish_s"), task.finish_s);
        for (piece, segment) in task.segments.iter().enumerate() {
            number(&format!("tasks[{index}].segments[{piece}].start_s"), segment.start_s);
            number(&format!("tasks[{index}].segments[{piece}].end_s"), segment.end_s);
            number(&format!("tasks[{index}].segments[{piece}].volume_bytes"), segment.volume_bytes);
        }
    }
}

/// Whether two times are equal as far as a check can tell.
fn nearly(a: f64, b: f64) -> bool {
    (a - b).abs() <= CHECK_S.max(CHECK_RELATIVE * a.abs().max(b.abs()))
}
