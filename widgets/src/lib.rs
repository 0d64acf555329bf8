//! Widgets of the workbench: borrowed data in, cells out. They know no engine, file, clock or terminal.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "a failed test may stop"))]

mod axis;
mod bars;
mod chart;
mod compare;
mod confirm;
mod footer;
mod form;
mod glyphs;
mod header;
mod help;
mod hit;
mod input;
mod list;
mod logline;
mod matrix;
pub mod number;
mod pane;
mod pen;
mod popup;
mod progress;
pub mod scroll;
mod sentence;
mod stack;
mod table;
mod tabs;
pub mod text;
mod theme;
mod too_small;

pub use axis::{Range, Scale, Ticks};
pub use bars::{Bin, Histogram, Waterfall, WaterfallRow};
pub use chart::{Axis, Baseline, Chart, Event, Series};
pub use compare::{PairRow, PairedBars, pair_legend};
pub use confirm::Confirm;
pub use footer::{Footer, KeyHint};
pub use form::{Edit, Form, FormKind, FormRow, FormState};
pub use glyphs::{GlyphSet, Glyphs, ascii_of};
pub use header::{Header, Segment};
pub use help::{Help, HelpLine, HelpState};
pub use hit::{Hit, Hits};
pub use input::Input;
pub use list::{List, ListItem, ListState};
pub use logline::{LogEntry, LogLines, Severity};
pub use matrix::{CellFlag, Matrix, MatrixCell, MatrixState, RowSum};
pub use number::Num;
pub use pane::{Pane, PaneState};
pub use pen::{Label, Pen, Piece, pieces_width};
pub use popup::Popup;
pub use progress::{GapBar, MethodRow, RunWord, SolveStrip};
pub use sentence::Sentence;
pub use stack::{Stack, StackLayer, StackMark};
pub use table::{Align, Column, RowKind, Table, TableRow, TableState};
pub use tabs::{Tab, Tabs};
pub use text::Cut;
pub use theme::{Background, ColorDepth, HEAT_STEPS, Palette, Theme, Tone};
pub use too_small::TooSmall;

use ratatui_core::buffer::Buffer;

/// The characters of a buffer, rows without trailing blanks. For examples, tests and copying.
pub fn text_of(buf: &Buffer) -> String {
    let width = usize::from(buf.area.width).max(1);
    let mut out = String::new();
    for (row, cells) in buf.content.chunks(width).enumerate() {
        if row > 0 {
            out.push('\n');
        }
        let line: String = cells.iter().map(ratatui_core::buffer::Cell::symbol).collect();
        out.push_str(line.trim_end());
    }
    out
}
