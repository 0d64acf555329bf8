//! Runs this program a second time as a solver process: a solver that cannot be interrupted runs in a second process,
//! so that it can be killed at any time.

use crate::cli::exit::Exit;
use lightbay_highs::worker::{self, ServeError};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The first argument of a solver process. Users do not type this argument, so the help does not mention it.
const ARGUMENT: &str = "__solve-in-helper";

/// Path of the running program; if the system supports it, the path stays valid after a newer version replaced the
/// file.
const MYSELF: &str = "/proc/self/exe";

/// Serves as a solver process and returns its exit code, if the arguments request it; otherwise returns `None`. Must be
/// called before everything else.
pub fn serve_if_asked(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let argument = arguments.into_iter().nth(1)?;
    (argument == ARGUMENT).then(|| match worker::serve() {
        Ok(()) => Exit::Done.into(),
        Err(error) => {
            // A closed standard error is ignored.
            let _ = writeln!(std::io::stderr(), "lightbay: {ARGUMENT}: {error}");
            match error {
                ServeError::ByHand | ServeError::Frame(_) => Exit::Input.into(),
                _ => Exit::Failure.into(),
            }
        }
    })
}

/// Process group of solver processes, which decides who handles the keyboard's signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessGroup {
    /// Solver processes are in the group of the program: the shell stops and continues them with the job to which they
    /// belong.
    Shared,
    /// Solver processes have a group of their own: the workbench reads the keys itself and pauses its runs before it is
    /// suspended.
    Own,
}

/// Returns a launcher that starts this program as a solver process. Solver processes print to descriptor 2, so redirect
/// it to the log before a run begins.
pub fn launcher(group: ProcessGroup) -> Option<Arc<dyn lightbay_core::worker::Launcher>> {
    let program =
        if Path::new(MYSELF).exists() { PathBuf::from(MYSELF) } else { std::env::current_exe().ok()? };
    let launcher = worker::Launcher::new(program, [ARGUMENT]).named("lightbay").errors_shared();
    Some(Arc::new(match group {
        ProcessGroup::Shared => launcher,
        ProcessGroup::Own => launcher.own_group(),
    }))
}
