//! The solve strip: one bar from the ideal to the best plan, and a row per method.
//!
//! The green part of the bar is the loss that is proven to be unavoidable: from the ideal to the bound. The rest might
//! still be avoidable.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::{StatefulWidget, Widget};

use crate::hit::Hits;
use crate::pen::{Label, Pen, Piece, pieces_width};
use crate::sentence::Sentence;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// State of a run, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunWord {
    /// The run waits for its turn.
    #[default]
    Waiting,
    /// The run is active.
    Running,
    /// The user paused the run.
    Paused,
    /// The run was told to stop, but is still active.
    Stopping,
    /// The run ended by itself.
    Done,
    /// The run ended with a proof that its plan is optimal.
    Optimal,
    /// The user stopped the run; its best plan is kept.
    Stopped,
    /// The method refused the scenario or a parameter.
    Refused,
    /// The run could not continue.
    Failed,
    /// The run was ended by a defect of its method.
    Crashed,
    /// The run was cut off when its program ended.
    CutOff,
    /// The run is active in another process.
    Elsewhere,
    /// The run proved that no plan exists.
    Infeasible,
    /// The run proved that the objective is unbounded.
    Unbounded,
    /// The run ended without a plan.
    NoPlan,
    /// The run ended because its numbers were not reliable.
    NumericalTrouble,
}

impl RunWord {
    /// Returns the word on screen.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "WAITING",
            Self::Running => "RUNNING",
            Self::Paused => "PAUSED",
            Self::Stopping => "STOPPING",
            Self::Done => "DONE",
            Self::Optimal => "OPTIMAL",
            Self::Stopped => "STOPPED",
            Self::Refused => "REFUSED",
            Self::Failed => "FAILED",
            Self::Crashed => "CRASHED",
            Self::CutOff => "CUT OFF",
            Self::Elsewhere => "ELSEWHERE",
            Self::Infeasible => "INFEASIBLE",
            Self::Unbounded => "UNBOUNDED",
            Self::NoPlan => "NO PLAN",
            Self::NumericalTrouble => "NUM. TROUBLE",
        }
    }

    /// Returns the tone (meaning) of the word, from which the theme chooses the colour.
    pub const fn tone(self) -> Tone {
        match self {
            Self::Running | Self::Stopping | Self::Elsewhere => Tone::Answer,
            Self::Optimal => Tone::Good,
            Self::Refused
            | Self::Failed
            | Self::Crashed
            | Self::Infeasible
            | Self::Unbounded
            | Self::NoPlan
            | Self::NumericalTrouble => Tone::Bad,
            Self::Waiting | Self::Paused | Self::Done | Self::Stopped | Self::CutOff => Tone::Muted,
        }
    }
}

/// The row of one method in the strip.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodRow {
    /// Id that is reported when the row is clicked.
    pub id: u32,
    /// Full name of the method.
    pub name: Label,
    /// Best objective of the run.
    pub value: Label,
    /// State of the run.
    pub state: RunWord,
    /// Elapsed time of the run.
    pub elapsed: Label,
    /// Note on the present work of the run; in a separate row if there is room.
    pub note: Vec<Piece>,
}

/// Fraction of a cell by which the bar may be too long, because a proof is complete within a tolerance.
const COMPLETE: f64 = 1e-3;

/// The bar alone, one row high.
///
/// ```
/// # use lightbay_widgets::{GapBar, Theme, GlyphSet, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let area = Rect::new(0, 0, 10, 1);
/// let mut buf = Buffer::empty(area);
/// GapBar::new(&theme, 12.801, Some(12.821), Some(12.830)).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "######----");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct GapBar<'a> {
    theme: &'a Theme,
    ideal: f64,
    bound: Option<f64>,
    best: Option<f64>,
    partial: bool,
}

impl<'a> GapBar<'a> {
    /// Minimum readable width of the bar.
    pub const MIN_WIDTH: u16 = 6;

    /// Creates a bar for a value that is minimised: ideal network, proven bound, best plan.
    pub const fn new(theme: &'a Theme, ideal: f64, bound: Option<f64>, best: Option<f64>) -> Self {
        Self { theme, ideal, bound, best, partial: false }
    }

    /// Sets whether the bound covers only some plans: the part up to the bound is then grey.
    #[must_use]
    pub const fn partial(mut self, partial: bool) -> Self {
        self.partial = partial;
        self
    }

    /// Returns the fraction of the loss that is proven to be unavoidable, 0 to 1: 1 if the plan is as good as the ideal
    /// network, 0 without a bound. `None` without a plan, or if the value of the plan or of the ideal network is not
    /// finite.
    pub fn proven(&self) -> Option<f64> {
        let best = self.best.filter(|best| best.is_finite())?;
        if !self.ideal.is_finite() {
            return None;
        }
        let loss = best - self.ideal;
        if loss <= 0.0 {
            return Some(1.0);
        }
        let bound = self.bound.filter(|bound| bound.is_finite()).unwrap_or(self.ideal);
        Some(((bound - self.ideal) / loss).clamp(0.0, 1.0))
    }

    fn draw(&self, pen: &mut Pen<'_>) {
        let width = pen.width();
        // Rounded down: the bar must not claim more than is proven. A share of which all shown digits are 100 % fills it.
        let full = self.proven().map_or(0, |share| (share * f64::from(width) + COMPLETE).floor() as i32);
        let glyphs = pen.glyphs();
        let empty = if self.theme.shades() || self.theme.is_ascii() { glyphs.gap_empty } else { glyphs.free };
        let tone = if self.partial { Tone::Muted } else { Tone::Good };
        pen.line(0, 0, full, glyphs.gap_full, self.theme.style(tone));
        pen.line(full, 0, width - full, empty, self.theme.style(Tone::Rule));
    }
}

impl Widget for &GapBar<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        self.draw(&mut Pen::new(buf, area, self.theme));
    }
}

/// The whole strip. In at most three rows and at least 60 columns, the strip has one line per method.
///
/// ```
/// # use lightbay_widgets::{GapBar, GlyphSet, Hits, MethodRow, Piece, RunWord, SolveStrip, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let (ideal, best) = ([Piece::muted("ideal 12.801")], [Piece::muted("best 12.830")]);
/// let methods = [MethodRow { name: "delta-joint".into(), state: RunWord::Running, ..MethodRow::default() }];
/// let strip = SolveStrip::new(&theme, &methods).ends(&ideal, &[], &best)
///     .bar(GapBar::new(&theme, 12.801, Some(12.821), Some(12.830)));
/// let area = Rect::new(0, 0, 26, 4);
/// let (mut buf, mut hits) = (Buffer::empty(area), Hits::default());
/// strip.render(area, &mut buf, &mut hits);
/// assert_eq!(text_of(&buf), "ideal 12.801   best 12.830\n#################---------\n\ndelta-joint        RUNNING");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SolveStrip<'a> {
    theme: &'a Theme,
    methods: &'a [MethodRow],
    ideal: &'a [Piece],
    bound: &'a [Piece],
    best: &'a [Piece],
    bar: Option<GapBar<'a>>,
    caption: &'a [Piece],
    caption_right: &'a [Piece],
    notes: &'a [Vec<Piece>],
}

impl<'a> SolveStrip<'a> {
    /// Below this width only method and state are drawn.
    pub const MIN_WIDTH: u16 = 24;

    /// Creates a strip with one row for each of these methods, in the given order.
    pub const fn new(theme: &'a Theme, methods: &'a [MethodRow]) -> Self {
        Self {
            theme,
            methods,
            ideal: &[],
            bound: &[],
            best: &[],
            bar: None,
            caption: &[],
            caption_right: &[],
            notes: &[],
        }
    }

    /// Sets the texts over both ends of the bar and between them.
    #[must_use]
    pub const fn ends(mut self, ideal: &'a [Piece], bound: &'a [Piece], best: &'a [Piece]) -> Self {
        self.ideal = ideal;
        self.bound = bound;
        self.best = best;
        self
    }

    /// Sets the bar.
    #[must_use]
    pub const fn bar(mut self, bar: GapBar<'a>) -> Self {
        self.bar = Some(bar);
        self
    }

    /// Sets the text below the bar, about the progress of the proof.
    #[must_use]
    pub const fn caption(mut self, left: &'a [Piece], right: &'a [Piece]) -> Self {
        self.caption = left;
        self.caption_right = right;
        self
    }

    /// Sets further rows, which are drawn below all others if there is room.
    #[must_use]
    pub const fn notes(mut self, notes: &'a [Vec<Piece>]) -> Self {
        self.notes = notes;
        self
    }

    fn draw_bar(&self, pen: &mut Pen<'_>, x: i32, y: i32, width: i32) {
        if let Some(bar) = self.bar {
            bar.draw(&mut pen.part(x, y, width, 1));
        }
    }

    fn draw_method(&self, pen: &mut Pen<'_>, y: i32, method: &MethodRow, hits: &mut Hits) {
        let glyphs = pen.glyphs();
        let width = pen.width();
        let running = matches!(method.state, RunWord::Running | RunWord::Stopping);
        let state_style = self.theme.ink(method.state.tone(), running);
        let elapsed_width = i32::from(text::width(&method.elapsed, glyphs));
        let name_width = i32::from(text::width(&method.name, glyphs));
        let word = method.state.word();
        let mut end = width;
        if elapsed_width > 0 && name_width + 2 + word.len() as i32 + 1 + elapsed_width <= width {
            end = pen.right(end, y, &method.elapsed, state_style) - 1;
        }
        end = pen.right(end, y, word, state_style) - 1;
        let value_width = i32::from(text::width(&method.value, glyphs));
        if value_width > 0 && name_width + 2 + value_width < end {
            end = pen.right(end, y, &method.value, self.theme.style(Tone::Text)) - 2;
        }
        let tone = if running { Tone::Answer } else { Tone::Text };
        pen.cut(0, y, end.max(0), &method.name, Cut::Middle, self.theme.style(tone));
        hits.push(pen.rect(0, y, width, 1), method.id, 0);
    }

    fn draw_tall(&self, pen: &mut Pen<'_>, hits: &mut Hits) {
        let (width, height) = (pen.width(), pen.height());
        let mut y = 0;
        if !self.ideal.is_empty() || !self.best.is_empty() {
            let best_x = pen.pieces_right(width, 0, self.best);
            let used = pen.pieces(0, 0, best_x - 1, self.ideal);
            let bound_width = i32::from(pieces_width(self.bound, pen.glyphs()));
            if bound_width > 0 && used + 2 + bound_width + 2 <= best_x {
                pen.pieces((used + best_x - bound_width) / 2, 0, bound_width, self.bound);
            }
            y += 1;
        }
        if self.bar.is_some() {
            self.draw_bar(pen, 0, y, width);
            y += 1;
        }
        if !self.caption.is_empty() && y < height {
            let right = pen.pieces_right(width, y, self.caption_right);
            pen.pieces(0, y, right - i32::from(right < width), self.caption);
            y += 1;
        }
        let rows = self.methods.len() as i32;
        let noted = self.methods.iter().filter(|method| !method.note.is_empty()).count() as i32;
        let spare = height - y - rows;
        let spread = i32::from(spare > 0 && y > 0);
        y += spread;
        let with_notes = spare - spread >= noted;
        // Rows for the further rows of long notes.
        let mut free = spare - spread - noted;
        for method in self.methods {
            if y >= height {
                return;
            }
            self.draw_method(pen, y, method, hits);
            y += 1;
            if with_notes && !method.note.is_empty() {
                let note = Sentence::new(self.theme, &method.note).wrap(true);
                let most = pen.rect(2, y, width - 2, 1 + free);
                let rows = i32::from(note.rows(most.width, most.height));
                note.draw(&mut pen.part(2, y, width - 2, rows));
                free -= rows - 1;
                y += rows;
            }
        }
        for note in self.notes {
            if y >= height {
                return;
            }
            pen.pieces(0, y, width, note);
            y += 1;
        }
    }

    /// Draws one line per method with its own best value; the first line also has the bar, which is for all methods.
    fn draw_flat(&self, pen: &mut Pen<'_>, hits: &mut Hits) {
        let width = pen.width();
        let glyphs = pen.glyphs();
        let name_width = self
            .methods
            .iter()
            .map(|method| i32::from(text::width(&method.name, glyphs)))
            .max()
            .unwrap_or(0)
            .min(18);
        let value_width = |method: &MethodRow| i32::from(text::width(&method.value, glyphs));
        let values = self.methods.iter().map(value_width).max().unwrap_or(0);
        let height = pen.height() as usize;
        for (y, method) in (0..).zip(self.methods.iter().take(height)) {
            let running = matches!(method.state, RunWord::Running | RunWord::Stopping);
            let tone = if running { Tone::Answer } else { Tone::Text };
            pen.cut(0, y, name_width, &method.name, Cut::Middle, self.theme.style(tone));
            let state_style = self.theme.ink(method.state.tone(), running);
            let mut end = pen.right(width, y, method.state.word(), state_style) - 2;
            let mut x = name_width + 2;
            if values > 0 && x + values + i32::from(GapBar::MIN_WIDTH) < end {
                x += values;
                pen.right(x, y, &method.value, self.theme.style(tone));
                x += 2;
            }
            if y == 0 {
                let best_width = i32::from(pieces_width(self.best, glyphs));
                x += pen.pieces(x, y, end - x, self.ideal) + 2;
                if best_width > 0 && x + best_width + i32::from(GapBar::MIN_WIDTH) <= end {
                    pen.pieces(end - best_width, y, best_width, self.best);
                    end -= best_width + 1;
                }
                if self.bar.is_some() && end - x >= i32::from(GapBar::MIN_WIDTH) {
                    self.draw_bar(pen, x, y, end - x);
                }
            } else {
                pen.pieces(x, y, end - x, &method.note);
            }
            hits.push(pen.rect(0, y, width, 1), method.id, 0);
        }
        if self.methods.is_empty() {
            let used = pen.pieces(0, 0, width, self.ideal);
            let best = pen.pieces_right(width, 0, self.best);
            self.draw_bar(pen, used + 2, 0, best - used - 3);
        }
    }
}

impl StatefulWidget for &SolveStrip<'_> {
    type State = Hits;

    fn render(self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        hits.clear();
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        if area.width < SolveStrip::MIN_WIDTH {
            for (y, method) in (0..pen.height()).zip(self.methods) {
                self.draw_method(&mut pen, y, method, hits);
            }
        } else if area.height <= 3 && area.width >= 60 {
            self.draw_flat(&mut pen, hits);
        } else {
            self.draw_tall(&mut pen, hits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;

    #[test]
    fn a_complete_proof_fills_the_bar_and_nothing_less_does() {
        let theme = Theme::mono(GlyphSet::Ascii);
        let drawn = |bound: f64| {
            let area = Rect::new(0, 0, 10, 1);
            let mut buf = Buffer::empty(area);
            GapBar::new(&theme, 0.0, Some(bound), Some(1.0)).render(area, &mut buf);
            text_of(&buf)
        };
        assert_eq!([drawn(1.0 - 1e-9), drawn(0.99)], ["##########", "#########-"]);
    }
}
