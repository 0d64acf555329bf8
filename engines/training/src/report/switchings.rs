//! Circuits that change within an iteration: times, links, and the transfers before and after each change.

use super::link_name;
use crate::analysis::Setting;
use crate::plan::{PhaseEvent, Phases, TrainingResult};
use crate::scenario::instance::Instance;
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Unavailable, Unit};

mod picture;

/// Use of a link: task and time.
type Use = Option<(usize, f64)>;

pub(super) fn section(
    instance: &Instance,
    setting: &Setting,
    result: &TrainingResult,
) -> Result<Section, Unavailable> {
    let (Some(phases), Some(group)) = (&result.phases, instance.reconfiguration) else {
        return Err(Unavailable::absent(
            "the circuits of the plan do not change within an iteration",
            "set `switching_delay_s` or `switch` and plan with `delta-phases` to let them change",
        ));
    };
    let columns = vec![
        Column::counts("event", "event"),
        Column::numbers("time_s", "at", Unit::SECONDS),
        Column::words("pods", "pods"),
        Column::counts("before", "before"),
        Column::counts("after", "after"),
        Column::words("last_use", "last use"),
        Column::numbers("last_use_s", "ended", Unit::SECONDS),
        Column::words("first_use", "first use"),
        Column::numbers("first_use_s", "starts", Unit::SECONDS),
        Column::numbers("slack_s", "could move by", Unit::MILLISECONDS),
    ];
    // The period: an iteration ends with the last transfer and its tail, and the next iteration begins at once.
    let ends =
        result.tasks.iter().zip(&setting.evaluator.network.tail).map(|(task, tail)| task.finish_s + tail);
    let period_s = ends.fold(0.0, f64::max);
    let mut table = Table::new(["change", "changes"], columns);
    let mut dark_s = 0.0;
    for (index, event) in phases.events.iter().enumerate() {
        let before = previous(phases, index);
        let after = if phases.events.len() > 1 { phases.events[0].time_s + period_s } else { f64::INFINITY };
        let until_s = phases.events.get(index + 1).map_or(after, |next| next.time_s);
        for (link, (old, new)) in before.circuits.iter().zip(&event.circuits).enumerate() {
            if old == new {
                continue;
            }
            let raised = new.saturating_sub(*old);
            dark_s += setting.evaluator.network.budget.cost(link) as f64 * f64::from(raised) * group.delay_s;
            let (last, first) = uses(setting, result, link, (event.time_s, until_s, period_s));
            // Slack: a removed circuit is free from the end of its last use; the dark time of an added circuit must be
            // over at the start of its first use.
            let slack_s = if raised > 0 {
                first.map(|(_, start_s)| start_s - event.time_s - group.delay_s)
            } else {
                last.map(|(_, end_s)| event.time_s - end_s)
            };
            let name = |found: Use| {
                found
                    .and_then(|(task, _)| instance.tasks.get(task))
                    .map_or_else(Cell::none, |task| Cell::new(task.name.as_str()))
            };
            let time = |found: Use| found.map_or_else(Cell::none, |(_, time_s)| Cell::new(time_s));
            let row = table.row(vec![
                Cell::new(index + 1),
                Cell::new(event.time_s),
                Cell::new(link_name(instance, link)),
                Cell::new(*old),
                Cell::new(*new),
                name(last),
                time(last),
                name(first),
                time(first),
                slack_s.map_or_else(Cell::none, |slack_s| Cell::new(slack_s.max(0.0))),
            ]);
            row.item = Some(link as u32);
        }
    }
    let ports: u64 = phases.peak_ports(instance).iter().sum();
    let beside = counted(phases.switchings.into(), "reconfiguration", "reconfigurations");
    let text = format!(
        "{beside} of {} s in an iteration, not counting the return; ports are dark for {dark_s:.6} port-seconds. \
         The peaks of the pods add up to {ports} ports: the other ports save hardware only if they are not installed, or are lent to another job while free.",
        group.delay_s
    );
    let answer = Phrase::new().answer(ports.to_string()).muted(" ports (peak numbers of the pods added up)");
    let section = Section::empty("Reconfigurations")
        .answer(answer)
        .legend(
            "lanes: circuits of each pair of pods; yellow: some are dark, red: all are dark; < > change the dark time",
        )
        .block(
            "circuits",
            "Circuits over the iteration",
            picture::lanes(instance, phases, group.delay_s, period_s),
        )
        .block("ports", "Ports over the iteration", picture::ports(instance, phases, period_s))
        .block("changes", "Changes", table)
        .remark(text)
        .remark("Uses before 0 s are in the previous iteration, uses after the period in the next iteration.");
    Ok(if group.delay_s < BRING_UP_S {
        section.remark(
            "The dark time does not include the bring-up of transceivers and NICs, which takes \
                 seconds.",
        )
    } else {
        section
    })
}

/// Bring-up time of transceivers and NICs after the light is back (`MFABRIC`); shorter dark times do not include it.
const BRING_UP_S: f64 = 1.0;

/// The event before another one; before the first event of an iteration it is the last event of the previous iteration.
fn previous(phases: &Phases, index: usize) -> &PhaseEvent {
    let count = phases.events.len();
    &phases.events[(index + count - 1) % count]
}

/// The last transfer on a link that ends by `time_s`, and the first transfer that starts to send between `time_s` and
/// `until_s`. Transfers of the previous and the next iteration count too.
fn uses(
    setting: &Setting,
    result: &TrainingResult,
    link: usize,
    (time_s, until_s, period_s): (f64, f64, f64),
) -> (Use, Use) {
    let network = &setting.evaluator.network;
    let (mut last, mut first): (Use, Use) = (None, None);
    let rounding_s = 1e-9 * time_s;
    for &task in network.carried[2 * link].iter().chain(&network.carried[2 * link + 1]) {
        let task = task as usize;
        for segment in result.tasks[task].segments.iter().filter(|segment| segment.volume_bytes > 0.0) {
            for shift_s in [-period_s, 0.0, period_s] {
                let (start_s, end_s) = (segment.start_s + shift_s, segment.end_s + shift_s);
                if end_s <= time_s + rounding_s && last.is_none_or(|(_, known)| end_s > known) {
                    last = Some((task, end_s));
                }
                let after = start_s >= time_s - rounding_s && start_s < until_s;
                if after && first.is_none_or(|(_, known)| start_s < known) {
                    first = Some((task, start_s));
                }
            }
        }
    }
    (last, first)
}
