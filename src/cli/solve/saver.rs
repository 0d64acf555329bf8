//! Keeps the best plan on disk while the run lasts, so that even a kill loses at most a second.

use super::content;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::target::{FileTarget, Target};
use lightbay_core::checked::SharedPlan;
use std::time::{Duration, Instant};

/// Least time between two writes.
const INTERVAL: Duration = Duration::from_secs(1);

/// The best plan and where it goes.
#[derive(Debug)]
pub struct Saver {
    target: Target,
    best: Option<SharedPlan>,
    unsaved: bool,
    last: Option<Instant>,
    complained: bool,
}

impl Saver {
    /// Saves to `target`.
    pub const fn new(target: Target) -> Self {
        Self { target, best: None, unsaved: false, last: None, complained: false }
    }

    /// A better plan.
    pub fn offer(&mut self, plan: SharedPlan) {
        self.best = Some(plan);
        self.unsaved = true;
    }

    /// When the next write is due, if one is.
    pub fn due(&self) -> Option<Instant> {
        match self.target {
            Target::File(_) if self.unsaved => {
                Some(self.last.map_or_else(Instant::now, |last| last + INTERVAL))
            }
            _ => None,
        }
    }

    /// Writes if it is time. A failure is said once and tried again with the next plan: the run goes on.
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

    /// Writes the final plan, or the best that is known. Says whether there was one.
    ///
    /// If the file cannot be written any more, the plan goes to the state folder, or to standard output: hours of
    /// work are not lost to a full disk.
    ///
    /// # Errors
    /// Where the plan went instead, or why it went nowhere.
    pub fn finish(mut self, plan: Option<SharedPlan>, console: &mut Console) -> Result<bool, Failure> {
        let Some(plan) = plan.or_else(|| self.best.take()) else { return Ok(false) };
        match &mut self.target {
            Target::Stdout => {
                let bytes = content(&plan)?;
                Target::Stdout.write(&bytes, console)?;
                console.flush()?;
            }
            Target::File(file) => match save(file, &plan) {
                Ok(()) => {
                    if console.err_is_terminal() {
                        console.say(&format!("the plan is in {file}"));
                    }
                }
                Err(failure) => return Err(rescue(&plan, &failure, console)),
            },
        }
        Ok(true)
    }
}

fn save(file: &mut FileTarget, plan: &SharedPlan) -> Result<(), Failure> {
    Ok(file.write(&content(plan)?)?)
}

fn rescue(plan: &SharedPlan, failure: &Failure, console: &mut Console) -> Failure {
    let why = describe(failure);
    let elsewhere = console.places().ok().and_then(|places| {
        let folder = places.state().to_owned();
        std::fs::create_dir_all(&folder).ok()?;
        let path = folder.join(format!("rescued-plan-{}.json", std::process::id()));
        let mut file = FileTarget::prepare(&path, true).ok()?;
        save(&mut file, plan).ok()?;
        Some(file.to_string())
    });
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
        Failure::ReaderLeft => "the reader left".to_owned(),
        Failure::Unexpected(report) => report.to_string(),
    }
}
