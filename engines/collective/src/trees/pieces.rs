//! Distributes whole pieces over trees in proportion to their shares.

use super::tree::Tree;

/// Returns the trees with the number of pieces that their shares give, rounded by the largest-remainder method; omits
/// trees without pieces.
pub fn spread(trees: &[(Tree, f64)], pieces: u32) -> Vec<(&Tree, u32)> {
    let parts: Vec<f64> = trees.iter().map(|(_, share)| share * f64::from(pieces)).collect();
    // Shares are sums of floats: a number that is an integer up to rounding counts as an integer.
    let mut counts: Vec<u32> = parts.iter().map(|part| (part + 1e-9) as u32).collect();
    let mut missing = pieces.saturating_sub(counts.iter().sum());
    let mut order: Vec<usize> = (0..trees.len()).collect();
    let rest = |place: &usize| parts[*place] - f64::from(counts[*place]);
    let rests: Vec<f64> = order.iter().map(rest).collect();
    // The largest remainders get the missing pieces, ties by position.
    order.sort_by(|one, other| rests[*other].total_cmp(&rests[*one]).then(one.cmp(other)));
    for place in order {
        let more = missing.min(1);
        counts[place] += more;
        missing -= more;
    }
    trees.iter().zip(counts).filter(|(_, count)| *count > 0).map(|((tree, _), count)| (tree, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_remainders_get_the_rest() {
        let trees: Vec<(Tree, f64)> = [0.5, 0.3, 0.2].map(|share| (Tree::new(0), share)).to_vec();
        let counts = |pieces| spread(&trees, pieces).iter().map(|(_, count)| *count).collect::<Vec<u32>>();
        assert_eq!(counts(10), [5, 3, 2]);
        assert_eq!(counts(4), [2, 1, 1]);
        assert_eq!(counts(1), [1]);
    }
}
