//! Sections of a kind as panes: one renderer for facts, tables, matrices, curves and spans of any kind.
//!
//! A section consists of blocks; each block is one of these five. A form is one of several alternative views of a
//! section. An item is a row, a cell or a span that the user can select; the sentence about an item states its figures
//! in one line.
//!
//! | module | content |
//! |---|---|
//! | [`against`] | a section with the values of the baseline |
//! | [`beside`] | plans and runs of the session, for sections among them |
//! | [`content`] | lists and picture of a section in one of its forms |
//! | [`list`] | facts and tables, one below the other in one scrolled list |
//! | [`row_pictures`] | bars and loads over time next to the rows of a list |
//! | [`matrix`] | cells by row and column |
//! | [`curves`] | values over one axis |
//! | [`division`] | places of a section and of the details of its chosen item |
//! | [`graph`] | a matrix drawn as a network |
//! | [`panels`] | small pictures of several items next to the list |
//! | [`spans`] | intervals of time by lane |
//! | [`slider`] | the slider of a parameter above the body |
//! | [`pane`] | one section as a pane, computed on a helper thread |
//! | [`panes`] | the sections of a kind as panes |

mod against;
mod beside;
mod content;
mod curves;
mod division;
mod graph;
mod list;
mod matrix;
pub mod pane;
mod panels;
pub mod panes;
mod row_pictures;
mod slider;
mod spans;
#[cfg(test)]
mod tests;

use super::rows::{self, ends, from};
use super::{PaneInput, Title, below, body, frame, frame_in_sight, labels, plain};
use crate::app::action::Command;
use crate::app::drawn::{Drawn, ItemSetting, PaneDrawn};
use crate::app::pane::ItemId;
pub use content::SectionContent;
use division::Division;
use lightbay_core::report::{Body, Phrase, Section, Tone as Meaning, text};
use lightbay_widgets::{Hits, PaneState as Shown, Piece, Sentence, Tone, pieces_width};
pub use list::Selection;
use list::{ItemName, ListBlock};
use panels::Panels;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use slider::slider;
use std::sync::Arc;

/// Minimum height at which the sentence about the selected item has a row of its own.
const SENTENCE: u16 = 7;

/// Minimum height of the body of a section at which its slider is drawn above it.
const SLIDER: u16 = 6;

/// Minimum height at which the sentence about the whole section has a row of its own.
const SUMMARY: u16 = 5;

/// Minimum height of a pane in which long sentences are broken.
const LARGE: u16 = 24;

/// Minimum height of a pane in which a sentence may have a second row.
const MEDIUM: u16 = 14;

/// Minimum width at which the summary of a section follows its title.
const CONTEXT: u16 = 60;

/// Minimum height at which the marks of the picture are explained below the sentence.
const LEGEND: u16 = 9;

/// Minimum height at which the details of an item are drawn below its section, if they do not fit next to it.
const BELOW: u16 = 9;

/// Number of rows around a body that leaves rows to another picture: title, sentence, legend and remarks.
const AROUND: u16 = 5;

/// Shown until the details of an item are computed.
const LATE: &str = "drawing the details ...";

/// A section with its lists, ready to be drawn: made on a helper thread, because a list may have thousands of rows.
#[derive(Debug)]
pub struct Prepared {
    section: Section,
    /// Lists by block, one list for each order of the block's rows; no list for a picture.
    lists: Vec<Vec<Arc<ListBlock>>>,
}

impl Prepared {
    /// Prepares the lists of a section. `linked` names the rows whose items other panes share: `task`.
    pub fn new(section: Section, linked: Option<&str>) -> Self {
        let lists = (0..section.blocks.len()).map(|index| ListBlock::all(&section, index, linked)).collect();
        Self { section, lists }
    }
}

/// An item that several panes show, such as a task: if the user chooses it in one pane, the other panes select it too.
#[derive(Clone, Debug, Default)]
pub struct PointedItem {
    /// The item, in the numbering of the panes that share it.
    pub item: Option<ItemId>,
    /// `true` if the user chose the item.
    pub by_person: bool,
    /// The sentence about the item, used if the row has no sentence of its own.
    pub sentence: Option<Phrase>,
}

/// Relation of a section to the other panes.
#[derive(Clone, Debug, Default)]
pub struct SectionContext {
    /// Text before the summary that follows the title.
    pub before: Vec<Piece>,
    /// The item that the pane shares with other panes; `None` for a pane without a shared item.
    pub pointed: Option<PointedItem>,
    /// Number of columns at the left that another list uses.
    pub left: u16,
    /// `true` while the details are those of the item that was selected before.
    pub detail_is_late: bool,
    /// Minimum number of rows that the section leaves to another picture if it does not need them; 0 for no picture.
    pub leaves: u16,
}

/// A section on the screen: its drawn content, filled when the section or its form changes.
#[derive(Debug, Default)]
pub struct SectionView {
    content: SectionContent,
    /// Details of the chosen item, as a section.
    detail: SectionContent,
    panels: Panels,
    /// The default item of a matrix of signs; it stays while its row has an item.
    usual: Option<ItemId>,
    /// The item that the user selected, with its name: the item stays selected if a new plan has it in another row.
    named: Option<(ItemId, ItemName)>,
    /// Number of rows of the body drawn last, without the sentences below it.
    rows: u16,
    /// Number of rows drawn last, if the section left rows to another picture, else 0.
    used: u16,
}

impl SectionView {
    /// Returns the selected item: an item of this pane if it was chosen last, else the item that panes share, else the
    /// default item, else the first item, or the last item of a list that shows its newest rows.
    pub fn selection(
        &mut self,
        input: &PaneInput<'_>,
        prepared: &Arc<Prepared>,
        pointed: Option<&PointedItem>,
    ) -> Selection {
        self.content.fill(prepared, input.info.modes, input.mode());
        let own = input.state.selected.and_then(|id| self.own(id));
        let is_here = |id: &ItemId| self.content.has(*id);
        // Rows without an item of the kind, such as sums, have no details and are not linked to other panes.
        let is_of_kind = |id: ItemId| id < item_id(0, 0);
        if let Some(pointed) = pointed {
            let is_latest = input.app.chosen_in.first() == Some(&input.pane);
            return if let Some(own) = own.filter(|id| is_latest && !is_of_kind(*id)) {
                Selection { item: Some(own), marked: true, follow: true, chosen: true }
            } else {
                let item = pointed.item.filter(is_here);
                // Until the user chooses an item, a list starts with its first block and marks the first row below it.
                let first = item.and_then(|id| self.content.list().first_like(id));
                if let Some(first) = first.filter(|_| !pointed.by_person) {
                    return Selection { item: Some(first), marked: true, follow: false, chosen: false };
                }
                // A large pane starts at the item, until the user scrolls.
                let follows = pointed.by_person || (input.large && input.focused && input.state.offset == 0);
                Selection { item, marked: true, follow: follows, chosen: follows }
            };
        }
        let usual = prepared.section.usual.filter(is_here);
        let kept = self.usual.and_then(|id| {
            let nearest = self.content.nearest(id)?;
            Some(if is_here(&id) { id } else { nearest })
        });
        let usual = kept.or(usual);
        self.usual = usual;
        let has_details = has_details(input);
        let steps = has_details || self.content.has_spans();
        let first = || {
            let mut items = self.content.items().iter().map(|item| item.id);
            if self.content.list().is_newest_last() {
                items.next_back()
            } else {
                items.find(|id| !has_details || is_of_kind(*id))
            }
        };
        let known = own.or(usual);
        let follow = known.is_some() || steps;
        let marked = input.focused || has_details || prepared.section.usual.is_some();
        // The cursor of curves starts at their first mark, such as the present value of a parameter.
        let item = known.or_else(|| self.content.marked(input.app)).or_else(first);
        Selection { item, marked, follow, chosen: own.is_some() }
    }

    /// Returns the item with the name of the selected item, else the selected item, else the nearest item.
    fn own(&mut self, id: ItemId) -> Option<ItemId> {
        let list = self.content.list();
        let known = self.named.take().filter(|(of, _)| *of == id).map(|(_, name)| name);
        self.named = known.or_else(|| list.name(id)).map(|name| (id, name));
        let named = self.named.as_ref().and_then(|(_, name)| list.named(name, id));
        named.or_else(|| self.content.has(id).then_some(id)).or_else(|| self.content.nearest(id))
    }

    /// Returns the number of columns that the whole section can use.
    pub fn wish(&self) -> u16 {
        self.content.wish()
    }

    /// Returns the number of columns of all signs of a matrix, without gaps, and of the words after them.
    pub fn close(&self) -> Option<u16> {
        self.content.matrix()?.close(true)
    }

    /// Returns the number of rows of the body drawn last, without the sentences below it.
    pub const fn rows(&self) -> u16 {
        self.rows
    }

    /// Returns the rows of `area` that the section drawn last leaves to another picture.
    pub fn rest(&self, area: Rect) -> Rect {
        from(area, if self.used == 0 { area.height } else { self.used + 1 })
    }

    /// Draws a section below its title. `detail` is the section with the details of the selected item; `None` if these
    /// details are not computed yet or the items have none.
    #[expect(clippy::too_many_arguments, reason = "the pane draws all of these values")]
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        prepared: &Arc<Prepared>,
        detail: Option<&Arc<Prepared>>,
        context: SectionContext,
        area: Rect,
        buf: &mut Buffer,
        (drawn, out): (&mut PaneDrawn, &mut Drawn),
    ) {
        let SectionContext { before, pointed, left, detail_is_late, leaves } = context;
        let selection = self.selection(input, prepared, pointed.as_ref());
        let own = self.content.rows().saturating_add(AROUND);
        self.used = if leaves > 0 && own.saturating_add(leaves) < area.height { own } else { 0 };
        let area = if self.used > 0 { Rect { height: own, ..area } } else { area };
        let chosen = selection.item;
        let section = &prepared.section;
        let has_room = self.content.has_room(area);
        let form = if self.content.hides_network() { "" } else { input.mode() };
        let title = title(input, (section, form), before, area.width);
        if self.content.is_empty() {
            let what = section.remarks.first().map_or("nothing to show", String::as_str);
            return frame(input, &title, Shown::Empty { what, remedy: "" }, area, buf);
        }
        frame(input, &title, Shown::Ready, area, buf);
        let speaks = area.height >= SENTENCE && !self.content.items().is_empty();
        // A small chart needs the row for its axis.
        let summary = if self.content.is_stepped_curve() { SENTENCE } else { SUMMARY };
        let sums_up = area.height >= summary && !section.sentence.is_empty();
        let given = pointed.as_ref().filter(|pointed| chosen.is_none_or(|id| pointed.item == Some(id)));
        let sentence = match given.and_then(|pointed| pointed.sentence.as_ref()) {
            Some(given) => pieces(given),
            // Until the user chooses an item, the sentence is about the whole section.
            None if !selection.follow && !section.sentence.is_empty() => pieces(&section.sentence),
            None => self.sentence(section, chosen),
        };
        let sentence = match chosen.filter(|_| input.focused).and_then(|id| self.knob(section, id)) {
            Some(knob) if !sentence.is_empty() => {
                let key = input.app.keymap.hint("edit");
                [sentence, vec![Piece::muted(format!("  {key} sets {knob}"))]].concat()
            }
            _ => sentence,
        };
        // The legend of a picture is shown only with it.
        let has_legend = has_room && (section.panels.is_empty() || area.height >= LARGE);
        let legend = if has_legend { pieces(section.legend_of(input.mode())) } else { Vec::new() };
        // Explanations are less important than the sentence above them.
        let is_plain = |piece: &Piece| piece.tone == Tone::Text;
        let dim = |piece: Piece| if is_plain(&piece) { Piece { tone: Tone::Muted, ..piece } } else { piece };
        let legend: Vec<Piece> = legend.into_iter().map(dim).collect();
        let theme = &input.app.look.theme;
        // A large pane breaks long sentences, a small pane cuts them.
        let most = match area.height {
            LARGE.. => 3,
            MEDIUM.. => 2,
            _ => 1,
        };
        let rows = |words: &[Piece]| Sentence::new(theme, words).rows(body(area, 0).width, most);
        let sentence_row = if speaks || sums_up { rows(&sentence) } else { 0 };
        let mut legend_row = if area.height >= LEGEND && !legend.is_empty() { rows(&legend) } else { 0 };
        let has_details = has_details(input);
        if let Some(detail) = detail {
            self.detail.fill(detail, input.info.modes, input.mode());
        }
        let details_first = input.info.section.is_some_and(|info| info.details_first);
        let (whole, inner, place) = loop {
            let whole = body(area, sentence_row + legend_row);
            let inner = rows::beside(whole, left, 0).1;
            let inner = match section.slider.as_ref().filter(|_| inner.height >= SLIDER) {
                Some(_) => rows::from(inner, 1),
                None => inner,
            };
            let place = if has_details && (detail.is_some() || chosen.is_some()) {
                self.divide(inner, details_first)
            } else {
                Division { section: inner, detail: Rect::ZERO }
            };
            // The legend of a picture in the details is shown only with it.
            if legend_row == 0 || !details_first || self.content.pictured() > 0 || !place.detail.is_empty() {
                break (whole, inner, place);
            }
            legend_row = 0;
        };
        self.rows = whole.height;
        if inner.is_empty() {
            return;
        }
        self.panels.fill(prepared);
        let with_panels = (area.height >= LARGE && !self.panels.is_empty())
            .then(|| self.panels.draw(input, (&mut self.content, selection), inner, buf, out))
            .flatten();
        let rest = with_panels.map_or(Rect::ZERO, |(_, rest)| rest);
        // A chart of few rows says less than the slider of its axis and the sentence about it.
        let is_flat = self.content.is_stepped_curve() && inner.height < SLIDER && sentence_row == 0;
        let on_slider = section.slider.as_ref().filter(|_| is_flat && !section.sentence.is_empty());
        let page = match with_panels {
            Some((page, _)) => page,
            None if on_slider.is_some() => None,
            None => self.content.draw(input, selection, place.section, buf, out),
        };
        if let Some(place) = section.slider.as_ref().filter(|_| inner.y > whole.y) {
            let row = Rect { y: inner.y - 1, height: 1, ..inner };
            // Above a chart whose axis is the parameter of the slider, both have one scale.
            let axis = self.content.axis_of(input);
            let columns = out.axes.iter().rfind(|(pane, _)| *pane == input.pane).map(|(_, place)| *place);
            slider(input, place, axis.zip(columns), row, buf);
        }
        if let Some(place) = on_slider {
            slider(input, place, None, rows::row(inner, 0), buf);
            rows::wrapped(theme, &pieces(&section.sentence), from(inner, 1), buf);
        }
        if let Some((offset, page)) = page {
            (drawn.offset, drawn.page) = (offset, page);
        }
        drawn.column = self.content.column().unwrap_or(drawn.column);
        // Details of the selected item use the rows that the small pictures leave.
        let place = if with_panels.is_none() { place.detail } else { rest };
        let least = if with_panels.is_none() { 1 } else { BELOW };
        let place = Some(place).filter(|place| place.height >= least);
        match (place, detail) {
            (Some(place), Some(detail)) => self.draw_detail(input, &detail.section, place, buf),
            (Some(place), None) if detail_is_late => {
                ends(theme, &[Piece::muted(LATE)], &[], Rect { height: 1, ..place }, buf);
            }
            _ => {}
        }
        drawn.has_one_view = !has_forms(section, input.info.modes);
        drawn.items = self.content.drawn_items();
        drawn.labels =
            labels(input, self.content.items(), |id| Some(self.content.sentence(section, id)?.to_string()));
        drawn.chosen = chosen.filter(|_| pointed.is_some() || input.state.selected != chosen);
        // The bracket keys go along the axis of a picture, otherwise from item to item.
        if let Some(item) = chosen {
            drawn.steps = drawn.items.len() as u32;
            drawn.steps_through = Some((input.pane, item));
            let has_axis = self.content.has_spans() || self.content.is_stepped_curve();
            drawn.along_axis = has_axis && !has_details;
            drawn.on_axis = self.content.on_axis(item).filter(|_| selection.chosen);
        }
        let typed = chosen.and_then(|id| section.edits.get(&id));
        drawn.setting = match typed {
            Some(text) => Some(ItemSetting { text: text.clone(), is_complete: false }),
            None => chosen
                .and_then(|id| self.content.setting(id))
                .map(|text| ItemSetting { text, is_complete: true }),
        };
        let under = Rect { height: sentence_row, ..below(whole) };
        let mut names_rows = false;
        if sentence_row > 0 {
            // Hidden rows are always indicated; `i` shows the full sentence about the item.
            let pictures = with_panels.and_then(|_| self.panels.in_sight());
            let is_of_pictures = pictures.is_some();
            let in_sight = pictures.or_else(|| Some(self.content.in_sight()?.to_string()));
            let in_sight: Vec<Piece> = in_sight.map(Piece::muted).into_iter().collect();
            let wide = [&sentence, &in_sight].map(|words| pieces_width(words, theme.glyphs));
            // The title names hidden rows instead of a sentence that is cut.
            let fits = wide[0] + 2 + wide[1] <= under.width || is_of_pictures && wide[1] * 2 <= under.width;
            if sentence_row > 1 {
                rows::wrapped(theme, &sentence, under, buf);
                // The visible rows are at the right end of the last row, if the sentence leaves it blank.
                let last = rows::row(under, sentence_row - 1);
                let from = last.right().saturating_sub(wide[1] + 2).max(last.x);
                names_rows = (from..last.right()).all(|x| buf[(x, last.y)].symbol() == " ");
                if names_rows {
                    ends(theme, &[], &in_sight, last, buf);
                }
            } else {
                names_rows = fits;
                ends(theme, &sentence, if fits { &in_sight } else { &[] }, under, buf);
            }
        }
        // Without room below, the title names the visible rows.
        if let Some(part) = self.content.in_sight().filter(|_| !names_rows) {
            frame_in_sight(input, &title, &part.brief(), Shown::Ready, area, buf);
        }
        rows::wrapped(theme, &legend, Rect { y: under.y + sentence_row, height: legend_row, ..under }, buf);
        drawn.sentence = plain(&sentence);
        if input.focused {
            drawn.waits_for_details = detail_is_late;
            drawn.details =
                if detail_is_late { vec![LATE.to_owned()] } else { self.details(section, chosen, detail) };
        }
    }

    /// Returns the name of the parameter that an item sets.
    fn knob(&self, section: &Section, id: ItemId) -> Option<String> {
        let text = section.edits.get(&id).cloned().or_else(|| self.content.setting(id))?;
        text.split_once('=').map(|(knob, _)| knob.to_owned())
    }

    fn draw_detail(&mut self, input: &PaneInput<'_>, section: &Section, area: Rect, buf: &mut Buffer) {
        let mut heading = vec![Piece::answer(section.title.clone())];
        if !section.context.is_empty() {
            heading.push(Piece::muted("  "));
            heading.extend(pieces(&section.context));
        }
        let context = heading.len() - 1;
        let theme = &input.app.look.theme;
        // Text of the title is not repeated.
        let mut answer = pieces(&section.answer);
        if answer.first().is_some_and(|first| first.text == section.title.as_str()) {
            answer.remove(0);
        }
        let rest = from(area, 1);
        // The visible part is more important than the words around the answer, and the context gives way first.
        let mut least = 1;
        if !rest.is_empty() {
            self.detail.draw_still(input, rest, buf);
            let of = if self.detail.hides_list_only() { "list: " } else { "" };
            let rows = self.detail.in_sight().map(|rows| Piece::muted(format!("  {of}{rows}")));
            heading.splice(1..1, rows);
            least = heading.len() - context;
        }
        let wide = |words: &[Piece]| pieces_width(words, theme.glyphs);
        if wide(&heading[..least]) + 2 + wide(&answer) > area.width {
            // The first number stays with its name, or the name goes too.
            let first = answer.iter().position(|piece| piece.tone != Tone::Muted);
            answer.truncate(first.map_or(0, |first| first + 1));
            let alone = wide(&heading[..least]);
            if alone + 2 + wide(&answer) > area.width && alone <= area.width {
                answer.clear();
            }
        }
        ends(theme, &heading, &answer, Rect { height: 1, ..area }, buf);
    }

    /// Returns the sentence about the chosen item; about the first item until the user chooses an item.
    fn sentence(&self, section: &Section, chosen: Option<ItemId>) -> Vec<Piece> {
        if chosen.is_none() && !section.sentence.is_empty() {
            return pieces(&section.sentence);
        }
        let first = || self.content.list().first();
        let phrase = chosen.or_else(first).and_then(|id| self.content.sentence(section, id));
        phrase.map_or_else(Vec::new, |phrase| pieces(&phrase))
    }

    /// Returns remarks of the section, the chosen item with all its figures and details, then a sentence about every
    /// item.
    fn details(
        &self,
        section: &Section,
        chosen: Option<ItemId>,
        detail: Option<&Arc<Prepared>>,
    ) -> Vec<String> {
        let mut lines = section.remarks.clone();
        let mut add = |more: Vec<String>| {
            if !more.is_empty() && !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(more);
        };
        if let Some(id) = chosen.or_else(|| self.content.list().first()) {
            add(self.content.details(section, id));
        }
        if let Some(detail) = detail {
            let mut more = vec![detail.section.title.clone()];
            more.extend(lines_of(&detail.section));
            add(more);
        }
        add(self.content.list().sentences(section));
        lines
    }
}

/// Returns `true` if the items of a pane's section have details that are drawn next to it.
fn has_details(input: &PaneInput<'_>) -> bool {
    input.info.section.is_some_and(|info| !info.item.is_empty())
}

/// Returns `true` if the forms of a section differ: in its blocks, in the order of rows, in the interval of loads, or in
/// the picture of a network.
fn has_forms(section: &Section, forms: &[&str]) -> bool {
    section.blocks.iter().any(|block| {
        let in_body = match &block.body {
            Body::Table(table) => !table.orders.is_empty() || table.loads.is_some(),
            Body::Matrix(matrix) => !matrix.places.is_empty(),
            _ => false,
        };
        in_body || forms.contains(&block.name) || !block.only_in.is_empty()
    })
}

/// Returns the title: the displayed form, the summary of the section if there is room, and its most important number.
fn title(input: &PaneInput<'_>, (section, form): (&Section, &str), before: Vec<Piece>, width: u16) -> Title {
    let mut context = before;
    if !section.subject.is_empty() {
        context.push(Piece::muted(section.subject.clone()));
    }
    // A form may be named after a block, and block names use underscores as in files.
    let form = if has_forms(section, input.info.modes) { form } else { "" };
    let form = form.replace('_', " ");
    // On a narrow pane, the form is omitted if the section has a subject.
    let form = if section.subject.is_empty() || width >= CONTEXT { form } else { String::new() };
    let gap = if section.subject.is_empty() { "" } else { "  " };
    if !form.is_empty() {
        context.push(Piece::muted(format!("{gap}{form}")));
    }
    if width >= CONTEXT && !section.context.is_empty() {
        let between = if form.is_empty() { gap } else { "; " };
        context.push(Piece::muted(between));
        context.extend(pieces(&section.context));
    }
    Title { context, value: pieces(&section.answer) }
}

/// Formats a section as lines of text; a row with its own sentence is given by this sentence.
fn lines_of(section: &Section) -> Vec<String> {
    let mut told = section.clone();
    let mut sentences = Vec::new();
    told.blocks.retain(|block| match &block.body {
        Body::Table(table) if table.rows.iter().any(|row| !row.sentence.is_empty()) => {
            sentences.extend(table.rows.iter().map(|row| row.sentence.to_string()));
            false
        }
        _ => !block.on_screens,
    });
    let mut lines = text::lines(&told);
    lines.extend(sentences);
    lines
}

/// Converts a phrase of a report to pieces of text with tones, for drawing.
pub fn pieces(phrase: &Phrase) -> Vec<Piece> {
    phrase.words.iter().map(|words| Piece::new(words.text.clone(), tone(words.tone))).collect()
}

/// Returns the tone in which text with this meaning is drawn.
pub const fn tone(meaning: Meaning) -> Tone {
    match meaning {
        Meaning::Text => Tone::Text,
        Meaning::Muted => Tone::Muted,
        Meaning::Answer => Tone::Answer,
        Meaning::Good => Tone::Good,
        Meaning::Changed => Tone::Changed,
        Meaning::Warn | Meaning::Bad => Tone::Bad,
    }
}

/// Makes the id of an item that has no id of its own, from its block and row.
const fn item_id(block: usize, row: usize) -> ItemId {
    ((block as u32 + 1) << 20) | row as u32
}

/// Makes a click select an item and a double click inspect it.
fn report_hits(input: &PaneInput<'_>, hits: &Hits, id: impl Fn(u32, u32) -> ItemId, out: &mut Drawn) {
    opened_hits(input, hits, id, |_| Command::Inspect, out);
}

/// Makes a click select an item and a double click open it.
fn opened_hits(
    input: &PaneInput<'_>,
    hits: &Hits,
    id: impl Fn(u32, u32) -> ItemId,
    open: impl Fn(ItemId) -> Command,
    out: &mut Drawn,
) {
    out.hits.extend(hits.iter().map(|hit| {
        let item = id(hit.id, hit.part);
        input.hit(hit.rect, item, open(item))
    }));
}
