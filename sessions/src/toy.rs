//! A kind with a minimal scenario and result, for checked plans in tests.

use lightbay_core::checked::{Checked, SharedPlan, Verdict};
use lightbay_core::event::{
    Bound, Done, EndStatus, Event, EventBody, GenerationStats, Incumbent, RunId, SeriesPoint,
};
use lightbay_core::kind::{Carried, Depth, Kind, ObjectiveInfo};
use lightbay_core::param::{ParamInfo, ParamValue, Params};
use lightbay_core::plan::{Objective, Plan, Provenance, Status};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::Fields;
use lightbay_core::report::Unit;
use lightbay_core::scenario::Scenario;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Toy;

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ToyScenario {
    pub(crate) size: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ToyResult {
    pub(crate) filler: String,
}

impl Kind for Toy {
    const NAME: &'static str = "toy";
    const OBJECTIVE: ObjectiveInfo = ObjectiveInfo::min("cost", "cost", Unit::NUMBER, "What the toy counts.");
    const DEFAULT_METHOD: &'static str = "guess";
    type Scenario = ToyScenario;
    type Result = ToyResult;

    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ToyScenario> {
        Some(ToyScenario { size: fields.int("size", 0..=100, problems)? })
    }
    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ToyResult> {
        Some(ToyResult { filler: fields.text("filler", problems)?.to_owned() })
    }
    fn validate(_: &ToyScenario) -> Result<(), Problems> {
        Ok(())
    }
    fn knobs(_: Option<&ToyScenario>) -> Vec<ParamInfo> {
        vec![ParamInfo::int("size", 0, 100, 1, "Size of the toy.")]
    }
    fn knob(scenario: &ToyScenario, name: &str) -> Option<ParamValue> {
        (name == "size").then_some(ParamValue::Int(scenario.size))
    }
    fn set_knob(_: &mut ToyScenario, _: &str, _: Option<usize>, _: &ParamValue) -> Result<(), Problem> {
        Ok(())
    }
    fn check(_: &Plan<Self>, _: Depth) -> Verdict {
        Verdict::clean()
    }
    fn carry(result: &ToyResult, _: &ToyScenario, _: &ToyScenario) -> Result<Carried<ToyResult>, String> {
        Err(result.filler.clone())
    }
}

/// Returns an unchecked plan of a toy scenario of this size.
pub(crate) fn draft(size: i64, value: f64, filler: String) -> Plan<Toy> {
    let scenario = Scenario::<Toy>::new("toy box".to_owned(), ToyScenario { size });
    let sha256 = scenario.sha256().unwrap();
    let mut parameters = Params::default();
    parameters.set("seed", ParamValue::Int(7));
    Plan {
        scenario: Arc::new(scenario),
        name: "toy box".to_owned(),
        method: "guess".to_owned(),
        parameters,
        seed: 7,
        threads: 2,
        status: Status::Heuristic,
        limit: None,
        objective: Objective::of::<Toy>(value, None),
        metrics: BTreeMap::from([("weight".to_owned(), 2.0 * value)]),
        provenance: Provenance { scenario_sha256: sha256, reproducible: true, ..Provenance::default() },
        derived_from: None,
        notes: None,
        result: ToyResult { filler },
    }
}

/// A checked plan.
pub(crate) fn plan(value: f64) -> SharedPlan {
    Arc::new(Checked::verify(draft(1, value, "x".to_owned()), Depth::Usual).unwrap())
}

pub(crate) fn event(run: u64, seq: u64, body: EventBody) -> Event {
    Event { run: RunId(run), method: "guess".into(), seq, elapsed_s: seq as f64 / 10.0, body }
}

pub(crate) fn incumbent(run: u64, seq: u64, number: u64, value: f64) -> Event {
    let plan = (number > 0).then(|| plan(value));
    let body = EventBody::Incumbent(Incumbent {
        number,
        value,
        secondary: 1.0,
        source: "guess".to_owned(),
        checked: number > 0,
        metrics: BTreeMap::new(),
        plan,
    });
    event(run, seq, body)
}

pub(crate) fn bound(run: u64, seq: u64, value: f64) -> Event {
    event(run, seq, EventBody::Bound(Bound { value, only: None }))
}

pub(crate) fn series(run: u64, seq: u64, name: &str, y: f64) -> Event {
    event(run, seq, EventBody::Series(SeriesPoint { name: name.to_owned(), x: seq as f64, y }))
}

pub(crate) fn generation(run: u64, seq: u64, best: f64) -> Event {
    event(run, seq, EventBody::Generation(GenerationStats { best, generation: seq, ..Default::default() }))
}

pub(crate) fn done(run: u64, seq: u64, value: Option<f64>) -> Event {
    let body = EventBody::Done(Done {
        status: EndStatus::Heuristic,
        limit: None,
        message: String::new(),
        violations: Vec::new(),
        value,
        bound: None,
        work: 9,
        plan: value.map(plan),
    });
    event(run, seq, body)
}
