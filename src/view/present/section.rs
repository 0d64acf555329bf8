//! Sections of a kind as panes: one renderer for facts, tables, matrices, curves and spans, whatever the kind.
//!
//! | room | what |
//! |---|---|
//! | [`list`] | facts and tables, one below the other in one scrolled list |
//! | [`matrix`] | cells by row and column |
//! | [`curves`] | values over one axis |
//! | [`spans`] | intervals of time by lane |
//! | [`pane`] | one section as a pane, worked out on a helper thread |
//! | [`panes`] | the sections of a kind as panes |

mod curves;
mod list;
mod matrix;
pub mod pane;
pub mod panes;
mod spans;
#[cfg(test)]
mod tests;

use super::rows::{from, line};
use super::{PaneInput, Title, below, body, frame, plain};
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, PaneDrawn};
use crate::app::pane::ItemId;
use lightbay_core::report::{Block, Body, Phrase, Section, Tone as Meaning};
use lightbay_widgets::{Hits, PaneState as Shown, Piece, Tone};
use list::ListBlock;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// From this height on the sentence about the selected item has a row of its own.
const SENTENCE: u16 = 7;

/// A picture has at least this many rows beside lists; without them it stands alone.
const PICTURE: u16 = 8;

/// A section with its lists, ready to be drawn: made on a helper thread, because a list may have thousands of rows.
#[derive(Debug)]
pub struct Prepared {
    section: Section,
    /// By block; `None` for pictures.
    lists: Vec<Option<Arc<ListBlock>>>,
}

impl Prepared {
    /// Prepares the lists of a section.
    pub fn new(section: Section) -> Self {
        let list = |index| ListBlock::new(&section, index).map(Arc::new);
        let lists = (0..section.blocks.len()).map(list).collect();
        Self { section, lists }
    }
}

/// A section on the screen: what is drawn of it, filled when the section or its form changes.
#[derive(Debug, Default)]
pub struct SectionView {
    of: Option<(Arc<Prepared>, u8)>,
    list: list::List,
    picture: Option<Picture>,
    items: Arc<[Item]>,
}

/// The picture of a section.
#[derive(Debug)]
enum Picture {
    Matrix(matrix::MatrixView),
    Curves(curves::CurvesView),
    Spans(spans::SpansView),
}

/// The part of an area that a picture takes, and the rest.
struct Split {
    picture: Rect,
    list: Rect,
}

impl SectionView {
    /// Draws a section below its title. `before` stands in front of the words behind the title.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        prepared: &Arc<Prepared>,
        before: Vec<Piece>,
        area: Rect,
        buf: &mut Buffer,
        (drawn, out): (&mut PaneDrawn, &mut Drawn),
    ) {
        self.fill(input, prepared);
        let section = &prepared.section;
        let mut context = before;
        if area.width >= 60 {
            context.extend(pieces(&section.context));
        }
        let title = Title { context, value: pieces(&section.answer) };
        if self.is_empty() {
            let what = section.remarks.first().map_or("nothing to show", String::as_str);
            return frame(input, &title, Shown::Empty { what, remedy: "" }, area, buf);
        }
        frame(input, &title, Shown::Ready, area, buf);
        let sentence_row = u16::from(area.height >= SENTENCE && !self.items.is_empty());
        let inner = body(area, sentence_row);
        if inner.is_empty() {
            return;
        }
        let split = self.split(inner);
        self.draw_picture(input, split.picture, buf, out);
        if !split.list.is_empty() {
            (drawn.offset, drawn.page) = self.list.draw(input, split.list, buf, out);
        }
        drawn.items = Arc::clone(&self.items);
        let selected = input.state.selected.filter(|id| self.items.iter().any(|item| item.id == *id));
        let sentence = self.sentence(section, selected);
        if sentence_row > 0 {
            line(&input.app.look.theme, &sentence, below(inner), buf);
        }
        drawn.sentence = plain(&sentence);
        if input.focused {
            drawn.details = self.details(section, selected);
        }
    }

    /// Prepares the rows of a section that was not shown before.
    fn fill(&mut self, input: &PaneInput<'_>, prepared: &Arc<Prepared>) {
        let form = input.state.mode;
        if self.of.as_ref().is_some_and(|(of, shown)| Arc::ptr_eq(of, prepared) && *shown == form) {
            return;
        }
        self.of = Some((Arc::clone(prepared), form));
        let section = &prepared.section;
        let name = input.mode();
        let is_shown = |block: &&Block| name.is_empty() || block.name == name;
        let blocks: Vec<(usize, &Block)> =
            section.blocks.iter().enumerate().filter(|(_, block)| is_shown(block)).collect();
        self.picture = blocks.iter().find_map(|(at, block)| match &block.body {
            Body::Matrix(matrix) => Some(Picture::Matrix(matrix::MatrixView::new(*at, matrix))),
            Body::Curves(curves) => Some(Picture::Curves(curves::CurvesView::new(curves))),
            Body::Spans(spans) => Some(Picture::Spans(spans::SpansView::new(*at, spans))),
            Body::Facts(_) | Body::Table(_) => None,
        });
        let lists = blocks.iter().filter_map(|(at, _)| prepared.lists.get(*at)?.clone());
        self.list = list::List::new(lists);
        let mut items = self.list.items();
        let first = items.len() as u32;
        match &self.picture {
            Some(Picture::Matrix(matrix)) => items.extend(matrix.items(first)),
            Some(Picture::Spans(spans)) => items.extend(spans.items(first)),
            Some(Picture::Curves(_)) | None => {}
        }
        self.items = items.into();
    }

    fn is_empty(&self) -> bool {
        let has_picture = match &self.picture {
            Some(Picture::Curves(curves)) => !curves.is_empty(),
            Some(Picture::Matrix(_) | Picture::Spans(_)) => true,
            None => false,
        };
        !has_picture && self.list.is_empty()
    }

    /// Room of the picture above the list; where there is too little for both the picture has it all, for its rows can
    /// be reached by the form of the pane or in a larger pane.
    fn split(&self, inner: Rect) -> Split {
        let Some(picture) = &self.picture else { return Split { picture: Rect::ZERO, list: inner } };
        let rows = self.list.rows() as u16;
        if self.list.is_empty() || inner.height < PICTURE + 4 {
            return Split { picture: inner, list: Rect::ZERO };
        }
        let wanted = match picture {
            Picture::Matrix(matrix) => matrix.rows(),
            Picture::Spans(spans) => spans.rows(),
            Picture::Curves(_) => u16::MAX,
        };
        let most = inner.height.saturating_sub(rows.min(inner.height / 2) + 1);
        let height = wanted.min(most).max(PICTURE.min(wanted));
        Split { picture: Rect { height, ..inner }, list: from(inner, height + 1) }
    }

    fn draw_picture(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        if area.is_empty() {
            return;
        }
        match &mut self.picture {
            Some(Picture::Matrix(matrix)) => matrix.draw(input, area, buf, out),
            Some(Picture::Curves(curves)) => curves.draw(input, area, buf),
            Some(Picture::Spans(spans)) => spans.draw(input, area, buf, out),
            None => {}
        }
    }

    /// The sentence on an item; on the first one of the list until one is chosen.
    fn sentence(&self, section: &Section, selected: Option<ItemId>) -> Vec<Piece> {
        let of = |id| self.list.sentence(section, id).or_else(|| self.of_picture(id));
        let phrase = selected.or_else(|| self.list.first()).and_then(of);
        phrase.map_or_else(Vec::new, |phrase| pieces(&phrase))
    }

    fn of_picture(&self, id: ItemId) -> Option<Phrase> {
        match &self.picture {
            Some(Picture::Matrix(matrix)) => matrix.sentence(id),
            Some(Picture::Spans(spans)) => spans.sentence(id),
            _ => None,
        }
    }

    /// Remarks of the section, the selected item with all its figures, then a sentence on every item.
    fn details(&self, section: &Section, selected: Option<ItemId>) -> Vec<String> {
        let mut lines = section.remarks.clone();
        if let Some(id) = selected.or_else(|| self.list.first()) {
            let own = self.list.details(section, id);
            if !own.is_empty() && !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(own);
        }
        let all = self.list.sentences(section);
        if !all.is_empty() {
            lines.push(String::new());
            lines.extend(all);
        }
        lines
    }
}

/// A phrase as pieces of a row.
pub fn pieces(phrase: &Phrase) -> Vec<Piece> {
    phrase.words.iter().map(|words| Piece::new(words.text.clone(), tone(words.tone))).collect()
}

/// The tone of a screen for a meaning.
pub const fn tone(meaning: Meaning) -> Tone {
    match meaning {
        Meaning::Text => Tone::Text,
        Meaning::Muted => Tone::Muted,
        Meaning::Answer => Tone::Answer,
        Meaning::Good => Tone::Good,
        Meaning::Warn => Tone::Changed,
        Meaning::Bad => Tone::Bad,
    }
}

/// Ids of items without one of their own: by block and row.
const fn item_id(block: usize, row: usize) -> ItemId {
    ((block as u32 + 1) << 20) | row as u32
}

/// Lets clicks select what was hit and double clicks inspect it.
fn report_hits(input: &PaneInput<'_>, hits: &Hits, id: impl Fn(u32, u32) -> ItemId, out: &mut Drawn) {
    let pane = input.pane;
    out.hits.extend(hits.iter().map(|hit| Hit {
        rect: hit.rect,
        click: Action::Select { pane, item: Some(id(hit.id, hit.part)) },
        open: Some(Action::Do(Command::Inspect)),
    }));
}
