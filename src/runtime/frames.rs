//! Timing of frames: input is drawn at once, engine events are merged, and nothing is drawn without a reason.

use std::time::Duration;
use tokio::time::Instant;

/// Minimum time between the last frame and a frame that input causes.
const INPUT_GAP: Duration = Duration::from_millis(10);

/// Minimum time between two frames while the size changes.
const RESIZE_GAP: Duration = Duration::from_millis(50);

/// Minimum time between two frames while the window has no focus.
const HIDDEN_GAP: Duration = Duration::from_millis(500);

/// Reason for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The user did something.
    Input,
    /// The terminal has another size.
    Resize,
    /// A run reported an event, or the clock advanced.
    Event,
}

/// Enforces the minimum time between frames.
#[derive(Debug)]
pub struct Frames {
    event_gap: Duration,
    hidden: bool,
    last: Option<Instant>,
    due: Option<Instant>,
}

impl Frames {
    /// Creates a limiter that permits at most `per_second` frames per second if only events of runs cause them.
    pub fn new(per_second: u32) -> Self {
        let event_gap = Duration::from_secs(1) / per_second.clamp(1, 60);
        Self { event_gap, hidden: false, last: None, due: None }
    }

    /// Sets whether the window lost the focus (`true`): without the focus, events are drawn less often.
    pub const fn hide(&mut self, hidden: bool) {
        self.hidden = hidden;
    }

    /// Requests a frame. If a frame is already requested, only the earlier of the two times is kept.
    pub fn request(&mut self, why: Why, now: Instant) {
        let gap = match why {
            Why::Input => INPUT_GAP,
            Why::Resize => RESIZE_GAP,
            Why::Event if self.hidden => self.event_gap.max(HIDDEN_GAP),
            Why::Event => self.event_gap,
        };
        let at = self.last.map_or(now, |last| (last + gap).max(now));
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// Returns the time at which the next frame must be drawn; `None` while no frame is requested.
    pub const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns `true` if a frame is to be drawn now.
    pub fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| now >= due)
    }

    /// Cancels the requested frame, because nothing has changed.
    pub const fn cancel(&mut self) {
        self.due = None;
    }

    /// Records that a frame was drawn.
    pub const fn drawn(&mut self, now: Instant) {
        self.last = Some(now);
        self.due = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, sleep_until};

    /// Runs requests that come every `every` for `during` and counts the frames drawn.
    async fn frames_of(frames: &mut Frames, why: Why, every: Duration, during: Duration) -> u32 {
        let end = Instant::now() + during;
        let mut count = 0;
        let mut next = Instant::now();
        while Instant::now() < end {
            if Instant::now() >= next {
                frames.request(why, Instant::now());
                next += every;
            }
            if frames.is_due(Instant::now()) {
                frames.drawn(Instant::now());
                count += 1;
            }
            let wake = frames.due().map_or(next, |due| due.min(next));
            sleep_until(wake.max(Instant::now() + Duration::from_micros(10))).await;
        }
        count
    }

    #[tokio::test(start_paused = true)]
    async fn events_are_drawn_ten_times_a_second_and_five_over_ssh() {
        let (every, during) = (Duration::from_millis(1), Duration::from_secs(2));
        assert!((19..=21).contains(&frames_of(&mut Frames::new(10), Why::Event, every, during).await));
        assert!((9..=11).contains(&frames_of(&mut Frames::new(5), Why::Event, every, during).await));
        let mut hidden = Frames::new(10);
        hidden.hide(true);
        assert!((4..=5).contains(&frames_of(&mut hidden, Why::Event, every, during).await));
    }

    #[tokio::test(start_paused = true)]
    async fn a_storm_of_sizes_is_folded_and_the_last_one_is_drawn() {
        let mut frames = Frames::new(10);
        let count =
            frames_of(&mut frames, Why::Resize, Duration::from_millis(10), Duration::from_millis(500)).await;
        assert!(count <= 11, "{count} frames");
        assert!(frames.due().is_some() || count >= 9);
    }

    #[tokio::test(start_paused = true)]
    async fn input_does_not_wait_for_the_slot_of_events() {
        let mut frames = Frames::new(5);
        frames.request(Why::Event, Instant::now());
        assert!(frames.is_due(Instant::now()), "the first frame comes at once");
        frames.drawn(Instant::now());
        advance(Duration::from_millis(3)).await;
        frames.request(Why::Event, Instant::now());
        assert!(!frames.is_due(Instant::now()));
        frames.request(Why::Input, Instant::now());
        advance(Duration::from_millis(7)).await;
        assert!(frames.is_due(Instant::now()), "10 ms after the frame before");
        frames.drawn(Instant::now());
        advance(Duration::from_secs(3)).await;
        assert_eq!(frames.due(), None, "nothing without a reason");
    }
}
