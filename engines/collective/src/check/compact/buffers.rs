//! Data that GPUs hold without being destinations of the data: pieces on their way along trees, from the arrival at a
//! GPU until the last departure.

use super::{Checker, TOLERANCE};
use crate::plan::compact::CompactTree;
use rustc_hash::FxHashMap;

impl Checker<'_> {
    /// Records the data of a tree that GPUs hold without being destinations: `bytes` from the arrival of each hop until
    /// `epochs` epochs after the last departure of this data.
    pub(super) fn hold(
        &mut self,
        tree: &CompactTree,
        hops: &[(u32, u32, Vec<u32>)],
        (arrives, leaves): (&[u64], &[u64]),
        (bytes, epochs): (f64, u64),
    ) {
        if self.most_held_bytes.is_none() {
            return;
        }
        let mut last: FxHashMap<u32, u64> = FxHashMap::default();
        for ((from, ..), leaves) in hops.iter().zip(leaves) {
            let known = last.entry(*from).or_default();
            *known = (*leaves).max(*known);
        }
        for ((_, to, _), arrival) in hops.iter().zip(arrives) {
            let wants = if self.each { tree.dests.contains(to) } else { self.receivers.contains(to) };
            let Some(&orbit) = self.orbits.gpus.get(*to as usize).filter(|_| !wants) else { continue };
            let until = last.get(to).copied().unwrap_or(*arrival).max(*arrival) + epochs;
            self.held.entry(orbit).or_default().extend([(*arrival, bytes), (until, -bytes)]);
        }
    }

    /// Checks that the data that a GPU holds for other GPUs fits into its buffer. By symmetry, the data that one GPU
    /// holds under all trees equals the sum of the data that all GPUs of its orbit hold under the listed trees; the
    /// images of these trees are not needed.
    pub(super) fn buffers(&mut self) {
        let Some(most) = self.most_held_bytes else { return };
        let mut held: Vec<(u32, Vec<(u64, f64)>)> = std::mem::take(&mut self.held).into_iter().collect();
        held.sort_by_key(|(gpu, _)| *gpu);
        for (gpu, mut changes) in held {
            changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let mut now = 0.0;
            for (epoch, change) in changes {
                now += change;
                if now > most + self.piece_bytes() * TOLERANCE {
                    self.found.push(format!(
                        "buffer: GPU {gpu} holds {now} bytes for others in epoch {epoch}, but its buffer \
                         holds at most {most} bytes"
                    ));
                    break;
                }
            }
        }
    }
}
