//! Saving as the user sees it: the sign while saving fails, the question before quitting with unsaved plans, and the
//! move to another folder.

use crate::app::action::Saving;
use crate::app::effect::{Effect, Effects};
use crate::app::layer::{Confirmed, Layer, Question};
use crate::app::state::App;
use lightbay_core::event::Severity;
use lightbay_core::problem::printable;

/// Maximum number of characters of a note on a session.
const MOST_NOTE: usize = 500;

impl App {
    /// Processes a report on saving. Reports from an earlier session are ignored.
    pub(super) fn saving(&mut self, saving: Saving, effects: &mut Effects) {
        if saving.key != self.session.key {
            return;
        }
        let Saving { name, failing, made_again, list_problem, key: _ } = saving;
        let before = std::mem::replace(&mut self.session.failing, failing);
        if self.session.name.is_empty() && !name.is_empty() && self.session.beside.is_some() {
            let text = format!(
                "plans found here are saved in session '{name}'; session '{}' is unchanged",
                self.session.followed
            );
            self.say(Severity::Info, text);
        }
        self.session.name = name;
        match (&before, self.session.failing.clone()) {
            (None, Some(problem)) => self.say(
                Severity::Error,
                format!("{problem}; saving is tried again every second; :save_to FOLDER saves elsewhere"),
            ),
            (Some(_), None) => self.say(Severity::Info, "the session is saved again"),
            _ => {}
        }
        if made_again > self.session.made_again {
            self.session.made_again = made_again;
            self.say(
                Severity::Warning,
                format!("the folder of session '{}' was removed; it is created again", self.session.name),
            );
            let known = self.plans.iter().filter_map(|entry| Some((entry.number, entry.plan.clone()?)));
            effects.extend(known.map(|(number, plan)| Effect::SavePlan { number, plan }));
            self.to_remember = true;
        }
        if list_problem != self.session.list_problem {
            if let Some(problem) = &list_problem {
                let text = format!("the list of recent sessions is not updated: {problem}");
                self.say(Severity::Warning, text);
            }
            self.session.list_problem = list_problem;
        }
        self.touch();
    }

    /// Quits; asks first if a run is active or plans are not on disk.
    pub(super) fn quit(&mut self, effects: &mut Effects) {
        let busy = self.runs.is_busy() || self.sweeps.is_busy();
        let unsaved = self.session.failing.clone().filter(|_| self.session.used);
        if !busy && unsaved.is_none() {
            self.leave(0, effects);
            return;
        }
        let mut working: Vec<&str> = self.runs.active().map(|run| run.method.as_str()).collect();
        if self.sweeps.is_busy() {
            working.push("the sweep");
        }
        let are = if working.len() == 1 { "is" } else { "are" };
        let works = format!("{} {are} still running", working.join(", "));
        self.layers.push(Layer::Confirm(match unsaved {
            None => Question {
                text: format!("{works}. Leave?"),
                meaning: "The best plan is saved; lightbay reopens this session, and {solve_warm} continues from \
                     it."
                    .to_owned(),
                answers: vec!["stay", "leave"],
                chosen: 0,
                then: vec![Confirmed::Leave],
            },
            Some(problem) => Question {
                text: if busy { format!("{works}, and plans are not saved. Leave?") } else { "Plans are not saved. Leave?".to_owned() },
                meaning: format!(
                    "{problem}. Choose another folder to move the session there. If you leave, lightbay saves the plans where it can and prints the path."
                ),
                answers: vec!["stay", "another folder", "leave"],
                chosen: 0,
                then: vec![Confirmed::Ask("save_to "), Confirmed::Leave],
            },
        }));
    }

    /// Continues saving below another folder.
    pub(super) fn save_to(&mut self, text: &str, effects: &mut Effects) {
        let folder = self.path(text.trim());
        self.say(Severity::Info, format!("moving the session to {}", folder.display()));
        effects.push(Effect::SaveTo(folder));
    }

    /// Gives the session another name. The session is closed and opened again, so no run may be active.
    pub(super) fn rename_session(&mut self, name: &str, effects: &mut Effects) {
        let name = name.trim();
        if self.session.name.is_empty() || !self.session.used && self.plans.is_empty() {
            self.say(Severity::Warning, "a session that is not saved yet has no name; {solve_warm} solves");
        } else if name == self.session.name {
            self.say(Severity::Info, format!("the session is called '{name}' already"));
        } else if self.runs.is_busy() || self.sweeps.is_busy() {
            self.say(Severity::Warning, "a solve is running; {stop_solve} stops it, then rename the session");
        } else {
            if let Some(remembered) = self.remembered() {
                effects.push(Effect::Remember(Box::new(remembered)));
            }
            effects.push(Effect::RenameSession(name.to_owned()));
        }
    }

    /// Stores a note on the session.
    pub(super) fn note_session(&mut self, note: &str, effects: &mut Effects) {
        let note: String = printable(note.trim()).chars().take(MOST_NOTE).collect();
        let note = if note == "-" { String::new() } else { note };
        self.say(
            Severity::Info,
            if note.is_empty() {
                "the session has no note now".to_owned()
            } else {
                format!("note on the session: {note}; `lightbay sessions` shows it")
            },
        );
        effects.push(Effect::NoteSession(note));
        self.to_remember = true;
    }
}
