//! The independent checker of training plans.
//!
//! The checker shares only the types of scenarios and plans and the sizes of a workload with the rest of the crate. The
//! checker places the stages itself, walks the full graph of a job (or the edges of an instance), replays fair plans
//! with a separate simulator, and recomputes every figure that a plan claims.

mod capacity;
mod case;
mod circuits;
mod exact;
mod figures;
mod job;
mod nics;
mod phases;
mod replay;
mod robust;
mod sanity;
mod schedule;
mod shared;
mod timing;
mod walk;

#[cfg(test)]
mod tests;

use crate::plan::{RateControl, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::scenario::instance::Instance;
use crate::scenario::job::Job;
use capacity::Carrying;
use case::Case;
use lightbay_core::checked::{Figure, Findings, Verdict, compare_metrics};
use lightbay_core::kind::Depth;
use std::collections::BTreeMap;

/// Rules that a plan can break.
pub mod code {
    /// A number of the plan is not finite.
    pub const SCHEMA: &str = "schema";
    /// The scenario contradicts itself or cannot have a plan.
    pub const SCENARIO: &str = "scenario";
    /// A link is missing, unknown, listed twice or at another position than in the scenario, or the list of links must
    /// be empty.
    pub const TOPOLOGY: &str = "topology";
    /// A number of circuits is not a whole number of at least 1.
    pub const INTEGRALITY: &str = "integrality";
    /// A pod uses more ports than it has.
    pub const PORTS: &str = "ports";
    /// The claimed number of ports differs from the number used.
    pub const PORTS_CLAIM: &str = "ports_claim";
    /// The list of jobs in the plan differs from the jobs of the scenario, or a job has another rate control than the
    /// plan.
    pub const JOBS: &str = "jobs";
    /// The ports that jobs give and take do not match: for a job, with the ports that it may use; in a shared pod, with
    /// each other.
    pub const TRADED: &str = "traded";
    /// A job takes longer than it would on the ports that it brought.
    pub const WORSE: &str = "worse";
    /// A task is missing, unknown, listed twice or at another position than in the scenario, or the list of tasks must
    /// be empty.
    pub const TASK: &str = "task";
    /// A task ends before it starts, or starts before the iteration.
    pub const ORDER: &str = "order";
    /// A task starts before its release time, or before the fixed work that precedes it has ended (fixed work takes the
    /// same time on every network).
    pub const RELEASE: &str = "release";
    /// Segments of a task are empty, overlap or are not in ascending order.
    pub const SEGMENTS: &str = "segments";
    /// Segments of a task leave gaps, or do not cover the task from start to finish.
    pub const CONTIGUITY: &str = "contiguity";
    /// A task sends faster than its flows can at full NIC rate.
    pub const FLOW_CAP: &str = "flow_cap";
    /// The segments of a task do not add up to its volume.
    pub const CONSERVATION: &str = "conservation";
    /// A task starts before its predecessors allow.
    pub const PRECEDENCE: &str = "precedence";
    /// A directed link carries more than its circuits can.
    pub const CIRCUIT: &str = "circuit";
    /// Circuits change although the circuits of the scenario are static, change too often, or change at times outside
    /// the iteration.
    pub const PHASES: &str = "phases";
    /// A GPU sends more than its NIC can.
    pub const NIC_OUT: &str = "nic_out";
    /// A GPU receives more than its NIC can.
    pub const NIC_IN: &str = "nic_in";
    /// The claimed makespan differs from the makespan of the schedule.
    pub const MAKESPAN: &str = "makespan";
    /// The times of a plan at fair rates differ from the times of a max-min fair simulation.
    pub const RESIM: &str = "resim";
    /// The claimed NCT or ideal makespan is wrong.
    pub const NCT: &str = "nct";
    /// A known plan is better than the claimed bound allows.
    pub const BOUND: &str = "bound";
}

/// Relative tolerance of times, volumes and rates.
///
/// An error within the tolerance can shorten the makespan by at most the same fraction: a schedule that is stretched by
/// the factor 1 + 1e-9 has time to send a missing fraction of 1e-9 of every volume, and its rates are lower by this
/// factor.
const CHECK_RELATIVE: f64 = 1e-9;

/// Claims of a plan that are stored outside its result.
#[derive(Clone, Copy, Debug)]
pub struct Claims<'a> {
    /// Objective value of the plan, seconds.
    pub makespan_s: f64,
    /// Claimed lower bound on the makespan.
    pub bound_s: Option<f64>,
    /// The plans for which the bound holds; `None` if it holds for all plans of the scenario.
    pub bound_covers: Option<&'a str>,
    /// Name of the method that claims the bound.
    pub method: &'a str,
    /// Figures of the envelope (the fields that plans of all kinds have), all of which must be present and correct;
    /// `None` for a part of a plan, which has no envelope.
    pub metrics: Option<&'a BTreeMap<String, f64>>,
    /// Configurations over which the plan claims the smallest worst NCT.
    pub robust: Option<&'a str>,
}

/// Tolerance of the checker for the rounding of times, seconds.
///
/// A schedule of N pieces could use the tolerance N times in a row, so all pieces together share 1e-9 of the makespan.
/// The tolerance is never below a few units in the last place, because differences of large times are not more exact.
/// Schedules that the methods compute need only a thousandth of this tolerance, because their volumes are exact to
/// 1e-12 and their start times are exact to the last digit. This also holds for schedules from a HiGHS model, because
/// their times are recomputed from the circuits and rates of the solution.
#[derive(Clone, Copy, Debug)]
struct Slack {
    /// Tolerance for a single time, seconds.
    time_s: f64,
    /// Tolerance for figures that depend on the whole schedule, seconds.
    makespan_s: f64,
}

impl Slack {
    fn of(result: &TrainingResult, claims: &Claims<'_>) -> Self {
        let pieces: usize = result.tasks.iter().map(|task| 1 + task.segments.len()).sum();
        let makespan_s = claims.makespan_s.abs();
        let share_s = CHECK_RELATIVE * makespan_s / (8.0 * pieces.max(1) as f64);
        Self {
            time_s: share_s.max(16.0 * f64::EPSILON * makespan_s),
            makespan_s: CHECK_RELATIVE * makespan_s,
        }
    }

    /// Returns `true` if two times of the same event are equal within the tolerance.
    fn same_time(self, a: f64, b: f64) -> bool {
        (a - b).abs() <= self.time_s
    }

    /// Returns `true` if two ends of the iteration, or two times that are computed along the whole iteration, are equal
    /// within the tolerance.
    fn same_end(self, a: f64, b: f64) -> bool {
        (a - b).abs() <= self.makespan_s
    }
}

/// Result of examining a plan: the verdict, and every figure that its envelope must have if nothing is wrong.
struct Examined {
    verdict: Verdict,
    figures: Vec<Figure>,
}

impl Examined {
    fn refused(found: Findings) -> Self {
        Self { verdict: Verdict::refused(found.finish()), figures: Vec::new() }
    }

    /// The verdict, including a comparison with the figures of the envelope; for an invalid plan, only the figures that
    /// could be computed are compared.
    fn compared(mut self, claims: &Claims<'_>) -> Verdict {
        let Some(metrics) = claims.metrics else { return self.verdict };
        if self.verdict.violations.is_empty() {
            self.verdict.violations = compare_metrics(metrics, &self.figures);
        } else {
            let known = |name: &str| self.figures.iter().any(|figure| figure.name == name);
            let metrics = metrics.iter().filter(|(name, _)| known(name));
            let metrics = metrics.map(|(name, value)| (name.clone(), *value)).collect();
            self.verdict.violations.extend(compare_metrics(&metrics, &self.figures));
        }
        self.verdict
    }
}

/// Checks a plan for any scenario of the kind, with every claim of its envelope.
pub fn check_plan(
    scenario: &TrainingScenario,
    result: &TrainingResult,
    claims: &Claims<'_>,
    depth: Depth,
) -> Verdict {
    let mut examined = match scenario {
        TrainingScenario::Job(job) => examine_job(job, result, claims, depth),
        TrainingScenario::Instance(instance) => examine_instance(instance, result, claims, depth),
        TrainingScenario::Shared(shared) => shared::examine(shared, result, claims, depth),
    };
    if let Some(text) = claims.robust.filter(|_| examined.verdict.violations.is_empty()) {
        match robust::figures(scenario, text, result, claims) {
            Ok(figures) => {
                for (figure, remark) in figures {
                    examined.figures.push(figure);
                    examined.verdict.remarks.extend(remark);
                }
            }
            Err(violation) => examined.verdict.violations.push(violation),
        }
    }
    examined.compared(claims)
}

/// Names of the figures of an accepted plan for which the checker knows only a range.
pub fn claimed(
    scenario: &TrainingScenario,
    result: &TrainingResult,
    claims: &Claims<'_>,
) -> Vec<&'static str> {
    let figures = claims.robust.and_then(|text| robust::figures(scenario, text, result, claims).ok());
    let open = figures.into_iter().flatten().filter_map(|(figure, remark)| remark.map(|_| figure.name));
    open.collect()
}

/// Checks a plan for a job: derives pods, links, tasks and the full graph and compares the plan with them.
pub fn check_job(job: &Job, result: &TrainingResult, claims: &Claims<'_>, depth: Depth) -> Verdict {
    examine_job(job, result, claims, depth).compared(claims)
}

/// Checks a plan for an explicit instance.
pub fn check_instance(
    instance: &Instance,
    result: &TrainingResult,
    claims: &Claims<'_>,
    depth: Depth,
) -> Verdict {
    examine_instance(instance, result, claims, depth).compared(claims)
}

fn examine_job(job: &Job, result: &TrainingResult, claims: &Claims<'_>, depth: Depth) -> Examined {
    let mut found = Findings::default();
    match job::case(job, &mut found) {
        Some(case) => examine(&case, result, claims, depth, found),
        None => Examined::refused(found),
    }
}

fn examine_instance(
    instance: &Instance,
    result: &TrainingResult,
    claims: &Claims<'_>,
    depth: Depth,
) -> Examined {
    let mut found = Findings::default();
    sanity::instance(instance, &mut found);
    if !found.is_empty() {
        return Examined::refused(found);
    }
    match Case::from_instance(instance) {
        Ok(case) => examine(&case, result, claims, depth, found),
        Err(cycle) => {
            let ids: Vec<String> = cycle.iter().map(ToString::to_string).collect();
            found.add(code::SCENARIO, format!("tasks {} wait for each other in a cycle", ids.join(", ")));
            Examined::refused(found)
        }
    }
}

fn examine(
    case: &Case<'_>,
    result: &TrainingResult,
    claims: &Claims<'_>,
    depth: Depth,
    mut found: Findings,
) -> Examined {
    sanity::instance(&case.net, &mut found);
    if !result.jobs.is_empty() {
        found.add(
            code::JOBS,
            format!("the plan lists {} jobs, but the scenario has one job", result.jobs.len()),
        );
    }
    if found.is_empty() {
        finite(result, claims, &mut found);
    }
    if !found.is_empty() {
        return Examined::refused(found);
    }
    let slack = Slack::of(result, claims);
    let mut figures = Vec::new();
    let (mut circuits, mut carrying) = (None, None);
    if let Some(moving) = &result.phases {
        carrying = phases::Course::of(case, moving, result, claims, &mut found).map(Carrying::Moving);
        if carrying.is_some() {
            phases::ports(case, moving, result, &mut figures, &mut found);
        }
        if result.rate_control == RateControl::Fair {
            found
                .add(code::PHASES, "circuits that change within the iteration need the rate control 'joint'");
        }
    } else {
        circuits = circuits::topology(case, result, &mut found);
    }
    if let Some(circuits) = &circuits {
        circuits::ports(case, circuits, result, &mut figures, &mut found);
        carrying = Some(Carrying::Steady(circuits));
    }
    let nics = nics::nic_groups(case);
    let schedules = schedule::tasks(case, result, &mut found);
    let mut end_s = None;
    if let Some(schedules) = &schedules {
        for (task, schedule) in schedules.iter().enumerate() {
            schedule::task(case, task, schedule, slack, &mut found);
        }
        end_s = Some(timing::precedence(case, schedules, claims, slack, &mut found));
        if let (Some(end_s), true) = (end_s, result.phases.is_some()) {
            phases::within_period(end_s, claims, slack, &mut found);
        }
        if let Some(carrying) = &carrying {
            capacity::links(case, carrying, schedules, slack, &mut found);
        }
        if let Some(circuits) = &circuits
            && result.rate_control == RateControl::Fair
        {
            timing::fair(case, &nics, circuits, schedules, claims, slack, &mut found);
        }
        capacity::nics(case, &nics, schedules, slack, &mut found);
    }
    figures::ideal(case, &nics, result, end_s, slack, &mut figures, &mut found);
    let mut remarks = Vec::new();
    let ask = exact::Ask { case, nics: &nics, rates: result.rate_control, depth };
    let (bound, verified) = exact::bound(&ask, claims, end_s, &mut found, &mut remarks);
    Examined {
        verdict: Verdict { violations: found.finish(), bound, verified, wider: None, remarks },
        figures,
    }
}

/// Checks that every number of the plan is finite, except the times of its events, which [`phases`] checks.
fn finite(result: &TrainingResult, claims: &Claims<'_>, found: &mut Findings) {
    let mut number = |name: &str, value: f64| {
        if !value.is_finite() {
            found.add(code::SCHEMA, format!("'{name}' is {value}, but must be a finite number"));
        }
    };
    number("objective.value", claims.makespan_s);
    number("objective.bound", claims.bound_s.unwrap_or(0.0));
    number("ideal_makespan_s", result.ideal_makespan_s);
    number("nct", result.nct.unwrap_or(0.0));
    for (name, value) in claims.metrics.into_iter().flatten() {
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
