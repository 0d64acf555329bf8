//! Time limit and gap: both end a run with the best plan, and the plan says so.

use super::support::{Asked, recheck};
use lightbay_core::event::EndStatus;
use lightbay_core::plan::{Limit, Status};

const FOR_EVER: &str = "generations=1000000 stall_generations=1000000 wall_limit_s=0";

#[test]
fn the_time_limit_ends_a_search_that_would_go_on() {
    for method in ["delta-fast", "delta-level"] {
        let mut asked = Asked::new("deepseek_671b", method).set(FOR_EVER);
        // A machine that stands still may take the time of the baselines.
        let within = |limit_s| {
            asked.time_limit_s = Some(limit_s);
            (limit_s, asked.solve())
        };
        let mut logs = [0.15, 1.5, 15.0].into_iter().map(within);
        let (limit_s, log) = logs.find(|(_, log)| log.done().plan.is_some()).unwrap();
        let done = log.done();
        assert_eq!((done.status, done.limit), (EndStatus::Stopped, Some(Limit::Time)), "{method}");
        let plan = recheck(done.plan.as_ref().unwrap());
        assert_eq!((plan.plan().status, plan.plan().limit), (Status::Stopped, Some(Limit::Time)));
        assert!(!plan.plan().provenance.reproducible);
        assert!(plan.plan().provenance.elapsed_s >= limit_s);
    }
}

#[test]
fn a_limit_that_is_over_at_once_still_ends_orderly() {
    for method in super::support::names().into_iter().filter(|method| *method != "delta-fixed-step") {
        let mut asked = Asked::new("mixtral_8x22b", method).set("topology=1,1,1,1,1,1,1");
        asked.time_limit_s = Some(1e-9);
        let log = asked.solve();
        let done = log.done();
        match &done.plan {
            Some(plan) => assert!(recheck(plan).plan().objective.value > 0.0),
            None => assert_eq!((done.status, done.limit), (EndStatus::NoPlan, Some(Limit::Time)), "{method}"),
        }
    }
}

#[test]
fn the_genetic_search_has_a_limit_of_its_own() {
    let settings = "generations=1000000 stall_generations=1000000 wall_limit_s=0.1";
    for (job, method) in [("small", "delta-fast"), ("one_stage_per_pod", "delta-level")] {
        let log = Asked::new(job, method).set(settings).solve();
        assert_eq!(log.done().limit, Some(Limit::Time), "{job} {method}");
        recheck(log.done().plan.as_ref().unwrap());
    }
}

#[test]
fn counts_end_it_too() {
    let limit = |settings: &str| Asked::new("small", "delta-fast").set(settings).solve().done().limit;
    assert_eq!(limit("generations=7"), Some(Limit::Work));
    assert_eq!(limit("stall_generations=5"), Some(Limit::Stall));
}

#[test]
fn a_wide_gap_is_reached_early_and_a_narrow_one_not_at_all() {
    // Joint plans of this job take three evaluations to prove; the baselines are within 10 % from the start.
    let exact = Asked::new("deepseek_671b", "delta-joint").solve();
    let mut asked = Asked::new("deepseek_671b", "delta-joint");
    asked.gap = Some(0.1);
    let log = asked.solve();
    let done = log.done();
    assert_eq!(done.status, EndStatus::GapReached);
    assert!(done.work < exact.done().work, "{} and {}", done.work, exact.done().work);
    let plan = recheck(done.plan.as_ref().unwrap());
    assert_eq!(plan.plan().status, Status::GapReached);
    let gap = plan.plan().objective.gap.unwrap();
    assert!(gap > 0.0 && gap <= 0.1, "{gap}");
    assert!(done.bound.unwrap() <= exact.done().value.unwrap());
    asked.gap = Some(1e-12);
    assert_eq!(asked.solve().done().status, EndStatus::Optimal);
}

#[test]
fn boxes_that_run_out_leave_an_honest_bound() {
    let optimum = Asked::new("deepseek_671b", "delta-joint").solve().done().value.unwrap();
    let settings = "proof=outer listed_vectors=1 boxes=3 generations=0 islands=1 population=2";
    let log = Asked::new("deepseek_671b", "delta-joint").set(settings).solve();
    let done = log.done();
    assert_eq!((done.status, done.limit), (EndStatus::Feasible, Some(Limit::Work)));
    assert!(done.bound.unwrap() <= optimum && done.value.unwrap() >= optimum);
    assert!(done.bound.unwrap() < done.value.unwrap());
    let plan = recheck(done.plan.as_ref().unwrap());
    assert_eq!((plan.plan().status, plan.plan().limit), (Status::Feasible, Some(Limit::Work)));
}
