//! Sweeps over a knob: starting and stopping them, receiving their points, and setting the knob to a point.

use crate::app::effect::{Effect, Effects, SweepRequest};
use crate::app::pane::{PaneId, PaneInfo};
use crate::app::state::App;
use crate::app::sweeps::{PaneSweeps, SavedSweep, SweepRun, SweepState, suggestion};
use lightbay_core::event::Severity;
use lightbay_core::param::{ParamValue, Setting};
use lightbay_core::problem::{Problems, counted};
use lightbay_core::run::Common;
use lightbay_engines::sweep::{Sweep, SweepRow, Walked};
use lightbay_engines::{AnyScenario, name_param};
use std::sync::Arc;

impl App {
    /// Returns the pane that charts sweeps, if the kind has one.
    pub(super) fn sweep_pane(&self) -> Option<(&'static PaneInfo, &'static PaneSweeps)> {
        self.kind_panes().iter().find_map(|info| Some((info, info.sweeps?)))
    }

    /// Starts a sweep as typed: `knob=values`, and perhaps methods.
    pub(super) fn sweep(&mut self, text: &str, effects: &mut Effects) {
        let Some((info, offered)) = self.sweep_pane() else {
            self.say(Severity::Warning, "this kind has no pane for sweeps; use the command `lightbay sweep`");
            return;
        };
        if let Some(run) = self.sweeps.active() {
            let text = format!("the sweep over {} is still running; {{stop_solve}} stops it", run.knob());
            self.say(Severity::Info, text);
            return;
        }
        match self.asked_sweep(text, offered) {
            Err(problem) => self.say(Severity::Error, problem),
            Ok(sweep) => {
                if let Some(run) = self.sweeps.show_again(&sweep.id()) {
                    let text = format!("these points of the sweep over {} are solved already", run.knob());
                    self.show_newest_sweep();
                    self.focus(info.id());
                    return self.say(Severity::Info, text);
                }
                self.next_key += 1;
                let (key, sweep) = (self.next_key, Arc::new(sweep));
                let Some(work) = &self.work else { return };
                let scenario = &work.now.scenario;
                let run = SweepRun::new(key, text.trim().to_owned(), Arc::clone(&sweep), scenario);
                let (knob, cells) = (run.knob(), counted(sweep.len() as u64, "run", "runs"));
                let mode = offered.knobs.iter().position(|other| *other == knob);
                self.say(Severity::Info, format!("sweep over {knob}: {cells}; {{stop_solve}} stops it"));
                self.sweeps.insert(run);
                self.focus(info.id());
                let state = self.pane_mut(info.id());
                state.mode = mode.unwrap_or(offered.knobs.len()) as u8;
                state.selected = None;
                effects.push(Effect::StartSweep(SweepRequest { key, sweep }));
            }
        }
    }

    pub(super) fn asked_sweep(&self, text: &str, offered: &PaneSweeps) -> Result<Sweep, String> {
        let Some(work) = &self.work else { return Err("nothing is open".to_owned()) };
        self.asked_sweep_from(&work.now.scenario, text, offered)
    }

    fn asked_sweep_from(
        &self,
        scenario: &AnyScenario,
        text: &str,
        offered: &PaneSweeps,
    ) -> Result<Sweep, String> {
        let Some(work) = &self.work else { return Err("nothing is open".to_owned()) };
        let one_line = |problems: Problems| {
            problems.list().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        let (knobs, names): (Vec<&str>, Vec<&str>) =
            text.split_whitespace().partition(|word| word.contains('='));
        let axes: Vec<Setting> = knobs
            .iter()
            .map(|knob| knob.parse::<Setting>().map_err(|problem| problem.to_string()))
            .collect::<Result<_, _>>()?;
        if axes.len() != 1 {
            return Err(
                "give one parameter with its values, such as seq=2048,4096; the command `lightbay sweep` \
                 accepts several"
                    .to_owned(),
            );
        }
        let mut methods: Vec<String> = names
            .iter()
            .flat_map(|name| name.split(','))
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        if methods.is_empty() {
            methods = offered.methods.iter().map(|name| (*name).to_owned()).collect();
        }
        if methods.is_empty() {
            methods.push(work.now.method.clone());
        }
        // Parameters that were changed in the form apply to all methods that have them.
        let swept = axes.first().map_or("", |axis| axis.name.as_str());
        let changed = methods.iter().flat_map(|name| work.now.params_of(name));
        let mut settings: Vec<Setting> = Vec::new();
        for (name, value) in changed {
            if name != swept && settings.iter().all(|setting| setting.name != name) {
                settings.push(Setting { name, index: None, text: value.to_string() });
            }
        }
        let Common { time_limit_s, gap, .. } = work.now.common;
        let sweep = Sweep::of(vec![scenario.clone()]).map_err(|problem| problem.to_string())?;
        let sweep = sweep.methods(&methods).and_then(|sweep| sweep.set(&settings)).map_err(one_line)?;
        // Axes are added last, because an axis over a limit must replace the limit that is set here.
        let seed = (swept != "seed").then_some(work.now.common.seed);
        sweep.limited(time_limit_s, gap, seed).over(&axes).map_err(one_line)
    }

    /// Opens the palette with a sweep over the pane's knob already typed.
    pub(super) fn suggest_sweep(&mut self) {
        let Some((info, offered)) = self.sweep_pane() else { return };
        // Before a sweep, the items of the pane are the knobs that it offers.
        let item =
            self.drawn_pane(info.id()).and_then(|drawn| drawn.chosen).or(self.pane(info.id()).selected);
        let item = item.filter(|_| self.shown_sweep().is_none()).map(|item| item as usize);
        let form = usize::from(self.pane(info.id()).mode);
        let knob = offered.knobs.get(item.unwrap_or(form)).copied();
        let values = knob.and_then(|knob| suggestion(&self.work.as_ref()?.now.scenario, knob));
        let typed = match (knob, values) {
            (Some(knob), values) => format!("sweep {knob}={}", values.unwrap_or_default()),
            (None, _) => "sweep ".to_owned(),
        };
        self.show_palette(&typed);
    }

    /// Sets the knob to the value of the point that is selected.
    pub(super) fn take_point(&mut self, effects: &mut Effects) {
        let Some((info, _)) = self.sweep_pane() else { return };
        let selected =
            self.drawn_pane(info.id()).and_then(|drawn| drawn.chosen).or(self.pane(info.id()).selected);
        let run = self.shown_sweep();
        let found = run.zip(selected).and_then(|(run, cell)| {
            let axis = run.axis()?;
            let at = run.sweep.cell(cell as usize).at;
            let value = axis.values.get(*at.first()?)?;
            Some(Setting { name: axis.info.name.to_string(), index: axis.index, text: value.to_string() })
        });
        match found {
            Some(setting) => self.set(&setting.to_string(), effects),
            None => self.suggest_sweep(),
        }
    }

    /// Returns the sweep that the pane shows.
    pub fn shown_sweep(&self) -> Option<&SweepRun> {
        let (info, offered) = self.sweep_pane()?;
        match offered.knobs.get(usize::from(self.pane(info.id()).mode)) {
            Some(knob) => self.sweeps.over(knob),
            None => self.sweeps.beside(offered.knobs),
        }
    }

    /// Returns `true` if a stop command applies to the sweep: the sweep is active, and no run is active or the pane of
    /// the sweep has the focus.
    pub(super) fn means_sweep(&self) -> bool {
        let here = self.sweep_pane().is_some_and(|(info, _)| info.id() == self.focus.pane);
        self.sweeps.is_busy() && (here || !self.runs.is_busy())
    }

    /// Tells the sweep to stop; its points are kept.
    pub(super) fn stop_sweep(&mut self, effects: &mut Effects) {
        let Some(key) = self.sweeps.active().map(|run| run.key) else { return };
        if let Some(run) = self.sweeps.get_mut(key) {
            run.state = SweepState::Stopping;
        }
        effects.push(Effect::StopSweep);
        self.say(Severity::Info, "stopping the sweep; its points are kept");
    }

    /// Adds the row of a cell that was solved.
    pub(super) fn sweep_row(&mut self, key: u64, row: SweepRow) {
        if let Some(run) = self.sweeps.get_mut(key) {
            run.rows.push(row);
            self.dirty.frame = true;
            self.to_remember = true;
        }
    }

    /// Restores the sweeps of a session. A sweep that the present settings would solve differently is shown once its
    /// settings return.
    pub(crate) fn restore_sweeps(&mut self, saved: Vec<SavedSweep>) {
        self.sweeps.dormant = saved;
        self.wake_sweeps();
        self.show_newest_sweep();
    }

    /// Restores the saved sweeps that the present settings would solve in the same way.
    fn wake_sweeps(&mut self) {
        let Some((_, offered)) = self.sweep_pane() else { return };
        for saved in std::mem::take(&mut self.sweeps.dormant) {
            let Some(mut run) = self.woken(&saved, offered) else {
                self.sweeps.dormant.push(saved);
                continue;
            };
            let walked = if saved.rows.len() < run.sweep.len() { Walked::Stopped } else { Walked::Through };
            (run.rows, run.state) = (saved.rows, SweepState::Ended(walked));
            self.next_key += 1;
            run.key = self.next_key;
            self.sweeps.insert(run);
        }
    }

    /// Returns a saved sweep without its points, if the present settings would solve it in the same way. The swept knob
    /// and the name of the scenario may have other values now.
    fn woken(&self, saved: &SavedSweep, offered: &PaneSweeps) -> Option<SweepRun> {
        let mut scenario = self.work.as_ref()?.now.scenario.clone();
        let name = saved.rows.first().map_or("", |row| row.scenario.as_str());
        if !name.is_empty() && name != scenario.name() {
            scenario = scenario.with(&name_param().name, None, &ParamValue::Text(name.to_owned())).ok()?;
        }
        if let Some(base) = &saved.base {
            let knob = saved.command.split_whitespace().find_map(|word| word.split_once('='))?.0;
            let knob = knob.split('[').next().unwrap_or(knob);
            if scenario.knob(knob).as_ref() != Some(base) {
                scenario = scenario.with(knob, None, base).ok()?;
            }
        }
        let sweep = self.asked_sweep_from(&scenario, &saved.command, offered).ok()?;
        (sweep.id() == saved.id).then(|| SweepRun::new(0, saved.command.clone(), Arc::new(sweep), &scenario))
    }

    /// Makes the pane of sweeps show the newest sweep.
    pub(super) fn show_newest_sweep(&mut self) {
        let Some((info, offered)) = self.sweep_pane() else { return };
        let Some(knob) = self.sweeps.newest().map(SweepRun::knob) else { return };
        let mode = offered.knobs.iter().position(|offered| *offered == knob).unwrap_or(offered.knobs.len());
        let id = info.id();
        self.pane_mut(id).mode = mode as u8;
    }

    /// Records that a sweep ended, and reports its outcome.
    pub(super) fn sweep_ended(&mut self, key: u64, outcome: Result<Walked, String>) {
        let Some(run) = self.sweeps.get_mut(key) else { return };
        let (knob, rows, all) = (run.knob(), run.rows.len(), run.sweep.len());
        let failed = run.rows.iter().filter(|row| row.failed()).count();
        let (severity, text) = match &outcome {
            Ok(Walked::Through) if failed > 0 => (
                Severity::Warning,
                format!("sweep over {knob} is done; {failed} of {all} cells have no plan"),
            ),
            Ok(Walked::Through) => {
                (Severity::Info, format!("sweep over {knob} is done; {{inspect}} on a point sets its value"))
            }
            Ok(Walked::Stopped) => {
                (Severity::Info, format!("sweep over {knob} stopped: {rows} of {all} cells are done"))
            }
            Err(problem) => (Severity::Error, format!("sweep over {knob} was given up: {problem}")),
        };
        run.state = outcome.map_or_else(SweepState::Failed, SweepState::Ended);
        self.say(severity, text);
    }

    /// Notes which sweeps belong to the present scenario; the others are kept, but not shown. A sweep still belongs to the
    /// scenario if only the value of the sweep's knob has changed.
    pub(super) fn note_fitting_sweeps(&mut self) {
        let Some(work) = &self.work else {
            self.sweeps.clear();
            return;
        };
        if self.sweeps.is_compared_with(&work.now) {
            return;
        }
        let is_any_hidden = self.sweeps.note_fitting(&work.now);
        self.wake_sweeps();
        if is_any_hidden {
            self.say(
                Severity::Info,
                "sweeps of the scenario before this change are not shown; they return with its values",
            );
        }
    }
}

/// Returns `true` if the focused pane charts sweeps.
pub fn has_sweeps(app: &App) -> bool {
    matches!(app.focus.pane, PaneId::Kind(_))
        && app.pane_info(app.focus.pane).is_some_and(|info| info.sweeps.is_some())
}
