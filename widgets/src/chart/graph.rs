//! Drawings of networks: nodes at their places, links as lines between them.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use super::dots::{Dots, Ink};
use crate::pen::{Label, Pen};
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// A node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphNode {
    /// Name of the node.
    pub name: Label,
    /// Place of the node, as fractions of width and height from the upper left corner.
    pub place: [f64; 2],
    /// Tone (meaning) of the name, from which the theme chooses the colour.
    pub tone: Tone,
}

/// A link between two nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphEdge {
    /// Indices of the nodes that the link joins.
    pub ends: [usize; 2],
    /// Tone (meaning) of the link, from which the theme chooses the colour.
    pub tone: Tone,
    /// Character that draws the link in ASCII.
    pub letter: char,
    /// `true` if only every second dot is drawn.
    pub dotted: bool,
}

/// The network.
///
/// ```
/// # use lightbay_widgets::{NetworkGraph, GraphEdge, GraphNode, GlyphSet, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let node = |name: &'static str, x| GraphNode { name: name.into(), place: [x, 0.5], ..GraphNode::default() };
/// let edges = [GraphEdge { ends: [0, 1], letter: '-', ..GraphEdge::default() }];
/// let area = Rect::new(0, 0, 16, 1);
/// let mut buf = Buffer::empty(area);
/// NetworkGraph::new(&theme, &[node("a", 0.0), node("b", 1.0)], &edges).render(area, &mut buf);
/// assert_eq!(text_of(&buf), " a ---------- b");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NetworkGraph<'a> {
    theme: &'a Theme,
    nodes: &'a [GraphNode],
    edges: &'a [GraphEdge],
    selected: Option<[usize; 2]>,
}

impl<'a> NetworkGraph<'a> {
    /// Creates a drawing of nodes and the links between them, the most important links last: later links are drawn on
    /// top.
    pub const fn new(theme: &'a Theme, nodes: &'a [GraphNode], edges: &'a [GraphEdge]) -> Self {
        Self { theme, nodes, edges, selected: None }
    }

    /// Sets the ends of the selected link.
    #[must_use]
    pub const fn selected(mut self, ends: Option<[usize; 2]>) -> Self {
        self.selected = ends;
        self
    }

    /// Returns the column and row of the middle of a node, chosen so that its name has room.
    fn middle(&self, pen: &Pen<'_>, node: &GraphNode) -> (i32, i32) {
        let glyphs = self.theme.glyphs;
        let widest = self.nodes.iter().map(|node| i32::from(text::width(&node.name, glyphs))).max();
        let side = widest.unwrap_or(0) / 2 + 1;
        let [x, y] = node.place;
        let across = f64::from((pen.width() - 1 - 2 * side).max(0));
        let down = f64::from((pen.height() - 1).max(0));
        (side + (x.clamp(0.0, 1.0) * across).round() as i32, (y.clamp(0.0, 1.0) * down).round() as i32)
    }

    fn draw_edge(&self, pen: &mut Pen<'_>, edge: &GraphEdge, ink: Ink) {
        let of = |end: usize| self.nodes.get(end).map(|node| self.middle(pen, node));
        let (Some(from), Some(to)) = (of(edge.ends[0]), of(edge.ends[1])) else { return };
        let mut dots = Dots::new(pen);
        let (across, down) = (dots.width() / dots.cells().0.max(1), dots.height() / dots.cells().1.max(1));
        let dot = |(x, y): (i32, i32)| (x * across + across / 2, y * down + down / 2);
        dots.line(dot(from), dot(to), ink);
    }
}

impl Widget for &NetworkGraph<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        for edge in self.edges {
            let style = self.theme.ink(edge.tone, false);
            self.draw_edge(&mut pen, edge, Ink { style, letter: edge.letter, dotted: edge.dotted });
        }
        if let Some(ends) = self.selected {
            let style = self.theme.ink(Tone::Answer, true);
            let edge = GraphEdge { ends, ..GraphEdge::default() };
            self.draw_edge(&mut pen, &edge, Ink { style, letter: '@', dotted: false });
        }
        // A name that would cover another name moves to the nearest free place; its node is then a dot.
        let mut taken: Vec<(i32, i32, i32)> = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            let (x, y) = self.middle(&pen, node);
            let wide = i32::from(text::width(&node.name, pen.glyphs()));
            let first = x - wide / 2;
            let is_end = self.selected.is_some_and(|ends| ends.contains(&at));
            let style = self.theme.ink(if is_end { Tone::Answer } else { node.tone }, is_end);
            let is_free = |&(first, row): &(i32, i32)| {
                let inside = first >= 0 && first + wide <= pen.width() && (0..pen.height()).contains(&row);
                let covers = |(known, from, to): &(i32, i32, i32)| {
                    *known == row && first - 1 < *to && *from < first + wide + 1
                };
                inside && !taken.iter().any(covers)
            };
            let places = [
                (first, y),
                (first, y + 1),
                (first, y - 1),
                (x + 2, y),
                (x - 1 - wide, y),
                (x + 2, y + 1),
                (x - 1 - wide, y + 1),
                (x + 2, y - 1),
                (x - 1 - wide, y - 1),
            ];
            let place = places.into_iter().find(is_free);
            // Dots do not cover names, because a dot in a name would be read as a letter.
            let covered = taken.iter().any(|(row, from, to)| *row == y && (*from..*to).contains(&x));
            if place != Some((first, y)) && !covered {
                pen.glyph(x, y, pen.glyphs().dot, style);
            }
            let Some((first, row)) = place else { continue };
            taken.push((row, first - 1, first + wide + 1));
            if row == y {
                pen.text(first - 1, y, " ", style);
                pen.text(first + wide, y, " ", style);
            }
            pen.cut(first, row, wide, &node.name, Cut::End, style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;

    #[test]
    fn links_run_from_node_to_node_and_names_stay_whole() {
        let node =
            |name: &'static str, x, y| GraphNode { name: name.into(), place: [x, y], ..GraphNode::default() };
        let nodes =
            [node("c0.g0", 0.0, 0.0), node("c0.g1", 1.0, 0.0), node("c0.g2", 0.0, 1.0), node("x", 0.02, 0.0)];
        let edge = |from, to| GraphEdge { ends: [from, to], letter: '-', ..GraphEdge::default() };
        let area = Rect::new(0, 0, 24, 4);
        let mut buf = Buffer::empty(area);
        let theme = Theme::mono(GlyphSet::Ascii);
        (&NetworkGraph::new(&theme, &nodes, &[edge(0, 1), edge(0, 2)])).render(area, &mut buf);
        let text = text_of(&buf);
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[0].contains(" c0.g0 -") && rows[0].ends_with("- c0.g1"), "{text}");
        assert!(rows[2].contains('-') && rows[3].contains("c0.g2"), "{text}");
        assert!(!rows[0].contains('x') && rows[1].contains('x'), "two names in one place: {text}");
    }
}
