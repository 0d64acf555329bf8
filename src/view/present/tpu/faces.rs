//! Pictures of the 48 switches by their positions on the faces of a cube: voltages or loads, and the links of a switch.

use crate::view::present::PaneInput;
use crate::view::present::rows::beside;
use lightbay_engines::tpu::analysis::explained::PodFacts;
use lightbay_engines::tpu::model::pod::{ARC_CLASSES, SWITCHES, arc_parts, switch as pod_switch};
use lightbay_engines::tpu::report::words;
use lightbay_widgets::{Label, Piece, Theme, Tile, Tiles, TilesState, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

/// Maximum number of rows of a tile.
pub const TALL: u16 = 4;

/// Minimum number of columns of a picture next to another one, and columns between two pictures.
const FACES: u16 = 40;
pub const APART: u16 = 3;

/// Divides an area for two pictures of the faces next to each other, if both fit.
pub fn two(area: Rect) -> (Rect, Rect) {
    if area.width < 2 * FACES + APART {
        return (area, Rect::ZERO);
    }
    beside(area, (area.width - APART) / 2, APART)
}

/// Returns the number of rows of a tile that suits the width of a picture of the faces.
pub fn tall_for(area: Rect) -> u16 {
    (area.width / 24).clamp(1, TALL)
}

/// Draws a picture of the faces of a cube with a word in its heading.
pub fn draw_faces(
    input: &PaneInput<'_>,
    word: &str,
    faces: &[Tile],
    (tall, selected): (u16, Option<usize>),
    area: Rect,
    buf: &mut Buffer,
) {
    let heading = |dimension: usize| {
        let word = if dimension == 0 { format!("  {word}") } else { String::new() };
        vec![Piece::answer(words::axis(dimension)), Piece::muted(word)]
    };
    let groups: Vec<Vec<Piece>> = (0..3).map(heading).collect();
    let rows = [const { Label::Borrowed("") }; 4];
    let tiles = Tiles::new(&input.app.look.theme, &rows, 12, faces).groups(&groups).tall(tall);
    let mut state = TilesState { selected: selected.map(place_of), ..TilesState::default() };
    if tiles.fits(area.width) {
        let used = tiles.heading_rows() + 4 * tall;
        (&tiles).render(Rect { height: used.min(area.height), ..area }, buf, &mut state);
    }
}

/// Returns, line by line, the links of a switch within a cube, the most loaded first.
pub fn links_of(facts: &PodFacts, switch: usize) -> Vec<Vec<Piece>> {
    let totals = facts.routes.as_ref().map_or(&[][..], |routes| &routes.totals);
    let mut arcs: Vec<(usize, Option<u32>)> = (0..ARC_CLASSES)
        .filter(|class| {
            let (chip, port) = arc_parts(*class);
            pod_switch(chip, port) == Some(switch)
        })
        .map(|class| (class, totals.get(class).copied()))
        .collect();
    arcs.sort_by_key(|(class, load)| (std::cmp::Reverse(*load), *class));
    let mut lines = vec![vec![
        Piece::answer(words::switch(switch)),
        Piece::muted(if arcs.iter().any(|(_, load)| load.is_some()) {
            "  routes over its links"
        } else {
            "  its links"
        }),
    ]];
    lines.extend(arcs.into_iter().map(|(class, load)| {
        let mut pieces = vec![Piece::text(format!("  {}", words::arc(class)))];
        if let Some(load) = load {
            pieces.push(Piece::answer(format!("  {}", number::count(u64::from(load)))));
        }
        pieces
    }));
    lines
}

/// Returns row and column of a switch in a picture of the faces.
pub const fn place_of(switch: usize) -> (usize, usize) {
    (switch % 16 / 4, switch / 16 * 4 + switch % 4)
}

/// Returns the switch at a place in a picture of the faces.
pub const fn switch_at(row: usize, column: usize) -> usize {
    column / 4 * 16 + column % 4 + row * 4
}

/// Ratio of the highest and the lowest load below which loads count as even: shades would exaggerate the difference.
const EVEN: f64 = 1.05;

/// Returns tiles with the number of routes over the most loaded link of each switch, by its position, and their heading;
/// no tiles without routes.
pub fn loads_of(facts: &PodFacts) -> (Vec<Tile>, String) {
    let mut loads = [0; SWITCHES];
    for (arc, load) in facts.routes.iter().flat_map(|routes| routes.totals.iter().enumerate()) {
        let (chip, port) = arc_parts(arc % ARC_CLASSES);
        if let Some(most) = pod_switch(chip, port).and_then(|switch| loads.get_mut(switch)) {
            *most = (*most).max(*load);
        }
    }
    let used = || loads.iter().copied().filter(|load| *load > 0);
    let (Some(low), Some(high)) = (used().min(), used().max()) else { return (Vec::new(), String::new()) };
    let is_even = f64::from(high) < EVEN * f64::from(low);
    let heading = if is_even { format!("max {low}-{high}") } else { "max load".to_owned() };
    let share = |load: u32| f64::from(load.saturating_sub(low)) / f64::from((high - low).max(1));
    let tile = |load: u32| Tile {
        text: load.to_string().into(),
        tone: match load {
            0 => Tone::Muted,
            _ if is_even => Tone::Text,
            _ => Tone::Heat(Theme::heat_level(share(load))),
        },
        ..Tile::default()
    };
    ((0..SWITCHES).map(|at| tile(loads[switch_at(at / 12, at % 12)])).collect(), heading)
}
