//! Palette, glyph set, mouse capture and quitting.

use crate::app::effect::{Effect, Effects};
use crate::app::state::App;
use lightbay_core::event::Severity;
use lightbay_widgets::{GlyphSet, Palette};

impl App {
    /// Switches to the next palette of colours.
    pub(super) fn next_palette(&mut self, effects: &mut Effects) {
        effects.push(Effect::KeepLook);
        let at = Palette::ALL.iter().position(|palette| *palette == self.look.palette).unwrap_or(0);
        self.look.palette = Palette::ALL[(at + 1) % Palette::ALL.len()];
        self.look.refresh();
        self.say(Severity::Info, format!("palette {}", self.look.palette.name()));
    }

    /// Switches to the next set of glyphs.
    pub(super) fn next_glyphs(&mut self, effects: &mut Effects) {
        effects.push(Effect::KeepLook);
        self.look.glyphs = match self.look.glyphs {
            GlyphSet::Braille => GlyphSet::Block,
            GlyphSet::Block => GlyphSet::Ascii,
            GlyphSet::Ascii => GlyphSet::Braille,
        };
        self.look.refresh();
        self.say(Severity::Info, format!("glyphs {}", self.look.glyphs.name()));
    }

    /// Captures the mouse, or releases it to the terminal.
    pub(super) fn toggle_mouse(&mut self, effects: &mut Effects) {
        self.look.mouse = !self.look.mouse;
        effects.push(Effect::CaptureMouse(self.look.mouse));
        let text = if self.look.mouse {
            "mouse captured; Shift and drag selects text in most terminals"
        } else {
            "the mouse belongs to the terminal: drag selects text"
        };
        self.say(Severity::Info, text);
    }

    /// Saves the state of the screen and quits.
    pub(super) fn leave(&mut self, code: u8, effects: &mut Effects) {
        if self.leaving {
            return;
        }
        self.leaving = true;
        if let Some(remembered) = self.remembered() {
            self.to_remember = false;
            effects.push(Effect::Remember(Box::new(remembered)));
        }
        effects.push(Effect::Quit { code });
    }
}
