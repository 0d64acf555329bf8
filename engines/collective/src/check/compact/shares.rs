//! Data that the trees of a plan in compact form carry: each root's data is sent in full, exactly once.

use super::Checker;
use rustc_hash::{FxHashMap, FxHashSet};

/// Numerator and denominator of a sum of shares; `None` if a share is not a fraction, or the sum overflows.
type ShareSum = Option<(u128, u128)>;

impl Checker<'_> {
    /// Checks that the shares of every root add up to 1, separately for each destination if destinations get different
    /// data, and that every orbit of GPUs has one root.
    pub(super) fn shares(&mut self) {
        // Keyed by root, and also by destination if every destination gets different data.
        let mut sums: FxHashMap<(u32, Option<u32>), ShareSum> = FxHashMap::default();
        for (place, tree) in self.plan.trees.iter().enumerate() {
            let dest = match (self.each, tree.dests.as_slice()) {
                (false, []) => None,
                (true, [dest]) if self.receivers.contains(dest) && *dest != tree.root => Some(*dest),
                (false, _) => {
                    self.found.push(format!(
                        "demand: trees[{place}] names destinations, but its data goes to all GPUs"
                    ));
                    continue;
                }
                (true, _) => {
                    let text = format!(
                        "demand: trees[{place}] must have exactly one destination, which must be another rank"
                    );
                    self.found.push(text);
                    continue;
                }
            };
            let part = fraction(&tree.share);
            let sum = sums.entry((tree.root, dest)).or_insert(Some((0, 1)));
            *sum = sum.zip(part).and_then(|(sum, part)| added(sum, part));
        }
        let mut carried: Vec<((u32, Option<u32>), ShareSum)> = sums.into_iter().collect();
        carried.sort_unstable();
        let mut seen = FxHashSet::default();
        for of_root in carried.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            let (root, _) = of_root[0].0;
            for ((_, dest), _) in of_root.iter().filter(|(_, sum)| *sum != Some((1, 1))) {
                let to = dest.map_or_else(String::new, |dest| format!(" for destination {dest}"));
                self.found.push(format!("demand: the shares of root {root}{to} do not add up to 1"));
            }
            let dests = self.receivers.len() - usize::from(self.receivers.contains(&root));
            if self.each && of_root.len() != dests {
                let text = format!("demand: root {root} has data for only {} of {dests} GPUs", of_root.len());
                self.found.push(text);
            }
            match self.orbits.gpus.get(root as usize) {
                Some(&orbit) if orbit != u32::MAX && self.sources.contains(&root) => {
                    if !seen.insert(orbit) {
                        self.found.push(format!(
                            "demand: root {root} is the image of another root under a symmetry"
                        ));
                    }
                }
                _ => self.found.push(format!("demand: root {root} is not a GPU with data")),
            }
        }
        let orbits: FxHashSet<u32> =
            self.sources.iter().filter_map(|gpu| self.orbits.gpus.get(*gpu as usize)).copied().collect();
        if seen.len() != orbits.len() {
            let text = format!("demand: only {} of {} orbits of GPUs have a root", seen.len(), orbits.len());
            self.found.push(text);
        }
    }
}

/// Parses a fraction such as `13/40` into numerator and denominator; `None` for any other text.
pub(super) fn fraction(text: &str) -> Option<(u128, u128)> {
    let (top, bottom) = text.split_once('/')?;
    let (top, bottom) = (top.parse().ok()?, bottom.parse().ok()?);
    (bottom > 0).then_some((top, bottom))
}

/// Returns the sum of two fractions; `None` if the sum overflows.
fn added((a, b): (u128, u128), (c, d): (u128, u128)) -> Option<(u128, u128)> {
    let top = a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?;
    let bottom = b.checked_mul(d)?;
    let divisor = divisor(top, bottom);
    Some((top / divisor, bottom / divisor))
}

const fn divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if a == 0 { 1 } else { a }
}
