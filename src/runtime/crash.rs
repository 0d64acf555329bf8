//! Panics on request, for tests of the behaviour after a panic.
//!
//! The environment variable `LIGHTBAY_PANIC` names the place of one panic: `loop` (the event loop, after the first run
//! has ended), `engine` (the thread of the first run, after its first plan) or `view` (the first job of a pane).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Name of the environment variable.
const VARIABLE: &str = "LIGHTBAY_PANIC";

/// Places at which the program panics on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashPlace {
    /// The event loop.
    Loop,
    /// The thread of a run.
    Engine,
    /// A job of a pane.
    View,
}

impl CrashPlace {
    fn named(name: &str) -> Option<Self> {
        match name {
            "loop" => Some(Self::Loop),
            "engine" => Some(Self::Engine),
            "view" => Some(Self::View),
            _ => None,
        }
    }
}

/// Panics once if the user requested a panic at this place.
///
/// # Panics
/// If the user requested it.
#[expect(clippy::panic, clippy::manual_assert, reason = "the user requested a panic")]
pub fn on_request(place: CrashPlace) {
    static WANTED: OnceLock<Option<CrashPlace>> = OnceLock::new();
    static DONE: AtomicBool = AtomicBool::new(false);
    let wanted = || std::env::var(VARIABLE).ok().and_then(|name| CrashPlace::named(&name));
    if *WANTED.get_or_init(wanted) == Some(place) && !DONE.swap(true, Ordering::Relaxed) {
        panic!("requested by {VARIABLE}");
    }
}
