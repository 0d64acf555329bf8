//! Helper processes for solver phases that cannot be left otherwise. Core only names the ability;
//! the crate that owns the solver speaks the protocol, the program supplies the launcher.

use std::fmt::Debug;
use std::io;
use std::process::Child;

/// Starts helper processes. Their standard input and output are pipes; they end when their input ends.
pub trait Launcher: Debug + Send + Sync {
    /// Starts one.
    ///
    /// # Errors
    /// Returns the error of the system if the process cannot be started.
    fn launch(&self) -> io::Result<Child>;
}
