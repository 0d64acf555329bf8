//! Everything that can happen: commands of the user, events from outside, and results of drawing.

use crate::app::drawn::Drawn;
use crate::app::effect::{ExportJob, Remembered};
use crate::app::key::Key;
use crate::app::layer::Preview;
use crate::app::listing::Listing;
use crate::app::pane::{ItemId, PaneId};
use crate::app::plans::{PlanEntry, PlanRef};
use crate::app::sweeps::SweepFile;
use lightbay_core::event::{Event, RunId, Severity};
use lightbay_core::standing::Standing;
use lightbay_engines::AnyScenario;
use lightbay_engines::sweep::{SweepRow, Walked};
use lightbay_widgets::{Background, ColorDepth};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// An event or command that the state processes.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A key was pressed.
    Key(Key),
    /// A text was pasted.
    Paste(String),
    /// The mouse was clicked, dragged or scrolled.
    Mouse(Mouse),
    /// A command was given by key, palette or mouse.
    Do(Command),
    /// An item was chosen with the mouse.
    Select {
        /// Pane of the item.
        pane: PaneId,
        /// The item; `None` if the click only gives the focus to the pane.
        item: Option<ItemId>,
    },
    /// A line of the top layer was chosen with the mouse.
    SelectLine(usize),
    /// The size of the terminal changed.
    Resize(u16, u16),
    /// A frame was drawn.
    Drawn(Drawn),
    /// The time requested by [`crate::app::App::next_wake`] has come.
    Tick,
    /// An event outside the state happened.
    Fact(Fact),
}

/// Command that the user can give. Every variant has an entry in the action table.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Solve with the current parameters.
    Solve {
        /// Method to start; `None` is the method chosen in the form.
        method: Option<String>,
        /// `true`: starts from the best known plan; `false`: starts from scratch.
        warm: bool,
    },
    /// Solve for several values of a knob, by one or more methods: `name=values`, then optionally methods.
    Sweep(String),
    /// Stop the chosen run or all runs; keep the best plan.
    Stop,
    /// Pause or resume the chosen run or all runs.
    TogglePause,
    /// Stop all runs and sweeps; if none is active, or if given again within two seconds, quit.
    Interrupt,
    /// Turn automatic solving after every change on or off.
    ToggleAuto,
    /// Change a knob: `name=value`.
    Set(String),
    /// Choose the method that `r` starts.
    ChooseMethod(String),
    /// Edit the selected item.
    Edit,
    /// Undo a change of a knob.
    Undo,
    /// Redo the change that was undone.
    Redo,
    /// Mark or unmark the selected plan.
    Mark,
    /// Make the selected plan the baseline, or clear the baseline.
    Baseline,
    /// Show two plans side by side.
    Compare,
    /// Check the displayed plan.
    Check {
        /// Also run checks that may take long.
        exact: bool,
    },
    /// Show a plan by number.
    ShowPlan(u64),
    /// Show the plan that has this name.
    ShowPlanNamed(String),
    /// Name the selected plan; `-` removes the name.
    NamePlan(String),
    /// Attach a note to the selected plan; `-` removes the note.
    NotePlan(String),
    /// Show the best plan.
    FollowBest,
    /// Ask where to write the displayed plan.
    Write,
    /// Write the displayed plan: format and optionally a path.
    Export(String),
    /// Write everything to disk now.
    SaveSession,
    /// Continue saving below another folder.
    SaveTo(String),
    /// Open a file, preset or session.
    Open(String),
    /// Open a preset.
    New(String),
    /// Read files of another tool: format, files and parameters of the format.
    Import(String),
    /// Give the session another name.
    RenameSession(String),
    /// Store a note on the session; `-` removes it.
    NoteSession(String),
    /// Go back to the start screen.
    ShowStart,
    /// Give the focus to a pane.
    Focus(PaneId),
    /// Give the focus to the pane of the kind with this name.
    FocusNamed(String),
    /// Explain a term.
    Explain(String),
    /// Give the focus to the next (1) or previous (-1) pane.
    Cycle(i8),
    /// Zoom a pane to the whole screen, or restore it.
    Zoom,
    /// Pin the large pane, or let it follow the focus.
    Pin,
    /// Move the slider of the focused pane down (-1) or up (1); if it has no slider, change the width of the side bar.
    Resize(i8),
    /// Restore the default width of the side bar.
    ResetSizes,
    /// Move in the pane or list.
    Motion(Motion),
    /// Previous (-1) or next (1) interval, link or snapshot.
    Step(i8),
    /// Play the steps of the pane, or stop playing.
    Play,
    /// Stretch (1) or shrink (-1) the axis, or fit it (0).
    Axis(i8),
    /// Freeze the display, or show events of runs again.
    Freeze,
    /// Open or inspect the selected item.
    Inspect,
    /// Fold, unfold or go to the next form of the pane.
    Fold,
    /// Show or hide the overlay of the pane.
    Overlay,
    /// Copy the sentence about the selected item.
    Copy,
    /// Copy the pane as text.
    CopyPane,
    /// Copy the command line that reproduces what is on the screen.
    CopyCommand,
    /// Copy what is selected as JSON.
    CopyJson,
    /// Search for text in the focused pane or pop-up.
    Search,
    /// Go to the next (1) or previous (-1) match of the search.
    Find(i8),
    /// Read the newest message in full.
    ReadMessage,
    /// Record keys to a file.
    Record(String),
    /// End the recording of keys and write the file.
    StopRecording,
    /// Replay a file of keys.
    Script(String),
    /// Show the keys of the focused pane or layer.
    Help,
    /// Show all actions.
    Palette,
    /// Show the log.
    Log,
    /// Show all runs.
    Runs,
    /// Show the list of all panes.
    Panes,
    /// Next palette of colours.
    NextPalette,
    /// Next set of glyphs.
    NextGlyphs,
    /// Capture or release the mouse.
    ToggleMouse,
    /// Write every cell again.
    Repaint,
    /// Suspend the program until the shell continues it.
    Suspend,
    /// Go one step back.
    Back,
    /// Close the pop-up; without a pop-up, quit.
    Quit,
    /// A command that only a layer (such as a pop-up) handles.
    Layer(LayerCommand),
}

/// Movement of the selection in a pane or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each motion is named by its target")]
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

/// Command that layers handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerCommand {
    /// Accept the chosen or typed text.
    Accept,
    /// Complete the typed text from the chosen line.
    Complete,
    /// Go to the next choice, format or pair of plans.
    Next,
    /// Go to the previous choice, format or pair of plans.
    Previous,
    /// Move one line up.
    Up,
    /// Move one line down.
    Down,
    /// Move one page up.
    PageUp,
    /// Move one page down.
    PageDown,
    /// Add one to the edited entry.
    Raise,
    /// Subtract one from the edited entry.
    Lower,
    /// Give the answer no.
    No,
    /// Give the last answer, which is yes.
    Yes,
    /// Give the answer of this number, from 0.
    Answer(u8),
    /// Leave out the figures that are equal in all compared plans, or show them again.
    Differing,
}

/// Input from the mouse, with the cell under the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// Type of the input.
    pub what: MouseKind,
    /// Column of the cell.
    pub x: u16,
    /// Row of the cell.
    pub y: u16,
}

/// Types of mouse input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// The left button was pressed.
    Press,
    /// The left button was held while the mouse moved.
    Drag,
    /// The left button was released.
    Release,
    /// The right button was pressed.
    RightPress,
    /// The wheel was turned towards the user (1) or away (-1).
    Wheel(i8),
}

/// An event of a run that can be compared: two values are equal if they are the same event of the same run.
#[derive(Clone, Debug)]
pub struct Heard {
    /// The event itself.
    pub event: Arc<Event>,
    /// Number of the event's plan in the session.
    pub plan: Option<u64>,
}

impl Heard {
    /// Combines an event with the number of the event's plan in the session.
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
    /// Method of the run.
    pub method: String,
    /// Hash of the run's scenario.
    pub scenario_sha256: String,
    /// `true` if the run waits for the active run of the same method.
    pub queued: bool,
    /// Number of the plan that the run starts from.
    pub hot_start: Option<u64>,
}

/// A scenario or session that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// File, preset or session from which it was read, as the user wrote it.
    pub source: String,
    /// The scenario.
    pub scenario: AnyScenario,
    /// Plans of the file or of the saved session.
    pub plans: Vec<PlanEntry>,
    /// Events of the saved session, oldest first.
    pub events: Vec<Heard>,
    /// Setup and choices of the saved session, to be restored; `None` if no session was opened.
    pub remembered: Option<Box<Remembered>>,
    /// The session in which the scenario is saved.
    pub session: SessionView,
    /// Messages for the log about the opened scenario or session: summaries of imports, warnings.
    pub notes: Vec<(Severity, String)>,
    /// Method to start at once; the empty name means the default method.
    pub solve: Option<String>,
}

/// State of the session, as displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionView {
    /// Name of the session; empty if nothing is saved.
    pub name: String,
    /// Number of the open scenario; reports on saving for a scenario with another number are ignored.
    pub key: u64,
    /// Name of a session that another process has open and whose plans are shown here, with a description of that
    /// process.
    pub beside: Option<String>,
    /// Name of the session `beside`, whose new runs and plans are shown here.
    pub followed: String,
    /// The process that has the session open and runs methods that are shown here.
    pub elsewhere: Option<AtWork>,
    /// Reason that nothing can be saved at the moment; `None` if saving works.
    pub failing: Option<String>,
    /// `true` if a run was started or a plan was added in this program, so that work would be lost without saving.
    pub used: bool,
    /// Number of times that the folder of the session was created again after someone had removed the folder.
    pub made_again: u64,
    /// Reason that the list of recent sessions is not updated; `None` if the list is updated.
    pub list_problem: Option<String>,
    /// `true` if the session was opened again only because it has another name now.
    pub renamed: bool,
}

/// Another process that has the session open whose plans are displayed here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWork {
    /// Description of the process.
    pub holder: String,
    /// Runs of the process that had not ended when the session was opened here.
    pub runs: BTreeSet<RunId>,
}

/// Events and plans of another process since the last report.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteEvents {
    /// Number of the open scenario that shows the runs.
    pub key: u64,
    /// The events, oldest first. Only the ends of runs have their plans.
    pub events: Vec<Heard>,
    /// New and changed plans, with the numbers of the other process.
    pub plans: Vec<PlanEntry>,
    /// Description of the process that has the session open; `None` if no process has the session open.
    pub holder: Option<String>,
}

/// Report on saving an open scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saving {
    /// Number of the open scenario that the report is about.
    pub key: u64,
    /// Name of the session; empty as long as no session could be created.
    pub name: String,
    /// Reason that nothing can be saved at the moment; `None` if saving works.
    pub failing: Option<String>,
    /// Number of times that the session's folder was created again because it had been removed.
    pub made_again: u64,
    /// Reason that the list of recent sessions is not updated; `None` if the list is updated.
    pub list_problem: Option<String>,
}

/// A saved session on the start screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Recent {
    /// Name of the session.
    pub name: String,
    /// Kind of the session's scenario.
    pub kind: String,
    /// Method of the session's best plan.
    pub method: String,
    /// Name and value of the objective, if the session has a plan.
    pub objective: Option<(String, f64)>,
    /// Relative gap of the session's best plan, if there is a bound.
    pub gap: Option<f64>,
    /// `true` if the checker verified the bound of the gap, and the bound holds for every plan.
    pub verified: bool,
    /// Figures of the session's best plan.
    pub metrics: std::collections::BTreeMap<String, f64>,
    /// Status of the session's best plan, in words.
    pub status: String,
    /// Time since the last change of the session, in words.
    pub age: String,
}

/// Known properties of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Colours that the terminal shows.
    pub depth: ColorDepth,
    /// Background of the terminal: dark or light.
    pub background: Background,
}

/// An event from outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A scenario, a plan or a saved session was opened.
    Opened(Box<Opened>),
    /// A scenario, a plan or a saved session could not be opened.
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
        /// Method of the run.
        method: String,
        /// All problems, one line each.
        problems: Vec<String>,
    },
    /// A run reported an event.
    Event(Heard),
    /// Runs of another process that has the session open reported events, or the process ended.
    RemoteEvents(RemoteEvents),
    /// Events that were merged or dropped because the screen was slower than the runs.
    Lost {
        /// Number of events that newer events replaced.
        merged: u64,
        /// Number of events that were dropped without replacement.
        dropped: u64,
    },
    /// An edited list was evaluated.
    Evaluated {
        /// Number of the evaluation request.
        key: u64,
        /// Results of the evaluation, one for each variant of the settings.
        previews: Vec<Preview>,
    },
    /// A plan was checked.
    Checked {
        /// Number of the plan.
        number: u64,
        /// The bounds on the plan, and for each bound whether the checker proved it or a method claims it; `None` if
        /// the plan did not pass the check.
        standing: Option<Standing>,
        /// The report; its first line is a summary.
        lines: Vec<String>,
    },
    /// A plan was read again from disk.
    PlanLoaded {
        /// Number of the plan.
        number: u64,
        /// The plan, or the reason that it cannot be used.
        plan: Result<PlanRef, String>,
    },
    /// A plan from an edit or a file got a number.
    Kept {
        /// Number of the plan.
        number: u64,
        /// The plan that got the number.
        plan: PlanRef,
        /// Description of the edit or file from which it came.
        source: String,
    },
    /// What was to be opened is a folder without tables of a sweep.
    IsFolder(String),
    /// The table of a sweep was read.
    SweepTable {
        /// The file or folder, as the user wrote it.
        source: String,
        /// The table, or the reason that it cannot be read.
        table: Result<SweepFile, String>,
    },
    /// A cell of a sweep was solved.
    SweepRow {
        /// Number of the request.
        key: u64,
        /// The row of the cell.
        row: Box<SweepRow>,
    },
    /// A sweep ended.
    SweepEnded {
        /// Number of the request.
        key: u64,
        /// The result of the sweep, or the reason that it could not continue.
        outcome: Result<Walked, String>,
    },
    /// A file was written.
    Exported {
        /// Path of the file or folder.
        path: PathBuf,
        /// Size in bytes, all files together.
        bytes: u64,
        /// Number of files that were written.
        files: usize,
        /// Number of the written files that contain commands for the rollback.
        rollbacks: usize,
        /// Remarks on the files, one sentence each.
        remarks: Vec<String>,
    },
    /// The file to be written already exists.
    InTheWay(ExportJob),
    /// A file could not be written, a text could not be copied to the clipboard, or another step failed; contains the
    /// message.
    Failed(String),
    /// The state of saving has changed.
    Saving(Saving),
    /// A message for the log.
    Note(Severity, String),
    /// The file of a recording that is to start was looked at.
    RecordingChecked {
        /// Path of the file.
        path: PathBuf,
        /// `true` if the file exists.
        exists: bool,
        /// Reason that the file cannot be written; `None` if it can.
        problem: Option<String>,
    },
    /// A script of keys was read, or could not be read.
    Script {
        /// Name of the file.
        name: String,
        /// Text of the script, or the reason that it could not be read.
        text: Result<String, String>,
    },
    /// The files of a folder were listed.
    Folder(Listing),
    /// The capabilities of the terminal became known.
    Terminal(Abilities),
    /// The shell stopped the program and continues it now.
    Resumed,
    /// A termination signal, or the terminal was closed.
    Hangup {
        /// Exit code.
        code: u8,
    },
}
