//! The one function that changes the state. This function is pure: work for the runtime is returned as effects.

use crate::app::action::{Action, Command};
use crate::app::effect::{Effect, Effects};
use crate::app::pane::SizeClass;
use crate::app::possible::Possible;
use crate::app::state::{App, MENU_DELAY, Size};
use crate::app::table::{self, TablePlace};
use lightbay_core::event::Severity;
use std::time::{Duration, Instant};

mod edit;
mod elsewhere;
mod facts;
mod files;
mod keys;
mod layers;
mod mouse;
mod panes;
mod plans;
mod program;
mod reproduce;
mod saving;
mod script;
mod search;
mod sentences;
mod signs;
mod solve;
mod sweep_tables;
mod sweeps;

pub use facts::entry_of;
pub use files::TABLE_FORMATS;
pub use signs::{RunProgress, Signs};
pub use sweeps::has_sweeps;

/// Minimum time between changes of the terminal title.
const TITLE_EVERY: Duration = Duration::from_secs(1);

impl App {
    /// Processes an action and returns the effects for the runtime. `now` never decreases.
    pub fn update(&mut self, action: Action, now: Instant) -> Effects {
        self.now = self.now.max(now);
        let mut effects = Effects::new();
        match action {
            Action::Key(key) => self.key(key, &mut effects),
            Action::Paste(text) => self.paste(&text),
            Action::Mouse(mouse) => {
                self.record_mouse(mouse);
                self.mouse(mouse, &mut effects);
            }
            Action::Do(command) => {
                self.touch();
                self.run(command, &mut effects);
            }
            Action::Select { pane, item } => self.select(pane, item, &mut effects),
            Action::SelectLine(line) => self.select_line(line),
            Action::Resize(width, height) => {
                self.size = Size::new(width, height);
                self.start.is_short = self.size.class <= SizeClass::Compact;
                self.touch();
            }
            Action::Drawn(drawn) => {
                self.drawn(drawn);
                self.find_in_drawn(&mut effects);
                self.request_preview(&mut effects);
            }
            Action::Tick => self.tick(&mut effects),
            Action::Fact(fact) => self.fact(fact, &mut effects),
        }
        self.settle(&mut effects);
        effects
    }

    /// Executes a command if it is possible, else shows the reason that it is not.
    pub(crate) fn run(&mut self, command: Command, effects: &mut Effects) {
        if let Some(info) = table::of(&command) {
            if info.place == TablePlace::Workbench && self.work.is_none() {
                self.say(Severity::Warning, "nothing is open; open a file or an example first");
                return;
            }
            if let Possible::No(why) = (info.possible)(self) {
                self.say(Severity::Warning, why);
                return;
            }
        }
        match command {
            Command::Solve { method, warm } => self.solve(method.as_deref(), warm, effects),
            Command::Sweep(text) => self.sweep(&text, effects),
            Command::Stop if self.means_sweep() => self.stop_sweep(effects),
            Command::Stop => self.stop(effects),
            Command::TogglePause => self.toggle_pause(effects),
            Command::Interrupt => self.interrupt(effects),
            Command::ToggleAuto => self.toggle_auto(),
            Command::Set(text) => self.set(&text, effects),
            Command::ChooseMethod(name) => self.choose_method(&name, effects),
            Command::Edit => self.edit(effects),
            Command::Undo => self.undo(effects),
            Command::Redo => self.redo(effects),
            Command::Mark => self.mark(effects),
            Command::Baseline => self.toggle_baseline(effects),
            Command::Compare => self.compare(effects),
            Command::Check { exact } => self.check(exact, effects),
            Command::ShowPlan(number) => self.show_plan(number, effects),
            Command::ShowPlanNamed(name) => self.show_plan_named(&name, effects),
            Command::NamePlan(name) => self.label_plan(&name, true, effects),
            Command::NotePlan(note) => self.label_plan(&note, false, effects),
            Command::FollowBest => self.follow_best(effects),
            Command::Write => self.write(effects),
            Command::Export(text) => self.export(&text, effects),
            Command::SaveSession => effects.push(Effect::SaveSession),
            Command::SaveTo(text) => self.save_to(&text, effects),
            Command::Open(text) => self.open(&text, effects),
            Command::New(name) => self.new_from(&name, effects),
            Command::Import(text) => self.import(&text, effects),
            Command::RenameSession(name) => self.rename_session(&name, effects),
            Command::NoteSession(note) => self.note_session(&note, effects),
            Command::ShowStart => self.show_start(effects),
            Command::Focus(pane) => self.focus(pane),
            Command::FocusNamed(name) => self.focus_named(&name),
            Command::Cycle(by) => self.cycle(by),
            Command::Zoom => self.focus.zoomed = !self.focus.zoomed,
            Command::Pin => self.pin(),
            Command::Resize(by) => self.slide_or_resize(by, effects),
            Command::ResetSizes => self.focus.side = 0,
            Command::Motion(go) => self.go(go, effects),
            Command::Step(by) => self.step(i64::from(by)),
            Command::Axis(by) => self.axis(by),
            Command::Play => self.toggle_play(),
            Command::Freeze => self.toggle_freeze(effects),
            Command::Inspect => self.inspect(effects),
            Command::Fold => self.fold(),
            Command::Overlay => self.overlay(),
            Command::Copy => self.copy(effects),
            Command::CopyPane => self.copy_pane(effects),
            Command::CopyCommand => self.copy_command(effects),
            Command::CopyJson => self.copy_json(effects),
            Command::Search => self.show_search(),
            Command::Find(by) => self.find(by, false, effects),
            Command::ReadMessage => self.read_message(),
            Command::Record(path) => self.record(&path, effects),
            Command::StopRecording => self.stop_recording(effects),
            Command::Script(path) => self.play_script(&path, effects),
            Command::Help => self.show_help(),
            Command::Explain(word) => self.explain(&word),
            Command::Palette => self.show_palette(""),
            Command::Log => self.show_log(),
            Command::Runs => self.show_runs(),
            Command::Panes => self.show_panes(),
            Command::NextPalette => self.next_palette(effects),
            Command::NextGlyphs => self.next_glyphs(effects),
            Command::ToggleMouse => self.toggle_mouse(effects),
            Command::Repaint => effects.push(Effect::Repaint),
            Command::Suspend => effects.push(Effect::Suspend),
            Command::Back => self.back(),
            Command::Quit => self.quit(effects),
            Command::Layer(command) => self.layer(command, effects),
        }
    }

    /// Executes every delayed step whose time has come, such as an automatic solve; called at the time that
    /// [`App::next_wake`] requested.
    fn tick(&mut self, effects: &mut Effects) {
        if self.pending_since.is_some_and(|since| self.now >= since + MENU_DELAY) && !self.menu {
            self.menu = true;
            self.touch();
        }
        if self.auto_at.is_some_and(|at| self.now >= at) {
            self.auto_at = None;
            self.solve(None, true, effects);
        }
        self.play_due(effects);
        if self.play_at.is_some_and(|at| self.now >= at) {
            self.play();
        }
        if self.now >= self.ticked_at + Duration::from_secs(1) {
            self.ticked_at = self.now;
            if self.runs.is_busy() && !self.frozen {
                self.dirty.clock = true;
            }
            self.dirty.frame |= self.drawn.waits;
            self.note_late_stops();
        }
    }

    /// Updates everything that depends on the state, after every action: loads the plans that must be in memory, and
    /// sets the title and the selection in the table of plans.
    fn settle(&mut self, effects: &mut Effects) {
        self.note_fitting_sweeps();
        self.follow_scenario();
        self.save_replaced(effects);
        self.request_listing(effects);
        if self.work.is_some() {
            let needed: Vec<u64> = [self.plans.shown(), self.plans.baseline()]
                .into_iter()
                .flatten()
                .filter(|entry| entry.plan.is_none())
                .map(|entry| entry.number)
                .collect();
            for number in needed {
                self.load(number, effects);
            }
            let shown = self.plans.shown().map(|entry| entry.number as u32);
            let plans = self.pane_mut(crate::app::pane::PaneId::Plans);
            if shown.is_some() && plans.selected != shown {
                plans.selected = shown;
            }
        }
        self.show_progress(effects);
        if self.options.title {
            let title = self.title_text();
            let due = self.titled_at.map(|at| at + TITLE_EVERY).filter(|due| self.now < *due);
            self.title_due = due.filter(|_| title != self.title);
            if title != self.title && due.is_none() {
                self.titled_at = Some(self.now);
                self.title.clone_from(&title);
                effects.push(Effect::SetTitle(title));
            }
        }
        if self.to_remember {
            self.to_remember = false;
            if let Some(remembered) = self.remembered() {
                effects.push(Effect::Remember(Box::new(remembered)));
            }
        }
    }

    fn title_text(&self) -> String {
        let Some(work) = &self.work else { return "lightbay".to_owned() };
        let gap = self.plans.shown().and_then(|entry| Some(self.standing_of(entry).leading()?.gap));
        let gap = gap.map_or_else(String::new, |gap| format!(" gap {}", lightbay_core::quantity::gap(gap)));
        let name = lightbay_core::problem::printable(work.now.scenario.name());
        let progress = match self.progress() {
            RunProgress::Percent(percent) => format!(" {percent} %,"),
            RunProgress::Busy | RunProgress::Idle => String::new(),
        };
        format!("lightbay: {name}{progress}{gap}").trim_end_matches(',').to_owned()
    }
}
