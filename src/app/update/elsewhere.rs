//! Runs of another process that has the displayed session open.

use crate::app::action::RemoteEvents;
use crate::app::runs::RunState;
use crate::app::state::App;
use lightbay_core::event::{EventBody, RunId, Severity};

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
                let text =
                    format!("run {id} was cut off when the program ended; r continues from the best plan");
                self.say(Severity::Warning, text);
            }
        }
    }

    /// Processes events of another process's runs. If that process has closed the session, marks its other runs as cut
    /// off.
    pub(super) fn hear_elsewhere(&mut self, news: RemoteEvents) {
        if news.key != self.session.key {
            return;
        }
        for heard in news.events {
            let run = heard.event.run;
            if self.runs.get(run).is_none_or(|run| run.state != RunState::Elsewhere) {
                continue;
            }
            let ended = matches!(heard.event.body, EventBody::Done(_));
            self.event(heard);
            if ended {
                let text = format!("run {run} ended; open its session again to see the plans that it found");
                self.say(Severity::Info, text);
            }
        }
        if !news.held {
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

    fn set_state(&mut self, id: RunId, state: RunState) {
        if let Some(run) = self.runs.get_mut(id) {
            run.state = state;
        }
    }
}
