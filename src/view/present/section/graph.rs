//! A matrix drawn as a network: its rows are nodes with positions, and each pair of nodes with a non-empty cell has a
//! link.

use super::tone;
use crate::view::present::PaneInput;
use crate::view::present::rows::{from, line};
use lightbay_core::report::{Matrix, Tone as Meaning, Unit, text};
use lightbay_widgets::{GraphEdge, GraphNode, NetworkGraph, Piece, Theme, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Letters that mark the rates of links on a screen without colours, the largest rate first.
const LETTERS: &[u8] = b"#=-.:+";

/// Tones of links by their counts, the largest count first.
const COUNTS: [Tone; 3] = [Tone::Answer, Tone::Muted, Tone::Rule];

/// The network on the screen.
#[derive(Debug)]
pub struct GraphView {
    nodes: Vec<GraphNode>,
    edges: Vec<GraphEdge>,
    /// The values of links, the largest first, each with the tone and letter of its links.
    key: Vec<(Tone, char, String)>,
    is_grid: bool,
    least_area: u32,
    /// Minimum numbers of columns and rows of a grid, in which each name and each link has its cells.
    least: (u16, u16),
}

/// Minimum number of rows at which the values of the links are explained below the network.
const KEY: u16 = 8;

/// Number of rows of a pane around a network: title, sentence and legend.
const AROUND: u16 = 4;

/// Maximum number of values that are explained.
const MOST_VALUES: usize = 6;

impl GraphView {
    /// Prepares a matrix whose rows have positions; `None` for other matrices.
    pub fn of(matrix: &Matrix) -> Option<Self> {
        let count = matrix.places.len();
        if count == 0 || count != matrix.rows.len() || count != matrix.columns.len() {
            return None;
        }
        let node = |(name, place): (&String, &[f64; 2])| GraphNode {
            name: name.clone().into(),
            place: *place,
            tone: Tone::Text,
        };
        let nodes = matrix.rows.iter().zip(&matrix.places).map(node).collect();
        let cell = |from: usize, to: usize| {
            matrix.cells.get(from * count + to).filter(|cell| cell.tone != Meaning::Muted)
        };
        let mut rates: Vec<f64> = matrix.cells.iter().filter_map(|cell| cell.value.as_f64()).collect();
        rates.sort_by(|a, b| b.total_cmp(a));
        rates.dedup();
        let letter = |rank: usize| char::from(LETTERS[rank.min(LETTERS.len() - 1)]);
        let value = |rate: f64| format!("{} {}", text::number(rate, matrix.unit), matrix.unit.symbol);
        // Counts are amounts of one thing, so they differ by weight; rates are types of links.
        let by_rank = |rank: usize| match COUNTS.get(rank.min(COUNTS.len() - 1)) {
            Some(tone) if matrix.unit == Unit::COUNT => *tone,
            _ => Tone::Series(rank as u8),
        };
        let named = |(rank, rate): (usize, &f64)| (by_rank(rank), letter(rank), value(*rate));
        let key = rates.iter().enumerate().take(MOST_VALUES).map(named).collect();
        let pitch = [0, 1].map(|axis| pitch(&matrix.places, axis));
        let mut edges: Vec<(u8, GraphEdge)> = Vec::new();
        for from in 0..count {
            for to in from + 1..count {
                // Both directions share one line, in the style of the more important one.
                let both = [cell(from, to), cell(to, from)].into_iter().flatten();
                let Some(shown) = both.max_by_key(|cell| weight(cell.tone)) else { continue };
                let rank =
                    shown.value.as_f64().and_then(|rate| rates.iter().position(|known| *known == rate));
                let rank = rank.unwrap_or(0);
                let by_rate = by_rank(rank);
                let ends = [matrix.places[from], matrix.places[to]];
                let short = matrix.is_grid && !are_near(ends, pitch);
                let edge = GraphEdge {
                    ends: [from, to],
                    tone: if shown.tone == Meaning::Text { by_rate } else { tone(shown.tone) },
                    letter: match shown.tone {
                        Meaning::Bad => 'x',
                        Meaning::Answer => '@',
                        _ => letter(rank),
                    },
                    dotted: shown.tone == Meaning::Bad,
                    short,
                    wraps: short && are_in_line(&matrix.places, ends, pitch),
                };
                edges.push((weight(shown.tone), edge));
            }
        }
        // Binding and failed links are drawn on top.
        edges.sort_by_key(|(weight, _)| *weight);
        let edges = edges.into_iter().map(|(_, edge)| edge).collect();
        let wide = matrix.rows.iter().map(|name| name.chars().count()).max().unwrap_or(0) as u32 + 2;
        let least = if matrix.is_grid { least(&matrix.places, pitch, wide) } else { (0, 0) };
        // Outside of a grid, each name has four rows of the screen for itself and its links.
        let least_area = if matrix.is_grid { 0 } else { 4 * wide * count as u32 };
        Some(Self { nodes, edges, key, is_grid: matrix.is_grid, least_area, least })
    }

    /// Returns `true` if the network is readable in a pane, with title, sentence and legend around it.
    pub fn fits(&self, pane: Rect) -> bool {
        let is_large = self.least_area <= u32::from(pane.width) * u32::from(pane.height);
        is_large && self.least.0 + 2 <= pane.width && self.least.1 + AROUND <= pane.height
    }

    /// Returns the minimum number of rows of a grid, including the values of the links.
    pub const fn least_rows(&self) -> u16 {
        self.least.1 + 1
    }

    /// Draws the network and highlights the link of a selected cell.
    pub fn draw(&self, input: &PaneInput<'_>, selected: Option<usize>, area: Rect, buf: &mut Buffer) {
        let theme = &input.app.look.theme;
        let key = if area.height >= KEY.max(self.least_rows()) { self.key(theme) } else { Vec::new() };
        let height = area.height - u16::from(!key.is_empty());
        line(theme, &key, from(area, height), buf);
        let area = Rect { height, ..area };
        let count = self.nodes.len().max(1);
        let ends = selected.map(|at| [at / count, at % count]);
        (&NetworkGraph::new(theme, &self.nodes, &self.edges).grid(self.is_grid).selected(ends))
            .render(area, buf);
    }
}

impl GraphView {
    /// Returns the values of the links with their colours, or with their letters if there are no colours.
    fn key(&self, theme: &Theme) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (tone, letter, value) in &self.key {
            let is_coloured = theme.shades() && !theme.is_ascii();
            let sample = if is_coloured { theme.glyphs.used.repeat(2) } else { letter.to_string() };
            pieces.push(Piece::new(sample, *tone).bold());
            pieces.push(Piece::muted(format!(" {}   ", value.trim_end())));
        }
        pieces
    }
}

/// Factor by which neighbours of a grid may be farther from each other than the nearest columns or rows.
const NEAR: f64 = 1.2;

/// Returns the smallest distance between two columns (`axis` 0) or rows (1) of nodes.
fn pitch(places: &[[f64; 2]], axis: usize) -> f64 {
    let mut at: Vec<f64> = places.iter().map(|place| place[axis]).collect();
    at.sort_by(f64::total_cmp);
    let distances = at.windows(2).map(|pair| pair[1] - pair[0]);
    distances.filter(|distance| *distance > 1e-6).fold(f64::INFINITY, f64::min)
}

/// Returns the minimum numbers of columns and rows of a grid whose names have at most `wide` columns, with the gap after
/// them: a row between neighbours, and a rim for the lines that point outwards.
fn least(places: &[[f64; 2]], pitch: [f64; 2], wide: u32) -> (u16, u16) {
    let steps = [0, 1].map(|axis| {
        let at = || places.iter().map(|place| place[axis]);
        let spread = at().fold(f64::NEG_INFINITY, f64::max) - at().fold(f64::INFINITY, f64::min);
        if spread > 1e-6 { spread / pitch[axis] } else { 0.0 }
    });
    let columns = (steps[0] * f64::from(wide)).ceil() + f64::from(2 * wide);
    (columns as u16, (2.0 * steps[1]).round() as u16 + 3)
}

/// Returns `true` if two nodes of a grid are next to each other in a row or a column.
fn are_near([a, b]: [[f64; 2]; 2], pitch: [f64; 2]) -> bool {
    let apart = [0, 1].map(|axis| (a[axis] - b[axis]).abs());
    (0..2).any(|axis| apart[1 - axis] < 1e-6 && apart[axis] < NEAR * pitch[axis])
}

/// Returns `true` if two nodes of a grid are in one row or column of neighbours, without a gap between planes.
fn are_in_line(places: &[[f64; 2]], [a, b]: [[f64; 2]; 2], pitch: [f64; 2]) -> bool {
    let Some(along) = (0..2).find(|axis| (a[1 - axis] - b[1 - axis]).abs() < 1e-6) else { return false };
    let (low, high) = (a[along].min(b[along]), a[along].max(b[along]));
    let mut at: Vec<f64> = places.iter().map(|place| place[along]).collect();
    at.retain(|at| (low..=high).contains(at));
    at.sort_by(f64::total_cmp);
    at.windows(2).all(|pair| pair[1] - pair[0] < NEAR * pitch[along])
}

/// Returns the rank of a link by its meaning; links of a higher rank are drawn on top.
const fn weight(meaning: Meaning) -> u8 {
    match meaning {
        Meaning::Muted => 0,
        Meaning::Text => 1,
        Meaning::Good | Meaning::Changed | Meaning::Warn => 2,
        Meaning::Answer => 3,
        Meaning::Bad => 4,
    }
}
