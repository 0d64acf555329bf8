//! Content of the start screen: saved sessions, examples, and commands.

use crate::app::action::{Command, Recent};
use crate::app::key::Key;
use lightbay_engines::PresetInfo;

/// A row of the start screen.
#[derive(Clone, Debug, PartialEq)]
pub enum StartItem {
    /// Continue a saved session.
    Continue(usize),
    /// Open an example: index into [`StartScreen::presets`].
    Example(usize),
    /// Start a command that still needs its argument.
    Ask(&'static str),
    /// Give a command.
    Do(Command),
}

/// Content of the start screen.
#[derive(Clone, Debug, Default)]
pub struct StartScreen {
    /// Saved sessions, newest first; `None` until the sessions are listed.
    pub recent: Option<Vec<Recent>>,
    /// Built-in scenarios.
    pub presets: Vec<PresetInfo>,
    /// Name of the file, preset or session that is being opened.
    pub opening: Option<String>,
    /// Keys that wait for the panes of what is being opened.
    pub keys: Vec<Key>,
    /// Problems of the last failed opening, one line each.
    pub problems: Vec<String>,
    /// `true` on a small screen: only one example of each kind is listed.
    pub is_short: bool,
}

/// A row of the examples on the start screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// An example: index into [`StartScreen::presets`].
    Preset(usize),
    /// A note that this number of further examples is not listed: of the same kind, or on a small screen of all kinds.
    More(usize),
}

impl StartScreen {
    /// Maximum number of examples on the start screen, divided evenly among the kinds, so that all kinds and the rows
    /// after them are visible.
    pub const EXAMPLES: usize = 18;

    /// Records that nothing is being opened any longer; returns the keys that waited.
    pub fn end_opening(&mut self) -> Vec<Key> {
        self.opening = None;
        std::mem::take(&mut self.keys)
    }

    /// Returns the examples, kind by kind.
    pub fn examples(&self) -> Vec<Example> {
        let mut examples = Vec::new();
        let mut first = 0;
        let kinds = || self.presets.chunk_by(|a, b| a.kind == b.kind);
        let most = if self.is_short { 1 } else { Self::EXAMPLES / kinds().count().max(1) };
        let mut more = 0;
        for kind in kinds() {
            let shown = kind.len().min(most);
            examples.extend((first..first + shown).map(Example::Preset));
            more += kind.len() - shown;
            if more > 0 && !self.is_short {
                examples.push(Example::More(std::mem::take(&mut more)));
            }
            first += kind.len();
        }
        if more > 0 {
            examples.push(Example::More(more));
        }
        examples
    }

    /// Returns the selectable rows, in order; the id of an item is its index.
    pub fn items(&self) -> Vec<StartItem> {
        let recent = self.recent.as_ref().map_or(0, Vec::len);
        let mut items: Vec<StartItem> = (0..recent).map(StartItem::Continue).collect();
        items.extend(self.examples().into_iter().map(|example| match example {
            Example::Preset(index) => StartItem::Example(index),
            Example::More(_) => StartItem::Ask("new"),
        }));
        items.extend(["open", "new", "import"].map(StartItem::Ask));
        items.extend([Command::Help, Command::Palette].map(StartItem::Do));
        items
    }

    /// Returns the text by which a row is found.
    pub fn label(&self, item: &StartItem) -> String {
        match item {
            StartItem::Continue(index) => {
                let recent = self.recent.as_ref().and_then(|all| all.get(*index));
                recent.map_or_else(String::new, |recent| {
                    format!("{} {} {}", recent.name, recent.kind, recent.method)
                })
            }
            StartItem::Example(index) => self.presets.get(*index).map_or_else(String::new, |preset| {
                format!("{} {} {}", preset.kind, preset.name, preset.help)
            }),
            StartItem::Ask(name) => (*name).to_owned(),
            StartItem::Do(command) => {
                crate::app::table::of(command).map_or_else(String::new, |info| info.name.to_owned())
            }
        }
    }
}
