//! Classes of unordered pairs of chips that are equivalent under the symmetry of a pod.

use super::group::Group;
use super::pod::{CHIPS, parts};

/// Classes of unordered pairs under the translations.
pub(crate) struct PairClasses<'g> {
    group: &'g Group,
    pub(crate) nodes: usize,
    /// Class number of each ordered pair whose first chip is in cube 0, at index `chip * nodes + node`.
    rows: Vec<u32>,
    /// Multiplicity of the pairs of each class: 2 if a translation swaps the chips of a pair, otherwise 1.
    pub(crate) count: Vec<f64>,
}

const NONE: u32 = u32::MAX;

impl<'g> PairClasses<'g> {
    /// Determines the classes of all pairs of a pod.
    pub(crate) fn new(group: &'g Group) -> Self {
        let nodes = CHIPS * group.order();
        let mut pairs = Self { group, nodes, rows: vec![NONE; CHIPS * nodes], count: Vec::new() };
        for chip in 0..CHIPS {
            for other in (0..nodes).filter(|other| *other != chip) {
                let at = chip * nodes + other;
                if pairs.rows[at] != NONE {
                    continue;
                }
                let mirror = pairs.position(other as u32, chip as u32);
                let row = pairs.count.len() as u32;
                pairs.rows[at] = row;
                pairs.rows[mirror] = row;
                pairs.count.push(if mirror == at { 2.0 } else { 1.0 });
            }
        }
        pairs
    }

    /// Index of an ordered pair after its first chip is translated into cube 0.
    fn position(&self, first: u32, second: u32) -> usize {
        let ((cube, chip), (far, other)) = (parts(first), parts(second));
        let moved = self.group.times(self.group.inverse(cube), far);
        usize::from(chip) * self.nodes + CHIPS * moved + usize::from(other)
    }

    /// Number of the class of a pair.
    pub(crate) fn row(&self, first: u32, second: u32) -> usize {
        self.rows[self.position(first, second)] as usize
    }
}
