//! Distributes the events of the run: plans and the end go to the coordinator, all events go to the printer.

use crate::cli::exit::Signal;
use crate::cli::inbox::Inbox;
use crate::cli::printer::{BACKLOG, EventIdentity};
use lightbay_core::checked::SharedPlan;
use lightbay_core::event::{Done, Event, EventBody, EventSink, HotStartFate};
use std::sync::Arc;
use std::time::Instant;

/// Message to the coordinator.
#[derive(Debug)]
pub enum WireMessage {
    /// A better plan.
    Plan(SharedPlan),
    /// The run ended.
    Done(Box<Done>),
    /// The plan of the hot start is not used, for this reason; sent only if no progress is printed, which reports it.
    Rejected(String),
    /// A signal arrived.
    Signal(Signal),
}

/// Receives events from the run and signals from the system.
#[derive(Debug)]
pub struct Wire {
    coordinator: Inbox<WireMessage>,
    printer: Option<Arc<Inbox<Event>>>,
}

impl Wire {
    /// Connects the run with a printer, if there is one.
    pub fn new(printer: Option<Arc<Inbox<Event>>>) -> Self {
        Self { coordinator: Inbox::new(), printer }
    }

    /// Returns the next message for the coordinator; waits at most until `deadline`.
    pub fn take(&self, deadline: Option<Instant>) -> Option<WireMessage> {
        self.coordinator.take(deadline)
    }

    /// Passes a signal to the coordinator.
    pub fn signal(&self, signal: Signal) {
        self.coordinator.put(WireMessage::Signal(signal));
    }
}

impl EventSink for Wire {
    fn report(&self, event: Event) {
        let message = match &event.body {
            EventBody::Incumbent(incumbent) => incumbent.plan.clone().map(WireMessage::Plan),
            EventBody::Done(done) => Some(WireMessage::Done(Box::new(done.clone()))),
            EventBody::HotStart(report)
                if report.fate == HotStartFate::Rejected && self.printer.is_none() =>
            {
                Some(WireMessage::Rejected(report.why.clone()))
            }
            _ => None,
        };
        if let Some(printer) = &self.printer {
            match EventIdentity::of(&event) {
                Some(figures) => printer.put_latest(event, BACKLOG, |older| figures.are_of(older)),
                None => printer.put(event),
            }
        }
        if let Some(message) = message {
            self.coordinator.put(message);
        }
    }
}
