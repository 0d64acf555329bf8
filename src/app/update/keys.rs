//! Keys and pasted text: the top layer receives each key first, then the panes receive it.

use crate::app::action::{Command, Motion};
use crate::app::effect::{Effect, Effects};
use crate::app::key::{Code, Key};
use crate::app::keymap::{ActionIndex, Found};
use crate::app::layer::{Layer, LayerKind};
use crate::app::state::App;
use crate::app::table::{self, Make};
use lightbay_core::event::Severity;
use tui_input::InputRequest;

impl App {
    pub(super) fn key(&mut self, key: Key, effects: &mut Effects) {
        self.touch();
        let key = key.normal();
        if self.stop_script() {
            return;
        }
        self.record_key(key);
        if self.waits(key) {
            self.start.keys.push(key);
            return;
        }
        // The first steps go with the first key in the workbench, and never come back.
        if self.work.is_some() && std::mem::take(&mut self.first_steps) {
            effects.push(Effect::KeepFirstSteps);
        }
        self.press_key(key, effects);
    }

    /// Returns `true` for a key that waits for the panes of what is being opened.
    fn waits(&self, key: Key) -> bool {
        let of_program = |make: &Make| {
            use Command::{Interrupt, Quit, Repaint, Suspend};
            matches!(make, Make::Plain(Interrupt | Quit | Repaint | Suspend))
        };
        let ends =
            matches!(self.keymap.base(&[key]), Found::Action(at) if of_program(&table::all()[at].make));
        self.start.opening.is_some() && self.work.is_none() && self.layers.is_empty() && !ends
    }

    /// Processes a key of the user or of a script.
    pub(super) fn press_key(&mut self, key: Key, effects: &mut Effects) {
        self.touch();
        let unread = std::mem::take(&mut self.unread);
        self.unread_cut = None;
        self.seen_messages = self.log.total();
        if key == Key::plain(Code::Enter) && !unread.is_empty() && self.layers.is_empty() {
            self.read_messages(&unread);
            return;
        }
        match self.layers.last().map(Layer::kind) {
            Some(kind) => self.layer_key(kind, key, effects),
            None => self.pane_key(key, effects),
        }
    }

    fn layer_key(&mut self, kind: LayerKind, key: Key, effects: &mut Effects) {
        if key.code == Code::Esc && !self.pending.is_empty() {
            self.forget_pending();
            return;
        }
        self.pending.push(key);
        match self.keymap.layer(kind, &self.pending) {
            Found::Action(action) => {
                self.forget_pending();
                self.act(action, effects);
                return;
            }
            Found::Pending(_) => {
                self.pending_since = Some(self.now);
                return;
            }
            Found::Nothing if self.pending.len() > 1 => {
                self.say_nothing_bound();
                return;
            }
            Found::Nothing => self.forget_pending(),
        }
        if kind.types() {
            if !self.type_key(key) {
                self.pass_on(kind, key, effects);
            }
        } else if let (LayerKind::EditCell, Some(digit)) = (kind, key.text().and_then(|c| c.to_digit(10))) {
            self.digit(i64::from(digit), effects);
        } else {
            self.pass_on(kind, key, effects);
        }
    }

    /// Processes a key that a layer passes on to the panes.
    fn pass_on(&mut self, kind: LayerKind, key: Key, effects: &mut Effects) {
        let Found::Action(action) = self.keymap.base(&[key]) else { return };
        let Make::Plain(command) = &table::all()[action].make else { return };
        let passes = match command {
            Command::Interrupt | Command::Suspend | Command::Repaint => true,
            Command::Help => kind != LayerKind::Help,
            Command::NextPalette | Command::NextGlyphs => !kind.types() && kind != LayerKind::EditCell,
            Command::Motion(go) => {
                kind.is_transparent()
                    && matches!(
                        go,
                        Motion::Left
                            | Motion::Right
                            | Motion::Up
                            | Motion::Down
                            | Motion::First
                            | Motion::Last
                    )
            }
            Command::Copy => kind == LayerKind::EditCell,
            Command::CopyPane => !kind.types(),
            _ => false,
        };
        if passes {
            self.act(action, effects);
        }
    }

    fn pane_key(&mut self, key: Key, effects: &mut Effects) {
        if key.code == Code::Esc && !self.pending.is_empty() {
            self.forget_pending();
            return;
        }
        self.pending.push(key);
        match self.keymap.base(&self.pending) {
            Found::Action(action) => {
                self.forget_pending();
                self.act(action, effects);
            }
            Found::Pending(_) => {
                self.pending_since = Some(self.now);
            }
            Found::Nothing => {
                if self.pending.len() > 1 || key.text().is_some() {
                    self.say_nothing_bound();
                }
                self.forget_pending();
            }
        }
    }

    /// Reports that the pending keys have no action here, and drops them.
    fn say_nothing_bound(&mut self) {
        let keys: Vec<String> = self.pending.iter().map(ToString::to_string).collect();
        self.say(Severity::Info, format!("'{}' does nothing here; {{help}} shows the keys", keys.join(" ")));
        self.forget_pending();
    }

    pub(super) fn forget_pending(&mut self) {
        self.pending.clear();
        self.pending_since = None;
        self.menu = false;
    }

    /// Executes an entry of the table; an action with an argument opens the palette.
    fn act(&mut self, action: ActionIndex, effects: &mut Effects) {
        let info = &table::all()[action];
        match &info.make {
            Make::Plain(command) => self.run(command.clone(), effects),
            Make::With(_) => {
                if let crate::app::possible::Possible::No(why) = (info.possible)(self) {
                    self.say(Severity::Warning, why);
                } else {
                    self.show_palette(&format!("{} ", info.name));
                }
            }
        }
    }

    /// Passes a key to the text field of the top layer. Returns whether the field used the key.
    fn type_key(&mut self, key: Key) -> bool {
        use InputRequest as R;
        let request = match (key.code, key.ctrl, key.alt) {
            // The prompt of the help is a slash, so a slash typed first is not part of the filter.
            (Code::Char('/'), false, false) if self.help_is_unfiltered() => return true,
            (Code::Char(character), false, false) => R::InsertChar(character),
            (Code::Backspace, false, false) | (Code::Char('h'), true, false) => R::DeletePrevChar,
            (Code::Delete, _, _) | (Code::Char('d'), true, false) => R::DeleteNextChar,
            (Code::Char('w'), true, false) | (Code::Backspace, _, true) => R::DeletePrevWord,
            (Code::Char('d'), false, true) => R::DeleteNextWord,
            (Code::Char('u'), true, false) => R::DeleteFromStart,
            (Code::Char('k'), true, false) => R::DeleteTillEnd,
            (Code::Char('y'), true, false) => R::Yank,
            (Code::Home, _, _) | (Code::Char('a'), true, false) => R::GoToStart,
            (Code::End, _, _) | (Code::Char('e'), true, false) => R::GoToEnd,
            (Code::Left, true, _) | (Code::Char('b'), false, true) => R::GoToPrevWord,
            (Code::Right, true, _) | (Code::Char('f'), false, true) => R::GoToNextWord,
            (Code::Left, false, _) | (Code::Char('b'), true, false) => R::GoToPrevChar,
            (Code::Right, false, _) | (Code::Char('f'), true, false) => R::GoToNextChar,
            _ => return false,
        };
        self.type_request(request);
        true
    }

    fn help_is_unfiltered(&self) -> bool {
        matches!(self.layers.last(), Some(Layer::Help(list)) if list.field.text().is_empty())
    }

    fn type_request(&mut self, request: InputRequest) {
        let Some(field) = self.layers.last_mut().and_then(Layer::field) else { return };
        if matches!(request, InputRequest::InsertChar(_)) {
            field.begin_typing();
        }
        field.fresh = false;
        let changed = field.input.handle(request).is_some_and(|changed| changed.value);
        if changed {
            field.problem.clear();
            self.typed();
        }
    }

    /// Processes a change of the typed text: lists start at the top again, and a typed path is kept.
    fn typed(&mut self) {
        match self.layers.last_mut() {
            Some(Layer::Palette(list) | Layer::Help(list)) => {
                list.selected = 0;
                list.offset = 0;
            }
            Some(Layer::Export(edit)) => {
                edit.typed = true;
                // An ending that names a format chooses it; files of several formats end in .json.
                let ending = edit.path.text().rsplit_once('.').map(|(_, ending)| ending);
                let named = ending.filter(|ending| *ending != "json");
                let at = named.and_then(|name| edit.formats.iter().position(|format| *format == name));
                edit.format = at.unwrap_or(edit.format);
            }
            _ => {}
        }
    }

    /// Inserts a pasted text into the top text field as a single edit. Without a text field the text is ignored, so
    /// that its letters do not trigger commands.
    pub(super) fn paste(&mut self, text: &str) {
        /// Maximum number of characters of a field.
        const MOST: usize = 10_000;
        self.touch();
        let Some(field) = self.layers.last_mut().and_then(Layer::field) else {
            self.say(Severity::Info, "paste works only in a text field; press {palette} to open one");
            return;
        };
        let mut pasted = false;
        let trimmed = text.trim_end_matches(['\r', '\n']);
        let length = trimmed.chars().count() + field.text().chars().count();
        if length > MOST {
            let text = format!(
                "a field holds at most {MOST} characters; with the pasted text it would have {length}, so nothing was pasted"
            );
            return self.say(Severity::Warning, text);
        }
        field.begin_typing();
        for character in trimmed.replace("\r\n", "\n").chars() {
            let character = if matches!(character, '\n' | '\r' | '\t') { ' ' } else { character };
            if !character.is_control() {
                field.input.handle(InputRequest::InsertChar(character));
                pasted = true;
            }
        }
        if pasted {
            field.problem.clear();
            self.typed();
        }
    }
}
