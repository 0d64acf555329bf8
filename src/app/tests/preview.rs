//! Tests of the preview that panes show before the first solve.

use super::support::{Bench, real_plan};
use crate::app::action::{Action, Fact};
use crate::app::drawn::Drawn;
use crate::app::effect::{Effect, Evaluation};
use crate::app::layer::Preview;
use crate::app::plans::PlanRef;
use lightbay_engines::AnyPlan;

fn requested(bench: &Bench) -> Option<Evaluation> {
    bench.effects.iter().find_map(|effect| match effect {
        Effect::Evaluate(evaluation) => Some(evaluation.clone()),
        _ => None,
    })
}

fn draw(bench: &mut Bench) -> Option<Evaluation> {
    bench.act(Action::Drawn(Drawn::default()));
    requested(bench)
}

fn answer(bench: &mut Bench, key: u64) {
    let plan = PlanRef(AnyPlan::of(&real_plan("iter-halve")).unwrap());
    bench.fact(Fact::Evaluated { key, previews: vec![Preview { variant: "", plan: Ok(plan) }] });
}

#[test]
fn panes_show_a_preview_until_there_is_a_plan() {
    let mut bench = Bench::open();
    let first = draw(&mut bench).expect("requested after the first frame");
    assert_eq!((first.method.as_str(), first.base), ("prop-alloc", None));
    assert!(draw(&mut bench).is_none(), "requested once");
    assert!(bench.app.shown_plan().is_none());
    answer(&mut bench, first.key);
    assert!(bench.app.shown_plan().is_some() && bench.app.preview().is_some());
    assert_eq!(bench.app.shown_key(), first.key);
    assert!(bench.app.plans.rows().is_empty() && bench.app.plans.shown().is_none());

    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "iter-halve", 1);
    assert!(bench.app.preview().is_none());
    assert_eq!(bench.app.shown_key(), bench.app.plans.shown().unwrap().number);
    assert!(draw(&mut bench).is_none());
}

#[test]
fn a_changed_scenario_has_another_preview() {
    let mut bench = Bench::open();
    let first = draw(&mut bench).unwrap();
    answer(&mut bench, first.key);
    bench.keys(":").text("set bandwidth_gbps=800").keys("Enter");
    let second = draw(&mut bench).expect("the scenario is another one");
    assert_ne!(first.key, second.key);
    assert!(bench.app.shown_plan().is_none(), "the preview of the old scenario is gone");
    answer(&mut bench, first.key);
    assert!(bench.app.shown_plan().is_none(), "a late answer does not count");
    answer(&mut bench, second.key);
    assert!(bench.app.shown_plan().is_some());
}
