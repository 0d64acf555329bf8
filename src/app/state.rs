//! All state of the workbench, with the queries for drawing and updating. Changed only by `update`.

use crate::app::action::{Heard, Motion, SessionView};
use crate::app::drawn::{CellEditing, Drawn, Item, ItemSetting, PaneDrawn};
use crate::app::key::Key;
use crate::app::keymap::Keymap;
use crate::app::layer::{CellEdit, Layer};
use crate::app::listing::Listing;
use crate::app::log::Log;
use crate::app::pane::{ItemId, PaneId, PaneInfo, PaneState, PaneTable, SizeClass};
use crate::app::plans::{PlanEntry, PlanTable};
use crate::app::preview::PlanPreview;
use crate::app::runs::{Run, RunTable};
use crate::app::script::{Playing, Recording};
pub use crate::app::start_screen::{Example, StartItem, StartScreen};
use crate::app::sweeps::SweepTable;
use crate::app::work::{FormRow, Section, Work};
use crate::app::{RunProgress, Signs};
use lightbay_core::event::{RunId, Severity};
use lightbay_engines::AnyPlan;
use lightbay_widgets::{Background, ColorDepth, GlyphSet, Palette, Theme};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of events held while the display is frozen; a screen cannot show that many.
pub const HELD_CAPACITY: usize = 20_000;

/// Time that a pending key waits before the possible next keys are shown.
pub const MENU_DELAY: Duration = Duration::from_millis(300);

/// Time within which a second C-c quits.
pub const LEAVE_WINDOW: Duration = Duration::from_secs(2);

/// Time after which a run that was told to stop and is still active is reported to the user.
pub const LATE_STOP: Duration = Duration::from_secs(2);

/// Time without a change after which the automatic mode solves.
pub const AUTO_DELAY: Duration = Duration::from_millis(300);

/// Appearance of the screen: colours and glyphs; also the use of the mouse.
#[derive(Clone, Debug)]
pub struct Look {
    /// Palette: family of colours.
    pub palette: Palette,
    /// Colours that the terminal shows.
    pub depth: ColorDepth,
    /// Background of the terminal: dark or light.
    pub background: Background,
    /// Characters to draw with.
    pub glyphs: GlyphSet,
    /// Styles made from these settings.
    pub theme: Theme,
    /// `true` if the mouse is captured.
    pub mouse: bool,
}

impl Look {
    /// Combines the settings, and derives the styles from them.
    pub fn new(
        palette: Palette,
        depth: ColorDepth,
        background: Background,
        glyphs: GlyphSet,
        mouse: bool,
    ) -> Self {
        let theme = Theme::new(palette, depth, background, glyphs);
        Self { palette, depth, background, glyphs, theme, mouse }
    }

    /// Updates the styles after a part changed.
    pub fn refresh(&mut self) {
        self.theme = Theme::new(self.palette, self.depth, self.background, self.glyphs);
    }
}

/// Width and height of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Number of columns.
    pub width: u16,
    /// Number of rows.
    pub height: u16,
    /// Size class, by the panes that fit.
    pub class: SizeClass,
}

impl Size {
    /// Computes the size class of a width and height.
    pub const fn new(width: u16, height: u16) -> Self {
        Self { width, height, class: SizeClass::of(width, height) }
    }
}

/// Focus of the keyboard, and the large pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// The region with the focus.
    pub pane: PaneId,
    /// The pane of the kind that is drawn large.
    pub large: PaneId,
    /// `true` if the large pane is pinned and stays when the focus moves.
    pub pinned: bool,
    /// `true` if the focused pane has the whole screen.
    pub zoomed: bool,
    /// Number of columns added to the default width of the side bar.
    pub side: i16,
}

/// Parts of the screen that must be redrawn, and whether the user waits for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dirty {
    /// `true` if the whole frame must be redrawn.
    pub frame: bool,
    /// Panes that must be redrawn.
    pub panes: BTreeSet<PaneId>,
    /// `true` if the clock in the header must be redrawn.
    pub clock: bool,
    /// `true` if the user waits for the frame, which is then drawn at once.
    pub urgent: bool,
}

impl Dirty {
    /// Returns `true` if a frame is needed.
    pub fn any(&self) -> bool {
        self.frame || self.clock || !self.panes.is_empty()
    }
}

/// Options of the program that the state needs.
#[derive(Clone, Debug)]
pub struct AppOptions {
    /// Version of the program.
    pub version: &'static str,
    /// Name of the machine, for the header.
    pub host: String,
    /// Function that returns the panes of a kind.
    pub panes: PaneTable,
    /// Appearance of the screen at the start.
    pub look: Look,
    /// Number of threads for runs, and number of cores.
    pub threads: (usize, usize),
    /// Folder to which relative file names refer.
    pub folder: PathBuf,
    /// `true` if the title of the terminal is set.
    pub title: bool,
    /// Key bindings.
    pub keymap: Keymap,
}

/// A range of an axis that is being chosen with the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeDrag {
    /// The pane.
    pub pane: PaneId,
    /// Columns of the visible part of the axis.
    pub axis: ratatui::layout::Rect,
    /// Columns in which the mouse was pressed and is now.
    pub columns: (u16, u16),
}

/// The whole state of the workbench.
#[derive(Clone, Debug)]
pub struct App {
    /// Options of the program.
    pub options: AppOptions,
    /// Present appearance of the screen.
    pub look: Look,
    /// Size of the terminal.
    pub size: Size,
    /// The open scenario with its settings; `None` shows the start screen.
    pub work: Option<Work>,
    /// Number of scenarios opened so far; it distinguishes the open scenario from earlier ones, whose plans may have
    /// the same numbers.
    pub opened: u64,
    /// Content of the start screen.
    pub start: StartScreen,
    /// The session in which everything is saved.
    pub session: SessionView,
    /// All runs of the session.
    pub runs: RunTable,
    /// All plans of the session.
    pub plans: PlanTable,
    /// The plan that panes show before there are plans.
    pub(crate) preview: PlanPreview,
    /// For each knob, the newest sweep over this knob.
    pub sweeps: SweepTable,
    /// The log of events and messages.
    pub log: Log,
    /// Focus of the keyboard, and the large pane.
    pub focus: Focus,
    /// Choices of the user in each pane.
    pub panes: BTreeMap<PaneId, PaneState>,
    /// Panes in which the user chose an item, the latest first; other panes may show the same choice.
    pub chosen_in: Vec<PaneId>,
    /// Layers, the top one last.
    pub layers: Vec<Layer>,
    /// Pending keys, which wait for another key.
    pub pending: Vec<Key>,
    /// `true` if the possible next keys are shown.
    pub menu: bool,
    /// `true` if the display is frozen; `held` then contains the events that are not shown yet.
    pub frozen: bool,
    /// Events that arrived while the display was frozen.
    pub held: VecDeque<Heard>,
    /// Plans of another process that arrived while the display was frozen.
    pub(crate) held_plans: Vec<PlanEntry>,
    /// Numbers of events that were merged and that were dropped because the screen was slower than the runs.
    pub lost: (u64, u64),
    /// `true` if every change starts a solve.
    pub auto: bool,
    /// Latest time that was passed to the state.
    pub now: Instant,
    /// Parts of the screen that must be redrawn.
    pub dirty: Dirty,
    /// Result of drawing the last frame.
    pub drawn: Drawn,
    /// Signs outside the screen that the user wants.
    pub signs: Signs,
    /// Key bindings.
    pub keymap: Keymap,
    /// Text of the newest search; empty before the first one.
    pub search: String,
    /// Direction of a search that waits for the names of the items, which the next frame brings.
    pub(crate) find_due: Option<(i8, bool)>,
    /// The recording of keys in progress.
    pub recording: Option<Recording>,
    /// The script of keys that is being replayed.
    pub playing: Option<Playing>,
    /// Files of the folder whose path is being typed.
    pub listing: Option<Listing>,
    /// Numbers of the log entries that Enter opens, because they appeared after the last key and are errors, came with
    /// what was opened, or are cut.
    pub unread: BTreeSet<u64>,
    /// The entry of `unread` that is there only because it is cut.
    pub(crate) unread_cut: Option<u64>,
    /// `true` if the first steps are shown over the panes, until the next key.
    pub first_steps: bool,
    /// Warnings of the start of the program, which appear after what is opened first.
    pub warnings: Vec<String>,
    pub(crate) seen_messages: u64,
    /// `true` if the program is about to end.
    pub leaving: bool,
    pub(crate) began: Instant,
    pub(crate) heard_at: BTreeMap<RunId, Instant>,
    pub(crate) pending_since: Option<Instant>,
    pub(crate) interrupted_at: Option<Instant>,
    pub(crate) auto_at: Option<Instant>,
    /// Time of the next step while the steps of a pane are played.
    pub(crate) play_at: Option<Instant>,
    /// A change that was typed and refused. The next command to solve only reports the refusal; the command after that
    /// solves without the change.
    pub(crate) refused: Option<String>,
    pub(crate) ticked_at: Instant,
    pub(crate) clicked: Option<(Instant, u16, u16)>,
    pub(crate) next_key: u64,
    pub(crate) title: String,
    pub(crate) titled_at: Option<Instant>,
    pub(crate) title_due: Option<Instant>,
    /// The progress that the terminal shows.
    pub(crate) progress_shown: RunProgress,
    pub(crate) to_remember: bool,
    pub(crate) asked: bool,
    pub(crate) dragging: Option<u16>,
    /// The range that is being chosen with the mouse.
    pub range: Option<RangeDrag>,
    pub(crate) loading: BTreeSet<u64>,
}

impl App {
    /// Creates the state at the start: the start screen, without a scenario.
    pub fn new(options: AppOptions, now: Instant) -> Self {
        let look = options.look.clone();
        let keymap = options.keymap.clone();
        Self {
            options,
            look,
            size: Size::default(),
            work: None,
            opened: 0,
            start: StartScreen { presets: lightbay_engines::presets(), ..StartScreen::default() },
            session: SessionView::default(),
            runs: RunTable::default(),
            plans: PlanTable::default(),
            preview: PlanPreview::default(),
            sweeps: SweepTable::default(),
            log: Log::default(),
            focus: Focus {
                pane: PaneId::Start,
                large: PaneId::Kind(1),
                pinned: false,
                zoomed: false,
                side: 0,
            },
            panes: BTreeMap::new(),
            chosen_in: Vec::new(),
            layers: Vec::new(),
            pending: Vec::new(),
            menu: false,
            frozen: false,
            held: VecDeque::new(),
            held_plans: Vec::new(),
            lost: (0, 0),
            auto: false,
            now,
            dirty: Dirty { frame: true, urgent: true, ..Dirty::default() },
            drawn: Drawn::default(),
            signs: Signs::default(),
            keymap,
            search: String::new(),
            find_due: None,
            recording: None,
            playing: None,
            listing: None,
            unread: BTreeSet::new(),
            unread_cut: None,
            first_steps: false,
            warnings: Vec::new(),
            seen_messages: 0,
            leaving: false,
            began: now,
            heard_at: BTreeMap::new(),
            pending_since: None,
            interrupted_at: None,
            auto_at: None,
            play_at: None,
            refused: None,
            ticked_at: now,
            clicked: None,
            next_key: 0,
            title: String::new(),
            titled_at: None,
            title_due: None,
            progress_shown: RunProgress::default(),
            to_remember: false,
            asked: false,
            dragging: None,
            range: None,
            loading: BTreeSet::new(),
        }
    }

    /// Returns the panes of the kind that is open.
    pub fn kind_panes(&self) -> &'static [PaneInfo] {
        self.work.as_ref().map_or(&[], |work| work.panes)
    }

    /// Returns the description of a pane of the kind.
    pub fn pane_info(&self, pane: PaneId) -> Option<&'static PaneInfo> {
        match pane {
            PaneId::Kind(number) => self.kind_panes().iter().find(|info| info.number == number),
            _ => None,
        }
    }

    /// Returns the choices of the user in a pane.
    pub fn pane(&self, pane: PaneId) -> PaneState {
        self.panes.get(&pane).cloned().unwrap_or_default()
    }

    /// Returns the choices of the user in a pane, to change them.
    pub fn pane_mut(&mut self, pane: PaneId) -> &mut PaneState {
        self.panes.entry(pane).or_default()
    }

    /// Returns the panes in the order of the Tab key.
    pub fn focus_order(&self) -> Vec<PaneId> {
        if self.work.is_none() {
            return vec![PaneId::Start];
        }
        let mut order = vec![PaneId::Params, PaneId::Plans];
        order.extend(self.kind_panes().iter().map(PaneInfo::id));
        order.push(PaneId::Solve);
        order
    }

    /// Returns the selected row of the start screen; a small screen has fewer rows.
    pub fn start_selected(&self) -> ItemId {
        let last = self.start.items().len().saturating_sub(1) as ItemId;
        self.pane(PaneId::Start).selected.unwrap_or(0).min(last)
    }

    /// Returns `true` if the next frame must bring the names of the items of the focused pane, for a search.
    pub fn wants_labels(&self) -> bool {
        self.find_due.is_some() || matches!(self.layers.last(), Some(Layer::Search(_)))
    }

    /// Returns a pane of the last frame, if it was drawn.
    pub fn drawn_pane(&self, pane: PaneId) -> Option<&PaneDrawn> {
        self.drawn.pane(pane)
    }

    /// Returns the items of a pane that can be selected, in order.
    pub fn items(&self, pane: PaneId) -> Arc<[Item]> {
        let rows = |ids: Vec<ItemId>| -> Arc<[Item]> {
            ids.into_iter().zip(0..).map(|(id, row)| Item { id, row, place: 0.0 }).collect()
        };
        match pane {
            PaneId::Start => rows((0..self.start.items().len() as ItemId).collect()),
            PaneId::Params => {
                let work = self.work.as_ref();
                rows(work.map_or_else(Vec::new, |work| work.rows().iter().map(|row| row.id).collect()))
            }
            PaneId::Plans => rows(self.plans.rows().iter().map(|entry| entry.number as ItemId).collect()),
            PaneId::Solve => rows(self.runs.newest().iter().map(|run| run.id.0 as ItemId).collect()),
            PaneId::Kind(_) => {
                self.drawn_pane(pane).map_or_else(Arc::default, |drawn| Arc::clone(&drawn.items))
            }
        }
    }

    /// Returns the displayed plan: the preview of an edit, the chosen plan, or the preview before the first solve.
    pub fn shown_plan(&self) -> Option<&AnyPlan> {
        let edited = self.cell_edit().filter(|edit| edit.is_changed()).and_then(CellEdit::plan);
        let chosen = || self.plans.shown()?.plan.as_ref();
        edited.or_else(chosen).or_else(|| self.preview()).map(|plan| &plan.0)
    }

    /// Returns a number that changes whenever [`App::shown_plan`] changes: 0 without a plan, the number of a plan in
    /// the table, or, for a preview, a number above the numbers of all plans in the table.
    pub fn shown_key(&self) -> u64 {
        match self.cell_edit().filter(|edit| edit.is_changed() && edit.plan().is_some()) {
            Some(edit) => u64::MAX - edit.key,
            None if self.preview().is_some() => self.preview.key(),
            None => self.plans.shown().filter(|entry| entry.plan.is_some()).map_or(0, |entry| entry.number),
        }
    }

    /// Returns the baseline plan.
    pub fn baseline_plan(&self) -> Option<&AnyPlan> {
        Some(&self.plans.baseline()?.plan.as_ref()?.0)
    }

    /// Returns the plan to which a command about a plan applies: the plan selected in the table if the table has the
    /// focus, else the displayed plan.
    pub fn meant_plan(&self) -> Option<&PlanEntry> {
        let selected = (self.focus.pane == PaneId::Plans)
            .then(|| self.pane(PaneId::Plans).selected)
            .flatten()
            .and_then(|id| self.plans.get(u64::from(id)));
        selected.or_else(|| self.plans.shown())
    }

    /// Returns the runs to which a command about runs applies: the run selected in the strip if the strip has the
    /// focus, else all active runs.
    pub fn meant_runs(&self) -> Vec<&Run> {
        let selected = (self.focus.pane == PaneId::Solve)
            .then(|| self.pane(PaneId::Solve).selected)
            .flatten()
            .and_then(|id| self.runs.get(RunId(u64::from(id))))
            .filter(|run| run.state.is_active());
        match selected {
            Some(run) => vec![run],
            None => self.runs.active().collect(),
        }
    }

    /// Returns `true` if the pause key would resume: a run is paused, and none of the runs to which the command applies
    /// is active.
    pub fn would_resume(&self) -> bool {
        let meant = self.meant_runs();
        let any = |state| meant.iter().any(|run| run.state == state);
        any(crate::app::runs::RunState::Paused) && !any(crate::app::runs::RunState::Running)
    }

    /// Returns the present value of a parameter of the scenario or the method.
    pub fn setting(&self, name: &str) -> Option<lightbay_core::param::ParamValue> {
        self.work.as_ref()?.row_named(name)?.value
    }

    /// Returns `true` if the displayed plan belongs to another scenario than the present one.
    pub fn is_stale(&self) -> bool {
        self.plans.shown().is_some_and(|shown| self.is_of_another_scenario(shown))
    }

    /// Returns `true` for a plan of another scenario than the present one; the screen shows a `*` next to the number of
    /// such a plan.
    pub fn is_of_another_scenario(&self, entry: &PlanEntry) -> bool {
        self.work.as_ref().is_some_and(|work| work.now.sha256 != entry.scenario_sha256)
    }

    /// Returns the rows of the form. Rows are marked as changed if they differ from the newest solve or from the
    /// displayed plan.
    pub fn form_rows(&self) -> Vec<FormRow> {
        let Some(work) = &self.work else { return Vec::new() };
        let mut rows = work.rows();
        let stale = self.plans.shown().filter(|_| self.is_stale());
        if let Some(plan) = stale.and_then(|shown| shown.plan.as_ref()) {
            let scenario = plan.0.scenario();
            for row in rows.iter_mut().filter(|row| row.section == Section::Scenario && !row.changed()) {
                let before = scenario.knob(&row.name);
                row.was = (row.value != before).then_some(before);
            }
        }
        rows
    }

    /// Returns the edit of the displayed plan, while its layer is open.
    pub fn cell_edit(&self) -> Option<&CellEdit> {
        self.layers.iter().find_map(|layer| match layer {
            Layer::EditCell(edit) => Some(edit),
            _ => None,
        })
    }

    /// Returns the rules for editing cells of a pane, if the cells can be edited.
    pub fn editing_of(&self, pane: PaneId) -> Option<&Arc<CellEditing>> {
        self.drawn_pane(pane)?.edit.as_ref()
    }

    /// Returns the settings that change the selected item of a pane; `None` if the pane offers none.
    pub fn setting_of(&self, pane: PaneId) -> Option<&ItemSetting> {
        self.drawn_pane(pane)?.setting.as_ref()
    }

    /// Returns the seconds on a run's clock now.
    pub fn elapsed_s(&self, run: &Run) -> f64 {
        let since = match (run.state, self.heard_at.get(&run.id)) {
            (crate::app::runs::RunState::Running | crate::app::runs::RunState::Stopping, Some(at))
                if !self.frozen =>
            {
                self.now.saturating_duration_since(*at).as_secs_f64()
            }
            _ => 0.0,
        };
        run.elapsed_s + since
    }

    /// Returns the seconds since the last output of the solver of an active run, or, without a solver, since the last
    /// event of the run; 0 for a run that is waiting, paused or ended.
    pub fn silence_s(&self, run: &Run) -> f64 {
        let since = self.elapsed_s(run) - run.elapsed_s;
        match run.state {
            crate::app::runs::RunState::Running | crate::app::runs::RunState::Stopping => {
                run.silent_s + since
            }
            _ => 0.0,
        }
    }

    /// Returns the seconds since a run was told to stop; `None` if the run was not told to stop, or has ended.
    pub fn stopping_s(&self, run: &Run) -> Option<f64> {
        let asked_s = run.stop_asked_s.filter(|_| run.state == crate::app::runs::RunState::Stopping)?;
        Some((self.elapsed_s(run) - asked_s).max(0.0))
    }

    /// Returns the seconds since the program started.
    pub fn uptime_s(&self) -> f64 {
        self.now.saturating_duration_since(self.began).as_secs_f64()
    }

    /// Returns the next time at which the state changes without input: a [`crate::app::action::Action::Tick`] is due
    /// then.
    pub fn next_wake(&self) -> Option<Instant> {
        let menu = self.pending_since.filter(|_| !self.menu).map(|since| since + MENU_DELAY);
        let solving = self.runs.active().any(|run| run.state != crate::app::runs::RunState::Paused);
        let clock =
            ((solving || self.drawn.waits) && !self.frozen).then(|| self.ticked_at + Duration::from_secs(1));
        let script = self.playing.as_ref().map(|playing| playing.next_at);
        [menu, clock, self.auto_at, self.play_at, self.title_due, script].into_iter().flatten().min()
    }

    /// Adds a message of the program to the log; `{action}` in the text becomes the key of that action.
    pub(crate) fn say(&mut self, severity: Severity, text: impl Into<String>) {
        let at_s = self.uptime_s();
        let text = text.into();
        let text = self.keymap.in_words(&text);
        self.log.add(at_s, severity, "app", None, text);
        if severity == Severity::Error {
            self.unread.insert(self.log.total());
        }
        self.dirty.frame = true;
    }

    /// Adds a message that Enter opens, such as a warning about what was opened.
    pub(crate) fn say_to_read(&mut self, severity: Severity, text: impl Into<String>) {
        self.say(severity, text);
        self.unread.insert(self.log.total());
    }

    /// Says the warnings of the start of the program, once.
    pub(crate) fn say_warnings(&mut self) {
        for warning in std::mem::take(&mut self.warnings) {
            self.say_to_read(Severity::Warning, warning);
        }
    }

    /// Marks the whole screen for immediate drawing.
    pub(crate) const fn touch(&mut self) {
        self.dirty.frame = true;
        self.dirty.urgent = true;
    }

    /// Returns the item of `items` that is selected after a move from the item `at`; see
    /// [`crate::app::navigate::moved`].
    pub(crate) fn moved(items: &[Item], at: Option<ItemId>, go: Motion, page: usize) -> Option<ItemId> {
        crate::app::navigate::moved(items, at, go, page)
    }
}
