//! Runs of another process that has the displayed session open.

use crate::app::action::{AtWork, RemoteEvents};
use crate::app::plans::PlanEntry;
use crate::app::runs::{Run, RunState};
use crate::app::state::App;
use lightbay_core::event::{EndStatus, RunId, Severity};
use std::collections::BTreeSet;

impl App {
    /// Sets the state of runs of a saved session that had not ended when its log was read: runs of a process that still
    /// has the session open are active in that process, all other runs were cut off.
    pub(super) fn settle_unfinished(&mut self) {
        let unfinished = self.runs.iter().filter(|run| run.replayed && run.state.is_active());
        let unfinished: Vec<RunId> = unfinished.map(|run| run.id).collect();
        for id in unfinished {
            let elsewhere = self.session.elsewhere.clone().filter(|elsewhere| elsewhere.runs.contains(&id));
            if let Some(elsewhere) = elsewhere {
                self.set_state(id, RunState::Elsewhere);
                let text = format!("run {id} is running in {}; you see its progress here", elsewhere.holder);
                self.say(Severity::Info, text);
            } else {
                self.set_state(id, RunState::CutOff);
                let text = format!(
                    "run {id} was cut off when the program ended; {{solve_warm}} continues from the best plan"
                );
                self.say(Severity::Warning, text);
            }
        }
    }

    /// Clears the figures of runs of a saved session whose plan is not in the table because its file is damaged or gone:
    /// without the plan, they claim nothing.
    pub(super) fn forget_lost_plans(&mut self) {
        let plans = &self.plans;
        let lost = self.runs.iter().filter(|run| {
            run.replayed
                && run.state == RunState::Ended
                && run.done.as_ref().is_some_and(|done| done.value.is_some())
                && plans.newest_of(run.id).is_none()
        });
        let lost: Vec<RunId> = lost.map(|run| run.id).collect();
        for id in lost {
            if let Some(run) = self.runs.get_mut(id) {
                (run.best, run.bound, run.partial) = (None, None, None);
                if let Some(done) = &mut run.done {
                    done.status = EndStatus::NoPlan;
                    (done.value, done.bound) = (None, None);
                }
            }
            let text = format!("the plan of run {id} is damaged or gone, so its figures do not count");
            self.say_to_read(Severity::Warning, text);
        }
    }

    /// Processes events and plans of another process. If that process has closed the session, marks its other runs as cut
    /// off.
    pub(super) fn hear_elsewhere(&mut self, news: RemoteEvents) {
        if news.key != self.session.key {
            return;
        }
        match (&news.holder, &mut self.session.elsewhere) {
            (Some(holder), Some(elsewhere)) => elsewhere.holder.clone_from(holder),
            (Some(holder), none) => {
                *none = Some(AtWork { holder: holder.clone(), runs: BTreeSet::new() });
            }
            (None, _) => {}
        }
        for plan in news.plans {
            if self.frozen {
                self.held_plans.push(plan);
            } else {
                self.add_remote(plan);
            }
        }
        for heard in news.events {
            let run = heard.event.run;
            match self.runs.get(run) {
                Some(known) if known.state != RunState::Elsewhere => continue,
                Some(_) => {}
                None => {
                    let run = Run::new(run, &heard.event.method, "", RunState::Elsewhere);
                    self.runs.insert(run);
                }
            }
            self.event(heard);
        }
        self.dirty.frame = true;
        if news.holder.is_none() {
            self.session.elsewhere = None;
            let left = self.runs.iter().filter(|run| run.state == RunState::Elsewhere);
            let left: Vec<RunId> = left.map(|run| run.id).collect();
            for id in left {
                self.set_state(id, RunState::CutOff);
                let text = format!("run {id} was cut off when the process that executed it ended");
                self.say(Severity::Warning, text);
            }
        }
    }

    /// Adds a plan of another process to the table, or replaces it there.
    pub(super) fn add_remote(&mut self, mut plan: PlanEntry) {
        if let Some(known) = self.plans.get(plan.number) {
            plan.marked = known.marked;
            plan.found_again.clone_from(&known.found_again);
        }
        self.plans.add(plan);
    }

    fn set_state(&mut self, id: RunId, state: RunState) {
        if let Some(run) = self.runs.get_mut(id) {
            run.state = state;
        }
    }
}
