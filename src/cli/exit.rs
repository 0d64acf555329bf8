//! All exit codes of the program.

use std::process::ExitCode;

/// The table of exit codes for help and manual page.
pub const HELP: &str = "\
Exit codes:
  0    done: the run found a plan, even if a limit ended it; the check passed; the whole
       output was written
  1    failure, or a check that found violations; standard output is closed or full, or
       its reader left before the end, as `head` does
  2    wrong usage, unreadable or invalid input
  3    no plan within the limits
  4    infeasible: no plan exists
  101  crash; the message names the report
  129, 130, 143
       ended by hang-up, interrupt or termination; the best plan so far is written if
       there is one";

/// A signal after which the program saves its work and exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The terminal was closed.
    HangUp,
    /// Ctrl-C.
    Interrupt,
    /// A request to end the program (SIGTERM).
    Terminate,
}

impl Signal {
    /// All signals.
    pub const ALL: [Self; 3] = [Self::HangUp, Self::Interrupt, Self::Terminate];

    /// Returns the system's number of the signal.
    pub const fn number(self) -> u8 {
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }

    /// Returns the signal with a number.
    pub fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|signal| i32::from(signal.number()) == number)
    }

    /// Returns the name of the event for messages, such as `interrupt`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::HangUp => "hang-up",
            Self::Interrupt => "interrupt",
            Self::Terminate => "termination",
        }
    }
}

/// Outcome of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded.
    Done,
    /// Something failed, or a check found violations.
    Failure,
    /// The usage was wrong, or the input was unreadable or invalid.
    Input,
    /// The run found no plan within the limits.
    NoPlan,
    /// A method found that no plan exists.
    Infeasible,
    /// A signal ended the program, after saving.
    Signal(Signal),
}

impl Exit {
    /// Returns the outcome for an exit code of the workbench; an unknown code counts as a failure.
    pub fn of_code(code: u8) -> Self {
        let known = [Self::Done, Self::Failure, Self::Input, Self::NoPlan, Self::Infeasible];
        let signals = Signal::ALL.into_iter().map(Self::Signal);
        known.into_iter().chain(signals).find(|exit| exit.code() == code).unwrap_or(Self::Failure)
    }

    /// Returns the exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failure => 1,
            Self::Input => 2,
            Self::NoPlan => 3,
            Self::Infeasible => 4,
            Self::Signal(signal) => 128 + signal.number(),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
