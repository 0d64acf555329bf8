//! Changing knobs, and editing entries of the displayed plan.

use crate::app::drawn::{EditTarget, ItemSetting};
use crate::app::effect::{Effect, Effects, Evaluation};
use crate::app::layer::{CellEdit, KnobEdit, Layer, TextField};
use crate::app::pane::{ItemId, PaneId};
use crate::app::plans::PlanRef;
use crate::app::state::{AUTO_DELAY, App};
use crate::app::work::{FormRow, KnobChange, Section, Setup, Work};
use lightbay_core::event::Severity;
use lightbay_core::param::{Domain, Effect as KnobEffect, ParamValue, Setting};
use lightbay_core::problem::Problems;
use lightbay_core::report::SliderInfo;
use lightbay_engines::name_param;
use std::sync::Arc;

/// Beginning of the source of a plan that was made by an edit; the number of the edited plan follows.
pub(super) const EDIT_OF: &str = "edit of plan ";

impl App {
    /// Changes parameters to values typed in the palette: `a=1 b=2`. All of them are changed, or none.
    pub(super) fn set(&mut self, text: &str, effects: &mut Effects) {
        let settings: Result<Vec<Setting>, _> =
            self.assignments(text).iter().map(|part| part.parse()).collect();
        let settings = match settings {
            Ok(settings) => settings,
            Err(problem) => return self.say(Severity::Error, problem.to_string()),
        };
        self.refused = None;
        if settings.len() > 1
            && let Some(work) = &self.work
        {
            // A trial run, so that a refused value leaves the others unchanged.
            let mut trial = work.clone();
            let refused = settings.iter().find_map(|setting| Some((setting, trial.set(setting).err()?)));
            if let Some((setting, problems)) = refused {
                let problem = one_line(&problems);
                self.refused = Some(format!("'{setting}' was refused: {problem}"));
                return self.say(Severity::Error, format!("{problem}; nothing was changed"));
            }
        }
        let before = self.work.as_ref().map(|work| work.now.clone());
        let mut made = 0;
        for setting in &settings {
            match self.apply_setting(setting, effects) {
                Ok(is_made) => made += usize::from(is_made),
                Err(problem) => {
                    self.refused = Some(format!("'{setting}' was refused: {problem}"));
                    return self.say(Severity::Error, problem);
                }
            }
        }
        if made == 0 && settings.len() > 1 {
            return self.say(Severity::Info, "all of them have these values already");
        }
        if settings.len() > 1
            && let (Some(work), Some(before)) = (&mut self.work, before)
        {
            work.join_changes(made);
            let what = changes_in_words(&work.differences(&before));
            self.say(Severity::Info, what);
        }
    }

    /// Splits a text into assignments. A word that does not begin with a name and `=` belongs to the value before it;
    /// in the value of a parameter that is a text, so does a word with a name that no parameter has.
    fn assignments(&self, text: &str) -> Vec<String> {
        let rows = self.work.as_ref().map_or_else(Vec::new, Work::rows);
        fn name_of(word: &str) -> Option<&str> {
            let name = word.split_once('=')?.0.split('[').next()?;
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            is_name.then_some(name)
        }
        let row = |name: &str| rows.iter().find(|row| row.name == name);
        let begins = |word: &str, before: &str| {
            let is_text = name_of(before).and_then(row).is_some_and(|row| row.info.domain == Domain::Text);
            name_of(word).is_some_and(|name| !is_text || row(name).is_some())
        };
        let mut parts: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match parts.last_mut() {
                Some(last) if !begins(word, last) => {
                    last.push(' ');
                    last.push_str(word);
                }
                _ => parts.push(word.to_owned()),
            }
        }
        if parts.is_empty() { vec![text.to_owned()] } else { parts }
    }

    /// Chooses the method that `r` starts.
    pub(super) fn choose_method(&mut self, name: &str, effects: &mut Effects) {
        let setting = Setting { name: "method".to_owned(), index: None, text: name.to_owned() };
        if let Err(problem) = self.apply_setting(&setting, effects) {
            self.say(Severity::Error, problem);
        }
    }

    /// Moves the slider of the focused pane one step and schedules a solve with the new value; without a slider,
    /// changes the width of the side bar.
    pub(super) fn slide_or_resize(&mut self, by: i8, effects: &mut Effects) {
        let Some(slider) = self.slider() else { return self.resize_side(i16::from(by) * 2) };
        let present = self.work.as_ref().and_then(|work| work.now.scenario.knob(slider.knob));
        let Some(present) = present.and_then(|value| value.as_f64()) else { return };
        let Some(next) = slider.next(present, by > 0) else {
            let end = if by > 0 { "largest" } else { "smallest" };
            self.say(Severity::Info, format!("{} {present} is the {end} value of the slider", slider.knob));
            return;
        };
        let setting = Setting { name: slider.knob.to_owned(), index: None, text: next.to_string() };
        match self.apply_setting(&setting, effects) {
            Ok(_) => {
                self.auto_at = Some(self.now + AUTO_DELAY);
                self.say(Severity::Info, format!("{} {present} → {next}; the plan follows", slider.knob));
            }
            Err(problem) => self.say(Severity::Error, problem),
        }
    }

    /// Returns the slider of the focused pane, if the scenario has its knob.
    fn slider(&self) -> Option<SliderInfo> {
        let slider = self.pane_info(self.focus.pane)?.section?.slides?;
        let knobs = self.work.as_ref()?.now.scenario.knobs();
        knobs.iter().any(|info| info.name == slider.knob).then_some(slider)
    }

    /// Changes a knob. Returns `false` if the knob has the value already.
    fn apply_setting(&mut self, setting: &Setting, effects: &mut Effects) -> Result<bool, String> {
        let Some(work) = &mut self.work else { return Err("nothing is open".to_owned()) };
        let before = work.now.clone();
        let change = work.set(setting).map_err(|problems| one_line(&problems))?;
        if change.made {
            self.reveal_change(&before);
            self.changed(&change, &before, effects);
        } else {
            let entry = change.index.map_or_else(String::new, |index| format!("[{index}]"));
            self.say(Severity::Info, format!("{}{entry} is {} already", change.name, change.new));
        }
        Ok(change.made)
    }

    /// Selects the first row of the form that differs from `before`, so that the changed row is visible even if the
    /// change was made outside the form.
    fn reveal_change(&mut self, before: &Setup) {
        if let Some(row) = self.work.as_ref().and_then(|work| work.first_change(before)) {
            self.pane_mut(PaneId::Params).selected = Some(row);
        }
    }

    /// Processes the change of a knob, and of the knobs that follow it, since `before`: a live change is passed to the
    /// active runs, any other change waits for the next solve.
    fn changed(&mut self, change: &KnobChange, before: &Setup, effects: &mut Effects) {
        self.to_remember = true;
        let old = change.old.as_ref().map_or_else(|| "its default".to_owned(), ToString::to_string);
        let entry = change.index.map_or_else(String::new, |index| format!("[{index}]"));
        let mut what = format!("{}{entry} {old} → {}", change.name, change.new);
        let mut following = self.work.as_ref().map_or_else(Vec::new, |work| work.differences(before));
        following.retain(|row| row.section == Section::Scenario && row.name != change.name);
        if change.section == Section::Scenario && !following.is_empty() {
            what = format!("{what}, {}", changes_in_words(&following));
        }
        if change.name == name_param().name {
            self.say(Severity::Info, format!("{what}; exports and new plans use the new name"));
            return;
        }
        let names = self.reach(change, effects);
        if names.is_empty() {
            let then = match (change.section, change.effect) {
                (Section::Method, _) => "{solve_warm} starts it",
                (_, KnobEffect::Cold) => "press {solve_warm} to solve",
                _ if self.auto => "solving automatically",
                _ => "{solve_warm} solves",
            };
            self.say(Severity::Info, format!("{what}; {then}"));
            if self.auto {
                self.auto_at = Some(self.now + AUTO_DELAY);
            }
            return;
        }
        self.say(Severity::Info, format!("{what}, applied by {} while running", names.join(", ")));
    }

    /// Passes a live change to the active methods that accept it; returns their names.
    fn reach(&mut self, change: &KnobChange, effects: &mut Effects) -> Vec<String> {
        if change.effect != KnobEffect::Live || change.section == Section::Scenario {
            return Vec::new();
        }
        let takes = |method: &str| {
            let info = self.work.as_ref().and_then(|work| work.method(method));
            info.is_some_and(|info| info.params.iter().any(|param| param.name == change.name))
        };
        let reached = |run: &&crate::app::runs::Run| change.section == Section::Common || takes(&run.method);
        let runs: Vec<_> =
            self.runs.active().filter(reached).map(|run| (run.id, run.method.clone())).collect();
        for (run, _) in &runs {
            effects.push(Effect::EditRun { run: *run, name: change.name.clone(), value: change.new.clone() });
        }
        let methods: Vec<String> = runs.into_iter().map(|(_, method)| method).collect();
        if !methods.is_empty()
            && let Some(work) = &mut self.work
        {
            work.note_taken(change, &methods);
        }
        methods
    }

    /// Undoes the last change of a knob.
    pub(super) fn undo(&mut self, effects: &mut Effects) {
        self.time_travel(false, effects);
    }

    /// Redoes the change that was undone last.
    pub(super) fn redo(&mut self, effects: &mut Effects) {
        self.time_travel(true, effects);
    }

    fn time_travel(&mut self, forward: bool, effects: &mut Effects) {
        let Some(work) = &mut self.work else { return };
        let before = work.now.clone();
        let done = if forward { work.redo() } else { work.undo() };
        if !done {
            return;
        }
        self.to_remember = true;
        self.reveal_change(&before);
        let changes = self.work.as_ref().map_or_else(Vec::new, |work| work.live_changes(&before));
        let mut names: Vec<String> = changes.iter().flat_map(|change| self.reach(change, effects)).collect();
        names.dedup();
        let done = if forward { "done again" } else { "undone" };
        let changed = self.work.as_ref().map_or_else(Vec::new, |work| work.differences(&before));
        let what = format!("{done}: {}", changes_in_words(&changed));
        if !names.is_empty() {
            self.say(Severity::Info, format!("{what}, applied by {} while running", names.join(", ")));
            return;
        }
        let then = if self.auto { "solving automatically" } else { "{solve_warm} solves" };
        self.say(Severity::Info, format!("{what}; {then}"));
        if self.auto {
            self.auto_at = Some(self.now + AUTO_DELAY);
        }
    }

    /// Edits the selected item: a knob of the form, an entry of the displayed plan, or a knob that the item stands for.
    pub(super) fn edit(&mut self, effects: &mut Effects) {
        match self.focus.pane {
            PaneId::Kind(_) if super::has_sweeps(self) => self.suggest_sweep(),
            PaneId::Params => {
                let selected = self.pane(PaneId::Params).selected;
                let first = || self.items(PaneId::Params).first().map(|item| item.id);
                if let Some(row) = selected.or_else(first) {
                    self.edit_knob(row);
                }
            }
            pane if self.editing_of(pane).is_some() => self.edit_cell(pane),
            pane if self.setting_of(pane).is_some() => self.take_setting(pane, effects),
            _ => {
                self.focus(PaneId::Params);
                self.say(Severity::Info, "parameters: {edit} edits the selected one");
            }
        }
    }

    /// Makes the settings of the selected item and schedules a solve; settings that the user edits first are shown in
    /// the palette.
    fn take_setting(&mut self, pane: PaneId, effects: &mut Effects) {
        let Some(ItemSetting { text, is_complete }) = self.setting_of(pane).cloned() else { return };
        if !is_complete {
            return self.show_palette(&format!("set {text}"));
        }
        self.set(&text, effects);
        self.auto_at = Some(self.now + AUTO_DELAY);
    }

    /// Opens the field for the value of a knob.
    pub(super) fn edit_knob(&mut self, id: ItemId) {
        let Some(row) = self.work.as_ref().and_then(|work| work.row(id)) else { return };
        self.pane_mut(PaneId::Params).selected = Some(id);
        let choices = match &row.info.domain {
            Domain::Choice { names } => names.iter().map(ToString::to_string).collect(),
            Domain::Bool => vec!["true".to_owned(), "false".to_owned()],
            _ => Vec::new(),
        };
        let text = row.value.as_ref().map_or_else(String::new, ToString::to_string);
        let field = TextField::fresh(text);
        self.layers.push(Layer::EditKnob(KnobEdit { row: id, name: row.name, field, choices }));
    }

    /// Sets a knob to the typed value; if the value is refused, the field stays open and shows the problem.
    pub(super) fn accept_knob(&mut self, effects: &mut Effects) {
        let Some(Layer::EditKnob(edit)) = self.layers.last() else { return };
        let setting =
            Setting { name: edit.name.clone(), index: None, text: edit.field.text().trim().to_owned() };
        let unchanged = self.work.as_ref().and_then(|work| work.row_named(&edit.name)).is_some_and(|row| {
            row.value.as_ref().is_some_and(|value| row.info.parse(&setting.text).as_ref() == Ok(value))
        });
        if unchanged {
            self.layers.pop();
            return;
        }
        match self.apply_setting(&setting, effects) {
            Ok(_) => {
                self.layers.pop();
            }
            Err(problem) => {
                if let Some(Layer::EditKnob(edit)) = self.layers.last_mut() {
                    edit.field.problem = problem;
                }
            }
        }
    }

    /// Starts editing entries of the displayed plan.
    fn edit_cell(&mut self, pane: PaneId) {
        let Some(cells) = self.editing_of(pane).map(Arc::clone) else { return };
        let selected = self.pane(pane).selected.and_then(|item| cells.entry(item));
        let Some(entry) = selected.or_else(|| cells.cells.first().map(|(_, entry)| *entry)) else {
            self.say(Severity::Warning, "there is no cell to edit");
            return;
        };
        if let Some((item, _)) = cells.cells.iter().find(|(_, of)| *of == entry)
            && self.pane(pane).selected.and_then(|item| cells.entry(item)).is_none()
        {
            self.pane_mut(pane).selected = Some(*item);
        }
        self.layers.push(Layer::EditCell(CellEdit {
            pane,
            values: cells.values.clone(),
            cells,
            entry,
            key: self.next_key,
            waiting: false,
            is_accepted: false,
            previews: Vec::new(),
            problem: String::new(),
            typing: false,
        }));
    }

    /// Adds `by` to the edited entry and requests an evaluation of the list.
    pub(super) fn raise(&mut self, by: i64, effects: &mut Effects) {
        let Some(Layer::EditCell(edit)) = self.layers.last() else { return };
        let value = edit.values.get(edit.entry).copied().unwrap_or_default().saturating_add(by);
        self.put_entry(value, false, effects);
    }

    /// Types a digit into the edited entry and requests an evaluation of the list.
    pub(super) fn digit(&mut self, digit: i64, effects: &mut Effects) {
        let Some(Layer::EditCell(edit)) = self.layers.last() else { return };
        let before = if edit.typing { edit.values.get(edit.entry).copied().unwrap_or_default() } else { 0 };
        let value = before.saturating_mul(10).saturating_add(digit);
        self.put_entry(value, true, effects);
    }

    fn put_entry(&mut self, value: i64, typing: bool, effects: &mut Effects) {
        let Some(mut scenario) = self.plan_scenario() else { return };
        let base = self.plans.shown().and_then(|entry| entry.plan.clone());
        let key = self.next_key + 1;
        let Some(Layer::EditCell(edit)) = self.layers.last_mut() else { return };
        let (smallest, largest) = edit.cells.range;
        let name = edit.cells.names.get(edit.entry).map_or("this entry", String::as_str);
        if value < smallest || value > largest {
            edit.problem = format!("{name} must be {smallest} to {largest}, not {value}");
            edit.typing = false;
            return;
        }
        let Some(entry) = edit.values.get_mut(edit.entry) else { return };
        *entry = value;
        edit.typing = typing;
        edit.problem.clear();
        edit.key = key;
        self.next_key = key;
        if !edit.is_changed() {
            edit.waiting = false;
            edit.previews.clear();
            return;
        }
        let mut variants = edit.cells.variants.clone();
        match &edit.cells.target {
            EditTarget::Param(name) => {
                let list = edit.values.iter().map(|value| ParamValue::Int(*value)).collect();
                let list = ParamValue::List(list);
                for (_, settings) in &mut variants {
                    settings.push(((*name).to_owned(), list.clone()));
                }
            }
            EditTarget::Knob { name, keys } => {
                let pairs = keys.iter().zip(edit.values.iter().zip(&edit.cells.values));
                let changed = pairs.filter(|(_, (new, old))| new != old);
                let text: Vec<String> = changed.map(|(key, (new, _))| format!("{key}:{new}")).collect();
                match scenario.with(name, None, &ParamValue::Text(text.join(","))) {
                    Ok(changed) => scenario = changed,
                    Err(problems) => {
                        // Keys undo the step, so neither the path in the file nor its remedy is needed.
                        let first = problems.list().first();
                        edit.problem = first.map_or_else(String::new, |problem| problem.message.clone());
                        edit.waiting = false;
                        edit.previews.clear();
                        return;
                    }
                }
            }
        }
        (edit.waiting, edit.is_accepted) = (true, false);
        effects.push(Effect::Evaluate(Evaluation {
            key,
            scenario,
            method: edit.cells.method.to_owned(),
            base: base.filter(|_| edit.cells.from_plan),
            variants,
        }));
    }

    /// Returns the scenario of the edited plan, for which the entries are defined.
    fn plan_scenario(&self) -> Option<lightbay_engines::AnyScenario> {
        Some(self.plans.shown()?.plan.as_ref()?.0.scenario())
    }

    /// Accepts the edit: adds the plan of the preview to the table of plans, once it is evaluated.
    pub(super) fn accept_cell(&mut self, effects: &mut Effects) {
        let Some(Layer::EditCell(edit)) = self.layers.last_mut() else { return };
        if edit.waiting {
            edit.is_accepted = true;
            return;
        }
        let kept = edit.plan().cloned();
        match (kept, edit.is_changed()) {
            (Some(plan), true) => {
                let changes_scenario = matches!(edit.cells.target, EditTarget::Knob { .. });
                let from = self.plans.shown().map_or(0, |entry| entry.number);
                self.layers.pop();
                if changes_scenario {
                    self.adopt_scenario(&plan);
                }
                effects.push(Effect::KeepPlan { plan, source: format!("{EDIT_OF}{from}") });
            }
            (None, true) => {
                if edit.problem.is_empty() {
                    edit.problem = "there is no plan to keep; change the entry or press Esc".to_owned();
                }
            }
            (_, false) => {
                self.layers.pop();
            }
        }
    }

    /// Makes the scenario of `plan` the open scenario, because the edit that gave the plan changed a knob of the
    /// scenario.
    fn adopt_scenario(&mut self, plan: &PlanRef) {
        let Some(work) = &mut self.work else { return };
        match work.adopt(plan.0.scenario()) {
            Ok(()) => {
                // The plan exists already, so no change waits for the next solve.
                work.note_solved();
                self.plans.scenario_sha256.clone_from(&work.now.sha256);
                self.to_remember = true;
            }
            Err(problem) => self.say(Severity::Error, problem.to_string()),
        }
    }

    /// Makes the entry of the selected cell the edited entry, after the selection moved during an edit.
    pub(super) fn follow_selection(&mut self) {
        let Some(Layer::EditCell(edit)) = self.layers.last() else { return };
        let entry = self.pane(edit.pane).selected.and_then(|item| edit.cells.entry(item));
        if let (Some(entry), Some(Layer::EditCell(edit))) = (entry, self.layers.last_mut()) {
            edit.typing = false;
            edit.entry = entry;
        }
    }
}

/// Returns all problems in one line.
fn one_line(problems: &Problems) -> String {
    problems.list().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Describes changed values: `seq 8192 → 4096`; of many changes, the first three.
fn changes_in_words(changes: &[FormRow]) -> String {
    const SHOWN: usize = 3;
    let value =
        |value: Option<&ParamValue>| value.map_or_else(|| "its default".to_owned(), ToString::to_string);
    let mut words: Vec<String> = changes
        .iter()
        .take(SHOWN)
        .map(|row| {
            let before = row.was.as_ref().and_then(Option::as_ref);
            format!("{} {} → {}", row.name, value(before), value(row.value.as_ref()))
        })
        .collect();
    match changes.len() {
        0 => words.push("values that the form does not show".to_owned()),
        count if count > SHOWN => words.push(format!("{} more", count - SHOWN)),
        _ => {}
    }
    words.join(", ")
}
