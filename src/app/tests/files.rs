//! Files and sessions: importing, writing comparisons, names and notes of sessions, the first steps, damaged plans.

use super::daily::written;
use super::support::{Bench, real_run, scenario};
use crate::app::action::{Action, Command, Fact, Heard, Opened, SessionView};
use crate::app::effect::Effect;
use crate::app::layer::{ExportEdit, Layer};
use crate::app::palette;
use crate::app::pane::PaneId;
use lightbay_core::event::EndStatus;
use std::path::PathBuf;

#[test]
fn an_import_takes_parameters_and_detects_the_format() {
    let import = |text: &str| {
        let mut bench = Bench::start();
        bench.act(Action::Do(Command::Import(text.to_owned())));
        let wanted = bench.effects.iter().find_map(|effect| match effect {
            Effect::Import { format, paths, settings } => {
                let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
                Some((format.clone(), paths.clone(), settings))
            }
            _ => None,
        });
        wanted.ok_or_else(|| bench.last_message().to_owned())
    };
    let file = |name: &str| PathBuf::from(format!("/tmp/lightbay-test/{name}"));
    assert_eq!(import("cables.csv"), Ok((None, vec![file("cables.csv")], Vec::new())));
    let aicb = import("aicb workload.txt gpus_per_pod=8");
    assert_eq!(
        aicb,
        Ok((Some("aicb".to_owned()), vec![file("workload.txt")], vec!["gpus_per_pod=8".to_owned()]))
    );
    let msccl = import("msccl preset:amdx2-allgather-1gb s.xml").unwrap();
    assert_eq!(msccl.1, [PathBuf::from("preset:amdx2-allgather-1gb"), file("s.xml")]);
    let near = import("aicb workload.txt gpus_per_pot=8").unwrap_err();
    assert!(near.contains("gpus_per_pod"), "{near}");
    assert!(import("aicp workload.txt").unwrap_err().contains("did you mean"), "an unknown format");
    assert!(import("aicb").unwrap_err().contains("name the files"));
    // Parameters are completed after the format.
    let mut bench = Bench::start();
    bench.keys(":").text("import aicb workload.txt gpus");
    let lines = palette::lines(&bench.app, "import aicb workload.txt gpus");
    assert!(lines.iter().any(|line| line.text == "import aicb workload.txt gpus_per_pod="), "{lines:?}");
}

#[test]
fn keys_wait_for_what_is_being_opened() {
    let mut bench = Bench::start();
    bench.act(Action::Do(Command::Open("preset:tiny4".to_owned())));
    bench.keys("3 z");
    assert_eq!(bench.app.focus.pane, PaneId::Start);
    let opened = Bench::opened();
    bench.fact(Fact::Opened(Box::new(opened)));
    assert!(bench.app.focus.pane == PaneId::Kind(3) && bench.app.focus.zoomed);
    assert!(bench.app.start.keys.is_empty() && bench.app.start.opening.is_none());
}

#[test]
fn the_comparison_is_written_as_latex_or_html() {
    let mut bench = Bench::open();
    let mut next = 1;
    for method in ["delta-fast", "prop-alloc"] {
        bench.keys("r");
        let run = bench.accept(false);
        next = bench.replay(run, method, next);
    }
    bench.keys("c w");
    let Some(Layer::Export(edit)) = bench.app.layers.last() else { panic!("asks for format and path") };
    let ending = |edit: &ExportEdit| edit.path.text().rsplit('.').next().unwrap_or_default().to_owned();
    assert!(edit.path.text().starts_with("compare-") && ending(edit) == "md");
    bench.keys("Down Down");
    let Some(Layer::Export(edit)) = bench.app.layers.last() else { panic!("asks for format and path") };
    assert_eq!(ending(edit), "tex");
    bench.keys("Enter");
    let (path, text) = written(&bench).expect("the table is written");
    assert!(
        path.extension().is_some_and(|ending| ending == "tex") && text.contains("\\begin{tabular}"),
        "{text}"
    );
    assert!(matches!(bench.app.layers.last(), Some(Layer::Compare(_))), "the comparison stays open");
}

#[test]
fn a_session_is_renamed_and_noted_once_there_is_one() {
    let mut bench = Bench::open();
    bench.keys(":").text("rename_session beta").keys("Enter");
    assert!(bench.last_message().starts_with("a session that is not saved yet"), "{}", bench.last_message());
    bench.keys("r");
    let run = bench.accept(false);
    bench.keys(":").text("rename_session beta").keys("Enter");
    assert!(bench.last_message().starts_with("a solve is running"), "{}", bench.last_message());
    bench.replay(run, "delta-fast", 1);
    bench.keys(":").text("rename_session tiny4").keys("Enter");
    assert_eq!(bench.last_message(), "the session is called 'tiny4' already");
    bench.keys(":").text("rename_session beta").keys("Enter");
    assert!(matches!(
        bench.effects.as_slice(),
        [.., Effect::Remember(_), Effect::RenameSession(name)] if name == "beta"
    ));
    bench.keys(":").text("note_session for the review").keys("Enter");
    assert!(bench.effects.contains(&Effect::NoteSession("for the review".to_owned())));
    bench.keys(":").text("note_session -").keys("Enter");
    assert!(bench.effects.contains(&Effect::NoteSession(String::new())));
}

#[test]
fn the_first_steps_go_for_good_with_the_first_key() {
    let mut bench = Bench::open();
    bench.app.first_steps = true;
    bench.keys("Tab");
    assert!(!bench.app.first_steps && bench.effects.contains(&Effect::KeepFirstSteps));
    bench.keys("Tab");
    assert!(!bench.effects.contains(&Effect::KeepFirstSteps));
    let mut start = Bench::start();
    start.app.first_steps = true;
    start.keys("j");
    assert!(start.app.first_steps, "they wait for the first scenario");
}

#[test]
fn a_name_of_the_scenario_is_no_changed_parameter() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-fast", 1);
    bench.act(Action::Do(Command::Set("name=other".to_owned())));
    let work = bench.app.work.as_ref().unwrap();
    assert!(!work.changed() && work.changes() == 0 && bench.app.form_rows().iter().all(|row| !row.changed()));
    bench.keys("u");
    assert!(bench.last_message().starts_with("undone: name other → tiny4"), "{}", bench.last_message());
}

#[test]
fn a_run_whose_plan_is_damaged_claims_nothing() {
    let mut bench = Bench::start();
    let events = real_run("prop-alloc").into_iter().map(|event| Heard::new(event, None)).collect();
    bench.fact(Fact::Opened(Box::new(Opened {
        source: "session:tiny4".to_owned(),
        scenario: scenario(),
        plans: Vec::new(),
        events,
        remembered: None,
        session: SessionView { name: "tiny4".to_owned(), ..SessionView::default() },
        notes: Vec::new(),
        solve: None,
    })));
    let run = bench.app.runs.iter().next().expect("the run is replayed");
    assert!(run.best.is_none() && run.bound.is_none());
    assert_eq!(run.done.as_ref().map(|done| done.status), Some(EndStatus::NoPlan));
    assert!(bench.last_message().contains("is damaged or gone"), "{}", bench.last_message());
}
