//! Check of each task by itself: it is present, its segments are contiguous, and it sends its volume.

use super::case::Case;
use super::{CHECK_RELATIVE, Findings, Slack, code};
use crate::plan::{TaskSchedule, TrainingResult};
use lightbay_core::problem::counted;

/// The schedule of every task if the list is complete and in order.
pub(super) fn tasks<'a>(
    case: &Case<'_>,
    result: &'a TrainingResult,
    found: &mut Findings,
) -> Option<Vec<&'a TaskSchedule>> {
    let expected = case.net.tasks.len();
    let mut seen: Vec<Option<&TaskSchedule>> = vec![None; expected];
    let before = found.count();
    for (position, schedule) in result.tasks.iter().enumerate() {
        let task = schedule.task.index();
        match seen.get_mut(task) {
            None => found.add(
                code::TASK,
                format!("tasks[{position}] is task {task}, but the scenario has {expected} tasks"),
            ),
            Some(Some(_)) => {
                found.add(code::TASK, format!("{} is scheduled twice", case.task_label(task)));
            }
            Some(free) => *free = Some(schedule),
        }
    }
    for (task, schedule) in seen.iter().enumerate() {
        if schedule.is_none() {
            found.add(code::TASK, format!("{} is not scheduled", case.task_label(task)));
        }
    }
    if before == found.count() {
        let misplaced =
            result.tasks.iter().enumerate().find(|(position, task)| task.task.index() != *position);
        if let Some((position, schedule)) = misplaced {
            found.add(
                code::TASK,
                format!(
                    "tasks[{position}] is {}, but the list must be in task order",
                    case.task_label(schedule.task.index())
                ),
            );
        }
    }
    seen.into_iter().collect()
}

/// Checks order, segments, maximum rate and volume of one task.
pub(super) fn task(
    case: &Case<'_>,
    task: usize,
    schedule: &TaskSchedule,
    slack: Slack,
    found: &mut Findings,
) {
    let label = case.task_label(task);
    let (start_s, finish_s) = (schedule.start_s, schedule.finish_s);
    if start_s < -slack.time_s {
        found.add(code::ORDER, format!("{label} starts at {start_s:.9} s, before the iteration"));
    }
    if finish_s < start_s {
        found.add(
            code::ORDER,
            format!("{label} finishes at {finish_s:.9} s, before its start at {start_s:.9} s"),
        );
    }
    segments(&label, schedule, slack, found);
    rates(case, task, &label, schedule, slack, found);
    let volume = case.net.tasks[task].volume_bytes;
    let sent: f64 = schedule.segments.iter().map(|segment| segment.volume_bytes).sum();
    if (sent - volume).abs() > CHECK_RELATIVE * volume {
        found.add(code::CONSERVATION, format!("{label} sends {sent} bytes, but its volume is {volume}"));
    }
}

/// Checks that segments are in ascending order, contiguous, and cover the task.
fn segments(label: &str, schedule: &TaskSchedule, slack: Slack, found: &mut Findings) {
    let segments = &schedule.segments;
    for (index, segment) in segments.iter().enumerate() {
        let (from_s, to_s) = (segment.start_s, segment.end_s);
        if to_s < from_s || (to_s == from_s && segment.volume_bytes != 0.0) {
            found.add(
                code::SEGMENTS,
                format!("{label}: segment {index} starts at {from_s:.9} s and ends at {to_s:.9} s, but must end after its start"),
            );
        }
        if segment.volume_bytes < 0.0 {
            found.add(
                code::SEGMENTS,
                format!(
                    "{label}: segment {index} has {} bytes, but must have 0 or more",
                    segment.volume_bytes
                ),
            );
        }
    }
    for (index, pair) in segments.windows(2).enumerate() {
        let (end_s, next_s) = (pair[0].end_s, pair[1].start_s);
        if next_s < end_s - slack.time_s {
            found.add(
                code::SEGMENTS,
                format!(
                    "{label}: segment {} starts at {next_s:.9} s, before segment {index} ends at {end_s:.9} s",
                    index + 1
                ),
            );
        } else if next_s > end_s + slack.time_s {
            found.add(
                code::CONTIGUITY,
                format!(
                    "{label}: nothing is planned from {end_s:.9} s to {next_s:.9} s; write idle time as a segment of 0 bytes"
                ),
            );
        }
    }
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
        found.add(code::SEGMENTS, format!("{label} has no segments"));
        return;
    };
    if !slack.same_time(first.start_s, schedule.start_s) {
        found.add(
            code::CONTIGUITY,
            format!(
                "{label} starts at {:.9} s, but its first segment starts at {:.9} s",
                schedule.start_s, first.start_s
            ),
        );
    }
    if !slack.same_time(last.end_s, schedule.finish_s) {
        found.add(
            code::CONTIGUITY,
            format!(
                "{label} finishes at {:.9} s, but its last segment ends at {:.9} s",
                schedule.finish_s, last.end_s
            ),
        );
    }
}

/// Checks that no segment is faster than all flows at full NIC rate.
fn rates(
    case: &Case<'_>,
    task: usize,
    label: &str,
    schedule: &TaskSchedule,
    slack: Slack,
    found: &mut Findings,
) {
    let cap = case.full_rate(task);
    for (index, segment) in schedule.segments.iter().enumerate() {
        let length_s = (segment.end_s - segment.start_s).max(0.0);
        if segment.volume_bytes > cap * (length_s * (1.0 + CHECK_RELATIVE) + slack.time_s) {
            found.add(
                code::FLOW_CAP,
                format!(
                    "{label}: segment {index} sends {} bytes in {length_s:.9} s, but its {} can send at most {} bytes",
                    segment.volume_bytes,
                    counted(case.net.tasks[task].flows.into(), "flow", "flows"),
                    cap * length_s
                ),
            );
            return;
        }
    }
}
