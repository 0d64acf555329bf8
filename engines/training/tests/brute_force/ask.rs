//! Running a method and keeping what it said.

use lightbay_core::clock::SystemClock;
use lightbay_core::event::{Done, EventBody, Recorder, RunId};
use lightbay_core::param::Params;
use lightbay_core::run::{Request, Runs, TypedJob};
use lightbay_core::scenario::Scenario;
use lightbay_training::{TrainingScenario, methods};
use std::sync::Arc;
use std::time::Duration;

/// Solves with settings as typed; returns how it ended and everything said before.
pub fn solve(body: TrainingScenario, name: &str, settings: &[(&str, &str)]) -> (Done, Vec<EventBody>) {
    let method = methods::all().into_iter().find(|method| method.info().name == name).unwrap();
    let info = method.info();
    let given: Vec<_> = settings
        .iter()
        .map(|(name, text)| {
            let param = info.params.iter().find(|param| param.name == *name).unwrap();
            (*name, param.parse(text).unwrap())
        })
        .collect();
    let request = Request {
        scenario: Arc::new(Scenario { name: "random".to_owned(), body }),
        params: Params::resolve(&info.params, given.iter().map(|(name, value)| (*name, value))).unwrap(),
        seed: 1,
        time_limit_s: None,
        gap: None,
        hot_start: None,
        proves: info.proves,
    };
    let recorder = Arc::new(Recorder::default());
    let runs = Runs::new(1, RunId(1), recorder.clone(), Arc::new(SystemClock::start()), None).unwrap();
    runs.submit(Box::new(TypedJob::new(method, request).unwrap()));
    assert!(runs.wait_idle(Duration::from_mins(2)));
    let mut said: Vec<EventBody> = recorder.events().into_iter().map(|event| event.body).collect();
    let Some(EventBody::Done(done)) = said.pop() else { panic!("the last event is not done") };
    (done, said)
}
