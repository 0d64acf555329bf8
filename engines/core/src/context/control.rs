//! The handle between a run and the rest of the program: stop, pause, limits, edits and offers.

use crate::checked::SharedPlan;
use crate::clock::Clock;
use crate::event::RunId;
use crate::param::ParamValue;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Reason for a run to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A person requested the stop.
    Requested,
    /// A signal arrived, or the terminal was closed.
    Signal,
    /// The time limit is reached.
    Time,
    /// The requested gap is reached.
    Gap,
    /// A bound that another run of the scenario proved meets the best plan.
    Proven,
}

impl Stop {
    const ALL: [Self; 5] = [Self::Requested, Self::Signal, Self::Time, Self::Gap, Self::Proven];
}

/// The run's clock, which stops while the run is paused.
#[derive(Debug, Default)]
struct Stopwatch {
    started: Duration,
    paused_total: Duration,
    paused_since: Option<Duration>,
}

/// Requests and limits of a run. The run, its owner and the closures that the run executes on other threads share this
/// value.
#[derive(Debug)]
pub struct Control {
    clock: Arc<dyn Clock>,
    /// 0: continue; otherwise 1 + index in [`Stop::ALL`].
    stop: AtomicU8,
    /// Set when a pause is requested or ended, and when a parameter is edited. While it is not set, a checkpoint need
    /// not lock `paused` and `edits`.
    attention: AtomicBool,
    paused: Mutex<bool>,
    resumed: Condvar,
    stopwatch: Mutex<Stopwatch>,
    /// Notified when the run reaches a pause.
    stands: Condvar,
    /// Bits of the time limit (an `f64` in seconds); infinity: no limit.
    time_limit_s: AtomicU64,
    /// Bits of the gap at which to stop (an `f64`); 0: no gap requested.
    gap: AtomicU64,
    edits: Mutex<Vec<(String, ParamValue)>>,
    offer: Mutex<Option<SharedPlan>>,
    bounds: Mutex<Vec<OfferedBound>>,
}

/// A bound that another run proved for every plan of the scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedBound {
    /// Run that proved the bound; a newer bound of the same run replaces its older bound.
    pub run: RunId,
    /// Method of the run that proved the bound.
    pub method: Arc<str>,
    /// Value that no plan can beat.
    pub value: f64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data is plain and stays valid after a panic elsewhere, so poisoning is ignored.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    /// Creates the control of a run; its clock starts at once.
    pub fn new(clock: Arc<dyn Clock>, time_limit_s: Option<f64>, gap: Option<f64>) -> Self {
        let started = clock.now();
        Self {
            clock,
            stop: AtomicU8::new(0),
            attention: AtomicBool::new(false),
            paused: Mutex::new(false),
            resumed: Condvar::new(),
            stopwatch: Mutex::new(Stopwatch { started, ..Stopwatch::default() }),
            stands: Condvar::new(),
            time_limit_s: AtomicU64::new(time_limit_s.unwrap_or(f64::INFINITY).to_bits()),
            gap: AtomicU64::new(gap.unwrap_or(0.0).to_bits()),
            edits: Mutex::new(Vec::new()),
            offer: Mutex::new(None),
            bounds: Mutex::new(Vec::new()),
        }
    }

    /// Restarts the clock: called when a run that waited begins.
    pub(crate) fn begin(&self) {
        let mut watch = lock(&self.stopwatch);
        watch.started = self.clock.now();
        watch.paused_total = Duration::ZERO;
    }

    /// Requests a stop; if several stops are requested, the reason of the first is kept.
    pub fn stop(&self, why: Stop) {
        let code = 1 + Stop::ALL.iter().position(|stop| *stop == why).unwrap_or(0) as u8;
        let _ = self.stop.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire);
        self.resumed.notify_all();
    }

    /// Returns the reason to stop, if there is one. Also checks the time limit. For closures on any thread.
    pub fn stopping(&self) -> Option<Stop> {
        let code = self.stop.load(Ordering::Relaxed);
        if code != 0 {
            return Stop::ALL.get(usize::from(code) - 1).copied();
        }
        let limit = f64::from_bits(self.time_limit_s.load(Ordering::Relaxed));
        if limit.is_finite() && self.elapsed().as_secs_f64() >= limit {
            self.stop(Stop::Time);
            return Some(Stop::Time);
        }
        None
    }

    /// Returns the time until the time limit, if there is one.
    pub fn time_left(&self) -> Option<Duration> {
        let limit = f64::from_bits(self.time_limit_s.load(Ordering::Relaxed));
        let limit = Duration::try_from_secs_f64(limit).ok()?;
        Some(limit.saturating_sub(self.elapsed()))
    }

    /// Requests a pause, which begins at the next checkpoint, or ends the pause.
    pub fn pause(&self, paused: bool) {
        *lock(&self.paused) = paused;
        self.attention.store(true, Ordering::Release);
        self.resumed.notify_all();
    }

    /// Returns `true` if a pause was requested.
    pub fn is_paused(&self) -> bool {
        *lock(&self.paused)
    }

    /// Waits until the run and its solver process are paused. Returns whether they paused within the time.
    pub fn wait_standing(&self, within: Duration) -> bool {
        let works = |watch: &mut Stopwatch| watch.paused_since.is_none();
        match self.stands.wait_timeout_while(lock(&self.stopwatch), within, works) {
            Ok((watch, _)) => watch.paused_since.is_some(),
            Err(_) => false,
        }
    }

    /// Changes a parameter of a running method. `time_limit_s` and `gap` take effect at once.
    pub fn edit(&self, name: &str, value: ParamValue) {
        match (name, value.as_f64()) {
            ("time_limit_s", Some(limit)) => {
                let limit = if limit > 0.0 { limit } else { f64::INFINITY };
                self.time_limit_s.store(limit.to_bits(), Ordering::Relaxed);
            }
            ("gap", Some(gap)) => self.gap.store(gap.to_bits(), Ordering::Relaxed),
            _ => {}
        }
        lock(&self.edits).push((name.to_owned(), value));
        self.attention.store(true, Ordering::Release);
    }

    /// Offers a plan of another run; a newer plan replaces an older plan.
    pub fn offer(&self, plan: SharedPlan) {
        *lock(&self.offer) = Some(plan);
    }

    /// Offers a bound on every plan of the scenario.
    pub fn offer_bound(&self, bound: OfferedBound) {
        let mut bounds = lock(&self.bounds);
        match bounds.iter_mut().find(|known| known.run == bound.run) {
            Some(known) => *known = bound,
            None => bounds.push(bound),
        }
    }

    /// Returns the first offered bound for which `wanted` holds.
    pub(crate) fn offered_bound(&self, wanted: impl Fn(f64) -> bool) -> Option<OfferedBound> {
        lock(&self.bounds).iter().find(|bound| wanted(bound.value)).cloned()
    }

    /// Returns the time since the run began, without pauses.
    pub fn elapsed(&self) -> Duration {
        let watch = lock(&self.stopwatch);
        let now = watch.paused_since.unwrap_or_else(|| self.clock.now());
        now.saturating_sub(watch.started).saturating_sub(watch.paused_total)
    }

    pub(crate) fn gap(&self) -> f64 {
        f64::from_bits(self.gap.load(Ordering::Relaxed))
    }

    pub(crate) fn take_edits(&self) -> Vec<(String, ParamValue)> {
        if self.attention.swap(false, Ordering::AcqRel) {
            // A pause that was requested a moment ago begins at the next checkpoint.
            if self.is_paused() {
                self.attention.store(true, Ordering::Release);
            }
            std::mem::take(&mut *lock(&self.edits))
        } else {
            Vec::new()
        }
    }

    pub(crate) fn take_offer(&self) -> Option<SharedPlan> {
        lock(&self.offer).take()
    }

    /// Blocks a thread that works for the run while the run is paused.
    pub(crate) fn stand_by(&self) {
        if !self.attention.load(Ordering::Acquire) {
            return;
        }
        let mut paused = lock(&self.paused);
        while *paused && self.stop.load(Ordering::Acquire) == 0 {
            // The time-out covers a notification that arrives between the test and the wait.
            paused = match self.resumed.wait_timeout(paused, Duration::from_secs(1)) {
                Ok((guard, _)) => guard,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// Blocks while the run is paused; calls `said` with `true` when a pause begins and with `false` when it ends.
    pub(crate) fn wait_while_paused(&self, mut said: impl FnMut(bool)) {
        if !self.attention.load(Ordering::Acquire) || !self.is_paused() {
            return;
        }
        lock(&self.stopwatch).paused_since = Some(self.clock.now());
        self.stands.notify_all();
        said(true);
        self.stand_by();
        let now = self.clock.now();
        let mut watch = lock(&self.stopwatch);
        if let Some(since) = watch.paused_since.take() {
            watch.paused_total += now.saturating_sub(since);
        }
        drop(watch);
        said(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn the_first_reason_to_stop_counts() {
        let control = Control::new(Arc::new(ManualClock::default()), None, None);
        assert_eq!(control.stopping(), None);
        control.stop(Stop::Signal);
        control.stop(Stop::Requested);
        assert_eq!(control.stopping(), Some(Stop::Signal));
    }

    #[test]
    fn the_time_limit_can_be_moved_while_running() {
        let clock = Arc::new(ManualClock::default());
        let control = Control::new(clock.clone(), Some(10.0), None);
        clock.advance(Duration::from_secs(9));
        assert_eq!(control.stopping(), None);
        assert_eq!(control.time_left(), Some(Duration::from_secs(1)));
        control.edit("time_limit_s", ParamValue::Float(20.0));
        clock.advance(Duration::from_secs(9));
        assert_eq!(control.stopping(), None);
        clock.advance(Duration::from_secs(3));
        assert_eq!(control.stopping(), Some(Stop::Time));
    }

    #[test]
    fn paused_time_does_not_count() {
        let clock = Arc::new(ManualClock::default());
        let control = Arc::new(Control::new(clock.clone(), None, None));
        control.pause(true);
        let waiting = {
            let control = Arc::clone(&control);
            std::thread::spawn(move || {
                let mut said = Vec::new();
                control.wait_while_paused(|paused| said.push(paused));
                said
            })
        };
        assert!(control.wait_standing(Duration::from_secs(30)));
        clock.advance(Duration::from_secs(5));
        control.pause(false);
        assert_eq!(waiting.join().expect("no panic"), [true, false]);
        assert_eq!(control.elapsed(), Duration::ZERO);
        assert!(!control.wait_standing(Duration::ZERO));
    }
}
