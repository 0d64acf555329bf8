//! Work to be done outside: plain data that the state hands to the runtime.

use crate::app::plans::PlanRef;
use crate::app::work::Setup;
use lightbay_core::event::RunId;
use lightbay_core::param::{ParamValue, Setting};
use lightbay_core::run::Common;
use lightbay_core::standing::Findings;
use lightbay_engines::AnyScenario;
use lightbay_engines::sweep::Sweep;
use ratatui::layout::Rect;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Something to do outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start a method, or let it wait for the running one of the same method.
    StartRun(RunRequest),
    /// Tell a run to stop; its best plan is kept.
    StopRun(RunId),
    /// Pause or resume a run.
    PauseRun {
        /// The run to pause or resume.
        run: RunId,
        /// Pause (true) or resume.
        paused: bool,
    },
    /// Pass a live change to a running method.
    EditRun {
        /// The run to change.
        run: RunId,
        /// Knob.
        name: String,
        /// Value now.
        value: ParamValue,
    },
    /// Solve the cells of a sweep in the background.
    StartSweep(SweepRequest),
    /// Tell the sweep that works to stop.
    StopSweep,
    /// Evaluate an edited list off the loop.
    Evaluate(Evaluation),
    /// Check a plan off the loop.
    Check {
        /// Number of the plan.
        number: u64,
        /// The plan.
        plan: PlanRef,
        /// Also what may take long.
        exact: bool,
    },
    /// Write a file off the loop.
    Export(ExportJob),
    /// Read a plan of the session from disk.
    LoadPlan {
        /// Its number in the session.
        number: u64,
    },
    /// Give a plan that no run reported a number and put it into the session.
    KeepPlan {
        /// The plan.
        plan: PlanRef,
        /// Description of the edit or file that it came from.
        source: String,
    },
    /// Write a plan of a run to disk even if a better one follows at once: it was marked.
    SavePlan {
        /// Its number.
        number: u64,
        /// The plan.
        plan: PlanRef,
    },
    /// Remember what the screen shows, so that it comes back.
    Remember(Box<Remembered>),
    /// Write everything to disk now and report it.
    SaveSession,
    /// Go on saving below another folder, with everything saved so far.
    SaveTo(PathBuf),
    /// Open a scenario, a plan, a saved session or a preset off the loop.
    Open(Source),
    /// Read a file of another tool off the loop.
    Import {
        /// Name of the format.
        format: String,
        /// Files.
        paths: Vec<PathBuf>,
    },
    /// Put a text on the clipboard of the person.
    Copy(String),
    /// Put the cells of a rectangle on the clipboard of the person.
    CopyArea(Rect),
    /// Set the title of the terminal.
    SetTitle(String),
    /// Capture the mouse or let it go.
    CaptureMouse(bool),
    /// Write every cell again.
    Repaint,
    /// Give the terminal back and stop until the shell continues.
    Suspend,
    /// Save everything, give the terminal back and end with this code.
    Quit {
        /// Exit code.
        code: u8,
    },
}

/// Work to be done outside, in order.
pub type Effects = Vec<Effect>;

/// A method to start.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// Input.
    pub scenario: AnyScenario,
    /// Its hash.
    pub scenario_sha256: String,
    /// Method.
    pub method: String,
    /// Values for its own knobs.
    pub params: Vec<(String, ParamValue)>,
    /// Seed and limits.
    pub common: Common,
    /// Plan to start from, with its number.
    pub hot_start: Option<(u64, PlanRef)>,
    /// `true` if the running one of the same method is told to stop.
    pub replace: bool,
}

/// A sweep to solve.
#[derive(Clone, Debug)]
pub struct SweepRequest {
    /// Number of the request, which its rows come back with.
    pub key: u64,
    /// Knob, values and methods to solve.
    pub sweep: Arc<Sweep>,
}

impl PartialEq for SweepRequest {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.sweep.id() == other.sweep.id()
    }
}

/// An edited list to evaluate.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Number of the question; only the newest answer counts.
    pub key: u64,
    /// Input.
    pub scenario: AnyScenario,
    /// Method that evaluates.
    pub method: String,
    /// The plan it starts from, if it needs one.
    pub base: Option<PlanRef>,
    /// Settings, one set per variant, with its name.
    pub variants: Vec<(&'static str, Vec<(String, ParamValue)>)>,
}

/// Content of a file to write.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportSubject {
    /// A scenario.
    Scenario(AnyScenario),
    /// A plan.
    Plan(PlanRef),
    /// A text that is ready, such as a comparison.
    Text(String),
}

/// A file to write.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportJob {
    /// Content of the file.
    pub subject: ExportSubject,
    /// The second subject, for formats that take one.
    pub against: Option<PlanRef>,
    /// Name of the format.
    pub format: String,
    /// Its knobs, where they are not as usual.
    pub settings: Vec<Setting>,
    /// File or, for formats of several files, folder.
    pub path: PathBuf,
    /// `true` if an existing file may be replaced.
    pub overwrite: bool,
}

/// Something to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A scenario or plan file.
    File(PathBuf),
    /// A built-in scenario.
    Preset(String),
    /// A saved session.
    Session(String),
    /// The session used last, or the first screen if there is none.
    Last,
    /// The first screen.
    Nothing,
}

/// State of the screen that comes back when a session is opened again.
#[derive(Clone, Debug, PartialEq)]
pub struct Remembered {
    /// File, preset or session that the scenario was read from, as the user wrote it.
    pub source: String,
    /// All settings.
    pub now: Setup,
    /// Settings of the newest solve.
    pub solved: Option<Setup>,
    /// Marked plans.
    pub marked: Vec<u64>,
    /// Baseline.
    pub baseline: Option<u64>,
    /// Plan chosen by a person.
    pub shown: Option<u64>,
    /// Number of the pane with the focus.
    pub pane: u8,
    /// The best plan, for the list of sessions; not read back.
    pub best: Option<(u64, PlanRef)>,
    /// What the checker found of plans, by number; the rows of the plans have it when they are read back.
    pub findings: BTreeMap<u64, Findings>,
}
