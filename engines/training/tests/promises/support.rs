//! Asking methods and listening to them.

use lightbay_core::checked::{Checked, SharedPlan, downcast};
use lightbay_core::clock::SystemClock;
use lightbay_core::event::{Done, EndStatus, Event, EventBody, EventSink, Incumbent, RunId};
use lightbay_core::kind::Depth;
use lightbay_core::method::Method;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::read_draft;
use lightbay_core::run::{Request, Runs, TypedJob};
use lightbay_core::scenario::Scenario;
use lightbay_training::scenario::job::Job;
use lightbay_training::scenario::presets;
use lightbay_training::{Training, TrainingScenario, methods};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::time::Duration;

/// Longer than anything here takes; only a hang reaches it.
const PATIENCE: Duration = Duration::from_mins(10);

pub fn preset(name: &str) -> Job {
    presets::job(name).unwrap().job()
}

pub fn method(name: &str) -> Arc<dyn Method<Training>> {
    methods::all().into_iter().find(|method| method.info().name == name).unwrap()
}

/// Names of the methods that plan one job whose circuits stay.
pub fn names() -> Vec<&'static str> {
    let names = methods::all().into_iter().map(|method| method.info().name);
    names.filter(|name| !matches!(*name, "reallocate" | "delta-phases")).collect()
}

/// Request to a method.
#[derive(Clone)]
pub struct Asked {
    pub body: TrainingScenario,
    pub method: String,
    settings: Vec<String>,
    pub seed: u64,
    pub time_limit_s: Option<f64>,
    pub gap: Option<f64>,
    pub hot_start: Option<SharedPlan>,
}

impl Asked {
    pub fn new(preset_name: &str, method: &str) -> Self {
        Self::of(TrainingScenario::Job(preset(preset_name)), method)
    }

    pub fn of(body: TrainingScenario, method: &str) -> Self {
        Self {
            body,
            method: method.to_owned(),
            settings: Vec::new(),
            seed: 1,
            time_limit_s: None,
            gap: None,
            hot_start: None,
        }
    }

    /// Settings as typed, `name=value` separated by spaces; those the method does not have are left out.
    pub fn set(mut self, settings: &str) -> Self {
        self.settings.extend(settings.split_whitespace().map(str::to_owned));
        self
    }

    pub fn job(&self) -> Box<TypedJob<Training>> {
        let method = method(&self.method);
        let info = method.info();
        let given = self.settings.iter().filter_map(|setting| {
            let (name, text) = setting.split_once('=').unwrap();
            let param: &ParamInfo = info.params.iter().find(|param| param.name == name)?;
            Some((name, param.parse(text).unwrap()))
        });
        let given: Vec<_> = given.collect();
        let params = Params::resolve(&info.params, given.iter().map(|(name, value)| (*name, value))).unwrap();
        let request = Request {
            scenario: Arc::new(Scenario::new("test".to_owned(), self.body.clone())),
            params,
            seed: self.seed,
            time_limit_s: self.time_limit_s,
            gap: self.gap,
            hot_start: self.hot_start.clone(),
            proves: info.proves,
        };
        Box::new(TypedJob::new(method, request).unwrap())
    }

    /// Solves alone on two threads.
    pub fn solve(&self) -> Log {
        self.solve_on(2)
    }

    pub fn solve_on(&self, threads: usize) -> Log {
        let board = Board::new(threads, |_, _| {});
        board.submit(self);
        board.finish()
    }
}

/// Everything that was said, in the order in which it was said.
pub struct Log(pub Vec<Event>);

impl Log {
    pub fn of_method<'a>(&'a self, method: &'a str) -> impl Iterator<Item = (usize, &'a EventBody)> {
        let own = self.0.iter().enumerate().filter(move |(_, event)| &*event.method == method);
        own.map(|(position, event)| (position, &event.body))
    }

    /// Returns the end of the only run; panics if it failed.
    pub fn done(&self) -> &Done {
        let last = &self.0.last().unwrap();
        let EventBody::Done(done) = &last.body else { panic!("the last event is not done") };
        assert_ended_well(&last.method, done);
        done
    }

    pub fn done_of<'a>(&'a self, method: &'a str) -> &'a Done {
        let found = self.of_method(method).find_map(|(_, body)| match body {
            EventBody::Done(done) => Some(done),
            _ => None,
        });
        let done = found.unwrap();
        assert_ended_well(method, done);
        done
    }

    pub fn incumbents(&self) -> impl Iterator<Item = &Incumbent> {
        self.0.iter().filter_map(|event| match &event.body {
            EventBody::Incumbent(incumbent) => Some(incumbent),
            _ => None,
        })
    }
}

fn assert_ended_well(method: &str, done: &Done) {
    assert_ne!(done.status, EndStatus::Failed, "{method}: {} {:?}", done.message, done.violations);
    assert_ne!(done.status, EndStatus::Panicked, "{method}: {}", done.message);
    assert_ne!(done.status, EndStatus::Invalid, "{method}: {}", done.message);
}

type Act = Box<dyn Fn(&Event, &Runs) + Send + Sync>;

/// Records, then lets the test act on the thread of the run that speaks.
struct Tap {
    events: Mutex<Vec<Event>>,
    said: Condvar,
    runs: OnceLock<Weak<Runs>>,
    act: Act,
}

impl EventSink for Tap {
    fn report(&self, event: Event) {
        self.events.lock().unwrap().push(event.clone());
        self.said.notify_all();
        // Gone while the board is being dropped.
        if let Some(runs) = self.runs.get().and_then(Weak::upgrade) {
            (self.act)(&event, &runs);
        }
    }
}

/// A board whose runs a test can interfere with at any event.
pub struct Board {
    pub runs: Arc<Runs>,
    tap: Arc<Tap>,
}

impl Board {
    /// `act` is called for every event, on the thread of its run, after it was recorded.
    pub fn new(threads: usize, act: impl Fn(&Event, &Runs) + Send + Sync + 'static) -> Self {
        let tap = Arc::new(Tap {
            events: Mutex::default(),
            said: Condvar::new(),
            runs: OnceLock::new(),
            act: Box::new(act),
        });
        let clock = Arc::new(SystemClock::start());
        let runs = Arc::new(Runs::new(threads, RunId(1), tap.clone(), clock, None).unwrap());
        tap.runs.set(Arc::downgrade(&runs)).unwrap();
        Self { runs, tap }
    }

    pub fn submit(&self, asked: &Asked) -> RunId {
        self.runs.submit(asked.job()).run
    }

    /// Waits until an event was recorded for which `test` holds.
    pub fn wait_for(&self, test: impl Fn(&Event) -> bool) {
        let events = self.tap.events.lock().unwrap();
        let waited = self.tap.said.wait_timeout_while(events, PATIENCE, |events| !events.iter().any(&test));
        assert!(!waited.unwrap().1.timed_out(), "an event that was waited for never came");
    }

    pub fn finish(self) -> Log {
        assert!(self.runs.wait_idle(PATIENCE), "runs hang: {:?}", self.runs.states());
        Log(self.tap.events.lock().unwrap().clone())
    }
}

/// Reads the plan back from its file form and runs the checker on it again.
pub fn recheck(plan: &SharedPlan) -> Checked<Training> {
    let draft = read_draft::<Training>(&plan.to_value().unwrap()).unwrap();
    assert_eq!(draft.violations, [], "{:?}", plan.header());
    assert!(draft.warnings.is_empty(), "{:?}", draft.warnings);
    Checked::verify(draft.plan.unwrap(), Depth::Usual)
        .unwrap_or_else(|rejected| panic!("{:?}: {:#?}", plan.header(), rejected.violations))
}

/// The plan as a file without what may differ between equal plans.
pub fn essence(plan: &SharedPlan) -> String {
    let mut value = plan.to_value().unwrap();
    let map = value.as_object_mut().unwrap();
    map.remove("threads");
    map.remove("provenance");
    value.to_string()
}

pub fn circuits(plan: &SharedPlan) -> Vec<u32> {
    downcast::<Training>(plan).unwrap().plan().result.circuits()
}

pub fn topology_setting(circuits: &[u32]) -> String {
    let list: Vec<String> = circuits.iter().map(u32::to_string).collect();
    format!("topology={}", list.join(","))
}
