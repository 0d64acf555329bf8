//! Whole runs for the tests of engines: a method on a scenario, the end of the run, and the events before it.
//!
//! Available only with the feature `testing`, which only tests enable.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::checked::SharedPlan;
use crate::clock::SystemClock;
use crate::event::{Done, EndStatus, Event, EventBody, Recorder, RunId};
use crate::kind::Kind;
use crate::method::Method;
use crate::param::{ParamValue, Params};
use crate::run::{Job, Request, Runs, TypedJob};
use crate::scenario::Scenario;
use std::sync::Arc;
use std::time::Duration;

/// Maximum time of a run.
const PATIENCE: Duration = Duration::from_mins(10);

/// A method, its settings and the scenario that it solves.
#[derive(Clone)]
pub struct Ask<K: Kind> {
    method: Arc<dyn Method<K>>,
    body: K::Scenario,
    params: Vec<(String, ParamValue)>,
    seed: u64,
    threads: usize,
    hot_start: Option<SharedPlan>,
}

impl<K: Kind> Ask<K> {
    /// Creates a run of the method called `name` of `methods`, with default parameters, seed 1 and one thread.
    ///
    /// # Panics
    /// If there is no such method.
    pub fn of(methods: &[Arc<dyn Method<K>>], name: &str, body: K::Scenario) -> Self {
        let method = methods.iter().find(|method| method.info().name == name);
        let method = method.unwrap_or_else(|| panic!("there is no method '{name}'"));
        Self { method: Arc::clone(method), body, params: Vec::new(), seed: 1, threads: 1, hot_start: None }
    }

    /// Sets values of parameters.
    #[must_use]
    pub fn with(mut self, params: &[(&str, ParamValue)]) -> Self {
        self.params.extend(params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        self
    }

    /// Sets values of parameters, given as typed text.
    ///
    /// # Panics
    /// If the method has no such parameter, or a value is not valid for it.
    #[must_use]
    pub fn typed(mut self, params: &[(&str, &str)]) -> Self {
        let infos = self.method.info().params;
        for (name, text) in params {
            let info = infos.iter().find(|info| info.name == *name);
            let info = info.unwrap_or_else(|| panic!("there is no parameter '{name}'"));
            self.params.push(((*name).to_owned(), info.parse(text).unwrap()));
        }
        self
    }

    /// Sets the seed.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of threads.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the plan to start from, if there is one.
    #[must_use]
    pub fn from(mut self, plan: Option<SharedPlan>) -> Self {
        self.hot_start = plan;
        self
    }

    /// Returns the job for a run board.
    ///
    /// # Panics
    /// If a value is not valid, or the scenario cannot be written.
    pub fn job(&self) -> Box<TypedJob<K>> {
        let info = self.method.info();
        let given = self.params.iter().map(|(name, value)| (name.as_str(), value));
        let request = Request {
            scenario: Arc::new(Scenario::new("test".to_owned(), self.body.clone())),
            params: Params::resolve(&info.params, given).unwrap(),
            seed: self.seed,
            time_limit_s: None,
            gap: None,
            hot_start: self.hot_start.clone(),
            proves: info.proves,
        };
        Box::new(TypedJob::new(Arc::clone(&self.method), request).unwrap())
    }

    /// Runs the method to its end.
    ///
    /// # Panics
    /// As [`run`].
    pub fn run(&self) -> Ran {
        run(self.job(), self.threads)
    }
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ran {
    /// The last event.
    pub done: Done,
    /// All events of the run, including the last one.
    pub events: Vec<Event>,
}

impl Ran {
    /// Returns the run unchanged if it neither failed nor panicked.
    ///
    /// # Panics
    /// If it failed or panicked.
    #[must_use]
    pub fn sound(self) -> Self {
        let Done { status, message, violations, .. } = &self.done;
        assert!(!matches!(status, EndStatus::Failed | EndStatus::Panicked), "{message} {violations:?}");
        self
    }

    /// Returns the last event, and the contents of the events before it.
    pub fn told(self) -> (Done, Vec<EventBody>) {
        let mut said: Vec<EventBody> = self.events.into_iter().map(|event| event.body).collect();
        said.pop();
        (self.done, said)
    }
}

/// Creates a board of runs with a receiver that stores all their events.
///
/// # Panics
/// If the threads cannot be made.
pub fn board(threads: usize) -> (Runs, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let runs = Runs::new(threads, RunId(1), recorder.clone(), Arc::new(SystemClock::start()), None).unwrap();
    (runs, recorder)
}

/// Runs a job to its end.
///
/// # Panics
/// If that takes more than ten minutes, or something is said after the end.
pub fn run(job: Box<dyn Job>, threads: usize) -> Ran {
    let (runs, recorder) = board(threads);
    runs.submit(job);
    assert!(runs.wait_idle(PATIENCE), "the run takes too long");
    drop(runs);
    let events = recorder.events();
    match events.last().map(|event| event.body.clone()) {
        Some(EventBody::Done(done)) => Ran { done, events },
        other => panic!("the run ended with {other:?}"),
    }
}
