//! A kind small enough to test the contracts with: find the smallest number of a list.
#![allow(dead_code, reason = "each test file uses a part")]

use lightbay_core::checked::{Verdict, VerifiedBound, Violation};
use lightbay_core::clock::{Clock, ManualClock};
use lightbay_core::context::Context;
use lightbay_core::event::{Event, EventBody, EventSink, HotStartFate, Recorder, RunId};
use lightbay_core::kind::{Candidate, Carried, Depth, Kind, ObjectiveInfo, Sense};
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::{Plan, Status};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::Fields;
use lightbay_core::report::Unit;
use lightbay_core::run::{Request, Runs, TypedJob};
use lightbay_core::scenario::Scenario;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
pub struct Toy;

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ToyScenario {
    pub numbers: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ToyResult {
    pub position: i64,
}

impl Kind for Toy {
    const NAME: &'static str = "toy";
    const OBJECTIVE: ObjectiveInfo =
        ObjectiveInfo::min("number", "number", Unit::NUMBER, "What the toy counts.");
    const DEFAULT_METHOD: &'static str = "scan";
    type Scenario = ToyScenario;
    type Result = ToyResult;

    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ToyScenario> {
        let numbers =
            fields.list("numbers", problems)?.iter().filter_map(serde_json::Value::as_i64).collect();
        Some(ToyScenario { numbers })
    }
    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ToyResult> {
        Some(ToyResult { position: fields.int("position", 0..=i64::MAX, problems)? })
    }
    fn validate(scenario: &ToyScenario) -> Result<(), Problems> {
        if scenario.numbers.is_empty() {
            return Err(Problem::new("numbers", "is empty", "give at least one").into());
        }
        Ok(())
    }
    fn check(plan: &Plan<Self>, _: Depth) -> Verdict {
        let mut verdict = Verdict::clean();
        let number = plan.scenario.body.numbers.get(plan.result.position as usize);
        if number.map(|number| *number as f64) != Some(plan.objective.value) {
            verdict
                .violations
                .push(Violation::new("number", format!("{number:?} is not {}", plan.objective.value)));
        }
        if plan.scenario.body.numbers.contains(&MISTAKEN) {
            let least = MISTAKEN as f64;
            verdict.verified = Some(VerifiedBound::of(Sense::Min, plan.objective.value, least, None));
        }
        verdict
    }
    fn carry(result: &ToyResult, _: &ToyScenario, to: &ToyScenario) -> Result<Carried<ToyResult>, String> {
        let number = to.numbers.get(result.position as usize).ok_or("the position is gone")?;
        Ok(Carried { candidate: candidate(*number, result.position), repairs: Vec::new() })
    }
}

/// Where it is among the numbers, the checker takes it for the smallest of all.
pub const MISTAKEN: i64 = 777;

pub fn candidate(number: i64, position: i64) -> Candidate<ToyResult> {
    Candidate { value: number as f64, metrics: BTreeMap::new(), result: ToyResult { position } }
}

/// Behaviour of the method after its scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Then {
    Prove,
    WaitForever,
    WaitAfterFirst,
    /// Goes on until nothing better exists.
    UntilClosed,
    /// Goes on until a checkpoint ends the search because nothing better exists.
    UntilProven,
    /// Claims this bound on all plans, then waits.
    Bound(i64),
    /// Claims this bound on all plans, and that it has found the best one.
    Claim(i64),
    Panic,
    Lie,
    /// Hands over a plan that is refused, and continues from the one before it.
    LieAndGoOn,
}

/// Looks at the numbers one by one.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    pub name: &'static str,
    pub then: Then,
}

impl Method<Toy> for Scan {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: self.name,
            help: "Looks at all.",
            proves: true,
            hot_start: true,
            params: Vec::new(),
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Toy>,
        _: &Params,
        cx: &mut Context<'_, Toy>,
    ) -> Result<Outcome, MethodError> {
        if let Some(start) = cx.hot_start() {
            let before = start.plan.plan().objective.value;
            let carried =
                Toy::carry(&start.plan.plan().result, &start.plan.plan().scenario.body, &scenario.body);
            match carried {
                Ok(carried) => {
                    cx.hot_start_fate(
                        HotStartFate::Accepted,
                        "",
                        Some(before),
                        Some(carried.candidate.value),
                    );
                    cx.incumbent(carried.candidate.value, 0.0, "hot start", move || carried.candidate)?;
                }
                Err(why) => cx.hot_start_fate(HotStartFate::Rejected, why, Some(before), None),
            }
        }
        for (position, number) in scenario.body.numbers.iter().enumerate() {
            cx.checkpoint()?;
            cx.count_work(1);
            let (number, position) = (*number, position as i64);
            cx.incumbent(number as f64, 0.0, "scan", move || candidate(number, position))?;
            if self.then == Then::WaitAfterFirst {
                break;
            }
        }
        match self.then {
            Then::Prove => {
                let best = cx.best().map_or(0.0, |(value, _)| value);
                cx.bound(best);
                Ok(Outcome::done(Status::Optimal))
            }
            Then::WaitForever | Then::WaitAfterFirst => loop {
                cx.checkpoint()?;
                if let Some(plan) = cx.offered() {
                    let (value, result) = (plan.plan().objective.value, plan.plan().result.clone());
                    let taken =
                        cx.incumbent(value, 0.0, "offer", move || candidate(value as i64, result.position))?;
                    cx.offer_fate(&plan, Some(value), taken);
                }
                std::thread::yield_now();
            },
            Then::UntilClosed => loop {
                cx.checkpoint()?;
                if cx.closed() {
                    return Ok(Outcome::done(Status::Optimal));
                }
                std::thread::yield_now();
            },
            Then::UntilProven => {
                cx.end_when_proven(true);
                loop {
                    cx.checkpoint()?;
                    std::thread::yield_now();
                }
            }
            Then::Bound(bound) => {
                cx.bound(bound as f64);
                loop {
                    cx.checkpoint()?;
                    std::thread::yield_now();
                }
            }
            Then::Claim(bound) => {
                cx.bound(bound as f64);
                Ok(Outcome::done(Status::Optimal))
            }
            Then::Panic => panic!("deliberate"),
            Then::Lie => {
                cx.incumbent(-1e6, 0.0, "lie", || candidate(-1_000_000, 0))?;
                cx.checkpoint()?;
                Ok(Outcome::done(Status::Feasible))
            }
            Then::LieAndGoOn => {
                cx.best_plan()?;
                let before = cx.best();
                let handed = cx.incumbent(-1e6, 0.0, "lie", || candidate(-1_000_000, 0));
                let refused = handed.and_then(|_| cx.best_plan().map(drop));
                assert!(matches!(refused, Err(MethodError::Rejected(_))), "{refused:?}");
                assert_eq!(cx.best(), before);
                Ok(Outcome::done(Status::Feasible))
            }
        }
    }
}

pub fn scenario(numbers: &[i64]) -> Arc<Scenario<Toy>> {
    Arc::new(Scenario::new("toy".into(), ToyScenario { numbers: numbers.to_vec() }))
}

pub fn request(scenario: &Arc<Scenario<Toy>>) -> Request<Toy> {
    Request {
        scenario: Arc::clone(scenario),
        params: Params::default(),
        seed: 1,
        time_limit_s: None,
        gap: None,
        hot_start: None,
        proves: true,
    }
}

pub fn job(method: Scan, request: Request<Toy>) -> Box<TypedJob<Toy>> {
    Box::new(TypedJob::new(Arc::new(method), request).expect("finite"))
}

pub fn board() -> (Runs, Arc<Recorder>, Arc<ManualClock>) {
    let (recorder, clock) = (Arc::new(Recorder::default()), Arc::new(ManualClock::default()));
    let runs = Runs::new(
        2,
        RunId(1),
        Arc::clone(&recorder) as Arc<dyn EventSink>,
        Arc::clone(&clock) as Arc<dyn Clock>,
        None,
    );
    (runs.expect("threads"), recorder, clock)
}

/// Waits until an event for which `wanted` holds was said; fails after a generous time.
pub fn wait_for(recorder: &Recorder, wanted: impl Fn(&Event) -> bool) -> Event {
    let start = std::time::Instant::now();
    loop {
        if let Some(event) = recorder.events().into_iter().find(|event| wanted(event)) {
            return event;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "said only {:?}", recorder.events());
        std::thread::yield_now();
    }
}

pub fn done(recorder: &Recorder, run: RunId) -> lightbay_core::event::Done {
    let event = wait_for(recorder, |event| event.run == run && matches!(event.body, EventBody::Done(_)));
    match event.body {
        EventBody::Done(done) => done,
        other => panic!("{other:?}"),
    }
}
