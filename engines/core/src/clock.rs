//! A clock that the caller passes to the engines. Engines never read the system clock themselves, so tests can pass
//! them a clock that stands still.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    /// Flag that is set when the result of the work on this thread is not needed any more.
    static UNWANTED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Runs work that may be abandoned, and returns its result. Once `unwanted` is set, every deadline counts as passed for
/// the work on this thread.
pub fn while_wanted<T>(unwanted: Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let before = UNWANTED.replace(Some(unwanted));
    let made = work();
    UNWANTED.set(before);
    made
}

/// Returns `true` if the work of this thread was abandoned.
pub fn is_unwanted() -> bool {
    UNWANTED
        .with_borrow(|unwanted| unwanted.as_ref().is_some_and(|unwanted| unwanted.load(Ordering::Relaxed)))
}

/// A source of time.
pub trait Clock: Debug + Send + Sync {
    /// Returns the time since a fixed moment; this time never decreases.
    fn now(&self) -> Duration;
    /// Returns the date and time of day, RFC 3339.
    fn date(&self) -> String;
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Starts counting now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn date(&self) -> String {
        jiff::Timestamp::now()
            .round(jiff::Unit::Second)
            .map_or_else(|_| String::new(), |time| time.to_string())
    }
}

/// The time at which a time budget ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    ends: Option<(Instant, Duration)>,
}

impl Deadline {
    /// A deadline that never passes.
    pub const NEVER: Self = Self { ends: None };

    /// Creates a deadline that passes after the time `limit`, counted from now.
    pub fn after(limit: Duration) -> Self {
        Self { ends: Instant::now().checked_add(limit).map(|at| (at, limit)) }
    }

    /// Returns `true` if the time is over or the work was abandoned.
    pub fn is_over(self) -> bool {
        self.ends.is_some_and(|(at, _)| Instant::now() >= at) || is_unwanted()
    }

    /// Returns the time limit with which the deadline was made; `None` if the deadline never passes.
    pub fn limit(self) -> Option<Duration> {
        self.ends.map(|(_, limit)| limit)
    }
}

/// A clock that stands still until it is advanced. For tests.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: std::sync::Mutex<Duration>,
}

impl ManualClock {
    /// Moves the time of the clock forward.
    pub fn advance(&self, by: Duration) {
        if let Ok(mut now) = self.now.lock() {
            *now += by;
        }
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        self.now.lock().map_or(Duration::ZERO, |now| *now)
    }

    fn date(&self) -> String {
        "2026-01-01T00:00:00Z".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_over_when_nobody_wants_the_work() {
        let unwanted = Arc::new(AtomicBool::new(false));
        let seen = while_wanted(Arc::clone(&unwanted), || {
            let before = Deadline::NEVER.is_over();
            unwanted.store(true, Ordering::Relaxed);
            (before, Deadline::NEVER.is_over(), is_unwanted())
        });
        assert_eq!(seen, (false, true, true));
        assert!(!Deadline::NEVER.is_over(), "other work of the thread goes on");
    }
}
