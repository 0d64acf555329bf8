//! Signs outside the screen: progress in the title bar or task bar, and the bell at the end of a long run.

use crate::app::effect::{Effect, Effects};
use crate::app::runs::{Run, RunState};
use crate::app::state::App;
use lightbay_core::event::{Event, EventBody};

/// Signs that the user wants; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// `true` if the terminal shows the progress of runs.
    pub progress: bool,
    /// Minimum duration of a run whose end rings the bell, s; 0: no bell.
    pub bell_after_s: u32,
}

/// Progress of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunProgress {
    /// No run is active.
    #[default]
    Idle,
    /// A run without a time limit is active.
    Busy,
    /// A run has used this percentage of its time limit.
    Percent(u8),
}

impl App {
    /// Returns the progress of the newest active run.
    pub(super) fn progress(&self) -> RunProgress {
        let is_working =
            |run: &&Run| matches!(run.state, RunState::Running | RunState::Stopping | RunState::Paused);
        let Some(run) = self.runs.iter().rev().find(is_working) else { return RunProgress::Idle };
        let limit_s =
            self.work.as_ref().and_then(|work| work.now.common.time_limit_s).filter(|limit| *limit > 0.0);
        limit_s.map_or(RunProgress::Busy, |limit_s| {
            // A run may take slightly longer than its limit.
            RunProgress::Percent((self.elapsed_s(run) / limit_s * 100.0).clamp(0.0, 99.0) as u8)
        })
    }

    /// Tells the terminal the progress, if it changed.
    pub(super) fn show_progress(&mut self, effects: &mut Effects) {
        let progress = if self.signs.progress { self.progress() } else { RunProgress::Idle };
        if progress != self.progress_shown {
            self.progress_shown = progress;
            effects.push(Effect::SetProgress(progress));
        }
    }

    /// Rings the bell if the event is the end of a long run of this process.
    pub(super) fn ring(&self, event: &Event, effects: &mut Effects) {
        let long_s = f64::from(self.signs.bell_after_s);
        if let EventBody::Done(_) = event.body
            && long_s > 0.0
            && event.elapsed_s >= long_s
        {
            effects.push(Effect::Bell);
        }
    }
}
