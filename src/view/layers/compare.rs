//! Compares plans: first the differences, then the figures with sign and percentage, then the further differences
//! that the kind computes.
//!
//! The sheet is drawn once per selection and width into a separate buffer, and scrolling copies rows of it.

mod numbers;
mod rows;
mod several;

use super::popup;
use crate::app::drawn::Drawn;
use crate::app::layer::{CompareView, Pair};
use crate::app::state::App;
use crate::view::present::rows::in_sight;
use crate::view::present::tone;
use lightbay_core::report::differences::{Differences, SpanPair};
use lightbay_sessions::compare::{CompareTable as Sheet, NotRanked};
use lightbay_widgets::{
    Column, Cut, PairRow, PairedBars, Piece, RowKind, Sentence, Table, TableRow, TableState, Theme, Tone,
    number, pair_legend, pieces_width, text,
};
use numbers::Numbers;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Number of columns of the pop-up for a pair, frame included.
const WIDTH: u16 = 92;

/// Maximum number of columns of the pop-up for several plans, frame included.
const SEVERAL_WIDTH: u16 = 160;

/// Inputs from which the sheet (the drawn comparison) was made.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    pairs: Vec<Pair>,
    /// Identities of the plans: plan numbers restart in every session, and the end of a run replaces its plan.
    plans: Vec<(usize, u64)>,
    /// Names of the plans, which the user can change.
    titles: Vec<String>,
    differing: bool,
    baseline: Option<u64>,
    width: u16,
    theme: Theme,
}

/// The sheet of the displayed pair.
#[derive(Debug, Default)]
pub struct Comparison {
    key: Option<Key>,
    sheet: Buffer,
    verdict: String,
}

/// Returns the address of a plan in memory and the bits of its value; zeros if the plan is not in memory.
fn identity(app: &App, number: u64) -> (usize, u64) {
    app.plans.get(number).map_or((0, 0), |entry| {
        let place = entry.plan.as_ref().map_or(0, |plan| Arc::as_ptr(&plan.0.shared()).addr());
        (place, entry.value.to_bits())
    })
}

impl Comparison {
    pub fn draw(&mut self, app: &App, view: &CompareView, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let Some(against) = view.shown().first().map(|pair| pair.against) else { return };
        // Several plans use the whole width.
        let most = if view.pair().is_some() { WIDTH } else { SEVERAL_WIDTH };
        let width = most.min(area.width.saturating_sub(2)).saturating_sub(4);
        let numbers = view.shown().iter().map(|pair| pair.plan).chain([against]);
        let key = Key {
            pairs: view.shown().to_vec(),
            plans: numbers.clone().map(|number| identity(app, number)).collect(),
            titles: numbers
                .map(|number| {
                    app.plans.get(number).map_or_else(String::new, |entry| app.plans.title(entry).to_owned())
                })
                .collect(),
            differing: view.differing,
            baseline: app.plans.baseline,
            width,
            theme: app.look.theme,
        };
        if self.key.as_ref() != Some(&key) {
            let Some(sheet) = app.comparison(view.shown()) else {
                self.key = None;
                let words = [Piece::muted(app.why_no_comparison(view.shown()))];
                let inner = popup(app, "Compare", &[], (60, 3), area, buf);
                return (&Sentence::new(&app.look.theme, &words)).render(inner, buf);
            };
            let plan = |number| app.plans.get(number)?.plan.as_ref();
            if let Some(pair) = view.pair() {
                let plans = plan(pair.plan).zip(plan(pair.against));
                let differences = plans.map_or_else(Differences::default, |(a, b)| a.0.differences(&b.0));
                self.make(app, &key, pair, &sheet, &differences);
            } else {
                self.make_several(app, &key, &sheet);
            }
            self.key = Some(key);
        }
        let rows = self.sheet.area.height;
        let mut value = vec![Piece::answer(self.verdict.clone())];
        if view.pairs.len() > 1 && view.at > 0 {
            value.insert(0, Piece::muted(format!("pair {} of {}   ", view.at, view.pairs.len())));
        }
        let inner = popup(app, "Compare", &value, (most, rows.saturating_add(3)), area, buf);
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
        if let Some(part) = in_sight((offset.into(), room.into(), rows.into()), (0, 0, 0)) {
            let theme = &app.look.theme;
            let words = [Piece::muted(format!(" {part} "))];
            let width = pieces_width(&words, theme.glyphs).min(inner.width);
            let place = Rect { x: inner.right() - width, y: inner.bottom(), width, height: 1 };
            (&Sentence::new(theme, &words)).render(place.intersection(buf.area), buf);
        }
        out.layer_page = usize::from(room).max(1);
        out.layer_rows = usize::from(rows);
    }

    /// Draws the sheet of several plans side by side. Plans that do not fit are counted in a note.
    fn make_several(&mut self, app: &App, key: &Key, sheet: &Sheet) {
        let theme = &key.theme;
        let numbers = key.pairs.first().map(|pair| pair.against).into_iter();
        let numbers: Vec<u64> = numbers.chain(key.pairs.iter().map(|pair| pair.plan)).collect();
        let plans = several::fitting(key.width, numbers.len());
        let head = |number: &u64| {
            let method = app.plans.get(*number).map_or("", |entry| app.plans.title(entry));
            let base = if key.baseline == Some(*number) { "B " } else { "" };
            format!("{base}{number} {method}")
        };
        let heads: Vec<String> = numbers.iter().take(plans).map(head).collect();
        let figures = rows::figures(sheet);
        let table = several::table(sheet, &figures, plans, key.differing);
        self.verdict =
            format!("{} plans, changes against {}", numbers.len(), heads.first().map_or("", |head| head));
        let mut notes: Vec<String> = sheet.not_ranked.iter().map(NotRanked::sentence).collect();
        notes.extend(sheet.varied_sentence());
        if plans < numbers.len() {
            notes.push(format!(
                "{plans} of {} plans fit; {} shows the others one by one, and {} writes all of them.",
                numbers.len(),
                app.keymap.hint("next_pair"),
                app.keymap.hint("write_table")
            ));
        }
        let rows_of = |note: &String| text::width(note, theme.glyphs) / (key.width * 4 / 5).max(1) + 1;
        let note_rows = notes.iter().map(|note| rows_of(note) + 1).sum::<u16>();
        let table_rows = table.len() as u16 + 1;
        let height = note_rows.saturating_add(table_rows).min(u16::MAX / key.width.max(1));
        let area = Rect::new(0, 0, key.width, height);
        self.sheet = Buffer::empty(area);
        self.sheet.set_style(area, theme.popup());
        let mut y = 0;
        for note in &notes {
            let place = Rect { y, height: rows_of(note), ..area };
            let pieces = [Piece::new(note.clone(), Tone::Changed)];
            (&Sentence::new(theme, &pieces).wrap(true)).render(place.intersection(area), &mut self.sheet);
            y += rows_of(note) + 1;
        }
        let rows = Rect { y: note_rows, height: table_rows, ..area }.intersection(area);
        let columns = several::columns(&heads);
        let widget = Table::new(theme, &columns, &table).selectable(false);
        (&widget).render(rows, &mut self.sheet, &mut TableState::default());
    }

    /// Draws the whole sheet of a pair.
    fn make(&mut self, app: &App, key: &Key, pair: Pair, sheet: &Sheet, differences: &Differences) {
        let theme = &key.theme;
        let Pair { plan, against } = pair;
        let base = if key.baseline == Some(against) { format!("B {against}") } else { against.to_string() };
        let name = |number: u64| app.plans.get(number).map_or("", |entry| app.plans.title(entry)).to_owned();
        let heads = [format!("{plan} {}", name(plan)), format!("{base} {}", name(against))];
        let minus = format!("{plan} - {}", base.split(' ').next().unwrap_or_default());
        let figures = rows::figures(sheet);
        self.verdict = rows::verdict(plan, sheet, &figures);
        let mut table = rows::table(sheet, &figures, key.differing);
        // What is not judged comes after the differences that the kind computes.
        let is_not_judged =
            |row: &TableRow| row.cells.first().is_some_and(|cell| cell.text == rows::NOT_JUDGED);
        let rest = table.split_off(table.iter().position(is_not_judged).unwrap_or(table.len()));
        table.truncate(table.iter().rposition(|row| row.kind != RowKind::Gap).map_or(0, |last| last + 1));
        let mut counts = differences.counts.clone();
        if let Some(counts) = counts.as_mut().filter(|_| key.differing) {
            counts.counts.retain(|pair| pair.values[0] != pair.values[1]);
        }
        let counts = counts.filter(|counts| !counts.counts.is_empty());
        let numbers = counts.as_ref().map(|counts| Numbers::new(counts, key.width, theme));
        let bars = differences.spans.as_ref();
        let bars = bars.map(|spans| (spans.title, spans.spans.iter().map(bar).collect::<Vec<PairRow>>()));
        let notes: Vec<String> =
            sheet.not_ranked.iter().map(NotRanked::sentence).chain(sheet.varied_sentence()).collect();
        // Rows break between words, so a row holds fewer characters than its width.
        let rows_of = |note: &String| text::width(note, theme.glyphs) / (key.width * 4 / 5).max(1) + 1;
        let note_rows = notes.iter().map(|note| rows_of(note) + 1).sum::<u16>();
        let table_rows = table.len() as u16 + 1;
        let number_rows = numbers.as_ref().map_or(0, |numbers| numbers.rows() + 1);
        let bar_rows = bars.as_ref().map_or(0, |(_, rows)| (rows.len() as u16).saturating_add(3));
        let rest_rows = if rest.is_empty() { 0 } else { rest.len() as u16 + 1 };
        let parts = [note_rows, table_rows, number_rows, bar_rows, rest_rows];
        let height = parts.into_iter().fold(0, u16::saturating_add);
        let area = Rect::new(0, 0, key.width, height.min(u16::MAX / key.width.max(1)));
        self.sheet = Buffer::empty(area);
        self.sheet.set_style(area, theme.popup());
        let (value, difference, percent) = if key.width >= 80 { (16, 12, 8) } else { (14, 10, 7) };
        let columns = [
            Column::left("", 20).grow().cut(Cut::End),
            Column::right(heads[0].clone(), value).cut(Cut::Middle).gap(1),
            Column::right(heads[1].clone(), value).cut(Cut::Middle).gap(1),
            Column::right(minus.clone(), difference).gap(1).priority(1),
            Column::right("%", percent).gap(1),
        ];
        let mut y = 0;
        for note in &notes {
            let place = Rect { y, height: rows_of(note), ..area };
            let pieces = [Piece::new(note.clone(), Tone::Changed)];
            (&Sentence::new(theme, &pieces).wrap(true)).render(place.intersection(area), &mut self.sheet);
            y += rows_of(note) + 1;
        }
        let rows = Rect { y: note_rows, height: table_rows, ..area }.intersection(area);
        let widget = Table::new(theme, &columns, &table).selectable(false);
        (&widget).render(rows, &mut self.sheet, &mut TableState::default());
        let mut y = note_rows + table_rows;
        if let Some(numbers) = numbers {
            let part = Rect { y: y + 1, height: numbers.rows(), ..area };
            numbers.draw([&plan.to_string(), &base, &minus], part.intersection(area), &mut self.sheet, theme);
            y += number_rows;
        }
        if let Some((title, rows)) = bars {
            let legend = pair_legend(theme, heads[0].clone(), heads[1].clone());
            let part =
                Rect { x: 14.min(area.width), y: y + 1, width: area.width.saturating_sub(14), height: 1 };
            (&Sentence::new(theme, &legend)).render(part.intersection(area), &mut self.sheet);
            let part = Rect { y: y + 2, height: rows.len() as u16 + 1, ..area };
            (&PairedBars::new(theme, &rows).title(title)).render(part.intersection(area), &mut self.sheet);
            y += bar_rows;
        }
        let part = Rect { y: y + 1, height: rest.len() as u16, ..area }.intersection(area);
        let widget = Table::new(theme, &columns, &rest).selectable(false).header(false);
        (&widget).render(part, &mut self.sheet, &mut TableState::default());
    }
}

/// Draws an interval of both plans as a pair of bars.
fn bar(pair: &SpanPair) -> PairRow {
    let [new, old] = pair.spans_s;
    let difference = number::signed((new.1 - old.1) * 1e3, 1).as_str().to_owned();
    PairRow {
        name: Piece::new(pair.name.clone(), Tone::Gradient),
        new_s: Some(new),
        old_s: Some(old),
        difference: Piece::new(difference, tone(pair.tone)),
    }
}
