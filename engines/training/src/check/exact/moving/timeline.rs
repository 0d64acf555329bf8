//! Upper bound on the circuits that carry over an iteration if the two instants at which circuits change lie in given
//! ranges.

/// A range of moments, seconds.
pub(super) type TimeRange = [f64; 2];

/// Maximum number of circuits that carry, by pieces of time. After the period the last piece continues.
pub(super) struct CircuitTimeline {
    /// Starts of the pieces, ascending from 0, seconds.
    starts_s: Vec<f64>,
    /// Maximum number of circuits that carry, at `[piece * links + link]`.
    circuits: Vec<f64>,
    links: usize,
}

impl CircuitTimeline {
    /// Computes the timeline. The circuits of the second state are set at a time in `go`, and the circuits of the first
    /// state at a time in `back`. A circuit carries at a moment only if it was set throughout the dark time before that
    /// moment; the iteration repeats, so the dark time before the start of an iteration lies at the end of the previous
    /// iteration. So if the first state certainly holds at some moment of that dark time, at most the circuits of the
    /// first state carry; the same applies to the second state.
    pub fn new(go: TimeRange, back: TimeRange, delay_s: f64, period_s: f64, states: [&[f64]; 2]) -> Self {
        // Half-open spans of the times t such that the state certainly holds at some time within the dark time before
        // t.
        let meets = |from_s: f64, until_s: f64| {
            let until_s = if from_s < until_s { until_s + delay_s } else { f64::NEG_INFINITY };
            [
                [from_s, until_s],
                [from_s - period_s, until_s - period_s],
                [from_s + period_s, until_s + period_s],
            ]
        };
        let first = meets(back[1] - period_s, go[0]);
        let second = meets(go[1], back[0]);
        let mut starts_s: Vec<f64> = first.iter().chain(&second).flatten().copied().collect();
        starts_s.retain(|start_s| *start_s > 0.0 && *start_s < period_s);
        starts_s.push(0.0);
        starts_s.sort_by(f64::total_cmp);
        starts_s.dedup();
        let links = states[0].len();
        let mut circuits = Vec::with_capacity(starts_s.len() * links);
        for (piece, start_s) in starts_s.iter().enumerate() {
            let next_s = starts_s.get(piece + 1).copied().unwrap_or(period_s);
            let middle_s = f64::midpoint(*start_s, next_s);
            let met =
                |spans: &[TimeRange]| spans.iter().any(|span| span[0] <= middle_s && middle_s < span[1]);
            let (has_first, has_second) = (met(&first), met(&second));
            circuits.extend(states[0].iter().zip(states[1]).map(|(a, b)| match (has_first, has_second) {
                (true, true) => a.min(*b),
                (true, false) => *a,
                (false, true) => *b,
                (false, false) => a.max(*b),
            }));
        }
        Self { starts_s, circuits, links }
    }

    /// Builds a timeline from `pieces`: each piece is its start and the circuits from then on; starts ascend, and the
    /// first start is 0.
    pub fn of(pieces: &[(f64, &[f64])]) -> Self {
        let links = pieces.first().map_or(0, |(_, state)| state.len());
        let starts_s = pieces.iter().map(|(start_s, _)| *start_s).collect();
        let circuits = pieces.iter().flat_map(|(_, state)| state.iter().copied()).collect();
        Self { starts_s, circuits, links }
    }

    /// The moment at which work ends that starts at `from_s`, takes `seconds` on one circuit, and uses at most `most`
    /// circuits; infinite if the work never ends.
    pub fn end_s(&self, link: usize, from_s: f64, seconds: f64, most: f64) -> f64 {
        let (mut left, mut now) = (seconds, from_s);
        let first = self.starts_s.partition_point(|start_s| *start_s <= from_s).saturating_sub(1);
        for piece in first..self.starts_s.len() {
            let speed = self.circuits[piece * self.links + link].min(most);
            let until_s = self.starts_s.get(piece + 1).copied().unwrap_or(f64::INFINITY);
            let done = speed * (until_s - now).max(0.0);
            if left <= done && speed > 0.0 {
                return now + left / speed;
            }
            if left <= 0.0 {
                return now;
            }
            if until_s == f64::INFINITY {
                break;
            }
            left -= done;
            now = now.max(until_s);
        }
        f64::INFINITY
    }

    /// Work that at most `most` circuits can do between two moments, in seconds of one circuit.
    pub fn carried(&self, link: usize, from_s: f64, until_s: f64, most: f64) -> f64 {
        (0..self.starts_s.len())
            .map(|piece| {
                let next_s = self.starts_s.get(piece + 1).copied().unwrap_or(f64::INFINITY);
                let length_s = until_s.min(next_s) - from_s.max(self.starts_s[piece]);
                self.circuits[piece * self.links + link].min(most) * length_s.max(0.0)
            })
            .sum()
    }
}
