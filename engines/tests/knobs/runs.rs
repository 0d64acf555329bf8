//! Solving by name with settings as typed.

#[path = "../../training/tests/support/contended.rs"]
#[expect(dead_code, reason = "shared with tests that need more of it")]
mod contended;

use lightbay_core::clock::SystemClock;
use lightbay_core::event::{Done, EndStatus, Event, EventBody, Recorder, RunId};
use lightbay_core::param::Setting;
use lightbay_core::run::Runs;
use lightbay_core::scenario::Scenario;
use lightbay_core::worker::Launcher;
use lightbay_engines::{AnyScenario, Request, apply, job, preset};
use lightbay_training::TrainingScenario;
use std::sync::Arc;
use std::time::Duration;

pub fn settings(text: &str) -> Vec<Setting> {
    text.split_whitespace().map(|setting| setting.parse().unwrap()).collect()
}

/// A run and what it said.
pub struct Ran {
    pub done: Done,
    pub events: Vec<Event>,
}

impl Ran {
    /// The plan without what says how it was requested and found.
    pub fn plan(&self) -> String {
        let mut value = self.done.plan.as_ref().unwrap().to_value().unwrap();
        let map = value.as_object_mut().unwrap();
        for key in ["scenario", "parameters", "seed", "threads", "provenance", "name", "status", "limit"] {
            map.remove(key);
        }
        value.to_string()
    }

    /// Messages in order, without times and without repetitions of the request.
    pub fn log(&self) -> Vec<String> {
        // How often a solver of models tells how it gets on is a matter of time; where it ended is not.
        let of_solver = |body: &EventBody| matches!(body, EventBody::Solver(stats) if stats.unit == "nodes");
        let last = self.events.iter().rposition(|event| of_solver(&event.body));
        let bounds = |body: &EventBody| last.is_some() && matches!(body, EventBody::Bound(_));
        let told = self.events.iter().enumerate().filter_map(|(at, event)| match &event.body {
            // An incumbent is checked at once or later, as time allows. Lines of a solver carry its clock.
            EventBody::Started(_) | EventBody::Incumbent(_) | EventBody::Line(_) => None,
            body if bounds(body) || (of_solver(body) && last != Some(at)) => None,
            body => Some(serde_json::to_string(body).unwrap()),
        });
        told.collect()
    }
}

/// Helper processes, none of which can be started.
#[derive(Debug)]
struct NoHelpers;

impl Launcher for NoHelpers {
    fn launch(&self) -> std::io::Result<std::process::Child> {
        Err(std::io::Error::other("tests start no helper processes"))
    }
}

pub fn run(scenario: &AnyScenario, ask: &Request) -> Ran {
    let recorder = Arc::new(Recorder::default());
    let clock = Arc::new(SystemClock::start());
    let runs = Runs::new(2, RunId(1), recorder.clone(), clock, Some(Arc::new(NoHelpers))).unwrap();
    runs.submit(job(scenario, ask).unwrap());
    assert!(runs.wait_idle(Duration::from_mins(2)));
    let events = recorder.events();
    let Some(EventBody::Done(done)) = events.last().map(|event| event.body.clone()) else {
        panic!("the last event is not done")
    };
    Ran { done, events }
}

pub fn solve_ask(scenario: &AnyScenario, ask: &Request) -> Ran {
    let ran = run(scenario, ask);
    let done = &ran.done;
    let bad = [EndStatus::Failed, EndStatus::Panicked, EndStatus::Invalid];
    assert!(!bad.contains(&done.status), "{}: {} {:?}", ask.method, done.message, done.violations);
    ran
}

/// The name of a scenario in which more than last transfers compete and simulated schedules are not the best.
pub const CONTENDED: &str = "contended";

fn contended() -> AnyScenario {
    let body = TrainingScenario::Instance(contended::contended(145));
    AnyScenario::Training(Arc::new(Scenario::new(CONTENDED.to_owned(), body)))
}

/// Solves a preset by a method, both changed by settings.
pub fn solve(preset_name: &str, method: &str, text: &str) -> Ran {
    let scenario = if preset_name == CONTENDED { contended() } else { preset(preset_name).unwrap() };
    let (scenario, given) = apply(&scenario, method, &settings(text))
        .unwrap_or_else(|problems| panic!("{preset_name} {method} {text}: {problems}"));
    solve_ask(&scenario, &Request::of(method).with(given))
}

/// Returns `true` if a run ends without a plan because something went wrong on the way.
pub fn fails(preset_name: &str, method: &str, text: &str) -> bool {
    let (scenario, given) = apply(&preset(preset_name).unwrap(), method, &settings(text)).unwrap();
    run(&scenario, &Request::of(method).with(given)).done.status == EndStatus::Failed
}

/// Returns `true` if a method refuses settings once it knows the scenario.
pub fn is_refused(preset_name: &str, method: &str, text: &str) -> bool {
    let scenario = preset(preset_name).unwrap();
    let (scenario, given) = apply(&scenario, method, &settings(text)).unwrap();
    run(&scenario, &Request::of(method).with(given)).done.status == EndStatus::Invalid
}
