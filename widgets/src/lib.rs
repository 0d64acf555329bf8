//! Widgets of the workbench: they draw borrowed data into cells, without access to engines, files, clock or terminal.
//!
//! # Usage
//!
//! Every widget is `Name::new(&theme, data…)` with builder methods, and is drawn by `Widget` or `StatefulWidget` for
//! `&Name`. Data is borrowed from vectors that the view refills once per change. Text in it is a [`Label`] (static or
//! owned); styled text is a [`Piece`] with a [`Tone`] (a meaning, never a colour). [`Theme`] contains palette, depth of
//! colour, background and [`Glyphs`].
//!
//! * **State** (`FooState`) has the *id* of the selected item, so that the selection stays when rows move, and the scroll
//!   offset, which drawing corrects. `state.step(&rows, ±n)` moves the selection; `state.visible` is the range that was
//!   shown.
//! * **Hits**: clickable items add `Hit { rect, id, part }` to [`Hits`] (in the state, or instead of a state);
//!   `hits.at(x, y)` finds them. `id` is the caller's id, `part` is the column, interval or lane.
//! * **Numbers** come from [`number`]: rounded, never cut, `-` for unknown; [`Num`] lives on the stack and becomes a
//!   [`Label`] by `into()`.
//! * **Drawing by hand**: [`Pen`] clips, cleans text and maps it to ASCII; nothing else writes into a buffer.
//! * Each widget has `MIN_WIDTH` (and `MIN_HEIGHT`); below it only its headline is drawn.
//!
//! # Widgets
//!
//! | Widget | Shows | State |
//! |---|---|---|
//! | [`Header`] of [`Segment`] | line 0: identity, answer, run state | |
//! | [`Tabs`] of [`Tab`] | line 1: panes, focus in brackets | [`Hits`] |
//! | [`Footer`] of [`KeyHint`] | last line: keys | [`Hits`] |
//! | [`LogLines`] of [`LogEntry`] | last events | |
//! | [`Pane`] with [`PaneState`] | title rule; empty, waiting, stale, failed | |
//! | [`Sentence`] of [`Piece`] | the sentence about the selected item | |
//! | [`Table`] of [`Column`], [`TableRow`] | plans, links, critical path, HiGHS rows, comparison | [`TableState`] |
//! | [`Form`] of [`FormRow`], [`Edit`] | parameters | [`FormState`] |
//! | [`SolveStrip`] of [`MethodRow`], [`GapBar`] | progress, active methods | [`Hits`] |
//! | [`Chart`] of [`Series`], [`Baseline`], [`Event`], [`Axis`] | convergence, bounds, sweeps | |
//! | [`Stack`] of [`StackLayer`], [`StackMark`] | rates of a link under its limit | |
//! | [`Strip`] | demand against capacity over time, one row | |
//! | [`Activity`] of [`ActivityRow`], [`Interval`] | tasks by intervals, capacity of links | [`ActivityState`] |
//! | [`Timeline`] of [`Lane`], [`TimelineItem`], [`AxisPart`], [`Edge`] | graph of tasks on a time axis | [`TimelineState`] |
//! | [`SignMap`] of [`SignRows`] | the same matrix as a small picture without names | |
//! | [`Slider`] | present value of a parameter on its logarithmic scale, one row | |
//! | [`SpanLanes`] of [`SpanLane`], [`SpanBar`] | intervals by lane, coloured by owner | [`SpanLanesState`] |
//! | [`Matrix`] of [`MatrixCell`], [`RowSum`] | circuits pod by pod, edit layer | [`MatrixState`] |
//! | [`Meter`] of [`Part`] | one bar of stacked parts, to an eighth of a cell; parts of a sum row by row | |
//! | [`Columns`] of [`Spread`] | distribution of loads as vertical bars, with mean and largest value on the axis | |
//! | [`Tiles`] of [`Tile`] | groups of short marks on shades: switches by cube, faults by face | [`TilesState`] |
//! | [`Signs`] of [`SignRows`] | large sparse matrix: kept, added and removed numbers, with words | [`SignsState`] |
//! | [`PairedBars`] of [`PairRow`] | two schedules on one scale | |
//! | [`Popup`] | frame; dims the content behind it | |
//! | [`List`] of [`ListItem`] | palette, sessions, examples | [`ListState`] |
//! | [`Help`], [`Confirm`], [`Input`] | keys, questions, typing | [`HelpState`], [`Hits`] |
//! | [`TooSmall`] | size needed | |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "a failed test may stop"))]

mod activity;
mod axis;
mod chart;
mod columns;
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
mod meter;
pub mod number;
mod pane;
mod pen;
mod popup;
mod progress;
pub mod scroll;
mod sentence;
mod signmap;
mod signs;
mod slider;
mod spans;
mod stack;
mod strip;
mod table;
mod tabs;
pub mod text;
mod theme;
mod tiles;
mod timeline;
mod too_small;

pub use activity::{Activity, ActivityKind, ActivityRow, ActivityScale, ActivityState, Interval};
pub use axis::{Range, Scale, Ticks};
pub use chart::{Axis, Baseline, Chart, Event, GraphEdge, GraphNode, NetworkGraph, Series};
pub use columns::{Columns, Spread};
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
pub use meter::{Meter, Part};
pub use number::Num;
pub use pane::{Pane, PaneState};
pub use pen::{Label, Pen, Piece, pieces_width};
pub use popup::Popup;
pub use progress::{GapBar, MethodRow, RunWord, SolveStrip};
pub use sentence::Sentence;
pub use signmap::SignMap;
pub use signs::{Sign, SignCell, SignFlag, SignRows, Signs, SignsState};
pub use slider::Slider;
pub use spans::{SpanBar, SpanLane, SpanLanes, SpanLanesState};
pub use stack::{Stack, StackLayer, StackMark};
pub use strip::Strip;
pub use table::{Align, Column, RowKind, Table, TableRow, TableState};
pub use tabs::{Tab, Tabs};
pub use text::Cut;
pub use theme::{Background, ColorDepth, HEAT_STEPS, Palette, Theme, Tone};
pub use tiles::{Tile, TileFlag, Tiles, TilesState};
pub use timeline::{AxisPart, Edge, ItemShape, Lane, Timeline, TimelineItem, TimelineState};
pub use too_small::TooSmall;

use ratatui_core::buffer::Buffer;

/// Returns the characters of a buffer, row by row, without trailing blanks. Used for examples, tests and copying.
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
