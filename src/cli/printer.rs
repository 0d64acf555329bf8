//! Lines on standard error while something lasts, on a thread of their own, so that a reader who does not read never holds up
//! signals or saving.

use super::console::Console;
use super::failure::Failure;
use super::inbox::Inbox;
use lightbay_core::event::{Event, EventBody};
use std::io::Write as _;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long the end waits for a slow reader.
const PATIENCE: Duration = Duration::from_secs(2);

/// Messages that a slow reader may be behind before older figures are replaced by newer ones.
pub const BACKLOG: usize = 256;

/// A thread that prints messages.
#[derive(Debug)]
pub struct Printer<M> {
    inbox: Arc<Inbox<M>>,
    ended: Receiver<()>,
}

/// What becomes of a message.
#[derive(Debug)]
pub enum Line {
    /// It is printed.
    Say(String),
    /// Nothing.
    Skip,
    /// It is printed, and nothing after it.
    Last(Option<String>),
}

impl<M: Send + 'static> Printer<M> {
    /// Starts printing what `line` makes of messages.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(
        console: &Console,
        mut line: impl FnMut(M) -> Line + Send + 'static,
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
                while let Some(message) = own.take(None) {
                    let (text, last) = match line(message) {
                        Line::Say(text) => (Some(text), false),
                        Line::Skip => (None, false),
                        Line::Last(text) => (text, true),
                    };
                    // When the reader has left, what remains is only taken out of the way. A line goes out in one piece,
                    // so that lines of other programs do not mix with it.
                    if let Some(text) = text.filter(|_| open) {
                        open = err.write_all(format!("{text}\n").as_bytes()).is_ok();
                    }
                    if last {
                        break;
                    }
                }
                // The other side may have lost patience.
                let _ = say_ended.send(());
            })
            .map_err(failed)?;
        Ok(Self { inbox, ended })
    }

    /// Where messages are put.
    pub fn inbox(&self) -> Arc<Inbox<M>> {
        Arc::clone(&self.inbox)
    }

    /// Waits until everything up to the last line is said, but not forever.
    pub fn finish(self) {
        let _ = self.ended.recv_timeout(PATIENCE);
    }
}

/// What an event gives figures of; of those alike only the newest matters to a slow reader.
#[derive(Debug, PartialEq, Eq)]
pub struct Figures {
    sort: Discriminant<EventBody>,
    series: Option<String>,
}

impl Figures {
    /// Of an event; `None` if every one of its sort matters.
    pub fn of(event: &Event) -> Option<Self> {
        let series = series_name(event).map(str::to_owned);
        event.body.is_progress().then(|| Self { sort: discriminant(&event.body), series })
    }

    /// Whether an event gives the same ones.
    pub fn are_of(&self, event: &Event) -> bool {
        self.sort == discriminant(&event.body) && self.series.as_deref() == series_name(event)
    }
}

fn series_name(event: &Event) -> Option<&str> {
    match &event.body {
        EventBody::Series(point) => Some(&point.name),
        _ => None,
    }
}
