//! A kind that is one model, and the method that solves it: enough to see what a run says.

use super::{PATIENCE, Spy};
use lightbay_core::checked::{Verdict, Violation};
use lightbay_core::clock::SystemClock;
use lightbay_core::context::Context;
use lightbay_core::event::{Event, EventBody, Recorder, RunId};
use lightbay_core::kind::{Candidate, Carried, Depth, Kind, ObjectiveInfo};
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::{Plan, Status};
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::report::Unit;
use lightbay_core::run::{Request, Runs, TypedJob};
use lightbay_core::scenario::Scenario;
use lightbay_highs::conflict::sentence;
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{self, Start};
use lightbay_highs::solve::{Reader, SolveRequest, run, why_infeasible};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Cover at least cost.
#[derive(Debug)]
pub struct Cover;

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Nothing {}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    cost: f64,
}

impl Kind for Cover {
    const NAME: &'static str = "cover";
    const OBJECTIVE: ObjectiveInfo = ObjectiveInfo::min("cost", "cost", Unit::NUMBER, "What the toy counts.");
    const DEFAULT_METHOD: &'static str = "solver";
    type Scenario = Nothing;
    type Result = Cost;

    fn read_scenario(_: &mut Fields<'_>, _: &mut Problems) -> Option<Nothing> {
        Some(Nothing {})
    }
    fn read_result(_: &mut Fields<'_>, _: &mut Problems) -> Option<Cost> {
        None
    }
    fn validate(_: &Nothing) -> Result<(), Problems> {
        Ok(())
    }
    fn check(plan: &Plan<Self>, _: Depth) -> Verdict {
        let mut verdict = Verdict::clean();
        if plan.objective.value != plan.result.cost {
            verdict.violations.push(Violation::new("cost", "is another"));
        }
        verdict
    }
    fn carry(_: &Cost, _: &Nothing, _: &Nothing) -> Result<Carried<Cost>, String> {
        Err("there is only one".to_owned())
    }
}

/// Hands everything on.
struct Handing {
    /// Knows from elsewhere that what it hands over is the best.
    knows: bool,
}

impl Reader<Cover> for Handing {
    fn incumbent(
        &mut self,
        cx: &mut Context<'_, Cover>,
        objective: f64,
        _: &[f64],
        source: &str,
    ) -> Result<(), MethodError> {
        let build = move || Candidate {
            value: objective,
            metrics: BTreeMap::new(),
            result: Cost { cost: objective },
        };
        cx.incumbent(objective, 0.0, source, build).map(drop)?;
        if self.knows {
            cx.bound(objective);
        }
        Ok(())
    }

    fn bound(&mut self, cx: &mut Context<'_, Cover>, bound: f64) -> Result<(), MethodError> {
        cx.bound(bound);
        Ok(())
    }
}

/// Solves one model.
pub struct Solver {
    pub model: Model,
    pub options: Options,
    pub start: Start,
    pub isolated: bool,
    /// `true` if what it finds first is known to be the best.
    pub knows: bool,
    /// `true` if it has a plan before it asks the solver.
    pub plan_before: bool,
}

impl Method<Cover> for Solver {
    fn info(&self) -> MethodInfo {
        MethodInfo { name: "solver", help: "Solves.", proves: true, hot_start: false, params: Vec::new() }
    }

    fn solve(
        &self,
        _: &Scenario<Cover>,
        _: &Params,
        cx: &mut Context<'_, Cover>,
    ) -> Result<Outcome, MethodError> {
        let ask = SolveRequest {
            model: &self.model,
            options: self.options.clone(),
            start: self.start.clone(),
            isolated: self.isolated,
        };
        let mut handing = Handing { knows: self.knows };
        if self.plan_before {
            handing.incumbent(cx, 1e6, &[], "a guess")?;
        }
        let solution = run(ask, &mut handing, cx)?;
        Ok(match solution.status {
            solution::Status::Optimal => Outcome::done(Status::Optimal),
            solution::Status::Infeasible => {
                let why = why_infeasible(&self.model, self.isolated, cx)?;
                let why = why.map(|found| {
                    sentence(found.rows.iter().chain(&found.columns).map(ToString::to_string), &found)
                });
                Outcome::Infeasible(why.unwrap_or_else(|| "no reason was found".to_owned()))
            }
            _ => Outcome::done(Status::Feasible),
        })
    }
}

/// A run of a solver.
pub struct Running {
    pub runs: Runs,
    pub run: RunId,
    recorder: Arc<Recorder>,
}

impl Running {
    pub fn start(solver: Solver, spy: Option<&Spy>, time_limit_s: Option<f64>) -> Self {
        let recorder = Arc::new(Recorder::default());
        let launcher = spy.map(|spy| Arc::new(spy.clone()) as Arc<dyn lightbay_core::worker::Launcher>);
        let clock = Arc::new(SystemClock::start());
        let runs = Runs::new(1, RunId(1), recorder.clone(), clock, launcher).unwrap();
        let request = Request {
            scenario: Arc::new(Scenario::new("cover".into(), Nothing {})),
            params: Params::default(),
            seed: 1,
            time_limit_s,
            gap: None,
            hot_start: None,
            proves: true,
        };
        let run = runs.submit(Box::new(TypedJob::new(Arc::new(solver), request).unwrap())).run;
        Self { runs, run, recorder }
    }

    pub fn events(&self) -> Vec<Event> {
        self.recorder.events()
    }

    /// Waits until something was said for which `wanted` finds a value.
    pub fn hear<T>(&self, wanted: impl Fn(&EventBody) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(found) = self.events().iter().find_map(|event| wanted(&event.body)) {
                return found;
            }
            assert!(began.elapsed() < PATIENCE, "said only {:?}", self.events());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub fn done(&self) -> lightbay_core::event::Done {
        self.hear(|body| match body {
            EventBody::Done(done) => Some(done.clone()),
            _ => None,
        })
    }

    pub fn notes(&self) -> Vec<String> {
        self.events()
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::Note(note) => Some(format!("{} {}", note.severity.letter(), note.text)),
                _ => None,
            })
            .collect()
    }
}
