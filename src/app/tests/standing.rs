//! The screen shows the plan of the present parameters, and no plan that its checker refuses.

use super::support::{Bench, real_run};
use crate::app::action::{Action, Command, Fact, Heard};
use crate::app::effect::Effect;
use crate::app::plans::Shown;
use lightbay_core::event::{Done, EndStatus, Event, EventBody, RunId};

/// Returns a workbench with a plan, and the number of the plan.
fn solved() -> (Bench, u64) {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-fast", 1);
    let number = bench.app.plans.shown().unwrap().number;
    (bench, number)
}

#[test]
fn undoing_a_change_shows_the_plan_of_the_values_before_it() {
    let (mut bench, first) = solved();
    let sha256 = bench.app.work.as_ref().unwrap().now.sha256.clone();
    bench.act(Action::Do(Command::Set("seq=8192".to_owned()))).keys("r");
    assert!(bench.app.is_stale());
    bench.keys("u");
    assert_eq!(bench.app.plans.scenario_sha256, sha256);
    assert_eq!(bench.app.plans.shown().map(|entry| entry.number), Some(first));
    assert!(!bench.app.is_stale());
    // Values without a plan keep the plans of the newest solve in front.
    bench.act(Action::Do(Command::Set("seq=2048".to_owned())));
    assert_eq!(bench.app.plans.scenario_sha256, bench.app.work.as_ref().unwrap().reference().sha256);
}

#[test]
fn a_refused_plan_is_never_the_best_and_a_run_that_finds_it_writes_it_again() {
    let (mut bench, number) = solved();
    bench.app.plans.get_mut(number).unwrap().plan = None;
    bench.app.plans.shown = Shown::Chosen(number);
    bench.act(Action::Tick);
    let loads = |bench: &Bench| bench.effects.contains(&Effect::LoadPlan { number });
    assert!(loads(&bench));
    let problem = "objective.value: is 0.1, and the checker computes 0.4".to_owned();
    bench.fact(Fact::PlanLoaded { number, plan: Err(problem.clone()) });
    assert_ne!(bench.app.plans.best().map(|entry| entry.number), Some(number));
    assert_ne!(bench.app.plans.shown().map(|entry| entry.number), Some(number));
    assert!(bench.app.plans.get(number).unwrap().usable().unwrap_err().contains(&problem));
    bench.act(Action::Do(Command::ShowPlan(number)));
    assert!(bench.last_message().contains(&problem), "{}", bench.last_message());
    assert_ne!(bench.app.plans.shown, Shown::Chosen(number));
    // Another run ends with the same plan.
    bench.act(Action::Do(Command::Solve { method: None, warm: false }));
    let run = bench.accept(false);
    let done = real_run("delta-fast").into_iter().find(|event| matches!(event.body, EventBody::Done(_)));
    bench.fact(Fact::Event(Heard::new(Event { run, ..done.unwrap() }, Some(number))));
    assert!(
        bench
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::SavePlan { number: saved, .. } if *saved == number))
    );
    let entry = bench.app.plans.get(number).unwrap();
    assert!(entry.plan.is_some() && entry.refused.is_none());
    assert_eq!(bench.app.plans.best().map(|entry| entry.number), Some(number));
}

#[test]
fn a_renamed_session_keeps_the_undo_history_and_the_name() {
    use crate::app::action::{Opened, SessionView};
    let (mut bench, _) = solved();
    bench.act(Action::Do(Command::Set("seq=8192".to_owned())));
    bench.act(Action::Do(Command::Set("name=mine".to_owned())));
    let saved = bench.app.work.as_ref().unwrap().now.scenario.clone();
    bench.fact(Fact::Opened(Box::new(Opened {
        source: "session:beta".to_owned(),
        scenario: saved,
        plans: Vec::new(),
        events: Vec::new(),
        remembered: None,
        session: SessionView { name: "beta".to_owned(), renamed: true, ..SessionView::default() },
        notes: Vec::new(),
        solve: None,
    })));
    let work = bench.app.work.as_ref().unwrap();
    assert!(work.can_undo() && work.now.scenario.name() == "mine");
    bench.keys("u");
    assert_eq!(bench.app.work.as_ref().unwrap().now.scenario.name(), "tiny4");
}

#[test]
fn a_refused_run_leaves_the_displayed_plan() {
    let (mut bench, number) = solved();
    bench.act(Action::Do(Command::Solve { method: Some("delta-joint".to_owned()), warm: false }));
    let run = bench.accept(false);
    let begins = real_run("delta-fast").remove(0).body;
    bench.say(run, "delta-joint", 0, begins, None);
    let done = Done {
        status: EndStatus::Invalid,
        limit: None,
        message: "k_max: is too small".to_owned(),
        violations: Vec::new(),
        value: None,
        bound: None,
        work: 0,
        plan: None,
    };
    bench.say(run, "delta-joint", 1, EventBody::Done(done), None);
    let run = bench.app.runs.get(run).unwrap();
    assert_eq!(bench.app.run_word(run), "REFUSED");
    assert_eq!(bench.app.plans.shown().map(|entry| entry.number), Some(number));
}

#[test]
fn a_run_of_another_process_is_stopped_there() {
    use crate::app::possible::{Possible, busy};
    use crate::app::runs::{Run, RunState};
    let mut bench = Bench::open();
    let said = |bench: &Bench| match busy(&bench.app) {
        Possible::No(why) => why,
        Possible::Yes => "",
    };
    assert!(said(&bench).contains("no solve runs"));
    bench.app.runs.insert(Run::new(RunId(1), "auto", "", RunState::Elsewhere));
    assert!(said(&bench).contains("in another process"));
}
