//! Checks the symmetry that a plan states.

use super::wiring::{SWITCHES, Wiring};
use super::{Findings, code};
use crate::plan::TopologyRecord;

/// A confirmed symmetry: the stated table is a group whose left translations preserve the wiring, so cube 0 represents
/// all cubes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symmetric;

/// The symmetry of a record; `None` if the record states no symmetry, or an invalid one, which is a violation.
pub(super) fn of(record: &TopologyRecord, wiring: &Wiring, found: &mut Findings) -> Option<Symmetric> {
    let symmetry = record.symmetry.as_ref()?;
    let order = wiring.cubes;
    let mut fault = |message: String| {
        found.add(code::SYMMETRY, message);
        None
    };
    let rows = &symmetry.table;
    if rows.len() != order || rows.iter().any(|row| row.len() != order) {
        return fault(format!("the table is not {order} x {order}, one row and column for every cube"));
    }
    for (a, row) in rows.iter().enumerate() {
        let mut seen = vec![false; order];
        for &entry in row {
            match seen.get_mut(usize::from(entry)) {
                Some(seen) if !*seen => *seen = true,
                _ => return fault(format!("row {a} of the table is not a permutation of the elements")),
            }
        }
    }
    for column in 0..order {
        let mut seen = vec![false; order];
        for row in rows {
            seen[usize::from(row[column])] = true;
        }
        if seen.contains(&false) {
            return fault(format!("column {column} of the table is not a permutation of the elements"));
        }
    }
    let times = |a: usize, b: usize| usize::from(rows[a][b]);
    if let Some(a) = (0..order).find(|&a| times(0, a) != a || times(a, 0) != a) {
        return fault(format!("element 0 is not the identity: it changes element {a}"));
    }
    for a in 0..order {
        for b in 0..order {
            let ab = times(a, b);
            if let Some(c) = (0..order).find(|&c| times(ab, c) != times(a, times(b, c))) {
                return fault(format!("the table is not associative for elements {a}, {b}, {c}"));
            }
        }
    }
    if symmetry.voltage.len() != SWITCHES {
        return fault(format!("{} voltages are given for 48 switches", symmetry.voltage.len()));
    }
    for (switch, &voltage) in symmetry.voltage.iter().enumerate() {
        if usize::from(voltage) >= order {
            return fault(format!("voltage {voltage} of switch {switch} is not an element of the group"));
        }
        let wrong = (0..order).find(|&c| wiring.to[switch][c] != rows[c][usize::from(voltage)]);
        if let Some(cube) = wrong {
            return fault(format!(
                "switch {switch} patches cube {cube} to {}, but its voltage {voltage} gives {}",
                wiring.to[switch][cube],
                rows[cube][usize::from(voltage)]
            ));
        }
    }
    Some(Symmetric)
}
