//! Colour arithmetic: reduction to 256 colours, mixing, contrast.

use ratatui_core::style::Color;

use super::ColorDepth;

/// A colour as red, green, blue.
pub(super) type Rgb = (u8, u8, u8);

/// The six levels of red, green and blue in the 6x6x6 cube of the 256-colour table.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Maps a colour to a colour that the terminal can show. Without colours, this is always `Reset`; otherwise named
/// colours stay as they are.
pub(super) fn to_depth(colour: Color, depth: ColorDepth) -> Color {
    match (colour, depth) {
        (Color::Rgb(r, g, b), ColorDepth::Indexed) => Color::Indexed(nearest_index((r, g, b))),
        (_, ColorDepth::None) => Color::Reset,
        (colour, _) => colour,
    }
}

/// Returns the index in the 256-colour table (cube and greys) of the colour with the least squared distance.
pub(super) fn nearest_index(rgb: Rgb) -> u8 {
    (16..=255u8).min_by_key(|&index| distance(rgb, indexed(index))).unwrap_or(16)
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    let part = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    part(a.0, b.0) + part(a.1, b.1) + part(a.2, b.2)
}

/// Returns the colour of entry `index` (16 to 255) of the 256-colour table.
fn indexed(index: u8) -> Rgb {
    if index >= 232 {
        let grey = 8 + 10 * (index - 232);
        return (grey, grey, grey);
    }
    let index = usize::from(index.saturating_sub(16));
    (CUBE[index / 36], CUBE[index / 6 % 6], CUBE[index % 6])
}

/// Returns red, green and blue of a colour; `None` for a colour that the terminal defines.
pub(super) fn rgb_of(colour: Color) -> Option<Rgb> {
    match colour {
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(index) if index >= 16 => Some(indexed(index)),
        _ => None,
    }
}

/// Mixes two colours: the fraction `share` of `a`, and the rest of `b`.
pub(super) fn mix(a: Rgb, b: Rgb, share: f32) -> Color {
    let part = |a: u8, b: u8| (f32::from(a) * share + f32::from(b) * (1.0 - share)).round() as u8;
    Color::Rgb(part(a.0, b.0), part(a.1, b.1), part(a.2, b.2))
}

/// Returns the contrast ratio of WCAG 2, 1 to 21.
#[cfg(test)]
pub(super) fn contrast(a: Rgb, b: Rgb) -> f64 {
    let light = |(r, g, b): Rgb| {
        let part = |v: u8| {
            let v = f64::from(v) / 255.0;
            if v <= 0.03928 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
    };
    let (a, b) = (light(a), light(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}
