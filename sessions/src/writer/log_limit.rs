//! Limits the log of a long run, so that it does not grow without bound.
//!
//! The first [`WHOLE`] points of a curve are all written. After that, time is divided into windows whose length grows
//! with the run. Of each window, the newest point is written, and for generations and series also the lowest and the
//! highest point. So each doubling of the run time adds about the same number of points. Incumbents, new bounds and all
//! other milestones are always written, each with the figures that show the state of the search.

use super::inbox::WaitingEvent;
use crate::thin::{Curve, NewBounds};
use lightbay_core::event::{EventBody, LogLine};
use std::collections::HashMap;

/// Number of points of a curve, or of lines of a run's solver log, that are written before any are left out.
pub(super) const WHOLE: u64 = 20_000;

/// Length of a window as a fraction of the run's time.
const WINDOW: f64 = 1.0 / 2000.0;

/// Limit on the logged points of all runs.
#[derive(Debug, Default)]
pub(super) struct LogLimit {
    windows: HashMap<Curve, Window>,
    bounds: NewBounds,
    left_out: u64,
}

#[derive(Debug, Default)]
struct Window {
    written: u64,
    until_s: f64,
    /// The point with the lowest value among the points since the last written one; the next fields are the highest and
    /// the newest.
    low: Option<(f64, WaitingEvent)>,
    high: Option<(f64, WaitingEvent)>,
    newest: Option<WaitingEvent>,
    /// Number of points since the last point that was written.
    held: u64,
}

/// Returns the value by which the lowest and the highest point are found; `None` if only the newest point is kept.
fn value(body: &EventBody) -> Option<f64> {
    match body {
        EventBody::Generation(stats) => Some(stats.mean),
        EventBody::Series(point) => Some(point.y),
        _ => None,
    }
}

impl LogLimit {
    /// Returns the number of points that were left out since the start.
    pub(super) const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Passes on the points to be written because of an event: the event itself, and points that were held back before
    /// it.
    pub(super) fn pass(&mut self, waiting: WaitingEvent, write: &mut impl FnMut(WaitingEvent)) {
        let (run, body) = (waiting.event.run, &waiting.event.body);
        let new_bound = self.bounds.is_new(run, body);
        let curve = Curve::of(run, body).filter(|_| !new_bound);
        let Some(curve) = curve else {
            if matches!(body, EventBody::Done(_)) {
                self.release(|curve| curve.is_of(run), write);
                self.windows.retain(|curve, _| !curve.is_of(run));
            } else if new_bound || matches!(body, EventBody::Incumbent(_)) {
                let standing = Curve::standing(run);
                self.release(|curve| standing.contains(curve), write);
            }
            return write(waiting);
        };
        let at_s = waiting.event.elapsed_s;
        let window = self.windows.entry(curve).or_default();
        if window.written < WHOLE || at_s >= window.until_s {
            window.release(write);
            window.written += 1;
            window.until_s = at_s * (1.0 + WINDOW);
            return write(waiting);
        }
        self.left_out += window.hold(waiting);
    }

    /// Writes everything that was held back.
    pub(super) fn release_all(&mut self, write: &mut impl FnMut(WaitingEvent)) {
        self.release(|_| true, write);
    }

    fn release(&mut self, which: impl Fn(&Curve) -> bool, write: &mut impl FnMut(WaitingEvent)) {
        for (curve, window) in &mut self.windows {
            if which(curve) {
                window.release(write);
            }
        }
    }
}

impl Window {
    /// Holds a point back. Returns the number of points that are left out because of this point.
    fn hold(&mut self, waiting: WaitingEvent) -> u64 {
        self.held += 1;
        let mut gone = 0;
        let before = self.newest.replace(waiting);
        let Some(before) = before else { return 0 };
        match value(&before.event.body) {
            Some(value) if self.low.as_ref().is_none_or(|(low, _)| value < *low) => {
                // The previous lowest point may also be the highest.
                if let Some((value, point)) = self.low.replace((value, before)) {
                    gone += self.hold_high(value, point);
                }
            }
            Some(value) => gone += self.hold_high(value, before),
            None => gone += 1,
        }
        gone
    }

    fn hold_high(&mut self, value: f64, point: WaitingEvent) -> u64 {
        if self.high.as_ref().is_none_or(|(high, _)| value > *high) {
            return u64::from(self.high.replace((value, point)).is_some());
        }
        1
    }

    /// Writes the held points in their order. If the points are lines of a log, the written line states how many lines
    /// before it are missing.
    fn release(&mut self, write: &mut impl FnMut(WaitingEvent)) {
        let (low, high) = (self.low.take(), self.high.take());
        let mut held: Vec<WaitingEvent> =
            low.into_iter().chain(high).map(|(_, point)| point).chain(self.newest.take()).collect();
        held.sort_by_key(|waiting| waiting.event.seq);
        let missing = std::mem::take(&mut self.held).saturating_sub(held.len() as u64);
        for mut waiting in held {
            if let (EventBody::Line(line), true) = (&mut waiting.event.body, missing > 0) {
                *line = LogLine { text: format!("[{missing} lines left out]  {}", line.text) };
            }
            self.written += 1;
            write(waiting);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;
    use lightbay_core::event::{Event, SolverStats};

    fn pass(events: Vec<Event>) -> (Vec<Event>, u64) {
        let mut log_limit = LogLimit::default();
        let mut written = Vec::new();
        let mut write = |waiting: WaitingEvent| written.push(waiting.event);
        for event in events {
            log_limit.pass(WaitingEvent { event, plan: None, content: None }, &mut write);
        }
        log_limit.release_all(&mut write);
        (written, log_limit.left_out())
    }

    fn nodes(seq: u64, done: u64) -> Event {
        toy::event(1, seq, EventBody::Solver(SolverStats { done, ..SolverStats::default() }))
    }

    #[test]
    fn a_short_run_is_written_whole() {
        let events: Vec<Event> = (0..WHOLE).map(|seq| toy::generation(1, seq, 0.5)).collect();
        let (written, left_out) = pass(events);
        assert_eq!((written.len() as u64, left_out), (WHOLE, 0));
    }

    #[test]
    fn a_long_run_is_written_ever_more_thinly_and_keeps_its_spikes() {
        let many = 40 * WHOLE;
        let spike = 30 * WHOLE + 17;
        let events =
            (0..many).map(|seq| toy::series(1, seq, "temperature", if seq == spike { 9.0 } else { 1.0 }));
        let (written, left_out) = pass(events.collect());
        assert!((written.len() as u64) < 3 * WHOLE, "{} of {many}", written.len());
        assert_eq!(written.len() as u64 + left_out, many);
        assert!(written.windows(2).all(|pair| pair[0].seq < pair[1].seq), "in order");
        assert_eq!(written.last().map(|event| event.seq), Some(many - 1));
        assert!(written.iter().any(|event| event.seq == spike), "the spike is there");
        let widest = written.windows(2).map(|pair| pair[1].seq - pair[0].seq).max().unwrap();
        assert!(widest as f64 <= many as f64 * WINDOW * 1.5, "{widest}");
    }

    #[test]
    fn every_new_bound_and_incumbent_is_written_with_the_nodes_it_came_at() {
        let mut events = Vec::new();
        let mut seq = 0;
        let mut expected = Vec::new();
        for step in 0..3 * WHOLE {
            events.push(nodes(seq, step));
            seq += 1;
            if step % 1000 == 13 {
                events.push(if step % 2000 == 13 {
                    toy::bound(1, seq, step as f64)
                } else {
                    toy::incumbent(1, seq, 0, -(step as f64))
                });
                seq += 1;
                expected.push(step);
            }
        }
        let (written, _) = pass(events);
        let mut known = 0;
        let mut found = Vec::new();
        for event in &written {
            match &event.body {
                EventBody::Solver(stats) => known = stats.done,
                _ => found.push(known),
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_that_are_missing_are_counted_where_they_are_missing() {
        let line = |seq| toy::event(1, seq, EventBody::Line(LogLine { text: format!("line {seq}") }));
        let mut events: Vec<Event> = (0..WHOLE + 40).map(line).collect();
        events.push(toy::done(1, WHOLE + 40, None));
        let (written, left_out) = pass(events);
        assert_eq!(written.len() as u64 + left_out, WHOLE + 41);
        let before_last = &written[written.len() - 2];
        let EventBody::Line(line) = &before_last.body else { panic!("{before_last:?}") };
        assert!(
            line.text.starts_with('[') && line.text.ends_with(&format!("line {}", WHOLE + 39)),
            "{}",
            line.text
        );
    }
}
