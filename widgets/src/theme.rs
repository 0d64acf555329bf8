//! Styles by meaning: palettes, depth of colour, light and dark background.
//!
//! Widgets use a [`Tone`] and never name a colour. A theme without colour uses words, letters, bold and reverse
//! instead; see [`Theme::shades`].

use ratatui_core::style::{Color, Modifier, Style};

use crate::glyphs::{GlyphSet, Glyphs};

mod colour;
mod palettes;

use colour::to_depth;
use palettes::Colours;

/// Family of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// Eight hues that people with any common form of colour blindness can distinguish.
    #[default]
    Okabe,
    /// Colours with a contrast of at least 7:1 with the background.
    Contrast,
    /// Only the sixteen colours of the terminal, so that the user's own theme applies.
    Ansi,
    /// No colour: bold, dim, reverse and letters.
    Mono,
}

impl Palette {
    /// All palettes in the order in which a key cycles through them.
    pub const ALL: [Self; 4] = [Self::Okabe, Self::Contrast, Self::Ansi, Self::Mono];

    /// Returns the name used in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Okabe => "okabe",
            Self::Contrast => "contrast",
            Self::Ansi => "ansi",
            Self::Mono => "mono",
        }
    }
}

/// Number of colours that the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ColorDepth {
    /// No colours, as `NO_COLOR` requests.
    None,
    /// The sixteen named colours of the terminal.
    Ansi16,
    /// The 256 indexed colours.
    Indexed,
    /// 24-bit colours.
    #[default]
    TrueColor,
}

impl ColorDepth {
    /// Returns the name shown on the start screen and used in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ansi16 => "16",
            Self::Indexed => "256",
            Self::TrueColor => "truecolor",
        }
    }
}

/// Background of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// Light text on dark.
    #[default]
    Dark,
    /// Dark text on light.
    Light,
}

/// Meaning of a piece of text or an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Ordinary text in the terminal's own foreground.
    #[default]
    Text,
    /// The answer, the best plan so far, or a title: text in bold.
    Answer,
    /// Labels, units, and finished or unselected items.
    Muted,
    /// Rules (lines between regions), the empty part of a bar, and tasks that are not active.
    Rule,
    /// Lines that only guide the eye, fainter than a rule.
    Faint,
    /// Forward pass of pipeline parallelism.
    Forward,
    /// Backward pass of pipeline parallelism.
    Backward,
    /// Gradient transfer of data parallelism.
    Gradient,
    /// Something proven, a bound, something better, or something free.
    Good,
    /// A loss, something worse, or an overload.
    Bad,
    /// A value that was changed and not yet solved.
    Changed,
    /// One of several curves, by number.
    Series(u8),
    /// A curve or bar of another plan, for comparison: the plan before a change, or a baseline.
    SeriesDim(u8),
    /// Area in one of eight steps of amount, 0 to 7, with a readable foreground.
    Heat(u8),
    /// Area of one layer of a stack, 0 to 3 repeating, with a readable foreground.
    Stack(u8),
    /// Area of a gradient off the critical path.
    GradientDim,
    /// Area of a gradient on the critical path.
    GradientFull,
}

/// Number of heat steps.
pub const HEAT_STEPS: u8 = 8;

/// Colours, background and glyphs in use. A theme is created once per change of the settings and is cheap to copy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    /// The palette after reduction to the terminal's colour depth.
    pub palette: Palette,
    /// Depth of colour.
    pub depth: ColorDepth,
    /// Background of the terminal.
    pub background: Background,
    /// The characters to draw with.
    pub glyphs: &'static Glyphs,
    colours: Colours,
}

impl Default for Theme {
    fn default() -> Self {
        Self::new(Palette::Okabe, ColorDepth::TrueColor, Background::Dark, GlyphSet::Braille)
    }
}

impl Theme {
    /// Builds a theme. Without colour every palette becomes [`Palette::Mono`]; with sixteen colours `okabe` and
    /// `contrast` become `ansi`.
    pub fn new(palette: Palette, depth: ColorDepth, background: Background, glyphs: GlyphSet) -> Self {
        let palette = match (palette, depth) {
            (_, ColorDepth::None) => Palette::Mono,
            (Palette::Okabe | Palette::Contrast, ColorDepth::Ansi16) => Palette::Ansi,
            (palette, _) => palette,
        };
        let depth = if palette == Palette::Mono { ColorDepth::None } else { depth };
        let colours = Colours::of(palette, background).map(|colour| to_depth(colour, depth));
        Self { palette, depth, background, glyphs: glyphs.glyphs(), colours }
    }

    /// Returns the theme of `NO_COLOR` with the given characters.
    pub fn mono(glyphs: GlyphSet) -> Self {
        Self::new(Palette::Mono, ColorDepth::None, Background::Dark, glyphs)
    }

    /// Returns the same theme with other characters.
    #[must_use]
    pub const fn with_glyphs(mut self, glyphs: GlyphSet) -> Self {
        self.glyphs = glyphs.glyphs();
        self
    }

    /// Returns `true` if areas can be distinguished by background colour; otherwise widgets write brackets, letters and
    /// bars.
    pub const fn shades(&self) -> bool {
        !matches!(self.palette, Palette::Mono)
    }

    /// Returns `true` if no byte above 0x7E may be written.
    pub const fn is_ascii(&self) -> bool {
        matches!(self.glyphs.set, GlyphSet::Ascii)
    }

    /// Returns the style of a meaning. Text tones set the foreground only; `Heat`, `Stack`, `GradientDim` and
    /// `GradientFull` set foreground and background, so that text on the area stays readable.
    pub fn style(&self, tone: Tone) -> Style {
        let c = &self.colours;
        if self.palette == Palette::Mono {
            return match tone {
                Tone::Rule | Tone::Faint => Style::new().add_modifier(Modifier::DIM),
                Tone::Answer | Tone::Good | Tone::Bad | Tone::Changed | Tone::GradientFull => {
                    Style::new().add_modifier(Modifier::BOLD)
                }
                _ => Style::new(),
            };
        }
        let fg = |colour| Style::new().fg(colour);
        match tone {
            Tone::Text => fg(c.text),
            Tone::Answer => fg(c.text).add_modifier(Modifier::BOLD),
            Tone::Muted => fg(c.muted),
            Tone::Rule => fg(c.rule),
            Tone::Faint => fg(c.faint),
            Tone::Forward => fg(c.forward),
            Tone::Backward => fg(c.backward),
            Tone::Gradient => fg(c.gradient),
            Tone::Good => fg(c.good),
            Tone::Bad => fg(c.bad),
            Tone::Changed => fg(c.changed),
            Tone::Series(n) => fg(c.series[usize::from(n) % c.series.len()]),
            Tone::SeriesDim(n) => self.dimmed(c.series[usize::from(n) % c.series.len()]),
            Tone::Heat(level) => area(c.heat[usize::from(level.min(HEAT_STEPS - 1))]),
            Tone::Stack(n) => area(c.stack[usize::from(n) % c.stack.len()]),
            Tone::GradientDim => area(c.gradient_dim),
            Tone::GradientFull => area(c.gradient_full).add_modifier(Modifier::BOLD),
        }
    }

    /// Returns the style of a colour at three fifths of its strength; a different style if colours cannot be mixed.
    fn dimmed(&self, colour: Color) -> Style {
        let ground = colour::rgb_of(Colours::of(self.palette, self.background).ground);
        match (colour::rgb_of(colour), ground) {
            (Some(full), Some(ground)) => {
                Style::new().fg(to_depth(colour::mix(full, ground, 0.6), self.depth))
            }
            // Named colours cannot be mixed, and some terminals ignore the attribute for dim text; letters have to be
            // readable on all of them.
            _ => match colour {
                Color::LightBlue => Style::new().fg(Color::Blue),
                Color::LightCyan => Style::new().fg(Color::Cyan),
                Color::LightMagenta => Style::new().fg(Color::Magenta),
                Color::Blue => Style::new().fg(Color::LightBlue),
                Color::Cyan => Style::new().fg(Color::LightCyan),
                Color::Magenta => Style::new().fg(Color::LightMagenta),
                Color::White | Color::DarkGray => Style::new().fg(Color::Gray),
                Color::Gray | Color::Black => Style::new().fg(Color::DarkGray),
                _ => Style::new().fg(colour).add_modifier(Modifier::DIM),
            },
        }
    }

    /// Returns the style of a tone on a faint background of its own colour; the tone alone if colours cannot be mixed.
    pub fn tinted(&self, tone: Tone) -> Style {
        let style = self.style(tone);
        let ground = colour::rgb_of(Colours::of(self.palette, self.background).ground);
        match (style.fg.and_then(colour::rgb_of), ground) {
            (Some(full), Some(ground)) => style.bg(to_depth(colour::mix(full, ground, 0.25), self.depth)),
            _ => style,
        }
    }

    /// Returns the style of the empty part of a bar.
    pub fn track(&self) -> Style {
        if matches!(self.palette, Palette::Ansi | Palette::Mono) {
            return Style::new();
        }
        Style::new().bg(self.colours.selected)
    }

    /// Returns [`Theme::style`] of a tone, in bold if requested.
    pub fn ink(&self, tone: Tone, bold: bool) -> Style {
        let style = self.style(tone);
        if bold { style.add_modifier(Modifier::BOLD) } else { style }
    }

    /// Returns the base style of the header line.
    pub fn header(&self) -> Style {
        self.ground(self.colours.header)
    }

    /// Returns the base style of the footer; plain without colours, so that keys stay readable.
    pub fn footer(&self) -> Style {
        if self.shades() { self.header() } else { Style::new() }
    }

    /// Returns the base style of a selected row: a background colour, or reverse video with the 16 colours of the
    /// terminal and without colours.
    pub fn selected(&self) -> Style {
        if matches!(self.palette, Palette::Ansi) {
            return Style::new().add_modifier(Modifier::REVERSED);
        }
        self.ground(self.colours.selected)
    }

    /// Returns the base style inside a pop-up.
    pub fn popup(&self) -> Style {
        if self.shades() { Style::new().bg(self.colours.popup) } else { Style::new() }
    }

    /// Returns the style of the cell or character under the cursor: the colours of text, exchanged, so that it is equally
    /// readable on every shade; reverse video with the 16 colours of the terminal and without colours.
    pub fn cursor(&self) -> Style {
        if matches!(self.palette, Palette::Ansi | Palette::Mono) {
            return Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD);
        }
        Style::new().fg(self.colours.ground).bg(self.colours.plain).add_modifier(Modifier::BOLD)
    }

    /// Returns the style for bold text, without any colour.
    pub(crate) const fn bold() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn ground(&self, colour: Color) -> Style {
        if self.shades() { Style::new().bg(colour) } else { Style::new().add_modifier(Modifier::REVERSED) }
    }

    /// Returns the heat step (strength of the shade), 0 to 7, for a fraction of 0 to 1. NaN counts as 0.
    pub fn heat_level(share: f64) -> u8 {
        if share.is_nan() {
            return 0;
        }
        (share.clamp(0.0, 1.0) * f64::from(HEAT_STEPS - 1)).round() as u8
    }

    /// Returns the style of a cell behind a pop-up: its colours at a third of their strength; with sixteen colours dark
    /// grey, and without colours the dim attribute.
    pub fn faded(&self, style: Style) -> Style {
        match self.depth {
            ColorDepth::None => {
                Style::new().add_modifier(Modifier::DIM).remove_modifier(Modifier::BOLD | Modifier::REVERSED)
            }
            ColorDepth::Ansi16 => Style::new()
                .fg(Color::DarkGray)
                .bg(Color::Reset)
                .remove_modifier(Modifier::BOLD | Modifier::REVERSED),
            depth => {
                let c = Colours::of(self.palette, self.background);
                let ground = colour::rgb_of(c.ground).unwrap_or((16, 20, 24));
                let fg = colour::rgb_of(style.fg.unwrap_or(Color::Reset))
                    .or_else(|| colour::rgb_of(c.plain))
                    .unwrap_or((216, 222, 233));
                let faded = to_depth(colour::mix(fg, ground, 1.0 / 3.0), depth);
                let bg = match style.bg.and_then(colour::rgb_of) {
                    Some(bg) => to_depth(colour::mix(bg, ground, 1.0 / 3.0), depth),
                    None => Color::Reset,
                };
                Style::new().fg(faded).bg(bg).remove_modifier(Modifier::BOLD)
            }
        }
    }
}

/// Colour of an area: a background, and the foreground that is readable on it.
type Area = (Color, Color);

fn area((bg, fg): Area) -> Style {
    Style::new().bg(bg).fg(fg)
}

#[cfg(test)]
mod tests;
