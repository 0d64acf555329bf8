//! Check that shared links and NICs are never loaded beyond their capacity.

use super::case::Case;
use super::nics::NicGroup;
use super::phases::Course;
use super::{CHECK_RELATIVE, Findings, Slack, code};
use crate::plan::TaskSchedule;
use lightbay_core::problem::counted;

/// A stretch of constant rate on a resource.
struct Piece {
    start_s: f64,
    end_s: f64,
    rate: f64,
    task: usize,
}

/// The interval with the largest overload of a resource.
struct Overload {
    start_s: f64,
    end_s: f64,
    rate: f64,
    capacity: f64,
    tasks: Vec<usize>,
}

/// Number of circuits that carry traffic on every link.
pub(super) enum Carrying<'a> {
    /// Static circuits: one number for each link.
    Steady(&'a [u32]),
    /// Circuits that change within the iteration.
    Moving(Course<'a>),
}

impl Carrying<'_> {
    fn at(&self, link: usize, time_s: f64) -> u32 {
        match self {
            Self::Steady(circuits) => circuits[link],
            Self::Moving(course) => course.carried(link, time_s),
        }
    }

    fn changes_s(&self) -> &[f64] {
        match self {
            Self::Steady(_) => &[],
            Self::Moving(course) => &course.changes_s,
        }
    }
}

/// Checks every directed link against its circuits.
pub(super) fn links(
    case: &Case<'_>,
    carrying: &Carrying<'_>,
    schedules: &[&TaskSchedule],
    slack: Slack,
    found: &mut Findings,
) {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); 2 * case.net.links.len()];
    for (task, directed) in case.directed_links().into_iter().enumerate() {
        users[directed].push(task);
    }
    for (directed, users) in users.iter().enumerate() {
        let link = directed / 2;
        let capacity = |time_s: f64| f64::from(carrying.at(link, time_s)) * case.nic_rate();
        let pieces: Vec<Piece> = users.iter().flat_map(|task| pieces(*task, schedules[*task], 1.0)).collect();
        if let Some(worst) = overload(&pieces, carrying.changes_s(), capacity, slack) {
            let pods = &case.net.links[link];
            let (from, to) =
                if directed % 2 == 0 { (pods.pod_a, pods.pod_b) } else { (pods.pod_b, pods.pod_a) };
            found.add(
                code::CIRCUIT,
                format!(
                    "link {link} from {} to {} carries {:.3} Gb/s from {:.9} s to {:.9} s, but its {} can carry {:.3} Gb/s ({})",
                    case.pod_label(from.index()),
                    case.pod_label(to.index()),
                    worst.rate / 1.25e8,
                    worst.start_s,
                    worst.end_s,
                    counted(carrying.at(link, f64::midpoint(worst.start_s, worst.end_s)).into(), "circuit", "circuits"),
                    worst.capacity / 1.25e8,
                    names(case, &worst.tasks)
                ),
            );
        }
    }
}

/// Checks every NIC that more than one flow may use.
pub(super) fn nics(
    case: &Case<'_>,
    groups: &[NicGroup],
    schedules: &[&TaskSchedule],
    slack: Slack,
    found: &mut Findings,
) {
    let capacity = case.nic_rate();
    for group in groups {
        let pieces: Vec<Piece> = group
            .members
            .iter()
            .flat_map(|(task, flows)| {
                let share = f64::from(*flows) / f64::from(case.net.tasks[*task].flows);
                pieces(*task, schedules[*task], share)
            })
            .collect();
        if let Some(worst) = overload(&pieces, &[], |_| capacity, slack) {
            let (code, verb) =
                if group.sends { (code::NIC_OUT, "sends") } else { (code::NIC_IN, "receives") };
            found.add(
                code,
                format!(
                    "GPU {} {verb} {:.3} Gb/s from {:.9} s to {:.9} s, but its NIC can carry {:.3} Gb/s ({})",
                    group.gpu,
                    worst.rate / 1.25e8,
                    worst.start_s,
                    worst.end_s,
                    case.net.nic_bandwidth_gbps,
                    names(case, &worst.tasks)
                ),
            );
        }
    }
}

/// Returns the segments of a task, with their rates multiplied by `share`.
fn pieces(task: usize, schedule: &TaskSchedule, share: f64) -> impl Iterator<Item = Piece> + '_ {
    schedule
        .segments
        .iter()
        .filter(|segment| segment.end_s > segment.start_s && segment.volume_bytes > 0.0)
        .map(move |segment| Piece {
            start_s: segment.start_s,
            end_s: segment.end_s,
            rate: share * segment.volume_bytes / (segment.end_s - segment.start_s),
            task,
        })
}

/// The interval in which the rates exceed `capacity` most, if they exceed it at all. The capacity changes at
/// `changes_s` only.
fn overload(
    pieces: &[Piece],
    changes_s: &[f64],
    capacity: impl Fn(f64) -> f64,
    slack: Slack,
) -> Option<Overload> {
    let mut bounds: Vec<f64> = pieces.iter().flat_map(|piece| [piece.start_s, piece.end_s]).collect();
    bounds.extend(changes_s);
    bounds.sort_by(f64::total_cmp);
    bounds.dedup_by(|later, kept| *later - *kept <= slack.time_s);
    // Each cluster of nearly equal times is represented by its earliest time, so a time belongs to the last
    // representative at or before this time.
    let interval = |time_s: f64| bounds.partition_point(|bound| *bound <= time_s).saturating_sub(1);
    let mut change = vec![0.0; bounds.len()];
    for piece in pieces {
        change[interval(piece.start_s)] += piece.rate;
        change[interval(piece.end_s)] -= piece.rate;
    }
    // Rounding error of adding and subtracting rates.
    let rounding = 8.0 * f64::EPSILON * pieces.iter().map(|piece| piece.rate).sum::<f64>();
    let mut rate = 0.0;
    let mut worst: Option<(usize, f64, f64)> = None;
    for (index, length_s) in bounds.windows(2).map(|pair| pair[1] - pair[0]).enumerate() {
        rate += change[index];
        let capacity = capacity(bounds[index] + 0.5 * length_s);
        let over = rate > capacity * (1.0 + CHECK_RELATIVE + slack.time_s / length_s) && rate > rounding;
        if over && worst.is_none_or(|(_, highest, known)| rate - capacity > highest - known) {
            worst = Some((index, rate, capacity));
        }
    }
    worst.map(|(index, rate, capacity)| {
        let (start_s, end_s) = (bounds[index], bounds[index + 1]);
        let middle_s = f64::midpoint(start_s, end_s);
        let active = |piece: &&Piece| piece.start_s < middle_s && middle_s < piece.end_s;
        let mut tasks: Vec<usize> = pieces.iter().filter(active).map(|piece| piece.task).collect();
        tasks.sort_unstable();
        tasks.dedup();
        Overload { start_s, end_s, rate, capacity, tasks }
    })
}

/// Names the first few tasks in words.
fn names(case: &Case<'_>, tasks: &[usize]) -> String {
    let shown: Vec<String> = tasks.iter().take(4).map(|task| case.task_label(*task)).collect();
    let more = tasks.len().saturating_sub(4);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
