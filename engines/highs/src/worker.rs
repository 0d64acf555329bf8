//! Solves in a solver process, which can be killed in stages that HiGHS cannot interrupt.
//!
//! The program starts itself again with a hidden first argument and calls [`serve`] there; the parent sends the model
//! over a pipe and receives the same events as from a solver that runs inside lightbay, see [`solve`].
//!
//! ```text
//! run's thread: solve -- job, interrupt, better points --> standard input --> listening thread
//!        SolverListener <-- events, last word -- standard output <-- solving thread (16 MB stack)
//! ```
//!
//! The solver process ends at once when its input ends, and on Linux also when the thread that started it ends. Output
//! that a library prints never mixes with the messages of the solver process.

mod frame;
mod helper;
mod remote;
mod serve;

pub use frame::FrameError;
pub use remote::{Ending, HelperError, explain, solve};
pub use serve::{ServeError, serve};

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Starts a program as a solver process.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    arguments: Vec<OsString>,
    name: Option<OsString>,
    own_group: bool,
    errors_shared: bool,
}

impl Launcher {
    /// Creates a launcher from a program and the arguments with which it calls [`serve`]. The output that the solver
    /// process prints is discarded, unless [`Self::errors_shared`] is called.
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            name: None,
            own_group: false,
            errors_shared: false,
        }
    }

    /// Sets the name shown in process lists, if it differs from the name of the program.
    #[must_use]
    pub fn named(self, name: impl Into<OsString>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Puts every solver process into its own process group, so that signals from the keyboard and job control of the
    /// shell do not reach it. Use this for a parent that handles these signals itself and that suspends its solver
    /// processes before it is suspended. Without this setting, solver processes belong to the process group of the
    /// parent, and stop and continue together with the parent.
    #[must_use]
    pub fn own_group(self) -> Self {
        Self { own_group: true, ..self }
    }

    /// Sends the output that the solver process prints to the standard error output of the parent, which must be a log
    /// file, because the output would disturb a terminal.
    #[must_use]
    pub fn errors_shared(self) -> Self {
        Self { errors_shared: true, ..self }
    }
}

impl lightbay_core::worker::Launcher for Launcher {
    fn launch(&self) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(if self.errors_shared { Stdio::inherit() } else { Stdio::null() });
        if let Some(name) = &self.name {
            command.arg0(name);
        }
        if self.own_group {
            command.process_group(0);
        }
        command.spawn()
    }
}
