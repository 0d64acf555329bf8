//! Active flows on directed links, compared with their circuits, over time.

use super::task::{between, circuits};
use crate::analysis::{Analysis, Demand, DemandStep};
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, LoadAxis, LoadSpan, Phrase, Row, Section, Table, Tone, Unit};

/// Number of directed links that an overview shows.
const OVERVIEW: usize = 8;
/// Delays below this are rounding, seconds.
const ROUNDING_S: f64 = 5e-7;

/// Windows of time in which the demand can be shown.
pub const WINDOWS: &[&str] = &["whole iteration", "tail"];

pub(super) fn section(analysis: &Analysis) -> Section {
    let ways = ways(analysis);
    let demand = |way: &u32| &analysis.demand[*way as usize];
    let above = ways.iter().filter(|way| demand(way).above_s > 0.0).count();
    Section::new("Contention", table(analysis, &ways))
        .answer(Phrase::new().answer(format!("{above} of {} oversubscribed", ways.len())))
        .legend(
            Phrase::new()
                .muted("height: demand / circuits, digit: rounded up   ")
                .bad("short overload")
                .muted(" (mono: !)"),
        )
        .remark(
            "Oversubscribed: time in which more flows are active than there are circuits. Extra: time \
             that the transfers take beyond their minimum. Adds: what transfers of the critical path add to \
             the makespan here.",
        )
}

/// Directed links with tasks, sorted by the time that the links add to the makespan, then by the losses of their tasks.
pub fn ways(analysis: &Analysis) -> Vec<u32> {
    let carried = &analysis.setting.evaluator.network.carried;
    let is_used = |way: &u32| !carried[*way as usize].is_empty();
    let mut ways: Vec<u32> = (0..carried.len() as u32).filter(is_used).collect();
    // Values that differ only by rounding are ties.
    let rounded = |seconds: f64| (seconds * 1e9).round();
    ways.sort_by(|a, b| {
        let [of_a, of_b] = [a, b].map(|way| &analysis.demand[*way as usize]);
        rounded(of_b.costs_s)
            .total_cmp(&rounded(of_a.costs_s))
            .then(rounded(of_b.late_s).total_cmp(&rounded(of_a.late_s)))
            .then(a.cmp(b))
    });
    ways
}

fn table(analysis: &Analysis, ways: &[u32]) -> Table {
    let ms = |name: &str, label: &str| Column::numbers(name, label, Unit::MILLISECONDS.with_decimals(1));
    let columns = vec![
        Column::words("pods", "pods"),
        Column::counts("peak_flows", "peak"),
        Column::counts("circuits", "circ."),
        ms("oversubscribed_s", "oversub.").priority(3),
        ms("extra_s", "extra").priority(4),
        ms("adds_s", "adds"),
    ];
    let mut table = Table::new(["direction", "directions"], columns).overview(OVERVIEW);
    let end_s = analysis.makespan_s;
    let tail_s = analysis.events.get(analysis.tail_begins()).copied().unwrap_or(0.0);
    table.loads = Some(LoadAxis {
        name: "demand",
        windows: vec![(WINDOWS[0], 0.0, end_s), (WINDOWS[1], tail_s, end_s)],
    });
    for (place, way) in (0..).zip(ways) {
        table.push(row(analysis, *way).item(place));
    }
    table
}

fn row(analysis: &Analysis, way: u32) -> Row {
    let demand = &analysis.demand[way as usize];
    let adds = demand.costs_s > ROUNDING_S;
    // An overload off the critical path does not delay the iteration.
    let over = adds && demand.peak_flows > demand.circuits;
    let name = analysis.setting.instance.links.get(way as usize / 2).map_or_else(String::new, |link| {
        let ends = [link.pod_a.index(), link.pod_b.index()];
        let [from, to] = if way.is_multiple_of(2) { ends } else { [ends[1], ends[0]] };
        between(&analysis.setting.instance, from, to)
    });
    let mut row = Row::new(vec![
        Cell::new(name.clone()),
        Cell::new(demand.peak_flows).tone(if over { Tone::Bad } else { Tone::Text }),
        Cell::new(demand.circuits),
        Cell::new(demand.above_s).tone(Tone::Muted),
        Cell::new(demand.late_s).tone(Tone::Muted),
        Cell::new(demand.costs_s).tone(if adds { Tone::Bad } else { Tone::Muted }),
    ])
    .mark(if over { "!" } else { "" })
    .sentence(sentence(&name, demand));
    let share = f64::from(demand.circuits.max(1));
    let load =
        |step: &DemandStep| LoadSpan { start_s: step.from_s, end_s: step.to_s, share: step.flows / share };
    row.load = demand.steps.iter().filter(|step| step.flows > 0.0).map(load).collect();
    row
}

fn sentence(name: &str, demand: &Demand) -> Phrase {
    let ms = |seconds: f64| number(seconds, Unit::MILLISECONDS.with_decimals(1));
    let over = if demand.above_s > 0.0 {
        format!(", {} ms oversubscribed", ms(demand.above_s))
    } else {
        ", never oversubscribed".to_owned()
    };
    let phrase = Phrase::new()
        .answer(format!("> {name}"))
        .text(format!("  peak {} flows on {}", demand.peak_flows, circuits(demand.circuits)))
        .muted(over)
        .muted(format!("; {} ms extra transfer time", ms(demand.late_s)));
    if demand.costs_s > ROUNDING_S {
        phrase.muted(", adds ").bad(format!("{} ms", ms(demand.costs_s))).muted(" to makespan")
    } else {
        phrase.muted(", adds nothing to makespan")
    }
}
