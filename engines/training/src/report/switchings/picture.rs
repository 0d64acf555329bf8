//! Circuits over one iteration as lanes, one per pair of pods, and the ports of every pod over time.

use crate::plan::{PhaseEvent, Phases};
use crate::report::{link_name, pod_name};
use crate::scenario::instance::Instance;
use lightbay_core::problem::counted;
use lightbay_core::report::{Curve, Curves, Lane, Line, Point, Span, Spans, Tone, Unit};

/// Length of the time that is shown before the first reconfiguration, as a fraction of the time from the first
/// reconfiguration to the end of the iteration.
const BEFORE: f64 = 0.15;

/// Circuits of every link that has circuits: the circuits that carry, and the circuits that are dark after a
/// reconfiguration.
pub(super) fn lanes(instance: &Instance, phases: &Phases, delay_s: f64, period_s: f64) -> Spans {
    let most = phases.events.iter().flat_map(|event| &event.circuits).copied().max().unwrap_or(1).max(1);
    let lanes = (0..instance.links.len()).filter_map(|link| {
        let spans = lane(phases, link, most, delay_s, period_s);
        (!spans.is_empty()).then(|| Lane { name: link_name(instance, link), spans, ..Lane::default() })
    });
    Spans { lanes: lanes.collect(), end_s: period_s, ..Spans::default() }
}

/// Beginning of the part of the iteration in which circuits change: shortly before the first reconfiguration that is
/// not at the start, or 0 without such a reconfiguration. If the whole iteration were shown, dark times of milliseconds
/// would be narrower than a column.
pub(super) fn tail_s(phases: &Phases, period_s: f64) -> f64 {
    let inner = phases.events.iter().map(|event| event.time_s).find(|time_s| *time_s > 0.0);
    inner.map_or(0.0, |first_s| (first_s - BEFORE * (period_s - first_s)).max(0.0))
}

/// Intervals of a link; `most` is the maximum number of circuits of a link, drawn at full height.
fn lane(phases: &Phases, link: usize, most: u32, delay_s: f64, period_s: f64) -> Vec<Span> {
    // Times at which the circuits that are set, or the circuits that carry traffic, can change.
    let mut cuts = vec![0.0, period_s];
    for event in &phases.events {
        // A dark time that extends past the end also covers the start of the next iteration.
        cuts.extend([event.time_s, event.time_s + delay_s, event.time_s + delay_s - period_s]);
    }
    cuts.retain(|cut| (0.0..=period_s).contains(cut));
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let mut spans: Vec<(Span, (u32, u32))> = Vec::new();
    for pair in cuts.windows(2) {
        let middle_s = f64::midpoint(pair[0], pair[1]);
        let counts = (set(phases, link, middle_s), carrying(phases, link, middle_s, delay_s, period_s));
        match spans.last_mut() {
            Some((last, known)) if *known == counts => last.end_s = pair[1],
            _ => spans.push((span(counts, most, (pair[0], pair[1]), link), counts)),
        }
    }
    spans.into_iter().filter(|(_, (set, _))| *set > 0).map(|(span, _)| span).collect()
}

fn span((set, carrying): (u32, u32), most: u32, (start_s, end_s): (f64, f64), link: usize) -> Span {
    let (name, tone) = match carrying {
        _ if carrying == set => (counted(set.into(), "circuit", "circuits"), Tone::Text),
        0 => (format!("0 of {set}, all dark"), Tone::Bad),
        _ => (format!("{carrying} of {set}, others dark"), Tone::Warn),
    };
    // A screen writes one digit into the interval; the number is a count, so its colour has no meaning.
    let series = Some(set).filter(|set| tone == Tone::Text && *set < 10);
    let tone = if series.is_some() { Tone::Muted } else { tone };
    let idle = 1.0 - f64::from(set) / f64::from(most);
    Span { name, start_s, end_s, tone, series, idle, item: Some(link as u32), ..Span::default() }
}

/// Number of circuits of a link that are set at a given time of the iteration.
fn set(phases: &Phases, link: usize, time_s: f64) -> u32 {
    let at = phases.events.partition_point(|event| event.time_s <= time_s);
    let event = at.checked_sub(1).map_or(phases.events.last(), |at| phases.events.get(at));
    event.map_or(0, |event| event.circuits[link])
}

/// Number of circuits of a link that were set throughout the dark time before a given time.
fn carrying(phases: &Phases, link: usize, time_s: f64, delay_s: f64, period_s: f64) -> u32 {
    let since_s = time_s - delay_s;
    let in_dark = |event: &&PhaseEvent| {
        // The last time of the event up to `time_s`, in this iteration or an earlier one.
        let mut at_s = event.time_s;
        while at_s > time_s {
            at_s -= period_s;
        }
        at_s > since_s
    };
    let before = set(phases, link, since_s.rem_euclid(period_s));
    phases.events.iter().filter(in_dark).map(|event| event.circuits[link]).fold(before, u32::min)
}

/// Ports in use in every pod over the iteration and, if all pods have the same number of ports, that number as a limit.
pub(super) fn ports(instance: &Instance, phases: &Phases, period_s: f64) -> Curves {
    let used: Vec<Vec<u64>> = phases.events.iter().map(|event| event.ports(instance)).collect();
    let real = (0..instance.pods.len()).filter(|pod| !instance.pods[*pod].mirror);
    let last = used.len().saturating_sub(1);
    let curves = real.clone().map(|pod| {
        let start = phases.events.first().filter(|event| event.time_s > 0.0).map(|_| (0.0, last));
        let events = phases.events.iter().enumerate().map(|(at, event)| (event.time_s, at));
        let mut points: Vec<Point> = start
            .into_iter()
            .chain(events)
            .map(|(at, event)| Point { at, value: used[event][pod] as f64 })
            .collect();
        points.push(Point { at: period_s, value: used[last][pod] as f64 });
        let name = pod_name(instance, pod);
        Curve {
            name: format!("{name}_ports"),
            label: name,
            unit: Unit::COUNT,
            points,
            tone: Tone::Text,
            steps: true,
        }
    });
    let limits: Vec<u32> = real.clone().map(|pod| instance.pods[pod].ports).collect();
    let same = limits.first().copied().filter(|first| limits.iter().all(|limit| limit == first));
    let line =
        |limit: u32| Line { name: "limit".to_owned(), label: "limit".to_owned(), value: f64::from(limit) };
    Curves {
        axis: "time_s",
        axis_label: "time in the iteration",
        axis_unit: Unit::SECONDS,
        axis_range: Some((0.0, period_s)),
        curves: curves.collect(),
        lines: same.map(line).into_iter().collect(),
        range: Some((0.0, limits.iter().copied().max().map_or(1.0, f64::from))),
        ..Curves::default()
    }
}
