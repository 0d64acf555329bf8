//! Sink for the events of runs: never blocks a run, drops progress events under load, and keeps all important events.

use crate::runtime::crash::{self, CrashPlace};
use lightbay_core::event::{Event, EventBody, EventSink, RunId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Once this number of milestones (events other than points of curves and lines of logs) waits for the screen, each new
/// milestone replaces an older plan or remark.
pub const MILESTONES: usize = 256;

/// Maximum number of points of curves that wait for the screen, per run.
pub const PROGRESS: usize = 512;

/// Maximum number of lines of a solver's log that wait for the screen, per run; the screen does not store more.
pub const LINES: usize = crate::app::runs::LINES;

#[derive(Debug, Default)]
struct WaitingEvents {
    /// Number of events that have arrived. Each event is stored with its number, so that events of all queues can be
    /// sorted by arrival.
    arrived: u64,
    milestones: VecDeque<(u64, Event)>,
    progress: BTreeMap<RunId, VecDeque<(u64, Event)>>,
    lines: BTreeMap<RunId, VecDeque<(u64, Event)>>,
    merged: u64,
    dropped: u64,
}

/// Events that arrived since the previous batch.
#[derive(Debug, Default)]
pub struct EventBatch {
    /// Events in order of arrival.
    pub events: Vec<Event>,
    /// Number of events, since the start, that newer events replaced or that were removed to thin out curves.
    pub merged: u64,
    /// Number of events that were dropped without replacement, since the start.
    pub dropped: u64,
}

/// Event receiver for the screen.
#[derive(Debug)]
pub struct ScreenSink {
    waiting: Mutex<WaitingEvents>,
    wake: Arc<Notify>,
}

impl ScreenSink {
    /// Creates a receiver that calls `wake` to wake the event loop.
    pub fn new(wake: Arc<Notify>) -> Self {
        Self { waiting: Mutex::default(), wake }
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingEvents> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes and returns all waiting events.
    pub fn take(&self) -> EventBatch {
        let mut waiting = self.waiting();
        let milestones = std::mem::take(&mut waiting.milestones);
        let progress = std::mem::take(&mut waiting.progress);
        let lines = std::mem::take(&mut waiting.lines);
        let (merged, dropped) = (waiting.merged, waiting.dropped);
        drop(waiting);
        let curves = progress.into_values().chain(lines.into_values()).flatten();
        let mut all: Vec<(u64, Event)> = milestones.into_iter().chain(curves).collect();
        all.sort_unstable_by_key(|(arrived, _)| *arrived);
        EventBatch { events: all.into_iter().map(|(_, event)| event).collect(), merged, dropped }
    }
}

impl EventSink for ScreenSink {
    fn report(&self, event: Event) {
        let gone;
        {
            let mut waiting = self.waiting();
            waiting.arrived += 1;
            let arrived = waiting.arrived;
            gone = if event.body.is_progress() {
                waiting.add_progress(arrived, event)
            } else if matches!(event.body, EventBody::Line(_)) {
                waiting.add_line(arrived, event)
            } else {
                waiting.add_milestone(arrived, event)
            };
        }
        self.wake.notify_one();
        // Freed after the lock is released, because a plan can be large.
        drop(gone);
    }
}

impl WaitingEvents {
    fn add_progress(&mut self, arrived: u64, event: Event) -> Option<(u64, Event)> {
        let queue = self.progress.entry(event.run).or_default();
        let mut gone = None;
        if queue.len() >= PROGRESS {
            // Drops every second point, so that curves keep their shape over the whole time.
            let mut keep = false;
            let before = queue.len();
            queue.retain(|_| {
                keep = !keep;
                keep
            });
            self.merged += (before - queue.len()) as u64;
            gone = queue.pop_back();
            self.merged += u64::from(gone.is_some());
        }
        queue.push_back((arrived, event));
        gone
    }

    /// Adds a line of a log; if too many lines wait, removes and returns the oldest line.
    fn add_line(&mut self, arrived: u64, event: Event) -> Option<(u64, Event)> {
        let queue = self.lines.entry(event.run).or_default();
        let gone = if queue.len() >= LINES { queue.pop_front() } else { None };
        self.merged += u64::from(gone.is_some());
        queue.push_back((arrived, event));
        gone
    }

    fn add_milestone(&mut self, arrived: u64, event: Event) -> Option<(u64, Event)> {
        let mut gone = None;
        if self.milestones.len() >= MILESTONES {
            let incumbent = |event: &Event| matches!(event.body, EventBody::Incumbent(_));
            let run = event.run;
            let older = self
                .milestones
                .iter()
                .position(|(_, waiting)| incumbent(waiting) && (waiting.run == run || !incumbent(&event)));
            let note = self.milestones.iter().position(|(_, waiting)| {
                matches!(waiting.body, EventBody::Note(_) | EventBody::Phase(_) | EventBody::Offer(_))
            });
            // Newer incumbents replace older ones; after that, remarks are dropped. Events on starts, changes and ends
            // stay.
            if let Some(index) = older {
                gone = self.milestones.remove(index);
                self.merged += 1;
            } else if let Some(index) = note {
                gone = self.milestones.remove(index);
                self.dropped += 1;
            }
        }
        self.milestones.push_back((arrived, event));
        gone
    }
}

/// An event receiver that forwards all events to several receivers.
pub struct Tee(pub Vec<Arc<dyn EventSink>>);

impl EventSink for Tee {
    fn report(&self, event: Event) {
        let is_plan = matches!(&event.body, EventBody::Incumbent(incumbent) if incumbent.plan.is_some());
        if let Some((last, others)) = self.0.split_last() {
            for sink in others {
                sink.report(event.clone());
            }
            last.report(event);
        }
        if is_plan {
            crash::on_request(CrashPlace::Engine);
        }
    }
}

impl std::fmt::Debug for Tee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tee({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::event::{Bound, Done, EndStatus, Incumbent, Note, Severity};
    use std::time::{Duration, Instant};

    fn event(run: u64, seq: u64, body: EventBody) -> Event {
        Event { run: RunId(run), method: "m".into(), seq, elapsed_s: seq as f64, body }
    }

    fn bound(value: f64) -> EventBody {
        EventBody::Bound(Bound { value, only: None })
    }

    fn incumbent(number: u64) -> EventBody {
        EventBody::Incumbent(Incumbent {
            number,
            value: 1.0 / number as f64,
            secondary: 0.0,
            source: String::new(),
            checked: true,
            metrics: BTreeMap::new(),
            plan: None,
        })
    }

    fn done() -> EventBody {
        EventBody::Done(Done {
            status: EndStatus::Optimal,
            limit: None,
            message: String::new(),
            violations: Vec::new(),
            value: None,
            bound: None,
            work: 0,
            plan: None,
        })
    }

    fn sink() -> ScreenSink {
        ScreenSink::new(Arc::new(Notify::new()))
    }

    #[test]
    fn what_is_said_keeps_its_order() {
        let sink = sink();
        for seq in 0..20 {
            let body = if seq % 3 == 0 { incumbent(seq + 1) } else { bound(seq as f64) };
            sink.report(event(1 + seq % 2, seq, body));
        }
        let seqs: Vec<u64> = sink.take().events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (0..20).collect::<Vec<_>>());
        assert!(sink.take().events.is_empty());
    }

    #[test]
    fn progress_is_thinned_over_its_whole_length_and_counted() {
        let sink = sink();
        for seq in 0..100_000 {
            sink.report(event(1, seq, bound(seq as f64)));
        }
        let batch = sink.take();
        assert!(batch.events.len() <= PROGRESS);
        assert_eq!(batch.merged + batch.events.len() as u64, 100_000);
        assert_eq!(batch.dropped, 0);
        let last = batch.events.last().map(|event| event.seq);
        assert_eq!(last, Some(99_999), "the newest is always there");
        assert!(batch.events[0].seq < 1000, "the beginning is still there");
    }

    #[test]
    fn a_talkative_solver_pushes_nothing_else_out() {
        let sink = sink();
        for seq in 0..4000 {
            let text = format!("line {seq}");
            let body = EventBody::Line(lightbay_core::event::LogLine { text });
            sink.report(event(1, seq, if seq % 100 == 0 { incumbent(seq + 1) } else { body }));
        }
        let batch = sink.take();
        let incumbents =
            batch.events.iter().filter(|event| matches!(event.body, EventBody::Incumbent(_))).count();
        assert_eq!(incumbents, 40);
        assert_eq!(batch.events.len(), LINES + 40);
        assert_eq!(batch.merged + batch.events.len() as u64, 4000);
        assert!(batch.events.is_sorted_by_key(|event| event.seq));
    }

    #[test]
    fn incumbents_are_merged_and_ends_are_never_lost() {
        let sink = sink();
        sink.report(event(2, 0, EventBody::Note(Note { severity: Severity::Info, text: String::new() })));
        for seq in 0..1000 {
            sink.report(event(1, seq, incumbent(seq + 1)));
        }
        for run in 3..300 {
            sink.report(event(run, 0, done()));
        }
        let batch = sink.take();
        let ends = batch.events.iter().filter(|event| matches!(event.body, EventBody::Done(_))).count();
        assert_eq!(ends, 297);
        assert_eq!(batch.merged + batch.dropped + batch.events.len() as u64, 1298);
        assert!(batch.merged > 700);
    }

    #[test]
    fn a_run_never_waits_for_a_screen_that_does_not_look() {
        let sink = Arc::new(sink());
        let began = Instant::now();
        std::thread::scope(|scope| {
            for run in 0..4 {
                let sink = Arc::clone(&sink);
                scope.spawn(move || {
                    for seq in 0..20_000 {
                        let body = if seq % 10 == 0 { incumbent(seq + 1) } else { bound(1.0) };
                        sink.report(event(run, seq, body));
                    }
                });
            }
        });
        // 80 000 events without a reader: far fewer than a waiting run would need.
        assert!(began.elapsed() < Duration::from_secs(20));
        let batch = sink.take();
        assert!(batch.events.len() <= MILESTONES + 4 * PROGRESS);
        assert_eq!(batch.merged + batch.dropped + batch.events.len() as u64, 80_000);
    }
}
