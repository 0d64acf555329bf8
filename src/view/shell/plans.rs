//! The table of plans: best first, with marks and baseline, the ideal network, and the comparison below.

use super::against::{Against, ROWS};
use super::{Title, drawn, indented, select, solve_key, title};
use crate::app::action::Command;
use crate::app::drawn::Drawn;
use crate::app::pane::{ItemId, PaneId};
use crate::app::plans::PlanEntry;
use crate::app::state::App;
use crate::view::figures::{Goal, Headline, Room, ideal_objective, percent};
use crate::view::layout::Placed;
use lightbay_core::metric::{InTable, MetricInfo};
use lightbay_engines::metrics;
use lightbay_sessions::compare::{TOLERANCE, Verdict, change};
use lightbay_widgets::{
    Column, PaneState, Piece, RowKind, Sentence, Table, TableRow, TableState, Tone, number, scroll,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

/// Number of columns of the marks before a row.
const PREFIX: u16 = 3;

/// A column of a figure that the kind declares.
#[derive(Clone, Copy, Debug)]
struct MetricColumn {
    info: &'static MetricInfo,
    place: InTable,
}

impl MetricColumn {
    fn text(&self, value: f64) -> String {
        // Numbers without fixed decimals get three decimals in a table.
        let decimals =
            usize::from(self.info.unit.decimals.unwrap_or(3)).min(usize::from(self.place.width.max(2)) - 2);
        number::fixed(value * self.info.unit.scale, decimals).into()
    }
}

/// The table with its rows.
#[derive(Debug, Default)]
pub struct Plans {
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    state: TableState,
    against: Against,
    /// Selection of the last frame: the table scrolls to the selection when it changes, and otherwise stays where the
    /// mouse wheel moved it.
    followed: Option<ItemId>,
}

impl Plans {
    pub fn draw(&mut self, app: &App, placed: &Placed, buf: &mut Buffer, out: &mut Drawn) {
        let Some(work) = &app.work else { return };
        let goal = Goal::of(work.objective);
        let best = app.plans.best().map(|entry| {
            let stale = app.is_of_another_scenario(entry);
            let sign = Piece::new(if stale { " *" } else { "" }, Tone::Changed);
            vec![Piece::answer(format!("best {}", entry.number)), sign]
        });
        let remedy = match app.runs.active().next() {
            Some(_) => "a run is active".to_owned(),
            None => format!("{} solves with {}", solve_key(app), work.now.method),
        };
        let state = if app.plans.is_empty() {
            PaneState::Empty { what: "no plan yet", remedy: &remedy }
        } else {
            PaneState::Ready
        };
        let what = Title { name: "Plans", value: best.as_deref().unwrap_or(&[]), state };
        let body = indented(title(app, placed, &what, buf), placed);
        if app.plans.is_empty() || body.is_empty() {
            out.panes.push(drawn(placed, usize::from(body.height), 0, String::new()));
            return;
        }
        let focused = app.focus.pane == PaneId::Plans;
        self.fill(app, &goal, body.width);
        let sentence = app.meant_plan().map_or_else(String::new, |entry| sentence(app, &goal, entry));
        let foot = match (focused, body.height) {
            (true, 10..) if body.width < 40 => 3,
            (true, 7..) => 2,
            _ => 0,
        };
        let upper = Rect { height: body.height - foot, ..body };
        let against = self.against.fill(app, body.width).min(ROWS);
        let wished = self.rows.len() as u16 + 1;
        // The table gets the rows that it needs, at least six; the comparison gets the rest.
        let room = upper.height.saturating_sub(1 + 7.min(wished));
        let against = if room >= 2 { against.min(room) } else { 0 };
        let table_rows = if against > 0 { upper.height - against - 1 } else { upper.height };
        let table = Rect { height: table_rows.min(wished), ..upper };
        self.draw_table(app, table, buf, out);
        if against > 0 {
            let y = table.bottom() + 1;
            let area = Rect { y, height: against, ..body };
            self.against.draw(app, area, buf);
        }
        if foot > 0 {
            let area = Rect { y: upper.bottom(), height: foot, ..body };
            let pieces = [Piece::answer("> "), Piece::text(sentence.clone())];
            (&Sentence::new(&app.look.theme, &pieces).wrap(true)).render(area, buf);
        }
        let page = usize::from(table.height.saturating_sub(1));
        out.panes.push(drawn(placed, page, self.state.offset, sentence));
    }

    fn draw_table(&mut self, app: &App, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let selected = app.pane(PaneId::Plans);
        let height = usize::from(area.height.saturating_sub(1));
        let at =
            self.rows.iter().position(|row| row.kind == RowKind::Item && Some(row.id) == selected.selected);
        let follow = if self.followed == selected.selected { None } else { at };
        self.followed = selected.selected;
        let offset = scroll::follow(selected.offset, follow, height, self.rows.len());
        let visible = offset..(offset + height).min(self.rows.len());
        self.state.selected = selected.selected;
        self.state.offset = 0;
        let rows = self.rows.get(visible).unwrap_or(&[]);
        (&Table::new(&app.look.theme, &self.columns, rows)).render(area, buf, &mut self.state);
        self.state.offset = offset;
        out.hits.extend(
            self.state.hits.iter().map(|hit| select(PaneId::Plans, hit.id, hit.rect, Some(Command::Inspect))),
        );
    }

    fn fill(&mut self, app: &App, goal: &Goal, width: u16) {
        let rows = app.plans.rows();
        let has = |name: &str| rows.iter().any(|entry| entry.metrics.contains_key(name));
        let kind = app.work.as_ref().map_or("", |work| work.kind);
        let figures: Vec<MetricColumn> = metrics(kind)
            .iter()
            .filter(|info| has(info.name))
            .filter_map(|info| Some(MetricColumn { info, place: info.table? }))
            .collect();
        let needed = |figure: &MetricColumn| {
            let values = rows.iter().filter_map(|entry| entry.metrics.get(figure.info.name));
            let widest = values.map(|value| figure.text(*value).chars().count() as u16).max();
            if figure.place.width > 0 {
                figure.place.width
            } else {
                widest.unwrap_or(1).max(figure.place.title.chars().count() as u16)
            }
        };
        let names = rows.iter().map(|entry| app.plans.title(entry).chars().count() as u16).max().unwrap_or(0);
        let digits = rows.iter().map(|entry| entry.number).max().unwrap_or(1).to_string().len() as u16;
        let widest =
            rows.iter().map(|entry| goal.value(entry.value, Room::Long).chars().count() as u16).max();
        // Short values get only the width that they need, so that the names of methods have room.
        let value_width = match widest.unwrap_or(9) {
            short @ ..5 => short,
            long => long.max(10),
        };
        let head = goal.column();
        let value_width = value_width.max((head.chars().count() as u16).min(14));
        // A figure that is always shown replaces the objective, because it needs fewer columns.
        let spoken = figures.iter().any(|figure| figure.place.priority == 0);
        // Decimals of the objective are omitted before the names of methods are cut.
        let is_tight = !spoken && PREFIX + digits + 2 + names.min(14) + value_width > width;
        let (room, head, value_width) = if is_tight && !goal.unit.symbol.is_empty() {
            let short = |entry: &&PlanEntry| goal.value(entry.value, Room::Short).chars().count();
            let unit = goal.unit.symbol.chars().count();
            let widest = rows.iter().map(short).max().unwrap_or(0).max(unit);
            (Room::Short, goal.unit.symbol.to_owned(), widest as u16)
        } else {
            (Room::Long, head, value_width)
        };
        self.columns.clear();
        self.columns.push(Column::right("#", digits));
        self.columns.push(Column::left("method", names.clamp(13, 14)).gap(1).grow());
        self.columns.push(Column::right(head, value_width).gap(1).priority(if spoken { 2 } else { 0 }));
        self.columns.extend(figures.iter().map(|figure| {
            Column::right(figure.place.title, needed(figure)).gap(1).priority(figure.place.priority)
        }));
        self.rows.clear();
        let shown = app.plans.shown().map(|entry| entry.number);
        let mut foreign = false;
        for entry in &rows {
            let present = entry.scenario_sha256 == app.plans.scenario_sha256;
            if !present && !foreign {
                foreign = true;
                self.ideal(
                    kind,
                    goal,
                    rows.first().copied().filter(|entry| entry.scenario_sha256 == app.plans.scenario_sha256),
                    &figures,
                );
                self.rows.push(TableRow::heading("  of other parameters"));
            }
            let value = goal.value(entry.value, room).into();
            self.rows.push(row(app, value, entry, &figures, present, shown == Some(entry.number)));
        }
        if !foreign {
            self.ideal(kind, goal, rows.first().copied(), &figures);
        }
    }

    /// Adds the row of the ideal network, whose objective no plan can improve on.
    fn ideal(&mut self, kind: &str, goal: &Goal, entry: Option<&PlanEntry>, figures: &[MetricColumn]) {
        let Some(ideal) = entry.and_then(|entry| ideal_objective(metrics(kind), &entry.metrics)) else {
            return;
        };
        let mut cells = vec![
            Piece::muted("–"),
            Piece::muted("ideal network"),
            Piece::muted(goal.value(ideal, Room::Long)),
        ];
        cells.extend(figures.iter().map(|figure| match figure.place.ideal {
            Some(ideal) => Piece::muted(figure.text(ideal)),
            None => Piece::muted("–"),
        }));
        self.rows.push(TableRow::fixed(cells));
    }
}

fn row(
    app: &App,
    value: String,
    entry: &PlanEntry,
    figures: &[MetricColumn],
    present: bool,
    shown: bool,
) -> TableRow {
    let tone = if present { Tone::Text } else { Tone::Muted };
    let cell = |text: String| if shown { Piece::answer(text) } else { Piece::new(text, tone) };
    let metric = |name: &str| entry.metrics.get(name).copied().unwrap_or(f64::NAN);
    let mut cells =
        vec![Piece::muted(entry.number.to_string()), cell(app.plans.title(entry).to_owned()), cell(value)];
    cells.extend(figures.iter().map(|figure| cell(figure.text(metric(figure.info.name)))));
    let mark = match (app.plans.baseline == Some(entry.number), entry.marked) {
        (true, _) => "B",
        (false, true) => "m",
        _ => "",
    };
    TableRow::item(entry.number as ItemId, cells).mark(mark)
}

/// Returns the sentence about a plan: its figures, its status, and its difference from the baseline.
pub fn sentence(app: &App, goal: &Goal, entry: &PlanEntry) -> String {
    let mut parts = vec![
        format!("plan {} {}", entry.number, app.plans.title(entry)),
        goal.with_unit(entry.value, Room::Long),
    ];
    let headline = Headline {
        name: String::new(),
        value: entry.value,
        metrics: entry.metrics.clone(),
        standing: app.standing_of(entry),
        declared: metrics(app.work.as_ref().map_or("", |work| work.kind)),
        preview: false,
    };
    let said = |early: bool| {
        headline
            .in_header(early)
            .map(|(info, place, text)| format!("{} {text}", place.title.unwrap_or(info.label)))
    };
    parts.extend(said(true));
    if headline.bound().is_some() {
        parts.push(format!("gap {}", headline.standing.brief()));
    }
    parts.extend(said(false));
    if let Some(problem) = &entry.refused {
        parts.push(format!("refused: {problem}"));
    } else if entry.status.is_some() {
        parts.push(headline.standing.status());
    }
    let base = app.plans.baseline.and_then(|number| app.plans.get(number));
    if let Some(base) = base.filter(|base| base.number != entry.number) {
        let change = change(base.value, entry.value, Some(goal.sense), TOLERANCE);
        let words = match change.percent {
            Some(value) if change.verdict != Verdict::Tie => format!("{} %", percent(value)),
            _ => change.verdict.word().to_owned(),
        };
        parts.push(format!("{words} against B {} {}", base.number, base.method));
    }
    if Headline::of(app).is_some_and(|headline| headline.preview) {
        parts.push("(an edit is being tried)".to_owned());
    }
    parts.extend(app.plans.note(entry.number).map(|note| format!("note: {note}")));
    parts.join("  ")
}
