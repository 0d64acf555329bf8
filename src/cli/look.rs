//! Look of the screen: colours and characters, by flags, variables and the terminal's name.

use clap::{Args, ValueEnum};
use lightbay_widgets::{Background, ColorDepth, GlyphSet, Palette, Theme};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ffi::OsString;

/// Flags about the look.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Appearance")]
pub struct LookArguments {
    /// When to use colour [default: auto]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub color: Option<When>,

    /// Colour theme [default: okabe]
    #[arg(long, value_name = "NAME", value_enum)]
    pub theme: Option<PaletteName>,

    /// Background of the terminal [default: dark]
    #[arg(long, value_name = "NAME", value_enum)]
    pub background: Option<BackgroundName>,

    /// Characters for drawing [default: by locale and terminal]
    #[arg(long, value_name = "SET", value_enum)]
    pub glyphs: Option<GlyphName>,
}

/// Use of colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// If the terminal shows colour and NO_COLOR is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Families of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PaletteName {
    /// Hues that people with any common form of colour blindness can tell apart.
    Okabe,
    /// High contrast.
    Contrast,
    /// The sixteen colours of the terminal.
    Ansi,
    /// No colour.
    Mono,
}

/// Backgrounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BackgroundName {
    /// Light text on dark.
    Dark,
    /// Dark text on light.
    Light,
}

/// Sets of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GlyphName {
    /// Curves in Braille dots.
    Braille,
    /// Curves in blocks.
    Block,
    /// ASCII characters only.
    Ascii,
}

/// Returns the colours that may be used. Flag or file, `NO_COLOR`, `CLICOLOR_FORCE` and `TERM=dumb`, in this order,
/// decide whether colours are used; `COLORTERM` and then `TERM` decide how many.
pub fn depth(when: When, env: impl Fn(&str) -> Option<OsString>) -> ColorDepth {
    let text = |name: &str| {
        env(name).map(|value| value.to_string_lossy().into_owned()).filter(|text| !text.is_empty())
    };
    let term = text("TERM").unwrap_or_default();
    let by_name = if text("COLORTERM").is_some_and(|name| name == "truecolor" || name == "24bit")
        || term.ends_with("-direct")
    {
        ColorDepth::TrueColor
    } else if term.contains("256") {
        ColorDepth::Indexed
    } else {
        ColorDepth::Ansi16
    };
    let forced = text("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    match when {
        When::Never => ColorDepth::None,
        When::Always => by_name,
        When::Auto if text("NO_COLOR").is_some() => ColorDepth::None,
        When::Auto if forced => by_name,
        When::Auto if term.is_empty() || term == "dumb" => ColorDepth::None,
        When::Auto => by_name,
    }
}

/// Returns the characters to draw with: Braille in UTF-8 locales, blocks there on terminals whose fonts usually lack
/// Braille, else ASCII. The Linux console uses ASCII, because its fonts lack most of the block characters.
pub fn glyphs(given: Option<GlyphName>, env: impl Fn(&str) -> Option<OsString>) -> GlyphSet {
    match given {
        Some(GlyphName::Braille) => return GlyphSet::Braille,
        Some(GlyphName::Block) => return GlyphSet::Block,
        Some(GlyphName::Ascii) => return GlyphSet::Ascii,
        None => {}
    }
    let text = |name: &str| {
        env(name).map(|value| value.to_string_lossy().into_owned()).filter(|text| !text.is_empty())
    };
    let locale = text("LC_ALL").or_else(|| text("LC_CTYPE")).or_else(|| text("LANG")).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    let term = text("TERM").unwrap_or_default();
    if !(locale.contains("utf-8") || locale.contains("utf8"))
        || matches!(term.as_str(), "linux" | "dumb" | "")
    {
        return GlyphSet::Ascii;
    }
    let lacks = ["putty", "cygwin", "mlterm", "fbterm"].iter().any(|name| term.starts_with(name));
    if lacks { GlyphSet::Block } else { GlyphSet::Braille }
}

/// Returns `true` for terminals that are known to show progress (OSC 9;4). Others may show the sequence as a message.
pub fn shows_progress(env: impl Fn(&str) -> Option<OsString>) -> bool {
    let text =
        |name: &str| env(name).map(|value| value.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    // Inside tmux, the variables of the outer terminal may be out of date.
    text("TMUX").is_empty()
        && (!text("WT_SESSION").is_empty()
            || text("ConEmuANSI") == "on"
            || ["ghostty", "wezterm"].contains(&text("TERM_PROGRAM").as_str()))
}

/// Returns the theme according to flags and environment.
pub fn theme(arguments: LookArguments, env: impl Fn(&str) -> Option<OsString>) -> Theme {
    let palette = match arguments.theme {
        None | Some(PaletteName::Okabe) => Palette::Okabe,
        Some(PaletteName::Contrast) => Palette::Contrast,
        Some(PaletteName::Ansi) => Palette::Ansi,
        Some(PaletteName::Mono) => Palette::Mono,
    };
    let background = match arguments.background {
        None | Some(BackgroundName::Dark) => Background::Dark,
        Some(BackgroundName::Light) => Background::Light,
    };
    Theme::new(
        palette,
        depth(arguments.color.unwrap_or_default(), &env),
        background,
        glyphs(arguments.glyphs, &env),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env<'a>(vars: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        move |name| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
    }

    #[test]
    fn progress_is_shown_only_where_it_is_known_to_work() {
        assert!(shows_progress(env(&[("WT_SESSION", "1")])));
        assert!(shows_progress(env(&[("TERM_PROGRAM", "WezTerm")])));
        assert!(!shows_progress(env(&[("TERM_PROGRAM", "WezTerm"), ("TMUX", "/tmp/tmux,1,0")])));
        assert!(!shows_progress(env(&[("TERM", "xterm-256color")])));
    }

    #[test]
    fn colour_is_decided_in_the_documented_order() {
        let xterm = [("TERM", "xterm-256color")];
        assert_eq!(depth(When::Auto, env(&xterm)), ColorDepth::Indexed);
        assert_eq!(depth(When::Never, env(&xterm)), ColorDepth::None);
        let no = [("TERM", "xterm-256color"), ("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")];
        assert_eq!(depth(When::Auto, env(&no)), ColorDepth::None);
        assert_eq!(depth(When::Always, env(&no)), ColorDepth::Indexed);
        let empty_no = [("TERM", "xterm"), ("NO_COLOR", ""), ("COLORTERM", "truecolor")];
        assert_eq!(depth(When::Auto, env(&empty_no)), ColorDepth::TrueColor);
        assert_eq!(depth(When::Auto, env(&[("TERM", "dumb")])), ColorDepth::None);
        assert_eq!(depth(When::Auto, env(&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")])), ColorDepth::Ansi16);
    }

    #[test]
    fn characters_follow_locale_and_terminal() {
        let utf8 = [("LANG", "de_DE.UTF-8"), ("TERM", "xterm")];
        assert_eq!(glyphs(None, env(&utf8)), GlyphSet::Braille);
        assert_eq!(glyphs(Some(GlyphName::Block), env(&utf8)), GlyphSet::Block);
        assert_eq!(glyphs(None, env(&[("LANG", "C.utf8"), ("TERM", "putty-256color")])), GlyphSet::Block);
        assert_eq!(glyphs(Some(GlyphName::Ascii), env(&utf8)), GlyphSet::Ascii);
        assert_eq!(glyphs(None, env(&[("LANG", "C.utf8"), ("TERM", "xterm-kitty")])), GlyphSet::Braille);
        assert_eq!(glyphs(None, env(&[("LANG", "C.utf8"), ("TERM", "linux")])), GlyphSet::Ascii);
        assert_eq!(
            glyphs(None, env(&[("LANG", "C.utf8"), ("LC_ALL", "C"), ("TERM", "xterm")])),
            GlyphSet::Ascii
        );
    }
}
