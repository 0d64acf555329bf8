//! Free epochs of links (docs/methods/collective-search.md, section 6).

use super::chains::ChainTable;
use crate::model::epochs::LinkEpochs;

/// Marker for an epoch that never comes.
pub(in crate::search) const NEVER: u32 = u32::MAX / 4;

/// Transmissions on every link of the real network, and the next epoch at which each link can take another
/// transmission.
///
/// A link takes either several chunks in every epoch, or one chunk over several epochs (see `starts` of
/// [`LinkEpochs`]), so an epoch that is full stays full. Each full epoch therefore has a pointer to a later epoch, and
/// these pointers lead to the next free epoch.
#[derive(Debug)]
pub(in crate::search) struct LinkTracks {
    next: Vec<Vec<u32>>,
    counts: Vec<Vec<u32>>,
    touched: Vec<u32>,
}

impl LinkTracks {
    pub(in crate::search) fn new(links: usize) -> Self {
        Self { next: vec![Vec::new(); links], counts: vec![Vec::new(); links], touched: Vec::new() }
    }

    /// Undoes all starts.
    pub(in crate::search) fn clear(&mut self) {
        for link in self.touched.drain(..) {
            self.next[link as usize].clear();
            self.counts[link as usize].clear();
        }
    }

    /// Undoes all starts on a link.
    pub(in crate::search) fn forget(&mut self, link: u32) {
        self.next[link as usize].clear();
        self.counts[link as usize].clear();
    }

    /// Returns the first epoch, not before a given epoch, at which a chunk can start on a lane of a link; [`NEVER`] if
    /// there is none.
    pub(in crate::search) fn earliest(&mut self, link: u32, model: &LinkEpochs, from: u32) -> u32 {
        // A plan lists a start `early` epochs after the link begins to transmit; tracks contain the epochs in which the
        // link transmits.
        let mut epoch = from.saturating_sub(model.early);
        loop {
            epoch = self.free(link, epoch);
            if !model.timed {
                return epoch + model.early;
            }
            // The start is in an interval in which the link is up, or moves to the beginning of the next interval; the
            // intervals are ascending.
            match model.up.iter().find(|[_, last]| *last >= epoch) {
                None => return NEVER,
                Some([first, _]) if *first <= epoch => return epoch + model.early,
                Some([first, _]) => epoch = *first,
            }
        }
    }

    /// Returns the first epoch, not before a given epoch, at which a chunk can start on a chain so that it finds every
    /// link of the chain free.
    pub(in crate::search) fn earliest_chain(
        &mut self,
        chains: &ChainTable,
        chain: u32,
        models: &[LinkEpochs],
        from: u32,
    ) -> u32 {
        // Starts only increase, and every link is tested again after an increase.
        let mut start = from;
        'again: loop {
            for (link, offset) in chains.links(chain) {
                let model = &models[link as usize];
                let free = self.earliest(model.carrier, model, start + offset);
                if free >= NEVER {
                    return NEVER;
                }
                if free > start + offset {
                    start = free - offset;
                    continue 'again;
                }
            }
            return start;
        }
    }

    fn free(&mut self, link: u32, from: u32) -> u32 {
        let next = &mut self.next[link as usize];
        let mut at = from as usize;
        // Union-find over epochs: every blocked epoch points to a later one. petgraph's `UnionFind` chooses
        // representatives itself; here the representative must be the first free epoch.
        while at < next.len() && next[at] as usize != at {
            let after = next[at] as usize;
            // Skips shorten as they are followed (path halving).
            if after < next.len() {
                next[at] = next[after];
            }
            at = after;
        }
        at as u32
    }

    /// Starts a chunk at a free epoch.
    pub(in crate::search) fn take(&mut self, link: u32, model: &LinkEpochs, epoch: u32) {
        let epoch = epoch.saturating_sub(model.early);
        if self.next[link as usize].is_empty() {
            self.touched.push(link);
        }
        // A start blocks the earlier and later starts whose transmissions would overlap with its own.
        let (first, last) = if model.occupied > 1 {
            (epoch.saturating_sub(model.occupied - 1), epoch + model.occupied - 1)
        } else {
            // Links with several starts per epoch are blocked when their count is full.
            if model.starts > 1 {
                let counts = &mut self.counts[link as usize];
                if counts.len() <= epoch as usize {
                    counts.resize(epoch as usize + 1, 0);
                }
                counts[epoch as usize] += 1;
                if counts[epoch as usize] < model.starts {
                    // The epoch is marked as touched, but stays free.
                    self.grow(link, epoch);
                    return;
                }
            }
            (epoch, epoch)
        };
        self.grow(link, last);
        let next = &mut self.next[link as usize];
        // Blocked epochs point to the epoch after the last one; epochs that were blocked before keep their skip.
        for blocked in first..=last {
            if next[blocked as usize] == blocked {
                next[blocked as usize] = last + 1;
            }
        }
    }

    fn grow(&mut self, link: u32, epoch: u32) {
        // New epochs are free: each points to itself.
        let next = &mut self.next[link as usize];
        let known = next.len() as u32;
        next.extend(known..=epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(occupied: u32, starts: u32, up: &[[u32; 2]]) -> LinkEpochs {
        LinkEpochs {
            per_epoch: 1.0,
            delay: 0,
            occupied,
            starts,
            latency: occupied,
            pace: 0,
            early: 0,
            shift: 0,
            carrier: 0,
            up: up.to_vec(),
            timed: !up.is_empty(),
            through: false,
        }
    }

    #[test]
    fn a_slow_link_keeps_its_distance_on_both_sides() {
        let (mut tracks, model) = (LinkTracks::new(1), link(3, 1, &[]));
        tracks.take(0, &model, 5);
        let free: Vec<u32> = (0..9).map(|from| tracks.earliest(0, &model, from)).collect();
        assert_eq!(free, [0, 1, 2, 8, 8, 8, 8, 8, 8]);
        tracks.take(0, &model, 2);
        assert_eq!(tracks.earliest(0, &model, 0), 8);
        tracks.clear();
        assert_eq!(tracks.earliest(0, &model, 0), 0);
    }

    #[test]
    fn a_fast_link_takes_several_in_an_epoch() {
        let (mut tracks, model) = (LinkTracks::new(1), link(1, 2, &[]));
        tracks.take(0, &model, 1);
        assert_eq!(tracks.earliest(0, &model, 1), 1);
        tracks.take(0, &model, 1);
        assert_eq!(tracks.earliest(0, &model, 1), 2);
        assert_eq!(tracks.earliest(0, &model, 0), 0);
    }

    #[test]
    fn a_link_that_comes_and_goes_is_waited_for() {
        let (mut tracks, model) = (LinkTracks::new(1), link(1, 1, &[[2, 3], [7, 7]]));
        assert_eq!(tracks.earliest(0, &model, 0), 2);
        tracks.take(0, &model, 2);
        tracks.take(0, &model, 3);
        assert_eq!(tracks.earliest(0, &model, 0), 7);
        tracks.take(0, &model, 7);
        assert_eq!(tracks.earliest(0, &model, 0), NEVER);
    }
}
