//! Starting, stopping and pausing runs.

use crate::app::effect::{Effect, Effects, RunRequest};
use crate::app::plans::PlanEntry;
use crate::app::runs::{Run, RunState};
use crate::app::state::{App, LATE_STOP, LEAVE_WINDOW};
use lightbay_core::event::{RunId, Severity};
use lightbay_core::problem::suggestion;

impl App {
    /// Starts a method with the current parameters, in parallel with active runs. A run of the same method with other
    /// parameters is stopped.
    pub(super) fn solve(&mut self, method: Option<&str>, warm: bool, effects: &mut Effects) {
        self.auto_at = None;
        if let Some(refused) = self.refused.take() {
            let text = format!(
                "{refused}; it is not in the scenario: press {{solve_warm}} again to solve without it"
            );
            self.say(Severity::Warning, text);
            return;
        }
        let Some(work) = &mut self.work else { return };
        let name = method.unwrap_or(&work.now.method).to_owned();
        let Some(info) = work.method(&name) else {
            let names: Vec<&str> = work.methods.iter().map(|method| method.name).collect();
            let remedy = suggestion(&name, &names);
            self.say(Severity::Error, format!("'{name}' is not a method; {remedy}"));
            return;
        };
        let takes_plans = info.hot_start;
        let changed = work.changed_for(&name);
        let sha256 = work.now.sha256.clone();
        let running = self.runs.active().find(|run| run.method == name && run.state != RunState::Stopping);
        if let Some(running) = running
            && warm
            && !changed
            && running.scenario_sha256 == sha256
        {
            let word =
                if running.state == RunState::Paused { "is paused with" } else { "is already running with" };
            let way = if running.state == RunState::Paused {
                "{pause_solve} resumes"
            } else {
                "{stop_solve} stops"
            };
            self.say(
                Severity::Info,
                format!(
                    "{name} {word} exactly these parameters; {way} it, {{solve_cold}} starts it from scratch"
                ),
            );
            return;
        }
        let replace = running.is_some();
        let start = if warm && takes_plans { self.best_known(&sha256) } else { None };
        let start = start
            .and_then(|entry| Some((entry.number, entry.plan.clone()?, entry.scenario_sha256 == sha256)));
        let Some(work) = &mut self.work else { return };
        let changes: Vec<String> = work
            .rows()
            .into_iter()
            .filter(super::super::work::FormRow::changed)
            .map(|row| row.name)
            .collect();
        let request = RunRequest {
            scenario: work.now.scenario.clone(),
            scenario_sha256: sha256.clone(),
            method: name.clone(),
            params: work.now.params_of(&name),
            common: work.now.common,
            hot_start: start.as_ref().map(|(number, plan, _)| (*number, plan.clone())),
            replace,
        };
        work.note_solved();
        self.plans.scenario_sha256 = sha256;
        self.plans.shown = crate::app::plans::Shown::Best;
        self.to_remember = true;
        let mut text = match &start {
            Some((number, _, true)) => format!("{name} starts from plan {number}"),
            Some((number, _, false)) => {
                format!("{name} starts from plan {number}, carried over to the changed scenario")
            }
            None if !warm => format!("{name} starts from scratch"),
            None if !takes_plans => format!("{name} starts; it does not accept a hot start"),
            None => format!("{name} starts; there is no plan to start from yet"),
        };
        if !changes.is_empty() && changed {
            text = format!("{text}; changed: {}", changes.join(", "));
        }
        if replace {
            text.push_str("; the previous run is stopped");
        }
        self.say(Severity::Info, text);
        effects.push(Effect::StartRun(request));
    }

    /// Makes the table of plans show the plans of the present scenario; if it has none, the plans of the newest solve.
    pub(super) fn follow_scenario(&mut self) {
        let Some(work) = &self.work else { return };
        let now = &work.now.sha256;
        let has_plan =
            self.plans.iter().any(|entry| entry.scenario_sha256 == *now && entry.refused.is_none());
        let sha256 = if has_plan { now } else { &work.reference().sha256 };
        if self.plans.scenario_sha256 != *sha256 {
            self.plans.scenario_sha256.clone_from(sha256);
            self.to_remember = true;
            self.touch();
        }
    }

    /// Returns the plan for a hot start: the best plan of the present scenario; if there is none, the best plan of the
    /// scenario of the displayed plan.
    fn best_known(&self, sha256: &str) -> Option<&PlanEntry> {
        self.plans.best_of(sha256).or_else(|| {
            let shown = self.plans.shown()?;
            self.plans.best_of(&shown.scenario_sha256)
        })
    }

    /// Tells the selected runs to stop.
    pub(super) fn stop(&mut self, effects: &mut Effects) {
        let runs: Vec<RunId> = self.meant_runs().iter().map(|run| run.id).collect();
        let of = |run: &RunId| self.runs.get(*run);
        if runs.iter().filter_map(of).all(|run| run.state == RunState::Stopping) {
            let text: Vec<String> = runs.iter().filter_map(of).map(|run| self.stop_awaited(run)).collect();
            self.say(Severity::Info, text.join("; "));
            return;
        }
        let names: Vec<String> =
            runs.iter().filter_map(of).map(|run| format!("{}{}", run.method, standing(run))).collect();
        self.tell_to_stop(&runs, effects);
        self.say(Severity::Info, format!("stopping {}; the best plan is kept", names.join(", ")));
    }

    fn tell_to_stop(&mut self, runs: &[RunId], effects: &mut Effects) {
        for id in runs {
            let elapsed_s = self.runs.get(*id).map_or(0.0, |run| self.elapsed_s(run));
            if let Some(run) = self.runs.get_mut(*id) {
                run.ask_to_stop(elapsed_s);
            }
            effects.push(Effect::StopRun(*id));
        }
    }

    /// Returns the sentence about a run that was told to stop and is still active.
    fn stop_awaited(&self, run: &Run) -> String {
        let waited = self.stopping_s(run).unwrap_or(0.0);
        let why = match run.stage() {
            Some(stage) => format!("its solver is in the stage \"{stage}\", which may not react to a stop"),
            None => "it continues to its next checkpoint".to_owned(),
        };
        format!(
            "{} has not stopped {waited:.0} s after the request: {why}. Its best plan is kept; press {{interrupt}} twice to quit",
            run.method
        )
    }

    /// Warns, once per run, about each run that is still active although it was told to stop some time ago.
    pub(super) fn note_late_stops(&mut self) {
        let is_late = |run: &&Run| {
            !run.stops_late && self.stopping_s(run).is_some_and(|waited| waited >= LATE_STOP.as_secs_f64())
        };
        let late: Vec<(RunId, String)> =
            self.runs.active().filter(is_late).map(|run| (run.id, self.stop_awaited(run))).collect();
        for (id, text) in late {
            if let Some(run) = self.runs.get_mut(id) {
                run.stops_late = true;
            }
            self.say(Severity::Warning, text);
        }
    }

    /// Pauses active runs; if there are none, resumes paused ones.
    pub(super) fn toggle_pause(&mut self, effects: &mut Effects) {
        let of = |app: &Self, state| -> Vec<_> {
            app.meant_runs().iter().filter(|run| run.state == state).map(|run| run.id).collect()
        };
        let working = of(self, RunState::Running);
        let paused = !working.is_empty();
        let runs = if paused { working } else { of(self, RunState::Paused) };
        if runs.is_empty() {
            self.say(Severity::Info, "nothing to pause: the solve is waiting or stopping");
            return;
        }
        for id in runs {
            let elapsed_s = self.runs.get(id).map(|run| self.elapsed_s(run));
            if let (Some(run), Some(elapsed_s)) = (self.runs.get_mut(id), elapsed_s) {
                run.state = if paused { RunState::Paused } else { RunState::Running };
                run.elapsed_s = elapsed_s;
                self.heard_at.insert(id, self.now);
            }
            effects.push(Effect::PauseRun { run: id, paused });
        }
        self.say(Severity::Info, if paused { "paused; {pause_solve} resumes" } else { "resumed" });
    }

    /// Stops active runs; the second time, quits. Quits at once if no run is active.
    pub(super) fn interrupt(&mut self, effects: &mut Effects) {
        let again =
            self.interrupted_at.is_some_and(|at| self.now.saturating_duration_since(at) <= LEAVE_WINDOW);
        if again {
            self.leave(130, effects);
        } else if self.runs.is_busy() || self.sweeps.is_busy() {
            self.stop_sweep(effects);
            self.interrupted_at = Some(self.now);
            let runs: Vec<RunId> = self.runs.active().map(|run| run.id).collect();
            self.tell_to_stop(&runs, effects);
            self.say(
                Severity::Info,
                "stopping, the best plan is kept; {interrupt} again within two seconds quits",
            );
        } else {
            self.leave(0, effects);
        }
    }

    /// Switches the automatic mode.
    pub(super) fn toggle_auto(&mut self) {
        self.auto = !self.auto;
        self.auto_at = None;
        let text = if self.auto {
            "every change is solved after 0.3 s"
        } else {
            "changes are solved when you press {solve_warm}"
        };
        self.say(Severity::Info, text);
    }
}

/// Returns the stage of a run's solver in brackets, to append to the run's name; empty if the stage is unknown.
fn standing(run: &Run) -> String {
    run.stage().map_or_else(String::new, |stage| format!(" ({stage})"))
}
