//! Pane 3: how many circuits each method removes, in order, under the bound; how the removals are spread over the
//! switches; and what the change gains.

use super::{Explained, changes_of, other_plan, words};
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, PaneDrawn};
use crate::app::pane::ItemId;
use crate::app::plans::PlanEntry;
use crate::app::state::App;
use crate::view::figures::{bound_for, open_percent};
use crate::view::present::rows::{beside, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use crate::view::trust::Trust;
use lightbay_core::event::HotStartFate;
use lightbay_core::plan::Status;
use lightbay_engines::AnyPlan;
use lightbay_engines::crossconnect::plan::Action as Deed;
use lightbay_widgets::{Hits, PaneState as Shown, Piece, Ranked, RankedRow, Sparkline, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Removed circuits of every switch of a plan that is set beside the one shown.
#[derive(Debug)]
struct Beside {
    number: u64,
    name: String,
    per_switch: Vec<u32>,
}

/// Data of the pane, refilled when the plans of the session change.
#[derive(Debug, Default)]
pub struct RewiringPane {
    /// Numbers and values of the plans that the bars were made from.
    key: Vec<(u64, u64)>,
    rows: Vec<RankedRow>,
    full: f64,
    /// Whether some method began with a plan of another one.
    warm: bool,
    items: Arc<[Item]>,
    hits: Hits,
    own: Option<(u64, Vec<u32>)>,
    beside: Option<Beside>,
}

/// What is known about the best possible number of removals.
struct Limit {
    /// The best bound.
    bound: Option<f64>,
    /// The verdict on the plan shown, in words.
    words: Vec<Piece>,
}

impl RewiringPane {
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        plan: &Explained,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let app = input.app;
        let theme = &app.look.theme;
        let entry = app.plans.get(plan.key).or_else(|| app.plans.shown());
        self.fill(app, plan, entry);
        let limit = limit(app, plan, entry);
        frame(input, &Self::title(input, plan), Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 4));
        if inner.is_empty() {
            return;
        }
        let selected = input.state.selected.filter(|id| self.rows.iter().any(|row| row.id == *id));
        let bars = self.rows.len() as u16;
        let ranked = Ranked::new(theme, &self.rows, self.full).line(limit.bound).selected(selected);
        // The bound has a line of its own above the bars where there is room.
        let heading = u16::from(inner.height > bars + 1 || inner.height >= 4);
        let words = self.words(input, plan, &limit);
        let foot = words.len() as u16 + 3;
        let spare = inner.height.saturating_sub(heading + bars);
        let place = Rect { y: inner.y + heading, height: bars.min(inner.height - heading), ..inner };
        (&ranked).render(place, buf, &mut self.hits);
        if heading > 0 {
            let bound = limit.bound.map(|bound| number::fixed(bound, 0));
            let at = ranked.line_at(inner.width);
            line(theme, &[Piece::muted("  circuits removed")], inner, buf);
            if let (Some(bound), Some(at)) = (bound, at) {
                let text = format!("bound {bound}");
                let x = at
                    .saturating_sub(text.len() as u16 / 2)
                    .max(19)
                    .min(inner.width.saturating_sub(text.len() as u16));
                line(
                    theme,
                    &[Piece::text(text)],
                    Rect { x: inner.x + x, width: inner.width - x, ..inner },
                    buf,
                );
            }
        }
        let pane = input.pane;
        out.hits.extend(self.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane, item: Some(hit.id) },
            open: Some(Action::Do(Command::ShowPlan(u64::from(hit.id)))),
        }));
        if spare > 1 {
            let gap = u16::from(spare > foot);
            let rest = from(inner, heading + bars + gap);
            self.draw_foot(input, &words, rest, buf);
        }
        let sentence = match selected.and_then(|id| app.plans.get(u64::from(id))) {
            Some(entry) => sentence_of(app, entry),
            None => limit.words,
        };
        if area.height >= 4 {
            line(theme, &sentence, below(inner), buf);
        }
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(place.height).max(1);
        drawn.sentence = plain(&sentence);
        if input.focused {
            drawn.details = self.rows.iter().map(|row| format!("{:>6}  {}", row.value, row.name)).collect();
        }
    }

    fn title(input: &PaneInput<'_>, plan: &Explained) -> Title {
        let totals = plan.changes().map(|changes| changes.totals).unwrap_or_default();
        let installed = totals.kept_circuits + totals.removed_circuits;
        let context = Vec::from_iter(other_plan(input.app, plan));
        let value = if plan.facts.green_field {
            vec![
                Piece::answer(number::count(totals.added_circuits)),
                Piece::muted(" circuits to set up, nothing installed"),
            ]
        } else {
            vec![
                Piece::answer(number::count(plan.facts.removed())),
                Piece::muted(" of "),
                Piece::text(number::count(installed)),
                Piece::muted(" circuits"),
            ]
        };
        Title { context, value }
    }

    /// The best plan of every method for the scenario of the plan shown, best first.
    fn fill(&mut self, app: &App, plan: &Explained, entry: Option<&PlanEntry>) {
        let scenario = entry.map(|entry| entry.scenario_sha256.as_str());
        let mut best: Vec<&PlanEntry> = Vec::new();
        for row in app.plans.rows() {
            let races = Some(row.scenario_sha256.as_str()) == scenario && row.competes();
            if races && best.iter().all(|known| known.method != row.method) {
                best.push(row);
            }
        }
        let shown = entry.map(|entry| entry.number);
        let baseline = app.plans.baseline;
        let mut key: Vec<(u64, u64)> =
            best.iter().map(|entry| (entry.number, entry.value.to_bits())).collect();
        key.push((shown.unwrap_or(0), baseline.unwrap_or(0)));
        if self.own.as_ref().is_none_or(|(of, _)| *of != plan.key) {
            self.own = Some((plan.key, plan.facts.per_switch()));
        }
        let rival = Self::rival(app, &best, entry);
        if self.beside.as_ref().map(|beside| beside.number) != rival.map(|rival| rival.number) {
            self.beside = rival.and_then(|rival| {
                let per_switch = removed_per_switch(&rival.plan.as_ref()?.0)?;
                Some(Beside { number: rival.number, name: rival.method.clone(), per_switch })
            });
        }
        if self.key == key {
            return;
        }
        self.key = key;
        self.rows.clear();
        self.rows.extend(best.iter().map(|entry| {
            let own = shown == Some(entry.number);
            let mark = if baseline == Some(entry.number) { "B " } else { "" };
            let clock = if entry.at_s > 0.0 { words::seconds(entry.at_s) } else { String::new() };
            let right = match began_warm(app, entry) {
                Some(from) => format!("{clock} warm from {}", number::fixed(from, 0)),
                None => clock,
            };
            RankedRow {
                id: entry.number as ItemId,
                name: format!("{mark}{}", entry.method).into(),
                value: entry.value,
                right: right.into(),
                tone: if own { Tone::Good } else { Tone::Rule },
                bold: own,
            }
        }));
        // One scale from nothing to the longest: a bar of twice the length removes twice as many.
        self.full = best.iter().map(|entry| entry.value).fold(1.0, f64::max);
        self.warm = best.iter().any(|entry| began_warm(app, entry).is_some());
        let item = |(row, entry): (u32, &&PlanEntry)| Item { id: entry.number as ItemId, row, place: 0.0 };
        self.items = (0u32..).zip(&best).map(item).collect();
    }

    /// The plan that the spread over switches is compared with: the baseline, else the plan of the next method in memory.
    fn rival<'a>(app: &'a App, best: &[&'a PlanEntry], shown: Option<&PlanEntry>) -> Option<&'a PlanEntry> {
        let other = |entry: &&&PlanEntry| Some(entry.number) != shown.map(|shown| shown.number);
        let in_memory = |entry: &&&PlanEntry| entry.plan.is_some();
        let baseline = app.plans.baseline();
        let baseline = baseline.filter(|entry| best.iter().any(|known| known.number == entry.number));
        baseline.or_else(|| best.iter().filter(other).find(in_memory).copied())
    }

    /// What has to be said below the bars besides the verdict.
    fn words(&self, input: &PaneInput<'_>, plan: &Explained, limit: &Limit) -> Vec<Vec<Piece>> {
        let mut lines = Vec::new();
        if self.warm {
            lines
                .push(vec![Piece::muted("warm: it began with a plan that was known; R solves from scratch")]);
        }
        let Some(scenario) = plan.scenario() else { return lines };
        let totals = plan.changes().map(|changes| changes.totals).unwrap_or_default();
        if let Some(predicted) = scenario.predicted_makespan_s {
            lines.push(vec![
                Piece::muted("one iteration then takes "),
                Piece::answer(format!("{} s", number::seconds6(predicted).as_str())),
                Piece::muted(" as predicted; the change disturbs "),
                Piece::answer(words::circuits(totals.removed_circuits)),
            ]);
        }
        if let Some(forced) = totals.forced_removed_circuits.filter(|forced| *forced > 0) {
            lines.push(vec![
                Piece::new(format!("! {}", words::circuits(forced)), Tone::Changed).bold(),
                Piece::muted(" to go at failed ports whatever is planned"),
            ]);
        }
        let counting = totals.lower_bound_removed_circuits as f64;
        if limit.bound.is_some_and(|bound| bound > counting) {
            lines.push(vec![Piece::muted(format!(
                "demand-difference bound {}",
                totals.lower_bound_removed_circuits
            ))]);
        }
        if input.app.runs.is_busy() {
            lines.push(vec![Piece::muted("a run works on it")]);
        }
        lines
    }

    fn draw_foot(&self, input: &PaneInput<'_>, words: &[Vec<Piece>], area: Rect, buf: &mut Buffer) {
        let theme = &input.app.look.theme;
        let mut y = 0;
        // Sparklines first: what else is said can be read elsewhere.
        let lines: Vec<(&str, &[u32], Tone)> = self
            .own
            .iter()
            .map(|(_, values)| ("this plan", values.as_slice(), Tone::Good))
            .chain(
                self.beside
                    .iter()
                    .map(|beside| (beside.name.as_str(), beside.per_switch.as_slice(), Tone::Muted)),
            )
            .collect();
        let most = lines.iter().flat_map(|(_, values, _)| values.iter().copied()).max().unwrap_or(1);
        let keep = if area.height as usize > words.len() { words.len() as u16 } else { 0 };
        for (name, values, tone) in lines {
            if y + keep >= area.height {
                break;
            }
            let (label, bars) = beside(row(area, y), 28, 1);
            let text = format!("  {name:<15} per switch");
            line(theme, &[Piece::muted(text)], label, buf);
            (&Sparkline::new(theme, values, most, tone)).render(bars, buf);
            y += 1;
        }
        for pieces in words {
            let mut indented = vec![Piece::text("  ")];
            indented.extend(pieces.iter().cloned());
            line(theme, &indented, row(area, y), buf);
            y += 1;
        }
    }
}

/// Circuits that the plan removes which the run of this one began with; `None` for a run from scratch.
fn began_warm(app: &App, entry: &PlanEntry) -> Option<f64> {
    let report = app.runs.get(entry.origin?.0)?.hot_start.as_ref()?;
    let used = report.fate != HotStartFate::Rejected;
    report.after.or(report.before).filter(|_| used)
}

/// Removed circuits of every switch, forced ones included where they cannot be told apart.
fn removed_per_switch(plan: &AnyPlan) -> Option<Vec<u32>> {
    let changes = changes_of(plan)?;
    let removed = |entries: &[lightbay_engines::crossconnect::plan::Entry]| {
        entries.iter().filter(|entry| entry.action == Deed::Remove).count() as u32
    };
    Some(changes.ocs.iter().map(|ocs| removed(&ocs.cross_connects)).collect())
}

/// The bound, and what it says about the plan shown.
fn limit(app: &App, plan: &Explained, entry: Option<&PlanEntry>) -> Limit {
    let removed = plan.facts.removed() as f64;
    let counting = plan.changes().map(|changes| changes.totals.lower_bound_removed_circuits as f64);
    let proven = entry.and_then(|entry| bound_for(app, entry));
    let bound = [counting, proven].into_iter().flatten().reduce(f64::max);
    let own_run = entry.and_then(|entry| app.runs.get(entry.origin?.0));
    let conditional = own_run
        .and_then(|run| run.partial.as_ref())
        .and_then(|bound| bound.only.as_ref().filter(|_| bound.value >= removed - 0.5).cloned());
    let answer = Piece::answer(format!("> {}", number::count(removed as u64)));
    let optimal = entry.is_some_and(|entry| entry.status == Some(Status::Optimal));
    // Of what is asked now nothing is known yet.
    if let Some(entry) = entry.filter(|entry| app.is_of_another_scenario(entry)) {
        let words = vec![
            answer,
            Piece::muted(" removed by plan "),
            Piece::new(format!("{} *", entry.number), Tone::Changed),
            Piece::muted(", stale"),
        ];
        return Limit { bound, words };
    }
    let words = match (bound, conditional) {
        (Some(bound), _) if bound >= removed - 0.5 => {
            vec![answer, Piece::new(" is optimal", Tone::Good).bold(), no_fewer(app, entry)]
        }
        (_, Some(only)) => vec![
            answer,
            Piece::new(" is optimal", Tone::Good).bold(),
            Piece::muted(format!(" for {}", only.trim_end_matches(" only"))),
        ],
        _ if optimal => vec![answer, Piece::new(" is optimal", Tone::Good).bold(), no_fewer(app, entry)],
        (Some(bound), None) => {
            let gap = lightbay_core::plan::gap(removed, bound);
            vec![
                answer,
                Piece::muted(" removed; at least "),
                Piece::text(number::fixed(bound, 0)),
                Piece::muted(" have to go, gap "),
                Piece::text(format!("{} %", open_percent(gap, 1))),
            ]
        }
        (None, None) => vec![answer, Piece::muted(" removed; no bound is known yet")],
    };
    Limit { bound, words }
}

/// Words on the proof that no plan removes fewer: by the checker, or by the word of the method alone.
fn no_fewer(app: &App, entry: Option<&PlanEntry>) -> Piece {
    let method = entry.map_or("its method", |entry| entry.method.as_str());
    match entry.and_then(|entry| Trust::of_entry(app, entry)) {
        None => Piece::muted(": no plan removes fewer"),
        Some(Trust::Wider(bound)) => {
            Piece::muted(format!(", as {method} claims; the check verifies {}", number::fixed(bound, 0)))
        }
        Some(Trust::Nothing) => Piece::muted(format!(", as {method} claims; no bound is verified")),
    }
}

fn sentence_of(app: &App, entry: &PlanEntry) -> Vec<Piece> {
    let kept = entry.metrics.get("kept_circuits").copied().unwrap_or(0.0);
    let mut pieces = vec![
        Piece::answer(format!("> plan {} {}", entry.number, entry.method)),
        Piece::muted("  removes "),
        Piece::answer(number::fixed(entry.value, 0)),
        Piece::muted(" keeps "),
        Piece::text(number::fixed(kept, 0)),
    ];
    if let Some(batches) = entry.metrics.get("batches") {
        pieces.push(Piece::muted(" in "));
        pieces.push(Piece::text(number::fixed(*batches, 0)));
        pieces.push(Piece::muted(if *batches == 1.0 { " batch" } else { " batches" }));
    }
    if app.is_of_another_scenario(entry) {
        pieces.push(Piece::new("  * stale", Tone::Changed));
    } else if let Some(status) = entry.status {
        pieces.push(Piece::muted(format!("  {}", status.word().replace('_', " "))));
    }
    if app.plans.shown().is_some_and(|shown| shown.number != entry.number) {
        pieces.push(Piece::muted(format!("  :show_plan {} shows it", entry.number)));
    }
    pieces
}
