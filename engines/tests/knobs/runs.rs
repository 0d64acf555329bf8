//! Solving by name with settings as typed.

use lightbay_core::clock::SystemClock;
use lightbay_core::event::{Done, EndStatus, Event, EventBody, Recorder, RunId};
use lightbay_core::param::Setting;
use lightbay_core::run::Runs;
use lightbay_engines::{AnyScenario, Ask, apply, job, preset};
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
    /// The plan without what says how it was asked for and found.
    pub fn plan(&self) -> String {
        let mut value = self.done.plan.as_ref().unwrap().to_value().unwrap();
        let map = value.as_object_mut().unwrap();
        for key in ["scenario", "parameters", "seed", "threads", "provenance", "name", "status", "limit"] {
            map.remove(key);
        }
        value.to_string()
    }

    /// What was said in order, without times and without what only repeats the question.
    pub fn log(&self) -> Vec<String> {
        let told = self.events.iter().filter_map(|event| match &event.body {
            // An incumbent is checked at once or later, as time allows.
            EventBody::Started(_) | EventBody::Incumbent(_) => None,
            body => Some(serde_json::to_string(body).unwrap()),
        });
        told.collect()
    }
}

pub fn solve_ask(scenario: &AnyScenario, ask: &Ask) -> Ran {
    let recorder = Arc::new(Recorder::default());
    let runs = Runs::new(2, RunId(1), recorder.clone(), Arc::new(SystemClock::start()), None).unwrap();
    runs.submit(job(scenario, ask).unwrap());
    assert!(runs.wait_idle(Duration::from_mins(2)));
    let events = recorder.events();
    let Some(EventBody::Done(done)) = events.last().map(|event| event.body.clone()) else {
        panic!("the last event is not done")
    };
    let bad = [EndStatus::Failed, EndStatus::Panicked, EndStatus::Invalid];
    assert!(!bad.contains(&done.status), "{}: {} {:?}", ask.method, done.message, done.violations);
    Ran { done, events }
}

/// Solves a preset by a method, both changed by settings.
pub fn solve(preset_name: &str, method: &str, text: &str) -> Ran {
    let scenario = preset(preset_name).unwrap();
    let (scenario, given) = apply(&scenario, method, &settings(text))
        .unwrap_or_else(|problems| panic!("{preset_name} {method} {text}: {problems}"));
    solve_ask(&scenario, &Ask::of(method).with(given))
}
