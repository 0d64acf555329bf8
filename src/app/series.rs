//! Curves with bounded memory: thinned by minimum and maximum, so that spikes stay.

/// Maximum number of points in a series; the full data is in the run log.
pub const CAPACITY: usize = 4096;

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Seconds of the run's clock.
    pub at_s: f64,
    /// Number of the generation, node or vector at which the run reported the value.
    pub count: f64,
    /// Value at this point.
    pub value: f64,
}

/// A curve in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCurve {
    points: Vec<Point>,
    /// Number of points added, kept or not.
    total: u64,
}

impl RunCurve {
    /// Adds a point at the end.
    pub fn push(&mut self, point: Point) {
        self.total += 1;
        self.points.push(point);
        if self.points.len() >= CAPACITY {
            self.thin();
        }
    }

    /// Returns the points kept, oldest first.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the newest point.
    pub fn last(&self) -> Option<Point> {
        self.points.last().copied()
    }

    /// Returns the number of points added so far.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Halves the points: keeps the smallest and the largest of every four, in their order. Ends always stay.
    fn thin(&mut self) {
        let Some((first, last)) = self.points.first().copied().zip(self.points.last().copied()) else {
            return;
        };
        let inner = &self.points[1..self.points.len() - 1];
        let mut kept = Vec::with_capacity(CAPACITY);
        kept.push(first);
        for four in inner.chunks(4) {
            let extreme = |better: fn(f64, f64) -> bool| {
                let mut best = 0;
                for (index, point) in four.iter().enumerate() {
                    if better(point.value, four[best].value) || four[best].value.is_nan() {
                        best = index;
                    }
                }
                best
            };
            let (low, high) = (extreme(|a, b| a < b), extreme(|a, b| a >= b));
            kept.extend(four.get(low.min(high)));
            if low != high {
                kept.extend(four.get(low.max(high)));
            }
        }
        kept.push(last);
        self.points = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(index: u32, value: f64) -> Point {
        Point { at_s: f64::from(index), count: f64::from(index), value }
    }

    #[test]
    fn a_long_series_keeps_its_ends_and_its_spikes() {
        let mut series = RunCurve::default();
        for index in 0..100_000 {
            let value = match index {
                12_345 => 500.0,
                54_321 => -500.0,
                _ => f64::from(index % 7),
            };
            series.push(point(index, value));
            assert!(series.points().len() < CAPACITY);
        }
        let points = series.points();
        assert_eq!(series.total(), 100_000);
        assert_eq!((points[0].count, points[points.len() - 1].count), (0.0, 99_999.0));
        assert!(points.iter().any(|p| p.value == 500.0 && p.count == 12_345.0));
        assert!(points.iter().any(|p| p.value == -500.0 && p.count == 54_321.0));
        assert!(points.windows(2).all(|pair| pair[0].count < pair[1].count));
    }

    #[test]
    fn values_that_are_no_numbers_do_not_hide_others() {
        let mut series = RunCurve::default();
        for index in 0..8_192 {
            series.push(point(index, if index % 4 == 1 { f64::NAN } else { f64::from(index) }));
        }
        assert!(series.points().iter().filter(|p| !p.value.is_nan()).count() > 500);
    }
}
