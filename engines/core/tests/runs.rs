//! Runs keep their promises: stop keeps the best, crashes are contained, offers arrive, only sealed plans leave.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests fail by panicking")]

mod toy;

use lightbay_core::checked::AnyChecked;
use lightbay_core::context::Stop;
use lightbay_core::event::{EndStatus, EventBody};
use lightbay_core::param::ParamValue;
use lightbay_core::plan::{Limit, Status};
use lightbay_core::scenario::sha256_of;
use std::sync::Arc;
use std::time::Duration;
use toy::{Scan, Then, board, done, job, request, scenario, wait_for};

const PROVE: Scan = Scan { name: "prove", then: Then::Prove };
const WAIT: Scan = Scan { name: "wait", then: Then::WaitForever };

#[test]
fn a_finished_run_ends_with_its_best_plan_and_proof() {
    let (runs, recorder, _) = board();
    let ticket = runs.submit(job(PROVE, request(&scenario(&[5, 3, 9]))));
    let done = done(&recorder, ticket.run);
    assert_eq!(
        (done.status, done.value, done.bound, done.work),
        (EndStatus::Optimal, Some(3.0), Some(3.0), 3)
    );
    let header = done.plan.unwrap().header();
    assert_eq!((header.status, header.objective.gap), (Status::Optimal, Some(0.0)));
    assert!(header.provenance.reproducible);
    let events = recorder.events();
    // Of what was found on the way only a kill would leave a file, and the run would not end there again.
    let first = events.iter().find_map(|event| match &event.body {
        EventBody::Incumbent(incumbent) => incumbent.plan.as_ref(),
        _ => None,
    });
    let on_the_way = first.unwrap().header().provenance;
    assert_eq!(on_the_way.not_reproducible_because.as_deref(), Some("the run was still active"));
    assert!(matches!(events.first().unwrap().body, EventBody::Started(_)));
    assert!(
        events.iter().enumerate().all(|(index, event)| event.seq == index as u64),
        "numbered without gaps"
    );
}

#[test]
fn candidates_that_come_too_fast_are_announced_unchecked_and_the_last_is_still_checked() {
    let (runs, recorder, _) = board();
    let ticket = runs.submit(job(PROVE, request(&scenario(&[9, 8, 7, 6]))));
    done(&recorder, ticket.run);
    let said: Vec<(f64, bool)> = recorder
        .events()
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Incumbent(incumbent) => Some((incumbent.value, incumbent.checked)),
            _ => None,
        })
        .collect();
    // The clock of this board stands still: only the first is built at once.
    assert_eq!(said, [(9.0, true), (8.0, false), (7.0, false), (6.0, false), (6.0, true)]);
}

#[test]
fn stopping_keeps_the_best_plan_and_says_why_it_is_not_reproducible() {
    let (runs, recorder, _) = board();
    let ticket = runs.submit(job(WAIT, request(&scenario(&[5, 3]))));
    wait_for(&recorder, |event| matches!(&event.body, EventBody::Incumbent(i) if i.value == 3.0));
    runs.stop(ticket.run, Stop::Requested);
    runs.stop(ticket.run, Stop::Signal);
    let done = done(&recorder, ticket.run);
    assert_eq!((done.status, done.value), (EndStatus::Stopped, Some(3.0)));
    let header = done.plan.unwrap().header();
    assert_eq!(header.status, Status::Stopped);
    assert!(!header.provenance.reproducible);
    assert!(header.provenance.not_reproducible_because.unwrap().contains("a person stopped"));
    assert!(runs.wait_idle(Duration::from_secs(10)));
}

#[test]
fn the_time_limit_ends_a_run_and_can_be_moved() {
    let (runs, recorder, clock) = board();
    let ask = toy::request(&scenario(&[5]));
    let ticket = runs.submit(job(WAIT, lightbay_core::run::Request { time_limit_s: Some(5.0), ..ask }));
    wait_for(&recorder, |event| matches!(event.body, EventBody::Incumbent(_)));
    runs.edit(ticket.run, "time_limit_s", &ParamValue::Float(20.0));
    wait_for(&recorder, |event| matches!(event.body, EventBody::Edit(_)));
    clock.advance(Duration::from_secs(10));
    std::thread::yield_now();
    assert!(recorder.events().iter().all(|event| !matches!(event.body, EventBody::Done(_))));
    clock.advance(Duration::from_secs(11));
    let done = done(&recorder, ticket.run);
    assert_eq!((done.status, done.limit), (EndStatus::Stopped, Some(Limit::Time)));
}

#[test]
fn a_crash_is_contained_and_keeps_the_best_plan() {
    let (runs, recorder, _) = board();
    let ticket = runs.submit(job(Scan { name: "panic", then: Then::Panic }, request(&scenario(&[5, 3]))));
    let done = done(&recorder, ticket.run);
    assert_eq!(done.status, EndStatus::Panicked);
    assert!(done.message.contains("deliberate"));
    assert_eq!(done.plan.unwrap().header().objective.value, 5.0, "the last that was checked");
    assert!(runs.wait_idle(Duration::from_secs(10)), "the board goes on");
}

#[test]
fn a_plan_that_its_checker_refuses_never_leaves_and_fails_the_run() {
    let (runs, recorder, _) = board();
    let ticket = runs.submit(job(Scan { name: "lie", then: Then::Lie }, request(&scenario(&[5, 3]))));
    let done = done(&recorder, ticket.run);
    assert_eq!(done.status, EndStatus::Failed);
    assert_eq!(done.violations.len(), 1);
    assert_eq!(done.violations[0].code, "number");
    assert_ne!(done.value, Some(-1e6));
}

#[test]
fn a_method_may_go_on_from_the_last_checked_plan() {
    let (runs, recorder, _) = board();
    let ticket =
        runs.submit(job(Scan { name: "go on", then: Then::LieAndGoOn }, request(&scenario(&[5, 3]))));
    let done = done(&recorder, ticket.run);
    assert_eq!((done.status, done.value, done.violations.len()), (EndStatus::Feasible, Some(3.0), 0));
    assert_eq!(done.plan.unwrap().header().objective.value, 3.0);
}

#[test]
fn a_bound_that_the_plan_of_its_own_run_beats_fails_the_run() {
    let (runs, recorder, _) = board();
    let claim = |bound| Scan { name: "claim", then: Then::Claim(bound) };
    let wrong = runs.submit(job(claim(4), request(&scenario(&[5, 3]))));
    let failed = done(&recorder, wrong.run);
    assert_eq!((failed.status, failed.value, failed.bound), (EndStatus::Failed, Some(3.0), None));
    assert!(failed.message.contains("the bound 4 of the run is wrong"), "{}", failed.message);
    // The plan is kept, without what was claimed of it.
    let header = failed.plan.unwrap().header();
    assert_eq!((header.status, header.objective.bound), (Status::Stopped, None));
    let right = runs.submit(job(claim(2), request(&scenario(&[5, 3]))));
    let open = done(&recorder, right.run);
    assert_eq!((open.status, open.bound), (EndStatus::Feasible, Some(2.0)));
}

#[test]
fn a_plan_that_beats_what_its_checker_calls_verified_is_not_sealed() {
    let (runs, recorder, _) = board();
    let ticket = runs.submit(job(PROVE, request(&scenario(&[toy::MISTAKEN, 5]))));
    let done = done(&recorder, ticket.run);
    assert_eq!((done.status, done.violations.len()), (EndStatus::Failed, 1), "{}", done.message);
    let text = done.violations[0].to_string();
    assert_eq!(
        text,
        "bound: the checker proves that no plan beats 777, but the objective is 5: one of the two values is wrong"
    );
}

#[test]
fn one_runs_one_waits_and_a_newer_request_replaces_the_waiting_one() {
    let (runs, recorder, _) = board();
    let ask = scenario(&[5, 3]);
    let first = runs.submit(job(WAIT, request(&ask)));
    let second = runs.submit(job(WAIT, request(&ask)));
    let third = runs.submit(job(WAIT, request(&ask)));
    assert_eq!((first.queued, second.queued, third.queued), (false, true, true));
    assert_eq!(third.replaced, Some(second.run));
    assert_eq!(done(&recorder, second.run).status, EndStatus::NoPlan);
    runs.stop(first.run, Stop::Requested);
    done(&recorder, first.run);
    wait_for(&recorder, |event| event.run == third.run && matches!(event.body, EventBody::Started(_)));
    runs.stop_all(Stop::Requested);
    assert_eq!(done(&recorder, third.run).status, EndStatus::Stopped);
}

#[test]
fn runs_of_the_same_scenario_offer_each_other_their_best() {
    let (runs, recorder, _) = board();
    let lazy =
        runs.submit(job(Scan { name: "lazy", then: Then::WaitAfterFirst }, request(&scenario(&[5, 3, 1]))));
    let stranger = runs.submit(job(WAIT, request(&scenario(&[5, 3]))));
    wait_for(
        &recorder,
        |event| matches!(&event.body, EventBody::Incumbent(i) if event.run == stranger.run && i.value == 3.0),
    );
    wait_for(&recorder, |event| event.run == lazy.run && matches!(event.body, EventBody::Incumbent(_)));
    let other = runs.submit(job(PROVE, request(&scenario(&[5, 3, 1]))));
    done(&recorder, other.run);
    let offer =
        wait_for(&recorder, |event| matches!(&event.body, EventBody::Offer(offer) if offer.value == 1.0));
    assert_eq!(offer.run, lazy.run, "only a run of the same scenario is told");
    runs.stop_all(Stop::Requested);
    let plan = done(&recorder, lazy.run).plan.unwrap().header();
    assert_eq!(plan.objective.value, 1.0);
    assert!(plan.provenance.not_reproducible_because.unwrap().contains("took a plan from prove"));
    assert_eq!(done(&recorder, stranger.run).value, Some(3.0));
}

#[test]
fn a_run_ends_when_a_bound_of_another_run_meets_its_best_plan() {
    let (runs, recorder, _) = board();
    let ask = scenario(&[5, 3, 9]);
    let seeker = runs.submit(job(Scan { name: "seek", then: Then::UntilClosed }, request(&ask)));
    let stranger = scenario(&[3, 5]);
    let other = runs.submit(job(Scan { name: "stranger", then: Then::UntilClosed }, request(&stranger)));
    // A bound below its best plan ends nothing.
    runs.submit(job(Scan { name: "weak", then: Then::Bound(2) }, request(&ask)));
    wait_for(&recorder, |event| matches!(&event.body, EventBody::Bound(bound) if bound.value == 2.0));
    assert!(recorder.events().iter().all(|event| !matches!(event.body, EventBody::Done(_))));
    runs.submit(job(Scan { name: "strong", then: Then::Bound(3) }, request(&ask)));
    let end = done(&recorder, seeker.run);
    assert_eq!((end.status, end.value, end.bound), (EndStatus::Optimal, Some(3.0), Some(3.0)));
    let header = end.plan.unwrap().header();
    assert_eq!((header.status, header.objective.gap), (Status::Optimal, Some(0.0)));
    let why = header.provenance.not_reproducible_because.unwrap();
    assert_eq!(why, "the bound was proved by strong, which ran at the same time");
    let said = recorder.events();
    assert!(said.iter().any(|event| matches!(&event.body,
        EventBody::Note(note) if note.text == "no better plan exists: strong proved the bound 3")));
    // What was proved before counts for a run that begins with what is known, and for no cold one.
    let warm = lightbay_core::run::Request { hot_start: real(&runs, &recorder, &ask), ..request(&ask) };
    let warm = runs.submit(job(Scan { name: "warm", then: Then::UntilClosed }, warm));
    let cold = runs.submit(job(Scan { name: "cold", then: Then::UntilClosed }, request(&ask)));
    assert_eq!(done(&recorder, warm.run).status, EndStatus::Optimal);
    for run in [cold.run, other.run] {
        wait_for(&recorder, |event| event.run == run && matches!(event.body, EventBody::Incumbent(_)));
    }
    runs.stop_all(Stop::Requested);
    assert_eq!(done(&recorder, cold.run).status, EndStatus::Stopped);
    assert_eq!(done(&recorder, other.run).status, EndStatus::Stopped, "a bound is of one scenario");
}

#[test]
fn a_bound_of_another_run_ends_a_search_at_its_checkpoints_and_counts_for_the_gap() {
    let (runs, recorder, _) = board();
    let ask = scenario(&[5, 4, 9]);
    let narrow = |gap| lightbay_core::run::Request { gap: Some(gap), ..request(&ask) };
    let seeker = runs.submit(job(Scan { name: "seek", then: Then::UntilProven }, request(&ask)));
    let wide = runs.submit(job(Scan { name: "wide", then: Then::WaitForever }, narrow(0.3)));
    let close = runs.submit(job(Scan { name: "close", then: Then::WaitForever }, narrow(0.1)));
    // A quarter below the best plan: enough for a gap of 30 %, not for one of 10 %, and no proof.
    runs.submit(job(Scan { name: "weak", then: Then::Bound(3) }, request(&ask)));
    let end = done(&recorder, wide.run);
    assert_eq!((end.status, end.value, end.bound), (EndStatus::GapReached, Some(4.0), Some(3.0)));
    let header = end.plan.unwrap().header();
    assert_eq!((header.status, header.objective.gap), (Status::GapReached, Some(0.25)));
    let why = header.provenance.not_reproducible_because.unwrap();
    assert_eq!(why, "the bound was proved by weak, which ran at the same time");
    let ended = |run| recorder.events().iter().any(|e| e.run == run && matches!(e.body, EventBody::Done(_)));
    assert!(!ended(seeker.run) && !ended(close.run));

    runs.submit(job(Scan { name: "strong", then: Then::Bound(4) }, request(&ask)));
    for (run, gap_asked) in [(seeker.run, false), (close.run, true)] {
        let end = done(&recorder, run);
        assert_eq!(
            (end.status, end.value, end.bound),
            (EndStatus::Optimal, Some(4.0), Some(4.0)),
            "{gap_asked}"
        );
    }
    let told = "no better plan exists: strong proved the bound 4";
    let told = recorder
        .events()
        .iter()
        .filter(|event| matches!(&event.body, EventBody::Note(note) if note.text == told))
        .count();
    assert_eq!(told, 2);
    runs.stop_all(Stop::Requested);
}

/// A plan of a scenario.
fn real(
    runs: &lightbay_core::run::Runs,
    recorder: &lightbay_core::event::Recorder,
    ask: &std::sync::Arc<lightbay_core::scenario::Scenario<toy::Toy>>,
) -> Option<lightbay_core::checked::SharedPlan> {
    let quick = runs.submit(job(Scan { name: "quick", then: Then::WaitForever }, request(ask)));
    wait_for(recorder, |event| {
        event.run == quick.run && matches!(&event.body, EventBody::Incumbent(i) if i.value == 3.0)
    });
    runs.stop(quick.run, Stop::Requested);
    done(recorder, quick.run).plan
}

#[test]
fn a_proven_plan_is_optimal_whatever_ended_its_run() {
    let (runs, recorder, clock) = board();
    let bounded = |bound| Scan { name: "bounded", then: Then::Bound(bound) };
    for (bound, time, status, limit, message) in [
        (3, false, EndStatus::Optimal, None, "no better plan exists; stopped on request after the proof"),
        (3, true, EndStatus::Optimal, None, "no better plan exists; time limit reached after the proof"),
        (2, false, EndStatus::Stopped, None, "stopped on request"),
        (2, true, EndStatus::Stopped, Some(Limit::Time), "time limit reached"),
    ] {
        let ask =
            lightbay_core::run::Request { time_limit_s: time.then_some(5.0), ..request(&scenario(&[5, 3])) };
        let run = runs.submit(job(bounded(bound), ask)).run;
        wait_for(&recorder, |event| event.run == run && matches!(event.body, EventBody::Bound(_)));
        if time {
            clock.advance(Duration::from_secs(6));
        } else {
            runs.stop(run, Stop::Requested);
        }
        let end = done(&recorder, run);
        assert_eq!((end.status, end.limit, end.message.as_str()), (status, limit, message));
        assert!(runs.wait_idle(Duration::from_secs(10)));
    }
}

#[test]
fn a_hot_start_is_the_first_incumbent_and_is_named_in_the_plan() {
    let (runs, recorder, _) = board();
    let first = runs.submit(job(PROVE, request(&scenario(&[5, 3, 9]))));
    let plan = done(&recorder, first.run).plan.unwrap();
    let ask = lightbay_core::run::Request { hot_start: Some(plan), ..request(&scenario(&[5, 4, 9])) };
    let second = runs.submit(job(PROVE, ask));
    let done = done(&recorder, second.run);
    let of_second: Vec<_> = recorder.events().into_iter().filter(|event| event.run == second.run).collect();
    let first_incumbent = of_second
        .iter()
        .find_map(|event| match &event.body {
            EventBody::Incumbent(incumbent) => Some(incumbent.clone()),
            _ => None,
        })
        .unwrap();
    assert_eq!((first_incumbent.source.as_str(), first_incumbent.value), ("hot start", 4.0));
    assert!(done.plan.unwrap().header().provenance.hot_start.unwrap().starts_with("prove 3 accepted"));
}

#[test]
fn pausing_stops_the_work_and_the_clock() {
    let (runs, recorder, clock) = board();
    let ticket = runs.submit(job(WAIT, request(&scenario(&[5]))));
    wait_for(&recorder, |event| matches!(event.body, EventBody::Incumbent(_)));
    runs.pause(ticket.run, true);
    wait_for(&recorder, |event| matches!(&event.body, EventBody::Paused(p) if p.paused));
    clock.advance(Duration::from_secs(100));
    assert_eq!(runs.elapsed(ticket.run), Some(Duration::ZERO));
    runs.stop(ticket.run, Stop::Requested);
    assert_eq!(done(&recorder, ticket.run).status, EndStatus::Stopped, "a paused run can be stopped");
}

#[test]
fn a_plan_reads_back_as_it_was_written_and_is_sealed_only_by_its_checker() {
    let (runs, recorder, _) = board();
    let ticket = runs.submit(job(PROVE, request(&scenario(&[5, 3, 9]))));
    let plan = done(&recorder, ticket.run).plan.unwrap();
    let mut value = plan.to_value().unwrap();
    let draft = lightbay_core::plan::read_draft::<toy::Toy>(&value).unwrap();
    assert!(draft.violations.is_empty() && draft.warnings.is_empty());
    let read = draft.plan.unwrap();
    let sealed = lightbay_core::checked::Checked::verify(read, lightbay_core::kind::Depth::Usual)
        .expect("passes again");
    assert_eq!(sealed.to_value().unwrap(), value);

    value["objective"]["value"] = 2.0.into();
    value["result"]["extra"] = 1.into();
    value["remark"] = "?".into();
    let draft = lightbay_core::plan::read_draft::<toy::Toy>(&value).unwrap();
    assert_eq!(draft.violations[0].code, "schema", "unknown keys of a result are violations");
    assert_eq!(draft.warnings.len(), 1, "unknown keys elsewhere are warnings");
    let refused =
        lightbay_core::checked::Checked::verify(draft.plan.unwrap(), lightbay_core::kind::Depth::Usual)
            .expect_err("the value is wrong");
    let codes: Vec<&str> = refused.violations.iter().map(|violation| violation.code).collect();
    assert_eq!(codes, ["number", "objective", "objective"], "{:?}", refused.violations);
}

#[test]
fn files_of_another_version_are_refused_by_name() {
    let value = serde_json::json!({"schema": "lightbay.scenario/2", "kind": "toy", "numbers": [1]});
    let problems = lightbay_core::scenario::Scenario::<toy::Toy>::from_value(&value).unwrap_err();
    assert!(problems.to_string().contains("reads 'lightbay.scenario/1'"), "{problems}");
}

#[test]
fn the_hash_of_a_shared_scenario_follows_its_content() {
    let mut shared = scenario(&[1, 2]);
    let first = sha256_of(&shared).unwrap();
    assert!(Arc::ptr_eq(&first, &sha256_of(&shared).unwrap()), "computed once");
    assert_eq!(*first, *shared.sha256().unwrap());
    // A scenario whose hash is remembered is not changed in place: it moves.
    assert!(Arc::get_mut(&mut shared).is_none());
    Arc::make_mut(&mut shared).body.numbers.push(3);
    let second = sha256_of(&shared).unwrap();
    assert_eq!(*second, *shared.sha256().unwrap());
    assert_ne!(first, second);
}
