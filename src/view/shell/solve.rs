//! The solve strip: progress of the proof, active runs, and their limits.

use super::header::{leading, run_word};
use super::{Title, drawn, indented, runs, select, solve_key, title};
use crate::app::action::Command;
use crate::app::drawn::Drawn;
use crate::app::pane::{ItemId, PaneId};
use crate::app::plans::PlanEntry;
use crate::app::runs::Run;
use crate::app::state::App;
use crate::view::figures::{Goal, Room, ideal_objective};
use crate::view::layout::Placed;
use lightbay_core::event::HotStartFate;
use lightbay_core::kind::Sense;
use lightbay_core::plan::{OPTIMAL_GAP, gap};
use lightbay_core::standing::KnownBound;
use lightbay_engines::metrics;
use lightbay_widgets::{
    GapBar, Hits, MethodRow, Pane, PaneState, Piece, SolveStrip, Tone, number, pieces_width,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

/// Minimum width at which values have all decimals and words are not abbreviated.
const ROOMY: u16 = 36;

/// Minimum width at which the values of a hot start in both scenarios are shown.
const BOTH: u16 = 52;

/// Maximum number of digits of bound and best value next to their names in a narrow strip.
const DIGITS: usize = 12;

/// Number of rows of the bar with its ends and its caption.
const ABOVE: u16 = 4;

/// Number of columns of the title around the state of a run: the name of the pane and its rule.
const AROUND_WORD: usize = 12;

/// Minimum width at which the title shows the number of hidden runs.
const HIDDEN: u16 = 28;

/// The strip with its rows.
#[derive(Debug, Default)]
pub struct Solve {
    methods: Vec<MethodRow>,
    ideal: Vec<Piece>,
    bound: Vec<Piece>,
    best: Vec<Piece>,
    caption: Vec<Piece>,
    caption_right: Vec<Piece>,
    notes: Vec<Vec<Piece>>,
    hits: Hits,
}

/// The three marks on the bar.
#[derive(Clone, Debug)]
struct Marks {
    ideal: Option<f64>,
    /// Bound on all plans: a verified bound if available, as in the header.
    bound: Option<f64>,
    /// Trust in the bound: `verified` or `claimed`.
    word: &'static str,
    /// Best bound that covers only some plans.
    partial: Option<f64>,
    /// The gap, and whether its bound is verified or claimed.
    gap: String,
    best: f64,
    sense: Sense,
}

impl Marks {
    fn of(app: &App, goal: &Goal, entry: &PlanEntry) -> Self {
        let standing = app.standing_of(entry);
        let bound = standing.drawn();
        Self {
            ideal: ideal_objective(metrics(app.work.as_ref().map_or("", |work| work.kind)), &entry.metrics),
            bound: bound.map(|bound| bound.value),
            word: bound.map_or("", KnownBound::word),
            partial: standing.bounds().iter().find(|bound| !bound.is_on_all).map(|bound| bound.value),
            gap: standing.brief(),
            best: entry.value,
            sense: goal.sense,
        }
    }

    fn bar<'t>(&self, theme: &'t lightbay_widgets::Theme) -> GapBar<'t> {
        match self.sense {
            Sense::Min => {
                let bound = self.bound.or(self.drawn_partial());
                let bar = GapBar::new(theme, self.ideal.unwrap_or(0.0), bound, Some(self.best));
                bar.partial(self.bound.is_none())
            }
            // A maximised objective grows towards its bound.
            Sense::Max => GapBar::new(theme, 0.0, self.bound.map(|_| self.best), self.bound),
        }
    }
}

impl Marks {
    /// Returns the bound on some plans that the bar shows: without an ideal value and without a bound on all plans.
    fn drawn_partial(&self) -> Option<f64> {
        self.partial.filter(|_| self.ideal.is_none() && self.bound.is_none())
    }
}

impl Solve {
    pub fn draw(&mut self, app: &App, placed: &Placed, buf: &mut Buffer, out: &mut Drawn) {
        let Some(work) = &app.work else { return };
        let goal = Goal::of(work.objective);
        let theme = &app.look.theme;
        // The strip shows the best plan of the scenario that was solved last, independently of the displayed plan.
        // Bounds for other parameters do not apply to it.
        let best = app.plans.best();
        let marks = best.map(|entry| Marks::of(app, &goal, entry));
        let flat = placed.area.height <= 4 && placed.area.width >= 60;
        let proven = marks.as_ref().and_then(|marks| marks.bound.and(marks.bar(theme).proven()));
        let mut value = match proven {
            Some(share) if flat && goal.sense == Sense::Max => {
                vec![Piece::answer(format!("{} % of what is possible", reached_share(share)))]
            }
            Some(share) if flat => {
                let words = |marks: &Marks| match marks.ideal {
                    Some(_) => format!("{} % of the loss {}", whole(share), marks.word),
                    // Without an ideal value the loss is unknown.
                    None => format!("gap {}", marks.gap),
                };
                vec![Piece::answer(marks.as_ref().map_or_else(String::new, words))]
            }
            _ => {
                // The clock goes before the name of the pane is cut.
                let word = run_word(app, true);
                let fits = word.text.chars().count() + AROUND_WORD <= usize::from(placed.area.width);
                vec![if fits { word } else { run_word(app, false) }]
            }
        };
        let runs = app.runs.newest();
        let remedy = format!("{} solves with {}", solve_key(app), work.now.method);
        let empty = runs.is_empty() && marks.is_none();
        let stale = best.filter(|entry| app.is_of_another_scenario(entry));
        let number = |entry: &PlanEntry| format!("plan {} *", entry.number);
        let stale = stale.map(|entry| if placed.area.width < ROOMY { "*".to_owned() } else { number(entry) });
        let state = match &stale {
            _ if empty => PaneState::Empty { what: "nothing was solved yet", remedy: &remedy },
            Some(plan) => PaneState::Stale(plan),
            None => PaneState::Ready,
        };
        let rows = Self::rows(indented(Pane::inner(placed.area), placed));
        if rows < runs.len() && placed.area.width >= HIDDEN {
            value.insert(0, Piece::muted(format!("{rows} of {} runs  ", runs.len())));
        }
        let what = Title { name: "Solve", value: &value, state };
        let body = indented(title(app, placed, &what, buf), placed);
        let visible = self.fill(app, &goal, &runs, marks.as_ref(), proven, body);
        if marks.is_none() && !app.plans.is_empty() {
            let why = if app.is_stale() { "no plan yet" } else { "no plan competes yet" };
            self.caption.push(Piece::muted(why));
        }
        // The rows of the first plan stay free, so that the plan does not move the runs.
        let awaits_plan = marks.is_none() && app.plans.is_empty() && app.runs.is_busy() && !flat;
        if awaits_plan {
            self.ideal.push(Piece::muted("best -"));
            self.best.push(Piece::muted("bound -"));
            self.caption.push(Piece::muted("no plan yet"));
        }
        if !empty && !body.is_empty() {
            let mut strip = SolveStrip::new(theme, &self.methods)
                .ends(&self.ideal, &self.bound, &self.best)
                .caption(&self.caption, &self.caption_right)
                .notes(&self.notes);
            if let Some(marks) = &marks {
                strip = strip.bar(marks.bar(theme));
            } else if awaits_plan {
                strip = strip.bar(GapBar::new(theme, 0.0, None, None));
            }
            (&strip).render(body, buf, &mut self.hits);
            self.select(app, placed, buf, out);
        }
        let selected = app.pane(PaneId::Solve).selected;
        let run =
            runs.iter().find(|run| Some(run.id.0 as ItemId) == selected).copied().or_else(|| leading(app));
        let sentence = run.map_or_else(String::new, |run| runs::sentence(app, run, &goal));
        out.panes.push(drawn(placed, self.methods.len(), visible, sentence));
    }

    /// Marks the selected run, and makes the rows clickable.
    fn select(&self, app: &App, placed: &Placed, buf: &mut Buffer, out: &mut Drawn) {
        let theme = &app.look.theme;
        let selected = app.pane(PaneId::Solve).selected.filter(|_| app.focus.pane == PaneId::Solve);
        for hit in self.hits.iter() {
            let left = placed.area.x.min(hit.rect.x);
            let rect = Rect { x: left, width: hit.rect.right().saturating_sub(left), ..hit.rect };
            if Some(hit.id) == selected {
                buf.set_style(rect.intersection(buf.area), theme.selected());
                if let Some(cell) = buf.cell_mut((left, rect.y)) {
                    cell.set_symbol(">").set_style(theme.style(Tone::Answer));
                }
            }
            out.hits.push(select(PaneId::Solve, hit.id, rect, Some(Command::Inspect)));
        }
    }

    /// Returns the number of runs that fit below the bar.
    fn rows(body: Rect) -> usize {
        let flat = body.height <= 3 && body.width >= 60;
        usize::from(body.height.saturating_sub(if flat { 0 } else { ABOVE })).max(1)
    }

    /// Refills all parts. Returns the index of the first run shown.
    fn fill(
        &mut self,
        app: &App,
        goal: &Goal,
        all: &[&Run],
        marks: Option<&Marks>,
        proven: Option<f64>,
        body: Rect,
    ) -> usize {
        let roomy = body.width >= ROOMY;
        for pieces in
            [&mut self.ideal, &mut self.bound, &mut self.best, &mut self.caption, &mut self.caption_right]
        {
            pieces.clear();
        }
        if let Some(marks) = marks {
            self.fill_marks(goal, marks, proven, body.width);
        }
        let flat = body.height <= 3 && body.width >= 60;
        let above = if flat { 0 } else { ABOVE };
        let room = Self::rows(body);
        // Notes are indented by two columns, or placed between name and state.
        let margin = if above == 0 { 30 } else { 2 };
        // Active runs must be visible; the ends of the list may be hidden.
        let selected = app.pane(PaneId::Solve).selected;
        let at = all
            .iter()
            .position(|run| Some(run.id.0 as ItemId) == selected && app.focus.pane == PaneId::Solve);
        let at = at.or_else(|| all.iter().position(|run| run.state.is_active()));
        let first = at.unwrap_or(usize::MAX).min(all.len().saturating_sub(room));
        let own = all.get(first).and_then(|run| run.best.as_ref()).map(|found| found.value);
        if flat && own.is_some() && own == marks.map(|marks| marks.best) {
            // The row of the run already has this value.
            let is_max = marks.is_some_and(|marks| marks.sense == Sense::Max);
            if is_max { &mut self.ideal } else { &mut self.best }.clear();
        } else if flat && let Some(label) = self.best.first_mut().filter(|label| label.text == "best ") {
            // In the row of a run, its own best value comes first.
            label.text = "of all ".into();
        }
        self.methods.clear();
        self.methods.extend(all.iter().skip(first).map(|run| MethodRow {
            id: run.id.0 as ItemId,
            name: run.method.clone().into(),
            value: runs::best(run, goal, if roomy { Room::Long } else { Room::Short }).into(),
            state: runs::word(app, run),
            elapsed: number::duration(app.elapsed_s(run)).into(),
            note: runs::note(app, run, goal, usize::from(body.width.saturating_sub(margin))),
        }));
        self.notes.clear();
        self.notes.extend(leading(app).and_then(|run| hot_start(run, goal, body.width)));
        self.notes.extend(limits(app, body.width));
        self.notes.push(health(app));
        self.notes.extend(leading(app).map_or_else(Vec::new, |run| phases(app, run)));
        first
    }

    fn fill_marks(&mut self, goal: &Goal, marks: &Marks, proven: Option<f64>, width: u16) {
        let roomy = width >= ROOMY;
        let short = |value: f64| String::from(goal.value(value, Room::Short));
        if marks.sense == Sense::Max {
            return self.fill_share(goal, marks, proven, roomy);
        }
        if let Some(ideal) = marks.ideal {
            self.ideal.extend([Piece::muted("ideal "), Piece::text(short(ideal))]);
        }
        let best = short(marks.best);
        let mut names = ["bound ", "best "];
        if let Some(bound) = marks.bound.or(marks.drawn_partial()) {
            let tone = if marks.bound.is_some() { Tone::Good } else { Tone::Muted };
            let bound = match marks.ideal {
                Some(ideal) if gap(ideal, bound) <= OPTIMAL_GAP => short(ideal),
                _ => String::from(goal.bound_on(marks.best, bound, Room::Short)),
            };
            if !roomy && bound.len() + best.len() > DIGITS {
                names = ["≥ ", ""];
            }
            let pieces = [Piece::new(names[0], tone), Piece::new(bound, tone)];
            // Without an ideal value the bound is at the left end.
            if marks.ideal.is_some() { self.bound.extend(pieces) } else { self.ideal.extend(pieces) }
        }
        self.best.extend([Piece::muted(names[1]), Piece::answer(best)]);
        let Some(ideal) = marks.ideal else {
            self.caption.push(Piece::muted(if marks.bound.is_none() && marks.partial.is_none() {
                "nothing proven yet".to_owned()
            } else {
                // Words are dropped before numbers.
                let plain = marks.gap.replace(" verified", "");
                let brief = plain.replace(" for some", " some");
                let [first, number] = [" (", " %"].map(|end| marks.gap.split(end).next().unwrap_or(""));
                let gaps = [&marks.gap, &plain].map(|gap| format!("gap {gap}"));
                let least = [format!("gap {first}"), format!("gap {number} %")];
                fitting(&[&gaps[..], &[plain, brief], &least].concat(), width)
            }));
            return;
        };
        let loss = marks.best - ideal;
        if loss <= OPTIMAL_GAP * marks.best.abs() {
            let words = if roomy { "no loss over the ideal network" } else { "no loss over ideal" };
            self.caption.push(Piece::muted(words));
            return;
        }
        if let (Some(bound), Some(share)) = (marks.bound, proven) {
            let part = (bound - ideal).clamp(0.0, loss);
            self.caption.push(Piece::new(number::millis(part, 2), Tone::Good));
            self.caption.push(Piece::muted(" of "));
            self.caption.push(Piece::text(goal.difference(loss)));
            if roomy {
                self.caption.push(Piece::muted(format!(" loss {}", marks.word)));
            }
            self.caption_right.push(Piece::answer(format!("{} %", whole(share))));
        } else {
            self.caption.push(Piece::text(goal.difference(loss)));
            let words = if roomy { " over ideal, no bound yet" } else { " over ideal" };
            self.caption.push(Piece::muted(words));
        }
    }
}

impl Solve {
    /// Fills the bar of an objective that is maximised, up to its bound.
    fn fill_share(&mut self, goal: &Goal, marks: &Marks, reached: Option<f64>, roomy: bool) {
        let room = if roomy { Room::Long } else { Room::Short };
        // A narrow strip shows both numbers whole and drops the name of the left one.
        let name = if roomy { "best " } else { "" };
        self.ideal.extend([Piece::muted(name), Piece::answer(goal.value(marks.best, room))]);
        let (Some(bound), Some(reached)) = (marks.bound, reached) else {
            self.caption.push(Piece::muted("no bound yet"));
            return;
        };
        self.best.extend([
            Piece::new("bound ", Tone::Good),
            Piece::new(goal.bound_on(marks.best, bound, room), Tone::Good),
        ]);
        let words = if roomy { "best / bound, " } else { "bound " };
        self.caption.push(Piece::muted(format!("{words}{}", marks.word)));
        self.caption_right.push(Piece::answer(format!("{} %", reached_share(reached))));
    }
}

/// Returns the first text that fits into a width, else the last one.
fn fitting(texts: &[String], width: u16) -> String {
    let fits = texts.iter().find(|text| text.chars().count() <= usize::from(width));
    fits.or(texts.last()).cloned().unwrap_or_default()
}

/// Formats the share of a bound that a plan reaches in per cent: rounded as in the panes, but 100 only if the plan
/// reaches the bound.
fn reached_share(share: f64) -> String {
    let share = if share < 1.0 - 1e-9 { share.min(0.999) } else { share };
    number::percent(share, 1).to_string()
}

/// Converts a fraction to whole per cent, rounded down, so that 100 means complete.
fn whole(share: f64) -> u32 {
    (share * 100.0 + 1e-7).floor().clamp(0.0, 100.0) as u32
}

/// Describes the hot start of the displayed run: `hot start repaired 12.829852 there, 12.593750 here`.
fn hot_start(run: &Run, goal: &Goal, width: u16) -> Option<Vec<Piece>> {
    let report = run.hot_start.as_ref()?;
    let roomy = width >= BOTH;
    let room = if roomy { Room::Long } else { Room::Short };
    let mut pieces = vec![Piece::muted(if roomy { "hot start " } else { "" })];
    let rejected = report.fate == HotStartFate::Rejected;
    pieces.push(Piece::new(report.fate.word(), if rejected { Tone::Bad } else { Tone::Muted }));
    match (report.before, report.after) {
        (Some(before), Some(after)) if roomy && before != after => {
            pieces.push(Piece::muted(format!(" {} there, ", goal.value(before, room))));
            pieces.push(Piece::text(format!("{} here", goal.value(after, room))));
        }
        (Some(_), Some(value)) => pieces.push(Piece::text(format!(" at {}", goal.value(value, room)))),
        (Some(value), None) | (None, Some(value)) => {
            pieces.push(Piece::muted(format!(" {}", goal.value(value, room))));
        }
        (None, None) if !roomy => pieces.push(Piece::muted(" hot start")),
        (None, None) => {}
    }
    Some(pieces)
}

/// Returns the time that a run spent in each phase, in the order of the phases: `anneal  00:43`.
fn phases(app: &App, run: &Run) -> Vec<Vec<Piece>> {
    let ends = run.phases.iter().skip(1).map(|(at_s, _)| *at_s).chain([app.elapsed_s(run)]);
    let mut spent: Vec<(&str, f64)> = Vec::new();
    for ((at_s, phase), end_s) in run.phases.iter().zip(ends) {
        match spent.iter_mut().find(|(name, _)| *name == phase.name) {
            Some((_, all_s)) => *all_s += end_s - at_s,
            None => spent.push((&phase.name, end_s - at_s)),
        }
    }
    let widest = spent.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let row = |(name, all_s): &(&str, f64)| {
        vec![Piece::muted(format!("{name:<widest$} ")), Piece::text(number::duration(*all_s))]
    };
    spent.iter().map(row).collect()
}

/// Returns the limits of a solve as text: `threads 1 of 2  limit 10:00  gap 0.01 %`, in two rows if one is too narrow.
fn limits(app: &App, width: u16) -> Vec<Vec<Piece>> {
    let (threads, all) = app.options.threads;
    let threads = vec![Piece::muted("threads "), Piece::text(format!("{threads} of {all}"))];
    let mut limits = Vec::new();
    if let Some(work) = &app.work {
        let limit = work
            .now
            .common
            .time_limit_s
            .map_or_else(|| "none".to_owned(), |limit| number::duration(limit).into());
        limits.extend([Piece::muted("limit "), Piece::text(limit)]);
        if let Some(gap) = work.now.common.gap {
            limits.extend([Piece::muted("  gap "), Piece::text(format!("{} %", number::percent(gap, 2)))]);
        }
    }
    let glyphs = app.look.theme.glyphs;
    if pieces_width(&threads, glyphs) + 2 + pieces_width(&limits, glyphs) > width {
        return vec![threads, limits];
    }
    vec![[threads, vec![Piece::text("  ")], limits].concat()]
}

/// Returns the displayed plan, if the checker confirmed it, and the number of dropped events: `checked plan 6 ✓  events
/// dropped 0`. If saving fails, returns the reason instead.
fn health(app: &App) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if let Some(why) = &app.session.failing {
        pieces.push(Piece::new("! not saved: ", Tone::Bad).bold());
        pieces.push(Piece::text(why.clone()));
        return pieces;
    }
    // A plan of a run is added to the table only after it has passed the checker.
    if let Some(entry) = app.plans.shown().filter(|entry| entry.origin.is_some()) {
        pieces.extend([
            Piece::muted("checked "),
            Piece::text(format!("plan {} ✓", entry.number)),
            Piece::muted("  "),
        ]);
    }
    let (merged, dropped) = app.lost;
    pieces.push(Piece::muted("events dropped "));
    let tone = if dropped > 0 { Tone::Bad } else { Tone::Text };
    pieces.push(Piece::new(number::short(dropped), tone));
    if merged > 0 {
        pieces.push(Piece::muted(format!(", merged {}", number::short(merged))));
    }
    pieces
}
