//! Opening layers, and the effects of their keys.

use crate::app::action::LayerCommand as C;
use crate::app::effect::{Effect, Effects};
use crate::app::layer::{Confirmed, Filtered, Layer, ListView, Question, TextField, TextView};
use crate::app::palette::{self, Chosen};
use crate::app::pane::PaneId;
use crate::app::possible::Possible;
use crate::app::state::App;
use lightbay_core::event::{RunId, Severity};
use lightbay_core::problem::printable;
use lightbay_engines::glossary;
use std::collections::BTreeSet;

impl App {
    pub(super) fn show_help(&mut self) {
        self.layers.push(Layer::Help(Filtered::default()));
    }

    /// Shows the explanation of a term in a layer; reports an unknown term.
    pub(super) fn explain(&mut self, word: &str) {
        match glossary::explain(word) {
            Ok(entries) => {
                let mut lines = Vec::new();
                for entry in &entries {
                    if !lines.is_empty() {
                        lines.push(String::new());
                    }
                    lines.extend(glossary::lines(entry));
                }
                let title = format!("Explain {}", printable(word));
                self.layers.push(Layer::Text(TextView { title, lines, offset: 0 }));
            }
            Err(near) => {
                self.say(
                    Severity::Warning,
                    format!("the glossary has no term '{}'; {near}", printable(word)),
                );
            }
        }
    }

    pub(super) fn show_palette(&mut self, text: &str) {
        self.layers.push(Layer::Palette(Filtered { field: TextField::holding(text), ..Filtered::default() }));
    }

    /// Shows the newest message in full.
    pub(super) fn read_message(&mut self) {
        let Some(entry) = self.log.last() else { return };
        let (title, text) = (title_of(entry.severity), entry.text.clone());
        self.layers.push(Layer::Text(TextView { title: title.to_owned(), lines: vec![text], offset: 0 }));
    }

    /// Shows the messages with these numbers in full.
    pub(super) fn read_messages(&mut self, numbers: &BTreeSet<u64>) {
        let entries: Vec<_> = self.log.iter().filter(|entry| numbers.contains(&entry.number)).collect();
        let (title, lines) = match entries.as_slice() {
            [] => return,
            [one] => (title_of(one.severity).to_owned(), vec![one.text.clone()]),
            several => {
                let lines = several.iter().flat_map(|entry| {
                    [format!("{}: {}", title_of(entry.severity), entry.text), String::new()]
                });
                let mut lines: Vec<String> = lines.collect();
                lines.pop();
                (format!("{} messages", several.len()), lines)
            }
        };
        self.layers.push(Layer::Text(TextView { title, lines, offset: 0 }));
    }

    pub(super) fn show_log(&mut self) {
        self.layers.push(Layer::Log(ListView::default()));
    }

    pub(super) fn show_runs(&mut self) {
        if self.runs.is_empty() {
            self.say(Severity::Info, "nothing was started yet; {solve_warm} solves");
        } else {
            self.layers.push(Layer::Runs(ListView::default()));
        }
    }

    pub(super) fn show_panes(&mut self) {
        let at = self.focus_order().iter().position(|pane| *pane == self.focus.pane).unwrap_or(0);
        self.layers.push(Layer::Panes(ListView { selected: at, offset: 0 }));
    }

    /// Returns the number of lines of the top layer.
    fn layer_rows(&self) -> usize {
        match self.layers.last() {
            Some(Layer::Help(list)) => palette::help(self, list.field.text()).len(),
            Some(Layer::Palette(list)) => palette::lines(self, list.field.text()).len(),
            Some(Layer::Log(_)) => self.log.len(),
            Some(Layer::Runs(_)) => self.runs.len(),
            Some(Layer::Panes(_)) => self.focus_order().len(),
            Some(Layer::Text(view)) => self.drawn.layer_rows.max(view.lines.len()),
            Some(Layer::Compare(_)) => self.drawn.layer_rows,
            _ => 0,
        }
    }

    pub(super) fn layer(&mut self, command: C, effects: &mut Effects) {
        match command {
            C::Accept => self.accept(effects),
            C::Complete => self.complete(),
            C::Next | C::Down => self.layer_move(1),
            C::Previous | C::Up => self.layer_move(-1),
            C::PageDown => self.layer_page(1),
            C::PageUp => self.layer_page(-1),
            C::Raise => self.raise(1, effects),
            C::Lower => self.raise(-1, effects),
            C::No => self.answer(0, effects),
            C::Yes => self.answer(usize::MAX, effects),
            C::Answer(answer) => self.answer(usize::from(answer), effects),
            C::Differing => {
                if let Some(Layer::Compare(view)) = self.layers.last_mut() {
                    view.differing = !view.differing;
                    view.offset = 0;
                }
            }
        }
        // Next and Previous also step to the next or previous pair of plans, name and format.
        if let (C::Next | C::Previous, Some(Layer::Compare(view))) = (command, self.layers.last_mut()) {
            let by = if command == C::Next { 1 } else { view.views() - 1 };
            view.at = (view.at + by) % view.views();
            view.offset = 0;
        }
    }

    fn layer_page(&mut self, pages: i64) {
        let page = self.drawn.layer_page.max(2) as i64 - 1;
        self.layer_move(pages * page);
    }

    /// Moves the selection of the top layer, or scrolls the layer, by this number of lines.
    pub(super) fn layer_move(&mut self, by: i64) {
        let rows = self.layer_rows();
        let page = self.drawn.layer_page.max(1);
        let along =
            |at: usize, rows: usize| (at as i64 + by).clamp(0, rows.saturating_sub(1) as i64) as usize;
        let scrolled = |at: usize| (at as i64 + by).clamp(0, rows.saturating_sub(page) as i64) as usize;
        match self.layers.last_mut() {
            Some(Layer::Help(list) | Layer::Palette(list)) => {
                list.selected = along(list.selected, rows);
                list.offset = list.offset.min(list.selected).max((list.selected + 1).saturating_sub(page));
            }
            Some(Layer::Runs(list) | Layer::Panes(list) | Layer::Log(list)) => {
                list.selected = along(list.selected, rows);
                list.offset = list.offset.min(list.selected).max((list.selected + 1).saturating_sub(page));
            }
            Some(Layer::Text(view)) => view.offset = scrolled(view.offset),
            Some(Layer::Compare(view)) => view.offset = scrolled(view.offset),
            Some(Layer::EditKnob(edit)) => {
                if edit.choices.is_empty() {
                    return;
                }
                let here = edit.choices.iter().position(|choice| choice == edit.field.text());
                let next =
                    here.map_or(0, |here| (here as i64 + by).rem_euclid(edit.choices.len() as i64) as usize);
                edit.field = TextField::holding(edit.choices[next].clone());
            }
            Some(Layer::Export(edit)) => {
                edit.format = (edit.format as i64 + by).rem_euclid(edit.formats.len().max(1) as i64) as usize;
                self.refresh_export_path();
            }
            Some(Layer::Confirm(question)) => {
                let answers = question.answers.len().max(1) as i64;
                question.chosen = (question.chosen as i64 + by).rem_euclid(answers) as usize;
            }
            Some(Layer::EditCell(_) | Layer::Search(_)) | None => {}
        }
    }

    /// Selects a line of the top layer after a click.
    pub(super) fn select_line(&mut self, line: usize) {
        self.touch();
        let rows = self.layer_rows();
        match self.layers.last_mut() {
            Some(Layer::Help(list) | Layer::Palette(list)) => {
                list.selected = line.min(rows.saturating_sub(1));
            }
            Some(Layer::Runs(list) | Layer::Panes(list) | Layer::Log(list)) => {
                list.selected = line.min(rows.saturating_sub(1));
            }
            Some(Layer::Confirm(question)) => {
                question.chosen = line.min(question.answers.len().saturating_sub(1));
            }
            Some(Layer::Export(edit)) => {
                edit.format = line.min(edit.formats.len().saturating_sub(1));
                self.refresh_export_path();
            }
            Some(Layer::EditKnob(edit)) => {
                if let Some(choice) = edit.choices.get(line) {
                    edit.field = TextField::holding(choice.clone());
                }
            }
            _ => {}
        }
    }

    fn accept(&mut self, effects: &mut Effects) {
        match self.layers.last() {
            Some(Layer::Help(list)) => {
                // Enter on a line of the help executes its action.
                let line = palette::help(self, list.field.text()).into_iter().nth(list.selected);
                let make = line.as_ref().map(|line| &crate::app::table::all()[line.action]);
                self.layers.pop();
                if let Some(Possible::No(why)) = line.as_ref().map(|line| &line.possible) {
                    self.say(Severity::Warning, *why);
                    return;
                }
                match make.map(|info| (info.name, &info.make)) {
                    Some((_, crate::app::table::Make::Plain(command))) => self.run(command.clone(), effects),
                    Some((name, crate::app::table::Make::With(_))) => self.show_palette(&format!("{name} ")),
                    None => {}
                }
            }
            Some(Layer::Palette(list)) => {
                let query = list.field.text().to_owned();
                let lines = palette::lines(self, &query);
                let chosen = palette::choose(&query, lines.get(list.selected));
                self.take_chosen(chosen, effects);
            }
            Some(Layer::EditKnob(_)) => self.accept_knob(effects),
            Some(Layer::EditCell(_)) => self.accept_cell(effects),
            Some(Layer::Confirm(question)) => {
                let chosen = question.chosen;
                self.answer(chosen, effects);
            }
            Some(Layer::Export(_)) => self.accept_export(effects),
            Some(Layer::Runs(list)) => {
                let id = self.runs.iter().nth(list.selected).map(|run| run.id);
                self.layers.pop();
                if let Some(id) = id {
                    self.show_run(id, effects);
                }
            }
            Some(Layer::Panes(list)) => {
                let pane = self.focus_order().get(list.selected).copied();
                self.layers.pop();
                if let Some(pane) = pane {
                    self.focus(pane);
                }
            }
            Some(Layer::Log(list)) => {
                if let Some(entry) = self.log.iter().rev().nth(list.selected) {
                    let title = match entry.run {
                        Some(run) => format!("{}, run {run} {}", title_of(entry.severity), entry.source),
                        None => title_of(entry.severity).to_owned(),
                    };
                    let lines = vec![entry.text.clone()];
                    self.layers.push(Layer::Text(TextView { title, lines, offset: 0 }));
                }
            }
            Some(Layer::Search(_)) => self.accept_search(effects),
            Some(Layer::Compare(_) | Layer::Text(_)) | None => {}
        }
    }

    fn take_chosen(&mut self, chosen: Chosen, effects: &mut Effects) {
        match chosen {
            Chosen::Run(command) => {
                self.layers.pop();
                self.run(command, effects);
            }
            Chosen::Type(text) => {
                if let Some(Layer::Palette(list)) = self.layers.last_mut() {
                    if list.field.text() == text && text.ends_with('/') {
                        "choose an entry with Down, or type more of its name"
                            .clone_into(&mut list.field.problem);
                        return;
                    }
                    *list = Filtered { field: TextField::holding(text), ..Filtered::default() };
                }
            }
            Chosen::Refuse(problem) => {
                if let Some(Layer::Palette(list)) = self.layers.last_mut() {
                    list.field.problem = self.keymap.in_words(&problem).into_owned();
                }
            }
        }
    }

    /// Types the chosen line into the field.
    fn complete(&mut self) {
        self.complete_path();
        let Some(Layer::Palette(list)) = self.layers.last() else { return };
        let query = list.field.text().to_owned();
        let Some(line) = palette::lines(self, &query).into_iter().nth(list.selected) else { return };
        let info = &crate::app::table::all()[line.action];
        let begun = query.trim_start().starts_with(info.name) && query.contains(' ');
        let text = if line.complete || begun { line.text } else { format!("{} ", info.name) };
        if let Some(Layer::Palette(list)) = self.layers.last_mut() {
            *list = Filtered { field: TextField::holding(text), ..Filtered::default() };
        }
    }

    /// Shows the newest plan of a run, and selects the run in the solve strip.
    fn show_run(&mut self, id: RunId, effects: &mut Effects) {
        self.pane_mut(PaneId::Solve).selected = Some(id.0 as u32);
        match self.plans.newest_of(id).map(|entry| entry.number) {
            Some(number) => self.show_plan(number, effects),
            None => self.say(Severity::Info, format!("run {id} has no plan in the table")),
        }
    }

    /// Answers the top question: 0 is the safe answer, and a number beyond the last means the last answer.
    fn answer(&mut self, answer: usize, effects: &mut Effects) {
        let Some(Layer::Confirm(_)) = self.layers.last() else { return };
        let Some(Layer::Confirm(mut question)) = self.layers.pop() else { return };
        let Some(at) = answer.min(question.then.len()).checked_sub(1) else {
            match question.then.last() {
                Some(Confirmed::Record(_)) => self.show_palette("record "),
                Some(Confirmed::Overwrite(_)) if self.recording.as_ref().is_some_and(|kept| kept.ended) => {
                    self.say(Severity::Info, format!("the file is unchanged{}", self.recording_is_kept()));
                }
                _ => {}
            }
            return;
        };
        match question.then.swap_remove(at) {
            Confirmed::Leave => self.leave(0, effects),
            Confirmed::Overwrite(mut job) => {
                job.overwrite = true;
                effects.push(Effect::Export(job));
            }
            Confirmed::Ask(text) => self.show_palette(text),
            Confirmed::Record(path) => self.start_recording(path, true),
            Confirmed::Run(command) => {
                // The user has confirmed: running methods are told to stop, without a second question.
                let runs: Vec<RunId> = self.runs.active().map(|run| run.id).collect();
                for id in runs {
                    if let Some(run) = self.runs.get_mut(id) {
                        run.state = crate::app::runs::RunState::Stopping;
                    }
                    effects.push(Effect::StopRun(id));
                }
                self.asked = true;
                self.run(command, effects);
                self.asked = false;
            }
        }
    }

    /// Asks before a command that would stop active runs of the open scenario. Returns `true` if the user is being
    /// asked, so that the command must wait for the answer.
    pub(super) fn ask_first(&mut self, command: crate::app::action::Command) -> bool {
        if self.asked || !self.runs.is_busy() {
            return false;
        }
        self.layers.push(Layer::Confirm(Question {
            text: "A solve is running. Stop it and continue?".to_owned(),
            meaning: "Its best plan is kept in the session.".to_owned(),
            answers: vec!["stay here", "stop it"],
            chosen: 0,
            then: vec![Confirmed::Run(command)],
        }));
        true
    }
}

/// Returns the title of a message by its severity.
const fn title_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "Message",
        Severity::Warning => "Warning",
        Severity::Error => "Error",
    }
}
