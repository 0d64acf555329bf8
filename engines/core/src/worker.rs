//! Solver processes, for phases of a solver that can only be stopped by killing a process. This crate only declares the
//! interface; the crate of the solver implements the protocol, and the program supplies the launcher.

use std::fmt::Debug;
use std::io;
use std::process::Child;

/// Starts solver processes. The standard input and output of a solver process are pipes; the process ends when its
/// input ends.
pub trait Launcher: Debug + Send + Sync {
    /// Starts a solver process.
    ///
    /// # Errors
    /// Returns the error of the system if the process cannot be started.
    fn launch(&self) -> io::Result<Child>;
}
