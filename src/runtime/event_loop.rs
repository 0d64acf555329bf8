//! The event loop: waits for any event, processes all waiting events, and draws at most once. The event loop owns all
//! state of the program.

use crate::app::action::{Action, Command, Fact};
use crate::app::drawn::{Drawn, JobKey, JobResult};
use crate::app::plans::PlanRef;
use crate::app::{App, action::Abilities};
use crate::cli::exit::Exit;
use crate::runtime::clipboard::Between;
use crate::runtime::crash::{self, CrashPlace};
use crate::runtime::decode::TerminalInput;
use crate::runtime::evaluate::Evaluator;
use crate::runtime::frames::{Frames, Why};
use crate::runtime::helpers::{Finished, Helpers};
use crate::runtime::input::{InputReader, Read};
use crate::runtime::open::{Bundle, Opener};
use crate::runtime::open_scenario::{Closed, OpenScenario, again, shown};
use crate::runtime::recordings;
use crate::runtime::signals::{Sign, Signals, stop_here};
use crate::runtime::terminal::Screen;
use crate::runtime::{Ended, report};
use lightbay_core::context::Stop;
use lightbay_core::event::{EventBody, Severity};
use lightbay_core::worker::Launcher;
use lightbay_sessions::Ending;
use lightbay_widgets::{Background, GlyphSet, Palette};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};

mod effects;

/// A SIGCONT within this time after the program resumed belongs to the same resumption and is ignored.
const SAME_CONTINUE: Duration = Duration::from_secs(1);

/// Maximum time that opening waits for the previous scenario to close.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// Interface of the view for the loop.
pub trait View {
    /// Draws the state; changes only its own cache and never blocks.
    fn draw(&mut self, app: &App, frame: &mut Frame<'_>) -> Drawn;
    /// Receives the result of requested work; drops an obsolete result.
    fn deliver(&mut self, key: JobKey, result: JobResult);
}

/// The event loop with everything that it owns.
pub(super) struct Shell<V> {
    pub app: App,
    pub view: V,
    pub screen: Screen,
    pub tty: File,
    pub reader: Option<InputReader>,
    pub signals: Signals,
    pub frames: Frames,
    pub helpers: Helpers,
    pub results: mpsc::Receiver<Finished>,
    pub evaluator: Evaluator,
    pub opener: Opener,
    pub current: Option<OpenScenario>,
    pub wake: Arc<Notify>,
    pub between: Between,
    pub threads: usize,
    pub launcher: Option<Arc<dyn Launcher>>,
    /// Palette and characters without the choices that were made on the screen.
    pub base: (Palette, GlyphSet),
    /// Method to start when the first scenario, plan or session is open.
    pub solve: Option<String>,
    pub request: u64,
    pub events_wait: bool,
    pub copy_area: Option<Rect>,
    pub resumed_at: Option<Instant>,
    pub ending: Option<u8>,
    pub terminal_lost: bool,
    /// Scenarios that are being closed; each channel closes when its scenario is closed.
    pub closing: Vec<std::sync::mpsc::Receiver<()>>,
}

impl<V: View> Shell<V> {
    /// Runs until the program ends.
    pub async fn run(mut self) -> Ended {
        self.want_frame();
        while self.ending.is_none() {
            self.draw_if_due();
            self.wait().await;
            self.drain();
        }
        self.finish()
    }

    /// Waits for the first event and processes it.
    async fn wait(&mut self) {
        let wake = self.app.next_wake().map(tokio::time::Instant::from_std);
        let due = self.frames.due();
        let next = wake.into_iter().chain(due).min();
        let sleep = async {
            match next {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let read = async {
            match &mut self.reader {
                Some(reader) => reader.inputs.recv().await,
                None => std::future::pending().await,
            }
        };
        let wake = Arc::clone(&self.wake);
        tokio::select! {
            biased;
            sign = self.signals.next() => self.sign(sign),
            read = read => self.read(read.unwrap_or(Read::End)),
            Some(finished) = self.results.recv() => self.finished(finished),
            () = wake.notified(), if !self.events_wait => {
                self.events_wait = true;
                self.frames.request(Why::Event, tokio::time::Instant::now());
            }
            () = sleep => {}
        }
    }

    /// Processes all other waiting events, so that one frame shows them all.
    fn drain(&mut self) {
        while let Some(read) = self.reader.as_mut().and_then(|reader| reader.inputs.try_recv().ok()) {
            self.read(read);
        }
        while let Ok(finished) = self.results.try_recv() {
            self.finished(finished);
        }
        if self.app.next_wake().is_some_and(|at| Instant::now() >= at) {
            self.act(Action::Tick);
        }
        self.want_frame();
    }

    fn want_frame(&mut self) {
        if self.app.dirty.any() {
            let why = if self.app.dirty.urgent { Why::Input } else { Why::Event };
            self.frames.request(why, tokio::time::Instant::now());
        }
    }

    fn act(&mut self, action: Action) {
        let effects = self.app.update(action, Instant::now());
        self.execute(effects);
    }

    fn fact(&mut self, fact: Fact) {
        if let Fact::Failed(text) = &fact {
            tracing::warn!("{text}");
        }
        let is_end = matches!(&fact, Fact::Event(heard) if matches!(heard.event.body, EventBody::Done(_)));
        self.act(Action::Fact(fact));
        if is_end {
            crash::on_request(CrashPlace::Loop);
        }
    }

    fn read(&mut self, read: Read) {
        match read {
            Read::Input(TerminalInput::Key(key)) => {
                report::note(format!("key {key}"));
                self.act(Action::Key(key));
            }
            Read::Input(TerminalInput::Paste(text)) => self.act(Action::Paste(text)),
            Read::Input(TerminalInput::Mouse(mouse)) => self.act(Action::Mouse(mouse)),
            Read::Input(TerminalInput::Focus(has)) => self.frames.hide(!has),
            Read::Input(TerminalInput::Background(lightness)) => {
                let background = if lightness > 0.5 { Background::Light } else { Background::Dark };
                if background != self.app.look.background {
                    self.fact(Fact::Terminal(Abilities { depth: self.app.look.depth, background }));
                }
            }
            Read::Input(TerminalInput::KittyKeyboard) => {
                if let Err(error) = self.screen.use_kitty_keyboard() {
                    report::note(format!("the keyboard protocol was not set: {error}"));
                }
            }
            Read::End => {
                self.reader = None;
                self.terminal_lost = true;
                self.fact(Fact::Hangup { code: 129 });
            }
        }
    }

    fn sign(&mut self, sign: Sign) {
        match sign {
            Sign::Hangup => {
                self.terminal_lost = true;
                self.fact(Fact::Hangup { code: 129 });
            }
            Sign::End(code) => self.fact(Fact::Hangup { code }),
            Sign::Interrupt => self.act(Action::Do(Command::Interrupt)),
            Sign::Suspend => self.suspend(),
            Sign::Continue => {
                // After a stop signal that cannot be caught, the shell may have changed the terminal.
                if self.resumed_at.is_none_or(|at| at.elapsed() > SAME_CONTINUE) {
                    self.take_terminal();
                }
            }
            Sign::Resize => self.frames.request(Why::Resize, tokio::time::Instant::now()),
            Sign::Report => {
                let folder = self.opener.places.logs();
                let text = format!("{:#?}\n{:#?}", self.app.runs, self.current);
                match report::write(&folder, "report", self.app.options.version, &text) {
                    Ok(path) => {
                        self.fact(Fact::Note(Severity::Info, format!("report written: {}", path.display())));
                    }
                    Err(error) => {
                        self.fact(Fact::Failed(format!("the report could not be written: {error}")));
                    }
                }
            }
        }
    }

    /// Releases the terminal, stops the process, and takes the terminal again after resumption. Runs are paused
    /// meanwhile, so their clocks stop.
    fn suspend(&mut self) {
        let paused = self.current.as_ref().map(OpenScenario::pause_all).unwrap_or_default();
        self.reader = None;
        self.screen.leave();
        stop_here();
        self.resumed_at = Some(Instant::now());
        if let Some(current) = &self.current {
            for run in paused {
                current.pause(run, false);
            }
        }
        self.take_terminal();
        self.fact(Fact::Note(
            Severity::Info,
            "resumed; runs were paused while the program was stopped".to_owned(),
        ));
    }

    fn take_terminal(&mut self) {
        self.reader = None;
        let taken = self.screen.reenter().and_then(|()| InputReader::start(self.tty.try_clone()?));
        if let Ok(reader) = taken {
            self.reader = Some(reader);
            self.fact(Fact::Resumed);
        } else {
            self.terminal_lost = true;
            self.fact(Fact::Hangup { code: 129 });
        }
    }

    /// Draws if a frame is due and something changed.
    fn draw_if_due(&mut self) {
        let now = tokio::time::Instant::now();
        if !self.frames.is_due(now) || self.terminal_lost {
            return;
        }
        if self.events_wait {
            self.events_wait = false;
            for fact in self.current.as_mut().map(OpenScenario::hear).unwrap_or_default() {
                self.fact(fact);
            }
        }
        let size = self.screen.size();
        if size != (self.app.size.width, self.app.size.height) {
            self.act(Action::Resize(size.0, size.1));
            self.screen.repaint();
        }
        if !self.app.dirty.any() {
            self.frames.cancel();
            return;
        }
        self.app.dirty = crate::app::state::Dirty::default();
        let (app, view) = (&self.app, &mut self.view);
        let (copy, mut copied) = (self.copy_area.take(), None);
        let drawn = self.screen.draw(size, |frame| {
            let drawn = view.draw(app, frame);
            copied = copy.map(|area| text_of(frame.buffer_mut(), area));
            drawn
        });
        match drawn {
            Ok(Some(mut drawn)) => {
                // The pane that the user looks at comes first.
                drawn.jobs.sort_by_key(|job| job.key.pane != self.app.focus.pane);
                self.helpers.view_jobs(std::mem::take(&mut drawn.jobs));
                self.act(Action::Drawn(drawn));
                if let Some(text) = copied {
                    self.copy(&text);
                }
            }
            Ok(None) => {}
            Err(error) => {
                tracing::error!("cannot write to the terminal: {error}");
                self.terminal_lost = true;
                self.fact(Fact::Hangup { code: 129 });
            }
        }
        self.frames.drawn(tokio::time::Instant::now());
        // A search that waited for the names in this frame has changed the state: the next frame shows its result.
        self.want_frame();
    }

    fn finished(&mut self, finished: Finished) {
        match finished {
            Finished::Fact(Fact::RemoteEvents(mut news)) => {
                if let Some(current) = self.current.as_mut().filter(|_| news.key == self.app.session.key) {
                    current.renumber(&mut news);
                }
                self.fact(Fact::RemoteEvents(news));
            }
            Finished::Fact(fact) => self.fact(fact),
            Finished::Nothing => {}
            Finished::View(key, result) => {
                self.helpers.arrived(key);
                self.view.deliver(key, result);
                self.app.dirty.panes.insert(key.pane);
            }
            Finished::Send { sequence, note } => {
                self.control(&sequence);
                self.fact(Fact::Note(Severity::Info, note));
            }
            Finished::GivenUp(key) => {
                self.helpers.arrived(key);
                self.app.dirty.panes.insert(key.pane);
            }
            Finished::Opened { request, .. } if request != self.request => {}
            Finished::Opened { source, outcome, .. } => match outcome {
                Ok(Some(bundle)) => self.opened(*bundle),
                Ok(None) => self.list_recent(),
                Err(problems) => {
                    self.fact(Fact::OpenFailed { source, problems });
                    if self.current.is_none() {
                        self.list_recent();
                    }
                }
            },
        }
    }

    fn opened(&mut self, mut bundle: Bundle) {
        let following = bundle.following.take();
        let (places, clock) = (self.opener.places.clone(), Arc::clone(&self.opener.clock));
        let (wake, launcher) = (Arc::clone(&self.wake), self.launcher.clone());
        match OpenScenario::new(bundle, self.threads, places, clock, wake, launcher) {
            Ok((current, mut opened)) => {
                self.put_away(true);
                self.current = Some(current);
                opened.solve = self.solve.take();
                self.fact(Fact::Opened(Box::new(opened)));
                let (current, sender) = (self.current.as_mut(), self.helpers.sender());
                if let Some(Err(error)) =
                    current.zip(following).map(|(current, runs)| current.follow(runs, sender))
                {
                    self.fact(Fact::Failed(format!("runs of another process are not followed: {error}")));
                }
            }
            Err(error) => self.fact(Fact::Failed(format!("no threads for runs: {error}"))),
        }
    }

    /// Closes the open scenario on a separate thread; `says` states whether the log names the session in which it is
    /// saved.
    fn put_away(&mut self, says: bool) {
        let Some(current) = self.current.take() else { return };
        let plans = self.known_plans();
        let (done, closing) = std::sync::mpsc::channel::<()>();
        self.closing.push(closing);
        self.helpers.spawn("close", move || {
            let closed = current.close(Stop::Requested, plans);
            drop(done);
            match closed.ending {
                None => Finished::Nothing,
                Some(Ending::Saved(_)) if !says => Finished::Nothing,
                Some(Ending::Saved(place)) => {
                    let text =
                        format!("the scenario that was open before is saved in session '{}'", place.name());
                    Finished::Fact(Fact::Note(Severity::Info, text))
                }
                Some(unsaved) => Finished::Fact(Fact::Failed(troubled(&unsaved))),
            }
        });
    }

    fn list_recent(&self) {
        let opener = self.opener.clone();
        self.helpers.spawn("recent", move || Finished::Fact(Fact::Recent(opener.recent())));
    }

    /// Returns the plans in memory, with their numbers.
    fn known_plans(&self) -> Vec<(u64, PlanRef)> {
        self.app.plans.iter().filter_map(|entry| Some((entry.number, entry.plan.clone()?))).collect()
    }

    /// Releases the terminal, stops all runs and saves everything.
    fn finish(mut self) -> Ended {
        let code = self.ending.unwrap_or(0);
        self.reader = None;
        self.screen.leave();
        let stop = if code >= 128 { Stop::Signal } else { Stop::Requested };
        let plans = self.known_plans();
        let found = !self.app.plans.is_empty();
        let closed = self.current.take().map(|current| current.close(stop, plans)).unwrap_or_default();
        let usual = self.opener.places.sessions();
        let state = self.opener.places.state();
        let recorded = self.app.unwritten_keys().map(|job| recordings::write_at_end(&job, state));
        let messages = parting(&closed, code, found, &usual).into_iter().chain(recorded);
        let message = messages.reduce(|all, one| format!("{all}\n{one}"));
        Ended { code: exit_code(&closed, code), message }
    }
}

/// Returns the exit code: failure if data of the session was lost, even after a signal, or if the session was saved in
/// another folder and `code` is 0; otherwise `code`.
fn exit_code(closed: &Closed, code: u8) -> u8 {
    match &closed.ending {
        Some(Ending::Lost { .. }) => Exit::Failure.code(),
        Some(Ending::Rescued { .. }) if code == 0 => Exit::Failure.code(),
        _ => code,
    }
}

/// Returns a sentence that reports that a session could not be saved in its folder; empty if the session was saved.
fn troubled(ending: &Ending) -> String {
    match ending {
        Ending::Saved(_) => String::new(),
        Ending::Rescued { why, place } => {
            format!("{why}; everything was saved in {} instead; {}", shown(place), again(place))
        }
        Ending::Lost { why } => {
            format!(
                "{why}; no other folder could be written to either, so everything that was not saved is lost"
            )
        }
    }
}

/// Returns the message for the shell after quitting; `None` if there is none.
fn parting(closed: &Closed, code: u8, plans: bool, usual: &Path) -> Option<String> {
    let place = match closed.ending.as_ref()? {
        Ending::Saved(place) => place,
        unsaved => return Some(troubled(unsaved)),
    };
    let what = if plans { "the best plan is saved" } else { "no plan was found" };
    let late = if closed.stopped { "" } else { " (a run did not stop in time; its plans are saved)" };
    let is_usual = place.folder.as_deref().and_then(Path::parent) == Some(usual);
    match code {
        0 if !plans => None,
        _ if is_usual => {
            Some(format!("{what} in session '{}'{late}; run `lightbay` to resume it", place.name()))
        }
        _ => Some(format!("{what} in {}{late}; {}", shown(place), again(place))),
    }
}

/// Returns the characters of a part of the screen, rows without trailing blanks.
fn text_of(buffer: &Buffer, area: Rect) -> String {
    let area = area.intersection(buffer.area);
    let rows = (area.top()..area.bottom()).map(|y| {
        let row: String =
            (area.left()..area.right()).filter_map(|x| Some(buffer.cell((x, y))?.symbol())).collect();
        row.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}
