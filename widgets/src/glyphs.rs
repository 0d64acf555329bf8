//! The characters for drawing, as three complete sets.
//!
//! Widgets never write literal box characters; they use the set of their theme. The ASCII set contains only bytes up to
//! 0x7E, and [`ascii_of`] maps text from files when this set is in use.

/// Set of characters to draw with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GlyphSet {
    /// Draws curves in Braille dots, everything else in lines and blocks.
    #[default]
    Braille,
    /// Draws curves in quadrant blocks, for fonts without Braille.
    Block,
    /// Draws with bytes up to 0x7E only.
    Ascii,
}

/// One set of characters. Every entry is one column wide unless its comment states another width.
#[derive(Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each entry is named by what it draws")]
pub struct Glyphs {
    pub set: GlyphSet,
    pub rule: &'static str,
    pub rule_focus: &'static str,
    /// Mark of cut text, up to three columns wide.
    pub ellipsis: &'static str,
    pub times: &'static str,
    /// Arrow from an old to a new value, up to two columns wide.
    pub arrow: &'static str,
    pub inactive: &'static str,
    /// Mark of an interval in which a task could be active, but is not.
    pub window: &'static str,
    pub forward: &'static str,
    pub backward: &'static str,
    /// Glyph of a bar shorter than one column, and of the swatch of a layer.
    pub square: &'static str,
    /// Body of a bar if no background colour can be used.
    pub bar: &'static str,
    pub half_upper: &'static str,
    pub half_lower: &'static str,
    /// Glyph of the full part of a gap bar; the next field is the glyph of the empty part.
    pub gap_full: &'static str,
    pub gap_empty: &'static str,
    pub used: &'static str,
    pub free: &'static str,
    pub limit: &'static str,
    pub baseline: &'static str,
    pub lane: &'static str,
    pub fold: &'static str,
    pub vertical: &'static str,
    pub vertical_dotted: &'static str,
    pub corner_up: &'static str,
    pub corner_down: &'static str,
    pub edge: &'static str,
    pub tick: &'static str,
    pub up: &'static str,
    /// Frame of a pop-up: corners clockwise from the upper left, then horizontal and vertical line.
    pub frame: [&'static str; 6],
    /// Blocks that fill a cell from below, from one eighth to a full cell. The ASCII set has fewer heights, so some
    /// entries repeat.
    pub eighths: [&'static str; 8],
    /// Blocks that fill a cell from the left, from one eighth to a full cell. The ASCII set has only two steps.
    pub left_eighths: [&'static str; 8],
    /// Marks on an axis: the mean of a distribution, and its largest value.
    pub mean: &'static str,
    pub most: &'static str,
    /// Signs for a kept, an added and a removed circuit, and for a cell that cannot have one.
    pub dot: &'static str,
    pub plus: &'static str,
    pub minus: &'static str,
    pub never: &'static str,
    pub replacement: &'static str,
}

const BRAILLE: Glyphs = Glyphs {
    set: GlyphSet::Braille,
    rule: "─",
    rule_focus: "═",
    ellipsis: "…",
    times: "×",
    arrow: "→",
    inactive: "·",
    window: "░",
    forward: "▸",
    backward: "◂",
    square: "■",
    bar: "━",
    half_upper: "▀",
    half_lower: "▄",
    gap_full: "▀",
    gap_empty: "▀",
    used: "━",
    free: "─",
    limit: "▁",
    baseline: "┈",
    lane: "┈",
    fold: "⋯",
    vertical: "│",
    vertical_dotted: "┊",
    corner_up: "└",
    corner_down: "┌",
    edge: "─",
    tick: "┬",
    up: "▲",
    frame: ["╔", "╗", "╝", "╚", "═", "║"],
    eighths: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    left_eighths: ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
    mean: "┴",
    most: "╵",
    dot: "●",
    plus: "+",
    minus: "−",
    never: "╲",
    replacement: "\u{fffd}",
};

const BLOCK: Glyphs = Glyphs { set: GlyphSet::Block, ..BRAILLE };

const ASCII: Glyphs = Glyphs {
    set: GlyphSet::Ascii,
    rule: "-",
    rule_focus: "=",
    ellipsis: "...",
    times: "x",
    arrow: "->",
    inactive: ".",
    window: ":",
    forward: ">",
    backward: "<",
    square: "#",
    bar: "=",
    half_upper: "#",
    half_lower: "#",
    gap_full: "#",
    gap_empty: "-",
    used: "=",
    free: "-",
    limit: "_",
    baseline: ".",
    lane: ".",
    fold: "~",
    vertical: "|",
    vertical_dotted: ":",
    corner_up: "+",
    corner_down: "+",
    edge: "-",
    tick: "+",
    up: "^",
    frame: ["+", "+", "+", "+", "=", "|"],
    eighths: ["_", "_", ".", "-", "-", "=", "#", "#"],
    left_eighths: ["|", "#", "#", "#", "#", "#", "#", "#"],
    mean: "+",
    most: "!",
    dot: "o",
    plus: "+",
    minus: "-",
    never: "\\",
    replacement: "?",
};

impl GlyphSet {
    /// All sets, the richest first.
    pub const ALL: [Self; 3] = [Self::Braille, Self::Block, Self::Ascii];

    /// Returns the characters of this set.
    pub const fn glyphs(self) -> &'static Glyphs {
        match self {
            Self::Braille => &BRAILLE,
            Self::Block => &BLOCK,
            Self::Ascii => &ASCII,
        }
    }

    /// Returns the name used in the configuration and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Braille => "braille",
            Self::Block => "block",
            Self::Ascii => "ascii",
        }
    }
}

/// Returns the text that the ASCII set writes in place of `c`; `?` if no similar character exists.
pub const fn ascii_of(c: char) -> &'static str {
    match c {
        '\u{a0}' | '\u{2009}' | '\u{202f}' => " ",
        '…' => "...",
        '×' | '✕' => "x",
        '–' | '—' | '−' | '─' | '‐' => "-",
        '→' | '▸' | '▶' => ">",
        '←' | '◂' | '◀' => "<",
        '↑' | '▲' => "^",
        '↓' | '▼' => "v",
        '·' | '•' | '┈' => ".",
        '═' | '━' | '▬' => "=",
        '│' | '║' | '┃' | '▌' => "|",
        '┊' => ":",
        '■' | '█' | '▀' | '▄' => "#",
        '●' => "o",
        '╲' => "\\",
        '⋯' => "~",
        '└' | '┌' | '┐' | '┘' | '┬' | '┴' => "+",
        '✓' => "ok",
        '≤' => "<=",
        '≥' => ">=",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        'µ' | 'μ' => "u",
        '°' => "deg",
        'ä' | 'á' | 'à' | 'â' | 'å' => "a",
        'é' | 'è' | 'ê' => "e",
        'ö' | 'ó' | 'ô' => "o",
        'ü' | 'ú' => "u",
        'ß' => "ss",
        _ => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(set: &Glyphs) -> Vec<&'static str> {
        let mut out = vec![
            set.rule,
            set.rule_focus,
            set.ellipsis,
            set.times,
            set.arrow,
            set.inactive,
            set.window,
            set.forward,
            set.backward,
            set.square,
            set.bar,
            set.half_upper,
            set.half_lower,
            set.gap_full,
            set.gap_empty,
            set.used,
            set.free,
            set.limit,
            set.baseline,
            set.lane,
            set.fold,
            set.vertical,
            set.vertical_dotted,
            set.corner_up,
            set.corner_down,
            set.edge,
            set.tick,
            set.up,
            set.replacement,
        ];
        out.extend(set.frame);
        out.extend(set.eighths);
        out.extend(set.left_eighths);
        out.extend([set.mean, set.most, set.dot, set.plus, set.minus, set.never]);
        out
    }

    #[test]
    fn ascii_set_is_printable_ascii_and_others_are_one_column() {
        for glyph in all(GlyphSet::Ascii.glyphs()) {
            assert!(glyph.bytes().all(|b| (0x20..=0x7e).contains(&b)), "{glyph:?}");
        }
        for set in [GlyphSet::Braille, GlyphSet::Block] {
            for glyph in all(set.glyphs()) {
                assert_eq!(unicode_width::UnicodeWidthStr::width(glyph), 1, "{glyph:?}");
            }
        }
    }

    #[test]
    fn every_unicode_glyph_has_a_close_ascii_sign() {
        for glyph in all(GlyphSet::Braille.glyphs()) {
            for c in glyph.chars().filter(|c| !c.is_ascii() && !"░▁▂▃▅▆▇╔╗╝╚▏▎▍▌▋▊▉╵\u{fffd}".contains(*c))
            {
                assert_ne!(ascii_of(c), "?", "{c}");
            }
        }
    }
}
