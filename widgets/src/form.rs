//! The parameters form: names, values, and changes that are not solved yet.

use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::input::draw_edit;
use crate::pen::{Label, Pen};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// Kind of a row of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormKind {
    /// The row shows a parameter.
    #[default]
    Field,
    /// The row is the heading of a group.
    Heading,
    /// The row is a text, such as `run uses 400`; a `*` in front marks text about changes.
    Note,
}

/// One row of the form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormRow {
    /// Id that is reported when the row is clicked, and kept as the selection.
    pub id: u32,
    /// Kind of the row.
    pub kind: FormKind,
    /// Name of the parameter, as in files.
    pub name: Label,
    /// Value as it would be written in a file.
    pub value: Label,
    /// Unit, if the name does not contain it.
    pub unit: Label,
    /// `true` if the value was changed and not yet solved: it is marked with `*`.
    pub changed: bool,
    /// The value with which the shown plan was made.
    pub was: Label,
    /// Problem with the value: `!` marks the row, and the problem is below the form.
    pub problem: Label,
}

impl FormRow {
    /// Creates the row of a parameter.
    pub fn field(id: u32, name: impl Into<Label>, value: impl Into<Label>) -> Self {
        Self { id, name: name.into(), value: value.into(), ..Self::default() }
    }

    /// Creates the heading of a group.
    pub fn heading(name: impl Into<Label>) -> Self {
        Self { kind: FormKind::Heading, name: name.into(), ..Self::default() }
    }

    /// Creates a row with an explaining text.
    pub fn note(words: impl Into<Label>) -> Self {
        Self { kind: FormKind::Note, name: words.into(), ..Self::default() }
    }

    /// Sets the unit of the value.
    #[must_use]
    pub fn unit(mut self, unit: impl Into<Label>) -> Self {
        self.unit = unit.into();
        self
    }

    /// Marks the value as changed from `was`.
    #[must_use]
    pub fn changed_from(mut self, was: impl Into<Label>) -> Self {
        self.changed = true;
        self.was = was.into();
        self
    }

    /// Sets the problem with the value.
    #[must_use]
    pub fn problem(mut self, problem: impl Into<Label>) -> Self {
        self.problem = problem.into();
        self
    }
}

/// The text being typed into the selected field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit<'a> {
    /// The text typed so far.
    pub text: &'a str,
    /// Number of graphemes in front of the cursor.
    pub cursor: usize,
}

/// State of a form, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormState {
    /// Id of the selected field.
    pub selected: Option<u32>,
    /// Index of the first row shown.
    pub offset: usize,
    /// Rows shown by the last draw.
    pub visible: Range<usize>,
    /// Clickable rows.
    pub hits: Hits,
}

impl FormState {
    /// Moves the selection by `steps` fields, stopping at the ends.
    pub fn step(&mut self, rows: &[FormRow], steps: i32) {
        let choices = || rows.iter().filter(|row| row.kind == FormKind::Field);
        let at = choices().position(|row| Some(row.id) == self.selected);
        self.selected = scroll::stepped(at, choices().count(), steps)
            .and_then(|index| choices().nth(index))
            .map(|row| row.id);
    }
}

/// The form.
///
/// ```
/// # use lightbay_widgets::{Form, FormRow, FormState, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::default();
/// let rows = [
///     FormRow::field(0, "bandwidth_gbps", "800").changed_from("400"),
///     FormRow::field(1, "gap", "0.01").unit("%"),
/// ];
/// let mut state = FormState { selected: Some(0), ..FormState::default() };
/// let area = Rect::new(0, 0, 34, 2);
/// let mut buf = Buffer::empty(area);
/// Form::new(&theme, &rows).render(area, &mut buf, &mut state);
/// assert_eq!(text_of(&buf), "> bandwidth_gbps 800 * was 400\n  gap           0.01   %");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    theme: &'a Theme,
    rows: &'a [FormRow],
    edit: Option<Edit<'a>>,
}

/// Columns of the parts of a row.
#[derive(Clone, Copy)]
struct FormPlaces {
    name: i32,
    value_end: i32,
}

impl<'a> Form<'a> {
    /// Width below which only values are drawn.
    pub const MIN_WIDTH: u16 = 14;

    /// Creates a form with these rows, in order.
    pub const fn new(theme: &'a Theme, rows: &'a [FormRow]) -> Self {
        Self { theme, rows, edit: None }
    }

    /// Sets the text that is being typed into the selected field.
    #[must_use]
    pub const fn edit(mut self, edit: Edit<'a>) -> Self {
        self.edit = Some(edit);
        self
    }

    /// Computes the columns of the parts of a row. The values end in one column, as far left as the longest pair of
    /// name and value allows.
    fn places(&self, width: i32) -> FormPlaces {
        let glyphs = self.theme.glyphs;
        let wish = self
            .rows
            .iter()
            .filter(|row| row.kind == FormKind::Field)
            .map(|row| {
                3 + i32::from(text::width(&row.name, glyphs)) + i32::from(text::width(&row.value, glyphs))
            })
            .max()
            .unwrap_or(0);
        // One column is reserved for the mark of a change; with more room, a blank precedes the mark.
        FormPlaces { name: 2, value_end: wish.min(width - 1) }
    }

    fn draw_field(&self, pen: &mut Pen<'_>, y: i32, row: &FormRow, places: FormPlaces, selected: bool) {
        let width = pen.width();
        let glyphs = pen.glyphs();
        if selected {
            pen.paint(0, y, width, 1, self.theme.selected());
            pen.glyph(0, y, ">", self.theme.style(Tone::Answer));
        }
        let editing = self.edit.filter(|_| selected);
        let value_width = i32::from(text::width(&row.value, glyphs));
        let value_tone = if !row.problem.is_empty() {
            Tone::Bad
        } else if row.changed {
            Tone::Changed
        } else {
            Tone::Text
        };
        let value_style = self.theme.ink(value_tone, row.changed || selected);
        if width < i32::from(Form::MIN_WIDTH) {
            pen.cut(2, y, width - 2, &row.value, Cut::End, value_style);
            return;
        }
        let shown = editing.map_or(value_width, |edit| i32::from(text::width(edit.text, glyphs)) + 1);
        let value_width = shown.min(places.value_end - places.name - 5).max(1);
        let value_x = places.value_end - value_width;
        let others = self.rows.iter().filter(|other| other.kind == FormKind::Field).map(|other| &*other.name);
        let room = value_x - 1 - places.name;
        pen.name_among(places.name, y, room, &row.name, others, self.theme.style(Tone::Text));
        match editing {
            Some(edit) => draw_edit(pen, value_x, y, value_width, edit.text, edit.cursor),
            None => {
                pen.cut(value_x, y, value_width, &row.value, Cut::End, value_style);
            }
        }
        let mut x = (places.value_end + 1).min(width - 1);
        if !row.problem.is_empty() {
            pen.glyph(x, y, "!", self.theme.ink(Tone::Bad, true));
        } else if row.changed {
            pen.glyph(x, y, "*", self.theme.ink(Tone::Changed, true));
        }
        x += 2;
        let muted = self.theme.style(Tone::Muted);
        let was_width = 4 + i32::from(text::width(&row.was, glyphs));
        if row.changed && !row.was.is_empty() {
            if x + was_width <= width {
                x += pen.text(x, y, "was ", muted);
                pen.text(x, y, &row.was, muted);
            }
        } else if x + i32::from(text::width(&row.unit, glyphs)) <= width {
            pen.text(x, y, &row.unit, muted);
        }
    }

    fn draw_row(&self, pen: &mut Pen<'_>, y: i32, row: &FormRow, places: FormPlaces, selected: bool) {
        match row.kind {
            FormKind::Field => self.draw_field(pen, y, row, places, selected),
            FormKind::Heading => {
                pen.cut(0, y, pen.width(), &row.name, Cut::End, self.theme.style(Tone::Muted));
            }
            FormKind::Note => {
                if row.changed {
                    pen.glyph(0, y, "*", self.theme.ink(Tone::Changed, true));
                }
                pen.cut(2, y, pen.width() - 2, &row.name, Cut::End, self.theme.style(Tone::Muted));
            }
        }
    }
}

impl StatefulWidget for &Form<'_> {
    type State = FormState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut FormState) {
        state.hits.clear();
        state.visible = 0..0;
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let field = |row: &FormRow| row.kind == FormKind::Field && Some(row.id) == state.selected;
        let at = self.rows.iter().position(field);
        let problem = at.and_then(|at| self.rows.get(at)).map_or("", |row| &row.problem);
        let mut height = pen.height();
        if !problem.is_empty() && height > 2 {
            // The reason is shown below the form as long as the field is selected.
            height -= 1;
            pen.glyph(0, height, "!", self.theme.ink(Tone::Bad, true));
            pen.cut(2, height, pen.width() - 2, problem, Cut::End, self.theme.style(Tone::Bad));
        }
        let places = self.places(pen.width());
        state.offset = scroll::follow(state.offset, at, height as usize, self.rows.len());
        let end = (state.offset + height as usize).min(self.rows.len());
        state.visible = state.offset..end;
        for (y, row) in (0..).zip(self.rows.get(state.offset..end).unwrap_or(&[])) {
            let selected = row.kind == FormKind::Field && Some(row.id) == state.selected;
            self.draw_row(&mut pen, y, row, places, selected);
            if row.kind == FormKind::Field {
                state.hits.push(pen.rect(0, y, pen.width(), 1), row.id, 0);
            }
        }
    }
}
