//! Width, cutting and cleaning of text. Nothing here allocates.
//!
//! Names come from files and may contain control characters or escape sequences. [`clean`] replaces them, so that names
//! cannot move the cursor, and maps everything to ASCII if the glyph set requires it.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::glyphs::{GlyphSet, Glyphs, ascii_of};

/// Position at which text is cut when it does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cut {
    /// The beginning is kept.
    #[default]
    End,
    /// Both ends are kept: for names, which often differ in their last characters.
    Middle,
    /// The text is omitted completely: for numbers, which are never cut.
    Whole,
}

/// One cleaned grapheme: the text to draw and its width in columns (0: skip it).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clean<'t> {
    /// Text to draw. In the ASCII set each byte is one column wide.
    pub text: &'t str,
    /// Width in columns.
    pub width: u16,
}

/// Returns `true` for characters from files that must never reach a terminal: C0, C1, and format characters that
/// reorder or hide text.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || ('\u{e0000}'..='\u{e007f}').contains(&c)
}

/// Returns a grapheme as it is drawn.
pub fn clean<'t>(grapheme: &'t str, glyphs: &'static Glyphs) -> Clean<'t> {
    let bytes = grapheme.as_bytes();
    if let [b' '..=b'~'] = bytes {
        return Clean { text: grapheme, width: 1 };
    }
    if grapheme.chars().any(is_hostile) {
        return Clean { text: glyphs.replacement, width: 1 };
    }
    if glyphs.set == GlyphSet::Ascii {
        let text = grapheme.chars().next().map_or("", |c| if c.is_ascii() { "?" } else { ascii_of(c) });
        return Clean { text, width: text.len() as u16 };
    }
    Clean { text: grapheme, width: grapheme.width().min(2) as u16 }
}

/// Iterates over the graphemes of `text` as they are drawn.
pub fn cleaned<'t>(text: &'t str, glyphs: &'static Glyphs) -> impl DoubleEndedIterator<Item = Clean<'t>> {
    text.graphemes(true).map(move |grapheme| clean(grapheme, glyphs)).filter(|part| part.width > 0)
}

/// Returns the width of `text` in columns when drawn with `glyphs`.
pub fn width(text: &str, glyphs: &'static Glyphs) -> u16 {
    if text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return u16::try_from(text.len()).unwrap_or(u16::MAX);
    }
    let total: usize = cleaned(text, glyphs).map(|part| usize::from(part.width)).sum();
    u16::try_from(total).unwrap_or(u16::MAX)
}

/// Division of a text that is cut to a width: the columns kept at the beginning, whether an ellipsis follows, and the
/// columns kept at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// Number of columns kept at the beginning.
    pub head: u16,
    /// `true` if an ellipsis follows the beginning.
    pub ellipsis: bool,
    /// Number of columns kept at the end.
    pub tail: u16,
}

/// Divides `room` columns between the beginning of a text of `full` columns, an ellipsis and the end of the text, as
/// `cut` states.
pub fn shares(full: u16, room: u16, cut: Cut, glyphs: &'static Glyphs) -> Shares {
    if full <= room {
        return Shares { head: full, ellipsis: false, tail: 0 };
    }
    let dots = width_of_ellipsis(glyphs);
    if cut == Cut::Whole {
        return Shares { head: 0, ellipsis: false, tail: 0 };
    }
    if room <= dots {
        // Too narrow for an ellipsis: show the beginning.
        return Shares { head: room, ellipsis: false, tail: 0 };
    }
    let rest = room - dots;
    match cut {
        Cut::Middle => Shares { head: rest.div_ceil(2), ellipsis: true, tail: rest / 2 },
        _ => Shares { head: rest, ellipsis: true, tail: 0 },
    }
}

/// Divides `room` columns between the beginning of a name, an ellipsis and the end of the name, so that the cut name
/// differs from all other names. The cut is as near to the middle as possible; if no position distinguishes the name,
/// the cut is in the middle.
pub fn shares_among<'t>(
    name: &str,
    room: u16,
    others: impl Iterator<Item = &'t str> + Clone,
    glyphs: &'static Glyphs,
) -> Shares {
    let middle = shares(width(name, glyphs), room, Cut::Middle, glyphs);
    if !middle.ellipsis {
        return middle;
    }
    let kept = middle.head + middle.tail;
    let apart = |tail: u16| {
        let (head, tail) = (head(name, kept - tail, glyphs), self::tail(name, tail, glyphs));
        let long = |other: &str| other.len() >= head.len() + tail.len();
        others
            .clone()
            .filter(|other| *other != name)
            .all(|other| !(long(other) && other.starts_with(head) && other.ends_with(tail)))
    };
    // Of two names with the same beginning, the first difference is the most telling part.
    let common = |other: &str| {
        let pairs = name.char_indices().zip(other.chars());
        pairs.take_while(|((_, a), b)| a == b).last().map_or(0, |((at, a), _)| at + a.len_utf8())
    };
    let same = others.clone().map(common).filter(|same| *same < name.len()).max().unwrap_or(0);
    let telling = width(&name[same..], glyphs).min(kept.saturating_sub(2));
    if same > usize::from(middle.head) && telling > middle.tail && apart(telling) {
        return Shares { head: kept - telling, ellipsis: true, tail: telling };
    }
    // Tries the middle, then one column to its right, one to its left, two to its right, and so on.
    let places = (0..=kept).flat_map(|by| [middle.tail.checked_sub(by), middle.tail.checked_add(by)]);
    let tail = places.flatten().filter(|tail| *tail <= kept).find(|tail| apart(*tail));
    tail.map_or(middle, |tail| Shares { head: kept - tail, ellipsis: true, tail })
}

/// Returns the number of columns of the ellipsis.
pub fn width_of_ellipsis(glyphs: &'static Glyphs) -> u16 {
    if glyphs.set == GlyphSet::Ascii { glyphs.ellipsis.len() as u16 } else { 1 }
}

/// Returns `text` cut to `room` columns as a string, for uses that need a string (copying, tests). Widgets do not need
/// this function for drawing.
pub fn cut_to(text: &str, room: u16, cut: Cut, glyphs: &'static Glyphs) -> String {
    let parts = shares(width(text, glyphs), room, cut, glyphs);
    let mut out = String::new();
    let mut used = 0;
    for part in cleaned(text, glyphs) {
        if used + part.width > parts.head {
            break;
        }
        used += part.width;
        out.push_str(part.text);
    }
    if parts.ellipsis {
        out.push_str(glyphs.ellipsis);
        out.push_str(tail(text, parts.tail, glyphs));
    }
    out
}

/// Returns the beginning of `text` that takes at most `room` columns.
fn head<'t>(text: &'t str, room: u16, glyphs: &'static Glyphs) -> &'t str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += clean(grapheme, glyphs).width;
        if used > room {
            return &text[..at];
        }
    }
    text
}

/// Returns the end of `text` that takes at most `room` columns.
pub fn tail<'t>(text: &'t str, room: u16, glyphs: &'static Glyphs) -> &'t str {
    let mut used = 0;
    let mut from = text.len();
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        let width = clean(grapheme, glyphs).width;
        if used + width > room {
            break;
        }
        used += width;
        from = at;
    }
    &text[from..]
}

/// Replaces all characters that must not reach a terminal. For text outside the widgets, such as the window title.
pub fn sanitise(text: &str, glyphs: &'static Glyphs) -> String {
    cleaned(text, glyphs).map(|part| part.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn braille() -> &'static Glyphs {
        GlyphSet::Braille.glyphs()
    }

    fn ascii() -> &'static Glyphs {
        GlyphSet::Ascii.glyphs()
    }

    #[test]
    fn cuts_at_the_end_and_in_the_middle() {
        assert_eq!(cut_to("delta-interval", 8, Cut::End, braille()), "delta-i…");
        assert_eq!(cut_to("delta-interval", 9, Cut::Middle, braille()), "delt…rval");
        assert_eq!(cut_to("delta-interval", 9, Cut::Middle, ascii()), "del...val");
        assert_eq!(cut_to("12.829852", 8, Cut::Whole, braille()), "");
        assert_eq!(cut_to("abc", 3, Cut::End, ascii()), "abc");
        assert_eq!(cut_to("abcd", 3, Cut::End, ascii()), "abc");
        assert_eq!(cut_to("abcd", 0, Cut::Middle, braille()), "");
    }

    #[test]
    fn names_that_differ_inside_stay_apart() {
        let names = [
            "link_latency_electrical_cycles",
            "link_latency_optical_cycles",
            "link_gbyte_per_s",
            "link_latency_electrical_cycles_too",
        ];
        let cut = |name: &str, room: u16, glyphs: &'static Glyphs| {
            let parts = shares_among(name, room, names.iter().copied(), glyphs);
            let dots = if parts.ellipsis { glyphs.ellipsis } else { "" };
            format!("{}{dots}{}", head(name, parts.head, glyphs), tail(name, parts.tail, glyphs))
        };
        assert_eq!(cut(names[0], 20, braille()), "li…electrical_cycles");
        assert_eq!(cut(names[1], 20, braille()), "link_…optical_cycles");
        for glyphs in [braille(), ascii()] {
            for room in 18..40 {
                let cuts: std::collections::BTreeSet<String> =
                    names.iter().map(|name| cut(name, room, glyphs)).collect();
                assert_eq!(cuts.len(), names.len(), "{room}: {cuts:?}");
                assert!(cuts.iter().all(|name| width(name, glyphs) <= room), "{room}: {cuts:?}");
            }
        }
        // Without space to distinguish them, the middle is cut as usual.
        assert_eq!(cut(names[0], 9, braille()), cut_to(names[0], 9, Cut::Middle, braille()));
        assert_eq!(cut("光学回路切換", 7, braille()), cut_to("光学回路切換", 7, Cut::Middle, braille()));
    }

    #[test]
    fn wide_characters_never_pass_the_room() {
        let text = "光学回路";
        assert_eq!(width(text, braille()), 8);
        for room in 0..9 {
            for cut in [Cut::End, Cut::Middle] {
                let out = cut_to(text, room, cut, braille());
                assert!(width(&out, braille()) <= room, "{out} in {room}");
            }
        }
        assert_eq!(width(text, ascii()), 4);
    }

    #[test]
    fn escape_sequences_and_reordering_are_replaced() {
        let hostile = "a\u{1b}[31mb\u{7}\u{9b}c\u{202e}d\r\n";
        let out = sanitise(hostile, braille());
        assert!(out.chars().all(|c| !is_hostile(c)), "{out:?}");
        assert!(out.starts_with("a\u{fffd}[31mb"));
        let out = sanitise(hostile, ascii());
        assert!(out.bytes().all(|b| (0x20..=0x7e).contains(&b)), "{out:?}");
    }

    #[test]
    fn ascii_maps_known_signs() {
        assert_eq!(sanitise("p0→p1 ×43 – 8 × 6…", ascii()), "p0>p1 x43 - 8 x 6...");
    }
}
