//! Session, runs and state together, without a terminal.

use crate::app::action::{Action, Command, Fact};
use crate::app::effect::{Effect, Evaluation, ExportJob, ExportSubject, Source};
use crate::app::plans::PlanRef;
use crate::app::runs::RunState;
use crate::app::{App, AppOptions, Look};
use crate::runtime::evaluate::Evaluator;
use crate::runtime::follow::Following;
use crate::runtime::helpers::{self, Finished};
use crate::runtime::open::Opener;
use crate::runtime::open_scenario::OpenScenario;
use crate::runtime::saved_plans::read_plan;
use lightbay_core::clock::{Clock, SystemClock};
use lightbay_core::context::Stop;
use lightbay_core::event::EndStatus;
use lightbay_core::param::ParamValue;
use lightbay_sessions::{Ending, Overrides, Places};
use lightbay_widgets::{Background, ColorDepth, GlyphSet, Palette};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};

/// A workbench without a terminal: effects go to a scenario that is open.
struct Bench {
    app: App,
    current: Option<OpenScenario>,
    opener: Opener,
    following: Option<Following>,
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
        let opener = Opener { places, clock, notify: Arc::new(|_| {}), desks: Arc::default() };
        let look = Look::new(Palette::Mono, ColorDepth::None, Background::Dark, GlyphSet::Ascii, false);
        let options = AppOptions {
            version: "test",
            host: String::new(),
            panes: |_| &[],
            look,
            threads: (1, 2),
            folder: folder.to_owned(),
            title: false,
            keymap: crate::app::keymap::Keymap::default(),
        };
        Self { app: App::new(options, Instant::now()), current: None, opener, following: None }
    }

    fn open(&mut self, source: &Source) -> &mut Self {
        let mut bundle = self.opener.open(source).unwrap().unwrap();
        self.following = bundle.following.take();
        let (places, clock) = (self.opener.places.clone(), Arc::clone(&self.opener.clock));
        let (current, opened) =
            OpenScenario::new(bundle, 1, places, clock, Arc::new(Notify::new()), None).unwrap();
        self.current = Some(current);
        self.act(Action::Fact(Fact::Opened(Box::new(opened))))
    }

    fn act(&mut self, action: Action) -> &mut Self {
        for effect in self.app.update(action, Instant::now()) {
            let current = self.current.as_mut().unwrap();
            match effect {
                Effect::StartRun(request) => {
                    let fact = current.start(request);
                    self.act(Action::Fact(fact));
                }
                Effect::Remember(remembered) => current.remember(&remembered),
                Effect::StopRun(run) => current.stop(run),
                Effect::SavePlan { number, plan } => current.save_plan(number, &plan),
                other => panic!("not expected here: {other:?}"),
            }
        }
        self
    }

    fn set(&mut self, text: &str) -> &mut Self {
        self.act(Action::Do(Command::Set(text.to_owned())))
    }

    /// Hears what runs of another process said since the last time.
    fn follow(&mut self) -> &mut Self {
        let mut news = self.following.as_mut().unwrap().news();
        self.current.as_mut().unwrap().renumber(&mut news);
        self.act(Action::Fact(Fact::RemoteEvents(news)))
    }

    fn states(&self) -> Vec<RunState> {
        self.app.runs.iter().map(|run| run.state).collect()
    }

    /// Solves and listens until nothing works.
    fn solve(&mut self, method: &str) -> &mut Self {
        self.act(Action::Do(Command::Solve { method: Some(method.to_owned()), warm: true }));
        let until = Instant::now() + Duration::from_mins(1);
        while self.app.runs.is_busy() {
            assert!(Instant::now() < until, "{method} ends on a tiny scenario");
            std::thread::sleep(Duration::from_millis(2));
            for fact in self.current.as_mut().unwrap().hear() {
                self.act(Action::Fact(fact));
            }
        }
        self
    }

    /// Name of the session in which everything is; empty if none was worth keeping.
    fn close(self) -> String {
        match self.end() {
            None => String::new(),
            Some(Ending::Saved(place)) => place.name(),
            Some(unsaved) => panic!("{unsaved:?}"),
        }
    }

    fn end(mut self) -> Option<Ending> {
        self.current.take().unwrap().close(Stop::Requested, Vec::new()).ending
    }

    fn folder(&self) -> PathBuf {
        let plans = self.current.as_ref().unwrap().plans_folder().unwrap();
        plans.parent().unwrap().to_owned()
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
    assert_eq!(work.now.common.seed, 9);
    assert!(work.row_named("bandwidth_gbps").unwrap().changed());
    assert!(after.app.is_stale() && after.app.plans.shown().is_some_and(|entry| entry.plan.is_some()));
}

#[test]
fn a_reopened_session_knows_its_file_and_its_name() {
    use crate::app::source::SourceScenario;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let scenario = lightbay_engines::preset("tiny4").unwrap();
    std::fs::write(&path, scenario.to_value().unwrap().to_string()).unwrap();
    let mut before = Bench::new(folder.path());
    before.open(&Source::File(path.clone())).set("seq=8192").solve("prop-alloc").set("name=mine");
    before.close();
    let mut after = Bench::new(folder.path());
    after.open(&Source::Last);
    let work = after.app.work.as_ref().unwrap();
    assert_eq!(work.now.scenario.name(), "mine");
    let SourceScenario::Read(read) = &work.source_scenario else { panic!("{:?}", work.source_scenario) };
    assert_eq!(read.sha256().unwrap(), scenario.sha256().unwrap());
    after.close();
    std::fs::remove_file(path).unwrap();
    let mut later = Bench::new(folder.path());
    later.open(&Source::Last);
    let work = later.app.work.as_ref().unwrap();
    assert!(matches!(&work.source_scenario, SourceScenario::Lost(_)), "{:?}", work.source_scenario);
}

#[test]
fn plans_of_other_scenarios_stay_on_the_disk_until_they_are_displayed() {
    let folder = tempfile::tempdir().unwrap();
    let mut before = Bench::new(folder.path());
    before.open(&Source::Preset("crossconnect-example".to_owned()));
    let sha256 = before.app.work.as_ref().unwrap().now.sha256.clone();
    before.solve("auto").solve("all-to-all-order");
    let best = before.app.plans.best_of(&sha256).unwrap().clone();
    let order = before.app.plans.iter().find(|entry| entry.method == "all-to-all-order").unwrap();
    assert!(order.value < best.value, "ranked by value alone it would be first");
    // More plans of another scenario than are read because they are the newest.
    before.set("failed_ocs=1");
    for dark in 10..19 {
        before.set(&format!("max_dark_per_pod={dark}")).solve("lumos-scratch");
    }
    before.close();
    let after = Bench::new(folder.path());
    let bundle = after.opener.open(&Source::Last).unwrap().unwrap();
    let read = bundle.opened.plans.iter().filter(|entry| entry.scenario_sha256 == sha256);
    let read: Vec<u64> = read.filter(|entry| entry.plan.is_some()).map(|entry| entry.number).collect();
    assert_eq!(read, [0; 0], "the plans of the first scenario are not displayed");
    let read = bundle.opened.plans.iter().filter(|entry| entry.plan.is_some()).count();
    assert!((1..=2).contains(&read), "the best plan of the present scenario and the displayed one: {read}");
    // A plan is read when it is displayed.
    let mut again = Bench::new(folder.path());
    again.open(&Source::Last);
    let effects = again.app.update(Action::Do(Command::ShowPlan(best.number)), Instant::now());
    let is_load = |effect: &Effect| matches!(effect, Effect::LoadPlan { number } if *number == best.number);
    assert!(effects.iter().any(is_load), "{effects:?}");
}

#[test]
fn names_and_notes_of_plans_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let mut before = Bench::new(folder.path());
    before.open(&tiny()).solve("delta-joint");
    before.act(Action::Do(Command::NamePlan("fewest ports".to_owned())));
    before.act(Action::Do(Command::NotePlan("for the review\u{7} on Monday".to_owned())));
    before.close();
    let mut after = Bench::new(folder.path());
    after.open(&Source::Last);
    let best = after.app.plans.best().unwrap().clone();
    assert_eq!(after.app.plans.title(&best), "fewest ports");
    let note = after.app.plans.note(best.number).unwrap();
    assert!(note.starts_with("for the review") && !note.contains('\u{7}'), "{note:?}");
    after.act(Action::Do(Command::NamePlan("-".to_owned())));
    assert_eq!(after.app.plans.title(&best), best.method);
}

#[test]
fn a_run_that_was_cut_off_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut before = Bench::new(folder.path());
    before.open(&tiny()).solve("delta-joint");
    let log = before.folder().join("run.log");
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

/// A workbench with a solved run whose end is not in the log yet, and that end.
fn at_work(folder: &Path) -> (Bench, PathBuf, String) {
    let mut bench = Bench::new(folder);
    bench.open(&tiny()).solve("delta-joint");
    bench.current.as_ref().unwrap().flush()();
    let log = bench.folder().join("run.log");
    let text = std::fs::read_to_string(&log).unwrap();
    let (before, end) = text.split_at(text.trim_end().rfind('\n').unwrap() + 1);
    assert!(end.contains("\"done\""), "the last line is the end of the run: {end}");
    std::fs::write(&log, before).unwrap();
    (bench, log, end.to_owned())
}

#[test]
fn a_run_of_another_process_works_elsewhere_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (first, log, end) = at_work(folder.path());
    let mut second = Bench::new(folder.path());
    second.open(&Source::Last);
    assert_eq!(second.states(), [RunState::Elsewhere]);
    assert!(!second.app.runs.is_busy(), "nothing works here");
    second.follow();
    assert_eq!(second.states(), [RunState::Elsewhere], "nothing new was said");
    // Half of the line is on the disk.
    let half = end.len() / 2;
    let whole = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, format!("{whole}{}", &end[..half])).unwrap();
    second.follow();
    assert_eq!(second.states(), [RunState::Elsewhere], "what is not whole is not read");
    std::fs::write(&log, format!("{whole}{end}")).unwrap();
    second.follow();
    assert_eq!(second.states(), [RunState::Ended]);
    assert_eq!(second.app.runs.iter().next().unwrap().done.as_ref().unwrap().status, EndStatus::Optimal);
    first.close();
    second.follow();
    assert_eq!(second.states(), [RunState::Ended], "what has ended is not cut off");
}

#[test]
fn a_run_of_another_process_is_cut_off_when_that_ends_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let (first, ..) = at_work(folder.path());
    let mut second = Bench::new(folder.path());
    second.open(&Source::Last);
    assert_eq!(second.states(), [RunState::Elsewhere]);
    first.close();
    second.follow();
    assert_eq!(second.states(), [RunState::CutOff]);
    assert!(second.app.log.last().unwrap().text.contains("cut off"));
}

#[test]
fn a_second_workbench_shows_the_plans_and_saves_its_own_beside() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Bench::new(folder.path());
    first.open(&tiny()).solve("delta-joint");
    first.current.as_ref().unwrap().flush()();

    let mut looking = Bench::new(folder.path());
    looking.open(&Source::Last);
    let said = looking.app.log.last().unwrap().text.clone();
    assert!(said.contains("open in process") && said.contains("starts a session of its own"), "{said}");
    assert_eq!(looking.app.session.failing, None);
    assert_eq!(looking.current.as_ref().unwrap().plans_folder(), None, "no folder before the first plan");
    assert_eq!(looking.close(), "", "who only looks leaves nothing");

    let mut second = Bench::new(folder.path());
    second.open(&Source::Last);
    let shown = second.app.plans.best().unwrap().number;
    second.solve("delta-fast");
    second.current.as_ref().unwrap().flush()();
    let own_folder = second.current.as_ref().unwrap().plans_folder().unwrap();
    // Of plans that follow each other within a second only the last is written.
    let is_saved = |number: &u64| own_folder.join(format!("{number:04}.json")).exists();
    let numbers = second.app.plans.iter().map(|plan| plan.number);
    let own: Vec<u64> = numbers.filter(|number| *number != shown).filter(is_saved).collect();
    assert!(!own.is_empty());
    for number in own.iter().chain([&shown]) {
        let place = second.current.as_ref().unwrap().place_of(*number);
        read_plan(place.as_slice()).unwrap();
    }
    assert_eq!(second.close(), "tiny4-2");
    assert_eq!(first.close(), "tiny4");

    let mut third = Bench::new(folder.path());
    third.open(&Source::Session("tiny4-2".to_owned()));
    let found: Vec<u64> = third.app.plans.iter().map(|plan| plan.number).collect();
    assert_eq!(found, own, "what the second one found is kept");
    assert!(third.app.session.beside.is_none());
    let mut original = Bench::new(folder.path());
    original.open(&Source::Session("tiny4".to_owned()));
    assert!(original.app.session.beside.is_none());
}

#[test]
fn a_second_workbench_follows_runs_and_plans_that_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Bench::new(folder.path());
    first.open(&tiny()).solve("delta-fast");
    first.current.as_ref().unwrap().flush()();

    let mut second = Bench::new(folder.path());
    second.open(&Source::Last);
    let before = second.app.plans.best().unwrap().value;
    first.solve("delta-joint");
    first.current.as_ref().unwrap().flush()();
    second.follow();
    let (own, theirs) = (second.app.plans.best().unwrap(), first.app.plans.best().unwrap());
    assert!(theirs.value < before, "the second method is better than the first on this scenario");
    assert_eq!((own.number, own.value, own.status), (theirs.number, theirs.value, theirs.status));
    assert_eq!(own.standing, theirs.standing);
    assert_eq!(second.states(), [RunState::Ended, RunState::Ended]);
    let bound = |bench: &Bench| bench.app.runs.iter().last().unwrap().bound;
    assert_eq!(bound(&second), bound(&first));

    // Own runs and later runs of the first process have different numbers here.
    second.solve("delta-fast");
    first.set("ports_per_pod=5").solve("delta-joint");
    first.current.as_ref().unwrap().flush()();
    second.follow();
    let ids: Vec<u64> = second.app.runs.iter().map(|run| run.id.0).collect();
    assert_eq!(ids, [1, 2, 3, 4]);
    let added = second.app.plans.iter().next_back().unwrap();
    let theirs = first.app.plans.best().unwrap();
    assert_eq!((added.value, &added.scenario_sha256), (theirs.value, &theirs.scenario_sha256));
    let place = second.current.as_ref().unwrap().place_of(added.number);
    assert_eq!(place.as_ref().unwrap().1.0, theirs.number, "its file has the number of the first process");
    assert_eq!(read_plan(place.as_slice()).unwrap().0.header().objective.value, theirs.value);
    first.close();
    second.follow();
    assert_eq!(second.app.session.elsewhere, None);
}

#[test]
fn the_end_of_a_followed_run_waits_for_its_final_plan() {
    let folder = tempfile::tempdir().unwrap();
    let (first, log, end) = at_work(folder.path());
    let number = first.app.plans.best().unwrap().number;
    let file = first.folder().join(format!("plans/{number:04}.json"));
    let last = std::fs::read_to_string(&file).unwrap();
    // An earlier plan of the run, as it is on the disk before the run ends.
    let earlier = last.replacen("\"optimal\"", "\"feasible\"", 1);
    assert_ne!(earlier, last);
    std::fs::write(&file, earlier).unwrap();
    let mut second = Bench::new(folder.path());
    second.open(&Source::Last);
    let whole = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, format!("{whole}{end}")).unwrap();
    second.follow();
    assert_eq!(second.states(), [RunState::Elsewhere], "the plan on the disk is not the final one");
    std::fs::write(&file, last).unwrap();
    second.follow();
    assert_eq!(second.states(), [RunState::Ended]);
    let best = second.app.plans.best().unwrap();
    assert_eq!(best.status, first.app.plans.best().unwrap().status);
    assert_eq!(best.standing, first.app.plans.best().unwrap().standing);
}

/// Writes cannot reach the folder any more; a file in its way stops root as well.
fn break_disk(folder: &Path) {
    // The thread that saves may make the folder again before the file is there.
    let is_blocked = |attempt: u32| {
        let aside = folder.with_extension(format!("aside{attempt}"));
        std::fs::rename(folder, aside).unwrap();
        std::fs::write(folder, b"in the way").is_ok()
    };
    assert!((0..100).any(is_blocked));
}

#[test]
fn what_cannot_be_saved_is_said_and_put_elsewhere_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::new(folder.path());
    bench.open(&tiny());
    break_disk(&bench.folder());
    bench.solve("delta-joint");
    let Fact::Failed(said) = bench.current.as_ref().unwrap().flush()() else { panic!("it cannot be saved") };
    assert!(said.starts_with("the session cannot be saved: "), "{said}");
    let best = bench.app.plans.best().unwrap().value;
    let Some(Ending::Rescued { why, place }) = bench.end() else { panic!("rescued") };
    assert!(why.starts_with("the session cannot be saved: "), "{why}");
    assert_eq!(place.folder.unwrap(), folder.path().join("state/rescued/sessions/tiny4"));
    let given = Overrides { data: Some(folder.path().join("state/rescued")), ..Overrides::default() };
    let mut again = Bench::new(folder.path());
    let env = |name: &str| (name == "HOME").then(|| folder.path().into());
    again.opener.places = Places::resolve(&given, env).unwrap();
    again.open(&Source::Session("tiny4".to_owned()));
    assert_eq!(again.app.plans.best().unwrap().value, best);
}

#[test]
fn another_folder_takes_the_whole_session_along() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::new(folder.path());
    bench.open(&tiny()).solve("delta-joint");
    let elsewhere = folder.path().join("elsewhere");
    let Fact::Note(_, said) = bench.current.as_mut().unwrap().save_to(elsewhere.clone())() else {
        panic!("there is room")
    };
    assert!(said.contains("LIGHTBAY_DATA="), "{said}");
    assert_eq!(bench.folder(), elsewhere.join("sessions/tiny4"));
    bench.solve("delta-fast");
    let plans = bench.app.plans.iter().count();
    let Some(Ending::Saved(place)) = bench.end() else { panic!("saved") };
    assert_eq!(place.data(), Some(elsewhere.as_path()));
    let store = lightbay_sessions::Store::of_data(&elsewhere);
    assert!(store.open("tiny4", "").unwrap().plans().unwrap().len() <= plans);
}

#[test]
fn a_session_that_cannot_be_made_is_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data"), b"in the way").unwrap();
    let mut bench = Bench::new(folder.path());
    bench.open(&tiny());
    assert!(bench.app.session.failing.is_some());
    assert!(bench.app.log.last().unwrap().text.contains(":save_to FOLDER"));
    bench.solve("delta-joint");
    assert!(matches!(bench.end(), Some(Ending::Rescued { .. })));
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
        subject: ExportSubject::Plan(plan.clone()),
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
    let Fact::Checked { standing, lines, .. } = helpers::check(1, &plan, false) else { panic!("a report") };
    assert!(standing.is_some(), "{lines:?}");
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
    assert!(refused.contains("ports in p0"), "{refused}");
}
