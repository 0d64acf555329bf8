//! The copied command names exactly the displayed plan, or says why no command does.

use super::support::{Bench, scenario};
use crate::app::action::{Action, Command, Fact, Opened, SessionView};
use crate::app::effect::Effect;
use crate::app::plans::PlanRef;
use crate::app::source::SourceScenario;
use lightbay_core::param::ParamValue;
use lightbay_engines::AnyScenario;

fn copied(bench: &Bench) -> Result<String, String> {
    let copied = bench.effects.iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    copied.ok_or_else(|| bench.last_message().to_owned())
}

fn changed() -> AnyScenario {
    scenario().with("seq", None, &ParamValue::Int(8192)).unwrap()
}

/// Returns a workbench with a scenario that was read from `source`.
fn from(source: &str, scenario: AnyScenario) -> Bench {
    let mut bench = Bench::start();
    bench.fact(Fact::Opened(Box::new(Opened {
        source: source.to_owned(),
        scenario,
        plans: Vec::new(),
        events: Vec::new(),
        remembered: None,
        session: SessionView { name: "tiny4".to_owned(), ..SessionView::default() },
        notes: Vec::new(),
        solve: None,
    })));
    bench
}

#[test]
fn a_reopened_session_compares_with_its_file_and_not_with_what_it_saved() {
    let mut bench = from("t.json", changed());
    let work = |bench: &mut Bench, now| bench.app.work.as_mut().unwrap().source_scenario = now;
    work(&mut bench, SourceScenario::Read(scenario()));
    bench.keys("C");
    assert_eq!(copied(&bench).unwrap(), "lightbay solve t.json --method auto --set seq=8192");
    work(&mut bench, SourceScenario::Lost("does not exist in this folder".to_owned()));
    bench.keys("C");
    let why = copied(&bench).unwrap_err();
    assert!(why.starts_with("t.json does not exist in this folder; write the scenario with"), "{why}");
}

#[test]
fn a_scenario_without_a_file_is_named_by_its_saved_plan() {
    for source in ["import aicb", "standard input", "session:other/2"] {
        let mut bench = from(source, scenario());
        bench.keys("C");
        assert!(copied(&bench).unwrap_err().starts_with("the scenario is not in a file"), "{source}");
        bench.keys("r");
        let run = bench.accept(false);
        bench.replay(run, "delta-fast", 1);
        let number = bench.app.plans.shown().unwrap().number;
        bench.act(Action::Do(Command::Set("seq=8192".to_owned()))).keys("C");
        let command = copied(&bench).unwrap();
        assert_eq!(command, format!("lightbay solve session:tiny4/{number} --method delta-fast"), "{source}");
        let saves =
            |effect: &Effect| matches!(effect, Effect::SavePlan { number: saved, .. } if *saved == number);
        assert!(bench.effects.iter().any(saves));
        bench.app.session.name.clear();
        bench.keys("C");
        assert!(copied(&bench).unwrap_err().contains("is not saved yet"), "{source}");
    }
}

#[test]
fn a_plan_with_a_hot_start_names_it_or_is_refused() {
    let mut bench = from("t.json", scenario());
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-fast", 1);
    let first = bench.app.plans.shown().unwrap().number;
    // The same plan as if its run had been started from another one.
    let entry = bench.app.plans.get_mut(first).unwrap();
    let mut value: serde_json::Value =
        serde_json::from_slice(&entry.plan.as_ref().unwrap().0.to_json().unwrap()).unwrap();
    value["provenance"]["hot_start"] = "prop-alloc 1.5 accepted".into();
    let lightbay_engines::AnyFile::Plan(file) = lightbay_engines::files::read_value(&value).unwrap() else {
        panic!("a plan")
    };
    entry.plan = Some(PlanRef(file.check(lightbay_core::kind::Depth::Usual).plan.unwrap()));
    bench.keys("C");
    let why = copied(&bench).unwrap_err();
    assert!(why.contains("was started from another plan (prop-alloc 1.5 accepted)"), "{why}");
    bench.app.plans.started_from.insert(run, first);
    bench.keys("C");
    let command = copied(&bench).unwrap();
    assert!(command.ends_with(&format!(" --hot-start session:tiny4/{first}")), "{command}");
}
