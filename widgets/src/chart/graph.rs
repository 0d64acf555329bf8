//! Drawings of networks: nodes at their places, links as lines between them.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;
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
    /// `true` if only a short line is drawn at each end, because the whole line would lie on others.
    pub short: bool,
    /// `true` if a short link connects the ends of a row or a column of a grid: its lines point outwards.
    pub wraps: bool,
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
    is_grid: bool,
}

impl<'a> NetworkGraph<'a> {
    /// Creates a drawing of nodes and the links between them, the most important links last: later links are drawn on
    /// top.
    pub const fn new(theme: &'a Theme, nodes: &'a [GraphNode], edges: &'a [GraphEdge]) -> Self {
        Self { theme, nodes, edges, selected: None, is_grid: false }
    }

    /// Sets whether the nodes form a grid, whose rows are a whole number of rows of the screen apart.
    #[must_use]
    pub const fn grid(mut self, is_grid: bool) -> Self {
        self.is_grid = is_grid;
        self
    }

    /// Sets the ends of the selected link.
    #[must_use]
    pub const fn selected(mut self, ends: Option<[usize; 2]>) -> Self {
        self.selected = ends;
        self
    }

    /// Returns half the width of the widest name.
    fn half_name(&self) -> i32 {
        let widths = self.nodes.iter().map(|node| i32::from(text::width(&node.name, self.theme.glyphs)));
        widths.max().unwrap_or(0) / 2
    }

    /// Returns the cell at which a short line from an end of a link stops, if it points away from the other end.
    fn outward(&self, end: (i32, i32), other: (i32, i32)) -> (i32, i32) {
        let reach = self.half_name() + 3;
        (end.0 - reach * (other.0 - end.0).signum(), end.1 - (other.1 - end.1).signum())
    }

    /// Returns the column and row of the middle of a node, chosen so that its name has room.
    fn middle(&self, pen: &Pen<'_>, node: &GraphNode) -> (i32, i32) {
        // Lines that point outwards get a row above and below, and columns beside the names.
        let rim = i32::from(self.edges.iter().any(|edge| edge.wraps));
        let side = self.half_name() + 1 + 2 * rim;
        let [x, y] = node.place;
        let across = f64::from((pen.width() - 1 - 2 * side).max(0));
        let down = f64::from((pen.height() - 1 - 2 * rim).max(0));
        let row = self.grid_row(y, down).unwrap_or(y.clamp(0.0, 1.0) * down);
        (side + (x.clamp(0.0, 1.0) * across).round() as i32, rim + row.round() as i32)
    }

    /// Returns the row of a height in a grid of `down` rows: nearest neighbours are a whole number of rows apart; `None`
    /// without a grid or without room.
    fn grid_row(&self, height: f64, down: f64) -> Option<f64> {
        let mut all: Vec<f64> =
            self.nodes.iter().filter(|_| self.is_grid).map(|node| node.place[1]).collect();
        all.sort_by(f64::total_cmp);
        let steps = all.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 1e-6);
        let least = steps.reduce(f64::min)?;
        let (first, last) = (*all.first()?, *all.last()?);
        // A wider gap between planes is rounded.
        let pitch = ((down + 0.49) * least / (last - first)).floor();
        let of = |at: f64| ((at - first) / least * pitch).round();
        (pitch >= 1.0).then(|| ((down - of(last)) / 2.0).floor() + of(height))
    }

    /// Returns the cells of the ends of a link.
    fn ends(&self, pen: &Pen<'_>, ends: [usize; 2]) -> Option<[(i32, i32); 2]> {
        let of = |end: usize| self.nodes.get(end).map(|node| self.middle(pen, node));
        Some([of(ends[0])?, of(ends[1])?])
    }

    fn draw_edge(&self, pen: &mut Pen<'_>, edge: &GraphEdge) {
        let Some([from, to]) = self.ends(pen, edge.ends) else { return };
        let style = self.theme.ink(edge.tone, false);
        let ink = Ink { style, letter: edge.letter, dotted: edge.dotted, turn: None };
        let mut dots = Dots::new(pen);
        let (across, down) = (dots.width() / dots.cells().0.max(1), dots.height() / dots.cells().1.max(1));
        let dot = |(x, y): (i32, i32)| (x * across + across / 2, y * down + down / 2);
        if edge.short {
            for (end, other) in [(from, to), (to, from)] {
                let stop = if edge.wraps { self.outward(end, other) } else { stub(end, other) };
                dots.line(dot(end), dot(stop), ink);
            }
        } else {
            dots.line(dot(from), dot(to), ink);
        }
    }

    /// Writes the letter of each link on its line, at a place without another letter.
    fn draw_letters(&self, pen: &mut Pen<'_>) {
        let mut taken: Vec<(i32, i32)> = Vec::with_capacity(self.edges.len());
        for edge in self.edges.iter().rev().filter(|edge| !edge.short) {
            let Some([from, to]) = self.ends(pen, edge.ends) else { continue };
            let mut places = LETTER_PLACES.iter().map(|share| between(from, to, *share));
            let is_free = |place: &(i32, i32)| *place != from && *place != to && !taken.contains(place);
            if let Some((x, y)) = places.find(is_free) {
                taken.push((x, y));
                pen.glyph(x, y, edge.letter.encode_utf8(&mut [0; 4]), self.theme.ink(edge.tone, true));
            }
        }
    }

    /// Marks the cells of the selected link, which keep their content.
    fn mark_selected(&self, pen: &mut Pen<'_>, ends: [usize; 2]) {
        let Some([from, to]) = self.ends(pen, ends) else { return };
        let edge = self.edges.iter().find(|edge| edge.ends == ends || edge.ends == [ends[1], ends[0]]);
        let Some(edge) = edge.filter(|edge| !edge.short) else { return };
        // Without colours, brackets mark the ends, and the line is bold: reversed dots would be a white block.
        let style = if self.theme.shades() {
            self.theme.tinted(Tone::Answer).patch(self.theme.style(edge.tone))
        } else {
            self.theme.ink(edge.tone, true)
        };
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs());
        for step in 0..=steps {
            let (x, y) = between(from, to, f64::from(step) / f64::from(steps.max(1)));
            pen.paint(x, y, 1, 1, style);
        }
    }
}

/// Places of a letter on its line, as fractions of the length of the line, the preferred one first.
const LETTER_PLACES: [f64; 5] = [0.5, 0.38, 0.62, 0.28, 0.72];

/// Returns the cell at which a short line from an end of a link stops: beside the name, and a row nearer to the other end.
fn stub(end: (i32, i32), other: (i32, i32)) -> (i32, i32) {
    let (across, down) = ((other.0 - end.0).signum(), (other.1 - end.1).signum());
    (end.0 + if across == 0 { 4 } else { 4 * across }, end.1 + if down == 0 { -1 } else { down })
}

/// Returns the cell at a fraction of a line.
fn between(from: (i32, i32), to: (i32, i32), share: f64) -> (i32, i32) {
    let at = |from: i32, to: i32| from + (f64::from(to - from) * share).round() as i32;
    (at(from.0, to.0), at(from.1, to.1))
}

impl Widget for &NetworkGraph<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        for edge in self.edges {
            self.draw_edge(&mut pen, edge);
        }
        // In the ASCII set, a line consists of its letter.
        if !self.theme.shades() && !self.theme.is_ascii() {
            self.draw_letters(&mut pen);
        }
        if let Some(ends) = self.selected {
            self.mark_selected(&mut pen, ends);
        }
        // A name that would cover another name moves to the nearest free place, first in its row; if it no longer covers
        // its node, the node is a dot.
        let mut taken: Vec<(i32, i32, i32)> = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            let (x, y) = self.middle(&pen, node);
            let wide = i32::from(text::width(&node.name, pen.glyphs()));
            let first = x - wide / 2;
            let is_end = self.selected.is_some_and(|ends| ends.contains(&at));
            // The cells of bold links below a name stay bold unless this is undone.
            let plain = self.theme.style(node.tone);
            let bold = plain.add_modifier & Modifier::BOLD;
            let plain = plain.remove_modifier(Modifier::BOLD).add_modifier(bold);
            let style = if is_end { plain.patch(self.theme.cursor()) } else { plain };
            let is_free = |&(first, row): &(i32, i32)| {
                let inside = first >= 0 && first + wide <= pen.width() && (0..pen.height()).contains(&row);
                let covers = |(known, from, to): &(i32, i32, i32)| {
                    *known == row && first - 1 < *to && *from < first + wide + 1
                };
                inside && !taken.iter().any(covers)
            };
            let aside = (0..wide).flat_map(|far| [(first + far, y), (first - far, y)]);
            let others = [
                (first, y + 1),
                (first, y - 1),
                (x + 2, y),
                (x - 1 - wide, y),
                (x + 2, y + 1),
                (x - 1 - wide, y + 1),
                (x + 2, y - 1),
                (x - 1 - wide, y - 1),
            ];
            let place = aside.chain(others).find(is_free);
            // Dots do not cover names, because a dot in a name would be read as a letter.
            let covered = taken.iter().any(|(row, from, to)| *row == y && (*from..*to).contains(&x));
            let is_here = place.is_some_and(|(at, row)| row == y && (at - first).abs() < wide);
            if !is_here && !covered {
                pen.glyph(x, y, pen.glyphs().dot, style);
            }
            let Some((first, row)) = place else { continue };
            taken.push((row, first - 1, first + wide + 1));
            if row == y {
                // Without colours, brackets mark the ends of the selected link.
                let [left, right] = if is_end && !self.theme.shades() { ["[", "]"] } else { [" "; 2] };
                pen.text(first - 1, y, left, plain);
                pen.text(first + wide, y, right, plain);
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
    fn without_colours_links_have_letters_and_the_selected_link_has_brackets() {
        let node =
            |name: &'static str, x, y| GraphNode { name: name.into(), place: [x, y], ..GraphNode::default() };
        let nodes = [node("a", 0.0, 0.0), node("b", 1.0, 0.0), node("c", 0.0, 1.0)];
        let edge = |from, to, letter| GraphEdge { ends: [from, to], letter, ..GraphEdge::default() };
        let edges = [edge(0, 1, '#'), edge(0, 2, '=')];
        let area = Rect::new(0, 0, 24, 5);
        let mut buf = Buffer::empty(area);
        let theme = Theme::mono(GlyphSet::Braille);
        (&NetworkGraph::new(&theme, &nodes, &edges).selected(Some([1, 0]))).render(area, &mut buf);
        let text = text_of(&buf);
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[0].starts_with("[a]") && rows[0].ends_with("[b]") && rows[0].contains('#'), "{text}");
        assert!(rows[2].contains('=') && !text.contains("[c]"), "{text}");
        let is_marked = |x, y| buf[(x, y)].style() == buf[(6, 0)].style();
        assert!(is_marked(15, 0) && !is_marked(1, 1), "the selected link stands out");
    }

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
        let nodes = [node("c0.g2", 0.4, 0.5), node("c1.g14", 0.6, 0.5)];
        let mut buf = Buffer::empty(area);
        (&NetworkGraph::new(&theme, &nodes, &[])).render(area, &mut buf);
        assert!(crate::text_of(&buf).contains("c0.g2  c1.g14"), "names that touch stay in their row");
    }
}
