//! Tests of solving while the user changes knobs.

use super::support::{Bench, real_plan, real_run};
use crate::app::action::{Action, Command, Fact, Heard};
use crate::app::drawn::{Drawn, PaneDrawn};
use crate::app::effect::{Effect, ExportSubject};
use crate::app::key::Key;
use crate::app::layer::{Layer, Preview};
use crate::app::pane::PaneId;
use crate::app::plans::{PlanRef, Shown};
use crate::app::runs::RunState;
use crate::app::work::FormRow;
use lightbay_core::event::{Bound, Event, EventBody, RunId};
use lightbay_core::param::ParamValue;
use lightbay_engines::AnyPlan;
use ratatui::layout::Rect;
use std::time::Duration;

fn bound(value: f64) -> EventBody {
    EventBody::Bound(Bound { value, only: None })
}

#[test]
fn r_starts_warm_from_the_best_plan_and_a_changed_knob_carries_it_over() {
    let mut bench = Bench::open();
    bench.keys("r");
    assert_eq!(bench.request().method, "auto");
    assert!(bench.request().hot_start.is_none() && !bench.request().replace);
    assert!(bench.last_message().contains("no plan to start from"));
    let run = bench.accept(false);
    let plans = bench.replay(run, "delta-joint", 1) - 1;
    assert!(plans >= 1);
    let best = bench.app.plans.best().unwrap().number;
    let before = bench.app.work.as_ref().unwrap().now.sha256.clone();

    bench.act(Action::Do(Command::Set("bandwidth_gbps=800".to_owned())));
    assert!(bench.effects.iter().all(|effect| !matches!(effect, Effect::StartRun(_) | Effect::StopRun(_))));
    assert!(bench.app.is_stale() && bench.app.work.as_ref().unwrap().changes() == 1);
    bench.keys("r");
    let request = bench.request().clone();
    assert_ne!(request.scenario_sha256, before);
    assert_eq!(request.hot_start.as_ref().map(|(number, _)| *number), Some(best));
    assert!(bench.last_message().contains("carried over") && bench.last_message().contains("bandwidth_gbps"));
    assert_eq!(bench.app.work.as_ref().unwrap().changes(), 0, "solved with it, so no longer marked");
    assert_eq!(bench.app.plans.shown().unwrap().number, best, "the old plan stays until there is a new one");
    assert!(bench.app.plans.best().is_none());
}

#[test]
fn a_plan_that_an_earlier_run_found_keeps_its_row() {
    let mut bench = Bench::open();
    bench.keys("r");
    let first = bench.accept(false);
    let next = bench.replay(first, "delta-joint", 1);
    let (kept, rows) = (next - 1, bench.app.plans.rows().len());
    bench.keys("R");
    let second = bench.accept(false);
    let mut own = next;
    for event in real_run("delta-joint") {
        let plan = match &event.body {
            EventBody::Incumbent(incumbent) if incumbent.plan.is_some() => {
                own += 1;
                bench.app.plans.shown = Shown::Chosen(own - 1);
                Some(own - 1)
            }
            // The session gives an equal plan the number of the stored one.
            EventBody::Done(done) if done.plan.is_some() => Some(kept),
            _ => None,
        };
        bench.fact(Fact::Event(Heard::new(Event { run: second, ..event }, plan)));
    }
    assert!(own > next);
    let plans = &bench.app.plans;
    assert_eq!(plans.rows().len(), rows);
    assert_eq!(plans.newest_of(second).map(|entry| entry.number), Some(kept));
    assert_eq!(plans.get(kept).and_then(|entry| entry.origin).map(|(run, _)| run), Some(first));
    assert_eq!(plans.shown, Shown::Chosen(kept), "who looked at its own plan looks at the equal one");
    let message = bench.last_message();
    assert!(message.ends_with(&format!("; identical to plan {kept}, so it is not kept twice")), "{message}");
}

#[test]
fn a_cold_start_takes_no_plan() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-joint", 1);
    bench.keys("R");
    assert!(bench.request().hot_start.is_none());
    assert!(bench.last_message().contains("from scratch"));
}

#[test]
fn methods_work_side_by_side_and_the_same_question_is_not_asked_twice() {
    let mut bench = Bench::open();
    bench.keys("r").accept(false);
    bench.act(Action::Do(Command::Solve { method: Some("delta-fast".to_owned()), warm: true }));
    assert_eq!(bench.request().method, "delta-fast");
    assert!(!bench.request().replace);
    bench.accept(false);
    assert_eq!(bench.app.runs.active().count(), 2);
    bench.keys("r");
    assert!(bench.effects.iter().all(|effect| !matches!(effect, Effect::StartRun(_))));
    assert!(bench.last_message().contains("is already running"));
    bench.act(Action::Do(Command::Set("seed=7".to_owned()))).keys("r");
    assert!(bench.request().replace, "changed parameters: the run before makes way");
    assert_eq!(bench.request().common.seed, 7);
    bench.act(Action::Do(Command::Solve { method: Some("delta-fst".to_owned()), warm: true }));
    assert!(bench.last_message().contains("did you mean 'delta-fast'?"), "{}", bench.last_message());
}

#[test]
fn live_knobs_reach_the_running_method_and_are_not_marked() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.act(Action::Do(Command::Set("gap=1%".to_owned())));
    let edit = Effect::EditRun { run, name: "gap".to_owned(), value: ParamValue::Float(0.01) };
    assert!(bench.effects.contains(&edit));
    assert!(!bench.app.work.as_ref().unwrap().changed());
    bench.keys("x");
    assert_eq!(
        bench.app.runs.get(run).unwrap().state,
        RunState::Stopping,
        "at once, not when it has stopped"
    );
    assert!(bench.effects.contains(&Effect::StopRun(run)));
}

#[test]
fn undo_and_redo_of_a_live_knob_reach_the_running_method_too() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    let edit = |name: &str, value| Effect::EditRun { run, name: name.to_owned(), value };
    for (set, name, after) in
        [("gap=1%", "gap", ParamValue::Float(0.01)), ("generations=9", "generations", ParamValue::Int(9))]
    {
        let before = bench.app.work.as_ref().unwrap().row_named(name).unwrap().value.unwrap();
        bench.act(Action::Do(Command::Set(set.to_owned())));
        assert!(bench.effects.contains(&edit(name, after.clone())), "{name}");
        bench.keys("u");
        assert!(bench.effects.contains(&edit(name, before)), "undo of {name} never reached the run");
        assert!(
            !bench.app.work.as_ref().unwrap().changed(),
            "the run has it, so nothing waits for the next solve"
        );
        bench.keys("U");
        assert!(bench.effects.contains(&edit(name, after)), "redo of {name} never reached the run");
        assert!(bench.last_message().contains("applied by auto"), "{}", bench.last_message());
    }
    bench.act(Action::Do(Command::Set("seq=2048".to_owned()))).keys("u");
    assert!(
        bench.effects.iter().all(|effect| !matches!(effect, Effect::EditRun { .. })),
        "no run changes its scenario"
    );
}

#[test]
fn a_live_change_leaves_the_marks_of_others_that_wait_for_a_solve() {
    let mut bench = Bench::open();
    bench.keys("r").accept(false);
    bench.act(Action::Do(Command::Set("population=77".to_owned())));
    let changed = |bench: &Bench| -> Vec<String> {
        bench.app.form_rows().into_iter().filter(FormRow::changed).map(|row| row.name).collect()
    };
    assert_eq!(changed(&bench), ["population"]);
    bench.act(Action::Do(Command::Set("generations=9".to_owned())));
    assert!(bench.last_message().contains("applied by"), "{}", bench.last_message());
    assert_eq!(changed(&bench), ["population"], "the run has the number of generations and nothing else");
    assert!(bench.app.work.as_ref().unwrap().changed());
}

#[test]
fn a_change_from_anywhere_selects_its_row() {
    let mut bench = Bench::open();
    let selected = |bench: &Bench| {
        let id = bench.app.pane(PaneId::Params).selected?;
        Some(bench.app.work.as_ref()?.row(id)?.name)
    };
    bench.act(Action::Do(Command::Set("seed=7".to_owned())));
    assert_eq!(selected(&bench).as_deref(), Some("seed"));
    bench.act(Action::Do(Command::Set("bandwidth_gbps=800".to_owned())));
    assert_eq!(selected(&bench).as_deref(), Some("bandwidth_gbps"));
    bench.keys("u u");
    assert_eq!(selected(&bench).as_deref(), Some("seed"), "what was undone last");
}

#[test]
fn a_change_stays_marked_until_there_is_a_plan_of_it() {
    let mut bench = Bench::open();
    bench.keys("r");
    let first = bench.accept(false);
    bench.replay(first, "delta-joint", 1);
    bench.act(Action::Do(Command::Set("bandwidth_gbps=800".to_owned())));
    let was = |bench: &Bench| {
        let rows = bench.app.form_rows();
        rows.into_iter().find(|row| row.name == "bandwidth_gbps").and_then(|row| row.was)
    };
    assert_eq!(was(&bench), Some(Some(ParamValue::Float(400.0))));
    bench.keys("r").accept(false);
    assert!(!bench.app.work.as_ref().unwrap().changed() && bench.app.is_stale());
    assert_eq!(was(&bench), Some(Some(ParamValue::Float(400.0))), "the plan shown is of the value before");
}

#[test]
fn a_knob_of_several_methods_is_one_knob() {
    let mut bench = Bench::open();
    bench.act(Action::Do(Command::Set("generations=7".to_owned())));
    bench.act(Action::Do(Command::Solve { method: Some("delta-fast".to_owned()), warm: true }));
    let given = ("generations".to_owned(), ParamValue::Int(7));
    assert!(bench.request().params.contains(&given), "set in the form of auto");
    let run = bench.accept(false);
    bench.act(Action::Do(Command::Set("generations=9".to_owned())));
    let edit = Effect::EditRun { run, name: "generations".to_owned(), value: ParamValue::Int(9) };
    assert!(bench.effects.contains(&edit), "live also in a run of another method than the form's");
}

#[test]
fn entries_of_lists_are_changed_and_named_one_by_one() {
    let mut bench = Bench::open();
    bench.act(Action::Do(Command::Set("method=simulate".to_owned())));
    bench.act(Action::Do(Command::Set("topology[1]=2".to_owned())));
    assert!(bench.last_message().contains("give the whole list first"), "{}", bench.last_message());
    bench.act(Action::Do(Command::Set("topology=1,3,2".to_owned())));
    bench.act(Action::Do(Command::Set("topology[1]=2".to_owned())));
    assert!(bench.last_message().starts_with("topology[1] 3 → 2"), "{}", bench.last_message());
    let row = bench.app.work.as_ref().unwrap().row_named("topology").unwrap();
    let expected = ParamValue::List([1, 2, 2].map(ParamValue::Int).to_vec());
    assert_eq!(row.value, Some(expected));
    bench.act(Action::Do(Command::Set("topology[7]=2".to_owned())));
    assert!(bench.last_message().contains("from 0 to 2"), "{}", bench.last_message());
}

#[test]
fn pausing_stops_the_clock_on_screen() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.say(run, "delta-joint", 2, bound(1.0), None).wait(Duration::from_secs(3));
    let elapsed = |bench: &Bench| bench.app.elapsed_s(bench.app.runs.get(run).unwrap());
    assert!((elapsed(&bench) - 5.0).abs() < 1e-9);
    bench.keys("p");
    assert!(bench.effects.contains(&Effect::PauseRun { run, paused: true }));
    bench.wait(Duration::from_mins(1));
    assert!((elapsed(&bench) - 5.0).abs() < 1e-9);
    bench.keys("p").wait(Duration::from_secs(1));
    assert!((elapsed(&bench) - 6.0).abs() < 1e-9);
}

#[test]
fn late_events_of_an_older_scenario_do_not_touch_newer_numbers() {
    let mut bench = Bench::open();
    bench.keys("r");
    let old = bench.accept(false);
    bench.act(Action::Do(Command::Set("bandwidth_gbps=800".to_owned()))).keys("r");
    let new = bench.accept(true);
    assert_eq!(bench.app.runs.get(new).unwrap().state, RunState::Queued);
    bench.replay(old, "delta-joint", 1);
    assert!(bench.app.plans.best().is_none(), "a plan of the scenario before is no best of this one");
    assert!(bench.app.is_stale());
    assert_eq!(bench.app.runs.get(old).unwrap().state, RunState::Ended);
    assert!(bench.app.runs.get(new).unwrap().best.is_none());
}

#[test]
fn a_frozen_display_loses_nothing() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.keys("f");
    bench.replay(run, "delta-joint", 1);
    assert!(bench.app.plans.is_empty() && !bench.app.held.is_empty());
    assert!(!bench.app.runs.is_busy(), "that a run ended counts at once");
    bench.keys("f");
    assert!(bench.app.held.is_empty() && bench.app.plans.best().is_some());
}

#[test]
fn leaving_asks_while_a_solve_runs_and_the_second_interrupt_leaves() {
    let mut bench = Bench::open();
    bench.keys("q");
    assert!(bench.effects.contains(&Effect::Quit { code: 0 }));

    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.keys("q");
    assert!(matches!(bench.app.layers.last(), Some(Layer::Confirm(question)) if question.chosen == 0));
    bench.keys("Enter");
    assert!(bench.app.layers.is_empty() && !bench.app.leaving, "the safe answer is the one that Enter takes");
    bench.keys("q y");
    assert!(bench.effects.contains(&Effect::Quit { code: 0 }));
    assert!(bench.effects.iter().any(|effect| matches!(effect, Effect::Remember(_))));

    let mut bench = Bench::open();
    bench.keys("r").accept(false);
    bench.keys("C-c");
    assert!(bench.effects.contains(&Effect::StopRun(run)) && !bench.app.leaving);
    bench.wait(Duration::from_secs(3)).keys("C-c");
    assert!(!bench.app.leaving, "too late for a second time");
    bench.keys("C-c");
    assert!(bench.effects.contains(&Effect::Quit { code: 130 }));
}

#[test]
fn the_clock_ticks_only_while_something_runs() {
    let mut bench = Bench::open();
    assert_eq!(bench.app.next_wake(), None);
    bench.keys("r");
    let run = bench.accept(false);
    assert!(bench.app.next_wake().is_some());
    bench.app.dirty = crate::app::state::Dirty::default();
    bench.wait(Duration::from_millis(1001));
    assert!(bench.app.dirty.clock && !bench.app.dirty.frame && !bench.app.dirty.urgent);
    bench.keys("p");
    assert_eq!(bench.app.next_wake(), None, "a paused clock stands still");
    bench.keys("p");
    bench.replay(run, "delta-joint", 1);
    assert_eq!(bench.app.next_wake(), None);
}

#[test]
fn the_automatic_mode_waits_for_a_quiet_moment() {
    let mut bench = Bench::open();
    bench.keys("Space a");
    bench.act(Action::Do(Command::Set("seed=2".to_owned()))).wait(Duration::from_millis(200));
    bench.act(Action::Do(Command::Set("seed=3".to_owned()))).wait(Duration::from_millis(200));
    assert!(bench.effects.is_empty());
    bench.wait(Duration::from_millis(101));
    assert_eq!(bench.request().common.seed, 3);
}

#[test]
fn marks_baseline_and_comparison_follow_the_table() {
    let mut bench = Bench::open();
    bench.keys("r");
    let first = bench.accept(false);
    let next = bench.replay(first, "iter-halve", 1);
    bench.act(Action::Do(Command::Solve { method: Some("delta-joint".to_owned()), warm: true }));
    let second = bench.accept(false);
    bench.replay(second, "delta-joint", next);
    let rows: Vec<u64> = bench.app.plans.rows().iter().map(|entry| entry.number).collect();
    assert_eq!(rows.len(), 2, "one row per run");
    let (best, other) = (rows[0], rows[1]);
    assert_eq!(bench.app.plans.shown().unwrap().number, best);

    bench.keys("Space t j");
    assert_eq!(bench.app.plans.shown, Shown::Chosen(other));
    bench.keys("B");
    assert_eq!(bench.app.plans.baseline, Some(other));
    bench.keys("Esc");
    assert_eq!(bench.app.plans.shown, Shown::Best);
    bench.keys("c");
    let Some(Layer::Compare(view)) = bench.app.layers.last() else { panic!("a comparison") };
    assert_eq!((view.pairs[0].plan, view.pairs[0].against), (best, other));
    let table = bench.app.comparison(view.shown()).unwrap();
    assert!(table.figures.iter().any(|figure| figure.name == "makespan_s"));
    bench.keys("w Enter");
    let export = bench.effects.iter().find_map(|effect| match effect {
        Effect::Export(job) => Some(job),
        _ => None,
    });
    assert!(matches!(&export.unwrap().subject, ExportSubject::Text(text) if text.contains("| makespan | ")));
}

#[test]
fn the_ending_of_a_typed_name_chooses_the_format() {
    let mut bench = Bench::open();
    bench.keys("w");
    for (name, format) in [("a.dot", "dot"), (".csv", "csv"), (".json", "csv")] {
        for letter in name.chars() {
            bench.act(Action::Key(Key::char(letter)));
        }
        let Some(Layer::Export(edit)) = bench.app.layers.last() else { panic!("the write box") };
        assert_eq!(edit.formats[edit.format], format, "{}", edit.path.text());
    }
}

#[test]
fn knobs_of_a_format_stand_before_the_path() {
    let mut bench = Bench::open();
    for (text, settings, path) in [
        ("dot what=dag replicas=all a=b.dot", &["what=dag", "replicas=all"][..], "a=b.dot"),
        ("dot what=dag", &["what=dag"], "tiny4.dot"),
        ("graphml my topology.graphml", &[], "my topology.graphml"),
    ] {
        bench.act(Action::Do(Command::Export(text.to_owned())));
        let Some(Effect::Export(job)) = bench.effects.last() else { panic!("{}", bench.last_message()) };
        let given: Vec<String> = job.settings.iter().map(ToString::to_string).collect();
        assert_eq!(given, settings, "{text}");
        assert!(job.path.ends_with(path), "{}", job.path.display());
    }
}

#[test]
fn a_comparison_needs_two_plans_and_says_so() {
    let mut bench = Bench::open();
    bench.keys("c");
    assert!(bench.app.layers.is_empty());
    assert!(bench.last_message().contains("two plans"));
    // One row, though its run found several plans, and though it is the baseline.
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-fast", 1);
    bench.keys("B c");
    assert!(bench.app.layers.is_empty() && bench.app.plans.rows().len() == 1);
    assert!(bench.last_message().contains("a comparison needs two plans"), "{}", bench.last_message());
}

#[test]
fn writing_fills_in_everything_and_never_overwrites_by_itself() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-joint", 1);
    bench.keys("w");
    let number = bench.app.plans.best().unwrap().number;
    let Some(Layer::Export(edit)) = bench.app.layers.last() else { panic!("the pop-up") };
    assert_eq!(edit.path.text(), format!("tiny4-plan{number}.json"));
    bench.keys("Down");
    let Some(Layer::Export(edit)) = bench.app.layers.last() else { panic!("the pop-up") };
    assert_ne!(edit.path.text(), format!("tiny4-plan{number}.json"), "the name follows the format");
    bench.keys("Up Enter");
    let Some(Effect::Export(job)) = bench.effects.first().cloned() else { panic!("{:?}", bench.effects) };
    assert!(job.path.starts_with("/tmp/lightbay-test") && !job.overwrite);
    bench.fact(Fact::InTheWay(job.clone()));
    bench.keys("Enter");
    assert!(bench.effects.is_empty(), "Enter keeps the file");
    bench.fact(Fact::InTheWay(job)).keys("Tab Enter");
    assert!(matches!(&bench.effects[0], Effect::Export(job) if job.overwrite));
}

#[test]
fn a_model_is_written_with_its_method_in_the_name() {
    let mut bench = Bench::open();
    bench.keys("w");
    let Some(Layer::Export(edit)) = bench.app.layers.last() else { panic!("the pop-up") };
    let below = edit.formats.iter().position(|format| *format == "mps").unwrap();
    for _ in 0..below {
        bench.keys("Down");
    }
    let method = bench.app.model_method(None).unwrap();
    let Some(Layer::Export(edit)) = bench.app.layers.last() else { panic!("the pop-up") };
    assert_eq!(
        (edit.formats[edit.format], edit.path.text()),
        ("mps", &*format!("tiny4.{}.mps", method.name))
    );
    bench.keys("Enter");
    let Some(Effect::Export(job)) = bench.effects.first() else { panic!("{:?}", bench.effects) };
    assert_eq!(job.settings[0].to_string(), format!("method={}", method.name));
}

/// The bracket keys of a pane can change the item that is chosen in another pane; they stop at the first and the last
/// item.
#[test]
fn brackets_step_through_the_choice_of_another_pane() {
    let mut bench = Bench::open();
    let mut activity = PaneDrawn::new(PaneId::Kind(2), Rect::new(0, 0, 60, 10));
    activity.steps = 3;
    activity.steps_through = Some((PaneId::Kind(1), 1));
    let drawn = |pane: &PaneDrawn| Action::Drawn(Drawn { panes: vec![pane.clone()], ..Drawn::default() });
    bench.act(drawn(&activity));
    bench.keys("2 .");
    assert_eq!(bench.app.pane(PaneId::Kind(1)).selected, Some(2));
    assert_eq!(bench.app.pane(PaneId::Kind(2)).step, None);
    activity.steps_through = Some((PaneId::Kind(1), 2));
    bench.act(drawn(&activity));
    bench.keys("] ]");
    assert_eq!(bench.app.pane(PaneId::Kind(1)).selected, Some(2), "the last one");
    bench.keys(",");
    assert_eq!(bench.app.pane(PaneId::Kind(1)).selected, Some(1));
}

#[test]
fn every_step_of_a_cell_edit_is_evaluated_and_only_the_newest_answer_counts() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-joint", 1);
    bench.draw_ports();
    bench.keys("3 e");
    assert!(bench.app.cell_edit().is_some());
    let ask = |bench: &Bench| match bench.effects.first() {
        Some(Effect::Evaluate(evaluation)) => evaluation.clone(),
        other => panic!("{other:?}"),
    };
    let list =
        |values: &[i64]| ParamValue::List(values.iter().map(|value| ParamValue::Int(*value)).collect());
    bench.keys("+");
    let first = ask(&bench);
    assert_eq!(first.variants[0].1, [("topology".to_owned(), list(&[3, 2]))]);
    bench.keys("l +");
    let second = ask(&bench);
    assert_eq!(second.variants[0].1, [("topology".to_owned(), list(&[3, 3]))]);
    bench.keys("4");
    let third = ask(&bench);
    assert_eq!(third.variants[0].1, [("topology".to_owned(), list(&[3, 4]))]);
    let plan = PlanRef(AnyPlan::of(&real_plan("iter-halve")).unwrap());
    let answer = |plan| vec![Preview { variant: "fair", plan }];
    bench.fact(Fact::Evaluated { key: first.key, previews: answer(Err("late".to_owned())) });
    assert!(bench.app.cell_edit().unwrap().waiting);
    bench.fact(Fact::Evaluated {
        key: third.key,
        previews: answer(Err("pod 1 needs 9 ports, has 8".to_owned())),
    });
    assert_eq!(bench.app.cell_edit().unwrap().problem, "pod 1 needs 9 ports, has 8");
    bench.keys("Enter");
    assert!(bench.app.cell_edit().is_some(), "there is nothing to keep");
    bench.keys("-");
    let key = ask(&bench).key;
    bench.fact(Fact::Evaluated { key, previews: answer(Ok(plan.clone())) });
    assert!(bench.app.shown_plan().is_some() && bench.app.shown_key() > 1_000_000);
    bench.keys("Enter");
    assert!(matches!(&bench.effects[0], Effect::KeepPlan { plan: kept, .. } if *kept == plan));
    bench.fact(Fact::Kept { number: 40, plan, source: "edit of plan 1".to_owned() });
    assert_eq!(bench.app.plans.shown().unwrap().number, 40);

    bench.keys("e + + + + + + + + +");
    assert!(bench.app.cell_edit().unwrap().problem.contains("must be 1 to 8"));
    bench.keys("Esc");
    assert!(bench.app.cell_edit().is_none());
}

#[test]
fn plans_leave_memory_when_nothing_needs_them_and_come_back() {
    let mut bench = Bench::open();
    bench.keys("r").accept(false);
    for run in 2..=14 {
        bench.replay(RunId(run), "iter-halve", run * 100);
    }
    let rows: Vec<_> = bench.app.plans.iter().map(|entry| (entry.number, entry.plan.is_some())).collect();
    assert!(rows.iter().filter(|(_, there)| *there).count() <= 10);
    let gone = rows.iter().rev().find(|(_, there)| !there).expect("old ones are gone").0;
    bench.act(Action::Do(Command::ShowPlan(gone)));
    assert!(bench.effects.contains(&Effect::LoadPlan { number: gone }));
    bench.act(Action::Tick);
    assert!(bench.effects.is_empty(), "asked once");
    let plan = PlanRef(AnyPlan::of(&real_plan("iter-halve")).unwrap());
    bench.fact(Fact::PlanLoaded { number: gone, plan: Ok(plan) });
    assert!(bench.app.shown_plan().is_some());
}

#[test]
fn focus_moves_only_when_asked() {
    let mut bench = Bench::open();
    bench.draw_ports();
    assert_eq!(bench.app.focus.pane, PaneId::Kind(1));
    bench.keys("r").accept(false);
    assert_eq!(bench.app.focus.pane, PaneId::Kind(1));
    bench.keys("2");
    assert_eq!((bench.app.focus.pane, bench.app.focus.large), (PaneId::Kind(2), PaneId::Kind(2)));
    bench.keys("b Tab");
    assert_eq!((bench.app.focus.pane, bench.app.focus.large), (PaneId::Kind(3), PaneId::Kind(2)));
    bench.keys("9");
    assert_eq!(bench.app.focus.pane, PaneId::Kind(3));
    assert!(bench.last_message().contains("pane 9 does not exist"));
    bench.keys("2 [ [");
    assert_eq!(bench.app.pane(PaneId::Kind(2)).step, Some(2));
    bench.keys("] ]");
    assert_eq!(bench.app.pane(PaneId::Kind(2)).step, None, "the last step follows what comes");
}

#[test]
fn what_was_refused_is_not_solved_as_if_it_were_there() {
    let mut bench = Bench::open();
    bench.act(Action::Do(Command::Set("bandwidth_gbps=-5".to_owned())));
    assert!(bench.last_message().contains("bandwidth_gbps"), "{}", bench.last_message());
    bench.keys("r");
    assert!(bench.effects.iter().all(|effect| !matches!(effect, Effect::StartRun(_))));
    assert!(bench.last_message().contains("'bandwidth_gbps=-5' was refused"), "{}", bench.last_message());
    bench.keys("r");
    assert_eq!(bench.request().method, "auto");
    // A change that is taken makes up for it.
    let mut bench = Bench::open();
    bench.act(Action::Do(Command::Set("bandwidth_gbps=-5".to_owned())));
    bench.act(Action::Do(Command::Set("bandwidth_gbps=800".to_owned())));
    bench.keys("r");
    assert_eq!(bench.request().method, "auto");
}
