//! Executes the effects that the state requested, such as solving, opening and writing files.

use super::{CLOSE_WITHIN, Shell, View};
use crate::app::action::Fact;
use crate::app::effect::{Effect, Effects, Source};
use crate::app::listing::Listing;
use crate::runtime::clipboard::{self, Way};
use crate::runtime::helpers::{self, Finished};
use crate::runtime::kept_look::KeptLook;
use crate::runtime::listing;
use crate::runtime::open_scenario::OpenScenario;
use crate::runtime::recordings;
use crate::runtime::saved_plans::read_plan;
use crate::runtime::sweep_tables;
use crate::runtime::terminal::title;
use lightbay_core::event::Severity;
use std::path::{Path, PathBuf};

impl<V: View> Shell<V> {
    pub(super) fn execute(&mut self, effects: Effects) {
        for effect in effects {
            self.execute_one(effect);
        }
    }

    fn execute_one(&mut self, effect: Effect) {
        match effect {
            Effect::StartRun(request) => {
                tracing::info!(method = request.method, "start");
                let fact = self.current.as_mut().map(|current| current.start(request));
                if let Some(fact) = fact {
                    self.fact(fact);
                }
            }
            Effect::StopRun(run) => self.with_current(|current| current.stop(run)),
            Effect::PauseRun { run, paused } => self.with_current(|current| current.pause(run, paused)),
            Effect::EditRun { run, name, value } => {
                self.with_current(|current| current.edit(run, &name, &value));
            }
            Effect::StartSweep(request) => {
                let sender = self.helpers.sender();
                if let Some(Err(error)) = self.current.as_mut().map(|current| current.sweep(&request, sender))
                {
                    let outcome = Err(format!("no thread could be started: {error}"));
                    self.fact(Fact::SweepEnded { key: request.key, outcome });
                }
            }
            Effect::StopSweep => self.with_current(OpenScenario::stop_sweep),
            Effect::Evaluate(evaluation) => {
                if let Err(error) = self.evaluator.ask(evaluation) {
                    self.fact(Fact::Failed(format!("nothing can be evaluated: {error}")));
                }
            }
            Effect::Check { number, plan, exact } => {
                self.helpers.spawn("check", move || Finished::Fact(helpers::check(number, &plan, exact)));
            }
            Effect::Export(mut job) => {
                job.path = at_home(job.path);
                self.helpers.spawn("export", move || Finished::Fact(helpers::export(&job)));
            }
            Effect::LoadPlan { number } => {
                let place = self.current.as_ref().and_then(|current| current.place_of(number));
                self.helpers.spawn("load", move || {
                    let plan = read_plan(place.as_slice());
                    Finished::Fact(Fact::PlanLoaded { number, plan })
                });
            }
            Effect::KeepPlan { plan, source } => {
                if let Some(number) = self.current.as_mut().map(|current| current.keep(&plan)) {
                    self.fact(Fact::Kept { number, plan, source });
                }
            }
            Effect::SavePlan { number, plan } => {
                self.with_current(|current| current.save_plan(number, &plan));
            }
            Effect::Remember(remembered) => {
                if let Some(current) = &mut self.current {
                    current.remember(&remembered);
                }
            }
            Effect::SaveSession => {
                if let Some(save) = self.current.as_ref().map(OpenScenario::flush) {
                    self.helpers.spawn("save", move || Finished::Fact(save()));
                }
            }
            Effect::SaveTo(folder) => {
                if let Some(save) = self.current.as_mut().map(|current| current.save_to(at_home(folder))) {
                    self.helpers.spawn("save", move || Finished::Fact(save()));
                }
            }
            Effect::Open(Source::File(path)) => self.open(Source::File(at_home(path))),
            Effect::Open(source) => self.open(source),
            Effect::Import { format, paths, settings } => {
                let paths: Vec<PathBuf> = paths.into_iter().map(at_home).collect();
                let (opener, request) = (self.opener.clone(), self.next_request());
                let folder = self.app.options.folder.clone();
                self.helpers.spawn("import", move || {
                    let paths = joined(&paths, &folder);
                    let imported = helpers::import(format.as_deref(), &paths, &settings);
                    let first =
                        paths.first().map_or_else(String::new, |path| path.to_string_lossy().into_owned());
                    let source = format!("import {}", format.as_deref().unwrap_or(&first));
                    let outcome = imported.map(|(format, product, notes)| {
                        let source = format!("import {format}");
                        Some(Box::new(opener.product(product, &source, notes)))
                    });
                    Finished::Opened { source, request, outcome }
                });
            }
            Effect::RenameSession(name) => self.rename_session(name),
            Effect::NoteSession(note) => {
                if let Some(current) = &mut self.current {
                    current.note(&note);
                }
            }
            Effect::KeepFirstSteps => {
                // A small file, written once per user, and before a look that the same key changes.
                let places = &self.opener.places;
                let mut kept = KeptLook::read(places);
                kept.first_steps_seen = true;
                if let Err(problem) = kept.write(places) {
                    tracing::warn!("the first steps will be shown again: {problem}");
                }
            }
            Effect::Copy(text) => self.copy(&text),
            Effect::CopyArea(area) => {
                self.copy_area = Some(area);
                self.app.dirty.frame = true;
                self.app.dirty.urgent = true;
            }
            Effect::CheckRecording(path) => {
                let path = at_home(path);
                self.helpers.spawn("record", move || Finished::Fact(recordings::check(path)));
            }
            Effect::ReadScript(path) => {
                let path = at_home(path);
                self.helpers.spawn("script", move || {
                    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
                    Finished::Fact(Fact::Script { name: path.display().to_string(), text })
                });
            }
            Effect::ListFolder(folder) => {
                self.helpers.spawn("list", move || {
                    let entries = listing::entries(&at_home(folder.clone()));
                    Finished::Fact(Fact::Folder(Listing { folder, entries }))
                });
            }
            Effect::KeepLook => {
                let look = &self.app.look;
                let kept = KeptLook::of(look.palette, look.glyphs, self.base, !self.app.first_steps);
                let places = self.opener.places.clone();
                self.helpers.spawn("look", move || match kept.write(&places) {
                    Ok(()) => Finished::Nothing,
                    Err(problem) => Finished::Fact(Fact::Failed(format!(
                        "the look is not kept for the next start: {problem}"
                    ))),
                });
            }
            Effect::SetTitle(text) => self.control(&title(&text)),
            Effect::SetProgress(progress) => {
                if let Err(error) = self.screen.show_progress(progress) {
                    tracing::error!("cannot write to the terminal: {error}");
                }
            }
            Effect::Bell => self.control("\x07"),
            Effect::CaptureMouse(capture) => {
                if let Err(error) = self.screen.capture_mouse(capture) {
                    tracing::error!("{error}");
                }
            }
            Effect::Repaint => {
                self.screen.repaint();
                self.app.dirty.frame = true;
                self.app.dirty.urgent = true;
            }
            Effect::Suspend => self.suspend(),
            Effect::Quit { code } => self.ending = Some(code),
        }
    }

    fn with_current(&self, act: impl FnOnce(&OpenScenario)) {
        if let Some(current) = &self.current {
            act(current);
        }
    }

    fn next_request(&mut self) -> u64 {
        self.request += 1;
        self.request
    }

    /// Opens a scenario, a plan, a saved session or a preset on another thread.
    pub fn open(&mut self, source: Source) {
        let (opener, request) = (self.opener.clone(), self.next_request());
        if source == Source::Nothing {
            self.put_away(true);
        }
        let closing = std::mem::take(&mut self.closing);
        self.helpers.spawn("open", move || {
            if let Source::File(path) = &source {
                let source = path.display().to_string();
                if let Some(table) = sweep_tables::read(path) {
                    return Finished::Fact(Fact::SweepTable { source, table });
                }
                if path.is_dir() {
                    return Finished::Fact(Fact::IsFolder(source));
                }
            }
            // The session to be opened may be the one that is being closed, so its lock must be released first.
            for before in closing {
                let _ = before.recv_timeout(CLOSE_WITHIN);
            }
            let name = match &source {
                Source::File(path) => path.display().to_string(),
                Source::Preset(name) => format!("preset:{name}"),
                Source::Session(name) => format!("session:{name}"),
                Source::Last => "the last session".to_owned(),
                Source::Nothing => String::new(),
            };
            let outcome = opener.open(&source).map(|bundle| bundle.map(Box::new));
            Finished::Opened { source: name, request, outcome }
        });
    }

    /// Closes the session, gives it another name and opens it again; if it cannot be renamed, opens it under its name.
    fn rename_session(&mut self, wanted: String) {
        let name = self.app.session.name.clone();
        self.put_away(false);
        let (opener, request) = (self.opener.clone(), self.next_request());
        let closing = std::mem::take(&mut self.closing);
        self.helpers.spawn("rename", move || {
            for before in closing {
                let _ = before.recv_timeout(CLOSE_WITHIN);
            }
            let (name, note) = match opener.rename(&name, &wanted) {
                Ok(new) => {
                    let text = format!("session '{name}' is called '{new}' now");
                    (new, (Severity::Info, text))
                }
                Err(problem) => (name, (Severity::Error, format!("the session is not renamed: {problem}"))),
            };
            let outcome = opener.open(&Source::Session(name.clone())).map(|bundle| {
                bundle.map(|mut bundle| {
                    bundle.opened.session.renamed = true;
                    bundle.opened.notes.push(note);
                    Box::new(bundle)
                })
            });
            Finished::Opened { source: format!("session:{name}"), request, outcome }
        });
    }

    pub(super) fn control(&mut self, text: &str) {
        if let Err(error) = self.screen.control(text) {
            tracing::error!("cannot write to the terminal: {error}");
        }
    }

    pub(super) fn copy(&mut self, text: &str) {
        match clipboard::copy(text, self.between) {
            Way::Sequence(sequence) => {
                self.control(&sequence);
                self.fact(Fact::Note(Severity::Info, clipboard::sent(text)));
            }
            Way::Tmux(plain) => {
                let text = text.to_owned();
                self.helpers.spawn("copy", move || match clipboard::to_tmux(&text) {
                    Ok(()) => {
                        let words = format!("{}, through tmux", clipboard::sent(&text));
                        Finished::Fact(Fact::Note(Severity::Info, words))
                    }
                    Err(error) => {
                        tracing::warn!("tmux load-buffer: {error}");
                        Finished::Send { sequence: plain, note: clipboard::sent(&text) }
                    }
                });
            }
            Way::TooLong => {
                let fact = match clipboard::to_file(text, self.opener.places.state()) {
                    Ok(path) => {
                        let text = format!(
                            "too long for the clipboard of a terminal, so the text was written to {}",
                            path.display()
                        );
                        Fact::Note(Severity::Info, text)
                    }
                    Err(problem) => Fact::Failed(format!("nothing was copied: {problem}")),
                };
                self.fact(fact);
            }
        }
    }
}

/// Joins words to the name of a file that contains blanks: words follow a word that names no file, and the joined words do.
fn joined(words: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut at = 0;
    while let Some(first) = words.get(at) {
        let mut name = first.clone().into_os_string();
        let mut longer = words[at + 1..].iter().map(|word| {
            name.push(" ");
            name.push(word.strip_prefix(folder).unwrap_or(word));
            PathBuf::from(&name)
        });
        let found = if first.exists() { None } else { longer.position(|path| path.is_file()) };
        let count = found.map_or(1, |more| more + 2);
        let mut path = first.clone().into_os_string();
        for word in &words[at + 1..at + count] {
            path.push(" ");
            path.push(word.strip_prefix(folder).unwrap_or(word));
        }
        paths.push(path.into());
        at += count;
    }
    paths
}

/// Replaces a `~` at the beginning of a path by the home folder.
fn at_home(path: PathBuf) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::joined;
    use std::path::PathBuf;

    #[test]
    fn words_are_joined_to_the_name_of_a_file_with_blanks() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("my trace file.txt"), "x").unwrap();
        std::fs::write(folder.join("other.txt"), "x").unwrap();
        let words = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(|name| folder.join(name)).collect() };
        let typed = words(&["other.txt", "my", "trace", "file.txt", "other.txt"]);
        assert_eq!(joined(&typed, folder), words(&["other.txt", "my trace file.txt", "other.txt"]));
        let typed = words(&["no", "such.txt"]);
        assert_eq!(joined(&typed, folder), typed);
    }
}
