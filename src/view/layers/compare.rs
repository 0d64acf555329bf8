//! Two plans side by side: what differs first, then the figures with sign and per cent, then what the kind adds.
//!
//! The sheet is drawn once per pair and width into a buffer of its own; scrolling copies rows of it.

use super::popup;
use crate::app::drawn::Drawn;
use crate::app::layer::{CompareView, Pair};
use crate::app::state::App;
use crate::view::figures::{self, Room, in_unit, quantity};
use crate::view::present::{CompareBlocks, Presenter};
use lightbay_core::param::ParamValue;
use lightbay_sessions::compare::{Figure, Scope, TOLERANCE, Table as Sheet, Verdict, change};
use lightbay_widgets::{
    Column, Cut, PairedBars, Pen, Piece, Sentence, Table, TableRow, TableState, Theme, Tone, number,
    pair_legend, text,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

/// Columns of the pop-up, frame included.
const WIDTH: u16 = 92;

/// Figures that say something about the scenario, not about a plan.
const OF_SCENARIO: [&str; 2] = ["ideal_makespan_s", "comm_ideal_s"];

/// What the sheet was made for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key {
    pair: Pair,
    baseline: Option<u64>,
    width: u16,
    theme: Theme,
}

/// The sheet of the pair on the screen.
#[derive(Debug, Default)]
pub struct Comparison {
    key: Option<Key>,
    sheet: Buffer,
    verdict: String,
}

impl Comparison {
    pub fn draw(
        &mut self,
        app: &App,
        view: &CompareView,
        presenter: &mut Presenter,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let Some(pair) = view.pairs.get(view.at).copied() else { return };
        let width = WIDTH.min(area.width.saturating_sub(2)).saturating_sub(4);
        let key = Key { pair, baseline: app.plans.baseline, width, theme: app.look.theme };
        if self.key != Some(key) {
            let Some(sheet) = app.comparison(pair) else {
                self.key = None;
                let words = [Piece::muted("one of the plans is still being read")];
                let inner = popup(app, "Compare", &[], (60, 3), area, buf);
                return (&Sentence::new(&app.look.theme, &words)).render(inner, buf);
            };
            let blocks = match (app.plans.get(pair.plan), app.plans.get(pair.against)) {
                (Some(a), Some(b)) => presenter.compare(app, a, b),
                _ => CompareBlocks::default(),
            };
            self.make(app, &key, &sheet, &blocks);
            self.key = Some(key);
        }
        let rows = self.sheet.area.height;
        let mut value = vec![Piece::answer(self.verdict.clone())];
        if view.pairs.len() > 1 {
            value.insert(0, Piece::muted(format!("pair {} of {}   ", view.at + 1, view.pairs.len())));
        }
        let inner = popup(app, "Compare", &value, (WIDTH, rows.saturating_add(3)), area, buf);
        let room = inner.height.saturating_sub(u16::from(inner.height > rows));
        let top = inner.y + (inner.height - room);
        let offset = view.offset.min(usize::from(rows.saturating_sub(room))) as u16;
        for (y, row) in (offset..rows).take(usize::from(room)).enumerate() {
            for x in 0..inner.width.min(self.sheet.area.width) {
                if let (Some(to), Some(from)) =
                    (buf.cell_mut((inner.x + x, top + y as u16)), self.sheet.cell((x, row)))
                {
                    *to = from.clone();
                }
            }
        }
        out.layer_page = usize::from(room).max(1);
        out.layer_rows = usize::from(rows);
    }

    /// Draws the whole sheet.
    fn make(&mut self, app: &App, key: &Key, sheet: &Sheet, blocks: &CompareBlocks) {
        let theme = &key.theme;
        let Pair { plan, against } = key.pair;
        let base = if key.baseline == Some(against) { format!("B {against}") } else { against.to_string() };
        let name = |number: u64| app.plans.get(number).map_or("", |entry| &entry.method).to_owned();
        let heads = [format!("{plan} {}", name(plan)), format!("{base} {}", name(against))];
        let minus = format!("{plan} - {}", base.split(' ').next().unwrap_or_default());
        let figures = figures(app, key.pair, sheet);
        self.verdict = verdict(plan, &figures);
        let table = table(sheet, &figures);
        let numbers = blocks.row.as_ref().map(|(title, row)| Numbers::new(title, row, key.width, theme));
        let bars = blocks.bars.as_ref();
        let table_rows = table.len() as u16 + 1;
        let number_rows = numbers.as_ref().map_or(0, |numbers| numbers.rows() + 1);
        let bar_rows = bars.map_or(0, |(_, rows)| (rows.len() as u16).saturating_add(3));
        let height = table_rows.saturating_add(number_rows).saturating_add(bar_rows);
        let area = Rect::new(0, 0, key.width, height.min(u16::MAX / key.width.max(1)));
        self.sheet = Buffer::empty(area);
        self.sheet.set_style(area, theme.popup());
        let columns = [
            Column::left("", 18).grow().cut(Cut::End),
            Column::right(heads[0].clone(), 16).cut(Cut::Middle).gap(1),
            Column::right(heads[1].clone(), 16).cut(Cut::Middle).gap(1),
            Column::right(minus.clone(), 12).gap(1).priority(1),
            Column::right("%", 8).gap(1).priority(2),
        ];
        let rows = Rect { height: table_rows.min(area.height), ..area };
        let widget = Table::new(theme, &columns, &table).selectable(false);
        (&widget).render(rows, &mut self.sheet, &mut TableState::default());
        let mut y = table_rows;
        if let Some(numbers) = numbers {
            let part = Rect { y: y + 1, height: numbers.rows(), ..area };
            numbers.draw([&plan.to_string(), &base, &minus], part.intersection(area), &mut self.sheet, theme);
            y += number_rows;
        }
        if let Some((title, rows)) = bars {
            let part = Rect { y: y + 1, height: rows.len() as u16 + 1, ..area };
            (&PairedBars::new(theme, rows).title(title)).render(part.intersection(area), &mut self.sheet);
            let legend = pair_legend(theme, heads[0].clone(), heads[1].clone());
            let part = Rect {
                x: 14.min(area.width),
                y: part.bottom(),
                width: area.width.saturating_sub(14),
                height: 1,
            };
            (&Sentence::new(theme, &legend)).render(part.intersection(area), &mut self.sheet);
        }
    }
}

/// The figures in reading order, with the loss over the ideal network.
fn figures(app: &App, pair: Pair, sheet: &Sheet) -> Vec<Figure> {
    let rank = |name: &str| match name {
        "nct" => 1,
        "loss_s" => 2,
        "total_ports" => 3,
        "gap" => 5,
        "bound" => 6,
        "elapsed_s" => 9,
        name if OF_SCENARIO.contains(&name) => 8,
        _ => 4,
    };
    let mut figures: Vec<Figure> = sheet.figures.clone();
    let loss = |number: u64| {
        let entry = app.plans.get(number)?;
        Some(entry.value - entry.metrics.get("ideal_makespan_s")?)
    };
    if let (Some(new), Some(old)) = (loss(pair.plan), loss(pair.against)) {
        let sense = Some(lightbay_core::kind::Sense::Min);
        figures.push(Figure {
            name: "loss_s".to_owned(),
            sense,
            values: vec![Some(old), Some(new)],
            changes: vec![Some(change(old, new, sense, TOLERANCE))],
        });
    }
    // The objective is the first one.
    if let Some(rest) = figures.get_mut(1..) {
        rest.sort_by_key(|figure| rank(&figure.name));
    }
    figures
}

/// `6 better on 6 of 7, tie on 1`: over the figures of which it is known which way is better.
fn verdict(plan: u64, figures: &[Figure]) -> String {
    let judged = figures
        .iter()
        .filter(|figure| figure.sense.is_some() && !OF_SCENARIO.contains(&figure.name.as_str()))
        .filter_map(|figure| figure.changes.first().copied().flatten());
    let (mut better, mut worse, mut tie) = (0, 0, 0);
    for change in judged {
        match change.verdict {
            Verdict::Better => better += 1,
            Verdict::Worse => worse += 1,
            Verdict::Tie => tie += 1,
            Verdict::Different => {}
        }
    }
    let all = better + worse + tie;
    let mut text = format!("{plan} better on {better} of {all}");
    if worse > 0 {
        text.push_str(&format!(", worse on {worse}"));
    }
    if tie > 0 {
        text.push_str(&format!(", tie on {tie}"));
    }
    text
}

fn table(sheet: &Sheet, figures: &[Figure]) -> Vec<TableRow> {
    let mut rows = vec![TableRow::heading("what differs")];
    let text = |value: Option<&Option<ParamValue>>| {
        value.and_then(Option::as_ref).map_or_else(|| number::UNKNOWN.to_owned(), ToString::to_string)
    };
    for scope in [Scope::Plan, Scope::Parameter, Scope::Scenario] {
        let mut any = false;
        for setting in sheet.settings.iter().filter(|setting| setting.scope == scope) {
            any = true;
            rows.push(TableRow::fixed(vec![
                Piece::text(format!(" {}", setting.name)),
                Piece::answer(text(setting.values.get(1))),
                Piece::muted(text(setting.values.first())),
            ]));
        }
        if !any {
            let name = match scope {
                Scope::Plan => " method, status, seed",
                Scope::Parameter => " parameters",
                Scope::Scenario => " scenario",
            };
            rows.push(TableRow::fixed(vec![Piece::muted(name), Piece::muted("same"), Piece::muted("same")]));
        }
    }
    rows.push(TableRow::gap());
    rows.push(TableRow::heading("result"));
    let objective = figures.first().map_or("", |figure| figure.name.as_str());
    rows.extend(figures.iter().map(|figure| row(figure, objective)));
    rows
}

fn row(figure: &Figure, objective: &str) -> TableRow {
    let (label, scale, unit) = match figure.name.as_str() {
        // Losses are milliseconds of a makespan of seconds.
        "loss_s" => ("loss over ideal ms".to_owned(), 1e3, "ms"),
        "gap" => ("gap %".to_owned(), 100.0, "%"),
        "bound" => {
            let unit = quantity(objective).1;
            (format!("bound {unit}"), 1.0, unit)
        }
        name => {
            let (stem, unit) = quantity(name);
            (format!("{stem} {unit}").trim_end().to_owned(), 1.0, unit)
        }
    };
    let shown = |value: f64| -> String {
        let room = if figure.name == "elapsed_s" { Room::Short } else { Room::Long };
        if figure.name == "nct" {
            number::nct(value).into()
        } else {
            in_unit(value * scale, unit, room).into()
        }
    };
    let value = |index: usize| {
        let value = figure.values.get(index).copied().flatten();
        value.map_or_else(|| number::UNKNOWN.to_owned(), shown)
    };
    let mut cells = vec![Piece::text(format!(" {label}")), Piece::answer(value(1)), Piece::muted(value(0))];
    if let Some(change) = figure.changes.first().copied().flatten() {
        let tone = figures::tone(change.verdict);
        if change.verdict == Verdict::Tie {
            cells.extend([Piece::new("0", Tone::Muted), Piece::new("tie", Tone::Muted)]);
        } else {
            let difference = shown(change.difference);
            let sign = if change.difference > 0.0 { "+" } else { "" };
            cells.push(Piece::new(format!("{sign}{difference}"), tone).bold());
            cells.push(
                Piece::new(
                    change.percent.map_or_else(String::new, |value| figures::percent(value).into()),
                    tone,
                )
                .bold(),
            );
        }
    }
    TableRow::fixed(cells)
}

/// A row of numbers for both plans under their names, in as many blocks as the width asks for.
struct Numbers<'a> {
    title: &'a str,
    row: &'a crate::view::present::CompareRow,
    column: u16,
    per_block: usize,
}

/// Columns in front of the numbers.
const LEFT: u16 = 9;

impl<'a> Numbers<'a> {
    fn new(title: &'a str, row: &'a crate::view::present::CompareRow, width: u16, theme: &Theme) -> Self {
        let longest = row.names.iter().map(|name| text::width(name, theme.glyphs)).max().unwrap_or(0);
        let count = row.names.len().max(1) as u16;
        let room = width.saturating_sub(LEFT);
        let least = (longest + 2).clamp(5, room.max(5));
        // Few columns spread a little, so that the eye keeps them apart.
        let column = (room / count).clamp(least, 15.max(least));
        Self { title, row, column, per_block: usize::from((room / column).max(1)) }
    }

    fn blocks(&self) -> usize {
        self.row.names.len().div_ceil(self.per_block)
    }

    fn rows(&self) -> u16 {
        (1 + 4 * self.blocks()) as u16
    }

    fn draw(&self, heads: [&str; 3], area: Rect, buf: &mut Buffer, theme: &Theme) {
        let mut pen = Pen::new(buf, area, theme);
        pen.text(0, 0, self.title, theme.style(Tone::Muted));
        for block in 0..self.blocks() {
            let y = 1 + 4 * block as i32;
            for (row, head) in (1..).zip(heads) {
                pen.cut(1, y + row, i32::from(LEFT) - 2, head, Cut::End, theme.style(Tone::Text));
            }
            for at in 0..self.per_block {
                let index = block * self.per_block + at;
                let Some(name) = self.row.names.get(index) else { break };
                let right = i32::from(LEFT) + i32::from(self.column) * (at as i32 + 1);
                let room = i32::from(self.column) - 1;
                let width = i32::from(text::width(name, theme.glyphs)).min(room);
                pen.cut(right - width, y, width, name, Cut::Middle, theme.style(Tone::Muted));
                let (a, b) = (self.row.a.get(index).copied(), self.row.b.get(index).copied());
                let mut number = |row: i32, value: Option<f64>, signed: bool, tone: Tone| {
                    let Some(value) = value else { return };
                    let text = if signed { number::signed(value, 0) } else { number::fixed(value, 0) };
                    pen.right(right, y + row, &text, theme.style(tone));
                };
                number(1, a.map(|a| a as f64), false, Tone::Answer);
                number(2, b.map(|b| b as f64), false, Tone::Muted);
                number(3, a.zip(b).map(|(a, b)| a as f64 - b as f64), true, Tone::Answer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::kind::Sense;

    fn figure(name: &str, old: f64, new: f64, sense: Option<Sense>) -> Figure {
        let changes = vec![Some(change(old, new, sense, TOLERANCE))];
        Figure { name: name.to_owned(), sense, values: vec![Some(old), Some(new)], changes }
    }

    #[test]
    fn the_verdict_counts_what_can_be_judged() {
        let figures = [
            figure("makespan_s", 12.871, 12.83, Some(Sense::Min)),
            figure("nct", 1.1687, 1.0691, Some(Sense::Min)),
            figure("total_ports", 42.0, 48.0, Some(Sense::Min)),
            figure("gap", 0.1, 0.1, Some(Sense::Min)),
            figure("ideal_makespan_s", 12.8, 12.8, Some(Sense::Min)),
            figure("port_ratio", 0.9, 1.0, None),
        ];
        assert_eq!(verdict(6, &figures), "6 better on 2 of 4, worse on 1, tie on 1");
    }
}
