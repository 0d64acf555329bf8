//! Names, figures and tones of virtual channels.

use lightbay_engines::tpu::analysis::sides::Side;
use lightbay_widgets::{Piece, Tone, number};

/// Minimum width of a column that names its idle channels.
const WIDE: u16 = 32;

/// Returns the tone of a virtual channel: strong for the displayed plan, dim for the routes that it is compared with.
pub const fn tone(vc: usize, present: bool) -> Tone {
    let series = (vc % 5) as u8 + 1;
    if present { Tone::Series(series) } else { Tone::SeriesDim(series) }
}

/// Returns the letter of a virtual channel, for terminals without colours.
pub const fn letter(vc: usize) -> char {
    ['#', '=', 'o', '+', '%'][vc % 5]
}

/// Returns the VC ratio of a set of routes, with a mark if the channels are unevenly used.
pub fn ratio_pieces(side: &Side) -> Vec<Piece> {
    let value = side.ratio().map_or(f64::NAN, |ratio| ratio);
    let number = Piece::new(number::fixed(value, 2), if side.present { Tone::Answer } else { Tone::Muted });
    let mut pieces = vec![Piece::muted("ratio "), number];
    pieces.push(if side.uneven() { Piece::new(" !", Tone::Bad).bold() } else { Piece::text("  ") });
    pieces
}

/// Returns the name of a set of routes.
pub fn name_piece(side: &Side, short: bool) -> Piece {
    let name = if short { &side.short } else { &side.name };
    if side.present { Piece::answer(name.clone()) } else { Piece::muted(name.clone()) }
}

/// Returns the heading of the distribution of a channel: its maximum and, as far as they fit, idle channels and mean.
pub fn head(side: &Side, vc: usize, width: u16) -> Vec<Piece> {
    let figures = side.figures(vc);
    let (most, mean) = (figures.most.to_string(), number::fixed(figures.mean, 0).to_string());
    let idle = number::percent(figures.idle as f64 / figures.channels.max(1) as f64, 0);
    let idle = if figures.idle > 0 { format!("{idle} %") } else { String::new() };
    let sign = if idle.is_empty() { "" } else { " !" };
    let name = format!("vc{vc}");
    let mut room = usize::from(width).saturating_sub(name.len() + 5 + most.len() + sign.len());
    let mut fits = |text: &str| {
        let needed = 6 + text.len();
        let is_shown = !text.is_empty() && needed <= room;
        room -= if is_shown { needed } else { 0 };
        is_shown
    };
    // Narrow columns have the mean, and wide columns have the number of idle channels first.
    let is_wide = width >= WIDE;
    let (wide_idle, has_mean) = (is_wide && fits(&idle), fits(&mean));
    let has_idle = wide_idle || !is_wide && fits(&idle);
    // With the rest of the room, two blanks separate the figures.
    let gap = if room > usize::from(has_idle) + usize::from(has_mean) { "  " } else { " " };
    let label = |word: &str| Piece::muted(format!("{gap}{word} "));
    let mut head = vec![Piece::new(name, tone(vc, true))];
    if has_mean {
        head.extend([label("mean"), Piece::text(mean)]);
    }
    head.extend([label("max"), if side.present { Piece::answer(most) } else { Piece::text(most) }]);
    if has_idle {
        head.extend([label("idle"), Piece::text(idle)]);
    }
    head.push(Piece::new(sign, Tone::Bad).bold());
    head
}
