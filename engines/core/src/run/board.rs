//! The board of a program's runs: starts and queues them, and passes plans and bounds between them.

use super::{Environment, Job, STACK_BYTES, report_without_run};
use crate::clock::Clock;
use crate::context::{Control, OfferedBound, Stop};
use crate::event::{Bound, Done, EndStatus, Event, EventBody, EventSink, RunId};
use crate::param::ParamValue;
use crate::worker::Launcher;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Stage in the life of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The run waits until the active run of the same method has stopped.
    Queued,
    /// The run is active.
    Running,
    /// The run is paused, or will be at its next checkpoint.
    Paused,
    /// A stop was requested, but the run is still running.
    Stopping,
}

/// Receipt for a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Number of the run that was submitted.
    pub run: RunId,
    /// `true` if the new run waits until the active run of the same method has stopped.
    pub queued: bool,
    /// Waiting run of the same method that the new run replaced.
    pub replaced: Option<RunId>,
}

struct Active {
    run: RunId,
    scenario_sha256: String,
    control: Arc<Control>,
}

struct Waiting {
    run: RunId,
    job: Box<dyn Job>,
}

#[derive(Default)]
struct Slot {
    active: Option<Active>,
    waiting: Option<Waiting>,
}

struct Shared {
    slots: Mutex<BTreeMap<String, Slot>>,
    idle: Condvar,
    next_run: Mutex<u64>,
    sink: Arc<dyn EventSink>,
    clock: Arc<dyn Clock>,
    pool: Arc<rayon::ThreadPool>,
    threads: usize,
    launcher: Option<Arc<dyn Launcher>>,
    /// The bounds that runs proved for all plans of a scenario, by the hash of the scenario. Each run has one entry
    /// with its newest bound.
    bounds: Mutex<BTreeMap<String, Vec<OfferedBound>>>,
}

/// All runs of a program. Dropping this value stops the runs.
pub struct Runs {
    shared: Arc<Shared>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs {
    /// Creates a board with a budget of threads that all runs share. The first run gets the number `first_run`.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(
        threads: usize,
        first_run: RunId,
        sink: Arc<dyn EventSink>,
        clock: Arc<dyn Clock>,
        launcher: Option<Arc<dyn Launcher>>,
    ) -> std::io::Result<Self> {
        let threads = threads.max(1);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("lb-work-{index}"))
            .stack_size(STACK_BYTES)
            .build()
            .map_err(std::io::Error::other)?;
        Ok(Self {
            shared: Arc::new(Shared {
                slots: Mutex::new(BTreeMap::new()),
                idle: Condvar::new(),
                next_run: Mutex::new(first_run.0.max(1)),
                sink,
                clock,
                pool: Arc::new(pool),
                threads,
                launcher,
                bounds: Mutex::new(BTreeMap::new()),
            }),
        })
    }

    /// Reserves a number for a run of another process that calls it `wanted`: the same number if it is above all assigned
    /// numbers, else the next free number. No job gets the returned number.
    pub fn reserve(&self, wanted: RunId) -> RunId {
        let mut next = lock(&self.shared.next_run);
        let run = RunId(wanted.0.max(*next));
        *next = run.0.saturating_add(1);
        run
    }

    /// Starts a job, or queues it if its method is busy. The job replaces a queued job of the same method.
    pub fn submit(&self, job: Box<dyn Job>) -> Ticket {
        let run = {
            let mut next = lock(&self.shared.next_run);
            let run = RunId(*next);
            *next += 1;
            run
        };
        let method = job.method().to_owned();
        let mut slots = lock(&self.shared.slots);
        let slot = slots.entry(method.clone()).or_default();
        if slot.active.is_some() {
            let replaced = slot.waiting.replace(Waiting { run, job }).map(|waiting| waiting.run);
            drop(slots);
            if let Some(old) = replaced {
                self.shared.never_ran(old, &method, "replaced by a newer request");
            }
            return Ticket { run, queued: true, replaced };
        }
        Shared::start(&self.shared, slot, run, job);
        Ticket { run, queued: false, replaced: None }
    }

    /// Starts a job. If another run of the same method is active, requests this run to stop and queues the job until it
    /// has ended.
    pub fn submit_instead(&self, job: Box<dyn Job>) -> Ticket {
        let method = job.method().to_owned();
        let ticket = self.submit(job);
        if ticket.queued {
            self.with_active(|name, active| {
                if name == method {
                    active.control.stop(Stop::Requested);
                }
            });
        }
        ticket
    }

    fn with_active(&self, mut act: impl FnMut(&str, &Active)) {
        for (name, slot) in lock(&self.shared.slots).iter() {
            if let Some(active) = &slot.active {
                act(name, active);
            }
        }
    }

    /// Requests one run to stop, or removes it from the queue.
    pub fn stop(&self, run: RunId, why: Stop) {
        let mut dropped = None;
        for (name, slot) in lock(&self.shared.slots).iter_mut() {
            if let Some(active) = slot.active.as_ref().filter(|active| active.run == run) {
                active.control.stop(why);
            }
            if slot.waiting.as_ref().is_some_and(|waiting| waiting.run == run) {
                slot.waiting = None;
                dropped = Some(name.clone());
            }
        }
        if let Some(method) = dropped {
            self.shared.never_ran(run, &method, "removed from the queue");
        }
    }

    /// Requests all runs to stop and empties the queues.
    pub fn stop_all(&self, why: Stop) {
        let mut runs = Vec::new();
        for slot in lock(&self.shared.slots).values() {
            runs.extend(slot.waiting.as_ref().map(|waiting| waiting.run));
            runs.extend(slot.active.as_ref().map(|active| active.run));
        }
        for run in runs {
            self.stop(run, why);
        }
    }

    /// Pauses or resumes one run.
    pub fn pause(&self, run: RunId, paused: bool) {
        self.with_active(|_, active| {
            if active.run == run {
                active.control.pause(paused);
            }
        });
    }

    /// Waits until every run with a pause request has paused, at most the time `within`.
    pub fn wait_standing(&self, within: Duration) {
        let mut paused = Vec::new();
        self.with_active(|_, active| {
            if active.control.is_paused() {
                paused.push(Arc::clone(&active.control));
            }
        });
        let until = self.shared.clock.now() + within;
        for control in paused {
            control.wait_standing(until.saturating_sub(self.shared.clock.now()));
        }
    }

    /// Passes a changed parameter to one run.
    pub fn edit(&self, run: RunId, name: &str, value: &ParamValue) {
        self.with_active(|_, active| {
            if active.run == run {
                active.control.edit(name, value.clone());
            }
        });
    }

    /// Returns all active and queued runs, in the order of the names of their methods.
    pub fn states(&self) -> Vec<(RunId, String, RunState)> {
        let mut states = Vec::new();
        for (method, slot) in lock(&self.shared.slots).iter() {
            if let Some(active) = &slot.active {
                let state = if active.control.stopping().is_some() {
                    RunState::Stopping
                } else if active.control.is_paused() {
                    RunState::Paused
                } else {
                    RunState::Running
                };
                states.push((active.run, method.clone(), state));
            }
            if let Some(waiting) = &slot.waiting {
                states.push((waiting.run, method.clone(), RunState::Queued));
            }
        }
        states
    }

    /// Returns the time on a run's clock.
    pub fn elapsed(&self, run: RunId) -> Option<Duration> {
        let mut elapsed = None;
        self.with_active(|_, active| {
            if active.run == run {
                elapsed = Some(active.control.elapsed());
            }
        });
        elapsed
    }

    /// Waits until no run is running or queued. Returns `true` if this happened within the time `within`.
    pub fn wait_idle(&self, within: Duration) -> bool {
        let busy = |slots: &mut BTreeMap<String, Slot>| slots.values().any(|slot| slot.active.is_some());
        let guard = lock(&self.shared.slots);
        match self.shared.idle.wait_timeout_while(guard, within, busy) {
            Ok((_, time_out)) => !time_out.timed_out(),
            Err(_) => false,
        }
    }

    /// Returns the number of threads that all runs share.
    pub fn threads(&self) -> usize {
        self.shared.threads
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.stop_all(Stop::Requested);
    }
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").field("states", &self.states()).finish_non_exhaustive()
    }
}

impl Shared {
    fn never_ran(&self, run: RunId, method: &str, message: &str) {
        let done = Done {
            status: EndStatus::NoPlan,
            limit: None,
            message: message.to_owned(),
            violations: Vec::new(),
            value: None,
            bound: None,
            work: 0,
            plan: None,
        };
        report_without_run(self.sink.as_ref(), run, method, EventBody::Done(done));
    }

    fn start(shared: &Arc<Self>, slot: &mut Slot, run: RunId, job: Box<dyn Job>) {
        let method = job.method().to_owned();
        let (time_limit_s, gap) = job.limits();
        let control = Arc::new(Control::new(Arc::clone(&shared.clock), time_limit_s, gap));
        if job.is_warm()
            && let Some(known) = lock(&shared.bounds).get(job.scenario_sha256())
        {
            for bound in known {
                control.offer_bound(bound.clone());
            }
        }
        let active =
            Active { run, scenario_sha256: job.scenario_sha256().to_owned(), control: Arc::clone(&control) };
        let env = Environment {
            run,
            pool: Arc::clone(&shared.pool),
            threads: shared.threads,
            sink: Arc::new(Distributor {
                shared: Arc::clone(shared),
                run,
                sha256: active.scenario_sha256.clone(),
                competes: job.competes(),
            }),
            clock: Arc::clone(&shared.clock),
            control: Arc::clone(&control),
            launcher: shared.launcher.clone(),
        };
        slot.active = Some(active);
        let own = Arc::clone(shared);
        let name = format!("lb-{method}-{run}");
        let thread_method = method.clone();
        let spawned = std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
            control.begin();
            job.execute(env);
            own.ended(&thread_method);
        });
        if let Err(error) = spawned {
            slot.active = None;
            shared.never_ran(run, &method, &format!("no thread could be started: {error}"));
        }
    }

    fn ended(self: &Arc<Self>, method: &str) {
        let mut slots = lock(&self.slots);
        if let Some(slot) = slots.get_mut(method) {
            slot.active = None;
            if let Some(waiting) = slot.waiting.take() {
                Self::start(self, slot, waiting.run, waiting.job);
            }
        }
        drop(slots);
        self.idle.notify_all();
    }
}

/// Event receiver of the board: forwards events, and offers better plans and bounds on all plans to the other runs of
/// the same scenario.
struct Distributor {
    shared: Arc<Shared>,
    run: RunId,
    sha256: String,
    /// `true` if the plans of the run optimise the objective, so that the plans and bounds of the run are offered to
    /// the other runs.
    competes: bool,
}

impl EventSink for Distributor {
    fn report(&self, event: Event) {
        if let EventBody::Incumbent(incumbent) = &event.body
            && self.competes
            && let Some(plan) = &incumbent.plan
        {
            for slot in lock(&self.shared.slots).values() {
                if let Some(active) = &slot.active
                    && active.run != self.run
                    && active.scenario_sha256 == self.sha256
                {
                    active.control.offer(Arc::clone(plan));
                }
            }
        }
        if let EventBody::Bound(Bound { value, only: None }) = &event.body
            && self.competes
        {
            let bound = OfferedBound { run: self.run, method: Arc::clone(&event.method), value: *value };
            for slot in lock(&self.shared.slots).values() {
                if let Some(active) = &slot.active
                    && active.run != self.run
                    && active.scenario_sha256 == self.sha256
                {
                    active.control.offer_bound(bound.clone());
                }
            }
            let mut all = lock(&self.shared.bounds);
            let known = all.entry(self.sha256.clone()).or_default();
            known.retain(|other| other.run != self.run);
            known.push(bound);
        }
        self.shared.sink.report(event);
    }
}
