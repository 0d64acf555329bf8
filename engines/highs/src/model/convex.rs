//! Convexity test of a quadratic form: HiGHS does not detect nonconvex forms reliably and may return wrong results for
//! them.

use super::Quadratic;
use petgraph::unionfind::UnionFind;

/// Returns the first column at which factorising shows that the form is not positive semidefinite (negative
/// semidefinite with `negate`); `None` if the form is semidefinite. Pivots within 1e-9 of the largest diagonal entry
/// count as zero; the rest of their column must then be zero as well.
///
/// Computes an LDL' factorisation of each connected part of the form separately, so that separable forms cost little; a
/// part of n columns takes n^2 / 2 numbers and n^3 / 6 steps.
pub(super) fn first_concave(part: &Quadratic, negate: bool) -> Option<u32> {
    let sign = if negate { -1.0 } else { 1.0 };
    let columns = part.starts.len();
    let entries: Vec<(usize, usize, f64)> = (0..columns)
        .flat_map(|column| {
            let from = part.starts[column] as usize;
            let to = part.starts.get(column + 1).map_or(part.indices.len(), |start| *start as usize);
            (from..to).map(move |entry| (part.indices[entry] as usize, column, sign * part.values[entry]))
        })
        .filter(|(_, _, value)| *value != 0.0)
        .collect();
    let mut joined = UnionFind::new(columns);
    for (row, column, _) in &entries {
        joined.union(*row, *column);
    }
    let label = joined.into_labeling();
    // Parts in the order of their first columns, columns of each part ascending, and the position of each column in its
    // part.
    let mut part_of = vec![usize::MAX; columns];
    let mut members: Vec<Vec<u32>> = Vec::new();
    let mut place = vec![0; columns];
    for (column, place) in place.iter_mut().enumerate() {
        let part = &mut part_of[label[column]];
        if *part == usize::MAX {
            *part = members.len();
            members.push(Vec::new());
        }
        *place = members[*part].len();
        members[*part].push(column as u32);
    }
    let mut of_part: Vec<Vec<(usize, usize, f64)>> = vec![Vec::new(); members.len()];
    for (row, column, value) in entries {
        of_part[part_of[label[column]]].push((place[row], place[column], value));
    }
    of_part
        .iter()
        .zip(&members)
        .filter(|(entries, _)| !entries.is_empty())
        .find_map(|(entries, members)| concave_at(members.len(), entries).map(|at| members[at]))
}

/// Returns the pivot at which a form of `size` columns turns out not to be positive semidefinite.
fn concave_at(size: usize, entries: &[(usize, usize, f64)]) -> Option<usize> {
    // The lower triangle, row after row.
    let at = |row: usize, column: usize| row * (row + 1) / 2 + column;
    let mut lower = vec![0.0; at(size, 0)];
    for (row, column, value) in entries {
        lower[at(*row.max(column), *row.min(column))] += value;
    }
    let largest = (0..size).map(|row| lower[at(row, row)].abs()).fold(f64::MIN_POSITIVE, f64::max);
    let tolerance = 1e-9 * largest;
    for pivot in 0..size {
        let diagonal = lower[at(pivot, pivot)];
        if diagonal < -tolerance {
            return Some(pivot);
        }
        if diagonal <= tolerance {
            // |q_ij| <= sqrt(q_ii q_jj) in a semidefinite form.
            let reach = (tolerance * largest).sqrt();
            if (pivot + 1..size).any(|row| lower[at(row, pivot)].abs() > reach) {
                return Some(pivot);
            }
            continue;
        }
        for row in pivot + 1..size {
            let factor = lower[at(row, pivot)] / diagonal;
            if factor != 0.0 {
                for column in pivot + 1..=row {
                    lower[at(row, column)] -= factor * lower[at(column, pivot)];
                }
            }
        }
    }
    None
}
