//! Writes a plan to a pipe or standard output, whose reader may never read it. A signal during this write ends the
//! program, and the plan is saved in the state folder instead.

use super::content;
use crate::cli::console::Console;
use crate::cli::exit::{Exit, Signal};
use lightbay_core::checked::SharedPlan;
use lightbay_core::problem::printable;
use lightbay_sessions::own_write;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time that the reader of the plan has after a signal.
const GRACE: Duration = Duration::from_secs(2);

/// A plan that is being written.
#[derive(Debug)]
struct Pending {
    plan: SharedPlan,
    /// Name of the plan's destination, for messages.
    place: String,
    /// The state folder, if there is one.
    state: Option<PathBuf>,
}

/// The last signal, and the plan that is being written.
#[derive(Debug, Default)]
struct State {
    /// The last signal that came.
    signal: Option<Signal>,
    pending: Option<Pending>,
}

/// The last signal, and the plan that is being written, if any.
#[derive(Debug, Default)]
pub struct PlanOutput {
    state: Mutex<State>,
    err: Mutex<Option<File>>,
}

impl PlanOutput {
    /// Creates the output for a program that writes to `console`.
    pub fn new(console: &Console) -> Self {
        Self { state: Mutex::default(), err: Mutex::new(console.err_handle().ok()) }
    }

    /// Writes a plan to `place` with the function `write`, which may wait until another program reads `place`. After an
    /// earlier signal that program has two seconds to read; a signal during the write ends the program at once.
    pub fn write<T>(
        self: &Arc<Self>,
        plan: &SharedPlan,
        place: &str,
        console: &mut Console,
        write: impl FnOnce(&mut Console) -> T,
    ) -> T {
        let state = console.places().ok().map(|places| places.state().to_owned());
        let mut now = self.lock();
        now.pending = Some(Pending { plan: Arc::clone(plan), place: place.to_owned(), state });
        let signal = now.signal;
        drop(now);
        let (written, waits) = channel::<()>();
        if let Some(signal) = signal {
            let plan_output = Arc::clone(self);
            // If the thread cannot be started, the reader has unlimited time, as it had before the signal.
            let _ = std::thread::Builder::new().name("lb-grace".to_owned()).spawn(move || {
                if waits.recv_timeout(GRACE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    plan_output.leave(signal);
                }
            });
        }
        let result = write(console);
        self.lock().pending = None;
        drop(written);
        result
    }

    /// Processes a signal. If a plan is being written, ends the program and saves the plan in the state folder.
    pub fn signal(&self, signal: Signal) {
        self.lock().signal = Some(signal);
        self.leave(signal);
    }

    fn leave(&self, signal: Signal) {
        let now = self.lock();
        let Some(Pending { plan, place, state }) = &now.pending else { return };
        let saved = state.as_deref().and_then(|state| rescued(plan, state));
        let what = match saved {
            Some(path) => format!("the plan was saved as {path} instead"),
            None => "the plan is lost".to_owned(),
        };
        if let Some(err) = self.err.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            let word = signal.word();
            let _ = writeln!(
                err,
                "error: lightbay was ended by {word} while it waited for a program to read {place}; {what}"
            );
        }
        std::process::exit(i32::from(Exit::Signal(signal).code()));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Saves a plan that cannot be written to its destination; returns the path.
pub fn rescued(plan: &SharedPlan, state: &Path) -> Option<String> {
    let path = state.join(format!("rescued-plan-{}.json", std::process::id()));
    own_write(&path, &content(plan).ok()?).ok()?;
    Some(printable(&path.to_string_lossy()))
}
