//! Small pictures of the items of a section, next to each other: the details of several items at once.

use super::{Prepared, SectionContent, Selection, pieces};
use crate::app::action::Command;
use crate::app::drawn::Drawn;
use crate::view::present::PaneInput;
use crate::view::present::rows::{self, ends};
use lightbay_core::report::{CellSign, Panel};
use lightbay_widgets::{Piece, Sign, SignCell, SignFlag, SignMap, SignRows, Tone, pieces_width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use std::sync::Arc;

/// Blank columns and rows between two pictures.
const ACROSS: u16 = 2;
const DOWN: u16 = 1;

/// Numbers of columns of a cell, the largest first.
const SCALES: [u16; 3] = [4, 2, 1];

/// Small pictures of a section.
#[derive(Debug, Default)]
pub struct Panels {
    of: Option<Arc<Prepared>>,
    drawn: Vec<(Panel, SignRows)>,
    /// First and last picture in sight, from 1; `None` if all are.
    sight: Option<[usize; 2]>,
}

impl Panels {
    /// Prepares the pictures of a section for its first display.
    pub fn fill(&mut self, prepared: &Arc<Prepared>) {
        if self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, prepared)) {
            return;
        }
        self.of = Some(Arc::clone(prepared));
        self.drawn = prepared
            .section
            .panels
            .iter()
            .map(|panel| (panel.clone(), rows_of(&panel.signs, panel.columns)))
            .collect();
    }

    pub const fn is_empty(&self) -> bool {
        self.drawn.is_empty()
    }

    /// Returns the visible pictures as text, if some are hidden.
    pub fn in_sight(&self) -> Option<String> {
        self.sight.map(|[first, last]| match self.drawn.len() {
            all if first == last => format!("picture {first} of {all}"),
            all => format!("pictures {first}-{last} of {all}"),
        })
    }

    /// Draws the list of the section with the pictures next to it; returns the offset and page of the list, and the area
    /// below the pictures. `None` without room for the pictures.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        (content, selection): (&mut SectionContent, Selection),
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) -> Option<(Option<(usize, usize)>, Rect)> {
        let (least, _) = content.widths();
        let theme = &input.app.look.theme;
        let (list, place) = rows::beside(area, least, ACROSS);
        let fit = |all: u16, one: u16, gap: u16| usize::from((all + gap) / (one + gap));
        // Width and height of the largest picture at a scale, and the numbers of pictures next to and below each other.
        let grid = |scale: u16| {
            let size = |(panel, rows): &(Panel, SignRows)| {
                let title = pieces_width(&title(panel, true), theme.glyphs);
                let (width, height) = SignMap::new(theme, rows, panel.columns as u16).scale(scale).size();
                (width.max(title), height)
            };
            let sizes = self.drawn.iter().map(size);
            let (width, height) = sizes.reduce(|(w, h), (width, height)| (w.max(width), h.max(height)))?;
            // The title is at the right if the picture would not fit below it.
            let height = height.saturating_add(u16::from(height < place.height));
            Some((scale, width, height, fit(place.width, width, ACROSS), fit(place.height, height, DOWN)))
        };
        // The largest scale at which all pictures fit.
        let all = self.drawn.len();
        let whole = SCALES.into_iter().filter_map(grid).find(|(.., across, down)| across * down >= all);
        let (scale, width, height, across, down) = whole.or_else(|| grid(1))?;
        let room = across * down;
        // One picture replaces the details of its item only if these details do not fit.
        let is_tall = self.drawn.iter().any(|(_, rows)| rows.rows() + 2 > usize::from(area.height));
        if room == 0 || room == 1 && !is_tall {
            return None;
        }
        let page = content.draw(input, selection, list, buf, out);
        // The page of pictures with the selected item.
        let chosen = self.drawn.iter().position(|(panel, _)| Some(panel.item) == selection.item);
        let first = chosen.unwrap_or(0) / room * room;
        let shown = &self.drawn[first..self.drawn.len().min(first + room)];
        self.sight = (shown.len() < self.drawn.len()).then_some([first + 1, first + shown.len()]);
        for (at, (panel, rows)) in shown.iter().enumerate() {
            let (column, row) = ((at % across) as u16, (at / across) as u16);
            let frame = Rect {
                x: place.x + column * (width + ACROSS),
                y: place.y + row * (height + DOWN),
                width,
                height,
            };
            let map = SignMap::new(theme, rows, panel.columns as u16).scale(scale);
            let (wide, high) = map.size();
            let words = title(panel, Some(panel.item) == selection.item);
            let below = if high < frame.height {
                ends(theme, &words, &[], rows::row(frame, 0), buf);
                rows::from(frame, 1)
            } else {
                // A picture that needs all rows has its title at the right.
                let x = frame.x + wide + ACROSS;
                let right = Rect { x, width: place.right().saturating_sub(x), ..frame };
                rows::wrapped(theme, &words, right, buf);
                frame
            };
            map.render(Rect { width: wide.min(below.width), ..below }, buf);
            out.hits.push(input.hit(frame, panel.item, Command::Inspect));
        }
        let used = shown.len().div_ceil(across) as u16 * (height + DOWN);
        Some((page, rows::from(place, used)))
    }
}

/// Returns the words over a picture.
fn title(panel: &Panel, is_selected: bool) -> Vec<Piece> {
    let mark = Piece::new(if is_selected { "> " } else { "  " }, Tone::Answer);
    let mut words = vec![mark];
    words.extend(pieces(&panel.title));
    words
}

/// Converts the signs of a picture with `columns` columns, row by row.
pub(super) fn rows_of(signs: &[CellSign], columns: usize) -> SignRows {
    let mut rows = SignRows::default();
    for row in signs.chunks(columns.max(1)) {
        for (column, sign) in (0..).zip(row) {
            let sign = match *sign {
                CellSign::None => continue,
                CellSign::Stays(count) => Sign::Keep(count),
                CellSign::Comes(count) => Sign::Add(count),
                CellSign::Goes(count) => Sign::Remove(count),
            };
            rows.push(SignCell { column, sign, flag: SignFlag::Plain });
        }
        rows.end_row();
    }
    rows
}
