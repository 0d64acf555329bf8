//! Pane 4: how a genetic search converges. Loss over the ideal network on a log axis, so that best, mean and
//! baselines fit one picture.

use crate::app::drawn::PaneDrawn;
use crate::app::plans::PlanEntry;
use crate::app::runs::Run;
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_core::event::RunId;
use lightbay_widgets::{
    Axis, Baseline, Chart, Event, PaneState as Shown, Piece, Sentence, Series, Tone, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Key of the state that the vectors were filled for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Key {
    run: RunId,
    points: u64,
    plans: u64,
    baseline: Option<u64>,
    ideal: Option<f64>,
    log: bool,
}

/// Data of the pane, refilled when the run says something.
#[derive(Debug, Default)]
pub struct GaPane {
    key: Option<Key>,
    series: Vec<Series>,
    baselines: Vec<Baseline>,
    events: Vec<Event>,
}

/// Makespan of the ideal network, as the plans of the present scenario know it.
pub fn ideal_of(input: &PaneInput<'_>, run: &Run) -> Option<f64> {
    let known = |entry: &PlanEntry| entry.metrics.get("ideal_makespan_s").copied();
    input.app.plans.iter().rev().filter(|entry| entry.scenario_sha256 == run.scenario_sha256).find_map(known)
}

impl GaPane {
    pub fn draw(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer, drawn: &mut PaneDrawn) {
        let app = input.app;
        let theme = &app.look.theme;
        let selected = app.pane(crate::app::pane::PaneId::Solve).selected;
        let chosen = selected.and_then(|id| app.runs.get(RunId(u64::from(id)))).filter(|run| run.evolves());
        let Some(run) = chosen.or_else(|| app.runs.latest(Run::evolves)) else {
            let state = Shown::Empty {
                what: "no genetic search yet",
                remedy: "solve with delta-fast or delta-level",
            };
            return frame(input, &Title { context: Vec::new(), value: Vec::new() }, state, area, buf);
        };
        let Some(stats) = &run.generation else { return };
        let ideal = ideal_of(input, run);
        let log = input.state.mode == 0;
        let key = Key {
            run: run.id,
            points: run.best_curve.total(),
            plans: app.plans.next_number(),
            baseline: app.plans.baseline,
            ideal,
            log,
        };
        if self.key != Some(key) {
            self.key = Some(key);
            self.fill(input, run, ideal);
        }
        let value = format!(
            "best {}{}",
            number::seconds6(stats.best).as_str(),
            if area.width > 70 { format!("  gen {}", stats.generation) } else { String::new() }
        );
        let title =
            Title { context: vec![Piece::muted(run.method.clone())], value: vec![Piece::answer(value)] };
        frame(input, &title, Shown::Ready, area, buf);
        let notes = if area.height >= 12 { 2 } else { 1 };
        let inner = body(area, notes);
        // Without a plan that knows the ideal network there is no loss to show, only the makespan itself.
        let unit = if ideal.is_some() { "ms" } else { "s" };
        let x = if log { Axis::log_from_zero("generation") } else { Axis::linear("generation") };
        let y = if log && ideal.is_some() { Axis::log(unit) } else { Axis::linear(unit) };
        Chart::new(theme, &self.series, x, y)
            .baselines(&self.baselines)
            .events(&self.events)
            .render(inner, buf);

        let mut sentence = vec![Piece::muted("gen "), Piece::text(stats.generation.to_string())];
        sentence.push(Piece::muted("  stall "));
        sentence.push(Piece::text(format!("{} of {}", stats.stall, stats.stall_limit)));
        sentence.push(Piece::muted("  evals "));
        sentence.push(Piece::text(number::count(stats.evaluations).as_str().to_owned()));
        if area.width >= 60 {
            sentence.push(Piece::muted("  ports "));
            sentence.push(Piece::text(number::fixed(stats.secondary, 0).as_str().to_owned()));
        }
        Sentence::new(theme, &sentence).render(below(inner), buf);
        if notes > 1 {
            let under = below(inner);
            let what = if ideal.is_some() { "loss over ideal, log" } else { "makespan" };
            let distinct = (stats.diversity * stats.population as f64).round();
            let line = [
                Piece::muted(if log { what } else { "loss over ideal" }),
                Piece::muted(format!("   distinct {distinct} of {}", stats.population)),
                Piece::muted(format!("   cache {} %", number::percent(stats.cache_hits, 0).as_str())),
                Piece::muted(format!("   feasible {} %", number::percent(stats.feasible, 0).as_str())),
                Piece::muted(format!("   spread {} ms", number::millis(stats.spread, 1).as_str())),
            ];
            Sentence::new(theme, &line).render(Rect { y: under.y + 1, ..under }, buf);
        }
        drawn.sentence = format!("{} {}", run.method, plain(&sentence));
        drawn.details = details(run);
    }

    fn fill(&mut self, input: &PaneInput<'_>, run: &Run, ideal: Option<f64>) {
        let shown = |value: f64| ideal.map_or(value, |ideal| (value - ideal) * 1e3);
        let nct = |value: f64| nct_of(input, run, value);
        let end = |name: &str, value: f64| {
            nct(value).map_or_else(
                || format!("{name} {}", number::seconds3(value).as_str()),
                |nct| format!("{name} {}", number::fixed(nct, 3).as_str()),
            )
        };
        let points = |series: &crate::app::series::Series| {
            series.points().iter().map(|point| (point.count, shown(point.value))).collect::<Vec<_>>()
        };
        self.series.clear();
        let best = run.best_curve.last().map_or(f64::NAN, |point| point.value);
        self.series.push(
            Series::new(end("best", best), '*', Tone::Answer).points(points(&run.best_curve)).step().bold(),
        );
        self.series.push(Series::new("mean", 'm', Tone::Muted).points(points(&run.mean_curve)).dotted());
        self.baselines.clear();
        for entry in baselines(input, run) {
            let mark = if input.app.plans.baseline == Some(entry.number) { "B " } else { "" };
            let short = entry.method.split('-').next().unwrap_or("").to_owned();
            self.baselines.push(Baseline {
                name: format!("{mark}{}", end(&short, entry.value)).into(),
                value: shown(entry.value),
            });
        }
        self.events.clear();
        self.events.extend(run.markers.iter().map(|marker| {
            let at = run.best_curve.points().iter().rfind(|point| point.at_s <= marker.at_s);
            Event { at: at.map_or(0.0, |point| point.count), name: marker.text.clone().into() }
        }));
    }
}

/// NCT of a makespan, by the figures of any plan of the same scenario.
pub fn nct_of(input: &PaneInput<'_>, run: &Run, value: f64) -> Option<f64> {
    let entry = input.app.plans.iter().rev().find(|entry| {
        entry.scenario_sha256 == run.scenario_sha256 && entry.metrics.contains_key("comm_ideal_s")
    })?;
    let (ideal, comm) = (entry.metrics.get("ideal_makespan_s")?, entry.metrics.get("comm_ideal_s")?);
    (*comm > 0.0).then(|| 1.0 + (value - ideal) / comm)
}

/// Plans that are worth a line: the baseline, and what allocations without a search reach.
pub fn baselines<'a>(input: &PaneInput<'a>, run: &Run) -> Vec<&'a PlanEntry> {
    let mut lines: Vec<&PlanEntry> = input
        .app
        .plans
        .iter()
        .filter(|entry| entry.scenario_sha256 == run.scenario_sha256)
        .filter(|entry| {
            input.app.plans.baseline == Some(entry.number)
                || entry.method.ends_with("-alloc")
                || entry.method == "iter-halve"
        })
        .collect();
    lines.sort_by(|a, b| a.value.total_cmp(&b.value));
    lines.dedup_by(|a, b| a.value == b.value);
    lines.truncate(3);
    lines
}

fn details(run: &Run) -> Vec<String> {
    let mut lines = vec![format!("{} run {}: {}", run.method, run.id, run.word())];
    if let Some(report) = &run.hot_start {
        lines.push(format!("hot start {}: {}", report.fate.word(), report.why));
    }
    lines.extend(run.markers.iter().map(|marker| format!("{:.1} s  {}", marker.at_s, marker.text)));
    lines
}
