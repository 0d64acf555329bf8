//! Solver-process side of the protocol: receives the job, solves it, and sends all events of the solver.

use super::frame::{self, Answer, FrameError, HelperRequest, SolveJob, SolveQuestion};
use crate::conflict::conflict_of;
use crate::error::Error;
use crate::event::{Flow, SolverEvent, SolverListener};
use crate::instance::{Instance, Interrupt};
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::os::fd::AsFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stack size of the solving thread.
const STACK_BYTES: usize = 16 << 20;

/// Reason that a solver process could not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A person started the solver process by hand.
    #[error("lightbay runs this command itself to start a solver process; do not run the command by hand")]
    ByHand,
    /// The input is not a job.
    #[error("the job could not be read: {0}")]
    Frame(#[from] FrameError),
    /// An error of the operating system.
    #[error("the solver process failed: {0}")]
    System(#[from] io::Error),
}

/// Serves one job on standard input and standard output and returns when the job is done. Ends the whole process at
/// once if standard input ends earlier.
///
/// Call this function before anything else: it redirects descriptor 1 to the target of descriptor 2, so that the output
/// of a library cannot mix with the messages to the parent.
///
/// # Errors
/// [`ServeError`]; errors of the job itself are sent to the parent as messages.
pub fn serve() -> Result<(), ServeError> {
    let input = rustix::fs::fstat(io::stdin()).map_err(io::Error::from)?;
    if !rustix::fs::FileType::from_raw_mode(input.st_mode).is_fifo() {
        return Err(ServeError::ByHand);
    }
    die_with_the_parent();
    take_a_name();
    ignore_signals();
    let answers = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(io::stderr()).map_err(io::Error::from)?;
    converse(io::stdin(), answers, end_at_once)
}

/// Lets the operating system kill this process when the thread that started it ends, if the system supports this. On
/// other systems, the end of the input ends the process.
fn die_with_the_parent() {
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    }
}

/// Sets the name of the process in process lists; it could otherwise be the name of a symbolic link to the program.
fn take_a_name() {
    #[cfg(target_os = "linux")]
    {
        let _ = std::fs::write("/proc/self/comm", "lightbay-solve");
    }
}

/// Ignores Ctrl-C and hang-ups, which reach all processes of a terminal. The parent stops the run properly and then
/// ends the solver process. Also ignores the signal for the file size limit, so that a write beyond this limit fails
/// instead of killing the process.
fn ignore_signals() {
    unsafe extern "C" {
        fn signal(number: std::ffi::c_int, handler: usize) -> usize;
    }
    const IGNORE: usize = 1;
    let file_size = rustix::process::Signal::XFSZ.as_raw();
    for number in [1, 2, 3, file_size] {
        // SAFETY: the C function of POSIX; hang-up, interrupt and quit have these numbers on every Unix, and
        // SIG_IGN, which is 1 on every Unix, installs no handler.
        unsafe { signal(number, IGNORE) };
    }
}

/// Ends the process at once, because the solver may not react to requests.
fn end_at_once() {
    // The error is ignored, because nothing else could end the process.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

/// State that the two threads of a solver process share.
struct SharedOutput<W> {
    answers: Mutex<W>,
    stop: AtomicBool,
    interrupt: Mutex<Option<Interrupt>>,
    better: Mutex<Option<Vec<f64>>>,
    done: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data is plain and stays valid after a panic elsewhere, so poisoning is ignored.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: Write> SharedOutput<W> {
    fn say(&self, answer: &Answer<'_>) -> Result<(), FrameError> {
        frame::write(&mut *lock(&self.answers), answer)
    }

    fn stop(&self) {
        let interrupt = lock(&self.interrupt);
        self.stop.store(true, Ordering::Release);
        if let Some(interrupt) = &*interrupt {
            interrupt.stop();
        }
    }

    /// Forwards a stop to a run that is about to begin, including a stop that was requested earlier.
    fn arm(&self, interrupt: Interrupt) {
        let mut slot = lock(&self.interrupt);
        if self.stop.load(Ordering::Acquire) {
            interrupt.stop();
        }
        *slot = Some(interrupt);
    }

    fn take_in(&self, request: HelperRequest<'_>) {
        match request {
            HelperRequest::Interrupt => self.stop(),
            HelperRequest::Better(point) => *lock(&self.better) = Some(point),
            // A process serves one job.
            HelperRequest::Solve(_) => {}
        }
    }
}

/// Listener that sends the events of the solver to the parent.
struct Echo<'d, W>(&'d SharedOutput<W>);

impl<W: Write> SolverListener for Echo<'_, W> {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        match self.0.say(&Answer::Event(Cow::Borrowed(event))) {
            Ok(()) => self.tick(),
            // The parent has closed the pipe.
            Err(_) => Flow::Stop,
        }
    }

    fn tick(&mut self) -> Flow {
        if self.0.stop.load(Ordering::Acquire) { Flow::Stop } else { Flow::Continue }
    }

    fn better(&mut self) -> Option<Vec<f64>> {
        lock(&self.0.better).take()
    }
}

/// Serves one job. `leave` is called on the listening thread when the input ends before the job is done.
pub(super) fn converse(
    mut requests: impl Read + Send + 'static,
    answers: impl Write + Send + 'static,
    leave: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError> {
    let desk = Arc::new(SharedOutput {
        answers: Mutex::new(answers),
        stop: AtomicBool::new(false),
        interrupt: Mutex::new(None),
        better: Mutex::new(None),
        done: AtomicBool::new(false),
    });
    let job = loop {
        match frame::read::<HelperRequest<'static>>(&mut requests)? {
            Some(HelperRequest::Solve(job)) => break job,
            Some(other) => desk.take_in(other),
            // The parent closed the pipe without sending a job.
            None => return Ok(()),
        }
    };
    let listening = Arc::clone(&desk);
    std::thread::Builder::new().name("lb-listen".to_owned()).spawn(move || {
        while let Ok(Some(request)) = frame::read::<HelperRequest<'static>>(&mut requests) {
            listening.take_in(request);
        }
        if !listening.done.load(Ordering::Acquire) {
            leave();
        }
    })?;
    let solving = Arc::clone(&desk);
    let solver = std::thread::Builder::new()
        .name("lb-solve".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || catch_unwind(AssertUnwindSafe(|| work(&job, &solving))))?;
    let outcome = match solver.join() {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(panic)) | Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "no message".to_owned());
            Err(Error::solver("run in the solver process", text))
        }
    };
    desk.done.store(true, Ordering::Release);
    desk.say(&outcome.unwrap_or_else(Answer::Failed))?;
    Ok(())
}

fn work<W: Write>(job: &SolveJob<'_>, desk: &SharedOutput<W>) -> Result<Answer<'static>, Error> {
    if let SolveQuestion::Conflict(seconds) = job.question {
        return conflict_of(&job.model, seconds).map(Answer::Explained);
    }
    let mut instance = Instance::new(&job.model)?;
    instance.apply(&job.options)?;
    instance.start(&job.start)?;
    desk.arm(instance.interrupt());
    instance.run(&mut Echo(desk)).map(|solution| Answer::Finished(Box::new(solution)))
}
