//! Threads for all work that may take more than two milliseconds: opening, importing, writing, checking, reading plans,
//! and work that drawing requested. Results come back in one bounded channel.

use crate::app::action::Fact;
use crate::app::drawn::{JobKey, JobResult, ViewJob};
use crate::app::effect::{ExportJob, ExportSubject};
use crate::app::plans::PlanRef;
use crate::runtime::crash::{self, CrashPlace};
use crate::runtime::open::Bundle;
use crate::runtime::report;
use lightbay_core::clock::{Deadline, while_wanted};
use lightbay_core::event::Severity;
use lightbay_core::kind::Depth;
use lightbay_core::param::Setting;
use lightbay_core::problem::Problems;
use lightbay_engines::formats::{self, Input};
use lightbay_engines::{AnyFile, FileSource, Product, files};
use lightbay_sessions::{Overwrite, SessionError, atomic_write};
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Maximum number of results that wait for the loop.
const CAPACITY: usize = 256;

/// Stack size of a helper thread, in bytes; large, because the checker recurses through deep graphs.
const STACK_BYTES: usize = 8 << 20;

/// Number of threads for panes, so that a slow section does not delay other sections.
const VIEW_THREADS: usize = 3;

/// Result of work on a helper thread.
pub enum Finished {
    /// An event to which the state reacts.
    Fact(Fact),
    /// A scenario, plan or session was opened or could not be opened, or the start screen was requested.
    Opened {
        /// Requested file, preset or session, for messages.
        source: String,
        /// The number of the request; the result of an older request is dropped.
        request: u64,
        /// The opened scenario with its data, or `None` for the start screen; if opening failed, the problems, one line
        /// each.
        outcome: Result<Option<Box<Bundle>>, Vec<String>>,
    },
    /// Result of a job that the view requested.
    View(JobKey, JobResult),
    /// A sequence must be sent to the terminal, with a message about it.
    Send {
        /// The sequence.
        sequence: String,
        /// Message for the log.
        note: String,
    },
    /// A job for the view was cancelled because its pane or plan is not visible.
    GivenUp(JobKey),
    /// The work is done, and there is nothing to say about it.
    Nothing,
}

impl std::fmt::Debug for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fact(fact) => f.debug_tuple("Fact").field(fact).finish(),
            Self::Opened { source, .. } => f.debug_tuple("Opened").field(source).finish(),
            Self::View(key, _) => f.debug_tuple("View").field(key).finish(),
            Self::Send { note, .. } => f.debug_tuple("Send").field(note).finish(),
            Self::GivenUp(key) => f.debug_tuple("GivenUp").field(key).finish(),
            Self::Nothing => f.write_str("Nothing"),
        }
    }
}

#[derive(Default)]
struct ViewQueue {
    waiting: VecDeque<ViewJob>,
    /// Active jobs of the view, each with its cancellation flag.
    at_work: Vec<(JobKey, Arc<AtomicBool>)>,
    closed: bool,
}

/// Threads for slow work.
pub struct Helpers {
    sender: mpsc::Sender<Finished>,
    view: Arc<(Mutex<ViewQueue>, Condvar)>,
    asked: BTreeSet<JobKey>,
}

impl std::fmt::Debug for Helpers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Helpers").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Helpers {
    /// Starts the helpers; returns them with the receiver of their results.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start() -> std::io::Result<(Self, mpsc::Receiver<Finished>)> {
        let (sender, results) = mpsc::channel(CAPACITY);
        let view = Arc::new((Mutex::new(ViewQueue::default()), Condvar::new()));
        for _ in 0..VIEW_THREADS {
            let (queue, results_to) = (Arc::clone(&view), sender.clone());
            std::thread::Builder::new()
                .name("lb-view".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(move || work_for_view(&queue, &results_to))?;
        }
        Ok((Self { sender, view, asked: BTreeSet::new() }, results))
    }

    /// Returns a sender for results of other threads.
    pub fn sender(&self) -> mpsc::Sender<Finished> {
        self.sender.clone()
    }

    /// Does `work` on a separate thread. If the thread cannot be started, the user gets a message.
    pub fn spawn(&self, name: &str, work: impl FnOnce() -> Finished + Send + 'static) {
        let sender = self.sender.clone();
        let spawned = std::thread::Builder::new()
            .name(format!("lb-{name}"))
            .stack_size(STACK_BYTES)
            .spawn(move || drop(sender.blocking_send(guarded(work))));
        if let Err(error) = spawned {
            let text = format!("no thread could be started for this action: {error}; try again in a moment");
            // If the channel is full, this message is dropped, because the waiting messages are more important.
            let _ = self.sender.try_send(Finished::Fact(Fact::Failed(text)));
        }
    }

    /// Queues the work that a frame requested, in order; work that is already active is not started twice. Every frame
    /// repeats its requests for missing results. Waiting or active work that is not requested again belongs to panes or
    /// plans that are not visible, so it is cancelled.
    pub fn view_jobs(&mut self, jobs: Vec<ViewJob>) {
        let (queue, wake) = &*self.view;
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        for stale in queue.waiting.drain(..) {
            self.asked.remove(&stale.key);
        }
        for (key, unwanted) in &queue.at_work {
            if jobs.iter().all(|job| job.key != *key) {
                unwanted.store(true, Ordering::Relaxed);
            }
        }
        queue.waiting.extend(jobs.into_iter().filter(|job| self.asked.insert(job.key)));
        wake.notify_all();
    }

    /// Records that a result for the view has arrived, so that the work for this result may be requested again.
    pub fn arrived(&mut self, key: JobKey) {
        self.asked.remove(&key);
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        let (queue, wake) = &*self.view;
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.closed = true;
        queue.at_work.iter().for_each(|(_, unwanted)| unwanted.store(true, Ordering::Relaxed));
        queue.waiting.clear();
        wake.notify_all();
    }
}

/// Does the work of a helper; a panic in it becomes a message and does not end the program.
fn guarded(work: impl FnOnce() -> Finished) -> Finished {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        let place = report::last().map_or_else(
            || "the log has more details".to_owned(),
            |path| format!("report: {}", path.display()),
        );
        Finished::Fact(Fact::Failed(format!("an internal task crashed: {text}; {place}")))
    })
}

fn work_for_view(queue: &(Mutex<ViewQueue>, Condvar), results: &mpsc::Sender<Finished>) {
    let (queue, wake) = queue;
    loop {
        let unwanted = Arc::new(AtomicBool::new(false));
        let job = {
            let guard = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let idle = |queue: &mut ViewQueue| queue.waiting.is_empty() && !queue.closed;
            let mut guard = wake.wait_while(guard, idle).unwrap_or_else(PoisonError::into_inner);
            match guard.waiting.pop_front() {
                Some(job) if !guard.closed => {
                    guard.at_work.push((job.key, Arc::clone(&unwanted)));
                    job
                }
                _ => return,
            }
        };
        let finished = guarded(|| {
            crash::on_request(CrashPlace::View);
            Finished::View(job.key, while_wanted(Arc::clone(&unwanted), || (job.work)()))
        });
        queue.lock().unwrap_or_else(PoisonError::into_inner).at_work.retain(|(key, _)| *key != job.key);
        // A cancelled result is dropped.
        let finished = match finished {
            Finished::View(key, _) if unwanted.load(Ordering::Relaxed) => Finished::GivenUp(key),
            finished => finished,
        };
        if results.blocking_send(finished).is_err() {
            return;
        }
    }
}

/// Writes an export.
pub fn export(job: &ExportJob) -> Fact {
    let write = |subject| {
        let against = job.against.as_ref().map(|plan| formats::Subject::Plan(&plan.0));
        formats::export_against(subject, against, &job.format, &job.settings)
    };
    let artifacts = match &job.subject {
        ExportSubject::Text(text) => {
            let name =
                job.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            Ok(vec![formats::Artifact::new(name, text.clone())])
        }
        ExportSubject::Scenario(scenario) => write(formats::Subject::Scenario(scenario)),
        ExportSubject::Plan(plan) => write(formats::Subject::Plan(&plan.0)),
    };
    let artifacts = match artifacts {
        Ok(artifacts) => artifacts,
        Err(problems) => return Fact::Failed(problems.to_string()),
    };
    let own = artifacts.iter().filter(|artifact| artifact.beside.is_none()).count();
    let several = own > 1 || (job.settings.is_empty() && info_of(job).is_some_and(|info| info.folder));
    let mut bytes = 0;
    let target = |artifact: &formats::Artifact| match artifact.beside {
        _ if several => job.path.join(&artifact.name),
        Some(suffix) => {
            let mut name = job.path.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        }
        None => job.path.clone(),
    };
    // All names are checked first, so that an existing file does not stop the export after some files have been
    // written.
    if !job.overwrite && artifacts.iter().any(|artifact| target(artifact).exists()) {
        return Fact::InTheWay(job.clone());
    }
    if several && let Err(error) = std::fs::create_dir_all(&job.path) {
        return Fact::Failed(format!("{}: {error}; choose another folder", job.path.display()));
    }
    for artifact in &artifacts {
        let path = target(artifact);
        let overwrite = if job.overwrite { Overwrite::Allow } else { Overwrite::Refuse };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match atomic_write(&path, &artifact.content_as(&name), overwrite) {
            Ok(()) => bytes += artifact.bytes.len() as u64,
            Err(SessionError::Exists { .. }) => return Fact::InTheWay(job.clone()),
            Err(error) => return Fact::Failed(error.to_string()),
        }
    }
    let remarks = match (&job.subject, info_of(job)) {
        (ExportSubject::Scenario(scenario), Some(info)) => {
            formats::remarks(formats::Subject::Scenario(scenario), &info)
        }
        (ExportSubject::Plan(plan), Some(info)) => formats::remarks(formats::Subject::Plan(&plan.0), &info),
        _ => Vec::new(),
    };
    let rollbacks = artifacts.iter().filter(|artifact| artifact.undoes).count();
    Fact::Exported { path: job.path.clone(), bytes, files: artifacts.len(), rollbacks, remarks }
}

/// Returns the description of the format that an export writes; `None` if the job contains the finished text.
fn info_of(job: &ExportJob) -> Option<formats::FormatInfo> {
    let kind = match &job.subject {
        ExportSubject::Text(_) => return None,
        ExportSubject::Scenario(scenario) => scenario.kind(),
        ExportSubject::Plan(plan) => formats::Subject::Plan(&plan.0).kind(),
    };
    formats::exporters(kind).into_iter().find(|info| info.name == job.format)
}

/// Verifies a plan from its file content, as `lightbay check` does; returns the result for the state.
pub fn check(number: u64, plan: &PlanRef, exact: bool) -> Fact {
    let depth = if exact { Depth::Exact(Deadline::after(files::EXACT_LIMIT)) } else { Depth::Usual };
    let failed = |text: String| Fact::Checked { number, standing: None, lines: vec![text] };
    let value = match plan.0.shared().to_value() {
        Ok(value) => value,
        Err(error) => return failed(error.to_string()),
    };
    let report = match files::read_value(&value) {
        Ok(AnyFile::Plan(file)) => file.check(depth),
        Ok(AnyFile::Scenario(_)) => return failed("the plan was written as a scenario".to_owned()),
        Err(problems) => return failed(problems.to_string()),
    };
    let standing = report.standing();
    let mut lines = Vec::new();
    if report.violations.is_empty() {
        let bound = standing.as_ref().map_or_else(String::new, |standing| standing.words(true));
        let thorough = if exact {
            "every rule holds, including the rules of the exact check"
        } else {
            "every rule holds"
        };
        lines.push(format!("{thorough}; {bound}"));
    } else {
        lines.push(format!("{} violations", report.violations.len()));
        lines.extend(report.violations.iter().map(ToString::to_string));
    }
    lines.extend(report.remarks);
    lines.extend(report.warnings.iter().map(|warning| format!("warning: {warning}")));
    Fact::Checked { number, standing, lines }
}

/// Result of an import: the format, a scenario or plan, and the messages about it.
pub type ImportedProduct = (String, Product, Vec<(Severity, String)>);

/// Reads files of another tool. Without a format, the content of the files shows it.
///
/// # Errors
/// All problems.
pub fn import(
    format: Option<&str>,
    paths: &[PathBuf],
    settings: &[Setting],
) -> Result<ImportedProduct, Vec<String>> {
    let inputs: Vec<Input> =
        paths.iter().map(|path| read(path)).collect::<Result<_, _>>().map_err(|text| vec![text])?;
    let told = |problems: Problems| problems.to_string().lines().map(str::to_owned).collect::<Vec<_>>();
    let format = match format {
        Some(format) => format.to_owned(),
        None => recognised(&inputs).map_err(told)?,
    };
    let imported = formats::import(&format, &inputs, settings, false).map_err(told)?;
    let notes = imported.lines.into_iter().map(|line| (Severity::Info, line)).collect();
    Ok((format, imported.product, notes))
}

fn recognised(inputs: &[Input]) -> Result<String, Problems> {
    let source = |input: &Input| {
        let bytes = input.bytes.clone();
        FileSource::new(input.name.clone(), move || Ok(Box::new(std::io::Cursor::new(bytes.clone()))))
    };
    let sources: Vec<FileSource> = inputs.iter().map(source).collect();
    lightbay_engines::recognised(&sources).map(str::to_owned)
}

fn read(path: &Path) -> Result<Input, String> {
    if let Some(name) = path.to_str().and_then(|text| text.strip_prefix("preset:")) {
        let preset = lightbay_engines::preset(name).map_err(|problem| problem.to_string())?;
        let bytes = preset.to_json().map_err(|error| error.to_string())?;
        return Ok(Input { name: format!("preset:{name}"), bytes });
    }
    let bytes =
        std::fs::read(path).map_err(|error| format!("{}: {error}; check the name", path.display()))?;
    Ok(Input { name: path.display().to_string(), bytes })
}
