//! Number of circuits from cube to cube, of a pod and of the torus of its size.

use super::TALL;
use crate::view::present::PaneInput;
use crate::view::present::rows::{beside, from, line, row};
use crate::view::present::tpu::Tori;
use lightbay_engines::tpu::analysis::explained::{PodFacts, between};
use lightbay_widgets::{Label, Matrix, MatrixCell, MatrixState, Piece, Theme, Tile, Tiles, TilesState, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

/// Cells of the pod and of the torus.
#[derive(Debug, Default)]
pub struct CubePairs {
    cells: [Vec<MatrixCell>; 2],
    matrices: [MatrixState; 2],
}

impl CubePairs {
    /// Draws the circuits from cube to cube, next to the circuits of the torus; returns the number of rows used.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        facts: &PodFacts,
        tori: Option<&Tori>,
        area: Rect,
        buf: &mut Buffer,
    ) -> u16 {
        let theme = &input.app.look.theme;
        let cubes = facts.pod.cubes();
        let names: Vec<Label> = (0..cubes).map(|cube| Label::from(cube.to_string())).collect();
        let pt = tori.and_then(|tori| tori.torus(false));
        let mut sides = vec![("this pod".to_owned(), facts.between())];
        let needed = (cubes as u16 * 3 + 6) * 2;
        if let Some(torus) = pt.filter(|_| area.width >= needed) {
            sides.push((torus.name.clone(), between(&torus.pod)));
        }
        // Both have one scale.
        let most = sides.iter().flat_map(|side| side.1.iter().flatten()).copied().max().unwrap_or(1).max(1);
        let width = (area.width - 3 * (sides.len() as u16 - 1)) / sides.len() as u16;
        let rows = cubes as u16;
        let tall = if theme.shades() { area.height.saturating_sub(2) / rows.max(1) } else { 1 };
        let tall = tall.clamp(1, TALL);
        let width = width.min(rows * (4 + 2 * tall) + 8);
        let mut rest = area;
        for (at, (name, count)) in sides.into_iter().enumerate() {
            let (place, right) = beside(rest, width, 3);
            rest = right;
            line(
                theme,
                &[if at == 0 { Piece::answer(name) } else { Piece::muted(name) }],
                row(place, 0),
                buf,
            );
            let heat = |circuits: u32| Theme::heat_level(f64::from(circuits) / f64::from(most));
            let tile = |&circuits: &u32| Tile {
                text: circuits.to_string().into(),
                tone: Tone::Heat(heat(circuits)),
                ..Tile::default()
            };
            let tiles: Vec<Tile> = count.iter().flatten().map(tile).collect();
            let tiles = Tiles::new(theme, &names, cubes, &tiles).heads(&names).tall(tall);
            if tall > 1 && tiles.fits(place.width) {
                (&tiles).render(from(place, 1), buf, &mut TilesState::default());
                continue;
            }
            let cells = &mut self.cells[at];
            cells.clear();
            cells.extend(count.iter().flatten().map(|&circuits| MatrixCell {
                value: Some(circuits as i32),
                heat: Some(heat(circuits)),
                ..MatrixCell::default()
            }));
            let matrix = Matrix::new(theme, &names, &names, cells);
            (&matrix).render(from(place, 1), buf, &mut self.matrices[at]);
        }
        (2 + rows * tall).min(area.height)
    }
}
