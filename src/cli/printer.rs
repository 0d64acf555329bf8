//! Prints lines on standard error during a run on a separate thread, so that a slow reader does not delay signals or
//! saving.

use super::console::Console;
use super::failure::Failure;
use super::inbox::Inbox;
use lightbay_core::event::Event;
use lightbay_core::json;
use lightbay_core::problem::shortened;
use serde_json::Value;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

mod pace;

pub use pace::{EventIdentity, FigurePace};

/// Maximum time that the end of the program waits for a slow reader.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time that figures are held back if no other message comes.
const SOON: Duration = Duration::from_millis(250);

/// Number of unread messages from which newer figures replace older ones.
pub const BACKLOG: usize = 256;

/// A thread that prints messages.
#[derive(Debug)]
pub struct Printer<M> {
    inbox: Arc<Inbox<M>>,
    ended: Receiver<()>,
}

/// Result of converting a message: lines to print, and the next step of the printer.
#[derive(Debug)]
pub struct Printed {
    /// Lines to print, without line ends.
    pub lines: Vec<String>,
    /// Next step of the printer after these lines.
    pub then: AfterPrint,
}

/// Next step of a printer after it has printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterPrint {
    /// The printer waits for the next message.
    Wait,
    /// The printer waits only for a short time, because figures are held back.
    AskSoon,
    /// The printer ends.
    End,
}

impl<M: Send + 'static> Printer<M> {
    /// Starts a printer. `say` turns a message into lines; the printer calls `say` with `None` if figures are held back
    /// and no other message comes for a while.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(
        console: &Console,
        mut say: impl FnMut(Option<M>) -> Printed + Send + 'static,
    ) -> Result<Self, Failure> {
        let failed =
            |error| Failure::Mendable(format!("progress cannot be shown: {error}; try --progress none"));
        let mut err = console.err_handle().map_err(failed)?;
        let inbox = Arc::new(Inbox::new());
        let (say_ended, ended) = channel();
        let own: Arc<Inbox<M>> = Arc::clone(&inbox);
        std::thread::Builder::new()
            .name("lb-progress".to_owned())
            .spawn(move || {
                let mut open = true;
                let mut then = AfterPrint::Wait;
                while then != AfterPrint::End {
                    let deadline = (then == AfterPrint::AskSoon).then(|| Instant::now() + SOON);
                    let said = say(own.take(deadline));
                    then = said.then;
                    // When the reader has left, the remaining lines are discarded. Each line is written in one piece,
                    // so that lines of other programs do not mix with it.
                    for line in said.lines {
                        open = open && err.write_all(format!("{line}\n").as_bytes()).is_ok();
                    }
                }
                // The receiver may have stopped waiting.
                let _ = say_ended.send(());
            })
            .map_err(failed)?;
        Ok(Self { inbox, ended })
    }

    /// Returns the inbox that messages are put into.
    pub fn inbox(&self) -> Arc<Inbox<M>> {
        Arc::clone(&self.inbox)
    }

    /// Waits until all lines are printed, for a limited time.
    pub fn finish(self) {
        let _ = self.ended.recv_timeout(PATIENCE);
    }
}

/// Maximum number of characters of a text in an event, because names and messages come from files of any size.
const LONGEST_TEXT: usize = 1000;
/// Maximum number of violations of a rejected plan that are written.
const MOST_VIOLATIONS: usize = 100;

/// Converts an event to a line of JSON (lightbay.event/1), with long texts shortened.
pub fn json_line(event: &Event) -> Option<String> {
    let mut record = serde_json::to_value(event.record()).ok()?;
    shorten(&mut record);
    json::to_line(&record).ok()
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            *text = shortened(text, LONGEST_TEXT).into_owned();
        }
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::Object(map) => {
            if let Some(Value::Array(violations)) = map.get_mut("violations")
                && violations.len() > MOST_VIOLATIONS
            {
                let left_out = violations.len() - MOST_VIOLATIONS;
                violations.truncate(MOST_VIOLATIONS);
                violations
                    .push(serde_json::json!({ "code": "more", "message": format!("and {left_out} more") }));
            }
            map.values_mut().for_each(shorten);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::checked::Violation;
    use lightbay_core::event::{Done, EndStatus, EventBody, EventRecord, RunId};

    #[test]
    fn long_texts_and_lists_are_shortened_and_stay_events() {
        let done = Done {
            status: EndStatus::Failed,
            limit: None,
            message: "\u{1b}é".repeat(1_000_000),
            violations: vec![Violation::new("schema", "x".repeat(5000)); 1000],
            value: None,
            bound: None,
            work: 0,
            plan: None,
        };
        let event = Event {
            run: RunId(1),
            method: "toy".into(),
            seq: 0,
            elapsed_s: 0.0,
            body: EventBody::Done(done),
        };
        let line = json_line(&event).unwrap();
        assert!(line.len() < 250_000, "{}", line.len());
        assert!(!line.contains('\u{1b}') && !line.contains('\n'));
        let record: EventRecord = serde_json::from_str(&line).unwrap();
        let EventBody::Done(done) = record.body else { panic!("another event") };
        assert!(done.message.contains("more characters"), "{}", done.message);
        // Violations are written and not read back.
        let written: serde_json::Value = serde_json::from_str(&line).unwrap();
        let violations = written["violations"].as_array().unwrap();
        assert_eq!(
            (violations.len(), &violations[100]["message"]),
            (101, &serde_json::json!("and 900 more"))
        );
    }
}
