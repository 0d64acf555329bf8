//! What belongs to the scenario that is open: its session, its runs, its plan numbers.
//!
//! Opening something else puts the whole desk away on a thread of its own: its runs stop, its session is written to
//! the end, and whatever it still says is no longer heard.

use crate::app::action::{Fact, Heard, Submitted};
use crate::app::effect::{Remembered, RunRequest, SweepRequest};
use crate::app::plans::PlanRef;
use crate::runtime::events::{Batch, ScreenSink, Tee};
use crate::runtime::helpers::Finished;
use crate::runtime::open::{Bundle, session_file};
use lightbay_core::clock::Clock;
use lightbay_core::context::Stop;
use lightbay_core::event::{Event, EventBody, EventSink, RunId, Severity};
use lightbay_core::param::ParamValue;
use lightbay_core::run::Runs;
use lightbay_core::worker::Launcher;
use lightbay_engines::Ask;
use lightbay_engines::sweep::{Shard, Starts, Walker};
use lightbay_sessions::{
    Places, PlanBook, PlanId, RecentEntry, RecentPlan, Session, SessionFile, SessionWriter, Store,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// How long leaving waits for runs to stop. A run that does not stop in time has its plans on disk already.
const STOP_WITHIN: Duration = Duration::from_secs(1);

/// How long stopping the process waits for runs to stand still.
const PAUSE_WITHIN: Duration = Duration::from_millis(200);

/// How long a save that was asked for may take.
const SAVE_WITHIN: Duration = Duration::from_secs(5);

/// The desk.
pub struct Desk {
    runs: Runs,
    sweeper: Option<Arc<Walker>>,
    launcher: Option<Arc<dyn Launcher>>,
    screen: Arc<ScreenSink>,
    book: Arc<PlanBook>,
    session: Option<Arc<Session>>,
    writer: Option<Arc<SessionWriter>>,
    places: Places,
    clock: Arc<dyn Clock>,
    file: SessionFile,
    saved_sha256: String,
    fresh: bool,
    lost: (u64, u64),
}

impl Desk {
    /// Takes over what was opened, without what is for the state. Runs start their helper processes with `launcher`.
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
        let Bundle { opened, book, next_run, session, writer, fresh } = bundle;
        let screen = Arc::new(ScreenSink::new(wake));
        let mut sinks: Vec<Arc<dyn EventSink>> = Vec::new();
        // The session hears first: what the screen shows is then on its way to the disk.
        if let Some(writer) = &writer {
            sinks.push(Arc::new(writer.sink()));
        }
        sinks.push(Arc::clone(&screen) as Arc<dyn EventSink>);
        let runs = Runs::new(threads, next_run, Arc::new(Tee(sinks)), Arc::clone(&clock), launcher.clone())?;
        let file = session.as_ref().map_or_else(SessionFile::default, |session| session.file().clone());
        let saved_sha256 = opened.scenario.sha256().unwrap_or_default();
        let session = session.map(Arc::new);
        let writer = writer.map(Arc::new);
        let desk = Self {
            runs,
            sweeper: None,
            launcher,
            screen,
            book,
            session,
            writer,
            places,
            clock,
            file,
            saved_sha256,
            fresh,
            lost: (0, 0),
        };
        Ok((desk, opened))
    }

    /// Starts a method.
    pub fn start(&mut self, request: RunRequest) -> Fact {
        let ask = Ask {
            method: request.method.clone(),
            settings: request.params,
            seed: request.seed,
            time_limit_s: request.time_limit_s,
            gap: request.gap,
            hot_start: request.hot_start.as_ref().map(|(_, plan)| plan.0.shared()),
        };
        match lightbay_engines::job(&request.scenario, &ask) {
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

    /// Solves the cells of a sweep on a thread of its own, beside the runs and with half of their threads. Its points go
    /// to the loop.
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

    /// Tells the sweep to stop, if one works.
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

    /// Passes a live change on.
    pub fn edit(&self, run: RunId, name: &str, value: &ParamValue) {
        self.runs.edit(run, name, value);
    }

    /// Pauses everything that works, helper processes too, for the time the process stands still. Returns what to
    /// resume.
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

    /// What runs said since the last call, with the numbers of their plans.
    pub fn hear(&mut self) -> Vec<Fact> {
        let Batch { events, merged, dropped } = self.screen.take();
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

    /// Gives a plan that no run reported a number and saves it.
    pub fn keep(&mut self, plan: &PlanRef) -> u64 {
        let number = self.book.assign_loose();
        self.fresh = false;
        if let Some(writer) = &self.writer {
            writer.keep(number, plan.0.shared());
        }
        number.0
    }

    /// Saves a plan even if a better one follows at once.
    pub fn save_plan(&self, number: u64, plan: &PlanRef) {
        if let Some(writer) = &self.writer {
            writer.keep(PlanId(number), plan.0.shared());
        }
    }

    /// Saves what the screen remembers, within a second.
    pub fn remember(&mut self, remembered: &Remembered) {
        let Some(writer) = &self.writer else { return };
        let file = session_file(&self.file, remembered);
        if remembered.solved.is_some() || remembered.now.sha256 != self.saved_sha256 {
            self.fresh = false;
        }
        if remembered.now.sha256 != self.saved_sha256
            && let Ok(value) = remembered.now.scenario.to_value()
        {
            writer.save_scenario(Arc::new(value));
            self.saved_sha256.clone_from(&remembered.now.sha256);
        }
        writer.save_session(&file);
        self.file = file;
        if self.fresh {
            return;
        }
        let plan =
            remembered.best.as_ref().map(|(number, plan)| RecentPlan::of(PlanId(*number), &plan.0.header()));
        let entry = RecentEntry {
            session: self.session.as_ref().map_or_else(String::new, |session| session.name().to_owned()),
            kind: remembered.now.scenario.kind().to_owned(),
            scenario: remembered.now.scenario.name().to_owned(),
            at: self.clock.date(),
            plan,
        };
        writer.remember(self.places.recent(), entry);
    }

    /// The session, for reading plans off the loop.
    pub fn session(&self) -> Option<Arc<Session>> {
        self.session.clone()
    }

    /// Writes everything that waits; for a thread of its own, because a disk may be slow. Gives what to tell.
    pub fn flush(&self) -> impl FnOnce() -> Fact + Send + use<> {
        let writer = self.writer.clone();
        let name = self.session.as_ref().map_or_else(String::new, |session| session.name().to_owned());
        move || match writer.map(|writer| writer.flush(SAVE_WITHIN)) {
            Some(Ok(())) => Fact::Note(Severity::Info, format!("everything is saved in session '{name}'")),
            Some(Err(problem)) => Fact::Failed(problem),
            None => Fact::Failed("nothing can be saved here; write the plan to a file with w".to_owned()),
        }
    }

    /// Stops all runs, writes everything to the end, and gives the session free. A session in which nothing ever
    /// happened is removed.
    pub fn close(self, why: Stop) -> Closed {
        self.stop_sweep();
        let Self { runs, session, writer, places, fresh, book, .. } = self;
        runs.stop_all(why);
        let stopped = runs.wait_idle(STOP_WITHIN);
        let name = session.as_ref().map_or_else(String::new, |session| session.name().to_owned());
        // If a save that was asked for is still under way it keeps the writer, which then writes the rest itself.
        let problem = writer.and_then(Arc::into_inner).and_then(|writer| writer.close().err());
        let read_only = session.as_ref().is_none_or(|session| session.read_only().is_some());
        drop(session);
        if fresh && !read_only && !name.is_empty() {
            // Opened and left without a deed: it would only fill the list.
            let _ = Store::at(places.sessions()).remove(&name);
            return Closed { session: String::new(), plans: false, problem, stopped };
        }
        drop(book);
        let plans = !read_only;
        Closed { session: if read_only { String::new() } else { name }, plans, problem, stopped }
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("runs", &self.runs).finish_non_exhaustive()
    }
}

/// How a desk was put away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// Session that holds everything; empty if there is none.
    pub session: String,
    /// Whether plans are kept in it.
    pub plans: bool,
    /// What could not be written.
    pub problem: Option<String>,
    /// Whether all runs ended in time.
    pub stopped: bool,
}

/// The session's number of the plan that an event brings.
fn number_of(book: &PlanBook, event: &Event) -> Option<u64> {
    match &event.body {
        EventBody::Incumbent(incumbent) if incumbent.plan.is_some() && incumbent.number > 0 => {
            Some(book.assign(event.run, incumbent.number).0)
        }
        EventBody::Done(done) if done.plan.is_some() => Some(book.conclude(event.run).0),
        _ => None,
    }
}
