//! Lists and the picture of a section in one of its forms.

use super::list::{self, List, Selection};
use super::{Prepared, curves, matrix, spans};
use crate::app::drawn::{Drawn, Item};
use crate::app::pane::{ItemId, PaneState};
use crate::app::state::App;
use crate::view::present::PaneInput;
use crate::view::present::rows::{InSight, beside, from, line};
use lightbay_core::report::{Block, Body, Phrase, Section};
use lightbay_widgets::{Piece, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Minimum number of rows of a picture with lists; with fewer rows, only the picture or only the lists are drawn.
const PICTURE: u16 = 8;

/// Minimum number of rows at which a matrix is drawn below a list, with the tallest cells, and not at its right.
const ROOMY: u16 = 48;

/// Minimum number of rows of a drawn network with lists.
const NETWORK: u16 = 18;

/// Height of a pane below which cells are drawn in place of a network of few nodes.
const LOW: u16 = 10;

/// Maximum number of nodes whose cells are drawn in place of a network that does not fit.
const FEW: usize = 8;

/// Minimum numbers of rows and columns of curves; with fewer of them, only the lists are drawn.
const CURVES: u16 = 3;
const CURVES_WIDE: u16 = 36;

/// Height below which curves get more rows than the lists.
const CURVES_HIGH: u16 = 24;

/// Number of columns between a list and the picture at its right.
const BESIDE: u16 = 3;

/// Lists of a section with its picture, above or below them in the order of the blocks.
#[derive(Debug, Default)]
pub struct SectionContent {
    of: Option<(Arc<Prepared>, &'static str)>,
    list: List,
    picture: Option<Picture>,
    /// Heading of the picture, which is drawn between the lists and a picture below them.
    heading: String,
    picture_is_first: bool,
    picture_is_drawn: bool,
    /// `true` if the pane is too small for the picture.
    hides_picture: bool,
    list_is_drawn: bool,
    items: Arc<[Item]>,
}

/// The picture of a section.
#[derive(Debug)]
enum Picture {
    Matrix(Box<matrix::MatrixView>),
    Curves(curves::CurvesView),
    Spans(spans::SpansView),
}

impl Picture {
    /// Returns the number of rows that the picture can use.
    fn rows(&self) -> u16 {
        match self {
            Self::Matrix(matrix) => matrix.rows(),
            Self::Spans(spans) => spans.rows(),
            Self::Curves(_) => u16::MAX,
        }
    }

    /// Returns the number of rows that the picture can use of `room` rows, without a gap below its last row.
    fn rows_in(&self, theme: &Theme, room: u16) -> u16 {
        let (most, count) = match self {
            Self::Matrix(matrix) => (matrix.most_rows(theme), matrix.count()),
            Self::Spans(spans) => (spans.most_rows(), spans.rows() - 1),
            Self::Curves(_) => (self.rows(), 1),
        };
        let more = room.min(most).saturating_sub(self.rows()) / count.max(1) * count.max(1);
        (self.rows() + more).min(room)
    }
}

/// Division of an area: the part for a picture, and the part for the lists.
struct ContentSplit {
    picture: Rect,
    list: Rect,
}

impl SectionContent {
    /// Prepares a section for its first display. Among blocks that are alternative forms of the section, only the block
    /// named `form` is shown.
    pub fn fill(&mut self, prepared: &Arc<Prepared>, forms: &[&str], form: &'static str) {
        if self.of.as_ref().is_some_and(|(of, shown)| Arc::ptr_eq(of, prepared) && *shown == form) {
            return;
        }
        self.of = Some((Arc::clone(prepared), form));
        let section = &prepared.section;
        let is_of_form = |block: &Block| {
            block.name == form
                || !forms.contains(&block.name) && (block.only_in.is_empty() || block.only_in.contains(&form))
        };
        let is_shown = |block: &Block| !block.only_written && is_of_form(block);
        let blocks: Vec<(usize, &Block)> =
            section.blocks.iter().enumerate().filter(|(_, block)| is_shown(block)).collect();
        let is_list = |block: &Block| matches!(block.body, Body::Facts(_) | Body::Table(_));
        self.picture_is_first = blocks.first().is_some_and(|(_, block)| !is_list(block));
        self.picture = blocks.iter().find_map(|(at, block)| match &block.body {
            Body::Matrix(matrix) => {
                let view = matrix::MatrixView::new(*at, matrix).in_form(form);
                Some(Picture::Matrix(Box::new(view)))
            }
            Body::Curves(curves) => Some(Picture::Curves(curves::CurvesView::new(*at, curves))),
            Body::Spans(spans) => Some(Picture::Spans(spans::SpansView::new(*at, spans))),
            Body::Facts(_) | Body::Table(_) => None,
        });
        let of_picture = blocks.iter().find(|(_, block)| !is_list(block));
        self.heading = of_picture.map_or_else(String::new, |(_, block)| block.title.clone());
        // A form may also be an order of the rows.
        let lists = blocks.iter().filter_map(|(at, _)| {
            let orders = prepared.lists.get(*at)?;
            orders.iter().find(|list| list.order() == form).or(orders.first()).cloned()
        });
        self.list = List::new(lists);
        let mut listed = self.list.items();
        let first = if self.picture_is_first { 0 } else { self.list.rows() as u32 };
        let mut pictured: Vec<Item> = match &self.picture {
            Some(Picture::Matrix(matrix)) => matrix.items(first).collect(),
            Some(Picture::Spans(spans)) => spans.items(first).collect(),
            Some(Picture::Curves(curves)) if self.list.is_empty() => curves.items(first).collect(),
            Some(Picture::Curves(_)) | None => Vec::new(),
        };
        self.items = if self.picture_is_first {
            let rows = pictured.last().map_or(0, |item| item.row + 1);
            for item in &mut listed {
                item.row += rows;
            }
            pictured.append(&mut listed);
            pictured.into()
        } else {
            listed.append(&mut pictured);
            listed.into()
        };
    }

    /// Returns the items, by row and place.
    pub const fn items(&self) -> &Arc<[Item]> {
        &self.items
    }

    /// Returns the items among which keys move: those of the matrix, if the rows below it are not drawn.
    pub fn drawn_items(&self) -> Arc<[Item]> {
        match self.matrix().filter(|_| self.picture_is_first && !self.list_is_drawn) {
            Some(matrix) => matrix.items(0).collect::<Vec<_>>().into(),
            None => Arc::clone(&self.items),
        }
    }

    pub fn has(&self, id: ItemId) -> bool {
        self.items.iter().any(|item| item.id == id)
    }

    /// Returns the position of curves nearest to their first mark, if positions are the items.
    pub fn marked(&self, app: &App) -> Option<ItemId> {
        match &self.picture {
            Some(Picture::Curves(curves)) if self.list.is_empty() => curves.marked(app),
            _ => None,
        }
    }

    pub fn is_empty(&self) -> bool {
        let has_picture = match &self.picture {
            Some(Picture::Curves(curves)) => !curves.is_empty(),
            Some(Picture::Matrix(_) | Picture::Spans(_)) => true,
            None => false,
        };
        !has_picture && self.list.is_empty()
    }

    /// Returns the lists.
    pub const fn list(&self) -> &List {
        &self.list
    }

    /// Returns the number of columns that the whole content can use.
    pub fn wish(&self) -> u16 {
        let picture = match &self.picture {
            Some(Picture::Matrix(matrix)) => matrix.wish(),
            Some(Picture::Spans(_) | Picture::Curves(_)) => u16::MAX / 2,
            None => 0,
        };
        self.list.wish().max(picture)
    }

    /// Returns two widths of the lists: the width without bars, and the maximum width that the lists can use.
    pub fn widths(&self) -> (u16, u16) {
        (self.list.least(), self.list.wish())
    }

    /// Returns the number of rows that the whole content can use.
    pub fn rows(&self) -> u16 {
        let heading = u16::from(!self.heading.is_empty() && !self.picture_is_first);
        let gap = if self.list.is_empty() || self.picture.is_none() { 0 } else { 1 + heading };
        (self.list.rows() as u16).saturating_add(self.pictured()).saturating_add(gap)
    }

    /// Returns the number of rows that the content uses of `room` rows: a matrix below a list is drawn only if both fit.
    pub fn rows_in(&self, room: u16) -> u16 {
        let is_list_only = self.rows() > room && self.matrix().is_some() && !self.picture_is_first;
        if is_list_only { room.min(self.list.rows() as u16) } else { room.min(self.rows()) }
    }

    /// Returns the number of rows that the picture can use; 0 without a picture.
    pub fn pictured(&self) -> u16 {
        self.picture.as_ref().map_or(0, Picture::rows)
    }

    /// Returns the minimum number of rows in which the whole picture is drawn; 0 without a picture.
    pub fn least_pictured(&self) -> u16 {
        match &self.picture {
            Some(Picture::Spans(spans)) => spans.least_rows(),
            _ => self.pictured(),
        }
    }

    /// Divides an area into room for the picture and room for the lists above or below it. If there is not enough room
    /// for both, the upper part gets all of it, and the lower part is drawn only in a larger pane.
    fn split(&self, theme: &Theme, inner: Rect) -> ContentSplit {
        let rows = self.list.rows() as u16;
        let Some(picture) = self.picture.as_ref().filter(|_| !self.hides_picture) else {
            return ContentSplit { picture: Rect::ZERO, list: inner };
        };
        let wanted = picture.rows();
        let gap = 1;
        if self.list.is_empty() {
            return ContentSplit { picture: inner, list: Rect::ZERO };
        }
        if matches!(picture, Picture::Curves(_)) && inner.width < CURVES_WIDE {
            return ContentSplit { picture: Rect::ZERO, list: inner };
        }
        // A narrow list has its picture at its right.
        let narrow = self.list.wish() + BESIDE;
        if let Picture::Matrix(matrix) = picture
            && !self.picture_is_first
            && inner.height >= PICTURE
            && (matrix.is_network()
                || inner.height < ROOMY
                || inner.height < rows + 2 + matrix.most_rows(theme))
            && narrow.saturating_add(matrix.least_wide()) <= inner.width
        {
            // Bars and picture share the columns.
            let has_bars = self.list.least() < self.list.wish();
            let spare = inner.width.saturating_sub(BESIDE + matrix.wish()).min(inner.width / 2);
            let columns = if has_bars { spare.max(narrow - BESIDE) } else { narrow - BESIDE };
            let (list, picture) = beside(inner, columns, BESIDE);
            let heading = u16::from(!self.heading.is_empty() && picture.height > wanted);
            return ContentSplit { picture: from(picture, heading), list };
        }
        let fits = wanted.saturating_add(gap).saturating_add(rows) <= inner.height;
        // A list that does not fit below a matrix may fit at its right.
        if let Picture::Matrix(matrix) = picture
            && self.picture_is_first
            && !fits
            && inner.height >= PICTURE
            && matrix.wish().saturating_add(narrow) <= inner.width
        {
            let (picture, list) = beside(inner, matrix.wish(), BESIDE);
            return ContentSplit { picture, list };
        }
        // A matrix below a list is drawn only if both fit.
        let is_below = self.matrix().is_some() && !self.picture_is_first;
        // Curves with few rows are flat, and so few rows of a list say little.
        let least = match picture {
            Picture::Curves(_) => PICTURE + 6,
            Picture::Matrix(matrix) if matrix.is_network() => {
                NETWORK.max(matrix.least_rows() + gap + rows.min(inner.height / 2))
            }
            _ => PICTURE + 4,
        };
        // The first of several lists may fit below a matrix.
        let fits_first = self.picture_is_first
            && self.matrix().is_some()
            && wanted.saturating_add(gap + self.list.first_rows() as u16) <= inner.height;
        if !fits && !fits_first && (is_below || inner.height < least) {
            // Curves need more rows than a table to say something.
            let is_useful = !matches!(picture, Picture::Curves(_)) || inner.height >= CURVES;
            return if self.picture_is_first && is_useful {
                ContentSplit { picture: inner, list: Rect::ZERO }
            } else {
                ContentSplit { picture: Rect::ZERO, list: inner }
            };
        }
        let is_flat = matches!(picture, Picture::Curves(_)) && inner.height < CURVES_HIGH;
        let share = if is_flat { inner.height * 2 / 5 } else { inner.height / 2 };
        let most = inner.height.saturating_sub(rows.min(share) + gap);
        // Intervals of time and cells above a list are shown whole if they fit.
        let is_whole = self.picture_is_first
            && wanted <= inner.height
            && matches!(picture, Picture::Spans(_) | Picture::Matrix(_));
        let height = if is_whole { wanted } else { wanted.min(most).max(PICTURE.min(wanted)) };
        // The picture gets the rows that the lists do not use.
        let heading = u16::from(!self.heading.is_empty() && !self.picture_is_first);
        let spare = inner.height.saturating_sub(rows + gap + heading);
        let height = height.max(picture.rows_in(theme, spare));
        if self.picture_is_first {
            ContentSplit { picture: Rect { height, ..inner }, list: from(inner, height + gap) }
        } else {
            let above = rows.min(inner.height.saturating_sub(height + gap));
            // A blank row separates the heading from the lists.
            let blank = heading.min(inner.height.saturating_sub(above + gap + height));
            let picture = from(inner, above + gap + blank);
            ContentSplit {
                picture: Rect { height: height.min(picture.height), ..picture },
                list: Rect { height: above, ..inner },
            }
        }
    }

    /// Draws the content with its selection. Returns the first visible row of the lists and the number of rows that
    /// fit.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        selection: Selection,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) -> Option<(usize, usize)> {
        let split = self.split(&input.app.look.theme, area);
        self.picture_is_drawn = !split.picture.is_empty();
        self.list_is_drawn = !split.list.is_empty();
        if !split.picture.is_empty() {
            match &mut self.picture {
                Some(Picture::Matrix(matrix)) => {
                    matrix.draw(input, selection.shown(), split.picture, buf, out);
                }
                Some(Picture::Curves(curves)) => {
                    // Until the user steps along the axis, only the present value of a parameter has a cursor.
                    let is_now =
                        |id: ItemId| curves.marked(input.app) == Some(id) && curves.setting(id).is_some();
                    let is_asked = |id: &ItemId| selection.chosen || is_now(*id);
                    curves.draw(input, selection.shown().filter(is_asked), split.picture, buf, out);
                }
                Some(Picture::Spans(spans)) => {
                    spans.draw(input, selection.shown(), split.picture, buf, out);
                }
                None => {}
            }
        }
        self.draw_heading(input, &split, buf);
        if split.list.is_empty() {
            return match &self.picture {
                Some(Picture::Spans(spans)) => Some(spans.page()),
                _ => self.matrix().map(|matrix| (matrix.offset().0, matrix.page())),
            };
        }
        if self.has_spans() && self.picture_is_drawn {
            // The lanes scroll; the list below them starts with its first row until a row of it is chosen.
            let mut below = input.clone();
            below.state.offset = 0;
            self.list.draw(&below, selection, split.list, buf, out);
            return match &self.picture {
                Some(Picture::Spans(spans)) => Some(spans.page()),
                _ => None,
            };
        }
        Some(self.list.draw(input, selection, split.list, buf, out))
    }

    /// Draws the heading of a picture in the row between it and the lists above it, or above a picture at their right.
    fn draw_heading(&self, input: &PaneInput<'_>, split: &ContentSplit, buf: &mut Buffer) {
        let ContentSplit { picture, list } = split;
        let is_apart = picture.y > list.bottom() || picture.x > list.x && picture.y > list.y;
        if !list.is_empty() && is_apart && !self.heading.is_empty() {
            let place = Rect { y: picture.y - 1, height: 1, ..*picture };
            line(&input.app.look.theme, &[Piece::muted(self.heading.clone())], place, buf);
        }
    }

    /// Sets the area of the pane. Returns `true` if it has room for the picture: a small pane shows the lists of a network
    /// with many nodes.
    pub fn has_room(&mut self, pane: Rect) -> bool {
        // The cells of a few nodes need fewer rows than their network.
        if let Some(Picture::Matrix(matrix)) = &mut self.picture {
            matrix.set_plain(pane.height < LOW && matrix.names() <= FEW);
        }
        self.hides_picture = self.matrix().is_some_and(|of| !self.list.is_empty() && !of.fits(pane));
        !self.hides_picture
    }

    /// Returns `true` if a network is not drawn as such, because there is little room.
    pub fn hides_network(&self) -> bool {
        self.matrix().is_some_and(|of| of.has_network() && (self.hides_picture || !of.is_network()))
    }

    /// Returns the matrix, if the picture is one.
    pub fn matrix(&self) -> Option<&matrix::MatrixView> {
        match &self.picture {
            Some(Picture::Matrix(matrix)) => Some(matrix),
            _ => None,
        }
    }

    /// Returns the first visible column of a matrix that scrolls.
    pub fn column(&self) -> Option<usize> {
        self.matrix()?.offset().1
    }

    /// Returns the visible part of a matrix, lanes or list, if the area is too small for the whole content.
    pub fn in_sight(&self) -> Option<InSight> {
        self.picture_in_sight().or_else(|| self.list.in_sight().filter(|_| self.list_is_drawn))
    }

    fn picture_in_sight(&self) -> Option<InSight> {
        match self.picture.as_ref().filter(|_| self.picture_is_drawn) {
            Some(Picture::Matrix(matrix)) => matrix.in_sight(),
            Some(Picture::Spans(spans)) => spans.in_sight(),
            Some(Picture::Curves(_)) | None => None,
        }
    }

    /// Returns `true` if the whole picture is visible, so that hidden rows are those of the list.
    pub fn hides_list_only(&self) -> bool {
        self.picture_is_drawn && self.picture_in_sight().is_none()
    }

    /// Returns `true` if the items are positions on the axis of curves.
    pub fn is_stepped_curve(&self) -> bool {
        matches!(self.picture, Some(Picture::Curves(_))) && self.list.is_empty()
    }

    /// Returns the start of an interval as a fraction of the axis; `None` for other items.
    pub fn on_axis(&self, id: ItemId) -> Option<f64> {
        match &self.picture {
            Some(Picture::Spans(spans)) => spans.on_axis(id),
            _ => None,
        }
    }

    /// Returns `true` if the bracket keys step through intervals of time.
    pub const fn has_spans(&self) -> bool {
        matches!(self.picture, Some(Picture::Spans(_)))
    }

    /// Returns the item nearest to an empty cell of a matrix, in the same row.
    pub fn nearest(&self, id: ItemId) -> Option<ItemId> {
        let row = self.matrix()?.row_of(id)?;
        self.items.iter().find(|item| item.row == row).map(|item| item.id)
    }

    /// Draws the content so that no item can be selected; a list that is too long continues in further columns.
    pub fn draw_still(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer) {
        let still = PaneInput { state: PaneState::default(), focused: false, ..input.clone() };
        let mut nobody = Drawn::default();
        let split = self.split(&input.app.look.theme, area);
        (self.picture_is_drawn, self.list_is_drawn) = (!split.picture.is_empty(), false);
        if !split.picture.is_empty() {
            match &mut self.picture {
                Some(Picture::Matrix(matrix)) => matrix.draw(&still, None, split.picture, buf, &mut nobody),
                Some(Picture::Curves(curves)) => curves.draw(&still, None, split.picture, buf, &mut nobody),
                Some(Picture::Spans(spans)) => spans.draw(&still, None, split.picture, buf, &mut nobody),
                None => {}
            }
        }
        if !split.list.is_empty() && !list::flow(&self.list, &still, split.list, buf) {
            // A list in several columns names its hidden rows below the last one.
            self.list_is_drawn = true;
            self.list.draw(&still, Selection::default(), split.list, buf, &mut nobody);
            self.list.name_rows(&still, split.list, buf);
        }
    }

    /// Returns the visible ends of the axis of the curves, if this axis is the parameter of the section's slider.
    pub fn axis_of(&self, input: &PaneInput<'_>) -> Option<(f64, f64)> {
        match &self.picture {
            Some(Picture::Curves(curves)) if self.picture_is_drawn => curves.slider_axis(input),
            _ => None,
        }
    }

    /// Returns the setting of the parameter that the axis of the curves shows, at an item.
    pub fn setting(&self, id: ItemId) -> Option<String> {
        match &self.picture {
            Some(Picture::Curves(curves)) => curves.setting(id),
            _ => None,
        }
    }

    /// Returns the sentence about an item.
    pub fn sentence(&self, section: &Section, id: ItemId) -> Option<Phrase> {
        self.list.sentence(section, id).or_else(|| match &self.picture {
            Some(Picture::Matrix(matrix)) => matrix.sentence(id),
            Some(Picture::Spans(spans)) => spans.sentence(id),
            Some(Picture::Curves(curves)) => curves.sentence(id),
            None => None,
        })
    }

    /// Returns lines about an item.
    pub fn details(&self, section: &Section, id: ItemId) -> Vec<String> {
        let own = self.list.details(section, id);
        match &self.picture {
            Some(Picture::Matrix(matrix)) if own.is_empty() => matrix.details(id),
            Some(Picture::Spans(spans)) if own.is_empty() => {
                spans.sentence(id).iter().map(Phrase::to_string).collect()
            }
            _ => own,
        }
    }
}
