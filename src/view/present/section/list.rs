//! Facts and tables of a section, one below the other, scrolled as one list, with bars or loads over time next to the
//! rows.

mod block;

use super::opened_hits;
use crate::app::action::Command;
use crate::app::drawn::{Drawn, Item};
use crate::app::pane::ItemId;
use crate::view::present::PaneInput;
use crate::view::present::rows::{InSight, VisiblePart, ends, in_sight, line, row};
pub use block::ListBlock;
use block::{ListRow, VisibleRows, figures, sentence};
use lightbay_core::report::{Body, Phrase, Section};
use lightbay_widgets::{Piece, TableState, scroll};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum number of rows of a section for which the details of a pane contain a sentence about every row.
const SENTENCES: usize = 200;

/// Number of blank columns between the columns of a long list.
const GAP: u16 = 2;

/// The lists of a section in the displayed form.
#[derive(Debug, Default)]
pub struct List {
    parts: Vec<Part>,
    state: TableState,
    /// What the list says about its hidden rows, with the index of the block that it is about; `None` if all rows fit.
    sight: Option<(Option<usize>, InSight)>,
}

/// Name of an item of a list, by which the item is found again in the list of another plan: its block, and the texts of
/// its first two cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemName {
    block: usize,
    cells: [String; 2],
}

/// The selected item of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    pub item: Option<ItemId>,
    /// `true` if the item is drawn as selected.
    pub marked: bool,
    /// `true` if the item is kept visible.
    pub follow: bool,
    /// `true` if the user chose the item. Until then a list starts with its first row, and scrolls only for an item of
    /// its first block, because the first block shows the subject of the list.
    pub chosen: bool,
}

impl Selection {
    /// Makes a selection of an item that is marked and kept visible.
    pub const fn of(item: ItemId) -> Self {
        Self { item: Some(item), marked: true, follow: true, chosen: true }
    }

    /// Returns the item that is drawn as selected.
    pub fn shown(self) -> Option<ItemId> {
        self.item.filter(|_| self.marked)
    }
}

/// A block with its place in the list.
#[derive(Debug)]
struct Part {
    /// Row of the list in which the block starts.
    first: usize,
    block: Arc<ListBlock>,
}

impl Part {
    fn end(&self) -> usize {
        self.first + self.block.height()
    }

    /// Makes a click select a row of the block drawn last and a double click open it.
    fn report_hits(&self, input: &PaneInput<'_>, state: &TableState, out: &mut Drawn) {
        let open = |id: ItemId| {
            if self.block.of_plans { Command::ShowPlan(u64::from(id)) } else { Command::Inspect }
        };
        opened_hits(input, &state.hits, |id, _| id, open, out);
    }
}

impl List {
    /// Puts blocks one below the other.
    pub fn new(blocks: impl Iterator<Item = Arc<ListBlock>>) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for block in blocks {
            // A blank row separates blocks.
            let first = parts.last().map_or(0, |last| last.end() + 1);
            parts.push(Part { first, block });
        }
        Self { parts, state: TableState::default(), sight: None }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.block.rows.is_empty())
    }

    /// Returns the total number of rows of the list.
    pub fn rows(&self) -> usize {
        self.parts.last().map_or(0, Part::end)
    }

    /// Returns the number of rows of the first list.
    pub fn first_rows(&self) -> usize {
        self.parts.first().map_or(0, Part::end)
    }

    /// Returns the visible rows, if not all rows fit.
    pub fn in_sight(&self) -> Option<InSight> {
        self.sight.map(|(_, sight)| sight)
    }

    /// Writes the visible rows into the heading of the block that they are about, if the heading is visible in a list
    /// that starts with its first row; then no other place states them.
    pub fn name_rows(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer) {
        let Some((Some(at), sight)) = self.sight.filter(|_| !self.is_newest_last()) else { return };
        let Some((part, name)) = self.parts.get(at).and_then(|part| Some((part, part.block.heading()?)))
        else {
            return;
        };
        let (words, place) = (sight.to_string(), row(area, part.first as u16));
        let wide = name.chars().count() + 2 + words.chars().count();
        if place.height > 0 && wide <= usize::from(place.width) {
            ends(&input.app.look.theme, &[], &[Piece::muted(words)], place, buf);
            self.sight = None;
        }
    }

    /// Returns the items by row of the list.
    pub fn items(&self) -> Vec<Item> {
        let of_part = |part: &Part| {
            let first = part.first + part.block.above();
            let item = move |(at, row): (usize, &ListRow)| Item {
                id: row.row.id,
                row: (first + at) as u32,
                place: 0.0,
            };
            part.block.rows.iter().enumerate().map(item).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    /// Returns `true` if the list shows its newest rows, which come last, until the user chooses an item.
    pub fn is_newest_last(&self) -> bool {
        self.parts.iter().any(|part| part.block.newest_last)
    }

    /// Returns block and row of an item.
    fn find(&self, id: ItemId) -> Option<(usize, usize)> {
        let of = |part: &Part| Some((part.block.index, part.block.rows.get(part.block.place_of(id)?)?.of));
        self.parts.iter().find_map(of)
    }

    /// Returns the first item.
    pub fn first(&self) -> Option<ItemId> {
        self.parts.iter().flat_map(|part| &part.block.rows).next().map(|row| row.row.id)
    }

    /// Returns the first item of the block with an item; `None` in the first block.
    pub fn first_like(&self, id: ItemId) -> Option<ItemId> {
        let part = self.parts.iter().skip(1).find(|part| part.block.place_of(id).is_some())?;
        part.block.rows.first().map(|row| row.row.id)
    }

    /// Returns the name of an item.
    pub fn name(&self, id: ItemId) -> Option<ItemName> {
        self.names().find(|(known, _)| *known == id).map(|(_, name)| name)
    }

    /// Iterates over the names of all items.
    fn names(&self) -> impl Iterator<Item = (ItemId, ItemName)> + '_ {
        let rows = |part: &'_ Part| {
            let name = |row: &ListRow| {
                let cell =
                    |at: usize| row.row.cells.get(at).map_or_else(String::new, |cell| cell.text.to_string());
                (row.row.id, ItemName { block: part.block.index, cells: [cell(0), cell(1)] })
            };
            part.block.rows.iter().map(name).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(rows)
    }

    /// Returns the item with a name. If several items have the same first cell, the second cell decides, then the id.
    pub fn named(&self, name: &ItemName, id: ItemId) -> Option<ItemId> {
        let first = |name: &ItemName| (name.block, name.cells[0].clone());
        let alike: Vec<_> = self.names().filter(|(_, other)| first(other) == first(name)).collect();
        let mut same = alike.iter().filter(|(_, other)| other == name);
        match (alike.as_slice(), same.next(), same.next()) {
            ([(only, _)], ..) | (_, Some((only, _)), None) => Some(*only),
            (all, ..) => all.iter().map(|(other, _)| *other).find(|other| *other == id),
        }
    }

    /// Returns the sentence about an item of a section.
    pub fn sentence(&self, section: &Section, id: ItemId) -> Option<Phrase> {
        let (block, row) = self.find(id)?;
        sentence(&section.blocks.get(block)?.body, row)
    }

    /// Returns every figure of an item, one line each.
    pub fn details(&self, section: &Section, id: ItemId) -> Vec<String> {
        let body = |block: usize| section.blocks.get(block).map(|block| &block.body);
        match self.find(id).and_then(|(block, row)| Some((body(block)?, row))) {
            Some((Body::Table(table), row)) => table.rows.get(row).map_or_else(Vec::new, |row| {
                let line = |(label, value): (String, String)| format!("{label}  {value}");
                figures(table, row).into_iter().map(line).chain(row.details.iter().cloned()).collect()
            }),
            Some((body, row)) => sentence(body, row).iter().map(Phrase::to_string).collect(),
            None => Vec::new(),
        }
    }

    /// Returns the sentences about all rows, for the details of the pane; empty if there are more than `SENTENCES`
    /// rows.
    pub fn sentences(&self, section: &Section) -> Vec<String> {
        let rows: usize = self.parts.iter().map(|part| part.block.rows.len()).sum();
        if rows > SENTENCES {
            return Vec::new();
        }
        let of_part = |part: &Part| {
            let body = section.blocks.get(part.block.index).map(|block| &block.body);
            let rows = part.block.rows.iter();
            rows.filter_map(|row| Some(sentence(body?, row.of)?.to_string())).collect::<Vec<_>>()
        };
        // Tables on one item have one sentence.
        let mut known = HashSet::new();
        let mut sentences: Vec<String> = self.parts.iter().flat_map(of_part).collect();
        sentences.retain(|sentence| known.insert(sentence.clone()));
        sentences
    }

    /// Returns the number of columns that the whole list can use.
    pub fn wish(&self) -> u16 {
        self.parts.iter().map(|part| part.block.wish()).max().unwrap_or(0)
    }

    /// Returns the number of columns of the whole list without bars.
    pub fn least(&self) -> u16 {
        self.parts.iter().map(|part| part.block.least()).max().unwrap_or(0)
    }

    /// Draws the visible rows; returns the first of them and the number of rows that fit.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        selection: Selection,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) -> (usize, usize) {
        let across = self.across(area);
        if across > 1 {
            return self.draw_across(input, selection, across, area, buf, out);
        }
        let height = usize::from(area.height).max(1);
        // The item chosen last in another pane is not here: the list starts with its first row again.
        let is_lost = self.state.selected.is_some() && selection.item.is_none() && selection.follow;
        self.state.selected = selection.shown();
        // If each bar has room for two rows, the whole list is visible.
        let tall = |part: &Part| usize::from(part.block.most_tall(area.width));
        let stretched = |part: &Part| part.block.height() + part.block.rows.len() * (tall(part) - 1) + 1;
        let most: usize = self.parts.iter().map(stretched).sum();
        if most > self.rows() + 1 && most <= height + 1 {
            self.sight = None;
            let mut y = 0;
            for part in &self.parts {
                let tall = tall(part) as u16;
                let shown = VisibleRows { rows: (0, part.block.height()), y, is_pinned: false, tall };
                part.block.draw(input, shown, area, buf, &mut self.state);
                y += stretched(part) as u16;
                part.report_hits(input, &self.state, out);
            }
            return (0, height);
        }
        let at = selection.item.filter(|_| selection.follow).and_then(|id| {
            let row = |part: &Part| {
                let at = part.block.place_of(id)?;
                // The names of the columns become visible together with the first row.
                Some(if at == 0 { part.first } else { part.first + part.block.above() + at })
            };
            let parts = if selection.chosen { &self.parts[..] } else { self.parts.get(..1).unwrap_or(&[]) };
            parts.iter().find_map(row)
        });
        let ends = at.is_none() && self.is_newest_last();
        let begins = is_lost || selection.item.is_some() && selection.follow && !selection.chosen;
        let wished = if ends {
            self.rows().saturating_sub(height)
        } else if begins {
            0
        } else {
            input.state.offset
        };
        // The headings of the block at the top stay in view.
        let pinned = usize::from(height > 2 && self.parts.iter().any(|part| part.block.heads));
        let (at, room) = (at.map(|row| row.saturating_sub(pinned)), height - pinned);
        let offset = scroll::follow(wished, at, room, self.rows().saturating_sub(pinned));
        let below = offset + pinned;
        let top = self.parts.iter().find(|part| part.end() > below);
        let pins = top.is_some_and(|part| part.block.heads_are_above(below.saturating_sub(part.first)));
        let (first, room) = if offset == 0 || !pins { (offset, height) } else { (below, room) };
        let hidden = (self.rows() > height).then(|| self.rows_between((first, first + room), selection.item));
        self.sight = hidden.and_then(|(at, sight)| Some((at, sight?)));
        // Rows for names of columns, and rows at the top that are left out.
        let (mut above, mut left_out) = (0, 0);
        for part in &self.parts {
            let (from, to) = (part.first.max(first), part.end().min(first + room));
            if from >= to {
                continue;
            }
            // A heading without a row below it is left out, and the last row of a block without the names of its columns.
            let is_rest = part.block.heads && to - from == 1 && from > part.first && to == part.end();
            let is_chosen = || selection.item.is_some_and(|id| part.block.place_of(id).is_some());
            if to - part.first <= part.block.above() && to < part.end()
                || is_rest && to < first + room && !is_chosen()
            {
                left_out += if from == first { (to + 1 - from) as u16 } else { 0 };
                continue;
            }
            let (rows, y) = ((from - part.first, to - part.first), (from - first) as u16 + above - left_out);
            let is_pinned = first > offset && y == 0 && part.block.heads_are_above(rows.0);
            let shown = VisibleRows { rows, y, is_pinned, tall: 1 };
            part.block.draw(input, shown, area, buf, &mut self.state);
            above += u16::from(is_pinned);
            part.report_hits(input, &self.state, out);
        }
        (offset, height)
    }
}

impl List {
    /// Returns the number of columns in which the list is drawn: several for one long table without pictures whose rows
    /// are narrow.
    fn across(&self, area: Rect) -> u16 {
        match self.parts.as_slice() {
            [Part { block, .. }]
                if block.is_plain() && area.height > 1 && self.rows() > usize::from(area.height) =>
            {
                ((area.width + GAP) / (block.wish() + GAP)).max(1)
            }
            _ => 1,
        }
    }

    /// Draws the visible rows in several columns; returns the first of them and the number of rows that fit.
    fn draw_across(
        &mut self,
        input: &PaneInput<'_>,
        selection: Selection,
        across: u16,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) -> (usize, usize) {
        let Some(part) = self.parts.first() else { return (0, 1) };
        let block = &part.block;
        let (above, all) = (block.above(), block.rows.len());
        let high = usize::from(area.height) - above;
        let page = high * usize::from(across);
        let at = selection.item.filter(|_| selection.follow).and_then(|id| block.place_of(id));
        let offset = scroll::follow(input.state.offset, at, page, all);
        self.sight = in_sight((offset, page, all), (0, 0, 0)).map(|sight| (None, sight));
        self.state.selected = selection.shown();
        let wide = (area.width - GAP * (across - 1)) / across;
        for (column, from) in (0..across).zip((offset..all).step_by(high)) {
            let place = Rect { x: area.x + column * (wide + GAP), width: wide, ..area };
            let first = if from == 0 { 0 } else { above + from };
            let rows = (first, above + all.min(from + high));
            let shown = VisibleRows { rows, y: 0, is_pinned: from > 0, tall: 1 };
            block.draw(input, shown, place, buf, &mut self.state);
            part.report_hits(input, &self.state, out);
        }
        (offset, page)
    }

    /// Returns what the list says about the rows outside of a range, with the index of the block that it is about: the
    /// block with the selected item if only some of its rows are visible, else the first such block. Blocks below the
    /// range are counted apart. If nothing is hidden below, and no block is cut, the visible rows are those of all blocks.
    fn rows_between(
        &self,
        (from, to): (usize, usize),
        selected: Option<ItemId>,
    ) -> (Option<usize>, Option<InSight>) {
        let seen = |part: &Part| {
            let (first, count) = (part.first + part.block.above(), part.block.rows.len());
            let before = from.saturating_sub(first).min(count);
            (before, to.saturating_sub(first).min(count) - before, count)
        };
        let parts = || self.parts.iter().map(seen).enumerate();
        let below: usize =
            parts().map(|(_, (before, shown, all))| if before + shown == 0 { all } else { 0 }).sum();
        let cut = || parts().filter(|(_, (_, shown, all))| *shown > 0 && shown < all).map(|(at, _)| at);
        let has_selected =
            |at: &usize| selected.is_some_and(|id| self.parts[*at].block.place_of(id).is_some());
        if let Some(at) = cut().find(has_selected).or_else(|| cut().next()) {
            let rows = seen(&self.parts[at]);
            let is_alone = self.parts.len() == 1;
            return (
                Some(at),
                if is_alone { in_sight(rows, (0, 0, 0)) } else { InSight::of_list(rows, below) },
            );
        }
        let sum = |(before, shown, all): VisiblePart, (_, part): (usize, VisiblePart)| {
            (before + part.0, shown + part.1, all + part.2)
        };
        let rows = if below > 0 { (0, 0, 0) } else { parts().fold((0, 0, 0), sum) };
        (None, InSight::of_list(rows, below))
    }
}

/// If a list without pictures has too many rows for the area, draws it in as many columns as fit, with the names of the
/// table at the top of each column; the last row states the number of omitted rows. Otherwise draws nothing and returns
/// `false`.
pub fn flow(list: &List, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer) -> bool {
    let (gap, height) = (GAP, usize::from(area.height));
    if list.rows() <= height || height < 3 || list.parts.iter().any(|part| part.block.has_pictures()) {
        return false;
    }
    let wish = list.wish();
    let across = ((area.width + gap) / (wish + gap).max(1)).max(1);
    let mut state = TableState::default();
    // First row of the list that is not drawn yet.
    let mut next = 0;
    for at in 0..across {
        let x = area.x + at * (wish + gap);
        let column = Rect { x, width: wish.min(area.right().saturating_sub(x)), ..area };
        let mut y = 0;
        while let Some(part) = list.parts.iter().find(|part| part.end() > next).filter(|_| y < height) {
            // No blank row at the top of a column, and no heading without a row.
            if next < part.first {
                (y, next) = (y + usize::from(y > 0), part.first);
                continue;
            }
            let from = next - part.first;
            let is_pinned = y == 0 && part.block.heads_are_above(from);
            let room = height - y - usize::from(is_pinned);
            if from == 0 && room <= part.block.above() {
                break;
            }
            let to = part.block.height().min(from + room);
            let shown = VisibleRows { rows: (from, to), y: y as u16, is_pinned, tall: 1 };
            part.block.draw(input, shown, column, buf, &mut state);
            y += to - from + usize::from(is_pinned);
            next = part.first + to;
        }
        let rows = |part: &Part| {
            let above = part.first + part.block.above();
            part.end() - next.clamp(above, part.end())
        };
        let hidden: usize = list.parts.iter().map(rows).sum();
        if hidden > 0 && at + 1 == across {
            let place = Rect { y: area.bottom() - 1, height: 1, ..column };
            let more = format!("   and {} more; i lists them", hidden + usize::from(y == height));
            let width = usize::from(column.width);
            let words = format!("{more:<width$}");
            line(&input.app.look.theme, &[Piece::muted(words)], place, buf);
        }
    }
    true
}
