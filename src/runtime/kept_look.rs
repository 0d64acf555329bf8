//! Colours and glyphs that were chosen on the screen, and whether the first steps were shown, kept for the next start.
//!
//! A choice replaces the value of the configuration file. When the file or the terminal gives another value than at the
//! time of the choice, the new value applies again.

use lightbay_sessions::Places;
use lightbay_widgets::{GlyphSet, Palette, Theme};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A choice, with the value that it replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptChoice {
    chosen: String,
    instead_of: String,
}

/// The choices of the user on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptLook {
    palette: Option<KeptChoice>,
    glyphs: Option<KeptChoice>,
    /// `true` if the first steps were shown; they do not appear again.
    pub first_steps_seen: bool,
}

fn file(places: &Places) -> PathBuf {
    places.state().join("look.json")
}

impl KeptLook {
    /// Makes the choices that replace the look `base` by the present look.
    pub fn of(palette: Palette, glyphs: GlyphSet, base: (Palette, GlyphSet), first_steps_seen: bool) -> Self {
        let choice = |chosen: &str, instead_of: &str| {
            (chosen != instead_of)
                .then(|| KeptChoice { chosen: chosen.to_owned(), instead_of: instead_of.to_owned() })
        };
        Self {
            palette: choice(palette.name(), base.0.name()),
            glyphs: choice(glyphs.name(), base.1.name()),
            first_steps_seen,
        }
    }

    /// Reads the choices. A missing or damaged file counts as empty, because colours are not worth an error.
    pub fn read(places: &Places) -> Self {
        let text = std::fs::read(file(places)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Saves the choices.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, places: &Places) -> Result<(), String> {
        let text = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        lightbay_sessions::own_write(&file(places), &text).map_err(|error| error.to_string())
    }

    /// Returns the theme with the choices; `by_flag` are the parts (palette, glyphs) that a flag sets for this start.
    pub fn apply(&self, theme: Theme, by_flag: (bool, bool)) -> Theme {
        let chosen = |choice: &Option<KeptChoice>, present: &str, by_flag: bool| {
            let choice = choice.as_ref().filter(|choice| !by_flag && choice.instead_of == present)?;
            Some(choice.chosen.clone())
        };
        let palette = chosen(&self.palette, theme.palette.name(), by_flag.0)
            .and_then(|name| Palette::ALL.into_iter().find(|palette| palette.name() == name));
        let glyphs = chosen(&self.glyphs, theme.glyphs.set.name(), by_flag.1)
            .and_then(|name| GlyphSet::ALL.into_iter().find(|set| set.name() == name));
        Theme::new(
            palette.unwrap_or(theme.palette),
            theme.depth,
            theme.background,
            glyphs.unwrap_or(theme.glyphs.set),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_sessions::Overrides;
    use lightbay_widgets::{Background, ColorDepth};

    fn theme(palette: Palette, glyphs: GlyphSet) -> Theme {
        Theme::new(palette, ColorDepth::TrueColor, Background::Dark, glyphs)
    }

    #[test]
    fn a_choice_holds_until_flag_file_or_terminal_say_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let given = Overrides { state: Some(folder.path().to_owned()), ..Overrides::default() };
        let places = Places::resolve(&given, |_| Some("/nowhere".into())).unwrap();
        assert_eq!(KeptLook::read(&places), KeptLook::default());
        let kept = KeptLook::of(Palette::Ansi, GlyphSet::Block, (Palette::Okabe, GlyphSet::Block), true);
        kept.write(&places).unwrap();
        let kept = KeptLook::read(&places);
        assert!(kept.first_steps_seen, "the first steps do not come back");
        let applied = |base: Theme, by_flag| {
            let theme = kept.apply(base, by_flag);
            (theme.palette, theme.glyphs.set)
        };
        let usual = theme(Palette::Okabe, GlyphSet::Block);
        assert_eq!(applied(usual, (false, false)), (Palette::Ansi, GlyphSet::Block));
        assert_eq!(applied(usual, (true, false)), (Palette::Okabe, GlyphSet::Block), "a flag wins");
        let changed = theme(Palette::Mono, GlyphSet::Ascii);
        assert_eq!(applied(changed, (false, false)), (Palette::Mono, GlyphSet::Ascii), "the file changed");
        std::fs::write(folder.path().join("look.json"), b"damaged").unwrap();
        assert_eq!(KeptLook::read(&places), KeptLook::default());
    }
}
