//! Tests of the verification of claimed bounds.

use super::support::{Scenario, job_case, preset, runs, simulated, toy_a_fair, toy_a_idle, toy_a_joint};
use super::worked::tiny4_level_first;
use crate::check::exact::optimum;
use crate::check::{Claims, check_instance, code};
use lightbay_core::checked::{BoundTrust, VerifiedBound};
use lightbay_core::clock::Deadline;
use lightbay_core::kind::Depth;
use std::time::Duration;

#[test]
fn small_bounds_are_proven_at_once() {
    let mut plan = tiny4_level_first();
    assert_eq!(plan.check().bound, BoundTrust::None);
    for bound_s in [0.0, 0.449082051, plan.makespan_s] {
        plan.bound_s = Some(bound_s);
        let verdict = plan.check();
        assert_eq!(verdict.bound, BoundTrust::Verified, "{bound_s}");
        // The checker proves more than a weak claim.
        let verified = VerifiedBound { value: plan.makespan_s, covers: None, gap: 0.0 };
        assert_eq!(verdict.verified, Some(verified), "{bound_s}");
    }
}

#[test]
fn what_the_time_does_not_suffice_for_is_said() {
    let mut plan = toy_a_fair();
    plan.bound_s = Some(0.0333);
    let verdict = plan.check_at(Depth::Exact(Deadline::after(Duration::ZERO)));
    assert_eq!((verdict.bound, verdict.violations.len()), (BoundTrust::Claimed, 0));
    assert_eq!(
        verdict.remarks,
        [
            "the least possible makespan is not verified within 0 s",
            "the best plan at max-min fair rates is not verified within 0 s",
            "bound 0.033300000 s is claimed by 'by-hand'; the checker itself proves a bound of 0.030000000 s"
        ]
    );
}

#[test]
fn a_bound_says_what_it_covers() {
    // At fair rates no plan takes less than 33.3 ms, with decided ones 30.
    let fair = toy_a_fair().result.rate_control.bound_covers();
    let fair_s = toy_a_fair().makespan_s;
    for (plan, covers, bound_s) in
        [(toy_a_fair(), None, fair_s), (toy_a_fair(), Some("all plans"), 0.01), (toy_a_joint(), fair, 0.01)]
    {
        let claims = Claims { bound_covers: covers, bound_s: Some(bound_s), ..plan.claims() };
        let Scenario::Instance(instance) = &plan.scenario else { panic!("an instance") };
        let verdict = check_instance(instance, &plan.result, &claims, Depth::Usual);
        assert_eq!(verdict.violations[0].code, code::BOUND, "{covers:?}");
    }
}

#[test]
fn a_bound_that_a_better_plan_beats_is_wrong() {
    // Two circuits take 40 ms; three allow 30.
    let mut plan = toy_a_idle();
    plan.bound_s = Some(0.035);
    plan.assert_codes(&[code::BOUND]);
    let message = &plan.check().violations[0].message;
    assert_eq!(message, "bound 0.035000000 s is wrong: circuits [3] allow an iteration of 0.030000000 s");
    plan.bound_s = Some(0.03);
    assert_eq!(plan.check().bound, BoundTrust::Verified);
}

#[test]
fn fair_bounds_need_a_thorough_check() {
    let mut plan = toy_a_fair();
    plan.bound_s = Some(0.0333);
    let verdict = plan.check();
    assert_eq!((verdict.bound, verdict.violations.len()), (BoundTrust::Claimed, 0));
    assert_eq!(
        verdict.remarks,
        ["bound 0.033300000 s is claimed by 'by-hand'; the checker itself proves a bound of 0.030000000 s"]
    );
    assert_eq!(plan.check_at(Depth::EXACT).bound, BoundTrust::Verified);
    // With two circuits 40 ms, with three 33.3: a bound between is wrong.
    let mut slow = simulated(&plan.scenario, &[2]);
    let merged = slow.result.tasks.clone();
    slow.result.tasks = vec![
        runs(0, 0.0, &[(2.0, 0.01), (1.0, merged[0].finish_s)]),
        runs(1, 0.01, &[(1.0, merged[0].finish_s), (2.0, merged[1].finish_s)]),
    ];
    slow.bound_s = Some(0.035);
    assert_eq!(slow.check().violations, []);
    let verdict = slow.check_at(Depth::EXACT);
    assert_eq!(verdict.violations[0].code, code::BOUND);
}

#[test]
fn a_thorough_check_says_how_far_from_best() {
    let verdict = toy_a_idle().check_at(Depth::EXACT);
    assert_eq!(
        verdict.remarks,
        ["1 circuit allocation tried: 0.030000000 s is the minimum, but this plan takes 0.010000000 s more"]
    );
    assert_eq!(toy_a_joint().check_at(Depth::EXACT).violations, []);
}

#[test]
fn joint_optima_of_the_built_in_jobs() {
    for (name, optimum_s) in [
        ("tiny4", 0.450424),
        ("tiny8", 0.677754),
        ("tiny32", 2.041735),
        ("small", 0.354406),
        ("megatron_177b", 12.829852),
        ("mixtral_8x22b", 11.350826),
        ("megatron_462b", 32.957843),
        ("deepseek_671b", 12.055830),
    ] {
        let (value_s, reached) = optimum(&job_case(&preset(name))).unwrap();
        assert!(reached, "{name}");
        assert!((value_s - optimum_s).abs() < 1e-6, "{name}: {value_s}");
    }
}

#[test]
fn contention_inside_the_graph_gives_a_bound_only() {
    let case = job_case(&preset("one_stage_per_pod"));
    let (value_s, reached) = optimum(&case).unwrap();
    assert!(!reached);
    // Known to be the best possible end, and that a plan reaches it.
    assert!(value_s <= 0.356200 + 1e-6, "{value_s}");
}
