//! Recording keys to a file, and replaying them.

use crate::app::effect::{Effect, Effects, ExportJob, ExportSubject};
use crate::app::key::Key;
use crate::app::script::{self, Playing, Recording, Step};
use crate::app::state::App;
use lightbay_core::event::Severity;
use std::time::Duration;

/// Time from one key of a script to the next: a frame is drawn in between, because many keys act on what is drawn.
const BETWEEN_KEYS: Duration = Duration::from_millis(30);

/// Time after which a wait for the end of runs looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl App {
    /// Starts recording keys.
    pub(super) fn record(&mut self, path: &str) {
        if let Some(recording) = &self.recording {
            let text =
                format!("keys are being recorded to {} already; :stop_recording ends it", recording.path);
            self.say(Severity::Warning, text);
            return;
        }
        self.recording = Some(Recording::start(path.trim().to_owned(), self.now));
        self.say(Severity::Info, format!("recording keys to {path}; :stop_recording writes the file"));
    }

    /// Adds a key to the recording.
    pub(super) fn record_key(&mut self, key: Key) {
        let begins = self.layers.is_empty() && self.pending.is_empty();
        let types = self.layers.last().is_some_and(|layer| layer.kind().types());
        let now = self.now;
        if let Some(recording) = &mut self.recording {
            recording.add(key, begins, types, now);
        }
    }

    /// Ends the recording and writes the file.
    pub(super) fn stop_recording(&mut self, effects: &mut Effects) {
        let Some(mut recording) = self.recording.take() else { return };
        recording.drop_last_action();
        let count = recording.keys();
        if count == 0 {
            self.say(Severity::Info, "nothing was recorded; no file was written");
            return;
        }
        effects.push(Effect::Export(ExportJob {
            subject: ExportSubject::Text(recording.text()),
            against: None,
            format: "keys".to_owned(),
            settings: Vec::new(),
            path: self.path(&recording.path),
            overwrite: false,
        }));
    }

    /// Requests a script to replay.
    pub(super) fn play_script(&mut self, path: &str, effects: &mut Effects) {
        effects.push(Effect::ReadScript(self.path(path.trim())));
    }

    /// Starts replaying a script that was read.
    pub(super) fn script_read(&mut self, name: String, text: &Result<String, String>) {
        let steps = text.as_ref().map_err(String::clone).and_then(|text| script::parse(text));
        match steps {
            Ok(steps) => {
                self.say(Severity::Info, format!("replaying {name}; any key stops it"));
                self.playing = Some(Playing { name, steps, next_at: self.now + BETWEEN_KEYS });
            }
            Err(problem) => self.say(Severity::Error, format!("{name} cannot be replayed: {problem}")),
        }
    }

    /// Stops the replay after a key of the user. Returns `true` if a replay was stopped.
    pub(super) fn stop_script(&mut self) -> bool {
        let Some(playing) = self.playing.take() else { return false };
        self.say(
            Severity::Info,
            format!("stopped replaying {}; {} steps are left", playing.name, playing.steps.len()),
        );
        true
    }

    /// Executes the steps of the script that are due.
    pub(super) fn play_due(&mut self, effects: &mut Effects) {
        let now = self.now;
        let Some(playing) = self.playing.as_mut().filter(|playing| now >= playing.next_at) else { return };
        let Some(step) = playing.steps.front().copied() else {
            let name = playing.name.clone();
            self.playing = None;
            self.say(Severity::Info, format!("{name} was replayed"));
            return;
        };
        let busy = self.runs.is_busy() || self.sweeps.is_busy() || self.start.opening.is_some();
        let wait = match step {
            Step::Idle if busy => LOOK_AGAIN,
            Step::Wait(time) => time,
            Step::Idle | Step::Key(_) | Step::Typed(_) => BETWEEN_KEYS,
        };
        playing.next_at = now + wait;
        if step == Step::Idle && busy {
            return;
        }
        playing.steps.pop_front();
        match step {
            Step::Key(key) => self.press_key(key, effects),
            Step::Typed(character) => self.press_key(Key::char(character), effects),
            Step::Wait(_) | Step::Idle => {}
        }
    }
}
