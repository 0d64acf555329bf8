//! The integer programs over intervals and slots, from scenario to checked plan.

use super::support::{Asked, circuits, preset, recheck};
use lightbay_core::event::{EndStatus, EventBody, HotStartFate};
use lightbay_core::method::MethodError;
use lightbay_core::param::Params;
use lightbay_core::scenario::Scenario;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;
use lightbay_training::{Training, TrainingScenario, methods};

fn near(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() < 1e-8)
}

#[test]
fn intervals_improve_a_hot_start_to_the_optimum_and_prove_it() {
    for (job, end_s) in [("tiny4", 0.450_424_228), ("tiny8", 0.677_754_318)] {
        let given = Asked::new(job, "simulate").set("topology=2,2,2 rates=level").solve();
        let mut asked = Asked::new(job, "delta-interval").set("relaxation=false mip_gap=1e-7");
        asked.hot_start = given.done().plan.clone();
        let log = asked.solve();
        let done = log.done();
        assert!(near(done.value, end_s) && near(done.bound, end_s), "{job}: {done:?}");
        assert_eq!(done.status, EndStatus::Optimal, "{job}");
        recheck(done.plan.as_ref().unwrap());
        let accepted = log.0.iter().any(
            |event| matches!(&event.body, EventBody::HotStart(report) if report.fate == HotStartFate::Accepted),
        );
        let sizes = log.0.iter().filter_map(|event| match &event.body {
            EventBody::Model(size) => Some((size.after.as_str(), size.integers)),
            _ => None,
        });
        let sizes: Vec<_> = sizes.collect();
        assert!(accepted, "{job}");
        assert!(sizes.iter().any(|(after, _)| *after == "written in full"), "{sizes:?}");
        assert!(sizes.iter().any(|(after, _)| *after == "index windows"), "{sizes:?}");
    }
}

#[test]
fn a_relaxation_built_in_ends_it_at_once() {
    let log = Asked::new("small", "delta-interval").solve();
    assert!(near(log.done().value, 0.354_406_495), "{:?}", log.done().value);
    assert_eq!(log.done().status, EndStatus::Optimal);
}

#[test]
fn the_fewest_ports_too() {
    let log = Asked::new("tiny4", "delta-interval").set("min_ports=true").solve();
    let plan = recheck(log.done().plan.as_ref().unwrap());
    assert_eq!(plan.plan().result.ports_used, 7);
    assert!(near(log.done().value, 0.450_424_228));
}

#[test]
fn given_circuits_are_kept() {
    let log = Asked::new("tiny4", "delta-interval").set("circuits=2,2,2").solve();
    assert_eq!(circuits(log.done().plan.as_ref().unwrap()), [2, 2, 2]);
    let level = Asked::new("tiny4", "simulate").set("topology=2,2,2 rates=level").solve();
    assert!(near(log.done().value, level.done().value.unwrap()));
}

#[test]
fn fair_plans_are_what_the_network_gives() {
    let mut asked = Asked::new("tiny4", "delta-interval").set("rates=fair formulation=strong");
    // A machine that stands still may take the time in which the plan would have been found.
    let within = |limit_s| {
        asked.time_limit_s = Some(limit_s);
        asked.solve()
    };
    let mut logs = [1.5, 6.0, 24.0].into_iter().map(within);
    let log = logs.find(|log| near(log.done().value, 0.454_124_603)).unwrap();
    let plan = recheck(log.done().plan.as_ref().unwrap());
    assert_eq!(plan.plan().result.rate_control, lightbay_training::plan::RateControl::Fair);
}

#[test]
fn one_order_at_a_time_is_no_proof_for_all() {
    let given = Asked::new("tiny8", "simulate").set("topology=2,2,2 rates=level").solve();
    let mut asked = Asked::new("tiny8", "delta-interval").set("margin=0 formulation=strong relaxation=false");
    asked.hot_start = given.done().plan.clone();
    asked.time_limit_s = Some(20.0);
    let log = asked.solve();
    let partial = log.0.iter().filter_map(|event| match &event.body {
        EventBody::Bound(bound) => Some(bound.only.clone()),
        _ => None,
    });
    let partial: Vec<_> = partial.collect();
    assert!(
        !partial.is_empty() && partial.iter().all(|only| only.as_deref() == Some("this event order only"))
    );
    assert_eq!(log.done().bound, None);
    assert!(log.done().value < given.done().value);
    recheck(log.done().plan.as_ref().unwrap());
}

#[test]
fn slots_give_a_plan_without_their_rounding() {
    let log = Asked::new("tiny4", "delta-fixed-step").set("dt_ms=20").solve();
    let done = log.done();
    assert_eq!(done.status, EndStatus::Heuristic);
    assert!(near(done.value, 0.450_424_228), "{:?}", done.value);
    let words = log.0.iter().any(
        |event| matches!(&event.body, EventBody::Note(note) if note.text.contains("0.540000 s in slots of 20 ms")),
    );
    assert!(words);
    recheck(done.plan.as_ref().unwrap());
}

#[test]
fn too_many_slots_are_refused_with_a_remedy() {
    for (job, settings) in [("tiny4", "dt_ms=0.05"), ("megatron_177b", "dt_ms=1")] {
        let log = Asked::new(job, "delta-fixed-step").set(settings).solve();
        let Some(EventBody::Done(done)) = log.0.last().map(|event| &event.body) else { panic!("{job}") };
        assert_eq!(done.status, EndStatus::Invalid, "{job}");
        assert!(done.message.contains("longer slots"), "{}", done.message);
    }
}

#[test]
fn models_can_be_solved_elsewhere_and_read_back() {
    let scenario = Scenario::<Training>::new("tiny4".to_owned(), TrainingScenario::Job(preset("tiny4")));
    for modelled in methods::models() {
        let name = modelled.name();
        let params = Params::resolve(&modelled.params(), []).unwrap();
        let model = modelled.model(&scenario, &params).unwrap();
        assert_eq!(model, modelled.model(&scenario, &params).unwrap(), "{name} is written the same twice");
        let solution =
            solve_here(&model, &Options::new().time_limit_s(60.0), &Start::None, &mut NoListener).unwrap();
        let mut values = solution.values.unwrap();
        let plan = modelled.plan(&scenario, &params, &values).unwrap();
        assert!(near(Some(plan.value), 0.450_424_228), "{name}: {}", plan.value);
        values[0] += 0.5;
        let Err(MethodError::Failed(why)) = modelled.plan(&scenario, &params, &values) else {
            panic!("{name}")
        };
        assert!(why.contains("not a whole number"), "{why}");
    }
}
