//! The reconfigurations of an iteration one by one, and the plan compared with static circuits.

use super::LinkChange;
use crate::analysis::Setting;
use crate::plan::Phases;
use crate::report::pod_name;
use crate::scenario::instance::Instance;
use crate::search::circuits::Circuits;
use lightbay_core::report::{Cell, Column, Table, Tone, Unit};

/// Port-seconds that are dark after a change.
pub(super) fn dark_s(setting: &Setting, change: &LinkChange, delay_s: f64) -> f64 {
    let raised = change.after.saturating_sub(change.before);
    setting.evaluator.network.budget.cost(change.link) as f64 * f64::from(raised) * delay_s
}

/// One row per event: which circuits change, and by how much the event could be earlier or later without a longer
/// iteration.
pub(super) fn table(
    instance: &Instance,
    setting: &Setting,
    phases: &Phases,
    changes: &[LinkChange],
    (delay_s, period_s): (f64, f64),
) -> Table {
    let columns = vec![
        Column::counts("event", "event"),
        Column::numbers("time_s", "at", Unit::SECONDS),
        Column::numbers("earlier_s", "earlier", Unit::MILLISECONDS),
        Column::numbers("later_s", "later", Unit::MILLISECONDS),
        Column::counts("removed", "removed"),
        Column::counts("added", "added"),
        Column::numbers("dark_port_s", "dark port-seconds", Unit::NUMBER.with_decimals(3)).priority(1),
        Column::words("by_pod", "removed and added, per pod"),
    ];
    let mut table = Table::new(["reconfiguration", "reconfigurations"], columns);
    for (index, event) in phases.events.iter().enumerate() {
        let own: Vec<&LinkChange> = changes.iter().filter(|change| change.event == index).collect();
        let sum = |of: &dyn Fn(&LinkChange) -> u32| own.iter().map(|change| of(change)).sum::<u32>();
        let slack = |adds: bool| {
            let slacks =
                own.iter().filter(|change| change.adds() == adds).filter_map(|change| change.slack_s);
            slacks.fold(f64::INFINITY, f64::min)
        };
        let (before_s, after_s) = gaps(phases, index, period_s);
        table.row(vec![
            Cell::new(index + 1),
            Cell::new(event.time_s),
            Cell::new(slack(false).min(before_s)),
            Cell::new(slack(true).min(after_s)),
            Cell::new(sum(&|change| change.before.saturating_sub(change.after))),
            Cell::new(sum(&|change| change.after.saturating_sub(change.before))),
            Cell::new(own.iter().map(|change| dark_s(setting, change, delay_s)).sum::<f64>()),
            Cell::new(by_pod(instance, &own)),
        ]);
    }
    table
}

/// Times from the previous event to this event, and from this event to the next event.
fn gaps(phases: &Phases, index: usize, period_s: f64) -> (f64, f64) {
    let (count, own_s) = (phases.events.len(), phases.events[index].time_s);
    let gap = |from_s: f64, to_s: f64| if to_s > from_s { to_s - from_s } else { to_s - from_s + period_s };
    let other = |at: usize| phases.events[at % count].time_s;
    (gap(other(index + count - 1), own_s), gap(own_s, other(index + 1)))
}

/// Circuits that are removed or added in each pod with ports.
fn by_pod(instance: &Instance, own: &[&LinkChange]) -> String {
    let moved = |pod: usize| -> u32 {
        let of_pod = own.iter().filter(|change| {
            let link = &instance.links[change.link];
            link.pod_a.index() == pod || link.pod_b.index() == pod
        });
        of_pod.map(|change| change.before.abs_diff(change.after)).sum()
    };
    let pods = (0..instance.pods.len()).filter(|pod| !instance.pods[*pod].mirror);
    let words = pods.map(|pod| (pod, moved(pod))).filter(|(_, moved)| *moved > 0);
    let words: Vec<String> =
        words.map(|(pod, moved)| format!("{} {moved}", pod_name(instance, pod))).collect();
    words.join(", ")
}

/// The plan, the best static circuits and the ideal network. `plan` is the period and the ports of the plan.
pub(super) fn baseline(setting: &Setting, plan: (f64, u64), fixed: Option<&Circuits>) -> Table {
    let columns = vec![
        Column::words("circuits", "circuits"),
        Column::numbers("makespan_s", "iteration", Unit::SECONDS),
        Column::numbers("nct", "NCT", Unit::RATIO.with_decimals(4)),
        Column::counts("ports", "ports"),
    ];
    let mut table = Table::new(["plan", "plans"], columns);
    let ideal = &setting.evaluator.ideal;
    let mut row = |name: &str, makespan_s: f64, ports: Option<u64>, tone: Tone| {
        table.row(vec![
            Cell::new(name),
            Cell::new(makespan_s).tone(tone),
            ideal.nct(makespan_s).map_or_else(Cell::none, Cell::new),
            ports.map_or_else(Cell::none, Cell::new),
        ]);
    };
    row("this plan", plan.0, Some(plan.1), Tone::Answer);
    if let Some(fixed) = fixed {
        let budget = &setting.evaluator.network.budget;
        let ports =
            fixed.x.iter().enumerate().map(|(link, count)| budget.cost(link) * u64::from(*count)).sum();
        row("best static circuits", fixed.makespan, Some(ports), Tone::Text);
    }
    row("ideal network", ideal.makespan(), None, Tone::Muted);
    table
}
