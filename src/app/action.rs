//! Everything that can happen: what a person asks for, what comes from outside, and what drawing found.

use crate::app::drawn::Drawn;
use crate::app::effect::{ExportJob, Remembered};
use crate::app::key::Key;
use crate::app::layer::Preview;
use crate::app::pane::{ItemId, PaneId};
use crate::app::plans::{PlanEntry, PlanRef};
use lightbay_core::event::{Event, RunId, Severity};
use lightbay_core::standing::Standing;
use lightbay_engines::AnyScenario;
use lightbay_engines::sweep::{SweepRow, Walked};
use lightbay_widgets::{Background, ColorDepth};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A key was pressed.
    Key(Key),
    /// A text was pasted.
    Paste(String),
    /// The mouse did something.
    Mouse(Mouse),
    /// A command was given, by key, palette or mouse.
    Do(Command),
    /// An item was chosen with the mouse.
    Select {
        /// Pane of the item.
        pane: PaneId,
        /// The item; `None` only takes the focus.
        item: Option<ItemId>,
    },
    /// A line of the layer on top was chosen with the mouse.
    SelectLine(usize),
    /// The terminal has another size.
    Resize(u16, u16),
    /// A frame was drawn.
    Drawn(Drawn),
    /// Time went by: a moment asked for by [`crate::app::App::next_wake`] has come.
    Tick,
    /// Something outside happened.
    Fact(Fact),
}

/// Command that a person can give. Every variant has an entry in the action table.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Solve with the current parameters.
    Solve {
        /// Method; `None` is the one of the form.
        method: Option<String>,
        /// From the best plan known (true) or from scratch.
        warm: bool,
    },
    /// Solve for several values of a knob by several methods: `name=values`, perhaps methods.
    Sweep(String),
    /// Stop the chosen run or all, keep the best plan.
    Stop,
    /// Pause or resume the chosen run or all.
    TogglePause,
    /// Stop; the second time within two seconds leave.
    Interrupt,
    /// Solve by itself after every change, or not.
    ToggleAuto,
    /// Change a knob: `name=value`.
    Set(String),
    /// Choose the method that is started.
    ChooseMethod(String),
    /// Edit what is selected.
    Edit,
    /// Take a change of a knob back.
    Undo,
    /// Make it again.
    Redo,
    /// Mark or unmark the plan selected.
    Mark,
    /// Make the plan selected the baseline, or no longer.
    Baseline,
    /// Show two plans side by side.
    Compare,
    /// Check the plan shown.
    Check {
        /// Also what may take long.
        exact: bool,
    },
    /// Show a plan by number.
    ShowPlan(u64),
    /// Show the best plan, whichever it is.
    FollowBest,
    /// Ask where to write the plan shown.
    Write,
    /// Write the plan shown: format and perhaps a path.
    Export(String),
    /// Write everything to disk now.
    SaveSession,
    /// Go on saving below another folder.
    SaveTo(String),
    /// Open a file.
    Open(String),
    /// Open a preset.
    New(String),
    /// Read a file of another tool: format and files.
    Import(String),
    /// Go back to the first screen.
    ShowStart,
    /// Give the focus to a pane.
    Focus(PaneId),
    /// Give the focus to the pane of the kind that is called so.
    FocusNamed(String),
    /// Explain a word of the screens.
    Explain(String),
    /// Give the focus to the next (1) or previous (-1) pane.
    Cycle(i8),
    /// Give a pane the whole screen, or take it back.
    Zoom,
    /// Keep the large pane where it is, or let it follow the focus.
    Pin,
    /// Move the slider of the focused pane down (-1) or up (1); without one change the width of the side bar.
    Resize(i8),
    /// Back to the usual widths.
    ResetSizes,
    /// Move in the pane or list.
    Motion(Motion),
    /// Previous (-1) or next (1) interval, link or snapshot.
    Step(i8),
    /// Go through the steps of the pane by itself, or stop that.
    Play,
    /// Stretch (1) or shrink (-1) the axis, or fit it (0).
    Axis(i8),
    /// Freeze or follow.
    Freeze,
    /// Open or inspect what is selected.
    Inspect,
    /// Fold, unfold or go to the next form of the pane.
    Fold,
    /// Lay something over the pane, or take it away.
    Overlay,
    /// Copy the sentence about the selected item.
    Copy,
    /// Copy the pane as text.
    CopyPane,
    /// Show the keys of the place.
    Help,
    /// Show all actions.
    Palette,
    /// Show the log.
    Log,
    /// Show all runs.
    Runs,
    /// Show all panes.
    Panes,
    /// Next palette of colours.
    NextPalette,
    /// Next set of glyphs.
    NextGlyphs,
    /// Capture the mouse, or let it go.
    ToggleMouse,
    /// Write every cell again.
    Repaint,
    /// Give the terminal back until the shell goes on.
    Suspend,
    /// One step back.
    Back,
    /// Close the pop-up, else leave.
    Quit,
    /// Something that only a layer understands.
    Layer(LayerCommand),
}

/// A way to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named by where it leads")]
pub enum Motion {
    Left,
    Right,
    Up,
    Down,
    First,
    Last,
    HalfUp,
    HalfDown,
    PageUp,
    PageDown,
}

/// Command that layers understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerCommand {
    /// Take what is chosen or typed.
    Accept,
    /// Complete what is typed from the chosen line.
    Complete,
    /// The next choice, format, pair.
    Next,
    /// The one before.
    Previous,
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// One more at the edited entry.
    Raise,
    /// One less.
    Lower,
    /// The answer no.
    No,
    /// The answer yes: the last one.
    Yes,
    /// The answer of this number, from 0.
    Answer(u8),
}

/// Input from the mouse, with the cell it was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// Sort of input.
    pub what: MouseKind,
    /// Column.
    pub x: u16,
    /// Row.
    pub y: u16,
}

/// Sorts of mouse input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// Left button pressed.
    Press,
    /// Left button moved while pressed.
    Drag,
    /// Left button let go.
    Release,
    /// Right button pressed.
    RightPress,
    /// Wheel towards the person (1) or away (-1).
    Wheel(i8),
}

/// An event of a run as data that can be compared: equal if it is the same event of the same run.
#[derive(Clone, Debug)]
pub struct Heard {
    /// The event itself.
    pub event: Arc<Event>,
    /// Number in the session of the plan that the event brings.
    pub plan: Option<u64>,
}

impl Heard {
    /// An event, with the session's number of the plan it brings.
    pub fn new(event: Event, plan: Option<u64>) -> Self {
        Self { event: Arc::new(event), plan }
    }
}

impl PartialEq for Heard {
    fn eq(&self, other: &Self) -> bool {
        (self.event.run, self.event.seq, self.plan) == (other.event.run, other.event.seq, other.plan)
    }
}

/// Accepted request to start a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Submitted {
    /// Number of the run.
    pub run: RunId,
    /// Method.
    pub method: String,
    /// Hash of its scenario.
    pub scenario_sha256: String,
    /// `true` if it waits for the running one of its method.
    pub queued: bool,
    /// Number of the plan it starts from.
    pub hot_start: Option<u64>,
}

/// A scenario or session that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// File, preset or session that it was read from, as the user wrote it.
    pub source: String,
    /// The input.
    pub scenario: AnyScenario,
    /// Plans: of the file, or of the saved session.
    pub plans: Vec<PlanEntry>,
    /// Events of the saved session, oldest first.
    pub events: Vec<Heard>,
    /// Setup and choices of the saved session, to be shown again; `None` if it was not opened from a session.
    pub remembered: Option<Box<Remembered>>,
    /// The session it is saved in.
    pub session: SessionView,
    /// Messages about it for the log: summaries of imports, warnings.
    pub notes: Vec<(Severity, String)>,
    /// Start this method at once; the empty name is the usual one.
    pub solve: Option<String>,
}

/// State of the session as the screen shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionView {
    /// Its name; empty if nothing is saved.
    pub name: String,
    /// Number of the open scenario: whatever another one says of saving is about another session.
    pub key: u64,
    /// Name of the session whose plans are shown here and that somebody else has open, and who.
    pub beside: Option<String>,
    /// The process that has it open and works on runs that are shown here.
    pub elsewhere: Option<AtWork>,
    /// Reason that nothing can be saved at the moment; `None` if saving works.
    pub failing: Option<String>,
    /// `true` if anything was found or kept here that would be lost.
    pub used: bool,
    /// Number of times that its folder was made again after somebody had removed it.
    pub made_again: u64,
    /// Reason that the list of recent sessions is not brought up to date; `None` if it is.
    pub list_problem: Option<String>,
}

/// The process that has the session open whose plans are shown here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWork {
    /// The process in words.
    pub holder: String,
    /// Its runs that had not ended when the session was opened here.
    pub runs: BTreeSet<RunId>,
}

/// Events of runs of another process since the last time.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteEvents {
    /// Number of the open scenario that shows them.
    pub key: u64,
    /// The events, oldest first, without plans.
    pub events: Vec<Heard>,
    /// Set while the process still has the session open.
    pub held: bool,
}

/// Report on how saving an open scenario goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saving {
    /// Number of the open scenario that says it.
    pub key: u64,
    /// Name of the session; empty as long as none could be made.
    pub name: String,
    /// Reason that nothing can be saved at the moment; `None` if saving works.
    pub failing: Option<String>,
    /// Number of times that the folder was made again because somebody had removed it.
    pub made_again: u64,
    /// Reason that the list of recent sessions is not brought up to date; `None` if it is.
    pub list_problem: Option<String>,
}

/// A saved session on the first screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Recent {
    /// Its name.
    pub name: String,
    /// Kind of its scenario.
    pub kind: String,
    /// Method of its best plan.
    pub method: String,
    /// Name and value of its objective, if it has a plan.
    pub objective: Option<(String, f64)>,
    /// Figures of its best plan.
    pub metrics: std::collections::BTreeMap<String, f64>,
    /// Status of its best plan, in words.
    pub status: String,
    /// Time since its last change, in words.
    pub age: String,
}

/// Known properties of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Colours it shows.
    pub depth: ColorDepth,
    /// Its background.
    pub background: Background,
}

/// Something outside that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// Something was opened.
    Opened(Box<Opened>),
    /// Something could not be opened.
    OpenFailed {
        /// File, preset or session, as the user wrote it.
        source: String,
        /// All problems, one line each.
        problems: Vec<String>,
    },
    /// Saved sessions were listed.
    Recent(Vec<Recent>),
    /// A run was accepted.
    Submitted(Submitted),
    /// A run was refused before it began.
    Refused {
        /// Method.
        method: String,
        /// All problems, one line each.
        problems: Vec<String>,
    },
    /// A run said something.
    Event(Heard),
    /// Runs of another process that has the session open said something, or it ended.
    RemoteEvents(RemoteEvents),
    /// Events that were merged and dropped because the screen was slower than the runs.
    Lost {
        /// Newer values took their place.
        merged: u64,
        /// Nothing took their place.
        dropped: u64,
    },
    /// An edited list was evaluated.
    Evaluated {
        /// Number of the question.
        key: u64,
        /// One result per variant.
        previews: Vec<Preview>,
    },
    /// A plan was checked.
    Checked {
        /// Number of the plan.
        number: u64,
        /// Its standing; `None` if it did not pass.
        standing: Option<Standing>,
        /// The report, first line in short.
        lines: Vec<String>,
    },
    /// A plan was read again.
    PlanLoaded {
        /// Its number.
        number: u64,
        /// The plan, or why not.
        plan: Result<PlanRef, String>,
    },
    /// A plan from an edit was given a number.
    Kept {
        /// Its number.
        number: u64,
        /// The plan.
        plan: PlanRef,
        /// Description of the edit or file that it came from.
        source: String,
    },
    /// A cell of a sweep was solved.
    SweepRow {
        /// Number of the request.
        key: u64,
        /// The row.
        row: Box<SweepRow>,
    },
    /// A sweep ended.
    SweepEnded {
        /// Number of the request.
        key: u64,
        /// The way it ended, or the reason that it could not go on.
        outcome: Result<Walked, String>,
    },
    /// A file was written.
    Exported {
        /// Path of the file or folder.
        path: PathBuf,
        /// Size in bytes, all files together.
        bytes: u64,
        /// Files that were written.
        files: usize,
        /// Those of them that take a change back.
        rollbacks: usize,
        /// Remarks on them beside their content, one sentence each.
        remarks: Vec<String>,
    },
    /// A file is in the way.
    InTheWay(ExportJob),
    /// A file could not be written, or a copy could not be made.
    Failed(String),
    /// The state of saving has changed.
    Saving(Saving),
    /// Something worth a line.
    Note(Severity, String),
    /// The abilities of the terminal became known.
    Terminal(Abilities),
    /// The program was stopped by the shell and goes on.
    Resumed,
    /// A termination signal or the end of the terminal.
    Hangup {
        /// Exit code.
        code: u8,
    },
}
