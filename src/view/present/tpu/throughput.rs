//! Pane 3: how the certified throughput of a pod grows under its metric bounds, between the tori and what any pod
//! could reach.

mod standing;

use super::{Explained, Yard};
use crate::app::drawn::PaneDrawn;
use crate::app::pane::PaneId;
use crate::app::plans::Shown;
use crate::app::runs::{Run, RunState};
use crate::app::series::{Point, Series};
use crate::view::figures::open_percent;
use crate::view::present::rows::{beside, ends, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_core::event::RunId;
use lightbay_engines::tpu::series;
use lightbay_widgets::{
    Axis, Baseline, Chart, Event, Meter, PaneState, Part, Piece, Series as Curve, Tone, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
pub use standing::Standing;
use standing::certificates;

/// Below this width or height bars take the place of the chart.
const CHART: (u16, u16) = (48, 9);

/// The first moment on a logarithmic axis of time, seconds.
const FIRST_S: f64 = 0.01;

/// Decimals of a throughput: five significant digits at every size.
pub fn decimals(mcf: f64) -> usize {
    if mcf > 0.0 && mcf.is_finite() { (3.0 - mcf.log10().floor()).clamp(3.0, 9.0) as usize } else { 6 }
}

/// A throughput in flits per cycle and ordered pair.
pub fn mcf(value: f64) -> number::Num {
    number::fixed(value, decimals(value))
}

/// What the curves were filled for.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    run: RunId,
    points: u64,
    tori: usize,
    even: bool,
    phases: usize,
    bound: Option<f64>,
}

/// Data of the pane, refilled when the run says something.
#[derive(Debug, Default)]
pub struct ThroughputPane {
    key: Option<Key>,
    series: Vec<Curve>,
    baselines: Vec<Baseline>,
    events: Vec<Event>,
    range: Option<(f64, f64)>,
    first_s: f64,
    end_s: f64,
}

/// The run that the pane is about: one that works, of those the one selected in the strip first, as long as the best
/// plan is shown; else the run that found the plan shown. Never one that says nothing about that plan.
pub fn run_of<'a>(input: &PaneInput<'a>) -> Option<&'a Run> {
    let app = input.app;
    let speaks = |run: &&Run| run.best.is_some() || !run.named.is_empty();
    let selected = app.pane(PaneId::Solve).selected.map(|id| RunId(u64::from(id)));
    let working = || app.runs.active().filter(|run| speaks(run)).filter(|_| app.plans.shown == Shown::Best);
    let chosen = working().find(|run| Some(run.id) == selected).or_else(|| working().last());
    let found_it = || app.runs.get(app.plans.shown()?.origin?.0).filter(|run| speaks(run));
    chosen.or_else(found_it)
}

impl ThroughputPane {
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        plan: Option<&Explained>,
        yard: Option<&Yard>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
    ) {
        let run = run_of(input);
        if run.is_none() && plan.is_none() {
            let state = if input.app.runs.is_busy() {
                PaneState::Waiting("the first design")
            } else {
                PaneState::Empty { what: "no synthesis yet", remedy: "press r to solve" }
            };
            return frame(input, &Title { context: Vec::new(), value: Vec::new() }, state, area, buf);
        }
        let of_plan = || crate::view::figures::bound_for(input.app, input.app.plans.shown()?);
        let bound = match run {
            // A run that works may be on other parameters than the plan.
            Some(run) if run.state.is_active() => run.bound,
            _ => of_plan(),
        };
        // A plan that is shown instead of the newest run is what the numbers are about.
        let about_plan = run.is_none_or(|run| !run.state.is_active()) && plan.is_some();
        let standing = Standing::of(run.filter(|_| !about_plan), plan, bound, yard);
        frame(input, &Self::title(input, &standing, area.width), PaneState::Ready, area, buf);
        let inner = body(area, 1);
        let chart = run.filter(|run| inner.width >= CHART.0 && inner.height >= CHART.1 && has_curves(run));
        match chart {
            Some(run) => {
                self.refill(input, run, &standing);
                self.draw_chart(input, run, &standing, inner, buf);
            }
            None => draw_bars(input, &standing, inner, buf),
        }
        let chips = yard.map(|yard| yard.cubes * 64);
        let sentence = sentence(input, run, &standing, chips);
        line(&input.app.look.theme, &sentence, below(inner), buf);
        drawn.sentence = plain(&sentence);
        drawn.details = details(run, &standing, yard);
    }

    fn title(input: &PaneInput<'_>, standing: &Standing, width: u16) -> Title {
        let times = input.app.look.theme.glyphs.times;
        let mut value = Vec::new();
        for (at, (name, _)) in standing.tori.iter().enumerate() {
            let family = name.split(' ').next().unwrap_or(name).to_owned();
            if let Some(factor) = standing.times(at)
                && (at == 0 || width >= 70)
            {
                value.push(Piece::answer(format!("{times}{}", number::fixed(factor, 2))));
                value.push(Piece::muted(format!(" {family}  ")));
            }
        }
        if let Some(share) = standing.reached().filter(|_| width >= 70 || value.is_empty()) {
            value.push(Piece::answer(format!("{} %", number::percent(share, 1))));
            value.push(Piece::muted(if width >= 90 { " of what any pod can reach" } else { " of any pod" }));
        } else if let Some(last) = value.last_mut() {
            last.text = last.text.trim_end().to_owned().into();
        }
        let context = if width >= 112 { "flits per cycle and chip pair" } else { "" };
        Title { context: vec![Piece::muted(context)], value }
    }

    fn refill(&mut self, input: &PaneInput<'_>, run: &Run, standing: &Standing) {
        let even = input.mode() == "even time";
        let key = Key {
            run: run.id,
            points: run.named.values().map(Series::total).sum::<u64>() + run.incumbents.total(),
            tori: standing.tori.len(),
            even,
            phases: run.phases.len(),
            bound: standing.any,
        };
        if self.key.as_ref() == Some(&key) {
            return;
        }
        self.key = Some(key);
        let at = |point: &Point| if even { point.at_s } else { point.at_s.max(FIRST_S) };
        self.end_s = run.elapsed_s.max(FIRST_S * 10.0);
        let end = self.end_s;
        // A curve holds its last value until now, or its label would hang in the air.
        let until = |mut points: Vec<(f64, f64)>| {
            if let Some(&(last, value)) = points.last()
                && last < end
            {
                points.push((end, value));
            }
            points
        };
        let curve = |name: &str| -> Vec<(f64, f64)> {
            let points = run.named.get(name).map_or(&[][..], Series::points);
            until(points.iter().map(|point| (at(point), point.value)).collect())
        };
        let label = |value: f64, name: &str| format!("{}  {name}", mcf(value));
        self.series.clear();
        let mut add = |points: Vec<(f64, f64)>, name: &str, letter, tone, bold: bool| {
            if let Some(&(_, last)) = points.last() {
                let series = Curve::new(label(last, name), letter, tone).points(points).step();
                self.series.push(if bold { series.bold() } else { series });
            }
        };
        let best = certificates(run);
        let certified: Vec<(f64, f64)> = if best.is_empty() {
            run.incumbents.points().iter().map(|point| (at(point), point.value)).collect()
        } else {
            best.iter().map(|best| (at(&best.lower), best.lower.value)).collect()
        };
        add(until(certified), "this pod, certified", 'L', Tone::Good, true);
        let uppers = best.iter().filter_map(|best| Some((at(&best.lower), best.upper?)));
        let proven = until(uppers.collect());
        let mut upper = curve(series::METRIC_UPPER);
        if let Some(&(first, _)) = proven.first() {
            // A certificate takes over from the metrics that the design was sought with.
            upper.retain(|point| point.0 < first);
        }
        let certificate = !proven.is_empty();
        upper.extend(proven);
        add(upper, "this pod, upper bound", 'U', Tone::Answer, false);
        let two: Vec<(&String, (u32, u32))> =
            run.named.keys().filter_map(|name| Some((name, series::lengths_of(name)?))).collect();
        // The metrics of the search say nothing more once there is a certificate.
        let shown = if certificate { 0 } else { 2 };
        for ((name, (electrical, optical)), tone) in
            two.into_iter().take(shown).zip([Tone::Series(1), Tone::Series(2)])
        {
            add(curve(name), &format!("lengths {electrical}:{optical}"), 't', tone, false);
        }
        if !certificate {
            add(curve(series::HOP_BOUND), "hop bound", 'h', Tone::Muted, false);
        }
        let firsts = self.series.iter().filter_map(|series| series.points.first()).map(|point| point.0);
        self.first_s = firsts.fold(self.end_s / 10.0, f64::min).max(FIRST_S);
        self.baselines.clear();
        if let Some(any) = standing.any {
            self.baselines.push(Baseline { name: label(any, "any pod").into(), value: any });
        }
        for (name, value) in &standing.tori {
            self.baselines.push(Baseline { name: label(*value, name).into(), value: *value });
        }
        self.events.clear();
        self.events.extend(run.phases.iter().map(|(at_s, phase)| Event {
            at: if even { *at_s } else { at_s.max(FIRST_S) },
            name: phase.name.clone().into(),
        }));
        self.range = self.values(standing);
    }

    /// The values shown: from a little below the worst torus to what any pod could reach; a first certificate far
    /// below runs along the edge.
    fn values(&self, standing: &Standing) -> Option<(f64, f64)> {
        let lines = self.baselines.iter().map(|line| line.value);
        let ends = self.series.iter().filter_map(|series| series.points.last()).map(|point| point.1);
        let near: Vec<f64> = lines.chain(ends).filter(|value| value.is_finite() && *value > 0.0).collect();
        let low = near.iter().copied().reduce(f64::min)?;
        let high = near.iter().copied().reduce(f64::max)?;
        let high = standing.any.map_or(high, |any| high.min(any * 1.05)).max(low * 1.01);
        Some((low - (high - low) * 0.08, high + (high - low) * 0.02))
    }

    fn draw_chart(
        &self,
        input: &PaneInput<'_>,
        run: &Run,
        standing: &Standing,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let even = input.mode() == "even time";
        let x = if even { Axis::linear("s") } else { Axis::log("s") };
        let (from_s, end) = if even { (0.0, self.end_s) } else { (self.first_s, self.end_s) };
        let (start, stop) = input.state.window();
        // Stretching keeps the chosen part of the axis.
        let x = if input.state.zoom == 0 {
            x.bounds(from_s, end)
        } else if even {
            x.bounds(end * start, end * stop)
        } else {
            let at = |share: f64| (from_s.ln() + (end.ln() - from_s.ln()) * share).exp();
            x.bounds(at(start), at(stop))
        };
        let y = self.range.map_or(Axis::linear(""), |(low, high)| Axis::linear("").bounds(low, high));
        let theme = &input.app.look.theme;
        let gap_row = u16::from(area.height >= 12);
        let upper = Rect { height: area.height - gap_row, ..area };
        Chart::new(theme, &self.series, x, y)
            .baselines(&self.baselines)
            .events(&self.events)
            .render(upper, buf);
        if gap_row > 0 {
            let mut left = vec![Piece::muted("certificate gap ")];
            match standing.gap() {
                Some(gap) => left.push(Piece::answer(format!("{} %", open_percent(gap, 2)))),
                None => left.push(Piece::text(number::UNKNOWN)),
            }
            let rounds = run.named.get(series::MCF_LOWER).map_or(0, Series::total);
            if rounds > 0 {
                left.push(Piece::muted(format!(" after {rounds} rounds")));
            }
            let right = [Piece::muted(if even { "even time" } else { "log time" })];
            ends(theme, &left, &right, from(area, area.height - 1), buf);
        }
    }
}

fn has_curves(run: &Run) -> bool {
    run.incumbents.total() > 0 || !run.named.is_empty()
}

/// Bars instead of curves: the answer of the pane in a few rows.
fn draw_bars(input: &PaneInput<'_>, standing: &Standing, area: Rect, buf: &mut Buffer) {
    let theme = &input.app.look.theme;
    let mut rows: Vec<(String, f64, Tone, bool)> = Vec::new();
    rows.extend(standing.any.map(|any| ("any pod".to_owned(), any, Tone::Muted, false)));
    rows.extend(standing.metric.map(|value| ("upper bound".to_owned(), value, Tone::Muted, false)));
    rows.extend(standing.certified.map(|value| ("certified".to_owned(), value, Tone::Good, true)));
    rows.extend(standing.tori.iter().map(|(name, value)| (name.clone(), *value, Tone::Muted, false)));
    // The upper bound says least where there is little room.
    if rows.len() > usize::from(area.height) {
        rows.retain(|(name, ..)| name != "upper bound");
    }
    let full = rows.iter().map(|row| row.1).fold(0.0, f64::max);
    let names = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0).min(14) as u16;
    for (at, (name, value, tone, bold)) in (0..area.height).zip(&rows) {
        let place = row(area, at);
        let (label, rest) = beside(place, names, 1);
        let text = if *bold { Piece::answer(name.clone()) } else { Piece::muted(name.clone()) };
        line(theme, &[text], label, buf);
        let text = number::fixed(*value, decimals(full));
        let (bar, number) = beside(rest, rest.width.saturating_sub(text.len() as u16 + 1), 1);
        (&Meter::new(theme, &[Part::new(*value, *tone, '#')], full).track(true)).render(bar, buf);
        let number_piece = if *bold { Piece::answer(text) } else { Piece::text(text) };
        line(theme, &[number_piece], number, buf);
    }
}

fn sentence(
    input: &PaneInput<'_>,
    run: Option<&Run>,
    standing: &Standing,
    chips: Option<usize>,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if let Some(certified) = standing.certified {
        pieces.push(Piece::answer(format!("> certified {}", mcf(certified))));
        if let Some(chips) = chips {
            let times = input.app.look.theme.glyphs.times;
            pieces.push(Piece::muted(format!("  {times} {chips} = ")));
            pieces.push(Piece::answer(number::fixed(certified * chips as f64, 3)));
            pieces.push(Piece::muted(" per chip"));
            if let Some(any) = standing.any {
                pieces.push(Piece::muted(format!(" of {}", number::fixed(any * chips as f64, 3))));
            }
        }
        if let Some(gap) = standing.gap() {
            pieces.push(Piece::muted("  this pod at most "));
            pieces.push(Piece::text(format!("{} % more", open_percent(gap, 2))));
        }
    } else if let Some(metric) = standing.metric {
        pieces.push(Piece::answer(format!("> at most {}", mcf(metric))));
        pieces.push(Piece::muted("  nothing certified yet"));
    }
    if let Some(run) = run.filter(|run| run.state == RunState::Running)
        && let Some(phase) = &run.phase
    {
        pieces.push(Piece::muted(format!("  {}", phase.name)));
        if !phase.detail.is_empty() {
            pieces.push(Piece::text(format!(" {}", phase.detail)));
        }
    }
    pieces
}

fn details(run: Option<&Run>, standing: &Standing, yard: Option<&Yard>) -> Vec<String> {
    let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| mcf(value).into());
    let mut lines = vec![
        format!("any pod of this size   {}", value(standing.any)),
        format!("this pod, upper bound  {}", value(standing.metric)),
        format!("this pod, certified    {}", value(standing.certified)),
    ];
    match yard {
        Some(yard) => {
            lines.push(format!("any network of radix 6 {} (Moore)", mcf(yard.moore)));
            lines.extend(yard.tori.iter().map(|torus| {
                format!(
                    "{}  {}, avg hops {:.4}, diameter {}",
                    torus.name,
                    mcf(torus.mcf),
                    torus.avg_hops,
                    torus.diameter
                )
            }));
        }
        None => lines.extend(standing.tori.iter().map(|(name, value)| format!("{name}  {}", mcf(*value)))),
    }
    if let Some(run) = run {
        lines.push(String::new());
        lines.push(format!("{} run {}: {}", run.method, run.id, run.word()));
        let phase = |(at, phase): &(f64, lightbay_core::event::Phase)| {
            format!("{at:8.2} s  {} {}", phase.name, phase.detail)
        };
        lines.extend(run.phases.iter().map(phase));
        lines.extend(run.notes.iter().map(|note| format!("{:8.2} s  {}", note.at_s, note.text)));
        for (name, series) in &run.named {
            if let Some(last) = series.last() {
                lines.push(format!(
                    "{name}  {} at {:.2} s, {} points",
                    mcf(last.value),
                    last.at_s,
                    series.total()
                ));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests;
