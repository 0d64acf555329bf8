//! The scenario in the source of a session, on which the command that reproduces a plan is based.

use lightbay_core::format::STDIN;
use lightbay_engines::AnyScenario;

/// The scenario that the file of a session contains. The session's own scenario does not serve as the base of a command,
/// because each changed parameter is saved in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SourceScenario {
    /// The scenario as it was opened, because the session began in this program.
    #[default]
    Opened,
    /// The scenario that the file contained when the session was reopened.
    Read(AnyScenario),
    /// The file could not be read when the session was reopened, for this reason.
    Lost(String),
}

/// Returns `true` if the source of a scenario is a file that the command line can read again.
pub fn is_file(source: &str) -> bool {
    let others = ["preset:", "session:", "import "];
    !others.iter().any(|prefix| source.starts_with(prefix)) && source != "-" && source != STDIN
}
