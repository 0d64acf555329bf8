//! Check of the starts of tasks, of the end of the iteration, and of fair plans against max-min fair rates.

use super::case::Case;
use super::nics::NicGroup;
use super::replay::replay;
use super::walk::{Earliest, walk};
use super::{Claims, Findings, Slack, code};
use crate::plan::TaskSchedule;

/// Walks the graph with the planned ends of all transfers. Returns the end of the iteration.
pub(super) fn precedence(
    case: &Case<'_>,
    schedules: &[&TaskSchedule],
    claims: &Claims<'_>,
    slack: Slack,
    found: &mut Findings,
) -> f64 {
    let end_s = walk(&case.dag, |task, earliest| {
        let start_s = schedules[task].start_s;
        if start_s < earliest.rigid_s - slack.time_s {
            found.add(
                code::RELEASE,
                format!(
                    "{} starts at {start_s:.9} s, but the work before it lasts until {:.9} s on any network",
                    case.task_label(task),
                    earliest.rigid_s
                ),
            );
        } else if start_s < earliest.at_s - slack.time_s {
            found.add(code::PRECEDENCE, too_early(case, schedules, task, earliest));
        }
        schedules[task].finish_s
    });
    if !slack.same_end(claims.makespan_s, end_s) {
        found.add(
            code::MAKESPAN,
            format!(
                "the makespan is given as {:.9} s, but the schedule ends at {end_s:.9} s",
                claims.makespan_s
            ),
        );
    }
    end_s
}

fn too_early(case: &Case<'_>, schedules: &[&TaskSchedule], task: usize, earliest: Earliest) -> String {
    let start = format!(
        "{} starts at {:.9} s, but its predecessors allow a start at {:.9} s",
        case.task_label(task),
        schedules[task].start_s,
        earliest.at_s
    );
    match earliest.from {
        Some(pred) => {
            let finish_s = schedules[pred].finish_s;
            format!(
                "{start} ({} finishes at {finish_s:.9} s, and {:.9} s of work lie between)",
                case.task_label(pred),
                earliest.at_s - finish_s
            )
        }
        None => start,
    }
}

/// Replays a fair plan: a simulation of its circuits must give the same times.
pub(super) fn fair(
    case: &Case<'_>,
    nics: &[NicGroup],
    circuits: &[u32],
    schedules: &[&TaskSchedule],
    claims: &Claims<'_>,
    slack: Slack,
    found: &mut Findings,
) {
    let Some(run) = replay(case, nics, Some(circuits)) else {
        found.add(code::RESIM, "the plan cannot be replayed, because times exceed the range of numbers");
        return;
    };
    if !slack.same_end(claims.makespan_s, run.makespan_s) {
        found.add(
            code::RESIM,
            format!(
                "the makespan is given as {:.9} s, but max-min fair rates on the same circuits give {:.9} s",
                claims.makespan_s, run.makespan_s
            ),
        );
    }
    let differs = |task: &usize| {
        !slack.same_end(schedules[*task].start_s, run.start_s[*task])
            || !slack.same_end(schedules[*task].finish_s, run.finish_s[*task])
    };
    let others: Vec<usize> = (0..schedules.len()).filter(differs).collect();
    // One difference shifts everything after it, so only the earliest one is reported.
    let first = others.iter().copied().min_by(|a, b| run.start_s[*a].total_cmp(&run.start_s[*b]));
    if let Some(task) = first {
        found.add(
            code::RESIM,
            format!(
                "{} runs from {:.9} s to {:.9} s, but at max-min fair rates it runs from {:.9} s to {:.9} s ({} of {} tasks differ)",
                case.task_label(task),
                schedules[task].start_s,
                schedules[task].finish_s,
                run.start_s[task],
                run.finish_s[task],
                others.len(),
                schedules.len()
            ),
        );
    }
}
