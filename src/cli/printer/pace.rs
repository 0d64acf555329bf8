//! Limits the rate of figures: the newest value of each figure is written at most four times per second of the run's
//! clock. All other events are written immediately, after the figures that were held back.

use lightbay_core::event::{Event, EventBody, RunId};
use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};

/// Minimum time between two values of a figure, seconds of the run's clock.
pub const PERIOD_S: f64 = 0.25;

/// Identity of the figures in an event; of events with the same identity, only the newest matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventIdentity {
    run: RunId,
    sort: Discriminant<EventBody>,
    /// Name of the figures, for types that have several: the name of a series, the plans that a bound covers.
    which: Option<String>,
}

impl EventIdentity {
    /// Returns the identity of the figures in an event; `None` if every event of the type matters. An unchecked plan
    /// counts as a figure, because only its value is known.
    pub fn of(event: &Event) -> Option<Self> {
        let unchecked = matches!(&event.body, EventBody::Incumbent(incumbent) if !incumbent.checked);
        (event.body.is_progress() || unchecked).then(|| Self {
            run: event.run,
            sort: discriminant(&event.body),
            which: which(event).map(str::to_owned),
        })
    }

    /// Returns `true` if an event gives figures with this identity.
    pub fn are_of(&self, event: &Event) -> bool {
        let checked = matches!(&event.body, EventBody::Incumbent(incumbent) if incumbent.checked);
        let alike = self.run == event.run && self.sort == discriminant(&event.body);
        alike && !checked && self.which.as_deref() == which(event)
    }
}

fn which(event: &Event) -> Option<&str> {
    match &event.body {
        EventBody::Series(point) => Some(&point.name),
        EventBody::Bound(bound) => bound.only.as_deref(),
        _ => None,
    }
}

/// Figures of a run that are held back.
#[derive(Debug, Default)]
struct HeldFigures {
    /// Seconds of the run's clock at which figures may be written next.
    next_s: f64,
    newest: Vec<(EventIdentity, Event)>,
}

impl HeldFigures {
    /// Removes and returns all held figures, in the order of their events.
    fn take(&mut self) -> Vec<Event> {
        let mut all: Vec<Event> = self.newest.drain(..).map(|(_, event)| event).collect();
        all.sort_by_key(|event| event.seq);
        all
    }
}

/// Figures of all runs that are held back.
#[derive(Debug, Default)]
pub struct FigurePace {
    runs: BTreeMap<RunId, HeldFigures>,
}

impl FigurePace {
    /// Receives an event, and returns the events to be written now, in their original order.
    pub fn pass(&mut self, event: Event) -> Vec<Event> {
        let run = self.runs.entry(event.run).or_default();
        let Some(figures) = EventIdentity::of(&event) else {
            let mut all = run.take();
            if matches!(event.body, EventBody::Done(_)) {
                self.runs.remove(&event.run);
            }
            all.push(event);
            return all;
        };
        let now_s = event.elapsed_s;
        run.newest.retain(|(known, _)| *known != figures);
        run.newest.push((figures, event));
        if now_s < run.next_s {
            return Vec::new();
        }
        run.next_s = now_s + PERIOD_S;
        run.take()
    }

    /// Returns `true` if any value is held back.
    pub fn holds(&self) -> bool {
        self.runs.values().any(|run| !run.newest.is_empty())
    }

    /// Removes and returns all values that are held back, to be written if no other event has come for a while.
    pub fn all_held(&mut self) -> Vec<Event> {
        self.runs.values_mut().flat_map(HeldFigures::take).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::event::{Bound, Done, EndStatus, Incumbent, Phase, SeriesPoint};

    fn event(run: u64, seq: u64, elapsed_s: f64, body: EventBody) -> Event {
        Event { run: RunId(run), method: "toy".into(), seq, elapsed_s, body }
    }

    fn series(name: &str, seq: u64, elapsed_s: f64) -> Event {
        let point = SeriesPoint { name: name.to_owned(), x: 0.0, y: seq as f64 };
        event(1, seq, elapsed_s, EventBody::Series(point))
    }

    fn incumbent(seq: u64, elapsed_s: f64, checked: bool) -> Event {
        let incumbent = Incumbent {
            number: 0,
            value: 1.0,
            secondary: 0.0,
            source: String::new(),
            checked,
            metrics: BTreeMap::new(),
            plan: None,
        };
        event(1, seq, elapsed_s, EventBody::Incumbent(incumbent))
    }

    fn phase(seq: u64, elapsed_s: f64) -> Event {
        let phase = Phase { name: "search".to_owned(), detail: String::new() };
        event(1, seq, elapsed_s, EventBody::Phase(phase))
    }

    fn seqs(events: &[Event]) -> Vec<u64> {
        events.iter().map(|event| event.seq).collect()
    }

    #[test]
    fn a_flood_of_figures_becomes_four_a_second() {
        let mut pace = FigurePace::default();
        let mut written = Vec::new();
        for seq in 0..10_000 {
            written.extend(pace.pass(series("a", seq, seq as f64 / 1000.0)));
        }
        assert_eq!(written.len(), 40, "of ten seconds");
        assert!(written.iter().all(|event| event.seq.is_multiple_of(250)));
        assert_eq!(seqs(&pace.all_held()), [9999], "the newest is not lost");
        assert!(!pace.holds());
    }

    #[test]
    fn milestones_come_at_once_and_after_what_happened_before() {
        let mut pace = FigurePace::default();
        assert_eq!(seqs(&pace.pass(series("a", 0, 0.0))), [0]);
        assert!(pace.pass(series("b", 1, 0.0)).is_empty());
        assert!(pace.pass(series("b", 2, 0.1)).is_empty());
        assert!(pace.pass(series("a", 3, 0.1)).is_empty());
        assert!(pace.pass(series("a", 4, 0.1)).is_empty());
        assert_eq!(seqs(&pace.pass(phase(5, 0.1))), [2, 4, 5]);
        assert!(pace.pass(incumbent(6, 0.1, false)).is_empty());
        assert!(pace.pass(incumbent(7, 0.2, false)).is_empty());
        assert_eq!(seqs(&pace.pass(incumbent(8, 0.2, true))), [7, 8]);
        assert_eq!(seqs(&pace.pass(incumbent(9, 0.2, true))), [9]);
    }

    #[test]
    fn figures_are_apart_by_name_restriction_and_run() {
        let mut pace = FigurePace::default();
        let bound = |run, seq, only: Option<&str>| {
            event(run, seq, 0.0, EventBody::Bound(Bound { value: 1.0, only: only.map(str::to_owned) }))
        };
        assert_eq!(pace.pass(bound(1, 0, None)).len(), 1);
        assert!(pace.pass(bound(1, 1, Some("fair"))).is_empty());
        assert_eq!(pace.pass(bound(2, 0, None)).len(), 1);
        assert!(pace.pass(bound(1, 2, None)).is_empty());
        assert!(pace.pass(bound(2, 1, None)).is_empty());
        let done = Done {
            status: EndStatus::Stopped,
            limit: None,
            message: String::new(),
            violations: Vec::new(),
            value: None,
            bound: None,
            work: 0,
            plan: None,
        };
        assert_eq!(seqs(&pace.pass(event(1, 3, 0.0, EventBody::Done(done)))), [1, 2, 3]);
        assert!(pace.holds(), "the other run goes on");
    }

    #[test]
    fn values_of_several_figures_keep_their_order() {
        let mut pace = FigurePace::default();
        let mut written = Vec::new();
        for seq in 0..2000 {
            let name = ["a", "b", "c"][seq as usize % 3];
            written.extend(pace.pass(series(name, seq, seq as f64 / 1000.0)));
        }
        assert!(written.windows(2).all(|pair| pair[0].seq < pair[1].seq), "{:?}", seqs(&written));
        assert_eq!(written.len(), 1 + 3 * 7, "of two seconds");
    }
}
