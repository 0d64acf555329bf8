//! Data on its way through links and switches: the time of a hop, given the hops before it.
//!
//! A hop out of a cut-through switch begins to transmit when the first byte arrives at the switch. The hop ends when
//! its transmission is over, but not before the last byte has arrived at the switch: a chain of hops takes the sum of
//! its latencies and its slowest transmission.

use super::epochs::LinkEpochs;

/// Times at which a node has the first and the last byte of a piece, µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passing {
    /// Time of the first byte.
    pub first_us: f64,
    /// Time of the last byte.
    pub last_us: f64,
}

impl Passing {
    /// Returns the state of a piece that has arrived completely at `time_us`.
    pub const fn whole(time_us: f64) -> Self {
        Self { first_us: time_us, last_us: time_us }
    }

    /// Sends the piece over a link that is free from `free_us`; returns the times at the other end, infinite if no
    /// interval in which the link is up holds the transmission.
    #[must_use]
    pub fn over(self, hop: &Transmission<'_>, free_us: &mut f64) -> Self {
        let Transmission { through, takes_us, alpha_us, up_us, up_after_us } = *hop;
        let ready_us = free_us.max(if through { self.first_us } else { self.last_us });
        let ends = |start_us: f64| (start_us + takes_us).max(self.last_us);
        let mut starts = up_us.iter().map(|[begin, end]| (ready_us.max(*begin), *end));
        let fits = |(start_us, end): &(f64, f64)| ends(*start_us) + up_after_us <= end * (1.0 + SLACK);
        let start_us = if up_us.is_empty() {
            ready_us
        } else {
            starts.find(fits).map_or(f64::INFINITY, |(start_us, _)| start_us)
        };
        *free_us = start_us + takes_us;
        Self { first_us: start_us + alpha_us, last_us: ends(start_us) + alpha_us }
    }
}

/// Tolerance for the end of an interval in which a link is up, relative.
const SLACK: f64 = 1e-9;

/// Transmission of a piece over a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmission<'a> {
    /// `true` if the link leaves a cut-through switch.
    pub through: bool,
    /// Time of the transmission, µs.
    pub takes_us: f64,
    /// Latency of the link, µs.
    pub alpha_us: f64,
    /// Intervals in which the link carries data, µs; if empty, the link always carries data.
    pub up_us: &'a [[f64; 2]],
    /// Time for which the link must be up after the transmission, µs: the latency, or 0 for parts of chunks.
    pub up_after_us: f64,
}

/// A link on a path from GPU to GPU through switches, in epochs from the start of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Epochs until the data starts on the link, which is when the last byte of the data has arrived at the beginning
    /// of the link.
    pub starts: u32,
    /// Epochs until the link begins to transmit the data.
    pub transmits: u32,
    /// Epochs until the data is usable at the end of the link.
    pub arrives: u32,
}

/// Returns the hops over links in order; each link is given by its latency and by the number of epochs for which the
/// data occupies it. If switches cut through, only the slowest transmission of the path adds to its time.
pub fn passages(links: impl IntoIterator<Item = (u32, u32)>, cuts_through: bool) -> Vec<Passage> {
    let (mut starts, mut pace) = (0u32, 0);
    let pass = |(delay, occupied): (u32, u32)| {
        let passage = Passage {
            starts,
            transmits: starts - occupied.min(pace),
            arrives: starts.saturating_add(delay).saturating_add(occupied.saturating_sub(pace)),
        };
        starts = passage.arrives;
        if cuts_through {
            pace = pace.max(occupied);
        }
        passage
    };
    links.into_iter().map(pass).collect()
}

impl LinkEpochs {
    /// Returns the latency, and the number of epochs for which a chunk occupies the link.
    pub const fn hop(&self) -> (u32, u32) {
        (self.delay, self.occupied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_that_cut_through_take_their_slowest_transmission_once() {
        // 1, 10 and 3 epochs of transmission, with latencies of 2, 1 and 4 epochs.
        let ends = |cuts_through| {
            let all = passages([(2, 1), (1, 10), (4, 3)], cuts_through);
            all.iter().map(|passage| (passage.starts, passage.transmits, passage.arrives)).collect::<Vec<_>>()
        };
        // The second begins with the first byte, after 2; the third transmits in the last 3 of its 10 epochs.
        assert_eq!(ends(true), [(0, 0, 3), (3, 2, 13), (13, 10, 17)]);
        assert_eq!(ends(false), [(0, 0, 3), (3, 3, 14), (14, 14, 21)]);
    }

    #[test]
    fn a_piece_waits_for_its_last_byte_and_for_its_link() {
        // 10 us into a switch, 1 us out of it: the fast hop ends with the slow one.
        let hop = |through, takes_us| Transmission {
            through,
            takes_us,
            alpha_us: 0.7,
            up_us: &[],
            up_after_us: 0.7,
        };
        let mut free_us = 0.0;
        let at_switch = Passing::whole(0.0).over(&hop(false, 10.0), &mut free_us);
        assert_eq!(at_switch, Passing { first_us: 0.7, last_us: 10.7 });
        let mut free_us = 0.0;
        assert!((at_switch.over(&hop(true, 1.0), &mut free_us).last_us - 11.4).abs() < 1e-12);
        assert_eq!(free_us, 1.7);
        // 1 us into it and 10 us out of it, on a link that is free at 5.
        let at_switch = Passing::whole(0.0).over(&hop(false, 1.0), &mut 0.0);
        assert_eq!(at_switch.over(&hop(true, 10.0), &mut 5.0), Passing { first_us: 5.7, last_us: 15.7 });
        assert!((at_switch.over(&hop(false, 10.0), &mut 0.0).last_us - 12.4).abs() < 1e-12);
    }

    #[test]
    fn a_transmission_waits_for_the_first_interval_that_holds_it() {
        let up_us = [[1.0, 5.0], [20.0, 40.0]];
        let ends = |takes_us, ready_us| {
            let hop =
                Transmission { through: false, takes_us, alpha_us: 1.0, up_us: &up_us, up_after_us: 1.0 };
            Passing::whole(ready_us).over(&hop, &mut 0.0).last_us
        };
        assert_eq!([ends(3.0, 0.0), ends(3.5, 0.0), ends(3.0, 2.0)], [5.0, 24.5, 24.0]);
        assert_eq!([ends(10.0, 29.0), ends(10.0, 30.0)], [40.0, f64::INFINITY]);
    }
}
