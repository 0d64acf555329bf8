//! A row of numbers for both plans, such as circuits link by link.

use lightbay_core::report::differences::{CountPair, PairedCounts};
use lightbay_widgets::{Cut, Pen, Theme, Tone, number, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A row of numbers for both plans under their names, divided into blocks that fit the width.
pub struct Numbers<'a> {
    title: &'a str,
    counts: &'a [CountPair],
    column: u16,
    per_block: usize,
}

/// Number of columns in front of the numbers.
const LEFT: u16 = 9;

impl<'a> Numbers<'a> {
    pub fn new(of: &'a PairedCounts, width: u16, theme: &Theme) -> Self {
        let (title, counts) = (of.title, &of.counts[..]);
        let longest = counts.iter().map(|pair| text::width(&pair.name, theme.glyphs)).max().unwrap_or(0);
        let count = counts.len().max(1) as u16;
        let room = width.saturating_sub(LEFT);
        let least = (longest + 2).clamp(5, room.max(5));
        // A few columns are spread out, so that they are easy to distinguish.
        let column = (room / count).clamp(least, 15.max(least));
        Self { title, counts, column, per_block: usize::from((room / column).max(1)) }
    }

    fn blocks(&self) -> usize {
        self.counts.len().div_ceil(self.per_block)
    }

    pub fn rows(&self) -> u16 {
        (1 + 4 * self.blocks()) as u16
    }

    pub fn draw(&self, heads: [&str; 3], area: Rect, buf: &mut Buffer, theme: &Theme) {
        let mut pen = Pen::new(buf, area, theme);
        pen.text(0, 0, self.title, theme.style(Tone::Muted));
        for block in 0..self.blocks() {
            let y = 1 + 4 * block as i32;
            for (row, head) in (1..).zip(heads) {
                pen.cut(1, y + row, i32::from(LEFT) - 2, head, Cut::End, theme.style(Tone::Text));
            }
            for at in 0..self.per_block {
                let index = block * self.per_block + at;
                let Some(CountPair { name, values: [a, b] }) = self.counts.get(index) else { break };
                let right = i32::from(LEFT) + i32::from(self.column) * (at as i32 + 1);
                let room = i32::from(self.column) - 1;
                let width = i32::from(text::width(name, theme.glyphs)).min(room);
                pen.cut(right - width, y, width, name, Cut::Middle, theme.style(Tone::Muted));
                let mut number = |row: i32, value: i64, signed: bool, tone: Tone| {
                    let value = value as f64;
                    let text = if signed { number::signed(value, 0) } else { number::fixed(value, 0) };
                    pen.right(right, y + row, &text, theme.style(tone));
                };
                number(1, *a, false, Tone::Answer);
                number(2, *b, false, Tone::Muted);
                number(3, a - b, true, Tone::Answer);
            }
        }
    }
}
