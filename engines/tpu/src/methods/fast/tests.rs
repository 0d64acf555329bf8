use super::*;
use crate::plan::TpuResult;
use lightbay_core::checked::SharedPlan;
use lightbay_core::event::{Done, EndStatus};
use lightbay_core::param::ParamValue;
use lightbay_core::testing::{Ask, board};
use std::sync::Arc;
use std::time::Duration;

fn ask(body: TpuScenario, set: &[(&str, ParamValue)]) -> Ask<Tpu> {
    Ask::of(&crate::methods::all(), "tons-fast", body).with(set)
}

/// A whole run: its end and everything it said before.
fn run(
    body: TpuScenario,
    set: &[(&str, ParamValue)],
    threads: usize,
    hot: Option<SharedPlan>,
) -> (Done, Vec<EventBody>) {
    ask(body, set).threads(threads).from(hot).run().told()
}

/// Little work, no routes.
fn quick(steps: i64, rounds: i64) -> Vec<(&'static str, ParamValue)> {
    vec![
        ("steps", ParamValue::Int(steps)),
        ("rounds", ParamValue::Int(rounds)),
        ("chains", ParamValue::Int(4)),
        ("certificate_gap", ParamValue::Float(0.01)),
        ("routing", ParamValue::Text("none".to_owned())),
    ]
}

fn result(done: &Done) -> TpuResult {
    let plan = lightbay_core::checked::downcast::<Tpu>(done.plan.as_ref().unwrap()).unwrap();
    plan.plan().result.clone()
}

#[test]
fn a_pod_of_two_cubes_is_designed_and_certified_the_same_on_any_number_of_threads() {
    let (done, events) = run(TpuScenario::design(2), &quick(800, 1), 1, None);
    assert_eq!(done.status, EndStatus::Feasible, "{done:?}");
    let found = result(&done);
    // Chance gives 0.0125 to 0.0135.
    assert!(found.claims.mcf_lower > 0.01355, "{:?}", found.claims);
    assert!(found.claims.mcf_upper <= found.claims.mcf_lower * 1.0101);
    assert!(done.bound.unwrap() < 0.01428 && done.bound.unwrap() > found.claims.mcf_upper);
    let phases: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            EventBody::Phase(phase) => Some(phase.name.as_str()),
            _ => None,
        })
        .collect();
    assert!(["anneal", "certify", "cuts"].iter().all(|name| phases.contains(name)), "{phases:?}");
    let series = |name: &str| {
        events.iter().any(|event| matches!(event, EventBody::Series(point) if point.name == name))
    };
    assert!(
        ["metric_upper", "two_length_1_2", "hop_bound", "mcf_lower", "baseline_pdtt"].into_iter().all(series)
    );
    let (again, _) = run(TpuScenario::design(2), &quick(800, 1), 3, None);
    assert_eq!(result(&again), found);
}

#[test]
fn a_run_goes_on_from_the_plan_it_is_started_from() {
    let (first, _) = run(TpuScenario::design(3), &quick(60, 0), 2, None);
    let (second, events) = run(TpuScenario::design(3), &quick(300, 1), 2, first.plan.clone());
    let fate = events.iter().find_map(|event| match event {
        EventBody::HotStart(report) => Some(report.fate),
        _ => None,
    });
    assert_eq!(fate, Some(HotStartFate::Accepted));
    assert!(second.value.unwrap() >= first.value.unwrap() * (1.0 - 1e-9));
    let (other, events) = run(TpuScenario::design(2), &quick(60, 0), 2, first.plan.clone());
    assert!(other.plan.is_some());
    let rejected = |event: &EventBody| matches!(event, EventBody::HotStart(report) if report.fate == HotStartFate::Rejected);
    assert!(events.iter().any(rejected));
}

#[test]
fn one_cube_is_the_torus_that_it_can_only_be() {
    let (done, _) = run(TpuScenario::design(1), &quick(10, 0), 1, None);
    let found = result(&done);
    assert_eq!((found.claims.diameter, found.claims.hop_sum), (6, 64 * 64 * 3));
}

#[test]
fn a_given_group_and_symmetry_are_kept() {
    let mut scenario = TpuScenario::design(4);
    scenario.group = Some(crate::scenario::GroupChoice::Factors(vec![4]));
    let mut set = quick(100, 0);
    set.push(("symmetry", ParamValue::Text("free".to_owned())));
    let (done, _) = run(scenario.clone(), &set, 2, None);
    let pod = result(&done).topology.topology().unwrap();
    assert_eq!(pod.symmetry().unwrap().group, scenario.group().unwrap());
}

#[test]
fn a_scenario_that_names_a_torus_is_refused() {
    let mut scenario = TpuScenario::design(2);
    scenario.topology = TopologyChoice::Pt;
    let (done, _) = run(scenario, &quick(10, 0), 1, None);
    assert!(done.plan.is_none() && done.status == EndStatus::Invalid, "{done:?}");
    assert_eq!(
        done.message,
        "topology: is 'pt', which 'tons-fast' does not make; use 'pt' or 'evaluate', or set topology=design"
    );
}

#[test]
fn the_torus_is_the_first_plan_of_a_large_pod() {
    let scenario = TpuScenario::design(64);
    let torus = crate::model::baselines::pt(scenario.pt_shape()).unwrap();
    let (runs, heard) = board(2);
    runs.submit(ask(scenario, &quick(1_000_000, 0)).job());
    while !heard.events().iter().any(|event| matches!(event.body, EventBody::Incumbent(_))) {
        std::thread::sleep(Duration::from_millis(5));
    }
    runs.stop_all(Stop::Requested);
    assert!(runs.wait_idle(Duration::from_mins(5)));
    let Some(EventBody::Done(done)) = heard.events().pop().map(|event| event.body) else { panic!("no end") };
    // A design has shorter paths than the torus.
    assert_eq!(result(&done).claims.hop_sum, metrics::hops(&torus).unwrap().hop_sum);
}

/// States a bound and finds no plan.
struct Oracle(f64);

impl Method<Tpu> for Oracle {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "oracle",
            help: "Knows a bound.",
            proves: true,
            hot_start: false,
            params: Vec::new(),
        }
    }

    fn solve(
        &self,
        _: &Scenario<Tpu>,
        _: &Params,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError> {
        cx.bound(self.0);
        Ok(Outcome::done(Status::Feasible))
    }
}

#[test]
fn a_bound_of_another_run_ends_the_search_and_the_pod_is_finished_all_the_same() {
    let pod = || TpuScenario::design(2);
    let (first, _) = run(pod(), &quick(100, 0), 1, None);
    let (_, said) = run(pod(), &quick(1, 0), 1, first.plan.clone());
    let known = said.iter().find_map(|body| match body {
        EventBody::HotStart(report) => report.after,
        _ => None,
    });
    let (runs, heard) = board(1);
    let oracle: Arc<dyn Method<Tpu>> = Arc::new(Oracle(known.unwrap()));
    runs.submit(Ask::of(&[oracle], "oracle", pod()).job());
    assert!(runs.wait_idle(Duration::from_mins(1)));
    // So many evaluations take days.
    let mut set = quick(1_000_000_000, 1000);
    set.retain(|(name, _)| *name != "routing");
    set.push(("routing", ParamValue::Text("at".to_owned())));
    runs.submit(ask(pod(), &set).from(first.plan).job());
    assert!(runs.wait_idle(Duration::from_mins(5)), "it goes on");
    let mut bodies: Vec<EventBody> = heard.events().into_iter().map(|event| event.body).collect();
    let Some(EventBody::Done(done)) = bodies.pop() else { panic!("the last event is not done") };
    assert_eq!((done.status, done.value, done.bound), (EndStatus::Optimal, known, known));
    assert!(bodies.iter().any(|body| matches!(body, EventBody::Note(note)
        if note.text.starts_with("no better plan exists: oracle proved the bound"))));
    // The search is over; routes are computed for what it found.
    assert!(result(&done).routing.is_some());
}
