//! All input and output of the workbench: terminal, signals, frames, runs, sessions, files. The only module that uses
//! tokio.
//!
//! ```text
//!  terminal input --.                                     .-> run threads --.
//!  signals ---------+--> one loop (one thread) -- effects +-> helper threads|
//!  timers ----------'      update, then at most one frame '-> session writer|
//!        ^------------------ sink (bounded), results (bounded) <-------------'
//! ```

pub mod adopted;
pub mod clipboard;
pub mod crash;
pub mod decode;
pub mod evaluate;
pub mod event_loop;
pub mod events;
pub mod follow;
pub mod frames;
pub mod helpers;
pub mod input;
pub mod kept_look;
pub mod listing;
pub mod open;
mod open_file;
pub mod open_scenario;
mod recordings;
pub mod report;
pub mod saved_plans;
pub mod signals;
mod sweep_tables;
pub mod terminal;
pub mod trace;

use crate::app::action::Fact;
use crate::app::effect::Source;
use crate::app::keymap::Keymap;
use crate::app::pane::PaneTable;
use crate::app::{App, AppOptions, Look, Signs};
use event_loop::Shell;
pub use event_loop::View;
use helpers::{Finished, Helpers};
use lightbay_core::clock::{Clock, SystemClock};
use lightbay_core::worker::Launcher;
use lightbay_engines::{AnyPlan, AnyScenario};
use lightbay_sessions::Places;
use lightbay_widgets::{GlyphSet, Palette, Theme};
use open::Opener;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;

/// Scenario, plan or other source that the workbench opens first.
#[derive(Debug)]
pub enum First {
    /// A source that has not been read yet.
    Source(Source),
    /// A scenario and its source.
    Scenario(AnyScenario, String),
    /// A plan and its source.
    Plan(AnyPlan, String),
}

/// Everything that the workbench needs at its start.
#[derive(Debug)]
pub struct Opening {
    /// Standard output of the caller.
    pub out: File,
    /// Standard error of the caller, for the report of a crash.
    pub err: Option<File>,
    /// Scenario, plan or other source to open first.
    pub first: First,
    /// Method to start at once; the empty name means the default method.
    pub solve: Option<String>,
    /// Threads for all runs together.
    pub threads: usize,
    /// Starts solver processes of runs.
    pub launcher: Option<Arc<dyn Launcher>>,
    /// Palette and characters of the screen.
    pub theme: Theme,
    /// Palette and characters without the choices that were made on the screen.
    pub base: (Palette, GlyphSet),
    /// `true` if the program queries the background colour of the terminal.
    pub ask_background: bool,
    /// `true` if the mouse is captured.
    pub mouse: bool,
    /// Signs outside the screen that the user wants.
    pub signs: Signs,
    /// Folders of this user.
    pub places: Places,
    /// Version of the program.
    pub version: &'static str,
    /// Function that returns the panes of a kind.
    pub panes: PaneTable,
    /// Key bindings.
    pub keymap: Keymap,
    /// Warnings for the log.
    pub warnings: Vec<String>,
    /// `true` if the workbench shows the first steps.
    pub first_steps: bool,
}

/// Outcome of the workbench.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Exit code.
    pub code: u8,
    /// Message for the shell; `None` if there is none.
    pub message: Option<String>,
}

/// Runs the workbench until the user quits.
///
/// # Errors
/// If no terminal exists, or the system cannot provide a thread, a file descriptor or a signal handler.
pub fn run(opening: Opening, view: impl View) -> io::Result<Ended> {
    let _log = trace::start(&opening.places.logs());
    report::install_hook(std::thread::current().id(), opening.places.logs(), opening.version, opening.err);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().enable_io().build()?;
    let _entered = runtime.enter();
    let env = |name: &str| std::env::var_os(name);
    let look = Look::new(
        opening.theme.palette,
        opening.theme.depth,
        opening.theme.background,
        opening.theme.glyphs.set,
        opening.mouse,
    );
    let now = Instant::now();
    let options = AppOptions {
        version: opening.version,
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        panes: opening.panes,
        look,
        threads: (opening.threads, std::thread::available_parallelism().map_or(1, usize::from)),
        folder: std::env::current_dir().unwrap_or_default(),
        title: true,
        keymap: opening.keymap,
    };
    let (helpers, results) = Helpers::start()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let tell = helpers.sender();
    let notify = Arc::new(move |saving| {
        // The session writer calls this function and must not be blocked.
        let _ = tell.try_send(Finished::Fact(Fact::Saving(saving)));
    });
    let opener = Opener { places: opening.places, clock: Arc::clone(&clock), notify, desks: Arc::default() };
    let tty = terminal::keyboard()?;
    let signals = signals::Signals::listen()?;
    let screen =
        terminal::Screen::enter(opening.out, tty.try_clone()?, opening.mouse, opening.ask_background)?;
    let reader = input::InputReader::start(tty.try_clone()?)?;
    let remote = env("SSH_CONNECTION").is_some();
    let mut app = App::new(options, now);
    app.signs = opening.signs;
    app.warnings = opening.warnings;
    app.first_steps = opening.first_steps;
    let mut shell = Shell {
        app,
        view,
        screen,
        tty,
        reader: Some(reader),
        signals,
        frames: frames::Frames::new(if remote { 5 } else { 10 }),
        evaluator: evaluate::Evaluator::new(helpers.sender(), clock),
        helpers,
        results,
        opener,
        current: None,
        wake: Arc::new(Notify::new()),
        between: clipboard::Between::of(env),
        threads: opening.threads,
        launcher: opening.launcher,
        base: opening.base,
        solve: opening.solve,
        request: 0,
        events_wait: false,
        copy_area: None,
        resumed_at: None,
        ending: None,
        terminal_lost: false,
        closing: Vec::new(),
    };
    shell.begin(opening.first);
    let ended = runtime.block_on(shell.run());
    Ok(ended)
}

impl<V: View> Shell<V> {
    /// Starts opening the first scenario, plan or session; the first frame does not wait for it.
    fn begin(&mut self, first: First) {
        match first {
            First::Source(source) => {
                self.app.start.opening = match &source {
                    Source::Last | Source::Nothing => None,
                    Source::File(path) => Some(path.display().to_string()),
                    Source::Preset(name) | Source::Session(name) => Some(name.clone()),
                };
                self.open(source);
            }
            First::Scenario(scenario, source) => {
                self.app.start.opening = Some(source.clone());
                self.hand_in(source.clone(), move |opener| opener.scenario(scenario, &source, Vec::new()));
            }
            First::Plan(plan, source) => {
                self.app.start.opening = Some(source.clone());
                self.hand_in(source.clone(), move |opener| opener.plan(plan, &source, Vec::new()));
            }
        }
    }

    fn hand_in(&mut self, source: String, make: impl FnOnce(&Opener) -> open::Bundle + Send + 'static) {
        self.request += 1;
        let (opener, request) = (self.opener.clone(), self.request);
        self.helpers.spawn("open", move || {
            let bundle = Box::new(make(&opener));
            Finished::Opened { source, request, outcome: Ok(Some(bundle)) }
        });
    }
}

#[cfg(test)]
mod tests;
