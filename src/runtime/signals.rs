//! Signals of the system to the process.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The terminal is gone (exit code 129).
    Hangup,
    /// Somebody wants us to end (exit code 143).
    End(u8),
    /// Interrupted from outside: as `C-c`.
    Interrupt,
    /// Stop until told to continue.
    Suspend,
    /// We were stopped and continue.
    Continue,
    /// The terminal has another size.
    Resize,
    /// Write a report.
    Report,
}

/// All of them.
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
    /// Takes over the signals.
    ///
    /// # Errors
    /// Returns the error of the system if a signal cannot be taken over.
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

    /// Waits for the next one; those that end the program come first.
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

/// Stops the process as the shell expects it; returns when it continues.
pub fn stop_here() {
    // If it cannot be stopped it simply continues.
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
}
