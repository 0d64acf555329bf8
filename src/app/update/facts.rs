//! Facts from outside: opened files, events of runs, results of work on other threads.

use crate::app::action::{Fact, Heard, Opened, Submitted};
use crate::app::effect::{Effect, Effects, Remembered};
use crate::app::layer::{Confirmed, Layer, Preview, Question, TextView};
use crate::app::pane::{PaneId, PaneInfo};
use crate::app::plans::{PlanEntry, PlanRef, PlanTable, Shown};
use crate::app::runs::{Run, RunState};
use crate::app::source::SourceScenario;
use crate::app::state::{App, HELD_CAPACITY};
use crate::app::update::sentences::{before_and_after, sentence};
use crate::app::work::Work;
use lightbay_core::event::{Bound, Done, EventBody, Incumbent, RunId, Severity};
use lightbay_core::quantity::file_size;
use lightbay_core::standing::Standing;
use lightbay_engines::{AnyPlan, other_question};
use lightbay_widgets::number;
use std::fmt::Write as _;

impl App {
    pub(super) fn fact(&mut self, fact: Fact, effects: &mut Effects) {
        match fact {
            Fact::Opened(opened) => self.opened(*opened, effects),
            Fact::OpenFailed { source, problems } => self.open_failed(&source, problems),
            Fact::Recent(recent) => {
                self.start.recent = Some(recent);
                self.say_warnings();
                self.dirty.frame = true;
            }
            Fact::Submitted(submitted) => self.submitted(submitted),
            Fact::Refused { method, problems } => {
                self.say(Severity::Error, format!("{method} was not started: {}", problems.join("; ")));
                self.touch();
            }
            Fact::Event(heard) => {
                self.ring(&heard.event, effects);
                self.event(heard);
            }
            Fact::RemoteEvents(news) => self.hear_elsewhere(news),
            Fact::Lost { merged, dropped } => {
                self.lost = (merged, dropped);
                self.dirty.frame = true;
            }
            Fact::Evaluated { key, previews } => self.evaluated(key, previews, effects),
            Fact::Checked { number, standing, lines } => self.checked(number, standing, lines),
            Fact::PlanLoaded { number, plan } => self.plan_loaded(number, plan),
            Fact::Kept { number, plan, source } => {
                let entry = entry_of(number, &plan, None, &source);
                self.plans.add(entry);
                self.plans.shown = Shown::Chosen(number);
                self.session.used = true;
                self.to_remember = true;
                self.say(
                    Severity::Info,
                    format!("kept as plan {number}; {{follow_best}} shows the best plan again"),
                );
                self.touch();
            }
            Fact::IsFolder(path) => self.list_folder(&path),
            Fact::SweepTable { source, table } => self.sweep_table(&source, table),
            Fact::SweepRow { key, row } => self.sweep_row(key, *row),
            Fact::SweepEnded { key, outcome } => self.sweep_ended(key, outcome),
            Fact::Exported { path, bytes, files, rollbacks, remarks } => {
                self.recording_written(&path);
                for remark in remarks {
                    self.say(Severity::Info, remark);
                }
                let size = file_size(bytes);
                let path = path.display();
                let text = match (files, rollbacks) {
                    (1, _) => format!("written: {path} ({size})"),
                    (_, 0) => format!("written {files} files ({size}): {path}"),
                    _ => format!(
                        "written {files} files ({size}), including {rollbacks} for the rollback: {path}"
                    ),
                };
                self.say(Severity::Info, text);
                self.touch();
            }
            Fact::InTheWay(job) => {
                self.layers.push(Layer::Confirm(Question {
                    text: format!("{} already exists. Overwrite it?", job.path.display()),
                    meaning: "Its current content will be lost.".to_owned(),
                    answers: vec!["keep it", "write over it"],
                    chosen: 0,
                    then: vec![Confirmed::Overwrite(job)],
                }));
                self.touch();
            }
            Fact::Failed(text) => {
                self.say(Severity::Error, format!("{text}{}", self.recording_is_kept()));
                self.touch();
            }
            Fact::Saving(saving) => self.saving(saving, effects),
            Fact::Note(severity, text) => self.say(severity, text),
            Fact::RecordingChecked { path, exists, problem } => {
                self.recording_checked(path, exists, problem);
            }
            Fact::Script { name, text } => self.script_read(name, &text),
            Fact::Folder(listing) => self.listed(listing),
            Fact::Terminal(abilities) => {
                self.look.depth = abilities.depth;
                self.look.background = abilities.background;
                self.look.refresh();
                self.touch();
            }
            Fact::Resumed => {
                self.touch();
                effects.push(Effect::Repaint);
            }
            Fact::Hangup { code } => self.leave(code, effects),
        }
    }

    /// Switches to the opened scenario. Runs of the previous scenario are told to stop; their plans are already saved.
    fn opened(&mut self, opened: Opened, effects: &mut Effects) {
        let keys = self.start.end_opening();
        self.start.problems.clear();
        let panes = (self.options.panes)(opened.scenario.kind());
        let mut work = match Work::open(&opened.source, opened.scenario, panes) {
            Ok(work) => work,
            Err(problem) => return self.open_failed(&opened.source, vec![problem.to_string()]),
        };
        effects.extend(self.runs.active().map(|run| Effect::StopRun(run.id)));
        self.runs.clear();
        self.sweeps.clear();
        self.heard_at.clear();
        self.held.clear();
        self.held_plans.clear();
        self.frozen = false;
        self.loading.clear();
        self.layers.clear();
        self.panes.clear();
        self.chosen_in.clear();
        self.plans = PlanTable::new(work.objective.sense, &work.now.sha256);
        self.session = opened.session;
        self.focus = crate::app::state::Focus {
            pane: panes.first().map_or(PaneId::Params, PaneInfo::id),
            large: PaneId::Kind(1),
            pinned: false,
            zoomed: false,
            side: self.focus.side,
        };
        for entry in opened.plans {
            self.plans.add(entry);
        }
        let mut sweeps = Vec::new();
        if let Some(mut remembered) = opened.remembered {
            sweeps = std::mem::take(&mut remembered.sweeps);
            self.restore(&mut work, *remembered);
        }
        if let Some(before) = self.work.take().filter(|_| self.session.renamed) {
            work.continue_from(before);
        }
        let name = lightbay_core::problem::printable(work.now.scenario.name());
        self.work = Some(work);
        self.opened += 1;
        self.restore_sweeps(sweeps);
        for heard in opened.events {
            self.hear(&heard, true);
        }
        let plans = self.plans.rows().len();
        let text = match plans {
            0 => format!("{name} is open; {{solve_warm}} solves, {{edit}} edits, {{help}} helps"),
            1 => format!("{name} is open with one plan; {{solve_warm}} continues from it"),
            _ => format!("{name} is open with {plans} plans; {{solve_warm}} continues from the best plan"),
        };
        self.say(Severity::Info, text);
        self.settle_unfinished();
        self.forget_lost_plans();
        if let Some(other) = self.session.beside.clone() {
            let text = format!(
                "{other}; new runs and plans appear here; your first plan here starts a session of its own"
            );
            self.say(Severity::Warning, text);
        }
        if let Some(problem) = &self.session.failing {
            let text =
                format!("{problem}; saving is tried again every second; :save_to FOLDER saves elsewhere");
            self.say(Severity::Error, text);
        }
        for (severity, text) in opened.notes {
            self.say_to_read(severity, text);
        }
        self.say_warnings();
        self.to_remember = true;
        self.touch();
        if let Some(method) = opened.solve {
            self.solve((!method.is_empty()).then_some(method.as_str()), true, effects);
        }
        for key in keys {
            self.press_key(key, effects);
        }
    }

    fn restore(&mut self, work: &mut Work, remembered: Remembered) {
        let Remembered { source, now, solved, marked, baseline, shown, pane, labels, .. } = remembered;
        self.plans.labels = labels;
        self.plans.started_from = remembered.started_from;
        work.source = source;
        work.source_scenario = remembered.source_scenario;
        work.restore(now, solved);
        self.plans.scenario_sha256.clone_from(&work.reference().sha256);
        for number in marked {
            if let Some(entry) = self.plans.get_mut(number) {
                entry.marked = true;
            }
        }
        self.plans.baseline = baseline.filter(|number| self.plans.get(*number).is_some());
        let is_usable = |number: &u64| self.plans.get(*number).is_some_and(|entry| entry.refused.is_none());
        if let Some(number) = shown.filter(is_usable) {
            self.plans.shown = Shown::Chosen(number);
        }
        if work.panes.iter().any(|info| info.number == pane) {
            self.focus.pane = PaneId::Kind(pane);
            self.focus.large = self.focus.pane;
        }
    }

    /// Returns the state of the screen that a session saves; `None` if nothing is open.
    pub(super) fn remembered(&self) -> Option<Remembered> {
        let work = self.work.as_ref()?;
        Some(Remembered {
            source: work.source.clone(),
            source_scenario: SourceScenario::Opened,
            now: work.now.clone(),
            solved: work.solved.clone(),
            marked: self.plans.marked().iter().map(|entry| entry.number).collect(),
            baseline: self.plans.baseline,
            shown: match self.plans.shown {
                Shown::Chosen(number) => Some(number),
                Shown::Best => None,
            },
            pane: match self.focus.large {
                PaneId::Kind(number) => number,
                _ => 1,
            },
            best: self.plans.best().and_then(|entry| Some((entry.number, entry.plan.clone()?))),
            findings: self
                .plans
                .iter()
                .filter(|entry| entry.status.is_some())
                .filter_map(|entry| Some((entry.number, entry.standing.findings(&entry.scenario_sha256)?)))
                .collect(),
            sweeps: self.sweeps.saved(),
            labels: self.plans.labels.clone(),
            started_from: self.plans.started_from.clone(),
        })
    }

    fn open_failed(&mut self, source: &str, problems: Vec<String>) {
        self.start.end_opening();
        // The problems may begin with the name that the message begins with.
        let prefix = format!("{source}: ");
        let short = |problem: &String| problem.strip_prefix(&prefix).unwrap_or(problem).to_owned();
        let problems: Vec<String> = problems.iter().map(short).collect();
        self.say(Severity::Error, format!("{source} could not be opened: {}", problems.join("; ")));
        if self.work.is_some() && problems.len() > 1 {
            let title = format!("{source} could not be opened");
            self.layers.push(Layer::Text(TextView { title, lines: problems, offset: 0 }));
        } else {
            self.start.problems = problems;
        }
        self.touch();
    }

    fn submitted(&mut self, submitted: Submitted) {
        let Submitted { run, method, scenario_sha256, queued, hot_start } = submitted;
        self.session.used = true;
        if let Some(number) = hot_start {
            self.plans.started_from.insert(run, number);
        }
        // The run may have reported something already.
        if self.runs.get(run).is_none() {
            let state = if queued { RunState::Queued } else { RunState::Running };
            self.runs.insert(Run::new(run, &method, &scenario_sha256, state));
            self.heard_at.insert(run, self.now);
        }
        self.dirty.frame = true;
    }

    /// Processes an event of a run, or holds it while the display is frozen. If a held event ends the run, the state of
    /// the run is set at once, because some keys work only while a run is active.
    pub(super) fn event(&mut self, heard: Heard) {
        if !self.frozen {
            self.hear(&heard, false);
            self.dirty.frame = true;
            return;
        }
        if let (EventBody::Done(_), Some(run)) = (&heard.event.body, self.runs.get_mut(heard.event.run)) {
            run.state = RunState::Ended;
        }
        if self.held.len() == HELD_CAPACITY {
            // Drops the oldest progress event or, if there is none, the oldest event.
            let victim = self.held.iter().position(|held| held.event.body.is_progress()).unwrap_or(0);
            self.held.remove(victim);
            self.lost.1 += 1;
        }
        self.held.push_back(heard);
        self.dirty.clock = true;
    }

    /// Resumes the display after it was frozen.
    pub(super) fn unfreeze(&mut self) {
        self.frozen = false;
        for plan in std::mem::take(&mut self.held_plans) {
            self.add_remote(plan);
        }
        while let Some(heard) = self.held.pop_front() {
            self.hear(&heard, false);
        }
    }

    fn hear(&mut self, heard: &Heard, replayed: bool) {
        let event = &heard.event;
        if self.runs.get(event.run).is_none() {
            let mut run = Run::new(event.run, &event.method, "", RunState::Running);
            run.replayed = replayed;
            self.runs.insert(run);
        }
        let expected = |run: &Run| matches!(run.state, RunState::Stopping | RunState::Queued);
        let stopping = self.runs.get(event.run).is_some_and(expected);
        let before = self.runs.get(event.run).and_then(|run| match &event.body {
            // Each type of bound is tracked separately.
            EventBody::Bound(Bound { only: Some(_), .. }) => run.partial.as_ref().map(|bound| bound.value),
            _ => run.bound,
        });
        if let Some(run) = self.runs.get_mut(event.run) {
            run.hear(event);
        }
        if !replayed {
            self.heard_at.insert(event.run, self.now);
            match &event.body {
                EventBody::Incumbent(incumbent) => self.hear_plan(heard, incumbent),
                EventBody::Done(done) => self.hear_done(heard, done),
                _ => {}
            }
        }
        let objective = self.work.as_ref().map(|work| work.objective);
        let said = objective.and_then(|objective| sentence(event, before, heard.plan, stopping, objective));
        if let Some((severity, mut text)) = said {
            let is_again = |entry: &PlanEntry| entry.found_again.contains(&event.run);
            if let (EventBody::Done(_), Some(number)) = (&event.body, heard.plan)
                && self.plans.get(number).is_some_and(is_again)
            {
                let _ = write!(text, "; identical to plan {number}, so it is not kept twice");
            }
            let report = self.runs.get(event.run).and_then(|run| run.hot_start.as_ref());
            if let (EventBody::Done(_), Some(report)) = (&event.body, report) {
                // The last line of a run stays on the screen: it also shows the start of the run.
                let figures = before_and_after(report, |value| {
                    objective
                        .map_or_else(String::new, |objective| number::grouped(&objective.with_unit(value)))
                });
                let _ = write!(text, "; hot start {}{}", report.fate.word(), figures);
            }
            // All lines use the clock of the program; lines from before its start have no time.
            let at_s = if replayed { f64::NAN } else { self.uptime_s() };
            self.log.add(at_s, severity, &event.method, Some(event.run), text);
        }
        if let EventBody::Done(_) = &event.body {
            self.runs.forget_unstarted(event.run);
        }
    }

    fn hear_plan(&mut self, heard: &Heard, incumbent: &Incumbent) {
        let (Some(number), Some(plan)) = (heard.plan, incumbent.plan.as_ref().and_then(AnyPlan::of)) else {
            return;
        };
        let plan = PlanRef(plan);
        let mut entry = entry_of(number, &plan, Some((heard.event.run, incumbent.number)), &incumbent.source);
        entry.secondary = incumbent.secondary;
        entry.status = None;
        entry.at_s = heard.event.elapsed_s;
        self.take_readable(number, &plan);
        self.plans.add(entry);
        self.to_remember = true;
    }

    /// Puts a plan that a run found in the place of the same plan if that plan could not be read from its file, which is
    /// then written again.
    fn take_readable(&mut self, number: u64, plan: &PlanRef) {
        let Some(entry) = self.plans.get_mut(number).filter(|entry| entry.refused.is_some()) else { return };
        let found = entry_of(number, plan, entry.origin, &entry.source);
        let (marked, secondary) = (entry.marked, entry.secondary);
        *entry = PlanEntry { marked, secondary, found_again: entry.found_again.clone(), ..found };
        self.loading.remove(&number);
        self.plans.to_save.push(number);
        let text = format!("a run found plan {number}, so its file is written again");
        self.say(Severity::Info, text);
    }

    /// Writes the files of plans that replaced refused files.
    pub(super) fn save_replaced(&mut self, effects: &mut Effects) {
        for number in std::mem::take(&mut self.plans.to_save) {
            let plan = self.plans.get(number).and_then(|entry| entry.plan.clone());
            effects.extend(plan.map(|plan| Effect::SavePlan { number, plan }));
        }
    }

    fn hear_done(&mut self, heard: &Heard, done: &Done) {
        let (Some(number), Some(plan)) = (heard.plan, done.plan.as_ref().and_then(AnyPlan::of)) else {
            return;
        };
        let plan = PlanRef(plan);
        self.take_readable(number, &plan);
        let of_another = |entry: &PlanEntry| entry.origin.is_none_or(|(run, _)| run != heard.event.run);
        if self.plans.get(number).is_some_and(of_another) && self.plans.find_again(number, heard.event.run) {
            self.to_remember = true;
            return;
        }
        let known = self
            .plans
            .get(number)
            .map(|entry| (entry.origin, entry.source.clone(), entry.secondary, entry.marked, entry.at_s));
        let mut entry = entry_of(number, &plan, Some((heard.event.run, 0)), "end of the run");
        entry.at_s = heard.event.elapsed_s;
        if let Some((origin, source, secondary, marked, at_s)) = known {
            entry = PlanEntry { origin, source, secondary, at_s, marked, ..entry };
        }
        self.plans.add(entry);
        self.to_remember = true;
    }

    fn evaluated(&mut self, key: u64, mut previews: Vec<Preview>, effects: &mut Effects) {
        if self.previewed(key, &previews) {
            return;
        }
        let Some(Layer::EditCell(edit)) =
            self.layers.iter_mut().find(|layer| matches!(layer, Layer::EditCell(edit) if edit.key == key))
        else {
            return;
        };
        edit.waiting = false;
        let value = |preview: &Preview| {
            preview.plan.as_ref().map_or(f64::INFINITY, |plan| plan.0.header().objective.value)
        };
        let sense = self.work.as_ref().map_or(lightbay_core::kind::Sense::Min, |work| work.objective.sense);
        previews.sort_by(|a, b| {
            let order = value(a).total_cmp(&value(b));
            let failed = a.plan.is_err().cmp(&b.plan.is_err());
            failed.then(if sense == lightbay_core::kind::Sense::Min { order } else { order.reverse() })
        });
        edit.problem = match previews.first() {
            // There is only one list, so the message does not name it.
            Some(Preview { plan: Err(problem), .. }) => {
                let list = format!("{}: ", edit.cells.target.name());
                let lines = problem.lines().map(|line| line.strip_prefix(&list).unwrap_or(line));
                lines.collect::<Vec<_>>().join("; ")
            }
            _ => String::new(),
        };
        edit.previews = previews;
        let is_accepted = std::mem::take(&mut edit.is_accepted);
        self.touch();
        if is_accepted {
            self.accept_cell(effects);
        }
    }

    fn checked(&mut self, number: u64, standing: Option<Standing>, lines: Vec<String>) {
        let passed = standing.is_some();
        if let (Some(standing), Some(entry)) = (standing, self.plans.get_mut(number))
            && entry.status.is_some()
            && (standing.is_exact() || !entry.standing.is_exact())
        {
            entry.standing = standing;
            self.to_remember = true;
        }
        let first = lines.first().cloned().unwrap_or_default();
        let severity = if passed { Severity::Info } else { Severity::Error };
        self.say(severity, format!("plan {number}: {first}"));
        let title = format!("Check of plan {number}: {}", if passed { "passed" } else { "FAILED" });
        self.layers.push(Layer::Text(TextView { title, lines, offset: 0 }));
        self.touch();
    }

    fn plan_loaded(&mut self, number: u64, plan: Result<PlanRef, String>) {
        self.loading.remove(&number);
        match plan {
            Ok(plan) => {
                if let Some(entry) = self.plans.get_mut(number) {
                    entry.read(plan);
                }
            }
            Err(problem) => {
                let refusal = self.plans.get_mut(number).and_then(|entry| {
                    entry.refuse(problem);
                    entry.refusal()
                });
                if self.plans.shown == Shown::Chosen(number) {
                    self.plans.shown = Shown::Best;
                }
                // Another request would fail too.
                self.loading.insert(number);
                if let Some(refusal) = refusal {
                    self.say(Severity::Error, refusal);
                }
            }
        }
        self.dirty.frame = true;
    }
}

/// Makes the row of a plan that is in memory.
pub fn entry_of(number: u64, plan: &PlanRef, origin: Option<(RunId, u64)>, source: &str) -> PlanEntry {
    let header = plan.0.header();
    PlanEntry {
        number,
        origin,
        other_question: other_question(&header.kind, &header.method),
        method: header.method,
        source: source.to_owned(),
        value: header.objective.value,
        secondary: f64::INFINITY,
        metrics: header.metrics,
        status: Some(header.status),
        standing: plan.0.standing(),
        scenario_sha256: header.provenance.scenario_sha256,
        at_s: header.provenance.elapsed_s,
        marked: false,
        superseded: false,
        found_again: Vec::new(),
        refused: None,
        plan: Some(plan.clone()),
    }
}
