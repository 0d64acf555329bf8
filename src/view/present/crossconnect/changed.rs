//! List of the pairs of pods whose circuits change.

use crate::view::present::rows::{columns, line, row};
use lightbay_engines::crossconnect::rollout::explained::ChangeFacts;
use lightbay_widgets::{Piece, Theme, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Number of columns of a pair with its installed and target circuits, and of a pair with the difference only.
const WIDE: u16 = 20;
const NARROW: u16 = 10;

/// Lists the pairs in columns, the largest difference first; a wide list also has installed and target circuits.
/// `selected` is the selected pair.
pub fn list(
    theme: &Theme,
    facts: &ChangeFacts,
    differences: &[(usize, usize, i64)],
    selected: Option<(usize, usize)>,
    area: Rect,
    buf: &mut Buffer,
) {
    if differences.is_empty() {
        return line(theme, &[Piece::muted("nothing changes between any two pods")], area, buf);
    }
    let is_wide = area.width >= 2 * WIDE;
    let count = (area.width / if is_wide { WIDE } else { NARROW }).max(1);
    let hidden = differences.len().saturating_sub(usize::from(count * area.height));
    // The last place says how many pairs are hidden.
    let shown = differences.len() - hidden - usize::from(hidden > 0);
    let digits = if is_wide { facts.pods.saturating_sub(1).to_string().len() } else { 1 };
    let mut places =
        columns(area, count, 1).flat_map(|column| (0..area.height).map(move |at| row(column, at)));
    for (&(a, b, difference), place) in differences.iter().take(shown).zip(&mut places) {
        let chosen = is_wide && selected.is_some_and(|pair| pair == (a, b) || pair == (b, a));
        let (mark, tone) = if chosen { (">", Tone::Answer) } else { (" ", Tone::Muted) };
        let mark = if is_wide { mark } else { "" };
        let mut pieces = vec![Piece::new(format!("{mark}{a:>digits$}-{b:<digits$} "), tone)];
        if is_wide {
            let [before, after] = [&facts.before, &facts.after].map(|count| count[a * facts.pods + b]);
            pieces.push(Piece::text(format!("{before:>2} {} {after:<2} ", theme.glyphs.arrow)));
        }
        let (sign, change) = if difference > 0 { ("+", Tone::Good) } else { ("−", Tone::Bad) };
        pieces.push(Piece::new(format!("{sign}{}", difference.abs()), change).bold());
        line(theme, &pieces, place, buf);
    }
    if let Some(place) = places.next().filter(|_| hidden > 0) {
        let words = if is_wide { "; i lists them" } else { "" };
        line(theme, &[Piece::muted(format!("{} more{words}", hidden + 1))], place, buf);
    }
}
