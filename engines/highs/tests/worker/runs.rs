//! Tests of the events and results of a run whose method solves in a helper process or in its own.

use super::kind::{Running, Solver};
use super::models::{covering, endless};
use super::{PATIENCE, Spy, is_dead, state, within};
use lightbay_core::context::Stop;
use lightbay_core::event::{EndStatus, EventBody};
use lightbay_core::plan::{Limit, Status};
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;
use lightbay_highs::solve::solver_name;
use rustix::process::{Pid, Signal, kill_process};

fn small(isolated: bool) -> Solver {
    Solver {
        model: covering(30, 40, 5),
        options: Options::new(),
        start: Start::None,
        isolated,
        knows: false,
        plan_before: false,
    }
}

fn long(isolated: bool) -> Solver {
    let model = endless();
    let start = Start::Full(vec![1.0; model.columns()]);
    Solver {
        model,
        options: Options::new().set("presolve", "off"),
        start,
        isolated,
        knows: false,
        plan_before: false,
    }
}

/// Waits until the start has become a plan and the first relaxation keeps the solver silent.
fn silent(running: &Running) {
    running.hear(|body| match body {
        EventBody::Incumbent(incumbent) if incumbent.checked => Some(()),
        _ => None,
    });
    running.hear(|body| match body {
        EventBody::Solver(stats) if stats.stage == "root LP" && stats.silent_s.is_some() => Some(()),
        _ => None,
    });
}

pub fn told() {
    let mut answers = Vec::new();
    for (isolated, where_to) in [(true, "in a solver process"), (false, "inside lightbay")] {
        let spy = Spy::new("--serve");
        let running = Running::start(small(isolated), Some(&spy), None);
        let done = running.done();
        assert_eq!(done.status, EndStatus::Optimal, "{}", done.message);
        assert_eq!(running.notes()[0], format!("I {} runs {where_to}", solver_name()));
        assert!(solver_name().starts_with("HiGHS 1."), "{}", solver_name());
        let header = done.plan.unwrap().header();
        assert_eq!(header.provenance.solver, Some(solver_name()));
        assert!(header.provenance.reproducible);
        assert_eq!(done.bound, done.value);
        running.hear(|body| matches!(body, EventBody::Line(_)).then_some(()));
        running.hear(|body| match body {
            EventBody::Model(size) => (size.after == "presolve").then_some(()),
            _ => None,
        });
        let last = running.events().into_iter().rev().find_map(|event| match event.body {
            EventBody::Solver(stats) => Some(stats),
            _ => None,
        });
        assert_eq!((last.unwrap().done, spy.count()), (done.work, usize::from(isolated)));
        answers.push(done.value);
    }
    assert_eq!(answers[0], answers[1]);
}

pub fn stopped() {
    let spy = Spy::new("--serve");
    let running = Running::start(long(true), Some(&spy), None);
    silent(&running);
    running.runs.stop(running.run, Stop::Requested);
    running.runs.stop(running.run, Stop::Signal);
    let done = running.done();
    assert_eq!((done.status, done.message.as_str()), (EndStatus::Stopped, "stopped on request"));
    assert_eq!(done.plan.unwrap().header().status, Status::Stopped);
    assert!(is_dead(spy.last()));
}

pub fn closed() {
    let spy = Spy::new("--serve");
    // The solver would continue for minutes: nobody stops the run but the proof.
    let running = Running::start(Solver { knows: true, ..long(true) }, Some(&spy), None);
    let done = running.done();
    assert_eq!((done.status, done.limit, done.message.as_str()), (EndStatus::Optimal, None, ""));
    assert_eq!(done.bound, done.value);
    let header = done.plan.unwrap().header();
    assert!(header.status == Status::Optimal && header.provenance.reproducible);
    let told = "I the best plan meets the bound, so the solver stops";
    assert!(running.notes().iter().any(|note| note == told), "{:?}", running.notes());
    assert!(is_dead(spy.last()));
}

pub fn limited() {
    for isolated in [true, false] {
        // A machine that stands still may take the time in which the start would have become a plan.
        let found = [1.0, 4.0, 16.0].into_iter().any(|limit_s| {
            let spy = Spy::new("--serve");
            let done = Running::start(long(isolated), Some(&spy), Some(limit_s)).done();
            assert!(spy.count() == 0 || is_dead(spy.last()));
            if done.plan.is_some() {
                assert_eq!(done.status, EndStatus::Stopped, "{}", done.message);
            }
            assert_eq!(done.limit, Some(Limit::Time), "{}", done.message);
            done.plan.is_some()
        });
        assert!(found);
    }
}

pub fn paused() {
    let spy = Spy::new("--serve");
    let running = Running::start(long(true), Some(&spy), None);
    silent(&running);
    running.runs.pause(running.run, true);
    let helper = spy.last();
    assert!(within(PATIENCE, || state(helper) == Some('T')));
    let stood = running.runs.elapsed(running.run);
    running.runs.pause(running.run, false);
    assert!(within(PATIENCE, || state(helper) != Some('T')));
    assert!(running.runs.elapsed(running.run) >= stood);
    // It ends from a pause too.
    running.runs.pause(running.run, true);
    assert!(within(PATIENCE, || state(helper) == Some('T')));
    running.runs.stop(running.run, Stop::Requested);
    assert_eq!(running.done().status, EndStatus::Stopped);
    assert!(is_dead(helper));
}

pub fn killed() {
    let spy = Spy::new("--serve");
    let running = Running::start(long(true), Some(&spy), None);
    silent(&running);
    kill_process(Pid::from_raw(spy.last() as i32).unwrap(), Signal::KILL).unwrap();
    let done = running.done();
    assert_eq!(done.status, EndStatus::Stopped);
    assert!(done.message.contains("signal 9") && done.message.contains("is kept"), "{}", done.message);
    let header = done.plan.unwrap().header();
    assert_eq!(header.status, Status::Stopped);
    assert!(header.provenance.not_reproducible_because.unwrap().contains("solver process ended"));
    let warning = running.notes().pop().unwrap();
    assert!(warning.starts_with("W ") && warning.contains("signal 9"), "{warning}");
}

/// A helper that dies before it says anything takes nothing from a run that has a plan, and fails one that has none.
pub fn killed_early() {
    for (plan_before, status) in [(true, EndStatus::Stopped), (false, EndStatus::Failed)] {
        let spy = Spy::new("--abort");
        let running = Running::start(Solver { plan_before, ..small(true) }, Some(&spy), None);
        let done = running.done();
        assert_eq!(done.status, status, "{}", done.message);
        assert_eq!(done.plan.is_some(), plan_before);
        assert!(done.message.contains("signal 6"), "{}", done.message);
    }
}

pub fn odd() {
    // No helper to be had: the own process does it.
    let nothing =
        Spy { launcher: super::Launcher::new("/nonexistent/lightbay", ["--serve"]), ..Spy::new("") };
    let running = Running::start(small(true), Some(&nothing), None);
    assert_eq!(running.done().status, EndStatus::Optimal);
    assert!(running.notes()[1].starts_with("W no solver process could be started"), "{:?}", running.notes());
    // None is wanted to be had.
    let running = Running::start(small(true), None, None);
    assert_eq!(running.done().status, EndStatus::Optimal);
    // A mistake of the method.
    let wrong = Solver { options: Options::new().set("mip_rel_gip", 1.0), ..small(true) };
    let done = Running::start(wrong, Some(&Spy::new("--serve")), None).done();
    assert_eq!(done.status, EndStatus::Failed);
    assert!(done.message.contains("mip_rel_gip"), "{}", done.message);
    // A model without a point.
    let mut model = Model::new("none");
    let column = model.binary("only", 1.0);
    model.at_least("too much", 2.0, [(column, 1.0)]);
    for isolated in [true, false] {
        let solver = Solver { model: model.clone(), ..small(isolated) };
        let done = Running::start(solver, Some(&Spy::new("--serve")), None).done();
        let words = "too much >= 2 and only <= 1 cannot both hold";
        assert_eq!((done.status, done.message.as_str()), (EndStatus::Infeasible, words));
    }
}
