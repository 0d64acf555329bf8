//! Focus, selection, zoom and forms of panes; copying the content of panes.

use crate::app::action::{Command, Motion};
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::effect::{Effect, Effects};
use crate::app::layer::{Layer, TextView};
use crate::app::pane::{ItemId, PaneId, PaneInfo, PaneState, SizeClass};
use crate::app::state::{App, StartItem};
use lightbay_core::event::covered;
use lightbay_core::event::{RunId, Severity};
use lightbay_core::problem::suggestion;
use std::time::Duration;

/// Time from one step to the next while the steps of a pane are played: ten steps a second are easy to read and cost
/// little over SSH.
const PLAY_EVERY: Duration = Duration::from_millis(100);

/// Maximum number of steps that are shown in a playback, so that the playback takes at most half a minute.
const MOST_PLAYED: u32 = 300;

/// Number of steps back that leads to the first step in every pane: larger than the number of steps of any pane.
const BEFORE_ALL: i64 = 1 << 40;

/// Maximum number of columns by which the side bar can be wider or narrower than the default.
const SIDE_RANGE: i16 = 30;

impl App {
    /// Stores the results of the last frame, such as scroll positions that drawing corrected.
    pub(super) fn drawn(&mut self, drawn: Drawn) {
        for pane in &drawn.panes {
            let state = self.panes.entry(pane.pane).or_default();
            state.offset = pane.offset;
            state.column = pane.column;
            if state.step.is_some_and(|step| step + 1 >= pane.steps) {
                state.step = None;
            }
        }
        let own = self.log.last().is_some_and(|entry| entry.source == "app");
        let newest = self.log.total();
        if drawn.message_cut && own && newest > self.seen_messages && self.unread.insert(newest) {
            // Only the newest message is shown, so an earlier one that is cut need not be read.
            if let Some(earlier) = self.unread_cut.replace(newest) {
                self.unread.remove(&earlier);
            }
            self.touch();
        }
        // After a change of the size, a message may fit.
        if !drawn.message_cut
            && let Some(cut) = self.unread_cut.take()
            && self.unread.remove(&cut)
        {
            self.touch();
        }
        self.fill_pop_up(&drawn);
        self.drawn = drawn;
    }

    /// Replaces the text of a pop-up that waits for details.
    fn fill_pop_up(&mut self, drawn: &Drawn) {
        let Some(Layer::Text(view)) = self.layers.last_mut() else { return };
        let waits = |pane: &&PaneDrawn| pane.waits_for_details && pane.details == view.lines;
        let Some(waiting) = self.drawn.panes.iter().find(waits) else { return };
        let made = |pane: &&PaneDrawn| pane.pane == waiting.pane && !pane.waits_for_details;
        if let Some(made) = drawn.panes.iter().find(made) {
            view.lines.clone_from(&made.details);
            self.touch();
        }
    }

    /// Gives the focus to the pane of the kind with this name or section; ignores upper and lower case.
    pub(super) fn focus_named(&mut self, name: &str) {
        let panes = self.kind_panes();
        let word = name.trim();
        let is_named = |info: &&PaneInfo| {
            let shows = info.section.is_some_and(|section| section.name == word);
            shows || info.name.eq_ignore_ascii_case(word)
        };
        if let Some(info) = panes.iter().find(is_named) {
            return self.focus(PaneId::Kind(info.number));
        }
        let names: Vec<&str> = panes.iter().map(|info| info.name).collect();
        let remedy = suggestion(name, &names);
        self.say(Severity::Error, format!("no pane is called '{name}'; {remedy}"));
    }

    /// Gives the focus to a pane.
    pub(super) fn focus(&mut self, pane: PaneId) {
        if let PaneId::Kind(number) = pane {
            if self.pane_info(pane).is_none() {
                let last = self.kind_panes().len();
                self.say(
                    Severity::Warning,
                    format!("pane {number} does not exist; the panes are 1 to {last}"),
                );
                return;
            }
            if !self.focus.pinned {
                self.focus.large = pane;
            }
            self.to_remember = true;
        }
        if self.focus.pane != pane {
            self.discard_edit();
            self.play_at = None;
        }
        self.focus.pane = pane;
        self.touch();
    }

    /// Gives the focus to a neighbour in the order of panes.
    pub(super) fn cycle(&mut self, by: i8) {
        let order = self.focus_order();
        let here = order.iter().position(|pane| *pane == self.focus.pane).unwrap_or(0) as i64;
        let next = (here + i64::from(by)).rem_euclid(order.len().max(1) as i64);
        if let Some(pane) = order.get(next as usize) {
            self.focus(*pane);
        }
    }

    /// Pins the large pane, or lets it follow the focus.
    pub(super) fn pin(&mut self) {
        self.focus.pinned = !self.focus.pinned;
        if !self.focus.pinned && matches!(self.focus.pane, PaneId::Kind(_)) {
            self.focus.large = self.focus.pane;
        }
        let name = self.pane_info(self.focus.large).map_or("the large pane", |info| info.name);
        let text = if self.focus.pinned {
            format!("{name} is pinned; {{pin}} lets the large pane follow the focus again")
        } else {
            "the large pane follows the focus".to_owned()
        };
        self.say(Severity::Info, text);
    }

    /// Changes the width of the side bar.
    pub(super) fn resize_side(&mut self, by: i16) {
        self.focus.side = (self.focus.side + by).clamp(-SIDE_RANGE, SIDE_RANGE);
        self.touch();
    }

    /// Moves in the focused pane.
    pub(super) fn go(&mut self, go: Motion, effects: &mut Effects) {
        self.go_in(self.focus.pane, go, effects);
    }

    /// Moves in a pane.
    pub(super) fn go_in(&mut self, pane: PaneId, go: Motion, effects: &mut Effects) {
        let page = self.drawn_pane(pane).map_or(10, |drawn| drawn.page);
        let items = self.items(pane);
        let shown = self.drawn_pane(pane).and_then(|drawn| drawn.chosen);
        let at = shown.or(self.pane(pane).selected);
        if let Some(item) = Self::moved(&items, at, go, page) {
            self.choose(pane, Some(item), effects);
        }
    }

    /// Selects an item; in the table of plans this also displays the plan.
    pub(super) fn choose(&mut self, pane: PaneId, item: Option<ItemId>, effects: &mut Effects) {
        self.pane_mut(pane).selected = item;
        self.note_choice(pane);
        if let (PaneId::Plans, Some(item)) = (pane, item) {
            self.show_plan(u64::from(item), effects);
        }
        self.follow_selection();
        self.touch();
    }

    /// Records that the latest choice was made in this pane. Clears the choices that panes showed in the last frame
    /// because another pane shared its choice.
    fn note_choice(&mut self, pane: PaneId) {
        self.chosen_in.retain(|other| *other != pane);
        self.chosen_in.insert(0, pane);
        for drawn in &mut self.drawn.panes {
            drawn.chosen = None;
        }
    }

    /// Moves the focus to a pane after a click, and chooses the clicked item.
    pub(super) fn select(&mut self, pane: PaneId, item: Option<ItemId>, effects: &mut Effects) {
        self.focus(pane);
        if item.is_some() {
            self.choose(pane, item, effects);
        }
    }

    /// Moves by `by` intervals, links or snapshots.
    pub(super) fn step(&mut self, by: i64) {
        let pane = self.focus.pane;
        let drawn = self.drawn_pane(pane).map(|drawn| (drawn.steps, drawn.steps_through));
        let (steps, through) = drawn.unwrap_or_default();
        let Some(last) = steps.checked_sub(1) else { return };
        if let Some((chooser, item)) = through {
            let next = if chooser == pane {
                // A pane steps through its own items by position: item numbers may have gaps or another order.
                let drawn = self.drawn_pane(pane);
                let mut items: Vec<Item> = drawn.map(|drawn| drawn.items.to_vec()).unwrap_or_default();
                if drawn.is_some_and(|drawn| drawn.along_axis) {
                    items.sort_by(|a, b| a.place.total_cmp(&b.place).then(a.row.cmp(&b.row)));
                }
                let here = items.iter().position(|known| known.id == item).unwrap_or(0) as i64;
                let next = (here + by).clamp(0, i64::from(last));
                items.get(next as usize).map_or(item, |item| item.id)
            } else {
                (i64::from(item) + by).clamp(0, i64::from(last)) as ItemId
            };
            self.pane_mut(chooser).selected = Some(next);
            self.note_choice(chooser);
            self.touch();
            return;
        }
        let state = self.pane_mut(pane);
        let here = i64::from(state.step.unwrap_or(last));
        let next = (here + by).clamp(0, i64::from(last)) as u32;
        // `None` follows the run: a pane at the last step moves to the new last step when more steps arrive.
        state.step = (next != last).then_some(next);
        self.touch();
    }

    /// Starts or stops playing the steps of the focused pane.
    pub(super) fn toggle_play(&mut self) {
        let plays = self.play_at.is_some();
        self.play_at = (!plays).then_some(self.now);
        // At the last step, playback starts with the first step, because otherwise nothing would be shown.
        if !plays && !self.steps_on(1) {
            self.step(-BEFORE_ALL);
        }
        let text = if plays { "stopped" } else { "playing the steps of this pane; {play} stops" };
        self.say(Severity::Info, text);
    }

    /// Moves forward by `by` steps; returns `false` if this changed nothing, because the last step was already reached.
    fn steps_on(&mut self, by: i64) -> bool {
        let choices = |app: &Self| -> Vec<PaneState> { app.panes.values().cloned().collect() };
        let before = choices(self);
        self.step(by);
        choices(self) != before
    }

    /// Continues the playback of steps, and stops at the last one.
    pub(super) fn play(&mut self) {
        let steps = self.drawn_pane(self.focus.pane).map_or(0, |drawn| drawn.steps);
        let goes_on = self.steps_on(i64::from(steps.div_ceil(MOST_PLAYED)));
        self.play_at = goes_on.then(|| self.now + PLAY_EVERY);
        if !goes_on {
            self.say(Severity::Info, "the last step was played");
        }
    }

    /// Stretches (`by` above 0), shrinks (below 0) or fits (0) the axis of the focused pane around the item that the user
    /// chose, else around the middle.
    pub(super) fn axis(&mut self, by: i8) {
        let pane = self.focus.pane;
        let place = self.drawn_pane(pane).and_then(|drawn| drawn.on_axis);
        let state = self.pane_mut(pane);
        let (start, end) = state.window();
        let at = place.map_or(0.5, |place| (place - start) / (end - start));
        if let Some(place) = place.filter(|_| !(0.0..=1.0).contains(&at)) {
            state.centre = place;
            return self.axis_of(pane, by, 0.5);
        }
        self.axis_of(pane, by, at);
    }

    /// Stretches (`by` above 0), shrinks (below 0) or fits (0) the axis of a pane; `at` is the point that keeps its place,
    /// as a fraction of the window.
    pub(super) fn axis_of(&mut self, pane: PaneId, by: i8, at: f64) {
        let state = self.pane_mut(pane);
        if by == 0 {
            let PaneState { zoom, centre, .. } = PaneState::default();
            (state.zoom, state.centre) = (zoom, centre);
        } else {
            state.stretch(by, at);
        }
        self.touch();
    }

    /// Freezes the display, or shows events of runs again.
    pub(super) fn toggle_freeze(&mut self, _effects: &mut Effects) {
        if self.frozen {
            let held = self.held.len();
            self.unfreeze();
            self.say(Severity::Info, format!("the display follows the runs again; {held} events applied"));
        } else {
            self.frozen = true;
            self.say(Severity::Info, "frozen; runs continue and nothing is lost; {freeze} follows again");
        }
    }

    /// Opens or inspects the selected item.
    pub(super) fn inspect(&mut self, effects: &mut Effects) {
        match self.focus.pane {
            PaneId::Start => self.open_start_item(effects),
            PaneId::Params => self.edit(effects),
            PaneId::Plans => {
                let Some(entry) = self.meant_plan() else { return };
                let (title, lines) = (format!("Plan {}", entry.number), self.plan_details(entry));
                self.layers.push(Layer::Text(TextView { title, lines, offset: 0 }));
            }
            PaneId::Solve => {
                let selected = self.pane(PaneId::Solve).selected.map(|id| RunId(u64::from(id)));
                let run =
                    selected.and_then(|id| self.runs.get(id)).or_else(|| self.runs.newest().first().copied());
                if let Some(run) = run {
                    let (title, lines) =
                        (format!("Run {} {}", run.id, run.method), run_details(run, self.run_word(run)));
                    self.layers.push(Layer::Text(TextView { title, lines, offset: 0 }));
                }
            }
            pane @ PaneId::Kind(_) if super::has_sweeps(self) => {
                let has_cursor = self.drawn_pane(pane).is_some_and(|drawn| drawn.chosen.is_some());
                if has_cursor || self.pane(pane).selected.is_some() {
                    self.take_point(effects);
                } else {
                    self.suggest_sweep();
                }
            }
            pane @ PaneId::Kind(_) => {
                let has_cursor = self.drawn_pane(pane).is_some_and(|drawn| drawn.chosen.is_some());
                if !has_cursor && self.pane(pane).selected.is_none() {
                    let first = self.items(pane).first().map(|item| item.id);
                    self.pane_mut(pane).selected = first;
                    return;
                }
                let Some(drawn) = self.drawn_pane(pane).filter(|drawn| !drawn.details.is_empty()) else {
                    self.say(Severity::Info, "no details beyond the last line of the pane");
                    return;
                };
                let title = self.pane_info(pane).map_or_else(String::new, |info| info.name.to_owned());
                self.layers.push(Layer::Text(TextView { title, lines: drawn.details.clone(), offset: 0 }));
            }
        }
    }

    fn open_start_item(&mut self, effects: &mut Effects) {
        let items = self.start.items();
        let at = self.start_selected() as usize;
        match items.get(at) {
            Some(StartItem::Continue(index)) => {
                let name = self
                    .start
                    .recent
                    .as_ref()
                    .and_then(|recent| recent.get(*index))
                    .map(|recent| recent.name.clone());
                if let Some(name) = name {
                    self.open(&format!("session:{name}"), effects);
                }
            }
            Some(StartItem::Example(index)) => {
                if let Some(preset) = self.start.presets.get(*index) {
                    self.new_from(preset.name, effects);
                }
            }
            Some(StartItem::Ask(name)) => self.show_palette(&format!("{name} ")),
            Some(StartItem::Do(command)) => self.run(command.clone(), effects),
            None => {}
        }
    }

    /// Folds, unfolds or goes to the next form of the focused pane.
    pub(super) fn fold(&mut self) {
        let Some(info) = self.pane_info(self.focus.pane) else { return };
        let forms = info.modes.len().max(1) as u8;
        let state = self.pane_mut(info.id());
        state.mode = (state.mode + 1) % forms;
        let mode = usize::from(state.mode);
        if info.sweeps.is_some() {
            // The items of another sweep are other points.
            state.selected = None;
        }
        // A form may be named after a block, and block names use underscores as in files.
        let name = info.modes.get(mode).copied().unwrap_or_default().replace('_', " ");
        self.say(Severity::Info, format!("{}: {name}", info.name));
    }

    /// Shows or hides the overlay of the focused pane.
    pub(super) fn overlay(&mut self) {
        let Some(info) = self.pane_info(self.focus.pane) else { return };
        let state = self.pane_mut(info.id());
        state.overlay = !state.overlay;
        let word = if state.overlay { "on" } else { "off" };
        self.say(Severity::Info, format!("{} {word}", info.overlay));
    }

    /// Goes one step back. Undoes the first of the following that applies: pop-up, pending keys, zoom, pop-up pane,
    /// step of the pane, selection.
    pub(super) fn back(&mut self) {
        let pane = self.focus.pane;
        if self.layers.pop().is_some() {
            return;
        }
        if !self.pending.is_empty() {
            self.forget_pending();
        } else if self.focus.zoomed {
            self.focus.zoomed = false;
        } else if self.size.class == SizeClass::Compact
            && self.work.is_some()
            && !matches!(pane, PaneId::Kind(_))
        {
            self.focus(self.focus.large);
        } else if self.pane(pane).step.is_some() {
            self.pane_mut(pane).step = None;
        } else if pane == PaneId::Plans {
            self.plans.shown = crate::app::plans::Shown::Best;
            self.to_remember = true;
        } else {
            self.pane_mut(pane).selected = None;
        }
    }

    /// Copies the sentence about the selected item.
    pub(super) fn copy(&mut self, effects: &mut Effects) {
        match self.layers.last() {
            Some(Layer::Compare(view)) => {
                let differing = view.differing;
                match self.comparison(view.shown()) {
                    Some(table) if differing => {
                        effects.push(Effect::Copy(table.only_differences().to_markdown()));
                    }
                    Some(table) => effects.push(Effect::Copy(table.to_markdown())),
                    None => {
                        let why = self.why_no_comparison(view.shown());
                        self.say(Severity::Info, why);
                    }
                }
                return;
            }
            Some(Layer::Text(view)) => {
                effects.push(Effect::Copy(view.lines.join("\n")));
                return;
            }
            Some(Layer::Log(view)) => {
                let line = self.log.iter().rev().nth(view.selected).map(|entry| entry.text.clone());
                effects.extend(line.map(Effect::Copy));
                return;
            }
            _ => {}
        }
        let pane = self.focus.pane;
        let drawn = self.drawn_pane(pane).map(|drawn| drawn.sentence.clone()).filter(|text| !text.is_empty());
        let own = || match pane {
            PaneId::Params => {
                let row = self.work.as_ref()?.row(self.pane(pane).selected?)?;
                Some(format!("{}={}", row.name, row.value?))
            }
            PaneId::Plans => {
                let entry = self.meant_plan()?;
                let name = self.work.as_ref()?.objective.name;
                Some(format!("plan {} {} {name} {}", entry.number, entry.method, entry.value))
            }
            _ => None,
        };
        match drawn.or_else(own) {
            Some(text) => effects.push(Effect::Copy(text)),
            None => self.say(Severity::Info, "select something to copy; {copy_pane} copies the whole pane"),
        }
    }

    /// Copies the pane or layer as text.
    pub(super) fn copy_pane(&mut self, effects: &mut Effects) {
        match self.drawn_pane(self.focus.pane) {
            Some(drawn) if self.layers.is_empty() => effects.push(Effect::CopyArea(drawn.area)),
            _ => {
                let area = ratatui::layout::Rect::new(0, 0, self.size.width, self.size.height);
                effects.push(Effect::CopyArea(area));
            }
        }
    }

    /// Closes the scenario and shows the start screen.
    pub(super) fn show_start(&mut self, effects: &mut Effects) {
        if self.ask_first(Command::ShowStart) {
            return;
        }
        effects.push(Effect::Open(crate::app::effect::Source::Nothing));
        self.work = None;
        self.runs.clear();
        self.sweeps.clear();
        self.plans = crate::app::plans::PlanTable::default();
        self.panes.clear();
        self.chosen_in.clear();
        self.layers.clear();
        self.frozen = false;
        self.held.clear();
        self.session = crate::app::action::SessionView::default();
        self.focus.pane = PaneId::Start;
        self.focus.zoomed = false;
        self.start.recent = None;
        self.touch();
    }
}

fn run_details(run: &crate::app::runs::Run, word: &str) -> Vec<String> {
    let mut lines = vec![format!("state    {word}"), format!("clock    {:.1} s", run.elapsed_s)];
    if let Some(started) = &run.started {
        lines.push(format!("started  {}  seed {}  threads {}", started.date, started.seed, started.threads));
        lines.extend(started.parameters.iter().map(|(name, value)| format!("  {name}={value}")));
    }
    if let Some(best) = &run.best {
        let checked = if best.checked { "" } else { ", unchecked" };
        lines.push(format!("best     {} from {}{checked}", best.value, best.source));
    }
    if let Some(bound) = run.bound {
        lines.push(format!("bound    {bound}"));
    }
    if let Some(bound) = &run.partial {
        let only = bound.only.as_deref().unwrap_or_default();
        lines.push(format!("bound    {} for {}", bound.value, covered(only)));
    }
    if let Some(report) = &run.hot_start {
        lines.push(format!("hot start {}: {}", report.fate.word(), report.why));
    }
    if let Some(done) = &run.done {
        lines.push(format!("ended    {} after {} units of work", done.status.word(), done.work));
        if !done.message.is_empty() {
            lines.push(format!("         {}", done.message));
        }
        lines.extend(done.violations.iter().map(|violation| format!("  ! {violation}")));
    }
    lines.push(format!("scenario {}", run.scenario_sha256));
    lines
}
