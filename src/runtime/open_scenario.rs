//! The open scenario, with its session, its runs and its plan numbers.
//!
//! Opening another scenario, plan or session closes the open scenario on a separate thread: its runs stop, its session
//! is saved completely, and its later events are ignored.

use crate::app::action::{Fact, Heard, RemoteEvents, Saving, Submitted};
use crate::app::effect::{Remembered, RunRequest, SweepRequest};
use crate::app::plans::PlanRef;
use crate::runtime::adopted::Adopted;
use crate::runtime::events::{EventBatch, ScreenSink, Tee};
use crate::runtime::follow::Following;
use crate::runtime::helpers::Finished;
use crate::runtime::open::{Bundle, saving, session_file};
use lightbay_core::clock::Clock;
use lightbay_core::context::Stop;
use lightbay_core::event::{Event, EventBody, EventSink, RunId, Severity};
use lightbay_core::param::ParamValue;
use lightbay_core::problem::printable;
use lightbay_core::run::Runs;
use lightbay_core::worker::Launcher;
use lightbay_engines::Request;
use lightbay_engines::sweep::{Shard, Starts, Walker};
use lightbay_sessions::{
    Ending, Places, PlanBook, PlanId, RecentEntry, RecentPlan, SessionFile, SessionPlace, SessionWriter,
    Store,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// Maximum time that quitting waits for runs to stop. The plans of a run that does not stop in time are already on
/// disk.
const STOP_WITHIN: Duration = Duration::from_millis(500);

/// Maximum time that suspending the process waits for runs to pause.
const PAUSE_WITHIN: Duration = Duration::from_millis(200);

/// Maximum time that a requested save may take.
const SAVE_WITHIN: Duration = Duration::from_secs(5);

/// Maximum time that moving a session to another folder may take.
const MOVE_WITHIN: Duration = Duration::from_mins(5);

/// A scenario that is open, with its session and its runs.
pub struct OpenScenario {
    runs: Runs,
    sweeper: Option<Arc<Walker>>,
    launcher: Option<Arc<dyn Launcher>>,
    screen: Arc<ScreenSink>,
    book: Arc<PlanBook>,
    /// A session that another process has open.
    looked_at: Option<Adopted>,
    /// Channel to the thread that follows the other process; dropping the channel ends the thread.
    following: Option<std::sync::mpsc::Sender<()>>,
    writer: Option<Arc<SessionWriter>>,
    places: Places,
    clock: Arc<dyn Clock>,
    file: SessionFile,
    saved_sha256: String,
    /// Name of the scenario in the session's file.
    saved_name: String,
    /// Hash of the scenario that was solved last, as saved in the session when this session was opened.
    solved_sha256: Option<String>,
    fresh: bool,
    /// Number of sweeps at the time at which this scenario was opened.
    sweeps: usize,
    made_again: u64,
    lost: (u64, u64),
}

impl OpenScenario {
    /// Makes the open scenario from a bundle; also returns the part of the bundle that the state stores. Runs start
    /// their solver processes with `launcher`.
    ///
    /// # Errors
    /// If the threads for runs cannot be started.
    pub fn new(
        bundle: Bundle,
        threads: usize,
        places: Places,
        clock: Arc<dyn Clock>,
        wake: Arc<Notify>,
        launcher: Option<Arc<dyn Launcher>>,
    ) -> std::io::Result<(Self, crate::app::action::Opened)> {
        let Bundle { mut opened, book, next_run, file, looked_at, writer, fresh, following: _ } = bundle;
        let screen = Arc::new(ScreenSink::new(wake));
        let mut sinks: Vec<Arc<dyn EventSink>> = Vec::new();
        // The session gets each event first, so that everything on the screen is already being saved.
        if let Some(writer) = &writer {
            sinks.push(Arc::new(writer.sink()));
        }
        sinks.push(Arc::clone(&screen) as Arc<dyn EventSink>);
        let looked_at = looked_at.map(|session| Adopted::new(session, next_run, &book));
        let runs = Runs::new(threads, next_run, Arc::new(Tee(sinks)), Arc::clone(&clock), launcher.clone())?;
        let saved_sha256 = opened.scenario.sha256().unwrap_or_default();
        let saved_name = opened.scenario.name().to_owned();
        let solved = opened.remembered.as_ref().and_then(|remembered| remembered.solved.as_ref());
        let solved_sha256 = solved.map(|solved| solved.sha256.clone());
        let sweeps = opened.remembered.as_ref().map_or(0, |remembered| remembered.sweeps.len());
        let writer = writer.map(Arc::new);
        let key = opened.session.key;
        // Requests the current state, because messages of the writer from before the opening were not received.
        let now = writer.as_ref().map_or_else(Saving::default, |writer| saving(key, &writer.status()));
        opened.session.name = now.name;
        opened.session.failing = match &writer {
            Some(_) => now.failing,
            None => Some("nothing can be saved here".to_owned()),
        };
        let current = Self {
            runs,
            sweeper: None,
            launcher,
            screen,
            book,
            looked_at,
            following: None,
            writer,
            places,
            clock,
            file,
            saved_sha256,
            saved_name,
            solved_sha256,
            fresh,
            sweeps,
            made_again: 0,
            lost: (0, 0),
        };
        Ok((current, opened))
    }

    /// Follows runs of another process; their events go to `results`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn follow(&mut self, following: Following, results: mpsc::Sender<Finished>) -> std::io::Result<()> {
        self.following = Some(following.start(results)?);
        Ok(())
    }

    /// Numbers the runs and plans of the followed process like the runs and plans found here.
    pub fn renumber(&mut self, news: &mut RemoteEvents) {
        if let Some(adopted) = &mut self.looked_at {
            adopted.renumber(news, &self.runs, &self.book);
        }
    }

    /// Starts a method.
    pub fn start(&mut self, request: RunRequest) -> Fact {
        let asked = Request {
            method: request.method.clone(),
            settings: request.params,
            common: request.common,
            hot_start: request.hot_start.as_ref().map(|(_, plan)| plan.0.shared()),
        };
        match lightbay_engines::job(&request.scenario, &asked) {
            Ok(job) => {
                let ticket =
                    if request.replace { self.runs.submit_instead(job) } else { self.runs.submit(job) };
                self.fresh = false;
                self.file.next_run = ticket.run.0 + 1;
                Fact::Submitted(Submitted {
                    run: ticket.run,
                    method: request.method,
                    scenario_sha256: request.scenario_sha256,
                    queued: ticket.queued,
                    hot_start: request.hot_start.map(|(number, _)| number),
                })
            }
            Err(problems) => Fact::Refused {
                method: request.method,
                problems: problems.list().iter().map(ToString::to_string).collect(),
            },
        }
    }

    /// Solves the cells of a sweep on a separate thread, in parallel with the runs and with half of their threads. Each
    /// solved cell is sent to the event loop as a row.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn sweep(&mut self, request: &SweepRequest, results: mpsc::Sender<Finished>) -> std::io::Result<()> {
        self.stop_sweep();
        let threads = (self.runs.threads() / 2).max(1);
        let walker = Arc::new(Walker::new(threads, None, Arc::clone(&self.clock), self.launcher.clone())?);
        let (key, sweep, own) = (request.key, Arc::clone(&request.sweep), Arc::clone(&walker));
        std::thread::Builder::new().name("lb-sweep".to_owned()).spawn(move || {
            let tell = |fact| results.blocking_send(Finished::Fact(fact)).is_ok();
            let numbers = sweep.shard(Shard::WHOLE);
            let walked = own.walk(&sweep, &numbers, Starts::new(), |row, _| {
                let heard = tell(Fact::SweepRow { key, row: Box::new(row) });
                if heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            tell(Fact::SweepEnded { key, outcome: Ok(walked) });
        })?;
        self.sweeper = Some(walker);
        Ok(())
    }

    /// Tells the sweep to stop, if one is active.
    pub fn stop_sweep(&self) {
        if let Some(walker) = &self.sweeper {
            walker.stop(Stop::Requested);
        }
    }

    /// Tells a run to stop.
    pub fn stop(&self, run: RunId) {
        self.runs.stop(run, Stop::Requested);
    }

    /// Pauses or resumes a run.
    pub fn pause(&self, run: RunId, paused: bool) {
        self.runs.pause(run, paused);
    }

    /// Passes a changed parameter to a run.
    pub fn edit(&self, run: RunId, name: &str, value: &ParamValue) {
        self.runs.edit(run, name, value);
    }

    /// Pauses all active runs and their solver processes before this process is suspended. Returns the runs to resume.
    pub fn pause_all(&self) -> Vec<RunId> {
        let running = self
            .runs
            .states()
            .into_iter()
            .filter(|(_, _, state)| *state == lightbay_core::run::RunState::Running);
        let runs: Vec<RunId> = running.map(|(run, _, _)| run).collect();
        for run in &runs {
            self.runs.pause(*run, true);
        }
        self.runs.wait_standing(PAUSE_WITHIN);
        runs
    }

    /// Returns the events of runs since the last call, with the numbers of their plans.
    pub fn hear(&mut self) -> Vec<Fact> {
        let EventBatch { events, merged, dropped } = self.screen.take();
        let mut facts: Vec<Fact> = events
            .into_iter()
            .map(|event| {
                let plan = number_of(&self.book, &event);
                Fact::Event(Heard::new(event, plan))
            })
            .collect();
        if (merged, dropped) != self.lost {
            self.lost = (merged, dropped);
            facts.push(Fact::Lost { merged, dropped });
        }
        facts
    }

    /// Assigns a number to a plan that no run reported, and saves it.
    pub fn keep(&mut self, plan: &PlanRef) -> u64 {
        let number = self.book.assign_loose();
        self.fresh = false;
        if let Some(writer) = &self.writer {
            writer.keep(number, plan.0.shared());
        }
        number.0
    }

    /// Saves a plan even if a better one follows immediately.
    pub fn save_plan(&self, number: u64, plan: &PlanRef) {
        if let Some(writer) = &self.writer {
            writer.keep(PlanId(number), plan.0.shared());
        }
    }

    /// Stores a note on the session, which is written with the state of the screen.
    pub fn note(&mut self, note: &str) {
        self.file.note = Some(note.to_owned()).filter(|note| !note.is_empty());
        self.fresh = false;
        if let Some(writer) = &self.writer {
            writer.create();
        }
    }

    /// Saves the state of the screen within a second.
    pub fn remember(&mut self, remembered: &Remembered) {
        let Some(writer) = self.writer.clone() else { return };
        let place = writer.status().place;
        let file = session_file(&self.file, remembered);
        // The hash leaves out the name.
        let name = remembered.now.scenario.name();
        let changed = remembered.now.sha256 != self.saved_sha256 || name != self.saved_name;
        let solved = remembered.solved.as_ref().map(|solved| &solved.sha256);
        if changed || solved != self.solved_sha256.as_ref() || !remembered.sweeps.is_empty() {
            self.fresh = false;
        }
        if remembered.sweeps.len() > self.sweeps {
            writer.create();
        }
        if (changed || place.made_again > self.made_again)
            && let Ok(value) = remembered.now.scenario.to_value()
        {
            writer.save_scenario(Arc::new(value));
            self.saved_sha256.clone_from(&remembered.now.sha256);
            name.clone_into(&mut self.saved_name);
            self.made_again = place.made_again;
        }
        writer.save_session(&file);
        self.file = file;
        // The list of recent sessions contains only sessions in the default place.
        let listed = place.data().map(|data| Store::of_data(data).folder() == self.places.sessions());
        if self.fresh || listed != Some(true) {
            return;
        }
        let plan =
            remembered.best.as_ref().map(|(number, plan)| RecentPlan::of(PlanId(*number), &plan.0.header()));
        let entry = RecentEntry {
            session: place.name(),
            kind: remembered.now.scenario.kind().to_owned(),
            scenario: remembered.now.scenario.name().to_owned(),
            at: self.clock.date(),
            plan,
        };
        writer.remember(self.places.recent(), entry);
    }

    /// Returns the folder and number of the file of a plan of the table, for reading it on another thread; `None` if the
    /// plan is not on disk.
    pub fn place_of(&self, number: u64) -> Option<(PathBuf, PlanId)> {
        let theirs = self.looked_at.as_ref().and_then(|adopted| adopted.place_of(number));
        let own = || Some((self.plans_folder()?, PlanId(number)));
        theirs.or_else(own)
    }

    /// Returns the folder for plans that are found here; `None` as long as there is none.
    pub fn plans_folder(&self) -> Option<PathBuf> {
        self.writer.as_ref()?.status().place.plans_folder()
    }

    /// Returns a function that writes all pending data and returns the message for the user; the caller runs the
    /// function on a separate thread, because a disk may be slow.
    pub fn flush(&self) -> impl FnOnce() -> Fact + Send + use<> {
        let writer = self.writer.clone();
        move || match writer {
            None => Fact::Failed("nothing can be saved here; write the plan to a file with w".to_owned()),
            Some(writer) => match writer.flush(SAVE_WITHIN) {
                Ok(()) => {
                    let name = writer.status().place.name();
                    Fact::Note(Severity::Info, format!("everything is saved in session '{name}'"))
                }
                Err(problem) => Fact::Failed(problem),
            },
        }
    }

    /// Returns a function that continues saving below another folder and returns the message for the user; the caller
    /// runs the function on a separate thread.
    pub fn save_to(&mut self, folder: PathBuf) -> impl FnOnce() -> Fact + Send + use<> {
        self.fresh = false;
        let writer = self.writer.clone();
        move || match writer.map(|writer| writer.move_to(Store::of_data(&folder), MOVE_WITHIN)) {
            None => Fact::Failed("nothing can be saved here; write the plan to a file with w".to_owned()),
            Some(Ok(place)) => {
                let text =
                    format!("the session is saved in {} from now on; {}", shown(&place), again(&place));
                Fact::Note(Severity::Info, text)
            }
            Some(Err(problem)) => Fact::Failed(format!("{}: {problem}", folder.display())),
        }
    }

    /// Stops all runs, writes all pending data, and releases the session. Removes a session in which nothing happened.
    /// If another program removed the folder of the session, `plans`, the plans in memory, are written again. Data that
    /// cannot be written to this folder is written to another folder.
    pub fn close(self, why: Stop, plans: Vec<(u64, PlanRef)>) -> Closed {
        self.stop_sweep();
        let Self { runs, writer, places, fresh, looked_at, following, made_again, .. } = self;
        runs.stop_all(why);
        let stopped = runs.wait_idle(STOP_WITHIN);
        drop((looked_at, following));
        let Some(writer) = writer else {
            let why = "nothing could be saved".to_owned();
            return Closed { ending: if fresh { None } else { Some(Ending::Lost { why }) }, stopped };
        };
        if fresh || writer.is_deferred() {
            // A session that was opened and closed without any action would only fill the list.
            let place = writer.discard();
            drop(writer);
            if let Some(data) = place.data() {
                let _ = Store::of_data(data).remove(&place.name());
            }
            return Closed { ending: None, stopped };
        }
        let rescue = || rescue_folders(&places);
        let mut ending = writer.save_or_rescue(rescue);
        if let Ending::Saved(place) = &ending
            && place.made_again > made_again
        {
            for (number, plan) in plans {
                writer.keep(PlanId(number), plan.0.shared());
            }
            ending = writer.save_or_rescue(rescue);
        }
        Closed { ending: Some(ending), stopped }
    }
}

/// Returns folders for plans that cannot be written to the default place: below the state folder, the working folder,
/// and folders for temporary files, which are often on other disks.
fn rescue_folders(places: &Places) -> Vec<PathBuf> {
    let name = format!("lightbay-rescued-{}", std::process::id());
    let mut folders = vec![places.state().join("rescued")];
    let others = [std::env::current_dir().ok(), Some(std::env::temp_dir()), Some("/dev/shm".into())];
    for folder in others.into_iter().flatten() {
        let folder = folder.join(&name);
        // An existing folder could have been placed there by another user.
        if std::fs::symlink_metadata(&folder).is_err() {
            folders.push(folder);
        }
    }
    folders
}

/// Returns the folder of a session as text, for messages.
pub fn shown(place: &SessionPlace) -> String {
    let folder = place.folder.as_deref().unwrap_or(Path::new(""));
    printable(&folder.to_string_lossy())
}

/// Returns a hint with the command that reopens a session outside the default place.
pub fn again(place: &SessionPlace) -> String {
    let data = place.data().unwrap_or(Path::new(""));
    let data = printable(&data.to_string_lossy());
    format!("`LIGHTBAY_DATA='{data}' lightbay session:{}` opens it again", place.name())
}

impl std::fmt::Debug for OpenScenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenScenario").field("runs", &self.runs).finish_non_exhaustive()
    }
}

/// Outcome of closing an open scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// Outcome of the last save; `None` if there was nothing to save.
    pub ending: Option<Ending>,
    /// `true` if all runs ended in time.
    pub stopped: bool,
}

/// Returns the number that the session assigns to the plan in an event; `None` for an event without a plan.
fn number_of(book: &PlanBook, event: &Event) -> Option<u64> {
    match &event.body {
        EventBody::Incumbent(incumbent) if incumbent.plan.is_some() && incumbent.number > 0 => {
            Some(book.assign(event.run, incumbent.number).0)
        }
        EventBody::Done(done) => Some(book.conclude(event.run, done.plan.as_ref()?).plan.0),
        _ => None,
    }
}
