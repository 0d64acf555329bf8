//! A square of counts by row and column, such as circuits between pods.

use super::{Anchor, Area, Drawing, Fill, Font, Stroke};

/// Maximum side length of a cell.
const MOST_CELL: f64 = 34.0;
/// Minimum side length of a cell in which a count is written; in a smaller cell the count would hide the fill.
const COUNTED_CELL: f64 = 12.0;
/// Space between names and cells.
const GAP: f64 = 6.0;

/// A cell that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixEntry {
    /// The count.
    pub count: u64,
    /// Fill of the cell.
    pub fill: Fill,
    /// Description that viewers show as a tooltip.
    pub about: String,
}

/// A square of counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    names: Vec<String>,
    cells: Vec<Option<MatrixEntry>>,
}

impl Matrix {
    /// Creates an empty square with a name for every row and column.
    pub fn new(names: Vec<String>) -> Self {
        let cells = vec![None; names.len() * names.len()];
        Self { names, cells }
    }

    /// Fills a cell.
    ///
    /// # Panics
    /// If the row or column does not exist.
    pub fn set(&mut self, row: usize, column: usize, entry: MatrixEntry) {
        self.cells[row * self.names.len() + column] = Some(entry);
    }

    /// Draws the square below `at`, no wider than `width`, and returns the position of its lower edge.
    ///
    /// Counts are written if cells are wide enough; names of rows and columns that would touch are omitted.
    pub fn draw(&self, drawing: &mut Drawing, at: (f64, f64), width: f64) -> f64 {
        let size = self.names.len();
        if size == 0 {
            return at.1;
        }
        let small = Font::plain(9.0);
        let names = self.names.iter().map(|name| small.width(name)).fold(0.0, f64::max).min(width / 4.0);
        let cell = ((width - names - GAP) / size as f64).min(MOST_CELL);
        let font = Font::plain((0.55 * cell).clamp(7.0, 12.0));
        let (left, top) = (at.0 + names + GAP, at.1 + 14.0);
        let side = cell * size as f64;
        for (index, name) in self.names.iter().enumerate() {
            let middle = cell * (index as f64 + 0.5);
            let fits = |room: f64, step: usize| index.is_multiple_of(step) && room <= cell * step as f64;
            if fits(10.0, steps(10.0, cell)) {
                drawing.text((left - GAP, top + middle + 3.0), small.at(Anchor::End), name);
            }
            if fits(names + 4.0, steps(names + 4.0, cell)) {
                drawing.text((left + middle, top - 5.0), small.at(Anchor::Middle), name);
            }
        }
        if cell >= COUNTED_CELL {
            for line in 1..size {
                let along = cell * line as f64;
                drawing.line((left + along, top), (left + along, top + side), Stroke::faint(0.4));
                drawing.line((left, top + along), (left + side, top + along), Stroke::faint(0.4));
            }
        }
        for (place, entry) in self.cells.iter().enumerate() {
            let Some(entry) = entry else { continue };
            let (x, y) = (left + cell * (place % size) as f64, top + cell * (place / size) as f64);
            let outline = if cell >= 6.0 { Stroke::solid(0.4) } else { Stroke::default() };
            drawing.rectangle(Area { x, y, width: cell, height: cell }, entry.fill, outline, &entry.about);
            let text = entry.count.to_string();
            if cell >= COUNTED_CELL && font.width(&text) + 2.0 <= cell {
                let middle = (x + cell / 2.0, y + cell / 2.0 + 0.36 * font.size);
                plate(drawing, middle, font, &text, entry.fill);
                drawing.text(middle, font.bold().at(Anchor::Middle), &text);
            }
        }
        let frame = Area { x: left, y: top, width: side, height: side };
        drawing.rectangle(frame, Fill::None, Stroke::solid(0.8), "");
        top + side + GAP
    }
}

/// Draws a white background for text on a pattern.
fn plate(drawing: &mut Drawing, middle: (f64, f64), font: Font, text: &str, fill: Fill) {
    if matches!(fill, Fill::None | Fill::White | Fill::Light) {
        return;
    }
    let (width, height) = (font.bold().width(text) + 3.0, font.size + 1.0);
    let area = Area { x: middle.0 - width / 2.0, y: middle.1 - 0.86 * font.size, width, height };
    drawing.rectangle(area, Fill::White, Stroke::default(), "");
}

/// Returns the number of cells from one written name to the next, so that the names do not touch.
fn steps(room: f64, cell: f64) -> usize {
    (room / cell).ceil().max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_where_they_fit_and_cells_stay_inside() {
        for (size, written) in [(4, true), (100, false)] {
            let mut matrix = Matrix::new((0..size).map(|at| at.to_string()).collect());
            let entry = MatrixEntry { count: 16, fill: Fill::Rising, about: "all".to_owned() };
            matrix.set(size - 1, size - 1, entry);
            let mut drawing = Drawing::new(300.0, "square");
            let end = matrix.draw(&mut drawing, (10.0, 10.0), 280.0);
            let text = drawing.into_text(end);
            assert_eq!(text.contains("font-weight=\"bold\">16<"), written, "{size}");
            assert!(end <= 10.0 + 280.0 + 20.0, "{end}");
            let document = roxmltree::Document::parse(&text).unwrap();
            let filled =
                document.descendants().find(|node| node.attribute("fill") == Some("url(#rising)")).unwrap();
            let number = |name: &str| filled.attribute(name).unwrap().parse::<f64>().unwrap();
            assert!(number("x") + number("width") <= 290.1, "{size}");
        }
    }
}
