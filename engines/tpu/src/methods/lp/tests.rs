//! Runs of the three methods on the optimisation model.

use super::*;
use crate::methods::{all, models};
use lightbay_core::checked::downcast;
use lightbay_core::event::{Done, EndStatus};
use lightbay_core::param::ParamValue;
use lightbay_core::scenario::Scenario;
use lightbay_core::testing::Ask;

fn run(name: &str, body: TpuScenario, set: &[(&str, ParamValue)]) -> Done {
    let with_few = [("routing", ParamValue::Text("none".to_owned()))];
    Ask::of(&all(), name, body).with(&with_few).with(set).run().done
}

fn throughput(done: &Done) -> f64 {
    downcast::<Tpu>(done.plan.as_ref().unwrap()).unwrap().plan().result.claims.mcf_lower
}

#[test]
fn rounding_the_relaxation_gives_a_pod_below_the_bound_of_all() {
    let set = [("roundings", ParamValue::Int(200)), ("certified", ParamValue::Int(1))];
    let done = run("tons-lp", TpuScenario::design(2), &set);
    assert_eq!(done.status, EndStatus::Feasible, "{done:?}");
    // The cover bound by positions; the relaxation alone gives 0.014423.
    assert!((0.014277..0.014278).contains(&done.bound.unwrap()), "{done:?}");
    assert!(throughput(&done) > 0.0125 && throughput(&done) < done.bound.unwrap());
}

#[test]
fn fixing_switches_step_by_step_comes_close_to_the_bound() {
    let set = [("fix_per_round", ParamValue::Int(12)), ("relaxation_gap", ParamValue::Float(0.005))];
    let done = run("tons-lp-greedy", TpuScenario::design(2), &set);
    assert_eq!(done.status, EndStatus::Feasible, "{done:?}");
    assert!(throughput(&done) > 0.0132, "{done:?}");
    assert!(throughput(&done) < done.bound.unwrap());
}

#[test]
fn branch_and_bound_proves_the_only_pod_of_one_cube() {
    let done =
        run("tons-milp", TpuScenario::design(1), &[("solver_process", ParamValue::Text("own".to_owned()))]);
    // The cover bound of one cube is what its only pod carries.
    assert_eq!(done.status, EndStatus::Optimal, "{done:?}");
    assert!((throughput(&done) - 0.03125).abs() < 1e-6 * 0.03125, "{done:?}");
    assert!((done.bound.unwrap() / 0.03125 - 1.0).abs() < 1e-4, "{done:?}");
}

#[test]
fn pods_that_are_too_large_are_refused_with_a_remedy() {
    for (name, cubes) in [("tons-lp", 17), ("tons-lp-greedy", 9), ("tons-milp", 5)] {
        let done = run(name, TpuScenario::design(cubes), &[]);
        assert_eq!(done.status, EndStatus::Invalid);
        assert!(done.message.contains("tons-fast"), "{}", done.message);
    }
}

#[test]
fn a_point_of_the_model_becomes_a_plan() {
    let written = models().remove(0);
    let scenario = Scenario::new("pod".to_owned(), TpuScenario::design(1));
    let params = Params::default();
    let model = written.model(&scenario, &params).unwrap();
    assert_eq!(model.size().integers, 48);
    let mut point = vec![0.0; model.columns()];
    assert!(written.plan(&scenario, &params, &point).is_err());
    point[1..49].fill(1.0);
    let candidate = written.plan(&scenario, &params, &point).unwrap();
    assert!((candidate.value - 0.03125).abs() < 1e-6);
    assert!(written.plan(&scenario, &params, &point[1..]).is_err());
}
