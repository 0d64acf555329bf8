//! Signals of the system to the process.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that the workbench handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The terminal was closed (exit code 129).
    Hangup,
    /// A request to end the program (exit code 143).
    End(u8),
    /// An interrupt from outside, handled like `C-c`.
    Interrupt,
    /// A request to suspend the process until it is continued.
    Suspend,
    /// The process was stopped and continues.
    Continue,
    /// The size of the terminal changed.
    Resize,
    /// A request to write a report (SIGUSR1).
    Report,
}

/// The streams of all signals that the workbench handles.
#[derive(Debug)]
pub struct Signals {
    hangup: Signal,
    terminate: Signal,
    quit: Signal,
    interrupt: Signal,
    suspend: Signal,
    go_on: Signal,
    resize: Signal,
    report: Signal,
}

impl Signals {
    /// Installs the signal handlers.
    ///
    /// # Errors
    /// Returns the error of the system if the handler of a signal cannot be installed.
    pub fn listen() -> std::io::Result<Self> {
        let raw = |number| signal(SignalKind::from_raw(number));
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            quit: signal(SignalKind::quit())?,
            interrupt: signal(SignalKind::interrupt())?,
            suspend: raw(signal_hook::consts::SIGTSTP)?,
            go_on: raw(signal_hook::consts::SIGCONT)?,
            resize: signal(SignalKind::window_change())?,
            report: signal(SignalKind::user_defined1())?,
        })
    }

    /// Waits for the next signal; signals that end the program take precedence.
    pub async fn next(&mut self) -> Sign {
        tokio::select! {
            biased;
            _ = self.hangup.recv() => Sign::Hangup,
            _ = self.terminate.recv() => Sign::End(143),
            _ = self.quit.recv() => Sign::End(143),
            _ = self.interrupt.recv() => Sign::Interrupt,
            _ = self.suspend.recv() => Sign::Suspend,
            _ = self.go_on.recv() => Sign::Continue,
            _ = self.resize.recv() => Sign::Resize,
            _ = self.report.recv() => Sign::Report,
        }
    }
}

/// Stops the process in the way that the shell expects; returns when it continues.
pub fn stop_here() {
    // If the process cannot be stopped, it continues.
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
}
