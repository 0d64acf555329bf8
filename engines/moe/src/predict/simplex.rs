//! Projects points onto the simplex: entries are at least 0 and sum to 1 (docs/methods/moe.md, section 10).

/// Number of partial sums that are computed in parallel, one for each lane of a vector register.
const LANES: usize = 4;

/// Projects a point onto the simplex and returns the threshold that is subtracted from every entry. The search for the
/// threshold begins at `start`, such as the threshold of a nearby point.
///
/// The threshold is the root of `sum max(0, v - t) = 1`, a decreasing, convex, piecewise linear function: Newton's
/// method reaches it from any start in a few passes and without sorting.
pub fn project_from(point: &mut [f64], start: f64) -> f64 {
    let mut threshold = start;
    // Each step of Newton's method crosses at least one piece, so this number of steps always suffices.
    for _ in 0..point.len() + 2 {
        let (sum, count) = above(point, threshold);
        // The line through the entries above the threshold has its root at (sum - 1)/count. If the threshold is above
        // all entries, continues from a lower bound on the correct threshold.
        let next = if count > 0.0 { (sum - 1.0) / count } else { even_threshold(point) };
        if next == threshold {
            break;
        }
        threshold = next;
    }
    // Entries below the threshold become 0.
    for value in point {
        *value = (*value - threshold).max(0.0);
    }
    threshold
}

/// Returns the threshold for the case that no entry becomes 0, which is a lower bound on the correct threshold.
fn even_threshold(point: &[f64]) -> f64 {
    (point.iter().sum::<f64>() - 1.0) / point.len().max(1) as f64
}

/// Returns the sum and the number of the entries above a threshold.
fn above(point: &[f64], threshold: f64) -> (f64, f64) {
    let (groups, rest) = point.as_chunks::<LANES>();
    let (mut sums, mut counts) = ([0.0; LANES], [0.0; LANES]);
    for group in groups {
        for ((sum, count), value) in sums.iter_mut().zip(&mut counts).zip(group) {
            // Without a branch, so that the compiler can use vector instructions.
            let is_above = *value > threshold;
            *sum += if is_above { *value } else { 0.0 };
            *count += if is_above { 1.0 } else { 0.0 };
        }
    }
    let (mut sum, mut count) = (sums.iter().sum::<f64>(), counts.iter().sum::<f64>());
    for value in rest.iter().filter(|value| **value > threshold) {
        sum += value;
        count += 1.0;
    }
    (sum, count)
}
