//! Assignments of maximum value.

/// A permutation with the largest sum of `values[row * size + permutation[row]]`, by shortest augmenting paths
/// (Kuhn-Munkres with potentials), in `size³` steps.
pub(super) fn largest(values: &[f64], size: usize) -> Vec<u16> {
    // Column 0 and row 0 are dummies; `row_of[column]` is the row assigned to a column. Potentials make all reduced
    // costs non-negative, so shortest augmenting paths are found without negative arcs.
    let (mut of_row, mut of_column) = (vec![0.0; size + 1], vec![0.0; size + 1]);
    let mut row_of = vec![0usize; size + 1];
    let mut before = vec![0usize; size + 1];
    // One row after another; each adds one assigned column.
    for row in 1..=size {
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; size + 1];
        let mut done = vec![false; size + 1];
        // Dijkstra over columns with the reduced costs.
        while row_of[column] != 0 {
            done[column] = true;
            let from = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for to in (1..=size).filter(|to| !done[*to]) {
                let cost = -values[(from - 1) * size + to - 1] - of_row[from] - of_column[to];
                if cost < least[to] {
                    (least[to], before[to]) = (cost, column);
                }
                if least[to] < step {
                    (step, next) = (least[to], to);
                }
            }
            // The potentials change by the step, which keeps reduced costs of assigned pairs at 0.
            for to in 0..=size {
                if done[to] {
                    of_row[row_of[to]] += step;
                    of_column[to] -= step;
                } else {
                    least[to] -= step;
                }
            }
            column = next;
        }
        // Augmentation along the path found.
        while column != 0 {
            let from = before[column];
            row_of[column] = row_of[from];
            column = from;
        }
    }
    let mut permutation = vec![0; size];
    for column in 1..=size {
        permutation[row_of[column] - 1] = (column - 1) as u16;
    }
    permutation
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The largest sum by trying all permutations.
    fn by_trying(values: &[f64], size: usize, row: usize, used: u32) -> f64 {
        if row == size {
            return 0.0;
        }
        (0..size)
            .filter(|column| used >> column & 1 == 0)
            .map(|column| values[row * size + column] + by_trying(values, size, row + 1, used | 1 << column))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    proptest! {
        #[test]
        fn no_permutation_is_better(size in 1usize..7, values in proptest::collection::vec(0u8..20, 36)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let found = largest(&values[..size * size], size);
            let sum: f64 = found.iter().enumerate().map(|(row, &to)| values[row * size + usize::from(to)]).sum();
            let mut sorted = found.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..size as u16), "{:?}", found);
            prop_assert_eq!(sum, by_trying(&values, size, 0, 0));
        }
    }
}
