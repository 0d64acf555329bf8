//! Scripts of keys: recorded in the workbench and replayed, for demonstrations, bug reports and tests.
//!
//! ```text
//! # comments begin with a hash
//! Space f g g e          keys as in the table of keys, separated by blanks
//! type 800               characters as typed, up to the end of the line
//! wait 1.5               seconds
//! wait idle              until no run, sweep or opening is active
//! mouse press 12 5       column and row from 0; also drag, release, right, up and down (the wheel)
//! ```

use crate::app::action::{Mouse, MouseKind};
use crate::app::key::{Key, sequence};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest pause in a script; a recording shortens longer ones.
const LONGEST: Duration = Duration::from_hours(1);

/// Shortest pause between two keys that is recorded.
const PAUSE: Duration = Duration::from_millis(500);

/// Number of keys on a line of a recorded script.
const KEYS_PER_LINE: usize = 12;

/// A step of a script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Press a key.
    Key(Key),
    /// Press a key that types a character into a text field.
    Typed(char),
    /// Wait for this time.
    Wait(Duration),
    /// Wait until no run, sweep or opening is active.
    Idle,
    /// Use the mouse.
    Mouse(Mouse),
}

/// Words for the mouse in a script.
const MOUSE: [(&str, MouseKind); 6] = [
    ("press", MouseKind::Press),
    ("drag", MouseKind::Drag),
    ("release", MouseKind::Release),
    ("right", MouseKind::RightPress),
    ("up", MouseKind::Wheel(-1)),
    ("down", MouseKind::Wheel(1)),
];

/// Reads the words after `mouse`.
fn mouse(text: &str) -> Option<Mouse> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let &[what, x, y] = words.as_slice() else { return None };
    let (_, what) = MOUSE.into_iter().find(|(word, _)| *word == what)?;
    Some(Mouse { what, x: x.parse().ok()?, y: y.parse().ok()? })
}

/// Reads a script.
///
/// # Errors
/// The first line that is neither keys nor a wait, with its number.
pub fn parse(text: &str) -> Result<VecDeque<Step>, String> {
    let mut steps = VecDeque::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(typed) = line.strip_prefix("type ") {
            steps.extend(typed.chars().filter(|c| !c.is_control()).map(Step::Typed));
            continue;
        }
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(words) = line.strip_prefix("mouse ") {
            let problem =
                || format!("line {number}: write for instance 'mouse press 12 5': column, then row");
            steps.push_back(Step::Mouse(mouse(words).ok_or_else(problem)?));
            continue;
        }
        match line.strip_prefix("wait ").map(str::trim) {
            Some("idle") => steps.push_back(Step::Idle),
            Some(seconds) => {
                let time = seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let time = time.filter(|time| *time <= LONGEST);
                let problem =
                    || format!("line {number}: '{seconds}' is not a time; write seconds up to 3600, or idle");
                steps.push_back(Step::Wait(time.ok_or_else(problem)?));
            }
            None => {
                let keys = sequence(line).map_err(|problem| format!("line {number}: {problem}"))?;
                steps.extend(keys.into_iter().map(Step::Key));
            }
        }
    }
    Ok(steps)
}

/// A recording of keys in progress.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Path of the file.
    pub path: PathBuf,
    /// `true` if an existing file may be replaced.
    pub overwrite: bool,
    /// `true` if the recording has ended, and its file is not written yet.
    pub ended: bool,
    /// The steps so far; `true` marks a key that did not continue a sequence, pop-up or text.
    steps: Vec<(Step, bool)>,
    last: Instant,
}

impl Recording {
    /// Starts a recording.
    pub const fn start(path: PathBuf, overwrite: bool, now: Instant) -> Self {
        Self { path, overwrite, ended: false, steps: Vec::new(), last: now }
    }

    /// Adds a key; `begins` states that no sequence, pop-up or text field was open, and `types` that the key went into a
    /// text field.
    pub fn add(&mut self, key: Key, begins: bool, types: bool, now: Instant) {
        let step = match key.text() {
            Some(character) if types => Step::Typed(character),
            _ => Step::Key(key),
        };
        self.add_step(step, begins, now);
    }

    /// Adds a use of the mouse; `begins` states that it does not continue something.
    pub fn add_mouse(&mut self, mouse: Mouse, begins: bool, now: Instant) {
        self.add_step(Step::Mouse(mouse), begins, now);
    }

    fn add_step(&mut self, step: Step, begins: bool, now: Instant) {
        let pause = now.saturating_duration_since(self.last).min(LONGEST);
        if pause >= PAUSE && !self.steps.is_empty() {
            self.steps.push((Step::Wait(pause), false));
        }
        self.last = now;
        self.steps.push((step, begins));
    }

    /// Drops the keys that ended the recording: all keys from the one that began the last action.
    pub fn drop_last_action(&mut self) {
        let from = self.steps.iter().rposition(|(_, begins)| *begins).unwrap_or(0);
        self.steps.truncate(from);
        while matches!(self.steps.last(), Some((Step::Wait(_), _))) {
            self.steps.pop();
        }
    }

    /// Returns the number of recorded keys and uses of the mouse.
    pub fn inputs(&self) -> usize {
        self.steps.iter().filter(|(step, _)| !matches!(step, Step::Wait(_) | Step::Idle)).count()
    }

    /// Returns the text of the script.
    pub fn text(&self) -> String {
        let mut text = String::from("# Keys of a lightbay workbench; `:script FILE` replays them.\n");
        let mut line: Vec<String> = Vec::new();
        let mut typed = String::new();
        for (step, begins) in &self.steps {
            if !matches!(step, Step::Typed(_)) {
                end_typed(&mut typed, &mut text);
            }
            let full = line.len() >= KEYS_PER_LINE || *begins && !line.is_empty();
            if full || !matches!(step, Step::Key(_)) {
                end_keys(&mut line, &mut text);
            }
            match step {
                Step::Key(key) => line.push(key.to_string()),
                Step::Typed(character) => typed.push(*character),
                // Writing into a string cannot fail.
                Step::Wait(time) => {
                    let _ = writeln!(text, "wait {:.1}", time.as_secs_f64());
                }
                Step::Idle => text.push_str("wait idle\n"),
                Step::Mouse(Mouse { what, x, y }) => {
                    if let Some((word, _)) = MOUSE.iter().find(|(_, known)| known == what) {
                        let _ = writeln!(text, "mouse {word} {x} {y}");
                    }
                }
            }
        }
        end_typed(&mut typed, &mut text);
        end_keys(&mut line, &mut text);
        text
    }
}

fn end_keys(line: &mut Vec<String>, text: &mut String) {
    if !line.is_empty() {
        text.push_str(&line.join(" "));
        text.push('\n');
        line.clear();
    }
}

fn end_typed(typed: &mut String, text: &mut String) {
    if !typed.is_empty() {
        let _ = writeln!(text, "type {typed}");
        typed.clear();
    }
}

/// A script that is being replayed.
#[derive(Clone, Debug)]
pub struct Playing {
    /// Name of the file.
    pub name: String,
    /// Steps that are left.
    pub steps: VecDeque<Step>,
    /// Time of the next step.
    pub next_at: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read_line_by_line() {
        let steps = parse("# demo\nSpace f\r\ntype a b \n\nwait 1.5\nwait idle\n").unwrap();
        let keys = [Step::Key(Key::char(' ')), Step::Key(Key::char('f'))];
        let typed = ['a', ' ', 'b', ' '].map(Step::Typed);
        let waits = [Step::Wait(Duration::from_millis(1500)), Step::Idle];
        let expected: Vec<Step> = keys.into_iter().chain(typed).chain(waits).collect();
        assert_eq!(Vec::from(steps), expected);
        assert!(parse("r\nEntr").unwrap_err().starts_with("line 2: 'Entr' is not a key"));
        for wrong in
            ["wait", "wait x", "wait -1", "wait 1e9", "mouse press 1", "mouse hold 1 2", "mouse up -1 2"]
        {
            assert!(parse(wrong).unwrap_err().starts_with("line 1: "), "{wrong}");
        }
    }

    #[test]
    fn a_recording_reads_back_as_the_same_keys() {
        let now = Instant::now();
        let mut recording = Recording::start("a.keys".into(), false, now);
        let later = now + Duration::from_millis(1500);
        recording.add(Key::char(':'), true, false, now);
        recording.add(Key::char('s'), false, true, now);
        recording.add(Key::char(' '), false, true, now);
        recording.add("Enter".parse().unwrap(), false, true, later);
        recording.add_mouse(Mouse { what: MouseKind::Wheel(-1), x: 7, y: 3 }, true, later);
        recording.add(Key::char('r'), true, false, later);
        let text = recording.text();
        assert!(text.ends_with(":\ntype s \nwait 1.5\nEnter\nmouse up 7 3\nr\n"), "{text}");
        let steps: Vec<Step> = recording.steps.iter().map(|(step, _)| *step).collect();
        assert_eq!(Vec::from(parse(&text).unwrap()), steps);
        for left in [5, 4, 0] {
            recording.drop_last_action();
            assert_eq!(recording.inputs(), left);
        }
    }
}
