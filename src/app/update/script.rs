//! Recording keys and the mouse to a file, and replaying them.

use crate::app::action::{Mouse, MouseKind};
use crate::app::effect::{Effect, Effects, ExportJob, ExportSubject};
use crate::app::key::Key;
use crate::app::layer::{Confirmed, Layer, Question};
use crate::app::script::{self, Playing, Recording, Step};
use crate::app::state::App;
use lightbay_core::event::Severity;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time from one key of a script to the next: a frame is drawn in between, because many keys act on what is drawn.
const BETWEEN_KEYS: Duration = Duration::from_millis(30);

/// Time after which a wait for the end of runs looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl App {
    /// Requests a check of the file to which keys are recorded. If a recording has ended and is not written yet, writes
    /// it to this file instead.
    pub(super) fn record(&mut self, path: &str, effects: &mut Effects) {
        let path = self.path(path.trim());
        match &mut self.recording {
            Some(recording) if recording.ended => {
                (recording.path, recording.overwrite) = (path, false);
                self.write_recording(effects);
            }
            Some(recording) => {
                let path = recording.path.display();
                let text = format!("keys are being recorded to {path} already; :stop_recording ends it");
                self.say(Severity::Warning, text);
            }
            None => effects.push(Effect::CheckRecording(path)),
        }
    }

    /// Starts recording keys, if the file can be written; asks before an existing file is replaced.
    pub(super) fn recording_checked(&mut self, path: PathBuf, exists: bool, problem: Option<String>) {
        let name = path.display().to_string();
        if let Some(problem) = problem {
            self.say(Severity::Error, format!("keys cannot be recorded to {name}: {problem}"));
        } else if exists {
            self.layers.push(Layer::Confirm(Question {
                text: format!("{name} already exists. Record over it?"),
                meaning: "Its content is replaced when the recording ends.".to_owned(),
                answers: vec!["another name", "record over it"],
                chosen: 0,
                then: vec![Confirmed::Record(path)],
            }));
        } else {
            self.start_recording(path, false);
        }
        self.touch();
    }

    pub(super) fn start_recording(&mut self, path: PathBuf, overwrite: bool) {
        let text = format!(
            "recording keys and mouse to {}; :stop_recording, or the end of the program, writes the file",
            path.display()
        );
        self.recording = Some(Recording::start(path, overwrite, self.now));
        self.say(Severity::Info, text);
    }

    /// Adds a key to the recording.
    pub(super) fn record_key(&mut self, key: Key) {
        let begins = self.layers.is_empty() && self.pending.is_empty();
        let types = self.layers.last().is_some_and(|layer| layer.kind().types());
        let now = self.now;
        if let Some(recording) = self.recording.as_mut().filter(|recording| !recording.ended) {
            recording.add(key, begins, types, now);
        }
    }

    /// Adds a use of the mouse to the recording.
    pub(super) fn record_mouse(&mut self, mouse: Mouse) {
        let continues = matches!(mouse.what, MouseKind::Drag | MouseKind::Release);
        let begins = !continues && self.layers.is_empty() && self.pending.is_empty();
        let now = self.now;
        if let Some(recording) = self.recording.as_mut().filter(|recording| !recording.ended) {
            recording.add_mouse(mouse, begins, now);
        }
    }

    /// Ends the recording and writes the file.
    pub(super) fn stop_recording(&mut self, effects: &mut Effects) {
        let Some(recording) = &mut self.recording else { return };
        if !recording.ended {
            recording.drop_last_action();
            recording.ended = true;
        }
        if recording.inputs() == 0 {
            self.recording = None;
            self.say(Severity::Info, "nothing was recorded; no file was written");
            return;
        }
        self.write_recording(effects);
    }

    fn write_recording(&self, effects: &mut Effects) {
        effects.extend(self.recording_job().map(Effect::Export));
    }

    fn recording_job(&self) -> Option<ExportJob> {
        let recording = self.recording.as_ref()?;
        Some(ExportJob {
            subject: ExportSubject::Text(recording.text()),
            against: None,
            format: "keys".to_owned(),
            settings: Vec::new(),
            path: recording.path.clone(),
            overwrite: recording.overwrite,
        })
    }

    /// Returns the file of a recording that is not written yet, when the program ends.
    pub fn unwritten_keys(&mut self) -> Option<ExportJob> {
        let recording = self.recording.as_mut()?;
        if !recording.ended {
            recording.drop_last_action();
        }
        let job = self.recording_job();
        job.filter(|_| self.recording.as_ref().is_some_and(|recording| recording.inputs() > 0))
    }

    /// Forgets the recording after its file was written.
    pub(super) fn recording_written(&mut self, path: &Path) {
        if self.recording.as_ref().is_some_and(|recording| recording.ended && recording.path == path) {
            self.recording = None;
        }
    }

    /// Returns words for a failure to write a file, if a recording waits for its file.
    pub(super) fn recording_is_kept(&self) -> &'static str {
        if self.recording.as_ref().is_some_and(|recording| recording.ended) {
            "; the recorded keys are kept: :record FILE writes them to another file"
        } else {
            ""
        }
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
            Step::Idle | Step::Key(_) | Step::Typed(_) | Step::Mouse(_) => BETWEEN_KEYS,
        };
        playing.next_at = now + wait;
        if step == Step::Idle && busy {
            return;
        }
        playing.steps.pop_front();
        match step {
            Step::Key(key) => self.press_key(key, effects),
            Step::Typed(character) => self.press_key(Key::char(character), effects),
            Step::Mouse(mouse) => self.mouse(mouse, effects),
            Step::Wait(_) | Step::Idle => {}
        }
    }
}
