//! Schedules for a list of sizes: the sizes that each of several schedules serves, and the size at which the next
//! schedule takes over (docs/methods/collective-trees.md, section 12).

/// Times of a schedule for each size of a list, µs; `None` if unknown.
pub type TimesBySize = Vec<Option<f64>>;

/// Sizes that a schedule serves, by their positions in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedSizes {
    /// Index of the schedule.
    pub schedule: usize,
    /// Position of the first size.
    pub first: usize,
    /// Position of the last size.
    pub last: usize,
}

/// Returns the smallest number of ranges that cover all sizes within `limits_us`, each with its schedule. If no
/// schedule serves a size, omits this size and all sizes after it.
pub fn fewest(times: &[TimesBySize], limits_us: &[f64]) -> Vec<ServedSizes> {
    // A schedule does not serve a size if its time exceeds the limit of the size.
    let within = |schedule: usize, size: usize| {
        times[schedule].get(size).copied().flatten().filter(|time| *time <= limits_us[size])
    };
    let mut served = Vec::new();
    let mut first = 0;
    while first < limits_us.len() {
        // Interval covering: takes the longest range from the first size that is not served; no other choice has fewer
        // ranges.
        let range = |schedule: usize| {
            let (mut end, mut sum) = (first, 0.0);
            while let Some(time) = (end < limits_us.len()).then(|| within(schedule, end)).flatten() {
                (end, sum) = (end + 1, sum + time / limits_us[end]);
            }
            (end, sum, schedule)
        };
        // Ties go to the smaller sum of relative times, then to the smaller number.
        let longest = (0..times.len()).map(range).max_by(|one, other| {
            one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)).then(other.2.cmp(&one.2))
        });
        // The list ends at a size that no schedule serves.
        let Some((end, _, schedule)) = longest.filter(|(end, ..)| *end > first) else { break };
        served.push(ServedSizes { schedule, first, last: end - 1 });
        first = end;
    }
    served
}

/// Returns the last size, bytes, that is at least `from` and below `to` and for which the schedule of `before_us` is
/// not slower than the schedule of `after_us`.
pub fn crossover(from: u64, to: u64, before_us: impl Fn(u64) -> f64, after_us: impl Fn(u64) -> f64) -> u64 {
    let is_before = |bytes: u64| before_us(bytes) <= after_us(bytes);
    // Bisection: the first schedule is faster for small sizes, the second for large ones.
    let (mut low, mut high) = (from, to);
    // The first schedule serves the size `from`, whichever schedule is faster there.
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_schedules_serve_all_sizes() {
        let times = vec![
            vec![Some(1.0), Some(2.0), Some(4.0), None],
            vec![Some(1.5), Some(1.99), Some(3.0), Some(5.0)],
            vec![None, None, Some(2.9), Some(4.9)],
        ];
        let served = |schedule, first, last| ServedSizes { schedule, first, last };
        assert_eq!(
            fewest(&times, &[1.0, 1.99, 2.9, 4.9]),
            [served(0, 0, 0), served(1, 1, 1), served(2, 2, 3)]
        );
        assert_eq!(fewest(&times, &[1.0, 2.0, 3.0, 5.0]), [served(0, 0, 1), served(2, 2, 3)]);
        assert_eq!(fewest(&times, &[1.5, 2.0, 3.0, 5.0]), [served(1, 0, 3)]);
        // Nothing serves the third size.
        assert_eq!(fewest(&times, &[1.0, 2.0, 2.0, 5.0]), [served(0, 0, 1)]);
    }

    #[test]
    fn schedules_take_over_where_they_are_as_fast() {
        let before = |bytes: u64| 1.0 + bytes as f64 / 100.0;
        let after = |bytes: u64| 3.0 + bytes as f64 / 200.0;
        assert_eq!(crossover(100, 1000, before, after), 400);
        assert_eq!(crossover(500, 1000, before, after), 500);
        assert_eq!(crossover(100, 300, before, after), 299);
    }
}
