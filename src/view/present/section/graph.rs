//! A matrix drawn as a network: its rows are nodes with positions, and each pair of nodes with a non-empty cell has a
//! link.

use super::tone;
use crate::view::present::PaneInput;
use lightbay_core::report::{Matrix, Tone as Meaning};
use lightbay_widgets::{GraphEdge, GraphNode, NetworkGraph, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Letters that mark the rates of links on a screen without colours, the largest rate first.
const LETTERS: &[u8] = b"#=-.:+";

/// The network on the screen.
#[derive(Debug)]
pub struct GraphView {
    nodes: Vec<GraphNode>,
    edges: Vec<GraphEdge>,
}

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
        let mut edges: Vec<(u8, GraphEdge)> = Vec::new();
        for from in 0..count {
            for to in from + 1..count {
                // Both directions share one line, in the style of the more important one.
                let both = [cell(from, to), cell(to, from)].into_iter().flatten();
                let Some(shown) = both.max_by_key(|cell| weight(cell.tone)) else { continue };
                let rank =
                    shown.value.as_f64().and_then(|rate| rates.iter().position(|known| *known == rate));
                let rank = rank.unwrap_or(0);
                let by_rate = Tone::Series(rank as u8);
                let edge = GraphEdge {
                    ends: [from, to],
                    tone: if shown.tone == Meaning::Text { by_rate } else { tone(shown.tone) },
                    letter: match shown.tone {
                        Meaning::Bad => 'x',
                        Meaning::Answer => '@',
                        _ => char::from(LETTERS[rank.min(LETTERS.len() - 1)]),
                    },
                    dotted: shown.tone == Meaning::Bad,
                };
                edges.push((weight(shown.tone), edge));
            }
        }
        // Binding and failed links are drawn on top.
        edges.sort_by_key(|(weight, _)| *weight);
        Some(Self { nodes, edges: edges.into_iter().map(|(_, edge)| edge).collect() })
    }

    /// Draws the network and highlights the link of a selected cell.
    pub fn draw(&self, input: &PaneInput<'_>, selected: Option<usize>, area: Rect, buf: &mut Buffer) {
        let count = self.nodes.len().max(1);
        let ends = selected.map(|at| [at / count, at % count]);
        (&NetworkGraph::new(&input.app.look.theme, &self.nodes, &self.edges).selected(ends))
            .render(area, buf);
    }
}

/// Returns the rank of a link by its meaning; links of a higher rank are drawn on top.
const fn weight(meaning: Meaning) -> u8 {
    match meaning {
        Meaning::Muted => 0,
        Meaning::Text => 1,
        Meaning::Good | Meaning::Warn => 2,
        Meaning::Answer => 3,
        Meaning::Bad => 4,
    }
}
