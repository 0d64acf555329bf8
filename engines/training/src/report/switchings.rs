//! Circuits that change within an iteration: times, links, and the transfers that decide each time.

use super::delays::static_optimum;
use super::limited::Limited;
use super::link_name;
use crate::analysis::Setting;
use crate::plan::{PhaseEvent, Phases, TrainingResult};
use crate::scenario::instance::Instance;
use crate::scenario::reconfiguration::delay_text;
use lightbay_core::problem::counted;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Tone, Unavailable, Unit};
use needs::{Need, Needs};

mod moments;
mod needs;
mod picture;

/// Bring-up time of transceivers and NICs after the light is back (`MFABRIC`); shorter dark times do not include it.
const BRING_UP_S: f64 = 1.0;

/// A link whose circuits change at an event.
struct LinkChange {
    /// Index of the event.
    event: usize,
    link: usize,
    before: u32,
    after: u32,
    /// The transfer that decides the time: the last transfer that needs the removed circuits, or the first transfer
    /// that needs the added circuits. `None` if no transfer needs them.
    need: Option<Need>,
    /// Time by which the change could be earlier (if it removes circuits) or later (if it adds circuits), seconds.
    slack_s: Option<f64>,
}

impl LinkChange {
    const fn adds(&self) -> bool {
        self.after > self.before
    }
}

/// The section. `limited` limits the search for the best static circuits, with which the plan is compared.
///
/// # Errors
/// A plan with static circuits.
pub(super) fn section(
    instance: &Instance,
    setting: &Setting,
    result: &TrainingResult,
    mut limited: Limited,
) -> Result<Section, Unavailable> {
    let (Some(phases), Some(group)) = (&result.phases, instance.reconfiguration) else {
        return Err(Unavailable::absent(
            "the circuits of the plan do not change within an iteration",
            "choose `delta-phases`, then set `switching_delay_s` or `switch` and plan again",
        ));
    };
    // The period: an iteration ends with the last transfer and its tail, and the next iteration begins at once.
    let ends =
        result.tasks.iter().zip(&setting.evaluator.network.tail).map(|(task, tail)| task.finish_s + tail);
    let period_s = ends.fold(0.0, f64::max);
    let changes = changes(instance, setting, result, phases, (group.delay_s, period_s));
    let fixed = static_optimum(&setting.within_ports(), &mut limited).ok();
    let ports: u64 = phases.peak_ports(instance).iter().sum();
    let mut answer = Phrase::new();
    if let Some(fixed) = &fixed {
        let seconds = |value| number(value, Unit::SECONDS);
        answer = answer
            .answer(format!("{} s", seconds(period_s)))
            .muted(format!(", static {} s, ", seconds(fixed.makespan)));
    }
    let dark_s: f64 = changes.iter().map(|change| moments::dark_s(setting, change, group.delay_s)).sum();
    let text = format!(
        "{} of {} in an iteration, not counting the return to the initial circuits; ports are dark for {dark_s:.6} \
         port-seconds. The largest numbers of ports that the pods use at a time add up to {ports}: the remaining ports \
         are a saving only if they are not installed, or are lent to another job while free.",
        counted(phases.switchings.into(), "reconfiguration", "reconfigurations"),
        delay_text(group.delay_s),
    );
    let lanes = picture::lanes(instance, phases, group.delay_s, period_s);
    let mut tail = lanes.clone();
    tail.begin_s = picture::tail_s(phases, period_s);
    let section = Section::empty("Reconfigurations")
        .answer(answer.answer(ports.to_string()).muted(" ports"))
        .legend(
            Phrase::new()
                .muted("height and digit: circuits of each pair of pods; ")
                .with("* some are dark", Tone::Warn)
                .muted(", ")
                .with("! all are dark", Tone::Bad)
                .muted("; < > change the dark time"),
        )
        .on_screens("tail", "", tail)
        .block("circuits", "Circuits over the iteration", lanes)
        .block("ports", "Ports over the iteration", picture::ports(instance, phases, period_s))
        .block(
            "events",
            "Reconfigurations",
            moments::table(instance, setting, phases, &changes, (group.delay_s, period_s)),
        )
        .block("baseline", "Comparison", moments::baseline(setting, (period_s, ports), fixed.as_ref()))
        .only_in(&["events"])
        .block("changes", "Changes", table(instance, phases, &changes))
        .remark(text)
        .remark(
            "Times before 0 s are in the previous iteration, times after the period in the next iteration.",
        );
    Ok(if group.delay_s < BRING_UP_S {
        section.remark(
            "The dark time does not include the bring-up of transceivers and NICs, which takes \
                 seconds.",
        )
    } else {
        section
    })
}

/// Every change of a link, by event.
fn changes(
    instance: &Instance,
    setting: &Setting,
    result: &TrainingResult,
    phases: &Phases,
    (delay_s, period_s): (f64, f64),
) -> Vec<LinkChange> {
    let mut changes = Vec::new();
    for link in 0..instance.links.len() {
        let needs = Needs::of(instance, setting, result, link, period_s);
        for (index, event) in phases.events.iter().enumerate() {
            let (before, after) = (previous(phases, index).circuits[link], event.circuits[link]);
            if before == after {
                continue;
            }
            let added = after > before;
            let need = if added {
                needs.first_above(before, event.time_s)
            } else {
                needs.last_above(after, event.time_s)
            };
            let slack_s = need.map(|need| {
                let room_s =
                    if added { need.time_s - event.time_s - delay_s } else { event.time_s - need.time_s };
                room_s.max(0.0)
            });
            changes.push(LinkChange { event: index, link, before, after, need, slack_s });
        }
    }
    changes.sort_by_key(|change| (change.event, change.link));
    changes
}

/// The event before another event; for the first event of an iteration, this is the last event of the previous
/// iteration.
fn previous(phases: &Phases, index: usize) -> &PhaseEvent {
    let count = phases.events.len();
    &phases.events[(index + count - 1) % count]
}

/// One row per change.
fn table(instance: &Instance, phases: &Phases, changes: &[LinkChange]) -> Table {
    let columns = vec![
        Column::counts("event", "event"),
        Column::numbers("time_s", "at", Unit::SECONDS),
        Column::words("pods", "pods"),
        Column::counts("before", "from"),
        Column::counts("after", "to"),
        Column::numbers("slack_s", "slack", Unit::MILLISECONDS),
        Column::words("transfer", "because of"),
        Column::numbers("transfer_s", "its time", Unit::SECONDS),
    ];
    let mut table = Table::new(["change", "changes"], columns);
    for (index, change) in changes.iter().enumerate() {
        let time_s = phases.events[change.event].time_s;
        let name = change.need.and_then(|need| instance.tasks.get(need.task)).map(|task| task.name.as_str());
        let pods = link_name(instance, change.link);
        let row = table.row(vec![
            Cell::new(change.event + 1),
            Cell::new(time_s),
            Cell::new(pods.as_str()),
            Cell::new(change.before),
            Cell::new(change.after),
            change.slack_s.map_or_else(Cell::none, Cell::new),
            name.map_or_else(Cell::none, Cell::new),
            change.need.map_or_else(Cell::none, |need| Cell::new(need.time_s)),
        ]);
        // The lane of a link selects the first change of the link.
        let is_first = changes[..index].iter().all(|earlier| earlier.link != change.link);
        row.item = is_first.then_some(change.link as u32);
        row.sentence = sentence(change, name, &pods);
    }
    table
}

/// The reason for the time of a change.
fn sentence(change: &LinkChange, name: Option<&str>, pods: &str) -> Phrase {
    let phrase = Phrase::new().answer(format!("{pods} {} to {}", change.before, change.after)).text("  ");
    let (Some(name), Some(need), Some(slack_s)) = (name, change.need, change.slack_s) else {
        return phrase.muted("no transfer needs the difference");
    };
    let (verb, way) =
        if change.adds() { ("needs more from", "later") } else { ("needs more until", "earlier") };
    phrase.text(format!(
        "{name} {verb} {} s: at most {} ms {way}",
        number(need.time_s, Unit::SECONDS),
        number(slack_s, Unit::MILLISECONDS)
    ))
}
