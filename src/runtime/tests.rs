//! Session, runs and state together, without a terminal.

use crate::app::action::{Action, Command, Fact};
use crate::app::effect::{Effect, Evaluation, ExportJob, Source, Subject};
use crate::app::plans::PlanRef;
use crate::app::runs::RunState;
use crate::app::{App, AppOptions, Look};
use crate::runtime::desk::Desk;
use crate::runtime::evaluate::Evaluator;
use crate::runtime::helpers::{self, Finished};
use crate::runtime::open::Opener;
use lightbay_core::clock::{Clock, SystemClock};
use lightbay_core::context::Stop;
use lightbay_core::param::ParamValue;
use lightbay_sessions::{Overrides, Places};
use lightbay_widgets::{Background, ColorDepth, GlyphSet, Palette};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};

/// A workbench without a terminal: effects go to a real desk.
struct Bench {
    app: App,
    desk: Option<Desk>,
    opener: Opener,
}

impl Bench {
    fn new(folder: &Path) -> Self {
        let given = Overrides {
            data: Some(folder.join("data")),
            state: Some(folder.join("state")),
            config: Some(folder.join("config.toml")),
        };
        let places = Places::resolve(&given, |_| None).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let opener = Opener { places, clock, notify: Arc::new(|_| {}) };
        let look = Look::new(Palette::Mono, ColorDepth::None, Background::Dark, GlyphSet::Ascii, false);
        let options = AppOptions {
            version: "test",
            host: String::new(),
            panes: |_| &[],
            look,
            threads: (1, 2),
            folder: folder.to_owned(),
            title: false,
        };
        Self { app: App::new(options, Instant::now()), desk: None, opener }
    }

    fn open(&mut self, source: &Source) -> &mut Self {
        let bundle = self.opener.open(source).unwrap().unwrap();
        let (places, clock) = (self.opener.places.clone(), Arc::clone(&self.opener.clock));
        let (desk, opened) = Desk::new(bundle, 1, places, clock, Arc::new(Notify::new()), None).unwrap();
        self.desk = Some(desk);
        self.act(Action::Fact(Fact::Opened(Box::new(opened))))
    }

    fn act(&mut self, action: Action) -> &mut Self {
        for effect in self.app.update(action, Instant::now()) {
            let desk = self.desk.as_mut().unwrap();
            match effect {
                Effect::StartRun(request) => {
                    let fact = desk.start(request);
                    self.act(Action::Fact(fact));
                }
                Effect::Remember(remembered) => desk.remember(&remembered),
                Effect::StopRun(run) => desk.stop(run),
                Effect::SavePlan { number, plan } => desk.save_plan(number, &plan),
                other => panic!("not expected here: {other:?}"),
            }
        }
        self
    }

    fn set(&mut self, text: &str) -> &mut Self {
        self.act(Action::Do(Command::Set(text.to_owned())))
    }

    /// Solves and listens until nothing works.
    fn solve(&mut self, method: &str) -> &mut Self {
        self.act(Action::Do(Command::Solve { method: Some(method.to_owned()), warm: true }));
        let until = Instant::now() + Duration::from_mins(1);
        while self.app.runs.is_busy() {
            assert!(Instant::now() < until, "{method} ends on a tiny scenario");
            std::thread::sleep(Duration::from_millis(2));
            for fact in self.desk.as_mut().unwrap().hear() {
                self.act(Action::Fact(fact));
            }
        }
        self
    }

    fn close(mut self) -> String {
        let closed = self.desk.take().unwrap().close(Stop::Requested);
        assert_eq!(closed.problem, None);
        closed.session
    }
}

fn tiny() -> Source {
    Source::Preset("tiny4".to_owned())
}

#[test]
fn a_session_comes_back_with_the_same_curves_and_goes_on_from_the_best() {
    let folder = tempfile::tempdir().unwrap();
    let mut before = Bench::new(folder.path());
    before.open(&tiny()).solve("delta-fast").solve("delta-joint");
    let best = before.app.plans.best().unwrap().clone();
    before.act(Action::Do(Command::Mark));
    let runs: Vec<_> = before.app.runs.iter().cloned().collect();
    let name = before.close();

    let mut after = Bench::new(folder.path());
    after.open(&Source::Last);
    assert_eq!(after.app.session.name, name);
    assert_eq!(after.app.runs.len(), runs.len());
    for (old, new) in runs.iter().zip(after.app.runs.iter()) {
        assert_eq!((old.id, &old.method, old.state), (new.id, &new.method, new.state));
        assert_eq!(old.incumbents, new.incumbents);
        assert_eq!(old.bounds, new.bounds);
        assert_eq!(old.best_curve, new.best_curve);
        assert_eq!(old.mean_curve, new.mean_curve);
        assert_eq!(old.rows, new.rows);
        assert_eq!(old.generation, new.generation);
    }
    let found = after.app.plans.best().unwrap();
    assert_eq!((found.number, found.value, found.secondary), (best.number, best.value, best.secondary));
    assert!(found.plan.is_some() && found.marked);
    assert!(!after.app.work.as_ref().unwrap().changed());
    let last = after.app.runs.iter().map(|run| run.id).max();
    let effects = after.app.update(Action::Do(Command::Solve { method: None, warm: true }), Instant::now());
    let Some(Effect::StartRun(request)) = effects.first() else { panic!("{effects:?}") };
    assert_eq!(request.hot_start.as_ref().map(|(number, _)| *number), Some(best.number));
    after.solve("iter-halve");
    assert!(after.app.runs.iter().map(|run| run.id).max() > last, "every start takes a new number");
}

#[test]
fn a_change_that_was_not_solved_is_still_marked_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let mut before = Bench::new(folder.path());
    before.open(&tiny()).solve("delta-joint").set("bandwidth_gbps=800").set("seed=9");
    assert_eq!(before.app.work.as_ref().unwrap().changes(), 2);
    before.close();
    let mut after = Bench::new(folder.path());
    after.open(&Source::Last);
    let work = after.app.work.as_ref().unwrap();
    assert_eq!(work.row_named("bandwidth_gbps").unwrap().value, Some(ParamValue::Float(800.0)));
    assert_eq!(work.now.seed, 9);
    assert!(work.row_named("bandwidth_gbps").unwrap().changed());
    assert!(after.app.is_stale() && after.app.plans.shown().is_some_and(|entry| entry.plan.is_some()));
}

#[test]
fn a_run_that_was_cut_off_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut before = Bench::new(folder.path());
    before.open(&tiny()).solve("delta-joint");
    let session = before.desk.as_ref().unwrap().session().unwrap();
    let log = session.log_path();
    drop(session);
    before.close();
    // As a kill leaves it: the last line, the end of the run, never made it to the disk.
    let text = std::fs::read_to_string(&log).unwrap();
    let cut = text.trim_end().rfind('\n').unwrap();
    std::fs::write(&log, &text[..=cut]).unwrap();
    let mut after = Bench::new(folder.path());
    after.open(&Source::Last);
    assert_eq!(after.app.runs.iter().map(|run| run.state).collect::<Vec<_>>(), [RunState::CutOff]);
    assert!(!after.app.runs.is_busy());
    assert!(after.app.log.last().unwrap().text.contains("cut off"));
    assert!(after.app.plans.best().is_some());
}

#[test]
fn a_second_reader_looks_and_is_told_who_writes() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Bench::new(folder.path());
    first.open(&tiny()).solve("delta-joint");
    first.desk.as_ref().unwrap().flush()();
    let mut second = Bench::new(folder.path());
    second.open(&Source::Last);
    assert!(second.app.plans.best().is_some());
    assert!(second.app.log.last().unwrap().text.contains("read only"));
    second.solve("delta-fast");
    let plans = second.app.plans.len();
    assert_eq!(second.close(), "");
    first.close();
    let mut third = Bench::new(folder.path());
    third.open(&Source::Last);
    assert!(third.app.session.read_only.is_none());
    assert!(third.app.plans.len() < plans, "what the second one found was its own");
}

#[test]
fn looking_without_doing_leaves_no_session_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::new(folder.path());
    bench.open(&tiny());
    assert_eq!(bench.close(), "");
    let opener = Bench::new(folder.path()).opener;
    assert!(opener.recent().is_empty());
    assert!(opener.open(&Source::Last).unwrap().is_none());
}

#[test]
fn what_cannot_be_opened_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let opener = Bench::new(folder.path()).opener;
    let refused = |source: &Source| match opener.open(source) {
        Err(lines) => lines.join("\n"),
        Ok(_) => panic!("{source:?} opened"),
    };
    assert!(refused(&Source::File(folder.path().join("none.json"))).contains("check the name"));
    assert!(refused(&Source::Preset("tiny5".to_owned())).contains("tiny4"));
    assert!(refused(&Source::Session("none".to_owned())).contains("none"));
    let broken = folder.path().join("broken.json");
    std::fs::write(&broken, "{\"schema\": \"lightbay.scenario/1\", \"kind\": ").unwrap();
    assert!(refused(&Source::File(broken)).contains("broken.json"));
}

#[test]
fn an_export_is_read_back_and_never_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::new(folder.path());
    bench.open(&tiny()).solve("delta-joint");
    let plan = bench.app.plans.best().unwrap().plan.clone().unwrap();
    let path = folder.path().join("plan.json");
    let mut job = ExportJob {
        subject: Subject::Plan(plan.clone()),
        against: None,
        format: "json".to_owned(),
        settings: Vec::new(),
        path: path.clone(),
        overwrite: false,
    };
    let Fact::Exported { bytes, .. } = helpers::export(&job) else { panic!("written") };
    assert_eq!(bytes, std::fs::metadata(&path).unwrap().len());
    assert_eq!(std::fs::read(&path).unwrap(), plan.0.shared().to_json().unwrap());
    assert_eq!(helpers::export(&job), Fact::InTheWay(job.clone()));
    job.overwrite = true;
    assert!(matches!(helpers::export(&job), Fact::Exported { .. }));
    job.path = folder.path().join("no/such/folder/plan.json");
    assert!(matches!(helpers::export(&job), Fact::Failed(_)));
    let Fact::Checked { passed, lines, .. } = helpers::check(1, &plan, false) else { panic!("a report") };
    assert!(passed, "{lines:?}");
    let mut again = Bench::new(folder.path());
    again.open(&Source::File(path));
    assert_eq!(again.app.plans.len(), 1);
    assert!(again.app.shown_plan().is_some());
}

#[test]
fn edited_circuits_are_evaluated_and_refused_with_the_pod_that_overflows() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::new(folder.path());
    bench.open(&tiny()).solve("delta-joint");
    let best = bench.app.plans.best().unwrap().clone();
    let scenario = bench.app.work.as_ref().unwrap().now.scenario.clone();
    let value = best.plan.as_ref().map(|PlanRef(plan)| plan.shared().to_value().unwrap()).unwrap();
    let topology: Vec<ParamValue> = value["result"]["topology"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| ParamValue::Int(entry.as_i64().or_else(|| entry["circuits"].as_i64()).unwrap()))
        .collect();
    let (sender, mut results) = mpsc::channel(8);
    let mut evaluator = Evaluator::new(sender, Arc::new(SystemClock::start()));
    let mut ask = |key: u64, topology: Vec<ParamValue>| {
        let settings = vec![("topology".to_owned(), ParamValue::List(topology))];
        let variants = vec![("fair", settings)];
        evaluator
            .ask(Evaluation {
                key,
                scenario: scenario.clone(),
                method: "simulate".to_owned(),
                base: None,
                variants,
            })
            .unwrap();
        match results.blocking_recv() {
            Some(Finished::Fact(Fact::Evaluated { key: of, previews })) if of == key => previews,
            other => panic!("{other:?}"),
        }
    };
    let fits = ask(1, topology.clone());
    assert!(fits[0].plan.as_ref().unwrap().0.header().objective.value >= best.value * (1.0 - 1e-9));
    let mut over = topology;
    over[0] = ParamValue::Int(99);
    let refused = ask(2, over)[0].plan.clone().unwrap_err();
    assert!(refused.contains("pod"), "{refused}");
}
