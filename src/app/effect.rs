//! Effects: plain data that the state passes to the runtime as requests for work.

use crate::app::RunProgress;
use crate::app::plans::{PlanLabel, PlanRef};
use crate::app::source::SourceScenario;
use crate::app::sweeps::SavedSweep;
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

/// A request to the runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start a method, or let it wait for the active run of the same method.
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
        /// Name of the knob.
        name: String,
        /// New value.
        value: ParamValue,
    },
    /// Solve the cells of a sweep in the background.
    StartSweep(SweepRequest),
    /// Tell the active sweep to stop.
    StopSweep,
    /// Evaluate an edited list on another thread.
    Evaluate(Evaluation),
    /// Check a plan on another thread.
    Check {
        /// Number of the plan.
        number: u64,
        /// The plan to be checked.
        plan: PlanRef,
        /// Also run checks that may take long.
        exact: bool,
    },
    /// Write a file on another thread.
    Export(ExportJob),
    /// Read a plan of the session from disk.
    LoadPlan {
        /// Number of the plan in the session.
        number: u64,
    },
    /// Assign a number to a plan that no run reported, and add it to the session.
    KeepPlan {
        /// The plan to be added.
        plan: PlanRef,
        /// Description of the edit or file from which it came.
        source: String,
    },
    /// Write a marked plan of a run to disk, even if the run finds a better plan immediately afterwards.
    SavePlan {
        /// Number of the plan.
        number: u64,
        /// The plan to be written.
        plan: PlanRef,
    },
    /// Save the state of the screen, so that it can be restored.
    Remember(Box<Remembered>),
    /// Write everything to disk now and report it.
    SaveSession,
    /// Continue saving below another folder, with everything saved so far.
    SaveTo(PathBuf),
    /// Open a scenario, a plan, a saved session or a preset on another thread.
    Open(Source),
    /// Read files of another tool on another thread.
    Import {
        /// Name of the format; `None` if the content of the files shows it.
        format: Option<String>,
        /// Files to read.
        paths: Vec<PathBuf>,
        /// Parameters of the format.
        settings: Vec<Setting>,
    },
    /// Give the session another name.
    RenameSession(String),
    /// Store a note on the session; an empty note removes it.
    NoteSession(String),
    /// Keep for the next start that the first steps were shown.
    KeepFirstSteps,
    /// Copy a text to the user's clipboard.
    Copy(String),
    /// Copy the text in a rectangle of the screen to the user's clipboard.
    CopyArea(Rect),
    /// Check whether keys can be recorded to a file.
    CheckRecording(PathBuf),
    /// Read a script of keys.
    ReadScript(PathBuf),
    /// List the files of a folder, for the completion of a path.
    ListFolder(PathBuf),
    /// Show the progress of runs in the title bar or task bar.
    SetProgress(RunProgress),
    /// Ring the bell of the terminal.
    Bell,
    /// Keep the present palette and glyphs for the next start.
    KeepLook,
    /// Set the title of the terminal.
    SetTitle(String),
    /// Capture or release the mouse.
    CaptureMouse(bool),
    /// Redraw every cell.
    Repaint,
    /// Release the terminal and suspend until the shell continues the program.
    Suspend,
    /// Save everything, release the terminal and exit with this code.
    Quit {
        /// Exit code.
        code: u8,
    },
}

/// Requests to the runtime, in the order of execution.
pub type Effects = Vec<Effect>;

/// A method to start.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// Scenario to solve.
    pub scenario: AnyScenario,
    /// Hash of the scenario.
    pub scenario_sha256: String,
    /// Method to start.
    pub method: String,
    /// Values for the method's own knobs.
    pub params: Vec<(String, ParamValue)>,
    /// Seed, time limit and gap.
    pub common: Common,
    /// Plan to start from, with its number.
    pub hot_start: Option<(u64, PlanRef)>,
    /// `true` if the active run of the same method is told to stop.
    pub replace: bool,
}

/// A sweep to solve.
#[derive(Clone, Debug)]
pub struct SweepRequest {
    /// Number of the request; the rows of the sweep carry the same number.
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
    /// Number of the request; only the newest answer is used.
    pub key: u64,
    /// Scenario of the plan that is edited.
    pub scenario: AnyScenario,
    /// Method that evaluates.
    pub method: String,
    /// The plan from which the method starts, if it needs a plan.
    pub base: Option<PlanRef>,
    /// One set of settings per variant, with the name of the variant.
    pub variants: Vec<(&'static str, Vec<(String, ParamValue)>)>,
}

/// Content of a file to write.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportSubject {
    /// A scenario.
    Scenario(AnyScenario),
    /// A plan.
    Plan(PlanRef),
    /// A finished text, such as a comparison.
    Text(String),
}

/// A file to write.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportJob {
    /// Content of the file.
    pub subject: ExportSubject,
    /// The second scenario or plan, for formats that compare two.
    pub against: Option<PlanRef>,
    /// Name of the format.
    pub format: String,
    /// Knobs of the format that differ from their defaults.
    pub settings: Vec<Setting>,
    /// File or, for formats of several files, folder.
    pub path: PathBuf,
    /// `true` if an existing file may be replaced.
    pub overwrite: bool,
}

/// A scenario, plan or session to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A scenario or plan file.
    File(PathBuf),
    /// A built-in scenario, by its name.
    Preset(String),
    /// A saved session, by its name.
    Session(String),
    /// The session used last, or the start screen if there is none.
    Last,
    /// Nothing: the start screen is shown.
    Nothing,
}

/// State of the screen that is restored when a session is opened again.
#[derive(Clone, Debug, PartialEq)]
pub struct Remembered {
    /// File, preset or session that the scenario was read from, as the user wrote it.
    pub source: String,
    /// The scenario in the file `source`; only reopening a session sets this field.
    pub source_scenario: SourceScenario,
    /// Present settings.
    pub now: Setup,
    /// Settings of the newest solve.
    pub solved: Option<Setup>,
    /// Numbers of the marked plans.
    pub marked: Vec<u64>,
    /// Number of the baseline plan.
    pub baseline: Option<u64>,
    /// Number of the plan that the user chose to display.
    pub shown: Option<u64>,
    /// Number of the pane with the focus.
    pub pane: u8,
    /// The best plan with its number, for the list of sessions; reopening a session does not restore this field.
    pub best: Option<(u64, PlanRef)>,
    /// Results of the checker by plan number; when the session is reopened, they are added to the rows of the plans.
    pub findings: BTreeMap<u64, Findings>,
    /// Sweeps with their points.
    pub sweeps: Vec<SavedSweep>,
    /// Names and notes of plans, by number.
    pub labels: BTreeMap<u64, PlanLabel>,
    /// Numbers of the plans from which runs were started, by run.
    pub started_from: BTreeMap<RunId, u64>,
}
