//! The nearest point of the simplex.

/// Moves a point to the nearest one with entries of at least 0 that sum to 1. Entries that end at 0 are left out of the
/// threshold until none is below it (Michelot), which takes a few passes and no sorting.
pub fn project(point: &mut [f64]) {
    let mut left = point.len();
    let mut threshold = (point.iter().sum::<f64>() - 1.0) / left.max(1) as f64;
    loop {
        let (mut sum, mut count) = (0.0, 0);
        for value in point.iter().filter(|value| **value > threshold) {
            sum += value;
            count += 1;
        }
        if count == 0 || count == left {
            break;
        }
        left = count;
        threshold = (sum - 1.0) / count as f64;
    }
    for value in point {
        *value = (*value - threshold).max(0.0);
    }
}
