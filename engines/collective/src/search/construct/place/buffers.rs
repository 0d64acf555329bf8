//! Placement of chunks that wait at their source until the GPUs on their paths have buffer space.

use super::super::PLAIN;
use super::Placer;
use crate::model::buffers::{Stay, stays};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

impl Placer<'_> {
    /// Places all chunks so that no GPU holds more than `limit` chunks for other GPUs at a time; returns the finish, or
    /// `None` if some chunk cannot reach its destinations. A chunk without buffer space leaves its source later, at the
    /// latest when all chunks before it have arrived, so a limit of one chunk always allows a schedule. With a limit of
    /// 0, a chunk passes only through switches and through GPUs that need this chunk.
    ///
    /// # Errors
    /// If the run must stop.
    pub fn within_buffers<W: Watch<S>, S>(
        &mut self,
        limit: u32,
        watch: &mut W,
    ) -> Result<Option<u32>, MethodError> {
        // Schedules every chunk in turn, in numerical order.
        self.tracks.clear();
        self.starts.clear();
        self.relays = limit > 0;
        let mut held: Vec<Vec<Stay>> = vec![Vec::new(); self.task.network.node_count()];
        let mut finish = 0;
        for chunk in 0..self.task.chunks.len() as u32 {
            let first = self.starts.len();
            let mut ready = 0;
            // Places a chunk, and places it again later as long as some GPU has no buffer space for it.
            loop {
                watch.checkpoint()?;
                let Some(end) = self.place(chunk, PLAIN[1], ready) else { return Ok(None) };
                // Stays of this chunk at relaying GPUs.
                let new = stays(self.task, &self.starts[first..]);
                let wait = new.iter().filter_map(|stay| wait(&held[stay.node as usize], stay, limit)).max();
                // All GPUs have space: records the stays of the chunk.
                let Some(wait) = wait else {
                    finish = finish.max(end);
                    for stay in new {
                        held[stay.node as usize].push(stay);
                    }
                    break;
                };
                let leaves = self.starts[first..].iter().map(|start| start.epoch).min();
                // Undoes the starts of the chunk; the source keeps the chunk until `ready`.
                self.take_back(first);
                ready = leaves.unwrap_or(ready) + wait;
            }
        }
        watch.count(1);
        Ok(Some(finish))
    }

    /// Undoes the starts from a position in their list to its end.
    fn take_back(&mut self, first: usize) {
        let mut freed: Vec<u32> =
            self.starts.drain(first..).map(|start| self.track_of[start.link as usize]).collect();
        freed.sort_unstable();
        freed.dedup();
        // A track cannot undo a single start, so the touched tracks are rebuilt.
        for track in &freed {
            self.tracks.forget(*track);
        }
        for start in &self.starts {
            let track = self.track_of[start.link as usize];
            if freed.binary_search(&track).is_ok() {
                self.tracks.take(track, &self.task.epochs.links[start.link as usize], start.epoch);
            }
        }
    }
}

/// Returns the number of epochs that a chunk waits until a GPU has space for it; `None` if the GPU has space. The
/// number of held chunks can increase only at the beginning of a stay.
fn wait(held: &[Stay], stay: &Stay, limit: u32) -> Option<u32> {
    let begins = held.iter().map(|other| other.from).filter(|from| (stay.from..=stay.until).contains(from));
    let full = begins.chain([stay.from]).filter_map(|epoch| {
        let there = held.iter().filter(|other| (other.from..=other.until).contains(&epoch));
        let (count, first_gone) =
            there.fold((0, u32::MAX), |(count, gone), other| (count + 1, other.until.min(gone)));
        // The buffer is full until the first stored chunk leaves.
        (count >= limit && count > 0).then(|| first_gone + 1 - stay.from)
    });
    full.max()
}
