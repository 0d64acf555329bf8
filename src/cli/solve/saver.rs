//! Saves the best plan to disk during the run, so that even a kill loses at most one second.

use super::content;
use super::plan_output::{PlanOutput, rescued};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::show;
use crate::cli::target::{FileTarget, Target};
use lightbay_core::checked::SharedPlan;
use lightbay_core::problem::printable;
use lightbay_core::read::check_readable;
use lightbay_engines::AnyPlan;
use lightbay_sessions::own_write;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// File name of the plan that is saved in the state folder if standard output is a terminal and the user names no
/// output file; every such run overwrites the file.
const LAST_PLAN: &str = "last-plan.json";

/// Size up to which a plan can always be read back, plain or compressed, bytes.
const ALWAYS_READ: usize = 4 << 20;

/// Minimum time between two writes.
const INTERVAL: Duration = Duration::from_secs(1);

/// The best plan and its destination.
#[derive(Debug)]
pub struct Saver {
    target: Target,
    best: Option<SharedPlan>,
    unsaved: bool,
    last: Option<Instant>,
    complained: bool,
    /// `true` if standard output gets a summary in place of the plan.
    summary: bool,
}

impl Saver {
    /// Creates a saver that writes to `target`; if `summary` is set, standard output gets a summary instead of the
    /// plan.
    pub const fn new(target: Target, summary: bool) -> Self {
        Self { target, best: None, unsaved: false, last: None, complained: false, summary }
    }

    /// Stores a better plan, which the next write saves.
    pub fn offer(&mut self, plan: SharedPlan) {
        self.best = Some(plan);
        self.unsaved = true;
    }

    /// Returns the time at which the next write is due, if there is one.
    pub fn due(&self) -> Option<Instant> {
        match &self.target {
            Target::File(file) if self.unsaved && !file.is_stream() => {
                Some(self.last.map_or_else(Instant::now, |last| last + INTERVAL))
            }
            _ => None,
        }
    }

    /// Writes the plan if a write is due. A failure is reported once and retried with the next plan: the run continues.
    pub fn save_if_due(&mut self, console: &mut Console) {
        if self.due().is_none_or(|due| due > Instant::now()) {
            return;
        }
        self.unsaved = false;
        self.last = Some(Instant::now());
        let (Target::File(file), Some(plan)) = (&mut self.target, &self.best) else { return };
        if let Err(failure) = save(file, plan)
            && !self.complained
        {
            self.complained = true;
            console.warn(&format!("the best plan so far could not be saved: {}", describe(&failure)));
        }
    }

    /// Writes the final plan, or the best known plan if the run reported no final plan; returns the written plan.
    ///
    /// If the file cannot be written any more, saves the plan in the state folder or prints it to standard output, so
    /// that a full disk does not lose hours of work.
    ///
    /// # Errors
    /// Returns a failure that names the place where the plan was saved instead, or the reason that it could not be
    /// saved at all.
    pub fn finish(
        mut self,
        plan: Option<SharedPlan>,
        plan_output: &Arc<PlanOutput>,
        console: &mut Console,
    ) -> Result<Option<SharedPlan>, Failure> {
        let Some(plan) = plan.or_else(|| self.best.take()) else { return Ok(None) };
        match &mut self.target {
            Target::Stdout if self.summary => summarise(&plan, console)?,
            Target::Stdout => {
                let bytes = content(&plan)?;
                plan_output
                    .write(&plan, "standard output", console, |console| {
                        Target::Stdout.write(&bytes, console)?;
                        Ok::<(), Failure>(console.flush()?)
                    })
                    .map_err(|failure| rescue(&plan, &failure, console))?;
            }
            Target::File(file) if file.is_stream() => {
                let place = file.to_string();
                plan_output
                    .write(&plan, &place, console, |_| save(file, &plan))
                    .map_err(|failure| rescue(&plan, &failure, console))?;
            }
            Target::File(file) => {
                save(file, &plan).map_err(|failure| rescue(&plan, &failure, console))?;
            }
        }
        Ok(Some(plan))
    }
}

/// Writes a plan; refuses a plan that could not be read back.
fn save(file: &mut FileTarget, plan: &SharedPlan) -> Result<(), Failure> {
    let bytes = content(plan)?;
    if bytes.len() > ALWAYS_READ && !file.is_stream() {
        check_readable(&bytes, file.stored_size(&bytes))
            .map_err(|problem| Failure::Mendable(format!("{file}: the plan {problem}")))?;
    }
    Ok(file.write(&bytes)?)
}

/// Shows a plan to a user who did not name a file, and prints its path.
fn summarise(plan: &SharedPlan, console: &mut Console) -> Result<(), Failure> {
    if let Some(plan) = AnyPlan::of(plan) {
        write!(console.out(), "{}", show::summary(&plan)?)?;
        console.flush()?;
    }
    let kept = console.places().ok().and_then(|places| {
        let path = places.state().join(LAST_PLAN);
        own_write(&path, &content(plan).ok()?).ok()?;
        Some(printable(&path.to_string_lossy()))
    });
    match kept {
        Some(path) => console.say(&format!(
            "`lightbay show {path}` prints more. The next solve without -o replaces the file: give -o FILE to keep a plan, \
             or -o - to print its JSON"
        )),
        None => console.warn("the plan is not kept; give -o FILE to keep it, or -o - to print its JSON"),
    }
    Ok(())
}

fn rescue(plan: &SharedPlan, failure: &Failure, console: &mut Console) -> Failure {
    let why = describe(failure);
    let elsewhere = console.places().ok().and_then(|places| rescued(plan, places.state()));
    if let Some(path) = elsewhere {
        return Failure::Mendable(format!("{why}; the plan was saved as {path} instead"));
    }
    let sent = content(plan).and_then(|bytes| Target::Stdout.write(&bytes, console));
    match sent {
        Ok(()) => Failure::Mendable(format!("{why}; the plan was written to standard output instead")),
        Err(_) => Failure::Mendable(why),
    }
}

fn describe(failure: &Failure) -> String {
    match failure {
        Failure::Input(inputs) => inputs.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        Failure::Mendable(message) => message.clone(),
        Failure::ReaderLeft => "the reader closed standard output before it had the whole plan".to_owned(),
        Failure::Unexpected(report) => report.to_string(),
    }
}
