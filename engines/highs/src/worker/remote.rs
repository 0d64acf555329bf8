//! Program side of the protocol: solves a model in a solver process, and handles its events and stops as for a solver
//! inside lightbay.

use super::frame::{self, Answer, FrameError, HelperRequest, SolveJob, SolveQuestion};
use super::helper::{Helper, words};
use crate::conflict::Conflict;
use crate::error::Error;
use crate::event::{Flow, MipProgress, SolverEvent, SolverListener};
use crate::model::{Model, Row};
use crate::options::Options;
use crate::solution::{Solution, Start, Status};
use lightbay_core::worker::Launcher;
use std::borrow::Cow;
use std::io;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

/// Time between two checks of the listener for a stop, independent of the messages of the solver process.
const TICK: Duration = Duration::from_millis(25);

/// Maximum time that a solver process may take to end after a stop request before it is killed.
const GRACE: Duration = Duration::from_millis(100);

/// A solver that has been silent for this long is in a stage that does not react to requests, so it is killed at once.
const DEAF: Duration = Duration::from_millis(250);

/// Silence is reported after this time, and again after every further period of this length.
const SILENCE: Duration = Duration::from_millis(500);

/// Capacity of the queue of answers; if it is full, the solver process blocks.
const WAITING: usize = 16;

/// Reason that a model could not be solved in a solver process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HelperError {
    /// The solver process could not be started.
    #[error("the solver process could not be started: {0}")]
    Launch(io::Error),
    /// The solver refused the model, an option or the start, or failed.
    #[error(transparent)]
    Solver(#[from] Error),
    /// Communication between the two processes failed.
    #[error("communication with the solver process failed: {0}")]
    Frame(#[from] FrameError),
    /// The solver process ended early, without a point.
    #[error("the solver process {0} before it found a point")]
    Died(String),
}

/// Result of a solve in a solver process.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// Result of the solver. If the solver process was killed or died, this is the best point that its messages
    /// contained, with status `Interrupted`.
    pub solution: Solution,
    /// How the solver process ended, in words, if this was unexpected.
    pub accident: Option<String>,
}

/// Solves a model in a solver process. The listener is called on this thread for every event and every 25 ms, decides
/// whether to continue, and may block. When it requests a stop, the solver process gets a stop request, and is killed
/// if it has not ended after 100 ms, or at once if it has been silent for 250 ms. All messages that the solver process
/// sends until it ends are handled.
///
/// # Errors
/// [`HelperError`]. A solver process that dies after it found a point is not an error: the solution contains the point,
/// and [`Ending::accident`] the cause.
pub fn solve(
    launcher: &dyn Launcher,
    model: &Model,
    options: &Options,
    start: &Start,
    watch: &mut dyn SolverListener,
) -> Result<Ending, HelperError> {
    let mut record = Record::new();
    let job = SolveJob {
        model: Cow::Borrowed(model),
        options: Cow::Borrowed(options),
        start: Cow::Borrowed(start),
        question: SolveQuestion::Solution,
    };
    let accident = match talk(launcher, job, watch, &mut record)? {
        Word::Finished(solution) => return Ok(Ending { solution: *solution, accident: None }),
        Word::Explained(_) => return Err(FrameError::Stranger.into()),
        Word::Accident(why) if record.best.is_none() => return Err(HelperError::Died(why)),
        Word::Accident(why) => Some(why),
        Word::Stopped => None,
    };
    Ok(Ending { solution: record.interrupted(model), accident })
}

/// Finds the reason of infeasibility in a solver process, within about the given number of seconds. Every 25 ms, the
/// listener decides whether to continue. `None` if the model is feasible, the reason was not found, or the listener
/// stopped the search.
///
/// # Errors
/// [`HelperError`].
pub fn explain(
    launcher: &dyn Launcher,
    model: &Model,
    seconds: f64,
    watch: &mut dyn SolverListener,
) -> Result<Option<Conflict>, HelperError> {
    let job = SolveJob {
        model: Cow::Borrowed(model),
        options: Cow::Owned(Options::new()),
        start: Cow::Owned(Start::None),
        question: SolveQuestion::Conflict(seconds),
    };
    match talk(launcher, job, watch, &mut Record::new())? {
        Word::Explained(conflict) => Ok(conflict),
        Word::Stopped => Ok(None),
        Word::Finished(_) => Err(FrameError::Stranger.into()),
        Word::Accident(why) => Err(HelperError::Died(why)),
    }
}

/// Last message of a solver process, or how the exchange of messages ended without one.
enum Word {
    Finished(Box<Solution>),
    Explained(Option<Conflict>),
    /// The listener requested a stop, and the solver process was killed.
    Stopped,
    /// The solver process died; the text describes how.
    Accident(String),
}

/// Starts a solver process and handles its messages until it ends.
fn talk(
    launcher: &dyn Launcher,
    job: SolveJob<'_>,
    watch: &mut dyn SolverListener,
    record: &mut Record,
) -> Result<Word, HelperError> {
    if watch.tick() == Flow::Stop {
        return Ok(Word::Stopped);
    }
    let job = Box::new(job);
    let child = launcher.launch().map_err(HelperError::Launch)?;
    let gone = AtomicBool::new(false);
    let gone = &gone;
    std::thread::scope(|scope| {
        // In all cases, including a panic of the watch, `helper` is dropped before the threads are joined: this kills
        // the process and breaks the pipes of the threads, so the threads end.
        let (helper, input, output) = Helper::new(child).map_err(HelperError::Launch)?;
        let (requests, to_send) = mpsc::channel();
        let (say, answers) = mpsc::sync_channel(WAITING);
        let failures = say.clone();
        std::thread::Builder::new()
            .name("lb-helper-in".to_owned())
            .spawn_scoped(scope, move || send(input, job, failures, &to_send, gone))
            .map_err(HelperError::Launch)?;
        std::thread::Builder::new()
            .name("lb-helper-out".to_owned())
            .spawn_scoped(scope, move || receive(output, &say))
            .map_err(HelperError::Launch)?;
        let now = Instant::now();
        let dialogue = Dialogue {
            helper,
            requests,
            answers,
            watch,
            heard: now,
            ticked: now,
            silences: 0,
            deadline: None,
            killed: false,
            gone,
        };
        dialogue.hold(record)
    })
}

type ReceivedAnswer = Result<Answer<'static>, FrameError>;

/// Sends the job, then the requests.
fn send(
    mut input: ChildStdin,
    job: Box<SolveJob<'_>>,
    failures: SyncSender<ReceivedAnswer>,
    to_send: &Receiver<HelperRequest<'static>>,
    gone: &AtomicBool,
) {
    let sent = frame::write_unless(&mut input, &HelperRequest::Solve(job), gone);
    match sent {
        Ok(()) => {}
        // A broken pipe means that the solver process ended; its answers give the reason.
        Err(FrameError::Pipe(_)) => return,
        Err(error) => {
            let _ = failures.send(Err(error));
            return;
        }
    }
    // Ensures that the channel of answers closes with the pipe of answers.
    drop(failures);
    while let Ok(request) = to_send.recv() {
        if frame::write(&mut input, &request).is_err() {
            return;
        }
    }
}

/// Receives answers until there are no more.
fn receive(mut output: ChildStdout, say: &SyncSender<ReceivedAnswer>) {
    loop {
        let said = match frame::read::<Answer<'static>>(&mut output) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        let last = !matches!(said, Ok(Answer::Event(_)));
        if say.send(said).is_err() || last {
            return;
        }
    }
}

/// Best point and figures of a solve so far.
struct Record {
    began: Instant,
    best: Option<(f64, Vec<f64>)>,
    progress: MipProgress,
    simplex: u64,
    ipm: u64,
}

impl Record {
    fn new() -> Self {
        Self { began: Instant::now(), best: None, progress: MipProgress::default(), simplex: 0, ipm: 0 }
    }

    fn keep(&mut self, event: SolverEvent) {
        match event {
            SolverEvent::Incumbent { objective, values, .. } => self.best = Some((objective, values)),
            SolverEvent::Mip(progress) => {
                let bound = progress.bound.or(self.progress.bound);
                self.progress = MipProgress { bound, ..progress };
            }
            SolverEvent::Simplex(iterations) => self.simplex = iterations,
            SolverEvent::Ipm(iterations) => self.ipm = iterations,
            _ => {}
        }
    }

    /// Returns the solution of a solve that was stopped, from its messages so far.
    fn interrupted(&mut self, model: &Model) -> Solution {
        let (objective, values) = self.best.take().unzip();
        let row_values = values.as_ref().map_or_else(Vec::new, |point: &Vec<f64>| {
            (0..model.rows()).map(|row| model.activity(Row(row as u32), point)).collect()
        });
        Solution {
            status: Status::Interrupted,
            values,
            objective,
            bound: self.progress.bound,
            row_duals: Vec::new(),
            column_duals: Vec::new(),
            row_values,
            basis: None,
            simplex_iterations: self.simplex.max(self.progress.lp_iterations),
            ipm_iterations: self.ipm,
            nodes: self.progress.nodes,
            elapsed_s: self.began.elapsed().as_secs_f64(),
        }
    }
}

struct Dialogue<'w> {
    helper: Helper,
    requests: Sender<HelperRequest<'static>>,
    answers: Receiver<ReceivedAnswer>,
    watch: &'w mut dyn SolverListener,
    /// Time of the last message.
    heard: Instant,
    ticked: Instant,
    silences: u32,
    /// Time at which the solver process is killed after a stop request.
    deadline: Option<Instant>,
    killed: bool,
    /// Set when the solver process is killed or the exchange of messages ends, so that a message in preparation is
    /// abandoned.
    gone: &'w AtomicBool,
}

impl Drop for Dialogue<'_> {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

impl Dialogue<'_> {
    fn hold(mut self, record: &mut Record) -> Result<Word, HelperError> {
        let mut broken = None;
        loop {
            let wait = self
                .deadline
                .filter(|_| !self.killed)
                .map_or(TICK, |deadline| deadline.saturating_duration_since(Instant::now()).min(TICK));
            match self.answers.recv_timeout(wait) {
                Ok(Ok(Answer::Event(event))) => {
                    (self.heard, self.silences) = (Instant::now(), 0);
                    let event = event.into_owned();
                    let flow = self.ask(|watch| watch.event(&event));
                    record.keep(event);
                    self.obey(flow);
                }
                Ok(Ok(Answer::Finished(solution))) => {
                    return Ok(Word::Finished(solution));
                }
                Ok(Ok(Answer::Explained(conflict))) => return Ok(Word::Explained(conflict)),
                Ok(Ok(Answer::Failed(error))) => return Err(error.into()),
                Ok(Err(error)) => broken = Some(error),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if broken.is_some() {
                break;
            }
            self.tick();
            if !self.killed && self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.helper.kill();
                self.killed = true;
                self.gone.store(true, Ordering::Relaxed);
            }
        }
        // The process has sent its last answer, so it is not needed any more.
        let ended = self.last_words();
        if self.deadline.is_some() {
            return Ok(Word::Stopped);
        }
        Ok(Word::Accident(match broken {
            Some(FrameError::Truncated { .. }) | None => ended,
            Some(error) if record.best.is_none() => return Err(error.into()),
            Some(error) => error.to_string(),
        }))
    }

    /// Lets the listener decide whether to continue. The solver process is suspended while the listener blocks because
    /// the run is paused.
    fn ask(&mut self, decide: impl FnOnce(&mut dyn SolverListener) -> Flow) -> Flow {
        if !self.watch.pausing() {
            return decide(self.watch);
        }
        let paused = Instant::now();
        self.helper.hold();
        let flow = decide(self.watch);
        self.helper.release();
        // Time spent paused does not count as silence.
        self.heard += paused.elapsed();
        flow
    }

    fn obey(&mut self, flow: Flow) {
        if flow == Flow::Stop && self.deadline.is_none() {
            let grace = if self.heard.elapsed() < DEAF { GRACE } else { Duration::ZERO };
            self.deadline = Some(Instant::now() + grace);
            // If the process has ended, the end of its answers shows this.
            let _ = self.requests.send(HelperRequest::Interrupt);
        }
    }

    fn tick(&mut self) {
        if self.ticked.elapsed() < TICK {
            return;
        }
        let flow = self.ask(|watch| watch.tick());
        self.obey(flow);
        let silent = self.heard.elapsed();
        if silent >= SILENCE * (self.silences + 1) {
            self.silences = (silent.as_secs_f64() / SILENCE.as_secs_f64()) as u32;
            let event = SolverEvent::Silent(silent.as_secs_f64());
            let flow = self.ask(|watch| watch.event(&event));
            self.obey(flow);
        }
        if self.deadline.is_none()
            && let Some(point) = self.watch.better()
        {
            let _ = self.requests.send(HelperRequest::Better(point));
        }
        self.ticked = Instant::now();
    }

    /// Describes how a solver process ended after its last answer. A process that is still alive is killed.
    fn last_words(&mut self) -> String {
        if !self.helper.ends_within(GRACE) {
            self.helper.kill();
            self.helper.wait();
            return "stopped answering".to_owned();
        }
        words(self.helper.wait())
    }
}
