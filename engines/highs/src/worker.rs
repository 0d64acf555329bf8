//! Solving in a helper process, which can be killed in the stages that HiGHS cannot leave.
//!
//! The program starts itself again with a hidden first argument and calls [`serve`] there; the parent sends the
//! model over a pipe and hears the same events as in its own process, see [`solve`].
//!
//! ```text
//! run's thread: solve -- job, interrupt, better points --> standard input --> listening thread
//!        SolverListener <-- events, last word -- standard output <-- solving thread (16 MB stack)
//! ```
//!
//! The helper ends when its input ends, at once and whatever it is doing, and on Linux also with the thread that
//! started it. What a library prints there never gets into the answers.

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

/// Starts a program as helper process.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    arguments: Vec<OsString>,
    name: Option<OsString>,
    own_group: bool,
    errors_shared: bool,
}

impl Launcher {
    /// A program and the arguments with which it calls [`serve`]. What it prints is thrown away.
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

    /// The name under which lists of processes show it, where that is not the program's own.
    #[must_use]
    pub fn named(self, name: impl Into<OsString>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Puts every helper into a process group of its own, out of reach of the keyboard's signals and of a shell that
    /// lets the job continue: for a parent that handles both by itself and holds its helpers when it stands still.
    /// Otherwise they stop and continue together with the parent.
    #[must_use]
    pub fn own_group(self) -> Self {
        Self { own_group: true, ..self }
    }

    /// Sends what it prints to the file that the parent's descriptor 2 leads to, which must be a log.
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
