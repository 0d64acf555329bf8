//! An injected clock, so that tests can stop time and engines cannot read the system clock.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// A source of time.
pub trait Clock: Debug + Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;
    /// The date and time of day, RFC 3339.
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

/// The end of the time that may be spent on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    ends: Option<(Instant, Duration)>,
}

impl Deadline {
    /// No end.
    pub const NEVER: Self = Self { ends: None };

    /// Ends after this time from now.
    pub fn after(limit: Duration) -> Self {
        Self { ends: Instant::now().checked_add(limit).map(|at| (at, limit)) }
    }

    /// Returns `true` if the time is over.
    pub fn is_over(self) -> bool {
        self.ends.is_some_and(|(at, _)| Instant::now() >= at)
    }

    /// The time that was given.
    pub fn limit(self) -> Option<Duration> {
        self.ends.map(|(_, limit)| limit)
    }
}

/// A clock that stands still until it is told to go on. For tests.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: std::sync::Mutex<Duration>,
}

impl ManualClock {
    /// Lets time pass.
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
